"""A text file as a list of records: a record is a line, or under `newlines_in_cells` what quotes hold together."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InvalidData
from discreet.tables import text_stream
from discreet.tables.broken_lines import fault_of, scan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.tables.columns import Reading
    from discreet.tables.text_stream import TextStream

# A first line that is longer names no columns.
HEADER_BYTES = 2**22
# Read at a time until the header ends.
_HEADER_PIECE = 2**16

_MARK = "\ufeff".encode()
_LINE_FEED, _RETURN, _QUOTE = 10, 13, 34


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
    while True:
        piece = stream.read(n_bytes)
        held += piece
        if at_start and (len(held) >= len(_MARK) or not piece):
            held, at_start = held.removeprefix(_MARK), False
        while held.startswith((b"\n", b"\r\n")):
            held, n_lines = held[held.index(b"\n") + 1 :], n_lines + 1
        end = 0
        while end := held.find(b"\n", end) + 1:
            if not (reading.newlines_in_cells and scan(held[:end], reading)[1]):
                return held[:end], n_lines + held.count(b"\n", 0, end), held[end:]
        if not piece:
            return held, n_lines + 1, b""
        if len(held) > HEADER_BYTES:
            raise InvalidData(
                f"Cannot read {file_name}: its first line is no list of column names. Correct or replace the file."
            )


def _text(body: bytes) -> str | None:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def _names(text: str, reading: Reading) -> list[str] | None:
    quoting = csv.QUOTE_NONE if reading.quote == "none" else csv.QUOTE_MINIMAL
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=reading.delimiter, quoting=quoting), None)
    except csv.Error:
        return None


@dataclass(frozen=True)
class Records:
    """Some whole records of a file.

    Parameters
    ----------
    text : bytes
        Their lines, each with its end.
    n_records : int
        How many.
    first_line : int
        The number of their first line in the file.
    """

    text: bytes
    n_records: int
    first_line: int


class RecordCutter:
    """Cuts a text into whole records, and refuses what is no list of them.

    Parameters
    ----------
    header : Header
    reading : Reading
    file_name : str
        As refusals call the file.
    most_bytes : int
        Of a record, and about of what is read at a time.
    """

    def __init__(self, header: Header, reading: Reading, file_name: str, most_bytes: int) -> None:
        self._header = header
        self._reading = reading
        self._file_name = file_name
        self._most_bytes = most_bytes
        self._is_wide = len(header.names) > 1
        self._line = header.n_lines + 1
        self._n_blank = 0

    def cut(self, stream: TextStream, rest: bytes) -> Iterator[Records]:
        """Yield the records of a stream behind `rest`, which was read already.

        Raises
        ------
        InvalidData
            Names the line and the cause, never a cell.
        """
        held, more = b"", stream.read(max(self._most_bytes - len(rest), 1))
        for piece in chain((rest + more,), iter(lambda: stream.read(self._most_bytes), b"")):
            lines, held = self._whole(held, piece)
            if len(held) > self._most_bytes:
                raise self._too_long(self._line + lines.count(b"\n"))
            if lines:
                yield from self._checked(lines)
        if stream.trouble is not None:
            line = self._line + held.count(b"\n")
            raise self._refused(line, _TROUBLES[stream.trouble].format(encoding=self._reading.encoding))
        if held:
            yield from self._checked(held + self._header.line_end)

    def _whole(self, held: bytes, piece: bytes) -> tuple[bytes, bytes]:
        """Return the whole records of two pieces of text, and what is left."""
        if self._reading.newlines_in_cells:
            text = held + piece
            ends = record_ends(text)
            end = int(ends[-1]) + 1 if ends.size else 0
            self._check_length(int(ends[0]) if ends.size else 0)
            return text[:end], text[end:]
        end = piece.rfind(b"\n") + 1
        if not end:
            return b"", held + piece
        self._check_length(len(held) + piece.find(b"\n"))
        return b"".join((held, memoryview(piece)[:end])), piece[end:]

    def _check_length(self, n_bytes: int) -> None:
        if n_bytes > self._most_bytes:
            raise self._too_long(self._line)

    def _checked(self, lines: bytes) -> Iterator[Records]:
        n_lines, first = lines.count(b"\n"), self._line
        if not self._has_sound_ends(lines, n_lines):
            raise self.refusal(lines, first)
        self._line += n_lines
        if self._is_wide and (lines.endswith((b"\n\n", b"\n\r\n")) or lines in {b"\n", b"\r\n"}):
            # Blank lines at the end of the file are none; they are once a record follows.
            body = lines.rstrip(b"\r\n")
            blank = n_lines - body.count(b"\n") - bool(body)
            lines = body + self._header.line_end if body else b""
        else:
            blank = 0
        if lines and self._n_blank:
            raise self._refused(first - self._n_blank, _BLANK)
        self._n_blank += blank
        if lines:
            # Of a last record whose quote is open no end is found.
            n_records = max(record_ends(lines).size, 1) if self._reading.newlines_in_cells else n_lines - blank
            yield Records(lines, n_records, first)

    def _has_sound_ends(self, lines: bytes, n_lines: int) -> bool:
        """Return whether every return stands before a line feed, and every line ends as the header does."""
        with_return = self._header.line_end == b"\r\n"
        if self._reading.newlines_in_cells:
            return _are_sound(lines, with_return=with_return)
        n_returns = lines.count(b"\r")
        if n_returns == 0:
            return not with_return
        n_both = lines.count(b"\r\n")
        return n_both == n_returns and (not with_return or n_both == n_lines)

    def refusal(self, lines: bytes, first_line: int) -> InvalidData:
        """Return what is to be said of lines that are not one record each; reads them one by one."""
        fault = fault_of(self._split(lines), self._reading, len(self._header.names), self._header.line_end)
        if fault is None:
            return InvalidData(
                f"{self._file_name} cannot be read as CSV: it is damaged, or not text in the encoding "
                f"{self._reading.encoding}. Save it anew as UTF-8 text, or declare its `encoding` under [reading]."
            )
        if fault.n_fields is not None:
            return InvalidData(
                f"Line {first_line + fault.n_lines_before} of {self._file_name} has {fault.n_fields} fields; the header "
                f"has {len(self._header.names)} (the header is line {self._header.n_lines}; a record is one line). "
                "Correct the line, for instance a comma too many."
            )
        return self._refused(first_line + fault.n_lines_before, fault.cause)

    def _split(self, lines: bytes) -> Iterator[bytes]:
        if self._reading.newlines_in_cells:
            ends = [int(end) + 1 for end in record_ends(lines)]
            # An open quote leaves a last record without an end.
            stops = ends if ends and ends[-1] == len(lines) else [*ends, len(lines)]
        else:
            stops = (np.flatnonzero(np.frombuffer(lines, np.uint8) == _LINE_FEED) + 1).tolist()
        start = 0
        for stop in stops:
            yield lines[start:stop]
            start = stop

    def _too_long(self, line: int) -> InvalidData:
        return self._refused(
            line,
            f"is longer than {self._most_bytes / 2**20:g} MiB, the most that a record may have. Shorten it, or look "
            "for a quote that is left open",
        )

    def _refused(self, line: int, cause: str) -> InvalidData:
        return InvalidData(f"Line {line} of {self._file_name} {cause}.")


_BLANK = "is blank, and a record follows it. Remove the line, or write its cells as empty ones"
_TROUBLES = {
    text_stream.DAMAGED: "cannot be read: from there on the file is damaged. Replace the file",
    text_stream.WRONG_ENCODING: "is not text in the encoding {encoding}. Save the file as UTF-8, or declare its "
    "`encoding` under [reading]",
}


def record_ends(text: bytes) -> np.ndarray:
    """Return where line feeds stand after an even number of quotes: a record's ends where a writer doubles quotes."""
    letters = np.frombuffer(text, np.uint8)
    return np.flatnonzero((letters == _LINE_FEED) & ~_is_inside(letters))


def _is_inside(letters: np.ndarray) -> np.ndarray:
    """Return whether each letter stands behind an odd number of quotes."""
    inside: np.ndarray = np.logical_xor.accumulate(letters == _QUOTE)
    return inside


def _are_sound(text: bytes, *, with_return: bool) -> bool:
    letters = np.frombuffer(text, np.uint8)
    inside = _is_inside(letters)
    before = np.concatenate(([0], letters[:-1]))
    behind = np.concatenate((letters[1:], [0]))
    alone = (letters == _RETURN) & ~inside & (behind != _LINE_FEED)
    short = (letters == _LINE_FEED) & ~inside & (before != _RETURN)
    return not (alone.any() or (with_return and short.any()))
