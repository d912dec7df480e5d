"""L-infinity K-norm noise: marginal law, gauge and direction against the formulas; doubles and refinement agree."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.stats

from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.noise import k_norm as module
from discreet.lattice.noise.k_norm import k_norm, symmetric_k_norm
from discreet.privacy.coins import Coins

ALPHA = 1e-3


def draws(n, half_widths, rate, seed, *, word_bits=64, statistic=0, step_bits=0):
    coins = Coins.from_seed(seed, word_bits=word_bits)
    exact = np.full(len(half_widths), statistic)
    return np.array(
        [k_norm(exact, half_widths=half_widths, rate=rate, coins=coins, step_bits=step_bits) for _ in range(n)],
        dtype=np.int64,
    )


def edges(statistic, step_bits):
    return lambda k: (2 * k - 1) * 2**step_bits / 2 - statistic


def marginal_cdf(z, scale, size):
    """Return P(Z_i <= z) for `size` noisy entries, scale = h_i / rate: E min(1, |z| / R) for R ~ Gamma(size + 1)."""
    t = abs(mpmath.mpf(z)) / scale
    upper = lambda shape: mpmath.gammainc(shape, t, regularized=True)  # noqa: E731
    within = 1 - upper(size + 1) + t / size * upper(size)
    return (1 + within) / 2 if z > 0 else (1 - within) / 2


def gamma_cdf(z, scale, shape):
    return 1 - mpmath.gammainc(shape, mpmath.mpf(max(z, 0)) / scale, regularized=True)


@pytest.mark.parametrize(
    ("word_bits", "case"),
    [
        (64, (3, Fraction(1, 2), 5, 0)),
        (64, (1, Fraction(1, 50), -9, 3)),
        (4, (3, Fraction(1, 2), 5, 0)),
        pytest.param(4, (1, Fraction(1, 50), -9, 3), marks=pytest.mark.nightly),
    ],
    ids=str,
)
def test_one_entry_has_the_laplace_law(fits, laws, word_bits, case):
    """In one dimension the mechanism is the Laplace mechanism, of scale h / rate."""
    width, rate, statistic, step_bits = case
    released = draws(8_000, [width], rate, 61, word_bits=word_bits, statistic=statistic, step_bits=step_bits)
    fits(released[:, 0], edges(statistic, step_bits), laws["laplace"], width / rate)


@pytest.mark.parametrize(("word_bits", "n"), [(64, 16_000), pytest.param(4, 8_000, marks=pytest.mark.nightly)])
def test_every_entry_has_the_marginal_law_of_its_half_width(fits, word_bits, n):
    """Density (rate / 2mh) Q(m, rate |z| / h): each entry fits it, also where each is refined, and 10 % off fails."""
    widths = [1, Fraction(5, 2)]
    released = draws(n, widths, Fraction(1, 8), 62, word_bits=word_bits, statistic=-3, step_bits=1)
    for entry, width in enumerate(widths):
        fits(released[:, entry], edges(-3, 1), marginal_cdf, 8 * width, size=2)


@pytest.mark.parametrize("size", [3, pytest.param(21, marks=pytest.mark.nightly)])
def test_the_gauge_is_a_gamma_variable(fits, size):
    """max_i |z_i| / h_i ~ Gamma(m, 1 / rate): one shape less than the radius that it was made of."""
    widths = [1 + index % 3 for index in range(size)]
    noise = draws(8_000, widths, Fraction(1, 2**30), 63) / 2.0**30
    gauge = np.max(np.abs(noise / widths), axis=1)
    fits(np.floor(gauge * 4).astype(np.int64), lambda k: k / 4, gamma_cdf, 1, shape=size)
    wrong_shape = scipy.stats.kstest(gauge, scipy.stats.gamma(size + 1).cdf).pvalue
    assert wrong_shape < ALPHA < scipy.stats.kstest(gauge, scipy.stats.gamma(size).cdf).pvalue


def test_the_direction_is_uniform_on_the_box_and_independent_of_the_gauge():
    """Which entry is the largest is a fair choice; given it, the others are uniform between its limits."""
    size = 4
    noise = draws(8_000, [1, 2, 3, 4], Fraction(1, 2**30), 64) / (2.0**30 * np.arange(1, 5))
    gauge = np.abs(noise).max(axis=1)
    direction = noise / gauge[:, None]
    largest = np.abs(direction).argmax(axis=1)
    assert scipy.stats.chisquare(np.bincount(largest, minlength=size)).pvalue > ALPHA
    others = direction[np.arange(size) != largest[:, None]].reshape(-1, size - 1)
    for column in others.T:
        assert scipy.stats.kstest(column, scipy.stats.uniform(-1, 2).cdf).pvalue > ALPHA
        # Limits 5 % off would be seen.
        assert scipy.stats.kstest(column * 0.95, scipy.stats.uniform(-1, 2).cdf).pvalue < ALPHA
        assert abs(scipy.stats.spearmanr(np.abs(column), gauge).statistic) < 5 / math.sqrt(8_000)
    correlations = np.corrcoef(np.abs(others).T) - np.eye(size - 1)
    assert np.abs(correlations).max() < 5 / math.sqrt(8_000)


@pytest.mark.nightly  # the gauge and the marginal laws say the same of fewer entries
def test_moments_are_those_of_the_formula():
    """Std h_i sqrt((m + 1)(m + 2) / 3) / rate, mean 0, no correlation: at the 120 entries of a 15-column matrix."""
    size, n = 120, 2_500
    widths = np.array([1 + index % 2 for index in range(size)])
    noise = draws(n, widths.tolist(), Fraction(1, 2**20), 65) / 2.0**20
    expected = widths * math.sqrt((size + 1) * (size + 2) / 3)
    ratios = (noise**2).mean(axis=0) / expected**2
    # A uniform's square has a relative spread of 0.9: 5 of them over sqrt(n) are 9 %; 10 % in the scale is 20 %.
    assert np.abs(ratios - 1).max() < 5 * 0.95 / math.sqrt(n) < 0.19
    assert abs(ratios.mean() - 1) < 0.02
    assert (np.abs(noise.mean(axis=0)) < 5 * expected / math.sqrt(n)).all()
    assert np.abs(np.corrcoef(noise.T) - np.eye(size)).max() < 6 / math.sqrt(n)


@pytest.mark.parametrize("noise_factor", [1, Fraction(1, 2)])
def test_neighbours_differ_by_exactly_what_is_promised(noise_factor):
    """On {z_1 <= 0, z_1 is the largest} a step of one half-width costs the whole rate; half the noise costs twice."""
    n, unit, promised = 10_000, 2**20, 0.7
    rate = Fraction(7, 10) / unit / noise_factor
    first = draws(n, [1, 2], rate, 72)
    second = draws(n, [1, 2], rate, 73) + np.array([unit, 0])
    hits = [np.count_nonzero(2 * np.minimum(-z[:, 0], 2**50) >= np.abs(z[:, 1])) for z in (first, second)]
    loss, spread = math.log(hits[0] / hits[1]), math.sqrt(1 / hits[0] + 1 / hits[1])
    assert spread < 0.06
    assert (abs(loss - promised) < 4 * spread) == (noise_factor == 1)
    assert abs(loss - promised / noise_factor) < 4 * spread


def test_entries_of_half_width_zero_are_released_as_they_are():
    """A public entry is only rounded to the step, and is not counted among the noisy ones."""
    exact = np.array([1000, 7, -1001])
    released = k_norm(
        exact, half_widths=[0, 10**6, 0], rate=Fraction(1), coins=Coins.from_seed(66), step_bits=3
    ).tolist()
    assert released[0] == 125
    assert released[2] == -125
    alone = k_norm(exact[1:2], half_widths=[10**6], rate=Fraction(1), coins=Coins.from_seed(66), step_bits=3)
    assert released[1] == alone[0]
    untouched = Coins.from_seed(66)
    assert k_norm(exact, half_widths=[0, 0, 0], rate=Fraction(1), coins=untouched).tolist() == exact.tolist()
    assert untouched.words(1)[0] == Coins.from_seed(66).words(1)[0]
    assert k_norm(exact[:0], half_widths=[], rate=Fraction(1), coins=untouched).shape == (0,)


@pytest.mark.parametrize("step_bits", [0, 1, 7])
def test_refinement_and_doubles_agree(monkeypatch, step_bits):
    """With an error radius so large that every entry is refined, the same coins give the same release."""
    exact = np.arange(16).reshape(4, 4) * 12_345
    exact += exact.T
    widths = [[1 + abs(i - j) for j in range(4)] for i in range(4)]
    arguments = {"half_widths": widths, "rate": Fraction(1, 2**18), "step_bits": step_bits}
    fast = [symmetric_k_norm(exact, coins=Coins.from_seed(seed), **arguments) for seed in range(12)]
    monkeypatch.setattr(module, "_error_radius", lambda *_: 1.0)
    slow = [symmetric_k_norm(exact, coins=Coins.from_seed(seed), **arguments) for seed in range(12)]
    np.testing.assert_array_equal(fast, slow)
    np.testing.assert_array_equal(fast, np.transpose(fast, (0, 2, 1)))


@pytest.mark.parametrize("size", [1, 21, 400])
def test_the_error_radius_covers_the_doubles(monkeypatch, size):
    """The computed noise differs from its exact limits by less than the radius, by a wide margin."""
    from discreet.lattice.noise import rounding

    factor = Fraction(2**20)
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
    k_norm(np.zeros(size, np.int64), half_widths=[1] * size, rate=1 / factor, coins=Coins.from_seed(67))
    radius = module._error_radius(size + 1, float(factor))
    errors = [abs(float(low - Fraction(x))) for x, (low, _) in zip(seen["noise"], seen["limits"], strict=True)]
    assert len(errors) == size
    assert max(errors) < radius / 8


@pytest.mark.parametrize("first", [0, 2**64 - 1])
def test_an_exponential_that_doubles_do_not_know_is_refined(scripted, first):
    """A first word of all zeros or all ones makes the radius vague: every entry is computed exactly."""
    words = Coins.from_seed(68).words(8).tolist()  # three exponentials of two words, two directions
    words[1] = first
    released = k_norm(
        np.zeros(2, np.int64), half_widths=[1, 1], rate=Fraction(1, 1000), coins=scripted(words, rest=2**63)
    )
    nudged = [word ^ (word_index == 1) for word_index, word in enumerate(words)]
    same = k_norm(np.zeros(2, np.int64), half_widths=[1, 1], rate=Fraction(1, 1000), coins=scripted(nudged, rest=2**63))
    assert released[0] * released[1] != 0
    # The neighbouring first word is not vague; near 1 it says nearly the same, near 0 a logarithm more or less.
    assert np.abs(released - same).max() <= (0 if first else 1000 * 45)


def test_all_zeros_are_refined_until_a_word_is_not(scripted):
    """A uniform number of 128 zero bits has no logarithm yet; further words give it one."""
    words = [0, 2**63, 0, 2**63, 2**62]  # two exponentials of two words each, one direction
    released = k_norm(np.zeros(1, np.int64), half_widths=[1], rate=Fraction(1, 100), coins=scripted(words, rest=2**63))
    radius = (129 + 1) * math.log(2)
    assert abs(released[0] - 100 * radius / 2) < 60


def test_the_number_of_words_is_known_in_advance():
    """Two words an exponential and one a direction, m + 1 and m of them, whatever the statistic."""
    expected = Coins.from_seed(69).words(2 * 11 + 10 + 1)[-1]
    for exact in (np.zeros((4, 4), np.int64), np.full((4, 4), 987_654_321)):
        coins = Coins.from_seed(69)
        symmetric_k_norm(exact, half_widths=[[2] * 4] * 4, rate=Fraction(1, 3000), coins=coins)
        assert coins.words(1)[0] == expected


def test_tiny_noise_leaves_the_statistic_and_sums_wrap_around():
    """Noise far below the grid rounds away; an overflow wraps and never raises."""
    exact = np.array([4, -7, 2**63 - 1])
    for rate in (Fraction(10**6), Fraction(2**499)):
        np.testing.assert_array_equal(k_norm(exact, half_widths=[1] * 3, rate=rate, coins=Coins.from_seed(70)), exact)
    wide = [k_norm(exact, half_widths=[1] * 3, rate=Fraction(1, 10**9), coins=Coins.from_seed(s)) for s in range(20)]
    assert min(entry[2] for entry in wide) < 0 < max(entry[2] for entry in wide)


@pytest.mark.parametrize(
    "bad", [0, -1, float("nan"), float("inf"), 5e-324, Fraction(1, 2**60), 2**501, True, "x", None]
)
def test_bad_rates_are_refused_by_name(bad):
    """Nothing is drawn for a rate that is no positive number of usable size."""
    coins = Coins.from_seed(71)
    with pytest.raises(InvalidArgument, match="`rate`"):
        k_norm(np.zeros(2, np.int64), half_widths=[1, 1], rate=bad, coins=coins)
    assert coins.words(1)[0] == Coins.from_seed(71).words(1)[0]


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), True, "x", None])
def test_bad_half_widths_are_refused_by_name(bad):
    """Each half-width is a finite number of at least 0, and there is one an entry."""
    with pytest.raises(InvalidArgument, match="`half_widths`"):
        k_norm(np.zeros(2, np.int64), half_widths=[1, bad], rate=Fraction(1), coins=Coins.from_seed(1))
    with pytest.raises(InvalidArgument, match="`half_widths`"):
        k_norm(np.zeros(2, np.int64), half_widths=[1], rate=Fraction(1), coins=Coins.from_seed(1))
    with pytest.raises(InvalidArgument, match="`half_widths`"):
        symmetric_k_norm(np.zeros((2, 2), np.int64), half_widths=[[1]], rate=Fraction(1), coins=Coins.from_seed(1))


def test_only_exact_integers_and_square_matrices_are_taken():
    """A float statistic has lost its exact sum already."""
    with pytest.raises(InvalidType, match="`statistic`"):
        k_norm(np.zeros(2), half_widths=[1, 1], rate=Fraction(1), coins=Coins.from_seed(1))
    with pytest.raises(InvalidArgument, match="square"):
        symmetric_k_norm(np.zeros((2, 3), np.int64), half_widths=[[1]], rate=Fraction(1), coins=Coins.from_seed(1))
