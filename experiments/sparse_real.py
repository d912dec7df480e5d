"""Sparse regression on real matrices with more columns than rows: what privacy costs, method by method.

    DISCREET_DATA=data python experiments/sparse_real.py --data reuters --cells reuters.jsonl
    DISCREET_DATA=data python experiments/sparse_real.py --data reuters --cells reuters.jsonl --tables

The first command measures what the file of cells lacks, one line a cell, and may be stopped at any time; the second
prints the tables. DISCREET_DATA is a folder with reuters21578/, news20/, imdb_ratings/, genomics/ as described in the
project's data notes. Text rows are log(1 + count) scaled to norm 1, which looks at no other row. "hindsight" takes, at
each budget, the best of a few settings by the test score of one run of its own; that is optimistic, and alike for all
methods. "as it comes" tunes nothing. Noise comes from seeds: these are measurements, not releases. Perturbed
objectives are minimized by `fast_minimizer`, from the same noise; the votes of the two stages are counted once a data
set, since they have no noise before the release.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

import discreet as dp
import fast_minimizer
from descent_not_private import ight_not_private
from discreet.descent.losses import loss_named
from discreet.descent.rivals import two_stage
from discreet.descent.rows import integer_rows
from discreet.descent.steps import Descent
from discreet.errors import DiscreetError
from discreet.models.predictors import bounded_rows
from discreet.privacy.coins import Coins
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
    sparsities: tuple[int, ...] = (10,)
    # Of noisy descent: step size, clip, number of steps.
    descents: tuple[tuple[float, float, int], ...] = ((100.0, 0.5, 64), (100.0, 0.5, 128), (100.0, 0.5, 256))
    radii: tuple[float, ...] = (10.0, 30.0, 100.0)
    # Without privacy: step sizes of which the best is shown.
    plain: tuple[float, ...] = (30.0, 100.0)
    text: bool = True

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
    return Data("Reuters-21578", X[train], y[train], X[test], y[test], "logistic", sparsities=(8000, 45_432))


def news(folder: Path) -> Data:
    """20 Newsgroups: sci against the rest."""
    z = np.load(folder / "news20" / "news20_bydate.npz")
    X, y = text_rows(z), np.char.startswith(z["group_names"], "sci.")[z["y"]].astype(int)
    test = z["is_test"].astype(bool)
    return Data("20 Newsgroups, sci", X[~test], y[~test], X[test], y[test], "logistic", sparsities=(8000, 44_326))


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
        sparsities=(20_000, 155_925), descents=((20.0, 0.25, 128), (20.0, 0.25, 256)), radii=(3.0, 10.0, 30.0),
        plain=(3.0, 8.0),
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
        row_norm=float(np.sqrt(X.shape[1])) / 2, entry_bound=1.0, radii=(1.0, 3.0, 10.0),
        plain=(1e-3, 3e-3, 1e-2, 3e-2), text=False,
    )  # fmt: skip


def mice(folder: Path) -> Data:
    """Heterogeneous stock mice: allele counts less 1 against body weight, within [10, 45] g, scaled to [-1, 1]."""
    z = np.load(folder / "genomics" / "mice_snp.npz")
    X, y = z["X"].astype(float) - 1, (np.clip(z["body_weight_g"], 10, 45) - 27.5) / 17.5
    test = np.arange(X.shape[0]) % 5 == 4
    order = np.random.default_rng(0).permutation(X.shape[0])
    X, y = X[order], y[order]
    return Data(
        "mice_snp, body weight", X[~test], y[~test], X[test], y[test], "squared",
        row_norm=float(np.sqrt(X.shape[1])) / 2, entry_bound=1.0, radii=(0.1, 0.3, 1.0), plain=(1e-4, 3e-4, 1e-3),
        text=False,
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
    whole = data.X.shape[1]
    if data.text:
        some = min(8000, whole)
        found: dict[str, list[tuple[str, dict[str, Any]]]] = {
            f"DP-IGHT, s = {some}, as it comes": [("Sparse" + kind, {"sparsity": some, "selection": "threshold"})],
            "DP-IGHT, all columns, as it comes": [("Sparse" + kind, {"sparsity": None, "selection": "threshold"})],
            "DP-IGHT, hindsight": [
                ("Sparse" + kind, {"sparsity": s, "step_size": step, "clip": clip, "n_steps": steps})
                for s, (step, clip, steps) in product(data.sparsities, data.descents)
            ],
        }
    else:
        found = {
            "DP-IGHT, s = 10, as it comes": [("Sparse" + kind, {"sparsity": 10, "selection": "threshold", **entry})],
        }
    few = (20, 100) if data.text else (3, 10)
    return (
        found
        | {
            "peeling, hindsight": [("Sparse" + kind, {"sparsity": s, "selection": "peel", **entry}) for s in few],
            "Frank-Wolfe, hindsight": [("FrankWolfe" + kind, {"radius": radius, **entry}) for radius in data.radii],
            "two-stage, hindsight": [("TwoStage" + kind, {"sparsity": s, **entry}) for s in few],
        }
        | ({"objective perturbation": [("PerturbedLogisticRegression", {})]} if data.loss == "logistic" else {})
    )


def one_run(data: Data, which: tuple[str, dict[str, Any]], epsilon: int, delta: str, seed: int) -> float:
    """Return the test score of one fit."""
    told = declared(data, epsilon, delta)
    model = getattr(dp, which[0])(**told, **which[1])
    ledger = Ledger(total=told["budget"], adjacency=dp.Replace(), composition="sum", coins=Coins.from_seed(seed))
    return data.score(model.fit(data.X, data.y, ledger=ledger))


def not_private(data: Data) -> Iterator[tuple[str, float]]:
    """Yield scores without privacy: IGHT with the best of a few step sizes, and scikit-learn's ridge-penalized fit."""
    from sklearn.linear_model import LogisticRegression, Ridge

    labels = data.loss == "logistic"
    bounds = (0.0, 1.0) if labels else (-1.0, 1.0)
    # A column of ones for the intercept, taken off a numeric target's mean instead: nothing here is private.
    center = 0.0 if labels else float(data.y.mean())
    rows = (
        integer_rows(data.X, data.y - center, row_norm=data.row_norm, target_bounds=(-2.0, 2.0))
        if not labels
        else (integer_rows(data.X, data.y, row_norm=data.row_norm, target_bounds=bounds, intercept=data.row_norm / 8))
    )
    test = bounded_rows(sp.csr_array(data.X_test) if sp.issparse(data.X_test) else data.X_test.copy(), rows.grid)
    for sparsity in data.sparsities:
        found = []
        for step_size in data.plain:
            settings = Descent(
                grid=rows.grid, loss=loss_named(data.loss, clip=1.0 if labels else 4.0), n_selected=sparsity,
                target_bounds=rows.target_bounds, selection="threshold", n_steps=1024,
                step_size=step_size, divisor=float(data.X.shape[0]), tail_average=False,
            )  # fmt: skip
            fit = ight_not_private(rows, settings)
            margins = test @ fit.coef + fit.intercept
            if labels:
                found.append(1 - float(np.mean((margins > 0) != (data.y_test > 0))))
            else:
                residual = np.clip(margins + center, *bounds) - data.y_test
                found.append(1 - float(np.mean(residual**2) / np.var(data.y_test)))
        yield f"IGHT, s = {sparsity}, not private", 1 - max(found) if labels else max(found)
    if labels:
        yield "larger class", float(min(np.mean(data.y_test > 0), np.mean(data.y_test <= 0)))
    model = LogisticRegression(C=10, max_iter=300) if labels else Ridge(alpha=1.0 if data.text else 1e4)
    yield "scikit-learn, not private", data.score(model.fit(data.X, data.y))


