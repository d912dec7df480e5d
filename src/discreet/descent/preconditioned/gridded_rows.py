"""Private rows as the descent keeps them: quantized once, in blocks of whole numbers, with their exact Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.lattice.gram import GramSum
from discreet.tables.rows import rows_a_block

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.lattice.grid import Layout
    from discreet.tables.rows import PrivateRows

# Whole numbers up to here are exact in a float32.
_EXACT_SINGLE = 1 << 24


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


def gridded(rows: PrivateRows, layout: Layout, *, block_rows: int | None = None) -> GriddedRows:
    """Return rows on a grid, with their exact Gram matrix; one pass over them.

    Parameters
    ----------
    rows : PrivateRows
        Such as `ArrayRows` or `TableRows`.
    layout : Layout
        The public grid of a row, the target last.
    block_rows : int or None
        Rows kept together; the speed depends on it and nothing else.

    Raises
    ------
    InvalidData
        What the rows say of missing cells.

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
    for block, dropped in rows.blocks(layout):
        total.add(block)
        starts = range(0, block.shape[1], size)
        kept += [np.array(block[:, start : start + size], dtype=np.float32, order="C") for start in starts]
        absent += [None if dropped is None else dropped[start : start + size] for start in starts]
    return GriddedRows(layout, tuple(kept), total.gram, tuple(absent))
