"""Reading options: decimals, encodings, dates, label maps, units; declared, never guessed, the same in every source."""

import datetime as dt
import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, InvalidData
from discreet.tables.cells.texts import NO_DATE, NO_FLAG
from discreet.tables.readers.tables import open_table
from discreet.tables.schema.columns import Category, Constant, Date, Flag, Number, Reading
from discreet.tables.schema.schema import Schema
from tables.tabular import assert_silent, write


def cells(source, column, reading=None):
    """Return what is read of column `x`, and the trouble."""
    schema = Schema({"x": column}, reading=reading)
    blocks = list(open_table(source, schema).blocks())
    troubles = {trouble for block in blocks for trouble in block.troubles.values()}
    return np.concatenate([block.columns["x"] for block in blocks]).tolist(), troubles


def csv(tmp_path, *lines, encoding="utf-8"):
    """Write a file of one column `x`."""
    path = tmp_path / "t.csv"
    path.write_bytes(("x\n" + "".join(f"{line}\n" for line in lines)).encode(encoding))
    return path


MISSING = -1.0
FREE = Number(-(10**6), 10**6, missing=MISSING)
COMMA = Reading(delimiter=";", decimal=",")


@pytest.mark.parametrize(
    ("reading", "texts", "numbers"),
    [
        (COMMA, ["3,14", "-0,5", ",5", "7", "1e3", "1,5e1"], [3.14, -0.5, 0.5, 7, 1000, 15]),
        (Reading(";", thousands=".", decimal=","), ["1.234,5", "12.345.678,25", "1.234"], [1234.5, 12345678.25, 1234]),
        (Reading(thousands="'"), ["1'234.5"], [1234.5]),
    ],
)
def test_ing_03_numbers_are_read_with_the_declared_marks(tmp_path, reading, texts, numbers):
    """ING-03: a comma before the fraction and a mark between groups of three, where they are declared."""
    read, troubles = cells(csv(tmp_path, *texts), Number(-(10**8), 10**8), reading)
    assert read == numbers
    assert not troubles


def test_a_point_is_no_decimal_where_a_comma_is_declared(tmp_path):
    """1.5 in a file with decimal commas is not guessed to be a number."""
    for reading in (COMMA, Reading(";", thousands=".", decimal=",")):
        assert np.isnan(cells(csv(tmp_path, "1.5"), Number(0, 9), reading)[0]).all()


def test_ing_03_a_comma_in_a_number_hints_at_the_option(tmp_path):
    """ING-03: under the policy "error" the trouble names the options."""
    (trouble,) = cells(csv(tmp_path, "2,5"), Number(0, 9), Reading(";"))[1]
    assert "`decimal`" in trouble


@given(st.floats(-1e6, 1e6, allow_nan=False), st.sampled_from([",", "·", "'"]))
def test_every_decimal_mark_reads_the_same_double(number, mark):
    """A number and its text with another mark are the same bits."""
    text = repr(number).replace(".", mark)
    read, _ = cells(pa.table({"x": [text]}), Number(-1e7, 1e7), Reading(decimal=mark, delimiter=";"))
    assert read == [number]


