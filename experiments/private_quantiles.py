"""How far private quantiles are from the data's own, on real data, against diffprivlib and OpenDP at the same epsilon.

    python experiments/private_quantiles.py --rival diffprivlib > diffprivlib.json         (where it is installed)
    python experiments/private_quantiles.py --rival opendp > opendp.json                   (where it is installed)
    python experiments/private_quantiles.py --with diffprivlib.json opendp.json > experiments/results/quantiles.md

DISCREET_DATA is a folder with acs_national2019/, census1980/, cps/ and pnad2015_brazil/ as described in the project's
data notes; sets that are absent are skipped. An error is the distance of the answer from the data's quantile, in units
of the column, clipped to its public bounds; the table has means over seeds. Noise comes from seeds: these are
measurements, not releases.

diffprivlib promises replacement of a record, so it is compared with ours under Replace. OpenDP chooses among public
candidates, here 1,001 evenly spaced ones and every unit of the column (20,001 at most), and promises either relation:
for Replace it is told the number of rows.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

DATA = Path(os.environ.get("DISCREET_DATA", "../shared/data"))
EPSILONS = ("0.01", "0.1", "1")
QUANTILES = ("0.1", "0.5", "0.9")
RUNS = 400
# OpenDP is slower.
FEWER_RUNS = 100
MOST_CANDIDATES = 20_001


@dataclass(frozen=True)
class Column:
    """Values, public bounds, and the unit that values are whole multiples of, or 0."""

    values: np.ndarray
    low: float
    high: float
    unit: float = 0


def columns() -> dict[str, Column]:
    """Return every column that is there."""
    found: dict[str, Column] = {}
    if (DATA / "acs_national2019").exists():
        acs = pd.read_csv(DATA / "acs_national2019" / "national2019.csv.gz", na_values="N")
        adults = acs[(acs.AGEP >= 18) & acs.PINCP.notna()]
        found["ACS income, one in 5"] = Column(adults.PINCP.to_numpy(float)[::5], 0, 200_000, 10)
        found["ACS age, one in 5"] = Column(adults.AGEP.to_numpy(float)[::5], 0, 100, 1)
    if (DATA / "cps").exists():
        tax = pd.read_csv(DATA / "cps" / "cps_tax_units.csv.gz", usecols=["e00200"]).e00200
        found["CPS wages, earners, one in 100"] = Column(tax[tax > 0].to_numpy(float)[::100], 0, 200_000)
        hourly = pd.read_csv(DATA / "cps" / "cpssw8.csv.gz").earnings
        found["CPS hourly earnings, one in 20"] = Column(hourly.to_numpy(float)[::20], 0, 100)
    if (DATA / "pnad2015_brazil").exists():
        pnad = pd.read_csv(DATA / "pnad2015_brazil" / "pnad2015.csv.gz").Renda
        found["PNAD income, one in 20"] = Column(pnad.to_numpy(float)[::20], 0, 50_000, 1)
    if (DATA / "census1980").exists():
        weeks = pd.read_csv(DATA / "census1980" / "fertility.csv.gz").work
        found["census, weeks worked, one in 50"] = Column(weeks.to_numpy(float)[::50], 0, 52, 1)
    return found


def ours(adjacency: Any, grid: str) -> Any:
    """Return how we draw: on the finest grid, on one of 1,000 steps, or on the column's own unit."""
    import discreet as dp
    from discreet.privacy.coins import Coins
    from discreet.sampling.quantiles.quantile_release import plan_quantiles

    def prepared(column: Column, q: str, epsilon: str) -> Any:
        thousandth = (column.high - column.low) / 1000
        step = {"": None, "1,000 steps, ": thousandth, "unit, ": column.unit or None}[grid]
        plan = plan_quantiles(
            q,
            bounds=dp.Interval(column.low, column.high),
            step=step,
            budget=dp.Pure(epsilon=epsilon),
            adjacency=adjacency,
        )
        places = plan.measure(column.values)
        return lambda seed: plan.draw(places, Coins.from_seed(seed))

    return prepared


def diffprivlib(column: Column, q: str, epsilon: str) -> Any:
    """Return how diffprivlib draws."""
    import diffprivlib as rival

    bounds = column.low, column.high
    return lambda seed: rival.tools.quantile(
        column.values, float(q), epsilon=float(epsilon), bounds=bounds, random_state=seed
    )


def opendp(*, replace: bool, units: bool) -> Any:
    """Return how OpenDP draws; its noise cannot be seeded."""
    import opendp.prelude as rival

    rival.enable_features("contrib")

    def prepared(column: Column, q: str, epsilon: str) -> Any:
        width = column.high - column.low
        spacing = max(column.unit, width / (MOST_CANDIDATES - 1)) if units and column.unit else width / 1000
        candidates = [float(point) for point in np.arange(column.low, column.high + spacing / 2, spacing)]
        size = len(column.values) if replace else None
        domain = rival.vector_domain(rival.atom_domain(T=float, nan=False), size=size)
        space = domain, rival.symmetric_distance()

        def make(scale: float) -> Any:
            return space >> rival.m.then_private_quantile(
                rival.max_divergence(), candidates=candidates, alpha=float(q), scale=scale
            )

        scale = rival.binary_search_param(make, d_in=2 if replace else 1, d_out=float(epsilon))
        mechanism, cells = make(scale), np.clip(column.values, column.low, column.high).tolist()
        return lambda _: mechanism(cells)

    return prepared


