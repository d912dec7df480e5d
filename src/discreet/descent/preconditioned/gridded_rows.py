"""Private rows as the descent keeps them: quantized once, in blocks of whole numbers, with their exact Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument, InvalidData
from discreet.lattice.gram import GramSum, keep_first
from discreet.lattice.quantize import all_finite, quantize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from discreet.lattice.grid import Layout
    from discreet.tables.arrays import ArrayRows
    from discreet.tables.blocks import Table
    from discreet.tables.design import Design

# Cells of a block: 480 KiB of doubles, so that a block stays in a second-level cache of 1 MiB through all of a step.
_BLOCK_CELLS = 60 * 1024
# A block's sums are exact in doubles up to this many rows, see `whitened_rows`.
MOST_BLOCK_ROWS = 1 << 13
# Whole numbers up to here are exact in a float32.
_EXACT_SINGLE = 1 << 24


def rows_a_block(width: int, asked: int | None = None) -> int:
    """Return how many rows of `width` columns are worked on at a time; it changes the speed and nothing else."""
    if asked is not None:
        return _checks.integer(asked, "block_rows", low=1, high=MOST_BLOCK_ROWS)
    return min(max(_BLOCK_CELLS // width, 256), MOST_BLOCK_ROWS)


# The codes of some records, and which of these are dropped, bool of shape (n,), or None where none is. A dropped record
# is a column of zeros, but a column of zeros may be a record: without an intercept, 0 is the code of a count of 0.
CodedBlock = tuple["NDArray[np.float64]", "NDArray[np.bool_] | None"]


class RowSource(Protocol):
    """Private rows that can be put on a grid, block after block."""

    def blocks(self, layout: Layout) -> Iterator[CodedBlock]:
        """Yield blocks of shape (layout.width, n), and which records are dropped; may raise what the owner declared.

        Whole numbers within the layout's entry bounds, one grid column a row of the block, the intercept first and the
        target last. A block may be overwritten when the next is asked for.
        """
        ...


@dataclass(frozen=True, eq=False, repr=False)
class GriddedRows:
    """Private rows on a public grid; built by `gridded`.

    Parameters
    ----------
    layout : Layout
        The public grid.
    private_blocks : tuple of ndarray of float32, shape (layout.width, n)
        The rows, exact; 4 bytes a cell.
    private_gram : ndarray of int64, shape (layout.width, layout.width)
        Their exact Gram matrix, in squared grid units.
    private_dropped : tuple of (ndarray of bool, shape (n,), or None)
        Which records of a block contribute nothing, block by block; None where all contribute.
    """

    layout: Layout
    private_blocks: tuple[NDArray[np.float32], ...]
    private_gram: NDArray[np.int64]
    private_dropped: tuple[NDArray[np.bool_] | None, ...]


def gridded(source: RowSource, layout: Layout, *, block_rows: int | None = None) -> GriddedRows:
    """Return the rows of a source on a grid, with their exact Gram matrix; one pass over the source.

    Parameters
    ----------
    source : RowSource
        Such as `ArraySource` or `TableSource`.
    layout : Layout
        The public grid of a row, the target last.
    block_rows : int or None
        Rows kept together; the speed depends on it and nothing else.

    Raises
    ------
    InvalidData
        What the source says of missing cells.

    Guarantee
    ---------
    Every entry is a whole number within the layout's bounds, kept exactly; the Gram matrix is the exact sum modulo
    2**64. Neither depends on the order of the rows or on the blocks. Proof: docs/proofs/gram.md
    """
    size = rows_a_block(layout.width, block_rows)
    assert max(layout.entry_bounds) <= _EXACT_SINGLE  # noqa: S101  (a grid has at most 21 bits)
    total = GramSum(layout)
    kept: list[NDArray[np.float32]] = []
    absent: list[NDArray[np.bool_] | None] = []
    for block, dropped in source.blocks(layout):
        total.add(block)
        starts = range(0, block.shape[1], size)
        kept += [np.array(block[:, start : start + size], dtype=np.float32, order="C") for start in starts]
        absent += [None if dropped is None else dropped[start : start + size] for start in starts]
    return GriddedRows(layout, tuple(kept), total.gram, tuple(absent))


class ArraySource:
    """The rows of arrays of scikit-learn's users.

    Parameters
    ----------
    rows : ArrayRows
        As `tables.arrays.check_rows` gives them, with the one-hot blocks of the Box (`in_blocks`).
    block_rows : int or None
        As for `gridded`.
    """

    def __init__(self, rows: ArrayRows, *, block_rows: int | None = None) -> None:
        self._rows = rows
        self._block_rows = block_rows

    def blocks(self, layout: Layout) -> Iterator[CodedBlock]:
        """Yield the rows (1, X, y), of which none is dropped.

        Raises
        ------
        InvalidData
            If a cell is NaN or infinite; names the column.
        """
        if len(self._rows.names) + 1 != len(layout.codings):
            raise InvalidArgument("`X` and `y` must have as many columns as the layout.")
        n_rows, size = self._rows.private_size(), rows_a_block(layout.width, self._block_rows)
        scratch = np.empty((layout.width, min(size, max(n_rows, 1))))
        constants = [_spread([getattr(c, name) for c in layout.codings], scratch.shape[1]) for name in _CONSTANTS]
        if layout.intercept:
            scratch[0] = 2.0**layout.bits
        for start in range(0, n_rows, size):
            block = scratch[:, : min(size, n_rows - start)]
            if not self._encode(start, block[int(layout.intercept) :], constants):
                self._rows.private_gram(layout)  # raises, and names the column
            yield block, None

    def _encode(self, start: int, cells: NDArray[np.float64], constants: list[float | NDArray[np.float64]]) -> bool:
        """Put the codes of some rows into `cells`, shape (n_columns + 1, n); return whether every cell was finite."""
        n = cells.shape[1]
        np.copyto(cells[:-1], self._rows.private_X[start : start + n].T, casting="unsafe")
        np.copyto(cells[-1], self._rows.private_y[start : start + n], casting="unsafe")
        if not all_finite(cells.reshape(-1)):
            return False
        for first, last in self._rows.one_hot:
            keep_first(cells[first:last].T)
        with np.errstate(all="ignore"):  # no private value may cause a warning
            quantize(cells, *(value if isinstance(value, float) else value[:, :n] for value in constants), out=cells)
        return True


_CONSTANTS = ("center", "scale", "lowest", "highest")


def _spread(values: list[float], n: int) -> float | NDArray[np.float64]:
    """Return the columns' constants as one number, or tiled to a block's shape so that loops run flat."""
    if len(set(values)) == 1:
        return float(values[0])
    return np.repeat(np.array(values, dtype=np.float64)[:, None], n, axis=1)


class TableSource:
    """The rows of a table under a design.

    Parameters
    ----------
    table : Table
        As `tables.readers.open_table` gives it.
    design : Design
        Whose layout is the grid; made for one formula, so that its target is the last column.
    may_be_empty : bool
        Whether no rows at all are an ordinary table, as under AddRemove.
    """

    def __init__(self, table: Table, design: Design, *, may_be_empty: bool) -> None:
        self._table = table
        self._design = design
        self._may_be_empty = may_be_empty

    def blocks(self, layout: Layout) -> Iterator[CodedBlock]:
        """Yield the records, and which are dropped.

        Raises
        ------
        InvalidData
            If a cell is missing under policy "error", or the table is empty where its size is public.
        """
        if layout != self._design.layout:
            raise IncompatiblePlan("The design has another layout than the plan. Make both from one formula.")
        private_size = 0
        for block in self._table.blocks():
            private_size += block.n_rows
            yield self._design.encode_kept(block)
        if private_size == 0 and not self._may_be_empty:
            raise InvalidData(
                "The table has no rows, and under Replace() their number is public. "
                "Read the right file, or declare AddRemove() if the number is private."
            )
