"""What the estimators of the functional mechanism share: one fit is one plan, one release, one solution."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType
from discreet.functional.gram import gram_of, plan_gram
from discreet.functional.moments import Moments
from discreet.functional.neighbours import settle_adjacency
from discreet.functional.objectives import last_column_selection
from discreet.lattice.bounds import Box, Interval
from discreet.privacy.adjacency import check_adjacency
from discreet.privacy.release import Release, check_payer, release, with_labels_read
from discreet.tables.array_rows import ArrayRows
from discreet.tables.arrays import check_new_rows
from discreet.tables.frame_rows import Target, check_frame, check_schema, formula_of
from discreet.tables.rows import TableRows

if TYPE_CHECKING:
    from discreet.functional.gram import NoisyGram, PrivateRows
    from discreet.functional.objectives import Coefficients, QuadraticObjective
    from discreet.functional.repair import Minimiser
    from discreet.lattice.grid import Layout
    from discreet.models.result import RegressionResult
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.ledger import Ledger
    from discreet.tables.design import Design
    from discreet.tables.schema.schema import Schema


@dataclass(frozen=True, eq=False)
class Staged:
    """What a fit has checked and not released yet."""

    estimator: Any  # a copy that has seen the shape of X
    rows: PrivateRows
    layout: Layout
    objective: QuadraticObjective
    design: Design | None = None
    may_drop: bool = False


class FunctionalEstimator:
    """The steps of a fit; the estimators add scikit-learn's base classes and what their targets are."""

    budget: Budget
    adjacency: Adjacency
    x_bounds: Box | None
    schema: Schema | None
    fit_intercept: bool
    mechanism: str

    def _neighbours(self, ledger: Ledger | None) -> Adjacency:
        """Return the adjacency that estimator, schema and ledger speak of."""
        adjacency = check_adjacency(self.adjacency, units=True)
        settle_adjacency(adjacency, None, None if self.schema is None else check_schema(self.schema))
        return check_payer(ledger, adjacency, units=True)

    def _intercept(self) -> bool:
        return _checks.boolean(self.fit_intercept, "fit_intercept")

    def _box(self) -> Box:
        """Return the declared box of arrays."""
        value, owner = self.x_bounds, type(self).__name__
        if isinstance(value, Box):
            return value
        if isinstance(value, Interval):
            raise InvalidType(
                f"{owner} needs `x_bounds` for whole rows; Interval bounds one number. Use Box(lower=..., upper=...)."
            )
        if value is None:
            raise InvalidType(
                f"{owner} needs `x_bounds`, a Box(lower=..., upper=...) with the public range of every column; "
                "for a frame a `schema` declares it instead."
            )
        raise InvalidType(f"`x_bounds` must be a Box(lower=..., upper=...); found {type(value).__name__}.")

    def _stage_arrays(self, estimator: Any, rows: ArrayRows, objective: QuadraticObjective) -> Staged:
        box = self._box()
        layout = objective.layout(rows.names, box, intercept=self._intercept())
        return Staged(estimator, rows.in_blocks(box), layout, objective)

    def _stage_frame(
        self, X: Any, target: Target, schema: Schema, objective: QuadraticObjective, *, may_be_empty: bool
    ) -> Staged:
        if self.x_bounds is not None:
            raise InvalidArgument("Give `x_bounds` or `schema`, not both: each declares the columns of X.")
        estimator, table, design = check_frame(self, X, target, schema, intercept=self._intercept(), units=True)
        rows = TableRows(table, design, may_be_empty=may_be_empty)
        return Staged(estimator, rows, design.layout, objective, design, design.may_drop)

    def _release(self, staged: Staged, adjacency: Adjacency, ledger: Ledger | None, *, labels_read: bool) -> Minimiser:
        """Release, solve, set the fitted attributes and return the repair; nothing is set before all is done."""
        size_is_public = adjacency.size_is_public and not staged.may_drop
        plan = plan_gram(
            staged.layout,
            budget=self.budget,
            adjacency=adjacency,
            mechanism=self.mechanism,
            loss=staged.objective.loss,
            size_is_public=size_is_public,
            statistic=gram_of(staged.layout),
            rows_per_unit=None if staged.design is None else staged.design.schema.rows_per_unit,
        )
        rows = staged.rows
        public = rows.private_X.shape[0] if isinstance(rows, ArrayRows) and adjacency.size_is_public else None
        released: Release[NoisyGram] = release(plan, staged.rows, ledger, n_rows=public)
        if labels_read:
            released = with_labels_read(released)
        moments = Moments(staged.layout, released, staged.design)
        found = staged.objective.solve(moments)
        self._take_shape(staged.estimator)
        self._take(found, moments)
        return found.answer.repair

    def _take_shape(self, staged: Any) -> None:
        self.n_features_in_ = staged.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(staged, "feature_names_in_"):
            self.feature_names_in_ = staged.feature_names_in_

    def _take(self, found: Coefficients, moments: Moments) -> None:
        self.moments_ = moments
        self.release_ = moments.release
        self.coef_: np.ndarray = found.coef
        self.intercept_: Any = found.intercept
        self.coef_names_ = np.array(moments.layout.names[:-1], dtype=object)
        self.noise_dominated_ = found.answer.repair.noise_dominated

    def _linear_predictor(self, X: Any) -> np.ndarray:
        """Return `X @ coef + intercept` for new rows, shape (n_rows,); NaN where a cell is missing under "drop"."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        coef, constant = np.ravel(self.coef_), float(np.ravel(self.intercept_)[0])
        design = self.moments_.design
        from discreet.tables.prediction import feature_blocks, margins_of

        if design is None:
            return margins_of(check_new_rows(self, X), coef, constant)

        target, names = self.moments_.layout.names[-1], self.feature_names_in_
        formula = formula_of(names, target, intercept=self.moments_.layout.intercept)
        blocks = [
            np.where(kept, margins_of(features, coef, constant), np.nan)
            for features, kept in feature_blocks(X, design.schema, formula, list(self.coef_names_))
        ]
        return np.concatenate(blocks) if blocks else np.empty(0)

    def _result(self, objective: QuadraticObjective) -> RegressionResult:
        """Return the regression with its standard errors, read from the release: post-processing."""
        selection = last_column_selection(self.moments_.layout)
        formula = formula_of(selection.names, selection.target, intercept=selection.intercept)
        # Without its schema it reads no table: `predict` is the estimator's own.
        return replace(objective.describe(self.moments_, selection, formula.replace("`", "")), schema=None)
