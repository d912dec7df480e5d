"""One function decodes a cell: what each cell means is written out, and no cell changes how another is read."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import numbers
import re
import uuid
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, InvalidData
from discreet.lattice.bounds import Interval
from discreet.tables.arrays import target_of
from discreet.tables.cells.columns import ColumnReader
from discreet.tables.design import Design
from discreet.tables.frame_rows import label_target, number_target
from discreet.tables.readers.tables import open_rows, open_table
from discreet.tables.schema.columns import Category, Date, Flag, Number, Reading
from discreet.tables.schema.labels import check_classes, code_labels
from discreet.tables.schema.schema import Schema
from discreet.tables.units import UnitReader
from tables.tabular import assert_silent, gram_of

READING = Reading(missing_tokens=("-9", "unknown", "29991231"))
LEVELS = ["1", "2", "1.5", "True", "2020-01-02", "2020-01-02 10:00:00", "οδος", "i", "9007199254740993"]
COLUMNS = {
    "number": Number(-1e6, 1e6, missing="drop"),
    "category": Category(LEVELS, labels={"ΟΔΌΣ": "οδος", "İ": "i", "0": "2", "FALSE": "2"}, missing="drop"),
    "flag": Flag(labels={"2": 0, "ΟΔΟΣ": 1, "İ": 1}, missing="drop"),
    "date": Date("2020-01-01", "2030-12-31", format="%Y%m%d", missing="drop"),
}
NAN, INF, BIG = float("nan"), float("inf"), 2**53 + 1
DAY, NOON = dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 10)
EAST, WEST = dt.timezone(dt.timedelta(hours=9)), dt.timezone(dt.timedelta(hours=-9))


class Hostile:
    """An object that raises whatever is asked of it."""

    def __getattr__(self, name):
        raise ValueError("secret")

    @property
    def __class__(self):
        raise ValueError("secret")

    __str__ = __float__ = __index__ = __hash__ = __eq__ = __bool__ = __repr__ = lambda *_: 1 / 0


class Loud(float):
    """A number whose methods cannot be trusted."""

    def is_integer(self):
        """Raise."""
        raise ValueError("secret")

    __str__ = __repr__ = __float__ = lambda *_: 1 / 0


# A cell, and what it is as number, category, flag and date; None is missing. Dates count from 2020-01-01.
TEXT_CELLS = [
    ("1", 1, 0, 1, None),
    (" 2 ", 2, None, 0, None),
    ("1.0", 1, None, 1, None),
    ("1.5", 1.5, 2, None, None),
    ("+1.", 1, None, 1, None),
    (".5", 0.5, None, None, None),
    ("1e1", 10, None, None, None),
    ("-0", 0, None, 0, None),
    ("0", 0, 1, 0, None),
    ("-9", None, None, None, None),
    ("-9.0", None, None, None, None),
    ("1e400", None, None, None, None),
    ("inf", None, None, None, None),
    ("nan", None, None, None, None),
    ("Infinity", None, None, None, None),
    ("0x10", None, None, None, None),
    ("1_0", None, None, None, None),
    ("1d5", None, None, None, None),
    ("1 1", None, None, None, None),
    ("\N{FULLWIDTH DIGIT ONE}", None, None, None, None),
    ("", None, None, None, None),
    ("true", None, None, 1, None),
    ("True", None, 3, 1, None),
    ("FALSE", None, 1, 0, None),
    ("ΟΔΟΣ", None, None, 1, None),
    ("οδος", None, 6, 1, None),
    ("ΟΔΌΣ ", None, 6, None, None),
    ("İ", None, 7, 1, None),
    ("i", None, 7, 1, None),
    ("20200103", 20200103, None, None, 2),
    ("29991231", None, None, None, None),
    ("2020-01-02", None, 4, None, None),
    ("9007199254740993", 2.0**53, 8, None, None),
    ("1" * 30, float("1" * 30), None, None, None),
]
OTHER_CELLS = [
    (None, None, None, None, None),
    (pd.NA, None, None, None, None),
    (pd.NaT, None, None, None, None),
    (np.datetime64("NaT"), None, None, None, None),
    ("1\udc80", None, None, None, None),
    ("\udc80", None, None, None, None),
    (np.str_("1"), 1, 0, 1, None),
    (True, 1, 3, 1, None),
    (np.False_, 0, 1, 0, None),
    (1, 1, 0, 1, None),
    (np.int8(2), 2, 1, 0, None),
    (0, 0, 1, 0, None),
    (-9, None, None, None, None),
    (20200103, 20200103, None, None, 2),
    (29991231, None, None, None, None),
    (BIG, 2.0**53, 8, None, None),
    (10**400, None, None, None, None),
    (10**5000, None, None, None, None),
    (1.0, 1, 0, 1, None),
    (1.5, 1.5, 2, None, None),
    (np.float32(2), 2, 1, 0, None),
    (np.float16(1.5), 1.5, 2, None, None),
    (np.longdouble(1.5), 1.5, 2, None, None),
    (np.longdouble("1e4000"), None, None, None, None),
    (-0.0, 0, 1, 0, None),
    (NAN, None, None, None, None),
    (INF, None, None, None, None),
    (2.0**53, 2.0**53, None, None, None),
    (20200103.0, 20200103, None, None, None),
    (Loud(1.5), 1.5, 2, None, None),
    (Decimal("1.50"), 1.5, 2, None, None),
    (Decimal("1E+0"), 1, 0, 1, None),
    (Decimal("-0.0"), 0, 1, 0, None),
    (Decimal("9007199254740993.00"), 2.0**53, 8, None, None),
    (Decimal("1E+999999"), None, None, None, None),
    (Decimal("sNaN"), None, None, None, None),
    (Decimal("-Infinity"), None, None, None, None),
    (Fraction(3, 2), 1.5, 2, None, None),
    (Fraction(2), 2, 1, 0, None),
    (Fraction(1, 3), 1 / 3, None, None, None),
    (DAY, None, 4, None, 1),
    (NOON, None, 5, None, 1),
    (pd.Timestamp(NOON), None, 5, None, 1),
    (np.datetime64("2020-01-02"), None, 4, None, 1),
    (np.datetime64("2020-01-02T10", "h"), None, 5, None, 1),
    (np.datetime64(2**62, "Y"), None, None, None, 10.0**7 - 18262),
    (dt.datetime(2020, 1, 1, 23, 30, tzinfo=EAST), None, None, None, 0),
    (dt.datetime(2020, 1, 1, 23, 30, tzinfo=WEST), None, None, None, 0),
    (dt.datetime.max.replace(tzinfo=WEST), None, None, None, (dt.date.max - dt.date(2020, 1, 1)).days),
    (1 + 0j, None, None, None, None),
    (np.complex64(1), None, None, None, None),
    (b"1", None, None, None, None),
    (np.bytes_(b"1"), None, None, None, None),
    (dt.timedelta(1), None, None, None, None),
    (np.timedelta64(1, "D"), None, None, None, None),
    (np.timedelta64(1), None, None, None, None),
    (dt.time(1), None, None, None, None),
    (pd.Period("2020-01-02", "D"), None, None, None, None),
    (pd.Interval(0, 1), None, None, None, None),
    (pd.Timedelta(1), None, None, None, None),
    ([1], None, None, None, None),
    ({"a": 1}, None, None, None, None),
    (np.array([1]), None, None, None, None),
    (Hostile(), None, None, None, None),
]
CELLS = [*TEXT_CELLS, *OTHER_CELLS]
KINDS = list(COLUMNS)


def code(row, kind):
    """Return what a row of the table says that its cell is."""
    meant = row[1 + KINDS.index(kind)]
    return (-1 if kind == "category" else NAN) if meant is None else meant


def clean(found):
    """Return codes in which all that is missing is one thing."""
    return np.where(np.isfinite(found), found, NAN) if found.dtype.kind == "f" else found


def objects(cells):
    """Return an array of objects, whatever they are."""
    array = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        array[place] = cell
    return array


def frames_of_objects(cells):
    """Return a column of objects in all that can hold them."""
    array = objects(cells)
    return {"array": array.reshape(-1, 1), "masked": np.ma.MaskedArray(array.reshape(-1, 1)), "pandas": frame(array)}


def frame(cells):
    return pd.DataFrame({"x": pd.Series(cells, dtype=object)})


def read(source, kind, reading=READING):
    """Return what is read of column x of a source."""
    blocks = open_table(source, Schema({"x": COLUMNS[kind]}, reading=reading)).blocks()
    return clean(np.concatenate([block.columns["x"] for block in blocks]))


@pytest.mark.parametrize("kind", KINDS)
def test_each_cell_means_what_is_written_in_every_holder_of_objects(kind):
    """Alone, and all of them together."""
    wanted = [code(row, kind) for row in CELLS]
    cells = [row[0] for row in CELLS]
    for holder, source in frames_of_objects(cells).items():
        np.testing.assert_array_equal(read(source, kind) + 0, wanted, err_msg=holder)
    for number, (cell, meant) in enumerate(zip(cells, wanted, strict=True)):
        for holder, source in frames_of_objects([cell]).items():
            np.testing.assert_array_equal(read(source, kind), [meant], err_msg=f"{holder} {number}")


@pytest.mark.parametrize("kind", KINDS)
def test_no_cell_changes_how_another_is_read(kind):
    """A2: every cell beside every other one, in a column of objects and in a categorical."""
    reader = ColumnReader("x", COLUMNS[kind], READING)
    codes = [code(row, kind) for row in CELLS]
    for (one, first), (other, last) in itertools.combinations(zip(CELLS, codes, strict=True), 2):
        found, _ = reader.from_objects([one[0], other[0], one[0]])
        for number, meant in ((found[0], first), (found[1], last), (found[2], first)):
            assert number == meant or not (np.isfinite(number) or np.isfinite(meant)), (one, other)


def hashed(rows):
    """Return rows whose cells a categorical can hold beside each other."""
    kept = {}
    for row in rows:
        if type(row[0]).__hash__ is not None and not isinstance(row[0], (Hostile, list, dict, np.ndarray)):
            try:
                kept.setdefault(row[0], row)
            except (TypeError, ValueError):  # a signal, a time without a unit
                continue
    return [row for cell, row in kept.items() if not pd.isna(cell)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_categorical_is_read_category_by_category(kind):
    """All together, in any order, with some that no cell has."""
    rows = hashed(CELLS)
    cells = objects([row[0] for row in rows])
    index = pd.Index(cells, dtype=object)
    for places in (np.arange(len(rows)), np.arange(len(rows))[::-3]):
        column = pd.Series(pd.Categorical.from_codes(places, categories=index))
        found = read(pd.DataFrame({"x": column}), kind)
        np.testing.assert_array_equal(found, [code(rows[place], kind) for place in places])


def holders_of_texts(texts, folder):
    """Return a column of texts in all that can hold them."""
    table = pa.table({"x": texts})
    path = folder / "t.csv"
    path.write_text("x\n" + "".join(f"{text}\n" for text in texts), encoding="utf-8")
    table.to_pandas().to_parquet(folder / "t.parquet")
    series = pd.Series(texts, dtype=object)
    kinds = ["str", "string[python]", "string[pyarrow]", "category", pd.ArrowDtype(pa.string())]
    return {
        "csv": path,
        "parquet": folder / "t.parquet",
        "arrow": table,
        **{str(kind): table.cast(pa.schema({"x": kind})) for kind in (pa.large_string(), pa.string_view())},
        "dictionary": pa.table({"x": pa.array(texts).dictionary_encode()}),
        "runs": pa.table({"x": pa.RunEndEncodedArray.from_arrays(range(1, len(texts) + 1), pa.array(texts))}),
        "polars": pl.DataFrame({"x": texts}),
        "polars categorical": pl.DataFrame({"x": pl.Series(texts, dtype=pl.Categorical)}),
        "numpy": np.array(texts).reshape(-1, 1),
        "numpy strings": np.array(texts, np.dtypes.StringDType()).reshape(-1, 1),
        **{f"pandas {kind}": pd.DataFrame({"x": series.astype(kind)}) for kind in kinds},
        **frames_of_objects(texts),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_each_text_means_what_is_written_in_every_reader(kind, tmp_path):
    """Together in two orders; the CSV file has no quotes, so it holds them all."""
    for rows in (TEXT_CELLS, TEXT_CELLS[::-1]):
        texts, wanted = [row[0] for row in rows], [code(row, kind) for row in rows]
        for holder, source in holders_of_texts(texts, tmp_path).items():
            np.testing.assert_array_equal(read(source, kind), wanted, err_msg=holder)


@pytest.mark.parametrize("odd", ["ΟΔΟΣ", "İ", 1.5, "\udc80", None, DAY, pd.Period("2020", "Y"), b"1"], ids=ascii)
@pytest.mark.parametrize("dtype", ["category", "string[python]", object])
def test_one_odd_cell_moves_the_gram_by_its_own_row_alone(dtype, odd):
    """A2: one cell of 200 once switched the parser of its column and moved 249 entries' worth."""
    if dtype == "string[python]" and not isinstance(odd, (str, type(None))):
        pytest.skip("such a column holds texts")
    if dtype == "category" and odd == "\udc80":
        pytest.skip("pandas has no such category")
    schema = Schema({"x": Category(["a", "b", "οδος"], labels={"ΟΔΟΣ": "οδος", "İ": "b"}, missing="a")})
    design = Design.for_terms("x", schema)
    texts = ["a", "b", "ΟΔΟΣ", "İ", "οδος"] * 40
    grams = []
    for last in ("a", odd):
        column = pd.Series([*texts, last], dtype=object).astype(dtype)
        grams.append(gram_of(pd.DataFrame({"x": column}), design))
    without = gram_of(pd.DataFrame({"x": pd.Series(texts, dtype=object)}), design)
    alone = gram_of(pd.DataFrame({"x": pd.Series([odd], dtype=object)}), design)
    assert np.array_equal(grams[1] - without, alone)
    assert np.array_equal(grams[1] - grams[0], alone - gram_of(pd.DataFrame({"x": ["a"]}), design))


