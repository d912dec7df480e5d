"""The same event several times in one charge: price, refusals, file form."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.errors import InvalidArgument, InvalidType, NoSoundConversion
from discreet.privacy.events.event import event_from_json
from discreet.privacy.events.noise import GaussianEvent, LaplaceEvent
from discreet.privacy.events.repeated import RepeatedEvent, share_of

COMMON = {"adjacency": dp.Replace(), "statistic": "a sum", "shape": (2,)}
POSITIVE = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6)


def gaussian(mu_squared, budget=None, **changes):
    budget = dp.Gdp.from_squared(mu_squared) if budget is None else budget
    return GaussianEvent(sensitivity_squared=1, variance=1 / Fraction(mu_squared), budget=budget, **(COMMON | changes))


@given(mu_squared=POSITIVE, n_times=st.integers(1, 50))
def test_the_price_is_that_of_the_part_as_often(mu_squared, n_times):
    """Squares of mu add up exactly, and one step less of budget is refused."""
    total = dp.Gdp.from_squared(mu_squared * n_times)
    event = RepeatedEvent(part=gaussian(mu_squared), n_times=n_times, budget=total, **COMMON)
    assert event.price == total
    with pytest.raises(InvalidArgument, match="costs"):
        RepeatedEvent(
            part=gaussian(mu_squared),
            n_times=n_times,
            budget=dp.Gdp.from_squared(total.mu_squared * Fraction(99, 100)),
            **COMMON,
        )


@pytest.mark.parametrize(
    "budget", [dp.Pure(epsilon="1/3"), dp.Approx(epsilon=1, delta="1e-5"), dp.Zcdp(rho=2), dp.Gdp(mu="1/7")], ids=repr
)
@pytest.mark.parametrize("n_times", [1, 3, 7])
def test_shares_add_up_to_the_whole_exactly(budget, n_times):
    """No rounding: k shares are the budget."""
    share = share_of(budget, n_times)
    total = type(budget).zero()
    for _ in range(n_times):
        total += share
    assert total == budget


def test_a_file_keeps_the_part_and_prices_it_anew():
    """The JSON round trip gives the same event, and a changed number is refused."""
    event = RepeatedEvent(part=gaussian(1), n_times=4, budget=dp.Gdp(mu=2), **COMMON)
    document = event.to_json()
    assert event_from_json(document) == event
    with pytest.raises(InvalidArgument, match="costs"):
        event_from_json(document | {"n_times": "5"})
    for changed in ({"part": None}, {"n_times": "0"}, {"n_times": "1/2"}):
        with pytest.raises(InvalidArgument):
            event_from_json(document | changed)


def test_another_currency_adds_up_what_the_part_costs_in_it():
    """A ledger in Zcdp charges k times the part's rho; one in Pure refuses."""
    event = RepeatedEvent(part=gaussian(1), n_times=4, budget=dp.Gdp(mu=2), **COMMON)
    assert event.cost_in(dp.Gdp) == dp.Gdp(mu=2)
    assert event.cost_in(dp.Zcdp) == dp.Zcdp(rho=2)
    with pytest.raises(NoSoundConversion):
        event.cost_in(dp.Pure)
    laplace = LaplaceEvent(sensitivity=1, scale=Fraction(2), budget=dp.Pure(epsilon="1/2"), **COMMON)
    pure = RepeatedEvent(part=laplace, n_times=2, budget=dp.Pure(epsilon=1), **COMMON)
    assert pure.cost_in(dp.Zcdp) <= dp.Zcdp(rho="1/2")


def test_a_ledger_takes_it_as_one_entry():
    """One charge, and the whole price is spent."""
    event = RepeatedEvent(part=gaussian(1), n_times=4, budget=dp.Gdp(mu=2), **COMMON)
    ledger = dp.Ledger(total=dp.Gdp(mu=2), adjacency=dp.Replace())
    ledger.charge(event)
    assert len(ledger.entries) == 1
    assert ledger.left == dp.Gdp(mu=0)


def test_the_part_must_be_an_event_of_the_same_neighbours():
    """Anything else is refused by name."""
    with pytest.raises(InvalidType, match="part"):
        RepeatedEvent(part="a sum", n_times=2, budget=dp.Gdp(mu=2), **COMMON)
    with pytest.raises(InvalidArgument, match="adjacency"):
        RepeatedEvent(part=gaussian(1, adjacency=dp.AddRemove()), n_times=2, budget=dp.Gdp(mu=2), **COMMON)
