"""Files of arbitrary bytes: only clear errors, nothing spent, nothing quoted."""

import os
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.cli.main import main
from discreet.errors import DiscreetError
from discreet.tables.readers.tables import open_table
from discreet.tables.schema.drafts import draft_schema
from discreet.tables.schema.inspection import count_cells
from discreet.tables.schema.schema import Schema

# `make nightly` gives each of the two fuzzers half of this.
SECONDS = float(os.environ.get("DISCREET_FUZZ_SECONDS", "600"))

HEADER = st.sampled_from(
    [b"a,c,f,d\n", b'\xef\xbb\xbf"a","c",f,d\r\n', b"a;c;f;d\n", b"a,c,f\n", b"", b"a,a,c,f,d\n", b"a,c,f,d"]
)
CELL = st.one_of(
    st.sampled_from(
        [b"", b"1", b"-3.5", b"1e999", b"nan", b"inf", b"u", b"v", b"true", b"NA", b"2001-02-03", b'"', b'""', b"1,5",
         b"18446744073709551616", b"\xff\xfe", b"\x00", b"50 %", b" 7 ", b"'", b"0x10", b"\xe2\x82\xac5"]
    ),
    st.binary(max_size=12),
)  # fmt: skip
LINE = st.lists(CELL, min_size=0, max_size=6).map(b",".join)
CSV = st.tuples(HEADER, st.lists(LINE, max_size=12), st.sampled_from([b"\n", b"\r\n", b"\r"])).map(
    lambda parts: parts[0] + parts[2].join(parts[1])
)
COLUMNS = {
    "a": dp.Number(0, 10, missing=5),
    "c": dp.Category(["u", "v"], missing="u"),
    "f": dp.Flag(missing="drop"),
    "d": dp.Date("2000-01-01", "2010-01-01", missing="drop"),
}
KEY = st.sampled_from(["format", "adjacency", "columns", "reading", "kind", "lower", "upper", "levels", "missing", "a"])
VALUE = st.recursive(
    st.one_of(
        st.integers(-5, 5), st.floats(), st.booleans(), st.text(max_size=6), st.dates(),
        st.sampled_from(["number", "category", "flag", "date", "error", "drop", "replace", "add-remove"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEY, inner, max_size=3)),
    max_leaves=6,
)  # fmt: skip


def read_all(path, schema):
    """Read a file in every way there is; return whether it could be read."""
    table = open_table(path, schema)
    n_rows = sum(block.n_rows for block in table.blocks())
    counts = count_cells(path, schema)
    assert {one.n_cells for one in counts} == {n_rows}
    for one in counts:
        assert min(one.n_blank, one.n_unread, one.n_below, one.n_above) >= 0
    return True


def refuses_clearly(act):
    """Return what `act` does; None where it is refused by one line, with no stranger's exception behind it."""
    refusal = None
    try:
        return act()
    except DiscreetError as error:
        refusal = error
    assert "\n" not in str(refusal)
    assert refusal.__context__ is None
    return None


def check_csv(content):
    """Any bytes are read, or refused by one clear line."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(content)
        for act in (lambda: read_all(path, Schema(COLUMNS)), lambda: draft_schema(path)):
            refuses_clearly(act)


def check_schema(content):
    """Any text is a schema, or refused by one clear line."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.toml"
        path.write_bytes(content)
        schema = refuses_clearly(lambda: Schema.from_toml(path))
        if schema is None:
            return
        again = Path(folder) / "again.toml"
        schema.to_toml(again)
        assert Schema.from_toml(again).columns == schema.columns


def toml(document):
    """Return an object as the text of a TOML file, or some other text."""
    import json

    lines = []
    for key, value in document.items():
        try:
            lines.append(f"{key} = {json.dumps(value)}")
        except (TypeError, ValueError):
            lines.append(f"{key} = {value}")
    return "\n".join(lines).encode("utf-8", "surrogatepass")


SCHEMA_FILE = st.one_of(st.binary(max_size=60), st.dictionaries(KEY, VALUE, max_size=5).map(toml))


@given(CSV)
@settings(max_examples=150)
def test_any_bytes_are_a_table_or_a_clear_error(content):
    """The kinds of trouble that people's files have, and bytes that are no text at all."""
    check_csv(content)


@given(SCHEMA_FILE)
@settings(max_examples=150)
def test_any_text_is_a_schema_or_a_clear_error(content):
    """Keys and values in all the wrong places."""
    check_schema(content)


@pytest.mark.nightly
@pytest.mark.parametrize("part", ["table", "schema"])
def test_ten_minutes_of_files(part):
    """New examples for five minutes each: no stranger's exception, nothing quoted."""
    strategy, check = {"table": (CSV, check_csv), "schema": (SCHEMA_FILE, check_schema)}[part]
    end = time.monotonic() + SECONDS / 2

    @given(strategy)
    @settings(
        max_examples=500, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=False
    )
    def some(content):
        check(content)

    while time.monotonic() < end:
        some()


@given(CSV)
@settings(max_examples=40)
def test_a_command_on_any_bytes_ends_with_a_code_and_spends_only_for_an_answer(content):
    """`discreet fit` exits 0 with a charge, or 1 with one line and no charge."""
    with tempfile.TemporaryDirectory() as folder:
        data, ledger = Path(folder) / "t.csv", Path(folder) / "l.ledger"
        data.write_bytes(content)
        code = main(
            ["fit", str(data), "a ~ c + f", "--bounds", "a=0,10", "--levels", "c=u,v", "--levels", "f=0,1",
             "--adjacency", "replace", "--epsilon", "1", "--ledger", str(ledger), "--total-epsilon", "1", "--no-output"]
        )  # fmt: skip
        assert code in {0, 1}
        assert ledger.exists() == (code == 0)
