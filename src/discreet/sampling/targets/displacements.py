"""Random displacements from a private center: doubles with an error radius, and the same words, exactly, where needed.

A displacement Z is what infinitely many words say it is. Evaluation uses it in doubles; what is published is computed
from the exact one. Two laws: l2 K-norm noise, with a density proportional to ``exp(-|z|)``, and normal noise.

Proof: docs/proofs/k_norm_gradient.md, section 5
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.lattice.noise import box_muller
from discreet.lattice.noise.box_muller import Limits, Pairs
from discreet.numbers.intervals import enclose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.privacy.coins import Coins

# Of an odd dimension one number of the last pair is left out; the others must not be much smaller than it.
_LEAST_SHARE = 2.0**-5
# How far a computed displacement may be from the exact one, relative to its length: section 5 of the page.
RELATIVE_ERROR = 2.0**-40
# Refined numbers are taken when their limits are this close, relatively.
_NARROW = Fraction(1, 2**60)


class Displacements(ABC):
    """Independent displacements in `dimension` dimensions, with the words that they are made of.

    Parameters
    ----------
    size : int
        How many.
    dimension : int
        d, entries of each.
    coins : Coins
        Where the words come from, now and for refinement.

    Attributes
    ----------
    values : ndarray of float64, shape (size, dimension)
        The displacements; each is within RELATIVE_ERROR times its size of the exact one.
    lengths : ndarray of float64, shape (size,)
        Their Euclidean lengths, as exact.
    sizes : ndarray of float64, shape (size,)
        What errors are relative to: the lengths, or those of the vectors of which an entry was left out.

    Guarantee
    ---------
    `limits` encloses the exact displacement in intervals that shrink to one point.
    Proof: docs/proofs/k_norm_gradient.md
    """

    values: NDArray[np.float64]
    lengths: NDArray[np.float64]
    sizes: NDArray[np.float64]

    @abstractmethod
    def limits(self, index: int, level: int) -> list[Limits] | None:
        """Return limits of the entries of one displacement, from its words and `level` more for each number.

        None where the words say too little.
        """

    def _refine(self, index: int) -> tuple[NDArray[np.float64], float]:
        """Return a displacement and its length from limits that are narrow enough."""
        level = 0
        while True:
            limits = self.limits(index, level)
            if limits is not None:
                middle = [(low + high) / 2 for low, high in limits]
                width = sum(((high - low) ** 2 for low, high in limits), Fraction(0))
                square = sum((value**2 for value in middle), Fraction(0))
                if width <= _NARROW**2 * square:
                    return np.array([float(value) for value in middle]), math.sqrt(float(square))
            level += 1


class _Normals:
    """Standard normal vectors, one a row, some of them unknown in doubles."""

    def __init__(self, size: int, dimension: int, coins: Coins) -> None:
        self._per_point = (dimension + 1) // 2
        self._dimension = dimension
        self._pairs = Pairs(size * self._per_point, coins)
        both = np.zeros((2, size * self._per_point))
        self._pairs.doubles(1.0, both[0], both[1])
        full = both.T.reshape(size, 2 * self._per_point)
        self.values = np.ascontiguousarray(full[:, :dimension])
        self.lengths: NDArray[np.float64] = np.sqrt((self.values**2).sum(axis=1))
        self.sizes: NDArray[np.float64] = np.sqrt((full**2).sum(axis=1))
        self.known = np.logical_not(self._pairs.vague.reshape(size, self._per_point).any(axis=1))

    def limits(self, index: int, level: int) -> list[Limits] | None:
        both = [self._pairs.limits(index * self._per_point + pair, level) for pair in range(self._per_point)]
        if any(pair is None for pair in both):
            return None
        return [entry for pair in both if pair is not None for entry in pair][: self._dimension]


class NormalDisplacements(Displacements):
    """Displacements with independent standard normal entries; 3 words for every two of them."""

    def __init__(self, size: int, dimension: int, coins: Coins) -> None:
        self._normals = _Normals(size, dimension, coins)
        self.values, self.lengths, self.sizes = self._normals.values, self._normals.lengths, self._normals.sizes
        for index in np.flatnonzero(~self._normals.known).tolist():
            self.values[index], self.lengths[index] = self._refine(index)
            self.sizes[index] = self.lengths[index]

    def limits(self, index: int, level: int) -> list[Limits] | None:
        """Return limits of the entries of one displacement."""
        return self._normals.limits(index, level)


class KNormDisplacements(Displacements):
    """Displacements with a density proportional to ``exp(-|z|)``, |z| the Euclidean norm.

    The length is a sum of d exponentials, 2 words each; the direction that of a normal vector, 3 words for every two
    entries, or in one dimension the first bit of a word.
    """

    def __init__(self, size: int, dimension: int, coins: Coins) -> None:
        self._coins = coins
        self._dimension = dimension
        self._radial = np.empty((2, size, dimension), np.uint64)
        coins.fill(self._radial)
        self._normals = _Normals(size, dimension, coins) if dimension > 1 else None
        self._signs = coins.words(size) if dimension == 1 else None
        self._further: dict[int, list[list[int]]] = {}
        self.lengths, known = self._radius()
        if self._normals is None:
            assert self._signs is not None  # noqa: S101  (one of the two)
            top = self._signs >> np.uint64(coins.word_bits - 1)
            self.values = self.lengths[:, None] * np.where(top == 1, -1.0, 1.0)[:, None]
        else:
            share = self._normals.lengths >= _LEAST_SHARE * self._normals.sizes
            known &= self._normals.known & share & (self._normals.lengths > 0)
            self.values = self._normals.values * (self.lengths / np.where(known, self._normals.lengths, 1.0))[:, None]
        for index in np.flatnonzero(~known).tolist():
            self.values[index], self.lengths[index] = self._refine(index)
        self.sizes = self.lengths

    def _radius(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return sums of d exponentials, and where doubles say what they are."""
        leading, trailing = self._radial
        above = leading >> np.uint64(63) == 1
        # Where U >= 1/2 its complement 1 - U is small, and formed in integers.
        near, fine = (np.where(above, ~words, words) for words in (leading, trailing))
        small = near.astype(np.float64) * 2.0**-64 + ((fine >> np.uint64(1)).astype(np.float64) + 0.5) * 2.0**-127
        exponentials = np.where(above, -np.log1p(-small), -np.log(small))
        known = (near > 0).all(axis=1) & (self._coins.word_bits == 64)
        lengths: NDArray[np.float64] = exponentials.sum(axis=1)
        return lengths, np.asarray(known)

    def limits(self, index: int, level: int) -> list[Limits] | None:
        """Return limits of the entries of one displacement."""
        radius = self._radius_limits(index, level)
        if radius is None:
            return None
        if self._normals is None:
            assert self._signs is not None  # noqa: S101  (one of the two)
            negative = int(self._signs[index]) >> (self._coins.word_bits - 1)
            return [(-radius[1], -radius[0]) if negative else radius]
        normal = self._normals.limits(index, level)
        norm = None if normal is None else _norm_limits(normal, (2 + level) * self._coins.word_bits + 32)
        if normal is None or norm is None:
            return None
        scale = radius[0] / norm[1], radius[1] / norm[0]
        return [box_muller.product(scale, entry) for entry in normal]

    def _radius_limits(self, index: int, level: int) -> Limits | None:
        further = self._further.setdefault(index, [])
        while len(further) < level:
            further.append(self._coins.words(self._dimension).tolist())
        bits = self._coins.word_bits
        low = high = 1
        for words in zip(*self._radial[:, index].tolist(), *further[:level], strict=True):
            uniform = 0
            for word in words:
                uniform = uniform << bits | word
            low, high = low * uniform, high * (uniform + 1)
        if low == 0:
            return None
        radial_bits = (2 + level) * bits
        return enclose(lambda reals: reals.minus_log(low, high, radial_bits * self._dimension), radial_bits + 32)


def _norm_limits(entries: list[Limits], precision: int) -> Limits | None:
    """Return limits of a Euclidean norm; None where it may be 0."""
    low = high = Fraction(0)
    for one, other in entries:
        least = Fraction(0) if one <= 0 <= other else min(abs(one), abs(other))
        low, high = low + least**2, high + max(abs(one), abs(other)) ** 2
    if low == 0:
        return None
    limits = enclose(lambda reals: reals.sqrt(reals.between(low, high)), precision)
    return limits if limits[0] > 0 else None
