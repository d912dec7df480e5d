"""Sparse linear and logistic regression by noisy gradient steps: DP-IGHT, peeling, one coordinate, all columns."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.descent.step_models import plan_steps
from discreet.estimators.base import Model
from discreet.estimators.methods.coded import plan_normed
from discreet.estimators.targets import LabelModel, NumberModel

if TYPE_CHECKING:
    from discreet.estimators.methods.declared import Declared, Planned

# What scikit-learn's arguments are called here, or why they are not here.
INSTEAD = {
    "alpha": "`sparsity` and the noise floor keep the model small; leave it out",
    "C": "`sparsity` and the noise floor keep the model small; leave it out",
    "epsilon": "a guarantee is a value: write budget=Approx(epsilon=..., delta=...)",
    "bounds": "rows are bounded by row_norm= and entry_bound=, a target by y_bounds=Interval(lower, upper)",
    "l1_ratio": "`sparsity` bounds the number of columns; leave it out",
    "learning_rate": "it is called step_size",
    "max_iter": "the number of steps is public and fixed: n_steps=",
    "multi_class": "more than two classes are fitted one against the rest; leave it out",
    "n_jobs": "each step waits for the one before; leave it out",
    "n_nonzero_coefs": "it is called sparsity",
    "normalize": "rows are scaled down to row_norm, each by itself; leave it out",
    "penalty": "`sparsity` bounds the number of columns; leave it out",
    "solver": "the solver is the mechanism: selection=",
    "tol": "stopping early would tell of the rows; the number of steps is fixed: n_steps=",
}


class StepModel(Model):
    """A model of noisy steps."""

    _instead: ClassVar[dict[str, str]] = INSTEAD
    takes_sparse: ClassVar[bool] = True
    warns_of_noise: ClassVar[bool] = False

    row_norm: float | None = None
    entry_bound: float | None = None
    expected_rows: int | None = None
    sparsity: int | None
    selection: str = "auto"
    n_steps: int | None = None
    step_size: float | None = None
    clip: float | None = None
    noise: str | None = None

    def plan(self, declared: Declared) -> Planned:
        """Return the plan of noisy steps."""
        names = ("sparsity", "selection", "n_steps", "step_size", "clip", "noise")
        settings: dict[str, Any] = {name: getattr(self, name) for name in names}
        return plan_normed(declared, partial(plan_steps, **settings), method="steps")


class SparseLinearRegression(StepModel, NumberModel):
    """Sparse least squares by noisy gradient steps: DP-IGHT, peeling, or one column at a time.

    The rows may have far more columns than there are rows, and be sparse: nothing densifies.

    Parameters
    ----------
    budget : Approx, Zcdp or Gdp
        What one fit may cost. Choices by Gumbel noise ("peel", "coordinate") have no price in Gdp.
    sparsity : int or None
        At most so many coefficients are not 0, between 1 and the number of columns; an upper bound will do, since
        those below the noise are set to 0. None lets public simulations choose.
    row_norm : float, optional
        Every row is scaled down to this Euclidean norm, by itself: a public number that costs nothing.
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
        Every entry of a scaled row is clipped to this size; None means `row_norm`. Small ones make "peel" cheap.
    selection : {"auto", "all", "threshold", "peel", "coordinate"}
        "threshold" puts noise on every column and keeps the largest (DP-IGHT), "peel" chooses the largest by Gumbel
        noise and puts noise on those alone, "coordinate" moves one column a step, "all" keeps every column. "auto"
        takes "threshold" where ``row_norm**2 < 2 * sparsity * entry_bound**2``, else "peel".
    n_steps : int or None
        How many steps, fixed. None, here and below: from simulations of public facts alone, which are free.
    step_size : float or None
        The step along the gradient of the mean loss.
    clip : float or None
        Residuals are clipped to this size, in units of y: beyond it the loss grows linearly, as Huber's does.
    noise : {None, "exact", "paper"}
        None is "exact". "paper" is the printed variance of DP-IGHT for `budget`; it belongs to neither adjacency, and
        `release_.cost` is the true cost.
    expected_rows : int or None
        Under AddRemove, where the number of rows is private: a public guess of it, by which sums are divided.
    fit_intercept : bool
        Whether there is an intercept: y is centered in the middle of its bounds, and one more column of 1/8 of the
        row's norm learns the rest. It adds 1/64 to the noise's variance and is never thresholded.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (n_features,)
        In units of y per unit of the column, of rows within `row_norm` and `entry_bound`; `predict` bounds new rows
        in the same way.
    intercept_ : float
        In units of y.
    release_ : Release
        The noisy parameters, the event, cost and adjacency, and whether the coins were the system's.
    n_steps_, step_size_, clip_, sparsity_, noise_floor_, selection_, noise_
        The public settings that were used.
    grid_ : RowGrid
        The public grid of the rows.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str, shape (n_features,)
        Only where X is a frame whose columns have names.

    Guarantee
    ---------
    One `fit` satisfies `budget` under `adjacency`, for any X and y: rows and residuals are bounded in integers, one
    record at a time, and sums are exact (docs/proofs/descent.md, docs/proofs/gumbel.md, docs/proofs/rounding.md).
    `score` and `predict` on private rows are exact functions of them: for the data owner only.

    Source
    ------
    Wang and Gu 2019 (DP-IGHT), Cai, Wang and Zhang 2021 (peeling), Mangold et al. 2023 (coordinates), each with the
    noise that its adjacency asks for.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(2000, 300))
    >>> y = X[:, :3] @ [2.0, -2.0, 1.0] + rng.normal(scale=0.1, size=2000)
    >>> model = dp.SparseLinearRegression(
    ...     budget=dp.Approx(epsilon=4, delta="1e-6"), sparsity=3, row_norm=10, entry_bound=1,
    ...     y_bounds=dp.Interval(-5, 5), adjacency=dp.Replace(),
    ... ).fit(X, y)
    >>> model.selection_, np.flatnonzero(model.coef_).tolist()
    ('peel', [0, 1, 2])
    """

    _loss: ClassVar[str] = "squared"


class SparseLogisticRegression(StepModel, LabelModel):
    """Sparse logistic regression by noisy gradient steps: DP-IGHT, peeling, or one column at a time.

    More than two classes are fitted one against the rest, all in one charge of the whole budget: with k classes each
    model has the k-th part of it, which is a noise of sqrt(k) times the size.

    Parameters
    ----------
    budget, sparsity, row_norm, x_bounds, schema, adjacency, entry_bound
        As for :class:`SparseLinearRegression`.
    selection, n_steps, step_size, noise, expected_rows
        As for :class:`SparseLinearRegression`.
    clip : float or None
        Residuals, which are probabilities minus labels, are clipped to this size, at most 1.
    fit_intercept : bool
        Whether there is an intercept, a column of 1/8 of the row's norm; see :class:`SparseLinearRegression`.
    classes : sequence of labels, optional
        The declared classes, of two the positive one last: texts, booleans, numbers.
        Where they are not declared they are read from y, as scikit-learn does; that is a look at private rows, and the
        release then says "not private: class labels".

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, n_features) for two classes, (n_classes, n_features) for more
        Of the linear predictor, per unit of the column.
    intercept_ : ndarray of float64, shape (1,) or (n_classes,)
        0 without an intercept.
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of `predict_proba`'s columns.
    release_ : Release
        Its value is the noisy parameters of one model, or a tuple of one a class.
    n_steps_, step_size_, clip_, sparsity_, noise_floor_, selection_, noise_, grid_, n_features_in_, feature_names_in_
        As for :class:`SparseLinearRegression`.

    Guarantee
    ---------
    One `fit` with declared classes satisfies `budget` under `adjacency`, for any X and y, exactly as
    :class:`SparseLinearRegression` does. Coefficients are finite whether or not the classes can be separated.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse
    >>> import discreet as dp
    >>> rng = np.random.default_rng(0)
    >>> told = rng.integers(0, 2, size=(4000, 1))
    >>> words = scipy.sparse.random_array((4000, 500), density=0.02, rng=rng)
    >>> X = scipy.sparse.hstack([told, words])
    >>> y = np.where(told[:, 0] > 0, "yes", "no")
    >>> model = dp.SparseLogisticRegression(
    ...     budget=dp.Approx(epsilon=2, delta="1e-6"), sparsity=5, row_norm=1, adjacency=dp.Replace(),
    ...     classes=("no", "yes"),
    ... ).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """
