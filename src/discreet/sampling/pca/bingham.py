"""The Bingham law of a direction, drawn by an angular central Gaussian envelope: what private components are.

The density of a unit vector v is proportional to ``exp(scale * v'Mv)``, M the second moments of rows of norm at most 1.
Proposals are ``v = z / |z|`` with ``z = F g``, g standard normal and F any matrix of doubles: since
``v' (F F')**-1 v = |g|**2 / |z|**2`` exactly, no rounding of F, which depends on the data, changes the law.
Source: Kent, Ganeiban and Mardia 2018, for the envelope; Chaudhuri, Sarwate and Sinha 2013, for the mechanism; the
bound on acceptance is this project's. Proof: docs/proofs/bingham.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidData
from discreet.sampling.pca.bingham_envelope import envelope_loss, least_acceptance
from discreet.sampling.pca.bingham_proposals import BinghamProposer
from discreet.sampling.pca.second_moments import DEFAULT_BITS, SecondMoments, UnitGrid, check_cells, error_of, sum_rows
from discreet.sampling.targets.targets import ScaledTarget, Target
from discreet.tables.cells.given_cells import matrix_of_numbers

if TYPE_CHECKING:
    from discreet.privacy.adjacency import Adjacency

_HALF = Fraction(1, 2)
# Above this so much precision is lost that the bound on acceptance says little.
_LARGEST_LOSS = Fraction(3, 4)
# Bounds are rounded down to multiples of 1 / this.
_FINE = 2**50
_NORMALIZER_ERROR = Fraction(1, 2**40)


@dataclass(frozen=True, kw_only=True)
class Bingham(Target):
    """The first principal component: a direction v with density proportional to ``exp(scale * sum of (x'v)**2)``.

    Rows x are taken about `center`, scaled down to `row_norm`, and measured in units of it.

    Parameters
    ----------
    n_columns : int
        d, columns of the rows, at least 1.
    row_norm : float
        The largest Euclidean norm of a row.
    center : sequence of float, optional
        A public point; default 0.
    bits : int, default 16
        The norm is 2**bits grid units.

    Guarantee
    ---------
    Between neighbours the utility, centered by half the number of rows under AddRemove, changes by at most 1 under
    Replace and by 1/2 under AddRemove. Proof: docs/proofs/bingham.md, section 1

    Examples
    --------
    >>> from discreet.privacy.adjacency import AddRemove
    >>> Bingham(n_columns=3, row_norm=1.0).sensitivity(AddRemove())
    Fraction(1, 2)
    """

    n_columns: int
    row_norm: float
    center: Any = None
    bits: int = DEFAULT_BITS

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_columns", _checks.integer(self.n_columns, "n_columns", low=1))
        if self.center is not None:
            object.__setattr__(self, "center", tuple(_checks.finite_float(value, "center") for value in self.center))
        object.__setattr__(self, "row_norm", self.grid.row_norm)

    @property
    def grid(self) -> UnitGrid:
        """The public grid of a row."""
        return UnitGrid(self.n_columns, self.row_norm, self.center, bits=self.bits)

    @property
    def name(self) -> str:
        """What is drawn."""
        return f"Bingham, first principal component of {self.n_columns} columns, rows of norm at most {self.row_norm!r}"

    @property
    def dimension(self) -> int:
        """How many numbers a direction has."""
        return self.n_columns

    def sensitivity(self, adjacency: Adjacency) -> Fraction:
        """Return 1 under Replace, 1/2 under AddRemove."""
        return direction_sensitivity(adjacency)

    def count(self, data: Any) -> int:
        """Return the number of rows."""
        return int(self._matrix(data).shape[0])

    def prepare(self, data: Any) -> SecondMoments:
        """Return the exact second moments of the rows, an array of shape (n_rows, n_columns)."""
        matrix = self._matrix(data)
        check_cells(matrix, [f"x{j}" for j in range(self.n_columns)], self.grid)
        return sum_rows(matrix, self.grid)

    def at(self, scale: Fraction, n_rows: int | None) -> ScaledBingham:
        """Return the law at a public scale."""
        return scaled_bingham(scale, self.grid, n_rows, n_components=1)

    def _matrix(self, data: Any) -> Any:
        matrix = matrix_of_numbers(data, "data")
        if matrix.ndim != 2 or matrix.shape[1] != self.n_columns:
            raise InvalidData(f"Expected a 2D array of {self.n_columns} columns. Declare `n_columns` as they are.")
        return matrix


@dataclass(frozen=True, kw_only=True)
class ScaledBingham(ScaledTarget):
    """A Bingham law at one public scale.

    Parameters
    ----------
    scale : Fraction
        What ``v'Mv`` is multiplied by, M in squared row norms.
    spread : float
        See `second_moments.error_of`.
    """

    scale: Fraction
    spread: float

    def begin(self, prepared: SecondMoments) -> BinghamProposer:
        """Return who proposes directions for a matrix, or for its part within a public basis."""
        return BinghamProposer(prepared, self.scale, self.spread)


def direction_sensitivity(adjacency: Adjacency) -> Fraction:
    """Return the most by which ``v'Mv``, up to a number that is the same for every v, changes between neighbours.

    One row x of norm at most 1 adds (x'v)**2, between 0 and 1; half the number of rows is taken off, and it adds
    between -1/2 and 1/2. A row in the place of another changes the sum by at most 1.
    """
    return adjacency.rows_changed * _HALF


def scaled_bingham(scale: Fraction, grid: UnitGrid, n_rows: int | None, *, n_components: int) -> ScaledBingham:
    """Return the law of the first of some components; its bounds hold for the further ones, too.

    Parameters
    ----------
    scale : Fraction
        What ``v'Mv`` is multiplied by.
    grid : UnitGrid
        Of the rows.
    n_rows : int or None
        The number of rows where it is public.
    n_components : int
        How many will be drawn, each perpendicular to those before.

    Raises
    ------
    IncompatiblePlan
        If so much precision would be lost that acceptance has no good bound.
    """
    d = grid.n_columns
    spread = error_of(d, d, in_basis=n_components > 1)
    loss = envelope_loss(d, scale * (grid.most_rows if n_rows is None else n_rows), spread)
    if not loss <= _LARGEST_LOSS:
        raise IncompatiblePlan(
            f"With {d} columns and this budget doubles do not hold the envelope of so many rows, and nothing is "
            "promised of the running time. Lower the budget, use fewer columns, or declare Replace() where the number "
            "of rows is public."
        )
    return ScaledBingham(
        dimension=d,
        acceptance=Fraction(math.floor(least_acceptance(d) * (1 - loss) * _FINE), _FINE),
        common_envelope=False,
        floor=-np.inf,
        default=(1.0,) + (0.0,) * (d - 1),
        normalizer_error=_NORMALIZER_ERROR if d == 2 and n_components == 1 else None,
        scale=scale,
        spread=spread,
    )
