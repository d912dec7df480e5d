"""The grammar of formulas: what is fitted, and that all else is refused by name."""

from __future__ import annotations

import re

import pytest

from discreet.errors import InvalidFormula, InvalidType
from discreet.tables.formula import Factor, parse
from discreet.tables.schema.columns import Category, Flag, Number

COLUMNS = {
    "a": Number(0, 10),
    "b": Number(-1, 1),
    "odd name": Number(0, 1),
    "a:b": Number(0, 1),
    "C(e)": Number(0, 1),
    "e": Category(["x", "y", "z"]),
    "f": Flag(),
    "y": Number(0, 1),
    "Income ": Number(0, 1),
    "Größe": Number(0, 1),
}


def terms(text):
    parsed = parse(text, COLUMNS, with_target=False)
    return [tuple(factor.name for factor in term.factors) for term in parsed.terms], parsed.intercept


@pytest.mark.parametrize(
    ("text", "wanted", "intercept"),
    [
        ("a", [("a",)], True),
        ("a + `odd name`", [("a",), ("odd name",)], True),
        ("C(e) + e", [("e",)], True),
        ("C( `e` )", [("e",)], True),
        ("I(a**2) + I(`odd name` ** 4)", [("I(a ** 2)",), ("I(odd name ** 4)",)], True),
        ("a:b + a", [("a",), ("a", "b")], True),
        ("a*b", [("a",), ("b",), ("a", "b")], True),
        ("(a + b):e", [("a", "e"), ("b", "e")], True),
        ("a:b + b:a", [("a", "b")], True),
        ("b:a:I(a**2)", [("b", "a", "I(a ** 2)")], True),
        ("a - 1", [("a",)], False),
        ("0 + a", [("a",)], False),
        ("-1 + a", [("a",)], False),
        ("1 + a", [("a",)], True),
        ("`a:b` + a:b", [("a:b",), ("a", "b")], True),
        ("`C(e)`", [("C(e)",)], True),
        ("Größe", [("Größe",)], True),
        ("a*e*f", [("a",), ("e",), ("f",), ("a", "e"), ("a", "f"), ("e", "f"), ("a", "e", "f")], True),
    ],
)
def test_the_subset_means_what_it_means_in_r(text, wanted, intercept):
    """Main effects stand before interactions, doubles count once, names in backticks are taken as they are."""
    assert terms(text) == (wanted, intercept)


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("log(a)", "log(a)"),
        ("np.exp(a)", "np.exp(a)"),
        ("a / b", "/"),
        ("a %in% b", "%in%"),
        ("(a + b)**2", "**"),
        ("(a + b)^2", "^"),
        ("a | b", "|"),
        ("a - b", "- b"),
        ("a - 0", "- 0"),
        ("a + 2", "2"),
        ("2:a", "2"),
        ("1:a", "1"),
        ("a + 'b'", "'b'"),
        ("{a + 1}", "a + 1"),
        ("I(a**5)", "I(a**5)"),
        ("I(a**1)", "I(a**1)"),
        ("I(a + b)", "I(a + b)"),
        ("C(e, Treatment)", "C(e, Treatment)"),
        (".", "."),
        ("[a ~ b]", "["),
    ],
)
def test_all_else_is_refused_by_name(text, piece):
    """The message quotes the piece that is not fitted, before anything is computed."""
    with pytest.raises(InvalidFormula) as caught:
        parse(text, COLUMNS, with_target="~" in text)
    assert repr(piece) in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("text", ["a +", "a b", "a + + : b", "`a", "(a", "", "1", "a ~ b ~ e", "a )"])
def test_what_is_no_formula_is_refused(text):
    """Broken texts get our own error, without formulaic's."""
    with pytest.raises(InvalidFormula) as caught:
        parse(text, COLUMNS, with_target=False)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "text", ["y", "~ a", "y + b ~ a", "I(y**2) ~ a", "C(e) ~ a", "e ~ a", "y:b ~ a", "y ~ a + y", "y ~ 1"]
)
def test_the_target_is_one_declared_number_or_flag(text):
    """Left of the tilde stands one column that is no category and not among the terms."""
    with pytest.raises(InvalidFormula):
        parse(text, COLUMNS, with_target=True)


