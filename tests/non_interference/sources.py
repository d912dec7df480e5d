"""Sources of private records of every kind, each made from a list of records, and what a reader makes of them.

The promise of every source: read([r1, ..., rn]) = [code(r1), ..., code(rn)] for one function `code`, or a refusal
before any charge. So a table is compared with its records read one by one: a record that changed how another is read,
vanished, or became two, shows.
"""

from __future__ import annotations

import datetime as dt
import gzip
from decimal import Decimal
from fractions import Fraction

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from discreet.errors import DiscreetError
from discreet.lattice.gram import GramSum
from discreet.tables.design import Design
from discreet.tables.readers import text_files
from discreet.tables.readers.sparse_files import read_labels, read_sparse
from discreet.tables.readers.tables import open_rows, open_table
from discreet.tables.rows import TableRows
from discreet.tables.schema.columns import Category, Date, Flag, Number, Reading
from discreet.tables.schema.schema import Schema

# Letters whose lower case has more than one spelling, or another length.
FINAL_SIGMA, DOTTED = "ΟΔΟΣ", "İzmir"
COLUMNS = {
    "a": Number(-10, 10, missing="drop"),
    "c": Category(["u", "v", "7"], missing="u", labels={FINAL_SIGMA: "v", "οδος": "v", DOTTED: "7", "ja": "u"}),
    "f": Flag(missing=0, labels={"yes": 1, "no": 0, FINAL_SIGMA: 1}),
    "d": Date("2000-01-01", "2020-01-01", missing="2005-05-05"),
}
NAMES = (*COLUMNS, "note")
DESIGN = Design.for_terms("a + c + f + d", Schema(COLUMNS))


def codes_of(source, design=DESIGN):
    """Return the integer rows of a source, one tuple a record, or None where it is refused."""
    rows = []
    try:
        for block in open_table(source, design.schema, design.columns_needed).blocks():
            rows += [tuple(row) for row in design.encode(block).T.astype(np.int64).tolist()]
    except DiscreetError:
        return None
    return rows


# Text files ----------------------------------------------------------------------------------------------------------

CELLS = st.one_of(
    st.sampled_from(
        ["", "1", "-3.5", "1e999", "nan", "u", "v", "7", "7.0", "true", "NO", "yes", FINAL_SIGMA, "οδοσ", DOTTED,
         "2001-02-03", "x" * 70, "0x10", "50 %", " 7 ", "'", "\u2028", "\x0b", "\x0c", "\x1c", "\x85", "\x00", "\t",
         "1_0", "\uff11", "1,5", "\ufeff1"]
    ),
    st.text(max_size=4),
).map(lambda text: text.replace("\n", ""))  # fmt: skip
WIDE_CELLS = st.one_of(CELLS, st.sampled_from(["a\nb", "a\r\nb", 'a"\n"b', "\n", '"', ",\n,", "x\ry"]))
HOSTILE = st.sampled_from(
    ['"said hi', '"said hi', 'said hi"', '"', '""', '"""', 'a"b', '5" pipe', '"a"b', ' "y"', "\r", "z\r", '"\r"',
     "z\r1,u,1,2001-01-01,y"]
)  # fmt: skip
SPELLED = st.one_of(HOSTILE, CELLS, CELLS.map(lambda cell: '"' + cell.replace('"', '""') + '"'))


def line_of(*cells):
    """Return a strategy of lines with such cells."""
    return st.tuples(*cells).map(",".join).map(lambda line: line.encode("utf-8", "surrogatepass"))


GOOD = (
    st.sampled_from(["1", "2.5", ""]),
    st.sampled_from(["u", "v"]),
    st.sampled_from(["0", "1"]),
    st.just("2001-01-01"),
)
WELL_FORMED = line_of(*GOOD, st.sampled_from(["ok", "", '"a, b"']))
LINES = st.one_of(
    WELL_FORMED,
    WELL_FORMED,
    line_of(*GOOD, HOSTILE),
    line_of(*GOOD, SPELLED),
    line_of(*[SPELLED] * len(NAMES)),
    st.binary(max_size=6).map(lambda raw: raw.replace(b"\n", b"")),
    st.just(b""),
)


