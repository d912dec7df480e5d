"""What is said without stopping: one category a cause, at the caller's line, and nothing of a cell."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.model_selection import cross_val_predict

import discreet as dp
from discreet import errors
from discreet.errors import InvalidData
from discreet.privacy import release as door

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(400, 2))
Y = np.where(X[:, 0] + RNG.logistic(size=400) > 0, "yes", "no")
NORMED = {"budget": dp.Gdp(mu=20), "adjacency": dp.Replace(), "row_norm": 2}
BOXED = {"budget": dp.Gdp(mu=20), "adjacency": dp.Replace(), "x_bounds": dp.Box(lower=-1, upper=1)}
CLASSIFIERS = {
    "FunctionalLogisticRegression": BOXED,
    "LogisticRegression": BOXED,
    "SparseLogisticRegression": {**NORMED, "sparsity": 2},
    "TwoStageLogisticRegression": {**NORMED, "budget": dp.Pure(epsilon=20), "sparsity": 2},
    "FrankWolfeLogisticRegression": {**NORMED, "budget": dp.Pure(epsilon=20), "radius": 1, "entry_bound": 1},
    "PerturbedLogisticRegression": {**NORMED, "budget": dp.Pure(epsilon=20)},
    "KNormGradientLogisticRegression": {**NORMED, "budget": dp.Pure(epsilon=20), "ridge": 400.0},
}


@pytest.fixture
def untold(monkeypatch):
    """A process that was not yet told that nothing remembers what it spends."""
    monkeypatch.setattr(door, "_told", False)


def made(name, **more):
    return getattr(dp, name)(**CLASSIFIERS[name], **more)


def given(call, category):
    """Return the warnings of a category that a call gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [one for one in caught if one.category is category]


def spending():
    """Return calls that spend without a ledger, by name."""
    schema = dp.Schema({"a": dp.Number(-1, 1), "b": dp.Number(-1, 1)}, adjacency=dp.Replace())
    frame = pd.DataFrame(X, columns=["a", "b"])
    linear = dp.FunctionalLinearRegression(**BOXED, y_bounds=dp.Interval(-1, 1))
    return {
        "fit": lambda ledger=None: linear.fit(X, X[:, 0], ledger=ledger),
        "release_moments": lambda ledger=None: dp.release_moments(frame, schema, budget=dp.Gdp(mu=9), ledger=ledger),
        "median": lambda ledger=None: dp.median(
            X[:, 0], budget=dp.Pure(epsilon=1), adjacency=dp.Replace(), bounds=dp.Interval(-1, 1), ledger=ledger
        ),
        "pca": lambda ledger=None: dp.PrivatePCA(budget=dp.Pure(epsilon=9), adjacency=dp.Replace(), row_norm=2).fit(
            X, ledger=ledger
        ),
    }


@pytest.mark.parametrize("name", spending())
def test_a_release_without_a_ledger_says_once_a_process_that_nothing_remembers_it(untold, name):
    """Fits, releases of moments and draws warn at the caller's line; the second time they are silent."""
    call = spending()[name]
    (one,) = given(call, errors.NoLedgerWarning)
    assert one.filename == __file__
    assert "ledger=Ledger.open(" in str(one.message)
    assert not given(call, errors.NoLedgerWarning)


@pytest.mark.parametrize("name", ["fit", "release_moments"])
def test_a_release_with_a_ledger_warns_of_nothing(untold, name):
    """Whoever gives a ledger is told nothing, and who gives none later still is."""
    ledger = dp.Ledger(total=dp.Gdp(mu=30), adjacency=dp.Replace())
    assert not given(lambda: spending()[name](ledger), errors.NoLedgerWarning)
    assert given(spending()[name], errors.NoLedgerWarning)


def test_a_filter_that_makes_an_error_of_it_refuses_every_release(untold):
    """The warning comes before the draw, so under an error filter nothing is ever released without a ledger."""
    fit = spending()["fit"]
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error", errors.NoLedgerWarning)
            with pytest.raises(errors.NoLedgerWarning):
                fit()


