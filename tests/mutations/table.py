"""Write docs/planted-bugs.md, on purpose; how, the page says."""

from __future__ import annotations

import tempfile
from pathlib import Path

from mutations.planted import BUGS, Bug
from mutations.planting import plant, run_audits, run_tests

HEAD = """\
# Planted bugs

Each of these bugs was planted in a copy of the package, one at a time, and at least one test had to fail.
`make nightly` plants all of them again, and runs the audits that must convict; `make test` plants one a room and checks
that every other one can be planted and that the tests that find it are there.
`PYTHONPATH=tests python tests/mutations/table.py > docs/planted-bugs.md` writes this page.

| planted bug | in | found by | convicted by the audit |
| --- | --- | --- | --- |
"""


def row(bug: Bug, found: str, convicted_by: str) -> str:
    """Return a line of the table."""
    return f"| {bug.name} | `{bug.file}` | `{found}` | {convicted_by} |"


def row_of(bug: Bug) -> str:
    """Plant a bug and return its line."""
    with tempfile.TemporaryDirectory() as folder:
        path = plant(bug, Path(folder))
        code, found = run_tests(bug.tests, path, timeout=600)
        convicted_by = (run_audits(bug.audits, path, timeout=600) or "NOBODY") if bug.audits else "-"
    return row(bug, found if code == 1 and found else "NOBODY", convicted_by)


def table() -> str:
    """Plant every bug and return the page."""
    rows = [row_of(bug) for bug in BUGS]
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(table(), end="")  # noqa: T201  (the page itself)
