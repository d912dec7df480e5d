"""L2 K-norm noise: the exact law of radius and direction; doubles and refinement tell the same story."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.stats

from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.noise import l2_norm as module
from discreet.lattice.noise.l2_norm import check_l2_rate, l2_noise, l2_norm
from discreet.privacy.coins import Coins

RATE = Fraction(1, 2**20)


def draws(n, size, *, seed, rate=RATE, word_bits=64):
    """Return n independent vectors of noise, in units of 1 / rate."""
    coins, zeros = Coins.from_seed(seed, word_bits=word_bits), np.zeros(size, np.int64)
    return np.array([l2_norm(zeros, rate=rate, coins=coins) for _ in range(n)]) * float(rate)


def coordinate_of_three(z, scale):
    """Distribution of one of three entries: a Gamma(3) radius times a uniform number."""
    z = mpmath.mpf(z) / scale
    upper = 1 - (abs(z) + 2) * mpmath.exp(-abs(z)) / 4
    return upper if z > 0 else 1 - upper


@pytest.mark.parametrize(("statistic", "step_bits", "scale"), [(1003, 3, 40), (-77_777, 12, 10_000)])
def test_one_of_three_entries_has_exactly_its_law(fits, statistic, step_bits, scale):
    """Observed counts of a rounded entry fit its closed form, and not that of a scale 10 % off."""
    coins, exact = Coins.from_seed(31), np.full(3, statistic)
    released = np.array(
        [l2_norm(exact, rate=Fraction(1, scale), coins=coins, step_bits=step_bits)[0] for _ in range(9_000)]
    )
    fits(released, lambda k: (2 * k - 1) * 2**step_bits / 2 - statistic, coordinate_of_three, scale)


def test_one_entry_is_rounded_laplace(fits, laws):
    """In one dimension the law is Laplace's."""
    coins, exact = Coins.from_seed(32), np.array([5])
    released = np.array([l2_norm(exact, rate=Fraction(1, 7), coins=coins)[0] for _ in range(8_000)])
    fits(released, lambda k: k - 0.5 - 5, laws["laplace"], 7)


@pytest.mark.nightly
def test_words_of_four_bits_have_the_same_law(fits):
    """Where every draw is refined the law stays, and a scale 10 % off is seen."""
    coins, exact = Coins.from_seed(33, word_bits=4), np.zeros(3, np.int64)
    released = np.array([l2_norm(exact, rate=Fraction(1, 4), coins=coins)[0] for _ in range(9_000)])
    fits(released, lambda k: k - 0.5, coordinate_of_three, 4)


@pytest.mark.parametrize("word_bits", [1, 4])
def test_short_words_do_not_change_the_radius(word_bits):
    """The norm of refined noise is Gamma distributed."""
    radii = np.linalg.norm(draws(30 * word_bits, 2, seed=34, word_bits=word_bits), axis=1)
    assert scipy.stats.kstest(radii, scipy.stats.gamma(2).cdf).pvalue > 1e-3


@pytest.mark.parametrize("size", [1, 2, 5, 40])
def test_the_radius_is_gamma_and_a_scale_ten_percent_off_is_seen(size):
    """|Z| rate has the law Gamma(d): the claimed scale passes, and scales 10 % off fail."""
    radii = np.linalg.norm(draws(4_000, size, seed=35), axis=1)
    law = scipy.stats.gamma(size)
    assert scipy.stats.kstest(radii, law.cdf).pvalue > 1e-3
    for factor in (1.1, 1 / 1.1):
        assert scipy.stats.kstest(radii * factor, law.cdf).pvalue < 1e-3


def test_the_direction_is_uniform_and_independent_of_the_radius():
    """Entries of the direction have mean 0, covariance I/d and the moments of a sphere, whatever the radius."""
    noise = draws(6_000, 3, seed=36)
    radii = np.linalg.norm(noise, axis=1)
    directions = noise / radii[:, None]
    assert abs(directions.mean(axis=0)).max() < 5 / math.sqrt(3 * 6_000)
    np.testing.assert_allclose(directions.T @ directions / 6_000, np.eye(3) / 3, atol=0.025)
    # On a sphere in three dimensions every entry is uniform on [-1, 1].
    for column in directions.T:
        assert scipy.stats.kstest(column, scipy.stats.uniform(-1, 2).cdf).pvalue > 1e-3
    assert abs(np.corrcoef(radii, directions[:, 0])[0, 1]) < 5 / math.sqrt(6_000)
    assert abs(np.corrcoef(radii, directions[:, 0] ** 2)[0, 1]) < 5 / math.sqrt(6_000)


@pytest.mark.parametrize("size", [1, 2, 3, 8])
@pytest.mark.parametrize(("step_bits", "rate"), [(0, RATE), (0, Fraction(1, 3)), (9, Fraction(1, 2**29))])
def test_refinement_and_doubles_agree(monkeypatch, size, step_bits, rate):
    """With an error radius so large that every entry is refined, the same coins give the same release."""
    exact = np.arange(size) * 1001 - 7
    for seed in range(6):
        fast = l2_norm(exact, rate=rate, coins=Coins.from_seed(seed), step_bits=step_bits)
        with monkeypatch.context() as patch:
            patch.setattr(module, "_error_radius", lambda *_: math.inf)
            slow = l2_norm(exact, rate=rate, coins=Coins.from_seed(seed), step_bits=step_bits)
        np.testing.assert_array_equal(fast, slow)


