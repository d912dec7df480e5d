"""The steps of a preconditioned descent, and the clip that follows a noisy count of what it clips."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.lattice.noise.gaussian import rounded_gaussian
from discreet.lattice.noise.l2_norm import l2_norm
from discreet.lattice.noise.laplace import rounded_laplace
from discreet.lattice.noise.steps import step_bits_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from discreet.descent.preconditioned.rows import WhitenedRows
    from discreet.descent.preconditioned.settings import Settings
    from discreet.privacy.coins import Coins
    from discreet.privacy.events.preconditioned import PreconditionedEvent

# An iterate's entries are kept within this, so that no step ever raises.
_LARGEST_ENTRY = 1e30
# What a count may do to the clip in one step, before the gain's exponent.
_LEAST_RATIO, _LARGEST_RATIO = 0.25, 16.0
# The clip is kept within this factor of the first.
_LARGEST_CHANGE = 2.0**20


@dataclass(frozen=True, eq=False)
class Trajectory:
    """What the steps of a descent released; public.

    Parameters
    ----------
    mean : ndarray of float64, shape (p,)
        The mean of the last iterates, in whitened coordinates.
    clips : tuple of float
        The clip of every step, in units of residual times whitened row.
    """

    mean: NDArray[np.float64]
    clips: tuple[float, ...]


def walk(
    rows: WhitenedRows,
    event: PreconditionedEvent,
    settings: Settings,
    coins: Coins,
    *,
    step_size: float,
    start: NDArray[np.float64] | None = None,
    threads: int = 1,
) -> Trajectory:
    """Return the result of all steps; their number and the work of each are fixed.

    Parameters
    ----------
    rows : WhitenedRows
        The private rows, capped for `event.clip`.
    event : PreconditionedEvent
        The noise.
    settings : Settings
        The public settings.
    coins : Coins
        Where the noise comes from.
    step_size : float
        Along the gradient of the mean loss, in whitened coordinates.
    start : ndarray of float64, shape (p,), or None
        The first iterate, public; None for zeros.
    threads : int
        How many work on blocks.

    Guarantee
    ---------
    Each step releases its sums and its count under the event's noise and nothing else of the rows; what is done with
    them is post-processing. Proof: docs/proofs/preconditioned.md
    """
    p, n_steps = event.shape[0], event.n_steps
    weights = tail_weights(event, settings.first_averaged)
    iterate, mean = np.zeros(p), np.zeros(p)
    if start is not None:
        iterate = np.clip(start, -_LARGEST_ENTRY, _LARGEST_ENTRY)
    clip, clips = settings.clip, []
    for step in range(n_steps):
        clips.append(clip)
        residual_unit = clip / (event.clip * rows.unit)
        private_sums, private_count = rows.clipped_sums(
            iterate, residual_unit, backward=step % 2 == 1, count=event.count_noise > 0, threads=threads
        )
        gradient = _noisy_sums(private_sums, event, step, coins) * (rows.unit * residual_unit)
        iterate = np.clip(iterate - step_size * gradient / settings.n_rows, -_LARGEST_ENTRY, _LARGEST_ENTRY)
        if event.count_noise:
            noisy_count = _noisy_count(private_count, event, coins)
            clip = _next_clip(clip, noisy_count, step, event, settings)
        mean += weights[step] * iterate
    return Trajectory(mean, tuple(clips))


def entry_std(event: PreconditionedEvent, step: int = 0) -> float:
    """Return the standard deviation of the noise on an entry of a step's sums, in its units; public."""
    noise = event.noise_of(step)
    return math.sqrt(noise) if event.law == "gaussian" else math.sqrt(event.shape[0] + 1) / float(noise)


def step_stds(event: PreconditionedEvent, clips: Iterable[float]) -> tuple[float, ...]:
    """Return the standard deviation of every step's noise in units of residual times whitened row; public."""
    return tuple(entry_std(event, step) * clip / event.clip for step, clip in enumerate(clips))


def tail_weights(event: PreconditionedEvent, first: int) -> NDArray[np.float64]:
    """Return what every iterate counts in the result: one over its noise's variance from step `first` on, 1 in all."""
    known = np.array([entry_std(event, step) ** -2 if step >= first else 0.0 for step in range(event.n_steps)])
    return np.asarray(known / known.sum())


def count_std(event: PreconditionedEvent) -> float:
    """Return the standard deviation of the noise on a count; public."""
    return math.sqrt(event.count_noise) if event.law == "gaussian" else math.sqrt(2) * float(event.count_noise)


def _noisy_sums(
    private_sums: NDArray[np.int64], event: PreconditionedEvent, step: int, coins: Coins
) -> NDArray[np.float64]:
    bits, noise = step_bits_for(entry_std(event, step)), event.noise_of(step)
    if event.law == "gaussian":
        released = rounded_gaussian(private_sums, variance=noise, coins=coins, step_bits=bits)
    else:
        released = l2_norm(private_sums, rate=noise, coins=coins, step_bits=bits)
    return np.ldexp(released.astype(np.float64), bits)


def _noisy_count(private_count: int, event: PreconditionedEvent, coins: Coins) -> float:
    statistic = np.array(private_count, dtype=np.int64)
    if event.law == "gaussian":
        return float(rounded_gaussian(statistic, variance=event.count_noise, coins=coins))
    return float(rounded_laplace(statistic, scale=event.count_noise, coins=coins))


def _next_clip(clip: float, noisy_count: float, step: int, event: PreconditionedEvent, settings: Settings) -> float:
    """Return a clip nearer to the one that clips `settings.clip_target` rows: larger where more were."""
    std = count_std(event)
    ratio = min(max((noisy_count + std) / (settings.clip_target + std), _LEAST_RATIO), _LARGEST_RATIO)
    moved = clip * math.pow(ratio, settings.clip_gain / (1.0 + step / 8.0))
    return min(max(moved, settings.clip / _LARGEST_CHANGE), settings.clip * _LARGEST_CHANGE)
