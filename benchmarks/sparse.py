"""Speed and memory of thresholded descent on sparse matrices; OpenDP's vector Gaussian beside it in the same run.

The IMDB matrix is read from the folder DISCREET_DATA (default: ../shared/data); without it that line is left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from discreet.descent.calibration import plan_descent
from discreet.descent.losses import LogisticLoss, SquaredLoss
from discreet.descent.rows import integer_rows
from discreet.descent.steps import FullGaussian, cut, descend
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Approx
from discreet.privacy.coins import Coins
from discreet.privacy.events.descent import GaussianStepsEvent
from discreet.privacy.release import release
from timing import ratio, report, seconds, show

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.descent.losses import Loss
    from discreet.descent.rows import IntegerRows
    from discreet.descent.steps import DescentPlan, NoisyDescent

DATA = Path(os.environ.get("DISCREET_DATA", "../shared/data"))
BUDGET = Approx(epsilon=2, delta=1e-6)
N_STEPS, N_THEIRS = 50, 2


@dataclass
class WithoutNoise:
    """The same steps along the exact gradient."""

    settings: Any

    def step(self, theta: NDArray[Any], private_sums: NDArray[Any], bound: int) -> NDArray[Any]:
        """Return the next iterate."""
        del bound
        return cut(theta - self.settings.factors * private_sums, self.settings)


@dataclass
class WithOpenDP:
    """The same steps under OpenDP's noise of the same scale."""

    settings: Any
    measurement: Any

    def step(self, theta: NDArray[Any], private_sums: NDArray[Any], bound: int) -> NDArray[Any]:
        """Return the next iterate."""
        del bound
        noisy = np.array(self.measurement(private_sums.tolist()))
        return cut(theta - self.settings.factors * noisy, self.settings)


def text_like(n_rows: int, n_columns: int, n_stored: int, seed: int = 0) -> tuple[Any, NDArray[Any]]:
    """Return a matrix whose columns are as unequal as words, about `n_stored` cells, and rows of norm 1."""
    rng = np.random.default_rng(seed)
    n_drawn = 5 * n_stored // 4  # some fall on a cell that is taken
    columns = np.minimum((n_columns ** rng.random(n_drawn)).astype(np.int64) - 1, n_columns - 1)
    rows = np.sort(rng.integers(0, n_rows, n_drawn))
    matrix = scipy.sparse.coo_array((rng.exponential(size=n_drawn), (rows, columns)), shape=(n_rows, n_columns))
    matrix = matrix.tocsr()
    norms = np.sqrt(matrix.multiply(matrix).sum(axis=1))
    matrix.data /= np.repeat(np.maximum(norms, 1e-9), np.diff(matrix.indptr))
    return matrix, (rng.random(n_rows) < 0.5).astype(np.float64)


def planned(
    rows: IntegerRows, loss: Loss, *, n_selected: int, n_steps: int, step_size: float, selection: str = "threshold"
) -> DescentPlan:
    return plan_descent(
        rows.grid, loss, budget=BUDGET, adjacency=Replace(), target_bounds=rows.target_bounds, n_selected=n_selected,
        n_steps=n_steps, step_size=step_size, divisor=rows.private_size(), selection=selection,
    )  # fmt: skip


def opendp_gaussian(plan: DescentPlan) -> Any:
    """Return OpenDP's vector sampler at the standard deviation of the plan, or None with a note."""
    try:
        import opendp.prelude as dp
    except ImportError:
        print("OpenDP is not installed: `pip install opendp` compares with it.")
        return None
    dp.enable_features("contrib")
    vectors = dp.vector_domain(dp.atom_domain(T="i64"))
    return dp.m.make_gaussian(vectors, dp.l2_distance(T="f64"), scale=float(plan.event.variance) ** 0.5)


