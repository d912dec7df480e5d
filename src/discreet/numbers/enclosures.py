"""Real functions between two certain limits: what every conversion of a guarantee rests on.

Intervals are mpmath's, by `interval_arithmetic`. Mills' ratio, from which all Gaussian probabilities follow, is
enclosed here by two classical expansions with integer arithmetic rounded outward.

Proof: docs/proofs/accounting.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable

# Answers have this many significant bits, and enclosures are refined until they are narrower. Noise parameters are
# coarser, so that the epsilon achieved, rounded up, is not above the epsilon asked for.
ANSWER_BITS = 64
PARAMETER_BITS = 48
WIDTH = Fraction(1, 2**80)
FIRST_BITS = 160
# Between the series and the continued fraction of Mills' ratio; both hold everywhere, so this is about speed alone.
_SERIES_LIMIT = 8

Interval = Any  # mpmath has no types


def arithmetic(bits: int) -> Any:
    """Return interval arithmetic of `bits` bits, which offers mpf (also of two ends) and sqrt."""
    from discreet.numbers import interval_arithmetic

    return interval_arithmetic.context(bits)


def exp(x: Interval, bits: int) -> Interval:
    """Return an enclosure of the exponential."""
    from discreet.numbers import interval_arithmetic

    return interval_arithmetic.exp(x, bits)


def log(x: Interval, bits: int) -> Interval:
    """Return an enclosure of the logarithm of something positive."""
    from discreet.numbers import interval_arithmetic

    return interval_arithmetic.log(x, bits)


def pi(bits: int) -> Interval:
    """Return an enclosure of pi."""
    from discreet.numbers import interval_arithmetic

    return interval_arithmetic.pi(bits)


def enclose(number: Fraction, bits: int) -> Interval:
    """Return the narrowest interval of `bits` bits that holds `number`."""
    context = arithmetic(bits)
    return context.mpf(number.numerator) / context.mpf(number.denominator)


def _as_fraction(raw: Any) -> Fraction:
    sign, mantissa, exponent, _ = raw
    size = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -size if sign else size


def ends(interval: Interval) -> tuple[Fraction, Fraction]:
    """Return the two exact ends of a finite interval."""
    low, high = interval._mpi_  # the only way to its exact ends
    return _as_fraction(low), _as_fraction(high)


def round_up(number: Fraction, bits: int = ANSWER_BITS) -> Fraction:
    """Return the smallest rational of `bits` significant bits that is at least `number`."""
    return -round_down(-number, bits)


def round_down(number: Fraction, bits: int = ANSWER_BITS) -> Fraction:
    """Return the largest rational of `bits` significant bits that is at most `number`."""
    step = _step(number, bits)
    return number if step == 0 else (number // step) * step


def _step(number: Fraction, bits: int) -> Fraction:
    # A power of two such that number/step has `bits` or `bits` + 1 binary digits.
    if number == 0:
        return Fraction(0)
    magnitude = abs(number.numerator).bit_length() - number.denominator.bit_length()
    return Fraction(2) ** (magnitude - bits)


def refined(
    enclosure: Callable[[int], Interval | None], *, width: Fraction = WIDTH, bits: int = FIRST_BITS
) -> tuple[Fraction, Fraction]:
    """Return the ends of `enclosure(bits)` at the first precision that makes it no wider than `width`.

    `enclosure` answers None where the precision does not suffice to say anything.

    Raises
    ------
    InvalidArgument
        If no precision in use suffices, as for numbers with thousands of digits.
    """
    from discreet.numbers.interval_arithmetic import MOST_BITS

    while bits <= MOST_BITS:
        interval = enclosure(bits)
        if interval is not None:
            low, high = ends(interval)
            if high - low <= width:
                return low, high
        bits *= 2
    raise InvalidArgument(
        "A number is too extreme to be priced. Keep `epsilon`, `delta`, `mu` and `rho` between 1e-1000 and 1e1000."
    )


def newton(step: Callable[[Fraction], Fraction], start: Fraction) -> Fraction:
    """Return where Newton's method from `start` > 0 comes to rest; it is a guess, to be certified by the caller."""
    point = start
    for _ in range(200):
        following = round_down(min(max(point + step(point), point / 16), point * 16), 2 * ANSWER_BITS)
        settled = abs(following - point) <= point / 2 ** (ANSWER_BITS + 8)
        point = following
        if settled:
            break
    return point


def certified(guess: Fraction, holds: Callable[[Fraction], bool], *, upward: bool, bits: int = ANSWER_BITS) -> Fraction:
    """Return the first number of `bits` significant bits, from `guess` on, of which `holds` is certainly true.

    The search goes upward or downward in steps that double, so the answer is on the safe side whatever the guess.
    """
    candidate = round_up(guess, bits) if upward else round_down(guess, bits)
    step = _step(guess, bits)
    while not holds(candidate):
        candidate = candidate + step if upward else max(candidate - step, candidate / 2)
        step *= 2
    return candidate


def log_of(number: Fraction, bits: int) -> Interval:
    """Return the logarithm of a positive rational."""
    return log(enclose(number, bits), bits)


def log_normal_density(x: Interval, bits: int) -> Interval:
    """Return the logarithm of the standard normal density."""
    return -(x**2) / 2 - log(2 * pi(bits), bits) / 2


def mills(x: Interval, bits: int) -> Interval:
    """Return Mills' ratio `(1 - Phi(x)) / phi(x)`, a decreasing function of x, on an interval."""
    low, high = ends(x)
    context = arithmetic(bits)
    below, above = _mills_at(high, bits), _mills_at(low, bits)
    return context.mpf([below.a, above.b])


def _mills_at(x: Fraction, bits: int) -> Interval:
    context = arithmetic(bits)
    digits = bits + 16 + abs(int(x)).bit_length()
    unit = 1 << digits
    if x < -_SERIES_LIMIT:
        # M(x) + M(-x) = 1/phi(x): both tails make the whole.
        return exp(-log_normal_density(enclose(x, bits), bits), bits) - _mills_at(-x, bits)
    # The ratio decreases, so the point may be moved: up for the lower limit, down for the upper.
    point_low, point_high = x.numerator * unit // x.denominator, -(-x.numerator * unit // x.denominator)
    if x > _SERIES_LIMIT:
        low, high = _continued_fraction(point_high, digits, bits)[0], _continued_fraction(point_low, digits, bits)[1]
        return context.mpf([context.mpf(low).a, context.mpf(high).b]) / unit
    low, high = _series(point_low, digits)[0], _series(point_high, digits)[1]
    half = exp(enclose(x, bits) ** 2 / 2, bits) * context.sqrt(pi(bits) / 2)
    return half - context.mpf([context.mpf(low).a, context.mpf(high).b]) / unit


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
