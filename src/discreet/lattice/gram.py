"""Exact integer Gram matrices of private rows on a public grid, by floating-point matrix products.

Whole numbers of at most 53 bits are exact in a double, so the Gram matrix of a block is one matrix product of
integer-valued doubles.
Blocks are so short that no partial sum of such a product reaches ``2**53``, in whatever order BLAS adds;
the blocks' matrices are added up as 64-bit integers, which wrap and never raise.
The result is bit for bit the same for every block size, row order and memory layout.

Proof: docs/proofs/gram.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidData, InvalidType
from discreet.lattice.grid import all_finite, quantize
from discreet.lattice.products import check_products

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.lattice.grid import Coding, Layout

# Cells of a block: 448 KiB, so that a block and its codes stay in a second-level cache of 1 MiB.
BLOCK_CELLS: Final = 56 * 1024
# Up to here a general matrix product is faster than the symmetric one that `A @ A.T` would call.
NARROW: Final = 24


def largest_block(layout: Layout) -> int:
    """Return the most rows whose Gram matrix keeps every partial sum, of any entry, below ``2**53``."""
    largest = max(layout.entry_bounds)
    rows = (2**53 - 1) // largest**2
    # True for every Layout, whose entries have at most 21 bits; it guards the sums should that ever change.
    assert rows >= 1, "a block holds at least one row"  # noqa: S101
    return rows


def _rows_a_block(layout: Layout, asked: int | None) -> int:
    wanted = max(BLOCK_CELLS // layout.width, 256) if asked is None else _checks.integer(asked, "block_rows", low=1)
    return min(wanted, largest_block(layout))


class _ExactProduct:
    """The exact sum of ``left @ right.T`` over blocks of whole numbers, in doubles while they are exact, then in int64.

    Doubles hold the sum of at most `most_rows` rows at a time, chosen so that it stays below ``2**53``.
    """

    def __init__(self, shape: tuple[int, int], most_rows: int) -> None:
        check_products()
        self._most_rows = most_rows
        self._rows = 0
        self._product = np.empty(shape)
        self._pending = np.zeros(shape)
        self._total = np.zeros(shape, dtype=np.int64)

    def add(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> None:
        n = left.shape[1]
        if self._rows + n > self._most_rows:
            self._flush()
        self._rows += n
        assert self._rows <= self._most_rows, "pending sums fit into 53 bits"  # noqa: S101
        np.matmul(left, right.T, out=self._product)
        np.add(self._pending, self._product, out=self._pending)

    def _flush(self) -> None:
        if not np.isfinite(self._pending).all():  # a block broke its promise; its cast would be arbitrary
            raise InvalidData("A block holds a missing cell. Replace or drop missing cells before they are summed.")
        self._total += self._pending.astype(np.int64)
        self._pending[:] = 0.0
        self._rows = 0

    def total(self) -> NDArray[np.int64]:
        """Return the sum modulo ``2**64``; a copy."""
        self._flush()
        return self._total.copy()


class _ExactGram:
    """The exact sum of ``block @ block.T`` over blocks of whole numbers, shape (width, n) in any memory layout."""

    def __init__(self, width: int, most_rows: int) -> None:
        # numpy turns `A @ A.T` into BLAS's symmetric product, which is slow for narrow matrices;
        # leaving out the last column, whose only new entry is the corner, calls the general one.
        self._narrow = 1 < width <= NARROW
        self._main = _ExactProduct((width, width - self._narrow), most_rows)
        self._corner = _ExactProduct((1, 1), most_rows)

    def add(self, block: NDArray[np.float64]) -> None:
        if self._narrow:
            self._main.add(block, block[:-1])
            self._corner.add(block[-1:], block[-1:])
        else:
            self._main.add(block, block)

    def total(self) -> NDArray[np.int64]:
        """Return the sum modulo ``2**64``; a copy."""
        main = self._main.total()
        if not self._narrow:
            return main
        last = np.concatenate([main[-1:], self._corner.total()], axis=1)
        return np.concatenate([main, last.T], axis=1)


class GramSum:
    """The exact Gram matrix ``sum v v'`` of grid rows that come in blocks.

    Parameters
    ----------
    layout : Layout
        The public grid of a row.

    Raises
    ------
    InvalidData
        When the sum is read, or at a later block, if a block held NaN or an infinity.

    Notes
    -----
    *Guarantee.* The matrix is the exact integer sum, modulo ``2**64``, of the rows' products,
    whatever the blocks and their order: the sensitivity of `Layout.sensitivity` has no rounding term.
    Proof: docs/proofs/gram.md.

    Examples
    --------
    >>> from discreet.lattice.grid import Coding, Layout
    >>> layout = Layout(["a"], [Coding.flag(bits=1)], intercept=True, bits=1)
    >>> total = GramSum(layout)
    >>> total.add(np.array([[2.0, 2.0, 2.0], [1.0, -1.0, 1.0]]))
    >>> total.gram.tolist()
    [[12, 2], [2, 3]]
    """

    __slots__ = ("_rows", "_sum", "_width")

    def __init__(self, layout: Layout) -> None:
        self._width = layout.width
        self._rows = _rows_a_block(layout, None)
        self._sum = _ExactGram(layout.width, largest_block(layout))

    def add(self, block: NDArray[np.float64]) -> None:
        """Add rows.

        Parameters
        ----------
        block : ndarray of float64, shape (width, n)
            Whole numbers within the layout's entry bounds; one grid column a row of the array, the intercept first.
            Any number of rows: longer blocks are cut so that sums stay exact.

        Raises
        ------
        InvalidArgument
            If shape or dtype differ.
        """
        if block.ndim != 2 or len(block) != self._width or block.dtype != np.float64:
            raise InvalidArgument(
                f"`block` must be float64 of shape ({self._width}, n); found {block.dtype} of shape {block.shape}."
            )
        for start in range(0, block.shape[1], self._rows):
            self._sum.add(block[:, start : start + self._rows])

    @property
    def gram(self) -> NDArray[np.int64]:
        """The Gram matrix so far, shape (width, width), in squared grid steps; a copy."""
        return self._sum.total()


def gram_of_arrays(
    X: Any,
    y: Any,
    layout: Layout,
    *,
    one_hot: tuple[tuple[int, int], ...] = (),
    block_rows: int | None = None,
) -> tuple[NDArray[np.int64], bool]:
    """Return the exact Gram matrix of arrays on a grid, and whether every cell was finite.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns), any real dtype and memory layout
        Private rows in the columns' own units.
        Other dtypes than float64 give what their float64 copy gives.
    y : ndarray of shape (n_rows,), or None
        The last grid column, where it is kept apart.
    layout : Layout
        The public grid of a row; one coding a column of `X`, then one for `y`.
    one_hot : tuple of (start, stop)
        Blocks of columns of `X` in which a row is to have at most one 1, see `keep_first`.
    block_rows : int, optional
        Rows worked on at a time; it changes the speed and nothing else.

    Returns
    -------
    gram : ndarray of int64, shape (width, width)
        ``sum v v'`` over the grid rows, in squared grid steps; zeros where a cell was not finite.
    all_finite : bool
        False where a cell was NaN or infinite.

    Raises
    ------
    InvalidType
        If a dtype is not real, or an array is masked.
    InvalidArgument
        If shapes do not fit together or do not fit the layout.

    Notes
    -----
    *Guarantee.* As for `GramSum`.
    Proof: docs/proofs/gram.md.

    Examples
    --------
    >>> from discreet.lattice.grid import Coding, Layout
    >>> layout = Layout(["x", "y"], [Coding.centered(-1, 1, bits=2)] * 2, intercept=True, bits=2)
    >>> gram_of_arrays(np.array([[0.5], [-9.0]]), np.array([1.0, 0.0]), layout)
    (array([[32, -8, 16],
           [-8, 20,  8],
           [16,  8, 16]]), True)
    """
    private_x, private_y = _real_array(X, "X", 2), None if y is None else _real_array(y, "y", 1)
    n_rows, n_columns = private_x.shape
    _check_shapes(private_x, private_y, layout)
    rows = min(_rows_a_block(layout, block_rows), max(n_rows, 1))
    columns = _Columns(private_x, layout.codings[:n_columns], rows, one_hot)
    sides = _Sides(private_y, layout, rows)
    most = largest_block(layout)
    inner, outer = _ExactGram(n_columns, most), _ExactGram(sides.width, most)
    cross = _ExactProduct((sides.width, n_columns), most)
    # Clipped overflows on the way are meant; no private value may cause a warning.
    with np.errstate(all="ignore"):
        for start in range(0, n_rows, rows):
            stop = min(start + rows, n_rows)
            if not (columns.encode(start, stop) and sides.encode(start, stop)):
                return np.zeros((layout.width, layout.width), dtype=np.int64), False
            inner.add(columns.codes)
            cross.add(sides.codes, columns.codes)
            outer.add(sides.codes)
    first = int(layout.intercept)
    order = [*range(first, first + n_columns), *sides.positions]
    gram = np.empty((layout.width, layout.width), dtype=np.int64)
    gram[np.ix_(order, order)] = np.block([[inner.total(), cross.total().T], [cross.total(), outer.total()]])
    return gram, True


class _Columns:
    """The columns of an array, coded block after block into one scratch array, along the array's own memory layout."""

    def __init__(
        self, X: NDArray[Any], codings: tuple[Coding, ...], rows: int, one_hot: tuple[tuple[int, int], ...]
    ) -> None:
        self._by_rows = abs(X.strides[0]) >= abs(X.strides[1])
        self._source = X if self._by_rows else X.T
        self._one_hot = one_hot
        # Read from the caller's memory where that is flat; else a copy, cast to float64, comes first.
        flat = self._by_rows and X.dtype == np.float64 and X.flags.c_contiguous and X.flags.aligned
        self._flat = flat and not one_hot
        self._scratch = np.empty(rows * len(codings))
        fields = ("center", "scale", "lowest", "highest")
        self._constants = [self._spread([getattr(coding, name) for coding in codings], rows) for name in fields]
        self.codes: NDArray[np.float64] = np.empty((len(codings), 0))

    def _spread(self, values: list[float], rows: int) -> float | NDArray[np.float64]:
        """Return the columns' constants as one number, or tiled to a block's shape so that loops run flat."""
        if len(set(values)) == 1:
            return float(values[0])
        column = np.array(values, dtype=np.float64)
        return np.tile(column, (rows, 1)) if self._by_rows else np.repeat(column[:, None], rows, axis=1)

    def encode(self, start: int, stop: int) -> bool:
        """Put the codes of some rows into `codes`, shape (n_columns, n); return False where a cell is not finite."""
        n_columns, n = len(self.codes), stop - start
        window = slice(start, stop) if self._by_rows else (slice(None), slice(start, stop))
        cut = slice(0, n) if self._by_rows else (slice(None), slice(0, n))
        raw = self._source[window]
        block = self._scratch[: n_columns * n].reshape(raw.shape)
        if not self._flat:
            np.copyto(block, raw, casting="unsafe")
            raw = block
        if not all_finite(raw.reshape(-1)):
            return False
        for first, last in self._one_hot:
            keep_first(block[:, first:last] if self._by_rows else block[first:last].T)
        constants = [value if isinstance(value, float) else value[cut] for value in self._constants]
        quantize(raw, *constants, out=block)
        self.codes = block.T if self._by_rows else block
        return True


