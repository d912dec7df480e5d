"""Designs: names, R's coding of categories, grid rows, missing policies, row norms."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, InvalidData, InvalidFormula, InvalidType
from discreet.tables import row_norm
from discreet.tables.design import Design
from discreet.tables.schema.columns import Category, Flag, Number
from discreet.tables.schema.schema import Schema
from tables.tabular import gram_of, rows_of

SCHEMA = Schema(
    {
        "a": Number(0, 10),
        "b": Number(-1, 2),
        "odd name": Number(5, 6),
        "e": Category(["x", "y", "z"]),
        "g": Category(["m", "n"]),
        "f": Flag(),
        "y": Number(0, 100),
    }
)


def names(text, schema=SCHEMA):
    return Design.for_terms(text, schema).layout.names


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (None, ("a", "b", "odd name", "e[y]", "e[z]", "g[n]", "f", "y")),
        ("a + e", ("a", "e[y]", "e[z]")),
        ("e - 1", ("e[x]", "e[y]", "e[z]")),
        ("e + g - 1", ("e[x]", "e[y]", "e[z]", "g[n]")),
        ("a + g + e - 1", ("a", "g[m]", "g[n]", "e[y]", "e[z]")),
        ("a*g", ("a", "g[n]", "a:g[n]")),
        ("a:g", ("a:g[m]", "a:g[n]")),
        ("a + a:g", ("a", "a:g[n]")),
        ("g + a:g", ("g[n]", "a:g[m]", "a:g[n]")),
        ("e*g", ("e[y]", "e[z]", "g[n]", "e[y]:g[n]", "e[z]:g[n]")),
        ("e + e:g", ("e[y]", "e[z]", "e[x]:g[n]", "e[y]:g[n]", "e[z]:g[n]")),
        ("g:e", ("g[m]:e[x]", "g[n]:e[x]", "g[m]:e[y]", "g[n]:e[y]", "g[m]:e[z]", "g[n]:e[z]")),
        ("f:g", ("f:g[m]", "f:g[n]")),
        ("I(a**2) + a:I(b**3)", ("I(a ** 2)", "a:I(b ** 3)")),
        ("`odd name`:a", ("odd name:a",)),
    ],
)
def test_columns_are_named_and_coded_as_r_does(text, wanted):
    """A category is coded by contrasts where the term without it is in the model, else by all levels."""
    assert names(text) == wanted


def test_the_target_of_a_formula_is_the_last_column():
    """A regression's design ends with its target."""
    design = Design.for_formula("y ~ e + a", SCHEMA)
    assert design.layout.names == ("e[y]", "e[z]", "a", "y")
    assert design.target == "y"
    assert set(design.columns_needed) == {"e", "a", "y"}


def test_equal_names_of_different_terms_are_refused():
    """Two columns of one name could not be told apart in a summary."""
    schema = Schema({"a": Number(0, 1), "b": Number(0, 1), "a:b": Number(0, 1)})
    with pytest.raises(InvalidFormula, match="'a:b'"):
        Design.for_terms("a:b + `a:b`", schema)
    with pytest.raises(InvalidFormula, match="a:b"):
        Design.for_formula("`a:b` ~ a:b", schema)


def test_bnd_12_a_product_that_overflows_or_vanishes_is_refused_by_name():
    """BND-12: limits whose product has no square, or no width, are refused."""
    schema = Schema({"a": Number(0, 1e100), "b": Number(0, 1e100), "c": Number(0, 1e-200), "d": Number(0, 1e-200)})
    with pytest.raises(InvalidArgument, match="a:b"):
        Design.for_terms("a:b", schema)
    with pytest.raises(InvalidArgument, match="c:d"):
        Design.for_terms("c:d", schema)


def test_a_schema_is_needed():
    """What is no schema is refused by type."""
    with pytest.raises(InvalidType, match="schema"):
        Design.for_terms("a", {"a": Number(0, 1)})
    with pytest.raises(InvalidArgument):
        Design.for_terms("a", SCHEMA, bits=0)


FRAME = pd.DataFrame(
    {
        "a": [0.0, 12.5, 3.25, 7.0],
        "b": [-5.0, 1.5, 2.0, 0.1],
        "odd name": [5.0, 5.5, 6.0, 7.0],
        "e": ["x", "y", "z", "y"],
        "g": ["n", "m", "n", "m"],
        "f": [True, False, True, True],
        "y": [50.0, 0.0, 100.0, 1.0],
    }
)


