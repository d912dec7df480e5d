"""How long `import discreet` and `discreet --help` take, as whole processes less an empty interpreter."""

from __future__ import annotations

import statistics
import subprocess
import sys

from timing import report, seconds


def process(*arguments: str) -> float:
    command = [sys.executable, *arguments]
    subprocess.run(command, check=True, capture_output=True)
    return statistics.median(
        seconds(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(11)
    )


def main() -> None:
    empty = process("-c", "pass")
    print(f"empty interpreter {empty:.3f} s")
    report(
        "import discreet, above an empty interpreter",
        process("-c", "import discreet") - empty,
        0.1,
        at_most=True,
        unit="s",
    )
    report("discreet --help, whole process", process("-m", "discreet", "--help"), 0.3, at_most=True, unit="s")


if __name__ == "__main__":
    main()
