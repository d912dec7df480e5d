"""How the cells of a column become numbers, flags and level positions: total, and the same in every reader.

Nothing here raises on a cell: what cannot be read is missing.
What is refused is a column's *type*, which is public, and the refusal names the column.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import InvalidData
from discreet.tables.columns import Category, Date, Flag, Reading
from discreet.tables.texts import NUMBER, days_of_numpy, days_of_objects, trouble_of_texts, values_of_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from discreet.tables.columns import Column

_NUMBER = re.compile(NUMBER)


class ColumnReader:
    """Reads the cells of one declared column, whatever holds them.

    Parameters
    ----------
    name : str
        The column.
    column : Number, Date, Category or Flag
        Its declaration.
    reading : Reading
        How texts are read.
    """

    __slots__ = (
        "_codes",
        "_column",
        "_diagnose",
        "_labels",
        "_levels",
        "_missing_numbers",
        "_reading",
        "_spellings",
        "name",
    )

    def __init__(self, name: str, column: Column, reading: Reading) -> None:
        self.name = name
        self._column = column
        self._reading = reading
        self._diagnose = column.missing == "error"
        levels = column.levels if isinstance(column, Category) else ()
        self._levels = pa.array(levels, pa.large_string())
        self._codes = {level: code for code, level in enumerate(levels)}
        labels = dict(column.labels) if isinstance(column, Category) else {}
        self._labels = {spelling: self._codes[level] for spelling, level in labels.items()}
        self._spellings = pa.array(list(self._labels), pa.large_string())
        tokens = [float(token) for token in reading.missing_tokens if _NUMBER.match(token.strip())]
        self._missing_numbers = np.array(tokens)

    def from_arrow(self, array: Any) -> tuple[NDArray[Any], str | None]:
        """Return the cells of an Arrow array, and what kind of trouble the missing ones have, if it matters.

        Raises
        ------
        InvalidData
            If the array's type cannot be read as declared; names the column and the type.
        """
        if pa.types.is_run_end_encoded(array.type):
            array = pc.run_end_decode(array)
        if isinstance(self._column, Category):
            return self._codes_of_arrow(array), None
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        values, trouble = self._values_of_arrow(array)
        if isinstance(self._column, Flag):
            return _as_flags(values), trouble
        return self._without_tokens(values), trouble

    def _values_of_arrow(self, array: Any) -> tuple[NDArray[np.float64], str | None]:
        kind = array.type
        if pa.types.is_null(kind):
            return np.full(len(array), np.nan), None
        if isinstance(self._column, Date):
            return self._days_of_arrow(array)
        if pa.types.is_float64(kind):
            return array.to_numpy(zero_copy_only=False), None
        if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
            numbers = array.cast(pa.uint8()) if pa.types.is_boolean(kind) else array
            return numbers.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), None
        if pa.types.is_decimal(kind):
            # By way of the text: correctly rounded, as a CSV file's cell is.
            array, kind = array.cast(pa.string()), pa.string()
        if _is_text(kind):
            return self._values_of_text(array.cast(pa.large_string(), safe=False))
        raise InvalidData(
            f"Column `{self.name}` is declared as a number or flag; its type is {kind}. "
            "Derive the number you mean in a column of its own."
        )

    def _days_of_arrow(self, array: Any) -> tuple[NDArray[np.float64], str | None]:
        assert isinstance(self._column, Date)  # noqa: S101  (for the type checker)
        kind = array.type
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            dates = array.cast(pa.date32(), safe=False).to_numpy(zero_copy_only=False)
            return days_of_numpy(dates, self._column), None
        if pa.types.is_integer(kind):
            return self._values_of_text(array.cast(pa.large_string()))
        if _is_text(kind):
            return self._values_of_text(array.cast(pa.large_string(), safe=False))
        raise InvalidData(
            f"Column `{self.name}` is declared as a date; its type is {kind}. Give dates, or texts in its `format`."
        )

    def _values_of_text(self, texts: Any) -> tuple[NDArray[np.float64], str | None]:
        texts = pc.utf8_trim_whitespace(texts)
        values = values_of_texts(texts, self._column, self._reading)
        found = values.to_numpy(zero_copy_only=False)
        return found, trouble_of_texts(texts, values, self._column) if self._diagnose and values.null_count else None

    def _codes_of_arrow(self, array: Any) -> NDArray[np.int32]:
        if pa.types.is_dictionary(array.type):
            codes = self._codes_of_arrow(array.dictionary)
            return _take_codes(codes, array.indices)
        if pa.types.is_null(array.type):
            return np.full(len(array), -1, dtype=np.int32)
        if _is_text(array.type):
            texts = array.cast(pa.large_string(), safe=False)
            found = pc.index_in(texts, value_set=self._levels)
            if self._labels:
                spelled = pc.index_in(pc.utf8_lower(pc.utf8_trim_whitespace(texts)), value_set=self._spellings)
                meant = pa.array(list(self._labels.values()), pa.int32()).take(spelled)
                found = pc.coalesce(found, meant)
            return found.fill_null(-1).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
        if pa.types.is_nested(array.type) or isinstance(array, pa.ExtensionArray):
            raise InvalidData(
                f"Column `{self.name}` is declared as a category; its type is {array.type}. Convert it to text."
            )
        distinct = array.dictionary_encode()
        codes = self._codes_of_objects(distinct.dictionary.to_pylist())
        return _take_codes(codes, distinct.indices)

    def from_numpy(self, array: NDArray[Any]) -> tuple[NDArray[Any], str | None]:
        """Return the cells of a one-dimensional NumPy array, as `from_arrow` does."""
        if isinstance(self._column, Date):
            if array.dtype.kind == "M":
                return days_of_numpy(array, self._column), None
            return self.from_objects(array.tolist()) if array.dtype.kind in "OUT" else self.from_arrow(pa.array(array))
        if array.dtype.kind not in "fiub":
            if array.dtype.kind not in "OUT":
                raise InvalidData(
                    f"Column `{self.name}` has the type {array.dtype}, which cannot be read. Convert it to numbers."
                )
            return self.from_objects(array.tolist())
        if isinstance(self._column, Category):
            return self.from_arrow(pa.array(array, from_pandas=True))
        values = array.astype(np.float64, copy=False)
        return (_as_flags(values) if isinstance(self._column, Flag) else self._without_tokens(values)), None

    def from_objects(self, objects: list[Any]) -> tuple[NDArray[Any], str | None]:
        """Return cells that are Python objects of any kind, as `from_arrow` does."""
        if isinstance(self._column, Category):
            return self._codes_of_objects(objects), None
        texts = [cell if isinstance(cell, str) else None for cell in objects]
        if isinstance(self._column, Date):
            values = days_of_objects(objects, self._column)
        else:
            values = np.array([_number_of(cell) for cell in objects], dtype=np.float64)
        trouble = None
        if any(cell is not None for cell in texts):
            array = pa.array([_clean(cell) for cell in texts], pa.large_string())
            read, trouble = self._values_of_text(array)
            values = np.where([cell is not None for cell in texts], read, values)
        return (_as_flags(values) if isinstance(self._column, Flag) else self._without_tokens(values)), trouble

    def _codes_of_objects(self, objects: Iterable[Any]) -> NDArray[np.int32]:
        return np.array([_code_of(cell, self._codes, self._labels) for cell in objects], dtype=np.int32)

    def _without_tokens(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self._missing_numbers.size:
            return values
        return np.where(np.isin(values, self._missing_numbers), np.nan, values)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _as_flags(values: NDArray[np.float64]) -> NDArray[np.float64]:
    known = (values == 0.0) | (values == 1.0)
    return values if known.all() else np.where(known, values, np.nan)


def _take_codes(codes: NDArray[np.int32], indices: Any) -> NDArray[np.int32]:
    """Look level positions up; index -1 means missing and finds the -1 put at the end."""
    places = indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return np.append(codes, np.int32(-1))[places]  # type: ignore[no-any-return]


def _number_of(cell: Any) -> float:
    """Return a Python object that is a number as a float, and NaN for all else; texts are read elsewhere."""
    if isinstance(cell, str) or cell is None or not hasattr(cell, "__float__"):
        return math.nan
    try:
        return float(cell)
    except Exception:  # noqa: BLE001  (whatever the object raises, the cell is missing)
        return math.nan


def _code_of(cell: Any, codes: Mapping[str, int], labels: Mapping[str, int]) -> int:
    """Return the position of the level that a Python object is, or -1."""
    if isinstance(cell, str):
        return codes[cell] if cell in codes else labels.get(cell.strip().lower(), -1)
    if isinstance(cell, (bool, np.bool_)):
        return codes.get(str(bool(cell)), codes.get(str(bool(cell)).lower(), -1))
    try:
        if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
            return codes.get(str(int(cell)), -1)
        return codes.get(str(cell), -1)
    except Exception:  # noqa: BLE001  (whatever the object raises, the cell is missing)
        return -1


def _clean(cell: str | None) -> str | None:
    """Return a text that can be UTF-8; a lone surrogate is no part of a number."""
    return None if cell is None else cell.encode("utf-8", "replace").decode("utf-8")