class Cells:
    """One JSON line a cell, kept as they come."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.found = {tuple(cell["key"]): cell for cell in map(json.loads, lines)}

    def add(self, key: tuple[Any, ...], **cell: Any) -> None:
        """Keep a cell."""
        self.found[key] = {"key": key, **cell}
        with self.path.open("a") as file:
            file.write(json.dumps(self.found[key]) + "\n")


def measure(data: Data, cells: Cells, n_runs: int, wanted: list[str] | None, epsilons: list[int]) -> None:
    """Measure what is missing."""
    shape = f"{data.X.shape[0]} x {data.X.shape[1]}"
    if ("plain",) not in cells.found:
        scores = dict(not_private(data))
        cells.add(("plain",), name=data.name, shape=shape, error=data.lower_is_better, scores=scores)
    counted: dict[Any, Any] = {}
    plain_votes = two_stage.votes

    def votes(rows: Any, loss: Any, event: Any) -> Any:
        key = (loss, event.sparsity, event.n_blocks)
        if key not in counted:
            counted[key] = plain_votes(rows, loss, event)
        return counted[key]

    two_stage.votes = votes
    for (name, choices), delta, epsilon in product(methods(data).items(), DELTAS, epsilons):
        key = (name, delta, epsilon)
        known = cells.found.get(key, {"scores": [], "seconds": 0.0, "best": None})
        missing = range(len(known.get("scores", range(n_runs))), n_runs)
        if not missing or (wanted and not any(word in name for word in wanted)):
            continue
        start, best, fits = time.process_time(), known["best"], len(missing)
        try:
            if best is None and len(choices) > 1:
                trials = [one_run(data, which, epsilon, delta, 1000) for which in choices]
                best = int(np.argmin(trials) if data.lower_is_better else np.argmax(trials))
                fits += len(choices)
            best = best or 0
            scores = known["scores"] + [one_run(data, choices[best], epsilon, delta, seed) for seed in missing]
        except DiscreetError as error:
            cells.add(key, refused=str(error))
            continue
        seconds = known["seconds"] or (time.process_time() - start) / fits
        said = {k: v for k, v in choices[best][1].items() if k not in {"entry_bound", "selection"}}
        cells.add(key, scores=scores, best=best, settings=said if len(choices) > 1 else {}, seconds=seconds)
    two_stage.votes = plain_votes


def tables(cells: Cells) -> None:
    """Print what has been measured."""
    plain = cells.found["plain",]
    measure_name = "test error" if plain["error"] else "test R2"
    print(f"# {plain['name']}: {plain['shape']}, {measure_name}, Replace\n")
    command = f"python experiments/sparse_real.py --data {cells.path.stem} --cells {cells.path.name}"
    print(f"Command: `DISCREET_DATA=data {command}` (10 runs a cell, or as the table says), then with `--tables`.")
    print("CPU seconds are of one fit; those of two-stage are without its votes, counted once a data set.\n")
    for name, score in plain["scores"].items():
        print(f"- {name}: {score:.3f}")
    private = {key: cell for key, cell in cells.found.items() if key != ("plain",)}
    for delta in DELTAS:
        print(f"\ndelta {delta}: mean (standard error) of the runs\n")
        print("| method | " + " | ".join(f"epsilon {e}" for e in EPSILONS) + " | runs | CPU seconds a fit | chosen |")
        print("| --- |" + " --- |" * (len(EPSILONS) + 3))
        for name in dict.fromkeys(key[0] for key in private):
            row = [private.get((name, delta, epsilon)) for epsilon in EPSILONS]
            done = [cell for cell in row if cell and "scores" in cell]
            runs = "/".join(str(n) for n in sorted({len(cell["scores"]) for cell in done}))
            timed = [cell["seconds"] for cell in done if cell["seconds"]]
            seconds = f"{np.mean(timed):.1f}" if timed else ""
            said = [", ".join(f"{k} {v:g}" for k, v in cell["settings"].items()) for cell in done]
            chosen = "; ".join(dict.fromkeys(said))
            print(f"| {name} | " + " | ".join(map(_cell, row)) + f" | {runs} | {seconds} | {chosen} |")


def _cell(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return "not run"
    if "refused" in cell:
        return "refused"
    scores = np.array(cell["scores"])
    error = f" ({scores.std(ddof=1) / np.sqrt(scores.size):.3f})" if scores.size > 1 else ""
    return f"{scores.mean():.3f}{error}"


def main() -> None:
    """Measure one data set, or print its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", choices=["reuters", "news", "imdb", "mice_snp", *GENOMICS], required=True)
    parser.add_argument("--cells", type=Path, required=True)
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--methods", nargs="+", default=None, help="parts of names")
    parser.add_argument("--epsilons", nargs="+", type=int, default=list(EPSILONS))
    options = parser.parse_args()
    cells = Cells(options.cells)
    if options.tables:
        tables(cells)
        return
    place = os.environ.get("DISCREET_DATA")
    if not place or not Path(place).is_dir():
        print("Skipped: set DISCREET_DATA to the folder that holds the data sets.")
        return
    loaders = {"reuters": reuters, "news": news, "imdb": imdb, "mice_snp": mice}
    try:
        data = loaders.get(options.data, partial(genomics, name=options.data))(Path(place))
    except FileNotFoundError:
        print(f"Skipped {options.data}: its file is not in DISCREET_DATA.")
        return
    fast_minimizer.install()
    measure(data, cells, options.runs, options.methods, options.epsilons)


if __name__ == "__main__":
    main()
