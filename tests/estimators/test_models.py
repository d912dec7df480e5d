"""The front door: methods, declarations, labels, and what is kept of a fit."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression as Plain
from sklearn.linear_model import LogisticRegression as PlainLogistic
from sklearn.linear_model import PoissonRegressor

import discreet as dp
from discreet.descent.preconditioned.models import descent_settings
from discreet.privacy.events.preconditioned import PreconditionedEvent
from discreet.privacy.events.repeated import RepeatedEvent
from discreet.tables.array_rows import array_layout
from estimators.front import (
    BOX,
    BUDGETS,
    MODELS,
    declared_labels,
    linear,
    logistic,
    name_of,
    poisson,
    seeded,
    table,
    target_of,
)
from public_state import beside_the_release

everyone = pytest.mark.parametrize("make", MODELS, ids=name_of)
METHODS = {
    "linear": ["moments", "descent", "threshold", "peel", "sample"],
    "logistic": ["moments", "descent", "threshold", "peel", "perturbation", "sample"],
    "poisson": ["descent", "threshold", "peel"],
}


@everyone
@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
@pytest.mark.parametrize("adjacency", [dp.Replace(), dp.AddRemove()], ids=repr)
def test_auto_fits_in_every_currency_and_says_which_method_and_why(make, budget, adjacency):
    """One fit, one charge of the budget, a method and one line."""
    X, targets = table()
    expected = {} if adjacency.size_is_public else {"expected_rows": 5000}
    model = make(budget=budget, adjacency=adjacency, **expected)
    ledger = seeded(model)
    model.fit(X, target_of(make, targets), ledger=ledger)
    objective = make is logistic and isinstance(budget, dp.Pure) and not adjacency.size_is_public
    assert model.method_ == ("perturbation" if objective else "descent")
    assert model.reason_.startswith(f"{model.method_}, for ")
    assert "\n" not in model.reason_
    assert model.release_.cost == budget
    assert len(ledger.entries) == 1
    assert not model.noise_dominated_


@everyone
@pytest.mark.parametrize("adjacency", [dp.Replace(), dp.AddRemove()], ids=repr)
@pytest.mark.parametrize("intercept", [True, False])
def test_a_large_budget_gives_the_fit_without_privacy(make, adjacency, intercept):
    """With next to no noise a descent is least squares, or maximum likelihood, in the user's units."""
    X, targets = table(n=6000)
    y = target_of(make, targets)
    expected = {} if adjacency.size_is_public else {"expected_rows": 6000}
    model = make(budget=dp.Gdp(mu=10**4), adjacency=adjacency, fit_intercept=intercept, n_steps=400, **expected)
    model.fit(X, y, ledger=seeded(model))
    plain = {
        "linear": Plain(fit_intercept=intercept),
        "logistic": PlainLogistic(C=1e9, fit_intercept=intercept, max_iter=10**4),
        "poisson": PoissonRegressor(alpha=0, fit_intercept=intercept, max_iter=10**4, tol=1e-8),
    }[make.__name__].fit(X, y)
    np.testing.assert_allclose(np.ravel(model.coef_), np.ravel(plain.coef_), atol=0.02)
    np.testing.assert_allclose(np.ravel(model.intercept_), np.ravel(plain.intercept_), atol=0.1)


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
@pytest.mark.parametrize("n_steps", [1, 2, 5, 40, 400, 9_999, 10_000])
def test_any_number_of_steps_has_a_growth(loss, n_steps):
    """Many steps grow more slowly: no number that is allowed is refused for a setting that was not given."""
    layout = array_layout(("a",), dp.Box(lower=-1, upper=1), dp.Interval(0, 1), intercept=True)
    for budget in (dp.Gdp(mu=100), dp.Gdp(mu="0.1"), dp.Pure(epsilon=500)):
        asked = {"n_rows": 10_000, "budget": budget, "adjacency": dp.Replace()}
        default = descent_settings(layout, loss, **asked, overrides={})
        found = descent_settings(layout, loss, **asked, overrides={"n_steps": n_steps})
        assert 1 <= found.step_growth <= default.step_growth
        assert (found.step_growth == default.step_growth) == (n_steps <= default.n_steps or default.step_growth == 1)


