"""Steps that are too long for correlated rows are known by what they released, and are said to be."""

import warnings

import numpy as np
import pytest
import scipy.sparse

import discreet as dp
from discreet.estimators.front_door import LinearRegression, LogisticRegression
from discreet.models.printed import STEPS_TOO_LONG
from estimators.front import seeded

BUDGET = dp.Approx(epsilon=1, delta="1e-6")
COMMON = {"budget": BUDGET, "adjacency": dp.Replace(), "method": "threshold"}
BOX = {"x_bounds": dp.Box(lower=-1, upper=1)}


def rows(n, d, correlation, seed=0):
    """Return rows within [-1, 1] of equally correlated columns, and a target that five of them tell."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n, 1))
    X = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * rng.normal(size=(n, d))
    X = np.clip(X / 3, -1, 1)
    slopes = np.zeros(d)
    slopes[:5] = 0.3 * rng.choice([-1, 1], 5)
    return X, np.clip(X @ slopes + rng.normal(scale=0.1, size=n), -1, 1)


def linear(**changes):
    return LinearRegression(**(COMMON | BOX | {"y_bounds": dp.Interval(-1, 1)} | changes))


def logistic(**changes):
    return LogisticRegression(**(COMMON | BOX | {"classes": (False, True)} | changes))


def stored_sparse(X):
    """Return the rows as a sparse matrix, whose steps are not shortened, and what declares them."""
    return scipy.sparse.csr_array(X), {"x_bounds": None, "row_norm": np.sqrt(X.shape[1]), "entry_bound": 1.0}


def explained(model, X, y):
    return 1 - np.mean((y - model.predict(X)) ** 2) / np.var(y)


def loss_of(model, X, y):
    return np.mean(np.logaddexp(0.0, -model.decision_function(X) * np.where(y > 0, 1, -1)))


def fitted(model, X, y):
    return model.fit(X, y, ledger=seeded(model))


# The first is one long step; the others swing, or start too long.
@pytest.mark.parametrize(("n", "d", "correlation"), [(5000, 300, 0.9), (20_000, 300, 0.3), (5000, 100, 0.9)])
def test_least_squares_that_went_astray_say_so(n, d, correlation, tmp_path):
    """The model predicts worse than the mean; the warning, the release, the table and the file say why."""
    X, y = rows(n, d, correlation)
    X, declared = stored_sparse(X)
    with pytest.warns(dp.NoiseDominatedWarning, match="^Steps were longer than these rows allow.*step_size"):
        model = fitted(linear(**declared), X, y)
    assert explained(model, X, y) < 0
    assert model.noise_dominated_
    assert STEPS_TOO_LONG in model.release_.notes
    text = str(model.result())
    assert f"Note: {STEPS_TOO_LONG}." in text
    assert "privacy noise." not in text.replace("not the bias", "")
    model.save(tmp_path / "model.json")
    again = LinearRegression.load(tmp_path / "model.json")
    assert again.noise_dominated_
    assert str(again.result()) == text


@pytest.mark.parametrize(("n", "d"), [(5000, 100), (20_000, 300)])
def test_labels_that_went_astray_say_so(n, d):
    """The loss is above that of the even guess."""
    X, y = rows(n, d, 0.9)
    X, declared = stored_sparse(X)
    with pytest.warns(dp.NoiseDominatedWarning, match="^Steps were longer"):
        model = fitted(logistic(**declared), X, y > 0)
    assert loss_of(model, X, y) > np.log(2)


def test_short_steps_that_still_swing_say_so():
    """Columns so little alike that the first gradient does not tell it, under one step too few."""
    X, y = rows(20_000, 300, 0.3)
    with pytest.warns(dp.NoiseDominatedWarning, match="^Steps were longer"):
        model = fitted(logistic(), X, y > 0)
    assert loss_of(model, X, y) > np.log(2)


# Least R2, and the largest loss, of the method; of rows of 300 alike columns without shorter steps they are -33 and 3.
@pytest.mark.parametrize(
    ("n", "d", "correlation", "method", "least", "most"),
    [
        (20_000, 300, 0.9, "threshold", 0.3, 0.62),
        (20_000, 300, 0.9, "peel", 0.25, 0.65),
        (5000, 300, 0.9, "threshold", 0.25, 0.72),
        (5000, 100, 0.9, "threshold", 0.3, 0.62),
        (5000, 100, 0.9, "peel", 0.25, 0.66),
    ],
)
def test_dense_rows_of_columns_alike_are_fitted_by_shorter_steps(n, d, correlation, method, least, most):
    """A model that is worth something where steps of the default length diverge, and no warning."""
    X, y = rows(n, d, correlation)
    with warnings.catch_warnings():
        warnings.simplefilter("error", dp.NoiseDominatedWarning)
        numbers = fitted(linear(method=method), X, y)
        labels = fitted(logistic(method=method), X, y > 0)
    assert explained(numbers, X, y) > least
    assert loss_of(labels, X, y) < most
    for model in (numbers, labels):
        assert model.release_.value.first_factor < 0.5
        assert STEPS_TOO_LONG not in model.release_.notes


@pytest.mark.parametrize("method", ["threshold", "peel"])
def test_a_dense_norm_shortens_steps_as_bounds_do(method):
    """Of rows with a norm, those that are stored with their zeros."""
    X, y = rows(20_000, 300, 0.9)
    sparse, declared = stored_sparse(X)
    dense = fitted(linear(method=method, **declared), X, y)
    assert explained(dense, X, y) > 0.25
    with pytest.warns(dp.NoiseDominatedWarning):
        long = fitted(linear(method=method, **declared), sparse, y)
    assert explained(long, sparse, y) < -1
    assert repr(long.release_.event) == repr(dense.release_.event)


def test_columns_that_are_independent_keep_their_steps():
    """To the bit what they were."""
    X, y = rows(20_000, 300, 0.0)
    sparse, declared = stored_sparse(X)
    for make, target in ((linear, y), (logistic, y > 0)):
        whole, maybe = (fitted(make(**declared), matrix, target).release_.value for matrix in (sparse, X))
        assert maybe.settings.shorten_steps
        assert not whole.settings.shorten_steps
        np.testing.assert_array_equal(maybe.theta, whole.theta)


@pytest.mark.parametrize("make", [linear, logistic], ids=["linear", "logistic"])
@pytest.mark.parametrize(
    ("n", "d", "correlation", "settings"),
    [
        (5000, 20, 0.9, {}),
        (20_000, 300, 0.0, {}),
        (5000, 100, 0.3, {}),
        (20_000, 300, 0.9, {"sparsity": 10}),
    ],
)
def test_steps_that_the_rows_bear_are_not_suspected(make, n, d, correlation, settings):
    """The model beats the mean or the even guess, and no warning is given."""
    X, y = rows(n, d, correlation)
    target = y if make is linear else y > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error", dp.NoiseDominatedWarning)
        model = fitted(make(**settings), X, target)
    assert not model.noise_dominated_
    assert STEPS_TOO_LONG not in model.release_.notes


def test_a_shorter_step_finds_what_the_default_lost():
    """What the warning advises helps."""
    X, y = rows(20_000, 300, 0.9)
    X, declared = stored_sparse(X)
    errors = {}
    for name, settings in {"default": {}, "short": {"step_size": 0.05, "n_steps": 10}}.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dp.NoiseDominatedWarning)
            model = fitted(linear(**settings, **declared), X, y)
        errors[name] = 1 - explained(model, X, y)
        assert (STEPS_TOO_LONG in model.release_.notes) == (name == "default")
    assert errors["short"] < 1 < errors["default"]
