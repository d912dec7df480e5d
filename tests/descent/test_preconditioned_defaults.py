"""Default settings of a preconditioned descent: a function of public facts, near the best on simulated tables."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.descent.preconditioned.settings import LOSSES, settings_for
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.privacy.accounting import gaussian_mu
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
FACTS = {
    "loss": "squared",
    "n_rows": 10_000,
    "n_features": 12,
    "budget": Gdp(mu="0.2"),
    "adjacency": Replace(),
    "row_norm_squared": 8.0,
    "residual_bound": 2.0,
}
BUDGETS = (Pure(epsilon=1), Approx(epsilon=1, delta="1e-6"), Zcdp(rho="0.01"), Gdp(mu="0.2"))


@pytest.fixture(scope="module")
def fitting():
    """The script that fitted the rule."""
    sys.path.insert(0, str(EXPERIMENTS))
    try:
        import descent_defaults

        yield descent_defaults
    finally:
        sys.path.remove(str(EXPERIMENTS))


@given(
    loss=st.sampled_from(LOSSES),
    n_rows=st.integers(1, 10**9),
    n_features=st.integers(1, 3000),
    strength=st.floats(1e-6, 1e4),
    pure=st.booleans(),
    adjacency=st.sampled_from([Replace(), AddRemove()]),
    row_norm_squared=st.floats(1e-3, 1e4),
    residual_bound=st.floats(1e-3, 100),
)
def test_settings_are_in_range_whatever_the_facts(**facts):
    """Shares leave something for the steps, numbers are finite, and no more than half of all rows are to be clipped."""
    strength = Fraction(facts.pop("strength"))
    facts["budget"] = Pure(epsilon=strength) if facts.pop("pure") else Gdp(mu=strength)

    found = settings_for(**facts)

    assert 0 < found.gram_share + found.count_share < 1
    assert 1 <= found.n_steps <= 50
    assert 0 < found.clip < math.inf
    assert 0 < found.clip_target <= facts["n_rows"] / 2
    assert 0 < found.step_size < (8 if facts["loss"] == "logistic" else 2)
    assert 0 <= found.average_from < 1
    assert 1 <= found.step_growth < 2


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("budget", BUDGETS)
def test_every_currency_and_loss_has_settings(loss, budget):
    """All four currencies have a default for all three losses."""
    assert settings_for(**FACTS | {"loss": loss, "budget": budget}).n_steps >= 1


def test_currencies_of_one_mu_have_one_default():
    """What counts of a Gaussian budget is its mu alone."""
    mu = gaussian_mu(epsilon=1, delta="1e-6")
    given_mu = settings_for(**FACTS | {"budget": Gdp(mu=mu)})

    assert settings_for(**FACTS | {"budget": Approx(epsilon=1, delta="1e-6")}) == given_mu
    assert settings_for(**FACTS | {"budget": Zcdp(rho=mu**2 / 2)}) == given_mu


def test_settings_are_within_what_the_descent_takes():
    """They pass the checks of settings that a user gives, which change nothing of them."""
    from discreet.descent.preconditioned.settings import Settings

    for loss in LOSSES:
        for budget in BUDGETS:
            found = settings_for(**FACTS | {"loss": loss, "budget": budget})

            assert Settings(**vars(found)) == found


def test_the_number_of_clipped_rows_does_not_grow_with_the_table():
    """It is a multiple of what one row is worth in noise, while the clip itself grows."""
    small, large = (settings_for(**FACTS | {"n_rows": n}) for n in (10_000, 1_000_000))

    assert large.clip_target <= small.clip_target
    assert large.clip > small.clip


def test_large_tables_take_no_more_steps_than_time_allows():
    """From half a million rows on at most 18 passes, for counts 30."""
    for loss, most in (("squared", 16), ("logistic", 18), ("poisson", 30)):
        found = settings_for(**FACTS | {"loss": loss, "n_rows": 1_000_000, "budget": Gdp(mu=1)})
        assert found.n_steps <= most
    assert settings_for(**FACTS | {"loss": "logistic", "n_rows": 400_000, "budget": Gdp(mu=1)}).n_steps > 18


def test_half_the_sensitivity_clips_about_half_as_many_rows():
    """Under AddRemove noise is half as large, and so, up to the knots, is what clipping saves."""
    replaced, added = (settings_for(**FACTS | {"adjacency": a}) for a in (Replace(), AddRemove()))

    assert 1.5 < replaced.clip_target / added.clip_target < 2.5


def test_pure_budgets_take_few_steps_that_grow():
    """Epsilons add up, not their squares; the last steps, which are averaged, cost most."""
    pure, gaussian = (settings_for(**FACTS | {"budget": b}) for b in (Pure(epsilon=1), Gdp(mu=1)))

    assert pure.n_steps < gaussian.n_steps
    assert min(pure.step_growth, gaussian.step_growth) > 1


def test_pure_descents_of_little_noise_start_at_the_matrixs_solution():
    """They have few steps; where the matrix is full of noise, or steps are many, zero is as good."""
    warm = [settings_for(**FACTS | {"budget": b}).warm_start for b in (Pure(epsilon=5), Pure(epsilon="0.1"), Gdp(mu=1))]
    assert warm == [True, False, False]


def test_where_noise_is_large_all_steps_cost_the_same():
    """The first steps then have as far to go as the last."""
    for budget in (Pure(epsilon="0.001"), Gdp(mu="0.001")):
        assert settings_for(**FACTS | {"budget": budget}).step_growth == 1


@pytest.mark.parametrize("name", ["row_norm_squared", "residual_bound"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_a_bound_must_be_positive(name, value):
    """A bound that is none is refused by its name."""
    with pytest.raises(InvalidArgument, match=name):
        settings_for(**FACTS | {name: value})


@pytest.mark.parametrize("name", ["n_rows", "n_features"])
def test_counts_must_be_positive(name):
    """A table without rows or columns has no default."""
    with pytest.raises(InvalidArgument, match=name):
        settings_for(**FACTS | {name: 0})


def test_what_has_no_default_is_refused():
    """An unknown loss, a budget of nothing, and one without a delta; the adjacency is settled by whoever asks."""
    with pytest.raises(InvalidArgument, match="loss"):
        settings_for(**FACTS | {"loss": "hinge"})
    with pytest.raises(InvalidArgument, match="budget"):
        settings_for(**FACTS | {"budget": Gdp(mu=0)})
    with pytest.raises(IncompatiblePlan, match="delta"):
        settings_for(**FACTS | {"budget": Approx(epsilon=1, delta=0)})


# One table and currency a loss; all others by night.
@pytest.mark.parametrize(
    ("pure", "loss", "noise"),
    [
        (True, "squared", 0.1),
        (False, "logistic", 0.1),
        (False, "poisson", 0.3),
        pytest.param(False, "squared", 0.1, marks=pytest.mark.nightly),
        pytest.param(True, "logistic", 0.1, marks=pytest.mark.nightly),
        pytest.param(True, "poisson", 0.3, marks=pytest.mark.nightly),
        pytest.param(False, "squared", 0.02, marks=pytest.mark.nightly),
        pytest.param(True, "squared", 0.02, marks=pytest.mark.nightly),
    ],
)
def test_the_default_is_near_the_best_of_fixed_settings_on_simulated_tables(fitting, loss, noise, pure):
    """Over tables never used for the fit, at most 1.5 times the best single setting in hindsight, geometric mean."""
    rng = np.random.default_rng(99)
    tables = [t for t in (fitting.simulated(rng, loss) for _ in range(14)) if len(t.y) <= 10_000][:5]
    costs = [fitting.cost_of(t, noise, pure=pure) for t in tables]
    ours = [
        fitting.score([t], c, fitting.rule(loss, *t.A.shape, t.norm_squared, c), (1, 2, 3))
        for t, c in zip(tables, costs, strict=True)
    ]
    hindsight = min(
        np.mean([np.log(fitting.score([t], c, k, (4,))) for t, c in zip(tables, costs, strict=True)])
        for k in fitting.grid(loss, pure=pure, warm=False)
    )

    assert np.mean(np.log(ours)) <= hindsight + math.log(1.5)


@pytest.mark.parametrize(("epsilon", "target"), [("0.1", 0.011), ("0.5", 0.0044), ("1", 0.0042), ("3.2", 0.0042)])
def test_logistic_regression_on_uniform_columns_reaches_the_rivals(fitting, epsilon, target):
    """13 uniform columns, |w| = 4, n = 10,000, AddRemove, delta = n**-1.5: excess log loss at most the best rival's."""
    cost = fitting.Cost(mu=float(gaussian_mu(epsilon=epsilon, delta=10_000**-1.5)), distance=1)
    k = fitting.rule("logistic", 10_000, 14, 15.0, cost)
    found = [fitting.uniform_excess("logistic", 10_000, cost, k, np.random.default_rng([3, j])) for j in range(7)]

    assert np.median(found) <= target


def test_logistic_regression_on_a_larger_table_reaches_the_rivals(fitting):
    """The same with n = 100,000 and epsilon 0.5: at most 4e-4."""
    cost = fitting.Cost(mu=float(gaussian_mu(epsilon="0.5", delta=100_000**-1.5)), distance=1)
    k = fitting.rule("logistic", 100_000, 14, 15.0, cost)
    found = [fitting.uniform_excess("logistic", 100_000, cost, k, np.random.default_rng([3, j])) for j in range(3)]

    assert np.median(found) <= 4e-4


def test_a_followed_clip_beats_a_fixed_one(fitting):
    """Where residuals are far smaller than their bound, which no public fact tells, following pays several times."""
    rng = np.random.default_rng(5)
    X = np.column_stack([np.ones(10_000), rng.uniform(-1, 1, (10_000, 8))])
    y = X @ np.r_[0, np.full(8, 0.05)] + rng.normal(0, 0.02, 10_000)
    t = fitting.table(X, y, "squared", 10.0)
    cost = fitting.Cost(mu=0.2)
    k = fitting.rule("squared", *X.shape, 10.0, cost)

    assert 3 * fitting.score([t], cost, k, range(5)) < fitting.score([t], cost, replace(k, count_share=0.0), range(5))
