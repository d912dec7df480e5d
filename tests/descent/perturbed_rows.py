"""Rows for the tests of perturbed objectives."""

import numpy as np
import scipy.sparse

from discreet.descent.rows import integer_rows


def some_rows(n=200, d=4, *, seed=0, intercept=0.5, sparse=False, loss="logistic"):
    """Return rows with labels, or targets, that depend on two of the columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (1.0 if not sparse else rng.integers(2, size=(n, d)))
    score = 2 * X[:, 0] - X[:, -1]
    y, bounds = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(float), (0, 1)
    if loss != "logistic":
        y, bounds = score + rng.normal(size=n), (-5, 5)
    X = scipy.sparse.csr_array(X) if sparse else X
    return integer_rows(X, y, row_norm=2.0, target_bounds=bounds, intercept=intercept)
