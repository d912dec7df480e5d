"""Whether numpy's log, log1p and sin are as accurate here as exact noise takes for granted."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import DiscreetError
from discreet.numbers.intervals import Arithmetic, Interval, enclose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]

# The error radius of `box_muller` allows 2**-50; good libraries stay below 2**-52.
ALLOWED = 2.0**-51

# Points of each function: enough for every lane of a vector unit and for the tail that does not fill one.
_N_POINTS = 61
# A library may take other ways for short arrays, for their last entries, and for those that start within a cache line:
# every length up to two vectors of eight and one more, at every double of a half line, and the blocks of the samplers.
_SHORT = range(1, 18)
_OFFSETS = range(4)
_BLOCKS = (1 << 13, 1 << 14)


@lru_cache(maxsize=1)
def check_library() -> None:
    """Compare log, log1p and sin with interval arithmetic, once a process, in arrays of the lengths that are used.

    Raises
    ------
    DiscreetError
        If a relative error exceeds 2**-51: rounded Gaussian noise would then have the wrong law.

    Examples
    --------
    >>> check_library()
    """
    errors = measured_errors(_N_POINTS)
    name = max(errors, key=lambda key: errors[key])
    if errors[name] <= ALLOWED:
        return
    raise DiscreetError(
        f"numpy.{name} has a relative error of {errors[name]:.1e} on this machine; exact Gaussian noise needs at most "
        f"{ALLOWED:.1e}. Install another build of numpy, or set NPY_DISABLE_CPU_FEATURES to its fastest paths' names."
    )


def measured_errors(n_points: int) -> dict[str, float]:
    """Return the largest relative error of each function on `n_points` arguments of the kind that sampling uses."""
    spread = (np.arange(n_points) + 0.37) / n_points
    small = 2.0 ** (-1 - 71 * spread)  # from 1/2 to 2**-72, as words, and exponentials over 128, may say
    half = spread / 2
    angles = (2 * spread - 1) * (np.pi / 4)
    return {
        "log": max(_error("log", np.log, part) for part in (small, half)),
        "log1p": max(_error("log1p", np.log1p, -part) for part in (small, half)),
        "sin": _error("sin", np.sin, angles),
    }


def _error(name: str, function: Callable[..., Any], arguments: Doubles) -> float:
    exact = [
        enclose(partial(_evaluate, "sin" if name == "sin" else "log", Fraction(x) + (name == "log1p")), 160)
        for x in arguments.tolist()
    ]
    return float((largest_errors(function, arguments, exact) / np.abs([float(low) for low, _ in exact])).max())


def _evaluate(name: str, argument: Fraction, reals: Arithmetic) -> Interval:
    return getattr(reals, name)(reals.of(argument))


def largest_errors(function: Callable[..., Any], arguments: Doubles, exact: list[tuple[Fraction, Fraction]]) -> Doubles:
    """Return the largest error of a function at each argument, over arrays of many lengths and places in memory.

    Parameters
    ----------
    function : callable
        Of an array of doubles, and of `out`.
    arguments : ndarray of float64, shape (n,)
        Where.
    exact : list of (Fraction, Fraction)
        Limits of its value there, much closer than a double's digits.

    Returns
    -------
    ndarray of float64, shape (n,)
        Infinity where a value is not finite.
    """
    middles = [(low + high) / 2 for low, high in exact]
    leading = np.array([float(middle) for middle in middles])
    # What a double does not hold of the value.
    rest = np.array([float(middle - Fraction(whole)) for middle, whole in zip(middles, leading.tolist(), strict=True)])
    worst = np.zeros(arguments.size)
    for places, offset in _arrays(arguments.size):
        line = np.empty(offset + places.size)[offset:]
        line[:] = arguments[places]
        for found in (function(line), function(line, out=line)):
            errors = np.abs((found - leading[places]) - rest[places])
            np.maximum.at(worst, places, np.where(np.isfinite(errors), errors, np.inf))
    return worst


def _arrays(n_points: int) -> Iterator[tuple[NDArray[np.intp], int]]:
    """Yield which arguments an array holds, in turn, and how many doubles into a line it starts."""
    yield np.arange(n_points), 0
    for length in _SHORT:
        for offset in _OFFSETS:
            yield (np.arange(length) + 7 * length + 13 * offset) % n_points, offset
    for length in _BLOCKS:
        yield np.arange(length) % n_points, 1
