"""Rows for the methods that bound a row by its norm: perturbation, thresholded and peeled steps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.descent.blas_threads import one_thread
from discreet.descent.one_model_a_class import PrivateTable, plan_models
from discreet.descent.preconditioned.gridded_rows import gridded
from discreet.descent.preconditioned.whitening import feature_norm_squared
from discreet.estimators.methods.declared import BoundedRows, NormedRows
from discreet.estimators.perturbed import PerturbedLogisticRegression
from discreet.estimators.sparse import SparseLinearRegression, SparseLogisticRegression

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.descent.one_model_a_class import ModelPlan, ModelsPlan
    from discreet.descent.rows import IntegerRows
    from discreet.estimators.methods.declared import Declared
    from discreet.estimators.descent_base import Facts
    from discreet.lattice.grid import Layout
    from discreet.lattice.row_grid import RowGrid


class _LinearSteps(SparseLinearRegression):
    """Plans steps of the squared loss."""

    def plan(self, facts: Facts, *, shorten_steps: bool = False) -> ModelPlan:
        """Return the plan of one model."""
        return self._plan(facts, shorten_steps=shorten_steps)


class _CountSteps(_LinearSteps):
    """Plans steps of the Poisson loss."""

    _loss: ClassVar[str] = "poisson"


class _LogisticSteps(SparseLogisticRegression):
    """Plans steps of the logistic loss."""

    def plan(self, facts: Facts, *, shorten_steps: bool = False) -> ModelPlan:
        """Return the plan of one model."""
        return self._plan(facts, shorten_steps=shorten_steps)


class _Perturbed(PerturbedLogisticRegression):
    """Plans objective or output perturbation."""

    def plan(self, facts: Facts) -> ModelPlan:
        """Return the plan of one model."""
        return self._plan(facts)


_STEPS = {"squared": _LinearSteps, "logistic": _LogisticSteps, "poisson": _CountSteps}


def plan_coded(
    method: str, loss: str, facts: Facts, *, declared: dict[str, Any], given: dict[str, Any], dense: bool = False
) -> ModelsPlan:
    """Return the plan of all models of a fit by one of the methods that bound rows by a norm.

    Parameters
    ----------
    method : {"perturbation", "threshold", "peel", "steps"}
        "steps" are noisy steps of all columns.
    loss : {"squared", "logistic", "poisson"}
        What is minimized.
    facts : Facts
        What is public.
    declared : dict
        `budget`, `adjacency`, `row_norm`, `fit_intercept`.
    given : dict
        `sparsity`, `entry_bound`, `n_steps`, `step_size`, `clip` where they were given; None elsewhere.
    dense : bool, default False
        Whether rows are stored with their zeros: thresholded and peeled steps are then shortened where what they
        released tells that columns are too much alike for them.
    """
    if method == "perturbation":
        of_one = _Perturbed(**declared).plan(facts)
    else:
        selection = "all" if method == "steps" else method
        extra = {"y_bounds": None} if loss != "logistic" else {}
        planner: Any = _STEPS[loss](selection=selection, **declared, **given, **extra)
        of_one = planner.plan(facts, shorten_steps=dense and method in {"threshold", "peel"})
    return plan_models(of_one, declared["budget"], facts.n_models)


@dataclass(frozen=True, eq=False, repr=False)
class CodedTable:
    """Private rows that are first put on the grid of their bounds, then on that of their norm.

    Parameters
    ----------
    private_rows : BoundedRows
        The rows.
    loss : {"squared", "logistic", "poisson"}
        How targets are measured: in half-widths of their bounds, as 0 and 1, in counts.
    n_models : int
        One, or one a class.
    """

    private_rows: BoundedRows
    loss: str
    n_models: int

    def on_grid(self, grid: RowGrid) -> list[IntegerRows]:
        """Return the rows as whole numbers, once a target.

        Raises
        ------
        InvalidData
            What the source says of missing cells.
        """
        bounded = self.private_rows
        layout, read = bounded.layout, bounded.read_layout
        with one_thread():
            rows = gridded(bounded.private_source, read)
        first = int(layout.intercept)
        pairs = zip(rows.private_blocks, rows.private_dropped, strict=True)
        blocks = [block if dropped is None else block[:, ~dropped] for block, dropped in pairs]
        codes = np.concatenate([np.empty((layout.width, 0), np.float32), *blocks], axis=1)
        matrix = np.ascontiguousarray(codes[first:-1].T, dtype=np.float64) / 2.0**layout.bits
        targets, limits = self._targets(codes[-1].astype(np.float64))
        return PrivateTable(matrix, targets, layout.names[:-1], limits).on_grid(grid)

    def _targets(self, codes: NDArray[np.float64]) -> tuple[tuple[NDArray[np.float64], ...], tuple[float, float]]:
        layout, read = self.private_rows.layout, self.private_rows.read_layout
        if self.n_models > 1:
            places = read.codings[-1].encode(np.arange(1.0, self.n_models + 1.0))
            return tuple(np.equal(codes, place).astype(np.float64) for place in places), (0.0, 1.0)
        if self.loss == "logistic":
            return ((codes > 0).astype(np.float64),), (0.0, 1.0)
        if self.loss == "squared":
            return (codes / 2.0**layout.bits,), (-1.0, 1.0)
        coding = layout.codings[-1]
        return (coding.decode(codes),), (coding.lower, coding.upper)


def row_norm_of(layout: Layout) -> float:
    """Return a bound of the Euclidean norm of a coded row without its constant and target, over 2**bits."""
    squared = feature_norm_squared(layout) - 4**layout.bits * layout.intercept
    return math.nextafter(math.sqrt(max(squared, 1)) / 2.0**layout.bits, math.inf)


def normed_table(declared: Declared, loss: str) -> tuple[PrivateTable, tuple[float, float], float]:
    """Return rows of a norm with one target a model, its limits, and the public center that was taken off."""
    rows = declared.rows
    assert isinstance(rows, NormedRows)  # noqa: S101  (what is asked for)
    low, high = declared.target_bounds
    center = 0.0
    if loss == "logistic":
        assert declared.classes is not None  # noqa: S101  (labels have classes)
        places = range(declared.n_models) if declared.n_models > 1 else (1,)
        targets = tuple(np.equal(rows.private_target, place).astype(np.float64) for place in places)
    else:
        center = (low + high) / 2 if loss == "squared" and declared.intercept else 0.0
        # Clipped before it is moved: a difference of huge numbers could lose the target's digits.
        targets = (np.clip(rows.private_target, low, high) - center,)
    limits = (low - center, high - center)
    return PrivateTable(rows.private_matrix, targets, declared.names, limits), limits, center
