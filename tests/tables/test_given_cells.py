"""Every type of a cell that can enter without a schema is read by its meaning, or refused by name and type."""

import datetime as dt
import decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DiscreetError, InvalidData, InvalidType
from discreet.tables.cells.given_cells import (
    array_of,
    is_frame,
    matrix_of_numbers,
    numbers_of,
    refuse_type_of,
    unmasked,
)
from discreet.tables.cells.object_cells import numbers_of_objects

NAN = np.nan
DAY = dt.date(2020, 1, 1)
MOMENT = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


def series(values, dtype):
    return pd.Series(values, dtype=dtype)


READ = {
    **{f"numpy {kind}": (np.array([1, 0], kind), [1, 0]) for kind in "?bBhHiIlLqQefdg"},
    "numpy, other bytes": (np.array([1, 2], ">f8"), [1, 2]),
    "numpy, largest whole number": (np.array([2**64 - 1], "u8"), [2.0**64]),
    "numpy longdouble": (np.array(["1e4000", "1.5"], np.longdouble), [np.inf, 1.5]),
    "numpy texts": (np.array(["1", " 2.5 ", "", "nan", "-Inf"]), [1, 2.5, NAN, NAN, NAN]),
    "numpy StringDType": (np.array(["1", None], np.dtypes.StringDType(na_object=None)), [1, NAN]),
    "numpy objects": (np.array([1, 2.5, True, None, "3"], object), [1, 2.5, 1, NAN, 3]),
    "numpy scalars as objects": (
        np.array([np.float16(1), np.uint8(2), np.str_("3"), np.bool_(True)], object),
        [1, 2, 3, 1],
    ),
    "decimals": (
        np.array([decimal.Decimal("0.1"), decimal.Decimal("sNaN"), decimal.Decimal("NaN")], object),
        [0.1, NAN, NAN],
    ),
    "fractions": (np.array([Fraction(1, 4), 1], object), [0.25, 1]),
    "beyond doubles": ([10**400, -(10**400), 1], [NAN, NAN, 1]),
    "masked": (np.ma.array([1.0, 2.0], mask=[False, True]), [1, NAN]),
    "masked whole numbers": (np.ma.array([1, 2], mask=[False, True]), [1, NAN]),
    "masked objects": (np.ma.array(np.array([1, "x"], object), mask=[False, True]), [1, NAN]),
    "masked constant in a list": ([1.0, np.ma.masked], [1, NAN]),
    "pandas Int64": (series([1, None], "Int64"), [1, NAN]),
    "pandas UInt8": (series([1, None], "UInt8"), [1, NAN]),
    "pandas Float32": (series([1.5, None], "Float32"), [1.5, NAN]),
    "pandas boolean": (series([True, None], "boolean"), [1, NAN]),
    "pandas string": (series(["1", None], "string"), [1, NAN]),
    "pandas category of numbers": (series([3, 1, None], "category"), [3, 1, NAN]),
    "pandas category, a level unused": (pd.Series(pd.Categorical([1, 1], categories=[1, "x"])), [1, 1]),
    "pandas category of texts": (series(["3", "1"], "category"), [3, 1]),
    "pandas sparse": (series([0.0, 1.0], pd.SparseDtype(float, 0.0)), [0, 1]),
    "pandas sparse, filled with 1": (series([0, 1], pd.SparseDtype(int, 1)), [0, 1]),
    "pandas objects": (series([1, pd.NA, pd.NaT, None], object), [1, NAN, NAN, NAN]),
    "polars Boolean": (pl.Series([True, None]), [1, NAN]),
    "polars UInt64": (pl.Series([2**64 - 1, None], dtype=pl.UInt64), [2.0**64, NAN]),
    "polars Float32": (pl.Series([1.5, None], dtype=pl.Float32), [1.5, NAN]),
    "polars Decimal": (pl.Series([decimal.Decimal("0.1"), None]), [0.1, NAN]),
    "polars String": (pl.Series(["1", None]), [1, NAN]),
    "polars Categorical": (pl.Series(["1", "2"], dtype=pl.Categorical), [1, 2]),
    "polars Null": (pl.Series([None, None]), [NAN, NAN]),
    "Arrow chunks": (pa.chunked_array([[1, None], [2]]), [1, NAN, 2]),
}
ARROW = {
    **{
        str(kind): ([1, None], kind, [1, NAN])
        for kind in (pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64())
    },
    "bool": ([True, None], pa.bool_(), [1, NAN]),
    "decimal128": ([decimal.Decimal("0.10"), None], pa.decimal128(5, 2), [0.1, NAN]),
    "decimal256": ([decimal.Decimal("0.10"), None], pa.decimal256(50, 2), [0.1, NAN]),
    "string": (["1", None], pa.string(), [1, NAN]),
    "large_string": (["1", None], pa.large_string(), [1, NAN]),
    "string_view": (["1", None], pa.string_view(), [1, NAN]),
    "null": ([None, None], pa.null(), [NAN, NAN]),
}
READ |= {
    f"pandas, Arrow's {name}": (pd.Series(pa.array(values, kind), dtype=pd.ArrowDtype(kind)), found)
    for name, (values, kind, found) in ARROW.items()
}
TYPES = {
    "complex": (np.array([1j, 2]), "Complex data not supported in `y`"),
    "bytes": (np.array([b"7351", b"1"]), "Column 'y' has the type bytes"),
    "structured": (np.array([(1, 2)], [("q7351", "i4"), ("b", "i4")]), "Column 'y' has the type structured"),
    "void": (np.zeros(2, "V4"), "Column 'y' has the type structured or void"),
    "datetime64": (np.array(["2020"], "M8[s]"), r"Column 'y' has the type datetime64\[s\]"),
    "timedelta64": (np.array([1], "m8[ns]"), r"Column 'y' has the type timedelta64\[ns\]"),
    "masked datetime64": (np.ma.array(np.array([1, 2], "M8[ns]"), mask=[0, 1]), "datetime64"),
    "masked complex": (np.ma.array([1j, 2], mask=[0, 1]), "Complex data"),
    "masked structure": (np.ma.array([(1, 2)], dtype=[("a", "i4"), ("b", "i4")]), "structured"),
    "a list of spans": ([np.timedelta64(1, "D")], r"the type timedelta64\[D\]"),
    "pandas with a zone": (pd.Series([MOMENT]), "the type datetime64.*UTC"),
    "pandas Timedelta": (pd.Series([pd.Timedelta(1)]), "the type timedelta64"),
    "pandas Period": (pd.Series([pd.Period("2020")]), "the type period"),
    "pandas Interval": (pd.Series([pd.Interval(0, 1)]), "the type interval"),
    "pandas category of moments": (pd.Series([MOMENT]).astype("category"), "the type datetime64"),
    "pandas cut": (pd.cut(pd.Series([1.0, 2.0]), 2), "the type interval"),
    "polars Date": (pl.Series([DAY]), "the type date32"),
    "polars Datetime": (pl.Series([MOMENT]), "the type timestamp"),
    "polars Duration": (pl.Series([dt.timedelta(1)]), "the type duration"),
    "polars Time": (pl.Series([dt.time(1)]), "the type time64"),
    "polars Binary": (pl.Series([b"7351"]), "the type large_binary"),
    "polars List": (pl.Series([[7351]]), "the type large_list"),
    "polars Struct": (pl.Series([{"a": 7351}]), "the type struct"),
    "polars Object": (pl.Series([object()], dtype=pl.Object), "has the type"),
    **{
        f"pandas, Arrow's {kind}": (pd.Series(pa.array([None, None], kind), dtype=pd.ArrowDtype(kind)), "the type")
        for kind in (
            pa.date32(),
            pa.date64(),
            pa.timestamp("ns", "UTC"),
            pa.duration("s"),
            pa.time32("s"),
            pa.time64("ns"),
            pa.binary(),
            pa.large_binary(),
            pa.list_(pa.int8()),
            pa.struct([("a", pa.int8())]),
            pa.map_(pa.string(), pa.int8()),
            pa.month_day_nano_interval(),
        )
    },
}
CELLS = {
    "a complex number": (7351j, InvalidData, "Complex data"),
    "numpy's complex number": (np.complex64(7351j), InvalidData, "Complex data"),
    "bytes": (b"7351", InvalidType, "of the type bytes"),
    "a text": ("7351 kg", InvalidData, "not a number"),
    "digits with underscores": ("7_351", InvalidData, "not a number"),
    "other digits": ("٧٣٥١", InvalidData, "not a number"),
    "a date": (DAY, InvalidData, "of the type date,"),
    "a span": (np.timedelta64(7351, "ns"), InvalidData, "of the type timedelta64"),
    "a moment": (pd.Timestamp("2020"), InvalidData, "of the type Timestamp"),
    "an array": (np.array([7351.0]), InvalidType, "of the type ndarray"),
    "a structure": (np.zeros(1, [("a", "f8")])[0], InvalidType, "of the type void"),
    "a mapping": ({"7351": 1}, InvalidType, "of the type dict"),
    "an object": (object(), InvalidType, "of the type object"),
}


