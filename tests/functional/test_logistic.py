"""FunctionalLogisticRegression: labels, classes, predictions, and what its release says."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

import discreet as dp
from discreet.functional.parabola import minimax
from discreet.privacy.release import LABELS
from public_state import beside_the_release

HUGE = dp.Pure(epsilon=10**9)


@pytest.fixture
def people():
    """Features in [-1, 1] and signs of a logistic law."""
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, size=(3000, 2))
    return X, np.where(X @ [2.0, -1.0] + 0.5 + rng.logistic(size=3000) > 0, 1, -1)


def model(budget=HUGE, **changes):
    declared = {"x_bounds": dp.Box(lower=-1, upper=1), "adjacency": dp.Replace()}
    return dp.FunctionalLogisticRegression(budget=budget, **{**declared, **changes})


def seeded():
    return dp.Ledger(total=dp.Gdp(mu=1), adjacency=dp.Replace(), coins=dp.privacy.Coins.from_seed(0))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("adjacency", [dp.Replace(), dp.AddRemove()], ids=repr)
def test_an_enormous_budget_gives_twice_least_squares(people, intercept, adjacency):
    """With next to no noise they are twice those of least squares on -1 and +1, in scikit-learn's shapes."""
    X, y = people
    fitted = model(fit_intercept=intercept, adjacency=adjacency).fit(X, y)
    plain = LinearRegression(fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(fitted.coef_, 2 * plain.coef_[None, :], atol=2e-3)
    np.testing.assert_allclose(fitted.intercept_, [2 * plain.intercept_], atol=2e-3)
    assert fitted.coef_.shape == (1, 2)
    assert fitted.intercept_.shape == (1,)
    np.testing.assert_allclose(fitted.decision_function(X), 2 * plain.predict(X), atol=1e-2)
    np.testing.assert_array_equal(fitted.predict(X), np.where(fitted.decision_function(X) > 0, 1, -1))


def test_probabilities_follow_classes_and_sum_to_one(people):
    """The columns of predict_proba are the classes, in their order."""
    X, y = people
    fitted = model().fit(X, y)
    chances = fitted.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    np.testing.assert_allclose(chances[:, 1], 1 / (1 + np.exp(-fitted.decision_function(X))))
    assert fitted.score(X, y) > 0.6


LABELS_OF = {
    "texts": lambda y: np.where(y > 0, "yes", "no"),
    "objects": lambda y: np.where(y > 0, "yes", "no").astype(object),
    "list of texts": lambda y: np.where(y > 0, "yes", "no").tolist(),
    "booleans": lambda y: y > 0,
    "whole numbers": lambda y: (y > 0).astype(int),
    "bytes": lambda y: (y > 0).astype(np.uint8),
    "floats": lambda y: (y > 0).astype(float),
    "pandas texts": lambda y: pd.Series(np.where(y > 0, "yes", "no")),
    "pandas category": lambda y: pd.Series(np.where(y > 0, "yes", "no")).astype("category"),
    "pandas nullable": lambda y: pd.Series(y > 0).astype("boolean"),
    "pandas Int64": lambda y: pd.Series((y > 0).astype(int)).astype("Int64"),
    "polars texts": lambda y: pl.Series(np.where(y > 0, "yes", "no")),
    "polars booleans": lambda y: pl.Series(y > 0),
}


@pytest.mark.parametrize("make", LABELS_OF.values(), ids=LABELS_OF)
@pytest.mark.parametrize("declared", [True, False])
def test_api_02_labels_of_any_kind_give_one_fit(people, make, declared):
    """API-02: texts, booleans and numbers give bitwise one fit; predictions are labels; reading them is flagged."""
    X, y = people
    labels = make(y)
    pair = sorted(set(np.asarray(labels).tolist()))
    expected = model(dp.Gdp(mu=1), classes=(-1, 1)).fit(X, y, ledger=seeded())
    fitted = model(dp.Gdp(mu=1), classes=pair if declared else None).fit(X, labels, ledger=seeded())
    np.testing.assert_array_equal(fitted.coef_, expected.coef_)
    assert fitted.classes_.tolist() == pair
    assert set(fitted.predict(X).tolist()) <= set(pair)
    assert fitted.release_.notes == (() if declared else ("class labels were read from y",))


def test_classes_read_from_y_make_a_release_that_is_not_private(people):
    """The label says so, is one of the known ones, and gives way to a test seed's."""
    X, y = people
    read = model(dp.Gdp(mu=1)).fit(X, y)
    assert read.release_.label == "not private: class labels"
    assert read.release_.label in LABELS
    assert not read.release_.is_private
    assert model(dp.Gdp(mu=1), classes=(-1, 1)).fit(X, y).release_.is_private
    assert model(dp.Gdp(mu=1)).fit(X, y, ledger=seeded()).release_.label == "not private: test seed"
    assert "class labels were read from y" in str(read.summary())


def test_the_second_declared_class_is_the_positive_one(people):
    """Classes keep the order in which they are declared; the other order turns the signs."""
    X, y = people
    one = model(dp.Gdp(mu=1), classes=(-1, 1)).fit(X, y, ledger=seeded())
    other = model(classes=(1, -1)).fit(X, y)
    assert other.classes_.tolist() == [1, -1]
    np.testing.assert_allclose(other.coef_, -model(classes=(-1, 1)).fit(X, y).coef_, atol=1e-6)
    assert one.classes_.tolist() == [-1, 1]


def test_ing_09_equal_numbers_are_equal_labels(people):
    """ING-09: 1.0 and 0.0 are the classes 1 and 0."""
    X, y = people
    whole = model(dp.Gdp(mu=1), classes=(0, 1)).fit(X, (y > 0).astype(int), ledger=seeded())
    floats = model(dp.Gdp(mu=1), classes=(0, 1)).fit(X, (y > 0).astype(float), ledger=seeded())
    np.testing.assert_array_equal(whole.coef_, floats.coef_)


def test_ing_09_four_spellings_are_never_four_classes(people):
    """ING-09: the error names the label column, asks for a map, and quotes no label; with the map there are two."""
    X, y = people
    spelled = pd.Series(np.resize(["yes", "No", "YES", "no"], len(y)), name="churn")
    with pytest.raises(dp.InvalidData, match=r"`churn` holds more than two labels.*map") as caught:
        model().fit(X, spelled)
    assert "YES" not in str(caught.value)
    mapped = spelled.str.lower().map({"yes": 1, "no": 0})
    assert model(classes=(0, 1)).fit(X, mapped).classes_.tolist() == [0, 1]


MISSING = [
    ("undeclared text", ["no", "yes", "secret-987"], ("no", "yes")),
    ("blank", ["no", "yes", None], ("no", "yes")),
    ("NaN among texts", ["no", "yes", float("nan")], ("no", "yes")),
    ("blank, read", ["no", "yes", None], None),
    ("undeclared number", [0, 1, 987], (0, 1)),
    ("NaN", [0.0, 1.0, np.nan], (0, 1)),
    ("NaN, read", [0.0, 1.0, np.nan], None),
    ("infinite", [0.0, 1.0, np.inf], (0, 1)),
    ("numbers where one text is declared", [0, 1, 1], ("no", 1)),
    ("unhashable", [[0], [1], [1]], (0, 1)),
]


@pytest.mark.parametrize(("labels", "classes"), [case[1:] for case in MISSING], ids=[case[0] for case in MISSING])
def test_a_missing_label_is_an_error_that_quotes_none_and_spends_nothing(labels, classes):
    """An undeclared label is missing; arrays have the policy error, before any charge."""
    ledger = dp.Ledger(total=dp.Gdp(mu=1), adjacency=dp.Replace())
    y = np.empty(3, dtype=object) if isinstance(labels[0], list) else pd.Series(labels)
    if isinstance(labels[0], list):
        y[:] = labels
    with pytest.raises(dp.InvalidData, match="'y' a label is missing") as caught:
        model(dp.Gdp(mu=1), classes=classes).fit(np.zeros((3, 2)), y, ledger=ledger)
    assert "987" not in str(caught.value)
    assert ledger.entries == ()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.5, 1.5, 0.5], "Unknown label type"),
        (["a", "a", "a"], "one class or none"),
        ([1, 1, 1], "one class or none"),
        ([np.nan, np.nan, np.nan], "one class or none"),
        ([0, 1, 2], "Only binary classification"),
        (["a", "b", "c"], "Only binary classification"),
        ([0.5, "a", "a"], "Unknown label type"),
        ([1, "a", "a"], "cannot be told apart or sorted"),
        ([{"a": 1}, "a", "a"], "cannot be told apart or sorted"),
        ([1j, 2j, 1j], "Complex data"),
        (np.array(["2020-01-01"] * 3, dtype="datetime64[D]"), "holds no labels"),
        (None, "requires y"),
        (np.zeros((3, 2)), "1d array"),
    ],
)
def test_what_is_no_label_is_refused(y, message):
    """Numbers that are not whole, one class, three classes, mixtures and other types each have their message."""
    y = np.array(y, dtype=object) if isinstance(y, list) and any(isinstance(cell, (dict, str)) for cell in y) else y
    with pytest.raises(dp.InvalidArgument if y is None else dp.InvalidData, match=message):
        model().fit(np.zeros((3, 2)), y)


