"""Even polynomials that come nearest to the logistic loss, by Remez's exchange: what a closed form is compared with.

``log(1 + e^z) = z/2 + g(z)`` with ``g(z) = log(2 cosh(z/2))`` even, so only the even coefficients need to be found.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

GRID: Final = 8192
MOST_EXCHANGES: Final = 60


@dataclass(frozen=True, slots=True)
class EvenPolynomial:
    """The polynomial ``c0 + c2 z**2 + c4 z**4`` in the place of ``log(1 + e^z) - z/2`` on ``|z| <= radius``.

    Parameters
    ----------
    coefficients : tuple of float
        ``(c0, c2)`` or ``(c0, c2, c4)``.
    radius : float
        The public largest ``|z|``.
    value_error : float
        The largest error of the loss on the interval.
    slope_error : float
        The largest error of its derivative, the sigmoid.
    """

    coefficients: tuple[float, ...]
    radius: float
    value_error: float
    slope_error: float

    @property
    def curvature(self) -> float:
        """The coefficient of ``z**2``."""
        return self.coefficients[1]


def loss(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the even part of the logistic loss, ``log(2 cosh(z/2))``, without overflow."""
    size = np.abs(z)
    return np.asarray(size / 2 + np.log1p(np.exp(-size)))


def slope(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return its derivative, ``tanh(z/2) / 2``: the sigmoid less one half."""
    return np.asarray(np.tanh(z / 2) / 2)


def taylor(radius: float, *, degree: int = 2) -> EvenPolynomial:
    """Return the Taylor polynomial at 0, ``log 2 + z**2/8 (- z**4/192)``, with its errors on ``|z| <= radius``."""
    return _taylor(radius, degree // 2 + 1)


@functools.lru_cache(maxsize=256)
def _taylor(reach: float, n_terms: int) -> EvenPolynomial:
    return _measured((float(np.log(2.0)), 1 / 8, -1 / 192)[:n_terms], reach)


def minimax(radius: float, *, degree: int = 2, of: str = "value") -> EvenPolynomial:
    """Return the even polynomial with the smallest largest error on ``|z| <= radius``.

    Parameters
    ----------
    radius : float
        The public largest ``|z|``, between 0.1 and 100.
    degree : {2, 4}
        Of the polynomial.
    of : {"value", "slope"}
        Whether the error of the loss or that of its derivative is made small; with "slope" the constant is the one
        that makes the loss's error smallest.

    Notes
    -----
    Remez's exchange on a fine grid: the best polynomial is the one whose error has the same size, with alternating
    signs, at one point more than it has coefficients (Chebyshev).
    """
    return _minimax(radius, degree // 2 + 1, of)


@functools.lru_cache(maxsize=256)
def _minimax(reach: float, n_terms: int, of: str) -> EvenPolynomial:
    # The Chebyshev spacing is dense at the ends, where the error has its extremes.
    grid = reach * np.sin(np.linspace(0.0, np.pi / 2, GRID))
    if of == "value":
        basis = np.stack([grid ** (2 * k) for k in range(n_terms)])
        return _measured(tuple(_remez(basis, loss(grid))), reach)
    powers = range(1, n_terms)
    basis = np.stack([2 * k * grid ** (2 * k - 1) for k in powers])
    rest = _remez(basis, slope(grid))
    error = loss(grid) - rest @ np.stack([grid ** (2 * k) for k in powers])
    return _measured(((error.max() + error.min()) / 2, *rest), reach)


def _remez(basis: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the coefficients of the rows of `basis` whose largest error against `values` is smallest."""
    n_terms, n_points = basis.shape
    # Rows of very different sizes would make the small systems ill-conditioned.
    sizes = np.abs(basis).max(axis=1)
    scaled = basis / sizes[:, None]
    reference = np.linspace(n_points // 8, n_points - 1, n_terms + 1).astype(int)
    signs = (-1.0) ** np.arange(n_terms + 1)
    coefficients = np.zeros(n_terms)
    for _ in range(MOST_EXCHANGES):
        system = np.column_stack([scaled[:, reference].T, signs])
        coefficients = np.linalg.solve(system, values[reference])[:-1]
        chosen = _alternating_extremes(values - coefficients @ scaled, n_terms + 1)
        if np.array_equal(chosen, reference):
            break
        reference = chosen
    return np.asarray(coefficients / sizes)


def _alternating_extremes(error: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Return the positions of the largest error in each of the `count` longest-reaching runs of one sign."""
    borders = np.flatnonzero(np.diff(np.sign(error)) != 0) + 1
    runs = np.split(np.arange(error.size), borders)
    peaks = np.array([run[np.argmax(np.abs(error[run]))] for run in runs])
    while peaks.size > count:
        # The weaker end goes: neighbours inside keep alternating.
        peaks = peaks[1:] if np.abs(error[peaks[0]]) < np.abs(error[peaks[-1]]) else peaks[:-1]
    return peaks


def _measured(coefficients: tuple[float, ...], radius: float) -> EvenPolynomial:
    grid = radius * np.sin(np.linspace(0.0, np.pi / 2, GRID))
    numbers = tuple(float(number) for number in coefficients)
    errors = _errors(numbers, grid, loss, lambda k, z: z ** (2 * k))
    slopes = _errors(numbers, grid, slope, lambda k, z: 2 * k * z ** max(2 * k - 1, 0))
    return EvenPolynomial(numbers, radius, errors, slopes)


def _errors(
    coefficients: tuple[float, ...],
    grid: NDArray[np.float64],
    exact: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    power: Callable[[int, NDArray[np.float64]], NDArray[np.float64]],
) -> float:
    found = sum((c * power(k, grid) for k, c in enumerate(coefficients)), np.zeros_like(grid))
    return float(np.abs(exact(grid) - found).max())
