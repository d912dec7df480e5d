"""Paired timing in one run: the two things alternate, and the ratio is taken pair by pair."""

from __future__ import annotations

import os
import statistics
import sys
import time

if os.environ.get("OPENBLAS_CORETYPE"):
    print("note: OPENBLAS_CORETYPE is set; the matrix products run on that kernel", file=sys.stderr)


def seconds(function) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def ratio(ours, theirs, *, pairs: int = 7) -> tuple[float, float, float]:
    """Return the median ratio ours/theirs and the two median times, after one warm-up of each."""
    ours(), theirs()
    times = [(seconds(ours), seconds(theirs)) for _ in range(pairs)]
    ratios = [a / b for a, b in times]
    return statistics.median(ratios), statistics.median(a for a, _ in times), statistics.median(b for _, b in times)


def report(what: str, value: float, target: float, *, at_most: bool, unit: str = "") -> bool:
    """Print one line with its target and return whether it was met."""
    met = value <= target if at_most else value >= target
    word = "at most" if at_most else "at least"
    print(f"{what:58s} {value:10.3g} {unit:12s} target {word} {target:g}: {'met' if met else 'MISSED'}")
    return met
