"""The rule of choice: a function of public facts, and what it refuses."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.estimators.methods.choice import LOSSES, METHODS, PublicFacts, choose, why_not

FACTS = PublicFacts(
    loss="squared",
    n_rows=10_000,
    n_columns=11,
    intercept=True,
    budget=dp.Gdp(mu=1),
    adjacency=dp.Replace(),
    bounded=True,
)
ZERO = dp.Approx(epsilon=1, delta=0)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "descent"),
        ({"budget": dp.Zcdp(rho=50)}, "descent"),
        ({"budget": dp.Approx(epsilon="0.01", delta="1e-6")}, "descent"),
        ({"loss": "poisson", "budget": dp.Pure(epsilon=10)}, "descent"),
        ({"budget": dp.Pure(epsilon=1)}, "descent"),
        ({"budget": dp.Pure(epsilon=100)}, "moments"),
        ({"budget": dp.Pure(epsilon=15)}, "descent"),
        ({"budget": dp.Pure(epsilon=15), "adjacency": dp.AddRemove()}, "moments"),
        ({"loss": "logistic", "budget": dp.Pure(epsilon="0.1")}, "descent"),
        ({"loss": "logistic", "budget": dp.Pure(epsilon="0.5")}, "descent"),
        ({"loss": "logistic", "budget": dp.Pure(epsilon=10)}, "perturbation"),
        ({"loss": "logistic", "budget": dp.Gdp(mu=10)}, "descent"),
        ({"n_columns": 3000}, "threshold"),
        ({"n_columns": 3000, "budget": dp.Pure(epsilon=1)}, "descent"),
        ({"n_columns": 3000, "budget": dp.Pure(epsilon=1), "loss": "logistic"}, "perturbation"),
        ({"budget": ZERO}, "moments"),
        ({"budget": ZERO, "loss": "logistic"}, "perturbation"),
        ({"bounded": False}, "threshold"),
        ({"bounded": False, "sparse": True}, "threshold"),
        ({"bounded": False, "sparse": True, "sparsity": 2, "entry_bound": 0.1}, "peel"),
        ({"bounded": False, "budget": dp.Pure(epsilon=1), "loss": "logistic"}, "perturbation"),
        ({"weighted": True, "budget": dp.Pure(epsilon=100)}, "descent"),
    ],
    ids=repr,
)
def test_the_rule(changes, expected):
    """Table, loss, currency and size decide, and the reason names the method."""
    found = choose("auto", replace(FACTS, **changes))
    assert found.method == expected
    assert found.reason.startswith(f"{expected}, for ")
    assert found.reason.endswith(".")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"budget": ZERO, "loss": "poisson"}, "No method fits a Poisson regression"),
        ({"bounded": False, "budget": dp.Pure(epsilon=1)}, "No method fits a linear regression of rows"),
        ({"bounded": False, "weighted": True}, "Weights are taken"),
    ],
)
def test_where_no_method_fits_it_is_said(changes, message):
    """With what would do."""
    with pytest.raises(dp.errors.IncompatiblePlan, match=message):
        choose("auto", replace(FACTS, **changes))


facts = st.builds(
    PublicFacts,
    loss=st.sampled_from(LOSSES),
    n_rows=st.integers(1, 10**7),
    n_columns=st.integers(1, 4000),
    intercept=st.booleans(),
    budget=st.sampled_from([dp.Pure(epsilon="0.1"), dp.Pure(epsilon=9), dp.Gdp(mu=1), dp.Zcdp(rho=1), ZERO]),
    adjacency=st.sampled_from([dp.Replace(), dp.AddRemove()]),
    bounded=st.booleans(),
    n_models=st.sampled_from([1, 3]),
    weighted=st.booleans(),
    sparsity=st.sampled_from([None, 1, 50]),
)


@given(facts)
def test_what_auto_picks_has_a_release(facts):
    """It never picks what it would refuse by name, and refuses only where every method is."""
    try:
        found = choose("auto", facts)
    except dp.errors.IncompatiblePlan:
        assert all(why_not(method, facts) is not None for method in METHODS[1:] if method not in {"sample", "moments"})
        return
    assert why_not(found.method, facts) is None
    assert choose(found.method, facts).method == found.method
