"""What a model says: intervals where they are right, a dash and the reason elsewhere; files; reports."""

import json
import math

import numpy as np
import pytest

import discreet as dp
from discreet.estimators.front_door import LinearRegression, LogisticRegression, PoissonRegression
from discreet.estimators.methods import quality
from discreet.models.printed import Summary
from estimators.front import MODELS, linear, logistic, name_of, poisson, seeded, table, target_of

everyone = pytest.mark.parametrize("make", MODELS, ids=name_of)
CLASSES = {"linear": LinearRegression, "logistic": LogisticRegression, "poisson": PoissonRegression}


def noisy_table(n, seed, *, skewed=False):
    """Return rows whose residuals are as large as what the columns say, two columns of them alike."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 5))
    X[:, 3] = 0.8 * X[:, 2] + 0.2 * X[:, 3]
    errors = rng.exponential(0.3, n) - 0.3 if skewed else rng.normal(0, 0.3, n)
    return X, 0.1 + X @ [0.3, -0.2, 0.1, 0.0, 0.2] + errors


TRUTH = {"Intercept": 0.1, "x0": 0.3, "x1": -0.2, "x2": 0.1, "x3": 0.0, "x4": 0.2}


def noisy_model(**changes):
    declared = {"x_bounds": dp.Box(lower=-1, upper=1), "y_bounds": dp.Interval(-2, 2), "budget": dp.Gdp(mu=1)}
    return linear(**(declared | changes))


def test_a_descent_of_a_large_table_has_intervals_that_count_the_noise():
    """Standard errors, p-values, intervals and the noise's share, by name; and in the printed table."""
    X, y = noisy_table(60_000, 1)
    model = noisy_model()
    result = model.fit(X, y, ledger=seeded(model)).result()
    assert list(result.params) == list(TRUTH)
    assert result.why_no_intervals is None
    plain = np.sqrt(
        0.09 * np.diag(np.linalg.inv(np.column_stack([np.ones(60_000), X]).T @ np.column_stack([np.ones(60_000), X])))
    )
    for (name, error), sampling in zip(result.bse.items(), plain, strict=True):
        low, high = result.conf_int()[name]
        assert low < result.params[name] < high
        assert error >= 0.8 * sampling
        assert 0 < result.noise_shares[name] < 1
        assert low < TRUTH[name] < high or abs(result.params[name] - TRUTH[name]) < 4 * error
    assert result.pvalues["x0"] < 1e-6
    assert result.cov_params().shape == (6, 6)
    assert "95 % interval" in str(result)
    assert "<table>" in result._repr_html_()
    assert "Intervals cover sampling error" in str(result)


@pytest.mark.nightly
@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize(
    "budget", [dp.Gdp(mu=1), dp.Gdp(mu=3), dp.Approx(epsilon=4, delta="1e-6"), dp.Pure(epsilon=8)], ids=repr
)
def test_intervals_that_are_offered_cover(skewed, budget):
    """Of 95 % intervals 92 to 98 % hold the truth, of each coefficient's at least 88 %, in 150 simulated tables."""
    hits, offered = [], 0
    for seed in range(150):
        X, y = noisy_table(30_000, seed, skewed=skewed)
        model = noisy_model(budget=budget, method="descent")
        result = model.fit(X, y, ledger=seeded(model, seed=seed)).result()
        if result.uncertainty is None:
            continue
        offered += 1
        limits = result.conf_int()
        hits.append([limits[name][0] < value < limits[name][1] for name, value in TRUTH.items()])
    assert offered > 100
    assert 0.92 <= np.mean(hits) <= 0.98
    assert np.min(np.mean(hits, axis=0)) >= 0.88


