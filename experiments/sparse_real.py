"""Sparse regression on real matrices with more columns than rows: what privacy costs, method by method.

    DISCREET_DATA=data python experiments/sparse_real.py --data reuters --runs 10 > experiments/results/reuters.md

DISCREET_DATA is a folder with reuters21578/, news20/, imdb_ratings/, genomics/ as described in the project's data
notes; sets that are absent are skipped, and said so. Rows are log(1 + count) scaled to norm 1, which looks at no other
row. "hindsight" takes, at each budget, the best of a few settings by the test score of runs of their own; that is
optimistic, and alike for all methods. "as it comes" tunes nothing. Noise comes from seeds: these are measurements,
not releases.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

import discreet as dp
from discreet.descent.baseline import ight_not_private
from discreet.descent.losses import loss_named
from discreet.descent.rows import integer_rows
from discreet.descent.steps import Descent
from discreet.errors import DiscreetError
from discreet.lattice.coins import Coins
from discreet.privacy.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Iterator

EPSILONS = (2, 4, 6, 8, 10)
DELTAS = ("0.01", "1e-6")
GENOMICS = ("colon_alon", "leukemia_golub", "prostate_singh", "lung_gordon")


@dataclass(frozen=True)
class Data:
    """Train and test parts, with what is public of the rows."""

    name: str
    X: Any
    y: Any
    X_test: Any
    y_test: Any
    loss: str
    row_norm: float = 1.0
    entry_bound: float = 1.0
    sparsities: tuple[int, ...] = (2000, 8000)
    steps: tuple[float, ...] = (30.0, 100.0, 300.0)
    clips: tuple[float, ...] = (0.5,)

    def score(self, model: Any) -> float:
        """Return the test error of labels, or R2 of numbers."""
        score = float(model.score(self.X_test, self.y_test))
        return 1 - score if self.loss == "logistic" else score

    @property
    def lower_is_better(self) -> bool:
        """Whether the score is an error."""
        return self.loss == "logistic"


def text_rows(stored: Any) -> Any:
    """Return log counts as rows of norm 1."""
    cells = np.log1p(stored["data"].astype(float))
    X = sp.csr_array((cells, stored["indices"], stored["indptr"]), shape=tuple(stored["shape"]))
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(np.maximum(norms, 1e-12), np.diff(X.indptr))
    return X


def reuters(folder: Path) -> Data:
    """Reuters-21578, Distribution 1.0: earn or acq against the rest, ModApte."""
    z = np.load(folder / "reuters21578" / "reuters21578.npz")
    X, y = text_rows(z), z["y"].astype(int)
    train, test = z["split"] == 0, z["split"] == 1
    return Data("Reuters-21578", X[train], y[train], X[test], y[test], "logistic", sparsities=(2000, 8000, 45_432))


def news(folder: Path) -> Data:
    """20 Newsgroups: sci against the rest."""
    z = np.load(folder / "news20" / "news20_bydate.npz")
    X, y = text_rows(z), np.char.startswith(z["group_names"], "sci.")[z["y"]].astype(int)
    test = z["is_test"].astype(bool)
    return Data("20 Newsgroups, sci", X[~test], y[~test], X[test], y[test], "logistic", sparsities=(2000, 44_326))


def imdb(folder: Path) -> Data:
    """IMDB ratings, centered at 5.5 and scaled to [-1, 1]."""
    parts = [np.load(folder / "imdb_ratings" / f"imdb_train_part{k}.npz") for k in (1, 2)]
    X = sp.csr_array(sp.vstack([text_rows(z) for z in parts], format="csr"))
    y = np.concatenate([z["y"] for z in parts])
    test = np.load(folder / "imdb_ratings" / "imdb_test5000.npz")

    def scaled(ratings: Any) -> Any:
        return (ratings.astype(float) - 5.5) / 4.5

    return Data(
        "IMDB ratings", X, scaled(y), text_rows(test), scaled(test["y"]), "squared",
        sparsities=(20_000, 155_925), steps=(10.0, 30.0), clips=(0.3, 1.0),
    )  # fmt: skip


def genomics(folder: Path, name: str) -> Data:
    """One expression set; log2 intensities within public limits, scaled to [-1, 1]; every fifth row tests."""
    z = np.load(folder / "genomics" / f"{name}.npz")
    low, high = np.log2(20), np.log2(16_000)
    levels = z["X"].astype(float)
    # The colon set was published in other units, of at most 2**15.
    X = 2 * (np.log2(np.clip(levels, 20, 16_000)) - low) / (high - low) - 1
    test = np.arange(X.shape[0]) % 5 == 4
    order = np.random.default_rng(0).permutation(X.shape[0])
    X, y = X[order], z["y"][order].astype(int)
    return Data(
        name, X[~test], y[~test], X[test], y[test], "logistic",
        row_norm=float(np.sqrt(X.shape[1])) / 2, entry_bound=1.0, sparsities=(10,), steps=(1e-3, 1e-2),
    )  # fmt: skip


def declared(data: Data, epsilon: int, delta: str) -> dict[str, Any]:
    """Return what every estimator must be told."""
    told: dict[str, Any] = {
        "budget": dp.Approx(epsilon=epsilon, delta=delta),
        "row_norm": data.row_norm,
        "adjacency": dp.Replace(),
    }
    return told | ({"classes": (0, 1)} if data.loss == "logistic" else {"y_bounds": dp.Interval(-1, 1)})


def methods(data: Data) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Return, by name, the settings among which hindsight chooses: an estimator's name and its arguments."""
    kind = "LogisticRegression" if data.loss == "logistic" else "LinearRegression"
    entry = {"entry_bound": data.entry_bound}
    tried = product(data.sparsities, data.steps, data.clips)
    few = (10,) if data.name in GENOMICS else (20, 100)
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {
        "DP-IGHT, as it comes": [("Sparse" + kind, {"sparsity": min(8000, data.X.shape[1]), "selection": "threshold"})],
        "DP-IGHT, hindsight": [
            ("Sparse" + kind, {"sparsity": s, "step_size": step, "clip": clip, "n_steps": 64, "selection": "threshold"})
            for s, step, clip in tried
        ],
        "peeling": [("Sparse" + kind, {"sparsity": s, "selection": "peel", **entry}) for s in few],
        "Frank-Wolfe": [("FrankWolfe" + kind, {"radius": radius, **entry}) for radius in (3.0, 10.0, 30.0)],
        "two-stage": [("TwoStage" + kind, {"sparsity": s, **entry}) for s in few],
    }
    if data.loss == "logistic":
        found["objective perturbation"] = [("PerturbedLogisticRegression", {"method": "objective"})]
    return found


