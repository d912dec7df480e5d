"""What the linear estimators of the second pillar share: a target within public bounds, around a public center."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from discreet import _checks
from discreet.errors import InvalidData, InvalidType
from discreet.estimators.arguments import says_what_it_lacks
from discreet.estimators.descent_base import DescentEstimator, Facts, Staged
from discreet.estimators.scores import RegressorScore
from discreet.lattice.bounds import Interval
from discreet.privacy.release import check_payer
from discreet.tables.arrays import UNEQUAL, check_matrix, check_target
from discreet.tables.cells.given_cells import numbers_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.privacy.ledger import Ledger


class DescentRegressor(RegressorScore, DescentEstimator):
    """A linear regression with a bounded target."""

    _loss: ClassVar[str] = "squared"

    y_bounds: Interval

    @says_what_it_lacks
    def fit(self, X: Any, y: Any, *, ledger: Ledger | None = None) -> Self:
        """Release the coefficients; charges the ledger once.

        Parameters
        ----------
        X : array-like, frame, or any scipy.sparse matrix or array, shape (n_rows, n_features)
            The private features.
        y : array-like of numbers, shape (n_rows,)
            The private target; clipped to `y_bounds`.
        ledger : Ledger or None
            Who pays; None opens a ledger in memory whose total is the budget.

        Raises
        ------
        InvalidArgument, IncompatiblePlan
            If a declaration is not usable; nothing is spent.
        InvalidData
            If the rows do not fit; names the column, quotes no cell; nothing is spent.
        BudgetExceeded
            If the ledger has too little left; the fitted state stays as it was.

        Guarantee
        ---------
        See the class.
        """
        self.fit_with_progress(X, y, ledger=ledger, progress=None, stacklevel=5)
        return self

    def fit_with_progress(
        self,
        X: Any,
        y: Any,
        *,
        ledger: Ledger | None,
        progress: Callable[[int, int], None] | None,
        stacklevel: int = 3,
    ) -> None:
        """Fit, and tell `progress` how many passes over the rows are done, and of how many; both are public."""
        adjacency = check_payer(ledger, self.adjacency)
        bounds = self._interval()
        column = check_target(self, X, y, stacklevel=stacklevel)
        staged, matrix = check_matrix(self, X, may_be_empty=not adjacency.size_is_public)
        target = numbers_of(column).astype(np.float64)
        if target.shape[0] != matrix.shape[0]:
            raise InvalidData(UNEQUAL)
        if not np.isfinite(target).all():
            raise InvalidData("Column 'y' has missing cells (NaN or inf). Take such rows out.")
        center = self._center(bounds)
        # Clipped before it is moved: a difference of huge numbers could lose the target's digits.
        moved = np.clip(target, bounds.lower, bounds.upper) - center
        facts = Facts(
            n_columns=matrix.shape[1],
            n_rows=self._n_rows(adjacency, matrix),
            adjacency=adjacency,
            target_bounds=(bounds.lower - center, bounds.upper - center),
        )
        self._release(Staged(staged, matrix, (moved,)), facts, ledger, progress=progress)

    def _center(self, bounds: Interval) -> float:
        """Return the public center: the middle of the bounds, or 0 for a model without intercept."""
        return (bounds.lower + bounds.upper) / 2 if _checks.boolean(self.fit_intercept, "fit_intercept") else 0.0

    def _interval(self) -> Interval:
        if isinstance(self.y_bounds, Interval):
            return self.y_bounds
        raise InvalidType(
            f"{type(self).__name__} needs `y_bounds`, an Interval(lower, upper) with the public range of y; "
            f"found {type(self.y_bounds).__name__}."
        )

    def _take_coefficients(self, coefs: NDArray[np.float64], constants: NDArray[np.float64]) -> None:
        self.target_bounds_ = self._interval()
        self.coef_ = coefs[0]
        self.intercept_ = float(constants[0]) + self._center(self.target_bounds_)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return predictions, float64 of shape (n_rows,), in units of y and within its public bounds.

        Parameters
        ----------
        X : array-like, frame, or any scipy.sparse matrix or array, shape (n_rows, n_features)
            Rows to predict for; each is scaled down to `row_norm` and clipped to `entry_bound`, as private ones are.
        """
        margins = self._margins(X)[:, 0]
        return np.clip(margins, self.target_bounds_.lower, self.target_bounds_.upper)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        tags.non_deterministic = True
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags
