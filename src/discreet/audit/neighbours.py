"""Worst-case neighbours, for audits and for tests of sensitivities: one home for both.

Three kinds. *Rows on the grid*: a pair ``(v, u)`` says that the one table holds the grid row ``v`` where the other
holds ``u``; under AddRemove the other holds nothing, and ``u`` is the zero row. Rows are tuples of Python integers, so
nothing here can round or overflow. *Raw tables* that differ in one record, many of whose cells lie at a limit or
beyond. *Extremal tables*: the records that move a statistic furthest, chosen by hand, such as a full row against
zeros, or a target at its one limit against the other.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.privacy.adjacency import AddRemove, Adjacency

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from discreet.lattice.grid import Layout

Row = tuple[int, ...]
Pair = tuple[Row, Row]


# --- rows and pairs on the grid


def category_levels(n_dummies: int, *, bits: int = 4) -> list[Row]:
    """Return the dummies' grid rows of every level, the reference first."""
    from discreet.lattice.grid import Coding

    coding = Coding.dummy(n_dummies, bits)
    off, on = coding.lowest, coding.highest
    return [tuple(on if j == level else off for j in range(n_dummies)) for level in range(-1, n_dummies)]


def zero_row(layout: Layout) -> Row:
    """Return what stands for an absent record."""
    return (0,) * layout.width