@everyone
def test_every_method_by_name_says_something_of_the_target(make):
    """Each method of a loss fits, charges the whole budget once, and predicts better than a constant."""
    X, targets = table()
    y = target_of(make, targets)
    for method in METHODS[make.__name__]:
        model = make(budget=dp.Approx(epsilon=4, delta="1e-6"), method=method)
        ledger = seeded(model)
        model.fit(X, y, ledger=ledger)
        assert model.method_ == method
        assert model.reason_ == f"{method}, for `method` asks for it."
        assert len(ledger.entries) == 1
        least = max(np.mean(y), 1 - np.mean(y)) if make is logistic else 0.0
        assert model.score(X, y) > least
        assert np.shape(model.coef_) == ((1, 3) if make is logistic else (3,))
        assert np.all(np.isfinite(model.predict(X)))


@pytest.mark.parametrize(
    ("make", "changes", "message"),
    [
        (linear, {"method": "perturbation"}, "labels alone"),
        (poisson, {"method": "moments"}, "not offered for counts"),
        (logistic, {"method": "perturbation"}, r"Pure and Approx; found Gdp\(mu=1\)"),
        (linear, {"method": "threshold", "budget": dp.Pure(epsilon=1)}, "Gaussian noise"),
        (linear, {"method": "descent", "budget": dp.Approx(epsilon=1, delta=0)}, "Gaussian noise"),
        (linear, {"method": "sample", "adjacency": dp.AddRemove(), "expected_rows": 9}, r"under Replace\(\)"),
        (linear, {"method": "descent", "x_bounds": None, "row_norm": 20}, "needs bounds of every column"),
        (linear, {"x_bounds": None, "row_norm": 20, "budget": dp.Pure(epsilon=1)}, "No method fits a linear"),
    ],
)
def test_a_method_without_a_release_is_refused_by_name_and_spends_nothing(make, changes, message):
    """The message names the method, what stands against it, and what would do."""
    X, targets = table(n=50)
    model = make(**changes)
    ledger = seeded(model)
    with pytest.raises(dp.errors.IncompatiblePlan, match=message):
        model.fit(X, target_of(make, targets), ledger=ledger)
    assert ledger.entries == ()


def test_sampling_is_for_a_few_columns():
    """Its work grows exponentially with their number."""
    X = np.zeros((50, 6))
    with pytest.raises(dp.errors.IncompatiblePlan, match="up to 5 coefficients; found 6"):
        linear(method="sample").fit(X, np.zeros(50))


def test_sampling_and_moments_are_for_two_classes():
    """Several classes are fitted one against the rest by the other methods."""
    X, _ = table(n=50)
    labels = np.arange(50) % 3
    for method in ("sample", "moments"):
        with pytest.raises(dp.errors.IncompatiblePlan, match="two classes"):
            logistic(method=method, classes=(0, 1, 2)).fit(X, labels)


@pytest.mark.filterwarnings("ignore::discreet.errors.NoiseDominatedWarning")
def test_wide_dense_tables_get_no_gram_matrix_that_takes_too_long():
    """Up to 2,000 columns are whitened where the noise lets them; beyond it plain noisy steps are taken."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, size=(60, 2500))
    for n_columns, expected in ((200, "descent"), (2500, "threshold")):
        model = linear(budget=dp.Approx(epsilon=1, delta="1e-6"))
        model.fit(X[:, :n_columns], rng.uniform(-20, 20, size=60), ledger=seeded(model))
        assert model.method_ == expected
    assert "Gram matrix of 2501 columns takes too long" in model.reason_


@pytest.mark.nightly
def test_a_gram_matrix_full_of_noise_does_no_harm():
    """1,000 dense columns, noise of seven times their mean square: better than noisy steps, three times the mean."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (20_000, 1000))
    w = rng.normal(size=1000)
    y = 0.6 * X @ (w / np.linalg.norm(w)) + rng.normal(0, 0.2, 20_000)
    risks = {}
    for method in ("auto", "threshold"):
        model = linear(x_bounds=dp.Box(lower=-1, upper=1), y_bounds=dp.Interval(-2, 2), method=method)
        model.fit(X, y, ledger=seeded(model))
        risks[method] = np.mean((model.predict(X) - X @ (0.6 * w / np.linalg.norm(w))) ** 2)
    assert model.method_ == "threshold"
    assert risks["auto"] < risks["threshold"]
    assert risks["auto"] * 3 < np.var(X @ (0.6 * w / np.linalg.norm(w)))


