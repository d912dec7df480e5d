"""Prices of exact draws: currencies, inverses, and brute force over small laws."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.lattice.bounds import Interval
from discreet.privacy.accounting import convert
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.bounded_range import price_together
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.events.event import event_from_json
from discreet.privacy.events.perturbation import FrankWolfeEvent
from discreet.privacy.events.sampling import (
    ChoiceEvent,
    Runtime,
    SamplingEvent,
    beside,
    cool_down_epsilon,
    largest_reach,
    squeeze_epsilon,
)
from discreet.privacy.ledger import Ledger
from discreet.sampling.quantiles.quantile_release import median

FIELDS = {
    "scale": "2/5",
    "sensitivity": 1,
    "error": "1/1000",
    "envelope": "data-dependent",
    "claim": "proved",
    "acceptance": "1/10",
    "acceptance_high": "1/2",
    "partner": "1/4",
    "policy": "cool-down",
    "block": 263,
    "parameter": "1e-6",
    "slack": 0,
    "wrong": 0,
    "n_draws": 1,
    "adjacency": Replace(),
    "budget": Pure(epsilon=2),
    "statistic": "a point",
    "shape": (1,),
}
REACH = Fraction(4, 5) + Fraction(4, 1000)


def event(**changes):
    return SamplingEvent(**(FIELDS | changes))


def choice(**changes):
    fields = {"scale": "1/2", "sensitivity": 1, "n_candidates": 9, "n_draws": 2, "adjacency": AddRemove()}
    return ChoiceEvent(**(fields | {"budget": Pure(epsilon=2), "statistic": "a candidate", "shape": (1,)} | changes))


def test_a_cool_down_has_a_price_in_every_currency():
    """In Pure shares add up; in Zcdp and Gdp bounded range counts r**2 / 8 and (pi/2) (r/2)**2."""
    other = event().runtime_epsilon
    assert 0 < other <= Fraction(1, 10**6)
    assert event().price == Pure(epsilon=REACH + other)
    assert event(budget=Approx(epsilon=2, delta=0)).price == Approx(epsilon=REACH + other, delta=0)
    assert event(budget=Zcdp(rho=1)).price == Zcdp(rho=REACH**2 / 8 + other**2 / 2)
    gdp = event(budget=Gdp(mu=1)).price
    assert float(gdp.mu_squared) == pytest.approx(np.pi / 2 * float(REACH) ** 2 / 4, rel=1e-6)
    assert event(n_draws=2).price == Pure(epsilon=2 * (REACH + other))


def test_bounded_range_is_cheaper_than_a_pure_conversion():
    """A fourth of the rho, and less mu, of what the same epsilon would cost by conversion."""
    pure = event().price
    for budget in (Zcdp(rho=1), Gdp(mu=2)):
        assert event(budget=budget).price < convert(pure, type(budget))


def test_prices_with_a_delta():
    """Truncation and restart cost the chance that a block fails; constant acceptance the distance of two times."""
    budget = Approx(epsilon=2, delta="1e-3")
    h = beside(Runtime(policy="block-restart", block=100), Fraction(1, 10), "common")[1]
    assert float(h) == pytest.approx(0.9**100)
    restart = event(policy="block-restart", block=100, parameter=0, budget=budget)
    assert restart.price == Approx(epsilon=REACH, delta=h)
    truncated = event(policy="truncated", block=100, parameter=0, budget=budget)
    assert truncated.price.epsilon > REACH
    common = event(policy="truncated", block=100, parameter=0, budget=budget, envelope="common")
    assert common.price == restart.price
    constant = event(policy="constant", block=1, parameter="1/10", wrong="1e-6", budget=budget)
    assert 0 < constant.price.delta < Fraction(1, 10**5)
    exact = event(policy="constant", block=1, parameter="1/10")
    assert exact.price == Pure(epsilon=REACH)
    with pytest.raises(InvalidArgument, match="too short"):
        event(policy="truncated", block=1, parameter=0, n_draws=2, budget=budget)


def test_a_plain_time_has_no_price_without_a_delta():
    """Refused by name; with a delta its curve decides."""
    with pytest.raises(IncompatiblePlan, match="no finite epsilon"):
        event(policy="plain", block=1, parameter=1)
    budget = Approx(epsilon=25, delta="1e-6")
    assert event(policy="plain", block=1, parameter=1, budget=budget).price == budget
    with pytest.raises(InvalidArgument, match="costs"):
        event(policy="plain", block=1, parameter=1, budget=Approx(epsilon=2, delta="1e-6"))
    common = event(policy="plain", block=1, parameter="1/10", envelope="common", budget=budget)
    assert common.price == budget
    with pytest.raises(InvalidArgument, match="promises nothing"):
        event(policy="plain", block=1, parameter=1, n_draws=40, budget=Approx(epsilon="1/100", delta="1e-6"))


@pytest.mark.parametrize("make", [event, choice])
def test_events_survive_their_json_and_a_ledger(make):
    """Written, read, charged: the same event and the same cost."""
    one = make()
    assert event_from_json(one.to_json()) == one
    ledger = Ledger(total=Pure(epsilon=2), adjacency=one.adjacency)
    ledger.charge(one)
    assert ledger.spent == Pure(epsilon=2)
    # A bounded range is pure, also where the budget is not.
    other = make(budget=Zcdp(rho=1)).cost_in(Pure)
    assert one.price == other


def test_a_median_costs_the_price_of_its_range_in_every_ledger():
    """Declarations in Pure, it costs a Zcdp ledger r**2 / 8, a Gdp one pi r**2 / 8 rounded up, Pure and Approx r."""
    private_values = np.linspace(0, 1, 50)
    expected = {Pure(epsilon=9): Pure(epsilon=1), Approx(epsilon=9, delta=0): Approx(epsilon=1, delta=0),
                Zcdp(rho=9): Zcdp(rho="1/8"), Gdp(mu=9): Gdp.from_squared(Fraction(355, 226) / 4)}  # fmt: skip
    for total, cost in expected.items():
        ledger = Ledger(total=total, adjacency=Replace())
        median(private_values, bounds=Interval(0, 1), budget=Pure(epsilon=1), adjacency=Replace(), ledger=ledger)
        assert ledger.spent == cost
        assert ledger.entries[0].cost == cost
    assert Fraction(355, 226) > Fraction(np.pi) / 2


@pytest.mark.parametrize("make", [event, choice])
@pytest.mark.parametrize("asked", [Pure(epsilon=2), Approx(epsilon=2, delta=0), Zcdp(rho=2), Gdp(mu=2)], ids=repr)
def test_a_bounded_range_has_its_own_price_whatever_was_asked(make, asked):
    """The same draw costs no more because its budget was told in another currency."""
    one = make(budget=asked)
    for currency, within in ((Pure, Pure(epsilon=2)), (Zcdp, Zcdp(rho="1/2")), (Gdp, Gdp.from_squared("1.7"))):
        if not isinstance(asked, currency):
            assert one.cost_in(currency) == one.price_in(currency) <= within
            assert one.cost_in(currency) == make(budget=within).price
    no_time_of_its_own = event(policy="truncated", parameter=0, budget=Approx(epsilon=3, delta="1e-2"))
    assert no_time_of_its_own.price_in(Zcdp) is None


def test_choices_of_frank_wolfe_cost_their_range_in_every_ledger():
    """Gumbel's noise has a bounded range, Laplace's is pure alone."""
    gumbel, laplace = (
        FrankWolfeEvent(n_steps=4, law=law, ratio=8, adjacency=Replace(), budget=Pure(epsilon=1), statistic="w",
                        shape=(2,)) for law in ("gumbel", "laplace")
    )  # fmt: skip
    assert gumbel.cost_in(Zcdp) == Zcdp(rho=Fraction(4, 2 * 64))
    assert laplace.cost_in(Zcdp) == Zcdp(rho=Fraction(4 * 2, 64))
    assert gumbel.cost_in(Gdp) == Gdp.from_squared(4 * Fraction(355, 226) / 64)
    assert gumbel.cost_in(Gdp) < laplace.cost_in(Gdp)


def test_a_choice_has_the_prices_of_the_exponential_mechanism():
    """r, r**2 / 8 and (pi/2) (r/2)**2 a draw."""
    assert choice().price == Pure(epsilon=2)
    assert choice(budget=Zcdp(rho=1)).price == Zcdp(rho="1/4")
    assert choice(budget=Approx(epsilon=2, delta="1e-6")).price == Approx(epsilon=2, delta=0)
    assert float(choice(budget=Gdp(mu=2)).price.mu_squared) == pytest.approx(np.pi / 4, rel=1e-6)
    with pytest.raises(InvalidArgument, match="costs"):
        choice(scale=1)


@given(st.fractions(min_value=Fraction(1, 1000), max_value=5), st.integers(1, 30), st.booleans())
def test_the_largest_reach_is_paid_for_and_nothing_larger(size, n_draws, with_other):
    """The price at the largest range is within the budget, and 1e-9 more is not."""
    other = size / 100 if with_other else Fraction(0)
    for budget in (Pure(epsilon=n_draws * size), Zcdp(rho=n_draws * size**2), Gdp(mu=size)):
        try:
            reach = largest_reach(budget, n_draws=n_draws, other=other)
        except IncompatiblePlan:
            assert isinstance(budget, Gdp)
            continue
        extra = reach * (1 + Fraction(1, 10**9))
        for width, within in ((reach, True), (extra, False)):
            assert (price_together(type(budget), n_draws, width, other) <= budget) == within


def test_nothing_left_is_refused_by_name():
    """A budget smaller than what the clock takes, or without the delta that a policy needs."""
    for budget, extra in [
        (Pure(epsilon="1e-7"), {"other": Fraction(1, 10**6)}),
        (Zcdp(rho="1e-20"), {"other": Fraction(1, 10**6)}),
        (Pure(epsilon=1), {"delta": Fraction(1, 10**6)}),
        (Approx(epsilon=1, delta="1e-9"), {"delta": Fraction(1, 10**6)}),
    ]:
        with pytest.raises(IncompatiblePlan, match="leaves nothing"):
            largest_reach(budget, **extra)
    assert cool_down_epsilon(Fraction(0), Fraction(1, 2)) == 0


@given(
    st.lists(st.tuples(st.floats(0.02, 1), st.floats(0.02, 0.9), st.booleans()), min_size=2, max_size=6),
    st.integers(1, 12),
)
def test_a_truncated_run_under_a_common_envelope_has_no_inflation(cells, block):
    """Brute force over small laws: delta at epsilon = 2 s is at most the chance of a failure."""
    shift = 0.3
    weights = np.array([w for w, _, _ in cells]) / sum(w for w, _, _ in cells)
    first = np.array([a for _, a, _ in cells])
    second = np.minimum(first * np.exp([shift if up else -shift for _, _, up in cells]), 1.0)

    def law(chances):
        p = float(weights @ chances)
        return np.append(weights * chances / p * (1 - (1 - p) ** block), (1 - p) ** block)

    h = max(law(first)[-1], law(second)[-1])
    for one, other in ((law(first), law(second)), (law(second), law(first))):
        assert np.maximum(one - np.exp(2 * shift) * other, 0).sum() <= h + 1e-12
        assert np.maximum(one[:-1] - np.exp(2 * shift) * other[:-1], 0).sum() <= 1e-12


def test_a_squeeze_is_never_sold_at_the_price_of_its_output():
    """Its event costs what output and time cost together, `n_draws` times: more than the output alone."""
    numbers = {"envelope": "common", "policy": "squeeze", "parameter": "1/20", "slack": "1/2", "block": 1, "n_draws": 2}
    squeezed = event(**numbers, budget=Pure(epsilon=20))
    joint = squeeze_epsilon(squeezed.change, Fraction(1, 20), Fraction(1, 2))
    assert squeezed.price == Pure(epsilon=2 * joint)
    assert joint > 2 * squeezed.change
