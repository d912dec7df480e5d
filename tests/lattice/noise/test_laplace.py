"""Rounded Laplace noise: the exact law for every step, ties or not, with words counted in advance."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.noise import laplace
from discreet.lattice.noise.laplace import rounded_laplace, symmetric_laplace
from discreet.privacy.coins import Coins


def edges(statistic, step_bits):
    """Return where cell k of floor((S + floor(Z + 1/2)) / 2**j + 1/2) begins, in Z."""
    half = 2**step_bits // 2
    return lambda k: k * 2**step_bits - half - statistic - 0.5


@pytest.mark.parametrize("word_bits", [64, 4])
@pytest.mark.parametrize(
    "case",
    [
        (Fraction(7, 2), 0, 0),
        (Fraction(1, 2), 3, 0),
        (Fraction(11), -5, 1),
        (Fraction(40), 1003, 3),
        (Fraction(5000), -77_777, 10),
    ],
    ids=str,
)
def test_the_law_is_exactly_rounded_laplace(fits, laws, word_bits, case):
    """Observed counts fit the exact mass, also where one word in sixteen ties, and not that of a scale 10 % off."""
    scale, statistic, step_bits = case
    n = 20_000 if word_bits == 64 else 8_000
    coins = Coins.from_seed(11, word_bits=word_bits)
    released = rounded_laplace(np.full(n, statistic), scale=scale, coins=coins, step_bits=step_bits)
    fits(released, edges(statistic, step_bits), laws["laplace"], scale)


def test_a_scale_far_below_the_grid_changes_nothing():
    """With noise far below half a grid unit the statistic itself comes out."""
    exact = np.arange(-50, 50)
    for scale in (Fraction(1, 1000), Fraction(1, 2**500)):
        np.testing.assert_array_equal(rounded_laplace(exact, scale=scale, coins=Coins.from_seed(1)), exact)


@pytest.mark.parametrize("exponent", [40, 59])
def test_wide_noise_has_the_right_size(exponent):
    """Mean size, and balance of signs, at scales where 46 and 64 digits are drawn."""
    noise = rounded_laplace(np.zeros(40_000, np.int64), scale=Fraction(2**exponent), coins=Coins.from_seed(2))
    size = np.abs(noise.astype(float)).mean() / 2.0**exponent
    assert abs(size - 1) < 5 / 200
    assert abs((noise > 0).mean() - 0.5) < 5 * 0.5 / 200


def test_every_digit_is_drawn_and_placed():
    """Low binary digits of wide noise are fair: none is stuck."""
    noise = np.abs(rounded_laplace(np.zeros(40_000, np.int64), scale=Fraction(2**40), coins=Coins.from_seed(3))) - 1
    for digit in range(34):
        assert abs((noise >> digit & 1).mean() - 0.5) < 0.015, digit


def test_sums_outside_int64_wrap_around():
    """An overflow wraps and never raises."""
    largest = np.full(200, 2**63 - 1)
    coins = Coins.from_seed(4)
    released = rounded_laplace(largest, scale=Fraction(1000), coins=coins)
    same = rounded_laplace(np.zeros(200, np.int64), scale=Fraction(1000), coins=Coins.from_seed(4))
    np.testing.assert_array_equal(released.view(np.uint64), same.view(np.uint64) + np.uint64(2**63 - 1))
    assert (released < 0).any()


@pytest.mark.parametrize("size", [0, 1, 7, 8, 16_384, 16_385, 40_000])
def test_the_number_of_words_is_known_in_advance(size):
    """I + 3 words a draw, whatever the statistic; the next word of the stream proves it."""
    scale, n_rows = Fraction(1000), 16 + 3
    expected = Coins.from_seed(5).words(size * n_rows + 1)[-1]
    for statistic in (np.zeros(size, np.int64), np.arange(size) * 99_991):
        coins = Coins.from_seed(5)
        rounded_laplace(statistic, scale=scale, coins=coins)
        assert coins.words(1)[0] == expected


def test_equal_coins_give_equal_noise_whatever_the_statistic():
    """The noise is a function of the coins alone, and shape and argument are left as they were."""
    exact = np.arange(24).reshape(4, 6)[:, ::2]
    before = exact.copy()
    released = rounded_laplace(exact, scale=Fraction(10**6), coins=Coins.from_seed(6))
    noise = rounded_laplace(np.zeros(12, np.int64), scale=Fraction(10**6), coins=Coins.from_seed(6))
    np.testing.assert_array_equal(released - exact, noise.reshape(4, 3))
    np.testing.assert_array_equal(exact, before)


def test_a_tie_of_64_bit_words_is_settled_by_further_words(scripted):
    """Words equal to the thresholds' first digits are decided by the next: all 0 is below, all ones above."""
    law = laplace._law(Fraction(10), 64)
    ties = [threshold.first for threshold in law.thresholds]
    # The sign's second digit is 0 (one half is a single bit), so a further 0 would tie again: it gets a 1.
    sign = law.n_digits + 1
    further = [0] * len(ties)
    further[sign] = 1
    # B and all digits succeed; so does the coin for more, and a further success and a failure follow.
    more = [0, 0, 2**64 - 1]
    low = rounded_laplace(np.zeros(1, np.int64), scale=Fraction(10), coins=scripted(ties + further + more))
    assert law.thresholds[-1].first == 0
    assert low.tolist() == [2 * 2**law.n_digits + 2**law.n_digits]
    high = rounded_laplace(np.zeros(1, np.int64), scale=Fraction(10), coins=scripted(ties, rest=2**64 - 1))
    assert high.tolist() == [0]


