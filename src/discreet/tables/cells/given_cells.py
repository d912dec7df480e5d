"""Cells of arrays and frames without a schema: each column is read by its type's meaning, or refused by name and type.

A masked cell is a missing one. Cells that are Python objects are read one by one, so that none changes how another is
read; nothing here quotes one, and nothing is written to what was passed in.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidData, InvalidType
from discreet.tables.cells.object_cells import REMEDY, numbers_of_objects

if TYPE_CHECKING:
    from numpy.typing import NDArray

REAL = "fiub"
# From here on a double may stand for several whole numbers.
_WHOLE_LIMIT = np.float64(2**53)


def refuse_matrix_class(values: Any, name: str) -> None:
    """Refuse `numpy.matrix`, whose rows stay of two dimensions.

    Raises
    ------
    InvalidType
        Names the class and the remedy.
    """
    if isinstance(values, np.matrix):
        raise InvalidType(f"`{name}` is a np.matrix, which is not supported. Use np.asarray({name}).")


def unmasked(values: Any) -> Any:
    """Return an array whose masked cells are missing ones: NaN, NaT, or None where its type has neither.

    Examples
    --------
    >>> unmasked(np.ma.array([1.0, 2.0], mask=[False, True]))
    array([ 1., nan])
    """
    if not isinstance(values, np.ma.MaskedArray):
        return values
    cells, mask = np.ma.getdata(values), np.ma.getmaskarray(values)
    if cells.dtype.names is not None or not mask.any():
        return cells
    if cells.dtype.kind in "fmM":
        missing: Any = "NaT" if cells.dtype.kind in "mM" else np.nan
    else:
        cells, missing = cells.astype(object), None
    cells = np.array(cells)
    cells[mask] = missing
    return cells


def array_of(values: Any, name: str) -> NDArray[Any]:
    """Return nested sequences, or what offers itself as an array, as an array that keeps texts and masks apart.

    Raises
    ------
    InvalidData
        If it cannot be one, as where rows have several lengths.
    """
    array = None
    with suppress(Exception):  # whatever it says may quote a cell
        array = _array_of(values)
    if array is None:
        raise InvalidData(f"`{name}` cannot be read as an array. Give rows of one length.")
    return array


def _array_of(values: Any) -> NDArray[Any]:
    if isinstance(values, (list, tuple)):
        values = _without_masks(values)
    array: NDArray[Any] = unmasked(values if isinstance(values, np.ndarray) else np.asarray(values))
    # numpy would make the text "nan" of a missing label among texts, and one double of several large whole numbers
    # where a float stands among them.
    is_merged = array.dtype.kind == "f" and isinstance(values, (list, tuple)) and (np.abs(array) >= _WHOLE_LIMIT).any()
    if array.dtype.kind in "SU" or is_merged:
        return np.asarray(values, dtype=object)
    return array


def _without_masks(values: Any) -> Any:
    """Return nested sequences in which masked cells are None or NaN; the same object where there are none."""
    if not any(issubclass(kind, (list, tuple, np.ma.MaskedArray)) for kind in set(map(type, values))):
        return values
    changed = [_without_masks(value) if isinstance(value, (list, tuple)) else _unmasked_cell(value) for value in values]
    same = all(new is old for new, old in zip(changed, values, strict=True))
    return values if same else changed


def _unmasked_cell(value: Any) -> Any:
    return None if value is np.ma.masked else unmasked(value)


def is_frame(values: Any) -> bool:
    """Return whether `values` has columns of their own types, as data frames of pandas, polars and Arrow do."""
    return _is_pandas(values, "columns") or _narwhals(values, frame=True) is not None


def numbers_of(values: Any, name: str = "y") -> NDArray[Any]:
    """Return one column of real numbers, NaN where a cell is missing.

    Parameters
    ----------
    values : array, series or sequence, shape (n_rows,)
        Private cells.
    name : str
        How messages call the argument.

    Raises
    ------
    InvalidData
        If its type is that of no number, or a cell is a text that is none; names the argument, quotes no cell.
    InvalidType
        If a cell is an object that is no number at all.
    """
    refuse_matrix_class(values, name)
    where = f"Column {_name_of(values, name)!r}"
    if _is_pandas(values, "dtype"):
        return _of_pandas(values, where, name)
    series = _narwhals(values, frame=False)
    if series is not None:
        return _of_arrow(_arrow_of(series, where), where, name)
    array = _plain_array(values, name)
    return numbers_of_array(array.reshape(-1), where, name).reshape(array.shape)


def matrix_of_numbers(X: Any, name: str = "X") -> NDArray[Any]:
    """Return the cells of an array or a frame as real numbers, shape (n_rows, n_columns), NaN where one is missing.

    Parameters
    ----------
    X : array or frame of two dimensions
        Private cells. An array of real numbers is returned as it is, also one of another number of dimensions.
    name : str
        How messages call the argument.

    Raises
    ------
    InvalidData
        If a column's type is that of no number, or a cell is a text that is none; names the column and the type.
    InvalidType
        If a cell is an object that is no number at all.
    """
    refuse_matrix_class(X, name)
    if _is_pandas(X, "dtype") or _narwhals(X, frame=False) is not None:
        return numbers_of(X, name)
    if _is_pandas(X, "columns"):
        kinds = {getattr(kind, "kind", "O") if isinstance(kind, np.dtype) else "O" for kind in X.dtypes}
        if kinds and kinds <= set(REAL):
            return _doubles(X.to_numpy() if X.dtypes.nunique() == 1 else X.to_numpy(dtype=np.float64))
        columns = [_of_pandas(X.iloc[:, j], f"Column {str(label)!r}", name) for j, label in enumerate(X.columns)]
        return _stacked(columns, len(X))
    frame = _narwhals(X, frame=True)
    if frame is not None:
        wheres = [(label, f"Column {str(label)!r}") for label in frame.columns]
        columns = [_of_arrow(_arrow_of(frame[label], where), where, name) for label, where in wheres]
        return _stacked(columns, len(frame))
    array = _plain_array(X, name)
    return numbers_of_array(array.reshape(-1), f"`{name}`", name).reshape(array.shape)


def refuse_type_of(values: Any, name: str) -> None:
    """Refuse a column whose type is that of no number and no text, whatever its cells.

    Raises
    ------
    InvalidData
        Names column and type.
    """
    where, dtype = f"Column {name!r}", getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype):
        _refuse_kind(dtype, where, name)
    elif _is_pandas(values, "dtype"):
        _refuse_extension(dtype, where)
    elif (series := _narwhals(values, frame=False)) is not None:
        _refuse_arrow(_arrow_of(series, where).type, where)


def numbers_of_array(array: NDArray[Any], where: str, name: str) -> NDArray[Any]:
    """Return a flat array's cells as real numbers: as they are, where its type is that of real numbers."""
    array = unmasked(array)
    if array.dtype.kind in REAL:
        return _doubles(array)
    _refuse_kind(array.dtype, where, name)
    return numbers_of_objects(array.tolist() if array.dtype.kind != "O" else list(array), where, name)


