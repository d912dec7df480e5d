"""K-norm gradient targets: density proportional to ``exp(-scale * |gradient of the objective|)``.

For an objective that is gamma-strongly convex the envelope ``exp(-scale * gamma * |theta - center|)`` around a private
center dominates, up to a factor that the gradient left at the center says. Notation of docs/proofs/k_norm_gradient.md.
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
from discreet.numbers.roots import root_up
from discreet.privacy.adjacency import Adjacency, Replace
from discreet.sampling.k_norm.losses import TANH_ERROR, GradientLoss, block_sum_error, check_tanh
from discreet.sampling.k_norm.rows import BLOCK_ROWS, BoundedRows, GradientSum, RowReader
from discreet.sampling.targets.displacements import RELATIVE_ERROR, KNormDisplacements
from discreet.sampling.targets.location_envelopes import Location, LocationProposer, Proposals, PublicGrid
from discreet.sampling.targets.targets import Points, ScaledTarget, Target

if TYPE_CHECKING:
    from numpy.typing import NDArray


# What is lost in acceptance to a center that is not quite the minimizer, and to the steps that lead there.
_FOR_CENTER = 2.0**-12
MOST_STEPS = 10**5
# Of the acceptance, what may lie outside the box.
_FOR_BOX = Fraction(1, 2**40)
# The normalizers of neighbours differ by this because of the box, more than twice its share.
_OF_BOX = Fraction(1, 2**38)
# A public bound computed in doubles is this much larger.
_SLACK = 1.01


@dataclass(frozen=True, kw_only=True)
class GradientTarget(Target):
    """Parameters theta with density proportional to ``exp(-scale * |gradient of the ridged sum of losses at theta|)``.

    Parameters
    ----------
    loss : GradientLoss
        Of a margin, ``x'theta``, and a target.
    reader : RowReader
        How data become rows within a public norm.
    ridge : number
        gamma, above 0: ``gamma / 2 * |theta|**2`` is added to the sum of losses, theta in units in which rows have the
        reader's norm.

    Guarantee
    ---------
    Between neighbours the gradient moves by at most ``2 slope norm`` under Replace, ``slope norm`` under AddRemove,
    for every theta. Proof: docs/proofs/k_norm_gradient.md, section 1

    Examples
    --------
    >>> from discreet.sampling.k_norm.losses import LogisticGradientLoss
    >>> from discreet.sampling.k_norm.rows import NormedRows
    >>> from discreet.sampling.pca.second_moments import UnitGrid
    >>> reader = NormedRows(grid=UnitGrid(2, row_norm=1.0), bounds=(0, 1))
    >>> target = GradientTarget(loss=LogisticGradientLoss(), reader=reader, ridge=6)
    >>> target.sensitivity(Replace()), round(float(target.at(Fraction(1, 4), 60).acceptance), 3)
    (Fraction(2, 1), 0.197)
    """

    loss: GradientLoss
    reader: RowReader
    ridge: Any

    def __post_init__(self) -> None:
        ridge = _checks.exact_positive(self.ridge, "ridge")
        if not Fraction(1, 10**50) <= ridge <= 10**50:
            raise InvalidArgument("`ridge` must be between 1e-50 and 1e50.")
        object.__setattr__(self, "ridge", ridge)

    @property
    def name(self) -> str:
        """What is drawn."""
        return f"K-norm gradient, {self.loss.name} loss, {self.dimension} parameters, ridge {float(self.ridge):.6g}"

    @property
    def dimension(self) -> int:
        """How many parameters there are."""
        return self.reader.width

    def sensitivity(self, adjacency: Adjacency) -> Fraction:
        """Return the most by which the length of the gradient changes, rounded up."""
        return adjacency.rows_changed * self.loss.slope * root_up(self.reader.norm_squared)

    def normalizer_change(self, adjacency: Adjacency) -> Fraction | None:
        """Return at least by how much the log of the normalizer changes between neighbours, at every scale.

        None where the second derivative of the loss jumps.

        Guarantee
        ---------
        ``(curvature * norm + bend * sqrt(d) * sensitivity) * norm / ridge``, and a little for the box.
        Proof: docs/proofs/k_norm_gradient.md, section 4
        """
        if self.loss.bend is None:
            return None
        norm = root_up(self.reader.norm_squared)
        turned = self.loss.bend * root_up(Fraction(self.dimension)) * self.sensitivity(adjacency)
        return (self.loss.curvature * norm + turned) * norm / Fraction(self.ridge) + _OF_BOX

    def count(self, data: Any) -> int:
        """Return the number of rows."""
        return self.reader.count(data)

    def prepare(self, data: Any) -> BoundedRows:
        """Return the rows within their norm."""
        return self.reader.read(data)

    def at(self, scale: Fraction, n_rows: int | None) -> ScaledGradient:
        """Return the target at a public scale.

        Raises
        ------
        IncompatiblePlan
            Under AddRemove, or where acceptance has no usable bound.
        """
        if n_rows is None:
            raise IncompatiblePlan(
                "The curvature of a sum over rows grows with their number, which is private under AddRemove(): how "
                "often proposals are accepted then has no public bound. Declare Replace() if the number is public, or "
                "use noisy descent."
            )
        if self.loss.uses_tanh:
            check_tanh()  # before any charge
        frame = _Frame(self, scale, n_rows)
        of_utility, of_normalizer = scale * self.sensitivity(Replace()), self.normalizer_change(Replace())
        change = of_utility if of_normalizer is None else min(of_utility, of_normalizer)
        return ScaledGradient(
            dimension=self.dimension,
            acceptance=frame.acceptance(),
            error=Fraction(frame.error()),
            common_envelope=False,
            floor=-np.inf,
            default=(0.0,) * self.dimension,
            acceptance_change=change + frame.of_center,
            loss=self.loss,
            scale=float(scale),
            ridge=float(self.ridge),
            smoothness=frame.smoothness,
            radius=frame.radius,
            n_steps=frame.n_steps,
            gradient_error=frame.gradient_error(frame.largest),
            spread=frame.spread / frame.step,
            grid=PublicGrid(frame.step, frame.reach),
        )


class _Frame:
    """The public numbers of a target at one scale; section 3 of the page has the argument for each.

    Attributes
    ----------
    radius : float
        Every minimizer has at most this length.
    spread, step : Fraction
        ``1 / (scale * ridge)``, and the step of the grid, a power of two.
    reach : int
        Of the box, in steps.
    largest : float
        The longest point of the box.
    n_steps : int
        Gradient steps to the center.
    """

    def __init__(self, target: GradientTarget, scale: Fraction, n_rows: int) -> None:
        loss, self._ridge, self._scale = target.loss, Fraction(target.ridge), scale
        self._loss, self._n_rows, self._width = loss, n_rows, target.dimension
        self._norm = float(root_up(target.reader.norm_squared)) * _SLACK
        self._largest_target = max(map(abs, target.reader.target_bounds))
        trace = loss.curvature * n_rows * target.reader.norm_squared
        self.smoothness = float(self._ridge + trace) * _SLACK
        self.ratio = (self._ridge / (self._ridge + trace / self._width)) ** self._width
        # At the minimizer gamma theta is a sum of gradients; and the objective is at most that at 0.
        of_start = root_up(2 * n_rows * loss.at_zero(target.reader.target_bounds) / self._ridge)
        of_slope = n_rows * loss.slope * root_up(target.reader.norm_squared) / self._ridge
        self.radius = float(min(of_start, of_slope)) * _SLACK
        self.spread = 1 / (scale * self._ridge)
        self._far = _gamma_quantile(self._width, self.ratio * _FOR_BOX)
        self._steepness = float(scale) * self.smoothness
        _, exponent = math.frexp(_FOR_CENTER / (self._steepness * self._width))
        self.step = Fraction(2) ** (exponent - 1)
        self.reach = math.ceil((Fraction(self.radius) + self._far * self.spread) / self.step) + 2
        self.largest = math.sqrt(self._width) * float(self.reach * self.step) * _SLACK
        self.n_steps = self._steps()
        if not self.reach < 2**52:
            raise IncompatiblePlan(
                f"Doubles do not hold a grid for a scale of {float(scale):.3g} on {n_rows} rows. Lower the budget."
            )
        if not (self.n_steps <= MOST_STEPS and self.ratio > Fraction(1, 10**12)):
            raise IncompatiblePlan(
                f"A ridge of {float(self._ridge):.3g} is too small for {n_rows} rows and {self._width} parameters: at "
                f"most one proposal in {1 / float(self.ratio):.3g} is known to be accepted, and the expected work is "
                f"as large. Raise `ridge`; one of the order of the number of rows is needed."
            )

    def _steps(self) -> int:
        """Return how many steps bring the gradient below what is lost to the center."""
        condition = self.smoothness / float(self._ridge)
        wanted = self._steepness * self.radius / _FOR_CENTER
        return 1 + math.ceil((condition + 1) / 2 * math.log(max(wanted, 1.0)))

    def gradient_error(self, length: float) -> float:
        """Return how far a computed gradient may be from the exact one at a point of at most this length."""
        e, slope, n = ROUNDOFF, float(self._loss.slope), self._n_rows
        of_margin = float(self._loss.curvature) * (self._width + 4) * e * self._norm * length
        of_target = 4 * e * (slope + 2 * self._largest_target) + 2 * TANH_ERROR * slope
        of_sum = block_sum_error(n, BLOCK_ROWS) * slope
        of_ridge = (4 + n / BLOCK_ROWS) * e * float(self._ridge) * length
        return _SLACK * (n * self._norm * (of_margin + of_target + of_sum) + of_ridge)

    def _left_at_center(self) -> float:
        """Return at least the length of the gradient at the center, with the error of its measurement twice."""
        ridge, error = float(self._ridge), self.gradient_error(2 * self.radius)
        of_steps = _FOR_CENTER / self._steepness
        of_rounding = error / ridge + 8 * ROUNDOFF * (self.smoothness / ridge + 1) * self.radius
        of_grid = math.sqrt(self._width) * float(self.step)
        at_most = self.smoothness * (of_steps + of_rounding + of_grid)
        return _SLACK * (at_most + 2 * self.gradient_error(self.largest))

    @property
    def of_center(self) -> Fraction:
        """By how much the gradient that is left at the center lowers the logarithm of acceptance, at most."""
        return self._scale * Fraction(self._left_at_center())

    def acceptance(self) -> Fraction:
        """Return at most the chance that a proposal is accepted."""
        part = exp_down(-self.of_center) - _FOR_BOX
        least = self.ratio * max(part, Fraction(0))
        if least > 0:
            return Fraction(math.floor(least * 2**80), 2**80)
        raise IncompatiblePlan(
            f"Doubles do not find the minimizer of {self._n_rows} rows well enough for this budget: acceptance has no "
            "bound. Raise `ridge`, or lower the budget."
        )

    def error(self) -> float:
        """Return how far a computed log ratio may be from that of the exact point."""
        scale, distance = float(self._scale), self.largest + 2 * self.radius
        length = scale * float(self._ridge) * distance
        size = scale * (self._n_rows * self._norm * float(self._loss.slope) + float(self._ridge) * self.largest)
        of_point = self._steepness * (RELATIVE_ERROR * distance + 16 * ROUNDOFF * self.largest)
        of_sums = ROUNDOFF * ((self._width + 16) * length + (self._width + 16) * size)
        return _SLACK * (scale * self.gradient_error(self.largest) + of_point + of_sums)


def _gamma_quantile(shape: int, tail: Fraction) -> int:
    """Return a whole number that a sum of `shape` standard exponentials exceeds with probability at most `tail`."""
    point = shape
    while True:
        term = total = Fraction(1)
        for k in range(1, shape):
            term *= Fraction(point, k)
            total += term
        if exp_up(Fraction(-point)) * total <= tail:
            return point
        point += 4


@dataclass(frozen=True, kw_only=True)
class ScaledGradient(ScaledTarget):
    """A K-norm gradient target at one public scale.

    Parameters
    ----------
    loss : GradientLoss
        Of a margin and a target.
    scale, ridge, smoothness : float
        Of the utility; the strong convexity of the objective, and at least its smoothness.
    radius : float
        Every minimizer is within this length.
    n_steps : int
        Gradient steps to the center.
    gradient_error : float
        Of computed gradients, at most.
    spread : Fraction
        Length of a unit displacement, in steps of the grid.
    grid : PublicGrid
        Where points are published.
    """

    loss: GradientLoss
    scale: float
    ridge: float
    smoothness: float
    radius: float
    n_steps: int
    gradient_error: float
    spread: Fraction
    grid: PublicGrid

    def begin(self, prepared: BoundedRows) -> GradientProposer:
        """Return who proposes around the minimizer, after a public number of gradient steps."""
        return GradientProposer(self, GradientSum(prepared, self.loss, self.ridge))


class GradientProposer(LocationProposer):
    """Proposes l2 K-norm displacements from a center near the minimizer.

    Parameters
    ----------
    scaled : ScaledGradient
        The public numbers.
    gradient : GradientSum
        Of the private objective.

    Guarantee
    ---------
    The envelope dominates whatever the center is: the gradient that is left there is measured, with its error.
    Proof: docs/proofs/k_norm_gradient.md, section 2
    """

    def __init__(self, scaled: ScaledGradient, gradient: GradientSum) -> None:
        super().__init__(KNormDisplacements, scaled.dimension)
        self._scaled = scaled
        self._gradient = gradient
        whole = self._center()
        self._location = Location([Fraction(int(entry)) for entry in whole], scaled.spread, scaled.grid)
        center = whole * float(scaled.grid.step)
        self._left = _length(gradient(center[None, :]))[0] + scaled.gradient_error

    def _center(self) -> NDArray[np.float64]:
        """Return the center in whole steps of the grid, by projected gradient descent."""
        scaled = self._scaled
        theta = np.zeros((1, scaled.dimension))
        rate = 2.0 / (scaled.smoothness + scaled.ridge)
        for _ in range(scaled.n_steps):
            theta -= rate * self._gradient(theta)
            theta *= scaled.radius / np.maximum(_length(theta), scaled.radius)[:, None]
        nearest: NDArray[np.float64] = np.rint(theta[0] / float(scaled.grid.step))
        return nearest

    def log_ratio(self, points: Points) -> NDArray[np.float64]:
        """Return the log of target over envelope; minus infinity outside the box."""
        assert isinstance(points, Proposals)  # noqa: S101  (its own kind)
        lengths = _length(self._gradient(points.values))
        ratios = points.displacements.lengths - self._scaled.scale * (lengths + self._left)
        return np.where(self._location.inside(points), ratios, -np.inf)


def _length(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=1)))
