"""`discreet sample`: a median, quantiles or principal components of a private file, drawn exactly."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet import _checks
from discreet.cli import declarations as options
from discreet.cli.declarations import real, whole
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

if TYPE_CHECKING:
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.sampling.numeric_rows import NumericTable
    from discreet.sampling.pca.released import FoundComponents
    from discreet.tables.schema.schema import Schema

MEDIAN, QUANTILE, PCA = "median", "quantile", "pca"
# Columns whose part in a component is printed, the largest.
_SHOWN = 8
_POLICIES = ("cool-down", "truncated", "block-restart", "constant", "squeeze", "plain")


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What the command line says, read and checked."""

    data: Path
    columns: list[str]
    schema: Schema
    budget: Budget
    adjacency: Adjacency
    ledger: Path | None
    total: options.LedgerOptions | None


def sample(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A file of records, or a folder of Parquet or CSV files.")
    ],
    what: Annotated[str, typer.Argument(metavar="median|quantile|pca", help="What is drawn.")],
    columns: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COLUMN]...", help="One for a quantile; for pca several, default all but categories."),
    ] = None,
    schema: options.SchemaOption = None,
    bounds: options.BoundsOption = None,
    epsilon: options.EpsilonOption = None,
    delta: options.DeltaOption = None,
    rho: options.RhoOption = None,
    mu: options.MuOption = None,
    adjacency: options.AdjacencyOption = None,
    ledger: options.LedgerOption = None,
    total_epsilon: options.TotalEpsilonOption = None,
    total_delta: options.TotalDeltaOption = None,
    total_rho: options.TotalRhoOption = None,
    total_mu: options.TotalMuOption = None,
    composition: options.CompositionOption = None,
    quantile: Annotated[
        list[str] | None,
        typer.Option("--quantile", metavar="Q", help="Which quantile, such as 0.9 or 3/4; several share the budget."),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            "--step", help="Of a quantile: the answer is the lower bound plus whole steps; 1 for whole numbers."
        ),
    ] = None,
    components: Annotated[
        int | None,
        typer.Option("--components", parser=whole, metavar="INTEGER", help="Of pca: how many; default 1."),
    ] = None,
    row_norm: Annotated[
        float | None,
        typer.Option(
            "--row-norm",
            parser=real,
            metavar="NUMBER",
            help="Of pca: rows are scaled down to this norm; default half the bounds' diagonal.",
        ),
    ] = None,
    scale_to_bounds: Annotated[
        bool, typer.Option("--scale-to-bounds", help="Of pca: measure columns in half-widths of their bounds.")
    ] = False,
    center: Annotated[
        list[str] | None,
        typer.Option("--center", metavar="NAME=VALUE", help="Of pca: a public middle; default that of the bounds."),
    ] = None,
    runtime: Annotated[
        str | None,
        typer.Option("--runtime", metavar="|".join(_POLICIES), help="Of pca: how long to run; default cool-down."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where the draw is written (JSON).")] = None,
    no_ledger: NoLedgerOption = False,
    no_output: NoOutputOption = False,
    force: ForceOption = False,
    json: options.JsonOption = False,
) -> None:
    """Draw a median, quantiles or principal components; how long it takes tells nothing of the rows."""
    of_pca = {
        "--components": components is not None,
        "--row-norm": row_norm is not None,
        "--scale-to-bounds": scale_to_bounds,
        "--center": bool(center),
        "--runtime": runtime is not None,
    }
    _check_usage(what, columns or [], of_pca, {"--quantile": bool(quantile), "--step": step is not None})
    total = options.read_terms(total_epsilon, total_delta, total_rho, total_mu, composition)
    budget = options.needed(options.read_budget(epsilon, delta, rho, mu))
    options.require_file(data, "data file")
    check_payment(ledger, no_ledger=no_ledger)
    # Of components the largest parts alone are printed.
    if what == PCA or no_output:
        check_kept(output, no_output=no_output, as_json=json, what="components")
    check_outputs({"--output": output}, force=force, inputs=[data, schema, ledger])
    declared = options.read_schema(schema, bounds, None)
    options.check_named(data, declared, bounds)
    asked = _Asked(
        data=data,
        columns=columns or [],
        schema=declared,
        budget=budget,
        adjacency=_neighbours(options.read_adjacency(adjacency), declared),
        ledger=ledger,
        total=total,
    )
    with nullcontext() if output is None else open_output(output, force=force) as file:
        if what == PCA:
            chosen = {"n_components": 1 if components is None else components, "row_norm": row_norm}
            text, told = _components(asked, runtime, center or [], scale_to_bounds=scale_to_bounds, **chosen)
        else:
            text, told = _quantiles(asked, ["1/2"] if what == MEDIAN else quantile or [], step)
        if file is not None:
            keep(file, text)
    typer.echo(text if json else told, nl=not json)


def _check_usage(what: str, columns: list[str], of_pca: dict[str, bool], of_quantiles: dict[str, bool]) -> None:
    """Refuse options that do not belong to what is drawn, before anything is read."""
    if what not in {MEDIAN, QUANTILE, PCA}:
        raise options.WrongUsage(f"What is drawn must be {MEDIAN}, {QUANTILE} or {PCA}; found another word.")
    foreign = of_quantiles if what == PCA else of_pca
    for name, is_given in foreign.items():
        if is_given and name == "--runtime":
            raise options.WrongUsage("--runtime belongs to pca; a quantile is drawn with fixed work. Leave it out.")
        if is_given:
            raise options.WrongUsage(f"{name} belongs to {'quantile' if what == PCA else PCA}. Leave it out.")
    if what != PCA and len(columns) != 1:
        raise options.WrongUsage(f"A {what} is of one COLUMN; found {len(columns)}. Name one.")
    if what == MEDIAN and of_quantiles["--quantile"]:
        raise options.WrongUsage("--quantile belongs to quantile; a median is the quantile 1/2. Leave it out.")
    if what == QUANTILE and not of_quantiles["--quantile"]:
        raise options.WrongUsage("A quantile needs --quantile, such as --quantile 0.9.")


def _neighbours(given: Adjacency | None, schema: Schema) -> Adjacency:
    """Return the adjacency that option and schema declare."""
    if given is not None and schema.adjacency not in {None, given}:
        raise options.WrongUsage(f"--adjacency says {given!r}, the schema {schema.adjacency!r}. Make them agree.")
    found = given if given is not None else schema.adjacency
    if found is None:
        raise options.WrongUsage(
            "Say who are neighbours: --adjacency replace (n is public) or add-remove (n is private)."
        )
    return found


def _quantiles(asked: _Asked, numbers: list[str], step: str | None) -> tuple[str, str]:
    """Release quantiles; return their file and what is printed."""
    from discreet.sampling.draw_files import dumps_quantiles
    from discreet.sampling.quantiles.quantile_release import quantile
    from discreet.sampling.quantiles.quantiles import check_quantile

    exact = [check_quantile(number, "--quantile") for number in numbers]
    payer = options.open_ledger(asked.ledger, asked.total, asked.adjacency)
    (column,) = asked.columns
    released = quantile(
        asked.data,
        exact[0] if len(exact) == 1 else exact,
        budget=asked.budget,
        adjacency=asked.adjacency,
        ledger=payer,
        step=step,
        schema=asked.schema,
        column=column,
    )
    values = [float(released.value)] if len(exact) == 1 else [float(value) for value in released.value]
    lines = [f"{_title(q)} of {column}: {value:.10g}" for q, value in zip(exact, values, strict=True)]
    return dumps_quantiles(released, column, exact), "\n".join([*lines, *_guarantee(released)])


def _title(q: Fraction) -> str:
    return "Median" if q == Fraction(1, 2) else f"Quantile {q}"


def _components(asked: _Asked, runtime: str | None, center: list[str], **chosen: Any) -> tuple[str, str]:
    """Release principal components; return their file and what is printed."""
    from discreet.cli.progress import reading
    from discreet.privacy.release import settle_adjacency
    from discreet.sampling.draw_files import dumps_components
    from discreet.sampling.numeric_rows import NumericTable
    from discreet.sampling.pca.released import ComponentTerms, release_components, rows_of_table
    from discreet.tables.readers.tables import open_table

    table = NumericTable.of(asked.data, asked.schema, asked.columns or None)
    terms = ComponentTerms(
        budget=asked.budget,
        adjacency=asked.adjacency,
        center=_center(center, table) if center else None,
        runtime=_policy(runtime),
        **chosen,
    )
    payer = options.open_ledger(asked.ledger, asked.total, asked.adjacency)
    adjacency = settle_adjacency(asked.adjacency, payer, units=False)
    with reading(open_table(asked.data, asked.schema, list(table.names)).size_hint) as progress:
        rows = rows_of_table(table, may_be_empty=not adjacency.size_is_public, progress=progress)
        found = release_components(terms, rows, payer)
    return dumps_components(found), _described(found)


def _center(texts: list[str], table: NumericTable) -> list[float]:
    """Return the middle of the bounds, but where another public middle is given."""
    middle = {name: (low + high) / 2 for name, low, high in zip(table.names, *table.limits, strict=True)}
    given = set()
    for text in texts:
        name, equals, value = text.rpartition("=")
        number = _checks.float_of(value) if equals else None
        if number is None or name not in middle:
            raise options.WrongUsage("--center must read NAME=VALUE, NAME a column of the components.")
        if name in given:
            raise options.WrongUsage(f"--center names {name!r} twice. Leave one of them out.")
        given.add(name)
        middle[name] = number
    return list(middle.values())


def _policy(name: str | None) -> Any:
    from discreet.sampling import policies

    if name is None:
        return None
    classes = (
        policies.CoolDown,
        policies.Truncated,
        policies.BlockRestart,
        policies.ConstantAcceptance,
        policies.Squeeze,
        policies.Plain,
    )
    known = {policy.kind: policy for policy in classes}
    if name not in known:
        raise options.WrongUsage(f"--runtime must be one of {', '.join(_POLICIES)}.")
    return known[name]()


def _described(found: FoundComponents) -> str:
    """Return what is printed of components: the largest parts of each."""
    import numpy as np

    components, lines = found.released.value, []
    for index, component in enumerate(components, start=1):
        lines.append(f"Component {index} of {len(components)}, rows of norm at most {found.grid.row_norm:g}:")
        order = np.argsort(-np.abs(component), kind="stable")[:_SHOWN]
        lines += [f"  {found.shown_names[j]:<20} {component[j]: .4f}" for j in order]
        if component.size > _SHOWN:
            lines.append(f"  and {component.size - _SHOWN} smaller ones")
    return "\n".join([*lines, *_guarantee(found.released)])


def _guarantee(released: Any) -> list[str]:
    lines = [f"Cost: {released.cost!r} under {released.adjacency!r}; {released.label}."]
    return lines + [f"note: {note}" for note in released.notes]
