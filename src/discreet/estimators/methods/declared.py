"""What the front door knows before it chooses a method: declarations, a way to read the rows, public numbers."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.descent.preconditioned.gridded_rows import ArraySource, TableSource
from discreet.errors import InvalidArgument, InvalidData, InvalidType
from discreet.lattice.bounds import Interval
from discreet.lattice.grid import Coding, Layout
from discreet.tables.array_rows import array_layout
from discreet.tables.arrays import UNEQUAL, check_matrix, check_rows, check_target, column_names
from discreet.tables.design import Design
from discreet.tables.frame_rows import Target, check_frame, formula_of, label_target, level_codes, name_of
from discreet.tables.readers.tables import open_table
from discreet.tables.rows import TableRows
from discreet.tables.schema.columns import Category, Constant, Number
from discreet.tables.schema.labels import TROUBLE, Labels, code_labels

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.descent.preconditioned.gridded_rows import RowSource
    from discreet.estimators.methods.weights import Weights
    from discreet.functional.gram import PrivateRows
    from discreet.lattice.bounds import Box
    from discreet.privacy.adjacency import Adjacency
    from discreet.tables.blocks import Table
    from discreet.tables.schema.schema import Schema


@dataclass(frozen=True, eq=False, repr=False)
class BoundedRows:
    """Rows whose every column has declared bounds, ready to be put on a grid.

    Parameters
    ----------
    layout : Layout
        The public grid of a row, the target last, as models have it: labels are at the ends of the target's grid.
    read_layout : Layout
        The grid on which it is read; differs from `layout` in the target alone.
    private_rows : PrivateRows
        Sums over the rows.
    private_source : RowSource
        The rows themselves, block after block.
    design : Design or None
        How a record of a table becomes a row.
    formula : str or None
        The formula of the design.
    """

    layout: Layout
    read_layout: Layout
    private_rows: PrivateRows
    private_source: RowSource
    design: Design | None = None
    formula: str | None = None

    @property
    def may_drop(self) -> bool:
        """Whether a missing cell may make a record contribute nothing."""
        return self.design is not None and self.design.may_drop


@dataclass(frozen=True, eq=False, repr=False)
class NormedRows:
    """Rows that are scaled down to a declared norm, each by itself; possibly sparse.

    Parameters
    ----------
    private_matrix : array or sparse matrix, shape (n_rows, n_columns)
        The features.
    private_target : ndarray of float64, shape (n_rows,)
        Numbers, or the position of the class.
    row_norm : float
        The norm.
    entry_bound : float or None
        What entries of scaled rows are clipped to.
    """

    private_matrix: Any
    private_target: NDArray[np.float64]
    row_norm: float
    entry_bound: float | None

    @property
    def sparse(self) -> bool:
        """Whether the rows are stored without their zeros."""
        import scipy.sparse

        return bool(scipy.sparse.issparse(self.private_matrix))


@dataclass(frozen=True, eq=False, repr=False)
class Declared:
    """A fit whose declarations are checked and of which nothing is released yet.

    Parameters
    ----------
    estimator : object
        A copy of the estimator that has seen the shape of X.
    rows : BoundedRows or NormedRows
        The private rows.
    names : tuple of str
        Of the coefficients.
    n_rows : int
        The number of rows under Replace, the expected one under AddRemove; public.
    target_bounds : tuple of float
        The public range of a number or count; (0, 1) for labels.
    intercept : bool
        Whether the model has one.
    classes : ndarray or None
        The class labels.
    labels_read : bool
        Whether they were read from the rows.
    weights : Weights or None
        Of the rows.
    notes : tuple of str
        What a release must say of the table.
    """

    estimator: Any
    rows: BoundedRows | NormedRows
    names: tuple[str, ...]
    n_rows: int
    target_bounds: tuple[float, float]
    intercept: bool
    classes: NDArray[Any] | None = None
    labels_read: bool = False
    weights: Weights | None = None
    notes: tuple[str, ...] = ()

    @property
    def n_models(self) -> int:
        """One, or one a class where there are more than two."""
        return self.classes.size if self.classes is not None and self.classes.size > 2 else 1

    def with_public_rows(self, owner: str, adjacency: Adjacency, expected_rows: Any) -> Declared:
        """Return the fit with the public number of rows instead of the one that was counted."""
        return replace(self, n_rows=public_rows(owner, adjacency, expected_rows, self.n_rows))


def public_rows(owner: str, adjacency: Adjacency, expected_rows: Any, private_n_rows: int) -> int:
    """Return the public number of rows: the real one under Replace, the declared guess under AddRemove."""
    if adjacency.size_is_public:
        if expected_rows is not None:
            raise InvalidArgument(
                "`expected_rows` belongs to AddRemove(); under Replace() the number of rows is public. Leave it out."
            )
        return max(private_n_rows, 1)
    if expected_rows is None:
        raise InvalidType(
            f"{owner} needs `expected_rows` under AddRemove(), where the number of rows is private: "
            "a public guess of it, by which sums are divided."
        )
    return _checks.integer(expected_rows, "expected_rows", low=1, high=2**30)


def recoded(layout: Layout, target: Coding) -> Layout:
    """Return a layout with another coding of its target, on the same grid: the sensitivity stays."""
    return Layout(
        layout.names,
        (*layout.codings[:-1], target),
        intercept=layout.intercept,
        bits=layout.bits,
        row_norm_squared=layout.row_norm_squared,
    )


def label_layout(layout: Layout) -> Layout:
    """Return the layout of a model of labels: -1 and 1 are the ends of the target's grid."""
    return recoded(layout, Coding.centered(-1.0, 1.0, layout.bits))


