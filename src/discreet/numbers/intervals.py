"""Real numbers between two exact rationals: mpmath's interval arithmetic, every answer of which is made to hold.

Sums, products, quotients and square roots of mpmath's intervals are rounded outward exactly. Its exp, log, sin, cos
and pi are computed with a few spare bits and then rounded, which is nearly but not provably outward, and of exp it is
known to fail; they are widened here by eight units in the last place.

mpmath is imported when the first irrational number is asked for.

Proof: docs/proofs/accounting.md
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable

# Enclosures of fixed questions are refined, from the first number of bits on, until they are narrower than `WIDTH`.
FIRST_BITS = 160
WIDTH = Fraction(1, 2**80)
# More bits are needed only for numbers beyond any use; there whoever refines refuses.
MOST_BITS = 2**13
# Below 2**-2**16 a limit moves outward to this size or to 0: exp(-2**500) has more zeros than memory.
_LEAST_EXPONENT = -(1 << 16)
_LEAST = Fraction(1, 1 << -_LEAST_EXPONENT)

Interval = Any  # mpmath has no types


class Arithmetic:
    """Interval arithmetic of one precision: what it answers holds the truth for all of what it was given.

    Intervals are added, multiplied and divided by the usual operators; their ends are `a` and `b`.

    Parameters
    ----------
    bits : int
        Binary digits of the ends.
    """

    def __init__(self, bits: int) -> None:
        self.bits = bits
        # A context of our own, never changed once made: the package-wide one may be changed by anybody.
        self._context = _context_type()()
        self._context.prec = bits
        unit = self._context.mpf(2) ** (4 - bits)
        self._slack = self.between_ends(1 - unit, 1 + unit)
        self.pi: Interval = self._context.pi * self._slack

    def of(self, number: Fraction | int) -> Interval:
        """Return the narrowest interval around an exact rational."""
        return self._context.mpf(number.numerator) / self._context.mpf(number.denominator)

    def between(self, low: Fraction | int, high: Fraction | int) -> Interval:
        """Return the interval from one rational to another, rounded outward."""
        return self.between_ends(self.of(low), self.of(high))

    def dyadic(self, low: int, high: int, bits: int) -> Interval:
        """Return the interval from `low * 2**-bits` to `high * 2**-bits`, rounded outward."""
        return self._context.mpf([low, high]) / self._context.mpf(2) ** bits

    def between_ends(self, low: Interval, high: Interval) -> Interval:
        """Return the interval from the lower end of one interval to the upper end of another."""
        return self._context.mpf([low.a, high.b])

    def sqrt(self, x: Interval) -> Interval:
        """Return an interval around the square roots of all of `x` >= 0."""
        return self._context.sqrt(x)

    def exp(self, x: Interval) -> Interval:
        """Return an interval around the exponentials of all of `x`; exactly 1 for 0."""
        return self.of(1) if x == 0 else self._context.exp(x) * self._slack

    def log(self, x: Interval) -> Interval:
        """Return an interval around the logarithms of all of `x` > 0."""
        return self._context.log(x) * self._slack

    def sin(self, x: Interval) -> Interval:
        """Return an interval around the sines of all of `x`."""
        return self._context.sin(x) * self._slack

    def cos(self, x: Interval) -> Interval:
        """Return an interval around the cosines of all of `x`."""
        return self._context.cos(x) * self._slack

    def log_of(self, number: Fraction | int) -> Interval:
        """Return an interval around the logarithm of a positive rational."""
        return self.log(self.of(number))

    def minus_log(self, low: int, high: int, bits: int) -> Interval:
        """Return an interval around -log of what lies between two multiples of 2**-bits in (0, 1]; never below 0."""
        return self.nonnegative(-self.log(self.dyadic(low, high, bits)))

    def nonnegative(self, x: Interval) -> Interval:
        """Return `x`, which stands for something of at least 0, without what rounding put below 0."""
        return self.between_ends(max(x.a, self.of(0)), x)


@lru_cache(maxsize=1)
def _context_type() -> Any:
    """Import mpmath, and return its kind of interval arithmetic.

    mpmath remembers pi and log 2 in two steps, between which another thread would read a wrong value. Computed here
    with more digits than are ever asked for, they never change again; who comes here twice writes the same twice.
    """
    from mpmath.ctx_iv import MPIntervalContext
    from mpmath.libmp import ln2_fixed, pi_fixed

    pi_fixed(2 * MOST_BITS)
    ln2_fixed(2 * MOST_BITS)
    return MPIntervalContext


@lru_cache(maxsize=64)
def arithmetic(bits: int) -> Arithmetic:
    """Return interval arithmetic of `bits` bits; threads may share it."""
    return Arithmetic(bits)


def enclose(compute: Callable[[Arithmetic], Interval], bits: int) -> tuple[Fraction, Fraction]:
    """Return exact limits of what `compute` stands for, computed in interval arithmetic of `bits` bits."""
    return ends(compute(arithmetic(bits)))


def refined(
    compute: Callable[[Arithmetic], Interval | None], *, width: Fraction = WIDTH, bits: int = FIRST_BITS
) -> tuple[Fraction, Fraction]:
    """Return exact limits of what `compute` stands for, at the first precision that puts them within `width`.

    `compute` answers None where the precision does not suffice to say anything.

    Raises
    ------
    InvalidArgument
        If no precision in use suffices, as for numbers with thousands of digits.
    """
    while bits <= MOST_BITS:
        interval = compute(arithmetic(bits))
        if interval is not None and _is_bounded(interval):
            low, high = ends(interval)
            if high - low <= width:
                return low, high
        bits *= 2
    raise InvalidArgument(
        "A number is too extreme to be priced. Keep `epsilon`, `delta`, `mu` and `rho` between 1e-1000 and 1e1000."
    )


def _is_bounded(interval: Interval) -> bool:
    """Return whether both ends are finite: they are not after a division by what may be 0."""
    return all(mantissa or not exponent for _, mantissa, exponent, _ in interval._mpi_)


def ends(interval: Interval) -> tuple[Fraction, Fraction]:
    """Return the two exact ends of an interval, tiny ones moved outward.

    Raises
    ------
    OverflowError
        If it has none; an error of ours.
    """
    # Each is a tuple of (sign, mantissa, exponent, bits) in mpmath's own format; the only way to its exact ends.
    if not _is_bounded(interval):
        raise OverflowError("An interval is unbounded.")
    low, high = interval._mpi_
    return _rational(low, down=True), _rational(high, down=False)


def _rational(limit: tuple[int, int, int, int], *, down: bool) -> Fraction:
    sign, mantissa, exponent, n_bits = limit
    if mantissa and exponent + n_bits < _LEAST_EXPONENT:
        outward = Fraction(0) if bool(sign) != down else _LEAST
        return -outward if sign else outward
    number = Fraction(int(mantissa) << exponent) if exponent >= 0 else Fraction(int(mantissa), 1 << -exponent)
    return -number if sign else number