def speed() -> list[bool]:
    matrix, y = text_like(20_000, 47_000, 1_500_000)
    rows = integer_rows(matrix, y, row_norm=1.0, entry_bound=0.3, target_bounds=(0, 1))
    print(f"{matrix.nnz:,} stored cells")
    print(f"preparing the rows: {seconds(lambda: integer_rows(matrix, y, row_norm=1.0, target_bounds=(0, 1))):.3f} s")
    plan = planned(rows, LogisticLoss(clip=0.5), n_selected=500, n_steps=N_STEPS, step_size=50.0)
    coins, exact = Coins.from_system(), WithoutNoise(plan.settings)
    event = plan.event
    assert isinstance(event, GaussianStepsEvent)

    def fit() -> NoisyDescent:
        return descend(rows, plan.settings, FullGaussian(plan.settings, event, coins))

    slowdown, ours, plain = ratio(fit, lambda: descend(rows, plan.settings, exact))
    print(f"{N_STEPS} steps: {ours:.3f} s with noise, {plain:.3f} s without")
    met = [report("50 steps of 20,000 x 47,000, noise over none", slowdown, 2.0, at_most=True)]
    theirs = opendp_gaussian(plan)
    if theirs is not None:
        few = replace(plan.settings, n_steps=N_THEIRS)
        slow = seconds(lambda: descend(rows, few, WithOpenDP(few, theirs))) / N_THEIRS
        print(f"one step with OpenDP's noise: {slow:.3f} s")
        met.append(report("a step with OpenDP's noise over ours", slow * N_STEPS / ours, 20, at_most=False))
    for selection in ("peel", "coordinate", "all"):
        other = planned(
            rows, LogisticLoss(clip=0.5), n_selected=500, n_steps=N_STEPS, step_size=50.0, selection=selection
        )
        other.draw(rows, coins)
        took = seconds(partial(other.draw, rows, coins))
        show(f"{N_STEPS} steps, {selection}", took, unit="s")
    return met


def imdb() -> None:
    """Fit the IMDB ratings; run in a process of its own."""
    parts = [np.load(DATA / "imdb_ratings" / f"imdb_train_part{k}.npz") for k in (1, 2)]
    matrix = scipy.sparse.vstack(
        [scipy.sparse.csr_array((z["data"], z["indices"], z["indptr"]), shape=z["shape"]) for z in parts], format="csr"
    )
    y = (np.concatenate([z["y"] for z in parts]) - 5.5) / 4.5
    matrix = scipy.sparse.csr_array((np.log1p(matrix.data.astype(np.float64)), matrix.indices, matrix.indptr))
    rows = integer_rows(matrix, y, row_norm=1.0, target_bounds=(-1, 1))
    release(planned(rows, SquaredLoss(clip=0.3), n_selected=2000, n_steps=60, step_size=20.0), rows)


def wide(selection: str) -> None:
    """Fit a million columns; run in a process of its own."""
    matrix, y = text_like(1_000_000, 1_000_000, 1_000_000)
    rows = integer_rows(matrix, y, row_norm=1.0, target_bounds=(0, 1))
    plan = planned(rows, LogisticLoss(clip=0.5), n_selected=500, n_steps=5, step_size=50.0, selection=selection)
    release(plan, rows)


def peak_memory(*task: str) -> float:
    """Return the largest resident size, in GB, of a process that carries out a task."""
    command = [sys.executable, __file__, *task]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> int:
    tasks: dict[str, Callable[..., None]] = {"imdb": imdb, "wide": wide}
    if len(sys.argv) > 1:
        tasks[sys.argv[1]](*sys.argv[2:])
        # Of this process alone: the usage that `resource` tells counts the parent from which it was forked.
        status = Path("/proc/self/status").read_text().splitlines()
        print(next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1e6)
        return 0
    met = speed()
    if (DATA / "imdb_ratings").is_dir():
        met.append(report("IMDB, 25,000 x 155,925, peak memory", peak_memory("imdb"), 1.0, at_most=True, unit="GB"))
    else:
        print(f"No IMDB ratings in {DATA}: its memory is not measured.")
    for selection in ("threshold", "peel"):
        used = peak_memory("wide", selection)
        met.append(report(f"a million by a million, {selection}, peak memory", used, 2.0, at_most=True, unit="GB"))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
