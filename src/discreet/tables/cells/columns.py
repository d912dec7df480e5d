"""How the cells of a column become numbers, flags and level positions: total, and the same in every reader.

Nothing here raises on a cell: what cannot be read is missing.
What is refused is a column's *type*, which is public, and the refusal names the column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import InvalidData
from discreet.tables.cells.cell_reader import ALL_KINDS, CellReader, days_of, distinct_of, plain_numbers
from discreet.tables.cells.folding import folded
from discreet.tables.cells.python_cells import EXACT, MOMENT, TEXT, TRUTH, WHOLE, numbers_of, text_of
from discreet.tables.cells.texts import flag_meanings, flags_of, missing_values, trouble_of_texts, values_of_texts
from discreet.tables.schema.columns import Category, Date, Flag, Reading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.tables.cells.cell_reader import Cells
    from discreet.tables.cells.moments import Moments
    from discreet.tables.schema.columns import Column

_DATE_KINDS = frozenset({TEXT, WHOLE, MOMENT})
_NUMBER_KINDS = ALL_KINDS - {MOMENT}
# No format of dates has more digits.
_MOST_BITS = 128


class ColumnReader(CellReader):
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
        "_flags",
        "_labels",
        "_levels",
        "_missing",
        "_reading",
        "_spellings",
        "_truths",
    )

    def __init__(self, name: str, column: Column, reading: Reading) -> None:
        is_category, is_date = isinstance(column, Category), isinstance(column, Date)
        kinds = ALL_KINDS if is_category else _DATE_KINDS if is_date else _NUMBER_KINDS
        super().__init__(name, kinds, tells=column.missing == "error" and not is_category)
        self._column = column
        self._reading = reading
        levels = column.levels if isinstance(column, Category) else ()
        self._levels = pa.array(levels, pa.large_string())
        self._codes = {level: code for code, level in enumerate(levels)}
        labels = dict(column.labels) if isinstance(column, Category) else {}
        self._labels = {spelling: self._codes[level] for spelling, level in labels.items()}
        self._spellings = pa.array(list(self._labels), pa.large_string())
        self._flags, self._truths = flag_meanings(column) if isinstance(column, Flag) else ({}, {})
        self._missing = missing_values(column, reading)

    def refusal(self, kind: Any) -> InvalidData:
        """Return the error for a column of a type that has no meaning as it is declared."""
        if isinstance(self._column, Category):
            return InvalidData(
                f"Column `{self.name}` is declared as a category; its type is {kind}. Convert it to text."
            )
        if isinstance(self._column, Date):
            return InvalidData(
                f"Column `{self.name}` is declared as a date; its type is {kind}. Give dates, or texts in its `format`."
            )
        return InvalidData(
            f"Column `{self.name}` is declared as a number or flag; its type is {kind}. "
            "Derive the number you mean in a column of its own."
        )

    def nothing(self) -> NDArray[Any]:
        """Return one missing cell, shape (1,)."""
        return np.full(1, -1, np.int32) if isinstance(self._column, Category) else np.full(1, np.nan)

    def _of_texts(self, texts: Any) -> Cells:
        if isinstance(self._column, Category):
            return self._codes_of_texts(texts), None
        places = None
        if isinstance(self._column, Flag):  # a few words, many times
            distinct = texts.dictionary_encode()
            texts, places = distinct.dictionary, distinct.indices
        texts = pc.utf8_trim_whitespace(texts)
        values = values_of_texts(texts, self._column, self._reading)
        trouble = trouble_of_texts(texts, values, self._column) if self._tells and values.null_count else None
        if places is not None:
            values = values.take(places)
        return self._present(values.to_numpy(zero_copy_only=False)), trouble

    def _of_values(self, kind: str, array: Any) -> NDArray[Any]:
        if isinstance(self._column, Category):
            distinct = distinct_of(array)
            cells = distinct.dictionary.to_pylist()
            codes = np.append(self._codes_of_objects(kind, cells), self.nothing())
            places = distinct.indices.fill_null(len(cells)).to_numpy(zero_copy_only=False)
            return codes[places]  # type: ignore[no-any-return]
        if isinstance(self._column, Date):
            return self._of_texts(array.cast(pa.large_string()))[0]
        if kind == EXACT:  # by way of the text: correctly rounded, as a CSV file's cell is
            array = array.cast(pa.large_string())
        elif kind == TRUTH:
            array = array.cast(pa.uint8())
        return self._meant(kind, array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))

    def _of_moments(self, moments: Moments) -> NDArray[Any]:
        if isinstance(self._column, Category):
            distinct, places = moments.distinct()
            codes = np.array([self._code_of(text) for text in distinct.texts()], dtype=np.int32)
            return np.append(codes, self.nothing())[places]
        return self._since_first(moments.days())

    def _of_objects(self, kind: str, cells: list[Any]) -> NDArray[Any]:
        if isinstance(self._column, Category):
            return self._codes_of_objects(kind, cells)
        if not isinstance(self._column, Date):
            return self._meant(kind, numbers_of(kind, cells))
        if kind == MOMENT:
            return self._since_first(days_of(cells))
        digits = [str(cell) if cell is not None and cell.bit_length() < _MOST_BITS else None for cell in cells]
        return self._of_texts(pa.array(digits, pa.large_string()))[0]

    def _numpy(self, array: NDArray[Any], masked: NDArray[np.bool_] | None) -> Cells:
        number = not isinstance(self._column, (Category, Date))
        if number and masked is None and array.dtype.kind in "fiub":  # without the way through Arrow
            values = plain_numbers(array).astype(np.float64, copy=False)
            return self._meant(TRUTH if array.dtype.kind == "b" else WHOLE, values), None
        return super()._numpy(array, masked)

    def _meant(self, kind: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return numbers that are no texts as the column means them."""
        if not isinstance(self._column, Flag):
            return self._present(values)
        return flags_of(values, self._truths if kind == TRUTH else self._flags)

    def _since_first(self, days: NDArray[np.float64]) -> NDArray[np.float64]:
        assert isinstance(self._column, Date)  # noqa: S101  (for the type checker)
        return self._present(days - float((np.datetime64(self._column.first, "D") - np.datetime64(0, "D")).astype(int)))

    def _present(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values without those that are declared to mean "missing"."""
        if not self._missing.size:
            return values
        return np.where(np.isin(values, self._missing), np.nan, values)

    def _codes_of_texts(self, texts: Any) -> NDArray[np.int32]:
        if not self._labels:
            return self._int32(pc.index_in(texts, value_set=self._levels))
        distinct = texts.dictionary_encode()
        exact = pc.index_in(distinct.dictionary, value_set=self._levels)
        spelled = pc.index_in(folded(distinct.dictionary), value_set=self._spellings)
        meant = pa.array(list(self._labels.values()), pa.int32()).take(spelled)
        return self._int32(pc.coalesce(exact, meant).take(distinct.indices))

    @staticmethod
    def _int32(codes: Any) -> NDArray[np.int32]:
        return codes.fill_null(-1).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]

    def _codes_of_objects(self, kind: str, cells: list[Any]) -> NDArray[np.int32]:
        return np.array([self._code_of(text_of(kind, cell)) for cell in cells], dtype=np.int32)

    def _code_of(self, text: str | None) -> int:
        """Return the position of the level that the text of a number, a boolean or a date is, or -1."""
        if text is None:
            return -1
        lower = text.lower()
        return self._codes.get(text, self._codes.get(lower, self._labels.get(lower, -1)))
