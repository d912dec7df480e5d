"""Linear regression by the K-norm gradient mechanism on a box of coefficients: no ridge, at most three of them.

The gradient ``b - A theta`` of half the sum of squares comes from one exact Gram matrix, so a point costs nothing to
evaluate, and it is Lipschitz with a public constant because rows are bounded: `grids` draws from it.

Proof: docs/proofs/holder.md
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.lattice.bounds import Box
from discreet.lattice.gram import GramSum
from discreet.sampling.grids import GridTarget, Modulus, check_grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.privacy.adjacency import Adjacency
    from discreet.sampling.k_norm.model_rows import LayoutRows
    from discreet.tables.rows import PrivateRows

_LARGEST_BOUND = 1000


@dataclass(frozen=True, kw_only=True)
class LinearOnGrid(GridTarget):
    """Coefficients with density ``exp(-scale * max_j |sum_i x_ij (y_i - x_i'theta)|)`` on a box around 0.

    Rows are in units of their declared half-widths, so that entries and targets are within -1 and 1.

    Parameters
    ----------
    reader : LayoutRows
        The public layout of a row (1, x, y) of numbers.
    coef_bound : number
        Every coefficient is within it, in the reader's units; above 0, at most 1000.
    per_side : int, optional
        Cells a side of the grid; None takes the least work that is known.

    Guarantee
    ---------
    A record changes a coordinate of the gradient by at most ``M (1 + B)`` under AddRemove and twice that under
    Replace, with M the largest entry of a row and B the largest size of a prediction in the box. With n rows the
    utility is Lipschitz with ``n M`` times the sum of the entries' bounds. Proof: docs/proofs/holder.md, section 6
    Source: Reimherr and Awan 2019 (K-norm gradient).

    Examples
    --------
    >>> from discreet.lattice.bounds import Interval
    >>> from discreet.privacy.adjacency import Replace
    >>> from discreet.sampling.k_norm.model_rows import LayoutRows
    >>> from discreet.tables.array_rows import array_layout
    >>> layout = array_layout(("x0",), Box(lower=[0], upper=[10]), Interval(0, 5), intercept=True)
    >>> target = LinearOnGrid(reader=LayoutRows(layout=layout, labels=False), coef_bound=1)
    >>> target.dimension, target.sensitivity(Replace()), target.modulus(100).constant
    (2, Fraction(6, 1), Fraction(400, 1))
    """

    reader: LayoutRows
    coef_bound: Any = Fraction(1)
    per_side: int | None = None
    bounds: Box = field(init=False)

    def __post_init__(self) -> None:
        bound = _checks.exact_positive(self.coef_bound, "coef_bound")
        if not bound <= _LARGEST_BOUND:
            raise InvalidArgument(f"`coef_bound` must be at most {_LARGEST_BOUND}; found {float(bound):.3g}.")
        # The box is one of doubles.
        object.__setattr__(self, "coef_bound", Fraction(float(bound)))
        limit = float(self.coef_bound)
        width = self.reader.width
        object.__setattr__(self, "bounds", Box(lower=[-limit] * width, upper=[limit] * width))
        check_grid(self.bounds, self.per_side, "LinearOnGrid")

    @property
    def name(self) -> str:
        """What is drawn."""
        return f"K-norm gradient, squared loss on a box, {self.dimension} parameters"

    @property
    def _entries(self) -> list[Fraction]:
        """The largest sizes of the entries of a row without its target, in units of K."""
        layout = self.reader.layout
        return [Fraction(bound, 2**layout.bits) for bound in layout.entry_bounds[:-1]]

    @property
    def _per_record(self) -> Fraction:
        """The most that one record adds to a coordinate of the gradient."""
        layout, entries = self.reader.layout, self._entries
        largest_target = Fraction(layout.entry_bounds[-1], 2**layout.bits)
        return max(entries) * (largest_target + Fraction(self.coef_bound) * sum(entries))

    def sensitivity(self, adjacency: Adjacency) -> Fraction:
        """Return the most by which the largest coordinate of the gradient changes."""
        return adjacency.rows_changed * self._per_record

    def modulus(self, n_rows: int | None) -> Modulus:
        """Return the Lipschitz constant of the largest coordinate, in parts of the box, and the error of doubles.

        Raises
        ------
        IncompatiblePlan
            Under AddRemove.
        """
        if n_rows is None:
            raise IncompatiblePlan(
                "The slope of a sum over rows grows with their number, which is private under AddRemove(): a grid "
                "then has no public fineness. Declare Replace() if the number is public, or use another method."
            )
        entries = self._entries
        # Conversions, products and sums of 2 (dimension + 1) numbers, none larger than all records together.
        error = (self.dimension + 4) * Fraction(1, 2**51) * n_rows * self._per_record
        return Modulus(constant=n_rows * max(entries) * sum(entries) * 2 * self.coef_bound, error=error)

    def count(self, data: PrivateRows) -> int:
        """Return the number of rows."""
        return data.private_size()

    def prepare(self, data: PrivateRows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return A and b, from exact integer sums; raises what the data owner declared."""
        layout = self.reader.layout
        total = GramSum(layout)
        for block, _ in data.blocks(layout):
            total.add(block)
        gram = np.ldexp(total.gram.astype(np.float64), -2 * layout.bits)
        return gram[:-1, :-1], gram[:-1, -1]

    def evaluate(
        self, prepared: tuple[NDArray[np.float64], NDArray[np.float64]], points: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return minus the largest coordinate of the gradient; what is computed of a point is its own."""
        matrix, vector = prepared
        largest = np.zeros(points.shape[0])
        for row, constant in zip(matrix, vector, strict=True):
            gradient = np.full(points.shape[0], constant)
            for entry, coordinate in zip(row.tolist(), points.T, strict=True):
                gradient -= entry * coordinate
            np.maximum(largest, np.abs(gradient), out=largest)
        return -largest
