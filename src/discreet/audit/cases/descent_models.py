"""Audits of the estimators of descent and its rivals, through their own `fit`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from discreet.audit.cases.case import Entry, Setup, of_fit
from discreet.audit.cases.descent_tables import (
    CLIP,
    FAR,
    LIMITS,
    N_REST,
    NORM,
    MadeUpSparseTable,
    flipped,
    labelled,
    sparse_halves,
    turned,
)
from discreet.audit.neighbours import BEYOND, sign_flip, zeros
from discreet.estimators.frank_wolfe import FrankWolfeLinearRegression, FrankWolfeLogisticRegression
from discreet.estimators.perturbed import PerturbedLogisticRegression
from discreet.estimators.search import PrivateSearch
from discreet.estimators.sparse import SparseLinearRegression, SparseLogisticRegression
from discreet.estimators.two_stage import TwoStageLinearRegression, TwoStageLogisticRegression
from discreet.lattice.bounds import Interval
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp

_REPLACE, _ADD_REMOVE = Replace(), AddRemove()


def _read(model: Any) -> Any:
    return np.append(np.ravel(model.coef_), np.ravel(model.intercept_))


def _estimator(budget: Any, *, kind: Any, linear: bool, sparse: bool = False, **options: Any) -> Setup:
    """Return the audit of an estimator through its own `fit`."""
    declared = {"budget": budget, "row_norm": NORM, "adjacency": _REPLACE, "fit_intercept": False} | options
    adjacency = declared["adjacency"]
    tables = turned(adjacency) if "n_blocks" in options else flipped(adjacency, 2)
    if linear:
        model = kind(y_bounds=Interval(*LIMITS), **declared)
    else:
        model, tables = kind(classes=(0, 1), **declared), labelled(tables)
    first, second = (MadeUpSparseTable(sparse_halves(table), table.y) for table in tables) if sparse else tables
    return Setup(of_fit(model, _read), first, second, budget)


def _search(budget: Any) -> Setup:
    model = SparseLinearRegression(
        budget=Zcdp(rho=1),
        sparsity=1,
        row_norm=NORM,
        y_bounds=Interval(*LIMITS),
        adjacency=_REPLACE,
        clip=CLIP,
        step_size=1.0,
        selection="all",
        fit_intercept=False,
    )
    search = PrivateSearch(model, {"n_steps": [1, 2]}, budget=budget, mean_runs=2)
    # Of nine records the last is among those that are fitted, not scored.
    tables = sign_flip(_REPLACE, zeros(2 * N_REST, 1), BEYOND * np.ones(1), FAR)

    def read(found: Any) -> Any:
        return np.append(_read(found.best_estimator_), [found.best_score_, found.best_params_["n_steps"]])

    return Setup(of_fit(search, read), *tables, budget)


_STEPS: dict[str, Any] = {"sparsity": 1, "n_steps": 2, "step_size": 1.0}
_APPROX = Approx(epsilon=2, delta="1/20")

DESCENT_MODELS = (
    Entry(
        name="SparseLinearRegression",
        make=partial(_estimator, kind=SparseLinearRegression, linear=True, clip=CLIP, selection="all", **_STEPS),
        budget=Gdp(mu=1),
        covers=("SparseLinearRegression",),
        n_runs=1500,
        tells="2.5",
    ),
    Entry(
        name="SparseLogisticRegression",
        make=partial(_estimator, kind=SparseLogisticRegression, linear=False, selection="all", **_STEPS),
        budget=Gdp(mu=1),
        covers=("SparseLogisticRegression",),
        n_runs=1200,
        tells="2.5",
    ),
    Entry(
        name="SparseLinearRegression, intercept, sparse rows, add-remove",
        make=partial(
            _estimator,
            kind=SparseLinearRegression,
            linear=True,
            sparse=True,
            clip=CLIP,
            selection="all",
            adjacency=_ADD_REMOVE,
            expected_rows=N_REST,
            fit_intercept=True,
            **_STEPS,
        ),
        budget=Gdp(mu=3),
        covers=("SparseLinearRegression",),
        n_runs=1500,
        tells=3,
    ),
    Entry(
        name="SparseLogisticRegression, intercept, sparse rows",
        make=partial(
            _estimator,
            kind=SparseLogisticRegression,
            linear=False,
            sparse=True,
            selection="all",
            fit_intercept=True,
            **_STEPS,
        ),
        budget=Gdp(mu=1),
        covers=("SparseLogisticRegression",),
        n_runs=1200,
        tells=3,
    ),
    Entry(
        name="FrankWolfeLinearRegression",
        make=partial(_estimator, kind=FrankWolfeLinearRegression, linear=True, radius=1.0, n_steps=2),
        budget=Pure(epsilon=2),
        covers=("FrankWolfeLinearRegression",),
        n_runs=1000,
        tells=10,
    ),
    Entry(
        name="FrankWolfeLogisticRegression",
        make=partial(_estimator, kind=FrankWolfeLogisticRegression, linear=False, radius=1.0, n_steps=2),
        budget=Zcdp(rho=1),
        covers=("FrankWolfeLogisticRegression",),
        n_runs=1000,
        tells=6,
    ),
    Entry(
        name="TwoStageLinearRegression",
        make=partial(_estimator, kind=TwoStageLinearRegression, linear=True, sparsity=1, n_blocks=1),
        budget=_APPROX,
        covers=("TwoStageLinearRegression",),
        n_runs=1000,
        tells=10,
    ),
    Entry(
        name="TwoStageLogisticRegression",
        make=partial(_estimator, kind=TwoStageLogisticRegression, linear=False, sparsity=1, n_blocks=1),
        budget=_APPROX,
        covers=("TwoStageLogisticRegression",),
        n_runs=1000,
        tells=10,
    ),
    Entry(
        name="PerturbedLogisticRegression",
        make=partial(_estimator, kind=PerturbedLogisticRegression, linear=False),
        budget=Pure(epsilon=2),
        covers=("PerturbedLogisticRegression",),
        n_runs=1000,
        tells=10,
    ),
    Entry(name="PrivateSearch", make=_search, budget=_APPROX, covers=("PrivateSearch",), n_runs=520, tells=16),
)
