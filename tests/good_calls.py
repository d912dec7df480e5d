"""Everything that takes numbers, with good arguments; `test_numeric_parameters.py` derives the rest from signatures.

A class of the public surface that is missing here is missed by that file's second test.
"""

from __future__ import annotations

import inspect
import tempfile
import warnings
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import discreet as dp
from descent.rows_of import sparse_rows
from discreet.descent.calibration import plan_descent
from discreet.descent.losses import LogisticLoss, SquaredLoss
from discreet.descent.rivals.frank_wolfe import plan_frank_wolfe
from discreet.descent.rivals.perturbation import plan_perturbation
from discreet.descent.rivals.two_stage import plan_two_stage
from discreet.descent.rows import integer_rows
from discreet.descent.simulation import tune_on_simulation
from discreet.errors import NoiseDominatedWarning
from discreet.functional.objectives import last_column_selection
from discreet.functional.paper_modes import printed_sensitivity
from discreet.functional.parabola import minimax, taylor
from discreet.functional.repair import mean_predictor, minimise
from discreet.lattice.gram import gram_of_arrays
from discreet.lattice.grid import Coding, Layout
from discreet.lattice.noise.gaussian import rounded_gaussian
from discreet.lattice.noise.gumbel import noisy_top
from discreet.lattice.noise.k_norm import k_norm
from discreet.lattice.noise.l2_norm import l2_noise, l2_norm
from discreet.lattice.noise.laplace import rounded_laplace, symmetric_laplace
from discreet.lattice.noise.steps import step_bits_for
from discreet.lattice.noise.symmetric_gaussian import symmetric_gaussian
from discreet.lattice.noise.wishart import wishart_difference
from discreet.lattice.row_grid import RowGrid
from discreet.privacy import accounting
from discreet.privacy.axioms import is_tradeoff
from discreet.privacy.curves.envelopes import CommonEnvelope
from discreet.privacy.curves.products import Subsampled, WithPure, group_curve
from discreet.privacy.curves.runtimes import RuntimePair
from discreet.privacy.events.descent import GaussianStepsEvent, SelectedStepsEvent
from discreet.privacy.events.noise import (
    CoefficientLaplaceEvent,
    GaussianEvent,
    KNormEvent,
    LaplaceEvent,
    WishartEvent,
)
from discreet.privacy.events.perturbation import (
    FrankWolfeEvent,
    PerturbedMinimizerEvent,
    PerturbedObjectiveEvent,
    TwoStageEvent,
)
from discreet.privacy.events.repeated import RepeatedEvent
from discreet.privacy.events.search import PrivateSearchEvent, RunLaw
from discreet.report.curves import tradeoff_figure
from discreet.tables.design import Design
from discreet.tables.readers.sparse_files import read_sparse
from estimators_for_tests import CASES, FRAMED, TABLE
from privacy.doubles import CountPlan, gaussian, laplace
from sampling.own_targets import distances, halves, total

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Call:
    """Something that takes numbers.

    Parameters
    ----------
    of : callable
        Whose signature says what it takes.
    good : dict
        Arguments that are accepted.
    run : callable, optional
        Takes the arguments in place of `of`: where they are judged later, or by a method.
    where : dict
        By parameter, what is said with it so that it is read at all.
    wrap : dict
        By parameter, functions that put one number into what it takes: into a list, or beside another bound.
    label : str
        What it is called.
    """

    of: Callable[..., Any]
    good: dict[str, Any]
    run: Callable[..., Any] | None = None
    where: dict[str, dict[str, Any]] = field(default_factory=dict)
    wrap: dict[str, tuple[Callable[[Any], Any], ...]] = field(default_factory=dict)
    label: str = ""

    @property
    def name(self) -> str:
        """How the call is called in a test's name."""
        return self.label or self.of.__qualname__

    def parameters(self) -> dict[str, inspect.Parameter]:
        """Return what the callable takes, by name."""
        taken = inspect.signature(self.of).parameters.values()
        return {one.name: one for one in taken if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}

    def given(self, **changes: Any) -> Any:
        """Call with the good arguments but for some, and return what comes of it."""
        taken = self.parameters()
        also = {key: other for name in changes for key, other in self.where.get(name, {}).items() if key in taken}
        arguments = self.good | also | changes
        first = [arguments.pop(one.name) for one in taken.values() if one.kind == one.POSITIONAL_ONLY]
        with warnings.catch_warnings(action="ignore", category=NoiseDominatedWarning):
            return (self.run or self.of)(*first, **arguments)


