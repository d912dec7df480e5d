import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, InvalidType
from discreet.privacy.accounting import gaussian_delta, gaussian_epsilon, zcdp_delta, zcdp_epsilon
from discreet.privacy.axioms import is_tradeoff
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.curves.families import LaplaceCurve
from discreet.privacy.curves.piecewise import PiecewiseLinear
from discreet.privacy.curves.runtimes import RuntimePair
from discreet.privacy.curves.tradeoff import Symmetrized, two_sided_delta
from privacy.curves import FAMILIES, Twice, laws

EVERY = pytest.mark.parametrize("curve", FAMILIES.values(), ids=FAMILIES)
ALPHAS = [0.0, 1e-9, 0.003, 0.05, 0.1, 0.25, 0.3, 0.5, 0.61, 0.8, 0.97, 1 - 1e-7, 1.0]


def test_printed_points_of_two_curves():
    """The case file's values: epsilon = 1 with delta = 0.1, and mu = 1."""
    curve = Approx(epsilon=1, delta=0.1).tradeoff()
    expected = [0.9, 0.6281718, 0.2391216, 0.1471518, 0, 0]
    assert curve.beta([0, 0.1, 0.25, 0.5, 0.9, 1]) == pytest.approx(expected, abs=1e-7)
    assert Gdp(mu=1).tradeoff().beta(0.05) == pytest.approx(0.7404890, abs=1e-7)


@EVERY
def test_every_family_is_a_tradeoff_function(curve):
    """Convex, continuous, not increasing, at most 1 - alpha."""
    assert is_tradeoff(curve)
    assert curve.beta(1) == curve.beta("1") == 0


@EVERY
def test_duality_there_and_back(curve):
    """The curve rebuilt from its deltas is the curve, in floats and in rationals."""
    again = Twice(curve)
    assert again.beta(ALPHAS) == pytest.approx(curve.beta(ALPHAS), abs=1e-9)
    for alpha in ("1/1000", "1/10", "3/5"):
        assert float(again.beta(alpha)) == pytest.approx(float(curve.beta(alpha)), abs=1e-9)
        assert again.beta(alpha) <= curve.beta(alpha) + Fraction(1, 10**15)


@EVERY
def test_no_point_of_the_curve_lies_below_a_line_of_its_deltas(curve):
    """For both orders, 1 - delta - e^epsilon alpha <= beta, and delta is attained."""
    points = np.unique(np.concatenate([np.linspace(0, 1, 3001), np.logspace(-12, -1, 1500)]))
    for order in (curve, curve.inverse()):
        betas = order.beta(points)
        for epsilon in (0.0, 0.3, 1.0, 3.0):
            delta = float(order.upper_delta(Fraction(epsilon)))
            heights = 1 - betas - math.exp(epsilon) * points
            assert heights.max() == pytest.approx(delta, abs=2e-4)
            assert heights.max() <= delta + 1e-9


@EVERY
def test_epsilon_undoes_delta(curve):
    """epsilon(delta) is the least epsilon whose delta is small enough."""
    for delta in (0.3, 0.06, 1e-3, 1e-7):
        epsilon = curve.epsilon(delta)
        if epsilon == math.inf:
            assert curve.delta(700.0) > delta
            continue
        assert curve.delta(Fraction(epsilon)) <= Fraction(str(delta)) * (1 + Fraction(1, 10**12))
        if epsilon > 1e-9:
            assert curve.delta(epsilon * (1 - 1e-6)) > delta


