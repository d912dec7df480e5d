"""Plans fixed in advance: composed curves against exact formulas and against another accountant."""

import math
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent, LaplaceDpEvent, PoissonSampledDpEvent
from dp_accounting.pld import PLDAccountant, privacy_loss_distribution
from dp_accounting.rdp import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import AdjacencyMismatch, InvalidArgument, InvalidType
from discreet.privacy.accounting import compose
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.axioms import is_tradeoff
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.curves.composition import ComposedCurve, compose_plan
from discreet.privacy.curves.families import EpsilonDelta, GaussianCurve, LaplaceCurve
from discreet.privacy.curves.piecewise import PiecewiseLinear
from discreet.privacy.curves.products import GroupCurve, Subsampled, WithPure, group_curve
from discreet.privacy.curves.runtimes import RuntimePair, geometric_runtime
from privacy.curves import FAMILIES, Twice
from privacy.doubles import gaussian, laplace, priced

DELTAS = (0.1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10)


def test_gaussian_parts_are_one_gaussian():
    """Sixty releases at sigma = 20 are one at mu = sqrt(60)/20, exactly."""
    total = compose_plan([Gdp(mu="1/20")] * 60)
    assert isinstance(total, GaussianCurve)
    assert total.mu_squared == Fraction(3, 20)
    assert float(total.epsilon("0.002")) == pytest.approx(0.9029396430, rel=1e-6)


@pytest.mark.parametrize(
    ("own_grid", "steps"),
    [
        (False, 1),
        (True, 1000),
        *(
            pytest.param(own_grid, steps, marks=pytest.mark.nightly)
            for own_grid, steps in ((False, 10), (False, 1000), (True, 1), (True, 10))
        ),
    ],
)
def test_distributions_of_losses_against_the_exact_gaussian(steps, own_grid):
    """Never below the exact epsilon, at most 1 % above it (0.1 % in fact), for 1, 10 and 1000 steps."""
    for mu in (Fraction(1, 10), Fraction(1), Fraction(5)):
        part = GaussianCurve(mu**2 / steps)
        composed = ComposedCurve([(Twice(part) if own_grid else part, steps)])
        exact = Gdp(mu=mu)
        for delta in DELTAS:
            assert exact.epsilon(delta) <= composed.epsilon(delta) <= 1.001 * exact.epsilon(delta)
        assert exact.delta(0.0) <= composed.delta(0.0) <= 1.01 * exact.delta(0.0)
        points = np.linspace(0, 1, 21)
        assert np.all(composed.beta(points) <= exact.tradeoff().beta(points) + 1e-9)
        assert composed.beta(points) == pytest.approx(exact.tradeoff().beta(points), abs=1e-3)


@pytest.mark.parametrize("steps", [1, 10, 1000])
def test_another_accountant_agrees(steps):
    """dp-accounting's own distributions and its Renyi accountant: ours is between the exact one and both of them."""
    sigma = math.sqrt(steps) / 1.5
    theirs, renyi = PLDAccountant(), RdpAccountant()
    for accountant in (theirs, renyi):
        accountant.compose(GaussianDpEvent(sigma), steps)
    ours = compose_plan([Gdp.from_squared(Fraction(9, 4) / steps)] * steps)
    for delta in (1e-3, 1e-6, 1e-8):
        assert ours.epsilon(delta) <= 1.0001 * theirs.get_epsilon(delta)
        assert ours.epsilon(delta) <= renyi.get_epsilon(delta) <= 1.3 * ours.epsilon(delta)


def test_mixtures_against_the_other_accountant():
    """Gaussian and Laplace noise together, within half a percent of dp-accounting on a finer grid, and not below."""
    ours = compose_plan([gaussian("1/4"), gaussian("1/4"), laplace("1/2"), laplace("1/2"), laplace("1/2")])
    fine = {"value_discretization_interval": 1e-5}
    theirs = privacy_loss_distribution.from_gaussian_mechanism(math.sqrt(2), **fine).compose(
        privacy_loss_distribution.from_laplace_mechanism(2, **fine).self_compose(3)
    )
    accountant = PLDAccountant()
    accountant.compose(GaussianDpEvent(math.sqrt(2)))
    accountant.compose(LaplaceDpEvent(2), 3)
    for delta in (1e-2, 1e-5, 1e-8):
        truth = theirs.get_epsilon_for_delta(delta)
        assert truth * (1 - 1e-6) <= ours.epsilon(delta) <= 1.005 * truth
        assert ours.epsilon(delta) <= 1.01 * accountant.get_epsilon(delta)
        # Far below what the parts cost one by one.
        assert ours.epsilon(delta) < Gdp.from_squared("1/2").epsilon(delta) + 1.5


