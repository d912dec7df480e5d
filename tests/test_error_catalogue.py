"""The catalogue of error messages: complete, and in the house's wording."""

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
sys.path.insert(0, str(DOCS))
list_errors = pytest.importorskip("list_errors")
sys.path.remove(str(DOCS))

ALL = [(name, module, text) for name, entries in list_errors.messages().items() for module, text in entries]
# What a message may be about: an argument or column in quotes, an option, a class or call, or a place for a name.
NAME = re.compile(r"`[^`]+`|'[^']+'|\"[^\"]+\"|--[a-z]|…|\b[A-Z]\w+\([^)]*\)|\bFILE\b")
_VERBS = (
    "add|ask|build|change|choose|clip|close|complete|convert|correct|count|create|declare|derive|draw|drop|fill|fit|give|"
    "install|keep|leave|lengthen|load|lower|make|map|move|multiply|name|open|order|pass|plan|put|raise|read|remove|"
    "rename|repeat|reshape|restore|run|save|say|scale|set|settle|sort|split|start|take|update|use|wait|widen|write"
)
# What to do: an imperative that begins a sentence or a clause, or what an argument must be.
REMEDY = re.compile(rf"(?:^|[.:;…?)] |, (?:or |and )?|\bor |\bthen )(?i:{_VERBS})\b|\bpass it to\b|\bmust\b|\bneeds?\b")
# Errors of what somebody asked or handed over; the others are of ledgers and of theorems.
ASKED = {"InvalidArgument", "InvalidType", "InvalidData", "InvalidFormula", "WrongUsage"}
# Messages that say elsewhere what to do: the rest of their text is another message of this catalogue, or advice.
ELSEWHERE = (
    "… has no argument `…`: ….",
    "Cannot put `…` on a grid. …",
    "Column `…`: …",
    "… of …: …",
    "--keep: …",
    "Column … ….… …",
    "Only binary classification is supported. `…` holds more than two labels. …",
    "A run of this search has a budget in …. …",
    'Weights are taken by the method "descent" alone, which …',
    '`method` "…" …',
    "… fits no scale: …",
    "… has the type …, which is no number. …",
    "… has a cell of the type …, which is no number. …",
    "Line … of … ….",
)
# Words that name no argument, for what is wrong is the table, the file or the object as a whole.
WHOLE = re.compile(
    r"(?i)\b(table|files?|schema|layout|moments?|design|model|coins|rows|records|grid|bounds|Box|Costs|block|array)\b"
)


def test_the_page_lists_every_message():
    """`python docs/list_errors.py > docs/errors.md` was run after the last change of a message."""
    assert (DOCS / "errors.md").read_text(encoding="utf-8") == list_errors.catalogue()


def is_in_the_wording(name, text):
    """Whether a message names what is wrong, says what to do, and is one line of whole sentences."""
    if text in ELSEWHERE:
        return True
    if name in ASKED and not (NAME.search(text) or WHOLE.search(text.partition(". ")[0])):
        return False
    # A place for text is no remedy, nor is what was found.
    sentences = text.replace("; found …", "")
    return bool(REMEDY.search(sentences)) and "\n" not in text and text.rstrip().endswith((".", "…", "?"))


@pytest.mark.parametrize(("name", "module", "text"), ALL, ids=[f"{module}-{k}" for k, (_, module, _) in enumerate(ALL)])
def test_a_message_names_what_is_wrong_and_says_what_to_do(name, module, text):
    """The argument, column, option or object stands in it, and a remedy: an imperative, or what it must be."""
    assert is_in_the_wording(name, text), text
    assert "please" not in text.lower()


@pytest.mark.parametrize(
    "text",
    [
        "Something is wrong. It cannot be used.",
        "`age` is wrong; found ….",
        "`age` is not usable. Bounds are public.",
        "--bounds belongs to a schema.",
        "Give a number.",
        "The number must be positive.",
        "`age` must be a number",
        "`age` must be\na number.",
    ],
)
def test_the_wording_is_not_met_by_just_any_message(text):
    """A message without a name, without a remedy, or of several lines is refused by the test itself."""
    assert not is_in_the_wording("InvalidArgument", text)


def test_what_is_said_elsewhere_is_still_said():
    """Every exception of the wording is a message that the source has."""
    assert set(ELSEWHERE) <= {text for _, _, text in ALL}


KINDS = {
    "a declaration of a column that the table lacks": ("Column … is not in ….…", "Correct the name"),
    "a declaration that a plan does not use": ("… of …: the formula has no column", "Correct the name"),
    "labels that were encoded": ("`…` holds numbers, and … declares texts", "declare classes=…"),
    "no ledger": ("Nothing would remember what this spends", "Add --ledger FILE"),
    "no output": ("would be paid for and not kept", "Add --output FILE"),
    "a file that is there": ("is there already", "add --force"),
    "no classes": ("--loss logistic needs --classes", "Write for example --classes"),
    "a release's declarations": ("is a release already, and a fit from it is free", "Leave it out"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_declaration_that_would_be_ignored_is_answered_by_the_option_that_mends_it(kind):
    """Each kind of refusal names the column or parameter, and the option or argument to use."""
    beginning, remedy = KINDS[kind]
    assert any(beginning in text and remedy in text for _, _, text in ALL)


def test_every_class_of_errors_has_an_exit_code():
    """The catalogue knows all classes that the package defines."""
    from discreet import errors
    from discreet.cli.declarations import WrongUsage

    classes = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception) and not issubclass(value, Warning)
    }
    assert classes | {WrongUsage.__name__} == set(list_errors.CODES)
