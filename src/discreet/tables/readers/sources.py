"""Which files are read: one, the parts in a folder, or a list of parts; by their endings, in any case."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidArgument, InvalidData
from discreet.tables.blocks import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from discreet.tables.blocks import RecordBlock
    from discreet.tables.cells.columns import ColumnReader
    from discreet.tables.schema.schema import Schema

CSV_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz")
PARQUET_ENDINGS = (".parquet", ".pq")
ARROW_ENDINGS = (".arrow", ".feather")
STATISTICS_ENDINGS = (".dta", ".sav", ".zsav", ".por", ".sas7bdat", ".xpt")
SHEET_ENDINGS = (".xlsx", ".xls", ".ods")

# What a kind of file is called, its endings, and what opens one: imported when it is needed.
_KINDS: dict[str, tuple[str, ...]] = {
    "text": CSV_ENDINGS,
    "Parquet": PARQUET_ENDINGS,
    "Arrow": ARROW_ENDINGS,
    "statistics": STATISTICS_ENDINGS,
    "spreadsheet": SHEET_ENDINGS,
}
_OPENERS = {
    "Parquet": ("arrow_tables", "parquet_table"),
    "Arrow": ("arrow_tables", "arrow_file_table"),
    "statistics": ("statistics_files", "statistics_table"),
    "spreadsheet": ("spreadsheets", "sheet_table"),
}
# Of these a folder may be made.
_IN_FOLDERS = ("text", "Parquet")
# What other programs leave beside the parts they wrote.
_NO_PARTS = ("_SUCCESS", "_metadata", "_common_metadata")


def kind_of_file(path: Path) -> str | None:
    """Return which kind of file a name is that of, or None."""
    name = path.name.lower()
    return next((kind for kind, endings in _KINDS.items() if name.endswith(endings)), None)


def is_list_of_paths(source: Any) -> bool:
    """Return whether a source is a list or tuple of paths."""
    return isinstance(source, (list, tuple)) and all(isinstance(item, (str, Path)) for item in source)


def open_file(path: Path, schema: Schema, readers: list[ColumnReader]) -> Table:
    """Return the private records of a file, or of the parts in a folder, through readers of your own.

    Raises
    ------
    InvalidArgument
        If there is no such file, or its name does not tell its kind.
    InvalidData
        If it cannot be read, or lacks a column.
    """
    if path.is_dir():
        return _open_parts(parts_of(path), schema, readers)
    kind = kind_of_file(path)
    if kind is None:
        raise InvalidArgument(
            f"Cannot tell what kind of file {path.name} is. Its name must end in "
            f"{', '.join(ending for endings in _KINDS.values() for ending in endings)}."
        )
    if not path.is_file():
        raise InvalidArgument(f"There is no file {path.name} at the path that was given. Correct the path.")
    if kind == "text":
        from discreet.tables.readers.text_files import CsvTable

        return CsvTable(path, readers, schema.reading)
    module, name = _OPENERS[kind]
    table: Table = getattr(import_module(f"discreet.tables.readers.{module}"), name)(path, schema, readers)
    return table


def open_list(paths: Sequence[Any], schema: Schema, readers: list[ColumnReader]) -> Table:
    """Return the private records of a list of files.

    Raises
    ------
    InvalidArgument
        If the list is empty, holds a folder or files of several kinds, or names a file twice.
    """
    files = [Path(path) for path in paths]
    if not files:
        raise InvalidArgument("The list of files is empty. Name at least one.")
    folder = next((file for file in files if file.is_dir()), None)
    if folder is not None:
        raise InvalidArgument(f"{folder.name} in the list of files is a folder. Name its files, or give it alone.")
    return _open_parts(files, schema, readers)


def parts_of(folder: Path) -> list[Path]:
    """Return the parts in a folder, sorted by name.

    Raises
    ------
    InvalidArgument
        If there are none, or the folder holds something else.
    """
    entries: list[Path] | None = None
    with suppress(OSError):
        entries = sorted(folder.iterdir(), key=lambda one: one.name)
    if entries is None:
        raise InvalidArgument(f"Cannot list the folder {folder.name}. Give one that may be read.")
    parts = []
    for entry in entries:
        if entry.name.startswith(".") or entry.name in _NO_PARTS:
            continue
        if entry.is_dir():
            raise InvalidArgument(
                f"{folder.name} holds the folder {entry.name}, and only a folder's own files are read. Give the list "
                "of files, or an Arrow data set, which reads what folders' names say: "
                'pyarrow.dataset.dataset(path, partitioning="hive").'
            )
        if kind_of_file(entry) not in _IN_FOLDERS:
            raise InvalidArgument(
                f"{folder.name} holds {entry.name}, which is no part of a table. A folder's files must all be Parquet "
                f"files or all text files ({', '.join(CSV_ENDINGS[:2])}). Move the other files away."
            )
        parts.append(entry)
    if not parts:
        raise InvalidArgument(f"The folder {folder.name} holds no Parquet or text file. Give the right folder.")
    return parts


def _open_parts(files: list[Path], schema: Schema, readers: list[ColumnReader]) -> Table:
    kinds = {kind_of_file(file): file.name for file in files}
    if len(kinds) > 1:
        raise InvalidArgument(
            f"The parts of a table must be files of one kind; found {' and '.join(kinds.values())}. Convert one."
        )
    seen: dict[Path, str] = {}
    for file in files:
        real = file.resolve()
        if real in seen:
            raise InvalidArgument(
                f"{file.name} stands twice among the parts of the table: its records would count twice. Name it once."
            )
        seen[real] = file.name
    table = PartsTable([file.name for file in files], [partial(open_file, file, schema, readers) for file in files])
    if "text" in kinds:
        _check_headers(files, schema)
    return table


def _check_headers(files: list[Path], schema: Schema) -> None:
    """Refuse text files whose headers do not name the same columns."""
    from discreet.tables.readers.text_files import read_header

    first: set[str] = set()
    for file in files:
        names = set(read_header(file, schema.reading).names)
        first = first or names
        if names != first:  # what stands there is not quoted: of a file without a header it is a record
            raise InvalidData(
                f"The first line of {file.name} names {len(names)} columns, and not the {len(first)} of "
                f"{files[0].name}. Give files with the same header."
            )


class PartsTable(Table):
    """The records of several files, one after the other; each is open only while it is read.

    Parameters
    ----------
    names : sequence of str
        The files as messages call them.
    openers : sequence of callable
        What opens each, as a Table.
    """

    def __init__(self, names: Sequence[str], openers: Sequence[Callable[[], Table]]) -> None:
        self._names = names
        self._openers = openers
        parts = (opener() for opener in openers)  # one after the other is refused before one is read, and closed
        said = [(part.size_hint, part.notes) for part in parts]
        self.notes = tuple(dict.fromkeys(note for _, notes in said for note in notes))
        hints = [hint for hint, _ in said]
        self.size_hint = None if None in hints else sum(hint for hint in hints if hint is not None)

    def blocks(self) -> Iterator[RecordBlock]:
        """Yield the records, file after file.

        Raises
        ------
        InvalidData
            What the files' own readers say, with the name of the file.
        """
        done = 0
        for name, opener in zip(self._names, self._openers, strict=True):
            part, trouble = opener(), None
            try:
                for block in part.blocks():
                    self.position = done + part.position
                    yield replace(block, where=name)
            except InvalidData as error:
                trouble = str(error)
            if trouble is not None:
                raise InvalidData(trouble if name in trouble else f"{name}: {trouble}")
            done += part.size_hint or part.position
            self.position = done
