"""The K-norm gradient estimators: contract, units, schemas, refusals, and what a fitted model keeps."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import discreet as dp
from discreet.errors import BudgetExceeded, IncompatiblePlan, InvalidArgument, InvalidData, InvalidType
from discreet.estimators.k_norm import KNormGradientLinearRegression, KNormGradientLogisticRegression
from discreet.privacy.events.k_norm import KNormGradientEvent
from discreet.sampling.policies import Truncated
from public_state import beside_the_release

SCHEMA = dp.Schema(
    {
        "age": dp.Number(18, 90),
        "sex": dp.Flag(),
        "region": dp.Category(["north", "south", "west"]),
        "income": dp.Number(0, 100),
        "rich": dp.Category(["no", "yes"]),
    }
)
SHARP = dp.Pure(epsilon=10**6)


def logistic(**changes):
    told = {"budget": dp.Pure(epsilon=1), "adjacency": dp.Replace(), "row_norm": 2.0, "classes": ("no", "yes")}
    return KNormGradientLogisticRegression(**(told | changes))


def linear(**changes):
    told = {"budget": dp.Pure(epsilon=1), "adjacency": dp.Replace(), "row_norm": 2.0, "y_bounds": dp.Interval(-4, 8)}
    return KNormGradientLinearRegression(**(told | changes))


def seeded(budget=SHARP, adjacency=dp.Replace()):  # noqa: B008
    return dp.Ledger(total=budget, adjacency=adjacency, coins=dp.privacy.Coins.from_seed(3))


@pytest.fixture
def table():
    """Rows within norm 2, labels and numbers of a linear law."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(400, 2))
    margins = X @ [2.0, -1.0] + 0.5
    labels = np.where(rng.random(400) < 1 / (1 + np.exp(-margins)), "yes", "no")
    return X, labels, 2 + margins + 0.2 * rng.normal(size=400)


@pytest.fixture
def people():
    """A frame of features and targets."""
    rng = np.random.default_rng(0)
    n = 600
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
    return frame


def exact(rows, slopes, value, ridge):
    """Return the minimizer of a ridged sum of losses, by another road."""

    def objective(theta):
        margins = rows @ theta
        return value(margins).sum() + ridge / 2 * theta @ theta, rows.T @ slopes(margins) + ridge * theta

    return minimize(objective, np.zeros(rows.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-8}).x


@pytest.mark.parametrize("ridge", [None, 500.0])
def test_a_sharp_classifier_is_the_ridged_minimizer(table, ridge):
    """With a budget so large that no noise is left, coefficients are the minimizer's, in units of the columns."""
    X, labels, _ = table
    model = logistic(budget=SHARP, ridge=ridge).fit(X, labels, ledger=seeded())
    rows, y = np.column_stack([X / 2, np.full(400, 0.5)]), (labels == "yes").astype(float)
    theta = exact(rows, lambda m: 1 / (1 + np.exp(-m)) - y, lambda m: np.logaddexp(0, m) - y * m, float(model.ridge_))
    assert np.allclose(model.coef_[0], theta[:2] / 2, atol=1e-3)
    assert np.allclose(model.intercept_, theta[2] / 2, atol=1e-3)
    assert model.score(X, labels) > 0.6
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("loss", ["log_cosh", "huber"])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_sharp_regression_is_the_clipped_ridged_minimizer(table, loss, intercept):
    """The same for numbers, in units of y, with both ways to clip, with and without an intercept."""
    X, _, y = table
    model = linear(budget=SHARP, loss=loss, clip=1.5, fit_intercept=intercept).fit(X, y, ledger=seeded())
    center, half = (2.0, 6.0) if intercept else (0.0, 8.0)
    rows = np.column_stack([X / 2, np.full(400, 0.5)]) if intercept else X / 2
    target, clip = (y - center) / half, 1.5 / half
    if loss == "huber":
        theta = exact(
            rows,
            lambda m: np.clip(m - target, -clip, clip),
            lambda m: np.where(abs(m - target) <= clip, (m - target) ** 2 / 2, clip * abs(m - target) - clip**2 / 2),
            model.ridge_,
        )
    else:
        theta = exact(
            rows,
            lambda m: clip * np.tanh((m - target) / clip),
            lambda m: clip**2 * np.log(np.cosh((m - target) / clip)),
            model.ridge_,
        )
    assert np.allclose(model.coef_, theta[:2] / 2 * half, atol=2e-3)
    assert np.isclose(model.intercept_, center + half * theta[2] / 2 if intercept else 0.0, atol=2e-3)
    assert model.clip_ == 1.5
    assert np.allclose(model.predict(X), X @ model.coef_ + model.intercept_)


