"""`discreet predict`: a model's predictions for the rows of a table."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import declarations as options
from discreet.cli import fit_options
from discreet.cli.outputs import ForceOption, check_outputs, open_output


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model written by `discreet fit -o`.")],
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="A file or folder with the formula's columns; svmlight or .npz for a sparse model.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the predictions are written (CSV).")],
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COLUMN,...", help="Columns of DATA that are copied beside the predictions."),
    ] = None,
    zero_based: fit_options.ZeroBasedOption = False,
    force: ForceOption = False,
) -> None:
    """Predict for new rows, NA where a needed cell is missing; an exact function of them, so for their owner only."""
    from discreet.cli import predictions
    from discreet.cli.progress import reading
    from discreet.models.result import RegressionResult

    options.require_file(model, "model")
    options.require_file(data, "data file")
    check_outputs({"--output": output}, force=force, inputs=[model, data])
    kept = predictions.kept_names(keep)
    fitted = RegressionResult.load(model)
    of_table = fitted.schema is not None
    if not of_table and kept:
        raise options.WrongUsage("--keep belongs to tables; columns of a sparse file have no names. Leave it out.")
    if of_table and zero_based:
        raise options.WrongUsage("--zero-based belongs to a sparse model and an svmlight file. Leave it out.")
    with open_output(output, force=force) as file, ExitStack() as stack:
        if of_table:
            parts = predictions.predict_table(
                fitted, data, kept, lambda table: stack.enter_context(reading(table.size_hint))
            )
        else:
            parts = predictions.predict_sparse(fitted, data, zero_based=zero_based)
        file.write_parts(parts)
