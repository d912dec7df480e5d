"""Audits of noisy descent, its rivals and the private search.

Where residuals are clipped far below the target's limits, a record whose target changes sides moves the gradient by
all that it can at *every* iterate, so that several steps together show all of what they cost. The record lies beyond
all of its bounds, so that a clip that is missing shows, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.cases import Entry, Setup, of_fit, of_plan
from discreet.audit.neighbours import BEYOND, Table, full_row, one_record_apart, sign_flip, zeros
from discreet.descent.calibration import plan_descent
from discreet.descent.frank_wolfe import plan_frank_wolfe
from discreet.descent.frank_wolfe_models import FrankWolfeLinearRegression, FrankWolfeLogisticRegression
from discreet.descent.losses import SquaredLoss
from discreet.descent.models import SparseLinearRegression, SparseLogisticRegression
from discreet.descent.perturbation import plan_perturbation
from discreet.descent.perturbed_models import PerturbedLogisticRegression
from discreet.descent.rows import integer_rows
from discreet.descent.search import PrivateSearch
from discreet.descent.two_stage import plan_two_stage
from discreet.descent.two_stage_models import TwoStageLinearRegression, TwoStageLogisticRegression
from discreet.lattice.bounds import Interval
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp

if TYPE_CHECKING:
    from discreet.privacy.adjacency import Adjacency

_NORM = 1.0
# Limits of targets, and where their residuals are clipped.
_LIMITS, _CLIP = (-8.0, 8.0), 0.5
_FAR = (BEYOND * _LIMITS[0], BEYOND * _LIMITS[1])
_REGULARIZATION = 20.0
_N_REST = 4
_REPLACE, _ADD_REMOVE = Replace(), AddRemove()


def _tables(adjacency: Adjacency, n_columns: int, entry_bound: float = _NORM) -> tuple[Table, Table]:
    features = BEYOND * full_row(n_columns, row_norm=_NORM, entry_bound=entry_bound)
    return sign_flip(adjacency, zeros(_N_REST, n_columns), features, _FAR)


def _contested(n_columns: int) -> tuple[Table, Table]:
    """Return tables of two full records that agree, and that contradict each other: no choice is then likelier."""
    features = BEYOND * full_row(n_columns, row_norm=_NORM, entry_bound=_NORM / np.sqrt(n_columns))
    agreeing = Table(features[np.newaxis], np.array([_FAR[1]]))
    return sign_flip(_REPLACE, agreeing, features, _FAR)


def _turned(adjacency: Adjacency = _REPLACE) -> tuple[Table, Table]:
    """Return tables whose last record is of the one column or of the other; under AddRemove it is of one, or gone."""
    axes = BEYOND * np.eye(2)
    other = None if adjacency == _ADD_REMOVE else (axes[1], _FAR[1])
    return one_record_apart(zeros(_N_REST, 2), (axes[0], _FAR[1]), other)


def _sparse(table: Table) -> Any:
    """Return the features as a sparse matrix that has every entry in two halves."""
    import scipy.sparse

    halves = scipy.sparse.coo_array(table.X / 2)
    twice = (np.tile(halves.data, 2), tuple(np.tile(place, 2) for place in halves.coords))
    return scipy.sparse.coo_array(twice, shape=table.X.shape)


@dataclass(frozen=True, eq=False)
class _SparseTable:
    """Made-up records with sparse features."""

    X: Any
    y: Any


def _labels(tables: tuple[Table, Table]) -> tuple[Table, Table]:
    first, second = (Table(table.X, (table.y > 0).astype(float)) for table in tables)
    return first, second


def _descent(
    budget: Any,
    *,
    selection: str,
    adjacency: Adjacency = _REPLACE,
    n_columns: int = 3,
    n_steps: int = 4,
    entry_bound: float | None = None,
    noise: str = "exact",
    n_selected: int | None = None,
    intercept: float = 0.0,
    sparse: bool = False,
) -> Setup:
    if n_selected is None:
        n_selected = 1 if selection == "peel" else n_columns
        tables = _tables(adjacency, n_columns, _NORM if entry_bound is None else entry_bound)
    else:
        tables = _turned(adjacency)
    first, second = (
        integer_rows(
            _sparse(table) if sparse else table.X,
            table.y,
            row_norm=_NORM,
            entry_bound=entry_bound,
            target_bounds=_LIMITS,
            intercept=intercept,
        )
        for table in tables
    )
    plan = plan_descent(
        first.grid,
        SquaredLoss(clip=_CLIP),
        budget=budget,
        adjacency=adjacency,
        target_bounds=_LIMITS,
        n_selected=n_selected,
        n_steps=n_steps,
        step_size=0.1,
        divisor=1.0,
        selection=selection,
        noise=noise,
        noise_floor=0.0,
        tail_average=False,
    )
    return Setup(of_plan(plan, lambda found: found.theta), first, second, plan.event.budget)


def _frank_wolfe(budget: Any, *, noise: str = "gumbel") -> Setup:
    first, second = (integer_rows(table.X, table.y, row_norm=_NORM, target_bounds=_LIMITS) for table in _contested(1))
    plan = plan_frank_wolfe(
        first.grid,
        SquaredLoss(clip=_CLIP),
        budget=budget,
        adjacency=_REPLACE,
        radius=1.0,
        n_steps=2,
        target_bounds=_LIMITS,
        noise=noise,
    )
    return Setup(of_plan(plan, lambda found: found.theta), first, second, plan.event.budget)


def _perturbation(
    budget: Any, *, method: str = "objective", adjacency: Adjacency = _REPLACE, noise: str = "exact"
) -> Setup:
    first, second = (
        integer_rows(table.X, table.y, row_norm=_NORM, target_bounds=_LIMITS) for table in _tables(adjacency, 1)
    )
    # So much regularization that hardly anything is paid for curvature, and few steps are made.
    plan = plan_perturbation(
        first.grid,
        SquaredLoss(clip=_CLIP),
        budget=budget,
        adjacency=adjacency,
        n_rows=_N_REST + 1,
        target_bounds=_LIMITS,
        method=method,
        noise=noise,
        regularization=None if noise == "paper" else _REGULARIZATION,
    )
    return Setup(of_plan(plan, lambda found: found.theta), first, second, plan.event.budget)


def _two_stage(budget: Any) -> Setup:
    # There is one block, and its vote goes from the one column to the other.
    first, second = (integer_rows(table.X, table.y, row_norm=_NORM, target_bounds=_LIMITS) for table in _turned())
    plan = plan_two_stage(
        first.grid,
        SquaredLoss(clip=_CLIP),
        budget=budget,
        adjacency=_REPLACE,
        n_rows=_N_REST + 1,
        sparsity=1,
        n_blocks=1,
        target_bounds=_LIMITS,
        regularization=_REGULARIZATION,
    )

    def read(found: Any) -> Any:
        return np.append(found.theta, found.support)

    return Setup(of_plan(plan, read), first, second, plan.event.budget)


def _read(model: Any) -> Any:
    return np.append(np.ravel(model.coef_), np.ravel(model.intercept_))


def _estimator(budget: Any, *, kind: Any, linear: bool, sparse: bool = False, **options: Any) -> Setup:
    """Return the audit of an estimator through its own `fit`."""
    declared = {"budget": budget, "row_norm": _NORM, "adjacency": _REPLACE, "fit_intercept": False} | options
    adjacency = declared["adjacency"]
    tables = _turned(adjacency) if "n_blocks" in options else _tables(adjacency, 2)
    if linear:
        model = kind(y_bounds=Interval(*_LIMITS), **declared)
    else:
        model, tables = kind(classes=(0, 1), **declared), _labels(tables)
    first, second = (_SparseTable(_sparse(table), table.y) for table in tables) if sparse else tables
    return Setup(of_fit(model, _read), first, second, budget)


def _search(budget: Any) -> Setup:
    model = SparseLinearRegression(
        budget=Zcdp(rho=1),
        sparsity=1,
        row_norm=_NORM,
        y_bounds=Interval(*_LIMITS),
        adjacency=_REPLACE,
        clip=_CLIP,
        step_size=1.0,
        selection="all",
        fit_intercept=False,
    )
    search = PrivateSearch(model, {"n_steps": [1, 2]}, budget=budget, mean_runs=2)
    # Of nine records the last is among those that are fitted, not scored.
    tables = sign_flip(_REPLACE, zeros(2 * _N_REST, 1), BEYOND * np.ones(1), _FAR)

    def read(found: Any) -> Any:
        return np.append(_read(found.best_estimator_), [found.best_score_, found.best_params_["n_steps"]])

    return Setup(of_fit(search, read), *tables, budget)


_STEPS = {"sparsity": 1, "n_steps": 2, "step_size": 1.0}
_APPROX = Approx(epsilon=2, delta="1/20")
# A row of little beside its constant column: what the intercept is not charged for shows.
_INTERCEPT: dict[str, Any] = {"n_columns": 1, "entry_bound": _NORM / 4, "intercept": _NORM}

DESCENT = (
    Entry(name="descent, all columns", make=partial(_descent, selection="all"), budget=Gdp(mu=1), n_runs=2000),
    Entry(
        name="descent, all columns, add-remove",
        make=partial(_descent, selection="all", adjacency=_ADD_REMOVE, n_steps=2),
        budget=Approx(epsilon=1, delta="1/10"),
        n_runs=6000,
        tells=3,
    ),
    Entry(
        name="descent, one step",
        make=partial(_descent, selection="all", n_steps=1),
        budget=Gdp(mu=3),
        n_runs=10_000,
        tells="1.3",
    ),
    Entry(
        name="descent, intercept",
        make=partial(_descent, selection="all", n_steps=1, **_INTERCEPT),
        budget=Gdp(mu=3),
        n_runs=3000,
        tells="1.6",
    ),
    Entry(
        name="descent, intercept, add-remove",
        make=partial(_descent, selection="all", n_steps=1, adjacency=_ADD_REMOVE, **_INTERCEPT),
        budget=Zcdp(rho=1),
        n_runs=3000,
        tells=2,
    ),
    Entry(
        name="descent, sparse rows",
        make=partial(_descent, selection="all", n_steps=1, sparse=True),
        budget=Gdp(mu=3),
        n_runs=3000,
        tells="1.6",
    ),
    Entry(
        name="descent, sparse rows, add-remove",
        make=partial(_descent, selection="threshold", n_steps=1, sparse=True, adjacency=_ADD_REMOVE),
        budget=Gdp(mu=3),
        n_runs=3000,
        tells="1.6",
    ),
    Entry(
        name="descent, threshold that selects",
        make=partial(_descent, selection="threshold", n_steps=1, n_columns=2, n_selected=1),
        budget=Gdp(mu=3),
        n_runs=3000,
        tells=3,
    ),
    Entry(
        name="descent, threshold that selects, add-remove",
        make=partial(_descent, selection="threshold", n_steps=1, n_columns=2, n_selected=1, adjacency=_ADD_REMOVE),
        budget=Gdp(mu=3),
        n_runs=3000,
        tells=3,
    ),
    Entry(
        name="descent, threshold (DP-IGHT)",
        make=partial(_descent, selection="threshold"),
        budget=Gdp(mu=1),
        n_runs=2000,
    ),
    Entry(
        name="descent, threshold, paper's variance",
        make=partial(_descent, selection="threshold", noise="paper", n_steps=2),
        budget=Approx(epsilon=2, delta="1/20"),
        n_runs=3000,
        tells=3,
    ),
    Entry(
        name="descent, peel",
        make=partial(_descent, selection="peel", entry_bound=0.5, n_steps=1),
        budget=Zcdp(rho=2),
        n_runs=4000,
        tells=4,
    ),
    Entry(
        name="descent, peel, add-remove",
        make=partial(_descent, selection="peel", adjacency=_ADD_REMOVE, n_steps=1),
        budget=Zcdp(rho=2),
        n_runs=2000,
        tells=3,
    ),
    Entry(
        name="descent, coordinate",
        make=partial(_descent, selection="coordinate", n_steps=1),
        budget=Zcdp(rho=2),
        n_runs=4000,
        tells=4,
    ),
    Entry(name="Frank-Wolfe", make=_frank_wolfe, budget=Pure(epsilon=2), n_runs=6000, tells=3),
    Entry(
        name="Frank-Wolfe, paper's noise",
        make=partial(_frank_wolfe, noise="paper"),
        budget=Approx(epsilon=1, delta="1/20"),
        n_runs=4000,
        tells=6,
    ),
    Entry(name="objective perturbation, pure", make=_perturbation, budget=Pure(epsilon=2), n_runs=2000),
    Entry(
        name="objective perturbation, approximate, add-remove",
        make=partial(_perturbation, adjacency=_ADD_REMOVE),
        budget=Approx(epsilon=2, delta="1/20"),
        n_runs=2000,
        tells=5,
    ),
    Entry(
        name="objective perturbation, paper's noise",
        make=partial(_perturbation, noise="paper"),
        budget=Approx(epsilon=2, delta="1/20"),
        n_runs=2000,
        tells=6,
    ),
    Entry(
        name="output perturbation, pure",
        make=partial(_perturbation, method="output"),
        budget=Pure(epsilon=2),
        n_runs=2000,
    ),
    Entry(
        name="output perturbation, Gaussian",
        make=partial(_perturbation, method="output"),
        budget=Gdp(mu=1),
        n_runs=2000,
    ),
    Entry(name="two stages", make=_two_stage, budget=Approx(epsilon=2, delta="1/20"), n_runs=2000, tells=6),
    Entry(
        name="SparseLinearRegression",
        make=partial(_estimator, kind=SparseLinearRegression, linear=True, clip=_CLIP, selection="all", **_STEPS),
        budget=Gdp(mu=1),
        covers=("SparseLinearRegression",),
        n_runs=1500,
        tells=2,
    ),
    Entry(
        name="SparseLogisticRegression",
        make=partial(_estimator, kind=SparseLogisticRegression, linear=False, selection="all", **_STEPS),
        budget=Gdp(mu=1),
        covers=("SparseLogisticRegression",),
        n_runs=1200,
        tells=5,
    ),
    Entry(
        name="SparseLinearRegression, intercept, sparse rows, add-remove",
        make=partial(
            _estimator,
            kind=SparseLinearRegression,
            linear=True,
            sparse=True,
            clip=_CLIP,
            selection="threshold",
            adjacency=_ADD_REMOVE,
            expected_rows=_N_REST,
            fit_intercept=True,
            **_STEPS,
        ),
        budget=Gdp(mu=3),
        covers=("SparseLinearRegression",),
        n_runs=1500,
        tells=4,
    ),
    Entry(
        name="SparseLogisticRegression, intercept, sparse rows",
        make=partial(
            _estimator,
            kind=SparseLogisticRegression,
            linear=False,
            sparse=True,
            selection="threshold",
            fit_intercept=True,
            **_STEPS,
        ),
        budget=Gdp(mu=3),
        covers=("SparseLogisticRegression",),
        n_runs=1200,
        tells=5,
    ),
    Entry(
        name="FrankWolfeLinearRegression",
        make=partial(_estimator, kind=FrankWolfeLinearRegression, linear=True, radius=1.0, n_steps=2),
        budget=Pure(epsilon=2),
        covers=("FrankWolfeLinearRegression",),
        n_runs=1000,
        tells=7,
    ),
    Entry(
        name="FrankWolfeLogisticRegression",
        make=partial(_estimator, kind=FrankWolfeLogisticRegression, linear=False, radius=1.0, n_steps=2),
        budget=Zcdp(rho=1),
        covers=("FrankWolfeLogisticRegression",),
        n_runs=1000,
        tells=6,
    ),
    Entry(
        name="TwoStageLinearRegression",
        make=partial(_estimator, kind=TwoStageLinearRegression, linear=True, sparsity=1, n_blocks=1),
        budget=_APPROX,
        covers=("TwoStageLinearRegression",),
        n_runs=1000,
        tells=8,
    ),
    Entry(
        name="TwoStageLogisticRegression",
        make=partial(_estimator, kind=TwoStageLogisticRegression, linear=False, sparsity=1, n_blocks=1),
        budget=_APPROX,
        covers=("TwoStageLogisticRegression",),
        n_runs=1000,
        tells=8,
    ),
    Entry(
        name="PerturbedLogisticRegression",
        make=partial(_estimator, kind=PerturbedLogisticRegression, linear=False),
        budget=Pure(epsilon=2),
        covers=("PerturbedLogisticRegression",),
        n_runs=1000,
        tells=8,
    ),
    Entry(name="PrivateSearch", make=_search, budget=_APPROX, covers=("PrivateSearch",), n_runs=520, tells=8),
)
