"""Confidence limits that hold for every number of runs: Clopper-Pearson and Dvoretzky-Kiefer-Wolfowitz.

All are rounded outward by far more than the error of the special functions they come from.

Proof: docs/proofs/audit.md
Source: Clopper and Pearson 1934; Massart 1990.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

# A thousand audits, each with this confidence, raise no false alarm at all with probability 1 - 1e-6.
DEFAULT_CONFIDENCE = 1 - Fraction(1, 10**9)
# Limits are moved outward by this part of themselves; the inverse of the beta function is right to some 1e-9.
_SHADE = 1e-7


def error_of(confidence: Any) -> Fraction:
    """Return how often an answer may be wrong, exactly: 1 - confidence.

    Raises
    ------
    InvalidArgument
        If `confidence` is not in (0, 1).

    Examples
    --------
    >>> error_of("0.999")
    Fraction(1, 1000)
    """
    number = _checks.exact(confidence, "confidence")
    if 0 < number < 1:
        return 1 - number
    raise InvalidArgument(f"`confidence` must satisfy 0 < confidence < 1; found {number}.")


def upper_limits(counts: ArrayLike, n_runs: int, error: float) -> Floats:
    """Return Clopper-Pearson upper limits of probabilities.

    Parameters
    ----------
    counts : array of numbers
        How many of the runs had each event, between 0 and `n_runs`.
    n_runs : int
        How many independent runs there were, at least 1.
    error : float
        How often a limit may lie below its probability, in (0, 1).

    Returns
    -------
    ndarray of float64, the shape of `counts`
        At most 1.

    Guarantee
    ---------
    For one event that was fixed before the runs, the limit is below its probability with probability at most `error`.
    Proof: docs/proofs/audit.md

    Examples
    --------
    >>> upper_limits([0, 10, 100], 100, 0.05).round(4).tolist()
    [0.0295, 0.1637, 1.0]
    """
    from scipy import special

    successes = np.asarray(counts, dtype=np.float64)
    failures = n_runs - successes
    full = failures <= 0
    limits = special.betainccinv(successes + 1, np.where(full, 1.0, failures), error)
    # Should the inverse ever fail, the limit that is always true stands in.
    limits = np.nan_to_num(limits, nan=1.0) * (1 + _SHADE)
    return np.where(full, 1.0, np.minimum(limits, 1.0))


def uniform_width(n_runs: int, error: float) -> float:
    """Return how far an empirical distribution function may lie to one side of the true one, anywhere at all.

    Parameters
    ----------
    n_runs : int
        How many independent runs there were, at least 1.
    error : float
        How often it may lie further, in (0, 1/2].

    Guarantee
    ---------
    Massart's constant: `P(sup F_n - F > w) <= exp(-2 n w**2)` wherever that is at most 1/2.
    Proof: docs/proofs/audit.md

    Examples
    --------
    >>> round(uniform_width(10_000, 1e-9), 4)
    0.0322
    """
    return math.sqrt(-math.log(min(error, 0.5)) / (2 * n_runs)) * (1 + _SHADE)


def epsilon_below(alphas: Floats, betas: Floats, delta: float) -> Floats:
    """Return what epsilon must be at least, at `delta`, where these errors are possible; 0 where nothing follows."""
    with np.errstate(all="ignore"):
        one = np.log(1 - delta - betas) - np.log(alphas)
        other = np.log(1 - delta - alphas) - np.log(betas)
    found = np.maximum(np.nan_to_num(one, nan=0.0), np.nan_to_num(other, nan=0.0))
    limits: Floats = np.maximum(found * (1 - 1e-12) - 1e-12, 0.0)
    return limits


def mu_below(alphas: Floats, betas: Floats) -> Floats:
    """Return what mu must be at least where these errors are possible; 0 where nothing follows."""
    from scipy import special

    with np.errstate(all="ignore"):
        found = -special.ndtri(alphas) - special.ndtri(betas)
    limits: Floats = np.maximum(np.nan_to_num(found, nan=0.0) * (1 - 1e-12) - 1e-12, 0.0)
    return limits
