"""No record changes the integer row of another in any estimator: arrays, sparse matrices, and frames with a schema."""

from __future__ import annotations

import datetime as dt
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet as dp
from at_night import examples
from non_interference.statistics import measured, rows_in, sum_in

BOX = {"x_bounds": dp.Box(lower=-3, upper=5)}
Y = {"y_bounds": dp.Interval(-2, 9)}
LABELS = {"classes": [0, 1]}
APPROX = {"budget": dp.Approx(epsilon=1, delta="1e-6")}
SPARSE = {"row_norm": 2, "entry_bound": 1.5, "sparsity": 2, **APPROX}
MANY = {"adjacency": dp.AddRemove(), "expected_rows": 40}
GDP, PURE = {"budget": dp.Gdp(mu=1)}, {"budget": dp.Pure(epsilon=1)}
SCHEMA = dp.Schema(
    {
        "a": dp.Number(-3, 5, missing="drop"),
        "b": dp.Date("2000-01-01", "2001-01-01", missing="2000-02-02"),
        "c": dp.Category(["u", "v", "w"], missing="drop"),
        "n": dp.Number(-2, 9, missing="drop"),
        "l": dp.Flag(missing="drop"),
    }
)
COUNTS = SCHEMA.with_columns({"n": dp.Number(0, 9, missing="drop")})

# name: (an unfitted estimator, whether its target is a label, the kinds of X that it takes)
ESTIMATORS = {
    "functional linear": (
        lambda: dp.FunctionalLinearRegression(**PURE, **BOX, **Y, adjacency=dp.AddRemove()),
        False,
        "a",
    ),
    "functional linear, no intercept": (
        lambda: dp.FunctionalLinearRegression(**PURE, **BOX, **Y, adjacency=dp.Replace(), fit_intercept=False),
        False,
        "a",
    ),
    "functional logistic": (
        lambda: dp.FunctionalLogisticRegression(**PURE, **BOX, **LABELS, adjacency=dp.AddRemove()),
        True,
        "a",
    ),
    "front door, linear": (lambda: dp.LinearRegression(**GDP, **BOX, **Y, **MANY), False, "a"),
    "front door, linear, pure": (lambda: dp.LinearRegression(**PURE, **BOX, **Y, **MANY), False, "a"),
    "front door, labels": (lambda: dp.LogisticRegression(**GDP, **BOX, **LABELS, **MANY), True, "a"),
    "front door, counts": (lambda: dp.PoissonRegression(**GDP, **BOX, y_bounds=dp.Interval(0, 9), **MANY), False, "a"),
    "sparse linear": (lambda: dp.SparseLinearRegression(**SPARSE, **Y, **MANY), False, "as"),
    "sparse logistic": (lambda: dp.SparseLogisticRegression(**SPARSE, **LABELS, **MANY), True, "as"),
    "perturbed logistic": (lambda: dp.PerturbedLogisticRegression(row_norm=2, **APPROX, **LABELS, **MANY), True, "as"),
    "two-stage linear": (
        lambda: dp.TwoStageLinearRegression(**APPROX, sparsity=2, row_norm=2, **Y, **MANY, n_blocks=2),
        False,
        "as",
    ),
    "two-stage logistic": (
        lambda: dp.TwoStageLogisticRegression(**APPROX, sparsity=2, row_norm=2, **LABELS, **MANY, n_blocks=2),
        True,
        "as",
    ),
    "Frank-Wolfe linear": (
        lambda: dp.FrankWolfeLinearRegression(**APPROX, radius=2, row_norm=2, entry_bound=1, **Y, **MANY),
        False,
        "as",
    ),
    "Frank-Wolfe logistic": (
        lambda: dp.FrankWolfeLogisticRegression(**APPROX, radius=2, row_norm=2, entry_bound=1, **LABELS, **MANY),
        True,
        "as",
    ),
    "search": (
        lambda: dp.PrivateSearch(
            dp.SparseLogisticRegression(**SPARSE, **LABELS, **MANY),
            [{"clip": 1.0}, {"clip": 2.0}],
            budget=dp.Approx(epsilon=3, delta="1e-5"),
        ),
        True,
        "as",
    ),
    "principal components": (lambda: dp.PrivatePCA(**PURE, row_norm=2, adjacency=dp.AddRemove()), None, "a"),
    "K-norm linear": (lambda: dp.KNormGradientLinearRegression(**PURE, **BOX, **Y, adjacency=dp.Replace()), False, "a"),
    "K-norm linear, row norm": (
        lambda: dp.KNormGradientLinearRegression(**PURE, row_norm=2, **Y, adjacency=dp.Replace()),
        False,
        "a",
    ),
    "K-norm logistic": (
        lambda: dp.KNormGradientLogisticRegression(**PURE, **BOX, **LABELS, adjacency=dp.Replace()),
        True,
        "a",
    ),
    "K-norm quantile": (
        lambda: dp.KNormGradientQuantileRegression(
            **PURE, x_bounds=dp.Box(lower=[-3], upper=[5]), **Y, adjacency=dp.Replace()
        ),
        False,
        "1",
    ),
}
for _method in ("descent", "moments", "threshold", "perturbation"):
    ESTIMATORS[f"front door, labels, {_method}"] = (
        lambda method=_method: dp.LogisticRegression(**APPROX, **BOX, **LABELS, **MANY, method=method),
        True,
        "a",
    )

