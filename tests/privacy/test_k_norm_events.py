"""The price of a K-norm gradient: its normalizer, currencies, and the way through a file."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.events.event import event_from_json
from discreet.privacy.events.k_norm import KNormGradientEvent
from discreet.privacy.events.sampling import SamplingEvent

FIELDS = {
    "scale": "2/5",
    "sensitivity": 1,
    "error": "1/1000",
    "envelope": "data-dependent",
    "claim": "proved",
    "acceptance": 1,
    "acceptance_high": 1,
    "partner": 1,
    "policy": "cool-down",
    "block": 1,
    "parameter": "1e-6",
    "slack": 0,
    "wrong": 0,
    "n_draws": 1,
    "adjacency": Replace(),
    "budget": Pure(epsilon=9),
    "statistic": "parameters",
    "shape": (1,),
}


def event(**changes):
    return KNormGradientEvent(**(FIELDS | {"normalizer": "1/10"} | changes))


def plain(**changes):
    return SamplingEvent(**(FIELDS | changes))


@given(normalizer=st.fractions(0, 3), scale=st.fractions("1/100", 3), n_draws=st.integers(1, 4))
def test_a_draw_costs_the_change_of_utility_and_normalizer(normalizer, scale, n_draws):
    """In Pure: scale * sensitivity + normalizer + 4 errors, or twice the first where that is less; a draw."""
    found = event(normalizer=normalizer, scale=scale, n_draws=n_draws, budget=Pure(epsilon=100))
    each = min(2 * scale, scale + normalizer) + Fraction(4, 1000)
    assert found.price == Pure(epsilon=n_draws * each)
    assert found.price <= plain(scale=scale, n_draws=n_draws, budget=Pure(epsilon=100)).price


def test_other_currencies_keep_the_price_of_bounded_range():
    """The range of the log-ratio is what it was, so Zcdp and Gdp cost what they cost without a normalizer."""
    for budget in (Zcdp(rho=9), Gdp(mu=9)):
        assert event(budget=budget, normalizer=0).price == plain(budget=budget).price


def test_approx_is_priced_like_pure():
    """A truncated draw pays for its failures beside the sharper price."""
    told = {"policy": "truncated", "parameter": 0, "acceptance": "1/10", "block": 263}
    found = event(budget=Approx(epsilon=9, delta="1e-9"), **told)
    assert found.price < plain(budget=Approx(epsilon=9, delta="1e-9"), **told).price
    assert float(found.price.epsilon) == pytest.approx(0.504)


def test_it_comes_back_from_a_file():
    """An event written as JSON is read as the same event."""
    found = event()
    assert event_from_json(found.to_json()) == found
    assert found.to_json()["kind"] == "k-norm-gradient"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"normalizer": -1}, "`normalizer`"),
        ({"normalizer": float("nan")}, "`normalizer`"),
        ({"envelope": "common"}, "`envelope`"),
        ({"budget": Pure(epsilon="1/2")}, "`budget`"),
    ],
)
def test_unusable_numbers_are_refused_by_name(changes, text):
    """A negative normalizer, a common envelope, a budget below the price."""
    with pytest.raises(InvalidArgument, match=text):
        event(**changes)