@pytest.mark.parametrize("name", READ)
def test_what_is_a_number_is_read(name):
    """As a column, in a frame and as a target: whole numbers, flags, floats, texts of numbers; NaN for missing."""
    given_, expected = READ[name]
    np.testing.assert_array_equal(np.asarray(numbers_of(given_), np.float64), expected)
    if isinstance(given_, (pd.Series, pl.Series)):
        both = pd.DataFrame({"a": given_, "b": 1.0}) if isinstance(given_, pd.Series) else given_.to_frame()
        np.testing.assert_array_equal(np.asarray(matrix_of_numbers(both), np.float64)[:, 0], expected)
        np.testing.assert_array_equal(np.asarray(matrix_of_numbers(given_), np.float64), expected)
    elif isinstance(given_, np.ndarray):
        np.testing.assert_array_equal(np.asarray(matrix_of_numbers(given_[:, None]), np.float64)[:, 0], expected)


@pytest.mark.parametrize("name", ARROW)
def test_tables_of_arrow_are_read_as_the_columns_they_hold(name):
    """Also through a dictionary; a column of every type that is a number."""
    values, kind, expected = ARROW[name]
    column = pa.array(values, kind)
    np.testing.assert_array_equal(matrix_of_numbers(pa.table({"a": column}))[:, 0], expected)
    if kind in {pa.int8(), pa.string()}:
        np.testing.assert_array_equal(matrix_of_numbers(pa.table({"a": column.dictionary_encode()}))[:, 0], expected)


