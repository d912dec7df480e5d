"""The radius of K-norm noise: a sum of standard exponentials, in doubles and exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.lattice.noise import accuracy, box_muller, rounding
from discreet.numbers.intervals import enclose

if TYPE_CHECKING:
    from discreet.lattice.noise.box_muller import Limits
    from discreet.privacy.coins import Coins

# An exponential whose first word is neither all zeros nor all ones is below 64 log 2.
_LARGEST_EXPONENTIAL = 44.4

# Exponentials are added in whole units of 2**-20, exactly, and what is left of each apart.
_UNIT_BITS = 20

_ERROR_OF_EXPONENTIAL = 13 * rounding.ROUNDOFF
# Covers the roundings of an error radius itself, and second-order terms.
NEARLY_ONE = 1.001


class Radius:
    """The sum of `-log U` over `size` uniform numbers U, from two words each and more where they leave it open.

    Parameters
    ----------
    size : int
        How many exponentials.
    coins : Coins
        Where the words come from, now and for refinement.
    """

    def __init__(self, size: int, coins: Coins) -> None:
        self._size, self._coins = size, coins
        self._words = np.empty((2, size), np.uint64)
        if coins.word_bits == 64:
            accuracy.check_library()
        coins.fill(self._words)
        self._further: list[list[int]] = []
        self._known: dict[int, Limits | None] = {}

    def double(self) -> tuple[float, bool]:
        """Return the sum as a double, and whether some U is unknown in doubles."""
        leading, trailing = self._words
        above = leading >> np.uint64(63) == 1
        # Where U >= 1/2 its complement 1 - U is small, and formed in integers.
        near, fine = (np.where(above, ~words, words) for words in (leading, trailing))
        small = near.astype(np.float64) * 2.0**-64 + ((fine >> np.uint64(1)).astype(np.float64) + 0.5) * 2.0**-127
        exponentials = np.where(above, -np.log1p(-small), -np.log(small)) * 2.0**_UNIT_BITS
        units = np.floor(exponentials)
        total = float(units.sum()) + float((exponentials - units).sum())
        vague = self._coins.word_bits < 64 or bool((near == 0).any())
        return total * 2.0**-_UNIT_BITS, vague

    def limits(self, level: int) -> Limits | None:
        """Return exact limits of the sum, from `level` more words for each U; None where they say too little."""
        if level not in self._known:
            self._known[level] = self._enclose(level)
        return self._known[level]

    def _enclose(self, level: int) -> Limits | None:
        while len(self._further) < level:
            self._further.append(self._coins.words(self._size).tolist())
        bits = self._coins.word_bits
        low = high = 1
        for words in zip(*self._words.tolist(), *self._further[:level], strict=True):
            uniform = box_muller.join(list(words), bits)
            low, high = low * uniform, high * (uniform + 1)
        if low == 0:
            return None
        radial_bits = (2 + level) * bits
        whole = radial_bits * self._size
        return enclose(lambda reals: reals.minus_log(low, high, whole), radial_bits + 32)


def reach_and_error(size: int) -> tuple[float, float]:
    """Return the largest sum that doubles are used for, and how far its double may be from it.

    The argument is in the docstring of `k_norm`.
    """
    largest, e = _LARGEST_EXPONENTIAL * size, rounding.ROUNDOFF
    return largest, (_ERROR_OF_EXPONENTIAL + e) * largest + size**2 * e * 2.0**-_UNIT_BITS
