"""Objective and output perturbation: one convex problem, minimized to a public accuracy, once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.descent.rivals.convex_problem import (
    FOR_OUTPUT,
    MOST_ROWS,
    ConvexProblem,
    error_of,
    exponent_of,
    grid_bits_of,
    mu_squared,
    positive,
    pure_or_approx,
)
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.lattice.noise.accuracy import check_library
from discreet.lattice.noise.gaussian import rounded_gaussian
from discreet.lattice.noise.l2_norm import check_l2_rate, l2_noise, l2_norm
from discreet.lattice.noise.scales import check_variance
from discreet.lattice.noise.steps import step_bits_for
from discreet.numbers.outward import log_up, round_up
from discreet.numbers.roots import root_up
from discreet.privacy.budgets import Approx, Pure, check_budget, is_pure
from discreet.privacy.events.perturbation import (
    PerturbedMinimizerEvent,
    PerturbedObjectiveEvent,
    normal_tail,
    objective_epsilon,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.descent.losses import Loss
    from discreet.descent.rivals.minimizer import Minimizer
    from discreet.descent.rows import IntegerRows
    from discreet.lattice.row_grid import RowGrid
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.coins import Coins

METHODS = ("objective", "output")
NOISES = ("exact", "paper")

# Relative slack where roots are rounded.
_SLACK = 1 - Fraction(1, 2**60)


@dataclass(frozen=True, eq=False)
class PerturbedParameters:
    """Released parameters of a convex fit; public.

    Parameters
    ----------
    theta : ndarray of float64, shape (width,)
        Parameters in the units of the columns; last that of the constant column, where there is one.
    n_steps : int
        Gradient steps that were planned.
    regularization : float
        Of `row_norm * theta`.
    """

    theta: NDArray[np.float64]
    n_steps: int
    regularization: float


@dataclass(frozen=True)
class PerturbationPlan:
    """What one perturbed fit will do; priced without data.

    Parameters
    ----------
    problem : ConvexProblem
        The public facts: grid, loss, adjacency, number of rows.
    event : PerturbedObjectiveEvent or PerturbedMinimizerEvent
        The mechanism and its scales, in units in which a row of norm `row_norm` has norm 1.
    minimizer : Minimizer
        Public settings of the minimization.
    grid_bits : int
        Minimizers are rounded to multiples of `2**-grid_bits`.
    noise_bits : int
        And the perturbation of an objective to multiples of `2**-noise_bits`.
    """

    problem: ConvexProblem
    event: PerturbedObjectiveEvent | PerturbedMinimizerEvent
    minimizer: Minimizer
    grid_bits: int
    noise_bits: int

    def measure(self, data: IntegerRows) -> IntegerRows:
        """Return the rows; all passes over them are made in `draw`.

        Raises
        ------
        IncompatiblePlan
            If they are on another grid, or, where their number is public, more than were planned for.
        """
        self.problem.check_rows(data)
        return data

    def draw(self, statistic: IntegerRows, coins: Coins) -> PerturbedParameters:
        """Return the noisy minimizer; total, whatever the private values are."""
        event, width = self.event, self.problem.grid.width
        if isinstance(event, PerturbedMinimizerEvent):
            private_whole = self._minimize(statistic, np.zeros(width))
            released = self._add_noise(private_whole, event, coins)
        else:
            perturbation = perturbation_of(event, width, self.noise_bits, coins)
            private_whole = self._minimize(statistic, perturbation)
            released = l2_norm(private_whole, rate=_rate(event.output_scale, self.grid_bits), coins=coins)
        theta = np.ldexp(released.astype(np.float64), event.step_bits - self.grid_bits)
        theta /= self.problem.grid.row_norm
        return PerturbedParameters(theta, self.minimizer.n_steps, self.minimizer.regularization)

    def _minimize(self, rows: IntegerRows, linear: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the minimizer in whole steps of the public grid; below 2**61."""
        v = self.minimizer.minimize(rows, self.problem.loss, linear)
        return np.rint(np.ldexp(v, self.grid_bits)).astype(np.int64)

    def _add_noise(self, whole: NDArray[np.int64], event: PerturbedMinimizerEvent, coins: Coins) -> NDArray[np.int64]:
        if event.law == "l2":
            return l2_norm(whole, rate=_rate(event.scale, self.grid_bits), coins=coins, step_bits=event.step_bits)
        variance = (event.scale * Fraction(2) ** self.grid_bits) ** 2
        return rounded_gaussian(whole, variance=variance, coins=coins, step_bits=event.step_bits)


def perturbation_of(event: PerturbedObjectiveEvent, width: int, bits: int, coins: Coins) -> NDArray[np.float64]:
    """Return the linear term b: real noise, rounded to multiples of 2**-bits."""
    if event.law == "l2":
        whole = l2_noise(width, rate=_rate(event.scale, bits), coins=coins)
    else:
        variance = (event.scale * Fraction(2) ** bits) ** 2
        whole = rounded_gaussian(np.zeros(width, np.int64), variance=variance, coins=coins).astype(np.float64)
    perturbation: NDArray[np.float64] = np.ldexp(whole, -bits)
    return perturbation


