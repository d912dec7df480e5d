"""What linear and Poisson regression share: their declarations, and a target that is a number or a count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidType
from discreet.estimators.arguments import says_what_it_lacks
from discreet.estimators.front_door import FrontDoor
from discreet.estimators.scores import RegressorScore
from discreet.lattice.bounds import Interval
from discreet.tables.cells.given_cells import numbers_of
from discreet.tables.frame_rows import check_schema, number_target

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.lattice.bounds import Box
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.tables.frame_rows import Target
    from discreet.tables.schema.schema import Schema


class NumberModel(RegressorScore, FrontDoor):
    """A regression whose target is a number or a count."""

    y_bounds: Interval | None

    @says_what_it_lacks
    def __init__(
        self,
        *,
        budget: Budget,
        adjacency: Adjacency,
        x_bounds: Box | None = None,
        schema: Schema | None = None,
        row_norm: float | None = None,
        y_bounds: Interval | None = None,
        method: str = "auto",
        expected_rows: int | None = None,
        fit_intercept: bool = True,
        sparsity: int | None = None,
        entry_bound: float | None = None,
        n_steps: int | None = None,
        step_size: float | None = None,
        clip: float | None = None,
        gram_share: Any = None,
        max_sample_weight: float | None = None,
    ) -> None:
        self.budget = budget
        self.adjacency = adjacency
        self.x_bounds = x_bounds
        self.schema = schema
        self.row_norm = row_norm
        self.y_bounds = y_bounds
        self.method = method
        self.expected_rows = expected_rows
        self.fit_intercept = fit_intercept
        self.sparsity = sparsity
        self.entry_bound = entry_bound
        self.n_steps = n_steps
        self.step_size = step_size
        self.clip = clip
        self.gram_share = gram_share
        self.max_sample_weight = max_sample_weight

    def _interval(self) -> Interval | None:
        if self.y_bounds is None or isinstance(self.y_bounds, Interval):
            return self.y_bounds
        raise InvalidType(f"`y_bounds` must be an Interval(lower, upper); found {type(self.y_bounds).__name__}.")

    def _target(self) -> tuple[Interval | None, Callable[[Any], Target] | None, None]:
        interval = self._interval()

        def target_of(column: Any) -> Target:
            found = number_target(column, check_schema(self.schema), interval)
            self._check_bounds(found.column.lower)
            return found

        if interval is not None:
            self._check_bounds(interval.lower)
        return interval, target_of, None

    def _read_numbers(self) -> Callable[[Any], NDArray[np.float64]]:
        return lambda column: numbers_of(column).astype(np.float64)

    def take_coefficients(self, coefs: NDArray[np.float64], constants: NDArray[np.float64]) -> None:
        """Set `coef_` and `intercept_` from the one model."""
        self.coef_ = coefs[0]
        self.intercept_ = float(constants[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags
