"""Write the catalogue of error messages: `python docs/list_errors.py > docs/errors.md`, on purpose.

`python docs/list_errors.py --check` writes nothing and ends with 1 where that page is not up to date.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "discreet"
# The class of an error, and the exit code of the command where it ends one.
CODES = {
    "WrongUsage": 2,
    "BudgetExceeded": 3,
    "InvalidArgument": 1,
    "InvalidType": 1,
    "InvalidData": 1,
    "InvalidFormula": 1,
    "NoSoundConversion": 1,
    "AdjacencyMismatch": 1,
    "IncompatiblePlan": 1,
    "LedgerUnusable": 1,
    "DiscreetError": 1,
}
_HEAD = """\
# Error messages

Made by `python docs/list_errors.py > docs/errors.md` from the source; a test compares.
A message says what was asked, what was found and what to do; `…` stands for a name, a type or a declared number, never for a cell.
The command prints one line and ends with the exit code: 0 done, 1 bad input or data, 2 wrong usage, 3 budget refused, 4 an audit found a violation.
"""


def messages() -> dict[str, list[tuple[str, str]]]:
    """Return (module, message) of every error that the source can raise, by class."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for path in sorted(SOURCE.rglob("*.py")):
        module = str(path.relative_to(SOURCE)).removesuffix(".py").replace("/", ".")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args:
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                text = template(node.args[0]) if name in CODES else None
                if text is not None and re.search(r"[a-z]", text.replace("…", "")):
                    found[name].add((module, text))
    return {name: sorted(entries) for name, entries in found.items()}


def template(node: ast.expr) -> str | None:
    """Return a message with `…` for what is put into it; None where it is made elsewhere."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else "…" for part in node.values]
        return re.sub("…(…)+", "…", "".join(map(str, parts)))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return "".join(template(side) or "…" for side in (node.left, node.right))
    return None


def catalogue() -> str:
    """Return the page."""
    lines = [_HEAD]
    for name, entries in sorted(messages().items(), key=lambda item: (CODES[item[0]], item[0])):
        lines.append(f"\n## {name}: exit code {CODES[name]}\n")
        lines += [f"- {' '.join(text.split())} *({module})*" for module, text in entries]
    return "\n".join(lines) + "\n"


def check() -> str:
    """Return what is to be done where the page differs from the source; nothing where it does not."""
    page = Path(__file__).with_name("errors.md").read_text(encoding="utf-8")
    return "" if page == catalogue() else "docs/errors.md is old: run `python docs/list_errors.py > docs/errors.md`."


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(check() or 0)
    print(catalogue(), end="")
