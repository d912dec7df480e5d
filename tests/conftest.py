"""Settings of all tests."""

import functools
import os
from pathlib import Path

import typer.main
from hypothesis import settings

# `make test` tries the same examples every time, so that a red run means a change; `make nightly` looks for new ones.
# No deadlines: the machine may be busy.
settings.register_profile("same examples", derandomize=True, deadline=None)
settings.register_profile("new examples", deadline=None)
settings.load_profile(os.environ.get("DISCREET_HYPOTHESIS", "same examples"))
# Typer builds its commands anew at every call, which takes longer than most of them. A process of a user calls once.
typer.main.get_command = functools.cache(typer.main.get_command)
UNTRACED = {
    line
    for line in (Path(__file__).parent / "untraced.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
}


def pytest_collection_modifyitems(items):
    """Let coverage rest during tests whose lines others run, too: they take half the time without it."""
    for item in items:
        file = item.path.relative_to(Path(__file__).parent).as_posix()
        name = item.nodeid.partition("[")[0].partition("::")[2]
        if {file, f"{file}::{name}"} & UNTRACED:
            item.add_marker("no_cover")
