"""A text file is a list of records: one row each, which no other record changes, or a refusal before any charge."""

import codecs
import gzip
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.errors import InvalidArgument, InvalidData
from discreet.tables.readers import text_files
from discreet.tables.readers.broken_lines import scan
from discreet.tables.readers.encodings import _ONE_BYTE, _SEVERAL_BYTES, LINE_BY_LINE
from discreet.tables.readers.tables import open_table
from discreet.tables.schema.columns import Category, Number, Reading
from discreet.tables.schema.schema import Schema
from tables.tabular import assert_silent

LEVELS = ["u", "v", 'say "u"', "u\nv", "u\r\nv", "\ufeffu", '"u']
NONE = Reading(quote="none")
CELLS = Reading(newlines_in_cells=True)


def rows(folder, content, columns=None, reading=None, *, name="t.csv", chunk=None):
    """Return the rows of a file, each a tuple of what is read of its declared columns; NaN is None."""
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.lower().endswith("gz") else content)
    columns = columns or {"a": Number(0, 99, missing="drop"), "b": Category(LEVELS, missing="drop")}
    with patch.object(text_files, "CHUNK_BYTES", chunk or text_files.CHUNK_BYTES):
        blocks = list(open_table(path, Schema(columns, reading=reading)).blocks())
    found = [np.concatenate([block.columns[column] for block in blocks]).tolist() for column in columns if blocks]
    return [tuple(None if cell != cell else cell for cell in row) for row in zip(*found, strict=True)]  # noqa: PLR0124


def refusal(folder, content, *arguments, **options):
    """Return what is said of a file that is refused; no cell, and nothing of another exception."""
    with pytest.raises(InvalidData) as caught:
        rows(folder, content, *arguments, **options)
    assert_silent(caught.value, "4242")
    return str(caught.value)


def notes(cell, *, n=1000, place=500, end="\n", delimiter=","):
    """Return a file of numbers and an undeclared note, one of which is odd."""
    lines = [f"{k % 10}{delimiter}{cell if k == place else 'fine'}" for k in range(n)]
    return (end.join([f"a{delimiter}note", *lines]) + end).encode()


A = {"a": Number(0, 9)}
TAB = Reading("\t")


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t.csv.gz", "T.CSV.GZ"])
@pytest.mark.parametrize("cell", ['"said hi', '"', '"a ""b""', '"4242'])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_quote_that_is_left_open_is_refused_by_its_line(tmp_path, name, cell, end):
    """It would take in all records behind it; what is said names the line and both remedies."""
    reading = TAB if name == "t.tsv" else Reading()
    for place in (0, 500, 999):
        content = notes(cell, place=place, end=end, delimiter=reading.delimiter)
        for broken in (content, content.removesuffix(end.encode())):
            said = refusal(tmp_path, broken, A, reading, name=name)
            assert f"Line {place + 2} of {name} leaves a quote open" in said
            assert 'quote = "none"' in said
            assert "newlines_in_cells" in said


def test_a_later_quote_closes_no_earlier_one(tmp_path):
    """Two odd records would make one of all between them."""
    lines = notes('"said hi').split(b"\n")
    lines[520] = b'1,later"'
    assert "Line 502 of" in refusal(tmp_path, b"\n".join(lines), A)
    lines[520] = b'1,"later'
    assert "Line 502 of" in refusal(tmp_path, b"\n".join(lines), A)
    lines[501] = b'1,"said hi",\n1,x"'
    assert "Line 502 of t.csv has 3 fields; the header has 2" in refusal(tmp_path, b"\n".join(lines), A)


