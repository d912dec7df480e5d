"""Rounded Gaussian noise: the exact law for every step; doubles and refinement tell the same story."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.noise import gaussian, scales
from discreet.lattice.noise.gaussian import rounded_gaussian
from discreet.lattice.noise.symmetric_gaussian import symmetric_gaussian
from discreet.privacy.coins import Coins

CASES = [
    (Fraction(49, 4), 0, 0),
    (Fraction(1, 2), 3, 0),
    (Fraction(121), -5, 1),
    (Fraction(1600), 1003, 3),
    (Fraction(10**8), -77_777, 12),
]


def edges(statistic, step_bits):
    """Return where cell k of floor((S + Z) / 2**j + 1/2) begins, in Z."""
    return lambda k: (2 * k - 1) * 2**step_bits / 2 - statistic


@pytest.mark.parametrize(
    ("word_bits", "case"),
    [
        *((64, case) for case in CASES),
        *((4, case) for case in CASES[1:4:2]),
        *(pytest.param(4, case, marks=pytest.mark.nightly) for case in CASES[::2]),
    ],
    ids=str,
)
def test_the_law_is_exactly_rounded_gaussian(fits, laws, word_bits, case):
    """Observed counts fit the exact mass, also where every draw is refined, and not that of a scale 10 % off."""
    variance, statistic, step_bits = case
    n = 40_000 if word_bits == 64 else 5_000
    coins = Coins.from_seed(21, word_bits=word_bits)
    released = rounded_gaussian(np.full(n, statistic), variance=variance, coins=coins, step_bits=step_bits)
    fits(released, edges(statistic, step_bits), laws["gaussian"], math.sqrt(variance))


@pytest.mark.parametrize("word_bits", [1, 3])
@pytest.mark.nightly  # words of four bits: above
def test_words_of_any_length_have_the_same_law(fits, laws, word_bits):
    """With words of one bit even the octant is asked for later; the law stays."""
    coins = Coins.from_seed(22, word_bits=word_bits)
    released = rounded_gaussian(np.zeros(5_000, np.int64), variance=Fraction(9), coins=coins)
    fits(released, edges(0, 0), laws["gaussian"], 3)


@pytest.mark.parametrize(("variance", "statistic", "step_bits"), CASES)
def test_refinement_and_doubles_agree(monkeypatch, variance, statistic, step_bits):
    """With an error radius so large that every draw is refined, the same coins give the same release."""
    exact = np.full(601, statistic)
    fast = rounded_gaussian(exact, variance=variance, coins=Coins.from_seed(23), step_bits=step_bits)
    monkeypatch.setattr(gaussian, "_error_radius", lambda _: 1.0)
    slow = rounded_gaussian(exact, variance=variance, coins=Coins.from_seed(23), step_bits=step_bits)
    np.testing.assert_array_equal(fast, slow)


def test_both_numbers_of_a_pair_are_independent_in_sign_and_size():
    """Correlations of the two halves of a block, of their signs and of their squares vanish."""
    released = rounded_gaussian(np.zeros(2 * gaussian._BLOCK, np.int64), variance=2**60, coins=Coins.from_seed(24))
    first, second = released.reshape(2, -1) / 2.0**30
    for change in (np.asarray, np.sign, np.square, np.abs):
        correlation = np.corrcoef(change(first), change(second))[0, 1]
        assert abs(correlation) < 5 / math.sqrt(gaussian._BLOCK)
    assert abs(first.var() - 1) < 0.08
    assert abs(second.var() - 1) < 0.08


def test_a_tie_of_statistic_and_boundary_is_decided_by_the_noise():
    """S halfway between two steps and noise far below the grid: the sign of the noise decides, exactly."""
    exact = np.full(400, 4)
    released = rounded_gaussian(exact, variance=Fraction(1, 2**900), coins=Coins.from_seed(25), step_bits=3)
    assert set(released.tolist()) == {0, 1}
    assert abs(released.mean() - 0.5) < 5 * 0.5 / 20
    below = rounded_gaussian(exact - 1, variance=Fraction(1, 2**900), coins=Coins.from_seed(25), step_bits=3)
    assert set(below.tolist()) == {0}


@pytest.mark.parametrize("statistic", [2**62 + 12_345_678_901, -(2**62) - 987_654_321])
def test_all_bits_of_a_large_statistic_count(statistic):
    """A statistic beyond 53 bits is rounded exactly: with tiny noise the result is that of integers."""
    for step_bits in (1, 20, 40, 55, 62):
        released = rounded_gaussian(
            np.array([statistic]), variance=Fraction(1, 100), coins=Coins.from_seed(26), step_bits=step_bits
        )
        assert released.tolist() == [(statistic + 2 ** (step_bits - 1)) >> step_bits]


def test_wide_noise_is_refined_exactly():
    """Beyond 2**44 steps no double decides; every draw is computed exactly and agrees with the double's size."""
    coins, same = Coins.from_seed(27), Coins.from_seed(27)
    wide = rounded_gaussian(np.zeros(40, np.int64), variance=Fraction(2**116), coins=coins)
    narrow = rounded_gaussian(np.zeros(40, np.int64), variance=Fraction(2**40), coins=same)
    np.testing.assert_array_equal((wide + 2**37) >> 38, narrow)