def _doubles(array: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as they are, those wider than doubles as doubles; what is too large is infinite."""
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        with np.errstate(all="ignore"):  # a warning would tell of a cell
            return array.astype(np.float64)
    return array


def _refuse_kind(dtype: np.dtype[Any], where: str, name: str) -> None:
    if dtype.kind == "c":
        raise InvalidData(f"Complex data not supported in `{name}`. Give real numbers.")
    if dtype.kind not in REAL + "OUT":
        raise InvalidData(f"{where} has the type {_named(dtype)}, which is no number. {REMEDY}")


def _named(dtype: Any) -> str:
    """Return a type's name; that of bytes would tell how long a cell is, that of a structured one may be long."""
    return {"S": "bytes", "V": "structured or void"}.get(dtype.kind, str(dtype))


def _refuse_extension(dtype: Any, where: str) -> None:
    """Refuse pandas' own types of moments, spans and intervals, and Arrow's in its frames."""
    arrow = getattr(dtype, "pyarrow_dtype", None)
    if arrow is not None:
        _refuse_arrow(arrow, where)
    if getattr(dtype, "kind", "O") in "mMcV" or type(dtype).__name__ in {"PeriodDtype", "IntervalDtype"}:
        raise InvalidData(f"{where} has the type {dtype}, which is no number. {REMEDY}")


def _of_pandas(series: Any, where: str, name: str) -> NDArray[Any]:
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return numbers_of_array(series.to_numpy(), where, name)
    _refuse_extension(dtype, where)
    if hasattr(dtype, "pyarrow_dtype"):
        import pyarrow as pa

        return _of_arrow(pa.array(series.array), where, name)
    if hasattr(dtype, "categories"):
        codes = np.asarray(series.cat.codes)
        used = np.unique(codes[codes >= 0])  # a level that no cell has is not read
        levels = np.full(len(dtype.categories) + 1, np.nan)
        levels[used] = _of_pandas(dtype.categories[used].to_series(), where, name)
        return np.asarray(levels[codes])
    if dtype.kind in REAL:
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    return numbers_of_objects(series.astype(object).tolist(), where, name)


def _of_arrow(array: Any, where: str, name: str) -> NDArray[Any]:
    """Return the cells of an Arrow array, as the readers of tables do."""
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    _refuse_arrow(kind, where)
    if pa.types.is_boolean(kind):
        array = array.cast(pa.uint8())
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        # A null among whole numbers is NaN among doubles.
        return np.asarray(array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    if pa.types.is_decimal(kind):
        array = array.cast(pa.string())  # correctly rounded, as a text file's cell is
    return numbers_of_objects(array.to_pylist(), where, name)


def _refuse_arrow(kind: Any, where: str) -> None:
    from pyarrow import types

    held = kind.value_type if types.is_dictionary(kind) else kind
    number = types.is_floating(held) or types.is_integer(held) or types.is_boolean(held) or types.is_decimal(held)
    text = types.is_string(held) or types.is_large_string(held) or types.is_string_view(held)
    if not (number or text or types.is_null(held)):
        raise InvalidData(f"{where} has the type {kind}, which is no number. {REMEDY}")


def _stacked(columns: list[NDArray[Any]], n_rows: int) -> NDArray[np.float64]:
    matrix = np.empty((n_rows, len(columns)))
    for place, column in enumerate(columns):
        matrix[:, place] = column
    return matrix


def _plain_array(values: Any, name: str) -> NDArray[Any]:
    return unmasked(values) if isinstance(values, np.ndarray) else array_of(values, name)


def _is_pandas(values: Any, attribute: str) -> bool:
    return hasattr(values, "iloc") and hasattr(values, attribute)


def _name_of(values: Any, name: str) -> str:
    given = getattr(values, "name", None)
    return given if isinstance(given, str) and given else name


def _narwhals(values: Any, *, frame: bool) -> Any:
    """Return a frame or a series of polars, Arrow and their like as narwhals sees it, or None."""
    if isinstance(values, (np.ndarray, list, tuple)) or hasattr(values, "iloc"):
        return None
    import narwhals as nw

    found = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    return found if isinstance(found, nw.DataFrame if frame else nw.Series) else None


def _arrow_of(series: Any, where: str) -> Any:
    array = None
    with suppress(Exception):  # every frame library has its own exceptions, which may quote cells
        array = series.to_arrow()
    if array is None:
        raise InvalidData(f"{where} has the type {series.dtype}, which is no number. {REMEDY}")
    return array
