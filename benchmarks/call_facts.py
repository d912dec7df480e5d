"""What a call runs through: files, checks of adjacency, quotes and prices; and what a command imports.

Run ``python benchmarks/call_facts.py HOW WHAT`` with the package to be measured on the path; it prints a line of JSON.
HOW is "again" or "first" for one of CALLS, and "imports" for one of COMMANDS, or for all of them; "names"
counts what is public at the top, the version aside.

- A *file passed* is a file of the package in which at least one function ran during the call, on any thread. What runs
  while a module is imported does not count, nor do class bodies.
- Files *of the rooms* leave out the command line (cli/) and the modules beside the rooms (_checks, _files, _warnings,
  errors): what is left is the house. Again, in the rooms, gives the 45 and 53 of the first commit of the second plan.
- A call *again* is the second of its kind in a process: modules are there and caches are filled. *First* is the first.
- Adjacency is *checked* by a call of `check_adjacency`, but for the one by which a ledger or a schema checks what it is
  made of. A plan is *quoted* by `Ledger.quote`. It is *priced* where an event works out what it costs by its theorem:
  the number is that of the event that does so most often.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import json
import os
import sys
import threading
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

FORMULA = "hours_per_week ~ age + education_num + sex"
FIT = ("fit", "adult.csv", "--schema", "adult.toml", FORMULA, "--epsilon", "1")
PAID = ("--ledger", "adult.ledger", "--total-epsilon", "100")
_LOGISTIC = ("fit", "adult.csv", "--schema", "adult.toml", "income ~ age + sex", "--loss", "logistic", "--epsilon", "1")
_SPARSE = (
    "fit", "--sparse", "words.svm", "--columns", "1000", "--loss", "logistic", "--sparsity", "10", "--row-norm", "1",
    "--classes", "0,1", "--adjacency", "replace", "--epsilon", "1", "--delta", "1e-6", "--no-ledger",
)  # fmt: skip
# Who checks the adjacency that it is itself made of.
MAKERS = (str(Path("privacy", "ledger")), str(Path("tables", "schema")))
# Each command in an order in which the later ones find what they need; what a person would type first.
COMMANDS: dict[str, tuple[str, ...]] = {
    "example": ("example", "adult", "-o", ".", "--force"),
    "init": ("init", "adult.csv", "-o", "draft.toml"),
    "check": ("check", "adult.csv", "--schema", "adult.toml", "--private-output-ok"),
    "plan": ("plan", FORMULA, "--rows", "40000", "--schema", "adult.toml", "--epsilon", "1"),
    "fit": (*FIT, *PAID, "-o", "fit.json"),
    "fit --method auto": (*FIT, *PAID, "--method", "auto", "-o", "auto.json"),
    "fit --method moments": (*FIT, *PAID, "--method", "moments", "-o", "moments.json"),
    "fit --method descent": (*FIT, *PAID, "--method", "descent", "-o", "descent.json"),
    "fit --loss logistic": (*_LOGISTIC, *PAID, "-o", "logistic.json"),
    "fit --loss logistic --method auto": (*_LOGISTIC, *PAID, "--method", "auto", "-o", "front.json"),
    "fit of sparse rows": (*_SPARSE, "-o", "sparse.json"),
    "release": ("release", "adult.csv", "--schema", "adult.toml", "--epsilon", "1", *PAID, "-o", "release.json"),
    "fit of a release": ("fit", "release.json", FORMULA, "-o", "free.json"),
    "sample median": ("sample", "adult.csv", "median", "age", "--schema", "adult.toml", "--epsilon", "1", *PAID),
    "sample pca": ("sample", "adult.csv", "pca", "--schema", "adult.toml", "--epsilon", "1", *PAID, "--no-output"),
    "predict": ("predict", "fit.json", "adult.csv", "-o", "predictions.csv"),
    "ledger": ("ledger", "adult.ledger"),
    "show": ("show", "fit.json"),
    "report": ("report", "fit.json", "-o", "report.html"),
}


def package() -> str:
    """Return the folder of the package that this process imports, with a slash at its end."""
    spec = importlib.util.find_spec("discreet")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent) + os.sep


def _during_import(frame: FrameType | None, root: str) -> bool:
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(root):
            return True
        frame = frame.f_back
    return False


@dataclass
class Seen:
    """What ran during a call: functions by file and qualified name, checks of adjacency, prices of each event."""

    functions: Counter[tuple[str, str]] = field(default_factory=Counter)
    checks: int = 0
    prices: Counter[int] = field(default_factory=Counter)
    events: list[object] = field(default_factory=list)  # kept, so that no two have one identity


def calls(what: Callable[[], object]) -> Seen:
    """Return what runs of the package during a call."""
    seen = Seen()
    root = package()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        del argument
        code = frame.f_code
        is_function = code.co_flags & inspect.CO_OPTIMIZED  # neither a module's top nor a class body
        if event != "call" or not is_function or not code.co_filename.startswith(root):
            return
        if _during_import(frame.f_back, root):
            return
        file = code.co_filename.removeprefix(root)
        seen.functions[file, code.co_qualname] += 1
        if code.co_name == "check_adjacency" and frame.f_back is not None:
            seen.checks += not frame.f_back.f_code.co_filename.removeprefix(root).startswith(MAKERS)
        elif code.co_qualname.endswith("Event.price"):
            seen.prices[id(frame.f_locals["self"])] += 1
            seen.events.append(frame.f_locals["self"])

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        what()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return seen


def facts(seen: Seen) -> dict[str, Any]:
    """Return what is told of a call: its files, and how often it checks, quotes and prices."""
    files = sorted({file for file, _ in seen.functions})
    return {
        "files": files,
        "rooms": [file for file in files if os.sep in file and not file.startswith("cli" + os.sep)],
        "checked": seen.checks,
        "quoted": sum(times for (_, name), times in seen.functions.items() if name == "Ledger.quote"),
        "priced": max(seen.prices.values(), default=0),
    }


def _arrays() -> tuple[Any, Any]:
    import numpy as np

    X = np.random.default_rng(0).uniform(-1, 1, size=(1_000, 5))
    return X, X.mean(axis=1)


def _model(budget: Any) -> Any:
    import discreet as dp

    return dp.LinearRegression(
        budget=budget, adjacency=dp.Replace(), x_bounds=dp.Box(lower=-1, upper=1), y_bounds=dp.Interval(-1, 1)
    )


def fit_on_arrays() -> Callable[[], Any]:
    """Return a call of `LinearRegression.fit` on 1,000 rows of five columns, without a ledger, settings by default."""
    from discreet import Gdp

    (X, y), model = _arrays(), _model(Gdp(mu=1))
    return lambda: model.fit(X, y)


def fit_from_a_ledger() -> Callable[[], Any]:
    """Return the same, paid from a ledger that adds up in two currencies at once."""
    import discreet as dp

    (X, y), model = _arrays(), _model(dp.Approx(epsilon=1, delta="1e-6"))
    ledger = dp.Ledger(total=dp.Approx(epsilon=10, delta="1e-4"), adjacency=dp.Replace())
    return lambda: model.fit(X, y, ledger=ledger)


def run_command(*arguments: str) -> int:
    """Run a command in this process, without its output."""
    from discreet.cli.main import main

    with contextlib.redirect_stdout(io.StringIO()):
        return main(list(arguments))


def fit_of_command() -> Callable[[], Any]:
    """Return a call of `discreet fit` on the shipped Adult, in a folder that holds it."""

    def fit() -> None:
        if run_command(*FIT, *PAID, "-o", "model.json", "--force"):
            raise SystemExit("`discreet fit` failed on the shipped Adult.")

    return fit


CALLS = {"fit on arrays": fit_on_arrays, "fit from a ledger": fit_from_a_ledger, "discreet fit": fit_of_command}


def imports_of(command: str) -> dict[str, Any]:
    """Run a command, and return its exit code and which heavy packages this process has loaded."""
    code = run_command(*COMMANDS[command])
    return {"code": code, "heavy": [name for name in ("sklearn", "scipy.stats") if name in sys.modules]}


def imports_of_each() -> dict[str, dict[str, Any]]:
    """Run every command in a process of its own, each a copy of this one, which has loaded what all of them need."""
    import numpy as np
    import pyarrow as pa

    import discreet.cli.main

    del np, pa, discreet
    return {command: _in_a_copy(command) for command in COMMANDS}


def _in_a_copy(command: str) -> dict[str, Any]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        told: dict[str, Any] = {"code": None, "heavy": []}
        try:
            told = imports_of(command)
        finally:
            os.write(writer, json.dumps(told).encode())
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        told = json.loads(pipe.read())
    os.waitpid(child, 0)
    return told


def main() -> None:
    """Measure one call, again or first, or one command's imports, in the present folder."""
    warnings.simplefilter("ignore")
    how, what = sys.argv[1:]
    if how == "names":
        import discreet

        print(json.dumps({"names": len(set(dir(discreet)) - {"__version__"})}))
        return
    Path("words.svm").write_text("".join(f"{k % 2} {k + 1}:1 {k + 50}:0.5\n" for k in range(200)), encoding="utf-8")
    if how == "imports":
        print(json.dumps(imports_of_each() if what == "all" else imports_of(what)))
        return
    call = CALLS[what]()
    if how == "again":
        call()
    print(json.dumps(facts(calls(call))))


if __name__ == "__main__":
    main()
