"""Files of Stata, SPSS, SAS and spreadsheets: one row a record, each cell read by itself, labels as levels."""

import base64
import datetime as dt
import itertools
import lzma
import math
import sys
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pyreadstat
import pytest

import discreet as dp
from discreet.errors import InvalidArgument, InvalidData
from discreet.tables.design import Design
from discreet.tables.readers.tables import open_rows, open_table
from discreet.tables.schema.columns import Category, Date, Flag, Number
from discreet.tables.schema.drafts import draft_schema
from discreet.tables.schema.inspection import count_cells
from discreet.tables.schema.schema import Schema
from tables.tabular import assert_silent, rows_of

# A sheet that a program of the nineties wrote: BIFF8 in a compound file.
OLD_SHEET = lzma.decompress(
    base64.b85decode(
        b"T>t=p0RR90|NsC0{{Uz+z8r=ycVP6SgepJ`9Cjyy@{xwzh{`9r;h?w11QTbQ&6v4qH5DqE;RDmf=*-ddOF!ADBJp6^u*dE%)j~d{"
        b"qlzMTfmIQ38#MY4`=iQc0LNj?E2yB6I4}u}%N>gz-_b`H4Rqu1*e8#bC}XCrObY5-I-IZ7@B>D*#y4PEm=sEa$Cs90zi58uIB=>B"
        b"5BWQ{9?2A^he@pPr}6mETlgIeMr4s0Wed4hY@jAdIEh^HEv}#Z_i%UxbDb4_xpaP(HF~~*y@RjggPplHQQL3^tq8GN_IY!O`D>Y9"
        b"GilHmF=gpiXA*1$6foqIYb&^BM(v(vO#_`gktI9~^+vvJe;K{?E0qLYTPPmEhVf0xf|Bnv-cVcY^4qPOC0RAWC|#*$PkU0A&CmKp"
        b"lQW6u`rvn`8S^1=jla&-X@AeDp(x;Rv{>Fp_?bZXed6*tKcT{oD_HUGXfV3Po5(NaDJ$dEn+CUlP;y1w{IMQ2m!%^J8tZ}4U2!?0"
        b"ni{vPi(wwqi(5FtY*93S348PN-HGj`23>s0LEnZt<I{TM73@T5s*!k1$Sm_bgjemZrBN29jXrgGdP1#ipI{Gn-;MNr0Ers)ff(Y!"
        b"7vOTi(NQ<;don0oVb_S|^*YWbN<J$;_DHH^eDdP+&<^7SqB0=FLiyKHp*S8#h>npC|4N<|+vP;r2W3nZD==w(VK<{(j~;Ylor?Ss"
        b"EZfEAi|itzinl!V@P9v&5FdTTS;u-OKvaeOjL`GG0m2+$F8Y8^JXmyh95IO$?KoL(6VKr1y0QPF$@&CSila=IgV#g(l~!W@@{D#M"
    )
)
DAY = dt.date(2020, 1, 2)
PEOPLE = [
    {"age": 30.5, "sex": 1.0, "kind": "a", "born": DAY, "seen": dt.datetime(2020, 1, 2, 23, 59), "ok": 1.0},
    {"age": np.nan, "sex": 2.0, "kind": "", "born": None, "seen": None, "ok": 2.0},
    {"age": 40.0, "sex": 9.0, "kind": "01", "born": dt.date(1960, 1, 1), "seen": dt.datetime(1959, 12, 31), "ok": 3.0},
    {
        "age": 1e300,
        "sex": np.nan,
        "kind": "zz",
        "born": dt.date(1950, 2, 1),
        "seen": dt.datetime(1950, 2, 1),
        "ok": np.nan,
    },
    {"age": -1.0, "sex": 7.0, "kind": "a", "born": DAY, "seen": dt.datetime(2020, 1, 2, 0, 0), "ok": 1.0},
]
SCHEMA = Schema({
    "age": Number(0, 100, missing="drop"),
    "sex": Category(["female", "male", "7"], missing="drop", labels={"man": "male"}),
    "kind": Category(["a", "01"], missing="drop"),
    "born": Date("1950-01-01", "2030-01-01", missing="drop"),
    "seen": Date("1950-01-01", "2030-01-01", missing="drop"),
    "ok": Flag(missing="drop", labels={"yes": 1, "no": 0}),
})  # fmt: skip
LABELS = {"sex": {1: "Man", 2: "female", 9: "refused"}, "ok": {1: "yes", 2: "No", 3: "who knows"}}
PROGRAMS = ["sav", "zsav", "dta", "xpt", "por"]