def test_an_entry_within_the_radius_of_a_boundary_is_refined_alone(monkeypatch):
    """A radius just below half a step refines most entries; the release stays."""
    fast = l2_norm(np.zeros(9, np.int64), rate=RATE, coins=Coins.from_seed(37))
    monkeypatch.setattr(module, "_error_radius", lambda *_: 0.4)
    slow = l2_norm(np.zeros(9, np.int64), rate=RATE, coins=Coins.from_seed(37))
    np.testing.assert_array_equal(fast, slow)


def test_the_double_is_within_its_radius_of_the_exact_noise(monkeypatch):
    """Enclosed by intervals, the noise lies within the stated error of its double."""
    seen = []
    original = module.rounding.round_sum

    def spy(noise, *rest):
        seen.append(noise.copy())
        return original(noise, *rest)

    monkeypatch.setattr(module.rounding, "round_sum", spy)
    for seed in range(20):
        draw = module._Draw(5, Fraction(2**20), 0, Coins.from_seed(seed))
        draw.round_into(np.zeros(5, np.int64), np.empty(5, np.int64))
        _, norm, _ = draw._direction()
        radius = module._error_radius(5, float(2**20), norm)
        for index, value in enumerate(seen[-1].tolist()):
            low, high = draw.limits(index, 1)
            assert abs(Fraction(value) - (low + high) / 2) < radius
            assert high - low < 2.0**-30


def test_noise_alone_is_the_noise_of_a_statistic():
    """Where nothing wraps, the perturbation of an objective is the release of zeros."""
    alone = l2_noise(7, rate=RATE, coins=Coins.from_seed(38))
    on_zeros = l2_norm(np.zeros(7, np.int64), rate=RATE, coins=Coins.from_seed(38))
    np.testing.assert_array_equal(alone, on_zeros)
    assert alone.dtype == np.float64


def test_noise_alone_never_wraps(monkeypatch):
    """A number beyond 64 bits comes out as the nearest double."""
    assert (
        module._unwrapped(lambda level: None if level < 2 else (Fraction(3**60), Fraction(3**60) + Fraction(1, 4)))
        == 3.0**60
    )
    monkeypatch.setattr(module, "_error_radius", lambda *_: math.inf)
    refined = l2_noise(3, rate=RATE, coins=Coins.from_seed(39))
    monkeypatch.undo()
    np.testing.assert_array_equal(refined, l2_noise(3, rate=RATE, coins=Coins.from_seed(39)))


@pytest.mark.parametrize("size", [1, 2, 5, 30])
def test_the_number_of_words_is_known_in_advance(size):
    """Two words an exponential and three a pair of normal numbers, whatever the statistic."""
    expected = Coins.from_seed(40).words(2 * size + 3 * ((size + 1) // 2) + 1)[-1]
    for statistic in (np.zeros(size, np.int64), np.arange(size) * 99_991):
        coins = Coins.from_seed(40)
        l2_norm(statistic, rate=Fraction(1, 1000), coins=coins)
        assert coins.words(1)[0] == expected


def test_sums_outside_int64_wrap_around():
    """An overflow wraps and never raises, in doubles and in refinement."""
    for word_bits in (64, 4):
        coins = Coins.from_seed(41, word_bits=word_bits)
        released = [l2_norm(np.full(2, 2**63 - 1), rate=Fraction(1, 1000), coins=coins) for _ in range(20)]
        assert 0 < (np.array(released) < 0).sum() < 40


def test_an_empty_statistic_stays_empty_and_shapes_are_kept():
    """Nothing is drawn for nothing; a matrix keeps its shape."""
    assert l2_norm(np.zeros((0, 3), np.int64), rate=RATE, coins=Coins.from_seed(1)).shape == (0, 3)
    assert l2_norm(np.zeros((2, 3), np.int64), rate=RATE, coins=Coins.from_seed(1)).shape == (2, 3)


@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf"), Fraction(1, 2**62), Fraction(2**501)])
def test_a_rate_out_of_range_is_refused(rate):
    """Before anything is drawn, by name."""
    coins = Coins.from_seed(42)
    with pytest.raises(InvalidArgument, match="rate"):
        l2_norm(np.zeros(2, np.int64), rate=rate, coins=coins)
    assert coins.words(1)[0] == Coins.from_seed(42).words(1)[0]


def test_other_arguments_out_of_range_are_refused():
    """Statistics of another type have lost the exact sum; steps end at 62 bits; noise has a size."""
    with pytest.raises(InvalidType, match="int64"):
        l2_norm(np.zeros(2), rate=RATE, coins=Coins.from_seed(1))
    with pytest.raises(InvalidArgument, match="step_bits"):
        l2_norm(np.zeros(2, np.int64), rate=RATE, coins=Coins.from_seed(1), step_bits=63)
    with pytest.raises(InvalidArgument, match="size"):
        l2_noise(0, rate=RATE, coins=Coins.from_seed(1))
    assert check_l2_rate(Fraction(1, 3), 0) == 3
    assert module._error_radius(2, 1.0, 0.0) == math.inf
