"""The lines that `discreet predict` writes: predictions batch by batch, beside columns that are kept."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.cli.declarations import WrongUsage, listed
from discreet.errors import InvalidArgument, InvalidData
from discreet.models.predictors import matrix_predictors, means_of
from discreet.tables.blocks import Table
from discreet.tables.prediction import columns_of
from discreet.tables.readers.sources import open_file
from discreet.tables.readers.tables import open_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from discreet.models.result import RegressionResult
    from discreet.tables.blocks import RecordBlock
    from discreet.tables.schema.schema import Schema

HEAD = "prediction"
# Where nothing can be said of a row; an empty line would be skipped by those who read the file.
UNKNOWN = "NA"
# Records that are predicted at a time.
_BATCH_ROWS = 65_536
# Of 64-bit places, so that long cells that are kept have room.
_TEXT = pa.large_string()


class _Batch(Table):
    """Some blocks of records, as a table of their own."""

    def __init__(self, blocks: list[RecordBlock]) -> None:
        self._blocks = blocks
        self.n_rows = sum(block.n_rows for block in blocks)

    def blocks(self) -> Iterator[RecordBlock]:
        """Yield the blocks."""
        yield from self._blocks


class _TextReader:
    """Reads the cells of a column as the texts that they are; it has the interface of a ColumnReader."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def from_arrow(self, array: Any) -> tuple[Any, None]:
        """Return the cells of an Arrow array as texts, null where there is none."""
        texts = None
        with suppress(pa.ArrowException, NotImplementedError):
            texts = array.cast(_TEXT)
        if texts is None:
            raise InvalidData(f"--keep of {self.name!r}: its type is {array.type}, which is no text. Leave it out.")
        return texts, None

    def from_objects(self, objects: list[Any]) -> tuple[Any, None]:
        """Return the cells of a spreadsheet as texts."""
        return pa.array([None if cell is None else str(cell) for cell in objects], _TEXT), None


class KeptColumns:
    """Columns of the input that stand beside the predictions, read in a pass of their own.

    Parameters
    ----------
    data : Path
        The input.
    names : sequence of str
        Its columns that are kept; they need no declaration.
    schema : Schema
        By which text files are read.
    """

    def __init__(self, data: Path, names: Sequence[str], schema: Schema) -> None:
        self.names = list(names)
        readers: Any = [_TextReader(name) for name in names]
        reason = None
        try:
            table = open_file(data, schema, readers)
        except InvalidData as error:
            reason = str(error)
        if reason is not None:
            raise InvalidData(f"--keep: {reason}")
        self._blocks = table.blocks()
        self._waiting: list[Any] = []
        self._n_waiting = 0

    def take(self, n_rows: int) -> list[Any]:
        """Return the texts of the next records, one Arrow array a column."""
        while self._n_waiting < n_rows:
            block = next(self._blocks, None)
            if block is None:
                raise InvalidData("The data file changed while it was read. Run `discreet predict` again.")
            self._waiting.append(pa.table([block.columns[name] for name in self.names], names=self._places()))
            self._n_waiting += block.n_rows
        rows = pa.concat_tables(self._waiting)
        self._waiting, self._n_waiting = [rows.slice(n_rows)], self._n_waiting - n_rows
        return [column.combine_chunks() for column in rows.slice(0, n_rows).columns]

    def _places(self) -> list[str]:
        return [str(place) for place in range(len(self.names))]


def kept_names(texts: Sequence[str] | None) -> list[str]:
    """Return the column names of --keep, each once."""
    names = list(dict.fromkeys(name for text in texts or () for name in listed(text)))
    if HEAD in names:
        raise WrongUsage(f"--keep of {HEAD!r} would give two columns of that name. Rename it in the data.")
    return names


def predict_table(
    model: RegressionResult, data: Path, keep: Sequence[str], tell: Callable[[Table], Callable[[int], None] | None]
) -> Iterator[str]:
    """Yield the lines of a model's predictions for a file, the head first; all names are checked before.

    Parameters
    ----------
    model : RegressionResult
        What predicts; it has a schema.
    data : Path
        The input.
    keep : sequence of str
        Columns of the input that are copied.
    tell : callable
        Given the table, returns what is called with the position, or None.
    """
    schema = model.schema
    assert schema is not None  # noqa: S101  (asked by the caller)
    table = open_table(data, schema.of_single_rows(), columns_of(schema, str(model.formula), labels=model.labels))
    kept = KeptColumns(data, keep, schema) if keep else None

    def parts() -> Iterator[str]:
        yield lines([pa.array([name], _TEXT) for name in [*keep, HEAD]])
        progress = tell(table)
        for batch in _batches(table):
            beside = [] if kept is None else [column.fill_null("") for column in kept.take(batch.n_rows)]
            yield lines([*beside, _told(model, model.margins(batch))])
            if progress is not None:
                progress(table.position)

    return parts()


