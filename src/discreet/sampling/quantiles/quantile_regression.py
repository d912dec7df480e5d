"""Quantile regression by the K-norm gradient mechanism on a public grid of coefficients, exactly and with fixed work.

The gradient of the quantile loss is a sum of whole rows over those below the plane: discontinuous, so no envelope is
known for rejection, but along a line of coefficients every row enters or leaves the sum once. All points of a line
are evaluated by one pass over the rows, in whole numbers, and one of all points is chosen by Gumbel noise.

Proof: docs/proofs/quantiles.md
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.lattice.noise.race import race
from discreet.lattice.noise.scales import LEAST_SCALE
from discreet.privacy.adjacency import Replace, check_adjacency
from discreet.sampling.grids import MOST_CELLS, MOST_DIMENSIONS
from discreet.sampling.quantiles.quantiles import check_quantile
from discreet.sampling.targets.targets import ExactTarget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from discreet.lattice.noise.box_muller import Limits
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.coins import Coins
    from discreet.sampling.k_norm.model_rows import LayoutRows
    from discreet.sampling.k_norm.rows import BoundedRows
    from discreet.tables.rows import PrivateRows

# Coefficients are multiples of 2**-20 in the reader's units.
_UNIT_BITS = 20
_LARGEST_BOUND = 1000
# Rows times lines that a default grid is made for, and that any may have.
_WORK = 2 * 10**8
MOST_WORK = 10**10
_FEWEST = 17
_MOST_PER_SIDE = {1: (1 << 16) + 1, 2: 1023, 3: 101}


@dataclass(frozen=True, kw_only=True)
class QuantileRegressionTarget(ExactTarget):
    """Grid points theta with probability proportional to ``exp(-scale * max_j |g_j(theta)| / h_j)``.

    g is the gradient ``sum_i x_i (1[y_i <= x_i'theta] - q)``, h_j the most by which a record changes its coordinate.

    Parameters
    ----------
    reader : LayoutRows
        The public layout of a row (1, x, y) of numbers; entries and targets are in units of the half-widths.
    q : number or text
        Which quantile, above 0 and below 1.
    coef_bound : number
        Every coefficient but that of the constant, which is within 1, is within it; at most 1000.
    per_side : int
        Grid points a side, odd.
    adjacency : Replace or AddRemove
        Which data sets are neighbours: it decides the h_j.

    Guarantee
    ---------
    A record changes a utility by at most 1. Probabilities are exact. The work depends on the number of rows alone,
    refinement excepted. Proof: docs/proofs/quantiles.md, section 3
    Source: Reimherr and Awan 2019 (K-norm gradient), on a grid.

    Examples
    --------
    >>> from discreet.lattice.bounds import Box, Interval
    >>> from discreet.sampling.k_norm.model_rows import LayoutRows
    >>> from discreet.tables.array_rows import array_layout
    >>> layout = array_layout(("x0",), Box(lower=[0], upper=[10]), Interval(0, 5), intercept=True)
    >>> reader = LayoutRows(layout=layout, labels=False)
    >>> target = QuantileRegressionTarget(reader=reader, q="1/2", per_side=101, adjacency=Replace())
    >>> target.n_candidates, target.half_widths()
    (10201, [Fraction(1, 1), Fraction(1, 1)])
    """

    reader: LayoutRows
    q: Any
    coef_bound: Any = Fraction(1)
    per_side: int
    adjacency: Adjacency

    def __post_init__(self) -> None:
        check_adjacency(self.adjacency)
        object.__setattr__(self, "q", check_quantile(self.q, "quantile"))
        bound = _checks.exact_positive(self.coef_bound, "coef_bound")
        if not bound <= _LARGEST_BOUND:
            raise InvalidArgument(f"`coef_bound` must be at most {_LARGEST_BOUND}; found {float(bound):.3g}.")
        object.__setattr__(self, "coef_bound", bound)
        if self.dimension > MOST_DIMENSIONS:
            raise InvalidArgument(
                f"A grid in {self.dimension} dimensions has too many points; at most {MOST_DIMENSIONS} coefficients, "
                "the intercept counted. Take fewer columns."
            )
        per_side = _checks.integer(self.per_side, "grid_points", low=3)
        if per_side % 2 == 0 or self.n_candidates > MOST_CELLS:
            raise InvalidArgument(
                f"`grid_points` must be odd, and its power {self.dimension} at most {MOST_CELLS}; found {per_side}."
            )

    @property
    def name(self) -> str:
        """What is drawn."""
        return f"K-norm gradient, quantile {self.q} regression on a grid, {self.dimension} parameters"

    @property
    def dimension(self) -> int:
        """How many coefficients there are, the constant's counted."""
        return self.reader.width

    @property
    def n_candidates(self) -> int:
        """Points of the grid."""
        return int(self.per_side**self.dimension)

    def sensitivity(self, adjacency: Adjacency) -> Fraction:
        """Return 1: utilities are in units of what a record changes under the target's adjacency."""
        if adjacency == self.adjacency:
            return Fraction(1)
        raise IncompatiblePlan(f"{self.name} was made for {self.adjacency!r}; found {adjacency!r}. Make them agree.")

    def half_widths(self) -> list[Fraction]:
        """Return the most by which a record changes each coordinate of the gradient, exactly, in units of K."""
        layout = self.reader.layout
        unit = 2**layout.bits
        limits = [(unit, unit)] * layout.intercept + [(code.lowest, code.highest) for code in layout.codings[:-1]]
        widths = []
        for low, high in limits:
            corners = [Fraction(value, unit) * side for value in (low, high) for side in (1 - self.q, -self.q)]
            # A record may also add nothing: 0 lies between the corners, as their signs differ.
            replaced, added = max(corners) - min(corners), max(map(abs, corners))
            # Not `rows_changed` times a bound: both contributions are from one interval.
            widths.append(replaced if isinstance(self.adjacency, Replace) else added)
        return widths

    def steps(self) -> list[int]:
        """Return the distance of neighbouring grid points in every coordinate, in units of 2**-20."""
        bounds = [Fraction(1)] * self.reader.layout.intercept
        bounds += [self.coef_bound] * (self.dimension - len(bounds))
        return [max(1, round(bound * 2**_UNIT_BITS / (self.per_side // 2))) for bound in bounds]

    def count(self, data: PrivateRows) -> int:
        """Return the number of rows."""
        return data.private_size()

    def prepare(self, data: PrivateRows) -> BoundedRows:
        """Return the rows; raises what the data owner declared."""
        return self.reader.read(data)

    def check_scale(self, scale: Fraction) -> None:
        """Refuse a scale that doubles cannot hold."""
        if not LEAST_SCALE <= scale <= 1 / LEAST_SCALE:
            raise IncompatiblePlan(f"{self.name}: the budget must be between 2**-500 and 2**500; found another.")

    def choose(self, prepared: BoundedRows, scale: Fraction, coins: Coins, n_draws: int) -> NDArray[np.float64]:
        """Return `n_draws` independent grid points."""
        sums = GridSums(self, prepared)
        winners = race(
            sums.scores(float(scale)),
            # The gradient, its factor and their product: four roundings of the largest score.
            radius=2.0**-49 * float(scale) * sums.n_rows,
            largest=1.001 * float(scale) * sums.n_rows,
            limits=partial(sums.limits, scale),
            size=n_draws,
            coins=coins,
        )
        half = self.per_side // 2
        places = np.stack(np.unravel_index(winners, (self.per_side,) * self.dimension), axis=1) - half
        # The line's coordinate is the first of the coefficients, and the last of a winner's place.
        return np.asarray(np.roll(places, 1, axis=1) * np.array(self.steps()) * 2.0**-_UNIT_BITS)


class GridSums:
    """The gradient at every point of the grid, in whole numbers that doubles hold exactly.

    Parameters
    ----------
    target : QuantileRegressionTarget
        The public grid.
    rows : BoundedRows
        The private rows.
    """

    def __init__(self, target: QuantileRegressionTarget, rows: BoundedRows) -> None:
        self._target = target
        layout = target.reader.layout
        self._bits, self._per_side, self._steps = layout.bits, target.per_side, target.steps()
        self._codes = np.ldexp(rows.private_matrix, layout.bits).astype(np.int64).T.copy()
        self._y = np.ldexp(rows.private_y, layout.bits + _UNIT_BITS).astype(np.int64)
        self.n_rows = int(self._y.size)
        self._has_constant = layout.intercept
        self._signs = np.where(self._codes[0] < 0, -1, 1)
        self._sizes = np.maximum(np.abs(self._codes[0]), 1)
        self._weights = (self._codes * self._signs).astype(np.float64)
        self._always = (self._codes * (self._codes[0] < 0)).sum(axis=1).astype(np.float64)
        self._totals = self._codes.sum(axis=1).astype(np.float64)
        self.sums = np.concatenate(list(self._lines()), axis=1)

    def _lines(self) -> Iterator[NDArray[np.float64]]:
        """Yield sums of rows at or below the plane, shape (dimension, per_side), for every line of the grid."""
        half = self._per_side // 2
        multiples = range(-half, half + 1)
        for places in itertools.product(multiples, repeat=self._target.dimension - 1):
            rest = self._y.copy()
            for place, step, codes in zip(places, self._steps[1:], self._codes[1:], strict=True):
                rest -= (place * step) * codes
            entries = self._entries(rest)
            line = np.empty((self._target.dimension, self._per_side))
            for out, weights, always in zip(line, self._weights, self._always.tolist(), strict=True):
                changes = np.bincount(entries, weights=weights, minlength=self._per_side + 1)
                changes[0] += always
                np.cumsum(changes[:-1], out=out)
            yield line

    def _entries(self, rest: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return from which place of the line on each row is at or below the plane, or no longer is.

        A row of positive first entry c is where ``rest <= t c``, so from ``t = ceil(rest / c)`` on; one of negative
        entry up to ``floor(rest / c)``; one of entry 0 everywhere or nowhere.
        """
        reach, step = self._steps[0] * (self._per_side // 2), self._steps[0]
        np.negative(rest, out=rest)
        if self._has_constant:
            # The entry is K, or the whole row is 0 and has no weight.
            floors = rest >> self._bits
            first = -((floors - reach) // step)
        else:
            floors = rest // self._sizes
            rising, falling = -((floors - reach) // step), (floors + reach) // step + 1
            first = np.where(self._signs < 0, falling, rising)
            never = np.where(rest >= 0, 0, self._per_side)
            first = np.where(self._codes[0] == 0, never, first)
        clipped: NDArray[np.int64] = np.clip(first, 0, self._per_side)
        return clipped

    def scores(self, scale: float) -> NDArray[np.float64]:
        """Return scale times the utility of every grid point, in doubles."""
        largest = np.zeros(self.sums.shape[1])
        for sums, total, width in zip(self.sums, self._totals.tolist(), self._widths(), strict=True):
            gradient = np.abs(sums - float(self._target.q) * total)
            gradient *= scale / float(width)
            np.maximum(largest, gradient, out=largest)
        return -largest

    def limits(self, scale: Fraction, index: int, level: int) -> Limits:
        """Return scale times the utility of a grid point, exactly, whatever the level."""
        del level
        score = -scale * max(
            abs(Fraction(sums) - self._target.q * Fraction(total)) / width
            for sums, total, width in zip(
                self.sums[:, index].tolist(), self._totals.tolist(), self._widths(), strict=True
            )
        )
        return score, score

    def _widths(self) -> list[Fraction]:
        return [width * 2**self._bits for width in self._target.half_widths()]


def default_points(dimension: int, n_rows: int | None) -> int:
    """Return how many grid points a side take moderate work; odd.

    Examples
    --------
    >>> default_points(2, 10_000), default_points(3, 100_000), default_points(1, None)
    (1023, 43, 65537)
    """
    most = _MOST_PER_SIDE.get(dimension, 3)
    if dimension == 1 or n_rows is None:
        return most
    wanted = math.floor(math.exp(math.log(_WORK / max(1, n_rows)) / (dimension - 1)))
    return min(most, max(_FEWEST, wanted - (wanted + 1) % 2))
