"""Races of real scores, choices by weight and uniform whole numbers: their laws, in doubles and exactly."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from discreet.lattice.noise.categorical import Categorical
from discreet.lattice.noise.race import race
from discreet.lattice.noise.whole_numbers import below
from discreet.numbers.intervals import enclose
from discreet.privacy.coins import Coins

# Draws of the right law fall below ALPHA once in a thousand seeds, and the seeds are fixed. With 40,000 draws a law
# tilted by 5 % in cells of a few hundredths or more has a noncentrality of about 100.
ALPHA = 1e-3
N_FIT = 40_000
EXACT = [Fraction(-1), Fraction(0), Fraction(1, 3), Fraction(1), Fraction(3, 4)]
SCORES = np.array([float(score) for score in EXACT] + [-np.inf])
LAW = np.exp(SCORES) / np.exp(SCORES).sum()


def fits(found, law):
    """Return the chi-square p-value of indices."""
    possible = law > 0
    counts = np.bincount(found, minlength=law.size)
    assert counts[~possible].sum() == 0
    return scipy.stats.chisquare(counts[possible], law[possible] / law.sum() * found.size).pvalue


def tilted(law):
    """Return a law 5 % off, up and down in turn."""
    wrong = law * (1 + 0.05 * (1 - 2 * (np.cumsum(law > 0) % 2)))
    return wrong / wrong.sum()


def constant(index, level):
    """Return a score that is known exactly."""
    return EXACT[index], EXACT[index]


def zero(index, level):
    """Return a score of 0."""
    return Fraction(0), Fraction(0)


def run(seed, *, size=1, word_bits=64, radius=0.0, limits=constant, scores=SCORES):
    coins = Coins.from_seed(seed, word_bits=word_bits)
    return race(scores, radius=radius, largest=1, limits=limits, size=size, coins=coins)


@pytest.mark.parametrize(("word_bits", "n"), [(64, N_FIT), (5, 2_000)])
def test_a_race_is_won_in_proportion_to_the_exponential_of_the_score(word_bits, n):
    """The law fits, also where words are short, and one tilted by 5 % does not."""
    winners = run(1, size=n, word_bits=word_bits)
    assert fits(winners, LAW) > ALPHA
    if n == N_FIT:
        assert fits(winners, tilted(LAW)) < ALPHA


def test_doubles_and_enclosures_agree():
    """A radius so large that most races are decided exactly changes no winner; nor does the size of a block."""
    fast = run(2, size=200)
    np.testing.assert_array_equal(fast, run(2, size=200, radius=2.0))
    many = np.append(np.linspace(-1, 1, 20_000), SCORES)
    exact = [Fraction(score) for score in many[:-1]]
    wide = {"scores": many, "limits": lambda index, _: (exact[index], exact[index])}
    np.testing.assert_array_equal(run(3, size=5, **wide), run(3, size=5, radius=1e-3, **wide))


def test_enclosures_are_narrowed_as_long_as_it_takes():
    """Scores that are known more narrowly at every level end with one winner, and with the law of their limits."""
    widths = []

    def narrowing(index, level):
        widths.append(level)
        low, high = enclose(lambda reals: reals.log_of(index + 1), 60)
        slack = Fraction(4, 16**level)
        return low - slack, high + slack

    scores = np.log(np.arange(1.0, 4.0))
    winners = run(4, size=1_500, radius=5.0, limits=narrowing, scores=scores)
    assert fits(winners, np.array([1.0, 2.0, 3.0])) > ALPHA
    assert max(widths) >= 2


def test_words_that_doubles_cannot_read_are_read_exactly(scripted):
    """A first word of zeros loses for certain, one of ones wins for certain, whatever the score."""
    zeros, ones, middle = 0, 2**64 - 1, 2**63
    # Words are drawn first words first, then the second ones.
    for leading, winner in (([middle, zeros], 0), ([ones, middle], 0), ([middle, ones], 1), ([zeros, middle], 1)):
        coins = scripted([*leading, middle, middle], rest=middle)
        found = race(np.zeros(2), radius=0.0, largest=1, limits=zero, size=1, coins=coins)
        assert found.tolist() == [winner]
    coins = scripted([zeros, middle, middle, middle], rest=middle)
    alone = np.array([0.0, -np.inf])
    found = race(alone, radius=0.0, largest=1, limits=zero, size=1, coins=coins)
    assert found.tolist() == [0]


@pytest.mark.parametrize("size", [1, 7])
def test_the_number_of_words_is_known_in_advance(size):
    """Two words a score and race, whatever the scores; the next word of the stream proves it."""
    expected = Coins.from_seed(5).words(2 * size * SCORES.size + 1)[-1]
    for scores in (SCORES, np.zeros(SCORES.size)):
        coins = Coins.from_seed(5)
        race(scores, radius=0.0, largest=1, limits=constant, size=size, coins=coins)
        assert coins.words(1)[0] == expected


WEIGHTS = np.array([1.0, 0.0, 1.0, 1.5, 1.25, 2.0**-1022])


@pytest.mark.parametrize(("word_bits", "n"), [(64, N_FIT), (3, 4_000)])
def test_choices_are_in_proportion_to_weights(word_bits, n):
    """The law fits, also where every choice is settled in integers; a tilt of 5 % does not; weight 0 never wins."""
    coins = Coins.from_seed(6, word_bits=word_bits)
    found = Categorical(WEIGHTS).draw(coins.words(n), coins)
    law = WEIGHTS / WEIGHTS.sum()
    law[-1] = 0
    assert fits(found, law) > ALPHA
    if n == N_FIT:
        assert fits(found, tilted(law)) < ALPHA


def test_exact_sums_are_exact():
    """Sums of doubles of all sizes, subnormal ones among them, are the sums of their rationals."""
    rng = np.random.default_rng(1)
    weights = np.append(np.exp(-rng.uniform(0, 700, 40)), [0.0, 5e-324, 2.0**-1030, 1e300])
    law = Categorical(weights)
    for count in range(1, weights.size + 1):
        exact = sum(map(Fraction, weights[:count].tolist()))
        assert Fraction(law._exact_sum(count), 2**1127) == exact


def test_choices_in_doubles_and_in_integers_agree():
    """For many cells the index that doubles say is the one of exact sums, and every open one is settled."""
    rng = np.random.default_rng(2)
    weights = np.exp(-rng.uniform(0, 30, 5_000))
    law, coins = Categorical(weights), Coins.from_seed(7)
    words = coins.words(300)
    found = law.draw(words, coins)
    assert [law._settle(int(word), coins) for word in words[:40]] == found[:40].tolist()
    law._radius = law._total  # nothing is decided in doubles
    np.testing.assert_array_equal(law.draw(words[:60], coins), found[:60])


def test_a_uniform_number_on_a_boundary_is_lengthened(scripted):
    """A word whose interval holds a boundary of two equal weights is decided by the word after it."""
    for rest, expected in ((0, 1), (2**64 - 1, 1)):
        coins = scripted([], rest=rest)
        assert Categorical(np.ones(2)).draw(np.array([2**63], np.uint64), coins).tolist() == [expected]
    third = (2**64 - 1) // 3  # 0.333... in 64 bits: below one third, its successor above
    for rest, expected in ((0, 0), (2**64 - 1, 1)):
        coins = scripted([], rest=rest)
        assert Categorical(np.ones(3)).draw(np.array([third], np.uint64), coins).tolist() == [expected]


@pytest.mark.parametrize("word_bits", [64, 2])
def test_whole_numbers_below_a_bound_are_uniform(word_bits):
    """Every value is equally likely, whatever the bound and the length of words."""
    coins = Coins.from_seed(8, word_bits=word_bits)
    for bound in (1, 3, 10):
        found = np.array([below(bound, int(coins.words(1)[0]), coins) for _ in range(3_000)])
        assert found.min() == 0
        assert found.max() == bound - 1
        if bound > 1:
            assert scipy.stats.chisquare(np.bincount(found, minlength=bound)).pvalue > ALPHA


def test_whole_numbers_are_the_floor_of_a_longer_and_longer_number(scripted):
    """A word that leaves the floor open is lengthened, until its interval lies on one side."""
    third = (2**64 - 1) // 3
    assert below(3, third, scripted([], rest=0)) == 0
    assert below(3, third, scripted([], rest=2**64 - 1)) == 1
    assert below(3, third, scripted([third, third], rest=2**63)) == 1
