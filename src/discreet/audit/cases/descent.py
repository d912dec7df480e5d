"""Audits of noisy descent and its rivals, as plans; their estimators have a file of their own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.cases.case import Entry, Setup, of_plan
from discreet.audit.cases.descent_tables import CLIP, LIMITS, N_REST, NORM, contested, flipped, sparse_halves, turned
from discreet.descent.calibration import plan_descent
from discreet.descent.losses import SquaredLoss
from discreet.descent.rivals.frank_wolfe import plan_frank_wolfe
from discreet.descent.rivals.perturbation import plan_perturbation
from discreet.descent.rivals.two_stage import plan_two_stage
from discreet.descent.rows import integer_rows
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp

if TYPE_CHECKING:
    from discreet.privacy.adjacency import Adjacency

_REGULARIZATION = 20.0
_REPLACE, _ADD_REMOVE = Replace(), AddRemove()


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
        tables = flipped(adjacency, n_columns, NORM if entry_bound is None else entry_bound)
    else:
        tables = turned(adjacency)
    first, second = (
        integer_rows(
            sparse_halves(table) if sparse else table.X,
            table.y,
            row_norm=NORM,
            entry_bound=entry_bound,
            target_bounds=LIMITS,
            intercept=intercept,
        )
        for table in tables
    )
    plan = plan_descent(
        first.grid,
        SquaredLoss(clip=CLIP),
        budget=budget,
        adjacency=adjacency,
        target_bounds=LIMITS,
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
    first, second = (integer_rows(table.X, table.y, row_norm=NORM, target_bounds=LIMITS) for table in contested(1))
    plan = plan_frank_wolfe(
        first.grid,
        SquaredLoss(clip=CLIP),
        budget=budget,
        adjacency=_REPLACE,
        radius=1.0,
        n_steps=2,
        target_bounds=LIMITS,
        noise=noise,
    )
    return Setup(of_plan(plan, lambda found: found.theta), first, second, plan.event.budget)


def _perturbation(
    budget: Any, *, method: str = "objective", adjacency: Adjacency = _REPLACE, noise: str = "exact"
) -> Setup:
    first, second = (
        integer_rows(table.X, table.y, row_norm=NORM, target_bounds=LIMITS) for table in flipped(adjacency, 1)
    )
    # So much regularization that hardly anything is paid for curvature, and few steps are made.
    plan = plan_perturbation(
        first.grid,
        SquaredLoss(clip=CLIP),
        budget=budget,
        adjacency=adjacency,
        n_rows=N_REST + 1,
        target_bounds=LIMITS,
        method=method,
        noise=noise,
        regularization=None if noise == "paper" else _REGULARIZATION,
    )
    return Setup(of_plan(plan, lambda found: found.theta), first, second, plan.event.budget)


def _two_stage(budget: Any) -> Setup:
    # There is one block, and its vote goes from the one column to the other.
    first, second = (integer_rows(table.X, table.y, row_norm=NORM, target_bounds=LIMITS) for table in turned())
    plan = plan_two_stage(
        first.grid,
        SquaredLoss(clip=CLIP),
        budget=budget,
        adjacency=_REPLACE,
        n_rows=N_REST + 1,
        sparsity=1,
        n_blocks=1,
        target_bounds=LIMITS,
        regularization=_REGULARIZATION,
    )

    def read(found: Any) -> Any:
        return np.append(found.theta, found.support)

    return Setup(of_plan(plan, read), first, second, plan.event.budget)


# A row of little beside its constant column: what the intercept is not charged for shows.
_INTERCEPT: dict[str, Any] = {"n_columns": 1, "entry_bound": NORM / 4, "intercept": NORM}

DESCENT = (
    Entry(name="descent, all columns", make=partial(_descent, selection="all"), budget=Gdp(mu=1), n_runs=2000),
    Entry(
        name="descent, all columns, add-remove",
        make=partial(_descent, selection="all", adjacency=_ADD_REMOVE, n_steps=2),
        budget=Approx(epsilon=1, delta="1/10"),
        n_runs=6000,
        tells="2.5",
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
        tells="1.5",
    ),
    Entry(
        name="descent, intercept, add-remove",
        make=partial(_descent, selection="all", n_steps=1, adjacency=_ADD_REMOVE, **_INTERCEPT),
        budget=Zcdp(rho=1),
        n_runs=3000,
        tells="2.5",
    ),
    Entry(
        name="descent, sparse rows",
        make=partial(_descent, selection="all", n_steps=1, sparse=True),
        budget=Gdp(mu=3),
        n_runs=3000,
        tells="1.4",
    ),
    Entry(
        name="descent, sparse rows, add-remove",
        make=partial(_descent, selection="threshold", n_steps=1, sparse=True, adjacency=_ADD_REMOVE),
        budget=Gdp(mu=3),
        n_runs=3000,
        tells="1.4",
    ),
    Entry(
        name="descent, threshold that selects",
        make=partial(_descent, selection="threshold", n_steps=1, n_columns=2, n_selected=1),
        budget=Gdp(mu=3),
        n_runs=3000,
        tells="2.5",
    ),
    Entry(
        name="descent, threshold that selects, add-remove",
        make=partial(_descent, selection="threshold", n_steps=1, n_columns=2, n_selected=1, adjacency=_ADD_REMOVE),
        budget=Gdp(mu=3),
        n_runs=3000,
        tells="1.5",
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
        tells=4,
    ),
    Entry(
        name="descent, coordinate",
        make=partial(_descent, selection="coordinate", n_steps=1),
        budget=Zcdp(rho=2),
        n_runs=4000,
        tells=5,
    ),
    Entry(name="Frank-Wolfe", make=_frank_wolfe, budget=Pure(epsilon=2), n_runs=6000, tells=3),
    Entry(
        name="Frank-Wolfe, paper's noise",
        make=partial(_frank_wolfe, noise="paper"),
        budget=Approx(epsilon=1, delta="1/20"),
        n_runs=4000,
        tells=8,
    ),
    Entry(name="objective perturbation, pure", make=_perturbation, budget=Pure(epsilon=2), n_runs=2000, tells=3),
    Entry(
        name="objective perturbation, approximate, add-remove",
        make=partial(_perturbation, adjacency=_ADD_REMOVE),
        budget=Approx(epsilon=2, delta="1/20"),
        n_runs=2000,
        tells=8,
    ),
    Entry(
        name="objective perturbation, paper's noise",
        make=partial(_perturbation, noise="paper"),
        budget=Approx(epsilon=2, delta="1/20"),
        n_runs=2000,
        tells=10,
    ),
    Entry(
        name="output perturbation, pure",
        make=partial(_perturbation, method="output"),
        budget=Pure(epsilon=2),
        n_runs=2000,
        tells="2.5",
    ),
    Entry(
        name="output perturbation, Gaussian",
        make=partial(_perturbation, method="output"),
        budget=Gdp(mu=1),
        n_runs=2000,
    ),
    Entry(name="two stages", make=_two_stage, budget=Approx(epsilon=2, delta="1/20"), n_runs=2000, tells=6),
)
