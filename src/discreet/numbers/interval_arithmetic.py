"""mpmath's intervals, made safe for guarantees; imported only when something irrational is to be priced.

Sums, products, quotients and square roots of mpmath's intervals are rounded outward exactly. Its exp, log and pi are
computed with some 14 spare bits and then rounded, which is nearly but not provably outward; they are widened here by
eight units in the last place.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from mpmath.ctx_iv import MPIntervalContext
from mpmath.libmp import ln2_fixed, pi_fixed

# More bits are needed only for numbers beyond any use; there the caller refuses.
MOST_BITS = 2**13

# mpmath remembers pi and log 2 in two steps, between which another thread would read a wrong value. Computed here
# once, with more digits than are ever asked for, they never change again; the import lock keeps threads apart.
pi_fixed(2 * MOST_BITS)
ln2_fixed(2 * MOST_BITS)


@lru_cache(maxsize=64)
def context(bits: int) -> Any:
    """Return interval arithmetic of `bits` bits, never changed once made, so that threads may share it."""
    arithmetic = MPIntervalContext()
    arithmetic.prec = bits
    return arithmetic


@lru_cache(maxsize=64)
def _slack(bits: int) -> Any:
    unit = context(bits).mpf(2) ** (4 - bits)
    return context(bits).mpf([(1 - unit).a, (1 + unit).b])


def exp(x: Any, bits: int) -> Any:
    """Return an interval that certainly holds the exponentials of all of `x`."""
    return context(bits).exp(x) * _slack(bits)


def log(x: Any, bits: int) -> Any:
    """Return an interval that certainly holds the logarithms of all of `x`, which must be positive."""
    return context(bits).log(x) * _slack(bits)


@lru_cache(maxsize=64)
def pi(bits: int) -> Any:
    """Return an interval that certainly holds pi."""
    return context(bits).pi * _slack(bits)
