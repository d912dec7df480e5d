"""FunctionalLinearRegression on arrays and frames."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LinearRegression

import discreet as dp
from public_state import beside_the_release

BUDGETS = [dp.Pure(epsilon=10**9), dp.Zcdp(rho=10**15), dp.Gdp(mu=10**9), dp.Approx(epsilon=10**6, delta="1e-9")]


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("adjacency", [dp.Replace(), dp.AddRemove()], ids=repr)
def test_an_enormous_budget_gives_least_squares(rows, declarations, budget, intercept, adjacency):
    """With next to no noise the coefficients are those of ordinary least squares, in the user's units."""
    X, y = rows
    declarations["adjacency"] = adjacency
    model = dp.FunctionalLinearRegression(budget=budget, fit_intercept=intercept, **declarations).fit(X, y)
    plain = LinearRegression(fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=2e-3)
    assert model.intercept_ == pytest.approx(plain.intercept_, abs=1e-2)
    assert not model.noise_dominated_
    np.testing.assert_allclose(model.predict(X), plain.predict(X), atol=2e-2)


def test_laplace_by_name_gives_least_squares_too(rows, declarations):
    """The rounded Laplace law is offered by name for Pure budgets."""
    X, y = rows
    model = dp.FunctionalLinearRegression(budget=dp.Pure(epsilon=10**9), mechanism="laplace", **declarations)
    np.testing.assert_allclose(model.fit(X, y).coef_, LinearRegression().fit(X, y).coef_, atol=2e-3)
    assert type(model.release_.event).__name__ == "LaplaceEvent"


@pytest.mark.parametrize(
    ("mechanism", "budget"), [("gaussian", dp.Pure(epsilon=1)), ("wishart", dp.Gdp(mu=1)), ("laplace", dp.Zcdp(rho=1))]
)
def test_a_law_that_does_not_fit_the_budget_is_refused(rows, declarations, mechanism, budget):
    """A law and a currency without a theorem between them are refused by name."""
    model = dp.FunctionalLinearRegression(budget=budget, mechanism=mechanism, **declarations)
    with pytest.raises(dp.errors.IncompatiblePlan, match=mechanism):
        model.fit(*rows)


def test_the_ordinary_budget_is_useful(rows, declarations):
    """At epsilon 1 and 4,000 rows the fit explains most of the variance."""
    X, y = rows
    ledger = dp.Ledger(total=dp.Pure(epsilon=1), adjacency=dp.Replace(), coins=dp.privacy.Coins.from_seed(5))
    model = dp.FunctionalLinearRegression(budget=dp.Pure(epsilon=1), **declarations).fit(X, y, ledger=ledger)
    assert model.score(X, y) > 0.7
    assert model.release_.cost == dp.Pure(epsilon=1)
    assert ledger.left == dp.Pure(epsilon=0)


def test_a_fit_without_a_ledger_opens_one_of_its_own(rows, declarations):
    """The release carries its cost, its adjacency and the word private."""
    model = dp.FunctionalLinearRegression(budget=dp.Gdp(mu=1), **declarations).fit(*rows)
    assert model.release_.cost == dp.Gdp(mu=1)
    assert model.release_.adjacency == dp.Replace()
    assert model.release_.label == "private"


def test_api_04_api_21_frames_fit_as_arrays_do_and_keep_their_names(rows, declarations):
    """API-04, API-21: pandas, its nullable dtypes, and polars give bitwise the array's fit under one seed."""
    X, y = rows
    columns = ["a", "b", "y"]
    plain = pd.DataFrame(X, columns=columns)
    frames = [plain, plain.astype("Float64"), pl.DataFrame(X, schema=columns)]
    expected = _seeded(declarations).fit(X, y, ledger=_seeded_ledger())
    for frame in frames:
        model = _seeded(declarations).fit(frame, y, ledger=_seeded_ledger())
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        assert list(model.feature_names_in_) == columns
    with pytest.raises(dp.InvalidData, match="feature names"):
        model.predict(plain[["b", "a", "y"]])


@pytest.mark.filterwarnings("ignore::discreet.errors.NoiseDominatedWarning")
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float16, np.float32, bool])
def test_api_12_api_13_narrow_dtypes_give_the_fit_of_their_float64_copy(declarations, dtype):
    """API-12, API-13: no wrap, no accumulation in a narrow type."""
    X = np.random.default_rng(3).integers(0, 2 if dtype is bool else 11, size=(500, 3)).astype(dtype)
    y = X.astype(float).sum(axis=1)
    wide = _seeded(declarations).fit(X.astype(np.float64), y, ledger=_seeded_ledger())
    narrow = _seeded(declarations).fit(X, y, ledger=_seeded_ledger())
    np.testing.assert_array_equal(narrow.coef_, wide.coef_)


def test_api_03_a_column_vector_target_warns_and_fits_alike(rows, declarations):
    """API-03: y of shape (n, 1) warns and gives bitwise the one-dimensional result."""
    X, y = rows
    flat = _seeded(declarations).fit(X, y, ledger=_seeded_ledger())
    with pytest.warns(DataConversionWarning):
        column = _seeded(declarations).fit(X, y[:, None], ledger=_seeded_ledger())
    np.testing.assert_array_equal(column.coef_, flat.coef_)
    assert column.predict(X).shape == (len(y),)


