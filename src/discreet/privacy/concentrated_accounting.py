"""Zero-concentrated privacy: rho, epsilon and delta from each other, never understated.

For every order alpha > 1 a rho-zCDP release has ::

    log(delta) <= (alpha - 1) * (alpha * rho - epsilon + log(1 - 1/alpha)) - log(alpha)

(Canonne, Kamath and Steinke 2020, Proposition 7). Since *every* order gives a sound answer, the best one is looked
for in floats, and the answer is computed from it once, with outward rounding.

Proof: docs/proofs/accounting.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from discreet import _checks
from discreet.numbers.intervals import WIDTH, Arithmetic, Interval, refined
from discreet.numbers.outward import PARAMETER_BITS, round_down, round_up
from discreet.privacy.gaussian_accounting import SMALLEST_DELTA, log_limits, positive_delta

if TYPE_CHECKING:
    from collections.abc import Callable

# Orders are searched between 1 + exp(-_REACH) and 1 + exp(_REACH).
_REACH = 600.0


def _order(rising: Callable[[float], float]) -> Fraction:
    """Return the order at which a function that rises with alpha - 1 changes its sign, roughly; always above 1."""
    low, high = -_REACH, _REACH
    for _ in range(64):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(math.exp(middle)) > 0 else (middle, high)
    # The optimum is flat, and fewer digits make the answer independent of a platform's last bits.
    return 1 + round_up(Fraction(math.exp(high)), 32)


def _log_shrink(alpha: Fraction, reals: Arithmetic) -> Interval:
    """Enclose log(1 - 1/alpha)."""
    return reals.log_of((alpha - 1) / alpha)


def _size(number: Fraction) -> float:
    """Return a positive rational as a float, cut to what the search for an order can use."""
    return float(min(max(number, Fraction(1, 2**900)), Fraction(2**900)))


def zcdp_delta(*, epsilon: Any, rho: Any) -> Fraction:
    """Return a delta of a rho-zCDP release at `epsilon`: the tight bound of Canonne, Kamath and Steinke, rounded up.

    Parameters
    ----------
    epsilon : number or text
        In nats, at least 0.
    rho : number or text
        At least 0.

    Returns
    -------
    Fraction
        At most 1, and at least 2**-1074 unless `rho` is 0.

    Guarantee
    ---------
    Never below what the theorem gives. Proof: docs/proofs/accounting.md

    Examples
    --------
    >>> zcdp_delta(epsilon=1, rho="0.03056") <= Fraction("1.003e-5")
    True
    """
    target, cost = _checks.exact_nonnegative(epsilon, "epsilon"), _checks.exact_nonnegative(rho, "rho")
    if cost == 0:
        return Fraction(0)
    eps, slope = float(min(target, Fraction(2**900))), _size(cost)
    alpha = _order(lambda t: (2 * t + 1) * slope - eps - math.log1p(1 / t))

    def log_delta(reals: Arithmetic) -> Interval:
        exponent = reals.of(alpha * cost - target) + _log_shrink(alpha, reals)
        return reals.of(alpha - 1) * exponent - reals.log_of(alpha)

    _, high = refined(log_delta)
    if high < -745:  # below log(2**-1074)
        return SMALLEST_DELTA
    if high >= 0:
        return Fraction(1)
    _, delta = refined(lambda reals: reals.exp(reals.of(high)))
    return min(Fraction(1), max(SMALLEST_DELTA, round_up(delta)))


def zcdp_epsilon(*, delta: Any, rho: Any) -> Fraction:
    """Return an epsilon of a rho-zCDP release at `delta`: the tight bound of Canonne, Kamath and Steinke, rounded up.

    Parameters
    ----------
    delta : number or text
        `0 < delta < 1`.
    rho : number or text
        At least 0.

    Guarantee
    ---------
    Never below what the theorem gives. Proof: docs/proofs/accounting.md

    Examples
    --------
    >>> round(float(zcdp_epsilon(delta=1e-5, rho=0.5)), 4)
    4.7284
    """
    return _epsilon_of(positive_delta(delta), _checks.exact_nonnegative(rho, "rho"))


@lru_cache(maxsize=1024)
def _epsilon_of(delta: Fraction, rho: Fraction) -> Fraction:
    if rho == 0:
        return Fraction(0)
    slope, log_delta = _size(rho), float(log_limits(delta)[1])
    # The derivative of epsilon in alpha has the sign of this.
    alpha = _order(lambda t: slope * t * t + math.log1p(t) + log_delta)

    def epsilon(reals: Arithmetic) -> Interval:
        rest = (reals.log_of(delta) + reals.log_of(alpha)) / reals.of(alpha - 1)
        return reals.of(alpha * rho) + _log_shrink(alpha, reals) - rest

    return max(Fraction(0), round_up(refined(epsilon)[1]))


def zcdp_rho(*, epsilon: Any, delta: Any) -> Fraction:
    """Return the largest rho whose zCDP implies (epsilon, delta)-DP by Canonne, Kamath and Steinke, rounded down.

    Parameters
    ----------
    epsilon : number or text
        In nats, at least 0.
    delta : number or text
        `0 <= delta < 1`; for delta = 0 the answer is 0.

    Guarantee
    ---------
    `zcdp_delta` of the answer at `epsilon` is at most `delta`. Proof: docs/proofs/accounting.md

    Examples
    --------
    >>> round(float(zcdp_rho(epsilon=1, delta=1e-5)), 5)
    0.03056
    """
    return _rho_of(_checks.exact_nonnegative(epsilon, "epsilon"), _checks.exact_delta(delta))


@lru_cache(maxsize=1024)
def _rho_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    if delta == 0:
        return Fraction(0)
    eps, log_delta = float(min(epsilon, Fraction(2**900))), float(log_limits(delta)[1])

    def excess(t: float) -> float:
        # epsilon minus the epsilon of the rho for which alpha = 1 + t is the best order.
        rest = -(log_delta + math.log1p(t)) / t
        return eps - ((1 + t) / t * rest + rest - math.log1p(1 / t))

    alpha = _order(excess)

    def rho(reals: Arithmetic) -> Interval:
        rest = (reals.log_of(delta) + reals.log_of(alpha)) / reals.of(alpha - 1)
        return (reals.of(epsilon) + rest - _log_shrink(alpha, reals)) / reals.of(alpha)

    return max(Fraction(0), round_down(refined(rho)[0], PARAMETER_BITS))


def bun_steinke_epsilon(*, delta: Any, rho: Any) -> Fraction:
    """Return `rho + 2 * sqrt(rho * log(1/delta))`, the printed lemma of Bun and Steinke, rounded up.

    Looser than `zcdp_epsilon`; kept under its own name for comparison with papers that use it.

    Examples
    --------
    >>> round(float(bun_steinke_epsilon(delta=1e-5, rho=0.5)), 4)
    5.2985
    """
    probability, cost = positive_delta(delta), _checks.exact_nonnegative(rho, "rho")

    def epsilon(reals: Arithmetic) -> Interval:
        root = reals.sqrt(-reals.log_of(probability) * reals.of(cost))
        return reals.of(cost) + 2 * root

    return round_up(refined(epsilon)[1])


def bun_steinke_rho(*, epsilon: Any, delta: Any) -> Fraction:
    """Return `(sqrt(log(1/delta) + epsilon) - sqrt(log(1/delta)))**2`, rounded down: the inverse of the printed lemma.

    Examples
    --------
    >>> round(float(bun_steinke_rho(epsilon=1, delta=1e-5)), 5)
    0.02082
    """
    target, probability = _checks.exact_nonnegative(epsilon, "epsilon"), positive_delta(delta)
    if target == 0:
        return Fraction(0)

    def root(reals: Arithmetic) -> Interval:
        # epsilon / (sqrt(L + epsilon) + sqrt(L)) is the same difference of roots without its cancellation.
        length = -reals.log_of(probability)
        return reals.of(target) / (reals.sqrt(length + reals.of(target)) + reals.sqrt(length))

    low, _ = refined(root, width=WIDTH * min(Fraction(1), target))
    return round_down(low * low, PARAMETER_BITS)
