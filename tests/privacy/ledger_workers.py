"""What other processes do to a ledger's file; importable, so that they can be spawned."""

from __future__ import annotations

from discreet.errors import BudgetExceeded
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Pure
from discreet.privacy.ledger import Ledger
from privacy.doubles import priced


def ask_for_a_quarter(barrier, paths, granted) -> None:
    """At each path, wait for all others, open or create the ledger, ask for 1/4 of 1, and count the grants."""
    for number, path in enumerate(paths):
        barrier.wait(120)
        ledger = Ledger.open(path, Pure(epsilon=1), Replace())
        try:
            ledger.charge(priced(Pure(epsilon=0.25)))
        except BudgetExceeded:
            continue
        with granted.get_lock():
            granted[number] += 1
