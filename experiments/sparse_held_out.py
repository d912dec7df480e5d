"""The untuned sparse default on targets that nobody looked at while the default was made.

    DISCREET_DATA=data python experiments/sparse_held_out.py > experiments/results/held_out.md

The rows are those of experiments/sparse_real.py, the targets others: more groups of 20 Newsgroups, rarer topics of
Reuters-21578, and whether an IMDB rating is above 5. All columns may stay (sparsity=None). Noise comes from seeds:
these are measurements, not releases.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

import sparse_real

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparse_real import Data

CELLS = (("0.01", 2), ("0.01", 10), ("1e-6", 2), ("1e-6", 10))
DEFAULT: tuple[str, dict[str, Any]] = ("SparseLogisticRegression", {"sparsity": None, "selection": "threshold"})


def held_out(folder: Path) -> Iterator[Data]:
    """Yield the other targets."""
    data = sparse_real.news(folder)
    z = np.load(folder / "news20" / "news20_bydate.npz")
    test = z["is_test"].astype(bool)
    for group in ("rec.", "talk.", "comp."):
        y = np.char.startswith(z["group_names"], group)[z["y"]].astype(int)
        yield replace(data, name=f"20 Newsgroups, {group}*", y=y[~test], y_test=y[test])
    data = sparse_real.reuters(folder)
    z = np.load(folder / "reuters21578" / "reuters21578.npz")
    parts = (np.ones(z["topic_indices"].size), z["topic_indices"], z["topic_indptr"])
    topics = sp.csc_array(sp.csr_array(parts, shape=(z["split"].size, z["topic_names"].size)))
    for topic in ("crude", "money-fx", "grain"):
        column = topics[:, [list(z["topic_names"]).index(topic)]].toarray().ravel()
        y = (column > 0).astype(int)
        yield replace(data, name=f"Reuters-21578, {topic}", y=y[z["split"] == 0], y_test=y[z["split"] == 1])
    data = sparse_real.imdb(folder)
    y, y_test = ((rating > 0).astype(int) for rating in (data.y, data.y_test))
    yield replace(data, name="IMDB, rating above 5", y=y, y_test=y_test, loss="logistic")


def main() -> None:
    """Print the table."""
    from sklearn.linear_model import LogisticRegression

    place = os.environ.get("DISCREET_DATA")
    if not place or not Path(place).is_dir():
        print("Skipped: set DISCREET_DATA to the folder that holds the data sets.")
        return
    print("# The untuned default on targets that were not looked at\n")
    print("Command: `DISCREET_DATA=data python experiments/sparse_held_out.py`; test error, Replace, one run a cell.\n")
    heads = [f"epsilon {epsilon}, delta {delta}" for delta, epsilon in CELLS]
    print("| target | larger class | scikit-learn, not private | " + " | ".join(heads) + " |")
    print("| --- |" + " --- |" * (2 + len(CELLS)), flush=True)
    for data in held_out(Path(place)):
        share = float(np.mean(data.y_test))
        plain = data.score(LogisticRegression(C=10, max_iter=300).fit(data.X, data.y))
        scores = [sparse_real.one_run(data, DEFAULT, epsilon, delta, 0) for delta, epsilon in CELLS]
        cells = " | ".join(f"{score:.3f}" for score in (min(share, 1 - share), plain, *scores))
        print(f"| {data.name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
