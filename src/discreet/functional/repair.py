"""From a noisy quadratic to a minimiser: post-processing, for nothing but the release is read.

Three rules are offered.
The paper's other way out, repeating the release until the quadratic is bounded, is not: the number of repetitions
depends on the private rows and is seen by whoever sees the clock or the result, and for no epsilon is it private.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from discreet import _checks
from discreet.errors import NoiseDominatedWarning

RULES = ("adaptive", "paper", "paper_code")

# Standard deviations of the noise in the ridge, and the largest eigenvalue that is dropped.
_PAPER = {"paper": (4.0, 0.0), "paper_code": (5.0, 1e-8)}


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
    rule : {"adaptive", "paper", "paper_code"}
        How it was repaired.
    n_trimmed : int
        How many directions got no share because the repaired quadratic does not curve upward along them.
    """

    solution: np.ndarray
    ridge: float
    smallest_eigenvalue: float
    noise_norm: float
    rule: str = "adaptive"
    n_trimmed: int = 0

    @property
    def noise_dominated(self) -> bool:
        """True where the smallest eigenvalue does not stand above the noise."""
        return bool(self.smallest_eigenvalue < self.noise_norm)


# Dividing by less than this could leave the doubles.
_LEAST_DIVISOR = 1e-290


def minimise(
    quadratic: np.ndarray, linear: np.ndarray, *, rule: str = "adaptive", noise_std: float, noise_norm: float
) -> Minimiser:
    """Minimise `w'Mw - 2 b'w` for a noisy M, which may have no minimum before it is repaired.

    ========== ================================================= ================================
    rule       ridge                                             directions that are dropped
    ========== ================================================= ================================
    adaptive   as much as lifts the smallest eigenvalue to       none, unless ridge and data are 0
               `noise_norm`, and no more
    paper      4 `noise_std`                                     repaired eigenvalue <= 0
    paper_code 5 `noise_std`                                     repaired eigenvalue < 1e-8
    ========== ================================================= ================================

    Parameters
    ----------
    quadratic : ndarray of float64, shape (p, p)
        The noisy, symmetric matrix M.
    linear : ndarray of float64, shape (p,)
        The noisy vector b.
    rule : {"adaptive", "paper", "paper_code"}
        "adaptive" is the default; the others are the paper's and its authors' code's.
    noise_std : float
        Standard deviation of the noise on a diagonal entry of M, at least 0; read by the paper's rules.
    noise_norm : float
        The public scale of the noise's operator norm, at least 0; read by the adaptive rule, and by
        :attr:`Minimiser.noise_dominated` under every rule.

    Raises
    ------
    InvalidArgument
        If `rule` is unknown, or a scale is not a finite number of at least 0.

    Notes
    -----
    By Weyl's inequality the noise moves an eigenvalue by at most its operator norm: the adaptive rule leaves a
    smallest eigenvalue of at least `noise_norm`, and adds nothing where the data stand above the noise. The paper's
    ridge is there however little noise there is; its spectral trimming keeps small eigenvalues that the noise lifted
    above 0, along which the solution is large.

    Guarantee
    ---------
    Post-processing of the release: costs nothing.

    Source
    ------
    adaptive: AdaSSP's rule (Wang 2018) with the smallest eigenvalue read from the release itself.
    paper: Zhang et al. 2012, section 6. paper_code: the constants of their released program.

    Examples
    --------
    >>> import numpy as np
    >>> noisy = np.diag([5.0, -1.0])
    >>> minimise(noisy, np.ones(2), noise_std=1.0, noise_norm=3.0).ridge
    4.0
    >>> trimmed = minimise(noisy, np.ones(2), rule="paper", noise_std=0.1, noise_norm=3.0)
    >>> trimmed.n_trimmed, trimmed.noise_dominated, trimmed.solution.round(3).tolist()
    (1, True, [0.185, 0.0])
    """
    name = _checks.one_of(rule, "rule", RULES)
    std = _scale(noise_std, "noise_std")
    norm = _scale(noise_norm, "noise_norm")
    values, vectors = np.linalg.eigh(quadratic)
    smallest = float(values[0]) if values.size else 0.0
    if name == "adaptive":
        ridge = max(0.0, norm - smallest)
        # Directions that neither the data nor the ridge determine get no share: the solution of least norm.
        largest = float(np.max(np.abs(values + ridge), initial=0.0))
        kept = values + ridge > max(values.size * np.finfo(np.float64).eps * largest, _LEAST_DIVISOR)
    else:
        deviations, threshold = _PAPER[name]
        ridge = deviations * std
        kept = values + ridge > _LEAST_DIVISOR if threshold == 0.0 else values + ridge >= threshold
    repaired = values + ridge
    inverse = np.divide(1.0, repaired, out=np.zeros_like(repaired), where=kept)
    solution = vectors @ (inverse * (vectors.T @ linear))
    return Minimiser(solution, ridge, smallest, norm, name, int(kept.size - np.count_nonzero(kept)))


def mean_predictor(
    gram: np.ndarray, target: np.ndarray, *, noise_norm: float = 0.0, largest: float | None = None
) -> float:
    """Return the best constant prediction, read from the same release: what is left where the noise dominates.

    Parameters
    ----------
    gram : ndarray of float64, shape (D, D)
        The noisy Gram matrix, the constant in its first column.
    target : ndarray of float64, shape (D,)
        The target as a linear combination of the columns of `gram`.
    noise_norm : float
        The public scale of the noise on the corner `gram[0, 0]`, the number of rows; 0 where it is public.
    largest : float or None
        A public bound of the target's size, to which the answer is clipped.

    Returns
    -------
    float
        In the units of `target`; 0 where not even the number of rows stands above 0.

    Guarantee
    ---------
    Post-processing of the release: costs nothing.

    Examples
    --------
    >>> import numpy as np
    >>> mean_predictor(np.array([[10.0, 4.0], [4.0, 9.0]]), np.array([0.0, 1.0]))
    0.4
    """
    alone = minimise(gram[:1, :1], gram[:1] @ target, noise_std=0.0, noise_norm=noise_norm)
    mean = float(alone.solution[0])
    if largest is None:
        return mean
    bound = _scale(largest, "largest")
    return min(max(mean, -bound), bound)


DOMINATED = (
    "Noise-dominated: the smallest eigenvalue of the released quadratic does not stand above the privacy noise, so the "
    "coefficients are what the repair makes of them. Raise `budget`, use more rows or fewer columns, or predict the "
    "mean."
)


def warn_if_dominated(minimiser: Minimiser, *, stacklevel: int = 2) -> None:
    """Emit a :class:`NoiseDominatedWarning` where the noise hides the weakest direction of the data.

    Parameters
    ----------
    minimiser : Minimiser
        The repaired solution that a fit is about to publish.
    stacklevel : int
        As in :func:`warnings.warn`, counted from the caller.

    Guarantee
    ---------
    A function of the release and of public numbers: the warning tells nothing that the release does not.
    """
    if minimiser.noise_dominated:
        warnings.warn(
            DOMINATED,
            NoiseDominatedWarning,
            stacklevel=stacklevel + 1,
        )


def _scale(value: float, name: str) -> float:
    return float(_checks.exact_nonnegative(value, name))
