"""Write the files that later versions must read: `python tests/golden/regenerate.py`, on purpose.

They go into a folder of this version. A folder that is there already is left alone but with `--again`: files that were
once given to people are not written anew to please a test.
"""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import discreet as dp
from discreet.estimators.base import Model
from discreet.estimators.pca import PrivatePCA
from discreet.functional.logit import LogisticObjective
from discreet.privacy.ledger import Ledger
from discreet.sampling import draw_files
from discreet.sampling.quantiles.quantile_release import quantile

HERE = Path(__file__).parent
NUMBERS = "numbers.json"
# Made with the test seed, and labelled so; the ledgers have the system's coins.
SEED = 11


def frame() -> pd.DataFrame:
    """Return made-up rows."""
    rng = np.random.default_rng(SEED)
    n = 4000
    table = pd.DataFrame(
        {
            "person": rng.integers(0, 900, n),
            "age": rng.integers(17, 91, n).astype(float),
            "hired": pd.to_datetime("2000-01-01") + pd.to_timedelta(rng.integers(0, 8000, n), "D"),
            "smoker": rng.integers(0, 2, n),
            "region": rng.choice(["north", "süd", '"west"'], n),
        }
    )
    table["wage"] = (5 + 0.4 * table["age"] + 3 * table["smoker"] + rng.normal(scale=4, size=n)).clip(0, 60)
    table["rich"] = np.where(table["wage"] + rng.normal(size=n) > 28, "yes", "no")
    return table


def schema(**changes: Any) -> dp.Schema:
    """Return declarations of every kind."""
    columns = {
        "wage": dp.Number(0, 60, missing="drop", description="a thousand a year"),
        "age": dp.Number(17, 90, missing=40),
        "hired": dp.Date("2000-01-01", "2023-12-31"),
        "smoker": dp.Flag(labels={"ja": 1, "nein": 0}),
        "region": dp.Category(["north", "süd", '"west"'], labels={"N": "north"}),
        "rich": dp.Category(["no", "yes"]),
    }
    return dp.Schema(columns, **({"adjacency": dp.AddRemove()} | changes))


def coins(budget: Any, adjacency: Any, composition: str = "auto") -> dp.Ledger:
    """Return a ledger for one release with the test seed."""
    return dp.Ledger(total=budget, adjacency=adjacency, coins=dp.privacy.Coins.from_seed(SEED), composition=composition)


def _moments() -> dict[str, str]:
    table, files = frame(), {}
    declared = {
        "add-remove": (schema(), "wage + age * smoker + C(region) + hired + rich"),
        "replace": (schema(adjacency=dp.Replace()), "wage + age + I(age**2) + C(region)"),
        "persons": (schema(adjacency=dp.Replace(), unit="person", rows_per_unit=3), "wage + age + smoker"),
    }
    budgets = {"wishart": dp.Pure(epsilon=9), "laplace": dp.Pure(epsilon="1/2"), "l_inf": dp.Pure(epsilon=3)}
    budgets["gaussian"] = dp.Zcdp(rho="0.3")
    for name, (facts, terms) in declared.items():
        for mechanism, budget in budgets.items():
            moments = dp.release_moments(
                table, facts, terms=terms, budget=budget, ledger=coins(budget, facts.adjacency), mechanism=mechanism
            )
            files[f"moments-{name}-{mechanism}"] = moments.dumps()
            files[f"regression-{name}-{mechanism}"] = moments.regress("wage ~ age").dumps()
    budget = dp.Approx(epsilon=4, delta="1e-6")
    moments = dp.release_moments(table, schema(), budget=budget, ledger=coins(budget, dp.AddRemove(), "sum"))
    files["moments-approx"] = moments.dumps()
    files["regression-ridge"] = moments.regress("wage ~ age + smoker", penalty=0.5).dumps()
    files["regression-no-intercept"] = moments.regress("wage ~ age + C(region) - 1").dumps()
    for radius in (None, 3.0):
        how = "taylor" if radius is None else "minimax"
        objective = LogisticObjective(approximation=how, radius=radius)
        files[f"regression-logistic-{how}"] = objective.regress(moments, "rich ~ age + smoker").dumps()
    for mechanism in ("paper", "paper_code"):
        facts, budget = schema(adjacency=dp.Replace()), dp.Pure(epsilon=2000)
        moments = dp.release_moments(
            table, facts, terms="age + wage", budget=budget, ledger=coins(budget, dp.Replace()), mechanism=mechanism
        )
        files[f"moments-{mechanism}"] = moments.dumps()
    return files


