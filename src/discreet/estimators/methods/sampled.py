"""One draw of the K-norm gradient mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.estimators.methods.declared import BoundedColumns, Planned
from discreet.estimators.methods.quality import RIDGE
from discreet.lattice.row_grid import RowGrid
from discreet.models.result import RegressionResult
from discreet.sampling.k_norm.gradient import GradientTarget
from discreet.sampling.k_norm.losses import HuberGradientLoss, LogCoshGradientLoss, LogisticGradientLoss
from discreet.sampling.k_norm.model_rows import LayoutRows, ScaledDownRows, default_ridge
from discreet.sampling.k_norm.rows import NormedRows
from discreet.sampling.mechanisms import plan_target
from discreet.sampling.pca.second_moments import UnitGrid
from discreet.sampling.policies import CoolDown, check_policy

if TYPE_CHECKING:
    from discreet.estimators.methods.declared import BoundedNorms, Declared
    from discreet.privacy.release import Release
    from discreet.sampling.k_norm.model_rows import ModelRows
    from discreet.sampling.policies import Policy

# Residuals beyond this part of the range of y count no more than it, by default.
_CLIP = 1 / 4
# Where rows are scaled down to a norm, the constant column is half of it.
_CONSTANT = Fraction(1, 2)


@dataclass(frozen=True, eq=False, repr=False)
class DrawnRows:
    """Private rows as a sampler reads them, and the way back to the units of the target.

    Parameters
    ----------
    reader : ModelRows
        Public declarations.
    private_data : object
        What `reader` reads.
    center, half : float
        A target of -1 to 1 means ``center - half`` to ``center + half``.
    """

    reader: ModelRows
    private_data: Any
    center: float
    half: float

    @classmethod
    def of(cls, declared: Declared) -> DrawnRows:
        """Return the rows of a declared fit."""
        labels, rows = declared.classes is not None, declared.rows
        low, high = declared.target_bounds
        center, half = ((low + high) / 2, (high - low) / 2) if rows.intercept else (0.0, max(abs(low), abs(high)))
        if isinstance(rows, BoundedColumns):
            reader = LayoutRows(layout=rows.layout, read_layout=rows.read_layout, labels=labels)
            return cls(reader, rows.private_rows, center, half)
        return _of_norms(rows, labels=labels, bounds=(low, high), center=center, half=half)


def _of_norms(
    rows: BoundedNorms, *, labels: bool, bounds: tuple[float, float], center: float, half: float
) -> DrawnRows:
    grid = UnitGrid(rows.n_coefficients, rows.row_norm)
    target, limits = rows.private_target, (0.0, 1.0)
    if not labels:
        target, limits = (np.clip(target, *bounds) - center) / half, (-1.0, 1.0)
    reader = NormedRows(
        grid=grid, bounds=limits, constant=_CONSTANT if rows.intercept else Fraction(0), names=rows.names
    )
    return DrawnRows(ScaledDownRows(reader=reader, columns=rows.names), (rows.private_matrix, target), center, half)


def plan_draw(
    declared: Declared,
    *,
    smooth: bool = True,
    clip: float | None = None,
    ridge: float | None = None,
    runtime: Policy | None = None,
) -> Planned:
    """Return the plan of a draw of coefficients with a density that falls with the length of the gradient.

    Parameters
    ----------
    declared : Declared
        The fit; its loss is "logistic" or "squared".
    smooth : bool
        Of "squared": whether residuals are clipped smoothly, as ``clip * tanh(residual / clip)``.
    clip : float or None
        Of "squared", in units of the target; None takes a quarter of its range.
    ridge : float or None
        None takes the one at which one proposal in 256 is known to be accepted.
    runtime : policy or None
        How long to run; None for `CoolDown()`.
    """
    rows, drawn = declared.rows, DrawnRows.of(declared)
    reader, labels = drawn.reader, declared.classes is not None
    settings: dict[str, Any] = {}
    if labels:
        kind: Any = LogisticGradientLoss()
    else:
        low, high = declared.target_bounds
        settings["clip"] = (high - low) * _CLIP if clip is None else clip
        kind = (LogCoshGradientLoss if smooth else HuberGradientLoss)(clip=settings["clip"] / drawn.half)
    n_rows = declared.n_rows if declared.adjacency.size_is_public else None
    target = GradientTarget(
        loss=kind, reader=reader, ridge=default_ridge(kind, reader, n_rows or 1) if ridge is None else ridge
    )
    # Made before the charge, for it may refuse a norm.
    grid = None if rows.bounded else RowGrid(rows.n_coefficients, rows.row_norm)
    plan = plan_target(
        target,
        budget=declared.budget,
        adjacency=declared.adjacency,
        runtime=CoolDown() if runtime is None else check_policy(runtime),
        n_rows=n_rows,
    )

    def read(released: Release[Any]) -> RegressionResult:
        point = released.value.point
        found = reader.predictor(point)
        coef, intercept = found.coef, found.intercept
        if not labels:
            coef, intercept = coef * drawn.half, intercept * drawn.half + drawn.center
        return RegressionResult(
            loss=declared.loss,
            coefs=coef[None, :],
            constants=np.array([intercept if rows.intercept else 0.0]),
            has_intercept=rows.intercept,
            event=released.event,
            label=released.label,
            noise_dominated=draw_is_dominated(plan, point, reader.width),
            method="sample",
            settings=settings | {"ridge": float(target.ridge)},
            grid=grid,
            no_intervals=RIDGE,
        )

    return Planned(plan=plan, data=drawn.private_data, read=read)


def draw_is_dominated(plan: Any, point: Any, dimension: int) -> bool:
    """Return whether the spread of a draw is at least half of what was drawn, in squares; public."""
    spread = float(plan.scaled.spread * plan.scaled.grid.step)
    return bool(dimension * (dimension + 1) * spread**2 >= 0.5 * float(point @ point))
