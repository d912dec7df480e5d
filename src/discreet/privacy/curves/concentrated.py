"""The tradeoff function that zero-concentrated privacy implies.

For every order a > 1 and every event S, by Hoelder's inequality ``Q(S) <= exp((a - 1) rho) * P(S)**(1 - 1/a)``. The
best order is ``a = sqrt(L / rho)`` with ``L = -log(P(S))``, and gives ``Q(S) <= exp(-(sqrt(L) - sqrt(rho))**2)``.
The guarantee holds for both orders of the neighbours, so the larger of this curve and its inverse is the curve.

Proof: docs/proofs/tradeoff.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.numbers.intervals import Arithmetic, Interval, arithmetic, ends
from discreet.numbers.outward import exp_down, exp_up, float_up, log_up, round_down
from discreet.privacy.concentrated_accounting import zcdp_delta, zcdp_epsilon
from discreet.privacy.curves.families import SymmetricCurve
from discreet.privacy.curves.tradeoff import TINY, shade_down

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# From here on the two kinds of error meet below 1e-300, and the corner is of no use.
_HOPELESS = 150


class ConcentratedCurve(SymmetricCurve):
    """What rho-zCDP says about telling two neighbours apart.

    Parameters
    ----------
    rho : Fraction
        At least 0.
    """

    def __init__(self, rho: Fraction) -> None:
        self._rho = rho

    @property
    def rho(self) -> Fraction:
        """The rate of its Renyi divergences."""
        return self._rho

    def __repr__(self) -> str:
        return f"Zcdp(rho={self._rho}).tradeoff()"

    def lower_beta(self, alpha: Fraction) -> Fraction:
        """Return the curve, rounded down."""
        if alpha in (0, 1) or self._rho == 0:
            return 1 - alpha
        steep = ends(self._steep(alpha, arithmetic(256))[0])[0]
        flat = ends(self._flat(alpha, arithmetic(256)))[0] if self._rho < 1000 else Fraction(0)
        return round_down(max(Fraction(0), steep, flat))

    def _steep(self, alpha: Fraction, reals: Arithmetic) -> tuple[Interval, Interval]:
        """Enclose 1 - exp(-(sqrt(L) - sqrt(rho))**2) and minus its derivative; 0 where L <= rho."""
        length = -reals.log_of(alpha)
        if ends(length)[0] <= self._rho:
            return reals.of(0), reals.of(0)
        root, shift = reals.sqrt(length), reals.sqrt(reals.of(self._rho))
        powers = reals.exp(-((root - shift) ** 2))
        return 1 - powers, powers * (1 - shift / root) / reals.of(alpha)

    def _flat(self, alpha: Fraction, reals: Arithmetic) -> Interval:
        """Enclose exp(-(sqrt(rho) + sqrt(M))**2)."""
        # It comes out below 0 where alpha is too small for the precision.
        length = reals.nonnegative(-reals.log_of(1 - alpha))
        roots = reals.sqrt(reals.of(self._rho)) + reals.sqrt(length)
        return reals.exp(-(roots**2))

    def float_betas(self, alphas: Floats) -> Floats:
        """Return the curve in floats, rounded down."""
        root = math.sqrt(float_up(self._rho))
        inside = (alphas > 0) & (alphas < 1)
        middle = np.where(inside, alphas, 0.5)
        length, other = -np.log(middle), -np.log1p(-middle)
        steep = -np.expm1(-(np.maximum(0.0, np.sqrt(length) - root) ** 2))
        flat = np.exp(-((root + np.sqrt(other)) ** 2))
        return np.where(inside, shade_down(np.maximum(steep, flat)), 1 - alphas)

    @cached_property
    def _corner(self) -> tuple[Fraction, Fraction, Fraction] | None:
        """Return an alpha certainly beyond the corner, a lower limit of the left branch there, and of its slope."""
        if not 0 < self._rho < _HOPELESS:
            return None
        low, high = 0.0, 0.5
        root = math.sqrt(float(self._rho))
        for _ in range(60):
            middle = (low + high) / 2
            steep = -math.expm1(-(max(0.0, math.sqrt(-math.log(middle)) - root) ** 2))
            low, high = (middle, high) if steep > middle else (low, middle)
        alpha = Fraction(high) * (1 + Fraction(1, 2**36))
        value, slope = self._steep(alpha, arithmetic(256))
        (below, above), least = ends(value), ends(slope)[0]
        return (alpha, below, least) if above <= alpha else None

    def upper_delta(self, epsilon: Fraction) -> Fraction:
        """Return the bound of Canonne, Kamath and Steinke, or for small epsilon what the corner gives."""
        delta = zcdp_delta(epsilon=epsilon, rho=self._rho)
        if self._corner is not None:
            alpha, beta, slope = self._corner
            # Where the left branch is steeper than the line up to beyond the corner, the line touches at the corner.
            if slope > 1 and epsilon < 100 and exp_up(epsilon) <= slope:
                delta = min(delta, 1 - beta - exp_down(epsilon) * alpha)
        return delta

    def float_deltas(self, epsilons: Floats) -> Floats:
        """Return the bound of Canonne, Kamath and Steinke in floats."""
        if self._rho == 0:
            return np.zeros_like(epsilons)
        rho = float_up(self._rho)
        low, high = np.full_like(epsilons, -600.0), np.full_like(epsilons, 600.0)
        for _ in range(60):
            middle = (low + high) / 2
            t = np.exp(middle)
            rising = (2 * t + 1) * rho - epsilons - np.log1p(1 / t) > 0
            low, high = np.where(rising, low, middle), np.where(rising, middle, high)
        t = np.exp(np.minimum(high, 40.0))
        exponent = t * ((1 + t) * rho - epsilons - np.log1p(1 / t)) - np.log1p(t)
        slack = 2.0**-44 * (1 + t * ((1 + t) * rho + epsilons))
        return np.exp(np.clip(exponent + slack, math.log(TINY), 0.0))

    def least_epsilon(self, delta: Fraction) -> Fraction | None:
        """Return the bound of Canonne, Kamath and Steinke, or for large delta what the corner gives."""
        if self._rho == 0:
            return Fraction(0)
        if delta == 0:
            return None
        epsilon = zcdp_epsilon(delta=delta, rho=self._rho)
        if self._corner is not None:
            alpha, beta, slope = self._corner
            number = max(Fraction(1), (1 - beta - delta) / alpha)
            at_corner = log_up(number) if number > 1 else Fraction(0)
            if at_corner < 100 and exp_up(at_corner) <= slope:
                epsilon = min(epsilon, at_corner)
        return epsilon
