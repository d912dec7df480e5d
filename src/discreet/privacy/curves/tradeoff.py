"""f-DP: how well anybody can tell two neighbours apart.

An adversary who guesses from a release which of two neighbours it was made from errs in two ways: with probability
alpha on the first, with probability beta on the second. A **tradeoff function** f says how small beta can be made for
each alpha. A release is f-DP if no adversary is better: beta >= f(alpha) for all pairs of neighbours.

(epsilon, delta) is one line under the curve, and the curve is the upper edge of all such lines::

    delta(epsilon) = max over alpha of 1 - f(alpha) - exp(epsilon) * alpha
    f(alpha)       = max over epsilon of 1 - delta(epsilon) - exp(epsilon) * alpha      (both directions)

**Which side.** A guarantee may be understated, never overstated: `beta` is rounded down, `delta`, `epsilon` and
`power` are rounded up. A rational or a text that is asked gets a rational with certain limits (64 significant bits);
a float gets a float. Floats of `delta` and `epsilon` are the rounded-up exact answers; floats of `beta` are computed
in floats and lowered by more than `2**-34` of themselves, which is thousands of times the error of the functions used.

Proof: docs/proofs/tradeoff.md
Source: Dong, Roth and Su 2022 (Gaussian Differential Privacy).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType
from discreet.numbers.outward import LARGEST, exp_down, exp_limits, exp_up, float_down, float_up, round_down, round_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Exact = Fraction | Decimal | str

# Float answers are moved to the safe side by this part of themselves, or of what they are the difference of.
SHADE = 2.0**-34
# A delta that is nowhere 0 counts as at least this much: smaller floats have fewer digits.
TINY = 1e-307
# Steps of the golden section, which leave 1e-15 of the interval.
_STEPS = 75
_GOLDEN = (math.sqrt(5) - 1) / 2
# exp of this is still a float.
MOST_FLOAT_EPSILON = 709.0


def shade_down(betas: Floats) -> Floats:
    """Return floats of a curve a little smaller: below `TINY`, where floats lose their digits, they become 0."""
    return np.maximum(0.0, betas * (1 - SHADE) - TINY)


def is_exact(value: object) -> bool:
    """Whether a number was asked exactly, so that the answer is exact too."""
    return isinstance(value, (Fraction, Decimal, str))


def numbers(value: Any, name: str) -> Floats:
    """Return an array of floats, refused by name where it is none; NaN passes."""
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.asarray("")
    if array.dtype.kind not in "fiu":
        raise InvalidType(f"`{name}` must be a number or an array of numbers; found {type(value).__name__}.")
    return array.astype(np.float64)


class TradeoffFunction(ABC):
    """The least error of the second kind, for each error of the first, of telling two neighbours apart.

    Convex, continuous, not increasing, and at most 1 - alpha. Made by a budget's `tradeoff()`, by
    `Ledger.tradeoff()`, `geometric_runtime`, `PiecewiseLinear` and `compose_plan`.

    Guarantee
    ---------
    `beta` is never above the curve, `delta` and `epsilon` are never below what follows from it; see the module.
    Proof: docs/proofs/tradeoff.md

    Examples
    --------
    >>> from discreet.privacy.budgets import Gdp
    >>> curve = Gdp(mu=1).tradeoff()
    >>> round(float(curve.beta("0.05")), 7)
    0.740489
    >>> round(curve.delta(1.0), 6), round(curve.epsilon(1e-5), 4)
    (0.126937, 4.3772)
    """

    @property
    def is_symmetric(self) -> bool:
        """Whether the curve is its own inverse, so that it holds for both orders of two neighbours."""
        return self.inverse() is self

    @abstractmethod
    def inverse(self) -> TradeoffFunction:
        """Return the curve of the two neighbours in the other order; the curve itself where it is symmetric."""

    @abstractmethod
    def lower_beta(self, alpha: Fraction) -> Fraction:
        """Return a certain lower limit of the curve, for 0 <= alpha <= 1."""

    @abstractmethod
    def float_betas(self, alphas: Floats) -> Floats:
        """Return floats below the curve, for floats in [0, 1]; rounding may still make them negative."""

    @abstractmethod
    def upper_delta(self, epsilon: Fraction) -> Fraction:
        """Return a certain upper limit of max 1 - f(alpha) - exp(epsilon) * alpha, for epsilon >= 0."""

    @abstractmethod
    def float_deltas(self, epsilons: Floats) -> Floats:
        """Return floats that are at least what `upper_delta` bounds."""

    def least_epsilon(self, delta: Fraction) -> Fraction | None:
        """Return an upper limit of the least epsilon >= 0 with `upper_delta(epsilon) <= delta`; None for infinity."""
        low, high = Fraction(0), Fraction(1)
        if self.upper_delta(low) <= delta:
            return low
        while self.upper_delta(high) > delta:
            low, high = high, 2 * high
            if high > 2 * LARGEST:
                return None
        while high - low > high / 2**52:
            middle = round_up((low + high) / 2)
            if self.upper_delta(middle) <= delta:
                high = middle
            else:
                low = middle
        return high

    @overload
    def beta(self, alpha: Exact) -> Fraction: ...
    @overload
    def beta(self, alpha: float) -> float: ...
    @overload
    def beta(self, alpha: ArrayLike) -> Any: ...
    def beta(self, alpha: Any) -> Any:
        """Return the least error of the second kind, rounded down.

        Parameters
        ----------
        alpha : number, text or array of floats
            Error of the first kind, in [0, 1].

        Returns
        -------
        Fraction, float or array
            A rational for a rational or a text, a float for a float, an array of the same shape for an array.

        Raises
        ------
        InvalidArgument
            If `alpha` is not in [0, 1].
        """
        if is_exact(alpha):
            number = _checks.exact(alpha, "alpha")
            if 0 <= number <= 1:
                return max(Fraction(0), min(1 - number, self.lower_beta(number)))
            raise InvalidArgument(f"`alpha` must satisfy 0 <= alpha <= 1; found {number}.")
        alphas = numbers(alpha, "alpha")
        inside = (alphas >= 0) & (alphas <= 1)
        if not np.all(inside):
            raise InvalidArgument(f"`alpha` must satisfy 0 <= alpha <= 1; found {alphas[~inside].flat[0]}.")
        betas = np.clip(self.float_betas(np.atleast_1d(alphas)).reshape(alphas.shape), 0.0, 1.0 - alphas) + 0.0
        return float(betas) if np.ndim(alpha) == 0 else betas

    def power(self, alpha: Any) -> Any:
        """Return the largest chance of a true alarm at a chance `alpha` of a false one, 1 - beta, rounded up."""
        beta = self.beta(alpha)
        if isinstance(beta, Fraction):
            return 1 - beta
        powers = np.nextafter(1 - beta, 2.0).clip(None, 1.0)
        return float(powers) if np.ndim(alpha) == 0 else powers

    @overload
    def delta(self, epsilon: Exact) -> Fraction: ...
    @overload
    def delta(self, epsilon: float) -> float: ...
    @overload
    def delta(self, epsilon: ArrayLike) -> Any: ...
    def delta(self, epsilon: Any) -> Any:
        """Return the least delta of (epsilon, delta)-DP that follows, for either order of the neighbours, rounded up.

        Parameters
        ----------
        epsilon : number, text or array of floats
            In nats, at least 0.

        Returns
        -------
        Fraction, float or array
            As `beta`.

        Raises
        ------
        InvalidArgument
            If `epsilon` is negative or not finite.
        """
        return _answer(self._either_delta, epsilon, "epsilon", _checks.exact_nonnegative)

    def epsilon(self, delta: Any) -> Any:
        """Return the least epsilon of (epsilon, delta)-DP that follows, for either order of the neighbours, rounded up.

        Parameters
        ----------
        delta : number, text or array of floats
            `0 <= delta < 1`.

        Returns
        -------
        Fraction, float or array
            As `beta`; infinity, a float, where no finite epsilon exists.

        Raises
        ------
        InvalidArgument
            If `delta` is not in [0, 1): with delta = 1 nothing is promised.
        """
        return _answer(self.either_epsilon, delta, "delta", lambda value, _: _checks.exact_delta(value))

    def _either_delta(self, epsilon: Fraction) -> Fraction:
        delta = self.upper_delta(epsilon)
        if not self.is_symmetric:
            delta = max(delta, self.inverse().upper_delta(epsilon))
        return max(Fraction(0), min(Fraction(1), round_up(delta)))

    def either_epsilon(self, delta: Fraction) -> Fraction | None:
        """Return the least epsilon for either order of the neighbours, rounded up; None for infinity."""
        epsilon = self.least_epsilon(delta)
        if self.is_symmetric or epsilon is None:
            return epsilon
        other = self.inverse().least_epsilon(delta)
        return None if other is None else max(epsilon, other)

    def symmetrized(self) -> TradeoffFunction:
        """Return the greatest tradeoff function below the curve and its inverse: what holds for both orders."""
        return self if self.is_symmetric else Symmetrized(self)

    def is_at_least(self, other: TradeoffFunction, *, tolerance: float = 1e-9) -> bool:
        """Whether this curve lies nowhere more than `tolerance` below another, judged at some 4,000 points.

        The points lie close to 0 and to 1 too. For reading, not for proofs.

        Parameters
        ----------
        other : TradeoffFunction
            What to compare with.
        tolerance : float
            At least 0.
        """
        if not isinstance(other, TradeoffFunction):
            raise InvalidType(f"`other` must be a TradeoffFunction; found {type(other).__name__}.")
        slack = float(_checks.exact_nonnegative(tolerance, "tolerance"))
        points = sample_points()
        return bool(np.all(self.beta(points) >= other.beta(points) - slack))

    def plot(self, *, epsilon: Any = None, delta: Any = None) -> Figure:
        """Draw the curve, and the two lines of (epsilon, delta) that touch it.

        Parameters
        ----------
        epsilon : number or text, optional
            Whose lines to draw, at least 0; 1 where neither is given.
        delta : number or text, optional
            The same, by the delta of the lines, in (0, 1).

        Returns
        -------
        Figure
            Of matplotlib.
        """
        from discreet.privacy.curves.drawing import guarantee_figure

        return guarantee_figure(self, epsilon=epsilon, delta=delta)


def _answer(exact: Callable[[Fraction], Fraction | None], value: Any, name: str, check: Any) -> Any:
    """Ask an exact function; floats go in by their shortest decimal form, and their answers are rounded up."""
    if is_exact(value):
        found = exact(check(value, name))
        return math.inf if found is None else found
    array = numbers(value, name)

    def rounded(number: float) -> float:
        found = exact(check(number, name))
        return math.inf if found is None else float_up(found)

    if array.ndim == 0:
        return rounded(array.item())
    return np.array([rounded(number) for number in array.ravel().tolist()], dtype=np.float64).reshape(array.shape)


def sample_points() -> Floats:
    """Return some 4,000 points of [0, 1], sorted, that also come close to both ends."""
    near = np.logspace(-15, -1, 1000)
    return np.unique(np.concatenate([np.linspace(0, 1, 2049), near, 1 - near]))


class DualCurve(TradeoffFunction):
    """A curve known by its deltas: the upper edge of its tangents.

    Every slope gives a line that is certainly below the curve, so the best slope may be looked for in floats.
    """

    def lower_beta(self, alpha: Fraction) -> Fraction:
        """Return the height of the best line found, rounded down."""
        if alpha in (0, 1):
            # At 0 every slope is free, so the steepest in use is the best.
            return 1 - self.upper_delta(Fraction(LARGEST)) if alpha == 0 else Fraction(0)
        left, right = self._best_slopes(np.array([float_down(alpha)]))
        # Near the end of a search the last digits are noise; fewer make the lines' numbers short.
        steep, flat = Fraction(float(left[0])), Fraction(float(right[0]))
        below = 1 - self.upper_delta(steep) - exp_up(steep) * alpha
        beside = 1 - self.inverse().upper_delta(flat) - alpha
        beside *= exp_down(-flat) if beside > 0 else exp_up(-flat)
        return max(Fraction(0), round_down(max(below, beside)))

    def float_betas(self, alphas: Floats) -> Floats:
        """Return the height of the best line found, in floats, rounded down."""
        left, right = self._best_slopes(alphas)
        below, beside = _left_lines(self, left, alphas), _right_lines(self.inverse(), right, alphas)
        # The exponential of a tangent is right to some 2**-43 of it.
        return np.maximum(below - 2.0**-41, shade_down(beside))

    def _best_slopes(self, alphas: Floats) -> tuple[Floats, Floats]:
        """Return the logarithms of the slopes of the best lines from the left and from the right."""
        zeros, most = np.zeros_like(alphas), np.full_like(alphas, MOST_FLOAT_EPSILON)
        steepest = -np.log(alphas, out=-most, where=alphas > math.exp(-MOST_FLOAT_EPSILON))
        other = self.inverse()
        left = _golden(lambda slopes: _left_lines(self, slopes, alphas), zeros, steepest)
        return left, _golden(lambda slopes: _right_lines(other, slopes, alphas), zeros, most)


def _left_lines(curve: TradeoffFunction, slopes: Floats, alphas: Floats) -> Floats:
    return 1 - curve.float_deltas(slopes) - np.exp(slopes) * alphas


def _right_lines(curve: TradeoffFunction, slopes: Floats, alphas: Floats) -> Floats:
    return np.exp(-slopes) * ((1 - alphas) - curve.float_deltas(slopes))


def _golden(function: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Maximize functions that rise and then fall, one an entry, between `low` and `high`."""
    a, b = low, high
    c, d = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
    at_c, at_d = function(c), function(d)
    for _ in range(_STEPS):
        left = at_c >= at_d
        a, b = np.where(left, a, c), np.where(left, d, b)
        probe = np.where(left, b - _GOLDEN * (b - a), a + _GOLDEN * (b - a))
        value = function(probe)
        c, d = np.where(left, probe, d), np.where(left, c, probe)
        at_c, at_d = np.where(left, value, at_d), np.where(left, at_c, value)
    middle = (a + b) / 2
    # The best may be at an end: a line of slope 1, or the steepest.
    choices = np.stack([middle, low, high])
    values = np.stack([function(choice) for choice in choices])
    best: Floats = np.take_along_axis(choices, values.argmax(axis=0)[np.newaxis], axis=0)[0]
    return best


