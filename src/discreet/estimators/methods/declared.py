"""A fit: what is declared before its release, what it will do, and what it found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.descent.blas_threads import one_thread
from discreet.descent.preconditioned.rows import gridded
from discreet.descent.preconditioned.whitening import feature_norm_squared
from discreet.descent.private_table import PrivateTable
from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.grid import Coding, Layout
from discreet.privacy.budgets import Approx
from discreet.privacy.release import Release, release, with_labels_read, with_notes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.descent.preconditioned.weights import Weights
    from discreet.descent.rows import IntegerRows
    from discreet.lattice.row_grid import RowGrid
    from discreet.models.result import RegressionResult
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.ledger import Ledger
    from discreet.tables.design import Design
    from discreet.tables.rows import PrivateRows


@dataclass(frozen=True, eq=False, repr=False)
class BoundedColumns:
    """Rows whose every column has declared bounds, ready to be put on a grid.

    Parameters
    ----------
    layout : Layout
        The public grid of a row, the target last, as models have it: labels are at the ends of the target's grid.
    read_layout : Layout
        The grid on which it is read; differs from `layout` in the target alone.
    private_rows : PrivateRows
        The rows.
    design : Design or None
        How a record of a table becomes a row.
    formula : str or None
        The formula of the design.
    """

    layout: Layout
    read_layout: Layout
    private_rows: PrivateRows
    design: Design | None = None
    formula: str | None = None

    bounded = True
    sparse = False

    @property
    def names(self) -> tuple[str, ...]:
        """What coefficients belong to."""
        return self.layout.names[:-1]

    @property
    def n_coefficients(self) -> int:
        """How many coefficients a model has."""
        return self.layout.width - 1 - self.layout.intercept

    @property
    def intercept(self) -> bool:
        """Whether a row has the constant 1."""
        return self.layout.intercept

    @property
    def may_drop(self) -> bool:
        """Whether a missing cell may make a record contribute nothing."""
        return self.private_rows.may_drop

    @property
    def row_norm(self) -> float:
        """The largest Euclidean norm of a coded row without its constant and target, over 2**bits."""
        return row_norm_of(self.layout)

    @property
    def entry_bound(self) -> float:
        """The largest entry of a coded row, over 2**bits."""
        return 1.0

    def normed(self, declared: Declared) -> NormedTable:
        """Return the rows for methods that bound rows by their norm, with targets in half-widths of their bounds."""
        limits = {"squared": (-1.0, 1.0), "logistic": (0.0, 1.0)}.get(declared.loss, declared.target_bounds)
        return NormedTable(CodedTable(self, declared.loss, declared.n_models), limits, self._to_user)

    def _to_user(
        self, slopes: NDArray[np.float64], constants: NDArray[np.float64], loss: str
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        layout = self.layout
        scales = np.array([coding.scale for coding in layout.codings[:-1]]) / 2.0**layout.bits
        centers = np.array([coding.center for coding in layout.codings[:-1]])
        coefs = slopes * scales
        if loss == "squared":
            target = layout.codings[-1]
            half = 2.0**layout.bits / target.scale
            coefs, constants = coefs * half, constants * half + target.center
        return coefs, constants - coefs @ centers if layout.intercept else np.zeros(len(coefs))


@dataclass(frozen=True, eq=False, repr=False)
class BoundedNorms:
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
    columns : tuple of str or None
        The names that the columns have.
    intercept : bool
        Whether the model has one.
    """

    private_matrix: Any
    private_target: NDArray[np.float64]
    row_norm: float
    entry_bound: float | None
    columns: tuple[str, ...] | None
    intercept: bool

    bounded = False
    may_drop = False
    design = None
    formula = None

    @property
    def names(self) -> tuple[str, ...]:
        """What coefficients belong to."""
        size = self.private_matrix.shape[1]
        return tuple(f"x{place}" for place in range(size)) if self.columns is None else self.columns

    @property
    def n_coefficients(self) -> int:
        """How many coefficients a model has."""
        return int(self.private_matrix.shape[1])

    @property
    def sparse(self) -> bool:
        """Whether the rows are stored without their zeros."""
        import scipy.sparse

        return bool(scipy.sparse.issparse(self.private_matrix))

    def normed(self, declared: Declared) -> NormedTable:
        """Return the rows with one target a model, around a public center where the model has an intercept."""
        low, high = declared.target_bounds
        center = 0.0
        if declared.classes is not None:
            places = range(declared.n_models) if declared.n_models > 1 else (1,)
            targets = tuple(np.equal(self.private_target, place).astype(np.float64) for place in places)
        else:
            center = (low + high) / 2 if declared.loss == "squared" and self.intercept else 0.0
            # Clipped before it is moved: a difference of huge numbers could lose the target's digits.
            targets = (np.clip(self.private_target, low, high) - center,)
        limits = (low - center, high - center)
        table = PrivateTable(self.private_matrix, targets, self.names, limits)
        return NormedTable(table, limits, lambda slopes, constants, _: (slopes, constants + center))


