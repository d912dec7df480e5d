"""Private rows as they were given, with one target a model, and as whole numbers on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.descent.rows import IntegerRows, integer_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from discreet.lattice.row_grid import RowGrid


class Passes:
    """A count of passes over the rows, for a progress bar.

    Parameters
    ----------
    total : int
        How many there will be.
    tell : callable
        Told how many are done and how many there will be.
    """

    def __init__(self, total: int, tell: Callable[[int, int], None]) -> None:
        self._total = total
        self._tell = tell
        self._done = 0

    def one_more(self) -> None:
        """Count a pass that is done."""
        self._done += 1
        self._tell(self._done, self._total)


@dataclass(frozen=True, eq=False)
class PrivateTable:
    """Private rows as they were given, with one target a model.

    Parameters
    ----------
    private_matrix : array or any scipy.sparse matrix or array
        The features.
    private_targets : tuple of ndarray of float64, shape (n_rows,)
        Finite.
    names : tuple of str
        Of the columns, for messages.
    target_bounds : tuple of float
        Public limits of every target.
    passes : Passes or None
        Called after each pass over the rows; the number of passes is public.
    """

    private_matrix: Any
    private_targets: tuple[NDArray[np.float64], ...]
    names: tuple[str, ...]
    target_bounds: tuple[float, float]
    passes: Passes | None = None

    def on_grid(self, grid: RowGrid) -> list[IntegerRows]:
        """Return the rows as whole numbers, once a target; the features are stored once.

        Raises
        ------
        InvalidData
            If a cell is missing; names the column.
        """
        first = integer_rows(
            self.private_matrix,
            self.private_targets[0],
            row_norm=grid.row_norm,
            entry_bound=grid.entry_bound,
            target_bounds=self.target_bounds,
            intercept=grid.intercept,
            bits=grid.bits,
            names=self.names,
        )
        return [self._watched(first, target) for target in self.private_targets]

    def _watched(self, rows: IntegerRows, target: NDArray[np.float64]) -> IntegerRows:
        private_y = target.clip(*rows.target_bounds)
        watched = WatchedRows(rows.grid, rows.private_matrix, private_y, rows.target_bounds)
        watched.passes = self.passes
        return watched


class WatchedRows(IntegerRows):
    """Rows that say when a pass over them is done."""

    __slots__ = ("passes",)

    passes: Passes | None

    def gradient(self, residuals: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the sum over all rows of residual times row, exactly."""
        total = super().gradient(residuals)
        if self.passes is not None:
            self.passes.one_more()
        return total
