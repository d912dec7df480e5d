"""Audits of preconditioned descent, and of the front door that chooses it.

A record whose target changes sides moves the Gram matrix by all that it can, for its two rows are orthogonal, and,
where residuals are clipped far below it, every step's sums by all that they can.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.cases.case import Entry, Setup, of_fit, of_plan
from discreet.audit.neighbours import BEYOND, MadeUpTable, sign_flip, zeros
from discreet.descent.preconditioned.plan import preconditioned_plan
from discreet.descent.preconditioned.settings import Settings
from discreet.estimators.front_door import LinearRegression, LogisticRegression, PoissonRegression
from discreet.lattice.bounds import Box, Interval
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.tables.array_rows import ArrayRows, array_layout

if TYPE_CHECKING:
    from discreet.privacy.adjacency import Adjacency

_REPLACE, _ADD_REMOVE = Replace(), AddRemove()
_BOX = Box(lower=-1, upper=1)
_N_REST = 4
# Far below any residual, so that the whole of a step's price shows.
_CLIP = 0.01
_LIMITS = {"squared": (-1.0, 1.0), "logistic": (0.0, 1.0), "poisson": (0.0, 2.0)}


def _tables(loss: str, adjacency: Adjacency) -> tuple[MadeUpTable, MadeUpTable]:
    """Return tables whose last record lies beyond its bounds, its target at or beyond the one limit or the other."""
    low, high = _LIMITS[loss]
    rest = zeros(_N_REST, 1, target=(low + high) / 2)
    far = (low, high) if loss == "logistic" else (BEYOND * low, BEYOND * high)
    if loss == "logistic":
        rest = MadeUpTable(rest.X, np.arange(_N_REST, dtype=np.float64) % 2)
    return sign_flip(adjacency, rest, BEYOND * np.ones(1), far)


def _seen(fit: Any) -> Any:
    """Return all that a fit shows: the Gram matrix, the parameters, and the sizes at which rows were clipped."""
    upper = np.triu_indices_from(fit.gram)
    return np.concatenate([np.ravel(fit.coef), [fit.intercept], fit.gram[upper], fit.clips])


def _descent(
    budget: Any,
    *,
    loss: str = "squared",
    adjacency: Adjacency = _REPLACE,
    n_steps: int = 1,
    count_share: Any = 0,
    step_growth: Any = 1,
    warm_start: bool = False,
) -> Setup:
    layout = array_layout(("a",), _BOX, Interval(*_LIMITS[loss]), intercept=False)
    settings = Settings(
        n_rows=_N_REST + 1,
        gram_share=Fraction(1, 2),
        count_share=count_share,
        clip_target=1.0 if count_share else 0.0,
        clip=_CLIP,
        n_steps=n_steps,
        step_size=1.0,
        step_growth=step_growth,
        warm_start=warm_start,
    )
    plan = preconditioned_plan(layout, loss, budget=budget, adjacency=adjacency, settings=settings)
    first, second = (ArrayRows(table.X, table.y, ("a",)) for table in _tables(loss, adjacency))
    return Setup(of_plan(plan, _seen), first, second, budget)


def _read(model: Any) -> Any:
    return np.concatenate([_seen(fit) for fit in model.release_.value])


def _front(budget: Any, *, kind: Any, loss: str, **options: Any) -> Setup:
    """Return the audit of a model of the front door through its own `fit`."""
    declared = {"classes": (0, 1)} if loss == "logistic" else {"y_bounds": Interval(*_LIMITS[loss])}
    model = kind(
        budget=budget, adjacency=_REPLACE, x_bounds=_BOX, method="descent", fit_intercept=False, n_steps=1, clip=_CLIP,
        gram_share="1/2", step_size=1.0, **declared, **options,
    )  # fmt: skip
    return Setup(of_fit(model, _read), *_tables(loss, _REPLACE), budget)


_APPROX = Approx(epsilon=2, delta="1/20")

PRECONDITIONED = (
    Entry(name="preconditioned, squared, Gaussian", make=_descent, budget=Gdp(mu=1), n_runs=2000),
    Entry(
        name="preconditioned, squared, pure",
        make=partial(_descent, n_steps=2),
        budget=Pure(epsilon=2),
        tells=4,
        n_runs=2000,
    ),
    Entry(
        name="preconditioned, squared, add-remove",
        make=partial(_descent, adjacency=_ADD_REMOVE, n_steps=2, count_share="1/10"),
        budget=_APPROX,
        n_runs=2000,
        tells=4,
    ),
    Entry(
        name="preconditioned, squared, growing steps, Gaussian",
        make=partial(_descent, n_steps=2, step_growth=3, warm_start=True),
        budget=Gdp(mu=1),
        n_runs=2000,
        tells=4,
    ),
    Entry(
        name="preconditioned, squared, growing steps, pure",
        make=partial(_descent, n_steps=2, step_growth=3),
        budget=Pure(epsilon=2),
        n_runs=2000,
        tells=6,
    ),
    Entry(
        name="preconditioned, logistic, Gaussian",
        make=partial(_descent, loss="logistic", n_steps=2),
        budget=Zcdp(rho=1),
        n_runs=2000,
        tells=3,
    ),
    Entry(
        name="preconditioned, logistic, pure",
        make=partial(_descent, loss="logistic"),
        budget=Pure(epsilon=2),
        n_runs=2000,
        tells=4,
    ),
    Entry(
        name="preconditioned, Poisson, Gaussian",
        make=partial(_descent, loss="poisson"),
        budget=Gdp(mu=1),
        n_runs=2000,
    ),
    Entry(
        name="LinearRegression",
        make=partial(_front, kind=LinearRegression, loss="squared"),
        budget=Gdp(mu=1),
        covers=("LinearRegression",),
        n_runs=1500,
    ),
    Entry(
        name="LogisticRegression",
        make=partial(_front, kind=LogisticRegression, loss="logistic"),
        budget=Pure(epsilon=2),
        covers=("LogisticRegression",),
        n_runs=1000,
        tells=4,
    ),
    Entry(
        name="PoissonRegression",
        make=partial(_front, kind=PoissonRegression, loss="poisson"),
        budget=Zcdp(rho=1),
        covers=("PoissonRegression",),
        n_runs=1000,
        tells=3,
    ),
)
