"""Files of Stata, SPSS and SAS: typed columns, with value labels as levels, and user-defined missing values missing.

What a column is, is read from the file's description of it alone: by its type, its format and its map of labels, never
by another cell.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from discreet.errors import InvalidData
from discreet.tables.cells.columns import ColumnReader
from discreet.tables.readers.arrow_tables import ArrowTable
from discreet.tables.readers.extras import needed_for
from discreet.tables.schema.columns import Category, Flag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from discreet.tables.schema.columns import Column
    from discreet.tables.schema.schema import Schema

_FUNCTIONS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
# How the programs write a date: which formats, how many units of a number are a day, and the day that is 0.
_DAY, _SECONDS, _MILLISECONDS = 1.0, 86_400.0, 86_400_000.0
_SPSS = np.datetime64("1582-10-14", "D")
_SIXTIES = np.datetime64("1960-01-01", "D")
_SPSS_DATES = [(re.compile(r"([AEJS]?DATE|DATETIME|YMDHMS|QYR|MOYR|WKYR)[0-9.]*$"), _SECONDS, _SPSS)]
_SAS_DATES = [
    (
        re.compile(r"(DATETIME|DATEAMPM|MDYAMPM|DT(DATE|MONYY|YEAR|WKDATX|YYQC)|[A-Z]+8601D[TN])[0-9.]*$"),
        _SECONDS,
        _SIXTIES,
    ),
    # Those that show a year or a month alone are stored as days all the same.
    (
        re.compile(
            r"(DATE|WEEKDAT[EX]|WORDDAT[EX]|JULIAN|[A-Z]+8601DA|(MMDDYY|DDMMYY|YYMMDD)[BCDNPS]?|(YYMM|MMYY|YYQR?)[CDNPS]?"
            r"|MONYY|YYMON|YEAR|QTRR?|MONTH|MONNAME|DAY|DOWNAME|WEEKDAY|JULDAY)[0-9.]*$"
        ),
        _DAY,
        _SIXTIES,
    ),
]
# Not %tC, which counts leap seconds, and not weeks, months and other periods.
_STATA_DATES = [(re.compile(r"%-?tc"), _MILLISECONDS, _SIXTIES), (re.compile(r"%-?(td|d)"), _DAY, _SIXTIES)]
_DATES = {
    ".dta": _STATA_DATES,
    ".sav": _SPSS_DATES,
    ".zsav": _SPSS_DATES,
    ".por": _SPSS_DATES,
    ".sas7bdat": _SAS_DATES,
    ".xpt": _SAS_DATES,
}
# How a SAS transport file begins that says how many records it has, from version 8 on.
_COUNTED = b"HEADER RECORD*******LIBV8"
# Days farther from 0 than this are beyond every calendar; they count as this far.
_FARTHEST = 2.0**30


def statistics_table(path: Path, schema: Schema, readers: Sequence[ColumnReader]) -> ArrowTable:
    """Return the records of a file of Stata, SPSS or SAS, of which only the needed columns are read.

    Raises
    ------
    InvalidArgument
        If the extra `files` is not installed.
    InvalidData
        If the file is damaged, lacks a column, or does not tell blank records at its end from padding.
    """
    described = _read(path, metadataonly=True)[1]
    _refuse_uncounted(path, described)
    names = [reader.name for reader in readers]
    return ArrowTable(
        path.name, described.column_names, readers, partial(_batches, path, schema, names), described.number_rows
    )


def _refuse_uncounted(path: Path, described: Any) -> None:
    """Refuse a file of which a record of blanks would be none if it stood last.

    A SAS transport file of version 5 counts no records and is padded with blanks; a number is never blank in it.
    """
    if path.suffix.lower() != ".xpt" or set(described.readstat_variable_types.values()) - {"string"}:
        return
    with path.open("rb") as file:
        counts = file.read(len(_COUNTED)) == _COUNTED
    if not counts:
        raise InvalidData(
            f"{path.name} holds texts alone, and a SAS transport file of version 5 does not tell blank records at its "
            "end from padding. Write it in version 8, or with a column of numbers."
        )


def columns_of(path: Path) -> dict[str, Any]:
    """Return the Arrow types of the columns of a file of Stata, SPSS or SAS, by name; reads no record."""
    described = _read(path, metadataonly=True)[1]
    return {name: _typed([], name, path, described).type for name in described.column_names}


def _batches(path: Path, schema: Schema, names: list[str]) -> Iterator[Any]:
    cells, described = _read(path, usecols=names)
    columns = {name: _column(cells[name], name, path, schema, described) for name in names}
    yield pa.RecordBatch.from_pydict(columns)


def _read(path: Path, **how: Any) -> tuple[Mapping[str, Any], Any]:
    """Return the cells of the columns, and what the file says of them."""
    library = needed_for(path.name, "pyreadstat")
    ending = path.suffix.lower()
    read: Callable[..., Any] = getattr(library, _FUNCTIONS[ending])
    found = None
    # What the library says may quote a cell.
    with suppress(
        library.ReadstatError, library.PyreadstatError, OSError, ValueError, TypeError, ArithmeticError, LookupError
    ):
        # Dates as the numbers that are stored: the library's own conversion raises on some of them.
        found = read(path, output_format="dict", disable_datetime_conversion=True, **how)
    if found is None:
        raise InvalidData(
            f"{path.name} cannot be read as a {ending} file: it is none, it is damaged, or its texts are not in the "
            "encoding that it names. Write it anew."
        )
    cells, described = found
    return cells, described


def _column(cells: Any, name: str, path: Path, schema: Schema, described: Any) -> Any:
    """Return the cells of a column as an Arrow array of the type that the file's description tells."""
    declared = schema.columns.get(name)
    labels = described.variable_value_labels.get(name)
    if labels and isinstance(declared, (Category, Flag)):
        return _labelled(cells, labels, ColumnReader(name, declared, schema.reading), declared)
    return _typed(cells, name, path, described)


