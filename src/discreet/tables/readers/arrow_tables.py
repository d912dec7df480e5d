"""Arrow record batches, from memory, streams, data sets, Parquet and Arrow files."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from discreet.errors import InvalidData, InvalidType
from discreet.tables.blocks import BLOCK_ROWS, RecordBlock, Table
from discreet.tables.readers.headers import check_names
from discreet.tables.schema.columns import Category

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from discreet.tables.cells.columns import ColumnReader
    from discreet.tables.schema.schema import Schema

# Rows that are decoded at a time; a block is a slice of them.
BATCH_ROWS = 65_536


def cut(batch: Any, readers: Sequence[ColumnReader]) -> Iterator[RecordBlock]:
    """Yield a record batch as blocks of a few thousand records."""
    columns: dict[str, Any] = {}
    troubles: dict[str, str] = {}
    for reader in readers:
        columns[reader.name], trouble = reader.from_arrow(batch.column(reader.name))
        if trouble is not None:
            troubles[reader.name] = trouble
    for start in range(0, batch.num_rows, BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, batch.num_rows)
        yield RecordBlock(stop - start, {name: cells[start:stop] for name, cells in columns.items()}, troubles)


class ArrowTable(Table):
    """Records that come as Arrow record batches.

    Parameters
    ----------
    where : str
        The source as messages call it.
    names : sequence of str
        The source's column names.
    readers : sequence of ColumnReader
        The columns that are read.
    open_batches : callable
        Returns the record batches; called once a pass.
    size_hint : int, optional
        Number of rows, where it is known.
    """

    def __init__(
        self,
        where: str,
        names: Sequence[str],
        readers: Sequence[ColumnReader],
        open_batches: Callable[[], Iterable[Any]],
        size_hint: int | None = None,
    ) -> None:
        check_names(names, [reader.name for reader in readers], where)
        self._where = where
        self._readers = readers
        self._open_batches = open_batches
        self.size_hint = size_hint

    def blocks(self) -> Iterator[RecordBlock]:
        """Yield the records."""
        self.position = 0
        for batch in self._sound_batches():
            if batch is None:
                # Raised here and not inside the except block, whose exception may quote a cell.
                raise InvalidData(
                    f"{self._where} cannot be read: it is damaged, or of a type that Arrow cannot read. Write it anew."
                )
            self.position += batch.num_rows
            yield from cut(batch, self._readers)

    def _sound_batches(self) -> Iterator[Any]:
        try:
            yield from self._open_batches()
        except InvalidData:  # ours, which is a ValueError too
            raise
        except (pa.ArrowException, OSError, ValueError, TypeError, RuntimeError):
            pass
        else:
            return
        yield None


def parquet_table(path: Path, schema: Schema, readers: Sequence[ColumnReader]) -> ArrowTable:
    """Return the records of a Parquet file, of which only the needed columns are read."""
    import pyarrow.parquet as pq

    names = [reader.name for reader in readers]
    categories = [name for name in names if isinstance(schema.columns.get(name), Category)]
    file = None
    with suppress(pa.ArrowException, OSError):
        metadata = pq.read_metadata(path)
        file = pq.ParquetFile(
            path,
            metadata=metadata,
            read_dictionary=_with_dictionaries(metadata, categories),
            pre_buffer=False,  # ahead, the bytes of every row group would be held until the end
            coerce_int96_timestamp_unit="us",  # in nanoseconds days of the old 96-bit times would wrap around
        )
    if file is None:
        raise InvalidData(
            f"{path.name} cannot be read as Parquet: it is no Parquet file, or it is damaged. Write it anew."
        )
    return ArrowTable(
        path.name,
        file.schema_arrow.names,
        readers,
        lambda: file.iter_batches(batch_size=BATCH_ROWS, columns=names),
        file.metadata.num_rows,
    )


def _with_dictionaries(metadata: Any, names: Sequence[str]) -> list[str]:
    """Return the columns that Arrow can read as codes of a dictionary, which is faster and says the same.

    Of texts that a writer stored as differences it cannot.
    """
    without = set()
    groups = (metadata.row_group(place) for place in range(metadata.num_row_groups))
    for column in (group.column(place) for group in groups for place in range(metadata.num_columns)):
        if any(encoding.startswith("DELTA") for encoding in column.encodings):
            without.add(column.path_in_schema)
    return [name for name in names if name not in without]


def arrow_file_table(path: Path, schema: Schema, readers: Sequence[ColumnReader]) -> ArrowTable:
    """Return the records of an Arrow or Feather file (version 2)."""
    del schema
    file = None
    with suppress(pa.ArrowException, OSError):
        file = pa.ipc.open_file(pa.OSFile(str(path)))
    if file is None:
        raise InvalidData(
            f"{path.name} cannot be read as an Arrow file: it is none, or it is damaged. Write it anew, as Feather "
            "version 2."
        )

    def batches() -> Iterator[Any]:
        for place in range(file.num_record_batches):
            batch = file.get_batch(place)
            batch.validate(full=True)  # unlike Parquet's, its bytes are taken as they are
            yield from _pieces(batch)

    return ArrowTable(path.name, file.schema.names, readers, batches)


def in_memory_table(table: Any, readers: Sequence[ColumnReader]) -> ArrowTable:
    """Return the records of an Arrow table."""
    names = [reader.name for reader in readers]
    return ArrowTable(
        "the Arrow table",
        table.column_names,
        readers,
        lambda: table.select(names).to_batches(max_chunksize=BATCH_ROWS),
        table.num_rows,
    )


def stream_table(stream: Any, where: str, readers: Sequence[ColumnReader]) -> ArrowTable:
    """Return the records of an Arrow record batch reader, which can be read once."""
    used: list[bool] = []

    def batches() -> Iterable[Any]:
        if used:
            raise ValueError
        used.append(True)
        for batch in stream:
            if isinstance(stream, pa.RecordBatchStreamReader):
                batch.validate(full=True)
            yield from _pieces(batch)

    table = ArrowTable(where, stream.schema.names, readers, batches)
    table.reads_once = True
    return table


def _pieces(batch: Any) -> Iterator[Any]:
    """Yield a record batch in slices of bounded length."""
    for start in range(0, batch.num_rows, BATCH_ROWS):
        yield batch.slice(start, BATCH_ROWS)


def dataset_table(dataset: Any, readers: Sequence[ColumnReader]) -> ArrowTable:
    """Return the records of an Arrow data set, each of its files read by its own types.

    Raises
    ------
    InvalidType
        If its files are texts, whose column types Arrow would guess from cells.
    """
    names = [reader.name for reader in readers]
    fragments = None
    with suppress(ValueError):  # a data set that was filtered shows no fragments, and is read by its one schema
        fragments = list(dataset.get_fragments())
    for part in [dataset] if fragments is None else fragments:
        _refuse_guessed_types(part)

    def batches() -> Iterator[Any]:
        if fragments is None:
            yield from dataset.to_batches(columns=names, batch_size=BATCH_ROWS)
            return
        for fragment in fragments:
            yield from _fragment_batches(fragment, names)

    return ArrowTable("the Arrow data set", dataset.schema.names, readers, batches)


def _refuse_guessed_types(part: Any) -> None:
    import pyarrow.dataset as ds

    if isinstance(getattr(part, "format", None), (ds.CsvFileFormat, ds.JsonFileFormat)):
        raise InvalidType(
            "The Arrow data set is made of text files, whose column types Arrow guesses from their first cells. "
            "Give the path of the folder, or the list of its files, so that the schema decides."
        )


def _fragment_batches(fragment: Any, names: Sequence[str]) -> Iterator[Any]:
    """Yield the needed columns of a file of a data set.

    A column that the file lacks is what its folder's name says, or else missing, as in any Arrow data set.
    """
    import pyarrow.dataset as ds

    there = fragment.physical_schema.names
    path = getattr(fragment, "path", None)
    check_names(there, [], "a part of the Arrow data set" if path is None else path.rpartition("/")[2])
    said: Mapping[str, Any] = ds.get_partition_keys(fragment.partition_expression)
    stored = [name for name in names if name in there]
    for batch in fragment.to_batches(columns=stored, batch_size=BATCH_ROWS):
        if isinstance(getattr(fragment, "format", None), ds.IpcFileFormat):
            batch.validate(full=True)
        cells = [
            batch.column(name) if name in stored else pa.repeat(pa.scalar(said.get(name)), batch.num_rows)
            for name in names
        ]
        yield pa.RecordBatch.from_arrays(cells, names=list(names))