@pytest.mark.parametrize("encoding", ["latin-1", "windows-1252", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("packed", [False, True])
def test_ing_01_a_declared_encoding_is_read(tmp_path, encoding, packed):
    """ING-01: letters beyond ASCII keep their meaning in header and cells, also in a compressed file."""
    text = "größe,ort\n1,Zürich\n2,Köln\n" * 1
    content = text.encode(encoding)
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    schema = Schema({"größe": Number(0, 5), "ort": Category(["Köln", "Zürich"])}, reading=Reading(encoding=encoding))
    (block,) = open_table(path, schema).blocks()
    assert block.columns["größe"].tolist() == [1, 2]
    assert block.columns["ort"].tolist() == [1, 0]


def test_a_wrong_encoding_is_told_without_a_cell(tmp_path):
    """The message names the encoding and the option, not the text."""
    path = tmp_path / "t.csv"
    path.write_bytes("x,ort\n1,Zürich\n".encode("latin-1"))
    table = open_table(path, Schema({"x": Number(0, 5), "ort": Category(["a", "b"])}))
    with pytest.raises(InvalidData, match=r"utf-8.*`encoding`") as caught:
        list(table.blocks())
    assert_silent(caught.value, "rich")
    path.write_bytes("größe\n1\n".encode("latin-1"))
    with pytest.raises(InvalidData, match="`encoding`"):
        open_table(path, Schema({"x": Number(0, 5)}))


OPENED = Date("2016-01-01", "2016-12-31", format="%d/%m/%Y", missing=dt.date(2016, 1, 2))


def test_ing_12_dates_are_read_in_the_declared_order(tmp_path):
    """ING-12: day first means day first for every cell; anything else is missing, never another order."""
    texts = ["10/9/2016", "30/9/2016", "9/30/2016", "2016-09-30", "31/2/2016", "", "1/1/2016x"]
    read, _ = cells(csv(tmp_path, *texts), OPENED)
    first = dt.date(2016, 1, 1)
    assert read[:2] == [(dt.date(2016, 9, day) - first).days for day in (10, 30)]
    assert np.isnan(read[2:]).all()


def test_ing_12_a_date_in_another_form_is_an_error_without_the_cell(tmp_path):
    """ING-12: the trouble names `format`."""
    declared = Date("2016-01-01", "2016-12-31", format="%d/%m/%Y")
    assert cells(csv(tmp_path, "2016-09-30"), declared)[1] == {NO_DATE}
    assert cells(csv(tmp_path, "1/9/2016"), declared)[1] == set()


@pytest.mark.parametrize(
    "source",
    [
        pa.table({"x": [dt.date(2016, 1, 4), None]}),
        pa.table({"x": pa.array([dt.datetime(2016, 1, 4, 23), None], pa.timestamp("ns"))}),
        pa.table({"x": ["4/1/2016", None]}),
        pd.DataFrame({"x": pd.to_datetime(["2016-01-04", None])}),
        pd.DataFrame({"x": [dt.date(2016, 1, 4), None]}),
        pd.DataFrame({"x": np.array([dt.datetime(2016, 1, 4, 5), pd.NaT], dtype=object)}),
        pl.DataFrame({"x": [dt.date(2016, 1, 4), None]}),
    ],
    ids=["date", "timestamp", "text", "pandas", "objects", "datetimes", "polars"],
)
def test_dates_are_the_same_days_in_every_source(source):
    """A date is a number of days since the column's lower limit, whatever holds it."""
    read, _ = cells(source, OPENED)
    assert read[0] == 3
    assert np.isnan(read[1])


def test_whole_numbers_may_be_dates_and_fractions_may_not(tmp_path):
    """20160104 is read by its format; a column of doubles is refused by name and type."""
    compact = Date("2016-01-01", "2016-12-31", format="%Y%m%d")
    assert cells(pa.table({"x": [20160104]}), compact)[0] == [3]
    assert cells(pd.DataFrame({"x": [20160104]}), compact)[0] == [3]
    with pytest.raises(InvalidData, match=r"`x`.*double"):
        cells(pa.table({"x": [1.5]}), compact)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Date("2016-01-02", "2016-01-02"),
        lambda: Date("2016-13-02", "2017-01-02"),
        lambda: Date(5, "2017-01-02"),
        lambda: Date("2016-01-02", "2017-01-02", format="%d.%m."),
        lambda: Date("2016-01-02", "2017-01-02", missing="2018-01-01"),
        lambda: Number(0, 1, unit="e5"),
        lambda: Number(0, 1, unit=" "),
        lambda: Flag(labels={"yes": 2}),
        lambda: Flag(labels={"yes": 1, "YES": 0}),
        lambda: Category(["a", "b"], labels={"A": "c"}),
        lambda: Flag(labels={1: 1}),
        lambda: Reading(decimal="5"),
        lambda: Reading(decimal=","),
        lambda: Reading(";", thousands=",", decimal=","),
        lambda: Reading(encoding="base64"),
        lambda: Reading(encoding="no such"),
        lambda: Reading(encoding=5),
    ],
)
def test_declarations_that_cannot_be_meant_are_refused(wrong):
    """Before any row is read, naming the argument."""
    with pytest.raises(InvalidArgument, match="`"):
        wrong()


