"""Mills' ratio and what follows from it, between limits."""

from fractions import Fraction

import mpmath
import pytest

from discreet.numbers.intervals import arithmetic, ends
from discreet.numbers.mills import mills, normal_density, normal_tail


def as_mpf(number):
    return mpmath.mpf(number.numerator) / number.denominator


@pytest.mark.parametrize("x", ["-1e3", "-9", "-7.9", "-1", "0", "1e-9", "0.5", "3", "7.9", "8.1", "20", "1e3", "1e6"])
@pytest.mark.parametrize("bits", [160, 640])
def test_mills_ratio_is_enclosed_narrowly(x, bits):
    """By mpmath's erfc: the truth is inside, and the enclosure is narrow, on both expansions and both tails."""
    point, reals = Fraction(x), arithmetic(bits)
    low, high = ends(mills(reals.of(point), reals))
    with mpmath.workdps(800):
        z = as_mpf(point)
        truth = mpmath.erfc(z / mpmath.sqrt(2)) * mpmath.sqrt(mpmath.pi / 2) * mpmath.exp(z * z / 2)
        assert as_mpf(low) <= truth <= as_mpf(high)
    assert high - low <= low / 2 ** (bits - 60)


@pytest.mark.parametrize("x", ["-9", "-1", "0", "3", "20"])
def test_the_normal_law_is_enclosed(x):
    """Its density and its tail, by mpmath."""
    point, reals = Fraction(x), arithmetic(160)
    with mpmath.workdps(100):
        for found, truth in ((normal_density, mpmath.npdf(as_mpf(point))), (normal_tail, mpmath.ncdf(-as_mpf(point)))):
            low, high = ends(found(reals.of(point), reals))
            assert as_mpf(low) <= truth <= as_mpf(high)
            assert high - low <= high / 2**100
