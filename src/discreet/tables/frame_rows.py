"""Frames of scikit-learn's users under a schema: the features stand in the frame, the target apart."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidArgument, InvalidData, InvalidType
from discreet.tables.arrays import UNEQUAL
from discreet.tables.blocks import RecordBlock, Table
from discreet.tables.design import Design
from discreet.tables.readers.tables import open_rows
from discreet.tables.schema.columns import Category, Constant, Flag, Number
from discreet.tables.schema.labels import refuse_encoded
from discreet.tables.schema.schema import Schema
from discreet.tables.units import refuse_unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from discreet.lattice.bounds import Interval


@dataclass(frozen=True, eq=False)
class Target:
    """A private target with its declaration.

    Parameters
    ----------
    name : str
        How messages and terms call it.
    column : Number
        Its public range and what happens to missing cells.
    private_values : ndarray of float64, shape (n_rows,)
        In the units of `column`; NaN for missing.
    trouble : str or None
        What is said of a missing cell under policy "error".
    """

    name: str
    column: Number
    private_values: NDArray[np.float64]
    trouble: str | None = None


class JoinedTable(Table):
    """A table of features with a target that stood apart, in the same order."""

    def __init__(self, table: Table, target: Target) -> None:
        self._table = table
        self._target = target
        self.size_hint, self.reads_once, self.unit = table.size_hint, table.reads_once, table.unit

    def blocks(self) -> Iterator[RecordBlock]:
        """Yield the records with their targets.

        Raises
        ------
        InvalidData
            If there are more or fewer records than targets; neither is counted aloud.
        """
        name, values = self._target.name, self._target.private_values
        trouble = {} if self._target.trouble is None else {name: self._target.trouble}
        start = 0
        for block in self._table.blocks():
            stop = start + block.n_rows
            cells = values[start:stop]
            if len(cells) < block.n_rows:
                raise InvalidData(UNEQUAL)
            yield RecordBlock(block.n_rows, {**block.columns, name: cells}, {**block.troubles, **trouble})
            start = self.position = stop
        if start != len(values):
            raise InvalidData(UNEQUAL)


def check_schema(schema: Any) -> Schema:
    """Return `schema` if it is one."""
    if isinstance(schema, Schema):
        return schema
    raise InvalidType(f"`schema` must be a Schema; found {type(schema).__name__}. Use Schema.from_toml(path).")


def name_of(y: Any) -> str:
    """Return the name that a frame's column has, or "y"."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"


def number_target(y: Any, schema: Schema, y_bounds: Interval | None) -> Target:
    """Return a target that is a number: its bounds are `y_bounds`, or those that the schema declares of its name.

    Raises
    ------
    InvalidArgument
        If neither declares it, or the schema declares it as a category.
    """
    name = name_of(y)
    declared = schema.columns.get(name)
    if declared is None and y_bounds is not None:
        declared = Number(y_bounds.lower, y_bounds.upper)
    if isinstance(declared, Flag):
        declared = Number(0, 1, missing=declared.missing)
    if not isinstance(declared, Number):
        raise InvalidArgument(
            f"The target {name!r} is not declared as a number in the schema. Declare it, give `y` as a column of that "
            "name, or give `y_bounds`."
        )
    if y_bounds is not None:
        declared = Number(y_bounds.lower, y_bounds.upper, missing=declared.missing)
    values, trouble = _read(y, name, declared, schema)
    return Target(name, declared, values, trouble)


