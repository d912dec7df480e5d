"""What holds for everything that takes arrays: masks, types, labels of rows, np.matrix, broken and read-only input."""

import copy
import warnings
from contextlib import suppress
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import discreet as dp
from discreet.errors import DiscreetError, InvalidData, InvalidType
from estimators_for_tests import (
    CASES,
    COLUMNS,
    FRAMED,
    FRAMES_PAIRED,
    NUMERIC,
    PAIRED,
    SPARSE,
    TABLE,
    TARGETS,
    name_of,
)
from every_one import for_every
from sparse_for_tests import BROKEN, FORMATS, broken, parts_of, sparse, untidy

# One broken matrix of each other kind; all of them in tables/test_sparse_rows.py.
ELSEWHERE = [
    "csr, more entries than there are",
    "csc, number 99",
    "bsr, number 99",
    "coo, column 99",
    "lil, more numbers",
]
CLASSES = [scipy.sparse.csr_array, scipy.sparse.csr_matrix]
WEIGHTED = [case for case in (*CASES, *FRAMED) if case.weights]
each = pytest.mark.parametrize("case", CASES, ids=name_of)
each_paired = pytest.mark.parametrize("case", [*PAIRED, *FRAMES_PAIRED], ids=name_of)
each_plain = pytest.mark.parametrize("case", PAIRED, ids=name_of)
each_sparse = pytest.mark.parametrize("case", SPARSE, ids=name_of)


def frame(X=TABLE, **options):
    return pd.DataFrame(X, columns=list(COLUMNS), **options)


def given(case):
    """Return X and y in the form that the estimator takes: arrays, or a frame and a series with its name."""
    if not case.schema:
        return TABLE.copy(), case.y
    return frame(), None if case.y is None else pd.Series(case.y, name=case.target)


def ledger_of(case):
    """Return a ledger that has room for a fit, or None where nothing is paid."""
    model = case.make()
    if not hasattr(model, "budget"):
        return None
    adjacency = getattr(model, "adjacency", dp.Replace())
    sums = {"composition": "sum"} if isinstance(model.budget, dp.Approx) else {}
    return dp.Ledger(total=model.budget, adjacency=adjacency, coins=dp.privacy.Coins.from_seed(3), **sums)


def fitted(case, X, y):
    """Return the estimator fitted with coins of a test seed."""
    ledger = ledger_of(case)
    return case.fit(X, y, **({} if ledger is None else {"ledger": ledger}))


@cache
def plain(case):
    """Return the estimator fitted to the table itself; tests ask it, and change nothing."""
    return fitted(case, TABLE.copy(), case.y)


@cache
def tidy_fit(case):
    """Return the estimator fitted to the table as a summed sparse matrix."""
    return fitted(case, scipy.sparse.csr_array(TABLE), case.y)


def refused(case, X, y=None, *, kind=InvalidData, match=None, **options):
    """Return what a fit is refused with; nothing was charged, nothing is fitted."""
    ledger, model = ledger_of(case), case.make()
    payer = {} if ledger is None else {"ledger": ledger}
    with pytest.raises(kind, match=match) as caught:
        case.fit(X, y, model=model, **payer, **options)
    assert ledger is None or not ledger.entries
    assert not any(name.endswith("_") for name in vars(model))
    assert caught.value.__context__ is None
    return str(caught.value)


def answers(case, model, X):
    """Return what every method says of new rows."""
    return {name: getattr(model, name)(X) for name in case.answers()}


def same(first, second):
    """Return whether answers agree; products of arrays in another order may differ in their last digits."""
    return first.keys() == second.keys() and all(np.allclose(first[key], second[key], rtol=1e-12) for key in first)


# Masks.


def masked_and_nan(values):
    mask = np.zeros(np.shape(values), dtype=bool)
    mask.flat[4] = True
    lacking = np.array(values, dtype=np.float64)
    lacking[mask] = np.nan
    return np.ma.array(values, mask=mask), lacking


def masked_forms(values):
    """Return masked cells as an array, as a list of masked rows, and as a list with numpy's masked constant."""
    masked, _ = masked_and_nan(values)
    nested = [[np.ma.masked if cell is None else cell for cell in row] for row in masked.tolist()]
    return [masked, list(masked), nested]


