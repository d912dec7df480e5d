"""Private Frank-Wolfe over an l1 ball: each step moves toward one noisily chosen vertex."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.descent.gradients import private_gradient, residual_bound
from discreet.descent.rows import RESIDUAL_BOUND
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.lattice.noise.accuracy import check_library
from discreet.lattice.noise.gumbel import check_gumbel_scale, noisy_top
from discreet.lattice.noise.laplace import rounded_laplace
from discreet.numbers.outward import log_up, round_up
from discreet.numbers.roots import root_up
from discreet.privacy.accounting import convert, zcdp_rho
from discreet.privacy.budgets import Approx, Pure, Zcdp, check_budget, is_pure
from discreet.privacy.events.perturbation import FrankWolfeEvent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.descent.losses import Loss
    from discreet.descent.rows import IntegerRows
    from discreet.lattice.row_grid import RowGrid
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.coins import Coins

NOISES = ("gumbel", "paper")

# Laplace noise of a larger scale could pass 64 bits; below it, with a probability under exp(-2**12).
_LARGEST_LAPLACE = 2**50
_OF_DELTA = 1 - Fraction(1, 2**40)


@dataclass(frozen=True, eq=False)
class FrankWolfeParameters:
    """Released parameters in an l1 ball; public.

    Parameters
    ----------
    theta : ndarray of float64, shape (width,)
        At most `n_steps` of them are not 0; their sizes add up to at most the radius.
    radius : float
        Of the ball.
    n_steps : int
        How many vertices were chosen.
    """

    theta: NDArray[np.float64]
    radius: float
    n_steps: int


@dataclass(frozen=True)
class FrankWolfePlan:
    """What one private Frank-Wolfe fit will do; priced without data.

    Parameters
    ----------
    grid : RowGrid
        The public grid of a row. An intercept is one more column of the ball.
    loss : Loss
        Residuals are clipped where it says.
    event : FrankWolfeEvent
        Steps, law and scale of the noise.
    radius : float
        lambda: parameters have an l1 norm of at most this, in the units of the columns.
    target_bounds : tuple of float
        Public limits of the target.
    """

    grid: RowGrid
    loss: Loss
    event: FrankWolfeEvent
    radius: float
    target_bounds: tuple[float, float]

    def measure(self, data: IntegerRows) -> IntegerRows:
        """Return the rows; all passes over them are made in `draw`."""
        if data.grid != self.grid or data.target_bounds != self.target_bounds:
            raise IncompatiblePlan(
                "The rows are on another grid than the plan's. Make both from the same declarations."
            )
        return data

    def draw(self, statistic: IntegerRows, coins: Coins) -> FrankWolfeParameters:
        """Return the last iterate; total, whatever the private values are.

        The iterate after t steps of size `2 / (s + 2)`, s = 0, 1, ..., is the mean of the chosen vertices with
        weights 1, 2, ..., t: whole numbers, so nothing is rounded until they are divided.
        """
        event = self.event
        weights = np.zeros(self.grid.width, np.int64)
        theta: NDArray[np.float64] = np.zeros(self.grid.width)
        for step in range(1, event.n_steps + 1):
            bound = self._bound(theta)
            private_sums = private_gradient(statistic, self.loss, theta, bound)
            column, sign = self._choose(private_sums, event.ratio * self.sensitivity(bound), coins)
            weights[column] += sign * step
            theta = weights.astype(np.float64) * (self.radius / (step * (step + 1) / 2))
        return FrankWolfeParameters(theta, self.radius, event.n_steps)

    def _bound(self, theta: NDArray[np.float64]) -> int:
        if self.event.law == "laplace":  # the printed scale is of the clip alone
            return RESIDUAL_BOUND
        return residual_bound(theta, self.grid, self.loss, self.target_bounds)

    def sensitivity(self, bound: int) -> int:
        """Return how far one neighbour moves a score where residuals are at most `bound` units."""
        return self.event.adjacency.rows_changed * bound * max(self.grid.entry, self.grid.constant)

    def _choose(self, sums: NDArray[np.int64], scale: Fraction, coins: Coins) -> tuple[int, int]:
        """Return the column and the sign of the chosen vertex: the largest noisy descent of 2 * width."""
        scores = np.concatenate((-sums, sums))
        if self.event.law == "gumbel":
            winner = int(noisy_top(scores, scale=scale, size=1, coins=coins)[0])
        else:
            # Ties go to the first; the theorem allows for them.
            winner = int(np.argmax(rounded_laplace(scores, scale=scale, coins=coins)))
        half, column = divmod(winner, self.grid.width)
        return column, -1 if half else 1


def plan_frank_wolfe(
    grid: RowGrid,
    loss: Loss,
    *,
    budget: Budget,
    adjacency: Adjacency,
    radius: float,
    n_steps: int,
    target_bounds: tuple[float, float] = (0.0, 1.0),
    noise: str = "gumbel",
    statistic: str = "Frank-Wolfe over an l1 ball",
) -> FrankWolfePlan:
    """Return the plan of a private Frank-Wolfe fit that costs at most `budget`.

    Parameters
    ----------
    grid : RowGrid
        The public grid of a row.
    loss : Loss
        Which residual, clipped where.
    budget : Pure, Approx or Zcdp
        What the fit may cost.
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    radius : float
        lambda, the radius of the l1 ball, in the units of the columns.
    n_steps : int
        T, fixed; the result has at most so many columns.
    target_bounds : tuple of float
        Public limits of the target.
    noise : {"gumbel", "paper"}
        "gumbel": scale `D sqrt(T / (2 rho))` with D the sensitivity of a step's scores. "paper": the printed Laplace
        noise of Talwar, Thakurta and Zhang for an Approx budget, scale `B kappa sqrt(8 T log(1 / delta)) / epsilon`;
        the event's budget is then the true cost under the adjacency.
    statistic : str
        What is released, in words.

    Raises
    ------
    IncompatiblePlan
        If the budget has no such mechanism.
    InvalidArgument
        If a number is out of its range.

    Guarantee
    ---------
    The event's price, computed from its own exact fields, is at most its budget. Proof: docs/proofs/perturbation.md

    Examples
    --------
    >>> from discreet.descent.losses import LogisticLoss
    >>> from discreet.lattice.row_grid import RowGrid
    >>> from discreet.privacy.adjacency import AddRemove
    >>> plan = plan_frank_wolfe(RowGrid(9, row_norm=1.0), LogisticLoss(), budget=Zcdp(rho="1/2"), radius=5, n_steps=16,
    ...                         adjacency=AddRemove())
    >>> plan.event.ratio
    Fraction(4, 1)
    """
    check_budget(budget)
    form = _checks.one_of(noise, "noise", NOISES)
    steps = _checks.integer(n_steps, "n_steps", low=1, high=10**6)
    size = _checks.finite_float(radius, "radius")
    if not 1e-60 <= size <= 1e60:
        raise InvalidArgument(f"`radius` must be between 1e-60 and 1e60; found {size}.")
    low, high = (_checks.finite_float(limit, "target_bounds") for limit in target_bounds)
    common: dict[str, Any] = {
        "n_steps": steps,
        "adjacency": adjacency,
        "statistic": statistic,
        "shape": (grid.width,),
    }
    event = _gumbel(budget, common) if form == "gumbel" else _printed(budget, common)
    plan = FrankWolfePlan(grid, loss, event, size, (low, high))
    _check_scales(plan)
    return plan


def _gumbel(budget: Budget, common: dict[str, Any]) -> FrankWolfeEvent:
    steps = common["n_steps"]
    if isinstance(budget, (Pure, Approx)) and is_pure(budget):
        ratio = 2 * steps / budget.epsilon
    elif isinstance(budget, (Zcdp, Approx)):
        rho = budget.rho if isinstance(budget, Zcdp) else zcdp_rho(epsilon=budget.epsilon, delta=budget.delta)
        ratio = root_up(steps / (2 * rho))
    else:
        raise IncompatiblePlan(f"Choices by Gumbel noise have no price in Gdp; found {budget!r}. Use Zcdp or Approx.")
    return FrankWolfeEvent(law="gumbel", ratio=ratio, budget=budget, **common)


def _printed(budget: Budget, common: dict[str, Any]) -> FrankWolfeEvent:
    if not isinstance(budget, Approx) or budget.delta == 0:
        raise IncompatiblePlan(
            f'`noise="paper"` needs a budget in Approx with a delta above 0; found {budget!r}. Leave it out.'
        )
    steps = common["n_steps"]
    printed = root_up(8 * steps * log_up(1 / budget.delta)) / budget.epsilon
    ratio = round_up(printed / common["adjacency"].rows_changed)
    true = convert(Zcdp(rho=2 * steps / ratio**2), Approx, delta=budget.delta * _OF_DELTA)
    cost = Approx(epsilon=round_up(true.coordinates[0]), delta=budget.delta)
    return FrankWolfeEvent(law="laplace", ratio=ratio, budget=cost, **common)


def _check_scales(plan: FrankWolfePlan) -> None:
    """Refuse what no noise can be drawn for; and a library too inaccurate for exact noise, before a charge."""
    largest = plan.event.ratio * plan.sensitivity(RESIDUAL_BOUND)
    if plan.event.law == "laplace":
        if largest <= _LARGEST_LAPLACE:
            return
        raise InvalidArgument("`budget` is too small for the printed noise in 64 bits. Raise it, or lower `n_steps`.")
    check_gumbel_scale(plan.event.ratio * plan.sensitivity(1), "budget")
    check_gumbel_scale(largest, "budget")
    check_library()