def test_a_flag_may_be_a_target():
    """A flag counts as 0 and 1."""
    assert parse("f ~ a", COLUMNS, with_target=True).target == "f"


def test_a_formula_is_a_text():
    """What is no text is refused by type."""
    with pytest.raises(InvalidType, match="list"):
        parse(["a"], COLUMNS, with_target=False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("y ~ Income", ["'Income'", "'Income '"]),
        ("y ~ A", ["'A'", "'a'"]),
        ("y ~ gone", ["'gone'", "not declared"]),
        ("y ~ C(gone)", ["'gone'"]),
        ("gone ~ a", ["'gone'"]),
    ],
)
def test_cli_03_a_mistyped_column_is_named_with_near_matches_in_quotes(text, words):
    """CLI-03: quotes make a trailing blank and capitals visible."""
    with pytest.raises(InvalidFormula) as caught:
        parse(text, COLUMNS, with_target=True)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("text", ["C(a)", "C(f)", "I(e**2)", "I(f**2)"])
def test_functions_need_their_kind_of_column(text):
    """C needs levels and I(..**k) a number."""
    with pytest.raises(InvalidFormula, match=r"[af e]"):
        parse(text, COLUMNS, with_target=False)


def test_terms_compare_by_their_factors():
    """A term is a set of factors."""
    left, right = (parse(text, COLUMNS, with_target=False).terms[0].key for text in ("a:e", "e:a"))
    assert left == right == {Factor("a"), Factor("e")}


NUMBERED = {name: Number(0, 1) for name in ("y", "0", "1", "2", "a", "b", "a:b", "C(3)", "q0_", "-")}
NUMBERED["3"] = Category(["x", "z"])


@pytest.mark.parametrize(
    ("text", "wanted", "intercept"),
    [
        ("y ~ `1` + `2`", ["1", "2"], True),
        ("y ~ 1 + `1`", ["1"], True),
        ("y ~ `1` * `2`", ["1", "2", "1:2"], True),
        ("y ~ `1` + `2` - 1", ["1", "2"], False),
        ("y ~ 0 + `0` + `1`", ["0", "1"], False),
        ("y ~ (`1` + `2`) * C(`3`)", ["1", "2", "3", "1:3", "2:3"], True),
        ("y ~ I(`1` ** 2) + `1`", ["I(1 ** 2)", "1"], True),
        ("y ~ `C(3)` + C(`3`)", ["C(3)", "3"], True),
        ("y ~ `a:b` + a:b", ["a:b", "a:b"], True),
        ("y ~ `1` + q0_ + `a` + a", ["1", "q0_", "a"], True),
        ("y ~ `1` + `-`", ["1", "-"], True),
        ("`1` ~ `2`", ["2"], True),
        ("`1` + `2`", ["1", "2"], True),
        ("`1` * `2`", ["1", "2", "1:2"], True),
    ],
)
def test_fr_03_a_column_may_be_called_as_a_formula_writes_something_else(text, wanted, intercept):
    """FR-03: a quoted name is a column, whether it reads as the constant, an operator, an interaction or a call."""
    formula = parse(text, NUMBERED, with_target="~" in text)
    assert [":".join(factor.name for factor in term.factors) for term in formula.terms] == wanted
    assert formula.intercept is intercept


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("y ~ `2` - `1`", "'- `1`'"),
        ("`1` ~ `1` + a", "stands on both sides"),
        ("y ~ a + ``", "Column ''"),
        ("`` ~ a", "Column ''"),
    ],
)
def test_fr_03_a_column_called_1_is_never_the_constant(text, words):
    """It cannot be taken out as the intercept is, is found on both sides, and an empty name is no column."""
    with pytest.raises(InvalidFormula, match=re.escape(words)):
        parse(text, NUMBERED, with_target=True)
