"""The cells of a block once the missing ones are seen to, and the features made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidData
from discreet.tables.schema.columns import Category, Constant, Flag, Number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from discreet.tables.blocks import RecordBlock
    from discreet.tables.features import Feature
    from discreet.tables.schema.columns import Column


class CompleteBlock:
    """Some private records without a missing cell.

    Parameters
    ----------
    block : RecordBlock
        The records as they were read.
    columns : mapping of str to Column
        The columns that are needed, with their policies for missing cells.

    Attributes
    ----------
    dropped : ndarray of bool, shape (n_rows,), or None
        Which records contribute nothing; None where all contribute.

    Raises
    ------
    InvalidData
        If a cell is missing in a column whose policy is "error", also in a record that another column drops;
        names the column.
    """

    __slots__ = ("_cells", "_clipped", "_columns", "dropped")

    def __init__(self, block: RecordBlock, columns: Mapping[str, Column]) -> None:
        self._columns = columns
        self._cells: dict[str, NDArray[Any]] = {}
        self._clipped: dict[str, NDArray[np.float64]] = {}
        self.dropped: NDArray[np.bool_] | None = None
        for name, column in columns.items():
            values = block.columns[name]
            missing = _missing(values, column)
            if missing is None:
                self._cells[name] = values
                continue
            if column.missing == "error":
                raise InvalidData(_complaint(name, column, block.troubles.get(name), block.where))
            if column.missing == "drop":
                self.dropped = missing if self.dropped is None else self.dropped | missing
            self._cells[name] = np.where(missing, _stand_in(column), values)

    def raw(self, name: str) -> NDArray[np.float64]:
        """Return the cells of a number column, not clipped."""
        return self._cells[name]

    def clipped(self, name: str) -> NDArray[np.float64]:
        """Return the cells of a number column, clipped to its declared limits."""
        if name not in self._clipped:
            column = self._columns[name]
            assert isinstance(column, Number)  # noqa: S101  (by construction of features)
            self._clipped[name] = np.clip(self._cells[name], column.lower, column.upper)
        return self._clipped[name]

    def hit(self, feature: Feature) -> NDArray[np.bool_]:
        """Return in which records all levels and flags of a feature that has some are there."""
        there = [np.asarray(self._cells[name] == code) for name, code in feature.hits]
        return there[0] if len(there) == 1 else np.logical_and.reduce(there)

    def multiply(self, feature: Feature, out: NDArray[np.float64]) -> None:
        """Write a feature in its own units: cells are clipped, then multiplied in formula order in doubles."""
        out.fill(1.0)
        for position, factor in enumerate(feature.numbers):
            value = self.clipped(factor.column)
            raised = value
            for _ in range(factor.power - 1):
                raised = raised * value
            if position == 0:
                out[:] = raised
            else:
                out *= raised
        if feature.hits:
            out[~self.hit(feature)] = 0.0


def _missing(values: NDArray[Any], column: Column) -> NDArray[np.bool_] | None:
    """Return where cells are missing, or None where no cell is."""
    if isinstance(column, Category):  # positions of levels; a number may well be -1
        gone = values < 0
    else:
        # One BLAS pass tells that all is finite; a square that overflows only costs the second look.
        with np.errstate(all="ignore"):
            if np.isfinite(np.dot(values, values)):
                return None
        gone = ~np.isfinite(values)
    return gone if gone.any() else None


def _stand_in(column: Column) -> float | int:
    """Return the declared constant, or any value within the bounds for a record that is dropped anyway."""
    constant = column.missing.value if isinstance(column.missing, Constant) else None
    if isinstance(column, Category):
        return 0 if constant is None else column.levels.index(str(constant))
    if constant is not None:
        return float(constant)
    return column.lower if isinstance(column, Number) else 0.0


def _complaint(name: str, column: Column, trouble: str | None, where: str | None) -> str:
    found = trouble or "a cell is missing or not finite"
    if isinstance(column, Category):
        found = "a cell is missing or has an undeclared level"
    elif isinstance(column, Flag):
        found = f"{trouble or 'a cell is missing'} (a flag is 0, 1, true or false)"
    place = "" if where is None else f" in {where}"
    return (
        f'Column `{name}`{place}: {found}, and its policy for missing cells is "error". '
        'Complete the column, or declare missing = "drop" or a public constant.'
    )
