"""The angular central Gaussian envelope of a Bingham law: its constants, and how wrong they can be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.numbers.intervals import Arithmetic, Interval, enclose
from discreet.sampling.pca.second_moments import ROUNDOFF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.sampling.pca.second_moments import SecondMoments

# Entries of F are whole multiples of 2**-FACTOR_BITS.
FACTOR_BITS = 60
_BISECTIONS = 64


@lru_cache(maxsize=256)
def least_acceptance(dimension: int) -> Fraction:
    """Return what a Bingham law accepts at least from its best envelope, whatever the matrix; rounded down.

    Parameters
    ----------
    dimension : int
        d, at least 1.

    Notes
    -----
    *Guarantee.* ``Gamma(d/2) pi**(-1/2) (2 e)**((d-1)/2) d**(-d/2)``, which is about ``sqrt(2 / (e d))``: the limit of
    an infinite gap above the second eigenvalue. Proof: docs/proofs/bingham.md, section 3

    Examples
    --------
    >>> [round(float(least_acceptance(d)), 4) for d in (2, 3, 5, 10, 20, 50)]
    [0.6577, 0.5231, 0.3965, 0.2758, 0.1934, 0.1217]
    """
    low, _ = enclose(partial(_least_acceptance, dimension), 128)
    return Fraction((low.numerator << 64) // low.denominator, 1 << 64)


def _least_acceptance(d: int, reals: Arithmetic) -> Interval:
    power = reals.exp((d - 1 - d * reals.log_of(d)) / 2)
    if d % 2:
        # Gamma(d/2) = sqrt(pi) (d - 2)!! / 2**((d - 1)/2)
        return power * reals.of(math.prod(range(1, d - 1, 2)))
    root = reals.sqrt(reals.of(2 ** (d - 1)) / reals.pi)
    return power * root * reals.of(math.factorial(d // 2 - 1))


@dataclass(frozen=True, eq=False)
class Envelope:
    """The numbers of one envelope, taken as exact; they depend on private rows.

    With them a proposal ``z = F g`` of a standard normal g is accepted with probability
    ``exp(-t + (d/2) log(|g|**2 / |z|**2) - height)``, ``t = scale * (peak - z'Mz / |z|**2)``.

    Parameters
    ----------
    factor : ndarray of float64, shape (d, d)
        F; entries are multiples of 2**-60, at most 2 in size.
    peak : float
        About the largest eigenvalue of M, in squared row norms.
    height : float
        At least ``-t + (d/2) log(|g|**2 / |z|**2)`` for every z.

    Guarantee
    ---------
    The probability is at most 1 for every proposal, whatever LAPACK returned: how far ``F'(I + 2 A / b) F`` is from
    the identity is measured with a bound on every rounding, and `height` counts it.
    Proof: docs/proofs/bingham.md, section 4
    """

    factor: NDArray[np.float64]
    peak: float
    height: float


def envelope_of(moments: SecondMoments, scale: float, spread: float) -> Envelope:
    """Return the envelope of ``exp(scale * v'Mv)``; total, in fixed work.

    Parameters
    ----------
    moments : SecondMoments
        M.
    scale : float
        Above 0.
    spread : float
        How far `moments.doubles()` is from M, per row; see `second_moments.error_of`.

    Notes
    -----
    Where the eigenvectors are useless (LAPACK gave up), F is the identity and the peak the number of rows: a valid
    envelope that accepts rarely. That has never been seen.
    """
    matrix, n_rows = moments.doubles(), float(moments.n_rows)
    size = matrix.shape[0]
    with np.errstate(all="ignore"):
        values, vectors = _eigen(matrix)
        peak = max(float(values[-1]), 0.0) * (1 + 2.0**-51 * (size + 8))
        gaps = np.maximum(scale * (peak - values), 0.0)
        b = solve_b(gaps)
        factor = np.ldexp(np.rint(np.ldexp(vectors * np.sqrt(b / (b + 2.0 * gaps)), FACTOR_BITS)), -FACTOR_BITS)
        off = _distance(factor, matrix, peak, 2.0 * scale / b) + 2.0 * scale / b * spread * n_rows * _square(factor)
        off *= 1.001
        if not off < 0.5 or not np.abs(factor).max() <= 2.0:
            return Envelope(np.eye(size), n_rows, 0.0)
        height = log_height(b, size) - size / 2 * math.log1p(-off) + 2.0**-46 * (2 + size * math.log(2 * size))
    return Envelope(factor, peak, height)


def _eigen(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    try:
        values, vectors = np.linalg.eigh(matrix)
    except np.linalg.LinAlgError:
        nothing = np.full_like(matrix, np.nan)
        return nothing[0], nothing
    return values, vectors


def solve_b(gaps: NDArray[np.float64]) -> float:
    """Return b in [1, d] with ``sum(1 / (b + 2 gaps)) = 1``, by a fixed number of bisections.

    Examples
    --------
    >>> [round(solve_b(gaps), 6) for gaps in (np.zeros(3), np.array([0.0, 1e9]))]
    [3.0, 1.0]
    """
    low, high = 1.0, float(gaps.size)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if float((1.0 / (middle + 2.0 * gaps)).sum()) > 1.0:
            low = middle
        else:
            high = middle
    return high


def log_height(b: float, size: int) -> float:
    """Return the largest value of ``-t + (d/2) log(1 + 2 t / b)``."""
    return -(size - b) / 2 + size / 2 * math.log(size / b)


def _square(factor: NDArray[np.float64]) -> float:
    return float((factor * factor).sum())


def _distance(factor: NDArray[np.float64], matrix: NDArray[np.float64], peak: float, weight: float) -> float:
    """Return at least the Frobenius norm of ``F'(I + weight (peak I - matrix)) F - I``.

    Entries of the middle matrix err by at most 8 e times those of its absolute terms, and two products by 2 d e more;
    e = 2**-53.
    """
    size = matrix.shape[0]
    identity = np.eye(size)
    product = factor.T @ (identity + weight * (peak * identity - matrix)) @ factor
    absolute = np.abs(factor)
    terms = absolute.T @ (identity + weight * (peak * identity + np.abs(matrix))) @ absolute
    rounding = (2 * size + 12) * ROUNDOFF * math.sqrt(_square(terms))
    found: float = math.sqrt(_square(product - identity)) + rounding
    return found


def envelope_loss(dimension: int, reach: Fraction, spread: float) -> Fraction:
    """Return how much of the log acceptance rounding may cost, at most: a public number.

    Parameters
    ----------
    dimension : int
        d.
    reach : Fraction
        Scale times the largest number of rows.
    spread : float
        As for `envelope_of`.

    Notes
    -----
    The rounding part of `_distance` is at most ``(2 d + 12) e (d**1.5 + 2 (sqrt(d) + 1) reach)``; a quarter more is for
    what LAPACK's eigenvectors are off by, and ``2 reach spread`` for what the matrix errs by. Each costs d times
    itself. Eigenvalues that err by ``2**-51 (d + 8)`` of the largest move the peak and b.
    Proof: docs/proofs/bingham.md, section 5
    """
    d, e = dimension, Fraction(1, 2**53)
    root = Fraction(math.isqrt(d * 2**20) + 1, 2**10)
    distance = Fraction(5, 4) * (2 * d + 12) * e * (d * root + 2 * (root + 1) * reach) + 2 * reach * Fraction(spread)
    eigenvalues = reach * (d + 8) * 3 * d * Fraction(1, 2**51)
    return Fraction(5, 4) * d * distance + eigenvalues + Fraction(1, 2**30)
