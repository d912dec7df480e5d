"""From a noisy Gram matrix to a public whole-number matrix that whitens rows: post-processing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.lattice.grid import Layout

# A whitened row's norm, in whole units, is at most 2**24: its squares add up to less than 2**49, exactly in a double.
NORM_BITS = 24
# Of the scale of the noise's operator norm, what eigenvalues are raised to. In simulations 1 had 10 to 40 % more excess
# risk at middling budgets; below 0.5 eigenvalues that the noise made too small let steps overshoot.
_FLOOR = 0.6
# A product of the matrix with a row, and every partial sum of it, is at most 2**_PRODUCT_BITS.
_PRODUCT_BITS = 51


@dataclass(frozen=True, eq=False)
class Whitener:
    """A public matrix of whole numbers with which every row is multiplied.

    A row of whole numbers q becomes x = rint(2**-shift * (whole @ q)), and stands for `unit * x`.

    Parameters
    ----------
    whole : ndarray of float64, shape (p, p)
        Whole numbers.
    shift : int
        How many bits of a product are rounded away, at least 0.
    unit : float
        What one unit of a whitened row is worth, a power of two.
    matrix : ndarray of float64, shape (p, p)
        P, symmetric: what a row over 2**bits is multiplied with.
    eigenvalues : ndarray of float64, shape (p,)
        Of the noisy mean Gram matrix of the features, before the floor.
    floor : float
        What smaller eigenvalues are raised to: the noise's own.
    vectors : ndarray of float64, shape (p, p)
        Eigenvectors, one a column.

    Guarantee
    ---------
    For every row of the layout, products and their partial sums are below 2**53, and |x| is at most 2**24 in the
    Euclidean norm. Proof: docs/proofs/preconditioned.md
    """

    whole: NDArray[np.float64]
    shift: int
    unit: float
    matrix: NDArray[np.float64]
    eigenvalues: NDArray[np.float64]
    floor: float
    vectors: NDArray[np.float64]


def gram_solution(public: Whitener, gram: NDArray[np.float64], *, n_rows: int, scale: float) -> NDArray[np.float64]:
    """Return the least squares of a released Gram matrix in whitened coordinates, times `scale`: post-processing.

    A ridge lifts the least eigenvalue to the whitener's floor.
    """
    p = len(public.eigenvalues)
    ridge = max(0.0, public.floor - float(public.eigenvalues[0]))
    lifted = np.maximum(public.eigenvalues + ridge, public.floor)
    roots = np.sqrt(np.maximum(public.eigenvalues, public.floor))
    cross = public.vectors.T @ (gram[:p, p] / n_rows)
    return np.asarray(public.vectors @ (roots / lifted * cross) * scale)


def feature_norm_squared(layout: Layout) -> int:
    """Return an exact bound of the squared norm of a row's features, the target left out, in squared grid units."""
    return min(layout.row_norm_squared, sum(bound**2 for bound in layout.entry_bounds[:-1]))


def whitener(layout: Layout, gram: NDArray[np.float64], *, entry_std: float, n_rows: int) -> Whitener:
    """Return the whitener of a released Gram matrix.

    Parameters
    ----------
    layout : Layout
        The public grid of a row, the target last.
    gram : ndarray of float64, shape (layout.width, layout.width)
        The released Gram matrix of rows over 2**bits.
    entry_std : float
        Standard deviation of its noise off the diagonal.
    n_rows : int
        The public number it is divided by.

    Notes
    -----
    Eigenvalues of the features' part, over `n_rows`, are raised to 0.6 times `2 * entry_std * sqrt(p) / n_rows`,
    the scale of the noise's operator norm; P is the inverse of the root.

    Examples
    --------
    >>> from discreet.lattice.grid import Coding, Layout
    >>> layout = Layout(["a", "y"], [Coding.centered(-1, 1)] * 2, intercept=True)
    >>> whitener(layout, np.diag([100.0, 25.0, 10.0]), entry_std=0.1, n_rows=100).matrix.round(4).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    p = layout.width - 1
    floor = _FLOOR * 2.0 * entry_std * math.sqrt(p) / n_rows
    eigenvalues, vectors = np.linalg.eigh(gram[:p, :p] / n_rows)
    roots = np.sqrt(np.maximum(eigenvalues, floor))
    real = (vectors / roots) @ vectors.T
    norm_squared = feature_norm_squared(layout)
    _, largest = math.frexp(float(np.sqrt((real * real).sum())))
    bits = _PRODUCT_BITS - 1 - norm_squared.bit_length() // 2 - largest
    whole = np.rint(np.ldexp((real + real.T) / 2.0, bits))
    # From here on in whole numbers: |whole @ q| <= reach for every row q of the layout.
    squares = sum(int(entry) ** 2 for entry in whole.ravel())
    reach = math.isqrt(squares * norm_squared) + 1
    assert reach < 2**53, "partial sums of a product are exact"  # noqa: S101
    # Rounding adds at most sqrt(p) / 2 to the norm.
    shift = max(0, (reach // (2**NORM_BITS - p - 1)).bit_length())
    assert (reach >> shift) + 1 + p <= 2**NORM_BITS, "norms are at most 2**24"  # noqa: S101
    return Whitener(
        whole=whole,
        shift=shift,
        unit=math.ldexp(1.0, shift - bits - layout.bits),
        matrix=np.ldexp(whole, -bits),
        eigenvalues=eigenvalues,
        floor=floor,
        vectors=vectors,
    )
