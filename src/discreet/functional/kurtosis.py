"""The excess kurtosis of the noise in a Gram matrix, and of what is linear in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.functional.paper_modes import entry_scales
from discreet.privacy.events.noise import CoefficientLaplaceEvent, KNormEvent, LaplaceEvent, WishartEvent

if TYPE_CHECKING:
    from discreet.lattice.gram_noise import GramEvent

_UNIFORM, _LAPLACE = -1.2, 3.0


def entry_kurtosis(event: GramEvent) -> tuple[np.ndarray | float, float]:
    """Return the excess kurtosis of the noise's entries, and what a common factor of all entries adds.

    Returns
    -------
    own : ndarray of float64, shape (D, D), or float
        The fourth cumulant of an entry, in squares of its variance, the common factor apart.
    common : float
        What the common factor adds to the excess kurtosis of every linear combination.

    Notes
    -----
    l-infinity noise is uniform times a common Gamma radius. A combination `l'Er` of the Wishart difference has an
    excess kurtosis of 3 / (D + 1), for orthogonal l and r, to 6 / (D + 1); the former is taken.
    Proof: docs/proofs/intervals.md.
    """
    if isinstance(event, LaplaceEvent):
        return _LAPLACE, 0.0
    if isinstance(event, CoefficientLaplaceEvent):
        return np.where(entry_scales(event)[1], _LAPLACE / 2.0, _LAPLACE), 0.0
    if isinstance(event, KNormEvent):
        m = event.dimension
        ratio = (m + 3) * (m + 4) / ((m + 1) * (m + 2))
        return _UNIFORM * ratio, 3.0 * (ratio - 1.0)
    if isinstance(event, WishartEvent):
        return 0.0, 3.0 / (event.shape[0] + 1)
    return 0.0, 0.0


def noise_fourth_cumulants(
    left: np.ndarray, right: np.ndarray, fourth: np.ndarray, common: float, variances: np.ndarray
) -> np.ndarray:
    """Return the fourth cumulant of `left_j' E right` for every row of `left`, shape (k,).

    Parameters
    ----------
    left : ndarray of float64, shape (k, D)
    right : ndarray of float64, shape (D,)
    fourth : ndarray of float64, shape (D, D)
        Of every entry of the symmetric matrix E, whose distinct entries are independent, the common factor apart.
    common : float
        See :func:`entry_kurtosis`.
    variances : ndarray of float64, shape (k,)
        Of `left_j' E right`.

    Notes
    -----
    An entry off the diagonal has the weight `l_i r_k + l_k r_i`, one on it `l_i r_i`; the fourth powers of the former
    are summed over all ordered pairs and halved.
    """
    if not fourth.any():
        return np.asarray(common * variances**2)
    off = fourth - np.diag(np.diag(fourth))
    left_squared, right_squared = left * left, right * right
    both = left_squared * right_squared
    sums = (left_squared * left_squared) @ (off @ (right_squared * right_squared)) + (both * both) @ np.diag(fourth)
    sums += 4.0 * np.sum(((left_squared * left * right) @ off) * (left * right * right_squared), axis=1)
    sums += 3.0 * np.sum((both @ off) * both, axis=1)
    return np.asarray(sums + common * variances**2)
