"""Weights of rows and classes: what they do, and that no price changes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression as Plain
from sklearn.linear_model import LogisticRegression as PlainLogistic
from sklearn.linear_model import PoissonRegressor

import discreet as dp
from discreet.descent.preconditioned.links import link_of
from discreet.descent.preconditioned.rows import whitened
from discreet.descent.preconditioned.weights import WeightedRows, Weights, weighted_rows
from discreet.descent.preconditioned.whitening import whitener
from estimators.front import MODELS, declared_labels, linear, logistic, name_of, seeded, table, target_of

everyone = pytest.mark.parametrize("make", MODELS, ids=name_of)


def random_weights(n, seed=3):
    return np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 3.0], n)


@everyone
def test_a_large_budget_gives_the_weighted_fit_without_privacy(make):
    """With next to no noise: weighted least squares, or weighted maximum likelihood."""
    X, targets = table(n=6000)
    y, weights = target_of(make, targets), random_weights(6000)
    model = make(budget=dp.Gdp(mu=10**4), n_steps=400, max_sample_weight=3)
    model.fit(X, y, sample_weight=weights, ledger=seeded(model))
    plain = {
        "linear": Plain(),
        "logistic": PlainLogistic(C=1e9, max_iter=10**4),
        "poisson": PoissonRegressor(alpha=0, max_iter=10**4, tol=1e-8),
    }[make.__name__].fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(np.ravel(model.coef_), np.ravel(plain.coef_), atol=0.02)
    np.testing.assert_allclose(np.ravel(model.intercept_), np.ravel(plain.intercept_), atol=0.1)
    assert model.why_no_intervals_ == (
        "the release does not hold the squares of the weights, which the sampling error depends on"
    )
    assert model.reason_ == "descent, for the rows have weights."


@pytest.mark.parametrize("make", [linear, logistic], ids=name_of)
def test_weights_of_one_are_bitwise_no_weights(make):
    """And so is any constant weight that is the declared maximum; a count's step is another, for it reads the sum."""
    X, targets = table(n=700)
    y = target_of(make, targets)
    plain = make().fit(X, y, ledger=seeded(make()))
    ones = make(max_sample_weight=2.5).fit(X, y, sample_weight=np.full(700, 2.5), ledger=seeded(make()))
    np.testing.assert_array_equal(ones.coef_, plain.coef_)
    assert ones.release_.event == plain.release_.event


def test_class_weights_are_sample_weights_of_the_classes():
    """Bitwise: two classes and three; a class that is not named has the weight 1."""
    X, targets = table(n=3000)
    for labels, weights in (
        (targets["logistic"], {1: 4}),
        (np.digitize(targets["linear"], [2.0, 6.0]), {0: 2, 2: 4}),
    ):
        classes = tuple(np.unique(labels).tolist())
        model = logistic(classes=classes, class_weight=weights)
        model.fit(X, labels, ledger=seeded(model))
        of_rows = np.array([weights.get(label, 1) for label in labels.tolist()])
        other = logistic(classes=classes, max_sample_weight=4)
        other.fit(X, labels, sample_weight=of_rows, ledger=seeded(other))
        np.testing.assert_array_equal(model.coef_, other.coef_)


def test_class_weights_move_the_predictions():
    """A heavier class is predicted more often, also in a pipeline of frames."""
    X, targets = table(n=3000)
    light = logistic().fit(X, targets["logistic"], ledger=seeded(logistic()))
    heavy = logistic(class_weight={1: 10}).fit(X, targets["logistic"], ledger=seeded(logistic()))
    assert heavy.predict(X).mean() > light.predict(X).mean() + 0.05


