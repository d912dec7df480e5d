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
    from discreet.regression.models import LinearRegression as LinearRegression
    from discreet.regression.models import LogisticRegression as LogisticRegression
    from discreet.regression.models import PoissonRegression as PoissonRegression
    from discreet.report.page import write_report as write_report
    from discreet.sampling.bases import Custom as Custom
    from discreet.sampling.bases import Normal as Normal
    from discreet.sampling.bases import Uniform as Uniform
    from discreet.sampling.candidates import FiniteCandidates as FiniteCandidates
    from discreet.sampling.common_envelopes import Posterior as Posterior
    from discreet.sampling.common_envelopes import SyntheticData as SyntheticData
    from discreet.sampling.concave import StronglyConcave as StronglyConcave
    from discreet.sampling.holder import Discretized as Discretized
    from discreet.sampling.holder import LogHoelder as LogHoelder
    from discreet.sampling.k_norm_models import KNormGradientLinearRegression as KNormGradientLinearRegression
    from discreet.sampling.k_norm_models import KNormGradientLogisticRegression as KNormGradientLogisticRegression
    from discreet.sampling.k_norm_targets import KNormGradient as KNormGradient
    from discreet.sampling.lipschitz import GaussianBase as GaussianBase
    from discreet.sampling.lipschitz import Lipschitz as Lipschitz
    from discreet.sampling.log_concave import LogConcave as LogConcave
    from discreet.sampling.mechanisms import Draw as Draw
    from discreet.sampling.mechanisms import sample as sample
    from discreet.sampling.pca import PrivatePCA as PrivatePCA
    from discreet.sampling.policies import BlockRestart as BlockRestart
    from discreet.sampling.policies import ConstantAcceptance as ConstantAcceptance
    from discreet.sampling.policies import CoolDown as CoolDown
    from discreet.sampling.policies import Plain as Plain
    from discreet.sampling.policies import Squeeze as Squeeze
    from discreet.sampling.policies import Truncated as Truncated
    from discreet.sampling.posterior import posterior_draw as posterior_draw
    from discreet.sampling.quantile_models import KNormGradientQuantileRegression as KNormGradientQuantileRegression
    from discreet.sampling.quantile_release import median as median
    from discreet.sampling.quantile_release import quantile as quantile
    from discreet.sampling.user_targets import UserTarget as UserTarget
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
    "BlockRestart": "sampling.policies",
    "BoundsScaler": "tables.scaling",
    "Box": "lattice.bounds",
    "BudgetExceeded": "errors",
    "Category": "tables.columns",
    "ClassLabelsWarning": "errors",
    "Coins": "lattice.coins",
    "ConstantAcceptance": "sampling.policies",
    "CoolDown": "sampling.policies",
    "Custom": "sampling.bases",
    "Date": "tables.columns",
    "DiscreetError": "errors",
    "DiscreetWarning": "errors",
    "Discretized": "sampling.holder",
    "Draw": "sampling.mechanisms",
    "FiniteCandidates": "sampling.candidates",
    "Flag": "tables.columns",
    "Forecast": "functional.forecast",
    "FrankWolfeLinearRegression": "descent.frank_wolfe_models",
    "FrankWolfeLogisticRegression": "descent.frank_wolfe_models",
    "FunctionalLinearRegression": "functional.models",
    "FunctionalLogisticRegression": "functional.logistic",
    "GaussianBase": "sampling.lipschitz",
    "Gdp": "privacy.budgets",
    "IncompatiblePlan": "errors",
    "Interval": "lattice.bounds",
    "InvalidArgument": "errors",
    "InvalidData": "errors",
    "InvalidFormula": "errors",
    "KNormGradient": "sampling.k_norm_targets",
    "KNormGradientLinearRegression": "sampling.k_norm_models",
    "KNormGradientLogisticRegression": "sampling.k_norm_models",
    "KNormGradientQuantileRegression": "sampling.quantile_models",
    "Ledger": "privacy.ledger",
    "LargeDeltaWarning": "errors",
    "LedgerUnusable": "errors",
    "LinearRegression": "regression.models",
    "Lipschitz": "sampling.lipschitz",
    "LogConcave": "sampling.log_concave",
    "LogHoelder": "sampling.holder",
    "LogisticObjective": "functional.logit",
    "LogisticRegression": "regression.models",
    "Moments": "functional.moments",
    "NoLedgerWarning": "errors",
    "NoSoundConversion": "errors",
    "NoiseDominatedWarning": "errors",
    "Normal": "sampling.bases",
    "Number": "tables.columns",
    "PerturbedLogisticRegression": "descent.perturbed_models",
    "PiecewiseLinear": "privacy.piecewise",
    "Plain": "sampling.policies",
    "PoissonRegression": "regression.models",
    "Posterior": "sampling.common_envelopes",
    "PrivatePCA": "sampling.pca",
    "PrivateSearch": "descent.search",
    "Pure": "privacy.budgets",
    "QuadraticObjective": "functional.objectives",
    "RegressionResult": "functional.inference",
    "Release": "privacy.release",
    "Replace": "privacy.adjacency",
    "Schema": "tables.schema",
    "SparseLinearRegression": "descent.models",
    "SparseLogisticRegression": "descent.models",
    "SquaredObjective": "functional.objectives",
    "Squeeze": "sampling.policies",
    "StronglyConcave": "sampling.concave",
    "SyntheticData": "sampling.common_envelopes",
    "TradeoffFunction": "privacy.tradeoff",
    "Truncated": "sampling.policies",
    "TwoStageLinearRegression": "descent.two_stage_models",
    "TwoStageLogisticRegression": "descent.two_stage_models",
    "Uniform": "sampling.bases",
    "UserTarget": "sampling.user_targets",
    "Zcdp": "privacy.budgets",
    "compose_plan": "privacy.composition",
    "forecast": "functional.forecast",
    "geometric_runtime": "privacy.runtimes",
    "median": "sampling.quantile_release",
    "posterior_draw": "sampling.posterior",
    "quantile": "sampling.quantile_release",
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