@EVERY
def test_the_inverse_is_the_mirror_image(curve):
    """inverse(beta(alpha)) gives alpha back where the curve falls, and its inverse is the curve."""
    other = curve.inverse()
    for alpha in (0.02, 0.2, 0.6):
        beta = curve.beta(alpha)
        if 0 < beta < curve.beta(0.0):
            assert other.beta(beta) == pytest.approx(alpha, abs=1e-8)
    assert other.inverse().beta(ALPHAS) == pytest.approx(curve.beta(ALPHAS), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(laws())
def test_random_lines_obey_the_axioms(pair):
    """Any two laws give a tradeoff function, exactly; so does the other order, and the two are inverse."""
    curve, other = PiecewiseLinear.between(*pair), PiecewiseLinear.between(*reversed(pair))
    assert is_tradeoff(curve.knots)
    assert curve.inverse().knots == other.knots or curve.inverse().is_at_least(other, tolerance=0.0)
    for alpha, beta in curve.knots:
        assert curve.beta(alpha) == beta
        assert other.beta(beta) <= alpha


@settings(max_examples=40, deadline=None)
@given(laws())
def test_the_conjugate_of_the_conjugate_is_the_curve(pair):
    """f** = f for lines: rebuilt from deltas, all corners come back."""
    curve = PiecewiseLinear.between(*pair)
    again = Twice(curve)
    alphas = np.array([float(alpha) for alpha, _ in curve.knots])
    assert again.beta(alphas) == pytest.approx(curve.beta(alphas), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(laws(), st.floats(0, 3))
def test_deltas_of_lines_are_hockey_stick_divergences(pair, epsilon):
    """delta(epsilon) is the sum of the positive parts of Q - e^epsilon P, in either sign of epsilon."""
    curve = PiecewiseLinear.between(*pair)
    for at in (epsilon, -epsilon):
        truth = sum(max(0.0, float(q) - math.exp(at) * float(p)) for p, q in zip(*pair, strict=True))
        assert float(two_sided_delta(curve, Fraction(at))) == pytest.approx(truth, abs=1e-12)


@settings(max_examples=80, deadline=None)
@given(laws(), st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any), min_size=4, max_size=4))
def test_post_processing_never_helps(pair, weights):
    """Through any finite channel the curve never falls, exactly."""
    channel = [[Fraction(x, sum(row)) for x in row] for row in weights]
    through = [[sum(law[i] * channel[i][j] for i in range(4)) for j in range(3)] for law in pair]
    before, after = PiecewiseLinear.between(*pair), PiecewiseLinear.between(*through)
    for curve in (before, after):
        for alpha, _ in curve.knots:
            assert after.beta(alpha) >= before.beta(alpha)
    assert after.is_at_least(before)


@settings(max_examples=20, deadline=None)
@given(laws())
def test_symmetrizing_takes_the_minimum_of_both_orders(pair):
    """The symmetric curve is a tradeoff function below both orders, and no greater one is."""
    curve = PiecewiseLinear.between(*pair)
    both = curve.symmetrized()
    points = np.linspace(0, 1, 21)
    lower = np.minimum(curve.beta(points), curve.inverse().beta(points))
    assert np.all(both.beta(points) <= lower + 1e-9)
    assert both.is_symmetric
    assert both.symmetrized() is both
    corners = sorted({*curve.knots, *curve.inverse().knots})
    hull = []
    for corner in corners:
        if hull and hull[-1][0] == corner[0]:
            continue
        while len(hull) > 1 and _turns_down(hull[-2], hull[-1], corner):
            hull.pop()
        hull.append(corner)
    lowest = np.interp(points, [float(a) for a, _ in hull], [float(b) for _, b in hull])
    assert both.beta(points) == pytest.approx(np.minimum(lowest, lower), abs=2e-3)


def _turns_down(a, b, c):
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])


def test_a_symmetric_curve_is_its_own_symmetrization():
    """By the long road too: rebuilt from the larger of both deltas."""
    for name in ("pure", "gauss", "zcdp", "laplace"):
        curve = FAMILIES[name]
        assert curve.symmetrized() is curve
        assert Symmetrized(curve).beta(ALPHAS) == pytest.approx(curve.beta(ALPHAS), abs=1e-9)


