"""Logistic regression in pure privacy: the K-norm gradient beside objective perturbation and the functional mechanism.

    DISCREET_DATA=data python experiments/k_norm_gradient.py --runs 20 > experiments/results/k-norm-gradient.md

DISCREET_DATA is a folder with adult/ and acs_ca2018/ as described in the project's data notes. Four columns, scaled to
[-1, 1] by public bounds (flags to -1/2 and 1/2), and an intercept: five parameters. Rows are scaled down to a norm of
1 for the first two mechanisms; the functional mechanism is told the box. Noise comes from seeds: these are
measurements, not releases.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import discreet as dp
from discreet.estimators.k_norm import KNormGradientLogisticRegression
from discreet.privacy.coins import Coins
from discreet.privacy.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

EPSILONS = ("0.1", "0.2", "0.4", "0.8", "1.6", "3.2")
ROW_NORM = 1.0


@dataclass(frozen=True)
class Data:
    """Train and test parts."""

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]


def unit(column: Any, low: float, high: float) -> NDArray[np.float64]:
    """Return a number column between -1 and 1."""
    return np.asarray(2 * (np.clip(column, low, high) - low) / (high - low) - 1, np.float64)


def flag(condition: Any) -> NDArray[np.float64]:
    """Return a flag as -1/2 and 1/2."""
    return np.asarray(condition, np.float64) - 0.5


def adult(folder: Path) -> Data:
    """Adult: is income above 50,000, by age, schooling, hours, married."""
    parts = []
    for part in ("train", "test"):
        t = pd.read_csv(folder / "adult" / f"adult_{part}.csv.gz")
        married = t.marital_status.isin(["Married-civ-spouse", "Married-AF-spouse"])
        columns = unit(t.age, 17, 90), unit(t.education_num, 1, 16), unit(t.hours_per_week, 1, 99), flag(married)
        parts += [np.column_stack(columns), (t.income == ">50K").to_numpy().astype(np.int64)]
    return Data("Adult", *parts)


def acs(folder: Path, n_rows: int) -> Data:
    """ACS 2018, California: is income in the upper half of its bins, by age, schooling, hours, sex."""
    t = pd.read_csv(folder / "acs_ca2018" / "acs_income_ca2018.csv.gz")
    X = np.column_stack([unit(t.AGEP, 17, 95), unit(t.SCHL, 1, 24), unit(t.WKHP, 1, 99), flag(t.SEX == 1)])
    y = (t.PINCP_BIN >= 10).to_numpy().astype(np.int64)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:n_rows], order[-30_000:]
    return Data(f"ACS California, {n_rows} rows", X[train], y[train], X[test], y[test])


def scores(data: Data, margins: NDArray[np.float64]) -> tuple[float, float]:
    """Return log loss and error on the test part."""
    signs = 2 * data.y_test - 1
    return float(np.logaddexp(0, -signs * margins).mean()), float(((margins > 0) != (data.y_test == 1)).mean())


def without_privacy(data: Data, ridge: float) -> tuple[float, float]:
    """Return the scores of the exact minimizer with a ridge."""
    from scipy.optimize import minimize

    def rows(X: NDArray[np.float64]) -> NDArray[np.float64]:
        shorter = X * (ROW_NORM / np.maximum(np.linalg.norm(X, axis=1), ROW_NORM))[:, None]
        return np.column_stack([shorter, np.full(len(X), ROW_NORM / 2)])

    train, signs = rows(data.X), 2 * data.y - 1

    def objective(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = signs * (train @ theta)
        slopes = -signs * (0.5 - 0.5 * np.tanh(margins / 2))
        return float(np.logaddexp(0, -margins).sum() + ridge / 2 * theta @ theta), train.T @ slopes + ridge * theta

    found = minimize(objective, np.zeros(train.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 1000})
    return scores(data, rows(data.X_test) @ found.x)


def methods(ridge: float) -> dict[str, Callable[[dp.Pure], Any]]:
    """Return estimators by name."""
    told: dict[str, Any] = {"adjacency": dp.Replace(), "classes": (0, 1)}
    normed = told | {"row_norm": ROW_NORM}
    return {
        "K-norm gradient": lambda budget: KNormGradientLogisticRegression(budget=budget, ridge=ridge, **normed),
        "objective perturbation, same ridge": lambda budget: dp.PerturbedLogisticRegression(
            budget=budget, regularization=ridge, **normed
        ),
        "objective perturbation, its own ridge": lambda budget: dp.PerturbedLogisticRegression(budget=budget, **normed),
        "functional mechanism": lambda budget: dp.FunctionalLogisticRegression(
            budget=budget, x_bounds=dp.Box(lower=-1, upper=1), **told
        ),
    }


def measure(data: Data, ridge: float, runs: int) -> None:
    """Print tables of mean test scores."""
    print(f"\n## {data.name}: {data.X.shape[0]} x 4 and an intercept, ridge {ridge:.4g}, mean of {runs} runs\n")
    for name, value in (("with this ridge", ridge), ("without a ridge", 1e-3)):
        loss, error = without_privacy(data, value)
        print(f"- not private, {name}: log loss {loss:.4f}, error {error:.4f}")
    found: dict[str, list[NDArray[np.float64]]] = {}
    seconds: dict[str, float] = {}
    for name, make in methods(ridge).items():
        began = time.process_time()
        for epsilon in EPSILONS:
            budget = dp.Pure(epsilon=epsilon)
            drawn = []
            for run in range(runs):
                ledger = Ledger(total=budget, adjacency=dp.Replace(), coins=Coins.from_seed(1000 + run))
                model = make(budget).fit(data.X, data.y, ledger=ledger)
                drawn.append(scores(data, model.decision_function(data.X_test)))
            found.setdefault(name, []).append(np.array(drawn))
        seconds[name] = (time.process_time() - began) / (runs * len(EPSILONS))
    for position, what in enumerate(("log loss", "error")):
        print(f"\ntest {what}, and its standard error in units of the last digit\n")
        print("| method | " + " | ".join(f"epsilon {epsilon}" for epsilon in EPSILONS) + " | seconds a fit |")
        print("| --- |" + " --- |" * (len(EPSILONS) + 1))
        for name, tables in found.items():
            cells = [
                f"{t[:, position].mean():.4f} ({1e4 * t[:, position].std(ddof=1) / np.sqrt(runs):.0f})" for t in tables
            ]
            print(f"| {name} | " + " | ".join(cells) + f" | {seconds[name]:.2f} |", flush=True)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--fractions", type=float, nargs="+", default=[0.03, 0.1])
    parser.add_argument("--acs-rows", type=int, default=20_000)
    parser.add_argument("--data", nargs="+", choices=("adult", "acs"), default=("adult", "acs"))
    told = parser.parse_args()
    folder = Path(os.environ.get("DISCREET_DATA", "data"))
    print("# Logistic regression in pure privacy\n")
    print(f"Command: `DISCREET_DATA=data python experiments/k_norm_gradient.py --runs {told.runs}`")
    read = {"adult": lambda: adult(folder), "acs": lambda: acs(folder, told.acs_rows)}
    for data in (read[name]() for name in told.data):
        for fraction in told.fractions:
            measure(data, fraction * data.X.shape[0], told.runs)


if __name__ == "__main__":
    main()