def test_the_distribution_of_blocks_is_seamless(fits, laws):
    """Draws beyond the first block have the same law."""
    released = rounded_laplace(np.zeros(36_000, np.int64), scale=Fraction(6), coins=Coins.from_seed(12))
    fits(released[laplace._BLOCK :], edges(0, 0), laws["laplace"], 6)


@pytest.mark.parametrize("word_bits", [64, 4])
def test_symmetric_laplace_draws_each_distinct_entry_once(fits, laws, word_bits):
    """The release is symmetric, and its upper triangle has independent rounded Laplace entries."""
    exact = np.full((110, 110), 13)
    coins = Coins.from_seed(7, word_bits=word_bits)
    released = symmetric_laplace(exact, scale=Fraction(9), coins=coins, step_bits=1)
    np.testing.assert_array_equal(released, released.T)
    fits(released[np.triu_indices(110)], edges(13, 1), laws["laplace"], 9)
    coins = Coins.from_seed(7, word_bits=word_bits)
    np.testing.assert_array_equal(
        released[np.triu_indices(110)], rounded_laplace(np.full(6105, 13), scale=Fraction(9), coins=coins, step_bits=1)
    )


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), 5e-324, 2**60, True, "x", None, "1/0"])
@pytest.mark.parametrize("draw", [rounded_laplace, symmetric_laplace])
def test_bad_scales_are_refused_by_name(draw, bad):
    """Nothing is drawn for a scale that is no positive number of usable size."""
    coins = Coins.from_seed(8)
    with pytest.raises(InvalidArgument, match="`scale`"):
        draw(np.zeros((2, 2), np.int64), scale=bad, coins=coins)
    assert coins.words(1)[0] == Coins.from_seed(8).words(1)[0]


@pytest.mark.parametrize("bad", [-1, 63, 1.0, True, "x", None])
def test_bad_steps_are_refused_by_name(bad):
    """Steps are 0 to 62 bits."""
    with pytest.raises(InvalidArgument, match="`step_bits`"):
        rounded_laplace(np.zeros(2, np.int64), scale=Fraction(1), coins=Coins.from_seed(1), step_bits=bad)


def test_only_exact_integers_are_taken():
    """A float statistic has lost its exact sum; a matrix must be square."""
    with pytest.raises(InvalidType, match="`statistic`"):
        rounded_laplace(np.zeros(2), scale=Fraction(1), coins=Coins.from_seed(1))
    with pytest.raises(InvalidType, match="`statistic`"):
        rounded_laplace([1, 2], scale=Fraction(1), coins=Coins.from_seed(1))
    with pytest.raises(InvalidArgument, match="square"):
        symmetric_laplace(np.zeros((2, 3), np.int64), scale=Fraction(1), coins=Coins.from_seed(1))
