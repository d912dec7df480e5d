"""Features of new records, and drafts of schemas: what is made of a file beside its sums."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from discreet.errors import InvalidArgument, InvalidData
from discreet.tables.prediction import feature_blocks
from discreet.tables.schema.columns import Category, Flag, Number
from discreet.tables.schema.drafts import draft_schema
from discreet.tables.schema.schema import Schema
from tables.tabular import assert_silent, parquet, write

SCHEMA = Schema(
    {"a": Number(0, 10, missing="drop"), "e": Category(["x", "y"], missing="y"), "f": Flag(), "y": Number(0, 1)}
)


def features(frame, formula, names):
    return list(feature_blocks(frame, SCHEMA, formula, names))


def test_features_are_in_their_own_units_and_clipped():
    """A prediction treats new records as the fit treated old ones; the target is not needed."""
    frame = pd.DataFrame({"a": [1.5, 99.0, np.nan], "e": ["x", "z", "y"], "f": [True, False, True]})
    ((values, kept),) = features(frame, "y ~ a*e + f", ["a", "e[y]", "f", "a:e[y]"])
    assert kept.tolist() == [True, True, False]
    assert values[:2].tolist() == [[1.5, 0, 1, 0], [10, 1, 0, 10]]


def test_api_15_an_undeclared_level_at_prediction_names_the_column():
    """API-15: under policy error the level is refused and not quoted."""
    schema = SCHEMA.with_columns({"e": Category(["x", "y"])})
    frame = pd.DataFrame({"e": ["sentinel"]})
    with pytest.raises(InvalidData, match="`e`") as caught:
        list(feature_blocks(frame, schema, "y ~ e", ["e[y]"]))
    assert_silent(caught.value, "sentinel")


def test_api_08_columns_go_by_name():
    """API-08: order does not matter, an absent column is named."""
    frame = pd.DataFrame({"f": [True], "a": [2.0]})
    ((values, _),) = features(frame, "y ~ a + f", ["a", "f"])
    assert values.tolist() == [[2.0, 1.0]]
    with pytest.raises(InvalidData, match="'e'"):
        features(frame, "y ~ a + e", ["a", "e[y]"])


def test_a_model_file_that_was_changed_is_refused():
    """Formula and schema must give the features that the coefficients belong to."""
    with pytest.raises(InvalidArgument, match="features"):
        features(pd.DataFrame({"a": [1.0]}), "y ~ a", ["b"])


def test_a_draft_of_a_csv_file_has_its_names_only(tmp_path):
    """Column names, never values; what only a person can declare is refused until it is filled in."""
    path = write(tmp_path / "t.csv", "age,hours per week\n34.5,\n")
    text = draft_schema(path)
    assert "[columns.age]" in text
    assert '[columns."hours per week"]' in text
    assert "34.5" not in text
    write(tmp_path / "t.toml", text)
    with pytest.raises(InvalidArgument, match="adjacency"):
        Schema.from_toml(tmp_path / "t.toml")
    write(tmp_path / "t.toml", text.replace('adjacency = ""', 'adjacency = "replace"'))
    with pytest.raises(InvalidArgument, match="`age`.*`kind`"):
        Schema.from_toml(tmp_path / "t.toml")


def test_a_draft_of_a_parquet_file_knows_the_types(tmp_path):
    """A Parquet file says which columns are numbers, flags and texts."""
    path = parquet(tmp_path / "t.parquet", n=[1], x=[1.5], b=[True], s=["u"], d=[dt.date(2020, 1, 1)])
    text = draft_schema(path)
    kinds = [line for line in text.splitlines() if line.startswith("kind")]
    assert kinds == ['kind = "number"'] * 2 + [f'kind = "{kind}"' for kind in ("flag", "category", "date")]
    write(tmp_path / "t.toml", text.replace('adjacency = ""', 'adjacency = "replace"'))
    with pytest.raises(InvalidArgument, match="`n`: `lower`"):
        Schema.from_toml(tmp_path / "t.toml")


def test_no_draft_quotes_a_record(tmp_path):
    """A file without a header would turn a record into names."""
    for content in ("34.5,Smith\n", "a,a\n"):
        with pytest.raises(InvalidData) as caught:
            draft_schema(write(tmp_path / "t.csv", content))
        assert_silent(caught.value, "34.5", "Smith")
    (tmp_path / "t.parquet").write_bytes(b"none")
    for name, kind in (("t.parquet", InvalidData), ("t.doc", InvalidArgument)):
        with pytest.raises(kind, match=name):
            draft_schema(tmp_path / name)
