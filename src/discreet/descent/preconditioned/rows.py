"""Private rows on their grid, and whitened: whole numbers whose sums are exact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from discreet.descent.blas_threads import shared_out
from discreet.descent.preconditioned.whitening import NORM_BITS
from discreet.lattice.gram import GramSum
from discreet.tables.rows import MOST_BLOCK_ROWS, rows_a_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.descent.preconditioned.links import Link
    from discreet.descent.preconditioned.whitening import Whitener
    from discreet.lattice.grid import Layout
    from discreet.tables.rows import PrivateRows

# Whole numbers up to here are exact in a float32.
_EXACT_SINGLE = 1 << 24


@dataclass(frozen=True, eq=False, repr=False)
class GriddedRows:
    """Private rows on a public grid; built by `gridded`.

    Parameters
    ----------
    layout : Layout
        The public grid.
    private_blocks : tuple of ndarray of float32, shape (layout.width, n)
        The rows, exact; 4 bytes a cell.
    private_gram : ndarray of int64, shape (layout.width, layout.width)
        Their exact Gram matrix, in squared grid units.
    private_dropped : tuple of (ndarray of bool, shape (n,), or None)
        Which records of a block contribute nothing, block by block; None where all contribute.
    """

    layout: Layout
    private_blocks: tuple[NDArray[np.float32], ...]
    private_gram: NDArray[np.int64]
    private_dropped: tuple[NDArray[np.bool_] | None, ...]


def gridded(rows: PrivateRows, layout: Layout, *, block_rows: int | None = None) -> GriddedRows:
    """Return rows on a grid, with their exact Gram matrix; one pass over them.

    Parameters
    ----------
    rows : PrivateRows
        Such as `ArrayRows` or `TableRows`.
    layout : Layout
        The public grid of a row, the target last.
    block_rows : int or None
        Rows kept together; the speed depends on it and nothing else.

    Raises
    ------
    InvalidData
        What the rows say of missing cells.

    Guarantee
    ---------
    Every entry is a whole number within the layout's bounds, kept exactly; the Gram matrix is the exact sum modulo
    2**64. Neither depends on the order of the rows or on the blocks. Proof: docs/proofs/gram.md
    """
    size = rows_a_block(layout.width, block_rows)
    assert max(layout.entry_bounds) <= _EXACT_SINGLE  # noqa: S101  (a grid has at most 21 bits)
    total = GramSum(layout)
    kept: list[NDArray[np.float32]] = []
    absent: list[NDArray[np.bool_] | None] = []
    for block, dropped in rows.blocks(layout):
        total.add(block)
        starts = range(0, block.shape[1], size)
        kept += [np.array(block[:, start : start + size], dtype=np.float32, order="C") for start in starts]
        absent += [None if dropped is None else dropped[start : start + size] for start in starts]
    return GriddedRows(layout, tuple(kept), total.gram, tuple(absent))


# Of the clip, in units of a step's sum: a block's sums stay below 2**53 with it, those of 2**24 rows below 2**62.
_LARGEST_CLIP_BITS = 38
_BLOCK_BITS = MOST_BLOCK_ROWS.bit_length() - 1
assert _LARGEST_CLIP_BITS + _BLOCK_BITS <= 53  # noqa: S101  (block sums are exact in doubles)


def clip_bits(n_rows: int) -> int:
    """Return b: a step's clip is 2**b units, as fine as 64-bit sums of about `n_rows` rows (up to 2**32) permit.

    Sums of up to `2 * n_rows` rows (and of 2**24) stay below 2**62 in size; those of more may wrap around.
    """
    return min(_LARGEST_CLIP_BITS, 61 - int(n_rows).bit_length())


@dataclass(frozen=True, eq=False, repr=False)
class WhitenedRows:
    """Private rows, whitened and stored once, with the largest residual of each.

    Parameters
    ----------
    private_blocks : tuple of ndarray of float64, shape (p + 2, n)
        Whitened features as whole numbers, then targets as the link measures them, then caps: whole numbers with
        `cap * |x| <= clip`. 8 bytes a cell.
    clip : int
        What they are capped for.
    link : Link
        Which means and targets.
    unit : float
        What one unit of a whitened row is worth, a power of two.
    """

    private_blocks: tuple[NDArray[np.float64], ...]
    clip: int
    link: Link
    unit: float

    def clipped_sums(
        self,
        iterate: NDArray[np.float64],
        residual_unit: float,
        *,
        backward: bool = False,
        count: bool = True,
        threads: int = 1,
    ) -> tuple[NDArray[np.int64], int]:
        """Return the exact sum of residual times whitened row, clipped record by record, and how many were clipped.

        Parameters
        ----------
        iterate : ndarray of float64, shape (p,)
            Public, finite; rounded to whole numbers for which margins are exact.
        residual_unit : float
            What one unit of a residual is worth; public.
        backward : bool
            Whether the last block comes first, as where it was read last and may still be in the cache.
        count : bool
            Whether clipped rows are counted.
        threads : int
            How many work on blocks.

        Returns
        -------
        sums : ndarray of int64, shape (p,)
            In units of `unit * residual_unit`, modulo 2**64.
        n_clipped : int
            The rows whose residual was larger than their cap; 0 where they are not counted.

        Guarantee
        ---------
        One record adds a vector of Euclidean norm at most `clip` to the sums, and at most 1 to the count; in exact
        integers, whatever its residual. Neither depends on the order of the rows, on blocks or on the machine.
        Proof: docs/proofs/preconditioned.md
        """
        whole, of_whole = whole_iterate(iterate)
        # Scaled by a power of two, so that products and sums stay exact and are what the link takes. Zeros for targets
        # and caps: they pass through the product's stream and are then in the cache.
        weights = np.concatenate([whole * (self.unit * of_whole * self.link.per_unit), np.zeros(2)])
        per_unit = 1.0 / residual_unit
        blocks = self.private_blocks[:: -1 if backward else 1]
        parts = shared_out(blocks, threads, lambda share: self._sums_of(share, weights, per_unit, count=count))
        sums = np.zeros(iterate.size, np.int64)
        for part, _ in parts:
            sums += part
        return sums, sum(n_clipped for _, n_clipped in parts)

    def _sums_of(
        self, blocks: Sequence[NDArray[np.float64]], weights: NDArray[np.float64], per_unit: float, *, count: bool
    ) -> tuple[NDArray[np.int64], int]:
        p, size = weights.size - 2, max((block.shape[1] for block in blocks), default=0)
        sums, n_clipped = np.zeros(p, np.int64), 0
        scratch, places, part = np.empty((2, size)), np.empty(size, np.intp), np.empty(p)
        with np.errstate(all="ignore"):  # a warning would tell of a record
            for block in blocks:
                n = block.shape[1]
                residuals, clipped, cap = scratch[0, :n], scratch[1, :n], block[p + 1]
                np.dot(weights, block, out=residuals)
                self.link.means(residuals, places[:n])
                np.subtract(residuals, block[p], out=residuals)
                np.multiply(residuals, per_unit, out=residuals)
                np.rint(residuals, out=residuals)
                np.negative(cap, out=clipped)
                np.clip(residuals, clipped, cap, out=clipped)
                if count:
                    n_clipped += int(np.count_nonzero(clipped != residuals))
                np.dot(block[:p], clipped, out=part)
                sums += part.astype(np.int64)
        return sums, n_clipped


def whitened(rows: GriddedRows, whitener: Whitener, link: Link, *, clip: int, threads: int = 1) -> WhitenedRows:
    """Return the rows whitened, in integers, each with its cap; total.

    Parameters
    ----------
    rows : GriddedRows
        The private rows.
    whitener : Whitener
        The public matrix.
    link : Link
        Which targets.
    clip : int
        Largest Euclidean norm of residual times whitened row, at most 2**38.
    threads : int
        How many work on blocks.
    """
    scale = math.ldexp(1.0, -whitener.shift)

    def whiten(blocks: Sequence[NDArray[np.float32]]) -> list[NDArray[np.float64]]:
        return [_whitened_block(codes, whitener.whole, scale, link, clip) for codes in blocks]

    made = shared_out(rows.private_blocks, threads, whiten)
    return WhitenedRows(tuple(chain.from_iterable(made)), clip, link, whitener.unit)


def _whitened_block(
    codes: NDArray[np.float32], whole: NDArray[np.float64], scale: float, link: Link, clip: int
) -> NDArray[np.float64]:
    p = len(whole)
    block = np.empty((p + 2, codes.shape[1]))
    x, squares = block[:p], codes.astype(np.float64)
    np.dot(whole, squares[:p], out=x)
    block[p] = link.targets(squares[p])
    # The product is exact, and so is the scaling by a power of two: one rounding.
    np.multiply(x, scale, out=x)
    np.rint(x, out=x)
    np.multiply(x, x, out=squares[:p])
    np.add.reduce(squares[:p], axis=0, out=block[p + 1])
    _caps(block[p + 1], clip)
    return block


def _caps(norms_squared: NDArray[np.float64], clip: int) -> None:
    """Replace whole squared norms of at most 2**48 by the largest residuals, in place.

    The root of a whole number m below 2**50 is at least 2**-26 above the whole number below it, or is it: doubles
    there are 2**-28 apart, so rounding the root up to a whole number after IEEE's rounding gives the true one. A
    quotient of whole numbers with a dividend below 2**52 rounds to a whole number only if it is one.
    """
    np.sqrt(norms_squared, out=norms_squared)
    np.ceil(norms_squared, out=norms_squared)
    np.maximum(norms_squared, 1.0, out=norms_squared)
    np.divide(float(clip), norms_squared, out=norms_squared)
    np.floor(norms_squared, out=norms_squared)


def whole_iterate(iterate: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return a public iterate as whole numbers, and what one is worth, a power of two.

    Margins with whitened rows, and all their partial sums, are then at most 2**52: by the Cauchy-Schwarz inequality,
    for the whole numbers have a norm of at most 2**27 and a half for every root of an entry, rows one of 2**24.
    """
    _, exponent = math.frexp(float(np.sqrt(np.dot(iterate, iterate))))
    shift = 51 - NORM_BITS - exponent
    return np.rint(np.ldexp(iterate, shift)), math.ldexp(1.0, -shift)