@pytest.mark.parametrize("name", TYPES)
def test_a_type_that_is_no_number_is_refused_by_name(name):
    """Column and type are named, and no cell, in targets and in frames."""
    given_, text = TYPES[name]
    with pytest.raises(InvalidData, match=text) as caught:
        numbers_of(given_)
    assert "7351" not in str(caught.value)
    if isinstance(given_, (pd.Series, pl.Series)):
        frame = pd.DataFrame({"when": given_}) if isinstance(given_, pd.Series) else given_.alias("when").to_frame()
        with pytest.raises(InvalidData, match="Column 'when' has the type"):
            matrix_of_numbers(frame)
        if "category" in name or "cut" in name:  # what a category's cells are is a matter of its levels
            refuse_type_of(given_, "q")
            return
        with pytest.raises(InvalidData, match="Column 'q' has the type"):
            refuse_type_of(given_, "q")


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("others", [[1.0, 2.0], [1, None], ["1", "2"]], ids=str)
def test_a_cell_that_is_no_number_is_refused_without_being_quoted(name, others):
    """Whatever the other cells are; the chain of errors holds no cell either."""
    cell, kind, text = CELLS[name]
    cells = np.empty(3, object)
    cells[:] = [*others, None]
    cells[2] = cell
    for call in (lambda: numbers_of(cells), lambda: numbers_of(pd.Series(cells))):
        with pytest.raises(kind, match=text) as caught:
            call()
        assert "7351" not in str(caught.value)
        assert caught.value.__context__ is None


