"""Write docs/planted-bugs.md, on purpose; how, the page says."""

from __future__ import annotations

import tempfile
from pathlib import Path

from mutations.planted import BUGS
from mutations.planting import plant, run_tests

HEAD = """\
# Planted bugs

Each of these bugs was planted in a copy of the package, one at a time, and at least one test had to fail.
`make test` plants them again.
`PYTHONPATH=tests python tests/mutations/table.py > docs/planted-bugs.md` writes this page.

| planted bug | in | found by |
| --- | --- | --- |
"""


def row(name: str, file: str, found: str) -> str:
    """Return a line of the table."""
    return f"| {name} | `{file}` | `{found}` |"


def table() -> str:
    """Plant every bug and return the page."""
    rows = []
    for bug in BUGS:
        with tempfile.TemporaryDirectory() as folder:
            code, found = run_tests(bug.tests, plant(bug, Path(folder)), timeout=600)
        rows.append(row(bug.name, bug.file, found if code == 1 and found else "NOBODY"))
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(table(), end="")  # noqa: T201  (the page itself)
