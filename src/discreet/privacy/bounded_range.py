"""What an output costs whose log-ratio between neighbours has a bounded range, beside something purely private.

The exponential mechanism is such an output: its log-ratio lies in an interval whose length r, not its place, is known.

Proof: docs/proofs/gumbel.md
"""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import IncompatiblePlan
from discreet.numbers.roots import root_down
from discreet.privacy.accounting import convert
from discreet.privacy.budgets import Approx, Budget, Currency, Gdp, Pure, Zcdp, check_budget, check_currency

# Slightly more than pi/2: a choice of bounded range r is mu-GDP with mu**2 = (pi/2) (r/2)**2.
_HALF_PI = Fraction(355, 226)
_ZERO = Fraction(0)


def price_together(currency: Currency, n: int, reach: Fraction, other: Fraction) -> Budget:
    """Return the price of `n` outputs of bounded range `reach`, beside something `other`-DP each, in a currency.

    Parameters
    ----------
    currency : class
        One of the four budget classes.
    n : int
        How many.
    reach, other : Fraction
        In nats.

    Guarantee
    ---------
    Pure and Approx ``n (reach + other)``; Zcdp ``n (reach**2 / 8 + other**2 / 2)``; Gdp mu**2 = ``n ((pi/2)
    (reach/2)**2 + mu(other)**2)``. Proof: docs/proofs/gumbel.md

    Examples
    --------
    >>> price_together(Zcdp, 2, Fraction(1), Fraction(0))
    Zcdp(rho=1/4)
    """
    wanted = check_currency(currency)
    if wanted is Zcdp:
        return Zcdp(rho=n * (reach**2 / 8 + other**2 / 2))
    if wanted is Gdp:
        return Gdp.from_squared(n * (_HALF_PI * reach**2 / 4 + _mu_squared(other)))
    return convert(Pure(epsilon=n * (reach + other)), wanted)


def _mu_squared(epsilon: Fraction) -> Fraction:
    if epsilon == 0:
        return _ZERO
    gaussian = convert(Pure(epsilon=epsilon), Gdp)
    assert isinstance(gaussian, Gdp)  # noqa: S101  (its own kind)
    return gaussian.mu_squared


def largest_reach(budget: Budget, *, n_draws: int = 1, other: Fraction = _ZERO, delta: Fraction = _ZERO) -> Fraction:
    """Return the largest range r of an output's log-ratio that a budget pays for, rounded down.

    Parameters
    ----------
    budget : Budget
        For all draws together.
    n_draws : int, default 1
        How many there are.
    other : Fraction, default 0
        What stands beside each of them, in pure epsilon; see `price_together`.
    delta : Fraction, default 0
        What stands beside each of them in delta; the budget must have it.

    Raises
    ------
    IncompatiblePlan
        If nothing is left.

    Examples
    --------
    >>> largest_reach(Pure(epsilon=1), n_draws=2)
    Fraction(1, 2)
    >>> largest_reach(Zcdp(rho="1/8"))
    Fraction(1, 1)
    """
    value = check_budget(budget)
    if isinstance(value, (Pure, Approx)):
        left = value.epsilon / n_draws - other
    elif isinstance(value, Zcdp):
        left = root_down(8 * (value.rho / n_draws - other**2 / 2))
    else:
        left = root_down((value.mu_squared / n_draws - _mu_squared(other)) * 4 / _HALF_PI)
    if left > 0 and (delta == 0 or (isinstance(value, Approx) and n_draws * delta <= value.delta)):
        return left
    raise IncompatiblePlan(f"{value!r} leaves nothing for {n_draws} draws beside their running time. Raise it.")
