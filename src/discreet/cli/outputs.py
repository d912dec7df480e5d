"""What a command keeps: files, never put over others by mistake, and a ledger of what it spends."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.declarations import WrongUsage
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from discreet._files import OutputFile

_SQLITE = b"SQLite format 3\0"
# What SQLite keeps beside a file, and removes.
_BESIDE = ("-journal", "-wal", "-shm")

ForceOption = Annotated[bool, typer.Option("--force", help="Write over files that exist.")]
NoOutputOption = Annotated[
    bool, typer.Option("--no-output", help="Print only: what was paid for is not kept in a file.")
]

NoLedgerOption = Annotated[
    bool,
    typer.Option(
        "--no-ledger", help="Spend although nothing remembers it; for rows that are nobody's, such as an example's."
    ),
]


def check_payment(ledger: Path | None, *, no_ledger: bool) -> None:
    """Refuse to spend where neither a ledger is named nor its absence wanted."""
    if ledger is not None and no_ledger:
        raise WrongUsage("--ledger and --no-ledger contradict each other. Leave --no-ledger out.")
    if ledger is None and not no_ledger:
        raise WrongUsage(
            "Nothing would remember what this spends. Add --ledger FILE (and --total-epsilon 2, or another total, to "
            "create it), or --no-ledger where the rows are nobody's."
        )


def check_outputs(outputs: Mapping[str, Path | None], *, force: bool, inputs: Iterable[Path | None] = ()) -> None:
    """Refuse to write over a file that exists, unless by `force`; over an input or a ledger in any case.

    Parameters
    ----------
    outputs : mapping of str to path or None
        What is to be written, by the option that names it.
    force : bool
        Whether files may be written over.
    inputs : iterable of path or None
        What the command reads.
    """
    named = {option: path for option, path in outputs.items() if path is not None}
    read = [path for path in inputs if path is not None]
    for (one, path), (other, second) in combinations(named.items(), 2):
        if _is_same(path, second):
            raise WrongUsage(f"{one} and {other} name the same file, {str(path)!r}. Give them two names.")
    for option, path in named.items():
        if any(_is_same(path, source) for source in read):
            raise WrongUsage(f"{option} {str(path)!r} is a file that this command reads. Choose another name.")
        # A folder's files are the table: each is a part of it, and no other may stand beside them.
        if any(source.is_dir() and _is_same(path.parent, source) for source in read):
            raise WrongUsage(f"{option} {str(path)!r} is in the folder of the data. Choose another folder.")
        if is_ledger(path):
            raise WrongUsage(f"{option} {str(path)!r} is a ledger, which is never written over. Choose another name.")
        beside = [path.with_name(path.name.removesuffix(end)) for end in _BESIDE if path.name.endswith(end)]
        if any(is_ledger(file) or any(_is_same(file, source) for source in read) for file in beside if file.name):
            raise WrongUsage(
                f"{option} {str(path)!r} is a name that SQLite uses beside a ledger: it would remove the file. "
                "Choose another name."
            )
        # That a folder is no file is said where it is opened.
        if os.path.lexists(path) and not path.is_dir() and not force:
            raise WrongUsage(f"{option} {str(path)!r} is there already. Choose another name, or add --force.")


def open_output(path: Path, *, force: bool, name: str = "output") -> OutputFile:
    """Return the file that is to be written, not yet entered."""
    from discreet._files import OutputFile

    return OutputFile(path, name=name, overwrite=force)


def keep(file: OutputFile, text: str) -> None:
    """Write what was paid for; where the disk refuses it, print it, so that it is not lost.

    Raises
    ------
    InvalidArgument
        If the file could not be written; the text is then on stdout.
    """
    try:
        file.write(text)
    except OSError as failure:
        reason = failure.strerror or type(failure).__name__
    else:
        return
    typer.echo(text, nl=False)
    raise InvalidArgument(
        f"Cannot write `output` {str(file.path)!r}: {reason}. The ledger has paid: keep what was printed instead, "
        "which is the whole file."
    )


def check_kept(output: Path | None, *, no_output: bool, as_json: bool, what: str) -> None:
    """Refuse to pay for what neither a file nor the whole of it on stdout will keep."""
    if output is not None and no_output:
        raise WrongUsage("--output and --no-output contradict each other. Leave --no-output out.")
    if output is None and not no_output and not as_json:
        raise WrongUsage(
            f"The {what} would be paid for and not kept. Add --output FILE (-o), or --no-output to print it only."
        )


def is_ledger(file: Path) -> bool:
    """Whether a file is a ledger."""
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return stream.read(len(_SQLITE)) == _SQLITE


def _is_same(one: Path, other: Path) -> bool:
    # By what the names lead to: one may be a link, and neither need be there.
    return os.path.realpath(one) == os.path.realpath(other)
