"""Declared columns in words, for people who read what was promised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.tables.schema.columns import Category, Constant, Date, Number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.tables.schema.columns import Column

# More levels than this are counted.
_MOST_LEVELS = 12


def declared_texts(columns: Mapping[str, Column]) -> tuple[tuple[str, str], ...]:
    """Return what each column declares, in words.

    Examples
    --------
    >>> declared_texts({"age": Number(17, 90, missing="drop")})
    (('age', 'number from 17 to 90; a record without it contributes nothing'),)
    """
    return tuple((name, _words(column)) for name, column in columns.items())


def _words(column: Column) -> str:
    if isinstance(column, Date):
        text = f"date from {column.first} to {column.last}"
    elif isinstance(column, Number):
        text = f"number from {column.lower:.15g} to {column.upper:.15g}"
    elif isinstance(column, Category):
        shown = ", ".join(column.levels[:_MOST_LEVELS])
        more = len(column.levels) - _MOST_LEVELS
        text = f"category: {shown}" + (f" and {more} more" if more > 0 else "")
    else:
        text = "flag, 0 or 1"
    if column.missing == "drop":
        text += "; a record without it contributes nothing"
    elif isinstance(column.missing, Constant):
        constant = column.missing.value
        text += f"; where missing, {constant if isinstance(constant, str) else f'{constant:.15g}'}"
    return text + (f". {column.description}" if column.description else "")
