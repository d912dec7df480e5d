"""Public numbers of a convex problem: gradient and curvature bounds, regularization, accuracy, steps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet import _checks
from discreet.descent.losses import LogisticLoss, Loss, PoissonLoss
from discreet.descent.rivals.minimizer import Minimizer, curvature, spread, steps_needed
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.numbers.outward import round_up
from discreet.numbers.roots import root_up
from discreet.privacy.accounting import gaussian_mu
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp, is_pure

if TYPE_CHECKING:
    from discreet.descent.rows import IntegerRows
    from discreet.lattice.row_grid import RowGrid
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget

# Of epsilon, what pays for the minimizer's last digits; and of the rest, what pays for the determinant.
FOR_OUTPUT = Fraction(1, 64)
FOR_DETERMINANT = Fraction(1, 4)
# No condition number above this unless the regularization is given: 20,000 cost some 4,000 gradients.
_LARGEST_CONDITION = 20_000
# Margins beyond this many units are of no use: the default radius of the projection.
_REACH = 256.0
# Floating-point error that is allowed for, a record: certain, and for the steps' own roundings.
_OF_RECORD, _OF_STEPS = 2.0**-47, 2.0**-44
# Under AddRemove any number of rows that IntegerRows takes must be allowed for.
MOST_ROWS = 2**30
# The event's error is this much above the minimizer's, for the projection and the grid.
_FOR_GRID = Fraction(9, 8)


@dataclass(frozen=True)
class ConvexProblem:
    """Public numbers of a problem, in units in which a row of norm `row_norm` has norm 1.

    Parameters
    ----------
    grid : RowGrid
        The public grid of a row.
    loss : Loss
        A convex loss of bounded slope and curvature.
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    n_rows : int
        The number of rows where it is public, else the expected one.
    target_bounds : tuple of float
        Public limits of the target.
    """

    grid: RowGrid
    loss: Loss
    adjacency: Adjacency
    n_rows: int
    target_bounds: tuple[float, float]

    def __post_init__(self) -> None:
        if isinstance(self.loss, PoissonLoss):
            raise IncompatiblePlan(
                "The Poisson loss has no bounded curvature. Use noisy descent, which clips residuals."
            )
        low, high = (_checks.finite_float(limit, "target_bounds") for limit in self.target_bounds)
        if not low <= high or (isinstance(self.loss, LogisticLoss) and not 0 <= low <= high <= 1):
            raise InvalidArgument("`target_bounds` must be (lower, upper); within (0, 1) for the logistic loss.")
        object.__setattr__(self, "target_bounds", (low, high))

    def check_rows(self, rows: IntegerRows) -> None:
        """Refuse rows that were coded otherwise, or, where their number is public, more than were planned for."""
        if rows.grid != self.grid or rows.target_bounds != self.target_bounds:
            raise IncompatiblePlan(
                "The rows' grid or `target_bounds` are not the plan's. Make both from the same declarations."
            )
        if self.adjacency.size_is_public and rows.private_size() > self.n_rows:
            raise IncompatiblePlan(
                f"`n_rows` of the plan is {self.n_rows}; found {rows.private_size()} rows. "
                "Plan for as many as there are."
            )

    @property
    def norm_squared(self) -> Fraction:
        """Largest squared norm of a row."""
        return Fraction(self.grid.norm_squared(), self.grid.norm**2)

    @property
    def slope(self) -> Fraction:
        """Largest derivative of the loss by the margin."""
        clip = Fraction(self.loss.clip)
        return min(clip, Fraction(1)) if isinstance(self.loss, LogisticLoss) else clip

    @property
    def curvature(self) -> Fraction:
        """Largest second derivative of the loss by the margin."""
        return Fraction(curvature(self.loss))

    @property
    def largest_curvature(self) -> Fraction:
        """Largest second derivative of one record's loss."""
        return self.curvature * self.norm_squared

    @property
    def gradient(self) -> Fraction:
        """How far one neighbour moves the gradient, rounded up."""
        return self.adjacency.rows_changed * self.slope * root_up(self.norm_squared)

    def default_regularization(self, budget: Budget, method: str) -> float:
        """Return alpha from public numbers alone."""
        least = float(self.largest_curvature) * self.n_rows / _LARGEST_CONDITION
        if method == "output":
            # Noise of size a p / (alpha epsilon) meets a curvature of about n / 8; the pull to 0 costs alpha.
            return max(least, self._balanced(budget))
        part = float(pure_or_approx(budget).epsilon * (1 - FOR_OUTPUT) * FOR_DETERMINANT)
        return max(least, float(self.largest_curvature) / math.expm1(min(part, 500.0)))

    def _balanced(self, budget: Budget) -> float:
        per_unit = float(self.gradient) * _noise_per_unit(budget, self.grid.width)
        bend = self.n_rows * float(self.largest_curvature) / (32 * self.grid.width)
        return math.cbrt(bend * per_unit**2)

    def minimizer(self, alpha: float, parameter_bound: float | None) -> Minimizer:
        """Return the settings: the radius, an accuracy above all rounding, and the steps that reach it."""
        of_residual = spread(self.loss, self.target_bounds)
        scale = 1.0 if isinstance(self.loss, LogisticLoss) else of_residual
        norm = math.sqrt(self.norm_squared)
        reach = _REACH * scale / norm if parameter_bound is None else positive(parameter_bound, "parameter_bound")
        n_certain = self.n_rows if self.adjacency.size_is_public else MOST_ROWS
        rounding = max(n_certain * _OF_RECORD, self.n_rows * _OF_STEPS) * norm * of_residual
        error = max(rounding / alpha, reach * 2.0**-28)
        if not error <= reach * 2.0**-10:
            raise InvalidArgument(
                f"`regularization` {alpha} is too small for `n_rows` {self.n_rows}: doubles cannot tell the minimizer. "
                "Raise it."
            )
        condition = 1 + self.n_rows * float(self.largest_curvature) / alpha * (1 + 1e-8)
        return Minimizer(alpha, steps_needed(condition, reach, error), reach, error)


