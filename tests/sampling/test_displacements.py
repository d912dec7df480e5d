"""Displacements and what is published of them: laws, error radii, and the same words read longer."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.privacy.coins import Coins
from discreet.sampling.targets.displacements import RELATIVE_ERROR, KNormDisplacements, NormalDisplacements
from discreet.sampling.targets.location_envelopes import Location, PublicGrid

ALPHA = 1e-3
N_FIT = 40_000
LAWS = (KNormDisplacements, NormalDisplacements)


def length_law(law, d):
    return scipy.stats.gamma(d) if law is KNormDisplacements else scipy.stats.chi(d)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_lengths_have_their_law_and_one_5_percent_off_fails(law, d):
    """Lengths pass a goodness-of-fit test for their law, and fail it for the same law stretched by 5 %."""
    lengths = law(N_FIT, d, Coins.from_seed(d)).lengths
    assert scipy.stats.kstest(lengths, length_law(law, d).cdf).pvalue > ALPHA
    assert scipy.stats.kstest(lengths * 1.05, length_law(law, d).cdf).pvalue < ALPHA


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_directions_are_uniform_and_independent_of_lengths(law, d):
    """The first coordinate of a direction has the law of a uniform one, whether the length is short or long."""
    drawn = law(N_FIT, d, Coins.from_seed(10 + d))
    first = drawn.values[:, 0] / drawn.lengths
    long = drawn.lengths > np.median(drawn.lengths)
    if d == 1:
        for part in (first[long], first[~long]):
            assert np.allclose(np.abs(part), 1.0)
            assert scipy.stats.binomtest(int((part > 0).sum()), part.size).pvalue > ALPHA
        return
    # (1 + u) / 2 is Beta((d - 1) / 2, (d - 1) / 2).
    beta = scipy.stats.beta((d - 1) / 2, (d - 1) / 2)
    for part in (first[long], first[~long]):
        assert scipy.stats.kstest((1 + part) / 2, beta.cdf).pvalue > ALPHA


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("d", [1, 2, 3, 4, 7])
def test_doubles_are_within_the_error_radius_of_the_limits(law, d):
    """A displacement in doubles is within 2**-40 of its size of the exact one, entry by entry."""
    drawn = law(300, d, Coins.from_seed(20 + d))
    for index in range(300):
        limits = drawn.limits(index, 1)
        for value, (low, high) in zip(drawn.values[index].tolist(), limits, strict=True):
            assert max(abs(Fraction(value) - low), abs(Fraction(value) - high)) < RELATIVE_ERROR * drawn.sizes[index]
        square = sum(float(low) ** 2 for low, _ in limits)
        assert math.isclose(math.sqrt(square), drawn.lengths[index], rel_tol=1e-9)


@pytest.mark.parametrize("law", LAWS)
@given(seed=st.integers(0, 10**6), bits=st.integers(1, 5), d=st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_limits_are_nested(law, seed, bits, d):
    """More words never widen an interval, and doubles made from few-bit words lie within their limits."""
    drawn = law(2, d, Coins.from_seed(seed, word_bits=bits))
    wide = None
    for level in range(6):
        narrow = drawn.limits(0, level)
        if wide is not None:
            assert narrow is not None
            for (low, high), (inner, outer) in zip(wide, narrow, strict=True):
                assert low - Fraction(1, 2**50) <= inner <= outer <= high + Fraction(1, 2**50)
        wide = narrow if narrow is not None else wide
    assert np.isfinite(drawn.values).all()


@pytest.mark.parametrize("d", [1, 2, 3])
def test_few_bit_words_have_the_same_law(d):
    """With words of 8 bits, where every number is refined, lengths still have their law."""
    lengths = KNormDisplacements(150, d, Coins.from_seed(30 + d, word_bits=8)).lengths
    assert scipy.stats.kstest(lengths, scipy.stats.gamma(d).cdf).pvalue > ALPHA


def exactly(location_center, spread, displacements, index):
    """Return the grid points next to an exact proposal, from many more words."""
    limits = displacements.limits(index, 6)
    found = []
    for center, (low, high) in zip(location_center, limits, strict=True):
        ends = {math.floor(center + limit * spread + Fraction(1, 2)) for limit in (low, high)}
        assert len(ends) == 1
        found.append(ends.pop())
    return found


@pytest.mark.parametrize("bits", [64, 6])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_what_is_settled_is_the_exact_point_rounded(d, bits):
    """Settled points are the nearest grid points of exact proposals, with short words and with long ones."""
    center = [Fraction(10**6 * k + 1, 3) for k in range(d)]
    spread, step = Fraction(977, 7), Fraction(1, 64)
    displacements = KNormDisplacements(60, d, Coins.from_seed(40, word_bits=bits))
    location = Location(center, spread, PublicGrid(step, None))
    points = location.place(displacements)
    settled = location.settle(points, np.arange(60))
    assert np.abs(settled - points.values).max() <= 0.5001 / 64
    for index in range(60):
        assert (settled[index] * 64).tolist() == exactly(center, spread, displacements, index)
    assert location.inside(points).all()


def test_a_huge_spread_is_settled_beyond_what_doubles_hold():
    """Where a step is finer than the error radius, every point is settled from longer words."""
    location = Location([Fraction(0)], Fraction(2**70), PublicGrid(Fraction(1), None))
    displacements = KNormDisplacements(20, 1, Coins.from_seed(50))
    settled = location.settle(location.place(displacements), np.arange(20))
    for index in range(20):
        assert settled[index, 0] == float(exactly([Fraction(0)], Fraction(2**70), displacements, index)[0])


@pytest.mark.parametrize("bits", [64, 5])
def test_who_is_within_the_box_is_decided_exactly(bits):
    """`inside` agrees with the exact proposals, also when words are short; nobody is inside a box of zero steps."""
    displacements = KNormDisplacements(80, 2, Coins.from_seed(60, word_bits=bits))
    spread, center = Fraction(3), [Fraction(1, 2), Fraction(-2)]
    location = Location(center, spread, PublicGrid(Fraction(1), 4))
    inside = location.inside(location.place(displacements))
    for index in range(80):
        limits = displacements.limits(index, 6)
        exact = all(
            abs(c + low * spread) <= 4 and abs(c + high * spread) <= 4
            for c, (low, high) in zip(center, limits, strict=True)
        )
        assert inside[index] == exact
    assert 0 < inside.sum() < 80
    nobody = Location(center, spread, PublicGrid(Fraction(1), 0))
    assert not nobody.inside(nobody.place(displacements)).any()


def test_a_point_next_to_the_boundary_of_the_box_is_refined():
    """A box whose side passes through a proposal, as a double, is decided from longer words, both ways."""
    displacements = KNormDisplacements(1, 1, Coins.from_seed(61))
    low, high = displacements.limits(0, 3)[0]
    assert low != high
    for spread, within in ((10 / abs(high), True), (10 / abs(low) * (1 + Fraction(1, 2**70)), False)):
        location = Location([Fraction(0)], spread, PublicGrid(Fraction(1), 10))
        largest = max(abs(low * spread), abs(high * spread))
        assert bool(location.inside(location.place(displacements))[0]) == (within and largest <= 10)