# Estimators: declarations are read by fit.
BOUNDED = {"x_bounds": dp.Box(lower=0, upper=1), "row_norm": None}
NORMED = {"x_bounds": None, "row_norm": 2.0, "max_sample_weight": None}
DESCENT_METHOD = {name: {"method": "descent", **BOUNDED} for name in ("n_steps", "step_size", "clip", "gram_share")}
READ = {
    "expected_rows": {"adjacency": dp.AddRemove()},
    "radius": {"approximation": "minimax"},
    "row_norm": NORMED,
    "entry_bound": NORMED,
    "sparsity": {"method": "threshold", "budget": dp.Zcdp(rho=1), **NORMED},
    "max_sample_weight": BOUNDED,
}
# Declared arrays, with one number in them.
ARRAYS = {"center": (lambda bad: [0, bad, 0],), "scale": (lambda bad: [1, bad, 1],)}


def given(value: Any) -> Any:
    """Return the value itself."""
    return value


def _of_case(case: Any) -> Call:
    """Return the call of an estimator of the common list: made, then fitted."""
    model = case.make()

    def run(**declared: Any) -> Any:
        weighed = declared.get("max_sample_weight") is not None
        weights = {"sample_weight": np.ones(len(TABLE))} if weighed else {}
        return case.fit(TABLE, case.y, model=type(model)(**declared), **weights)

    good = {name: getattr(model, name) for name in inspect.signature(type(model)).parameters}
    where = READ | (DESCENT_METHOD if "method" in good else {})
    return Call(type(model), good, run, where=where, wrap=ARRAYS, label=case.name)


# Events and plans.
EVENT = {"adjacency": dp.Replace(), "budget": dp.Pure(epsilon=9), "statistic": "a sum", "shape": (2, 2)}
STEPS = EVENT | {"variance": 1, "n_steps": 1, "n_selected": 1, "shape": (2,), "budget": dp.Zcdp(rho=1)}
PERTURBED = EVENT | {"row_norm_squared": 1, "slope": 1, "regularization": 1, "error": 1, "law": "l2", "scale": 2}
OBJECTIVE = PERTURBED | {"curvature": 1, "output_scale": 2}
CHOICES = {"entry_sensitivity": 1, "selection_scale": 1, "value_sensitivity_squared": 1, "selection": "peel"}
RUNS = {"law": "geometric", "stop": Fraction(1, 2), "most_runs": 9, "n_candidates": 2}
GAUSSIAN = {"sensitivity_squared": 1, "variance": 1, "budget": dp.Gdp(mu=1)}
EVENTS = [
    Call(LaplaceEvent, EVENT | {"sensitivity": 1, "scale": 1}),
    Call(WishartEvent, EVENT | {"row_norm_squared": 1, "theta": 1}),
    Call(GaussianEvent, EVENT | GAUSSIAN),
    Call(
        CoefficientLaplaceEvent,
        EVENT | {"sensitivity": 1, "scale": 1, "loss": "squared", "form": "merged", "target": 1},
    ),
    Call(KNormEvent, EVENT | {"sensitivity": 1, "rate": 1, "half_width": 1, "dimension": 3}),
    Call(GaussianStepsEvent, STEPS | GAUSSIAN | {"selection": "all", "noise": "exact", "nominal": ""}),
    Call(SelectedStepsEvent, STEPS | CHOICES),
    Call(PerturbedObjectiveEvent, OBJECTIVE),
    Call(PerturbedMinimizerEvent, PERTURBED),
    Call(TwoStageEvent, OBJECTIVE | {"sparsity": 1, "n_blocks": 2, "vote_scale": 2}),
    Call(FrankWolfeEvent, EVENT | {"n_steps": 1, "law": "gumbel", "ratio": 4}),
    Call(RepeatedEvent, EVENT | {"part": gaussian(1), "n_times": 2, "budget": dp.Gdp(mu=2)}),
    Call(PrivateSearchEvent, EVENT | RUNS | {"run": dp.Pure(epsilon=1)}),
]
EVENTS = [replace(call, wrap={"shape": (lambda bad: (bad,),)}) for call in EVENTS]