def test_sparse_rows_are_thresholded_or_peeled_and_never_made_dense():
    """Sparse input needs a norm; which step it gets is the sparse estimators' rule."""
    rng = np.random.default_rng(0)
    X = scipy.sparse.random(400, 50_000, density=1e-4, random_state=0, format="csr")
    labels = rng.integers(0, 2, 400)
    for entry_bound, expected in ((None, "threshold"), (0.001, "peel")):
        model = logistic(
            x_bounds=None, row_norm=1, entry_bound=entry_bound, sparsity=5, budget=dp.Approx(epsilon=1, delta="1e-6")
        )
        with pytest.warns(dp.NoiseDominatedWarning):
            model.fit(X, labels, ledger=seeded(model))
        assert model.method_ == expected
        assert "sparse" in model.reason_
        assert model.predict(X[:7]).shape == (7,)


def test_rows_of_a_norm_fit_in_pure_by_perturbation():
    """Labels and a pure budget without bounds of columns: the objective is perturbed."""
    X, targets = table()
    model = logistic(x_bounds=None, row_norm=20, budget=dp.Pure(epsilon=10))
    model.fit(X, targets["logistic"], ledger=seeded(model))
    assert model.method_ == "perturbation"
    assert model.score(X, targets["logistic"]) > 0.7


def test_classes_of_any_kind_give_bitwise_the_same_fit():
    """API-02: texts, booleans, numbers and objects; read or declared."""
    X, targets = table()
    codes = targets["logistic"]
    plain = logistic().fit(X, codes, ledger=seeded(logistic()))
    for kinds in (("no", "yes"), (False, True), (-1.0, 1.0), (3, 7)):
        for labels in (np.array(kinds)[codes], pd.Series(np.array(kinds)[codes], dtype=object)):
            read = logistic(classes=None).fit(X, labels, ledger=seeded(logistic()))
            np.testing.assert_array_equal(read.coef_, plain.coef_)
            assert read.classes_.tolist() == list(kinds)
            assert set(read.predict(X).tolist()) <= set(kinds)
            assert "class labels were read" in " ".join(read.release_.notes)
            declared = logistic(classes=kinds).fit(X, labels, ledger=seeded(logistic()))
            np.testing.assert_array_equal(declared.coef_, plain.coef_)
            assert declared.release_.notes == ()


def test_classes_that_were_read_make_a_release_not_private():
    """A look at the labels is said in the release."""
    X, targets = table()
    assert logistic(classes=None).fit(X, targets["logistic"]).release_.label == "not private: class labels"
    assert logistic().fit(X, targets["logistic"]).release_.label == "private"


