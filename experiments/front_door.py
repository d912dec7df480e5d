"""The front door's rule of choice beside every single method, on real tables.

    DISCREET_DATA=data python experiments/front_door.py > experiments/results/front-door.md

A cell is a table, a currency and an epsilon. Each method fits the same subsamples, and its excess risk on them, over
the fit without privacy, is computed from their sums: exact down to rounding, so that no test set's noise is in it.
`auto` is the method that the rule names from public facts. A Zcdp budget has rho = epsilon**2 / 8, a Gdp one
mu = epsilon. Noise comes from seeds: these are measurements, no releases.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import pandas as pd

import discreet as dp
from discreet.estimators.front_door import LinearRegression, LogisticRegression, PoissonRegression
from discreet.estimators.methods import choice

if TYPE_CHECKING:
    from collections.abc import Callable

EPSILONS = ("0.1", "0.4", "0.8", "3.2")
CURRENCIES = ("Pure", "Approx", "Zcdp", "Gdp")
DELTA = "1e-6"
ESTIMATORS = {"squared": LinearRegression, "logistic": LogisticRegression, "poisson": PoissonRegression}
FOLDER = Path(os.environ.get("DISCREET_DATA", "data"))
# What auto may lose to the best single method: a factor, or this.
FACTOR, SLACK = 1.2, 5e-5


@dataclass(frozen=True)
class Case:
    """A table, how many rows of it are drawn, and its public bounds."""

    name: str
    loss: str
    n_rows: int
    X: Any
    y: Any
    lower: Any
    upper: Any
    one_hot: tuple[slice, ...]
    bounds: tuple[float, float]


class Columns:
    """Collects columns with their bounds."""

    def __init__(self) -> None:
        self.columns: list[Any] = []
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.blocks: list[slice] = []

    def number(self, values: Any, low: float, high: float) -> Columns:
        """Add a number."""
        self.columns.append(np.clip(np.asarray(values, float), low, high))
        self.lower.append(low)
        self.upper.append(high)
        return self

    def flags(self, *conditions: Any) -> Columns:
        """Add flags that stand by themselves."""
        for condition in conditions:
            start = len(self.columns)
            self.number(condition, 0, 1)
            self.blocks.append(slice(start, start + 1))
        return self

    def levels(self, values: Any, levels: list[Any]) -> Columns:
        """Add the dummies of a category but that of its first level."""
        start = len(self.columns)
        for level in levels[1:]:
            self.number(np.asarray(values) == level, 0, 1)
        self.blocks.append(slice(start, len(self.columns)))
        return self

    def case(self, name: str, loss: str, n_rows: int, y: Any, bounds: tuple[float, float] = (0.0, 1.0)) -> Case:
        """Return the table."""
        y = np.clip(np.asarray(y, float), *bounds)
        X = np.column_stack(self.columns)
        return Case(name, loss, n_rows, X, y, self.lower, self.upper, tuple(self.blocks), bounds)


def acs() -> list[Case]:
    """American Community Survey 2018, California: the bin of income, and whether it is in the upper half."""
    t = pd.read_csv(FOLDER / "acs_ca2018" / "acs_income_ca2018.csv.gz")
    columns = Columns().number(t.AGEP, 17, 95).number(t.SCHL, 1, 24).number(t.WKHP, 1, 99).flags(t.SEX == 1)
    columns.levels(t.MAR, [5, 1, 2, 3, 4]).levels(np.minimum(t.RAC1P, 6).replace({3: 6, 4: 6, 5: 6}), [1, 2, 6])
    found = []
    for n in (10_000, 100_000):
        found.append(columns.case(f"ACS California, n = {n}", "squared", n, t.PINCP_BIN, (0, 19)))
        found.append(columns.case(f"ACS California, n = {n}", "logistic", n, t.PINCP_BIN >= 10))
    return found


def adult() -> list[Case]:
    """UCI Adult: whether income is above 50,000."""
    t = pd.concat([pd.read_csv(FOLDER / "adult" / f"adult_{part}.csv.gz") for part in ("train", "test")])
    columns = Columns().number(t.age, 17, 90).number(t.education_num, 1, 16).number(t.hours_per_week, 1, 99)
    columns.number(np.log1p(t.capital_gain), 0, 11.6).flags(t.sex == "Male")
    columns.levels(t.marital_status, ["Never-married", "Married-civ-spouse", "Divorced", "Separated", "Widowed"])
    columns.levels(t.occupation, sorted(set(t.occupation)))
    return [columns.case("Adult, n = 20000", "logistic", 20_000, t.income == ">50K")]


def pnad() -> list[Case]:
    """Brazil's household survey 2015: the logarithm of income."""
    t = pd.read_csv(FOLDER / "pnad2015_brazil" / "pnad2015.csv.gz")
    columns = Columns().number(t.Idade, 10, 100).number(t.Anos_de_Estudo, 1, 17).flags(t.Sexo == 1)
    columns.levels(t.Cor, [2, 0, 4, 6, 8]).levels(t.UF // 10, [1, 2, 3, 4, 5])
    return [columns.case("PNAD, n = 20000", "squared", 20_000, np.log1p(t.Renda.clip(0, 50_000)), (0, 10.9))]


def cps() -> list[Case]:
    """CPS 2005: hourly earnings."""
    t = pd.read_csv(FOLDER / "cps" / "cpssw8.csv.gz")
    columns = Columns().number(t.age, 21, 64).number(t.education, 0, 20).flags(t.gender == "male")
    columns.levels(t.region, ["South", "West", "Midwest", "Northeast"])
    return [columns.case("CPS earnings, n = 10000", "squared", 10_000, t.earnings, (0, 100))]


def census() -> list[Case]:
    """US census 1980: own income, and whether there is a third child."""
    t = pd.read_csv(FOLDER / "census1980" / "labsup.csv.gz")
    columns = Columns().number(t.age, 21, 35).number(t.agefstm, 15, 35).number(t.educ, 0, 20).number(t.kids, 2, 12)
    columns.number(t.weeks, 0, 52).number(t.hours, 0, 99).flags(t.black, t.samesex, t.worked)
    income = columns.case("Census 1980 income, n = 30000", "squared", 30_000, t.labinc, (0, 100))
    f = pd.read_csv(FOLDER / "census1980" / "fertility.csv.gz")
    few = Columns().number(f.age, 21, 35).number(f.work, 0, 52).flags(f.girl1, f.girl2, f.afam)
    return [income, few.case("Census 1980 third child, n = 50000", "logistic", 50_000, f.morekids)]


def counts() -> list[Case]:
    """Bicycles hired in an hour, and visits to a doctor in a year."""
    t = pd.read_csv(FOLDER / "counts" / "bike_hour.csv.gz")
    columns = Columns().number(t.temp, 0, 1).number(t.hum, 0, 1).number(t.windspeed, 0, 1)
    columns.flags(t.yr, t.workingday).levels(t.season, [1, 2, 3, 4]).levels(t.hr // 3, list(range(8)))
    bikes = columns.case("Bike hire, n = 17000", "poisson", 17_000, t.cnt, (0, 1500))
    d = pd.read_csv(FOLDER / "counts" / "doctor_contacts.csv.gz")
    columns = Columns().number(d.lc, 0, 5).number(d.ndisease, 0, 50).number(d.linc, 0, 11).number(d.age, 0, 65)
    columns.flags(d.idp, d.sex == "male", d.child, d.black, d.health == "poor", d.health == "fair")
    return [bikes, columns.case("Doctor visits, n = 20000", "poisson", 20_000, d.mdu, (0, 50))]


def national() -> list[Case]:
    """ACS 2019 of twenty areas: the income of adults. The rule was not looked at on it before."""
    t = pd.read_csv(FOLDER / "acs_national2019" / "national2019.csv.gz", na_values="N")
    t = t[(t.AGEP >= 18) & t.PINCP.notna()]
    columns = Columns().number(t.AGEP, 18, 95).number(t.EDU, 1, 12).flags(t.SEX == 2, t.DPHY == 1)
    columns.levels(t.MSP, [6, 1, 2, 3, 4, 5]).levels(t.RAC1P.map({1: 0, 2: 1, 6: 2}).fillna(3), [0, 1, 2, 3])
    return [columns.case("ACS national 2019 income, n = 20000", "squared", 20_000, t.PINCP, (0, 200_000))]


def cases() -> list[Case]:
    """Return all tables."""
    return [*acs(), *adult(), *pnad(), *cps(), *census(), *counts(), *national()]


def budgets(epsilon: str) -> dict[str, Any]:
    """Return the currencies of a cell."""
    return {
        "Pure": dp.Pure(epsilon=epsilon),
        "Approx": dp.Approx(epsilon=epsilon, delta=DELTA),
        "Zcdp": dp.Zcdp(rho=Fraction(epsilon) ** 2 / 8),
        "Gdp": dp.Gdp(mu=epsilon),
    }


def design(X: Any, case: Case) -> Any:
    """Return rows (1, x), x within [-1, 1]."""
    low, high = np.array(case.lower), np.array(case.upper)
    return np.column_stack([np.ones(len(X)), 2 * (X - low) / (high - low) - 1])


def losses(loss: str, margins: Any, y: Any) -> Any:
    """Return every row's loss."""
    if loss == "squared":
        return (margins - y) ** 2
    if loss == "logistic":
        return np.logaddexp(0, margins) - y * margins
    return np.exp(np.minimum(margins, 50)) - y * margins


def best_without_privacy(loss: str, A: Any, y: Any) -> Any:
    """Return the maximum-likelihood parameters, by Newton's method."""
    if loss == "squared":
        return np.linalg.lstsq(A, y, rcond=None)[0]
    w = np.zeros(A.shape[1])
    if loss == "poisson":
        w[0] = np.log(max(y.mean(), 1e-6))
    for _ in range(60):
        z = A @ w
        mean = 0.5 * (1 + np.tanh(z / 2)) if loss == "logistic" else np.exp(z)
        curvature = mean * (1 - mean) if loss == "logistic" else mean
        step = np.linalg.lstsq((A * curvature[:, None]).T @ A, A.T @ (y - mean), rcond=None)[0]
        w += step
        if np.abs(step).max() < 1e-10:
            break
    return w


def excess(case: Case, A: Any, best: Any, model: Any) -> float:
    """Return the mean loss on the rows over the least one; a target is in half-widths of its bounds, a count in counts.

    Of the squared loss it is a quadratic form in the distance of the parameters, exact down to rounding.
    """
    low, high = np.array(case.lower), np.array(case.upper)
    coef, constant = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    half = (high - low) / 2
    w = np.concatenate([[constant + coef @ (low + high) / 2], coef * half])
    if case.loss == "squared":
        width = (case.bounds[1] - case.bounds[0]) / 2
        gap = A @ ((w - best) / width)
        return float(gap @ gap) / len(A)
    at_best, slope = A @ best, A @ (w - best)
    if case.loss == "logistic":
        # losses(z + s) - losses(z), less its linear part, which sums to 0 at the best.
        p = 0.5 * (1 + np.tanh(at_best / 2))
        gain = np.logaddexp(0, at_best + slope) - np.logaddexp(0, at_best) - p * slope
    else:
        mean = np.exp(at_best)
        gain = mean * (np.expm1(np.minimum(slope, 50)) - slope)
    return float(np.mean(gain))


def methods_of(case: Case, budget: Any) -> list[str]:
    """Return the methods that have a release; sampling only of a few columns."""
    facts = choice.PublicFacts(
        loss=case.loss,
        n_rows=case.n_rows,
        n_columns=case.X.shape[1],
        intercept=True,
        budget=budget,
        adjacency=dp.Replace(),
        bounded=True,
    )
    names = [name for name in choice.METHODS[1:] if choice.why_not(name, facts) is None and name != "peel"]
    return [choice.choose("auto", facts).method, *names]


def fitted(case: Case, budget: Any, method: str, X: Any, y: Any, *, seed: int) -> Any:
    """Return a fit with noise of a seed."""
    extra: dict[str, Any] = {"classes": (0, 1)} if case.loss == "logistic" else {"y_bounds": dp.Interval(*case.bounds)}
    model = ESTIMATORS[case.loss](
        budget=budget,
        adjacency=dp.Replace(),
        x_bounds=dp.Box(lower=case.lower, upper=case.upper, one_hot=case.one_hot),
        method=method,
        **extra,
    )
    composition = {"composition": "sum"} if isinstance(budget, dp.Approx) else {}
    ledger = dp.Ledger(total=budget, adjacency=dp.Replace(), coins=dp.privacy.Coins.from_seed(seed), **composition)
    return model.fit(X, y, ledger=ledger)


def measure(case: Case, n_runs: int, known: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the median excess risk of every method in every cell of a table, but where it is known."""
    warnings.simplefilter("ignore")
    samples = []
    for run in range(n_runs):
        chosen = np.random.default_rng(run).permutation(len(case.X))[: case.n_rows]
        X, y = case.X[chosen], case.y[chosen]
        A = design(X, case)
        samples.append((X, y if case.loss != "logistic" else y.astype(int), A, best_without_privacy(case.loss, A, y)))
    found = {}
    for epsilon in EPSILONS:
        for currency, budget in budgets(epsilon).items():
            for method in methods_of(case, budget)[1:]:
                key = f"{case.name}|{case.loss}|{currency}|{epsilon}|{method}"
                if key in (known or {}):
                    continue
                risks, flags, began = [], [], time.process_time()
                for run, (X, y, A, best) in enumerate(samples):
                    model = fitted(case, budget, method, X, y, seed=run)
                    risks.append(excess(case, A, best, model))
                    flags.append(bool(model.noise_dominated_))
                seconds = (time.process_time() - began) / n_runs
                found[key] = {
                    "risk": float(np.median(risks)),
                    "flagged": float(np.mean(flags)),
                    "seconds": seconds,
                }
    return found


def null_risk(case: Case) -> float:
    """Return the excess risk of the best constant, in the units of `excess`."""
    A = design(case.X, case)
    best = best_without_privacy(case.loss, A, case.y)
    constant = np.zeros(A.shape[1])
    mean = case.y.mean()
    links: dict[str, Callable[[float], float]] = {
        "squared": lambda m: m,
        "logistic": lambda m: np.log(m / (1 - m)),
        "poisson": np.log,
    }
    constant[0] = links[case.loss](mean)
    width = (case.bounds[1] - case.bounds[0]) / 2 if case.loss == "squared" else 1.0
    gap = losses(case.loss, A @ constant, case.y) - losses(case.loss, A @ best, case.y)
    return float(np.mean(gap)) / width**2


@dataclass(frozen=True)
class Judged:
    """A cell: what auto picks, and the median risk of every method."""

    where: str
    auto: str
    risks: dict[str, float]
    flagged: bool
    null: float

    @property
    def best(self) -> str:
        """The best single method in hindsight."""
        return min(self.risks, key=self.risks.__getitem__)

    @property
    def good(self) -> bool:
        """Whether auto is near the best."""
        least = self.risks[self.best]
        return self.risks[self.auto] <= max(FACTOR * least, least + SLACK)

    @property
    def unsaid(self) -> bool:
        """Whether auto was worse than the best constant and did not say so."""
        return self.risks[self.auto] > self.null and not self.flagged

    def line(self) -> str:
        """Return a row of the page."""
        told = ", ".join(f"{name} {risk:.2g}" for name, risk in self.risks.items())
        mark, said = "" if self.good else " **miss**", " (noise-dominated)" if self.flagged else ""
        own, least = self.risks[self.auto], self.risks[self.best]
        columns = (
            self.where,
            f"{self.auto} {own:.3g}{said}",
            f"{self.best} {least:.3g}",
            f"{own / least:.2f}{mark}",
            told,
        )
        return "| " + " | ".join(columns) + " |"


def judged(case: Case, found: dict[str, Any]) -> list[Judged]:
    """Return the cells of a table."""
    null, cells = null_risk(case), []
    for currency in CURRENCIES:
        for epsilon in EPSILONS:
            auto, *names = methods_of(case, budgets(epsilon)[currency])
            key = f"{case.name}|{case.loss}|{currency}|{epsilon}|"
            risks = {name: found[key + name]["risk"] for name in names}
            flagged = found[key + auto]["flagged"] >= 0.5
            cells.append(Judged(f"{currency}, {epsilon}", auto, risks, flagged, null))
    return cells


def report(tables: list[Case], cells: list[list[Judged]], n_runs: int) -> str:
    """Return the page of results."""
    every = [cell for part in cells for cell in part]
    n_good, n_unsaid = sum(cell.good for cell in every), sum(cell.unsaid for cell in every)
    lines = [
        "# The front door's choice beside every single method",
        "",
        f"Made by experiments/front_door.py: medians over {n_runs} subsamples; Replace, delta = 1e-6.",
        "A Zcdp budget has rho = epsilon**2 / 8, a Gdp one mu = epsilon. `threshold` keeps all columns: plain descent.",
        "The rule's two thresholds were chosen on some of these tables; the last one had no part in it.",
        f"`auto` is within {FACTOR} times the best single method, or {SLACK:g}, in {n_good} of {len(every)} cells.",
        f"In {n_unsaid} cells the median `auto` was worse than the best constant and was not called noise-dominated.",
    ]
    for case, part in zip(tables, cells, strict=True):
        lines += ["", f"## {case.name}, {case.loss}", ""]
        lines += [f"The best constant has an excess risk of {part[0].null:.3g}.", ""]
        lines += ["| currency, epsilon | auto | best | auto / best | all methods |", "|---|---|---|---|---|"]
        lines += [cell.line() for cell in part]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cells", type=Path, default=None, help="where numbers are kept, and found again")
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    tables = [case for case in cases() if asked.only in case.name]
    known = json.loads(asked.cells.read_text()) if asked.cells is not None and asked.cells.exists() else {}
    tasks = (joblib.delayed(measure)(case, asked.runs, known) for case in tables)
    parts = joblib.Parallel(n_jobs=asked.jobs, verbose=5)(tasks)
    known |= {key: cell for part in parts for key, cell in part.items()}
    if asked.cells is not None:
        asked.cells.write_text(json.dumps(known, indent=0))
    print(report(tables, [judged(case, known) for case in tables], asked.runs))


if __name__ == "__main__":
    main()
