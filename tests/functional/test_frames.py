"""Estimators on frames under a schema, against arrays with the same declarations."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression

import discreet as dp

SCHEMA = dp.Schema(
    {
        "age": dp.Number(18, 90),
        "sex": dp.Flag(),
        "region": dp.Category(["north", "south", "west"]),
        "income": dp.Number(0, 100),
        "rich": dp.Category(["no", "yes"]),
        "old": dp.Flag(),
    }
)
FEATURES = ["age", "sex", "region"]


@pytest.fixture
def people():
    """A frame of features and targets."""
    rng = np.random.default_rng(0)
    n = 3000
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 91, n),
            "sex": rng.integers(0, 2, n),
            "region": rng.choice(["north", "south", "west"], n),
        }
    )
    score = 20 + 0.5 * frame["age"] + 10 * frame["sex"] + 8 * (frame["region"] == "west") + rng.normal(size=n)
    frame["income"] = score.clip(0, 100)
    frame["rich"] = np.where(frame["income"] > 60, "yes", "no")
    frame["old"] = frame["age"] > 50
    return frame


def dummies(frame):
    """Return the features as an array, drop-first dummies at the end, and their box."""
    regions = [frame["region"] == level for level in ("south", "west")]
    X = np.column_stack([frame["age"], frame["sex"], *regions]).astype(float)
    return X, dp.Box(lower=[18, 0, 0, 0], upper=[90, 1, 1, 1], one_hot=[slice(1, 2), slice(2, 4)])


def linear(budget=dp.Gdp(mu=1), adjacency=dp.Replace(), **changes):  # noqa: B008
    return dp.FunctionalLinearRegression(budget=budget, adjacency=adjacency, **changes)


def logistic(budget=dp.Gdp(mu=1), adjacency=dp.Replace(), **changes):  # noqa: B008
    return dp.FunctionalLogisticRegression(budget=budget, adjacency=adjacency, **changes)


def seeded(adjacency=dp.Replace()):  # noqa: B008
    return dp.Ledger(total=dp.Gdp(mu=1), adjacency=adjacency, coins=dp.privacy.Coins.from_seed(0))


@pytest.mark.parametrize("adjacency", [dp.Replace(), dp.AddRemove()], ids=repr)
def test_a_frame_and_its_dummies_give_one_fit(people, adjacency):
    """Two roads, one answer: a category of a schema, and its dummies declared as a one-hot block, bit for bit."""
    X, box = dummies(people)
    roads = [
        linear(schema=SCHEMA, adjacency=adjacency).fit(people[FEATURES], people["income"], ledger=seeded(adjacency)),
        linear(x_bounds=box, y_bounds=dp.Interval(0, 100), adjacency=adjacency).fit(
            X, people["income"], ledger=seeded(adjacency)
        ),
    ]
    np.testing.assert_array_equal(roads[0].coef_, roads[1].coef_)
    assert roads[0].intercept_ == roads[1].intercept_
    np.testing.assert_allclose(roads[0].predict(people[FEATURES]), roads[1].predict(X), rtol=1e-12)
    assert roads[0].coef_names_.tolist() == ["age", "sex", "region[south]", "region[west]"]
    assert roads[0].n_features_in_ == 3


def test_labels_of_a_frame_and_of_an_array_give_one_fit(people):
    """The classes are the schema's levels; nothing was read from y."""
    X, box = dummies(people)
    framed = logistic(schema=SCHEMA).fit(people[FEATURES], people["rich"], ledger=seeded())
    plain = logistic(x_bounds=box, classes=("no", "yes")).fit(X, people["rich"], ledger=seeded())
    np.testing.assert_array_equal(framed.coef_, plain.coef_)
    assert framed.classes_.tolist() == ["no", "yes"]
    assert framed.release_.notes == ()
    np.testing.assert_array_equal(framed.predict(people[FEATURES]), plain.predict(X))


def test_coefficients_are_in_the_users_coding(people):
    """With next to no noise they are those of least squares on 0 and 1, whether blocks are declared or not."""
    X, box = dummies(people)
    plain = LinearRegression().fit(X, people["income"])
    for declared in (box, dp.Box(lower=box.lower, upper=box.upper)):
        fitted = linear(dp.Pure(epsilon=10**9), x_bounds=declared, y_bounds=dp.Interval(0, 100))
        np.testing.assert_allclose(fitted.fit(X, people["income"]).coef_, plain.coef_, atol=1e-2)
        assert fitted.intercept_ == pytest.approx(plain.intercept_, abs=1e-2)


def test_a_declared_block_costs_less_noise(people):
    """A block counts once, so the same budget buys less noise."""
    X, box = dummies(people)
    scales = [
        linear(x_bounds=declared, y_bounds=dp.Interval(0, 100)).fit(X, people["income"]).moments_.noise_scale()
        for declared in (box, dp.Box(lower=box.lower, upper=box.upper))
    ]
    assert scales[0] < 0.8 * scales[1]