GRAMMAR = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
PIECES = [
    "1",
    "0",
    "9" * 25,
    ".",
    "-",
    "+",
    "e",
    "E",
    "x",
    "_",
    " ",
    "inf",
    "nan",
    "Infinity",
    "d",
    "f",
    "\0",
    "\N{FULLWIDTH DIGIT ONE}",
    "(",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.lists(st.sampled_from(PIECES), max_size=6).map("".join), st.text(max_size=5)), max_size=5))
def test_nothing_but_the_grammar_is_a_number_whatever_stands_beside_it(texts):
    """Both ways through Arrow give the same double, the one that Python gives, or none."""
    reader = ColumnReader("x", Number(0, 1, missing="drop"), Reading())
    wanted = [float(text.strip()) if GRAMMAR.match(text.strip()) else NAN for text in texts]
    for beside in ([], ["1"], ["no number"], ["inf"]):
        found, _ = reader.from_arrow(pa.array([*texts, *beside], pa.string()))
        np.testing.assert_array_equal(clean(found)[: len(texts)], clean(np.array(wanted)))
        assert np.array_equal(np.signbit(found[: len(texts)]), np.signbit(wanted)) or np.isnan(wanted).any()


@given(st.text(max_size=4), st.text(max_size=4))
def test_a_label_is_folded_as_its_cells_are(label, other):
    """Whatever letters it has, in every case that Unicode gives it, it is found; declared spellings tell themselves."""
    spelled = [label, f" {label}\t"]
    declared = Category(["\x01", "\x02"], labels={label: "\x02"}, missing="drop")
    reader = ColumnReader("x", declared, Reading())
    assert reader.from_arrow(pa.array(spelled))[0].tolist() == [1, 1] or label in ("\x01", "\x02")
    both, _ = reader.from_arrow(pa.array([*spelled, other]))
    assert both[2] == reader.from_objects([other])[0][0]
    again = Category(declared.levels, labels=declared.labels, missing="drop")
    assert again == declared


