"""A text file as a list of records: a record is a line, or under `newlines_in_cells` what quotes hold together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InvalidData
from discreet.tables.readers import text_stream
from discreet.tables.readers.broken_lines import BLANK, NO_TEXT, fault_of
from discreet.tables.readers.text_header import MARK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.tables.readers.text_header import Header
    from discreet.tables.readers.text_stream import TextStream
    from discreet.tables.schema.columns import Reading

_LINE_FEED, _RETURN, _QUOTE = 10, 13, 34


@dataclass(frozen=True)
class Records:
    """Some whole records of a file; their text is overwritten by the next ones.

    Parameters
    ----------
    text : memoryview
        Their lines, each with its end.
    guarded : memoryview
        The same and a record of empty cells behind it, which a quote that is left open would take in; for a parser
        that takes off a byte-order mark, with one more before it where the text begins with one.
    n_records : int
        How many, without the one behind them.
    first_line : int
        The number of their first line in the file.
    """

    text: memoryview
    guarded: memoryview
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
        Of a record with its end, and of what is held at a time.
    """

    def __init__(self, header: Header, reading: Reading, file_name: str, most_bytes: int) -> None:
        self._header = header
        self._reading = reading
        self._file_name = file_name
        self._most_bytes = most_bytes
        self._is_wide = len(header.names) > 1
        self._line = header.n_lines + 1
        self._n_blank = 0
        self._guard = reading.delimiter.encode() * (len(header.names) - 1) + b"\n"
        # A mark, the text, and room for a line's end and the guard.
        self._buffer = bytearray(MARK) + bytearray(most_bytes + len(self._guard) + 2)
        self._view = memoryview(self._buffer)
        self._text = self._view[len(MARK) :]
        self._size = 0

    def cut(self, stream: TextStream, rest: bytes) -> Iterator[Records]:
        """Yield the records of a stream behind `rest`, which was read already.

        Raises
        ------
        InvalidData
            Names the line and the cause, never a cell.
        """
        self._put(rest)
        is_more = True
        while is_more:
            is_more = self._fill(stream)
            end = self._end_of_records()
            if end:
                left = bytes(self._text[end : self._size])
                yield from self._checked(end)
                self._put(left)
            elif self._size == self._most_bytes:
                raise self._refused(self._line, _TOO_LONG.format(most=f"{self._most_bytes / 2**20:g}"))
        if stream.trouble is not None:
            line = self._line + bytes(self._text[: self._size]).count(b"\n")
            raise self._refused(line, _TROUBLES[stream.trouble].format(encoding=self._reading.encoding))
        if self._size:
            self._put(bytes(self._text[: self._size]) + self._header.line_end)
            yield from self._checked(self._size)

    def _put(self, text: bytes) -> None:
        self._size = len(text)
        self._text[: self._size] = text

    def _fill(self, stream: TextStream) -> bool:
        """Read until no more fits or the file ends; return whether it may go on."""
        while self._size < self._most_bytes:
            found = stream.read_into(self._text[self._size : self._most_bytes])
            if found == 0:
                return False
            self._size += found
        return True

    def _end_of_records(self) -> int:
        """Return the size of the whole records."""
        if self._reading.newlines_in_cells:
            ends = record_ends(self._text[: self._size])
            return int(ends[-1]) + 1 if ends.size else 0
        begin = len(MARK)
        return max(self._buffer.rfind(b"\n", begin, begin + self._size) + 1 - begin, 0)

    def _checked(self, size: int) -> Iterator[Records]:
        text, first = self._text[:size], self._line
        n_lines = _count(text, _LINE_FEED)
        if not self._has_sound_ends(text, n_lines):
            raise self.refusal(text, first)
        self._line += n_lines
        stop = self._without_blank_end(text)
        if stop and self._n_blank:
            raise self._refused(first - self._n_blank, BLANK)
        n_blank = 0 if stop == size else _count(text[stop:], _LINE_FEED)
        self._n_blank += n_blank
        if stop:
            # Of a last record whose quote is open no end is found.
            of_cells = self._reading.newlines_in_cells
            n_records = max(record_ends(text[:stop]).size, 1) if of_cells else n_lines - n_blank
            self._text[stop : stop + len(self._guard)] = self._guard
            begin = 0 if text[: len(MARK)] == MARK else len(MARK)
            guarded = self._view[begin : len(MARK) + stop + len(self._guard)]
            yield Records(text[:stop], guarded, n_records, first)

    def _without_blank_end(self, text: memoryview) -> int:
        """Return the size of a text up to its last record; blank lines behind it are none unless one follows them."""
        # Of the whole text where it is as short.
        tail = bytes(text[-3:])
        if not self._is_wide or not (tail.endswith(b"\n\n") or tail in {b"\n\r\n", b"\r\n", b"\n"}):
            return len(text)
        whole = bytes(text)
        body = len(whole.rstrip(b"\r\n"))
        return whole.index(b"\n", body) + 1 if body else 0

    def _has_sound_ends(self, text: memoryview, n_lines: int) -> bool:
        """Return whether every return stands before a line feed, and every line ends as the header does."""
        with_return = self._header.line_end == b"\r\n"
        begin, end = len(MARK), len(MARK) + len(text)
        if self._buffer.find(b"\r", begin, end) < 0:
            return not with_return
        if self._reading.newlines_in_cells:
            return _are_sound(text, with_return=with_return)
        n_both = self._buffer.count(b"\r\n", begin, end)
        return n_both == _count(text, _RETURN) and (not with_return or n_both == n_lines)

    def refusal(self, lines: memoryview, first_line: int) -> InvalidData:
        """Return what is to be said of lines that are not one record each; reads them one by one."""
        fault = fault_of(self._split(lines), self._reading, len(self._header.names), self._header.line_end)
        if fault is None:
            return InvalidData(
                f"{self._file_name} cannot be read as CSV: it is damaged, or not text in the encoding "
                f"{self._reading.encoding}. Save it anew as UTF-8 text, or declare its `encoding` under [reading]."
            )
        if fault.n_fields is not None:
            return InvalidData(
                f"Line {first_line + fault.n_lines_before} of {self._file_name} has {fault.n_fields} fields; the "
                f"header has {len(self._header.names)}. Correct the line, for instance a comma too many."
            )
        return self._refused(first_line + fault.n_lines_before, fault.cause)

    def _split(self, lines: memoryview) -> Iterator[bytes]:
        if self._reading.newlines_in_cells:
            ends = record_ends(lines)
            # An open quote leaves a last record without an end.
            ends = ends if ends.size and ends[-1] + 1 == len(lines) else np.append(ends, len(lines) - 1)
        else:
            ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == _LINE_FEED)
        start = 0
        for end in ends.tolist():
            yield bytes(lines[start : end + 1])
            start = end + 1

    def _refused(self, line: int, cause: str) -> InvalidData:
        return InvalidData(f"Line {line} of {self._file_name} {cause}.")