def test_a_quote_within_a_cell_is_a_letter(tmp_path):
    """Only a quote that begins a cell is one; where quote = "none" is declared none is."""
    expected = [(k % 10,) for k in range(1000)]
    for cell in ('5" pipe', 'x"', '"a" b', '"a ""b"""', ' "', "'", '""'):
        assert rows(tmp_path, notes(cell), A) == expected
    for cell in ('"said hi', '"', '"a ""b""', '""'):
        assert rows(tmp_path, notes(cell), A, NONE) == expected
        assert rows(tmp_path, notes(cell, delimiter="\t"), A, Reading("\t", quote="none"), name="t.tsv") == expected
    assert rows(tmp_path, b'a,b\n1,"u\n', reading=NONE) == [(1, LEVELS.index('"u'))]
    assert rows(tmp_path, b'"a",b\n1,u\n', {'"a"': Number(0, 9)}, NONE) == [(1,)]


@pytest.mark.parametrize("adjacency", [dp.Replace(), dp.AddRemove()])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_nothing_is_spent_on_an_open_quote(tmp_path, adjacency, name):
    """Moments and the front door refuse the file before any charge, under both adjacencies."""
    path = tmp_path / name
    content = notes('"said hi').replace(b"a,", b"b,a,", 1).replace(b"\n", b"\n1,").removesuffix(b"1,")
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    schema = Schema({"a": Number(0, 9), "b": Number(0, 9)}, adjacency=adjacency)
    ledger = dp.Ledger(total=dp.Pure(epsilon=1), adjacency=adjacency)
    model = dp.LinearRegression(budget=dp.Pure(epsilon=1), adjacency=adjacency, schema=schema, expected_rows=1000)
    with pytest.raises(InvalidData, match="Line 502"):
        dp.release_moments(path, schema, terms="a", budget=dp.Pure(epsilon=1), ledger=ledger)
    with pytest.raises(InvalidData, match="Line 502"):
        model.fit_table(path, "a ~ b", ledger=ledger)
    with pytest.raises(InvalidData, match="Line 502"):
        dp.median(path, schema=schema, column="a", budget=dp.Pure(epsilon=1), ledger=ledger)
    assert not ledger.entries


@pytest.mark.parametrize(
    ("content", "line", "cause"),
    [
        (b"a,b\n1,u\n2,u\rv\n3,v\n", 3, "holds a carriage return"),
        (b'a,b\n1,u\n2,"u\rv"\n3,v\n', 3, "holds a carriage return"),
        (b"a,b\r\n1,u\r\r\n2,v\r\n", 2, "holds a carriage return"),
        (b"a,b\r\n1,u\r\n2,v\r", 3, "holds a carriage return"),
        (b"a,b\r\n1,u\r\n2,v\n3,u\r\n", 3, "ends in a line feed alone"),
        (b"a,b\r\n1,u\n", 2, "ends in a line feed alone"),
        (b"a,b\n1,u\n\n2,v\n", 3, "is blank, and a record follows it"),
        (b"a,b\n\n1,u\n", 2, "is blank"),
        (b"a,b\r\n1,u\r\n\r\n2,v", 3, "is blank"),
        (b"a,b\n1,u\n\r\n\n\n2,v", 3, "is blank"),
        (b"a,b\n1,u\n2\n", 3, "has 1 fields; the header has 2"),
        (b'a,b\n"1,u",v,\n', 2, "has 3 fields"),
        (b"a,b\n1,u\n2,\xff\n3,v\n", 3, "is not text in the encoding utf-8"),
        (b"\n\r\na,b\n1,u\n2\n", 5, "has 1 fields"),
    ],
)
def test_what_is_no_record_is_named_by_line_and_cause(tmp_path, content, line, cause):
    """Wherever the pieces of the file end in which it is read."""
    for chunk in (None, 10, 11, 13):
        for name in ("t.csv", "t.csv.gz"):
            assert f"Line {line} of {name} {cause}" in refusal(tmp_path, content, chunk=chunk, name=name)


