"""What makes a tradeoff function: convex, continuous, not increasing, and at most 1 - alpha."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidType
from discreet.privacy.curves.tradeoff import TradeoffFunction, sample_points

Knots = tuple[tuple[Fraction, Fraction], ...]


def exact_knots(knots: Any) -> Knots:
    """Return knots as pairs of rationals, refused by name where they are none."""
    try:
        pairs = [(alpha, beta) for alpha, beta in knots]
    except (TypeError, ValueError):
        pairs = []
    if not pairs:
        raise InvalidType(f"`knots` must be pairs (alpha, beta); found {type(knots).__name__}.")
    return tuple((_checks.exact(alpha, "alpha"), _checks.exact(beta, "beta")) for alpha, beta in pairs)


def broken_axiom(knots: Knots) -> str | None:
    """Return what keeps the lines between knots from being a tradeoff function; None where nothing does."""
    if knots[0][0] != 0 or knots[-1][0] != 1:
        return "begin at alpha = 0 and end at alpha = 1"
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(knots)]
    if any(width <= 0 for width, _ in steps):
        return "have rising alphas, so that the curve is continuous"
    if any(not 0 <= beta <= 1 - alpha for alpha, beta in knots):
        return "satisfy 0 <= beta <= 1 - alpha"
    if any(drop > 0 for _, drop in steps):
        return "have betas that do not rise"
    slopes = [drop / width for width, drop in steps]
    if any(left > right for left, right in pairwise(slopes)):
        return "be convex"
    return None


def is_tradeoff(candidate: Any, *, tolerance: float = 1e-9) -> bool:
    """Whether something is a tradeoff function: convex, continuous, not increasing, and at most 1 - alpha.

    Parameters
    ----------
    candidate : sequence of (alpha, beta), TradeoffFunction or callable
        Knots are judged exactly; everything else at some 4,000 points, so that True says "nothing found".
    tolerance : float
        By how much a float may offend.

    Examples
    --------
    >>> is_tradeoff([(0, 1), ("1/4", "1/4"), (1, 0)]), is_tradeoff([(0, 1), ("1/2", "3/4"), (1, 0)])
    (True, False)
    >>> is_tradeoff(lambda alpha: (1 - alpha) ** 2)
    True
    """
    slack = float(_checks.exact_nonnegative(tolerance, "tolerance"))
    if not callable(candidate) and not isinstance(candidate, TradeoffFunction):
        return broken_axiom(exact_knots(candidate)) is None
    function = candidate.beta if isinstance(candidate, TradeoffFunction) else candidate
    points = sample_points()
    values = np.asarray(function(points), dtype=np.float64)
    if values.shape != points.shape or not np.all((values >= -slack) & (values <= 1 - points + slack)):
        return False
    gaps = np.diff(points)
    # A chord lies above the curve, at the middle one of any three points.
    chords = (values[:-2] * gaps[1:] + values[2:] * gaps[:-1]) / (gaps[:-1] + gaps[1:])
    start = np.asarray(function(np.array([0.0, 5e-324])), dtype=np.float64)
    return bool(
        np.all(np.diff(values) <= slack) and np.all(values[1:-1] <= chords + slack) and start[0] - start[1] <= slack
    )
