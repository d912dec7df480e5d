"""`discreet example`: public data to try the other commands on."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.declarations import WrongUsage


def example(
    name: Annotated[str, typer.Argument(metavar="NAME", help='The example: "adult".')],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write it into.")],
) -> None:
    """Write an example: a table, its schema and its attribution."""
    from discreet.examples import adult

    if name != "adult":
        raise WrongUsage('There is one example. Use "adult".')
    if output.exists() and not output.is_dir():
        raise WrongUsage(f"--output must be a folder; {str(output)!r} is a file.")
    output.mkdir(parents=True, exist_ok=True)
    (output / "adult.csv").write_bytes(gzip.decompress(adult.table().read_bytes()))
    (output / "adult.toml").write_bytes(adult.schema().read_bytes())
    (output / "ATTRIBUTION.md").write_bytes(adult.attribution().read_bytes())
    typer.echo(f"Wrote adult.csv, adult.toml and ATTRIBUTION.md into {output}.")
