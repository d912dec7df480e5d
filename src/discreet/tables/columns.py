"""What can be declared about one column of a private table, and how its cells are read.

Everything here is declared by a person before a row is read, and nothing is ever computed from the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Literal

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.bounds import check_limits


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

    Raises
    ------
    InvalidArgument
        If a limit is not finite or not below the other, or the constant lies outside them.

    Examples
    --------
    >>> Number(17, 90)
    Number(lower=17.0, upper=90.0, missing='error', description=None)
    """

    lower: float
    upper: float
    missing: Missing | float = field(default="error", kw_only=True)
    description: str | None = field(default=None, kw_only=True)

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
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        object.__setattr__(self, "missing", missing)


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

    Raises
    ------
    InvalidArgument
        If there are fewer than two levels, one stands twice, or the constant is none of them.

    Examples
    --------
    >>> Category(["NA", "NO", "SE"]).levels
    ('NA', 'NO', 'SE')
    """

    levels: tuple[str, ...]
    missing: Missing | str = field(default="error", kw_only=True)
    description: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        levels = levels_of(self.levels)
        missing = _missing(self.missing)
        if isinstance(missing, Constant):
            missing = Constant(_level(missing.value))
            if missing.value not in levels:
                raise InvalidArgument("`missing` must be a constant that is one of the levels; found another one.")
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "missing", missing)


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

    Examples
    --------
    >>> Flag(missing=0).missing
    Constant(value=0.0)
    """

    missing: Missing | float = field(default="error", kw_only=True)
    description: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        missing = _missing(self.missing)
        if isinstance(missing, Constant):
            known = {0: 0.0, 1: 1.0}  # False and True are equal to them
            value = known.get(missing.value) if isinstance(missing.value, (int, float)) else None  # type: ignore[call-overload]
            if value is None:
                raise InvalidArgument('`missing` of a flag must be "error", "drop" or the constant 0 or 1.')
            missing = Constant(value)
        object.__setattr__(self, "missing", missing)


Column = Number | Category | Flag


def _level(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InvalidType(f"A level must be a text or a whole number; found {type(value).__name__}.")
    return str(int(value))


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
    """

    delimiter: str = ","
    missing_tokens: tuple[str, ...] = ()
    thousands: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.delimiter, str) or len(self.delimiter) != 1 or self.delimiter in '"\r\n':
            raise InvalidArgument("`delimiter` must be one character other than a quote or a line end.")
        tokens: Any = self.missing_tokens
        if isinstance(tokens, str) or not all(isinstance(token, str) for token in tokens):
            raise InvalidType("`missing_tokens` must be a sequence of texts.")
        if self.thousands is not None and (
            not isinstance(self.thousands, str) or len(self.thousands) != 1 or self.thousands in '0123456789.+-eE"'
        ):
            raise InvalidArgument("`thousands` must be one character that cannot be part of a plain number.")
        object.__setattr__(self, "missing_tokens", tuple(tokens))
