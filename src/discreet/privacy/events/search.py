"""Private search: the best of a secret number of private runs, priced as one release."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self

from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.numbers.outward import log_up
from discreet.privacy.accounting import zcdp_epsilon
from discreet.privacy.budgets import Approx, Budget, Pure, Zcdp, budget_from_json, check_budget, to_json
from discreet.privacy.events.event import Event, Names
from discreet.privacy.events.run_laws import RunLaw

# Bits of a run's budget, found by halving and then rounded down.
_BITS = 32


@dataclass(frozen=True, kw_only=True)
class _SearchEvent(Event):
    """What both kinds of search have in common: a run's budget, and the law of how many runs count."""

    run: Budget

    @property
    @abstractmethod
    def runs(self) -> RunLaw:
        """The law of the number of runs that count."""

    def _check_numbers(self) -> None:
        check_budget(self.run, "run")
        if not isinstance(self.run, (Pure, Zcdp)):
            raise InvalidArgument(f"`run` must be in Pure or Zcdp; found {self.run!r}.")
        if isinstance(self.run, Zcdp) and not (isinstance(self.budget, Approx) and self.budget.delta > 0):
            raise InvalidArgument(
                f"`budget` must be in Approx, with a delta above 0, where `run` is in Zcdp; found {self.budget!r}."
            )
        _ = self.runs  # checks the law

    @cached_property
    def price(self) -> Pure | Approx:
        """Pure where `run` is, otherwise Approx at the budget's delta."""
        if isinstance(self.run, Pure):
            return Pure(epsilon=_pure_epsilon(self.run.epsilon, self.runs))
        assert isinstance(self.run, Zcdp)  # noqa: S101  (checked when made)
        assert isinstance(self.budget, Approx)  # noqa: S101
        delta = self.budget.delta
        return Approx(epsilon=search_epsilon(rho=self.run.rho, law=self.runs, delta=delta), delta=delta)

    def to_json(self) -> dict[str, Any]:
        """Return the event as plain JSON."""
        return super().to_json() | {"run": to_json(self.run)}

    @classmethod
    def _from_fields(cls, stored: dict[str, Any]) -> Self:
        return super()._from_fields(stored | {"run": budget_from_json(stored.get("run"))})


@dataclass(frozen=True, kw_only=True)
class EvenSearchEvent(_SearchEvent):
    """The best of a secret number of private runs, by scores that the runs release; each candidate is run as often.

    Parameters
    ----------
    run : Pure or Zcdp
        What one run keeps, its score included. Fitting and scoring look at different records, so they do not add up.
    law : {"geometric", "logarithmic"}
        Law of the number of runs that count, see `RunLaw`.
    stop : Fraction
        Its parameter.
    runs_each : int
        How many runs each candidate has, always: the sequence of runs tells nothing of which ones count.
    n_candidates : int
        Among how many public settings each run that counts is chosen at random.

    Guarantee
    ---------
    For the result and the sequence of runs together, with L = log(1 / stop), eta = 1 for geometric and 0 for
    logarithmic, and `kept`, `factor` of `RunLaw`:
    for `run` in Pure, Pure with epsilon = (2 + eta) * run + log(1 / kept);
    for `run` in Zcdp, Approx at the budget's delta with epsilon = (1 + eta) * ((a - 1) * rho + L / a) +
    log(1 / kept) + the epsilon of rho at delta / factor, for the best a >= 1. All rounded up.
    Proof: docs/proofs/private_search.md. Source: Papernot and Steinke 2022, here with bounded counts.

    Examples
    --------
    >>> from discreet.privacy.adjacency import Replace
    >>> EvenSearchEvent(run=Pure(epsilon=1), law="geometric", stop=Fraction(1, 2), runs_each=20, n_candidates=4,
    ...                 adjacency=Replace(), budget=Pure(epsilon="3.1"), statistic="a fit", shape=()).price < Pure(
    ...                 epsilon="3.00001")
    True
    """

    kind: ClassVar[str] = "even-search"
    _positive: ClassVar[Names] = ("stop",)
    _counts: ClassVar[Names] = ("runs_each", "n_candidates")

    law: str
    stop: Fraction
    runs_each: int
    n_candidates: int

    @property
    def runs(self) -> RunLaw:
        """The law of the number of runs that count."""
        most_runs = self.runs_each * self.n_candidates
        return RunLaw(name=self.law, stop=self.stop, most_runs=most_runs, n_candidates=self.n_candidates)