CELLS = st.one_of(
    st.floats(-9, 9), st.sampled_from([0.0, -0.0, 1.0, -3.0, 5.0, 1e308, -1e308, 5e-324, 0.1, 2.0**53 + 1, 1e200])
)
RECORD = st.tuples(CELLS, CELLS, CELLS, CELLS)
EXAMPLES = examples(6, 12)


def arrays(rows, *, labels):
    """Return X and y of some records."""
    table = np.array(rows, dtype=np.float64).reshape(-1, 4)
    return table[:, :3], (table[:, 3] > 0).astype(np.int64) if labels else table[:, 3]


def one_column(rows, *, labels):
    """Return X of one column and y of some records."""
    X, y = arrays(rows, labels=labels)
    return X[:, :1], y


def sparse_arrays(rows, *, labels):
    """Return X as a csr_array whose cells stand in any order and some of them twice."""
    X, y = arrays(rows, labels=labels)
    columns, cells, ends = [], [], [0]
    for row in X:
        order = [2, 0, 1] if row[0] > 0 else [0, 1, 2]  # a function of the record
        columns += [*order, 1]
        cells += [*row[order], 0.25]
        ends.append(len(columns))
    return scipy.sparse.csr_array(
        (np.array(cells), np.array(columns, dtype=np.int32), np.array(ends)), shape=X.shape
    ), y


HOLD = {"a": arrays, "s": sparse_arrays, "1": one_column}


def check_neighbours(fit, rows, place, other, *, size_is_public):
    """Deleting, inserting or replacing a record does so to one row, or to one summand, and to nothing else."""
    whole = measured(lambda: fit(rows))
    replaced = measured(lambda: fit([*rows[:place], other, *rows[place + 1 :]]))
    if whole is None or replaced is None:
        return False
    if sum_in(whole) is not None:
        without = measured(lambda: fit(rows[:place] + rows[place + 1 :]))
        alone, instead = (sum_in(measured(lambda one=one: fit([one]))) for one in (rows[place], other))
        assert (sum_in(whole) - sum_in(without) == alone).all()
        assert (sum_in(replaced) - sum_in(without) == instead).all()
        return True
    before, changed = Counter(rows_in(whole)), Counter(rows_in(replaced))
    assert sum(before.values()) <= len(rows)
    assert (before - changed).total() <= 1
    assert (changed - before).total() <= 1
    if not size_is_public:
        after = Counter(rows_in(measured(lambda: fit(rows[:place] + rows[place + 1 :]))))
        assert (before - after).total() <= 1
        assert not after - before
    return True


def explore(fit, record, *, size_is_public, n_examples=EXAMPLES):
    """Try neighbours of tables of up to seven records; fail if all are refused."""
    were_read = []

    @given(st.lists(record, min_size=3, max_size=7), record, st.integers(0, 2))
    @settings(max_examples=n_examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    def neighbours(rows, other, place):
        were_read.append(check_neighbours(fit, rows, place, other, size_is_public=size_is_public))

    neighbours()
    assert any(were_read)


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name in ESTIMATORS for kind in ESTIMATORS[name][2]])
def test_a_record_of_an_array_is_one_row(name, kind):
    """Arrays and sparse matrices, whose cells may be far outside the bounds."""
    make, labels, _ = ESTIMATORS[name]

    def fit(rows):
        X, y = HOLD[kind](rows, labels=bool(labels))
        return make().fit(X) if labels is None else make().fit(X, y)

    adjacency = getattr(make(), "adjacency", dp.AddRemove())
    explore(fit, RECORD, size_is_public=adjacency.size_is_public)


