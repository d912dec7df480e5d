"""Schemas: what is declared, in Python, TOML and JSON."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.bounds import Interval
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.tables.schema.columns import Category, Constant, Date, Flag, Number, Reading
from discreet.tables.schema.schema import Schema

FULL = """\
format = 1
adjacency = "add-remove"
description = "people"

[reading]
delimiter = ";"
missing_tokens = ["?", "-9"]
thousands = ","

[columns.age]
kind = "number"
lower = 17
upper = 90
missing = { constant = 40 }
description = "in years"

[columns."hours per week"]
kind = "number"
lower = 0.5
upper = 99
missing = "drop"

[columns.country]
kind = "category"
levels = ["NA", "01234", "1234"]
missing = { constant = "NA" }

[columns.smoker]
kind = "flag"
missing = { constant = 0 }
"""


def toml(tmp_path, text):
    path = tmp_path / "schema.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_declares_columns_policies_and_reading(tmp_path):
    """Every key of the file arrives in the schema."""
    schema = Schema.from_toml(toml(tmp_path, FULL))
    assert schema.adjacency == AddRemove()
    assert schema.description == "people"
    assert schema.reading == Reading(";", ("?", "-9"), ",")
    assert schema.columns == {
        "age": Number(17, 90, missing=40, description="in years"),
        "hours per week": Number(0.5, 99, missing="drop"),
        "country": Category(["NA", "01234", "1234"], missing="NA"),
        "smoker": Flag(missing=0),
    }


def test_toml_and_json_round_trips_are_identities(tmp_path):
    """A schema survives both of its file forms."""
    schema = Schema.from_toml(toml(tmp_path, FULL))
    assert schema.to_toml() == FULL
    assert Schema.from_json(schema.to_json()) == schema
    schema.to_toml(tmp_path / "again.toml")
    assert Schema.from_toml(tmp_path / "again.toml") == schema


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=8)
numbers = st.floats(-1e6, 1e6).flatmap(
    lambda low: st.builds(Number, st.just(low), st.floats(low + 1, 1e7), missing=st.sampled_from(["error", "drop"]))
)
categories = st.builds(Category, st.lists(texts, min_size=2, max_size=4, unique=True))
flags = st.builds(Flag, missing=st.sampled_from(["error", "drop", 0, 1]))


@given(st.dictionaries(texts, numbers | categories | flags, min_size=1, max_size=4), st.none() | texts)
def test_any_schema_survives_toml(columns, description):
    """Names, levels and descriptions of any letters are written as TOML reads them."""
    import tomllib

    schema = Schema(columns, adjacency=Replace(), description=description)
    assert Schema.from_json(tomllib.loads(schema.to_toml())) == schema


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ('kind = "number"\nupper = 9', ["`q`", "`lower`", "missing"]),
        ('kind = "number"\nlower = 9\nupper = 1', ["q", "lower < upper", "9.0", "1.0"]),
        ('kind = "number"\nlower = 0\nupper = inf', ["q", "upper", "finite"]),
        ('kind = "number"\nlower = nan\nupper = 1', ["q", "lower", "finite"]),
        ('kind = "number"\nlower = 0\nupper = 1e200', ["q", "square"]),
        ('kind = "number"\nlower = "0"\nupper = 1', ["`q`", "`lower`"]),
        ('kind = "number"\nlower = 0\nupper = 1\nmissing = {constant = 2}', ["`q`", "`missing`", "bounds"]),
        ('kind = "number"\nlower = 0\nupper = 1\nmissing = {constant = true}', ["`q`", "`missing`"]),
        ('kind = "number"\nlower = 0\nupper = 1\nmissing = "ignore"', ["`q`", "`missing`"]),
        ('kind = "number"\nlowr = 0\nlower = 0\nupper = 1', ["`q`", "`lowr`", "not a key"]),
        ('kind = "category"', ["`q`", "`levels`", "missing"]),
        ('kind = "category"\nlevels = ["a", "a"]', ["`q`", "'a'", "twice"]),
        ('kind = "category"\nlevels = [1, "1"]', ["`q`", "'1'", "twice"]),
        ('kind = "category"\nlevels = ["a"]', ["`q`", "two"]),
        ('kind = "category"\nlevels = ["a", 1.5]', ["`q`", "`levels`"]),
        ('kind = "category"\nlevels = ["a", "b"]\nmissing = {constant = "c"}', ["`q`", "`missing`"]),
        ('kind = "flag"\nmissing = {constant = 2}', ["`q`", "`missing`"]),
        ('kind = "text"', ["`q`", "`kind`"]),
        ("lower = 1", ["`q`", "`kind`"]),
    ],
)
def test_a_bad_declaration_is_refused_by_column_and_key(tmp_path, column, words):
    """The message says which column and which key, and nothing of pydantic."""
    with pytest.raises(InvalidArgument) as caught:
        Schema.from_toml(toml(tmp_path, f"format = 1\n[columns.q]\n{column}\n"))
    for word in words:
        assert word in str(caught.value)
    assert "pydantic" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("format = 2\n[columns.q]\nkind = 'flag'", ["`format`"]),
        ("[columns.q]\nkind = 'flag'", ["`format`", "missing"]),
        ("format = 1", ["`columns`"]),
        ("format = 1\n[columns]", ["at least one"]),
        ("format = 1\nunits = 'person'\n[columns.q]\nkind = 'flag'", ["`units`", "not a key"]),
        ("format = 1\nunit = 'person'\n[columns.q]\nkind = 'flag'", ["`rows_per_unit`", "missing"]),
        ("format = 1\nunit = 3\nrows_per_unit = 1\n[columns.q]\nkind = 'flag'", ["`unit`"]),
        ("format = 1\nadjacency = 'swap'\n[columns.q]\nkind = 'flag'", ["`adjacency`"]),
        ("format = 1\n[reading]\nescape = 'x'\n[columns.q]\nkind = 'flag'", ["`reading.escape`", "not a key"]),
        ("format = 1\n[reading]\nquote = 'x'\n[columns.q]\nkind = 'flag'", ["`quote` must be"]),
        ("format = 1\n[reading]\ndelimiter = ';;'\n[columns.q]\nkind = 'flag'", ["`delimiter`"]),
        ("format = 1\n[reading]\nthousands = '.'\n[columns.q]\nkind = 'flag'", ["`thousands`"]),
        ("format = \n", ["TOML", "line 1"]),
    ],
)
def test_a_bad_file_is_refused_by_key(tmp_path, text, words):
    """Unknown keys and unknown formats are refused by name."""
    with pytest.raises(InvalidArgument) as caught:
        Schema.from_toml(toml(tmp_path, text))
    for word in words:
        assert word in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    """An absent file and one that is no text are refused by file name."""
    with pytest.raises(InvalidArgument, match=r"none\.toml"):
        Schema.from_toml(tmp_path / "none.toml")
    (tmp_path / "odd.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidArgument, match="UTF-8"):
        Schema.from_toml(tmp_path / "odd.toml")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, True, "x", None])
def test_bnd_05_bnd_07_every_limit_and_constant_of_a_number_is_checked(bad):
    """BND-05, BND-07: what is no finite number is refused wherever a number is declared."""
    for arguments in ({"lower": bad, "upper": 1}, {"lower": 0, "upper": bad}, {"lower": 0, "upper": 1, "missing": bad}):
        with pytest.raises(InvalidArgument):
            Number(**arguments)


@pytest.mark.parametrize("bad", [math.nan, 2, "x", None])
def test_the_constant_of_a_flag_is_0_or_1(bad):
    """A flag's missing cell can stand for no or yes only."""
    with pytest.raises(InvalidArgument):
        Flag(missing=bad)


