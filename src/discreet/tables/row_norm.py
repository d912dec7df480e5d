"""How long one row can be on the grid: the exact maximum over the levels that a record can have."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.tables.features import limits_of
from discreet.tables.schema.columns import Category

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from discreet.lattice.grid import Coding
    from discreet.tables.features import Feature
    from discreet.tables.schema.columns import Column

MOST_COMBINATIONS = 2**18


def row_norm_squared(
    features: Sequence[Feature],
    codings: Sequence[Coding],
    columns: Mapping[str, Column],
    *,
    intercept: bool,
    bits: int,
) -> int:
    """Return a bound of ``|v|**2``, in squared grid steps, over every row that the declared columns allow.

    Parameters
    ----------
    features, codings : sequences of the same length
        The design and its grid.
    columns : mapping of str to Column
        The declared columns.
    intercept : bool
        Whether grid column 0 is the constant ``K = 2**bits``.
    bits : int
        Fineness.

    Returns
    -------
    int
        Exact where the design has main effects of distinct numbers, flags and categories, and interactions among
        the last two; with products and powers of numbers it is an upper bound.

    Notes
    -----
    *Guarantee.* A feature without categories and flags contributes at most ``coding.largest**2``.
    Categories and flags that share a feature form a component; every combination of a component's levels is tried,
    and a feature counts the square of its coded 0 where its levels are not hit, and where they are the larger of its
    coded limits squared (coding is monotone).
    Components are independent, so their maxima add.
    A component of more than 2**18 combinations falls back to the sum of its features' largest squares.
    Proof: docs/proofs/gram.md.
    """
    total = 4**bits if intercept else 0
    members: list[tuple[Feature, int, int]] = []
    for feature, coding in zip(features, codings, strict=True):
        if not feature.hits:
            total += coding.largest**2
            continue
        low, high = limits_of(feature.numbers, columns) if feature.numbers else (1.0, 1.0)
        absent, *ends = (int(q) ** 2 for q in coding.encode([0.0, low, high]))
        members.append((feature, absent, max(ends)))
    return total + sum(_longest(group, columns) for group in _components(members))


def _components(members: Iterable[tuple[Feature, int, int]]) -> list[list[tuple[Feature, int, int]]]:
    groups: list[tuple[set[str], list[tuple[Feature, int, int]]]] = []
    for member in members:
        touched = {column for column, _ in member[0].hits}
        together = [member]
        apart = []
        for names, group in groups:
            if names & touched:
                touched |= names
                together = group + together
            else:
                apart.append((names, group))
        groups = [*apart, (touched, together)]
    return [group for _, group in groups]


def _longest(group: Sequence[tuple[Feature, int, int]], columns: Mapping[str, Column]) -> int:
    names = list(dict.fromkeys(name for feature, _, _ in group for name, _ in feature.hits))
    sizes = [len(column.levels) if isinstance(column := columns[name], Category) else 2 for name in names]
    if math.prod(sizes) > MOST_COMBINATIONS:
        return sum(max(absent, present) for _, absent, present in group)
    base = sum(absent for _, absent, _ in group)
    # At most 20 bits, hence squares below 2**42: a million features still fit.
    extra = np.zeros(sizes, dtype=np.int64)
    for feature, absent, present in group:
        hit = dict(feature.hits)
        place = tuple(hit.get(name, slice(None)) for name in names)
        extra[place] += present - absent
    return base + int(extra.max())
