"""Private rows on a public grid: exact margins and gradients, whatever the order of the rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidData
from discreet.lattice.products import check_products
from discreet.lattice.row_grid import DEFAULT_BITS, RowGrid
from discreet.tables.arrays import UNEQUAL, check_pairing
from discreet.tables.cells.given_cells import matrix_of_numbers, numbers_of
from discreet.tables.sparse_rows import is_sparse_frame, summed_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

# A residual has at most this many units, and the residual's clip is this many.
RESIDUAL_BOUND = 1 << 16
# Sums of fewer rows than this stay below 2**62: no score is ever wrapped or clamped.
_ROWS = 1 << 30
# Whole numbers up to here are exact in a double.
_EXACT = 1 << 53
# Cells of a dense matrix that are squared together.
_BLOCK = 1 << 18
# Larger cells are clipped before their squares are summed; they would be scaled down to nothing else.
_HUGE = 2.0**400


class IntegerRows:
    """Private rows of whole numbers; built by `integer_rows`.

    Parameters
    ----------
    grid : RowGrid
        The public grid.
    private_matrix : ndarray or scipy.sparse.csr_array of float64, shape (n_rows, n_columns)
        Whole numbers that keep the grid's bounds, without the intercept; `grid.unit` each.
    private_y : ndarray of float64, shape (n_rows,)
        Targets within `target_bounds`.
    target_bounds : tuple of float
        Public limits of the target.

    Guarantee
    ---------
    In every row the squares sum to at most `grid.norm**2` and no entry exceeds `grid.entry`, in integers.
    Margins and gradients are exact integers, so they do not depend on the order of the rows or of additions.
    Proof: docs/proofs/descent.md.
    """

    __slots__ = ("grid", "private_matrix", "private_y", "target_bounds")

    def __init__(
        self, grid: RowGrid, private_matrix: Any, private_y: NDArray[np.float64], target_bounds: tuple[float, float]
    ) -> None:
        check_products()
        self.grid = grid
        self.private_matrix = private_matrix
        self.private_y = private_y
        self.target_bounds = target_bounds

    def private_size(self) -> int:
        """Return the number of rows; used only where the adjacency makes it public."""
        return int(self.private_matrix.shape[0])

    def margins(self, whole: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return every row times an iterate of whole numbers, exactly.

        Parameters
        ----------
        whole : ndarray of float64, shape (width,)
            As `whole_numbers` gives it.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
            Whole numbers below 2**53.
        """
        margins: NDArray[np.float64] = self.private_matrix @ whole[: self.grid.n_columns]
        if self.grid.constant:
            margins += self.grid.constant * whole[-1]
        return margins

    def gradient(self, residuals: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the sum over all rows of residual times row, exactly.

        Parameters
        ----------
        residuals : ndarray of float64, shape (n_rows,)
            Whole numbers of at most `RESIDUAL_BOUND`.

        Returns
        -------
        ndarray of int64, shape (width,)
            Below 2**62 in size.
        """
        total = np.zeros(self.grid.width, np.int64)
        sums = total[: self.grid.n_columns]
        for start, stop, block in self._blocks():
            sums += (block.T @ residuals[start:stop]).astype(np.int64)
        if self.grid.constant:
            total[-1] = self.grid.constant * int(residuals.astype(np.int64).sum())
        return total

    def _blocks(self) -> Iterator[tuple[int, int, Any]]:
        """Yield blocks of so few rows that no partial sum of a column passes 2**53."""
        n_rows, size = self.private_size(), _EXACT // (RESIDUAL_BOUND * self.grid.entry)
        if n_rows <= size:
            yield 0, n_rows, self.private_matrix
            return
        for start in range(0, n_rows, size):
            stop = min(start + size, n_rows)
            yield start, stop, self.private_matrix[start:stop]

    def __repr__(self) -> str:
        return f"IntegerRows({self.grid!r})"


def whole_numbers(theta: NDArray[np.float64], grid: RowGrid) -> tuple[NDArray[np.float64], float]:
    """Return a public iterate as whole numbers, and what one unit of a margin is worth.

    The numbers are so small that no partial sum of a margin passes 2**53, by the Cauchy-Schwarz inequality.
    """
    largest = float(np.abs(theta).max(initial=0.0))
    n = int(np.count_nonzero(theta))
    _, exponent = math.frexp(largest)
    of_row = math.isqrt(grid.norm_squared()).bit_length()
    shift = min(51 - of_row - (n.bit_length() + 1) // 2 - exponent, 900)
    return np.rint(np.ldexp(theta, shift)), math.ldexp(grid.unit, -shift)


def integer_rows(
    X: Any,
    y: Any,
    *,
    row_norm: float,
    entry_bound: float | None = None,
    target_bounds: tuple[float, float],
    intercept: float = 0.0,
    bits: int = DEFAULT_BITS,
    names: Sequence[str] | None = None,
) -> IntegerRows:
    """Return private rows on the public grid of a norm and an entry bound.

    Duplicate entries are summed, each record is scaled down to the row norm and clipped to the entry bound, rounded
    toward zero, then checked in integers and shrunk again where a rounding error passed.

    Parameters
    ----------
    X : array, frame or any scipy.sparse matrix or array, shape (n_rows, n_columns)
        The private features. Sparse ones stay sparse, whatever their indices' width; nothing is written to.
    y : array-like, shape (n_rows,)
        The private target; clipped to `target_bounds`.
    row_norm, entry_bound, intercept, bits
        As in `RowGrid`.
    target_bounds : tuple of float
        Public limits of the target; (0, 1) for labels.
    names : sequence of str, optional
        Of the columns, for messages; x0, x1, ... otherwise.

    Raises
    ------
    InvalidData
        If a stored cell is NaN or infinite (names the column), is no number, or shapes do not fit.
    InvalidArgument
        If a public number is out of its range.

    Examples
    --------
    >>> import numpy as np
    >>> rows = integer_rows(np.array([[3.0, 4.0]]), [1.0], row_norm=1.0, target_bounds=(0, 1), bits=4)
    >>> rows.gradient(np.array([2.0])).tolist()  # (0.6, 0.8) in sixteenths, toward zero, twice
    [18, 24]
    """
    low, high = check_target_bounds(target_bounds)
    check_pairing(X, y)
    matrix = _matrix_of(X)
    names = getattr(X, "columns", None) if names is None else names
    grid = RowGrid(matrix.shape[1], row_norm, entry_bound, intercept, bits)
    target = numbers_of(y).astype(np.float64)
    if target.shape != (matrix.shape[0],):
        raise InvalidData(UNEQUAL)
    if matrix.shape[0] >= _ROWS:
        raise InvalidData(f"There may be at most {_ROWS - 1} rows. Fit on fewer.")
    if not np.isfinite(target).all():
        raise InvalidData("Column 'y' has missing cells (NaN or inf). Take such rows out.")
    cells = matrix if isinstance(matrix, np.ndarray) else matrix.data
    if not np.isfinite(cells).all():
        _name_the_missing(matrix, names)
    return IntegerRows(grid, _on_grid(matrix, grid), np.clip(target, low, high), (low, high))


def check_target_bounds(value: Any) -> tuple[float, float]:
    """Return public limits of a target as two finite floats in order."""
    if isinstance(value, (tuple, list)) and len(value) == 2:
        low, high = (_checks.finite_float(limit, "target_bounds") for limit in value)
        if low <= high:
            return low, high
    raise InvalidArgument("`target_bounds` must be (lower, upper), two finite numbers with lower <= upper.")


def _matrix_of(X: Any) -> Any:
    """Return a float64 copy: a dense array, or a csr_array with its duplicates summed in doubles."""
    import scipy.sparse

    if scipy.sparse.issparse(X):
        return summed_rows(X)
    if is_sparse_frame(X):
        return summed_rows(X.sparse.to_coo())
    dense = matrix_of_numbers(X)
    if dense.ndim != 2:
        raise InvalidData(
            f"Expected 2D array for `X`, got {dense.ndim}D array instead. Reshape it to one row a record."
        )
    return np.array(dense, dtype=np.float64, order="C")


def _name_the_missing(matrix: Any, names: Sequence[str] | None) -> None:
    if isinstance(matrix, np.ndarray):
        column = int(np.flatnonzero(~np.isfinite(matrix).all(axis=0))[0])
    else:
        column = int(matrix.indices[~np.isfinite(matrix.data)].min())
    name = f"x{column}" if names is None else str(names[column])
    raise InvalidData(f"Column {name!r} has missing cells (NaN or inf). Take such rows out, or fill them.")


def _on_grid(matrix: Any, grid: RowGrid) -> Any:
    """Return the matrix as whole numbers within the grid's bounds; overwrites it."""
    cells = matrix if isinstance(matrix, np.ndarray) else matrix.data
    with np.errstate(all="ignore"):  # a warning would tell of a cell
        cells /= grid.unit
    np.clip(cells, -_HUGE, _HUGE, out=cells)
    _scale_rows(matrix, np.sqrt(_squared_norms(matrix)), grid.norm)
    np.clip(cells, -grid.entry, grid.entry, out=cells)
    np.trunc(cells, out=cells)
    # From here on all numbers are whole and their sums exact; a rounding error that passed is shrunk away.
    while (squares := _squared_norms(matrix)).max(initial=0.0) > grid.norm**2:
        _scale_rows(matrix, np.where(squares > grid.norm**2, grid.norm + 1.0, 0.0), grid.norm)
        np.trunc(cells, out=cells)
    if not isinstance(matrix, np.ndarray):
        matrix.eliminate_zeros()
    return matrix


def _squared_norms(matrix: Any) -> NDArray[np.float64]:
    """Return the sum of every row's squares, each in the order of its columns and apart from all other rows."""
    import scipy.sparse

    if isinstance(matrix, np.ndarray):
        size = max(1, _BLOCK // matrix.shape[1])
        starts = range(0, matrix.shape[0], size)
        # One after the other, as a sparse product adds: a sum in another order may differ in its last digit.
        sums_of = (np.add.accumulate(np.square(matrix[i : i + size]), axis=1)[:, -1] for i in starts)
        return np.concatenate([np.empty(0), *sums_of])
    squares = scipy.sparse.csr_array((matrix.data**2, matrix.indices, matrix.indptr), shape=matrix.shape)
    sums: NDArray[np.float64] = squares @ np.ones(matrix.shape[1])
    return sums


def _scale_rows(matrix: Any, norms: NDArray[np.float64], largest: int) -> None:
    factors = largest / np.maximum(norms, largest)
    if isinstance(matrix, np.ndarray):
        matrix *= factors[:, None]
    else:
        matrix.data *= np.repeat(factors, np.diff(matrix.indptr))
