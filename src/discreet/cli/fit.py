"""`discreet fit`: a regression from a private file, or free from a release."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import declarations as options

if TYPE_CHECKING:
    from discreet.functional.inference import RegressionResult
    from discreet.privacy.budgets import Budget


def fit(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A CSV or Parquet file, or a release made by `discreet release`.")
    ],
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help='Such as "income ~ age + hours".')],
    schema: options.SchemaOption = None,
    bounds: options.BoundsOption = None,
    levels: options.LevelsOption = None,
    epsilon: options.EpsilonOption = None,
    delta: options.DeltaOption = None,
    rho: options.RhoOption = None,
    mu: options.MuOption = None,
    adjacency: options.AdjacencyOption = None,
    mechanism: options.MechanismOption = "auto",
    ledger: options.LedgerOption = None,
    total_epsilon: options.TotalEpsilonOption = None,
    total_delta: options.TotalDeltaOption = None,
    total_rho: options.TotalRhoOption = None,
    total_mu: options.TotalMuOption = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where the model is written (JSON).")] = None,
    json: options.JsonOption = False,
) -> None:
    """Fit a linear regression with a guarantee."""
    from discreet import _files

    options.require_file(data, "data file")
    budget = options.read_budget(epsilon, delta, rho, mu)
    total = options.read_budget(total_epsilon, total_delta, total_rho, total_mu, prefix="total-")
    neighbours = options.read_adjacency(adjacency)
    with _files.OutputFile(output) if output is not None else nullcontext() as file:
        if _files.kind_of(data) == "moments":
            result = _from_release(data, formula, budget, total)
        else:
            from discreet.tables.design import Design

            design = Design.for_formula(formula, options.read_schema(schema, bounds, levels))
            moments = options.release_table(
                data,
                design,
                budget=options.needed(budget),
                adjacency=neighbours,
                ledger=ledger,
                total=total,
                mechanism=mechanism,
            )
            result = moments.regress(formula)
        if file is not None:
            file.write(result.dumps())
    typer.echo(result.dumps() if json else str(result.summary()), nl=not json)


def _from_release(data: Path, formula: str, budget: Budget | None, total: Budget | None) -> RegressionResult:
    from discreet.functional.moments import Moments

    if budget is not None or total is not None:
        raise options.WrongUsage(f"{str(data)!r} is a release already: a fit from it is free. Leave the budget out.")
    return Moments.load(data).regress(formula)
