"""Planted bugs: every one is found by a test that passes without it."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from mutations.planted import BUGS, Bug
from mutations.planting import TESTS, plant, run_tests

PAGE = TESTS.parent / "docs" / "planted-bugs.md"
TIMEOUT = 600.0
_FIRST_WORDS = '"""Every exception t'
NOTHING = Bug(name="none", file="errors.py", before=_FIRST_WORDS, after=_FIRST_WORDS, tests=())


@pytest.mark.parametrize(
    "bug", [pytest.param(bug, id=bug.name, marks=[pytest.mark.nightly] * bug.nightly) for bug in BUGS]
)
def test_a_planted_bug_is_found(bug, tmp_path):
    """At least one of the named tests fails in a copy of the package that has the bug."""
    code, found = run_tests(bug.tests, plant(bug, tmp_path), timeout=TIMEOUT)
    assert code == 1, f"nobody found: {bug.name}"
    assert found is not None


def test_a_copy_without_a_bug_passes(tmp_path):
    """The runner itself breaks nothing: tests pass against an unchanged copy."""
    path = plant(NOTHING, tmp_path)
    assert run_tests(("privacy/test_release.py", "lattice/test_coins.py"), path, timeout=TIMEOUT) == (0, None)


def test_a_bug_that_cannot_be_planted_is_an_error(tmp_path):
    """A text that is not there, or there twice, would plant nothing."""
    with pytest.raises(LookupError, match="0 times"):
        plant(replace(NOTHING, before="no such text"), tmp_path)


def test_the_table_of_planted_bugs_is_complete():
    """Every bug has a line, and who found it is one of its tests."""
    rows = dict(re.findall(r"^\| (.+?) \| `.+?` \| `(.+?)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert set(rows) == {bug.name for bug in BUGS}
    for bug in BUGS:
        assert rows[bug.name].startswith(tuple(test.split("::")[0] for test in bug.tests))
        assert (Path(TESTS) / rows[bug.name].split("::")[0]).is_file()
