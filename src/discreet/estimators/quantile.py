"""Quantile regression by the K-norm gradient mechanism, as a scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument, InvalidType
from discreet.estimators.arguments import says_what_it_lacks
from discreet.estimators.k_norm_base import KNormEstimator, Staged
from discreet.estimators.scores import RegressorScore
from discreet.lattice.bounds import Box, Interval
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import check_budget
from discreet.privacy.release import check_payer, release
from discreet.sampling.grids import MOST_DIMENSIONS
from discreet.sampling.k_norm.model_rows import LayoutRows
from discreet.sampling.mechanisms import Draw, plan_choice
from discreet.sampling.quantiles.quantile_regression import MOST_WORK, QuantileRegressionTarget, default_points
from discreet.sampling.quantiles.quantiles import check_quantile
from discreet.tables.arrays import check_rows, check_target
from discreet.tables.frame_rows import check_schema, number_target

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.ledger import Ledger
    from discreet.privacy.release import Release
    from discreet.tables.schema.schema import Schema

INSTEAD = {
    "alpha": "coefficients are bounded by coef_bound; leave it out",
    "solver": "the draw is exact; leave it out",
    "solver_options": "the draw is exact; leave it out",
    "tol": "stopping early would tell of the rows; leave it out",
    "row_norm": "a grid of coefficients needs x_bounds=Box(lower=, upper=)",
    "ridge": "coefficients are bounded by coef_bound; leave it out",
    "runtime": "the work is fixed; leave it out",
    "q": "it is called quantile",
}


class KNormGradientQuantileRegression(RegressorScore, KNormEstimator, BaseEstimator):
    """Quantile regression with at most three coefficients, one of a public grid, chosen by its K-norm gradient.

    The work is the same for all data sets of a size: a pass over the rows for every line of the grid.

    Parameters
    ----------
    budget : Pure, Approx, Zcdp or Gdp
        What one fit may cost.
    adjacency : Replace or AddRemove
        Which data sets are neighbours; there is no default. AddRemove pays up to half as much for the same sharpness.
    quantile : number or text, default 0.5
        Which quantile of y given x, above 0 and below 1.
    x_bounds : Box, optional
        The declared public range of every column of X, in its own units; cells outside are clipped.
        Needed unless there is a `schema`.
    y_bounds : Interval, optional
        The declared public range of y, in its own units; cells outside are clipped.
        Needed unless the `schema` declares a column of y's name.
    schema : Schema, optional
        Instead of `x_bounds`: declares the columns of a frame X by their names, as for
        :class:`FunctionalLinearRegression`.
    coef_bound : number, default 1
        No coefficient is larger, in units of the half-width of y per half-width of its column. At 1 one column alone
        takes y from end to end of its range.
    grid_points : int, optional
        Points of the grid a coefficient, odd, at most 2**20 in all. None takes 65,537 for one coefficient, up to 1,023
        each for two and 101 each for three, fewer where there are many rows. A coefficient is never nearer to the
        truth than their distance allows.
    fit_intercept : bool
        Whether the model has an intercept, which counts as a coefficient.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (n_coefficients,)
        In units of y per unit of the column.
    intercept_ : float
        In units of y; 0 without an intercept.
    coef_names_ : ndarray of str, shape (n_coefficients,)
        What each coefficient belongs to.
    grid_points_ : int
        Points of the grid a coefficient.
    release_ : Release
        The chosen parameters, their event, cost and adjacency.
    design_ : Design or None
        Where there is a schema, how a record becomes a row.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str, shape (n_features,)
        Only where X is a frame whose columns have names.

    Guarantee
    ---------
    One `fit` satisfies `budget` under `adjacency`, for any X and y, and its running time depends on the number of rows
    alone. Proof: docs/proofs/quantiles.md

    Source
    ------
    Reimherr and Awan 2019, on a grid.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, size=(5000, 1))
    >>> y = 1 + 0.3 * X[:, 0] + rng.exponential(size=5000)
    >>> model = KNormGradientQuantileRegression(
    ...     budget=dp.Pure(epsilon=1), adjacency=dp.Replace(), quantile=0.9, x_bounds=dp.Box(lower=0, upper=10),
    ...     y_bounds=dp.Interval(0, 10),
    ... ).fit(X, y)
    >>> bool(abs(np.mean(y <= model.predict(X)) - 0.9) < 0.02)
    True
    """

    # Metadata routing hands the ledger on; it is never a constructor argument, for `clone` would copy it.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"ledger": True}
    _instead: ClassVar[dict[str, str]] = INSTEAD
    # Rows of a grid's model are always in boxes.
    row_norm: float | None = None

    @says_what_it_lacks
    def __init__(
        self,
        *,
        budget: Budget,
        adjacency: Adjacency,
        quantile: Any = 0.5,
        x_bounds: Box | None = None,
        y_bounds: Interval | None = None,
        schema: Schema | None = None,
        coef_bound: Any = 1,
        grid_points: int | None = None,
        fit_intercept: bool = True,
    ) -> None:
        self.budget = budget
        self.adjacency = adjacency
        self.quantile = quantile
        self.x_bounds = x_bounds
        self.y_bounds = y_bounds
        self.schema = schema
        self.coef_bound = coef_bound
        self.grid_points = grid_points
        self.fit_intercept = fit_intercept

    @says_what_it_lacks
    def fit(self, X: Any, y: Any, *, ledger: Ledger | None = None) -> Self:
        """Choose the coefficients; charges the ledger once.

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
        InvalidArgument, IncompatiblePlan
            If a declaration is not usable, there are too many coefficients, or the expected work is too much; nothing
            is spent.
        InvalidData
            If the rows do not fit; names the column, quotes no cell; nothing is spent.
        BudgetExceeded
            If the ledger has too little left; the fitted state stays as it was.

        Guarantee
        ---------
        See the class.
        """
        adjacency = check_payer(ledger, self.adjacency)
        check_budget(self.budget)
        check_quantile(self.quantile, "quantile")
        staged, bounds = self._staged(X, y, may_be_empty=not adjacency.size_is_public)
        target = self._target(staged, adjacency)
        plan = plan_choice(target, budget=self.budget, adjacency=adjacency)
        released: Release[Draw] = release(plan, staged.data, ledger)
        self._take(staged, target, released, bounds)
        return self

    def _staged(self, X: Any, y: Any, *, may_be_empty: bool) -> tuple[Staged, tuple[float, float]]:
        """Return the checked rows, and the bounds of y."""
        interval = self.y_bounds
        if interval is not None and not isinstance(interval, Interval):
            raise InvalidType(f"`y_bounds` must be an Interval(lower, upper); found {type(interval).__name__}.")
        if self.schema is not None:
            if self.x_bounds is not None:
                raise InvalidArgument("Give `x_bounds` or `schema`, not both: each declares the columns of X.")
            target = number_target(check_target(self, X, y), check_schema(self.schema), interval)
            return self._stage_frame(X, target, labels=False), (target.column.lower, target.column.upper)
        if not isinstance(self.x_bounds, Box):
            raise InvalidType(
                f"{type(self).__name__} needs `x_bounds`, a Box(lower=..., upper=...) with the public range of every "
                f"column; for a frame a `schema` declares it instead. Found {type(self.x_bounds).__name__}."
            )
        if interval is None:
            raise InvalidType(
                f"{type(self).__name__} needs `y_bounds`, an Interval(lower, upper) with the public range of y."
            )
        bounds = (interval.lower, interval.upper)
        estimator, rows = check_rows(self, X, y, may_be_empty=may_be_empty)
        return self._stage_arrays(estimator, rows, bounds, labels=False), bounds

    def _target(self, staged: Staged, adjacency: Adjacency) -> QuantileRegressionTarget:
        """Return the grid, from public facts; refuse too many coefficients and too much work."""
        reader = staged.reader
        assert isinstance(reader, LayoutRows)  # noqa: S101  (the reader of boxes)
        if reader.width > MOST_DIMENSIONS:
            raise IncompatiblePlan(
                f"{type(self).__name__} searches a grid, and one for {reader.width} coefficients, the intercept "
                f"counted, has too many points: the expected work is above {float(_MOST_GRID**reader.width):.0e} "
                f"gradients. At most {MOST_DIMENSIONS}: take fewer columns."
            )
        n_rows = reader.count(staged.data) if isinstance(adjacency, Replace) else None
        points = default_points(reader.width, n_rows) if self.grid_points is None else self.grid_points
        points = _checks.integer(points, "grid_points", low=3)
        if n_rows is not None and n_rows * points ** (reader.width - 1) > MOST_WORK:
            raise IncompatiblePlan(
                f"{type(self).__name__}: the expected work is {float(n_rows * points ** (reader.width - 1)):.1e} rows "
                f"times lines of the grid; at most {MOST_WORK:.0e} are made. Lower `grid_points`."
            )
        return QuantileRegressionTarget(
            reader=reader, q=self.quantile, coef_bound=self.coef_bound, per_side=points, adjacency=adjacency
        )

    def _take(
        self, staged: Staged, target: QuantileRegressionTarget, released: Release[Draw], bounds: tuple[float, float]
    ) -> None:
        """Set the fitted attributes; nothing was set before."""
        found = staged.reader.predictor(released.value.point)
        center, half = self._units(bounds)
        self.release_ = released
        self.n_features_in_ = staged.estimator.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(staged.estimator, "feature_names_in_"):
            self.feature_names_in_ = staged.estimator.feature_names_in_
        self.coef_names_ = np.array(staged.reader.names, dtype=object)
        self.design_ = staged.design
        self.grid_points_ = target.per_side
        self.coef_ = found.coef * half
        self.intercept_ = found.intercept * half + center if self._intercept() else 0.0

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return predicted quantiles, float64 of shape (n_rows,), in units of y.

        Parameters
        ----------
        X : array-like or frame, shape (n_rows, n_features)
            Rows to predict for; with a schema a row that lacks a cell whose policy is "drop" is predicted as NaN.
        """
        return self._linear_predictor(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        tags.non_deterministic = True
        tags.target_tags.required = True
        return tags


# Fewer points a side than this would say nothing.
_MOST_GRID = 100
