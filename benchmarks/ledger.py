"""How long a ledger of 10,000 entries takes to answer; every answer comes after a check of the whole file."""

from __future__ import annotations

import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import discreet as dp
from discreet.privacy.events.noise import GaussianEvent
from discreet.privacy.ledger_store import budget_text
from timing import report, seconds, show

N_ENTRIES = 10_000


def event(mu_squared: Fraction) -> GaussianEvent:
    return GaussianEvent(
        sensitivity_squared=mu_squared,
        variance=Fraction(1),
        adjacency=dp.Replace(),
        budget=dp.Gdp.from_squared(mu_squared),
        statistic="sum",
        shape=(),
    )


def write(path: Path, costs: list[Fraction]) -> None:
    """Write a ledger as `charge` would, but in one transaction."""
    dp.Ledger.open(path, total=dp.Gdp(mu=200), adjacency=dp.Replace())
    rows = [
        (number, datetime.now(UTC).isoformat(), json.dumps(event(cost).to_json()), budget_text(event(cost).budget))
        for number, cost in enumerate(costs, start=1)
    ]
    connection = sqlite3.connect(path)
    connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?)", rows)
    spent = budget_text(dp.Gdp.from_squared(sum(costs, Fraction(0))))
    connection.execute("UPDATE ledger SET n_entries = ?, spent = ?", (len(rows), spent))
    connection.commit()
    connection.close()


def ask(path: Path) -> None:
    """Ask everything but the entries, and charge once."""
    ledger = dp.Ledger.open(path)
    total: Any = ledger.total  # a Gdp, as what is spent and left
    assert ledger.spent <= total
    assert ledger.left <= total
    curve = ledger.tradeoff(of="spent")
    assert curve is not None
    assert curve.epsilon(1e-6) >= 0
    ledger.quote(event(Fraction(1)))
    ledger.charge(event(Fraction(1)))


def main() -> None:
    kinds = {
        "equal": [Fraction(1, 100)] * N_ENTRIES,
        "all different": [Fraction(k, 10**6) for k in range(1, N_ENTRIES + 1)],
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, costs in kinds.items():
            path = Path(folder) / f"{name}.ledger"
            write(path, costs)
            ask(path)
            median = statistics.median(seconds(partial(ask, path)) for _ in range(5))
            report(f"10,000 entries, {name}: all answers and a charge", median, 1.0, at_most=True, unit="s")
            command = [sys.executable, "-m", "discreet", "ledger", str(path)]
            whole = seconds(partial(subprocess.run, command, check=True, capture_output=True))
            show(f"{name}: discreet ledger, which prints every entry, whole process", whole, unit="s")


if __name__ == "__main__":
    main()
