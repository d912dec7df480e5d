"""What the samplers stand on: thresholds, splitting and rounding, the library's accuracy."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DiscreetError, InvalidArgument
from discreet.lattice.noise import accuracy, rounding
from discreet.lattice.noise.steps import step_bits_for
from discreet.lattice.noise.thresholds import Threshold
from discreet.privacy.coins import Coins

positive = st.fractions(min_value=Fraction(1, 10**30), max_value=10**30)
words64 = st.integers(-(2**63), 2**63 - 1)


@given(p=st.fractions(min_value=0, max_value=1).filter(lambda p: p < 1), bits=st.integers(1, 64))
def test_digits_of_a_rational_are_those_of_long_division(p, bits):
    """Digits come out certified, however late the rational ends or repeats."""
    if p.denominator & (p.denominator - 1):
        threshold = Threshold(lambda reals: reals.of(p), bits)
        for index in range(4):
            digit = math.floor(p * 2 ** (bits * (index + 1))) % 2**bits
            assert threshold.digit(index) == digit


def test_a_number_beside_a_digit_boundary_is_certified_with_more_precision():
    """One half less 2**-500 has a first digit of 63 ones, whatever the first precision sees."""
    threshold = Threshold(lambda reals: reals.of(Fraction(1, 2)) - reals.of(Fraction(1, 2**500)), 64)
    assert threshold.first == 2**63 - 1
    assert threshold.digit(5) == 2**64 - 1


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(9, 10), Fraction(1, 1000)])
@pytest.mark.parametrize("bits", [1, 4])
def test_a_coin_succeeds_with_its_probability(p, bits):
    """With words of 1 and 4 bits ties are the rule, and the share of successes is p; 10 % off would show at 1/3."""
    threshold = Threshold(lambda reals: reals.of(p), bits)
    coins = Coins.from_seed(71, word_bits=bits)
    n = 12_000
    share = sum(threshold.settle(coins) for _ in range(n)) / n
    assert abs(share - p) < 4.5 * math.sqrt(p * (1 - p) / n)


@given(statistic=words64, noise=st.floats(-(2.0**40), 2.0**40), step_bits=st.integers(0, 62))
def test_a_decided_sum_is_the_exact_floor(statistic, noise, step_bits):
    """Where the double decides, the result is floor((S + Z) / 2**j + 1/2) in rationals, modulo 2**(64 - j)."""
    exact, out = np.array([statistic]), np.empty(1, np.int64)
    values = np.array([noise])
    open_ = rounding.round_sum(values, exact, step_bits, rounding.certain_below(2.0**-12), out)
    true = math.floor(Fraction(statistic, 2**step_bits) + Fraction(noise) + Fraction(1, 2))
    assert open_ or (int(out[0]) - true) % 2 ** (64 - step_bits) == 0


@given(statistic=words64, noise=st.fractions(-(2**70), 2**70), step_bits=st.integers(0, 62))
def test_settling_takes_the_first_level_that_decides(statistic, noise, step_bits):
    """Limits that narrow to a point are followed until both ends round alike."""
    asked = []

    def limits(level):
        asked.append(level)
        if level == 0:
            return None
        # Not to a boundary itself, which a real noise hits with probability 0.
        width = Fraction(2**70, 4 ** (40 * level))
        return noise, noise + width / 3

    settled = rounding.settle(statistic, step_bits, limits)
    true = math.floor((statistic + noise) / 2**step_bits + Fraction(1, 2))
    assert (settled - true) % 2 ** (64 - step_bits) == 0
    assert -(2**63) <= settled < 2**63
    assert asked == list(range(len(asked)))


def test_a_large_radius_decides_nothing():
    """A radius of half a step or more leaves every draw open."""
    out = np.empty(1, np.int64)
    limit = rounding.certain_below(0.5)
    assert limit < 0
    assert rounding.round_sum(np.zeros(1), np.zeros(1, np.int64), 0, limit, out)


@given(exponent=st.integers(-10, 59), factor=st.integers(0, 999))
def test_steps_span_two_to_the_twenty(exponent, factor):
    """2**20 to 2**21 steps a standard deviation, or the grid itself where it is coarser than that."""
    std = Fraction(2) ** exponent * (1 + Fraction(factor, 1000))
    bits = step_bits_for(std)
    assert (2**20 <= std / 2**bits < 2**21) if std >= 2**20 else bits == 0


def test_steps_take_floats_and_stop_at_62():
    """A float is read as written; wider noise does not exist."""
    assert step_bits_for(2.0**20) == 0
    assert step_bits_for(2.0**21) == 1
    assert step_bits_for(Fraction(2) ** 90) == 62


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), True, "x", None])
def test_bad_standard_deviations_are_refused_by_name(bad):
    """Like every numeric parameter."""
    with pytest.raises(InvalidArgument, match="`noise_std`"):
        step_bits_for(bad)


def test_the_library_is_accurate_here():
    """log, log1p and sin err by less than the radius takes for granted, on more points than the start-up looks at."""
    errors = accuracy.measured_errors(600)
    assert set(errors) == {"log", "log1p", "sin"}
    assert max(errors.values()) <= accuracy.ALLOWED
    accuracy.check_library()


def test_an_inaccurate_library_is_refused(monkeypatch):
    """A sine that errs by 2**-40 is found at once and named, and no pair is made with it."""
    from discreet.lattice.noise.box_muller import Pairs

    accurate = np.sin
    monkeypatch.setattr(np, "sin", lambda x, out=None: np.multiply(accurate(x), 1 + 2.0**-40, out=out))
    accuracy.check_library.cache_clear()
    try:
        with pytest.raises(DiscreetError, match=r"numpy\.sin has a relative error"):
            Pairs(2, Coins.from_seed(72))
    finally:
        monkeypatch.undo()
        accuracy.check_library.cache_clear()


def wrong_where(function, is_wrong):
    """Return a function that errs in its last entry where an array and its `out` are of some kind."""

    def planted(x, out=None):
        wrong = is_wrong(x, out)
        found = function(x, out=out)
        if wrong:
            found[-1] *= 1 + 2.0**-45
        return found

    return planted


def of_size(size):
    """Return whether an array has so many entries."""
    return lambda x, _: x.size == size


def three_doubles_in(x, _):
    """Whether an array starts three doubles after the memory that it is a part of."""
    return x.base is not None and x.ctypes.data - x.base.ctypes.data == 24


def in_place(x, out):
    """Whether the result takes an array's place, where a vector of four leaves three."""
    return x is out and x.size % 4 == 3


