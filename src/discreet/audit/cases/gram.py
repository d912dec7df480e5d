"""Audits of the functional mechanism: its Gram releases and its estimators."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.cases.case import Entry, Setup, of_fit, of_plan, payer
from discreet.audit.neighbours import BEYOND, MadeUpTable, opposed_rows, sign_flip, zero_against_full, zeros
from discreet.estimators.functional import FunctionalLinearRegression, FunctionalLogisticRegression
from discreet.functional.gram import plan_gram
from discreet.functional.moments import release_moments
from discreet.lattice.bounds import Box, Interval
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.tables.array_rows import ArrayRows, array_layout
from discreet.tables.schema.columns import Number
from discreet.tables.schema.schema import Schema

if TYPE_CHECKING:
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.coins import Coins

_UNIT = Interval(-1, 1)


def _rows(adjacency: Adjacency, how: str, n_rows: int, n_columns: int = 1) -> tuple[MadeUpTable, MadeUpTable]:
    """Return tables that differ in a row beyond a corner of the box [-1, 1], where it is clipped to."""
    rest, corner = zeros(n_rows, n_columns), BEYOND * np.ones(n_columns)
    if how == "zero":
        return zero_against_full(adjacency, rest, corner, BEYOND)
    if how == "flip":
        return sign_flip(adjacency, rest, corner, (-BEYOND, BEYOND))
    return opposed_rows(adjacency, rest, corner, BEYOND)


def _gram(
    budget: Any,
    *,
    mechanism: str = "auto",
    adjacency: Adjacency = Replace(),  # noqa: B008  (a constant)
    how: str = "flip",
    intercept: bool = False,
    loss: str = "squared",
) -> Setup:
    layout = array_layout(("a",), Box(lower=-1, upper=1), _UNIT, intercept=intercept)
    public = adjacency.size_is_public
    plan = plan_gram(
        layout,
        budget=budget,
        adjacency=adjacency,
        mechanism=mechanism,
        size_is_public=public,
        statistic="Gram matrix of made-up rows",
        loss=loss,
    )
    upper = np.triu_indices(layout.width)
    first, second = (ArrayRows(table.X, table.y, ("a",)) for table in _rows(adjacency, how, 3))
    # The paper's modes cost less than they promise; audited is what they cost.
    price = plan.event.price if mechanism.startswith("paper") else budget
    return Setup(of_plan(plan, lambda noisy: noisy.entries[upper]), first, second, price)


@dataclass(frozen=True, eq=False)
class _Declared:
    """Two columns of a schema, as a frame."""

    frame: Any


def _moments(budget: Any) -> Setup:
    import pyarrow as pa

    schema = Schema({"a": Number(-1, 1), "b": Number(-1, 1)}, adjacency=Replace())

    def mechanism(data: _Declared, coins: Coins, n_runs: int) -> Any:
        found = []
        for _ in range(n_runs):
            ledger = payer(coins, budget, Replace())
            noisy = release_moments(data.frame, schema, terms="a + b", budget=budget, ledger=ledger).release.value
            found.append(noisy.entries[np.triu_indices(3)])
        return np.array(found)

    first, second = (_Declared(pa.table({"a": t.X[:, 0], "b": t.y})) for t in _rows(Replace(), "flip", 3))
    return Setup(mechanism, first, second, budget)


def _read_linear(model: Any) -> Any:
    """Return all that a fit shows: parameters, and the release they come from."""
    entries = model.release_.value.entries
    return np.concatenate([np.ravel(model.coef_), np.ravel(model.intercept_), entries[np.triu_indices_from(entries)]])


def _linear(budget: Any) -> Setup:
    model = FunctionalLinearRegression(
        budget=budget, x_bounds=Box(lower=-1, upper=1), y_bounds=_UNIT, adjacency=AddRemove(), fit_intercept=False
    )
    return Setup(of_fit(model, _read_linear), *_rows(AddRemove(), "zero", 5, 2), budget)


def _logistic(budget: Any) -> Setup:
    model = FunctionalLogisticRegression(
        budget=budget, x_bounds=Box(lower=-1, upper=1), adjacency=Replace(), classes=(0, 1), fit_intercept=False
    )
    first, second = (MadeUpTable(table.X, (table.y > 0).astype(float)) for table in _rows(Replace(), "flip", 5, 1))
    return Setup(of_fit(model, _read_linear), first, second, budget)


GRAM = (
    Entry(
        name="Gram, Wishart, replace",
        make=partial(_gram, mechanism="wishart"),
        budget=Pure(epsilon=2),
        n_runs=6000,
        tells="2.5",
    ),
    Entry(
        name="Gram, Wishart, add-remove",
        make=partial(_gram, mechanism="wishart", adjacency=AddRemove(), how="zero", intercept=True),
        budget=Pure(epsilon=2),
        n_runs=6000,
        tells=2,
    ),
    Entry(
        name="Gram, Laplace, replace",
        make=partial(_gram, mechanism="laplace", how="zero"),
        budget=Pure(epsilon=2),
        n_runs=6000,
    ),
    Entry(
        name="Gram, Laplace, add-remove",
        make=partial(_gram, mechanism="laplace", adjacency=AddRemove()),
        budget=Pure(epsilon=2),
        n_runs=6000,
    ),
    Entry(
        name="Gram, l-infinity, replace",
        make=partial(_gram, mechanism="l_inf", how="zero"),
        budget=Pure(epsilon=2),
        n_runs=6000,
        tells="1.8",
    ),
    Entry(
        name="Gram, l-infinity, add-remove",
        make=partial(_gram, mechanism="l_inf", adjacency=AddRemove()),
        budget=Pure(epsilon=2),
        n_runs=4000,
        tells="1.8",
    ),
    Entry(
        name="Gram, Gaussian, replace",
        make=partial(_gram, mechanism="gaussian", how="opposed"),
        budget=Gdp(mu=1),
        n_runs=2000,
    ),
    Entry(
        name="Gram, Gaussian, add-remove",
        make=partial(_gram, mechanism="gaussian", adjacency=AddRemove(), intercept=True),
        budget=Approx(epsilon=1, delta="1/10"),
        n_runs=6000,
        tells=3,
    ),
    Entry(
        name="Gram, paper",
        make=partial(_gram, mechanism="paper", how="zero"),
        budget=Pure(epsilon=3),
        n_runs=3000,
        tells=3,
    ),
    Entry(
        name="Gram, paper's program",
        make=partial(_gram, mechanism="paper_code", how="zero"),
        budget=Pure(epsilon=3),
        n_runs=3000,
        tells=3,
    ),
    Entry(
        name="Gram, paper, logistic",
        make=partial(_gram, mechanism="paper", loss="logistic", how="zero"),
        budget=Pure(epsilon=4),
        n_runs=3000,
        tells=3,
    ),
    Entry(
        name="moments of a table", make=_moments, budget=Zcdp(rho=1), covers=("release_moments",), n_runs=1000, tells=3
    ),
    Entry(
        name="FunctionalLinearRegression",
        make=_linear,
        budget=Pure(epsilon=2),
        covers=("FunctionalLinearRegression",),
        n_runs=2000,
        tells="3.5",
    ),
    Entry(
        name="FunctionalLogisticRegression",
        make=_logistic,
        budget=Gdp(mu=1),
        covers=("FunctionalLogisticRegression",),
        n_runs=1200,
        tells="2.5",
    ),
)
