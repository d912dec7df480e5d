"""What the K-norm gradient estimators share: declarations to rows, one plan, one release, coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.bounds import Box, Interval
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import check_budget
from discreet.privacy.release import release, with_labels_read
from discreet.sampling.k_norm.gradient import GradientTarget
from discreet.sampling.k_norm.model_rows import ArrayBlocks, LayoutRows, LinearPredictor, ScaledDownRows, TableBlocks
from discreet.sampling.k_norm.rows import NormedRows
from discreet.sampling.k_norm.targets import plan_k_norm
from discreet.sampling.pca.second_moments import UnitGrid
from discreet.sampling.policies import CoolDown, check_policy
from discreet.tables.array_rows import array_layout
from discreet.tables.arrays import check_new_rows
from discreet.tables.frame_rows import Target, check_frame, check_schema, formula_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.ledger import Ledger
    from discreet.sampling.k_norm.losses import GradientLoss
    from discreet.sampling.k_norm.model_rows import ModelRows
    from discreet.sampling.policies import Policy
    from discreet.tables.array_rows import ArrayRows
    from discreet.tables.design import Design
    from discreet.tables.schema.schema import Schema

# A default ridge is such that one proposal in so many is known to be accepted.
_PROPOSALS = 256
# Where rows are scaled down to a norm, the constant column is half of it.
_CONSTANT = Fraction(1, 2)
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


@dataclass(frozen=True, eq=False)
class Staged:
    """What a fit has checked and not released yet."""

    estimator: Any  # a copy that has seen the shape of X
    reader: ModelRows
    data: Any
    design: Design | None = None


class KNormEstimator:
    """The steps of a fit; the estimators add scikit-learn's base classes and what their targets are."""

    _instead: ClassVar[dict[str, str]] = INSTEAD

    budget: Budget
    adjacency: Adjacency
    x_bounds: Box | None
    row_norm: float | None
    schema: Schema | None
    ridge: float | None
    fit_intercept: bool
    runtime: Policy | None

    def _intercept(self) -> bool:
        return _checks.boolean(self.fit_intercept, "fit_intercept")

    def _check_declared(self) -> None:
        """Refuse none and more than one of the three ways to bound rows."""
        declared = [name for name in ("x_bounds", "row_norm", "schema") if getattr(self, name) is not None]
        if len(declared) > 1:
            raise InvalidArgument(
                f"Give `{declared[0]}` or `{declared[1]}`, not both: each declares how long a row of X can be."
            )
        if not declared:
            raise InvalidType(
                f"{type(self).__name__} needs `x_bounds`, a Box(lower=..., upper=...) with the public range of every "
                "column, or `row_norm`, the norm to which rows are scaled down; for a frame a `schema` declares it."
            )

    def _stage_arrays(self, estimator: Any, rows: ArrayRows, bounds: tuple[float, float], *, labels: bool) -> Staged:
        """Stage arrays whose target is within public bounds, or coded -1 and 1."""
        if self.row_norm is None:
            box = self.x_bounds
            if not isinstance(box, Box):
                raise InvalidType(f"`x_bounds` must be a Box(lower=..., upper=...); found {type(box).__name__}.")
            layout = array_layout(rows.names, box, Interval(*bounds), intercept=self._intercept())
            return Staged(estimator, LayoutRows(layout=layout, labels=labels), ArrayBlocks(rows.in_blocks(box)))
        grid = UnitGrid(len(rows.names), self.row_norm)
        constant = _CONSTANT if self._intercept() else Fraction(0)
        if labels:
            target, limits = (rows.private_y + 1) / 2, (0.0, 1.0)
        else:
            center, half = self._units(bounds)
            clipped = np.where(np.isfinite(rows.private_y), np.clip(rows.private_y, *bounds), np.nan)
            target, limits = (clipped - center) / half, (-1.0, 1.0)
        reader = NormedRows(grid=grid, bounds=limits, constant=constant, names=rows.names, trouble=rows.trouble)
        return Staged(estimator, ScaledDownRows(reader=reader, columns=rows.names), (rows.private_X, target))

    def _stage_frame(self, X: Any, target: Target, *, labels: bool) -> Staged:
        schema = check_schema(self.schema)
        estimator, table, design = check_frame(self, X, target, schema, intercept=self._intercept())
        reader = LayoutRows(layout=design.layout, labels=labels)
        return Staged(estimator, reader, TableBlocks(table, design, len(target.private_values)), design)

    def _units(self, bounds: tuple[float, float]) -> tuple[float, float]:
        """Return the center and the half-width of a target; 0 and the farther limit without an intercept."""
        low, high = bounds
        return ((low + high) / 2, (high - low) / 2) if self._intercept() else (0.0, max(abs(low), abs(high)))

    def _release(
        self, staged: Staged, loss: GradientLoss, adjacency: Adjacency, ledger: Ledger | None, *, labels_read: bool
    ) -> LinearPredictor:
        """Plan, release, set the fitted attributes that both estimators have; nothing is set before all is done."""
        check_budget(self.budget)
        runtime = CoolDown() if self.runtime is None else check_policy(self.runtime)
        n_rows = staged.reader.count(staged.data) if isinstance(adjacency, Replace) else None
        ridge = default_ridge(loss, staged.reader, n_rows or 1) if self.ridge is None else self.ridge
        target = GradientTarget(loss=loss, reader=staged.reader, ridge=ridge)
        plan = plan_k_norm(target, budget=self.budget, adjacency=adjacency, runtime=runtime, n_rows=n_rows)
        released = release(plan, staged.data, ledger, n_rows=n_rows if adjacency.size_is_public else None)
        self.release_ = with_labels_read(released) if labels_read else released
        self.n_features_in_ = staged.estimator.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(staged.estimator, "feature_names_in_"):
            self.feature_names_in_ = staged.estimator.feature_names_in_
        self.ridge_ = float(target.ridge)
        self.coef_names_ = np.array(staged.reader.names, dtype=object)
        self.design_ = staged.design
        return staged.reader.predictor(released.value.point)

    def _linear_predictor(self, X: Any) -> NDArray[np.float64]:
        """Return `X @ coef + intercept` for new rows; rows are scaled down to `row_norm` where there is one."""
        from sklearn.utils.validation import check_is_fitted

        from discreet.tables.prediction import feature_blocks, margins_of

        check_is_fitted(self)
        coef, constant = np.ravel(self.coef_), float(np.ravel(self.intercept_)[0])
        if self.design_ is None:
            rows = check_new_rows(self, X)
            if self.row_norm is not None:
                rows = np.clip(rows, -(2.0**400), 2.0**400)
                lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
                rows = rows * (self.row_norm / np.maximum(lengths, self.row_norm))[:, None]
            return margins_of(rows, coef, constant)
        layout = self.design_.layout
        formula = formula_of(self.feature_names_in_, layout.names[-1], intercept=layout.intercept)
        blocks = [
            np.where(kept, margins_of(features, coef, constant), np.nan)
            for features, kept in feature_blocks(X, self.design_.schema, formula, list(self.coef_names_))
        ]
        return np.concatenate(blocks) if blocks else np.empty(0)

    coef_: NDArray[np.float64]
    intercept_: Any


def default_ridge(loss: GradientLoss, reader: ModelRows, n_rows: int) -> float:
    """Return the ridge at which one proposal in 256 is known to be accepted: of the order of the number of rows.

    Examples
    --------
    >>> from discreet.sampling.k_norm.losses import LogisticLoss
    >>> grid = UnitGrid(5, row_norm=1.0)
    >>> reader = ScaledDownRows(reader=NormedRows(grid=grid, bounds=(0, 1)), columns=("a", "b", "c", "d", "e"))
    >>> round(default_ridge(LogisticLoss(), reader, 10_000))
    246
    """
    trace = float(loss.curvature * reader.norm_squared) * n_rows
    return trace / (reader.width * math.expm1(math.log(_PROPOSALS) / reader.width))
