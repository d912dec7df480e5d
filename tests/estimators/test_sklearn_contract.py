"""scikit-learn's own checks of every public estimator, where its noise is nothing and where it is not."""

import inspect
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import sklearn.exceptions
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import discreet as dp
from descent.estimators import (
    frank_wolfe_linear,
    frank_wolfe_logistic,
    perturbed,
    sparse_linear,
    sparse_logistic,
    two_stage_linear,
    two_stage_logistic,
)
from estimators.front import linear, poisson, table

# Tables of scikit-learn's checks have a few dozen rows, which the noise of a real budget hides.
pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.NoiseDominatedWarning")

# What no private estimator can pass, each with its reason.
INEVITABLE = {
    "check_fit_idempotent": "two fits are two releases, with two noises",
    "check_supervised_y_2d": "compares two fits on the same rows",
    "check_regressors_int": "compares two fits on the same rows",
    "check_regressor_data_not_an_array": "compares two fits on the same rows",
    "check_classifier_data_not_an_array": "compares two fits on the same rows",
}
OF_WEIGHTS = INEVITABLE | {
    "check_sample_weight_equivalence_on_dense_data": "compares two fits on the same rows",
    "check_all_zero_sample_weights_error": "whether all weights are 0 is private, so that no error may tell",
}
_REFUSED = "the method's sensitivity is not proved for weights, which are refused by name"
UNWEIGHTED = OF_WEIGHTS | {
    f"check_{name}": _REFUSED
    for name in (
        "sample_weight_equivalence_on_sparse_data",
        "sample_weights_list",
        "sample_weights_not_an_array",
        "sample_weights_not_overwritten",
        "sample_weights_pandas_series",
        "sample_weights_shape",
        "classifiers_one_label_sample_weights",
        "class_weight_classifiers",
    )
}
OF_DRAWS = INEVITABLE | {
    "check_sample_order_invariance": "compares two fits on the same rows",
    "check_dict_unchanged": "compares two fits on the same rows",
    "check_f_contiguous_array_estimator": "compares two fits on the same rows",
}
OF_COMPONENTS = {
    "check_fit_idempotent": "two fits are two releases, with two noises",
    "check_transformer_general": "compares two fits on the same rows",
    "check_transformer_data_not_an_array": "compares two fits on the same rows",
    "check_f_contiguous_array_estimator": "compares two fits on the same rows",
    "check_transformers_unfitted_stateless": "it is fitted",
    "check_methods_sample_order_invariance": "compares two fits on the same rows",
}


@dataclass(frozen=True)
class Checked:
    """An estimator that scikit-learn's checks are run on.

    Parameters
    ----------
    name : str
        How it is declared.
    model : estimator
        With its declarations.
    expected : dict
        The checks that may fail, each with its reason.
    nightly : bool
        Whether it takes long.
    """

    name: str
    model: Any
    expected: dict[str, str] = field(default_factory=dict)
    nightly: bool = False


WIDE = {"x_bounds": dp.Box(lower=-1000, upper=1000), "adjacency": dp.Replace()}
NUMBERS, COUNTS = {"y_bounds": dp.Interval(-1000, 1000)}, {"y_bounds": dp.Interval(0, 1000)}
SMALL = {"budget": dp.Approx(epsilon=1, delta="1e-6")}
# With a budget so large no noise is left.
PURE, ZCDP = {"budget": dp.Pure(epsilon=10**30)}, {"budget": dp.Zcdp(rho=10**26)}
DRAWN = {"row_norm": 1000.0, "adjacency": dp.Replace()}


def front(kind, **declared):
    """Return checks of the front door, also of methods by name and of rows with a norm."""
    weighted = {**WIDE, "max_sample_weight": 1000, **declared, **SMALL}
    normed = {"row_norm": 10, "adjacency": dp.Replace(), **declared, **SMALL}
    yield Checked("bounds", kind(**weighted), OF_WEIGHTS)
    if kind is dp.LinearRegression:
        yield Checked("moments", kind(**weighted, method="moments"), UNWEIGHTED)
    if kind is dp.LogisticRegression:
        yield Checked("perturbation", kind(**weighted, method="perturbation"), UNWEIGHTED)
    if kind is not dp.PoissonRegression:
        yield Checked("of a norm", kind(**normed), UNWEIGHTED)


def functional(kind, **declared):
    """Return checks of the functional mechanism."""
    yield Checked("without noise", kind(**PURE, **WIDE, **declared))
    if kind is dp.FunctionalLogisticRegression:
        yield Checked("minimax, without noise", kind(**PURE, **WIDE, approximation="minimax", radius=4))
    yield Checked("with noise", kind(budget=dp.Pure(epsilon=1), **WIDE, **declared), INEVITABLE)


