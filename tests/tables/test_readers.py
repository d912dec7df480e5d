"""One door to arrays, frames, Arrow and Parquet: the same rows give the same integers, bit for bit."""

from __future__ import annotations

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from discreet.errors import InvalidArgument, InvalidData, InvalidFormula, InvalidType
from discreet.lattice.gram import GramSum
from discreet.tables.blocks import BLOCK_ROWS
from discreet.tables.design import Design
from discreet.tables.readers.tables import open_table
from discreet.tables.schema.columns import Category, Flag, Number, Reading
from discreet.tables.schema.schema import Schema
from tables.tabular import assert_silent, gram_of, parquet, rows_of

SCHEMA = Schema(
    {
        "age": Number(17, 90),
        "income": Number(0, 200_000),
        "edu": Category(["none", "school", "college"]),
        "smoker": Flag(),
    }
)
DESIGN = Design.for_terms("age*edu + income + smoker + I(age**2):income", SCHEMA)


def people(n, seed=3):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.uniform(10, 95, n),
            "unused": rng.integers(0, 9, n),
            "income": rng.integers(-5_000, 250_000, n),
            "edu": rng.choice(["none", "school", "college"], n),
            "smoker": rng.integers(0, 2, n).astype(bool),
        }
    )


FRAME = people(2 * BLOCK_ROWS + 77)
GRAM = gram_of(FRAME, DESIGN)


def sources(frame, folder):
    """Return the same rows in every kind of source."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_csv(folder / "t.csv.gz", index=False)
    frame.to_parquet(folder / "t.parquet", row_group_size=1000)
    objects = frame.astype(object)
    return {
        "pandas": frame,
        "pandas with objects": objects,
        "pandas with nullable types": frame.convert_dtypes(),
        "pandas with categories": frame.astype({"edu": "category", "age": "Float64"}),
        "array of objects": objects.to_numpy(),
        "polars": pl.from_pandas(frame),
        "polars with categories": pl.from_pandas(frame).with_columns(pl.col("edu").cast(pl.Categorical)),
        "arrow": table,
        "arrow in chunks": pa.concat_tables([table.slice(0, 5), table.slice(5)]),
        "arrow batch": pa.RecordBatch.from_pandas(frame, preserve_index=False),
        "arrow stream": pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=999)),
        "arrow dictionaries": table.set_column(3, "edu", table.column("edu").dictionary_encode()),
        "arrow string views": table.set_column(3, "edu", table.column("edu").cast(pa.string_view())),
        "arrow data set": ds.dataset(table),
        "capsule": Capsule(table),
        "csv": folder / "t.csv",
        "csv as text": str(folder / "t.csv"),
        "gzip": folder / "t.csv.gz",
        "parquet": folder / "t.parquet",
    }


class Capsule:
    """A stranger that exports an Arrow stream, as databases do."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def test_api_04_api_21_every_source_gives_the_same_gram_bit_for_bit(tmp_path):
    """API-21, API-04: array, frame, Arrow, CSV and Parquet agree in every integer."""
    for kind, source in sources(FRAME, tmp_path).items():
        names = list(FRAME.columns) if isinstance(source, np.ndarray) else None
        assert np.array_equal(gram_of(source, DESIGN, names=names), GRAM), kind


def test_shuffled_rows_and_any_partition_give_the_same_gram(tmp_path):
    """Exact integer sums know no order and no blocks."""
    shuffled = FRAME.sample(frac=1, random_state=1)
    assert np.array_equal(gram_of(shuffled, DESIGN), GRAM)
    rows = rows_of(FRAME, DESIGN)
    for size in (1, 7, 8192, rows.shape[1]):
        total = GramSum(DESIGN.layout)
        for start in range(0, min(rows.shape[1], 500 if size == 1 else rows.shape[1]), size):
            total.add(rows[:, start : start + size])
        wanted = GRAM if size > 1 else (rows[:, :500] @ rows[:, :500].T).astype(np.int64)
        assert np.array_equal(total.gram, wanted)


def test_api_12_api_13_numeric_arrays_of_any_type_and_order_agree():
    """API-12, API-13: small integers and half floats are read as the doubles they are."""
    schema = Schema({"a": Number(0, 255), "b": Number(-3, 3)})
    design = Design.for_terms("a*b", schema)
    wanted = gram_of(np.array([[200.0, 1.0], [3.0, -2.0]]), design)
    for dtype in (np.float16, np.float32, np.float64, np.int16, np.int64, object, str, np.longdouble):
        for order in "CF":
            array = np.array([[200, 1], [3, -2]]).astype(dtype, order=order)
            assert np.array_equal(gram_of(array, design), wanted), dtype
    assert np.array_equal(gram_of(np.array([[200, 1], [3, 2]], np.uint8), design)[:2, :2], wanted[:2, :2])


