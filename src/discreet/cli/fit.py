"""`discreet fit`: a regression from a private file, or free from a release."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import declarations as options
from discreet.cli import front, numbers
from discreet.cli import report as pages
from discreet.cli import sparse as sparse_options
from discreet.cli.outputs import ForceOption, NoOutputOption, check_kept, check_outputs, keep, open_output
from discreet.cli.payment import NoLedgerOption, check_payment

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.functional.moments import Moments
    from discreet.models.result import RegressionResult
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.tables.schema.schema import Schema

SQUARED, LOGISTIC = "squared", "logistic"


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
    method: front.MethodOption = None,
    loss: Annotated[
        str,
        typer.Option(
            "--loss",
            metavar="squared|logistic|poisson",
            help="logistic: the target is a flag, or a category of two levels whose second is the positive one. "
            "poisson, with --method: a count whose bounds begin at 0.",
        ),
    ] = SQUARED,
    radius: Annotated[
        float | None,
        typer.Option(
            "--radius",
            parser=numbers.real,
            metavar="NUMBER",
            help="With --loss logistic: the largest |x'w| expected; the best parabola up to it.",
        ),
    ] = None,
    ledger: options.LedgerOption = None,
    total_epsilon: options.TotalEpsilonOption = None,
    total_delta: options.TotalDeltaOption = None,
    total_rho: options.TotalRhoOption = None,
    total_mu: options.TotalMuOption = None,
    composition: options.CompositionOption = None,
    no_ledger: NoLedgerOption = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where the model is written (JSON).")] = None,
    no_output: NoOutputOption = False,
    report: pages.ReportOption = None,
    force: ForceOption = False,
    json: options.JsonOption = False,
    sparse: sparse_options.SparseOption = None,
    labels: sparse_options.LabelsOption = None,
    columns: sparse_options.ColumnsOption = None,
    zero_based: sparse_options.ZeroBasedOption = False,
    sparsity: sparse_options.SparsityOption = None,
    row_norm: sparse_options.RowNormOption = None,
    entry_bound: sparse_options.EntryBoundOption = None,
    y_bounds: sparse_options.YBoundsOption = None,
    classes: sparse_options.ClassesOption = None,
    selection: sparse_options.SelectionOption = None,
    steps: sparse_options.StepsOption = None,
    step_size: sparse_options.StepSizeOption = None,
    clip: sparse_options.ClipOption = None,
    noise: sparse_options.NoiseOption = None,
    expected_rows: sparse_options.ExpectedRowsOption = None,
    no_intercept: sparse_options.NoInterceptOption = False,
) -> None:
    """Fit a linear, logistic or Poisson regression with a guarantee."""
    from discreet import _files

    _check_loss(loss, radius, method)
    given = sparse_options.SparseOptions(
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
    common: dict[str, Any] = {
        "loss": loss,
        "budget": options.read_budget(epsilon, delta, rho, mu),
        "adjacency": options.read_adjacency(adjacency),
        "ledger": ledger,
        "total": options.read_terms(total_epsilon, total_delta, total_rho, total_mu, composition),
        "output": output,
        "report": report,
        "force": force,
        "as_json": json,
    }
    is_release = sparse is None and data is not None and _files.kind_of(data) == "moments"

    def check_safe() -> None:
        """Refuse what would be forgotten, lost or written over, before anything is read."""
        if not is_release:
            options.needed(common["budget"])
            check_payment(ledger, no_ledger=no_ledger)
        if not is_release or no_output:
            check_kept(output, no_output=no_output, as_json=json, what="model")
        inputs = [data, sparse, labels, schema, ledger]
        check_outputs({"--output": output, "--report": report}, force=force, inputs=inputs)

    if sparse is not None:
        _refuse_tables(data=data, formula=formula, schema=schema, bounds=bounds, levels=levels, radius=radius)
        _check_noise(mechanism, method)
        check_safe()
        sparse_options.fit_sparse(sparse, given, **common)
        return
    given.refuse_all(but=["classes"] if method is None else ["classes", "expected_rows"])
    if data is None or formula is None:
        missing = "DATA" if data is None else "FORMULA"
        raise options.WrongUsage(
            f"Missing argument '{missing}'. Write discreet fit DATA FORMULA --epsilon 1 --ledger FILE -o FILE."
        )
    if classes is not None:
        levels = [*(levels or ()), options.target_levels(formula, classes, loss)]
    options.require_file(data, "data file")
    if is_release:
        _refuse_declarations(
            data,
            schema=schema,
            bounds=bounds,
            levels=levels,
            adjacency=adjacency,
            # A page may tell of the ledger that paid for the release.
            ledger=None if report is not None else ledger,
            no_ledger=no_ledger,
            mechanism=None if mechanism == "auto" else mechanism,
            method=method,
        )
        check_safe()
        _fit_by_moments(data, formula, None, radius=radius, mechanism=mechanism, **common)
        return
    check_safe()
    declared = options.read_schema(schema, bounds, levels)
    options.check_named(data, declared, bounds, levels)
    if method is None:
        _fit_by_moments(data, formula, declared, radius=radius, mechanism=mechanism, **common)
        return
    if mechanism != "auto":
        raise options.WrongUsage("--mechanism is a law of noise, which --method decides. Leave it out.")
    front.fit_by_method(data, formula, method, schema=declared, expected_rows=expected_rows, **common)


def _fit_by_moments(
    data: Path,
    formula: str,
    schema: Schema | None,
    *,
    loss: str,
    radius: float | None,
    mechanism: str,
    budget: Budget | None,
    adjacency: Adjacency | None,
    ledger: Path | None,
    total: options.Terms | None,
    output: Path | None,
    report: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Fit from one noisy Gram matrix, write and print; from a release where there is no schema."""
    regress = _regression(loss, radius)
    with ExitStack() as stack:
        file, page = (
            None if path is None else stack.enter_context(open_output(path, force=force, name=name))
            for path, name in ((output, "output"), (report, "report"))
        )
        if schema is None:
            moments = _from_release(data, budget, total)
        else:
            from discreet.tables.design import Design

            moments = options.release_table(
                data,
                Design.for_formula(formula, schema, labels=loss == LOGISTIC),
                budget=options.needed(budget),
                adjacency=adjacency,
                ledger=ledger,
                total=total,
                mechanism=mechanism,
                loss=loss,
            )
        result = regress(moments, formula)
        if file is not None:
            keep(file, result.dumps())
        if page is not None:
            pages.write_page(page, result, ledger)
    typer.echo(result.dumps() if as_json else str(result.summary()), nl=not as_json)


