"""Each method of the front door: its plan, its one release, and the coefficients that follow."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.estimators.methods import quality
from discreet.estimators.methods.coded import CodedTable, normed_table, plan_coded, row_norm_of
from discreet.estimators.methods.declared import BoundedRows, NormedRows
from discreet.estimators.descent_base import Facts as StepFacts
from discreet.estimators.methods.descents import OVERRIDES, plan_descents
from discreet.functional.gram import gram_of, plan_gram
from discreet.functional.logit import LogisticObjective
from discreet.functional.moments import Moments
from discreet.functional.objectives import SquaredObjective
from discreet.lattice.bounds import Interval
from discreet.privacy.release import release

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.descent.preconditioned.fit import PreconditionedFit
    from discreet.estimators.methods.declared import Declared
    from discreet.lattice.row_grid import RowGrid
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.ledger import Ledger
    from discreet.privacy.release import Release


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a fit asks for, method and rows apart.

    Parameters
    ----------
    loss : {"squared", "logistic", "poisson"}
        What is minimized.
    budget, adjacency
        The promise.
    intercept : bool
        Whether there is one.
    given : dict
        `sparsity`, `n_steps`, `step_size`, `clip`, `gram_share`: a setting, or None for the default.
    """

    loss: str
    budget: Budget
    adjacency: Adjacency
    intercept: bool
    given: dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Fitted:
    """What a method found; public.

    Parameters
    ----------
    coefs : ndarray of float64, shape (n_models, n_coefficients)
        In the user's units.
    constants : ndarray of float64, shape (n_models,)
        The intercepts; 0 where a model has none.
    released : Release
        The release.
    noise_dominated : bool
        Whether the noise hides what the models say, or steps went astray.
    settings : dict
        Public settings that were used, by name.
    grid : RowGrid or None
        Where rows are scaled down to a norm, their grid.
    moments : Moments or None
        Of the method "moments".
    answer : LeastSquares or None
        Of the method "moments".
    fits : tuple of PreconditionedFit
        Of the method "descent".
    """

    coefs: NDArray[np.float64]
    constants: NDArray[np.float64]
    released: Release[Any]
    noise_dominated: bool
    settings: dict[str, Any] = field(default_factory=dict)
    grid: RowGrid | None = None
    moments: Moments | None = None
    answer: Any = None
    fits: tuple[PreconditionedFit, ...] = ()


def fit_by(method: str, declared: Declared, asked: Asked, ledger: Ledger | None) -> Fitted:
    """Return what a method finds; charges the ledger once."""
    if method in {"perturbation", "threshold", "peel"}:
        return _coded(method, declared, asked, ledger)
    if method == "sample":
        return _sample(declared, asked, ledger)
    rows = declared.rows
    assert isinstance(rows, BoundedRows)  # noqa: S101  (by the choice's check)
    if method == "moments":
        return _moments(rows, declared, asked, ledger)
    return _descent(rows, declared, asked, ledger)


def _descent(rows: BoundedRows, declared: Declared, asked: Asked, ledger: Ledger | None) -> Fitted:
    plan = plan_descents(
        rows.layout,
        rows.read_layout,
        asked.loss,
        n_rows=declared.n_rows,
        n_models=declared.n_models,
        budget=asked.budget,
        adjacency=asked.adjacency,
        overrides={name: asked.given.get(name) for name in OVERRIDES},
        weights=declared.weights,
    )
    released: Release[tuple[PreconditionedFit, ...]] = release(
        plan, rows.private_source, ledger, n_rows=declared.n_rows
    )
    fits, settings = released.value, plan.one.settings
    return Fitted(
        coefs=np.array([fit.coef for fit in fits]),
        constants=np.array([fit.intercept for fit in fits]),
        released=released,
        noise_dominated=any(quality.descent_is_dominated(fit, asked.loss) for fit in fits),
        settings={
            "n_steps": settings.n_steps,
            "step_size": settings.step_size,
            "clip": settings.clip,
            "gram_share": float(settings.gram_share),
        },
        fits=fits,
    )


