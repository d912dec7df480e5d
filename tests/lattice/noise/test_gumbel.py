"""Gumbel choices: the exponential mechanism's exact law, in doubles and in refinement."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.stats

from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.noise import gumbel
from discreet.lattice.noise.gumbel import noisy_top
from discreet.privacy.coins import Coins

# Draws of the claimed law fall below ALPHA once in a thousand seeds, and the seeds are fixed.
ALPHA = 1e-3
# A scale 10 % off must be seen with this probability.
POWER = 0.95


def successive(scores, scale, size):
    """Return the probability of every ordered choice of `size` without replacement, each exponential in its score."""
    weights = [math.exp(score / scale) for score in scores]
    law = {}
    for order in itertools.permutations(range(len(scores)), size):
        left, probability = sum(weights), 1.0
        for index in order:
            probability *= weights[index] / left
            left -= weights[index]
        law[order] = probability
    return law


def draws(scores, scale, size, n, coins):
    exact = np.array(scores, np.int64)
    return Counter(tuple(noisy_top(exact, scale=scale, size=size, coins=coins).tolist()) for _ in range(n))


def joined(law, values, n):
    """Return values of ordered choices as an array, those that are expected fewer than 20 times added up."""
    common = [order for order, probability in law.items() if n * probability >= 20]
    cells = np.array([values[order] for order in common], dtype=float)
    rest = sum(values[order] for order in law if order not in common)
    return np.append(cells, rest) if len(common) < len(law) else cells


def p_value(counts, law):
    """Return the chi-square p-value of ordered choices."""
    n = sum(counts.values())
    expected = n * joined(law, law, n)
    return scipy.stats.chi2.sf(((joined(law, counts, n) - expected) ** 2 / expected).sum(), expected.size - 1)


def power(law, wrong, n):
    """Return how likely a test against the wrong law is to fail at ALPHA when the law is the right one."""
    false, true = joined(wrong, wrong, n), joined(wrong, law, n)
    noncentrality = n * ((true - false) ** 2 / false).sum()
    return scipy.stats.ncx2.sf(scipy.stats.chi2.isf(ALPHA, false.size - 1), false.size - 1, noncentrality)


def check(scores, scale, size, n, coins):
    """The claimed scale passes, scales 10 % to either side fail; the test is likely to see that."""
    counts, law = draws(scores, scale, size, n, coins), successive(scores, float(scale), size)
    assert p_value(counts, law) > ALPHA
    for factor in (1.1, 1 / 1.1):
        wrong = successive(scores, float(scale) * factor, size)
        assert power(law, wrong, n) > POWER
        assert p_value(counts, wrong) < ALPHA


@pytest.mark.parametrize(
    ("word_bits", "size", "n"),
    [
        (64, 1, 11_000),
        (64, 2, 6_000),
        (64, 4, 5_000),
        pytest.param(4, 1, 11_000, marks=pytest.mark.nightly),
        pytest.param(4, 2, 6_000, marks=pytest.mark.nightly),
        (4, 4, 5_000),
    ],
)
def test_the_law_is_that_of_successive_exponential_mechanisms(word_bits, size, n):
    """Ordered choices fit the exact probabilities, also where words are short, and not those of a scale 10 % off."""
    check([0, 8, 12, 17], Fraction(11, 2), size, n, Coins.from_seed(70 + size, word_bits=word_bits))


@pytest.mark.parametrize(("word_bits", "n"), [(64, 12_000), (4, 7_000)])
def test_a_choice_of_two_tells_a_scale_that_is_off(word_bits, n):
    """The argmax of two scores is a logistic coin; 10 % to either side fail."""
    check([0, 12], Fraction(5), 1, n, Coins.from_seed(80, word_bits=word_bits))


def test_equal_scores_are_chosen_alike():
    """Equal scores never tie: each of five wins a fifth of the time."""
    counts = draws([3] * 5, Fraction(1, 10**6), 1, 4_000, Coins.from_seed(81))
    assert p_value(counts, {(k,): 0.2 for k in range(5)}) > ALPHA


def test_refinement_and_doubles_agree(monkeypatch):
    """With an error radius so large that many neighbors are refined, the same coins give the same order."""
    scores = np.random.default_rng(1).integers(-50, 50, 300)
    for size in (1, 7, 300):
        fast = noisy_top(scores, scale=Fraction(9), size=size, coins=Coins.from_seed(82))
        with monkeypatch.context() as patch:
            patch.setattr(gumbel, "ERROR_RADIUS", 0.01)
            slow = noisy_top(scores, scale=Fraction(9), size=size, coins=Coins.from_seed(82))
        np.testing.assert_array_equal(fast, slow)


def test_the_largest_are_the_first_of_all():
    """A shorter list is the beginning of a longer one, whatever the block and the partition."""
    scores = np.random.default_rng(2).integers(-1000, 1000, 40_000)
    whole = noisy_top(scores, scale=Fraction(300), size=40_000, coins=Coins.from_seed(83))
    assert sorted(whole.tolist()) == list(range(40_000))
    for size in (0, 1, 2, 500):
        part = noisy_top(scores, scale=Fraction(300), size=size, coins=Coins.from_seed(83))
        np.testing.assert_array_equal(part, whole[:size])


@pytest.mark.parametrize("scale", [Fraction(1, 2**500), Fraction(1, 2**60), Fraction(1), Fraction(2**55)])
def test_scores_of_any_size_are_taken(scale):
    """Scores at the ends of int64 are clamped and never wrap around."""
    scores = np.array([-(2**63), 2**63 - 1, 0, -5, 2**61])
    order = noisy_top(scores, scale=scale, size=5, coins=Coins.from_seed(84)).tolist()
    assert sorted(order) == list(range(5))
    if scale <= 1:
        # Noise of scale 1 stays below 50, so 0 and -5 alone may change places.
        assert order[:2] == [1, 4]
        assert order[-1] == 0


def test_large_scores_lose_no_digit():
    """Two scores that differ by one unit far beyond 2**53 are told apart where the noise is smaller."""
    scores = np.array([2**61, 2**61 + 1])
    for seed in range(20):
        assert noisy_top(scores, scale=Fraction(1, 100), size=1, coins=Coins.from_seed(seed)).tolist() == [1]


@pytest.mark.parametrize("leading", [0, 2**64 - 1])
@pytest.mark.parametrize("trailing", [0, 5, 2**64 - 1])
def test_vague_words_are_computed_from_what_follows(scripted, leading, trailing):
    """A first word of zeros or ones is placed by interval arithmetic, from the same words."""
    coins = scripted([leading, 2**63, trailing, 2**62], rest=2**63)
    with mpmath.workprec(400):
        uniform = mpmath.mpf(leading) / 2**64 + mpmath.mpf(trailing) / 2**128 + mpmath.mpf(2**63) / 2**192
        other = mpmath.mpf(2**63) / 2**64 + mpmath.mpf(2**62) / 2**128
        gap = 1000 * (mpmath.log(-mpmath.log(uniform)) - mpmath.log(-mpmath.log(other)))
        score = int(mpmath.floor(gap))
    # The first draw is larger by `gap` less than the second: one unit of a score decides.
    assert noisy_top(np.array([score, 0]), scale=Fraction(1000), size=1, coins=coins).tolist() == [1]
    coins = scripted([leading, 2**63, trailing, 2**62], rest=2**63)
    assert noisy_top(np.array([score + 1, 0]), scale=Fraction(1000), size=1, coins=coins).tolist() == [0]


@pytest.mark.parametrize("size", [1, 2, 16_384, 16_385])
def test_the_number_of_words_is_known_in_advance(size):
    """Two words a score, whatever the scores; the next word of the stream proves it."""
    expected = Coins.from_seed(85).words(2 * size + 1)[-1]
    for scores in (np.zeros(size, np.int64), np.arange(size) * 99_991):
        coins = Coins.from_seed(85)
        noisy_top(scores, scale=Fraction(1000), size=1, coins=coins)
        assert coins.words(1)[0] == expected


def test_doubles_keep_to_the_error_radius():
    """The noise in doubles is within the stated radius of its words' exact value."""
    words = Coins.from_seed(86).words(4_000).reshape(2, -1)
    words[0, :64] = [2**k for k in range(64)]
    words[0, 64:128] = [2**64 - 1 - 2**k for k in range(64)]
    noise, vague = gumbel.gumbel_doubles(words[0], words[1])
    assert not vague.any()
    with mpmath.workprec(300):
        for index in [*range(140), *range(140, 2_000, 20)]:
            uniform = (mpmath.mpf(int(words[0, index])) + mpmath.mpf(int(words[1, index])) / 2**64) / 2**64
            exact = -mpmath.log(-mpmath.log(uniform) / 128)
            assert abs(mpmath.mpf(float(noise[index])) - exact) < gumbel.ERROR_RADIUS / 4


