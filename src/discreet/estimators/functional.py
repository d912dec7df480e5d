"""Linear and logistic regression by the functional mechanism: one noisy Gram matrix of (1, X, y)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.estimators.base import Model
from discreet.estimators.methods.moments import plan_moments
from discreet.estimators.targets import LabelModel, NumberModel
from discreet.functional.logit import LogisticObjective
from discreet.functional.moments import Moments
from discreet.functional.objectives import SquaredObjective
from discreet.functional.repair import DOMINATED
from discreet.lattice.bounds import Interval

if TYPE_CHECKING:
    from discreet.estimators.methods.declared import Declared, Planned
    from discreet.functional.objectives import QuadraticObjective


class FunctionalModel(Model):
    """A regression that is read from one noisy Gram matrix."""

    protects_units: ClassVar[bool] = True
    needs_n_rows: ClassVar[bool] = False
    dominated_advice: ClassVar[str] = DOMINATED

    mechanism: str = "auto"

    @abstractmethod
    def _objective(self, declared: Declared) -> QuadraticObjective:
        """Return what is minimized."""

    def plan(self, declared: Declared) -> Planned:
        """Return the plan of one noisy Gram matrix."""
        planned = plan_moments(declared, self._objective(declared), mechanism=self.mechanism)
        rows: Any = declared.rows

        def take(released: Any) -> Any:
            return Moments(rows.layout, released, rows.design)

        return replace(planned, attributes=lambda released: {"moments_": take(released)})


class FunctionalLinearRegression(FunctionalModel, NumberModel):
    """Least squares from one noisy Gram matrix of (1, X, y).

    Parameters
    ----------
    budget : Pure, Approx, Zcdp or Gdp
        What one fit may cost.
    x_bounds : Box, optional
        The declared public range of every column of X, in its own units; cells outside are clipped.
        Needed unless there is a `schema`.
    y_bounds : Interval, optional
        The declared public range of y, in its own units; cells outside are clipped.
        Needed unless the `schema` declares a column of y's name.
    adjacency : Replace or AddRemove
        Which data sets are neighbours; there is no default.
    schema : Schema, optional
        Declares the columns of a frame X by their names, instead of `x_bounds`: numbers, flags, and categories, which
        become dummies without their first level (all levels for the first category of a model without intercept).
    fit_intercept : bool
        Whether the model has an intercept.
    mechanism : {"auto", "wishart", "laplace", "l_inf", "gaussian", "paper", "paper_code"}
        The law of the noise; "auto" takes the Wishart difference for Pure, the symmetric Gaussian otherwise.
        "paper" and "paper_code" are Zhang et al.'s printed sensitivity and their program's constants.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (n_coefficients,)
        Coefficients, in units of y per unit of the column; one a column of X, or a dummy where there is a schema.
    intercept_ : float
        In units of y; 0 without an intercept.
    coef_names_ : ndarray of str, shape (n_coefficients,)
        What each coefficient belongs to, such as ``education[HS-grad]``.
    release_ : Release
        The noisy Gram matrix, its event, cost and adjacency, and whether its coins were the system's.
    moments_ : Moments
        The same release with its public grid.
    noise_dominated_ : bool
        Whether the noise hides the weakest direction of the data; `fit` then emits a NoiseDominatedWarning.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str, shape (n_features,)
        Only where X is a frame whose columns have names.

    Guarantee
    ---------
    One `fit` satisfies `budget` under `adjacency`, for any X and y: the sensitivities are exact integers
    (docs/proofs/gram.md), the noise is the ideal law, rounded (docs/proofs/rounding.md, docs/proofs/wishart.md).
    `score` and `predict` on private rows are exact functions of them: for the data owner only.

    Source
    ------
    Zhang et al. 2012, Algorithm 1, with exact sensitivities, the Wishart difference and the adaptive ridge.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, size=(5000, 2))
    >>> y = 3 + X @ [1.0, -2.0] + rng.normal(size=5000)
    >>> model = dp.FunctionalLinearRegression(
    ...     budget=dp.Gdp(mu=1), x_bounds=dp.Box(lower=0, upper=10), y_bounds=dp.Interval(-20, 20),
    ...     adjacency=dp.Replace(),
    ... ).fit(X, y)
    >>> model.release_.cost
    Gdp(mu=1)
    """

    _loss: ClassVar[str] = "squared"

    def _objective(self, declared: Declared) -> SquaredObjective:
        return SquaredObjective(y_bounds=Interval(*declared.target_bounds))


class FunctionalLogisticRegression(FunctionalModel, LabelModel):
    """Two-class logistic regression of degree two from one noisy Gram matrix of (1, X, y), y coded -1 and +1.

    The logistic loss is replaced by a parabola, so the model is least squares on -1 and +1 times a constant.
    Its slopes are **biased** towards 0, for a polynomial is no logit: the classes it predicts are those of least
    squares, its probabilities are rough, and its coefficients are not log odds ratios.
    Standard errors (`result`) are those of that parabola's minimizer; p values and intervals, which would be read as
    the logit's, are not given.

    Parameters
    ----------
    budget : Pure, Approx, Zcdp or Gdp
        What one fit may cost.
    x_bounds : Box, optional
        The declared public range of every column of X, in its own units; cells outside are clipped.
        Needed unless there is a `schema`.
    adjacency : Replace or AddRemove
        Which data sets are neighbours; there is no default.
    schema : Schema, optional
        Declares the columns of a frame X by their names, as for :class:`FunctionalLinearRegression`; where it declares
        y's name, as a flag or a category of two levels, it declares the classes, too.
    classes : sequence of two labels, optional
        The declared classes, the positive one last: texts, booleans, numbers. A label that is none of them is missing.
        Where neither this nor the schema declares them, they are read from y, as scikit-learn does; that is a
        look at private rows, and the release then says "not private: class labels".
    fit_intercept : bool
        Whether the model has an intercept.
    mechanism : {"auto", "wishart", "laplace", "l_inf", "gaussian", "paper", "paper_code"}
        The law of the noise, as for :class:`FunctionalLinearRegression`.
    approximation : {"taylor", "minimax"}
        The parabola: Taylor's at 0, as in the paper, or the one whose largest error on ``|x'w| <= radius`` is smallest.
        It changes the scale of the coefficients and so the probabilities, not the predicted classes.
    radius : float, optional
        For "minimax": the largest ``|x'w|`` that is expected, a public number between 0.1 and 100.

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
    release_ : Release
        The noisy Gram matrix, its event, cost and adjacency, and what else must be said.
    moments_ : Moments
        The same release with its public grid.
    noise_dominated_ : bool
        Whether the noise hides the weakest direction of the data; `fit` then emits a NoiseDominatedWarning.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str, shape (n_features,)
        Only where X is a frame whose columns have names.

    Guarantee
    ---------
    One `fit` with declared classes satisfies `budget` under `adjacency`, for any X and y, exactly as
    :class:`FunctionalLinearRegression` does: it is the same release (docs/proofs/gram.md).
    Coefficients are finite whether or not the classes can be separated.

    Source
    ------
    Zhang et al. 2012, Algorithm 2, with exact sensitivities, the Wishart difference and the adaptive ridge.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(5000, 2))
    >>> y = np.where(X @ [1.0, -2.0] + rng.logistic(size=5000) > 0, "yes", "no")
    >>> model = dp.FunctionalLogisticRegression(
    ...     budget=dp.Gdp(mu=1), x_bounds=dp.Box(lower=-1, upper=1), classes=("no", "yes"), adjacency=dp.Replace(),
    ... ).fit(X, y)
    >>> model.predict([[0.9, -0.9]])
    array(['yes'], dtype='<U3')
    """

    several_classes: ClassVar[bool] = False

    approximation: str = "taylor"
    radius: float | None = None

    def _target(self) -> Any:
        self._objective(None)  # a radius that cannot be is refused before a row is looked at
        return super()._target()

    def _objective(self, declared: Declared | None) -> LogisticObjective:  # noqa: ARG002  (the parabola is public)
        return LogisticObjective(approximation=self.approximation, radius=self.radius)
