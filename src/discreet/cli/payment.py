"""Who remembers what a command spends: a ledger's file, or nothing by an explicit word."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.declarations import WrongUsage

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
