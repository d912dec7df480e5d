"""One release of a table, many regressions from it."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import discreet as dp

HUGE = dp.Gdp(mu=10**12)


@pytest.fixture
def schema():
    """Public facts about a small table."""
    return dp.Schema(
        {
            "income": dp.Number(0, 100),
            "age": dp.Number(18, 90),
            "hours per week": dp.Number(0, 60),
            "sex": dp.Flag(),
            "region": dp.Category(("north", "south", "west")),
        },
        adjacency=dp.Replace(),
    )


@pytest.fixture
def frame():
    """Rows on exact grid points as far as possible, with a known law."""
    rng = np.random.default_rng(1)
    n = 3000
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 91, n).astype(float),
            "hours per week": rng.integers(0, 61, n).astype(float),
            "sex": rng.integers(0, 2, n).astype(float),
            "region": rng.choice(["north", "south", "west"], n),
        }
    )
    table["income"] = (
        10
        + 0.3 * table["age"]
        + 0.4 * table["hours per week"]
        + 5 * table["sex"]
        - 4 * (table["region"] == "south")
        + rng.normal(size=n)
    ).clip(0, 100)
    return table


@pytest.fixture
def moments(frame, schema):
    """A release with next to no noise."""
    return dp.release_moments(frame, schema, budget=HUGE)


def _plain(frame, columns, *, intercept=True, target="income"):
    dummies = {
        "south": frame["region"] == "south",
        "west": frame["region"] == "west",
        "north": frame["region"] == "north",
        "square": frame["age"] ** 2,
        "age:sex": frame["age"] * frame["sex"],
    }
    X = np.column_stack([dummies.get(name, frame.get(name)).astype(float) for name in columns])
    fit = LinearRegression(fit_intercept=intercept).fit(X, frame[target])
    return fit.coef_, fit.intercept_


@pytest.mark.parametrize(
    ("formula", "columns", "names"),
    [
        ("income ~ age", ["age"], ("age",)),
        ("income ~ age + `hours per week` + sex", ["age", "hours per week", "sex"], ("age", "hours per week", "sex")),
        ("income ~ age + region", ["age", "south", "west"], ("age", "region[south]", "region[west]")),
        ("income ~ C(region)", ["south", "west"], ("region[south]", "region[west]")),
    ],
)
def test_any_sub_model_is_read_from_one_release(frame, moments, formula, columns, names):
    """Each sub-model equals least squares on the same rows when there is next to no noise."""
    fit = moments.regress(formula)
    coef, intercept = _plain(frame, columns)
    np.testing.assert_allclose(fit.coef_, coef, rtol=2e-3, atol=2e-3)
    assert fit.intercept_ == pytest.approx(intercept, rel=2e-3, abs=2e-2)
    assert fit.feature_names == names
    assert tuple(fit.params) == ("Intercept", *names)


def test_any_target_among_the_terms_can_be_asked(frame, moments):
    """The release is symmetric: what was a regressor may be the target."""
    fit = moments.regress("age ~ income + sex")
    coef, _ = _plain(frame, ["income", "sex"], target="age")
    np.testing.assert_allclose(fit.coef_, coef, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize(
    ("formula", "columns"),
    [("income ~ age + sex - 1", ["age", "sex"]), ("income ~ 0 + age + region", ["age", "north", "south", "west"])],
)
def test_a_model_without_intercept_is_read_from_a_release_with_one(frame, moments, formula, columns):
    """The intercept can be left out afterwards; a category then has all its levels."""
    fit = moments.regress(formula)
    coef, _ = _plain(frame, columns, intercept=False)
    np.testing.assert_allclose(fit.coef_, coef, rtol=2e-3, atol=5e-3)
    assert fit.intercept_ == 0.0
    assert "Intercept" not in fit.params


def test_interactions_and_powers_are_terms(frame, schema):
    """Products are clipped, multiplied and put on their own grid."""
    moments = dp.release_moments(frame, schema, terms="income + age + sex + age:sex + I(age**2)", budget=HUGE)
    fit = moments.regress("income ~ age + sex + age:sex + I(age**2)")
    coef, _ = _plain(frame, ["age", "sex", "square", "age:sex"])
    named = dict(zip(["age", "sex", "I(age ** 2)", "age:sex"], coef, strict=True))
    for name, value in named.items():
        assert fit.params[name] == pytest.approx(value, rel=0.05, abs=0.02)


def test_a_fit_without_intercept_equals_least_squares(frame, schema):
    """A release made for a model without intercept keeps zero at zero."""
    from discreet.functional.moments import release_design
    from discreet.tables.design import Design

    design = Design.for_formula("income ~ age + sex - 1", schema)
    fit = release_design(frame, design, budget=HUGE).regress("income ~ age + sex - 1")
    coef, _ = _plain(frame, ["age", "sex"], intercept=False)
    np.testing.assert_allclose(fit.coef_, coef, rtol=2e-3)


def test_what_was_not_released_is_refused_by_name(frame, schema):
    """A term outside the release is an error that names it; nothing is read again."""
    moments = dp.release_moments(frame, schema, terms="income + age", budget=HUGE)
    with pytest.raises(dp.InvalidFormula, match="sex"):
        moments.regress("income ~ age + sex")
    with pytest.raises(dp.InvalidFormula, match="Income"):
        moments.regress("Income ~ age")


def test_a_saved_release_answers_as_the_first_one_did(frame, schema, tmp_path):
    """Moments load without the rows, and every answer is bitwise the same."""
    moments = dp.release_moments(frame, schema, budget=dp.Pure(epsilon=1))
    path = tmp_path / "census.moments.json"
    moments.save(path)
    loaded = dp.Moments.load(path)
    formula = "income ~ age + region"
    np.testing.assert_array_equal(loaded.regress(formula).coef_, moments.regress(formula).coef_)
    assert loaded.release.event == moments.release.event
    assert loaded.layout == moments.layout
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == path.read_text()


def test_a_saved_model_predicts_as_the_first_one_did(frame, schema, tmp_path):
    """RegressionResult loads without rows or release and predicts bitwise the same from a frame."""
    fit = dp.release_moments(frame, schema, budget=HUGE).regress("income ~ age + region")
    fit.save(tmp_path / "model.json")
    loaded = dp.RegressionResult.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(frame), fit.predict(frame))
    expected = fit.params["Intercept"] + fit.params["age"] * frame["age"]
    expected += frame["region"].map(
        {"north": 0.0, "south": fit.params["region[south]"], "west": fit.params["region[west]"]}
    )
    np.testing.assert_allclose(fit.predict(frame), expected, rtol=1e-3)
    assert loaded.summary().__str__() == fit.summary().__str__()


def test_damaged_files_are_refused_by_name(frame, schema, tmp_path):
    """Whatever is done to a file, loading names the file and does not crash."""
    moments = dp.release_moments(frame, schema, budget=dp.Pure(epsilon=1))
    path = tmp_path / "moments.json"
    moments.save(path)
    whole = json.loads(path.read_text())
    damaged = [
        "",
        "[]",
        "{}",
        path.read_text()[:-40],
        json.dumps({**whole, "discreet": 99}),
        json.dumps({**whole, "kind": "regression"}),
        json.dumps({**whole, "upper_triangle": whole["upper_triangle"][:-1]}),
        json.dumps({**whole, "label": "very private"}),
        json.dumps({**whole, "step_bits": None}),
        json.dumps({key: value for key, value in whole.items() if key != "event"}),
    ]
    for text in damaged:
        path.write_text(text)
        with pytest.raises(dp.InvalidData, match="moments.json"):
            dp.Moments.load(path)
    with pytest.raises(dp.InvalidArgument, match="no file"):
        dp.Moments.load(tmp_path / "absent.json")


def test_the_summary_shows_a_dash_and_the_reason(frame, schema):
    """Where no interval is valid none is shown, and the table says why."""
    few = dp.release_moments(frame[:50], schema, budget=dp.Pure(epsilon="0.01"))
    with pytest.warns(dp.NoiseDominatedWarning):
        fit = few.regress("income ~ age")
    text = str(fit.summary())
    assert "Intercept" in text
    assert f"-: {fit.why_no_intervals}." in text
    assert "ridge" in fit.why_no_intervals
    assert "Noise-dominated" in text
    assert all(np.isnan(value) for value in fit.bse.values())
    assert all(np.isnan(value) for value in fit.pvalues.values())
    assert all(np.isnan(value) for value in fit.noise_shares.values())
    assert all(np.isnan(low) for low, _ in fit.conf_int().values())
    assert all(np.isnan(low) for low, _ in fit.conf_int(method="bootstrap").values())
    assert np.isnan(fit.cov_params()).all()
    assert fit.cov_params().shape == (2, 2)


def test_the_adjacency_must_be_said_once_and_alike(frame, schema):
    """Argument, ledger and schema must speak of the same neighbours, and at least one must speak."""
    ledger = dp.Ledger(total=dp.Pure(epsilon=1), adjacency=dp.AddRemove())
    with pytest.raises(dp.errors.AdjacencyMismatch, match="ledger"):
        dp.release_moments(frame, schema, budget=dp.Pure(epsilon=1), ledger=ledger)
    silent = dp.Schema(schema.columns)
    with pytest.raises(dp.InvalidArgument, match="adjacency"):
        dp.release_moments(frame, silent, budget=dp.Pure(epsilon=1))
    released = dp.release_moments(frame, silent, budget=dp.Pure(epsilon=1), ledger=ledger)
    assert released.release.adjacency == dp.AddRemove()
    assert released.release.value.n_rows is None


def test_the_number_of_rows_is_public_only_where_every_row_contributes(frame, schema):
    """Under Replace n stands in the corner; where a column may drop records the corner stays noisy."""
    public = dp.release_moments(frame, schema, budget=dp.Pure(epsilon=1))
    assert public.release.value.n_rows == len(frame)
    assert public.gram()[0, 0] == len(frame)
    columns = {**schema.columns, "age": dp.Number(18, 90, missing="drop")}
    dropping = dp.Schema(columns, adjacency=dp.Replace())
    assert dp.release_moments(frame, dropping, budget=dp.Pure(epsilon=1)).release.value.n_rows is None


def test_an_empty_table_runs_under_add_remove_only(frame, schema):
    """A header without rows is refused under Replace, where the count is public, and runs under AddRemove."""
    with pytest.raises(dp.InvalidData, match="no rows"):
        dp.release_moments(frame[:0], schema, budget=dp.Pure(epsilon=1))
    columns = dp.Schema(schema.columns)
    released = dp.release_moments(frame[:0], columns, budget=dp.Pure(epsilon=1), adjacency=dp.AddRemove())
    with pytest.warns(dp.NoiseDominatedWarning):
        assert np.isfinite(released.regress("income ~ age").coef_).all()


def test_moments_of_arrays_answer_no_formula(frame):
    """Without a schema there are no names to write a formula with, and the message says so."""
    X = frame[["age", "sex"]].to_numpy()
    model = dp.FunctionalLinearRegression(
        budget=HUGE, x_bounds=dp.Box(lower=0, upper=90), y_bounds=dp.Interval(0, 100), adjacency=dp.Replace()
    ).fit(X, frame["income"])
    with pytest.raises(dp.InvalidArgument, match="schema"):
        model.moments_.regress("y ~ x0")
    with pytest.raises(dp.InvalidArgument, match="schema"):
        model.moments_.dumps()


def test_the_noise_of_an_entry_has_the_scale_that_is_said(frame, schema):
    """Over many seeded releases the standard deviation of an off-diagonal entry is `noise_scale`, within 10 %."""
    small = frame[:200]
    exact = dp.release_moments(small, schema, terms="income + age", budget=HUGE).gram()
    for budget in (dp.Pure(epsilon=1), dp.Gdp(mu=1)):
        errors = []
        for seed in range(600):
            ledger = dp.Ledger(total=budget, adjacency=dp.Replace(), coins=dp.privacy.Coins.from_seed(seed))
            released = dp.release_moments(small, schema, terms="income + age", budget=budget, ledger=ledger)
            errors.append((released.gram() - exact)[1, 2])
        assert np.std(errors) == pytest.approx(released.noise_scale(), rel=0.1)
        assert abs(np.mean(errors)) < 5 * released.noise_scale() / np.sqrt(600)


def test_fr_03_survey_items_called_1_and_2_are_both_released():
    """FR-03: terms of a release and the regressions read from it keep a column called 1."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(-1, 1, size=(500, 2)), columns=["1", "2"])
    table["y"] = 2 * table["1"] - table["2"]
    schema = dp.Schema({name: dp.Number(-3, 3) for name in ("1", "2", "y")}, adjacency=dp.Replace())
    moments = dp.release_moments(table, schema, terms="y + `1` * `2`", budget=HUGE)
    assert moments.names == ("y", "1", "2", "1:2")
    model = moments.regress("y ~ `1` + `2` - 1")
    assert model.params == pytest.approx({"1": 2, "2": -1}, abs=1e-3)
