"""What budgets are worth in another currency, and together: only where a theorem says so, never understated.

===========  ========  ==========================================  ==================================
from         to        value                                       by
===========  ========  ==========================================  ==================================
Pure e       Approx    (e, 0)                                      definition
Pure e       Zcdp      e**2 / 2                                    Bun and Steinke 2016
Pure e       Gdp       2 Phi^-1(exp(e) / (1 + exp(e)))             Dong, Roth and Su 2022
Gdp mu       Zcdp      mu**2 / 2                                   Dong, Roth and Su 2022
Gdp mu       Approx    the exact curve at a given delta            Balle and Wang 2018
Zcdp rho     Approx    the best order at a given delta             Canonne, Kamath and Steinke 2020
===========  ========  ==========================================  ==================================

All else is `NoSoundConversion`. The functions of single numbers live in `gaussian_accounting` and
`concentrated_accounting` and are offered here under one roof.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet import _checks
from discreet.errors import InvalidArgument, NoSoundConversion
from discreet.numbers.intervals import Arithmetic, Interval, ends, refined
from discreet.numbers.outward import round_up
from discreet.privacy.budgets import Approx, Budget, Currency, Gdp, Pure, Zcdp, check_currency, check_value
from discreet.privacy.concentrated_accounting import (
    bun_steinke_epsilon,
    bun_steinke_rho,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_rho,
)
from discreet.privacy.gaussian_accounting import (
    epsilon_of,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_log_delta,
    gaussian_mu,
    mu_of_pure,
    positive_delta,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "WHY_NOT",
    "bun_steinke_epsilon",
    "bun_steinke_rho",
    "compose",
    "convert",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_log_delta",
    "gaussian_mu",
    "group",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_rho",
]

# Why a currency cannot be reached.
WHY_NOT: dict[Currency, str] = {
    Pure: "no finite epsilon bounds it",
    Zcdp: "a delta says nothing about the rest of the distribution",
    Gdp: "it does not bound the whole tradeoff curve",
    Approx: "it needs a delta of its own",
}


def convert(budget: Budget, currency: Currency, *, delta: Any = None) -> Budget:
    """Return the cheapest guarantee in `currency` that every release of cost `budget` has.

    Parameters
    ----------
    budget : Pure, Approx, Zcdp or Gdp
        What is known of a release.
    currency : class
        One of the four budget classes.
    delta : number or text, optional
        Needed, and used, only from Zcdp and Gdp to Approx: the delta of the answer, `0 < delta < 1`.

    Returns
    -------
    Budget
        In `currency`; the budget itself where it is in that currency already.

    Raises
    ------
    NoSoundConversion
        If no theorem gives a finite answer.
    InvalidArgument
        If `delta` is needed and missing, or not in (0, 1).

    Guarantee
    ---------
    Every mechanism with the guarantee `budget` has the guarantee returned. Proof: docs/proofs/accounting.md

    Examples
    --------
    >>> convert(Pure(epsilon=1), Zcdp)
    Zcdp(rho=1/2)
    >>> round(float(convert(Gdp(mu=1), Approx, delta=1e-5).epsilon), 4)
    4.3772
    """
    value, wanted = check_value(budget), check_currency(currency)
    if isinstance(value, wanted):
        return value
    if isinstance(value, Pure) and wanted is Approx:
        return Approx(epsilon=value.epsilon, delta=0)
    if isinstance(value, Pure) and wanted is Zcdp:
        return Zcdp(rho=value.epsilon**2 / 2)
    if isinstance(value, Pure) and wanted is Gdp:
        return Gdp(mu=mu_of_pure(value.epsilon))
    if isinstance(value, Gdp) and wanted is Zcdp:
        return Zcdp(rho=value.mu_squared / 2)
    if isinstance(value, (Gdp, Zcdp)) and wanted is Approx:
        return _at_delta(value, delta)
    raise NoSoundConversion(
        f"{value!r} has no price in {wanted.__name__}: {WHY_NOT[wanted]}. Ask in {wanted.__name__} from the start, "
        f"or account in another currency."
    )


def _at_delta(value: Gdp | Zcdp, delta: Any) -> Approx:
    if delta is None:
        raise InvalidArgument(f"`delta` is needed to turn {value!r} into Approx. Give the delta you can accept.")
    probability = positive_delta(delta)
    if isinstance(value, Gdp):
        return Approx(epsilon=epsilon_of(probability, value.mu_squared), delta=probability)
    return Approx(epsilon=zcdp_epsilon(delta=probability, rho=value.rho), delta=probability)


def compose(budgets: Iterable[Budget]) -> Budget:
    """Return what several releases give away together, in the one of their currencies that holds them all.

    Valid for releases chosen one after the other from earlier outputs, as long as the budgets were fixed in advance.

    Parameters
    ----------
    budgets : iterable of Budget
        At least one; Pure may stand beside any other currency, and Gdp beside Zcdp.

    Raises
    ------
    InvalidArgument
        If there is none.
    NoSoundConversion
        If no one currency among them holds them all, as with Approx and Gdp.

    Examples
    --------
    >>> compose([Zcdp(rho=0.1)] * 10)
    Zcdp(rho=1)
    >>> compose([Pure(epsilon=1), Zcdp(rho=1)])
    Zcdp(rho=3/2)
    """
    values = [check_value(budget, "budgets") for budget in budgets]
    if not values:
        raise InvalidArgument("`budgets` must hold at least one budget; found none.")
    currencies = {type(value) for value in values}
    if Approx in currencies and currencies - {Approx, Pure}:
        raise NoSoundConversion(
            "Approx does not add up with Zcdp or Gdp: it gives no bound in their currencies. "
            "Convert the others to Approx first, each at a delta of its own."
        )
    common: Currency = next(currency for currency in (Approx, Zcdp, Gdp, Pure) if currency in currencies)
    totals = [convert(value, common).coordinates for value in values]
    return common.from_coordinates(tuple(sum(column, Fraction(0)) for column in zip(*totals, strict=True)))


def group(budget: Budget, *, size: int) -> Budget:
    """Return what a release with guarantee `budget` a record promises for `size` records at once.

    `size` = 2 also turns a guarantee under AddRemove into one under Replace.

    Parameters
    ----------
    budget : Budget
        The guarantee for neighbours.
    size : int
        How many records may differ, at least 1.

    Raises
    ------
    InvalidArgument
        If the delta of the group would reach 1, so that nothing is promised.

    Examples
    --------
    >>> group(Zcdp(rho=0.5), size=3)
    Zcdp(rho=9/2)
    """
    value, many = check_value(budget), _checks.integer(size, "size", low=1)
    if isinstance(value, Pure):
        return Pure(epsilon=many * value.epsilon)
    if isinstance(value, Zcdp):
        return Zcdp(rho=many**2 * value.rho)
    if isinstance(value, Gdp):
        return Gdp.from_squared(many**2 * value.mu_squared)
    delta = _group_delta(value, many)
    if delta < 1:
        return Approx(epsilon=many * value.epsilon, delta=delta)
    raise InvalidArgument(f"`size` = {many} leaves no promise of {value!r}: its delta reaches 1. Lower `size`.")


def _group_delta(value: Approx, many: int) -> Fraction:
    """Return delta * (1 + exp(epsilon) + ... + exp((many - 1) * epsilon)), rounded up."""
    if many == 1 or value.delta == 0:
        return value.delta
    if value.epsilon == 0:
        return many * value.delta
    if (many - 1) * value.epsilon > -refined(lambda reals: reals.log_of(value.delta))[0]:
        return Fraction(1)

    def geometric(reals: Arithmetic) -> Interval:
        epsilon = reals.of(value.epsilon)
        below = reals.exp(epsilon) - 1
        return (reals.exp(many * epsilon) - 1) / below if ends(below)[0] > 0 else None

    return round_up(value.delta * refined(geometric)[1])