def column(values, declared, reading=None):
    """Return the grid column of a one-column Arrow table, decoded."""
    design = Design.for_terms("x", Schema({"x": declared}, reading=reading))
    rows = rows_of(pa.table({"x": values}), design)
    return [c.decode(row).round(3).tolist() for c, row in zip(design.layout.codings, rows[1:], strict=True)]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, None, 3]),
        pa.array([1, None, 3], pa.uint8()),
        pa.array([1.0, None, 3.0]),
        pa.array([1.0, float("nan"), 3.0]),
        pa.array([1.0, float("inf"), 3.0], pa.float32()),
        pa.array([1.0, None, 3.0], pa.float16()),
        pa.array([decimal.Decimal(1), None, decimal.Decimal(3)]),
        pa.array(["1", "", "3"]),
        pa.array(["1", "x", " 3.0 "], pa.large_string()),
        pa.array(["1", None, "3e0"], pa.string_view()),
        pa.array(["1", None, "3"]).dictionary_encode(),
        pa.array([1, None, 3]).dictionary_encode(),
        pa.array(["1", "1,0", "+3."]),
        pa.RunEndEncodedArray.from_arrays([1, 2, 3], pa.array([1, None, 3])),
    ],
)
def test_ing_11_ing_21_a_null_of_any_type_follows_the_policy(values):
    """ING-21, ING-11: nulls, blanks, unparsable and not finite cells of every Arrow type are missing alike."""
    assert column(values, Number(0, 4, missing=0)) == [[1, 0, 3]]
    with pytest.raises(InvalidData, match="`x`") as caught:
        column(values, Number(0, 4))
    assert_silent(caught.value)


def test_ing_11_big_integers_clip():
    """ING-11: 2**64 is a number and clips to the bound, wherever it stands."""
    for values in (pa.array(["18446744073709551616"]), pa.array([2**64 - 1], pa.uint64())):
        assert column(values, Number(0, 100)) == [[100]]
    design = Design.for_terms("x", Schema({"x": Number(0, 100)}))
    for source in (
        pd.DataFrame({"x": [2**64]}),
        np.array([[2**64]], dtype=object),
        pd.DataFrame({"x": [-(2**70), 7]}).head(1),
    ):
        row = rows_of(source, design)[1]
        assert abs(design.layout.codings[0].decode(row)[0]) in (0, 100)


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["b", None, "a"]),
        pa.array(["b", "B", "a"], pa.large_string()),
        pa.array(["b", " a", "a"], pa.string_view()),
        pa.array(["b", None, "a"]).dictionary_encode(),
        pa.array(["b", "gone", "a"], pa.string_view()).cast(pa.string()).dictionary_encode(),
    ],
)
def test_levels_are_compared_as_exact_text(values):
    """What is no declared level, letter by letter, is missing."""
    assert column(values, Category(["a", "b"], missing="a")) == [[1, 0, 0]]


def test_ing_16_a_category_keeps_its_text():
    """ING-16: 01234 is not 1234, and numbers are compared as their plain decimal text."""
    declared = Category(["0", "01234", "1234", 9], missing="0")
    assert column(pa.array(["01234", "1234", "9", "9.0"]), declared) == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    for values in (
        [1234, 9, 8, None],
        [1234.0, 9.0, 8.5, None],
        [decimal.Decimal(1234), decimal.Decimal(9), None, None],
    ):
        assert column(pa.array(values), declared) == [[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]]
    assert column(pa.array([None, None]), declared) == [[0, 0], [0, 0], [0, 0]]
    assert column(pa.array([True, False]), Category(["False", "True"])) == [[1, 0]]
    assert column(pa.array([True, False]), Category(["false", "true"])) == [[1, 0]]
    dates = pa.array([dt.date(2020, 1, 2), None])
    assert column(dates, Category(["0", "2020-01-02"], missing="0")) == [[1, 0]]


def test_ing_08_ing_09_flags_are_0_1_true_and_false_in_any_case():
    """ING-08, ING-09: all else is missing, never 1."""
    declared = Flag(missing=0)
    assert column(pa.array(["TRUE", "1", "1.0", " true"]), declared) == [[1, 1, 1, 1]]
    assert column(pa.array(["False", "0", "yes", "2", "", "on"]), declared) == [[0] * 6]
    assert column(pa.array([1, 0, 2, None]), declared) == [[1, 0, 0, 0]]
    assert column(pa.array([True, None]), declared) == [[1, 0]]