def test_lines_of_one_column_are_records_blank_or_not(tmp_path):
    """Deleting or blanking a record deletes or blanks its row, at the end of the file, too."""
    one = {"a": Number(0, 9, missing="drop")}
    for content, expected in [
        (b"a\n1\n\n", [(1,), (None,)]),
        (b"a\n1\n", [(1,)]),
        (b"a\n1", [(1,)]),
        (b"a\n\n", [(None,)]),
        (b"a\n\n\n1", [(None,), (None,), (1,)]),
        (b"a\r\n1\r\n\r\n", [(1,), (None,)]),
        (b"a\n1\n\r", [(1,), (None,)]),
        (b'a\n""\n1\n', [(None,), (1,)]),
        (b"a\n", []),
        (b"a", []),
        (b"\xef\xbb\xbfa\r\n", []),
    ]:
        for chunk in (None, 4, 5, 6):
            assert rows(tmp_path, content, one, chunk=chunk) == expected
    assert len(rows(tmp_path, b"a\n" + b"\n" * 700_000, one)) == 700_000
    assert "Line 3 of" in refusal(tmp_path, b'a\n1\n"\n', one)
    assert "Line 2 of" in refusal(tmp_path, b'a\n"\n1\n"\n', one)


def test_blank_lines_behind_the_last_record_are_none(tmp_path):
    """In a file of two columns, however many they are and wherever the pieces end."""
    for end in ("\n", "\r\n"):
        head = f"a,b{end}1,u{end}2,v".encode()
        for tail in ("", end, end * 2, end * 9, "\n\r\n" if end == "\n" else end):
            for chunk in (None, 7, 8, 9):
                assert rows(tmp_path, head + tail.encode(), chunk=chunk) == [(1, 0), (2, 1)]
    assert rows(tmp_path, b"a,b\n1,u" + b"\n" * 9_000_000) == [(1, 0)]
    assert rows(tmp_path, b"a,b\n" + b"\n" * 10) == []
    assert "Line 3 of t.csv is blank" in refusal(tmp_path, b"a,b\n1,u" + b"\n" * 9_000_000 + b"2,v")


def test_a_byte_order_mark_belongs_to_the_header_alone(tmp_path):
    """A record that begins with one keeps it, also where a piece of the file begins with that record."""
    content = "\ufeffb,a\n\ufeffu,1\nu,2\n\ufeffu,3\n".encode()
    mark = LEVELS.index("\ufeffu")
    columns = {"b": Category(LEVELS), "a": Number(0, 9)}
    for chunk in (None, *range(10, 30)):
        assert rows(tmp_path, content, columns, chunk=chunk) == [(mark, 1), (0, 2), (mark, 3)]


def test_a_record_is_too_long_wherever_it_stands(tmp_path):
    """What fits does not depend on the records before it."""
    for before in range(12):
        head = b"a,b\n" + b"1,u\n" * before
        assert len(rows(tmp_path, head + b"2," + b"x" * 9 + b"\n3,v\n", chunk=12)) == before + 2
        for tail in (b"\n3,v\n", b"\n", b""):
            said = refusal(tmp_path, head + b"2," + b"x" * 10 + tail, chunk=12)
            assert f"Line {before + 2} of t.csv begins a record of more than" in said
    said = refusal(tmp_path, b"a,b\n1,u\n2," + b"x" * 2**22 + b"\n")
    assert "Line 3 of t.csv begins a record of more than 4 MiB" in said


def test_a_file_that_is_damaged_later_is_refused_by_its_line(tmp_path):
    """A broken archive, with the last line that was read."""
    body = b"a,b\n" + b"".join(b"%d,u\n" % (k % 97) for k in range(300_000))
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(body)[:-3000])
    with pytest.raises(InvalidData, match=r"Line [0-9]+ of t.csv.gz cannot be read: .*damaged") as caught:
        list(open_table(path, Schema(A)).blocks())
    assert_silent(caught.value)


