"""Sparse regression on the synthetic settings of Wang and Gu 2019: error of the parameters at equal privacy.

    python experiments/sparse_synthetic.py --setting i --loss squared > experiments/results/synthetic_i_squared.md

Tuning protocol of the table: every method takes, at each epsilon, the settings of a grid with the smallest mean error
on tuning data sets of their own, and is reported on fresh ones. That is optimistic, alike for all, and mirrors the
paper's cross-validation, which is not private. "default" is the estimator with nothing tuned.
Noise comes from seeds: these are measurements, not releases.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

import discreet as dp
from descent_not_private import ight_not_private
from discreet.descent.calibration import plan_descent
from discreet.descent.losses import loss_named
from discreet.descent.rows import integer_rows
from discreet.descent.steps import Descent
from discreet.privacy.coins import Coins
from discreet.privacy.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from discreet.descent.rows import IntegerRows

EPSILONS = (2, 4, 6, 8, 10)
DELTA = "0.01"


@dataclass(frozen=True)
class Setting:
    """Public facts of a setting, and how many data sets tune and report."""

    n_rows: int
    n_columns: int
    sparsity: int
    row_norm: float
    entry_bound: float
    y_bound: float
    n_tuning: int
    n_fresh: int
    n_noises: int

    @property
    def moment(self) -> float:
        """Mean square of a column."""
        return self.row_norm**2 / self.n_columns


SETTINGS = {
    "i": Setting(1000, 1000, 10, 20.0, 1.16, 5.0, 12, 10, 2),
    "ii": Setting(5000, 5000, 30, 60.0, 1.51, 10.0, 1, 5, 1),
}


@dataclass(frozen=True)
class Drawn:
    """One data set on the grid, with the parameters that made it."""

    rows: IntegerRows
    X: NDArray[np.float64]
    y: NDArray[np.float64]
    truth: NDArray[np.float64]

    def error(self, coef: NDArray[np.float64]) -> float:
        """Return the relative distance from the truth; 1 for zero."""
        return float(np.linalg.norm(coef - self.truth) / np.linalg.norm(self.truth))


def draw(setting: Setting, loss: str, seed: int) -> Drawn:
    """Return a data set: uniform columns, rows scaled to the norm first, then the target made from them."""
    rng = np.random.default_rng(seed)
    truth = np.zeros(setting.n_columns)
    chosen = rng.choice(setting.n_columns, setting.sparsity, replace=False)
    truth[chosen] = rng.uniform(-1, 1, setting.sparsity)
    X = rng.uniform(-2, 2, (setting.n_rows, setting.n_columns))
    X *= (setting.row_norm / np.maximum(setting.row_norm, np.linalg.norm(X, axis=1)))[:, None]
    margins = X @ truth
    if loss == "squared":
        y = margins + np.sqrt(0.1) * rng.standard_normal(setting.n_rows)
    else:
        y = (rng.random(setting.n_rows) < 1 / (1 + np.exp(-margins))).astype(np.float64)
    rows = integer_rows(
        X, y, row_norm=setting.row_norm, entry_bound=setting.entry_bound, target_bounds=bounds(setting, loss)
    )
    return Drawn(rows, X, y, truth)


def bounds(setting: Setting, loss: str) -> tuple[float, float]:
    """Return public limits of the target."""
    return (0.0, 1.0) if loss == "logistic" else (-setting.y_bound, setting.y_bound)


@dataclass(frozen=True)
class Choice:
    """Settings that a grid offers."""

    n_selected: int
    n_steps: int
    step: float  # in inverse curvatures of a column
    clip: float


def grid_of(setting: Setting, loss: str) -> Iterator[Choice]:
    """Yield the grid: the whole one for (i), a smaller one for (ii), where a step takes 30 times as long."""
    s = setting.sparsity
    small = setting.n_columns > 1000
    kept = (s,) if small else (2 * s // 5, 7 * s // 10, s)
    counts = (5, 12, 20) if small else (1, 2, 3, 5, 8, 12, 20, 30)
    steps = (1.0, 2.0) if small else (0.5, 1.0, 2.0, 4.0)
    clips = (0.1, 0.25, 0.5, 1.0) if small or loss == "logistic" else (0.05, 0.1, 0.25, 0.5, 1.0)
    for chosen in product(kept, counts, steps, clips):
        yield Choice(*chosen)


def fit(data: Drawn, setting: Setting, loss: str, choice: Choice, method: str, *, epsilon: int, seed: int) -> float:
    """Return the error of one fit."""
    step_size = choice.step / setting.moment * (4 if loss == "logistic" else 1)
    common: dict[str, Any] = {
        "target_bounds": bounds(setting, loss),
        "n_selected": choice.n_selected,
        "n_steps": choice.n_steps,
        "step_size": step_size,
        "divisor": float(setting.n_rows),
    }
    grid = data.rows.grid
    if method == "ight":
        exact = Descent(grid=grid, loss=loss_named(loss, clip=choice.clip), selection="threshold", **common)
        return data.error(ight_not_private(data.rows, exact).coef)
    plan = plan_descent(
        grid,
        loss_named(loss, clip=choice.clip),
        budget=dp.Approx(epsilon=epsilon, delta=DELTA),
        adjacency=dp.Replace(),
        selection="auto" if method == "auto" else "threshold",
        noise="paper" if method == "paper" else "exact",
        # As in the measured tables: the paper's algorithm has no floor and no averages.
        noise_floor=0.0 if method == "paper" else 3.0,
        tail_average=method != "paper",
        **common,
    )
    return data.error(plan.draw(plan.measure(data.rows), Coins.from_seed(seed)).coef)


def _mean_error(sets: list[Drawn], setting: Setting, loss: str, choice: Choice, method: str, *, epsilon: int) -> float:
    runs = [fit(data, setting, loss, choice, method, epsilon=epsilon, seed=k) for k, data in enumerate(sets)]
    return float(np.mean(runs))


def untuned(setting: Setting, loss: str, epsilon: int, data: Drawn, seed: int) -> float:
    """Return the error of the estimator as it comes."""
    declared: dict[str, Any] = {
        "budget": dp.Approx(epsilon=epsilon, delta=DELTA),
        "sparsity": setting.sparsity,
        "row_norm": setting.row_norm,
        "entry_bound": setting.entry_bound,
        "adjacency": dp.Replace(),
    }
    model: Any
    if loss == "squared":
        model = dp.SparseLinearRegression(**declared, y_bounds=dp.Interval(-setting.y_bound, setting.y_bound))
    else:
        model = dp.SparseLogisticRegression(**declared, classes=(0.0, 1.0))
    ledger = Ledger(total=declared["budget"], adjacency=dp.Replace(), composition="sum", coins=Coins.from_seed(seed))
    return data.error(np.ravel(model.fit(data.X, data.y, ledger=ledger).coef_))


def tuned(
    tuning: list[Drawn], setting: Setting, loss: str, method: str, epsilon: int
) -> tuple[Choice, Callable[[Drawn, int], float]]:
    """Return the grid's best settings on the tuning data, and the fit with them."""
    choices = list(grid_of(setting, loss))
    if method == "ight":  # without noise the clip and the number of steps need no tuning
        last = max(choice.n_steps for choice in choices)
        choices = [Choice(c.n_selected, 3 * last, c.step, 8.0) for c in choices if c.n_steps == last and c.step <= 2]
    # All settings on a few data sets, then the best dozen on all of them: good settings differ little.
    few = tuning[: max(1, len(tuning) // 4)]
    first = [_mean_error(few, setting, loss, choice, method, epsilon=epsilon) for choice in choices]
    choices = [choices[k] for k in np.argsort(first)[:12]]
    means = [_mean_error(tuning, setting, loss, choice, method, epsilon=epsilon) for choice in choices]
    best = choices[int(np.argmin(means))]
    return best, lambda data, seed: fit(data, setting, loss, best, method, epsilon=epsilon, seed=seed)


def main() -> None:
    """Print the table of one setting and loss."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--setting", choices=list(SETTINGS), default="i")
    parser.add_argument("--loss", choices=["squared", "logistic"], default="squared")
    parser.add_argument("--methods", nargs="+", default=["ight", "paper", "threshold", "auto", "default"])
    options = parser.parse_args()
    setting, loss = SETTINGS[options.setting], options.loss
    tuning = [draw(setting, loss, 1000 + k) for k in range(setting.n_tuning)]
    fresh = [draw(setting, loss, k) for k in range(setting.n_fresh)]
    print(f"Setting ({options.setting}), {loss} loss, Replace, delta {DELTA}: mean relative error of the parameters on")
    print(
        f"{setting.n_fresh} fresh data sets x {setting.n_noises} draws of noise; tuned on {setting.n_tuning} others.\n"
    )
    print("| method | " + " | ".join(f"epsilon {epsilon}" for epsilon in EPSILONS) + " | settings (s, T, step, clip) |")
    print("| --- |" + " --- |" * (len(EPSILONS) + 1), flush=True)
    for method in options.methods:
        cells, settings = [], []
        run: Callable[[Drawn, int], float]
        for epsilon in EPSILONS:
            if method == "default":
                settings.append("by rule")
                run = partial(untuned, setting, loss, epsilon)
            else:
                best, run = tuned(tuning, setting, loss, method, epsilon)
                settings.append(f"{best.n_selected},{best.n_steps},{best.step:g},{best.clip:g}")
            errors = [run(data, 100 * k + r) for k, data in enumerate(fresh) for r in range(setting.n_noises)]
            cells.append(f"{np.mean(errors):.3f}")
            if method == "ight":
                cells *= len(EPSILONS)
                break
        names = {
            "ight": "IGHT, not private",
            "paper": "DP-IGHT, printed noise (not at this epsilon)",
            "threshold": "DP-IGHT",
            "auto": 'selection="auto"',
            "default": "the estimator, untuned",
        }
        print(f"| {names[method]} | " + " | ".join(cells) + f" | {'; '.join(dict.fromkeys(settings))} |", flush=True)


if __name__ == "__main__":
    main()