def plan_perturbation(
    grid: RowGrid,
    loss: Loss,
    *,
    budget: Budget,
    adjacency: Adjacency,
    n_rows: int,
    method: str = "objective",
    regularization: float | None = None,
    parameter_bound: float | None = None,
    target_bounds: tuple[float, float] = (0.0, 1.0),
    noise: str = "exact",
    statistic: str = "minimizer of a convex objective",
) -> PerturbationPlan:
    """Return the plan of one convex fit that costs at most `budget`.

    Parameters
    ----------
    grid : RowGrid
        The public grid of a row.
    loss : Loss
        Logistic, or squared with a clip (Huber's). Squared loss with parameters of at most R is the clipped one with
        `clip = R * row_norm + largest target`: within that ball no residual is clipped.
    budget : Pure, Approx, Zcdp or Gdp
        Objective perturbation takes Pure or Approx, output perturbation any.
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    n_rows : int
        The number of rows under Replace; under AddRemove the expected one, from public knowledge.
    method : {"objective", "output"}
        What is perturbed: the objective, or its minimizer.
    regularization : float or None, default None
        alpha: the sum of losses has `alpha / 2 * |row_norm * theta|**2` added. None chooses from public numbers.
    parameter_bound : float or None, default None
        Parameters are projected onto the ball `|row_norm * theta| <= parameter_bound`. None allows for margins of
        256 units (of the target, where the loss has any).
    target_bounds : tuple of float
        The rows' own.
    noise : {"exact", "paper"}
        "paper" is the printed noise of Kifer, Smith and Thakurta for `budget`, whose epsilon is theirs; the event's
        budget is then the true cost under the adjacency.
    statistic : str
        What is released, in words.

    Raises
    ------
    IncompatiblePlan
        If the budget has no such mechanism, or is too small for the regularization.
    InvalidArgument
        If a number is out of its range.

    Guarantee
    ---------
    The event's price, computed from its own exact fields, is at most its budget. Proof: docs/proofs/perturbation.md

    Examples
    --------
    >>> from discreet.descent.losses import LogisticLoss
    >>> from discreet.lattice.row_grid import RowGrid
    >>> from discreet.privacy.adjacency import Replace
    >>> plan = plan_perturbation(RowGrid(3, row_norm=1.0), LogisticLoss(), budget=Pure(epsilon=1), adjacency=Replace(),
    ...                          n_rows=1000)
    >>> plan.event.price <= Pure(epsilon=1)
    True
    """
    check_budget(budget)
    form = _checks.one_of(method, "method", METHODS)
    printed = _checks.one_of(noise, "noise", NOISES) == "paper"
    expected = _checks.integer(n_rows, "n_rows", low=1, high=MOST_ROWS)
    facts = ConvexProblem(grid, loss, adjacency, expected, target_bounds)
    common = {"adjacency": adjacency, "statistic": statistic, "shape": (grid.width,)}
    if printed:
        if form != "objective" or not isinstance(budget, Approx):
            raise IncompatiblePlan(
                '`noise="paper"` is of objective perturbation with a budget in Approx. Leave it out.'
            )
        alpha = _up(2 * facts.largest_curvature / budget.epsilon) if regularization is None else regularization
    elif regularization is None:
        alpha = facts.default_regularization(budget, form)
    else:
        alpha = regularization
    alpha = positive(alpha, "regularization")
    minimizer = facts.minimizer(alpha, parameter_bound)
    event: PerturbedObjectiveEvent | PerturbedMinimizerEvent
    if form == "output":
        event = _output(facts, minimizer, budget, common)
    elif printed and isinstance(budget, Approx):
        event = _printed(facts, minimizer, budget, common)
    else:
        event = _objective(facts, minimizer, budget, common)
    return _plan(facts, minimizer, event)


def _objective(
    facts: ConvexProblem, minimizer: Minimizer, budget: Budget, common: dict[str, Any]
) -> PerturbedObjectiveEvent:
    """Return the event whose price is the budget, but for roundings."""
    asked = pure_or_approx(budget)
    for_output = asked.epsilon * FOR_OUTPUT
    left = (asked.epsilon - for_output) * _SLACK - log_up(
        1 + facts.largest_curvature / Fraction(minimizer.regularization)
    )
    if left <= 0:
        raise IncompatiblePlan(
            f"`budget` {budget!r} is spent by the curvature alone. Raise `regularization` above "
            f"{minimizer.regularization}, or leave it out."
        )
    shift, law = left, "l2"
    if isinstance(asked, Approx):
        tail = normal_tail(_delta(asked))
        # shift * tail + shift**2 / 2 = left, solved without cancellation and rounded down.
        shift, law = 2 * left / (tail + root_up(tail**2 + 2 * left)) * _SLACK, "gaussian"
    common = common | {"law": law, "scale": round_up(facts.gradient / shift), "budget": budget}
    return _objective_event(facts, minimizer, for_output, common)


