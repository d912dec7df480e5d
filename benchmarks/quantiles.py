"""Speed of private quantiles and of the grid samplers; processor time of one thread."""

from __future__ import annotations

import sys
import time
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.estimators.quantile import KNormGradientQuantileRegression
from discreet.lattice.bounds import Box, Interval
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Pure
from discreet.privacy.coins import Coins
from discreet.sampling.k_norm.linear_grid import LinearOnGrid
from discreet.sampling.k_norm.model_rows import LayoutRows
from discreet.sampling.mechanisms import sample
from discreet.sampling.quantiles.quantile_release import median
from discreet.sampling.quantiles.quantiles import QuantileTarget
from discreet.tables.array_rows import ArrayRows, array_layout
from timing import report, show

if TYPE_CHECKING:
    from collections.abc import Callable


def seconds(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def least(function: Callable[[], object], n: int = 5) -> float:
    return min(seconds(function) for _ in range(n))


def medians() -> list[bool]:
    """Time a million rows, ten times fewer, and 10,000 draws over a thousand."""
    values = np.random.default_rng(1).lognormal(10, 1, 1_000_000)
    release = partial(median, bounds=Interval(0, 10**6), budget=Pure(epsilon=1), adjacency=Replace())
    whole, tenth = least(partial(release, values)), least(partial(release, values[:100_000]))
    target, budget = QuantileTarget(q="1/2", bounds=Interval(0, 10**6)), Pure(epsilon=10_000)
    draws = partial(sample, target, values[:1000], budget=budget, adjacency=Replace(), n_draws=10_000)
    return [
        report("median of 1,000,000 rows", whole, 1, at_most=True, unit="s"),
        report("ten times the rows: time", whole / tenth, 15, at_most=True),
        report("10,000 draws of a median over 1,000 rows", least(draws), 2, at_most=True, unit="s"),
    ]


def same_words() -> bool:
    """Compare the words that two very different data sets take; their time is shown, not promised."""
    target, times, words = QuantileTarget(q="1/2", bounds=Interval(0, 1)), [], []
    for values in (np.zeros(100_000), np.random.default_rng(2).random(100_000)):
        coins, prepared = Coins.from_seed(1), target.prepare(values)
        words.append((target.choose(prepared, Fraction(1, 2), coins, 1), coins.words(1)[0])[1])
        times.append(least(partial(target.choose, prepared, Fraction(1, 2), coins, 1)))
    print(f"one draw over 100,000 equal and 100,000 different values: {times[0] * 1e3:.1f} and {times[1] * 1e3:.1f} ms")
    return report("words that equal values take beside different ones", float(words[0] != words[1]), 0, at_most=True)


def grids() -> None:
    """Show how long fits on grids take; no target was set."""
    rng = np.random.default_rng(3)
    for n, width in ((10_000, 1), (30_000, 1), (2_000, 2)):
        X = rng.uniform(0, 10, (n, width))
        y = X.mean(axis=1) + rng.normal(size=n)
        names = tuple(f"x{j}" for j in range(width))
        layout = array_layout(names, Box(lower=[0] * width, upper=[10] * width), Interval(-2, 12), intercept=True)
        target, data = LinearOnGrid(reader=LayoutRows(layout=layout, labels=False)), ArrayRows(X, y, names)
        took = least(partial(sample, target, data, budget=Pure(epsilon=1), adjacency=Replace()), 3)
        show(f"linear regression on a grid, {n:,} rows, {width + 1} coefficients", took, unit="s")
    for n, width in ((10_000, 1), (100_000, 1), (10_000, 2)):
        X = rng.uniform(0, 10, (n, width))
        model = KNormGradientQuantileRegression(
            budget=Pure(epsilon=1), adjacency=Replace(), x_bounds=Box(lower=0, upper=10), y_bounds=Interval(-2, 12)
        )
        took = least(partial(model.fit, X, X.mean(axis=1) + rng.normal(size=n)), 2)
        what = f"quantile regression, {n:,} rows, {width + 1} coefficients, {model.grid_points_} points"
        show(what, took, unit="s")


def main() -> int:
    met = [*medians(), same_words()]
    grids()
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
