"""Declared estimators of the second pillar, and private rows for them, that several tests share."""

from __future__ import annotations

import numpy as np

import discreet as dp

LARGE = dp.Zcdp(rho=10**26)
ROWS = {"row_norm": 2.0, "adjacency": dp.Replace()}
Y = {"y_bounds": dp.Interval(-4, 4)}


def sparse_linear(**changes):
    return dp.SparseLinearRegression(**({"budget": dp.Zcdp(rho=1), "sparsity": 3, **ROWS, **Y} | changes))


def sparse_logistic(**changes):
    return dp.SparseLogisticRegression(**({"budget": dp.Zcdp(rho=1), "sparsity": 3, **ROWS} | changes))


def frank_wolfe_linear(**changes):
    declared = {"budget": dp.Zcdp(rho=1), "radius": 4.0, "n_steps": 20, **ROWS, **Y}
    return dp.FrankWolfeLinearRegression(**(declared | changes))


def frank_wolfe_logistic(**changes):
    return dp.FrankWolfeLogisticRegression(
        **({"budget": dp.Zcdp(rho=1), "radius": 8.0, "n_steps": 20, **ROWS} | changes)
    )


def two_stage_linear(**changes):
    declared = {"budget": dp.Approx(epsilon=2, delta="1e-6"), "sparsity": 1, **ROWS, **Y}
    return dp.TwoStageLinearRegression(**(declared | changes))


def two_stage_logistic(**changes):
    declared = {"budget": dp.Approx(epsilon=2, delta="1e-6"), "sparsity": 1, **ROWS}
    return dp.TwoStageLogisticRegression(**(declared | changes))


def perturbed(**changes):
    return dp.PerturbedLogisticRegression(**({"budget": dp.Pure(epsilon=2), **ROWS} | changes))


LINEAR = [sparse_linear, frank_wolfe_linear, two_stage_linear]
LOGISTIC = [sparse_logistic, frank_wolfe_logistic, two_stage_logistic, perturbed]
ALL = [*LINEAR, *LOGISTIC]


def name_of(make):
    return make.__name__


def seeded(model, seed=5, **options):
    """Return a ledger with room for one fit, whose coins come from a test seed."""
    composition = {"composition": "sum"} if isinstance(model.budget, dp.Approx) else {}
    declared = {
        "total": model.budget,
        "adjacency": model.adjacency,
        "coins": dp.privacy.Coins.from_seed(seed),
        **composition,
    }
    return dp.Ledger(**(declared | options))


def table(n=300, d=8, seed=0):
    """Return features of about norm 2 with zeros among them, and numbers and labels that they tell."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[rng.random(X.shape) < 0.3] = 0.0
    y = np.clip(X[:, 0] - X[:, 1], -4, 4)
    return X, y, (y > 0).astype(int)


def target_of(make, y, labels):
    return y if make in LINEAR else labels
