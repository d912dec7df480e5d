"""Models of the rivals from public facts: a perturbed objective, Frank-Wolfe, two stages."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet import _checks
from discreet.descent.losses import LogisticLoss, loss_named
from discreet.descent.model_plans import ModelPlan
from discreet.descent.rivals.frank_wolfe import plan_frank_wolfe
from discreet.descent.rivals.perturbation import METHODS, plan_perturbation
from discreet.descent.rivals.two_stage import plan_two_stage
from discreet.descent.step_models import check_sparsity
from discreet.privacy.accounting import zcdp_rho
from discreet.privacy.budgets import Approx, Pure, Zcdp
from discreet.privacy.events.repeated import share_of

if TYPE_CHECKING:
    from discreet.descent.model_plans import ModelFacts
    from discreet.privacy.budgets import Budget

# Of the rows' norm, the value of the intercept's column: noise grows by an eighth.
_OF_NORM = 1 / 2
# The residual's clip, as a part of the target's range, where none is given.
_OF_RANGE, _OF_RANGE_FRANK_WOLFE = 1 / 4, 1 / 16
_FEWEST_STEPS, _MOST_STEPS = 8, 400


def plan_perturbed(
    facts: ModelFacts, *, method: str = "objective", regularization: float | None = None, noise: str | None = None
) -> ModelPlan:
    """Return the plan of one logistic model with a perturbed objective or minimizer.

    Parameters
    ----------
    facts : ModelFacts
        What is public.
    method, regularization, noise
        As for :class:`PerturbedLogisticRegression`.
    """
    noise = "exact" if noise is None else noise
    method = _checks.one_of(method, "method", METHODS)
    grid = facts.grid(facts.bare_grid.row_norm * _OF_NORM)
    plan = plan_perturbation(
        grid,
        LogisticLoss(),
        budget=facts.share(gaussian=True if method == "output" else None),
        adjacency=facts.adjacency,
        n_rows=facts.n_rows,
        method=method,
        regularization=regularization,
        noise=noise,
    )
    minimizer = plan.minimizer
    settings = {"method": method, "noise": noise, "n_steps": minimizer.n_steps}
    return ModelPlan(plan, grid, settings | {"regularization": minimizer.regularization})


def plan_frank_wolfe_model(
    facts: ModelFacts, *, radius: float, n_steps: int | None = None, clip: float | None = None, noise: str | None = None
) -> ModelPlan:
    """Return the plan of one model of steps toward one noisily chosen vertex of an l1 ball each.

    Parameters
    ----------
    facts : ModelFacts
        What is public.
    radius, n_steps, clip, noise
        As for :class:`FrankWolfeLinearRegression`.
    """
    noise = "exact" if noise is None else _checks.one_of(noise, "noise", ("exact", "paper"))
    bare, budget = facts.bare_grid, facts.share(gaussian=False)
    # The intercept is one more vertex, as large as the largest entry, so that its choice costs nothing more.
    grid = facts.grid(bare.entry * bare.unit)
    n_steps = default_steps(facts.n_rows, budget) if n_steps is None else n_steps
    clip = facts.clip_of_range(_OF_RANGE_FRANK_WOLFE) if clip is None else clip
    plan = plan_frank_wolfe(
        grid,
        loss_named(facts.loss, clip=clip),
        budget=budget,
        adjacency=facts.adjacency,
        radius=radius,
        n_steps=n_steps,
        target_bounds=facts.target_bounds,
        noise="gumbel" if noise == "exact" else noise,
    )
    return ModelPlan(plan, grid, {"n_steps": n_steps, "clip": clip, "noise": noise})


def default_steps(n_rows: int, budget: Budget) -> int:
    """Return a number of steps from public facts: it grows as (n epsilon)**(2/3), as the theory of the method has it.

    Examples
    --------
    >>> default_steps(1000, Zcdp(rho="1/2"))
    50
    """
    if isinstance(budget, Pure):
        signal = float(budget.epsilon) / 8
    elif isinstance(budget, Zcdp):
        signal = float(2 * budget.rho) ** 0.5
    elif isinstance(budget, Approx) and budget.delta > 0:
        signal = float(2 * zcdp_rho(epsilon=budget.epsilon, delta=budget.delta)) ** 0.5
    else:
        return _FEWEST_STEPS  # the plan refuses this currency
    steps = float((n_rows * signal) ** (2 / 3)) / 2
    return round(min(max(steps, _FEWEST_STEPS), _MOST_STEPS))


def plan_two_stage_model(
    facts: ModelFacts,
    *,
    sparsity: int,
    n_blocks: int | None = None,
    regularization: float | None = None,
    clip: float | None = None,
) -> ModelPlan:
    """Return the plan of one model whose columns blocks of records vote for, and whose objective is then perturbed.

    Parameters
    ----------
    facts : ModelFacts
        What is public.
    sparsity, n_blocks, regularization, clip
        As for :class:`TwoStageLinearRegression`.
    """
    sparsity = check_sparsity(sparsity, facts.n_columns)
    bare = facts.bare_grid
    grid = facts.grid(math.sqrt(bare.norm_squared(sparsity)) * bare.unit * _OF_NORM)
    clip = facts.clip_of_range(_OF_RANGE) if clip is None else clip
    plan = plan_two_stage(
        grid,
        loss_named(facts.loss, clip=clip),
        budget=share_of(facts.budget, facts.n_models),
        adjacency=facts.adjacency,
        n_rows=facts.n_rows,
        sparsity=sparsity,
        n_blocks=n_blocks,
        regularization=regularization,
        target_bounds=facts.target_bounds,
    )
    settings = {"sparsity": sparsity, "n_blocks": plan.event.n_blocks, "clip": clip}
    return ModelPlan(plan, grid, settings | {"regularization": float(plan.event.regularization)})
