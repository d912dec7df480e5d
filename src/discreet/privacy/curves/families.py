"""The curves of the four currencies and of Laplace noise, each in closed form.

==================  ==========================================================================================
`EpsilonDelta`      ``max(0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha))``
`GaussianCurve`     ``Phi(Phi^-1(1 - alpha) - mu)``
`LaplaceCurve`      two Laplace laws of scale 1, `epsilon` apart
`ConcentratedCurve`  what rho-zCDP implies: with L = -log(alpha) and M = -log(1 - alpha) the larger of
                    ``1 - exp(-(sqrt(L) - sqrt(rho))^2)`` (where L > rho) and ``exp(-(sqrt(rho) + sqrt(M))^2)``
==================  ==========================================================================================

All are symmetric. Proof: docs/proofs/tradeoff.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from discreet.numbers.intervals import Arithmetic, Interval, enclose, refined
from discreet.numbers.mills import normal_tail
from discreet.numbers.outward import LARGEST, exp_down, exp_up, float_down, float_up, log_up, round_down
from discreet.numbers.roots import rational_root, root_up
from discreet.privacy.curves.tradeoff import SHADE, TINY, TradeoffFunction, shade_down
from discreet.privacy.gaussian_accounting import delta_of, epsilon_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_ABSOLUTE = 2.0**-46


class SymmetricCurve(TradeoffFunction):
    """A curve that holds for both orders of two neighbours."""

    def inverse(self) -> TradeoffFunction:
        """Return the curve itself."""
        return self


def _scaled(epsilon: float, alphas: Floats) -> Floats:
    """Return the smaller of 1 and exp(epsilon) * alpha, rounded up, without overflow."""
    logs: Floats = np.log(np.maximum(alphas, 5e-324))
    return np.exp(np.minimum(epsilon + logs, 0.0)) * (1 + SHADE)


class EpsilonDelta(SymmetricCurve):
    """What (epsilon, delta)-DP says: two lines.

    Parameters
    ----------
    epsilon : Fraction
        In nats, at least 0.
    delta : Fraction
        In [0, 1).
    """

    def __init__(self, *, epsilon: Fraction, delta: Fraction) -> None:
        self._epsilon, self._delta = epsilon, delta

    @property
    def numbers(self) -> tuple[Fraction, Fraction]:
        """Epsilon and delta."""
        return self._epsilon, self._delta

    def __repr__(self) -> str:
        return f"EpsilonDelta(epsilon={self._epsilon}, delta={self._delta})"

    def lower_beta(self, alpha: Fraction) -> Fraction:
        """Return the curve, rounded down."""
        rest = 1 - self._delta
        if alpha == 0 or self._epsilon == 0:
            return rest - alpha
        steep = rest - exp_up(self._epsilon) * alpha if self._epsilon <= LARGEST else Fraction(0)
        return round_down(max(Fraction(0), steep, exp_down(-self._epsilon) * (rest - alpha)))

    def float_betas(self, alphas: Floats) -> Floats:
        """Return the curve in floats, rounded down."""
        rest, epsilon = float_down(1 - self._delta), float_up(min(self._epsilon, Fraction(10**4)))
        steep = np.where(alphas == 0, rest, rest - _scaled(epsilon, alphas) - 2.0**-52)
        flat = shade_down(math.exp(-epsilon) * (rest - alphas))
        return np.maximum(steep, flat)

    def upper_delta(self, epsilon: Fraction) -> Fraction:
        """Return delta, or for less than the curve's epsilon what its corner gives."""
        if epsilon >= self._epsilon:
            return self._delta
        if self._epsilon > LARGEST:
            return Fraction(1)
        # 1 - (1 - delta) (1 + e^epsilon) / (1 + e^curve's epsilon)
        return 1 - (1 - self._delta) * (1 + exp_down(epsilon)) / (1 + exp_up(self._epsilon))

    def float_deltas(self, epsilons: Floats) -> Floats:
        """Return `upper_delta` in floats."""
        epsilon, delta = float_up(min(self._epsilon, Fraction(10**300))), float_up(self._delta)
        # (e^own - e^x) / (1 + e^own), without overflow
        drop = -np.expm1(np.minimum(epsilons - epsilon, 0.0)) / (1 + math.exp(-epsilon))
        corner = delta + (1 - delta) * drop
        return np.minimum(1.0, np.where(epsilons >= epsilon, delta, corner * (1 + SHADE)))

    def least_epsilon(self, delta: Fraction) -> Fraction | None:
        """Return the least epsilon at `delta`, rounded up; infinity below the curve's own delta."""
        if delta < self._delta:
            return None
        if delta == self._delta or self._epsilon > LARGEST:
            return self._epsilon
        # e^epsilon = (1 - delta)/(1 - own delta) * (1 + e^own) - 1
        number = (1 - delta) / (1 - self._delta) * (1 + exp_up(self._epsilon)) - 1
        return Fraction(0) if number <= 1 else min(self._epsilon, log_up(number))