@dataclass(frozen=True, kw_only=True)
class PrivateSearchEvent(_SearchEvent):
    """A search of an older version: each run drew its candidate when its turn came; kept to read what was stored.

    Parameters
    ----------
    run : Pure or Zcdp
        What one run keeps, its score included.
    law : {"geometric", "logarithmic"}
        Law of the number of runs that count, see `RunLaw`.
    stop : Fraction
        Its parameter.
    most_runs : int
        How many runs were made: the largest K.
    n_candidates : int
        Among how many public settings each run chose at random.

    Guarantee
    ---------
    For the result alone: as `EvenSearchEvent`, with the law of K bounded by `most_runs`. Whoever saw how long each
    run took may have seen the order of the candidates, and learned more.
    Proof: docs/proofs/private_search.md

    Examples
    --------
    >>> from discreet.privacy.adjacency import Replace
    >>> PrivateSearchEvent(run=Pure(epsilon=1), law="geometric", stop=Fraction(1, 2), most_runs=60, n_candidates=4,
    ...                    adjacency=Replace(), budget=Pure(epsilon="3.1"), statistic="a fit", shape=()).price < Pure(
    ...                    epsilon="3.0000001")
    True
    """

    kind: ClassVar[str] = "private-search"
    _positive: ClassVar[Names] = ("stop",)
    _counts: ClassVar[Names] = ("most_runs", "n_candidates")

    law: str
    stop: Fraction
    most_runs: int
    n_candidates: int

    @property
    def runs(self) -> RunLaw:
        """The law of the number of runs."""
        return RunLaw(name=self.law, stop=self.stop, most_runs=self.most_runs)


def _pure_epsilon(epsilon: Fraction, law: RunLaw) -> Fraction:
    return (2 + law.exponent) * epsilon + _cut(law)


@lru_cache(maxsize=64)
def _cut(law: RunLaw) -> Fraction:
    """Return log(1 / kept), rounded up: what it costs that the runs are bounded."""
    return log_up(1 / law.kept)


def search_epsilon(*, rho: Fraction, law: RunLaw, delta: Fraction) -> Fraction:
    """Return what the best of K runs of rho each costs at a delta; rounded up.

    Parameters
    ----------
    rho : Fraction
        What a run keeps, in Zcdp; greater than 0.
    law : RunLaw
        Of the number of runs.
    delta : Fraction
        In (0, 1).

    Examples
    --------
    >>> law = RunLaw(name="geometric", stop=Fraction(1, 10), most_runs=100)
    >>> round(float(search_epsilon(rho=Fraction(1, 50), law=law, delta=Fraction(1, 10**5))), 3)
    1.719
    """
    length = log_up(1 / law.stop)
    # Every a >= 1 is sound; few digits make the answer the same everywhere.
    order = max(Fraction(1), Fraction(round(64 * math.sqrt(length / rho)), 64))
    of_choice = (1 + law.exponent) * ((order - 1) * rho + length / order)
    return of_choice + _cut(law) + zcdp_epsilon(delta=delta / law.factor, rho=rho)


def run_budget(budget: Budget, law: RunLaw) -> Pure | Zcdp:
    """Return what each run may keep so that the search costs at most `budget`; rounded down.

    Parameters
    ----------
    budget : Pure, or Approx with a delta above 0
        What the search may cost.
    law : RunLaw
        Of the number of runs.

    Raises
    ------
    IncompatiblePlan
        If the budget is in another currency, for which no price of a search is proved.
    InvalidArgument
        If nothing is left for a run.

    Examples
    --------
    >>> law = RunLaw(name="geometric", stop=Fraction(1, 10), most_runs=100)
    >>> rho = run_budget(Approx(epsilon=2, delta="1e-5"), law).rho
    >>> 0.02 < rho < 0.03
    True
    """
    value = check_budget(budget)
    if isinstance(value, Pure):
        epsilon = (value.epsilon - _cut(law)) / (2 + law.exponent)
        if epsilon > 0:
            return Pure(epsilon=epsilon)
        raise InvalidArgument(_NOTHING.format(value))
    if not isinstance(value, Approx) or value.delta == 0:
        raise IncompatiblePlan(
            f"A private search has a proved price in Pure and in Approx with a delta above 0; found {value!r}. "
            "Give one of these."
        )
    return Zcdp(rho=_largest_rho(value, law))


_NOTHING = "`budget` {!r} leaves nothing for a run of the search. Raise it, or `most_runs`, or lower `mean_runs`."


@lru_cache(maxsize=64)
def _largest_rho(budget: Approx, law: RunLaw) -> Fraction:
    low, high = Fraction(0), Fraction(1)
    while search_epsilon(rho=high, law=law, delta=budget.delta) <= budget.epsilon:
        low, high = high, 2 * high
    for _ in range(_BITS + 20):
        middle = (low + high) / 2
        if search_epsilon(rho=middle, law=law, delta=budget.delta) <= budget.epsilon:
            low = middle
        else:
            high = middle
        if low > 0 and (high - low) * 2**_BITS <= high:
            break
    if low > 0:
        return low
    raise InvalidArgument(_NOTHING.format(budget))
