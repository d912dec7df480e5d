"""The ledger: the only source of coins, and only against a charge."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

from discreet import _checks
from discreet.errors import AdjacencyMismatch, InvalidArgument, InvalidType, LedgerUnusable
from discreet.privacy.adjacency import Adjacency, check_adjacency
from discreet.privacy.budgets import Approx, Budget, Pure, check_budget, to_json
from discreet.privacy.coins import Coins
from discreet.privacy.events.event import Event
from discreet.privacy.filters import Cost, Filter, filter_for
from discreet.privacy.ledger_store import FileOnFirstCharge, FileStore, MemoryStore, Row, Store, Terms

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

    from discreet.privacy.curves.tradeoff import TradeoffFunction

PRIVATE = "private"
TEST_SEED = "not private: test seed"
AUDIT = "not private: audit"


@dataclass(frozen=True)
class Entry:
    """One charge.

    Parameters
    ----------
    number : int
        Position in the ledger, from 1.
    time : datetime
        When it was charged, in UTC.
    event : Event
        What was released.
    cost : Budget
        What it cost, in the currency in which the ledger sums.
    """

    number: int
    time: datetime
    event: Event
    cost: Budget


class Ledger:
    """A total that is never passed, and the only source of coins.

    A ledger is no sequence: it has no length and no items, refuses copies and pickles, and is compared with
    ``is None``. Threads may share one; processes share a file by `Ledger.open`.

    Parameters
    ----------
    total : Budget
        What all releases together may give away.
    adjacency : Replace or AddRemove
        Which data sets are neighbours; every release must have the same.
    coins : Coins, optional
        For tests alone: coins from a seed. Releases then say "not private: test seed".
    composition : {"auto", "either", "sum", "zcdp", "gdp"}
        How costs add up. "auto" sums in the currency of the total; an Approx total is turned once, here, into the
        largest Gdp that implies it, and releases that are all pure are granted as well while their epsilons add up to
        at most the total's ("either"). "gdp" is that Gdp alone, "zcdp" the largest Zcdp instead, "sum" adds epsilons
        and deltas.

    Raises
    ------
    InvalidArgument
        If the total is zero, or the composition does not prove it.

    Guarantee
    ---------
    Whatever is drawn with coins of this ledger keeps `total`, also when each release was chosen after seeing all
    earlier ones: the sum is a proved filter, exact, and written before a coin exists. AES makes it computational;
    a ledger cannot know that another one is about the same people, or that its file was set back.
    Proof: docs/proofs/accounting.md

    Examples
    --------
    >>> from discreet.privacy.adjacency import Replace
    >>> ledger = Ledger(total=Pure(epsilon=1), adjacency=Replace())
    >>> ledger.spent, ledger.left
    (Pure(epsilon=0), Pure(epsilon=1))
    """

    _filter: Filter | None
    _adjacency: Adjacency | None
    _store: Store
    _coins: Coins | None
    _path: Path | None

    def __init__(
        self, *, total: Budget, adjacency: Adjacency, coins: Coins | None = None, composition: str = "auto"
    ) -> None:
        rule = filter_for(total, composition)
        if coins is not None and not isinstance(coins, Coins):
            raise InvalidType(f"`coins` must be Coins, such as Coins.from_seed(0); found {type(coins).__name__}.")
        self._filter = rule
        self._adjacency = check_adjacency(adjacency, units=True)
        self._store = MemoryStore(rule.nothing())
        self._coins = coins
        self._path = None

    @classmethod
    def _assemble(cls, rule: Filter | None, adjacency: Adjacency | None, store: Store, path: Path | None) -> Self:
        self = cls.__new__(cls)
        self._filter, self._adjacency, self._store, self._coins, self._path = rule, adjacency, store, None, path
        return self

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        total: Budget | None = None,
        adjacency: Adjacency | None = None,
        composition: str | None = None,
        *,
        create_on_charge: bool = False,
    ) -> Self:
        """Open the ledger in a file; create it where the file is absent and `total` and `adjacency` are given.

        The file is the one that stands at `path` now, also after a change of folder or of a link. A ledger that is
        open remembers what it has read and written, and refuses a file that was deleted, replaced or set back since.

        Parameters
        ----------
        path : path
            A file that all processes of the data owner share, on a disk with working locks.
        total : Budget, optional
            Needed for a new file; must equal the file's otherwise.
        adjacency : Replace or AddRemove, optional
            Needed for a new file; must equal the file's otherwise.
        composition : {"auto", "either", "sum", "zcdp", "gdp"}, optional
            How costs add up; "auto" for a new file where None, must equal the file's otherwise.
        create_on_charge : bool
            Whether a new file waits for the first charge, so that a fit that fails leaves none behind.

        Raises
        ------
        InvalidArgument
            If the file is absent and not both are given, or the file promises something else.
        LedgerUnusable
            If the file is damaged, foreign, of a newer format, locked for a minute, or cannot be created.
        """
        given, place = _places(path)
        if total is not None:
            check_budget(total, "total")
        if adjacency is not None:
            check_adjacency(adjacency, units=True)
        _checks.boolean(create_on_charge, "create_on_charge")
        store = FileStore(place)
        # A link that leads nowhere is no reason to begin anew: its file may be on a disk that is not there now.
        if not os.path.lexists(given):
            store = cls._create(place, total, adjacency, composition, waits=create_on_charge)
        rule, neighbours = store.promise()
        _must_agree("total", total, rule.total, place)
        _must_agree("adjacency", adjacency, neighbours, place)
        if composition is not None:
            asked = filter_for(rule.total, composition).composition
            # "auto" meant "gdp" of an Approx total before it meant "either".
            if not (composition == "auto" and (asked, rule.composition) == ("either", "gdp")):
                _must_agree("composition", asked, rule.composition, place)
        return cls._assemble(rule, neighbours, store, place)

    @staticmethod
    def _create(
        place: Path, total: Budget | None, adjacency: Adjacency | None, composition: str | None, *, waits: bool
    ) -> FileStore:
        if total is None or adjacency is None:
            raise InvalidArgument(
                f"There is no ledger {str(place)!r}. Give `total` and `adjacency` to create it, or another path."
            )
        rule = filter_for(total, "auto" if composition is None else composition)
        terms = Terms.of(rule, adjacency)
        if waits:
            return FileOnFirstCharge(place, terms)
        # Where another process was first, its file is opened and compared like any other.
        FileStore.create(place, terms)
        return FileStore(place)

    @classmethod
    def for_audit(cls) -> Self:
        """Return a ledger without a total, for tests of a mechanism on made-up data.

        It is in memory, grants every charge under any adjacency, and its releases say "not private: audit".
        """
        return cls._assemble(None, None, MemoryStore(Cost(Pure(epsilon=0))), None)

    @property
    def total(self) -> Budget | None:
        """What all releases together may give away; None for an audit."""
        return None if self._filter is None else self._filter.total

    @property
    def adjacency(self) -> Adjacency | None:
        """Which data sets are neighbours; None for an audit, which takes any."""
        return self._adjacency

    @property
    def composition(self) -> str | None:
        """How costs add up: "either", "sum", "zcdp" or "gdp"; None for an audit."""
        return None if self._filter is None else self._filter.composition

    @property
    def label(self) -> str:
        """What a release of this ledger says of itself."""
        if self._filter is None:
            return AUDIT
        return TEST_SEED if self._coins is not None and self._coins.seeded else PRIVATE

    @property
    def spent(self) -> Budget | None:
        """The sum of all costs, exact, in the currency that is summed; book-keeping, for the promise is the total.

        Under "either" it is in Gdp as long as that sum is within the total, and in Pure where pure releases passed it.
        """
        return None if self._filter is None else self._filter.told(self._store.spent())

    @property
    def left(self) -> Budget | None:
        """What is left, exact, in the currency of `spent`; None for an audit."""
        return None if self._filter is None else self._filter.left(self._store.spent())

    @property
    def left_pure(self) -> Pure | None:
        """What releases that are pure may still add up to under "either"; None elsewhere, or once one was not."""
        return None if self._filter is None else self._filter.left_pure(self._store.spent())

    @property
    def left_approx(self) -> Approx | None:
        """What is left of an Approx total as (epsilon, delta), rounded up; None for other totals."""
        return None if self._filter is None else self._filter.left_approx(self._store.spent())

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All charges, oldest first."""
        return entries_of(self._store.rows())

    def tradeoff(self, *, of: str = "total") -> TradeoffFunction | None:
        """Return how well two neighbours can be told apart from all releases of this ledger, as a curve.

        The curve is that of one number in the currency that is summed, never one composed of the entries: these were
        chosen after seeing outputs, and a composed curve would promise too much.

        Parameters
        ----------
        of : {"total", "spent"}
            "total" is the promise, whatever is still charged. "spent" is book-keeping: a promise only where the
            budgets spent so far were fixed before the first release.

        Returns
        -------
        TradeoffFunction or None
            None for an audit, which promises nothing.

        Examples
        --------
        >>> from discreet.privacy.adjacency import Replace
        >>> from discreet.privacy.budgets import Gdp
        >>> Ledger(total=Gdp(mu=1), adjacency=Replace()).tradeoff().power(0.05) < 0.26
        True
        """
        part = _checks.one_of(of, "of", ("total", "spent"))
        if self._filter is None:
            return None
        return self._filter.tradeoff() if part == "total" else self._filter.told(self._store.spent()).tradeoff()

    def quote(self, event: Event) -> Budget:
        """Return what a release would cost, or raise as `charge` would; nothing is spent.

        Raises
        ------
        AdjacencyMismatch, NoSoundConversion, BudgetExceeded, LedgerUnusable
            If the release would be refused now.
        """
        cost = self._price(event)
        self._store.check_writable()
        if self._filter is not None:
            self._filter.admit(event.budget, cost, self._store.spent())
        return cost.budget

    def charge(self, event: Event) -> Coins:
        """Write the release down as paid, durably, and only then return coins for it.

        Parameters
        ----------
        event : Event
            What will be released.

        Returns
        -------
        Coins
            Fresh from the system, or the test seed's.

        Raises
        ------
        AdjacencyMismatch
            If the event has other neighbours.
        NoSoundConversion
            If its cost has no equivalent in the currency that is summed.
        BudgetExceeded
            If too little is left.
        LedgerUnusable
            If the charge cannot be written.

        Guarantee
        ---------
        Where this raises, nothing can be drawn; where the process dies afterwards, the charge stays.
        """
        cost = self._price(event)
        rule = self._filter

        def admit(spent: Cost) -> Cost:
            return spent if rule is None else rule.admit(event.budget, cost, spent)

        self._store.append(event, cost, admit)
        return Coins.from_system() if self._coins is None else self._coins

    def _price(self, event: Event) -> Cost:
        if not isinstance(event, Event):
            raise InvalidType(f"`event` must be an Event, such as a plan's; found {type(event).__name__}.")
        if self._adjacency is not None and event.adjacency != self._adjacency:
            raise AdjacencyMismatch(
                f"The adjacency of the release is {event.adjacency!r} and that of the ledger {self._adjacency!r}. "
                "Use one `adjacency` for both: what one record means must be the same throughout a ledger."
            )
        if self._filter is None:
            return Cost(event.budget)
        return self._filter.price(event)

    def to_json(self) -> dict[str, Any]:
        """Return the whole ledger as plain JSON, its numbers as exact texts."""
        document: dict[str, Any] = {"discreet": 1, "kind": "ledger", "label": self.label}
        for name in ("total", "spent", "left", "left_approx", "left_pure"):
            value = getattr(self, name)
            document[name] = None if value is None else to_json(value)
        document["adjacency"] = None if self._adjacency is None else self._adjacency.name
        document["composition"] = self.composition
        document["entries"] = [
            {
                "number": row.number,
                "time": row.time.isoformat(),
                "event": json.loads(row.text),
                "cost": to_json(row.cost.budget),
            }
            for row in self._store.rows()
        ]
        return document

    def to_frame(self) -> pd.DataFrame:
        """Return the entries as a pandas frame, one row a charge, budgets as exact texts.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return frame_of(self.entries)

    def __repr__(self) -> str:
        if self._filter is None:
            return "Ledger.for_audit()"
        place = "" if self._path is None else f"{str(self._path)!r}, "
        opener = "Ledger" if self._path is None else "Ledger.open"
        return f"{opener}({place}total={self._filter.total!r}, adjacency={self._adjacency!r})"

    def _refuse_copy(self) -> NoReturn:
        raise InvalidType(
            "A ledger cannot be copied or pickled: two copies would spend one budget twice. "
            "For cross-validation and searches pass it to `fit` as `ledger=`, with threads "
            '(n_jobs with the backend "threading"); worker processes cannot share it.'
        )

    def __copy__(self) -> NoReturn:
        self._refuse_copy()

    def __deepcopy__(self, memo: dict[int, object]) -> NoReturn:
        self._refuse_copy()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        self._refuse_copy()


def _places(path: object) -> tuple[Path, Path]:
    """Return a path made absolute, and the file to which its links lead now."""
    reason = None
    try:
        given = Path(path).absolute()  # type: ignore[arg-type]
        return given, Path(os.path.realpath(given))
    except TypeError:
        pass
    except (ValueError, OSError) as failure:  # a character that no path has; a folder that was removed
        reason = type(failure).__name__
    if reason is None:
        raise InvalidType(f"`path` must be a path; found {type(path).__name__}.")
    raise LedgerUnusable(f"Cannot use a ledger at this `path` ({reason}). Give an absolute path that can exist.")


def _must_agree(name: str, asked: object, stored: object, place: Path) -> None:
    if asked is not None and asked != stored:
        raise InvalidArgument(
            f"`{name}` is {asked!r}; the ledger {str(place)!r} was opened with {stored!r}. "
            f"Leave `{name}` out: what was promised to the same people does not change."
        )


def entries_of(rows: tuple[Row, ...]) -> tuple[Entry, ...]:
    """Return stored rows as entries."""
    return tuple(Entry(row.number, row.time, row.event, row.cost.budget) for row in rows)


def frame_of(entries: tuple[Entry, ...]) -> pd.DataFrame:
    """Return entries as a pandas frame, see `Ledger.to_frame`."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        pd = None
    if pd is None:
        raise ImportError("`to_frame` needs pandas, which is no dependency of discreet: pip install pandas.")
    columns = ["number", "time", "kind", "statistic", "shape", "budget", "cost"]
    rows = [
        (e.number, e.time, e.event.kind, e.event.statistic, e.event.shape, repr(e.event.budget), repr(e.cost))
        for e in entries
    ]
    return pd.DataFrame(rows, columns=columns)
