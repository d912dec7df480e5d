"""`discreet release`: one noisy Gram matrix that answers every regression among its terms."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import declarations as options
from discreet.cli.outputs import (
    ForceOption,
    NoLedgerOption,
    check_outputs,
    check_payment,
    keep,
    open_output,
)


def release(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A file of records, or a folder of Parquet or CSV files.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the release is written (JSON).")],
    schema: options.SchemaOption = None,
    bounds: options.BoundsOption = None,
    levels: options.LevelsOption = None,
    terms: Annotated[
        str | None, typer.Option("--terms", help='Such as "income + age + C(education)"; default: all columns.')
    ] = None,
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
    composition: options.CompositionOption = None,
    no_ledger: NoLedgerOption = False,
    force: ForceOption = False,
    json: options.JsonOption = False,
) -> None:
    """Release the moments of a table once; every regression from them is free."""
    from discreet.cli.progress import reading
    from discreet.functional.moments import release_design
    from discreet.tables.design import Design
    from discreet.tables.readers.tables import open_rows

    options.require_file(data, "data file")
    budget = options.needed(options.read_budget(epsilon, delta, rho, mu))
    total = options.read_terms(total_epsilon, total_delta, total_rho, total_mu, composition)
    neighbours = options.read_adjacency(adjacency)
    check_payment(ledger, no_ledger=no_ledger)
    check_outputs({"--output": output}, force=force, inputs=[data, schema, ledger])
    with open_output(output, force=force) as file:
        declared = options.read_schema(schema, bounds, levels)
        options.check_named(data, declared, bounds, levels)
        design = Design.for_terms(terms, declared)
        table = open_rows(data, design.schema, design.columns_needed)
        said = options.of_unit(neighbours, design.schema)
        payer = options.open_ledger(ledger, total, said if said is not None else design.schema.adjacency)
        with reading(table.size_hint) as progress:
            moments = release_design(
                table,
                design,
                budget=budget,
                ledger=payer,
                adjacency=said,
                mechanism=mechanism,
                progress=progress,
            )
        text = moments.dumps()
        keep(file, text)
    if json:
        typer.echo(text, nl=False)
        return
    typer.echo(f"Released the moments of {', '.join(moments.names)}.")
    typer.echo(f"Cost: {moments.cost!r} under {moments.release.adjacency!r}; {moments.release.label}.")
    for note in moments.release.notes:
        typer.echo(f"Note: {note}.")
    typer.echo(f'Next, free: discreet fit {output} "{moments.names[0]} ~ ..."')
