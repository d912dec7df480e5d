"""Gumbel noise for selection: the largest of exact scores plus real noise, in exact order."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument
from discreet.lattice.noise import accuracy, rounding, scales
from discreet.numbers.intervals import Arithmetic, Interval, enclose

if TYPE_CHECKING:
    from discreet.lattice.noise.box_muller import Limits
    from discreet.privacy.coins import Coins

# Scores are clamped to this size, which enlarges no difference.
LARGEST_SCORE = 1 << 62
LARGEST_SCALE = Fraction(1 << 55)

# Scores that are made noisy together: the arrays of a block stay in a core's second-level cache.
_BLOCK = 1 << 14

# The radius of the noise of a score whose first word is neither all zeros nor all ones, in units of the scale.
ERROR_RADIUS = 2.0**-44


def noisy_top(scores: np.ndarray, *, scale: Fraction, size: int, coins: Coins) -> np.ndarray:
    """Return which scores are the largest after Gumbel noise, the largest first.

    Parameters
    ----------
    scores : np.ndarray of int64, shape (d,)
        Exact scores; beyond 2**62 in size they are clamped.
    scale : Fraction
        Scale of the noise in units of a score, between 2**-500 and 2**55: the noise is scale * G with
        P(G <= g) = exp(-exp(-g)).
    size : int
        How many to return, 0 to d.
    coins : Coins
        Where the random words come from.

    Returns
    -------
    np.ndarray of int64, shape (size,)
        Indices in falling order of score plus noise. Nothing else of the noise is ever shown.

    Raises
    ------
    InvalidArgument
        If `scale` or `size` is out of its range; nothing is drawn.
    InvalidType
        If `scores` is not an int64 array.

    Notes
    -----
    There are 2 d words, refinement excepted. The noise is real: it is not rounded, for ties would break the theorem.
    A draw is kept as a whole number and a fraction, so its error does not depend on the size of the scores.

    **Error radius**, in units of the scale. Let e = 2**-53. An exponential E = -log U errs by less than 13 e
    relatively (`box_muller.Pairs.doubles`); E/128 is exact from it, below 1/2 and at least 2**-71, so its logarithm
    errs by 13 e and by 8 e times its size, at most 49.3. The scale's double and the product err by 2 e times that.
    Splitting into whole and fraction is exact. Together less than (13 + 10 * 49.3) e < 2**-44.
    All noise is larger by log 128 than G; order does not notice.

    Guarantee
    ---------
    If no score differs by more than D between neighbours, one choice (size = 1) is the exponential mechanism:
    (2 D / scale)-differentially private, of bounded range, hence D**2 / (2 scale**2)-zCDP. The `size` largest are
    `size` successive choices without replacement: `size` times that. The law is exact: whatever doubles leave
    undecided is decided from the same words, lengthened, in interval arithmetic.
    Proof: docs/proofs/gumbel.md.
    Source: McSherry and Talwar 2007; Dong, Durfee and Rogers 2020, Optimal differential privacy composition for
    exponential mechanisms; Durfee and Rogers 2019 for the largest several.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import numpy as np
    >>> from discreet.privacy.coins import Coins
    >>> noisy_top(np.array([5, 900, 400]), scale=Fraction(1, 10), size=2, coins=Coins.from_seed(1)).tolist()
    [1, 2]
    """
    exact = scales.check_statistic(scores)
    if exact.ndim != 1:
        raise InvalidArgument(f"`scores` must have one dimension; found shape {exact.shape}.")
    beta = check_gumbel_scale(scale)
    n_kept = _checks.integer(size, "size", low=0, high=exact.size)
    if n_kept == 0:
        return np.empty(0, np.int64)
    race = _Race(np.clip(exact, -LARGEST_SCORE, LARGEST_SCORE), beta, coins)
    return race.first(n_kept)


def check_gumbel_scale(value: Any, name: str = "scale") -> Fraction:
    """Return a scale of Gumbel noise as an exact rational between 2**-500 and 2**55."""
    scale = _checks.exact_positive(value, name)
    if scales.LEAST_SCALE <= scale <= LARGEST_SCALE:
        return scale
    found = "a larger number" if scale > 1 else "a smaller number"
    raise InvalidArgument(
        f"`{name}` must be between 2**-500 and 2**55; found {found}. Change the budget or the bounds."
    )


class _Race:
    """The words of all draws, and what they say about the order of the noisy scores."""

    def __init__(self, scores: np.ndarray, scale: Fraction, coins: Coins) -> None:
        self._scores = scores
        self._scale = scale
        self._coins = coins
        self._words = np.empty((2, scores.size), np.uint64)
        self._further: dict[int, list[int]] = {}
        self._known: dict[tuple[int, int], Limits | None] = {}
        # Noisy scores: whole + fraction, within `_radius` of the truth.
        self._whole = np.empty(scores.size, np.int64)
        self._fraction = np.empty(scores.size)
        self._radius = 1.001 * ERROR_RADIUS * float(scale) + 4 * rounding.ROUNDOFF
        if coins.word_bits == 64:
            accuracy.check_library()
        coins.fill(self._words)
        if coins.word_bits == 64:
            self._add_doubles()

    def _add_doubles(self) -> None:
        factor = float(self._scale)
        for start in range(0, self._scores.size, _BLOCK):
            part = slice(start, start + _BLOCK)
            noise, vague = gumbel_doubles(self._words[0, part], self._words[1, part])
            noise *= factor
            whole = np.floor(noise)
            np.subtract(noise, whole, out=self._fraction[part])
            np.add(self._scores[part], whole.astype(np.int64), out=self._whole[part])
            if vague.any():
                for index in np.flatnonzero(vague).tolist():
                    self._place(start + index)

    def _place(self, index: int) -> None:
        """Write a noisy score from exact limits, as closely as doubles would have it."""
        level = 0
        while (limits := self._limits(index, level)) is None or limits[1] - limits[0] > self._radius / 2:
            level += 1
        # 128 times smaller exponentials, as in doubles. Out of range only with probability below 2**-1000.
        noise = (limits[0] + limits[1]) / 2 + self._scale * _SHIFT - int(self._scores[index])
        whole = math.floor(noise)
        self._whole[index] = int(self._scores[index]) + max(-LARGEST_SCORE, min(whole, LARGEST_SCORE))
        self._fraction[index] = float(noise - whole)

    def first(self, n_kept: int) -> np.ndarray:
        """Return the indices of the largest, in falling order."""
        candidates = np.arange(self._whole.size)
        if self._coins.word_bits < 64:
            return np.array(self._sorted(candidates.tolist())[:n_kept], np.int64)
        if n_kept < self._whole.size:
            place = self._whole.size - n_kept
            edge = int(np.partition(self._whole, place)[place])
            candidates = np.flatnonzero(self._whole >= edge - math.ceil(2 * self._radius) - 2)
        order = np.lexsort((-self._fraction[candidates], ~self._whole[candidates]))
        candidates = candidates[order]
        close = self._too_close(candidates)
        start = 0
        while start < n_kept:
            stop = start + 1
            while stop < candidates.size and close[stop - 1]:
                stop += 1
            if stop > start + 1:
                candidates[start:stop] = self._sorted(candidates[start:stop].tolist())
            start = stop
        return candidates[:n_kept]

    def _too_close(self, candidates: np.ndarray) -> list[bool]:
        """Return whether each candidate and the next may stand the wrong way round."""
        whole, fraction = self._whole[candidates], self._fraction[candidates]
        steps = whole[:-1].view(np.uint64) - whole[1:].view(np.uint64)
        gaps = steps.astype(np.float64) + (fraction[:-1] - fraction[1:])
        close: list[bool] = (gaps <= 2.001 * self._radius).tolist()
        return close

    def _sorted(self, group: list[int]) -> list[int]:
        """Return a few candidates in exact order, from words as long as it takes."""
        level = 0
        while True:
            known = [(limits, index) for index in group if (limits := self._limits(index, level)) is not None]
            if len(known) == len(group):
                known.sort(reverse=True)
                if all(one[0][0] > other[0][1] for one, other in itertools.pairwise(known)):
                    return [index for _, index in known]
            level += 1

    def _limits(self, index: int, level: int) -> Limits | None:
        """Return exact limits of score + scale * G from the words and `level` more; None if U may be 0 or 1."""
        if (index, level) not in self._known:
            self._known[index, level] = self._enclose(index, level)
        return self._known[index, level]

    def _enclose(self, index: int, level: int) -> Limits | None:
        further = self._further.setdefault(index, [])
        if len(further) < level:
            further += self._coins.words(level - len(further)).tolist()
        noise = enclose_gumbel([*self._words[:, index].tolist(), *further[:level]], self._coins.word_bits)
        if noise is None:
            return None
        score = int(self._scores[index])
        return score + self._scale * noise[0], score + self._scale * noise[1]


# log 128, to far more digits than a radius has; it moves all noisy scores alike.
_SHIFT = Fraction("4.85203026391961716592418023953627889486")


def gumbel_doubles(leading: np.ndarray, trailing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return -log(-log(U) / 128) of every pair of words, and which first words are all zeros or all ones.

    The numbers are within `ERROR_RADIUS` of the truth, those of such words excepted.
    """
    mirrored = leading.view(np.int64) >> 63  # -1 where U >= 1/2: its complement 1 - U is small
    near = (leading.view(np.int64) ^ mirrored).astype(np.float64)
    vague = near == 0
    fine = ((trailing ^ mirrored.view(np.uint64)) >> np.uint64(1)).astype(np.float64)
    near *= 2.0**-64
    fine += 0.5  # never 0: the logarithm of a vague pair is finite, too
    fine *= 2.0**-127
    near += fine
    exponentials = np.log(near)
    np.negative(near, out=near)
    np.log1p(near, out=near)
    np.copyto(exponentials, near, where=mirrored < 0)
    exponentials *= -1.0 / 128
    np.log(exponentials, out=exponentials)
    np.negative(exponentials, out=exponentials)
    return exponentials, vague


def enclose_gumbel(words: list[int], word_bits: int) -> Limits | None:
    """Return exact limits of -log(-log U) for every U that begins with these words; None if that may be 0 or 1."""
    uniform = 0
    for word in words:
        uniform = uniform << word_bits | word
    n_bits = len(words) * word_bits
    if uniform == 0 or uniform + 1 == 1 << n_bits:
        return None
    return enclose(partial(_minus_log_minus_log, uniform, n_bits), 2 * n_bits + 64)


def _minus_log_minus_log(uniform: int, bits: int, reals: Arithmetic) -> Interval:
    return -reals.log(-reals.log(reals.dyadic(uniform, uniform + 1, bits)))
