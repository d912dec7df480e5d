"""L2 K-norm noise: pure differential privacy for a vector whose Euclidean norm changes by at most a bound."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.lattice.noise import box_muller, rounding, scales
from discreet.lattice.noise.box_muller import Limits, Pairs
from discreet.lattice.noise.k_norm import check_rate
from discreet.lattice.noise.radius import NEARLY_ONE, Radius, reach_and_error
from discreet.numbers.intervals import enclose

if TYPE_CHECKING:
    from discreet.privacy.coins import Coins


def l2_norm(statistic: np.ndarray, *, rate: Fraction, coins: Coins, step_bits: int = 0) -> np.ndarray:
    """Return an exact statistic plus l2 K-norm noise, rounded to the nearest step.

    Parameters
    ----------
    statistic : np.ndarray of int64, any shape
        The exact statistic in grid units.
    rate : Fraction
        The noise Z has a density proportional to `exp(-rate * |z|)`, |z| the Euclidean norm in grid units; above 0.
    coins : Coins
        Where the random words come from.
    step_bits : int, default 0
        The release is in steps of 2**step_bits grid units.

    Returns
    -------
    np.ndarray of int64, the statistic's shape
        `floor((S + Z) / 2**step_bits + 1/2)`. Sums wrap around modulo 2**64 and never raise.

    Raises
    ------
    InvalidArgument
        If `rate` or `step_bits` is out of its range; nothing is drawn.
    InvalidType
        If `statistic` is not an int64 array.

    Notes
    -----
    With d entries, Z = r g / |g|: r is the sum of d exponentials of the given rate, g a vector of d standard normal
    numbers. None of them is ever rounded. Every entry has variance `(d + 1) / rate**2`; entries are uncorrelated, not
    independent. There are 2 d words for r and 3 for two entries of g, refinement excepted.

    **Error radius**, in steps. Let e = 2**-53, f = 1 / rate, E the error of a normal number (`Pairs.doubles`), N the
    computed |g|. The radius r errs as in `k_norm`, with d exponentials. N is the root of a sum of d squares: it errs
    by sqrt(d) E for the entries and by (d / 2 + 2) e N for the arithmetic. A direction g_i / |g|, at most 1, errs by
    (E + sqrt(d) E) / N + (d / 2 + 3) e. f and two products: 3 e. The largest r is 44.4 d. The sum with the
    statistic's remainder adds one rounding, the remainder e. The radius of a call depends on nothing but |g|, which
    is independent of Z; so the chance of refinement tells nothing about the draw.

    Guarantee
    ---------
    Any two statistics within a Euclidean distance D of each other have releases that are (rate D)-indistinguishable,
    purely: a release is a function of S + Z, and Z has the density above. The law is exact: an undecided entry is
    computed from the same words, lengthened, in interval arithmetic.
    Proof: docs/proofs/l2_norm.md.
    Source: Hardt and Talwar 2010, On the geometry of differential privacy; Chaudhuri, Monteleoni and Sarwate 2011.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import numpy as np
    >>> from discreet.privacy.coins import Coins
    >>> l2_norm(np.array([100, 200]), rate=Fraction(1000), coins=Coins.from_seed(1)).tolist()
    [100, 200]
    """
    exact = scales.check_statistic(statistic).reshape(-1)
    shift = scales.check_step_bits(step_bits)
    factor = check_l2_rate(rate, exact.size)
    released = np.empty_like(exact)
    if exact.size:
        draw = _Draw(exact.size, factor, shift, coins)
        for index in draw.round_into(exact, released):
            released[index] = rounding.settle(int(exact[index]), shift, partial(draw.limits, index))
    return released.reshape(statistic.shape)


def l2_noise(size: int, *, rate: Fraction, coins: Coins) -> np.ndarray:
    """Return l2 K-norm noise alone, rounded to whole numbers of any size: the perturbation of an objective.

    It is never released itself; a statistic gets its noise by `l2_norm`.

    Parameters
    ----------
    size : int
        How many entries, at least 1.
    rate : Fraction
        The noise has a density proportional to `exp(-rate * |z|)`; greater than 0.
    coins : Coins
        Where the random words come from.

    Returns
    -------
    np.ndarray of float64, shape (size,)
        `floor(Z + 1/2)` where that is below 2**53, and the nearest double beyond. Nothing wraps around, so an entry
        is within 1/2 and `2**-53 * |Z|` of a real number with exactly the stated law, however large it is.

    Guarantee
    ---------
    Proof: docs/proofs/l2_norm.md.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from discreet.privacy.coins import Coins
    >>> l2_noise(3, rate=Fraction(1000), coins=Coins.from_seed(1)).tolist()
    [0.0, 0.0, 0.0]
    """
    n = _checks.integer(size, "size", low=1)
    draw = _Draw(n, check_l2_rate(rate, n), 0, coins)
    whole = np.empty(n, np.int64)
    undecided = draw.round_into(np.zeros(n, np.int64), whole)
    noise = whole.astype(np.float64)
    for index in undecided:
        noise[index] = _unwrapped(partial(draw.limits, index))
    return noise


def check_l2_rate(rate: Any, size: int) -> Fraction:
    """Return `1 / rate`, if l2 noise of that rate on `size` entries fits an int64 and a double."""
    factors = check_rate(rate, [Fraction(1)] * max(1, size))
    return factors[0]


class _Draw:
    """The words of one radius and one direction, and what they say."""

    def __init__(self, size: int, factor: Fraction, shift: int, coins: Coins) -> None:
        self._coins = coins
        self._size = size
        self._factor = factor
        self._shift = shift
        self._radius = Radius(size, coins)
        self._pairs = Pairs((size + 1) // 2, coins)
        self._scales: dict[int, Limits | None] = {}

    def round_into(self, exact: np.ndarray, released: np.ndarray) -> list[int]:
        """Write floor((exact + Z) / 2**shift + 1/2); return which entries are undecided."""
        in_steps = float(self._factor / 2**self._shift)
        noise, norm, vague = self._direction()
        radius, vague_radius = self._radius.double()
        noise *= radius
        noise *= in_steps
        radius_of_error = _error_radius(self._size, in_steps, norm)
        if vague or vague_radius or not radius_of_error < 0.5:
            # Nothing is known in doubles.
            return list(range(self._size))
        limit = rounding.certain_below(radius_of_error)
        if rounding.round_sum(noise, exact, self._shift, limit, released):
            undecided: list[int] = np.flatnonzero(np.abs(noise) >= limit).tolist()
            return undecided
        return []

    def _direction(self) -> tuple[np.ndarray, float, bool]:
        """Return g / |g|, |g|, and whether some pair is unknown in doubles."""
        normal = np.zeros((2, self._pairs.vague.size))
        vague = self._pairs.doubles(1.0, normal[0], normal[1])
        direction = normal.reshape(-1)[: self._size]
        norm = math.sqrt(float((direction * direction).sum()))
        return direction / (norm or 1.0), norm, vague

    def limits(self, index: int, level: int) -> Limits | None:
        """Return exact limits of an entry of Z, from the words and `level` more for each uniform number."""
        if level not in self._scales:
            self._scales[level] = self._enclose_scale(level)
        scale, entry = self._scales[level], self._normal(index, level)
        if scale is None or entry is None:
            return None
        low, high = box_muller.product(scale, entry)
        return low * self._factor, high * self._factor

    def _normal(self, index: int, level: int) -> Limits | None:
        half, pair = divmod(index, self._pairs.vague.size)
        both = self._pairs.limits(pair, level)
        return None if both is None else both[half]

    def _enclose_scale(self, level: int) -> Limits | None:
        """Return limits of r / |g| at rate 1."""
        entries = [self._normal(index, level) for index in range(self._size)]
        radius = self._radius.limits(level)
        if radius is None or any(entry is None for entry in entries):
            return None
        low = high = Fraction(0)
        for one, other in filter(None, entries):
            least = Fraction(0) if one <= 0 <= other else min(abs(one), abs(other))
            low, high = low + least**2, high + max(abs(one), abs(other)) ** 2
        if low == 0:
            return None
        precision = (2 + level) * self._coins.word_bits + 32
        norm_low, norm_high = enclose(lambda reals: reals.sqrt(reals.between(low, high)), precision)
        return None if norm_low <= 0 else (radius[0] / norm_high, radius[1] / norm_low)


def _error_radius(size: int, factor: float, norm: float) -> float:
    # The argument is in the docstring of `l2_norm`; 1.001 covers the roundings of these lines and second-order terms.
    if norm <= 0:
        return math.inf
    largest, of_radius = reach_and_error(size)
    e = rounding.ROUNDOFF
    of_direction = (1 + math.sqrt(size)) * box_muller.ERROR_RADIUS / norm + (size / 2 + 3) * e
    of_noise = factor * (of_radius + largest * (of_direction + 3 * e))
    return NEARLY_ONE * (of_noise + e * (factor * largest + 1) + e)


def _unwrapped(limits: Any) -> float:
    """Return floor(Z + 1/2) as the nearest double."""
    level = 0
    while True:
        enclosed = limits(level)
        if enclosed is not None:
            low, high = (math.floor(limit + Fraction(1, 2)) for limit in enclosed)
            if low == high:
                return float(low)
        level += 1
