"""What a release does: enough to price it, and to repeat it, for ever.

Four rules keep old ledgers readable: an event is never removed, its meaning never changes, new fields are optional,
and an unknown kind is refused, never guessed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType, NoSoundConversion
from discreet.privacy.accounting import WHY_NOT, convert, gaussian_mu
from discreet.privacy.adjacency import Adjacency, adjacency_from_name, check_adjacency, is_protected
from discreet.privacy.budgets import (
    Approx,
    Budget,
    Currency,
    Gdp,
    budget_from_json,
    check_budget,
    check_currency,
    to_json,
)

if TYPE_CHECKING:
    from fractions import Fraction

# Names of fields, or the words that one may be.
Names = tuple[str, ...]

_KINDS: dict[str, type[Event]] = {}

# Where each kind lives; imported when a file names it.
_MODULES = {
    "laplace": "noise",
    "coefficient-laplace": "noise",
    "k-norm": "noise",
    "wishart": "noise",
    "gaussian": "noise",
    "gaussian-steps": "descent",
    "selected-steps": "descent",
    "perturbed-objective": "perturbation",
    "two-stage": "perturbation",
    "perturbed-minimizer": "perturbation",
    "frank-wolfe": "perturbation",
    "repeated": "repeated",
    "private-search": "search",
    "even-search": "search",
    "rejection-sampling": "sampling",
    "k-norm-gradient": "k_norm",
    "principal-components": "components",
    "preconditioned-descent": "preconditioned",
    "exponential-choice": "sampling",
}


@dataclass(frozen=True, kw_only=True)
class Event(ABC):
    """One release, described without data.

    A kind of event adds the fields that its price needs, names itself by `kind`, and says the theorem of its `price`.

    Parameters
    ----------
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    budget : Budget
        What was asked for; the price never exceeds it.
    statistic : str
        What is released, in words, such as "Gram matrix of (1, age, income)".
    shape : tuple of int
        Shape of the released array; () for one number.
    step_bits : int, default 0
        The release is in units of `2**step_bits` of the integer grid of the statistic, at most 2**62.
    rows_per_unit : int, default 1
        How many rows of one unit contribute at most, where the adjacency names a unit; the price counts them.

    Raises
    ------
    InvalidArgument
        If a field is not usable, the price exceeds the budget, or the adjacency names a unit that this kind does not
        protect.
    NoSoundConversion
        If the price has no equivalent in the budget's currency.
    """

    kind: ClassVar[str]
    # Whether the theorem of the price holds for neighbours that differ in all rows of a unit.
    takes_units: ClassVar[bool] = False
    # Fields that stored events may lack: they came later, and their defaults are what was done before.
    later_fields: ClassVar[frozenset[str]] = frozenset()
    # Of the fields that a class adds: exact numbers above 0, or from 0 on; whole numbers from 1 on; words of a choice.
    _positive: ClassVar[Names] = ()
    _nonnegative: ClassVar[Names] = ()
    _counts: ClassVar[Names] = ()
    _words: ClassVar[dict[str, Names]] = {}

    adjacency: Adjacency
    budget: Budget
    statistic: str
    shape: tuple[int, ...]
    step_bits: int = 0
    rows_per_unit: int = 1

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "kind" in cls.__dict__:
            _KINDS[cls.kind] = cls

    def __post_init__(self) -> None:
        # Checked by the caller of the release, unless the event is made by hand: then the error names what is wrong.
        if not is_protected(self.adjacency, units=self.takes_units):
            check_adjacency(self.adjacency, units=self.takes_units)
        check_budget(self.budget)
        if not isinstance(self.statistic, str):
            raise InvalidType(f"`statistic` must be a text; found {type(self.statistic).__name__}.")
        if not isinstance(self.shape, (tuple, list)):
            raise InvalidType(f"`shape` must be a tuple of whole numbers; found {type(self.shape).__name__}.")
        _checks.set_fields(self, shape=tuple(_checks.integer(size, "shape", low=0) for size in self.shape))
        _checks.check_fields(self, _checks.integer, "step_bits", low=0, high=62)
        _checks.check_fields(self, _checks.integer, "rows_per_unit", low=1)
        if self.rows_per_unit != 1 and self.adjacency.unit is None:
            raise InvalidArgument(
                f"`rows_per_unit` is {self.rows_per_unit} and `adjacency` {self.adjacency!r} names no unit. "
                f'Name it, such as {self.adjacency.word}(unit="person").'
            )
        self._check_fields()
        self._check_numbers()
        if not _within(self.price, self.budget):
            raise InvalidArgument(
                f"`budget` is {self.budget!r}; a {type(self).__name__} with these numbers costs {self.price!r}. "
                "Raise the noise or the budget."
            )

    def __getstate__(self) -> dict[str, Any]:
        # What was computed from the fields is computed anew from a copy's.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _check_fields(self) -> None:
        """Check the fields that each class of the kind adds, by what it says of them, and make them exact."""
        for cls in reversed(type(self).__mro__):
            own = vars(cls)
            _checks.check_fields(self, _checks.exact_positive, *own.get("_positive", ()))
            _checks.check_fields(self, _checks.exact_nonnegative, *own.get("_nonnegative", ()))
            _checks.check_fields(self, _checks.whole, *own.get("_counts", ()), low=1)
            for name, allowed in own.get("_words", {}).items():
                _checks.one_of(getattr(self, name), name, allowed)

    def _check_numbers(self) -> None:  # noqa: B027  (most kinds have nothing more to check)
        """Check what the fields that this kind adds must be together."""

    @property
    @abstractmethod
    def price(self) -> Budget:
        """What the release costs by its own theorem, computed exactly from its own fields; once an event."""

    def price_in(self, currency: Currency) -> Budget | None:
        """Return the price in `currency` by a theorem about this kind; None where conversions of `price` are all."""
        del currency
        return None

    def cost_in(self, currency: Currency) -> Budget:
        """Return what the release costs in `currency`.

        Where the budget is in that currency, the budget: whoever asked for 1/10 is charged 1/10. Else the cheapest
        that a theorem gives: the kind's own, or a conversion of the price or of the budget.

        Raises
        ------
        NoSoundConversion
            If neither has a price in `currency`.
        """
        wanted = check_currency(currency)
        if isinstance(self.budget, wanted):
            return self.budget
        # An event never changes, so what it costs is computed once: a quote and a charge ask for the same.
        if wanted not in self._costs:
            self._costs[wanted] = self._cheapest_in(wanted)
        cost = self._costs[wanted]
        if cost is not None:
            return cost
        raise NoSoundConversion(
            f"A ledger in {wanted.__name__} cannot price {self.budget!r} of a {type(self).__name__}: "
            f"{WHY_NOT[wanted]}. Ask for a `budget` in {wanted.__name__}: the currency of a ledger is chosen once, "
            "before the first release about the same people."
        )

    @cached_property
    def _costs(self) -> dict[Currency, Budget | None]:
        return {}

    def _cheapest_in(self, currency: Currency) -> Budget | None:
        own = self.price_in(currency)
        costs = [] if own is None else [own]
        for known in (self.price, self.budget):
            try:
                costs.append(convert(known, currency, delta=_delta_of(self.budget)))
            except (NoSoundConversion, InvalidArgument):  # without a delta, or without a theorem
                continue
        return min(costs, key=lambda cost: cost.coordinates) if costs else None

    def to_json(self) -> dict[str, Any]:
        """Return the event as plain JSON; every number that a guarantee rests on is an exact text."""
        document: dict[str, Any] = {"kind": self.kind}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "budget":
                document[field.name] = to_json(value)
            elif field.name == "adjacency":
                document[field.name] = value.name
            elif field.name in {"statistic", "step_bits"}:
                document[field.name] = value
            elif field.name == "rows_per_unit":
                if value != 1:  # older versions of discreet read what does not need it
                    document[field.name] = value
            elif field.name == "shape":
                document[field.name] = list(value)
            else:
                document[field.name] = str(value)
        return document

    @classmethod
    def _from_fields(cls, stored: dict[str, Any]) -> Self:
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(stored) - known):
            raise InvalidArgument(
                f"A stored event of kind {cls.kind!r} has the unknown field {unknown[0]!r}. "
                "It may be of a newer version of discreet: update."
            )
        required = known - {"step_bits", "rows_per_unit"} - cls.later_fields
        if missing := sorted(required - set(stored)):
            raise InvalidArgument(
                f"A stored event of kind {cls.kind!r} lacks the field {missing[0]!r}. "
                "It may be damaged: take the file from its author again."
            )
        if not isinstance(stored["adjacency"], str):
            raise InvalidArgument("A stored event must name its `adjacency`.")
        adjacency, budget = adjacency_from_name(stored["adjacency"]), budget_from_json(stored["budget"])
        return cls(**(stored | {"adjacency": adjacency, "budget": budget}))


def event_from_json(document: object) -> Event:
    """Return the event that `Event.to_json` wrote; its price is computed and checked anew.

    Raises
    ------
    InvalidArgument
        If the kind or a field is unknown, a field is missing or unusable, or the price exceeds the budget.
    """
    kind = document.get("kind") if isinstance(document, dict) else None
    if isinstance(kind, str) and kind in _MODULES:
        import_module(f"discreet.privacy.events.{_MODULES[kind]}")
    event = _KINDS.get(kind) if isinstance(kind, str) else None
    if event is None or not isinstance(document, dict):
        raise InvalidArgument(
            f"A stored event must have a known `kind` ({', '.join(sorted({*_KINDS, *_MODULES}))}). "
            "It may be of a newer version of discreet: update."
        )
    return event._from_fields({name: value for name, value in document.items() if name != "kind"})  # noqa: SLF001


def _delta_of(budget: Budget) -> Fraction | None:
    return budget.delta if isinstance(budget, Approx) else None


def _within(price: Budget, budget: Budget) -> bool:
    """Whether a release of this price keeps the promise `budget`."""
    if isinstance(price, Gdp) and isinstance(budget, Approx):
        # The curve once more, the other way round: what a calibrated mechanism used is what is compared with.
        return price.mu_squared <= gaussian_mu(epsilon=budget.epsilon, delta=budget.delta) ** 2
    return convert(price, type(budget), delta=_delta_of(budget)) <= budget
