"""From which factor on an audit would have convicted: the power that a verdict had.

Either the audit is rehearsed on the mechanism planned for noise that is smaller by a factor, on fewer runs, or,
where nobody says how to make that mechanism, its noise is taken for Gaussian or Laplace, whichever is worse to see.

Derivation: docs/proofs/audit.md
"""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.bounds import upper_limits
from discreet.audit.events import choose_events
from discreet.audit.planning import HELD_OUT, convicts, would_convict
from discreet.audit.runs import FEWEST_RUNS, runs_of_both
from discreet.audit.verdicts import MOST_FACTOR

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from discreet.audit.runs import Mechanism
    from discreet.audit.verdicts import Evidence
    from discreet.privacy.coins import Coins
    from discreet.privacy.curves.tradeoff import TradeoffFunction

    Worse = Callable[[Fraction], Mechanism]

# The factors that a verdict can state.
FACTORS = (
    *(Fraction(tenths, 10) for tenths in (11, 12, 13, 14, 15, 16, 18, 20, 25, 30, 35, 40, 50, 60, 80)),
    Fraction(MOST_FACTOR),
)
# A rehearsal takes half of the runs, but not more than this.
_MOST_REHEARSED = 8000
# How often a rate that was seen in a rehearsal may be worse than it is taken for.
_DOUBT = 0.1


def modelled_power(
    evidence: Sequence[Evidence], curve: TradeoffFunction, *, power: float, error: float
) -> Fraction | None:
    """Return the factor from which an audit would have convicted if the noise is Gaussian or Laplace.

    Parameters
    ----------
    evidence : sequence of Evidence
        What an audit saw of the mechanism as it is.
    curve : TradeoffFunction
        The claim.
    power : float
        How often the mechanism would be convicted.
    error : float
        How often one confidence limit of the audit may be wrong.

    Returns
    -------
    Fraction or None
        One of `FACTORS`; None where not even the largest would do.
    """
    from scipy import stats

    each = _DOUBT / len(evidence)
    n_judges = evidence[0].n_runs
    rates = [upper_limits([found.n_false, found.n_missed], n_judges, each) for found in evidence]
    factors = []
    for law in (stats.norm, stats.laplace):
        # Two such laws, so far apart, have these two errors at one of the thresholds.
        distance = max(float(law.isf(alpha) - law.ppf(beta)) for alpha, beta in rates)
        if not 0 < distance < np.inf:
            return None
        seen = [
            would_convict(curve, float(factor) * distance, n_judges, power=power, error=error, law=law)
            for factor in FACTORS
        ]
        if not any(seen):
            return None
        factors.append(FACTORS[seen.index(True)])
    return max(factors)


def rehearsed_power(
    worse: Worse,
    first: Any,
    second: Any,
    curve: TradeoffFunction,
    *,
    n_runs: int,
    coins: Coins,
    delta: float,
    power: float,
    error: float,
) -> Fraction | None:
    """Return the factor from which an audit would have convicted, found by rehearsing it.

    Parameters
    ----------
    worse : callable
        `worse(times)` returns the mechanism with noise so many times smaller.
    first, second : object
        The two data sets.
    curve, power, error
        As in `modelled_power`.
    n_runs : int
        Runs of each data set in the audit itself.
    coins : Coins
        For the rehearsals.
    delta : float
        Where the audit bounds epsilon.

    Returns
    -------
    Fraction or None
        One of `FACTORS`; None where not even the largest would do.
    """
    n_judges = n_runs - int(n_runs * HELD_OUT)
    nothing = np.zeros(1)
    if not convicts(curve, nothing, nothing, n_judges, power=power, error=error):
        # So few runs that even a mechanism without noise would not be convicted.
        return None
    size = min(n_runs, max(n_runs // 2, FEWEST_RUNS), _MOST_REHEARSED)

    def convicted(factor: Fraction) -> bool:
        one, other = runs_of_both(worse(factor), first, second, size, coins)
        judges = size - int(size * HELD_OUT)
        events = choose_events(one[judges:], other[judges:], curve, delta=delta, n_judges=n_judges, error=error)
        counts = [event.errors(one[:judges], other[:judges]) for event in events]
        alphas, betas = (upper_limits(rates, judges, _DOUBT) for rates in zip(*counts, strict=True))
        return convicts(curve, alphas, betas, n_judges, power=power, error=error)

    place = bisect_left(FACTORS, True, key=convicted)
    return FACTORS[place] if place < len(FACTORS) else None
