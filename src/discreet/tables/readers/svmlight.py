"""The lines of an svmlight text, `label column:value column:value # comment`, as rows; Arrow reads their numbers."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

# Lines that are read at a time.
_BATCH = 8192


class RecordLines:
    """The records of an svmlight text, without their comments.

    Parameters
    ----------
    file : binary file
        The text.

    Attributes
    ----------
    without_record : int or None
        The number of the first line before the last record that is blank or a comment; reading ends there.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self.without_record: int | None = None

    def __iter__(self) -> Iterator[bytes]:
        first_blank = None
        for number, line in enumerate(self._file, 1):
            record = line.partition(b"#")[0].strip()
            if not record and not line.strip():
                first_blank = first_blank or number
                continue
            if first_blank or not record:
                self.without_record = first_blank or number
                return
            yield record


def rows_of(lines: RecordLines, width: int, *, zero_based: bool) -> tuple[Any, NDArray[np.float64]]:
    """Return the features as a csr_array of shape (n_rows, width), and the labels.

    In a row the columns must rise. A token `qid:...` before them is left out.

    Raises
    ------
    ValueError
        If a line is malformed, or a column number lies outside; it may quote a cell.
    """
    import scipy.sparse

    records = iter(lines)
    parts = []
    while batch := list(islice(records, _BATCH)):
        parts.append(_batch(batch, width, first=0 if zero_based else 1))
    labels, counts, columns, values = (
        np.concatenate([np.empty(0, kind), *(part[place] for part in parts)])
        for place, kind in enumerate((np.float64, np.int64, np.int64, np.float64))
    )
    ends = np.concatenate([[0], np.cumsum(counts)])
    places = np.int32 if max(width, columns.size) < 2**31 else np.int64
    parts_of_rows = (values, columns.astype(places), ends.astype(places))
    return scipy.sparse.csr_array(parts_of_rows, shape=(counts.size, width)), labels


def _batch(
    lines: list[bytes], width: int, *, first: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the labels of some lines, how many cells each has, and the columns and values of these."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pa.array(lines, pa.large_binary()).cast(pa.large_string())
    split = pc.ascii_split_whitespace(texts)
    tokens, starts = split.flatten(), np.asarray(split.offsets)
    counts = np.diff(starts) - 1
    is_cell = np.ones(len(tokens), dtype=np.bool_)
    is_cell[starts[:-1]] = False
    labels = _numbers(tokens.filter(pa.array(~is_cell)))
    # The number of a query may stand first.
    queried = np.flatnonzero(counts > 0)
    second = starts[:-1][queried] + 1
    is_query = pc.starts_with(tokens.take(pa.array(second)), "qid:").to_numpy(zero_copy_only=False).astype(np.bool_)
    is_cell[second[is_query]] = False
    counts[queried[is_query]] -= 1
    pairs = pc.split_pattern(tokens.filter(pa.array(is_cell)), ":", max_splits=1)
    if not np.all(np.diff(np.asarray(pairs.offsets)) == 2):
        raise ValueError
    columns = pc.list_element(pairs, 0).cast(pa.int64()).to_numpy() - first
    row = np.repeat(np.arange(counts.size), counts)
    falls = (np.diff(columns) <= 0) & (np.diff(row) == 0)
    if falls.any() or not ((columns >= 0) & (columns < width)).all():
        raise ValueError
    return labels, counts, columns, _numbers(pc.list_element(pairs, 1))


def _numbers(texts: Any) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    # Arrow knows no sign of what is above 0; its error is a ValueError.
    plain = pc.replace_substring_regex(texts, pattern=r"^\+([0-9.])", replacement=r"\1")
    return np.asarray(plain.cast(pa.float64()).to_numpy())
