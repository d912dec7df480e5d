"""How the default settings of a sparse descent were found: simulated data alone, a grid, and the rule against it.

    python experiments/sparse_defaults.py > experiments/results/defaults.md

Two kinds of rows are simulated: dense ones (uniform columns, rows scaled to the norm) and rows of a few words each
(Zipf's law, log counts scaled to norm 1). For each scenario and budget the table has the best of the grid of steps,
step sizes and clips, what `tune_on_simulation` chooses, and the ratio of their errors. The constants at the head of
`discreet/descent/simulation.py` were moved by hand until the mean ratio at the foot stopped falling, and those for few
entries by looking at public collections of texts as well (experiments/sparse_real.py).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

import discreet as dp
from discreet.descent.calibration import plan_descent
from discreet.descent.losses import loss_named
from discreet.descent.rows import integer_rows
from discreet.descent.simulation import SparseSettings, tune_on_simulation
from discreet.privacy.coins import Coins

if TYPE_CHECKING:
    from discreet.descent.rows import IntegerRows

BUDGETS = ((1, "1e-6"), (2, "0.01"), (4, "1e-6"), (10, "0.01"))


@dataclass(frozen=True)
class Scenario:
    """Public facts, and rows made by them; the error is that of margins on fresh rows, relative to no model."""

    name: str
    loss: str
    rows: IntegerRows
    X_test: Any
    margins_test: Any
    sparsity: int
    dense: bool

    def error(self, coef: Any) -> float:
        """Return the wrong share of labels that a margin decides, or the unexplained share of margins."""
        found = self.X_test @ coef
        if self.loss == "logistic":
            return float(np.mean((found > 0) != (self.margins_test > 0)))
        return float(np.mean((found - self.margins_test) ** 2) / np.mean(self.margins_test**2))


def dense_rows(rng: np.random.Generator, n_rows: int, n_columns: int, norm: float) -> Any:
    """Return uniform columns, rows scaled down to the norm."""
    X = rng.uniform(-2, 2, (n_rows, n_columns))
    return X * np.minimum(1, norm / np.linalg.norm(X, axis=1))[:, None]


def text_rows(rng: np.random.Generator, n_rows: int, n_columns: int, length: int = 80) -> Any:
    """Return log counts of words by Zipf's law, rows of norm 1."""
    law = 1 / (np.arange(n_columns) + 2.7)
    words = rng.choice(n_columns, (n_rows, length), p=law / law.sum())
    rows = np.repeat(np.arange(n_rows), length)
    X = sp.csr_array((np.ones(rows.size), (rows, words.ravel())), shape=(n_rows, n_columns))
    X.sum_duplicates()
    X.data = np.log1p(X.data)
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(norms, np.diff(X.indptr))
    return sp.csr_array(X)


def scenario(kind: str, loss: str, n_rows: int, n_columns: int, sparsity: int, *, seed: int) -> Scenario:
    """Return one scenario; parameters are on common columns, and margins have a standard deviation of 2, or of 0.4."""
    rng = np.random.default_rng(seed)
    dense = kind == "dense"
    norm = float(np.sqrt(n_columns) * 0.65) if dense else 1.0
    entry = 1.2 if dense else 1.0
    n_all = n_rows + 2000
    X = dense_rows(rng, n_all, n_columns, norm) if dense else text_rows(rng, n_all, n_columns)
    truth = np.zeros(n_columns)
    common = n_columns if dense else n_columns // 10
    n_true = sparsity if dense else 500
    truth[rng.choice(common, n_true, replace=False)] = rng.standard_normal(n_true)
    margins = X @ truth
    margins *= (2.0 if loss == "logistic" else 0.4) / margins.std()
    if not dense:
        margins -= margins.mean()
    if loss == "logistic":
        y, bounds = (rng.random(n_all) < 1 / (1 + np.exp(-margins))).astype(float), (0.0, 1.0)
    else:
        y, bounds = margins + 0.1 * rng.standard_normal(n_all), (-1.5, 1.5)
    rows = integer_rows(X[:n_rows], y[:n_rows], row_norm=norm, entry_bound=entry, target_bounds=bounds)
    name = f"{kind}, {loss}, {n_rows} x {n_columns}, s = {sparsity}"
    return Scenario(name, loss, rows, X[n_rows:], margins[n_rows:], sparsity, dense)


