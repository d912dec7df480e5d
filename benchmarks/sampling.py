"""Speed of exact draws: many draws, one draw against the plain sampler, and work against rows; one thread.

Times are of the processor, so that other programs on the machine count little.
"""

from __future__ import annotations

import statistics
import sys
import time
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Pure
from discreet.privacy.coins import Coins
from discreet.privacy.events.sampling import Runtime
from discreet.sampling.k_norm.targets import KNormGradient
from discreet.sampling.mechanisms import plan_draws
from discreet.sampling.policies import CoolDown
from discreet.sampling.samplers import Counters, run
from discreet.sampling.targets.targets import Target
from timing import report

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

N_ROWS, N_DRAWS, N_SINGLE = 1000, 10_000, 400
# A target and its rows.
Drawn = tuple[Target, Any]
PLAIN = Runtime(policy="plain", block=1, parameter=Fraction(1))


def seconds(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def table(n_rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, n_rows)
    return x, (rng.random(n_rows) < 1 / (1 + np.exp(-2 * x))).astype(float)


def logistic(n_rows: int, ridge: str = "1") -> Drawn:
    """Return a 1-D K-norm-gradient target, a ridge of this part of n, and its rows."""
    x, y = table(n_rows)
    return KNormGradient.logistic(n_columns=1, row_norm=1.0, ridge=Fraction(ridge) * n_rows), (x[:, None], y)


def soft_logistic(n_rows: int) -> Drawn:
    """Return one whose bound of acceptance is 1/2."""
    return logistic(n_rows, "1/4")


def mean(n_rows: int) -> Drawn:
    return KNormGradient.mean(n_columns=1, row_norm=1.0), table(n_rows)[0][:, None]


def planned(make: Callable[[int], Drawn], n_rows: int, n_draws: int) -> tuple[Any, Any]:
    target, data = make(n_rows)
    plan = plan_draws(
        target,
        budget=Pure(epsilon=n_draws),
        adjacency=Replace(),
        runtime=CoolDown(),
        n_draws=n_draws,
        n_rows=n_rows,
    )
    return plan, plan.measure(data)


def many_draws() -> list[bool]:
    """10,000 draws at once, under the default policy."""
    met = []
    for name, make in (("mean", mean), ("logistic, ridge n", logistic)):
        plan, prepared = planned(make, N_ROWS, N_DRAWS)
        coins = Coins.from_seed(1)
        plan.draw(prepared, coins)
        took = min(seconds(partial(plan.draw, prepared, coins)) for _ in range(3))
        met.append(
            report(f"10,000 draws, 1,000 rows: {name}, block {plan.event.block}", took, 2, at_most=True, unit="s")
        )
    return met


def single_draws(make: Callable[[int], Drawn]) -> bool:
    """One draw by cool-down and by the plain sampler at the same scale, alternately."""
    plan, prepared = planned(make, N_ROWS, 1)
    coins, ours, theirs = Coins.from_seed(1), [], []
    protected, plain = Counters(), Counters()
    proposals = [0, 0]
    for turn in range(N_SINGLE):
        protected, plain = Counters(), Counters()
        times = (
            seconds(partial(run, plan.scaled, prepared, plan.event.runtime, coins, counters=protected)),
            seconds(partial(run, plan.scaled, prepared, PLAIN, coins, counters=plain)),
        )
        if turn >= N_SINGLE // 10:
            ours.append(times[0])
            theirs.append(times[1])
            proposals[0] += protected.proposals
            proposals[1] += plain.proposals
    means = statistics.fmean(ours) * 1e3, statistics.fmean(theirs) * 1e3
    print(
        f"block {plan.event.block}: cool-down {means[0]:.2f} ms, plain {means[1]:.2f} ms; proposals "
        f"{proposals[0] / len(ours):.1f} and {proposals[1] / len(ours):.2f}: ratio {proposals[0] / proposals[1]:.1f}"
    )
    ratio = statistics.fmean(ours) / statistics.fmean(theirs)
    what = f"one draw, block {plan.event.block}: cool-down over plain, mean time"
    return report(what, ratio, 3, at_most=True)


def linear_work() -> bool:
    """Ten times the rows take about ten times as long, at the same block."""
    times = []
    for n_rows in (100_000, 1_000_000):
        plan, prepared = planned(logistic, n_rows, 1)
        coins = Coins.from_seed(1)
        plan.draw(prepared, coins)
        times.append(min(seconds(partial(plan.draw, prepared, coins)) for _ in range(5)))
        print(f"one draw over {n_rows:,} rows: {times[-1]:.3f} s, block {plan.event.block}")
    return report("ten times the rows: time", times[1] / times[0], 12, at_most=True)


def main() -> int:
    met = [*many_draws(), single_draws(logistic), single_draws(soft_logistic), linear_work()]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
