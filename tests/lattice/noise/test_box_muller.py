"""Pairs of normal numbers: the error radius holds, the limits are true and narrow."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet.lattice.noise.box_muller import ERROR_RADIUS, LARGEST_RADIUS, Pairs, product
from discreet.privacy.coins import Coins

LEADING = [1, 2, 3, 2**20, 2**52 - 1, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2**20, 2**64 - 2]
TRAILING = [0, 1, 2**63, 2**64 - 1]
ANGLES = [0, 1, 2**61 - 1, 2**61, 2**62 - 1, 2**62, 2**62 + 5, 3 * 2**61, 2**63, 2**63 + 2**61, 2**64 - 1, 2**60 + 7]


def made_of(scripted, triples):
    words = np.array(triples, dtype=np.uint64).T.reshape(-1).tolist()
    return Pairs(len(triples), scripted(words, rest=2**63 + 1))


def worst_error(pairs, n):
    """Return the largest distance of a double from its limits in units of the error radius, at scales 1 and 3e-9."""
    worst = 0.0
    for scale in (1.0, 3e-9):
        first, second = np.zeros((2, n))
        assert not pairs.doubles(scale, first, second)
        for index in range(n):
            for (low, high), found in zip(pairs.limits(index, 1), (first[index], second[index]), strict=True):
                error = max(abs(Fraction(found) - low * Fraction(scale)), abs(Fraction(found) - high * Fraction(scale)))
                worst = max(worst, float(error / Fraction(scale)) / ERROR_RADIUS)
    return worst


def test_the_error_radius_holds_for_extreme_words(scripted):
    """Smallest and largest radii, both sides of one half, all octants and their borders."""
    triples = [(a, b, c) for a in LEADING for b in TRAILING for c in ANGLES]
    assert worst_error(made_of(scripted, triples), len(triples)) < 1 / 4


def test_the_error_radius_holds_for_random_words():
    """The measured error is far below the radius that is used."""
    assert worst_error(Pairs(400, Coins.from_seed(61)), 400) < 1 / 8


def test_limits_enclose_the_numbers_that_the_words_name(scripted):
    """Against mpmath at 500 bits, for words continued by the scripted ones, at three lengths."""
    triples = [(a, 5, c) for a in [0, *LEADING, 2**64 - 1] for c in ANGLES]
    pairs = made_of(scripted, triples)
    with mpmath.workprec(500):
        more = sum(mpmath.mpf(2**63 + 1) / mpmath.mpf(2) ** (64 * k) for k in range(1, 8))
        for index, (a, b, c) in enumerate(triples):
            u = (mpmath.mpf(a) + (b + more) / mpmath.mpf(2) ** 64) / mpmath.mpf(2) ** 64
            octant = c % 2**62 - (2**62 if c % 2**62 >= 2**61 else 0)
            angle = (octant + more) / mpmath.mpf(2) ** 61 * mpmath.pi / 4
            one, other = mpmath.cos(angle), mpmath.sin(angle)
            one = -one if c >> 63 else one
            one, other = (other, one) if c >> 62 & 1 else (one, other)
            radius = mpmath.sqrt(-2 * mpmath.log(u))
            widths = []
            for level in range(3):
                for (low, high), true in zip(pairs.limits(index, level), (radius * one, radius * other), strict=True):
                    assert mpmath.mpf(low.numerator) / low.denominator <= true
                    assert true <= mpmath.mpf(high.numerator) / high.denominator
                    widths.append(high - low)
            assert max(widths[2:4]) < max(widths[:2]) * Fraction(1, 2**31)
            assert max(widths[4:]) < Fraction(1, 2**90)


@pytest.mark.parametrize("leading", [0, 2**64 - 1])
def test_vague_pairs_are_named_and_forgotten(scripted, leading):
    """A first word of zeros or ones is vague; after a refill nothing is left of it."""
    pairs = made_of(scripted, [(leading, 1, 2), (5, 6, 7)])
    first, second = np.zeros((2, 2))
    assert pairs.doubles(1.0, first, second)
    assert pairs.vague.tolist() == [True, False]
    assert np.isfinite([first, second]).all()
    pairs.refill()
    assert not pairs.doubles(1.0, first, second)
    assert not pairs.vague.any()


def test_short_words_are_always_vague_and_say_nothing_at_first():
    """Words of one bit leave the octant open, and zeros leave the radius open."""
    pairs = Pairs(50, Coins.from_seed(62, word_bits=1))
    assert pairs.doubles(1.0, np.zeros(50), np.zeros(50))
    assert pairs.vague.all()
    assert all(pairs.limits(index, 1) is None for index in range(50))
    assert all(pairs.limits(index, 40) is not None for index in range(50))


def test_limits_do_not_depend_on_the_order_of_questions():
    """A longer look first and a shorter one later read the same words."""
    pairs = Pairs(1, Coins.from_seed(63, word_bits=8))
    late = pairs.limits(0, 5)
    early = pairs.limits(0, 3)
    assert pairs.limits(0, 5) == late
    for (a, b), (c, d) in zip(early, late, strict=True):
        assert a <= c <= d <= b


def test_the_largest_radius_is_that_of_the_smallest_uniform():
    """sqrt(128 log 2), rounded up."""
    assert float(mpmath.sqrt(128 * mpmath.log(2))) < LARGEST_RADIUS < 9.4194 + 1e-3


def test_products_of_limits_enclose():
    """All four corners count."""
    assert product((Fraction(-2), Fraction(3)), (Fraction(-5), Fraction(1))) == (-15, 10)
