"""The grammar of formulas, parsed by formulaic and restricted to what is fitted; everything else is refused by name.

A formula is ``target ~ terms``; terms are columns, `` `odd name` ``, ``C(column)``, ``I(column**k)`` with k = 2, 3, 4,
joined by ``+``, ``:`` and ``*``, with ``- 1`` or ``0 +`` for no intercept.
"""

from __future__ import annotations

import difflib
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidFormula, InvalidType
from discreet.tables.schema.columns import Category, Number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from discreet.tables.schema.columns import Column

ALLOWED = "columns, `odd name`, C(column), I(column**k) for k = 2, 3, 4, ':', '*', '+' and '-1'"
_NAME = r"(?:`(?P<quoted>[^`]*)`|(?P<bare>[^\W\d][\w.]*))"
_QUOTED = re.compile(r"`[^`]*`")
_CATEGORICAL = re.compile(rf"C\(\s*{_NAME}\s*\)")
_POWER = re.compile(rf"I\(\s*{_NAME}\s*\*\*\s*(?P<power>[0-9]+)\s*\)")


@dataclass(frozen=True, slots=True, order=True)
class Factor:
    """A column in a term, raised to a `power` (1 but for numbers)."""

    column: str
    power: int = 1

    @property
    def name(self) -> str:
        """The factor as formulas write it: ``a`` or ``I(a ** 2)``."""
        return self.column if self.power == 1 else f"I({self.column} ** {self.power})"


@dataclass(frozen=True, slots=True)
class Term:
    """A product of factors, in the order in which it was written."""

    factors: tuple[Factor, ...]

    @property
    def key(self) -> frozenset[Factor]:
        """What makes two terms the same: their factors in any order."""
        return frozenset(self.factors)


@dataclass(frozen=True, slots=True)
class Formula:
    """A parsed formula whose columns are declared.

    Parameters
    ----------
    target : str or None
        The column left of ``~``.
    terms : tuple of Term
        Distinct, main effects before interactions, as R orders them.
    intercept : bool
        Whether there is a constant.
    """

    target: str | None
    terms: tuple[Term, ...]
    intercept: bool


DECLARE = ("is not declared in the schema", "Declare its bounds or its levels, or correct its name.")
RELEASE = ("was not released", "Make a new release with it among its terms, or correct its name.")


def parse(
    text: Any,
    columns: Mapping[str, Column],
    *,
    with_target: bool,
    unknown: tuple[str, str] = DECLARE,
    labels: bool = False,
) -> Formula:
    """Return the formula that `text` writes.

    Parameters
    ----------
    text : str
        ``target ~ terms`` where `with_target`, else terms alone.
    columns : mapping of str to Column
        The declared columns.
    with_target : bool
        Which of the two is expected.
    unknown : tuple of two str
        What is said of a column that is not among them, and what to do about it.
    labels : bool
        Whether the target is to be a label: a flag, or a category of two levels.

    Raises
    ------
    InvalidFormula
        If the text is no formula, uses what is not fitted, or names a column that is not declared.
    """
    if not isinstance(text, str):
        raise InvalidType(f"A formula must be a text such as 'income ~ age + sex'; found {type(text).__name__}.")
    _check_tokens(text, with_target=with_target)
    left, right = _parsed(text if with_target else "~" + text)
    for name in dict.fromkeys(name for factors in (*left, *right) for name in map(_column_of, factors)):
        if name is not None:
            declared(name, columns, unknown)
    target = _target(left, columns, labels=labels) if with_target else None
    terms: dict[frozenset[Factor], Term] = {}
    intercept = False
    for factors in right:
        if factors == ["1"]:
            intercept = True
            continue
        term = Term(tuple(dict.fromkeys(_factor(factor, columns) for factor in factors)))
        terms.setdefault(term.key, term)
    ordered = tuple(sorted(terms.values(), key=lambda term: len(term.factors)))
    if not ordered:
        raise InvalidFormula(f"The formula {text!r} names no column to the right of '~'; name at least one.")
    if any(factor.column == target for term in ordered for factor in term.factors):
        raise InvalidFormula(f"`{target}` stands on both sides of the formula; remove it from one.")
    if labels and not intercept:
        raise InvalidFormula(
            "A logistic regression by formula has an intercept. Take '- 1' out, or use FunctionalLogisticRegression "
            "with fit_intercept=False."
        )
    return Formula(target, ordered, intercept)


def _check_tokens(text: str, *, with_target: bool) -> None:
    """Refuse by name every operator, number and function outside the subset, before formulaic gives it a meaning."""
    from formulaic.parser.algos.tokenize import tokenize

    tokens = None
    with suppress(Exception):  # whatever formulaic raises, the text is no formula
        tokens = [(str(token), token.kind.name) for token in tokenize(text)]
    if tokens is None:
        raise InvalidFormula(f"Cannot read {text!r} as a formula: a quote or bracket is not closed. Close it.")
    tildes = tokens.count(("~", "OPERATOR"))
    if tildes != with_target:
        wanted = "one '~' between target and terms" if with_target else "no '~': terms alone"
        raise InvalidFormula(f"{text!r} must have {wanted}; found {tildes} of them.")
    # A quoted name is compared by nothing: a column may be called 1, or -.
    signs = ["`" if kind == "NAME" else piece for piece, kind in tokens]
    for i, (piece, kind) in enumerate(tokens):
        before = signs[i - 1] if i else ""
        after = signs[i + 1] if i + 1 < len(tokens) else ""
        if kind == "OPERATOR" and (set(piece) - set("+-:*~") or piece in {"**", "::"}):
            # The tokenizer strips the signs from %in%.
            raise _refused("%in%" if piece == "in" else piece)
        if kind == "OPERATOR" and "-" in piece and after != "1":
            name = tokens[i + 1][0] if i + 1 < len(tokens) else ""
            raise _refused(f"{piece} `{name}`" if after == "`" and not name.isidentifier() else f"{piece} {name}")
        if kind == "VALUE" and (
            piece not in {"0", "1"} or {before, after} & {":", "*"} or (piece, before) == ("0", "-")
        ):
            raise _refused(piece)
        if kind == "CONTEXT" and piece not in {"(", ")"}:
            raise _refused(piece)
        if kind == "PYTHON":
            _check_call(piece)


