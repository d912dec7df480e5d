"""One contract for every numeric parameter: NaN, infinity, -1, a boolean and a word are refused by its name.

To add a parameter, add a line to CASES, or to SIGNED_CASES where a negative number is a good one: a label, a callable
that takes the bad value, and the parameter's name.
"""

import math
import tempfile
import warnings
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from descent import estimators
from descent.rows_of import planned, sparse_rows
from discreet.descent.losses import LogisticLoss, SquaredLoss
from discreet.descent.rivals.frank_wolfe import plan_frank_wolfe
from discreet.descent.rivals.perturbation import plan_perturbation
from discreet.descent.rivals.two_stage import plan_two_stage
from discreet.descent.rows import integer_rows
from discreet.descent.simulation import tune_on_simulation
from discreet.errors import InvalidArgument, InvalidData, NoiseDominatedWarning
from discreet.estimators.functional import FunctionalLinearRegression, FunctionalLogisticRegression
from discreet.estimators.scaler import BoundsScaler
from discreet.estimators.search import PrivateSearch
from discreet.estimators.sparse import SparseLogisticRegression
from discreet.functional.forecast import forecast
from discreet.functional.logit import LogisticObjective
from discreet.functional.objectives import last_column_selection
from discreet.functional.paper_modes import printed_sensitivity
from discreet.functional.parabola import minimax, taylor
from discreet.functional.repair import mean_predictor, minimise
from discreet.lattice.bounds import Box, Interval
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
from discreet.models.result import RegressionResult
from discreet.privacy import accounting
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.axioms import is_tradeoff
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.coins import Coins
from discreet.privacy.curves.envelopes import CommonEnvelope
from discreet.privacy.curves.products import Subsampled, WithPure, group_curve
from discreet.privacy.curves.runtimes import RuntimePair, geometric_runtime
from discreet.privacy.events.descent import GaussianStepsEvent, SelectedStepsEvent
from discreet.privacy.events.noise import CoefficientLaplaceEvent, KNormEvent, WishartEvent
from discreet.privacy.events.perturbation import (
    FrankWolfeEvent,
    PerturbedMinimizerEvent,
    PerturbedObjectiveEvent,
    TwoStageEvent,
)
from discreet.privacy.events.repeated import RepeatedEvent
from discreet.privacy.events.search import PrivateSearchEvent, RunLaw
from discreet.privacy.ledger import Ledger
from discreet.report.curves import tradeoff_figure
from discreet.tables.design import Design
from discreet.tables.readers.sparse_files import read_sparse
from discreet.tables.schema.columns import Number
from discreet.tables.schema.schema import Schema
from privacy.doubles import gaussian, laplace

BAD = [math.nan, math.inf, -math.inf, -1, -0.5, True, np.True_, "x", "nan", "inf", np.float32("nan"), None, [1], 1j]


def wishart(**changes):
    fields = {"row_norm_squared": 1, "theta": 1, "adjacency": Replace(), "statistic": "sum", "shape": (2, 2)}
    return WishartEvent(**(fields | {"budget": Pure(epsilon=2)} | changes))


def coefficients(**changes):
    fields = {"sensitivity": 1, "scale": 1, "loss": "squared", "form": "merged", "target": 1, "adjacency": Replace()}
    fields |= {"statistic": "sum", "shape": (2, 2), "budget": Pure(epsilon=2)}
    return CoefficientLaplaceEvent(**(fields | changes))


def gauged(**changes):
    fields = {"sensitivity": 1, "rate": 1, "half_width": 1, "dimension": 3, "adjacency": Replace(), "statistic": "sum"}
    return KNormEvent(**(fields | {"shape": (2, 2), "budget": Pure(epsilon=2)} | changes))


VALUES = np.linspace(0.0, 1.0, 20)
ROWS = np.random.default_rng(0).normal(size=(20, 3))
UNIT = Interval(0, 1)
PURE = Pure(epsilon=1)


def k_norm_model(**changes):
    """Fit a K-norm gradient regression on labels."""
    declared = {"budget": PURE, "adjacency": Replace(), "x_bounds": Box(lower=-1, upper=1), "classes": [0, 1]} | changes
    return dp.KNormGradientLogisticRegression(**declared).fit(ROWS, np.arange(20) % 2)