PAID = {"budget": dp.Pure(epsilon=1), "adjacency": dp.Replace()}
RIVAL = PAID | {"grid": RowGrid(3, row_norm=1.0), "loss": LogisticLoss()}
SPARSE_ROWS = sparse_rows()
DESCENT = {
    "grid": SPARSE_ROWS.grid, "loss": LogisticLoss(), "budget": dp.Zcdp(rho=1), "adjacency": dp.Replace(),
    "target_bounds": (0, 1), "n_selected": 5, "n_steps": 4, "step_size": 4.0, "divisor": 60, "selection": "threshold",
}  # fmt: skip
TUNED = {
    "loss": "squared", "n_rows": 9, "n_columns": 9, "row_norm": 1.0, "entry_bound": 1.0, "sparsity": 2,
    "budget": dp.Zcdp(rho=1), "adjacency": dp.Replace(), "selection": "auto", "target_bounds": (-1, 1),
}  # fmt: skip
TWO_SIDES = {"target_bounds": (lambda bad: (bad, 1), lambda bad: (-2, bad))}
PLANS = [
    Call(plan_descent, DESCENT, where={"start": {}, "column_scale": {}}, wrap=TWO_SIDES),
    Call(plan_perturbation, RIVAL | {"n_rows": 9}),
    Call(plan_two_stage, RIVAL | {"n_rows": 9, "sparsity": 1}),
    Call(plan_frank_wolfe, RIVAL | {"radius": 1, "n_steps": 2}),
    Call(tune_on_simulation, TUNED, wrap=TWO_SIDES),
]

# Budgets, curves, and what converts them.
CURVE = dp.Gdp(mu=1).tradeoff()
GOOD_NUMBERS = {"epsilon": 1, "delta": 0.1, "mu": 1, "rho": 1}
CONVERSIONS = [
    Call(function, {name: GOOD_NUMBERS[name] for name in taken})
    for function in (getattr(accounting, name) for name in accounting.__all__)
    if inspect.isfunction(function) and (taken := inspect.signature(function).parameters).keys() <= GOOD_NUMBERS.keys()
]
CURVES = [
    Call(dp.Pure, {"epsilon": 1}),
    Call(dp.Approx, {"epsilon": 1, "delta": 0}),
    Call(dp.Zcdp, {"rho": 1}),
    Call(dp.Gdp, {"mu": 1}),
    Call(dp.Gdp.from_squared, {"mu_squared": 1}),
    Call(accounting.group, {"budget": dp.Pure(epsilon=1), "size": 2}),
    Call(dp.privacy.geometric_runtime, {"p": 0.5, "q": 0.4}),
    Call(RuntimePair(Fraction(1, 2), Fraction(1, 4)).knots, {"count": 2}),
    Call(WithPure, {"curve": CURVE, "epsilon": 1}),
    Call(group_curve, {"curve": CURVE, "size": 2}),
    Call(Subsampled, {"curve": CURVE, "rate": 0.5}),
    Call(CommonEnvelope, {"shift": 0.5, "p_high": 0.5}),
    Call(CURVE.is_at_least, {"other": CURVE}),
    Call(is_tradeoff, {"candidate": CURVE}),
    Call(tradeoff_figure, {"curve": CURVE, "epsilon": 1}, where={"delta": {"epsilon": None}}),
    Call(RunLaw, {"name": "geometric", "stop": Fraction(1, 2), "most_runs": 3}),
    *CONVERSIONS,
]

# Noise, integer rows, and the functional mechanism's parts.
ZEROS, COINS = np.zeros((2, 2), dtype=np.int64), dp.privacy.Coins.from_seed(0)
SQUARE, ROW = {"statistic": ZEROS, "coins": COINS}, {"statistic": ZEROS[0], "coins": COINS}
TWO_ROWS = {"X": np.eye(2), "y": [0, 1], "row_norm": 1.0, "target_bounds": (0, 1)}
LAYOUT = Layout(["a"], [Coding.centered(0, 1)], intercept=True)
NOISE = [
    Call(dp.privacy.Coins.from_seed, {"seed": 0}),
    Call(COINS.words, {"n": 1}),
    Call(rounded_laplace, SQUARE | {"scale": 1}),
    Call(symmetric_laplace, SQUARE | {"scale": 1}),
    Call(rounded_gaussian, SQUARE | {"variance": 1}),
    Call(symmetric_gaussian, SQUARE | {"diagonal_variance": 1}),
    Call(wishart_difference, SQUARE | {"theta": 1}),
    Call(k_norm, ROW | {"half_widths": [1, 1], "rate": 1}, wrap={"half_widths": (lambda bad: [1, bad],)}),
    Call(l2_norm, ROW | {"rate": 1}),
    Call(l2_noise, {"size": 2, "rate": 1, "coins": COINS}),
    Call(noisy_top, {"scores": ZEROS[0], "scale": 1, "size": 1, "coins": COINS}),
    Call(step_bits_for, {"noise_std": 1}),
    Call(Coding, {"lower": 0, "upper": 1, "center": 0, "scale": 1}),
    Call(Coding.centered, {"lower": 0, "upper": 1}),
    Call(Coding.dummy, {"n_dummies": 2}),
    Call(Layout, {"names": ["a"], "codings": [Coding.flag()], "intercept": True}),
    Call(RowGrid, {"n_columns": 2, "row_norm": 1.0}),
    Call(integer_rows, TWO_ROWS, wrap=TWO_SIDES),
    Call(gram_of_arrays, {"X": np.zeros((3, 1)), "y": None, "layout": LAYOUT}),
    Call(LogisticLoss, {}),
    Call(SquaredLoss, {"clip": 1.0}),
    Call(printed_sensitivity, {"n_features": 2, "loss": "squared", "form": "merged"}),
    Call(minimise, {"quadratic": np.eye(1), "linear": np.ones(1), "noise_std": 1, "noise_norm": 1}),
    Call(mean_predictor, {"gram": np.eye(1), "target": np.ones(1)}),
    Call(minimax, {"radius": 1}),
    Call(taylor, {"radius": 1}),
]