class GaussianCurve(SymmetricCurve):
    """How well N(0, 1) and N(mu, 1) can be told apart: what mu-GDP says.

    Parameters
    ----------
    mu_squared : Fraction
        At least 0.
    """

    def __init__(self, mu_squared: Fraction) -> None:
        self._square = mu_squared
        self._mu = root_up(mu_squared)

    def __repr__(self) -> str:
        exact = rational_root(self._square)
        gdp = f"Gdp.from_squared({self._square})" if exact is None else f"Gdp(mu={exact})"
        return f"{gdp}.tradeoff()"

    @property
    def mu_squared(self) -> Fraction:
        """The square of the distance of the two Gaussians, in standard deviations."""
        return self._square

    def lower_beta(self, alpha: Fraction) -> Fraction:
        """Return the curve, rounded down: any tangent is below it, and one at a good guess is nearly on it."""
        if self._square == 0 or alpha in (0, 1):
            return 1 - alpha
        threshold = _normal_quantile(alpha)
        if threshold - self._mu < -60:  # below 1e-780
            return Fraction(0)

        def tangent(reals: Arithmetic) -> Interval:
            x, mu = reals.of(threshold), reals.sqrt(reals.of(self._square))
            slope = reals.exp(mu * x - mu**2 / 2)
            return normal_tail(mu - x, reals) - slope * (reals.of(alpha) - normal_tail(x, reals))

        low, _ = enclose(tangent, 256)
        return round_down(max(Fraction(0), low))

    def float_betas(self, alphas: Floats) -> Floats:
        """Return the curve in floats, rounded down."""
        from scipy.special import ndtr, ndtri

        return shade_down(ndtr(-ndtri(alphas) - float_up(self._mu)))

    def upper_delta(self, epsilon: Fraction) -> Fraction:
        """Return the exact delta of a Gaussian release, rounded up."""
        return delta_of(epsilon, self._square)

    def float_deltas(self, epsilons: Floats) -> Floats:
        """Return `upper_delta` in floats: phi(a) (M(a) - M(b)), or Phi(-a) - phi(a) M(b) for negative a."""
        from scipy.special import erfcx, ndtr

        if self._square == 0:
            return np.zeros_like(epsilons)
        mu = float_up(self._mu)
        a, b = epsilons / mu - mu / 2, epsilons / mu + mu / 2
        density = np.exp(-np.minimum(a * a / 2, 800.0))
        far = erfcx(b / math.sqrt(2)) / 2
        near = erfcx(np.maximum(a, 0) / math.sqrt(2)) / 2
        right = density * ((near - far) + _ABSOLUTE * near * (1 + a * a))
        left = ndtr(-a) - density * far + _ABSOLUTE
        deltas: Floats = np.clip(np.where(a > 0, right, left) * (1 + SHADE), TINY, 1.0)
        return deltas

    def least_epsilon(self, delta: Fraction) -> Fraction | None:
        """Return the exact epsilon of a Gaussian release, rounded up; infinity at delta = 0."""
        if self._square == 0:
            return Fraction(0)
        return epsilon_of(delta, self._square) if delta > 0 else None