def front_model(**changes):
    """Fit a linear regression of the front door."""
    declared = {"budget": Gdp(mu=1), "adjacency": Replace(), "x_bounds": Box(lower=-1, upper=1), "y_bounds": UNIT}
    weights = np.ones(20) if "max_sample_weight" in changes else None
    return dp.LinearRegression(**(declared | changes)).fit(ROWS, VALUES, sample_weight=weights)


CASES = [
    ("Pure", lambda bad: Pure(epsilon=bad), "epsilon"),
    ("Approx epsilon", lambda bad: Approx(epsilon=bad, delta=0), "epsilon"),
    ("Approx delta", lambda bad: Approx(epsilon=1, delta=bad), "delta"),
    ("Zcdp", lambda bad: Zcdp(rho=bad), "rho"),
    ("Gdp", lambda bad: Gdp(mu=bad), "mu"),
    ("Gdp squared", Gdp.from_squared, "mu_squared"),
    ("gaussian_delta epsilon", lambda bad: accounting.gaussian_delta(epsilon=bad, mu=1), "epsilon"),
    ("gaussian_delta mu", lambda bad: accounting.gaussian_delta(epsilon=1, mu=bad), "mu"),
    ("gaussian_log_delta epsilon", lambda bad: accounting.gaussian_log_delta(epsilon=bad, mu=1), "epsilon"),
    ("gaussian_log_delta mu", lambda bad: accounting.gaussian_log_delta(epsilon=1, mu=bad), "mu"),
    ("gaussian_epsilon delta", lambda bad: accounting.gaussian_epsilon(delta=bad, mu=1), "delta"),
    ("gaussian_epsilon mu", lambda bad: accounting.gaussian_epsilon(delta=0.1, mu=bad), "mu"),
    ("gaussian_mu epsilon", lambda bad: accounting.gaussian_mu(epsilon=bad, delta=0.1), "epsilon"),
    ("gaussian_mu delta", lambda bad: accounting.gaussian_mu(epsilon=1, delta=bad), "delta"),
    ("zcdp_delta epsilon", lambda bad: accounting.zcdp_delta(epsilon=bad, rho=1), "epsilon"),
    ("zcdp_delta rho", lambda bad: accounting.zcdp_delta(epsilon=1, rho=bad), "rho"),
    ("zcdp_epsilon delta", lambda bad: accounting.zcdp_epsilon(delta=bad, rho=1), "delta"),
    ("zcdp_epsilon rho", lambda bad: accounting.zcdp_epsilon(delta=0.1, rho=bad), "rho"),
    ("zcdp_rho epsilon", lambda bad: accounting.zcdp_rho(epsilon=bad, delta=0.1), "epsilon"),
    ("zcdp_rho delta", lambda bad: accounting.zcdp_rho(epsilon=1, delta=bad), "delta"),
    ("bun_steinke_epsilon delta", lambda bad: accounting.bun_steinke_epsilon(delta=bad, rho=1), "delta"),
    ("bun_steinke_epsilon rho", lambda bad: accounting.bun_steinke_epsilon(delta=0.1, rho=bad), "rho"),
    ("bun_steinke_rho epsilon", lambda bad: accounting.bun_steinke_rho(epsilon=bad, delta=0.1), "epsilon"),
    ("bun_steinke_rho delta", lambda bad: accounting.bun_steinke_rho(epsilon=1, delta=bad), "delta"),
    ("group size", lambda bad: accounting.group(Pure(epsilon=1), size=bad), "size"),
    ("LaplaceEvent sensitivity", lambda bad: laplace(1, sensitivity=bad), "sensitivity"),
    ("LaplaceEvent scale", lambda bad: laplace(1, scale=bad), "scale"),
    ("WishartEvent row_norm_squared", lambda bad: wishart(row_norm_squared=bad), "row_norm_squared"),
    ("WishartEvent theta", lambda bad: wishart(theta=bad), "theta"),
    ("GaussianEvent sensitivity_squared", lambda bad: gaussian(1, sensitivity_squared=bad), "sensitivity_squared"),
    ("GaussianEvent variance", lambda bad: gaussian(1, variance=bad), "variance"),
    ("CoefficientLaplaceEvent sensitivity", lambda bad: coefficients(sensitivity=bad), "sensitivity"),
    ("CoefficientLaplaceEvent scale", lambda bad: coefficients(scale=bad), "scale"),
    ("CoefficientLaplaceEvent target", lambda bad: coefficients(target=bad), "target"),
    ("KNormEvent sensitivity", lambda bad: gauged(sensitivity=bad), "sensitivity"),
    ("KNormEvent rate", lambda bad: gauged(rate=bad), "rate"),
    ("KNormEvent half_width", lambda bad: gauged(half_width=bad), "half_width"),
    ("KNormEvent dimension", lambda bad: gauged(dimension=bad), "dimension"),
    ("Event step_bits", lambda bad: laplace(1, step_bits=bad), "step_bits"),
    ("Event shape", lambda bad: laplace(1, shape=(bad,)), "shape"),
]

