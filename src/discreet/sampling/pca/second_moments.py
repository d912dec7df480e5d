"""Exact second moments of norm-bounded rows: what principal components are drawn from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidData
from discreet.lattice.products import check_products

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

DEFAULT_BITS = 16
# Cells that are read together, and rows of so many that no partial sum of a product passes 2**53.
_BLOCK_CELLS = 1 << 18
_BLOCK_ROWS = 1 << 20
# Larger cells are cut to this before squares are summed; they would be scaled down to nothing else.
_HUGE = 2.0**400
# A public basis is held in whole numbers of this many bits.
_BASIS_BITS = 30
ROUNDOFF = 2.0**-53
# Up to so many columns a matrix within a basis is computed in whole numbers.
_EXACT_COLUMNS = 64


@dataclass(frozen=True)
class UnitGrid:
    """The public grid of rows that a norm bounds: a row x becomes whole numbers ``(x - center) / scale * K / norm``.

    Parameters
    ----------
    n_columns : int
        Columns of the private matrix, at least 1.
    row_norm : float
        Every centered row is scaled down to this Euclidean norm, in the units of the columns.
    center : tuple of float, optional
        A public point that is taken off every row; None for none.
    lower, upper : tuple of float, optional
        Public limits to which cells are clipped before; None for none.
    scale : tuple of float, optional
        Public numbers above 0 by which centered cells are divided; the norm is then in those units.
    bits : int, default 16
        The norm is K = 2**bits grid units, 4 to 16.

    Raises
    ------
    InvalidArgument
        If a number is out of its range.

    Guarantee
    ---------
    A row on the grid has a squared norm of at most ``4**bits``, in integers. Proof: docs/proofs/bingham.md
    """

    n_columns: int
    row_norm: float
    center: tuple[float, ...] | None = None
    lower: tuple[float, ...] | None = None
    upper: tuple[float, ...] | None = None
    scale: tuple[float, ...] | None = None
    bits: int = DEFAULT_BITS

    def __post_init__(self) -> None:
        _checks.integer(self.n_columns, "n_columns", low=1, high=2**20)
        _checks.integer(self.bits, "bits", low=4, high=16)
        norm = _checks.finite_float(self.row_norm, "row_norm")
        if not 1e-100 <= norm <= 1e100:
            raise InvalidArgument(f"`row_norm` must be between 1e-100 and 1e100; found {norm}.")
        object.__setattr__(self, "row_norm", norm)
        for name in ("center", "lower", "upper", "scale"):
            values = getattr(self, name)
            if values is not None and len(values) != self.n_columns:
                raise InvalidArgument(f"`{name}` must have one number a column; found {len(values)}.")

    @property
    def norm(self) -> int:
        """K, the largest norm of a row in grid units."""
        return 1 << self.bits

    @property
    def most_rows(self) -> int:
        """How many rows a sum of squares can hold."""
        return (1 << 63 - 2 * self.bits) - 1

    def encode(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows as whole numbers on the grid, float64 of the same shape; total.

        A row of NaN, a record that its schema drops, becomes 0: it contributes nothing.
        """
        with np.errstate(all="ignore"):  # no private value may cause a warning
            rows = np.clip(rows, -_HUGE, _HUGE)
            if self.lower is not None and self.upper is not None:
                np.clip(rows, np.array(self.lower), np.array(self.upper), out=rows)
            if self.center is not None:
                rows -= np.array(self.center)
            rows[np.isnan(rows)] = 0.0
            if self.scale is not None:
                rows /= np.array(self.scale)
                np.clip(rows, -_HUGE, _HUGE, out=rows)
            norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
            rows *= (self.norm / np.maximum(norms, self.row_norm))[:, None]
            np.trunc(rows, out=rows)
            # A rounding error may have let a row pass; shrunk by a thousandth it cannot.
            over = np.einsum("ij,ij->i", rows, rows) > float(self.norm) ** 2
            rows *= np.where(over, 0.999, 1.0)[:, None]
            np.trunc(rows, out=rows)
        return rows


@dataclass(frozen=True, eq=False)
class SecondMoments:
    """The exact sum of ``x x'`` over private rows of whole numbers, perhaps seen through a public basis.

    Parameters
    ----------
    private_sum : ndarray of int64, shape (n_columns, n_columns)
        In squared grid units.
    n_rows : int
        How many rows were summed; public under Replace alone.
    bits : int
        A row's norm is at most 2**bits.
    basis : ndarray of int64 or None, shape (dimension, n_columns)
        B in units of 2**-30, of spectral norm at most 1: what is described is ``B sum B'``. None for the identity.
    """

    private_sum: NDArray[np.int64]
    n_rows: int
    bits: int
    basis: NDArray[np.int64] | None = None

    @property
    def dimension(self) -> int:
        """How many columns there are, after the basis."""
        return len(self.private_sum if self.basis is None else self.basis)

    @property
    def unit(self) -> int:
        """What one squared row norm is in units of `exact`."""
        return 1 << 2 * (self.bits + (0 if self.basis is None else _BASIS_BITS))

    def within(self, basis: NDArray[np.int64]) -> SecondMoments:
        """Return the second moments of the rows in the coordinates of a public basis; see `complement`."""
        return SecondMoments(self.private_sum, self.n_rows, self.bits, basis)

    def exact(self) -> NDArray[Any]:
        """Return the matrix in Python's whole numbers, shape (dimension, dimension)."""
        whole = self.private_sum.astype(object)
        if self.basis is None:
            return whole
        basis = self.basis.astype(object)
        exact: NDArray[Any] = basis @ whole @ basis.T
        return exact

    def doubles(self) -> NDArray[np.float64]:
        """Return the matrix in squared row norms, as doubles; see `error`."""
        doubles: NDArray[np.float64] = np.ldexp(self.private_sum.astype(np.float64), -2 * self.bits)
        if self.basis is None:
            return doubles
        if len(self.private_sum) <= _EXACT_COLUMNS:
            unit = self.unit
            return np.array([[entry / unit for entry in row] for row in self.exact().tolist()])
        basis = np.ldexp(self.basis.astype(np.float64), -_BASIS_BITS)
        doubles = basis @ doubles @ basis.T
        return (doubles + doubles.T) / 2