RECORDS = st.lists(
    st.one_of(
        st.sampled_from(
            ["1,u", '"2",v', '3,"u"', "4,", ",", '5,"say ""u"""', '6,say "u"', '7," u', "8", "9,u,v", "", "\r", "1,u\r"]
        ),
        st.text(alphabet='",1u\r\ufeff ', max_size=7),
    ),
    max_size=7,
)


@settings(max_examples=150, deadline=None)
@given(
    records=RECORDS,
    end=st.sampled_from(["\n", "\r\n"]),
    is_closed=st.booleans(),
    is_packed=st.booleans(),
    chunk=st.sampled_from([None, 24, 25, 26, 31]),
    is_one=st.booleans(),
    reading=st.sampled_from([Reading(), NONE, Reading(encoding="utf-16-le")]),
)
@example(["1,u", '2,"said', "3,v"], "\n", True, False, None, False, Reading())
@example(["1,u", '2,"said', '3,"v'], "\n", True, False, None, False, Reading())
@example(["1,u", "", "3,v"], "\n", True, False, None, False, Reading())
@example(["1,u\rv", "3,v"], "\n", True, False, None, False, Reading())
def test_rows_are_those_of_their_records_alone(
    tmp_path_factory, records, end, is_closed, is_packed, chunk, is_one, reading
):
    """Either a file is refused, or its rows are, one by one, those of files of one record each."""
    folder = tmp_path_factory.getbasetemp()
    columns = {"a": Category(["1", "", "u", "1,u"], missing="drop")}
    if not is_one:
        columns = {"a": Number(0, 99, missing="drop"), "b": Category(LEVELS, missing="drop")}
    name = "p.csv.gz" if is_packed else "p.csv"
    read = partial(rows, folder, columns=columns, reading=reading, name=name, chunk=chunk)

    def file_of(some):
        text = end.join([",".join(columns), *some])
        return (text + end if is_closed or (is_one and some and not some[-1]) else text).encode(reading.encoding)

    def said(some):
        try:
            return read(file_of(some))
        except InvalidData:
            return None

    alone = [said([record]) for record in records]
    together = said(records)
    if together is None:
        # No record is refused for what others say, but that a blank line is one before another.
        assert None in alone or [] in alone
    else:
        assert None not in alone
        assert together == [row for one in alone for row in one]
        if is_one:
            assert len(together) == len(records)


@settings(max_examples=600, deadline=None)
@given(st.text(alphabet='",a\t ', max_size=12), st.sampled_from([",", "\t"]), st.sampled_from(['"', "none"]))
def test_a_line_has_the_fields_that_arrow_finds(line, delimiter, quote):
    """The slow look at a broken file and the fast parser agree about every line."""
    text = line.encode()
    n_fields, is_open, is_split = scan(text, Reading(delimiter, quote=quote))
    assert not is_split
    names = [str(k) for k in range(n_fields)]
    table = pa_csv.read_csv(
        pa.BufferReader(text + b"\n" + delimiter.encode() * (n_fields - 1) + b"\n"),
        read_options=pa_csv.ReadOptions(column_names=names, use_threads=False),
        parse_options=pa_csv.ParseOptions(
            delimiter=delimiter, quote_char=quote if quote == '"' else False, ignore_empty_lines=False
        ),
        convert_options=pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    )
    assert table.num_rows == (1 if is_open else 2)


# Line ends within cells ----------------------------------------------------------------------------------------


def test_declared_line_ends_within_cells_are_read(tmp_path):
    """Quoted cells keep theirs, and a record that has some is one row, wherever the pieces end."""
    for end in ("\n", "\r\n"):
        content = end.join(["a,b", '1,"u\nv"', '2,"u\r\nv"', '3,"say ""u"""', "4,v", ""]).encode()
        expected = [(1, 3), (2, 4), (3, 2), (4, 1)]
        for chunk in (None, *range(18, 40)):
            for broken_end in (content, content + end.encode() * 3, content.removesuffix(end.encode())):
                assert rows(tmp_path, broken_end, reading=CELLS, chunk=chunk) == expected
    assert rows(tmp_path, b'"a\nx",b\n1,u\n', {"a\nx": Number(0, 9)}, CELLS) == [(1,)]
    assert rows(tmp_path, b'a\n"1\n"\n\n2\n', {"a": Number(0, 9, missing="drop")}, CELLS) == [(1,), (None,), (2,)]
    assert rows(tmp_path, b'a,b\n1,"u\rv"\n', A, CELLS) == [(1,)]


