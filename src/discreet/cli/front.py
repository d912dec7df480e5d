"""`discreet fit --method` and what `discreet plan` says of methods: the front door on a table."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import declarations as options
from discreet.cli.outputs import keep, open_output
from discreet.cli.report import write_page

if TYPE_CHECKING:
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.tables.schema.schema import Schema

LOSSES = ("squared", "logistic", "poisson")

MethodOption = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="auto|moments|descent|threshold|peel|perturbation|sample",
        help="By which method; auto chooses from public facts. Without it: one noisy Gram matrix, with intervals.",
    ),
]


def fit_by_method(
    data: Path,
    formula: str,
    method: str,
    *,
    loss: str,
    schema: Schema,
    budget: Budget | None,
    adjacency: Adjacency | None,
    expected_rows: int | None,
    ledger: Path | None,
    total: options.Terms | None,
    output: Path | None,
    report: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Fit, write and print; everything that can be refused is refused before a ledger is charged."""
    from discreet.estimators.methods.choice import METHODS

    promised = options.needed(budget)
    if method not in METHODS:
        raise options.WrongUsage(f"--method must be one of {', '.join(METHODS)}.")
    neighbours = adjacency if adjacency is not None else schema.adjacency
    if neighbours is None:
        raise options.WrongUsage(
            "Say who are neighbours: --adjacency replace (n is public) or add-remove (n is private)."
        )
    with ExitStack() as stack:
        file, page = (
            None if place is None else stack.enter_context(open_output(place, force=force, name=name))
            for place, name in ((output, "output"), (report, "report"))
        )
        model = _ESTIMATORS[loss](
            budget=promised, adjacency=neighbours, schema=schema, method=method, expected_rows=expected_rows
        )
        payer = options.open_ledger(ledger, total, neighbours)
        model.fit_table(data, formula, ledger=payer)
        text = model.dumps()
        if file is not None:
            keep(file, text)
        if page is not None:
            write_page(page, model, ledger)
    typer.echo(text if as_json else str(model.result()), nl=not as_json)


def _estimator(name: str) -> Any:
    """Return a constructor of the front door, imported when it is called."""

    def make(**declared: Any) -> Any:
        from discreet.estimators import models

        return getattr(models, name)(**declared)

    return make


_ESTIMATORS = {
    "squared": _estimator("LinearRegression"),
    "logistic": _estimator("LogisticRegression"),
    "poisson": _estimator("PoissonRegression"),
}


def show_model(file: Path) -> str:
    """Return what a front-door model's file says."""
    from discreet.estimators.model_files import load

    found: Any = load(file)
    return str(found.result())