def test_what_concentrated_privacy_implies():
    """Below the Gaussian curve of mu**2 = 2 rho, deltas no worse than the tight bound and nearly it in the tail."""
    for rho in ("0.001", "0.1", "1", "10"):
        curve = Zcdp(rho=rho).tradeoff()
        gauss = Gdp.from_squared(2 * Fraction(rho)).tradeoff()
        assert gauss.is_at_least(curve)
        for delta in (0.2, 1e-3, 1e-8):
            assert curve.epsilon(str(delta)) <= zcdp_epsilon(delta=delta, rho=rho)
        assert float(curve.epsilon("1e-8")) == pytest.approx(float(zcdp_epsilon(delta="1e-8", rho=rho)), rel=1e-12)
        assert curve.delta("0") < zcdp_delta(epsilon=0, rho=rho)
        assert curve.delta("0") >= gauss.delta("0")


@settings(max_examples=30, deadline=None)
@given(st.floats(0.001, 20), st.floats(0.0001, 0.9999), st.floats(1.0001, 60))
def test_no_order_beats_the_concentrated_curve(rho, alpha, order):
    """Hoelder's bound of every order lies on or below the curve, by another formula."""
    bound = 1 - math.exp(min(700.0, (order - 1) * rho)) * alpha ** (1 - 1 / order)
    assert Zcdp(rho=rho).tradeoff().beta(alpha) >= bound - 1e-9


def test_laplace_by_its_definition():
    """Rejecting above a threshold between two Laplace laws gives points of the curve."""
    curve = LaplaceCurve(Fraction(3, 2))
    for t in (-2.0, -0.3, 0.0, 0.4, 1.0, 1.5, 2.5):
        alpha = math.exp(-t) / 2 if t > 0 else 1 - math.exp(t) / 2
        beta = 1 - math.exp(-(t - 1.5)) / 2 if t > 1.5 else math.exp(t - 1.5) / 2
        assert curve.beta(alpha) == pytest.approx(beta, abs=1e-10)
    assert Pure(epsilon="3/2").tradeoff().beta(0.2) < curve.beta(0.2)


def test_budgets_answer_as_their_curves():
    """Gdp, Zcdp and Pure have delta(epsilon), Gdp and Zcdp epsilon(delta)."""
    assert Gdp(mu=1).delta("1") == gaussian_delta(epsilon=1, mu=1)
    assert Gdp(mu=1).epsilon("1e-5") == gaussian_epsilon(delta="1e-5", mu=1)
    assert Gdp(mu=1).delta(1.0) >= Gdp(mu=1).delta("1")
    assert Zcdp(rho="1/2").epsilon("1e-5") == zcdp_epsilon(delta="1e-5", rho="1/2")
    assert Zcdp(rho="1/2").delta(3.0) == pytest.approx(float(zcdp_delta(epsilon=3, rho="1/2")), rel=1e-12)
    assert Pure(epsilon=1).delta(1.0) == 0
    assert Pure(epsilon=1).delta(0.0) == pytest.approx(math.tanh(0.5), rel=1e-12)


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan, math.inf, "1.5", "-1", [0.5, math.nan]])
def test_alpha_outside_of_the_unit_interval_is_refused_by_name(bad):
    """The message names alpha."""
    with pytest.raises(InvalidArgument, match="`alpha`"):
        Gdp(mu=1).tradeoff().beta(bad)


@pytest.mark.parametrize("bad", [True, np.True_, None, "x", 1j, [True], ["0.5"], [[0.1], [0.2, 0.3]], object()])
@pytest.mark.parametrize(("method", "name"), [("beta", "alpha"), ("delta", "epsilon"), ("epsilon", "delta")])
def test_what_is_no_number_is_refused_by_name(method, name, bad):
    """Booleans, words, lists of words and lists of lists of different lengths are no numbers."""
    with pytest.raises(InvalidArgument, match=f"`{name}`"):
        getattr(Gdp(mu=1).tradeoff(), method)(bad)


@pytest.mark.parametrize("bad", [-1, math.nan, math.inf, -math.inf, [1, -1], [math.nan]])
def test_bad_epsilons_are_refused_by_name(bad):
    """Also one of many."""
    with pytest.raises(InvalidArgument, match="`epsilon`"):
        Gdp(mu=1).delta(bad)


