"""Steps that are too long for correlated rows are known by what they released, and are said to be."""

import warnings

import numpy as np
import pytest

import discreet as dp
from discreet.regression.models import LinearRegression, LogisticRegression
from discreet.regression.quality import ASTRAY
from regression.front import seeded

BUDGET = dp.Approx(epsilon=1, delta="1e-6")
COMMON = {"budget": BUDGET, "adjacency": dp.Replace(), "x_bounds": dp.Box(lower=-1, upper=1), "method": "threshold"}


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
    return LinearRegression(**(COMMON | {"y_bounds": dp.Interval(-1, 1)} | changes))


def logistic(**changes):
    return LogisticRegression(**(COMMON | {"classes": (False, True)} | changes))


def fitted(model, X, y):
    return model.fit(X, y, ledger=seeded(model))


# The first is one long step; the others swing, or start too long.
@pytest.mark.parametrize(("n", "d", "correlation"), [(5000, 300, 0.9), (20_000, 300, 0.3), (5000, 100, 0.9)])
def test_least_squares_that_went_astray_say_so(n, d, correlation, tmp_path):
    """The model predicts worse than the mean; the warning, the release, the table and the file say why."""
    X, y = rows(n, d, correlation)
    with pytest.warns(dp.NoiseDominatedWarning, match="^Steps were longer than these rows bear.*step_size"):
        model = fitted(linear(), X, y)
    assert np.mean((y - model.predict(X)) ** 2) > np.var(y)
    assert model.noise_dominated_
    assert ASTRAY in model.release_.notes
    text = str(model.result())
    assert f"Note: {ASTRAY}." in text
    assert "privacy noise." not in text.replace("not the bias", "")
    model.save(tmp_path / "model.json")
    again = LinearRegression.load(tmp_path / "model.json")
    assert again.noise_dominated_
    assert str(again.result()) == text


@pytest.mark.parametrize(("n", "d"), [(5000, 100), (20_000, 300)])
def test_labels_that_went_astray_say_so(n, d):
    """The loss is above that of the even guess."""
    X, y = rows(n, d, 0.9)
    with pytest.warns(dp.NoiseDominatedWarning, match="^Steps were longer"):
        model = fitted(logistic(), X, y > 0)
    margins = model.decision_function(X) * np.where(y > 0, 1, -1)
    assert np.mean(np.logaddexp(0.0, -margins)) > np.log(2)


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
    assert ASTRAY not in model.release_.notes


def test_a_shorter_step_finds_what_the_default_lost():
    """What the warning advises helps."""
    X, y = rows(20_000, 300, 0.9)
    errors = {}
    for name, settings in {"default": {}, "short": {"step_size": 0.05, "n_steps": 10}}.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dp.NoiseDominatedWarning)
            model = fitted(linear(**settings), X, y)
        errors[name] = np.mean((y - model.predict(X)) ** 2) / np.var(y)
        assert (ASTRAY in model.release_.notes) == (name == "default")
    assert errors["short"] < 1 < errors["default"]
