"""Data frames and NumPy arrays in memory, read slice by slice without a copy of the whole."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from discreet.errors import InvalidArgument, InvalidType
from discreet.tables.blocks import BLOCK_ROWS, RecordBlock, Table
from discreet.tables.cells.pandas_cells import read_pandas
from discreet.tables.readers.headers import check_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from discreet.tables.cells.columns import ColumnReader

# Rows of a column that are read at a time; a block is a slice of them.
BATCH_ROWS = 65_536
Slice = tuple[Any, "str | None"]


class FrameTable(Table):
    """Records of a frame in memory.

    Parameters
    ----------
    where : str
        The source as messages call it.
    names : sequence of str
        The frame's column names.
    readers : sequence of ColumnReader
        The columns that are read.
    n_rows : int
        Number of records.
    take : callable
        ``take(reader, start, stop)`` returns some cells of a column, as a ColumnReader does.
    """

    def __init__(
        self,
        where: str,
        names: Sequence[str],
        readers: Sequence[ColumnReader],
        n_rows: int,
        take: Callable[[ColumnReader, int, int], Slice],
    ) -> None:
        check_names(names, [reader.name for reader in readers], where)
        self._readers = readers
        self._take = take
        self.size_hint = n_rows

    def blocks(self) -> Iterator[RecordBlock]:
        """Yield the records."""
        n_rows = self.size_hint or 0
        for begin in range(0, n_rows, BATCH_ROWS):
            end = min(begin + BATCH_ROWS, n_rows)
            columns: dict[str, Any] = {}
            troubles: dict[str, str] = {}
            for reader in self._readers:
                columns[reader.name], trouble = self._take(reader, begin, end)
                if trouble is not None:
                    troubles[reader.name] = trouble
            for start in range(0, end - begin, BLOCK_ROWS):
                stop = min(start + BLOCK_ROWS, end - begin)
                self.position = begin + stop
                yield RecordBlock(stop - start, {name: cells[start:stop] for name, cells in columns.items()}, troubles)


def array_table(array: NDArray[Any], names: Sequence[str], readers: Sequence[ColumnReader]) -> FrameTable:
    """Return the records of a two-dimensional NumPy array whose columns are called `names`."""
    if array.ndim != 2:
        raise InvalidArgument(f"An array of records must have two dimensions; found {array.ndim}.")
    if len(names) != array.shape[1]:
        raise InvalidArgument(
            f"The array has {array.shape[1]} columns; `names` gives {len(names)}. Name every column, in order."
        )
    places = {name: j for j, name in enumerate(names)}
    keep = np.asanyarray if isinstance(array, np.ma.MaskedArray) else np.ascontiguousarray

    def take(reader: ColumnReader, start: int, stop: int) -> Slice:
        return reader.from_numpy(keep(array[start:stop, places[reader.name]]))

    return FrameTable("the array", names, readers, array.shape[0], take)


def pandas_table(frame: Any, readers: Sequence[ColumnReader]) -> FrameTable:
    """Return the records of a pandas data frame."""
    names = [str(label) for label in frame.columns]
    check_names(names, [reader.name for reader in readers], "the data frame")
    columns = {reader.name: frame.iloc[:, names.index(reader.name)] for reader in readers}

    def take(reader: ColumnReader, start: int, stop: int) -> Slice:
        return read_pandas(reader, columns[reader.name].iloc[start:stop])

    return FrameTable("the data frame", names, readers, len(frame), take)


def narwhals_table(frame: Any, readers: Sequence[ColumnReader]) -> FrameTable:
    """Return the records of any other eager data frame that narwhals knows, such as polars."""
    if frame.implementation.is_pandas_like():
        return pandas_table(frame.to_pandas(), readers)
    names = frame.columns
    check_names(names, [reader.name for reader in readers], "the data frame")
    columns = {reader.name: frame.get_column(reader.name) for reader in readers}

    def take(reader: ColumnReader, start: int, stop: int) -> Slice:
        array = None
        with suppress(Exception):  # every frame library has its own exceptions, which may quote cells
            array = columns[reader.name][start:stop].to_arrow()
        if array is None:
            raise reader.refusal(columns[reader.name].dtype)
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        return reader.from_arrow(array)

    return FrameTable("the data frame", names, readers, len(frame), take)


def read_column(reader: ColumnReader, cells: Any) -> Slice:
    """Return cells that stand alone: a pandas, polars or Arrow column, an array, or a sequence of Python objects.

    Raises
    ------
    InvalidData
        If their type has no meaning for the reader, or they are no column; names it.
    """
    import narwhals as nw

    if nw.dependencies.is_pandas_series(cells):
        return read_pandas(reader, cells)
    series = nw.from_native(cells, allow_series=True, eager_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        cells = series.to_arrow()
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    if isinstance(cells, pa.Array):
        return reader.from_arrow(cells)
    if isinstance(cells, (list, tuple)):
        return reader.from_objects(list(cells))
    return reader.from_numpy(cells if isinstance(cells, np.ma.MaskedArray) else np.asarray(cells))


def refuse(source: Any) -> InvalidType:
    """Return the error for a source of a type that is not read."""
    kind = f"{type(source).__module__.partition('.')[0]}.{type(source).__name__}"
    return InvalidType(
        f"Cannot read records from {kind}. Give the path of a file or folder, a list of files, a two-dimensional NumPy "
        "array, a pandas or polars data frame, or an Arrow table; a lazy frame is collected first."
    )
