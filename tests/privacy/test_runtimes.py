"""What running times give away: the reference tables, to their printed digits, and the laws behind them."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.privacy.axioms import is_tradeoff
from discreet.privacy.budgets import Pure
from discreet.privacy.curves.envelopes import CommonEnvelope
from discreet.privacy.curves.piecewise import PiecewiseLinear
from discreet.privacy.curves.products import WithPure
from discreet.privacy.curves.runtimes import RuntimePair, geometric_runtime
from discreet.privacy.curves.tradeoff import Symmetrized

# p, q, r, delta(0), delta(0.1), delta(0.5), delta(1) with the thresholds that attain them, epsilon(1e-6).
TABLE = [
    ("0.5", "0.45", "0.862496", ["0.05250000", "0.02822864", "0.00234372", "0.00010257"], [2, 3, 7, 12], "1.73676"),
    ("0.5", "0.3", "0.514573", ["0.24000000", "0.21370727", "0.13705492", "0.08312369"], [2, 2, 4, 5], "11.67570"),
    ("0.25", "0.2", "0.775660", ["0.09319375", "0.06544732", "0.01649400", "0.00291786"], [4, 6, 12, 19], "3.30905"),
    ("0.1", "0.08", "0.791393", ["0.08582678", "0.05875251", "0.01287541", "0.00193300"], [11, 15, 33, 56], "2.99458"),
    ("0.9", "0.8", "0.698970", ["0.10000000", "0.08948291", "0.03512787", "0.01281718"], [1, 1, 1, 2], "5.04986"),
    (
        "0.01", "0.009", "0.899547",
        ["0.03892716", "0.01589822", "0.00044231", "0.00000503"], [105, 204, 600, 1095], "1.18030",
    ),
]  # fmt: skip
# a, then the smooth epsilon at delta = 1e-6 for p -> 0, p = 0.1 and p = 0.5, in 4 significant digits.
WORST = [
    (0.05, 0.5035, 0.534, 0.750),
    (0.25, 3.245, 3.436, 4.753),
    (0.5, 7.857, 8.311, 11.36),
    (1.0, 21.95, 23.19, 31.23),
]
probabilities = st.fractions(Fraction(1, 200), Fraction(199, 200), max_denominator=200)


@pytest.mark.parametrize(("p", "q", "r", "deltas", "thresholds", "epsilon"), TABLE)
def test_the_table_of_exact_costs(p, q, r, deltas, thresholds, epsilon):
    """delta_T, its threshold, r and epsilon(1e-6), all printed digits; p and q in either order."""
    curve = geometric_runtime(p=p, q=q)
    assert [f"{curve.delta(e):.8f}" for e in (0.0, 0.1, 0.5, 1.0)] == deltas
    assert f"{curve.epsilon(1e-6):.5f}" == epsilon
    assert geometric_runtime(p=q, q=p).delta("1/2") == curve.delta("1/2")
    assert f"{float(geometric_runtime(p=p, q=q, smooth=True).r):.6f}" == r
    for e, m, delta in zip(("0", "0.1", "0.5", "1"), thresholds, deltas, strict=True):
        # The event that more than m proposals are needed attains it.
        attained = float((1 - Fraction(q)) ** m) - math.exp(float(e)) * float((1 - Fraction(p)) ** m)
        assert f"{attained:.8f}" == delta


@pytest.mark.parametrize(("a", "limit", "tenth", "half"), WORST)
def test_the_table_of_worst_pairs(a, limit, tenth, half):
    """For a ratio of at most e^a, the smooth epsilon at 1e-6; p -> 0 is the best case."""
    for p, printed in (("0.1", tenth), ("0.5", half)):
        q = Fraction(p) * Fraction(math.exp(-a))
        smooth, exact = (geometric_runtime(p=p, q=q, smooth=flag) for flag in (True, False))
        assert smooth.epsilon(1e-6) == pytest.approx(printed, abs=0.6 * 10.0 ** (math.floor(math.log10(printed)) - 2))
        assert limit - 1e-2 < exact.epsilon(1e-6) <= smooth.epsilon(1e-6)
    tiny = geometric_runtime(p="1e-6", q=Fraction(1, 10**6) * Fraction(math.exp(-a)), smooth=True)
    assert f"{tiny.epsilon(1e-6):.4g}" == f"{limit:.4g}"
    assert tiny.epsilon(1e-6) == pytest.approx(-a + math.expm1(a) * math.log(-math.expm1(-a) / 1e-6), rel=1e-4)


def _adaptive(first, second, upto):
    """Return the largest |log ratio| of two adaptive samplers' times, for each k: the exact condition."""
    log_p, log_q = np.log(first(np.arange(1, upto + 1.0))), np.log(second(np.arange(1, upto + 1.0)))
    misses = np.log1p(-np.exp(log_p)) - np.log1p(-np.exp(log_q))
    return np.maximum.accumulate(np.abs(log_p - log_q + np.concatenate([[0.0], np.cumsum(misses)[:-1]])))


