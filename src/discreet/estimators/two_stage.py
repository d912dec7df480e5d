"""Sparse regression in two stages: support votes, then objective perturbation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.descent.rivals.models import plan_two_stage_model
from discreet.errors import InvalidType
from discreet.estimators.base import Model
from discreet.estimators.methods.coded import plan_normed
from discreet.estimators.sparse import INSTEAD
from discreet.estimators.targets import LabelModel, NumberModel

if TYPE_CHECKING:
    from discreet.estimators.methods.declared import Declared, Planned


class TwoStageModel(Model):
    """Votes of blocks for a support, then a perturbed objective on it."""

    _instead: ClassVar[dict[str, str]] = INSTEAD
    takes_sparse: ClassVar[bool] = True
    warns_of_noise: ClassVar[bool] = False

    row_norm: float | None = None
    entry_bound: float | None = None
    expected_rows: int | None = None
    sparsity: int
    n_blocks: int | None = None
    regularization: float | None = None
    clip: float | None = None

    def plan(self, declared: Declared) -> Planned:
        """Return the plan of votes and of a perturbed objective."""
        if self.sparsity is None:
            raise InvalidType(f"{type(self).__name__} needs `sparsity`, the number of columns that are voted for.")
        settings: dict[str, Any] = {
            name: getattr(self, name) for name in ("sparsity", "n_blocks", "regularization", "clip")
        }
        return plan_normed(declared, partial(plan_two_stage_model, **settings), method="two-stage")


class TwoStageLinearRegression(TwoStageModel, NumberModel):
    """Sparse least squares in two stages: blocks of records vote for columns, then a perturbed objective is minimized.

    It needs many blocks and large ones: with a few thousand rows :class:`SparseLinearRegression` is far better.

    Parameters
    ----------
    budget : Pure or Approx
        What one fit may cost; half of epsilon pays for the votes.
    sparsity : int
        How many columns each block votes for, and how many are kept.
    row_norm : float, optional
        Every row is scaled down to this Euclidean norm.
    x_bounds : Box, optional
        Instead: the declared public range of every column of X, in its own units; cells outside are clipped, and the
        norm follows from the bounds. `clip` then counts half-widths of the range of y.
    schema : Schema, optional
        Instead: declares the columns of a frame X, or of a table, by their names, as for :class:`LinearRegression`.
    y_bounds : Interval
        The declared public range of y, in its own units; cells outside are clipped; predictions too, with `row_norm`.
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

    _loss: ClassVar[str] = "squared"


class TwoStageLogisticRegression(TwoStageModel, LabelModel):
    """Sparse logistic regression in two stages: blocks vote for columns, then a perturbed objective is minimized.

    More than two classes are fitted one against the rest, all in one charge of the whole budget, which is shared
    equally.

    Parameters
    ----------
    budget, sparsity, row_norm, x_bounds, schema, adjacency, entry_bound
        As for :class:`TwoStageLinearRegression`.
    n_blocks, regularization, expected_rows, fit_intercept
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