ZEROS = np.zeros((2, 2), dtype=np.int64)
COINS = Coins.from_seed(0)
LAYOUT = Layout(["a"], [Coding.centered(0, 1)], intercept=True)


def _opened(create_on_charge):
    return Ledger.open("absent", Pure(epsilon=1), Replace(), create_on_charge=create_on_charge)


CASES += [
    ("Ledger.open create_on_charge", _opened, "create_on_charge"),
    ("Coins seed", Coins.from_seed, "seed"),
    ("Coins word_bits", lambda bad: Coins.from_seed(0, word_bits=bad), "word_bits"),
    ("Coins words", COINS.words, "n"),
    ("rounded_laplace scale", lambda bad: rounded_laplace(ZEROS, scale=bad, coins=COINS), "scale"),
    ("rounded_laplace step", lambda bad: rounded_laplace(ZEROS, scale=1, coins=COINS, step_bits=bad), "step_bits"),
    ("symmetric_laplace scale", lambda bad: symmetric_laplace(ZEROS, scale=bad, coins=COINS), "scale"),
    ("rounded_gaussian variance", lambda bad: rounded_gaussian(ZEROS, variance=bad, coins=COINS), "variance"),
    ("rounded_gaussian step", lambda bad: rounded_gaussian(ZEROS, variance=1, coins=COINS, step_bits=bad), "step_bits"),
    (
        "symmetric_gaussian variance",
        lambda bad: symmetric_gaussian(ZEROS, diagonal_variance=bad, coins=COINS),
        "diagonal_variance",
    ),
    ("wishart_difference theta", lambda bad: wishart_difference(ZEROS, theta=bad, coins=COINS), "theta"),
    ("k_norm rate", lambda bad: k_norm(ZEROS[0], half_widths=[1, 1], rate=bad, coins=COINS), "rate"),
    ("k_norm half_widths", lambda bad: k_norm(ZEROS[0], half_widths=[1, bad], rate=1, coins=COINS), "half_widths"),
    ("k_norm step", lambda bad: k_norm(ZEROS[0], half_widths=[1, 1], rate=1, coins=COINS, step_bits=bad), "step_bits"),
    (
        "printed_sensitivity",
        lambda bad: printed_sensitivity(bad, loss="squared", form="merged"),
        "n_features",
    ),
    ("minimise noise_std", lambda bad: minimise(np.eye(1), np.ones(1), noise_std=bad, noise_norm=1), "noise_std"),
    ("minimise noise_norm", lambda bad: minimise(np.eye(1), np.ones(1), noise_std=1, noise_norm=bad), "noise_norm"),
    ("mean_predictor noise", lambda bad: mean_predictor(np.eye(1), np.ones(1), noise_norm=bad), "noise_norm"),
    ("mean_predictor largest", lambda bad: mean_predictor(np.eye(1), np.ones(1), largest=bad), "largest"),
    ("step_bits_for", step_bits_for, "noise_std"),
    ("Coding bits", lambda bad: Coding.centered(0, 1, bits=bad), "bits"),
    ("Coding scale", lambda bad: Coding(lower=0, upper=1, center=0, scale=bad), "scale"),
    ("Coding n_dummies", Coding.dummy, "n_dummies"),
    ("Layout bits", lambda bad: Layout(["a"], [Coding.flag()], intercept=True, bits=bad), "bits"),
    ("Layout intercept", lambda bad: Layout(["a"], [Coding.flag()], intercept=bad), "intercept"),
    (
        "Layout row_norm_squared",
        lambda bad: Layout(["a"], [Coding.flag()], intercept=True, row_norm_squared=bad),
        "row_norm_squared",
    ),
    ("block_rows", lambda bad: gram_of_arrays(np.zeros((3, 1)), None, LAYOUT, block_rows=bad), "block_rows"),
    ("Design bits", lambda bad: Design.for_terms(None, Schema({"a": Number(0, 1)}), bits=bad), "bits"),
    ("conf_int level", lambda bad: _result().conf_int(bad), "level"),
    ("summary level", lambda bad: _result().summary(bad), "level"),
    ("ridge penalty", lambda bad: _moments().least_squares(_selection(), penalty=bad), "penalty"),
    ("forecast n_rows", lambda bad: _forecast(n_rows=bad), "n_rows"),
    ("forecast r_squared", lambda bad: _forecast(r_squared=bad), "r_squared"),
    ("forecast budget", lambda bad: _forecast(budget=bad), "budget"),
    ("fit_intercept", lambda bad: _fitted(fit_intercept=bad), "fit_intercept"),
    ("budget", lambda bad: _fitted(budget=bad), "budget"),
    ("x_bounds", lambda bad: _fitted(x_bounds=bad), "x_bounds"),
    ("y_bounds", lambda bad: _fitted(y_bounds=bad), "y_bounds"),
    ("logistic fit_intercept", lambda bad: _classified(fit_intercept=bad), "fit_intercept"),
    ("logistic radius", lambda bad: _classified(approximation="minimax", radius=bad), "radius"),
    ("minimax radius", minimax, "radius"),
    ("taylor radius", taylor, "radius"),
    ("objective ridge", lambda bad: LogisticObjective(ridge=bad).penalty, "ridge"),
    ("LogisticObjective radius", lambda bad: LogisticObjective(approximation="minimax", radius=bad), "radius"),
    ("one_hot start", lambda bad: Box(lower=0, upper=1, one_hot=[slice(bad, 3)]), "one_hot"),
    ("one_hot stop", lambda bad: Box(lower=0, upper=1, one_hot=[slice(0, bad)]), "one_hot"),
    ("BoundsScaler scales", lambda bad: _scaled(scale=[1, bad]), "scale"),
]

