"""Where a ledger keeps its entries: in memory, or in a SQLite file that outlives any crash.

Both stores have one duty: `append` decides and writes as one indivisible act, and has written before it returns.
A file is made whole beside its place and then linked there, so no other process ever sees half of one, and an empty
or cut file is refused instead of begun anew.
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
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from discreet.errors import DiscreetError, InvalidArgument, LedgerUnusable
from discreet.privacy.budgets import Budget, budget_from_json, to_json

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = 1
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


def _born() -> None:
    global _forks  # noqa: PLW0603  (a process has one count of the forks above it)
    _forks += 1
    _transactions.release()


if sys.platform != "win32":  # where no process forks
    os.register_at_fork(before=_transactions.acquire, after_in_parent=_transactions.release, after_in_child=_born)


@dataclass(frozen=True)
class Row:
    """One entry as it is stored: the event still as text."""

    number: int
    time: datetime
    event: str
    cost: Budget


@dataclass(frozen=True)
class Terms:
    """What a ledger promised when it was opened first, as texts."""

    total: str
    adjacency: str
    composition: str
    limit: str


# Gets the sum so far and returns the new one, or raises.
Admit = Callable[[Budget], Budget]


class Store(Protocol):
    """Where entries are kept."""

    def rows(self) -> tuple[Row, ...]:
        """Return all entries, oldest first."""
        ...

    def spent(self) -> Budget:
        """Return the sum of all costs."""
        ...

    def check_writable(self) -> None:
        """Raise LedgerUnusable where nothing could be written."""
        ...

    def append(self, event: str, cost: Budget, admit: Admit) -> None:
        """Ask `admit` with the sum so far and write one entry, in one indivisible act."""
        ...


class MemoryStore:
    """Entries of one process, which end with it.

    The child of a fork would hold a copy of the whole budget, so there the store refuses.
    """

    def __init__(self, nothing: Budget) -> None:
        self._lock = threading.Lock()
        # A process id alone can come back, in containers for one.
        self._process = (os.getpid(), _forks)
        self._rows: list[Row] = []
        self._spent = nothing

    def rows(self) -> tuple[Row, ...]:
        """Return all entries, oldest first."""
        return tuple(self._rows)

    def spent(self) -> Budget:
        """Return the sum of all costs."""
        return self._spent

    def check_writable(self) -> None:
        """Raise LedgerUnusable in any process but the one that opened the ledger."""
        if (os.getpid(), _forks) != self._process:
            raise LedgerUnusable(
                "This ledger is in the memory of another process, and a copy here would spend the budget twice. "
                "Use Ledger.open(path, ...), which processes share, or threads."
            )

    def append(self, event: str, cost: Budget, admit: Admit) -> None:
        """Ask `admit` with the sum so far and write one entry, in one indivisible act."""
        self.check_writable()
        with self._lock:
            spent = admit(self._spent)
            self._rows.append(Row(len(self._rows) + 1, datetime.now(UTC), event, cost))
            self._spent = spent


class FileStore:
    """Entries in a SQLite file that many processes may share.

    Every act opens a connection of its own, so threads and forked processes share nothing but the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        # What was read last: as it stands in the file, as entries, and their sum.
        self._known: tuple[list[tuple[Any, ...]], tuple[Row, ...], Budget | None] = ([], (), None)

    @classmethod
    def create(cls, path: Path, terms: Terms, nothing: Budget) -> bool:
        """Make a new file; return False where another process was first."""
        draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}.new")
        try:
            with _transactions, closing(sqlite3.connect(draft, isolation_level=None)) as connection:
                connection.executescript(_TABLES)
                connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {FORMAT}")
                connection.execute(
                    "INSERT INTO ledger VALUES (?, ?, ?, ?, 0, ?)",
                    (terms.total, terms.adjacency, terms.composition, terms.limit, budget_text(nothing)),
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
            return True
        finally:
            with suppress(OSError):
                draft.unlink()
        raise LedgerUnusable(
            f"Cannot create the ledger {str(path)!r} ({reason}). Choose a folder that exists, can be written, "
            "and is on a file system with hard links."
        )

    def terms(self) -> Terms:
        """Return what the ledger promised when it was made, after a check of the whole file."""
        with self._transaction("DEFERRED") as connection:
            if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise self._unusable("it is damaged")
            self._verified(connection)
            return Terms(
                *connection.execute("SELECT total, adjacency, composition, spending_limit FROM ledger").fetchone()
            )

    def rows(self) -> tuple[Row, ...]:
        """Return all entries, oldest first."""
        with self._transaction("DEFERRED") as connection:
            return self._verified(connection)[0]

    def spent(self) -> Budget:
        """Return the sum of all costs."""
        with self._transaction("DEFERRED") as connection:
            return self._verified(connection)[1]

    def check_writable(self) -> None:
        """Raise LedgerUnusable where nothing could be written."""
        # SQLite notices a read-only file or folder only when something is written.
        with self._transaction("IMMEDIATE") as connection:
            connection.execute("UPDATE ledger SET n_entries = n_entries")
            connection.execute("ROLLBACK")

    def append(self, event: str, cost: Budget, admit: Admit) -> None:
        """Ask `admit` with the sum so far and write one entry, in one indivisible act."""
        with self._transaction("IMMEDIATE") as connection:
            rows, spent = self._verified(connection)
            after = admit(spent)
            entry = (len(rows) + 1, datetime.now(UTC).isoformat(), event, budget_text(cost))
            connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?)", entry)
            connection.execute("UPDATE ledger SET n_entries = ?, spent = ?", (entry[0], budget_text(after)))

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
        address = f"{self._path.absolute().as_uri()}?mode=rw"
        return sqlite3.connect(address, uri=True, timeout=_TIMEOUT_SECONDS, isolation_level=None)

    def _check_format(self, connection: sqlite3.Connection) -> None:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != _APPLICATION_ID:
            raise self._unusable("it is no ledger of discreet, or it was emptied")
        if version != FORMAT:
            raise self._unusable(f"its format is {version}, and this version of discreet reads format {FORMAT}: update")

    def _verified(self, connection: sqlite3.Connection) -> tuple[tuple[Row, ...], Budget]:
        """Return all entries and their sum, which must be the one that was written with the last of them."""
        stored = connection.execute("SELECT number, time, event, cost FROM entries ORDER BY number").fetchall()
        books = connection.execute("SELECT n_entries, spent, spending_limit FROM ledger").fetchall()
        try:
            ((n_entries, noted, limit),) = books
            most = budget_of(limit)
            rows, total = self._read(stored, type(most).zero())
            numbers = [row.number for row in rows]
            sound = total == budget_of(noted) and total <= most and numbers == list(range(1, n_entries + 1))
        except (ValueError, TypeError, InvalidArgument):
            sound = False
        if sound:
            return rows, total
        raise self._unusable("its entries do not add up to what it noted as spent")

    def _read(self, stored: list[tuple[Any, ...]], nothing: Budget) -> tuple[tuple[Row, ...], Budget]:
        """Return entries and their sum; what is still as it was read before, letter by letter, is not read again."""
        before, rows, total = self._known
        if total is None or type(total) is not type(nothing) or stored[: len(before)] != before:
            rows, total = (), nothing
        new = tuple(
            Row(number, datetime.fromisoformat(time), event, budget_of(cost))
            for number, time, event, cost in stored[len(rows) :]
        )
        if new:
            rows, total = rows + new, total + sum_of([row.cost for row in new])
        self._known = (stored, rows, total)
        return rows, total

    def _unusable(self, reason: str) -> DiscreetError:
        return LedgerUnusable(
            f"Cannot use the ledger {str(self._path)!r}: {reason}. Nothing is released. "
            "Restore the newest copy, or make the file readable and writable; never begin anew for the same people."
        )