class Sulking:
    """A label that cannot be compared."""

    def __eq__(self, other):
        raise RuntimeError

    __hash__ = object.__hash__


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ("ab", "sequence of two"),
        (3, "sequence of two"),
        ((0, 1, 2), "Only binary classification"),
        ((0, 0.0), "two different"),
        ((0, None), "cannot be compared"),
        ((0, float("nan")), "cannot be compared"),
        ((0, Sulking()), "cannot be compared"),
        ((0, [1]), "cannot be compared"),
    ],
)
def test_classes_that_are_none_are_refused(classes, message):
    """Declarations are checked by name."""
    with pytest.raises(dp.InvalidArgument, match=message):
        model(classes=classes).fit(np.zeros((3, 2)), [0, 1, 0])


def test_a_label_that_raises_is_missing():
    """With declared classes nothing that a label does gets through."""
    y = np.array([0, 1, Sulking()], dtype=object)
    with pytest.raises(dp.InvalidData, match="a label is missing"):
        model(classes=(0, 1)).fit(np.zeros((3, 2)), y)


def test_classes_of_two_kinds_keep_their_kinds(people):
    """A text and a number may be the two classes."""
    X, y = people
    labels = np.where(y > 0, "yes", None)
    labels[labels == None] = 0  # noqa: E711
    fitted = model(classes=(0, "yes")).fit(X, labels)
    assert fitted.classes_.tolist() == [0, "yes"]


