"""What a data owner may look at before a release: counts of clipped, missing and undeclared cells. Not private."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.tables.cells.cell_reader import kind_of_arrow, unicode_of
from discreet.tables.cells.columns import ColumnReader
from discreet.tables.cells.python_cells import TEXT
from discreet.tables.readers.sources import open_file
from discreet.tables.schema.columns import Category, Number

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.tables.schema.columns import Column, Reading
    from discreet.tables.schema.schema import Schema


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
        return self._counted(super().from_arrow, array, _blanks)

    def from_objects(self, objects: list[Any]) -> tuple[NDArray[Any], str | None]:
        """Return the cells, counted."""
        return self._counted(super().from_objects, objects, _blank_objects)

    def _counted(
        self,
        read: Callable[[Any], tuple[NDArray[Any], str | None]],
        cells: Any,
        blanks: Callable[[Any], NDArray[np.bool_]],
    ) -> tuple[NDArray[Any], str | None]:
        if self._within:
            return read(cells)
        self._within = True
        try:
            values, trouble = read(cells)
        finally:
            self._within = False
        self._count(values, blanks(cells))
        return values, trouble

    def _count(self, values: NDArray[Any], blank: NDArray[np.bool_]) -> None:
        counts, column = self.counts, self.declared
        counts.n_cells += len(values)
        if isinstance(column, Category):
            missing = values < 0
            counts.unused -= {column.levels[code] for code in np.unique(values[~missing]).tolist()}
        else:
            missing = ~np.isfinite(values)
        counts.n_blank += int((missing & blank).sum())
        counts.n_unread += int((missing & ~blank).sum())
        if isinstance(column, Number):
            present = values[~missing]
            counts.n_below += int((present < column.lower).sum())
            counts.n_above += int((present > column.upper).sum())


def _blanks(array: Any) -> NDArray[np.bool_]:
    """Return which cells are null, NaN, or a text of blanks."""
    if pa.types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    blank = pc.is_null(array, nan_is_null=pa.types.is_floating(array.type))
    if kind_of_arrow(array.type) == TEXT and not isinstance(array, pa.ExtensionArray):
        blank = pc.or_(blank, pc.fill_null(pc.equal(pc.utf8_trim_whitespace(unicode_of(array)), ""), False))
    return np.asarray(blank.to_numpy(zero_copy_only=False))


def _blank_objects(objects: list[Any]) -> NDArray[np.bool_]:
    """Return which of some Python objects are None, NaN, or a text of blanks."""
    blank = [
        not cell.strip() if isinstance(cell, str) else cell is None or (isinstance(cell, float) and cell != cell)  # noqa: PLR0124
        for cell in objects
    ]
    return np.array(blank, dtype=np.bool_)


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