@pytest.mark.parametrize(
    ("content", "line", "cause"),
    [
        (b'a,b\n1,"u\nv"\n2,"4242\n3,u\n', 4, "begins a record with a quote that nothing closes"),
        (b'a,b\n1,"u', 2, "begins a record with a quote that nothing closes"),
        (b'a,b\n1,"u\n\n\n', 2, "begins a record with a quote that nothing closes"),
        (b'a,b\n1,"u\nv"\n2,5" pipe\n3,6" pipe\n', 4, "begins a record with a quote that is not doubled"),
        (b'a,b\n1,"u\nv"\n\n2,u\n', 4, "is blank"),
        (b'a,b\n1,"u\nv"\n\n\n\n\n\n\n\n\n2,u\n', 4, "is blank"),
        (b'a,b\n1,"u\nv"\n2,u\rv\n', 4, "holds a carriage return"),
        (b'a,b\r\n1,"u\nv"\r\n2,u\n3,v\r\n', 4, "ends in a line feed alone"),
        (b'a,b\n1,"u\nv"\n2\n', 4, "has 1 fields"),
        (b'a,b\n1,"u\nv"\n2,"u\n\xff"\n', 4, "is not text"),
    ],
)
def test_what_is_no_record_of_cells_is_named_too(tmp_path, content, line, cause):
    """A file that its writer did not make by RFC 4180 is mostly refused, by the line where the record begins."""
    for chunk in (None, 24, 25, 27):
        assert f"Line {line} of t.csv {cause}" in refusal(tmp_path, content, reading=CELLS, chunk=chunk)


