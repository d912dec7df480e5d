"""Linear predictors of new records, and the means that follow from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidArgument
from discreet.tables.prediction import feature_blocks, margins_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.lattice.row_grid import RowGrid


def linear_predictors(model: Any, data: Any) -> NDArray[np.float64]:
    """Return the linear predictors of a table's records, shape (n_rows, n_models).

    NaN where a cell is missing whose policy is "drop".

    Parameters
    ----------
    model : RegressionResult
        With a schema and a formula.
    data : path, data frame, Arrow table, or Table
        The records.
    """
    if model.schema is None or model.formula is None:
        raise InvalidArgument("This result has no schema, so it cannot read a table. Multiply with `coef_` instead.")
    read = feature_blocks(data, model.schema, model.formula, model.feature_names, labels=model.labels)
    blocks = [
        np.where(kept[:, None], margins_of(features, model.coefs.T, model.constants), np.nan) for features, kept in read
    ]
    return np.concatenate(blocks) if blocks else np.empty((0, len(model.coefs)))


def matrix_predictors(model: Any, matrix: Any) -> NDArray[np.float64]:
    """Return the linear predictors of rows of numbers, shape (n_rows, n_models).

    Parameters
    ----------
    model : RegressionResult
        Where it has a `grid`, each row is scaled down and clipped as private ones are.
    matrix : ndarray or csr_array of float64, shape (n_rows, n_features)
        Finite numbers.
    """
    import scipy.sparse

    rows = matrix if model.grid is None else bounded_rows(matrix, model.grid)
    if scipy.sparse.issparse(rows) and len(model.coefs) == 1:
        # A matrix product would make a column of each of a million rows.
        return np.asarray((rows @ model.coefs[0])[:, None] + model.constants)
    return margins_of(rows, model.coefs.T, model.constants)


def means_of(model: Any, margins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what linear predictors of shape (n_rows, n_models) mean.

    Numbers and counts: shape (n_rows,), those of rows with a norm within the target's declared bounds, a count at most
    e times the largest declared one. Labels: the probability of the second of two classes, shape (n_rows,), or those
    of all, shape (n_rows, n_classes).
    """
    if model.loss == "logistic":
        chances = class_chances(margins)
        return chances[:, 1] if margins.shape[1] == 1 else chances
    if model.loss == "poisson":
        return np.asarray(np.exp(np.minimum(margins[:, 0], np.log(model.target_bounds[1]) + 1.0)))
    if model.grid is not None and model.target_bounds is not None:
        return np.asarray(np.clip(margins[:, 0], *model.target_bounds))
    return margins[:, 0]


def class_chances(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities of the classes, shape (n_rows, n_classes), from one model, or one a class.

    Of more than two classes each is fitted against the rest, and their probabilities are scaled to sum to 1.
    """
    positive = 0.5 + np.tanh(margins / 2.0) / 2.0
    if margins.shape[1] == 1:
        return np.column_stack([1.0 - positive[:, 0], positive[:, 0]])
    # Where every class has a probability that rounds to 0, none is likelier than another.
    sums = positive.sum(axis=1, keepdims=True)
    even = np.full_like(positive, 1.0 / margins.shape[1])
    np.divide(positive, sums, out=even, where=~(sums <= 0.0))
    return even


def bounded_rows(matrix: Any, grid: RowGrid) -> Any:
    """Return public rows within the norm and the entry bound of a grid: each scaled down, then clipped.

    Parameters
    ----------
    matrix : ndarray or csr_array of float64, shape (n_rows, n_columns)
        Finite numbers.
    grid : RowGrid
        The public grid of a row.

    Examples
    --------
    >>> from discreet.lattice.row_grid import RowGrid
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
