"""Every type that Arrow, NumPy, pandas and polars have is read by its meaning, as its cells alone are, or refused.

A column of a type is compared with its cells as Python objects, whose own reading is written out in test_one_code.py.
"""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.errors import InvalidData
from discreet.tables.cells.columns import ColumnReader
from discreet.tables.readers.tables import open_rows, open_table
from discreet.tables.schema.columns import Category, Date, Flag, Number, Reading
from discreet.tables.schema.schema import Schema
from discreet.tables.units import UnitReader
from every_one import for_every
from tables.tabular import assert_silent

LEVELS = ["1", "2", "1.5", "-3", "True", "2020-01-02", "2020-01-02 10:00:00", "a", "9007199254740993", "0.25"]
DECLARED = {
    "number": Number(-1e6, 1e6, missing="drop"),
    "category": Category(LEVELS, labels={"0": "a", "false": "a"}, missing="drop"),
    "flag": Flag(labels={"2": 0, "a": 1}, missing="drop"),
    "date": Date("2000-01-01", "2030-12-31", format="%Y%m%d", missing="drop"),
}
DAY, NOON = dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 10)
LATE = dt.datetime(2020, 1, 1, 23, 30, tzinfo=dt.UTC)
ID = uuid.UUID(int=5)
FAR = 2**62


def id_of(part):
    """Return how a case is called: the same in every process, whatever order a set has there."""
    return "+".join(sorted(part)) if isinstance(part, set) else str(part).partition(" at 0x")[0][:40]


ALL, NUMBERS, NO_DATES, DATES = set(DECLARED), {"number", "flag", "category"}, {"number", "flag", "category"}, {"date"}
TEXTS, WHOLES, MOMENTS = ALL, ALL, {"category", "date"}


def whole(dtype):
    """Return whole numbers that a type of Arrow holds, its last ones too."""
    kind = dtype.to_pandas_dtype()
    return [1, 0, 2, None, int(np.iinfo(kind).min), int(np.iinfo(kind).max)]


# Type, cells as Python objects, and the declarations that read it.
ARROW = [
    *[(kind, whole(kind), WHOLES) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())],
    *[(kind, whole(kind), WHOLES) for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())],
    (pa.float16(), [1.0, 1.5, None, float("inf"), -0.0, 2.0], NUMBERS),
    (pa.float32(), [1.0, 0.25, None, float("nan"), 2.0, 2.0**127], NUMBERS),
    (pa.float64(), [1.0, 0.1, None, float("nan"), 2.0, 1e308, -np.inf, 5e-324], NUMBERS),
    (pa.bool_(), [True, False, None], NUMBERS),
    (pa.decimal32(5, 2), [Decimal("1.50"), Decimal("2.00"), None, Decimal("-3.00")], NUMBERS),
    (pa.decimal64(9, 2), [Decimal("1.50"), Decimal("0.00"), None], NUMBERS),
    (pa.decimal128(38, 3), [Decimal("1.500"), Decimal(9007199254740993), None], NUMBERS),
    (pa.decimal256(76, 0), [Decimal(10**75), Decimal(2), None], NUMBERS),
    (pa.decimal128(5, -2), [Decimal("1.2E+3"), None], NUMBERS),
    *[(kind, ["1", "a", " 2 ", "20200102", "", None, "1.5"], TEXTS) for kind in (pa.string(), pa.large_string())],
    (pa.string_view(), ["1", "a", " 2 ", "20200102", "", None, "a long text of more than twelve bytes"], TEXTS),
    (pa.date32(), [DAY, None, dt.date.max, dt.date.min], MOMENTS),
    (pa.date64(), [DAY, None, dt.date.max], MOMENTS),
    *[(pa.timestamp(unit), [NOON, None, dt.datetime(2020, 1, 2)], MOMENTS) for unit in ("s", "ms", "us", "ns")],
    (pa.timestamp("us"), [dt.datetime.max, dt.datetime.min], MOMENTS),  # noqa: DTZ901
    (pa.timestamp("ms", "Asia/Tokyo"), [LATE.astimezone(dt.timezone(dt.timedelta(hours=9))), None], MOMENTS),
    (pa.timestamp("s", "+05:30"), [LATE.astimezone(dt.timezone(dt.timedelta(hours=5.5))), None], MOMENTS),
    (pa.timestamp("s", "Not/AZone"), [LATE], set()),
    (pa.null(), [None, None], ALL),
    (pa.uuid(), [ID, None], ALL),
    (pa.bool8(), [True, False, None], NUMBERS),
    (pa.json_(), ["1"], set()),
    (pa.time32("s"), [dt.time(1)], set()),
    (pa.time64("ns"), [dt.time(1)], set()),
    *[(pa.duration(unit), [dt.timedelta(1)], set()) for unit in ("s", "ms", "us", "ns")],
    (pa.month_day_nano_interval(), [pa.MonthDayNano([1, 2, 3])], set()),
    *[(kind, [b"1"], set()) for kind in (pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(1))],
    *[(kind, [[1]], set()) for kind in (pa.list_(pa.int8()), pa.large_list(pa.int8()), pa.list_(pa.int8(), 1))],
    *[(kind, [[1]], set()) for kind in (pa.list_view(pa.int8()), pa.large_list_view(pa.int8()))],
    (pa.struct({"a": pa.int8()}), [{"a": 1}], set()),
    (pa.map_(pa.string(), pa.int8()), [[("a", 1)]], set()),
]


