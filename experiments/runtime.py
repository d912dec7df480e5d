"""What the clock gives away, and what each way to hide it costs, in work and in privacy, on real data.

    DISCREET_DATA=data python experiments/runtime.py > experiments/results/runtime.md

Three pictures are written beside the table. DISCREET_DATA is a folder with adult/, cps/, genomics/ as described in the
project's data notes; sets that are absent are skipped, and said so. Noise comes from seeds: these are measurements,
not releases, and times are those of a busy machine.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import discreet as dp
from discreet.errors import DiscreetError
from discreet.privacy.coins import Coins
from discreet.privacy.curves.envelopes import CommonEnvelope
from discreet.privacy.curves.runtimes import geometric_runtime
from discreet.privacy.events.sampling import Runtime
from discreet.sampling.k_norm.targets import KNormGradient
from discreet.sampling.mechanisms import plan_target
from discreet.sampling.pca.bingham import Bingham
from discreet.sampling.policies import BlockRestart, ConstantAcceptance, CoolDown, Plain, Squeeze, Truncated
from discreet.sampling.samplers import Counters, run
from discreet.sampling.targets.bases import Uniform
from discreet.sampling.targets.holder import LogHoelder
from discreet.sampling.targets.user_targets import UserTarget

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(os.environ.get("DISCREET_DATA", "../shared/data"))
DELTA = "1e-6"
BUDGET = dp.Approx(epsilon=1, delta=DELTA)
POLICIES = {
    "cool-down": CoolDown(),
    "truncated": Truncated(),
    "block-restart": BlockRestart(),
    "constant": ConstantAcceptance(),
    "squeeze": Squeeze(),
    "plain": Plain(),
    "plain, thinned to 1/10": Plain(thin="1/10"),
}
NOMINAL = ("0.1", "0.5", "1", "2")
ACCEPTANCES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
# A sampler that leaves at its first acceptance, whatever that tells.
UNPAID = Runtime(policy="block-restart", block=1)
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
_OTHERS = "#CC79A7", "#E69F00", "#56B4E9"


@dataclass(frozen=True, eq=False)
class Case:
    """A target with real rows, and one other table that differs in one record."""

    name: str
    target: Any
    rows: Any
    neighbour: Any
    n_rows: int

    def plan(self, policy: Any) -> Any:
        """Return the plan of one draw."""
        return plan_target(
            self.target, budget=BUDGET, adjacency=dp.Replace(), runtime=policy, n_rows=self.n_rows, n_draws=1
        )


def incomes(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return wages of tax units, and the same with one of them at the other end of their range."""
    wages = pd.read_csv(DATA / "cps" / "cps_tax_units.csv.gz")["e00200"].to_numpy(float)
    rows = np.random.default_rng(1).permutation(wages[wages > 0])[:n_rows].clip(0, 200_000)
    other = rows.copy()
    other[rows.argmin()] = 200_000
    return rows[:, None], other[:, None]


