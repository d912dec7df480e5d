"""What targets share whose utility is a function of their user's: tried on public rows, its change believed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet import _checks
from discreet.errors import InvalidArgument
from discreet.sampling.evaluation import check_function, complete_rows, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from discreet.privacy.adjacency import Adjacency


@dataclass(frozen=True, kw_only=True, eq=False)
class OnExample:
    """Rows of numbers, with the columns of a public example.

    Parameters
    ----------
    example : array-like
        Public rows with the columns of the data, on which the function is tried.
    """

    example: Any

    def _read_example(self) -> None:
        rows = complete_rows(self.example, rows_of(self.example, "example").shape[1])
        _checks.set_fields(self, example=rows)

    def count(self, data: Any) -> int:
        """Return the number of rows."""
        return int(rows_of(data).shape[0])

    def prepare(self, data: Any) -> np.ndarray:
        """Return the rows, complete."""
        return complete_rows(data, self.example.shape[1])


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnUtility(OnExample):
    """A utility of points and rows that one record changes by no more than is declared.

    Parameters
    ----------
    utility : callable
        Takes points, shape (size, dimension), and rows, shape (n_rows, n_columns); returns one number a point.
    change : number
        The most by which the utility of a point changes when a record is added, removed or replaced.
    """

    utility: Callable[[np.ndarray, np.ndarray], Any]
    change: Any

    def _read_change(self) -> None:
        """Check the declared change, and read the example."""
        _checks.check_fields(self, _checks.exact_positive, "change")
        self._read_example()

    def _tried(self, points: np.ndarray) -> np.ndarray:
        """Return the utility of public points on the example, one number each."""
        values = check_function(self.utility, points, self.example, "utility")
        if values.ndim == 1:
            return values
        raise InvalidArgument(f"`utility` must return one number a point; found the shape {values.shape}.")

    def sensitivity(self, adjacency: Adjacency) -> Fraction:
        """Return the declared change."""
        del adjacency
        return Fraction(self.change)
