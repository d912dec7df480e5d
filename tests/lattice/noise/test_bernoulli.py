"""Coins given by the logarithm of their probability: exact at every logarithm, with words of any length."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DiscreetError, InvalidArgument
from discreet.lattice.noise import bernoulli
from discreet.lattice.noise.bernoulli import check_exponential, exp_coins, measured_error
from discreet.privacy.coins import Coins


def tossed(log_probability, n, *, seed=1, word_bits=64):
    coins = Coins.from_seed(seed, word_bits=word_bits)
    return exp_coins(np.full(n, log_probability), coins.words(n), coins)


@pytest.mark.parametrize("log_probability", [-1e-3, -0.3, -1.0, -4.0])
def test_the_frequency_is_the_probability(log_probability):
    """Within four standard errors; a probability 5 % off would not be, for the ones near one half."""
    n = 200_000
    p = math.exp(log_probability)
    assert abs(tossed(log_probability, n).mean() - p) < 4 * math.sqrt(p * (1 - p) / n)


@pytest.mark.parametrize("bits", [1, 3, 8])
def test_few_bits_give_the_same_probability(bits):
    """Ties and straddles are the rule with short words, and the law stays exact."""
    n, p = 4000, math.exp(-0.7)
    assert abs(tossed(-0.7, n, word_bits=bits).mean() - p) < 4 * math.sqrt(p * (1 - p) / n)


def test_certain_and_impossible_coins():
    """0 always succeeds, and what is above; minus infinity and NaN never do."""
    for bits in (64, 8):
        assert tossed(0.0, 300, word_bits=bits).all()
        assert tossed(1.0, 300, word_bits=bits).all()
        assert not tossed(-np.inf, 300, word_bits=bits).any()
        assert not tossed(np.nan, 300, word_bits=bits).any()


@given(st.floats(-60, 0), st.integers(0, 2**64 - 1))
def test_a_word_decides_as_the_exact_comparison_does(log_probability, word):
    """Away from the threshold the coin says whether the word, as a fraction, is below the probability."""
    import mpmath

    with mpmath.workdps(60):
        threshold = mpmath.exp(mpmath.mpf(log_probability)) * 2**64
        if abs(threshold - word) < 2:
            return
        expected = bool(word < threshold)
    found = exp_coins(np.array([log_probability]), np.array([word], np.uint64), Coins.from_seed(1))
    assert bool(found[0]) == expected


@pytest.mark.parametrize("log_probability", [-800.0, -44.5, -1e5, -1e300])
def test_a_word_of_zeros_is_settled_by_further_words(log_probability):
    """Below 2**-64 a coin needs a word of zeros and more of them: it ends, and fails."""
    found = exp_coins(np.array([log_probability]), np.zeros(1, np.uint64), Coins.from_seed(1))
    assert not found[0] or log_probability > -45


@pytest.mark.parametrize("log_probability", [-1e-30, -1e-300, -5e-324])
def test_a_probability_next_to_one_is_settled(log_probability):
    """The largest word straddles the threshold, and further words decide, almost surely for success."""
    assert exp_coins(np.array([log_probability]), ~np.zeros(1, np.uint64), Coins.from_seed(2))[0]
    assert not exp_coins(np.array([-1e-17]), ~np.zeros(1, np.uint64), Coins.from_seed(2))[0]


def test_a_straddling_word_succeeds_as_often_as_the_rest_of_the_threshold():
    """Given the word of the threshold itself, success has the probability of what follows it."""
    log_probability = -0.5
    import mpmath

    with mpmath.workdps(40):
        exact = mpmath.exp(mpmath.mpf(log_probability)) * 2**64
        word, rest = int(mpmath.floor(exact)), float(exact - mpmath.floor(exact))
    n = 2000
    found = exp_coins(np.full(n, log_probability), np.full(n, word, np.uint64), Coins.from_seed(3))
    assert abs(found.mean() - rest) < 4 * math.sqrt(rest * (1 - rest) / n)


def test_shapes_must_agree():
    """One word a coin."""
    with pytest.raises(InvalidArgument, match="`words`"):
        exp_coins(np.zeros(3), np.zeros(2, np.uint64), Coins.from_seed(1))


def test_the_librarys_exponential_is_as_accurate_as_the_shades_take_for_granted(monkeypatch):
    """A worse one is refused with a message that says what to do."""
    assert measured_error(61) <= 2.0**-52
    check_exponential()
    monkeypatch.setattr(bernoulli, "measured_error", lambda _: 1e-9)
    with pytest.raises(DiscreetError, match=r"numpy\.exp"):
        check_exponential.__wrapped__()


def test_a_far_exponent_is_enclosed():
    """Below exp(-2**17) the enclosure is [0, something smaller than any word]."""
    low, high = bernoulli.enclose(lambda context: bernoulli._exp(Fraction(-(10**9)), context), 64)
    assert low == 0 < high < Fraction(1, 2**1000)
