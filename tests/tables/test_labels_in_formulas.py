"""Targets that are labels: in designs, selections and files."""

import numpy as np
import pandas as pd
import pytest

from discreet.errors import InvalidArgument, InvalidFormula
from discreet.tables.design import Design
from discreet.tables.readers.tables import open_table
from discreet.tables.schema.columns import Category, Flag, Number
from discreet.tables.schema.schema import Schema

SCHEMA = Schema(
    {"age": Number(0, 10), "kind": Category(["a", "b", "c"]), "pass": Category(["no", "yes"]), "flag": Flag()}
)
FRAME = pd.DataFrame({"age": [0.0, 10.0], "kind": ["a", "c"], "pass": ["yes", "no"], "flag": [0, 1]})


@pytest.mark.parametrize(("target", "signs", "name"), [("pass", [1, -1], "pass[yes]"), ("flag", [-1, 1], "flag")])
def test_a_label_fills_the_whole_grid(target, signs, name):
    """It is coded -K and K, and counts 1 in the squared row norm."""
    design = Design.for_formula(f"{target} ~ age", SCHEMA, labels=True)
    (block,) = open_table(FRAME, SCHEMA, design.columns_needed).blocks()
    rows = design.encode(block)
    np.testing.assert_array_equal(rows[-1], np.array(signs) * 2**16)
    assert design.layout.names[-1] == name
    assert design.layout.row_norm_squared == 3 * 4**16
    assert Design.for_formula("flag ~ age", SCHEMA).layout.row_norm_squared < 3 * 4**16


def test_the_design_of_a_label_survives_its_file():
    """JSON says that the target is a label."""
    design = Design.for_formula("pass ~ age", SCHEMA, labels=True)
    again = Design.from_json(design.to_json())
    assert again.layout == design.layout
    with pytest.raises(InvalidArgument, match="labels"):
        Design.from_json({**design.to_json(), "formula": "x"})


def test_a_label_is_selected_from_any_release_that_has_it():
    """It counts 0 and 1, whatever its coding."""
    design = Design.for_terms(None, SCHEMA)
    selection = design.select("pass ~ age + flag", labels=True)
    assert design.layout.names[selection.target_index - 1] == "pass[yes]"
    assert selection.names == ("age", "flag")
    with pytest.raises(InvalidFormula, match="not released"):
        Design.for_terms("age", SCHEMA).select("pass ~ age", labels=True)
    with pytest.raises(InvalidFormula, match="is a category"):
        design.select("pass ~ age")


@pytest.mark.parametrize("formula", ["age ~ flag", "kind ~ age"])
def test_what_is_no_label_is_refused_by_name(formula):
    """Numbers and categories of more levels are no labels yet."""
    with pytest.raises(InvalidFormula, match=f"`{formula.partition(' ')[0]}` of a logistic regression"):
        Design.for_formula(formula, SCHEMA, labels=True)


def test_a_label_needs_the_intercept():
    """Without it -1 and 1 cannot be made of 0 and 1; the message names the estimator that can."""
    with pytest.raises(InvalidFormula, match="FunctionalLogisticRegression"):
        Design.for_formula("pass ~ age - 1", SCHEMA, labels=True)
