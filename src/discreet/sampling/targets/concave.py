"""Targets whose log density is strongly concave and smooth, under a normal envelope around a private center.

Proof: docs/proofs/concave.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.lattice.noise.rounding import ROUNDOFF
from discreet.numbers.outward import exp_down, exp_up
from discreet.sampling.evaluation import check_function, evaluate, public_uniforms
from discreet.sampling.targets.displacements import RELATIVE_ERROR, NormalDisplacements
from discreet.sampling.targets.location_envelopes import Location, LocationProposer, Proposals, PublicGrid
from discreet.sampling.targets.own_utilities import OwnUtility
from discreet.sampling.targets.targets import BELIEVED, Points, ScaledTarget, Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


# What is lost in acceptance to a center that is not quite the mode.
_FOR_CENTER = 2.0**-10
_FOR_BOX = Fraction(1, 2**40)
_SLACK = 1.01
MOST_STEPS = 10**5


@dataclass(frozen=True, kw_only=True, eq=False)
class StronglyConcave(OwnUtility, Target):
    """A utility that bends everywhere between two public curvatures: density proportional to ``exp(scale * u(x))``.

    Parameters
    ----------
    utility : callable
        Takes points, shape (size, columns), and rows, shape (n_rows, n_columns); returns one number a point.
    gradient : callable
        Takes the same and returns the utility's gradients, shape (size, columns).
    columns : int
        d, how many numbers a point has.
    convexity, smoothness : number
        The second derivative of ``-u`` in every direction, for every data set, is between them; they may grow with the
        number of rows, which is then public.
    reach : number
        The mode is at most this long, for every data set.
    change : number
        The most by which the utility of a point changes when a record is added, removed or replaced.
    error, gradient_error : number, default 0
        By how much an evaluation, and the length of a gradient, may be off.
    example : array-like
        Public rows with the columns of the data, on which the functions are tried.

    Raises
    ------
    InvalidArgument, InvalidType
        If the example shows at public test points that a declaration is violated, or a value is NaN.

    Guarantee
    ---------
    A proposal is accepted with probability at least about ``(convexity / smoothness)**(d/2)``. Privacy holds as far as
    the declared numbers are true. Proof: docs/proofs/concave.md

    Examples
    --------
    >>> def utility(points, rows):
    ...     return -((points**2).sum(axis=1) + np.cos(points - rows.mean()).sum(axis=1) / 2)
    >>> def gradient(points, rows):
    ...     return -(2 * points - np.sin(points - rows.mean()) / 2)
    >>> target = StronglyConcave(utility=utility, gradient=gradient, columns=1, convexity="3/2", smoothness="5/2",
    ...                          reach=1, change="1/10", example=np.zeros((10, 1)))
    >>> round(float(target.at(Fraction(1), 10).acceptance), 2)
    0.77
    """

    gradient: Callable[[NDArray[np.float64], NDArray[np.float64]], Any]
    columns: int
    convexity: Any
    smoothness: Any
    reach: Any
    error: Any = 0
    gradient_error: Any = 0

    def __post_init__(self) -> None:
        _checks.check_fields(self, _checks.integer, "columns", low=1, high=1000)
        _checks.check_fields(self, _checks.exact_positive, "convexity", "smoothness", "reach")
        _checks.check_fields(self, _checks.exact_nonnegative, "error", "gradient_error")
        if not self.convexity <= self.smoothness:
            raise InvalidArgument("`convexity` must be at most `smoothness`. Declare the smaller curvature first.")
        self._read_change()
        points = 2 * float(self.reach) * (2 * public_uniforms(self.columns) - 1)
        check_function(self.utility, points, self.example, "utility")
        self._check_curvature(points, check_function(self.gradient, points, self.example, "gradient"))

    def _check_curvature(self, points: NDArray[np.float64], gradients: NDArray[np.float64]) -> None:
        if gradients.shape != points.shape:
            raise InvalidArgument(f"`gradient` must return {self.columns} numbers a point.")
        steps, turns = np.diff(points, axis=0), -np.diff(gradients, axis=0)
        squares, bends = (steps**2).sum(axis=1), (steps * turns).sum(axis=1)
        slack = 1e-9 * (1 + np.abs(bends)) + 2 * float(self.gradient_error) * np.sqrt(squares)
        least, most = float(self.convexity) * squares, float(self.smoothness) * squares
        if not ((least <= bends + slack).all() and (bends <= most + slack).all()):
            raise InvalidArgument(
                "The utility bends less than `convexity` or more than `smoothness` between public test points with the "
                "example rows. Declare bounds that hold for every data set."
            )

    @property
    def name(self) -> str:
        """What is drawn."""
        return "strongly concave utility"

    @property
    def dimension(self) -> int:
        """How many numbers a point has."""
        return self.columns

    def at(self, scale: Fraction, n_rows: int | None) -> ScaledConcave:
        """Return the target at a public scale.

        Raises
        ------
        IncompatiblePlan
            If acceptance has no usable bound, or too many steps lead to the mode.
        """
        del n_rows  # the curvatures hold for every data set
        frame = _Frame(self, scale)
        return ScaledConcave(
            dimension=self.columns,
            acceptance=frame.acceptance(),
            error=Fraction(frame.error()),
            common_envelope=False,
            floor=-np.inf,
            default=(0.0,) * self.columns,
            notes=(BELIEVED.format("sensitivity and curvature"),),
            target=self,
            scale=float(scale),
            n_steps=frame.n_steps,
            slack=frame.slack,
            spread=Fraction(frame.spread) / frame.step,
            grid=PublicGrid(frame.step, frame.box),
        )


class _Frame:
    """The public numbers of a target at one scale; docs/proofs/concave.md has the argument for each."""

    def __init__(self, target: StronglyConcave, scale: Fraction) -> None:
        self._scale, self._width = float(scale), target.columns
        self._least, self._most = float(target.convexity), float(target.smoothness)
        self._reach = float(target.reach) * _SLACK
        self._error, self._gradient_error = float(target.error), float(target.gradient_error)
        self.ratio = (Fraction(target.convexity) / Fraction(target.smoothness)) ** target.columns
        # A double, taken as exact: the envelope has this spread.
        self.spread = 1 / math.sqrt(self._scale * self._least)
        condition = self._most / self._least
        wanted = math.sqrt(self._scale / self._least) * self._most * self._reach / _FOR_CENTER
        self.n_steps = 1 + math.ceil((condition + 1) / 2 * math.log(max(wanted, 1.0)))
        of_rounding = self._gradient_error / self._least + 8 * ROUNDOFF * (condition + 1) * self._reach
        of_steps = _FOR_CENTER / (math.sqrt(self._scale / self._least) * self._most)
        self._left = _SLACK * self._most * (of_steps + of_rounding)
        far = self._far()
        distance = far * self.spread + self._left / self._least
        _, exponent = math.frexp(2.0**-20 / (self._scale * self._most * (distance + self._reach) * self._width))
        self.step = Fraction(2) ** (exponent - 1)
        self.box = math.ceil(Fraction(self._reach + distance) / self.step) + 2
        self._longest = _SLACK * (math.sqrt(self._width) * float(self.box * self.step) + self._reach)
        # The slope that the envelope has at the center is not quite the gradient there.
        wrong = self._least * math.sqrt(self._width) * float(self.step) + self._gradient_error
        self.slack = _SLACK * self._scale * wrong * self._longest
        self._slope = self._scale * (self._left + wrong) * _SLACK
        if not (self.n_steps <= MOST_STEPS and self.box < 2**52):
            raise IncompatiblePlan(
                f"Curvatures that differ by a factor of {condition:.3g}, or gradients that err by "
                f"{self._gradient_error:.3g}, are too much work at this scale. Declare closer bounds, or lower the "
                "budget."
            )

    def _far(self) -> float:
        """Return what the length of a standard normal vector exceeds rarely, by ``E exp(|g|**2 / 4) = 2**(d/2)``."""
        tail = self.ratio * _FOR_BOX
        square = 4 * self._width
        while exp_up(Fraction(-square, 4)) * 2 ** ((self._width + 1) // 2) > tail:
            square += 4
        return math.sqrt(square)

    def acceptance(self) -> Fraction:
        """Return at most the chance that a proposal is accepted."""
        root = Fraction(math.isqrt(math.floor(self.ratio * 2**160)), 2**80)
        loss = Fraction(self.slack + self._slope**2 / (2 * self._scale * self._least) * _SLACK)
        least = root * max(exp_down(-loss) - _FOR_BOX, Fraction(0))
        if least > 0:
            return Fraction(math.floor(least * 2**80), 2**80)
        raise IncompatiblePlan("Acceptance has no bound above 0 for these curvatures and errors. Declare closer ones.")

    def error(self) -> float:
        """Return how far a computed log ratio may be from that of the exact point."""
        size = self._most * self._longest**2
        of_point = (self._most + self._least) * self._longest * (RELATIVE_ERROR + 16 * ROUNDOFF) * self._longest
        of_sums = (16 + 2 * self._width) * ROUNDOFF * size
        return _SLACK * self._scale * (2 * self._error + of_point + of_sums) + 16 * ROUNDOFF * self.slack


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaledConcave(ScaledTarget):
    """A strongly concave target at one public scale.

    Parameters
    ----------
    target : StronglyConcave
        The declarations.
    scale, slack : float
        Of the utility; what the envelope is raised by.
    n_steps : int
        Gradient steps to the center.
    spread : Fraction
        Standard deviation of the envelope, in steps of the grid.
    grid : PublicGrid
        Where points are published.
    """

    target: StronglyConcave
    scale: float
    slack: float
    n_steps: int
    spread: Fraction
    grid: PublicGrid

    def begin(self, prepared: NDArray[np.float64]) -> ConcaveProposer:
        """Return who proposes around the mode, after a public number of gradient steps."""
        return ConcaveProposer(self, prepared)


class ConcaveProposer(LocationProposer):
    """Proposes normal displacements from the peak of the parabola that touches the log density near its mode."""

    def __init__(self, scaled: ScaledConcave, rows: NDArray[np.float64]) -> None:
        super().__init__(NormalDisplacements, scaled.dimension)
        self._scaled = scaled
        self._rows = rows
        target, step = scaled.target, float(scaled.grid.step)
        self._convexity = float(target.convexity)
        self._touch = self._mode()
        slope = self._gradient(self._touch)
        whole = np.rint((self._touch[0] + slope[0] / self._convexity) / step)
        self._location = Location([Fraction(int(entry)) for entry in whole], scaled.spread, scaled.grid)
        self._slope = self._convexity * (whole * step - self._touch[0])
        self._height = evaluate(target.utility, self._touch, rows)[0]

    def _gradient(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        values = evaluate(self._scaled.target.gradient, point, self._rows, self._scaled.dimension)
        return np.asarray(np.nan_to_num(values.reshape(point.shape), nan=0.0, posinf=0.0, neginf=0.0))

    def _mode(self) -> NDArray[np.float64]:
        target, reach = self._scaled.target, float(self._scaled.target.reach)
        point = np.zeros((1, self._scaled.dimension))
        rate = 2.0 / (float(target.smoothness) + self._convexity)
        for _ in range(self._scaled.n_steps):
            point = point + rate * self._gradient(point)
            point *= reach / max(float(np.sqrt((point * point).sum())), reach)
        return point

    def log_ratio(self, points: Points) -> NDArray[np.float64]:
        """Return the log of target over envelope; minus infinity outside the box."""
        assert isinstance(points, Proposals)  # noqa: S101  (its own kind)
        scaled, moved = self._scaled, points.values - self._touch
        rises = evaluate(scaled.target.utility, points.values, self._rows) - self._height
        parabola = moved @ self._slope - self._convexity / 2 * (moved * moved).sum(axis=1)
        ratios = scaled.scale * (rises - parabola) - scaled.slack
        return np.where(self._location.inside(points), ratios, -np.inf)