def test_bnd_09_num_09_cells_outside_the_bounds_are_clipped(rows, declarations):
    """BND-09, NUM-09: a wild cell counts as the bound, bitwise."""
    X, y = rows
    wild, tame = X.copy(), X.copy()
    wild[0, 0], tame[0, 0] = 1.46e258, 10.0
    first = _seeded(declarations).fit(wild, y, ledger=_seeded_ledger())
    second = _seeded(declarations).fit(tame, y, ledger=_seeded_ledger())
    np.testing.assert_array_equal(first.coef_, second.coef_)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["x1", "y"])
def test_bnd_11_sem_08_a_missing_cell_names_its_column_and_spends_nothing(rows, declarations, bad, where):
    """BND-11, SEM-08: arrays have the policy error, and it raises before any charge."""
    X, y = rows
    X, y = X.copy(), y.copy()
    if where == "y":
        y[17] = bad
    else:
        X[17, 1] = bad
    ledger = dp.Ledger(total=dp.Gdp(mu=1), adjacency=dp.Replace())
    with pytest.raises(dp.InvalidData, match=where):
        dp.FunctionalLinearRegression(budget=dp.Gdp(mu=1), **declarations).fit(X, y, ledger=ledger)
    assert ledger.entries == ()


SENTINEL = "secret-987654"


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1.0, 2.0], [SENTINEL, 3.0]], dtype=object),
        np.array([987654.321, 987654.321]),
        pd.DataFrame({"a": [1.0, 2.0], "b": ["u", SENTINEL]}),
        [[1.0, 2.0], [SENTINEL, 3.0]],
        np.array([[1.0, 2.0], [{"cell": SENTINEL}, 3.0]], dtype=object),
        np.array([[987654.321j, 1.0], [2.0, 3.0]]),
    ],
    ids=["text", "one-dimensional", "frame", "list", "objects", "complex"],
)
def test_no_error_quotes_a_cell(declarations, X):
    """Whatever is wrong with the rows, no message and no chained exception holds a value of theirs."""
    model = dp.FunctionalLinearRegression(budget=dp.Gdp(mu=1), **declarations)
    with pytest.raises(dp.DiscreetError) as caught:
        model.fit(X, [1.0, 2.0])
    error = caught.value
    while error is not None:
        assert "987654" not in str(error)
        error = error.__cause__ or error.__context__


def test_declarations_are_refused_by_name(rows, declarations):
    """A wrong declaration says which one it is and what would be right."""
    cases = [
        ("x_bounds", dp.Interval(0, 1), r"Use Box\(lower"),
        ("x_bounds", dp.Box(lower=[0, 0], upper=[1, 1]), "declares 2 columns"),
        ("x_bounds", (0, 1), "x_bounds"),
        ("y_bounds", (0, 1), "y_bounds"),
        ("adjacency", dp.Replace, "adjacency"),
        ("fit_intercept", "yes", "fit_intercept"),
        ("mechanism", "magic", "mechanism"),
        ("budget", 1.0, "budget"),
    ]
    for name, value, message in cases:
        arguments = {"budget": dp.Gdp(mu=1), **declarations, name: value}
        with pytest.raises(dp.DiscreetError, match=message):
            dp.FunctionalLinearRegression(**arguments).fit(*rows)


def test_api_17_what_cannot_be_honored_is_a_type_error_that_says_what_to_do(rows, declarations):
    """API-17: scikit-learn's other arguments are refused by name, at the constructor and at fit."""
    with pytest.raises(TypeError, match=r"random_state.*Coins\.from_seed"):
        dp.FunctionalLinearRegression(budget=dp.Gdp(mu=1), random_state=0, **declarations)
    model = dp.FunctionalLinearRegression(budget=dp.Gdp(mu=1), **declarations)
    with pytest.raises(TypeError, match="sample_weight"):
        model.fit(*rows, sample_weight=np.ones(4000))
    with pytest.raises(TypeError, match="ledger"):
        model.fit(*rows, ledger="book")
    with pytest.raises(TypeError, match="adjacency"):
        dp.FunctionalLinearRegression(budget=dp.Gdp(mu=1))
    for name in ("x_bounds", "y_bounds"):
        with pytest.raises(TypeError, match=f"needs `{name}`"):
            dp.FunctionalLinearRegression(budget=dp.Gdp(mu=1), **{**declarations, name: None}).fit(*rows)


def test_a_ledger_of_other_neighbors_is_refused(rows, declarations):
    """The model's adjacency and the ledger's must be one."""
    ledger = dp.Ledger(total=dp.Gdp(mu=1), adjacency=dp.AddRemove())
    with pytest.raises(dp.errors.AdjacencyMismatch):
        dp.FunctionalLinearRegression(budget=dp.Gdp(mu=1), **declarations).fit(*rows, ledger=ledger)


