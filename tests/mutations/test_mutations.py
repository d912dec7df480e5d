"""Planted bugs: every one is found by a test that passes without it.

All of them are planted by night, one a room in `make test`; that the others can be planted, and that the tests that
find them are there, is checked every time.
"""

import ast
import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

import discreet
from discreet.audit.mechanisms import FAMILIES, registry
from mutations import planting
from mutations.planted import BUGS, Bug
from mutations.planting import TESTS, plant, run_audits, run_tests

PAGE = TESTS.parent / "docs" / "planted-bugs.md"
TIMEOUT = 600.0
_FIRST_WORDS = '"""Every exception t'
NOTHING = Bug(name="none", file="errors.py", before=_FIRST_WORDS, after=_FIRST_WORDS, tests=())


@pytest.mark.parametrize(
    "bug", [pytest.param(bug, id=bug.name, marks=[pytest.mark.nightly] * (not bug.always)) for bug in BUGS]
)
def test_a_planted_bug_is_found(bug, tmp_path):
    """At least one of the named tests fails in a copy of the package that has the bug."""
    code, found = run_tests(bug.tests, plant(bug, tmp_path), timeout=TIMEOUT)
    assert code == 1, f"nobody found: {bug.name}"
    assert found is not None


def test_one_bug_of_each_room_is_always_planted():
    """The rooms that hold bugs at all."""
    assert {room_of(bug) for bug in BUGS if bug.always} == {room_of(bug) for bug in BUGS}


def room_of(bug):
    return bug.file.split("/")[0]


@pytest.mark.parametrize("bug", [pytest.param(bug, id=bug.name) for bug in BUGS])
def test_a_bug_can_be_planted_and_names_tests_that_are_there(bug):
    """Its text stands in its file exactly once, and what takes its place is Python; a test of every name exists."""
    text = (Path(discreet.__file__).parent / bug.file).read_text(encoding="utf-8")
    assert text.count(bug.before) == 1
    ast.parse(text.replace(bug.before, bug.after))
    assert bug.before != bug.after
    for test in bug.tests:
        file, _, name = test.partition("::")
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        there = {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}
        assert not name or name.split("[")[0].split("::")[-1] in there


# Half a minute each: by night.
@pytest.mark.nightly
@pytest.mark.parametrize("bug", [pytest.param(bug, id=bug.name) for bug in BUGS if bug.audits])
def test_a_planted_bug_is_convicted_by_an_audit(bug, tmp_path):
    """One of the named audits of the command says violated, of the copy that has the bug."""
    assert run_audits(bug.audits, plant(bug, tmp_path), timeout=TIMEOUT) is not None, f"no audit convicts: {bug.name}"


def test_an_audit_of_a_copy_without_a_bug_convicts_nobody(tmp_path):
    """The runner itself plants nothing, and reads the command's answer."""
    assert run_audits(("rounded Laplace",), plant(NOTHING, tmp_path), timeout=TIMEOUT) is None


def test_an_audit_convicts_a_planted_bug(tmp_path):
    """Of many, the cheapest; all of them by night."""
    (bug,) = (bug for bug in BUGS if bug.name == "noise scale halved")
    assert run_audits(bug.audits, plant(bug, tmp_path), timeout=TIMEOUT) == "rounded Laplace"


def test_audits_find_three_bugs_of_each_room():
    """Noise, the functional mechanism, descent, and exact draws; names are those of the registry."""
    audits = {name: bug.name for bug in BUGS for name in bug.audits}
    assert set(audits) <= set(registry())
    rooms = {"noise": 0, "gram": 0, "descent": 0, "sampling": 0}
    for bug in BUGS:
        for room in rooms:
            family = {entry.name for entry in vars(import_module(f"discreet.audit.cases.{room}"))[FAMILIES[room]]}
            rooms[room] += bool(family & set(bug.audits))
    assert min(rooms.values()) >= 3, rooms


def test_a_copy_without_a_bug_passes(tmp_path):
    """The runner itself breaks nothing: tests pass against an unchanged copy."""
    path = plant(NOTHING, tmp_path)
    assert run_tests(("privacy/test_release.py", "lattice/test_coins.py"), path, timeout=TIMEOUT) == (0, None)


def test_nightly_tests_are_run_where_they_are_named(monkeypatch, tmp_path):
    """Whole files without their nightly tests, before what is named; nothing after the first that fails."""
    file, named, seen, codes = "lattice/test_coins.py", "audit/test_sight.py::test_one", [], [0, 1, 1]
    monkeypatch.setattr(planting, "_run", lambda *given, **_: seen.append(given) or (codes.pop(0), None))
    assert run_tests((named, file), tmp_path, timeout=1.0) == (1, None)
    assert seen == [
        ([str(TESTS / file)], ("-m", "not nightly"), tmp_path),
        ([str(TESTS / named)], (), tmp_path),
    ]
    assert run_tests((named, file), tmp_path, timeout=1.0) == (1, None)
    assert len(seen) == 3


def test_a_bug_that_cannot_be_planted_is_an_error(tmp_path):
    """A text that is not there, or there twice, would plant nothing."""
    with pytest.raises(LookupError, match="0 times"):
        plant(replace(NOTHING, before="no such text"), tmp_path)


def test_the_table_of_planted_bugs_is_complete():
    """Every bug has a line; who found it is one of its tests, and what convicts it one of its audits."""
    lines = re.findall(r"^\| (.+?) \| `.+?` \| `(.+?)` \| (.+?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    rows = {name: found for name, *found in lines}
    assert set(rows) == {bug.name for bug in BUGS}
    for bug in BUGS:
        found, convicted_by = rows[bug.name]
        assert found.startswith(tuple(test.split("::")[0] for test in bug.tests))
        assert (Path(TESTS) / found.split("::")[0]).is_file()
        assert convicted_by in (bug.audits or ("-",))