def test_missing_tokens_are_missing_in_every_source():
    """A declared code such as -9 is missing, as text and as number."""
    reading = Reading(missing_tokens=("-9", "unknown"))
    for values in (pa.array(["-9", "2", "-9.0"]), pa.array([-9, 2, -9]), pa.array([-9.0, 2.0, -9.0])):
        assert column(values, Number(-20, 20, missing=0), reading) == [[0, 2, 0]]


@pytest.mark.parametrize(
    ("values", "declared"),
    [
        (pa.array([dt.datetime(2020, 1, 1)]), Number(0, 1)),
        (pa.array([b"1"]), Number(0, 1)),
        (pa.array([[1]]), Number(0, 1)),
        (pa.array([{"a": 1}]), Category(["a", "b"])),
    ],
)
def test_ing_12_a_type_that_cannot_be_read_is_refused_by_column_and_type(values, declared):
    """ING-12: no guessing at dates; the column's type is public, its cells are not."""
    with pytest.raises(InvalidData, match="`x`"):
        column(values, declared)


def test_pandas_columns_of_any_kind():
    """Objects, nullable types and mixed categories are read cell by cell where Arrow cannot."""
    schema = Schema({"x": Number(0, 10, missing=5), "c": Category(["u", 1], missing="u")})
    design = Design.for_terms("x + c", schema)
    frame = pd.DataFrame(
        {
            "x": [1, "2", None, pd.NA, decimal.Decimal(3), "x", object(), True],
            "c": pd.Categorical(["u", 1, None, "u", 1, 1, "u", 1]),
        }
    )
    rows = rows_of(frame, design)
    x, c = (coding.decode(row).round(3).tolist() for coding, row in zip(design.layout.codings, rows[1:], strict=True))
    assert x == [1, 2, 5, 5, 3, 5, 5, 1]
    assert c == [0, 1, 0, 0, 1, 1, 0, 1]
    frame["c"] = pd.Series([1.0, 1.5, np.nan, np.float64(1), "u\udc80", b"u", np.bool_(True), "1"], dtype=object)
    frame["x"] = pd.Series([1, 2, 3, 4, 5, 6, 7, None], dtype="Int64")
    rows = rows_of(frame, design)
    x, c = (coding.decode(row).round(3).tolist() for coding, row in zip(design.layout.codings, rows[1:], strict=True))
    assert (x, c) == ([1, 2, 3, 4, 5, 6, 7, 5], [1, 0, 0, 1, 0, 0, 0, 1])


def test_columns_with_labels_that_are_no_texts_go_by_their_text():
    """A frame made from an array has whole numbers as labels."""
    design = Design.for_terms(None, Schema({"0": Number(0, 1), "1": Number(0, 1)}))
    array = np.array([[0.5, 1.0]])
    assert np.array_equal(gram_of(pd.DataFrame(array), design), gram_of(array, design))


def test_an_array_needs_a_name_for_every_column():
    """By default the declared columns in order; else `names`."""
    schema = Schema({"a": Number(0, 1), "b": Number(0, 1)})
    with pytest.raises(InvalidArgument, match="3 columns"):
        open_table(np.zeros((2, 3)), schema)
    with pytest.raises(InvalidArgument, match="two dimensions"):
        open_table(np.zeros(2), schema)
    with pytest.raises(InvalidData, match="'b'"):
        open_table(np.zeros((2, 2)), schema, names=["a", "c"])
    with pytest.raises(InvalidData, match="type"):
        list(open_table(np.zeros((2, 2), dtype=complex), schema).blocks())


@pytest.mark.parametrize("source", [3, None, [[1, 2]], {"a": [1]}, np.float64(3)])
def test_api_21_other_sources_are_refused_by_type(source):
    """API-21: the message names the type and says how to convert."""
    with pytest.raises(InvalidType, match=type(source).__name__):
        open_table(source, SCHEMA)


def test_a_lazy_frame_is_to_be_collected():
    """A lazy frame is a query, not a table."""
    with pytest.raises(InvalidType, match="collected"):
        open_table(pl.LazyFrame({"age": [1]}), SCHEMA)


def test_ing_06_a_doubled_column_is_named_with_its_positions():
    """ING-06: frames and Arrow tables with two columns of one name are refused."""
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    schema = Schema({"b": Number(0, 1)})
    for source in (frame, pa.Table.from_arrays([pa.array([1])] * 3, names=["a", "b", "a"])):
        with pytest.raises(InvalidData, match=r"'a'.*1 and 3"):
            open_table(source, schema)