@pytest.mark.parametrize("bad", ["ab", b"ab", {"a": 1, "b": 2}, {"a", "b"}, 3, None, [True, False], [1.5, 2.5]])
def test_levels_are_an_ordered_sequence_of_texts_or_whole_numbers(bad):
    """The first level is the reference, so an unordered set is no code list."""
    with pytest.raises(InvalidType):
        Category(bad)


def test_whole_numbers_as_levels_stand_for_their_text():
    """A code list may be written with numbers; a level called drop is written as a constant."""
    assert Category([1, 2], missing=Constant(2)) == Category(["1", "2"], missing="2")
    assert Category(["drop", "keep"], missing=Constant("drop")).missing == Constant("drop")


def test_a_schema_holds_declarations_under_names():
    """What is no declaration, no name, no adjacency or no column at all is refused."""
    for columns in ([], {}, {"a": 1}, {1: Flag()}, {"": Flag()}):
        with pytest.raises(InvalidArgument):
            Schema(columns)
    with pytest.raises(InvalidType, match="adjacency"):
        Schema({"a": Flag()}, adjacency=Replace)
    with pytest.raises(InvalidType, match="missing_tokens"):
        Reading(missing_tokens="NA")


def test_bounds_and_levels_make_a_schema():
    """The command line's bounds and levels make a schema, or replace declarations of one and keep its policies."""
    assert Schema.from_bounds({"a": Interval(0, 1), "b": ["x", "y"]}).columns == {
        "a": Number(0, 1),
        "b": Category(["x", "y"]),
    }
    old = Schema(
        {"a": Number(0, 10, missing=5), "b": Category(["x", "y"], missing="x"), "c": Flag()},
        adjacency=Replace(),
        reading=Reading(";"),
    )
    new = Schema.from_bounds({"a": Interval(0, 6), "b": ["x", "z"]}, over=old)
    assert new.columns["a"] == Number(0, 6, missing=5)
    assert new.columns["b"] == Category(["x", "z"], missing="x")
    assert (new.adjacency, new.reading) == (Replace(), Reading(";"))
    assert Schema.from_bounds({"a": Interval(0, 4), "b": ["y", "z"]}, over=old).columns["a"].missing == "error"
    assert Schema.from_bounds({}, over=old, adjacency=AddRemove()).adjacency == AddRemove()
    with pytest.raises(InvalidArgument, match="`b`"):
        Schema.from_bounds({"b": ["x"]})


def test_columns_can_be_added_and_left_out():
    """A schema is a value: changes make a new one."""
    schema = Schema({"a": Flag(), "b": Number(0, 1)}, adjacency=Replace())
    assert list(schema.with_columns({"c": Flag()}).columns) == ["a", "b", "c"]
    assert list(schema.restricted_to(["b"]).columns) == ["b"]
    assert schema.with_columns({"c": Flag()}).adjacency == Replace()
    assert hash(schema) == hash(Schema.from_json(schema.to_json()))


@pytest.mark.parametrize("form", ["%F", "%D", "%e/%m/%Y", "%-d/%m/%Y", "%Y %m %d %Y", "%d %m %Y %c", "%Y-%m-%d %"])
def test_a_format_in_which_no_date_can_be_read_is_refused(form):
    """Python knows fewer letters than C, and each of them once; where it reads none, all cells would be missing."""
    with pytest.raises(InvalidArgument, match="`format`") as caught:
        Date("2000-01-01", "2001-01-01", format=form)
    assert caught.value.__context__ is None
