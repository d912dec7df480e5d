"""When to stop: the rule by which a ledger admits one more release.

Each rule is a proved filter: releases may be chosen one after the other from all earlier outputs, and still the
total holds. Sums of Pure and of (epsilon, delta): Rogers, Roth, Ullman and Vadhan 2016. Sums of Zcdp: Feldman and
Zrnic 2021. Root-sum-square of Gdp: Smith and Thakurta 2022. Either of two, the sum of pure epsilons or Gdp: ours.
No list of adaptively chosen events is ever re-priced.

Proof: docs/proofs/accounting.md
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from discreet import _checks
from discreet.errors import BudgetExceeded, InvalidArgument, NoSoundConversion
from discreet.numbers.outward import round_up
from discreet.privacy.accounting import convert, gaussian_mu, zcdp_rho
from discreet.privacy.budgets import Approx, Budget, Currency, Gdp, Pure, Zcdp, check_budget
from discreet.privacy.curves.either import EitherCurve

if TYPE_CHECKING:
    from fractions import Fraction

    from discreet.privacy.curves.tradeoff import TradeoffFunction
    from discreet.privacy.events.event import Event

# Python writes no whole number of more than 4300 digits.
_MOST_BITS = 14_000
COMPOSITIONS = ("auto", "either", "sum", "zcdp", "gdp")
# What each composition can hold; "auto" takes the first.
_ALLOWED: dict[Currency, tuple[str, ...]] = {
    Pure: ("sum",),
    Approx: ("either", "gdp", "zcdp", "sum"),
    Zcdp: ("zcdp",),
    Gdp: ("gdp",),
}


@dataclass(frozen=True)
class Cost:
    """What one release costs, or several together, in the sums that a ledger keeps.

    Parameters
    ----------
    budget : Budget
        In the currency that is summed.
    pure : Pure or None
        In pure epsilon, where a ledger sums that as well; None where it does not, or a release has no such price.
    """

    budget: Budget
    pure: Pure | None = None

    def __add__(self, other: Cost) -> Cost:
        together = None if self.pure is None or other.pure is None else self.pure + other.pure
        return Cost(self.budget + other.budget, together)


@dataclass(frozen=True)
class Filter:
    """A total, and the sums of which one may never pass it.

    Parameters
    ----------
    total : Budget
        The promise.
    composition : {"either", "sum", "zcdp", "gdp"}
        What is summed; "either" keeps two sums, in Gdp and in pure epsilon, of which one must stay within.
    limit : Budget
        The total in the currency that is summed, rounded down.

    Guarantee
    ---------
    Whatever is granted, and however each release was chosen from earlier outputs, all of them together keep `total`.
    Proof: docs/proofs/accounting.md
    """

    total: Budget
    composition: str
    limit: Budget

    @property
    def currency(self) -> Currency:
        """The currency that is summed."""
        return type(self.limit)

    @property
    def pure_limit(self) -> Pure | None:
        """What pure releases alone may add up to, where that is a way of its own; else None."""
        if self.composition != "either" or not isinstance(self.total, Approx):
            return None
        return Pure(epsilon=self.total.epsilon)

    def nothing(self) -> Cost:
        """Return the sums of a ledger without entries."""
        return Cost(self.currency.zero(), None if self.pure_limit is None else Pure(epsilon=0))

    def price(self, event: Event) -> Cost:
        """Return what is charged: what was asked, exactly, or a converted cost, rounded up to 128 bits where longer.

        Limits have 96 bits at most, so a cost that is within one stays within it.

        Raises
        ------
        NoSoundConversion
            If the event has no price in the currency that is summed.
        """
        cost = _shortened(event.budget, event.cost_in(self.currency))
        if self.pure_limit is None:
            return Cost(cost)
        try:
            pure = _shortened(event.budget, event.cost_in(Pure))
        except NoSoundConversion:
            return Cost(cost)
        assert isinstance(pure, Pure)  # noqa: S101  (what was asked)
        return Cost(cost, pure)

    def holds(self, spent: Cost) -> bool:
        """Whether sums of costs are within the total."""
        within = self.pure_limit is not None and spent.pure is not None and spent.pure <= self.pure_limit
        return within or spent.budget <= self.limit

    def told(self, spent: Cost) -> Budget:
        """Return the sum by which the total holds: in the filter's currency, or in Pure where only that is within."""
        return spent.budget if spent.pure is None or spent.budget <= self.limit else spent.pure

    def left(self, spent: Cost) -> Budget:
        """Return what is left of the limit, exactly; of the pure way where the other one is passed."""
        if spent.budget <= self.limit:
            return self.limit - spent.budget
        left = self.left_pure(spent)
        assert left is not None  # noqa: S101  (one of the two holds)
        return left

    def left_pure(self, spent: Cost) -> Pure | None:
        """Return what pure releases may still add up to, where all were pure and within; None otherwise."""
        if self.pure_limit is None or spent.pure is None or not spent.pure <= self.pure_limit:
            return None
        return self.pure_limit - spent.pure

    def left_approx(self, spent: Cost) -> Approx | None:
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

    def tradeoff(self) -> TradeoffFunction:
        """Return the curve of the promise."""
        if self.pure_limit is None:
            return self.limit.tradeoff()
        assert isinstance(self.limit, Gdp)  # noqa: S101  (what "either" sums)
        return EitherCurve(epsilon=self.pure_limit.epsilon, mu_squared=self.limit.mu_squared)

    def admit(self, asked: Budget, cost: Cost, spent: Cost) -> Cost:
        """Return the new sums, or refuse.

        Parameters
        ----------
        asked : Budget
            The release's budget, for the message.
        cost : Cost
            What it costs.
        spent : Cost
            The sums so far.

        Raises
        ------
        BudgetExceeded
            If no sum would stay within the total.
        InvalidArgument
            If the exact sum has too many digits.
        """
        after = spent + cost
        if self.holds(after):
            numbers = after.budget.coordinates + (() if after.pure is None else after.pure.coordinates)
            if any(number.denominator.bit_length() > _MOST_BITS for number in numbers):
                raise InvalidArgument(
                    f"Cannot charge {_short(asked)}: the exact sum of this ledger would have too many digits to be "
                    "written down. Ask for budgets with short fractions, such as one decimal each."
                )
            return after
        price = "" if asked == cost.budget else f", which costs {_amount(cost.budget)}"
        raise BudgetExceeded(
            f"Cannot charge {_short(asked)}{price}: {self._rest(spent)} is left. "
            "Lower `budget`; a larger total for the same people would break the promise that was made to them."
        )

    def _rest(self, spent: Cost) -> str:
        """Return what is left, in words."""
        left = self.limit - spent.budget if spent.budget <= self.limit else self.currency.zero()
        rest = f"{_amount(left)} of {_of(self)}"
        pure = self.left_pure(spent)
        return rest if pure is None else f"{rest} and for pure releases alone epsilon {_number(pure.epsilon)}"


def _shortened(asked: Budget, cost: Budget) -> Budget:
    if cost == asked:
        return cost
    short = (x if x.denominator.bit_length() <= 129 else round_up(x, 128) for x in cost.coordinates)
    return type(cost).from_coordinates(tuple(short))


def filter_for(total: object, composition: object = "auto") -> Filter:
    """Return the filter of a total.

    Parameters
    ----------
    total : Budget
        The promise of a whole ledger.
    composition : {"auto", "either", "sum", "zcdp", "gdp"}
        "auto" sums in the total's own currency; of an Approx total it is "either", or, where its delta is 0, "sum".
        "gdp" makes the largest Gdp that implies an Approx total, "zcdp" the largest Zcdp by Canonne, Kamath and
        Steinke, "sum" adds epsilons and deltas. "either" grants what "gdp" grants, and also releases that are all
        pure as long as their epsilons add up to at most the total's.

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
    limit: Budget = Zcdp(rho=zcdp_rho(**numbers)) if name == "zcdp" else Gdp(mu=gaussian_mu(**numbers))
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
