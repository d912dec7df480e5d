"""Spreadsheets: the first sheet of an Excel or OpenDocument file, a header row and a record in every other row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidData
from discreet.tables.readers.extras import needed_for
from discreet.tables.readers.frames import FrameTable
from discreet.tables.readers.headers import check_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from discreet.tables.cells.columns import ColumnReader
    from discreet.tables.readers.frames import Slice
    from discreet.tables.schema.schema import Schema


def sheet_table(path: Path, schema: Schema, readers: Sequence[ColumnReader]) -> FrameTable:
    """Return the records of the first visible sheet of a file, each cell read by itself.

    Raises
    ------
    InvalidArgument
        If the extra `files` is not installed.
    InvalidData
        If the file is damaged, its first row names no columns, a column is absent, or a row before the last is blank.
    """
    del schema
    rows = _rows_of(path)
    places = _header_of(rows, path)
    check_names(list(places), [reader.name for reader in readers], path.name)
    records = rows[1:]
    while records and _is_blank(records[-1]):
        records.pop()
    for number, record in enumerate(records, 2):
        if _is_blank(record):
            raise InvalidData(
                f"Row {number} of {path.name} is blank and others follow; the header is row 1. A blank row is no "
                "record: delete it, or put a record in its place."
            )

    def take(reader: ColumnReader, start: int, stop: int) -> Slice:
        place = places[reader.name]
        return reader.from_objects([record[place] for record in records[start:stop]])

    return FrameTable(path.name, list(places), readers, len(records), take)


def header_of(path: Path) -> list[str]:
    """Return the column names in the first row of the first sheet."""
    return list(_header_of(_rows_of(path), path))


def _rows_of(path: Path) -> list[list[Any]]:
    library = needed_for(path.name, "python_calamine")
    rows = None
    try:
        with library.load_workbook(str(path)) as book:
            shown = [
                sheet.name
                for sheet in book.sheets_metadata
                if sheet.visible == library.SheetVisibleEnum.Visible and sheet.typ == library.SheetTypeEnum.WorkSheet
            ]
            # From the first cell of the sheet on, and not from the first that is used: no record moves a column.
            rows = book.get_sheet_by_name(shown[0]).to_python(skip_empty_area=False) if shown else []
    except (library.CalamineError, OSError, ValueError, TypeError):
        pass  # which may quote a cell
    if rows is None:
        raise InvalidData(
            f"{path.name} cannot be read as a spreadsheet: it is none, it is damaged, or it is locked by a password. "
            "Save it anew, without one."
        )
    return rows


def _header_of(rows: list[list[Any]], path: Path) -> dict[str, int]:
    """Return the named columns and where they stand; a column without a name holds notes, and cannot be declared."""
    header = [_name_of(cell) for cell in rows[0]] if rows else []
    names = [name for name in header if name]
    if not names:
        raise InvalidData(
            f"{path.name} has no header: the first row of its first sheet is blank. Put the names of the columns there."
        )
    check_names(names, [], path.name)
    return {name: place for place, name in enumerate(header) if name}


def _name_of(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _is_blank(record: Sequence[Any]) -> bool:
    return all(cell == "" for cell in record)
