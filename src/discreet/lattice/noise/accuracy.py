"""Whether numpy's log, log1p and sin are as accurate here as exact noise takes for granted."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np

from discreet.errors import DiscreetError
from discreet.lattice.noise import intervals

# The error radius of `box_muller` allows 2**-50; good libraries stay below 2**-52.
ALLOWED = 2.0**-51

# Points of each function: enough for every lane of a vector unit and for the tail that does not fill one.
_N_POINTS = 61


@lru_cache(maxsize=1)
def check_library() -> None:
    """Compare log, log1p and sin with interval arithmetic, once a process.

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
        "log": max(_error("log", np.log(part), part) for part in (small, half)),
        "log1p": max(_error("log1p", np.log1p(-part), -part) for part in (small, half)),
        "sin": _error("sin", np.sin(angles), angles),
    }


def _error(name: str, found: np.ndarray, arguments: np.ndarray) -> float:
    worst = 0.0
    for value, argument in zip(found.tolist(), arguments.tolist(), strict=True):
        exact = Fraction(argument) + (1 if name == "log1p" else 0)
        low, high = intervals.enclose(partial(_evaluate, "sin" if name == "sin" else "log", exact), 160)
        middle = (low + high) / 2
        worst = max(worst, float(abs((Fraction(value) - middle) / middle)))
    return worst


def _evaluate(name: str, argument: Fraction, context: Any) -> Any:
    return getattr(context, name)(intervals.point(context, argument))