def _sparse() -> dict[str, str]:
    rng = np.random.default_rng(SEED)
    X = np.where(rng.random((900, 12)) < 0.4, rng.normal(size=(900, 12)), 0.0)
    y = np.clip(X[:, 0] - 2 * X[:, 3], -4, 4)
    labels = (y > 0).astype(int)
    named = pd.DataFrame(X, columns=[f"gene {j}" for j in range(12)])
    approx, common = dp.Approx(epsilon=8, delta="1e-6"), {"row_norm": 2, "adjacency": dp.Replace()}
    removed = {"row_norm": 2, "adjacency": dp.AddRemove(), "expected_rows": 900}
    numbers = {"y_bounds": dp.Interval(-4, 4)}
    models = {
        "linear": (dp.SparseLinearRegression(budget=dp.Zcdp(rho=9), sparsity=2, **common, **numbers), named, y),
        "linear-coordinate": (
            dp.SparseLinearRegression(
                budget=approx, sparsity=2, selection="coordinate", n_steps=2, **removed, **numbers
            ),
            X,
            y,
        ),
        "linear-peel": (
            dp.SparseLinearRegression(budget=approx, sparsity=2, selection="peel", n_steps=2, **common, **numbers),
            X,
            y,
        ),
        "logistic": (dp.SparseLogisticRegression(budget=dp.Gdp(mu=4), sparsity=3, classes=(0, 1), **common), X, labels),
        "logistic-classes": (
            dp.SparseLogisticRegression(budget=approx, sparsity=2, classes=("a", "b", "c"), **removed),
            X,
            np.array(["a", "b", "c"])[labels + (y > 2)],
        ),
        "frank-wolfe": (dp.FrankWolfeLinearRegression(budget=approx, radius=3, n_steps=9, **common, **numbers), X, y),
        "frank-wolfe-logistic": (
            dp.FrankWolfeLogisticRegression(budget=approx, radius=3, n_steps=9, classes=(0, 1), **common),
            X,
            labels,
        ),
        "two-stage": (dp.TwoStageLinearRegression(budget=approx, sparsity=2, **common, **numbers), X, y),
        "two-stage-logistic": (
            dp.TwoStageLogisticRegression(budget=approx, sparsity=2, classes=(0, 1), **common),
            X,
            labels,
        ),
        "objective-perturbation": (
            dp.PerturbedLogisticRegression(budget=dp.Pure(epsilon=9), classes=(0, 1), **common),
            X,
            labels,
        ),
        "output-perturbation": (
            dp.PerturbedLogisticRegression(budget=dp.Pure(epsilon=9), method="output", classes=(0, 1), **common),
            X,
            labels,
        ),
    }
    files = {}
    for name, (model, rows, target) in models.items():
        composition = "sum" if isinstance(model.budget, dp.Approx) else "auto"
        model.fit(rows, target, ledger=coins(model.budget, model.adjacency, composition))
        files[f"sparse-{name}"] = model.dumps()
    return files


def _draws() -> dict[str, str]:
    table, budget = frame(), dp.Pure(epsilon=1)
    facts = schema(adjacency=dp.Replace())
    asked = [Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)]
    payer = coins(budget, dp.Replace())
    released = quantile(table, asked, budget=budget, adjacency=dp.Replace(), ledger=payer, schema=facts, column="age")
    model = PrivatePCA(budget=budget, adjacency=dp.Replace(), n_components=2, schema=facts, scale_to_bounds=True)
    model.fit(table[["wage", "age", "smoker"]], ledger=coins(budget, dp.Replace()))
    return {
        "draw-quantiles": draw_files.dumps_quantiles(released, "age", asked),
        "draw-components": model.dumps(),
    }


def _front() -> dict[str, str]:
    table = frame()
    rng = np.random.default_rng(SEED)
    X = rng.uniform(-1, 1, size=(900, 4))
    labels = np.where(X @ [2.0, -1.0, 0.0, 0.0] + rng.logistic(scale=0.3, size=900) > 0, "yes", "no")
    counts = rng.poisson(np.exp(1 + X @ [0.5, -0.5, 0.0, 0.0]))
    bounded = {"x_bounds": dp.Box(lower=-1, upper=1), "adjacency": dp.Replace()}
    removed = {"row_norm": 2, "adjacency": dp.AddRemove(), "expected_rows": 900, "method": "threshold", "sparsity": 2}
    models = {
        "linear-moments": (
            dp.LinearRegression(
                budget=dp.Gdp(mu=2), schema=schema(), adjacency=dp.AddRemove(), expected_rows=4000, method="moments"
            ),
            table[["age", "smoker", "region"]],
            table["wage"],
        ),
        "logistic-perturbation": (
            dp.LogisticRegression(budget=dp.Pure(epsilon=9), classes=("no", "yes"), method="perturbation", **bounded),
            X,
            labels,
        ),
        "logistic-sample": (
            dp.LogisticRegression(budget=dp.Pure(epsilon=9), classes=("no", "yes"), method="sample", **bounded),
            X,
            labels,
        ),
        "logistic-threshold": (dp.LogisticRegression(budget=dp.Gdp(mu=4), classes=("no", "yes"), **removed), X, labels),
        "poisson-descent": (
            dp.PoissonRegression(budget=dp.Gdp(mu=4), y_bounds=dp.Interval(0, 20), method="descent", **bounded),
            X,
            counts,
        ),
    }
    return {
        f"model-{name}": model.fit(rows, target, ledger=coins(model.budget, model.adjacency)).dumps()
        for name, (model, rows, target) in models.items()
    }