def lines(columns: Sequence[Any]) -> str:
    """Return Arrow arrays as the lines of a CSV file; a null is `UNKNOWN`."""
    cells = [_quoted(column.cast(_TEXT)).fill_null(UNKNOWN) for column in columns]
    rows = cells[0] if len(cells) == 1 else pc.binary_join_element_wise(*cells, _scalar(","))
    if len(rows) == 0:
        return ""
    whole = pc.binary_join(pa.LargeListArray.from_arrays([0, len(rows)], rows), _scalar("\n"))
    return f"{whole[0].as_py()}\n"


def numbers(values: Any) -> Any:
    """Return numbers as an Arrow array, null where they are NaN."""
    array = np.asarray(values, dtype=np.float64)
    return pa.array(array, mask=np.isnan(array))


def texts(labels: Sequence[Any]) -> Any:
    """Return labels as an Arrow array of texts."""
    return pa.array([str(label) for label in labels], _TEXT)


def predict_sparse(model: RegressionResult, data: Path, *, zero_based: bool) -> Iterator[str]:
    """Yield the lines of the predictions of a model without a schema for an svmlight or .npz file, the head first.

    Parameters
    ----------
    model : RegressionResult
        What predicts.
    data : Path
        The input.
    zero_based : bool
        Whether an svmlight text counts its columns from 0.
    """
    from discreet.tables.readers.sparse_files import is_sparse_file, read_sparse

    if model.grid is None and not is_sparse_file(data):
        raise InvalidArgument(
            "The model was fitted on arrays, whose columns have no names, so that it cannot read a table. "
            "Load it in Python and use its `predict`."
        )
    n_columns = model.coefs.shape[1]
    matrix = read_sparse(data, n_columns=None if data.suffix.lower() == ".npz" else n_columns, zero_based=zero_based)
    rows = matrix.private_X.astype(np.float64)
    if rows.shape[1] != n_columns:
        raise InvalidData(
            f"{str(data)!r} has {rows.shape[1]} features, and the model has {n_columns}. Give a file of its columns."
        )
    if not np.isfinite(rows if isinstance(rows, np.ndarray) else rows.data).all():
        raise InvalidData(f"{str(data)!r} has missing cells (NaN or inf); a prediction needs a number in every cell.")
    return iter([lines([texts([HEAD])]), lines([_told(model, matrix_predictors(model, rows))])])


def _told(model: RegressionResult, margins: NDArray[np.float64]) -> Any:
    """Return what linear predictors mean, null where they are NaN; of more than two classes the likeliest label."""
    if margins.shape[1] == 1:
        return numbers(means_of(model, margins))
    assert model.classes is not None  # noqa: S101  (there is one model a class)
    labels = texts(model.classes[np.argmax(np.nan_to_num(margins), axis=1)].tolist())
    return pc.if_else(pa.array(np.isnan(margins).any(axis=1)), None, labels)


def _quoted(column: Any) -> Any:
    """Return texts with those in double quotes that need them."""
    marked = pc.match_substring_regex(column, '[",\r\n]')
    if not pc.any(marked).as_py():
        return column
    doubled = pc.replace_substring(column, pattern='"', replacement='""')
    return pc.if_else(marked, pc.binary_join_element_wise(_scalar('"'), doubled, _scalar('"'), _scalar("")), column)


def _scalar(text: str) -> Any:
    return pa.scalar(text, _TEXT)


def _batches(table: Table) -> Iterator[_Batch]:
    waiting: list[RecordBlock] = []
    n_rows = 0
    for block in table.blocks():
        waiting.append(block)
        n_rows += block.n_rows
        if n_rows >= _BATCH_ROWS:
            yield _Batch(waiting)
            waiting, n_rows = [], 0
    if waiting:
        yield _Batch(waiting)
