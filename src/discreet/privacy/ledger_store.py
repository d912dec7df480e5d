"""Where a ledger keeps its entries: in memory, or in a SQLite file that outlives any crash.

Both stores have one duty: `append` decides and writes as one indivisible act, and has written before it returns.
A file is made whole beside its place and then linked there, so no other process ever sees half of one, and an empty
or cut file is refused instead of begun anew. A store remembers what it has read and written: a file that was deleted,
replaced or set back since is refused.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from discreet.errors import DiscreetError, InvalidArgument, LedgerUnusable
from discreet.privacy.adjacency import Adjacency, adjacency_from_name
from discreet.privacy.budgets import Budget, Pure, budget_from_json, to_json
from discreet.privacy.events.event import Event, event_from_json
from discreet.privacy.filters import COMPOSITIONS, Cost, Filter, filter_for

if TYPE_CHECKING:
    from pathlib import Path

# Files with two sums have a format of their own, so that versions that know one sum say that they are too old.
FORMAT, FORMAT_OF_TWO_SUMS = 1, 2
_APPLICATION_ID = 0x64697363  # "disc"
# How long a process waits for others that write the same file.
_TIMEOUT_SECONDS = 60.0
_TABLES = """
CREATE TABLE ledger (
    total TEXT NOT NULL, adjacency TEXT NOT NULL, composition TEXT NOT NULL, spending_limit TEXT NOT NULL,
    n_entries INTEGER NOT NULL, spent TEXT NOT NULL
);
CREATE TABLE entries (number INTEGER PRIMARY KEY, time TEXT NOT NULL, event TEXT NOT NULL, cost TEXT NOT NULL);
"""

# A fork in the middle of a transaction would give the child an open one, which its interpreter then rolls back *in
# the file*. So transactions and forks of one process exclude each other.
_transactions = threading.RLock()
_forks = 0
# How often this process made a file at a path.
_made: dict[Path, int] = {}


def _born() -> None:
    global _forks  # noqa: PLW0603  (a process has one count of the forks above it)
    _forks += 1
    _transactions.release()


if sys.platform != "win32":  # where no process forks
    os.register_at_fork(before=_transactions.acquire, after_in_parent=_transactions.release, after_in_child=_born)


@dataclass(frozen=True)
class Row:
    """One entry: the event as it is stored and as it is read."""

    number: int
    time: datetime
    text: str
    event: Event
    cost: Cost


@dataclass(frozen=True)
class Terms:
    """What a ledger promised when it was opened first, as texts."""

    total: str
    adjacency: str
    composition: str
    limit: str

    @classmethod
    def of(cls, rule: Filter, adjacency: Adjacency) -> Terms:
        """Return the terms of a filter."""
        return cls(budget_text(rule.total), adjacency.name, rule.composition, budget_text(rule.limit))

    def read(self) -> tuple[Filter, Adjacency]:
        """Return the filter and the adjacency; the limit is computed anew from total and composition.

        Raises
        ------
        ValueError
            If something cannot be read, the total does not allow the composition, or the limit is another one.
        """
        if self.composition not in COMPOSITIONS[1:]:
            raise InvalidArgument("A stored `composition` must be a known one. Restore the newest copy.")
        rule = filter_for(budget_of(self.total), self.composition)
        limit = budget_of(self.limit)
        if rule.composition != self.composition or not _is_limit(limit, rule.limit):
            raise InvalidArgument("The limit in the file must be that of its total. Restore the newest copy.")
        return replace(rule, limit=limit), adjacency_from_name(self.adjacency)


def _is_limit(stored: Budget, computed: Budget) -> bool:
    """Whether a limit is that of its total: the same, or, where it was converted, a last digit of it less."""
    if type(stored) is not type(computed) or not stored <= computed:
        return False
    pairs = zip(stored.coordinates, computed.coordinates, strict=True)
    return stored == computed or all(0 <= after - before <= after / 2**40 for before, after in pairs)


# Gets the sums so far and returns the new ones, or raises.
Admit = Callable[[Cost], Cost]
# What reading an event, or a promise, can end in where the text was scribbled on.
_UNREADABLE = (DiscreetError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError)


class Store(Protocol):
    """Where entries are kept."""

    def rows(self) -> tuple[Row, ...]:
        """Return all entries, oldest first."""
        ...

    def spent(self) -> Cost:
        """Return the sums of all costs."""
        ...

    def check_writable(self) -> None:
        """Raise LedgerUnusable where nothing could be written."""
        ...

    def append(self, event: Event, cost: Cost, admit: Admit) -> None:
        """Ask `admit` with the sums so far and write one entry, in one indivisible act."""
        ...


class MemoryStore:
    """Entries of one process, which end with it.

    The child of a fork would hold a copy of the whole budget, so there the store refuses.
    """

    def __init__(self, nothing: Cost) -> None:
        self._lock = threading.Lock()
        # A process id alone can come back, in containers for one.
        self._process = (os.getpid(), _forks)
        self._rows: list[Row] = []
        self._spent = nothing

    def rows(self) -> tuple[Row, ...]:
        """Return all entries, oldest first."""
        return tuple(self._rows)

    def spent(self) -> Cost:
        """Return the sums of all costs."""
        return self._spent

    def check_writable(self) -> None:
        """Raise LedgerUnusable in any process but the one that opened the ledger."""
        if (os.getpid(), _forks) != self._process:
            raise LedgerUnusable(
                "This ledger is in the memory of another process, and a copy here would spend the budget twice. "
                "Use Ledger.open(path, ...), which processes share, or threads."
            )

    def append(self, event: Event, cost: Cost, admit: Admit) -> None:
        """Ask `admit` with the sums so far and write one entry, in one indivisible act."""
        self.check_writable()
        with self._lock:
            spent = admit(self._spent)
            text = json.dumps(event.to_json())
            self._rows.append(Row(len(self._rows) + 1, datetime.now(UTC), text, event, cost))
            self._spent = spent


class FileStore:
    """Entries in a SQLite file that many processes may share.

    Every act opens a connection of its own, so threads and forked processes share nothing but the file.
    """

    def __init__(self, path: Path, terms: Terms | None = None) -> None:
        self._path = path
        # What the ledger promised when it was opened, as it stands in the file and as it is read.
        self._terms = terms
        self._promise: tuple[Filter, Adjacency] | None = None
        # What was read or written last: as it stands in the file, as entries, and their sums.
        self._known: tuple[list[tuple[Any, ...]], tuple[Row, ...], Cost | None] = ([], (), None)

    @classmethod
    def create(cls, path: Path, terms: Terms) -> bool:
        """Make a new file; return False where another process was first."""
        # Without its file a journal would be rolled back into the new one. In this order: files never vanish.
        if os.path.lexists(f"{path}-journal") and not os.path.lexists(path):
            raise _unusable(path, "its -journal is there without it, so it was deleted or moved")
        rule, _ = terms.read()
        version = FORMAT if rule.pure_limit is None else FORMAT_OF_TWO_SUMS
        draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}.new")
        try:
            with _transactions, closing(sqlite3.connect(draft, isolation_level=None)) as connection:
                connection.executescript(_TABLES)
                connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {version}")
                connection.execute(
                    "INSERT INTO ledger VALUES (?, ?, ?, ?, 0, ?)",
                    (terms.total, terms.adjacency, terms.composition, terms.limit, cost_text(rule.nothing())),
                )
            _flush(draft)
            # A link, unlike a rename, never replaces a ledger that is there already.
            os.link(draft, path)
            _flush(path.parent)
        except FileExistsError:
            return False
        except (OSError, sqlite3.Error) as failure:
            reason = type(failure).__name__
        else:
            _made[path] = _made.get(path, 0) + 1
            return True
        finally:
            with suppress(OSError):
                draft.unlink()
        raise LedgerUnusable(
            f"Cannot create the ledger {str(path)!r} ({reason}). Choose a folder that exists, can be written, "
            "and is on a file system with hard links."
        )

    def promise(self) -> tuple[Filter, Adjacency]:
        """Return what the ledger promises, after a check of the whole file."""
        with self._transaction("DEFERRED") as connection:
            if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise self._unusable("it is damaged")
            return self._verified(connection)[2]

    def rows(self) -> tuple[Row, ...]:
        """Return all entries, oldest first."""
        with self._transaction("DEFERRED") as connection:
            return self._verified(connection)[0]

    def spent(self) -> Cost:
        """Return the sums of all costs."""
        with self._transaction("DEFERRED") as connection:
            return self._verified(connection)[1]

    def check_writable(self) -> None:
        """Raise LedgerUnusable where nothing could be written."""
        # SQLite notices a read-only file or folder only when something is written.
        with self._transaction("IMMEDIATE") as connection:
            connection.execute("UPDATE ledger SET n_entries = n_entries")
            connection.execute("ROLLBACK")

    def append(self, event: Event, cost: Cost, admit: Admit) -> None:
        """Ask `admit` with the sums so far and write one entry, in one indivisible act."""
        # Under one lock, so that what is remembered never falls behind what was written.
        with _transactions:
            before = self._identity()
            with self._transaction("IMMEDIATE") as connection:
                rows, spent, _ = self._verified(connection)
                after = admit(spent)
                row = Row(len(rows) + 1, datetime.now(UTC), json.dumps(event.to_json()), event, cost)
                entry = (row.number, row.time.isoformat(), row.text, cost_text(cost))
                connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?)", entry)
                connection.execute("UPDATE ledger SET n_entries = ?, spent = ?", (row.number, cost_text(after)))
            self._known = ([*self._known[0], entry], (*rows, row), after)
            if self._identity() != before:
                raise self._unusable("another file was put in its place during a charge")

    def _identity(self) -> tuple[int, int] | None:
        """Return which file stands at the path."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[sqlite3.Connection]:
        """Open the file, check whose it is, begin; commit at the end, or roll back where anything was raised."""
        try:
            with _transactions, closing(self._connect()) as connection:
                # EXTRA also makes the removal of the journal durable: without it a power cut could undo a commit.
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute(f"BEGIN {kind}")
                self._check_format(connection)
                yield connection
                if connection.in_transaction:
                    connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as failure:
            reason = str(failure)
        else:
            return
        raise self._unusable(reason)

    def _connect(self) -> sqlite3.Connection:
        # Mode rw never creates: an absent file is an error here. Closing rolls back what was not committed.
        address = f"{self._path.as_uri()}?mode=rw"
        return sqlite3.connect(address, uri=True, timeout=_TIMEOUT_SECONDS, isolation_level=None)

    def _check_format(self, connection: sqlite3.Connection) -> None:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != _APPLICATION_ID:
            raise self._unusable("it is no ledger of discreet, or it was emptied")
        if version not in {FORMAT, FORMAT_OF_TWO_SUMS}:
            known = f"formats {FORMAT} and {FORMAT_OF_TWO_SUMS}"
            raise self._unusable(f"its format is {version}, and this version of discreet reads {known}: update")

    def _verified(self, connection: sqlite3.Connection) -> tuple[tuple[Row, ...], Cost, tuple[Filter, Adjacency]]:
        """Return all entries, their sums, and the promise.

        The promise must be the one that was opened, its limit that of its total; the entries must begin with those
        that were seen before, each must be readable, and their sums must be what was noted with the last of them.
        """
        stored = connection.execute("SELECT number, time, event, cost FROM entries ORDER BY number").fetchall()
        books = connection.execute("SELECT n_entries, spent FROM ledger").fetchall()
        promise = self._promised(connection)
        rows, spent = self._read(stored, promise)
        try:
            ((n_entries, noted),) = books
            numbers = [row.number for row in rows]
            sound = spent == cost_of(noted) and promise[0].holds(spent) and numbers == list(range(1, n_entries + 1))
        except (ValueError, TypeError):
            sound = False
        if not sound:
            raise self._unusable("its entries do not add up to what it noted as spent")
        self._known = (stored, rows, spent)
        return rows, spent, promise

    def _promised(self, connection: sqlite3.Connection) -> tuple[Filter, Adjacency]:
        """Return what the file promises, which must be what it promised when it was opened."""
        lines = connection.execute("SELECT total, adjacency, composition, spending_limit FROM ledger").fetchall()
        terms = Terms(*lines[0]) if len(lines) == 1 else None
        if self._terms is not None and terms != self._terms:
            raise self._unusable("its promise is not the one with which it was opened: another file is in its place")
        if self._promise is None:
            try:
                self._promise = None if terms is None else terms.read()
            except _UNREADABLE:
                self._promise = None
        if terms is None or self._promise is None:
            raise self._unusable("its promise cannot be read, or its limit is not that of its total")
        self._terms = terms
        return self._promise

    def _read(self, stored: list[tuple[Any, ...]], promise: tuple[Filter, Adjacency]) -> tuple[tuple[Row, ...], Cost]:
        """Return entries and their sums; what is still as it was read before, letter by letter, is not read again."""
        before, rows, spent = self._known
        if stored[: len(before)] != before:
            raise self._unusable("entries that were in it are gone or changed: it was set back, or replaced")
        new = []
        for number, time, text, cost in stored[len(before) :]:
            row = _row(number, time, text, cost)
            if row is None or row.event.adjacency != promise[1]:
                raise self._unusable(f"entry {number} cannot be read, or is of a newer version of discreet")
            if not _is_as_asked(row):
                raise self._unusable(f"the cost of entry {number} is not what its release asked for")
            new.append(row)
        if spent is None:
            spent = promise[0].nothing()
        if not new:
            return rows, spent
        together = _sum_of_costs([row.cost for row in new])
        if together is None or type(together.budget) is not type(spent.budget):
            raise self._unusable("its entries do not add up to what it noted as spent")
        return (*rows, *new), spent + together

    def _unusable(self, reason: str) -> DiscreetError:
        return _unusable(self._path, reason)


