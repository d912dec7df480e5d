"""Private quantiles: the exponential mechanism on a fine public grid, drawn exactly with fixed work.

The utility of a point is minus its distance in ranks from the quantile, so it is the same for all points between two
neighbouring values. A draw is a race among these runs of points, each with its number of points as weight, and then a
uniform point of the winner. Nothing is rejected, so nothing waits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument, InvalidData, InvalidType
from discreet.lattice.bounds import Interval
from discreet.lattice.noise.race import race
from discreet.lattice.noise.scales import LEAST_SCALE
from discreet.lattice.noise.whole_numbers import below
from discreet.numbers.intervals import enclose
from discreet.privacy.adjacency import Replace
from discreet.sampling.evaluation import rows_of
from discreet.sampling.targets.targets import ExactTarget

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.lattice.noise.box_muller import Limits
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.coins import Coins

# Points of the grid that bounds alone make; no grid has more.
_FINEST = 1 << 32
# Weights are numbers of points over 2**33, so that their logarithms are of numbers up to 1/2, and below 23 in size.
_UNIT_BITS = 33
_LARGEST_LOG = 23.0


def rank_sensitivity(quantile: Fraction, adjacency: Adjacency) -> Fraction:
    """Return the most by which a distance in ranks from a quantile changes between neighbours.

    Examples
    --------
    >>> from discreet.privacy.adjacency import AddRemove
    >>> rank_sensitivity(Fraction(1, 2), AddRemove()), rank_sensitivity(Fraction(1, 2), Replace())
    (Fraction(1, 2), Fraction(1, 1))
    """
    # Not `rows_changed` times a bound: one row comes and another goes, which moves a rank by 1 at most.
    return Fraction(1) if isinstance(adjacency, Replace) else max(quantile, 1 - quantile)


def check_quantile(value: Any, name: str = "q") -> Fraction:
    """Return `value` as an exact rational above 0 and below 1."""
    number = _checks.exact(value, name)
    if 0 < number < 1:
        return number
    raise InvalidArgument(f"`{name}` must satisfy 0 < {name} < 1; found {number}. The median is 1/2.")


@dataclass(frozen=True, kw_only=True)
class PublicLine:
    """A public grid of points on a declared range.

    Parameters
    ----------
    bounds : Interval
        The range; values outside are moved to its ends.
    step : number or None
        Distance of neighbouring points, from the lower end; None makes 2**32 points.

    Examples
    --------
    >>> line = PublicLine(bounds=Interval(0, 10), step=Fraction(1, 2))
    >>> line.n_points, line.places(np.array([-3.0, 0.3, 99.0])).tolist(), line.value(3)
    (21, [0, 1, 20], 1.5)
    """

    bounds: Interval
    step: Fraction | None = None
    n_points: int = field(init=False)
    _per_unit: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.bounds, Interval):
            raise InvalidType(
                f"`bounds` must be an Interval(lower, upper) with the public range of the values; "
                f"found {type(self.bounds).__name__}. A quantile needs a bounded domain."
            )
        width = Fraction(self.bounds.upper) - Fraction(self.bounds.lower)
        n_points, per_unit = _FINEST, (_FINEST - 1) / width
        if self.step is not None:
            step = _checks.exact_positive(self.step, "step")
            object.__setattr__(self, "step", step)
            n_points, per_unit = math.floor(width / step) + 1, 1 / step
            if not 2 <= n_points <= _FINEST:
                raise InvalidArgument(
                    "`step` must divide the range of `bounds` into 1 to 2**32 - 1 parts; "
                    f"found {'fewer' if n_points < 2 else 'more'}. Change it, or leave it out."
                )
        if not per_unit < 2**1000:
            raise InvalidArgument("`bounds` are too close: the steps of their grid are not representable. Widen them.")
        _checks.set_fields(self, n_points=n_points, _per_unit=float(per_unit))

    def places(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return which point each finite value becomes, int64 from 0 to n_points - 1; a monotone function."""
        with np.errstate(all="ignore"):
            moved = np.clip(values, self.bounds.lower, self.bounds.upper)
            moved -= self.bounds.lower
            moved *= self._per_unit
            moved += 0.5
            return np.clip(np.floor(moved), 0, self.n_points - 1).astype(np.int64)

    def value(self, place: int) -> float:
        """Return a point in the values' own units, at most an upper bound and at least the lower one."""
        step = (Fraction(self.bounds.upper) - Fraction(self.bounds.lower)) / (_FINEST - 1)
        exact = Fraction(self.bounds.lower) + place * (step if self.step is None else self.step)
        return min(max(float(exact), self.bounds.lower), self.bounds.upper)


