"""What can be declared about one column of a private table, and how its cells are read.

Everything here is declared by a person before a row is read, and nothing is ever computed from the rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, Literal

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.bounds import check_limits
from discreet.tables.readers.encodings import encoding_name


@dataclass(frozen=True, slots=True)
class Constant:
    """A declared public value that is put in the place of every missing cell.

    Parameters
    ----------
    value : float or str
        In the units of its column, or one of its levels.
    """

    value: float | str


Missing = Literal["error", "drop"] | Constant
Labels = Mapping[str, Any] | tuple[tuple[str, str], ...]


def _missing(value: Any) -> Missing:
    """Return a policy: "error", "drop", or a Constant (a bare value is taken as one)."""
    if isinstance(value, Constant) or (isinstance(value, str) and value in {"error", "drop"}):
        return value  # type: ignore[return-value]
    return Constant(value)


@dataclass(frozen=True, slots=True)
class Number:
    """A declared number.

    Parameters
    ----------
    lower, upper : float
        Public limits in the column's own units, ``lower < upper``, both finite; cells outside are clipped.
    missing : "error", "drop", or a constant
        What happens to a record whose cell is missing, not a number, or not finite.
        "error" (the default) is the data owner's check and stops before anything is charged; with "drop" the record
        contributes nothing; a constant within the limits is put in its place.
    description : str, optional
        For people.
    unit : str, optional
        A sign such as "%" or "$" that may stand before or after the numbers of a text file, and is taken off.

    Raises
    ------
    InvalidArgument
        If a limit is not finite or not below the other, the constant lies outside them, or the unit could be part of
        a number.

    Examples
    --------
    >>> Number(17, 90).upper
    90.0
    """

    lower: float
    upper: float
    missing: Missing | float = field(default="error", kw_only=True)
    description: str | None = field(default=None, kw_only=True)
    unit: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        lower, upper = check_limits(self.lower, self.upper, column="a Number")
        missing = _missing(self.missing)
        if isinstance(missing, Constant):
            value = _checks.finite_float(missing.value, "missing")
            if not lower <= value <= upper:
                raise InvalidArgument(
                    f"`missing` must be a constant within the bounds {lower!r} and {upper!r}; found {value!r}."
                )
            missing = Constant(value)
        unit: Any = self.unit
        if unit is not None and (not isinstance(unit, str) or not unit.strip() or set(unit) & set("0123456789.,+-")):
            raise InvalidArgument('`unit` must be a text without digits and signs of numbers, such as "%".')
        _checks.set_fields(self, lower=lower, upper=upper, missing=missing, unit=None if unit is None else unit.strip())


@dataclass(frozen=True, init=False)
class Date(Number):
    """A declared date; as a number it counts the days since its lower limit.

    Parameters
    ----------
    lower, upper : datetime.date or str
        Public limits, ``lower < upper``; a text is in the form 2016-09-30. Dates outside are clipped.
    format : str, default "%Y-%m-%d"
        How a text file writes dates, in the letters of `datetime.strptime`: "%d/%m/%Y" for 30/9/2016.
        Nothing is guessed: a text in another form is missing. Times of the day are not told apart.
    missing : "error", "drop", or a constant
        As for `Number`; a constant is a date.
    description : str, optional
        For people.

    Raises
    ------
    InvalidArgument
        If a limit is no date or not before the other, the format names no day, or the constant lies outside them.

    Examples
    --------
    >>> opened = Date("2016-01-01", "2016-12-31", format="%d/%m/%Y")
    >>> opened.lower, opened.upper, opened.first.isoformat()
    (0.0, 365.0, '2016-01-01')
    """

    first: date
    format: str

    def __init__(
        self,
        lower: Any,
        upper: Any,
        *,
        format: str = "%Y-%m-%d",  # noqa: A002  (the word of every date library)
        missing: Any = "error",
        description: str | None = None,
    ) -> None:
        first, last = _date(lower, "lower"), _date(upper, "upper")
        if not first < last:
            raise InvalidArgument(f"`lower` must be before `upper`; found {first} and {last}.")
        if not isinstance(format, str) or not all(any(part in format for part in parts) for parts in _DATE_PARTS):
            raise InvalidArgument('`format` must name year, month and day, such as "%d/%m/%Y".')
        if not _is_format(format):
            raise InvalidArgument(
                f'`format` {format!r} is none that datetime.strptime reads. Name every part once, such as "%d/%m/%Y".'
            )
        policy = _missing(missing)
        if isinstance(policy, Constant):
            policy = Constant(float(days_between(first, _date(policy.value, "missing"))))
        _checks.set_fields(self, first=first, format=format)
        Number.__init__(self, 0.0, float(days_between(first, last)), missing=policy, description=description)

    @property
    def last(self) -> date:
        """The upper limit."""
        return self.first + timedelta(days=int(self.upper))


# A format needs one of each.
_DATE_PARTS = (("%Y", "%y"), ("%m", "%b", "%B"), ("%d",))


def _is_format(text: str) -> bool:
    """Return whether Python can read dates in a form: it does not know every letter that C knows, nor one twice."""
    try:
        datetime.strptime("", text)  # noqa: DTZ007  (nothing is read)
    except ValueError as error:
        return str(error).startswith("time data ")
    except re.error:
        return False
    return True


def days_between(first: date, other: date) -> int:
    """Return the number of days from one date to another."""
    return (other - first).days


def _date(value: Any, name: str) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    raise InvalidArgument(f"`{name}` of a Date must be a date, or a text such as 2016-09-30.")


@dataclass(frozen=True, slots=True)
class Category:
    """A declared category.

    Parameters
    ----------
    levels : sequence of str or int
        The public code list, at least two, distinct; an integer stands for its decimal text.
        A cell is compared as text, exactly: "01234" is not "1234".
        The first level is the reference of models with an intercept.
    missing : "error", "drop", or a constant
        As for `Number`; an undeclared level counts as missing; a constant is one of the levels.
        A level that is itself called "error" or "drop" is written ``Constant("drop")``.
    description : str, optional
        For people.
    labels : mapping of str to str, optional
        Other spellings of levels, whatever their case: ``{"female": "F", "f": "F"}``.

    Raises
    ------
    InvalidArgument
        If there are fewer than two levels, one stands twice, the constant is none of them, or a label means none.

    Examples
    --------
    >>> Category(["NA", "NO", "SE"]).levels
    ('NA', 'NO', 'SE')
    """

    levels: tuple[str, ...]
    missing: Missing | str = field(default="error", kw_only=True)
    description: str | None = field(default=None, kw_only=True)
    labels: Labels = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        levels = levels_of(self.levels)
        missing = _missing(self.missing)
        if isinstance(missing, Constant):
            missing = Constant(_level(missing.value))
            if missing.value not in levels:
                raise InvalidArgument("`missing` must be a constant that is one of the levels; found another one.")
        _checks.set_fields(self, levels=levels, missing=missing, labels=_labels(self.labels, levels))


@dataclass(frozen=True, slots=True)
class Flag:
    """A declared yes-or-no column that counts as 0 or 1.

    Parameters
    ----------
    missing : "error", "drop", or a constant
        As for `Number`; every cell that is none of 0, 1, true and false (in any case) counts as missing;
        a constant is 0 or 1.
    description : str, optional
        For people.
    labels : mapping of str to int, optional
        What other texts mean, whatever their case: ``{"yes": 1, "no": 0}``.

    Examples
    --------
    >>> Flag(missing=0).missing
    Constant(value=0.0)
    """

    missing: Missing | float = field(default="error", kw_only=True)
    description: str | None = field(default=None, kw_only=True)
    labels: Labels = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        missing = _missing(self.missing)
        if isinstance(missing, Constant):
            known = {0: 0.0, 1: 1.0}  # False and True are equal to them
            value = known.get(missing.value) if isinstance(missing.value, (int, float)) else None  # type: ignore[call-overload]
            if value is None:
                raise InvalidArgument('`missing` of a flag must be "error", "drop" or the constant 0 or 1.')
            missing = Constant(value)
        _checks.set_fields(self, missing=missing, labels=_labels(self.labels, ("0", "1")))


Column = Number | Category | Flag


def _level(value: Any) -> str:
    if isinstance(value, str):
        return _unicode(value, "A level")
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InvalidType(f"A level must be a text or a whole number; found {type(value).__name__}.")
    return str(int(value))


def _labels(values: Any, levels: tuple[str, ...]) -> Labels:
    """Return other spellings as pairs (spelling without case, level)."""
    pairs = values.items() if isinstance(values, Mapping) else values
    labels: dict[str, str] = {}
    for spelling, meaning in pairs:
        if not isinstance(spelling, str):
            raise InvalidType(f"A key of `labels` must be a text; found {type(spelling).__name__}.")
        level, folded = str(int(meaning)) if isinstance(meaning, bool) else _level(meaning), _folded(spelling)
        if level not in levels:
            raise InvalidArgument(f"`labels` must map to {', '.join(map(repr, levels))}; found {level!r}.")
        if labels.setdefault(folded, level) != level:
            raise InvalidArgument(
                f"`labels` gives {folded!r} two meanings; upper and lower case are the same. Remove one."
            )
    return tuple(labels.items())


def _folded(spelling: str) -> str:
    from discreet.tables.cells.folding import folded_text

    return folded_text(_unicode(spelling, "A key of `labels`"))


def _unicode(text: str, what: str) -> str:
    """Return a text if it can be UTF-8."""
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InvalidArgument(f"{what} holds half of a surrogate pair, which no text of a table does. Correct it.")
    return text


def levels_of(values: Any) -> tuple[str, ...]:
    """Return declared levels as texts; refuse what is no sequence, too few, or a level that stands twice."""
    if isinstance(values, (str, bytes, Mapping, AbstractSet)) or not hasattr(values, "__iter__"):
        raise InvalidType(f"`levels` must be a sequence of texts or whole numbers; found {type(values).__name__}.")
    levels = tuple(map(_level, values))
    twice = sorted({level for level in levels if levels.count(level) > 1}) if len(set(levels)) < len(levels) else []
    if twice:
        raise InvalidArgument(f"`levels` must be distinct; {', '.join(map(repr, twice))} stands twice.")
    if len(levels) < 2:
        raise InvalidArgument(f"`levels` must hold at least two levels; found {len(levels)}.")
    return levels


@dataclass(frozen=True, slots=True)
class Reading:
    """How text files are read.

    Parameters
    ----------
    delimiter : str
        One character between the cells of a line.
    missing_tokens : tuple of str
        Cells of number columns that mean "missing" although they may be numbers, such as "-9"; in text columns the
        declared levels decide, so "NA" may be a level.
    thousands : str, optional
        One character that groups digits, such as "," in 54,908.
    decimal : str, default "."
        One character before the fraction of a number: "," in 3,14.
    encoding : str, default "utf-8"
        How bytes mean letters, by a name that Python knows, such as "windows-1252" or "utf-16"; one in which a line
        feed always ends a line.
    quote : '"' or "none", default '"'
        What may stand around a cell, and is doubled within; "none" where quotes are ordinary marks.
    newlines_in_cells : bool, default False
        Whether quoted cells may hold line ends. A record is then no line, and a malformed one may hide those behind
        it: neighbours differ in cells of files whose writer doubles quotes (RFC 4180).

    Raises
    ------
    InvalidArgument
        If one of them cannot be used, or two of them are the same character.
    """

    delimiter: str = ","
    missing_tokens: tuple[str, ...] = ()
    thousands: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    quote: Literal['"', "none"] = '"'
    newlines_in_cells: bool = False

    def __post_init__(self) -> None:
        if (
            not isinstance(self.delimiter, str)
            or len(self.delimiter) != 1
            or self.delimiter in '"\r\n\0'
            or not self.delimiter.isascii()
        ):
            raise InvalidArgument("`delimiter` must be one ASCII character other than a quote or a line end.")
        if self.quote not in {'"', "none"}:
            raise InvalidArgument('`quote` must be \'"\' or "none".')
        if not isinstance(self.newlines_in_cells, bool):
            raise InvalidArgument("`newlines_in_cells` must be True or False.")
        if self.newlines_in_cells and self.quote == "none":
            raise InvalidArgument(
                '`newlines_in_cells` needs quotes around the cells that hold line ends, and `quote` is "none". '
                "Declare one of them."
            )
        tokens: Any = self.missing_tokens
        if isinstance(tokens, str) or not all(isinstance(token, str) for token in tokens):
            raise InvalidType("`missing_tokens` must be a sequence of texts.")
        if not isinstance(self.decimal, str) or len(self.decimal) != 1 or self.decimal in '0123456789+-eE"\r\n':
            raise InvalidArgument("`decimal` must be one character that cannot be part of a whole number.")
        if self.thousands is not None and (
            not isinstance(self.thousands, str)
            or len(self.thousands) != 1
            or self.thousands in f'0123456789{self.decimal}+-eE"'
        ):
            raise InvalidArgument("`thousands` must be one character that cannot be part of a plain number.")
        if self.decimal == self.delimiter:
            raise InvalidArgument(
                f"`decimal` and `delimiter` must differ; both are {self.decimal!r}. Declare the delimiter, often ';'."
            )
        _checks.set_fields(self, missing_tokens=tuple(tokens), encoding=encoding_name(self.encoding))