def test_every_frame_library_gives_one_fit(people):
    """pandas, polars and Arrow; the columns are found by name when predicting."""
    expected = linear(schema=SCHEMA).fit(people[FEATURES], people["income"], ledger=seeded())
    arrow = pa.Table.from_pandas(people[FEATURES])
    for frame, target in [
        (pl.from_pandas(people[FEATURES]), pl.Series("income", people["income"].to_numpy())),
        (arrow, people["income"]),
        (people[FEATURES], people[["income"]]["income"]),
    ]:
        fitted = linear(schema=SCHEMA).fit(frame, target, ledger=seeded())
        np.testing.assert_array_equal(fitted.coef_, expected.coef_)
    turned = people[FEATURES[::-1]]
    np.testing.assert_array_equal(expected.predict(turned), expected.predict(people[FEATURES]))
    with pytest.raises(dp.InvalidData, match="region"):
        expected.predict(people[["age", "sex"]])


@pytest.mark.parametrize("target", ["rich", "old"])
def test_flags_and_two_levels_are_labels(people, target):
    """A flag's classes are 0 and 1, a category's its levels."""
    fitted = logistic(dp.Pure(epsilon=10**9), schema=SCHEMA).fit(people[FEATURES], people[target])
    assert fitted.classes_.tolist() == ([0, 1] if target == "old" else ["no", "yes"])
    assert fitted.score(people[FEATURES], people[target]) > 0.8


def test_a_flag_is_a_number_for_least_squares(people):
    """It counts 0 and 1."""
    fitted = linear(dp.Pure(epsilon=10**9), schema=SCHEMA).fit(people[FEATURES], people["old"])
    X, _ = dummies(people)
    np.testing.assert_allclose(fitted.coef_, LinearRegression().fit(X, people["old"]).coef_, atol=1e-3)


def test_without_an_intercept_the_first_category_has_all_its_levels(people):
    """As in a formula."""
    fitted = linear(dp.Pure(epsilon=10**9), schema=SCHEMA, fit_intercept=False).fit(people[FEATURES], people["income"])
    assert fitted.coef_names_.tolist() == ["age", "sex", "region[north]", "region[south]", "region[west]"]
    assert fitted.intercept_ == 0
    fitted = logistic(dp.Pure(epsilon=10**9), schema=SCHEMA, fit_intercept=False).fit(people[FEATURES], people["rich"])
    assert fitted.coef_.shape == (1, 5)


def test_bounds_and_classes_may_be_declared_beside_the_schema(people):
    """`y_bounds` and `classes` declare what the schema does not know, and stand over what it says."""
    bare = SCHEMA.restricted_to(FEATURES)
    given = linear(schema=bare, y_bounds=dp.Interval(0, 100)).fit(people[FEATURES], people["income"], ledger=seeded())
    known = linear(schema=SCHEMA).fit(people[FEATURES], people["income"], ledger=seeded())
    np.testing.assert_array_equal(given.coef_, known.coef_)
    wider = linear(schema=SCHEMA, y_bounds=dp.Interval(0, 200)).fit(people[FEATURES], people["income"])
    assert wider.moments_.layout.codings[-1].upper == 200
    turned = logistic(schema=SCHEMA, classes=("yes", "no")).fit(people[FEATURES], people["rich"])
    assert turned.classes_.tolist() == ["yes", "no"]
    read = logistic(schema=bare).fit(people[FEATURES], people["rich"])
    assert read.release_.label == "not private: class labels"


def test_missing_cells_follow_their_columns_policy(people):
    """Error names the column and spends nothing; drop leaves the record out; a constant stands in."""
    holes = people.copy()
    holes.loc[3, "region"] = None
    holes.loc[5, "income"] = np.nan
    ledger = dp.Ledger(total=dp.Gdp(mu=1), adjacency=dp.Replace())
    for features, target, name in [(holes, people["income"], "region"), (people, holes["income"], "income")]:
        with pytest.raises(dp.InvalidData, match=name):
            linear(schema=SCHEMA).fit(features[FEATURES], target, ledger=ledger)
    assert ledger.entries == ()
    dropping = SCHEMA.with_columns(
        {
            "region": dp.Category(["north", "south", "west"], missing="drop"),
            "income": dp.Number(0, 100, missing="drop"),
        }
    )
    fitted = linear(schema=dropping).fit(holes[FEATURES], holes["income"], ledger=seeded())
    kept = holes.dropna(subset=["region", "income"])
    without = linear(schema=dropping).fit(kept[FEATURES], kept["income"], ledger=seeded())
    np.testing.assert_array_equal(fitted.coef_, without.coef_)
    assert fitted.release_.value.n_rows is None
    assert np.isnan(fitted.predict(holes[FEATURES])[3])
    constant = SCHEMA.with_columns({"income": dp.Number(0, 100, missing=50)})
    filled = linear(schema=constant).fit(people[FEATURES], holes["income"], ledger=seeded())
    same = linear(schema=constant).fit(people[FEATURES], holes["income"].fillna(50), ledger=seeded())
    np.testing.assert_array_equal(filled.coef_, same.coef_)