def descending(make, ways=({},), *, large=ZCDP, slow=False, always_slow=False, **declared):
    """Return checks of the second pillar: without noise every one passes, with noise but the inevitable."""
    for way in ways:
        told = {"row_norm": 10, **declared, **way}
        name = ", ".join(map(str, way.values()))
        yield Checked(f"{name} without noise".strip(), make(**told, **large), nightly=slow)
        yield Checked(f"{name} with noise".strip(), make(**told, **SMALL), INEVITABLE, nightly=always_slow)


def drawn(kind, **declared):
    """Return checks of K-norm gradients."""
    for epsilon in (1, 10**6):
        model = kind(budget=dp.Pure(epsilon=epsilon), **DRAWN, **declared)
        yield Checked(f"epsilon {epsilon}", model, OF_DRAWS)


UNBOUNDED = {"sparsity": None}
RIVAL_PURE = {"budget": dp.Pure(epsilon=10**26)}
CHECKED = {
    "LinearRegression": [*front(dp.LinearRegression, **NUMBERS)],
    "LogisticRegression": [*front(dp.LogisticRegression)],
    "PoissonRegression": [*front(dp.PoissonRegression, **COUNTS)],
    "FunctionalLinearRegression": [*functional(dp.FunctionalLinearRegression, **NUMBERS)],
    "FunctionalLogisticRegression": [*functional(dp.FunctionalLogisticRegression)],
    "SparseLinearRegression": [
        *descending(
            sparse_linear,
            ({}, *({"selection": name} for name in ("peel", "coordinate", "all")), {"fit_intercept": False}),
            **UNBOUNDED,
            **NUMBERS,
        )
    ],
    "SparseLogisticRegression": [*descending(sparse_logistic, ({}, {"selection": "peel"}), **UNBOUNDED)],
    "FrankWolfeLinearRegression": [*descending(frank_wolfe_linear, radius=10, **NUMBERS)],
    "FrankWolfeLogisticRegression": [*descending(frank_wolfe_logistic, radius=10)],
    "TwoStageLinearRegression": [*descending(two_stage_linear, large=RIVAL_PURE, slow=True, **NUMBERS)],
    "TwoStageLogisticRegression": [*descending(two_stage_logistic, large=RIVAL_PURE, slow=True, always_slow=True)],
    "PerturbedLogisticRegression": [*descending(perturbed, ({}, {"method": "output"}), large=RIVAL_PURE, slow=True)],
    "KNormGradientLinearRegression": [*drawn(dp.KNormGradientLinearRegression, **NUMBERS)],
    "KNormGradientLogisticRegression": [*drawn(dp.KNormGradientLogisticRegression)],
    "PrivatePCA": [
        Checked(
            "sharp",
            dp.PrivatePCA(budget=dp.Pure(epsilon=10**4), adjacency=dp.Replace(), row_norm=50.0),
            OF_COMPONENTS,
        )
    ],
    "BoundsScaler": [
        Checked("bounds", dp.BoundsScaler(x_bounds=WIDE["x_bounds"])),
        Checked("constants", dp.BoundsScaler(x_bounds=WIDE["x_bounds"], center=1, scale=3)),
    ],
    "PrivateSearch": [
        Checked(
            "numbers",
            dp.PrivateSearch(
                sparse_linear(row_norm=10, **UNBOUNDED, **NUMBERS), {"n_steps": [1, 2]}, **SMALL, mean_runs=2
            ),
            INEVITABLE | {"check_fit2d_1sample": "one row makes no two parts, and the error says so"},
        )
    ],
}
# Grids of every table of the checks are too large: `sampling/test_quantile_regression.py` checks one of few columns.
ELSEWHERE = {"KNormGradientQuantileRegression"}