def label_target(y: Any, schema: Schema) -> tuple[Target, NDArray[Any]] | None:
    """Return a target of labels coded -1 and +1 with its classes, or None where the schema does not declare it.

    Raises
    ------
    InvalidArgument
        If the schema declares it as a number, or as a category of more than two levels.
    """
    name = name_of(y)
    declared = schema.columns.get(name)
    if declared is None:
        return None
    if isinstance(declared, Number) or (isinstance(declared, Category) and len(declared.levels) != 2):
        raise InvalidArgument(
            f"Only binary classification is supported. Declare the target {name!r} as a flag or as a category of two "
            "levels, or give `classes`."
        )
    classes: NDArray[Any] = np.array([0, 1])
    if isinstance(declared, Category):
        values, classes = level_codes(y, name, declared, schema), np.array(declared.levels)
    else:
        values, _ = _read(y, name, declared, schema)
    signs = 2.0 * values - 1.0
    missing: Any = declared.missing
    if isinstance(missing, Constant):
        missing = Constant(2.0 * classes.tolist().index(missing.value) - 1.0)
    trouble = "a label is missing or is none of the declared ones"
    return Target(name, Number(-1, 1, missing=missing), signs, trouble), classes


def level_codes(y: Any, name: str, declared: Category, schema: Schema) -> NDArray[np.float64]:
    """Return the positions of a category's levels in a target, read as in any table; NaN where none is.

    Raises
    ------
    InvalidData
        If the target as a whole holds numbers and no level is one.
    """
    if not _reads_numbers(declared):
        refuse_encoded(np.asarray(y), np.array(declared.levels), name=name, declared_as="the schema")
    values, _ = _read(y, name, declared, schema)
    values[values < 0] = np.nan
    return values


def _reads_numbers(declared: Category) -> bool:
    """Return whether a category has a level, or another spelling of one, that cells of numbers may stand for."""
    spellings = {*declared.levels, *dict(declared.labels)}
    return any(text[:1] in "-+.0123456789" or text.casefold() in {"true", "false"} for text in spellings)


def _read(y: Any, name: str, declared: Any, schema: Schema) -> tuple[NDArray[np.float64], str | None]:
    from discreet.tables.cells.columns import ColumnReader
    from discreet.tables.readers.frames import read_column

    values, trouble = read_column(ColumnReader(name, declared, schema.reading), y)
    return np.array(values, dtype=np.float64), trouble


def check_frame(
    estimator: Any, X: Any, target: Target, schema: Schema, *, intercept: bool, units: bool = False
) -> tuple[Any, Table, Design]:
    """Return a copy of the estimator that has seen the columns of `X`, the records, and their design.

    The features are the main effects of the columns of `X`, coded as the schema declares; the target comes last.
    A column of `X` that is the schema's unit is no feature; an estimator that does not protect `units` refuses it.

    Raises
    ------
    InvalidData
        If `X` has no column names.
    InvalidFormula
        If a column is not declared; names it.
    """
    from sklearn.utils.validation import validate_data

    if not units:
        refuse_unit(schema, type(estimator).__name__)
    described = copy.copy(estimator)
    described.__dict__.pop("feature_names_in_", None)
    if not hasattr(X, "shape") or len(X.shape) != 2:
        raise InvalidData(
            "With a `schema`, `X` must be a frame whose columns have names. Leave the schema out, or give one."
        )
    validate_data(described, X, skip_check_array=True)
    names = getattr(described, "feature_names_in_", None)
    if names is None:
        raise InvalidData(
            "With a `schema`, `X` must be a frame whose columns have names. Leave the schema out, or give one."
        )
    if schema.unit is not None:
        described.feature_names_in_ = names = names[names != schema.unit]
        described.n_features_in_ = len(names)
    if target.name in names:
        raise InvalidArgument(f"The target {target.name!r} is also a column of `X`. Take it out of `X`.")
    design = Design.for_formula(
        formula_of(names, target.name, intercept=intercept), schema.with_columns({target.name: target.column})
    )
    features = [name for name in design.columns_needed if name != target.name]
    return described, JoinedTable(open_rows(X, schema, features), target), design


def formula_of(names: Any, target: str, *, intercept: bool) -> str:
    """Return the formula of a target on the main effects of some columns."""
    return f"`{target}` ~ " + " + ".join(f"`{name}`" for name in names) + ("" if intercept else " - 1")
