"""Real tables with a few columns beside each other: the default of a preconditioned descent, and hindsight.

Called by `descent_defaults.py --real`, which keeps what was best in hindsight in the file --cells: that does not depend
on the rule. DISCREET_DATA is the folder of tables of the project's data notes. Every column is scaled by public bounds
to [-1, 1]; a category has a dummy for every level but its first.
"""

from __future__ import annotations

import json
import os
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from descent_defaults import grid, rule, score, table
from preconditioned_prototype import Array, Cost, Knobs

FOLDER = Path(os.environ.get("DISCREET_DATA", "data"))
# mu of Approx with delta = 1e-6 at epsilon 0.1, 0.8 and 3.2.
MUS = {"0.1": 0.0275, "0.8": 0.192, "3.2": 0.68}
# Subsamples, draws of noise for the choice in hindsight, and draws for the scores.
N_SUBSAMPLES, CHOOSE, SCORE = 20, (1,), (11, 12, 13)


def scaled(values: Any, low: float, high: float) -> Array:
    return 2 * (np.clip(np.asarray(values, float), low, high) - low) / (high - low) - 1


def dummies(values: Any, levels: list[Any]) -> list[Array]:
    return [np.asarray(values == level, float) for level in levels[1:]]


def design(numbers: list[Array], categories: list[list[Array]], flags: list[Any]) -> tuple[Array, float]:
    """Return the rows, and the largest squared norm of one with its target."""
    blocks = [column for block in categories for column in block]
    rows = [np.ones(len(numbers[0])), *numbers, *(np.asarray(flag, float) for flag in flags), *blocks]
    return np.column_stack(rows), 2.0 + len(numbers) + len(flags) + len(categories)


def acs(loss: str) -> tuple[Array, Array, float]:
    t = pd.read_csv(FOLDER / "acs_ca2018/acs_income_ca2018.csv.gz")
    race = t.RAC1P.map({1: 0, 2: 1, 6: 2}).fillna(3)
    A, norm = design(
        [scaled(t.AGEP, 17, 95), scaled(t.SCHL, 1, 24), scaled(t.WKHP, 1, 99)],
        [dummies(t.MAR, [1, 2, 3, 4, 5]), dummies(race, [0, 1, 2, 3])],
        [t.SEX == 2],
    )
    return A, scaled(t.PINCP_BIN, 0, 19) if loss == "squared" else (t.PINCP_BIN >= 10).to_numpy(float), norm


def adult(_: str) -> tuple[Array, Array, float]:
    t = pd.concat([pd.read_csv(FOLDER / f"adult/adult_{part}.csv.gz") for part in ("train", "test")])
    single = t.marital_status.map(lambda s: 0 if s.startswith("Married") else 1 if s.startswith("Never") else 2)
    groups = {"Exec-managerial": 0, "Prof-specialty": 0, "Adm-clerical": 1, "Sales": 1, "Tech-support": 1, "?": 3}
    numbers = [scaled(t.age, 17, 90), scaled(t.education_num, 1, 16), scaled(t.hours_per_week, 1, 99)]
    numbers += [scaled(np.log1p(t.capital_gain), 0, 11.52), scaled(np.log1p(t.capital_loss), 0, 8.52)]
    A, norm = design(
        numbers,
        [dummies(single, [0, 1, 2]), dummies(t.occupation.map(groups).fillna(2), [0, 1, 2, 3])],
        [t.sex == "Female", t.race == "White"],
    )
    return A, (t.income == ">50K").to_numpy(float), norm