def arrow_of(kind, cells):
    """Return an Arrow array of a type."""
    if kind == pa.float16():
        return pa.array(np.array([0 if cell is None else cell for cell in cells], np.float16), mask=is_none(cells))
    if isinstance(kind, pa.BaseExtensionType):
        raw = [cell.bytes if isinstance(cell, uuid.UUID) else cell for cell in cells]
        raw = [int(cell) if isinstance(cell, bool) else cell for cell in raw]
        return pa.ExtensionArray.from_storage(kind, pa.array(raw, kind.storage_type))
    if kind == pa.timestamp("s", "Not/AZone"):
        return pa.array([0]).cast(kind)
    return pa.array(cells, kind)


def is_none(cells):
    return np.array([cell is None for cell in cells])


def alone(column, cells):
    """Return what every cell is when it stands alone, as a Python object."""
    return np.concatenate([ColumnReader("x", column, Reading()).from_objects([cell])[0] for cell in cells])


def same(found, wanted):
    """Whether two columns are equal bit for bit; all that is not finite is missing."""
    if found.dtype.kind == "f":
        found, wanted = (np.where(np.isfinite(cells), cells, np.nan) for cells in (found, wanted))
    return found.dtype == wanted.dtype and np.array_equal(found, wanted, equal_nan=found.dtype.kind == "f")


@pytest.mark.parametrize(("kind", "cells", "readable"), ARROW, ids=id_of)
def test_arrow_types_are_read_as_their_cells_alone_or_refused(kind, cells, readable):
    """Of every Arrow type, plain, in a dictionary, in runs and in slices."""

    def check(declared):
        column = DECLARED[declared]
        reader = ColumnReader("x", column, Reading())
        array = arrow_of(kind, cells)
        if declared not in readable:
            with pytest.raises(InvalidData, match="`x`") as caught:
                reader.from_arrow(array)
            assert str(kind) in str(caught.value)
            assert_silent(caught.value)
            return
        wanted = alone(column, cells)
        assert same(reader.from_arrow(array)[0], wanted)
        assert same(reader.from_arrow(array.slice(1))[0], wanted[1:])
        places = pa.array([*range(len(cells)), None, 0], pa.int8())
        again = np.append(wanted, [reader.nothing()[0], wanted[0]]).astype(wanted.dtype)
        if not isinstance(kind, pa.BaseExtensionType):
            assert same(reader.from_arrow(pa.DictionaryArray.from_arrays(places, array))[0], again)
        if kind not in (pa.null(), pa.string_view()) and not isinstance(kind, pa.BaseExtensionType):
            ends = pa.array(np.arange(2, 2 * len(cells) + 1, 2), pa.int32())
            runs = pa.RunEndEncodedArray.from_arrays(ends, array)
            assert same(reader.from_arrow(runs)[0], np.repeat(wanted, 2))
            assert same(reader.from_arrow(runs.slice(1, 3))[0], np.repeat(wanted, 2)[1:4])

    for_every(DECLARED, check)


