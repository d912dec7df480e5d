"""A bar for long reads: on stderr, only on a terminal, and without a count of rows."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def reading(total: int | None) -> Iterator[Callable[[int], None] | None]:
    """Show how far the read has come; yields what is called with the position, or None where there is no terminal.

    Parameters
    ----------
    total : int or None
        The whole, in the unit of the positions; None where it is not known.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    # The number of rows may be private, so the bar shows a share and a time, never a count.
    columns = (TextColumn("reading"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=total)
        yield lambda position: bar.update(task, completed=position)


@contextmanager
def stepping() -> Iterator[Callable[[int, int], None] | None]:
    """Show how many steps are done; yields what is called with them and their total, or None."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    # The number of steps is public.
    columns = (TextColumn("steps"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("steps", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
