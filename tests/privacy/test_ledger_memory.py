"""A ledger cannot be made to forget: by a change of folder, an older copy, a deleted file or a scribble."""

import json
import os
import shutil
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import BudgetExceeded, InvalidArgument, InvalidType, LedgerUnusable
from discreet.privacy import ledger_store
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.filters import filter_for
from discreet.privacy.ledger import Ledger
from discreet.privacy.ledger_store import Terms, budget_text, cost_text
from privacy.doubles import gaussian, laplace, priced
from privacy.test_ledger_sharing import in_a_fork

RESTORE = "Restore the newest copy, .*; never begin anew for the same people"


def spent_file(path, total="1", times=1):
    """Make a ledger in a file and spend a quarter of it some times."""
    ledger = Ledger.open(path, Pure(epsilon=total), Replace())
    for _ in range(times):
        ledger.charge(laplace("1/4"))
    return ledger


def edit(path, statement, values=()):
    """Change the file behind the ledger's back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement, values)


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Return two folders, each with a ledger `people.ledger`; the first is the present one, and its ledger is spent."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder, times in ((here, 4), (there, 0)):
        folder.mkdir()
        spent_file(folder / "people.ledger", times=times)
    monkeypatch.chdir(here)
    return here, there


def test_a_relative_path_is_fixed_when_the_ledger_is_opened(folders, monkeypatch):
    """After a change of folder it pays from its own file, not from one of the same name."""
    _, there = folders
    ledger = Ledger.open("people.ledger")
    monkeypatch.chdir(there)
    for ask in (ledger.quote, ledger.charge):
        with pytest.raises(BudgetExceeded):
            ask(laplace("1/4"))
    assert ledger.left == Pure(epsilon=0)
    assert Ledger.open("people.ledger").left == Pure(epsilon=1)
    assert str(folders[0] / "people.ledger") in repr(ledger)


@pytest.mark.parametrize("waits", [False, True])
def test_a_new_file_is_made_where_it_was_asked_for(folders, monkeypatch, waits):
    """Also where it waits for the first charge, and the folder has changed meanwhile."""
    here, there = folders
    ledger = Ledger.open("new.ledger", Pure(epsilon=1), Replace(), create_on_charge=waits)
    monkeypatch.chdir(there)
    ledger.charge(laplace("1/4"))
    assert (here / "new.ledger").exists()
    assert not (there / "new.ledger").exists()


def test_a_fork_that_changes_its_folder_pays_from_the_same_file(folders):
    """The child goes on with the file that its parent opened."""
    _, there = folders
    ledger = Ledger.open("people.ledger")

    def elsewhere():
        os.chdir(there)
        return str(ledger.left)

    assert in_a_fork(elsewhere) == "Pure(epsilon=0)"


def test_a_link_is_followed_once(folders):
    """A link that leads elsewhere later is not followed again; one that leads nowhere begins nothing anew."""
    here, there = folders
    link = here / "link.ledger"
    link.symlink_to(here / "people.ledger")
    ledger = Ledger.open(link)
    link.unlink()
    link.symlink_to(there / "people.ledger")
    with pytest.raises(BudgetExceeded):
        ledger.charge(laplace("1/4"))
    assert Ledger.open(link).left == Pure(epsilon=1)
    link.unlink()
    link.symlink_to(there / "none.ledger")
    for waits in (False, True):
        with pytest.raises(LedgerUnusable, match=RESTORE):
            Ledger.open(link, Pure(epsilon=1), Replace(), create_on_charge=waits)
    assert not (there / "none.ledger").exists()


def test_a_path_that_cannot_exist_is_refused(tmp_path, monkeypatch):
    """Neither a foreign type, an impossible character nor a folder that was removed is a bare error."""
    with pytest.raises(InvalidType, match="`path` must be a path; found bytes"):
        Ledger.open(b"book.ledger", Pure(epsilon=1), Replace())
    with pytest.raises(LedgerUnusable, match="`path`"):
        Ledger.open("a\0b", Pure(epsilon=1), Replace())
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(LedgerUnusable, match="`path`"):
        Ledger.open("book.ledger", Pure(epsilon=1), Replace())


@pytest.mark.parametrize("waits", [False, True])
def test_a_deleted_file_stays_deleted(tmp_path, waits):
    """An open ledger makes its file once; where it is gone, nothing is read, quoted or charged."""
    path = tmp_path / "book.ledger"
    ledger = Ledger.open(path, Pure(epsilon=1), Replace(), create_on_charge=waits)
    ledger.charge(laplace(1))
    kept = shutil.copy(path, tmp_path / "copy")
    path.unlink()
    for ask in (lambda: ledger.charge(laplace("1/4")), lambda: ledger.quote(laplace("1/4")), lambda: ledger.left,
                lambda: ledger.entries):  # fmt: skip
        with pytest.raises(LedgerUnusable, match=RESTORE):
            ask()
    assert not path.exists()
    Path(kept).rename(path)
    assert ledger.left == Pure(epsilon=0)


def test_a_file_that_another_process_made_is_not_made_again(tmp_path):
    """A ledger that waits for its first charge has seen the file of another, and remembers it."""
    path = tmp_path / "book.ledger"
    waiting = Ledger.open(path, Pure(epsilon=1), Replace(), create_on_charge=True)
    assert waiting.left == Pure(epsilon=1)
    spent_file(path, times=4)
    assert waiting.left == Pure(epsilon=0)
    path.unlink()
    with pytest.raises(LedgerUnusable, match=RESTORE):
        waiting.charge(laplace("1/4"))


@pytest.mark.parametrize("seen_by", ["charging", "reading", "opening"])
def test_an_older_copy_is_refused_by_whoever_saw_more(tmp_path, seen_by):
    """A ledger that charged, read or opened the newer file refuses the older one, and goes on when it is restored."""
    path = tmp_path / "book.ledger"
    ledger = spent_file(path)
    shutil.copy(path, tmp_path / "old")
    if seen_by == "charging":
        ledger.charge(laplace("1/2"))
    else:
        Ledger.open(path).charge(laplace("1/2"))
        if seen_by == "reading":
            assert ledger.left == Pure(epsilon="1/4")
        else:
            ledger = Ledger.open(path)
    shutil.copy(path, tmp_path / "new")
    shutil.copy(tmp_path / "old", path)
    for ask in (ledger.charge, ledger.quote):
        with pytest.raises(LedgerUnusable, match=f"set back, or replaced.*{RESTORE}"):
            ask(laplace("1/4"))
    shutil.copy(tmp_path / "new", path)
    ledger.charge(laplace("1/4"))
    assert ledger.left == Pure(epsilon=0)
    with pytest.raises(BudgetExceeded):
        ledger.charge(laplace("1/4"))


def test_a_replaced_file_is_refused(tmp_path):
    """Another ledger with as many entries, of other times, or with another promise is another ledger."""
    path = tmp_path / "book.ledger"
    ledger = spent_file(path)
    spent_file(tmp_path / "other.ledger", times=2)
    shutil.copy(tmp_path / "other.ledger", path)
    with pytest.raises(LedgerUnusable, match="gone or changed"):
        ledger.charge(laplace("1/4"))
    fresh = Ledger.open(tmp_path / "fresh.ledger", Pure(epsilon=1), Replace())
    spent_file(tmp_path / "larger.ledger", total="9", times=0)
    shutil.copy(tmp_path / "larger.ledger", tmp_path / "fresh.ledger")
    with pytest.raises(LedgerUnusable, match="not the one with which it was opened"):
        fresh.charge(laplace("1/4"))


def test_two_objects_that_share_a_file_go_on(tmp_path):
    """What another has added is no change of what was seen."""
    path = tmp_path / "book.ledger"
    first = spent_file(path, total="2")
    second = Ledger.open(path)
    for ledger in (second, first, second, second, first):
        ledger.charge(laplace("1/4"))
    assert first.left == second.left == Pure(epsilon="1/2")
    assert [entry.number for entry in first.entries] == [1, 2, 3, 4, 5, 6]


def test_a_file_that_is_exchanged_during_a_charge_yields_no_coins(tmp_path, monkeypatch):
    """Where the charge went into a file that no path leads to any more, nothing may be drawn."""
    path = tmp_path / "book.ledger"
    ledger = spent_file(path)
    shutil.copy(path, tmp_path / "old")
    written = []

    def exchange(cost):
        written.append(cost)
        if len(written) == 2:  # the entry is written, and the new sum is not
            (tmp_path / "old").replace(path)
        return cost_text(cost)

    monkeypatch.setattr(ledger_store, "cost_text", exchange)
    with pytest.raises(LedgerUnusable, match="another file was put in its place"):
        ledger.charge(laplace("1/4"))
    monkeypatch.undo()
    with pytest.raises(LedgerUnusable, match="gone or changed"):
        ledger.charge(laplace("1/4"))


@pytest.mark.parametrize(
    ("total", "composition", "column", "value"),
    [
        (Pure(epsilon=1), "auto", "spending_limit", Pure(epsilon=100)),
        (Pure(epsilon=1), "auto", "spending_limit", Pure(epsilon="1/2")),
        (Pure(epsilon=1), "auto", "total", Pure(epsilon="1/2")),
        (Gdp(mu=1), "auto", "spending_limit", Gdp(mu=2)),
        (Zcdp(rho=1), "auto", "spending_limit", Pure(epsilon=2)),
        (Approx(epsilon=1, delta="1e-6"), "gdp", "spending_limit", Gdp(mu=1)),
        (Approx(epsilon=1, delta="1e-6"), "auto", "spending_limit", Gdp(mu=1)),
        (Approx(epsilon=1, delta="1e-6"), "zcdp", "total", Approx(epsilon=1, delta="1e-9")),
        (Approx(epsilon=1, delta="1e-6"), "sum", "spending_limit", Approx(epsilon=1, delta="1e-5")),
        (Pure(epsilon=1), "auto", "composition", "gdp"),
        (Pure(epsilon=1), "auto", "composition", "either"),
        (Pure(epsilon=1), "auto", "composition", "auto"),
        (Pure(epsilon=1), "auto", "composition", "pld"),
        (Zcdp(rho=1), "auto", "composition", "sum"),
        (Approx(epsilon=1, delta="1e-6"), "gdp", "composition", "sum"),
        (Approx(epsilon=1, delta=0), "auto", "composition", "gdp"),
    ],
)
def test_a_limit_that_is_not_that_of_its_total_is_refused(tmp_path, total, composition, column, value):
    """The file's limit is computed anew: a scribble on limit, total or composition is damage, not a promise."""
    path = tmp_path / "book.ledger"
    opened = Ledger.open(path, total, Replace(), composition)
    edit(
        path,
        "UPDATE ledger SET column = ?".replace("column", column),
        (value if isinstance(value, str) else budget_text(value),),
    )
    with pytest.raises(LedgerUnusable, match="its promise cannot be read, or its limit is not that of its total"):
        Ledger.open(path)
    with pytest.raises(LedgerUnusable, match="not the one with which it was opened"):
        opened.charge(laplace("1/4"))


