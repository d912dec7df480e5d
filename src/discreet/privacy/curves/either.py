"""What a ledger promises that grants what either of two filters grants: pure epsilons, or Gdp.

Proof: docs/proofs/accounting.md
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.numbers.outward import float_down, float_up
from discreet.privacy.curves.families import EpsilonDelta, GaussianCurve
from discreet.privacy.curves.tradeoff import DualCurve, TradeoffFunction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class EitherCurve(DualCurve):
    """The curve of histories that are all pure and within epsilon, or within mu: which of both is chosen on the way.

    From epsilon on delta is that of mu alone, for the pure histories have no ratio beyond; below it is that of
    (epsilon, delta(epsilon)).

    Parameters
    ----------
    epsilon : Fraction
        What pure histories may add up to, in nats.
    mu_squared : Fraction
        What others may add up to.
    """

    def __init__(self, *, epsilon: Fraction, mu_squared: Fraction) -> None:
        self._epsilon = epsilon
        self._gaussian = GaussianCurve(mu_squared)
        self._below = EpsilonDelta(epsilon=epsilon, delta=self._gaussian.upper_delta(epsilon))

    def __repr__(self) -> str:
        return f"EitherCurve(epsilon={self._epsilon}, mu_squared={self._gaussian.mu_squared})"

    def inverse(self) -> TradeoffFunction:
        """Return the curve itself."""
        return self

    def upper_delta(self, epsilon: Fraction) -> Fraction:
        """Return the delta of mu, or below the curve's epsilon that of its two lines."""
        return (self._gaussian if epsilon >= self._epsilon else self._below).upper_delta(epsilon)

    def float_deltas(self, epsilons: Floats) -> Floats:
        """Return `upper_delta` in floats."""
        # A float next to the curve's epsilon takes the larger side.
        surely = epsilons >= float_up(min(self._epsilon, Fraction(10**300)))
        below = self._below.float_deltas(np.minimum(epsilons, float_down(min(self._epsilon, Fraction(10**300)))))
        deltas: Floats = np.where(surely, self._gaussian.float_deltas(epsilons), below)
        return deltas