def absolute_loss(points: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return minus the sum of distances from the incomes, in parts of their range."""
    distances: np.ndarray = np.abs(points - rows.T).sum(axis=1)
    return -distances / 200_000


def cases() -> Iterator[Case]:
    """Yield the targets whose data are there."""
    rows: Any
    other: Any
    target: Any
    if (DATA / "cps").exists():
        rows, other = incomes(12)
        whole = UserTarget(utility=absolute_loss, base=Uniform(bounds=dp.Interval(0, 200_000)), upper=0, lower=-12,
                           change=1, example=np.full((12, 1), 1e5))  # fmt: skip
        yield Case("median income by absolute loss, 12 wages, uniform proposals", whole, rows, other, 12)
        for n_rows in (50, 500):
            rows, other = incomes(n_rows)
            target = LogHoelder(utility=absolute_loss, bounds=dp.Interval(0, 200_000), constant=n_rows, change=1,
                                example=np.full((n_rows, 1), 1e5))  # fmt: skip
            yield Case(f"median income by absolute loss, {n_rows} wages", target, rows, other, n_rows)
    if (DATA / "adult").exists():
        frame = pd.read_csv(DATA / "adult" / "adult_train.csv.gz")
        limits = {"age": (17, 90), "education_num": (1, 16), "hours_per_week": (1, 99)}
        columns = [2 * (frame[name].clip(*b) - b[0]) / (b[1] - b[0]) - 1 for name, b in limits.items()]
        X, y = np.column_stack(columns), (frame["income"] == ">50K").to_numpy(float)
        for n_rows, width in ((1000, 1), (len(y), 2)):
            rows = X[:n_rows, 1 : 1 + width], y[:n_rows]
            other = rows[0].copy(), rows[1].copy()
            other[0][0], other[1][0] = 1.0, 1 - rows[1][0]
            target = KNormGradient.logistic(n_columns=width, row_norm=width**0.5, ridge=n_rows)
            named = f"logistic K-norm gradient on Adult, {n_rows} rows, d = {width}, ridge n"
            yield Case(named, target, rows, other, n_rows)
    if (DATA / "genomics").exists():
        snps = np.load(DATA / "genomics" / "mice_snp.npz")["X"].astype(float) - 1
        for width, n_rows in ((2, 60), (5, 1814), (20, 1814)):
            rows = snps[:n_rows, :width]
            other = rows.copy()
            other[0] = 1.0
            target = Bingham(n_columns=width, row_norm=width**0.5)
            yield Case(f"first component of {width} mouse SNPs, {n_rows} mice", target, rows, other, n_rows)


def counted(plan: Any, prepared: Any, runtime: Runtime, n_draws: int, seed: int) -> np.ndarray:
    """Return how many proposals each of some draws took."""
    counters = Counters()
    run(plan.scaled, prepared, runtime, Coins.from_seed(seed), n_draws=n_draws, counters=counters)
    return counters.blocks * runtime.block


@dataclass(frozen=True)
class Measured:
    """What a policy did to a target."""

    sharpness: float
    proposals: float
    unpaid: float
    milliseconds: float
    price: str

    def line(self, kind: str) -> str:
        """Return a line of the table."""
        return (
            f"| {kind} | {self.sharpness:.4f} | {self.proposals:.1f} | {self.unpaid:.1f} | {self.milliseconds:.2f} | "
            f"{self.price} |"
        )


def measured(case: Case, policy: Any, n_draws: int) -> Measured | str:
    """Return how sharp, how much work and at what price; or why the policy is refused."""
    try:
        plan = case.plan(policy)
    except DiscreetError as error:
        return str(error)
    event = plan.event
    alone = Fraction(1) / (2 * event.sensitivity)
    prepared = plan.measure(case.rows)
    counted(plan, prepared, event.runtime, 1, 0)  # what is computed once in a process
    start = time.perf_counter()
    taken = counted(plan, prepared, event.runtime, n_draws, 1)
    milliseconds = (time.perf_counter() - start) / n_draws * 1000
    unpaid = counted(plan, prepared, UNPAID, n_draws, 2)
    price = event.price if isinstance(event.price, dp.Approx) else dp.Approx(epsilon=event.price.epsilon, delta=0)
    told = f"({float(price.epsilon):.7f}, {float(price.delta):.2g})"
    return Measured(float(event.scale / alone), float(taken.mean()), float(unpaid.mean()), milliseconds, told)


def leak(case: Case, n_proposals: int) -> tuple[float, float, float, float]:
    """Return acceptance on both tables at the scale of the output alone, and epsilon of the plain clock for the pair.

    The last is a 95 % lower limit that counts the simulation's error.
    """
    plan = case.plan(CoolDown())
    n_proposals = min(n_proposals, max(10_000, 3 * 10**9 // case.n_rows // 10_000 * 10_000))
    chances = []
    for seed, rows in enumerate((case.rows, case.neighbour)):
        proposer = plan.scaled.begin(plan.measure(rows))
        coins, hits, done = Coins.from_seed(seed + 20), 0.0, 0
        while done < n_proposals:
            ratios = proposer.log_ratio(proposer.propose(coins, 10_000))
            hits += float(np.exp(np.clip(ratios, -700, 0)).sum())
            done += 10_000
        chances.append(hits / done)
    p, q = max(chances), min(chances)
    error = 2 * math.sqrt(p * (1 - p) / n_proposals)
    told = float(geometric_runtime(p=p, q=q).epsilon(DELTA)) if p > q else 0.0
    surely = float(geometric_runtime(p=p - error, q=q + error).epsilon(DELTA)) if p - error > q + error else 0.0
    return chances[0], chances[1], told, surely


def save(figure: Figure, path: Path) -> None:
    """Write a picture that is the same whenever it is written."""
    with mpl.rc_context({"svg.hashsalt": "discreet"}):
        figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")


def clock_picture(folder: Path) -> list[str]:
    """Draw what output and time of a plain sampler cost together, and return it as a table."""
    figure = Figure(figsize=(6, 4.2))
    axes = figure.add_subplot()
    lines = ["| acceptance | " + " | ".join(f"nominal {e}" for e in NOMINAL) + " |", "|---|" + "---|" * len(NOMINAL)]
    costs = {
        nominal: [
            float(CommonEnvelope(shift=Fraction(nominal) / 2, p_high=Fraction(str(p))).epsilon(DELTA))
            for p in ACCEPTANCES
        ]
        for nominal in NOMINAL
    }
    for nominal, style in zip(NOMINAL, ("-", "--", "-.", ":"), strict=True):
        axes.plot(ACCEPTANCES, costs[nominal], style, label=f"epsilon = {nominal} for the output alone")
    for k, p in enumerate(ACCEPTANCES):
        lines.append(f"| {p} | " + " | ".join(f"{costs[nominal][k]:.3g}" for nominal in NOMINAL) + " |")
    axes.set(xlabel="largest acceptance probability of a data set", ylabel="epsilon at delta = 1e-6", yscale="log",
             title="A plain sampler's output and running time together")  # fmt: skip
    axes.legend(fontsize=8)
    axes.grid(visible=True, alpha=0.3)
    save(figure, folder / "runtime_clock.svg")
    return lines


def law_picture(case: Case, folder: Path) -> None:
    """Draw how long two neighbours take, plain and under cool-down."""
    plan = case.plan(CoolDown())
    figure = Figure(figsize=(8, 3.4))
    for place, (title, runtime) in enumerate((("plain", UNPAID), ("cool-down", plan.event.runtime)), start=1):
        axes = figure.add_subplot(1, 2, place)
        for seed, (rows, color, label) in enumerate(
            ((case.rows, BLUE, "these rows"), (case.neighbour, ORANGE, "one replaced"))
        ):
            taken = counted(plan, plan.measure(rows), runtime, 4000, 30 + seed)
            values, counts = np.unique(taken, return_counts=True)
            axes.plot(values, counts[::-1].cumsum()[::-1] / taken.size, "o-", color=color, ms=3, label=label)
        axes.set(xlabel="proposals", ylabel="share that took as many or more", yscale="log", title=title)
        axes.legend(fontsize=8)
    figure.suptitle(case.name)
    figure.tight_layout()
    save(figure, folder / "runtime_laws.svg")


def work_picture(work: dict[str, dict[str, float]], folder: Path) -> None:
    """Draw how many proposals each policy makes a draw."""
    figure = Figure(figsize=(8, 0.5 * len(work) + 1.6))
    axes = figure.add_subplot()
    kinds = ("plain, unpaid", *POLICIES)
    for kind, mark, color in zip(kinds, "ox+s^vd*", ("#666666", BLUE, GREEN, ORANGE, *_OTHERS, "#000000"), strict=True):
        places = [(found[kind], row) for row, found in enumerate(work.values()) if kind in found]
        axes.plot([x for x, _ in places], [y for _, y in places], mark, color=color, label=kind)
    axes.set_yticks(range(len(work)), list(work), fontsize=8)
    axes.set(xlabel="proposals a draw", xscale="log", title="What hiding the clock costs in work, budget (1, 1e-6)")
    axes.legend(fontsize=8)
    axes.grid(visible=True, axis="x", alpha=0.3)
    save(figure, folder / "runtime_work.svg")


def main() -> None:
    """Print the tables and write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("experiments/results"))
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--proposals", type=int, default=1_000_000)
    options = parser.parse_args()
    print("# What the clock gives away\n")
    print("## A plain sampler, worst case\n")
    print("Epsilon of output and number of proposals together at delta = 1e-6, for an exponential mechanism with one")
    print("envelope for all data, by the largest acceptance probability that a data set may have.")
    print("`nominal` is what the output alone costs. See runtime_clock.svg.\n")
    print("\n".join(clock_picture(options.folder)))
    found = list(cases())
    work: dict[str, dict[str, float]] = {}
    refused: dict[str, list[str]] = {}
    print("\n## Policies on real data\n")
    print("Budget (1, 1e-6), replace one. `sharpness` is the scale over that of the output alone at epsilon = 1;")
    print("`proposals` the measured mean a draw, `plain` what a sampler that hides nothing takes at that scale;")
    print(f"`ms` a draw, of {options.draws} at once; `price` that of output and time. See runtime_work.svg.")
    for number, case in enumerate(found, start=1):
        print(f"\n### {number}. {case.name}\n")
        print("| policy | sharpness | proposals | plain | ms | price |\n|---|---|---|---|---|---|")
        of_case = work.setdefault(case.name, {})
        for kind, policy in POLICIES.items():
            result = measured(case, policy, options.draws)
            if isinstance(result, str):
                # What a refused budget would have cost differs from case to case; the reason does not.
                reason = result.split(": `budget` is")[0].split(". ")[0]
                refused.setdefault(f"{kind}: {reason}.", []).append(str(number))
                print(f"| {kind} | refused | | | | |", flush=True)
                continue
            print(result.line(kind), flush=True)
            of_case["plain, unpaid"] = result.unpaid
            of_case[kind] = result.proposals
    print("\nWhy refused:\n")
    for reason, numbers in refused.items():
        print(f"- {reason} ({', '.join(numbers)})")
    print("\n## What the plain clock tells of one record, on these tables\n")
    print(
        "Chance of acceptance on the rows and with one record replaced, at the scale of cool-down, and the epsilon at"
    )
    print("delta = 1e-6 of the number of proposals for this pair alone. A worst pair is worse; one draw is seen.")
    print(f"By simulation of up to {options.proposals} proposals a table, fewer on many rows.")
    print("`at least` counts the error. See runtime_laws.svg.\n")
    print("| target | acceptance | one replaced | epsilon of the time | at least |\n|---|---|---|---|---|")
    for case in found:
        mine, other, told, surely = leak(case, options.proposals)
        print(f"| {case.name} | {mine:.4f} | {other:.4f} | {told:.3f} | {surely:.3f} |", flush=True)
    if found:
        law_picture(found[0], options.folder)
        work_picture(work, options.folder)
    if len(found) < 8:
        print("\nSome data were absent, and their targets were skipped.")


if __name__ == "__main__":
    main()