def bounded_arrays(rows: Any, box: Box, interval: Interval, *, intercept: bool, labels: bool) -> BoundedRows:
    """Return array rows within a Box, with a target within an interval."""
    read = array_layout(rows.names, box, interval, intercept=intercept)
    blocked = rows.in_blocks(box)
    return BoundedRows(label_layout(read) if labels else read, read, blocked, ArraySource(blocked))


def bounded_table(table: Table, design: Design, formula: str, *, may_be_empty: bool, labels: bool) -> BoundedRows:
    """Return the records of a table under a design that was made for one formula."""
    read = design.layout
    return BoundedRows(
        layout=label_layout(read) if labels else read,
        read_layout=read,
        private_rows=TableRows(table, design, may_be_empty=may_be_empty),
        private_source=TableSource(table, design, may_be_empty=may_be_empty),
        design=design,
        formula=formula,
    )


def declare_arrays(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    box: Box,
    interval: Interval | None,
    classes: NDArray[Any] | None,
    intercept: bool,
    may_be_empty: bool,
) -> Declared:
    """Check arrays with declared bounds; labels where `interval` is None."""
    if interval is not None:
        staged, rows = check_rows(estimator, X, y, may_be_empty=may_be_empty)
        bounded = bounded_arrays(rows, box, interval, intercept=intercept, labels=False)
        return _declared(staged, bounded, rows.private_size(), (interval.lower, interval.upper))
    found: list[Any] = []

    def positions(column: Any) -> NDArray[np.float64]:
        labels = code_labels(np.asarray(column), classes, name=name_of(column), several=True)
        found.append(labels)
        return target_numbers(labels.private_codes, labels.classes.size)

    staged, rows = check_rows(estimator, X, y, may_be_empty=may_be_empty, read_target=positions, trouble=TROUBLE)
    (labels,) = found
    bounded = bounded_arrays(rows, box, target_interval(labels.classes.size), intercept=intercept, labels=True)
    return _declared(staged, bounded, rows.private_size(), (0.0, 1.0), labels.classes, labels_read=labels.were_read)


def declare_frame(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    schema: Schema,
    target_of: Callable[[Any], Target] | None,
    classes: NDArray[Any] | None,
    intercept: bool,
    may_be_empty: bool,
) -> Declared:
    """Check a frame under a schema; labels where `target_of` is None."""
    column = check_target(estimator, X, y)
    labels_read, found = False, None
    if target_of is not None:
        target = target_of(column)
    else:
        target, found, labels_read = _labels_under(schema, column, classes)
    staged, table, design = check_frame(estimator, X, target, schema, intercept=intercept)
    formula = formula_of(staged.feature_names_in_, target.name, intercept=intercept)
    bounded = bounded_table(table, design, formula, may_be_empty=may_be_empty, labels=target_of is None)
    bounds = (0.0, 1.0) if target_of is None else (target.column.lower, target.column.upper)
    return _declared(staged, bounded, len(target.private_values), bounds, found, labels_read=labels_read)


