"""Adding real noise to an exact integer and rounding the sum: in doubles where they suffice, exactly where not."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.lattice.noise.box_muller import Limits

# Half a unit in the last place of a double, relative to it.
ROUNDOFF = 2.0**-53


def split(statistic: np.ndarray, step_bits: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the statistic as whole steps and, if there are any, the rest in steps, in [0, 1).

    A remainder of 53 bits is exact; a longer one errs by at most 2**-53 steps.
    """
    if not step_bits:
        return statistic, None
    whole = statistic >> step_bits
    return whole, (statistic & ((1 << step_bits) - 1)) * 2.0**-step_bits


def round_sum(noise: np.ndarray, exact: np.ndarray, step_bits: int, limit: float, out: np.ndarray) -> bool:
    """Write `floor(exact / 2**step_bits + noise + 1/2)` into `out`; return whether some entry is too close to call.

    Sums wrap around modulo 2**64 grid units, as the statistic did: what is released is a function of S + Z modulo
    2**64, so nothing tells whether S was wrapped before or after the noise was added.
    `noise` (in steps) is left holding the distance from the nearest whole number: within (-limit, limit) every real
    number that the double may stand for has the same nearest one. The difference from it is exact.
    """
    whole, rest = split(exact, step_bits)
    if rest is not None:
        noise += rest
    nearest = np.rint(noise)
    noise -= nearest
    np.copyto(out, nearest, casting="unsafe")
    out += whole
    # Reduced modulo 2**(64 - step_bits), in two's complement.
    np.left_shift(out, step_bits, out=out)
    np.right_shift(out, step_bits, out=out)
    return bool(noise.max() >= limit or noise.min() <= -limit)


def certain_below(radius: float) -> float:
    """Return the distance from the nearest whole number below which an error of `radius` steps changes nothing."""
    return math.nextafter(0.5 - radius, -math.inf)


def settle(statistic: int, step_bits: int, limits: Callable[[int], Limits | None]) -> int:
    """Return floor((statistic + Z) / 2**step_bits + 1/2) modulo 2**(64 - step_bits), in two's complement.

    `limits(level)` encloses the noise Z ever more narrowly; a level is taken when both limits round alike.
    """
    level = 0
    while True:
        enclosed = limits(level)
        if enclosed is not None:
            low, high = (_rounded(statistic + limit, step_bits) for limit in enclosed)
            if low == high:
                half = 1 << (63 - step_bits)
                return (low + half) % (2 * half) - half
        level += 1


def _rounded(value: Fraction, step_bits: int) -> int:
    return math.floor(value / (1 << step_bits) + Fraction(1, 2))
