"""Logistic regression by a perturbed objective or minimizer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.descent.rivals.models import plan_perturbed
from discreet.estimators.methods.coded import plan_normed
from discreet.estimators.sparse import INSTEAD
from discreet.estimators.targets import LabelModel

if TYPE_CHECKING:
    from discreet.estimators.methods.declared import Declared, Planned


class PerturbedLogisticRegression(LabelModel):
    """Logistic regression with a ridge, whose objective or minimizer is perturbed once.

    For a few columns, and for budgets in Pure. More than two classes are fitted one against the rest, all in one
    charge of the whole budget, which is shared equally.

    Parameters
    ----------
    budget : Pure, Approx, Zcdp or Gdp
        What one fit may cost; method="objective" takes Pure or Approx.
    row_norm : float, optional
        Every row is scaled down to this Euclidean norm.
    x_bounds : Box, optional
        Instead: the declared public range of every column of X, in its own units; cells outside are clipped, and the
        norm follows from the bounds.
    schema : Schema, optional
        Instead: declares the columns of a frame X, or of a table, by their names, as for :class:`LinearRegression`.
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

    _instead: ClassVar[dict[str, str]] = INSTEAD
    takes_sparse: ClassVar[bool] = True
    warns_of_noise: ClassVar[bool] = False

    row_norm: float | None = None
    expected_rows: int | None = None
    method: str = "objective"
    regularization: float | None = None
    noise: str | None = None

    def plan(self, declared: Declared) -> Planned:
        """Return the plan of a perturbed objective or minimizer."""
        settings: dict[str, Any] = {name: getattr(self, name) for name in ("method", "regularization", "noise")}
        return plan_normed(declared, partial(plan_perturbed, **settings), method=str(self.method))
