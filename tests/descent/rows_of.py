"""Small grids and rows that tests of the descent share."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from discreet.descent.calibration import plan_descent
from discreet.descent.losses import LogisticLoss, SquaredLoss
from discreet.descent.rows import integer_rows
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Zcdp


def labels(n, seed=0):
    return (np.random.default_rng(seed).random(n) < 0.5).astype(float)


def sparse_rows(n=60, d=40, seed=0, **changes):
    """Return logistic rows of a sparse matrix with some rows too long and some cells too large."""
    matrix = scipy.sparse.random(n, d, density=0.2, format="csr", random_state=seed)
    options = {"row_norm": 1.0, "entry_bound": 0.5, "target_bounds": (0, 1)}
    return integer_rows(matrix, labels(n, seed), **(options | changes))


def planned(rows, **changes):
    """Return a plan with modest settings."""
    options = {
        "budget": Zcdp(rho=1), "adjacency": Replace(), "target_bounds": rows.target_bounds, "n_selected": 5,
        "n_steps": 4, "step_size": 4.0, "divisor": 60, "selection": "threshold",
    }  # fmt: skip
    loss = changes.pop("loss", LogisticLoss() if rows.target_bounds == (0, 1) else SquaredLoss(clip=1.0))
    return plan_descent(rows.grid, loss, **(options | changes))