def _ledgers(folder: Path, files: dict[str, str]) -> None:
    """Write ledgers of every currency, charged with the events of the files."""
    from discreet.privacy.events.event import event_from_json

    totals = {
        "pure": (dp.Pure(epsilon=10**5), "auto"),
        "zcdp": (dp.Zcdp(rho=10**9), "auto"),
        "gdp": (dp.Gdp(mu=10**5), "auto"),
        "approx": (dp.Approx(epsilon=10**4, delta="1e-3"), "gdp"),
        "approx-either": (dp.Approx(epsilon=10**4, delta="1e-3"), "auto"),
        "approx-sum": (dp.Approx(epsilon=10**4, delta="1e-3"), "sum"),
    }
    neighbours = {"replace": dp.Replace(), "add-remove": dp.AddRemove(), "persons": dp.Replace("person")}
    kept = [(word, name) for word in neighbours for name in totals if word == "replace" or name == "gdp"]
    events = [_search(), _draw(), *(event_from_json(json.loads(text)["event"]) for text in files.values())]
    for word, name in kept:
        total, composition = totals[name]
        ledger = Ledger.open(folder / f"{name}-{word}.ledger", total, neighbours[word], composition)
        for event in events:
            if event.adjacency == ledger.adjacency:
                with suppress(dp.errors.NoSoundConversion):  # of another currency
                    ledger.charge(event)
    tenths(folder / "tenths-replace.ledger")
    even_search(folder / "search-replace.ledger")


def even_search(path: Path) -> None:
    """Write a ledger of one search that ran every candidate equally often."""
    Ledger.open(path, dp.Approx(epsilon=10, delta="1e-5"), dp.Replace(), "sum").charge(_search())


def tenths(path: Path) -> None:
    """Write a ledger of pure releases alone, which Gdp would not have granted."""
    from discreet.privacy.events.noise import LaplaceEvent

    ledger = Ledger.open(path, dp.Approx(epsilon=1, delta="1e-6"), dp.Replace())
    for number in range(8):
        ledger.charge(
            LaplaceEvent(
                sensitivity=1,
                scale=10,
                adjacency=dp.Replace(),
                budget=dp.Pure(epsilon="1/10"),
                statistic=f"count {number}",
                shape=(),
            )
        )


def _search() -> Any:
    """Return the event of a search, which has no file of its own."""
    rng = np.random.default_rng(SEED)
    X = rng.uniform(-1, 1, size=(600, 3))
    model = dp.SparseLogisticRegression(
        budget=dp.Zcdp(rho=1), sparsity=1, row_norm=2, adjacency=dp.Replace(), classes=(0, 1)
    )
    budget = dp.Approx(epsilon=4, delta="1e-6")
    search = dp.PrivateSearch(model, {"n_steps": [2, 6]}, budget=budget, mean_runs=2)
    search.fit(X, (X[:, 0] > 0).astype(int), ledger=coins(budget, dp.Replace(), "sum"))
    return search.release_.event


def _draw() -> Any:
    """Return the event of a draw by rejection, which has no file of its own."""
    target = dp.sampling.Lipschitz(
        utility=lambda points, rows: -np.abs(points - rows.T).mean(axis=1),
        slopes=1,
        bounds=dp.Interval(0, 1),
        change=0.1,
        example=np.zeros((5, 1)),
    )
    budget = dp.Pure(epsilon=1)
    rows = np.full((10, 1), 0.25)
    payer = coins(budget, dp.Replace())
    return dp.sampling.sample(target, rows, budget=budget, adjacency=dp.Replace(), ledger=payer).event


def numbers_of(path: Path) -> dict[str, Any]:
    """Return what a file says, as its own class reads it; every number that a person would see."""
    if path.suffix == ".ledger":
        return Ledger.open(path).to_json()
    kind = json.loads(path.read_text(encoding="utf-8"))["kind"]
    return {"kind": kind, **_READ[kind](path)}


