"""CSV files as people have them: marks, quotes, blanks, ragged lines, wrong delimiters."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import InvalidData
from discreet.tables.design import Design
from discreet.tables.readers.tables import open_table
from discreet.tables.schema.columns import Category, Flag, Number, Reading
from discreet.tables.schema.schema import Schema
from tables.tabular import assert_silent, gram_of, rows_of, write

AB = Schema({"a": Number(0, 100), "b": Number(0, 100)})


def decoded(path, schema, terms=None):
    """Return the columns of a file in their own units, and which records contribute."""
    design = Design.for_terms(terms, schema)
    rows = rows_of(path, design)
    values = [c.decode(row).round(2).tolist() for c, row in zip(design.layout.codings, rows[1:], strict=True)]
    return values, (rows[0] > 0).tolist()


def test_ing_01_a_byte_order_mark_and_quoted_names_change_nothing(tmp_path):
    """ING-01: names are clean and the statistics are bit for bit those of the plain file."""
    schema = Schema({"age": Number(0, 120), "income": Number(0, 200_000)})
    design = Design.for_formula("income ~ age", schema)
    text = '"age","income"\r\n"34","52000"\r\n"51","47100"\r\n"29","61250"\r\n"44","39900"\r\n'
    marked = write(tmp_path / "marked.csv", "\ufeff" + text)
    plain = write(tmp_path / "plain.csv", text.replace('"', "").replace("\r", ""))
    assert np.array_equal(gram_of(marked, design), gram_of(plain, design))
    assert rows_of(marked, design).shape == (3, 4)


def test_ing_03_digits_in_groups(tmp_path):
    """ING-03: an error hints at the option; with it the numbers are read."""
    path = write(tmp_path / "sales.csv", 'sales\n"54,908"\n"1,000"\n-12\n"9,9"\n')
    with pytest.raises(InvalidData, match=r"`sales`.*thousands") as caught:
        decoded(path, Schema({"sales": Number(-100, 60_000)}))
    assert_silent(caught.value, "54,908", "1,000")
    declared = Schema({"sales": Number(-100, 60_000, missing=0)}, reading=Reading(thousands=","))
    values, _ = decoded(path, declared)
    assert np.allclose(values, [[54_908, 1_000, -12, 0]], atol=1)


def test_ing_03_a_file_without_a_header_is_recognized_and_not_quoted(tmp_path):
    """ING-03: what looks like a record is no list of names, and no message quotes it."""
    path = write(tmp_path / "sales.csv", '"54,908",17\n"1,000",18\n')
    with pytest.raises(InvalidData, match="first line looks like data") as caught:
        open_table(path, Schema({"sales": Number(0, 1)}))
    assert_silent(caught.value, "54,908", "17")


def test_ing_04_declared_levels_win_over_missing_tokens(tmp_path):
    """ING-04: NA is a country where it is declared as a level, and missing in a number."""
    path = write(tmp_path / "c.csv", "country,x\nNA,1\nNO,NA\nSE,3\n")
    schema = Schema(
        {"country": Category(["NA", "NO", "SE"]), "x": Number(0, 4, missing=2)}, reading=Reading(missing_tokens=("NA",))
    )
    assert decoded(path, schema) == ([[0, 1, 0], [0, 0, 1], [1, 2, 3]], [True] * 3)


@pytest.mark.parametrize(
    ("text", "line", "fields"),
    [
        ("a,b\n1,4,\n2,5\n", 2, 3),
        ("a,b\n1,4\n2,5,\n", 3, 3),
        ("a,b\n1,4\n2\n3,3\n", 3, 1),
        ("a,b\n" + "1,4\n" * 700_000 + "7,7,7\n", 700_002, 3),
    ],
)
def test_ing_05_a_ragged_line_is_named_by_number(tmp_path, text, line, fields):
    """ING-05: a comma too many is an error that names the line, never a shift of columns."""
    with pytest.raises(InvalidData, match=f"Line {line} of t.csv has {fields} fields; the header has 2") as caught:
        decoded(write(tmp_path / "t.csv", text), AB)
    assert_silent(caught.value, "7,7")


def test_ing_06_a_doubled_name_is_refused_with_its_positions(tmp_path):
    """ING-06: no silent a.1 and no last one wins."""
    path = write(tmp_path / "t.csv", "a,b,a\n1,2,3\n")
    with pytest.raises(InvalidData, match=r"'a'.*positions 1 and 3"):
        open_table(path, AB, ["b"])


def test_ing_08_a_blank_in_a_flag_is_missing(tmp_path):
    """ING-08: error names the column; drop leaves three records; the constant stands for no."""
    path = write(tmp_path / "s.csv", "smoker,score\nTrue,1.5\n,2.5\nFalse,0.5\nTrue,2.0\n,1.0\n")
    with pytest.raises(InvalidData, match=r"`smoker`.*blank") as caught:
        decoded(path, Schema({"smoker": Flag(), "score": Number(0, 3)}))
    assert_silent(caught.value, "2.5")
    design = Design.for_terms(None, Schema({"smoker": Flag(missing="drop"), "score": Number(0, 3)}))
    rows = rows_of(path, design)
    kept = rows[0] > 0
    assert kept.sum() == 3
    assert design.layout.codings[0].decode(rows[1, kept]).sum() == 2
    values, _ = decoded(path, Schema({"smoker": Flag(missing=0), "score": Number(0, 3)}), "smoker")
    assert values == [[1, 0, 0, 1, 0]]


def test_ing_11_a_number_beyond_64_bits_clips(tmp_path):
    """ING-11: 2**64 is a number."""
    values, _ = decoded(write(tmp_path / "t.csv", "a\n18446744073709551616\n-18446744073709551617\n"), AB, "a")
    assert values == [[100, 0]]


def test_bnd_11_infinities_and_nan_in_a_file_are_missing(tmp_path):
    """BND-11: inf is missing, as it is in memory."""
    schema = Schema({"a": Number(0, 100, missing=50)})
    values, _ = decoded(write(tmp_path / "t.csv", "a\ninf\n-Infinity\nnan\n1e999\n7\n"), schema)
    assert values == [[50, 50, 50, 50, 7]]


def test_ing_14_a_unit_sign_is_named_by_kind(tmp_path):
    """ING-14: the trouble is a unit sign, which is not quoted with its cell."""
    for cells in ("50 %\n20%", "$100", "€ 12.5"):
        path = write(tmp_path / "t.csv", f"a\n{cells}\n")
        with pytest.raises(InvalidData, match=r"`a`.*unit sign") as caught:
            decoded(path, AB, "a")
        assert_silent(caught.value, *cells.split("\n"))


def test_ing_16_a_postcode_keeps_its_text_in_any_chunk(tmp_path, monkeypatch):
    """ING-16: the statistics do not depend on the chunk size, and leading zeros count."""
    from discreet.tables.readers import text_files

    schema = Schema({"code": Category(["9021", "01234", "1234", "EC1"]), "x": Number(0, 5000)})
    lines = [f"{['9021', '01234', '1234'][k % 3] if k < 900 else 'EC1'},{k}" for k in range(1000)]
    path = write(tmp_path / "t.csv", "code,x\n" + "\n".join(lines) + "\n")
    design = Design.for_terms("code*x", schema)
    whole = gram_of(path, design)
    assert gram_of(path, Design.for_terms("code", schema))[2, 2] > 0
    for size in (12, 64, 1000):
        monkeypatch.setattr(text_files, "CHUNK_BYTES", size)
        assert np.array_equal(gram_of(path, design), whole)


def test_ing_18_a_file_cut_by_tabs_is_recognized(tmp_path):
    """ING-18: the message names the likely delimiter and the option."""
    path = write(tmp_path / "t.csv", "a\tb\n1\t2\n")
    with pytest.raises(InvalidData, match=r"one column.*tab.*delimiter = \"\\t\""):
        open_table(path, AB)
    path = write(tmp_path / "s.csv", "a;b\n1;2\n")
    with pytest.raises(InvalidData, match="semicolon"):
        open_table(path, AB)
    semicolon = Schema(AB.columns, reading=Reading(";"))
    assert decoded(path, semicolon) == ([[1], [2]], [True])


def test_ing_19_a_column_of_text_declared_as_a_number_is_an_error(tmp_path):
    """ING-19: answers in words are no numbers; the message names the column and no answer."""
    path = write(tmp_path / "t.csv", "a\nagree strongly\n")
    with pytest.raises(InvalidData, match=r"`a`.*text") as caught:
        decoded(path, AB, "a")
    assert_silent(caught.value, "agree")


def test_an_empty_file_has_no_header(tmp_path):
    """A file without a byte, or without a name, is an error; one with a header only is a table without rows."""
    for text in ("", "\n\n"):
        with pytest.raises(InvalidData, match="empty"):
            open_table(write(tmp_path / "t.csv", text), AB)
    for text in ("a,b", "a,b\n", "\ufeffa,b\r\n"):
        assert not list(open_table(write(tmp_path / "t.csv", text), AB).blocks())


def test_cli_03_an_absent_column_is_named_with_near_matches(tmp_path):
    """CLI-03: quotes show blanks and capitals."""
    path = write(tmp_path / "t.csv", "Income ,b\n1,2\n")
    with pytest.raises(InvalidData, match=r"'Income'.*'Income '"):
        open_table(path, Schema({"Income": Number(0, 1)}))


def test_lines_within_quotes_and_blank_lines(tmp_path):
    """A quoted line end is part of a cell where that is declared; a blank line is a record in files of one column."""
    columns = {"a": Category(["u\nv", "w"]), "b": Number(0, 9)}
    schema = Schema(columns, reading=Reading(newlines_in_cells=True))
    assert decoded(write(tmp_path / "t.csv", 'a,b\n"u\nv",1\nw,2\n\n'), schema)[0] == [[0, 1], [1, 2]]
    with pytest.raises(InvalidData, match="Line 2 of t.csv leaves a quote open"):
        decoded(tmp_path / "t.csv", Schema(columns))
    single = Schema({"a": Number(0, 9, missing=5)})
    assert decoded(write(tmp_path / "t.csv", "a\n1\n\n3\n"), single)[0] == [[1, 5, 3]]


def test_files_that_are_damaged_or_no_text(tmp_path):
    """UTF-16, Latin letters, a broken archive: an error by file name, and nothing of the content."""
    (tmp_path / "u.csv").write_bytes("a,b\n1,2\n".encode("utf-16"))
    (tmp_path / "l.csv").write_bytes("a,b\n1,s\xe9cret\n".encode("latin-1"))
    (tmp_path / "g.csv.gz").write_bytes(b"no archive")
    (tmp_path / "h.csv.gz").write_bytes(gzip.compress(b"a,b\n" + os.urandom(99_999).hex().encode() + b",1\n")[:60_000])
    for name in ("u.csv", "l.csv", "g.csv.gz", "h.csv.gz"):
        with pytest.raises(InvalidData, match=name) as caught:
            list(open_table(tmp_path / name, AB).blocks())
        assert_silent(caught.value, "cret", "sécret")


def test_a_header_that_is_no_list_of_names(tmp_path):
    """A name longer than any name is no header."""
    path = write(tmp_path / "t.csv", "a" * 200_000 + ",b\n1,2\n")
    with pytest.raises(InvalidData, match="column names"):
        open_table(path, AB)


def test_progress_is_told_in_bytes(tmp_path):
    """The owner's bar knows the size of the file."""
    path = write(tmp_path / "t.csv", "a,b\n" + "1,2\n" * 1000)
    table = open_table(path, AB)
    assert table.size_hint == path.stat().st_size
    assert sum(block.n_rows for block in table.blocks()) == 1000
    assert table.position == table.size_hint