@each
def test_a_masked_cell_of_x_is_a_missing_one(case):
    """It is refused in the words of NaN, before a charge; the scaler, which looks at no cell, gives NaN for it."""
    _, lacking = masked_and_nan(TABLE)
    if case.name == "BoundsScaler":
        expected = case.fit(lacking).transform(lacking)
        for masked in masked_forms(TABLE):
            assert np.array_equal(case.fit(masked).transform(masked), expected, equal_nan=True)
        return
    for masked in masked_forms(TABLE):
        assert refused(case, masked, case.y) == refused(case, lacking, case.y, match="missing")


@each_plain
def test_a_masked_target_is_a_missing_one(case):
    """Of numbers, counts and labels alike: refused in the words of NaN, before a charge."""
    masked, lacking = masked_and_nan(case.y)
    wrong = refused(case, TABLE, lacking, match="missing")
    assert refused(case, TABLE, masked) == wrong
    assert refused(case, TABLE, list(masked)) == wrong
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert refused(case, TABLE, masked[:, None]) == wrong


@pytest.mark.parametrize("case", [case for case in PAIRED if case.target == "label"], ids=name_of)
def test_masked_labels_of_any_type_are_missing(case):
    """Texts, booleans and objects have no NaN; their masked cells are missing all the same."""
    for labels, classes in ((np.where(case.y, "yes", "no"), ("no", "yes")), (case.y.astype(bool), (False, True))):
        for dtype in (labels.dtype, object):
            masked = masked_and_nan(case.y)[0].mask
            column = np.ma.array(labels.astype(dtype), mask=masked)
            model = case.make(classes=classes)
            with pytest.raises(InvalidData, match="a label is missing"):
                case.fit(TABLE, column, model=model)


@pytest.mark.parametrize("case", WEIGHTED, ids=name_of)
def test_a_masked_weight_is_a_missing_one(case):
    """It is refused by name, before a charge."""
    X, y = given(case)
    weights = np.ma.array(np.ones(len(TABLE)), mask=np.arange(len(TABLE)) == 4)
    assert "`sample_weight` has a weight that is missing" in refused(case, X, y, sample_weight=weights)


@each
def test_new_rows_with_a_masked_cell_lack_it(case):
    """Predictions, probabilities, decisions and transforms refuse it as they refuse NaN."""
    if case.name == "BoundsScaler":
        return
    model = plain(case)
    for masked in masked_forms(TABLE):
        for name in case.answers():
            with pytest.raises(InvalidData, match="missing cells"):
                getattr(model, name)(masked)


@each_plain
def test_a_score_does_not_read_below_a_mask(case):
    """Masked targets and weights are refused; without a masked cell the score is that of the array."""
    model = plain(case)
    masked, _ = masked_and_nan(case.y)
    with pytest.raises(InvalidData, match="`y` has missing cells"):
        model.score(TABLE, masked)
    assert model.score(TABLE, np.ma.array(case.y)) == model.score(TABLE, case.y)
    if case.name != "PrivateSearch":
        weights = np.ma.array(np.ones(len(TABLE)), mask=masked.mask)
        with pytest.raises(InvalidData, match="`sample_weight` has missing cells"):
            model.score(TABLE, case.y, sample_weight=weights)


@each
def test_a_mask_that_hides_nothing_changes_nothing(case):
    """The release is that of the plain arrays."""
    y = case.y
    masked = fitted(case, np.ma.array(TABLE), None if y is None else np.ma.array(y))
    assert same(answers(case, masked, TABLE), answers(case, plain(case), np.ma.array(TABLE)))


def test_functions_do_not_read_below_a_mask():
    """Quantiles, sums, components and objectives of arrays refuse a masked cell as a missing one."""
    values, _ = masked_and_nan(TARGETS["number"])
    X, _ = masked_and_nan(TABLE)
    promised = {"budget": dp.Pure(epsilon=1), "adjacency": dp.Replace()}
    for call in (
        lambda: dp.median(values, bounds=dp.Interval(0, 1), **promised),
        lambda: dp.quantile(list(values), "1/4", bounds=dp.Interval(0, 1), **promised),
        lambda: dp.sampling.sample(dp.sampling.KNormGradient.mean(n_columns=3, row_norm=2), X, **promised),
        lambda: dp.functional.SquaredObjective(y_bounds=dp.Interval(0, 1)).release(
            X, TARGETS["number"], x_bounds=dp.Box(lower=0, upper=1), **promised
        ),
        lambda: dp.functional.SquaredObjective(y_bounds=dp.Interval(0, 1)).release(
            TABLE, values, x_bounds=dp.Box(lower=0, upper=1), **promised
        ),
    ):
        with pytest.raises(InvalidData, match="missing cells"):
            call()


