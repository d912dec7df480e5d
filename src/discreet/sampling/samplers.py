"""One block loop for every policy: propose, toss, evaluate, select; no block is ever left early.

Of every block all words are drawn and all proposals evaluated, and one proposal a draw is settled whether one was
accepted or not. How often the loop turns is the running time that the event prices; it is a function of the counts of
blocks alone. Counters see it; results do not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.lattice.noise.bernoulli import exp_coins
from discreet.lattice.noise.thresholds import Threshold
from discreet.numbers.outward import float_down

if TYPE_CHECKING:
    from fractions import Fraction

    from discreet.privacy.coins import Coins
    from discreet.privacy.events.sampling import Runtime
    from discreet.sampling.targets.targets import Proposer, ScaledTarget

# Proposals that are evaluated together, at most.
PIECE = 1 << 14


@dataclass
class Counters:
    """What a run did, for tests and audits: it is a release of its own, priced by the event, and in no result.

    Parameters
    ----------
    proposals, evaluations, words : int
        How many points were proposed, how many were evaluated, how many acceptance words were drawn, in all.
    blocks : np.ndarray of int64, shape (n_draws,)
        How many blocks each draw took; proposals where a block has one.
    calls : list of int
        How many proposals each call of the target evaluated, in order.
    """

    proposals: int = 0
    evaluations: int = 0
    words: int = 0
    blocks: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    calls: list[int] = field(default_factory=list)


def run(
    scaled: ScaledTarget,
    prepared: Any,
    runtime: Runtime,
    coins: Coins,
    *,
    n_draws: int = 1,
    counters: Counters | None = None,
) -> np.ndarray:
    """Return points with the target's law, by a policy.

    Parameters
    ----------
    scaled : ScaledTarget
        The target at its public scale.
    prepared : object
        What the target's `prepare` returned.
    runtime : Runtime
        The policy's public numbers.
    coins : Coins
        Where all words come from.
    n_draws : int, default 1
        How many independent points.
    counters : Counters, optional
        Is told what was done; for tests and audits.

    Returns
    -------
    np.ndarray of float64, shape (n_draws, dimension)

    Guarantee
    ---------
    Points and counts of blocks together have the price of the `SamplingEvent` with these numbers. Nothing raises on
    a private value. Proof: docs/proofs/sampling.md
    """
    told = Counters() if counters is None else counters
    with np.errstate(all="ignore"):
        waits = _waits(runtime, n_draws, coins)
        proposer = scaled.begin(prepared)
        loop = _Loop(scaled, proposer, runtime, coins, told)
        return loop.turn(n_draws, waits)


def _waits(runtime: Runtime, n_draws: int, coins: Coins) -> np.ndarray:
    """Draw how many further blocks follow each draw's acceptance, before anything is known of the data."""
    waits = np.zeros(n_draws, np.int64)
    if runtime.policy != "cool-down":
        return waits
    going = np.arange(n_draws)
    threshold = _threshold(runtime.parameter, coins)
    while going.size:
        going = going[_rational_coins(threshold, coins.words(going.size), coins)]
        waits[going] += 1
    return waits


def _threshold(probability: Fraction, coins: Coins) -> Threshold | None:
    """Return the digits of a public probability; None stands for 1."""
    return None if probability == 1 else Threshold(lambda reals: reals.of(probability), coins.word_bits)


def _rational_coins(threshold: Threshold | None, words: np.ndarray, coins: Coins) -> np.ndarray:
    if threshold is None:
        return np.ones(words.shape, bool)
    success = words < threshold.first
    for index in np.flatnonzero(words == threshold.first).tolist():
        success[index] = threshold.settle(coins, 1)
    return success


class _Loop:
    """A run: what stays the same from block to block."""

    def __init__(
        self, scaled: ScaledTarget, proposer: Proposer, runtime: Runtime, coins: Coins, counters: Counters
    ) -> None:
        self._scaled = scaled
        self._proposer = proposer
        self._runtime = runtime
        self._coins = coins
        self._counters = counters
        self._shift = 0.0
        self._squeeze: Threshold | None = None
        if runtime.policy == "constant":
            self._shift = float(np.log(float_down(runtime.parameter))) - proposer.log_acceptance()
        if runtime.policy == "plain":
            self._shift = float(np.log(float_down(runtime.parameter)))
        if runtime.policy == "squeeze":
            self._squeeze = _threshold(runtime.parameter, coins)

    def turn(self, n_draws: int, waits: np.ndarray) -> np.ndarray:
        """Run blocks until every draw has ended by the policy's rule."""
        released = np.tile(np.asarray(self._scaled.default, np.float64), (n_draws, 1))
        found, blocks = np.zeros(n_draws, bool), np.zeros(n_draws, np.int64)
        active = np.arange(n_draws)
        while active.size:
            accepted, chosen, ended = self._blocks(active.size)
            # What is a dummy block to a draw that has its point is a block like any other to the clock.
            before = found[active]
            fresh = (accepted & ~before)[:, None]
            released[active] = np.where(fresh, chosen, released[active])
            found[active] |= accepted
            blocks[active] += 1
            waits[active] -= before
            if self._runtime.policy == "truncated":
                break
            over = ended if self._runtime.policy == "squeeze" else found[active] & (waits[active] == 0)
            active = active[~over]
        self._counters.blocks = blocks
        return released

    def _blocks(self, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Run one block for each of `size` draws: whether a proposal was accepted, the first, and whether to end."""
        length = self._runtime.block
        accepted, ended = np.zeros(size, bool), np.zeros(size, bool)
        chosen = np.zeros((size, self._scaled.dimension))
        together = max(1, PIECE // length)
        for start in range(0, size, together):
            rows = slice(start, min(start + together, size))
            for begin in range(0, length, PIECE):
                shape = (rows.stop - rows.start, min(PIECE, length - begin))
                found, points, over = self._piece(shape)
                fresh = (found & ~accepted[rows])[:, None]
                chosen[rows] = np.where(fresh, points, chosen[rows])
                accepted[rows] |= found
                ended[rows] |= over
        return accepted, chosen, ended

    def _piece(self, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        size = shape[0] * shape[1]
        points = self._proposer.propose(self._coins, size)
        words = self._coins.words(size)
        ratios = np.asarray(self._proposer.log_ratio(points), np.float64)
        self._count(size)
        floor = self._scaled.floor
        clamped = np.clip(np.where(np.isnan(ratios), floor, ratios), floor, 0.0)
        tossed = exp_coins(clamped + self._shift, words, self._coins)
        over = np.zeros(shape, bool)
        if self._runtime.policy == "squeeze":
            ends = self._squeezed(points, words)
            # A squeeze accepts what the target accepts, too: the same word decides.
            tossed |= ends
            over = ends.reshape(shape)
        table = tossed.reshape(shape)
        first = table.argmax(axis=1)
        indices = np.arange(shape[0]) * shape[1] + first
        settled = self._proposer.settle(points, indices, self._coins)
        return np.logical_or.reduce(table, axis=1), settled, np.logical_or.reduce(over, axis=1)

    def _squeezed(self, points: Any, words: np.ndarray) -> np.ndarray:
        lower = self._proposer.log_squeeze(points)
        if lower is not None:
            return exp_coins(np.minimum(lower, 0.0), words, self._coins)
        return _rational_coins(self._squeeze, words, self._coins)

    def _count(self, size: int) -> None:
        self._counters.proposals += size
        self._counters.evaluations += size
        self._counters.words += size
        self._counters.calls.append(size)
