"""Linear regression by the functional mechanism, as a scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.base import BaseEstimator

from discreet.errors import InvalidType
from discreet.estimators.arguments import says_what_it_lacks
from discreet.estimators.functional_base import FunctionalEstimator
from discreet.estimators.scores import RegressorScore
from discreet.functional.objectives import SquaredObjective
from discreet.functional.repair import warn_if_dominated
from discreet.lattice.bounds import Interval
from discreet.tables.arrays import check_rows, check_target
from discreet.tables.frame_rows import check_schema, number_target

if TYPE_CHECKING:
    import numpy as np

    from discreet.lattice.bounds import Box
    from discreet.models.printed import Summary
    from discreet.models.result import RegressionResult
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.ledger import Ledger
    from discreet.tables.schema.schema import Schema


class FunctionalLinearRegression(RegressorScore, FunctionalEstimator, BaseEstimator):
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

    # Metadata routing hands the ledger on; it is never a constructor argument, for `clone` would copy it.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"ledger": True}

    @says_what_it_lacks
    def __init__(
        self,
        *,
        budget: Budget,
        adjacency: Adjacency,
        x_bounds: Box | None = None,
        y_bounds: Interval | None = None,
        schema: Schema | None = None,
        fit_intercept: bool = True,
        mechanism: str = "auto",
    ) -> None:
        self.budget = budget
        self.adjacency = adjacency
        self.x_bounds = x_bounds
        self.y_bounds = y_bounds
        self.schema = schema
        self.fit_intercept = fit_intercept
        self.mechanism = mechanism

    @says_what_it_lacks
    def fit(self, X: Any, y: Any, *, ledger: Ledger | None = None) -> Self:
        """Release the noisy Gram matrix and set the coefficients; charges the ledger once.

        Parameters
        ----------
        X : array-like or frame, shape (n_rows, n_features)
            The private features: numbers, or with a `schema` a frame of declared columns.
        y : array-like of numbers, shape (n_rows,)
            The private target.
        ledger : Ledger or None
            Who pays; None opens a ledger in memory whose total is the budget.

        Raises
        ------
        InvalidArgument
            If a declaration is not usable; nothing is spent.
        InvalidData
            If the rows do not fit; names the column, quotes no cell; nothing is spent.
        BudgetExceeded
            If the ledger has too little left; the fitted state stays as it was.

        Guarantee
        ---------
        See the class.
        """
        adjacency = self._neighbours(ledger)
        y_bounds = self._interval()
        if self.schema is None:
            if y_bounds is None:
                raise InvalidType(
                    f"{type(self).__name__} needs `y_bounds`, an Interval(lower, upper) with the public range of y."
                )
            objective = SquaredObjective(y_bounds=y_bounds)
            estimator, rows = check_rows(self, X, y, may_be_empty=not adjacency.size_is_public)
            staged = self._stage_arrays(estimator, rows, objective)
        else:
            schema = check_schema(self.schema)
            target = number_target(check_target(self, X, y), schema, y_bounds)
            objective = SquaredObjective(y_bounds=Interval(target.column.lower, target.column.upper))
            staged = self._stage_frame(X, target, schema, objective, may_be_empty=not adjacency.size_is_public)
        repair = self._release(staged, adjacency, ledger, labels_read=False)
        warn_if_dominated(repair, stacklevel=3)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return predictions, float64 of shape (n_rows,), in units of y.

        Parameters
        ----------
        X : array-like or frame, shape (n_rows, n_features)
            Rows to predict for; without a schema a frame's columns must be those of the fit, in their order, with one
            they are found by name, and a row that lacks a cell whose policy is "drop" is predicted as NaN.
        """
        return self._linear_predictor(X)

    def result(self) -> RegressionResult:
        """Return the regression as a result with standard errors, p-values and intervals where they are valid.

        Guarantee
        ---------
        Post-processing of the release: costs nothing.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        bounds = self.moments_.layout.codings[-1]
        return self._result(SquaredObjective(y_bounds=Interval(bounds.lower, bounds.upper)))

    def summary(self) -> Summary:
        """Return the table that is printed: estimates, standard errors that count the privacy noise, intervals."""
        return self.result().summary()

    def _interval(self) -> Interval | None:
        if self.y_bounds is None or isinstance(self.y_bounds, Interval):
            return self.y_bounds
        raise InvalidType(f"`y_bounds` must be an Interval(lower, upper); found {type(self.y_bounds).__name__}.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        tags.non_deterministic = True
        tags.target_tags.required = True
        return tags
