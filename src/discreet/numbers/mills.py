"""Mills' ratio, from which all Gaussian probabilities follow: two classical expansions in integers rounded outward.

Proof: docs/proofs/accounting.md
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.numbers.intervals import ends

if TYPE_CHECKING:
    from fractions import Fraction

    from discreet.numbers.intervals import Arithmetic, Interval

# Between the series and the continued fraction; both hold everywhere, so this is about speed alone.
_SERIES_LIMIT = 8


def log_normal_density(x: Interval, reals: Arithmetic) -> Interval:
    """Return the logarithm of the standard normal density."""
    return -(x**2) / 2 - reals.log(2 * reals.pi) / 2


def normal_density(x: Interval, reals: Arithmetic) -> Interval:
    """Return the standard normal density."""
    return reals.exp(log_normal_density(x, reals))


def normal_tail(x: Interval, reals: Arithmetic) -> Interval:
    """Return the probability that a standard normal number exceeds `x`."""
    return normal_density(x, reals) * mills(x, reals)


def mills(x: Interval, reals: Arithmetic) -> Interval:
    """Return Mills' ratio `(1 - Phi(x)) / phi(x)`, a decreasing function of x, on an interval."""
    low, high = ends(x)
    return reals.between_ends(_mills_at(high, reals), _mills_at(low, reals))


def _mills_at(x: Fraction, reals: Arithmetic) -> Interval:
    digits = reals.bits + 16 + abs(int(x)).bit_length()
    unit = 1 << digits
    if x < -_SERIES_LIMIT:
        # M(x) + M(-x) = 1/phi(x): both tails make the whole.
        return reals.exp(-log_normal_density(reals.of(x), reals)) - _mills_at(-x, reals)
    # The ratio decreases, so the point may be moved: up for the lower limit, down for the upper.
    point_low, point_high = x.numerator * unit // x.denominator, -(-x.numerator * unit // x.denominator)
    if x > _SERIES_LIMIT:
        low, high = (
            _continued_fraction(point_high, digits, reals.bits)[0],
            _continued_fraction(point_low, digits, reals.bits)[1],
        )
        return reals.dyadic(low, high, digits)
    half = reals.exp(reals.of(x) ** 2 / 2) * reals.sqrt(reals.pi / 2)
    return half - reals.dyadic(_series(point_low, digits)[0], _series(point_high, digits)[1], digits)


def _series(x: int, digits: int) -> tuple[int, int]:
    """Limits of sum_k x**(2k+1) / (1 * 3 * ... * (2k+1)), all scaled by 2**digits; an odd, increasing function."""
    if x < 0:
        low, high = _series(-x, digits)
        return -high, -low
    square_low, square_high = (x * x) >> digits, ((x * x) >> digits) + 1
    low = high = term_low = term_high = x
    odd = 1
    while True:
        odd += 2
        term_low = ((term_low * square_low) >> digits) // odd
        term_high = ((term_high * square_high) >> digits) // odd + 1
        low, high = low + term_low, high + term_high
        # Once x**2 is at most half the next odd number, what is left is at most the last term.
        if term_high <= 2 and 2 * square_high <= (odd + 2) << digits:
            return low, high + term_high


def _continued_fraction(x: int, digits: int, bits: int) -> tuple[int, int]:
    """Limits of 1/(x + 1/(x + 2/(x + 3/(x + ...)))) for x > 0, all scaled by 2**digits.

    Every tail t_k = x + k/t_(k+1) lies in [x, x + k/x]; that interval is carried inward from a depth that only
    decides how narrow the answer is.
    """
    depth = _depth(float(min(x >> digits, 10**9)), bits)
    low, high = x, x + ((depth << (2 * digits)) // x) + 1
    for k in range(depth - 1, -1, -1):
        numerator = max(k, 1) << (2 * digits)
        offset = x if k else 0
        low, high = offset + numerator // high, offset + numerator // low + 1
    return low, high


def _depth(x: float, bits: int) -> int:
    # The step from t_(k+1) to t_k divides an error by t**2/k, where t = x + k/t.
    gained, depth = 0.0, 0
    while gained < bits + 8:
        depth += 1
        tail = (x + math.sqrt(x * x + 4 * depth)) / 2
        gained += math.log2(tail * tail / depth)
    return depth
