"""Do seconds tell anything? Advisory, always: a clock measures the machine as much as the mechanism.

Both data sets are run in pairs, in random order, with the garbage collector off; the slowest pairs, which are the
machine's, are cropped. Then: Welch's t of all runs (as dudect does), a bootstrap of the paired differences, and
whether a classifier that sees output and time beats one that sees the output alone.

Source: Reparaz, Balasch and Verbauwhede 2017, Dude, is my code constant time? Its tool calls |t| > 10 a leak.
"""

from __future__ import annotations

import gc
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.audit.names import check_name, in_a_file, on_a_line
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Of all pairs, so many are kept: those whose slower run is not among the slowest.
_KEPT = 0.9
_STRONG_T = 4.5
_N_BOOTSTRAP = 2000
# A bootstrap's interval, two-sided.
_LEVEL = 0.999
_FEWEST_PAIRS = 40


@dataclass(frozen=True, eq=False)
class Timings:
    """Paired runs of both data sets.

    Parameters
    ----------
    first, second : ndarray of int64, shape (n_pairs,)
        Nanoseconds.
    first_outputs, second_outputs : ndarray of float64, shape (n_pairs, k)
        What the runs returned; k may be 0.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    first_outputs: Floats
    second_outputs: Floats


@dataclass(frozen=True, kw_only=True)
class ClockVerdict:
    """What a clock shows; never more than advice.

    Parameters
    ----------
    name : str
        Of the mechanism.
    welch_t : float
        Of all kept runs; beyond 4.5 in size it is strong evidence of a difference.
    median_difference : float
        Of the paired differences, second less first, in seconds.
    interval : tuple of float
        Where 99.9 % of bootstraps of that median lie, in seconds.
    joint_gain : float
        How much more often a classifier is right that sees the time beside the output.
    joint_z : float
        The same in standard deviations of pure chance.
    n_pairs : int
        Pairs that were kept.
    """

    name: str
    welch_t: float
    median_difference: float
    interval: tuple[float, float]
    joint_gain: float
    joint_z: float
    n_pairs: int

    @property
    def differs(self) -> bool:
        """Whether two of the three tests see a difference: advice, and no proof."""
        low, high = self.interval
        return sum([abs(self.welch_t) > _STRONG_T, not low <= 0 <= high, self.joint_z > _STRONG_T]) >= 2

    def __str__(self) -> str:
        answer = "times differ" if self.differs else "no difference in times seen"
        low, high = self.interval
        return (
            f"{on_a_line(self.name)}: {answer} (advisory); t = {self.welch_t:.1f}, median difference "
            f"{self.median_difference * 1e9:.0f} ns in [{low * 1e9:.0f}, {high * 1e9:.0f}], time adds "
            f"{self.joint_gain:.1%} of right guesses; {self.n_pairs} pairs"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as plain JSON; infinity is null."""
        return {
            "name": in_a_file(self.name),
            "advisory": True,
            "differs": self.differs,
            "welch_t": self.welch_t if math.isfinite(self.welch_t) else None,
            "median_difference": self.median_difference,
            "interval": list(self.interval),
            "joint_gain": self.joint_gain,
            "joint_z": self.joint_z,
            "n_pairs": self.n_pairs,
        }


