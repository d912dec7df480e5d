"""The rows of a table as the functional mechanism reads them: exact integer sums, in one pass or, of units, two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument, InvalidData

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from discreet.lattice.gram import GramSum
    from discreet.lattice.grid import Layout
    from discreet.tables.design import Design
    from discreet.tables.readers.tables import Table


class TableRows:
    """The rows of a table, ready to be summed on the grid of a design."""

    def __init__(
        self, table: Table, design: Design, *, may_be_empty: bool, progress: Callable[[int], None] | None = None
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
        self._private_size = 0

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
        self._private_size = 0
        for block in self._table.blocks():
            total.add(self._design.encode(block))
            self._private_size += block.n_rows
            if self._progress is not None:
                self._progress(self._table.position)
        if self._private_size == 0 and not self._may_be_empty:
            raise InvalidData(
                "The table has no rows, and under Replace() their number is public. "
                "Read the right file, or declare AddRemove() if the number is private."
            )
        return total.gram

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