def test_a_fresh_process_is_told_once_by_default():
    """Under Python's own filters the line is printed once, with the user's file."""
    code = (
        "import discreet as dp, numpy as np\n"
        "m = dp.FunctionalLinearRegression(budget=dp.Gdp(mu=9), adjacency=dp.Replace(),\n"
        "    x_bounds=dp.Box(lower=0, upper=1), y_bounds=dp.Interval(0, 1))\n"
        "X = np.random.default_rng(0).uniform(size=(999, 1))\n"
        "for _ in range(3): m.fit(X, X[:, 0])\n"
        "m.fit(X, X[:, 0])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.count("NoLedgerWarning") == 1
    assert done.stderr.startswith("<string>:5: NoLedgerWarning")


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_labels_that_are_read_from_the_rows_are_said_to_be(name):
    """Each classifier warns at the caller's line where no classes are declared, and is silent where they are."""
    (one,) = given(lambda: made(name).fit(X, Y), errors.ClassLabelsWarning)
    assert one.filename == __file__
    assert "`classes`" in str(one.message)
    assert "yes" not in str(one.message)
    assert not given(lambda: made(name, classes=("no", "yes")).fit(X, Y), errors.ClassLabelsWarning)


def test_labels_that_a_schema_declares_are_not_said_to_be_read():
    """Levels of a category are declared classes; a target that the schema does not know is read."""
    frame = pd.DataFrame(X, columns=["a", "b"])
    columns = {"a": dp.Number(-1, 1), "b": dp.Number(-1, 1)}
    for more, n_warnings in (({"y": dp.Category(["no", "yes"])}, 0), ({}, 1)):
        model = dp.LogisticRegression(
            budget=dp.Gdp(mu=20), adjacency=dp.Replace(), schema=dp.Schema({**columns, **more})
        )
        found = given(lambda model=model: model.fit(frame, pd.Series(Y, name="y")), errors.ClassLabelsWarning)
        assert len(found) == n_warnings


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_fr_13_encoded_labels_are_told_from_texts(name):
    """FR-13: numbers where texts are declared name classes=(0, 1), by the column's type alone; nothing is spent."""
    ledger = dp.Ledger(total=made(name).budget, adjacency=dp.Replace())
    codes = (Y == "yes").astype(int)
    for column in (codes, codes.astype(float), codes == 1):
        with pytest.raises(InvalidData, match=r"`y` holds numbers.*classes=\(0, 1\)"):
            made(name, classes=("no", "yes")).fit(X, column, ledger=ledger)
    with pytest.raises(InvalidData, match='`y` holds texts.*classes=\\("no", "yes"\\)'):
        made(name, classes=(0, 1)).fit(X, Y, ledger=ledger)
    assert ledger.entries == ()


def test_fr_13_tools_that_encode_labels_work_with_encoded_classes():
    """FR-13: cross-validated probabilities, voting and stacking refuse texts by name and take classes=(0, 1)."""
    name = "FunctionalLogisticRegression"

    def members(model):
        return [("one", model), ("two", model)]

    for classes, works in ((("no", "yes"), False), ((0, 1), True)):
        model = made(name, classes=classes)
        uses = [
            lambda model=model: cross_val_predict(model, X, Y, method="predict_proba", cv=2),
            lambda model=model: VotingClassifier(members(model)).fit(X, Y).predict(X),
            lambda model=model: StackingClassifier(members(model), cv=2).fit(X, Y).predict(X),
        ]
        for use in uses:
            if works:
                assert len(use()) == len(X)
                continue
            with pytest.raises(InvalidData, match=r"declare classes=\(0, 1\)"):
                use()


def test_fr_13_codes_that_are_none_of_the_numbers_declared_name_the_tools():
    """FR-13: declared -1 and 1, given 0 and 1: the error names the tools that encode labels."""
    for name in ("FunctionalLogisticRegression", "SparseLogisticRegression"):
        with pytest.raises(InvalidData, match=r"voting, stacking.*declare classes=\(0, 1\)"):
            made(name, classes=(-1, 1)).fit(X, (Y == "yes").astype(int))


def test_fr_13_a_schema_of_texts_refuses_encoded_labels():
    """FR-13: the same under a schema, also where missing labels are dropped; levels that are numbers still match."""
    frame = pd.DataFrame(X, columns=["a", "b"])
    codes = pd.Series((Y == "yes").astype(int), name="y")
    columns = {"a": dp.Number(-1, 1), "b": dp.Number(-1, 1)}
    for levels, works in ((["no", "yes"], False), ([0, 1], True)):
        schema = dp.Schema({**columns, "y": dp.Category(levels, missing="drop")})
        model = dp.FunctionalLogisticRegression(budget=dp.Gdp(mu=20), adjacency=dp.Replace(), schema=schema)
        if works:
            assert model.fit(frame, codes).coef_[0, 0] > 0
            continue
        with pytest.raises(InvalidData, match="the schema declares texts"):
            model.fit(frame, codes)


@pytest.mark.parametrize(("levels", "works"), [([1, 2, 3], True), (["1", "2", "3"], True), (["x", "y", "z"], False)])
def test_fr_13_a_schema_of_more_than_two_levels_reads_its_own_numbers_alone(levels, works):
    """FR-13: numbers stand for levels that are numbers, as in any table, and are refused where all levels are words."""
    frame = pd.DataFrame(X, columns=["a", "b"])
    codes = pd.Series(np.digitize(X[:, 0], [-0.3, 0.3]) + 1, name="y")
    schema = dp.Schema({"a": dp.Number(-1, 1), "b": dp.Number(-1, 1), "y": dp.Category(levels)})
    model = dp.LogisticRegression(budget=dp.Gdp(mu=200), adjacency=dp.Replace(), schema=schema)
    if works:
        assert (model.fit(frame, codes).predict(frame) == codes.astype(str)).mean() > 0.6
        return
    with pytest.raises(InvalidData, match="the schema declares texts"):
        model.fit(frame, codes)


def test_every_warning_is_one_of_ours_and_has_a_filter_of_its_own():
    """Each category has one base, so that all can be filtered, and its own name."""
    categories = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Warning)]
    assert {errors.NoLedgerWarning, errors.ClassLabelsWarning, errors.NoiseDominatedWarning} <= set(categories)
    assert all(issubclass(category, errors.DiscreetWarning) for category in categories)
    assert all(getattr(dp.errors, category.__name__) is category for category in categories)
