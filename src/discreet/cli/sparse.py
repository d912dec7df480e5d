"""`discreet fit --sparse`: a sparse regression from an svmlight or .npz file."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import declarations as options
from discreet.cli import numbers
from discreet.cli.outputs import keep, open_output
from discreet.cli.report import write_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.lattice.bounds import Interval
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget

LOGISTIC = "logistic"
# Of the coefficients so many are printed, the largest.
_SHOWN = 10

SparseOption = Annotated[
    Path | None,
    typer.Option("--sparse", metavar="FILE", help="An svmlight or .npz file, instead of DATA and FORMULA."),
]
LabelsOption = Annotated[
    Path | None,
    typer.Option("--labels", help="With --sparse: where an .npz has no y, an .npy or a text with one label a line."),
]
ColumnsOption = Annotated[
    int | None,
    typer.Option(
        "--columns",
        parser=numbers.whole,
        metavar="INTEGER",
        help="With --sparse: how many columns an svmlight file has, a public number.",
    ),
]
ZeroBasedOption = Annotated[
    bool, typer.Option("--zero-based", help="The svmlight file counts its columns from 0, not from 1.")
]
SparsityOption = Annotated[
    int | None,
    typer.Option(
        "--sparsity",
        parser=numbers.whole,
        metavar="INTEGER",
        help="With --sparse: at most so many coefficients are not 0.",
    ),
]
RowNormOption = Annotated[
    float | None,
    typer.Option(
        "--row-norm",
        parser=numbers.real,
        metavar="NUMBER",
        help="With --sparse: rows are scaled down to this Euclidean norm.",
    ),
]
EntryBoundOption = Annotated[
    float | None,
    typer.Option(
        "--entry-bound",
        parser=numbers.real,
        metavar="NUMBER",
        help="With --sparse: entries of rows are clipped to this size.",
    ),
]
YBoundsOption = Annotated[
    str | None, typer.Option("--y-bounds", metavar="LOW,HIGH", help="With --sparse: public bounds of the target.")
]
ClassesOption = Annotated[
    str | None,
    typer.Option("--classes", metavar="A,B", help="With --loss logistic: the labels, the positive last."),
]
SelectionOption = Annotated[
    str | None,
    typer.Option("--selection", metavar="auto|all|threshold|peel|coordinate", help="With --sparse: the kind of step."),
]
StepsOption = Annotated[
    int | None, typer.Option("--steps", parser=numbers.whole, metavar="INTEGER", help="With --sparse: how many steps.")
]
StepSizeOption = Annotated[
    float | None,
    typer.Option("--step-size", parser=numbers.real, metavar="NUMBER", help="With --sparse: the length of a step."),
]
ClipOption = Annotated[
    float | None,
    typer.Option(
        "--clip", parser=numbers.real, metavar="NUMBER", help="With --sparse: residuals are clipped to this size."
    ),
]
NoiseOption = Annotated[str | None, typer.Option("--noise", metavar="exact|paper", help="With --sparse: whose noise.")]
ExpectedRowsOption = Annotated[
    int | None,
    typer.Option(
        "--expected-rows",
        parser=numbers.whole,
        metavar="INTEGER",
        help="With --sparse and add-remove: a public guess of the number of rows.",
    ),
]
NoInterceptOption = Annotated[bool, typer.Option("--no-intercept", help="With --sparse: a model without intercept.")]


@dataclass(frozen=True, kw_only=True)
class SparseOptions:
    """What belongs to --sparse and to nothing else."""

    labels: Path | None
    columns: int | None
    zero_based: bool
    sparsity: int | None
    row_norm: float | None
    entry_bound: float | None
    y_bounds: str | None
    classes: str | None
    selection: str | None
    steps: int | None
    step_size: float | None
    clip: float | None
    noise: str | None
    expected_rows: int | None
    no_intercept: bool

    def refuse_all(self, *, but: Sequence[str] = ()) -> None:
        """Refuse what is given without --sparse, `but` for options that have another use."""
        for name, value in vars(self).items():
            if name not in but and value is not None and value is not False:
                raise options.WrongUsage(
                    f"--{name.replace('_', '-')} belongs to --sparse FILE. Leave it out, or give --sparse."
                )


def fit_sparse(
    path: Path,
    given: SparseOptions,
    *,
    loss: str,
    budget: Budget | None,
    adjacency: Adjacency | None,
    ledger: Path | None,
    total: options.Terms | None,
    output: Path | None,
    report: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Fit, write and print; everything that can be refused is refused before a ledger is charged."""
    from discreet.cli.progress import stepping
    from discreet.estimators import sparse_files as model_files
    from discreet.tables.readers.sparse_files import is_sparse_file, read_sparse

    promised = options.needed(budget)
    if adjacency is None:
        raise options.WrongUsage('--sparse needs --adjacency, "replace" (n is public) or "add-remove" (n is private).')
    if given.row_norm is None:
        raise options.WrongUsage("--sparse needs --row-norm, the norm to which every row is scaled down.")
    if loss == LOGISTIC and given.classes is None:
        raise options.WrongUsage(
            "--loss logistic needs --classes, the labels, which are public and never read from the rows. "
            "Write for example --classes=-1,1."
        )
    options.require_file(path, "data file")
    if given.columns is None and is_sparse_file(path) and path.suffix.lower() != ".npz":
        raise options.WrongUsage(
            "An svmlight file does not say how many columns there are, and its largest column number is private: "
            "give the public number, --columns."
        )
    with ExitStack() as stack:
        file, page = (
            None if place is None else stack.enter_context(open_output(place, force=force, name=name))
            for place, name in ((output, "output"), (report, "report"))
        )
        table = read_sparse(path, n_columns=given.columns, zero_based=given.zero_based, labels=given.labels)
        if table.private_y is None:
            raise options.WrongUsage(f"{str(path)!r} has no labels: give --labels FILE.")
        model, target = _model(given, loss, table.private_y, promised, adjacency)
        payer = options.open_ledger(ledger, total, adjacency)
        with stepping() as progress:
            model.fit_with_progress(table.private_X, target, ledger=payer, progress=progress)
        text = model_files.dumps(model)
        if file is not None:
            keep(file, text)
        if page is not None:
            write_page(page, model, ledger)
    typer.echo(text if as_json else describe(model), nl=not as_json)


