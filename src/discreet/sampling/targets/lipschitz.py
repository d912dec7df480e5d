"""Targets whose utility has public slopes: on a box, or under a normal base law.

With slopes L the utility is within ``penalty = sum_j L_j |x_j - center_j|`` of its value at a public center, so
``u(center) + penalty`` is an envelope whose shape is the same for all data sets (its height is not). Proposals lean
outward, each coordinate by itself and by inversion; acceptance is at least exp(-2 penalty) at every point.

Proof: docs/proofs/sampling.md
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.numbers.intervals import Arithmetic, refined
from discreet.numbers.mills import normal_tail
from discreet.numbers.outward import exp_down, round_down
from discreet.sampling.evaluation import (
    check_below,
    evaluate,
    public_uniforms,
    uniforms,
)
from discreet.sampling.targets.bases import Normal, limits_of
from discreet.sampling.targets.own_utilities import OwnUtility
from discreet.sampling.targets.targets import BELIEVED, FLOOR, Points, Proposer, ScaledTarget, Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.lattice.bounds import Box, Interval
    from discreet.privacy.coins import Coins

# Rounding of a log ratio of size at most 2 * 700, and what doubles do to the law of proposals; both generous.
_ERROR = Fraction(1, 2**39)
_OF_PROPOSALS = Fraction(1, 2**24)
# Proposals are steps of 2**-32 of half a side.
_STEPS = 2.0**32
# A uniform of at least 2**-53 says no more than this of a normal number above its mean.
_LARGEST_NORMAL = 9


@dataclass(frozen=True, kw_only=True, eq=False)
class _WithSlopes(OwnUtility, Target):
    """What the two targets of this module share.

    Parameters
    ----------
    slopes : number or sequence of numbers
        The most by which the utility changes per unit of each coordinate, for every data set; one for all, or one a
        coordinate. It may grow with the number of rows, which is then public.
    error : number, default 0
        By how much an evaluation may be off; 0 if the bounds hold for what is computed.
    """

    slopes: Any
    error: Any = 0

    def __post_init__(self) -> None:
        slopes = [self.slopes] * self.dimension if np.ndim(self.slopes) == 0 else list(self.slopes)
        if len(slopes) != self.dimension:
            raise InvalidArgument(f"`slopes` must be one number or {self.dimension}; found {len(slopes)}.")
        _checks.set_fields(self, slopes=tuple(_checks.exact_positive(slope, "slopes") for slope in slopes))
        _checks.check_fields(self, _checks.exact_nonnegative, "error")
        self._read_change()
        center, points = self._center(), self._test_points()
        values = self._tried(np.vstack([center, points]))
        penalties = np.abs(points - center) @ np.array([float(slope) for slope in self.slopes])
        check_below(np.abs(values[1:] - values[0]), penalties, "`utility` is steeper than `slopes`")

    def _center(self) -> np.ndarray:
        raise AssertionError

    def _test_points(self) -> np.ndarray:
        raise AssertionError

    def _scaled(
        self, scale: Fraction, least: Fraction, reach: float, outward: Callable[..., np.ndarray]
    ) -> ScaledSlopes:
        if not least > 0:
            raise IncompatiblePlan(
                f"{self.name}: acceptance has no usable bound, as the utility may be too steep for the scale "
                f"{float(scale):.3g}: the expected work has no end. Lower the budget, or split the domain."
            )
        center = self._center()[0]
        return ScaledSlopes(
            dimension=self.dimension,
            acceptance=least,
            # Two evaluations stand in a log ratio.
            error=_ERROR + 2 * scale * self.error,
            common_envelope=False,
            floor=min(FLOOR, -2.1 * reach),
            default=tuple(center.tolist()),
            notes=(BELIEVED.format("sensitivity and slopes"),),
            scale=float(scale),
            center=center,
            slopes=np.array([float(scale * slope) for slope in self.slopes]),
            utility=self.utility,
            outward=outward,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaledSlopes(ScaledTarget):
    """A target with slopes at one public scale.

    Parameters
    ----------
    scale : float
        What the utility is multiplied by.
    center : np.ndarray, shape (dimension,)
        Where envelopes have their tip.
    slopes : np.ndarray, shape (dimension,)
        Of scale * utility.
    utility : callable
        See `Lipschitz`.
    outward : callable
        Takes uniform numbers, shape (size, dimension), and returns distances from the center.
    """

    scale: float
    center: np.ndarray = field(repr=False)
    slopes: np.ndarray = field(repr=False)
    utility: Callable[[np.ndarray, np.ndarray], Any]
    outward: Callable[[np.ndarray], np.ndarray]

    def begin(self, prepared: np.ndarray) -> Proposer:
        """Return who proposes around the center; evaluates the utility there."""
        return SlopeProposer(self, prepared)


class SlopeProposer(Proposer):
    """Proposes around a public center and evaluates how much lower the utility is than its slopes allow."""

    def __init__(self, scaled: ScaledSlopes, rows: np.ndarray) -> None:
        self._scaled = scaled
        self._rows = rows
        self._height = evaluate(scaled.utility, scaled.center[None, :], rows)[0]

    def propose(self, coins: Coins, size: int) -> Points:
        """Return points around the center, each side equally likely."""
        scaled = self._scaled
        uniform = 2 * uniforms(coins, size, scaled.dimension) - 1
        return Points(scaled.center + np.copysign(scaled.outward(np.abs(uniform)), uniform))

    def log_ratio(self, points: Points) -> np.ndarray:
        """Return scale * (u(x) - u(center)) less the penalty; a failed evaluation is the lowest utility there is."""
        scaled = self._scaled
        penalties = np.abs(points.values - scaled.center) @ scaled.slopes
        rises = scaled.scale * (evaluate(scaled.utility, points.values, self._rows) - self._height)
        ratios: np.ndarray = np.where(np.isnan(rises), -penalties, np.maximum(rises, -penalties)) - penalties
        return ratios


@dataclass(frozen=True, kw_only=True, eq=False)
class Lipschitz(_WithSlopes):
    """A utility with public slopes on a box: density proportional to ``exp(scale * u(x))`` there.

    Parameters
    ----------
    utility, slopes, change, error, example
        The utility; the most by which it changes per unit of each coordinate, for every data set; the most by which
        a record changes it; by how much an evaluation may be off; public rows on which it is tried.
    bounds : Interval or Box
        The domain. A Box gives both limits a coordinate.

    Raises
    ------
    InvalidArgument, InvalidType
        If the domain is not bounded, or the example shows at public test points that the utility is steeper than
        declared, or NaN.

    Guarantee
    ---------
    Proposals are accepted with probability at least ``exp(-scale * sum_j slopes_j * width_j / 2)``. Privacy holds as
    far as `slopes`, `change` and `error` are true. Proof: docs/proofs/sampling.md

    Examples
    --------
    >>> from discreet.lattice.bounds import Interval
    >>> def utility(points, rows):
    ...     return -np.abs(points - rows.T).mean(axis=1)
    >>> target = Lipschitz(utility=utility, slopes=1, bounds=Interval(0, 1), change=0.1, example=np.zeros((10, 1)))
    >>> round(float(target.at(Fraction(1), 10).acceptance), 6)
    0.606531
    """

    bounds: Interval | Box

    @property
    def name(self) -> str:
        """What is drawn."""
        return "utility with slopes on a box"

    @property
    def dimension(self) -> int:
        """How many numbers a point has."""
        return int(limits_of(self.bounds)[0].size)

    def at(self, scale: Fraction, n_rows: int | None) -> ScaledTarget:
        """Return the target at a public scale."""
        del n_rows  # the slopes hold for every data set
        lower, upper = limits_of(self.bounds)
        half = (upper - lower) / 2
        reach = sum((scale * s * Fraction(h) for s, h in zip(self.slopes, half.tolist(), strict=True)), Fraction(0))
        slants = np.array([float(scale * slope) for slope in self.slopes]) * half

        def outward(uniform: np.ndarray) -> np.ndarray:
            # The inverse of (exp(a t) - 1) / (exp(a) - 1), that cannot overflow; then down to a step.
            parts = 1 + np.log(uniform + (1 - uniform) * np.exp(-slants)) / slants
            steps = np.minimum(np.floor(np.clip(parts, 0.0, 1.0) * _STEPS), _STEPS - 1)
            distances: np.ndarray = (steps + 0.5) * (half / _STEPS)
            return distances

        return self._scaled(scale, exp_down(-reach * (1 + _OF_PROPOSALS)), float(reach), outward)

    def _center(self) -> np.ndarray:
        lower, upper = limits_of(self.bounds)
        center: np.ndarray = ((lower + upper) / 2)[None, :]
        return center

    def _test_points(self) -> np.ndarray:
        lower, upper = limits_of(self.bounds)
        points: np.ndarray = lower + (upper - lower) * public_uniforms(self.dimension)
        return points


@dataclass(frozen=True, kw_only=True, eq=False)
class GaussianBase(_WithSlopes):
    """A utility with public slopes under a normal base law: density ``exp(scale * u(x))`` times that of the law.

    Parameters
    ----------
    utility, slopes, change, error, example
        See `Lipschitz`.
    base : Normal
        The base law; the domain is unbounded.

    Guarantee
    ---------
    With ``a_j = scale * slopes_j * spread`` proposals are accepted with probability at least the product of
    ``Phi(-a_j) / Phi(a_j)``. Privacy holds as far as `slopes`, `change` and `error` are true.
    Proof: docs/proofs/sampling.md

    Examples
    --------
    >>> def utility(points, rows):
    ...     return -np.abs(points - rows.T).mean(axis=1)
    >>> target = GaussianBase(utility=utility, slopes=1, base=Normal(center=0, spread=1), change=0.1,
    ...                       example=np.zeros((10, 1)))
    >>> round(float(target.at(Fraction(1, 2), 10).acceptance), 4)
    0.4462
    """

    base: Normal

    @property
    def name(self) -> str:
        """What is drawn."""
        return "utility with slopes under a normal base law"

    @property
    def dimension(self) -> int:
        """How many numbers a point has."""
        return self.base.dimension

    def at(self, scale: Fraction, n_rows: int | None) -> ScaledTarget:
        """Return the target at a public scale."""
        del n_rows  # the slopes hold for every data set
        spread = Fraction(self.base.spread)
        slants = [scale * slope * spread for slope in self.slopes]
        least, reach = Fraction(1), 0.0
        for slant in slants:
            least *= _folded(slant) * (1 - _OF_PROPOSALS)
            reach += float(slant) * (float(slant) + _LARGEST_NORMAL)
        a = np.array([float(slant) for slant in slants])

        def outward(uniform: np.ndarray) -> np.ndarray:
            from scipy.special import ndtr, ndtri

            # A normal number of mean a, given that it is positive, by its upper tail.
            distances: np.ndarray = self.base.spread * np.maximum(a - ndtri(uniform * ndtr(a)), 0.0)
            return distances

        return self._scaled(scale, least, reach, outward)

    def _center(self) -> np.ndarray:
        return np.array([self.base.center])

    def _test_points(self) -> np.ndarray:
        return self.base.test_points()


def _folded(slant: Fraction) -> Fraction:
    """Return Phi(-a) / Phi(a), rounded down: E exp(-a |Z|) / E exp(a |Z|) for a standard normal Z."""
    if slant > 20:
        return Fraction(0)

    def ratio(reals: Arithmetic) -> Any:
        tail = normal_tail(reals.of(slant), reals)
        return tail / (1 - tail)

    return round_down(refined(ratio, width=Fraction(1, 2**500), bits=1024)[0])
