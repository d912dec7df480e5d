"""Methods that bound a row by its norm: perturbation, thresholded and peeled steps, Frank-Wolfe, two stages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.descent.model_plans import ModelFacts, plan_models
from discreet.estimators.methods import quality
from discreet.estimators.methods.declared import Planned
from discreet.estimators.methods.quality import NOT_DESCENT, RIDGE
from discreet.models.printed import STEPS_TOO_LONG
from discreet.models.result import RegressionResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.descent.model_plans import ModelPlan
    from discreet.estimators.methods.declared import Declared
    from discreet.privacy.release import Release


def plan_normed(declared: Declared, plan_one: Callable[[ModelFacts], ModelPlan], *, method: str) -> Planned:
    """Return the plan of all models of a fit by one of the methods that bound rows by a norm.

    Parameters
    ----------
    declared : Declared
        The fit.
    plan_one : callable
        Makes the plan of one model from the public facts.
    method : str
        How the result calls it.
    """
    rows, loss, n_rows = declared.rows, declared.loss, declared.known_size
    table = rows.normed(declared)
    facts = ModelFacts(
        loss=loss,
        budget=declared.budget,
        adjacency=declared.adjacency,
        n_columns=rows.n_coefficients,
        n_rows=n_rows,
        row_norm=rows.row_norm,
        entry_bound=rows.entry_bound,
        intercept=declared.intercept,
        target_bounds=table.target_bounds,
        n_models=declared.n_models,
    )
    plan = plan_models(plan_one(facts), declared.budget, declared.n_models)
    one, grid = plan.one.plan, plan.one.grid

    def read(released: Release[Any]) -> RegressionResult:
        values = released.value if isinstance(released.value, tuple) else (released.value,)
        thetas = np.array([value.theta for value in values])
        constants = thetas[:, -1] * (grid.constant * grid.unit) if grid.constant else np.zeros(len(values))
        slopes = np.ascontiguousarray(thetas[:, : grid.n_columns])
        dominated = quality.normed_is_dominated(one, values, slopes, n_rows=n_rows, loss=loss)
        too_long = quality.steps_were_too_long(one, values, n_rows=n_rows, loss=loss)
        coefs, constants = table.to_user(slopes, constants, loss)
        settings = plan.one.settings
        return RegressionResult(
            loss=loss,
            coefs=coefs,
            constants=constants,
            has_intercept=declared.intercept,
            event=released.event,
            label=released.label,
            notes=(STEPS_TOO_LONG,) if too_long else (),
            noise_dominated=dominated or too_long,
            method=settings.get("selection", method),
            settings=settings,
            grid=None if rows.bounded else grid,
            no_intervals=RIDGE if "regularization" in settings else NOT_DESCENT,
        )

    return Planned(plan=plan, data=table.private_table, read=read)
