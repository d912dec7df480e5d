"""The simulation of benchmarks/interval_coverage.py, loaded from where it stands."""

from scripts_for_tests import script

interval_coverage = script("interval_coverage")