# Types.

DAY = np.datetime64("2020-01-01", "ns")
DAYS = DAY + np.arange(len(TABLE)).astype("m8[D]")
MOMENTS = {
    "datetime64": (DAYS, "datetime64"),
    "timedelta64": (DAYS - DAY, "timedelta64"),
    "with a zone": (pd.Series(DAYS).dt.tz_localize("UTC"), "(datetime64|timestamp).*UTC"),
    "period": (pd.Series(DAYS).dt.to_period("D"), "period"),
    "dates": (pd.Series(pd.Series(DAYS).dt.date, dtype=object), "date"),
    "Timedelta": (pd.Series(pd.Series(DAYS - DAY).astype(object), dtype=object), "Timedelta"),
    "intervals": (pd.cut(pd.Series(TARGETS["number"]), 3).astype(pd.IntervalDtype()), "interval"),
}


@each
def test_a_column_of_moments_is_refused_by_name_and_type(case):
    """In frames of pandas, before a charge; no count of nanoseconds is clipped to a constant."""

    def check(kind):
        cells, named = MOMENTS[kind]
        refused(case, frame().assign(b=cells), case.y, match=f"Column 'b' has .*type {named}")

    for_every(MOMENTS, check)


@each
def test_arrays_and_other_frames_of_moments_are_refused(case):
    """An array is named as X; polars' and Arrow's columns by their names."""
    refused(case, np.column_stack([DAYS] * 3), case.y, match="`X` has the type datetime64")
    refused(case, np.column_stack([DAYS - DAY] * 3), case.y, match="`X` has the type timedelta64")
    polars = pl.DataFrame({"a": DAYS, "b": TABLE[:, 1], "c": TABLE[:, 2]})
    refused(case, polars, case.y, match="Column 'a' has the type timestamp")
    refused(case, polars.to_arrow(), case.y, match="Column 'a' has the type timestamp")


@pytest.mark.parametrize("case", [*NUMERIC, *(case for case in FRAMES_PAIRED if case.target != "label")], ids=name_of)
def test_a_target_of_moments_is_refused_by_name_and_type(case):
    """As an array and as a series, with and without a schema, before a charge."""

    def check(kind):
        X, _ = given(case)
        cells, named = MOMENTS[kind]
        if case.schema and kind in {"dates", "Timedelta"}:  # their column is read as the schema's door reads it
            refused(case, X, pd.Series(cells, name=case.target), match="missing")
            return
        if case.schema:
            kept = {"with a zone": r"timestamp\[ns, tz=UTC\]"}.get(kind, named)
            found = f"Column `{case.target}` is declared as a number or flag; its type is {kept}"
        else:
            found = f"Column '{case.target}' has .*type {named}"
        refused(case, X, pd.Series(cells, name=case.target), match=found)
        if isinstance(cells, np.ndarray) and not case.schema:
            refused(case, X, cells, match=f"Column 'y' has the type {named}")

    for_every(MOMENTS, check)


@pytest.mark.parametrize("case", WEIGHTED, ids=name_of)
def test_weights_that_are_spans_of_time_are_refused(case):
    """They are no counts."""
    X, y = given(case)
    refused(case, X, y, sample_weight=DAYS - DAY, match="Column 'sample_weight' has the type timedelta64")


def test_bounds_that_are_spans_of_time_or_masked_are_refused():
    """numpy calls a span of time a whole number; it is none here."""
    span = np.timedelta64(5, "ns")
    for call in (
        lambda: dp.Interval(np.timedelta64(0, "ns"), span),
        lambda: dp.Box(lower=0, upper=np.array([5, 6], "m8[ns]")),
        lambda: dp.Box(lower=0, upper=np.ma.array([1.0, 2.0], mask=[False, True])),
        lambda: dp.Pure(epsilon=span),
        lambda: dp.SparseLinearRegression(
            budget=dp.Zcdp(rho=1), sparsity=span, row_norm=1, adjacency=dp.Replace(), y_bounds=dp.Interval(0, 1)
        ).fit(TABLE, TARGETS["number"]),
    ):
        with pytest.raises(InvalidType, match="must be a (whole )?number.*found (timedelta64|MaskedConstant)"):
            call()


