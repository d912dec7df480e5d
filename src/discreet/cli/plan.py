"""`discreet plan`: how good will a regression be? A forecast from public facts; nothing is read or spent."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import declarations as options


def plan(
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help='Such as "income ~ age + hours".')],
    rows: Annotated[
        int, typer.Option("--rows", help="Number of rows; where it is private, a public guess of it.", min=1)
    ],
    schema: options.SchemaOption = None,
    bounds: options.BoundsOption = None,
    levels: options.LevelsOption = None,
    epsilon: options.EpsilonOption = None,
    delta: options.DeltaOption = None,
    rho: options.RhoOption = None,
    mu: options.MuOption = None,
    adjacency: options.AdjacencyOption = None,
    r_squared: Annotated[
        float | None, typer.Option("--r-squared", help="Assumed share of the variance explained [default: 0.3].")
    ] = None,
    assume: Annotated[
        list[str] | None,
        typer.Option(
            "--assume",
            metavar="NAME=...",
            help="A public assumption: NAME=MEAN,SD of a number, NAME=SHARE of a flag, NAME=SHARE,... of the levels.",
        ),
    ] = None,
    moments: Annotated[
        Path | None, typer.Option("--moments", help="A release to take second moments from, instead of assumptions.")
    ] = None,
    json: options.JsonOption = False,
) -> None:
    """Forecast standard errors for every law of noise; reads no data and spends nothing."""
    from discreet.functional.forecast import forecast
    from discreet.functional.moments import Moments

    budget = options.needed(options.read_budget(epsilon, delta, rho, mu))
    released = None
    if moments is not None:
        options.require_file(moments, "release")
        released = Moments.load(moments)
    declared = bool(schema is not None or bounds or levels)
    outlook = forecast(
        formula,
        options.read_schema(schema, bounds, levels) if declared or released is None else None,
        n_rows=rows,
        budget=budget,
        adjacency=options.read_adjacency(adjacency),
        r_squared=r_squared,
        assume=read_assumptions(assume) if assume else None,
        moments=released,
    )
    typer.echo(json_module.dumps(outlook.to_json(), indent=1, allow_nan=False) if json else str(outlook))


def read_assumptions(texts: list[str]) -> dict[str, list[float]]:
    """Return the numbers of every NAME=NUMBERS option, by name."""
    found = {}
    for text in texts:
        name, equals, values = text.rpartition("=")
        numbers = _numbers(values)
        if not (equals and name and numbers):
            raise options.WrongUsage("--assume must read NAME=NUMBERS. Write for example --assume age=40,12.")
        found[name] = numbers
    return found


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return []
