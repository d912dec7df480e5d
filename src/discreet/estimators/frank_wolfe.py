"""Private LASSO by Frank-Wolfe, as scikit-learn estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet import _checks
from discreet.descent.losses import loss_named
from discreet.descent.one_model_a_class import ModelPlan
from discreet.descent.rivals.frank_wolfe import plan_frank_wolfe
from discreet.estimators.arguments import says_what_it_lacks
from discreet.estimators.descent_base import DescentEstimator
from discreet.estimators.descent_classifier import DescentClassifier
from discreet.estimators.descent_regressor import DescentRegressor
from discreet.estimators.step_family import additive
from discreet.lattice.row_grid import RowGrid
from discreet.privacy.accounting import zcdp_rho
from discreet.privacy.budgets import Approx, Pure, Zcdp, check_budget
from discreet.privacy.events.repeated import share_of

if TYPE_CHECKING:
    from discreet.estimators.descent_base import Facts
    from discreet.lattice.bounds import Interval
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget

# The residual's clip, as a part of the target's range, where none is given.
_OF_RANGE = 1 / 16
_FEWEST_STEPS, _MOST_STEPS = 8, 400


class FrankWolfeFamily(DescentEstimator):
    """Steps toward one noisily chosen vertex of an l1 ball each."""

    radius: float
    entry_bound: float | None
    n_steps: int | None
    clip: float | None
    noise: str | None

    def _plan(self, facts: Facts) -> ModelPlan:
        check_budget(self.budget)
        noise = "exact" if self.noise is None else _checks.one_of(self.noise, "noise", ("exact", "paper"))
        bare = RowGrid(facts.n_columns, self.row_norm, self.entry_bound)
        # The intercept is one more vertex, as large as the largest entry, so that its choice costs nothing more.
        grid = self._row_grid(facts, bare.entry * bare.unit, self.entry_bound)
        budget = self.budget
        if facts.n_models > 1:
            budget = share_of(additive(budget, gaussian=False), facts.n_models)
        n_steps = default_steps(facts.n_rows, budget) if self.n_steps is None else self.n_steps
        clip = self.clip
        if clip is None:
            width = facts.target_bounds[1] - facts.target_bounds[0]
            clip = 1.0 if self._loss == "logistic" else width * _OF_RANGE
        plan = plan_frank_wolfe(
            grid,
            loss_named(self._loss, clip=clip),
            budget=budget,
            adjacency=facts.adjacency,
            radius=self.radius,
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


class FrankWolfeLinearRegression(FrankWolfeFamily, DescentRegressor):
    """Private LASSO: steps toward one vertex of an l1 ball each, chosen by Gumbel noise.

    Parameters
    ----------
    budget : Pure, Approx or Zcdp
        What one fit may cost.
    radius : float
        The sizes of the coefficients add up to at most this, in units of y per unit of the columns; with the
        intercept's, which counts as one more column of size `entry_bound`.
    row_norm : float
        Every row is scaled down to this Euclidean norm.
    y_bounds : Interval
        The declared public range of y, in its own units; cells outside are clipped, predictions too.
    adjacency : Replace or AddRemove
        Which data sets are neighbours; there is no default.
    entry_bound : float or None, default None
        Every entry of a scaled row is clipped to this size; None means `row_norm`. The noise is proportional to it.
    n_steps : int or None
        How many steps, fixed, and at most so many coefficients. None: from the public facts, by a rule.
    clip : float or None
        Residuals are clipped to this size, in units of y; None takes 1/16 of its range.
    noise : {None, "exact", "paper"}
        None is "exact". "paper" is the printed Laplace noise for an Approx budget; `release_.cost` is its true cost.
    expected_rows : int or None
        Under AddRemove: a public guess of the number of rows.
    fit_intercept : bool
        Whether there is an intercept.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (n_features,)
        At most `n_steps_` of them are not 0.
    intercept_ : float
        In units of y.
    release_ : Release
        The noisy parameters, the event, cost and adjacency.
    n_steps_, clip_, noise_, grid_, n_features_in_, feature_names_in_
        As for :class:`SparseLinearRegression`.

    Guarantee
    ---------
    One `fit` satisfies `budget` under `adjacency`, for any X and y. Proof: docs/proofs/perturbation.md.

    Source
    ------
    Talwar, Thakurta and Zhang 2015, with Gumbel noise.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(2000, 300))
    >>> y = X[:, :2] @ [2.0, -2.0]
    >>> model = dp.FrankWolfeLinearRegression(
    ...     budget=dp.Zcdp(rho=1), radius=4, row_norm=10, entry_bound=1, y_bounds=dp.Interval(-4, 4),
    ...     adjacency=dp.Replace(),
    ... ).fit(X, y)
    >>> bool(np.abs(model.coef_).sum() <= 4)
    True
    """

    @says_what_it_lacks
    def __init__(
        self,
        *,
        budget: Budget,
        radius: float,
        row_norm: float,
        y_bounds: Interval,
        adjacency: Adjacency,
        entry_bound: float | None = None,
        n_steps: int | None = None,
        clip: float | None = None,
        noise: str | None = None,
        expected_rows: int | None = None,
        fit_intercept: bool = True,
    ) -> None:
        self.budget = budget
        self.radius = radius
        self.row_norm = row_norm
        self.y_bounds = y_bounds
        self.adjacency = adjacency
        self.entry_bound = entry_bound
        self.n_steps = n_steps
        self.clip = clip
        self.noise = noise
        self.expected_rows = expected_rows
        self.fit_intercept = fit_intercept


class FrankWolfeLogisticRegression(FrankWolfeFamily, DescentClassifier):
    """Logistic regression over an l1 ball by private Frank-Wolfe.

    More than two classes are fitted one against the rest, all in one charge of the whole budget, which is shared
    equally.

    Parameters
    ----------
    budget, radius, row_norm, adjacency, entry_bound, n_steps, noise, expected_rows, fit_intercept
        As for :class:`FrankWolfeLinearRegression`.
    clip : float or None
        Residuals, which are probabilities minus labels, are clipped to this size; None clips nothing.
    classes : sequence of labels, optional
        The declared classes, as for :class:`SparseLogisticRegression`.

    Attributes
    ----------
    coef_, intercept_, classes_, release_
        As for :class:`SparseLogisticRegression`.
    n_steps_, clip_, noise_, grid_, n_features_in_, feature_names_in_
        As for :class:`FrankWolfeLinearRegression`.

    Guarantee
    ---------
    One `fit` with declared classes satisfies `budget` under `adjacency`. Proof: docs/proofs/perturbation.md.
    """

    @says_what_it_lacks
    def __init__(
        self,
        *,
        budget: Budget,
        radius: float,
        row_norm: float,
        adjacency: Adjacency,
        entry_bound: float | None = None,
        classes: Any = None,
        n_steps: int | None = None,
        clip: float | None = None,
        noise: str | None = None,
        expected_rows: int | None = None,
        fit_intercept: bool = True,
    ) -> None:
        self.budget = budget
        self.radius = radius
        self.row_norm = row_norm
        self.adjacency = adjacency
        self.entry_bound = entry_bound
        self.classes = classes
        self.n_steps = n_steps
        self.clip = clip
        self.noise = noise
        self.expected_rows = expected_rows
        self.fit_intercept = fit_intercept