def test_one_class_and_no_rows_are_ordinary_where_classes_are_declared():
    """Nothing depends on which labels occur, nor under AddRemove on whether any does."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
    fitted = model(classes=("no", "yes")).fit(X, np.full(500, "no"))
    assert set(fitted.predict(X)) == {"no"}
    empty = model(dp.Gdp(mu=1), classes=("no", "yes"), adjacency=dp.AddRemove())
    with pytest.warns(dp.NoiseDominatedWarning):
        empty.fit(np.empty((0, 2)), np.empty(0, dtype=object))
    assert np.isfinite(empty.coef_).all()


@pytest.mark.parametrize(("approximation", "radius"), [("taylor", None), ("minimax", 4)])
@pytest.mark.parametrize("y", [[0, 0, 1, 1], [0, 1, 0, 1]])
def test_num_01_separable_labels_are_labels_like_any_other(y, approximation, radius):
    """NUM-01: the same handling whether or not the data separate; finite, and of the size of the parabola's factor."""
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    fitted = model(x_bounds=dp.Box(lower=-2, upper=2), approximation=approximation, radius=radius).fit(X, y)
    factor = 2.0 if radius is None else 1 / (4 * minimax(radius).curvature)
    slope = LinearRegression().fit(X, 2 * np.array(y) - 1).coef_[0]
    assert fitted.coef_[0, 0] == pytest.approx(factor * slope, abs=1e-2)


def test_the_minimax_parabola_scales_the_coefficients_and_keeps_the_classes(people):
    """API: approximation and radius change the calibration, not the predictions."""
    X, y = people
    taylor = model(dp.Gdp(mu=1), classes=(-1, 1)).fit(X, y, ledger=seeded())
    best = model(dp.Gdp(mu=1), classes=(-1, 1), approximation="minimax", radius=4).fit(X, y, ledger=seeded())
    np.testing.assert_allclose(best.coef_, taylor.coef_ * 0.125 / minimax(4).curvature, rtol=1e-12)
    np.testing.assert_array_equal(best.predict(X), taylor.predict(X))


def test_declarations_are_refused_by_name(people):
    """A wrong declaration says which one it is."""
    cases = [
        ("x_bounds", None, "needs `x_bounds`"),
        ("approximation", "chebyshev", "approximation"),
        ("radius", 4, "radius"),
        ("mechanism", "magic", "mechanism"),
        ("schema", "people.toml", "`schema` must be a Schema"),
        ("budget", 1.0, "budget"),
    ]
    for name, value, message in cases:
        with pytest.raises(dp.DiscreetError, match=message):
            model(**{name: value}).fit(*people)
    with pytest.raises(TypeError, match="random_state"):
        model(random_state=0)
    with pytest.raises(TypeError, match="sample_weight"):
        model().fit(*people, sample_weight=np.ones(3000))