def test_an_empty_table_runs_under_add_remove_and_raises_under_replace(declarations):
    """Under AddRemove no rows are an ordinary table; under Replace the count is public and the owner is told."""
    X, y = np.empty((0, 3)), np.empty(0)
    with pytest.raises(ValueError, match="sample"):
        dp.FunctionalLinearRegression(budget=dp.Gdp(mu=1), **declarations).fit(X, y)
    declarations["adjacency"] = dp.AddRemove()
    model = dp.FunctionalLinearRegression(budget=dp.Gdp(mu=1), **declarations)
    with pytest.warns(dp.NoiseDominatedWarning):
        model.fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert model.noise_dominated_


def test_sem_03_sem_09_under_add_remove_the_number_of_rows_is_nowhere(rows, declarations):
    """SEM-03, SEM-09: n enters nothing but the noisy matrix, and mismatched lengths are not counted aloud."""
    X, y = rows
    declarations["adjacency"] = dp.AddRemove()
    model = dp.FunctionalLinearRegression(budget=dp.Gdp(mu=1), **declarations).fit(X, y)
    assert model.release_.value.n_rows is None
    # Whole numbers, not digits: the noise may spell 4000 within a longer number.
    assert "4000" not in re.findall(r"\d+", repr(vars(model)) + str(model.release_.event.to_json()))
    with pytest.raises(dp.InvalidData) as caught:
        model.fit(X, y[:-1])
    assert "4000" not in str(caught.value)
    assert "3999" not in str(caught.value)


@pytest.mark.parametrize("seed", range(20))
def test_num_03_a_tiny_table_at_a_tiny_epsilon_is_finite_and_flagged(declarations, seed):
    """NUM-03: the noisy quadratic is often indefinite; the answer is finite and says that noise dominates."""
    rng = np.random.default_rng(seed)
    X, y = rng.uniform(0, 10, size=(20, 5)), rng.uniform(0, 10, size=20)
    ledger = dp.Ledger(total=dp.Pure(epsilon="0.01"), adjacency=dp.Replace(), coins=dp.privacy.Coins.from_seed(seed))
    model = dp.FunctionalLinearRegression(budget=dp.Pure(epsilon="0.01"), **declarations)
    with pytest.warns(dp.NoiseDominatedWarning) as caught:
        model.fit(X, y, ledger=ledger)
    assert caught[0].filename == __file__
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_)
    assert model.noise_dominated_


def test_num_02_redundant_columns_predict_as_least_squares_does(declarations):
    """NUM-02: two identical columns and a constant one at epsilon 1e9 leave the fitted values right to 1e-3."""
    rng = np.random.default_rng(11)
    first = rng.uniform(0, 10, size=(3000, 1))
    X = np.hstack([first, first, np.full((3000, 1), 4.0)])
    y = 3.0 + 2.0 * first[:, 0] / 10 + rng.normal(scale=0.1, size=3000)
    model = dp.FunctionalLinearRegression(budget=dp.Pure(epsilon=10**9), **declarations)
    with pytest.warns(dp.NoiseDominatedWarning):  # the data do not tell the two columns apart, so noise must
        model.fit(X, y)
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), rtol=1e-3)


def test_neighbors_with_equal_coins_differ_in_nothing_but_the_release(rows, declarations):
    """Fits on two neighbours leave the same attributes, counts and files, once the released numbers are set aside."""
    X, y = rows
    other = X.copy()
    other[0] = [10.0, 0.0, 10.0]
    texts = []
    for matrix in (X, other):
        ledger = _seeded_ledger()
        model = _seeded(declarations).fit(matrix, y, ledger=ledger)
        state, moments, released = beside_the_release(model), model.moments_, model.release_
        entries = [(entry.cost, entry.event) for entry in ledger.entries]
        texts.append(repr((state, released.event, released.label, released.notes, moments.layout, entries)))
        assert vars(released.value).keys() == {"entries", "step_bits", "n_rows"}
    assert texts[0] == texts[1]


def test_sem_04_nse_08_a_seeded_release_says_that_it_is_not_private(rows, declarations):
    """SEM-04, NSE-08: a test seed repeats the fit bit for bit and marks it."""
    first = _seeded(declarations).fit(*rows, ledger=_seeded_ledger())
    second = _seeded(declarations).fit(*rows, ledger=_seeded_ledger())
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert first.release_.label == "not private: test seed"


def test_nse_06_global_generators_are_not_read(rows, declarations):
    """NSE-06: seeding numpy's global generator does not repeat the noise."""
    coefs = []
    for _ in range(2):
        np.random.seed(0)
        coefs.append(dp.FunctionalLinearRegression(budget=dp.Gdp(mu=1), **declarations).fit(*rows).coef_)
    assert not np.array_equal(*coefs)


def _seeded(declarations):
    return dp.FunctionalLinearRegression(budget=dp.Gdp(mu=1), **declarations)


def _seeded_ledger():
    return dp.Ledger(total=dp.Gdp(mu=1), adjacency=dp.Replace(), coins=dp.privacy.Coins.from_seed(0))
