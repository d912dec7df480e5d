"""CSV files, plain or compressed with gzip, streamed in bounded memory; their errors name lines, never cells."""

from __future__ import annotations

import csv
import gzip
import io
import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from discreet.errors import InvalidData
from discreet.tables.arrow_tables import cut
from discreet.tables.blocks import RecordBlock, Table
from discreet.tables.headers import check_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from discreet.tables.cells import ColumnReader
    from discreet.tables.columns import Reading

# Arrow reads this much at a time; a record must fit in it.
CHUNK_BYTES = 2**22

# How Arrow begins its complaint, before it quotes the line.
_RAGGED = re.compile(r"\ACSV parse error: Row #([0-9]+): Expected [0-9]+ columns, got ([0-9]+)")


def read_header(path: Path, reading: Reading) -> tuple[list[str], bool]:
    """Return the column names in the first line of a CSV file, and whether anything follows it.

    Raises
    ------
    InvalidData
        If there is none, or the file is no text of the declared encoding.
    """
    names: list[str] | None = []
    more = False
    reason = "it cannot be read"
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as raw:
            # A byte that is no letter may stand in a later line, which this look-ahead need not judge.
            encoding = "utf-8-sig" if reading.encoding == "utf-8" else reading.encoding
            text = io.TextIOWrapper(raw, encoding=encoding, errors="replace", newline="")
            names = next((row for row in csv.reader(text, delimiter=reading.delimiter) if row), [])
            more = bool(text.read(1))
    except (OSError, EOFError) as error:
        names, reason = None, getattr(error, "strerror", None) or "it is damaged"
    except csv.Error:
        names, reason = None, "its first line is no list of column names"
    if names is None:
        raise InvalidData(f"Cannot read {path.name}: {reason}. Correct or replace the file.")
    if not names:
        raise InvalidData(
            f"{path.name} is empty: it has no header. Give it a first line with the names of its columns."
        )
    if any("\ufffd" in name or "\0" in name for name in names):
        raise InvalidData(
            f"{path.name} is not text in the encoding {reading.encoding}. "
            "Save it as UTF-8, or declare its `encoding` under [reading]."
        )
    return names, more


class CsvTable(Table):
    """The records of a CSV file.

    Parameters
    ----------
    path : Path
        The file; one that ends in .gz is decompressed on the way.
    readers : sequence of ColumnReader
        The columns that are read.
    reading : Reading
        How texts are read.
    """

    def __init__(self, path: Path, readers: Sequence[ColumnReader], reading: Reading) -> None:
        self._path = path
        self._readers = readers
        self._reading = reading
        names, self._has_more = read_header(path, reading)
        check_names(names, [reader.name for reader in readers], path.name, delimiter=reading.delimiter)
        self._n_fields = len(names)
        self.size_hint = path.stat().st_size

    def blocks(self) -> Iterator[RecordBlock]:
        """Yield the records."""
        if not self._has_more:
            return
        # Raised here and not inside the except block, whose exception may quote a record.
        for batch in self._batches():
            if not isinstance(batch, pa.RecordBatch):
                break
            yield from cut(batch, self._readers)
        else:
            return
        if batch is not None:
            number, found = batch
            raise InvalidData(
                f"Line {number} of {self._path.name} has {found} fields; the header has {self._n_fields} "
                "(the header is line 1; a record is one line). Correct the line, for instance a comma too many."
            )
        raise InvalidData(
            f"{self._path.name} cannot be read as CSV: it is damaged, not text in the encoding "
            f"{self._reading.encoding}, or a record is longer than {CHUNK_BYTES // 2**20} MiB. Save it anew as UTF-8 "
            "text, or declare its `encoding` under [reading]."
        )

    def _batches(self) -> Iterator[Any]:
        """Yield Arrow batches of texts; last, of a broken file, where a line has too many fields and how many, or None.

        Arrow's own handler of such lines is not used: of a line that is no text it would write to stderr.
        """
        names = [reader.name for reader in self._readers]
        try:
            with pa.OSFile(str(self._path)) as file:
                zipped = self._path.suffix == ".gz"
                stream = pa.CompressedInputStream(file, "gzip") if zipped else file
                batches = pa_csv.open_csv(
                    stream,
                    read_options=pa_csv.ReadOptions(
                        block_size=CHUNK_BYTES, use_threads=False, encoding=self._reading.encoding
                    ),
                    parse_options=pa_csv.ParseOptions(
                        delimiter=self._reading.delimiter,
                        newlines_in_values=True,
                        # In a file of one column an empty line is a record with a missing cell.
                        ignore_empty_lines=self._n_fields > 1,
                    ),
                    convert_options=pa_csv.ConvertOptions(
                        column_types=dict.fromkeys(names, pa.string()),
                        include_columns=names,
                        strings_can_be_null=False,
                    ),
                )
                for batch in batches:
                    self.position = min(file.tell(), self.size_hint or 0)
                    yield batch
                return
        except (pa.ArrowException, OSError, LookupError, ValueError) as error:
            ragged = _RAGGED.search(str(error))
        yield None if ragged is None else (int(ragged[1]), int(ragged[2]))
