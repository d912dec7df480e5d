"""How many runs are needed to convict a mechanism that is worse than it claims by a given factor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.audit.bounds import upper_limits

if TYPE_CHECKING:
    from discreet.privacy.tradeoff import TradeoffFunction

# Of the runs, this part is held out: the other part finds the event.
HELD_OUT = 0.5
_MOST = 2**40


def runs_needed(claim: TradeoffFunction, *, excess: float, power: float, error: float) -> int | None:
    """Return the number of runs, of each data set, that convicts a mechanism which is worse than it claims.

    The mechanism planned for is Gaussian: an adversary who errs equally often in both ways sees `excess` times the
    distance, in standard deviations, that the claim allows. `excess=2` is noise of half the scale.

    Parameters
    ----------
    claim : TradeoffFunction
        What is claimed.
    excess : float
        By which factor the mechanism is worse, above 1.
    power : float
        How often it must be convicted, in (0, 1).
    error : float
        How often one confidence limit may be wrong.

    Returns
    -------
    int or None
        None where 2**40 runs would not do.

    Examples
    --------
    >>> from discreet.privacy.budgets import Gdp
    >>> [runs_needed(Gdp(mu=1).tradeoff(), excess=excess, power=0.9, error=1e-10) for excess in (2.0, 1.1)]
    [1050, 89472]
    """
    curve = claim.symmetrized()
    distance = excess * gaussian_distance(curve)
    if not np.isfinite(distance):
        return None
    high = 64
    while not _convicted(curve, distance, high, power, error):
        high *= 2
        if high > _MOST:
            return None
    low = high // 2
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        if _convicted(curve, distance, middle, power, error):
            high = middle
        else:
            low = middle
    return high


def gaussian_distance(curve: TradeoffFunction) -> float:
    """Return the distance in standard deviations of two Gaussians whose equal errors are the curve's."""
    from scipy import special

    low, high = 0.0, 0.5
    for _ in range(60):
        middle = (low + high) / 2
        if curve.beta(middle) > middle:
            low = middle
        else:
            high = middle
    return float(-2 * special.ndtri(low)) if low > 0 else np.inf


def _convicted(curve: TradeoffFunction, distance: float, n_runs: int, power: float, error: float) -> bool:
    from scipy import special, stats

    held_out = int(n_runs * HELD_OUT)
    thresholds = np.linspace(0.0, distance, 65)
    alphas, betas = special.ndtr(-thresholds), special.ndtr(thresholds - distance)
    # Both counts are this lucky or better with probability `power`.
    each = (1 + power) / 2
    upper_alphas = upper_limits(stats.binom.ppf(each, held_out, alphas), held_out, error)
    upper_betas = upper_limits(stats.binom.ppf(each, held_out, betas), held_out, error)
    return bool(np.any(curve.beta(upper_alphas) > upper_betas))