def _moments(rows: BoundedRows, declared: Declared, asked: Asked, ledger: Ledger | None) -> Fitted:
    bounds = rows.layout.codings[-1]
    objective: Any = LogisticObjective()
    if asked.loss == "squared":
        objective = SquaredObjective(y_bounds=Interval(bounds.lower, bounds.upper))
    plan = plan_gram(
        rows.layout,
        budget=asked.budget,
        adjacency=asked.adjacency,
        mechanism="auto",
        loss=objective.loss,
        size_is_public=asked.adjacency.size_is_public and not rows.may_drop,
        statistic=gram_of(rows.layout),
    )
    moments = Moments(rows.layout, release(plan, rows.private_rows, ledger, n_rows=declared.n_rows))
    found = objective.solve(moments)
    return Fitted(
        coefs=found.coef[None, :],
        constants=np.array([found.intercept]),
        released=moments.release,
        noise_dominated=found.answer.repair.noise_dominated,
        moments=moments,
        answer=found.answer,
    )


def _coded(method: str, declared: Declared, asked: Asked, ledger: Ledger | None) -> Fitted:
    rows, loss = declared.rows, asked.loss
    names = ("sparsity", "n_steps", "step_size", "clip")
    given = {name: asked.given.get(name) for name in names}
    if isinstance(rows, BoundedRows):
        limits, center = {"squared": (-1.0, 1.0), "logistic": (0.0, 1.0)}.get(loss, declared.target_bounds), 0.0
        data: Any = CodedTable(rows, loss, declared.n_models)
        norm, entry = row_norm_of(rows.layout), 1.0
    else:
        data, limits, center = normed_table(declared, loss)
        norm, entry = rows.row_norm, rows.entry_bound  # type: ignore[assignment]
    facts = StepFacts(
        n_columns=len(declared.names),
        n_rows=declared.n_rows,
        adjacency=asked.adjacency,
        target_bounds=limits,
        n_models=declared.n_models,
    )
    promise = {
        "budget": asked.budget,
        "adjacency": asked.adjacency,
        "row_norm": norm,
        "fit_intercept": asked.intercept,
    }
    dense = isinstance(rows, BoundedRows) or not rows.sparse
    plan = plan_coded(method, loss, facts, declared=promise, given=given | {"entry_bound": entry}, dense=dense)
    released = release(plan, data, ledger, n_rows=declared.n_rows)
    grid = plan.one.grid
    values = released.value if isinstance(released.value, tuple) else (released.value,)
    thetas = np.array([value.theta for value in values])
    constants = thetas[:, -1] * (grid.constant * grid.unit) if grid.constant else np.zeros(len(values))
    slopes = np.ascontiguousarray(thetas[:, : grid.n_columns])
    factor = max(getattr(value, "first_factor", 1.0) for value in values)
    dominated = quality.coded_is_dominated(plan.one.plan, slopes, n_rows=declared.n_rows, loss=loss, factor=factor)
    if method != "perturbation" and any(
        quality.steps_went_astray(plan.one.plan, value, n_rows=declared.n_rows, loss=loss) for value in values
    ):
        dominated, released = True, replace(released, notes=(*released.notes, quality.ASTRAY))
    if isinstance(rows, BoundedRows):
        slopes, constants = _to_user(rows, slopes, constants, loss)
    return Fitted(
        coefs=slopes,
        constants=constants + center,
        released=released,
        noise_dominated=dominated,
        settings={name: value for name, value in plan.one.settled.items() if name != "noise"},
        grid=grid if isinstance(rows, NormedRows) else None,
    )


def _to_user(
    rows: BoundedRows, slopes: NDArray[np.float64], constants: NDArray[np.float64], loss: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return slopes and constants of coded rows, and of a target in half-widths, in the user's units."""
    layout = rows.layout
    scales = np.array([coding.scale for coding in layout.codings[:-1]]) / 2.0**layout.bits
    centers = np.array([coding.center for coding in layout.codings[:-1]])
    coefs = slopes * scales
    if loss == "squared":
        target = layout.codings[-1]
        half = 2.0**layout.bits / target.scale
        coefs, constants = coefs * half, constants * half + target.center
    if not layout.intercept:
        return coefs, np.zeros(len(coefs))
    return coefs, constants - coefs @ centers


def _sample(declared: Declared, asked: Asked, ledger: Ledger | None) -> Fitted:
    from discreet.estimators.methods.sampled import draw_coefficients

    assert isinstance(declared.rows, BoundedRows)  # noqa: S101  (by the choice's check)
    drawn = draw_coefficients(
        declared.rows, asked.loss, n_rows=declared.n_rows, budget=asked.budget, adjacency=asked.adjacency, ledger=ledger
    )
    return Fitted(
        coefs=drawn.coef[None, :],
        constants=np.array([drawn.intercept]),
        released=drawn.released,
        noise_dominated=drawn.noise_dominated,
        settings={"ridge": drawn.ridge},
    )