GAUSS_CURVE = Gdp(mu=1).tradeoff()

CASES += [
    ("geometric_runtime p", lambda bad: geometric_runtime(p=bad, q=0.5), "p"),
    ("geometric_runtime q", lambda bad: geometric_runtime(p=0.5, q=bad), "q"),
    ("geometric_runtime n_draws", lambda bad: geometric_runtime(p=0.5, q=0.4, n_draws=bad), "n_draws"),
    ("geometric_runtime smooth", lambda bad: geometric_runtime(p=0.5, q=0.4, smooth=bad), "smooth"),
    ("RuntimePair knots", lambda bad: RuntimePair(Fraction(1, 2), Fraction(1, 4)).knots(bad), "count"),
    ("WithPure epsilon", lambda bad: WithPure(GAUSS_CURVE, epsilon=bad), "epsilon"),
    ("group_curve size", lambda bad: group_curve(GAUSS_CURVE, size=bad), "size"),
    ("Subsampled rate", lambda bad: Subsampled(GAUSS_CURVE, rate=bad), "rate"),
    ("CommonEnvelope shift", lambda bad: CommonEnvelope(shift=bad, p_high=0.5), "shift"),
    ("CommonEnvelope p_high", lambda bad: CommonEnvelope(shift=0.5, p_high=bad), "p_high"),
    ("is_at_least tolerance", lambda bad: GAUSS_CURVE.is_at_least(GAUSS_CURVE, tolerance=bad), "tolerance"),
    ("is_tradeoff tolerance", lambda bad: is_tradeoff(GAUSS_CURVE, tolerance=bad), "tolerance"),
    (
        "tradeoff_figure epsilon",
        lambda bad: tradeoff_figure(GAUSS_CURVE, epsilon="x" if bad is None else bad),
        "epsilon",
    ),
    ("tradeoff_figure delta", lambda bad: tradeoff_figure(GAUSS_CURVE, delta="x" if bad is None else bad), "delta"),
]


def _steps(**changes):
    fields = {"sensitivity_squared": 1, "variance": 1, "n_steps": 1, "selection": "all", "n_selected": 1}
    fields |= {"noise": "exact", "nominal": "", "adjacency": Replace(), "statistic": "steps", "shape": (2,)}
    return GaussianStepsEvent(**(fields | {"budget": Gdp(mu=1)} | changes))


def _choices(**changes):
    fields = {"entry_sensitivity": 1, "selection_scale": 1, "value_sensitivity_squared": 1, "variance": 1, "n_steps": 1}
    fields |= {"selection": "peel", "n_selected": 1, "adjacency": Replace(), "statistic": "steps", "shape": (2,)}
    return SelectedStepsEvent(**(fields | {"budget": Zcdp(rho=1)} | changes))


