"""Wishart difference: moments and marginal laws against the formulas; doubles and refinement agree."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.lattice.noise import wishart
from discreet.lattice.noise.laplace import rounded_laplace
from discreet.lattice.noise.wishart import wishart_difference
from discreet.privacy.coins import Coins


def draws(n, width, theta, seed, *, word_bits=64, statistic=0, step_bits=0):
    coins = Coins.from_seed(seed, word_bits=word_bits)
    exact = np.full((width, width), statistic)
    return np.array(
        [wishart_difference(exact, theta=theta, coins=coins, step_bits=step_bits) for _ in range(n)], dtype=np.int64
    )


def edges(statistic, step_bits):
    return lambda k: (2 * k - 1) * 2**step_bits / 2 - statistic


@pytest.mark.parametrize(
    ("word_bits", "case"),
    [
        (64, (Fraction(1, 6), 5, 0)),
        (64, (Fraction(1, 50), -9, 3)),
        pytest.param(4, (Fraction(1, 6), 5, 0), marks=pytest.mark.nightly),  # by day: short words, below
        pytest.param(4, (Fraction(1, 50), -9, 3), marks=pytest.mark.nightly),
    ],
    ids=str,
)
def test_one_column_gives_the_laplace_law(fits, laws, word_bits, case):
    """D = 1 is rounded Laplace noise of scale 1/theta, also where every entry is refined."""
    theta, statistic, step_bits = case
    n = 8_000 if word_bits == 64 else 6_000
    released = draws(n, 1, theta, 41, word_bits=word_bits, statistic=statistic, step_bits=step_bits)
    fits(released.reshape(-1), edges(statistic, step_bits), laws["laplace"], 1 / theta)


def test_one_column_and_rounded_laplace_have_one_law():
    """Two samplers of the same law agree in a two-sample test."""
    import scipy.stats

    ones = draws(8_000, 1, Fraction(1, 1000), 42).reshape(-1)
    others = rounded_laplace(np.zeros(8_000, np.int64), scale=Fraction(1000), coins=Coins.from_seed(43))
    assert scipy.stats.ks_2samp(ones, others).pvalue > 1e-3


def test_three_columns_have_the_exact_marginal_laws(fits, laws):
    """A diagonal entry is a difference of Gammas of shape (D+1)/2, any other of shape D+1 and half the scale."""
    released = draws(8_000, 3, Fraction(1, 8), 44, statistic=3, step_bits=1)
    fits(released[:, 1, 1], edges(3, 1), laws["gamma difference"], 8, shape=2)
    fits(released[:, 0, 2], edges(3, 1), laws["gamma difference"], 4, shape=4)
    np.testing.assert_array_equal(released, released.transpose(0, 2, 1))


@pytest.mark.parametrize("width", [2, 5])
def test_moments_are_those_of_the_formulas(width):
    """Mean 0, variance (D+1)/theta**2 on the diagonal and half of it elsewhere, no correlation between entries."""
    scale = 10**6
    noise = draws(6_000, width, Fraction(1, scale), 45) / scale
    rows, columns = np.triu_indices(width)
    entries = noise[:, rows, columns]
    expected = np.where(rows == columns, width + 1, (width + 1) / 2)
    spread = (entries**2).std(axis=0) / math.sqrt(len(entries))
    assert (np.abs((entries**2).mean(axis=0) - expected) < 5 * spread).all()
    # A scale 10 % off would be 20 % in the variance: outside.
    assert (0.19 * expected > 5 * spread).all() or width > 2
    assert (np.abs(entries.mean(axis=0)) < 5 * np.sqrt(expected / len(entries))).all()
    correlations = np.corrcoef(entries.T) - np.eye(rows.size)
    assert np.abs(correlations).max() < 6 / math.sqrt(len(entries))


def test_short_words_keep_moments_and_symmetry():
    """With 4-bit words every entry of a wider matrix is refined, and the second moments stay."""
    noise = draws(250, 2, Fraction(1, 100), 46, word_bits=4) / 100
    np.testing.assert_array_equal(noise, noise.transpose(0, 2, 1))
    assert abs((noise[:, 0, 0] ** 2).mean() / 3 - 1) < 0.6
    assert abs((noise[:, 0, 1] ** 2).mean() / 1.5 - 1) < 0.6


@pytest.mark.parametrize("step_bits", [0, 1, 7])
def test_refinement_and_doubles_agree(monkeypatch, step_bits):
    """With an error radius so large that every entry is refined, the same coins give the same release."""
    exact = np.arange(16).reshape(4, 4) * 12_345
    exact += exact.T
    arguments = {"theta": Fraction(1, 2**18), "step_bits": step_bits}
    fast = [wishart_difference(exact, coins=Coins.from_seed(seed), **arguments) for seed in range(12)]
    monkeypatch.setattr(wishart, "_error_radius", lambda *_: 1.0)
    slow = [wishart_difference(exact, coins=Coins.from_seed(seed), **arguments) for seed in range(12)]
    np.testing.assert_array_equal(fast, slow)


def test_the_error_radius_covers_the_doubles(monkeypatch):
    """The computed noise differs from its exact limits by less than the radius, by a wide margin."""
    from discreet.lattice.noise import rounding

    width, factor = 6, Fraction(2**20)
    seen = {}
    original = rounding.round_sum

    def spy(noise, *rest):
        seen["noise"] = noise.copy()
        return original(noise, *rest) or True

    def settle(statistic, step_bits, limits):
        seen.setdefault("limits", []).append(limits(1))
        return statistic

    monkeypatch.setattr(rounding, "round_sum", spy)
    monkeypatch.setattr(rounding, "settle", settle)
    monkeypatch.setattr(rounding, "certain_below", lambda _: -1.0)
    wishart_difference(np.zeros((width, width), np.int64), theta=1 / (2 * factor), coins=Coins.from_seed(47))
    radius = wishart._error_radius(width + 1, float(factor))
    errors = [abs(float(low - Fraction(x))) for x, (low, _) in zip(seen["noise"], seen["limits"], strict=True)]
    assert len(errors) == 21
    assert max(errors) < radius / 8


def test_a_vague_pair_is_refined(scripted):
    """One first word of zeros is enough to compute the whole matrix exactly."""
    words = Coins.from_seed(48).words(18).tolist()
    words[2] = 0
    released = wishart_difference(
        np.zeros((2, 2), np.int64), theta=Fraction(1, 1000), coins=scripted(words, rest=2**63)
    )
    np.testing.assert_array_equal(released, released.T)


def test_the_number_of_words_is_known_in_advance():
    """3 D (D + 1) words, whatever the statistic."""
    expected = Coins.from_seed(49).words(3 * 4 * 5 + 1)[-1]
    for exact in (np.zeros((4, 4), np.int64), np.full((4, 4), 987_654_321)):
        coins = Coins.from_seed(49)
        wishart_difference(exact, theta=Fraction(1, 3000), coins=coins)
        assert coins.words(1)[0] == expected


def test_tiny_noise_leaves_the_statistic():
    """Noise far below the grid rounds away, and sums wrap around."""
    exact = np.array([[4, -7], [-7, 2**63 - 1]])
    for theta in (Fraction(10**6), Fraction(2**500)):
        np.testing.assert_array_equal(wishart_difference(exact, theta=theta, coins=Coins.from_seed(50)), exact)
    wide = [wishart_difference(exact, theta=Fraction(1, 10**9), coins=Coins.from_seed(s))[1, 1] for s in range(20)]
    assert min(wide) < 0 < max(wide)


@pytest.mark.parametrize(
    "bad", [0, -1, float("nan"), float("inf"), 5e-324, Fraction(1, 2**60), 2**501, True, "x", None]
)
def test_bad_rates_are_refused_by_name(bad):
    """Nothing is drawn for a rate that is no positive number of usable size."""
    coins = Coins.from_seed(51)
    with pytest.raises(InvalidArgument, match="`theta`"):
        wishart_difference(np.zeros((2, 2), np.int64), theta=bad, coins=coins)
    assert coins.words(1)[0] == Coins.from_seed(51).words(1)[0]


@pytest.mark.parametrize("shape", [(2,), (2, 3), (0, 0), (2, 2, 2)])
def test_only_square_matrices_are_taken(shape):
    """The shape is checked before anything is drawn."""
    with pytest.raises(InvalidArgument, match="square"):
        wishart_difference(np.zeros(shape, np.int64), theta=Fraction(1), coins=Coins.from_seed(1))
