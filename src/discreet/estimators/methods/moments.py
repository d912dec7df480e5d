"""One noisy Gram matrix, and the minimizer of an objective of degree two that is read from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.estimators.methods.declared import BoundedColumns, Planned
from discreet.functional.gram import gram_of, plan_gram
from discreet.functional.logit import LogisticObjective
from discreet.functional.moments import Moments
from discreet.functional.objectives import SquaredObjective, last_column_selection
from discreet.lattice.bounds import Interval
from discreet.tables.frame_rows import formula_of

if TYPE_CHECKING:
    from discreet.estimators.methods.declared import Declared
    from discreet.functional.objectives import QuadraticObjective
    from discreet.models.result import RegressionResult
    from discreet.privacy.release import Release


def objective_of(loss: str, target_bounds: tuple[float, float], radius: float | None = None) -> QuadraticObjective:
    """Return what one noisy Gram matrix is asked to minimize: of "logistic" the best parabola up to a `radius`."""
    if loss == "squared":
        return SquaredObjective(y_bounds=Interval(*target_bounds))
    return LogisticObjective(approximation="taylor" if radius is None else "minimax", radius=radius)


def plan_moments(declared: Declared, objective: QuadraticObjective, *, mechanism: str = "auto") -> Planned:
    """Return the plan of one noisy Gram matrix of (1, X, y), whose result has standard errors where they are valid.

    Parameters
    ----------
    declared : Declared
        The fit.
    objective : QuadraticObjective
        What is minimized.
    mechanism : str
        The law of the noise, as for :class:`FunctionalLinearRegression`.
    """
    rows = declared.rows
    assert isinstance(rows, BoundedColumns)  # noqa: S101  (a Gram matrix needs bounds of every column)
    adjacency = declared.adjacency
    plan = plan_gram(
        rows.layout,
        budget=declared.budget,
        adjacency=adjacency,
        mechanism=mechanism,
        loss=objective.loss,
        size_is_public=adjacency.size_is_public and not rows.may_drop,
        statistic=gram_of(rows.layout),
        rows_per_unit=None if rows.design is None else rows.design.schema.rows_per_unit,
    )

    def read(released: Release[Any]) -> RegressionResult:
        moments = Moments(rows.layout, released, rows.design)
        selection = last_column_selection(rows.layout)
        asked = formula_of(selection.names, selection.target, intercept=selection.intercept)
        return objective.describe(moments, selection, asked)

    return Planned(plan=plan, data=rows.private_rows, read=read)