def keep_first(cells: NDArray[np.float64]) -> None:
    """Make of every row of `cells`, shape (n, k), dummies of one category, in place: at most one 1, the rest 0.

    A cell counts as 1 where it is at least one half, and of several ones only the first is kept.
    Total, and a function of the row alone: whatever stands in a record, it has at most one 1 in the block.
    """
    seen = np.zeros(len(cells), dtype=bool)
    for column in cells.T:
        hot = column >= 0.5
        np.greater(hot, seen, out=column, casting="unsafe")
        np.logical_or(seen, hot, out=seen)


class _Sides:
    """What stands beside the columns of `X`: the constant of the intercept and `y`, in a scratch array of their own."""

    def __init__(self, y: NDArray[Any] | None, layout: Layout, rows: int) -> None:
        self._y = y
        self._coding = layout.codings[-1]
        self.positions = [0] * layout.intercept + [layout.width - 1] * (y is not None)
        self.width = len(self.positions)
        self._scratch: NDArray[np.float64] = np.full((self.width, rows), 2.0**layout.bits)
        self.codes: NDArray[np.float64] = self._scratch[:, :0]

    def encode(self, start: int, stop: int) -> bool:
        """Put the codes of some rows into `codes`, shape (width, n); return False where a cell is not finite."""
        self.codes = self._scratch[:, : stop - start]
        if self._y is None:
            return True
        last = self._scratch[-1][: stop - start]
        np.copyto(last, self._y[start:stop], casting="unsafe")
        finite = all_finite(last)
        self._coding.encode(last, out=last)
        return finite


def _real_array(values: Any, name: str, ndim: int) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidType(f"`{name}` is a masked array. Fill it with NaN, which counts as missing, and pass an array.")
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise InvalidType(f"`{name}` must hold real numbers; found dtype {array.dtype}. Convert it to float64.")
    if array.ndim != ndim:
        raise InvalidArgument(f"`{name}` must have {ndim} dimension(s); found {array.ndim}.")
    return array


def _check_shapes(X: NDArray[Any], y: NDArray[Any] | None, layout: Layout) -> None:
    found = X.shape[1] + (y is not None)
    if found != len(layout.codings):
        raise InvalidArgument(f"`X` and `y` must have {len(layout.codings)} columns together; found {found}.")
    if y is not None and len(y) != len(X):
        raise InvalidArgument("`X` and `y` must have the same number of rows; theirs differ.")
