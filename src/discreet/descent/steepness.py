"""How steep rows are at least, by the gradients that steps released, and how long a step they allow: free."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.descent.rivals.minimizer import curvature
from discreet.descent.selectors import keep_largest

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Steps are shortened to so many inverse curvatures of what is certain: rows are steeper than that. On simulations two
# steps had to be shorter than more of them, which make good for a first one that was too long.
_LENGTH_OF_FEW, _LENGTH = 0.5, 1.0
# Variances of its noise that are taken off each entry of a gradient: those below 3 deviations tell nothing.
_OF_NOISE = 9.0
# Of a step, at least this is left, so that what is divided by it stays finite.
_SHORTEST = 1e-12


class Steepness:
    """The largest curvature that released gradients make sure of, and the factor of a step that follows.

    Parameters
    ----------
    settings : Descent
        The public settings; without `shorten_steps` factors are 1.

    Attributes
    ----------
    factor, first_factor : float
        What part of `step_size` steps of the columns have now, and had after the first gradient.

    Guarantee
    ---------
    Costs nothing: the factor is a function of earlier releases and of public numbers, and the work does not depend on
    it. Proof: docs/proofs/descent.md.
    """

    def __init__(self, settings: Any) -> None:
        self.factor, self.first_factor = 1.0, 1.0
        self._settings = settings
        self._largest, self._n_seen = 0.0, 0

    def see(self, released: NDArray[np.float64], std: float, bound: int) -> None:
        """Learn from a released sum of gradients, in its units, of noise `std` an entry: the factor can but fall.

        The mean gradient g of residuals of at most B has ``|g|**2 <= B**2 * largest`` on any columns, by the
        Cauchy-Schwarz inequality, with the largest eigenvalue of the second moments of those columns.

        Parameters
        ----------
        released : ndarray of float64, shape (n_columns,)
            The columns' entries; 0 for what was not released.
        std : float
            Standard deviation of the noise, in the same units.
        bound : int
            The largest size of a residual at that iterate, in units of the loss.
        """
        settings = self._settings
        if not settings.shorten_steps:
            return
        in_residuals = settings.grid.unit / (settings.divisor * bound)
        kept, noise = keep_largest(released, settings.n_selected) * in_residuals, std * in_residuals
        certain = np.maximum(kept * kept - _OF_NOISE * (noise * noise), 0.0)
        if settings.column_scale is not None:
            certain *= settings.column_scale[: certain.size]
        self._largest = max(self._largest, float(certain.sum()))
        length = settings.step_size * curvature(settings.loss) * self._largest
        longest = _LENGTH_OF_FEW if settings.n_steps <= 2 else _LENGTH
        if length > longest:
            self.factor = max(longest / length, _SHORTEST)
        self._n_seen += 1
        if self._n_seen == 1:
            self.first_factor = self.factor

    @property
    def factors(self) -> NDArray[np.float64]:
        """What one unit of a summed gradient moves each entry of the iterate; the intercept's steps stay as long."""
        factors: NDArray[np.float64] = self._settings.factors
        factors[: self._settings.grid.n_columns] *= self.factor
        return factors