def written(path, people):
    """Write people as a file of the program whose ending the path has; return the path."""
    frame = pd.DataFrame(people, columns=list(PEOPLE[0]))
    frame = frame.astype({"born": object, "seen": "datetime64[us]", "kind": object})
    ending = path.suffix.lower()
    if ending in {".sav", ".zsav"}:
        labels = {name: {float(code): text for code, text in found.items()} for name, found in LABELS.items()}
        missing = {"sex": [{"lo": 8, "hi": 9}]}
        pyreadstat.write_sav(
            frame, str(path), variable_value_labels=labels, missing_ranges=missing, compress=ending == ".zsav"
        )
    elif ending == ".dta":
        pyreadstat.write_dta(frame, str(path), variable_value_labels=LABELS)
    elif ending == ".xpt":
        pyreadstat.write_xport(frame, str(path))
    else:
        pyreadstat.write_por(frame.rename(columns=str.upper), str(path))
    return path


def cells_of(source, schema=SCHEMA):
    blocks = list(open_table(source, schema).blocks())
    empty = {name: [] for name in schema.columns}
    return (
        {name: np.concatenate([block.columns[name] for block in blocks]).tolist() for name in empty}
        if blocks
        else empty
    )


def schema_for(ending):
    """Return the schema; a portable file has its names in capitals, and like that of SAS no labels here."""
    if ending != "por":
        return SCHEMA
    return Schema({name.upper(): column for name, column in SCHEMA.columns.items()})


@pytest.mark.parametrize("ending", PROGRAMS)
def test_a_file_of_another_program_has_one_row_a_record(tmp_path, ending):
    """Numbers, texts and dates mean what they mean there; a time of the day is cut off; codes are levels or missing."""
    found = cells_of(written(tmp_path / f"t.{ending}", PEOPLE), schema_for(ending))
    found = {name.lower(): cells for name, cells in found.items()}
    days = [25568.0, np.nan, 3652.0, 31.0, 25568.0]
    expected_age = [30.5, np.nan, 40.0, 1e300, -1.0]
    if ending in {"xpt", "por"}:  # their numbers reach less far, or have fewer digits
        found["age"][3] = expected_age[3]
    np.testing.assert_array_equal(found["age"], expected_age)
    np.testing.assert_array_equal(found["born"], days)
    np.testing.assert_array_equal(found["seen"], [25568.0, np.nan, 3651.0, 31.0, 25568.0])
    assert found["kind"] == [0, -1, 1, -1, 0]
    labelled = ending not in {"xpt", "por"}
    # Of a labelled code its label, in any case where it is a label of ours; of any other its own text.
    assert found["sex"] == ([1, 0, -1, -1, 2] if labelled else [-1, -1, -1, -1, 2])
    np.testing.assert_array_equal(
        found["ok"], [1, 0, np.nan, np.nan, 1] if labelled else [1, np.nan, np.nan, np.nan, 1]
    )


@pytest.mark.parametrize("ending", PROGRAMS)
def test_a_record_of_another_programs_file_moves_no_other(tmp_path, ending):
    """Deleting, adding or replacing a record does so to one row, whatever the record holds."""
    schema = schema_for(ending)
    design = Design.for_terms(None, schema)
    rows = rows_of(written(tmp_path / f"t.{ending}", PEOPLE), design)
    assert rows.shape[1] == len(PEOPLE)
    for place, other in itertools.product(range(len(PEOPLE)), [None, *PEOPLE]):
        people = [*PEOPLE[:place], *([] if other is None else [other]), *PEOPLE[place + 1 :]]
        found = rows_of(written(tmp_path / f"u.{ending}", people), design)
        wanted = np.delete(rows, place, axis=1)
        if other is not None:
            wanted = np.insert(wanted, place, rows[:, PEOPLE.index(other)], axis=1)
        assert np.array_equal(found, wanted)