def test_labels_and_levels_are_texts_that_a_table_can_hold():
    """Half of a surrogate pair is refused where it is declared."""
    with pytest.raises(InvalidArgument, match="A level"):
        Category(["a", "\udc80"])
    with pytest.raises(InvalidArgument, match="`labels`"):
        Flag(labels={"\udc80": 1})


def test_typed_decimals_know_no_marks_of_text_files():
    """A decimal of 1.234 is no thousand where a file of text groups by points."""
    reading = Reading(";", decimal=",", thousands=".")
    table = pa.table({"x": pa.array([Decimal("1.234"), Decimal("0.500")], pa.decimal128(9, 3))})
    assert read(table, "number", reading).tolist() == [1.234, 0.5]


def test_a_missing_token_of_a_date_is_a_date():
    """The code 9999-12-31 is missing as text and as date, and -9 is no day before the first."""
    column = Date("2020-01-01", "2030-12-31", missing="drop")
    reader = ColumnReader("x", column, Reading(missing_tokens=("9999-12-31", "-9")))
    for cells in (
        pa.array(["9999-12-31", "2019-12-23"]),
        pa.array([dt.date(9999, 12, 31), dt.date(2019, 12, 23)]),
        pa.array([dt.datetime(9999, 12, 31), dt.datetime(2019, 12, 23)], pa.timestamp("s")),
    ):
        assert np.array_equal(reader.from_arrow(cells)[0], [NAN, -9], equal_nan=True)
        assert np.array_equal(reader.from_objects(cells.to_pylist())[0], [NAN, -9], equal_nan=True)


