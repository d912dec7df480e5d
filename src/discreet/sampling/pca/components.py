"""Several principal components as one release: each a Bingham draw, perpendicular to those before."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidArgument, InvalidData
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Approx, Pure
from discreet.privacy.events.components import ComponentsEvent
from discreet.sampling.mechanisms import SamplingPlan, plan_draws
from discreet.sampling.pca.bingham import ScaledBingham, direction_sensitivity, scaled_bingham
from discreet.sampling.pca.second_moments import SecondMoments, UnitGrid, complement, sum_rows
from discreet.sampling.samplers import Counters, run
from discreet.sampling.targets.targets import Target

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.coins import Coins
    from discreet.privacy.events.sampling import SamplingEvent
    from discreet.sampling.policies import Policy


@dataclass(frozen=True, kw_only=True)
class Components(Target):
    """The first principal components of rows on a grid, drawn one after the other.

    Parameters
    ----------
    grid : UnitGrid
        The public grid of a row.
    n_components : int
        How many, at most the number of columns.
    names : tuple of str
        Of the columns, for the event.
    """

    grid: UnitGrid
    n_components: int
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        """What is drawn."""
        of = ", ".join(self.names[:8]) + (", ..." if len(self.names) > 8 else "")
        which = "1 principal component" if self.n_components == 1 else f"{self.n_components} principal components"
        return f"Bingham, {which} of ({of}), rows of norm at most {self.grid.row_norm!r}"

    @property
    def dimension(self) -> int:
        """How many numbers a component has."""
        return self.grid.n_columns

    @property
    def n_draws(self) -> int:
        """How many components are drawn: what is perpendicular to all but one is known up to its sign."""
        return max(1, min(self.n_components, self.grid.n_columns - 1))

    def sensitivity(self, adjacency: Adjacency) -> Fraction:
        """Return 1 under Replace, 1/2 under AddRemove."""
        return direction_sensitivity(adjacency)

    def count(self, data: NDArray[Any]) -> int:
        """Return the number of rows."""
        return int(data.shape[0])

    def prepare(self, data: NDArray[Any]) -> SecondMoments:
        """Return the exact second moments of a matrix whose cells were checked.

        Raises
        ------
        InvalidData
            If there are more rows than a sum can hold.
        """
        if data.shape[0] > self.grid.most_rows:
            raise InvalidData(f"There may be at most {self.grid.most_rows} rows. Use fewer.")
        return sum_rows(data, self.grid)

    def at(self, scale: Fraction, n_rows: int | None) -> ScaledBingham:
        """Return the law of the first component; its bounds hold for all."""
        return scaled_bingham(scale, self.grid, n_rows, n_components=self.n_draws)


@dataclass(frozen=True, eq=False)
class ComponentsPlan:
    """Principal components, as a plan for the one door.

    Parameters
    ----------
    event : SamplingEvent
        What is done, and what it costs.
    target : Components
        What is drawn.
    scaled : ScaledBingham
        The law of the first.

    Guarantee
    ---------
    The law of each draw given those before has the price of one draw of the event, and adaptive composition adds them
    up; where the event is a `ComponentsEvent` they are priced together, for less. A plan under `Plain` prices
    them one by one.
    Proof: docs/proofs/bingham.md, section 1
    """

    event: SamplingEvent
    target: Components
    scaled: ScaledBingham

    def measure(self, data: NDArray[Any]) -> SecondMoments:
        """Return the exact second moments."""
        return self.target.prepare(data)

    def draw(self, statistic: SecondMoments, coins: Coins) -> NDArray[np.float64]:
        """Return orthonormal components, float64 of shape (n_components, n_columns)."""
        return self.observe(statistic, coins, [])

    def observe(self, statistic: SecondMoments, coins: Coins, counters: list[Counters]) -> NDArray[np.float64]:
        """Return the components, and add to `counters` what was done for each: for tests and audits."""
        d, drawn = self.target.dimension, np.empty((0, self.target.dimension))
        basis, moments = np.eye(d), statistic
        for index in range(self.target.n_draws):
            if index:
                basis, whole = complement(drawn)
                moments = statistic.within(whole)
            scaled = replace(self.scaled, dimension=d - index, default=self.scaled.default[: d - index])
            counters.append(Counters())
            point = run(scaled, moments, self.event.runtime, coins, counters=counters[-1])[0]
            drawn = np.vstack([drawn, _with_sign(_unit(basis.T @ point))])
        if drawn.shape[0] < self.target.n_components:
            drawn = np.vstack([drawn, _with_sign(_unit(complement(drawn)[0][0]))])
        return drawn


def plan_components(
    target: Components, *, budget: Budget, adjacency: Adjacency, runtime: Policy, n_rows: int | None
) -> ComponentsPlan:
    """Return the plan of components, as sharp as the budget pays for.

    Parameters
    ----------
    target : Components
        What is drawn.
    budget : Budget
        For all components and their running time together.
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    runtime : policy
        How long to run.
    n_rows : int or None
        The number of rows, under Replace; None under AddRemove.

    Raises
    ------
    IncompatiblePlan
        If they do not go together.
    """
    common: dict[str, Any] = {
        "adjacency": adjacency,
        "runtime": runtime,
        "n_rows": n_rows,
        "n_draws": target.n_draws,
    }
    plan = plan_draws(target, budget=budget, **common)
    draws = target.n_draws
    # Under `Plain` a sharper law has a dearer clock, and the scale that is found below would be no sharper.
    together = draws > 1 and isinstance(adjacency, Replace) and runtime.kind != "plain"
    if together and isinstance(budget, (Pure, Approx)):
        plan = _sharpened(plan, budget, plan_draws(target, budget=_larger(budget, draws), **common), n_rows)
    assert isinstance(plan.scaled, ScaledBingham)  # noqa: S101  (the target's own)
    return ComponentsPlan(plan.event, target, plan.scaled)


def _larger(budget: Pure | Approx, draws: int) -> Pure | Approx:
    """Return a budget whose plan is at least as sharp as components together can be."""
    epsilon = budget.epsilon * 2 * draws / (draws + 1)
    return Pure(epsilon=epsilon) if isinstance(budget, Pure) else Approx(epsilon=epsilon, delta=budget.delta)


def _sharpened(plan: SamplingPlan, budget: Pure | Approx, larger: SamplingPlan, n_rows: int | None) -> SamplingPlan:
    """Return the plan of components that are priced together; blocks and acceptance are those of a sharper law."""
    numbers = {field.name: getattr(larger.event, field.name) for field in fields(larger.event)}
    try:
        trial = ComponentsEvent(**numbers)
    except InvalidArgument:  # so many that they are priced one by one
        return plan
    assert isinstance(trial.price, (Pure, Approx))  # noqa: S101  (as its budget)
    beside = trial.price.epsilon - 2 * trial.n_draws * trial.change
    scale = (budget.epsilon - beside) * trial.scale / (2 * trial.n_draws * trial.change)
    event = ComponentsEvent(**{**numbers, "budget": budget, "scale": scale})
    return SamplingPlan(event, plan.target, plan.target.at(scale, n_rows))


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(vector / np.sqrt(vector @ vector))


def _with_sign(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a direction or its opposite, whose largest entry is above 0; the law is the same for both."""
    sign = 1.0 if vector[np.abs(vector).argmax()] > 0 else -1.0
    return vector * sign + 0.0
