"""By how much each entry of a Gram matrix can change between neighbours: the half-widths of l-infinity noise."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from discreet.privacy.adjacency import Replace

if TYPE_CHECKING:
    from discreet.lattice.grid import Layout
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.events.noise import KNormEvent


def gram_half_widths(layout: Layout, adjacency: Adjacency, *, every_row_counts: bool) -> list[list[int]]:
    """Return the largest change of every entry of the Gram matrix between neighbours, in squared grid steps.

    Parameters
    ----------
    layout : Layout
        The public grid of a row.
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    every_row_counts : bool
        Whether it is public that every record contributes its row, and none is dropped.

    Returns
    -------
    list of D lists of D ints
        Symmetric.

    Guarantee
    ---------
    AddRemove: `M_i M_j`. Replace: the width of the interval of `v_i v_j`, which is `2 M_i M_j` off the diagonal and
    `M_i**2` on it where both columns reach from -M to M, and less where they do not. The corner of the intercept has
    0 where every row counts. The change of a Gram matrix between neighbours then has a gauge of at most 1.
    Proof: docs/proofs/k_norm.md.

    Examples
    --------
    >>> from discreet.lattice.grid import Coding, Layout
    >>> from discreet.privacy.adjacency import AddRemove, Replace
    >>> layout = Layout(["a"], [Coding.centered(0, 1, bits=1)], intercept=True, bits=1)
    >>> gram_half_widths(layout, AddRemove(), every_row_counts=False)
    [[4, 4], [4, 4]]
    >>> gram_half_widths(layout, Replace(), every_row_counts=True)
    [[0, 8], [8, 4]]
    """
    # Not `rows_changed` times a bound: of a record in another's place both products are from one interval.
    if not isinstance(adjacency, Replace):
        bounds = layout.entry_bounds
        return [[one * other for other in bounds] for one in bounds]
    steps = 2**layout.bits
    limits = [(steps, steps)] * layout.intercept + [(coding.lowest, coding.highest) for coding in layout.codings]
    # A record that contributes nothing is the zero row. Without an intercept it is allowed for in any case.
    absent = not (layout.intercept and every_row_counts)
    return [
        [_width(one, other, same=i == j, absent=absent) for j, other in enumerate(limits)]
        for i, one in enumerate(limits)
    ]


def half_widths_of(event: KNormEvent, layout: Layout) -> list[list[int]]:
    """Return the half-widths of an event's noise: its dimension says whether every row counts."""
    widest = gram_half_widths(layout, event.adjacency, every_row_counts=False)
    if event.dimension == n_noisy(widest):
        return widest
    return gram_half_widths(layout, event.adjacency, every_row_counts=True)


def n_noisy(half_widths: list[list[int]]) -> int:
    """Return how many distinct entries have a half-width above 0."""
    return sum(half_widths[i][j] > 0 for i in range(len(half_widths)) for j in range(i, len(half_widths)))


def _width(one: tuple[int, int], other: tuple[int, int], *, same: bool, absent: bool) -> int:
    """Return the width of the interval of the products."""
    products = [a * b for a, b in itertools.product(one, other)]
    if same:
        # A square: also of the numbers between the limits.
        products = [limit * limit for limit in one] + [0] * (one[0] <= 0 <= one[1])
    if absent:
        products.append(0)
    return max(products) - min(products)
