"""Declared public sets: an interval for a number, a box for a row."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
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
        _checks.set_fields(self, lower=low, upper=high)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Box:
    """A declared public range of every column of a row.

    Parameters
    ----------
    lower, upper : float or array-like of shape (n_features,)
        Limits in the columns' own units, `lower < upper` in every column, all finite.
        A scalar holds for every column.
    one_hot : sequence of slice
        Blocks of columns that are the 0 and 1 dummies of one category, all of its levels or all but a reference,
        such as ``[slice(3, 11)]``; at most one cell of a block is 1, so that a row is shorter than its box.
        Their limits are 0 and 1.
        A cell of a block counts as 1 where it is at least one half and as 0 otherwise, and of several ones in a record
        only the first is kept: the declaration holds for every record, whatever stands in it.

    Raises
    ------
    InvalidArgument
        If a limit is not finite or not below its partner, or a block is not usable; names the column's position.

    Examples
    --------
    >>> Box(lower=[0, 17], upper=[1, 90])
    Box(lower=(0.0, 17.0), upper=(1.0, 90.0))
    >>> Box(lower=0, upper=1, one_hot=[slice(1, 4)]).for_columns(4).one_hot
    ((1, 4),)
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    one_hot: tuple[tuple[int, int], ...]
    broadcasts: bool

    def __init__(self, *, lower: Any, upper: Any, one_hot: Any = ()) -> None:
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
        object.__setattr__(self, "one_hot", _blocks(one_hot))
        object.__setattr__(self, "broadcasts", scalar)
        self._check_blocks()

    def __repr__(self) -> str:
        blocks = ", ".join(f"slice({start}, {stop})" for start, stop in self.one_hot)
        return f"Box(lower={self.lower}, upper={self.upper}" + (f", one_hot=[{blocks}])" if blocks else ")")

    def for_columns(self, n_columns: int) -> Box:
        """Return the box of `n_columns` columns: itself, or a scalar one spread out."""
        if len(self.lower) == n_columns and not self.broadcasts:
            return self
        if self.broadcasts:
            slices = [slice(*block) for block in self.one_hot]
            return Box(lower=[self.lower[0]] * n_columns, upper=[self.upper[0]] * n_columns, one_hot=slices)
        raise InvalidArgument(
            f"`x_bounds` declares {len(self.lower)} columns; the data have {n_columns}. Declare one bound a column."
        )

    def _check_blocks(self) -> None:
        for start, stop in self.one_hot:
            if not self.broadcasts and stop > len(self.lower):
                raise InvalidArgument(
                    f"`one_hot` must stay within the {len(self.lower)} columns of the Box; "
                    f"found slice({start}, {stop})."
                )
            columns = slice(0, 1) if self.broadcasts else slice(start, stop)
            if {*self.lower[columns]} != {0.0} or {*self.upper[columns]} != {1.0}:
                raise InvalidArgument(
                    f"Columns {start} to {stop - 1} of a `one_hot` block must have the limits 0 and 1; found others. "
                    "Give `lower` and `upper` one entry a column."
                )


def _blocks(values: Any) -> tuple[tuple[int, int], ...]:
    """Return blocks of columns as pairs (start, stop), in order; refuse what is no block and what overlaps."""
    if isinstance(values, (str, bytes, slice)) or not hasattr(values, "__iter__"):
        raise InvalidType("`one_hot` must be a sequence of slices, such as [slice(3, 11)].")
    blocks = []
    for value in values:
        if not isinstance(value, slice):
            raise InvalidType(f"`one_hot` must hold slices, such as slice(3, 11); found {type(value).__name__}.")
        if value.step not in {None, 1}:
            raise InvalidArgument("A slice of `one_hot` must have no step; the columns of a block stand side by side.")
        start = _checks.integer(value.start, "one_hot", low=0)
        blocks.append((start, _checks.integer(value.stop, "one_hot", low=start + 1)))
    blocks.sort()
    for (_, stop), (start, _) in itertools.pairwise(blocks):
        if start < stop:
            raise InvalidArgument(f"Blocks of `one_hot` must not overlap; two of them hold column {start}.")
    return tuple(blocks)


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
