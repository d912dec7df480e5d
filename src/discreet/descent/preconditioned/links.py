"""What a whitened margin predicts, and the residual in whole units: the same on every machine."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.descent.losses import exp
from discreet.errors import IncompatiblePlan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.lattice.grid import Coding, Layout

LOSSES = ("squared", "logistic", "poisson")
# How far a table reaches below 0, and a symmetric one above.
_REACH = 16.0
# A Poisson mean is at most this many times the target's upper bound.
_LARGEST_MEAN = math.e


@dataclass(frozen=True, eq=False)
class Link(ABC):
    """The mean of a target at a margin, and how a target is measured.

    Guarantee
    ---------
    Targets, means and residuals are computed by correctly rounded operations alone, each from one record and public
    numbers: they are the same on every machine, in every order and block.
    """

    coding: Coding
    bits: int

    def targets(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return targets as residuals measure them, from grid codes; shape (n,), in place."""
        lowest, highest = self.coding.lowest, self.coding.highest
        codes -= lowest
        codes /= highest - lowest
        return codes

    # How margins are scaled before their means are asked for; a power of two.
    per_unit: ClassVar[float] = 1.0

    @abstractmethod
    def means(self, margins: NDArray[np.float64], scratch: NDArray[np.intp]) -> None:
        """Replace margins times `per_unit` by the means they predict.

        Parameters
        ----------
        margins : ndarray of float64, shape (n,)
            Overwritten.
        scratch : ndarray of intp, shape (n,)
            Overwritten.
        """

    def to_user(self, slopes: NDArray[np.float64], constant: float) -> tuple[NDArray[np.float64], float]:
        """Return coefficients and intercept in the target's units, from those of a margin."""
        return slopes, constant


@dataclass(frozen=True, eq=False)
class SquaredLink(Link):
    """The margin itself; targets in half-widths of their bounds."""

    def targets(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return codes over 2**bits."""
        codes *= 2.0**-self.bits
        return codes

    def means(self, margins: NDArray[np.float64], scratch: NDArray[np.intp]) -> None:
        """Leave the margins as they are."""

    def to_user(self, slopes: NDArray[np.float64], constant: float) -> tuple[NDArray[np.float64], float]:
        """Return them in units of the target."""
        scale = 2.0**self.bits / self.coding.scale
        return slopes * scale, constant * scale + self.coding.center


@dataclass(frozen=True, eq=False)
class _TableLink(Link):
    """A mean that is looked up in a public table: margins are rounded to multiples of 2**-9, within its range."""

    _table: NDArray[np.float64] = field(init=False, repr=False)
    _offset: float = field(init=False, repr=False)

    def _tabulate(self, low: float, high: float) -> NDArray[np.float64]:
        """Note where the table begins, and return the margins of its entries."""
        first, last = math.ceil(low * self.per_unit), math.floor(high * self.per_unit)
        object.__setattr__(self, "_offset", float(-first))
        margins: NDArray[np.float64] = np.arange(first, last + 1) / self.per_unit
        return margins

    per_unit: ClassVar[float] = 512.0

    def means(self, margins: NDArray[np.float64], scratch: NDArray[np.intp]) -> None:
        """Look the means up."""
        # Half more, for the cast rounds toward 0: a pass less than to round first.
        np.add(margins, self._offset + 0.5, out=margins)
        np.clip(margins, 0.5, self._table.size - 0.5, out=margins)
        np.copyto(scratch, margins, casting="unsafe")
        # "clip" is the mode that writes to `out` without a copy; every index is in range.
        np.take(self._table, scratch, out=margins, mode="clip")


@dataclass(frozen=True, eq=False)
class LogisticLink(_TableLink):
    """The logistic mean; targets from 0 to 1, the lower and the upper bound.

    Examples
    --------
    >>> from discreet.lattice.grid import Coding
    >>> link = LogisticLink(Coding.centered(0, 1), 16)
    >>> margins = np.array([0.0, 1.0]) * link.per_unit
    >>> link.means(margins, np.empty(2, np.intp))
    >>> margins.round(6).tolist(), link.targets(np.array([-65536.0, 65536.0])).tolist()
    ([0.5, 0.731059], [0.0, 1.0])
    """

    def __post_init__(self) -> None:
        margins = self._tabulate(-_REACH, _REACH)
        small = exp(-np.abs(margins))
        object.__setattr__(self, "_table", np.where(margins >= 0, 1.0, small) / (1.0 + small))


@dataclass(frozen=True, eq=False)
class PoissonLink(_TableLink):
    """The mean `base * exp(margin)`, at most e; targets over their upper bound.

    Parameters
    ----------
    base : float
        The mean at margin 0, over the upper bound; public, above 0.
    """

    base: float

    def __post_init__(self) -> None:
        margins = self._tabulate(-_REACH, max(math.log(_LARGEST_MEAN / self.base), -_REACH + 1.0))
        object.__setattr__(self, "_table", self.base * exp(margins))

    def to_user(self, slopes: NDArray[np.float64], constant: float) -> tuple[NDArray[np.float64], float]:
        """Return them for the logarithm of the mean count."""
        return slopes, constant + math.log(self.base * self.coding.upper)


# At least this much of the upper bound is taken for the mean of a count.
_LEAST_MEAN = 1e-4
_START_OVER_NOISE = 0.25


def check_target(layout: Layout, loss: str) -> None:
    """Refuse target bounds with which a loss has no meaning.

    Raises
    ------
    IncompatiblePlan
        If counts may be below 0.
    """
    coding = layout.codings[-1]
    if loss == "poisson" and coding.lower != 0.0:
        raise IncompatiblePlan(
            f"The Poisson loss needs a target whose bounds begin at 0; found lower = {coding.lower!r}. "
            "Declare counts from 0 to the largest that can occur."
        )


def link_of(
    layout: Layout, loss: str, gram: NDArray[np.float64], *, entry_std: float, n_rows: int
) -> tuple[Link, float]:
    """Return the link of a loss, and what the step size is divided by: the mean of a count, otherwise 1.

    Parameters
    ----------
    layout : Layout
        The public grid of a row, the target last.
    loss : {"squared", "logistic", "poisson"}
        The loss.
    gram : ndarray of float64, shape (layout.width, layout.width)
        The released Gram matrix of rows over 2**bits.
    entry_std : float
        Standard deviation of its noise off the diagonal.
    n_rows : int
        The public number of rows.

    Notes
    -----
    The mean of a count, over its upper bound, is read from the release, at least twice the noise's standard deviation
    and 1e-4, at most 1. With an intercept the descent starts there, or at half that deviation if less was read.
    """
    coding = layout.codings[-1]
    if loss == "squared":
        return SquaredLink(coding, layout.bits), 1.0
    if loss == "logistic":
        return LogisticLink(coding, layout.bits), 1.0
    noise = entry_std / n_rows  # a target's code runs over 2, its count over the bound over 1
    # Without an intercept, from squares, whose mean's root is at least the mean: a step too short, never too long.
    squares = max(float(gram[-1, -1]) / n_rows, 0.0)
    read = (gram[0, -1] / n_rows + 1.0) / 2.0 if layout.intercept else math.sqrt(squares)
    mean = float(min(max(read, noise, _LEAST_MEAN), 1.0))
    # A mean that the noise hides is likely smaller than the noise, and a start too low is soon left.
    start = float(min(max(read, _START_OVER_NOISE * noise, _LEAST_MEAN), 1.0))
    # Without an intercept nothing could take up a start other than a mean count of 1.
    return PoissonLink(coding, layout.bits, start if layout.intercept else 1.0 / coding.upper), mean
