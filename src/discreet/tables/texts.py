"""How texts become numbers and dates, as declared; nothing is guessed, and what cannot be read is missing."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.tables.columns import Date, Flag, days_between

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.tables.columns import Column, Reading

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
BLANK = "a cell is blank"
TEXT = "a cell is a text that is no number"
UNIT = "a cell has a unit sign (such as % or a currency) in a number; declare it as the column's `unit`"
GROUPED = "a cell groups its digits; declare `thousands` under [reading]"
COMMA = "a cell has a comma in a number; declare `decimal` or `thousands` under [reading]"
NO_FLAG = "a cell is neither 0, 1, true nor false; declare what its texts mean as the column's `labels`"
NO_DATE = "a cell is no date in the column's `format`"

# What no number contains: a mark that is not declared becomes it.
_NO_MARK = "#"


def values_of_texts(texts: Any, column: Column, reading: Reading) -> Any:
    """Return an Arrow array of doubles, null where a trimmed text is not what its column declares."""
    if isinstance(column, Date):
        return _days(texts, column)
    if isinstance(column, Flag):
        lower, meanings = pc.utf8_lower(texts), {"true": "1", "false": "0"} | dict(column.labels)
        for word, digit in meanings.items():
            texts = pc.if_else(pc.fill_null(pc.equal(lower, word), False), digit, texts)
    elif unit := getattr(column, "unit", None):
        mark = re.escape(unit)
        texts = pc.replace_substring_regex(texts, rf"^([+-]?)\s*{mark}\s*|\s*{mark}$", r"\1")
    texts = _plain(texts, reading)
    numbers = pc.if_else(pc.equal(texts, ""), None, texts)
    values = _cast(numbers)
    if values is None:
        values = _cast(pc.if_else(pc.match_substring_regex(numbers, NUMBER), numbers, None))
    assert values is not None  # noqa: S101  (Arrow reads every text of that form)
    return values


def _plain(texts: Any, reading: Reading) -> Any:
    """Return numbers without their grouping, with a point before the fraction."""
    point = re.escape(reading.decimal)
    if reading.thousands is not None:
        mark = re.escape(reading.thousands)
        grouped = pc.match_substring_regex(texts, rf"^[+-]?[0-9]{{1,3}}({mark}[0-9]{{3}})+({point}[0-9]*)?$")
        plain = pc.replace_substring(texts, reading.thousands, "")
        texts = pc.if_else(pc.fill_null(grouped, False), plain, texts)
    if reading.decimal != ".":
        texts = pc.replace_substring(texts, ".", _NO_MARK)
        texts = pc.replace_substring(texts, reading.decimal, ".")
    return texts


def _cast(texts: Any) -> Any:
    """Return texts as doubles, correctly rounded, or None where one of them is no number."""
    try:
        return texts.cast(pa.float64())
    except pa.ArrowInvalid:
        return None


def _days(texts: Any, column: Date) -> Any:
    distinct = texts.dictionary_encode()
    days = pa.array([_day(text, column) for text in distinct.dictionary.to_pylist()], pa.float64())
    return days.take(distinct.indices)


def _day(text: str | None, column: Date) -> float | None:
    # The error of a text in another form quotes it.
    with suppress(ValueError, TypeError):
        moment = datetime.strptime(text, column.format)  # type: ignore[arg-type]  # noqa: DTZ007  (a day has no zone)
        return float(days_between(column.first, moment.date()))
    return None


def days_of_objects(objects: list[Any], column: Date) -> NDArray[np.float64]:
    """Return Python dates as days; NaN for all else."""
    days = np.full(len(objects), np.nan)
    for place, cell in enumerate(objects):
        if isinstance(cell, date):
            # pandas calls a missing date a datetime, too.
            with suppress(ValueError, TypeError):
                days[place] = days_between(column.first, cell.date() if isinstance(cell, datetime) else cell)
    return days


def days_of_numpy(array: NDArray[Any], column: Date) -> NDArray[np.float64]:
    """Return NumPy dates as days; NaN for "not a time"."""
    days = array.astype("datetime64[D]")
    counted = (days - np.datetime64(column.first, "D")).astype(np.float64)
    return np.where(np.isnat(days), np.nan, counted)


def trouble_of_texts(texts: Any, values: Any, column: Column) -> str:
    """Say what kind of trouble the missing cells of a column of texts have, without quoting one."""
    wrong = texts.filter(pc.is_null(values))
    wrong = wrong.filter(pc.fill_null(pc.not_equal(wrong, ""), False))
    if isinstance(column, (Date, Flag)):
        return BLANK if len(wrong) == 0 else NO_DATE if isinstance(column, Date) else NO_FLAG
    for pattern, trouble in (
        (r"^[+-]?[0-9]{1,3}([,' _\x{00a0}\x{202f}.][0-9]{3})+([.,][0-9]*)?$", GROUPED),
        (r"^[+-]?[0-9]*,[0-9]+$", COMMA),
        (r"^[^0-9a-zA-Z.+-]\s*[0-9.]+$|^[+-]?[0-9.,]+\s*[^0-9a-zA-Z.\s]$", UNIT),
        ("", TEXT),
    ):
        if pc.any(pc.match_substring_regex(wrong, pattern)).as_py():
            return trouble
    return BLANK
