"""Checks of arguments: each names the argument, each is written positively so that NaN never passes."""

from __future__ import annotations

import math
import numbers
import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidArgument, InvalidType

if TYPE_CHECKING:
    from collections.abc import Callable


def exact(value: Any, name: str) -> Fraction:
    """Return `value` as an exact rational.

    Integers, Fractions and Decimals are themselves; strings such as "0.1" or "1/2" are read as written;
    a float is read by its shortest decimal form, so that 0.1 is one tenth.

    Raises
    ------
    InvalidType
        If `value` is a boolean or no number.
    InvalidArgument
        If `value` is NaN, infinite, or a text that is no number.
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, str):
        return _exact_text(value, name)
    if isinstance(value, bool) or type(value).__name__ == "bool_" or type(value).__name__ == "bool":
        raise InvalidType(f"`{name}` must be a number; found a boolean.")
    if isinstance(value, numbers.Integral) and not _is_duration(value):
        if abs(int(value)) < 10**_MOST_DIGITS:
            return Fraction(int(value))
        raise _too_long(name)
    if isinstance(value, Decimal):
        if value.is_finite():
            return _exact_text(str(value), name)
        raise InvalidArgument(f"`{name}` must be finite; found {value}.")
    if isinstance(value, numbers.Real) and not _is_duration(value):
        if math.isfinite(value):
            # np.float64 is a float that prints with its type; other widths have a shortest form of their own.
            return Fraction(float.__repr__(value) if issubclass(type(value), float) else str(value))
        raise InvalidArgument(f"`{name}` must be finite; found {value!s}.")
    raise InvalidType(f"`{name}` must be a number (or a text such as '1/2'); found {type(value).__name__}.")


def _is_duration(value: Any) -> bool:
    """Return whether `value` is one of numpy's spans of time, which numpy calls whole numbers."""
    return type(value).__name__ == "timedelta64"


# Python writes, and reads, no whole number of more digits.
_MOST_DIGITS = 4300


def _too_long(name: str) -> InvalidArgument:
    return InvalidArgument(
        f"`{name}` has too many digits. Give one that has at most {_MOST_DIGITS} when it is written out."
    )


def _exact_text(text: str, name: str) -> Fraction:
    number = rational(text)
    if number is not None:
        return number
    if _is_long(text):
        raise _too_long(name)
    raise InvalidArgument(
        f"`{name}` must be a number such as '0.1', '1e-6' or '1/2', in plain digits 0 to 9; found a text that is none."
    )


# The one grammar of numbers in texts: no underscores, no digits of other scripts, no words.
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")
_RATIO = re.compile(r"[+-]?[0-9]+/[0-9]+")


def _is_long(text: str) -> bool:
    """Whether a text has more digits, written out without its exponent, than are ever read."""
    found = _DECIMAL.fullmatch(text.strip(" \t"))
    exponent = "" if found is None or found[1] is None else found[1].lstrip("+-0")
    longest = max(map(len, re.findall("[0-9]+", text.replace(".", ""))), default=0)
    return len(exponent) > 6 or longest + int(exponent or 0) > _MOST_DIGITS


@lru_cache(maxsize=4096)
def rational(text: str) -> Fraction | None:
    """Return the number that a text is, exactly; None where it is none, or has too many digits.

    A text is a plain decimal, with an exponent or without, or a fraction of two whole numbers; blanks around it are
    ignored.

    Examples
    --------
    >>> rational("1e-3"), rational("1/2"), rational("1_0"), rational("nan")
    (Fraction(1, 1000), Fraction(1, 2), None, None)
    """
    # A long ledger holds the same few numbers over and over.
    bare = text.strip(" \t")
    if _RATIO.fullmatch(bare):
        above, _, below = bare.partition("/")
        fits = len(above) <= _MOST_DIGITS and len(below) <= _MOST_DIGITS
        return Fraction(int(above), int(below)) if fits and int(below) else None
    if not _DECIMAL.fullmatch(bare) or _is_long(bare):
        return None
    return Fraction(int(bare)) if bare.isdigit() else Fraction(bare)


def float_of(text: str) -> float | None:
    """Return the float next to the number that a text is; None where it is none, or no finite float is near it."""
    number = rational(text)
    try:
        return None if number is None else float(number)
    except OverflowError:
        return None


def exact_positive(value: Any, name: str) -> Fraction:
    """Return `value` as an exact rational above 0."""
    number = exact(value, name)
    if number > 0:
        return number
    raise InvalidArgument(f"`{name}` must be greater than 0; found {number}.")


def exact_nonnegative(value: Any, name: str) -> Fraction:
    """Return `value` as an exact rational of at least 0."""
    number = exact(value, name)
    if number >= 0:
        return number
    raise InvalidArgument(f"`{name}` must be at least 0; found {number}.")


def whole(value: Any, name: str, *, low: int) -> int:
    """Return `value` as an int of at least `low`; unlike `integer` it reads a text, as files hold numbers."""
    number = exact(value, name)
    if number.denominator == 1 and number >= low:
        return int(number)
    raise InvalidArgument(f"`{name}` must be a whole number of at least {low}; found {number}.")


def exact_delta(value: Any, name: str = "delta") -> Fraction:
    """Return `value` as an exact rational in [0, 1)."""
    number = exact(value, name)
    if 0 <= number < 1:
        return number
    raise InvalidArgument(f"`{name}` must satisfy 0 <= {name} < 1; found {number}.")


def integer(value: Any, name: str, *, low: int, high: int | None = None) -> int:
    """Return `value` as an int between `low` and `high`, both included."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or _is_duration(value):
        raise InvalidType(f"`{name}` must be a whole number; found {type(value).__name__}.")
    number = int(value)
    if low <= number and (high is None or number <= high):
        return number
    limits = f"at least {low}" if high is None else f"between {low} and {high}"
    raise InvalidArgument(f"`{name}` must be {limits}; found {number}.")


def finite_float(value: Any, name: str) -> float:
    """Return `value` as a finite float; texts and booleans are refused."""
    boolean = isinstance(value, bool) or type(value).__name__ in {"bool_", "bool"}
    if boolean or not isinstance(value, numbers.Real) or _is_duration(value):
        raise InvalidType(f"`{name}` must be a number; found {type(value).__name__}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isfinite(number):
        return number
    raise InvalidArgument(f"`{name}` must be finite; found {number}.")


def boolean(value: Any, name: str) -> bool:
    """Return `value` if it is True or False."""
    if isinstance(value, bool) or type(value).__name__ in {"bool_", "bool"}:
        return bool(value)
    raise InvalidType(f"`{name}` must be True or False; found {type(value).__name__}.")


def one_of(value: Any, name: str, allowed: tuple[str, ...]) -> str:
    """Return `value` if it is one of the `allowed` words."""
    if isinstance(value, str) and value in allowed:
        return value
    raise InvalidArgument(f"`{name}` must be one of {', '.join(map(repr, allowed))}; found {value!r}.")


def set_fields(record: object, **values: Any) -> None:
    """Set fields of a frozen record while it is made."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


def check_fields(record: object, check: Callable[..., Any], *names: str, **limits: Any) -> None:
    """Set fields of a frozen record, while it is made, to what a check returns of them."""
    for name in names:
        object.__setattr__(record, name, check(getattr(record, name), name, **limits))
