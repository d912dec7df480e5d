"""What several tests of tables need: exact statistics of a source, and a search for planted secrets."""

from __future__ import annotations

import traceback

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.lattice.gram import GramSum
from discreet.tables.readers.tables import open_table


def rows_of(source, design, **how):
    """Return the grid rows of a source, shape (width, n)."""
    blocks = [
        design.encode(block) for block in open_table(source, design.schema, design.columns_needed, **how).blocks()
    ]
    return np.concatenate(blocks, axis=1) if blocks else np.empty((design.layout.width, 0))


def gram_of(source, design, **how):
    """Return the exact Gram matrix of a source."""
    total = GramSum(design.layout)
    for block in open_table(source, design.schema, design.columns_needed, **how).blocks():
        total.add(design.encode(block))
    return total.gram


def write(path, text, encoding="utf-8"):
    """Write a text file with its line ends untouched; return its path."""
    path.write_bytes(text.encode(encoding))
    return path


def parquet(path, **columns):
    """Write columns to a Parquet file; return its path."""
    pq.write_table(pa.table(columns), path)
    return path


def everything_said(error):
    """Return all texts that an exception carries: itself, its chain, and what tracebacks print."""
    said, seen, queue = [], set(), [error]
    while queue:
        one = queue.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        said += [str(one), repr(one), repr(one.args), repr(vars(one)), repr(getattr(one, "__notes__", ""))]
        said += traceback.format_exception(one)
        queue += [one.__cause__, one.__context__]
    return "\n".join(said)


def assert_silent(error, *secrets):
    """Assert that no exception in the chain of `error` holds a cell's value, and that no foreign one is kept."""
    said = everything_said(error)
    for secret in secrets:
        assert secret not in said
    assert error.__context__ is None
    assert error.__cause__ is None
    assert "\n" not in str(error)