def _delta(budget: Approx) -> Fraction:
    if budget.delta > 0:
        return budget.delta
    raise IncompatiblePlan("Gaussian noise needs a delta above 0. Use a budget in Pure.")


def _objective_event(
    facts: ConvexProblem, minimizer: Minimizer, for_output: Fraction, common: dict[str, Any]
) -> PerturbedObjectiveEvent:
    error = error_of(minimizer)
    return PerturbedObjectiveEvent(
        row_norm_squared=facts.norm_squared,
        slope=facts.slope,
        curvature=facts.curvature,
        regularization=Fraction(minimizer.regularization),
        error=error,
        output_scale=round_up(2 * error / for_output),
        **common,
    )


def printed_scale(*, gradient: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the printed standard deviation of Kifer, Smith and Thakurta 2012, rounded up.

    `gradient` is the bound of one record's gradient; the printed guarantee is of AddRemove, and under Replace twice
    the bound must be given.
    """
    return root_up(gradient**2 * (8 * log_up(2 / delta) + 4 * epsilon)) / epsilon


def _printed(
    facts: ConvexProblem, minimizer: Minimizer, budget: Approx, common: dict[str, Any]
) -> PerturbedObjectiveEvent:
    gradient = facts.slope * root_up(facts.norm_squared)
    scale = round_up(printed_scale(gradient=gradient, epsilon=budget.epsilon, delta=_delta(budget)))
    for_output = budget.epsilon * FOR_OUTPUT
    true = objective_epsilon(
        ratio=facts.largest_curvature / Fraction(minimizer.regularization),
        shift_squared=(facts.gradient / scale) ** 2,
        delta=budget.delta,
    )
    cost = Approx(epsilon=round_up(true + for_output), delta=budget.delta)
    common = common | {"law": "gaussian", "scale": scale, "budget": cost}
    return _objective_event(facts, minimizer, for_output, common)


def _output(
    facts: ConvexProblem, minimizer: Minimizer, budget: Budget, common: dict[str, Any]
) -> PerturbedMinimizerEvent:
    sensitivity = facts.gradient / Fraction(minimizer.regularization) + 2 * error_of(minimizer)
    if isinstance(budget, (Pure, Approx)) and is_pure(budget):
        law, scale = "l2", round_up(sensitivity / budget.epsilon)
    else:
        law, scale = "gaussian", round_up(sensitivity / (root_up(mu_squared(budget)) * _SLACK))
    std = float(scale) * (math.sqrt(facts.grid.width + 1) if law == "l2" else 1.0)
    return PerturbedMinimizerEvent(
        row_norm_squared=facts.norm_squared,
        slope=facts.slope,
        regularization=Fraction(minimizer.regularization),
        error=error_of(minimizer),
        law=law,
        scale=scale,
        budget=budget,
        step_bits=step_bits_for(math.ldexp(std, grid_bits_of(minimizer, facts.grid.width))),
        **common,
    )


def _plan(
    facts: ConvexProblem, minimizer: Minimizer, event: PerturbedObjectiveEvent | PerturbedMinimizerEvent
) -> PerturbationPlan:
    """Return the plan, if all its noise fits 64 bits; what no noise can be drawn for is refused before a charge."""
    width = facts.grid.width
    grid_bits = grid_bits_of(minimizer, width)
    # The rounding of b moves the residual by at most 1/32 of what it may be.
    noise_bits = 5 - exponent_of(minimizer.regularization * minimizer.error / math.sqrt(width))
    refused = False
    try:
        if event.law == "l2":
            check_l2_rate(_rate(event.scale, grid_bits), width)
        if isinstance(event, PerturbedObjectiveEvent):
            check_l2_rate(_rate(event.output_scale, grid_bits), width)
            if event.law == "l2":
                check_l2_rate(_rate(event.scale, noise_bits), width)
            else:
                check_variance((event.scale * Fraction(2) ** noise_bits) ** 2, "scale")
        elif event.law == "gaussian":
            check_variance((event.scale * Fraction(2) ** grid_bits) ** 2, "scale")
    except (InvalidArgument, OverflowError):
        refused = True
    if refused:
        raise InvalidArgument(
            f"`budget` {event.budget!r} is too small, or too large, for noise of 64 bits on {width} parameters. "
            "Choose one nearer to 1, or another `regularization`."
        )
    # So is a library that is too inaccurate for exact noise.
    check_library()
    return PerturbationPlan(facts, event, minimizer, grid_bits, noise_bits)


def _rate(scale: Fraction, bits: int) -> Fraction:
    """Return the rate of noise of a scale, in units of 2**-bits."""
    return 1 / (scale * Fraction(2) ** bits)


def _up(number: Fraction) -> float:
    return math.nextafter(float(number), math.inf)
