"""`discreet init`: a schema to fill in, from column names and types."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import declarations as options
from discreet.cli.outputs import ForceOption, check_outputs, open_output


def init(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A file of records, or a folder of Parquet or CSV files.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the schema is written (TOML).")],
    force: ForceOption = False,
) -> None:
    """Draft a schema: column names and types, never values. Bounds and levels are yours to declare."""
    from discreet.tables.schema.drafts import draft_schema

    options.require_file(data, "data file")
    check_outputs({"--output": output}, force=force, inputs=[data])
    with open_output(output, force=force) as file:
        file.write(draft_schema(data))
    typer.echo(f"Wrote {output}. Fill in public bounds and levels, from a codebook and not from the rows.")