def test_a_release_says_where_cells_may_hold_line_ends(tmp_path):
    """Moments, the front door, quantiles and components say it of a text file, and of no other source."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n3,4\n" * 9000)
    frame = pa.table({"a": [1.0, 3.0] * 9000, "b": [2.0, 4.0] * 9000})
    columns = {"a": Number(0, 9), "b": Number(0, 9)}
    given = {"budget": dp.Pure(epsilon=100), "adjacency": dp.Replace()}

    def released(source, reading):
        schema = Schema(columns, reading=reading, adjacency=dp.Replace())
        yield dp.release_moments(source, schema, terms="a", budget=given["budget"]).release
        yield dp.LinearRegression(schema=schema, **given).fit_table(source, "b ~ a").release_
        yield dp.median(source, schema=schema, column="a", **given)
        yield dp.PrivatePCA(schema=schema, **given).fit_table(source).release_

    folder = tmp_path / "parts"
    folder.mkdir()
    for name in ("1.csv", "2.csv"):
        (folder / name).write_bytes(path.read_bytes())
    for source in (path, folder, sorted(folder.iterdir())):
        for one in released(source, CELLS):
            assert one.notes.count(text_files.MALFORMED) == 1
    for source, reading in ((path, Reading()), (frame, CELLS)):
        for one in released(source, reading):
            assert text_files.MALFORMED not in one.notes


# Encodings -----------------------------------------------------------------------------------------------------


def test_a_byte_is_a_letter_and_0a_alone_a_line_feed():
    """In every encoding of one byte a letter, for all 256 bytes."""
    for name in _ONE_BYTE:
        letters = [bytes([byte]).decode(name, "ignore") for byte in range(256)]
        assert max(map(len, letters)) == 1
        assert [byte for byte, letter in enumerate(letters) if letter == "\n"] == [10]


def test_no_letter_of_several_bytes_takes_in_0a():
    """After whatever may begin a letter 0A is an error, and every letter leaves the decoder as it was."""

    def fed(name, text):
        decoder = codecs.getincrementaldecoder(name)("strict")
        return decoder, [decoder.decode(text[place : place + 1]) for place in range(len(text))]

    for name in _SEVERAL_BYTES:
        fresh = codecs.getincrementaldecoder(name)("strict").getstate()
        begun, longest = [b""], 0
        while begun:
            prefix = begun.pop()
            longest = max(longest, len(prefix))
            with pytest.raises(UnicodeDecodeError) if prefix else patch.object(codecs, "BOM", codecs.BOM):
                decoder, _ = fed(name, prefix + b"\n")
                assert decoder.decode(b"", final=True) == ""
                assert decoder.getstate() == fresh
            # Of GB 18030's third bytes a sample: there are 320,000 beginnings.
            for byte in range(256) if len(prefix) < 2 else range(0, 256, 51):
                if byte == 10:
                    continue
                try:
                    decoder, letters = fed(name, prefix + bytes([byte]))
                except UnicodeDecodeError:
                    continue
                assert "\n" not in "".join(letters)
                if decoder.getstate() != fresh:
                    begun.append(prefix + bytes([byte]))
        assert longest <= 3


@pytest.mark.parametrize(
    "name",
    ["unicode_escape", "raw_unicode_escape", "utf-7", "iso2022_jp", "hz", "idna", "punycode", "cp037", "undefined"],
)
def test_an_encoding_in_which_a_cell_can_make_a_row_is_refused_by_name(name):
    """At the declaration, with the remedy."""
    with pytest.raises(
        InvalidArgument, match=rf"`encoding` '{name.replace('_', '.')}' is not read: .*Save the file as"
    ):
        Reading(encoding=name)


def test_a_cell_makes_no_row_in_any_encoding_that_is_read(tmp_path):
    """Letters that end lines elsewhere are letters in cells."""
    text = "a,b\n1,u\n2,x\u2028\x85\x0b\x0c\x1c\\n+AAo-y\n3,v\n"
    for name in sorted(LINE_BY_LINE):
        content = text.encode(name, "replace")
        if name == "shift_jis_2004" or "2004" in name or "0213" in name:
            content = text.replace("\\", "/").encode(name, "replace")
        assert rows(tmp_path, content, reading=Reading(encoding=name)) == [(1, 0), (2, -1), (3, 1)]
    assert Reading(encoding="euc_kr").encoding == "cp949"


def test_bytes_that_are_no_text_are_refused_by_their_line(tmp_path):
    """Whatever the encoding and wherever the pieces end; half a letter does not reach into the next record."""
    head = "a,b\n1,u\n2,v\n"
    for name, wrong in [
        ("ascii", b"\xe9"),
        ("windows-1252", b"\x81"),
        ("shift_jis", b"\x81\n"),
        ("gb18030", b"\x81\x30\n"),
        ("utf-16-le", b"\x00\xd8\n\x00"),
        ("utf-16-be", b"\xd8\x00\x00\n"),
        ("utf-32-le", b"\x00\x00\x11\x00"),
        ("utf-16-le", b"\x00"),
    ]:
        reading = Reading(encoding=name)
        for tail in ("", "\n4,u\n") if wrong != b"\x00" else ("",):
            content = head.encode(name) + "3,".encode(name) + wrong + tail.encode(name)
            for chunk in (None, 8, 9, 11):
                said = refusal(tmp_path, content, reading=reading, chunk=chunk)
                assert f"Line 4 of t.csv is not text in the encoding {reading.encoding}" in said


# The header ----------------------------------------------------------------------------------------------------


def test_a_header_that_cannot_be_one_is_refused_without_a_quote(tmp_path):
    """An open quote, lines that end in returns alone, half a letter, no text."""
    for content, reading, cause in [
        (b'a,"b4242\n1,u\n', None, "a quote is left open"),
        (b'a,"b4242\n1,u\n', CELLS, "a quote is left open"),
        (b"a,b\r4242,u\r2,v\r", None, "carriage return"),
        (b'a,"b\r"\n4242,u\n', None, "carriage return"),
        (b"a,b\r4242,u\n", CELLS, "carriage return"),
        ("a,b".encode("utf-16-le") + b"\x00", Reading(encoding="utf-16-le"), "not text in the encoding"),
        ("a,b\n".encode("utf-16"), None, "not text in the encoding"),
        ("a,b\n".encode("utf-16-be"), None, "not text in the encoding"),
        (b"a" * 5_000_000, None, "no list of column names"),
    ]:
        assert cause in refusal(tmp_path, content, reading=reading)
    assert "empty" in refusal(tmp_path, b"\r\n\n\n")
    assert "empty" in refusal(tmp_path, b"\xef\xbb\xbf")
    assert rows(tmp_path, b'\r\n\n"a",b\n1,u\n', chunk=12) == [(1, 0)]


def test_a_header_that_changes_while_the_file_is_read_is_refused(tmp_path):
    """The columns were checked when the file was opened."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,2\n")
    table = open_table(path, Schema(A))
    path.write_bytes(b"b,a\n1,2\n")
    with pytest.raises(InvalidData, match=r"header of t\.csv changed"):
        list(table.blocks())
    path.unlink()
    with pytest.raises(InvalidData, match=r"Cannot read t\.csv: No such file"):
        list(table.blocks())


