"""From a noisy quadratic to a minimiser: post-processing, for nothing but the release is read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Minimiser:
    """The minimiser of a repaired quadratic.

    Parameters
    ----------
    solution : ndarray of float64, shape (p,)
        The minimiser.
    ridge : float
        What was added to the diagonal, in the units of the quadratic.
    smallest_eigenvalue : float
        Of the noisy quadratic, before the repair.
    noise_norm : float
        The public operator-norm scale of the noise.
    """

    solution: np.ndarray
    ridge: float
    smallest_eigenvalue: float
    noise_norm: float

    @property
    def noise_dominated(self) -> bool:
        """True where the smallest eigenvalue does not stand above the noise."""
        return bool(self.smallest_eigenvalue < self.noise_norm)


def adaptive_ridge(quadratic: np.ndarray, linear: np.ndarray, *, noise_norm: float) -> Minimiser:
    """Minimise `w'Mw - 2 b'w` after a ridge that is as large as the noise makes necessary, and no larger.

    The ridge is `max(0, noise_norm - lambda_min(M))`: by Weyl's inequality the noise moves an eigenvalue by at
    most its operator norm, so the smallest eigenvalue after the repair is at least `noise_norm`.

    Parameters
    ----------
    quadratic : ndarray of float64, shape (p, p)
        The noisy, symmetric matrix M.
    linear : ndarray of float64, shape (p,)
        The noisy vector b.
    noise_norm : float
        The public scale of the noise's operator norm, at least 0.

    Source
    ------
    The rule is AdaSSP's (Wang 2018) with the smallest eigenvalue read from the release itself.
    """
    values, vectors = np.linalg.eigh(quadratic)
    smallest = float(values[0]) if values.size else 0.0
    ridge = max(0.0, noise_norm - smallest)
    repaired = values + ridge
    # Directions that neither the data nor the ridge determine get no share: the solution of least norm.
    floor = values.size * np.finfo(np.float64).eps * max(float(np.max(np.abs(repaired), initial=0.0)), 0.0)
    determined = repaired > floor
    inverse = np.divide(1.0, repaired, out=np.zeros_like(repaired), where=determined)
    return Minimiser(vectors @ (inverse * (vectors.T @ linear)), ridge, smallest, noise_norm)