def measure(name: str, prepared: Any, runs: int) -> dict[str, float]:
    """Return the mean distance from the data's quantile, for every column, epsilon and quantile."""
    results: dict[str, float] = {}
    first = 0  # no setting has another one's seeds: its luck would be the same
    for label, column in columns().items():
        cells = np.clip(column.values, column.low, column.high)
        for q in QUANTILES:
            truth = float(np.quantile(cells, float(q), method="inverted_cdf"))
            for epsilon in EPSILONS:
                start, first = time.perf_counter(), first + runs
                draw = prepared(column, q, epsilon)
                try:
                    errors = [abs(float(draw(seed)) - truth) for seed in range(first, first + runs)]
                except RuntimeError as failure:  # diffprivlib has underflows
                    print(name, label, q, epsilon, str(failure)[:60], file=sys.stderr)
                    continue
                results[f"{label}|{q}|{epsilon}"] = float(np.mean(errors))
                results[f"{label}|{q}|{epsilon}|error"] = float(np.std(errors) / runs**0.5)
                print(name, label, q, epsilon, np.mean(errors), time.perf_counter() - start, file=sys.stderr)
    return results


def write(kinds: dict[str, dict[str, float]]) -> None:
    """Print the tables, and how often each rival is nearer."""
    print("# Private quantiles: distance from the data's own\n")
    print(f"Means of {RUNS} draws, {FEWER_RUNS} of OpenDP, in units of the column.")
    print("See `experiments/private_quantiles.py` for the data and what is compared.")
    print("`unit`: the answers are multiples of the column's own unit, which is public, where it has one.")
    print("diffprivlib fails where its weights underflow.")
    print("diffprivlib 0.6.6; OpenDP 0.16.0, with 1,001 candidates or every unit.\n")
    sizes = {name: int(np.size(column.values)) for name, column in columns().items()}
    names = list(kinds)
    print("| column (rows) | q | epsilon | " + " | ".join(names) + " |")
    print("|---|---|---|" + "---|" * len(names))
    keys = [key for key in kinds[names[0]] if not key.endswith("|error")]
    for key in keys:
        column, q, epsilon = key.split("|")
        cells = [f"{kinds[name][key]:.4g}" if key in kinds[name] else "fails" for name in names]
        print(f"| {column} ({sizes[column]:,}) | {q} | {epsilon} | {' | '.join(cells)} |")
    print()
    for mine, rival in (
        ("ours, Replace", "diffprivlib"),
        ("ours, 1,000 steps, Replace", "OpenDP, 1,000 steps, Replace"),
        ("ours, unit, Replace", "diffprivlib"),
        ("ours, unit, Replace", "OpenDP, unit, Replace"),
        ("ours, 1,000 steps, AddRemove", "OpenDP, 1,000 steps, AddRemove"),
        ("ours, unit, AddRemove", "OpenDP, unit, AddRemove"),
    ):
        if rival in kinds:
            print(compared(kinds[mine], kinds[rival], mine, rival, keys))
    print("\ndiffprivlib's law is ours but for ties. OpenDP permutes and flips, which on a coarse grid is a little")
    print("sharper in Pure than the exponential mechanism that we draw from.")


def compared(mine: dict[str, float], rival: dict[str, float], name: str, other: str, keys: list[str]) -> str:
    """Return in how many settings the rival's mean is nearer, by more than two standard errors of the difference."""
    worse = better = 0
    ratios = []
    keys = [key for key in keys if key in rival]
    for key in keys:
        noise = 2 * (mine[f"{key}|error"] ** 2 + rival[f"{key}|error"] ** 2) ** 0.5
        worse += mine[key] > rival[key] + noise
        better += mine[key] < rival[key] - noise
        ratios.append((mine[key] + 1e-9) / (rival[key] + 1e-9))
    typical = float(np.exp(np.median(np.log(ratios))))
    return (
        f"- *{name}* against *{other}*: nearer in {better} and farther in {worse} of {len(keys)} settings, by more "
        f"than two standard errors; the median ratio of errors is {typical:.2f}."
    )


def main() -> None:
    """Measure, and print a table or a rival's numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rival", choices=["diffprivlib", "opendp"])
    parser.add_argument("--with", dest="others", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.rival == "diffprivlib":
        print(json.dumps({"diffprivlib": measure("diffprivlib", diffprivlib, RUNS)}))
        return
    if options.rival == "opendp":
        found = {}
        for replace, units in ((True, False), (True, True), (False, False), (False, True)):
            name = f"OpenDP, {'unit' if units else '1,000 steps'}, {'Replace' if replace else 'AddRemove'}"
            found[name] = measure(name, opendp(replace=replace, units=units), FEWER_RUNS)
        print(json.dumps(found))
        return
    import discreet as dp

    kinds = {}
    for adjacency in (dp.Replace(), dp.AddRemove()):
        for grid in ("", "1,000 steps, ", "unit, "):
            kinds[f"ours, {grid}{adjacency.name}"] = measure("ours", ours(adjacency, grid), RUNS)
    for path in options.others:
        kinds |= json.loads(path.read_text())
    write(kinds)


if __name__ == "__main__":
    main()
