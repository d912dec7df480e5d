"""The same mechanism several times in one charge, such as one model a class."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from discreet.errors import InvalidArgument, InvalidType, NoSoundConversion
from discreet.privacy.events.event import Event, Names, event_from_json

if TYPE_CHECKING:
    from discreet.privacy.budgets import Budget, Currency


@dataclass(frozen=True, kw_only=True)
class RepeatedEvent(Event):
    """One event, several times over: charged at once, so that no budget can end between two of them.

    Parameters
    ----------
    part : Event
        What is done each time, each with coins of its own.
    n_times : int
        How often, at least 1.

    Guarantee
    ---------
    The price is `n_times` that of `part` in the price's own currency, which adds up: epsilons, deltas, rhos, and
    squares of mu. The list is fixed in advance. Proof: docs/proofs/accounting.md.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from discreet.privacy.adjacency import Replace
    >>> from discreet.privacy.budgets import Gdp
    >>> from discreet.privacy.events.noise import GaussianEvent
    >>> common = {"adjacency": Replace(), "statistic": "a sum", "shape": ()}
    >>> part = GaussianEvent(sensitivity_squared=1, variance=Fraction(4), budget=Gdp(mu="1/2"), **common)
    >>> RepeatedEvent(part=part, n_times=4, budget=Gdp(mu=1), **common).price
    Gdp(mu=1)
    """

    kind: ClassVar[str] = "repeated"
    _counts: ClassVar[Names] = ("n_times",)

    part: Event
    n_times: int

    def _check_numbers(self) -> None:
        if not isinstance(self.part, Event):
            raise InvalidType(f"`part` must be an event; found {type(self.part).__name__}.")
        if self.part.adjacency != self.adjacency:
            raise InvalidArgument("`part` must have the same `adjacency` as the whole.")

    @cached_property
    def price(self) -> Budget:
        """The price of the part, added up."""
        return _times(self.part.price, self.n_times)

    def _cheapest_in(self, currency: Currency) -> Budget | None:
        with suppress(NoSoundConversion):
            return _times(self.part.cost_in(currency), self.n_times)
        return super()._cheapest_in(currency)

    def to_json(self) -> dict[str, Any]:
        """Return the event as plain JSON, the part within it."""
        return super().to_json() | {"part": self.part.to_json()}

    @classmethod
    def _from_fields(cls, stored: dict[str, Any]) -> Self:
        return super()._from_fields(stored | {"part": event_from_json(stored.get("part"))})


def _times(budget: Budget, factor: int | Fraction) -> Budget:
    return type(budget).from_coordinates(tuple(factor * number for number in budget.coordinates))


def share_of(budget: Budget, n_times: int) -> Budget:
    """Return what each of `n_times` equal events may cost, so that together they cost `budget`.

    Examples
    --------
    >>> from discreet.privacy.budgets import Zcdp
    >>> share_of(Zcdp(rho=1), 4)
    Zcdp(rho=1/4)
    """
    return _times(budget, Fraction(1, n_times))