@pytest.mark.parametrize("mechanism", ["l_inf", "laplace", "paper", "paper_code"])
def test_every_law_is_offered_by_name(people, mechanism):
    """The paper's own modes take the logistic constants."""
    X, y = people
    fitted = model(dp.Pure(epsilon=10**6), mechanism=mechanism, classes=(-1, 1)).fit(X, y)
    np.testing.assert_allclose(fitted.coef_, 2 * LinearRegression().fit(X, y).coef_[None, :], atol=0.05)
    if mechanism.startswith("paper"):
        assert fitted.release_.event.loss == "logistic"


def test_a_result_has_standard_errors_and_says_that_it_is_biased(people):
    """The summary is that of the parabola's minimiser; standard errors are scaled as the coefficients are."""
    X, y = people
    fitted = model(dp.Pure(epsilon=1000), classes=(-1, 1)).fit(X, y)
    linear = dp.FunctionalLinearRegression(
        budget=dp.Pure(epsilon=1000), x_bounds=dp.Box(lower=-1, upper=1), y_bounds=dp.Interval(-1, 1),
        adjacency=dp.Replace(),
    ).fit(X, y)  # fmt: skip
    result, plain = fitted.result(), linear.result()
    assert result.loss == "logistic"
    np.testing.assert_allclose(result.coef_, fitted.coef_[0])
    np.testing.assert_allclose(list(result.bse.values()), [2 * error for error in plain.bse.values()], rtol=0.02)
    assert "biased" in str(fitted.summary())
    assert "biased" not in str(linear.summary())
    assert str(linear.summary()) == str(linear.summary())
    with pytest.raises(dp.InvalidArgument, match="schema"):
        result.predict(pd.DataFrame({"x0": [0.0]}))


def test_neighbors_with_equal_coins_differ_in_nothing_but_the_release(people):
    """Fits on two neighbours leave the same attributes once the released numbers are set aside."""
    X, y = people
    states = []
    for flipped in (1, -1):
        labels = y.copy()
        labels[0] = flipped
        fitted = model(dp.Gdp(mu=1), classes=(-1, 1)).fit(X, labels, ledger=seeded())
        state, moments, released = beside_the_release(fitted), fitted.moments_, fitted.release_
        states.append(repr((state, released.event, released.label, released.notes, moments.layout)))
    assert states[0] == states[1]


def test_a_warning_of_dominating_noise_points_at_the_call(people):
    """At a tiny epsilon the fit warns, at the user's line."""
    X, y = people
    with pytest.warns(dp.NoiseDominatedWarning) as caught:
        model(dp.Pure(epsilon="0.001"), classes=(-1, 1)).fit(X, y)
    assert caught[0].filename == __file__


def test_a_parabola_has_neither_p_values_nor_intervals_anywhere(people, tmp_path):
    """Its minimizer is no log odds ratio: numbers are NaN, tables and pages lack the columns, and a line says why."""
    X, y = people
    fitted = model(dp.Gdp(mu=50), classes=(-1, 1)).fit(X, y)
    fitted.result().save(tmp_path / "m.json")
    for result in (fitted.result(), dp.RegressionResult.load(tmp_path / "m.json")):
        assert all(np.isfinite(list(result.bse.values())))
        for values in (result.pvalues, result.tvalues):
            assert np.isnan(list(values.values())).all()
        for method in ("sandwich", "bootstrap"):
            assert np.isnan(list(result.conf_int(method=method).values())).all()
        assert result.to_frame()[["z", "p_value", "lower", "upper"]].isna().all(axis=None)
        assert "no log odds ratios" in result.why_no_intervals
        page = tmp_path / "page.html"
        dp.write_report(result, path=page)
        for text in (str(result.summary()), result.summary()._repr_html_(), page.read_text()):
            assert "95 % interval" not in text
            assert "% interval" not in text
            assert "<th>p</th>" not in text
            assert "Estimated is the minimizer of a parabola" in text
            assert "std err" in text
        assert result.summary().header == ("", "estimate", "std err", "noise share")
        content = json.loads((tmp_path / "m.json").read_text())
        assert "no log odds ratios" in content["no_intervals"]


def test_a_parabola_under_much_noise_has_dashes(people):
    """Where not even a standard error is valid, the table has dashes and the reason."""
    X, y = people
    with pytest.warns(dp.NoiseDominatedWarning):
        fitted = model(dp.Pure(epsilon="0.001"), classes=(-1, 1)).fit(X, y)
    summary = fitted.summary()
    assert all(row[2:] == ("-", "-") for row in summary.rows)
    assert any(line.startswith("-: ") for line in summary.remarks)
