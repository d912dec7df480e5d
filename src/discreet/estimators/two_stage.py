"""Support votes, then objective perturbation, as scikit-learn estimators."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from discreet.descent.losses import loss_named
from discreet.descent.one_model_a_class import ModelPlan
from discreet.descent.rivals.two_stage import plan_two_stage
from discreet.errors import InvalidType
from discreet.estimators.arguments import says_what_it_lacks
from discreet.estimators.descent_base import DescentEstimator
from discreet.estimators.descent_classifier import DescentClassifier
from discreet.estimators.descent_regressor import DescentRegressor
from discreet.estimators.step_family import check_sparsity
from discreet.lattice.row_grid import RowGrid
from discreet.privacy.budgets import check_budget
from discreet.privacy.events.repeated import share_of

if TYPE_CHECKING:
    from discreet.estimators.descent_base import Facts
    from discreet.lattice.bounds import Interval
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget

# The residual's clip, as a part of the target's range, where none is given; and of the rows' norm, the intercept's.
_OF_RANGE = 1 / 4
_OF_NORM = 1 / 2


class TwoStageFamily(DescentEstimator):
    """Votes of blocks for a support, then a perturbed objective on it."""

    sparsity: int
    entry_bound: float | None
    n_blocks: int | None
    regularization: float | None
    clip: float | None

    def _plan(self, facts: Facts) -> ModelPlan:
        check_budget(self.budget)
        if self.sparsity is None:
            raise InvalidType(f"{type(self).__name__} needs `sparsity`, the number of columns that are voted for.")
        sparsity = check_sparsity(self.sparsity, facts.n_columns)
        bare = RowGrid(facts.n_columns, self.row_norm, self.entry_bound)
        column = math.sqrt(bare.norm_squared(sparsity)) * bare.unit * _OF_NORM
        grid = self._row_grid(facts, column, self.entry_bound)
        clip = self.clip
        if clip is None:
            width = facts.target_bounds[1] - facts.target_bounds[0]
            clip = 1.0 if self._loss == "logistic" else width * _OF_RANGE
        plan = plan_two_stage(
            grid,
            loss_named(self._loss, clip=clip),
            budget=share_of(self.budget, facts.n_models),
            adjacency=facts.adjacency,
            n_rows=facts.n_rows,
            sparsity=sparsity,
            n_blocks=self.n_blocks,
            regularization=self.regularization,
            target_bounds=facts.target_bounds,
        )
        settled = {"sparsity": sparsity, "n_blocks": plan.event.n_blocks, "clip": clip}
        return ModelPlan(plan, grid, settled | {"regularization": float(plan.event.regularization)})


class TwoStageLinearRegression(TwoStageFamily, DescentRegressor):
    """Sparse least squares in two stages: blocks of records vote for columns, then a perturbed objective is minimized.

    It needs many blocks and large ones: with a few thousand rows :class:`SparseLinearRegression` is far better.

    Parameters
    ----------
    budget : Pure or Approx
        What one fit may cost; half of epsilon pays for the votes.
    sparsity : int
        How many columns each block votes for, and how many are kept.
    row_norm : float
        Every row is scaled down to this Euclidean norm.
    y_bounds : Interval
        The declared public range of y, in its own units; cells outside are clipped, predictions too.
    adjacency : Replace or AddRemove
        Which data sets are neighbours; there is no default.
    entry_bound : float or None, default None
        Every entry of a scaled row is clipped to this size; None means `row_norm`.
    n_blocks : int or None
        How many blocks; None takes the root of the public number of rows. Under Replace a record's block is its
        position, so the fit depends on the order of the rows; under AddRemove it is a function of its content.
    regularization : float or None
        Strong convexity of the second stage, of parameters times `row_norm`; None: from the budget.
    clip : float or None
        Residuals are clipped to this size, in units of y; None takes 1/4 of its range.
    expected_rows : int or None
        Under AddRemove: a public guess of the number of rows.
    fit_intercept : bool
        Whether there is an intercept, a column of half the row's norm.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (n_features,)
        At most `sparsity` of them are not 0.
    intercept_ : float
        In units of y.
    release_ : Release
        The support and the noisy parameters, the event, cost and adjacency.
    sparsity_, n_blocks_, regularization_, clip_
        The public settings that were used.
    grid_, n_features_in_, feature_names_in_
        As for :class:`SparseLinearRegression`.

    Guarantee
    ---------
    One `fit` satisfies `budget` under `adjacency`, for any X and y. Proof: docs/proofs/perturbation.md.

    Source
    ------
    Kifer, Smith and Thakurta 2012.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(900, 20))
    >>> model = dp.TwoStageLinearRegression(
    ...     budget=dp.Approx(epsilon=8, delta="1e-6"), sparsity=1, row_norm=4, y_bounds=dp.Interval(-2, 2),
    ...     adjacency=dp.Replace(),
    ... ).fit(X, 2 * X[:, 3])
    >>> np.flatnonzero(model.coef_).tolist()
    [3]
    """

    @says_what_it_lacks
    def __init__(
        self,
        *,
        budget: Budget,
        sparsity: int,
        row_norm: float,
        y_bounds: Interval,
        adjacency: Adjacency,
        entry_bound: float | None = None,
        n_blocks: int | None = None,
        regularization: float | None = None,
        clip: float | None = None,
        expected_rows: int | None = None,
        fit_intercept: bool = True,
    ) -> None:
        self.budget = budget
        self.sparsity = sparsity
        self.row_norm = row_norm
        self.y_bounds = y_bounds
        self.adjacency = adjacency
        self.entry_bound = entry_bound
        self.n_blocks = n_blocks
        self.regularization = regularization
        self.clip = clip
        self.expected_rows = expected_rows
        self.fit_intercept = fit_intercept


class TwoStageLogisticRegression(TwoStageFamily, DescentClassifier):
    """Sparse logistic regression in two stages: blocks vote for columns, then a perturbed objective is minimized.

    More than two classes are fitted one against the rest, all in one charge of the whole budget, which is shared
    equally.

    Parameters
    ----------
    budget, sparsity, row_norm, adjacency, entry_bound, n_blocks, regularization, expected_rows, fit_intercept
        As for :class:`TwoStageLinearRegression`.
    clip : float or None
        Residuals, which are probabilities minus labels, are clipped to this size; None clips nothing.
    classes : sequence of labels, optional
        The declared classes, as for :class:`SparseLogisticRegression`.

    Attributes
    ----------
    coef_, intercept_, classes_, release_
        As for :class:`SparseLogisticRegression`.
    sparsity_, n_blocks_, regularization_, clip_, grid_, n_features_in_, feature_names_in_
        As for :class:`TwoStageLinearRegression`.

    Guarantee
    ---------
    One `fit` with declared classes satisfies `budget` under `adjacency`. Proof: docs/proofs/perturbation.md.
    """

    @says_what_it_lacks
    def __init__(
        self,
        *,
        budget: Budget,
        sparsity: int,
        row_norm: float,
        adjacency: Adjacency,
        entry_bound: float | None = None,
        classes: Any = None,
        n_blocks: int | None = None,
        regularization: float | None = None,
        clip: float | None = None,
        expected_rows: int | None = None,
        fit_intercept: bool = True,
    ) -> None:
        self.budget = budget
        self.sparsity = sparsity
        self.row_norm = row_norm
        self.adjacency = adjacency
        self.entry_bound = entry_bound
        self.classes = classes
        self.n_blocks = n_blocks
        self.regularization = regularization
        self.clip = clip
        self.expected_rows = expected_rows
        self.fit_intercept = fit_intercept
