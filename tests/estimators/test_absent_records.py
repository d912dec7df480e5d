"""A record that contributes nothing is known by that alone: no value of a cell stands for "absent"."""

import math

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.descent.preconditioned.models import class_against_the_rest
from discreet.descent.preconditioned.rows import gridded
from discreet.descent.preconditioned.weights import Weights, weighted_rows
from discreet.estimators.front_door import LinearRegression, LogisticRegression, PoissonRegression
from discreet.estimators.methods.declared import CodedTable, label_layout
from discreet.estimators.methods.reading import bounded_table
from discreet.lattice.row_grid import RowGrid
from discreet.privacy.coins import Coins
from discreet.sampling.k_norm.losses import LogCoshGradientLoss
from discreet.sampling.k_norm.model_rows import LayoutRows
from discreet.sampling.k_norm.rows import GradientSum
from discreet.sampling.numeric_rows import NumericTable
from discreet.sampling.pca.second_moments import UnitGrid
from discreet.sampling.quantiles.quantile_regression import GridSums, QuantileRegressionTarget
from discreet.tables.blocks import RecordBlock
from discreet.tables.complete_block import CompleteBlock
from discreet.tables.design import Design
from discreet.tables.readers.tables import open_rows, open_table
from discreet.tables.rows import TableRows
from discreet.tables.schema.columns import Category, Number
from discreet.tables.schema.schema import Schema

K = 2**16


def schema_of(missing, **columns):
    return Schema({"x": Number(-1, 1, missing=missing), "z": Number(-2, 2), **columns}, adjacency=dp.Replace())


def people(n=3000):
    """Return records of which many code to 0 in every column of a model without intercept."""
    rng = np.random.default_rng(5)
    x = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], n)
    z = rng.choice([-2.0, 0.0, 2.0], n)
    count = np.minimum(rng.poisson(np.exp(x - 1.0)), 20)
    return pd.DataFrame({"x": x, "z": z, "count": count, "number": np.rint(2 * x) * rng.integers(0, 2, n)})


FITS = [
    (PoissonRegression, "count", Number(0, 20)),
    (LinearRegression, "number", Number(-2, 2)),
]


@pytest.mark.parametrize("method", ["threshold", "peel", "descent"])
@pytest.mark.parametrize(("estimator", "target", "column"), FITS, ids=["counts", "numbers"])
def test_a_record_whose_target_codes_to_0_counts_under_a_schema_that_may_drop(method, estimator, target, column):
    """Where no cell is missing, "drop" and "error" give the same model bit for bit, also without an intercept."""
    frame, found = people(), []
    for missing in ("error", "drop"):
        model = estimator(
            budget=dp.Approx(epsilon=50, delta="1e-6"),
            adjacency=dp.Replace(),
            schema=schema_of(missing, **{target: column}),
            method=method,
        )
        ledger = dp.Ledger(total=model.budget, adjacency=dp.Replace(), coins=Coins.from_seed(3), composition="sum")
        found.append(model.fit_table(frame, f"{target} ~ x + z - 1", ledger=ledger).coef_)
    assert np.array_equal(*found)


def coded(frame, missing, target, column, loss):
    design = Design.for_formula(f"{target} ~ x + z - 1", schema_of(missing, **{target: column}))
    table = open_table(frame, design.schema, design.columns_needed)
    bounded = bounded_table(TableRows(table, design, may_be_empty=False), design, "", labels=False)
    return CodedTable(bounded, loss, 1).on_grid(RowGrid(2, 2.0))[0]


@pytest.mark.parametrize(
    ("target", "column", "loss"),
    [("count", Number(0, 20), "poisson"), ("number", Number(-2, 2), "squared")],
    ids=["counts", "numbers"],
)
def test_of_zero_rows_those_that_are_dropped_are_left_out_and_no_others(target, column, loss):
    """The rows are those that a loop over the records finds: one for each record with all its cells."""
    frame = people(400)
    frame.loc[::7, "x"] = np.nan
    rows = coded(frame, "drop", target, column, loss)
    wanted = [
        (record.x, record.z / 2, getattr(record, target)) for record in frame.itertuples() if not math.isnan(record.x)
    ]
    assert sum(record == (0, 0, 0) for record in wanted) > 10
    unit = rows.grid.unit
    read = np.column_stack([np.asarray(rows.private_matrix) * unit, rows.private_y])
    scale = 1.0 if loss == "poisson" else 0.5
    np.testing.assert_allclose(read, np.array(wanted) * [1, 1, scale], atol=1e-3)


