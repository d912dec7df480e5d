"""Standard errors that count the privacy noise: the sandwich of docs/proofs/intervals.md."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.functional.kurtosis import noise_fourth_cumulants
from discreet.models.uncertainty import Uncertainty

if TYPE_CHECKING:
    from discreet.functional.least_squares import LeastSquares, Problem

REGULARIZED = "a ridge was needed against the noise, and a regularized estimate has no valid interval"
PENALIZED = "a penalty was asked for, and a regularized estimate has no valid interval"
UNDETERMINED = "the release does not determine every coefficient"
NO_COUNT = "the number of rows is private and, without an intercept, not in the release, so the residuals have no scale"


def why_not_offered(answer: LeastSquares, n_rows: float | None) -> str | None:
    """Return why no interval is valid for an answer, None where one is."""
    if answer.penalty > 0.0:
        return PENALIZED
    if answer.repair.ridge > 0.0 or answer.repair.noise_dominated:
        return REGULARIZED
    if not answer.repair.smallest_eigenvalue > answer.problem.rounding_error:
        return UNDETERMINED
    return NO_COUNT if n_rows is None else None


def times_noise_covariance(entry_variances: np.ndarray, second_moment: np.ndarray) -> np.ndarray:
    """Return Cov(E a) for a symmetric random matrix E with mean 0 and uncorrelated distinct entries.

    Parameters
    ----------
    entry_variances : ndarray of float64, shape (D, D)
        V, symmetric: the variance of every entry of E.
    second_moment : ndarray of float64, shape (D, D)
        `a a'`, or its mean where the vector a is random and independent of E.

    Notes
    -----
    Entry (j, j) is `sum_l V_jl a_l**2`; entry (j, k) is `V_jk a_j a_k`, from the one entry of E that both sums hold.
    Proof: docs/proofs/intervals.md.

    Examples
    --------
    >>> a = np.array([1.0, 3.0])
    >>> times_noise_covariance(np.array([[2.0, 1.0], [1.0, 2.0]]), np.outer(a, a))
    array([[11.,  3.],
           [ 3., 19.]])
    """
    covariance = entry_variances * second_moment
    np.fill_diagonal(covariance, entry_variances @ np.diag(second_moment))
    return np.asarray(covariance)


def sandwich(
    answer: LeastSquares,
    *,
    entry_variances: np.ndarray,
    n_rows: float,
    entry_kurtosis: tuple[np.ndarray | float, float] = (0.0, 0.0),
    alike: int = 1,
) -> Uncertainty:
    """Return the covariance of unregularized least squares on a noisy Gram matrix.

    Parameters
    ----------
    answer : LeastSquares
        An answer for which :func:`why_not_offered` has no reason.
    entry_variances : ndarray of float64, shape (D, D)
        The public variance of every entry of the noise, in the units of the problem's Gram matrix.
    n_rows : float
        The number of rows.
    entry_kurtosis : tuple
        Of the noise; see :func:`discreet.functional.tails.entry_kurtosis`.
    alike : int
        How many rows may share one error: all that one unit contributes.

    Notes
    -----
    `M**-1 (m s2 M + Omega) M**-1` with `Omega = F Cov(E a) F'`, `a` the residual's direction over the grid, `m` rows
    that may err alike, and `s2 = a'Ga / (n - m p)` the residual variance, at least 0. For `m` above 1 it is an upper
    bound. Proof: docs/proofs/intervals.md.

    Guarantee
    ---------
    Post-processing of the release: costs nothing.
    """
    problem, solution = answer.problem, answer.repair.solution
    residual = problem.target - problem.features.T @ solution
    freedom = max(n_rows - alike * solution.size, 1.0)
    variance = max(float(residual @ problem.gram @ residual), 0.0) / freedom
    found = spread_of(
        problem,
        residual_variance=variance,
        second_moment=np.outer(residual, residual),
        entry_variances=entry_variances,
        n_rows=n_rows,
        alike=alike,
    )
    own, common = entry_kurtosis
    left, variances = problem.score_to_user @ problem.features, np.diag(found.noise_covariance)
    fourth = noise_fourth_cumulants(left, problem.target_scale * residual, own * entry_variances**2, common, variances)
    total = np.diag(found.covariance)
    return replace(found, kurtosis=np.divide(fourth, total**2, out=np.zeros_like(total), where=total > 0.0))


def spread_of(
    problem: Problem,
    *,
    residual_variance: float,
    second_moment: np.ndarray,
    entry_variances: np.ndarray,
    n_rows: float,
    alike: int = 1,
) -> Uncertainty:
    """Return the covariance of least squares from what is known of the residual, in the user's units.

    Parameters
    ----------
    problem : Problem
        Its matrix M must be positive definite: it is its own positive part then, and has an inverse.
    residual_variance : float
        Of the scaled target about the regression.
    second_moment : ndarray of float64, shape (D, D)
        Of the residual's direction over the grid.
    entry_variances : ndarray of float64, shape (D, D)
        The public variance of every entry of the noise, in the units of the problem's Gram matrix.
    n_rows : float
        The number of rows.
    alike : int
        How many rows may share one error.
    """
    bread = problem.score_to_user
    half = bread @ problem.features
    noise = half @ times_noise_covariance(entry_variances, second_moment) @ half.T
    sampling = alike * residual_variance * (bread @ problem.to_user.T)
    return Uncertainty(
        covariance=_symmetric(sampling + noise),
        noise_covariance=_symmetric(noise),
        residual_variance=residual_variance * problem.target_scale**2,
        n_rows=n_rows,
    )


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return np.asarray((matrix + matrix.T) / 2.0)
