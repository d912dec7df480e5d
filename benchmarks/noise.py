"""Speed of the rounded noise, and whether its time tells its size; one thread, OpenDP beside it in the same run."""

from __future__ import annotations

import gc
import sys
import time
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from discreet.lattice.noise.gaussian import rounded_gaussian
from discreet.lattice.noise.laplace import rounded_laplace
from discreet.lattice.noise.wishart import wishart_difference
from discreet.privacy.coins import Coins
from timing import report, seconds, show

if TYPE_CHECKING:
    from collections.abc import Callable

Array = NDArray[Any]
SCALE = Fraction(2**20)
N_DRAWS, N_THEIRS, N_SINGLE = 1 << 22, 20_000, 20_000


def laplace(statistic: Array, coins: Coins) -> Array:
    return rounded_laplace(statistic, scale=SCALE, coins=coins)


def gaussian(statistic: Array, coins: Coins) -> Array:
    return rounded_gaussian(statistic, variance=SCALE**2, coins=coins)


def draws_per_second(draw: Callable[[], object], n_draws: int, *, repeats: int = 7) -> float:
    """Return the best of several runs: what else the machine does can only slow a run down."""
    draw()
    return n_draws / min(seconds(draw) for _ in range(repeats))


def opendp_samplers() -> dict[str, Any] | None:
    """Return OpenDP's integer vector samplers at the same scale, or None with a note."""
    try:
        import opendp.prelude as dp
    except ImportError:
        print("OpenDP is not installed: `pip install opendp` compares with it; only our own figures follow.")
        return None
    dp.enable_features("contrib")
    vectors = dp.vector_domain(dp.atom_domain(T="i64"))
    return {
        "Laplace": dp.m.make_laplace(vectors, dp.l1_distance(T="i64"), scale=float(SCALE)),
        "Gaussian": dp.m.make_gaussian(vectors, dp.l2_distance(T="f64"), scale=float(SCALE)),
    }


def time_of_single_draws(draw: Callable[[], Any]) -> float:
    """Return the rank correlation of |noise| with the time of a draw."""
    sizes, times = np.empty(N_SINGLE), np.empty(N_SINGLE)
    for _ in range(500):
        draw()
    gc.disable()
    for index in range(N_SINGLE):
        start = time.perf_counter_ns()
        noise = draw()
        times[index] = time.perf_counter_ns() - start
        sizes[index] = abs(int(noise[0]))
    gc.enable()
    return float(spearmanr(sizes, times).statistic)


def main() -> int:
    coins = Coins.from_system()
    statistic, single = np.arange(N_DRAWS), np.zeros(1, np.int64)
    ours = {"Laplace": (laplace, 12e6), "Gaussian": (gaussian, 30e6)}
    theirs = opendp_samplers()
    met = []
    for name, (draw, target) in ours.items():
        speed = draws_per_second(partial(draw, statistic, coins), N_DRAWS)
        met.append(
            report(f"{name} draws a second, scale 2**20", speed / 1e6, target / 1e6, at_most=False, unit="million")
        )
        if theirs:
            slow = draws_per_second(partial(theirs[name], [0] * N_THEIRS), N_THEIRS, repeats=3)
            print(f"OpenDP's {name} draws a second: {slow:,.0f}")
            met.append(report(f"{name} draws over OpenDP's", speed / slow, 50, at_most=False))
    for name, (draw, _) in ours.items():
        correlation = time_of_single_draws(partial(draw, single, coins))
        met.append(report(f"{name}: |Spearman| of |noise| and time", abs(correlation), 0.03, at_most=True))
        if theirs:
            print(f"OpenDP's {name}: {time_of_single_draws(partial(theirs[name], [0])):.3f}")
    gram = np.zeros((15, 15), np.int64)
    matrices = draws_per_second(lambda: wishart_difference(gram, theta=1 / SCALE, coins=coins), 1, repeats=200)
    show("Wishart difference, 15 x 15", 1e6 / matrices, unit="microseconds")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
