"""What is wrong with a line of a text file, said without its cells; slow, and run on files that are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from discreet.tables.schema.columns import Reading

_QUOTE = b'"'


@dataclass(frozen=True)
class Fault:
    """The first record that is none.

    Parameters
    ----------
    n_lines_before : int
        The lines before it.
    cause : str
        What is wrong with it and what to do, as a predicate; empty where `n_fields` says it.
    n_fields : int or None
        How many fields it has, where that is what is wrong.
    """

    n_lines_before: int
    cause: str = ""
    n_fields: int | None = None


def scan(record: bytes, reading: Reading) -> tuple[int, bool, bool]:
    """Return a record's number of fields, whether a quote is open at its end, and whether it holds a line's end.

    A quote counts where it begins a field, as in Arrow; a line's end counts outside of quotes.
    """
    delimiter, quotes = reading.delimiter.encode(), reading.quote != "none"
    place, n_fields, is_split = 0, 0, False
    while True:
        n_fields += 1
        if quotes and record.startswith(_QUOTE, place):
            place = closed(record, place + 1)
            if place == 0:
                return n_fields, True, is_split
        end = record.find(delimiter, place)
        stop = len(record) if end < 0 else end
        is_split = is_split or record.find(b"\r", place, stop) >= 0 or record.find(b"\n", place, stop) >= 0
        if end < 0:
            return n_fields, False, is_split
        place = end + 1


def closed(record: bytes, place: int) -> int:
    """Return the place behind the quote that closes a field; 0 where none does."""
    while (place := record.find(_QUOTE, place) + 1) and record.startswith(_QUOTE, place):
        place += 1
    return place


def fault_of(records: Iterable[bytes], reading: Reading, n_fields: int, line_end: bytes) -> Fault | None:
    """Return what is wrong with the first of some records, each with its line's end, that is none; None if all are.

    A cell that is no text is looked for where nothing else is wrong: in a column that is not read it does not matter.
    """
    line, is_no_text = 0, None
    for record in records:
        fault = _fault(record, reading, n_fields, line_end, line)
        if fault is not None:
            return fault
        if is_no_text is None and not _is_text(record):
            is_no_text = line
        line += record.count(b"\n")
    if is_no_text is None:
        return None
    return Fault(is_no_text, NO_TEXT.format(encoding=reading.encoding))


def _fault(record: bytes, reading: Reading, n_fields: int, line_end: bytes, line: int) -> Fault | None:
    body = record.removesuffix(b"\n")
    found, is_open, is_split = scan(body.removesuffix(b"\r"), reading)
    if is_open:
        return Fault(line, _OPEN if not reading.newlines_in_cells else _OPEN_AT_END)
    if line_end == b"\r\n" and not body.endswith(b"\r"):
        return Fault(line, "ends in a line feed alone, and the header in a carriage return and one. Make them alike")
    if is_split and reading.newlines_in_cells and b"\n" in body:
        return Fault(line, _UNDOUBLED)
    if is_split or (b"\r" in body.removesuffix(b"\r") and not reading.newlines_in_cells):
        return Fault(line, _RETURN)
    if n_fields > 1 and not body.removesuffix(b"\r"):
        return Fault(line, BLANK)
    return Fault(line, n_fields=found) if found != n_fields else None


BLANK = "is blank, and a record follows it. Remove the line, or write its cells as empty ones"
NO_TEXT = "is not text in the encoding {encoding}. Save the file as UTF-8, or declare its `encoding` under [reading]"
_OPEN = (
    "leaves a quote open: a cell begins with one, and none closes it before the line's end. Correct the line, or "
    'declare under [reading] quote = "none" where quotes are ordinary marks, or newlines_in_cells = true where '
    "quoted cells hold line ends"
)
_OPEN_AT_END = "begins a record with a quote that nothing closes. Correct the line"
_UNDOUBLED = (
    "begins a record with a quote that is not doubled, in a cell that does not begin with one. Under "
    "newlines_in_cells a writer doubles quotes within cells and quotes those cells: write the file so"
)
_RETURN = (
    "holds a carriage return that is not part of the line's end. Take it off, or declare newlines_in_cells = true "
    "under [reading] where quoted cells hold line ends"
)


def _is_text(record: bytes) -> bool:
    try:
        record.decode()
    except UnicodeDecodeError:
        return False
    return True
