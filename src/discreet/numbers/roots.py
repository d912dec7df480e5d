"""Square roots of rationals: exact where they are rational, else rounded up."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

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
