"""Private rows as mechanisms read them: exact integer sums, or blocks of whole numbers on a public grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument, InvalidData

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from discreet.lattice.gram import GramSum
    from discreet.lattice.grid import Layout
    from discreet.tables.design import Design
    from discreet.tables.readers.tables import Table


# Cells of a block: 480 KiB of doubles, so that a block stays in a second-level cache of 1 MiB through all of a step.
_BLOCK_CELLS = 60 * 1024
# A block's sums are exact in doubles up to this many rows, see `whitened_rows`.
MOST_BLOCK_ROWS = 1 << 13

# The codes of some records, and which of these are dropped, bool of shape (n,), or None where none is. A dropped record
# is a column of zeros, but a column of zeros may be a record: without an intercept, 0 is the code of a count of 0.
CodedBlock = tuple["NDArray[np.float64]", "NDArray[np.bool_] | None"]


def rows_a_block(width: int, asked: int | None = None) -> int:
    """Return how many rows of `width` columns are worked on at a time; it changes the speed and nothing else."""
    if asked is not None:
        return _checks.integer(asked, "block_rows", low=1, high=MOST_BLOCK_ROWS)
    return min(max(_BLOCK_CELLS // width, 256), MOST_BLOCK_ROWS)


class PrivateRows(Protocol):
    """Private rows that can be put on a public grid."""

    @property
    def may_drop(self) -> bool:
        """Whether a missing cell may make a record contribute nothing."""
        ...

    def private_size(self) -> int:
        """Return the number of rows; used only where the adjacency makes it public."""
        ...

    def private_gram(self, layout: Layout) -> np.ndarray:
        """Return the exact integer Gram matrix, int64 of shape (D, D); may raise what the data owner declared."""
        ...

    def blocks(self, layout: Layout) -> Iterator[CodedBlock]:
        """Yield blocks of shape (layout.width, n), and which records are dropped; may raise what the owner declared.

        Whole numbers within the layout's entry bounds, one grid column a row of the block, the intercept first and the
        target last. A block may be overwritten when the next is asked for.
        """
        ...


class TableRows:
    """The rows of a table under a design.

    Parameters
    ----------
    table : Table
        As `tables.readers.tables.open_table` gives it.
    design : Design
        Whose layout is the grid.
    may_be_empty : bool
        Whether no rows at all are an ordinary table, as under AddRemove.
    private_size : int or None
        The number of records, where it is known before they are read.
    progress : callable, optional
        Called with how far the read has come.
    """

    def __init__(
        self,
        table: Table,
        design: Design,
        *,
        may_be_empty: bool,
        private_size: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        if table.unit != design.schema.unit:
            raise InvalidArgument(
                f"The schema declares the unit {design.schema.unit!r}, and the table was opened with {table.unit!r}. "
                "Open it with `open_rows` and the same schema."
            )
        self.unit = design.schema.unit
        self.rows_per_unit = design.schema.rows_per_unit or 1
        self._table = table
        self._design = design
        self._may_be_empty = may_be_empty
        self._progress = progress
        self._known_size = private_size
        self._private_size = 0 if private_size is None else private_size

    @property
    def may_drop(self) -> bool:
        """Whether a missing cell may make a record contribute nothing."""
        return self._design.may_drop

    def private_gram(self, layout: Layout) -> np.ndarray:
        """Return the exact Gram matrix of the rows; one pass, or two where the schema declares a unit.

        Raises
        ------
        InvalidData
            If a cell is missing under policy "error", the table is empty where its size is public, or its records
            change between two passes.
        """
        from discreet.lattice.gram import GramSum

        total = GramSum(layout)
        if self.unit is not None:
            self._add_capped(total)
            return total.gram
        size = 0
        for block in self._table.blocks():
            total.add(self._design.encode(block))
            size += block.n_rows
            if self._progress is not None:
                self._progress(self._table.position)
        self._finish(size)
        return total.gram

    def blocks(self, layout: Layout) -> Iterator[CodedBlock]:
        """Yield the records, and which are dropped.

        Raises
        ------
        InvalidData
            If a cell is missing under policy "error", or the table is empty where its size is public.
        IncompatiblePlan
            If the schema declares a unit, or the layout is another one than the design's.
        """
        if self.unit is not None:
            raise IncompatiblePlan(
                f"Rows of the unit {self.unit!r} are read as a Gram matrix alone, which caps how often a unit counts. "
                "Use moments, or take `unit` out of the schema."
            )
        if layout != self._design.layout:
            raise IncompatiblePlan("The design has another layout than the plan. Make both from one formula.")
        size = 0
        for block in self._table.blocks():
            size += block.n_rows
            yield self._design.encode_kept(block)
            if self._progress is not None:
                self._progress(self._table.position)
        self._finish(size)

    def _finish(self, size: int) -> None:
        """Keep how many records were read; refuse none where their number is public, and another than was known."""
        if size == 0 and not self._may_be_empty:
            raise InvalidData(
                "The table has no rows, and under Replace() their number is public. "
                "Read the right file, or declare AddRemove() if the number is private."
            )
        if self._known_size not in {None, size}:
            raise InvalidData("The table changed while it was read. Read it from where it stays as it is.")
        self._private_size = size

    def _add_capped(self, total: GramSum) -> None:
        """Add the rows of units, at most so many of each; two passes, see `RowCap`."""
        from discreet.tables.units import RowCap

        unit, most = self.unit, self.rows_per_unit
        assert unit is not None  # noqa: S101  (asked by the caller)
        cap = RowCap(most)
        for block in self._table.blocks():
            rows, dropped = self._design.encode_kept(block)
            cap.see(block.columns[unit], rows, dropped)
            self._report(half=0)
        cap.settle()
        for block in self._table.blocks():
            rows, dropped = self._design.encode_kept(block)
            rows[:, ~cap.kept(block.columns[unit], rows, dropped)] = 0.0
            total.add(rows)
            self._report(half=1)
        cap.finish()

    def _report(self, *, half: int) -> None:
        if self._progress is not None:
            self._progress((half * (self._table.size_hint or 0) + self._table.position) // 2)

    def private_size(self) -> int:
        """Return the number of rows read, where every row is a record of its own; else 0, for it is private."""
        return self._private_size