def _rows(**changes):
    return integer_rows(np.eye(2), [0, 1], **({"row_norm": 1.0, "target_bounds": (0, 1)} | changes))


def _descent(name):
    return lambda bad: planned(sparse_rows(), **{name: bad})


CASES += [
    ("noisy_top scale", lambda bad: noisy_top(ZEROS[0], scale=bad, size=1, coins=COINS), "scale"),
    ("noisy_top size", lambda bad: noisy_top(ZEROS[0], scale=1, size=bad, coins=COINS), "size"),
    ("GaussianStepsEvent squared", lambda bad: _steps(sensitivity_squared=bad), "sensitivity_squared"),
    ("GaussianStepsEvent variance", lambda bad: _steps(variance=bad), "variance"),
    ("GaussianStepsEvent n_steps", lambda bad: _steps(n_steps=bad), "n_steps"),
    ("GaussianStepsEvent n_selected", lambda bad: _steps(n_selected=bad), "n_selected"),
    ("SelectedStepsEvent entry", lambda bad: _choices(entry_sensitivity=bad), "entry_sensitivity"),
    ("SelectedStepsEvent scale", lambda bad: _choices(selection_scale=bad), "selection_scale"),
    ("SelectedStepsEvent values", lambda bad: _choices(value_sensitivity_squared=bad), "value_sensitivity_squared"),
    ("SelectedStepsEvent variance", lambda bad: _choices(variance=bad), "variance"),
    ("SelectedStepsEvent n_steps", lambda bad: _choices(n_steps=bad), "n_steps"),
    ("SelectedStepsEvent n_selected", lambda bad: _choices(n_selected=bad), "n_selected"),
    ("RowGrid n_columns", lambda bad: RowGrid(bad, 1.0), "n_columns"),
    ("RowGrid row_norm", lambda bad: RowGrid(2, bad), "row_norm"),
    ("RowGrid entry_bound", lambda bad: RowGrid(2, 1.0, bad), "entry_bound"),
    ("RowGrid intercept", lambda bad: RowGrid(2, 1.0, intercept=bad), "intercept"),
    ("RowGrid bits", lambda bad: RowGrid(2, 1.0, bits=bad), "bits"),
    ("integer_rows row_norm", lambda bad: _rows(row_norm=bad), "row_norm"),
    ("integer_rows entry_bound", lambda bad: _rows(entry_bound=bad), "entry_bound"),
    ("integer_rows intercept", lambda bad: _rows(intercept=bad), "intercept"),
    ("integer_rows bits", lambda bad: _rows(bits=bad), "bits"),
    ("Loss clip", lambda bad: SquaredLoss(clip=bad), "clip"),
    ("Descent n_selected", _descent("n_selected"), "n_selected"),
    ("Descent n_steps", _descent("n_steps"), "n_steps"),
    ("Descent step_size", _descent("step_size"), "step_size"),
    ("Descent divisor", _descent("divisor"), "divisor"),
    ("Descent noise_floor", _descent("noise_floor"), "noise_floor"),
    ("Descent tail_average", _descent("tail_average"), "tail_average"),
    ("Descent start", lambda bad: _descent("start")("x" if bad is None else bad), "start"),
    ("Descent column_scale", lambda bad: _descent("column_scale")("x" if bad is None else bad), "column_scale"),
]


def _rival(plan, **settled):
    """Return a plan-maker that takes one bad number; where None means a default, a word stands for it."""
    optional = {"regularization", "parameter_bound", "n_blocks"}
    asked = {"budget": Pure(epsilon=1), "adjacency": Replace(), **settled}

    def make(name):
        def with_bad(bad):
            value = "x" if bad is None and name in optional else bad
            return plan(RowGrid(3, row_norm=1.0), LogisticLoss(), **(asked | {name: value}))

        return with_bad

    return make


def _rival_event(cls, **settled):
    common = {"adjacency": Replace(), "budget": Pure(epsilon=9), "statistic": "s", "shape": (1,)}
    return lambda name: lambda bad: cls(**(common | settled | {name: bad}))


