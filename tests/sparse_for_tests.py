"""The shared small table as sparse matrices: of every format, untidy, and broken in every way that we know."""

from __future__ import annotations

import copy

import numpy as np
import scipy.sparse

from estimators_for_tests import TABLE

FORMATS = ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]


def sparse(kind="csr"):
    """Return the table in a sparse format; blocks of 2 x 3 in BSR."""
    rows = scipy.sparse.csr_array(TABLE)
    return rows.tobsr(blocksize=(2, 3)) if kind == "bsr" else rows.asformat(kind)


def changed(kind, **parts):
    matrix = sparse(kind)
    for name, change in parts.items():
        setattr(matrix, name, change(copy.deepcopy(getattr(matrix, name))))
    return matrix


def put(place, value, dtype=None):
    def change(array):
        array = array if dtype is None else array.astype(dtype)
        array[place] = value
        return array

    return change


def _dok():
    matrix = sparse("dok")
    dict.__setitem__(matrix._dict, (0, 99), 1.0)
    return matrix


def _lil(rows=None, data=None):
    matrix = sparse("lil")
    matrix.rows[3] = matrix.rows[3] + (rows or [])
    matrix.data[3] = matrix.data[3] + (data or [])
    return matrix


def _dia():
    matrix = sparse("dia")
    matrix.offsets = matrix.offsets[:-1]
    return matrix


_BROKEN = {
    f"{kind}, {label}": (lambda kind=kind, parts=parts: changed(kind, **parts))
    for kind in ("csr", "csc", "bsr")
    for label, parts in {
        "number 99": {"indices": put(-1, 99)},
        "number -1": {"indices": put(3, -1)},
        "number 5,000,000": {"indices": put(0, 5_000_000)},
        "number 2**40": {"indices": put(0, 2**40, np.int64)},
        "lines that do not rise": {"indptr": put(1, 10**6)},
        "lines that fall": {"indptr": put(-2, 0)},
        "lines that begin late": {"indptr": put(0, 1)},
        "lines below 0": {"indptr": put(1, -4)},
        "a line too many": {"indptr": lambda lines: np.append(lines, lines[-1])},
        "a line too few": {"indptr": lambda lines: lines[:-1]},
        "more entries than there are": {"indptr": put(-1, 10**6)},
        "data too short": {"data": lambda cells: cells[:-1]},
        "data too long": {"data": lambda cells: np.concatenate([cells, cells])},
        "numbers that are not whole": {"indices": lambda places: places + 0.5},
        "numbers of two dimensions": {"indices": lambda places: places[:, None]},
        "no lines": {"indptr": lambda lines: lines[:0]},
    }.items()
} | {
    "coo, column 99": lambda: changed("coo", coords=lambda places: (places[0], put(-1, 99)(places[1]))),
    "coo, row -1": lambda: changed("coo", coords=lambda places: (put(-1, -1)(places[0]), places[1])),
    "coo, data too short": lambda: changed("coo", data=lambda cells: cells[:-1]),
    "dok, column 99": _dok,
    "lil, column 99": lambda: _lil([99], [1.0]),
    "lil, more numbers": lambda: _lil([], [1.0] * 1000),
    "lil, more columns": lambda: _lil([2]),
    "dia, an offset too few": _dia,
    "bsr, blocks of two dimensions": lambda: changed("bsr", data=lambda cells: cells[:, 0]),
    "bsr, blocks of another size": lambda: changed("bsr", data=lambda cells: cells[:, :, :2]),
}  # fmt: skip
BROKEN = list(_BROKEN)


def broken(name):
    """Return a matrix by its name in `BROKEN`."""
    return _BROKEN[name]()


def untidy(make=scipy.sparse.csr_array, index=np.int32):
    """Return the table as rows whose columns fall and whose entries come in halves, and what it sums to."""
    rows = scipy.sparse.csr_array(TABLE)
    order = np.concatenate([np.arange(b - 1, a - 1, -1) for a, b in zip(rows.indptr, rows.indptr[1:], strict=False)])
    data = np.repeat(rows.data[order] / 2, 2)
    matrix = make((data, np.repeat(rows.indices[order], 2).astype(index), 2 * rows.indptr.astype(index)), TABLE.shape)
    matrix.has_sorted_indices = matrix.has_canonical_format = True  # what it says of itself is not believed
    return matrix


def parts_of(matrix):
    """Return every array that a sparse matrix stands on."""
    if matrix.format == "coo":
        return [matrix.data, *matrix.coords]
    names = ("data", "indices", "indptr", "offsets", "rows")
    return [getattr(matrix, name) for name in names if isinstance(getattr(matrix, name, None), np.ndarray)]
