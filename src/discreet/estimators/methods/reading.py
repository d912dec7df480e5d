"""From what a user gives to a declared fit: arrays, frames, rows with a norm, tables under a formula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidArgument, InvalidData
from discreet.estimators.methods.declared import BoundedColumns, BoundedNorms, Declared, label_layout
from discreet.lattice.bounds import Interval
from discreet.tables.array_rows import array_layout
from discreet.tables.arrays import UNEQUAL, check_matrix, check_rows, check_target
from discreet.tables.cells.given_cells import numbers_of
from discreet.tables.design import Design
from discreet.tables.frame_rows import Target, check_frame, formula_of, label_target, level_codes, name_of
from discreet.tables.readers.tables import open_rows, open_table
from discreet.tables.rows import TableRows
from discreet.tables.schema.columns import Category, Constant, Number
from discreet.tables.schema.labels import TROUBLE, Labels, code_labels

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.lattice.bounds import Box
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.tables.blocks import Table
    from discreet.tables.schema.schema import Schema


@dataclass(frozen=True, kw_only=True)
class FitDeclarations:
    """What every way of reading takes.

    Parameters
    ----------
    estimator : object
        Whose copy sees the shape of X; its name stands in messages.
    loss : str
        What is minimized.
    budget, adjacency
        The promise.
    intercept : bool
        Whether the model has one.
    interval : Interval or None
        The range of a number; None for labels, or where a schema declares it.
    read_number : callable or None
        Makes a `Target` of a frame's column; None for labels.
    classes : ndarray or None
        Declared class labels.
    several : bool
        Whether there may be more than two classes.
    units : bool
        Whether persons of several rows are protected.
    sparse : bool
        Whether rows with a norm may be sparse.
    """

    estimator: Any
    loss: str
    budget: Budget
    adjacency: Adjacency
    intercept: bool
    interval: Interval | None = None
    read_number: Callable[[Any], Target] | None = None
    classes: NDArray[Any] | None = None
    several: bool = True
    units: bool = False
    sparse: bool = False

    @property
    def of_labels(self) -> bool:
        """Whether the target is a label."""
        return self.read_number is None

    @property
    def may_be_empty(self) -> bool:
        """Whether no rows at all are an ordinary table."""
        return not self.adjacency.size_is_public

    def labels_of(self, column: Any) -> Labels:
        """Return a target's labels."""
        return code_labels(np.asarray(column), self.classes, name=name_of(column), several=self.several)

    def declared(self, rows: Any, size: int, bounds: tuple[float, float], columns: Any, **more: Any) -> Declared:
        """Return the declared fit; `columns` are the names that X has, or how many columns there are without names."""
        return Declared(
            loss=self.loss,
            budget=self.budget,
            adjacency=self.adjacency,
            rows=rows,
            n_rows=size,
            target_bounds=bounds,
            n_columns=columns if isinstance(columns, int) else len(columns),
            columns=names_of(columns),
            **more,
        )


def names_of(columns: Any) -> tuple[str, ...] | None:
    """Return the names of columns; None where all that is known is how many there are."""
    return None if isinstance(columns, int) else tuple(str(name) for name in columns)


def columns_of(described: Any) -> Any:
    """Return the names of the columns that an estimator's copy has seen, or their number where they have none."""
    return getattr(described, "feature_names_in_", described.n_features_in_)


def declare_arrays(terms: FitDeclarations, X: Any, y: Any, box: Box) -> Declared:
    """Check arrays with declared bounds."""
    interval, found = terms.interval, None
    if not terms.of_labels:
        assert interval is not None  # noqa: S101  (the estimator asks for it)
        described, rows = check_rows(terms.estimator, X, y, may_be_empty=terms.may_be_empty)
    else:
        seen: list[Labels] = []

        def positions(column: Any) -> NDArray[np.float64]:
            labels = terms.labels_of(column)
            seen.append(labels)
            return target_numbers(labels.private_codes, labels.classes.size)

        described, rows = check_rows(
            terms.estimator, X, y, may_be_empty=terms.may_be_empty, read_target=positions, trouble=TROUBLE
        )
        (found,) = seen
        interval = target_interval(found.classes.size)
    read = array_layout(rows.names, box, interval, intercept=terms.intercept)
    bounded = BoundedColumns(label_layout(read) if terms.of_labels else read, read, rows.in_blocks(box))
    size, columns = rows.private_size(), columns_of(described)
    if found is None:
        return terms.declared(bounded, size, (interval.lower, interval.upper), columns)
    return terms.declared(bounded, size, (0.0, 1.0), columns, classes=found.classes, labels_read=found.were_read)


def declare_frame(terms: FitDeclarations, X: Any, y: Any, schema: Schema) -> Declared:
    """Check a frame under a schema."""
    column = check_target(terms.estimator, X, y)
    classes, labels_read = None, False
    if terms.read_number is not None:
        target = terms.read_number(column)
    else:
        target, classes, labels_read = _labels_under(terms, schema, column)
    described, table, design = check_frame(
        terms.estimator, X, target, schema, intercept=terms.intercept, units=terms.units
    )
    size = len(target.private_values)
    formula = formula_of(described.feature_names_in_, target.name, intercept=terms.intercept)
    rows = TableRows(table, design, may_be_empty=terms.may_be_empty, private_size=size)
    bounded = bounded_table(rows, design, formula, labels=terms.of_labels)
    bounds = (0.0, 1.0) if terms.of_labels else (target.column.lower, target.column.upper)
    return terms.declared(bounded, size, bounds, columns_of(described), classes=classes, labels_read=labels_read)


