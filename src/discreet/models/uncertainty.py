"""How sure the parameters of a regression are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """How sure the parameters of a regression are, in the user's units.

    Parameters
    ----------
    covariance : ndarray of float64, shape (k, k)
        Of the intercept (where there is one) and the coefficients, in that order.
    noise_covariance : ndarray of float64, shape (k, k)
        The part of it that is privacy noise; the rest is sampling error.
    residual_variance : float
        The estimated variance of the target about the regression, in squared units of the target.
    n_rows : float
        The number of rows: public, or the release's own noisy count.
    kurtosis : ndarray of float64, shape (k,), or None
        The excess kurtosis of the estimates' errors, 0 for a normal law; None stands for zeros.
    """

    covariance: np.ndarray
    noise_covariance: np.ndarray
    residual_variance: float
    n_rows: float
    kurtosis: np.ndarray | None = None

    @property
    def tails(self) -> np.ndarray:
        """The excess kurtosis, shape (k,)."""
        return np.zeros(len(self.covariance)) if self.kurtosis is None else self.kurtosis

    @property
    def standard_errors(self) -> np.ndarray:
        """The standard errors, shape (k,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def noise_shares(self) -> np.ndarray:
        """Which share of every variance is privacy noise, between 0 and 1, shape (k,)."""
        total = np.diag(self.covariance)
        return np.divide(np.diag(self.noise_covariance), total, out=np.zeros_like(total), where=total > 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return the content of a file's field."""
        return {
            "covariance": self.covariance.tolist(),
            "noise_covariance": self.noise_covariance.tolist(),
            "residual_variance": float(self.residual_variance),
            "n_rows": float(self.n_rows),
            "kurtosis": self.tails.tolist(),
        }

    @classmethod
    def from_json(cls, content: dict[str, Any], size: int) -> Uncertainty:
        """Return the uncertainty of `size` parameters that :meth:`to_json` wrote."""
        covariance, noise = (np.array(content[name], dtype=np.float64) for name in ("covariance", "noise_covariance"))
        kurtosis = np.array(content["kurtosis"], dtype=np.float64)
        if covariance.shape != (size, size) or noise.shape != (size, size) or kurtosis.shape != (size,):
            raise ValueError
        return cls(covariance, noise, float(content["residual_variance"]), float(content["n_rows"]), kurtosis)

    def scaled(self, factor: float) -> Uncertainty:
        """Return the uncertainty of all parameters times `factor`, as the logistic model of degree two needs it."""
        square = factor**2
        return replace(
            self,
            covariance=self.covariance * square,
            noise_covariance=self.noise_covariance * square,
            residual_variance=self.residual_variance * square,
        )
