"""The list of tests that coverage does not trace."""

import ast
from functools import cache
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).parent
NAMES = [line for line in (HERE / "untraced.txt").read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


@cache
def functions_of(file):
    """Return the names of all functions of a file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}


def test_every_test_of_the_list_is_there():
    """A name that is gone would hide that its successor is traced."""
    for name in NAMES:
        file, _, path = name.partition("::")
        assert not path or path.split("::")[-1] in functions_of(HERE / file), name
        assert (HERE / file).is_file(), name


def test_the_list_is_sorted_and_names_nothing_twice():
    """So that two changes to it meet where they belong."""
    assert sorted(set(NAMES)) == NAMES


def test_coverage_rests_during_the_tests_of_the_list(pytestconfig):
    """What is on the list gets the marker that pytest-cov knows, every case of it, and nothing else does."""
    (settings,) = (one for one in pytestconfig.pluginmanager.get_plugins() if hasattr(one, "UNTRACED"))
    file, _, name = next(one for one in NAMES if "::" in one).partition("::")
    marked = []
    items = [
        SimpleNamespace(nodeid=f"{HERE.name}/{file}::{test}", path=HERE / file, add_marker=marked.append)
        for test in (name, f"{name}[1-a::b]", f"{name}_too")
    ]
    settings.pytest_collection_modifyitems(items)
    assert marked == ["no_cover"] * 2
