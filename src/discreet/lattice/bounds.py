"""Declared public sets: an interval for a number, a box for a row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType

# Above this a square, a width or a sum of bounds could leave the doubles.
LARGEST_BOUND = 2.0**500


def check_limits(lower: Any, upper: Any, *, column: str) -> tuple[float, float]:
    """Return two finite limits with lower < upper whose squares a double can hold; name the column otherwise."""
    low = _checks.finite_float(lower, f"lower bound of {column}")
    high = _checks.finite_float(upper, f"upper bound of {column}")
    if not low < high:
        raise InvalidArgument(
            f"Bounds of {column} must satisfy lower < upper; found lower = {low!r}, upper = {high!r}. "
            "Declare the public range the values can take."
        )
    if max(abs(low), abs(high)) > LARGEST_BOUND:
        raise InvalidArgument(
            f"Bounds of {column} are too large: the square of a value is not representable. "
            "Declare bounds below 2**500 in size."
        )
    return low, high


@dataclass(frozen=True, slots=True, init=False)
class Interval:
    """A declared public range of one number.

    Parameters
    ----------
    lower, upper : float
        Limits in the units of the column, `lower < upper`, both finite.
        Cells outside are moved to the nearer limit before anything else is done with them.

    Raises
    ------
    InvalidArgument
        If a limit is missing, not finite, or not below the other.

    Examples
    --------
    >>> Interval(0, 200_000)
    Interval(lower=0.0, upper=200000.0)
    """

    lower: float
    upper: float

    def __init__(self, lower: Any, upper: Any) -> None:
        low, high = check_limits(lower, upper, column="Interval")
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)


@dataclass(frozen=True, slots=True, init=False)
class Box:
    """A declared public range of every column of a row.

    Parameters
    ----------
    lower, upper : float or array-like of shape (n_features,)
        Limits in the columns' own units, `lower < upper` in every column, all finite.
        A scalar holds for every column.

    Raises
    ------
    InvalidArgument
        If a limit is not finite or not below its partner; names the column's position.

    Examples
    --------
    >>> Box(lower=[0, 17], upper=[1, 90])
    Box(lower=(0.0, 17.0), upper=(1.0, 90.0))
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    broadcasts: bool = field(default=False, repr=False)

    def __init__(self, *, lower: Any, upper: Any) -> None:
        lows, highs = _limits(lower, "lower"), _limits(upper, "upper")
        width = max(len(lows), len(highs))
        if {len(lows), len(highs)} - {1, width}:
            raise InvalidArgument(
                f"`lower` and `upper` of a Box must have one entry or one a column; found {len(lows)} and {len(highs)}."
            )
        scalar = np.ndim(lower) == 0 and np.ndim(upper) == 0
        lows, highs = lows * (width // len(lows)), highs * (width // len(highs))
        pairs = [check_limits(a, b, column=f"column {j}") for j, (a, b) in enumerate(zip(lows, highs, strict=True))]
        object.__setattr__(self, "lower", tuple(low for low, _ in pairs))
        object.__setattr__(self, "upper", tuple(high for _, high in pairs))
        object.__setattr__(self, "broadcasts", scalar)

    def for_columns(self, n_columns: int) -> Box:
        """Return the box of `n_columns` columns: itself, or a scalar one spread out."""
        if len(self.lower) == n_columns:
            return self
        if self.broadcasts:
            return Box(lower=[self.lower[0]] * n_columns, upper=[self.upper[0]] * n_columns)
        raise InvalidArgument(
            f"`x_bounds` declares {len(self.lower)} columns; the data have {n_columns}. Declare one bound a column."
        )


def _limits(values: Any, name: str) -> list[Any]:
    if isinstance(values, (str, bytes)) or values is None:
        raise InvalidType(f"`{name}` of a Box must be a number or a sequence of numbers.")
    try:
        dimensions, size = np.ndim(values), np.size(values)
    except ValueError:  # ragged
        dimensions, size = 2, 0
    if dimensions == 0:
        return [values]
    if dimensions == 1 and size > 0:
        return list(values)
    raise InvalidArgument(f"`{name}` of a Box must be a number or a sequence with one number a column.")
