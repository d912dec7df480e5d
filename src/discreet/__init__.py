"""Differentially private regressions and statistics from private tables.

The public names are imported when they are used, so that `import discreet` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.errors import AdjacencyMismatch as AdjacencyMismatch
    from discreet.errors import BudgetExceeded as BudgetExceeded
    from discreet.errors import ClassLabelsWarning as ClassLabelsWarning
    from discreet.errors import DiscreetError as DiscreetError
    from discreet.errors import DiscreetWarning as DiscreetWarning
    from discreet.errors import IncompatiblePlan as IncompatiblePlan
    from discreet.errors import InvalidArgument as InvalidArgument
    from discreet.errors import InvalidData as InvalidData
    from discreet.errors import InvalidFormula as InvalidFormula
    from discreet.errors import LargeDeltaWarning as LargeDeltaWarning
    from discreet.errors import LedgerUnusable as LedgerUnusable
    from discreet.errors import NoiseDominatedWarning as NoiseDominatedWarning
    from discreet.errors import NoLedgerWarning as NoLedgerWarning
    from discreet.errors import NoSoundConversion as NoSoundConversion
    from discreet.estimators.frank_wolfe import FrankWolfeLinearRegression as FrankWolfeLinearRegression
    from discreet.estimators.frank_wolfe import FrankWolfeLogisticRegression as FrankWolfeLogisticRegression
    from discreet.estimators.front_door import LinearRegression as LinearRegression
    from discreet.estimators.front_door import LogisticRegression as LogisticRegression
    from discreet.estimators.front_door import PoissonRegression as PoissonRegression
    from discreet.estimators.functional import FunctionalLinearRegression as FunctionalLinearRegression
    from discreet.estimators.functional import FunctionalLogisticRegression as FunctionalLogisticRegression
    from discreet.estimators.k_norm import KNormGradientLinearRegression as KNormGradientLinearRegression
    from discreet.estimators.k_norm import KNormGradientLogisticRegression as KNormGradientLogisticRegression
    from discreet.estimators.pca import PrivatePCA as PrivatePCA
    from discreet.estimators.perturbed import PerturbedLogisticRegression as PerturbedLogisticRegression
    from discreet.estimators.quantile import KNormGradientQuantileRegression as KNormGradientQuantileRegression
    from discreet.estimators.scaler import BoundsScaler as BoundsScaler
    from discreet.estimators.search import PrivateSearch as PrivateSearch
    from discreet.estimators.sparse import SparseLinearRegression as SparseLinearRegression
    from discreet.estimators.sparse import SparseLogisticRegression as SparseLogisticRegression
    from discreet.estimators.two_stage import TwoStageLinearRegression as TwoStageLinearRegression
    from discreet.estimators.two_stage import TwoStageLogisticRegression as TwoStageLogisticRegression
    from discreet.functional.forecast import Forecast as Forecast
    from discreet.functional.forecast import forecast as forecast
    from discreet.functional.logit import LogisticObjective as LogisticObjective
    from discreet.functional.moments import Moments as Moments
    from discreet.functional.moments import release_moments as release_moments
    from discreet.functional.objectives import QuadraticObjective as QuadraticObjective
    from discreet.functional.objectives import SquaredObjective as SquaredObjective
    from discreet.lattice.bounds import Box as Box
    from discreet.lattice.bounds import Interval as Interval
    from discreet.models.result import RegressionResult as RegressionResult
    from discreet.privacy.adjacency import AddRemove as AddRemove
    from discreet.privacy.adjacency import Replace as Replace
    from discreet.privacy.budgets import Approx as Approx
    from discreet.privacy.budgets import Gdp as Gdp
    from discreet.privacy.budgets import Pure as Pure
    from discreet.privacy.budgets import Zcdp as Zcdp
    from discreet.privacy.coins import Coins as Coins
    from discreet.privacy.curves.composition import compose_plan as compose_plan
    from discreet.privacy.curves.piecewise import PiecewiseLinear as PiecewiseLinear
    from discreet.privacy.curves.runtimes import geometric_runtime as geometric_runtime
    from discreet.privacy.curves.tradeoff import TradeoffFunction as TradeoffFunction
    from discreet.privacy.ledger import Ledger as Ledger
    from discreet.privacy.release import Release as Release
    from discreet.privacy.release import release as release
    from discreet.report.page import write_report as write_report
    from discreet.sampling.k_norm.targets import KNormGradient as KNormGradient
    from discreet.sampling.mechanisms import Draw as Draw
    from discreet.sampling.mechanisms import sample as sample
    from discreet.sampling.policies import BlockRestart as BlockRestart
    from discreet.sampling.policies import ConstantAcceptance as ConstantAcceptance
    from discreet.sampling.policies import CoolDown as CoolDown
    from discreet.sampling.policies import Plain as Plain
    from discreet.sampling.policies import Squeeze as Squeeze
    from discreet.sampling.policies import Truncated as Truncated
    from discreet.sampling.quantiles.quantile_release import median as median
    from discreet.sampling.quantiles.quantile_release import quantile as quantile
    from discreet.sampling.targets.bases import Custom as Custom
    from discreet.sampling.targets.bases import Normal as Normal
    from discreet.sampling.targets.bases import Uniform as Uniform
    from discreet.sampling.targets.candidates import FiniteCandidates as FiniteCandidates
    from discreet.sampling.targets.common_envelopes import Posterior as Posterior
    from discreet.sampling.targets.common_envelopes import SyntheticData as SyntheticData
    from discreet.sampling.targets.concave import StronglyConcave as StronglyConcave
    from discreet.sampling.targets.holder import Discretized as Discretized
    from discreet.sampling.targets.holder import LogHoelder as LogHoelder
    from discreet.sampling.targets.lipschitz import GaussianBase as GaussianBase
    from discreet.sampling.targets.lipschitz import Lipschitz as Lipschitz
    from discreet.sampling.targets.log_concave import LogConcave as LogConcave
    from discreet.sampling.targets.posterior import posterior_draw as posterior_draw
    from discreet.sampling.targets.user_targets import UserTarget as UserTarget
    from discreet.tables.schema.columns import Category as Category
    from discreet.tables.schema.columns import Date as Date
    from discreet.tables.schema.columns import Flag as Flag
    from discreet.tables.schema.columns import Number as Number
    from discreet.tables.schema.schema import Schema as Schema

_HOMES = {
    "AddRemove": "privacy.adjacency",
    "AdjacencyMismatch": "errors",
    "Approx": "privacy.budgets",
    "BlockRestart": "sampling.policies",
    "BoundsScaler": "estimators.scaler",
    "Box": "lattice.bounds",
    "BudgetExceeded": "errors",
    "Category": "tables.schema.columns",
    "ClassLabelsWarning": "errors",
    "Coins": "privacy.coins",
    "ConstantAcceptance": "sampling.policies",
    "CoolDown": "sampling.policies",
    "Custom": "sampling.targets.bases",
    "Date": "tables.schema.columns",
    "DiscreetError": "errors",
    "DiscreetWarning": "errors",
    "Discretized": "sampling.targets.holder",
    "Draw": "sampling.mechanisms",
    "FiniteCandidates": "sampling.targets.candidates",
    "Flag": "tables.schema.columns",
    "Forecast": "functional.forecast",
    "FrankWolfeLinearRegression": "estimators.frank_wolfe",
    "FrankWolfeLogisticRegression": "estimators.frank_wolfe",
    "FunctionalLinearRegression": "estimators.functional",
    "FunctionalLogisticRegression": "estimators.functional",
    "GaussianBase": "sampling.targets.lipschitz",
    "Gdp": "privacy.budgets",
    "IncompatiblePlan": "errors",
    "Interval": "lattice.bounds",
    "InvalidArgument": "errors",
    "InvalidData": "errors",
    "InvalidFormula": "errors",
    "KNormGradient": "sampling.k_norm.targets",
    "KNormGradientLinearRegression": "estimators.k_norm",
    "KNormGradientLogisticRegression": "estimators.k_norm",
    "KNormGradientQuantileRegression": "estimators.quantile",
    "Ledger": "privacy.ledger",
    "LargeDeltaWarning": "errors",
    "LedgerUnusable": "errors",
    "LinearRegression": "estimators.front_door",
    "Lipschitz": "sampling.targets.lipschitz",
    "LogConcave": "sampling.targets.log_concave",
    "LogHoelder": "sampling.targets.holder",
    "LogisticObjective": "functional.logit",
    "LogisticRegression": "estimators.front_door",
    "Moments": "functional.moments",
    "NoLedgerWarning": "errors",
    "NoSoundConversion": "errors",
    "NoiseDominatedWarning": "errors",
    "Normal": "sampling.targets.bases",
    "Number": "tables.schema.columns",
    "PerturbedLogisticRegression": "estimators.perturbed",
    "PiecewiseLinear": "privacy.curves.piecewise",
    "Plain": "sampling.policies",
    "PoissonRegression": "estimators.front_door",
    "Posterior": "sampling.targets.common_envelopes",
    "PrivatePCA": "estimators.pca",
    "PrivateSearch": "estimators.search",
    "Pure": "privacy.budgets",
    "QuadraticObjective": "functional.objectives",
    "RegressionResult": "models.result",
    "Release": "privacy.release",
    "Replace": "privacy.adjacency",
    "Schema": "tables.schema.schema",
    "SparseLinearRegression": "estimators.sparse",
    "SparseLogisticRegression": "estimators.sparse",
    "SquaredObjective": "functional.objectives",
    "Squeeze": "sampling.policies",
    "StronglyConcave": "sampling.targets.concave",
    "SyntheticData": "sampling.targets.common_envelopes",
    "TradeoffFunction": "privacy.curves.tradeoff",
    "Truncated": "sampling.policies",
    "TwoStageLinearRegression": "estimators.two_stage",
    "TwoStageLogisticRegression": "estimators.two_stage",
    "Uniform": "sampling.targets.bases",
    "UserTarget": "sampling.targets.user_targets",
    "Zcdp": "privacy.budgets",
    "compose_plan": "privacy.curves.composition",
    "forecast": "functional.forecast",
    "geometric_runtime": "privacy.curves.runtimes",
    "median": "sampling.quantiles.quantile_release",
    "posterior_draw": "sampling.targets.posterior",
    "quantile": "sampling.quantiles.quantile_release",
    "release": "privacy.release",
    "release_moments": "functional.moments",
    "sample": "sampling.mechanisms",
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