_PERTURBED = {"row_norm_squared": 1, "slope": 1, "regularization": 1, "error": 1, "law": "l2", "scale": 2}
_OBJECTIVE = _PERTURBED | {"curvature": 1, "output_scale": 2}
_VOTES = {"sparsity": 1, "n_blocks": 2, "vote_scale": 2}
for _name, _make, _numbers in (
    ("perturbation", _rival(plan_perturbation, n_rows=9), ("n_rows", "regularization", "parameter_bound")),
    ("two_stage", _rival(plan_two_stage, n_rows=9, sparsity=1), ("n_rows", "sparsity", "n_blocks", "vote_share")),
    ("frank_wolfe", _rival(plan_frank_wolfe, radius=1, n_steps=2), ("radius", "n_steps")),
    ("PerturbedObjectiveEvent", _rival_event(PerturbedObjectiveEvent, **_OBJECTIVE), sorted({*_OBJECTIVE} - {"law"})),
    ("PerturbedMinimizerEvent", _rival_event(PerturbedMinimizerEvent, **_PERTURBED), sorted({*_PERTURBED} - {"law"})),
    ("TwoStageEvent", _rival_event(TwoStageEvent, **_OBJECTIVE, **_VOTES), sorted(_VOTES)),
    ("FrankWolfeEvent", _rival_event(FrankWolfeEvent, n_steps=1, law="gumbel", ratio=4), ("n_steps", "ratio")),
):
    CASES += [(f"{_name} {_number}", _make(_number), _number) for _number in _numbers]
CASES += [
    ("l2_norm rate", lambda bad: l2_norm(ZEROS[0], rate=bad, coins=COINS), "rate"),
    ("l2_norm step", lambda bad: l2_norm(ZEROS[0], rate=1, coins=COINS, step_bits=bad), "step_bits"),
    ("l2_noise size", lambda bad: l2_noise(bad, rate=1, coins=COINS), "size"),
    ("l2_noise rate", lambda bad: l2_noise(2, rate=bad, coins=COINS), "rate"),
]


def _repeated(n_times):
    common = {"budget": Gdp(mu=1), "adjacency": Replace(), "statistic": "a sum", "shape": ()}
    return RepeatedEvent(part=gaussian(1), n_times=n_times, **common)


def _second_pillar(make, **changes):
    return make(**changes).fit(np.eye(4), [0, 1, 0, 1])


def _estimator(make, name, **fixed):
    # None is a good answer to most of them, and asks for the default.
    if name == "expected_rows":
        fixed["adjacency"] = AddRemove()
    return lambda bad: _second_pillar(make, **fixed, **{name: "x" if bad is None and name != "budget" else bad})


CASES += [
    (f"{make.__name__} {name}", _estimator(make, name), name)
    for make, names in {
        estimators.sparse_linear: ("budget", "row_norm", "y_bounds", "sparsity", "n_steps", "step_size", "clip"),
        estimators.sparse_logistic: ("budget", "row_norm", "entry_bound", "sparsity", "expected_rows", "fit_intercept"),
        estimators.frank_wolfe_linear: ("budget", "row_norm", "y_bounds", "radius", "n_steps", "clip"),
        estimators.frank_wolfe_logistic: ("budget", "entry_bound", "radius", "expected_rows", "fit_intercept"),
        estimators.two_stage_linear: ("budget", "row_norm", "sparsity", "n_blocks", "regularization", "clip"),
        estimators.two_stage_logistic: ("budget", "entry_bound", "n_blocks", "expected_rows", "fit_intercept"),
        estimators.perturbed: ("budget", "row_norm", "regularization", "expected_rows", "fit_intercept"),
    }.items()
    for name in names
]
CASES += [
    ("RepeatedEvent n_times", _repeated, "n_times"),
    ("read_sparse n_columns", lambda bad: _svmlight("x" if bad is None else bad), "n_columns"),
]


def _svmlight(n_columns):
    with tempfile.NamedTemporaryFile(suffix=".svm") as file:
        return read_sparse(file.name, n_columns=n_columns)


SIGNED_CASES = [
    ("integer_rows lower", lambda bad: _rows(target_bounds=(bad, 1)), "target_bounds"),
    ("integer_rows upper", lambda bad: _rows(target_bounds=(-2, bad)), "target_bounds"),
    ("Descent target_bounds", lambda bad: _descent("target_bounds")((-2, bad)), "target_bounds"),
    ("Interval lower", lambda bad: Interval(bad, 1), "lower bound of Interval"),
    ("Interval upper", lambda bad: Interval(-2, bad), "upper bound of Interval"),
    ("Box lower", lambda bad: Box(lower=[0, bad], upper=1), "lower"),
    ("Box upper", lambda bad: Box(lower=-2, upper=[0, bad]), "upper"),
    ("Number lower", lambda bad: Number(bad, 1), "lower"),
    ("Number upper", lambda bad: Number(-2, bad), "upper"),
    ("Coding center", lambda bad: Coding(lower=0, upper=1, center=bad, scale=1), "center"),
    ("BoundsScaler center", lambda bad: _scaled(center=[0, bad]), "center"),
]


