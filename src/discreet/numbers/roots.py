"""Roots on the safe side: square roots of rationals, and where a function certainly has its sign."""

from __future__ import annotations

import math
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING

from discreet.numbers.outward import ANSWER_BITS, last_place, round_down, round_up

if TYPE_CHECKING:
    from collections.abc import Callable

# Where a root of a rational is no rational it is rounded up to this many significant bits.
_ROOT_BITS = 97


def root_up(square: Fraction) -> Fraction:
    """Return the root of `square` >= 0: exact where it is rational, else rounded up by at most 2**-96 of itself.

    >>> root_up(Fraction(9, 4))
    Fraction(3, 2)
    """
    exact = rational_root(square)
    return _rounded_up(square) if exact is None else exact


def rational_root(square: Fraction) -> Fraction | None:
    """Return the root of `square` where it is a rational, else None."""
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    return root if root * root == square else None


def _rounded_up(square: Fraction) -> Fraction:
    # Scaled by 4**shift the integer part has twice as many bits as the root shall have.
    magnitude = square.numerator.bit_length() - square.denominator.bit_length()
    shift = _ROOT_BITS + 1 - magnitude // 2
    scaled = square * Fraction(4) ** shift
    return Fraction(isqrt(-(-scaled.numerator // scaled.denominator) - 1) + 1) / Fraction(2) ** shift


def root_down(square: Fraction) -> Fraction:
    """Return the root of `square`: exact where it is rational, else rounded down; 0 where `square` is below 0.

    >>> root_down(Fraction(9, 4))
    Fraction(3, 2)
    """
    if square <= 0:
        return Fraction(0)
    exact = rational_root(square)
    if exact is not None:
        return exact
    # 64 significant binary digits and more.
    unit = 2 ** (max(0, square.denominator.bit_length() - square.numerator.bit_length()) // 2 + 64)
    return Fraction(isqrt(square.numerator * unit**2 // square.denominator), unit)


def root_up_to_double(square: Fraction) -> Fraction:
    """Return the least `m * 2**e` of at least the root of `square` with `2**52 <= m <= 2**53`: a double, exactly.

    >>> root_up_to_double(Fraction(9)), float(root_up_to_double(Fraction(2)))
    (Fraction(3, 1), 1.4142135623730951)
    """
    # The square is above 2**(n - 1) and below 2**(n + 1): over 4**e in [2**104, 2**107), then below 2**106.
    n = square.numerator.bit_length() - square.denominator.bit_length()
    exponent = (n - 105) // 2
    if square / Fraction(4) ** exponent >= 2**106:
        exponent += 1
    mantissa = isqrt(math.ceil(square / Fraction(4) ** exponent) - 1) + 1
    return mantissa * Fraction(2) ** exponent


def newton(step: Callable[[Fraction], Fraction], start: Fraction) -> Fraction:
    """Return where Newton's method from `start` > 0 comes to rest; it is a guess, to be certified by the caller."""
    point = start
    for _ in range(200):
        following = round_down(min(max(point + step(point), point / 16), point * 16), 2 * ANSWER_BITS)
        converged = abs(following - point) <= point / 2 ** (ANSWER_BITS + 8)
        point = following
        if converged:
            break
    return point


def certified(guess: Fraction, holds: Callable[[Fraction], bool], *, upward: bool, bits: int = ANSWER_BITS) -> Fraction:
    """Return the first number of `bits` significant bits, from `guess` on, of which `holds` is certainly true.

    The search goes upward or downward in steps that double, so the answer is on the safe side whatever the guess.
    """
    candidate = round_up(guess, bits) if upward else round_down(guess, bits)
    step = last_place(guess, bits)
    while not holds(candidate):
        candidate = candidate + step if upward else max(candidate - step, candidate / 2)
        step *= 2
    return candidate