@each
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_np_matrix_is_refused_by_name(case):
    """Also what `todense()` returns; the message says np.asarray. Targets and new rows alike."""
    dense = scipy.sparse.csr_matrix(TABLE).todense()
    for X in (np.matrix(TABLE), dense):
        refused(case, X, case.y, kind=InvalidType, match=r"`X` is a np.matrix.*np.asarray\(X\)")
    model = plain(case)
    for name in case.answers():
        with pytest.raises(InvalidType, match=r"np.matrix.*np.asarray\(X\)"):
            getattr(model, name)(dense)
    if case.target != "none":
        refused(case, TABLE, np.matrix(case.y).T, kind=InvalidType, match=r"`y` is a np.matrix.*np.asarray\(y\)")
    if case.weights:
        ones = np.matrix(np.ones(len(TABLE)))
        refused(case, TABLE, case.y, kind=InvalidType, sample_weight=ones, match="`sample_weight` is a np.matrix")


# Who is paired with whom.


@each_paired
def test_rows_and_targets_of_other_labels_are_refused(case):
    """The same labels in another order, or other labels, in fit and score; the message names y and the remedy."""
    X, y = frame(), pd.Series(case.y, name=case.target)
    order = np.random.default_rng(1).permutation(len(X))
    model = fitted(case, X, y)
    for wrong in (y.iloc[order], y.set_axis(y.index + 1), y.iloc[order].set_axis(list("ab") * 30)):
        assert "y.loc[X.index]" in refused(case, X, wrong, match="`y` has another index than `X`")
        if not case.schema:
            refused(case, X, wrong.to_frame(), match="`y` has another index than `X`")
        with pytest.raises(InvalidData, match="`y` has another index than `X`"):
            model.score(X, wrong)


@each_paired
def test_equal_labels_and_arrays_are_paired_as_they_stand(case):
    """Equal sequences of labels, doubled ones too, are the same rows; where one has no labels position counts."""
    X, y = frame(), pd.Series(case.y, name=case.target)
    expected = fitted(case, X, y)
    for labels in (list(range(len(X))), list("aab") * 20, pd.MultiIndex.from_product([range(3), range(20)])):
        model = fitted(case, X.set_axis(labels), y.set_axis(labels))
        assert same(answers(case, model, X), answers(case, expected, X))
        assert model.score(X.set_axis(labels), y.set_axis(labels)) == expected.score(X, y)
    if case.schema:
        return
    backwards = range(len(X), 0, -1)
    for rows, target in (
        (X.set_axis(backwards), y.to_numpy()),
        (TABLE, y.set_axis(backwards)),
        (pl.DataFrame(X), pl.Series("y", case.y)),
    ):
        model = fitted(case, rows, target)
        assert same(answers(case, model, rows), answers(case, expected, X))
        assert model.score(rows, target) == expected.score(X, y)


@pytest.mark.parametrize("case", WEIGHTED, ids=name_of)
def test_weights_are_paired_by_label_too(case):
    """With rows and with targets, also where the rows are an array; in fit and in score."""
    X, y = frame(), pd.Series(case.y, name=case.target)
    weights = pd.Series(np.linspace(0.1, 1, len(X)))[::-1]
    refused(case, X, y, sample_weight=weights, match="`sample_weight` has another index than `X`")
    if not case.schema:
        refused(case, TABLE, y, sample_weight=weights, match="`sample_weight` has another index than `y`")
    model = case.fit(X, y, sample_weight=weights.to_numpy())
    with pytest.raises(InvalidData, match="`sample_weight` has another index than `X`"):
        model.score(X, y, sample_weight=weights)
    assert isinstance(model.score(X, y, sample_weight=weights.sort_index()), float)


