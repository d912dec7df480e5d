"""A file that cannot be trusted or written refuses releases."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from discreet.errors import BudgetExceeded, InvalidArgument, LedgerUnusable
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure
from discreet.privacy.ledger import Ledger
from privacy.doubles import laplace


@pytest.fixture
def path(tmp_path):
    """Make the file of a ledger with one charge of 1/4 of 1."""
    place = tmp_path / "book.ledger"
    Ledger.open(place, total=Pure(epsilon=1), adjacency=Replace()).charge(laplace("1/4"))
    return place


def edit(path, statement):
    """Change the file behind the ledger's back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


def test_a_reopened_ledger_goes_on(path):
    """Total, neighbours and entries outlive the process."""
    again = Ledger.open(path)
    assert (again.total, again.adjacency, again.left) == (Pure(epsilon=1), Replace(), Pure(epsilon="3/4"))
    assert again.entries[0].event == laplace("1/4")
    same = Ledger.open(path, total=Pure(epsilon=1), adjacency=Replace(), composition="auto")
    with pytest.raises(BudgetExceeded):
        same.charge(laplace(1))


@pytest.mark.parametrize(
    ("arguments", "name"),
    [({"total": Pure(epsilon=2)}, "total"), ({"total": Gdp(mu=1)}, "total"), ({"adjacency": AddRemove()}, "adjacency"),
     ({"composition": "gdp"}, "composition"), ({"composition": "pld"}, "composition"), ({"total": 1}, "total"),
     ({"adjacency": "replace"}, "adjacency")],
)  # fmt: skip
def test_a_different_promise_is_refused_by_name(path, arguments, name):
    """A ledger's promise never changes."""
    with pytest.raises(InvalidArgument, match=f"`{name}`"):
        Ledger.open(path, **arguments)


def test_a_different_composition_of_the_same_total_is_refused(tmp_path):
    """The sum that was begun is the sum that goes on, and its limit is the one that was written."""
    place = tmp_path / "approx.ledger"
    first = Ledger.open(place, Approx(epsilon=1, delta=1e-6), Replace(), "zcdp")
    with pytest.raises(InvalidArgument, match=r"`composition` is 'either'; the ledger .* was opened with 'zcdp'"):
        Ledger.open(place, composition="auto")
    assert Ledger.open(place).left == first.left


@pytest.mark.parametrize("given", [{}, {"total": Pure(epsilon=1)}, {"adjacency": Replace()}])
def test_an_absent_file_needs_total_and_neighbours(tmp_path, given):
    """Nothing is created by mistake."""
    with pytest.raises(InvalidArgument, match=r"There is no ledger .* Give `total` and `adjacency`"):
        Ledger.open(tmp_path / "none.ledger", **given)
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_composition_creates_nothing(tmp_path):
    """Checks come before the file."""
    with pytest.raises(InvalidArgument, match="`composition`"):
        Ledger.open(tmp_path / "none.ledger", Pure(epsilon=1), Replace(), "gdp")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_absent_is_reported(tmp_path):
    """The remedy is in the message, and the folder is not made."""
    with pytest.raises(LedgerUnusable, match="Choose a folder that exists"):
        Ledger.open(tmp_path / "none" / "book.ledger", Pure(epsilon=1), Replace())


def test_a_folder_in_place_of_the_file_is_reported(tmp_path):
    """A folder is no ledger."""
    with pytest.raises(LedgerUnusable, match="Cannot use the ledger"):
        Ledger.open(tmp_path, Pure(epsilon=1), Replace())


@pytest.mark.parametrize("content", [b"", b"text, no database", b"SQLite format 3\x00" + bytes(84)])
def test_an_emptied_or_foreign_file_is_refused(path, content):
    """A file that was cut to nothing is not begun anew: that would hand out the budget again."""
    opened = Ledger.open(path)
    path.write_bytes(content)
    with pytest.raises(LedgerUnusable, match="Nothing is released"):
        Ledger.open(path, Pure(epsilon=1), Replace())
    for ask in (opened.quote, opened.charge):
        with pytest.raises(LedgerUnusable):
            ask(laplace("1/4"))


