"""Scripts of benchmarks/ and experiments/, loaded from where they stand."""

import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BENCHMARKS, EXPERIMENTS = ROOT / "benchmarks", ROOT / "experiments"


def script(name, folder=BENCHMARKS):
    """Return a script as a module; its folder is on the path only while it loads, for it holds names of rooms."""
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
