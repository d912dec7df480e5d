"""Logistic regression by a perturbed objective or minimizer, as a scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet import _checks
from discreet.descent.losses import LogisticLoss
from discreet.descent.one_model_a_class import ModelPlan
from discreet.descent.rivals.perturbation import METHODS, plan_perturbation
from discreet.estimators.arguments import says_what_it_lacks
from discreet.estimators.descent_classifier import DescentClassifier
from discreet.estimators.step_family import additive
from discreet.lattice.row_grid import RowGrid
from discreet.privacy.budgets import check_budget
from discreet.privacy.events.repeated import share_of

if TYPE_CHECKING:
    from discreet.estimators.descent_base import Facts
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget

# Of the rows' norm, the value of the intercept's column: noise grows by an eighth.
_OF_NORM = 1 / 2


class PerturbedLogisticRegression(DescentClassifier):
    """Logistic regression with a ridge, whose objective or minimizer is perturbed once.

    For a few columns, and for budgets in Pure. More than two classes are fitted one against the rest, all in one
    charge of the whole budget, which is shared equally.

    Parameters
    ----------
    budget : Pure, Approx, Zcdp or Gdp
        What one fit may cost; method="objective" takes Pure or Approx.
    row_norm : float
        Every row is scaled down to this Euclidean norm.
    adjacency : Replace or AddRemove
        Which data sets are neighbours; there is no default.
    classes : sequence of labels, optional
        The declared classes, as for :class:`SparseLogisticRegression`.
    method : {"objective", "output"}
        What is perturbed.
    regularization : float or None
        alpha: the sum of losses has ``alpha / 2 * |row_norm * theta|**2`` added. None chooses from public numbers.
    noise : {None, "exact", "paper"}
        None is "exact". "paper" is the printed noise of Kifer, Smith and Thakurta for an Approx budget;
        `release_.cost` is its true cost.
    expected_rows : int or None
        Under AddRemove: a public guess of the number of rows.
    fit_intercept : bool
        Whether there is an intercept, a column of half the row's norm that has the same ridge.

    Attributes
    ----------
    coef_, intercept_, classes_, release_
        As for :class:`SparseLogisticRegression`.
    method_, regularization_, noise_, n_steps_
        The public settings that were used; the steps are those of the minimization.
    grid_, n_features_in_, feature_names_in_
        As for :class:`SparseLinearRegression`.

    Guarantee
    ---------
    One `fit` with declared classes satisfies `budget` under `adjacency`, for any X and y; it does not rest on an exact
    minimizer. Coefficients are finite whether or not the classes can be separated. Proof: docs/proofs/perturbation.md.

    Source
    ------
    Chaudhuri, Monteleoni and Sarwate 2011; Kifer, Smith and Thakurta 2012.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(5000, 2))
    >>> y = np.where(X @ [1.0, -2.0] > 0, "yes", "no")
    >>> model = dp.PerturbedLogisticRegression(
    ...     budget=dp.Pure(epsilon=1), row_norm=2, classes=("no", "yes"), adjacency=dp.Replace(),
    ... ).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    @says_what_it_lacks
    def __init__(
        self,
        *,
        budget: Budget,
        row_norm: float,
        adjacency: Adjacency,
        classes: Any = None,
        method: str = "objective",
        regularization: float | None = None,
        noise: str | None = None,
        expected_rows: int | None = None,
        fit_intercept: bool = True,
    ) -> None:
        self.budget = budget
        self.row_norm = row_norm
        self.adjacency = adjacency
        self.classes = classes
        self.method = method
        self.regularization = regularization
        self.noise = noise
        self.expected_rows = expected_rows
        self.fit_intercept = fit_intercept

    def _plan(self, facts: Facts) -> ModelPlan:
        check_budget(self.budget)
        noise = "exact" if self.noise is None else self.noise
        method = _checks.one_of(self.method, "method", METHODS)
        bare = RowGrid(facts.n_columns, self.row_norm)
        grid = self._row_grid(facts, bare.row_norm * _OF_NORM, None)
        budget = self.budget
        if facts.n_models > 1:
            budget = share_of(additive(budget, gaussian=True) if method == "output" else budget, facts.n_models)
        plan = plan_perturbation(
            grid,
            LogisticLoss(),
            budget=budget,
            adjacency=facts.adjacency,
            n_rows=facts.n_rows,
            method=method,
            regularization=self.regularization,
            noise=noise,
        )
        settled = {"method": method, "noise": noise, "n_steps": plan.minimizer.n_steps}
        return ModelPlan(plan, grid, settled | {"regularization": plan.minimizer.regularization})