def test_what_labels_do_not_say_is_the_code(tmp_path):
    """A code without a declared label is its own text, and a number is a number, whatever its labels."""
    path = written(tmp_path / "t.dta", PEOPLE)
    assert cells_of(path, Schema({"sex": Category(["9", "Man", "1"], missing="drop")}))["sex"] == [1, -1, 0, -1, -1]
    assert cells_of(path, Schema({"sex": Category(["2", "1"], missing="drop")}))["sex"] == [1, 0, -1, -1, -1]
    np.testing.assert_array_equal(
        cells_of(path, Schema({"sex": Number(0, 9, missing="drop")}))["sex"], [1, 2, 9, np.nan, 7]
    )
    texts = pd.DataFrame({"k": ["m", "f", "x"], "half": [0.5, 1.0, np.nan]})
    pyreadstat.write_sav(
        texts, str(tmp_path / "s.sav"), variable_value_labels={"k": {"m": "male"}, "half": {1.0: "one"}}
    )
    schema = Schema({"k": Category(["f", "male"], missing="drop"), "half": Category(["0.5", "one"], missing="drop")})
    assert cells_of(tmp_path / "s.sav", schema) == {"k": [1, 0, -1], "half": [0, 1, -1]}


@pytest.mark.parametrize(
    ("ending", "name", "style", "day"),
    [
        ("dta", "d", "%tdDD/NN/CCYY", 21_916.0),
        ("dta", "d", "%tc", 21_916 * 86_400_000.0 + 5),
        ("sav", "d", "EDATE10", (21_916 + 137_775) * 86_400.0),
        ("sav", "d", "QYR6", (21_916 + 137_775) * 86_400.0),
        ("sav", "d", "DATETIME20", (21_916 + 137_775) * 86_400.0 + 86_399.9),
        ("xpt", "d", "YYMMDD10", 21_916.0),
        ("xpt", "d", "MONYY", 21_916.0),
        ("xpt", "d", "DATETIME20", 21_916 * 86_400.0 + 1),
        ("xpt", "d", "E8601DN10", 21_916 * 86_400.0),
    ],
)
def test_a_date_is_known_by_its_format_alone(tmp_path, ending, name, style, day):
    """2020-01-02 as each program stores it, and far dates, which clip; as a number it is refused by column and type."""
    path = tmp_path / f"t.{ending}"
    frame = pd.DataFrame({name: [day, np.nan, 1e17, -1e17]})
    write = {"dta": pyreadstat.write_dta, "sav": pyreadstat.write_sav, "xpt": pyreadstat.write_xport}[ending]
    write(frame, str(path), variable_format={name: style})
    schema = Schema({name: Date("2020-01-01", "2020-12-31", missing="drop")})
    first, second, late, early = cells_of(path, schema)[name]
    assert first == 1.0
    assert np.isnan(second)
    assert late > 365
    assert early < 0
    with pytest.raises(InvalidData, match="`d`.*date"):
        cells_of(path, Schema({name: Number(0, 10)}))


@pytest.mark.parametrize("style", ["%tm", "%tC", "%9.0g"])
def test_periods_and_leap_seconds_are_no_dates(tmp_path, style):
    """A count of months, a time with leap seconds and a plain number are refused where a date is declared."""
    pyreadstat.write_dta(pd.DataFrame({"d": [700.0]}), str(tmp_path / "t.dta"), variable_format={"d": style})
    with pytest.raises(InvalidData, match="`d` is declared as a date"):
        cells_of(tmp_path / "t.dta", Schema({"d": Date("2020-01-01", "2020-12-31", missing="drop")}))


def test_units_of_another_programs_file_are_persons(tmp_path):
    """Whose a record is may be a labelled code, a text or a number."""
    path = written(tmp_path / "t.sav", PEOPLE)
    schema = Schema({"age": Number(0, 100, missing="drop")}, unit="kind", rows_per_unit=1)
    (block,) = open_rows(path, schema).blocks()
    keys = block.columns["kind"].tolist()
    assert keys[0] == keys[4] != keys[2]
    assert keys[1] == (0, 0)


@pytest.mark.parametrize("ending", ["dta", "sav", "zsav", "por", "sas7bdat", "xpt", "xlsx", "xls", "ods"])
def test_a_file_that_is_none_is_refused_by_name(tmp_path, ending):
    """Damaged files raise our error, which keeps nothing of the library's, and of the bytes."""
    path = tmp_path / f"t.{ending}"
    path.write_bytes(b"secret-cell " * 99)
    with pytest.raises(InvalidData, match=rf"t\.{ending} cannot be read") as caught:
        open_table(path, SCHEMA)
    assert_silent(caught.value, "secret-cell")


@pytest.mark.parametrize(("ending", "module"), [("dta", "pyreadstat"), ("xlsx", "python_calamine")])
def test_without_the_extra_the_error_says_how_to_install_it(tmp_path, monkeypatch, ending, module):
    """The packages come with discreet[files]."""
    (tmp_path / f"t.{ending}").write_bytes(b"")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InvalidArgument, match=r'pip install "discreet\[files\]"') as caught:
        open_table(tmp_path / f"t.{ending}", SCHEMA)
    assert caught.value.__context__ is None


