"""What the running time of a rejection sampler gives away.

A sampler that accepts each proposal with probability p needs T proposals for n draws, the accepted ones included: T
is geometric (n = 1) or negative binomial. Where two neighbours have acceptance probabilities p > q, T tells them
apart, and no finite epsilon bounds by how much: its likelihood ratio grows for ever.

With ``r = log(1 - q) / log(1 - p)`` the curve of one draw has its corners at ``((1 - p)^k, 1 - (1 - q)^k)`` and lies
above ``1 - alpha^r``, its smooth bound.

Proof: docs/proofs/tradeoff.md
Source: Awan and Rao 2023 (Privacy-Aware Rejection Sampling), for the question; the formulas are derived there.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument
from discreet.numbers.intervals import Arithmetic, Interval, arithmetic, enclose, ends, refined
from discreet.numbers.outward import LARGEST, exp_limits, exp_up, float_down, float_up, log_up, round_down
from discreet.privacy.curves.families import EpsilonDelta, SymmetricCurve
from discreet.privacy.curves.tradeoff import SHADE, TINY, DualCurve, TradeoffFunction, shade_down

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_BITS = 256


def geometric_runtime(*, p: Any, q: Any, n_draws: int = 1, smooth: bool = False) -> TradeoffFunction:
    """Return the curve of a sampler's number of proposals, for both orders of the neighbours.

    Parameters
    ----------
    p, q : number or text
        Acceptance probabilities of two neighbours, in (0, 1], in any order. For a whole family of neighbours whose
        probabilities differ by a factor of at most e^a and do not exceed p, the worst pair is p and e^-a * p.
    n_draws : int, default 1
        How many accepted draws the time is of.
    smooth : bool, default False
        Whether to return the smooth curve below the exact one (for one draw and p, q < 1), a closed form.

    Raises
    ------
    InvalidArgument
        If a probability is not in (0, 1], or there is no smooth bound.

    Guarantee
    ---------
    The number of proposals satisfies the curve's `delta(epsilon)`. It says nothing about output and time together:
    `with_pure` does. Proof: docs/proofs/tradeoff.md

    Examples
    --------
    >>> curve = geometric_runtime(p="0.5", q="0.45")
    >>> round(curve.delta(1.0), 8), round(curve.epsilon(1e-6), 5)
    (0.00010257, 1.73676)
    """
    low, high = sorted((acceptance(p, "p"), acceptance(q, "q")))
    draws = _checks.integer(n_draws, "n_draws", low=1, high=10_000)
    if low == high:
        return EpsilonDelta(epsilon=Fraction(0), delta=Fraction(0))
    if not _checks.boolean(smooth, "smooth"):
        return RuntimePair(high, low, draws).symmetrized()
    if draws > 1 or high == 1:
        raise InvalidArgument(
            "`smooth` is for one draw with `p` and `q` below 1. Leave it out: the exact curve exists."
        )
    exponent, _ = refined(lambda reals: reals.log_of(1 - low) / reals.log_of(1 - high), width=Fraction(1, 2**160))
    return SmoothRuntime(round_down(exponent, 128))


def acceptance(value: Any, name: str) -> Fraction:
    """Return a probability of acceptance as an exact rational in (0, 1]."""
    number = _checks.exact_positive(value, name)
    if number <= 1:
        return number
    raise InvalidArgument(f"`{name}` must satisfy 0 < {name} <= 1; found {number}.")


class RuntimePair(DualCurve):
    """The curve of the number of proposals for `n_draws` draws, p against q, in this one order.

    Parameters
    ----------
    p, q : Fraction
        `0 < q < p <= 1`.
    n_draws : int
        At least 1.
    """

    def __init__(self, p: Fraction, q: Fraction, n_draws: int = 1, *, swapped: bool = False) -> None:
        self._p, self._q, self._n, self._swapped = p, q, n_draws, swapped

    def __repr__(self) -> str:
        text = f"RuntimePair({self._p}, {self._q}, {self._n})"
        return f"{text}.inverse()" if self._swapped else text

    def inverse(self) -> RuntimePair:
        """Return the curve of q against p."""
        return RuntimePair(self._p, self._q, self._n, swapped=not self._swapped)

    def knots(self, count: int) -> tuple[tuple[Fraction, Fraction], ...]:
        """Return the first `count` of the infinitely many corners, exact; all but (0, 1) in the limit.

        Examples
        --------
        >>> RuntimePair(Fraction(1, 2), Fraction(1, 4)).knots(3)
        ((Fraction(1, 1), Fraction(0, 1)), (Fraction(1, 2), Fraction(1, 4)), (Fraction(1, 4), Fraction(7, 16)))
        """
        corners = []
        for k in range(self._n - 1, self._n - 1 + _checks.integer(count, "count", low=1)):
            alpha, beta = _exact_tail(k, self._p, self._n), 1 - _exact_tail(k, self._q, self._n)
            corners.append((beta, alpha) if self._swapped else (alpha, beta))
        return tuple(corners)

    def _tail(self, m: int, p: Fraction, reals: Arithmetic) -> Interval:
        """Enclose the probability that more than m proposals are needed."""
        if m < self._n:
            return reals.of(1)
        if p == 1:
            return reals.of(0)
        # Fewer than n of m proposals are accepted.
        odds, term, total = reals.of(p / (1 - p)), reals.of(1), reals.of(1)
        for j in range(1, self._n):
            term = term * (m - j + 1) * odds / j
            total = total + term
        return total * reals.exp(m * reals.log_of(1 - p))

    def _best_counts(self, epsilon: Fraction, *, long: bool) -> list[int]:
        """Return counts of which one certainly splits times by whether the ratio of probabilities passes e^epsilon."""
        if self._p == 1:
            return [self._n]
        reals = arithmetic(_BITS)
        ratio, spacing = reals.log_of(self._p / self._q), -reals.log_of((1 - self._p) / (1 - self._q))
        signed = reals.of(epsilon) if long else -reals.of(epsilon)
        low, high = ends(self._n + (self._n * ratio + signed) / spacing)
        if long:
            return [max(0, math.floor(low)), max(0, math.floor(high))]
        return [max(0, math.ceil(low) - 1), max(0, math.ceil(high) - 1)]

    def upper_delta(self, epsilon: Fraction) -> Fraction:
        """Return what the event of a long time gives, or for the inverse that of a short one, rounded up."""
        reals = arithmetic(_BITS)
        factor = reals.between(*exp_limits(min(epsilon, Fraction(LARGEST))))
        best = Fraction(0)
        for count in set(self._best_counts(epsilon, long=not self._swapped)):
            first, second = self._tail(count, self._p, reals), self._tail(count, self._q, reals)
            gain = (1 - first) - factor * (1 - second) if self._swapped else second - factor * first
            best = max(best, ends(gain)[1])
        return best

    def float_deltas(self, epsilons: Floats) -> Floats:
        """Return `upper_delta` in floats."""
        p, q, n = float(self._p), float(self._q), self._n
        if p == 1:
            counts = np.full_like(epsilons, float(n))
        else:
            spacing, ratio = math.log1p(-q) - math.log1p(-p), n * math.log(p / q)
            counts = (
                np.ceil(n + (ratio - epsilons) / spacing) - 1
                if self._swapped
                else np.floor(n + (ratio + epsilons) / spacing)
            )
        ratios, best = np.exp(np.minimum(epsilons, 700.0)), np.zeros_like(epsilons)
        # A count that rounding has moved is at a tie, where its neighbours give nearly the same.
        for shift in (-1, 0, 1):
            count = np.maximum(counts + shift, n - 1)
            if self._swapped:
                scale = _float_heads(count, p, n)
                gain = scale - ratios * _float_heads(count, q, n)
            else:
                scale = _float_tails(count, q, n)
                gain = scale - ratios * _float_tails(count, p, n)
            best = np.maximum(best, gain + 2.0**-40 * scale)
        return np.minimum(1.0, best * (1 + SHADE) + TINY)

    def lower_beta(self, alpha: Fraction) -> Fraction:
        """Return the curve, rounded down: the line through any two neighbouring corners is nowhere above it."""
        if alpha in (0, 1) or self._p == 1 or self._swapped:
            return super().lower_beta(alpha)
        k = self._count_at(float_down(alpha))

        def line(reals: Arithmetic) -> Interval:
            right, left = self._tail(k, self._p, reals), self._tail(k + 1, self._p, reals)
            low, high = 1 - self._tail(k, self._q, reals), 1 - self._tail(k + 1, self._q, reals)
            return low + (high - low) * (right - reals.of(alpha)) / (right - left)

        return max(Fraction(0), round_down(enclose(line, _BITS)[0]))

    def _count_at(self, alpha: float) -> int:
        """Return about the last corner whose alpha is at least this one."""
        low, high = self._n - 1, self._n
        p = float(self._p)
        while _float_tails(np.array([float(high)]), p, self._n)[0] > alpha and high < 2**60:
            high *= 2
        while high - low > 1:
            middle = (low + high) // 2
            above = _float_tails(np.array([float(middle)]), p, self._n)[0] >= alpha
            low, high = (middle, high) if above else (low, middle)
        return low


def _exact_tail(m: int, p: Fraction, n: int) -> Fraction:
    if m < n:
        return Fraction(1)
    return sum((math.comb(m, j) * p**j * (1 - p) ** (m - j) for j in range(n)), Fraction(0))


def _float_tails(counts: Floats, p: float, n: int) -> Floats:
    if n == 1:
        tails: Floats = np.exp(counts * math.log1p(-p)) if p < 1 else np.where(counts < 1, 1.0, 0.0)
        return tails
    from scipy.special import betainc

    inside: Floats = np.where(counts < n, 1.0, betainc(np.maximum(counts - n + 1, 1.0), n, 1 - p))
    return inside


def _float_heads(counts: Floats, p: float, n: int) -> Floats:
    """Return the probability that `counts` proposals suffice."""
    if n == 1:
        heads: Floats = -np.expm1(counts * math.log1p(-p)) if p < 1 else np.where(counts < 1, 0.0, 1.0)
        return heads
    from scipy.special import betainc

    inside: Floats = np.where(counts < n, 0.0, betainc(n, np.maximum(counts - n + 1, 1.0), p))
    return inside


class SmoothRuntime(SymmetricCurve):
    """The smooth curve below that of a geometric time, for both orders.

    ``1 - alpha^r`` down to slope -1, a line of slope -1, and the mirror image: two exponential laws of rates 1 and r,
    made symmetric.

    Parameters
    ----------
    r : Fraction
        log(1 - q) / log(1 - p), in (0, 1); rounding it down errs on the safe side.
    """

    def __init__(self, r: Fraction) -> None:
        self._r = r

    def __repr__(self) -> str:
        return f"SmoothRuntime({float(self._r):.6g})"

    @property
    def r(self) -> Fraction:
        """The exponent."""
        return self._r

    def _power(self, base: Fraction, exponent: Fraction, reals: Arithmetic) -> Interval:
        return reals.exp(reals.log_of(base) * reals.of(exponent))

    def lower_beta(self, alpha: Fraction) -> Fraction:
        """Return the curve, rounded down."""
        if alpha in (0, 1):
            return 1 - alpha
        reals, r, best = arithmetic(_BITS), self._r, 1 - self.upper_delta(Fraction(0)) - alpha
        # Where the slope is certainly at most -1 the first branch holds; the mirror image needs the same of beta.
        if ends(reals.of(r) * self._power(alpha, r - 1, reals))[0] >= 1:
            best = max(best, ends(1 - self._power(alpha, r, reals))[0])
        low = high = Fraction(0)
        if r > Fraction(1, 1000):
            low, high = ends(self._power(1 - alpha, 1 / r, reals))
        if high > 0 and ends(reals.of(r) * self._power(high, r - 1, reals))[0] >= 1:
            best = max(best, low)
        return round_down(max(Fraction(0), best))

    def float_betas(self, alphas: Floats) -> Floats:
        """Return the curve in floats, rounded down."""
        r = float_down(self._r)
        corner = r ** (1 / (1 - r)) * (1 - SHADE)
        left = 1 - alphas**r
        right = (1 - alphas) ** (1 / r)
        line = 1 - float_up(self.upper_delta(Fraction(0))) - alphas
        sides = np.maximum(np.where(alphas <= corner, left - 2.0**-50, -1.0), np.where(right <= corner, right, -1.0))
        return np.where((alphas > 0) & (alphas < 1), shade_down(np.maximum(sides, line - 2.0**-50)), 1 - alphas)

    def upper_delta(self, epsilon: Fraction) -> Fraction:
        """Return (1 - r) (r e^-epsilon)^(r / (1 - r)), rounded up."""
        r = self._r
        exponent = refined(lambda reals: (reals.log_of(r) - reals.of(epsilon)) * reals.of(r / (1 - r)))
        return (1 - r) * exp_up(exponent[1])

    def float_deltas(self, epsilons: Floats) -> Floats:
        """Return `upper_delta` in floats."""
        r, rest = float_down(self._r), float_up(1 - self._r)
        exponents = (math.log(r) - epsilons) * (r / rest)
        return np.minimum(1.0, rest * np.exp(exponents + 2.0**-46 * np.abs(exponents)) * (1 + SHADE) + TINY)

    def least_epsilon(self, delta: Fraction) -> Fraction | None:
        """Return max(0, log r + (1 - r)/r log((1 - r)/delta)), rounded up."""
        if delta == 0:
            return None
        r = self._r
        return max(Fraction(0), log_up(r) + (1 - r) / r * log_up((1 - r) / delta))
