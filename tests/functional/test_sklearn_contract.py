"""The scikit-learn contract: estimator checks, cross-validation, pipelines, routing."""

import warnings

import numpy as np
import pytest
import sklearn
import sklearn.exceptions
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import discreet as dp

# Tables of scikit-learn's checks have a few dozen rows, which the noise of a real budget hides.
pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.NoiseDominatedWarning")

BOUNDS = {"x_bounds": dp.Box(lower=-1000, upper=1000), "y_bounds": dp.Interval(-1000, 1000), "adjacency": dp.Replace()}

# What no private estimator can pass, each with its reason.
INEVITABLE = {
    "check_fit_idempotent": "two fits are two releases, with two noises",
    "check_supervised_y_2d": "compares two fits on the same rows",
    "check_regressors_int": "compares two fits on the same rows",
    "check_regressor_data_not_an_array": "compares two fits on the same rows",
    "check_classifier_data_not_an_array": "compares two fits on the same rows",
}
CLASSIFIER = {"x_bounds": dp.Box(lower=-1000, upper=1000), "adjacency": dp.Replace()}
MINIMAX = {"approximation": "minimax", "radius": 4}


def linear(epsilon):
    return dp.FunctionalLinearRegression(budget=dp.Pure(epsilon=epsilon), **BOUNDS)


def logistic(epsilon, **changes):
    return dp.FunctionalLogisticRegression(budget=dp.Pure(epsilon=epsilon), **CLASSIFIER, **changes)


def outcomes(model, **expected):
    """Return the outcomes of scikit-learn's checks; their warnings are theirs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.SkipTestWarning)
        warnings.simplefilter("ignore", sklearn.exceptions.EstimatorCheckFailedWarning)
        return check_estimator(model, on_fail=None, **expected)


def failed(results):
    return {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}


@pytest.mark.parametrize(
    "model",
    [
        linear(10**30),
        logistic(10**30),
        logistic(10**30, **MINIMAX),
        dp.BoundsScaler(x_bounds=CLASSIFIER["x_bounds"]),
        dp.BoundsScaler(x_bounds=CLASSIFIER["x_bounds"], center=1, scale=3),
    ],
    ids=["linear", "logistic", "logistic minimax", "scaler", "scaler with constants"],
)
def test_check_estimator_passes_where_the_noise_rounds_to_zero(model):
    """With a budget so large that no noise is left, every check of scikit-learn passes."""
    results = outcomes(model)
    assert failed(results) == {}
    assert len(results) > 40


@pytest.mark.parametrize("model", [linear(1), logistic(1)], ids=["linear", "logistic"])
def test_at_epsilon_one_only_the_inevitable_checks_fail(model):
    """At epsilon 1 the checks that compare two fits fail, each for its listed reason, and no other."""
    results = outcomes(model, expected_failed_checks=INEVITABLE)
    assert failed(results) == {}
    assert {result["check_name"] for result in results if result["status"] == "xfail"} <= set(INEVITABLE)


def test_the_tags_say_what_a_private_estimator_is():
    """poor_score and non_deterministic are set."""
    tags = linear(1).__sklearn_tags__()
    assert tags.regressor_tags.poor_score
    assert tags.non_deterministic
    tags = logistic(1).__sklearn_tags__()
    assert tags.classifier_tags.poor_score
    assert not tags.classifier_tags.multi_class
    assert tags.non_deterministic


@pytest.fixture
def table():
    """Rows of a linear law."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-1000, 1000, size=(300, 3))
    return X, X @ [0.2, 0.3, -0.1]


@pytest.fixture
def ledger():
    """A ledger with room for a hundred fits."""
    return dp.Ledger(total=dp.Pure(epsilon=100), adjacency=dp.Replace())


def _model():
    return dp.FunctionalLinearRegression(budget=dp.Pure(epsilon=1), **BOUNDS)


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_api_01_cross_validation_leaves_one_entry_a_fold(table, ledger, routing, n_jobs):
    """API-01: five folds are five entries in the one ledger, with routing off and on, in threads too."""
    import joblib

    with sklearn.config_context(enable_metadata_routing=routing), joblib.parallel_config(backend="threading"):
        scores = cross_val_score(_model(), *table, cv=5, params={"ledger": ledger}, n_jobs=n_jobs, error_score="raise")
    assert len(scores) == 5
    assert len(ledger.entries) == 5
    assert ledger.spent == dp.Pure(epsilon=5)


@pytest.mark.parametrize("routing", [False, True])
def test_grid_search_leaves_one_entry_a_fit(table, ledger, routing):
    """Two candidates, three folds and a refit are seven entries."""
    with sklearn.config_context(enable_metadata_routing=routing):
        search = GridSearchCV(_model(), {"fit_intercept": [True, False]}, cv=KFold(3), error_score="raise")
        search.fit(*table, ledger=ledger)
    assert len(ledger.entries) == 7


@pytest.mark.parametrize("routing", [False, True])
def test_a_pipeline_passes_the_ledger_on(table, ledger, routing):
    """`model__ledger` without routing, `ledger` with it: one entry either way."""
    pipeline = Pipeline([("same", FunctionTransformer()), ("model", _model())])
    with sklearn.config_context(enable_metadata_routing=routing):
        pipeline.fit(*table, **({"ledger": ledger} if routing else {"model__ledger": ledger}))
    assert len(ledger.entries) == 1


def test_a_classifier_is_cross_validated_on_labels(table, ledger):
    """Folds of a classifier are drawn by its labels, and each is one entry."""
    X, y = table
    labels = np.where(y > 0, "yes", "no")
    scores = cross_val_score(
        logistic(1, classes=("no", "yes")), X, labels, cv=3, params={"ledger": ledger}, error_score="raise"
    )
    assert len(scores) == 3
    assert len(ledger.entries) == 3


def test_sem_07_a_scaler_by_declared_bounds_stands_before_a_model(table, ledger):
    """SEM-07: the pipeline's model takes the scaled bounds; the fit is that of the unscaled one, in scaled units."""
    X, y = table
    scaler = dp.BoundsScaler(x_bounds=BOUNDS["x_bounds"])
    scaled = {**BOUNDS, "x_bounds": scaler.scaled_bounds()}
    model = dp.FunctionalLinearRegression(budget=dp.Pure(epsilon=10**9), **scaled)
    pipeline = Pipeline([("scaler", scaler), ("model", model)]).fit(X, y)
    plain = linear(10**9).fit(X, y)
    np.testing.assert_allclose(pipeline.predict(X), plain.predict(X), atol=1)
    np.testing.assert_allclose(model.coef_, plain.coef_ * 1000, rtol=1e-2)


def test_worker_processes_are_refused_and_nothing_is_charged(table, ledger):
    """A ledger cannot be sent to another process, and the message says what to do instead."""
    import joblib

    with joblib.parallel_config(backend="loky"), pytest.raises(Exception, match="pickle") as caught:
        cross_val_score(_model(), *table, cv=5, params={"ledger": ledger}, n_jobs=2, error_score="raise")
    chain, error = "", caught.value
    while error is not None:
        chain += str(error)
        error = error.__cause__ or error.__context__
    assert "thread" in chain
    assert ledger.entries == ()
