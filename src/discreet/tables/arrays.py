"""Arrays and frames of scikit-learn's users, checked without ever quoting a cell."""

from __future__ import annotations

import copy
import functools
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from discreet.errors import InvalidArgument, InvalidData, InvalidType
from discreet.lattice.gram import gram_of_arrays

if TYPE_CHECKING:
    from discreet.lattice.grid import Layout

# Arguments of scikit-learn's estimators that a private fit cannot honour, and what to do instead.
UNSUPPORTED = {
    "random_state": "noise is not seedable; for a test fit with Ledger(total=, adjacency=, coins=Coins.from_seed(0))",
    "sample_weight": "weights change the sensitivity, and no maximum is declared; leave them out",
    "class_weight": "weights change the sensitivity; leave them out",
    "warm_start": "every fit is a release of its own and is charged anew; leave it out",
    "penalty": "the ridge is found from the noise; leave it out",
    "n_jobs": "the work is one matrix product; leave it out",
    "epsilon": "a guarantee is a value: write budget=Pure(epsilon=...)",
    "bounds": "bounds are declared as x_bounds=Box(lower=, upper=) and y_bounds=Interval(lower, upper)",
}


F = TypeVar("F", bound=Callable[..., Any])


def says_what_it_lacks(function: F) -> F:
    """Let a constructor or method refuse arguments that it does not have by name, and say what to do instead.

    The signature stays as it is written, since scikit-learn reads it.
    """
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def checked(self: Any, *arguments: Any, **named: Any) -> Any:
        for name in named:
            if name not in known:
                advice = UNSUPPORTED.get(name, "see its documentation for the arguments it has")
                raise InvalidType(f"{type(self).__name__} has no argument `{name}`: {advice}.")
        return function(self, *arguments, **named)

    return cast("F", checked)


@dataclass(frozen=True, eq=False)
class ArrayRows:
    """Private rows of arrays, ready to be summed on a grid; built by :func:`check_rows`."""

    private_X: np.ndarray  # noqa: N815  (the field's letter)
    private_y: np.ndarray
    names: tuple[str, ...]

    def private_gram(self, layout: Layout) -> np.ndarray:
        """Return the exact Gram matrix of the rows (1, X, y).

        Raises
        ------
        InvalidData
            If a cell is NaN or infinite; names the column.
        """
        gram, all_finite = gram_of_arrays(self.private_X, self.private_y, layout)
        if not all_finite:
            self._name_the_missing()
        return gram

    def private_size(self) -> int:
        """Return the number of rows."""
        return int(self.private_X.shape[0])

    def _name_the_missing(self) -> None:
        for name, column in zip((*self.names, "y"), (*self.private_X.T, self.private_y), strict=True):
            if not np.isfinite(column).all():
                raise InvalidData(
                    f"Column {name!r} has missing cells (NaN or inf), and arrays have no policy for them. "
                    "Take them out, or use release_moments with a schema that declares a policy."
                )


def check_rows(estimator: Any, X: Any, y: Any, *, may_be_empty: bool) -> tuple[Any, ArrayRows]:
    """Return a copy of the estimator that has seen the shape of `X`, and the rows.

    The estimator itself is not touched, so that a refused fit leaves it as it was.

    Raises
    ------
    InvalidData
        If the shapes do not fit, or a cell cannot be a number; never quotes one.
    """
    from sklearn.utils.validation import validate_data

    if y is None:
        raise InvalidArgument(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None. Give one number a row."
        )
    X = _with_shape(X, "X", dimensions=(2,))
    y = _with_shape(y, "y", dimensions=(1, 2))
    staged = copy.copy(estimator)
    staged.__dict__.pop("feature_names_in_", None)
    matrix = _quietly(
        lambda: validate_data(
            staged,
            X,
            dtype=_numeric_dtype(X),
            accept_sparse=False,
            ensure_all_finite=False,
            ensure_min_samples=0 if may_be_empty else 1,
        ),
        "X",
    )
    target = _target(y)
    if target.shape[0] != matrix.shape[0]:
        raise InvalidData("`X` and `y` have inconsistent numbers of samples. Give one `y` a row of `X`.")
    return staged, ArrayRows(matrix, target, column_names(staged, matrix.shape[1]))