class FileOnFirstCharge(FileStore):
    """A file that does not exist before its first entry, so that a command that fails leaves no file behind."""

    def __init__(self, path: Path, terms: Terms) -> None:
        super().__init__(path, terms)
        self._promise = terms.read()
        self._seen = False
        self._made_before = _made.get(path, 0)

    def _is_there(self) -> bool:
        # A file that was there once, by another ledger of this process too, is never made anew: it would have
        # forgotten what was spent.
        made = _made.get(self._path, 0) != self._made_before
        self._seen = self._seen or made or os.path.lexists(self._path)
        return self._seen

    def promise(self) -> tuple[Filter, Adjacency]:
        """Return what the ledger promises."""
        assert self._promise is not None  # noqa: S101  (read when it was made)
        return super().promise() if self._is_there() else self._promise

    def rows(self) -> tuple[Row, ...]:
        """Return all entries, oldest first."""
        return super().rows() if self._is_there() else ()

    def spent(self) -> Cost:
        """Return the sums of all costs."""
        return super().spent() if self._is_there() else self.promise()[0].nothing()

    def check_writable(self) -> None:
        """Raise LedgerUnusable where nothing could be written."""
        if self._is_there():
            super().check_writable()
        elif not os.access(self._path.parent, os.W_OK | os.X_OK):
            raise self._unusable("its folder does not exist or cannot be written")

    def append(self, event: Event, cost: Cost, admit: Admit) -> None:
        """Make the file where it is absent, then write one entry as any file does."""
        admit(self.spent())  # a refusal makes no file
        if not self._is_there():
            # Where another process was first, its file is checked like any other.
            assert self._terms is not None  # noqa: S101
            self.create(self._path, self._terms)
            self._seen = True
        super().append(event, cost, admit)


