"""`discreet check`: the data owner's look at a file beside its schema; not private."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import declarations as options

if TYPE_CHECKING:
    from discreet.tables.schema.inspection import ColumnCounts

_WARNING = "NOT PRIVATE: exact counts of private cells, for the data owner's eyes. Publish none of them."
_LEGEND = (
    "blank: empty or null. unread: not blank, but no number, date or flag as declared, or an undeclared level.",
    "Both are missing and follow the column's policy. below, above: clipped to the bounds.",
    "Do not move bounds after these counts: bounds come from a codebook or the law, never from the rows.",
)


def check(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A file of records, or a folder of Parquet or CSV files.")
    ],
    schema: options.SchemaOption = None,
    bounds: options.BoundsOption = None,
    levels: options.LevelsOption = None,
    private_output_ok: Annotated[
        bool,
        typer.Option(
            "--private-output-ok", help="Print although the output is a pipe or a file: it will be kept safe."
        ),
    ] = False,
) -> None:
    """Count clipped, missing and undeclared cells, for the data owner alone: nothing of it is private."""
    from discreet.tables.schema.inspection import count_cells

    if not private_output_ok and not sys.stdout.isatty():
        raise options.WrongUsage(
            "`discreet check` prints exact private counts, and its output is no terminal. "
            "Run it in a terminal, or say --private-output-ok."
        )
    options.require_file(data, "data file")
    declared = options.read_schema(schema, bounds, levels)
    options.check_named(data, declared, bounds, levels)
    lines = [_WARNING, "", _row("column", "cells", "blank", "unread", "below", "above", "")]
    lines += [_line(counts) for counts in count_cells(data, declared)]
    typer.echo("\n".join([*lines, "", *_LEGEND]))


def _line(counts: ColumnCounts) -> str:
    numbers = (counts.n_cells, counts.n_blank, counts.n_unread, counts.n_below, counts.n_above)
    unused = f"never seen: {', '.join(map(repr, sorted(counts.unused)))}" if counts.unused else ""
    return _row(counts.name, *(f"{number:,}" for number in numbers), unused)


def _row(name: str, *cells: str) -> str:
    return f"{name:24.24s}" + "".join(f"{cell:>12s}" for cell in cells[:-1]) + (f"  {cells[-1]}" if cells[-1] else "")
