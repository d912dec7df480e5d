"""What a preconditioned descent released, and what its noise alone does to the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.descent.preconditioned.links import Link
    from discreet.descent.preconditioned.settings import Settings
    from discreet.descent.preconditioned.whitening import Whitener
    from discreet.lattice.grid import Layout


@dataclass(frozen=True, eq=False)
class PreconditionedFit:
    """What a preconditioned descent released: public from now on.

    Parameters
    ----------
    coef : ndarray of float64, shape (n_features,)
        In the units of the columns and, for "squared", of the target; for log-odds or the logarithm of a count
        otherwise.
    intercept : float
        0 where the model has none.
    gram : ndarray of float64, shape (layout.width, layout.width)
        The noisy Gram matrix of rows over 2**bits, the target last.
    gram_std : float
        Standard deviation of its noise off the diagonal; sqrt(2) times that on it.
    whitener : Whitener
        What the rows were whitened with.
    step_size : float
        That was taken in whitened coordinates, along the gradient of the mean loss.
    step_stds : tuple of float
        Standard deviation of the noise on an entry of each step's sum, in units of residual times whitened row.
    weights : tuple of float
        What the iterate after every step counts in the result; 1 in all.
    clips : tuple of float
        The clip of every step, in the same units.
    layout : Layout
        The public grid of a row.
    settings : Settings
        How it was found.
    """

    coef: NDArray[np.float64]
    intercept: float
    gram: NDArray[np.float64]
    gram_std: float
    whitener: Whitener
    step_size: float
    step_stds: tuple[float, ...]
    weights: tuple[float, ...]
    clips: tuple[float, ...]
    layout: Layout
    link: Link
    settings: Settings

    def noise_covariance(self, curvature: float = 1.0) -> NDArray[np.float64]:
        """Return the covariance that the steps' noise alone gives (intercept, coef): from public numbers.

        Parameters
        ----------
        curvature : float, default 1
            The mean second derivative of the loss by the margin: 1 for "squared", p (1 - p) or less for "logistic",
            the mean count over its bound for "poisson".

        Returns
        -------
        ndarray of float64, shape (p, p)
            The intercept first where the model has one; in the units of `coef`.

        Notes
        -----
        Exact for a quadratic loss whose Hessian is `curvature` times the released Gram matrix and no row of which is
        clipped: the iterate then follows v <- (1 - eta H) v - eta (gradient + noise) / N, and every eigenvector of the
        Gram matrix on its own. The law of the rows, and what clipping adds, are not in it.
        """
        kept = np.clip(self.whitener.eigenvalues / np.maximum(self.whitener.eigenvalues, self.whitener.floor), 0.0, 1.0)
        decay = 1.0 - self.step_size * curvature * kept
        variances, reached = np.zeros_like(decay), np.zeros_like(decay)
        # A step's noise is in its own iterate, and what is left of it in those that follow.
        for weight, std in zip(reversed(self.weights), reversed(self.step_stds), strict=True):
            reached = weight + decay * reached
            variances += (reached * std) ** 2
        factor = self.step_size / self.settings.n_rows
        root = self.whitener.matrix @ self.whitener.vectors * (np.sqrt(variances) * factor)
        to_user = self._to_user() @ root
        return np.asarray(to_user @ to_user.T)

    def _to_user(self) -> NDArray[np.float64]:
        """Return the matrix that turns the slopes of a margin into (intercept, coef), up to a shift."""
        scale = self.link.to_user(np.ones(1), 0.0)[0][0]
        return np.asarray(margin_coding(self.layout) * scale)


def margin_coding(layout: Layout) -> NDArray[np.float64]:
    """Return the matrix that turns parameters of grid rows over 2**bits into those of rows in the user's units."""
    return np.asarray(np.linalg.inv(layout.user_coding()[:-1, :-1]).T)