# Cells as a frame of objects holds them: numbers, texts, dates, and what none of the columns can read.
ODD = st.sampled_from([None, float("nan"), float("inf"), "x", 1j, b"1", 10**400, dt.timedelta(1), True, "7", "\ud800"])
FRAME_RECORD = st.tuples(
    st.one_of(st.floats(-9, 9), ODD),
    st.one_of(st.dates(dt.date(1999, 1, 1), dt.date(2002, 1, 1)), st.just("2000-03-03"), ODD),
    st.one_of(st.sampled_from(["u", "v", "w"]), ODD),
    st.one_of(st.integers(-5, 12), st.just(0), ODD),
    st.one_of(st.sampled_from([0, 1, "TRUE", "false"]), ODD),
)
S = {"schema": SCHEMA}
FRAMES = {
    "functional linear": (lambda: dp.FunctionalLinearRegression(**PURE, **S, adjacency=dp.AddRemove()), "n"),
    "functional logistic": (lambda: dp.FunctionalLogisticRegression(**PURE, **S, adjacency=dp.AddRemove()), "l"),
    "K-norm linear": (lambda: dp.KNormGradientLinearRegression(**PURE, **S, adjacency=dp.Replace()), "n"),
    "K-norm logistic": (lambda: dp.KNormGradientLogisticRegression(**PURE, **S, adjacency=dp.Replace()), "l"),
}
for _method in ("auto", "moments", "descent", "threshold"):
    FRAMES |= {
        f"front door, linear, {_method}": (
            lambda method=_method: dp.LinearRegression(**APPROX, **S, **MANY, method=method),
            "n",
        ),
        f"front door, labels, {_method}": (
            lambda method=_method: dp.LogisticRegression(**APPROX, **S, **MANY, method=method),
            "l",
        ),
    }
for _method in ("auto", "descent", "threshold"):
    FRAMES[f"front door, counts, {_method}"] = (
        lambda method=_method: dp.PoissonRegression(**APPROX, schema=COUNTS, **MANY, method=method),
        "n",
    )


def frame_of(rows):
    """Return records as a frame of objects."""
    return pd.DataFrame([list(row) for row in rows], columns=["a", "b", "c", "n", "l"], dtype=object)


@pytest.mark.parametrize("name", FRAMES)
def test_a_record_of_a_frame_is_one_row(name):
    """Frames under a schema that drops some records and fills others."""
    make, target = FRAMES[name]

    def fit(rows):
        frame = frame_of(rows)
        return make().fit(frame[["a", "b", "c"]], frame[target])

    explore(fit, FRAME_RECORD, size_is_public=make().adjacency.size_is_public)


RELEASES = {
    "moments": lambda frame: dp.release_moments(frame, SCHEMA, **PURE, adjacency=dp.AddRemove()),
    "median": lambda frame: dp.median(frame, schema=SCHEMA, column="n", **PURE, adjacency=dp.AddRemove()),
    "principal components": lambda frame: dp.PrivatePCA(
        **PURE, schema=SCHEMA.restricted_to(["a", "b", "n", "l"]), adjacency=dp.AddRemove()
    ).fit_table(frame),
    "front door from a table": lambda frame: dp.LinearRegression(**GDP, **S, **MANY).fit_table(
        frame, "n ~ a + b + c:l"
    ),
}


@pytest.mark.parametrize("name", RELEASES)
def test_a_record_of_a_table_is_one_row(name):
    """Functions of whole tables."""
    explore(lambda rows: RELEASES[name](frame_of(rows)), FRAME_RECORD, size_is_public=False)


def test_a_private_median_is_of_the_values_of_single_records():
    """Values of an array, without a schema."""
    explore(
        lambda rows: dp.median(
            np.array([row[0] for row in rows], dtype=np.float64),
            bounds=dp.Interval(-2, 3),
            **PURE,
            adjacency=dp.AddRemove(),
        ),
        RECORD,
        size_is_public=False,
    )