@pytest.mark.parametrize("name", ["ING-01.csv", "ING-05.csv", "ING-08.csv"])
def test_example_files_of_the_cases(name, request):
    """The collected example files behave as described; skipped where the collection is absent."""
    folder = Path(os.environ.get("DISCREET_DATA", "../shared/data")).parent / "cases"
    if not (folder / name).is_file():
        pytest.skip("no collection of cases here")
    schemas = {
        "ING-01.csv": Schema({"age": Number(0, 120), "income": Number(0, 1e6)}),
        "ING-05.csv": Schema({"dose": Number(0, 9), "weeks": Number(0, 9)}),
        "ING-08.csv": Schema({"smoker": Flag(missing="drop"), "score": Number(0, 3)}),
    }
    if name == "ING-05.csv":
        with pytest.raises(InvalidData, match="Line 2"):
            decoded(folder / name, schemas[name])
    else:
        assert sum(decoded(folder / name, schemas[name])[1]) == {"ING-01.csv": 4, "ING-08.csv": 3}[name]


def test_a_line_that_is_no_text_and_too_long_says_nothing_of_itself(tmp_path, capfd):
    """Arrow's own complaint would go to stderr with a byte of the line."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,2\n1,2,\xe3\n")
    with pytest.raises(InvalidData, match="t.csv"):
        list(open_table(path, AB).blocks())
    assert capfd.readouterr() == ("", "")