def time_pairs(run: Callable[[Any], Any], first: Any, second: Any, *, n_pairs: int, seed: int = 0) -> Timings:
    """Time one run of each data set again and again, in random order within each pair.

    Parameters
    ----------
    run : callable
        `run(data)` is what is timed; it returns numbers, or None.
    first, second : object
        Two neighbouring data sets.
    n_pairs : int
        At least 40; a tenth of them come before and are thrown away.
    seed : int
        Of the public random order.
    """
    size = _checks.integer(n_pairs, "n_pairs", low=_FEWEST_PAIRS)
    order = np.random.default_rng(_checks.integer(seed, "seed", low=0)).integers(2, size=size + size // 10).tolist()
    elapsed: tuple[list[int], list[int]] = ([], [])
    outputs: tuple[list[Any], list[Any]] = ([], [])
    data, was_on = (first, second), gc.isenabled()
    gc.disable()
    try:
        for start in order:
            for which in (start, 1 - start):
                before = time.perf_counter_ns()
                found = run(data[which])
                elapsed[which].append(time.perf_counter_ns() - before)
                outputs[which].append(np.zeros(0) if found is None else np.ravel(np.asarray(found, dtype=np.float64)))
    finally:
        if was_on:
            gc.enable()
    one, other = (np.array(times[-size:], dtype=np.int64) for times in elapsed)
    return Timings(one, other, np.array(outputs[0][-size:]), np.array(outputs[1][-size:]))


def judge_times(timings: Timings, *, name: str = "mechanism", seed: int = 0) -> ClockVerdict:
    """Return what paired times show.

    Parameters
    ----------
    timings : Timings
        Of `time_pairs`.
    name : str
        Of the mechanism.
    seed : int
        Of the public randomness of the bootstrap and of the classifier's halves.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> times = rng.integers(1000, 1100, size=(2, 500))
    >>> judge_times(Timings(times[0], times[1] + 50, np.zeros((500, 0)), np.zeros((500, 0)))).differs
    True
    """
    first, second = timings.first.astype(np.float64), timings.second.astype(np.float64)
    if first.shape != second.shape or first.size < _FEWEST_PAIRS:
        raise InvalidArgument(
            f"`timings` must hold at least {_FEWEST_PAIRS} pairs; found {first.size} and {second.size}."
        )
    # The same crop for both: a slow pair leaves whole.
    slower = np.maximum(first, second)
    kept = slower <= np.quantile(slower, _KEPT)
    first, second = first[kept], second[kept]
    rng = np.random.default_rng(_checks.integer(seed, "seed", low=0))
    differences = second - first
    medians = np.median(differences[rng.integers(differences.size, size=(_N_BOOTSTRAP, differences.size))], axis=1)
    tail = (1 - _LEVEL) / 2
    gain, z = _joint(timings.first_outputs[kept], timings.second_outputs[kept], first, second, rng)
    low, high = np.quantile(medians, [tail, 1 - tail]).tolist()
    return ClockVerdict(
        name=check_name(name),
        welch_t=_welch(first, second),
        median_difference=float(np.median(differences)) * 1e-9,
        interval=(low * 1e-9, high * 1e-9),
        joint_gain=gain,
        joint_z=z,
        n_pairs=int(first.size),
    )


def _welch(first: Floats, second: Floats) -> float:
    spread = math.sqrt(float(first.var(ddof=1)) / first.size + float(second.var(ddof=1)) / second.size)
    difference = float(second.mean() - first.mean())
    if spread == 0:
        return 0.0 if difference == 0 else math.copysign(math.inf, difference)
    return difference / spread


def _joint(
    first_outputs: Floats, second_outputs: Floats, first: Floats, second: Floats, rng: np.random.Generator
) -> tuple[float, float]:
    """Return how much more often a classifier of output and time is right than one of the output, and its z.

    Pairs are the units: one half trains, the other judges.
    """
    train = rng.permutation(first.size) < first.size // 2
    labels = np.repeat([0, 1], [first.size, second.size])
    both = np.tile(train, 2)
    outputs = np.concatenate([first_outputs, second_outputs])
    # Times have heavy tails; their ranks have none.
    times = np.concatenate([first, second])
    ranks = (np.argsort(np.argsort(times, kind="stable"), kind="stable") / times.size)[:, np.newaxis]
    right = []
    for table in (outputs, np.hstack([outputs, ranks])):
        if table.shape[1] == 0:
            # Blind: always the same guess.
            right.append(labels[~both] == 0)
            continue
        right.append(_guesses(table[both], labels[both], table[~both]) == labels[~both])
    gains = right[1].astype(np.float64) - right[0].astype(np.float64)
    n_judged = gains.size // 2
    per_pair = gains[:n_judged] + gains[n_judged:]
    spread = float(per_pair.std()) / math.sqrt(n_judged)
    gain = float(gains.mean())
    return gain, 0.0 if spread == 0 else float(per_pair.mean()) / spread


def _guesses(table: Floats, labels: NDArray[np.int64], judged: Floats) -> NDArray[np.int64]:
    from sklearn.ensemble import ExtraTreesClassifier

    # Trees find what only time and output together tell.
    model = ExtraTreesClassifier(n_estimators=40, min_samples_leaf=20, max_features=None, random_state=0)
    guesses: NDArray[np.int64] = model.fit(np.nan_to_num(table), labels).predict(np.nan_to_num(judged))
    return guesses