def test_a_mixture_with_delta_keeps_it():
    """The deltas of parts add up, and no epsilon undercuts them."""
    total = compose_plan([Approx(epsilon=1, delta=1e-3), Approx(epsilon=1, delta=1e-3), Gdp(mu="0.1")])
    assert total.epsilon(1.9e-3) == math.inf
    assert 2 < total.epsilon(2.1e-3) < 3
    assert float(total.beta("0")) == pytest.approx(0.998, abs=1e-5)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.floats(0.05, 2), st.integers(1, 3)), min_size=1, max_size=3), st.floats(0, 3))
def test_pure_parts_against_exact_sums(parts, epsilon):
    """Randomized responses one after the other, by enumeration: never below, and close."""
    listed = [Pure(epsilon=size) for size, count in parts for _ in range(count)]
    losses = [(0.0, 1.0)]
    for budget in listed:
        size = float(budget.epsilon)
        heads = math.exp(size) / (1 + math.exp(size))
        losses = [(a + b, p * q) for a, p in losses for b, q in ((size, heads), (-size, 1 - heads))]
    truth = sum(p * max(0.0, -math.expm1(epsilon - loss)) for loss, p in losses)
    found = compose_plan(listed).delta(epsilon)
    assert truth - 1e-12 <= found <= truth + 2e-3


def test_times_and_pure_releases_by_both_roads():
    """The product with randomized response in closed form and by distributions."""
    time = geometric_runtime(p="0.1", q="0.08")
    total, closed = compose_plan([time, Pure(epsilon=1)]), WithPure(time, epsilon=1)
    for delta in (1e-2, 1e-5, 1e-8):
        assert closed.epsilon(delta) * (1 - 1e-12) <= total.epsilon(delta) <= 1.001 * closed.epsilon(delta)
    assert is_tradeoff(total)


def test_a_runtime_of_one_order_is_made_symmetric():
    """Whoever forgets to symmetrize is covered."""
    pair = RuntimePair(Fraction(1, 2), Fraction(3, 10))
    total = compose_plan([pair])
    assert total.is_symmetric
    assert total.delta("1/2") == pair.symmetrized().delta("1/2")


def test_zero_costs_nothing_in_a_plan():
    """Parts that give nothing away leave the rest as it is."""
    assert compose_plan([Pure(epsilon=0), Gdp(mu=0)]).delta("0") == 0
    assert isinstance(compose_plan([Pure(epsilon=0), Pure(epsilon=1)]), EpsilonDelta)
    assert compose_plan([Zcdp(rho="0.1")] * 5).epsilon("1e-5") == Zcdp(rho="0.5").epsilon("1e-5")
    assert isinstance(compose_plan([laplace(1)]), LaplaceCurve)
    assert isinstance(compose_plan([laplace(1, shape=(3,))]), EpsilonDelta)
    # An event counts with its price, not with what was asked.
    assert compose_plan([gaussian(1, budget=Gdp(mu=2))]).mu_squared == 1


def test_what_is_no_plan_is_refused():
    """Nothing, a number, and events of different neighbours."""
    with pytest.raises(InvalidArgument, match="at least one"):
        compose_plan([])
    with pytest.raises(InvalidType, match="`parts` must hold"):
        compose_plan([0.5])
    with pytest.raises(AdjacencyMismatch, match="one adjacency"):
        compose_plan([priced(Pure(epsilon=1), Replace()), priced(Pure(epsilon=1), AddRemove())])


def test_composing_warns_of_nothing_and_says_what_it_is():
    """Warnings are errors here; a total names the number of its parts."""
    total = compose_plan([Pure(epsilon=50), Pure(epsilon=50), Gdp(mu=8)])
    assert repr(total) == "compose_plan of 3 parts"
    assert total.inverse() is total
    assert total.delta("10000") <= 1e-11


