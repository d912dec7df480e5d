"""Interval arithmetic that answers with exact rationals; what settles every tie and straddle."""

from __future__ import annotations

import os
import threading
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# One context of our own: the package-wide one may be used, and its precision changed, by anybody.
_lock = threading.Lock()
# A fork waits for the thread that computes, so that no child inherits a lock that nobody releases.
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


@lru_cache(maxsize=1)
def _context() -> Any:
    from mpmath.ctx_iv import MPIntervalContext

    return MPIntervalContext()


def enclose(compute: Callable[[Any], Any], precision: int) -> tuple[Fraction, Fraction]:
    """Return exact limits of an interval that contains what `compute(context)` stands for.

    `compute` gets an mpmath interval context of `precision` bits, every operation of which rounds outward.
    """
    with _lock:
        context = _context()
        context.prec = precision
        # The limits of an interval are a pair of (sign, mantissa, exponent, bits) in mpmath's own format.
        low, high = compute(context)._mpi_
    return _rational(low, down=True), _rational(high, down=False)


# Below this size a limit moves outward to it or to 0: exp(-2**500) has more zeros than memory.
_LEAST = Fraction(1, 1 << (1 << 16))


def _rational(limit: tuple[int, int, int, int], *, down: bool) -> Fraction:
    sign, mantissa, exponent, n_bits = limit
    if not mantissa and exponent:
        raise OverflowError("An interval is unbounded.")
    if mantissa and exponent + n_bits < -(1 << 16):
        outward = Fraction(0) if bool(sign) != down else _LEAST
        return -outward if sign else outward
    number = Fraction(int(mantissa) << exponent) if exponent >= 0 else Fraction(int(mantissa), 1 << -exponent)
    return -number if sign else number


def point(context: Any, value: Fraction) -> Any:
    """Return an interval around an exact rational."""
    return context.mpf(value.numerator) / context.mpf(value.denominator)


def hull(context: Any, low: int, high: int, bits: int) -> Any:
    """Return the interval from `low * 2**-bits` to `high * 2**-bits`, rounded outward."""
    return context.mpf([low, high]) / context.mpf(2) ** bits