def _normal_quantile(alpha: Fraction) -> Fraction:
    """Return about the x above which a standard normal lies with probability `alpha`, strictly between 0 and 1."""
    if alpha > Fraction(1, 2):
        return -_normal_quantile(1 - alpha)
    if alpha > Fraction(1, 10**300):
        return Fraction(-NormalDist().inv_cdf(float(alpha)))
    # Newton's method on log of the tail, which is -x**2/2 - log(x sqrt(2 pi)) - 1/x**2 up to x**-4.
    goal = -float(refined(lambda reals: reals.log_of(alpha))[0])
    x = math.sqrt(2 * goal)
    for _ in range(8):
        x -= (x * x / 2 + math.log(x * math.sqrt(2 * math.pi)) + 1 / x**2 - goal) / (x + 1 / x)
    return Fraction(x)


class LaplaceCurve(SymmetricCurve):
    """How well two Laplace laws of scale 1 can be told apart that are `epsilon` apart.

    Parameters
    ----------
    epsilon : Fraction
        Sensitivity over scale, at least 0. For *one* number: an array has only the curve of its epsilon.
    """

    def __init__(self, epsilon: Fraction) -> None:
        self._epsilon = epsilon

    def __repr__(self) -> str:
        return f"LaplaceCurve({self._epsilon})"

    @property
    def span(self) -> Fraction:
        """The distance of the two laws in scales, which is the least epsilon at delta = 0."""
        return self._epsilon

    def lower_beta(self, alpha: Fraction) -> Fraction:
        """Return the curve, rounded down."""
        if alpha in (0, 1) or self._epsilon == 0:
            return 1 - alpha
        shrunk = exp_down(-self._epsilon)
        if 2 * alpha >= 1:
            return round_down(shrunk * (1 - alpha))
        # Beyond the corner the hyperbola is below the line, so the larger of both is the curve.
        middle = shrunk / (4 * alpha)
        steep = 1 - exp_up(self._epsilon) * alpha if self._epsilon <= LARGEST else Fraction(0)
        return round_down(steep if 2 * steep > 1 else min(middle, Fraction(1, 2)))

    def float_betas(self, alphas: Floats) -> Floats:
        """Return the curve in floats, rounded down."""
        epsilon = float_up(min(self._epsilon, Fraction(10**4)))
        safe = np.maximum(alphas, 1e-300)
        steep = 1 - _scaled(epsilon, alphas)
        # One exponential: exp(-epsilon) by itself has too few digits where epsilon is large.
        middle = np.minimum(0.5, shade_down(np.exp(np.minimum(0.0, -epsilon - np.log(4 * safe)))))
        left = np.where(steep > 0.5, steep - 2.0**-52, np.where(alphas > 0, middle, 1.0))
        return np.where(alphas >= 0.5, shade_down(math.exp(-epsilon) * (1 - alphas)), left)

    def upper_delta(self, epsilon: Fraction) -> Fraction:
        """Return 1 - exp((epsilon - own epsilon) / 2), or 0 from its own epsilon on."""
        return max(Fraction(0), 1 - exp_down((epsilon - self._epsilon) / 2)) if epsilon < self._epsilon else Fraction(0)

    def float_deltas(self, epsilons: Floats) -> Floats:
        """Return `upper_delta` in floats."""
        gap = np.minimum(0.0, (epsilons - float_up(self._epsilon)) / 2)
        return np.minimum(1.0, -np.expm1(gap) * (1 + SHADE))

    def least_epsilon(self, delta: Fraction) -> Fraction | None:
        """Return own epsilon + 2 log(1 - delta), at least 0, rounded up."""
        return max(Fraction(0), self._epsilon + (2 * log_up(1 - delta) if delta else 0))
