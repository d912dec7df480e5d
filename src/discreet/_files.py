"""Files that discreet writes: strict JSON, opened before anything is spent, complete or absent."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import DiscreetError, InvalidArgument, InvalidData

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

FORMAT = 1


class OutputFile:
    """A file that appears under its name only when it is complete.

    It is opened beside its target when the context is entered, so that an unwritable place is found
    before a budget is spent, and is renamed over the target by :meth:`write`.

    Parameters
    ----------
    path : str or path-like
        Where the file shall stand.
    name : str
        What to call the argument in an error.
    overwrite : bool
        Whether a file that stands there may be written over. Where not, and one appeared after this was opened,
        the text is kept under a free name beside it.

    Raises
    ------
    InvalidArgument
        If the folder does not exist or cannot be written to, or the target is a folder, or is there and is not to be
        written over.
    """

    def __init__(self, path: str | os.PathLike[str], *, name: str = "output", overwrite: bool = True) -> None:
        self.path = Path(path)
        self._name = name
        self._overwrite = overwrite
        self._temporary: Path | None = None

    def __enter__(self) -> Self:
        reason = None
        if self.path.is_dir():
            reason = "it is a folder"
        elif not self._overwrite and os.path.lexists(self.path):
            reason = "it is there already"
        elif self.path.exists() and not os.access(self.path, os.W_OK):
            reason = "it is not writable"
        else:
            try:
                handle, temporary = tempfile.mkstemp(prefix=f".{self.path.name}.", dir=self.path.parent)
                os.close(handle)
                self._temporary = Path(temporary)
            except OSError as error:
                reason = error.strerror or "its folder cannot be written to"
        if reason is not None:
            raise InvalidArgument(
                f"Cannot write `{self._name}` {str(self.path)!r}: {reason}. "
                "Choose a file in an existing, writable folder."
            )
        return self

    def write(self, text: str) -> None:
        """Write the whole text and put the file under its name, as `write_parts` does."""
        self.write_parts([text])

    def write_parts(self, parts: Iterable[str]) -> None:
        """Write a text part by part and put the file under its name once all are there.

        Raises
        ------
        InvalidArgument
            If it is not open, or a file that may not be written over appeared meanwhile; says where the text is kept.
        """
        if self._temporary is None:
            raise InvalidArgument(f"`{self._name}` is not open for writing, or was written already. Open it anew.")
        with self._temporary.open("w", encoding="utf-8", newline="") as stream:
            stream.writelines(parts)
            stream.flush()
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        self._temporary.chmod(0o666 & ~mask)
        place = self._temporary.replace(self.path) if self._overwrite else _put_beside(self._temporary, self.path)
        self._temporary = None
        if place != self.path:
            raise InvalidArgument(
                f"`{self._name}` {str(self.path)!r} appeared while this ran and was not written over. "
                f"Use {str(place)!r}, where the text is kept."
            )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)
            self._temporary = None


def _put_beside(temporary: Path, wanted: Path) -> Path:
    """Put a file under the first free name among `wanted`, `wanted`.1, ...; return that name."""
    place, number = wanted, 0
    while True:
        try:
            os.link(temporary, place)  # fails where something stands, so that nothing is lost to a race
            temporary.unlink()
        except FileExistsError:
            number += 1
            place = wanted.with_name(f"{wanted.name}.{number}")
        except OSError:  # a file system without links
            temporary.replace(place)
            return place
        else:
            return place


def dump(kind: str, content: dict[str, Any]) -> str:
    """Return strict JSON of one of our files: its format, its kind, its content."""
    return (
        json.dumps({"discreet": FORMAT, "kind": kind, **content}, allow_nan=False, ensure_ascii=False, indent=1) + "\n"
    )


def parse(text: str, *, kind: str | None, name: str) -> dict[str, Any]:
    """Return the content of one of our files; refuse other files, kinds and newer formats by name; None: any kind."""
    content = _object(text)
    if content is None or "discreet" not in content:
        raise InvalidData(f"{name} is not a file written by discreet. Give a model, a release or a ledger.")
    if content["discreet"] != FORMAT:
        raise InvalidData(f"{name} has format {content['discreet']!r}; this version reads {FORMAT}. Update discreet.")
    if kind is None and isinstance(content.get("kind"), str):
        return content
    if content.get("kind") != kind:
        raise InvalidData(f"{name} must hold a {kind!r}; it holds a {content.get('kind')!r}. Give another file.")
    return content


def kind_of(path: str | os.PathLike[str]) -> str | None:
    """Return which kind of our files stands at `path`, or None where it is none of ours."""
    target = Path(path)
    if target.suffix.lower() != ".json" or not target.is_file():
        return None
    content = _object(target.read_text(encoding="utf-8", errors="replace"))
    return None if content is None or "discreet" not in content else str(content.get("kind"))


def read(path: str | os.PathLike[str], *, kind: str) -> dict[str, Any]:
    """Read one of our files."""
    target = Path(path)
    if not target.is_file():
        raise InvalidArgument(f"There is no file {str(target)!r}. Correct its path.")
    return parse(target.read_text(encoding="utf-8", errors="replace"), kind=kind, name=repr(str(target)))


def read_any(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read one of our files, whatever its kind."""
    target = Path(path)
    return parse(target.read_text(encoding="utf-8", errors="replace"), kind=None, name=repr(str(target)))


def _object(text: str) -> dict[str, Any] | None:
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _refuse_constant(_: str) -> Any:
    raise ValueError


def one_of(value: Any, allowed: tuple[str, ...]) -> str:
    """Return `value` if it is one of the `allowed` words of a file's format."""
    if value in allowed:
        return str(value)
    raise ValueError


@contextmanager
def well_formed(name: str) -> Iterator[None]:
    """Turn the faults of reading a damaged file into one error that names the file."""
    broken = False
    try:
        yield
    except DiscreetError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError):
        broken = True
    if broken:
        raise InvalidData(f"{name} is damaged: a field is absent or malformed. Take the file from its author again.")
