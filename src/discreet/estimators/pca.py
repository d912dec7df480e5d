"""Private principal components as a scikit-learn transformer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from discreet.errors import InvalidArgument, InvalidData, InvalidType
from discreet.estimators.arguments import box_of, refusing_others, with_parameters
from discreet.estimators.files import Saved, read, written
from discreet.lattice.bounds import Box
from discreet.privacy.release import settle_adjacency
from discreet.sampling.draw_files import COMPONENTS, components_of, content_of
from discreet.sampling.numeric_rows import NumericTable
from discreet.sampling.pca.released import (
    ComponentRows,
    ComponentTerms,
    FoundComponents,
    release_components,
    rows_of_table,
)
from discreet.sampling.pca.second_moments import UnitGrid, check_cells
from discreet.tables.arrays import check_matrix, check_new_rows, column_names
from discreet.tables.cells.given_cells import matrix_of_numbers
from discreet.tables.frame_rows import check_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.models.printed import Printed
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.findings import Finding
    from discreet.privacy.ledger import Ledger
    from discreet.privacy.release import Release
    from discreet.sampling.policies import Policy
    from discreet.tables.schema.schema import Schema

INSTEAD = {
    "copy": "nothing is written to X; leave it out",
    "whiten": "the variances are not released; scale by public numbers with scale_to_bounds=True",
    "svd_solver": "the solver is the mechanism; leave it out",
    "tol": "stopping early would tell of the rows; leave it out",
    "iterated_power": "there is no iteration; leave it out",
    "random_state": "noise is not seedable; for a test fit with Ledger(total=, adjacency=, coins=Coins.from_seed(0))",
    "data_norm": "it is called row_norm",
    "epsilon": "a guarantee is a value: write budget=Pure(epsilon=...)",
    "centered": "rows are taken about the public point center=; leave it out",
    "bounds": "bounds are declared as x_bounds=Box(lower=, upper=)",
}


@with_parameters
class PrivatePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Saved, BaseEstimator):
    """Principal components drawn from the exponential mechanism, exactly, in a time that tells nothing.

    The first component has a density proportional to ``exp(scale * sum of (x'v)**2)``; each further one has the same
    law among the directions perpendicular to those before. The budget is shared equally.

    Parameters
    ----------
    budget : Pure, Approx, Zcdp or Gdp
        What one fit may cost, all components together.
    adjacency : Replace or AddRemove
        Which data sets are neighbours; there is no default. AddRemove pays half as much for the same sharpness.
    n_components : int, default 1
        How many; noise grows with their number.
    x_bounds : Box, optional
        The declared public range of every column, in its own units; cells outside are clipped.
    row_norm : float, optional
        Rows, taken about `center`, are scaled down to this Euclidean norm. Default: half the diagonal of the bounds,
        which no row exceeds; a smaller one means less noise.
    center : array-like of shape (n_features,), optional
        A public point about which rows are taken; default: the middle of the bounds, or 0. It is never computed from
        the rows: components of data that lie far from it point towards their mean. It may come from an earlier
        release, such as medians.
    scale_to_bounds : bool, default False
        Whether a column is measured in half-widths of its bounds, not in its own unit.
    schema : Schema, optional
        Declares the columns of a frame by their names, instead of `x_bounds`: numbers, dates and flags.
    runtime : policy, optional
        How long to run; default `CoolDown()`.

    Attributes
    ----------
    components_ : ndarray of float64, shape (n_components, n_features)
        Orthonormal rows; the largest entry of each is above 0.
    center_, scale_ : ndarray of float64, shape (n_features,)
        What is taken off a row, and what it is divided by: public numbers.
    row_norm_, grid_ : float, UnitGrid
        The norm that was used, and the public grid of a row.
    n_components_ : int
        How many components there are.
    release_ : Release
        The components, their event, cost and adjacency, and whether the coins were the system's.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str, shape (n_features,)
        Only where X is a frame whose columns have names.

    Notes
    -----
    Variances along the components are functions of private rows and are not released.

    Guarantee
    ---------
    Components and running time together satisfy `budget` under `adjacency`, for any X.
    Proof: docs/proofs/bingham.md

    Source
    ------
    Chaudhuri, Sarwate and Sinha 2013; the envelope of Kent, Ganeiban and Mardia 2018 with a new bound on acceptance.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 3)) * [3.0, 1.0, 0.5]
    >>> pca = dp.PrivatePCA(budget=dp.Pure(epsilon=1), row_norm=10, adjacency=dp.Replace()).fit(X)
    >>> bool(abs(pca.components_[0, 0]) > 0.95), pca.transform(X).shape
    (True, (5000, 1))
    """

    # Metadata routing hands the ledger on; it is never a constructor argument, for `clone` would copy it.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"ledger": True}
    _instead: ClassVar[dict[str, str]] = INSTEAD
    _kind: ClassVar[str] = COMPONENTS

    budget: Budget
    adjacency: Adjacency
    n_components: int = 1
    x_bounds: Box | None = None
    row_norm: float | None = None
    center: Any = None
    scale_to_bounds: bool = False
    schema: Schema | None = None
    runtime: Policy | None = None

    @refusing_others
    def fit(self, X: Any, y: Any = None, *, ledger: Ledger | None = None) -> Self:
        """Draw the components; charges the ledger once.

        Parameters
        ----------
        X : array-like or frame, shape (n_rows, n_features)
            The private rows: numbers, or with a `schema` a frame of declared columns.
        y : object
            Ignored.
        ledger : Ledger or None
            Is charged; None opens a ledger in memory whose total is the budget.

        Raises
        ------
        InvalidArgument
            If a declaration is not usable; nothing is spent.
        InvalidData
            If the rows do not fit; names the column, quotes no cell; nothing is spent.
        BudgetExceeded
            If the ledger has too little left; the fitted state stays as it was.

        Guarantee
        ---------
        See the class.
        """
        del y
        adjacency = settle_adjacency(self.adjacency, ledger, units=False, required=True)
        rows = self._rows(X, may_be_empty=not adjacency.size_is_public)
        self._release(rows, adjacency, ledger)
        return self

    def fit_table(
        self,
        source: Any,
        columns: Sequence[str] | None = None,
        *,
        ledger: Ledger | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Self:
        """Draw the components of a table with the `schema`: a file, or anything else that its readers know.

        Parameters
        ----------
        source : path, frame or Arrow data
            The private table.
        columns : sequence of str, optional
            Which of its columns; default: all numbers, dates and flags that the schema declares.
        ledger : Ledger or None
            Is charged; None opens a ledger in memory whose total is the budget.
        progress : callable, optional
            Called with how far the read has come.

        Guarantee
        ---------
        See the class.
        """
        adjacency = settle_adjacency(self.adjacency, ledger, units=False, required=True)
        table = NumericTable.of(source, check_schema(self.schema), columns)
        self._release(
            self._table_rows(table, may_be_empty=not adjacency.size_is_public, progress=progress), adjacency, ledger
        )
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the coordinates of rows along the components, float64 of shape (n_rows, n_components).

        Rows are neither clipped nor scaled down. Of private rows the result is private, too.
        """
        rows = check_new_rows(self, X)
        with np.errstate(all="ignore"):  # a warning would tell of a cell
            return np.asarray((rows - self.center_) / self.scale_ @ self.components_.T)

    def inverse_transform(self, X: Any) -> NDArray[np.float64]:
        """Return the points with these coordinates, float64 of shape (n_rows, n_features)."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        coordinates = np.asarray(matrix_of_numbers(X), dtype=np.float64)
        if coordinates.ndim != 2 or coordinates.shape[1] != self.n_components_:
            raise InvalidData(f"`X` must have {self.n_components_} columns, one a component.")
        with np.errstate(all="ignore"):
            return np.asarray(coordinates @ self.components_ * self.scale_ + self.center_)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def _rows(self, X: Any, *, may_be_empty: bool) -> ComponentRows:
        """Return the checked cells of an array or a frame."""
        if self.schema is not None:
            given = [str(name) for name in getattr(X, "columns", ())]
            if not given:
                raise InvalidData(
                    "With a `schema`, `X` must be a frame whose columns have names. Leave the schema out."
                )
            return self._table_rows(NumericTable.of(X, check_schema(self.schema), given), may_be_empty=may_be_empty)
        import scipy.sparse

        if scipy.sparse.issparse(X):
            raise InvalidType(
                "Sparse data was passed for `X`, but a dense array is required: rows are taken about a center. "
                "Use .toarray() if it fits into memory."
            )
        described, matrix = check_matrix(self, X, may_be_empty=may_be_empty)
        names = column_names(described, matrix.shape[1])
        box = None if self.x_bounds is None else box_of(self).for_columns(len(names))
        check_cells(matrix, names, UnitGrid(len(names), 1.0))
        return ComponentRows(matrix, names, box, getattr(described, "feature_names_in_", None))

    def _table_rows(
        self, table: NumericTable, *, may_be_empty: bool, progress: Callable[[int], None] | None = None
    ) -> ComponentRows:
        if self.x_bounds is not None:
            raise InvalidArgument("Give `x_bounds` or `schema`, not both: each declares the columns of X.")
        return rows_of_table(table, may_be_empty=may_be_empty, progress=progress)

    def _release(self, rows: ComponentRows, adjacency: Adjacency, ledger: Ledger | None) -> None:
        """Plan, release and set the fitted attributes; nothing is set before all is done."""
        terms = ComponentTerms(
            budget=self.budget,
            adjacency=adjacency,
            n_components=self.n_components,
            row_norm=self.row_norm,
            center=self.center,
            scale_to_bounds=self.scale_to_bounds,
            runtime=self.runtime,
            owner=type(self).__name__,
        )
        found = release_components(terms, rows, ledger)
        self.take_release(found.grid, found.released, rows.given_names)

    def take_release(self, grid: UnitGrid, released: Release[NDArray[np.float64]], names: Any) -> None:
        """Set the fitted attributes from a release and public facts alone; what a fit ends with.

        Parameters
        ----------
        grid : UnitGrid
            The public grid of a row.
        released : Release
            The components.
        names : ndarray of str, or None
            Of the columns, where they have some.
        """
        self.n_features_in_ = grid.n_columns
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        self.release_ = released
        self.grid_ = grid
        self.components_ = released.value
        self.n_components_ = int(released.value.shape[0])
        self.row_norm_ = grid.row_norm
        self.center_ = np.zeros(grid.n_columns) if grid.center is None else np.array(grid.center)
        self.scale_ = np.ones(grid.n_columns) if grid.scale is None else np.array(grid.scale)

    def result(self) -> FoundComponents:
        """Return the components as a value, without the estimator."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return FoundComponents(self.grid_, self.release_, None if names is None else tuple(map(str, names)))

    def summary(self) -> Printed:
        """Return the table that is printed: a line a column, and what the components cost."""
        return self.result().summary()

    def to_finding(self) -> Finding:
        """Return what the components say to a reader of a report."""
        return replace(self.result().to_finding(), title=type(self).__name__, again=(repr(self),))

    def _content(self) -> dict[str, Any]:
        return content_of(self.result()) | {"declarations": written(self.get_params(deep=False))}

    @classmethod
    def _of_content(cls, content: Mapping[str, Any]) -> Self:
        found = components_of(content)
        grid, released = found.grid, found.released
        # The command writes none; they follow from what it released.
        declared = (
            read(content["declarations"])
            if "declarations" in content
            else {
                "budget": released.event.budget,
                "adjacency": released.adjacency,
                "n_components": released.value.shape[0],
                "x_bounds": None if grid.lower is None else Box(lower=grid.lower, upper=grid.upper),
                "row_norm": grid.row_norm,
                "center": grid.center,
                "scale_to_bounds": grid.scale is not None,
            }
        )
        model = cls(**declared)
        model.take_release(grid, released, found.names)
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags
