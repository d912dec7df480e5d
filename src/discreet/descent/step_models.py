"""Models of noisy steps from public facts: DP-IGHT, peeling, one coordinate, all columns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.descent.calibration import automatic_selection, plan_descent
from discreet.descent.losses import loss_named
from discreet.descent.model_plans import ModelPlan
from discreet.descent.rivals.minimizer import curvature
from discreet.descent.simulation import tune_on_simulation
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.descent.losses import Loss
    from discreet.descent.model_plans import ModelFacts
    from discreet.lattice.row_grid import RowGrid
    from discreet.privacy.budgets import Budget

SELECTIONS = ("auto", "all", "threshold", "peel", "coordinate")
# Of the norm of what a step's noise is scaled to, the intercept's column has this part: it adds 1/64 to the variance.
_OF_NORM = 1 / 8
# From so many steps on, a step of the intercept is this part of one of Newton's method.
_MANY, _OF_NEWTON = 32, 0.3


def plan_steps(
    facts: ModelFacts,
    *,
    sparsity: int | None = None,
    selection: str = "auto",
    n_steps: int | None = None,
    step_size: float | None = None,
    clip: float | None = None,
    noise: str | None = None,
    shorten_steps: bool = False,
) -> ModelPlan:
    """Return the plan of one model of noisy steps that costs its share of the budget.

    Parameters
    ----------
    facts : ModelFacts
        What is public.
    sparsity, selection, n_steps, step_size, clip, noise
        As for :class:`SparseLinearRegression`.
    shorten_steps : bool
        Whether steps are shortened where released gradients tell that columns are too much alike for them.
    """
    selection = _checks.one_of(selection, "selection", SELECTIONS)
    noise = "exact" if noise is None else _checks.one_of(noise, "noise", ("exact", "paper"))
    bare, most = facts.bare_grid, check_sparsity(sparsity, facts.n_columns)
    if selection == "auto":
        selection = "threshold" if noise == "paper" else automatic_selection(bare, most)
    budget = facts.share(gaussian=selection in {"all", "threshold"})
    settings = _settings(facts, budget, selection, most, n_steps=n_steps, step_size=step_size, clip=clip)
    loss = loss_named(facts.loss, clip=settings["clip"])
    grid = facts.grid(intercept_column(bare, selection, settings["sparsity"]))
    plan = plan_descent(
        grid,
        loss,
        budget=budget,
        adjacency=facts.adjacency,
        target_bounds=facts.target_bounds,
        n_selected=settings["sparsity"],
        n_steps=settings["n_steps"],
        step_size=settings["step_size"],
        divisor=float(facts.n_rows),
        selection=selection,
        noise=noise,
        noise_floor=settings["noise_floor"],
        column_scale=column_scale(grid, loss, settings["step_size"], settings["n_steps"]),
        shorten_steps=shorten_steps,
    )
    return ModelPlan(plan, grid, settings | {"selection": selection, "noise": noise})


def _settings(
    facts: ModelFacts,
    budget: Budget,
    selection: str,
    sparsity: int,
    *,
    n_steps: int | None,
    step_size: float | None,
    clip: float | None,
) -> dict[str, Any]:
    """Return the settings that were given, and for the others those that do best on simulations; free."""
    bare = facts.bare_grid
    found = tune_on_simulation(
        loss=facts.loss,
        n_rows=facts.n_rows,
        n_columns=facts.n_columns,
        row_norm=bare.row_norm,
        entry_bound=bare.entry_bound,
        budget=budget,
        adjacency=facts.adjacency,
        sparsity=sparsity,
        selection=selection,
        target_bounds=facts.target_bounds,
        n_steps=n_steps,
        clip=clip,
    )
    settings = {name: getattr(found, name) for name in ("n_steps", "step_size", "clip", "sparsity", "noise_floor")}
    if step_size is not None:
        settings["step_size"] = _checks.finite_float(step_size, "step_size")
    if not settings["step_size"] > 0:
        raise InvalidArgument(f"`step_size` must be greater than 0; found {step_size}.")
    return settings


def check_sparsity(sparsity: Any, n_columns: int) -> int:
    """Return how many columns a model may have; refuse 0 and more than there are, naming both numbers."""
    number = n_columns if sparsity is None else _checks.integer(sparsity, "sparsity", low=-(2**62))
    if 1 <= number <= n_columns:
        return number
    raise InvalidArgument(
        f"`sparsity` must be between 1 and the number of columns; found sparsity = {number}, n_features = {n_columns}."
    )


def intercept_column(grid: RowGrid, selection: str, sparsity: int) -> float:
    """Return the value of the intercept's column, so small that the noise on all other columns hardly grows."""
    n_selected = {"peel": sparsity, "coordinate": 1}.get(selection, grid.n_columns)
    return math.sqrt(grid.norm_squared(n_selected)) * grid.unit * _OF_NORM


def column_scale(grid: RowGrid, loss: Loss, step_size: float, n_steps: int) -> np.ndarray | None:
    """Return factors of the step size: 1, and for the intercept what makes its step a part of Newton's method's.

    A whole one where steps are few. Where they are many a part is soon as good, and leaves more room below the largest
    stable step to columns that are in nearly every row.
    """
    if not grid.constant:
        return None
    scale = np.ones(grid.width)
    column = grid.constant * grid.unit
    part = 1.0 if n_steps < _MANY else _OF_NEWTON
    scale[-1] = min(max(part / (step_size * column**2 * curvature(loss)), 1e-30), 1e30)
    return scale
