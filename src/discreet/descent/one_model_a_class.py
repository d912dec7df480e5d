"""One release of several models of the same rows: one a class, each against the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.descent.rows import IntegerRows, integer_rows
from discreet.errors import IncompatiblePlan
from discreet.privacy.events.repeated import RepeatedEvent

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from discreet.lattice.row_grid import RowGrid
    from discreet.privacy.budgets import Budget
    from discreet.privacy.coins import Coins
    from discreet.privacy.events.event import Event


class Passes:
    """A count of passes over the rows, for a progress bar.

    Parameters
    ----------
    total : int
        How many there will be.
    tell : callable
        Told how many are done and how many there will be.
    """

    def __init__(self, total: int, tell: Callable[[int, int], None]) -> None:
        self._total = total
        self._tell = tell
        self._done = 0

    def one_more(self) -> None:
        """Count a pass that is done."""
        self._done += 1
        self._tell(self._done, self._total)


@dataclass(frozen=True, eq=False)
class PrivateTable:
    """Private rows as they were given, with one target a model.

    Parameters
    ----------
    private_matrix : array or any scipy.sparse matrix or array
        The features.
    private_targets : tuple of ndarray of float64, shape (n_rows,)
        Finite.
    names : tuple of str
        Of the columns, for messages.
    target_bounds : tuple of float
        Public limits of every target.
    passes : Passes or None
        Who is told of each pass over the rows; the number of passes is public.
    """

    private_matrix: Any
    private_targets: tuple[NDArray[np.float64], ...]
    names: tuple[str, ...]
    target_bounds: tuple[float, float]
    passes: Passes | None = None

    def on_grid(self, grid: RowGrid) -> list[IntegerRows]:
        """Return the rows as whole numbers, once a target; the features are stored once.

        Raises
        ------
        InvalidData
            If a cell is missing; names the column.
        """
        first = integer_rows(
            self.private_matrix,
            self.private_targets[0],
            row_norm=grid.row_norm,
            entry_bound=grid.entry_bound,
            target_bounds=self.target_bounds,
            intercept=grid.intercept,
            bits=grid.bits,
            names=self.names,
        )
        return [self._watched(first, target) for target in self.private_targets]

    def _watched(self, rows: IntegerRows, target: NDArray[np.float64]) -> IntegerRows:
        private_y = target.clip(*rows.target_bounds)
        watched = WatchedRows(rows.grid, rows.private_matrix, private_y, rows.target_bounds)
        watched.passes = self.passes
        return watched


class WatchedRows(IntegerRows):
    """Rows that say when a pass over them is done."""

    __slots__ = ("passes",)

    passes: Passes | None

    def gradient(self, residuals: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the sum over all rows of residual times row, exactly."""
        total = super().gradient(residuals)
        if self.passes is not None:
            self.passes.one_more()
        return total


@dataclass(frozen=True, eq=False)
class ModelPlan:
    """The plan of one model, with what its estimator shows of it.

    Parameters
    ----------
    plan : Plan
        Of `IntegerRows`; its releases have a `theta`.
    grid : RowGrid
        The grid of its rows.
    settled : dict
        Public settings by name, such as the number of steps.
    """

    plan: Any
    grid: RowGrid
    settled: dict[str, Any]


@dataclass(frozen=True, eq=False)
class ModelsPlan:
    """The plan of all models of a fit; priced without data.

    Parameters
    ----------
    one : ModelPlan
        The plan of each.
    event : Event
        Of all of them together.
    n_models : int
        How many.
    """

    one: ModelPlan
    event: Event
    n_models: int

    def measure(self, data: PrivateTable) -> list[IntegerRows]:
        """Return the rows on the grid, checked."""
        return [self.one.plan.measure(rows) for rows in data.on_grid(self.one.grid)]

    def draw(self, statistic: list[IntegerRows], coins: Coins) -> Any:
        """Return the release of the one model, or a tuple with one a class."""
        drawn = tuple(self.one.plan.draw(rows, coins) for rows in statistic)
        return drawn[0] if self.n_models == 1 else drawn


def plan_models(one: ModelPlan, budget: Budget, n_models: int) -> ModelsPlan:
    """Return the plan of `n_models` models, whose events together cost at most `budget`.

    Raises
    ------
    IncompatiblePlan
        If the noise of `one` is not calibrated to its budget, such as the printed one.
    """
    part = one.plan.event
    if n_models == 1:
        return ModelsPlan(one, part, 1)
    if one.settled.get("noise") == "paper":
        raise IncompatiblePlan(
            f'`noise` "paper" is printed for one model, and there is one a class; found {n_models} classes. '
            'Use noise="exact".'
        )
    event = RepeatedEvent(
        part=part,
        n_times=n_models,
        adjacency=part.adjacency,
        budget=budget,
        statistic=f"{n_models} classes, each against the rest: {part.statistic}",
        shape=(n_models, *part.shape),
    )
    return ModelsPlan(one, event, n_models)