def test_the_front_door_finds_the_sign_of_a_slope_of_counts_that_are_often_0():
    """Zero counts are what tells of a slope here; without them its sign turns."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 20_000)
    frame = pd.DataFrame({"x": x, "z": 0.0, "count": np.where(rng.uniform(size=x.size) < (1 - x) / 2, 0, 1)})
    model = PoissonRegression(
        budget=dp.Approx(epsilon=20, delta="1e-6"),
        adjacency=dp.Replace(),
        schema=schema_of("drop", count=Number(0, 20)),
        method="threshold",
    )
    right = model.fit_table(frame[["x", "count"]].assign(z=1.0), "count ~ x + z - 1").coef_
    assert right[0] > 0 > right[1]


@pytest.mark.parametrize("intercept", [True, False])
def test_a_dropped_record_has_no_class_and_every_other_one_has(intercept):
    """One class against the rest: targets are the ends of the grid, of dropped records alone 0; weighted or not."""
    design = Design.for_formula("place ~ x" + ("" if intercept else " - 1"), schema_of("drop", place=Number(1, 3)))
    frame = pd.DataFrame({"x": [0.0, np.nan, 1.0, 0.0, np.nan], "place": [1.0, 2.0, 3.0, 2.0, 1.0]})
    source = TableRows(open_table(frame, design.schema, design.columns_needed), design, may_be_empty=False)
    layout = label_layout(design.layout)
    for rows in (
        gridded(source, design.layout, block_rows=2),
        weighted_rows(source, design.layout, Weights(np.array([1.0, 0.0, 0.0, 1.0, 1.0]), None)),
    ):
        for place in (1, 2, 3):
            one = class_against_the_rest(rows, layout, place)
            targets = np.concatenate([block[layout.width - 1] for block in one.private_blocks])
            looped = [
                0 if math.isnan(record.x) else K if record.place == place else -K for record in frame.itertuples()
            ]
            assert targets.tolist() == looped
            assert np.concatenate(one.private_dropped).tolist() == frame["x"].isna().tolist()


def test_a_number_of_minus_one_is_no_missing_cell():
    """What is missing is told by the kind of the column, not by the type of its array."""
    block = RecordBlock(3, {"x": np.array([-1, 0, -3], dtype=np.int32), "c": np.array([-1, 0, 1], dtype=np.int32)})
    columns = {"x": Number(-5, 5, missing="drop"), "c": Category(["a", "b"], missing="drop")}
    assert CompleteBlock(block, {"x": columns["x"]}).dropped is None
    assert CompleteBlock(block, columns).dropped.tolist() == [True, False, False]


def test_a_row_of_zeros_takes_a_place_under_a_cap_and_a_dropped_one_takes_none():
    """Of a person with a cap of one row, a row that codes to 0 may be the one; a dropped row never is."""
    schema = Schema(
        {"x": Number(-1, 1, missing="drop"), "y": Number(-1, 1)},
        adjacency=dp.Replace(unit="who"),
        unit="who",
        rows_per_unit=1,
    )
    design = Design.for_formula("y ~ x - 1", schema)
    n = 200
    pairs = pd.DataFrame({"who": np.repeat(np.arange(n), 2), "x": [0.0, 1.0] * n, "y": [0.0, 1.0] * n})

    def gram(frame):
        table = open_rows(frame, design.schema, design.columns_needed)
        return TableRows(table, design, may_be_empty=False).private_gram(design.layout)

    with_zeros = gram(pairs)[0, 0] / K**2
    assert 0.3 * n < with_zeros < 0.7 * n
    pairs.loc[pairs["x"] == 0.0, "x"] = np.nan
    assert gram(pairs)[0, 0] == n * K**2


def test_multi_class_labels_without_an_intercept_under_drop():
    """A fit of three classes is the same with "drop" and "error" where no cell is missing."""
    frame, found = people(), []
    frame["rank"] = np.where(frame["number"] < 0, "low", np.where(frame["number"] > 0, "top", "mid"))
    for missing in ("error", "drop"):
        schema = schema_of(missing, rank=Category(["low", "mid", "top"], missing=missing))
        for method in ("threshold", "descent"):
            model = LogisticRegression(
                budget=dp.Gdp(mu=20), adjacency=dp.Replace(), schema=schema, method=method, fit_intercept=False
            )
            ledger = dp.Ledger(total=model.budget, adjacency=dp.Replace(), coins=Coins.from_seed(3))
            found.append(model.fit(frame[["x", "z"]], frame["rank"], ledger=ledger).coef_)
    assert np.array_equal(found[0], found[2])
    assert np.array_equal(found[1], found[3])


def test_gradients_of_drawn_coefficients_leave_out_dropped_records_alone():
    """K-norm gradients: the sum over the kept records, one by one, whatever else codes to 0."""
    frame = people(300)
    frame.loc[::5, "x"] = np.nan
    design = Design.for_formula("number ~ x + z - 1", schema_of("drop", number=Number(-2, 2)))
    table = open_table(frame, design.schema, design.columns_needed)
    rows = LayoutRows(layout=design.layout, labels=False).read(
        TableRows(table, design, may_be_empty=False, private_size=len(frame))
    )
    loss, theta = LogCoshGradientLoss(clip=0.5), np.array([[0.25, -0.75]])
    kept = frame[frame["x"].notna()]
    assert (kept[["x", "z", "number"]] == 0).all(axis=1).any()
    looped = np.zeros(2)
    for record in kept.itertuples():
        x = np.array([record.x, record.z / 2])
        looped += loss.derivatives(np.array([[theta[0] @ x]]), np.array([record.number / 2]))[0, 0] * x
    np.testing.assert_allclose(GradientSum(rows, loss, 0.0)(theta)[0], looped, atol=1e-3)


@pytest.mark.parametrize("intercept", [True, False])
def test_quantile_regressions_leave_out_dropped_records_alone(intercept):
    """At every point of the grid: the sum over the kept records at or below the plane, and over all kept ones."""
    frame = people(60)
    frame.loc[::5, "x"] = np.nan
    text = "number ~ x" + ("" if intercept else " - 1")
    design = Design.for_formula(text, schema_of("drop", number=Number(-2, 2)))
    table = open_table(frame, design.schema, design.columns_needed)
    reader = LayoutRows(layout=design.layout, labels=False)
    target = QuantileRegressionTarget(reader=reader, q="1/2", per_side=5, adjacency=dp.Replace())
    sums = GridSums(target, target.prepare(TableRows(table, design, may_be_empty=False, private_size=len(frame)))).sums
    grid = np.linspace(-1, 1, 5)
    points = [(c, x) for x in grid for c in grid] if intercept else [(x,) for x in grid]
    for found, point in zip(sums.T, points, strict=True):
        looped = np.zeros(len(point))
        for record in frame[frame["x"].notna()].itertuples():
            x = np.array([1.0, record.x] if intercept else [record.x])
            looped += x * (record.number / 2 <= x @ np.array(point))
        np.testing.assert_array_equal(found / K, looped)


def test_a_quantile_counts_every_kept_value_and_no_dropped_one():
    """Zeros, the ends of the range and values far outside are values; what is missing is not among them."""
    values = [0.0, -0.0, np.nan, 1e308, -1e308, 5e-324, np.inf, -np.inf, 1.0, None]
    schema = Schema({"x": Number(-1, 1, missing="drop"), "y": Number(0, 1)}, adjacency=dp.Replace())
    matrix = NumericTable.of(pd.DataFrame({"x": values, "y": 0.0}), schema).private_matrix()
    dropped = [value is None or not math.isfinite(value) for value in values]
    assert np.isnan(matrix[:, 0]).tolist() == np.isnan(matrix[:, 1]).tolist() == dropped
    rows = UnitGrid(2, row_norm=1.0).encode(matrix)
    assert (rows[:, 0] != 0).tolist() == [
        value is not None and abs(value) >= 1 and math.isfinite(value) for value in values
    ]
