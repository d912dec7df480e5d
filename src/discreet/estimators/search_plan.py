"""The plan of a private search: how many runs count, what each does, and which one is released."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from discreet.estimators.search_rows import LOSS_UNITS, SplitRows, total_loss
from discreet.lattice.noise.gaussian import rounded_gaussian
from discreet.lattice.noise.laplace import rounded_laplace
from discreet.privacy.budgets import Budget, Pure, Zcdp
from discreet.privacy.events.run_laws import RunLaw
from discreet.privacy.ledger import Ledger

if TYPE_CHECKING:
    from fractions import Fraction

    from discreet.privacy.coins import Coins
    from discreet.privacy.events.search import EvenSearchEvent


@dataclass(frozen=True, eq=False)
class Found:
    """What a search released: public from now on.

    Parameters
    ----------
    index : int
        Which candidate.
    estimator : object
        Its fitted copy.
    score : int
        Its losses on the other part of the rows, with noise, in units of 2**-16 of the largest loss.
    """

    index: int
    estimator: Any
    score: int


@dataclass(frozen=True, eq=False)
class SearchPlan:
    """What one search will do; priced without data.

    Parameters
    ----------
    runs : tuple of estimators
        One a candidate, unfitted, each with the budget of a run.
    event : EvenSearchEvent
        The law of how many runs count, and the price.
    test_share : Fraction
        Which part of the rows scores.
    """

    runs: tuple[Any, ...]
    event: EvenSearchEvent
    test_share: Fraction

    def measure(self, data: SplitRows) -> SplitRows:
        """Return the split rows; all runs look at them."""
        return data

    def draw(self, statistic: SplitRows, coins: Coins) -> Found:
        """Return the best of the runs that count; always runs every candidate equally often, in the same order."""
        counts = draw_counts(self.event.runs, coins)
        best: Found | None = None
        for index, counted in enumerate(counts):
            for number in range(self.event.runs_each):
                run = self._one(index, statistic, coins)
                # Of equal scores the first candidate's stays: a rule that looks at nothing but the runs' outputs.
                if number < counted and (best is None or run.score < best.score):
                    best = run
        assert best is not None  # noqa: S101  (some run counts)
        return best

    def _one(self, index: int, rows: SplitRows, coins: Coins) -> Found:
        estimator = clone(self.runs[index])
        # A ledger of its own: the fit can spend a run's budget, and no more.
        payer = Ledger(total=self.event.run, adjacency=self.event.adjacency, coins=coins)
        estimator.fit_quietly(rows.private_train, rows.private_train_y, ledger=payer)
        private_loss = total_loss(estimator, rows.private_test, rows.private_test_y)
        return Found(index, estimator, noisy_score(private_loss, self.event.run, coins))


def draw_counts(law: RunLaw, coins: Coins) -> list[int]:
    """Return how many runs of each candidate count; exact.

    A try makes the same draws whatever it finds, and tries are independent: their number, which time tells, is
    independent of the counts.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from discreet.privacy.coins import Coins
    >>> law = RunLaw(name="geometric", stop=Fraction(1, 2), most_runs=6, n_candidates=2)
    >>> 1 <= sum(draw_counts(law, Coins.from_system())) <= 6
    True
    """
    of_their_number = RunLaw(name=law.name, stop=law.stop, most_runs=law.most_runs)
    while True:
        n_runs = draw_run_count(of_their_number, coins)
        counts = [0] * law.n_candidates
        for number in range(law.most_runs):
            counts[draw_below(law.n_candidates, coins)] += number < n_runs
        if max(counts) <= law.runs_each:
            return counts


def draw_below(size: int, coins: Coins) -> int:
    """Return a uniform whole number in [0, size); exact.

    Examples
    --------
    >>> from discreet.privacy.coins import Coins
    >>> 0 <= draw_below(3, Coins.from_system()) < 3
    True
    """
    low = bits = 0
    while True:
        low, bits = _longer(low, bits, coins)
        first, last = low * size >> bits, ((low + 1) * size - 1) >> bits
        if first == last:
            return first


def draw_run_count(law: RunLaw, coins: Coins) -> int:
    """Return K from its public law; exact.

    A uniform number is lengthened until it lies within one cell. It is compared with all edges, so that the work does
    not tell K.
    """
    edges = list(accumulate(law.whole_weights))
    total, low, bits = edges[-1], 0, 0
    while True:
        low, bits = _longer(low, bits, coins)
        start, end = low * total, (low + 1) * total
        passed = sum(edge << bits <= start for edge in edges)
        if passed == sum(edge << bits < end for edge in edges):
            return 1 + passed


def _longer(low: int, bits: int, coins: Coins) -> tuple[int, int]:
    """Return a binary number in [0, 1) with one more random word, and how many bits it has."""
    return (low << coins.word_bits) | int(coins.words(1)[0]), bits + coins.word_bits


def noisy_score(private_loss: int, run: Budget, coins: Coins) -> int:
    """Return a sum of losses with noise that costs a run's budget; one record moves the sum by at most LOSS_UNITS."""
    statistic = np.array([private_loss], dtype=np.int64)
    if isinstance(run, Pure):
        return int(rounded_laplace(statistic, scale=LOSS_UNITS / run.epsilon, coins=coins)[0])
    assert isinstance(run, Zcdp)  # noqa: S101
    return int(rounded_gaussian(statistic, variance=LOSS_UNITS**2 / (2 * run.rho), coins=coins)[0])
