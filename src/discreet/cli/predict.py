"""`discreet predict`: a model's predictions for the rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import declarations as options
from discreet.cli.outputs import ForceOption, check_outputs, open_output
from discreet.cli.sparse import ZeroBasedOption, predict_sparse

if TYPE_CHECKING:
    from collections.abc import Iterable


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
    zero_based: ZeroBasedOption = False,
    force: ForceOption = False,
) -> None:
    """Predict for new rows, NA where a needed cell is missing; an exact function of them, so for their owner only."""
    from discreet import _files
    from discreet.cli import predictions

    options.require_file(model, "model")
    options.require_file(data, "data file")
    check_outputs({"--output": output}, force=force, inputs=[model, data])
    kept = predictions.kept_names(keep)
    kind = _files.kind_of(model)
    if kind == "sparse-model" and kept:
        raise options.WrongUsage("--keep belongs to tables; columns of a sparse file have no names. Leave it out.")
    if kind != "sparse-model" and zero_based:
        raise options.WrongUsage("--zero-based belongs to a sparse model and an svmlight file. Leave it out.")
    with open_output(output, force=force) as file:
        if kind == "sparse-model":
            head = predictions.lines([predictions.texts([predictions.HEAD])])
            file.write_parts([head, predictions.lines([predict_sparse(model, data, zero_based=zero_based)])])
            return
        _write_table(file, _loaded(model, kind), data, kept)


def _write_table(file: Any, model: Any, data: Path, keep: list[str]) -> None:
    from contextlib import ExitStack

    from discreet.cli.predictions import predict_table
    from discreet.cli.progress import reading

    with ExitStack() as stack:
        parts: Iterable[str] = predict_table(
            model, data, keep, lambda table: stack.enter_context(reading(table.size_hint))
        )
        file.write_parts(parts)


def _loaded(model: Path, kind: str | None) -> Any:
    if kind == "model":
        from discreet.estimators.model_files import load

        return load(model)
    from discreet.models.result import RegressionResult

    return RegressionResult.load(model)
