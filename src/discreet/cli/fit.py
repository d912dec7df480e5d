"""`discreet fit`: a regression from a private file, or free from a release."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import declarations as options
from discreet.cli import fit_options as own
from discreet.cli.fit_sources import source_of
from discreet.cli.outputs import (
    ForceOption,
    NoLedgerOption,
    NoOutputOption,
    check_kept,
    check_outputs,
    check_payment,
    keep,
    open_output,
)
from discreet.cli.report import ReportOption, write_page
from discreet.cli.show import model_text


def fit(
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA", help="A file of records, a folder of such files, or a release made by `discreet release`."
        ),
    ] = None,
    formula: Annotated[str | None, typer.Argument(metavar="FORMULA", help='Such as "income ~ age + hours".')] = None,
    schema: options.SchemaOption = None,
    bounds: options.BoundsOption = None,
    levels: options.LevelsOption = None,
    epsilon: options.EpsilonOption = None,
    delta: options.DeltaOption = None,
    rho: options.RhoOption = None,
    mu: options.MuOption = None,
    adjacency: options.AdjacencyOption = None,
    mechanism: options.MechanismOption = "auto",
    method: own.MethodOption = None,
    loss: own.LossOption = own.SQUARED,
    radius: own.RadiusOption = None,
    ledger: options.LedgerOption = None,
    total_epsilon: options.TotalEpsilonOption = None,
    total_delta: options.TotalDeltaOption = None,
    total_rho: options.TotalRhoOption = None,
    total_mu: options.TotalMuOption = None,
    composition: options.CompositionOption = None,
    no_ledger: NoLedgerOption = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where the model is written (JSON).")] = None,
    no_output: NoOutputOption = False,
    report: ReportOption = None,
    force: ForceOption = False,
    json: options.JsonOption = False,
    sparse: own.SparseOption = None,
    labels: own.LabelsOption = None,
    columns: own.ColumnsOption = None,
    zero_based: own.ZeroBasedOption = False,
    sparsity: own.SparsityOption = None,
    row_norm: own.RowNormOption = None,
    entry_bound: own.EntryBoundOption = None,
    y_bounds: own.YBoundsOption = None,
    classes: own.ClassesOption = None,
    selection: own.SelectionOption = None,
    steps: own.StepsOption = None,
    step_size: own.StepSizeOption = None,
    clip: own.ClipOption = None,
    noise: own.NoiseOption = None,
    expected_rows: own.ExpectedRowsOption = None,
    no_intercept: own.NoInterceptOption = False,
) -> None:
    """Fit a linear, logistic or Poisson regression with a guarantee."""
    given = own.FitOptions(
        data=data,
        formula=formula,
        schema=schema,
        bounds=bounds,
        levels=levels,
        budget=options.read_budget(epsilon, delta, rho, mu),
        adjacency=options.read_adjacency(adjacency),
        mechanism=None if mechanism == "auto" else mechanism,
        method=method,
        loss=loss,
        radius=radius,
        ledger=ledger,
        no_ledger=no_ledger,
        terms=options.read_terms(total_epsilon, total_delta, total_rho, total_mu, composition),
        report=report,
        sparse=sparse,
        labels=labels,
        columns=columns,
        zero_based=zero_based,
        sparsity=sparsity,
        row_norm=row_norm,
        entry_bound=entry_bound,
        y_bounds=y_bounds,
        classes=classes,
        selection=selection,
        steps=steps,
        step_size=step_size,
        clip=clip,
        noise=noise,
        expected_rows=expected_rows,
        no_intercept=no_intercept,
    )
    given.check_words()
    source = source_of(given)
    source.check()
    # What would be forgotten, lost or written over is refused before anything is read.
    if not source.is_free:
        options.needed(given.budget)
        check_payment(ledger, no_ledger=no_ledger)
    if not source.is_free or no_output:
        check_kept(output, no_output=no_output, as_json=json, what="model")
    check_outputs({"--output": output, "--report": report}, force=force, inputs=source.inputs)
    source.prepare()
    with ExitStack() as stack:
        file, page = (
            None if path is None else stack.enter_context(open_output(path, force=force, name=name))
            for path, name in ((output, "output"), (report, "report"))
        )
        result = source.fit()
        text = result.dumps()
        if file is not None:
            keep(file, text)
        if page is not None:
            write_page(page, result, ledger)
    typer.echo(text if json else model_text(result), nl=not json)
