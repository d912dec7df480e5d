"""Targets on a line whose log density is concave: one envelope for all of them accepts 46 proposals in 100.

Proof: docs/proofs/concave.md, section 2
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidType
from discreet.lattice.bounds import Interval
from discreet.lattice.noise import accuracy
from discreet.lattice.noise.rounding import ROUNDOFF
from discreet.lattice.noise.thresholds import Threshold
from discreet.numbers.intervals import enclose
from discreet.numbers.outward import exp_down, exp_up
from discreet.sampling.evaluation import check_below, evaluate
from discreet.sampling.targets.own_utilities import OwnUtility
from discreet.sampling.targets.targets import BELIEVED, Points, Proposer, ScaledTarget, Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.lattice.noise.box_muller import Limits
    from discreet.privacy.coins import Coins

# A step of the search is so small that the log density changes by at most this.
_OF_STEP = Fraction(1, 2**13)
_MOST_BITS = 40
# How far a computed height of a proposal may be from the exact one, relatively: a few roundings and a logarithm.
_HEIGHT_ERROR = 2.0**-48
# A point as a double, relative to the larger limit of the domain.
_POINT_ERROR = Fraction(1, 2**50)
# Points are published on a grid so much finer than the search's.
_FINER_BITS = 6
_LARGEST_SLACK = Fraction(1, 8)


@dataclass(frozen=True, kw_only=True, eq=False)
class LogConcave(OwnUtility, Target):
    """A concave utility on an interval: density proportional to ``exp(scale * u(x))`` there.

    Parameters
    ----------
    utility : callable
        Takes points, shape (size, 1), and rows, shape (n_rows, n_columns); returns one number a point. It is concave
        in the point, for every data set.
    bounds : Interval
        The domain.
    slope : number
        The most by which the utility changes per unit of the point, for every data set; it decides how fine a grid is
        searched. It may grow with the number of rows, which is then public.
    change : number
        The most by which the utility of a point changes when a record is added, removed or replaced.
    error : number, default 2**-40
        By how much an evaluation may be off.
    example : array-like
        Public rows with the columns of the data, on which the function is tried.

    Raises
    ------
    InvalidArgument, InvalidType
        If the domain is not an interval, or the example shows at public points that the utility is not concave,
        steeper than declared, or NaN.

    Guarantee
    ---------
    A proposal is accepted with probability at least about ``(e - 1) / (e + 1) = .4621``, whatever the utility.
    Privacy holds as far as the declared numbers are true. Proof: docs/proofs/concave.md, section 2

    Examples
    --------
    >>> def utility(points, rows):
    ...     return -np.abs(points - rows.T).sum(axis=1)
    >>> target = LogConcave(utility=utility, bounds=Interval(0, 1), slope=10, change=1, example=np.zeros((10, 1)))
    >>> round(float(target.at(Fraction(1), 10).acceptance), 3)
    0.462
    """

    bounds: Interval
    slope: Any
    error: Any = Fraction(1, 2**40)

    def __post_init__(self) -> None:
        if not isinstance(self.bounds, Interval):
            raise InvalidType(
                f"`bounds` must be an Interval: the domain is a bounded line; found {type(self.bounds).__name__}."
            )
        _checks.check_fields(self, _checks.exact_positive, "slope")
        _checks.check_fields(self, _checks.exact_nonnegative, "error")
        self._read_change()
        points = np.linspace(self.bounds.lower, self.bounds.upper, 257)[:, None]
        values = self._tried(points)
        steepest = np.full(256, float(self.slope) * (self.bounds.upper - self.bounds.lower) / 256)
        noise = 4 * float(self.error)
        check_below(np.abs(np.diff(values)) - noise, steepest, "`utility` is steeper than `slope`")
        check_below(np.diff(values, 2) - noise, np.zeros(255), "`utility` is not concave")

    @property
    def name(self) -> str:
        """What is drawn."""
        return "concave utility on a line"

    @property
    def dimension(self) -> int:
        """One."""
        return 1

    def at(self, scale: Fraction, n_rows: int | None) -> ScaledLogConcave:
        """Return the target at a public scale.

        Raises
        ------
        IncompatiblePlan
            If the utility is too steep, or its error too large, for a search to find the envelope.
        """
        del n_rows  # the slope holds for every data set
        accuracy.check_library()
        lower, upper = Fraction(self.bounds.lower), Fraction(self.bounds.upper)
        rise = scale * self.slope * (upper - lower)
        bits = max(4, math.ceil(rise / _OF_STEP).bit_length())
        size = max(abs(lower), abs(upper))
        of_step, wrong = rise / 2**bits, scale * (self.error + self.slope * size * _POINT_ERROR)
        # Of the mode: a step to either side, and a wrong comparison at each of 2**bits points.
        slack = of_step + 2 * wrong * (2**bits + 2)
        if bits > _MOST_BITS or slack > _LARGEST_SLACK:
            raise IncompatiblePlan(
                f"The utility may be too steep, or its evaluation too rough, for the scale {float(scale):.3g}: no "
                "search finds its mode. Lower the budget, declare a smaller `slope` or `error`, or split the domain."
            )
        drop = 1 + of_step + 4 * wrong + slack
        least = exp_down(-slack) * (1 - 1 / exp_down(drop)) / (drop * (1 + exp_up(Fraction(-1))))
        return ScaledLogConcave(
            dimension=1,
            acceptance=Fraction(math.floor(least * 2**80), 2**80),
            # The height of a proposal within the domain is at most 2**bits.
            error=2 * wrong + Fraction(_HEIGHT_ERROR) * (rise + 2**bits) + 16 * Fraction(ROUNDOFF) * (rise + 2),
            common_envelope=False,
            floor=-np.inf,
            default=(float((lower + upper) / 2),),
            notes=(BELIEVED.format("sensitivity, slope and concavity"),),
            target=self,
            scale=float(scale),
            bits=bits,
            slack=float(slack) * (1 + 2.0**-40),
            margin=float(2 * wrong),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaledLogConcave(ScaledTarget):
    """A concave target at one public scale.

    Parameters
    ----------
    target : LogConcave
        The declarations.
    scale : float
        Of the utility.
    bits : int
        The domain has 2**bits steps.
    slack, margin : float
        By how much the mode may be missed, and what two evaluations may be off by, in the log density.
    """

    target: LogConcave
    scale: float
    bits: int
    slack: float
    margin: float

    def begin(self, prepared: NDArray[np.float64]) -> LogConcaveProposer:
        """Return who proposes around the mode, after a public number of bisections."""
        return LogConcaveProposer(self, prepared)


@dataclass(eq=False)
class HeightPoints(Points):
    """Proposed points with what they were made of.

    Parameters
    ----------
    right : ndarray of bool, shape (size,)
        On which side of the mode.
    heights : ndarray of float64, shape (size,)
        y, in lengths of that side: uniform below 1, or 1 and an exponential.
    beyond : ndarray of bool, shape (size,)
        Which of the two.
    words : ndarray of uint64, shape (2, size)
        Of the uniform number, or of the exponential.
    coins : Coins
        Where further words come from.
    """

    right: NDArray[np.bool_]
    heights: NDArray[np.float64]
    beyond: NDArray[np.bool_]
    words: NDArray[np.uint64]
    coins: Coins
    further: dict[int, list[int]]

    def limits(self, index: int, level: int) -> Limits | None:
        """Return limits of a height, from its words and `level` more; None where they say too little."""
        further = self.further.setdefault(index, [])
        if len(further) < level:
            further += self.coins.words(level - len(further)).tolist()
        uniform, bits = 0, self.coins.word_bits
        for word in [*self.words[:, index].tolist(), *further[:level]]:
            uniform = uniform << bits | word
        n_bits = bits * (2 + level)
        if not self.beyond[index]:
            return Fraction(uniform, 1 << n_bits), Fraction(uniform + 1, 1 << n_bits)
        if uniform == 0:
            return None
        low, high = enclose(lambda reals: reals.minus_log(uniform, uniform + 1, n_bits), n_bits + 32)
        return 1 + low, 1 + high


class LogConcaveProposer(Proposer):
    """Proposes from a flat top between two points a step e below the mode, and exponential tails.

    A proposal is ``mode +- side * y``; the side is taken in proportion to its length, and y has one public law.
    """

    def __init__(self, scaled: ScaledLogConcave, rows: NDArray[np.float64]) -> None:
        self._scaled = scaled
        self._rows = rows
        bounds, size = scaled.target.bounds, 1 << scaled.bits
        self._lower = Fraction(bounds.lower)
        self._step = (Fraction(bounds.upper) - self._lower) / size
        self._mode = self._first(lambda k: self._values(k, k + 1), size)
        self._top = self._value(self._mode) + scaled.slack
        self._left, self._right = self._side(-1, self._mode), self._side(1, size - self._mode)

    def _value(self, k: int) -> float:
        point = np.array([[float(self._lower + k * self._step)]])
        value = float(evaluate(self._scaled.target.utility, point, self._rows)[0])
        return self._scaled.scale * value

    def _values(self, k: int, other: int) -> bool:
        """Whether the log density does not rise from one grid point to the next."""
        return not self._value(other) > self._value(k)

    def _first(self, falls: Callable[[int], bool], size: int) -> int:
        """Return the first k below `size` where something that stays true is true, or `size`; fixed work."""
        low, high = 0, size
        for _ in range(self._scaled.bits + 1):
            middle = min((low + high) // 2, size - 1)
            if falls(middle):
                high = min(high, middle)
            else:
                low = max(low, middle + 1)
            high = max(high, low)
        return high

    def _side(self, sign: int, room: int) -> int:
        """Return in how many steps the log density has fallen by 1, or how many there are."""
        mode, most = self._value(self._mode), max(room, 1)
        lowest = mode - 1 - self._scaled.margin
        found = self._first(lambda k: not self._value(self._mode + sign * min(k + 1, room)) > lowest, most)
        return min(found + 1, room)

    def propose(self, coins: Coins, size: int) -> HeightPoints:
        """Return proposals: 4 words each, refinement excepted."""
        words = coins.words(4 * size).reshape(4, size)
        right = _rational(self._right, self._left + self._right, words[0], coins)
        beyond = ~_settled(_flat(coins.word_bits), words[1], coins)
        points = HeightPoints(np.empty((size, 1)), right, np.empty(size), beyond, words[2:], coins, {})
        leading = words[2].astype(np.float64) * 2.0**-64 + (words[3].astype(np.float64) + 0.5) * 2.0**-128
        points.heights = np.where(beyond, 1.0 - np.log(leading), leading)
        known = (words[2] > 0) & (words[2] < 2**64 - 1) & (coins.word_bits == 64)
        for index in np.flatnonzero(~known).tolist():
            points.heights[index] = _refined(points, index)
        sides = np.where(right, float(self._right), -float(self._left))
        points.values[:, 0] = float(self._lower) + (self._mode + sides * points.heights) * float(self._step)
        return points

    def log_ratio(self, points: Points) -> NDArray[np.float64]:
        """Return the log of target over envelope; minus infinity outside the domain."""
        assert isinstance(points, HeightPoints)  # noqa: S101  (its own kind)
        bounds = self._scaled.target.bounds
        inside = self._inside(points)
        held = np.clip(points.values, bounds.lower, bounds.upper)
        values = self._scaled.scale * evaluate(self._scaled.target.utility, held, self._rows)
        ratios = values - self._top + np.where(points.beyond, points.heights, 0.0)
        return np.where(inside, ratios, -np.inf)

    def _inside(self, points: HeightPoints) -> NDArray[np.bool_]:
        """Return which exact proposals are within the domain."""
        sides = np.where(points.right, self._right, self._left)
        rooms = np.where(points.right, (1 << self._scaled.bits) - self._mode, self._mode)
        steps = sides * points.heights
        inside: NDArray[np.bool_] = steps * (1 + _HEIGHT_ERROR) < rooms
        for index in np.flatnonzero(~inside & ~(steps * (1 - _HEIGHT_ERROR) > rooms)).tolist():
            inside[index] = _is_below(points, index, int(sides[index]), int(rooms[index]))
        return inside

    def settle(self, points: Points, indices: NDArray[np.intp], coins: Coins) -> NDArray[np.float64]:
        """Return the grid points next to the exact proposals, as the nearest doubles."""
        del coins  # proposals keep theirs
        assert isinstance(points, HeightPoints)  # noqa: S101  (its own kind)
        settled = np.empty((len(indices), 1))
        sides = np.where(points.right[indices], self._right, -self._left)
        moved = np.ldexp(sides * points.heights[indices], _FINER_BITS)
        nearest = np.rint(moved)
        known = np.abs(moved - nearest) < 0.5 - (_HEIGHT_ERROR * np.abs(moved) + 2.0**-50)
        for row, index in enumerate(indices.tolist()):
            whole = int(nearest[row]) if known[row] else _settle(points, index, int(sides[row]) << _FINER_BITS)
            exact = self._lower + (self._mode + Fraction(whole, 1 << _FINER_BITS)) * self._step
            settled[row, 0] = float(exact)
        return settled


@lru_cache(maxsize=8)
def _flat(word_bits: int) -> Threshold:
    """Return the chance of the flat top, e / (e + 1)."""
    return Threshold(lambda reals: 1 / (1 + reals.exp(reals.of(-1))), word_bits)


def _settled(threshold: Threshold, words: NDArray[np.uint64], coins: Coins) -> NDArray[np.bool_]:
    success: NDArray[np.bool_] = words < threshold.first
    for index in np.flatnonzero(words == threshold.first).tolist():
        success[index] = threshold.settle(coins, 1)
    return success


def _rational(part: int, whole: int, words: NDArray[np.uint64], coins: Coins) -> NDArray[np.bool_]:
    """Return coins with probability part / whole, a private rational, exactly."""
    if part == whole:
        return np.ones(words.size, bool)
    return _settled(Threshold(lambda reals: reals.of(Fraction(part, whole)), coins.word_bits), words, coins)


def _refined(points: HeightPoints, index: int) -> float:
    level = 0
    while True:
        limits = points.limits(index, level)
        if limits is not None and (limits[1] - limits[0]) * 2**60 <= limits[1]:
            return float((limits[0] + limits[1]) / 2)
        level += 1


def _is_below(points: HeightPoints, index: int, side: int, room: int) -> bool:
    level = 0
    while True:
        limits = points.limits(index, level)
        if limits is not None:
            if limits[1] * side <= room:
                return True
            if limits[0] * side > room:
                return False
        level += 1


def _settle(points: HeightPoints, index: int, side: int) -> int:
    level = 0
    while True:
        limits = points.limits(index, level)
        if limits is not None:
            low, high = sorted(math.floor(limit * side + Fraction(1, 2)) for limit in limits)
            if low == high:
                return low
        level += 1
