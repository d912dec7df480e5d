"""Losses of generalized linear models: integer residuals, clipped, and how large they can be."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet import _checks
from discreet.descent.rows import RESIDUAL_BOUND
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOSSES = ("squared", "huber", "logistic", "poisson")


@dataclass(frozen=True, kw_only=True)
class Loss(ABC):
    """A loss whose gradient is residual times row, the residual clipped to [-clip, clip].

    Parameters
    ----------
    clip : float
        B, public: the largest residual that counts.

    Guarantee
    ---------
    Every residual is a whole number of units of `clip / 2**16`, at most the stated bound in size: it is clamped after
    all rounding. It is a function of one record and the public iterate, by correctly rounded operations alone, so it
    is the same on every machine.
    Proof: docs/proofs/descent.md.
    """

    name: ClassVar[str]

    clip: float

    def __post_init__(self) -> None:
        clip = _checks.finite_float(self.clip, "clip")
        if not 1e-100 <= clip <= 1e100:
            raise InvalidArgument(f"`clip` must be between 1e-100 and 1e100; found {clip}.")
        object.__setattr__(self, "clip", clip)

    @property
    def unit(self) -> float:
        """One unit of a residual; exact."""
        return self.clip / RESIDUAL_BOUND

    def residuals(
        self, margins: NDArray[np.float64], y: NDArray[np.float64], bound: int = RESIDUAL_BOUND
    ) -> NDArray[np.float64]:
        """Return the derivative of the loss by the margin, in whole units.

        Parameters
        ----------
        margins : ndarray of float64, shape (n_rows,)
            Row times parameter, in real units.
        y : ndarray of float64, shape (n_rows,)
            Targets.
        bound : int
            The largest size of a residual, in units, such as `bound_at` gives it.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
            Whole numbers within [-bound, bound].
        """
        out = self._mean(margins)
        with np.errstate(all="ignore"):  # a warning would tell of a record
            out -= y
            out /= self.unit
        np.rint(out, out=out)
        return np.clip(out, -bound, bound, out=out)

    def bound_at(self, margin_bound: float, target_bounds: tuple[float, float]) -> int:
        """Return how many units a residual can have where margins are within a public bound; at least 1."""
        limit = min(margin_bound, 1e100)
        lowest, highest = self._mean(np.array([-limit, limit])).tolist()
        largest = max(highest - target_bounds[0], target_bounds[1] - lowest) / self.unit
        return RESIDUAL_BOUND if largest >= RESIDUAL_BOUND else max(1, math.ceil(largest))

    @abstractmethod
    def _mean(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of the target at each margin, in a new array; increasing."""


@dataclass(frozen=True, kw_only=True)
class SquaredLoss(Loss):
    """Half the squared error; beyond the clip it grows linearly, as Huber's does.

    Examples
    --------
    >>> loss = SquaredLoss(clip=1.0)
    >>> (loss.residuals(np.array([0.5, 9.0]), np.array([0.25, 0.0])) * loss.unit).tolist()
    [0.25, 1.0]
    """

    name: ClassVar[str] = "squared"

    def _mean(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        return margins.copy()


@dataclass(frozen=True, kw_only=True)
class HuberLoss(SquaredLoss):
    """Huber's loss with its bend at the clip: the clipped squared loss, by its own name."""

    name: ClassVar[str] = "huber"


@dataclass(frozen=True, kw_only=True)
class LogisticLoss(Loss):
    """The logistic loss for labels 0 and 1.

    Examples
    --------
    >>> loss = LogisticLoss(clip=1.0)
    >>> loss.bound_at(0.0, (0, 1)) * loss.unit
    0.5
    """

    name: ClassVar[str] = "logistic"

    clip: float = 1.0

    def _mean(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        small = exp(-np.abs(margins))
        large = 1.0 / (1.0 + small)
        small *= large
        return np.where(margins >= 0, large, small)


@dataclass(frozen=True, kw_only=True)
class PoissonLoss(Loss):
    """The Poisson loss with a logarithmic link."""

    name: ClassVar[str] = "poisson"

    def _mean(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        return exp(margins)


_CLASSES: dict[str, type[Loss]] = {cls.name: cls for cls in (SquaredLoss, HuberLoss, LogisticLoss, PoissonLoss)}


def loss_named(name: str, *, clip: float) -> Loss:
    """Return the loss of this name, "squared", "huber", "logistic" or "poisson"."""
    return _CLASSES[_checks.one_of(name, "loss", LOSSES)](clip=clip)


# log 2 in two parts, the first with so few digits that its multiples up to 2**11 are exact.
_LOG2_HIGH, _LOG2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
_COEFFICIENTS = tuple(1.0 / math.factorial(k) for k in range(13, 1, -1))


def exp(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return exp(z), z moved into [-700, 700], by correctly rounded operations alone.

    numpy's own differs in the last digit between machines. The relative error is below 1e-15.

    Examples
    --------
    >>> exp(np.array([0.0, 1.0])).round(14).tolist()
    [1.0, 2.71828182845905]
    """
    z = np.clip(z, -700.0, 700.0)
    twos = np.rint(z * 1.4426950408889634)
    z -= twos * _LOG2_HIGH
    z -= twos * _LOG2_LOW
    series = np.full_like(z, _COEFFICIENTS[0])
    for coefficient in (*_COEFFICIENTS[1:], 1.0, 1.0):
        series *= z
        series += coefficient
    return np.ldexp(series, twos.astype(np.int32))