def test_a_flag_without_labels_reads_numbers_as_they_are():
    """0 and 1 in every type, all else is missing."""
    reader = ColumnReader("x", Flag(labels={"true": 0, "1": 0, "0": 1}), Reading())
    for cells in ([1, 0, True, False, 2], ["1", "0", "true", "false", "2"], [1.0, 0.0, True, False, 2.0]):
        assert np.array_equal(reader.from_objects(cells)[0], [0, 1, 0, 0, NAN], equal_nan=True)


BIG_FLOATS = [2.0**53, -(2.0**53), 2.0**60, 1e300]


def columns_of_floats(cells):
    """Return floats in all that can hold them."""
    series = pd.Series(cells, dtype="float64")
    return {
        "pandas": series,
        "Float64": series.astype("Float64"),
        "objects": series.astype(object),
        "category": series.astype("category"),
        "sparse": series.astype(pd.SparseDtype("float64", np.nan)),
        "arrow dtype": series.astype(pd.ArrowDtype(pa.float64())),
        "longdouble": pd.Series(np.array(cells, np.longdouble).astype(object)),
    }


@pytest.mark.parametrize("big", BIG_FLOATS)
def test_ing_10_a_unit_that_is_a_large_float_is_refused_by_name(big, tmp_path):
    """ING-10: pandas makes floats of long ids next to a blank, and two persons of them one; never here."""
    schema = Schema({"x": Number(0, 9)}, unit="person", rows_per_unit=1)
    sources = {
        name: pd.DataFrame({"x": 1.0, "person": person})
        for name, person in columns_of_floats([17.0, np.nan, big]).items()
    }
    plain = sources["pandas"]
    plain.to_parquet(tmp_path / "t.parquet")
    table = pa.Table.from_pandas(plain, preserve_index=False)
    sources |= {"parquet": tmp_path / "t.parquet", "arrow": table, "polars": pl.from_pandas(plain)}
    sources["dictionary"] = table.set_column(1, "person", table["person"].dictionary_encode())
    for holder, source in sources.items():
        with pytest.raises(InvalidData, match="`person`.*Read it as text or as Int64") as caught:
            list(open_rows(source, schema).blocks())
        assert_silent(caught.value, str(big), str(int(big)))
        assert holder