def random_row(rng: np.random.Generator, layout: Layout) -> Row:
    """Return a row within the entry bounds and the row norm; half of its entries sit at a bound."""
    free = []
    for bound in layout.entry_bounds[layout.intercept :]:
        corner = bool(rng.integers(2))
        free.append(int(rng.choice([-bound, bound])) if corner else int(rng.integers(-bound, bound + 1)))
    constant = (2**layout.bits,) if layout.intercept else ()
    room = layout.row_norm_squared - _squared(constant)
    while _squared(tuple(free)) > room:  # toward zero, until the norm holds in integers
        shrink = math.isqrt(room * 2**40 // _squared(tuple(free)))
        free = [int(math.copysign(abs(entry) * shrink // 2**20, entry)) for entry in free]
    return constant + tuple(free)


def random_pairs(rng: np.random.Generator, layout: Layout, adjacency: Adjacency, count: int) -> Iterator[Pair]:
    """Yield `count` random neighbours."""
    for _ in range(count):
        row = random_row(rng, layout)
        yield row, zero_row(layout) if isinstance(adjacency, AddRemove) else random_row(rng, layout)


def corners(layout: Layout) -> Iterator[Row]:
    """Yield the corners of the box, up to the sign that a Gram matrix cannot see; all of them: keep the width small."""
    first, *others = layout.entry_bounds
    for signs in itertools.product((1, -1), repeat=len(others)):
        yield (first, *(sign * bound for sign, bound in zip(signs, others, strict=True)))


def corner_pairs(layout: Layout, adjacency: Adjacency) -> Iterator[Pair]:
    """Yield the corner against each other corner (Replace; nearly orthogonal ones among them) or against nothing."""
    top = next(corners(layout))
    if isinstance(adjacency, AddRemove):
        yield top, zero_row(layout)
        return
    for other in corners(layout):
        yield top, other
    # The record that is all zeros is a row like any other, unless it must carry the constant.
    yield top, (2**layout.bits * layout.intercept, *zero_row(layout)[1:])


def category_pairs(n_dummies: int, adjacency: Adjacency, *, bits: int = 4) -> Iterator[Pair]:
    """Yield neighbours of `category_layout` with every pair of levels and the number at its limits."""
    steps = 2**bits
    rows = [(steps, x, *level) for x in (-steps, 0, steps) for level in category_levels(n_dummies, bits=bits)]
    if isinstance(adjacency, AddRemove):
        yield from ((row, (0,) * (n_dummies + 2)) for row in rows)
    else:
        yield from itertools.product(rows, repeat=2)


def every_row(layout: Layout) -> Iterator[Row]:
    """Yield every row of integers within the entry bounds and the row norm; small grids only."""
    bounds = layout.entry_bounds
    ranges = [range(-bound, bound + 1) for bound in bounds]
    if layout.intercept:
        ranges[0] = range(bounds[0], bounds[0] + 1)
    yield from (row for row in itertools.product(*ranges) if _squared(row) <= layout.row_norm_squared)


# --- what a pair changes, exactly


def change(norm: str, pair: Pair) -> int:
    """Return the size of ``v v' - u u'`` in the units of `comparable`: the nuclear norm is squared."""
    return {"nuclear": nuclear_squared, "l1": l1_distinct, "frobenius_squared": frobenius_squared}[norm](*pair)


def comparable(norm: str, sensitivity: int) -> int:
    """Return a declared sensitivity in the units of `change`."""
    return sensitivity**2 if norm == "nuclear" else sensitivity


def nuclear_squared(v: Row, u: Row) -> int:
    """Return the square of the nuclear norm of ``v v' - u u'``.

    The matrix has rank two at most: trace ``|v|^2 - |u|^2``, and a product of its two eigenvalues of
    ``(v.u)^2 - |v|^2 |u|^2 <= 0``.  One is at least 0 and one at most 0, so the sum of their sizes is their
    difference, ``sqrt(trace^2 - 4 product) = sqrt((|v|^2 + |u|^2)^2 - 4 (v.u)^2)``.
    """
    return (_squared(v) + _squared(u)) ** 2 - 4 * _inner(v, u) ** 2


def l1_distinct(v: Row, u: Row) -> int:
    """Return the sum of the sizes of the distinct entries of ``v v' - u u'``."""
    pairs = itertools.combinations_with_replacement(range(len(v)), 2)
    return sum(abs(v[i] * v[j] - u[i] * u[j]) for i, j in pairs)


def frobenius_squared(v: Row, u: Row) -> int:
    """Return the square of the Frobenius norm of ``v v' - u u'``, entry by entry."""
    return sum((v[i] * v[j] - u[i] * u[j]) ** 2 for i, j in itertools.product(range(len(v)), repeat=2))


def _inner(v: Row, u: Row) -> int:
    return sum(a * b for a, b in zip(v, u, strict=True))


def _squared(v: Row) -> int:
    return _inner(v, v)


# --- raw tables


def neighbouring_tables(
    rng: np.random.Generator, layout: Layout, adjacency: Adjacency, n_rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return two raw tables, float64 of shape (n, n_columns), one row apart; many cells lie at or beyond a limit."""
    limits = np.array([(coding.lower, coding.upper) for coding in layout.codings])
    low, high = limits[:, 0], limits[:, 1]
    table = low + (high - low) * rng.uniform(-0.5, 1.5, size=(n_rows, len(low)))
    at = int(rng.integers(n_rows))
    if isinstance(adjacency, AddRemove):
        return table, np.delete(table, at, axis=0)
    other = table.copy()
    other[at] = np.where(rng.integers(2, size=len(low)) == 1, low, high)
    return table, other


# --- extremal tables

# So many times beyond its declared bounds lies the record that differs: what clips it shows, and what does not.
BEYOND = 4.0


@dataclass(frozen=True, eq=False)
class MadeUpTable:
    """Made-up records.

    Parameters
    ----------
    X : ndarray of float64, shape (n_rows, n_columns)
        Features.
    y : ndarray of float64, shape (n_rows,)
        Targets.
    """

    X: NDArray[np.float64]
    y: NDArray[np.float64]


def one_record_apart(
    rest: MadeUpTable, record: tuple[NDArray[np.float64], float], other: tuple[NDArray[np.float64], float] | None
) -> tuple[MadeUpTable, MadeUpTable]:
    """Return a table with a record, and the same with another one in its place, or, where it is None, without it.

    The record is the last one, so that the position of no other changes.

    Parameters
    ----------
    rest : MadeUpTable
        What both have; may be empty.
    record, other : pair of ndarray and float
        Features and target.
    """
    tables = []
    for one in (record, other):
        if one is None:
            tables.append(rest)
            continue
        features, target = one
        tables.append(MadeUpTable(np.vstack([rest.X, features]), np.append(rest.y, target)))
    return tables[0], tables[1]


def full_row(n_columns: int, *, row_norm: float, entry_bound: float) -> NDArray[np.float64]:
    """Return the row with the most entries at their bound that the norm admits; the rest of the norm in one more.

    Examples
    --------
    >>> full_row(4, row_norm=1.0, entry_bound=0.75).round(3).tolist()
    [0.75, 0.661, 0.0, 0.0]
    """
    row = np.zeros(n_columns)
    n_full = min(n_columns, int(row_norm**2 / entry_bound**2))
    row[:n_full] = entry_bound
    if n_full < n_columns:
        row[n_full] = math.sqrt(max(row_norm**2 - n_full * entry_bound**2, 0.0))
    return row


def sign_flip(
    adjacency: Adjacency, rest: MadeUpTable, features: NDArray[np.float64], limits: tuple[float, float]
) -> tuple[MadeUpTable, MadeUpTable]:
    """Return tables whose last record has its target at one limit or the other; under AddRemove it has one or is gone.

    Where residuals are clipped far below the limits, every gradient moves by all that it can, whatever the iterate.

    Parameters
    ----------
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    rest : MadeUpTable
        What both have.
    features : ndarray of float64, shape (n_columns,)
        Of the last record, such as `full_row`.
    limits : tuple of float
        Of the target.
    """
    other = None if isinstance(adjacency, AddRemove) else (features, limits[0])
    return one_record_apart(rest, (features, limits[1]), other)


def zero_against_full(
    adjacency: Adjacency, rest: MadeUpTable, features: NDArray[np.float64], target: float
) -> tuple[MadeUpTable, MadeUpTable]:
    """Return tables whose last record is full, or all zeros; under AddRemove it is full or gone.

    Parameters
    ----------
    adjacency, rest, features
        As in `sign_flip`.
    target : float
        Of the full record.
    """
    other = None if isinstance(adjacency, AddRemove) else (np.zeros_like(features), 0.0)
    return one_record_apart(rest, (features, target), other)


def opposed_rows(
    adjacency: Adjacency, rest: MadeUpTable, features: NDArray[np.float64], target: float
) -> tuple[MadeUpTable, MadeUpTable]:
    """Return tables whose last record is a row, or the same with half of its signs turned.

    Parameters
    ----------
    adjacency, rest, features
        As in `sign_flip`.
    target : float
        Of both.
    """
    turned = features.copy()
    turned[: (features.size + 1) // 2] *= -1
    return one_record_apart(rest, (features, target), None if isinstance(adjacency, AddRemove) else (turned, target))


def zeros(n_rows: int, n_columns: int, target: float = 0.0) -> MadeUpTable:
    """Return records of zeros: what both tables have where nothing but the last record should count."""
    return MadeUpTable(np.zeros((n_rows, n_columns)), np.full(n_rows, target))
