"""L-infinity K-norm noise: pure differential privacy for a vector whose entries change by at most a half-width each."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument
from discreet.lattice.noise import box_muller, rounding, scales
from discreet.lattice.noise.radius import NEARLY_ONE, Radius, reach_and_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.lattice.noise.box_muller import Limits
    from discreet.privacy.coins import Coins


def k_norm(
    statistic: np.ndarray,
    *,
    half_widths: Sequence[int | Fraction],
    rate: Fraction,
    coins: Coins,
    step_bits: int = 0,
) -> np.ndarray:
    """Return an exact statistic plus l-infinity K-norm noise, rounded to the nearest step.

    Parameters
    ----------
    statistic : np.ndarray of int64, any shape
        The exact statistic in grid units.
    half_widths : sequence of int or Fraction, one an entry
        Half-widths h_i in grid units, at least 0. An entry of half-width 0 gets no noise: it must be public.
    rate : Fraction
        The noise Z has a density proportional to `exp(-rate * max_i |z_i| / h_i)`; greater than 0.
    coins : Coins
        Where the random words come from.
    step_bits : int, default 0
        The release is in steps of 2**step_bits grid units.

    Returns
    -------
    np.ndarray of int64, the statistic's shape
        `floor((S + Z) / 2**step_bits + 1/2)`. Sums wrap around modulo 2**64 and never raise.

    Raises
    ------
    InvalidArgument
        If `half_widths`, `rate` or `step_bits` is out of its range; nothing is drawn.
    InvalidType
        If `statistic` is not an int64 array.

    Notes
    -----
    With m entries of positive half-width, Z = r u: r is the sum of m + 1 exponentials of the given rate, u_i uniform
    on [-h_i, h_i]. Neither is ever rounded. Every entry has variance `h_i**2 (m + 1)(m + 2) / (3 rate**2)`; entries
    are uncorrelated, not independent. There are 2 (m + 1) + m words, refinement excepted.

    **Error radius**, in steps. Let e = 2**-53 and f the largest `h_i / rate`. An exponential errs by less than 13 e
    relatively (as in `box_muller.Pairs.doubles`). It is split, exactly, into whole units of 2**-20 and a rest; the
    units are added without error, the m + 1 = n rests err by at most n e times n units, however they are added, and
    one more addition by e. A u_i in units of h_i is a word's double: e, and 2**-63 for the unread rest of the word.
    f and two products: 3 e. The largest r is 44.4 n. The sum with the statistic's remainder adds one rounding, the
    remainder e. One radius serves all draws of a call, so the chance of refinement does not depend on them.

    Guarantee
    ---------
    Any two statistics whose difference has a gauge `max_i |d_i| / h_i` of at most D have releases that are
    (rate D)-indistinguishable, purely: a release is a function of S + Z, and Z has the density above. The law is
    exact: an undecided entry is computed from the same words, lengthened, in interval arithmetic.
    Proof: docs/proofs/k_norm.md.
    Source: Hardt and Talwar 2010, On the geometry of differential privacy; Awan and Slavkovic 2021.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import numpy as np
    >>> from discreet.privacy.coins import Coins
    >>> k_norm(np.array([100, 200]), half_widths=[1, 2], rate=Fraction(1000), coins=Coins.from_seed(1)).tolist()
    [100, 200]
    """
    exact = scales.check_statistic(statistic).reshape(-1)
    widths = _check_half_widths(half_widths, exact.size)
    noisy = [index for index, width in enumerate(widths) if width > 0]
    factors = check_rate(rate, [widths[index] for index in noisy])
    shift = scales.check_step_bits(step_bits)
    released = np.empty_like(exact)
    if exact.size:
        rounding.round_sum(np.zeros(exact.size), exact, shift, 1.0, released)
    if noisy:
        released[noisy] = _Draw(len(noisy), coins).add_to(exact[noisy], factors, shift)
    return released.reshape(statistic.shape)


def symmetric_k_norm(
    statistic: np.ndarray,
    *,
    half_widths: Sequence[Sequence[int | Fraction]],
    rate: Fraction,
    coins: Coins,
    step_bits: int = 0,
) -> np.ndarray:
    """Return a symmetric statistic plus l-infinity K-norm noise, each distinct entry drawn once.

    Parameters
    ----------
    statistic : np.ndarray of int64, shape (D, D)
        The exact symmetric statistic in grid units; its upper triangle is read.
    half_widths : D rows of D ints or Fractions
        Half-widths in grid units; the upper triangle is read.
    rate, coins, step_bits
        As in `k_norm`.

    Returns
    -------
    np.ndarray of int64, shape (D, D)
        Symmetric, in steps of 2**step_bits grid units.

    Raises
    ------
    InvalidArgument
        If `half_widths`, `rate` or `step_bits` is out of its range, or the statistic is no square matrix.

    Guarantee
    ---------
    As `k_norm` for the vector of distinct entries, upper triangle by rows; the lower triangle is a copy.
    Proof: docs/proofs/k_norm.md.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import numpy as np
    >>> from discreet.privacy.coins import Coins
    >>> widths = [[1, 2], [2, 1]]
    >>> exact = np.array([[4, 1], [1, 9]])
    >>> symmetric_k_norm(exact, half_widths=widths, rate=Fraction(10**6), coins=Coins.from_seed(1)).tolist()
    [[4, 1], [1, 9]]
    """
    square = scales.check_square(statistic)
    rows, columns = np.triu_indices(square.shape[0])
    if len(half_widths) != square.shape[0] or any(len(row) != square.shape[0] for row in half_widths):
        raise InvalidArgument("`half_widths` must have the shape of the statistic.")
    distinct = [half_widths[i][j] for i, j in zip(rows.tolist(), columns.tolist(), strict=True)]
    entries = k_norm(square[rows, columns], half_widths=distinct, rate=rate, coins=coins, step_bits=step_bits)
    released = np.empty_like(square)
    released[rows, columns] = entries
    released[columns, rows] = entries
    return released


def check_rate(rate: Any, half_widths: Sequence[Fraction]) -> list[Fraction]:
    """Return `half_width / rate` of every entry, if the noise of all of them fits an int64 and a double.

    An entry is at most `44.4 (m + 1)` times that from zero in the fast path, m the number of entries.
    """
    exact_rate = _checks.exact_positive(rate, "rate")
    factors = [width / exact_rate for width in half_widths]
    if factors:
        least, largest = min(factors), max(factors)
        if least < scales.LEAST_SCALE or Fraction("44.5") * (len(factors) + 1) * largest > 2**62:
            raise InvalidArgument(
                "`rate` must keep the noise between 2**-500 and 2**62 grid units; found a "
                f"{'smaller' if least >= scales.LEAST_SCALE else 'larger'} number. Change the budget or the bounds."
            )
    return factors


def _check_half_widths(values: Any, size: int) -> list[Fraction]:
    widths = [_checks.exact_nonnegative(value, "half_widths") for value in values]
    if len(widths) == size:
        return widths
    raise InvalidArgument(f"`half_widths` must have one number an entry; found {len(widths)} for {size} entries.")


class _Draw:
    """The words of one radius and m directions, and what they say."""

    def __init__(self, size: int, coins: Coins) -> None:
        self._coins = coins
        self._radius = Radius(size + 1, coins)
        self._directions = np.empty(size, np.uint64)
        coins.fill(self._directions)
        self._further: dict[int, list[int]] = {}

    def add_to(self, exact: np.ndarray, factors: list[Fraction], shift: int) -> np.ndarray:
        """Return floor((exact + Z) / 2**shift + 1/2)."""
        released = np.empty_like(exact)
        in_steps = np.array([float(factor / 2**shift) for factor in factors])
        radius, vague = self._radius.double()
        # A signed word over 2**63 is uniform on [-1, 1) up to what is not read of it.
        noise = self._directions.view(np.int64) * 2.0**-63
        noise *= radius
        noise *= in_steps
        limit = rounding.certain_below(_error_radius(self._directions.size + 1, float(in_steps.max())))
        if rounding.round_sum(noise, exact, shift, limit, released) or vague:
            for index in np.flatnonzero((np.abs(noise) >= limit) | vague).tolist():
                enclose = partial(self._limits, index, factors[index])
                released[index] = rounding.settle(int(exact[index]), shift, enclose)
        return released

    def _limits(self, index: int, factor: Fraction, level: int) -> Limits | None:
        """Return exact limits of an entry of Z, from the words and `level` more for each uniform number."""
        radius = self._radius.limits(level)
        if radius is None:
            return None
        further = self._further.setdefault(index, [])
        if len(further) < level:
            further += self._coins.words(level - len(further)).tolist()
        bits = self._coins.word_bits
        joined = box_muller.join([int(self._directions[index]), *further[:level]], bits)
        n_bits = (1 + level) * bits - 1
        signed = joined - (joined >> n_bits << (n_bits + 1))
        low, high = box_muller.product(radius, (Fraction(signed, 1 << n_bits), Fraction(signed + 1, 1 << n_bits)))
        return low * factor, high * factor


def _error_radius(n_exponentials: int, factor: float) -> float:
    # The argument is in the docstring of `k_norm`; 1.001 covers the roundings of these lines and second-order terms.
    largest, of_radius = reach_and_error(n_exponentials)
    e = rounding.ROUNDOFF
    of_noise = factor * (of_radius + largest * (4 * e + 2.0**-63))
    return NEARLY_ONE * (of_noise + e * (factor * largest + 1) + e)