_TOO_LONG = (
    "begins a record of more than {most} MiB, the most that one may have. Shorten it, or look for a quote that is left "
    "open"
)
_TROUBLES = {
    text_stream.DAMAGED: "cannot be read: from there on the file is damaged. Replace the file",
    text_stream.WRONG_ENCODING: NO_TEXT,
}


def _count(text: memoryview, letter: int) -> int:
    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == letter))


def record_ends(text: bytes | memoryview) -> np.ndarray:
    """Return where line feeds stand after an even number of quotes: a record's ends where a writer doubles quotes."""
    letters = np.frombuffer(text, np.uint8)
    return np.flatnonzero((letters == _LINE_FEED) & ~_is_inside(letters))


def _is_inside(letters: np.ndarray) -> np.ndarray:
    """Return whether each letter stands behind an odd number of quotes."""
    inside: np.ndarray = np.logical_xor.accumulate(letters == _QUOTE)
    return inside


def _are_sound(text: memoryview, *, with_return: bool) -> bool:
    letters = np.frombuffer(text, np.uint8)
    inside = _is_inside(letters)
    before = np.concatenate(([0], letters[:-1]))
    behind = np.concatenate((letters[1:], [0]))
    alone = (letters == _RETURN) & ~inside & (behind != _LINE_FEED)
    short = (letters == _LINE_FEED) & ~inside & (before != _RETURN)
    return not (alone.any() or (with_return and short.any()))
