"""Bugs to be planted one at a time: what is changed, and which tests must find it. They stand in planted.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Bug:
    """One planted bug.

    Parameters
    ----------
    name : str
        What is wrong, in words.
    file : str
        The file of the package that is changed.
    before, after : str
        A text, which must stand in the file exactly once, and what takes its place.
    tests : tuple of str
        Tests, below the folder of tests, of which at least one must fail.
    audits : tuple of str
        Names of audits of ours, of which at least one must convict; none where no audit looks there.
    always : bool
        Whether `make test` plants it, one bug a room; `make nightly` plants all.
    """

    name: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]
    audits: tuple[str, ...] = ()
    always: bool = False


_STORED = tomllib.loads((Path(__file__).parent / "planted.toml").read_text(encoding="utf-8"))
BUGS = tuple(
    Bug(**(entry | {"tests": tuple(entry["tests"]), "audits": tuple(entry.get("audits", ()))}))
    for entry in _STORED["bug"]
)