class FileOnFirstCharge(FileStore):
    """A file that does not exist before its first entry, so that a command that fails leaves no file behind."""

    def __init__(self, path: Path, terms: Terms, nothing: Budget) -> None:
        super().__init__(path)
        self._terms = terms
        self._nothing = nothing

    def _is_there(self) -> bool:
        return os.path.lexists(self._path)

    def terms(self) -> Terms:
        """Return what the ledger promises."""
        return super().terms() if self._is_there() else self._terms

    def rows(self) -> tuple[Row, ...]:
        """Return all entries, oldest first."""
        return super().rows() if self._is_there() else ()

    def spent(self) -> Budget:
        """Return the sum of all costs."""
        return super().spent() if self._is_there() else self._nothing

    def check_writable(self) -> None:
        """Raise LedgerUnusable where nothing could be written."""
        if self._is_there():
            super().check_writable()
        elif not os.access(self._path.parent, os.W_OK | os.X_OK):
            raise self._unusable("its folder does not exist or cannot be written")

    def append(self, event: str, cost: Budget, admit: Admit) -> None:
        """Make the file where it is absent, then write one entry as any file does."""
        admit(self.spent())  # a refusal makes no file
        if not self._is_there():
            self.create(self._path, self._terms, self._nothing)
        if super().terms() != self._terms:
            raise self._unusable("another process has made it meanwhile, and with another promise")
        super().append(event, cost, admit)


def budget_text(budget: Budget) -> str:
    """Return a budget as one line of JSON."""
    return json.dumps(to_json(budget))


@lru_cache(maxsize=4096)
def budget_of(text: str) -> Budget:
    """Return the budget that `budget_text` wrote."""
    return budget_from_json(json.loads(text))


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
