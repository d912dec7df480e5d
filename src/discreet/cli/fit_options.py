"""The options that `discreet fit` alone has, and what is refused of them by what the source is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import declarations as options
from discreet.cli.declarations import real, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget

SQUARED, LOGISTIC, POISSON = "squared", "logistic", "poisson"
# What belongs to sparse files alone.
_OF_SPARSE = (
    "labels", "columns", "zero_based", "sparsity", "row_norm", "entry_bound", "y_bounds", "selection", "steps",
    "step_size", "clip", "noise", "no_intercept",
)  # fmt: skip

LossOption = Annotated[
    str,
    typer.Option(
        "--loss",
        metavar="squared|logistic|poisson",
        help="logistic: the target is a flag, or a category of two levels whose second is the positive one. "
        "poisson: a count whose bounds begin at 0.",
    ),
]
MethodOption = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="auto|moments|descent|threshold|peel|perturbation|sample",
        help="By which method; auto, the default, chooses from public facts. moments: one noisy Gram matrix.",
    ),
]
RadiusOption = Annotated[
    float | None,
    typer.Option(
        "--radius",
        parser=real,
        metavar="NUMBER",
        help="With --loss logistic and --method moments: the largest |x'w| expected; the best parabola up to it.",
    ),
]
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
        parser=whole,
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
        parser=whole,
        metavar="INTEGER",
        help="With --sparse: at most so many coefficients are not 0.",
    ),
]
RowNormOption = Annotated[
    float | None,
    typer.Option(
        "--row-norm",
        parser=real,
        metavar="NUMBER",
        help="With --sparse: rows are scaled down to this Euclidean norm.",
    ),
]
EntryBoundOption = Annotated[
    float | None,
    typer.Option(
        "--entry-bound",
        parser=real,
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
    typer.Option(
        "--selection",
        metavar="auto|all|threshold|peel|coordinate",
        help="With --sparse: noisy steps of this kind, instead of --method.",
    ),
]
StepsOption = Annotated[
    int | None, typer.Option("--steps", parser=whole, metavar="INTEGER", help="With --sparse: how many steps.")
]
StepSizeOption = Annotated[
    float | None,
    typer.Option("--step-size", parser=real, metavar="NUMBER", help="With --sparse: the length of a step."),
]
ClipOption = Annotated[
    float | None,
    typer.Option("--clip", parser=real, metavar="NUMBER", help="With --sparse: residuals are clipped to this size."),
]
NoiseOption = Annotated[
    str | None,
    typer.Option("--noise", metavar="exact|paper", help="With --sparse: whose noise, of noisy steps."),
]
ExpectedRowsOption = Annotated[
    int | None,
    typer.Option(
        "--expected-rows",
        parser=whole,
        metavar="INTEGER",
        help="With add-remove: a public guess of the number of rows.",
    ),
]
NoInterceptOption = Annotated[bool, typer.Option("--no-intercept", help="With --sparse: a model without intercept.")]


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """What the command line says of a fit; see the help of each option."""

    data: Path | None
    formula: str | None
    schema: Path | None
    bounds: list[str] | None
    levels: list[str] | None
    budget: Budget | None
    adjacency: Adjacency | None
    mechanism: str | None
    method: str | None
    loss: str
    radius: float | None
    ledger: Path | None
    no_ledger: bool
    terms: options.LedgerOptions | None
    report: Path | None
    sparse: Path | None
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

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of methods, as `FitTerms` has them."""
        given = {"n_steps": self.steps}
        names = ("sparsity", "step_size", "clip", "selection", "noise", "mechanism", "radius")
        return given | {name: getattr(self, name) for name in names}

    def first_given(self, names: Sequence[str]) -> str | None:
        """Return how the command line calls the first of some options that was given, None where none was."""
        for name in names:
            if getattr(self, name):
                return name.upper() if name in {"data", "formula"} else f"--{name.replace('_', '-')}"
        return None

    def refuse_sparse_options(self) -> None:
        """Refuse what belongs to sparse files alone."""
        for name in _OF_SPARSE:
            value = getattr(self, name)
            if value is not None and value is not False:
                raise options.WrongUsage(
                    f"--{name.replace('_', '-')} belongs to --sparse FILE. Leave it out, or give --sparse."
                )

    def check_words(self) -> None:
        """Refuse a loss or a method that is none, and a radius of no parabola."""
        from discreet.estimators.methods.choice import LOSSES, METHODS

        if self.loss not in LOSSES:
            raise options.WrongUsage("--loss must be squared or logistic, or poisson for a count.")
        if self.method is not None and self.method not in METHODS:
            raise options.WrongUsage(f"--method must be one of {', '.join(METHODS)}.")
        if self.radius is not None and self.loss != LOGISTIC:
            raise options.WrongUsage(_RADIUS)

    def check_moments(self) -> None:
        """Refuse what belongs to one noisy Gram matrix where another method was asked for."""
        if self.method == "moments":
            return
        if self.radius is not None:
            raise options.WrongUsage(_RADIUS)
        if self.mechanism is not None:
            raise options.WrongUsage(
                "--mechanism is a law of noise, which --method decides: it belongs to --method moments. "
                "Add that, or leave it out."
            )


_RADIUS = "--radius belongs to --loss logistic with --method moments. Add both, or leave it out."
