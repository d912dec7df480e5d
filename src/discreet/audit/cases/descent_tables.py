"""Tables for audits of descent and its rivals: the record that differs lies beyond all of its bounds.

Where residuals are clipped far below the target's limits, a record whose target changes sides moves the gradient by
all that it can at *every* iterate, so that several steps together show all of what they cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.neighbours import BEYOND, MadeUpTable, full_row, one_record_apart, sign_flip, zeros
from discreet.privacy.adjacency import AddRemove, Replace

if TYPE_CHECKING:
    from discreet.privacy.adjacency import Adjacency

NORM = 1.0
# Limits of targets, and where their residuals are clipped.
LIMITS, CLIP = (-8.0, 8.0), 0.5
FAR = (BEYOND * LIMITS[0], BEYOND * LIMITS[1])
N_REST = 4
REPLACE = Replace()


def flipped(adjacency: Adjacency, n_columns: int, entry_bound: float = NORM) -> tuple[MadeUpTable, MadeUpTable]:
    """Return tables whose last record is full and has its target beyond the one limit or the other, or is gone."""
    features = BEYOND * full_row(n_columns, row_norm=NORM, entry_bound=entry_bound)
    return sign_flip(adjacency, zeros(N_REST, n_columns), features, FAR)


def contested(n_columns: int) -> tuple[MadeUpTable, MadeUpTable]:
    """Return tables of two full records that agree, and that contradict each other: no choice is then likelier."""
    features = BEYOND * full_row(n_columns, row_norm=NORM, entry_bound=NORM / np.sqrt(n_columns))
    agreeing = MadeUpTable(features[np.newaxis], np.array([FAR[1]]))
    return sign_flip(REPLACE, agreeing, features, FAR)


def turned(adjacency: Adjacency = REPLACE) -> tuple[MadeUpTable, MadeUpTable]:
    """Return tables whose last record is of the one column or of the other; under AddRemove it is of one, or gone."""
    axes = BEYOND * np.eye(2)
    other = None if adjacency == AddRemove() else (axes[1], FAR[1])
    return one_record_apart(zeros(N_REST, 2), (axes[0], FAR[1]), other)


def sparse_halves(table: MadeUpTable) -> Any:
    """Return the features as a sparse matrix that has every entry in two halves."""
    import scipy.sparse

    halves = scipy.sparse.coo_array(table.X / 2)
    twice = (np.tile(halves.data, 2), tuple(np.tile(place, 2) for place in halves.coords))
    return scipy.sparse.coo_array(twice, shape=table.X.shape)


@dataclass(frozen=True, eq=False)
class MadeUpSparseTable:
    """Made-up records with sparse features."""

    X: Any
    y: Any


def labelled(tables: tuple[MadeUpTable, MadeUpTable]) -> tuple[MadeUpTable, MadeUpTable]:
    """Return the tables with 1 for every target above 0, and 0 for the others."""
    first, second = (MadeUpTable(table.X, (table.y > 0).astype(float)) for table in tables)
    return first, second
