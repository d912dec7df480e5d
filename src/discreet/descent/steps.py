"""One loop of noisy gradient steps: all columns, thresholded, peeled, or one coordinate at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from discreet import _checks
from discreet.descent.gradients import gradient_unit, private_gradient, residual_bound
from discreet.descent.rows import RESIDUAL_BOUND, IntegerRows, check_target_bounds
from discreet.descent.selectors import keep_largest
from discreet.descent.steepness import Steepness
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.lattice.noise.gaussian import rounded_gaussian
from discreet.lattice.noise.gumbel import noisy_top
from discreet.lattice.noise.steps import step_bits_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.descent.losses import Loss
    from discreet.lattice.row_grid import RowGrid
    from discreet.privacy.coins import Coins
    from discreet.privacy.events.descent import GaussianStepsEvent, SelectedStepsEvent

SELECTIONS = ("all", "threshold", "peel", "coordinate")
# An iterate's entries are kept within this, so that no step ever raises.
_LARGEST_ENTRY = 1e100
# Scores of a peeling step: the iterate's part and the gradient's part are each below this.
_LARGEST_PART = 2.0**61


@dataclass(frozen=True, eq=False, kw_only=True)
class Descent:
    """The public settings of a descent; nothing here comes from private rows.

    Parameters
    ----------
    grid : RowGrid
        The public grid of a row.
    loss : Loss
        Which residual, clipped where.
    target_bounds : tuple of float
        Public limits of the target.
    selection : {"all", "threshold", "peel", "coordinate"}
        Plain noisy descent; DP-IGHT; choose `n_selected` columns by Gumbel noise each step; choose one.
    n_selected : int
        s: how many columns the result has at most, 1 to the number of columns.
    n_steps : int
        T, fixed.
    step_size : float
        eta, the step along the gradient of the mean loss.
    divisor : float
        What sums are divided by: the number of rows where it is public, otherwise an expected number of rows.
    noise_floor : float, default 3
        After each step entries below this many standard deviations of their noise are set to 0; 0 for none.
        Free: post-processing. Not for "all".
    tail_average : bool, default True
        Whether the result is the mean of the last half of the iterates, cut to `n_selected` columns. Free.
    start : ndarray of float64, shape (width,), or None
        The first iterate, from public knowledge or a *released* estimate; None for 0.
    column_scale : ndarray of float64, shape (width,), or None
        Public positive factors of the step size, one a column: a diagonal preconditioner.
    shorten_steps : bool, default False
        Whether steps of the columns are shortened where released gradients tell that the rows do not allow them: then
        `step_size` is the longest. Free: post-processing of earlier releases. Not for "all" and "coordinate".
    """

    grid: RowGrid
    loss: Loss
    target_bounds: tuple[float, float]
    selection: str
    n_selected: int
    n_steps: int
    step_size: float
    divisor: float
    noise_floor: float = 3.0
    tail_average: bool = True
    start: NDArray[np.float64] | None = None
    column_scale: NDArray[np.float64] | None = None
    shorten_steps: bool = False

    def __post_init__(self) -> None:
        _checks.one_of(self.selection, "selection", SELECTIONS)
        object.__setattr__(self, "target_bounds", check_target_bounds(self.target_bounds))
        n_columns = self.grid.n_columns
        if not 1 <= _checks.integer(self.n_selected, "n_selected", low=1) <= n_columns:
            raise InvalidArgument(
                f"`n_selected` must be at most the number of columns, {n_columns}; found {self.n_selected}."
            )
        _checks.integer(self.n_steps, "n_steps", low=1, high=10**6)
        for name in ("step_size", "divisor"):
            value = _checks.finite_float(getattr(self, name), name)
            if not 1e-60 <= value <= 1e60:
                raise InvalidArgument(f"`{name}` must be between 1e-60 and 1e60; found {value}.")
        if not 0 <= _checks.finite_float(self.noise_floor, "noise_floor") <= 1e6:
            raise InvalidArgument(f"`noise_floor` must be between 0 and 1e6; found {self.noise_floor}.")
        _checks.boolean(self.tail_average, "tail_average")
        if _checks.boolean(self.shorten_steps, "shorten_steps") and self.selection not in {"threshold", "peel"}:
            raise InvalidArgument(
                f'`shorten_steps` is for selection="threshold" and "peel"; found "{self.selection}". Leave it out.'
            )
        self._check_vector("start", positive=False)
        self._check_vector("column_scale", positive=True)

    def _check_vector(self, name: str, *, positive: bool) -> None:
        given = getattr(self, name)
        if given is None:
            return
        limits = (1e-30, 1e30) if positive else (-1e30, 1e30)
        numbers = np.asarray(given)
        vector = numbers.astype(np.float64) if numbers.dtype.kind in "fiu" else np.empty(0)
        if vector.shape != (self.grid.width,) or not ((vector >= limits[0]) & (vector <= limits[1])).all():
            raise InvalidArgument(
                f"`{name}` must have {self.grid.width} numbers between {limits[0]:g} and {limits[1]:g}."
            )
        vector.setflags(write=False)
        object.__setattr__(self, name, vector)

    @property
    def factors(self) -> NDArray[np.float64]:
        """What one unit of a summed gradient moves each entry of the iterate."""
        one = self.step_size * gradient_unit(self.grid, self.loss) / self.divisor
        scale = np.ones(self.grid.width) if self.column_scale is None else self.column_scale
        return one * scale


class Mechanism(Protocol):
    """How one step uses the private sums."""

    def step(self, theta: NDArray[np.float64], private_sums: NDArray[np.int64], bound: int) -> NDArray[np.float64]:
        """Return the next iterate, a release."""
        ...


def descend(rows: IntegerRows, settings: Descent, mechanism: Mechanism) -> NoisyDescent:
    """Return what all steps release; as private as the mechanism makes each of them.

    The number of steps and the work of each are fixed.
    """
    grid, loss = settings.grid, settings.loss
    theta = np.zeros(grid.width) if settings.start is None else settings.start
    first = settings.n_steps // 2 if settings.tail_average else settings.n_steps - 1
    total, moves = np.zeros(grid.width), []
    for step in range(settings.n_steps):
        with np.errstate(all="ignore"):  # a warning would tell of the sums
            bound = residual_bound(theta, grid, loss, settings.target_bounds)
            private_sums = private_gradient(rows, loss, theta, bound)
            before, theta = theta, np.clip(mechanism.step(theta, private_sums, bound), -_LARGEST_ENTRY, _LARGEST_ENTRY)
        if step in {0, settings.n_steps - 1}:
            moves.append(float(np.linalg.norm((theta - before)[: grid.n_columns])))
        if step >= first:
            total += theta
    total /= settings.n_steps - first
    result = total if settings.selection == "all" else cut(total, settings)
    return NoisyDescent(result, settings, first_move=moves[0], last_move=moves[-1])


def cut(vector: NDArray[np.float64], settings: Descent) -> NDArray[np.float64]:
    """Return the vector with its `n_selected` largest columns, and the intercept."""
    n_columns = settings.grid.n_columns
    return np.concatenate([keep_largest(vector[:n_columns], settings.n_selected), vector[n_columns:]])


def _floored(values: NDArray[np.float64], floor: NDArray[np.float64], n_columns: int) -> None:
    """Set columns below the floor to 0, in place; the intercept stays."""
    columns = values[:n_columns]
    columns[np.abs(columns) < floor[:n_columns]] = 0.0


@dataclass(frozen=True, eq=False)
class FullGaussian:
    """Every entry of the gradient under Gaussian noise; then, for "threshold", the floor and the largest."""

    settings: Descent
    event: GaussianStepsEvent
    coins: Coins
    steepness: Steepness = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "steepness", Steepness(self.settings))

    def step(self, theta: NDArray[np.float64], private_sums: NDArray[np.int64], bound: int) -> NDArray[np.float64]:
        """Return the next iterate."""
        released, std = _gaussian(private_sums, self.event.variance, bound, self.coins)
        self.steepness.see(released[: self.settings.grid.n_columns], std, bound)
        factors = self.steepness.factors
        moved: NDArray[np.float64] = theta - factors * released
        if self.settings.selection == "all":
            return moved
        _floored(moved, self.settings.noise_floor * std * factors, self.settings.grid.n_columns)
        return cut(moved, self.settings)


@dataclass(frozen=True, eq=False)
class Peeling:
    """The columns that are largest after the step, by Gumbel noise, and only those under Gaussian noise."""

    settings: Descent
    event: SelectedStepsEvent
    coins: Coins
    steepness: Steepness = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "steepness", Steepness(self.settings))

    def step(self, theta: NDArray[np.float64], private_sums: NDArray[np.int64], bound: int) -> NDArray[np.float64]:
        """Return the next iterate."""
        before, factors, n_columns = self.steepness.factor, self.steepness.factors, self.settings.grid.n_columns
        public_part = np.rint(np.clip(theta / factors, -_LARGEST_PART, _LARGEST_PART)).astype(np.int64)
        private_moved = public_part - private_sums
        chosen = _chosen(np.abs(private_moved[:n_columns]), self.event, bound, self.coins)
        kept = np.concatenate([chosen, np.arange(n_columns, private_moved.size)])
        released, std = _gaussian(private_moved[kept], self.event.variance, bound, self.coins)
        gradient = np.zeros(n_columns)
        gradient[chosen] = public_part[chosen] - released[: chosen.size]
        self.steepness.see(gradient, std, bound)
        # Columns are chosen by a step as long as before; of it the part is taken that the rows are now known to allow.
        part = np.ones(theta.size)
        part[:n_columns] = self.steepness.factor / before
        moved = np.zeros_like(theta)
        moved[kept] = (public_part[kept] * (1.0 - part[kept]) + released * part[kept]) * factors[kept]
        _floored(moved, self.settings.noise_floor * std * factors * part, n_columns)
        return moved


@dataclass(frozen=True, eq=False)
class Coordinate:
    """The column with the largest gradient, by Gumbel noise, moved along its noisy gradient."""

    settings: Descent
    event: SelectedStepsEvent
    coins: Coins

    def step(self, theta: NDArray[np.float64], private_sums: NDArray[np.int64], bound: int) -> NDArray[np.float64]:
        """Return the next iterate."""
        n_columns = self.settings.grid.n_columns
        chosen = _chosen(np.abs(private_sums[:n_columns]), self.event, bound, self.coins)
        moving = np.concatenate([chosen, np.arange(n_columns, private_sums.size)])
        released, _ = _gaussian(private_sums[moving], self.event.variance, bound, self.coins)
        moved = theta.copy()
        moved[moving] -= released * self.settings.factors[moving]
        return moved


def _gaussian(
    private_sums: NDArray[np.int64], variance: Fraction, bound: int, coins: Coins
) -> tuple[NDArray[np.float64], float]:
    """Return the sums under the noise that belongs to a bound of the residuals, and its standard deviation."""
    of_bound = variance * Fraction(bound, RESIDUAL_BOUND) ** 2
    std = math.sqrt(of_bound)
    step_bits = step_bits_for(std)
    released = rounded_gaussian(private_sums, variance=of_bound, coins=coins, step_bits=step_bits)
    return released * 2.0**step_bits, std


def _chosen(
    private_scores: NDArray[np.int64], event: SelectedStepsEvent, bound: int, coins: Coins
) -> NDArray[np.int64]:
    scale = event.selection_scale * Fraction(bound, RESIDUAL_BOUND)
    return np.sort(noisy_top(private_scores, scale=scale, size=event.n_selected, coins=coins))


@dataclass(frozen=True, eq=False)
class NoisyDescent:
    """What a descent released: public from now on.

    Parameters
    ----------
    theta : ndarray of float64, shape (width,)
        The last iterate, or the mean of the last half: a number a column, and last the intercept's if there is one.
    settings : Descent
        How it was found.
    first_move, last_move : float
        How far the first and the last step moved the columns, in the Euclidean norm: of iterates, which are released.
    first_factor, last_factor : float, default 1
        What part of `step_size` the first and the last step had: functions of what steps released.
    """

    theta: NDArray[np.float64]
    settings: Descent
    first_move: float
    last_move: float
    first_factor: float = 1.0
    last_factor: float = 1.0

    @property
    def coef(self) -> NDArray[np.float64]:
        """One number a column."""
        return self.theta[: self.settings.grid.n_columns]

    @property
    def intercept(self) -> float:
        """What the extra column adds to every margin; 0 without one."""
        grid = self.settings.grid
        return float(self.theta[-1]) * grid.constant * grid.unit if grid.constant else 0.0

    @property
    def n_survivors(self) -> int:
        """How many columns have a number other than 0."""
        return int(np.count_nonzero(self.coef))


@dataclass(frozen=True, eq=False)
class DescentPlan:
    """What one private descent will do; priced without data. Made by `plan_descent`.

    Parameters
    ----------
    settings : Descent
        The public settings.
    event : GaussianStepsEvent or SelectedStepsEvent
        The noise and its price.
    """

    settings: Descent
    event: GaussianStepsEvent | SelectedStepsEvent

    def measure(self, data: IntegerRows) -> IntegerRows:
        """Return the validated rows; a descent looks at them once a step.

        Raises
        ------
        IncompatiblePlan
            If they lie on another grid than the plan was made for.
        """
        if not isinstance(data, IntegerRows) or (data.grid, data.target_bounds) != (
            self.settings.grid,
            self.settings.target_bounds,
        ):
            raise IncompatiblePlan(
                "A descent takes rows of `integer_rows` with the grid and the target bounds it was planned for. "
                "Give both the same `row_norm`, `entry_bound`, `target_bounds`, `intercept` and `bits`."
            )
        return data

    def draw(self, statistic: IntegerRows, coins: Coins) -> NoisyDescent:
        """Return the release; total, whatever the private values are."""
        make: dict[str, Any] = {"peel": Peeling, "coordinate": Coordinate}
        mechanism = make.get(self.settings.selection, FullGaussian)(self.settings, self.event, coins)
        found = descend(statistic, self.settings, mechanism)
        if not self.settings.shorten_steps:
            return found
        steepness = mechanism.steepness
        return replace(found, first_factor=steepness.first_factor, last_factor=steepness.factor)
