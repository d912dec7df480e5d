"""Exact Gram matrices and whole fits against plain numpy and scikit-learn; one thread, ratios in one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LinearRegression
from threadpoolctl import threadpool_limits

import discreet as dp
from discreet.lattice.gram import gram_of_arrays
from discreet.tables.array_rows import array_layout
from timing import ratio, report

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS, COLUMNS = 1_000_000, 14


def exact_gram(X: NDArray[Any]) -> None:
    names = tuple(f"x{j}" for j in range(COLUMNS - 1))
    layout = array_layout(names, dp.Box(lower=-5, upper=5), dp.Interval(-5, 5), intercept=False)
    values, target = np.ascontiguousarray(X[:, :-1]), X[:, -1].copy()
    median, ours, theirs = ratio(lambda: gram_of_arrays(values, target, layout), lambda: X.T @ X, pairs=11)
    print(f"exact Gram {ours * 1e3:.1f} ms, X.T @ X {theirs * 1e3:.1f} ms")
    report("exact Gram of 1,000,000 x 14 over X.T @ X", median, 2.0, at_most=True)


def whole_fit(X: NDArray[Any], y: NDArray[Any]) -> None:
    model = dp.FunctionalLinearRegression(
        budget=dp.Pure(epsilon=1),
        x_bounds=dp.Box(lower=-5, upper=5),
        y_bounds=dp.Interval(-20, 20),
        adjacency=dp.Replace(),
    )
    median, theirs, ours = ratio(lambda: LinearRegression().fit(X, y), lambda: model.fit(X, y), pairs=5)
    print(f"fit {ours * 1e3:.1f} ms, scikit-learn {theirs * 1e3:.1f} ms")
    report("scikit-learn's LinearRegression.fit over our fit", median, 5.0, at_most=False)


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    y = X @ np.arange(COLUMNS) / COLUMNS + rng.normal(size=ROWS)
    with threadpool_limits(1):
        exact_gram(X)
        whole_fit(X, y)


if __name__ == "__main__":
    main()
