"""`discreet predict`: a model's predictions for the rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import declarations as options


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model written by `discreet fit -o`.")],
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A CSV or Parquet file with the formula's columns.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the predictions are written (CSV).")],
) -> None:
    """Predict for new rows; an exact function of them, so for their owner only."""
    from discreet import _files
    from discreet.functional.inference import RegressionResult

    options.require_file(data, "data file")
    with _files.OutputFile(output) as file:
        predictions = RegressionResult.load(model).predict(data)
        cells = ("" if value != value else repr(float(value)) for value in predictions)  # noqa: PLR0124  (NaN)
        file.write("\n".join(["prediction", *cells]) + "\n")
