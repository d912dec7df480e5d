"""How sure the coefficients of a front-door model are, where that is known: docs/proofs/front_door.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.estimators.methods.quality import gram_noise
from discreet.models.uncertainty import Uncertainty

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.descent.preconditioned.fit import PreconditionedFit
    from discreet.estimators.methods.declared import Declared

# The smallest eigenvalue of the Gram matrix must be at least so many times the scale of its noise.
_ABOVE_NOISE = 2.0
# Its noise may change the estimated residual variance by at most this part, in one standard deviation.
_MOST_OF_RESIDUAL = 0.1
# And at most this share of the rows may be clipped.
_MOST_CLIPPED = 0.01

NO_LOGIT = "the release does not hold how the loss curves at every row, which the sampling error depends on"
PARABOLA = "the coefficients are those of a polynomial of degree two, which are no log odds ratios"
NOT_DESCENT = "the clipping of rows and the selection of columns bias the coefficients by amounts that are not known"
RIDGE = "a ridge pulls the coefficients to 0 by an amount that is not known"
GRAM_NOISE = "the Gram matrix does not stand above its noise in every direction"
CLIPPED = "more than one row in a hundred is clipped, which biases the coefficients by an amount that is not known"
NOT_COUNTED = "a clip that was asked for is not checked against the rows, and may bias the coefficients"
RESIDUAL_NOISE = "the noise of the Gram matrix hides how large residuals are"
WEIGHTED = "the release does not hold the squares of the weights, which the sampling error depends on"
NO_COUNT = "the number of rows is private and, without an intercept, not in the release"


@dataclass(frozen=True, eq=False)
class Spread:
    """A covariance, or why there is none.

    Parameters
    ----------
    uncertainty : Uncertainty or None
        Of the intercept, where there is one, and the coefficients.
    reason : str or None
        Why there is none.
    """

    uncertainty: Uncertainty | None
    reason: str | None


def spread_of_descent(fits: tuple[PreconditionedFit, ...], declared: Declared) -> Spread:
    """Return how sure the coefficients of a descent are; post-processing."""
    if declared.weights is not None:
        return Spread(None, WEIGHTED)
    if declared.loss != "squared":
        return Spread(None, NO_LOGIT)
    (fit,) = fits
    public = declared.n_rows if declared.adjacency.size_is_public and not declared.rows.may_drop else None
    reason = why_not_offered(fit, count_is_known=public is not None or fit.layout.intercept)
    return Spread(None, reason) if reason is not None else Spread(descent_uncertainty(fit, public), None)


def why_not_offered(fit: PreconditionedFit, *, count_is_known: bool) -> str | None:
    """Return why no interval of a descent is known to be right, None where one is."""
    settings = fit.settings
    if not settings.count_share:
        return NOT_COUNTED
    if settings.clip_target > _MOST_CLIPPED * settings.n_rows:
        return CLIPPED
    if not float(np.min(fit.whitener.eigenvalues)) > _ABOVE_NOISE * gram_noise(fit):
        return GRAM_NOISE
    residual = _residual(fit)
    scaled = fit.layout.user_coding().T @ residual
    if not math.sqrt(2.0) * fit.gram_std * float(scaled @ scaled) < _MOST_OF_RESIDUAL * _sum_of_squares(fit, residual):
        return RESIDUAL_NOISE
    return None if count_is_known else NO_COUNT


def _residual(fit: PreconditionedFit) -> NDArray[np.float64]:
    """Return the residual as a combination of (1, x, y)."""
    constant = [-fit.intercept] if fit.layout.intercept else []
    return np.concatenate([constant, -fit.coef, [1.0]])


def _sum_of_squares(fit: PreconditionedFit, residual: NDArray[np.float64]) -> float:
    coding = fit.layout.user_coding()
    return float(residual @ coding @ fit.gram @ coding.T @ residual)


def descent_uncertainty(fit: PreconditionedFit, n_rows: int | None) -> Uncertainty:
    """Return the covariance of a descent of the squared loss: the noise of its steps, and sampling error.

    Parameters
    ----------
    fit : PreconditionedFit
        One for which `why_not_offered` has no reason.
    n_rows : int or None
        The number of rows where it is public; otherwise it is read from the release's own noisy corner.

    Notes
    -----
    The noise's part is exact for a quadratic loss no row of which is clipped, at the released Gram matrix. The
    sampling part is that of least squares with errors of one variance, both read from the noisy Gram matrix.
    """
    coding = fit.layout.user_coding()
    gram = coding @ fit.gram @ coding.T
    residual = _residual(fit)
    count = float(n_rows if n_rows is not None else fit.gram[0, 0])
    variance = max(_sum_of_squares(fit, residual), 0.0) / max(count - residual.size + 1, 1.0)
    noise = fit.noise_covariance()
    sampling = variance * np.linalg.inv(gram[:-1, :-1])
    return Uncertainty(
        covariance=(sampling + sampling.T) / 2.0 + noise,
        noise_covariance=noise,
        residual_variance=variance,
        n_rows=count,
    )