@dataclass(frozen=True, eq=False, repr=False)
class NormedTable:
    """Rows as methods read them that bound rows by their norm.

    Parameters
    ----------
    private_table : PrivateTable or CodedTable
        The rows, once a target.
    target_bounds : tuple of float
        Public limits of every target.
    to_user : callable
        Makes slopes of shape (n_models, n_columns) and constants of shape (n_models,) those of the user's units.
    """

    private_table: Any
    target_bounds: tuple[float, float]
    to_user: Callable[[NDArray[np.float64], NDArray[np.float64], str], tuple[NDArray[np.float64], NDArray[np.float64]]]


@dataclass(frozen=True, eq=False, repr=False)
class CodedTable:
    """Private rows that are first put on the grid of their bounds, then on that of their norm.

    Parameters
    ----------
    private_columns : BoundedColumns
        The rows.
    loss : {"squared", "logistic", "poisson"}
        How targets are measured: in half-widths of their bounds, as 0 and 1, in counts.
    n_models : int
        One, or one a class.
    """

    private_columns: BoundedColumns
    loss: str
    n_models: int

    def on_grid(self, grid: RowGrid) -> list[IntegerRows]:
        """Return the rows as whole numbers, once a target.

        Raises
        ------
        InvalidData
            What the rows say of missing cells.
        """
        layout, read = self.private_columns.layout, self.private_columns.read_layout
        with one_thread():
            rows = gridded(self.private_columns.private_rows, read)
        first = int(layout.intercept)
        pairs = zip(rows.private_blocks, rows.private_dropped, strict=True)
        blocks = [block if dropped is None else block[:, ~dropped] for block, dropped in pairs]
        codes = np.concatenate([np.empty((layout.width, 0), np.float32), *blocks], axis=1)
        matrix = np.ascontiguousarray(codes[first:-1].T, dtype=np.float64) / 2.0**layout.bits
        targets, limits = self._targets(codes[-1].astype(np.float64))
        return PrivateTable(matrix, targets, layout.names[:-1], limits).on_grid(grid)

    def _targets(self, codes: NDArray[np.float64]) -> tuple[tuple[NDArray[np.float64], ...], tuple[float, float]]:
        layout, read = self.private_columns.layout, self.private_columns.read_layout
        if self.n_models > 1:
            places = read.codings[-1].encode(np.arange(1.0, self.n_models + 1.0))
            return tuple(np.equal(codes, place).astype(np.float64) for place in places), (0.0, 1.0)
        if self.loss == "logistic":
            return ((codes > 0).astype(np.float64),), (0.0, 1.0)
        if self.loss == "squared":
            return (codes / 2.0**layout.bits,), (-1.0, 1.0)
        coding = layout.codings[-1]
        return (coding.decode(codes),), (coding.lower, coding.upper)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Declared:
    """A fit whose declarations are checked and of which nothing is released yet.

    Parameters
    ----------
    loss : str
        What is minimized.
    budget, adjacency
        The promise.
    rows : BoundedColumns or BoundedNorms
        The private rows.
    n_rows : int or None
        The number of rows under Replace, the expected one under AddRemove; public, None where nothing declares it.
    target_bounds : tuple of float
        The public range of a number or count; (0, 1) for labels.
    classes : ndarray or None
        The class labels.
    labels_read : bool
        Whether they were read from the rows.
    weights : Weights or None
        Of the rows.
    notes : tuple of str
        What a release must say of the table.
    n_columns, columns : int, tuple of str or None
        How many columns X has, and their names.
    """

    loss: str
    budget: Budget
    adjacency: Adjacency
    rows: BoundedColumns | BoundedNorms
    n_rows: int | None
    target_bounds: tuple[float, float]
    classes: NDArray[Any] | None = None
    labels_read: bool = False
    weights: Weights | None = None
    notes: tuple[str, ...] = ()
    n_columns: int
    columns: tuple[str, ...] | None

    @property
    def n_models(self) -> int:
        """One, or one a class where there are more than two."""
        return self.classes.size if self.classes is not None and self.classes.size > 2 else 1

    @property
    def intercept(self) -> bool:
        """Whether the model has an intercept."""
        return self.rows.intercept

    @property
    def known_size(self) -> int:
        """The public number of rows, for methods that need one."""
        assert self.n_rows is not None  # noqa: S101  (their estimators ask for `expected_rows`)
        return self.n_rows

    def changed(self, **changes: Any) -> Declared:
        """Return the fit with some facts replaced."""
        return replace(self, **changes)


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


