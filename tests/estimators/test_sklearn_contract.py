"""The scikit-learn contract of the front door: estimator checks, cross-validation, pipelines, routing."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn
import sklearn.exceptions
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import discreet as dp
from discreet.estimators.front_door import LinearRegression, LogisticRegression, PoissonRegression
from estimators.front import linear, logistic, poisson, table

# Tables of scikit-learn's checks have a few dozen rows, which the noise of a real budget hides.
pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.NoiseDominatedWarning")

# What no private estimator can pass, each with its reason.
INEVITABLE = {
    "check_fit_idempotent": "two fits are two releases, with two noises",
    "check_supervised_y_2d": "compares two fits on the same rows",
    "check_regressors_int": "compares two fits on the same rows",
    "check_regressor_data_not_an_array": "compares two fits on the same rows",
    "check_classifier_data_not_an_array": "compares two fits on the same rows",
    "check_sample_weight_equivalence_on_dense_data": "compares two fits on the same rows",
    "check_all_zero_sample_weights_error": "whether all weights are 0 is private, so that no error may tell",
}
_REFUSED = "the method's sensitivity is not proved for weights, which are refused by name"
UNWEIGHTED = INEVITABLE | {
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
WIDE = {"x_bounds": dp.Box(lower=-1000, upper=1000), "adjacency": dp.Replace(), "max_sample_weight": 1000}
NORMED = {"row_norm": 10, "adjacency": dp.Replace()}
NUMBERS, COUNTS = {"y_bounds": dp.Interval(-1000, 1000)}, {"y_bounds": dp.Interval(0, 1000)}
MODELS = {
    "linear": (LinearRegression, WIDE | NUMBERS),
    "linear, moments": (LinearRegression, WIDE | NUMBERS | {"method": "moments"}),
    "linear, of a norm": (LinearRegression, NORMED | NUMBERS),
    "logistic": (LogisticRegression, WIDE),
    "logistic, perturbation": (LogisticRegression, WIDE | {"method": "perturbation"}),
    "logistic, of a norm": (LogisticRegression, NORMED),
    "poisson": (PoissonRegression, WIDE | COUNTS),
}


def outcomes(model, **expected):
    """Return the outcomes of scikit-learn's checks; their warnings are theirs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.SkipTestWarning)
        warnings.simplefilter("ignore", sklearn.exceptions.EstimatorCheckFailedWarning)
        return check_estimator(model, on_fail=None, **expected)


def failed(results):
    return {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}


@pytest.mark.parametrize("name", MODELS)
def test_only_the_inevitable_checks_fail(name):
    """The checks that compare two fits fail, each for its listed reason, and no other."""
    make, declared = MODELS[name]
    weighted = "row_norm" not in declared and "method" not in declared
    expected = INEVITABLE if weighted else UNWEIGHTED
    results = outcomes(make(budget=dp.Approx(epsilon=1, delta="1e-6"), **declared), expected_failed_checks=expected)
    assert failed(results) == {}
    assert {result["check_name"] for result in results if result["status"] == "xfail"} <= set(expected)
    assert len(results) > 40


def test_the_tags_say_what_a_private_estimator_is():
    """Sparse input where rows have a norm; several classes; counts alone are positive; fits differ."""
    for make in (linear, logistic, poisson):
        tags = make().__sklearn_tags__()
        assert tags.non_deterministic
        assert tags.target_tags.required
        assert not tags.input_tags.sparse
        assert make(x_bounds=None, row_norm=1).__sklearn_tags__().input_tags.sparse
    assert logistic().__sklearn_tags__().classifier_tags.multi_class
    assert poisson().__sklearn_tags__().target_tags.positive_only
    assert linear().__sklearn_tags__().regressor_tags.poor_score


@pytest.fixture
def ledger():
    """A ledger with room for a hundred fits."""
    return dp.Ledger(total=dp.Zcdp(rho=100), adjacency=dp.Replace())


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_api_01_cross_validation_leaves_one_entry_a_fold(ledger, routing, sparse):
    """API-01: five folds are five entries in the one ledger, with routing off and on, dense and sparse."""
    X, targets = table(n=600)
    bounds = {"x_bounds": None, "row_norm": 20} if sparse else {}
    model = logistic(budget=dp.Zcdp(rho=1), **bounds)
    rows = scipy.sparse.csr_array(X) if sparse else X
    with sklearn.config_context(enable_metadata_routing=routing):
        scores = cross_val_score(model, rows, targets["logistic"], cv=5, params={"ledger": ledger}, error_score="raise")
    assert len(scores) == 5
    assert len(ledger.entries) == 5
    assert ledger.spent == dp.Zcdp(rho=5)


def test_a_grid_search_over_methods_leaves_one_entry_a_fit(ledger):
    """Every fit of a search is a release: two methods, three folds, and the last one."""
    X, targets = table(n=600)
    search = GridSearchCV(
        linear(budget=dp.Zcdp(rho=1)), {"method": ["descent", "moments"]}, cv=3, error_score="raise"
    ).fit(X, targets["linear"], ledger=ledger)
    assert len(ledger.entries) == 7
    assert search.best_params_["method"] in {"descent", "moments"}


def test_the_ledger_reaches_a_model_at_the_end_of_a_pipeline(ledger):
    """A public scaler may stand before it."""
    X, targets = table(n=600)
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
