"""Tradeoff functions made of straight lines between knots, in exact rationals."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument
from discreet.numbers.outward import LARGEST, exp_down, float_down, float_up
from discreet.privacy.axioms import Knots, broken_axiom, exact_knots
from discreet.privacy.curves.tradeoff import SHADE, TradeoffFunction

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class PiecewiseLinear(TradeoffFunction):
    """A tradeoff function of straight lines.

    Parameters
    ----------
    knots : iterable of (alpha, beta)
        Corners with rising alphas, the first at alpha = 0 and the last (1, 0).

    Raises
    ------
    InvalidArgument
        If the lines are no tradeoff function: convex, continuous, not increasing, at most 1 - alpha.

    Examples
    --------
    >>> curve = PiecewiseLinear([(0, 1), ("1/4", "1/4"), (1, 0)])
    >>> curve.beta("1/8"), curve.delta("0")
    (Fraction(5, 8), Fraction(1, 2))
    """

    def __init__(self, knots: Iterable[tuple[Any, Any]]) -> None:
        self._knots = exact_knots(knots)
        broken = broken_axiom(self._knots)
        if broken is not None:
            raise InvalidArgument(f"`knots` must {broken}. Give the corners of a tradeoff function.")
        self._alphas = [alpha for alpha, _ in self._knots]

    @classmethod
    def between(cls, first: Iterable[Any], second: Iterable[Any]) -> PiecewiseLinear:
        """Return how well two laws on finitely many outcomes can be told apart.

        Parameters
        ----------
        first, second : iterables of numbers or texts
            Probabilities of the same outcomes in the same order; each sums to exactly 1.

        Raises
        ------
        InvalidArgument
            If they are no two laws on the same outcomes.

        Examples
        --------
        >>> PiecewiseLinear.between(["3/4", "1/4"], ["1/4", "3/4"]).knots
        ((Fraction(0, 1), Fraction(1, 1)), (Fraction(1, 4), Fraction(1, 4)), (Fraction(1, 1), Fraction(0, 1)))
        """
        p = [_checks.exact_nonnegative(x, "first") for x in first]
        q = [_checks.exact_nonnegative(x, "second") for x in second]
        if len(p) != len(q) or sum(p) != 1 or sum(q) != 1:
            raise InvalidArgument("`first` and `second` must be probabilities of the same outcomes, each of sum 1.")
        alpha, beta, free = Fraction(0), Fraction(1), Fraction(0)
        knots: list[tuple[Fraction, Fraction]] = []
        # The best tests call the second law where it is likeliest by ratio; equal ratios make one line.
        ratios: dict[Fraction, list[Fraction]] = {}
        for one, other in zip(p, q, strict=True):
            if one == 0:
                free += other
            else:
                both = ratios.setdefault(other / one, [Fraction(0), Fraction(0)])
                both[0], both[1] = both[0] + one, both[1] + other
        knots.append((alpha, beta - free))
        beta -= free
        for ratio in sorted(ratios, reverse=True):
            alpha, beta = alpha + ratios[ratio][0], beta - ratios[ratio][1]
            knots.append((alpha, beta))
        return cls(knots)

    @property
    def knots(self) -> Knots:
        """The corners, exact, from alpha = 0 to alpha = 1."""
        return self._knots

    def __repr__(self) -> str:
        return f"PiecewiseLinear of {len(self._knots)} knots"

    def inverse(self) -> TradeoffFunction:
        """Return the least alpha for each beta: the knots with their two numbers swapped."""
        swapped: list[tuple[Fraction, Fraction]] = []
        for alpha, beta in self._knots[::-1]:
            # On the floor, at beta = 0, the least alpha counts.
            if swapped and swapped[-1][0] == beta:
                swapped.pop()
            swapped.append((beta, alpha))
        if swapped[-1][0] < 1:
            swapped.append((Fraction(1), Fraction(0)))
        return self if tuple(swapped) == self._knots else PiecewiseLinear(swapped)

    def lower_beta(self, alpha: Fraction) -> Fraction:
        """Return the curve, exactly."""
        place = max(1, bisect_left(self._alphas, alpha))
        (left, high), (right, low) = self._knots[place - 1], self._knots[place]
        return (high * (right - alpha) + low * (alpha - left)) / (right - left)

    def float_betas(self, alphas: Floats) -> Floats:
        """Return the curve in floats, rounded down."""
        corners = np.array([[float(alpha), float_down(beta)] for alpha, beta in self._knots])
        # Moving a corner by a rounding moves the curve by at most that part of 1.
        heights: Floats = np.interp(alphas, corners[:, 0], corners[:, 1]) * (1 - SHADE) - 2.0**-50 * (alphas > 0)
        return heights

    def upper_delta(self, epsilon: Fraction) -> Fraction:
        """Return the largest 1 - beta - exp(epsilon) * alpha of a knot, rounded up; it is attained at one."""
        ratio = exp_down(min(epsilon, Fraction(LARGEST)))
        return max(Fraction(0), *(1 - beta - ratio * alpha for alpha, beta in self._knots))

    def float_deltas(self, epsilons: Floats) -> Floats:
        """Return `upper_delta` in floats."""
        ratios = np.exp(np.minimum(epsilons, 700.0)) * (1 - SHADE)
        best = np.zeros_like(epsilons)
        for alpha, beta in self._knots:
            best = np.maximum(best, float_up(1 - beta) - ratios * float_down(alpha))
        return np.minimum(1.0, best + 2.0**-50)
