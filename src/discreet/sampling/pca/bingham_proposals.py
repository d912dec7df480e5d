"""Proposed directions: decided in doubles where an error radius allows, and from the same words, exactly, where not."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.lattice.noise import rounding
from discreet.lattice.noise.box_muller import Limits, Pairs
from discreet.numbers.intervals import Arithmetic, Interval, enclose
from discreet.sampling.pca.bingham_envelope import FACTOR_BITS, envelope_of
from discreet.sampling.pca.second_moments import ROUNDOFF
from discreet.sampling.targets.targets import Points, Proposer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.privacy.coins import Coins
    from discreet.sampling.pca.second_moments import SecondMoments

# Directions are published on this grid.
GRID_BITS = 24
# The relative error of a normal vector in doubles; see `Directions`.
_NORMAL_ERROR = 2.0**-42
# Of an odd dimension one number of the last pair is left out; the others must not be much smaller than it.
_LEAST_SHARE = 2.0**-5
_LOG_WORD = 64 * math.log(2.0)


@dataclass(eq=False)
class Directions(Points):
    """Proposed directions and the words that they are made of.

    Parameters
    ----------
    values : ndarray of float64, shape (size, d)
        ``z / |z|``.
    normals : ndarray of float64, shape (size, d)
        g, of which every row errs by at most 2**-42 of its Euclidean norm.
    images : ndarray of float64, shape (size, d)
        ``z = F g``.
    pairs : Pairs
        The words of g.
    uniforms : ndarray of uint64, shape (size,)
        The first word of what acceptance is decided by.
    coins : Coins
        Where further words come from.
    """

    normals: NDArray[np.float64]
    images: NDArray[np.float64]
    pairs: Pairs
    uniforms: NDArray[np.uint64]
    coins: Coins
    _further: dict[int, list[int]] = field(default_factory=dict)

    def normal_limits(self, index: int, level: int) -> list[Limits] | None:
        """Return limits of the entries of g, from its words and `level` more for each number; None if unknown."""
        width = self.normals.shape[1]
        per_point = (width + 1) // 2
        both = [self.pairs.limits(index * per_point + pair, level) for pair in range(per_point)]
        if any(pair is None for pair in both):
            return None
        return [limits for pair in both if pair is not None for limits in pair][:width]

    def uniform_limits(self, index: int, level: int) -> tuple[int, int, int]:
        """Return whole numbers a, b and a number of bits: acceptance is decided by a number in [a, b] / 2**bits."""
        further = self._further.setdefault(index, [])
        if len(further) < level:
            further += self.coins.words(level - len(further)).tolist()
        bits, joined = self.coins.word_bits, int(self.uniforms[index])
        for word in further[:level]:
            joined = joined << bits | word
        return joined, joined + 1, bits * (level + 1)


class BinghamProposer(Proposer):
    """Proposes directions for one matrix; acceptance is part of a proposal.

    A proposal is a direction and a uniform number; `log_ratio` says 0 where the number is below the direction's
    acceptance probability and minus infinity where it is not. Nothing is lost to evaluation in doubles: a decision that
    an error radius leaves open is made from the same words, lengthened, in interval arithmetic.

    Parameters
    ----------
    moments : SecondMoments
        The private matrix.
    scale : Fraction
        What its utility is multiplied by.
    spread : float
        See `second_moments.error_of`.

    Guarantee
    ---------
    Accepted directions have exactly the density proportional to ``exp(scale * v'Mv)``.
    Proof: docs/proofs/bingham.md, section 4
    """

    def __init__(self, moments: SecondMoments, scale: Fraction, spread: float) -> None:
        self._moments = moments
        self._scale = scale
        self._spread = spread
        self._envelope = envelope_of(moments, float(scale), spread)
        size = moments.dimension
        self._gaps = float(scale) * (self._envelope.peak * np.eye(size) - moments.doubles())

    def propose(self, coins: Coins, size: int) -> Directions:
        """Return `size` proposals: 3 words for every two entries and one for acceptance, refinement excepted."""
        width = self._moments.dimension
        per_point = (width + 1) // 2
        pairs = Pairs(size * per_point, coins)
        uniforms = coins.words(size)
        normals, images = np.zeros((size, width)), np.zeros((size, width))
        points = Directions(images, normals, images, pairs, uniforms, coins)
        both = np.zeros((2, size * per_point))
        with np.errstate(all="ignore"):
            pairs.doubles(1.0, both[0], both[1])
            full = both.T.reshape(size, 2 * per_point)
            normals[:] = full[:, :width]
            known = (normals**2).sum(axis=1) >= _LEAST_SHARE**2 * (full**2).sum(axis=1)
            known &= ~pairs.vague.reshape(size, per_point).any(axis=1)
            for index in np.flatnonzero(~known).tolist():
                normals[index] = _refined(points, index)
            np.matmul(normals, self._envelope.factor.T, out=images)
            points.values = images / np.sqrt((images**2).sum(axis=1))[:, None]
        return points

    def log_ratio(self, points: Points) -> NDArray[np.float64]:
        """Return 0 where a proposal's own uniform number accepts it, else minus infinity; exact."""
        assert isinstance(points, Directions)  # noqa: S101  (its own kind)
        with np.errstate(all="ignore"):
            ratio, radius = self._ratio(points)
            words = points.uniforms.astype(np.float64) + 0.5
            log_uniform = np.log(words) - _LOG_WORD
            radius += 0.51 / words + 8 * ROUNDOFF * (1.0 - log_uniform + _LOG_WORD)
            accepted, rejected = log_uniform < ratio - radius, log_uniform > ratio + radius
            known = (accepted | rejected) & (points.uniforms > 0) & (points.coins.word_bits == 64)
            for index in np.flatnonzero(~known).tolist():
                accepted[index] = self._accepts(points, index)
        return np.where(accepted, 0.0, -math.inf)

    def settle(self, points: Points, indices: NDArray[Any], coins: Coins) -> NDArray[np.float64]:
        """Return directions on the grid of step 2**-24: every entry is the exact one, rounded."""
        del coins  # the points have their own
        assert isinstance(points, Directions)  # noqa: S101  (its own kind)
        values = np.ldexp(points.values[indices], GRID_BITS)
        with np.errstate(all="ignore"):
            radius = np.ldexp(2 * self._offset(points)[indices] + 4 * ROUNDOFF, GRID_BITS)
            whole = np.rint(values)
            known = np.abs(values - whole) < 0.5 - radius[:, None] - 2.0**-40
        for row, column in zip(*np.nonzero(~known), strict=True):
            limits = partial(self._entry_limits, points, int(indices[row]), int(column))
            whole[row, column] = rounding.settle(0, 0, limits)
        settled: NDArray[np.float64] = np.ldexp(whole + 0.0, -GRID_BITS)  # no sign of a zero
        return settled

    def log_acceptance(self) -> float:
        """Return the log of the chance that a proposal is accepted, in two dimensions; 0 in more."""
        return (
            log_acceptance_of_two(self._moments, self._scale, self._envelope) if self._moments.dimension == 2 else 0.0
        )

    def _offset(self, points: Directions) -> NDArray[np.float64]:
        """Return how far every computed z may be from the exact one, relatively."""
        size = self._moments.dimension
        factor = 1.001 * math.sqrt(float((self._envelope.factor**2).sum()))
        stretch = np.sqrt((points.normals**2).sum(axis=1) / (points.images**2).sum(axis=1))
        offset: NDArray[np.float64] = 1.03 * factor * (_NORMAL_ERROR + (size + 2) * ROUNDOFF) * stretch
        return np.where(offset < 0.125, offset, np.inf)

    def _ratio(self, points: Directions) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the log of every acceptance probability and an error radius; docs/proofs/bingham.md, section 6."""
        size, n_rows, scale = self._moments.dimension, float(self._moments.n_rows), float(self._scale)
        squares = (points.images**2).sum(axis=1)
        images = points.images @ self._gaps
        gaps = (images * points.images).sum(axis=1) / squares
        logs = size / 2 * np.log((points.normals**2).sum(axis=1) / squares)
        largest = 1.02 * scale * n_rows * (math.sqrt(size) + 1)
        rounding_of_matrix = (2 * size + 12) * ROUNDOFF * largest + 1.01 * scale * self._spread * n_rows
        offset = self._offset(points)
        slope = np.sqrt((images**2).sum(axis=1) / squares) + rounding_of_matrix
        radius = 4.3 * offset * (slope + largest * offset) + rounding_of_matrix
        radius += 1.2 * size * (_NORMAL_ERROR + (size + 4) * ROUNDOFF + offset)
        radius += 8 * ROUNDOFF * (1.0 + np.abs(gaps) + np.abs(logs) + abs(self._envelope.height))
        return logs - gaps - self._envelope.height, radius

    @cached_property
    def _whole(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """F in units of 2**-60 and M in its own unit, in Python's whole numbers."""
        factor = np.ldexp(self._envelope.factor, FACTOR_BITS)
        return np.array([[int(entry) for entry in row] for row in factor], dtype=object), self._moments.exact()

    def _image_limits(self, points: Directions, index: int, level: int) -> _Image | None:
        normal = points.normal_limits(index, level)
        return None if normal is None else _Image.of(normal, self._whole[0], 192 + 64 * level)

    def _entry_limits(self, points: Directions, index: int, column: int, level: int) -> Limits | None:
        """Return limits of an entry of ``z / |z|`` in units of the grid."""
        image = self._image_limits(points, index, level)
        return None if image is None else image.entry(column, 192 + 64 * level)

    def _accepts(self, points: Directions, index: int) -> bool:
        """Decide a proposal from its words, as many as it takes."""
        level = 0
        while True:
            image = self._image_limits(points, index, level)
            low, high, bits = points.uniform_limits(index, level)
            ratio = None if image is None else self._ratio_limits(image, 192 + 64 * level)
            if ratio is not None and low > 0:
                hull = partial(_log_of_hull, Fraction(low, 1 << bits), Fraction(high, 1 << bits))
                logs = enclose(hull, 192 + 64 * level)
                if logs[1] <= ratio[0]:
                    return True
                if logs[0] >= ratio[1]:
                    return False
            level += 1

    def _ratio_limits(self, image: _Image, precision: int) -> Limits | None:
        """Return exact limits of the log of an acceptance probability."""
        if image.square[0] <= 0 or image.normal_square[0] <= 0:
            return None
        form, spread = image.form(self._whole[1])
        unit = self._moments.unit
        low = Fraction(max(0, form - spread), image.square[1] * unit)
        high = Fraction(form + spread, image.square[0] * unit)
        peak = Fraction(self._envelope.peak)
        logs = enclose(
            partial(
                _log_of_hull,
                Fraction(image.normal_square[0] << 2 * FACTOR_BITS, image.square[1]),
                Fraction(image.normal_square[1] << 2 * FACTOR_BITS, image.square[0]),
            ),
            precision,
        )
        half, height = Fraction(self._moments.dimension, 2), Fraction(self._envelope.height)
        return (
            self._scale * (low - peak) + half * logs[0] - height,
            self._scale * (high - peak) + half * logs[1] - height,
        )


@dataclass(frozen=True, eq=False)
class _Image:
    """Limits of ``z = F g``, in whole numbers of units of 2**-(precision + 60), and of ``|g|**2`` and ``|z|**2``."""

    middle: NDArray[Any]
    spread: NDArray[Any]
    square: tuple[int, int]
    normal_square: tuple[int, int]

    @classmethod
    def of(cls, normal: list[Limits], factor: NDArray[Any], precision: int) -> _Image:
        unit = 1 << precision
        lows = [math.floor(low * unit) for low, _ in normal]
        highs = [math.ceil(high * unit) for _, high in normal]
        middle = np.array([(low + high) // 2 for low, high in zip(lows, highs, strict=True)], dtype=object)
        spread = np.array([(high - low) // 2 + 1 for low, high in zip(lows, highs, strict=True)], dtype=object)
        image, image_spread = factor @ middle, np.abs(factor) @ spread
        return cls(image, image_spread, _squares(image, image_spread), _squares(middle, spread))

    def form(self, matrix: NDArray[Any]) -> tuple[int, int]:
        """Return the quadratic form of a symmetric matrix of whole numbers at the middle, and its largest error."""
        absolute = np.abs(matrix)
        seen = absolute @ self.spread
        return self.middle @ (matrix @ self.middle), 2 * (np.abs(self.middle) @ seen) + self.spread @ seen

    def entry(self, column: int, precision: int) -> Limits | None:
        """Return limits of an entry of ``z / |z|`` times 2**GRID_BITS."""
        if self.square[0] <= 0:
            return None
        root_low, root_high = (
            math.isqrt(self.square[0] << 2 * precision),
            math.isqrt(self.square[1] << 2 * precision) + 1,
        )
        shift = precision + GRID_BITS
        low, high = (self.middle[column] + sign * self.spread[column] for sign in (-1, 1))
        ends = [Fraction(end << shift, root) for end in (low, high) for root in (root_low, root_high) if root]
        return (min(ends), max(ends)) if root_low else None


def _squares(middle: NDArray[Any], spread: NDArray[Any]) -> tuple[int, int]:
    absolute = np.abs(middle)
    least = np.maximum(absolute - spread, 0)
    return int(least @ least), int((absolute + spread) @ (absolute + spread))


def _log_of_hull(low: Fraction, high: Fraction, reals: Arithmetic) -> Interval:
    return reals.log(reals.between(low, high))


def _refined(points: Directions, index: int) -> NDArray[np.float64]:
    """Return the entries of a g that doubles say too little of, relatively as good as the others."""
    level = 0
    while True:
        limits = points.normal_limits(index, level)
        if limits is not None:
            width = sum((high - low) ** 2 for low, high in limits)
            least = sum(Fraction(0) if low <= 0 <= high else min(abs(low), abs(high)) ** 2 for low, high in limits)
            if width * 2**90 <= least:
                return np.array([float((low + high) / 2) for low, high in limits])
        level += 1


def log_acceptance_of_two(moments: SecondMoments, scale: Fraction, envelope: Any) -> float:
    """Return the log acceptance probability of two columns, by the Bessel function of order 0.

    ``p = Z / (|det F| exp(height))`` with ``Z = exp(-scale (peak - (m1 + m2) / 2)) I0(scale (m1 - m2) / 2)`` for the
    eigenvalues m1, m2 of M. The error is below 2**-40, measured: docs/proofs/bingham.md, section 7
    """
    from scipy.special import ive

    matrix, unit = moments.exact(), moments.unit
    trace, difference = int(matrix[0, 0] + matrix[1, 1]), int(matrix[0, 0] - matrix[1, 1])
    # The difference of the eigenvalues, with 64 more bits than the matrix has.
    gap = Fraction(math.isqrt((difference**2 + 4 * int(matrix[0, 1]) ** 2) << 128), unit << 64)
    top = (Fraction(trace, unit) + gap) / 2
    bessel = float(ive(0.0, float(scale * gap / 2)))
    (a, b), (c, d) = ([Fraction(entry) for entry in row] for row in envelope.factor.tolist())
    determinant = abs(float(a * d - b * c))
    below = float(scale * (Fraction(envelope.peak) - top))
    return math.log(bessel) - below - math.log(determinant) - float(envelope.height)
