"""What parts of a plan give away together by adding: epsilons and deltas, each.

No composed curve may be worse; one that comes from a grid of losses or a Fourier transform can be, and then this holds.

Proof: docs/proofs/tradeoff.md
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.numbers.outward import float_up
from discreet.privacy.curves.concentrated import ConcentratedCurve
from discreet.privacy.curves.families import EpsilonDelta, GaussianCurve, LaplaceCurve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.privacy.curves.tradeoff import TradeoffFunction

    Floats = NDArray[np.float64]

# Sums beyond this count as infinite where floats are asked.
_LARGEST_FLOAT = Fraction(10**300)


class BasicComposition:
    """The sums of epsilons and deltas of independent parts.

    What has a finite epsilon adds it; whatever else there is shares what is left of a delta, or of an epsilon,
    equally. Gaussian parts and those known by their rho are one part, by the sum of their rhos.

    Parameters
    ----------
    members : list of (TradeoffFunction, int)
        Symmetric curves, and how often each occurs.
    """

    def __init__(self, members: list[tuple[TradeoffFunction, int]]) -> None:
        self._epsilon, self._delta = Fraction(0), Fraction(0)
        self._rest: list[tuple[TradeoffFunction, int]] = []
        for curve, count in members:
            numbers = _numbers(curve)
            if numbers is None:
                self._rest.append((curve, count))
            else:
                self._epsilon += count * numbers[0]
                self._delta += count * numbers[1]
        smooth = [curve for curve, _ in self._rest if isinstance(curve, (GaussianCurve, ConcentratedCurve))]
        if len(smooth) > 1:
            rho = sum(
                (
                    count * (curve.mu_squared / 2 if isinstance(curve, GaussianCurve) else curve.rho)
                    for curve, count in self._rest
                    if isinstance(curve, (GaussianCurve, ConcentratedCurve))
                ),
                Fraction(0),
            )
            self._rest = [(curve, count) for curve, count in self._rest if curve not in smooth]
            self._rest.append((ConcentratedCurve(rho), 1))
        self._n_rest = sum(count for _, count in self._rest)

    def upper_delta(self, epsilon: Fraction) -> Fraction:
        """Return a delta at `epsilon`; 1 where adding says nothing."""
        if self._delta >= 1:
            return Fraction(1)
        if not self._rest:
            return EpsilonDelta(epsilon=self._epsilon, delta=self._delta).upper_delta(epsilon)
        if epsilon < self._epsilon:
            return Fraction(1)
        share = (epsilon - self._epsilon) / self._n_rest
        return self._delta + sum(count * curve.upper_delta(share) for curve, count in self._rest)

    def float_deltas(self, epsilons: Floats) -> Floats:
        """Return `upper_delta` in floats."""
        if self._delta >= 1 or self._epsilon > _LARGEST_FLOAT:
            return np.ones_like(epsilons)
        if not self._rest:
            return EpsilonDelta(epsilon=self._epsilon, delta=self._delta).float_deltas(epsilons)
        left = epsilons - float_up(self._epsilon)
        # The difference of two floats may be rounded up by 2**-53 of itself, and a share as well.
        shares = np.maximum(left, 0.0) * (1 - 2.0**-50) / self._n_rest
        deltas = sum(count * curve.float_deltas(shares) for curve, count in self._rest) + float_up(self._delta)
        answers: Floats = np.where(left < 0, 1.0, np.minimum(1.0, deltas * (1 + 2.0**-50)))
        return answers

    def least_epsilon(self, delta: Fraction) -> Fraction | None:
        """Return an epsilon at `delta`; None where adding says nothing."""
        if self._delta >= 1 or delta < self._delta:
            return None
        if not self._rest:
            return EpsilonDelta(epsilon=self._epsilon, delta=self._delta).least_epsilon(delta)
        share, total = (delta - self._delta) / self._n_rest, self._epsilon
        for curve, count in self._rest:
            epsilon = curve.least_epsilon(share)
            if epsilon is None:
                return None
            total += count * epsilon
        return total


def _numbers(curve: TradeoffFunction) -> tuple[Fraction, Fraction] | None:
    """Return the epsilon and delta by which a curve adds up; None where it has no finite epsilon at its own delta."""
    if isinstance(curve, EpsilonDelta):
        return curve.numbers
    if isinstance(curve, LaplaceCurve):
        return curve.span, Fraction(0)
    epsilon = curve.least_epsilon(Fraction(0))
    return None if epsilon is None else (epsilon, Fraction(0))