def outcomes(checked):
    """Return the outcomes of scikit-learn's checks; their warnings are theirs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.SkipTestWarning)
        warnings.simplefilter("ignore", sklearn.exceptions.EstimatorCheckFailedWarning)
        return check_estimator(checked.model, on_fail=None, on_skip=None, expected_failed_checks=checked.expected)


def test_scikit_learns_checks_are_run_on_every_public_estimator():
    """An estimator that is added needs a line above."""
    public = {name for name in dp.__all__ if inspect.isclass(getattr(dp, name))}
    fitted = {name for name in public if issubclass(getattr(dp, name), BaseEstimator)}
    assert CHECKED.keys() | ELSEWHERE == fitted
    assert all(type(checked.model).__name__ == name for name, listed in CHECKED.items() for checked in listed)


@pytest.mark.parametrize(
    "checked",
    [
        pytest.param(checked, id=f"{name}, {checked.name}", marks=[pytest.mark.nightly] if checked.nightly else [])
        for name, listed in CHECKED.items()
        for checked in listed
    ],
)
def test_only_the_inevitable_checks_fail(checked):
    """Checks that compare two fits fail where there is noise, each for its listed reason, and no other."""
    results = outcomes(checked)
    assert {one["check_name"]: one["exception"] for one in results if one["status"] == "failed"} == {}
    assert {one["check_name"] for one in results if one["status"] == "xfail"} <= set(checked.expected)
    assert len(results) > 40


def test_tags_follow_the_declarations():
    """Sparse input where rows have a norm; counts alone are positive."""
    for make in (linear, poisson):
        assert not make().__sklearn_tags__().input_tags.sparse
        assert make(x_bounds=None, row_norm=1).__sklearn_tags__().input_tags.sparse
    assert poisson().__sklearn_tags__().target_tags.positive_only
    assert not linear().__sklearn_tags__().target_tags.positive_only


def test_a_grid_search_over_methods_leaves_one_entry_a_fit():
    """Every fit of a search is a release: two methods, three folds, and the last one."""
    X, targets = table(n=600)
    ledger = dp.Ledger(total=dp.Zcdp(rho=100), adjacency=dp.Replace())
    search = GridSearchCV(
        linear(budget=dp.Zcdp(rho=1)), {"method": ["descent", "moments"]}, cv=3, error_score="raise"
    ).fit(X, targets["linear"], ledger=ledger)
    assert len(ledger.entries) == 7
    assert search.best_params_["method"] in {"descent", "moments"}


def test_the_ledger_reaches_a_model_at_the_end_of_a_pipeline():
    """A public scaler may stand before it."""
    X, targets = table(n=600)
    ledger = dp.Ledger(total=dp.Zcdp(rho=100), adjacency=dp.Replace())
    scaler = dp.BoundsScaler(x_bounds=dp.Box(lower=0, upper=10))
    model = linear(budget=dp.Zcdp(rho=1), x_bounds=dp.Box(lower=-1, upper=1))
    with sklearn.config_context(enable_metadata_routing=True):
        make_pipeline(scaler, model).fit(X, targets["linear"], ledger=ledger)
    assert len(ledger.entries) == 1


def test_what_is_predicted_is_of_the_right_kind():
    """Numbers for numbers, positive means for counts, labels for labels."""
    X, targets = table(n=600)
    assert poisson().fit(X, targets["poisson"]).predict(X).min() > 0
    assert np.all(poisson().fit(X, targets["poisson"]).predict(1e9 * X) <= 30 * np.e * (1 + 1e-12))
    assert linear().fit(X, targets["linear"]).predict(X[:5]).shape == (5,)


@pytest.fixture
def rows():
    """Rows of a linear law."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-1000, 1000, size=(300, 3))
    return X, X @ [0.2, 0.3, -0.1]


def test_sem_07_a_scaler_by_declared_bounds_stands_before_a_model(rows):
    """SEM-07: the pipeline's model takes the scaled bounds; the fit is that of the unscaled one, in scaled units."""
    X, y = rows
    sharp = {"budget": dp.Pure(epsilon=10**9), **NUMBERS, "adjacency": dp.Replace()}
    scaler = dp.BoundsScaler(x_bounds=WIDE["x_bounds"])
    model = dp.FunctionalLinearRegression(x_bounds=scaler.scaled_bounds(), **sharp)
    pipeline = Pipeline([("scaler", scaler), ("model", model)]).fit(X, y)
    plain = dp.FunctionalLinearRegression(x_bounds=WIDE["x_bounds"], **sharp).fit(X, y)
    np.testing.assert_allclose(pipeline.predict(X), plain.predict(X), atol=1)
    np.testing.assert_allclose(model.coef_, plain.coef_ * 1000, rtol=1e-2)


def test_worker_processes_are_refused_and_nothing_is_charged(rows):
    """A ledger cannot be sent to another process, and the message says what to do instead."""
    import joblib

    ledger = dp.Ledger(total=dp.Pure(epsilon=100), adjacency=dp.Replace())
    model = dp.FunctionalLinearRegression(budget=dp.Pure(epsilon=1), **WIDE, **NUMBERS)
    with joblib.parallel_config(backend="loky"), pytest.raises(Exception, match="pickle") as caught:
        cross_val_score(model, *rows, cv=5, params={"ledger": ledger}, n_jobs=2, error_score="raise")
    chain, error = "", caught.value
    while error is not None:
        chain += str(error)
        error = error.__cause__ or error.__context__
    assert "thread" in chain
    assert ledger.entries == ()