def test_arrow_unions_are_refused():
    """A union has no type of its own."""
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    for column in DECLARED.values():
        with pytest.raises(InvalidData, match="`x`"):
            ColumnReader("x", column, Reading()).from_arrow(union)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Stockholm", "-11:00"])
def test_the_farthest_moments_of_arrow_clip(unit, zone):
    """Nothing wraps around: a moment before all dates is before them, one after all is after them."""
    ticks = [-(2**63), -FAR, FAR, 2**63 - 1, 0]
    array = pa.array(ticks, pa.int64()).cast(pa.timestamp(unit, zone))
    days, _ = ColumnReader("x", Date("1990-01-01", "2030-12-31"), Reading()).from_arrow(array)
    assert (days[:2] < 0).all()
    assert (days[2:4] > 40 * 365).all()
    assert abs(days[4] + 7305) <= 1
    for unit_or_level in (UnitReader("p", Reading()), ColumnReader("x", Category(["a", "b"]), Reading())):
        assert len(np.unique(unit_or_level.from_arrow(array)[0])) in (1, 5)


def test_the_farthest_dates_of_arrow_clip():
    """32-bit days and 64-bit milliseconds, also within a day."""
    reader = ColumnReader("x", Date("1970-01-01", "2030-12-31"), Reading())
    assert (reader.from_arrow(pa.array([-(2**31), 2**31 - 1], pa.int32()).cast(pa.date32()))[0] * [-1, 1] > 10**6).all()
    milliseconds = pa.array([-FAR, FAR, 86_400_000 + 5, -5], pa.int64()).view(pa.date64())
    assert reader.from_arrow(milliseconds)[0].tolist() == [-(10.0**7), 10.0**7, 1, -1]


UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]


@pytest.mark.parametrize("step", ["", "7", "1000"])
@pytest.mark.parametrize("unit", UNITS)
def test_numpy_dates_of_every_unit(unit, step):
    """The day that NumPy says where it can, the side of 1970 elsewhere, and the same as the cells alone."""
    reader = ColumnReader("x", Date("1970-01-01", "2030-12-31"), Reading())
    ticks = np.array([-FAR, FAR, -1, 0, 1, 5, np.iinfo(np.int64).min])
    array = ticks.view(f"M8[{step}{unit}]")
    days, _ = reader.from_numpy(array)
    assert np.isnan(days[-1])
    if unit in ("ps", "fs", "as"):  # NumPy itself cannot
        assert days[2:6].tolist() == [-1, 0, 0, 0]
    else:
        assert days[2:6].tolist() == array[2:6].astype("M8[D]").astype(float).tolist()
    assert days[0] < 0 <= days[1]
    if unit in "YMWDhms":
        assert days[:2].tolist() == [-(10.0**7), 10.0**7]
    assert same(reader.from_objects(list(array))[0], days)
    assert same(reader.from_numpy(array.astype(array.dtype.newbyteorder(">")))[0], days)
    keys, _ = UnitReader("p", Reading()).from_numpy(array)
    assert np.array_equal(keys, UnitReader("p", Reading()).from_objects(list(array))[0])
    assert len(np.unique(keys[2:])) == 5  # all but the farthest, of which years say nothing


def test_numpy_dates_without_a_unit_say_nothing():
    """A number of nothing is no date."""
    array = np.array([5, np.iinfo(np.int64).min]).view("M8")
    assert np.isnan(ColumnReader("x", DECLARED["date"], Reading()).from_numpy(array)[0]).all()