def test_ing_09_labels_map_texts_whatever_their_case(tmp_path):
    """ING-09: yes, No, YES, no are two classes with the map, and an error that asks for it without."""
    texts = ["yes", "No", "YES", "no", "1.0", "0", "true", "maybe"]
    declared = Flag(labels={"yes": 1, "no": 0}, missing=0)
    for source in (csv(tmp_path, *texts), pa.table({"x": texts}), pd.DataFrame({"x": texts})):
        read, _ = cells(source, declared)
        assert read[:-1] == [1, 0, 1, 0, 1, 0, 1]
        assert np.isnan(read[-1])
    (trouble,) = cells(csv(tmp_path, *texts), Flag())[1]
    assert trouble == NO_FLAG


def test_ing_09_labels_of_categories_are_other_spellings_of_levels(tmp_path):
    """Exact levels win; a spelling is compared without case and outer blanks."""
    declared = Category(["F", "M"], labels={"female": "F", "f": "F", "male": "M"}, missing="M")
    texts = ["F", "f", " Female", "MALE", "m", ""]
    for source in (
        csv(tmp_path, *texts),
        pa.table({"x": texts}),
        pa.table({"x": pa.array(texts).dictionary_encode()}),
        pd.DataFrame({"x": pd.Categorical(texts)}),
        pd.DataFrame({"x": pd.Series([*texts, 5], dtype=object)}),
    ):
        assert cells(source, declared)[0][:6] == [0, 0, 0, 1, -1, -1]


def test_ing_14_a_declared_unit_is_taken_off(tmp_path):
    """ING-14: a unit is stripped only where it is declared, before or after the number."""
    texts = ["50 %", "20%", "7", "% 5", "-3%", "$5", "%", "5 % %"]
    read, _ = cells(csv(tmp_path, *texts), Number(-100, 100, unit="%", missing=0))
    assert read[:5] == [50, 20, 7, 5, -3]
    assert np.isnan(read[5:]).all()
    assert cells(csv(tmp_path, "$1,000.50", "-$3"), Number(-9, 9999, unit="$"), Reading(";", thousands=","))[0] == [
        1000.5,
        -3,
    ]


def test_a_schema_with_every_option_survives_its_files(tmp_path):
    """TOML and JSON say the same declarations again."""
    schema = Schema(
        {
            "rate": Number(0, 100, unit="%"),
            "opened": OPENED,
            "smoker": Flag(labels={"Yes": 1, "no": 0}, missing=Constant(0)),
            "odd name": Category(["F", "M"], labels={"fe male": "F"}),
        },
        reading=Reading(";", ("?",), ".", ",", "windows-1252"),
    )
    path = tmp_path / "s.toml"
    schema.to_toml(path)
    for again in (Schema.from_toml(path), Schema.from_json(schema.to_json())):
        assert again.columns == schema.columns
        assert again.reading == schema.reading


def test_a_schema_file_may_write_dates_as_toml_does(tmp_path):
    """TOML has dates of its own."""
    text = 'format = 1\n[columns.d]\nkind = "date"\nlower = 2016-01-01\nupper = "2016-12-31"\n'
    text += "missing = { constant = 2016-01-02 }\n"
    column = Schema.from_toml(write(tmp_path / "s.toml", text)).columns["d"]
    assert (column.upper, column.missing) == (365.0, Constant(1.0))
