"""The scikit-learn contract of the second pillar: estimator checks, cross-validation, pipelines, routing."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn
import sklearn.exceptions
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.estimator_checks import check_estimator

import discreet as dp
from descent.estimators import (
    ALL,
    LINEAR,
    frank_wolfe_linear,
    frank_wolfe_logistic,
    name_of,
    perturbed,
    sparse_linear,
    sparse_logistic,
    table,
    two_stage_linear,
    two_stage_logistic,
)

# What no private estimator can pass, each with its reason.
INEVITABLE = {
    "check_fit_idempotent": "two fits are two releases, with two noises",
    "check_supervised_y_2d": "compares two fits on the same rows",
    "check_regressors_int": "compares two fits on the same rows",
    "check_regressor_data_not_an_array": "compares two fits on the same rows",
    "check_classifier_data_not_an_array": "compares two fits on the same rows",
}
TABLES = {"row_norm": 10}
WIDE = {**TABLES, "y_bounds": dp.Interval(-1000, 1000)}
ZCDP, PURE = dp.Zcdp(rho=10**26), dp.Pure(epsilon=10**26)

MODELS = {
    "sparse linear": (sparse_linear, {"sparsity": None, **WIDE}, ZCDP),
    "sparse linear, peel": (sparse_linear, {"sparsity": None, "selection": "peel", **WIDE}, ZCDP),
    "sparse linear, coordinate": (sparse_linear, {"sparsity": None, "selection": "coordinate", **WIDE}, ZCDP),
    "sparse linear, all": (sparse_linear, {"sparsity": None, "selection": "all", **WIDE}, ZCDP),
    "sparse linear, no intercept": (sparse_linear, {"sparsity": None, "fit_intercept": False, **WIDE}, ZCDP),
    "sparse logistic": (sparse_logistic, {"sparsity": None, **TABLES}, ZCDP),
    "sparse logistic, peel": (sparse_logistic, {"sparsity": None, "selection": "peel", **TABLES}, ZCDP),
    "frank-wolfe linear": (frank_wolfe_linear, {"radius": 10, **WIDE}, ZCDP),
    "frank-wolfe logistic": (frank_wolfe_logistic, {"radius": 10, **TABLES}, ZCDP),
    "two-stage linear": (two_stage_linear, WIDE, PURE),
    "two-stage logistic": (two_stage_logistic, TABLES, PURE),
    "perturbed": (perturbed, TABLES, PURE),
    "perturbed output": (perturbed, {"method": "output", **TABLES}, PURE),
}


def outcomes(model, **expected):
    """Return the outcomes of scikit-learn's checks; their warnings are theirs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.SkipTestWarning)
        warnings.simplefilter("ignore", sklearn.exceptions.EstimatorCheckFailedWarning)
        return check_estimator(model, on_fail=None, **expected)


def failed(results):
    return {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}


SLOW = {"two-stage linear", "two-stage logistic", "perturbed", "perturbed output"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.nightly) if name in SLOW else name for name in MODELS]
)
def test_check_estimator_passes_where_the_noise_rounds_to_zero(name):
    """With a budget so large that no noise is left, every check of scikit-learn passes."""
    make, declared, budget = MODELS[name]
    results = outcomes(make(budget=budget, **declared))
    assert failed(results) == {}
    assert len(results) > 40


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.nightly) if "two-stage logistic" in name else name for name in MODELS]
)
def test_at_a_small_budget_only_the_inevitable_checks_fail(name):
    """With ordinary noise the checks that compare two fits fail, each for its listed reason, and no other."""
    make, declared, _ = MODELS[name]
    results = outcomes(make(budget=dp.Approx(epsilon=1, delta="1e-6"), **declared), expected_failed_checks=INEVITABLE)
    assert failed(results) == {}
    assert {result["check_name"] for result in results if result["status"] == "xfail"} <= set(INEVITABLE)


@pytest.mark.parametrize("make", ALL, ids=name_of)
def test_the_tags_say_what_a_private_estimator_is(make):
    """Sparse input is taken, scores are poor, fits differ; classifiers take several classes."""
    tags = make().__sklearn_tags__()
    assert tags.input_tags.sparse
    assert tags.non_deterministic
    if make in LINEAR:
        assert tags.regressor_tags.poor_score
        assert tags.target_tags.required
    else:
        assert tags.classifier_tags.poor_score
        assert tags.classifier_tags.multi_class


@pytest.fixture
def ledger():
    """A ledger with room for a hundred fits."""
    return dp.Ledger(total=dp.Zcdp(rho=100), adjacency=dp.Replace())


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_api_01_cross_validation_of_sparse_rows_leaves_one_entry_a_fold(ledger, routing, n_jobs):
    """API-01: five folds are five entries in the one ledger, with routing off and on, in threads too."""
    import joblib

    X, _, labels = table()
    model = sparse_logistic(classes=(0, 1))
    with sklearn.config_context(enable_metadata_routing=routing), joblib.parallel_config(backend="threading"):
        scores = cross_val_score(
            model,
            scipy.sparse.csr_array(X),
            labels,
            cv=5,
            params={"ledger": ledger},
            n_jobs=n_jobs,
            error_score="raise",
        )
    assert len(scores) == 5
    assert len(ledger.entries) == 5
    assert ledger.spent == dp.Zcdp(rho=5)


@pytest.mark.parametrize("routing", [False, True])
def test_grid_search_leaves_one_entry_a_fit(ledger, routing):
    """Two candidates, three folds and a refit are seven entries."""
    X, y, _ = table()
    with sklearn.config_context(enable_metadata_routing=routing):
        search = GridSearchCV(sparse_linear(), {"sparsity": [2, 4]}, cv=KFold(3), error_score="raise")
        search.fit(X, y, ledger=ledger)
    assert len(ledger.entries) == 7


@pytest.mark.parametrize("routing", [False, True])
def test_a_pipeline_passes_the_ledger_on(ledger, routing):
    """Rows that a step before brings to norm 1, each by itself, are a private fit's."""
    X, y, _ = table()
    pipeline = Pipeline([("rows", Normalizer()), ("model", sparse_linear(row_norm=1.0))])
    with sklearn.config_context(enable_metadata_routing=routing):
        pipeline.fit(scipy.sparse.csr_array(X), y, **({"ledger": ledger} if routing else {"model__ledger": ledger}))
    assert len(ledger.entries) == 1
    assert pipeline.predict(scipy.sparse.csr_array(X)).shape == (300,)


def test_api_03_a_column_of_targets_is_warned_of_where_it_was_given():
    """API-03: y of shape (n, 1) gives scikit-learn's warning, at the caller's line, and the fit of the flat one."""
    X, y, _ = table()
    with pytest.warns(sklearn.exceptions.DataConversionWarning, match="column-vector") as caught:
        model = sparse_linear().fit(X, y[:, None])
    assert caught[0].filename == __file__
    assert model.predict(X).shape == (300,)
    assert np.ndim(model.intercept_) == 0
