"""One list of all public estimators, each with declarations of a small table, for tests of what holds for every one.

`TABLE` has 60 rows of three columns a, b, c within [0, 1], a number, a label and a count of each.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import discreet as dp

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS = ("a", "b", "c")
N_ROWS = 60
BOX = {"x_bounds": dp.Box(lower=0, upper=1)}
NORM = {"row_norm": 2.0}
Y = {"y_bounds": dp.Interval(0, 1)}
LABELS = {"classes": (0, 1)}
SCHEMA = dp.Schema(
    {**dict.fromkeys((*COLUMNS, "number"), dp.Number(0, 1)), "count": dp.Number(0, 9), "label": dp.Flag()}
)


@dataclass(frozen=True)
class Case:
    """An estimator with what it can be given.

    Parameters
    ----------
    name : str
        Of the class, and how its rows are bounded.
    make : callable
        Returns the estimator; keyword arguments go before its declarations.
    target : {"number", "label", "count", "none"}
        What its y is; "none" where it has none.
    sparse : bool
        Whether X may be sparse.
    schema : bool
        Whether X is a frame under a schema, and nothing else.
    add_remove : bool
        Whether `make(**ADD_REMOVE)` is an estimator under AddRemove.
    weights : bool
        Whether `fit` takes `sample_weight`, up to 1.
    """

    name: str
    make: Callable[..., Any]
    target: str
    sparse: bool = False
    schema: bool = False
    add_remove: bool = False
    weights: bool = False

    @property
    def y(self) -> Any:
        """The targets of the table, or None."""
        return None if self.target == "none" else TARGETS[self.target].copy()

    def add_removed(self) -> Any:
        """Return the estimator under AddRemove."""
        given = self.make().get_params()
        expected = {"expected_rows": N_ROWS} if "expected_rows" in given else {}
        if "estimator" in given:
            inner = given["estimator"].set_params(adjacency=dp.AddRemove(), expected_rows=N_ROWS)
            return self.make(estimator=inner)
        return self.make(adjacency=dp.AddRemove(), **expected)

    def fit(self, X: Any, y: Any = None, *, model: Any = None, **options: Any) -> Any:
        """Return the estimator, fitted; that noise hides a small table is no matter."""
        fresh = self.make() if model is None else model
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dp.NoiseDominatedWarning)
            return fresh.fit(X, **options) if self.target == "none" else fresh.fit(X, y, **options)

    def answers(self) -> list[str]:
        """Return the names of the methods that take new rows."""
        names = ("predict", "predict_proba", "decision_function", "transform")
        return [name for name in names if hasattr(self.make(), name)]


def _table() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(7)
    X = np.round(rng.random((N_ROWS, 3)), 3)
    X[rng.random(X.shape) < 0.3] = 0.0
    number = np.round(0.2 + 0.5 * X[:, 0] + 0.2 * X[:, 1], 3)
    return X, {"number": number, "label": (number > np.median(number)).astype(int), "count": np.floor(9 * number)}


TABLE, TARGETS = _table()


def _of(kind: Any, **declared: Any) -> Callable[..., Any]:
    return lambda **changes: kind(**(declared | changes))


def _search(**changes: Any) -> Any:
    model = dp.SparseLinearRegression(budget=dp.Zcdp(rho=1), sparsity=2, n_steps=2, adjacency=dp.Replace(), **NORM, **Y)
    declared = {"estimator": model, "candidates": {"n_steps": [1, 2]}, "budget": dp.Approx(epsilon=4, delta="1e-6")}
    return dp.PrivateSearch(**(declared | {"mean_runs": 2} | changes))


GDP = {"budget": dp.Gdp(mu=1), "adjacency": dp.Replace()}
ZCDP = {"budget": dp.Zcdp(rho=1), "adjacency": dp.Replace()}
PURE = {"budget": dp.Pure(epsilon=1), "adjacency": dp.Replace()}
APPROX = {"budget": dp.Approx(epsilon=2, delta="1e-6"), "adjacency": dp.Replace()}
WEIGHED = {"max_sample_weight": 1}
CASES = [
    Case(
        "FunctionalLinearRegression", _of(dp.FunctionalLinearRegression, **GDP, **BOX, **Y), "number", add_remove=True
    ),
    Case(
        "FunctionalLogisticRegression",
        _of(dp.FunctionalLogisticRegression, **GDP, **BOX, **LABELS),
        "label",
        add_remove=True,
    ),
    Case(
        "LinearRegression",
        _of(dp.LinearRegression, **GDP, **BOX, **Y, **WEIGHED),
        "number",
        add_remove=True,
        weights=True,
    ),
    Case(
        "LogisticRegression",
        _of(dp.LogisticRegression, **GDP, **BOX, **LABELS, **WEIGHED),
        "label",
        add_remove=True,
        weights=True,
    ),
    Case(
        "PoissonRegression",
        _of(dp.PoissonRegression, **GDP, **BOX, **WEIGHED, y_bounds=dp.Interval(0, 9)),
        "count",
        add_remove=True,
        weights=True,
    ),
    Case(
        "LinearRegression, norm", _of(dp.LinearRegression, **ZCDP, **NORM, **Y), "number", sparse=True, add_remove=True
    ),
    Case(
        "LogisticRegression, norm",
        _of(dp.LogisticRegression, **ZCDP, **NORM, **LABELS),
        "label",
        sparse=True,
        add_remove=True,
    ),
    Case(
        "SparseLinearRegression",
        _of(dp.SparseLinearRegression, **ZCDP, **NORM, **Y, sparsity=2, n_steps=3),
        "number",
        sparse=True,
        add_remove=True,
    ),
    Case(
        "SparseLogisticRegression",
        _of(dp.SparseLogisticRegression, **ZCDP, **NORM, **LABELS, sparsity=2, n_steps=3),
        "label",
        sparse=True,
        add_remove=True,
    ),
    Case(
        "FrankWolfeLinearRegression",
        _of(dp.FrankWolfeLinearRegression, **ZCDP, **NORM, **Y, radius=2.0, n_steps=3),
        "number",
        sparse=True,
        add_remove=True,
    ),
    Case(
        "FrankWolfeLogisticRegression",
        _of(dp.FrankWolfeLogisticRegression, **ZCDP, **NORM, **LABELS, radius=2.0, n_steps=3),
        "label",
        sparse=True,
        add_remove=True,
    ),
    Case(
        "TwoStageLinearRegression",
        _of(dp.TwoStageLinearRegression, **APPROX, **NORM, **Y, sparsity=1),
        "number",
        sparse=True,
        add_remove=True,
    ),
    Case(
        "TwoStageLogisticRegression",
        _of(dp.TwoStageLogisticRegression, **APPROX, **NORM, **LABELS, sparsity=1),
        "label",
        sparse=True,
        add_remove=True,
    ),
    Case(
        "PerturbedLogisticRegression",
        _of(dp.PerturbedLogisticRegression, **PURE, **NORM, **LABELS),
        "label",
        sparse=True,
        add_remove=True,
    ),
    Case("PrivateSearch", _search, "number", sparse=True, add_remove=True),
    Case("KNormGradientLinearRegression", _of(dp.KNormGradientLinearRegression, **PURE, **BOX, **Y), "number"),
    Case("KNormGradientLinearRegression, norm", _of(dp.KNormGradientLinearRegression, **PURE, **NORM, **Y), "number"),
    Case("KNormGradientLogisticRegression", _of(dp.KNormGradientLogisticRegression, **PURE, **BOX, **LABELS), "label"),
    Case(
        "KNormGradientLogisticRegression, norm",
        _of(dp.KNormGradientLogisticRegression, **PURE, **NORM, **LABELS),
        "label",
    ),
    Case(
        "KNormGradientQuantileRegression",
        _of(dp.KNormGradientQuantileRegression, **PURE, **BOX, **Y, fit_intercept=False, grid_points=5),
        "number",
    ),
    Case("PrivatePCA", _of(dp.PrivatePCA, **PURE, **NORM), "none", add_remove=True),
    Case("PrivatePCA, box", _of(dp.PrivatePCA, **PURE, **BOX), "none", add_remove=True),
    Case("BoundsScaler", _of(dp.BoundsScaler, **BOX), "none"),
]
# The same classes on a frame under a schema.
FRAMED = [
    Case(
        "FunctionalLinearRegression, schema",
        _of(dp.FunctionalLinearRegression, **GDP, schema=SCHEMA),
        "number",
        schema=True,
        add_remove=True,
    ),
    Case(
        "FunctionalLogisticRegression, schema",
        _of(dp.FunctionalLogisticRegression, **GDP, schema=SCHEMA),
        "label",
        schema=True,
        add_remove=True,
    ),
    Case(
        "LinearRegression, schema",
        _of(dp.LinearRegression, **GDP, schema=SCHEMA, **WEIGHED),
        "number",
        schema=True,
        add_remove=True,
        weights=True,
    ),
    Case(
        "LogisticRegression, schema",
        _of(dp.LogisticRegression, **GDP, schema=SCHEMA, **WEIGHED),
        "label",
        schema=True,
        add_remove=True,
        weights=True,
    ),
    Case(
        "PoissonRegression, schema",
        _of(dp.PoissonRegression, **GDP, schema=SCHEMA, **WEIGHED),
        "count",
        schema=True,
        add_remove=True,
        weights=True,
    ),
    Case(
        "KNormGradientLinearRegression, schema",
        _of(dp.KNormGradientLinearRegression, **PURE, schema=SCHEMA),
        "number",
        schema=True,
    ),
    Case(
        "KNormGradientLogisticRegression, schema",
        _of(dp.KNormGradientLogisticRegression, **PURE, schema=SCHEMA),
        "label",
        schema=True,
    ),
    Case(
        "KNormGradientQuantileRegression, schema",
        _of(dp.KNormGradientQuantileRegression, **PURE, schema=SCHEMA, fit_intercept=False, grid_points=5),
        "number",
        schema=True,
    ),
    Case("PrivatePCA, schema", _of(dp.PrivatePCA, **PURE, schema=SCHEMA), "none", schema=True, add_remove=True),
]
PAIRED = [case for case in CASES if case.target != "none"]
FRAMES_PAIRED = [case for case in FRAMED if case.target != "none"]
SPARSE = [case for case in CASES if case.sparse]
NUMERIC = [case for case in PAIRED if case.target != "label"]


def name_of(case: Case) -> str:
    """Return how pytest calls a case."""
    return case.name
