"""Paired timing in one run, where the two things alternate and the ratio is taken pair by pair; figures that are kept.

A script reports each figure through `report`, where it has a target, or `show`, where it has none. Both print a line.
`bench.py` names a file in DISCREET_FIGURES, to which every figure is added as a line of JSON.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

FIGURES = "DISCREET_FIGURES"

if os.environ.get("OPENBLAS_CORETYPE"):
    print("note: OPENBLAS_CORETYPE is set; the matrix products run on that kernel", file=sys.stderr)


def seconds(function: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def ratio(ours: Callable[[], object], theirs: Callable[[], object], *, pairs: int = 7) -> tuple[float, float, float]:
    """Return the median ratio ours/theirs and the two median times, after one warm-up of each."""
    ours(), theirs()
    times = [(seconds(ours), seconds(theirs)) for _ in range(pairs)]
    ratios = [a / b for a, b in times]
    return statistics.median(ratios), statistics.median(a for a, _ in times), statistics.median(b for _, b in times)


def report(what: str, value: float, target: float, *, at_most: bool, unit: str = "") -> bool:
    """Print one line with its target, keep the figure, and return whether the target was met."""
    value = float(value)
    met = value <= target if at_most else value >= target
    word = "at most" if at_most else "at least"
    print(
        f"{what:58s} {number(value):>10s} {unit:12s} target {word} {target:g}: {'met' if met else 'MISSED'}", flush=True
    )
    _keep({"name": what, "figure": value, "unit": unit, "bound": word, "target": target, "met": met})
    return met


def show(what: str, value: float, *, unit: str = "") -> None:
    """Print one line without a target, and keep the figure."""
    value = float(value)
    print(f"{what:58s} {number(value):>10s} {unit}", flush=True)
    _keep({"name": what, "figure": value, "unit": unit})


def number(value: float) -> str:
    """Return a figure with three digits, or whole where it is a count."""
    return f"{value:.0f}" if value == int(value) and abs(value) < 10**6 else f"{value:.3g}"


def _keep(line: dict[str, Any]) -> None:
    place = os.environ.get(FIGURES)
    if place:
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _keep_the_crash(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    # A missed target and an uncaught exception both end with 1: the file says which it was.
    _keep({"crash": kind.__name__})
    sys.__excepthook__(kind, error, trace)


if os.environ.get(FIGURES):
    sys.excepthook = _keep_the_crash
