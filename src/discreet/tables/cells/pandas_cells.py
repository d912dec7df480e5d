"""Cells of a pandas column: how they are held follows from its dtype, which is public, and never tried out on cells."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from discreet.tables.cells.cell_reader import CellReader, Cells

_MASKED = {"BooleanDtype", "Float32Dtype", "Float64Dtype"} | {
    f"{sign}Int{bits}Dtype" for sign in ("", "U") for bits in (8, 16, 32, 64)
}


def read_pandas(reader: CellReader, cells: Any) -> Cells:
    """Return the cells of a pandas series, as `from_arrow` does.

    Raises
    ------
    InvalidData
        If the series' dtype has no meaning for the reader; names the column and the dtype.
    """
    import pandas as pd

    kind = cells.dtype
    if isinstance(kind, np.dtype):
        return reader.from_numpy(cells.to_numpy())
    if isinstance(kind, pd.CategoricalDtype):
        return _categories(reader, cells)
    if isinstance(kind, pd.SparseDtype):
        return reader.from_numpy(np.asarray(cells.array))
    if isinstance(kind, pd.StringDtype) and kind.storage == "python":
        return reader.from_objects(cells.to_numpy(object).tolist())
    array = _typed(cells.array) if _is_typed(kind) else None
    if array is None:
        raise reader.refusal(kind)
    return reader.from_arrow(array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array)


def _is_typed(kind: Any) -> bool:
    """Whether Arrow's type of a column follows from its dtype alone."""
    import pandas as pd

    if isinstance(kind, (pd.StringDtype, pd.ArrowDtype, pd.DatetimeTZDtype)):
        return True
    return type(kind).__name__ in _MASKED and type(kind).__module__.partition(".")[0] == "pandas"


def _typed(cells: Any) -> Any:
    """Return the Arrow array of a typed column, or None where Arrow does not have its type, such as a zone."""
    with suppress(pa.ArrowException, TypeError, ValueError, NotImplementedError):
        return pa.array(cells)
    return None


def _categories(reader: CellReader, cells: Any) -> Cells:
    """Return the cells of a categorical; a category that no cell has is not read."""
    codes = cells.cat.codes.to_numpy().astype(np.int64)
    used = np.bincount(codes + 1, minlength=len(cells.cat.categories) + 1)[1:] > 0
    values, trouble = read_pandas(reader, cells.cat.categories[used].to_series())
    places = np.append(np.cumsum(used) - 1, -1)[codes]
    return np.append(values, reader.nothing())[places], trouble
