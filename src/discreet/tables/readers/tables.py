"""One door to private tables, wherever they live: arrays, frames, Arrow, and files of many programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidArgument
from discreet.tables.blocks import Table
from discreet.tables.formula import declared
from discreet.tables.readers.sources import is_list_of_paths, open_file, open_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.tables.cells.columns import ColumnReader
    from discreet.tables.schema.schema import Schema

__all__ = ["Table", "open_rows", "open_table"]


def open_table(
    source: Any, schema: Schema, columns: Sequence[str] | None = None, *, names: Sequence[str] | None = None
) -> Table:
    """Return the private records of `source`, checked by their column names only.

    Parameters
    ----------
    source : path, list of paths, ndarray, data frame or Arrow data
        A file: text (.csv, .tsv, .txt, also .gz; with a header), Parquet, Arrow, Stata, SPSS, SAS or a spreadsheet.
        A folder of Parquet files or of text files, or a list of files. A two-dimensional NumPy array, a pandas or
        polars data frame, an Arrow table, record batch, record batch reader or data set, or anything that exports
        an Arrow stream. See docs/sources.md.
    schema : Schema
        Public facts.
    columns : sequence of str, optional
        The columns that are read; default: all declared ones.
    names : sequence of str, optional
        The columns of a NumPy array, in order; default: the declared columns.

    Returns
    -------
    Table
        Its `blocks()` reads the records in bounded memory; the order of the records carries no meaning.
        A cell that is blank, null, not finite, unparsable or an undeclared level is missing, in every kind of source.

    Raises
    ------
    InvalidData
        If a file is empty, a needed column absent, a name doubled; names the column, quotes near matches.
    InvalidType
        If `source` is of a type that is not read; says which are.
    InvalidArgument
        If the schema declares a unit: `open_rows` is for those who protect units.

    Guarantee
    ---------
    There is one function of a record, fixed by the declarations and the public types, and the rows are its values: no
    record changes how another is read, vanishes, or becomes two, or the source is refused before any charge.
    Proof: docs/proofs/readers.md

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.tables.schema.columns import Number
    >>> from discreet.tables.schema.schema import Schema
    >>> table = open_table(np.array([[1.0, 2.0]]), Schema({"a": Number(0, 5), "b": Number(0, 5)}))
    >>> [block.n_rows for block in table.blocks()]
    [1]
    """
    from discreet.tables.units import refuse_unit

    refuse_unit(schema, "What reads these records")
    return _open(source, schema, _readers(schema, columns), names)


def open_rows(source: Any, schema: Schema, columns: Sequence[str] | None = None) -> Table:
    """Return the private records of `source` as `open_table` does, with whose they are where the schema has a unit.

    Raises
    ------
    InvalidArgument
        If the schema has a unit and the source can be read only once.
    """
    readers = _readers(schema, columns)
    if schema.unit is None:
        return _open(source, schema, readers, None)
    from discreet.tables.units import UnitReader

    whose: Any = UnitReader(schema.unit, schema.reading)  # a ColumnReader to whoever holds the cells
    table = _open(source, schema, [*readers, whose], None)
    if table.reads_once:
        raise InvalidArgument(
            f"The schema declares the unit `{schema.unit}`, whose cap takes two passes, and an Arrow stream can be "
            "read only once. Give an Arrow table, a data frame or a file."
        )
    table.unit = schema.unit
    return table


def _readers(schema: Schema, columns: Sequence[str] | None) -> list[ColumnReader]:
    from discreet.tables.cells.columns import ColumnReader

    needed = list(schema.columns) if columns is None else list(columns)
    return [ColumnReader(name, declared(name, schema.columns), schema.reading) for name in needed]


def _open(source: Any, schema: Schema, readers: list[ColumnReader], names: Sequence[str] | None) -> Table:
    if isinstance(source, (str, Path)):
        return open_file(Path(source), schema, readers)
    if is_list_of_paths(source):
        return open_list(source, schema, readers)
    if isinstance(source, np.ndarray):
        from discreet.tables.cells.given_cells import refuse_matrix_class, unmasked
        from discreet.tables.readers.frames import array_table

        refuse_matrix_class(source, "data")
        return array_table(unmasked(source), list(schema.columns) if names is None else list(names), readers)
    return _open_memory(source, readers)


def _open_memory(source: Any, readers: list[ColumnReader]) -> Table:
    import narwhals as nw
    import pyarrow as pa

    from discreet.tables.readers import arrow_tables, frames

    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return arrow_tables.in_memory_table(source, readers)
    if isinstance(source, pa.RecordBatchReader):
        return arrow_tables.stream_table(source, "the Arrow stream", readers)
    if type(source).__module__.startswith("pyarrow._dataset"):
        return arrow_tables.dataset_table(source, readers)
    if nw.dependencies.is_pandas_dataframe(source):
        return frames.pandas_table(source, readers)
    frame = nw.from_native(source, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frames.narwhals_table(frame, readers)
    if hasattr(source, "__arrow_c_stream__") and not nw.dependencies.is_polars_lazyframe(source):
        stream = pa.RecordBatchReader.from_stream(source)
        return arrow_tables.stream_table(stream, "the Arrow stream", readers)
    raise frames.refuse(source)
