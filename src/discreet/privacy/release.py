"""The one door: quote, measure, charge, draw, wrap.

A mechanism never touches privacy. It makes a *plan*: a frozen value that knows its event (what will be done, priced
without data), how to `measure` (the private statistic: deterministic, without coins) and how to `draw` (the release:
coins, and total, so that it never raises on a private value). `release` puts the five steps in the only order that
is sound:

1. *quote*: would the ledger grant it? Asked before a long read, so that a refusal costs no time.
2. *measure*: the only step that may raise because of the data, and only what the data owner declared. It comes
   before the charge, so bad input spends nothing.
3. *charge*: atomic and durable, and it may still refuse, for another process may have spent the rest meanwhile.
   Only the charge returns coins, so nothing can be drawn unpaid.
4. *draw*: a crash from here on leaves the charge standing. There is no refund: somebody may have seen the output.
5. *wrap*: the value, with everything that must be said beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from discreet import _checks
from discreet._warnings import warn
from discreet.errors import AdjacencyMismatch, InvalidArgument, InvalidType, LargeDeltaWarning, NoLedgerWarning
from discreet.privacy.adjacency import Adjacency, check_adjacency
from discreet.privacy.budgets import Approx, Budget
from discreet.privacy.ledger import AUDIT, PRIVATE, TEST_SEED, Ledger

if TYPE_CHECKING:
    from discreet.privacy.coins import Coins
    from discreet.privacy.events.event import Event

# The one thing that a fit may learn from private rows without a charge, where its owner says so by declaring nothing.
CLASS_LABELS = "not private: class labels"
LABELS_READ = "class labels were read from y"
LABELS = (PRIVATE, TEST_SEED, AUDIT, CLASS_LABELS)

D_contra = TypeVar("D_contra", contravariant=True)
S = TypeVar("S")
V = TypeVar("V")
V_co = TypeVar("V_co", covariant=True)


class Plan(Protocol[D_contra, S, V_co]):
    """What a mechanism gives to the door; a mechanism satisfies it without importing it."""

    @property
    def event(self) -> Event:
        """What will be done, priced without data."""
        ...

    def measure(self, data: D_contra, /) -> S:
        """Return the private statistic; deterministic, no coins; raises only what the data owner declared."""
        ...

    def draw(self, statistic: S, coins: Coins, /) -> V_co:
        """Return the release; never raises on a private value."""
        ...


@dataclass(frozen=True, eq=False)
class Release(Generic[V]):
    """A released value and everything that must be said beside it.

    Parameters
    ----------
    value : object
        What was drawn; public from now on.
    event : Event
        What was done, under which adjacency, for which budget.
    label : str
        "private", "not private: test seed", "not private: audit", or "not private: class labels" where a classifier
        read its classes from the rows.
    notes : tuple of str
        What else a reader must know, one sentence each.
    """

    value: V
    event: Event
    label: str
    notes: tuple[str, ...] = ()

    @property
    def cost(self) -> Budget:
        """The budget that was asked for, which the price never exceeds."""
        return self.event.budget

    @property
    def adjacency(self) -> Adjacency:
        """Which data sets are neighbours."""
        return self.event.adjacency

    @property
    def is_private(self) -> bool:
        """Whether the coins were the system's, a total stood behind them, and nothing was read from the rows beside."""
        return self.label == PRIVATE


class Declares(Protocol):
    """What a schema says of neighbours; a schema satisfies it without importing it."""

    @property
    def adjacency(self) -> Adjacency | None:
        """Which data sets are neighbours, where it says so."""
        ...

    @property
    def unit(self) -> str | None:
        """The column that says whose a row is, where persons have several."""
        ...


def settle_adjacency(
    adjacency: Any,
    ledger: Ledger | None = None,
    schema: Declares | None = None,
    *,
    units: bool = True,
    required: bool = False,
) -> Adjacency:
    """Return the one adjacency that argument, ledger and schema name; refuse none and several.

    The outermost public function asks this, once; below it the adjacency is a checked value. A unit is part of it:
    where the schema declares one, argument and ledger must name it, and without a schema that does, rows cannot be
    told apart by units.

    Parameters
    ----------
    adjacency : Replace, AddRemove or None
        What was given as an argument, or declared by an estimator.
    ledger : Ledger or None
        The ledger that is charged; an audit's takes any adjacency.
    schema : Schema or None
        What is declared about the table.
    units : bool, default True
        Whether whoever asks protects units of several rows.
    required : bool, default False
        Whether the argument must be given, as an estimator's.

    Raises
    ------
    InvalidType
        If argument or ledger is not of its kind.
    InvalidArgument
        If nobody names an adjacency, or the argument is about units where only rows are protected.
    AdjacencyMismatch
        If they differ, or the unit is not the one that the schema declares.
    """
    said: dict[str, Adjacency] = {}
    if required or adjacency is not None:
        said["adjacency"] = check_adjacency(adjacency, units=units)
    if ledger is not None and not isinstance(ledger, Ledger):
        raise InvalidType(f"`ledger` must be a Ledger; found {type(ledger).__name__}.")
    sources: dict[str, Declares | Ledger | None] = {"ledger": ledger, "schema": schema}
    said |= {where: one.adjacency for where, one in sources.items() if one is not None and one.adjacency is not None}
    if not said:
        raise InvalidArgument(
            "No adjacency was named: give `adjacency` Replace() (n public) or AddRemove() (n private), "
            "or declare it in the schema."
        )
    if len(set(said.values())) > 1:
        words = ", ".join(f"{where} says {value!r}" for where, value in said.items())
        raise AdjacencyMismatch(f"The adjacency is not one: {words}. Make them agree.")
    neighbours = next(iter(said.values()))
    declared = None if schema is None else schema.unit
    if neighbours.unit != declared:
        where = "no unit is declared" if declared is None else f"the schema declares the unit `{declared}`"
        raise AdjacencyMismatch(
            f"The adjacency is {neighbours!r}, and {where}. A schema with `unit` and `rows_per_unit`, the argument and "
            "the ledger must name one unit, or none of them any."
        )
    return neighbours


