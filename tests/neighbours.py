"""Layouts of the tests of sensitivities, and the neighbours that audits share with them."""

from __future__ import annotations

from discreet.audit.neighbours import (
    category_levels,
    category_pairs,
    change,
    comparable,
    corner_pairs,
    corners,
    every_row,
    frobenius_squared,
    l1_distinct,
    neighbouring_tables,
    nuclear_squared,
    random_pairs,
    random_row,
    zero_row,
)
from discreet.lattice.grid import Coding, Layout

__all__ = [
    "box_layout",
    "category_layout",
    "category_levels",
    "category_pairs",
    "change",
    "comparable",
    "corner_pairs",
    "corners",
    "every_row",
    "frobenius_squared",
    "l1_distinct",
    "neighbouring_tables",
    "nuclear_squared",
    "random_pairs",
    "random_row",
    "uneven_layout",
    "zero_row",
]


def box_layout(width: int, *, intercept: bool, bits: int = 4) -> Layout:
    """Return a layout of `width` grid columns that all reach K: numbers, and the constant when asked for."""
    make = Coding.centered if intercept else Coding.uncentered
    codings = [make(-1.0, 1.0, bits)] * (width - intercept)
    return Layout([f"x{j}" for j in range(len(codings))], codings, intercept=intercept, bits=bits)


def uneven_layout(*, intercept: bool, bits: int = 4) -> Layout:
    """Return a layout whose entries have different bounds."""
    if intercept:
        codings = [Coding.centered(0, 9, bits), Coding.flag(bits), Coding.dummy(3, bits)]
    else:
        codings = [Coding.uncentered(-4, 9, bits), Coding.indicator(bits), Coding(-3.0, 5.0, 0.0, 1.0)]
    return Layout(["a", "b", "c"], codings, intercept=intercept, bits=bits)


def category_layout(n_dummies: int, *, bits: int = 4) -> Layout:
    """Return the layout of (1, number, dummies of one category), whose row norm is that of its worst level."""
    codings = [Coding.centered(0, 1, bits)] + [Coding.dummy(n_dummies, bits)] * n_dummies
    steps = 2**bits
    worst = max(sum(entry**2 for entry in level) for level in category_levels(n_dummies, bits=bits))
    names = ["number"] + [f"level{j}" for j in range(n_dummies)]
    return Layout(names, codings, intercept=True, bits=bits, row_norm_squared=2 * steps**2 + worst)
