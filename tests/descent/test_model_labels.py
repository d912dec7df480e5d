"""The logistic estimators of the second pillar: labels of any kind, probabilities, and one model a class."""

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from descent.estimators import LARGE, LOGISTIC, name_of, perturbed, seeded, sparse_logistic, table
from discreet.errors import InvalidArgument, InvalidData
from discreet.privacy.events.repeated import RepeatedEvent

BUDGETS = [
    dp.Zcdp(rho="1/2"),
    dp.Gdp(mu=1),
    dp.Approx(epsilon=2, delta="1e-6"),
]
everyone = pytest.mark.parametrize("make", LOGISTIC, ids=name_of)


def three_classes(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, np.array(["low", "mid", "top"])[np.argmax(X[:, :3], axis=1)]


@everyone
@pytest.mark.parametrize(
    "kinds",
    [("no", "yes"), (False, True), (-1, 1), (0.0, 1.0), (3, 7)],
    ids=repr,
)
def test_api_02_labels_of_any_kind_give_bitwise_the_same_fit(make, kinds):
    """API-02: texts, booleans and numbers; predictions are of the labels' kind."""
    X, _, codes = table()
    model = make()
    plain = make(classes=(0, 1)).fit(X, codes, ledger=seeded(model))
    for labels in (np.array(kinds)[codes], np.array(kinds, dtype=object)[codes], pd.Series(np.array(kinds)[codes])):
        read = make().fit(X, labels, ledger=seeded(model))
        np.testing.assert_array_equal(read.coef_, plain.coef_)
        assert read.classes_.tolist() == list(kinds)
        assert set(read.predict(X).tolist()) <= set(kinds)
        assert "class labels were read" in " ".join(read.release_.notes)
        declared = make(classes=kinds).fit(X, labels, ledger=seeded(model))
        np.testing.assert_array_equal(declared.coef_, plain.coef_)
        assert declared.release_.notes == ()


@everyone
def test_classes_that_were_read_make_a_release_not_private(make):
    """A look at the labels is said in the release; declared classes leave it private."""
    X, _, codes = table()
    assert make().fit(X, codes).release_.label == "not private: class labels"
    assert make(classes=(0, 1)).fit(X, codes).release_.label == "private"


@everyone
def test_probabilities_follow_the_classes_and_sum_to_one(make):
    """Columns are in the order of `classes_`, and the likelier class is predicted; for two classes and for three."""
    X, labels = three_classes()
    for target in (labels, np.where(labels == "top", "b", "a")):
        model = make(budget=dp.Approx(epsilon=10, delta="1e-3")).fit(X, target)
        chances = model.predict_proba(X)
        assert chances.shape == (600, model.classes_.size)
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        np.testing.assert_array_equal(model.classes_[chances.argmax(axis=1)], model.predict(X))


def test_equal_probabilities_are_given_where_every_class_is_impossible():
    """Margins so low that every probability rounds to 0 leave none likelier."""
    X, labels = three_classes()
    model = sparse_logistic().fit(X, labels)
    model.intercept_ = np.full(3, -2000.0)
    np.testing.assert_array_equal(model.predict_proba(X[:2]), np.full((2, 3), 1 / 3))


@everyone
@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_several_classes_together_cost_the_budget_in_one_entry(make, budget):
    """One against the rest: one event of k models, whose price is the budget, within rounding."""
    if "frank" in make.__name__ and isinstance(budget, dp.Gdp):
        pytest.skip("Gumbel choices alone have no price in Gdp here")
    if make.__name__.startswith("two") and not isinstance(budget, dp.Approx):
        pytest.skip("takes Pure or Approx")
    changes = {"method": "output"} if make is perturbed else {}
    X, labels = three_classes()
    model = make(budget=budget, classes=("low", "mid", "top"), **changes)
    ledger = seeded(model)
    model.fit(X, labels, ledger=ledger)
    (entry,) = ledger.entries
    event = model.release_.event
    assert isinstance(event, RepeatedEvent)
    assert event.n_times == 3
    assert event.budget == budget == model.release_.cost
    assert "3 classes" in event.statistic
    assert "3 classes" in repr(entry)
    part = event.part.price
    assert type(part).from_coordinates(tuple(3 * number for number in part.coordinates)) == event.price
    # Nearly all of the budget is used, after the tight conversion and not by splitting epsilon and delta.
    if isinstance(budget, dp.Approx) and make is sparse_logistic:
        one = make(budget=budget, classes=(0, 1), **changes).fit(X, (labels == "top").astype(int)).release_.event
        ratio = event.part.price.coordinates[0] * 3 / one.price.coordinates[0]
        assert float(ratio) == pytest.approx(1, rel=1e-6)
    assert model.coef_.shape == (3, 6)
    assert model.intercept_.shape == (3,)
    assert len(model.release_.value) == 3


def test_each_class_is_told_from_the_rest():
    """With a large budget the classes of a separable table are found."""
    X, labels = three_classes(3000)
    model = sparse_logistic(budget=LARGE, sparsity=6).fit(X, labels)
    assert model.score(X, labels) > 0.85
    assert (np.argmax(model.coef_[:, :3], axis=1) == [0, 1, 2]).all()


def test_two_classes_of_declared_three_are_three_models():
    """An absent class still has its model; its rows are never predicted."""
    X, labels = three_classes()
    two = np.where(labels == "top", "mid", labels)
    model = sparse_logistic(budget=LARGE, sparsity=6, classes=("low", "mid", "top")).fit(X, two)
    assert model.coef_.shape == (3, 6)
    assert "top" not in model.predict(X)


@everyone
@pytest.mark.parametrize(
    ("classes", "words"),
    [
        (("a",), "between 2 and 1000"),
        (("a", "a"), "two different"),
        (("a", None), "None, NaN"),
        ("ab", "sequence"),
        (range(1001), "between 2 and 1000"),
    ],
)
def test_declared_classes_must_be_classes(make, classes, words):
    """A single one, the same twice, a missing one, a text: each is refused by name."""
    X, _, codes = table()
    with pytest.raises(InvalidArgument, match=words):
        make(classes=classes).fit(X, codes)


@everyone
def test_labels_that_are_none_are_refused_without_a_quote(make):
    """A missing or undeclared label is the owner's error; numbers that are not whole are no labels."""
    X, y, codes = table()
    for labels, classes in (
        (np.where(codes, "yes", None), ("no", "yes")),
        (np.where(codes, "secret", "no"), ("no", "yes")),
        (np.where(codes, 1.0, np.nan), (0, 1)),
    ):
        with pytest.raises(InvalidData, match="'y': a label is missing or is none of the classes") as caught:
            make(classes=classes).fit(X, labels)
        assert "secret" not in str(caught.value)
    with pytest.raises(InvalidData, match="Unknown label type"):
        make().fit(X, y)
    with pytest.raises(InvalidData, match="more than 1000"):
        make().fit(np.zeros((1200, 1)), np.arange(1200))