@pytest.mark.parametrize(("dtype", "limit"), [("float32", 2.0**24), ("float16", 2.0**11), ("longdouble", 2.0**53)])
def test_ing_10_shorter_floats_have_lower_limits(dtype, limit):
    """ING-10: from there on several whole numbers are one float; infinity is nobody."""
    reader = UnitReader("person", Reading())
    column = np.array([limit - 1, np.inf], dtype)
    for cells in (column, objects(list(column))):
        keys, _ = reader.from_numpy(cells)
        assert (keys["high"] != 0).tolist() == [True, False]
        assert keys[0] == reader.from_objects([int(limit) - 1])[0][0]
    for cells in (np.array([1, limit], dtype), objects(list(np.array([1, limit], dtype)))):
        with pytest.raises(InvalidData, match="`person`"):
            reader.from_numpy(cells)
    level = ColumnReader("x", Category([str(int(limit)), str(int(limit) - 1)]), Reading())
    assert level.from_numpy(np.array([limit, limit - 1], dtype))[0].tolist() == [-1, 1]


def test_a_long_double_that_no_double_is_is_refused_as_a_unit():
    """What would be rounded would be another person's."""
    number = np.longdouble(17) + np.longdouble(2) ** -55
    if float(number) != number:
        with pytest.raises(InvalidData, match="`person`"):
            UnitReader("person", Reading()).from_objects([number, 17])