def _of_release(released: Any) -> dict[str, Any]:
    event = released.event
    curve = event.budget.tradeoff()
    return {
        "event": event.to_json(),
        "price": repr(event.price),
        "cost": repr(released.cost),
        "adjacency": repr(released.adjacency),
        "label": released.label,
        "notes": list(released.notes),
        "power": float(curve.power(0.05)),
    }


def _of_moments(path: Path) -> dict[str, Any]:
    moments = dp.Moments.load(path)
    return {
        "names": list(moments.names),
        "gram": moments.gram().tolist(),
        "noise": moments.entry_variances().tolist(),
        "params": moments.regress("wage ~ age").params,
        "schema": moments.design.schema.to_json() if moments.design is not None else None,
        **_of_release(moments.release),
    }


def _of_regression(path: Path) -> dict[str, Any]:
    result = dp.RegressionResult.load(path)
    return {
        "formula": result.formula,
        "params": result.params,
        "bse": _plain(result.bse),
        "pvalues": _plain(result.pvalues),
        "conf_int": _plain(result.conf_int()),
        "noise_dominated": result.noise_dominated,
        "remarks": result.summary().remarks,
        "price": repr(result.event.price),
    }


def _plain(numbers: dict[str, Any]) -> dict[str, Any]:
    return {name: np.nan_to_num(np.array(value), nan=-1.0).tolist() for name, value in numbers.items()}


def _of_sparse(path: Path) -> dict[str, Any]:
    model = Model.load(path)
    rows = np.random.default_rng(SEED).normal(size=(5, model.n_features_in_))
    names = getattr(model, "feature_names_in_", None)
    rows = rows if names is None else pd.DataFrame(rows, columns=names)
    return {
        "coef": model.coef_.tolist(),
        "intercept": np.asarray(model.intercept_).tolist(),
        "names": None if names is None else list(names),
        "predictions": model.predict(rows).tolist(),
        **_of_release(model.release_),
    }


def _of_quantiles(path: Path) -> dict[str, Any]:
    released = draw_files.read(path)
    assert isinstance(released, dp.Release)
    return {"values": np.atleast_1d(released.value).tolist(), **_of_release(released)}


def _of_components(path: Path) -> dict[str, Any]:
    model = PrivatePCA.load(path)
    rows = np.random.default_rng(SEED).uniform(0, 20, size=(3, 3))
    names = getattr(model, "feature_names_in_", None)
    rows = rows if names is None else pd.DataFrame(rows, columns=names)
    return {
        "components": model.components_.tolist(),
        "scores": np.asarray(model.transform(rows)).tolist(),
        **_of_release(model.release_),
    }


def _of_front(path: Path) -> dict[str, Any]:
    model = Model.load(path)
    result = model.result()
    rng = np.random.default_rng(SEED)
    rows = rng.uniform(-1, 1, size=(5, model.n_features_in_)) if model.design_ is None else frame()[:5]
    return {
        "estimator": type(model).__name__,
        "method": model.method_,
        "reason": model.reason_,
        "settings": model.settings_,
        "names": list(model.coef_names_),
        "coef": model.coef_.tolist(),
        "intercept": np.asarray(model.intercept_).tolist(),
        "noise_dominated": model.noise_dominated_,
        "bse": _plain(result.bse),
        "pvalues": _plain(result.pvalues),
        "conf_int": _plain(result.conf_int()),
        "remarks": result.remarks,
        "predictions": model.predict(rows).tolist(),
        **_of_release(model.release_),
    }


_READ = {
    "model": _of_front,
    "moments": _of_moments,
    "regression": _of_regression,
    "sparse-model": _of_sparse,
    "quantiles": _of_quantiles,
    "components": _of_components,
}


def main(arguments: list[str]) -> None:
    """Write the folder of this version."""
    folder = HERE / dp.__version__
    if folder.exists() and arguments != ["--again"]:
        raise SystemExit(f"{folder} is there. Its files were written by that version; add --again to replace them.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    files = {**_moments(), **_sparse(), **_draws(), **_front()}
    for name, text in files.items():
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    _ledgers(folder, files)
    write_numbers(folder)


def write_numbers(folder: Path) -> None:
    """Write what the files of a folder say."""
    numbers = {path.name: numbers_of(path) for path in sorted(folder.iterdir())}
    lines = [f"{json.dumps(name)}: {json.dumps(said, ensure_ascii=False)}" for name, said in numbers.items()]
    (folder / NUMBERS).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