@pytest.mark.parametrize(
    ("first", "second", "printed"),
    [
        (lambda n: 0.5 + 0 * n, lambda n: 0.45 + 0 * n, ("0.75", "95", "9531")),
        (lambda n: 1 - 0.5 / n, lambda n: 1 - 0.45 / n, ("0.94", "105", "10536")),
        (lambda n: 1 - 0.5 / n, lambda n: 1 - 0.5 / n * (1 + 0.5 * n**-1.5), ("0.86", "1.16", "1.19")),
        (lambda n: 0.8 - 0.3 / n**2, lambda n: 0.8 - 0.2 / n**2, ("0.45", "0.504", "0.505")),
        (lambda n: 0.8 - 0.3 / n, lambda n: 0.8 - 0.2 / n, ("0.89", "3.17", "5.47")),
    ],
)
def test_the_table_of_adaptive_samplers(first, second, printed):
    """Which adaptive samplers have a finite epsilon: the largest log-ratio up to k = 10, 1000, 100000."""
    ratios = _adaptive(first, second, 100_000)
    for k, text in zip((10, 1000, 100_000), printed, strict=True):
        digits = len(text.split(".")[1]) if "." in text else 0
        assert f"{ratios[k - 1]:.{digits}f}" == text


def _finite(p, q, n, upto):
    """Return both laws of the number of proposals, cut at `upto`, the rest in one outcome; exact."""
    laws = []
    for chance in (p, q):
        law = [math.comb(t - 1, n - 1) * chance**n * (1 - chance) ** (t - n) for t in range(n, upto)]
        laws.append([*law, 1 - sum(law)])
    return laws


@settings(max_examples=25, deadline=None)
@given(probabilities, probabilities, st.integers(1, 3), st.fractions(0, 3, max_denominator=8))
def test_deltas_are_those_of_the_laws(p, q, n, epsilon):
    """By summing the laws up to a cut: cutting is post-processing, so never above, and nearly equal."""
    p, q = max(p, q), min(p, q)
    if p == q:
        assert geometric_runtime(p=p, q=q, n_draws=n).delta(epsilon) == 0
        return
    cut = PiecewiseLinear.between(*_finite(p, q, n, n + 60))
    exact = RuntimePair(p, q, n)
    for whole, part in ((exact, cut), (exact.inverse(), cut.inverse())):
        # The cut outcome is worth at most its probability under either law.
        rest = _finite(p, q, n, n + 60)[1][-1]
        low = part.upper_delta(epsilon)
        # Both are rounded up, by far less than this.
        rounding = Fraction(1, 2**60)
        assert low - rounding <= whole.upper_delta(epsilon) <= low + rest + rounding


