"""Wishart difference noise for Gram matrices: pure differential privacy from Gaussian numbers."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.lattice.noise import box_muller, rounding, scales
from discreet.lattice.noise.box_muller import Limits, Pairs

if TYPE_CHECKING:
    from discreet.privacy.coins import Coins


def wishart_difference(statistic: np.ndarray, *, theta: Fraction, coins: Coins, step_bits: int = 0) -> np.ndarray:
    """Return a Gram matrix plus the difference of two Wishart matrices, rounded to the nearest step.

    Parameters
    ----------
    statistic : np.ndarray of int64, shape (D, D)
        The exact symmetric statistic in grid units; its upper triangle is read.
    theta : Fraction
        Rate of the noise per grid unit: E = A'A - B'B with A, B of shape (D + 1, D), entries independent
        N(0, 1/(2 theta)). Between (D + 1) * 89 * 2**-63 and 2**500.
    coins : Coins
        Where the random words come from.
    step_bits : int, default 0
        The release is in steps of 2**step_bits grid units.

    Returns
    -------
    np.ndarray of int64, shape (D, D)
        Symmetric: `floor((S + E) / 2**step_bits + 1/2)` in the upper triangle, copied to the lower one.
        Sums wrap around modulo 2**64 and never raise.

    Raises
    ------
    InvalidArgument
        If `theta` or `step_bits` is out of its range, or the statistic is no square matrix; nothing is drawn.

    Notes
    -----
    Off the diagonal the noise has variance (D + 1) / (2 theta**2), on it (D + 1) / theta**2; entries are
    uncorrelated. For D = 1 the law is Laplace with scale 1/theta. There are 3 D (D + 1) words, refinement excepted.
    A and B are standard normal numbers that nothing rounds; the factor 1/(2 theta) is exact.

    **Error radius** of an entry, in steps. Let n = D + 1, r = 9.42 the largest radius, d = `ERROR_RADIUS`, e = 2**-53,
    f = 1/(2 theta) in steps. Every factor is at most r and errs by at most d, so a sum of n products errs by
    n (2 r d + d**2); computing it in doubles, in any order and with or without fused operations, adds at most
    n e / (1 - n e) times n (r + d)**2 (Higham 2002, section 3.5). There are two sums; their difference, f and the
    product with f add three roundings of at most 2 n (r + d)**2 f, the sum with the statistic's remainder one more,
    and that remainder e. The bound holds for all draws alike, so the chance of refinement does not depend on them.

    Guarantee
    ---------
    The log-density of E is theta-Lipschitz in the nuclear norm, and a release is a function of S + E. With nuclear
    sensitivity N it is (theta N)-differentially private, purely: N is R**2 when rows of norm at most R are added or
    removed, 2 R**2 when one is replaced. The law is exact: an undecided entry is computed from the same words,
    lengthened, in interval arithmetic.
    Proof: docs/proofs/wishart.md.
    Source: this project; see the page for its relatives.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import numpy as np
    >>> from discreet.privacy.coins import Coins
    >>> exact = np.array([[4, 1], [1, 9]])
    >>> wishart_difference(exact, theta=Fraction(10**6), coins=Coins.from_seed(1)).tolist()
    [[4, 1], [1, 9]]
    """
    square = scales.check_square(statistic)
    width = square.shape[0]
    factor = 1 / (2 * scales.check_theta(theta, width))
    shift = scales.check_step_bits(step_bits)
    height = width + 1
    pairs = Pairs(height * width, coins)
    plus, minus = np.zeros((2, height, width))
    vague = pairs.doubles(1.0, plus.reshape(-1), minus.reshape(-1))
    rows, columns = np.triu_indices(width)
    noise = (plus.T @ plus - minus.T @ minus)[rows, columns]
    noise *= float(factor / 2**shift)
    exact = square[rows, columns]
    entries = np.empty_like(exact)
    limit = rounding.certain_below(_error_radius(height, float(factor / 2**shift)))
    if rounding.round_sum(noise, exact, shift, limit, entries) or vague:
        for index in np.flatnonzero((np.abs(noise) >= limit) | vague).tolist():
            enclose = partial(_limits, pairs, width, (int(rows[index]), int(columns[index])), factor)
            entries[index] = rounding.settle(int(exact[index]), shift, enclose)
    released = np.empty_like(square)
    released[rows, columns] = entries
    released[columns, rows] = entries
    return released


def _error_radius(height: int, factor: float) -> float:
    # The argument is in the docstring; 1.001 covers the roundings of these lines and of n e / (1 - n e).
    largest = box_muller.LARGEST_RADIUS + box_muller.ERROR_RADIUS
    square = height * largest**2
    of_factors = height * 2 * largest * box_muller.ERROR_RADIUS
    of_sums = height * rounding.ROUNDOFF * square
    of_rest = 4 * rounding.ROUNDOFF * 2 * square
    return 1.001 * (factor * (2 * (of_factors + of_sums) + of_rest) + 2 * rounding.ROUNDOFF)


def _limits(pairs: Pairs, width: int, entry: tuple[int, int], factor: Fraction, level: int) -> Limits | None:
    """Return exact limits of an entry of factor * (A'A - B'B), from the words and `level` more for each number."""
    row, column = entry
    low = high = Fraction(0)
    for start in range(0, (width + 1) * width, width):
        ones, others = pairs.limits(start + row, level), pairs.limits(start + column, level)
        if ones is None or others is None:
            return None
        plus, minus = (box_muller.product(one, other) for one, other in zip(ones, others, strict=True))
        low += plus[0] - minus[1]
        high += plus[1] - minus[0]
    return low * factor, high * factor
