"""The header of a text file: its first line that is not blank, which is public."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.errors import InvalidData
from discreet.tables.readers import text_stream
from discreet.tables.readers.broken_lines import closed, scan

if TYPE_CHECKING:
    from discreet.tables.readers.text_stream import TextStream
    from discreet.tables.schema.columns import Reading

# The byte-order mark as UTF-8.
MARK = "\ufeff".encode()

# A first line that is longer names no columns.
HEADER_BYTES = 2**22
# Read at a time until the header ends.
_HEADER_PIECE = 2**16
_BLANK_LINES = re.compile(rb"(?:\r?\n)+")


@dataclass(frozen=True)
class Header:
    """The first line of a text file, which is public.

    Parameters
    ----------
    names : tuple of str
        Of the columns.
    line_end : bytes
        What ends it, and so every line.
    n_lines : int
        The file's lines up to its end, blank ones before it among them.
    """

    names: tuple[str, ...]
    line_end: bytes
    n_lines: int


def take_header(stream: TextStream, reading: Reading, file_name: str, most_bytes: int) -> tuple[Header, bytes]:
    """Return the header, and the bytes behind it that were read with it, fewer than `most_bytes`.

    Raises
    ------
    InvalidData
        If there is none, or it is no list of names in the declared encoding; quotes nothing.
    """
    line, n_lines, rest = _first_line(stream, reading, file_name, min(most_bytes, _HEADER_PIECE))
    trouble = None if line.endswith(b"\n") else stream.trouble
    if trouble == text_stream.DAMAGED:
        raise InvalidData(f"Cannot read {file_name}: it is damaged. Correct or replace the file.")
    if not line and trouble is None:
        raise InvalidData(
            f"{file_name} is empty: it has no header. Give it a first line with the names of its columns."
        )
    line_end = b"\r\n" if line.endswith(b"\r\n") else b"\n"
    body = line.removesuffix(b"\n").removesuffix(b"\r")
    text = None if trouble is not None else _text(body)
    if text is None or "\0" in text:
        raise InvalidData(
            f"{file_name} is not text in the encoding {reading.encoding}. "
            "Save it as UTF-8, or declare its `encoding` under [reading]."
        )
    _, is_open, is_split = scan(body, reading)
    if is_open:
        raise InvalidData(
            f"Cannot read {file_name}: in its first line a quote is left open. Close it, or declare "
            'quote = "none" under [reading] where quotes are ordinary marks.'
        )
    if is_split or (b"\r" in body and not reading.newlines_in_cells):
        raise InvalidData(
            f"Cannot read {file_name}: its first line holds a carriage return that is no line's end. "
            "Save the file with line feeds, or both, at the ends of its lines."
        )
    names = _names(text, reading)
    if names is None:
        raise InvalidData(
            f"Cannot read {file_name}: its first line is no list of column names. Correct or replace the file."
        )
    return Header(tuple(names), line_end, n_lines), rest


def _first_line(stream: TextStream, reading: Reading, file_name: str, n_bytes: int) -> tuple[bytes, int, bytes]:
    """Return the first line that is not blank, the number of lines up to its end, and what was read behind it."""
    held, n_lines, at_start = b"", 0, True
    room = memoryview(bytearray(n_bytes))
    while True:
        piece = bytes(room[: stream.read_into(room)])
        held += piece
        if at_start and (len(held) >= len(MARK) or not piece):
            held, at_start = held.removeprefix(MARK), False
        blank = _BLANK_LINES.match(held)
        if blank is not None:
            held, n_lines = held[blank.end() :], n_lines + held.count(b"\n", 0, blank.end())
        end = _end_of_names(held, reading) if reading.newlines_in_cells else held.find(b"\n") + 1
        if end:
            return held[:end], n_lines + held.count(b"\n", 0, end), held[end:]
        if not piece:
            return held, n_lines + 1, b""
        if len(held) > HEADER_BYTES:
            raise InvalidData(
                f"Cannot read {file_name}: its first line is no list of column names. Correct or replace the file."
            )


def _end_of_names(held: bytes, reading: Reading) -> int:
    """Return the place behind the first line end outside of quotes, 0 where there is none; in one pass."""
    marks = re.compile(b"[\n" + re.escape(reading.delimiter.encode()) + b"]")
    place = 0
    while True:
        if held.startswith(b'"', place):
            place = closed(held, place + 1)
            if place == 0:
                return 0
        mark = marks.search(held, place)
        if mark is None:
            return 0
        place = mark.end()
        if mark.group() == b"\n":
            return place


def _text(body: bytes) -> str | None:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def _names(text: str, reading: Reading) -> list[str] | None:
    lines = io.StringIO(text, newline="")
    try:
        if reading.quote == "none":
            return next(csv.reader(lines, delimiter=reading.delimiter, quoting=csv.QUOTE_NONE), None)
        return next(csv.reader(lines, delimiter=reading.delimiter), None)
    except csv.Error:
        return None