def _result():
    event = laplace(1)
    return RegressionResult(
        formula="y ~ x",
        feature_names=("x",),
        coef=np.ones(1),
        intercept=0.0,
        has_intercept=True,
        noise_dominated=False,
        ridge=0.0,
        event=event,
        label="private",
    )


def _moments():
    with warnings.catch_warnings(action="ignore", category=NoiseDominatedWarning):
        return _fitted().moments_


def _selection():
    return last_column_selection(_moments().layout)


def _forecast(**changes):
    usual = {"n_rows": 1000, "budget": Pure(epsilon=1)}
    schema = Schema({"y": Number(0, 1), "x": Number(0, 1)}, adjacency=Replace())
    return forecast("y ~ x", schema, **(usual | changes))


def _classified(**changes):
    declared = {"budget": Gdp(mu=1), "x_bounds": Box(lower=0, upper=1), "adjacency": Replace(), "classes": (0, 1)}
    return FunctionalLogisticRegression(**(declared | changes)).fit(np.zeros((5, 1)), np.zeros(5))


def _scaled(**changes):
    return BoundsScaler(x_bounds=Box(lower=0, upper=1), **changes).fit(np.zeros((5, 2)))


def _fitted(**changes):
    declared = {"budget": Gdp(mu=1), "x_bounds": Box(lower=0, upper=1), "y_bounds": Interval(0, 1)}
    model = FunctionalLinearRegression(**(declared | {"adjacency": Replace()} | changes))
    return model.fit(np.zeros((5, 1)), np.zeros(5))


def _search(name):
    """Return a call that gives one parameter of a private search a bad value."""

    def call(bad):
        arguments = {"law": "geometric", "mean_runs": 2, "most_runs": 3, "test_share": 0.5, name: bad}
        model = SparseLogisticRegression(
            budget=Zcdp(rho=1), sparsity=1, row_norm=1, adjacency=Replace(), classes=(0, 1)
        )
        return PrivateSearch(model, {"n_steps": [1]}, budget=Approx(epsilon=1, delta="1e-6"), **arguments).fit(
            np.eye(4), [0, 1, 0, 1]
        )

    return call


def _tuned(name):
    """Return a call that gives one public fact a bad value."""
    facts = {"loss": "squared", "n_rows": 9, "n_columns": 9, "row_norm": 1.0, "entry_bound": 1.0, "sparsity": 2}
    facts |= {"budget": Zcdp(rho=1), "adjacency": Replace(), "selection": "auto", "target_bounds": (-1, 1)}
    return lambda bad: tune_on_simulation(**facts | {name: bad})


def _searched(name):
    """Return a call that gives one field of a search's event a bad value."""
    fields = {"run": Pure(epsilon=1), "law": "geometric", "stop": Fraction(1, 2), "most_runs": 9, "n_candidates": 2}
    fields |= {"adjacency": Replace(), "budget": Pure(epsilon=4), "statistic": "a fit", "shape": ()}
    return lambda bad: PrivateSearchEvent(**fields | {name: bad})


CASES += [
    (f"tune_on_simulation {name}", _tuned(name), name) for name in ("n_rows", "n_columns", "row_norm", "sparsity")
]
CASES += [(f"PrivateSearch {name}", _search(name), name) for name in ("mean_runs", "test_share")]
CASES += [(f"PrivateSearchEvent {name}", _searched(name), name) for name in ("stop", "most_runs", "n_candidates")]
CASES += [
    ("RunLaw stop", lambda bad: RunLaw(name="geometric", stop=bad, most_runs=3), "stop"),
    ("RunLaw most_runs", lambda bad: RunLaw(name="geometric", stop=Fraction(1, 2), most_runs=bad), "most_runs"),
]


def drawn(name):
    """Return a quantile of values with one bad setting."""
    given = {"q": "1/2", "bounds": UNIT, "budget": PURE, "adjacency": Replace()}
    return lambda bad: dp.quantile(VALUES, **(given | {name: told(bad)}))


def components(name):
    """Return principal components with one bad setting."""
    given = {"budget": PURE, "adjacency": Replace(), "row_norm": 1}
    return lambda bad: dp.PrivatePCA(**(given | {name: told(bad)})).fit(ROWS)


