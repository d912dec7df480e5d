"""`discreet example`: public data to try the other commands on."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.declarations import WrongUsage
from discreet.cli.outputs import ForceOption, check_outputs


def example(
    name: Annotated[str, typer.Argument(metavar="NAME", help='The example: "adult".')],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write it into.")],
    force: ForceOption = False,
) -> None:
    """Write an example: a table, its schema and its attribution."""
    from discreet.examples import adult

    if name != "adult":
        raise WrongUsage('There is one example. Use "adult".')
    if output.exists() and not output.is_dir():
        raise WrongUsage(f"--output must be a folder; {str(output)!r} is a file.")
    files = {
        "adult.csv": gzip.decompress(adult.table().read_bytes()),
        "adult.toml": adult.schema().read_bytes(),
        "ATTRIBUTION.md": adult.attribution().read_bytes(),
    }
    check_outputs({f"--output: {file} in it,": output / file for file in files}, force=force)
    output.mkdir(parents=True, exist_ok=True)
    for file, content in files.items():
        (output / file).write_bytes(content)
    typer.echo(f"Wrote adult.csv, adult.toml and ATTRIBUTION.md into {output}.")