def _refuse_tables(**given: object) -> None:
    """Refuse what belongs to tables with named columns."""
    for name, value in given.items():
        if value:
            what = name.upper() if name in {"data", "formula"} else f"--{name}"
            raise options.WrongUsage(
                f"{what} does not belong to --sparse FILE, whose columns have no names. Leave it out."
            )


def _check_noise(mechanism: str, method: str | None) -> None:
    if mechanism != "auto":
        raise options.WrongUsage("--mechanism does not belong to --sparse; use --selection and --noise.")
    if method is not None:
        raise options.WrongUsage("--method does not belong to --sparse, which takes steps; use --selection.")


def _refuse_declarations(release: Path, **given: object) -> None:
    """Refuse for a fit from a release what was declared when it was made, or belongs to spending."""
    for name, value in given.items():
        if value:
            raise options.WrongUsage(
                f"{str(release)!r} is a release already, and a fit from it is free: --{name.replace('_', '-')} belongs "
                "to data. Leave it out, or give the data."
            )


def _check_loss(loss: str, radius: float | None, method: str | None) -> None:
    if loss not in front.LOSSES:
        raise options.WrongUsage("--loss must be squared or logistic, or with --method poisson.")
    if method is None and loss not in {SQUARED, LOGISTIC}:
        raise options.WrongUsage("--loss poisson needs --method, such as --method auto.")
    if radius is not None and (loss != LOGISTIC or method is not None):
        raise options.WrongUsage("--radius belongs to --loss logistic without --method. Leave it out.")


def _regression(loss: str, radius: float | None) -> Callable[[Moments, str], RegressionResult]:
    """Return what answers a formula from moments; a radius that cannot be is refused here, before the charge."""
    if loss == SQUARED:
        return lambda moments, formula: moments.regress(formula)
    from discreet.functional.logit import LogisticObjective

    approximation = "taylor" if radius is None else "minimax"
    return LogisticObjective(approximation=approximation, radius=radius).regress


def _from_release(data: Path, budget: Budget | None, total: options.Terms | None) -> Moments:
    from discreet.functional.moments import Moments

    if budget is not None or total is not None:
        raise options.WrongUsage(f"{str(data)!r} is a release already: a fit from it is free. Leave the budget out.")
    return Moments.load(data)
