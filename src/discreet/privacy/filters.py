"""When to stop: the rule by which a ledger admits one more release.

Each rule is a proved filter: releases may be chosen one after the other from all earlier outputs, and still the
total holds. Sums of Pure and of (epsilon, delta): Rogers, Roth, Ullman and Vadhan 2016. Sums of Zcdp: Feldman and
Zrnic 2021. Root-sum-square of Gdp: Smith and Thakurta 2022. No list of adaptively chosen events is ever re-priced.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from discreet import _checks
from discreet.errors import BudgetExceeded, InvalidArgument
from discreet.privacy.accounting import convert, gaussian_mu, zcdp_rho
from discreet.privacy.budgets import Approx, Budget, Currency, Gdp, Pure, Zcdp, check_budget
from discreet.privacy.enclosures import round_up

if TYPE_CHECKING:
    from fractions import Fraction

# Python writes no whole number of more than 4300 digits.
_MOST_BITS = 14_000
COMPOSITIONS = ("auto", "sum", "zcdp", "gdp")
# What each composition can hold; "auto" takes the first.
_ALLOWED: dict[Currency, tuple[str, ...]] = {
    Pure: ("sum",),
    Approx: ("gdp", "zcdp", "sum"),
    Zcdp: ("zcdp",),
    Gdp: ("gdp",),
}


@dataclass(frozen=True)
class Filter:
    """A total, and the sum that may never pass it.

    Parameters
    ----------
    total : Budget
        The promise.
    composition : {"sum", "zcdp", "gdp"}
        What is summed.
    limit : Budget
        The total in the currency that is summed, rounded down.
    """

    total: Budget
    composition: str
    limit: Budget

    @property
    def currency(self) -> Currency:
        """The currency that is summed."""
        return type(self.limit)

    def price(self, asked: Budget, cost: Budget) -> Budget:
        """Return what is charged: what was asked, exactly, or a converted cost, rounded up to 128 bits where longer.

        Limits have 96 bits at most, so a cost that is within one stays within it.
        """
        if cost == asked:
            return cost
        short = (x if x.denominator.bit_length() <= 129 else round_up(x, 128) for x in cost.coordinates)
        return self.currency.from_coordinates(tuple(short))

    def left(self, spent: Budget) -> Budget:
        """Return what is left of the limit, exactly."""
        return self.limit - spent

    def left_approx(self, spent: Budget) -> Approx | None:
        """Return what is left of an Approx total, as (epsilon, delta) rounded up; None for other totals."""
        if not isinstance(self.total, Approx):
            return None
        left = self.left(spent)
        if isinstance(left, Approx):
            return left
        if left.is_zero:
            return Approx(epsilon=0, delta=0)
        answer = convert(left, Approx, delta=self.total.delta)
        assert isinstance(answer, Approx)  # noqa: S101  (what `convert` was asked for)
        return answer

    def admit(self, asked: Budget, cost: Budget, spent: Budget) -> Budget:
        """Return the new sum, or refuse.

        Parameters
        ----------
        asked : Budget
            The release's budget, for the message.
        cost : Budget
            Its cost in the filter's currency.
        spent : Budget
            The sum so far.

        Raises
        ------
        BudgetExceeded
            If the new sum would pass the limit.
        """
        after = spent + cost
        if after <= self.limit:
            if any(number.denominator.bit_length() > _MOST_BITS for number in after.coordinates):
                raise InvalidArgument(
                    f"Cannot charge {_short(asked)}: the exact sum of this ledger would have too many digits to be "
                    "written down. Ask for budgets with short fractions, such as one decimal each."
                )
            return after
        price = "" if asked == cost else f", which costs {_amount(cost)}"
        raise BudgetExceeded(
            f"Cannot charge {_short(asked)}{price}: {_amount(self.left(spent))} of {_of(self)} is left. "
            "Lower `budget`, or open a ledger with a larger `total`."
        )


def filter_for(total: object, composition: object = "auto") -> Filter:
    """Return the filter of a total.

    Parameters
    ----------
    total : Budget
        The promise of a whole ledger.
    composition : {"auto", "sum", "zcdp", "gdp"}
        "auto" sums in the total's own currency; of an Approx total it makes the largest Gdp that implies it, or,
        where its delta is 0, sums of (epsilon, delta). "zcdp" makes the largest Zcdp by Canonne, Kamath and Steinke.

    Raises
    ------
    InvalidArgument
        If the total is zero or the composition does not prove it.
    """
    promise = check_budget(total, "total")
    name = _checks.one_of(composition, "composition", COMPOSITIONS)
    allowed = _ALLOWED[type(promise)]
    if name == "auto":
        # With delta = 0 no noise of unbounded likelihood ratio fits, so the sum is all there is.
        name = "sum" if isinstance(promise, Approx) and promise.delta == 0 else allowed[0]
    if name not in allowed and not (name == "sum" and isinstance(promise, Zcdp)):
        raise InvalidArgument(
            f"`composition` {name!r} does not prove a total of {promise!r}. Use one of {', '.join(map(repr, allowed))}."
        )
    if not isinstance(promise, Approx) or name == "sum":
        return Filter(promise, allowed[0] if isinstance(promise, Zcdp) else name, promise)
    numbers = {"epsilon": promise.epsilon, "delta": promise.delta}
    limit: Budget = Gdp(mu=gaussian_mu(**numbers)) if name == "gdp" else Zcdp(rho=zcdp_rho(**numbers))
    if limit.is_zero:
        raise InvalidArgument(
            f"`composition` {name!r} leaves nothing of a total of {promise!r}. Use composition='sum' or a larger delta."
        )
    return Filter(promise, name, limit)


def _number(value: Fraction) -> str:
    # Limits found by a conversion have long fractions; a reader needs their size.
    exact = str(value)
    return exact if len(exact) <= 24 else f"about {Decimal(value.numerator) / Decimal(value.denominator):.6g}"


def _amount(budget: Budget) -> str:
    """Return the numbers of a budget as a reader can take them: one bare, a square by its name, two by theirs."""
    if isinstance(budget, Gdp):
        return f"mu**2 = {_number(budget.mu_squared)}"
    if isinstance(budget, Approx):
        return f"(epsilon {_number(budget.epsilon)}, delta {_number(budget.delta)})"
    return _number(budget.coordinates[0])


def _short(budget: Budget) -> str:
    exact = repr(budget)
    return exact if len(exact) <= 64 else f"{type(budget).__name__} of {_amount(budget)}"


def _of(rule: Filter) -> str:
    if rule.limit == rule.total:
        return _short(rule.limit)
    return f"{_amount(rule.limit)}, the {rule.currency.__name__} of {_short(rule.total)},"
