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
# A rule, a thing found, or what to do instead.
REMEDY = re.compile(
    r"must|needs?\b|belongs?\b|; found|[.:;…] [A-Z`]|[Uu]se |[Gg]ive |[Ll]eave |[Rr]emove|[Rr]ename|at least one"
    r"|…\.?\s*$"
)


def test_the_page_lists_every_message():
    """`python docs/list_errors.py > docs/errors.md` was run after the last change of a message."""
    assert (DOCS / "errors.md").read_text(encoding="utf-8") == list_errors.catalogue()


@pytest.mark.parametrize(("name", "module", "text"), ALL, ids=[f"{module}-{k}" for k, (_, module, _) in enumerate(ALL)])
def test_a_message_is_a_sentence_that_says_what_to_do(name, module, text):
    """One line of whole sentences, with a rule, what was found, or a remedy."""
    assert "\n" not in text
    assert text.rstrip().endswith((".", "…", "?"))
    assert REMEDY.search(text)
    assert "please" not in text.lower()


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