def test_grid_rows_are_the_quantized_products_of_clipped_cells():
    """Every grid column decodes to its product within half a step."""
    text = "a*b + e*g + a:e + b:f + I(b**2) + I(a**3):b + `odd name`"
    for terms in (text, text + " - 1"):
        design = Design.for_terms(terms, SCHEMA)
        rows = rows_of(FRAME, design)
        assert np.array_equal(rows, np.floor(rows))
        raw = {"a": FRAME.a.clip(0, 10), "b": FRAME.b.clip(-1, 2), "odd name": FRAME["odd name"].clip(5, 6)}
        raw |= {f"e[{level}]": FRAME.e == level for level in "xyz"}
        raw |= {f"g[{level}]": FRAME.g == level for level in "mn"} | {"f": FRAME.f}
        raw |= {"I(b ** 2)": raw["b"] ** 2, "I(a ** 3)": raw["a"] ** 3}
        first = int(design.layout.intercept)
        for name, row, coding in zip(design.layout.names, rows[first:], design.layout.codings, strict=True):
            wanted = np.prod([raw[part].astype(float) for part in name.split(":")], axis=0)
            assert np.abs(coding.decode(row) - wanted).max() <= 0.5001 / coding.scale
        if first:
            assert (rows[0] == 2.0**16).all()


def test_powers_and_products_are_made_by_repeated_multiplication():
    """The product is (b*b)*a in doubles, so that every engine computes the same integer."""
    design = Design.for_terms("I(b**2):a", SCHEMA)
    frame = pd.DataFrame({"a": [0.1, 9.7], "b": [1.7, -0.3]})
    wanted = design.layout.codings[0].encode((frame.b * frame.b * frame.a).to_numpy())
    assert np.array_equal(rows_of(frame, design)[1], wanted)


def policy(column, **missing):
    return Schema({"a": Number(0, 10, **missing), "e": Category(["x", "y"]), "y": Number(0, 1)}) if column else None


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_bnd_11_sem_08_drop_is_the_statistic_without_the_record(bad):
    """SEM-08, BND-11: a dropped record contributes nothing, bit for bit."""
    design = Design.for_formula("y ~ a * e", policy("a", missing="drop"))
    good = pd.DataFrame({"a": [1.0, 2.0, 9.0], "e": ["x", "y", "y"], "y": [0.0, 0.5, 1.0]})
    broken = pd.concat([good.iloc[:2], pd.DataFrame({"a": [bad], "e": ["y"], "y": [0.3]}), good.iloc[2:]])
    assert design.may_drop
    assert np.array_equal(gram_of(broken, design), gram_of(good, design))
    assert not rows_of(broken, design)[:, 2].any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_sem_08_a_constant_is_the_statistic_with_it_in_place(bad):
    """SEM-08: a public constant is put in the place of the missing cell, bit for bit."""
    design = Design.for_formula("y ~ a * e", policy("a", missing=4))
    frame = pd.DataFrame({"a": [1.0, bad, 9.0], "e": ["x", "y", "y"], "y": [0.0, 0.5, 1.0]})
    assert not design.may_drop
    assert np.array_equal(gram_of(frame, design), gram_of(frame.replace(bad, 4.0), design))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_sem_08_error_names_the_column(bad):
    """SEM-08: under the default policy a missing cell stops, and the message names the column."""
    design = Design.for_formula("y ~ a * e", policy("a"))
    frame = pd.DataFrame({"a": [1.0, bad, 9.0], "e": ["x", "y", "y"], "y": [0.0, 0.5, 1.0]})
    with pytest.raises(InvalidData, match="`a`"):
        gram_of(frame, design)


def test_missing_levels_and_flags_follow_their_policies():
    """An undeclared level and a flag that is neither are missing: dropped, replaced or refused."""
    frame = pd.DataFrame({"e": ["x", "w", "y", None], "f": [1, 0, 2, 1]})
    for missing in ("drop", "error", "y"):
        schema = Schema({"e": Category(["x", "y"], missing=missing), "f": Flag(missing=0)})
        design = Design.for_terms("e + f", schema)
        if missing == "error":
            with pytest.raises(InvalidData, match="`e`"):
                rows_of(frame, design)
            continue
        decoded = [
            c.decode(row).tolist() for c, row in zip(design.layout.codings, rows_of(frame, design)[1:], strict=True)
        ]
        if missing == "drop":
            assert (rows_of(frame, design)[0] > 0).tolist() == [True, False, True, False]
            assert rows_of(frame, design)[0].sum() == 2 * 2**16
        else:
            assert decoded == [[0, 1, 1, 1], [1, 0, 0, 1]]


def test_num_09_bnd_09_cells_are_clipped_before_anything_is_squared():
    """NUM-09, BND-09: a huge finite cell counts as its bound."""
    design = Design.for_terms("a + I(a**2)", SCHEMA)
    wild = pd.DataFrame({"a": [1.46e258, -1e9, 5.0]})
    assert np.array_equal(rows_of(wild, design), rows_of(wild.clip(0, 10), design))


def every_row(schema):
    """Return a frame with every combination of levels, flags, and limits and middles of numbers."""
    choices = {}
    for name, column in schema.columns.items():
        if isinstance(column, Number):
            inner = [0.0] if column.lower < 0 < column.upper else []
            choices[name] = [column.lower, *inner, (column.lower + column.upper) / 2, column.upper]
        else:
            choices[name] = list(column.levels) if isinstance(column, Category) else [0, 1]
    return pd.DataFrame(list(itertools.product(*choices.values())), columns=list(choices))


