"""Which linear combinations of a release's columns a formula asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InvalidFormula
from discreet.tables.features import Feature, expand, main_effect
from discreet.tables.formula import RELEASE, parse
from discreet.tables.schema.columns import Category

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.lattice.grid import Layout
    from discreet.tables.features import Key
    from discreet.tables.schema.columns import Column


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """A regression written in terms of a release's columns ``(1, z_1, ...)``.

    Attributes
    ----------
    target : str
        The target's name.
    target_index : int
        Its position among the release's columns, the constant counted where there is one.
    names : tuple of str
        The model's features, without the constant.
    intercept : bool
        Whether the model has a constant.
    rows : ndarray of float64, shape (n_features, width)
        Every row writes one feature as a linear combination of the release's columns.
    """

    target: str
    target_index: int
    names: tuple[str, ...]
    intercept: bool
    rows: NDArray[np.float64]


def select(
    text: str,
    *,
    columns: Mapping[str, Column],
    features: Sequence[Feature],
    layout: Layout,
    labels: bool = False,
) -> Selection:
    """Return how the regression `text` is written in terms of a design's features on their layout.

    A level that the release left out as its reference is the constant less the other levels, and a column whose
    interaction with every level was released is their sum; so a model without intercept can be had from a release
    with one.
    With `labels` the target is a flag or a category of two levels, and counts as 0 and 1.

    Raises
    ------
    InvalidFormula
        If the formula needs what was not released; names it.
    """
    formula = parse(text, columns, with_target=True, unknown=RELEASE, labels=labels)
    if formula.intercept and not layout.intercept:
        raise InvalidFormula("The release has no intercept, so no model with one can be had from it. Write '- 1'.")
    resolver = _Resolver(columns, features, layout)
    assert formula.target is not None  # noqa: S101  (parsed with a target)
    target = resolver.place(main_effect(formula.target, columns[formula.target]))
    if target is None:
        raise InvalidFormula(_not_released(formula.target, layout))
    wanted = [feature for block in expand(formula, columns) for feature in block.features]
    rows = []
    for feature in wanted:
        row = resolver.row(feature)
        if row is None:
            raise InvalidFormula(_not_released(feature.name, layout))
        rows.append(row)
    names = tuple(feature.name for feature in wanted)
    return Selection(formula.target, target, names, formula.intercept, np.array(rows))


def _not_released(name: str, layout: Layout) -> str:
    names = list(layout.names)
    shown = ", ".join(f"`{name}`" for name in names[:12]) + (", ..." if len(names) > 12 else "")
    return f"`{name}` was not released. The release has {shown}; make a new release with it among its terms."


class _Resolver:
    """Finds the linear combination of released columns that is a feature."""

    def __init__(self, columns: Mapping[str, Column], features: Sequence[Feature], layout: Layout) -> None:
        self._columns = columns
        self._width = layout.width
        first = int(layout.intercept)
        self._places: dict[Key, int] = {feature.key: first + j for j, feature in enumerate(features)}
        if first:
            self._places[frozenset(), frozenset()] = 0

    def place(self, feature: Feature) -> int | None:
        """Return the position of the released column that is `feature`, if there is one."""
        return self._places.get(feature.key)

    def row(self, feature: Feature) -> NDArray[np.float64] | None:
        """Return `feature` as a combination of released columns, or None."""
        place = self.place(feature)
        if place is not None:
            unit = np.zeros(self._width)
            unit[place] = 1.0
            return unit
        return self._from_other_levels(feature) if feature.hits else self._from_all_levels(feature)

    def _from_other_levels(self, feature: Feature) -> NDArray[np.float64] | None:
        """Write a reference level as what is there without the category, less the other levels."""
        for j, (name, code) in enumerate(feature.hits):
            column = self._columns[name]
            if not isinstance(column, Category) or code != 0:
                continue
            rest = Feature("", feature.numbers, feature.hits[:j] + feature.hits[j + 1 :])
            others = [self._at(feature, j, other) for other in range(1, len(column.levels))]
            whole, *parts = [row for row in map(self.row, [rest, *others]) if row is not None]
            if len(parts) == len(others):
                return np.asarray(whole - np.sum(parts, axis=0))
        return self._from_all_levels(feature)

    def _from_all_levels(self, feature: Feature) -> NDArray[np.float64] | None:
        """Write a feature as the sum of its released interactions with every level of a category."""
        numbers, hits = feature.key
        for name, column in self._columns.items():
            if not isinstance(column, Category) or any(name == other for other, _ in hits):
                continue
            keys = [(numbers, hits | {(name, code)}) for code in range(len(column.levels))]
            if all(key in self._places for key in keys):
                row = np.zeros(self._width)
                row[[self._places[key] for key in keys]] = 1.0
                return row
        return None

    @staticmethod
    def _at(feature: Feature, j: int, code: int) -> Feature:
        name = feature.hits[j][0]
        return Feature("", feature.numbers, (*feature.hits[:j], (name, code), *feature.hits[j + 1 :]))