def _unusable(path: Path, reason: str) -> DiscreetError:
    return LedgerUnusable(
        f"Cannot use the ledger {str(path)!r}: {reason}. Nothing is released. "
        "Restore the newest copy, or make the file readable and writable; never begin anew for the same people."
    )


def budget_text(budget: Budget) -> str:
    """Return a budget as one line of JSON."""
    return json.dumps(to_json(budget))


@lru_cache(maxsize=4096)
def budget_of(text: str) -> Budget:
    """Return the budget that `budget_text` wrote."""
    return budget_from_json(json.loads(text))


def cost_text(cost: Cost) -> str:
    """Return a cost as one line of JSON: a budget, with its pure price beside it where there is one."""
    beside = {} if cost.pure is None else {"pure": to_json(cost.pure)}
    return json.dumps(to_json(cost.budget) | beside)


@lru_cache(maxsize=4096)
def cost_of(text: str) -> Cost:
    """Return the cost that `cost_text` wrote."""
    document = json.loads(text)
    if not isinstance(document, dict) or "pure" not in document:
        return Cost(budget_from_json(document))
    pure = budget_from_json(document.pop("pure"))
    if not isinstance(pure, Pure):
        raise InvalidArgument("The pure price in the file must be in Pure. Restore the newest copy.")
    return Cost(budget_from_json(document), pure)