def test_missing_labels_follow_their_columns_policy(people):
    """An undeclared label is missing: error, drop, or a declared level in its place."""
    odd = people["rich"].copy()
    odd[7] = "secret-987"
    with pytest.raises(dp.InvalidData, match="`rich`: a label is missing") as caught:
        logistic(schema=SCHEMA).fit(people[FEATURES], odd)
    assert "987" not in str(caught.value)
    with pytest.raises(dp.InvalidData, match="`rich`: a label is missing"):
        logistic(schema=SCHEMA, classes=("no", "yes")).fit(people[FEATURES], odd)
    dropping = SCHEMA.with_columns({"rich": dp.Category(["no", "yes"], missing="drop")})
    fitted = logistic(schema=dropping).fit(people[FEATURES], odd, ledger=seeded())
    without = logistic(schema=dropping).fit(people[FEATURES].drop(7), odd.drop(7), ledger=seeded())
    np.testing.assert_array_equal(fitted.coef_, without.coef_)
    declared = logistic(schema=dropping, classes=("no", "yes")).fit(people[FEATURES], odd, ledger=seeded())
    np.testing.assert_array_equal(declared.coef_, without.coef_)
    for schema, stand_in in [
        (SCHEMA.with_columns({"rich": dp.Category(["no", "yes"], missing="yes")}), "yes"),
        (SCHEMA.with_columns({"rich": dp.Category(["no", "yes"], missing="no")}), "no"),
    ]:
        filled = logistic(schema=schema).fit(people[FEATURES], odd, ledger=seeded())
        same = logistic(schema=schema).fit(people[FEATURES], odd.replace("secret-987", stand_in), ledger=seeded())
        np.testing.assert_array_equal(filled.coef_, same.coef_)


def test_a_row_without_a_cell_has_a_probability_of_nan_and_no_label(people):
    """A class cannot be NaN, so predict says what to use."""
    dropping = SCHEMA.with_columns({"region": dp.Category(["north", "south", "west"], missing="drop")})
    fitted = logistic(schema=dropping).fit(people[FEATURES], people["rich"])
    row = people[FEATURES].head(2).copy()
    row.loc[1, "region"] = None
    assert np.isnan(fitted.predict_proba(row)[1]).all()
    with pytest.raises(dp.InvalidData, match="predict_proba"):
        fitted.predict(row)


@pytest.mark.parametrize(
    ("make", "features", "target", "message"),
    [
        (linear, FEATURES, "rich", "not declared as a number"),
        (logistic, FEATURES, "income", "Only binary classification"),
        (logistic, FEATURES, "region", "Only binary classification"),
        (linear, [*FEATURES, "income"], "income", "also a column of `X`"),
        (linear, ["age", "shoe"], "income", "'shoe' is not declared"),
    ],
)
def test_what_the_schema_does_not_allow_is_refused_by_name(people, make, features, target, message):
    """Each message names the column."""
    people["shoe"] = 1.0
    with pytest.raises(dp.DiscreetError, match=message):
        make(schema=SCHEMA).fit(people[features], people[target])


def test_declarations_that_contradict_are_refused(people):
    """Box and schema, arrays under a schema, lengths that differ, and another adjacency in the schema."""
    X, box = dummies(people)
    cases = [
        (linear(schema=SCHEMA, x_bounds=box), people[FEATURES], people["income"], "not both"),
        (linear(schema=SCHEMA), X, people["income"], "columns have names"),
        (linear(schema=SCHEMA, y_bounds=dp.Interval(0, 1)), [[1.0]], [1.0], "columns have names"),
        (linear(schema=SCHEMA), people[FEATURES], people["income"][:-1], "inconsistent"),
        (linear(schema=SCHEMA), people[FEATURES][:-1], people["income"], "inconsistent"),
        (linear(schema=SCHEMA), people[FEATURES], people["income"].to_numpy(), "'y' is not declared"),
        (linear(schema=SCHEMA), people[FEATURES], None, "requires y"),
        (linear(schema=SCHEMA), people[FEATURES][:0], people["income"][:0], "no rows"),
        (
            linear(schema=dp.Schema(SCHEMA.columns, adjacency=dp.AddRemove())),
            people[FEATURES],
            people["income"],
            "not one",
        ),
    ]
    for model, features, target, message in cases:
        with pytest.raises(dp.DiscreetError, match=message):
            model.fit(features, target)


def test_no_rows_are_an_ordinary_frame_under_add_remove(people):
    """As for arrays; and nothing is predicted of nothing."""
    fitted = linear(schema=SCHEMA, adjacency=dp.AddRemove())
    with pytest.warns(dp.NoiseDominatedWarning):
        fitted.fit(people[FEATURES][:0], people["income"][:0])
    assert np.isfinite(fitted.coef_).all()
    assert fitted.predict(people[FEATURES][:0]).shape == (0,)


def test_a_fit_on_a_frame_answers_formulas_too(people):
    """Its moments know the schema, so every regression among its columns is free."""
    fitted = linear(dp.Pure(epsilon=10**6), schema=SCHEMA).fit(people[FEATURES], people["income"])
    result = fitted.moments_.regress("income ~ age")
    assert result.feature_names == ("age",)
    assert "region[west]" in str(fitted.summary())
