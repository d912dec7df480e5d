"""From the terms of a formula to the columns of a design: R's rule for categories, names, public limits, codings."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.errors import DiscreetError, InvalidArgument, InvalidFormula
from discreet.lattice.bounds import LARGEST_BOUND
from discreet.lattice.grid import Coding
from discreet.tables.formula import Factor
from discreet.tables.schema.columns import Category, Flag, Number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from discreet.tables.formula import Formula, Term
    from discreet.tables.schema.columns import Column

Key = tuple[frozenset[Factor], frozenset[tuple[str, int]]]


@dataclass(frozen=True, slots=True)
class Feature:
    """One column of a design: a product of numbers, where given levels and flags are hit, else 0.

    Parameters
    ----------
    name : str
        As coefficients are called: ``age``, ``education[HS-grad]``, ``age:sex[Male]``, ``I(age ** 2)``.
    numbers : tuple of Factor
        Number columns and their powers, multiplied in this order; none means the constant 1.
    hits : tuple of (str, int)
        Categories with the position of the level that must be there, and flags with 1.
    """

    name: str
    numbers: tuple[Factor, ...]
    hits: tuple[tuple[str, int], ...]

    @property
    def key(self) -> Key:
        """What makes two features the same: the factors in any order."""
        return frozenset(self.numbers), frozenset(self.hits)

    @property
    def columns(self) -> tuple[str, ...]:
        """The table's columns that the feature is made of."""
        return tuple(factor.column for factor in self.numbers) + tuple(column for column, _ in self.hits)


@dataclass(frozen=True, slots=True)
class TermFeatures:
    """The features of one term: of those without numbers at most one is 1 in any row."""

    features: tuple[Feature, ...]


def expand(formula: Formula, columns: Mapping[str, Column]) -> tuple[TermFeatures, ...]:
    """Return the features of every term of `formula`, coding categories by R's rule.

    A category in a term is coded by contrasts to its first level where the term without it is in the model
    (or is the constant), otherwise by all its levels; without an intercept the first category of the formula
    is coded by all its levels.

    Raises
    ------
    InvalidFormula
        If two features would have the same name.
    """
    present: set[frozenset[Factor]] = {term.key for term in formula.terms} | {frozenset()}
    full_main = None
    if not formula.intercept:
        full_main = next(
            (
                (term.key, factor)
                for term in formula.terms
                for factor in term.factors
                if isinstance(columns[factor.column], Category)
            ),
            None,
        )
    blocks = []
    for term in formula.terms:
        full = {
            factor.column
            for factor in term.factors
            if term.key - {factor} not in present or full_main == (term.key, factor)
        }
        blocks.append(TermFeatures(tuple(_features(term, full, columns))))
    names = [feature.name for block in blocks for feature in block.features]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise InvalidFormula(f"Two different terms are both called {twice[0]!r}; rename a column or a level.")
    return tuple(blocks)


def _features(term: Term, full: set[str], columns: Mapping[str, Column]) -> Iterable[Feature]:
    numbers = tuple(factor for factor in term.factors if isinstance(columns[factor.column], Number))
    choices: list[list[tuple[str, tuple[str, int] | None]]] = []
    for factor in term.factors:
        column = columns[factor.column]
        if isinstance(column, Category):
            first = 0 if factor.column in full else 1
            choices.append(
                [
                    (f"{factor.column}[{level}]", (factor.column, code))
                    for code, level in enumerate(column.levels)
                    if code >= first
                ]
            )
        elif isinstance(column, Flag):
            choices.append([(factor.column, (factor.column, 1))])
        else:
            choices.append([(factor.name, None)])
    # As in R, the first category of a term varies fastest.
    for backwards in itertools.product(*reversed(choices)):
        chosen = backwards[::-1]
        yield Feature(":".join(name for name, _ in chosen), numbers, tuple(hit for _, hit in chosen if hit is not None))


def main_effect(name: str, column: Column) -> Feature:
    """Return the feature that is a number or flag column itself, or the second level of a category."""
    if isinstance(column, Number):
        return Feature(name, (Factor(name),), ())
    if isinstance(column, Category):
        return Feature(f"{name}[{column.levels[1]}]", (), ((name, 1),))
    return Feature(name, (), ((name, 1),))


def power_of(value: float, power: int) -> float:
    """Return `value` to the `power` by repeated multiplication from the left, as rows are computed."""
    result = value
    for _ in range(power - 1):
        result = result * value
    return result


def limits_of(numbers: Sequence[Factor], columns: Mapping[str, Column]) -> tuple[float, float]:
    """Return limits of the product of clipped cells as IEEE doubles compute it, by interval arithmetic.

    Rounding is monotone, so the rounded products of the corners bound every rounded product.
    """
    low, high = 1.0, 1.0
    for position, factor in enumerate(numbers):
        column = columns[factor.column]
        assert isinstance(column, Number)  # noqa: S101  (by construction)
        ends = [power_of(column.lower, factor.power), power_of(column.upper, factor.power)]
        if factor.power % 2 == 0 and column.lower < 0.0 < column.upper:
            ends.append(0.0)
        if position == 0:
            low, high = min(ends), max(ends)
        else:
            corners = [a * b for a in (low, high) for b in (min(ends), max(ends))]
            low, high = min(corners), max(corners)
    return low, high


def codings_of(
    blocks: Iterable[TermFeatures], columns: Mapping[str, Column], *, intercept: bool, bits: int
) -> tuple[Coding, ...]:
    """Return the public coding of every feature, on the grid of its limits.

    Raises
    ------
    InvalidArgument
        If the limits of a product are not representable or too narrow; names the feature.
    """
    return tuple(
        _coding(feature, len(block.features), columns, intercept=intercept, bits=bits)
        for block in blocks
        for feature in block.features
    )


def _coding(feature: Feature, n_siblings: int, columns: Mapping[str, Column], *, intercept: bool, bits: int) -> Coding:
    if not feature.numbers:
        if not intercept:
            return Coding.indicator(bits)
        return Coding.flag(bits) if n_siblings == 1 else Coding.dummy(n_siblings, bits)
    low, high = limits_of(feature.numbers, columns)
    if feature.hits:
        low, high = min(low, 0.0), max(high, 0.0)
    if not max(abs(low), abs(high)) <= LARGEST_BOUND:
        raise InvalidArgument(
            f"The limits of `{feature.name}` are too large: the square of a value is not representable. "
            "Declare narrower bounds of its columns."
        )
    # Of several siblings only one is not 0 in a row: kept at 0 the others add nothing to the row's length.
    keeps_zero = not intercept or (bool(feature.hits) and n_siblings > 1)
    try:
        return Coding.uncentered(low, high, bits) if keeps_zero else Coding.centered(low, high, bits)
    except DiscreetError as error:
        reason = str(error)
    raise InvalidArgument(f"Cannot put `{feature.name}` on a grid. {reason}")
