"""What holds a cell does not matter: one walk through the types of Arrow, NumPy and Python for all that is read.

A type is public, and one that has no meaning for a declaration is refused by name. Nothing here infers a type from
cells, and nothing raises on a cell.
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.tables.cells.moments import Moments, day_of, knows_zone
from discreet.tables.cells.python_cells import EXACT, FLOAT, MOMENT, TEXT, TRUTH, WHOLE, by_kind, texts_of

if TYPE_CHECKING:
    from discreet.errors import InvalidData

Cells = tuple[NDArray[Any], "str | None"]
_FLOATS = {2: "float16", 4: "float32", 8: FLOAT}
ALL_KINDS = frozenset({TEXT, TRUTH, WHOLE, EXACT, MOMENT, *_FLOATS.values()})

_NUMPY_KINDS = {"b": TRUTH, "i": WHOLE, "u": WHOLE, "f": FLOAT, "M": MOMENT}
_ARROW_KINDS = (
    (pa.types.is_string, TEXT),
    (pa.types.is_large_string, TEXT),
    (pa.types.is_string_view, TEXT),
    (pa.types.is_boolean, TRUTH),
    (pa.types.is_integer, WHOLE),
    (pa.types.is_decimal, EXACT),
    (pa.types.is_date, MOMENT),
    (pa.types.is_timestamp, MOMENT),
)


class CellReader(ABC):
    """Reads the cells of one column, whatever holds them; each cell by itself.

    Parameters
    ----------
    name : str
        The column.
    kinds : frozenset of str
        The kinds of cells that have a meaning here. A column whose type is another one is refused; a Python object of
        another kind is missing.
    tells : bool
        Whether something is said of cells: a refusal, or what trouble there is.
    """

    __slots__ = ("_kinds", "_tells", "name")

    def __init__(self, name: str, kinds: frozenset[str], *, tells: bool) -> None:
        self.name = name
        self._kinds = kinds
        self._tells = tells

    def from_arrow(self, array: Any) -> Cells:
        """Return the cells of an Arrow array, and what kind of trouble the missing ones have, if it matters.

        Raises
        ------
        InvalidData
            If the array's type has no meaning here; names the column and the type.
        """
        return self._arrow(array)

    def from_numpy(self, array: NDArray[Any]) -> Cells:
        """Return the cells of a one-dimensional NumPy array, as `from_arrow` does; a masked cell is missing."""
        masked = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
        return self._numpy(np.asarray(array), masked)

    def from_objects(self, objects: list[Any]) -> Cells:
        """Return cells that are Python objects of any kind, as `from_arrow` does."""
        found = np.repeat(self.nothing(), len(objects))
        troubles = []
        for kind, places, cells in by_kind(objects):
            if kind not in self._kinds:
                continue
            if kind == TEXT:
                found[places], trouble = self._of_texts(texts_of(cells))
                troubles.append(trouble)
            else:
                found[places] = self._of_objects(kind, cells)
        return found, next((trouble for trouble in troubles if trouble is not None), None)

    @abstractmethod
    def refusal(self, kind: Any) -> InvalidData:
        """Return the error for a column of a type that has no meaning here; it names the column and the type."""

    @abstractmethod
    def nothing(self) -> NDArray[Any]:
        """Return one missing cell, shape (1,)."""

    @abstractmethod
    def _of_texts(self, texts: Any) -> Cells:
        """Return what large strings of Arrow say."""

    @abstractmethod
    def _of_values(self, kind: str, array: Any) -> NDArray[Any]:
        """Return what an Arrow array of booleans, integers, floats or decimals says."""

    @abstractmethod
    def _of_moments(self, moments: Moments) -> NDArray[Any]:
        """Return what dates and times say."""

    @abstractmethod
    def _of_objects(self, kind: str, cells: list[Any]) -> NDArray[Any]:
        """Return what Python objects of one kind other than texts say; None is missing."""

    def _arrow(self, array: Any) -> Cells:
        if pa.types.is_dictionary(array.type):
            return self._dictionary(array)
        if pa.types.is_run_end_encoded(array.type):
            runs = pa.RunEndEncodedArray.from_arrays(
                array.run_ends, pa.array(np.arange(len(array.values)), pa.int64())
            ).slice(array.offset, len(array))
            places = pc.run_end_decode(runs).to_numpy(zero_copy_only=False)
            return self._taken(array.values, places)
        if pa.types.is_null(array.type):
            return np.repeat(self.nothing(), len(array)), None
        kind = kind_of_arrow(array.type)
        if kind is None or kind not in self._kinds:
            raise self.refusal(array.type)
        if isinstance(array, pa.ExtensionArray):
            array = _meant(array)
        if kind == TEXT:
            return self._texts(array)
        if kind != MOMENT:
            return self._of_values(kind, array), None
        if getattr(array.type, "tz", None) is not None and not knows_zone(array.type.tz):
            raise self.refusal(array.type)
        return self._of_moments(Moments.of_arrow(array)), None

    def _texts(self, array: Any) -> Cells:
        with suppress(pa.ArrowInvalid, UnicodeDecodeError):  # they quote cells
            return self._of_texts(array.cast(pa.large_string(), safe=False))
        return self._of_texts(unicode_of(array))

    def _dictionary(self, array: Any) -> Cells:
        indices = array.indices
        places = indices.cast(pa.int64(), safe=False).fill_null(-1).to_numpy(zero_copy_only=False)
        # Arrow does not check them. One below 0 may also be an unsigned one that is too large.
        known = (places >= 0) & (places < len(array.dictionary))
        return self._taken(array.dictionary, places if known.all() else np.where(known, places, -1))

    def _taken(self, values: Any, places: NDArray[np.int64]) -> Cells:
        """Return what the values at some places say; -1 is missing, and a value at no place does not matter."""
        if self._tells:
            used = np.bincount(places + 1, minlength=len(values) + 1)[1:] > 0
            values = values.filter(pa.array(used))
            places = np.append(np.cumsum(used) - 1, -1)[places]
        found, trouble = self._arrow(values)
        return np.append(found, self.nothing())[places], trouble

    def _numpy(self, array: NDArray[Any], masked: NDArray[np.bool_] | None) -> Cells:
        letter = array.dtype.kind
        if letter in "OUT":
            cells = array.tolist()
            if masked is not None:
                cells = [None if hidden else cell for cell, hidden in zip(cells, masked.tolist(), strict=True)]
            return self.from_objects(cells)
        if _NUMPY_KINDS.get(letter) not in self._kinds:
            raise self.refusal(array.dtype)
        if letter != "M":
            return self._arrow(pa.array(plain_numbers(array), mask=masked))
        moments = Moments.of_numpy(array)
        if masked is not None:
            moments.known[masked] = False
        return self._of_moments(moments), None


def kind_of_arrow(kind: Any) -> str | None:
    """Return the kind of cells of an Arrow type, or None where it has no meaning to us."""
    if isinstance(kind, pa.BaseExtensionType):
        return {"arrow.uuid": TEXT, "arrow.bool8": TRUTH}.get(kind.extension_name)
    if pa.types.is_floating(kind):
        return _FLOATS[kind.bit_width // 8]
    return next((meaning for is_one, meaning in _ARROW_KINDS if is_one(kind)), None)


def _meant(array: Any) -> Any:
    """Return the texts of identifiers and the booleans that are kept in bytes."""
    storage = array.storage
    if pa.types.is_integer(storage.type):
        return pc.not_equal(storage, 0)
    return pa.array(
        [None if cell is None else str(uuid.UUID(bytes=cell)) for cell in storage.to_pylist()], pa.large_string()
    )


def unicode_of(array: Any) -> Any:
    """Return Arrow texts as large strings; one whose bytes are no UTF-8 is missing."""
    with suppress(pa.ArrowInvalid):
        array.validate(full=True)
        return array.cast(pa.large_string())
    raw = array.cast(pa.binary_view() if pa.types.is_string_view(array.type) else pa.large_binary()).to_pylist()
    return pa.array([None if cell is None else _decoded(cell) for cell in raw], pa.large_string())


def _decoded(cell: bytes) -> str | None:
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return None


def plain_numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in the byte order of the machine and in a type that Arrow has."""
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        with np.errstate(all="ignore"):
            return array.astype(np.float64)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def days_of(cells: list[Any]) -> NDArray[np.float64]:
    """Return the calendar days of Python dates since 1970-01-01, NaN for missing."""
    return np.array([day_of(cell) for cell in cells], dtype=np.float64)


def distinct_of(array: Any) -> Any:
    """Return an Arrow array of values as a dictionary array, which holds no value that no cell has."""
    if pa.types.is_decimal(array.type) and array.type.bit_width < 128:  # Arrow cannot encode it
        array = array.cast(pa.decimal128(array.type.precision, array.type.scale))
    return array.dictionary_encode()
