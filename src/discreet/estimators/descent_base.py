"""What the estimators of noisy descent and its rivals share: one fit is one plan, one release, one linear predictor."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from discreet import _checks
from discreet.descent.one_model_a_class import ModelPlan, Passes, PrivateTable, plan_models
from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.row_grid import RowGrid
from discreet.privacy.budgets import Approx
from discreet.privacy.release import Release, release, with_labels_read
from discreet.tables.arrays import check_new_matrix, column_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.findings import Finding
    from discreet.privacy.ledger import Ledger

LARGE_DELTA = "delta is above 1 / the number of rows: publishing one whole record would keep it, too"
# What scikit-learn's arguments are called here, or why they are not here.
INSTEAD = {
    "alpha": "`sparsity` and the noise floor keep the model small; leave it out",
    "C": "`sparsity` and the noise floor keep the model small; leave it out",
    "epsilon": "a guarantee is a value: write budget=Approx(epsilon=..., delta=...)",
    "bounds": "rows are bounded by row_norm= and entry_bound=, a target by y_bounds=Interval(lower, upper)",
    "x_bounds": "rows are bounded by row_norm= and entry_bound=",
    "l1_ratio": "`sparsity` bounds the number of columns; leave it out",
    "learning_rate": "it is called step_size",
    "max_iter": "the number of steps is public and fixed: n_steps=",
    "multi_class": "more than two classes are fitted one against the rest; leave it out",
    "n_jobs": "each step waits for the one before; leave it out",
    "n_nonzero_coefs": "it is called sparsity",
    "normalize": "rows are scaled down to row_norm, each by itself; leave it out",
    "penalty": "`sparsity` bounds the number of columns; leave it out",
    "schema": "rows are bounded by row_norm= and entry_bound=; columns are declared to LinearRegression, "
    "LogisticRegression and PoissonRegression, persons of several rows to FunctionalLinearRegression",
    "solver": "the solver is the mechanism: selection=",
    "tol": "stopping early would tell of the rows; the number of steps is fixed: n_steps=",
}


@dataclass(frozen=True)
class Facts:
    """What is public about a fit before a row is read.

    Parameters
    ----------
    n_columns : int
        Columns of X.
    n_rows : int
        The number of rows under Replace, the expected one under AddRemove.
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    target_bounds : tuple of float
        Of what is fitted, after the public center was taken off.
    n_models : int
        One, or one a class.
    """

    n_columns: int
    n_rows: int
    adjacency: Adjacency
    target_bounds: tuple[float, float]
    n_models: int = 1


@dataclass(frozen=True, eq=False)
class Staged:
    """What a fit has checked and not released yet."""

    estimator: Any  # a copy that has seen the shape of X
    private_matrix: Any
    private_targets: tuple[NDArray[np.float64], ...]


class DescentEstimator(BaseEstimator, metaclass=ABCMeta):
    """The steps of a fit; regressors and classifiers add what their targets are, families how they plan."""

    # Metadata routing hands the ledger on; it is never a constructor argument, for `clone` would copy it.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"ledger": True}
    _instead: ClassVar[dict[str, str]] = INSTEAD
    _loss: ClassVar[str]

    budget: Budget
    adjacency: Adjacency
    row_norm: float
    expected_rows: int | None
    fit_intercept: bool

    @abstractmethod
    def _plan(self, facts: Facts) -> ModelPlan:
        """Return the plan of one model that costs its share of the budget."""

    def _n_rows(self, adjacency: Adjacency, matrix: Any) -> int:
        """Return the public number of rows."""
        if adjacency.size_is_public:
            if self.expected_rows is not None:
                raise InvalidArgument(
                    "`expected_rows` belongs to AddRemove(); under Replace() the number of rows is public. "
                    "Leave it out."
                )
            return int(matrix.shape[0])
        if self.expected_rows is None:
            raise InvalidType(
                f"{type(self).__name__} needs `expected_rows` under AddRemove(), where the number of rows is private: "
                "a public guess of it, by which sums are divided."
            )
        return _checks.integer(self.expected_rows, "expected_rows", low=1, high=2**30)

    def _row_grid(self, facts: Facts, intercept: float, entry_bound: float | None) -> RowGrid:
        grid = RowGrid(facts.n_columns, self.row_norm, entry_bound)
        if not _checks.boolean(self.fit_intercept, "fit_intercept"):
            return grid
        # Never below the grid's unit, which a tiny entry bound could bring about.
        column = min(max(intercept, grid.unit), grid.row_norm)
        return RowGrid(facts.n_columns, self.row_norm, entry_bound, column)

    def _release(
        self,
        staged: Staged,
        facts: Facts,
        ledger: Ledger | None,
        *,
        labels_read: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Release and set the fitted attributes; nothing is set before all is done."""
        one = self._plan(facts)
        table = PrivateTable(
            staged.private_matrix,
            staged.private_targets,
            column_names(staged.estimator, facts.n_columns),
            facts.target_bounds,
            None if progress is None else Passes(one.settled["n_steps"] * facts.n_models, progress),
        )
        whole = plan_models(one, self.budget, facts.n_models)
        released: Release[Any] = release(whole, table, ledger, n_rows=facts.n_rows)
        if labels_read:
            released = with_labels_read(released)
        if isinstance(self.budget, Approx) and self.budget.delta * facts.n_rows > 1:
            released = replace(released, notes=(*released.notes, LARGE_DELTA))
        names = getattr(staged.estimator, "feature_names_in_", None)
        self.take_release(one.grid, one.settled, released, n_features=facts.n_columns, names=names)

    def take_release(
        self, grid: RowGrid, settled: dict[str, Any], released: Release[Any], *, n_features: int, names: Any
    ) -> None:
        """Set the fitted attributes from a release and public facts alone; what a fit ends with."""
        values = released.value if isinstance(released.value, tuple) else (released.value,)
        thetas = np.array([value.theta for value in values])
        self.n_features_in_ = n_features
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        self.release_ = released
        self.grid_ = grid
        for name, value in settled.items():
            setattr(self, f"{name}_", value)
        constants = thetas[:, -1] * (grid.constant * grid.unit) if grid.constant else np.zeros(len(values))
        self._take_coefficients(np.ascontiguousarray(thetas[:, : grid.n_columns]), constants)

    def _take_coefficients(self, coefs: NDArray[np.float64], constants: NDArray[np.float64]) -> None:
        self.coef_ = coefs
        self.intercept_: Any = constants

    def to_finding(self) -> Finding:
        """Return what a report says of the fitted model."""
        from sklearn.utils.validation import check_is_fitted

        from discreet.estimators.descent_findings import finding_of_model

        check_is_fitted(self)
        return finding_of_model(self)

    def _margins(self, X: Any) -> NDArray[np.float64]:
        """Return the linear predictors of new rows, each scaled and clipped as a private one is.

        Shape (n_rows, n_models).
        """
        import scipy.sparse

        matrix = check_new_matrix(self, X)
        coefs, grid = np.atleast_2d(self.coef_), self.grid_
        bounded = bounded_rows(matrix, grid)
        if scipy.sparse.issparse(bounded) and coefs.shape[0] == 1:
            # A matrix product would make a column of each of a million rows.
            margins = (bounded @ coefs[0])[:, None]
        else:
            margins = bounded @ coefs.T
        return np.asarray(margins + np.atleast_1d(self.intercept_))


