"""The adaptive sampler for log-Hoelder densities: one proposal a grid, from ever finer grids, fixed in advance.

At level n the box has ``m_n`` cells a side of radius r_n. A proposal is accepted as `grids` does it; a *squeeze*
accepts the same proposal with probability ``rho_n = exp(-2 scale H r_n**s)``, whatever the data. Stopped by its squeeze
the sampler has a running time whose law is free of the data,

    P(T > k) = product over i <= k of (1 - rho_i),

and its output, the first acceptance, has the target's law exactly. **But output and time are not independent**, and
together no finite epsilon is known for them: stopped in that way it is here for audits (`run_adaptively`), not for
releases. A release (`sample_adaptively`) runs all levels, whatever happens: constant work, and an answer but for a
chance of at most P(T > last level).

A single fixed grid with `CoolDown` needs less work for one draw, and is pure: `sample`.

Proof: docs/proofs/holder.md
"""

from __future__ import annotations

import itertools
import operator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidType
from discreet.lattice.noise.bernoulli import exp_coins
from discreet.numbers.outward import exp_down, exp_up, log_up
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Approx, check_budget
from discreet.privacy.events.sampling import SamplingEvent, largest_reach, miss
from discreet.privacy.release import Release, release, settle_adjacency
from discreet.sampling.grids import MOST_CELLS, Cells, GridProposer, GridTarget, envelope_height
from discreet.sampling.mechanisms import Draw
from discreet.sampling.samplers import Counters
from discreet.sampling.targets.targets import FLOOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.coins import Coins
    from discreet.privacy.ledger import Ledger
    from discreet.sampling.grids import ScaledGrid

_FIRST = 5
_GROWTH = 3
# A grid whose squeeze accepts less than one proposal in a thousand is passed over.
_LARGEST_DROP = 7


@dataclass(frozen=True, kw_only=True, eq=False)
class Schedule:
    """A target at one public scale on several grids.

    Parameters
    ----------
    target : GridTarget
        The target.
    scale : Fraction
        What its utility is multiplied by.
    sizes : tuple of int
        Cells a side, level by level.
    n_rows : int or None
        The public number of rows, if the target's modulus needs it.
    """

    target: GridTarget
    scale: Fraction
    sizes: tuple[int, ...]
    n_rows: int | None = None

    @cached_property
    def levels(self) -> tuple[ScaledGrid, ...]:
        """The target on each grid."""
        return tuple(self.target.on_grid(self.scale, self.n_rows, size) for size in self.sizes)

    @property
    def hazards(self) -> tuple[Fraction, ...]:
        """The squeezes' probabilities, which are at most each level's acceptance; rounded down, errors included."""
        return tuple(level.acceptance * exp_down(-level.error) for level in self.levels)

    @property
    def survival(self) -> tuple[Fraction, ...]:
        """At least the probability that no proposal is accepted up to each level; P(T > k) of the squeezes."""
        return tuple(itertools.accumulate((1 - hazard for hazard in self.hazards), operator.mul))


def nested_sizes(target: GridTarget, scale: Fraction, n_rows: int | None, delta: Fraction) -> tuple[int, ...]:
    """Return tripled numbers of cells a side, so many that all levels fail with probability at most `delta`.

    The first grid is the coarsest of five cells a side, or a multiple by three, whose squeeze may accept at all.

    Raises
    ------
    IncompatiblePlan
        If the finest grid would have too many cells.
    """
    most = MOST_CELLS ** (1 / target.dimension)
    sizes: list[int] = []
    size, rest = _FIRST, Fraction(1)
    while size <= most and rest > delta:
        radius = Cells(target.bounds, size).radius
        drop = 2 * envelope_height(scale, target.modulus(n_rows), radius)
        if drop <= _LARGEST_DROP:
            sizes.append(size)
            rest *= 1 - exp_down(-drop)
        size *= _GROWTH
    if rest <= delta:
        return tuple(sizes)
    raise IncompatiblePlan(
        f"{target.name}: grids of at most {MOST_CELLS} cells leave a chance of {float(rest):.2g} that no proposal is "
        f"accepted, more than the delta of {float(delta):.2g}. Use sample(), whose grid is fixed, or lower the budget."
    )


def run_adaptively(
    schedule: Schedule,
    prepared: Any,
    coins: Coins,
    *,
    n_draws: int = 1,
    stop: bool = False,
    counters: Counters | None = None,
) -> NDArray[np.float64]:
    """Return points with the target's law, one level after the other.

    Parameters
    ----------
    schedule : Schedule
        Target, scale and grids.
    prepared : object
        What the target's `prepare` returned.
    coins : Coins
        Where all words come from.
    n_draws : int, default 1
        How many independent points.
    stop : bool, default False
        Whether a draw ends at its first squeeze acceptance, the last level being repeated until then. **Not private
        together with its running time**: for audits alone.
    counters : Counters, optional
        Is told what was done; its blocks are the levels that each draw took.

    Returns
    -------
    np.ndarray of float64, shape (n_draws, dimension)
        The first point that was accepted; the middle of the box where none was.
    """
    told = Counters() if counters is None else counters
    with np.errstate(all="ignore"):
        run = _Run(schedule, prepared, coins, n_draws)
        for number in itertools.count():
            last = number >= len(schedule.sizes) - 1
            run.level(min(number, len(schedule.sizes) - 1), told, stop=stop)
            if (last and not stop) or not run.active.size:
                break
    told.blocks = run.taken
    return run.released


class _Run:
    """A run: which draws go on, and what they have found."""

    def __init__(self, schedule: Schedule, prepared: Any, coins: Coins, n_draws: int) -> None:
        self._levels = schedule.levels
        self._prepared = prepared
        self._coins = coins
        self._proposers: dict[int, GridProposer] = {}
        self.released = np.tile(np.asarray(self._levels[0].default), (n_draws, 1))
        self.taken = np.zeros(n_draws, np.int64)
        self.active = np.arange(n_draws)
        self._found = np.zeros(n_draws, bool)

    def level(self, number: int, told: Counters, *, stop: bool) -> None:
        """Propose once for every draw that goes on."""
        if number not in self._proposers:
            self._proposers[number] = GridProposer(self._levels[number], self._prepared)
            told.evaluations += self._levels[number].cells.count
        proposer, size = self._proposers[number], self.active.size
        points = proposer.propose(self._coins, size)
        words = self._coins.words(size)
        accepted = exp_coins(np.clip(proposer.log_ratio(points), FLOOR, 0.0), words, self._coins)
        # The same word decides both, and a squeeze is the smaller probability: what it accepts the target does, too.
        squeezed = exp_coins(proposer.log_squeeze(points), words, self._coins)
        fresh = ((accepted | squeezed) & ~self._found[self.active])[:, None]
        self.released[self.active] = np.where(fresh, points.values, self.released[self.active])
        self._found[self.active] |= accepted | squeezed
        self.taken[self.active] += 1
        told.proposals += size
        told.evaluations += size
        told.words += size
        if stop:
            self.active = self.active[~squeezed]


@dataclass(frozen=True, eq=False)
class AdaptivePlan:
    """Draws that run all levels of a schedule, as a plan for the one door."""

    event: SamplingEvent
    schedule: Schedule

    def measure(self, data: Any) -> Any:
        """Return the prepared private rows."""
        return self.schedule.target.prepare(data)

    def draw(self, statistic: Any, coins: Coins) -> Draw:
        """Return the points."""
        return Draw(run_adaptively(self.schedule, statistic, coins, n_draws=self.event.n_draws))