def one_run(data: Data, which: tuple[str, dict[str, Any]], epsilon: int, delta: str, seed: int) -> float:
    """Return the test score of one fit."""
    told = declared(data, epsilon, delta)
    model = getattr(dp, which[0])(**told, **which[1])
    ledger = Ledger(total=told["budget"], adjacency=dp.Replace(), composition="sum", coins=Coins.from_seed(seed))
    return data.score(model.fit(data.X, data.y, ledger=ledger))


def not_private(data: Data) -> Iterator[tuple[str, float]]:
    """Yield scores without privacy: IGHT of the same steps, and scikit-learn's ridge-penalized fit."""
    from sklearn.linear_model import LogisticRegression, Ridge

    labels = data.loss == "logistic"
    bounds = (0.0, 1.0) if labels else (-1.0, 1.0)
    rows = integer_rows(data.X, data.y, row_norm=data.row_norm, entry_bound=data.entry_bound, target_bounds=bounds)
    settings = Descent(
        grid=rows.grid, loss=loss_named(data.loss, clip=1.0 if labels else 2.0), target_bounds=bounds,
        selection="threshold", n_selected=min(max(data.sparsities), 8000), n_steps=64,
        step_size=data.steps[-1 if labels else 0], divisor=float(data.X.shape[0]),
    )  # fmt: skip
    margins = data.X_test @ ight_not_private(rows, settings).coef
    if labels:
        yield "IGHT, not private", float(np.mean((margins > 0) != (data.y_test > 0)))
    else:
        residual = np.clip(margins, -1, 1) - data.y_test
        yield "IGHT, not private", 1 - float(np.mean(residual**2) / np.var(data.y_test))
    model = LogisticRegression(C=10, max_iter=300) if labels else Ridge(alpha=1.0, solver="sparse_cg")
    yield "scikit-learn, not private", data.score(model.fit(data.X, data.y))


def report(data: Data, n_runs: int, n_tuning: int, wanted: list[str] | None, epsilons: tuple[int, ...]) -> None:
    """Print one table a delta."""
    measure = "test error" if data.lower_is_better else "test R2"
    print(f"\n## {data.name}: {data.X.shape[0]} x {data.X.shape[1]}, {measure}, Replace, mean of {n_runs} runs\n")
    for name, score in not_private(data):
        print(f"- {name}: {score:.3f}")
    for delta in DELTAS:
        print(f"\ndelta {delta}\n")
        print("| method | " + " | ".join(f"epsilon {e}" for e in epsilons) + " | seconds a fit |")
        print("| --- |" + " --- |" * (len(epsilons) + 1), flush=True)
        for name, choices in methods(data).items():
            if wanted and not any(word in name for word in wanted):
                continue
            cells, start, fits = [], time.perf_counter(), 0
            try:
                for epsilon in epsilons:
                    best, trials = choices[0], [0.0]
                    if len(choices) > 1:
                        trials = [
                            float(np.mean([one_run(data, which, epsilon, delta, 1000 + k) for k in range(n_tuning)]))
                            for which in choices
                        ]
                        fits += n_tuning * len(choices)
                        index = int(np.argmin(trials) if data.lower_is_better else np.argmax(trials))
                        best = choices[index]
                    scores = [one_run(data, best, epsilon, delta, seed) for seed in range(n_runs)]
                    fits += n_runs
                    cells.append(f"{np.mean(scores):.3f}")
            except DiscreetError as error:
                print(f"| {name} | refused: {error} |" + " |" * len(epsilons), flush=True)
                continue
            seconds = (time.perf_counter() - start) / fits
            print(f"| {name} | " + " | ".join(cells) + f" | {seconds:.1f} |", flush=True)


def main() -> None:
    """Print the tables of the sets that are there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=["reuters", "news", "imdb", *GENOMICS])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--tuning-runs", type=int, default=1)
    parser.add_argument("--methods", nargs="+", default=None, help="parts of names")
    parser.add_argument("--epsilons", nargs="+", type=int, default=list(EPSILONS))
    options = parser.parse_args()
    place = os.environ.get("DISCREET_DATA")
    if not place or not Path(place).is_dir():
        print("Skipped: set DISCREET_DATA to the folder that holds the data sets.")
        return
    loaders = {"reuters": reuters, "news": news, "imdb": imdb}
    for name in options.data:
        try:
            data = loaders[name](Path(place)) if name in loaders else genomics(Path(place), name)
        except FileNotFoundError:
            print(f"Skipped {name}: its file is not in DISCREET_DATA.")
            continue
        report(data, options.runs, options.tuning_runs, options.methods, tuple(options.epsilons))


if __name__ == "__main__":
    main()
