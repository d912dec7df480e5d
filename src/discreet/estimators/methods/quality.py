"""How far a model can be trusted: whether noise hides what it says, and how sure its coefficients are.

From the release and public numbers alone (docs/proofs/front_door.md). It is asked after the charge, and in a search of
runs that stay secret: numbers are NumPy's, which become infinite where Python's raise an OverflowError.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.descent.preconditioned.whitening import feature_norm_squared
from discreet.descent.rivals.perturbation import PerturbationPlan
from discreet.descent.steps import DescentPlan
from discreet.models.uncertainty import Uncertainty
from discreet.privacy.events.perturbation import PerturbedObjectiveEvent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.descent.preconditioned.plan import PreconditionedFit
    from discreet.descent.steps import NoisyDescent
    from discreet.estimators.methods.declared import Declared

# A model is noise-dominated where at least this part of its margins' variance is noise.
_MOST_NOISE = 0.5
# Typical second derivatives of the losses by the margin; a count's is its mean over the bound.
_CURVATURES = {"squared": 1.0, "logistic": 0.2}
# The same where a descent starts, at margins of 0.
_AT_THE_START = {"squared": 1.0, "logistic": 0.25}
# Steps along a direction shrink what is left of it only while they are shorter than so many inverse curvatures.
# More than two of them mostly make good for a first one that was too long: on simulations, unless it was so by far.
_LONGEST, _LONGEST_OF_MANY = 2.0, 8.0
# Variances of its noise that are taken off each entry that a first step may keep: those below 3 deviations are not.
_OF_NOISE = 9.0
# Shortened steps may move a model by twice its length: the mean of the last ones levels out how they go to and fro.
_OF_SHORTENED = 4.0
# Rows are taken to be about half as long, in squares, as their bound allows.
_OF_NORM_SQUARED = 0.5


def curvature_of(fit: PreconditionedFit, loss: str) -> float:
    """Return a typical second derivative of the loss, public: a count's mean is what the steps were divided by."""
    return _CURVATURES[loss] if loss in _CURVATURES else fit.settings.step_size / fit.step_size


def gram_noise(fit: PreconditionedFit) -> float:
    """Return the scale of the operator norm of the noise on the released mean Gram matrix; public."""
    return 2.0 * fit.gram_std * math.sqrt(len(fit.whitener.eigenvalues)) / fit.settings.n_rows


def certain_eigenvalues(fit: PreconditionedFit) -> NDArray[np.float64]:
    """Return the eigenvalues of the released mean Gram matrix, less the scale of its noise, or 0."""
    return np.maximum(fit.whitener.eigenvalues - gram_noise(fit), 0.0)


def noise_covariance(fit: PreconditionedFit, loss: str) -> NDArray[np.float64]:
    """Return the covariance that the steps' noise gives, at the least curvature that the release makes sure of.

    Along a direction without curvature steps forget nothing, and their noise adds up.
    """
    careful = replace(fit, whitener=replace(fit.whitener, eigenvalues=certain_eigenvalues(fit)))
    return careful.noise_covariance(curvature_of(fit, loss))


def second_moments(fit: PreconditionedFit) -> NDArray[np.float64]:
    """Return the part of the released mean of (1, x)(1, x)' that stands above its noise, in the user's units."""
    vectors, coding = fit.whitener.vectors, fit.layout.user_coding()[:-1, :-1]
    return np.asarray(coding @ ((vectors * certain_eigenvalues(fit)) @ vectors.T) @ coding.T)


def descent_is_dominated(fit: PreconditionedFit, loss: str) -> bool:
    """Return whether at least half of the variance of a descent's margins is noise of its steps."""
    layout, noise = fit.layout, noise_covariance(fit, loss)
    # Were all directions alike, each would have this mean square at most.
    largest = feature_norm_squared(layout) / 4.0**layout.bits / (layout.width - 1)
    if gram_noise(fit) >= largest:
        # Nothing is known of the rows: all directions are taken to be alike.
        coding = layout.user_coding()[:-1, :-1]
        moments = coding @ coding.T
    else:
        moments = second_moments(fit)
    if not layout.intercept:
        spread = float(fit.coef @ moments @ fit.coef)
    elif moments[0, 0] > 0.0:
        mean = moments[0, 1:] / moments[0, 0]
        spread = float(fit.coef @ (moments[1:, 1:] / moments[0, 0] - np.outer(mean, mean)) @ fit.coef)
    else:
        spread = 0.0
    return bool(not float(np.trace(noise @ moments)) < _MOST_NOISE * spread)


