"""The measures of the house: one table of what a checkout is, beside an earlier one, with the targets of the plan.

    python benchmarks/house.py                       this checkout
    python benchmarks/house.py --before 3634771      beside a commit, or a folder that holds another checkout
    python benchmarks/house.py --source /somewhere   another checkout instead of this one

What is counted, and how, is said in `source_facts` (of the text) and `call_facts` (of calls). `tests/test_house.py`
holds the targets that are structure.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from call_facts import CALLS
from source_facts import Source
from timing import report, show

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
# Of the first commit of the second plan, 3634771, as this script counts them.
LINES_AT_FIRST, ESTIMATORS_AT_FIRST = 30_028, 5_370
# Names of two things that are no two homes of one idea.
TWO_SENSES = {
    "Coordinate": "a score of an audit; a selector of steps",
    "Entry": "a mechanism in the audit's registry; a charge in a ledger",
    "Event": "a set of outputs that an audit counts; what a release does",
    "Finding": "what a clock shows of a sampler; what a result says to its reader",
    "Moments": "released second moments; points in time in a cell",
    "Plain": "a score of an audit; a policy of a sampler",
    "Target": "what is drawn from; the column that is predicted",
}


@dataclass(frozen=True)
class Measure:
    """A number of the house; `most` is its target, if it has one."""

    name: str
    most: float | None = None


MEASURES = {
    "lines": Measure("code lines", round(0.9 * LINES_AT_FIRST)),
    "estimators": Measure("code lines of the estimators", round(0.7 * ESTIMATORS_AT_FIRST)),
    "modules": Measure("modules"),
    "rings": Measure("rings among modules", 0),
    "homes": Measure("class names with two homes in one sense", 0),
    "crowd": Measure("most files side by side in a folder, lattice/noise aside", 20),
    "contracts": Measure("lines of import contracts", 12),
    "names": Measure("public names at the top", 48),
    "alone": Measure("modules that nothing imports and no guide names", 0),
    "fit on arrays": Measure("files of the rooms passed by LinearRegression.fit on arrays", 25),
    "discreet fit": Measure("files of the rooms passed by discreet fit on Adult", 35),
    "fit on arrays, all": Measure("all files passed by LinearRegression.fit on arrays"),
    "discreet fit, all": Measure("all files passed by discreet fit on Adult"),
    "fit on arrays, first": Measure("all files passed by the first LinearRegression.fit of a process"),
    "discreet fit, first": Measure("all files passed by the first discreet fit of a process"),
    "checked": Measure("checks of adjacency, the most of three fits", 1),
    "quoted": Measure("quotes of a plan, the most of three fits", 1),
    "priced": Measure("prices of a plan, the most of three fits", 1),
    "heavy": Measure("commands but audit that import scikit-learn or scipy.stats", 0),
}


def of_text(source: Source) -> dict[str, Any]:
    """Return what the text of a checkout tells: numbers, and lists where a reader wants the names."""
    folders = {folder: count for folder, count in source.crowded().items() if folder != "lattice/noise"}
    return {
        "lines": source.lines(),
        "estimators": source.lines(source.estimators),
        "modules": len(source.texts),
        "rings": [" - ".join(ring) for ring in source.rings()],
        "homes": [
            f"{name}: {', '.join(homes)}" for name, homes in source.class_homes().items() if name not in TWO_SENSES
        ],
        "crowd": max(folders.values()),
        "contracts": source.contract_lines(),
        "alone": source.alone(),
    }


def ask(checkout: Path, how: str, what: str, folder: Path) -> dict[str, Any]:
    """Measure one call in a process of its own, which imports the package from a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    environment.pop("DISCREET_FIGURES", None)
    command = [sys.executable, str(HERE / "call_facts.py"), how, what]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"`call_facts {how} {what}` ended with {done.returncode}:\n{done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def of_names(checkout: Path) -> dict[str, Any]:
    """Return how many public names a checkout has at the top."""
    return ask(checkout, "names", "all", checkout)


def of_calls(checkout: Path) -> dict[str, Any]:
    """Return what calls of a checkout pass."""
    found: dict[str, Any] = {}
    again = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ask(checkout, "imports", "example", folder)
        for what in CALLS:
            first, again[what] = (ask(checkout, how, what, folder) for how in ("first", "again"))
            found |= {what: len(again[what]["rooms"]), f"{what}, all": len(again[what]["files"])}
            found[f"{what}, first"] = len(first["files"])
    for count in ("checked", "quoted", "priced"):
        found[count] = max(facts[count] for facts in again.values())
    return found


def of_commands(checkout: Path) -> dict[str, Any]:
    """Return which commands of a checkout import what none but `audit` should."""
    with tempfile.TemporaryDirectory() as name:
        told = ask(checkout, "imports", "all", Path(name))
    failed = {command: facts["code"] for command, facts in told.items() if facts["code"] != 0}
    if failed:
        raise RuntimeError(f"Commands ended with another code than 0, see COMMANDS in call_facts: {failed}.")
    return {"heavy": [f"discreet {command}: {', '.join(f['heavy'])}" for command, f in told.items() if f["heavy"]]}


def facts(checkout: Path) -> dict[str, Any]:
    """Return all measures of a checkout."""
    return of_text(Source(checkout)) | of_names(checkout) | of_calls(checkout) | of_commands(checkout)


@contextmanager
def checkout_of(given: str) -> Iterator[Path]:
    """Give the folder itself, or one with the files of a commit of this repository."""
    if Path(given).is_dir():
        yield Path(given).resolve()
        return
    command = ["git", "-C", str(HERE.parent), "archive", given, "src", "docs", "README.md", "pyproject.toml"]
    packed = subprocess.run(command, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as name, tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(name, filter="data")
        yield Path(name)


def number(value: Any) -> float:
    """Return a measure as a number: how many where it is a list."""
    return float(len(value) if isinstance(value, list) else value)


def main() -> int:
    """Print the table, and return 1 where a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", default=str(HERE.parent), help="the checkout, or a commit")
    parser.add_argument("--before", help="another one, to be shown beside it")
    options = parser.parse_args()
    with checkout_of(options.source) as checkout:
        now = facts(checkout)
    if options.before:
        with checkout_of(options.before) as checkout:
            before = facts(checkout)
        print(f"{'':62s} {options.before[-12:]:>12s} {'now':>8s}")
        for key, measure in MEASURES.items():
            print(f"{measure.name:62s} {number(before[key]):12g} {number(now[key]):8g}")
        print()
    met = True
    for key, measure in MEASURES.items():
        if measure.most is None:
            show(measure.name, number(now[key]))
        else:
            met &= report(measure.name, number(now[key]), measure.most, at_most=True)
        for line in now[key] if isinstance(now[key], list) else []:
            print(f"    {line}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
