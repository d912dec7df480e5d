"""The rows of the K-norm gradient estimators: public declarations, from parameters back to the user's units."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.sampling.k_norm.rows import BoundedRows, NormedRows, RowReader

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.lattice.grid import Layout
    from discreet.sampling.k_norm.losses import GradientLoss
    from discreet.sampling.pca.second_moments import UnitGrid
    from discreet.tables.rows import PrivateRows

# A default ridge is such that one proposal in so many is known to be accepted.
_PROPOSALS = 256


@dataclass(frozen=True)
class LinearPredictor:
    """Coefficients in the units of the columns.

    Parameters
    ----------
    coef : ndarray of float64, shape (n_coefficients,)
    intercept : float
    """

    coef: NDArray[np.float64]
    intercept: float


class ModelRows(RowReader):
    """A reader of a model's rows that knows the way back."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """What coefficients belong to."""

    @abstractmethod
    def predictor(self, theta: NDArray[np.float64]) -> LinearPredictor:
        """Return what parameters mean in the units of the columns, and of a target between -1 and 1."""


@dataclass(frozen=True, kw_only=True)
class ScaledDownRows(ModelRows):
    """Rows of arrays within a norm; data are a pair (X, target) with targets already within their bounds.

    Parameters
    ----------
    reader : NormedRows
        The reader.
    columns : tuple of str
        Names of the columns.
    """

    reader: NormedRows
    columns: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self.columns

    @property
    def grid(self) -> UnitGrid:
        """The public grid of a row."""
        return self.reader.grid

    @property
    def width(self) -> int:
        """How many parameters there are."""
        return self.reader.width

    @property
    def norm_squared(self) -> Fraction:
        """The largest squared norm of a row."""
        return self.reader.norm_squared

    @property
    def target_bounds(self) -> tuple[float, float]:
        """Public limits of the targets."""
        return self.reader.bounds

    def count(self, data: Any) -> int:
        """Return the number of rows."""
        return self.reader.count(data)

    def read(self, data: Any) -> BoundedRows:
        """Return the rows."""
        return self.reader.read(data)

    def predictor(self, theta: NDArray[np.float64]) -> LinearPredictor:
        """Return the parameters over the norm."""
        n, constant = self.grid.n_columns, float(self.reader.constant)
        return LinearPredictor(theta[:n] / self.grid.row_norm, float(theta[-1] * constant) if constant else 0.0)


@dataclass(frozen=True, kw_only=True)
class LayoutRows(ModelRows):
    """Rows on a public layout, in units of K = 2**bits grid steps; the target, its last column, is within -1 and 1.

    Parameters
    ----------
    layout : Layout
        The grid of a row (1, x, y).
    labels : bool
        Whether the target is a label, below or above 0, that counts as 0 or 1.
    read_layout : Layout or None
        The grid on which rows are read, where it calls the target's ends by other names; None for `layout`.

    Guarantee
    ---------
    The target's square is a summand of the layout's bound for a row, so the others have the rest.
    Proof: docs/proofs/gram.md
    """

    layout: Layout
    labels: bool
    read_layout: Layout | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The features."""
        return self.layout.names[:-1]

    @property
    def width(self) -> int:
        """How many parameters there are."""
        return self.layout.width - 1

    @property
    def norm_squared(self) -> Fraction:
        """The largest squared norm of a row, in units of K."""
        return Fraction(self.layout.row_norm_squared - self.layout.codings[-1].largest ** 2, 4**self.layout.bits)

    @property
    def target_bounds(self) -> tuple[float, float]:
        """(0, 1) for labels, else (-1, 1)."""
        return (0.0, 1.0) if self.labels else (-1.0, 1.0)

    def count(self, data: PrivateRows) -> int:
        """Return the number of rows."""
        return data.private_size()

    def read(self, data: PrivateRows) -> BoundedRows:
        """Return the rows."""
        bits, kept, targets = self.layout.bits, [np.empty((0, self.width))], [np.empty(0)]
        for block, _ in data.blocks(self.read_layout or self.layout):
            kept.append(np.ldexp(block[:-1].T, -bits))
            targets.append((block[-1] > 0).astype(np.float64) if self.labels else np.ldexp(block[-1], -bits))
        return BoundedRows(np.concatenate(kept), np.clip(np.concatenate(targets), *self.target_bounds))

    def predictor(self, theta: NDArray[np.float64]) -> LinearPredictor:
        """Return coefficients per unit of the columns, and what is left for the constant."""
        first = int(self.layout.intercept)
        codings = self.layout.codings[:-1]
        coef = theta[first:] * np.array([coding.scale for coding in codings]) * 2.0**-self.layout.bits
        constant = float(theta[0]) if first else 0.0
        return LinearPredictor(coef, constant - float(coef @ np.array([coding.center for coding in codings])))


def default_ridge(loss: GradientLoss, reader: RowReader, n_rows: int) -> float:
    """Return the ridge at which one proposal in 256 is known to be accepted: of the order of the number of rows.

    Examples
    --------
    >>> from discreet.sampling.k_norm.losses import LogisticGradientLoss
    >>> from discreet.sampling.pca.second_moments import UnitGrid
    >>> grid = UnitGrid(5, row_norm=1.0)
    >>> reader = ScaledDownRows(reader=NormedRows(grid=grid, bounds=(0, 1)), columns=("a", "b", "c", "d", "e"))
    >>> round(default_ridge(LogisticGradientLoss(), reader, 10_000))
    246
    """
    trace = float(loss.curvature * reader.norm_squared) * n_rows
    return trace / (reader.width * math.expm1(math.log(_PROPOSALS) / reader.width))
