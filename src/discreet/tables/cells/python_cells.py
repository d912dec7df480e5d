"""Cells that are Python objects: which kind each one is, by its type alone, and what numbers and texts they are.

An object of any other type says nothing: its methods are not called, and its cell is missing.
"""

from __future__ import annotations

import math
import numbers
import operator
import uuid
import warnings
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from discreet.tables.cells.moments import text_of_moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

TEXT, TRUTH, WHOLE, EXACT, MOMENT = "text", "truth", "whole number", "exact number", "moment"
FLOAT = "float64"
# From here on a float of the kind may stand for several whole numbers.
WHOLE_LIMITS = {"float16": 2.0**11, "float32": 2.0**24, FLOAT: 2.0**53}
# The first that fits; NumPy calls a difference of times an integer.
_KINDS: tuple[tuple[Any, str | None], ...] = (
    ((str, uuid.UUID), TEXT),
    ((bool, np.bool_), TRUTH),
    (np.timedelta64, None),
    ((date, np.datetime64), MOMENT),
    ((int, np.integer, numbers.Integral), WHOLE),
    ((Decimal, Fraction), EXACT),
    ((float, numbers.Real), FLOAT),
)
_NUMPY_FLOATS: dict[type, str] = {np.float16: "float16", np.float32: "float32", np.float64: FLOAT}
# Python's own types, of which a column need not be sorted.
_TYPES_OF: dict[str, tuple[type, ...]] = {TEXT: (str,), WHOLE: (int,), FLOAT: (float,)}
# Python itself writes longer whole numbers only when told to.
_MOST_BITS = 10_000
# Numbers with more places are written with an exponent.
_MOST_PLACES = 100_000


def _kind_of(kind: type) -> str | None:
    """Return the kind of cells of a type, or None if they say nothing."""
    if issubclass(kind, np.floating):
        return _NUMPY_FLOATS.get(kind, EXACT)
    return next((meaning for types, meaning in _KINDS if issubclass(kind, types)), None)


def by_kind(cells: list[Any]) -> Iterator[tuple[str, NDArray[np.intp] | slice, list[Any]]]:
    """Yield kinds of cells, where they stand, and the cells as plain Python objects or None; others say nothing."""
    kinds = {kind: _kind_of(kind) for kind in set(map(type, cells))}
    found = sorted({kind for kind in kinds.values() if kind is not None})
    if len(found) == 1 and kinds.keys() <= {*_TYPES_OF.get(found[0], ()), type(None)}:
        yield found[0], slice(None), cells
        return
    numbers_of_types = {kind: found.index(meaning) if meaning else -1 for kind, meaning in kinds.items()}
    which = np.fromiter(map(numbers_of_types.__getitem__, map(type, cells)), np.int8, len(cells))
    for number, meaning in enumerate(found):
        places = np.flatnonzero(which == number)
        yield meaning, places, _plain(meaning, [cells[place] for place in places.tolist()])


def _plain(kind: str, cells: list[Any]) -> list[Any]:
    if kind == TEXT:
        return [cell if type(cell) is str else _text(cell) for cell in cells]
    if kind == TRUTH:
        return list(map(bool, cells))
    if kind == WHOLE:
        return [cell if type(cell) is int else _silently(_whole, cell) for cell in cells]
    if kind in WHOLE_LIMITS:
        return [cell if type(cell) is float else _silently(_float, cell) for cell in cells]
    return cells


def _text(cell: Any) -> str | None:
    if isinstance(cell, str):
        return str.__str__(cell)
    return str(cell) if type(cell) is uuid.UUID else None


def _whole(cell: Any) -> int:
    return int.__index__(cell) if isinstance(cell, int) else operator.index(cell)


def _float(cell: Any) -> float:
    return float.__float__(cell) if isinstance(cell, float) else float(cell)


def _silently(convert: Callable[[Any], float], cell: Any) -> float | None:
    """Return a number of a type that may be anybody's, or None: whatever it raises or warns, its cell is missing."""
    if isinstance(cell, (np.generic, int, float)):
        return convert(cell)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return convert(cell)
    except Exception:  # noqa: BLE001
        return None


def texts_of(cells: list[str | None]) -> Any:
    """Return texts as an Arrow array; one with a lone surrogate is missing."""
    try:
        return pa.array(cells, pa.large_string())
    except UnicodeEncodeError:
        pass
    return pa.array([cell if cell is not None and _is_unicode(cell) else None for cell in cells], pa.large_string())


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def numbers_of(kind: str, cells: list[Any]) -> NDArray[np.float64]:
    """Return the doubles nearest to numbers, NaN where there is none."""
    if kind in WHOLE_LIMITS:
        return np.array(cells, dtype=np.float64)
    with np.errstate(all="ignore"):  # of a long double that is too long
        return np.array([math.nan if cell is None else _nearest(cell) for cell in cells], dtype=np.float64)


def _nearest(cell: Any) -> float:
    try:
        return float(cell)
    except Exception:  # noqa: BLE001  (too large, a signal, or whatever a subclass raises)
        return math.nan


def text_of(kind: str, cell: Any) -> str | None:
    """Return what a cell that is no text says, one text for one meaning, or None where it says nothing.

    A float that may stand for several whole numbers says nothing.
    """
    if cell is None:
        return None
    if kind == MOMENT:
        return text_of_moment(cell)
    if kind in WHOLE_LIMITS:
        return _text_of_float(cell, WHOLE_LIMITS[kind])
    try:
        return _text_of_exact(cell) if kind == EXACT else _text_of_whole(cell) if kind == WHOLE else str(cell)
    except Exception:  # noqa: BLE001  (whatever a subclass raises, its cell is missing)
        return None


def any_ambiguous(kind: str, cells: list[Any]) -> bool:
    """Whether one of the cells is a float that may stand for several whole numbers."""
    if kind == EXACT:  # longer than a double
        longer = [cell for cell in cells if isinstance(cell, np.floating)]
        near = numbers_of(kind, longer)
        return any_ambiguous(FLOAT, near.tolist()) or any(
            math.isfinite(double) and double != cell for double, cell in zip(near.tolist(), longer, strict=True)
        )
    if kind not in WHOLE_LIMITS:
        return False
    sizes = np.abs(numbers_of(kind, cells))
    return bool((np.isfinite(sizes) & (sizes >= WHOLE_LIMITS[kind])).any())


def _text_of_float(number: float, limit: float) -> str | None:
    if not abs(number) < limit:  # NaN and infinities too
        return None
    return str(int(number)) if number.is_integer() else repr(number)


def _text_of_whole(number: int) -> str:
    return str(number) if number.bit_length() < _MOST_BITS else str(_text_of_decimal(Decimal(number)))


def _text_of_exact(number: Any) -> str | None:
    if isinstance(number, np.floating):  # longer than a double
        near = _nearest(number)
        return _text_of_float(near, WHOLE_LIMITS[FLOAT]) if near == number else None
    return _text_of_fraction(number) if isinstance(number, Fraction) else _text_of_decimal(number)


def _text_of_fraction(number: Fraction) -> str:
    if number.denominator == 1:
        return _text_of_whole(number.numerator)
    near = _nearest(number)
    return repr(near) if near == number else f"{number.numerator}/{number.denominator}"


def _text_of_decimal(number: Decimal) -> str | None:
    if not number.is_finite():
        return None
    if number == 0:
        return "0"
    if abs(number.adjusted()) <= _MOST_PLACES:
        text = format(number, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    sign, digits, _ = number.as_tuple()
    return f"{'-' * sign}{''.join(map(str, digits)).strip('0')}E{number.adjusted()}"