def test_a_large_float_that_no_row_has_is_no_reason_to_refuse():
    """Unused categories and values of dictionaries are never read."""
    reader = UnitReader("person", Reading())
    keys, _ = reader.from_arrow(pa.DictionaryArray.from_arrays([1, None], pa.array([2.0**60, 17.0])))
    assert (keys["high"] != 0).tolist() == [True, False]
    column = pd.Series(pd.Categorical([17.0], categories=[17.0, 2.0**60]))
    schema = Schema({"x": Number(0, 9)}, unit="person", rows_per_unit=1)
    assert len(list(open_rows(pd.DataFrame({"x": [1.0], "person": column}), schema).blocks())) == 1


def test_one_unit_is_one_in_whatever_it_is_written():
    """Digits, trailing zeros and blanks at the ends make no new person; every further digit does."""
    reader = UnitReader("person", Reading())
    person = uuid.UUID(int=7)
    same = [
        [17, 17.0, np.float32(17), np.uint8(17), Decimal("1.7E+1"), Decimal("17.00"), Fraction(17), "17", " 17.0 "],
        [-17, -17.0, "-17.0", Decimal("-17.0")],
        [0, 0.0, -0.0, Decimal("-0"), "0"],
        [17.5, Decimal("17.50"), Fraction(35, 2), "17.5", np.longdouble(17.5)],
        [2**53, Decimal(2**53), str(2**53)],
        [2**53 + 1, Decimal(2**53 + 1), str(2**53 + 1), Fraction(2**53 + 1)],
        [10**5000, Decimal(10**5000), Decimal("1E+5000")],
        [10**5000 + 1],
        [Fraction(1, 3)],
        [Fraction(1, 3) + Fraction(1, 10**30)],
        [DAY, dt.datetime(2020, 1, 2), pd.Timestamp(DAY), np.datetime64(DAY), np.datetime64(DAY, "us"), "2020-01-02"],
        [NOON, pd.Timestamp(NOON), np.datetime64(NOON, "ns"), "2020-01-02 10:00:00"],
        [NOON.replace(microsecond=500), np.datetime64(NOON, "us") + 500],
        [pd.Timestamp(NOON) + pd.Timedelta(1), np.datetime64(NOON, "ns") + 1],
        [dt.datetime(2020, 1, 2, 9, tzinfo=EAST), dt.datetime(2020, 1, 2, tzinfo=dt.UTC)],
        [True, np.True_, "True"],
        [person, str(person)],
    ]
    keys = [reader.from_objects([cell])[0][0].item() for group in same for cell in group]
    together = reader.from_objects([cell for group in same for cell in group])[0].tolist()
    assert together == keys
    numbers = [number for number, group in enumerate(same) for _ in group]
    for (one, key), (other, key_of_other) in itertools.product(zip(numbers, keys, strict=True), repeat=2):
        assert (key == key_of_other) == (one == other)
    assert (0, 0) not in keys


