"""`discreet ledger`: what was spent, on what, what is left, and what all of it means."""

from __future__ import annotations

import json as json_module
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import declarations as options

if TYPE_CHECKING:
    from discreet.privacy.ledger import Ledger

_SO_FAR = "So far (a promise only if the budgets spent were fixed in advance)"


def ledger(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The ledger's file.")],
    json: options.JsonOption = False,
) -> None:
    """Show the entries of a ledger, its total, what is left, and what they mean in plain words."""
    from discreet.privacy.ledger import Ledger

    options.require_file(file, "ledger")
    book = Ledger.open(file)
    if json:
        document = book.to_json() | {"meaning": _meaning(book)}
        typer.echo(json_module.dumps(document, indent=1, allow_nan=False))
        return
    lines = [f"Total {book.total!r} under {book.adjacency!r}"]
    for entry in book.entries:
        when = entry.time.isoformat(timespec="seconds")
        lines.append(f"{entry.number:4d}  {when}  {entry.event.budget!r}  {entry.event.statistic}")
    lines.append(f"Spent {book.spent!r}")
    also = "" if book.left_approx is None else f", at most {book.left_approx!r}"
    alone = "" if book.left_pure is None else f"; for pure releases alone {book.left_pure!r}"
    lines += [f"Left  {book.left!r}{also}{alone}", ""]
    for title, part in zip(("Promise (whatever is still charged)", _SO_FAR), _meaning(book).values(), strict=True):
        told = ", ".join(_epsilon_text(row) for row in part["epsilons"])
        lines += [f"{title}:", f"  {told}", f"  {part['reading']}"]
    typer.echo("\n".join(lines))


def _meaning(book: Ledger) -> dict[str, Any]:
    """Return the total and what was spent, as (epsilon, delta) and in words; infinity is null."""
    from discreet.privacy.reading import caught, epsilons, reading

    parts = {}
    for of in ("total", "spent"):
        curve, adjacency = book.tradeoff(of=of), book.adjacency
        assert curve is not None  # noqa: S101  (a file always has a total)
        assert adjacency is not None  # noqa: S101
        rows = [
            {"delta": str(delta), "epsilon": epsilon if math.isfinite(epsilon) else None}
            for delta, epsilon in epsilons(curve)
        ]
        parts[of] = {"epsilons": rows, "percent_caught": caught(curve), "reading": reading(curve, adjacency)}
    return parts


def _epsilon_text(row: dict[str, Any]) -> str:
    place = f"delta {1 / int(row['delta'].split('/')[1]):.0e}".replace("e-0", "e-")
    return f"no finite epsilon at {place}" if row["epsilon"] is None else f"epsilon {row['epsilon']:g} at {place}"