@settings(max_examples=25, deadline=None)
@given(probabilities, st.fractions("1/10", "19/20", max_denominator=50), st.floats(0, 6))
def test_the_smooth_curve_lies_below(p, ratio, epsilon):
    """Its delta is an upper bound and its curve a lower one, everywhere."""
    q = p * ratio
    exact, smooth = geometric_runtime(p=p, q=q), geometric_runtime(p=p, q=q, smooth=True)
    assert exact.delta(Fraction(epsilon)) <= smooth.delta(Fraction(epsilon))
    points = np.linspace(0.001, 1, 17)
    assert np.all(smooth.beta(points) <= exact.beta(points) + 1e-9)
    # Near 0 such a curve is too steep for floats to tell from a jump, if the two differ much.
    assert is_tradeoff(smooth) or smooth.r < Fraction(1, 20)


@pytest.mark.parametrize(("p", "q"), [("0.5", "0.3"), ("0.5", "0.45")])
def test_the_smooth_symmetric_curve_by_its_closed_form(p, q):
    """1 - a^r, a line, and the mirror image; it equals the two exponential laws made symmetric."""
    smooth = geometric_runtime(p=p, q=q, smooth=True)
    r = float(smooth.r)
    corner = r ** (1 / (1 - r))
    for alpha in (0.01, 0.1, 0.3, 0.5, 0.7, 0.95):
        if alpha <= corner:
            expected = 1 - alpha**r
        elif alpha <= 1 - corner**r:
            expected = corner + 1 - corner**r - alpha
        else:
            expected = (1 - alpha) ** (1 / r)
        assert smooth.beta(alpha) == pytest.approx(expected, abs=1e-9)
        assert float(smooth.beta(Fraction(alpha))) == pytest.approx(expected, abs=1e-12)


def test_corners_are_exact_rationals():
    """The corners of one order lie on its curve; those of the other order are swapped."""
    pair = RuntimePair(Fraction(1, 2), Fraction(3, 10))
    assert pair.knots(3) == ((1, 0), (Fraction(1, 2), Fraction(3, 10)), (Fraction(1, 4), Fraction(51, 100)))
    assert pair.inverse().knots(2) == ((0, 1), (Fraction(3, 10), Fraction(1, 2)))
    for alpha, beta in pair.knots(12):
        assert beta - Fraction(1, 2**60) <= pair.beta(alpha) <= beta
    five = RuntimePair(Fraction(1, 2), Fraction(3, 10), 5)
    for alpha, beta in five.knots(9):
        assert beta - Fraction(1, 2**60) <= five.beta(alpha) <= beta


def test_many_draws_cost_more():
    """The sum of the times is what counts; a hundred draws give more away than one."""
    costs = [geometric_runtime(p="0.5", q="0.45", n_draws=n).delta(1.0) for n in (1, 2, 10, 100)]
    assert all(a < b for a, b in pairwise(costs))
    assert 0.3 < costs[-1] < 0.32


def test_a_sampler_that_always_accepts():
    """p = 1 has one possible time, so all that tells is whether it was later."""
    curve = geometric_runtime(p=1, q="0.4")
    assert curve.delta("3") == curve.delta("0") == pytest.approx(0.6)
    assert curve.beta("0") == pytest.approx(0.4)
    assert curve.beta(0.25) == pytest.approx(0.15, abs=1e-9)
    assert curve.epsilon(0.1) == math.inf
    assert curve.epsilon(0.7) == 0


@pytest.mark.parametrize("bad", [0, 1.5, "0"])
@pytest.mark.parametrize("name", ["p", "q"])
def test_impossible_acceptance_is_refused_by_name(name, bad):
    """A probability of acceptance is in (0, 1]."""
    with pytest.raises(InvalidArgument, match=f"`{name}`"):
        geometric_runtime(**({"p": 0.5, "q": 0.5} | {name: bad}))


def test_the_smooth_bound_has_its_limits():
    """It is for one draw and p below 1."""
    for changes in ({"n_draws": 2}, {"p": 1}):
        with pytest.raises(InvalidArgument, match="`smooth`"):
            geometric_runtime(**({"p": "0.5", "q": "0.4", "smooth": True} | changes))