def test_the_last_digit_of_a_converted_limit_may_differ_downward():
    """Another machine may round a conversion one digit lower, never higher."""
    terms = Terms.of(filter_for(Approx(epsilon=1, delta="1e-6")), Replace())
    limit = terms.read()[0].limit.mu_squared

    def reads(number):
        try:
            return Terms(terms.total, terms.adjacency, terms.composition, number).read()[0].limit.mu_squared
        except InvalidArgument:
            return None

    lower = limit * (1 - 1 / Gdp(mu=2**24).mu_squared)
    assert reads(budget_text(Gdp.from_squared(lower))) == lower
    assert reads(budget_text(Gdp.from_squared(limit * (1 + 1 / Gdp(mu=2**24).mu_squared)))) is None
    assert reads(budget_text(Gdp.from_squared(limit * (1 - 1 / Gdp(mu=2**19).mu_squared)))) is None


def scribbled(path, change):
    """Change the text of the first event."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        (text,) = connection.execute("SELECT event FROM entries WHERE number = 1").fetchone()
        connection.execute("UPDATE entries SET event = ? WHERE number = 1", (change(text),))


def without(name):
    """Return a change that leaves a field out."""
    return lambda text: json.dumps({key: value for key, value in json.loads(text).items() if key != name})


def having(**fields):
    """Return a change that sets fields."""
    return lambda text: json.dumps(json.loads(text) | fields)


SCRIBBLES = {
    "no JSON": lambda text: text[:-1],
    "another JSON": lambda _: "[]",
    "a number": lambda _: "7",
    "deep": lambda _: "[" * 100_000,
    "binary": lambda _: b"\xff\xfe",
    "no kind": without("kind"),
    "an unknown kind": having(kind="oracle"),
    "a kind that is no text": having(kind=["laplace"]),
    "no budget": without("budget"),
    "a budget that is none": having(budget="1/4"),
    "a smaller budget than its price": having(budget={"currency": "Pure", "epsilon": "1/8"}),
    "a number of ours that is none": having(scale="1_0"),
    "a field too many": having(oracle="1"),
    "another adjacency": having(adjacency="add-remove"),
    "an adjacency that is none": having(adjacency="friends"),
    "a shape that is none": having(shape="x"),
}


@pytest.mark.parametrize("change", SCRIBBLES.values(), ids=SCRIBBLES)
def test_an_event_that_cannot_be_read_makes_the_ledger_damaged(tmp_path, change):
    """Nothing is told or paid from a file of which an entry does not say what was done."""
    path = tmp_path / "book.ledger"
    opened = spent_file(path)
    scribbled(path, change)
    for ask in (lambda: Ledger.open(path), lambda: opened.charge(laplace("1/4")), lambda: opened.entries):
        with pytest.raises(LedgerUnusable, match=RESTORE):
            ask()
    with pytest.raises(LedgerUnusable, match="entry 1 cannot be read"):
        Ledger.open(path)


def test_an_unreadable_event_that_another_process_adds_stops_an_open_ledger(tmp_path):
    """New entries are read as they come."""
    path = tmp_path / "book.ledger"
    opened = spent_file(path)
    Ledger.open(path).charge(laplace("1/4"))
    edit(path, "UPDATE entries SET event = '{}' WHERE number = 2")
    with pytest.raises(LedgerUnusable, match="entry 2 cannot be read"):
        opened.charge(laplace("1/4"))


def test_a_failed_reading_is_not_remembered(tmp_path):
    """A ledger that refused a damaged file goes on when the good one is back."""
    path = tmp_path / "book.ledger"
    opened = Ledger.open(path, Gdp(mu=1), AddRemove())
    opened.charge(gaussian("1/4", adjacency=AddRemove()))
    good = path.read_bytes()
    edit(path, "INSERT INTO entries SELECT 2, time, event, cost FROM entries")
    with pytest.raises(LedgerUnusable, match="do not add up"):
        opened.quote(gaussian("1/4", adjacency=AddRemove()))
    path.write_bytes(good)
    opened.charge(gaussian("3/4", adjacency=AddRemove()))
    assert opened.left == Gdp(mu=0)


def test_a_sum_of_many_digits_is_read_again(tmp_path):
    """What may be written may be read: fractions of 4,000 digits do not stop a file."""
    path = tmp_path / "book.ledger"
    long, other = Fraction(3**8499, 3**8500 + 1), Fraction(7**3999, 7**4000 + 1)
    ledger = Ledger.open(path, Pure(epsilon=1), Replace())
    ledger.charge(priced(Pure(epsilon=long)))
    assert Ledger.open(path).spent == Pure(epsilon=long)
    ledger.charge(priced(Pure(epsilon="1/2")))
    with pytest.raises(InvalidArgument, match="too many digits"):
        ledger.charge(priced(Pure(epsilon=other)))
    assert ledger.left == Pure(epsilon=Fraction(1, 2) - long)
    with pytest.raises(InvalidArgument, match="`budget` must have numbers of at most 14000 binary digits"):
        priced(Pure(epsilon=Fraction(3**9499, 3**9500 + 1)))


@pytest.mark.parametrize("waits", [False, True])
def test_no_ledger_is_begun_beside_a_journal_that_was_left(tmp_path, waits):
    """A journal without its file says that a ledger was there, and would be rolled back into a new one."""
    path = tmp_path / "people.ledger"
    (tmp_path / "people.ledger-journal").write_bytes(b"left by a crash")

    def spend():
        Ledger.open(path, Pure(epsilon=1), Replace(), create_on_charge=waits).charge(laplace("1/4"))

    with pytest.raises(LedgerUnusable, match=f"its -journal is there without it.*{RESTORE}"):
        spend()
    assert [entry.name for entry in tmp_path.iterdir()] == ["people.ledger-journal"]
    (tmp_path / "people.ledger-journal").unlink()
    spend()


def test_a_ledger_that_waits_knows_of_a_file_that_another_one_made(tmp_path):
    """Where two of one process wait for the first charge and the file goes after it, neither makes it anew."""
    path = tmp_path / "people.ledger"
    first, second = (Ledger.open(path, Pure(epsilon=1), Replace(), create_on_charge=True) for _ in range(2))
    first.charge(laplace("1"))
    path.unlink()
    for ledger in (second, first):
        with pytest.raises(LedgerUnusable, match=RESTORE):
            ledger.charge(laplace("1"))
    assert not path.exists()


@pytest.mark.parametrize("total", [Pure(epsilon=1), Approx(epsilon=1, delta="1e-6")])
def test_a_cost_below_what_its_release_asked_for_is_refused(tmp_path, total):
    """Changed together with the sum that was noted, it would make room for more."""
    path = tmp_path / "people.ledger"
    Ledger.open(path, total, Replace()).charge(laplace("1"))
    with closing(sqlite3.connect(path)) as connection:
        (cost,) = connection.execute("SELECT cost FROM entries").fetchone()
    document = json.loads(cost)
    document.get("pure", document)["epsilon"] = "1/100"
    edit(path, "UPDATE entries SET cost = ?", (json.dumps(document),))
    edit(path, "UPDATE ledger SET spent = ?", (json.dumps(document),))
    with pytest.raises(LedgerUnusable, match=f"cost of entry 1 is not what its release asked for.*{RESTORE}"):
        Ledger.open(path)
