"""Models of noisy steps and their rivals on rows whose columns have bounds: arrays, and tables under a formula."""

import inspect

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.privacy.coins import Coins
from public_state import beside_the_release

MODELS = [
    dp.SparseLinearRegression,
    dp.SparseLogisticRegression,
    dp.FrankWolfeLinearRegression,
    dp.FrankWolfeLogisticRegression,
    dp.TwoStageLinearRegression,
    dp.TwoStageLogisticRegression,
    dp.PerturbedLogisticRegression,
]
BUDGET = dp.Approx(epsilon=60, delta="1e-6")
everyone = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)


def table(n=3000):
    """Return rows in units of their own, and what the first column tells of."""
    X = np.random.default_rng(0).uniform([10, -5], [20, 5], (n, 2))
    return X, np.clip((X[:, 0] - 15) / 5 + 2, 0, 4)


def made(model, **changes):
    """Return a model that declares what it has parameters for."""
    declared = {"sparsity": 1, "radius": 4.0, "budget": BUDGET, "adjacency": dp.Replace(), "classes": (0, 1)}
    declared |= {"y_bounds": dp.Interval(0, 4), "n_blocks": 20} | changes
    known = inspect.signature(model).parameters
    return model(**{name: value for name, value in declared.items() if name in known})


def fit(model, X, y, **declared):
    """Return a fit with the same coins each time."""
    fitted = made(model, **declared)
    ledger = dp.Ledger(total=BUDGET, adjacency=fitted.adjacency, coins=Coins.from_seed(3), composition="sum")
    return fitted.fit(X, y if "Linear" in model.__name__ else (y > 2).astype(int), ledger=ledger)


BOX = {"x_bounds": dp.Box(lower=[10, -5], upper=[20, 5])}


@everyone
def test_the_column_that_tells_is_found_in_its_own_units(model):
    """The slope is that of a unit of the column, the intercept that of the target's own units."""
    X, y = table()
    found = fit(model, X, y, **BOX)
    slopes = np.ravel(found.coef_)
    assert slopes[0] > 0
    assert abs(slopes[0]) > 3 * abs(slopes[1])
    right = found.predict(X)
    share = np.mean(right == (y > 2)) if "Logistic" in model.__name__ else found.score(X, y)
    assert share > 0.7
    assert found.n_rows_ == 3000


@everyone
def test_a_formula_on_a_table_fits_as_the_arrays_do(model, tmp_path):
    """Under equal coins a frame, a table and arrays give the same coefficients; the model is saved and read."""
    X, y = table(500)
    of_labels = "Logistic" in model.__name__
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": (y > 2).astype(int) if of_labels else y})
    target = dp.Flag() if of_labels else dp.Number(0, 4)
    schema = dp.Schema({"a": dp.Number(10, 20), "b": dp.Number(-5, 5), "y": target})
    arrays = fit(model, X, y, **BOX)
    tabled = made(model, schema=schema, classes=None, y_bounds=None)
    ledger = dp.Ledger(total=BUDGET, adjacency=dp.Replace(), coins=Coins.from_seed(3), composition="sum")
    tabled.fit_table(frame, "y ~ a + b", ledger=ledger)
    np.testing.assert_array_equal(tabled.coef_, arrays.coef_)
    np.testing.assert_array_equal(tabled.intercept_, arrays.intercept_)
    tabled.save(tmp_path / "model.json")
    again = model.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(frame), tabled.predict(frame))


@everyone
def test_a_cell_beyond_its_bounds_counts_as_one_at_the_bound(model):
    """One record cannot move a release by more than its bounds allow."""
    X, y = table(500)
    inside, beyond = X.copy(), X.copy()
    inside[0], beyond[0] = [20, -5], [1e9, -1e9]
    ends = [fit(model, rows, y, **BOX) for rows in (inside, beyond)]
    np.testing.assert_array_equal(ends[0].coef_, ends[1].coef_)


@everyone
def test_neighbours_leave_the_same_traces(model):
    """What is kept beside the release does not depend on a record."""
    X, y = table(500)
    other = X.copy()
    other[0] = [10, 5]
    kept = [fit(model, rows, y, **BOX) for rows in (X, other)]
    assert beside_the_release(kept[0]) == beside_the_release(kept[1])
    assert kept[0].release_.event == kept[1].release_.event