def pnad(_: str) -> tuple[Array, Array, float]:
    t = pd.read_csv(FOLDER / "pnad2015_brazil/pnad2015.csv.gz")
    A, norm = design(
        [scaled(t.Idade, 10, 100), scaled(t.Anos_de_Estudo, 1, 17)],
        [dummies(t.UF // 10, [3, 1, 2, 4, 5]), dummies(t.Cor, [2, 4, 8, 0, 6, 9])],
        [t.Sexo == 1],
    )
    return A, scaled(np.log1p(t.Renda.clip(0, 50_000)), 0, np.log1p(50_000)), norm


def cps(loss: str) -> tuple[Array, Array, float]:
    t = pd.read_csv(FOLDER / "cps/cpssw8.csv.gz")
    region = dummies(t.region, ["Northeast", "Midwest", "South", "West"])
    A, norm = design([scaled(t.age, 21, 64), scaled(t.education, 0, 20)], [region], [t.gender == "female"])
    return A, scaled(t.earnings, 0, 100) if loss == "squared" else (t.earnings > 20).to_numpy(float), norm


def fertility(loss: str) -> tuple[Array, Array, float]:
    t = pd.read_csv(FOLDER / "census1980/fertility.csv.gz")
    A, norm = design([scaled(t.age, 21, 35)], [], [t.morekids, t.girl1, t.girl2, t.afam, t.hispanic, t.other])
    return A, scaled(t.work, 0, 52) if loss == "squared" else (t.work > 0).to_numpy(float), norm


def labor(_: str) -> tuple[Array, Array, float]:
    t = pd.read_csv(FOLDER / "census1980/labsup.csv.gz")
    bounds = {"kids": (2, 12), "age": (21, 35), "agefstm": (15, 35), "weeks": (0, 52), "hours": (0, 99)}
    bounds |= {"nonmomi": (0, 150), "educ": (0, 20)}
    A, norm = design([scaled(t[name], *ends) for name, ends in bounds.items()], [], [t.samesex, t.black])
    return A, scaled(t.labinc, 0, 100), norm


def bikes(_: str) -> tuple[Array, Array, float]:
    t = pd.read_csv(FOLDER / "counts/bike_hour.csv.gz")
    A, norm = design(
        [scaled(t.temp, 0, 1), scaled(t.hum, 0, 1), scaled(t.windspeed, 0, 1)],
        [dummies(t.season, [1, 2, 3, 4]), dummies(t.weathersit, [1, 2, 3, 4]), dummies(t.hr // 3, list(range(8)))],
        [t.yr, t.workingday],
    )
    return A, np.clip(t.cnt.to_numpy(float) / 1000, 0, 1), norm


def doctors(_: str) -> tuple[Array, Array, float]:
    t = pd.read_csv(FOLDER / "counts/doctor_contacts.csv.gz")
    bounds = {"lc": (0, 5), "lpi": (0, 8), "fmde": (0, 9), "ndisease": (0, 50), "linc": (0, 11), "lfam": (0, 3)}
    bounds |= {"educdec": (0, 25), "age": (0, 65)}
    A, norm = design(
        [scaled(t[name], *ends) for name, ends in bounds.items()],
        [dummies(t.health, ["excellent", "good", "fair", "poor"])],
        [t.idp.astype(str) == "True", t.sex.astype(str) == "female", t.child.astype(str) == "True", t.physlim],
    )
    return np.nan_to_num(A), np.clip(t.mdu.to_numpy(float), 0, 50) / 50, norm


# The knots were moved while these were looked at ...
CELLS = [
    *((acs, "squared", 10_000), (acs, "logistic", 10_000), (acs, "squared", 100_000), (acs, "logistic", 100_000)),
    *((adult, "logistic", 10_000), (pnad, "squared", 10_000), (cps, "squared", 10_000)),
    *((fertility, "squared", 10_000), (labor, "squared", 10_000), (bikes, "poisson", 17_379)),
]
# ... and not, or hardly, while these were.
APART = [(cps, "logistic", 10_000), (fertility, "logistic", 10_000), (doctors, "poisson", 10_000)]


def print_cells(kept: Path) -> None:
    """Print a row for every table, loss, currency and epsilon."""
    print("# The default of a preconditioned descent beside the best settings in hindsight, on real tables\n")
    print(
        "Command: `DISCREET_DATA=data python experiments/descent_defaults.py --real`. Replace; Approx has delta = 1e-6."
    )
    print(f"Excess risk on the subsample over the fit without privacy: medians of {N_SUBSAMPLES} subsamples.\n")
    print("| table | loss | n | currency | epsilon | constant | hindsight | its f, C, T, eta, start | rule | ratio |")
    print("| --- " * 10 + "|")
    hindsight = json.loads(kept.read_text()) if kept.exists() else {}
    for read, loss, n in (*CELLS, *APART):
        A, y, norm = read(loss)
        rng = np.random.default_rng(0)
        rows = [rng.choice(len(A), min(n, len(A)), replace=False) for _ in range(N_SUBSAMPLES)]
        tables = [table(A[i], y[i], loss, norm) for i in rows]
        constant = np.median([t.of_constant for t in tables])
        for pure, (epsilon, mu) in ((pure, item) for pure in (False, True) for item in MUS.items()):
            cost, currency = Cost(epsilon=float(epsilon)) if pure else Cost(mu=mu), "Pure" if pure else "Approx"
            key = f"{read.__name__} {loss} {n} {currency} {epsilon}"
            if key not in hindsight:
                candidates = grid(loss, pure=pure, large=n > 20_000 or (pure and read is not acs))
                found = candidates[int(np.argmin([score(tables, cost, k, CHOOSE) for k in candidates]))]
                hindsight[key] = astuple(found)[:5]
                kept.write_text(json.dumps(hindsight, indent=1))
            best = Knobs(*hindsight[key])
            ours = score(tables, cost, rule(loss, n, A.shape[1], norm, cost), SCORE)
            theirs = score(tables, cost, best, SCORE)
            how = f"{best.gram_share}, {best.clip}, {best.n_steps}, {best.step_size}, {'warm' if best.warm else 'cold'}"
            print(
                f"| {read.__name__} | {loss} | {n} | {currency} | {epsilon} | {constant:.3g} | {theirs:.3g} | {how} "
                f"| {ours:.3g} | {ours / theirs:.2f} |",
                flush=True,
            )