def test_a_choice_is_as_private_as_its_prices_say():
    """On neighbors, of exact probabilities: bounded range, a Gaussian's zCDP, and mu-GDP with mu**2 = pi/2 of it."""
    rng, worst = np.random.default_rng(3), {"zcdp": 0.0, "gdp": 0.0}
    for _ in range(2_000):
        size, ratio = int(rng.integers(2, 6)), float(rng.choice([0.01, 0.3, 1, 3]))  # D / scale
        scores = rng.normal(size=size) * 3
        moved = scores + ratio * np.sign(rng.normal(size=size))
        p, q = (np.exp(s - s.max()) / np.exp(s - s.max()).sum() for s in (scores, moved))
        losses = np.log(p / q)
        assert np.ptp(losses) <= 2 * ratio + 1e-9
        for order in (1.001, 2, 10, 50):
            divergence = np.log((q * np.exp(order * losses)).sum()) / (order - 1)
            worst["zcdp"] = max(worst["zcdp"], divergence / (order * ratio**2 / 2))
        # A tradeoff curve has its corners at the ordered outputs; each asks for a mu.
        falling = np.argsort(-losses)
        of_p, of_q = np.cumsum(p[falling])[:-1], np.cumsum(q[falling])[:-1]
        mu = (scipy.stats.norm.ppf(of_p) - scipy.stats.norm.ppf(of_q)).max()
        worst["gdp"] = max(worst["gdp"], mu / (math.sqrt(math.pi / 2) * ratio))
    assert 0.99 < worst["zcdp"] <= 1 + 1e-9
    assert 0.99 < worst["gdp"] <= 1 + 1e-9


BAD = [0, -1, float("nan"), float("inf"), 5e-324, 2**56, True, "x", None]


@pytest.mark.parametrize("bad", BAD)
def test_bad_scales_are_refused_by_name(bad):
    """Nothing is drawn for a scale that is no positive number of usable size."""
    coins = Coins.from_seed(87)
    with pytest.raises(InvalidArgument, match="`scale`"):
        noisy_top(np.zeros(2, np.int64), scale=bad, size=1, coins=coins)
    assert coins.words(1)[0] == Coins.from_seed(87).words(1)[0]


def test_only_exact_scores_and_sizes_are_taken():
    """Float scores have lost their exactness; there are at most as many winners as scores."""
    coins = Coins.from_seed(88)
    with pytest.raises(InvalidType, match="`statistic`"):
        noisy_top(np.zeros(2), scale=Fraction(1), size=1, coins=coins)
    with pytest.raises(InvalidArgument, match="`scores`"):
        noisy_top(np.zeros((2, 2), np.int64), scale=Fraction(1), size=1, coins=coins)
    for bad in (-1, 3, True, 1.0):
        with pytest.raises(InvalidArgument, match="`size`"):
            noisy_top(np.zeros(2, np.int64), scale=Fraction(1), size=bad, coins=coins)