def _check_call(token: str) -> None:
    if _CATEGORICAL.fullmatch(token):
        return
    power = _POWER.fullmatch(token)
    if power is None or int(power["power"]) not in {2, 3, 4}:
        raise _refused(token)


def _refused(piece: str) -> InvalidFormula:
    return InvalidFormula(f"A formula cannot use {piece!r}. Use only {ALLOWED}.")


def _parsed(text: str) -> tuple[list[list[str]], list[list[str]]]:
    """Return the terms left and right of '~' as lists of formulaic's factor texts."""
    from formulaic.parser import DefaultFormulaParser

    # formulaic knows a factor by its text alone: a column called 1 would be the constant, one called C(a) a call.
    names: dict[str, str] = {}
    plain = _QUOTED.sub(lambda quoted: names.setdefault(quoted[0], _stand_in(len(names), text)), text)
    parsed = None
    with suppress(Exception):  # whatever formulaic raises, the text is no formula
        parsed = DefaultFormulaParser().get_terms(plain)
    if parsed is None:
        raise InvalidFormula(
            f"Cannot read {text!r} as a formula: an operator or a column is missing. Use only {ALLOWED}."
        )
    sides = parsed._structure  # noqa: SLF001  (how formulaic says left and right)
    left, right = sides.get("lhs", ()), sides.get("rhs", sides.get("root", ()))
    written = {stand_in: quoted for quoted, stand_in in names.items()}
    return _texts(left, written), _texts(right, written)


def _stand_in(number: int, text: str) -> str:
    """Return a name that stands nowhere in `text`."""
    name = f"q{number}_"
    while name in text:
        name += "_"
    return name


def _texts(terms: Iterable[Any], written: Mapping[str, str]) -> list[list[str]]:
    """Return the factors of terms as texts; every name alone is quoted, and stand-ins are as they were `written`."""
    again = re.compile(rf"\b(?:{'|'.join(written)})\b") if written else None

    def text_of(factor: Any) -> str:
        if factor.eval_method.name == "LOOKUP":
            return written.get(factor.expr, f"`{factor.expr}`")
        return factor.expr if again is None else again.sub(lambda found: written[found[0]], factor.expr)

    return [[text_of(factor) for factor in term.factors] for term in terms]


def _factor(text: str, columns: Mapping[str, Column]) -> Factor:
    for pattern in (_CATEGORICAL, _POWER):
        match = pattern.fullmatch(text)
        if match is None:
            continue
        name = _column_of(text) or ""
        column = columns[name]
        if pattern is _CATEGORICAL and not isinstance(column, Category):
            raise InvalidFormula(
                f'`C({name})` needs the levels of `{name}`. Declare it with kind = "category" and its levels.'
            )
        if pattern is _POWER and not isinstance(column, Number):
            raise InvalidFormula(f"`{text}` needs a number; `{name}` is declared as another kind.")
        return Factor(name, int(match["power"]) if pattern is _POWER else 1)
    return Factor(text.removeprefix("`").removesuffix("`"))


def _column_of(text: str) -> str | None:
    """Return the column that a factor's text names; None for the constant."""
    if text.startswith("`"):
        return text[1:-1]
    match = _CATEGORICAL.fullmatch(text) or _POWER.fullmatch(text)
    if match is None:
        return None
    return match["quoted"] if match["quoted"] is not None else match["bare"]


def declared(name: str, columns: Mapping[str, Column], unknown: tuple[str, str] = DECLARE) -> Column:
    """Return the declaration of the column called `name`; name near matches in quotes where there is none."""
    if name in columns:
        return columns[name]
    trouble, remedy = unknown
    raise InvalidFormula(f"Column {name!r} {trouble}.{near(name, columns)} {remedy}")


def near(name: str, names: Iterable[str]) -> str:
    """Return a sentence that quotes the `names` close to `name`, so that blanks and capitals show; or nothing."""
    plain = {other: other.strip().casefold() for other in names}
    close = [other for other, folded in plain.items() if folded == name.strip().casefold()]
    close += [
        other for other in plain if other not in close and difflib.SequenceMatcher(None, name, other).ratio() >= 0.8
    ]
    return f" Did you mean {' or '.join(map(repr, close[:3]))}?" if close else ""


def _target(left: list[list[str]], columns: Mapping[str, Column], *, labels: bool) -> str:
    if len(left) != 1 or len(left[0]) != 1 or not left[0][0].startswith("`"):
        raise InvalidFormula("The left side of '~' must be one column; found something else.")
    name = left[0][0].removeprefix("`").removesuffix("`")
    column = columns[name]
    if labels:
        if isinstance(column, Number) or (isinstance(column, Category) and len(column.levels) != 2):
            raise InvalidFormula(
                f"Only binary classification is supported. The target `{name}` of a logistic regression must be "
                "declared as a flag or as a category of two levels."
            )
    elif isinstance(column, Category):
        raise InvalidFormula(
            f"The target `{name}` is a category; a target must be a number or a flag. "
            'Declare a column of 0 and 1 with kind = "flag" instead, or take the logistic loss if it has two levels.'
        )
    return name