class Symmetrized(DualCurve):
    """The greatest tradeoff function below a curve and its inverse.

    The delta of a minimum is the maximum of the deltas, and making it convex changes none.
    """

    def __init__(self, curve: TradeoffFunction) -> None:
        self._curve = curve
        self._other = curve.inverse()

    def inverse(self) -> TradeoffFunction:
        """Return the curve itself."""
        return self

    def upper_delta(self, epsilon: Fraction) -> Fraction:
        """Return the larger of both orders' deltas."""
        return max(self._curve.upper_delta(epsilon), self._other.upper_delta(epsilon))

    def float_deltas(self, epsilons: Floats) -> Floats:
        """Return the larger of both orders' deltas, in floats."""
        return np.maximum(self._curve.float_deltas(epsilons), self._other.float_deltas(epsilons))

    def least_epsilon(self, delta: Fraction) -> Fraction | None:
        """Return the larger of both orders' epsilons."""
        return self._curve.either_epsilon(delta)

    def __repr__(self) -> str:
        return f"{self._curve!r}.symmetrized()"


def two_sided_delta(curve: TradeoffFunction, epsilon: Fraction) -> Fraction:
    """Return an upper limit of max 1 - f(alpha) - exp(epsilon) * alpha, for epsilon of any sign."""
    if epsilon >= 0:
        return curve.upper_delta(epsilon)
    if epsilon < -LARGEST:
        return Fraction(1)
    low, high = exp_limits(epsilon)
    other = curve.inverse().upper_delta(-epsilon)
    return min(Fraction(1), 1 - low + high * other)


def two_sided_float_deltas(curve: TradeoffFunction, epsilons: Floats) -> Floats:
    """`two_sided_delta` in floats."""
    sizes = np.abs(epsilons)
    other = -np.expm1(-sizes) + np.exp(-sizes) * curve.inverse().float_deltas(sizes)
    return np.minimum(1.0, np.where(epsilons >= 0, curve.float_deltas(sizes), other + 2.0**-52))