def longest_row(design):
    rows = rows_of(every_row(design.schema), design).astype(np.int64)
    return int((rows**2).sum(axis=0).max())


EXACT = [
    "a + b",
    "e",
    "e + g + f",
    "a + e*g",
    "e*g*f + b",
    "f:e + a",
    "e - 1",
    "e + g + a - 1",
    "e*g - 1",
    "g:e",
    "f*g",
]
BOUNDED = ["a*e", "b:e + a:g", "a + I(a**2) + a:b", "b*e*f", "I(b**2):e + b", "a:e - 1", "b*g - 1", "b:e:g + e:f"]


@pytest.mark.parametrize("text", EXACT)
@pytest.mark.parametrize("bits", [3, 16])
def test_the_row_norm_is_attained_by_main_effects_and_interactions_of_levels(text, bits):
    """Found by enumerating levels, the bound is what the longest row has."""
    design = Design.for_terms(text, SCHEMA, bits=bits)
    assert longest_row(design) == design.layout.row_norm_squared


@pytest.mark.parametrize("text", BOUNDED)
@pytest.mark.parametrize("bits", [3, 16])
def test_the_row_norm_is_never_exceeded(text, bits):
    """With products of numbers the bound holds for every row."""
    design = Design.for_terms(text, SCHEMA, bits=bits)
    assert longest_row(design) <= design.layout.row_norm_squared


@given(
    st.lists(st.tuples(st.floats(-50, 50), st.floats(0.5, 60)), min_size=2, max_size=2),
    st.integers(2, 5),
    st.integers(1, 20),
    st.sampled_from(["a*e", "a + b + e", "a:b:e", "I(a**3):e + b", "e + a - 1", "a*e*f"]),
    st.data(),
)
def test_no_record_is_longer_than_the_declared_bound(limits, n_levels, bits, text, data):
    """Random bounds, levels and cells: the integer row never passes the integer bound, nor an entry its own."""
    numbers = {name: Number(low, low + width) for name, (low, width) in zip("ab", limits, strict=True)}
    levels = [str(k) for k in range(n_levels)]
    design = Design.for_terms(text, Schema(numbers | {"e": Category(levels), "f": Flag()}), bits=bits)
    cells = st.floats(-1e300, 1e300)
    frame = pd.DataFrame(
        data.draw(st.lists(st.tuples(cells, cells, st.sampled_from(levels), st.booleans()), min_size=1, max_size=5)),
        columns=["a", "b", "e", "f"],
    )
    rows = rows_of(frame, design)
    exact = [sum(int(q) ** 2 for q in column) for column in rows.T]
    assert max(exact) <= design.layout.row_norm_squared
    assert (np.abs(rows).max(axis=1) <= design.layout.entry_bounds).all()


def test_design_counts_flags_and_dummies_as_the_paper_on_grids_says():
    """Flags count 1/4 and k drop-first dummies 1 - 1/k of a full column."""
    squared = 4**16
    assert Design.for_terms("f", SCHEMA).layout.row_norm_squared == squared + squared // 4
    assert Design.for_terms("g", SCHEMA).layout.row_norm_squared == squared + squared // 4
    assert Design.for_terms("e", SCHEMA).layout.row_norm_squared == squared + squared // 2
    assert Design.for_terms("a + b", SCHEMA).layout.row_norm_squared == 3 * squared


def test_bnd_02_bnd_01_the_sensitivity_of_a_square_does_not_depend_on_where_the_bounds_lie():
    """BND-01, BND-02: (0, 100) and (-100, 0) have equal grids, and both count."""
    layouts = [Design.for_terms("a", Schema({"a": Number(*limits)})).layout for limits in ((0, 100), (-100, 0))]
    assert layouts[0].row_norm_squared == layouts[1].row_norm_squared == 2 * 4**16
    assert layouts[0].entry_bounds == layouts[1].entry_bounds == (2**16, 2**16)


def test_too_many_combinations_fall_back_to_the_entry_bounds(monkeypatch):
    """Beyond the cap the bound is coarser and still holds."""
    schema = Schema({"e": Category(list("vwxyz")), "g": Category(list("klm"))})
    design = Design.for_terms("e*g", schema)
    monkeypatch.setattr(row_norm, "MOST_COMBINATIONS", 14)
    coarse = Design.for_terms("e*g", schema)
    assert coarse.layout.row_norm_squared > design.layout.row_norm_squared
    assert coarse.layout.row_norm_squared == sum(bound**2 for bound in coarse.layout.entry_bounds)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Design.for_terms("a*e", SCHEMA, bits=8),
        lambda: Design.for_terms(None, SCHEMA),
        lambda: Design.for_formula("y ~ g:a", SCHEMA),
    ],
)
def test_a_design_survives_json(make):
    """Declarations alone give the design again."""
    design = make()
    again = Design.from_json(design.to_json())
    assert again.layout == design.layout
    assert again.features == design.features
    assert again.target == design.target
    with pytest.raises(InvalidArgument):
        Design.from_json({"schema": SCHEMA.to_json()})
