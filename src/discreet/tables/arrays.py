"""Arrays and frames of scikit-learn's users, checked without ever quoting a cell."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet._warnings import warn
from discreet.errors import InvalidArgument, InvalidData, InvalidType
from discreet.tables.array_rows import ArrayRows
from discreet.tables.cells.given_cells import (
    array_of,
    is_frame,
    matrix_of_numbers,
    numbers_of,
    refuse_matrix_class,
    unmasked,
)
from discreet.tables.sparse_rows import is_sparse_frame, summed_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def check_rows(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    may_be_empty: bool,
    read_target: Callable[[Any], NDArray[np.float64]] | None = None,
    trouble: str | None = None,
) -> tuple[Any, ArrayRows]:
    """Return a copy of the estimator that has seen the shape of `X`, and the rows.

    The estimator itself is not touched, so that a refused fit leaves it as it was.

    Parameters
    ----------
    estimator : object
        Of scikit-learn's kind.
    X, y : array-like or frame
        The private rows.
    may_be_empty : bool
        Whether no rows at all are an ordinary table.
    read_target : callable, optional
        Makes real numbers of a one-dimensional `y`; default: its cells are numbers.
    trouble : str, optional
        What is said of a missing target.

    Raises
    ------
    InvalidData
        If the shapes do not fit, or a cell cannot be a number; never quotes one.
    """
    column = check_target(estimator, X, y)
    described, matrix = _described(estimator, X, may_be_empty=may_be_empty)
    target = numbers_of(column) if read_target is None else read_target(column)
    if target.shape[0] != matrix.shape[0]:
        raise InvalidData(UNEQUAL)
    rows = ArrayRows(matrix, target, column_names(described, matrix.shape[1]))
    return described, rows if trouble is None else replace(rows, trouble=trouble)


def check_shape(estimator: Any, X: Any) -> Any:
    """Return a copy of the estimator that has seen the number and the names of the columns of `X`."""
    return _described(estimator, X, may_be_empty=False)[0]


def check_matrix(estimator: Any, X: Any, *, may_be_empty: bool, accept_sparse: bool = True) -> tuple[Any, Any]:
    """Return a copy of the estimator that has seen the shape of `X`, and the features: an array, or sparse as given.

    Raises
    ------
    InvalidData
        If the shape does not fit, or a cell cannot be a number; never quotes one.
    """
    return _described(estimator, X, may_be_empty=may_be_empty, accept_sparse=accept_sparse)


def _described(estimator: Any, X: Any, *, may_be_empty: bool, accept_sparse: bool = False) -> tuple[Any, Any]:
    described = copy.copy(estimator)
    described.__dict__.pop("feature_names_in_", None)
    return described, _matrix_of(
        described, X, reset=True, least_rows=0 if may_be_empty else 1, accept_sparse=accept_sparse
    )


def _matrix_of(estimator: Any, X: Any, *, reset: bool, least_rows: int, accept_sparse: bool) -> Any:
    """Return the features as an array of real numbers or as summed rows; the estimator sees their number and names."""
    import scipy.sparse
    from sklearn.utils.validation import check_array, validate_data

    X = _with_shape(X, "X", dimensions=(2,), accept_sparse=accept_sparse)
    if accept_sparse and is_sparse_frame(X):
        matrix = summed_rows(X.sparse.to_coo())
    else:
        matrix = summed_rows(X) if scipy.sparse.issparse(X) else matrix_of_numbers(X)

    def checked() -> Any:
        validate_data(estimator, X if is_frame(X) else matrix, reset=reset, skip_check_array=True)
        return check_array(
            matrix,
            dtype=None,
            accept_sparse=accept_sparse,
            ensure_all_finite=False,
            ensure_min_samples=least_rows,
            estimator=estimator,
            input_name="X",
        )

    return _quietly(checked)


def check_target(estimator: Any, X: Any, y: Any) -> Any:
    """Return the target of `X`, of one dimension: an array or a frame's column whose cells nobody has looked at.

    Masked cells are missing ones.

    Raises
    ------
    InvalidArgument, InvalidData
        If it is absent, has several columns, or other labels than `X`.
    """
    from sklearn.exceptions import DataConversionWarning

    if y is None:
        raise InvalidArgument(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None. Give one number a row."
        )
    check_pairing(X, y)
    target = target_of(y)
    if len(getattr(y, "shape", ())) == 2:
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,).",
            DataConversionWarning,
        )
    return target


def target_of(y: Any) -> Any:
    """Return a target as an array or a frame's column, also where it has the form of a column.

    Raises
    ------
    InvalidData
        If it has several columns.
    """
    y = _with_shape(y, "y", dimensions=(1, 2))
    if len(y.shape) == 1:
        return unmasked(y)
    if y.shape[1] != 1:
        raise InvalidData("`y` should be a 1d array with one number a row. Fit one model a target.")
    if hasattr(y, "iloc"):
        return y.iloc[:, 0]
    return y.column(0) if hasattr(y, "column_names") else unmasked(y[:, 0])


UNEQUAL = "`X` and `y` have inconsistent numbers of samples. Give one `y` a row of `X`."


def check_new_rows(estimator: Any, X: Any, *, may_lack_cells: bool = False) -> np.ndarray:
    """Return rows to predict for, float64 of shape (n_rows, n_features), finite unless they `may_lack_cells`."""
    matrix = _new_rows(estimator, X)
    if not may_lack_cells and not np.isfinite(matrix).all():
        raise InvalidData(_LACKING)
    return np.asarray(matrix)


def check_new_matrix(estimator: Any, X: Any) -> Any:
    """Return rows to predict for, finite float64: an array, or a csr_array whose duplicates are summed."""
    import scipy.sparse

    matrix = _new_rows(estimator, X, accept_sparse=True)
    if not np.isfinite(matrix.data if scipy.sparse.issparse(matrix) else matrix).all():
        raise InvalidData(_LACKING)
    return matrix


_LACKING = "`X` has missing cells (NaN or inf); a prediction needs a number in every cell."


def _new_rows(estimator: Any, X: Any, *, accept_sparse: bool = False) -> Any:
    """Return float64 rows of the columns of the fit, whatever stands in them."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    matrix = _matrix_of(estimator, X, reset=False, least_rows=0, accept_sparse=accept_sparse)
    return matrix.astype(np.float64, copy=False)