@pytest.mark.parametrize("size", [1, 2, 5])
def test_groups_of_people(size):
    """Gaussian, Laplace, pure guarantees multiply; the general road is never below them, and never absurd."""
    for name in ("gauss", "laplace", "pure"):
        curve = FAMILIES[name]
        exact = group_curve(curve, size=size)
        general = GroupCurve(curve, size)
        for epsilon in ("0", "1/2", "3"):
            assert exact.delta(epsilon) <= general.delta(epsilon) <= 1
            assert general.float_deltas(np.array([float(Fraction(epsilon))]))[0] >= general.upper_delta(
                Fraction(epsilon)
            )
    assert group_curve(FAMILIES["gauss"], size=size).mu_squared == size**2
    assert group_curve(FAMILIES["zcdp"], size=size).rho == Fraction(size**2, 2)
    assert group_curve(FAMILIES["lines"], size=1) is not None


def test_a_group_by_enumeration():
    """Three steps from one law to the next: the curve of the ends is above the group's."""
    laws = [[Fraction(a, 10) for a in row] for row in ((5, 3, 2), (4, 4, 2), (3, 4, 3), (2, 5, 3))]
    steps = [PiecewiseLinear.between(a, b) for a, b in pairwise(laws)]
    worst = PiecewiseLinear([(0, "17/20"), ("3/20", "7/10"), ("7/10", "3/20"), ("17/20", 0), (1, 0)])
    assert all(step.is_at_least(worst, tolerance=0.1) for step in steps)
    ends = PiecewiseLinear.between(laws[0], laws[-1])
    for curve in (worst, FAMILIES["approx"]):
        group = group_curve(curve, size=3)
        assert is_tradeoff(group)
        for epsilon in ("0", "1/2", "1"):
            assert max(step.symmetrized().delta(epsilon) for step in steps) <= worst.delta(epsilon) + Fraction(1, 10)
            assert group.delta(epsilon) >= min(Fraction(1), curve.delta(epsilon))
    assert ends.delta("0") <= group_curve(worst, size=3).delta("0") + Fraction(1, 5)


@settings(max_examples=25, deadline=None)
@given(st.fractions("1/20", 1, max_denominator=20), st.fractions(0, 2, max_denominator=8))
def test_subsampling_by_enumeration(rate, epsilon):
    """The mixture of two laws against the first, in both orders, by the laws themselves."""
    first, second = (
        [Fraction(3, 10), Fraction(5, 10), Fraction(2, 10)],
        [Fraction(2, 10), Fraction(3, 10), Fraction(5, 10)],
    )
    mixture = [(1 - rate) * a + rate * b for a, b in zip(first, second, strict=True)]
    base = PiecewiseLinear.between(first, second)
    sampled = Subsampled(base, rate=rate)
    truth = PiecewiseLinear.between(first, mixture)
    for order, exact in ((sampled, truth), (sampled.inverse(), truth.inverse())):
        assert order.upper_delta(epsilon) >= exact.upper_delta(epsilon) - Fraction(1, 10**15)
        assert order.float_deltas(np.array([float(epsilon)]))[0] >= float(order.upper_delta(epsilon)) * (1 - 1e-12)
    if rate == 1:
        assert float(sampled.upper_delta(epsilon)) == pytest.approx(float(base.symmetrized().delta(epsilon)), abs=1e-12)


def test_subsampling_against_the_other_accountant():
    """Poisson sampling of a Gaussian: within 0.1 % of dp-accounting; fifty times 8 % above, by both orders."""
    accountant = PLDAccountant()
    event = PoissonSampledDpEvent(0.1, GaussianDpEvent(1.0))
    accountant.compose(event)
    one = Subsampled(Gdp(mu=1).tradeoff(), rate="0.1").symmetrized()
    for delta in (1e-3, 1e-5):
        assert one.epsilon(delta) == pytest.approx(accountant.get_epsilon(delta), rel=1e-3)
    accountant.compose(event, 49)
    many = compose_plan([one] * 50)
    assert accountant.get_epsilon(1e-5) * 0.999 <= many.epsilon(1e-5) <= 1.09 * accountant.get_epsilon(1e-5)


def test_products_refuse_what_is_no_curve():
    """Numbers are no curves, and an epsilon beyond use is none."""
    for make in (lambda: WithPure(0.5, epsilon=1), lambda: Subsampled(0.5, rate=0.1)):
        with pytest.raises(InvalidType, match="`curve`"):
            make()
    with pytest.raises(InvalidArgument, match="`epsilon` must be at most 2000"):
        WithPure(FAMILIES["gauss"], epsilon=2001)
    for curve in (
        WithPure(FAMILIES["gauss"], epsilon=1),
        GroupCurve(FAMILIES["approx"], 2),
        Subsampled(FAMILIES["gauss"], rate=1),
    ):
        assert "object at" not in repr(curve)
        assert "object at" not in repr(curve.inverse())


