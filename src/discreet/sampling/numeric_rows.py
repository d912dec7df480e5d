"""The numbers and flags of a table with a schema, as one matrix of finite cells."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidArgument
from discreet.tables.complete_block import CompleteBlock
from discreet.tables.formula import declared
from discreet.tables.readers.sources import is_list_of_paths
from discreet.tables.readers.tables import open_table
from discreet.tables.schema.columns import Category, Flag, Number
from discreet.tables.units import refuse_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from discreet.tables.schema.schema import Schema


@dataclass(frozen=True, eq=False)
class NumericTable:
    """Declared columns of a private table that has not been read yet.

    Parameters
    ----------
    source : object
        What `open_table` reads.
    schema : Schema
        Public facts.
    names : tuple of str
        Of the columns, in order: numbers, dates and flags.
    """

    source: Any
    schema: Schema
    names: tuple[str, ...]

    @classmethod
    def of(cls, source: Any, schema: Schema, names: Sequence[str] | None = None) -> NumericTable:
        """Return the table of some columns, or of all numbers, dates and flags that the schema declares.

        Raises
        ------
        InvalidFormula
            If a column is not declared.
        InvalidArgument
            If a column is a category, none is left, or the schema declares a unit.
        """
        refuse_unit(schema, "A draw of quantiles or of principal components")
        if names is None:
            names = [name for name, column in schema.columns.items() if not isinstance(column, Category)]
        for name in names:
            if isinstance(declared(name, schema.columns), Category):
                raise InvalidArgument(f"Column {name!r} is a category; directions need numbers or flags. Leave it out.")
        if not names:
            raise InvalidArgument("The schema declares no numbers or flags. Declare bounds of the columns to use.")
        return cls(source, schema, tuple(names))

    @property
    def limits(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The declared lower and upper limits of the columns; 0 and 1 of a flag."""
        columns = [self.schema.columns[name] for name in self.names]
        pairs = [(0.0, 1.0) if isinstance(column, Flag) else _limits(column) for column in columns]
        return tuple(low for low, _ in pairs), tuple(high for _, high in pairs)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a release of these rows must say: only files leave something to be said."""
        is_file = isinstance(self.source, (str, Path)) or is_list_of_paths(self.source)
        return open_table(self.source, self.schema, list(self.names)).notes if is_file else ()

    def private_matrix(self, progress: Callable[[int], None] | None = None) -> NDArray[np.float64]:
        """Return the cells, float64 of shape (n_rows, n_columns); a dropped record is NaN in every column.

        Raises
        ------
        InvalidData
            If a cell is missing in a column whose policy is "error"; names the column.
        """
        columns = {name: self.schema.columns[name] for name in self.names}
        table = open_table(self.source, self.schema, list(self.names))
        blocks = [np.empty((0, len(self.names)))]
        for block in table.blocks():
            complete = CompleteBlock(block, columns)
            cells = np.column_stack([np.asarray(complete.raw(name), np.float64) for name in self.names])
            if complete.dropped is not None:
                cells[complete.dropped] = np.nan
            blocks.append(cells)
            if progress is not None:
                progress(table.position)
        return np.concatenate(blocks)


def _limits(column: Any) -> tuple[float, float]:
    assert isinstance(column, Number)  # noqa: S101  (categories and flags are seen to)
    return column.lower, column.upper
