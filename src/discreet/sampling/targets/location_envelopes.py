"""Proposals around a private center: what is evaluated is a double, what is published is exact.

A proposal is ``center + Z * spread`` for a displacement Z of infinitely many words. The center is a rational number
of steps of a public grid. Accepted proposals are published as the nearest point of that grid to the *exact* proposal.

Proof: docs/proofs/k_norm_gradient.md, section 5
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.lattice.noise import rounding
from discreet.sampling.targets.displacements import RELATIVE_ERROR, Displacements
from discreet.sampling.targets.targets import Points, Proposer

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.lattice.noise.box_muller import Limits
    from discreet.privacy.coins import Coins

# The error of a proposal in steps beyond that of its displacement, relative to the numbers that were added.
_OF_SUMS = 8 * rounding.ROUNDOFF


@dataclass(eq=False)
class Proposals(Points):
    """Proposed points with the displacements that they were made of.

    Parameters
    ----------
    displacements : Displacements
        In units of the spread.
    """

    displacements: Displacements


@dataclass(frozen=True)
class PublicGrid:
    """Where points are published, and the box outside of which none is.

    Parameters
    ----------
    step : Fraction
        A power of two.
    reach : int or None
        The target is 0 where an entry is more than `reach` steps from 0; None for no such box.
    """

    step: Fraction
    reach: int | None


class Location:
    """A private center on a public grid, and how far displacements go.

    Parameters
    ----------
    center : list of Fraction
        In steps of the grid.
    spread : Fraction
        A displacement of length 1 is so many steps.
    grid : PublicGrid
        The grid.

    Guarantee
    ---------
    `inside` and `settle` decide by the exact proposal: an undecided one is computed from the same words, lengthened.
    Proof: docs/proofs/k_norm_gradient.md
    """

    def __init__(self, center: list[Fraction], spread: Fraction, grid: PublicGrid) -> None:
        self._whole = [math.floor(value) for value in center]
        self._rest = [value - whole for value, whole in zip(center, self._whole, strict=True)]
        self._near = np.array([float(rest) for rest in self._rest])
        self._far = np.array([float(whole) for whole in self._whole])
        self._spread = spread
        self._grid = grid

    def place(self, displacements: Displacements) -> Proposals:
        """Return proposals as doubles."""
        points = (self._far + (self._near + displacements.values * float(self._spread))) * float(self._grid.step)
        return Proposals(points, displacements)

    def inside(self, points: Proposals) -> NDArray[np.bool_]:
        """Return which proposals are within the box of the grid, shape (size,)."""
        if self._grid.reach is None:
            return np.ones(points.values.shape[0], bool)
        largest = np.abs(points.values).max(axis=1) / float(self._grid.step)
        errors = self._errors(points.displacements.sizes) + _OF_SUMS * (largest + np.abs(self._far).max())
        inside: NDArray[np.bool_] = largest + errors < float(self._grid.reach)
        open_ = ~inside & ~(largest - errors > float(self._grid.reach))
        for index in np.flatnonzero(open_).tolist():
            inside[index] = all(self._is_within(points, index, column) for column in range(len(self._whole)))
        return inside

    def settle(self, points: Proposals, indices: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the grid points next to the exact proposals, float64 of shape (len(indices), dimension)."""
        moved = self._near + points.displacements.values[indices] * float(self._spread)
        errors = self._errors(points.displacements.sizes[indices])[:, None] + _OF_SUMS * (1 + np.abs(moved))
        nearest = np.rint(moved)
        known = np.abs(moved - nearest) < 0.5 - errors
        settled = (self._far + nearest) * float(self._grid.step)
        for row, column in zip(*np.nonzero(~known), strict=True):
            exact = self._settle_exactly(points, int(indices[row]), int(column))
            settled[row, column] = float(exact * self._grid.step)
        settled += 0.0  # no sign of a zero
        return settled

    def _errors(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        return sizes * (RELATIVE_ERROR * float(self._spread))

    def _settle_exactly(self, points: Proposals, index: int, column: int) -> int:
        level = 0
        limits = partial(self._limits, points, index, column)
        while True:
            enclosed = limits(level)
            if enclosed is not None:
                low, high = (math.floor(limit + Fraction(1, 2)) for limit in enclosed)
                if low == high:
                    return self._whole[column] + low
            level += 1

    def _is_within(self, points: Proposals, index: int, column: int) -> bool:
        level, reach = 0, self._grid.reach
        while True:
            enclosed = self._limits(points, index, column, level)
            if enclosed is not None and reach is not None:
                low, high = (self._whole[column] + limit for limit in enclosed)
                if -reach <= low and high <= reach:
                    return True
                if low > reach or high < -reach:
                    return False
            level += 1

    def _limits(self, points: Proposals, index: int, column: int, level: int) -> Limits | None:
        """Return exact limits of an entry of a proposal, less the whole steps of the center."""
        entries = points.displacements.limits(index, level)
        if entries is None:
            return None
        low, high = entries[column]
        return self._rest[column] + low * self._spread, self._rest[column] + high * self._spread


class LocationProposer(Proposer):
    """Proposes displacements of one law from a private center; a subclass sets `_location`, and evaluates."""

    _location: Location

    def __init__(self, law: Callable[[int, int, Coins], Displacements], dimension: int) -> None:
        self._law = law
        self._dimension = dimension

    def propose(self, coins: Coins, size: int) -> Proposals:
        """Return proposals, from a public number of words, refinement excepted."""
        return self._location.place(self._law(size, self._dimension, coins))

    def settle(self, points: Points, indices: NDArray[np.intp], coins: Coins) -> NDArray[np.float64]:
        """Return the grid points next to the exact proposals."""
        del coins  # displacements keep theirs
        assert isinstance(points, Proposals)  # noqa: S101  (its own kind)
        return self._location.settle(points, indices)