def plan_adaptive(
    target: GridTarget,
    *,
    budget: Budget,
    adjacency: Adjacency,
    n_rows: int | None,
    sizes: Sequence[int] | None = None,
    n_draws: int = 1,
) -> AdaptivePlan:
    """Return the plan of draws that run all levels, as sharp as the budget pays for.

    Parameters
    ----------
    target : GridTarget
        What to draw from.
    budget : Approx
        Its delta is shared by the draws' chances of finding nothing.
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    n_rows : int or None
        The number of rows, under Replace; None under AddRemove.
    sizes : sequence of int, optional
        Cells a side, level by level; None triples them until the delta is reached.
    n_draws : int, default 1
        How many draws.

    Raises
    ------
    IncompatiblePlan
        If the budget has no delta, or the levels find nothing more often than it allows.

    Guarantee
    ---------
    A draw is (r - log(1 - h), h)-differentially private, r the range of its output and h the chance that no level
    accepts; the number of proposals is fixed. The event states h by an acceptance that fails as often in as many
    proposals. Proof: docs/proofs/holder.md
    """
    value = check_budget(budget)
    if not isinstance(value, Approx) or value.delta == 0:
        raise IncompatiblePlan(
            f"The adaptive sampler may find nothing, and {value!r} has no delta for that. Use sample(), whose "
            "CoolDown() is pure, or a budget Approx(epsilon=..., delta=...)."
        )
    sensitivity = target.sensitivity(adjacency)
    # The largest scale accepts least: its numbers hold for what is left when the failures are paid.
    most = largest_reach(value, n_draws=n_draws) / (2 * sensitivity)
    if sizes is None:
        # What rounding adds to the chance is taken off before.
        sizes = nested_sizes(target, most, n_rows, value.delta / n_draws * Fraction(999, 1000))
    chosen = tuple(_checks.integer(size, "sizes", low=1) for size in sizes)
    schedule = Schedule(target=target, scale=most, sizes=chosen, n_rows=n_rows)
    error, missed = max(level.error for level in schedule.levels), schedule.survival[-1]
    acceptance = 1 - exp_up(log_up(missed) / len(chosen))
    missed = miss(acceptance, len(chosen))
    reach = largest_reach(value, n_draws=n_draws, other=log_up(1 / (1 - missed)), delta=missed) - 4 * error
    if reach <= 0:
        raise IncompatiblePlan(f"{value!r} leaves nothing beside an evaluation error of {float(error):.2g}. Raise it.")
    schedule = replace(schedule, scale=reach / (2 * sensitivity))
    event = SamplingEvent(
        scale=schedule.scale,
        sensitivity=sensitivity,
        error=error,
        envelope="data-dependent",
        claim="proved",
        acceptance=acceptance,
        acceptance_high=Fraction(1),
        partner=acceptance,
        policy="truncated",
        block=len(chosen),
        parameter=Fraction(0),
        slack=Fraction(0),
        wrong=Fraction(0),
        n_draws=n_draws,
        adjacency=adjacency,
        budget=value,
        statistic=f"{target.name}, adaptive grids",
        shape=(n_draws, target.dimension),
    )
    return AdaptivePlan(event, schedule)


def sample_adaptively(
    target: GridTarget,
    data: Any,
    *,
    budget: Budget,
    adjacency: Adjacency | None = None,
    ledger: Ledger | None = None,
    sizes: Sequence[int] | None = None,
    n_draws: int = 1,
) -> Release[Draw]:
    """Draw from a log-Hoelder density by the adaptive sampler, all levels of which are run.

    Parameters
    ----------
    target, data, budget, adjacency, ledger, n_draws
        See :func:`sample`; the budget must have a delta.
    sizes : sequence of int, optional
        Cells a side, level by level.

    Guarantee
    ---------
    See `plan_adaptive`. Proof: docs/proofs/holder.md

    Examples
    --------
    >>> from discreet.lattice.bounds import Interval
    >>> from discreet.sampling.targets.holder import LogHoelder
    >>> def utility(points, rows):
    ...     return -np.abs(points - rows.T).sum(axis=1)
    >>> target = LogHoelder(utility=utility, bounds=Interval(0, 1), constant=20, change=1, example=np.zeros((20, 1)))
    >>> released = sample_adaptively(target, np.full(20, 0.25), budget=Approx(epsilon=1, delta="1e-6"),
    ...                              adjacency=Replace())
    >>> released.value.point.shape, released.event.block
    ((1,), 7)
    """
    if not isinstance(target, GridTarget):
        raise InvalidType(f"`target` must be a target with a grid; found {type(target).__name__}.")
    relation = settle_adjacency(adjacency, ledger, units=False)
    n_rows = target.count(data) if isinstance(relation, Replace) else None
    draws = _checks.integer(n_draws, "n_draws", low=1, high=10**6)
    plan = plan_adaptive(target, budget=budget, adjacency=relation, n_rows=n_rows, sizes=sizes, n_draws=draws)
    return release(plan, data, ledger)
