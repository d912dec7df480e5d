"""The scikit-learn estimators of the functional mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from discreet import _checks
from discreet.errors import AdjacencyMismatch, InvalidType
from discreet.functional.gram import gram_of, plan_gram
from discreet.functional.moments import Moments
from discreet.lattice.bounds import Box, Interval
from discreet.lattice.grid import Coding, Layout
from discreet.privacy.adjacency import check_adjacency
from discreet.privacy.ledger import Ledger
from discreet.privacy.release import release
from discreet.tables.arrays import check_new_rows, check_rows, says_what_it_lacks
from discreet.tables.selection import Selection

if TYPE_CHECKING:
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget


class FunctionalLinearRegression(RegressorMixin, BaseEstimator):
    """Least squares from one noisy Gram matrix of (1, X, y).

    Parameters
    ----------
    budget : Pure, Approx, Zcdp or Gdp
        What one fit may cost.
    x_bounds : Box
        The declared public range of every column of X, in its own units; cells outside are clipped.
    y_bounds : Interval
        The declared public range of y, in its own units; cells outside are clipped.
    adjacency : Replace or AddRemove
        Which data sets are neighbours; there is no default.
    fit_intercept : bool
        Whether the model has an intercept.
    mechanism : {"auto", "wishart", "laplace", "gaussian"}
        The law of the noise; "auto" takes the Wishart difference for Pure, the symmetric Gaussian otherwise.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (n_features,)
        Coefficients, in units of y per unit of the column.
    intercept_ : float
        In units of y; 0 without an intercept.
    release_ : Release
        The noisy Gram matrix, its event, cost and adjacency, and whether its coins were the system's.
    moments_ : Moments
        The same release with its public grid.
    noise_dominated_ : bool
        Whether the noise hides the weakest direction of the data.
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
        x_bounds: Box,
        y_bounds: Interval,
        adjacency: Adjacency,
        fit_intercept: bool = True,
        mechanism: str = "auto",
    ) -> None:
        self.budget = budget
        self.x_bounds = x_bounds
        self.y_bounds = y_bounds
        self.adjacency = adjacency
        self.fit_intercept = fit_intercept
        self.mechanism = mechanism

    @says_what_it_lacks
    def fit(self, X: Any, y: Any, *, ledger: Ledger | None = None) -> Self:
        """Release the noisy Gram matrix and set the coefficients; charges the ledger once.

        Parameters
        ----------
        X : array-like or frame of numbers, shape (n_rows, n_features)
            The private features.
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
        adjacency = self._declared_adjacency(ledger)
        y_bounds = _interval(self.y_bounds)
        x_bounds = _box(self.x_bounds, type(self).__name__)
        fit_intercept = _checks.boolean(self.fit_intercept, "fit_intercept")
        staged, rows = check_rows(self, X, y, may_be_empty=not adjacency.size_is_public)
        layout = array_layout(rows.names, x_bounds, y_bounds, intercept=fit_intercept)
        plan = plan_gram(
            layout,
            budget=self.budget,
            adjacency=adjacency,
            mechanism=self.mechanism,
            size_is_public=adjacency.size_is_public,
            statistic=gram_of(layout),
        )
        moments = Moments(layout, release(plan, rows, ledger))
        answer = moments.least_squares(last_column_selection(layout))
        self._take_shape(staged)
        self.moments_ = moments
        self.release_ = moments.release
        self.coef_ = answer.coef
        self.intercept_ = answer.intercept
        self.noise_dominated_ = answer.repair.noise_dominated
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return predictions, float64 of shape (n_rows,), in units of y.

        Parameters
        ----------
        X : array-like or frame of numbers, shape (n_rows, n_features)
            Rows to predict for; a frame's columns must be those of the fit, in their order.
        """
        rows = check_new_rows(self, X)
        return np.asarray(rows @ self.coef_ + self.intercept_)

    def _declared_adjacency(self, ledger: Ledger | None) -> Adjacency:
        adjacency = check_adjacency(self.adjacency)
        if ledger is None:
            return adjacency
        if not isinstance(ledger, Ledger):
            raise InvalidType(f"`ledger` must be a Ledger; found {type(ledger).__name__}.")
        if ledger.adjacency not in {None, adjacency}:  # an audit's ledger takes any
            raise AdjacencyMismatch(
                f"The model promises {adjacency!r} and the ledger {ledger.adjacency!r}. Make them agree."
            )
        return adjacency

    def _take_shape(self, staged: Any) -> None:
        self.n_features_in_ = staged.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(staged, "feature_names_in_"):
            self.feature_names_in_ = staged.feature_names_in_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        tags.non_deterministic = True
        tags.target_tags.required = True
        return tags


def array_layout(names: tuple[str, ...], x_bounds: Box, y_bounds: Interval, *, intercept: bool) -> Layout:
    """Return the public grid of a row (1, x, y) of arrays."""
    box = x_bounds.for_columns(len(names))
    make = Coding.centered if intercept else Coding.uncentered
    codings = [make(low, high) for low, high in zip(box.lower, box.upper, strict=True)]
    target = "y"
    while target in names:
        target += "_"
    return Layout(names=(*names, target), codings=(*codings, make(y_bounds.lower, y_bounds.upper)), intercept=intercept)


def last_column_selection(layout: Layout) -> Selection:
    """Return the regression of a layout's last column on all the others."""
    first = int(layout.intercept)
    return Selection(
        target=layout.names[-1],
        target_index=layout.width - 1,
        names=layout.names[:-1],
        intercept=layout.intercept,
        rows=np.eye(layout.width)[first:-1],
    )


def _box(value: Any, owner: str) -> Box:
    if isinstance(value, Box):
        return value
    if isinstance(value, Interval):
        raise InvalidType(
            f"{owner} needs `x_bounds` for whole rows; Interval bounds one number. Use Box(lower=..., upper=...)."
        )
    raise InvalidType(f"`x_bounds` must be a Box(lower=..., upper=...); found {type(value).__name__}.")


def _interval(value: Any) -> Interval:
    if isinstance(value, Interval):
        return value
    raise InvalidType(f"`y_bounds` must be an Interval(lower, upper); found {type(value).__name__}.")
