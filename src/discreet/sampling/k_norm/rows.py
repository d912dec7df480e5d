"""Private rows of a linear model within a public norm, and the sums of gradients over them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidData
from discreet.sampling.pca.second_moments import UnitGrid, check_cells
from discreet.tables.arrays import UNEQUAL, check_pairing
from discreet.tables.cells.given_cells import matrix_of_numbers, numbers_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.sampling.k_norm.losses import GradientLoss

# Rows that are summed together, and margins that are held at a time.
BLOCK_ROWS = 1 << 13
_CELLS = 1 << 18


@dataclass(frozen=True, eq=False)
class BoundedRows:
    """Private rows within a public norm, with their targets.

    Parameters
    ----------
    private_matrix : ndarray of float64, shape (n_rows, width)
        Multiples of a public power of two, whose squares in a row sum to at most the reader's `norm_squared`, exactly.
    private_y : ndarray of float64, shape (n_rows,)
        Targets within the reader's bounds.
    """

    private_matrix: NDArray[np.float64]
    private_y: NDArray[np.float64]


class RowReader(ABC):
    """How private data become bounded rows: public declarations alone."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many parameters there are."""

    @property
    @abstractmethod
    def norm_squared(self) -> Fraction:
        """The largest squared norm of a row."""

    @property
    @abstractmethod
    def target_bounds(self) -> tuple[float, float]:
        """Public limits of the targets."""

    @abstractmethod
    def count(self, data: Any) -> int:
        """Return the number of rows, without a look at a cell."""

    @abstractmethod
    def read(self, data: Any) -> BoundedRows:
        """Return the rows.

        Raises
        ------
        InvalidData
            If a cell is missing; names the column.
        """


@dataclass(frozen=True, kw_only=True)
class NormedRows(RowReader):
    """Rows of arrays, scaled down to a norm, which is the unit; the last column may be a constant.

    Data are a pair of arrays (X, y), of shapes (n_rows, n_columns) and (n_rows,).

    Parameters
    ----------
    grid : UnitGrid
        The public grid of a row of X.
    bounds : tuple of float
        Public limits of y; targets outside are moved to the nearer one.
    constant : Fraction, default 0
        The value of the constant column, in units of the norm, a multiple of 2**-16 up to 1; 0 for none.
    names : tuple of str, optional
        Of the columns of X, for messages.
    trouble : str
        What is said of a missing target.

    Examples
    --------
    >>> reader = NormedRows(grid=UnitGrid(2, row_norm=5.0), bounds=(0.0, 1.0), constant=Fraction(1, 2))
    >>> reader.read((np.array([[3.0, 4.0], [6.0, 8.0]]), np.array([0.0, 7.0]))).private_matrix[:, 2].tolist()
    [0.5, 0.5]
    >>> reader.width, reader.norm_squared
    (3, Fraction(5, 4))
    """

    grid: UnitGrid
    bounds: tuple[float, float]
    constant: Fraction = Fraction(0)
    names: tuple[str, ...] = ()
    trouble: str = "has missing cells (NaN or inf)"

    def __post_init__(self) -> None:
        constant = _checks.exact_nonnegative(self.constant, "constant")
        if not constant <= 1 or (constant * 2**16).denominator > 1:
            raise InvalidArgument(f"`constant` must be a multiple of 2**-16 up to 1; found {constant}.")
        object.__setattr__(self, "constant", constant)

    @property
    def width(self) -> int:
        """The columns of X, and the constant one."""
        return self.grid.n_columns + (self.constant > 0)

    @property
    def norm_squared(self) -> Fraction:
        """1, and the square of the constant."""
        return 1 + self.constant**2

    @property
    def target_bounds(self) -> tuple[float, float]:
        """As declared."""
        return self.bounds

    def count(self, data: Any) -> int:
        """Return the number of rows."""
        return int(_pair(data)[0].shape[0])

    def read(self, data: Any) -> BoundedRows:
        """Return the rows."""
        matrix, target = _pair(data)
        if matrix.shape[1] != self.grid.n_columns:
            raise InvalidData(f"`X` must have {self.grid.n_columns} columns, as declared; found {matrix.shape[1]}.")
        check_cells(matrix, self.names or [f"x{j}" for j in range(matrix.shape[1])], self.grid)
        if not np.isfinite(target).all():
            raise InvalidData(f"Column 'y' {self.trouble}. Take such rows out.")
        whole = self.grid.encode(np.array(matrix, dtype=np.float64))
        rows = np.full((matrix.shape[0], self.width), float(self.constant))
        rows[:, : matrix.shape[1]] = np.ldexp(whole, -self.grid.bits)
        return BoundedRows(rows, np.clip(target, *self.bounds))


def _pair(data: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
    if not (isinstance(data, (tuple, list)) and len(data) == 2):
        raise InvalidData("`data` must be a pair of arrays (X, y). Give both.")
    check_pairing(data[0], data[1])
    matrix = matrix_of_numbers(data[0])
    if matrix.ndim != 2:
        raise InvalidData("`X` must have rows and columns. Reshape it to one row a record.")
    target = numbers_of(data[1]).astype(np.float64)
    if target.shape != (matrix.shape[0],):
        raise InvalidData(UNEQUAL)
    return matrix, target


class GradientSum:
    """The gradient of ``sum of losses + ridge / 2 |theta|**2`` over private rows.

    Parameters
    ----------
    rows : BoundedRows
        The rows.
    loss : GradientLoss
        Of a row's margin.
    ridge : float
        gamma.

    Notes
    -----
    Work is cut into pieces of public shapes, so what is computed of a point does not depend on the others.
    """

    def __init__(self, rows: BoundedRows, loss: GradientLoss, ridge: float) -> None:
        self._matrix = np.ascontiguousarray(rows.private_matrix)
        self._transposed = np.ascontiguousarray(rows.private_matrix.T)
        self._y = rows.private_y
        self._loss = loss
        self._ridge = ridge

    def __call__(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gradients at points, float64 of shape (size, width)."""
        n_rows = self._matrix.shape[0]
        total = self._ridge * points
        size = max(1, _CELLS // max(1, min(n_rows, BLOCK_ROWS)))
        for start in range(0, points.shape[0], size):
            part = points[start : start + size]
            for first in range(0, n_rows, BLOCK_ROWS):
                rows = slice(first, first + BLOCK_ROWS)
                margins = part @ self._transposed[:, rows]
                total[start : start + size] += self._loss.derivatives(margins, self._y[rows]) @ self._matrix[rows]
        return total
