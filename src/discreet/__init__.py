"""Differentially private regressions and statistics from private tables.

The public names are imported when they are used, so that `import discreet` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.errors import AdjacencyMismatch as AdjacencyMismatch
    from discreet.errors import BudgetExceeded as BudgetExceeded
    from discreet.errors import DiscreetError as DiscreetError
    from discreet.errors import IncompatiblePlan as IncompatiblePlan
    from discreet.errors import InvalidArgument as InvalidArgument
    from discreet.errors import InvalidData as InvalidData
    from discreet.errors import InvalidFormula as InvalidFormula
    from discreet.errors import LedgerUnusable as LedgerUnusable
    from discreet.errors import NoSoundConversion as NoSoundConversion
    from discreet.functional.inference import RegressionResult as RegressionResult
    from discreet.functional.models import FunctionalLinearRegression as FunctionalLinearRegression
    from discreet.functional.moments import Moments as Moments
    from discreet.functional.moments import release_moments as release_moments
    from discreet.lattice.bounds import Box as Box
    from discreet.lattice.bounds import Interval as Interval
    from discreet.lattice.coins import Coins as Coins
    from discreet.privacy.adjacency import AddRemove as AddRemove
    from discreet.privacy.adjacency import Replace as Replace
    from discreet.privacy.budgets import Approx as Approx
    from discreet.privacy.budgets import Gdp as Gdp
    from discreet.privacy.budgets import Pure as Pure
    from discreet.privacy.budgets import Zcdp as Zcdp
    from discreet.privacy.ledger import Ledger as Ledger
    from discreet.privacy.release import Release as Release
    from discreet.privacy.release import release as release
    from discreet.tables.schema import Category as Category
    from discreet.tables.schema import Flag as Flag
    from discreet.tables.schema import Number as Number
    from discreet.tables.schema import Schema as Schema

_HOMES = {
    "AddRemove": "privacy.adjacency",
    "AdjacencyMismatch": "errors",
    "Approx": "privacy.budgets",
    "Box": "lattice.bounds",
    "BudgetExceeded": "errors",
    "Category": "tables.schema",
    "Coins": "lattice.coins",
    "DiscreetError": "errors",
    "Flag": "tables.schema",
    "FunctionalLinearRegression": "functional.models",
    "Gdp": "privacy.budgets",
    "IncompatiblePlan": "errors",
    "Interval": "lattice.bounds",
    "InvalidArgument": "errors",
    "InvalidData": "errors",
    "InvalidFormula": "errors",
    "Ledger": "privacy.ledger",
    "LedgerUnusable": "errors",
    "Moments": "functional.moments",
    "NoSoundConversion": "errors",
    "Number": "tables.schema",
    "Pure": "privacy.budgets",
    "RegressionResult": "functional.inference",
    "Release": "privacy.release",
    "Replace": "privacy.adjacency",
    "Schema": "tables.schema",
    "Zcdp": "privacy.budgets",
    "release": "privacy.release",
    "release_moments": "functional.moments",
}

__all__ = sorted([*_HOMES, "__version__"])  # noqa: PLE0605  (one list, kept beside the homes)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("discreet")
    if name in _HOMES:
        from importlib import import_module

        value = getattr(import_module(f"discreet.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'discreet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
