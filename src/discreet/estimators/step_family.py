"""How the estimators of noisy descent plan one model from their declarations and public facts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.descent.calibration import automatic_selection, plan_descent
from discreet.descent.losses import loss_named
from discreet.descent.one_model_a_class import ModelPlan
from discreet.descent.rivals.minimizer import curvature
from discreet.descent.simulation import tune_on_simulation
from discreet.errors import InvalidArgument
from discreet.estimators.descent_base import DescentEstimator
from discreet.lattice.row_grid import RowGrid
from discreet.privacy.accounting import gaussian_mu, zcdp_rho
from discreet.privacy.budgets import Approx, Gdp, Zcdp, check_budget
from discreet.privacy.events.repeated import share_of

if TYPE_CHECKING:
    from discreet.descent.losses import Loss
    from discreet.estimators.descent_base import Facts
    from discreet.privacy.budgets import Budget

SELECTIONS = ("auto", "all", "threshold", "peel", "coordinate")
# Of the norm of what a step's noise is scaled to, the intercept's column has this part: it adds 1/64 to the variance.
_OF_NORM = 1 / 8
# From so many steps on, a step of the intercept is this part of one of Newton's method.
_MANY, _OF_NEWTON = 32, 0.3


def check_sparsity(sparsity: Any, n_columns: int) -> int:
    """Return how many columns a model may have; refuse 0 and more than there are, naming both numbers."""
    number = n_columns if sparsity is None else _checks.integer(sparsity, "sparsity", low=-(2**62))
    if 1 <= number <= n_columns:
        return number
    raise InvalidArgument(
        f"`sparsity` must be between 1 and the number of columns; found sparsity = {number}, n_features = {n_columns}."
    )


def additive(budget: Budget, *, gaussian: bool) -> Budget:
    """Return a budget in the currency in which noisy steps add up without loss: Gdp, or Zcdp where columns are chosen.

    Where (epsilon, delta) is split among several models, splitting it by itself would cost far more.
    """
    if not isinstance(budget, Approx) or budget.delta == 0:
        return budget
    if gaussian:
        return Gdp(mu=gaussian_mu(epsilon=budget.epsilon, delta=budget.delta))
    return Zcdp(rho=zcdp_rho(epsilon=budget.epsilon, delta=budget.delta))


class StepFamily(DescentEstimator):
    """Noisy steps: DP-IGHT, peeling, one coordinate, all columns."""

    sparsity: int | None
    entry_bound: float | None
    selection: str
    n_steps: int | None
    step_size: float | None
    clip: float | None
    noise: str | None

    def _plan(self, facts: Facts, *, shorten_steps: bool = False) -> ModelPlan:
        check_budget(self.budget)
        selection = _checks.one_of(self.selection, "selection", SELECTIONS)
        noise = "exact" if self.noise is None else _checks.one_of(self.noise, "noise", ("exact", "paper"))
        sparsity = check_sparsity(self.sparsity, facts.n_columns)
        bare = RowGrid(facts.n_columns, self.row_norm, self.entry_bound)
        if selection == "auto":
            selection = "threshold" if noise == "paper" else automatic_selection(bare, sparsity)
        gaussian = selection in {"all", "threshold"}
        budget = self.budget
        if facts.n_models > 1:
            budget = share_of(additive(budget, gaussian=gaussian), facts.n_models)
        settled = self._settled(facts, bare, budget, selection, sparsity)
        loss = loss_named(self._loss, clip=settled["clip"])
        column = intercept_column(bare, selection, settled["sparsity"])
        grid = self._row_grid(facts, column, self.entry_bound)
        plan = plan_descent(
            grid,
            loss,
            budget=budget,
            adjacency=facts.adjacency,
            target_bounds=facts.target_bounds,
            n_selected=settled["sparsity"],
            n_steps=settled["n_steps"],
            step_size=settled["step_size"],
            divisor=float(facts.n_rows),
            selection=selection,
            noise=noise,
            noise_floor=settled["noise_floor"],
            column_scale=column_scale(grid, loss, settled["step_size"], settled["n_steps"]),
            shorten_steps=shorten_steps,
        )
        return ModelPlan(plan, grid, settled | {"selection": selection, "noise": noise})

    def _settled(self, facts: Facts, grid: RowGrid, budget: Budget, selection: str, sparsity: int) -> dict[str, Any]:
        """Return the settings that were given, and for the others those that do best on simulations; free."""
        found = tune_on_simulation(
            loss=self._loss,
            n_rows=facts.n_rows,
            n_columns=facts.n_columns,
            row_norm=grid.row_norm,
            entry_bound=grid.entry_bound,
            budget=budget,
            adjacency=facts.adjacency,
            sparsity=sparsity,
            selection=selection,
            target_bounds=facts.target_bounds,
            n_steps=self.n_steps,
            clip=self.clip,
        )
        settled = {name: getattr(found, name) for name in ("n_steps", "step_size", "clip", "sparsity", "noise_floor")}
        if self.step_size is not None:
            settled["step_size"] = _checks.finite_float(self.step_size, "step_size")
        if not settled["step_size"] > 0:
            raise InvalidArgument(f"`step_size` must be greater than 0; found {self.step_size}.")
        return settled


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