def test_columns_that_are_not_read_may_be_all_columns(tmp_path):
    """The number of records is known without a cell."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,\xff\n")
    with pytest.raises(InvalidData, match="not text"):
        list(open_table(path, Schema({"b": Number(0, 9)})).blocks())
    assert [block.n_rows for block in open_table(Path(path), Schema(A), []).blocks()] == [1]


@pytest.mark.parametrize(
    "given", [{"quote": "'"}, {"quote": None}, {"newlines_in_cells": 1}, {"quote": "none", "newlines_in_cells": True}]
)
def test_declarations_about_quotes_that_cannot_be_meant_are_refused(given):
    """Quotes are '"' or none, and cells that hold line ends need them."""
    with pytest.raises(InvalidArgument, match="`quote`|`newlines_in_cells`"):
        Reading(**given)


def test_a_schema_says_quotes_and_line_ends_in_its_files(tmp_path):
    """TOML and JSON hold them; what is the default is left out."""
    for reading in (NONE, CELLS, Reading()):
        schema = Schema(A, reading=reading)
        schema.to_toml(tmp_path / "s.toml")
        assert Schema.from_toml(tmp_path / "s.toml").reading == reading
        assert Schema.from_json(schema.to_json()).reading == reading
        text = (tmp_path / "s.toml").read_text()
        assert ('quote = "none"' in text, "newlines_in_cells = true" in text) == (reading == NONE, reading == CELLS)


@pytest.mark.parametrize("reading", [Reading(), Reading(newlines_in_cells=True)])
@pytest.mark.parametrize(
    "begin", [b"\n" * 2**21, b"\r\n" * 2**20, b'"' + b"\n" * (2**22 - 9) + b'"', b'"' + b"\n" * 2**23]
)
def test_a_first_line_is_found_in_one_pass(tmp_path, reading, begin):
    """Millions of blank lines, or of line ends within an open quote, take no longer than they are read."""
    path = tmp_path / "t.csv"
    path.write_bytes(begin + b"a,c\n1,u\n")
    start = time.process_time()
    with suppress(InvalidData):
        open_table(path, Schema({"a": Number(0, 9)}, reading=reading))
    assert time.process_time() - start < 5