def test_bounds_and_schema_are_two_roads_to_one_model(people):
    """A frame with a schema and an array with the same declarations have the same minimizer, for both targets."""
    regions = [people["region"] == level for level in ("south", "west")]
    X = np.column_stack([people["age"], people["sex"], *regions]).astype(float)
    box = dp.Box(lower=[18, 0, 0, 0], upper=[90, 1, 1, 1], one_hot=[slice(1, 2), slice(2, 4)])
    frame = people[["age", "sex", "region"]]
    told = {"row_norm": None, "budget": SHARP, "ridge": 300.0}
    by_schema = linear(schema=SCHEMA, y_bounds=None, **told).fit(frame, people["income"], ledger=seeded())
    by_box = linear(x_bounds=box, **told | {"y_bounds": dp.Interval(0, 100)}).fit(X, people["income"], ledger=seeded())
    assert by_schema.coef_names_.tolist() == ["age", "sex", "region[south]", "region[west]"]
    assert np.allclose(by_schema.coef_, by_box.coef_, atol=1e-2)
    assert np.allclose(by_schema.predict(frame), by_box.predict(X), atol=1e-1)
    labels = logistic(schema=SCHEMA, classes=None, **told).fit(frame, people["rich"], ledger=seeded())
    boxed = logistic(x_bounds=box, **told).fit(X, people["rich"], ledger=seeded())
    assert labels.classes_.tolist() == ["no", "yes"]
    assert labels.release_.label == "not private: test seed"
    assert np.allclose(labels.coef_, boxed.coef_, atol=1e-2)
    assert np.allclose(labels.intercept_, boxed.intercept_, atol=1e-2)
    assert labels.score(frame, people["rich"]) > 0.7
    assert by_schema.predict(frame.iloc[:0]).shape == (0,)


def test_without_an_intercept_nothing_is_centered(people):
    """Codings keep 0, and the intercept is 0."""
    X = people[["age", "sex"]].to_numpy().astype(float)
    model = linear(x_bounds=dp.Box(lower=[0, 0], upper=[90, 1]), row_norm=None, fit_intercept=False, budget=SHARP).fit(
        X, people["income"] / 20, ledger=seeded()
    )
    assert model.intercept_ == 0.0
    assert model.predict([[0.0, 0.0]]) == [0.0]
    classifier = logistic(fit_intercept=False, budget=SHARP).fit(X / 90, people["rich"], ledger=seeded())
    assert classifier.intercept_.tolist() == [0.0]


def test_records_that_drop_out_count_for_nothing(people):
    """Under policy "drop" a record with a missing cell or label moves no coefficient; its probability is NaN."""
    schema = dp.Schema(
        {
            "age": dp.Number(18, 90, missing="drop"),
            "sex": dp.Flag(),
            "rich": dp.Category(["no", "yes"], missing="drop"),
        }
    )
    frame = people[["age", "sex"]].astype(float)
    lacking = frame.copy()
    lacking.loc[:50, "age"] = np.nan
    labels = people["rich"].astype(object).copy()
    labels[60:70] = None
    told = {"schema": schema, "row_norm": None, "budget": SHARP, "ridge": 200.0, "classes": None}
    model = logistic(**told).fit(lacking, labels, ledger=seeded())
    kept = np.r_[51:60, 70:600]
    again = logistic(**told).fit(frame.iloc[kept], people["rich"].iloc[kept], ledger=seeded())
    assert np.allclose(model.coef_, again.coef_, atol=5e-3)
    assert np.isnan(model.predict_proba(lacking)[:51]).all()
    with pytest.raises(InvalidData, match="predict_proba"):
        model.predict(lacking)
    other = logistic(**told | {"classes": ("yes", "no")}).fit(frame, labels, ledger=seeded())
    assert other.classes_.tolist() == ["yes", "no"]


def test_a_missing_cell_is_refused_by_its_column(table, people):
    """NaN in a cell, a label that is none of the classes: the column is named, nothing is spent."""
    X, labels, y = table
    ledger = dp.Ledger(total=dp.Pure(epsilon=1), adjacency=dp.Replace())
    broken = X.copy()
    broken[3, 1] = np.nan
    for told in ({}, {"row_norm": None, "x_bounds": dp.Box(lower=-1, upper=1)}):
        with pytest.raises(InvalidData, match="x1"):
            logistic(**told).fit(broken, labels, ledger=ledger)
        with pytest.raises(InvalidData, match="label is missing"):
            logistic(classes=("no", "perhaps"), **told).fit(X, labels, ledger=ledger)
        with pytest.raises(InvalidData, match="'y'"):
            linear(**told).fit(X, np.where(y > 3, np.nan, y), ledger=ledger)
    with pytest.raises(InvalidData, match="age"):
        linear(schema=SCHEMA, row_norm=None, y_bounds=None).fit(
            people[["age", "sex"]].assign(age=np.nan), people["income"], ledger=ledger
        )
    assert ledger.spent == dp.Pure(epsilon=0)


