"""Targets on a box of at most three dimensions whose log density has a public modulus: rejection from a fixed grid.

The box is divided into equal cells. A cell is proposed with probability proportional to the density at its center, a
point uniformly within it, and the point is accepted with what its density is of the largest that the modulus allows.
The modulus alone bounds how often: at least ``exp(-2 scale H r**s)`` for cells of radius r, whatever the data.

Lengths are parts of the box: every side has length 1, and the distance of two points is the largest of their
coordinates' differences.

Proof: docs/proofs/holder.md
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.lattice.noise.categorical import Categorical
from discreet.numbers.outward import exp_down, exp_up, log_up
from discreet.sampling.targets.bases import limits_of
from discreet.sampling.targets.targets import FLOOR, Points, Proposer, ScaledTarget, Target

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.lattice.bounds import Box, Interval
    from discreet.privacy.coins import Coins

MOST_DIMENSIONS = 3
MOST_CELLS = 1 << 20
# Each cell has 2**30 points a side, public like the cells.
_POINT_BITS = 30
# Roundings of a log ratio of numbers below 1500 in size, and of a weight's exponential; generous.
ROUNDING = Fraction(1, 2**38)
# What a proposal costs beside a cell's evaluation when a grid is chosen: log of 1e12, the default block's chance.
_LOG_OF_MISS = 27.6
_N_SIZES = 300
# Beyond this no acceptance is told from 0.
_STEEPEST = 600


@dataclass(frozen=True, kw_only=True)
class Modulus:
    """How far apart a utility can be at two points: ``constant * distance**exponent``, for every data set.

    Parameters
    ----------
    constant : Fraction
        At least 0.
    exponent : Fraction
        In (0, 1]; 1 is a Lipschitz bound.
    error : Fraction
        By how much an evaluation may be off.
    """

    constant: Fraction
    exponent: Fraction = Fraction(1)
    error: Fraction = Fraction(0)

    def drop(self, scale: Fraction, radius: Fraction) -> Fraction:
        """Return at least ``scale * constant * radius**exponent``."""
        power = radius if self.exponent == 1 else exp_up(self.exponent * log_up(radius))
        return scale * self.constant * power


@dataclass(frozen=True)
class Cells:
    """Equal cells of a box, and the public points within them.

    Parameters
    ----------
    bounds : Interval or Box
        The box.
    per_side : int
        Cells a side.
    """

    bounds: Interval | Box
    per_side: int

    @property
    def dimension(self) -> int:
        """Sides of the box."""
        return int(limits_of(self.bounds)[0].size)

    @property
    def count(self) -> int:
        """How many cells there are."""
        return int(self.per_side**self.dimension)

    @property
    def radius(self) -> Fraction:
        """The largest distance of a public point of a cell from the cell's center as doubles have both."""
        lower, upper = limits_of(self.bounds)
        reach = max(
            Fraction(max(abs(low), abs(high))) / (Fraction(high) - Fraction(low))
            for low, high in zip(lower.tolist(), upper.tolist(), strict=True)
        )
        return Fraction(1, 2 * self.per_side) + Fraction(1, 2**48) * (1 + reach)

    def centers(self) -> NDArray[np.float64]:
        """Return the centers of all cells, float64 of shape (per_side**dimension, dimension)."""
        line = (np.arange(self.per_side) + 0.5) / self.per_side
        axes = np.meshgrid(*[line] * self.dimension, indexing="ij")
        return self.place(np.stack([axis.ravel() for axis in axes], axis=1))

    def within(self, cells: NDArray[np.int64], words: NDArray[np.uint64], word_bits: int) -> NDArray[np.float64]:
        """Return a uniform public point of each cell.

        Parameters
        ----------
        cells : np.ndarray of int64, shape (size,)
            Numbers of cells, in the order of `centers`.
        words : np.ndarray of uint64, shape (size, dimension)
            Uniform words.
        word_bits : int
            Their length.
        """
        shape = (self.per_side,) * self.dimension
        corners = np.stack(np.unravel_index(cells, shape), axis=1).astype(np.float64)
        bits = min(_POINT_BITS, word_bits)
        parts = ((words >> np.uint64(word_bits - bits)).astype(np.float64) + 0.5) * 2.0**-bits
        return self.place((corners + parts) / self.per_side)

    def place(self, parts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return points in the box's own units from parts of its sides."""
        lower, upper = limits_of(self.bounds)
        points: NDArray[np.float64] = np.clip(lower + (upper - lower) * parts, lower, upper)
        return points


class GridTarget(Target):
    """A target whose utility has a public modulus on a box of at most three dimensions.

    A subclass is a frozen dataclass with the fields `bounds` and `per_side`, and says modulus and evaluation.
    """

    bounds: Interval | Box
    per_side: int | None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of a draw must know, such as what is believed of a user's own function."""
        return ()

    @abstractmethod
    def modulus(self, n_rows: int | None) -> Modulus:
        """Return the utility's modulus for every data set of `n_rows` rows; of any number where it is None.

        Raises
        ------
        IncompatiblePlan
            If there is none.
        """

    @abstractmethod
    def evaluate(self, prepared: Any, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the utility at points, float64 of shape (size,); never raises, NaN where it fails."""

    @property
    def dimension(self) -> int:
        """Sides of the box."""
        return int(limits_of(self.bounds)[0].size)

    def at(self, scale: Fraction, n_rows: int | None) -> ScaledTarget:
        """Return the target at a public scale, on its grid or on the one with the least work that is known."""
        per_side = self.per_side
        if per_side is None:
            per_side = cheapest_grid(scale, self.modulus(n_rows), self.dimension)
        return self.on_grid(scale, n_rows, per_side)

    def on_grid(self, scale: Fraction, n_rows: int | None, per_side: int) -> ScaledGrid:
        """Return the target at a public scale on a grid of `per_side` cells a side.

        Raises
        ------
        IncompatiblePlan
            If almost no proposal is known to be accepted.
        """
        modulus = self.modulus(n_rows)
        cells = Cells(self.bounds, per_side)
        top = envelope_height(scale, modulus, cells.radius)
        if 2 * top > _STEEPEST:
            raise IncompatiblePlan(
                f"{self.name}: the expected work is {_needed(scale, modulus, self.dimension):.2g} cells of a grid in "
                f"{self.dimension} dimensions; at most {MOST_CELLS} are evaluated. Lower the budget, take fewer "
                "dimensions or smaller bounds, or choose another method."
            )
        return ScaledGrid(
            dimension=self.dimension,
            acceptance=_shortened(exp_down(-2 * top)),
            error=scale * modulus.error + ROUNDING,
            common_envelope=False,
            default=tuple(cells.place(np.full((1, self.dimension), 0.5))[0].tolist()),
            notes=self.notes,
            scale=scale,
            top=float(top),
            cells=cells,
            target=self,
        )


def _shortened(number: Fraction) -> Fraction:
    """Return at most `number`, above 0, with fewer digits."""
    unit = 1 << 960
    rounded = Fraction(math.floor(number * unit), unit)
    return Fraction(math.floor(number * 2**64), 2**64) if number > Fraction(1, 2**20) else rounded


def check_grid(bounds: Any, per_side: int | None, name: str) -> None:
    """Refuse a box that is unbounded or of too many dimensions, and a grid of too many cells."""
    dimension = limits_of(bounds)[0].size
    if dimension > MOST_DIMENSIONS:
        raise InvalidArgument(
            f"{name}: a grid in {dimension} dimensions has too many cells; at most {MOST_DIMENSIONS} dimensions. "
            "Choose another method."
        )
    if per_side is None:
        return
    if not (isinstance(per_side, int) and not isinstance(per_side, bool) and 1 <= per_side**dimension <= MOST_CELLS):
        raise InvalidArgument(
            f"`per_side` must be a whole number whose power {dimension} is between 1 and {MOST_CELLS}; "
            f"found {per_side!r}."
        )


def envelope_height(scale: Fraction, modulus: Modulus, radius: Fraction) -> Fraction:
    """Return how far above a center's log density the envelope of its cell stands; the floor is as far below."""
    return modulus.drop(scale, radius) + scale * modulus.error + ROUNDING


def cheapest_grid(scale: Fraction, modulus: Modulus, dimension: int) -> int:
    """Return how many cells a side make the fewest evaluations, of centers and of proposals together.

    Examples
    --------
    >>> cheapest_grid(Fraction(1, 2), Modulus(constant=Fraction(20)), 1)
    21
    """
    most = int(MOST_CELLS ** (1 / dimension) + 1e-9)
    sizes = np.unique(np.geomspace(1, most, _N_SIZES).astype(np.int64))
    steepness = float(scale * modulus.constant)
    with np.errstate(all="ignore"):
        drops = 2 * steepness * (0.5 / sizes) ** float(modulus.exponent)
        work = sizes.astype(np.float64) ** dimension + _LOG_OF_MISS * np.exp(np.minimum(drops, _STEEPEST))
    return int(sizes[np.argmin(work)])


def _needed(scale: Fraction, modulus: Modulus, dimension: int) -> float:
    """Return how many cells would make one proposal in a thousand accepted."""
    steepness = min(float(scale * modulus.constant), 1e100)
    per_side = math.exp(math.log(max(1.0, 2 * steepness / math.log(1000))) / float(modulus.exponent)) / 2
    return float(max(1.0, per_side) ** dimension)


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaledGrid(ScaledTarget):
    """A target with a modulus at one public scale.

    Parameters
    ----------
    scale : Fraction
        What the utility is multiplied by.
    top : float
        How far above a center's log density the envelope of its cell stands.
    cells : Cells
        The grid.
    target : GridTarget
        Evaluates the utility.

    Guarantee
    ---------
    The points drawn have a probability proportional to ``exp(max(scale u(x), scale max u - 700))`` over the public
    points, where the maximum is over the centers; acceptance is at least ``exp(-2 top)``. Proof: docs/proofs/holder.md
    """

    scale: Fraction
    top: float
    cells: Cells
    target: GridTarget = field(repr=False)

    def begin(self, prepared: Any) -> Proposer:
        """Return who proposes; evaluates the utility at all centers."""
        return GridProposer(self, prepared)


class Heights:
    """Log densities below that of the highest center, cut off 700 below it.

    Parameters
    ----------
    of_centers : np.ndarray of float64
        The utility at all centers; one that is not finite counts as the lowest.
    scale : Fraction
        What it is multiplied by.
    """

    def __init__(self, of_centers: NDArray[np.float64], scale: Fraction) -> None:
        self._scale = float(scale)
        finite = np.isfinite(of_centers)
        self.top = float(np.max(of_centers, initial=-np.inf, where=finite)) if finite.any() else 0.0

    def of(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``scale * (u - top)``, at least -700."""
        heights = self._scale * (np.where(np.isfinite(values), values, -np.inf) - self.top)
        lifted: NDArray[np.float64] = np.maximum(heights, FLOOR)
        return lifted


@dataclass(eq=False)
class CellPoints(Points):
    """Points, and the cells they were proposed from.

    Parameters
    ----------
    cells : np.ndarray of int64, shape (size,)
        Numbers of cells.
    """

    cells: NDArray[np.int64]


class GridProposer(Proposer):
    """Proposes a cell by the density at its center, and a uniform point within it."""

    def __init__(self, scaled: ScaledGrid, prepared: Any) -> None:
        self._scaled = scaled
        self._prepared = prepared
        values = scaled.target.evaluate(prepared, scaled.cells.centers())
        self._heights = Heights(values, scaled.scale)
        self._of_centers = self._heights.of(values)
        self._law = Categorical(np.exp(self._of_centers))

    def propose(self, coins: Coins, size: int) -> CellPoints:
        """Return points, from one word a cell and one a coordinate."""
        cells = self._scaled.cells
        words = coins.words(size * (1 + cells.dimension)).reshape(size, 1 + cells.dimension)
        chosen = self._law.draw(words[:, 0], coins)
        return CellPoints(cells.within(chosen, words[:, 1:], coins.word_bits), chosen)

    def log_ratio(self, points: Points) -> NDArray[np.float64]:
        """Return the log density over that of the cell's center, less what the modulus allows."""
        assert isinstance(points, CellPoints)  # noqa: S101  (its own kind)
        values = self._scaled.target.evaluate(self._prepared, points.values)
        ratios: NDArray[np.float64] = self._heights.of(values) - self._of_centers[points.cells] - self._scaled.top
        return ratios

    def log_squeeze(self, points: Points) -> NDArray[np.float64]:
        """Return what the modulus allows the density to be of the envelope at least: the same at every point."""
        return np.full(points.values.shape[0], -2 * self._scaled.top)