def test_functions_pair_by_label():
    """Objectives and draws of a pair of arrays refuse other labels as estimators do."""
    X, y = frame(), pd.Series(TARGETS["number"])[::-1]
    promised = {"budget": dp.Pure(epsilon=1), "adjacency": dp.Replace()}
    with pytest.raises(InvalidData, match="`y` has another index"):
        dp.functional.SquaredObjective(y_bounds=dp.Interval(0, 1)).release(
            X, y, x_bounds=dp.Box(lower=0, upper=1), **promised
        )


# Sparse matrices.


@each_sparse
def test_a_broken_matrix_is_refused_before_anything_follows_it(case):
    """Numbers outside the shape and parts that do not belong together, in fit before a charge, and in predictions."""

    def check(name):
        refused(case, broken(name), case.y, match="`X` is a broken sparse matrix")
        model = plain(case)
        for method in case.answers():
            with pytest.raises(InvalidData, match="`X` is a broken sparse matrix"):
                getattr(model, method)(broken(name))
        with pytest.raises(InvalidData, match="`X` is a broken sparse matrix"):
            model.score(broken(name), case.y)

    for_every([name for name in BROKEN if name.startswith("csr, number")] + ELSEWHERE, check)


@each_sparse
def test_rows_in_any_order_and_in_parts_are_the_summed_ones(case):
    """Fit, predictions and score are those of the summed matrix, and the caller's arrays stay as they were."""

    def check(how):
        make, index = how
        expected = tidy_fit(case)
        matrix = untidy(make, index)
        before = [part.copy() for part in parts_of(matrix)]
        for part in parts_of(matrix):
            part.setflags(write=False)
        model = fitted(case, matrix, case.y)
        tidy = scipy.sparse.csr_array(TABLE)
        assert same(answers(case, model, tidy), answers(case, expected, tidy))
        assert same(answers(case, model, matrix), answers(case, expected, tidy))
        assert model.score(matrix, case.y) == expected.score(tidy, case.y)
        for part, old in zip(parts_of(matrix), before, strict=True):
            assert part.dtype == old.dtype
            assert part.tobytes() == old.tobytes()

    for_every(product(CLASSES, [np.int32, np.int64]), check)


@each_sparse
def test_every_sparse_format_is_read_and_never_written_to(case):
    """Its parts may be read-only; the model is that of compressed rows."""

    def check(kind):
        expected = tidy_fit(case)
        matrix = sparse(kind)
        before = [copy.deepcopy(part) for part in parts_of(matrix)]
        for part in parts_of(matrix):
            part.setflags(write=False)
        model = fitted(case, matrix, case.y)
        assert same(answers(case, model, matrix), answers(case, expected, scipy.sparse.csr_array(TABLE)))
        assert all(np.array_equal(part, old) for part, old in zip(parts_of(matrix), before, strict=True))

    for_every(FORMATS, check)


