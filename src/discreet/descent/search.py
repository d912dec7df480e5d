"""A private search without its runs: which records score, how many runs count, and the noise on a score."""

from __future__ import annotations

import hashlib
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.lattice.noise.gaussian import rounded_gaussian
from discreet.lattice.noise.laplace import rounded_laplace
from discreet.privacy.budgets import Budget, Pure, Zcdp
from discreet.privacy.events.run_laws import RunLaw

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from discreet.privacy.coins import Coins

# A record's loss is at most this many units.
LOSS_UNITS = 1 << 16


def by_position(n_rows: int, share: Fraction) -> NDArray[np.bool_]:
    """Return which rows score, spread evenly over a public number of rows.

    Examples
    --------
    >>> from fractions import Fraction
    >>> by_position(5, Fraction(2, 5)).tolist()
    [False, False, True, False, True]
    """
    steps = [(row * share.numerator) // share.denominator for row in range(n_rows + 1)]
    return np.diff(steps) > 0


def by_content(features: Any, target: NDArray[np.float64], share: Fraction) -> NDArray[np.bool_]:
    """Return which rows score: each by a hash of its own cells and target, and of nothing else.

    Examples
    --------
    >>> from fractions import Fraction
    >>> X, y = np.array([[1.0], [2.0], [1.0]]), np.array([0.0, 1.0, 0.0])
    >>> first, _, third = by_content(X, y, Fraction(1, 2)).tolist()
    >>> first == third
    True
    """
    import scipy.sparse

    threshold = (share.numerator << 64) // share.denominator
    scores = np.empty(target.size, dtype=np.bool_)
    sparse = scipy.sparse.issparse(features)
    for row in range(target.size):
        digest = hashlib.blake2b(target[row].tobytes(), digest_size=8)
        if sparse:
            start, stop = features.indptr[row], features.indptr[row + 1]
            digest.update(features.indices[start:stop].astype(np.int64).tobytes())
            digest.update(features.data[start:stop].tobytes())
        else:
            digest.update(features[row].tobytes())
        scores[row] = int.from_bytes(digest.digest(), "little") < threshold
    return scores


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
