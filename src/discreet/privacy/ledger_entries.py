"""What a ledger holds: one entry a charge, read back from how it is stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

    from discreet.privacy.budgets import Budget
    from discreet.privacy.events.event import Event
    from discreet.privacy.ledger_store import Row


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
