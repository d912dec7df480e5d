"""Scripts of benchmarks/, loaded from where they stand."""

import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"


def script(name):
    """Return a script as a module; its folder is on the path only while it loads, for it holds names of rooms."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(BENCHMARKS))
