"""Scores: numbers made of an output, larger where the second data set is likelier.

A score is learned on some runs and judged on others, so any function at all is a sound one; a good one has power.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Outputs = NDArray[Any]

# Standardized numbers are kept within this, so that one wild output does not decide what is learned.
_REACH = 8.0
# Where clipped numbers are clipped: in the middle of what is seen.
_BEND = 0.5
# A double's significand is a whole number of so many bits.
_SIGNIFICAND = 53
# The exponent of a last digit is from -1074 to 1023; this moves it above 0.
_NO_DIGIT = 1200
# A text names so many cells at most.
_MOST_NAMED = 6


class View(ABC):
    """One number of each output."""

    @abstractmethod
    def __call__(self, outputs: Outputs) -> Outputs:
        """Return one number a run, shape (n_runs,)."""

    @abstractmethod
    def __str__(self) -> str:
        """Say what the number is."""


@dataclass(frozen=True)
class Coordinate(View):
    """One column of the outputs.

    Parameters
    ----------
    index : int
        Which.
    alone : bool
        Whether there is no other.
    """

    index: int
    alone: bool

    def __call__(self, outputs: Outputs) -> Outputs:
        """Return the column, in its own type."""
        return outputs[:, self.index]

    def __str__(self) -> str:
        return "output" if self.alone else f"output[{self.index}]"


@dataclass(frozen=True, eq=False)
class Learned(View):
    """A linear classifier on standardized outputs, or on those and their `shapes`.

    Parameters
    ----------
    center, spread : ndarray of float64, shape (k,)
        What outputs are standardized by.
    weights : ndarray of float64, shape (k,) or (3 k,)
        Of the standardized outputs, and of their `shapes` where there are more.
    """

    center: Floats
    spread: Floats
    weights: Floats

    def __call__(self, outputs: Outputs) -> Outputs:
        """Return the classifier's logit, without its constant."""
        scaled = standardized(outputs, self.center, self.spread)
        width = self.center.size
        if self.weights.size > width:
            scaled = np.hstack([scaled, *shapes(scaled)])
        found: Floats = scaled @ self.weights
        return found

    def __str__(self) -> str:
        squares = " and their shapes" if self.weights.size > self.center.size else ""
        return f"a classifier of {self.center.size} outputs{squares}"


def standardized(outputs: Outputs, center: Floats, spread: Floats) -> Floats:
    """Return outputs in units of their spread, kept within 8 of them; NaN becomes 0."""
    with np.errstate(all="ignore"):
        scaled = (outputs.astype(np.float64) - center) / spread
    return np.clip(np.nan_to_num(scaled, nan=0.0), -_REACH, _REACH)


def shapes(scaled: Floats) -> tuple[Floats, Floats]:
    """Return squares, which tell scales apart, and clipped numbers, which are what Laplace noise asks for."""
    return scaled * scaled, np.clip(scaled, -_BEND, _BEND)


class Score(ABC):
    """A number a run, larger where the second data set is likelier."""

    @abstractmethod
    def __call__(self, outputs: Outputs) -> Floats:
        """Return the score of each run, shape (n_runs,)."""

    @abstractmethod
    def event(self, threshold: float) -> str:
        """Say what it means that the score is above a threshold."""


@dataclass(frozen=True, eq=False)
class Plain(Score):
    """The number of a view itself, or its negative.

    Parameters
    ----------
    view : View
        Which number.
    sign : int
        1 or -1.
    """

    view: View
    sign: int

    def __call__(self, outputs: Outputs) -> Floats:
        """Return the signed numbers; NaN is below all."""
        numbers = self.sign * self.view(outputs).astype(np.float64)
        return np.where(np.isnan(numbers), -np.inf, numbers)

    def event(self, threshold: float) -> str:
        """Return the event as an inequality."""
        relation = ">" if self.sign > 0 else "<"
        return f"{self.view} {relation} {self.sign * threshold:.17g}"


class Coder(ABC):
    """Sorts numbers into numbered cells."""

    @abstractmethod
    def __call__(self, numbers: Outputs) -> NDArray[np.int64]:
        """Return the cell of each number, from 0 on."""

    @abstractmethod
    def name(self, cell: int) -> str:
        """Say which numbers a cell holds."""


@dataclass(frozen=True, eq=False)
class Bins(Coder):
    """Intervals between edges: (edges[i-1], edges[i]]."""

    edges: Floats

    def __call__(self, numbers: Outputs) -> NDArray[np.int64]:
        """Return which interval each number is in."""
        return np.searchsorted(self.edges, numbers, side="left").astype(np.int64)

    def name(self, cell: int) -> str:
        """Return the interval."""
        low = "-inf" if cell == 0 else f"{self.edges[cell - 1]:.6g}"
        high = "inf)" if cell >= self.edges.size else f"{self.edges[cell]:.6g}]"
        return f"({low}, {high}"


