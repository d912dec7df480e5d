"""Losses of linear models whose derivative is bounded: what K-norm gradient targets are made of."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet import _checks
from discreet.errors import DiscreetError, InvalidArgument
from discreet.lattice.noise.accuracy import largest_errors
from discreet.numbers.intervals import Arithmetic, Interval, enclose

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Absolute error of tanh that is allowed for; good libraries stay below 2**-51.
TANH_ERROR = 2.0**-48
_N_POINTS = 61


@dataclass(frozen=True, kw_only=True)
class GradientLoss(ABC):
    """A convex loss of a margin and a target, by its derivative in the margin.

    Attributes
    ----------
    name : str
        In words.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def slope(self) -> Fraction:
        """B: the largest size of the derivative."""

    @property
    @abstractmethod
    def curvature(self) -> Fraction:
        """The largest second derivative, where there is one."""

    @property
    @abstractmethod
    def bend(self) -> Fraction | None:
        """The largest third derivative in units of the second at the same margin; None where the second jumps."""

    @abstractmethod
    def at_zero(self, target_bounds: tuple[float, float]) -> Fraction:
        """Return at least the loss at margin 0, for any target within public bounds."""

    @abstractmethod
    def derivatives(self, margins: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Overwrite margins, shape (size, n_rows), by the derivatives at targets of shape (n_rows,)."""

    @property
    def uses_tanh(self) -> bool:
        """Whether derivatives rest on numpy's tanh."""
        return True


@dataclass(frozen=True, kw_only=True)
class LogisticGradientLoss(GradientLoss):
    """The logistic loss for labels 0 and 1.

    Examples
    --------
    >>> LogisticGradientLoss().derivatives(np.array([[0.0, 0.0]]), np.array([0.0, 1.0])).tolist()
    [[0.5, -0.5]]
    """

    name: ClassVar[str] = "logistic"

    @property
    def slope(self) -> Fraction:
        """1."""
        return Fraction(1)

    @property
    def curvature(self) -> Fraction:
        """1/4."""
        return Fraction(1, 4)

    @property
    def bend(self) -> Fraction:
        """1: the derivative of p (1 - p) is p (1 - p) (1 - 2 p)."""
        return Fraction(1)

    def at_zero(self, target_bounds: tuple[float, float]) -> Fraction:
        """Return a little more than log 2."""
        del target_bounds
        return Fraction(6932, 10000)

    def derivatives(self, margins: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Overwrite margins by probability less label; tanh is several times faster than the logistic function."""
        margins *= 0.5
        np.tanh(margins, out=margins)
        margins *= 0.5
        margins += 0.5 - y
        return margins


@dataclass(frozen=True, kw_only=True)
class _ClippedLoss(GradientLoss):
    """A squared loss whose derivative is held within a clip.

    Parameters
    ----------
    clip : float
        B, in units of the target.
    """

    clip: float

    def __post_init__(self) -> None:
        clip = _checks.finite_float(self.clip, "clip")
        if not 1e-100 <= clip <= 1e100:
            raise InvalidArgument(f"`clip` must be between 1e-100 and 1e100; found {clip}.")
        object.__setattr__(self, "clip", clip)

    @property
    def slope(self) -> Fraction:
        """The clip."""
        return Fraction(self.clip)

    @property
    def curvature(self) -> Fraction:
        """1."""
        return Fraction(1)

    def at_zero(self, target_bounds: tuple[float, float]) -> Fraction:
        """Return half the squared largest target, or clip times it, whichever is less."""
        largest = Fraction(max(map(abs, target_bounds)))
        return min(largest**2 / 2, self.slope * largest)


@dataclass(frozen=True, kw_only=True)
class HuberGradientLoss(_ClippedLoss):
    """Half the squared residual, beyond the clip linear.

    Examples
    --------
    >>> HuberGradientLoss(clip=1.0).derivatives(np.array([[0.5, 9.0]]), np.array([0.25, 0.0])).tolist()
    [[0.25, 1.0]]
    """

    name: ClassVar[str] = "huber"

    @property
    def bend(self) -> None:
        """None: the second derivative jumps at the clip."""
        return

    @property
    def uses_tanh(self) -> bool:
        """No."""
        return False

    def derivatives(self, margins: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Overwrite margins by clipped residuals."""
        margins -= y
        return np.clip(margins, -self.clip, self.clip, out=margins)


@dataclass(frozen=True, kw_only=True)
class LogCoshGradientLoss(_ClippedLoss):
    """The squared loss bent smoothly: ``clip**2 log cosh(residual / clip)``; its derivative is the clip times tanh.

    Residuals well within the clip count as in least squares, large ones up to the clip.

    Examples
    --------
    >>> LogCoshGradientLoss(clip=2.0).derivatives(np.array([[1.0, 99.0]]), np.array([1.0, 0.0])).tolist()
    [[0.0, 2.0]]
    """

    name: ClassVar[str] = "log_cosh"

    @property
    def bend(self) -> Fraction:
        """2 / clip: the derivative of 1 - tanh**2 is -2 tanh (1 - tanh**2)."""
        return 2 / self.slope

    def derivatives(self, margins: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Overwrite margins by smoothly clipped residuals."""
        margins -= y
        margins *= 1.0 / self.clip
        np.tanh(margins, out=margins)
        margins *= self.clip
        return margins


@lru_cache(maxsize=1)
def check_tanh() -> None:
    """Compare numpy's tanh with interval arithmetic, once a process.

    Raises
    ------
    DiscreetError
        If its error exceeds 2**-48: utilities would then err by more than is paid for.

    Examples
    --------
    >>> check_tanh()
    """
    error = measured_tanh_error(_N_POINTS)
    if not error <= TANH_ERROR / 2:
        raise DiscreetError(
            f"numpy.tanh errs by {error:.1e} on this machine; at most {TANH_ERROR / 2:.1e} is allowed for. Install "
            "another build of numpy, or set NPY_DISABLE_CPU_FEATURES to its fastest paths' names."
        )


def measured_tanh_error(n_points: int) -> float:
    """Return the largest error of numpy's tanh at `n_points` arguments from 2**-20 to 32, in arrays of many lengths."""
    arguments = 2.0 ** (25 * (np.arange(n_points) + 0.37) / n_points - 20)
    exact = [enclose(partial(_tanh, Fraction(argument)), 160) for argument in arguments.tolist()]
    return float(largest_errors(np.tanh, arguments, exact).max())


def _tanh(argument: Fraction, reals: Arithmetic) -> Interval:
    small = reals.exp(-2 * reals.of(argument))
    return (1 - small) / (1 + small)


def block_sum_error(n_rows: int, block: int) -> float:
    """Return at most the relative error of a sum of products over rows, in blocks, in units of the sum of sizes.

    Any order within a block; e = 2**-53 (Higham 2002, sections 3.1 and 4.2).
    """
    return 1.01 * (min(n_rows, block) + math.ceil(n_rows / block) + 3) * 2.0**-53