@pytest.mark.parametrize("method", ["descent", "threshold", "perturbation"])
@pytest.mark.parametrize("budget", [dp.Pure(epsilon=20), dp.Approx(epsilon=20, delta="1e-6")], ids=repr)
def test_several_classes_are_one_charge_and_one_model_a_class(method, budget):
    """One against the rest: probabilities sum to 1, the whole costs the budget."""
    if method == "threshold" and isinstance(budget, dp.Pure):
        pytest.skip("noisy steps of all columns have no pure price")
    X, targets = table(n=6000)
    labels = np.array(["low", "mid", "top"])[np.digitize(targets["linear"], [2.0, 6.0])]
    model = logistic(classes=("low", "mid", "top"), method=method, budget=budget)
    ledger = seeded(model)
    model.fit(X, labels, ledger=ledger)
    assert len(ledger.entries) == 1
    assert isinstance(model.release_.event, RepeatedEvent)
    assert model.release_.event.n_times == 3
    assert model.release_.event.cost_in(type(budget)) == budget
    assert model.coef_.shape == (3, 3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.decision_function(X).shape == (6000, 3)
    assert model.score(X, labels) > 0.7


def test_one_descent_a_class_is_the_descent_of_that_class_against_the_rest():
    """The rows of class k have the upper end of the target's grid as target, all others the lower."""
    from discreet.descent.preconditioned.models import class_against_the_rest
    from discreet.descent.preconditioned.rows import gridded

    X, targets = table(n=200)
    labels = np.digitize(targets["linear"], [2.0, 6.0])
    three = declared_labels(X, labels, [0, 1, 2])
    read = gridded(three.private_rows, three.read_layout)
    for place in (1, 2, 3):
        alone = declared_labels(X, labels == place - 1, [False, True])
        expected = gridded(alone.private_rows, alone.read_layout)
        found = class_against_the_rest(read, three.layout, place)
        np.testing.assert_array_equal(found.private_gram, expected.private_gram)
        for block, other in zip(found.private_blocks, expected.private_blocks, strict=True):
            np.testing.assert_array_equal(block, other)
        assert three.layout == alone.layout


FRAME = dp.Schema(
    {
        "age": dp.Number(0, 10),
        "sex": dp.Flag(missing="drop"),
        "region": dp.Category(["north", "south", "west"]),
        "income": dp.Number(-20, 20),
        "rank": dp.Category(["low", "mid", "top"], missing="drop"),
        "works": dp.Category(["no", "yes"]),
        "visits": dp.Number(0, 30),
    },
    adjacency=dp.Replace(),
)


def frame(n=5000, seed=0):
    rng = np.random.default_rng(seed)
    made = pd.DataFrame(
        {
            "age": rng.uniform(0, 10, n),
            "sex": rng.integers(0, 2, n).astype(float),
            "region": rng.choice(["north", "south", "west"], n),
        }
    )
    score = made["age"] + 2 * made["sex"] - 3 * (made["region"] == "west") + rng.normal(scale=0.5, size=n)
    made.loc[::50, "sex"] = np.nan
    targets = pd.DataFrame(
        {
            "income": score,
            "rank": np.array(["low", "mid", "top"])[np.digitize(score, [3, 6])],
            "works": np.where(score > 4, "yes", "no"),
            "visits": rng.poisson(np.exp(0.2 * score.clip(-5, 10))),
        }
    )
    targets.loc[::70, "rank"] = None
    return made, targets


@pytest.mark.parametrize("method", ["descent", "moments", "threshold", "sample"])
def test_a_frame_under_a_schema_fits_by_every_method(method):
    """Categories become dummies, a record that lacks a cell contributes nothing and is predicted as NaN."""
    X, targets = frame()
    model = linear(x_bounds=None, schema=FRAME, y_bounds=None, method=method, budget=dp.Gdp(mu=5))
    model.fit(X, targets["income"], ledger=seeded(model))
    assert list(model.coef_names_) == ["age", "sex", "region[south]", "region[west]"]
    found = model.predict(X)
    there = X["sex"].notna().to_numpy()
    assert np.isnan(found[~there]).all()
    assert np.corrcoef(found[there], targets["income"].to_numpy()[there])[0, 1] > (0.8 if method == "sample" else 0.95)


@pytest.mark.parametrize("method", ["descent", "perturbation", "moments"])
def test_a_schema_declares_the_classes(method):
    """A category of two levels is the labels; nothing is read from them."""
    X, targets = frame()
    model = logistic(
        x_bounds=None, schema=FRAME, classes=None, method=method, budget=dp.Approx(epsilon=5, delta="1e-6")
    )
    model.fit(X, targets["works"], ledger=seeded(model))
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.release_.notes == ()
    there = X["sex"].notna()
    assert model.score(X[there], targets["works"][there]) > 0.85
    with pytest.raises(dp.InvalidData, match="has no label"):
        model.predict(X)


@pytest.mark.parametrize("method", ["descent", "threshold"])
def test_a_category_of_several_levels_is_several_classes(method):
    """Its policy for missing labels holds: such a record contributes nothing."""
    X, targets = frame()
    model = logistic(x_bounds=None, schema=FRAME, classes=None, method=method, budget=dp.Gdp(mu=10))
    model.fit(X, targets["rank"], ledger=seeded(model))
    assert model.classes_.tolist() == ["low", "mid", "top"]
    there = X["sex"].notna() & targets["rank"].notna()
    assert model.score(X[there], targets["rank"][there]) > 0.7


def test_counts_under_a_schema_begin_at_zero():
    """A range that begins elsewhere is refused by name."""
    X, targets = frame()
    model = poisson(x_bounds=None, schema=FRAME, y_bounds=None)
    model.fit(X, targets["visits"], ledger=seeded(model))
    assert model.predict(X.dropna()).min() > 0
    with pytest.raises(dp.InvalidArgument, match="must begin at 0"):
        poisson(x_bounds=None, schema=FRAME, y_bounds=None).fit(X, targets["income"])
    with pytest.raises(dp.InvalidArgument, match="must begin at 0"):
        poisson(y_bounds=dp.Interval(1, 5)).fit(*_few())


def _few():
    X, targets = table(n=30)
    return X, targets["linear"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x_bounds": None}, "needs `x_bounds`"),
        ({"row_norm": 1.0}, "Give `x_bounds` or `row_norm`, not both"),
        ({"entry_bound": 1.0}, "`entry_bound` belongs to `row_norm`"),
        ({"x_bounds": dp.Interval(0, 1)}, r"Use Box\(lower"),
        ({"x_bounds": (0, 1)}, "must be a Box"),
        ({"y_bounds": None}, "needs `y_bounds`"),
        ({"y_bounds": (0, 1)}, "must be an Interval"),
        ({"method": "magic"}, "`method` must be one of"),
        ({"expected_rows": 5}, "belongs to AddRemove"),
        ({"adjacency": dp.AddRemove()}, "needs `expected_rows`"),
        ({"sparsity": 3}, "`sparsity` is a setting of method"),
        ({"method": "moments", "n_steps": 3}, "`n_steps` is a setting of method"),
        ({"budget": 1.0}, "budget"),
        ({"fit_intercept": "yes"}, "fit_intercept"),
    ],
)
def test_declarations_are_refused_by_name(changes, message):
    """A wrong declaration says which one it is and what would be right."""
    with pytest.raises(dp.DiscreetError, match=message):
        linear(**changes).fit(*_few())


