"""What is assumed of the columns where nothing may be read: public laws, and the second moments they imply."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType
from discreet.tables.schema.columns import Category, Flag, Number

if TYPE_CHECKING:
    from discreet.tables.design import Design
    from discreet.tables.features import Feature
    from discreet.tables.schema.columns import Column

# A term holds a column at most as x * x**2 * x**3 * x**4, and a second moment is a product of two terms.
_HIGHEST_POWER = 20


@dataclass(frozen=True)
class NumberLaw:
    """A Beta law on a number's bounds with a given mean and standard deviation; uniform where neither is given.

    Parameters
    ----------
    moments : tuple of float
        The raw moments 0 to 20, in powers of the column's units.
    """

    moments: tuple[float, ...]

    @classmethod
    def uniform(cls, column: Number) -> NumberLaw:
        """Return the uniform law between the bounds."""
        return cls._beta(column, 1.0, 1.0)

    @classmethod
    def of(cls, column: Number, mean: float, std: float, name: str) -> NumberLaw:
        """Return the Beta law with this mean and standard deviation, in the column's units."""
        width = column.upper - column.lower
        place, spread = (mean - column.lower) / width, (std / width) ** 2
        if not 0.0 < place < 1.0:
            raise InvalidArgument(
                f"`assume` of {name!r}: the mean must lie between the bounds {column.lower:g} and {column.upper:g}."
            )
        if not 0.0 < spread < place * (1.0 - place):
            most = width * math.sqrt(place * (1.0 - place))
            raise InvalidArgument(
                f"`assume` of {name!r}: with that mean and those bounds the standard deviation must be above 0 and "
                f"below {most:g}."
            )
        total = place * (1.0 - place) / spread - 1.0
        return cls._beta(column, place * total, (1.0 - place) * total)

    @classmethod
    def _beta(cls, column: Number, a: float, b: float) -> NumberLaw:
        unit = [1.0]
        for k in range(_HIGHEST_POWER):
            unit.append(unit[-1] * (a + k) / (a + b + k))
        low, width = column.lower, column.upper - column.lower
        return cls(
            tuple(
                math.fsum(math.comb(k, i) * low ** (k - i) * width**i * unit[i] for i in range(k + 1))
                for k in range(_HIGHEST_POWER + 1)
            )
        )


@dataclass(frozen=True)
class ShareLaw:
    """How often each level of a category, or each value of a flag, is hit."""

    shares: tuple[float, ...]

    @classmethod
    def of(cls, shares: Sequence[Any], count: int, name: str) -> ShareLaw:
        """Return the law of `count` shares that add up to 1; counts or percentages are divided by their sum."""
        if len(shares) != count:
            raise InvalidArgument(f"`assume` of {name!r} needs {count} shares, one a level; found {len(shares)}.")
        numbers = [_checks.finite_float(share, f"assume of {name}") for share in shares]
        total = math.fsum(numbers)
        if not (all(number >= 0.0 for number in numbers) and total > 0.0):
            raise InvalidArgument(f"`assume` of {name!r}: shares must be at least 0 and not all 0.")
        return cls(tuple(number / total for number in numbers))


Law = NumberLaw | ShareLaw


def laws_of(columns: Mapping[str, Column], assume: Mapping[str, Any] | None) -> dict[str, Law]:
    """Return a law for every column: what is assumed of it, else uniform on its bounds or levels.

    Parameters
    ----------
    columns : mapping of str to Column
        The declared columns.
    assume : mapping or None
        A number's (mean, standard deviation); a flag's share of ones; a category's shares, in the order of its levels
        or by level.

    Raises
    ------
    InvalidArgument
        If an assumption does not fit its column, or names none; says which.
    """
    given = {} if assume is None else assume
    if not isinstance(given, Mapping):
        raise InvalidType(f"`assume` must be a mapping from column names; found {type(assume).__name__}.")
    unknown = [name for name in given if name not in columns]
    if unknown:
        raise InvalidArgument(f"`assume` names {unknown[0]!r}, which is no column that is used. Leave it out.")
    return {name: _law(name, column, given.get(name)) for name, column in columns.items()}


def _law(name: str, column: Column, assumed: Any) -> Law:
    if isinstance(column, Number):
        if assumed is None:
            return NumberLaw.uniform(column)
        pair = _sequence(name, assumed)
        if len(pair) != 2:
            raise InvalidArgument(f"`assume` of {name!r} needs a mean and a standard deviation, such as (40, 12).")
        mean, std = (_checks.finite_float(value, f"assume of {name}") for value in pair)
        return NumberLaw.of(column, mean, std, name)
    if isinstance(column, Flag):
        share = 0.5 if assumed is None else _share(name, assumed)
        return ShareLaw((1.0 - share, share))
    return _category_law(name, column, assumed)


def _category_law(name: str, column: Category, assumed: Any) -> ShareLaw:
    if assumed is None:
        return ShareLaw.of([1.0] * len(column.levels), len(column.levels), name)
    if isinstance(assumed, Mapping):
        if set(assumed) != set(column.levels):
            raise InvalidArgument(f"`assume` of {name!r} must give a share for each level: {', '.join(column.levels)}.")
        return ShareLaw.of([assumed[level] for level in column.levels], len(column.levels), name)
    return ShareLaw.of(_sequence(name, assumed), len(column.levels), name)


def _share(name: str, assumed: Any) -> float:
    value = assumed[0] if isinstance(assumed, Sequence) and len(assumed) == 1 else assumed
    share = _checks.finite_float(value, f"assume of {name}")
    if not 0.0 < share < 1.0:
        raise InvalidArgument(f"`assume` of {name!r} needs the share of ones, between 0 and 1.")
    return share


def _sequence(name: str, assumed: Any) -> Sequence[Any]:
    if isinstance(assumed, Sequence) and not isinstance(assumed, str):
        return assumed
    raise InvalidType(f"`assume` of {name!r} must be a list of numbers; found {type(assumed).__name__}.")


def second_moments(design: Design, laws: Mapping[str, Law]) -> np.ndarray:
    """Return the mean of `z z'` for a design's columns `z = (1, z_1, ...)` in their own units, columns independent.

    Returns
    -------
    ndarray of float64, shape (width, width)
    """
    parts = [_parts(feature) for feature in design.features]
    if design.layout.intercept:
        parts.insert(0, {})
    matrix = np.empty((len(parts), len(parts)))
    for i, one in enumerate(parts):
        for j, other in enumerate(parts[: i + 1]):
            matrix[i, j] = matrix[j, i] = _mean_product(one, other, laws)
    return matrix


def _parts(feature: Feature) -> dict[str, tuple[int, int | None]]:
    """Return the power of every number and the level of every category that make a feature."""
    powers: dict[str, tuple[int, int | None]] = {}
    for factor in feature.numbers:
        powers[factor.column] = (powers.get(factor.column, (0, None))[0] + factor.power, None)
    return powers | {column: (0, code) for column, code in feature.hits}


def _mean_product(
    one: Mapping[str, tuple[int, int | None]], other: Mapping[str, tuple[int, int | None]], laws: Mapping[str, Law]
) -> float:
    mean = 1.0
    for column in one.keys() | other.keys():
        law, absent = laws[column], (0, None)
        (power, code), (other_power, other_code) = one.get(column, absent), other.get(column, absent)
        if isinstance(law, NumberLaw):
            mean *= law.moments[power + other_power]
        elif code is not None and other_code is not None and code != other_code:
            return 0.0
        else:
            place = code if code is not None else other_code
            assert place is not None  # noqa: S101  (the column is in one of the two)
            mean *= law.shares[place]
    return mean
