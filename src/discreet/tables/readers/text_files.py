"""CSV files, plain or compressed with gzip, streamed in bounded memory: a line is a record and a record is a row.

The text is cut into whole records first (`records`); Arrow parses each piece, and must find as many rows as records.
No state passes from one piece to the next. Errors name lines, never cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from discreet.errors import InvalidData
from discreet.tables.blocks import RecordBlock, Table
from discreet.tables.readers.arrow_tables import cut
from discreet.tables.readers.headers import check_names
from discreet.tables.readers.records import RecordCutter
from discreet.tables.readers.text_header import Header, take_header
from discreet.tables.readers.text_stream import open_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from discreet.tables.cells.columns import ColumnReader
    from discreet.tables.readers.records import Records
    from discreet.tables.schema.columns import Reading

# Parsed at a time; no record may be longer.
CHUNK_BYTES = 2**22

MALFORMED = "quoted cells may hold line ends: not private against a malformed record, which may hide those behind it"


def read_header(path: Path, reading: Reading) -> Header:
    """Return the header of a CSV file.

    Raises
    ------
    InvalidData
        If there is none, or the file is no text of the declared encoding.
    """
    with open_text(path, reading.encoding) as (stream, _):
        return take_header(stream, reading, path.name, CHUNK_BYTES)[0]


class CsvTable(Table):
    """The records of a CSV file.

    Parameters
    ----------
    path : Path
        The file; one that ends in .gz, in any case, is decompressed on the way.
    readers : sequence of ColumnReader
        The columns that are read.
    reading : Reading
        How texts are read.
    """

    def __init__(self, path: Path, readers: Sequence[ColumnReader], reading: Reading) -> None:
        self._path = path
        self._readers = readers
        self._reading = reading
        self._header = read_header(path, reading)
        names = self._header.names
        check_names(names, [reader.name for reader in readers], path.name, delimiter=reading.delimiter)
        self.size_hint = path.stat().st_size
        self.notes = (MALFORMED,) if reading.newlines_in_cells else ()
        self._parser = _Parser(names, [reader.name for reader in readers], reading)

    def blocks(self) -> Iterator[RecordBlock]:
        """Yield the records.

        Raises
        ------
        InvalidData
            If the file is no list of records with as many fields as the header; names the line and the cause.
        """
        with open_text(self._path, self._reading.encoding) as (stream, file):
            header, rest = take_header(stream, self._reading, self._path.name, CHUNK_BYTES)
            if header != self._header:
                raise InvalidData(f"The header of {self._path.name} changed while it was read. Read the file again.")
            cutter = RecordCutter(header, self._reading, self._path.name, CHUNK_BYTES)
            for records in cutter.cut(stream, rest):
                batch = self._parser.rows(records)
                # Raised here and not where Arrow's own exception, which may quote a record, is at hand.
                if batch is None:
                    raise cutter.refusal(records.text, records.first_line)
                self.position = min(file.tell(), self.size_hint or 0)
                yield from cut(batch, self._readers)
            self.position = self.size_hint or 0


class _Parser:
    """Parses whole records through Arrow."""

    def __init__(self, names: Sequence[str], needed: Sequence[str], reading: Reading) -> None:
        is_wide = len(names) > 1
        self._names = list(names)
        self._parse_options = pa_csv.ParseOptions(
            delimiter=reading.delimiter,
            quote_char=False if reading.quote == "none" else reading.quote,
            newlines_in_values=reading.newlines_in_cells,
            # In a file of one column a blank line is a record with a missing cell; elsewhere one is refused, for it
            # makes no row.
            ignore_empty_lines=is_wide,
        )
        columns = list(needed) or self._names[:1]
        self._convert_options = pa_csv.ConvertOptions(
            column_types=dict.fromkeys(columns, pa.string()), include_columns=columns, strings_can_be_null=False
        )

    def rows(self, records: Records) -> Any:
        """Return the rows of some whole records as an Arrow batch of texts, or None if they are not one a record."""
        try:
            table = pa_csv.read_csv(
                pa.py_buffer(records.guarded),
                read_options=pa_csv.ReadOptions(
                    block_size=len(records.guarded) + 1, use_threads=False, column_names=self._names
                ),
                parse_options=self._parse_options,
                convert_options=self._convert_options,
            )
        except (pa.ArrowException, OSError, ValueError):
            return None
        if table.num_rows != records.n_records + 1:
            return None
        return table.slice(0, records.n_records).to_batches()[0]