def text_file(folder, name, lines, *, header=b"a,c,f,d,note", end=b"\n", closed=True):
    """Write records between line ends to a file; `closed` says whether the last one has an end."""
    content = header + end + end.join(lines) + (end if closed and lines else b"")
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def with_reading(**reading):
    """Return the design under declarations of how texts are read."""
    return Design.for_terms("a + c + f + d", Schema(COLUMNS, reading=Reading(**reading)))


UNQUOTED = with_reading(quote="none", delimiter="\t")
OVER_LINES = with_reading(newlines_in_cells=True)


def quoted(cells):
    """Return a record as a writer makes it that doubles quotes."""
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells).encode("utf-8", "replace")


def without_last_blanks(lines):
    """Return the records of a file of several columns: a blank line at its end is none."""
    kept = list(lines)
    while kept and not kept[-1].strip(b"\r"):
        kept.pop()
    return kept


def small_chunks(monkeypatch, size):
    """Let text files be read in chunks of `size` bytes, so that records stand at their edges."""
    monkeypatch.setattr(text_files, "CHUNK_BYTES", size)


# Frames --------------------------------------------------------------------------------------------------------------


class Raises:
    """An object that raises whatever is asked of it."""

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __str__(self):
        raise RuntimeError

    __repr__ = __str__
    __float__ = __str__
    __lower__ = __str__


ODD = st.sampled_from(
    [None, True, False, 1, 7, 2.5, 7.0, float("nan"), float("inf"), 10**400, 2**64, -(2**63), 1j, b"7", b"\xff",
     "\ud800",      Decimal(7), Decimal("1.50"), Decimal("NaN"), Fraction(1, 3), dt.date(2001, 2, 3),
     dt.datetime(2001, 2, 3, 23, 59), dt.timedelta(days=3), np.timedelta64(5, "D"), np.datetime64("2001-02-03"),
     np.float32(2.5), np.int8(7), np.bool_(True), pd.NA, pd.NaT, (1, 2), Raises()]
)  # fmt: skip
TEXTS = st.one_of(
    CELLS,
    st.sampled_from([FINAL_SIGMA, FINAL_SIGMA.lower(), "οδοσ", DOTTED, DOTTED.lower(), "JA", "Yes", "TRUE", "\ud800"]),
)
OBJECTS = st.one_of(ODD, TEXTS)
FLOATS = st.one_of(st.floats(), st.sampled_from([0.0, 1.0, 7.0, -0.0, 2.0**53, 1e308, 5e-324]))
WHOLES = st.one_of(st.integers(-20, 20), st.sampled_from([2**53 + 1, 2**63 - 1, -(2**63), 20010203]))
MOMENTS = st.one_of(
    st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2250, 1, 1)),
    st.just(dt.datetime(2001, 2, 3, 23, 59)),
)


def optional(cells):
    """Return a strategy of cells that may be missing."""
    return st.one_of(st.none(), cells)


def pandas_column(cells, dtype):
    """Return a pandas column of a declared type."""
    if dtype == "category":
        return pd.Series(pd.Categorical(cells))
    return pd.Series(cells, dtype=dtype)


# name: (strategy of one cell, from a list of cells to a source column, declared columns that can be held in it)
PANDAS = {
    "object": (OBJECTS, "object", "acfd"),
    "category": (
        st.one_of(
            st.none(),
            TEXTS.filter(lambda text: "\ud800" not in text),
            st.sampled_from([1, 7, 2.5, Decimal("1.50"), b"7"]),
        ),
        "category",
        "acf",
    ),
    "string[python]": (optional(TEXTS), "string[python]", "acfd"),
    "string[pyarrow]": (optional(TEXTS.filter(lambda text: "\ud800" not in text)), "string[pyarrow]", "acfd"),
    "str": (optional(TEXTS.filter(lambda text: "\ud800" not in text)), "str", "acfd"),
    "Int64": (optional(WHOLES), "Int64", "acf"),
    "Float64": (optional(FLOATS), "Float64", "acf"),
    "boolean": (optional(st.booleans()), "boolean", "acf"),
    "float64": (FLOATS, "float64", "acf"),
    "float32": (FLOATS.map(lambda x: float(np.clip(x, -3e38, 3e38))), "float32", "acf"),
    "int64": (WHOLES, "int64", "acf"),
    "datetime64[ns]": (optional(MOMENTS), "datetime64[ns]", "d"),
    "datetime64[s]": (optional(MOMENTS), "datetime64[s]", "d"),
    "datetime64[us, Asia/Tokyo]": (optional(MOMENTS), "datetime64[us, Asia/Tokyo]", "d"),
}
ARROW = {
    "string": (optional(TEXTS.filter(lambda text: "\ud800" not in text)), pa.string(), "acfd"),
    "dictionary": (
        optional(TEXTS.filter(lambda text: "\ud800" not in text)),
        pa.dictionary(pa.int32(), pa.string()),
        "acfd",
    ),
    "int64": (optional(WHOLES), pa.int64(), "acf"),
    "double": (optional(FLOATS), pa.float64(), "acf"),
    "bool": (optional(st.booleans()), pa.bool_(), "acf"),
    "decimal": (optional(st.decimals(-99, 99, places=2)), pa.decimal128(9, 2), "acf"),
    "timestamp": (optional(MOMENTS), pa.timestamp("us"), "d"),
    "date32": (optional(MOMENTS.map(lambda moment: moment.date())), pa.date32(), "d"),
    "null": (st.none(), pa.null(), "acfd"),
}
DESIGNS = {name: Design.for_terms(name, Schema({name: COLUMNS[name]})) for name in COLUMNS}