def with_labels_read(released: Release[V]) -> Release[V]:
    """Return a release that says that its class labels were read from private rows."""
    label = CLASS_LABELS if released.label == PRIVATE else released.label
    return replace(released, label=label, notes=(*released.notes, LABELS_READ))


def with_notes(released: Release[V], notes: tuple[str, ...]) -> Release[V]:
    """Return a release that says more; itself where there is nothing to say."""
    return replace(released, notes=(*released.notes, *notes)) if notes else released


def release(
    plan: Plan[Any, Any, V], data: Any, ledger: Ledger | None = None, *, n_rows: int | None = None
) -> Release[V]:
    """Carry out a plan on private data, against a charge.

    Parameters
    ----------
    plan : Plan
        What to do.
    data : object
        What the plan's `measure` takes.
    ledger : Ledger or None
        Is charged; None opens a ledger in memory whose total is the event's budget, and warns once a process.
    n_rows : int or None
        The number of rows where it is public, or a public guess of it: a delta above one over it warns.

    Warns
    -----
    NoLedgerWarning
        If there is no ledger, so that nothing remembers the spending.
    LargeDeltaWarning
        If the budget's delta is above one over `n_rows`.

    Raises
    ------
    BudgetExceeded, AdjacencyMismatch, NoSoundConversion, LedgerUnusable
        If the ledger refuses; nothing is drawn. See `Ledger.charge`.
    DiscreetError
        What `plan.measure` raises of the data; nothing is spent.

    Guarantee
    ---------
    The value has the guarantee `plan.event.budget` under `plan.event.adjacency`, if the plan's `draw` has; and all
    releases of one ledger together keep its total. Proof: docs/proofs/accounting.md
    """
    event = plan.event
    if n_rows is not None:
        _checks.integer(n_rows, "n_rows", low=0)
    if ledger is None:
        _say_that_nothing_remembers()
    payer = _ledger_of_its_own(event) if ledger is None else ledger
    if not isinstance(payer, Ledger):
        raise InvalidType(f"`ledger` must be a Ledger or None; found {type(ledger).__name__}.")
    payer.quote(event)
    warn_of_large_delta(event.budget, n_rows)
    private_statistic = plan.measure(data)
    coins = payer.charge(event)
    return Release(plan.draw(private_statistic, coins), event, payer.label)


# Whether this process has warned that nothing remembers what it spends.
_told = False


def _say_that_nothing_remembers() -> None:
    global _told  # noqa: PLW0603  (once a process)
    if _told:
        return
    warn(
        "Nothing remembers what this release spends, for no `ledger` was given: releases of the same people add up. "
        "Give ledger=Ledger.open(path, total=..., adjacency=...), one file for each population.",
        NoLedgerWarning,
    )
    # Only now: where a filter makes an error of it, every release is refused.
    _told = True


def warn_of_large_delta(budget: Budget, n_rows: int | None) -> None:
    """Warn where a delta is above one over the public number of rows: it then allows to release a whole record.

    A function of public facts alone, said before anything is charged.
    """
    if n_rows is None or not isinstance(budget, Approx) or not budget.delta * n_rows > 1:
        return
    warn(
        f"`delta` is above 1 / {n_rows}, one over the number of rows: a release that gives away the record of a "
        "person picked at random would keep it. Choose a smaller delta, such as a hundredth of that.",
        LargeDeltaWarning,
    )


def _ledger_of_its_own(event: Event) -> Ledger:
    # One entry composes with nothing, so its budget is the sum, and no conversion is called for.
    composition = "sum" if isinstance(event.budget, Approx) else "auto"
    return Ledger(total=event.budget, adjacency=event.adjacency, composition=composition)