def declare_normed(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    row_norm: float,
    entry_bound: float | None,
    read_target: Callable[[Any], NDArray[np.float64]] | None,
    bounds: tuple[float, float],
    classes: NDArray[Any] | None,
    intercept: bool,
    may_be_empty: bool,
) -> Declared:
    """Check rows that are scaled down to a norm, dense or sparse; labels where `read_target` is None."""
    column = check_target(estimator, X, y)
    staged, matrix = check_matrix(estimator, X, may_be_empty=may_be_empty)
    found, labels_read = None, False
    if read_target is None:
        labels = code_labels(np.asarray(column), classes, name=name_of(column), several=True)
        target, found, labels_read = labels.private_codes, labels.classes, labels.were_read
        trouble = f"Column {name_of(column)!r}: {TROUBLE}. Take such rows out, or declare its `classes`."
    else:
        target = read_target(column)
        trouble = "Column 'y' has missing cells (NaN or inf). Take such rows out."
    if target.shape[0] != matrix.shape[0]:
        raise InvalidData(UNEQUAL)
    if not np.isfinite(target).all():
        raise InvalidData(trouble)
    rows = NormedRows(matrix, target, row_norm, entry_bound)
    return _declared(staged, rows, matrix.shape[0], bounds, found, labels_read=labels_read, intercept=intercept)


def declare_table(
    estimator: Any, data: Any, formula: str, *, schema: Schema, labels: bool, adjacency: Adjacency
) -> Declared:
    """Check a formula on a table; where the number of records is public, they are counted in a pass of their own."""
    design = Design.for_formula(formula, schema, labels=labels)
    columns = list(design.columns_needed)
    if adjacency.size_is_public and getattr(open_table(data, design.schema, columns), "reads_once", False):
        raise InvalidArgument(
            "Under Replace() the records are counted in a first pass, and an Arrow stream can be read only once. "
            "Give an Arrow table, a data frame or a file."
        )
    private_n_rows = 0
    if adjacency.size_is_public:
        private_n_rows = sum(block.n_rows for block in open_table(data, design.schema, columns).blocks())
    table = open_table(data, design.schema, columns)
    bounded = bounded_table(table, design, formula, may_be_empty=not adjacency.size_is_public, labels=labels)
    staged = copy.copy(estimator)
    names = [name for name in columns if name != design.target]
    staged.n_features_in_, staged.feature_names_in_ = len(names), np.array(names, dtype=object)
    assert design.target is not None  # noqa: S101  (a formula has one)
    target = design.schema.columns[design.target]
    classes = None
    if labels:
        classes = np.array(target.levels) if isinstance(target, Category) else np.array([0, 1])
    coding = design.layout.codings[-1]
    declared = _declared(staged, bounded, private_n_rows, (coding.lower, coding.upper), classes)
    return replace(declared, notes=table.notes)


def _declared(
    staged: Any,
    rows: BoundedRows | NormedRows,
    private_n_rows: int,
    bounds: tuple[float, float],
    classes: NDArray[Any] | None = None,
    *,
    labels_read: bool = False,
    intercept: bool | None = None,
) -> Declared:
    if isinstance(rows, BoundedRows):
        names, has_intercept = rows.layout.names[:-1], rows.layout.intercept
    else:
        names, has_intercept = column_names(staged, rows.private_matrix.shape[1]), bool(intercept)
    return Declared(staged, rows, names, private_n_rows, bounds, has_intercept, classes, labels_read)


def target_interval(n_classes: int) -> Interval:
    """Return the range of coded labels: -1 and 1 for two classes, else 1, 2, ... for the first, the second class."""
    return Interval(-1, 1) if n_classes == 2 else Interval(1, n_classes)


def target_numbers(codes: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Return positions of classes as numbers of `target_interval`; NaN stays."""
    return 2.0 * codes - 1.0 if n_classes == 2 else codes + 1.0


def _labels_under(schema: Schema, column: Any, classes: NDArray[Any] | None) -> tuple[Target, NDArray[Any], bool]:
    """Return a target of labels with its classes, and whether these were read from it."""
    name = name_of(column)
    declared = schema.columns.get(name)
    many = isinstance(declared, Category) and len(declared.levels) > 2
    if classes is None and declared is not None and not many:
        found = label_target(column, schema)
        assert found is not None  # noqa: S101  (the schema declares it)
        return *found, False
    if classes is None and isinstance(declared, Category):
        labels = Labels(np.array(declared.levels), level_codes(column, name, declared, schema), were_read=False)
    else:
        labels = code_labels(np.asarray(column), classes, name=name, several=True)
    interval = target_interval(labels.classes.size)
    # Of the schema's policy for missing labels "drop" always means the same, a constant only for its own levels.
    policy: Any = "error"
    if declared is not None and declared.missing == "drop":
        policy = "drop"
    elif many and classes is None and isinstance(getattr(declared, "missing", None), Constant):
        place = labels.classes.tolist().index(declared.missing.value)  # type: ignore[union-attr]
        policy = Constant(float(place + 1))
    number = Number(interval.lower, interval.upper, missing=policy)
    values = target_numbers(labels.private_codes, labels.classes.size)
    return Target(name, number, values, TROUBLE), labels.classes, labels.were_read
