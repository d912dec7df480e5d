"""How far out 95 % lies: the law of an estimate whose noise is not normal, by its excess kurtosis."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

# Nearer to normal than this, the normal law is taken: its quantiles are then right to four digits.
_NORMAL = 1e-3
_UNIFORM, _LAPLACE = -1.2, 3.0
_FARTHEST = 64.0


def tail(distances: np.ndarray, kurtosis: np.ndarray) -> np.ndarray:
    """Return P(T > x) for a symmetric T of variance 1 with a given excess kurtosis.

    T is a normal part plus a uniform part (negative kurtosis) or a Laplace part (positive), whose share gives that
    kurtosis: the law of an estimate in which one entry of the noise stands out among many.

    Parameters
    ----------
    distances : ndarray of float64, shape (k,)
        At least 0.
    kurtosis : ndarray of float64, shape (k,)

    Examples
    --------
    >>> tail(np.array([1.96]), np.array([0.0])).round(3).tolist()
    [0.025]
    >>> tail(np.array([1.96, 1.96]), np.array([-1.0, 2.0])).round(3).tolist()
    [0.007, 0.029]
    """
    from scipy.special import ndtr

    chances = np.asarray(ndtr(-distances))
    flat, heavy = kurtosis < -_NORMAL, kurtosis > _NORMAL
    if flat.any():
        chances[flat] = _uniform_tail(distances[flat], np.sqrt(np.minimum(kurtosis[flat] / _UNIFORM, 0.998)))
    if heavy.any():
        chances[heavy] = _laplace_tail(distances[heavy], np.sqrt(np.minimum(kurtosis[heavy] / _LAPLACE, 0.998)))
    return chances


def quantile(level: float, kurtosis: np.ndarray) -> np.ndarray:
    """Return the distance within which T lies with probability `level`, shape (k,); see :func:`tail`.

    Examples
    --------
    >>> quantile(0.95, np.array([0.0, -1.0, 2.0])).round(2).tolist()
    [1.96, 1.73, 2.06]
    """
    wanted = (1.0 - level) / 2.0
    if not (np.abs(kurtosis) > _NORMAL).any():
        return np.full(kurtosis.shape, -NormalDist().inv_cdf(wanted))
    low, high = np.zeros_like(kurtosis), np.full_like(kurtosis, _FARTHEST)
    for _ in range(60):
        middle = (low + high) / 2.0
        beyond = tail(middle, kurtosis) > wanted
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return np.asarray((low + high) / 2.0)


def _uniform_tail(x: np.ndarray, share: np.ndarray) -> np.ndarray:
    from scipy.special import ndtr

    spread, half = np.sqrt(1.0 - share), np.sqrt(3.0 * share)

    def beyond(y: np.ndarray) -> np.ndarray:
        """Return the integral of P(normal part > u) over u > y."""
        z = y / spread
        return np.asarray(spread * np.exp(-(z**2) / 2.0) / math.sqrt(2.0 * math.pi) - y * ndtr(-z))

    return np.asarray(np.maximum(beyond(x - half) - beyond(x + half), 0.0) / (2.0 * half))


def _laplace_tail(x: np.ndarray, share: np.ndarray) -> np.ndarray:
    from scipy.special import log_ndtr, ndtr

    spread, scale = np.sqrt(1.0 - share), np.sqrt(share / 2.0)
    ratio = spread / scale
    near = np.exp(ratio**2 / 2.0 - x / scale + log_ndtr(x / spread - ratio))
    far = np.exp(ratio**2 / 2.0 + x / scale + log_ndtr(-x / spread - ratio))
    return np.asarray(ndtr(-x / spread) + (near - far) / 2.0)
