"""The rows of a table as the functional mechanism reads them: one pass, exact integer sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.errors import InvalidData

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from discreet.lattice.grid import Layout
    from discreet.tables.design import Design
    from discreet.tables.readers import Table


class TableRows:
    """The rows of a table, ready to be summed on the grid of a design."""

    def __init__(
        self, table: Table, design: Design, *, may_be_empty: bool, progress: Callable[[int], None] | None = None
    ) -> None:
        self._table = table
        self._design = design
        self._may_be_empty = may_be_empty
        self._progress = progress
        self._private_size = 0

    def private_gram(self, layout: Layout) -> np.ndarray:
        """Return the exact Gram matrix of the rows; one pass.

        Raises
        ------
        InvalidData
            If a cell is missing under policy "error", or the table is empty where its size is public.
        """
        from discreet.lattice.gram import GramSum

        total = GramSum(layout)
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

    def private_size(self) -> int:
        """Return the number of rows read."""
        return self._private_size
