"""Many threads and processes share a ledger, and never pass its total."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import warnings

import pytest

from discreet.errors import BudgetExceeded, DiscreetError, LedgerUnusable
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Pure
from discreet.privacy.coins import Coins
from discreet.privacy.ledger import Ledger
from privacy.doubles import laplace, priced
from privacy.ledger_workers import ask_for_a_quarter

N_ASKING = 16
N_REPEATS = 100
N_RACES = 25  # of processes; a thousand by night


def grants_of_threads(ledger):
    """How many of sixteen threads that ask for 1/4 at once are granted."""
    barrier, granted = threading.Barrier(N_ASKING), []

    def ask():
        barrier.wait(60)
        try:
            granted.append(ledger.charge(priced(Pure(epsilon=0.25))))
        except BudgetExceeded:
            return

    threads = [threading.Thread(target=ask) for _ in range(N_ASKING)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(granted)


def test_sixteen_threads_get_four_quarters_of_a_memory_ledger():
    """A hundred times over, exactly four are granted."""
    for _ in range(N_REPEATS):
        ledger = Ledger(total=Pure(epsilon=1), adjacency=Replace())
        assert grants_of_threads(ledger) == 4
        assert ledger.left == Pure(epsilon=0)


def test_sixteen_threads_get_four_quarters_of_a_file_ledger(tmp_path):
    """Each with a connection of its own, exactly four are granted."""
    for number in range(5):
        ledger = Ledger.open(tmp_path / f"{number}.ledger", Pure(epsilon=1), Replace())
        assert grants_of_threads(ledger) == 4
        assert [entry.number for entry in ledger.entries] == [1, 2, 3, 4]


def test_sixteen_processes_get_four_quarters(tmp_path):
    """Time and again, processes that also race to create the file are granted exactly four quarters of it."""
    spawn = multiprocessing.get_context("spawn")
    paths = [str(tmp_path / f"{number}.ledger") for number in range(N_RACES)]
    granted = spawn.Array("i", N_RACES)
    arguments = (spawn.Barrier(N_ASKING), paths, granted)
    processes = [spawn.Process(target=ask_for_a_quarter, args=arguments) for _ in range(N_ASKING)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * N_ASKING
    assert list(granted) == [4] * N_RACES
    assert all(Ledger.open(path).left == Pure(epsilon=0) for path in paths)
    assert sorted(os.listdir(tmp_path)) == sorted(os.path.basename(path) for path in paths)  # noqa: PTH119, PTH208


KILLED_WHILE_DRAWING = """
import os, signal, sys
from privacy.doubles import laplace
from discreet.privacy.ledger import Ledger
from discreet.privacy.release import release

class Plan:
    event = laplace("1/4")
    def measure(self, data):
        return data
    def draw(self, statistic, coins):
        os.kill(os.getpid(), signal.SIGKILL)

release(Plan(), 1, Ledger.open(sys.argv[1]))
"""


def test_kill_between_charge_and_draw_leaves_the_charge(tmp_path):
    """A crash after the charge stays charged, and the next process goes on from there."""
    path = tmp_path / "book.ledger"
    ledger = Ledger.open(path, Pure(epsilon=1), Replace())
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    for killed in (1, 2):
        done = subprocess.run(
            [sys.executable, "-c", KILLED_WHILE_DRAWING, str(path)], env=environment, check=False, capture_output=True
        )
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert ledger.left == Pure(epsilon=1) - Pure(epsilon=f"{killed}/4")
    ledger.charge(laplace("1/2"))
    assert ledger.left == Pure(epsilon=0)


def in_a_fork(act):
    """Run `act` in a forked child and return what it said."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # idle threads of numerical libraries
        child = os.fork()
    if child == 0:
        try:
            answer = act()
        except DiscreetError as refusal:
            answer = f"{type(refusal).__name__}: {refusal}"
        os.write(writer, answer.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    return answer


def test_a_memory_ledger_refuses_in_a_forked_child():
    """The child's copy would be a second budget; the parent's goes on."""
    ledger = Ledger(total=Pure(epsilon=1), adjacency=Replace())
    for ask in (ledger.quote, ledger.charge):
        answer = in_a_fork(lambda ask=ask: str(ask(laplace("1/4"))))
        assert answer.startswith("LedgerUnusable: This ledger is in the memory of another process")
    seeded = Ledger(total=Pure(epsilon=1), adjacency=Replace(), coins=Coins.from_seed(1))
    assert in_a_fork(lambda: str(seeded.charge(laplace("1/4")))).startswith("LedgerUnusable")
    ledger.charge(laplace(1))


def test_a_file_ledger_works_in_a_forked_child(tmp_path):
    """Parent and child charge one file, each with coins of its own."""
    ledger = Ledger.open(tmp_path / "book.ledger", Pure(epsilon=1), Replace())
    mine = ledger.charge(laplace("1/4"))
    answer = in_a_fork(lambda: str(list(ledger.charge(laplace("1/4")).words(4))))
    assert answer.startswith("[")
    assert answer != str(list(mine.words(4)))
    assert ledger.left == Pure(epsilon="1/2")


def test_forks_wait_for_open_transactions(tmp_path):
    """Children born while other threads charge never disturb the file."""
    ledger = Ledger.open(tmp_path / "book.ledger", Pure(epsilon=1), Replace())

    def charge_often():
        for _ in range(40):
            ledger.charge(priced(Pure(epsilon="1/1000")))

    threads = [threading.Thread(target=charge_often) for _ in range(2)]
    for thread in threads:
        thread.start()
    answers = [in_a_fork(lambda: str(ledger.quote(laplace("1/4")))) for _ in range(20)]
    for thread in threads:
        thread.join()
    assert set(answers) == {"Pure(epsilon=1/4)"}
    assert ledger.spent == Pure(epsilon="80/1000")


def test_a_locked_file_is_reported(tmp_path, monkeypatch):
    """A process that never lets go is named as a lock, not waited for without end."""
    import sqlite3
    from contextlib import closing

    from discreet.privacy import ledger_store

    path = tmp_path / "book.ledger"
    ledger = Ledger.open(path, Pure(epsilon=1), Replace())
    monkeypatch.setattr(ledger_store, "_TIMEOUT_SECONDS", 0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(LedgerUnusable, match="database is locked"):
            ledger.charge(laplace("1/4"))
    ledger.charge(laplace(1))


def test_losing_the_race_to_create_is_no_failure(tmp_path):
    """The second to create a file finds the first one's, whole."""
    from discreet.privacy.filters import filter_for
    from discreet.privacy.ledger_store import FileStore, Terms

    path = tmp_path / "book.ledger"
    assert FileStore.create(path, Terms.of(filter_for(Pure(epsilon=1)), Replace()))
    assert not FileStore.create(path, Terms.of(filter_for(Pure(epsilon=2)), Replace()))
    assert Ledger.open(path).total == Pure(epsilon=1)
    assert [place.name for place in tmp_path.iterdir()] == ["book.ledger"]


def test_a_process_id_that_came_back_is_no_pass(monkeypatch):
    """Forks are counted, so a child with its parent's number is still another process."""
    from discreet.privacy import ledger_store

    ledger = Ledger(total=Pure(epsilon=1), adjacency=Replace())
    monkeypatch.setattr(ledger_store, "_forks", 1)
    with pytest.raises(LedgerUnusable, match="memory of another process"):
        ledger.quote(laplace("1/4"))
