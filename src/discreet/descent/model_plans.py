"""Plans of norm-bounded linear models from public facts: what every method of this pillar takes, and returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.errors import IncompatiblePlan
from discreet.lattice.row_grid import RowGrid
from discreet.privacy.accounting import gaussian_mu, zcdp_rho
from discreet.privacy.budgets import Approx, Gdp, Zcdp
from discreet.privacy.events.repeated import RepeatedEvent, share_of

if TYPE_CHECKING:
    from discreet.descent.private_table import PrivateTable
    from discreet.descent.rows import IntegerRows
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.coins import Coins
    from discreet.privacy.events.event import Event


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """What is public about a fit before a row is read.

    Parameters
    ----------
    loss : {"squared", "logistic", "poisson"}
        What is minimized.
    budget, adjacency
        The promise of the whole fit.
    n_columns : int
        Columns of the rows.
    n_rows : int
        The number of rows under Replace, the expected one under AddRemove.
    row_norm : float
        Every row is scaled down to this Euclidean norm.
    entry_bound : float or None
        What entries of scaled rows are clipped to; None for `row_norm`.
    intercept : bool
        Whether the model has one.
    target_bounds : tuple of float
        Of what is fitted, after the public center was taken off.
    n_models : int
        One, or one a class.
    """

    loss: str
    budget: Budget
    adjacency: Adjacency
    n_columns: int
    n_rows: int
    row_norm: float
    entry_bound: float | None
    intercept: bool
    target_bounds: tuple[float, float]
    n_models: int = 1

    @property
    def bare_grid(self) -> RowGrid:
        """The grid of a row without an intercept."""
        return RowGrid(self.n_columns, self.row_norm, self.entry_bound)

    def grid(self, column: float) -> RowGrid:
        """Return the grid of a row whose intercept, where there is one, is a column of this value."""
        bare = self.bare_grid
        if not self.intercept:
            return bare
        # Never below the grid's unit, which a tiny entry bound could bring about.
        value = min(max(column, bare.unit), bare.row_norm)
        return RowGrid(self.n_columns, self.row_norm, self.entry_bound, value)

    def clip_of_range(self, share: float) -> float:
        """Return a part of the target's range, to which residuals are clipped; 1, so all of it, for labels."""
        return 1.0 if self.loss == "logistic" else (self.target_bounds[1] - self.target_bounds[0]) * share

    def share(self, *, gaussian: bool | None) -> Budget:
        """Return the budget of one of the models, in the currency in which their noise adds up without loss.

        Parameters
        ----------
        gaussian : bool or None
            Whether all of a model's noise is Gaussian; None where the budget is split as it stands.
        """
        if self.n_models == 1:
            return self.budget
        whole = self.budget if gaussian is None else additive(self.budget, gaussian=gaussian)
        return share_of(whole, self.n_models)


@dataclass(frozen=True, eq=False)
class ModelPlan:
    """The plan of one model, with what its estimator shows of it.

    Parameters
    ----------
    plan : Plan
        Of `IntegerRows`; its releases have a `theta`.
    grid : RowGrid
        The grid of its rows.
    settings : dict
        Public settings by name, such as the number of steps.
    """

    plan: Any
    grid: RowGrid
    settings: dict[str, Any]


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
    if one.settings.get("noise") == "paper":
        raise IncompatiblePlan(
            f'`noise` "paper" is printed for one model, and there is one a class; found {n_models} classes. '
            'Use noise="exact".'
        )
    return ModelsPlan(one, against_the_rest(part, budget, n_models), n_models)


def additive(budget: Budget, *, gaussian: bool) -> Budget:
    """Return a budget in the currency in which noisy steps add up without loss: Gdp, or Zcdp where columns are chosen.

    Where (epsilon, delta) is split among several models, splitting it by itself would cost far more.
    """
    if not isinstance(budget, Approx) or budget.delta == 0:
        return budget
    if gaussian:
        return Gdp(mu=gaussian_mu(epsilon=budget.epsilon, delta=budget.delta))
    return Zcdp(rho=zcdp_rho(epsilon=budget.epsilon, delta=budget.delta))


def against_the_rest(part: Event, budget: Budget, n_models: int) -> RepeatedEvent:
    """Return the event of one model a class, each against the rest, of which `part` is one."""
    return RepeatedEvent(
        part=part,
        n_times=n_models,
        adjacency=part.adjacency,
        budget=budget,
        statistic=f"{n_models} classes, each against the rest: {part.statistic}",
        shape=(n_models, *part.shape),
    )
