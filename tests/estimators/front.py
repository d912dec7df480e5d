"""Tables and models that the tests of the front door share."""

import numpy as np

import discreet as dp
from discreet.estimators.front_door import LinearRegression, LogisticRegression, PoissonRegression
from discreet.estimators.methods.reading import FitDeclarations, declare_arrays

BOX = {"x_bounds": dp.Box(lower=0, upper=10), "adjacency": dp.Replace()}
BUDGETS = [dp.Pure(epsilon=1), dp.Approx(epsilon=1, delta="1e-6"), dp.Zcdp(rho="1/2"), dp.Gdp(mu=1)]


def linear(**changes):
    return LinearRegression(**({"budget": dp.Gdp(mu=1), "y_bounds": dp.Interval(-20, 20), **BOX} | changes))


def logistic(**changes):
    return LogisticRegression(**({"budget": dp.Gdp(mu=1), "classes": (0, 1), **BOX} | changes))


def poisson(**changes):
    return PoissonRegression(**({"budget": dp.Gdp(mu=1), "y_bounds": dp.Interval(0, 30), **BOX} | changes))


MODELS = [linear, logistic, poisson]


def name_of(make):
    return make.__name__


def table(n=4000, seed=0):
    """Return features within [0, 10], and a number, a label and a count that they tell."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, size=(n, 3))
    y = 2.0 + X @ [1.0, -0.5, 0.25] + rng.normal(scale=0.5, size=n)
    labels = (y + rng.logistic(scale=1.5, size=n) > y.mean()).astype(int)
    counts = rng.poisson(np.exp(1.0 + X @ [0.1, -0.1, 0.05]))
    return X, {"linear": y, "logistic": labels, "poisson": counts}


def target_of(make, targets):
    return targets[make.__name__]


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


def declared_labels(X, labels, classes, adjacency=BOX["adjacency"]):
    asked = FitDeclarations(
        estimator=logistic(),
        loss="logistic",
        budget=dp.Gdp(mu=1),
        adjacency=adjacency,
        intercept=True,
        classes=np.array(classes),
    )
    return declare_arrays(asked, X, labels, dp.Box(lower=0, upper=10)).rows