def row_norm_of(layout: Layout) -> float:
    """Return a bound of the Euclidean norm of a coded row without its constant and target, over 2**bits."""
    squared = feature_norm_squared(layout) - 4**layout.bits * layout.intercept
    return math.nextafter(math.sqrt(max(squared, 1)) / 2.0**layout.bits, math.inf)


LARGE_DELTA = "delta is above 1 / the number of rows: publishing one whole record would keep it, too"


@dataclass(frozen=True, eq=False, kw_only=True)
class Planned:
    """What a fit will do.

    Parameters
    ----------
    plan : Plan
        The plan of its one release.
    data : object
        What the plan's `measure` takes.
    read : callable
        Makes a `RegressionResult` of the release; post-processing. What `Declared` says of the fit, it need not say.
    attributes : callable
        Makes of the release what an estimator shows beside, by name.
    """

    plan: Any
    data: Any
    read: Callable[[Release[Any]], RegressionResult]
    attributes: Callable[[Release[Any]], dict[str, Any]] = lambda _: {}


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """A released model; public.

    Parameters
    ----------
    result : RegressionResult
        What it says.
    released : Release
        What it was read from.
    attributes : dict
        What an estimator shows beside, by name.
    """

    result: RegressionResult
    released: Release[Any]
    attributes: dict[str, Any] = field(default_factory=dict)


def carry_out(planned: Planned, declared: Declared, ledger: Ledger | None) -> Fitted:
    """Return what a planned fit finds; charges the ledger once."""
    released = release(planned.plan, planned.data, ledger, n_rows=declared.n_rows)
    released = with_notes(released, declared.notes)
    if declared.labels_read:
        released = with_labels_read(released)
    budget = declared.budget
    if isinstance(budget, Approx) and declared.n_rows is not None and budget.delta * declared.n_rows > 1:
        released = with_notes(released, (LARGE_DELTA,))
    # The charge stands: what is read from the release neither raises nor warns, however large its numbers are.
    with np.errstate(all="ignore"):
        found = planned.read(released)
    released = with_notes(released, tuple(note for note in found.notes if note not in released.notes))
    rows = declared.rows
    design = rows.design
    result = replace(
        found,
        notes=released.notes,
        label=released.label,
        names=declared.columns if not rows.bounded else rows.names,
        formula=rows.formula if rows.formula is not None else found.formula,
        classes=declared.classes,
        target_bounds=declared.target_bounds,
        n_rows=declared.n_rows,
        schema=None if design is None else design.schema,
        labels=design is not None and dict(design.written).get("labels") is not None,
        design=design,
        n_columns=declared.n_columns,
        columns=declared.columns,
    )
    return Fitted(result=result, released=released, attributes=planned.attributes(released))