def test_a_damaged_page_is_refused(path):
    """A scribble in the middle of the file is noticed at opening."""
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(LedgerUnusable):
        Ledger.open(path)


def test_another_database_is_refused(tmp_path):
    """A database of some other program is not written to."""
    place = tmp_path / "other.db"
    edit(place, "CREATE TABLE entries (number INTEGER)")
    before = place.read_bytes()
    with pytest.raises(LedgerUnusable, match="no ledger of discreet"):
        Ledger.open(place, Pure(epsilon=1), Replace())
    assert place.read_bytes() == before


def test_a_newer_format_is_refused(path):
    """What a newer version wrote is not guessed."""
    opened = Ledger.open(path)
    edit(path, "PRAGMA user_version = 3")
    with pytest.raises(LedgerUnusable, match="its format is 3, .* reads formats 1 and 2: update"):
        opened.charge(laplace("1/4"))


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM entries",
        "UPDATE entries SET number = 7",
        """UPDATE entries SET cost = '{"currency": "Pure", "epsilon": "1/8"}'""",
        """UPDATE entries SET cost = '{"currency": "Zcdp", "rho": "1/4"}'""",
        "UPDATE entries SET cost = 'x'",
        "UPDATE entries SET time = 'yesterday'",
        """UPDATE ledger SET spent = '{"currency": "Pure", "epsilon": "0"}'""",
        """UPDATE ledger SET spending_limit = '{"currency": "Pure", "epsilon": "1/8"}'""",
        "UPDATE ledger SET n_entries = 0",
        "DELETE FROM ledger",
        "INSERT INTO ledger SELECT * FROM ledger",
        "DROP TABLE entries",
        "ALTER TABLE entries RENAME COLUMN cost TO price",
    ],
)
def test_books_that_do_not_add_up_are_refused(path, statement):
    """A lost or changed entry stops all releases."""
    opened = Ledger.open(path)
    edit(path, statement)
    with pytest.raises(LedgerUnusable):
        Ledger.open(path)
    with pytest.raises(LedgerUnusable):
        opened.charge(laplace("1/4"))
    with pytest.raises(LedgerUnusable):
        _ = opened.left


@pytest.mark.parametrize("statement", ["UPDATE ledger SET total = '{}'", "UPDATE ledger SET adjacency = 'friends'"])
def test_a_promise_that_cannot_be_read_is_refused(path, statement):
    """Without total and neighbours nothing is promised, so nothing is released."""
    edit(path, statement)
    with pytest.raises(LedgerUnusable, match="its promise cannot be read"):
        Ledger.open(path)


def test_a_deleted_file_is_not_made_again(path):
    """An open ledger whose file vanished refuses."""
    opened = Ledger.open(path)
    path.unlink()
    with pytest.raises(LedgerUnusable):
        opened.charge(laplace("1/4"))
    assert not path.exists()


READ_ONLY = """
import os, sys
from privacy.doubles import laplace
from discreet.errors import LedgerUnusable
from discreet.privacy.ledger import Ledger

event = laplace("1/4")
event.cost_in(type(event.budget))
if os.geteuid() == 0:
    os.setuid(65534)
ledger = Ledger.open(sys.argv[1])
print(ledger.left)
for ask in (ledger.quote, ledger.charge):
    try:
        ask(event)
    except LedgerUnusable as refusal:
        print(refusal)
"""


def test_a_read_only_file_can_be_read_but_refuses_releases(path):
    """What was spent may be looked up; nothing can be charged, so nothing is released."""
    folder = Path(tempfile.mkdtemp())
    try:
        shutil.copy(path, folder / "book.ledger")
        (folder / "book.ledger").chmod(0o444)
        folder.chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(folder / "book.ledger")],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, check=True, capture_output=True, text=True,
        )  # fmt: skip
        lines = done.stdout.splitlines()
        assert lines[0] == "Pure(epsilon=3/4)"
        assert len(lines) == 3
        assert all(line.startswith("Cannot use the ledger") for line in lines[1:])
        assert Ledger.open(path).left == Pure(epsilon="3/4")
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
