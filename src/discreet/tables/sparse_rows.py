"""Sparse matrices of users: checked before anything follows their column numbers, copied before anything is changed.

scipy's compiled code believes column numbers: one outside the shape is a read or a write in foreign memory.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidData, InvalidType
from discreet.tables.cells.given_cells import REAL, unmasked

if TYPE_CHECKING:
    from numpy.typing import NDArray


def summed_rows(matrix: Any, name: str = "X") -> Any:
    """Return a sparse matrix of any format as rows of doubles whose doubled entries are summed; a copy.

    Entries of one place are added in the order in which they stand, whatever stands in other rows.

    Parameters
    ----------
    matrix : scipy.sparse matrix or array, shape (n_rows, n_columns)
        Private; nothing is written to it, and what it says of itself, such as that its entries are sorted, is not
        believed.
    name : str
        How messages call it.

    Returns
    -------
    csr_array of float64, shape (n_rows, n_columns)
        In every row the columns rise.

    Raises
    ------
    InvalidType
        If it is of an unknown format, or holds no real numbers.
    InvalidData
        If it has not two dimensions, or its arrays do not describe a matrix of its shape.

    Examples
    --------
    >>> import scipy.sparse
    >>> doubled = scipy.sparse.csr_array((np.array([1, 2]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    >>> summed_rows(doubled).toarray().tolist(), doubled.nnz
    ([[0.0, 3.0, 0.0]], 2)
    """
    if len(matrix.shape) != 2:
        raise InvalidData(f"`{name}` must be a sparse matrix of two dimensions; found another number of them.")
    if getattr(matrix.dtype, "kind", "O") not in REAL:
        if matrix.dtype.kind == "c":
            raise InvalidData(f"Complex data not supported in `{name}`. Give real numbers.")
        raise InvalidType(f"`{name}` must hold real numbers; found {matrix.dtype}.")
    take = _TAKERS.get(matrix.format)
    if take is None:
        raise InvalidType(f"`{name}` is sparse in the format {matrix.format!r}, which is not read. Use .tocsr().")
    rows, found = None, None
    with suppress(Exception):  # what scipy and numpy say of parts that are no arrays may quote them
        found = take(matrix)
        if found is not None:
            rows = _summed(found)
    if rows is None:
        raise InvalidData(
            f"`{name}` is a broken sparse matrix: a row or column number lies outside its shape, or its arrays do not "
            f"belong together. Build it anew; {name}.check_format() says more."
        )
    return rows


def _summed(found: Any) -> Any:
    """Return a sound matrix as rows without doubled entries."""
    import scipy.sparse

    rows = scipy.sparse.csr_array(found)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if rows.nnz == found.nnz:
        return rows
    # scipy sorts all rows or none, and its sort may change the order of doubled entries: what those of a row add up
    # to would depend on whether another row is in order.
    return _added_in_order(found.tocoo())


def _added_in_order(triples: Any) -> Any:
    """Return triples as rows whose doubled entries are added one after the other, as they stand."""
    import scipy.sparse

    row, column = triples.row, triples.col
    order = np.lexsort((column, row))
    row, column = row[order], column[order]
    first = np.ones(row.size, dtype=np.bool_)
    first[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    sums = np.bincount(np.cumsum(first) - 1, weights=triples.data[order])
    ends = np.concatenate([[0], np.cumsum(np.bincount(row[first], minlength=triples.shape[0]))])
    rows = scipy.sparse.csr_array((sums, column[first], ends.astype(column.dtype)), shape=triples.shape)
    rows.sum_duplicates()
    return rows


def is_sparse_frame(X: Any) -> bool:
    """Return whether every column of a pandas frame is stored without its zeros."""
    return hasattr(X, "iloc") and len(X.dtypes) > 0 and all(getattr(kind, "fill_value", None) == 0 for kind in X.dtypes)


def _whole(values: Any, size: int) -> NDArray[Any] | None:
    """Return a copy of whole numbers from 0 to below `size`, or None if they are not."""
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        return None
    if array.size and not (int(array.min()) >= 0 and int(array.max()) < size):
        return None
    return np.array(array, dtype=np.int32 if size < 2**31 else np.int64)


def _doubles(values: Any) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):  # a warning would tell of a cell
        return np.array(unmasked(values), dtype=np.float64)


def _parts(matrix: Any, n_lines: int, n_places: int) -> tuple[Any, Any, Any] | None:
    """Return copies of data, indices and indptr of a compressed matrix, or None if they do not fit."""
    indptr = _whole(matrix.indptr, np.size(matrix.indices) + 1)
    indices = np.asarray(matrix.indices)
    if indptr is None or indptr.shape != (n_lines + 1,) or indptr[0] != 0 or (np.diff(indptr) < 0).any():
        return None
    if len(matrix.data) != indices.size:
        return None
    # Room behind the last entry holds nothing.
    used = _whole(indices[: indptr[-1]], n_places)
    return None if used is None else (_doubles(matrix.data[: indptr[-1]]), used, indptr)


def _of_csr(matrix: Any) -> Any:
    import scipy.sparse

    parts = _parts(matrix, *matrix.shape)
    if parts is None or parts[0].ndim != 1:
        return None
    return scipy.sparse.csr_array(parts, shape=matrix.shape)


def _of_csc(matrix: Any) -> Any:
    import scipy.sparse

    parts = _parts(matrix, *matrix.shape[::-1])
    if parts is None or parts[0].ndim != 1:
        return None
    return scipy.sparse.csc_array(parts, shape=matrix.shape)


def _of_bsr(matrix: Any) -> Any:
    import scipy.sparse

    if matrix.data.ndim != 3 or min(matrix.data.shape[1:]) < 1:
        return None
    height, width = matrix.data.shape[1:]
    if matrix.shape[0] % height or matrix.shape[1] % width:
        return None
    parts = _parts(matrix, matrix.shape[0] // height, matrix.shape[1] // width)
    return None if parts is None else scipy.sparse.bsr_array(parts, shape=matrix.shape)


def _of_coo(matrix: Any) -> Any:
    return _of_triples(matrix.data, matrix.row, matrix.col, matrix.shape)


def _of_triples(data: Any, rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    import scipy.sparse

    row, column, cells = _whole(rows, shape[0]), _whole(columns, shape[1]), _doubles(data)
    if row is None or column is None or not cells.shape == row.shape == column.shape:
        return None
    return scipy.sparse.coo_array((cells, (row, column)), shape=shape)


def _of_dia(matrix: Any) -> Any:
    data, offsets = np.asarray(matrix.data), np.asarray(matrix.offsets)
    if data.ndim != 2 or offsets.shape != (data.shape[0],) or offsets.dtype.kind not in "iu":
        return None
    if np.unique(offsets).size != offsets.size:
        return None
    # A diagonal's entry in column j stands in row j - offset; what lies outside is no entry.
    length = min(data.shape[1], matrix.shape[1])
    columns = np.broadcast_to(np.arange(length), (offsets.size, length))
    rows = columns - np.clip(offsets.astype(np.int64), -matrix.shape[0], matrix.shape[1])[:, None]
    there = (rows >= 0) & (rows < matrix.shape[0])
    return _of_triples(data[:, :length][there], rows[there], columns[there], matrix.shape)


def _of_dok(matrix: Any) -> Any:
    places = np.array(list(matrix.keys()), dtype=np.int64).reshape(-1, 2)
    return _of_triples(list(matrix.values()), places[:, 0], places[:, 1], matrix.shape)


def _of_lil(matrix: Any) -> Any:
    counts = [len(columns) for columns in matrix.rows]
    if counts != [len(cells) for cells in matrix.data] or len(counts) != matrix.shape[0]:
        return None
    columns = np.array([place for columns in matrix.rows for place in columns] or np.empty(0, np.int64))
    cells = [cell for cells in matrix.data for cell in cells]
    return _of_triples(cells, np.repeat(np.arange(len(counts)), counts), columns, matrix.shape)


_TAKERS = {
    "csr": _of_csr, "csc": _of_csc, "bsr": _of_bsr, "coo": _of_coo, "dia": _of_dia, "dok": _of_dok, "lil": _of_lil,
}  # fmt: skip
