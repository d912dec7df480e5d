"""Private rows of arrays on a public grid."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InvalidArgument, InvalidData
from discreet.lattice.gram import gram_of_arrays, keep_first
from discreet.lattice.grid import DEFAULT_BITS, Coding, Layout, all_finite, quantize
from discreet.tables.rows import rows_a_block

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from discreet.lattice.bounds import Box, Interval
    from discreet.tables.rows import CodedBlock


@dataclass(frozen=True, eq=False)
class ArrayRows:
    """Private rows of arrays, ready to be put on a grid; built by :func:`check_rows`.

    Parameters
    ----------
    private_X : ndarray of real numbers, shape (n_rows, n_columns)
        The features.
    private_y : ndarray of real numbers, shape (n_rows,)
        The target; NaN for missing.
    names : tuple of str
        Of the columns of X.
    one_hot : tuple of (start, stop)
        The declared blocks of dummies, see `Box`.
    trouble : str
        What is said of a missing target.
    """

    private_X: np.ndarray  # noqa: N815  (the field's letter)
    private_y: np.ndarray
    names: tuple[str, ...]
    one_hot: tuple[tuple[int, int], ...] = ()
    trouble: str = "has missing cells (NaN or inf)"

    # A record of arrays has every cell.
    may_drop = False

    def private_gram(self, layout: Layout) -> np.ndarray:
        """Return the exact Gram matrix of the rows (1, X, y).

        Raises
        ------
        InvalidData
            If a cell is NaN or infinite; names the column.
        """
        gram, all_finite = gram_of_arrays(self.private_X, self.private_y, layout, one_hot=self.one_hot)
        if not all_finite:
            self._name_the_missing()
        return gram

    def in_blocks(self, x_bounds: Box) -> ArrayRows:
        """Return the rows with the one-hot blocks that `x_bounds` declares."""
        return replace(self, one_hot=x_bounds.for_columns(len(self.names)).one_hot)

    def private_size(self) -> int:
        """Return the number of rows."""
        return int(self.private_X.shape[0])

    def blocks(self, layout: Layout, *, block_rows: int | None = None) -> Iterator[CodedBlock]:
        """Yield the rows (1, X, y), of which none is dropped; the speed depends on `block_rows` and nothing else.

        Raises
        ------
        InvalidData
            If a cell is NaN or infinite; names the column.
        """
        if len(self.names) + 1 != len(layout.codings):
            raise InvalidArgument("`X` and `y` must have as many columns as the layout.")
        n_rows, size = self.private_size(), rows_a_block(layout.width, block_rows)
        scratch = np.empty((layout.width, min(size, max(n_rows, 1))))
        constants = [_spread([getattr(c, name) for c in layout.codings], scratch.shape[1]) for name in _CONSTANTS]
        if layout.intercept:
            scratch[0] = 2.0**layout.bits
        for start in range(0, n_rows, size):
            block = scratch[:, : min(size, n_rows - start)]
            if not self._encode(start, block[int(layout.intercept) :], constants):
                self._name_the_missing()
            yield block, None

    def _encode(self, start: int, cells: NDArray[np.float64], constants: list[float | NDArray[np.float64]]) -> bool:
        """Put the codes of some rows into `cells`, shape (n_columns + 1, n); return whether every cell was finite."""
        n = cells.shape[1]
        np.copyto(cells[:-1], self.private_X[start : start + n].T, casting="unsafe")
        np.copyto(cells[-1], self.private_y[start : start + n], casting="unsafe")
        if not all_finite(cells.reshape(-1)):
            return False
        for first, last in self.one_hot:
            keep_first(cells[first:last].T)
        with np.errstate(all="ignore"):  # no private value may cause a warning
            quantize(cells, *(value if isinstance(value, float) else value[:, :n] for value in constants), out=cells)
        return True

    def _name_the_missing(self) -> None:
        for name, column in zip(self.names, self.private_X.T, strict=True):
            if not np.isfinite(column).all():
                raise InvalidData(
                    f"Column {name!r} has missing cells (NaN or inf), and arrays have no policy for them. "
                    "Take them out, or give a frame and a `schema` that declares a policy."
                )
        raise InvalidData(
            f"Column 'y' {self.trouble}, and arrays have no policy for that. "
            "Take such rows out, or give a frame and a `schema` that declares a policy."
        )


_CONSTANTS = ("center", "scale", "lowest", "highest")


def _spread(values: list[float], n: int) -> float | NDArray[np.float64]:
    """Return the columns' constants as one number, or tiled to a block's shape so that loops run flat."""
    if len(set(values)) == 1:
        return float(values[0])
    return np.repeat(np.array(values, dtype=np.float64)[:, None], n, axis=1)


def array_layout(
    names: tuple[str, ...], x_bounds: Box, target_bounds: Interval, *, intercept: bool, bits: int = DEFAULT_BITS
) -> Layout:
    """Return the public grid of a row (1, x, target) of arrays.

    Notes
    -----
    *Guarantee.* `row_norm_squared` counts a one-hot block once: it is the largest squared norm over the block's
    columns of which none or one is 1, and every other column at its larger limit.
    Proof: docs/proofs/gram.md.
    """
    box = x_bounds.for_columns(len(names))
    make = Coding.centered if intercept else Coding.uncentered
    codings = [make(low, high, bits) for low, high in zip(box.lower, box.upper, strict=True)]
    target, name = make(target_bounds.lower, target_bounds.upper, bits), "y"
    apart = 4**bits * intercept + target.largest**2
    for start, stop in box.one_hot:
        codings[start:stop] = [_dummy(stop - start, intercept=intercept, bits=bits)] * (stop - start)
        absent, present = codings[start].lowest ** 2, codings[start].highest ** 2
        apart += (stop - start) * absent + max(0, present - absent)
    inside = {j for block in box.one_hot for j in range(*block)}
    apart += sum(coding.largest**2 for j, coding in enumerate(codings) if j not in inside)
    while name in names:
        name += "_"
    return Layout((*names, name), (*codings, target), intercept=intercept, bits=bits, row_norm_squared=apart)


def _dummy(n_dummies: int, *, intercept: bool, bits: int) -> Coding:
    if not intercept:
        return Coding.indicator(bits)
    return Coding.flag(bits) if n_dummies == 1 else Coding.dummy(n_dummies, bits)
