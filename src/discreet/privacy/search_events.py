"""Private search: the best of a secret number of private runs, priced as one release."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Self

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.privacy.accounting import zcdp_epsilon
from discreet.privacy.budgets import Approx, Budget, Pure, Zcdp, budget_from_json, check_budget, to_json
from discreet.privacy.events import Event
from discreet.privacy.outward import log_up

LAWS = ("geometric", "logarithmic")
# Weights are exact rationals, whose digits grow with the number of runs.
MOST_RUNS = 2000
_LEAST_STOP = Fraction(1, 1000)
# Bits of a run's budget, found by halving and then rounded down.
_BITS = 32


@dataclass(frozen=True, kw_only=True)
class RunLaw:
    """The public law of the secret number of runs that count.

    Parameters
    ----------
    name : {"geometric", "logarithmic"}
        K has weights (1 - stop)**k, or (1 - stop)**k / k, for k = 1 to `most_runs`.
    stop : Fraction
        In [1/1000, 1).
    most_runs : int
        The largest K, 1 to 2000.

    Examples
    --------
    >>> law = RunLaw(name="geometric", stop=Fraction(1, 2), most_runs=2)
    >>> law.probabilities
    (Fraction(2, 3), Fraction(1, 3))
    """

    name: str
    stop: Fraction
    most_runs: int

    def __post_init__(self) -> None:
        _checks.one_of(self.name, "law", LAWS)
        stop = _checks.exact(self.stop, "stop")
        if not _LEAST_STOP <= stop < 1:
            raise InvalidArgument(f"`stop` must be in [{_LEAST_STOP}, 1); found {stop}.")
        object.__setattr__(self, "stop", stop)
        object.__setattr__(self, "most_runs", _checks.integer(self.most_runs, "most_runs", low=1, high=MOST_RUNS))

    @property
    def exponent(self) -> int:
        """Eta of the negative binomial law: 1 for geometric, 0 for logarithmic."""
        return 1 if self.name == "geometric" else 0

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """Weights of K = 1, 2, ..., not divided by their sum."""
        return _weights(self)

    @property
    def probabilities(self) -> tuple[Fraction, ...]:
        """Probabilities of K = 1, 2, ...; exact."""
        total = sum(self.weights)
        return tuple(weight / total for weight in self.weights)

    @property
    def mean(self) -> Fraction:
        """The expected number of runs that count."""
        return sum((k * p for k, p in enumerate(self.probabilities, 1)), Fraction(0))

    @property
    def endless_mean(self) -> Fraction:
        """The sum of k times weight over all k, also those above `most_runs`."""
        return (1 - self.stop) / self.stop ** (self.exponent + 1)

    @property
    def kept(self) -> Fraction:
        """The part of `endless_mean` that comes from k up to `most_runs`."""
        return sum((k * w for k, w in enumerate(self.weights, 1)), Fraction(0)) / self.endless_mean

    @property
    def factor(self) -> Fraction:
        """What multiplies delta: the mean of K, were its law continued beyond `most_runs`."""
        return _factor(self)


@lru_cache(maxsize=64)
def _factor(law: RunLaw) -> Fraction:
    return law.endless_mean / sum(law.weights)


@lru_cache(maxsize=64)
def _weights(law: RunLaw) -> tuple[Fraction, ...]:
    powers = ((1 - law.stop) ** k for k in range(1, law.most_runs + 1))
    return tuple(power if law.exponent else power / k for k, power in enumerate(powers, 1))


@dataclass(frozen=True, kw_only=True)
class PrivateSearchEvent(Event):
    """The best of K private runs, by scores that the runs release; K is secret, drawn first, from a public law.

    Parameters
    ----------
    run : Pure or Zcdp
        What one run keeps, its score included. Fitting and scoring look at different records, so they do not add up.
    law : {"geometric", "logarithmic"}
        Law of K, see `RunLaw`.
    stop : Fraction
        Its parameter.
    most_runs : int
        The largest K. So many runs are always made, so that the clock does not tell K.
    n_candidates : int
        Among how many public settings each run chooses at random.

    Guarantee
    ---------
    With L = log(1 / stop), eta = 1 for geometric and 0 for logarithmic, and `kept`, `factor` of `RunLaw`:
    for `run` in Pure, Pure with epsilon = (2 + eta) * run + log(1 / kept);
    for `run` in Zcdp, Approx at the budget's delta with epsilon = (1 + eta) * ((a - 1) * rho + L / a) +
    log(1 / kept) + the epsilon of rho at delta / factor, for the best a >= 1. All rounded up.
    Proof: docs/proofs/private_search.md. Source: Papernot and Steinke 2022, here with K bounded.

    Examples
    --------
    >>> from discreet.privacy.adjacency import Replace
    >>> PrivateSearchEvent(run=Pure(epsilon=1), law="geometric", stop=Fraction(1, 2), most_runs=60, n_candidates=4,
    ...                    adjacency=Replace(), budget=Pure(epsilon="3.1"), statistic="a fit", shape=()).price < Pure(
    ...                    epsilon="3.0000001")
    True
    """

    kind: ClassVar[str] = "private-search"

    run: Budget
    law: str
    stop: Fraction
    most_runs: int
    n_candidates: int

    def _check_numbers(self) -> None:
        check_budget(self.run, "run")
        if not isinstance(self.run, (Pure, Zcdp)):
            raise InvalidArgument(f"`run` must be in Pure or Zcdp; found {self.run!r}.")
        self._set(
            stop=_checks.exact_positive(self.stop, "stop"),
            most_runs=_checks.whole(self.most_runs, "most_runs", low=1),
            n_candidates=_checks.whole(self.n_candidates, "n_candidates", low=1),
        )
        if isinstance(self.run, Zcdp) and not (isinstance(self.budget, Approx) and self.budget.delta > 0):
            raise InvalidArgument(
                f"`budget` must be in Approx, with a delta above 0, where `run` is in Zcdp; found {self.budget!r}."
            )
        _ = self.runs  # checks the law

    @property
    def runs(self) -> RunLaw:
        """The law of the number of runs."""
        return RunLaw(name=self.law, stop=self.stop, most_runs=self.most_runs)

    @property
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


def _pure_epsilon(epsilon: Fraction, law: RunLaw) -> Fraction:
    return (2 + law.exponent) * epsilon + _cut(law)


@lru_cache(maxsize=64)
def _cut(law: RunLaw) -> Fraction:
    """Return log(1 / kept), rounded up: what it costs that K is bounded."""
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


def law_of_mean(name: str, mean_runs: int, most_runs: int | None = None) -> RunLaw:
    """Return the law whose mean, were it endless, is about `mean_runs`.

    Parameters
    ----------
    name : {"geometric", "logarithmic"}
        Which law.
    mean_runs : int
        2 to 200.
    most_runs : int or None
        None for the fewest that keep 97 % of the mean.

    Examples
    --------
    >>> law_of_mean("geometric", 10).most_runs, law_of_mean("logarithmic", 10).most_runs
    (51, 129)
    """
    mean = _checks.integer(mean_runs, "mean_runs", low=2, high=200)
    if _checks.one_of(name, "law", LAWS) == "geometric":
        stop = Fraction(1, mean)
    else:
        low, high = 1e-3, 0.999
        for _ in range(60):
            middle = (low + high) / 2
            if (1 - middle) / (middle * -math.log(middle)) > mean:
                low = middle
            else:
                high = middle
        stop = max(_LEAST_STOP, Fraction(round(1000 * high), 1000))
    if most_runs is not None:
        return RunLaw(name=name, stop=stop, most_runs=most_runs)
    low_runs, high_runs = 1, MOST_RUNS
    while low_runs < high_runs:
        middle_runs = (low_runs + high_runs) // 2
        if _kept_share(name, float(stop), middle_runs) >= _KEPT:
            high_runs = middle_runs
        else:
            low_runs = middle_runs + 1
    return RunLaw(name=name, stop=stop, most_runs=low_runs)


_KEPT = 0.97


def _kept_share(name: str, stop: float, most_runs: int) -> float:
    """Return `RunLaw.kept` in doubles."""
    rest = (1 - stop) ** most_runs
    return 1 - rest * (1 + most_runs * stop if name == "geometric" else 1)
