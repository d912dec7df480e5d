"""Sub-models of a release: the rows of a selection against a design made for the model itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from discreet.errors import InvalidFormula
from discreet.tables.design import Design
from discreet.tables.schema.columns import Category, Flag, Number
from discreet.tables.schema.schema import Schema
from tables.tabular import rows_of

SCHEMA = Schema(
    {
        "a": Number(0, 10),
        "b": Number(-1, 2),
        "e": Category(["x", "y", "z"]),
        "g": Category(["m", "n"]),
        "f": Flag(),
        "y": Number(0, 100),
    }
)
rng = np.random.default_rng(5)
FRAME = pd.DataFrame(
    {
        "a": rng.uniform(0, 10, 50),
        "b": rng.uniform(-1, 2, 50),
        "e": rng.choice(list("xyz"), 50),
        "g": rng.choice(list("mn"), 50),
        "f": rng.integers(0, 2, 50),
        "y": rng.uniform(0, 100, 50),
    }
)


def user_rows(design):
    """Return (1, z_1, ...) in the columns' own units, one record a column."""
    return design.layout.user_coding() @ (rows_of(FRAME, design) / 2.0**design.layout.bits)


@pytest.mark.parametrize(
    ("terms", "formula"),
    [
        (None, "y ~ a + b"),
        (None, "a ~ y + e"),
        (None, "f ~ a"),
        (None, "y ~ e + g - 1"),
        (None, "y ~ a + f - 1"),
        ("y + a*e", "y ~ a:e"),
        ("y + a*e", "y ~ a + e + a:e - 1"),
        ("y + a:e + a:g", "y ~ a"),
        ("y + e*g", "y ~ e:g"),
        ("y + e*g", "y ~ g:e - 1"),
        ("y + e*g*a", "y ~ a:g:e"),
        ("y + a*b + I(a**2)", "y ~ b:a + I(a**2)"),
        ("y + e + a - 1", "a ~ e - 1"),
    ],
)
def test_a_selection_writes_the_models_columns(terms, formula):
    """The linear combinations are the features and the target of the model, within the grid's steps."""
    release = Design.for_terms(terms, SCHEMA)
    model = Design.for_formula(formula, SCHEMA)
    selection = release.select(formula)
    assert (*selection.names, selection.target) == model.layout.names
    assert selection.intercept == model.layout.intercept
    z = user_rows(release)
    first = int(model.layout.intercept)
    wanted = user_rows(model)[first:]
    tolerance = 1e-3 * np.abs(wanted).max()
    assert np.abs(selection.rows @ z - wanted[:-1]).max() < tolerance
    assert np.abs(z[selection.target_index] - wanted[-1]).max() < tolerance


@pytest.mark.parametrize(
    ("terms", "formula", "piece"),
    [
        ("y + a", "y ~ b", "'b'"),
        ("y + a", "b ~ a", "'b'"),
        ("y + a + e", "y ~ a:e", "`a:e[x]`"),
        ("y + a + e", "y ~ I(a**2)", "`I(a ** 2)`"),
        ("y + a - 1", "y ~ a", "intercept"),
        ("y + a:e", "y ~ e", "`e[y]`"),
        ("I(a**2) + y", "a ~ y", "`a`"),
    ],
)
def test_what_was_not_released_is_refused_by_name(terms, formula, piece):
    """A model needs its columns among the release's terms."""
    with pytest.raises(InvalidFormula) as caught:
        Design.for_terms(terms, SCHEMA).select(formula)
    assert piece in str(caught.value)


def test_the_message_shows_some_of_a_long_list():
    """A wide release is not listed whole."""
    schema = Schema({f"x{j}": Number(0, 1) for j in range(20)} | {"y": Number(0, 1)})
    with pytest.raises(InvalidFormula, match=r", \.\.\."):
        Design.for_terms(None, schema).select("y ~ x1:x2")