@dataclass(frozen=True, eq=False)
class Values(Coder):
    """Exact values that were seen; the last cell holds all others."""

    values: Outputs

    def __call__(self, numbers: Outputs) -> NDArray[np.int64]:
        """Return which value each number is."""
        place = np.searchsorted(self.values, numbers)
        inside = np.minimum(place, self.values.size - 1)
        return np.where(self.values[inside] == numbers, inside, self.values.size).astype(np.int64)

    def name(self, cell: int) -> str:
        """Return the value."""
        return f"{self.values[cell]:.17g}" if cell < self.values.size else "another value"


@dataclass(frozen=True)
class Residues(Coder):
    """Remainders of whole numbers: what rounding or coarsening before the noise would show."""

    modulus: int

    def __call__(self, numbers: Outputs) -> NDArray[np.int64]:
        """Return the remainders."""
        return np.mod(numbers, self.modulus).astype(np.int64)

    def name(self, cell: int) -> str:
        """Return the remainder."""
        return f"{cell} modulo {self.modulus}"


@dataclass(frozen=True)
class Fineness(Coder):
    """The largest power of two that divides a double, against its size: what the addition of floats would show."""

    def __call__(self, numbers: Outputs) -> NDArray[np.int64]:
        """Return a cell for every exponent of the last digit in use; 0 for zero, NaN and infinity."""
        doubles = numbers.astype(np.float64)
        usable = np.isfinite(doubles) & (doubles != 0)
        fraction, exponent = np.frexp(np.where(usable, doubles, 1.0))
        whole = np.abs(np.ldexp(fraction, _SIGNIFICAND)).astype(np.int64)
        trailing = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)
        return np.where(usable, exponent - _SIGNIFICAND + trailing + _NO_DIGIT, 0)

    def name(self, cell: int) -> str:
        """Return the weight of the last digit."""
        return f"an odd multiple of 2**{cell - _NO_DIGIT}" if cell else "a number without digits"


@dataclass(frozen=True)
class Kinds(Coder):
    """What is no number at all: NaN, and infinity of either sign."""

    def __call__(self, numbers: Outputs) -> NDArray[np.int64]:
        """Return 0 for numbers."""
        return np.where(np.isfinite(numbers), 0, np.where(np.isnan(numbers), 1, np.where(numbers > 0, 2, 3)))

    def name(self, cell: int) -> str:
        """Return the kind."""
        return ("finite", "NaN", "inf", "-inf")[cell]


@dataclass(frozen=True, eq=False)
class CellRatio(Score):
    """The log-ratio of how often both data sets were seen in a cell.

    Parameters
    ----------
    view : View
        Which number.
    coder : Coder
        Its cell.
    ratios : ndarray of float64
        One a cell; cells that were never seen have the last one's.
    """

    view: View
    coder: Coder
    ratios: Floats

    def __call__(self, outputs: Outputs) -> Floats:
        """Return the ratio of each run's cell."""
        cells = self.coder(self.view(outputs))
        found: Floats = self.ratios[np.minimum(cells, self.ratios.size - 1)]
        return found

    def event(self, threshold: float) -> str:
        """Return the event as a list of cells, or of those it leaves out where they are fewer; short lists only."""
        seen = np.flatnonzero(self.ratios != 0)
        inside = self.ratios[seen] > threshold
        leaves_out = int(inside.sum()) > seen.size - int(inside.sum())
        cells = seen[~inside if leaves_out else inside]
        names = [self.coder.name(int(cell)) for cell in cells[:_MOST_NAMED]]
        more = cells.size - len(names)
        listed = ", ".join(names) + (f" or in {more} more cells like these" if more else "")
        return f"{self.view} {'is not' if leaves_out else 'is'} {listed or 'anything that was seen'}"


@dataclass(frozen=True, eq=False)
class Rows(Score):
    """The log-ratio of how often each whole output was seen, where there are few different ones.

    Parameters
    ----------
    rows : dict of bytes to float
        Log-ratios of outputs.
    """

    rows: dict[bytes, float]

    def __call__(self, outputs: Outputs) -> Floats:
        """Return the ratio of each whole output; 0 for one that was never seen."""
        return np.array([self.rows.get(row.tobytes(), 0.0) for row in np.ascontiguousarray(outputs)])

    def event(self, threshold: float) -> str:
        """Return how many outputs belong to the event."""
        return f"the whole output is one of {sum(ratio > threshold for ratio in self.rows.values())}"
