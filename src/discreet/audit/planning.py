"""How many runs are needed to convict a mechanism that is worse than it claims by a given factor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.bounds import upper_limits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.privacy.curves.tradeoff import TradeoffFunction

    Floats = NDArray[np.float64]

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

    def enough(n_runs: int) -> bool:
        return would_convict(curve, distance, int(n_runs * HELD_OUT), power=power, error=error)

    high = 64
    while not enough(high):
        high *= 2
        if high > _MOST:
            return None
    low = high // 2
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        if enough(middle):
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


def would_convict(
    curve: TradeoffFunction, distance: float, n_runs: int, *, power: float, error: float, law: Any = None
) -> bool:
    """Return whether an audit convicts two outputs whose laws lie at a distance.

    Parameters
    ----------
    curve : TradeoffFunction
        What is claimed.
    distance : float
        Between the centers, in units of the law.
    n_runs : int
        Of each data set; all of them judge.
    power, error
        As in `runs_needed`.
    law : scipy.stats distribution, optional
        Symmetric; None is the Gaussian one.
    """
    from scipy import stats

    noise = stats.norm if law is None else law
    thresholds = np.linspace(0.0, distance, 65)
    alphas, betas = noise.sf(thresholds), noise.cdf(thresholds - distance)
    return convicts(curve, alphas, betas, n_runs, power=power, error=error)


def convicts(
    curve: TradeoffFunction, alphas: Floats, betas: Floats, n_runs: int, *, power: float, error: float
) -> bool:
    """Return whether one of several events with these errors would be convicted so often.

    Parameters
    ----------
    curve : TradeoffFunction
        What is claimed.
    alphas, betas : ndarray of float64, shape (n_events,)
        How often each event misleads on the first and on the second data set.
    n_runs : int
        Of each data set; all of them judge.
    power, error
        As in `runs_needed`.
    """
    from scipy import stats

    # Both counts are this lucky or better with probability `power`.
    each = (1 + power) / 2
    upper_alphas = upper_limits(stats.binom.ppf(each, n_runs, alphas), n_runs, error)
    upper_betas = upper_limits(stats.binom.ppf(each, n_runs, betas), n_runs, error)
    return bool(np.any(curve.beta(upper_alphas) > upper_betas))
