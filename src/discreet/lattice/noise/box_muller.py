"""Pairs of standard normal numbers: doubles with an error radius, and intervals as narrow as asked from the same words.

A pair is three words. Two make U, uniform below 1, and one an angle; more words make either as long as needed.
With R = sqrt(-2 log U) and T uniform on the circle, (R cos T, R sin T) are independent standard normal numbers.
The third word's first bit is a sign, its second exchanges the two outputs, the rest is a number F in [-1, 1) in two's
complement: the angle within an octant is F * pi/4, so that nothing is lost to its reduction.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from discreet.lattice.noise import accuracy
from discreet.numbers.intervals import Arithmetic, Interval, enclose

if TYPE_CHECKING:
    from discreet.privacy.coins import Coins

# A pair whose first word is not 0 has U >= 2**-64, hence R <= sqrt(128 log 2) = 9.4193.
LARGEST_RADIUS = 9.42

# Absolute error of `Pairs.doubles` at unit scale, for pairs that `Pairs.vague` does not name; argued there.
ERROR_RADIUS = 2.0**-48 * LARGEST_RADIUS

_SIGN = np.uint64(1 << 63)

# An interval, as exact rationals.
Limits: TypeAlias = tuple[Fraction, Fraction]


class Pairs:
    """The words of some pairs of standard normal numbers, and what they say.

    Parameters
    ----------
    n_pairs : int
        How many; 3 words each.
    coins : Coins
        Where the words come from, now and for refinement.

    Attributes
    ----------
    vague : np.ndarray of bool, shape (n_pairs,)
        Pairs of which `doubles` knows nothing: those whose first word is all zeros or all ones, about one in 2**63,
        and all of them when words are shorter than 64 bits.

    Guarantee
    ---------
    `limits` encloses each number in outward-rounded intervals that shrink to one point, and `doubles` differs from
    it by at most ERROR_RADIUS times the scale; both read the same words, so what one leaves open the other decides,
    and nothing is ever drawn again.
    Proof: docs/proofs/rounding.md.
    """

    def __init__(self, n_pairs: int, coins: Coins) -> None:
        self._coins = coins
        self._words = np.empty((3, n_pairs), np.uint64)
        self._bits = np.empty((2, n_pairs), np.int64)
        self._small = np.empty(n_pairs)
        self._further: dict[int, list[int]] = {}
        self._known: dict[int, tuple[int, tuple[Limits, Limits] | None]] = {}
        self.vague = np.full(n_pairs, coins.word_bits < 64)
        if coins.word_bits == 64:
            accuracy.check_library()
        self.refill()

    def refill(self) -> None:
        """Draw all words afresh."""
        self._coins.fill(self._words)
        self._further.clear()
        self._known.clear()

    def doubles(self, scale: float, first: np.ndarray, second: np.ndarray) -> bool:
        """Write `scale` times the numbers of every pair into two float64 arrays; return whether any pair is vague.

        **Error radius.** Let e = 2**-53 and let log, log1p and sin err by at most 8e = 2**-50 relatively (checked at
        start-up with a factor 2 to spare); numpy's other operations are correctly rounded.
        With u = U below 1/2 and its complement 1 - U above, formed in integers, `small` is u up to 3e relatively:
        two conversions and a sum; the last bit and the unread extension of the words weigh below 2**-126 against
        u >= 2**-64.
        -log(small) errs by 3e absolutely and is at least log 2; log1p has condition at most 1.45 there. So the
        logarithm errs by at most (3 * 1.45 + 8) e < 12.4e relatively, R by 6.2e and e (root), the scale by e.
        The angle has at most three roundings, 3e * pi/4; its sine errs by 2.4e + 8e * 0.71 < 8.1e absolutely; the
        cosine sqrt(1 - sine**2) is at least 0.7, so it errs by as much times tan <= 1, and by 2e. One product: e.
        Together at most (6.2 + 1 + 1 + 10.1 + 1) e R < 20 e R < 2**-48 R; the second-order terms are below 2**-95 R.
        """
        if self._coins.word_bits < 64:
            return True
        any_vague = self._write_radius(scale, first)
        self._write_circle(second)
        np.multiply(first, second, out=second)
        np.multiply(first, self._small, out=first)
        return any_vague

    def _write_radius(self, scale: float, radius: np.ndarray) -> bool:
        """Write scale * sqrt(-2 log U)."""
        leading, trailing = self._words[:2].view(np.int64)
        mirrored, part = self._bits
        small, fine = self._small, radius
        np.right_shift(leading, 63, out=mirrored)  # -1 where U >= 1/2: its complement 1 - U is small
        np.bitwise_xor(leading, mirrored, out=part)
        np.copyto(small, part)
        any_vague = self._find_vague(small)
        np.bitwise_xor(trailing, mirrored, out=part)
        np.right_shift(part.view(np.uint64), np.uint64(1), out=part.view(np.uint64))
        np.copyto(fine, part)
        small *= 2.0**-64
        fine += 0.5  # never 0: the logarithm of a vague pair is finite, too
        fine *= 2.0**-127
        small += fine
        np.log(small, out=radius)
        np.negative(small, out=small)
        np.log1p(small, out=small)
        _exchange_where(mirrored, radius, small, part)
        radius *= -2.0
        np.sqrt(radius, out=radius)
        radius *= scale
        return any_vague

    def _find_vague(self, leading: np.ndarray) -> bool:
        if leading.min() > 0:
            self.vague.fill(False)
            return False
        np.equal(leading, 0, out=self.vague)
        return True

    def _write_circle(self, sine: np.ndarray) -> None:
        """Write the sine into `sine` and the cosine into the scratch array, exchanged as the second bit says."""
        angle, cosine = self._words[2], self._small
        part, exchanged = self._bits
        np.left_shift(angle, np.uint64(2), out=part.view(np.uint64))
        np.copyto(sine, part)
        sine *= math.pi * 2.0**-65
        np.sin(sine, out=sine)
        np.multiply(sine, sine, out=cosine)
        np.subtract(1.0, cosine, out=cosine)
        np.sqrt(cosine, out=cosine)
        np.bitwise_and(angle, _SIGN, out=part.view(np.uint64))
        np.bitwise_xor(cosine.view(np.int64), part, out=cosine.view(np.int64))
        np.left_shift(angle.view(np.int64), 1, out=exchanged)
        np.right_shift(exchanged, 63, out=exchanged)
        _exchange_where(exchanged, sine, cosine, part)

    def limits(self, index: int, level: int) -> tuple[Limits, Limits] | None:
        """Return exact limits of both numbers of a pair, from its words and `level` further words for each of U and T.

        Returns
        -------
        tuple of two (Fraction, Fraction), or None
            None where the words say too little: U may still be 0, or the octant is unknown.
        """
        if self._known.get(index, (-1, None))[0] != level:
            self._known[index] = (level, self._enclose(index, level))
        return self._known[index][1]

    def _enclose(self, index: int, level: int) -> tuple[Limits, Limits] | None:
        further = self._further.setdefault(index, [])
        if len(further) < 2 * level:
            further += self._coins.words(2 * level - len(further)).tolist()
        leading, trailing, angle = self._words[:, index].tolist()
        bits = self._coins.word_bits
        uniform = join([leading, trailing, *further[0 : 2 * level : 2]], bits)
        turn = join([angle, *further[1 : 2 * level : 2]], bits)
        radial_bits, octant_bits = (2 + level) * bits, (1 + level) * bits - 2
        if uniform == 0 or octant_bits < 1:
            return None
        precision = radial_bits + 32
        radius = enclose(partial(_radius, uniform, radial_bits), precision)
        within = turn % 2**octant_bits
        signed = within - (within >> (octant_bits - 1) << octant_bits)
        cosine, sine = (
            enclose(partial(_on_octant, name, signed, octant_bits - 1), precision) for name in ("cos", "sin")
        )
        if turn >> (octant_bits + 1):
            cosine = (-cosine[1], -cosine[0])
        if turn >> octant_bits & 1:
            cosine, sine = sine, cosine
        return product(radius, cosine), product(radius, sine)


def product(one: Limits, other: Limits) -> Limits:
    """Return the limits of the product of two numbers with these limits."""
    corners = [a * b for a in one for b in other]
    return min(corners), max(corners)


def _exchange_where(mask: np.ndarray, one: np.ndarray, other: np.ndarray, scratch: np.ndarray) -> None:
    """Exchange the doubles of two arrays where `mask` is -1, not where it is 0, in the same time."""
    bits, other_bits = one.view(np.int64), other.view(np.int64)
    np.bitwise_xor(bits, other_bits, out=scratch)
    scratch &= mask
    bits ^= scratch
    other_bits ^= scratch


def join(words: list[int], bits: int) -> int:
    """Return the whole number that words of so many bits, one after the other, write."""
    joined = 0
    for word in words:
        joined = joined << bits | word
    return joined


def _radius(uniform: int, bits: int, reals: Arithmetic) -> Interval:
    return reals.sqrt(2 * reals.minus_log(uniform, uniform + 1, bits))


def _on_octant(name: str, low: int, bits: int, reals: Arithmetic) -> Interval:
    return getattr(reals, name)(reals.dyadic(low, low + 1, bits) * reals.pi / 4)