@pytest.mark.parametrize(
    ("make", "changes", "reason"),
    [
        (linear, {"budget": dp.Gdp(mu="0.05")}, quality.CLIPPED),
        (linear, {"budget": dp.Gdp(mu=3)}, quality.RESIDUAL_NOISE),
        (linear, {"clip": 1.0}, quality.NOT_COUNTED),
        (linear, {"budget": dp.Gdp(mu=50), "fit_intercept": False, "adjacency": dp.AddRemove(), "expected_rows": 4000},
         quality.NO_COUNT),
        (linear, {"method": "threshold"}, quality.NOT_DESCENT),
        (linear, {"method": "sample"}, quality.RIDGE),
        (logistic, {}, quality.NO_LOGIT),
        (logistic, {"method": "moments"}, quality.PARABOLA),
        (poisson, {}, quality.NO_LOGIT),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::discreet.errors.NoiseDominatedWarning")
def test_where_no_interval_is_right_there_is_a_dash_and_the_reason(make, changes, reason):
    """Never an interval whose coverage is not known."""
    X, targets = table()
    model = make(**changes)
    result = model.fit(X, target_of(make, targets), ledger=seeded(model)).result()
    assert result.why_no_intervals == reason
    assert f"-: no intervals, for {reason}." in str(result)
    assert all(math.isnan(value) for value in result.bse.values())
    assert all(math.isnan(value) for value in result.pvalues.values())
    assert np.isnan(result.cov_params()).all()
    assert all(math.isnan(low) for low, _ in result.conf_int().values())
    # Of a parabola's coefficients not even the column is shown.
    assert ("% interval" in str(result)) is (reason != quality.PARABOLA)


def test_a_direction_that_the_gram_matrix_hides_has_no_interval():
    """Columns that are nearly alike, at a budget that does not tell them apart."""
    X, y = noisy_table(30_000, 1)
    model = noisy_model(budget=dp.Gdp(mu="0.3"))
    assert model.fit(X, y, ledger=seeded(model)).result().why_no_intervals == quality.GRAM_NOISE


def test_moments_keep_their_own_intervals():
    """The functional mechanism's sandwich."""
    X, targets = table()
    model = linear(method="moments", budget=dp.Gdp(mu=3))
    model.fit(X, targets["linear"], ledger=seeded(model))
    own = dp.FunctionalLinearRegression(
        budget=dp.Gdp(mu=3), x_bounds=model.x_bounds, y_bounds=model.y_bounds, adjacency=dp.Replace()
    ).fit(X, targets["linear"], ledger=seeded(model))
    assert own.result().bse == pytest.approx(model.result().bse)
    assert own.result().params == pytest.approx(model.result().params)


def test_a_model_of_several_text_classes_is_saved_and_read(tmp_path):
    """Labels keep their kind; one set of coefficients a class."""
    X, targets = table()
    labels = np.array(["low", "mid", "top"])[np.digitize(targets["linear"], [2.0, 6.0])]
    model = logistic(classes=("low", "mid", "top"), class_weight={"low": 2}, gram_share="1/4")
    model.fit(X, labels, ledger=seeded(model))
    model.save(tmp_path / "model.json")
    read = LogisticRegression.load(tmp_path / "model.json")
    assert read.predict(X).tolist() == model.predict(X).tolist()
    assert list(read.result().params)[:2] == ["low: Intercept", "low: x0"]


def test_a_damaged_or_foreign_file_is_refused_by_name(tmp_path):
    """Another class, other shapes, a method that there is not: one error that names the file."""
    X, targets = table(n=500)
    path = tmp_path / "model.json"
    model = linear().fit(X, targets["linear"])
    model.save(path)
    with pytest.raises(dp.InvalidData, match="holds a LinearRegression"):
        LogisticRegression.load(path)
    for name, value in (
        ("coef", [[1.0]]),
        ("method", "magic"),
        ("estimator", "Other"),
        ("uncertainty", {}),
        ("intercept", [math.inf]),
    ):
        content = json.loads(model.dumps())
        content[name] = value
        path.write_text(json.dumps(content))
        with pytest.raises(dp.InvalidData, match="holds a Other" if name == "estimator" else r"damaged|not a file"):
            LinearRegression.load(path)
    three = np.array([0, 1, 2])[np.digitize(targets["linear"], [2.0, 6.0])]
    several = logistic(classes=(0, 1, 2)).fit(X, three)
    content = json.loads(several.dumps())
    content["classes"] = [0, 1]
    path.write_text(json.dumps(content))
    with pytest.raises(dp.InvalidData, match="damaged"):
        LogisticRegression.load(path)


def test_labels_that_no_file_can_hold_are_refused():
    """Objects other than texts, numbers and booleans."""
    X, targets = table(n=500)
    labels = np.array([(0,), (1,)], dtype=object)
    kinds = np.empty(2, dtype=object)
    kinds[:] = [(0,), (1,)]
    model = logistic(classes=list(kinds)).fit(X, kinds[targets["logistic"]])
    with pytest.raises(dp.InvalidArgument, match="texts, numbers or booleans"):
        model.dumps()
    assert labels.shape == (2, 1)


@everyone
def test_a_report_says_method_reason_and_estimates(make, tmp_path):
    """A finding for the page, made without a look at the rows."""
    X, targets = table()
    model = make()
    model.fit(X, target_of(make, targets), ledger=seeded(model))
    finding = model.to_finding()
    assert dict(finding.asked)["Method"] == "descent"
    assert dict(finding.asked)["Because"] == model.reason_
    assert [estimate.name for estimate in finding.estimates] == ["Intercept", "x0", "x1", "x2"]
    dp.write_report([model], None, tmp_path / "page.html")
    assert "descent, for the table is dense" in (tmp_path / "page.html").read_text()
    assert isinstance(model.summary(), Summary)
