"""Logistic and linear regression by the K-norm gradient mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from discreet import _checks
from discreet.estimators.base import Model
from discreet.estimators.methods.sampled import plan_draw
from discreet.estimators.targets import LabelModel, NumberModel
from discreet.sampling.k_norm.targets import LOSSES

if TYPE_CHECKING:
    from discreet.estimators.methods.declared import Declared, Planned
    from discreet.sampling.policies import Policy

INSTEAD = {
    "alpha": "the ridge is called ridge",
    "C": "the ridge is called ridge, and is 1 / C in units of the scaled rows",
    "penalty": "there is a ridge: ridge=",
    "max_iter": "the work is public and fixed; leave it out",
    "tol": "stopping early would tell of the rows; leave it out",
    "solver": "the draw is exact; leave it out",
    "l1_ratio": "there is a ridge alone: ridge=",
    "multi_class": "there are two classes; fit one model a class, each with its share of the budget",
    "n_jobs": "the work is one matrix product; leave it out",
}


class DrawnModel(Model):
    """A model with a ridge that is drawn with a density of its gradient."""

    _instead: ClassVar[dict[str, str]] = INSTEAD
    warns_of_noise: ClassVar[bool] = False

    row_norm: float | None = None
    ridge: float | None = None
    runtime: Policy | None = None


class KNormGradientLogisticRegression(DrawnModel, LabelModel):
    """Two-class logistic regression with a ridge, drawn with density ``exp(-scale * |gradient of the objective|)``.

    For a few columns and a ridge of the order of the number of rows: how often proposals are accepted at least is
    ``(1 + n |x|**2 / (4 d ridge))**-d``, and a smaller ridge is refused with the work that it would be.
    Where such a ridge is not wanted, :class:`PerturbedLogisticRegression` predicts better with a smaller one.

    Parameters
    ----------
    budget : Pure, Approx, Zcdp or Gdp
        What one fit may cost.
    adjacency : Replace
        Which data sets are neighbours; under AddRemove nothing is known of the work, and the fit is refused.
    x_bounds : Box, optional
        The declared public range of every column of X, in its own units; cells outside are clipped.
    row_norm : float, optional
        Instead: every row is scaled down to this Euclidean norm, which is often shorter than a box.
    schema : Schema, optional
        Instead: declares the columns of a frame X by their names, as for :class:`FunctionalLinearRegression`; where it
        declares y's name, as a flag or a category of two levels, it declares the classes, too.
    classes : sequence of two labels, optional
        The declared classes, the positive one last; where nothing declares them they are read from y, and the release
        then says "not private: class labels".
    ridge : float, optional
        gamma: the sum of losses has ``gamma / 2 * |theta|**2`` added, theta the coefficients of columns in units of
        the half-width of their bounds, or of `row_norm`, and of the constant. None takes the one at which one proposal
        in 256 is known to be accepted.
    fit_intercept : bool
        Whether the model has an intercept, which has the same ridge.
    runtime : policy, optional
        How long to run; default `CoolDown()`.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, n_coefficients)
        Coefficients of the linear predictor per unit of the column.
    intercept_ : ndarray of float64, shape (1,)
        0 without an intercept.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive one.
    coef_names_ : ndarray of str, shape (n_coefficients,)
        What each coefficient belongs to.
    ridge_ : float
        The ridge that was used.
    release_ : Release
        The drawn parameters, their event, cost and adjacency, and what else must be said.
    design_ : Design or None
        Where there is a schema, how a record becomes a row.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str, shape (n_features,)
        Only where X is a frame whose columns have names.

    Guarantee
    ---------
    Coefficients and running time (counted in blocks of proposals) of one `fit` with declared classes together satisfy
    `budget` under Replace, for any X and y. Proof: docs/proofs/k_norm_gradient.md

    Source
    ------
    Reimherr and Awan 2019; the price of the normalizer and the bound on acceptance are this project's.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(2000, 2))
    >>> y = np.where(X @ [1.0, -2.0] > 0, "yes", "no")
    >>> model = KNormGradientLogisticRegression(
    ...     budget=dp.Pure(epsilon=1), row_norm=1.5, classes=("no", "yes"), adjacency=dp.Replace(),
    ... ).fit(X, y)
    >>> model.predict([[0.9, -0.9]])
    array(['yes'], dtype='<U3')
    """

    several_classes: ClassVar[bool] = False

    def plan(self, declared: Declared) -> Planned:
        """Return the plan of a draw."""
        return plan_draw(declared, ridge=self.ridge, runtime=self.runtime)


class KNormGradientLinearRegression(DrawnModel, NumberModel):
    """Linear regression with a ridge and clipped residuals, drawn with density ``exp(-scale * |gradient|)``.

    For a few columns and a ridge of the order of the number of rows, as :class:`KNormGradientLogisticRegression`.

    Parameters
    ----------
    budget, adjacency, x_bounds, row_norm, schema, ridge, fit_intercept, runtime
        As for :class:`KNormGradientLogisticRegression`.
    y_bounds : Interval, optional
        The declared public range of y, in its own units; cells outside are clipped.
        Needed unless the `schema` declares a column of y's name.
    clip : float, optional
        Residuals beyond it, in units of y, count no more than it; None takes a quarter of the range of y. Noise grows
        with it.
    loss : {"log_cosh", "huber"}
        How residuals are clipped: smoothly, ``clip * tanh(residual / clip)``, or as Huber's. Only for the smooth one
        the normalizers of neighbours are known to be close, which is worth half the noise in Pure and Approx.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (n_coefficients,)
        In units of y per unit of the column.
    intercept_ : float
        In units of y; 0 without an intercept.
    clip_ : float
        The clip that was used.
    coef_names_, ridge_, release_, design_, n_features_in_, feature_names_in_
        As for :class:`KNormGradientLogisticRegression`.

    Guarantee
    ---------
    Coefficients and running time of one `fit` together satisfy `budget` under Replace, for any X and y.
    Proof: docs/proofs/k_norm_gradient.md

    Source
    ------
    Reimherr and Awan 2019.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, size=(2000, 1))
    >>> y = 3 + X[:, 0] + rng.normal(size=2000)
    >>> model = KNormGradientLinearRegression(
    ...     budget=dp.Pure(epsilon=1), x_bounds=dp.Box(lower=0, upper=10), y_bounds=dp.Interval(0, 16),
    ...     adjacency=dp.Replace(),
    ... ).fit(X, y)
    >>> model.release_.cost
    Pure(epsilon=1)
    """

    _loss: ClassVar[str] = "squared"

    clip: float | None = None
    loss: str = "log_cosh"

    def plan(self, declared: Declared) -> Planned:
        """Return the plan of a draw."""
        smooth = _checks.one_of(self.loss, "loss", LOSSES) == "log_cosh"
        clip = None if self.clip is None else _checks.finite_float(self.clip, "clip")
        return plan_draw(declared, smooth=smooth, clip=clip, ridge=self.ridge, runtime=self.runtime)
