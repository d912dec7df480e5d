"""Weights of rows and of classes in a preconditioned descent: clipped after weighting, so that no price changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.descent.preconditioned.plan import PreconditionedPlan
from discreet.descent.preconditioned.rows import GriddedRows, WhitenedRows
from discreet.errors import InvalidArgument, InvalidData, InvalidType
from discreet.lattice.gram import GramSum
from discreet.tables.arrays import UNEQUAL
from discreet.tables.cells.given_cells import numbers_of
from discreet.tables.rows import rows_a_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.descent.preconditioned.links import Link
    from discreet.descent.preconditioned.whitening import Whitener
    from discreet.lattice.grid import Layout
    from discreet.tables.rows import PrivateRows

# Weights over the largest are whole multiples of this: few enough digits for a float32.
_STEP = 2.0**-16


@dataclass(frozen=True, eq=False, repr=False)
class Weights:
    """Weights of rows, between 0 and 1 after a public maximum was divided out.

    Parameters
    ----------
    private_rows : ndarray of float64, shape (n_rows,), or None
        One a row, over the largest declared one; None for 1.
    of_classes : ndarray of float64, shape (n_classes,), or None
        One a class, in the order of the classes, over the largest of them; None for 1.
    """

    private_rows: NDArray[np.float64] | None
    of_classes: NDArray[np.float64] | None


def declared_weights(
    sample_weight: Any, max_sample_weight: Any, of_classes: NDArray[np.float64] | None
) -> Weights | None:
    """Return the weights of a fit, None where nothing is weighted.

    Raises
    ------
    InvalidType
        If there are weights of rows and no declared maximum.
    InvalidData
        If a weight is missing, below 0 or above the maximum; quotes none.
    """
    rows, largest = None, 0.0
    if max_sample_weight is not None:
        largest = _checks.finite_float(max_sample_weight, "max_sample_weight")
        if not largest > 0.0:
            raise InvalidArgument(f"`max_sample_weight` must be greater than 0; found {largest}.")
    if sample_weight is not None:
        if max_sample_weight is None:
            raise InvalidType(
                "`sample_weight` needs a public `max_sample_weight` in the constructor: the noise is that of a row of "
                "the largest weight. Declare it, or leave the weights out."
            )
        rows = np.asarray(numbers_of(sample_weight, "sample_weight"), dtype=np.float64)
        if rows.ndim != 1:
            raise InvalidData("`sample_weight` must have one number a row.")
        if not ((rows >= 0.0) & (rows <= largest)).all():
            raise InvalidData(
                "`sample_weight` has a weight that is missing, below 0 or above `max_sample_weight`. "
                "Take such rows out, or declare a larger maximum."
            )
        rows = rows / largest
    return None if rows is None and of_classes is None else Weights(rows, of_classes)


def class_weights(class_weight: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the weight of every class over the largest, in the order of the classes.

    Raises
    ------
    InvalidType, InvalidArgument
        If they are no dictionary of the classes' labels with numbers of at least 0, not all of them 0.
    """
    if not isinstance(class_weight, dict):
        raise InvalidType(
            "`class_weight` must be a dict of public weights, such as {0: 1, 1: 5}; weights that balance the classes "
            "would be read from private labels."
        )
    labels = classes.tolist()
    if not set(class_weight) <= set(labels):
        raise InvalidArgument("`class_weight` has a label that is none of the classes. Name declared classes alone.")
    found = np.array([_checks.finite_float(class_weight.get(label, 1.0), "class_weight") for label in labels])
    if not ((found >= 0.0).all() and found.max() > 0.0):
        raise InvalidArgument("`class_weight` must hold numbers of at least 0, one of them above 0.")
    return np.asarray(found / found.max())