@lru_cache(maxsize=4096)
def event_of(text: str) -> Event:
    """Return the event that an entry holds; its price is computed and checked anew."""
    return event_from_json(json.loads(text))


def _row(number: Any, time: Any, text: Any, cost: Any) -> Row | None:
    """Return a stored entry; None where something in it cannot be read."""
    try:
        return Row(number, datetime.fromisoformat(time), text, event_of(text), cost_of(cost))
    except _UNREADABLE:
        return None


def _is_as_asked(row: Row) -> bool:
    """Whether costs in the currency of the event's budget are that budget, as every version charges."""
    asked = row.event.budget
    return all(type(cost) is not type(asked) or cost == asked for cost in (row.cost.budget, row.cost.pure))


def _sum_of_costs(costs: list[Cost]) -> Cost | None:
    """Return the sums of costs; None where they are not of one currency."""
    if len({type(cost.budget) for cost in costs}) > 1:
        return None
    pure = [cost.pure for cost in costs if cost.pure is not None]
    together = sum_of(list(pure)) if len(pure) == len(costs) else None
    assert together is None or isinstance(together, Pure)  # noqa: S101
    return Cost(sum_of([cost.budget for cost in costs]), together)


def sum_of(costs: list[Budget]) -> Budget:
    """Return the exact sum of budgets of one currency, at least one.

    Whole numbers are added over each denominator, and the few sums that are left two by two, so that many different
    denominators are multiplied only once.
    """
    columns = zip(*(cost.coordinates for cost in costs), strict=True)
    if len({type(cost) for cost in costs}) > 1:
        raise InvalidArgument("Costs of one ledger must be of one currency.")
    return type(costs[0]).from_coordinates(tuple(_sum(column) for column in columns))


def _sum(numbers: tuple[Fraction, ...]) -> Fraction:
    numerators: dict[int, int] = {}
    for number in numbers:
        numerators[number.denominator] = numerators.get(number.denominator, 0) + number.numerator
    sums = [Fraction(numerator, denominator) for denominator, numerator in sorted(numerators.items())]
    while len(sums) > 1:
        paired = [a + b for a, b in zip(sums[::2], sums[1::2], strict=False)]
        sums = paired + sums[len(paired) * 2 :]
    return sums[0]


def _flush(path: Path) -> None:
    """Make a file, or the names in a folder, outlive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