def declare_norms(
    terms: FitDeclarations,
    X: Any,
    y: Any,
    *,
    row_norm: float,
    entry_bound: float | None,
) -> Declared:
    """Check rows that are scaled down to a norm, dense or sparse."""
    column = check_target(terms.estimator, X, y)
    described, matrix = check_matrix(terms.estimator, X, may_be_empty=terms.may_be_empty, accept_sparse=terms.sparse)
    return declare_matrix(
        terms,
        matrix,
        column,
        row_norm=row_norm,
        entry_bound=entry_bound,
        columns=columns_of(described),
    )


def declare_matrix(
    terms: FitDeclarations,
    matrix: Any,
    column: Any,
    *,
    row_norm: float,
    entry_bound: float | None,
    columns: Any,
) -> Declared:
    """Check the target of rows that are scaled down to a norm; `matrix` is checked, an array or a csr_array."""
    classes, labels_read, bounds = None, False, (0.0, 1.0)
    if terms.of_labels:
        labels = terms.labels_of(column)
        target, classes, labels_read = labels.private_codes, labels.classes, labels.were_read
        trouble = f"Column {name_of(column)!r}: {TROUBLE}. Take such rows out, or declare its `classes`."
    else:
        assert terms.interval is not None  # noqa: S101  (the estimator asks for it)
        target = numbers_of(column).astype(np.float64)
        bounds = (terms.interval.lower, terms.interval.upper)
        trouble = "Column 'y' has missing cells (NaN or inf). Take such rows out."
    if target.shape[0] != matrix.shape[0]:
        raise InvalidData(UNEQUAL)
    if not np.isfinite(target).all():
        raise InvalidData(trouble)
    rows = BoundedNorms(matrix, target, row_norm, entry_bound, names_of(columns), terms.intercept)
    return terms.declared(rows, matrix.shape[0], bounds, columns, classes=classes, labels_read=labels_read)


def declare_table(
    terms: FitDeclarations,
    data: Any,
    formula: str,
    schema: Schema,
    *,
    count_rows: bool,
    watch: Callable[[Table], Callable[[int], None] | None] = lambda _: None,
) -> Declared:
    """Check a formula on a table; where the number of records is needed and public, a pass of its own counts them.

    `watch` is given the table, and returns what is called with how far its read has come.
    """
    design = Design.for_formula(formula, schema, labels=terms.of_labels)
    columns = list(design.columns_needed)
    private_n_rows = 0
    if count_rows and terms.adjacency.size_is_public:
        counted = open_table(data, design.schema, columns)
        if getattr(counted, "reads_once", False):
            raise InvalidArgument(
                "Under Replace() the records are counted in a first pass, and an Arrow stream can be read only once. "
                "Give an Arrow table, a data frame or a file."
            )
        private_n_rows = sum(block.n_rows for block in counted.blocks())
    opened = open_rows if terms.units else open_table
    table = opened(data, design.schema, columns)
    assert design.target is not None  # noqa: S101  (a formula has one)
    rows = TableRows(table, design, may_be_empty=terms.may_be_empty, progress=watch(table))
    bounded = bounded_table(rows, design, formula, labels=terms.of_labels)
    classes = None
    if terms.of_labels:
        target = design.schema.columns[design.target]
        classes = np.array(target.levels) if isinstance(target, Category) else np.array([0, 1])
    coding = design.layout.codings[-1]
    names = tuple(name for name in columns if name != design.target)
    return terms.declared(
        bounded, private_n_rows, (coding.lower, coding.upper), names, classes=classes, notes=table.notes
    )


def bounded_table(rows: TableRows, design: Design, formula: str, *, labels: bool) -> BoundedColumns:
    """Return the records of a table under a design that was made for one formula."""
    read = design.layout
    return BoundedColumns(label_layout(read) if labels else read, read, rows, design, formula)


def target_interval(n_classes: int) -> Interval:
    """Return the range of coded labels: -1 and 1 for two classes, else 1, 2, ... for the first, the second class."""
    return Interval(-1, 1) if n_classes == 2 else Interval(1, n_classes)


def target_numbers(codes: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Return positions of classes as numbers of `target_interval`; NaN stays."""
    return 2.0 * codes - 1.0 if n_classes == 2 else codes + 1.0


def _labels_under(terms: FitDeclarations, schema: Schema, column: Any) -> tuple[Target, NDArray[Any], bool]:
    """Return a target of labels with its classes, and whether these were read from it."""
    name, classes = name_of(column), terms.classes
    declared = schema.columns.get(name)
    many = terms.several and isinstance(declared, Category) and len(declared.levels) > 2
    if classes is None and declared is not None and not many:
        found = label_target(column, schema)
        assert found is not None  # noqa: S101  (the schema declares it)
        return *found, False
    if classes is None and isinstance(declared, Category):
        labels = Labels(np.array(declared.levels), level_codes(column, name, declared, schema), were_read=False)
    else:
        labels = terms.labels_of(column)
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
