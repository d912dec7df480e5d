"""Sparse private rows from files: svmlight text, and numpy's or scipy's .npz; a malformed cell is never quoted."""

from __future__ import annotations

import bz2
import gzip
import os
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidData
from discreet.tables.arrays import UNEQUAL
from discreet.tables.readers.svmlight import RecordLines, rows_of
from discreet.tables.sparse_rows import summed_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_TEXT_ENDINGS = (".svm", ".svmlight", ".libsvm")
_PACKED = (".gz", ".bz2")
ENDINGS = ".svm, .svmlight or .libsvm, also with .gz or .bz2 behind it, or .npz"
_COMPRESSED_ROWS = {"data", "indices", "indptr", "shape"}
_BROKEN = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    OverflowError,
    OSError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True, eq=False)
class SparseTable:
    """Rows of a file.

    Parameters
    ----------
    private_X : csr_array or ndarray, shape (n_rows, n_columns)
        The features.
    private_y : ndarray of shape (n_rows,) or None
        The target, where the file has one: numbers, or texts.
    """

    private_X: Any  # noqa: N815  (the field's letter)
    private_y: NDArray[Any] | None


def is_sparse_file(path: str | os.PathLike[str]) -> bool:
    """Return whether the name's ending is one of those that are read here."""
    return _kind(path) is not None


def read_sparse(
    path: str | os.PathLike[str],
    *,
    n_columns: int | None = None,
    zero_based: bool = False,
    labels: str | os.PathLike[str] | None = None,
) -> SparseTable:
    """Return the rows of an svmlight or .npz file.

    Parameters
    ----------
    path : path
        An svmlight text, or an .npz with the arrays `data, indices, indptr, shape`, or `X`, or made by
        `scipy.sparse.save_npz`; in the first two cases also `y`.
    n_columns : int, optional
        Of an svmlight text, which does not say it; the largest number in its rows would be private.
    zero_based : bool
        Whether an svmlight text counts its columns from 0, and not from 1 as the format says.
    labels : path, optional
        Where an .npz file has no `y`: an .npy file, an .npz file with an array `y`, or a text with one label a line.

    Raises
    ------
    InvalidArgument
        If a file is absent, or its ending is none of these.
    InvalidData
        If it is malformed; quotes nothing.
    """
    kind = _kind(path)
    _require(path)
    if kind is None:
        raise InvalidArgument(f"{os.fspath(path)!r} has an ending that is not read. Name it {ENDINGS}.")
    if kind == "npz":
        if n_columns is not None:
            raise InvalidArgument("An .npz file says how many columns there are. Leave the number out.")
        table: SparseTable = _guarded(lambda: _read_npz(path), path, "an .npz file with a sparse matrix")
    else:
        table = _read_svmlight(path, n_columns, zero_based=zero_based)
    if labels is not None:
        if table.private_y is not None:
            raise InvalidArgument(f"{os.fspath(path)!r} has labels of its own. Leave the file of labels out.")
        table = SparseTable(table.private_X, read_labels(labels))
    if table.private_y is not None and table.private_y.shape != (table.private_X.shape[0],):
        raise InvalidData(UNEQUAL)
    return table


def read_labels(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Return the labels of an .npy file, of an .npz file's `y`, or of a text with one a line; "" is missing."""
    _require(path)
    ending = Path(path).suffix.lower()
    if ending in {".npy", ".npz"}:
        stored: NDArray[Any] = _guarded(lambda: _array_in(path), path, "a file of labels")
        return stored
    text = _guarded(lambda: Path(path).read_bytes().decode("utf-8"), path, "a text with one label a line")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        if "\r" in line.removesuffix("\r"):
            raise InvalidData(
                f"Line {number} of {os.fspath(path)!r} holds a carriage return that is not part of the line's end. "
                "Write one label a line."
            )
    labels = np.empty(len(lines), dtype=object)
    # Editors put a byte-order mark before the first; it is no letter of any label.
    labels[:] = [line.removeprefix("\ufeff").strip() or None for line in lines]
    return labels


def _kind(path: str | os.PathLike[str]) -> str | None:
    name = Path(path).name.lower()
    if name.endswith(".npz"):
        return "npz"
    for packed in _PACKED:
        name = name.removesuffix(packed)
    return "svmlight" if name.endswith(_TEXT_ENDINGS) else None


def _require(path: str | os.PathLike[str]) -> None:
    if not Path(path).is_file():
        raise InvalidArgument(f"There is no file {os.fspath(path)!r}. Correct its path.")


def _guarded(read: Callable[[], Any], path: str | os.PathLike[str], what: str) -> Any:
    """Run a reader whose own errors may quote a cell; raise ours, outside its except block."""
    try:
        return read()
    except _BROKEN:
        pass
    raise InvalidData(f"{os.fspath(path)!r} is not {what}, or is damaged. Write it anew.")


def _read_svmlight(path: str | os.PathLike[str], n_columns: int | None, *, zero_based: bool) -> SparseTable:
    if n_columns is None:
        raise InvalidArgument(
            "An svmlight file does not say how many columns there are, and its largest column number is private: "
            "give the public number of columns."
        )
    width = _checks.integer(n_columns, "n_columns", low=1, high=2**40)
    _checks.boolean(zero_based, "zero_based")

    without_record: list[int] = []

    def read() -> SparseTable:
        with _opened(path) as file:
            lines = RecordLines(file)
            X, y = rows_of(lines, width, zero_based=zero_based)
        if lines.without_record is not None:
            without_record.append(lines.without_record)
        return SparseTable(X, y)

    start = 0 if zero_based else 1
    what = f"an svmlight file with column numbers from {start} to {width - 1 + start}"
    table: SparseTable = _guarded(read, path, what)
    if without_record:
        raise InvalidData(
            f"Line {without_record[0]} of {os.fspath(path)!r} is blank or a comment, and each line must be a record. "
            "Remove it."
        )
    return table


def _opened(path: str | os.PathLike[str]) -> Any:
    """Open a text for reading as bytes; the name's ending tells in any case how it is packed."""
    ending = Path(path).suffix.lower()
    if ending == ".gz":
        return gzip.open(path)
    return bz2.open(path) if ending == ".bz2" else Path(path).open("rb")


def _read_npz(path: str | os.PathLike[str]) -> SparseTable:
    import scipy.sparse

    with np.load(path, allow_pickle=False) as arrays:
        names = set(arrays.files)
        y = np.ravel(arrays["y"]) if "y" in names else None
        if "format" in names:
            matrix = scipy.sparse.load_npz(path)
        elif names >= _COMPRESSED_ROWS:
            shape = tuple(int(size) for size in arrays["shape"])
            matrix = scipy.sparse.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
        else:
            matrix = arrays["X"]
    if scipy.sparse.issparse(matrix):
        # Before a conversion or a product follows column numbers outside, into foreign memory.
        matrix = summed_rows(matrix)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise ValueError
    return SparseTable(matrix, y)


def _array_in(path: str | os.PathLike[str]) -> NDArray[Any]:
    loaded = np.load(path, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return np.ravel(loaded)
    with loaded:
        return np.ravel(loaded["y"])
