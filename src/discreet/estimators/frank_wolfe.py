"""Private LASSO by Frank-Wolfe."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.descent.rivals.models import plan_frank_wolfe_model
from discreet.estimators.base import Model
from discreet.estimators.methods.coded import plan_normed
from discreet.estimators.sparse import INSTEAD
from discreet.estimators.targets import LabelModel, NumberModel

if TYPE_CHECKING:
    from discreet.estimators.methods.declared import Declared, Planned


class FrankWolfeModel(Model):
    """A model of steps toward one noisily chosen vertex of an l1 ball each."""

    _instead: ClassVar[dict[str, str]] = INSTEAD
    takes_sparse: ClassVar[bool] = True
    warns_of_noise: ClassVar[bool] = False

    row_norm: float | None = None
    entry_bound: float | None = None
    expected_rows: int | None = None
    radius: float
    n_steps: int | None = None
    clip: float | None = None
    noise: str | None = None

    def plan(self, declared: Declared) -> Planned:
        """Return the plan of steps toward vertices."""
        settings: dict[str, Any] = {name: getattr(self, name) for name in ("radius", "n_steps", "clip", "noise")}
        return plan_normed(declared, partial(plan_frank_wolfe_model, **settings), method="frank-wolfe")


class FrankWolfeLinearRegression(FrankWolfeModel, NumberModel):
    """Private LASSO: steps toward one vertex of an l1 ball each, chosen by Gumbel noise.

    Parameters
    ----------
    budget : Pure, Approx or Zcdp
        What one fit may cost.
    radius : float
        The sizes of the coefficients add up to at most this, in units of y per unit of the columns; with the
        intercept's, which counts as one more column of size `entry_bound`.
    row_norm : float, optional
        Every row is scaled down to this Euclidean norm.
    x_bounds : Box, optional
        Instead: the declared public range of every column of X, in its own units; cells outside are clipped, and the
        norm follows from the bounds. `radius` and `clip` then count half-widths of the range of y, and of a column.
    schema : Schema, optional
        Instead: declares the columns of a frame X, or of a table, by their names, as for :class:`LinearRegression`.
    y_bounds : Interval
        The declared public range of y, in its own units; cells outside are clipped; predictions too, with `row_norm`.
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

    _loss: ClassVar[str] = "squared"


class FrankWolfeLogisticRegression(FrankWolfeModel, LabelModel):
    """Logistic regression over an l1 ball by private Frank-Wolfe.

    More than two classes are fitted one against the rest, all in one charge of the whole budget, which is shared
    equally.

    Parameters
    ----------
    budget, radius, row_norm, x_bounds, schema, adjacency, entry_bound, n_steps, noise, expected_rows, fit_intercept
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