@pytest.mark.parametrize("make", [logistic, linear])
def test_declarations_are_asked_for(make, table):
    """None or two of the ways to bound a row, a box of the wrong kind, AddRemove: refused by name, before a charge."""
    X, labels, y = table
    target = labels if make is logistic else y
    with pytest.raises(InvalidType, match="`x_bounds`"):
        make(row_norm=None).fit(X, target)
    with pytest.raises(InvalidArgument, match="not both"):
        make(x_bounds=dp.Box(lower=-1, upper=1)).fit(X, target)
    with pytest.raises(InvalidType, match="Box"):
        make(row_norm=None, x_bounds=(-1, 1)).fit(X, target)
    with pytest.raises(InvalidArgument, match="`ridge`"):
        make(ridge=-1.0).fit(X, target)
    with pytest.raises(IncompatiblePlan, match="expected work|too small"):
        make(ridge=1e-4).fit(X, target)
    with pytest.raises(IncompatiblePlan, match="AddRemove"):
        make(adjacency=dp.AddRemove()).fit(X, target)
    with pytest.raises(InvalidType, match="`alpha`: the ridge is called ridge"):
        make(alpha=1.0)
    with pytest.raises(BudgetExceeded):
        make().fit(X, target, ledger=dp.Ledger(total=dp.Pure(epsilon="1/2"), adjacency=dp.Replace()))


def test_a_regression_asks_for_the_range_of_y(table):
    """Without y_bounds nothing is fitted; an unusable one, clip or loss is refused by name."""
    X, _, y = table
    with pytest.raises(InvalidType, match="`y_bounds`"):
        linear(y_bounds=None).fit(X, y)
    with pytest.raises(InvalidType, match="`y_bounds`"):
        linear(y_bounds=(0, 1)).fit(X, y)
    with pytest.raises(InvalidArgument, match="`clip`"):
        linear(clip=-1.0).fit(X, y)
    with pytest.raises(InvalidArgument, match="`loss`"):
        linear(loss="absolute").fit(X, y)


@pytest.mark.parametrize(
    "budget", [dp.Pure(epsilon=1), dp.Approx(epsilon=1, delta="1e-6"), dp.Zcdp(rho=1), dp.Gdp(mu=1)]
)
def test_every_currency_and_policy_is_priced(table, budget):
    """A fit costs its budget in every currency; with a delta a truncated run is cheaper to wait for."""
    X, labels, y = table
    model = logistic(budget=budget, ridge=100).fit(X, labels)
    assert model.release_.cost == budget
    assert model.release_.event.price <= budget
    assert isinstance(model.release_.event, KNormGradientEvent) == isinstance(budget, (dp.Pure, dp.Approx))
    if isinstance(budget, dp.Approx):
        short = linear(budget=budget, runtime=Truncated()).fit(X, y)
        assert short.release_.event.policy == "truncated"


def test_classes_read_from_y_are_said_to_be(table):
    """Without declared classes the release says that labels were read."""
    X, labels, _ = table
    model = logistic(classes=None).fit(X, labels)
    assert model.release_.label == "not private: class labels"
    assert logistic().fit(X, labels).release_.label == "private"


def test_neighbours_leave_the_same_traces(table):
    """Fitted models of neighbours with equal coins differ in the release and what is made of it, in nothing else."""
    X, labels, _ = table
    other = X.copy()
    other[0] = [1.0, -1.0]
    kept = []
    for rows in (X, other):
        model = logistic(budget=dp.Pure(epsilon=1)).fit(rows, labels, ledger=seeded(dp.Pure(epsilon=1)))
        kept.append((beside_the_release(model), model.release_.event))
    assert kept[0] == kept[1]


def test_rows_longer_than_the_norm_are_scaled_down_when_predicted(table):
    """A new row is bounded as a private one is, and a huge one is finite."""
    X, labels, _ = table
    model = logistic(budget=SHARP).fit(X, labels, ledger=seeded())
    decision = model.decision_function([[2.0, 0.0], [4.0, 0.0], [1e300, 0.0]])
    assert np.allclose(decision, decision[0])
