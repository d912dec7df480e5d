"""Rounded Gaussian noise: exactly the law of floor((S + Z) / 2**j + 1/2) for a real Gaussian Z."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.lattice.noise import box_muller, rounding, scales
from discreet.lattice.noise.box_muller import Limits, Pairs
from discreet.numbers.roots import root_up_to_double

if TYPE_CHECKING:
    from fractions import Fraction

    from discreet.privacy.coins import Coins

# Pairs that are made together: all arrays of a block stay in a core's second-level cache.
_BLOCK = 1 << 13


def rounded_gaussian(statistic: np.ndarray, *, variance: Fraction, coins: Coins, step_bits: int = 0) -> np.ndarray:
    """Return an exact statistic plus Gaussian noise, rounded to the nearest step.

    Parameters
    ----------
    statistic : np.ndarray of int64, any shape
        The exact statistic in grid units.
    variance : Fraction
        Variance of the noise in squared grid units, between 2**-1000 and 2**118.
        The standard deviation is its root rounded up to a double, which is then exact.
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
        If `variance` or `step_bits` is out of its range; nothing is drawn.
    InvalidType
        If `statistic` is not an int64 array.

    Notes
    -----
    Two draws use three words (an odd number of draws leaves one out), refinement excepted. The chance of refinement
    is that of Z within the error radius of a boundary: about 2**-23 a draw where the standard deviation is 2**20
    steps, in proportion elsewhere. One radius a call serves all draws, so the chance does not depend on a draw's size.

    **Error radius**, in steps, with s the standard deviation in steps and e = 2**-53: 2**-48 * 9.42 s for the noise
    (`Pairs.doubles`), and for the sum with the statistic's remainder one rounding, at most e (9.42 s + 1), and e for
    the remainder itself. Rounding to the nearest whole number and the distance from it are exact.

    Guarantee
    ---------
    A release is a function of S + Z, Z a real Gaussian of at least the stated variance, so the Gaussian mechanism's
    theorems hold word for word: with l2 sensitivity D it is (D / std)-GDP and D**2 / (2 variance)-zCDP. The law is
    exact: a draw that its double leaves undecided is computed from the same words, lengthened, in interval arithmetic.
    Proof: docs/proofs/rounding.md.
    Source: Dong, Roth and Su 2022, Gaussian differential privacy; Bun and Steinke 2016 for zCDP.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import numpy as np
    >>> from discreet.privacy.coins import Coins
    >>> rounded_gaussian(np.array([100, 200]), variance=Fraction(1, 1000), coins=Coins.from_seed(1)).tolist()
    [100, 200]
    """
    std = root_up_to_double(scales.check_variance(variance, "variance"))
    shift = scales.check_step_bits(step_bits)
    flat = scales.check_statistic(statistic).reshape(-1)
    released = np.empty(flat.size, dtype=np.int64)
    std_in_steps = float(std / 2**shift)
    limit = rounding.certain_below(_error_radius(std_in_steps))
    pairs: Pairs | None = None
    for start in range(0, flat.size, 2 * _BLOCK):
        exact, out = flat[start : start + 2 * _BLOCK], released[start : start + 2 * _BLOCK]
        n_pairs = (out.size + 1) // 2
        if pairs is None or pairs.vague.size != n_pairs:
            pairs, noise = Pairs(n_pairs, coins), np.zeros((2, n_pairs))
        else:
            pairs.refill()
        vague = pairs.doubles(std_in_steps, noise[0], noise[1])
        draws = noise.reshape(-1)[: out.size]
        if rounding.round_sum(draws, exact, shift, limit, out) or vague:
            undecided = np.abs(draws) >= limit
            undecided |= np.tile(pairs.vague, 2)[: out.size]
            for index in np.flatnonzero(undecided).tolist():
                half, pair = divmod(index, n_pairs)
                enclose = partial(_limits, pairs, pair, half, std)
                out[index] = rounding.settle(int(exact[index]), shift, enclose)
    return released.reshape(statistic.shape)


def _limits(pairs: Pairs, pair: int, half: int, std: Fraction, level: int) -> Limits | None:
    standard = pairs.limits(pair, level)
    if standard is None:
        return None
    low, high = standard[half]
    return low * std, high * std


def _error_radius(std: float) -> float:
    # The argument is in the docstring; 1.001 covers the roundings of this line.
    reach = box_muller.LARGEST_RADIUS * std
    return 1.001 * (box_muller.ERROR_RADIUS * std + rounding.ROUNDOFF * (reach + 2))
