"""Choices with probabilities proportional to given doubles, exactly, many at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.privacy.coins import Coins

# Weights are added in rows of this many, and the rows' sums after that: few roundings stand in any sum.
_ROW = 1024
_HALF_MANTISSA = 27


class Categorical:
    """A law on indices whose weights are doubles, taken at their word.

    Parameters
    ----------
    weights : np.ndarray of float64, shape (m,)
        Finite, at least 0, at least one of them a normal number, and their sum below 2**1000; m at most 2**24.

    Notes
    -----
    A word is the beginning of a uniform number U, and the index is the first whose cumulative weight exceeds U times
    the total. **Error radius**: a cumulative sum has at most ``1024 + m / 1024 + 2`` roundings behind it, as has the
    total, and U and the product three more; so a comparison errs by less than ``(m / 1024 + 1040) 2**-51`` of the
    total. Where that leaves two indices open, the word is lengthened and compared with exact sums in integers.

    Guarantee
    ---------
    Index j has probability exactly ``w_j / sum w``. Proof: docs/proofs/holder.md

    Examples
    --------
    >>> from discreet.privacy.coins import Coins
    >>> coins = Coins.from_seed(1)
    >>> Categorical(np.array([0.0, 3.0, 0.0])).draw(coins.words(4), coins).tolist()
    [1, 1, 1, 1]
    """

    def __init__(self, weights: NDArray[np.float64]) -> None:
        self._weights = weights
        n_rows = -(-weights.size // _ROW)
        table = np.zeros((n_rows, _ROW))
        table.ravel()[: weights.size] = weights
        np.cumsum(table, axis=1, out=table)
        offsets = np.cumsum(table[:, -1]) - table[:, -1]
        table += offsets[:, None]
        # One more rounding may have made a sum smaller than the one before it.
        self._sums = np.maximum.accumulate(table.ravel()[: weights.size])
        self._total = float(self._sums[-1])
        self._radius = (n_rows + _ROW + 16) * 2.0**-51 * self._total

    def draw(self, words: NDArray[np.uint64], coins: Coins) -> NDArray[np.int64]:
        """Return one index a word, int64; the words are fresh ones of `coins`, which also lengthen them.

        Parameters
        ----------
        words : np.ndarray of uint64, shape (size,)
            They may have been drawn before the weights were known.
        coins : Coins
            Where further words come from.
        """
        places = words.astype(np.float64) * 2.0**-coins.word_bits
        places *= self._total
        found = np.minimum(np.searchsorted(self._sums, places, side="right"), self._weights.size - 1)
        below = np.where(found > 0, self._sums[found - 1], -np.inf)
        radius = self._radius if coins.word_bits == 64 else np.inf
        open_ = (places - radius < below) | (places + radius >= self._sums[found])
        for index in np.flatnonzero(open_).tolist():
            found[index] = self._settle(int(words[index]), coins)
        return found

    def _settle(self, word: int, coins: Coins) -> int:
        """Return the index that the uniform number beginning with `word` stands for, in integers."""
        total, n_bits = self._exact_sum(self._weights.size), coins.word_bits
        while True:
            first = self._first_above(word * total, n_bits)
            # The number may come as near to (word + 1) / 2**n_bits as it likes, and does not reach it.
            if first == self._first_above((word + 1) * total - 1, n_bits):
                return first
            word = word << coins.word_bits | int(coins.words(1)[0])
            n_bits += coins.word_bits

    def _first_above(self, level: int, n_bits: int) -> int:
        """Return the first index whose cumulative weight, times 2**n_bits, exceeds `level`; by halving."""
        low, high = 0, self._weights.size - 1
        while low < high:
            middle = (low + high) // 2
            if self._exact_sum(middle + 1) << n_bits > level:
                high = middle
            else:
                low = middle + 1
        return low

    def _exact_sum(self, count: int) -> int:
        """Return the sum of the first `count` weights in units of 2**-1127, which every double is a multiple of."""
        mantissas, exponents = np.frexp(self._weights[:count])
        wholes = (mantissas * 2.0**53).astype(np.int64)
        least = int(exponents.min())
        shifts = (exponents - least).astype(np.int64)
        # Halves of 27 bits, added up in doubles: exact for up to 2**24 of them.
        upper = np.bincount(shifts, weights=(wholes >> _HALF_MANTISSA).astype(np.float64))
        lower = np.bincount(shifts, weights=(wholes & ((1 << _HALF_MANTISSA) - 1)).astype(np.float64))
        total = 0
        for shift in np.flatnonzero(upper + lower).tolist():
            total += ((int(upper[shift]) << _HALF_MANTISSA) + int(lower[shift])) << shift
        return total << (least + 1074)
