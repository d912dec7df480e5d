"""Elementary functions with certain limits, and floats that leave on a stated side.

Exact answers have 64 significant bits; an answer that must not be too large ends in `..._down`, one that must not be
too small in `..._up`.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.numbers import enclosures

# Beyond exp(+-LARGEST) nothing is told apart any more: the limits stay on their side, but stop following.
LARGEST = 2000


def exp_limits(x: Fraction) -> tuple[Fraction, Fraction]:
    """Return certain limits of exp(x), 2**-80 of it apart, for x of size at most `LARGEST`."""
    if x == 0:
        return Fraction(1), Fraction(1)
    if x < 0:
        low, high = exp_limits(-x)
        return 1 / high, 1 / low
    width = enclosures.WIDTH * Fraction(2) ** int(x * Fraction(144, 100))
    return enclosures.refined(lambda bits: enclosures.exp(enclosures.enclose(x, bits), bits), width=width)


def exp_down(x: Fraction) -> Fraction:
    """Return a number at most exp(x), and nearly it where x is of size at most `LARGEST`."""
    return Fraction(0) if x < -LARGEST else exp_limits(min(x, Fraction(LARGEST)))[0]


def exp_up(x: Fraction) -> Fraction:
    """Return a number at least exp(x), for x <= `LARGEST`."""
    return exp_limits(max(x, Fraction(-LARGEST)))[1]


def log_up(number: Fraction) -> Fraction:
    """Return a number at least log(number), for number > 0."""
    return enclosures.round_up(enclosures.refined(lambda bits: enclosures.log_of(number, bits))[1])


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