def error_of(n_columns: int, dimension: int, *, in_basis: bool) -> float:
    """Return how far `SecondMoments.doubles` is from exact, at most: in Frobenius norm, per row summed.

    With M the matrix in squared row norms, of trace at most the number of rows n, conversion errs by e |M| <= e n,
    e = 2**-53. Up to 64 columns B M B' is computed in whole numbers, and only that is converted; with D columns more
    a product of doubles errs by at most (2 D + 4) e |B|**2 |M|, in Frobenius norms, |B|**2 at most the dimension
    (Higham 2002, section 3.5).
    """
    if not in_basis or n_columns <= _EXACT_COLUMNS:
        return 1.01 * ROUNDOFF
    return 1.01 * ROUNDOFF * (1 + (2 * n_columns + 6) * dimension)


def sum_rows(matrix: NDArray[Any], grid: UnitGrid) -> SecondMoments:
    """Return the exact second moments of private rows.

    Parameters
    ----------
    matrix : ndarray of real numbers, shape (n_rows, n_columns)
        Finite cells.
    grid : UnitGrid
        The public grid.

    Examples
    --------
    >>> sum_rows(np.array([[3.0, 4.0], [0.0, -0.5]]), UnitGrid(2, row_norm=1.0, bits=4)).private_sum.tolist()
    [[81, 108], [108, 208]]
    """
    check_products()
    total = np.zeros((grid.n_columns, grid.n_columns), np.int64)
    size = min(_BLOCK_ROWS, max(1, _BLOCK_CELLS // grid.n_columns))
    for start in range(0, matrix.shape[0], size):
        rows = grid.encode(np.array(matrix[start : start + size], dtype=np.float64))
        total += (rows.T @ rows).astype(np.int64)
    return SecondMoments(total, int(matrix.shape[0]), grid.bits)


def check_cells(matrix: NDArray[Any], names: Sequence[str], grid: UnitGrid) -> None:
    """Refuse missing cells, and more rows than a sum can hold.

    Raises
    ------
    InvalidData
        Names the column, never a cell.
    """
    if matrix.shape[0] > grid.most_rows:
        raise InvalidData(f"There may be at most {grid.most_rows} rows on a grid of {grid.bits} bits. Use fewer bits.")
    if np.isfinite(matrix).all():
        return
    for name, column in zip(names, matrix.T, strict=True):
        if not np.isfinite(column).all():
            raise InvalidData(f"Column {name!r} has missing cells (NaN or inf). Take such rows out, or fill them.")


def complement(directions: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return an orthonormal basis of what is perpendicular to public directions, and the same in whole numbers.

    Parameters
    ----------
    directions : ndarray of float64, shape (n_directions, n_columns)
        Public, linearly independent, fewer than columns.

    Returns
    -------
    basis : ndarray of float64, shape (n_columns - n_directions, n_columns)
        Rows orthonormal up to rounding.
    whole : ndarray of int64, the same shape
        Slightly less than the basis, in units of 2**-30.

    Guarantee
    ---------
    The spectral norm of the second is at most 1, checked in whole numbers by Gershgorin's disks: no row becomes longer
    in its coordinates. Proof: docs/proofs/bingham.md

    Examples
    --------
    >>> basis, whole = complement(np.array([[1.0, 0.0, 0.0]]))
    >>> basis.shape, bool((abs(basis @ [1.0, 0.0, 0.0]) < 1e-15).all())
    ((2, 3), True)
    """
    n_directions = directions.shape[0]
    rotation, _ = np.linalg.qr(directions.T, mode="complete")
    basis = np.ascontiguousarray(rotation[:, n_directions:].T)
    scale = 1.0
    while True:
        # The slack of 2**-12 covers the rounding of the entries for every width below 2000.
        scale *= 1 - 2.0**-12
        whole = np.rint(np.ldexp(basis * scale, _BASIS_BITS)).astype(np.int64)
        if _is_contraction(whole):
            return basis, whole


def _is_contraction(whole: NDArray[np.int64]) -> bool:
    """Whether a matrix in units of 2**-30 has a spectral norm of at most 1, by Gershgorin's disks of ``B B'``."""
    # High and low halves, so that every product of doubles is exact.
    high = whole >> 15
    low = (whole - (high << 15)).astype(np.float64)
    top = high.astype(np.float64)
    squares, crosses, rests = (
        (one @ other.T).astype(np.int64).astype(object) for one, other in ((top, top), (top, low), (low, low))
    )
    gram = squares * 2**30 + (crosses + crosses.T) * 2**15 + rests
    return bool((np.abs(gram).sum(axis=1) <= 4**_BASIS_BITS).all())


def half_diagonal(lower: Sequence[float], upper: Sequence[float]) -> float:
    """Return half the diagonal of a box, rounded up."""
    squares = sum(((Fraction(high) - Fraction(low)) / 2) ** 2 for low, high in zip(lower, upper, strict=True))
    near = math.sqrt(float(squares))
    return math.nextafter(near * (1 + 2.0**-50), math.inf)
