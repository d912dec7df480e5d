"""The data that ship with the package."""

from __future__ import annotations

import gzip
import hashlib

import numpy as np

from discreet.examples import adult
from discreet.privacy.adjacency import Replace
from discreet.tables.design import Design
from discreet.tables.schema.schema import Schema
from tables.tabular import gram_of, rows_of


def test_adult_is_whole_and_small():
    """32,561 records of known content in an archive without a time stamp."""
    packed = adult.table().read_bytes()
    content = gzip.decompress(packed)
    assert len(packed) < 500_000
    assert packed[4:8] == b"\0\0\0\0"
    assert content.count(b"\n") == 32_562
    assert hashlib.sha256(content).hexdigest() == "3b8a6abd697a6623ef2ccbffc3e2802e167e7fdaa853003d3bd557b0ce7f5d2a"


def test_adults_schema_fits_its_table():
    """Every level is declared: only unknown entries are missing, and 30,162 records are complete, as is known."""
    schema = Schema.from_toml(adult.schema())
    assert schema.adjacency == Replace()
    gram = gram_of(adult.table(), Design.for_terms(None, schema))
    assert gram[0, 0] == 30_162 * 4**16


def test_adults_demo_design_has_few_columns_and_drops_nobody():
    """The columns of the demo have no unknown entries."""
    design = Design.for_formula("hours_per_week ~ age + education_num + sex", Schema.from_toml(adult.schema()))
    rows = rows_of(adult.table(), design)
    assert rows.shape == (5, 32_561)
    assert not design.may_drop
    hours = design.layout.codings[-1].decode(rows[-1])
    assert np.isclose(hours.mean(), 40.437, atol=1e-3)


def test_the_attribution_names_authors_and_licence():
    """CC BY asks for both."""
    text = adult.attribution().read_text(encoding="utf-8")
    assert "Becker" in text
    assert "Kohavi" in text
    assert "CC BY 4.0" in text
