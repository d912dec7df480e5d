"""Nothing that readers raise, print, log or warn of holds a cell: sentinels are planted and searched for."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.errors import DiscreetError
from discreet.tables.design import Design
from discreet.tables.schema.columns import Category, Flag, Number
from discreet.tables.schema.schema import Schema
from tables.tabular import assert_silent, gram_of, write

WORD = "SENTINEL" + "word"
NUMBER = 987654321.125
SECRETS = (WORD, "987654321", "9.87654321", "1999")
SCHEMA = Schema({"x": Number(0, 1), "c": Category(["u", "v"]), "f": Flag()})
DESIGN = Design.for_terms(None, SCHEMA)


class Poisoned:
    """An object whose every conversion fails with a message that holds a cell."""

    def __float__(self):
        raise ValueError(WORD)

    def __str__(self):
        raise ValueError(WORD)

    __repr__ = __str__


def bad_frames():
    """Yield tables with one bad column each."""
    good = {"x": [0.5, NUMBER], "c": ["u", "v"], "f": [True, False]}
    yield pd.DataFrame(good | {"x": [NUMBER, np.nan]})
    yield pd.DataFrame(good | {"x": [NUMBER, WORD]})
    yield pd.DataFrame(good | {"x": [NUMBER, Poisoned()]})
    yield pd.DataFrame(good | {"c": [WORD, "u"]})
    yield pd.DataFrame(good | {"c": [Poisoned(), "u"]})
    yield pd.DataFrame(good | {"f": [NUMBER, 1]})
    yield pd.DataFrame(good | {"f": [WORD, "true"]})
    yield pd.DataFrame(good | {"x": pd.to_datetime(["1999-01-01", "2001-01-01"])})
    yield pd.DataFrame(good | {"x": pd.period_range("1999-01", periods=2, freq="M")})
    yield pd.DataFrame(good | {"x": [NUMBER + 1j, 1]})
    yield pl.DataFrame(good | {"x": [NUMBER, None]})
    yield pl.DataFrame(good | {"c": [WORD, "u"]})
    yield pl.DataFrame(good | {"x": [dt.date(1999, 1, 1)] * 2})
    yield pl.DataFrame({**good, "x": pl.Series([Poisoned(), NUMBER], dtype=pl.Object)})
    yield pl.DataFrame(good | {"x": [[NUMBER], [1.0]]})
    yield pa.table(good | {"x": pa.array([WORD, "1"])})
    yield pa.table(good | {"c": pa.array([{"k": WORD}, None])})
    yield pa.table(good | {"x": pa.array([b"\xff\xfe", WORD.encode()])})
    yield pa.table(good | {"c": pa.array([WORD, "v"]).dictionary_encode()})
    yield pd.DataFrame(good | {"c": pd.period_range("1999-01", periods=2, freq="M")})


def bad_texts():
    """Yield CSV files with one bad cell, line or header each."""
    yield f"x,c,f\n{NUMBER},u,1\n{WORD},u,1\n"
    yield f"x,c,f\n1,{WORD},1\n"
    yield f"x,c,f\n1,u,{NUMBER}\n"
    yield f"x,c,f\n1,u,1,{WORD}\n"
    yield f"x,c,f\n{WORD}\n"
    yield f'x,c,f\n1,"{WORD},1\n2,u,1\n'
    yield f"{NUMBER},{WORD},1\n"
    yield f"{NUMBER},{NUMBER},{WORD}\n"
    yield f"x,c,f\n1,{WORD}\x00,1\n"
    yield f"x,c,f\n1,u,1\n{WORD}\udcff,u,1\n"


def assert_nothing_said(source, caplog, capfd, recwarn):
    with pytest.raises(DiscreetError) as caught:
        gram_of(source, DESIGN)
    assert_silent(caught.value, *SECRETS)
    printed = capfd.readouterr()
    said = printed.out + printed.err + caplog.text + "".join(str(one.message) for one in recwarn.list)
    assert not any(secret in said for secret in SECRETS)


@pytest.mark.parametrize("number", range(len(list(bad_frames()))))
def test_no_error_about_a_frame_holds_a_cell(number, caplog, capfd, recwarn):
    """Whatever is wrong in memory, the error names a column and keeps no foreign exception."""
    assert_nothing_said(list(bad_frames())[number], caplog, capfd, recwarn)


@pytest.mark.parametrize("number", range(len(list(bad_texts()))))
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_no_error_about_a_file_holds_a_cell(tmp_path, number, ending, caplog, capfd, recwarn):
    """Whatever is wrong in a file, the error names a column or a line and keeps no foreign exception."""
    content = list(bad_texts())[number].encode("utf-8", "surrogateescape")
    path = write(tmp_path / f"t.{ending}", "")
    if ending == "csv":
        path.write_bytes(content)
    else:
        import gzip

        path.write_bytes(gzip.compress(content))
    assert_nothing_said(path, caplog, capfd, recwarn)


def test_drop_and_constant_never_raise_on_a_cell():
    """Under the total policies no cell decides between output and error."""
    schema = Schema({"x": Number(0, 1, missing="drop"), "c": Category(["u", "v"], missing="u"), "f": Flag(missing=0)})
    design = Design.for_terms("x*c*f", schema)
    cells = [
        None,
        WORD,
        NUMBER,
        Poisoned(),
        np.nan,
        pd.NA,
        b"u",
        10**400,
        -(10**400),
        True,
        [1],
        {},
        "1\udc80",
        np.array([1, 2]),
    ]
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name in "xcf"})
    assert gram_of(frame, design).shape == (8, 8)
    assert np.array_equal(gram_of(frame.to_numpy(), design, names=list("xcf")), gram_of(frame, design))