def weighted_rows(rows: PrivateRows, layout: Layout, weights: Weights) -> GriddedRows:
    """Return rows on a grid, each with its weight as one more row of its block, and their Gram matrix.

    Parameters
    ----------
    rows : PrivateRows
        The rows.
    layout : Layout
        The grid on which they are read; labels are its ends, or the positions of classes, 1, 2, ....
    weights : Weights
        Of the rows.

    Raises
    ------
    InvalidData
        What the source says of missing cells, or if there are more or fewer rows than weights.

    Guarantee
    ---------
    The Gram matrix is that of rows times the root of their weight, rounded toward 0: no longer than the rows.
    Proof: docs/proofs/front_door.md
    """
    total, kept, size = GramSum(layout), [], rows_a_block(layout.width)
    absent: list[NDArray[np.bool_] | None] = []
    start = 0
    for block, dropped in rows.blocks(layout):
        stop = start + block.shape[1]
        of_rows = np.ones(block.shape[1])
        if weights.private_rows is not None:
            of_rows = weights.private_rows[start:stop]
            if of_rows.size < block.shape[1]:
                raise InvalidData(UNEQUAL.replace("`y`", "`sample_weight`"))
        if weights.of_classes is not None:
            of_rows = of_rows * _of_labels(block[-1], layout, weights.of_classes)
        stacked = np.concatenate([block, np.floor(of_rows[None, :] / _STEP) * _STEP]).astype(np.float32)
        total.add(gram_block(stacked, layout))
        firsts = range(0, block.shape[1], size)
        kept += [np.ascontiguousarray(stacked[:, first : first + size]) for first in firsts]
        absent += [None if dropped is None else dropped[first : first + size] for first in firsts]
        start = stop
    if weights.private_rows is not None and start != weights.private_rows.size:
        raise InvalidData(UNEQUAL.replace("`y`", "`sample_weight`"))
    return GriddedRows(layout, tuple(kept), total.gram, tuple(absent))


def _of_labels(codes: NDArray[np.float64], layout: Layout, of_classes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of coded labels; of a dropped record it does not matter."""
    if of_classes.size == 2:
        return np.asarray(np.where(codes > 0, of_classes[1], of_classes[0]))
    places = layout.codings[-1].encode(np.arange(1.0, of_classes.size + 1.0))
    found = np.zeros(codes.size)
    for place, weight in zip(places, of_classes, strict=True):
        found[codes == place] = weight
    return found


def gram_block(block: NDArray[np.float32], layout: Layout) -> NDArray[np.float64]:
    """Return a block as its Gram matrix sums it: each row times the root of its weight, rounded toward 0."""
    rows = block[: layout.width].astype(np.float64)
    if len(block) == layout.width:
        return rows
    rows *= np.sqrt(block[layout.width].astype(np.float64))
    return np.asarray(np.trunc(rows, out=rows))


class WeightedRows(WhitenedRows):
    """Whitened rows whose residuals are multiplied by a weight before they are clipped; the weight comes last."""

    def _sums_of(
        self, blocks: Sequence[NDArray[np.float64]], weights: NDArray[np.float64], per_unit: float, *, count: bool
    ) -> tuple[NDArray[np.int64], int]:
        p = weights.size - 2
        sums, n_clipped = np.zeros(p, np.int64), 0
        with np.errstate(all="ignore"):  # a warning would tell of a record
            for block in blocks:
                residuals = np.dot(weights, block[: p + 2])
                self.link.means(residuals, np.empty(residuals.size, np.intp))
                residuals -= block[p]
                residuals *= block[p + 2]
                np.rint(residuals * per_unit, out=residuals)
                sizes, cap = np.abs(residuals), block[p + 1]
                n_clipped += int(np.count_nonzero(sizes > cap)) if count else 0
                clipped = np.copysign(np.minimum(sizes, cap), residuals)
                sums += np.dot(block[:p], clipped).astype(np.int64)
        return sums, n_clipped


@dataclass(frozen=True)
class WeightedPlan(PreconditionedPlan):
    """What one preconditioned descent of weighted rows will do: at the price of one without weights.

    Guarantee
    ---------
    A weight is part of its record. Residual times weight is a function of one record and public numbers, and is clipped
    as a residual is; rows of the Gram matrix are no longer than without weights. So the event holds as it stands.
    Proof: docs/proofs/front_door.md
    """

    def _n_counted(self, gram: NDArray[np.float64]) -> int:
        """Return the sum of the weights, which the release has in its corner."""
        n_rows = self.settings.n_rows
        return max(1, round(min(float(gram[0, 0]), n_rows))) if self.layout.intercept else n_rows

    def _whitened(self, rows: GriddedRows, public: Whitener, link: Link, *, threads: int) -> WhitenedRows:
        plain = super()._whitened(rows, public, link, threads=threads)
        pairs = zip(plain.private_blocks, rows.private_blocks, strict=True)
        blocks = tuple(np.concatenate([block, codes[self.layout.width :]]) for block, codes in pairs)
        return WeightedRows(blocks, plain.clip, link, plain.unit)