@settings(max_examples=15, deadline=None)
@given(probabilities, probabilities, st.fractions(0, 2, max_denominator=4), st.fractions(0, 2, max_denominator=4))
def test_output_and_time_together(p, q, own, epsilon):
    """With randomized response beside the time, the pair's delta is that of the product law, by summing."""
    p, q = max(p, q), min(p, q)
    if p == q:
        return
    pair, heads = RuntimePair(p, q), Fraction(math.exp(float(own)) / (1 + math.exp(float(own))))
    times = _finite(p, q, 1, 50)
    # The answer is likelier under the second law, as a long time is.
    product = [
        [a * t for a in answer for t in law]
        for answer, law in (((1 - heads, heads), times[0]), ((heads, 1 - heads), times[1]))
    ]
    for whole, part in (
        (WithPure(pair, epsilon=own), PiecewiseLinear.between(*product)),
        (WithPure(pair, epsilon=own).inverse(), PiecewiseLinear.between(*product).inverse()),
    ):
        found, low = whole.upper_delta(epsilon), part.upper_delta(epsilon)
        assert low - Fraction(1, 10**12) <= found <= low + times[1][-1] + Fraction(1, 10**12)
        assert whole.float_deltas(np.array([float(epsilon)]))[0] >= found
    assert WithPure(pair, epsilon=0).upper_delta(epsilon) == pair.upper_delta(epsilon)


def test_the_joint_cost_under_a_common_envelope():
    """The reference page's numbers for shift 0.5 and p = 0.1, here as proved upper bounds."""
    curve = CommonEnvelope(shift="0.5", p_high="0.1")
    for epsilon, printed in ((1.0, 0.0439), (2.0, 0.0102), (4.0, 5.46e-4), (8.0, 1.58e-6)):
        assert curve.delta(epsilon) == pytest.approx(printed, rel=5e-3)
    # Much below what output and time cost apart, and not below the time alone.
    time = geometric_runtime(p="0.1", q=Fraction(1, 10) * Fraction(math.exp(-0.5)))
    apart = WithPure(time, epsilon=1)
    for epsilon in (0.0, 0.5, 1.0, 3.0):
        assert time.delta(epsilon) < curve.delta(epsilon) < apart.delta(epsilon)
    assert curve.delta(0.0) >= Pure(epsilon=1).tradeoff().delta(0.0) / 2
    assert is_tradeoff(curve)
    assert curve.inverse() is curve
    with pytest.raises(InvalidArgument, match="`shift` must be at most 20"):
        CommonEnvelope(shift=21, p_high=0.5)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_sampler_under_a_common_envelope_costs_more(data):
    """Random acceptances on random outcomes, both orders, several epsilons: never above the bound."""
    shift, p_high = 0.5, 0.4
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    size = int(rng.integers(2, 5))
    proposals, second = rng.dirichlet(np.ones(size)), rng.uniform(0.01, 1, size)
    first = second * np.exp(shift * rng.choice([-1.0, 1.0, 0.3], size))
    scale = p_high / max(proposals @ first, proposals @ second)
    first, second = first * scale, second * scale
    times = np.arange(400)[:, np.newaxis]
    joint = [proposals * a * (1 - proposals @ a) ** times for a in (first, second)]
    epsilon = data.draw(st.sampled_from([0.0, 0.2, 0.5, 1.0, 2.0]))
    truth = max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in (joint, reversed(joint)))
    assert truth <= ENVELOPE.delta(epsilon)


ENVELOPE = CommonEnvelope(shift="0.5", p_high="0.4")


def test_symmetrizing_a_runtime_by_both_roads():
    """The symmetric curve is the smaller of both orders, made convex: below both, and equal where one is steep."""
    pair = RuntimePair(Fraction(1, 2), Fraction(3, 10))
    both = pair.symmetrized()
    points = np.linspace(0, 1, 41)
    assert isinstance(both, Symmetrized)
    assert np.all(both.beta(points) <= np.minimum(pair.beta(points), pair.inverse().beta(points)) + 1e-9)
    assert both.beta(0.125) == pytest.approx(pair.beta(0.125), abs=1e-9)
