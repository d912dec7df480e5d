"""Quantile regression by the K-norm gradient mechanism on a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet import _checks
from discreet.errors import IncompatiblePlan
from discreet.estimators.methods.declared import Planned
from discreet.estimators.methods.quality import NOT_DESCENT
from discreet.estimators.methods.sampled import DrawnRows
from discreet.estimators.targets import NumberModel
from discreet.models.result import RegressionResult
from discreet.sampling.grids import MOST_DIMENSIONS
from discreet.sampling.k_norm.model_rows import LayoutRows
from discreet.sampling.mechanisms import Draw, plan_choice
from discreet.sampling.quantiles.quantile_regression import MOST_WORK, QuantileRegressionTarget, default_points
from discreet.sampling.quantiles.quantiles import check_quantile

if TYPE_CHECKING:
    from discreet.estimators.methods.declared import Declared
    from discreet.privacy.release import Release

# Fewer points a side than this would say nothing.
_MOST_GRID = 100
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


class KNormGradientQuantileRegression(NumberModel):
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

    _instead: ClassVar[dict[str, str]] = INSTEAD
    warns_of_noise: ClassVar[bool] = False
    _loss: ClassVar[str] = "quantile"

    quantile: Any = 0.5
    coef_bound: Any = 1
    grid_points: int | None = None

    def plan(self, declared: Declared) -> Planned:
        """Return the plan of a choice from a grid."""
        check_quantile(self.quantile, "quantile")
        rows, drawn = declared.rows, DrawnRows.of(declared)
        reader = drawn.reader
        assert isinstance(reader, LayoutRows)  # noqa: S101  (there is no `row_norm`)
        n_rows = declared.n_rows if declared.adjacency.size_is_public else None
        points = self._points(reader.width, n_rows)
        target = QuantileRegressionTarget(
            reader=reader, q=self.quantile, coef_bound=self.coef_bound, per_side=points, adjacency=declared.adjacency
        )

        def read(released: Release[Draw]) -> RegressionResult:
            found = reader.predictor(released.value.point)
            return RegressionResult(
                loss=self._loss,
                coefs=(found.coef * drawn.half)[None, :],
                constants=np.array([found.intercept * drawn.half + drawn.center if rows.intercept else 0.0]),
                has_intercept=rows.intercept,
                event=released.event,
                label=released.label,
                method="choice",
                settings={"grid_points": points},
                no_intervals=NOT_DESCENT,
            )

        plan = plan_choice(target, budget=declared.budget, adjacency=declared.adjacency)
        return Planned(plan=plan, data=drawn.private_data, read=read)

    def _points(self, width: int, n_rows: int | None) -> int:
        """Return the points of the grid a coefficient; refuse too many coefficients and too much work."""
        if width > MOST_DIMENSIONS:
            raise IncompatiblePlan(
                f"{type(self).__name__} searches a grid, and one for {width} coefficients, the intercept "
                f"counted, has too many points: the expected work is above {float(_MOST_GRID**width):.0e} "
                f"gradients. At most {MOST_DIMENSIONS}: take fewer columns."
            )
        points = default_points(width, n_rows) if self.grid_points is None else self.grid_points
        points = _checks.integer(points, "grid_points", low=3)
        if n_rows is not None and n_rows * points ** (width - 1) > MOST_WORK:
            raise IncompatiblePlan(
                f"{type(self).__name__}: the expected work is {float(n_rows * points ** (width - 1)):.1e} rows "
                f"times lines of the grid; at most {MOST_WORK:.0e} are made. Lower `grid_points`."
            )
        return points