def test_cells_of_a_unit_that_say_nothing_are_nobody_beside_all_others():
    """Objects of other types, lone surrogates and signals raise nothing and merge nobody."""
    reader = UnitReader("person", Reading(missing_tokens=("-9.0",)))
    silent = [
        1j,
        b"1",
        dt.timedelta(1),
        np.timedelta64(1),
        Hostile(),
        Decimal("sNaN"),
        Decimal("NaN"),
        "\udc80",
        -9,
        "-9",
    ]
    for cell in silent:
        keys, _ = reader.from_objects([cell, 1, "a"])
        assert (keys["high"] != 0).tolist() == [False, True, True]
    text = np.array(["a\udc80", "a"])
    assert (reader.from_numpy(text)[0]["high"] != 0).tolist() == [False, True]


def test_targets_that_stand_apart_are_read_as_columns_are():
    """Lists, series of every library and arrays; a list is read cell by cell, a masked cell is missing."""
    schema = Schema({"y": Category(["1", "2"], missing="drop"), "n": Number(0, 9, missing="drop")})
    cells = [1.0, "2", None]
    columns = [cells, tuple(cells), pd.Series(cells, dtype=object), objects(cells), pd.Series(["1", "2", None])]
    columns += [pl.Series("y", ["1", "2", None]), pa.array(["1", "2", None]), pa.chunked_array([["1"], ["2", None]])]
    columns += [pd.Series([1, 2, None], dtype="Int64"), pd.Series(["1", "2", None], dtype="category")]
    columns += [np.ma.MaskedArray([1, 2, 2], mask=[False, False, True])]
    for column in columns:
        target, classes = label_target(column, schema)
        assert np.array_equal(target.private_values, [-1, 1, NAN], equal_nan=True)
        assert classes.tolist() == ["1", "2"]
    masked = np.ma.MaskedArray([1.0, 2.0], mask=[True, False])
    target = number_target(masked, Schema({"n": Number(0, 9)}), Interval(0, 9))
    assert np.isnan(target.private_values).tolist() == [True, False]
    with pytest.raises(InvalidData, match="`y`"):
        number_target(np.array([1], "M8[s]"), Schema({"n": Number(0, 9)}), Interval(0, 9))


def test_frames_that_are_like_pandas_are_read_as_pandas():
    """Modin's columns of objects infer no type from their cells either."""
    import narwhals as nw

    from discreet.tables.readers.frames import narwhals_table

    source = nw.from_native(frame(["1", 2, None, "İ"]), eager_only=True)
    (block,) = narwhals_table(source, [ColumnReader("x", COLUMNS["category"], READING)]).blocks()
    assert block.columns["x"].tolist() == [0, 1, -1, 7]


def somebodys(kind, convert):
    """Return a number of a new type whose conversion is given."""
    names = {"__float__": convert, "__index__": convert, "__int__": convert}
    made = type("Somebodys", (kind,), names)
    made.__abstractmethods__ = frozenset()
    return made()


def warns(_self):
    """Warn of a cell."""
    warnings.warn("secret", stacklevel=1)
    return 2


def fails(_self):
    """Quote a cell."""
    raise ValueError("secret")