def bounded_rows(matrix: Any, grid: RowGrid) -> Any:
    """Return public rows within the norm and the entry bound of a grid: each scaled down, then clipped.

    Parameters
    ----------
    matrix : ndarray or csr_array of float64, shape (n_rows, n_columns)
        Finite numbers.

    Examples
    --------
    >>> bounded_rows(np.array([[3.0, 4.0], [0.1, 0.2]]), RowGrid(2, row_norm=1.0, entry_bound=0.7)).round(3).tolist()
    [[0.6, 0.7], [0.1, 0.2]]
    """
    import scipy.sparse

    sparse = scipy.sparse.issparse(matrix)
    cells = np.clip(matrix.data if sparse else matrix, -(2.0**400), 2.0**400)
    if sparse:
        squares = scipy.sparse.csr_array((cells**2, matrix.indices, matrix.indptr), shape=matrix.shape)
        norms = np.sqrt(squares @ np.ones(matrix.shape[1]))
        factors = np.repeat(grid.row_norm / np.maximum(norms, grid.row_norm), np.diff(matrix.indptr))
    else:
        norms = np.sqrt(np.einsum("ij,ij->i", cells, cells))
        factors = (grid.row_norm / np.maximum(norms, grid.row_norm))[:, None]
    largest = grid.entry * grid.unit
    cells *= factors
    np.clip(cells, -largest, largest, out=cells)
    if not sparse:
        return cells
    return scipy.sparse.csr_array((cells, matrix.indices, matrix.indptr), shape=matrix.shape)