def _labelled(cells: Any, labels: Mapping[Any, str], reader: ColumnReader, declared: Column) -> Any:
    """Return what the codes of a labelled column say, as texts.

    A code whose label is a declared level says that; any other is its own text. Each by itself: the labels are what
    the file says of the column.
    """
    known = list(labels.items())
    values, _ = reader.from_objects([label for _, label in known])
    read = values >= 0 if isinstance(declared, Category) else np.isfinite(values)
    said = {code: label for (code, label), is_read in zip(known, read.tolist(), strict=True) if is_read}
    return pa.array([said.get(cell, _text_of(cell)) for cell in cells], pa.large_string())


def _text_of(cell: Any) -> str | None:
    if isinstance(cell, float):
        return None if np.isnan(cell) else str(int(cell)) if cell.is_integer() else repr(cell)
    return None if cell is None else str(cell)


def _typed(cells: Any, name: str, path: Path, described: Any) -> Any:
    if described.readstat_variable_types[name] == "string":
        return pa.array(cells, pa.large_string())
    numbers = np.array(cells, dtype=np.float64)
    style = described.original_variable_types.get(name) or ""
    for pattern, per_day, first in _DATES[path.suffix.lower()]:
        if pattern.match(style):
            return _days(numbers, per_day, first)
    return pa.array(numbers, from_pandas=True)


def _days(numbers: Any, per_day: float, first: np.datetime64) -> Any:
    """Return stored numbers as days; total."""
    there = np.isfinite(numbers)
    days = np.floor(np.clip(np.where(there, numbers, 0.0) / per_day, -_FARTHEST, _FARTHEST))
    dates = first + days.astype(np.int64).astype("timedelta64[D]")
    return pa.array(np.where(there, dates, np.datetime64("NaT", "D")))
