"""Checks of what the samplers are asked for, and square roots rounded to the safe side."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType

# Within these a scale's float is normal, and noise within 9.42 standard deviations fits an int64.
LEAST_SCALE = Fraction(1, 2**500)
LARGEST_SCALE = Fraction(2**59)


def check_scale(value: Any, name: str) -> Fraction:
    """Return a noise scale as an exact rational between 2**-500 and 2**59 grid units; name it otherwise."""
    scale = _checks.exact_positive(value, name)
    if LEAST_SCALE <= scale <= LARGEST_SCALE:
        return scale
    raise _out_of_range(name, "2**-500 and 2**59", scale > 1)


def check_variance(value: Any, name: str) -> Fraction:
    """Return a noise variance as an exact rational between 2**-1000 and 2**118 squared grid units."""
    variance = _checks.exact_positive(value, name)
    if LEAST_SCALE**2 <= variance <= LARGEST_SCALE**2:
        return variance
    raise _out_of_range(name, "2**-1000 and 2**118", variance > 1)


def check_theta(value: Any, width: int, name: str = "theta") -> Fraction:
    """Return a Wishart rate as an exact rational for which a (width, width) noise matrix fits an int64.

    An entry is at most `(width + 1) * 9.42**2 / (2 * theta)` from zero in the fast path; 9.42**2 < 89.
    """
    theta = _checks.exact_positive(value, name)
    if Fraction((width + 1) * 89, 2**63) <= theta <= 2**500:
        return theta
    raise _out_of_range(name, f"{(width + 1) * 89} * 2**-63 and 2**500", theta > 1)


def _out_of_range(name: str, limits: str, above: bool) -> InvalidArgument:  # noqa: FBT001
    found = "a larger number" if above else "a smaller number"
    return InvalidArgument(f"`{name}` must be between {limits}; found {found}. Change the budget or the bounds.")


def check_step_bits(value: Any) -> int:
    """Return `step_bits` as an int from 0 to 62."""
    return _checks.integer(value, "step_bits", low=0, high=62)


def check_statistic(value: Any) -> np.ndarray:
    """Return the statistic if it is an int64 array: any other type has lost the exact sum already."""
    if isinstance(value, np.ndarray) and value.dtype == np.int64:
        return value
    found = value.dtype if isinstance(value, np.ndarray) else type(value).__name__
    raise InvalidType(f"`statistic` must be a numpy array of int64; found {found}. Noise is added to exact integers.")


def check_square(value: Any) -> np.ndarray:
    """Return the statistic if it is an int64 array of shape (D, D)."""
    statistic = check_statistic(value)
    if statistic.ndim == 2 and statistic.shape[0] == statistic.shape[1] > 0:
        return statistic
    raise InvalidArgument(f"`statistic` must be a square matrix; found shape {statistic.shape}.")
