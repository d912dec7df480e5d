"""`discreet predict`: a model's predictions for the rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import declarations as options
from discreet.cli.sparse import ZeroBasedOption, predict_sparse


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
    zero_based: ZeroBasedOption = False,
) -> None:
    """Predict for new rows; an exact function of them, so for their owner only."""
    from discreet import _files
    from discreet.functional.inference import RegressionResult

    options.require_file(data, "data file")
    with _files.OutputFile(output) as file:
        if _files.kind_of(model) == "model":
            from discreet.cli import front

            file.write("\n".join(front.predict_by_model(model, data)) + "\n")
            return
        if _files.kind_of(model) == "sparse-model":
            file.write("\n".join(predict_sparse(model, data, zero_based=zero_based)) + "\n")
            return
        if zero_based:
            raise options.WrongUsage("--zero-based belongs to a sparse model and an svmlight file.")
        predictions = RegressionResult.load(model).predict(data)
        cells = ("" if value != value else repr(float(value)) for value in predictions)  # noqa: PLR0124  (NaN)
        file.write("\n".join(["prediction", *cells]) + "\n")
