"""Cells that are no numbers and tables without rows: missing or refused before a charge, or an ordinary draw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidData, InvalidType
from discreet.sampling.evaluation import evaluate
from discreet.sampling.mechanisms import sample
from discreet.sampling.pca.second_moments import UnitGrid
from discreet.sampling.targets.bases import Uniform
from sampling.own_targets import BOX, PURE, TARGETS, UNIT, distances

CELL = "secret 42"
# Not offered under AddRemove, whatever the rows are.
REPLACE_ALONE = {"posterior", "synthetic", "mean"}


class NoAttributes:
    """An object whose attributes raise what quotes a cell."""

    def __getattr__(self, name):
        raise RuntimeError(CELL)


class NoNumber:
    """An object whose conversions raise what quotes a cell."""

    def __array__(self, *_, **__):
        raise RuntimeError(CELL)

    def __float__(self):
        raise RuntimeError(CELL)


ODD = {
    "complex": [0.5, 1j],
    "attributes": [0.5, NoAttributes()],
    "conversions": [0.5, NoNumber()],
    "huge": [0.5, 10**400],
    "minus huge": [0.5, -(10**400)],
    "huge in objects": np.array([0.5, 10**400], dtype=object),
    "text": [0.5, CELL],
    "none": [0.5, None],
    "masked": np.ma.array([0.5, 0.25], mask=[False, True]),
    "long": np.array([0.5, np.longdouble("1e4000")]),
    "dates": np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
    "ragged": [[0.5], [0.5, 0.5]],
    "an object": NoNumber(),
    "a number": 1j,
}


def drawn(name: str, rows: Any, ledger: dp.Ledger) -> Any:
    """Return a release of a target, or of a quantile."""
    if name == "median":
        return dp.median(rows, bounds=UNIT, budget=PURE, ledger=ledger)
    if name == "quantiles":
        return dp.quantile(rows, ["1/4", "3/4"], bounds=UNIT, budget=PURE, ledger=ledger)
    if name == "posterior_draw":
        return dp.sampling.posterior_draw(
            distances, rows, prior=Uniform(BOX), lower=-1, upper=0, example=[[0.5]], budget=PURE, ledger=ledger
        )
    return sample(TARGETS[name], rows, budget=PURE, ledger=ledger)


FUNCTIONS = [*TARGETS, "median", "quantiles", "posterior_draw"]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_number_is_missing_or_refused(name, kind):
    """Our error, before a charge; no cell in it, in what it hangs on, or in a warning."""
    rows = ODD[kind]
    if name in {"direction", "mean"} and isinstance(rows, (list, np.ndarray)) and kind != "ragged":
        rows = rows[:, None] if isinstance(rows, np.ndarray) else [[cell] for cell in rows]
    ledger = dp.Ledger(total=PURE, adjacency=dp.Replace())
    with pytest.raises((InvalidData, InvalidType)) as caught:
        drawn(name, rows, ledger)
    error: BaseException | None = caught.value
    while error is not None:
        assert CELL not in str(error)
        error = error.__cause__ or error.__context__
    assert not ledger.entries


@pytest.mark.parametrize("name", ["synthetic", "median", "user", "direction"])
def test_a_number_far_outside_is_no_warning(name):
    """It is moved to a bound, or is no cell's number; nothing is said of a cast."""
    ledger = dp.Ledger(total=PURE, adjacency=dp.Replace())
    rows = np.array([[1.0], [1e300]])
    if name == "synthetic":
        with pytest.raises(InvalidData, match="numbers of cells"):
            drawn(name, rows, ledger)
    else:
        drawn(name, rows, ledger)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_empty_table_under_replace_is_refused_before_a_charge(name):
    """The number of rows is public there, and promised.md says that it raises."""
    ledger = dp.Ledger(total=PURE, adjacency=dp.Replace())
    shapes = [np.empty((0, 1))] if name in {"direction", "mean"} else [[], np.array([]), np.empty((0, 1))]
    for rows in shapes:
        with pytest.raises(InvalidData, match=r"Found array with 0 sample\(s\).*Give a row"):
            drawn(name, rows, ledger)
    assert not ledger.entries


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - REPLACE_ALONE - {"posterior_draw"}))
def test_an_empty_table_under_add_remove_is_an_ordinary_one(name):
    """Its number of rows is private: the draw is made and paid for."""
    ledger = dp.Ledger(total=PURE, adjacency=dp.AddRemove())
    drawn(name, np.empty((0, 1)), ledger)
    assert len(ledger.entries) == 1


def test_a_table_whose_records_are_all_dropped_is_not_empty():
    """How many records contribute is private: the draw is made where the table has rows, and refused where not."""
    pandas = pytest.importorskip("pandas")
    columns = {"wage": dp.Number(lower=0, upper=1, missing="drop")}
    schema = dp.Schema(columns=columns, adjacency=dp.Replace())
    frame = pandas.DataFrame({"wage": [np.nan, np.nan]})
    assert 0 <= dp.median(frame, budget=PURE, schema=schema, column="wage").value <= 1
    ledger = dp.Ledger(total=PURE, adjacency=dp.Replace())
    with pytest.raises(InvalidData, match="Give a row"):
        dp.median(frame[:0], budget=PURE, schema=schema, column="wage", ledger=ledger)
    assert not ledger.entries


@pytest.mark.parametrize(
    "model",
    [
        dp.PrivatePCA(budget=PURE, row_norm=1, adjacency=dp.Replace()),
        dp.KNormGradientLinearRegression(budget=PURE, adjacency=dp.Replace(), x_bounds=BOX, y_bounds=UNIT, ridge=9),
        dp.KNormGradientQuantileRegression(budget=PURE, adjacency=dp.Replace(), x_bounds=BOX, y_bounds=UNIT),
    ],
    ids=lambda model: type(model).__name__,
)
def test_estimators_refuse_an_empty_table_under_replace(model):
    """Components and regressions by draws; nothing is spent."""
    ledger = dp.Ledger(total=PURE, adjacency=dp.Replace())
    with pytest.raises(InvalidData, match=r"0 sample\(s\)"):
        model.fit(np.empty((0, 1)), np.empty(0), ledger=ledger)
    assert not ledger.entries


def test_pairs_of_features_and_targets_are_read_in_the_same_way():
    """A target of a K-norm gradient refuses odd cells on both sides, in our words."""
    from discreet.sampling.k_norm.rows import NormedRows

    reader = NormedRows(grid=UnitGrid(1, row_norm=1.0), bounds=(0.0, 1.0))
    for bad in ([0.5, NoNumber()], [0.5, 10**400], [0.5, 1j]):
        with pytest.raises((InvalidData, InvalidType)):
            reader.read(([[cell] for cell in bad], [0.0, 1.0]))
        with pytest.raises((InvalidData, InvalidType)):
            reader.read(([[0.5], [0.25]], bad))
    assert reader.read((np.array([[1], [0]], dtype=object), [0, 1])).private_matrix.tolist() == [[1.0], [0.0]]


def test_warnings_of_a_users_function_are_not_shown():
    """Its own and numpy's would tell of private rows; what they were about counts as it came out."""
    import warnings

    def noisy(points, rows):
        warnings.warn(f"row {rows[0, 0]}", stacklevel=1)
        return points[:, 0] / (rows[0, 0] - rows[0, 0])

    assert np.isnan(evaluate(noisy, np.zeros((2, 1)), np.ones((1, 1)))).all()