@pytest.mark.parametrize("name", ["log", "log1p", "sin"])
@pytest.mark.parametrize(
    "is_wrong",
    [of_size(5), of_size(17), of_size(1 << 13), of_size(1 << 14), three_doubles_in, in_place],
    ids=["five", "seventeen", "block", "larger block", "offset", "in place"],
)
def test_a_kernel_that_errs_at_some_lengths_is_found(monkeypatch, name, is_wrong):
    """Short arrays, tails, the blocks of the samplers, places within a line, and results in place are all tried."""
    monkeypatch.setattr(np, name, wrong_where(getattr(np, name), is_wrong))
    errors = accuracy.measured_errors(61)
    assert errors[name] > accuracy.ALLOWED
    assert sum(error > accuracy.ALLOWED for error in errors.values()) == 1


def test_a_value_that_is_not_finite_is_an_infinite_error(monkeypatch):
    """NaN compares with nothing, and must not pass."""
    accurate = np.log
    monkeypatch.setattr(np, "log", lambda x, out=None: np.multiply(accurate(x), np.nan, out=out))
    assert accuracy.measured_errors(9)["log"] == np.inf


@pytest.mark.parametrize("law", ["laplace", "gaussian", "wishart"])
@pytest.mark.parametrize("step_bits", [0, 1, 20])
def test_a_wrapped_statistic_is_released_as_if_it_had_wrapped_after_the_noise(law, step_bits):
    """Neighbours on the two sides of 2**63 differ by what one record changes, never by the size of the wrap."""
    from discreet.lattice.noise.gaussian import rounded_gaussian
    from discreet.lattice.noise.laplace import rounded_laplace
    from discreet.lattice.noise.wishart import wishart_difference

    def released(value):
        statistic = np.array([[value]], dtype=np.int64)
        if law == "laplace":
            return rounded_laplace(statistic, scale=Fraction(2**30), coins=Coins.from_seed(3), step_bits=step_bits)
        if law == "gaussian":
            return rounded_gaussian(statistic, variance=Fraction(2**60), coins=Coins.from_seed(3), step_bits=step_bits)
        return wishart_difference(statistic, theta=Fraction(1, 2**30), coins=Coins.from_seed(3), step_bits=step_bits)

    below, above = (int(released(value)[0, 0]) for value in (2**63 - 2**21, -(2**63) + 2**21))
    modulus = 2 ** (64 - step_bits)
    assert (above - below) % modulus == 2 ** (22 - step_bits)
    assert -modulus // 2 <= min(below, above) <= max(below, above) < modulus // 2