def normed_is_dominated(plan: Any, fits: Sequence[Any], slopes: NDArray[np.float64], *, n_rows: int, loss: str) -> bool:
    """Return whether at least half of a norm-bounded model's squared length is noise, by public numbers.

    Parameters
    ----------
    plan : Plan
        Of one model.
    fits : sequence
        What was released of each model.
    slopes : ndarray of float64, shape (n_models, n_columns)
        Its coefficients.
    n_rows : int
        The public number of rows.
    loss : {"squared", "logistic", "poisson"}
        The loss.
    """
    if isinstance(plan, PerturbationPlan):
        noise = _of_perturbation(plan, n_rows)
    elif _has_steps(plan):
        factor = max(getattr(fit, "first_factor", 1.0) for fit in fits)
        noise = _of_steps(plan, slopes, n_rows, loss, factor)
    else:
        return False
    return bool(not noise < _MOST_NOISE * float(np.min(np.einsum("ij,ij->i", slopes, slopes))))


def steps_were_too_long(plan: Any, fits: Sequence[Any], *, n_rows: int, loss: str) -> bool:
    """Return whether some model's steps were longer than its rows allow; False of methods without such steps."""
    return _has_steps(plan) and any(steps_of_one_were_too_long(plan, fit, n_rows=n_rows, loss=loss) for fit in fits)


def _has_steps(plan: Any) -> bool:
    return isinstance(plan, DescentPlan)


def _of_perturbation(plan: Any, n_rows: int) -> float:
    """Return the expected squared length of the noise in theta."""
    event, width = plan.event, plan.problem.grid.width
    scale = np.float64(event.scale)
    squared = width * (width + 1) * scale**2 if event.law == "l2" else width * scale**2
    if isinstance(event, PerturbedObjectiveEvent):
        of_rows = n_rows * _CURVATURES["logistic"] * _OF_NORM_SQUARED / width
        squared /= (of_rows + float(event.regularization)) ** 2
    return float(squared / plan.problem.grid.row_norm**2)


def _of_steps(plan: Any, slopes: NDArray[np.float64], n_rows: int, loss: str, factor: float) -> float:
    """Return the expected squared length of the noise in theta: steps forget at the rate of the mean curvature."""
    settings, grid = plan.settings, plan.settings.grid
    mean_square = _OF_NORM_SQUARED * np.float64(grid.row_norm) ** 2 / grid.n_columns
    rate = factor * settings.step_size * _CURVATURES.get(loss, 1.0) * mean_square
    # Steps longer than an inverse curvature go to and fro, and forget nothing for certain.
    remembered = min(settings.n_steps, 1.0 / (rate * (2.0 - rate))) if rate < 1.0 else float(settings.n_steps)
    std = factor * _std_of_step(plan, n_rows)
    n_kept = float(np.max(np.count_nonzero(slopes, axis=1), initial=0))
    return float(n_kept * std**2 * remembered)


def steps_of_one_were_too_long(plan: Any, fit: NoisyDescent, *, n_rows: int, loss: str) -> bool:
    """Return whether steps were longer than the rows allow, by what they released.

    The mean gradient g of residuals of at most `clip` has ``|g|**2 <= clip**2 * largest``, the largest eigenvalue of
    the rows' second moments, by the Cauchy-Schwarz inequality: what the first step released tells of it. And a last
    step that moves the model by more than its own length has found nothing. Noise is taken off both. Where steps were
    shortened, those that were taken are judged.

    Parameters
    ----------
    plan : DescentPlan
        The plan of one model.
    fit : NoisyDescent
        What its steps released.
    n_rows : int
        The public number of rows.
    loss : {"squared", "logistic", "poisson"}
        The loss.
    """
    settings = plan.settings
    noise = settings.n_selected * _std_of_step(plan, n_rows) ** 2
    first, last = fit.first_factor, fit.last_factor
    found = (np.float64(fit.first_move) / first) ** 2 - _OF_NOISE * noise
    certain = np.maximum(found, 0.0) / (np.float64(settings.step_size) * settings.loss.clip) ** 2
    longest = _LONGEST if settings.n_steps <= 2 else _LONGEST_OF_MANY
    too_long = first * settings.step_size * _AT_THE_START.get(loss, 1.0) * certain > longest
    own = (1.0 if last == 1.0 else _OF_SHORTENED) * float(fit.coef @ fit.coef)
    swings = settings.n_steps > 1 and np.float64(fit.last_move) ** 2 - last**2 * noise > own
    return bool(too_long or swings)


def _std_of_step(plan: Any, n_rows: int) -> np.float64:
    """Return the standard deviation of one step's noise in an entry of theta."""
    settings = plan.settings
    of_sum = math.sqrt(plan.event.variance) * settings.grid.unit * settings.loss.unit
    return np.float64(of_sum * np.float64(settings.step_size) / n_rows)


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
