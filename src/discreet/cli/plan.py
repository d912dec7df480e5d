"""`discreet plan`: how good will a regression be? A forecast from public facts; nothing is read or spent."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import declarations as options
from discreet.cli.declarations import count, real, reals
from discreet.cli.outputs import ForceOption, check_outputs, open_output

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.estimators.methods.forecasts import Comparison
    from discreet.functional.forecast import Forecast
    from discreet.privacy.budgets import Budget
    from discreet.tables.schema.schema import Schema

# By which the budget and the number of rows are multiplied on the planning page.
_FACTORS = ("1/10", "1/5", "1/2", 1, 2, 5, 10)


def plan(
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help='Such as "income ~ age + hours".')],
    rows: Annotated[
        int,
        typer.Option(
            "--rows",
            parser=count,
            metavar="INTEGER",
            help="Number of rows; where it is private, a public guess of it.",
        ),
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
        float | None,
        typer.Option(
            "--r-squared",
            parser=real,
            metavar="NUMBER",
            help="Assumed share of the variance explained [default: 0.3].",
        ),
    ] = None,
    assume: Annotated[
        list[str] | None,
        typer.Option(
            "--assume",
            metavar="NAME=...",
            help="A public assumption: NAME=MEAN,SD of a number, NAME=SHARE of a flag, NAME=SHARE,... of the levels.",
        ),
    ] = None,
    loss: Annotated[
        str,
        typer.Option("--loss", metavar="squared|logistic|poisson", help="Other than squared: methods alone."),
    ] = "squared",
    moments: Annotated[
        Path | None, typer.Option("--moments", help="A release to take second moments from, instead of assumptions.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Where a page of forecasts against budget and rows is written (HTML)."),
    ] = None,
    force: ForceOption = False,
    json: options.JsonOption = False,
) -> None:
    """Forecast standard errors for every law of noise, and compare methods; reads no data and spends nothing."""
    from discreet.functional.forecast import forecast
    from discreet.functional.moments import Moments
    from discreet.tables.units import refuse_unit

    budget = options.needed(options.read_budget(epsilon, delta, rho, mu))
    check_outputs({"--report": report}, force=force, inputs=[schema, moments])
    released = None
    if moments is not None:
        options.require_file(moments, "release")
        released = Moments.load(moments)
    declared = bool(schema is not None or bounds or levels)
    facts = options.read_schema(schema, bounds, levels) if declared or released is None else None
    options.check_used(formula, facts, schema, bounds, levels, labels=loss == "logistic")
    given: dict[str, Any] = {
        "adjacency": options.of_unit(options.read_adjacency(adjacency), facts),
        "r_squared": r_squared,
        "assume": read_assumptions(assume) if assume else None,
        "moments": released,
    }

    def forecast_at(budget: Budget, n_rows: int) -> Forecast:
        return forecast(formula, facts, n_rows=n_rows, budget=budget, **given)

    comparison = None
    # Only the functional mechanism protects units of several rows.
    if loss != "squared" and facts is not None:
        refuse_unit(facts, f"--loss {loss}")
    if released is None and facts is not None and facts.unit is None:
        comparison = _comparison(formula, facts, loss, budget, rows, given)
    if loss != "squared":
        if comparison is None or report is not None:
            raise options.WrongUsage("--moments and --report belong to --loss squared. Leave them out.")
        typer.echo(json_module.dumps(comparison.to_json(), indent=1, allow_nan=False) if json else str(comparison))
        return
    outlook = forecast_at(budget, rows)
    if report is not None:
        write_page(report, outlook, forecast_at, force=force)
    if json:
        methods = {} if comparison is None else {"methods": comparison.to_json()}
        typer.echo(json_module.dumps(outlook.to_json() | methods, indent=1, allow_nan=False))
        return
    typer.echo(str(outlook))
    if comparison is not None:
        typer.echo(f"\n{comparison}")


def _comparison(
    formula: str, schema: Schema, loss: str, budget: Budget, rows: int, given: dict[str, Any]
) -> Comparison:
    """Return what every method of the front door is expected to do."""
    from discreet.estimators.methods.choice import LOSSES
    from discreet.estimators.methods.forecasts import compare_methods

    if loss not in LOSSES:
        raise options.WrongUsage(f"--loss must be one of {', '.join(LOSSES)}.")
    public = {name: given[name] for name in ("adjacency", "r_squared", "assume")}
    return compare_methods(formula, schema, loss=loss, n_rows=rows, budget=budget, **public)


def write_page(
    path: Path, outlook: Forecast, forecast_at: Callable[[Budget, int], Forecast], *, force: bool = False
) -> None:
    """Write the page of a forecast, with others at more and at fewer rows and at larger and smaller budgets."""
    from fractions import Fraction

    from discreet.report.planning import planning_html

    factors = [Fraction(factor) for factor in _FACTORS]
    with open_output(path, force=force, name="report") as file:
        budgets = [scaled(outlook.budget, factor) for factor in factors]
        by_budget = [forecast_at(budget, outlook.n_rows) for budget, _ in budgets]
        axis = f"{type(outlook.budget).__name__} {budgets[0][1][0]}"
        rows = sorted({max(1, round(outlook.n_rows * factor)) for factor in factors})
        by_rows = [forecast_at(outlook.budget, n_rows) for n_rows in rows]
        file.write(
            planning_html(
                f"Plan: {outlook.formula}",
                str(outlook),
                [
                    _over(axis, [number for _, (_, number) in budgets], by_budget),
                    _over("rows", [float(n_rows) for n_rows in rows], by_rows),
                ],
            )
        )


def scaled(budget: Budget, factor: Any) -> tuple[Budget, tuple[str, float]]:
    """Return a budget whose noise is `factor` times smaller, and its name and number on an axis."""
    from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp

    if isinstance(budget, Pure):
        larger: Budget = Pure(epsilon=budget.epsilon * factor)
    elif isinstance(budget, Approx):
        larger = Approx(epsilon=budget.epsilon * factor, delta=budget.delta)
    elif isinstance(budget, Zcdp):
        return Zcdp(rho=budget.rho * factor**2), ("rho", float(budget.rho * factor**2))
    else:
        assert isinstance(budget, Gdp)  # noqa: S101  (the four kinds of budgets)
        return Gdp.from_squared(budget.mu_squared * factor**2), ("mu", float(budget.mu * factor))
    return larger, ("epsilon", float(budget.epsilon * factor))


def _over(axis: str, at: list[float], forecasts: list[Forecast]) -> Any:
    from discreet.report.planning import Outlook

    best = [found.best for found in forecasts]
    shares = [max((one.noise_parts[name] / size) ** 2 for name, size in one.standard_errors.items()) for one in best]
    return Outlook(
        axis=axis,
        at=at,
        standard_errors={name: [one.standard_errors[name] for one in best] for name in best[0].standard_errors},
        noise_shares=shares,
        valid=[one.offered for one in best],
    )


def read_assumptions(texts: list[str]) -> dict[str, list[float]]:
    """Return the numbers of every NAME=NUMBERS option, by name."""
    found = {}
    for text in texts:
        name, equals, values = text.rpartition("=")
        found_numbers = reals(values)
        if not (equals and name and found_numbers):
            raise options.WrongUsage("--assume must read NAME=NUMBERS. Write for example --assume age=40,12.")
        if name in found:
            raise options.WrongUsage(f"--assume names {name!r} twice. Leave one of them out.")
        found[name] = found_numbers
    return found
