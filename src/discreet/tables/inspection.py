"""What a data owner may look at before a release: counts of clipped, missing and undeclared cells. Not private."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.tables.cells import ColumnReader
from discreet.tables.columns import Category, Number
from discreet.tables.sources import open_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.tables.columns import Column, Reading
    from discreet.tables.schema import Schema


@dataclass
class ColumnCounts:
    """Exact counts of one column's private cells; nothing here may be published.

    Parameters
    ----------
    name : str
        The column.
    n_cells, n_blank, n_unread, n_below, n_above : int
        Cells in all; blank or null ones; ones that are not blank and yet missing (no number, an undeclared level);
        ones that the bounds clip.
    unused : set of str
        Declared levels that no cell has.
    """

    name: str
    n_cells: int = 0
    n_blank: int = 0
    n_unread: int = 0
    n_below: int = 0
    n_above: int = 0
    unused: set[str] = field(default_factory=set)


class _CountingReader(ColumnReader):
    """A reader that counts what it reads."""

    __slots__ = ("_within", "counts", "declared")

    def __init__(self, name: str, column: Column, reading: Reading) -> None:
        super().__init__(name, column, reading)
        self.declared = column
        self.counts = ColumnCounts(name)
        self._within = False  # one way of reading may go on by another, and a cell counts once
        if isinstance(column, Category):
            self.counts.unused = set(column.levels)

    def from_arrow(self, array: Any) -> tuple[NDArray[Any], str | None]:
        """Return the cells, counted."""
        return self._counted(super().from_arrow, array, _n_blank)

    def from_objects(self, objects: list[Any]) -> tuple[NDArray[Any], str | None]:
        """Return the cells, counted."""
        return self._counted(super().from_objects, objects, _n_blank_objects)

    def _counted(
        self, read: Callable[[Any], tuple[NDArray[Any], str | None]], cells: Any, n_blank: Callable[[Any], int]
    ) -> tuple[NDArray[Any], str | None]:
        if self._within:
            return read(cells)
        self._within = True
        try:
            values, trouble = read(cells)
        finally:
            self._within = False
        self._count(values, n_blank(cells))
        return values, trouble

    def _count(self, values: NDArray[Any], n_blank: int) -> None:
        counts, column = self.counts, self.declared
        counts.n_cells += len(values)
        counts.n_blank += n_blank
        if isinstance(column, Category):
            missing = values < 0
            counts.unused -= {column.levels[code] for code in np.unique(values[~missing]).tolist()}
        else:
            missing = ~np.isfinite(values)
        counts.n_unread += int(missing.sum()) - n_blank
        if isinstance(column, Number):
            present = values[~missing]
            counts.n_below += int((present < column.lower).sum())
            counts.n_above += int((present > column.upper).sum())


def _n_blank(array: Any) -> int:
    """Return how many cells are null, NaN, or a text of blanks."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    blank = pc.is_null(array, nan_is_null=True)
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        blank = pc.or_(blank, pc.fill_null(pc.equal(pc.utf8_trim_whitespace(array), ""), False))
    return int(pc.sum(blank).as_py() or 0)


def _n_blank_objects(objects: list[Any]) -> int:
    """Return how many of some Python objects are None, NaN, or a text of blanks."""
    blank = (
        not cell.strip() if isinstance(cell, str) else cell is None or (isinstance(cell, float) and cell != cell)  # noqa: PLR0124
        for cell in objects
    )
    return sum(blank)


def count_cells(path: str | Path, schema: Schema) -> list[ColumnCounts]:
    """Return exact counts of the private cells of a file, or of the files in a folder, column by column.

    Parameters
    ----------
    path : path
        The file or the folder.
    schema : Schema
        Its declarations.

    Raises
    ------
    InvalidData
        If the file cannot be read, or lacks a declared column.

    Notes
    -----
    There is no guarantee: the counts are exact. They are for the eyes of the data owner.
    """
    readers = [_CountingReader(name, column, schema.reading) for name, column in schema.columns.items()]
    for _ in open_file(Path(path), schema, list(readers)).blocks():
        pass
    return [reader.counts for reader in readers]