@pytest.mark.parametrize(
    ("changes", "weights", "message"),
    [
        ({}, np.ones(30), "needs a public `max_sample_weight`"),
        ({"max_sample_weight": 1}, np.full(30, 1.5), "above `max_sample_weight`"),
        ({"max_sample_weight": 1}, np.full(30, np.nan), "missing, below 0"),
        ({"max_sample_weight": 1}, np.full(30, -0.5), "missing, below 0"),
        ({"max_sample_weight": 1}, np.ones(29), "inconsistent numbers"),
        ({"max_sample_weight": 1}, np.ones(31), "inconsistent numbers"),
        ({"max_sample_weight": 1}, np.ones((30, 2)), "one number a row"),
        ({"max_sample_weight": 0}, np.ones(30), "greater than 0"),
        ({"max_sample_weight": 1, "method": "moments"}, np.ones(30), "does not take weights"),
        (
            {"max_sample_weight": 1, "x_bounds": None, "row_norm": 20},
            np.ones(30),
            'Weights are taken by the method "descent" alone',
        ),
    ],
)
def test_weights_are_refused_by_name_and_spend_nothing(changes, weights, message):
    """No message quotes a weight."""
    X, targets = table(n=30)
    model = linear(**changes)
    ledger = seeded(model)
    with pytest.raises(dp.DiscreetError, match=message):
        model.fit(X, targets["linear"], sample_weight=weights, ledger=ledger)
    assert ledger.entries == ()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("balanced", "must be a dict of public weights"),
        ({7: 1}, "none of the classes"),
        ({0: -1}, "at least 0"),
        ({0: 0, 1: 0}, "one of them above 0"),
    ],
)
def test_class_weights_are_refused_by_name(weights, message):
    """Weights that balance the classes would be read from them."""
    X, targets = table(n=30)
    with pytest.raises(dp.InvalidArgument, match=message):
        logistic(class_weight=weights).fit(X, targets["logistic"])


@given(
    st.lists(st.tuples(st.floats(0, 10), st.floats(0, 10), st.sampled_from([0, 1]), st.floats(0, 1)), min_size=2),
    st.tuples(st.floats(0, 10), st.floats(0, 10), st.sampled_from([0, 1]), st.floats(0, 1)),
    st.lists(st.floats(-3, 3), min_size=3, max_size=3),
)
def test_one_record_moves_weighted_sums_by_at_most_the_clip(rows, other, iterate):
    """By brute force, Replace and AddRemove, whatever the record and its weight; and the Gram matrix by its bound."""
    found = [_sums([*rows[:-1], last] if last else rows[:-1], iterate) for last in (rows[-1], other, None)]
    (one, one_gram, clip, longest), (two, two_gram, *_), (none, none_gram, *_) = found
    for a, b, factor in ((one, two, 2), (one, none, 1)):
        difference = [int(x) - int(y) for x, y in zip(a, b, strict=True)]
        assert sum(d * d for d in difference) <= (factor * clip) ** 2
    for a, b, factor in ((one_gram, two_gram, 2), (one_gram, none_gram, 1)):
        moved = np.linalg.eigvalsh((a - b).astype(np.float64))
        assert np.abs(moved).sum() <= factor * longest * (1 + 1e-12)


def _sums(rows, iterate):
    X = np.array([row[:2] for row in rows]).reshape(-1, 2)
    labels = np.array([row[2] for row in rows], dtype=int)
    weights = np.array([row[3] for row in rows], dtype=float)
    declared = declared_labels(X, labels, [0, 1], adjacency=dp.AddRemove())
    layout, clip = declared.layout, 1 << 20
    read = weighted_rows(declared.private_rows, layout, Weights(weights, None))
    public = whitener(layout, np.diag([5.0, 3.0, 1.0, 2.0]), entry_std=0.1, n_rows=5)
    link, _ = link_of(layout, "logistic", np.eye(4), entry_std=0.1, n_rows=5)
    plain = whitened(read, public, link, clip=clip)
    pairs = zip(plain.private_blocks, read.private_blocks, strict=True)
    blocks = tuple(np.concatenate([block, codes[layout.width :]]) for block, codes in pairs)
    weighted = WeightedRows(blocks, clip, link, plain.unit)
    sums, n_clipped = weighted.clipped_sums(np.array(iterate), 2.0**-30)
    assert 0 <= n_clipped <= len(rows)
    return sums, read.private_gram, clip, layout.row_norm_squared
