"""How tight the audit's limits are and how long a million runs take; `--registry` prints the table of docs/audit.md."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.cases.case import overspent
from discreet.audit.distinguish import audit
from discreet.audit.mechanisms import registry
from discreet.audit.names import on_a_page
from discreet.audit.verdicts import claim_text
from discreet.lattice.noise.gaussian import rounded_gaussian
from discreet.lattice.noise.laplace import rounded_laplace
from discreet.privacy.budgets import Gdp, Pure
from discreet.privacy.coins import Coins
from timing import report, seconds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.privacy.budgets import Budget

N_RUNS = 10**6
SCALE = 2**20


def laplace(data: int, coins: Coins, n_runs: int) -> NDArray[Any]:
    return rounded_laplace(np.full(n_runs, data), scale=Fraction(SCALE), coins=coins)


def gaussian(data: int, coins: Coins, n_runs: int) -> NDArray[Any]:
    return rounded_gaussian(np.full(n_runs, data), variance=Fraction(SCALE**2), coins=coins)


def tightness() -> None:
    found: dict[str, Any] = {}

    def run(name: str, mechanism: Any, claim: Budget) -> None:
        found[name] = audit(mechanism, 0, SCALE, claim, n_runs=N_RUNS, coins=Coins.from_seed(1))

    # The first call pays for imports.
    audit(laplace, 0, SCALE, Pure(epsilon=1), n_runs=64)
    of_laplace = seconds(lambda: run("laplace", laplace, Pure(epsilon=1)))
    of_gauss = seconds(lambda: run("gaussian", gaussian, Gdp(mu=1)))
    report("Laplace at epsilon 1: limit of epsilon", found["laplace"].epsilon(), 0.9, at_most=False)
    report("Gaussian at mu 1: limit of mu", found["gaussian"].mu(), 0.9, at_most=False)
    report("a million runs, Laplace", of_laplace, 5.0, at_most=True, unit="s")
    report("a million runs, Gaussian", of_gauss, 5.0, at_most=True, unit="s")


def table() -> None:
    print("| mechanism | claim | runs | answer | epsilon at least (delta) | mu at least | convicts at |")
    print("|---|---|---|---|---|---|---|")
    for entry in registry().values():
        print(row(entry), flush=True)


def row(entry: Any) -> str:
    verdict = entry.case().run(coins=Coins.from_seed(4))
    wrong = entry.case(overspent(entry.budget, Fraction(entry.tells))).run(coins=Coins.from_seed(2))
    told = f"{entry.tells} times" if wrong.violated else "not"
    return (
        f"| {on_a_page(entry.name)} | {claim_text(verdict.claim)} | {verdict.n_runs} | {verdict.answer} | "
        f"{verdict.epsilon():.2f} ({float(verdict.delta):.2g}) | {verdict.mu():.2f} | {told} |"
    )


if __name__ == "__main__":
    tightness()
    if "--registry" in sys.argv[1:]:
        table()
