"""Gaussian noise: epsilon, delta and mu from each other, never understated.

With a = epsilon/mu - mu/2, b = epsilon/mu + mu/2 and Mills' ratio M, the exact privacy of a Gaussian release is ::

    delta(epsilon, mu) = Phi(-a) - exp(epsilon) * Phi(-b) = phi(a) * (M(a) - M(b))

because exp(epsilon) * phi(b) = phi(a). The second form keeps its digits in the far tail, where the first has none.
Functions take the square of mu, which is always rational.

Proof: docs/proofs/accounting.md.
Source: Balle and Wang 2018 (the exact curve); Dong, Roth and Su 2022 (mu-GDP, Pure to Gdp).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet import _checks
from discreet.errors import InvalidArgument
from discreet.numbers.intervals import FIRST_BITS, WIDTH, Arithmetic, Interval, enclose, ends, refined
from discreet.numbers.mills import log_normal_density, mills
from discreet.numbers.outward import PARAMETER_BITS, round_up
from discreet.numbers.roots import certified, newton, root_up

# Smaller probabilities count as this one, the smallest positive double: rounded up, and never 0 as a float.
SMALLEST_DELTA = Fraction(1, 2**1074)
# The square of the largest mu of which a delta is computed; beyond, a release hides nothing.
_LARGEST_SQUARE = Fraction(10**450)
# Further out than this on the left, phi(a) * M(a) = 1 - phi(a) * M(-a) loses nothing.
_FAR_LEFT = -6
_HALF_LOG_TWO_PI = math.log(2 * math.pi) / 2


def _log_delta(epsilon: Fraction, mu_squared: Fraction, reals: Arithmetic) -> Interval | None:
    """Enclose log(delta); None where the digits do not tell delta from 0."""
    mu = reals.sqrt(reals.of(mu_squared))
    ratio = reals.of(epsilon) / mu
    a, b = ratio - mu / 2, ratio + mu / 2
    log_density = log_normal_density(a, reals)
    if ends(a)[1] < _FAR_LEFT:
        inside = 1 - reals.exp(log_density) * (mills(-a, reals) + mills(b, reals))
        return reals.log(inside) if ends(inside)[0] > 0 else None
    difference = mills(a, reals) - mills(b, reals)
    return log_density + reals.log(difference) if ends(difference)[0] > 0 else None


def log_delta_limits(epsilon: Fraction, mu_squared: Fraction) -> tuple[Fraction, Fraction]:
    """Return certain limits of log(delta), at most 2**-80 apart, for `mu_squared` > 0."""
    if mu_squared > _LARGEST_SQUARE:
        raise InvalidArgument("`mu` must be at most 1e225 to be priced; found a larger one. Give a value nearer to 1.")
    return refined(lambda reals: _log_delta(epsilon, mu_squared, reals))


def _reciprocal_difference(epsilon: Fraction, mu: Fraction, log_delta: Fraction) -> float:
    """Approximate 1 / (M(a) - M(b)) = phi(a) / delta, the slope of log(delta) in mu."""
    a = epsilon / mu - mu / 2
    # Where delta is nearly 1 the slope would leave the doubles; a guess need not.
    return math.exp(max(-500.0, float(-a * a / 2 - log_delta) - _HALF_LOG_TWO_PI))


def log_limits(number: Fraction) -> tuple[Fraction, Fraction]:
    """Return certain limits of the logarithm of a positive rational."""
    return refined(lambda reals: reals.log_of(number))


def gaussian_log_delta(*, epsilon: Any, mu: Any) -> Fraction:
    """Return the natural logarithm of the smallest delta of a mu-GDP release at `epsilon`, rounded up.

    Parameters
    ----------
    epsilon : number or text
        In nats, at least 0.
    mu : number or text
        Greater than 0.

    Examples
    --------
    >>> round(float(gaussian_log_delta(epsilon=40, mu=1)), 6)
    -788.423413
    """
    square = _checks.exact_positive(mu, "mu") ** 2
    _, high = log_delta_limits(_checks.exact_nonnegative(epsilon, "epsilon"), square)
    return min(Fraction(0), round_up(high))


def gaussian_delta(*, epsilon: Any, mu: Any) -> Fraction:
    """Return the smallest delta of a mu-GDP release at `epsilon`, rounded up.

    Parameters
    ----------
    epsilon : number or text
        In nats, at least 0.
    mu : number or text
        At least 0; a Gaussian release of L2 sensitivity s and standard deviation sigma has mu = s / sigma.

    Returns
    -------
    Fraction
        At most 1. Where the truth is below 2**-1074 (the smallest positive double) it is that number, never 0:
        `gaussian_log_delta` goes further.

    Guarantee
    ---------
    Never below the true delta. Proof: docs/proofs/accounting.md

    Examples
    --------
    >>> round(float(gaussian_delta(epsilon=1, mu=1)), 6)
    0.126937
    """
    square = _checks.exact_nonnegative(mu, "mu") ** 2
    return delta_of(_checks.exact_nonnegative(epsilon, "epsilon"), square)


@lru_cache(maxsize=1024)
def delta_of(epsilon: Fraction, mu_squared: Fraction) -> Fraction:
    """`gaussian_delta` of a squared mu."""
    if mu_squared == 0:
        return Fraction(0)
    _, high = log_delta_limits(epsilon, mu_squared)
    if high < -745:  # below log(2**-1074)
        return SMALLEST_DELTA
    _, delta = refined(lambda reals: reals.exp(reals.of(high)))
    return min(Fraction(1), max(SMALLEST_DELTA, round_up(delta)))


def gaussian_epsilon(*, delta: Any, mu: Any) -> Fraction:
    """Return the smallest epsilon of a mu-GDP release at `delta`, rounded up.

    Parameters
    ----------
    delta : number or text
        `0 < delta < 1`: for delta = 0 no finite epsilon exists.
    mu : number or text
        At least 0.

    Guarantee
    ---------
    Never below the true epsilon. Proof: docs/proofs/accounting.md

    Examples
    --------
    >>> round(float(gaussian_epsilon(delta=1e-5, mu=1)), 4)
    4.3772
    """
    return epsilon_of(positive_delta(delta), _checks.exact_nonnegative(mu, "mu") ** 2)


def positive_delta(delta: Any) -> Fraction:
    """Return `delta` as an exact rational with 0 < delta < 1."""
    number = _checks.exact_delta(delta)
    if number > 0:
        return number
    raise InvalidArgument("`delta` must be greater than 0: noise of unbounded likelihood ratio has no finite epsilon.")


@lru_cache(maxsize=1024)
def epsilon_of(delta: Fraction, mu_squared: Fraction) -> Fraction:
    """`gaussian_epsilon` of a squared mu."""
    if mu_squared == 0:
        return Fraction(0)
    target = log_limits(delta)[0]

    def suffices(epsilon: Fraction) -> bool:
        return log_delta_limits(epsilon, mu_squared)[1] <= target

    if suffices(Fraction(0)):
        return Fraction(0)
    mu = root_up(mu_squared)

    def step(epsilon: Fraction) -> Fraction:
        log_delta = log_delta_limits(epsilon, mu_squared)[1]
        slope = float(_mills_up(epsilon / mu + mu / 2)) * _reciprocal_difference(epsilon, mu, log_delta)
        return (log_delta - target) / Fraction(slope)

    # The printed lemma of Bun and Steinke is above the truth, and from there Newton's method falls monotonically.
    start = mu_squared / 2 + mu * root_up(-2 * target)
    return certified(newton(step, start), suffices, upward=True)


def gaussian_mu(*, epsilon: Any, delta: Any) -> Fraction:
    """Return the largest mu whose GDP implies (epsilon, delta)-DP, rounded down.

    A Gaussian release of L2 sensitivity s needs the standard deviation s / mu.

    Parameters
    ----------
    epsilon : number or text
        In nats, at least 0.
    delta : number or text
        `0 <= delta < 1`; for delta = 0 the answer is 0.

    Guarantee
    ---------
    The delta of the answer at `epsilon` is certainly at most `delta`. Proof: docs/proofs/accounting.md

    Examples
    --------
    >>> round(float(gaussian_mu(epsilon=1, delta=1e-5)), 5)
    0.26805
    """
    return mu_of(_checks.exact_nonnegative(epsilon, "epsilon"), _checks.exact_delta(delta))


@lru_cache(maxsize=1024)
def mu_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    """`gaussian_mu` of checked numbers."""
    if delta == 0:
        return Fraction(0)
    target = log_limits(delta)[0]

    def suffices(mu: Fraction) -> bool:
        return log_delta_limits(epsilon, mu * mu)[1] <= target

    def step(mu: Fraction) -> Fraction:
        log_delta = log_delta_limits(epsilon, mu * mu)[1]
        return (target - log_delta) / Fraction(_reciprocal_difference(epsilon, mu, log_delta))

    # Two lower limits of the truth, from where Newton's method climbs monotonically: the lemma of Bun and Steinke,
    # and delta(epsilon, mu) <= delta(0, mu) <= mu / sqrt(2 pi).
    root = root_up(-2 * target)
    start = max(2 * epsilon / (root_up(-2 * target + 2 * epsilon) + root), 2 * delta)
    guess = newton(step, start)
    return certified(guess, suffices, upward=False, bits=PARAMETER_BITS)


@lru_cache(maxsize=1024)
def mu_of_pure(epsilon: Fraction) -> Fraction:
    """Return the smallest mu of every epsilon-DP release, 2 Phi^-1(e^epsilon / (1 + e^epsilon)), rounded up."""
    if epsilon == 0:
        return Fraction(0)
    # Near epsilon = 0 both sides tend to 1/2, so their difference needs more digits.
    width = WIDTH * min(Fraction(1), epsilon)

    def log_tail(reals: Arithmetic) -> Interval:
        return -reals.of(epsilon) - reals.log(1 + reals.exp(-reals.of(epsilon)))

    target = refined(log_tail, width=width)[0]

    def log_upper_tail(x: Fraction, reals: Arithmetic) -> Interval:
        point = reals.of(x)
        return log_normal_density(point, reals) + reals.log(mills(point, reals))

    def limit(half_mu: Fraction) -> Fraction:
        return refined(lambda reals: log_upper_tail(half_mu, reals), width=width)[1]

    def step(half_mu: Fraction) -> Fraction:
        return (limit(half_mu) - target) * _mills_up(half_mu)

    # Phi(-x) <= exp(-x**2 / 2) / 2, so the root of 2 epsilon is above the truth.
    start = root_up(2 * epsilon)
    half = certified(newton(step, start), lambda x: limit(x) <= target, upward=True)
    return 2 * half


def _mills_up(x: Fraction) -> Fraction:
    return enclose(lambda reals: mills(reals.of(x), reals), FIRST_BITS)[1]