def error_of(case: Scenario, settings: SparseSettings, budget: dp.Approx, n_draws: int) -> float:
    """Return the mean error of private fits with these settings."""
    plan = plan_descent(
        case.rows.grid,
        loss_named(case.loss, clip=settings.clip),
        budget=budget,
        adjacency=dp.Replace(),
        target_bounds=case.rows.target_bounds,
        n_selected=settings.sparsity,
        n_steps=settings.n_steps,
        step_size=settings.step_size,
        divisor=float(case.rows.private_size()),
        noise_floor=settings.noise_floor,
    )
    return float(np.mean([case.error(plan.draw(case.rows, Coins.from_seed(seed)).coef) for seed in range(n_draws)]))


def rule(case: Scenario, budget: dp.Approx) -> SparseSettings:
    """Return what the package chooses."""
    grid = case.rows.grid
    return tune_on_simulation(
        loss=case.loss,
        n_rows=case.rows.private_size(),
        n_columns=grid.n_columns,
        row_norm=grid.row_norm,
        entry_bound=grid.entry_bound,
        budget=budget,
        adjacency=dp.Replace(),
        sparsity=case.sparsity,
        selection="auto",
        target_bounds=case.rows.target_bounds,
    )


def grid_of(case: Scenario) -> list[SparseSettings]:
    """Return the settings that the rule is compared with."""
    grid = case.rows.grid
    half_width = (case.rows.target_bounds[1] - case.rows.target_bounds[0]) / 2
    curvature = 0.25 if case.loss == "logistic" else 1.0
    counts: tuple[int, ...]
    steps: tuple[float, ...]
    clips: tuple[float, ...]
    floors: tuple[float, ...]
    if case.dense:
        unit = grid.n_columns / grid.row_norm**2 / curvature
        counts, steps, clips, floors = (1, 2, 4, 8, 12, 20), (0.5, 1.0, 2.0, 4.0), (0.02, 0.05, 0.1, 0.3), (3.0,)
    else:
        unit = 1 / curvature
        counts, steps, clips, floors = (64, 256), (5.0, 10.0, 20.0, 30.0), (0.1, 0.25, 0.5), (0.0,)
    if case.loss == "logistic":
        clips = (0.25, 0.5, 1.0)
        half_width = 1.0
    return [
        SparseSettings(
            n_steps=t, step_size=step * unit, clip=clip * half_width, sparsity=case.sparsity, noise_floor=floor
        )
        for t, step, clip, floor in product(counts, steps, clips, floors)
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--kinds", nargs="+", default=["dense", "text"])
    options = parser.parse_args()
    print("| scenario | epsilon | delta | best of grid | its T, step, clip, floor | rule | its T, step, clip | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    ratios = []
    cases = [
        ("dense", 1000, 1000, 10),
        ("dense", 4000, 500, 5),
        ("dense", 2000, 3000, 20),
        ("text", 10_000, 20_000, 4000),
    ]
    for (kind, *sizes), loss in product(cases, ("squared", "logistic")):
        if kind not in options.kinds:
            continue
        case = scenario(kind, loss, *sizes, seed=0)
        for epsilon, delta in BUDGETS:
            budget = dp.Approx(epsilon=epsilon, delta=delta)
            tried = [(error_of(case, settings, budget, options.draws), k) for k, settings in enumerate(grid_of(case))]
            least, index = min(tried)
            best, chosen = grid_of(case)[index], rule(case, budget)
            found = error_of(case, chosen, budget, max(options.draws, 4))
            ratios.append(found / least)
            print(
                f"| {case.name} | {epsilon} | {delta} | {least:.3f} | {best.n_steps}, {best.step_size:.3g}, "
                f"{best.clip:.3g}, {best.noise_floor:g} | {found:.3f} | {chosen.n_steps}, {chosen.step_size:.3g}, "
                f"{chosen.clip:.3g} | {ratios[-1]:.2f} |",
                flush=True,
            )
    print(f"\nMean ratio {np.exp(np.mean(np.log(ratios))):.2f}, largest {max(ratios):.2f}, of {len(ratios)} cells.")


if __name__ == "__main__":
    main()