@dataclass(frozen=True, kw_only=True)
class QuantileTarget(ExactTarget):
    """A quantile's exponential mechanism: every point of a public grid, by its distance in ranks.

    With n values, a point's utility is minus the distance of ``q n`` from the interval between the number of values
    below it and the number of values at most it: the K-norm gradient of the quantile's loss.

    Parameters
    ----------
    q : number or text
        Which quantile, above 0 and below 1; 1/2 is the median.
    bounds : Interval
        The public range of the values; cells outside are moved to its ends.
    step : number or text, optional
        The answer is the lower bound plus a whole number of steps, and values are rounded to the nearest; None makes
        a grid of 2**32 points. A step suits values that are themselves multiples of it.

    Guarantee
    ---------
    Probabilities are exactly proportional to ``exp(scale * utility)`` over the grid. A record changes a utility by at
    most 1 under Replace and ``max(q, 1 - q)`` under AddRemove. The number of words and of operations depends on the
    number of rows alone, refinement excepted. Proof: docs/proofs/quantiles.md
    Source: Smith 2011; Reimherr and Awan 2019 (K-norm gradient).

    Examples
    --------
    >>> from discreet.privacy.budgets import Pure
    >>> from discreet.sampling.mechanisms import sample
    >>> target = QuantileTarget(q="1/2", bounds=Interval(0, 100), step=1)
    >>> drawn = sample(target, np.full(1000, 42.0), budget=Pure(epsilon=1), adjacency=Replace(), n_draws=2)
    >>> drawn.value.points.ravel().tolist()
    [42.0, 42.0]
    """

    q: Any
    bounds: Interval
    step: Any = None
    line: PublicLine = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", check_quantile(self.q))
        object.__setattr__(self, "line", PublicLine(bounds=self.bounds, step=self.step))
        object.__setattr__(self, "step", self.line.step)

    @property
    def name(self) -> str:
        """What is drawn."""
        return f"K-norm gradient, quantile {self.q}"

    @property
    def dimension(self) -> int:
        """One."""
        return 1

    @property
    def n_candidates(self) -> int:
        """Points of the grid."""
        return self.line.n_points

    def sensitivity(self, adjacency: Adjacency) -> Fraction:
        """Return 1 under Replace, ``max(q, 1 - q)`` under AddRemove."""
        return rank_sensitivity(self.q, adjacency)

    def count(self, data: Any) -> int:
        """Return the number of values."""
        return int(values_of(data).shape[0])

    def prepare(self, data: Any) -> NDArray[np.int64]:
        """Return the places of the values, sorted.

        Raises
        ------
        InvalidType, InvalidData
            If the data are not one column of numbers, or a cell is missing.
        """
        return sorted_places(self.line, values_of(data))

    def check_scale(self, scale: Fraction) -> None:
        """Refuse a scale that doubles cannot hold."""
        if not LEAST_SCALE <= scale <= 1 / LEAST_SCALE:
            raise IncompatiblePlan(
                f"{self.name}: the budget's scale must be between 2**-500 and 2**500 a rank; found another. Change it."
            )

    def choose(self, prepared: NDArray[np.int64], scale: Fraction, coins: Coins, n_draws: int) -> NDArray[np.float64]:
        """Return `n_draws` independent points, float64 of shape (n_draws, 1)."""
        runs = Runs(prepared, self.q, self.line.n_points)
        places = runs.draw(scale, coins, n_draws)
        return np.array([[self.line.value(place)] for place in places])


def values_of(data: Any) -> NDArray[np.float64]:
    """Return one column of private values as float64, NaN and infinity included; raises on shape and type alone."""
    rows = rows_of(data, "values")
    if rows.shape[1] == 1:
        return rows[:, 0]
    raise InvalidData(f"`values` must be one column; found {rows.shape[1]}. Give one column at a time.")


def sorted_places(line: PublicLine, values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the places of private values in rising order.

    Raises
    ------
    InvalidData
        If a value is NaN or infinite.
    """
    if not np.isfinite(values).all():
        raise InvalidData("`values` has missing cells (NaN or inf). Take them out, or fill them beforehand.")
    places = line.places(values)
    places.sort()
    return places


class Runs:
    """Runs of neighbouring grid points of equal utility: how many points each has, and how far from the quantile.

    Parameters
    ----------
    places : np.ndarray of int64, shape (n,)
        Private values as places, in rising order.
    quantile : Fraction
        Which quantile.
    n_points : int
        Points of the grid.

    Notes
    -----
    There are always n + 2 runs: for every count c from 0 to n the points that have c as the nearest end of their
    interval of ranks, and the points whose interval holds ``q n``. Runs without points never win.
    """

    def __init__(self, places: NDArray[np.int64], quantile: Fraction, n_points: int) -> None:
        n = places.size
        self._goal = quantile * n
        lows = np.concatenate([[0], places])
        highs = np.concatenate([places, [n_points - 1]])
        starts, lengths = lows.copy(), highs - lows
        before, after = math.floor(self._goal), math.ceil(self._goal)
        # A count above the goal is reached to the right of its lower value, one below it from its lower value on.
        starts[after:] += 1
        if before == after:
            lengths[before] = 0
        first, last = int(lows[after]), int(highs[before])
        self._starts = np.append(starts, first)
        self._lengths = np.append(lengths, last - first + 1)
        self._distances = np.append(np.abs(np.arange(n + 1) - float(self._goal)), 0.0)

    def draw(self, scale: Fraction, coins: Coins, size: int) -> list[int]:
        """Return places drawn independently, each with probability proportional to ``exp(-scale * distance)``."""
        n = self._starts.size - 2
        words = coins.words(size)
        factor = float(scale)
        with np.errstate(all="ignore"):
            scores = np.log(self._lengths * 2.0**-_UNIT_BITS) - factor * self._distances
        # Distance and its product: 2**-51 of the largest; the logarithm 2**-50 of its size; the sum a rounding.
        largest = factor * n + _LARGEST_LOG
        winners = race(
            scores,
            radius=2.0**-49 * largest,
            largest=1.001 * largest,
            limits=partial(self._limits, scale),
            size=size,
            coins=coins,
        )
        return [
            int(self._starts[winner]) + below(int(self._lengths[winner]), word, coins)
            for winner, word in zip(winners.tolist(), words.tolist(), strict=True)
        ]

    def _limits(self, scale: Fraction, index: int, level: int) -> Limits:
        distance = abs(index - self._goal) if index < self._starts.size - 1 else Fraction(0)
        weight = Fraction(int(self._lengths[index]), 1 << _UNIT_BITS)
        low, high = enclose(lambda reals: reals.log_of(weight), 128 + 64 * level)
        return low - scale * distance, high - scale * distance
