"""Differentially private regressions and statistics from private tables.

The public names are imported when they are used, so that `import discreet` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.descent.frank_wolfe_models import FrankWolfeLinearRegression as FrankWolfeLinearRegression
    from discreet.descent.frank_wolfe_models import FrankWolfeLogisticRegression as FrankWolfeLogisticRegression
    from discreet.descent.models import SparseLinearRegression as SparseLinearRegression
    from discreet.descent.models import SparseLogisticRegression as SparseLogisticRegression
    from discreet.descent.perturbed_models import PerturbedLogisticRegression as PerturbedLogisticRegression
    from discreet.descent.search import PrivateSearch as PrivateSearch
    from discreet.descent.two_stage_models import TwoStageLinearRegression as TwoStageLinearRegression
    from discreet.descent.two_stage_models import TwoStageLogisticRegression as TwoStageLogisticRegression
    from discreet.errors import AdjacencyMismatch as AdjacencyMismatch
    from discreet.errors import BudgetExceeded as BudgetExceeded
    from discreet.errors import DiscreetError as DiscreetError
    from discreet.errors import IncompatiblePlan as IncompatiblePlan
    from discreet.errors import InvalidArgument as InvalidArgument
    from discreet.errors import InvalidData as InvalidData
    from discreet.errors import InvalidFormula as InvalidFormula
    from discreet.errors import LedgerUnusable as LedgerUnusable
    from discreet.errors import NoiseDominatedWarning as NoiseDominatedWarning
    from discreet.errors import NoSoundConversion as NoSoundConversion
    from discreet.functional.forecast import Forecast as Forecast
    from discreet.functional.forecast import forecast as forecast
    from discreet.functional.inference import RegressionResult as RegressionResult
    from discreet.functional.logistic import FunctionalLogisticRegression as FunctionalLogisticRegression
    from discreet.functional.logit import LogisticObjective as LogisticObjective
    from discreet.functional.models import FunctionalLinearRegression as FunctionalLinearRegression
    from discreet.functional.moments import Moments as Moments
    from discreet.functional.moments import release_moments as release_moments
    from discreet.functional.objectives import QuadraticObjective as QuadraticObjective
    from discreet.functional.objectives import SquaredObjective as SquaredObjective
    from discreet.lattice.bounds import Box as Box
    from discreet.lattice.bounds import Interval as Interval
    from discreet.lattice.coins import Coins as Coins
    from discreet.privacy.adjacency import AddRemove as AddRemove
    from discreet.privacy.adjacency import Replace as Replace
    from discreet.privacy.budgets import Approx as Approx
    from discreet.privacy.budgets import Gdp as Gdp
    from discreet.privacy.budgets import Pure as Pure
    from discreet.privacy.budgets import Zcdp as Zcdp
    from discreet.privacy.composition import compose_plan as compose_plan
    from discreet.privacy.ledger import Ledger as Ledger
    from discreet.privacy.piecewise import PiecewiseLinear as PiecewiseLinear
    from discreet.privacy.release import Release as Release
    from discreet.privacy.release import release as release
    from discreet.privacy.runtimes import geometric_runtime as geometric_runtime
    from discreet.privacy.tradeoff import TradeoffFunction as TradeoffFunction
    from discreet.report.page import write_report as write_report
    from discreet.tables.columns import Category as Category
    from discreet.tables.columns import Date as Date
    from discreet.tables.columns import Flag as Flag
    from discreet.tables.columns import Number as Number
    from discreet.tables.scaling import BoundsScaler as BoundsScaler
    from discreet.tables.schema import Schema as Schema

_HOMES = {
    "AddRemove": "privacy.adjacency",
    "AdjacencyMismatch": "errors",
    "Approx": "privacy.budgets",
    "BoundsScaler": "tables.scaling",
    "Box": "lattice.bounds",
    "BudgetExceeded": "errors",
    "Category": "tables.columns",
    "Coins": "lattice.coins",
    "Date": "tables.columns",
    "DiscreetError": "errors",
    "Flag": "tables.columns",
    "Forecast": "functional.forecast",
    "FrankWolfeLinearRegression": "descent.frank_wolfe_models",
    "FrankWolfeLogisticRegression": "descent.frank_wolfe_models",
    "FunctionalLinearRegression": "functional.models",
    "FunctionalLogisticRegression": "functional.logistic",
    "Gdp": "privacy.budgets",
    "IncompatiblePlan": "errors",
    "Interval": "lattice.bounds",
    "InvalidArgument": "errors",
    "InvalidData": "errors",
    "InvalidFormula": "errors",
    "Ledger": "privacy.ledger",
    "LedgerUnusable": "errors",
    "LogisticObjective": "functional.logit",
    "Moments": "functional.moments",
    "NoSoundConversion": "errors",
    "NoiseDominatedWarning": "errors",
    "Number": "tables.columns",
    "PerturbedLogisticRegression": "descent.perturbed_models",
    "PrivateSearch": "descent.search",
    "PiecewiseLinear": "privacy.piecewise",
    "Pure": "privacy.budgets",
    "QuadraticObjective": "functional.objectives",
    "RegressionResult": "functional.inference",
    "Release": "privacy.release",
    "Replace": "privacy.adjacency",
    "Schema": "tables.schema",
    "SparseLinearRegression": "descent.models",
    "SparseLogisticRegression": "descent.models",
    "SquaredObjective": "functional.objectives",
    "TradeoffFunction": "privacy.tradeoff",
    "TwoStageLinearRegression": "descent.two_stage_models",
    "TwoStageLogisticRegression": "descent.two_stage_models",
    "Zcdp": "privacy.budgets",
    "compose_plan": "privacy.composition",
    "forecast": "functional.forecast",
    "geometric_runtime": "privacy.runtimes",
    "release": "privacy.release",
    "release_moments": "functional.moments",
    "write_report": "report.page",
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