def test_sums_outside_int64_wrap_around():
    """An overflow wraps and never raises, in doubles and in refinement."""
    for word_bits in (64, 4):
        released = rounded_gaussian(
            np.full(50, 2**63 - 1), variance=Fraction(10**6), coins=Coins.from_seed(28, word_bits=word_bits)
        )
        assert 0 < (released < 0).sum() < 50


@pytest.mark.parametrize("size", [0, 1, 2, 7, 16_384, 16_385, 40_000])
def test_the_number_of_words_is_known_in_advance(size):
    """Three words a pair, whatever the statistic; the next word of the stream proves it."""
    expected = Coins.from_seed(29).words(3 * ((size + 1) // 2) + 1)[-1]
    for statistic in (np.zeros(size, np.int64), np.arange(size) * 99_991):
        coins = Coins.from_seed(29)
        rounded_gaussian(statistic, variance=Fraction(1000), coins=coins)
        assert coins.words(1)[0] == expected


@pytest.mark.parametrize("leading", [0, 2**64 - 1])
@pytest.mark.parametrize("trailing", [0, 1, 2**63, 2**64 - 1])
def test_vague_pairs_are_computed_from_their_words(scripted, leading, trailing):
    """A first word of zeros or ones is always refined, from the same words."""
    extension = 2**63
    coins = scripted([leading, trailing, 2**60], rest=extension)
    released = rounded_gaussian(np.zeros(2, np.int64), variance=Fraction(10**8), coins=coins)
    with mpmath.workprec(400):
        u = mpmath.mpf(leading) / 2**64 + mpmath.mpf(trailing) / 2**128 + mpmath.mpf(extension) / 2**192
        radius = 10**4 * mpmath.sqrt(-2 * mpmath.log(u))
        expected = [radius * mpmath.cos(mpmath.pi / 8), radius * mpmath.sin(mpmath.pi / 8)]
    assert released.tolist() == [int(mpmath.floor(x + 0.5)) for x in expected]


def test_a_statistic_keeps_its_shape_and_its_values():
    """A strided matrix comes back with its shape and is not written to."""
    exact = np.arange(24).reshape(4, 6)[:, ::2]
    before = exact.copy()
    released = rounded_gaussian(exact, variance=Fraction(10**6), coins=Coins.from_seed(30))
    noise = rounded_gaussian(np.zeros(12, np.int64), variance=Fraction(10**6), coins=Coins.from_seed(30))
    np.testing.assert_array_equal(released - exact, noise.reshape(4, 3))
    np.testing.assert_array_equal(exact, before)


@pytest.mark.parametrize("word_bits", [64, 4])
def test_symmetric_gaussian_has_half_the_variance_off_the_diagonal(fits, laws, word_bits):
    """The release is symmetric; diagonal and rest fit their own exact laws."""
    n_matrices, width = (20, 60) if word_bits == 64 else (1, 100)
    coins = Coins.from_seed(31, word_bits=word_bits)
    draws = [
        symmetric_gaussian(np.full((width, width), 9), diagonal_variance=Fraction(200), coins=coins, step_bits=1)
        for _ in range(n_matrices)
    ]
    for released in draws:
        np.testing.assert_array_equal(released, released.T)
    rest = np.concatenate([released[np.triu_indices(width, 1)] for released in draws])
    fits(rest, edges(9, 1), laws["gaussian"], 10)
    if word_bits == 64:
        on_diagonal = np.concatenate([np.diagonal(released) for released in draws])
        assert abs(on_diagonal.var() / 50 - 1) < 5 * math.sqrt(2 / on_diagonal.size)


def test_the_diagonal_of_a_symmetric_gaussian_fits_its_law(fits, laws):
    """Enough diagonals for a test with power."""
    coins = Coins.from_seed(32)
    draws = [
        np.diagonal(symmetric_gaussian(np.zeros((100, 100), np.int64), diagonal_variance=Fraction(36), coins=coins))
        for _ in range(80)
    ]
    fits(np.concatenate(draws), edges(0, 0), laws["gaussian"], 6)


BAD = [0, -1, float("nan"), float("inf"), 5e-324, 2**119, True, "x", None]


@pytest.mark.parametrize("bad", BAD)
def test_bad_variances_are_refused_by_name(bad):
    """Nothing is drawn for a variance that is no positive number of usable size."""
    coins = Coins.from_seed(33)
    with pytest.raises(InvalidArgument, match="`variance`"):
        rounded_gaussian(np.zeros(2, np.int64), variance=bad, coins=coins)
    with pytest.raises(InvalidArgument, match="`diagonal_variance`"):
        symmetric_gaussian(np.zeros((2, 2), np.int64), diagonal_variance=bad, coins=coins)
    with pytest.raises(InvalidArgument, match="`diagonal_variance`"):
        symmetric_gaussian(np.zeros((2, 2), np.int64), diagonal_variance=scales.LEAST_SCALE**2, coins=coins)
    assert coins.words(1)[0] == Coins.from_seed(33).words(1)[0]


def test_only_exact_integers_are_taken():
    """A float statistic has lost its exact sum; steps are 0 to 62 bits."""
    with pytest.raises(InvalidType, match="`statistic`"):
        rounded_gaussian(np.zeros(2), variance=Fraction(1), coins=Coins.from_seed(1))
    with pytest.raises(InvalidArgument, match="`step_bits`"):
        rounded_gaussian(np.zeros(2, np.int64), variance=Fraction(1), coins=Coins.from_seed(1), step_bits=63)