def pandas_frame(name, cells, kind):
    """Return a pandas frame of one column."""
    return pd.DataFrame({name: pandas_column(cells, PANDAS[kind][1])})


def arrow_table(name, cells, kind):
    """Return an Arrow table of one column."""
    array = (
        pa.array(cells, pa.string()).dictionary_encode() if kind == "dictionary" else pa.array(cells, ARROW[kind][1])
    )
    return pa.table({name: array})


def parquet_file(folder, table):
    """Write an Arrow table to a Parquet file."""
    path = folder / "t.parquet"
    pq.write_table(table, path, row_group_size=2)
    return path


def polars_frame(table):
    """Return an Arrow table as a polars frame."""
    return pl.from_arrow(table)


# Spreadsheets, and files of sparse rows -------------------------------------------------------------------------------

SHEET_CELLS = st.one_of(
    st.sampled_from(
        [None, True, False, 1, 7, 2.5, "", "u", "7", FINAL_SIGMA, "οδοσ", "2001-02-03", " 7 ", "=1+1", "\u2028"]
    ),
    st.integers(-20, 20),
    st.datetimes(dt.datetime(1950, 1, 1), dt.datetime(2050, 1, 1)),
)


def spreadsheet(folder, rows):
    """Write records to a spreadsheet."""
    book = openpyxl.Workbook()
    for row in [NAMES, *rows]:
        book.active.append(list(row))
    path = folder / "t.xlsx"
    book.save(path)
    return path


SPARSE_LINES = st.one_of(
    st.sampled_from(
        [b"1 1:0.5 3:2", b"-1 2:1", b"1", b"0 1:1 # note", b"# note", b"", b" ", b"1 3:1 1:2", b"1 9:1", b"1 0:1",
         b"x 1:1",
         b"1 1:0.5\r", b"\r", b"1 1:nan", b"1 qid:3 2:1", b"1 1:1\x0b2 2:2", b"1 1:1\xe2\x80\xa82 2:2"]
    ),
    st.binary(max_size=5).map(lambda raw: raw.replace(b"\n", b"")),
)  # fmt: skip


def sparse_rows(path):
    """Return the rows of an svmlight file, or None where it is refused."""
    try:
        table = read_sparse(path, n_columns=3)
    except DiscreetError:
        return None
    return [
        (*row, target) for row, target in zip(table.private_X.toarray().tolist(), table.private_y.tolist(), strict=True)
    ]


def labels_in(path):
    """Return the labels of a text with one a line, or None where it is refused."""
    try:
        return [str(label) for label in read_labels(path).tolist()]
    except DiscreetError:
        return None


# Persons -------------------------------------------------------------------------------------------------------------

PERSONS = Schema({"a": COLUMNS["a"]}, unit="id", rows_per_unit=2)
PERSONS_DESIGN = Design.for_terms("a", PERSONS)


def gram_of_persons(source):
    """Return the exact sum over the rows that the cap of every person leaves, or None where the source is refused."""
    total = GramSum(PERSONS_DESIGN.layout)
    try:
        table = open_rows(source, PERSONS, ["a"])
        return TableRows(table, PERSONS_DESIGN, may_be_empty=True).private_gram(PERSONS_DESIGN.layout)
    except DiscreetError:
        return None
    finally:
        del total
