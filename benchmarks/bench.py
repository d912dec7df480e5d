"""Run every benchmark, whatever one of them says; end with one table, written as JSON too; exit 1 if one was missed.

    python benchmarks/bench.py                             all scripts, as `make bench` does
    python benchmarks/bench.py startup regress             some of them
    python benchmarks/bench.py --before results/old.json   beside the figures of an earlier run

A script is a file of this folder that reports figures through `timing`. One that crashes, is missing, or runs longer
than `--limit` counts as missed, and the others run all the same.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DEFAULT = HERE / "results" / "latest.json"
THREADS = ("OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Outcome:
    """How one script ended, its figures, and the load of the machine before and after it."""

    script: str
    ended: str
    seconds: float
    load: tuple[float, float]
    figures: list[dict[str, Any]] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether it did not come to its end, so that figures may be missing."""
        return self.ended != "done"

    @property
    def missed(self) -> int:
        """How many targets were missed."""
        return sum(not line["met"] for line in self.figures if "met" in line)


def scripts(folder: Path = HERE) -> list[str]:
    """Return the names of all scripts of a folder, in order."""
    own = Path(__file__).name
    found = (path for path in sorted(folder.glob("*.py")) if path.name != own)
    return [path.stem for path in found if "from timing import" in path.read_text(encoding="utf-8")]


def run(script: str, *, folder: Path = HERE, limit: float = 7200) -> Outcome:
    """Run one script in a process of its own; what it prints goes where ours does."""
    path = folder / f"{script}.py"
    print(f"\n== {script}", flush=True)
    start, load = time.perf_counter(), os.getloadavg()[0]
    lines: list[dict[str, Any]] = []
    if not path.is_file():
        ended = "is missing"
    else:
        with tempfile.TemporaryDirectory() as place:
            kept = Path(place) / "figures"
            code = _code([sys.executable, str(path)], {**os.environ, "DISCREET_FIGURES": str(kept)}, limit)
            if kept.exists():
                lines = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
        ended = _ending(code, lines, limit)
    figures = [line for line in lines if "figure" in line]
    return Outcome(script, ended, time.perf_counter() - start, (load, os.getloadavg()[0]), figures)


def _code(command: list[str], environment: dict[str, str], limit: float) -> int | None:
    """Return the exit code of a command, or None where it was stopped because it took too long."""
    with subprocess.Popen(command, env=environment, start_new_session=True) as process:
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # a session of its own: what it started stops with it
            return None


def _ending(code: int | None, lines: list[dict[str, Any]], limit: float) -> str:
    crashes = [line["crash"] for line in lines if "crash" in line]
    if code is None:
        return f"took longer than {limit:g} s"
    if crashes:
        return f"crashed: {crashes[-1]}"
    # A script may end with 1 because it missed a target; any other end is its failure.
    if code == 0 or (code == 1 and any(line.get("met") is False for line in lines)):
        return "done"
    return f"ended with {code}"


def machine() -> dict[str, Any]:
    """Return what a figure may depend on besides the code."""
    model = platform.processor()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = information.read_text(encoding="utf-8").splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "environment": {name: os.environ[name] for name in THREADS if name in os.environ},
        "commit": _commit(),
        "packages": dict(sorted({found.metadata["Name"]: found.version for found in distributions()}.items())),
    }


def _commit() -> str | None:
    command = ["git", "-C", str(HERE), "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def table(outcomes: list[Outcome], before: dict[tuple[str, str], float] | None = None) -> list[str]:
    """Return the lines of the last table: every figure that has a target, and every script that did not end."""
    earlier = before or {}
    lines = [f"{'script':18s} {'target':66s} {'figure':>10s} {'at':>18s} {'before':>10s}"]
    for outcome in outcomes:
        if outcome.failed:
            lines.append(f"{outcome.script:18s} {outcome.ended:66s} {'':>10s} {'done':>18s} {'':>10s}  MISSED")
        elif not outcome.figures:
            lines.append(f"{outcome.script:18s} reported no figure: see what it printed")
        for line in outcome.figures:
            if "met" not in line:
                continue
            was = earlier.get((outcome.script, line["name"]))
            target = f"{line['bound']} {line['target']:g}"
            lines.append(
                f"{outcome.script:18s} {line['name']:66s} {line['figure']:10.6g} {target:>18s} "
                f"{'' if was is None else format(was, '.4g'):>10s}  {'met' if line['met'] else 'MISSED'}"
            )
    return lines


def read_before(path: Path | None) -> dict[tuple[str, str], float]:
    """Return the figures of an earlier run by script and name."""
    if path is None:
        return {}
    document = json.loads(path.read_text(encoding="utf-8"))
    return {
        (script["script"], line["name"]): line["figure"] for script in document["scripts"] for line in script["figures"]
    }


def main(arguments: list[str] | None = None, *, folder: Path = HERE) -> int:
    """Run scripts, print the table, write the file, and return 1 where a target was missed or a script failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="*", help="names without .py; all where none is given")
    parser.add_argument("--output", type=Path, default=DEFAULT)
    parser.add_argument("--before", type=Path, help="the file of an earlier run")
    parser.add_argument("--limit", type=float, default=7200, help="seconds that one script may take")
    options = parser.parse_args(arguments)
    before = read_before(options.before)  # a wrong path is told now, not after an hour
    options.output.parent.mkdir(parents=True, exist_ok=True)
    document: dict[str, Any] = {"started": datetime.now(UTC).isoformat(timespec="seconds"), "machine": machine()}
    outcomes = [run(script, folder=folder, limit=options.limit) for script in options.scripts or scripts(folder)]
    failed, missed = sum(outcome.failed for outcome in outcomes), sum(outcome.missed for outcome in outcomes)
    document |= {"missed": missed, "failed": failed, "scripts": [asdict(outcome) for outcome in outcomes]}
    options.output.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print("\n" + "\n".join(table(outcomes, before)))
    print(f"{missed} targets missed, {failed} scripts failed; written to {options.output}")
    return 1 if missed or failed else 0


if __name__ == "__main__":
    sys.exit(main())
