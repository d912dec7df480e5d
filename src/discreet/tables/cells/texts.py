"""How texts become numbers and dates, as declared; nothing is guessed, and what cannot be read is missing."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.tables.cells.folding import folded
from discreet.tables.schema.columns import Date, Flag, Number, days_between

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.tables.schema.columns import Column, Reading

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
BLANK = "a cell is blank"
TEXT = "a cell is a text that is no number"
UNIT = "a cell has a unit sign (such as % or a currency) in a number; declare it as the column's `unit`"
GROUPED = "a cell groups its digits; declare `thousands` under [reading]"
COMMA = "a cell has a comma in a number; declare `decimal` or `thousands` under [reading]"
NO_FLAG = "a cell is neither 0, 1, true nor false; declare what its texts mean as the column's `labels`"
NO_DATE = "a cell is no date in the column's `format`"

_NUMBER = re.compile(NUMBER)
_WHOLE = re.compile(r"(0|-?[1-9][0-9]{0,14})\Z")
_WORDS = {"true": "1", "false": "0"}

# What no number contains: a mark that is not declared becomes it.
_NO_MARK = "#"


def values_of_texts(texts: Any, column: Column, reading: Reading) -> Any:
    """Return an Arrow array of doubles, null where a trimmed text is not what its column declares."""
    if isinstance(column, Date):
        return _days(texts, column)
    if isinstance(column, Flag):
        return _flags(texts, column, reading)
    if unit := getattr(column, "unit", None):
        mark = re.escape(unit)
        texts = pc.replace_substring_regex(texts, rf"^([+-]?)\s*{mark}\s*|\s*{mark}$", r"\1")
    return _numbers(texts, reading)


def _numbers(texts: Any, reading: Reading) -> Any:
    texts = _plain(texts, reading)
    numbers = pc.if_else(pc.equal(texts, ""), None, texts)
    values = _cast(numbers)
    if values is None:
        values = _cast(pc.if_else(pc.match_substring_regex(numbers, NUMBER), numbers, None))
    assert values is not None  # noqa: S101  (Arrow reads every text of that form)
    # Beyond that form Arrow reads "inf" and "nan" alone, which are missing as every number that is not finite.
    return values


def _flags(texts: Any, column: Flag, reading: Reading) -> Any:
    words = _WORDS | dict(column.labels)
    said = pc.index_in(folded(texts), value_set=pa.array(list(words), pa.large_string()))
    flags = pa.array([float(flag) for flag in words.values()]).take(said)
    numbers = _numbers(texts, reading).to_numpy(zero_copy_only=False)
    return pc.coalesce(flags, pa.array(flags_of(numbers, flag_meanings(column)[0]), from_pandas=True))


def flag_meanings(column: Flag) -> tuple[dict[float, float], dict[float, float]]:
    """Return what numbers and what booleans mean: a label that is a whole number or a truth holds for them, too."""
    words = _WORDS | dict(column.labels)
    numbers = {0.0: 0.0, 1.0: 1.0} | {float(word): float(flag) for word, flag in words.items() if _WHOLE.match(word)}
    return numbers, {1.0: float(words["true"]), 0.0: float(words["false"])}


def flags_of(values: NDArray[np.float64], meanings: dict[float, float]) -> NDArray[np.float64]:
    """Return 0 or 1 for numbers that mean it, NaN for all else."""
    if all(number == flag for number, flag in meanings.items()):
        known = (values == 0.0) | (values == 1.0)
        return values if known.all() else np.where(known, values, np.nan)
    flags = np.full(values.shape, np.nan)
    for number, flag in meanings.items():
        flags[values == number] = flag
    return flags


def missing_values(column: Column, reading: Reading) -> NDArray[np.float64]:
    """Return the numbers, or days, that are declared to mean "missing"."""
    if not isinstance(column, Number) or not reading.missing_tokens:
        return np.empty(0)
    tokens = [token.strip() for token in reading.missing_tokens]
    values = values_of_texts(pa.array(tokens, pa.large_string()), column, reading).drop_null().to_pylist()
    if not isinstance(column, Date):
        values += [float(token) for token in tokens if _NUMBER.match(token)]
    return np.array(values, dtype=np.float64)


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
