"""The bytes of a text file, decompressed and as UTF-8, read piece by piece; it keeps what went wrong, and no cell."""

from __future__ import annotations

import codecs
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from discreet.errors import InvalidData

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

DAMAGED = "damaged"
WRONG_ENCODING = "encoding"

# Read as they are: what is no UTF-8 in a cell that is read is found later.
_PLAIN = {"utf-8", "utf-8-sig"}


class TextStream:
    """The text of an open file.

    Parameters
    ----------
    source : file object
        Of decompressed bytes.
    encoding : str
        One of `encodings.LINE_BY_LINE`.

    Attributes
    ----------
    trouble : str or None
        `DAMAGED` or `WRONG_ENCODING` once the text could not be read on; what was read before it is sound.
    """

    def __init__(self, source: Any, encoding: str) -> None:
        self._source = source
        self._decoder: Any = None if encoding in _PLAIN else codecs.getincrementaldecoder(encoding)("strict")
        self._ready = b""
        self.trouble: str | None = None

    def read_into(self, room: memoryview) -> int:
        """Fill a part of `room` with text, as UTF-8, and return its size; 0 at the end and where a trouble is."""
        if self._decoder is None:
            return int(self._sound(lambda: self._source.readinto(room)) or 0)
        while not self._ready and self.trouble is None:
            raw = self._sound(lambda: self._source.read(len(room)))
            if raw is not None:
                self._ready = self._decoded(raw)
            # A letter may have begun, and no more.
            if not raw:
                break
        size = min(len(room), len(self._ready))
        room[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _sound(self, read: Callable[[], Any]) -> Any:
        """Return what was read, or None where the file is damaged."""
        if self.trouble is None:
            try:
                return read()
            except (pa.ArrowException, OSError, EOFError, ValueError):
                self.trouble = DAMAGED
        return None

    def _decoded(self, raw: bytes) -> bytes:
        before = self._decoder.getstate()
        try:
            return bytes(self._decoder.decode(raw, final=not raw).encode())
        except UnicodeError:
            self.trouble = WRONG_ENCODING
        self._decoder.setstate(before)
        return self._sound_part(raw)

    def _sound_part(self, raw: bytes) -> bytes:
        """Return the text before the bytes that are none, so that their line can be counted."""
        text = ""
        with suppress(UnicodeError):
            for place in range(len(raw)):
                text += self._decoder.decode(raw[place : place + 1])
        return text.encode()


@contextmanager
def open_text(path: Path, encoding: str) -> Iterator[tuple[TextStream, Any]]:
    """Yield a file's text, and the file itself, whose place tells how far it was read.

    Raises
    ------
    InvalidData
        If it cannot be opened.
    """
    reason = None
    try:
        file = path.open("rb", buffering=0)
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
    if reason is not None:
        raise InvalidData(f"Cannot read {path.name}: {reason}. Correct or replace the file.")
    with file:
        source: Any = pa.CompressedInputStream(file, "gzip") if path.name.lower().endswith(".gz") else file
        yield TextStream(source, encoding), file
