"""Budgets are exact, ordered, and add up where a theorem says so."""

import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, InvalidType
from discreet.privacy.budgets import (
    Approx,
    Gdp,
    Pure,
    Zcdp,
    budget_from_json,
    check_budget,
    check_currency,
    check_value,
    to_json,
)

amounts = st.fractions(min_value=0, max_value=1000)
small = st.fractions(min_value=0, max_value=Fraction(1, 8))


class BudgetContract:
    """What holds in every currency; `values` makes budgets of it."""

    values = st.nothing()

    def test_addition_is_a_commutative_monoid(self):
        """Sums do not depend on order or grouping, and zero changes nothing."""

        @given(self.values, self.values, self.values)
        def check(a, b, c):
            assert a + b == b + a
            assert (a + b) + c == a + (b + c)
            assert a + type(a).zero() == a

        check()

    def test_the_order_goes_with_addition(self):
        """A sum is never below its parts, and adding the same keeps the order."""

        @given(self.values, self.values, self.values)
        def check(a, b, c):
            assert a <= a + b
            assert a + b >= b
            assert not a > a + b
            assert (a <= b) == (a + c <= b + c)
            assert [a < b, b < a].count(True) <= 1
            assert (a + b) - b == a

        check()

    def test_json_and_pickle_round_trips_are_the_identity(self):
        """What is written is read back exactly, with no float in between."""

        @given(self.values)
        def check(a):
            assert budget_from_json(to_json(a)) == a
            assert all(isinstance(value, str) for value in to_json(a).values())
            assert pickle.loads(pickle.dumps(a)) == a
            assert hash(a) == hash(budget_from_json(to_json(a)))

        check()

    def test_budgets_are_frozen(self):
        """No coordinate can be set after construction."""
        zero = type(self).example.zero()
        with pytest.raises(AttributeError):
            setattr(zero, zero.fields[0], 1)

    def test_currencies_do_not_mix(self):
        """Neither order nor sum nor difference exists across currencies."""
        mine = type(self).example.zero()
        other = Zcdp(rho=1) if isinstance(mine, Pure) else Pure(epsilon=1)
        for operation in ("__le__", "__lt__", "__ge__", "__gt__", "__add__", "__sub__"):
            assert getattr(mine, operation)(other) is NotImplemented
        assert mine != other

    def test_zero_is_a_value_but_no_budget(self):
        """Nothing left is a value; nothing asked is refused by the name of its parameter."""
        zero = type(self).example.zero()
        assert zero.is_zero
        with pytest.raises(InvalidArgument, match=r"`budget` must have (epsilon|rho|mu) > 0"):
            check_budget(zero)


class TestPure(BudgetContract):
    """`Pure` keeps the contract."""

    values = st.builds(lambda e: Pure(epsilon=e), amounts)
    example = Pure


class TestApprox(BudgetContract):
    """`Approx` keeps the contract."""

    values = st.builds(lambda e, d: Approx(epsilon=e, delta=d), amounts, small)
    example = Approx


class TestZcdp(BudgetContract):
    """`Zcdp` keeps the contract."""

    values = st.builds(lambda r: Zcdp(rho=r), amounts)
    example = Zcdp


class TestGdp(BudgetContract):
    """`Gdp` keeps the contract."""

    values = st.builds(Gdp.from_squared, amounts)
    example = Gdp


def test_ten_tenths_are_one():
    """A float is read by its shortest decimal form."""
    assert sum([Zcdp(rho=0.1)] * 10, start=Zcdp(rho=0)) == Zcdp(rho=1)


@pytest.mark.parametrize("tenth", [0.1, "0.1", "1/10", " 1/10 ", Decimal("0.1"), np.float32(0.1), np.float64(0.1)])
def test_a_tenth_is_a_tenth_in_every_spelling(tenth):
    """Floats of all widths, decimals and texts mean what they print."""
    assert Pure(epsilon=tenth).epsilon == Fraction(1, 10)


def test_texts_of_budgets_hold_no_float():
    """A repr shows exact rationals."""
    assert repr(Pure(epsilon=0.1)) == "Pure(epsilon=1/10)"
    assert repr(Approx(epsilon=1, delta=1e-6)) == "Approx(epsilon=1, delta=1/1000000)"
    assert repr(Gdp(mu="1.5")) == "Gdp(mu=3/2)"
    assert repr(Gdp(mu=1) + Gdp(mu=1)) == "Gdp.from_squared(2)"


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30))
def test_mu_is_exact_or_rounded_up_by_a_hair(square):
    """The root of mu squared is never too small, and too large by at most 2**-96 of itself."""
    assert Gdp(mu=square).mu == square
    mu = Gdp.from_squared(square).mu
    assert square <= mu**2 <= square * (1 + Fraction(1, 2**96)) ** 2


@pytest.mark.parametrize("delta", [1, 1.0, 2, -0.1])
def test_delta_is_a_probability_below_one(delta):
    """A delta of 1 promises nothing and is refused by name, also where it was meant for epsilon."""
    with pytest.raises(InvalidArgument, match="`delta` must satisfy 0 <= delta < 1"):
        Approx(epsilon=1e-6, delta=delta)


def test_approx_budgets_may_be_incomparable():
    """Less epsilon and more delta is neither more nor less."""
    a, b = Approx(epsilon=1, delta=0.2), Approx(epsilon=2, delta=0.1)
    assert not a <= b
    assert not b <= a


def test_parameters_are_keywords():
    """Nobody should guess what a bare number means."""
    with pytest.raises(TypeError):
        Pure(1)
    with pytest.raises(TypeError):
        Approx(1, 1e-6)


@pytest.mark.parametrize("value", [1, 1.0, "1", None, Pure, True])
def test_a_bare_number_is_no_budget(value):
    """The message names the argument and the four classes."""
    with pytest.raises(InvalidType, match=r"`price` must be Pure\(epsilon=\.\.\.\), Approx"):
        check_value(value, "price")


def test_an_epsilon_of_zero_beside_a_delta_is_refused_too():
    """Zero never means that protection is off."""
    with pytest.raises(InvalidArgument, match="epsilon > 0"):
        check_budget(Approx(epsilon=0, delta=0.1))


def test_a_currency_is_one_of_four_classes():
    """Values and other classes are refused."""
    assert check_currency(Gdp) is Gdp
    for wrong in (Pure(epsilon=1), int, "Pure"):
        with pytest.raises(InvalidType, match="`currency` must be one of the classes"):
            check_currency(wrong)


@pytest.mark.parametrize(
    "document",
    [
        None, [], "Pure", {}, {"currency": "Renyi"}, {"currency": ["Pure"]}, {"currency": "Pure"},
        {"currency": "Pure", "epsilon": 0.1}, {"currency": "Pure", "epsilon": "1", "delta": "0"},
        {"currency": "Pure", "epsilon": "x"}, {"currency": "Pure", "epsilon": "-1"},
    ],
)  # fmt: skip
def test_stored_budgets_are_read_strictly(document):
    """Unknown currencies, missing, extra or inexact numbers are refused."""
    with pytest.raises(InvalidArgument):
        budget_from_json(document)