@each_sparse
def test_a_matrix_that_is_mapped_read_only_is_read(case, tmp_path):
    """Its parts may lie in files that cannot be written to."""
    matrix = scipy.sparse.csr_array(TABLE)
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(matrix, name))
        setattr(matrix, name, np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    model = fitted(case, matrix, case.y)
    assert same(answers(case, model, matrix), answers(case, model, scipy.sparse.csr_array(TABLE)))


@pytest.mark.parametrize("case", [case for case in CASES if not case.sparse], ids=name_of)
def test_a_broken_matrix_is_not_followed_where_dense_rows_are_wanted(case):
    """It is refused as a sparse one, and nothing follows its numbers."""
    matrix = broken("csr, number 5,000,000")
    refused(case, matrix, case.y, kind=InvalidType, match="Sparse data was passed for `X`")
    model = plain(case)
    for name in case.answers():
        with pytest.raises(InvalidType, match="Sparse data"):
            getattr(model, name)(matrix)


# Callers' arrays.


def _arrays(values, tmp_path, name):
    """Return an array as it is, read-only, in Fortran's order, in parts of another, and mapped from a file."""
    locked = values.copy()
    locked.setflags(write=False)
    wide = np.repeat(values, 2, axis=0)[::2]
    np.save(tmp_path / f"{name}.npy", values)
    mapped = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    return {
        "plain": values.copy(),
        "locked": locked,
        "Fortran": np.asfortranarray(values),
        "strided": wide,
        "mapped": mapped,
    }


@each
def test_dense_arrays_are_never_written_to(case, tmp_path):
    """Fit, predictions, score: the arrays of rows, targets and weights stay bit for bit; they may be read-only."""

    def check(form):
        X = _arrays(TABLE, tmp_path, "X")[form]
        y = None if case.y is None else _arrays(case.y, tmp_path, "y")[form]
        weights = {"sample_weight": np.linspace(0.1, 1, len(TABLE))} if case.weights else {}
        for array in weights.values():
            array.setflags(write=False)
        before = TABLE.tobytes(), None if y is None else case.y.tobytes()
        model = case.fit(X, y, **weights)
        answers(case, model, X)
        if case.target != "none":
            model.score(X, y)
        assert (np.ascontiguousarray(X).tobytes(), None if y is None else np.ascontiguousarray(y).tobytes()) == before

    for_every(["plain", "locked", "Fortran", "strided", "mapped"], check)


@pytest.mark.parametrize("case", [*CASES, *FRAMED], ids=name_of)
def test_frames_are_never_written_to(case):
    """Columns, types and cells of a frame and a series stay as they were."""
    X, y = frame(), None if case.y is None else pd.Series(case.y, name=case.target)
    rows, target = X.copy(deep=True), None if y is None else y.copy(deep=True)
    model = case.fit(X, y)
    answers(case, model, X)
    pd.testing.assert_frame_equal(X, rows)
    if y is not None:
        model.score(X, y)
        pd.testing.assert_series_equal(y, target)


# Cells that are objects.


class Loud:
    """An object whose number says too much."""

    def __float__(self):
        raise RuntimeError("7351.846290137")

    def __repr__(self):
        return "7351.846290137"


ODD = {
    "a number beyond doubles": 10**400,
    "a complex number": 7351.846290137j,
    "an object that raises": Loud(),
    "bytes": b"7351.846290137",
    "a text": "7351.846290137 kg",
    "a span of time": np.timedelta64(7351846290137, "ns"),
    "an array": np.array([7351.846290137]),
    "a mapping": {"7351.846290137": 1},
    "not a number": float("nan"),
    "NA": pd.NA,
    "NaT": pd.NaT,
}


@each
def test_an_odd_cell_is_refused_without_being_quoted(case):
    """A number beyond all doubles, objects, bytes: missing or refused, by one of our errors, before a charge."""

    def check(odd):
        X = TABLE.astype(object)
        X[4, 1] = ODD[odd]
        if case.name == "BoundsScaler":
            missing = case.make().x_bounds is not None and odd in {"a number beyond doubles", "an object that raises"}
            if missing or odd in {"not a number", "NA", "NaT"}:
                scaled = case.fit(X).transform(X)
                assert np.isnan(scaled[4, 1])
                assert np.array_equal(
                    np.delete(scaled.ravel(), 13), np.delete(case.fit(TABLE).transform(TABLE).ravel(), 13)
                )
                return
        assert "7351" not in refused(case, X, case.y, kind=DiscreetError)
        assert "7351" not in refused(case, frame(X), case.y, kind=DiscreetError)
        if case.target in {"number", "count"}:
            y = case.y.astype(object)
            y[4] = ODD[odd]
            assert "7351" not in refused(case, TABLE, y, kind=DiscreetError)

    for_every(ODD, check)


@each
def test_objects_that_are_numbers_are_read_as_numbers(case):
    """A frame or an array of Python objects gives the model of the same numbers."""
    expected = plain(case)
    for X in (TABLE.astype(object), frame(TABLE.astype(object)), TABLE.tolist(), np.char.mod("%.17g", TABLE)):
        model = fitted(case, X, case.y)
        rows = np.asarray(X, dtype=object) if isinstance(X, list) else X
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # names of the frame's columns
            assert same(answers(case, model, rows), answers(case, expected, TABLE))


@each
def test_new_rows_of_any_size_are_answered_in_silence(case):
    """A warning of an overflow would tell of a cell; what is answered, or refused in our words, is no matter."""
    model = case.fit(*given(case))
    for size in (1e308, -1e308):
        X = np.where(np.arange(TABLE.size).reshape(TABLE.shape) % 7 == 0, size, TABLE)
        for answer in case.answers():
            with warnings.catch_warnings(), suppress(InvalidData):
                warnings.simplefilter("error")
                getattr(model, answer)(X if not case.schema else pd.DataFrame(X, columns=COLUMNS))