# Declarations of tables, and results.


def _svmlight(path: str, **options: Any) -> Any:
    """Read an empty file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / path
        file.touch()
        return read_sparse(file, **options)


SCHEMA = dp.Schema({"y": dp.Number(0, 1), "x": dp.Number(0, 1)}, adjacency=dp.Replace())


def _opened(path: str, **options: Any) -> Any:
    """Open a ledger in a folder that goes again."""
    with tempfile.TemporaryDirectory() as folder:
        return dp.Ledger.open(Path(folder) / path, **options)


ROWS = np.array([[0.0, 1.0], [1.0, 0.0]])
DATES = ("lower", "upper", "missing")
ONE_OF_TWO = (lambda bad: [0, bad],)
BLOCKS = (lambda bad: [slice(bad, 3)], lambda bad: [slice(0, bad)])
TABLES = [
    Call(dp.Interval, {"lower": -2, "upper": 1}),
    Call(dp.Box, {"lower": -2, "upper": 1}, wrap={"lower": ONE_OF_TWO, "upper": ONE_OF_TWO, "one_hot": BLOCKS}),
    Call(dp.Number, {"lower": -2, "upper": 1}),
    Call(dp.Flag, {"missing": False}),
    Call(dp.Date, {"lower": "2000-01-01", "upper": "2020-01-01"}, wrap=dict.fromkeys(DATES, (given,))),
    Call(dp.sampling.Uniform, {"bounds": dp.Interval(0, 1)}),
    Call(dp.release, {"plan": CountPlan(laplace(1), []), "data": [0]}),
    Call(dp.release_moments, {"data": ROWS, "schema": SCHEMA, "budget": dp.Pure(epsilon=1)}),
    Call(dp.Schema, {"columns": {"y": dp.Number(0, 1)}, "unit": "u", "rows_per_unit": 2}),
    Call(Design.for_terms, {"terms": None, "schema": SCHEMA}),
    Call(read_sparse, {"path": "empty.svm", "n_columns": 3}, _svmlight),
    Call(dp.forecast, {"formula": "y ~ x", "schema": SCHEMA, "n_rows": 1000, "budget": dp.Pure(epsilon=1)}),
    Call(dp.Ledger.open, {"path": "new.ledger", "total": dp.Pure(epsilon=1), "adjacency": dp.Replace()}, _opened),
    Call(dp.Ledger, {"total": dp.Pure(epsilon=1), "adjacency": dp.Replace()}),
]


def _fitted() -> Any:
    """Return a fitted model with released moments of the common table."""
    case = next(case for case in CASES if case.name == "FunctionalLinearRegression")
    return case.fit(TABLE, case.y)


_FITTED = _fitted()
RESULT, MOMENTS = _FITTED.result(), _FITTED.moments_
RESULTS = [
    Call(RESULT.conf_int, {}),
    Call(RESULT.summary, {}),
    Call(RESULT.to_frame, {}),
    Call(MOMENTS.least_squares, {"selection": last_column_selection(MOMENTS.layout)}),
]

# Draws.
UNIT, VALUES = dp.Interval(0, 1), np.linspace(0.0, 1.0, 20)
OWN = {"change": 1, "example": [[0.5]]}
UNIFORM = dp.sampling.Uniform(dp.Box(lower=[0], upper=[1]))
HOLDER = {"utility": total, "bounds": UNIT, "constant": 20, **OWN}
POSTERIOR = {"log_likelihood": distances, "lower": -1, "upper": 0, "prior": UNIFORM, "example": [[0.5]]}
CONCAVE = {"convexity": 1, "smoothness": 1, "reach": 1, "change": 1, "columns": 1}


def _square(points: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return -((points - np.clip(rows.T, 0, 1).sum(axis=1)[:, None] * 0) ** 2).sum(axis=1) / 2


def _slope(points: np.ndarray, _rows: np.ndarray) -> np.ndarray:
    return -points


DRAWS = [
    Call(dp.quantile, PAID | {"values": VALUES, "q": "1/2", "bounds": UNIT, "step": 0.1}),
    Call(dp.median, PAID | {"values": VALUES, "bounds": UNIT, "step": 0.1}),
    Call(dp.sampling.sample, PAID | {"target": dp.sampling.KNormGradient.quantile("1/2", bounds=UNIT), "data": VALUES}),
    Call(dp.sampling.posterior_draw, PAID | POSTERIOR | {"data": VALUES[:, None]}),
    Call(dp.sampling.KNormGradient.quantile, {"q": "1/2", "bounds": UNIT, "step": 0.1}),
    Call(dp.sampling.KNormGradient.mean, {"n_columns": 2, "row_norm": 1, "center": [0, 0]}),
    Call(dp.sampling.KNormGradient.logistic, {"n_columns": 2, "row_norm": 1, "ridge": 1}),
    Call(dp.sampling.KNormGradient.linear, {"n_columns": 2, "row_norm": 1, "ridge": 1, "y_bounds": UNIT, "clip": 1}),
    Call(dp.sampling.CoolDown, {}),
    Call(dp.sampling.Truncated, {"delta": "1e-9"}),
    Call(dp.sampling.BlockRestart, {"eta": "1e-9"}),
    Call(dp.sampling.ConstantAcceptance, {"p0": 0.5}),
    Call(dp.sampling.Squeeze, {}),
    Call(dp.sampling.Plain, {}),
    Call(dp.sampling.Posterior, POSTERIOR),
    Call(dp.sampling.UserTarget, OWN | {"utility": total, "base": UNIFORM, "upper": 0, "lower": -4}),
    Call(dp.sampling.SyntheticData, {"cells": halves, "n_cells": 2, "prior": UNIFORM}),
    Call(
        dp.sampling.Lipschitz,
        OWN | {"utility": lambda points, rows: total(points, rows) / 10, "slopes": 1, "bounds": UNIT},
    ),
    Call(dp.sampling.LogHoelder, HOLDER | {"per_side": 20}),
    Call(dp.sampling.Discretized, {"target": dp.sampling.LogHoelder(**HOLDER), "per_side": 20}),
    Call(dp.sampling.LogConcave, OWN | {"utility": _square, "bounds": UNIT, "slope": 1}),
    Call(dp.sampling.StronglyConcave, CONCAVE | {"utility": _square, "gradient": _slope, "example": [[0.5]]}),
    Call(
        dp.sampling.GaussianBase,
        OWN | {"utility": lambda p, r: total(p, r) / 10, "slopes": 1, "base": dp.sampling.Normal(center=[0], spread=1)},
    ),
    Call(dp.sampling.Normal, {"center": [0, 0], "spread": 1}, wrap={"center": ONE_OF_TWO}),
    Call(dp.sampling.Custom, {"transform": lambda uniform: uniform, "columns": 1}),
    Call(
        dp.sampling.FiniteCandidates,
        {
            "candidates": [0, 1],
            "utility": lambda p, r: (p == r.T).sum(axis=1),
            "change": 1,
            "example": [[0]],
            "step": 1,
        },
    ),
    Call(
        dp.functional.SquaredObjective,
        {"y_bounds": UNIT},
        lambda **given: dp.functional.SquaredObjective(**given).penalty,
    ),
    Call(
        dp.functional.LogisticObjective,
        {},
        lambda **given: dp.functional.LogisticObjective(**given).penalty,
        where=READ,
    ),
]

ESTIMATORS = [_of_case(case) for case in (*CASES, *FRAMED) if not case.schema]
CALLS = [*ESTIMATORS, *EVENTS, *PLANS, *CURVES, *NOISE, *TABLES, *RESULTS, *DRAWS]