def pure_or_approx(budget: Budget) -> Pure | Approx:
    """Return the budget, if objective perturbation can be priced in it."""
    if isinstance(budget, (Pure, Approx)):
        return Pure(epsilon=budget.epsilon) if is_pure(budget) else budget
    raise IncompatiblePlan(
        f"Objective perturbation needs a budget in Pure or Approx; found {budget!r}. "
        'Use method="output", or noisy descent.'
    )


def _noise_per_unit(budget: Budget, width: int) -> float:
    """Return about how long noise is, for a sensitivity of 1."""
    if isinstance(budget, (Pure, Approx)) and is_pure(budget):
        return width / float(budget.epsilon)
    return math.sqrt(width / float(mu_squared(budget)))


def mu_squared(budget: Budget) -> Fraction:
    """Return the squared mu that Gaussian noise may spend."""
    if isinstance(budget, Gdp):
        return budget.mu_squared
    if isinstance(budget, Zcdp):
        return 2 * budget.rho
    assert isinstance(budget, Approx)  # noqa: S101  (a pure budget has no Gaussian noise)
    return gaussian_mu(epsilon=budget.epsilon, delta=budget.delta) ** 2


def error_of(minimizer: Minimizer) -> Fraction:
    """Return how far the whole numbers that noise is added to may be from the projected exact minimizer."""
    return round_up(Fraction(minimizer.error) * _FOR_GRID)


def grid_bits_of(minimizer: Minimizer, width: int) -> int:
    """Return the bits after the point of the public grid of minimizers."""
    # Half a step in every entry is at most 1/16 of the minimizer's error.
    return 3 - exponent_of(minimizer.error / math.sqrt(width))


def exponent_of(value: float) -> int:
    """Return the largest k with 2**k <= value."""
    return math.frexp(value)[1] - 1


def positive(value: Any, name: str) -> float:
    """Return a number between 1e-100 and 1e100 as a float."""
    number = _checks.finite_float(value, name)
    if 1e-100 <= number <= 1e100:
        return number
    raise InvalidArgument(f"`{name}` must be between 1e-100 and 1e100; found {number}.")
