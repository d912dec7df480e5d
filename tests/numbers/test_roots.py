"""Roots: exact where they can be, else on the stated side."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.numbers.roots import certified, newton, rational_root, root_down, root_up, root_up_to_double

positive = st.fractions(min_value=Fraction(1, 10**30), max_value=10**30)


@given(variance=positive)
def test_a_root_is_rounded_up_to_the_next_double(variance):
    """The root's square is at least the variance, the double below is too small, and the value is a double."""
    root = root_up_to_double(variance)
    assert Fraction(float(root)) == root
    assert root**2 >= variance
    assert Fraction(math.nextafter(float(root), 0)) ** 2 < variance


@pytest.mark.parametrize("exponent", [-1000, -999, -3, 0, 1, 2, 117, 118])
def test_roots_of_powers_of_two_are_exact_where_they_can_be(exponent):
    """An even power has its root, an odd one the next double above."""
    variance = Fraction(2) ** exponent
    root = root_up_to_double(variance)
    assert root**2 >= variance
    assert (root**2 == variance) == (exponent % 2 == 0)
    assert float(root) == pytest.approx(2.0 ** (exponent / 2), rel=1e-15)


@given(square=positive)
def test_a_root_lies_between_its_two_roundings(square):
    """The lower is at most the root, the upper at least, both nearly; of squares both are exact."""
    low, high = root_down(square), root_up(square)
    assert low**2 <= square <= high**2
    assert high - low <= high / 2**60
    assert root_down(square**2) == root_up(square**2) == rational_root(square**2) == square


def test_nothing_below_0_has_a_root():
    """Rounded down it is 0, as what is left of a budget may be below."""
    assert root_down(Fraction(-1)) == root_down(Fraction(0)) == 0


@pytest.mark.parametrize("upward", [True, False])
@pytest.mark.parametrize("guess", [1, Fraction(1414, 1000), 2])
def test_a_certified_number_is_on_its_side_whatever_the_guess(guess, upward):
    """The answer certainly has the property, and from Newton's guess it is near."""
    side = (lambda x: x * x >= 2) if upward else (lambda x: x * x <= 2)
    assert side(certified(Fraction(guess), side, upward=upward))
    found = certified(newton(lambda x: (2 / x - x) / 2, Fraction(guess)), side, upward=upward)
    assert side(found)
    assert abs(found * found - 2) <= Fraction(1, 2**60)
