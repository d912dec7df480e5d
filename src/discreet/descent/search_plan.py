"""The plan of a private search: how many runs count, what each does, and which one is released."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from discreet.descent.search_rows import LOSS_UNITS, SplitRows, total_loss
from discreet.lattice.noise.gaussian import rounded_gaussian
from discreet.lattice.noise.laplace import rounded_laplace
from discreet.privacy.budgets import Budget, Pure, Zcdp
from discreet.privacy.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.lattice.coins import Coins
    from discreet.privacy.search_events import PrivateSearchEvent, RunLaw


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
    event : PrivateSearchEvent
        The law of the number of runs, and the price.
    test_share : Fraction
        Which part of the rows scores.
    """

    runs: tuple[Any, ...]
    event: PrivateSearchEvent
    test_share: Fraction

    def measure(self, data: SplitRows) -> SplitRows:
        """Return the split rows; the runs look at them one after the other."""
        return data

    def draw(self, statistic: SplitRows, coins: Coins) -> Found:
        """Return the best of the first K runs; always makes `most_runs` of them."""
        law = self.event.runs
        n_runs = draw_run_count(law, coins)
        best: Found | None = None
        for number in range(1, law.most_runs + 1):
            run = self._one(statistic, coins)
            # Of equal scores the first stays: runs are exchangeable, so that is a choice at random.
            if number <= n_runs and (best is None or run.score < best.score):
                best = run
        assert best is not None  # noqa: S101  (K is at least 1)
        return best

    def _one(self, rows: SplitRows, coins: Coins) -> Found:
        index = draw_below(len(self.runs), coins)
        estimator = clone(self.runs[index])
        # A ledger of its own: the fit can spend a run's budget, and no more.
        payer = Ledger(total=self.event.run, adjacency=self.event.adjacency, coins=coins)
        estimator.fit(rows.private_train, rows.private_train_y, ledger=payer)
        private_loss = total_loss(estimator, rows.private_test, rows.private_test_y)
        return Found(index, estimator, noisy_score(private_loss, self.event.run, coins))


def draw_below(size: int, coins: Coins) -> int:
    """Return a uniform whole number in [0, size); exact.

    Examples
    --------
    >>> from discreet.lattice.coins import Coins
    >>> 0 <= draw_below(3, Coins.from_system()) < 3
    True
    """
    weights = (Fraction(1, size),) * size
    return _invert(weights, coins)


def draw_run_count(law: RunLaw, coins: Coins) -> int:
    """Return K from its public law; exact."""
    return 1 + _invert(law.probabilities, coins)


def _invert(probabilities: Sequence[Fraction], coins: Coins) -> int:
    """Return an index with exactly these probabilities: a uniform number, lengthened until it is within one cell."""
    low, width = Fraction(0), Fraction(1)
    while True:
        width /= 2**coins.word_bits
        low += int(coins.words(1)[0]) * width
        edge = Fraction(0)
        for index, probability in enumerate(probabilities):
            edge += probability
            if low < edge:
                if low + width <= edge:
                    return index
                break


def noisy_score(private_loss: int, run: Budget, coins: Coins) -> int:
    """Return a sum of losses with noise that costs a run's budget; one record moves the sum by at most LOSS_UNITS."""
    statistic = np.array([private_loss], dtype=np.int64)
    if isinstance(run, Pure):
        return int(rounded_laplace(statistic, scale=LOSS_UNITS / run.epsilon, coins=coins)[0])
    assert isinstance(run, Zcdp)  # noqa: S101
    return int(rounded_gaussian(statistic, variance=LOSS_UNITS**2 / (2 * run.rho), coins=coins)[0])
