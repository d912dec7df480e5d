"""Features of new records in their own units, for the predictions of a fitted model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidArgument
from discreet.tables.complete_block import CompleteBlock
from discreet.tables.features import expand
from discreet.tables.formula import parse
from discreet.tables.readers.tables import Table, open_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from discreet.tables.schema.schema import Schema


def columns_of(schema: Schema, formula: str, *, labels: bool = False) -> list[str]:
    """Return the columns that a formula's right side needs, in its order."""
    parsed = parse(formula, schema.columns, with_target=True, labels=labels)
    return list(dict.fromkeys(factor.column for term in parsed.terms for factor in term.factors))


def feature_blocks(
    data: Any, schema: Schema, formula: str, feature_names: Sequence[str], *, labels: bool = False
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.bool_]]]:
    """Yield the features of a formula's right side for the records of `data`, in their order.

    Parameters
    ----------
    data : path, ndarray, data frame, Arrow data, or Table
        Records with the columns that the formula's right side names.
    schema : Schema
        The declarations under which the model was fitted: cells are clipped, and missing ones treated, as then.
    formula : str
        The model's formula.
    feature_names : sequence of str
        The model's features, for a check that formula and schema still mean the same.
    labels : bool
        Whether the formula's target is a label.

    Yields
    ------
    features : ndarray of float64, shape (n, n_features)
    kept : ndarray of bool, shape (n,)
        False where a cell is missing whose policy is "drop".

    Raises
    ------
    InvalidData
        If a column is absent, or a cell is missing in a column whose policy is "error"; names the column.
    """
    columns = schema.columns
    parsed = parse(formula, columns, with_target=True, labels=labels)
    features = [feature for block in expand(parsed, columns) for feature in block.features]
    if [feature.name for feature in features] != list(feature_names):
        raise InvalidArgument(
            "The model's formula and schema do not give its features, so its file was changed. "
            "Take it from its author again."
        )
    needed = {name: columns[name] for name in dict.fromkeys(name for f in features for name in f.columns)}
    # Whose a record is does not matter to a prediction.
    table = data if isinstance(data, Table) else open_table(data, schema.of_single_rows(), list(needed))
    for block in table.blocks():
        complete = CompleteBlock(block, needed)
        values = np.empty((len(features), block.n_rows))
        for row, feature in zip(values, features, strict=True):
            complete.multiply(feature, row)
        kept = np.ones(block.n_rows, dtype=bool) if complete.dropped is None else ~complete.dropped
        yield values.T, kept


def margins_of(rows: Any, coefs: NDArray[np.float64], constants: Any) -> NDArray[np.float64]:
    """Return `rows @ coefs + constants`; a warning of an overflow would tell of a cell."""
    with np.errstate(all="ignore"):
        return np.asarray(rows @ coefs + constants)
