"""A mechanism, two neighbours and a claim: what an audit is run on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.bounds import DEFAULT_CONFIDENCE
from discreet.audit.distinguish import audit
from discreet.errors import NoiseDominatedWarning
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from discreet.audit.power import Worse
    from discreet.audit.runs import Mechanism
    from discreet.audit.verdicts import Claim, Verdict
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.coins import Coins
    from discreet.privacy.release import Plan


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditCase:
    """A mechanism, two neighbours and a claim.

    Parameters
    ----------
    name : str
        Of the mechanism, for the verdict; any text.
    mechanism : callable
        As `audit` takes it.
    first, second : object
        Two neighbouring data sets, made up.
    claim : Pure, Approx, Zcdp, Gdp or TradeoffFunction
        What is claimed of them.
    n_runs : int or None
        How many runs of each; None for what the power asks for.
    worse : callable or None
        `worse(times)` returns the mechanism with noise so many times smaller, for the power; see `audit`.

    Examples
    --------
    >>> from discreet.privacy.coins import Coins
    >>> from discreet.privacy.budgets import Gdp
    >>> case = AuditCase(name="constant", mechanism=lambda data, coins, n_runs: np.zeros(n_runs), first=0, second=1,
    ...                  claim=Gdp(mu=1))
    >>> case.run(coins=Coins.from_seed(0)).answer
    'no evidence'
    """

    name: str
    mechanism: Mechanism
    first: Any
    second: Any
    claim: Claim
    n_runs: int | None = None
    worse: Worse | None = None

    def run(
        self, *, n_runs: int | None = None, coins: Coins | None = None, confidence: Any = DEFAULT_CONFIDENCE
    ) -> Verdict:
        """Audit it; see `discreet.audit.distinguish.audit`."""
        return audit(
            self.mechanism,
            self.first,
            self.second,
            self.claim,
            n_runs=self.n_runs if n_runs is None else n_runs,
            coins=coins,
            confidence=confidence,
            name=self.name,
            worse=self.worse,
        )


@dataclass(frozen=True, eq=False)
class Setup:
    """How one mechanism of ours is audited, planned for one budget.

    Parameters
    ----------
    mechanism : callable
        As `audit` takes it.
    first, second : object
        Two worst-case neighbours.
    price : Budget or TradeoffFunction
        What the plan says it costs.
    """

    mechanism: Mechanism
    first: Any
    second: Any
    price: Claim


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the registry: a mechanism of ours, how it is planned, and what it stands for.

    Parameters
    ----------
    name : str
        Unique in the registry.
    make : callable
        `make(budget)` returns the `Setup` of the mechanism planned for a budget.
    budget : Budget
        What it is audited at.
    covers : tuple of str
        Public names of the package whose draws it makes.
    n_runs : int or None
        Runs of each data set where one takes long; None for what the power asks for.
    tells : number or text
        What this audit must convict: the mechanism that spends so many times what it claims (see `overspent`). A
        verdict states the power of its own runs, carefully, which may be a step or two above.
    """

    name: str
    make: Callable[[Budget], Setup]
    budget: Budget
    covers: tuple[str, ...] = ()
    n_runs: int | None = None
    tells: int | str = 2

    def case(self, spent: Budget | None = None) -> AuditCase:
        """Return the audit of the mechanism.

        Parameters
        ----------
        spent : Budget or None
            What the mechanism really spends; None for what it claims. Anything dearer is a planted bug.
        """
        honest = self.make(self.budget)
        used = honest if spent is None else self.make(spent)
        return AuditCase(
            name=self.name,
            mechanism=used.mechanism,
            first=used.first,
            second=used.second,
            claim=honest.price,
            n_runs=self.n_runs,
            worse=None if spent is not None else partial(self._worse, honest),
        )

    def _worse(self, honest: Setup, times: Fraction) -> Mechanism:
        """Return the mechanism planned for a larger budget, on the data of the honest one."""
        used = self.make(overspent(self.budget, times))

        def mechanism(data: Any, coins: Coins, n_runs: int) -> Any:
            return used.mechanism(used.first if data is honest.first else used.second, coins, n_runs)

        return mechanism


def overspent(budget: Budget, times: int | Fraction) -> Budget:
    """Return the budget of noise whose scale is smaller by a factor; delta stays.

    Examples
    --------
    >>> from discreet.privacy.budgets import Gdp
    >>> overspent(Gdp(mu=1), 2)
    Gdp(mu=2)
    """
    if isinstance(budget, Pure):
        return Pure(epsilon=times * budget.epsilon)
    if isinstance(budget, Approx):
        return Approx(epsilon=times * budget.epsilon, delta=budget.delta)
    if isinstance(budget, Zcdp):
        return Zcdp(rho=times**2 * budget.rho)
    return Gdp.from_squared(times**2 * budget.mu_squared)


def of_plan(plan: Plan[Any, Any, Any], read: Callable[[Any], Any]) -> Mechanism:
    """Return the mechanism that draws a plan again and again.

    Parameters
    ----------
    plan : Plan
        What to draw.
    read : callable
        Makes numbers of what was drawn: all of it, or an audit sees less than a reader does.
    """

    def mechanism(data: Any, coins: Coins, n_runs: int) -> Any:
        statistic = plan.measure(data)
        return np.array([read(plan.draw(statistic, coins)) for _ in range(n_runs)])

    return mechanism


def of_fit(model: Any, read: Callable[[Any], Any]) -> Mechanism:
    """Return the mechanism that fits a copy of an estimator again and again; data have `X` and `y`.

    Parameters
    ----------
    model : estimator
        With its declarations; it is not touched.
    read : callable
        Makes numbers of a fitted estimator.
    """

    def mechanism(data: Any, coins: Coins, n_runs: int) -> Any:
        from sklearn.base import clone

        found = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoiseDominatedWarning)
            for _ in range(n_runs):
                fitted = clone(model).fit(data.X, data.y, ledger=payer(coins, model.budget, adjacency_of(model)))
                found.append(read(fitted))
        return np.array(found)

    return mechanism


def adjacency_of(model: Any) -> Adjacency:
    """Return the adjacency of an estimator, or of the one it searches for."""
    found: Adjacency = model.adjacency if hasattr(model, "adjacency") else model.estimator.adjacency
    return found


def payer(coins: Coins, budget: Budget, adjacency: Adjacency) -> Ledger:
    """Return a ledger for one release: an audit's, or, with a test seed's coins, one that hands out these."""
    if not coins.seeded:
        return Ledger.for_audit()
    # One entry composes with nothing.
    composition = "sum" if isinstance(budget, Approx) else "auto"
    return Ledger(total=budget, adjacency=adjacency, coins=coins, composition=composition)
