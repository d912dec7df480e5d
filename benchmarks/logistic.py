"""Whole logistic fits against scikit-learn's; one thread, ratios in one run."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import discreet as dp
from timing import ratio, report, show

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS, COLUMNS = 1_000_000, 14


def normal(slopes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], dp.Box]:
    """Return standard normal features and labels 0 and 1 of a logistic law."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    return X, (X @ slopes + rng.logistic(size=ROWS) > 0).astype(np.int64), dp.Box(lower=-5, upper=5)


def census() -> tuple[NDArray[Any], NDArray[Any], dp.Box]:
    """Return what a census table has, in its own units: age, schooling, hours and eleven dummies."""
    rng = np.random.default_rng(0)
    numbers = rng.uniform([17, 1, 1], [95, 24, 99], size=(ROWS, 3))
    dummies = (rng.uniform(size=(ROWS, COLUMNS - 3)) < rng.uniform(0.05, 0.5, size=COLUMNS - 3)).astype(float)
    X = np.hstack([numbers, dummies])
    score = X @ np.concatenate([[0.03, 0.2, 0.04], rng.normal(size=COLUMNS - 3)])
    y = (score - score.mean() + rng.logistic(size=ROWS) > 0).astype(np.int64)
    return X, y, dp.Box(lower=[17, 1, 1] + [0] * (COLUMNS - 3), upper=[95, 24, 99] + [1] * (COLUMNS - 3))


def fits(
    what: str,
    X: NDArray[Any],
    y: NDArray[Any],
    box: dp.Box,
    *,
    theirs_on: NDArray[Any] | None = None,
    has_target: bool = True,
    **declared: Any,
) -> None:
    model = dp.FunctionalLogisticRegression(budget=dp.Pure(epsilon=1), x_bounds=box, adjacency=dp.Replace(), **declared)
    theirs, given = LogisticRegression(), X if theirs_on is None else theirs_on
    median, time_theirs, time_ours = ratio(lambda: theirs.fit(given, y), lambda: model.fit(X, y), pairs=5)
    print(f"fit {time_ours * 1e3:.1f} ms, scikit-learn {time_theirs * 1e3:.1f} ms in {theirs.n_iter_[0]} iterations")
    if has_target:
        report(f"scikit-learn's LogisticRegression.fit over ours, {what}", median, 8.0, at_most=False)
    else:
        show(f"scikit-learn's LogisticRegression.fit over ours, {what}", median)


def main() -> None:
    X, y, box = census()
    scaled = (X - np.array(box.lower)) / (np.array(box.upper) - np.array(box.lower))
    with threadpool_limits(1), warnings.catch_warnings():
        # What a fit finds at this budget, and whether scikit-learn gets to the end, is not what is timed.
        warnings.simplefilter("ignore")
        fits("a census table", X, y, box, classes=(0, 1))
        fits("classes read from y", X, y, box)
        fits("theirs on [0, 1]", X, y, box, theirs_on=scaled, classes=(0, 1))
        # On independent standard normal features scikit-learn's stopping rule is met after a handful of iterations.
        fits(
            "normal features", *normal(np.random.default_rng(1).normal(size=COLUMNS)), has_target=False, classes=(0, 1)
        )
        fits("and weak slopes", *normal(np.full(COLUMNS, 0.3)), has_target=False, classes=(0, 1))


if __name__ == "__main__":
    main()