@pytest.mark.parametrize("kind", [numbers.Real, numbers.Integral])
def test_numbers_of_other_libraries_are_read_in_silence(kind):
    """What they warn of is not said, and what they raise makes them missing."""
    convert = warns if kind is numbers.Integral else lambda self: float(warns(self))
    cells = [somebodys(kind, convert), somebodys(kind, fails), 1]
    assert read(frame(objects(cells)), "category").tolist() == [1, -1, 0]
    np.testing.assert_array_equal(read(frame(objects(cells)), "number"), [2, NAN, 1])


def test_dates_that_raise_are_missing():
    """A date of somebody's own type may do what it likes."""

    class Moody(dt.datetime):
        def toordinal(self):
            raise ValueError("secret")

    cells = objects([Moody(2020, 1, 2), DAY])
    np.testing.assert_array_equal(read(frame(cells), "date"), [NAN, 1])
    assert read(frame(cells), "category").tolist() == [-1, 4]


def test_a_large_class_is_its_own_number_whatever_holds_it():
    """Labels compare exactly, as objects and as numbers of every type."""
    classes = check_classes((2**53 + 1, 3))
    for y in ([2**53, 2**53 + 1, 3], [2.0**53, 2.0**53 + 2, 3.0]):
        wanted = [NAN, 0 if y[1] == 2**53 + 1 else NAN, 1]
        for array in (np.array(y), objects(y)):
            np.testing.assert_array_equal(code_labels(array, classes, name="y").private_codes, wanted)
    halves = check_classes((0.1, 2.0**53))
    for y in (np.array([0.1, 1], np.float32), np.array([2**53 + 1, 0])):
        for array in (y, objects(y.tolist())):
            assert np.isnan(code_labels(array, halves, name="y").private_codes).all()


@pytest.mark.parametrize("other", [math.nan, 0.5, None, math.inf, -(2**63), np.float32(1)])
@pytest.mark.parametrize("pair", [(2**53, 2**53 + 1), (2**63, 2**63 + 1)])
def test_a_large_class_in_a_list_is_its_own_number_whatever_stands_beside_it(other, pair):
    """numpy alone would make doubles of a list of whole numbers that holds a float, and merge classes."""
    codes = code_labels(target_of([*pair, other]), check_classes(pair), name="y").private_codes
    np.testing.assert_array_equal(codes, [0, 1, NAN])


@pytest.mark.parametrize("place", [5, -7])
@pytest.mark.parametrize(
    "column", [Number(0, 1), Flag(), Category(["0", "1"]), Date("2000-01-01", "2001-01-01"), Number(0, 1, missing=0)]
)
def test_an_entry_that_a_dictionary_lacks_is_missing(column, place):
    """Arrow checks no indices of what other programs hand over; nobody, for a unit."""
    array = pa.DictionaryArray.from_arrays(pa.array([1, place, None, 0], pa.int32()), pa.array(["1", "0"]), safe=False)
    sound = pa.DictionaryArray.from_arrays(pa.array([1, None, None, 0], pa.int32()), pa.array(["1", "0"]))
    for reader in (ColumnReader("c", column, Reading()), UnitReader("c", Reading())):
        np.testing.assert_array_equal(reader.from_arrow(array)[0], reader.from_arrow(sound)[0])


@pytest.mark.parametrize("cell", [math.inf, -math.inf, math.nan])
def test_a_number_that_is_not_finite_is_missing_and_not_at_a_bound(cell):
    """It is dropped, replaced or refused, also where no other cell of the column is missing."""
    source = pd.DataFrame({"a": [1.0, cell, 2.0]})
    for policy, row in (("drop", [0.0, 0.0]), (1.0, None)):
        design = Design.for_terms("a", Schema({"a": Number(0, 4, missing=policy)}))
        (block,) = open_table(source, design.schema).blocks()
        rows = design.encode(block).T
        np.testing.assert_array_equal(rows[1], rows[0] if row is None else row)
    refusing = Design.for_terms("a", Schema({"a": Number(0, 4)}))
    (block,) = open_table(source, refusing.schema).blocks()
    with pytest.raises(InvalidData, match="missing"):
        refusing.encode(block)