def several(bad):
    """Draw so many medians."""
    return dp.sample(
        dp.KNormGradient.quantile("1/2", bounds=UNIT), VALUES, budget=PURE, adjacency=Replace(), n_draws=told(bad)
    )


def told(bad):
    """Return a bad value that is given: None would mean the default."""
    return "x" if bad is None else bad


CASES += [(f"quantile {name}", drawn(name), name) for name in ("q", "step")]
CASES += [
    (f"{policy.__name__} {name}", lambda bad, policy=policy, name=name: policy(**{name: told(bad)}), name)
    for policy, names in {
        dp.CoolDown: ("s", "eta"),
        dp.Truncated: ("delta",),
        dp.BlockRestart: ("eta",),
        dp.ConstantAcceptance: ("p0",),
        dp.Squeeze: ("slack",),
        dp.Plain: ("thin",),
    }.items()
    for name in names
]
CASES += [(f"PrivatePCA {name}", components(name), name) for name in ("n_components", "row_norm")]
CASES += [
    ("sample n_draws", several, "n_draws"),
    ("K-norm gradient ridge", lambda bad: k_norm_model(ridge=told(bad)), "ridge"),
    ("K-norm gradient row_norm", lambda bad: k_norm_model(x_bounds=None, row_norm=told(bad)), "row_norm"),
    (
        "Schema rows_per_unit",
        lambda bad: dp.Schema({"y": dp.Number(0, 1)}, unit="u", rows_per_unit=bad),
        "rows_per_unit",
    ),
    ("LinearRegression rows", lambda bad: front_model(adjacency=AddRemove(), expected_rows=told(bad)), "expected_rows"),
    ("LinearRegression weight", lambda bad: front_model(max_sample_weight=told(bad)), "max_sample_weight"),
]
CASES += [
    (f"LinearRegression {name}", lambda bad, name=name: front_model(method="descent", **{name: told(bad)}), name)
    for name in ("n_steps", "step_size", "clip")
]

OPTIONAL = {"entry_bound", "row_norm_squared", "block_rows", "r_squared", "largest"}

# True is a good answer to a yes-or-no question.
YES_OR_NO = {"tail_average", "smooth", "fit_intercept", "create_on_charge", "intercept"}


@pytest.mark.parametrize("bad", [value for value in BAD if value not in (-1, -0.5)], ids=repr)
@pytest.mark.parametrize(("call", "name"), [case[1:] for case in SIGNED_CASES], ids=[case[0] for case in SIGNED_CASES])
def test_bad_bounds_are_refused_by_name(call, name, bad):
    """The message names the bound; a negative one is as good as any."""
    with pytest.raises((InvalidArgument, InvalidData), match=name):
        call(bad)


@pytest.mark.filterwarnings("ignore::discreet.errors.NoiseDominatedWarning")
@pytest.mark.parametrize("bad", BAD, ids=repr)
@pytest.mark.parametrize(("call", "name"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_bad_numbers_are_refused_by_name(call, name, bad):
    """The message names the parameter in backticks."""
    if (name in YES_OR_NO and isinstance(bad, (bool, np.bool_))) or (name in OPTIONAL and bad is None):
        return
    with pytest.raises(InvalidArgument, match=f"`{name}`"):
        call(bad)


@pytest.mark.parametrize("zero", [0, 0.0, "0"])
@pytest.mark.parametrize(
    ("call", "name"),
    [(lambda x: laplace(1, scale=x), "scale"), (lambda x: gaussian(1, variance=x), "variance"),
     (lambda x: wishart(theta=x), "theta"), (lambda x: laplace(1, sensitivity=x), "sensitivity"),
     (lambda x: accounting.gaussian_log_delta(epsilon=1, mu=x), "mu")],
)  # fmt: skip
def test_no_noise_at_all_is_refused_by_name(call, name, zero):
    """A scale of zero is an error that names it, never a division by zero."""
    with pytest.raises(InvalidArgument, match=f"`{name}` must be greater than 0"):
        call(zero)


@pytest.mark.parametrize("call", [Pure, Approx, Zcdp, Gdp, accounting.gaussian_mu, accounting.zcdp_epsilon])
def test_numbers_are_given_by_name(call):
    """(sigma, epsilon) and (epsilon, delta) cannot be mixed up."""
    with pytest.raises(TypeError, match="positional"):
        call(1, 0.5)
