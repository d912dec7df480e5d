"""Numbers rounded to a stated side: to fewer digits, to floats, and from elementary functions.

Exact answers have 64 significant bits; an answer that must not be too large ends in `..._down`, one that must not be
too small in `..._up`.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.numbers import intervals

# Answers have this many significant bits. Noise parameters are coarser, so that the epsilon achieved, rounded up, is
# not above the epsilon asked for.
ANSWER_BITS = 64
PARAMETER_BITS = 48
# Beyond exp(+-LARGEST) no two values are told apart any more: the limits stay on their side, but stop following.
LARGEST = 2000


def round_up(number: Fraction, bits: int = ANSWER_BITS) -> Fraction:
    """Return the smallest rational of `bits` significant bits that is at least `number`."""
    return -round_down(-number, bits)


def round_down(number: Fraction, bits: int = ANSWER_BITS) -> Fraction:
    """Return the largest rational of `bits` significant bits that is at most `number`."""
    step = last_place(number, bits)
    return number if step == 0 else (number // step) * step


def last_place(number: Fraction, bits: int) -> Fraction:
    """Return a power of two such that number/step has `bits` or `bits` + 1 binary digits; 0 for 0."""
    if number == 0:
        return Fraction(0)
    magnitude = abs(number.numerator).bit_length() - number.denominator.bit_length()
    return Fraction(2) ** (magnitude - bits)


def exp_limits(x: Fraction) -> tuple[Fraction, Fraction]:
    """Return certain limits of exp(x), 2**-80 of it apart, for x of size at most `LARGEST`."""
    if x == 0:
        return Fraction(1), Fraction(1)
    if x < 0:
        low, high = exp_limits(-x)
        return 1 / high, 1 / low
    width = intervals.WIDTH * Fraction(2) ** int(x * Fraction(144, 100))
    return intervals.refined(lambda reals: reals.exp(reals.of(x)), width=width)


def exp_down(x: Fraction) -> Fraction:
    """Return a number at most exp(x), and nearly it where x is of size at most `LARGEST`."""
    return Fraction(0) if x < -LARGEST else exp_limits(min(x, Fraction(LARGEST)))[0]


def exp_up(x: Fraction) -> Fraction:
    """Return a number at least exp(x), for x <= `LARGEST`."""
    return exp_limits(max(x, Fraction(-LARGEST)))[1]


def log_up(number: Fraction) -> Fraction:
    """Return a number at least log(number), for number > 0."""
    return round_up(intervals.refined(lambda reals: reals.log_of(number))[1])


def log_down(number: Fraction) -> Fraction:
    """Return a number at most log(number), for number > 0."""
    return -log_up(1 / number)


def float_down(number: Fraction) -> float:
    """Return the largest float at most `number`."""
    try:
        near = float(number)
    except OverflowError:
        near = math.inf if number > 0 else -math.inf
    if math.isfinite(near) and near <= number:
        return near
    return near if near == -math.inf else math.nextafter(near, -math.inf)


def float_up(number: Fraction) -> float:
    """Return the smallest float at least `number`, infinity included."""
    return 0.0 - float_down(-number)
