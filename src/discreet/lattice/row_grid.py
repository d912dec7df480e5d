"""The public grid of a norm-bounded row: its integers, and how far one record can move a sum over it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet import _checks
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from typing import Any

    from discreet.privacy.adjacency import Adjacency

DEFAULT_BITS = 16
# With residuals of at most 2**16 units, sums over fewer than 2**30 rows stay below 2**62.
LARGEST_BITS = 16


@dataclass(frozen=True)
class RowGrid:
    """Public facts about a row: how many columns, how long, how large an entry, on which grid.

    Parameters
    ----------
    n_columns : int
        Columns of the private matrix, at least 1.
    row_norm : float
        K: every record is scaled down to this Euclidean norm, in the units of the columns.
    entry_bound : float or None, default None
        kappa: every entry is clipped to it; None means `row_norm`.
    intercept : float, default 0
        The value of an extra, public column that is the same in every row; 0 for none.
    bits : int, default 16
        K is 2**bits grid units, 4 to 16.

    Raises
    ------
    InvalidArgument
        If a number is out of its range, or the entry bound is below one grid unit.

    Guarantee
    ---------
    With integer rows of at most these norms and integer residuals of at most B, the sum of residual times row moves
    by at most `l2_squared` and `linf` from one neighbour to the other, in exact integers.
    Proof: docs/proofs/descent.md.

    Examples
    --------
    >>> from discreet.privacy.adjacency import AddRemove, Replace
    >>> grid = RowGrid(100, row_norm=1.0, entry_bound=0.25)
    >>> grid.norm, grid.entry, grid.linf(3, Replace()), grid.linf(3, AddRemove())
    (65536, 16384, 98304, 49152)
    """

    n_columns: int
    row_norm: float
    entry_bound: float | None = None
    intercept: float = 0.0
    bits: int = DEFAULT_BITS

    def __post_init__(self) -> None:
        n_columns = _checks.integer(self.n_columns, "n_columns", low=1, high=2**40)
        bits = _checks.integer(self.bits, "bits", low=4, high=LARGEST_BITS)
        norm = _positive(self.row_norm, "row_norm")
        entry = norm if self.entry_bound is None else min(norm, _positive(self.entry_bound, "entry_bound"))
        intercept = _checks.finite_float(self.intercept, "intercept")
        _checks.set_fields(self, n_columns=n_columns, bits=bits, row_norm=norm, entry_bound=entry, intercept=intercept)
        if self.entry < 1:
            raise InvalidArgument(
                f"`entry_bound` must be at least `row_norm` / 2**{bits}; found less. Raise it, or lower `row_norm`."
            )
        if not (intercept == 0 or 1 <= self.constant <= self.norm):
            raise InvalidArgument(
                f"`intercept` must be 0, or between `row_norm` / 2**{bits} and `row_norm`; found {intercept}."
            )

    @property
    def unit(self) -> float:
        """One grid unit, in the units of the columns; exact."""
        return self.row_norm * 2.0**-self.bits

    @property
    def norm(self) -> int:
        """K in grid units."""
        return 1 << self.bits

    @property
    def entry(self) -> int:
        """Kappa in grid units, rounded down."""
        bound = self.row_norm if self.entry_bound is None else self.entry_bound
        exact = Fraction(bound) / Fraction(self.unit)
        return exact.numerator // exact.denominator

    @property
    def constant(self) -> int:
        """The intercept's column in grid units; 0 for none."""
        exact = Fraction(self.intercept) / Fraction(self.unit)
        return exact.numerator // exact.denominator

    @property
    def width(self) -> int:
        """Entries of a parameter vector: the columns, and last the intercept if there is one."""
        return self.n_columns + (self.constant > 0)

    def norm_squared(self, n_selected: int | None = None) -> int:
        """Return the largest squared norm of `n_selected` columns (None: all) and the intercept, in grid units."""
        n = self.n_columns if n_selected is None else n_selected
        return min(self.norm**2, n * self.entry**2) + self.constant**2

    def l2_squared(self, residual_bound: int, adjacency: Adjacency, n_selected: int | None = None) -> int:
        """Return the squared L2 sensitivity of the sum of residual times row, on `n_selected` columns."""
        return (adjacency.rows_changed * residual_bound) ** 2 * self.norm_squared(n_selected)

    def linf(self, residual_bound: int, adjacency: Adjacency) -> int:
        """Return the sensitivity of one column's sum; the intercept is left out."""
        return adjacency.rows_changed * residual_bound * self.entry


def _positive(value: Any, name: str) -> float:
    number = _checks.finite_float(value, name)
    if 1e-100 <= number <= 1e100:
        return number
    raise InvalidArgument(f"`{name}` must be between 1e-100 and 1e100; found {number}.")