def _model(given: SparseOptions, loss: str, y: Any, budget: Budget, adjacency: Adjacency) -> tuple[Any, Any]:
    """Return the estimator that the options declare, and the target in its kind."""
    from discreet.estimators.sparse import SparseLinearRegression, SparseLogisticRegression

    declared: dict[str, Any] = {
        "budget": budget,
        "sparsity": given.sparsity,
        "row_norm": given.row_norm,
        "adjacency": adjacency,
        "entry_bound": given.entry_bound,
        "selection": "auto" if given.selection is None else given.selection,
        "n_steps": given.steps,
        "step_size": given.step_size,
        "clip": given.clip,
        "noise": given.noise,
        "expected_rows": given.expected_rows,
        "fit_intercept": not given.no_intercept,
    }
    if loss == LOGISTIC:
        if given.y_bounds is not None:
            raise options.WrongUsage("--y-bounds belongs to --loss squared. Leave it out: labels have --classes.")
        classes = _classes(str(given.classes), numeric=y.dtype.kind in "fiub")
        return SparseLogisticRegression(classes=classes, **declared), y
    if given.classes is not None:
        raise options.WrongUsage("--classes belongs to --loss logistic. Leave it out: a number has --y-bounds.")
    if given.y_bounds is None:
        raise options.WrongUsage("--loss squared needs --y-bounds LOW,HIGH, the public range of the target.")
    return SparseLinearRegression(y_bounds=_interval(given.y_bounds), **declared), y


def _classes(text: str, *, numeric: bool) -> list[Any]:
    labels = [label.strip() for label in options.listed(text)]
    if not numeric:
        return labels
    found = numbers.reals(text)
    if found:
        return found
    raise options.WrongUsage("--classes must be numbers, as the file's labels are. Write for example --classes=-1,1.")


def _interval(text: str) -> Interval:
    from discreet.lattice.bounds import Interval

    found = numbers.reals(text)
    if len(found) == 2 and found[0] < found[1]:
        return Interval(*found)
    raise options.WrongUsage("--y-bounds needs two numbers, the lower first. Write for example --y-bounds=0,10.")


def describe(model: Any) -> str:
    """Return what is printed of a fitted model: its guarantee, its settings and its largest coefficients."""
    import numpy as np

    released = model.release_
    coefs, intercepts = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    how = f"selection {model.selection_}, {model.n_steps_} steps of {model.step_size_:g}"
    lines = [
        type(model).__name__,
        f"guarantee     {released.cost!r} under {released.adjacency!r}; {released.label}",
        f"release       {released.event.statistic}",
        f"settings      {how}, residuals clipped to {model.clip_:g}",
    ]
    classes = getattr(model, "classes_", np.array([None]))
    titles = [f"class {label}: " for label in classes] if len(coefs) > 1 else [""]
    for title, coef, intercept in zip(titles, coefs, intercepts, strict=True):
        order = np.argsort(-np.abs(coef), kind="stable")[: min(_SHOWN, np.count_nonzero(coef))]
        lines.append(
            f"{title}{np.count_nonzero(coef)} of {coef.size} coefficients are not 0; intercept {intercept:.6g}"
        )
        lines += [f"  x{column:<12} {coef[column]: .6g}" for column in order]
    lines += [f"note: {note}" for note in released.notes]
    return "\n".join(lines)


def predict_sparse(model_path: Path, data: Path, *, zero_based: bool) -> Any:
    """Return the predictions of a saved sparse model for a file, as an Arrow array.

    Numbers of a linear model; of two classes the probability of the second, of more the label.
    """
    from discreet.cli.predictions import numbers, texts
    from discreet.estimators import sparse_files as model_files
    from discreet.estimators.descent_classifier import DescentClassifier
    from discreet.tables.readers.sparse_files import read_sparse

    model = model_files.load(model_path)
    n_columns = None if data.suffix.lower() == ".npz" else model.n_features_in_
    X = read_sparse(data, n_columns=n_columns, zero_based=zero_based).private_X
    if not isinstance(model, DescentClassifier):
        return numbers(model.predict(X))
    if model.classes_.size == 2:
        return numbers(model.predict_proba(X)[:, 1])
    return texts(model.predict(X).tolist())