def column_names(estimator: Any, n_columns: int) -> tuple[str, ...]:
    """Return the names a frame gave, or x0, x1, ... for an array."""
    names = getattr(estimator, "feature_names_in_", None)
    return tuple(f"x{j}" for j in range(n_columns)) if names is None else tuple(map(str, names))


def _with_shape(values: Any, name: str, *, dimensions: tuple[int, ...], accept_sparse: bool = False) -> Any:
    """Return an array or frame of the right number of dimensions; scikit-learn would print one that is not."""
    import scipy.sparse

    if scipy.sparse.issparse(values) and not accept_sparse:
        raise InvalidType(
            f"Sparse data was passed for `{name}` ({type(values).__name__}), but a dense array is required. "
            "Use .toarray() if it fits into memory."
        )
    refuse_matrix_class(values, name)
    if not hasattr(values, "shape") or not isinstance(values.shape, tuple):
        values = array_of(values, name)
    if len(values.shape) in dimensions:
        return values
    found = f"{len(values.shape)}D array" if values.shape else "scalar array"
    if name == "X":
        raise InvalidData(
            f"Expected 2D array for `X`, got {found} instead. Reshape your data with .reshape(-1, 1) for one "
            "column, or .reshape(1, -1) for one row."
        )
    raise InvalidData(f"`y` should be a 1d array, got a {found} instead. Give one number a row.")


def _quietly(check: Callable[[], Any]) -> Any:
    """Run a check of scikit-learn whose own errors may quote a cell; raise ours, outside its except block."""
    message = "`X` cannot be read as a table of numbers. Give an array of numbers, one row a record."
    try:
        return check()
    except (TypeError, ValueError) as error:
        # What scikit-learn says about shapes and names alone is passed on.
        if str(error).startswith(_SAFE_BEGINNINGS):
            message = str(error)
    raise InvalidData(message)


_SAFE_BEGINNINGS = (
    "Found array with",
    "The feature names should match",
    "Feature names are only supported",
    "X has",
    "Feature names must be",
)


def check_pairing(X: Any, y: Any = None, sample_weight: Any = None) -> None:
    """Refuse rows, targets and weights whose indexes disagree; what has no index is paired by position.

    Parameters
    ----------
    X, y, sample_weight : array-like, frame or series
        As the user gave them, `y` and `sample_weight` possibly absent. Those of unequal lengths are left to the check
        of lengths.

    Raises
    ------
    InvalidData
        If two of them have labels that are not the same, or not in the same order; names the later argument.
    """
    first = None
    for name, given in (("X", X), ("y", y), ("sample_weight", sample_weight)):
        index = _index_of(given)
        if index is None:
            continue
        if first is None:
            first = name, index
        elif len(index) == len(first[1]) and not _equal(index, first[1]):
            raise InvalidData(
                f"`{name}` has another index than `{first[0]}`: other labels, or the same in another order. "
                f"Give {name}.loc[{first[0]}.index], or {name}.to_numpy() if row i belongs to row i."
            )


def _index_of(given: Any) -> Any:
    """Return the labels of a frame or series of pandas and its like, or None."""
    index = getattr(given, "index", None)
    return index if hasattr(index, "equals") and hasattr(index, "__len__") else None


def _equal(index: Any, other: Any) -> bool:
    try:
        return bool(index.equals(other))
    except Exception:  # noqa: BLE001  (labels that cannot be compared are not the same)
        return False
