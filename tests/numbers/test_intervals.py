"""Interval arithmetic: the truth is always inside, the ends are exact, and what is asked for is found or refused."""

import math
import random
import threading
from fractions import Fraction

import mpmath
import pytest

from discreet.errors import InvalidArgument
from discreet.numbers.intervals import arithmetic, enclose, ends, refined

# Both ends of mpmath's own interval, of 64 bits, are the same here, and the exponential is 1e-23 of itself above.
MISSED = Fraction(134281003487, 8589934592)
FUNCTIONS = {"exp": (-40, 40), "log": (0, 1000), "sqrt": (0, 1000), "sin": (-10, 10), "cos": (-10, 10)}


def dyadic_arguments(low, high, count=4_000):
    """Return numbers with up to 33 bits after the point: many of them short, as parameters are."""
    draw = random.Random(20)
    found = [Fraction(draw.randrange(low << bits, high << bits), 1 << bits) for bits in range(4, 34)]
    found += [
        Fraction(draw.randrange(low << bits, high << bits), 1 << bits)
        for bits in (draw.randrange(20, 34) for _ in range(count))
    ]
    return [x for x in found if x]


def holds(limits, name, x):
    """Return whether limits are around the value of a function, by mpmath in 400 bits."""
    with mpmath.workprec(400):
        truth = getattr(mpmath, name)(mpmath.mpf(x.numerator) / x.denominator)
        low, high = (mpmath.mpf(limit.numerator) / limit.denominator for limit in limits)
        return low <= truth <= high


def test_the_exponential_that_mpmath_misses_is_inside():
    """mpmath's own interval, at 64 bits, lies below the truth."""
    assert holds(enclose(lambda reals: reals.exp(reals.of(MISSED)), 64), "exp", MISSED)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("bits", [64, 96])
def test_every_function_is_enclosed_at_dyadic_arguments(name, bits):
    """At thousands of them, and narrowly: no wider than a few dozen units of the last place."""
    for x in dyadic_arguments(*FUNCTIONS[name]):
        low, high = limits = enclose(lambda reals, x=x: getattr(reals, name)(reals.of(x)), bits)
        assert holds(limits, name, x)
        assert 0 <= high - low <= max(abs(low), abs(high)) * Fraction(64, 2**bits)


@pytest.mark.parametrize("bits", range(20, 400, 7))
def test_pi_is_enclosed_at_every_precision(bits):
    """By mpmath in many more digits."""
    low, high = ends(arithmetic(bits).pi)
    with mpmath.workprec(500):
        assert low < Fraction(int(mpmath.floor(mpmath.ldexp(mpmath.pi, 480))), 2**480) < high
    assert high - low <= Fraction(128, 2**bits)


def test_intervals_hold_all_between_their_ends():
    """Rationals and whole numbers of small units become intervals around them, rounded outward."""
    reals, third = arithmetic(20), Fraction(1, 3)
    assert ends(reals.of(Fraction(3, 8))) == (Fraction(3, 8), Fraction(3, 8))
    low, high = ends(reals.between(-third, third))
    assert low < -third < third < high
    low, high = ends(reals.dyadic(2**30 + 1, 2**30 + 3, 30))
    assert low < 1 + Fraction(1, 2**30) < 1 + Fraction(3, 2**30) < high


def test_a_minus_logarithm_has_no_negative_part():
    """Of numbers up to 1 it starts at 0 exactly; further down it holds both ends."""
    reals = arithmetic(64)
    low, high = ends(reals.minus_log(2**20 - 1, 2**20, 20))
    assert low == 0 < high
    low, high = ends(reals.minus_log(1, 2, 2))
    assert float(low) == pytest.approx(math.log(2))
    assert float(high) == pytest.approx(math.log(4))
    assert ends(reals.nonnegative(reals.between(-1, 2))) == (0, 2)


def test_the_exponential_of_0_is_1_exactly():
    """A coin of probability exp(0) cannot fail."""
    assert enclose(lambda reals: reals.exp(reals.of(0)), 64) == (1, 1)


def test_limits_of_an_interval_are_exact_rationals():
    """Both ends are rational, in order, and around the value; an unbounded interval is an error of ours."""
    low, high = enclose(lambda reals: -reals.exp(reals.of(Fraction(1, 3))), 80)
    assert low < high < 0
    assert float(low) == float(high) == -math.exp(1 / 3)
    assert enclose(lambda reals: reals.of(0), 10) == (0, 0)
    with pytest.raises(OverflowError):
        enclose(lambda reals: reals.of(1) / reals.between(-1, 1), 10)


def test_tiny_limits_move_outward():
    """What has more zeros than memory lies between 0 and a number that can be written."""
    low, high = enclose(lambda reals: reals.exp(reals.of(-(2**500))), 64)
    assert low == 0 < high <= Fraction(1, 2**60_000)
    low, high = enclose(lambda reals: -reals.exp(reals.of(-(2**500))), 64)
    assert low < 0 == high


def test_limits_are_refined_until_they_are_narrow():
    """More digits are taken where the first say nothing or too little, and none are found for what has no limits."""
    asked = []

    def slow(reals):
        asked.append(reals.bits)
        return None if reals.bits < 300 else reals.of(1) / reals.between(-1, 1) if reals.bits < 600 else reals.log_of(3)

    low, high = refined(slow)
    assert asked == [160, 320, 640]
    assert low < Fraction(math.log(3)) + Fraction(1, 10**15)
    assert high - low <= Fraction(1, 2**80)
    with pytest.raises(InvalidArgument, match="too extreme"):
        refined(lambda reals: reals.between(0, 1))


def test_interval_arithmetic_leaves_the_packages_precision_alone():
    """A user's own precision is not changed."""
    before = mpmath.iv.prec
    enclose(lambda reals: reals.pi, 777)
    assert mpmath.iv.prec == before


def test_threads_get_the_same_limits():
    """Many threads at many precisions at once find what one finds."""
    arithmetic.cache_clear()
    found = {}

    def work(bits):
        found[bits] = enclose(lambda reals: reals.log_of(7) * reals.pi, bits)

    threads = [threading.Thread(target=work, args=(bits,)) for bits in range(60, 400, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for bits, limits in found.items():
        arithmetic.cache_clear()
        assert limits == enclose(lambda reals: reals.log_of(7) * reals.pi, bits)