def sheet(path, rows, *, hidden=None):
    """Write rows to the first visible sheet of an Excel file; return its path."""
    book = openpyxl.Workbook()
    first = book.active
    if hidden is not None:
        first.append(hidden)
        first.sheet_state = "hidden"
        first = book.create_sheet("shown")
    for row in rows:
        first.append(row)
    book.create_sheet("other").append(["age", "kind"])
    book.save(path)
    return path


HEADER = ["age", "kind", "born", "seen", "ok", "sex"]
RECORDS = [
    [30.5, "a", DAY, dt.datetime(2020, 1, 2, 23, 59), True, "male"],
    ["40", "01", "1960-01-01", None, "no", "MAN"],
    ["x", 1, dt.time(1, 2), dt.datetime(1960, 1, 1), 0, 7],
    [None, None, None, None, None, "?"],
    [10**17, True, 3.5, dt.timedelta(days=3), 2, "female"],
]


def test_a_sheet_has_one_row_a_record_and_each_cell_is_read_by_itself(tmp_path):
    """Numbers, texts, booleans and dates may stand in one column; what a cell does not say is missing."""
    found = cells_of(sheet(tmp_path / "t.XLSX", [HEADER, *RECORDS], hidden=["age"]))
    np.testing.assert_array_equal(found["age"], [30.5, 40, np.nan, np.nan, 1e17])
    assert found["kind"] == [0, 1, -1, -1, -1]
    np.testing.assert_array_equal(found["born"], [25568, 3652, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(found["seen"], [25568, np.nan, 3652, np.nan, np.nan])
    np.testing.assert_array_equal(found["ok"], [1, 0, 0, np.nan, np.nan])
    assert found["sex"] == [1, 1, 2, -1, 0]


def test_a_record_of_a_sheet_moves_no_other(tmp_path):
    """Deleting, adding or replacing a record does so to one row, whatever its cells are."""
    design = Design.for_terms(None, SCHEMA)
    rows = rows_of(sheet(tmp_path / "t.xlsx", [HEADER, *RECORDS]), design)
    assert rows.shape[1] == len(RECORDS)
    for place, other in itertools.product(range(len(RECORDS)), [None, *range(len(RECORDS))]):
        records = [*RECORDS[:place], *([] if other is None else [RECORDS[other]]), *RECORDS[place + 1 :]]
        wanted = np.delete(rows, place, axis=1)
        if other is not None:
            wanted = np.insert(wanted, place, rows[:, other], axis=1)
        assert np.array_equal(rows_of(sheet(tmp_path / "u.xlsx", [HEADER, *records]), design), wanted)


def test_a_blank_row_before_the_last_record_is_refused_and_one_after_it_is_none(tmp_path):
    """The rule of text files: a blank row is no record, so it may not stand for one; its number is named, no cell."""
    blank = [None] * len(HEADER)
    path = sheet(tmp_path / "t.xlsx", [HEADER, RECORDS[0], blank, ["secret"]])
    with pytest.raises(InvalidData, match=r"Row 3 of t\.xlsx is blank") as caught:
        open_table(path, SCHEMA)
    assert_silent(caught.value, "secret")
    book = openpyxl.load_workbook(sheet(tmp_path / "t.xlsx", [HEADER, *RECORDS]))
    book.active["A9"], book.active["B12"] = "", " "
    book.active["C15"].number_format = "0.00"
    book.save(tmp_path / "t.xlsx")
    assert len(cells_of(tmp_path / "t.xlsx")["age"]) == len(RECORDS)
    assert cells_of(sheet(tmp_path / "t.xlsx", [HEADER])) == {name: [] for name in SCHEMA.columns}


def test_columns_of_a_sheet_stand_where_its_header_says(tmp_path):
    """No record moves a column: notes beside the table, and blank columns, are columns without a name."""
    header = [None, "age", None, 2020]
    schema = Schema({"age": Number(0, 100, missing="drop"), "2020": Number(0, 9)})
    for first in (None, "a note"):
        path = sheet(tmp_path / "t.xlsx", [header, [first, 1, None, 5, "note"], [None, 2, "note", 6]])
        assert cells_of(path, schema) == {"age": [1.0, 2.0], "2020": [5.0, 6.0]}
    assert draft_schema(sheet(tmp_path / "t.xlsx", [HEADER, *RECORDS])).count('kind = ""') == len(HEADER)


def test_ing_06_what_a_sheets_header_must_not_be(tmp_path):
    """ING-06: a doubled name, a blank first row, an absent column, a first row of numbers, and no sheet."""
    for rows, match in [
        ([["age", "b", "age"], [1, 2, 3]], r"'age' stands more than once in t\.xlsx: at positions 1 and 3"),
        ([[], ["age"], [1]], "no header"),
        ([["Age "], [1]], r"'age' is not in t\.xlsx.*'Age '"),
        ([[34.5, 3], [1, 2]], "looks like data"),
        ([], "no header"),
    ]:
        with pytest.raises(InvalidData, match=match) as caught:
            open_table(sheet(tmp_path / "t.xlsx", rows), Schema({"age": Number(0, 9)}))
        assert_silent(caught.value, "34.5")
    with pytest.raises(InvalidData, match="looks like data"):
        draft_schema(sheet(tmp_path / "t.xlsx", [[34.5, 3]]))


def test_sheets_of_old_excel_and_of_libre_office(tmp_path):
    """An .xls file and an .ods file give the cells that they show."""
    (tmp_path / "t.xls").write_bytes(OLD_SHEET)
    schema = Schema({name: SCHEMA.columns[old] for name, old in [("age", "age"), ("kind", "kind"), ("when", "born")]})
    found = cells_of(tmp_path / "t.xls", schema)
    np.testing.assert_array_equal(found["age"], [30.5, 40, np.nan])
    assert found["kind"] == [0, 1, -1]
    np.testing.assert_array_equal(found["when"], [25568, np.nan, 18261])
    names = 'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'  # noqa: E501
    text = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    number = '<table:table-cell office:value-type="float" office:value="{0}"><text:p>{0}</text:p></table:table-cell>'
    day = '<table:table-cell office:value-type="date" office:date-value="2020-01-02"/>'
    rows = [
        "".join(map(text.format, ("age", "kind", "when"))),
        number.format(30.5) + text.format("01") + day,
        text.format("x") + text.format("zz") + "<table:table-cell/>",
    ]
    # The second record stands for two equal ones, as the program stores them; blank rows reach to the sheet's end.
    blank = '<table:table-row table:number-rows-repeated="{}"><table:table-cell/></table:table-row>'
    starts = ["<table:table-row>", "<table:table-row>", '<table:table-row table:number-rows-repeated="2">']
    content = "".join(f"{start}{row}</table:table-row>" for start, row in zip(starts, rows, strict=True))
    content += blank.format(1_048_000)
    with zipfile.ZipFile(tmp_path / "t.ods", "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        file.writestr("META-INF/manifest.xml", "<manifest/>")
        file.writestr(
            "content.xml",
            f"<office:document-content {names}><office:body><office:spreadsheet>"
            f'<table:table table:name="s">{content}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    found = cells_of(tmp_path / "t.ods", schema)
    np.testing.assert_array_equal(found["age"], [30.5, np.nan, np.nan])
    assert found["kind"] == [1, -1, -1]
    np.testing.assert_array_equal(found["when"], [25568, np.nan, np.nan])


@pytest.mark.parametrize("ending", ["xlsx", "sav", "dta"])
def test_the_same_people_give_the_same_release_from_any_program(tmp_path, ending):
    """A release, the owner's look and a draft take these files as they take a CSV file."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.integers(0, 90, 300) / 2, "k": rng.choice(["a", "b", ""], 300)})
    frame["y"] = frame["x"] / 2
    schema = Schema({"x": Number(0, 50), "k": Category(["a", "b"], missing="a"), "y": Number(0, 25)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    path = tmp_path / f"t.{ending}"
    if ending == "xlsx":
        sheet(path, [list(frame.columns), *frame.replace("", None).to_numpy().tolist()])
    else:
        {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta}[ending](frame, str(path))
    released, counted = [], []
    for source in (tmp_path / "t.csv", path):
        ledger = dp.Ledger(total=dp.Gdp(mu=1), adjacency=dp.Replace(), coins=dp.privacy.Coins.from_seed(3))
        released.append(dp.release_moments(source, schema, budget=dp.Gdp(mu=1), ledger=ledger).dumps())
        counted.append([vars(count) for count in count_cells(source, schema)])
    assert released[0] == released[1]
    assert counted[0] == counted[1]
    assert "[columns.k]" in draft_schema(path)


CASES = {
    "ing_04_declared_levels_win": (["NA", "NO", "SE"], Category(["NA", "NO", "SE"]), [0, 1, 2]),
    "ing_08_a_blank_is_missing": ([True, None, False], Flag(missing="drop"), [1, np.nan, 0]),
    "ing_08_a_blank_takes_the_constant": ([True, "", False], Flag(missing=0), [1, np.nan, 0]),
    "ing_09_labels_in_any_case": (["yes", "No", "YES"], Flag(labels={"yes": 1, "no": 0}), [1, 0, 1]),
    "ing_09_numbers_are_flags": ([1.0, 0.0, None], Flag(missing="drop"), [1, 0, np.nan]),
    "ing_11_big_numbers_are_numbers": ([1e19, -1e21, 7], Number(0, 100), [1e19, -1e21, 7]),
    "ing_12_days_first": (["10/9/2016", "30/9/2016"], Date("2016-09-01", "2016-12-31", format="%d/%m/%Y"), [9, 29]),
    "ing_12_no_guess": (["10/9/2016"], Date("2016-09-01", "2016-12-31", missing="drop"), [np.nan]),
    "ing_14_a_unit_sign": (["50 %", "20%", "$1"], Number(0, 100, unit="%", missing="drop"), [50, 20, np.nan]),
    "ing_16_texts_keep_their_zeros": (["01234", "1234"], Category(["1234", "01234"]), [1, 0]),
    "ing_16_numbers_are_their_digits": ([1234, 9.0], Category(["9", "1234"]), [1, 0]),
    "ing_21_whole_numbers_with_a_null": ([1, None, 3], Number(0, 9, missing="drop"), [1, np.nan, 3]),
}


@pytest.mark.parametrize("ending", ["xlsx", "sav"])
@pytest.mark.parametrize("case", CASES)
def test_ing_cells_mean_in_these_files_what_they_mean_in_a_text_file(tmp_path, case, ending):
    """ING-04, 08, 09, 11, 12, 14, 16, 21: the same rules, alone and with another cell beside it."""
    cells, declared, wanted = CASES[case]
    for some in (cells, *([cell] for cell in cells)):
        path = tmp_path / f"t.{ending}"
        if ending == "xlsx":
            sheet(path, [["x", "n"], *([cell, 1] for cell in some)])
        else:
            texts = any(isinstance(cell, str) for cell in some)
            frame = pd.DataFrame({"x": some}, dtype=str if texts else np.float64)
            pyreadstat.write_sav(frame.fillna("") if texts else frame, str(path))
        first = 0 if len(some) == len(cells) else cells.index(some[0])
        found = cells_of(path, Schema({"x": declared}))["x"]
        np.testing.assert_array_equal(found, wanted[first : first + len(some)])


def test_ing_03_ing_19_the_trouble_of_a_text_in_a_sheet_is_named_and_not_quoted(tmp_path):
    """ING-03, ING-19: grouped digits ask for the option; words are no numbers."""
    for cell, trouble in (
        ("54,908", "a cell groups its digits"),
        ("fine, thanks", "a cell is a text"),
        (None, "missing"),
    ):
        path = sheet(tmp_path / "t.xlsx", [["x", "n"], [1, 1], [cell, 1]])
        with pytest.raises(InvalidData, match=rf"`x`: .*{trouble}") as caught:
            rows_of(path, Design.for_terms("x", Schema({"x": Number(0, 10)})))
        assert_silent(caught.value, *([] if cell is None else [cell]))


def test_a_transport_file_that_cannot_tell_blank_records_from_padding_is_refused(tmp_path):
    """Version 5 pads with blanks: of texts alone a blank last record would vanish. Version 8 counts its records."""
    path, schema = tmp_path / "t.xpt", Schema({"s": Category(["x", "y"], missing="drop")})
    texts, numbers = {"s": ["x", "", "x", ""]}, {"n": [1.0, 2.0, 3.0, math.nan]}
    for columns, version in ((texts, 8), (texts | numbers, 5), (texts | numbers, 8)):
        pyreadstat.write_xport(pd.DataFrame(columns), str(path), file_format_version=version)
        assert sum(block.n_rows for block in open_table(path, schema).blocks()) == 4
    pyreadstat.write_xport(pd.DataFrame(texts), str(path), file_format_version=5)
    with pytest.raises(InvalidData, match=r"t\.xpt holds texts alone, .*version 8"):
        open_table(path, schema)
