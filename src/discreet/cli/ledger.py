"""`discreet ledger`: what was spent, on what, and what is left."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import declarations as options


def ledger(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The ledger's file.")],
    json: options.JsonOption = False,
) -> None:
    """Show the entries of a ledger, its total and what is left."""
    from discreet.privacy.ledger import Ledger

    options.require_file(file, "ledger")
    book = Ledger.open(file)
    if json:
        typer.echo(json_module.dumps(book.to_json(), indent=1, allow_nan=False))
        return
    typer.echo(f"Total {book.total!r} under {book.adjacency!r}")
    for entry in book.entries:
        when = entry.time.isoformat(timespec="seconds")
        typer.echo(f"{entry.number:4d}  {when}  {entry.event.budget!r}  {entry.event.statistic}")
    typer.echo(f"Spent {book.spent!r}")
    also = "" if book.left_approx is None else f", at most {book.left_approx!r}"
    typer.echo(f"Left  {book.left!r}{also}")
