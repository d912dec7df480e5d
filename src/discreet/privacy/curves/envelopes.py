"""Output and running time together of the exponential mechanism under a common envelope.

A sampler proposes from a law that does not depend on the data and accepts x with probability a(x); output X and number
of proposals T have the density ``U(x) a(x) (1 - p)^(t - 1)``, p being the mean of a. The output alone is 2s-DP, where
s bounds the change of the log-density between neighbours: a factor e^s from a(x) and another from p. But the two
cannot both be extreme together with the time, so the pair costs less than output and time apart.

For neighbours with means p and p', every x has ``a(x) = ratio(x) a'(x)`` with ``e^-s <= ratio <= e^s``, and the
hockey-stick divergence is the mean of a convex function of that ratio, whose mean is p / p'. Such a mean is largest
if the ratio takes its two extreme values alone. And if the two means are scaled up together, the old pair is a
function of the new one (T becomes a sum of geometric times), so the worst larger mean is the largest that is allowed.
What is left is one number, the ratio of the two means; it is searched over *cells*, each bounded from above.

Proof: docs/proofs/tradeoff.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument
from discreet.numbers.outward import float_up
from discreet.privacy.curves.runtimes import acceptance
from discreet.privacy.curves.tradeoff import SHADE, DualCurve, TradeoffFunction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_CELLS = 2**14
_TABLE_CELLS = 2**11
_MOST_LOSS = 200.0


class CommonEnvelope(DualCurve):
    """The curve of output and number of proposals of an exponential mechanism by rejection; symmetric.

    Parameters
    ----------
    shift : number or text
        Largest change s of the log-density (before it is normalized) between neighbours, in nats, in (0, 20].
    p_high : number or text
        Largest acceptance probability of any data set, in (0, 1].

    Guarantee
    ---------
    Holds if proposals and envelope do not depend on the data. The maximum over the ratio of two acceptance
    probabilities is bounded cell by cell; cells are computed in floats and raised by more than their rounding.
    Proof: docs/proofs/tradeoff.md

    Examples
    --------
    >>> curve = CommonEnvelope(shift="0.5", p_high="0.1")
    >>> 0.0439 < curve.delta(1.0) < 0.0441
    True
    """

    def __init__(self, *, shift: Any, p_high: Any) -> None:
        self._shift, self._p = _checks.exact_positive(shift, "shift"), acceptance(p_high, "p_high")
        if self._shift > 20:
            raise InvalidArgument(f"`shift` must be at most 20; found {self._shift}, which promises nothing.")

    def __repr__(self) -> str:
        return f"CommonEnvelope(shift={self._shift}, p_high={self._p})"

    def inverse(self) -> TradeoffFunction:
        """Return the curve itself."""
        return self

    def upper_delta(self, epsilon: Fraction) -> Fraction:
        """Return an upper limit of the largest hockey-stick divergence."""
        return Fraction(self._bound(float(min(epsilon, Fraction(700))) * (1 - 2.0**-52), _CELLS))

    def float_deltas(self, epsilons: Floats) -> Floats:
        """Return chords above `upper_delta`, which is convex in e^epsilon."""
        table_epsilons, table = self._table
        place = np.clip(np.searchsorted(table_epsilons, epsilons), 1, len(table) - 1)
        left, right = np.exp(table_epsilons[place - 1]), np.exp(table_epsilons[place])
        inside = np.exp(np.minimum(epsilons, _MOST_LOSS))
        part = np.clip((inside - left) / (right - left), 0.0, 1.0)
        chords: Floats = table[place - 1] * (1 - part) + table[place] * part
        return np.minimum(1.0, chords * (1 + SHADE))

    @cached_property
    def _table(self) -> tuple[Floats, Floats]:
        epsilons = np.concatenate([np.linspace(0, 10, 401), np.linspace(10, _MOST_LOSS, 400)[1:]])
        return epsilons, np.array([self._bound(float(epsilon), _TABLE_CELLS) for epsilon in epsilons])

    def _bound(self, epsilon: float, n_cells: int) -> float:
        """Bound the divergence over all ratios of the two means, in both orders."""
        s, p = float_up(self._shift), float_up(self._p)
        ratios = np.exp(-np.linspace(0, s, n_cells + 1)) * p
        high, low = ratios[:-1], ratios[1:]
        grow, shrink = math.exp(s), math.exp(-s)
        # The first data set accepts with p and the second with something in [low, high], and the other way round.
        falls = (p - shrink * low, np.maximum(0.0, grow * high - p), np.full_like(high, p), high)
        rises = (high - shrink * p, grow * p - low, low, np.full_like(high, p))
        most = 0.0
        for heavy, light, first, second in (falls, rises):
            gain = heavy * _gains(first, second, epsilon, grow) + light * _gains(first, second, epsilon, shrink)
            most = max(most, float(np.max(gain)) / (grow - shrink))
        return min(1.0, most * (1 + SHADE) + (2.0**-50 * math.exp(s) if p == 1 else 0.0))


def _gains(p: Floats, q: Floats, epsilon: float, ratio: float) -> Floats:
    """Sum the positive part of ratio (1 - p)^(t - 1) - e^epsilon (1 - q)^(t - 1) over t, rounded up.

    The quotient of the two terms is monotone in t, so the positive terms are those of long or those of short times.
    """
    # A probability of 1 counts as the float before it; `_bound` makes up for that.
    log_first, log_second = np.log1p(-np.minimum(p, 1 - 2.0**-53)), np.log1p(-np.minimum(q, 1 - 2.0**-53))
    gaps = log_first - log_second
    ties = (epsilon - math.log(ratio)) / np.where(gaps == 0, 1.0, gaps)
    factor = math.exp(min(epsilon, 700.0))
    long, best = gaps > 0, np.zeros_like(p)
    everything = np.maximum(0.0, ratio / p - factor / q)
    counts = np.clip(np.where(long, np.floor(ties) + 1, np.ceil(ties)), 0.0, 1e15)
    for shift in (-1, 0, 1):
        count = np.maximum(0.0, counts + shift)
        first, second = np.exp(count * log_first), np.exp(count * log_second)
        tails = ratio * first / p, factor * second / q
        heads = ratio * (1 - first) / p, factor * (1 - second) / q
        sums = np.where(long, tails[0] - tails[1] + 2.0**-40 * tails[0], heads[0] - heads[1] + 2.0**-40 * heads[0])
        best = np.maximum(best, sums)
    # Equal means leave the outputs alone to differ: all times or none.
    return np.where(gaps == 0, everything, best)
