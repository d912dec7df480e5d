"""Cells that are Python objects, read one by one as numbers, so that none changes how another is read."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from datetime import date, time, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidData, InvalidType
from discreet.tables.cells.texts import NUMBER

if TYPE_CHECKING:
    from numpy.typing import NDArray

REMEDY = "Derive the number you mean in a column of its own, or declare the column in a `schema`."
_NUMBER = re.compile(NUMBER)
# What texts say of a missing cell, in small letters, and how floats that are none are spelled.
_MISSING_TEXTS = frozenset({"", "nan", "+nan", "-nan", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"})
# Objects that numpy converts one by one, exactly as `float` does.
_PLAIN = frozenset({float, int, bool, type(None), np.float64, np.float32, np.int64, np.int32, np.bool_})
_MOMENTS = (date, time, timedelta, np.datetime64, np.timedelta64)
# What `float` would take although it is none, or is one by accident.
_NO_NUMBERS = (bytes, complex, np.ndarray, np.bytes_, np.complexfloating, np.void, *_MOMENTS)
# Types of cells that are called missing: pandas' NA and NaT, numpy's masked constant.
_ABSENT = frozenset({"NoneType", "NAType", "NaTType", "MaskedConstant"})


def numbers_of_objects(cells: list[Any], where: str, name: str) -> NDArray[np.float64]:
    """Return cells as float64, NaN where one is missing or says nothing.

    Parameters
    ----------
    cells : list
        Private: numbers of any kind, texts of numbers, and None, NaN or NA for missing.
    where, name : str
        How messages call the column and the argument.

    Raises
    ------
    InvalidData
        If a cell is a text that is no number, a moment or a complex number.
    InvalidType
        If a cell is an object of another kind.
    """
    if set(map(type, cells)) <= _PLAIN:
        # A whole number beyond all doubles is missing, and the others are read all the same, below.
        with suppress(OverflowError):
            return np.array(cells, dtype=np.float64)
    found = [_number_of(cell) for cell in cells]
    wrong = {type(cell) for cell, number in zip(cells, found, strict=True) if number is None}
    if not wrong:
        return np.array(found, dtype=np.float64)
    moments = sorted(kind.__name__ for kind in wrong if issubclass(kind, _MOMENTS))
    if moments:
        raise InvalidData(f"{where} has a cell of the type {moments[0]}, which is no number. {REMEDY}")
    if all(issubclass(kind, str) for kind in wrong):
        raise InvalidData(f"{where} has a cell that is not a number. Declare categories in a schema, or encode them.")
    if any(issubclass(kind, (complex, np.complexfloating)) for kind in wrong):
        raise InvalidData(f"Complex data not supported in `{name}`. Give real numbers.")
    kind = min(kind.__name__ for kind in wrong if not issubclass(kind, str))
    raise InvalidType(
        f"Each cell of the `{name}` argument must be a string of digits or a real number; {where} has one of the type "
        f"{kind}."
    )


def _number_of(cell: Any) -> float | None:
    """Return a cell as a float, NaN where it is missing, and None where it is no number."""
    if type(cell).__name__ in _ABSENT:
        return math.nan
    if isinstance(cell, str):
        return _number_of_text(str.strip(cell))
    if isinstance(cell, _NO_NUMBERS) or not hasattr(type(cell), "__float__"):
        return None
    try:
        return float(cell)
    except Exception:  # noqa: BLE001  (whatever the object raises, the cell is missing)
        return math.nan


def _number_of_text(text: str) -> float | None:
    if _NUMBER.match(text):
        return float(text)
    return math.nan if text.lower() in _MISSING_TEXTS else None