def check_new_rows(estimator: Any, X: Any) -> np.ndarray:
    """Return rows to predict for, finite float64 of shape (n_rows, n_features)."""
    from sklearn.utils.validation import check_is_fitted, validate_data

    check_is_fitted(estimator)
    X = _with_shape(X, "X", dimensions=(2,))
    matrix = _quietly(
        lambda: validate_data(
            estimator,
            X,
            reset=False,
            dtype=_numeric_dtype(X),
            accept_sparse=False,
            ensure_all_finite=False,
            ensure_min_samples=0,
        ),
        "X",
    ).astype(np.float64, copy=False)
    if not np.isfinite(matrix).all():
        raise InvalidData("`X` has missing cells (NaN or inf); a prediction needs a number in every cell.")
    return np.asarray(matrix)


def column_names(estimator: Any, n_columns: int) -> tuple[str, ...]:
    """Return the names a frame gave, or x0, x1, ... for an array."""
    names = getattr(estimator, "feature_names_in_", None)
    return tuple(f"x{j}" for j in range(n_columns)) if names is None else tuple(map(str, names))


def _numeric_dtype(values: Any) -> Any:
    """Keep numeric arrays as they are, whatever their width; convert the rest to float64."""
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    return None if isinstance(values, np.ndarray) and kind in "fiub" else np.float64


def _with_shape(values: Any, name: str, *, dimensions: tuple[int, ...]) -> Any:
    """Return an array or frame of the right number of dimensions; scikit-learn would print one that is not."""
    import scipy.sparse

    if scipy.sparse.issparse(values):
        raise InvalidType(
            f"Sparse data was passed for `{name}` ({type(values).__name__}), but a dense array is required. "
            "Use .toarray() if it fits into memory."
        )
    if not hasattr(values, "shape") or not isinstance(values.shape, tuple):
        values = _quietly(lambda: np.asarray(values), name)
    if len(values.shape) in dimensions:
        return values
    found = f"{len(values.shape)}D array" if values.shape else "scalar array"
    if name == "X":
        raise InvalidData(
            f"Expected 2D array for `X`, got {found} instead. Reshape your data with .reshape(-1, 1) for one "
            "column, or .reshape(1, -1) for one row."
        )
    raise InvalidData(f"`y` should be a 1d array, got a {found} instead. Give one number a row.")


def _target(y: Any) -> np.ndarray:
    from sklearn.exceptions import DataConversionWarning

    if len(y.shape) == 2:
        if y.shape[1] != 1:
            raise InvalidData("`y` should be a 1d array with one number a row. Fit one model a target.")
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,).",
            DataConversionWarning,
            stacklevel=4,
        )
    array: np.ndarray = _quietly(lambda: _as_numbers(y), "y")
    return array.reshape(-1)


def _as_numbers(values: Any) -> np.ndarray:
    array: np.ndarray = values if isinstance(values, np.ndarray) else np.asarray(values)
    if array.dtype.kind in "fiub":
        return array
    if array.dtype.kind == "c":
        raise _Complex
    if hasattr(values, "to_numpy") and not isinstance(values, np.ndarray):
        try:
            return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)
        except TypeError:
            pass
    return array.astype(np.float64)


class _Complex(Exception):  # noqa: N818
    """Raised inside to tell complex numbers from texts."""


def _quietly(convert: Any, name: str) -> Any:
    """Run a conversion whose own errors may quote a cell; raise ours, outside its except block."""
    message = None
    kind: type[Exception] = InvalidData
    try:
        return convert()
    except _Complex:
        message = f"Complex data not supported in `{name}`. Give real numbers."
    except (TypeError, ValueError) as error:
        message, kind = _translated(str(error), type(error), name)
    raise kind(message)


# What scikit-learn says about shapes and names alone is passed on; anything else might quote a cell.
_SAFE_BEGINNINGS = (
    "Found array with",
    "The feature names should match",
    "Feature names are only supported",
    "X has",
    "Feature names must be",
)


def _translated(text: str, kind: type[Exception], name: str) -> tuple[str, type[Exception]]:
    if text.startswith("Complex data"):
        return f"Complex data not supported in `{name}`. Give real numbers.", InvalidData
    if text.startswith(_SAFE_BEGINNINGS):
        return text, InvalidData
    if issubclass(kind, TypeError):
        return f"Each cell of the `{name}` argument must be a string of digits or a real number.", InvalidType
    return (
        f"`{name}` has a cell that is not a number. Declare categories in a schema, or encode them first.",
        InvalidData,
    )