def test_the_other_accountant_is_imported_when_it_is_asked():
    """Neither the package, nor a curve, nor a ledger's reading loads dp-accounting, and none loads matplotlib."""
    code = (
        "import sys, discreet as dp; ledger = dp.Ledger(total=dp.Gdp(mu=1), adjacency=dp.Replace()); "
        "ledger.tradeoff().power('0.05'); dp.Gdp(mu=1).delta(1.0); "
        "print([m for m in ('dp_accounting', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# Epsilon, delta and mu squared of a part; what a plan is made of.
PARTS = st.one_of(
    st.builds(lambda e: Pure(epsilon=e), st.sampled_from([Fraction(1, 100), Fraction(1, 10), Fraction(1, 3), 1, 7])),
    st.builds(lambda e, d: Approx(epsilon=e, delta=d), st.sampled_from([Fraction(1, 10), 2]),
              st.sampled_from([Fraction(1, 10**12), Fraction(1, 10**6), Fraction(1, 5)])),
    st.builds(lambda m: Gdp(mu=m), st.sampled_from([Fraction(1, 10), 1])),
    st.builds(lambda r: Zcdp(rho=r), st.sampled_from([Fraction(1, 100), Fraction(1, 2)])),
)  # fmt: skip
ASKED = [Fraction(0), *(Fraction(1, 10**k) for k in (15, 12, 9, 3)), Fraction(1, 4)]


def sums_of(parts):
    """Return what adds up by definition: epsilons, deltas, and one curve of all other parts."""
    plain = [part for part in parts if isinstance(part, (Pure, Approx))]
    others = [part for part in parts if not isinstance(part, (Pure, Approx))]
    epsilon = sum((part.epsilon for part in plain), Fraction(0))
    delta = sum((part.delta for part in plain if isinstance(part, Approx)), Fraction(0))
    return epsilon, delta, compose(others).tradeoff() if others else None


@settings(max_examples=15)
@given(st.lists(PARTS, min_size=1, max_size=5), st.sampled_from([1, 10]))
def test_a_plan_never_costs_more_than_the_sum_of_its_parts(parts, times):
    """At any delta, 0 included: basic composition, with one curve for the Gaussian and concentrated parts."""
    parts = parts * times
    epsilon, delta, rest = sums_of(parts)
    curve = compose_plan(parts)
    for asked in ASKED:
        if asked < delta:
            continue
        basic = epsilon if rest is None else epsilon + rest.epsilon(asked - delta)
        assert curve.epsilon(asked) <= basic
        if math.isfinite(basic):
            assert curve.delta(Fraction(basic)) <= asked * (1 + Fraction(1, 2**60))
        if rest is None:
            above = np.array([np.nextafter(float(basic), 1e9)])
            assert curve.float_deltas(above)[0] <= float(asked) * (1 + 1e-9)


def test_pure_parts_at_delta_zero_cost_their_sum():
    """Exactly, also where the grid of losses told more, and floats are answered by floats."""
    plan = compose_plan([Pure(epsilon="1/10")] * 10)
    assert plan.epsilon("0") == 1
    assert plan.epsilon(0.0) == 1.0
    assert plan.epsilon(1e-15) <= 1.0
    assert plan.delta("1") == 0
    assert compose_plan([Pure(epsilon=1), Approx(epsilon=1, delta="1e-14")]).epsilon("1e-14") == 2
    assert compose_plan([laplace(1), laplace("1/2")]).epsilon("0") == Fraction(3, 2)
    assert compose_plan([Gdp(mu=1), Pure(epsilon=1)]).epsilon("0") == math.inf
    many = compose_plan([Approx(epsilon=1, delta="0.3")] * 4)
    assert many.epsilon("0.9") <= 600 * 4
    assert many.delta("1") <= 1


def test_other_curves_share_what_is_left():
    """Running times have no finite epsilon: two of them share a delta equally, and that is never passed."""
    one, two = (geometric_runtime(p=p, q=q).symmetrized() for p, q in (("1/2", "9/20"), ("1/10", "1/20")))
    plan = compose_plan([one, two, Pure(epsilon=1)])
    for delta in ASKED[1:3]:
        basic = one.epsilon(delta / 2) + two.epsilon(delta / 2) + 1
        assert plan.epsilon(delta) <= basic