class Odd:
    """An object whose number is given, or whose conversion raises."""

    def __init__(self, number=None):
        self.number = number

    def __float__(self):
        if self.number is None:
            raise RuntimeError("7351")
        return self.number


CELL = st.one_of(
    st.floats(),
    st.integers(-(10**400), 10**400),
    st.booleans(),
    st.none(),
    st.fractions(),
    st.decimals(),
    st.floats().map(np.float64),
    st.floats(width=32).map(np.float32),
    st.integers(0, 255).map(np.uint8),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from([pd.NA, pd.NaT, np.ma.masked, Odd(), Odd(2.5), "", "NaN"]),
)


@given(st.lists(CELL, min_size=1, max_size=6))
def test_no_cell_changes_how_another_is_read(cells):
    """Beside whatever others, a cell is what it is alone."""
    together = numbers_of_objects(cells, "Column 'y'", "y")
    alone = [float(numbers_of_objects([cell], "Column 'y'", "y")[0]) for cell in cells]
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("ragged", [[[1.0], [1.0, 2.0]], [[1.0, [2.0]]], [[7351.0], 1.0]])
def test_rows_of_several_lengths_are_refused(ragged):
    """In our words."""
    with pytest.raises(DiscreetError) as caught:
        matrix_of_numbers(ragged)
    assert "7351" not in str(caught.value)


def test_what_refuses_to_be_an_array_is_refused_in_our_words():
    """An object whose conversion raises."""

    class Angry:
        def __array__(self, *args, **kwargs):
            raise RuntimeError("7351")

    with pytest.raises(InvalidData, match="cannot be read as an array") as caught:
        array_of(Angry(), "X")
    assert caught.value.__context__ is None


def test_masks_become_what_a_type_calls_missing():
    """NaN, NaT or None; where nothing is masked the array is the one below, and nothing is written to."""
    cells = np.array([1.0, 2.0])
    masked = np.ma.array(cells, mask=[False, True])
    assert np.isnan(unmasked(masked)[1])
    assert cells.tolist() == [1.0, 2.0]
    assert unmasked(np.ma.array(np.array(["a", "b"]), mask=[False, True])).tolist() == ["a", None]
    assert np.isnat(unmasked(np.ma.array(np.array([1, 2], "M8[s]"), mask=[False, True]))[1])
    assert np.shares_memory(unmasked(np.ma.array(cells)), cells)
    assert unmasked("text") == "text"


def test_frames_are_known_by_their_columns():
    """Of pandas, polars and Arrow; arrays, lists and series are none."""
    assert all(map(is_frame, (pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}), pa.table({"a": [1]}))))
    assert not any(map(is_frame, (np.eye(2), [[1]], pd.Series([1]), pl.Series([1]), 3)))


def test_numbers_of_one_type_are_not_copied():
    """An array of real numbers is returned as it is; columns of several types become doubles."""
    X = np.arange(6, dtype=np.float32).reshape(3, 2)
    assert np.shares_memory(matrix_of_numbers(X), X)
    assert matrix_of_numbers(pd.DataFrame(X)).dtype == np.float32
    mixed = pd.DataFrame({"a": [True, False], "b": [1, 2]})
    assert matrix_of_numbers(mixed).tolist() == [[1.0, 1.0], [0.0, 2.0]]
    assert matrix_of_numbers(pd.DataFrame(index=[1, 2])).shape == (2, 0)
