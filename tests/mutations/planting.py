"""A copy of the package with one bug in it, and the tests that are run against it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import discreet

if TYPE_CHECKING:
    from mutations.planted import Bug

# The exit code of `discreet audit` where a claim is false.
VIOLATED = 4
TESTS = Path(__file__).parent.parent
_FAILED = re.compile(r"^(?:FAILED|ERROR) (?:\S*?tests/)?(\S+?)(?:\[.*)?(?: - .*)?$", re.MULTILINE)


def plant(bug: Bug, folder: Path) -> Path:
    """Copy the package into `folder`, change it, and return what PYTHONPATH must hold."""
    home = Path(discreet.__file__).parent
    copy = folder / "planted" / "discreet"
    shutil.copytree(home, copy, ignore=shutil.ignore_patterns("__pycache__"))
    file = copy / bug.file
    text = file.read_text(encoding="utf-8")
    if text.count(bug.before) != 1:
        raise LookupError(
            f"{bug.name}: {bug.file} holds the text to be changed {text.count(bug.before)} times, not once."
        )
    text = text.replace(bug.before, bug.after)
    file.write_text(text, encoding="utf-8")
    return copy.parent


def _environment(path: Path) -> dict[str, str]:
    """Return what a subprocess needs to see the package at `path`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("COV_", "PYTEST_"))}
    kept.pop("DISCREET_INSTALLED", None)
    return kept | {"PYTHONPATH": str(path)}


def run_audits(audits: tuple[str, ...], path: Path, *, timeout: float) -> str | None:
    """Audit the package at `path` by the command, one mechanism after the other; return the first that is convicted."""
    for name in audits:
        done = subprocess.run(
            [sys.executable, "-m", "discreet", "audit", name, "--seed", "4"],
            cwd=path,
            env=_environment(path),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if done.returncode == VIOLATED and f"{name}: violated" in done.stdout:
            return name
    return None


def run_tests(tests: tuple[str, ...], path: Path, *, timeout: float) -> tuple[int, str | None]:
    """Run tests against the package at `path`, up to the first failure; return the code and what failed.

    Of whole files the nightly tests are left out; what is named is run whenever it is usually run.
    """
    there = [str(TESTS / test) for test in tests if (TESTS / test.split("::")[0]).exists()]
    whole, named = ([place for place in there if ("::" in place) == is_named] for is_named in (False, True))
    code, found = 0, None
    for places, chosen in ((whole, ("-m", "not nightly")), (named, ())):
        if places and code == 0:
            code, found = _run(places, chosen, path, timeout=timeout)
    return code, found


def _run(places: list[str], chosen: tuple[str, ...], path: Path, *, timeout: float) -> tuple[int, str | None]:
    """Run pytest on some places in a process of its own."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *chosen]
    done = subprocess.run(
        [*command, "-c", str(TESTS.parent / "pyproject.toml"), "--rootdir", str(TESTS.parent), *places],
        cwd=path,
        env=_environment(path),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    found = _FAILED.search(done.stdout)
    return done.returncode, found[1] if found else None
