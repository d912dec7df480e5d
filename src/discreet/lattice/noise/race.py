"""The largest of real scores plus Gumbel noise: exact choices where weights are products that no integer holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.lattice.noise import accuracy, rounding
from discreet.lattice.noise.gumbel import ERROR_RADIUS, enclose_gumbel, gumbel_doubles

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.lattice.noise.box_muller import Limits
    from discreet.privacy.coins import Coins

# Scores that are made noisy together: the arrays of a block stay in a core's second-level cache.
_BLOCK = 1 << 14
# A noise in doubles, log 128 included, is between 1 and this.
_LARGEST_NOISE = 60


def race(
    scores: np.ndarray,
    *,
    radius: float,
    largest: float,
    limits: Callable[[int, int], Limits],
    size: int,
    coins: Coins,
) -> np.ndarray:
    """Return winners of independent races: the index of the largest real score plus Gumbel noise of scale 1.

    Parameters
    ----------
    scores : np.ndarray of float64, shape (m,)
        Approximate scores; minus infinity for one that never wins. At least one is finite.
    radius : float
        The most by which a finite score is off.
    largest : float
        At least the size of every finite score.
    limits : callable
        ``limits(index, level)`` encloses the exact finite score, ever more narrowly as the level rises from 0.
    size : int
        How many races.
    coins : Coins
        Where the random words come from.

    Returns
    -------
    np.ndarray of int64, shape (size,)

    Notes
    -----
    There are 2 m words a race, refinement excepted, and the same operations whatever the scores.
    Noise and score together are off by at most `radius`, the noise's own radius, and one rounding of a number below
    ``largest + 60``. Scores within twice that of the largest, and those whose words doubles cannot read, are compared
    exactly: the same words, lengthened, in interval arithmetic.

    Guarantee
    ---------
    Index j wins with probability exactly ``exp(s_j) / sum exp(s)``, s the exact scores. Proof: docs/proofs/gumbel.md

    Examples
    --------
    >>> from fractions import Fraction
    >>> from discreet.privacy.coins import Coins
    >>> exact = [Fraction(0), Fraction(50), Fraction(0)]
    >>> def limits(index, level):
    ...     return exact[index], exact[index]
    >>> scores = np.array([0.0, 50.0, -np.inf])
    >>> race(scores, radius=0.0, largest=50, limits=limits, size=3, coins=Coins.from_seed(1)).tolist()
    [1, 1, 1]
    """
    apart = 2.001 * (radius + ERROR_RADIUS + 2 * rounding.ROUNDOFF * (largest + _LARGEST_NOISE))
    track = _Track(scores, apart, limits, coins)
    winners = np.empty(size, np.int64)
    together = max(1, _BLOCK // max(1, scores.size))
    for start in range(0, size, together):
        track.run(winners[start : start + together])
    return winners


class _Track:
    """Scores, and how races among them are decided."""

    def __init__(self, scores: np.ndarray, apart: float, limits: Callable[[int, int], Limits], coins: Coins) -> None:
        self._scores = scores
        self._running = scores > -np.inf
        self._apart = apart
        self._limits = limits
        self._coins = coins
        if coins.word_bits == 64:
            accuracy.check_library()

    def run(self, winners: np.ndarray) -> None:
        """Write the winners of a few races, whose words are drawn together."""
        shape = (winners.size, self._scores.size)
        words = np.empty((2, *shape), np.uint64)
        self._coins.fill(words)
        noisy = np.empty(shape)
        vague = self._write_noisy(words, noisy) if self._coins.word_bits == 64 else np.ones(shape, bool)
        noisy[vague] = -np.inf
        best = noisy.max(axis=1)
        close = (noisy >= (best - self._apart)[:, None]) & self._running
        np.argmax(noisy, axis=1, out=winners)
        vague &= self._running
        close |= vague
        for row in np.flatnonzero((close.sum(axis=1) > 1) | vague.any(axis=1)).tolist():
            contenders = np.flatnonzero(close[row])
            winners[row] = self._decide({index: words[:, row, index].tolist() for index in contenders.tolist()})

    def _write_noisy(self, words: np.ndarray, noisy: np.ndarray) -> np.ndarray:
        """Write scores plus noise, and return which words doubles cannot read."""
        vague = np.empty(noisy.shape, bool)
        n_columns = noisy.shape[1]
        step = _BLOCK if noisy.shape[0] == 1 else n_columns
        for start in range(0, n_columns, step):
            part = slice(start, start + step)
            noise, vague[:, part] = gumbel_doubles(words[0, :, part], words[1, :, part])
            np.add(noise, self._scores[part], out=noisy[:, part])
        return vague

    def _decide(self, contenders: dict[int, list[int]]) -> int:
        """Return which of a few has the largest sum, from words as long as it takes."""
        level = 0
        while len(contenders) > 1:
            known = {}
            for index, words in contenders.items():
                noise = enclose_gumbel(words, self._coins.word_bits)
                if noise is not None:
                    low, high = self._limits(index, level)
                    known[index] = (low + noise[0], high + noise[1])
            if known:
                bar = max(low for low, _ in known.values())
                # Who is surely below another one's sum is out; whose sum is unknown stays.
                contenders = {
                    index: words for index, words in contenders.items() if index not in known or known[index][1] >= bar
                }
            level += 1
            for words in contenders.values():
                words.extend(self._coins.words(1).tolist())
        return next(iter(contenders))