def test_cli_03_an_absent_column_is_named_with_near_matches(tmp_path):
    """CLI-03: every kind of source names the absent column and quotes near ones."""
    table = pa.table({"Income ": [1], "b": [2]})
    path = parquet(tmp_path / "t.parquet", **{"Income ": [1], "b": [2]})
    for source in (table, table.to_pandas(), pl.from_arrow(table), path):
        with pytest.raises(InvalidData, match=r"'income'.*'Income '"):
            open_table(source, Schema({"income": Number(0, 1)}))
    with pytest.raises(InvalidFormula, match="'gone'"):
        open_table(table, SCHEMA, ["gone"])


def test_files_that_are_none(tmp_path):
    """Absent files, unknown endings and damaged Parquet files are refused by file name."""
    (tmp_path / "t.doc").write_bytes(b"x")
    (tmp_path / "t.parquet").write_bytes(b"PAR1 secret-cell PAR1")
    with pytest.raises(InvalidArgument, match=r"t\.doc"):
        open_table(tmp_path / "t.doc", SCHEMA)
    with pytest.raises(InvalidArgument, match=r"gone\.csv"):
        open_table(tmp_path / "gone.csv", SCHEMA)
    with pytest.raises(InvalidData, match=r"t\.parquet") as caught:
        open_table(tmp_path / "t.parquet", SCHEMA)
    assert_silent(caught.value, "secret-cell")


def test_a_parquet_file_that_breaks_off_is_refused(tmp_path):
    """Damage found while reading raises our error and keeps nothing of Arrow's."""
    path = parquet(tmp_path / "t.parquet", x=np.random.default_rng(0).uniform(0, 1, 50_000))
    content = bytearray(path.read_bytes())
    content[50_000:200_000] = b"\xff" * 150_000
    path.write_bytes(content)
    with pytest.raises(InvalidData, match=r"t\.parquet") as caught:
        list(open_table(path, Schema({"x": Number(0, 1)})).blocks())
    assert_silent(caught.value)


def test_a_stream_is_read_once():
    """A stream that was read cannot be read again, and says so instead of giving no rows."""
    table = open_table(pa.table({"x": [1.0]}).to_reader(), Schema({"x": Number(0, 1)}))
    assert sum(block.n_rows for block in table.blocks()) == 1
    with pytest.raises(InvalidData, match="stream"):
        list(table.blocks())


def test_dst_01_empty_tables_have_no_blocks(tmp_path):
    """DST-01: a table without rows is the caller's to judge; empty batches add nothing."""
    empty = people(0)
    for kind, source in sources(empty.astype({"edu": str}), tmp_path).items():
        names = list(empty.columns) if isinstance(source, np.ndarray) else None
        assert not list(open_table(source, SCHEMA, names=names).blocks()), kind


def test_progress_is_told_in_rows(tmp_path):
    """The owner's bar knows how much there is and how much was read."""
    for source in (FRAME, pa.Table.from_pandas(FRAME)):
        table = open_table(source, SCHEMA)
        assert table.size_hint == len(FRAME)
        for _ in table.blocks():
            assert 0 < table.position <= table.size_hint
        assert table.position == table.size_hint


def test_plain_doubles_are_read_without_a_copy(tmp_path):
    """The fast path of Parquet and Arrow hands on the reader's own memory."""
    values = np.linspace(0, 1, 10)
    (block,) = open_table(pa.table({"x": values}), Schema({"x": Number(0, 1)})).blocks()
    assert np.shares_memory(block.columns["x"], values)


def test_a_block_shows_no_cells():
    """Private records have no telling representation."""
    (block,) = open_table(pa.table({"x": [0.123456]}), Schema({"x": Number(0, 1)})).blocks()
    assert "0.123456" not in repr(block)


@pytest.mark.parametrize("dtype", [np.float64, np.int64, object])
def test_a_masked_cell_of_an_array_of_records_is_missing(dtype):
    """As NaN; without a masked cell the array is read as the one below."""
    schema = Schema({"a": Number(0, 5, missing="drop"), "b": Number(0, 5, missing="drop")})
    cells = np.array([[1, 2], [3, 4]], dtype=dtype)
    (block,) = open_table(np.ma.array(cells, mask=[[False, True], [False, False]]), schema).blocks()
    np.testing.assert_array_equal(block.columns["b"], [np.nan, 4.0])
    (block,) = open_table(np.ma.array(cells), schema).blocks()
    np.testing.assert_array_equal(block.columns["b"], [2.0, 4.0])