def test_arrays_keep_their_shape():
    """A table of alphas gives a table of betas; a number gives a number."""
    curve = Gdp(mu=1).tradeoff()
    assert curve.beta(np.full((2, 3), 0.5)).shape == curve.power(np.full((2, 3), 0.5)).shape == (2, 3)
    assert curve.delta([[0.0, 1.0]]).shape == curve.epsilon([[0.1, 0.2]]).shape == (1, 2)
    assert isinstance(curve.beta(0.5), float)
    assert isinstance(curve.power(0.5), float)
    assert curve.power("0.05") == 1 - curve.beta("0.05")
    assert curve.power(0.05) >= curve.power("0.05")
    assert curve.beta([]).shape == (0,)


def test_curves_are_compared_point_by_point():
    """More noise lies above; curves that cross are not ordered."""
    assert Gdp(mu=1).tradeoff().is_at_least(Gdp(mu=2).tradeoff())
    assert not Gdp(mu=2).tradeoff().is_at_least(Gdp(mu=1).tradeoff())
    a, b = Pure(epsilon=1).tradeoff(), Gdp(mu="0.8").tradeoff()
    assert not a.is_at_least(b)
    assert not b.is_at_least(a)
    with pytest.raises(InvalidType, match="`other`"):
        a.is_at_least(0.5)


@pytest.mark.parametrize(
    ("knots", "says"),
    [
        ([("1/4", "1/4"), (1, 0)], "begin at alpha = 0"),
        ([(0, 1), ("1/2", "1/4")], "end at alpha = 1"),
        ([(0, 1), (0, "1/2"), (1, 0)], "rising alphas"),
        ([(0, 1), ("1/2", "3/4"), (1, 0)], "0 <= beta <= 1 - alpha"),
        ([(0, "1/4"), ("1/2", "1/2"), (1, 0)], "do not rise"),
        ([(0, "1/2"), ("1/4", "1/2"), ("1/2", "1/8"), (1, 0)], "be convex"),
    ],
)
def test_lines_that_are_no_tradeoff_function_are_refused(knots, says):
    """The message says which axiom is broken."""
    assert not is_tradeoff(knots)
    with pytest.raises(InvalidArgument, match=says):
        PiecewiseLinear(knots)


def test_what_is_no_list_of_corners_is_refused():
    """Neither a number nor a list of single numbers, nor laws on different outcomes."""
    for bad in (3, [1, 2], [], None):
        with pytest.raises(InvalidType, match="`knots`"):
            PiecewiseLinear(bad)
    for first, second in ((["1/2", "1/2"], [1]), (["1/2"], ["1/2"]), ([1], ["1/2"])):
        with pytest.raises(InvalidArgument, match="`first` and `second`"):
            PiecewiseLinear.between(first, second)


@pytest.mark.parametrize(
    ("function", "truth"),
    [
        (lambda alpha: (1 - alpha) ** 2, True),
        (lambda alpha: 1 - alpha, True),
        (lambda alpha: 1 - alpha**2, False),
        (lambda alpha: np.where(alpha < 0.5, 1 - alpha, 0.0), False),
        (lambda alpha: np.where(alpha == 0, 1.0, 0.5 * (1 - alpha)), False),
        (lambda alpha: np.minimum(1 - alpha, 0.2 + 0 * alpha), False),
        (lambda alpha: (1 - alpha) ** 2 - 0.1, False),
        (lambda alpha: np.nan * alpha, False),
        (lambda _: 0.0, False),
    ],
)
def test_functions_are_judged_by_the_four_axioms(function, truth):
    """Convex, continuous, not increasing, at most 1 - alpha, and nothing else."""
    assert is_tradeoff(function) is truth


def test_every_curve_names_itself():
    """A repr says which curve it is."""
    for curve in [
        *FAMILIES.values(),
        RuntimePair(Fraction(1, 2), Fraction(1, 4)).inverse(),
        Symmetrized(FAMILIES["gauss"]),
    ]:
        assert repr(curve)
        assert "object at" not in repr(curve)
