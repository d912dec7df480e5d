"""Preconditioned descent for the front door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.descent.preconditioned.models import OVERRIDES, plan_descents
from discreet.estimators.methods.declared import BoundedColumns, Planned
from discreet.estimators.methods.quality import descent_is_dominated, spread_of_descent
from discreet.models.result import RegressionResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.descent.preconditioned.plan import PreconditionedFit
    from discreet.estimators.methods.declared import Declared
    from discreet.privacy.release import Release


def plan_descent_model(declared: Declared, given: Mapping[str, Any]) -> Planned:
    """Return the plan of a preconditioned descent, whose result has intervals where they are known to be right.

    Parameters
    ----------
    declared : Declared
        The fit.
    given : mapping
        `gram_share`, `n_steps`, `step_size`, `clip` where they were given; None elsewhere.
    """
    rows, loss = declared.rows, declared.loss
    assert isinstance(rows, BoundedColumns)  # noqa: S101  (by the choice's check)
    plan = plan_descents(
        rows.layout,
        rows.read_layout,
        loss,
        n_rows=declared.known_size,
        n_models=declared.n_models,
        budget=declared.budget,
        adjacency=declared.adjacency,
        overrides={name: given.get(name) for name in OVERRIDES},
        weights=declared.weights,
    )
    settings = plan.one.settings

    def read(released: Release[tuple[PreconditionedFit, ...]]) -> RegressionResult:
        fits = released.value
        spread = spread_of_descent(fits, declared)
        return RegressionResult(
            loss=loss,
            coefs=np.array([fit.coef for fit in fits]),
            constants=np.array([fit.intercept for fit in fits]),
            has_intercept=declared.intercept,
            event=released.event,
            label=released.label,
            noise_dominated=any(descent_is_dominated(fit, loss) for fit in fits),
            method="descent",
            settings={
                "n_steps": settings.n_steps,
                "step_size": settings.step_size,
                "clip": settings.clip,
                "gram_share": float(settings.gram_share),
            },
            uncertainty=spread.uncertainty,
            no_intervals=spread.reason,
        )

    return Planned(plan=plan, data=rows.private_rows, read=read)
