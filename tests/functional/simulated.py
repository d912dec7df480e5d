"""The simulation of benchmarks/interval_coverage.py, loaded from where it stands."""

import importlib.util
import sys
from pathlib import Path

_path = Path(__file__).parents[2] / "benchmarks" / "interval_coverage.py"
_spec = importlib.util.spec_from_file_location("interval_coverage", _path)
assert _spec is not None
assert _spec.loader is not None
interval_coverage = importlib.util.module_from_spec(_spec)
sys.modules["interval_coverage"] = interval_coverage
_spec.loader.exec_module(interval_coverage)
