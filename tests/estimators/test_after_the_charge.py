"""What is read from a release neither raises nor warns, and what a search hides leaves no trace."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.errors import IncompatiblePlan, InvalidData
from discreet.tables.design import Design
from discreet.tables.readers.tables import open_rows
from discreet.tables.rows import TableRows

# As large as bounds and steps may be declared: squares of what is released are no floats any more.
HUGE, LONG = 1e100, 1e60
RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (500, 3))
NORMED = {"budget": dp.Zcdp(rho=1), "adjacency": dp.Replace(), "y_bounds": dp.Interval(-HUGE, HUGE), "row_norm": 1}
STEPS = {"sparsity": 2, "step_size": LONG, "n_steps": 3}
BOXED = {"budget": dp.Zcdp(rho=1), "adjacency": dp.Replace(), "x_bounds": dp.Box(lower=-1, upper=1)}
MODELS = {
    "front door": lambda: dp.LinearRegression(**NORMED, **STEPS, method="threshold"),
    "functional": lambda: dp.FunctionalLinearRegression(**BOXED, y_bounds=dp.Interval(-HUGE, HUGE)),
    **{
        kind: lambda kind=kind: dp.SparseLinearRegression(**NORMED, **STEPS, clip=HUGE, selection=kind)
        for kind in ("threshold", "peel", "coordinate", "all")
    },
}


@pytest.mark.parametrize("name", MODELS)
def test_huge_released_numbers_neither_raise_nor_warn(name):
    """The charge stands, so what was paid for is given, and is said to be noise where its size is unknown."""
    model = MODELS[name]()
    ledger = dp.Ledger(total=model.budget, adjacency=model.adjacency)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # What was released is told on purpose, once the fit is done.
        warnings.simplefilter("ignore", dp.NoiseDominatedWarning)
        model.fit(X, X[:, 0] * HUGE, ledger=ledger)
    assert len(ledger.entries) == 1
    assert isinstance(model.noise_dominated_, bool)
    assert str(model.summary())


def test_runs_of_a_search_that_stay_hidden_neither_raise_nor_warn():
    """Steps of a candidate that is not chosen may grow beyond all floats, and nobody hears of it."""
    model = dp.SparseLinearRegression(**NORMED, **STEPS, clip=HUGE)
    search = dp.PrivateSearch(
        model, {"step_size": [1e-3, LONG]}, budget=dp.Approx(epsilon=4, delta="1e-6"), mean_runs=2
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", dp.errors.LargeDeltaWarning)
        warnings.simplefilter("ignore", dp.errors.NoLedgerWarning)
        search.fit(X, X[:, 0] * HUGE)
    assert search.best_params_["step_size"] in {1e-3, LONG}


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"y_bounds": None}, "y_bounds"), ({"row_norm": None, "x_bounds": dp.Box(lower=-1, upper=1)}, "`row_norm` alone")],
    ids=["no bounds of y", "a box"],
)
def test_a_search_refuses_a_model_that_it_cannot_score(changes, said):
    """By name, and before anything is looked at or spent."""
    model = dp.SparseLinearRegression(**(NORMED | {"sparsity": 2} | changes))
    ledger = dp.Ledger(total=dp.Approx(epsilon=4, delta="1e-6"), adjacency=dp.Replace(), composition="sum")
    search = dp.PrivateSearch(model, {"n_steps": [2, 3]}, budget=ledger.total, mean_runs=2)
    with pytest.raises(TypeError, match=said):
        search.fit(X, X[:, 0], ledger=ledger)
    assert not ledger.entries


def test_a_model_without_weights_refuses_them_everywhere():
    """Also where no warning is given: weights are never left out in silence."""
    model = dp.FunctionalLinearRegression(**BOXED, y_bounds=dp.Interval(-1, 1))
    with pytest.raises(TypeError, match="sample_weight"):
        model.fit_quietly(X, X[:, 0], sample_weight=np.ones(500), ledger=None)


@pytest.mark.parametrize("largest", [float("nan"), float("inf"), 0.0, -1.0])
def test_a_largest_weight_is_checked_where_no_weight_is_given(largest):
    """A declaration that cannot be is refused, whether it is used or not."""
    with pytest.raises(dp.InvalidArgument, match="max_sample_weight"):
        dp.LinearRegression(**BOXED, y_bounds=dp.Interval(-1, 1), max_sample_weight=largest).fit(X, X[:, 0])


def test_rows_of_persons_are_never_read_one_by_one():
    """Their cap holds for a Gram matrix; blocks of rows would leave it out."""
    columns = {"x": dp.Number(0, 1), "y": dp.Number(0, 1)}
    schema = dp.Schema(columns, adjacency=dp.Replace("who"), unit="who", rows_per_unit=1)
    design = Design.for_formula("y ~ x", schema)
    frame = pd.DataFrame({"who": [1, 1], "x": [0.0, 1.0], "y": [0.0, 1.0]})
    rows = TableRows(open_rows(frame, design.schema, design.columns_needed), design, may_be_empty=True)
    with pytest.raises(IncompatiblePlan, match="'who'"):
        next(rows.blocks(design.layout))


@pytest.mark.parametrize("change", [{"target_bounds": ["nan", 1]}, {"ridge": "nan"}, {"entry_std": "inf"}], ids=list)
def test_a_file_with_a_number_that_is_none_is_damaged(change, tmp_path):
    """A text that Python reads as NaN or infinity is no number of a model."""
    model = dp.FunctionalLinearRegression(**BOXED, y_bounds=dp.Interval(-1, 1)).fit(X, X[:, 0])
    path = tmp_path / "model.json"
    path.write_text(json.dumps(json.loads(model.dumps()) | change))
    with pytest.raises(InvalidData, match="damaged"):
        dp.FunctionalLinearRegression.load(path)


def test_a_regression_on_one_gram_matrix_is_headed_by_its_formula():
    """Of arrays and of frames alike."""
    model = dp.FunctionalLinearRegression(**BOXED, y_bounds=dp.Interval(-1, 1))
    assert str(model.fit(X, X[:, 0]).summary()).startswith("y ~ x0 + x1 + x2\n")
    schema = dp.Schema({name: dp.Number(-1, 1) for name in "aby"})
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    named = dp.FunctionalLinearRegression(budget=dp.Zcdp(rho=1), adjacency=dp.Replace(), schema=schema)
    found = named.fit(frame, pd.Series(X[:, 0], name="y"))
    assert str(found.summary()).startswith("y ~ a + b\n")
