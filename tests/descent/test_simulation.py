"""Default settings: a function of public facts, tuned on simulations, near the best on simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.descent.calibration import plan_descent
from discreet.descent.losses import LOSSES, loss_named
from discreet.descent.rows import integer_rows
from discreet.descent.simulation import tune_on_simulation
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.coins import Coins

TEXT = {
    "loss": "logistic",
    "n_rows": 9603,
    "n_columns": 45_432,
    "row_norm": 1.0,
    "entry_bound": None,
    "budget": Approx(epsilon=2, delta="0.01"),
    "adjacency": Replace(),
    "sparsity": 8000,
    "selection": "auto",
}
DENSE = TEXT | {
    "loss": "squared",
    "n_rows": 1000,
    "n_columns": 1000,
    "row_norm": 20.0,
    "entry_bound": 1.16,
    "sparsity": 10,
    "target_bounds": (-5.0, 5.0),
}


@settings(max_examples=200, deadline=None)
@given(
    loss=st.sampled_from(LOSSES),
    n_rows=st.integers(1, 10**8),
    n_columns=st.integers(1, 10**7),
    row_norm=st.floats(1e-6, 1e6),
    part=st.floats(1e-3, 1),
    rho=st.floats(1e-9, 1e6),
    adjacency=st.sampled_from([Replace(), AddRemove()]),
    sparsity=st.integers(1, 10**7),
    selection=st.sampled_from(["auto", "all", "threshold", "peel", "coordinate"]),
    half_width=st.floats(1e-6, 1e6),
)
def test_every_public_fact_gives_settings_that_a_descent_accepts(**facts):
    """Whatever the facts, steps are a whole number, the rest finite and positive, and the same every time."""
    half_width, rho = facts.pop("half_width"), facts.pop("rho")
    facts |= {
        "entry_bound": facts["row_norm"] * facts.pop("part"),
        "budget": Zcdp(rho=rho),
        "target_bounds": None if facts["loss"] == "logistic" else (-half_width, half_width),
    }
    found = tune_on_simulation(**facts)
    assert found == tune_on_simulation(**facts)
    assert 1 <= found.n_steps <= max(256, 3 * found.sparsity)
    assert 0 < found.step_size < math.inf
    assert 0 < found.clip < math.inf
    assert found.sparsity == min(facts["sparsity"], facts["n_columns"])
    assert found.noise_floor in {0.0, 3.0}


def test_dense_and_thin_rows_are_told_apart_by_their_bounds_alone():
    """Rows whose bounds force many entries get few steps and a floor; rows that may have few get many and none."""
    text, dense = tune_on_simulation(**TEXT), tune_on_simulation(**DENSE)
    assert (text.n_steps, text.noise_floor, text.clip) == (130, 0.0, 0.5)
    assert 50 < text.step_size < 300
    assert 2 <= dense.n_steps <= 12
    assert dense.noise_floor == 3.0
    assert dense.clip == 0.25
    assert 2 <= dense.step_size * 0.4 <= 4


def test_less_budget_gives_fewer_dense_steps_and_shorter_ones_over_text():
    """Both kinds travel less where each bit of travel carries more noise."""
    budgets = [Approx(epsilon=epsilon, delta="1e-6") for epsilon in ("0.3", 1, 3, 10)]
    dense = [tune_on_simulation(**DENSE | {"budget": budget}).n_steps for budget in budgets]
    assert dense == sorted(dense)
    assert dense[0] < dense[-1]
    text = [tune_on_simulation(**TEXT | {"budget": budget}) for budget in budgets]
    lengths = [found.step_size * found.n_steps for found in text]
    assert lengths == sorted(lengths)
    # The fewest steps first, and shorter ones where these are too many; then more, each as long as it may be.
    assert [found.n_steps for found in text] == [96, 96, 96, 256]
    assert text[0].step_size < text[1].step_size < text[-1].step_size == 100


@pytest.mark.parametrize("facts", [TEXT, TEXT | {"loss": "squared", "target_bounds": (-1.0, 1.0)}])
def test_a_step_goes_with_the_number_of_steps_and_the_clip_that_were_decided(facts):
    """Over text, twice the steps or twice the clip halve a step that noise bounds: the noise of a fit stays."""
    facts = facts | {"n_steps": 1000, "clip": 0.2}
    found = tune_on_simulation(**facts)
    assert (found.n_steps, found.clip) == (1000, 0.2)
    for changes in ({"n_steps": 2000}, {"clip": 0.4}):
        assert tune_on_simulation(**facts | changes).step_size == pytest.approx(found.step_size / 2, rel=0.01)
    dense = [tune_on_simulation(**DENSE | {"n_steps": n_steps}).step_size for n_steps in (4, 6, 8)]
    assert dense == sorted(dense, reverse=True)
    assert dense[0] > dense[-1]


@pytest.mark.parametrize(
    ("changes", "text"), [({"n_steps": 0}, "`n_steps`"), ({"clip": 0.0}, "`clip`"), ({"clip": float("inf")}, "`clip`")]
)
def test_a_decision_that_makes_no_sense_is_named(changes, text):
    """Refusals name the argument."""
    with pytest.raises(InvalidArgument, match=text):
        tune_on_simulation(**TEXT | changes)


def test_settings_follow_the_units_of_the_rows_and_of_the_target():
    """Ten times the target's range, or the rows' norm, changes clip and step size as units do."""
    plain = tune_on_simulation(**DENSE)
    wide = tune_on_simulation(**DENSE | {"target_bounds": (-50.0, 50.0)})
    assert (wide.n_steps, wide.step_size, wide.clip) == (plain.n_steps, plain.step_size, 10 * plain.clip)
    long = tune_on_simulation(**DENSE | {"row_norm": 200.0, "entry_bound": 11.6})
    assert (long.n_steps, long.clip) == (plain.n_steps, plain.clip)
    assert long.step_size == pytest.approx(plain.step_size / 100, rel=0.01)


def test_equal_budgets_in_other_currencies_give_equal_settings():
    """A Gaussian plan is tuned by mu, whatever the currency."""
    facts = TEXT | {"selection": "threshold"}
    found = [tune_on_simulation(**facts | {"budget": budget}) for budget in (Gdp(mu=1), Zcdp(rho="1/2"))]
    assert found[0] == found[1]
    some = {name: tune_on_simulation(**TEXT | {"selection": name}).n_steps for name in ("all", "peel", "coordinate")}
    assert some == {"all": 130, "peel": 4, "coordinate": 24_000}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"loss": "hinge"}, "`loss`"),
        ({"n_rows": 0}, "`n_rows`"),
        ({"sparsity": 0}, "`sparsity`"),
        ({"selection": "best"}, "`selection`"),
        ({"loss": "squared"}, "`target_bounds` are needed"),
        ({"loss": "squared", "target_bounds": (1.0, 0.0)}, "lower <= upper"),
        ({"loss": "squared", "target_bounds": (float("nan"), 0.0)}, "`target_bounds`"),
    ],
)
def test_a_fact_that_makes_no_sense_is_named(changes, text):
    """Refusals name the argument."""
    with pytest.raises(InvalidArgument, match=text):
        tune_on_simulation(**TEXT | changes)


def test_a_pure_budget_is_refused_as_the_plan_refuses_it():
    """No noisy descent has a pure guarantee, and delta = 0 is one."""
    for budget in (Pure(epsilon=1), Approx(epsilon=1, delta=0)):
        with pytest.raises(IncompatiblePlan, match="no pure guarantee"):
            tune_on_simulation(**TEXT | {"budget": budget})


def fits_of(loss, X, y, facts):
    """Return three private fits with the default settings."""
    found = tune_on_simulation(**facts)
    bounds = facts.get("target_bounds") or (0.0, 1.0)
    rows = integer_rows(X, y, row_norm=facts["row_norm"], entry_bound=facts["entry_bound"], target_bounds=bounds)
    plan = plan_descent(
        rows.grid,
        loss_named(loss, clip=found.clip),
        budget=facts["budget"],
        adjacency=facts["adjacency"],
        target_bounds=bounds,
        n_selected=found.sparsity,
        n_steps=found.n_steps,
        step_size=found.step_size,
        divisor=float(X.shape[0]),
        noise_floor=found.noise_floor,
    )
    return [plan.draw(rows, Coins.from_seed(seed)).coef for seed in range(3)]


@pytest.mark.parametrize(("epsilon", "largest"), [(2, 0.34), (10, 0.126)])
def test_the_untuned_default_is_within_twice_the_tuned_target_on_dense_rows(epsilon, largest):
    """Setting (i) of Wang and Gu 2019, one data set, at the published tables' delta."""
    rng = np.random.default_rng(5)
    truth = np.zeros(1000)
    truth[rng.choice(1000, 10, replace=False)] = rng.uniform(-1, 1, 10)
    X = rng.uniform(-2, 2, (1000, 1000))
    X *= (20 / np.linalg.norm(X, axis=1))[:, None]
    y = X @ truth + np.sqrt(0.1) * rng.standard_normal(1000)
    fits = fits_of("squared", X, y, DENSE | {"budget": Approx(epsilon=epsilon, delta="0.01")})
    assert np.mean([np.linalg.norm(fit - truth) / np.linalg.norm(truth) for fit in fits]) < largest


def test_the_untuned_default_learns_from_thin_rows():
    """Words by Zipf's law, 8,000 rows of 6,000 columns: most rows are put on the side where their predictor is."""
    rng = np.random.default_rng(3)
    law = 1 / (np.arange(6000) + 2.7)
    words = rng.choice(6000, (8000, 60), p=law / law.sum())
    X = sp.csr_array((np.ones(words.size), (np.repeat(np.arange(8000), 60), words.ravel())), shape=(8000, 6000))
    X.sum_duplicates()
    X.data = np.log1p(X.data)
    X.data /= np.repeat(np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel()), np.diff(X.indptr))
    truth = np.zeros(6000)
    truth[:300] = rng.standard_normal(300)
    truth *= 2 / (X @ truth).std()
    y = (rng.random(8000) < 1 / (1 + np.exp(-(X @ truth)))).astype(float)
    facts = TEXT | {"n_rows": 8000, "n_columns": 6000, "sparsity": 3000, "budget": Approx(epsilon=10, delta="0.01")}
    fits = fits_of("logistic", X, y, facts)
    assert np.mean([np.mean((X @ fit > 0) == (X @ truth > 0)) for fit in fits]) > 0.8
