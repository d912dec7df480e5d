"""Symmetric Gaussian noise for a matrix: each distinct entry once, off the diagonal half the variance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.lattice.noise import scales
from discreet.lattice.noise.gaussian import rounded_gaussian

if TYPE_CHECKING:
    from fractions import Fraction

    from discreet.privacy.coins import Coins


def symmetric_gaussian(
    statistic: np.ndarray, *, diagonal_variance: Fraction, coins: Coins, step_bits: int = 0
) -> np.ndarray:
    """Return a symmetric statistic plus symmetric Gaussian noise, rounded to the nearest step.

    Parameters
    ----------
    statistic : np.ndarray of int64, shape (D, D)
        The exact symmetric statistic in grid units; its upper triangle is read.
    diagonal_variance : Fraction
        Variance of a diagonal entry's noise in squared grid units; other entries get half of it.
        Between 2**-999 and 2**118. Both standard deviations are rounded up.
    coins : Coins
        Where the random words come from.
    step_bits : int, default 0
        The release is in steps of 2**step_bits grid units.

    Returns
    -------
    np.ndarray of int64, shape (D, D)
        Symmetric.

    Raises
    ------
    InvalidArgument
        If `diagonal_variance` or `step_bits` is out of its range, or the statistic is no square matrix.

    Notes
    -----
    The **error radius** is that of `rounded_gaussian`, which draws the diagonal first, then the rest of the upper
    triangle by rows.

    Guarantee
    ---------
    In the coordinates (diagonal, sqrt(2) times the rest) the noise is spherical and the length is the Frobenius norm:
    with Frobenius sensitivity F the release is (F / sqrt(diagonal_variance))-GDP and F**2 / (2 diagonal_variance)-zCDP,
    as `rounded_gaussian`.
    Proof: docs/proofs/rounding.md.
    Source: Dwork, Talwar, Thakurta and Zhang 2014, Analyze Gauss, with the off-diagonal variance halved.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import numpy as np
    >>> from discreet.privacy.coins import Coins
    >>> exact = np.array([[4, 1], [1, 9]])
    >>> symmetric_gaussian(exact, diagonal_variance=Fraction(1, 10**6), coins=Coins.from_seed(1)).tolist()
    [[4, 1], [1, 9]]
    """
    square = scales.check_square(statistic)
    diagonal_exact = scales.check_variance(diagonal_variance, "diagonal_variance")
    # Half of it must be in range, too, before anything is drawn.
    rest_exact = scales.check_variance(diagonal_exact / 2, "diagonal_variance")
    rows, columns = np.triu_indices(square.shape[0], k=1)
    released = np.empty_like(square)
    diagonal = rounded_gaussian(np.diagonal(square), variance=diagonal_exact, coins=coins, step_bits=step_bits)
    rest = rounded_gaussian(square[rows, columns], variance=rest_exact, coins=coins, step_bits=step_bits)
    np.fill_diagonal(released, diagonal)
    released[rows, columns] = rest
    released[columns, rows] = rest
    return released