NUMPY = [
    *[(np.dtype(kind), [1, 0, 2], WHOLES) for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u8")],
    *[(np.dtype(kind), [1.0, 1.5, np.nan, np.inf, 2.0, 0.25], NUMBERS) for kind in ("f2", "f4", "f8", ">f8", "g")],
    (np.dtype(bool), [True, False], NUMBERS),
    (np.dtype("U8"), ["1", "a", "20200102", " 2", ""], TEXTS),
    (np.dtype(">U8"), ["1", "a"], TEXTS),
    (np.dtypes.StringDType(), ["1", "a", "20200102", " 2", ""], TEXTS),
    (np.dtypes.StringDType(na_object=np.nan), ["1", np.nan], TEXTS),
    (np.dtype(object), [1, "a", None, 1.5, DAY, NOON, True, "20200102"], ALL),
    (np.dtype("M8[s]"), [NOON, dt.datetime(2020, 1, 2)], MOMENTS),
    *[(np.dtype(kind), [1], set()) for kind in ("c8", "c16", "G", "m8[s]", "V4", "S3", [("a", "i4")])],
]


@pytest.mark.parametrize(("kind", "cells", "readable"), NUMPY, ids=id_of)
def test_numpy_types_are_read_as_their_cells_alone_or_refused(kind, cells, readable):
    """Of every NumPy type, also with a mask, under which everything is missing."""

    def check(declared):
        column = DECLARED[declared]
        reader = ColumnReader("x", column, Reading())
        array = np.zeros(1, kind) if not readable else np.array(cells, kind)
        if declared not in readable:
            with pytest.raises(InvalidData, match="`x`") as caught:
                reader.from_numpy(array)
            assert str(array.dtype) in str(caught.value)
            assert_silent(caught.value)
            return
        wanted = alone(column, cells)
        assert same(reader.from_numpy(array)[0], wanted)
        if kind.kind == "T":
            return  # NumPy has no masks for it
        masked = np.ma.MaskedArray(array, mask=[True] + [False] * (len(cells) - 1))
        assert same(reader.from_numpy(masked)[0], np.append(reader.nothing(), wanted[1:]).astype(wanted.dtype))

    for_every(DECLARED, check)


def test_a_masked_cell_of_a_table_is_missing_and_nobody():
    """FR-06: under a mask nothing is read, not even to refuse it."""
    array = np.ma.MaskedArray([[1.0, 2.0**60], [2.0, 5.0]], mask=[[True, True], [False, False]])
    schema = Schema({"a": Number(0, 9), "b": Number(0, 9)})
    (block,) = open_table(array, schema).blocks()
    assert np.isnan(block.columns["a"]).tolist() == [True, False]
    keys, _ = UnitReader("b", Reading()).from_numpy(array[:, 1])
    assert (keys["high"] != 0).tolist() == [False, True]


def test_a_long_double_that_is_too_long_warns_of_nothing():
    """A cell may not make NumPy speak."""
    array = np.array([np.longdouble("1e4000"), 2, np.longdouble("nan")])
    for cells in (array, array.astype(object)):
        found, _ = ColumnReader("x", Number(0, 1), Reading()).from_numpy(cells)
        assert np.isfinite(found).tolist() == [False, True, False]


TOKYO = dt.timezone(dt.timedelta(hours=9))
PANDAS = [
    *[(f"{sign}Int{bits}", [1, None, 2, 0], WHOLES) for sign in ("", "U") for bits in (8, 16, 32, 64)],
    ("Int64", [2**53 + 1, None, -(2**63)], WHOLES),
    *[(kind, [1.5, None, 2.0], NUMBERS) for kind in ("Float32", "Float64")],
    ("boolean", [True, None, False], NUMBERS),
    *[(pd.StringDtype(storage), ["1", None, "a", "20200102"], TEXTS) for storage in ("python", "pyarrow")],
    (pd.StringDtype("python"), ["1", None, "a", "\udc80", "1\udc80"], TEXTS),
    ("str", ["1", None, "a"], TEXTS),
    *[(pd.ArrowDtype(kind), ["1", None, "a"], TEXTS) for kind in (pa.string(), pa.large_string())],
    (pd.ArrowDtype(pa.decimal128(9, 2)), [Decimal("1.50"), None], NUMBERS),
    (pd.ArrowDtype(pa.date32()), [DAY, None], MOMENTS),
    (pd.ArrowDtype(pa.duration("s")), [dt.timedelta(1)], set()),
    *[(f"datetime64[{unit}]", [NOON, None], MOMENTS) for unit in ("s", "ms", "us", "ns")],
    (pd.DatetimeTZDtype("ns", "Asia/Tokyo"), [LATE.astimezone(TOKYO), None], MOMENTS),
    (pd.DatetimeTZDtype("us", dt.UTC), [LATE, None], MOMENTS),
    ("category", ["a", None, "1", "2"], ALL),
    ("category", [1, None, 2], WHOLES),
    ("category", [1.5, None, 2.0], NUMBERS),
    ("category", ["a", 1, None, 2.0, DAY], ALL),
    ("category", [dt.datetime(2020, 1, 2)], MOMENTS),
    (pd.SparseDtype("float64", np.nan), [1.0, np.nan, 2.0], NUMBERS),
    (pd.SparseDtype("int64", 0), [1, 0, 2], WHOLES),
    ("timedelta64[ns]", [dt.timedelta(1)], set()),
    ("period[D]", [pd.Period("2020-01-02", "D")], set()),
    ("interval", [pd.Interval(0, 1)], set()),
]


@pytest.mark.parametrize(("kind", "cells", "readable"), PANDAS, ids=id_of)
def test_pandas_types_are_read_as_their_cells_alone_or_refused(kind, cells, readable):
    """Of every dtype of pandas; the door is that of data frames."""

    def check(declared):
        series = pd.Series(cells, dtype=None if kind == "interval" else kind)
        frame = pd.DataFrame({"x": series})
        table = open_table(frame, Schema({"x": DECLARED[declared]}))
        if declared not in readable:
            with pytest.raises(InvalidData, match="`x`") as caught:
                list(table.blocks())
            assert_silent(caught.value)
            return
        (block,) = table.blocks()
        assert same(block.columns["x"], alone(DECLARED[declared], cells))

    for_every(DECLARED, check)


def test_a_categorical_of_a_type_without_meaning_is_refused():
    """The bins of pandas.cut are no levels until they are texts."""
    frame = pd.DataFrame({"x": pd.cut(pd.Series([0.5, 1.5]), [0, 1, 2])})
    schema = Schema({"x": Category(["(0, 1]", "(1, 2]"])})
    with pytest.raises(InvalidData, match="`x`.*interval.*Convert it to text"):
        list(open_table(frame, schema).blocks())
    (block,) = open_table(frame.astype(str), schema).blocks()
    assert block.columns["x"].tolist() == [0, 1]


def test_a_zone_that_arrow_does_not_have_is_refused_by_dtype():
    """The calendar days of a zone of one's own are nothing that every reader can tell."""

    class Odd(dt.tzinfo):
        def utcoffset(self, _moment):
            return dt.timedelta(seconds=7)

        def dst(self, _moment):
            return dt.timedelta(0)

        def tzname(self, _moment):
            return "odd"

    frame = pd.DataFrame({"x": pd.Series([LATE.astimezone(Odd())]).dt.tz_convert(Odd())})
    with pytest.raises(InvalidData, match="`x`"):
        list(open_table(frame, Schema({"x": DECLARED["date"]})).blocks())


POLARS = [
    *[(kind, [1, None, 2, 0], WHOLES) for kind in (pl.Int8, pl.Int16, pl.Int32, pl.Int64)],
    *[(kind, [1, None, 2, 0], WHOLES) for kind in (pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)],
    *[(kind, [1.5, None, 2.0], NUMBERS) for kind in (pl.Float32, pl.Float64)],
    (pl.Boolean, [True, None, False], NUMBERS),
    (pl.Decimal(9, 2), [Decimal("1.50"), None, Decimal("2.00")], NUMBERS),
    (pl.String, ["1", None, "a", "20200102"], TEXTS),
    (pl.Categorical, ["1", None, "a"], TEXTS),
    (pl.Enum(["a", "1"]), ["1", None, "a"], TEXTS),
    (pl.Date, [DAY, None], MOMENTS),
    *[(pl.Datetime(unit), [NOON, None], MOMENTS) for unit in ("ms", "us", "ns")],
    (pl.Datetime("us", "Asia/Tokyo"), [LATE.astimezone(TOKYO), None], MOMENTS),
    (pl.Null, [None, None], ALL),
    (pl.Int128, [1], set()),
    (pl.Duration, [dt.timedelta(1)], set()),
    (pl.Time, [dt.time(1)], set()),
    (pl.Binary, [b"1"], set()),
    (pl.List(pl.Int8), [[1]], set()),
    (pl.Array(pl.Int8, 1), [[1]], set()),
    (pl.Struct({"a": pl.Int8}), [{"a": 1}], set()),
    (pl.Object, [object()], set()),
]


@pytest.mark.parametrize(("kind", "cells", "readable"), POLARS, ids=id_of)
def test_polars_types_are_read_as_their_cells_alone_or_refused(kind, cells, readable):
    """Of every type of polars; the door is that of data frames."""

    def check(declared):
        table = open_table(pl.DataFrame({"x": pl.Series(cells, dtype=kind)}), Schema({"x": DECLARED[declared]}))
        if declared not in readable:
            with pytest.raises(InvalidData, match="`x`") as caught:
                list(table.blocks())
            assert_silent(caught.value)
            return
        (block,) = table.blocks()
        assert same(block.columns["x"], alone(DECLARED[declared], cells))

    for_every(DECLARED, check)


def test_units_are_the_same_whatever_type_holds_them():
    """A unit is known again in every type that can hold it; all other types are refused by name."""
    reader = UnitReader("p", Reading())
    for kind, cells, readable in ARROW:
        array = arrow_of(kind, cells)
        if not readable and kind != pa.timestamp("s", "Not/AZone"):
            with pytest.raises(InvalidData, match="`p`") as caught:
                reader.from_arrow(array)
            assert str(kind) in str(caught.value)
            continue
        if not readable:
            continue
        small = [None if isinstance(cell, float) and abs(cell) > 1e9 else cell for cell in cells]
        found, _ = reader.from_arrow(arrow_of(kind, small))
        assert np.array_equal(found, reader.from_objects(small)[0]), kind
    for kind, cells, readable in PANDAS:
        if readable:
            frame = pd.DataFrame({"p": pd.Series(cells, dtype=kind), "x": 1.0})
            (block,) = open_rows(frame, Schema({"x": Number(0, 1)}, unit="p", rows_per_unit=1)).blocks()
            assert np.array_equal(block.columns["p"], reader.from_objects(cells)[0]), kind


def test_text_that_is_no_unicode_is_missing_and_harms_no_other():
    """Arrow hands on bytes of a Parquet file unchecked; a text that is no UTF-8 is missing, in every column."""
    raw = pa.array([b"1", b"\xff1", b"a", None], pa.binary())
    text = pa.Array.from_buffers(pa.string(), 4, raw.buffers())
    for kind in (pa.string(), pa.string_view()):
        array = text if kind == pa.string() else raw.cast(pa.binary_view()).view(kind)
        for column in DECLARED.values():
            assert same(
                ColumnReader("x", column, Reading()).from_arrow(array)[0], alone(column, ["1", None, "a", None])
            )
        keys, _ = UnitReader("p", Reading()).from_arrow(array)
        assert (keys["high"] != 0).tolist() == [True, False, True, False]