def test_api_17_what_cannot_be_honored_is_a_type_error_that_says_what_to_do():
    """API-17: scikit-learn's other arguments are refused by name, at the constructor and at fit."""
    for name in ("random_state", "alpha", "C", "solver", "class_weight", "penalty", "max_iter", "mechanism"):
        with pytest.raises(TypeError, match=f"no argument `{name}`"):
            linear(**{name: 1})


@everyone
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_missing_cell_names_its_column_and_spends_nothing(make, bad):
    """Arrays have the policy error, and it raises before any charge; also in a target."""
    X, targets = table(n=100)
    y = target_of(make, targets).astype(float)
    for where in ("x1", "y"):
        X_bad, y_bad = X.copy(), y.copy()
        if where == "y":
            y_bad[17] = bad
        else:
            X_bad[17, 1] = bad
        ledger = seeded(make())
        with pytest.raises(dp.InvalidData, match=where):
            make().fit(X_bad, y_bad, ledger=ledger)
        assert ledger.entries == ()


@everyone
def test_a_fit_keeps_nothing_of_the_rows(make):
    """Neighbours with equal coins differ in the release and in what follows from it alone."""
    X, targets = table(n=500)
    y = target_of(make, targets)
    other = X.copy()
    other[0] = 10.0
    kept = []
    for rows in (X, other):
        model = make().fit(rows, y, ledger=seeded(make()))
        kept.append(beside_the_release(model))
        assert clone(model).get_params() == model.get_params()
        assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()
        assert isinstance(model.release_.event, PreconditionedEvent)
    assert kept[0] == kept[1]


def test_the_order_of_the_rows_does_not_matter():
    """Sums are exact: a permutation gives bitwise the same fit under one seed."""
    X, targets = table(n=3000)
    order = np.random.default_rng(1).permutation(3000)
    for make in MODELS:
        y = target_of(make, targets)
        first = make().fit(X, y, ledger=seeded(make()))
        second = make().fit(X[order], y[order], ledger=seeded(make()))
        np.testing.assert_array_equal(first.coef_, second.coef_)


def test_settings_that_are_given_are_used():
    """A clip that was asked for stays as it is: no budget goes to counts."""
    X, targets = table(n=500)
    model = linear(n_steps=7, clip=0.5, step_size=0.5, gram_share="1/4").fit(X, targets["linear"])
    assert model.settings_ == {"n_steps": 7, "clip": 0.5, "step_size": 0.5, "gram_share": 0.25}
    assert model.release_.event.count_noise == 0


def test_noise_that_hides_a_model_is_said():
    """A few dozen rows at a small budget: a warning, and a flag."""
    X, targets = table(n=60)
    for make in MODELS:
        model = make(budget=dp.Gdp(mu="0.1"))
        with pytest.warns(dp.NoiseDominatedWarning, match="predict the mean"):
            model.fit(X, target_of(make, targets), ledger=seeded(model, seed=1))
        assert model.noise_dominated_
        assert "Noise-dominated" in str(model.result())


def test_an_empty_table_runs_under_add_remove():
    """Its size is private, so it is a table like any other."""
    for make in MODELS:
        model = make(adjacency=dp.AddRemove(), expected_rows=100)
        with pytest.warns(dp.NoiseDominatedWarning):
            model.fit(np.empty((0, 3)), np.empty(0, dtype=int))
        assert np.isfinite(model.coef_).all()


def test_a_delta_above_one_over_n_is_said():
    """Publishing one whole record would keep such a promise, too."""
    X, targets = table(n=500)
    model = linear(budget=dp.Approx(epsilon=1, delta="0.01")).fit(X, targets["linear"])
    assert any("1 / the number of rows" in note for note in model.release_.notes)
    assert BOX["adjacency"] == model.release_.adjacency
