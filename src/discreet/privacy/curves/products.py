"""Curves made of curves: output and running time together, groups of people, subsamples.

Proof: docs/proofs/tradeoff.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType
from discreet.numbers.outward import LARGEST, exp_limits, exp_up, float_down, float_up, log_down
from discreet.privacy.curves.concentrated import ConcentratedCurve
from discreet.privacy.curves.families import EpsilonDelta, GaussianCurve, LaplaceCurve
from discreet.privacy.curves.runtimes import acceptance
from discreet.privacy.curves.tradeoff import (
    SHADE,
    DualCurve,
    TradeoffFunction,
    two_sided_delta,
    two_sided_float_deltas,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class WithPure(DualCurve):
    """A curve and an independent release of pure epsilon-DP, together.

    Such as an exact sampler's running time and its output, which are independent given the data. The pure release is
    no easier to tell apart than an answer that is true with probability e^epsilon / (1 + e^epsilon), so with the
    curve's own delta extended to negative arguments::

        delta(x) = (e^epsilon delta(x - epsilon) + delta(x + epsilon)) / (1 + e^epsilon)

    Parameters
    ----------
    curve : TradeoffFunction
        Of the other release, in one order of the neighbours or both.
    epsilon : number or text
        Of the pure release, in nats, at least 0.

    Guarantee
    ---------
    The two together keep this curve, if they are independent given the data. Proof: docs/proofs/tradeoff.md

    Examples
    --------
    >>> from discreet.privacy.curves.runtimes import geometric_runtime
    >>> time = geometric_runtime(p="0.1", q="0.08")
    >>> both = WithPure(time, epsilon=1)
    >>> time.delta(2.0) < both.delta(2.0) < time.delta(1.0)
    True
    """

    def __init__(self, curve: TradeoffFunction, *, epsilon: Any) -> None:
        if not isinstance(curve, TradeoffFunction):
            raise InvalidType(f"`curve` must be a TradeoffFunction; found {type(curve).__name__}.")
        self._curve = curve
        self._epsilon = _checks.exact_nonnegative(epsilon, "epsilon")
        if self._epsilon > LARGEST:
            raise InvalidArgument(f"`epsilon` must be at most {LARGEST}; found more, which promises nothing.")

    def __repr__(self) -> str:
        return f"WithPure({self._curve!r}, epsilon={self._epsilon})"

    def inverse(self) -> TradeoffFunction:
        """Return the curve of the other order."""
        return self if self._curve.is_symmetric else WithPure(self._curve.inverse(), epsilon=self._epsilon)

    def upper_delta(self, epsilon: Fraction) -> Fraction:
        """Return the mean of the two deltas, rounded up."""
        # The weight of the larger one is rounded up, and the whole is a mean, so neither end needs care beyond that.
        high = exp_limits(self._epsilon)[1]
        heavy, light = (two_sided_delta(self._curve, epsilon + side * self._epsilon) for side in (-1, 1))
        return light + max(Fraction(0), heavy - light) * (high / (1 + high))

    def float_deltas(self, epsilons: Floats) -> Floats:
        """Return `upper_delta` in floats."""
        own = float_up(self._epsilon)
        heavy = two_sided_float_deltas(self._curve, epsilons - own)
        light = two_sided_float_deltas(self._curve, epsilons + float_down(self._epsilon))
        weight = 1 / (1 + math.exp(-own))
        return np.minimum(1.0, (heavy * weight + light * (1 - weight)) * (1 + SHADE))


class GroupCurve(DualCurve):
    """What a symmetric curve promises to a group: ``delta(size * x) = delta(x) * (1 + e^x + ... + e^((size - 1) x))``.

    Every (x, delta(x)) is a guarantee of its own, and this is what it means for a group.

    Parameters
    ----------
    curve : TradeoffFunction
        Symmetric.
    size : int
        At least 1.
    """

    def __init__(self, curve: TradeoffFunction, size: int) -> None:
        self._curve, self._size = curve, size

    def __repr__(self) -> str:
        return f"group_curve({self._curve!r}, size={self._size})"

    def inverse(self) -> TradeoffFunction:
        """Return the curve itself."""
        return self

    def upper_delta(self, epsilon: Fraction) -> Fraction:
        """Return the delta of the group, rounded up."""
        each = epsilon / self._size
        one = self._curve.upper_delta(each)
        if one == 0 or epsilon > LARGEST:
            return one and Fraction(1)
        ratio = exp_up(each)
        return min(Fraction(1), one * sum((ratio**k for k in range(self._size)), Fraction(0)))

    def float_deltas(self, epsilons: Floats) -> Floats:
        """Return `upper_delta` in floats."""
        each = epsilons / self._size
        sums = np.exp(np.minimum(np.multiply.outer(np.arange(self._size), each), 709.0)).sum(axis=0)
        deltas: Floats = np.minimum(1.0, np.minimum(sums, 1e300) * self._curve.float_deltas(each) * (1 + SHADE))
        return deltas


def group_curve(curve: TradeoffFunction, *, size: int) -> TradeoffFunction:
    """Return what a curve that holds for one record promises for `size` records at once.

    Parameters
    ----------
    curve : TradeoffFunction
        For neighbours; made symmetric first.
    size : int
        How many records may differ, from 1 to 1000.

    Guarantee
    ---------
    Exact for Gaussian, Laplace and pure guarantees, by the theorem for Zcdp, sound for all.
    Proof: docs/proofs/tradeoff.md

    Examples
    --------
    >>> from discreet.privacy.budgets import Gdp
    >>> group_curve(Gdp(mu=1).tradeoff(), size=3)
    Gdp(mu=3).tradeoff()
    """
    many = _checks.integer(size, "size", low=1, high=1000)
    both = curve.symmetrized()
    if isinstance(both, GaussianCurve):
        return GaussianCurve(many**2 * both.mu_squared)
    if isinstance(both, LaplaceCurve):
        return LaplaceCurve(many * both.span)
    if isinstance(both, ConcentratedCurve):
        return ConcentratedCurve(many**2 * both.rho)
    if isinstance(both, EpsilonDelta) and both.numbers[1] == 0:
        return EpsilonDelta(epsilon=many * both.numbers[0], delta=Fraction(0))
    return both if many == 1 else GroupCurve(both, many)


class Subsampled(DualCurve):
    """A curve whose mechanism reads a Poisson sample of the records, under AddRemove.

    With the record absent the output is M, with it present it is M with probability 1 - rate and otherwise what the
    record makes of it: a mixture, of which with ``e^y = 1 + (e^x - 1) / rate`` ::

        delta(x) = rate * delta(y)       and in the other order       (1 - e^x (1 - rate)) * delta(y')

    Parameters
    ----------
    curve : TradeoffFunction
        Symmetric: of the mechanism on what it reads.
    rate : number or text
        With which each record is read, independently, in (0, 1].

    Guarantee
    ---------
    Holds for one order (the record is absent, then present); `symmetrized()` holds for both.
    Proof: docs/proofs/tradeoff.md
    """

    def __init__(self, curve: TradeoffFunction, *, rate: Any, _swapped: bool = False) -> None:
        if not isinstance(curve, TradeoffFunction):
            raise InvalidType(f"`curve` must be a TradeoffFunction; found {type(curve).__name__}.")
        self._curve, self._rate, self._swapped = curve.symmetrized(), acceptance(rate, "rate"), _swapped

    def __repr__(self) -> str:
        return f"Subsampled({self._curve!r}, rate={self._rate})" + (".inverse()" if self._swapped else "")

    def inverse(self) -> TradeoffFunction:
        """Return the curve of the other order."""
        return Subsampled(self._curve, rate=self._rate, _swapped=not self._swapped)

    def upper_delta(self, epsilon: Fraction) -> Fraction:
        """Return the delta of a mixture, rounded up."""
        low, high = exp_limits(min(epsilon, Fraction(LARGEST)))
        rate = self._rate
        if not self._swapped:
            return rate * self._curve.upper_delta(max(Fraction(0), log_down(1 + (low - 1) / rate)))
        rest, least = 1 - low * (1 - rate), 1 - high * (1 - rate)
        if rest <= 0:
            return Fraction(0)
        inner = log_down(low * rate / rest) if least > 0 else Fraction(0)
        return rest * self._curve.upper_delta(max(Fraction(0), inner))

    def float_deltas(self, epsilons: Floats) -> Floats:
        """Return `upper_delta` in floats."""
        rate, ratios = float(self._rate), np.exp(np.minimum(epsilons, 700.0))
        gains = np.expm1(np.minimum(epsilons, 700.0)) * (1 - SHADE)
        if not self._swapped:
            return np.minimum(1.0, rate * self._curve.float_deltas(np.log1p(gains / rate)) * (1 + SHADE))
        rest = np.maximum(0.0, 1 - ratios * (1 - SHADE) * (1 - rate))
        inner = np.log(np.maximum(1.0, ratios * (1 - SHADE) * rate / np.maximum(rest, ratios * 1e-300)))
        return np.minimum(1.0, rest * self._curve.float_deltas(np.minimum(inner, 700.0)) * (1 + SHADE))
