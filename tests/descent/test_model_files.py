"""Fitted models of the second pillar as files: what is written is read back, and nothing else is."""

import json

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from descent.estimators import LOGISTIC, name_of, seeded, sparse_linear, sparse_logistic, table, target_of
from discreet.errors import InvalidArgument, InvalidData
from discreet.estimators.base import Model


@pytest.fixture
def saved(tmp_path):
    def save(model):
        path = tmp_path / "model.json"
        path.write_text(model.dumps())
        return path

    return save


def fitted(make, **changes):
    X, y, labels = table()
    model = make(**changes)
    return model.fit(X, target_of(make, y, labels), ledger=seeded(model)), X


def test_names_and_several_classes_come_back(saved):
    """A frame's names are checked at prediction; three classes are three models."""
    X, y, labels = table()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    model = sparse_linear().fit(frame, y)
    again = Model.load(saved(model))
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    with pytest.raises(InvalidData, match="feature names"):
        again.predict(frame[list("bacdefgh")])
    several = sparse_logistic(classes=(0, 1, 2)).fit(X, labels)
    again = Model.load(saved(several))
    np.testing.assert_array_equal(again.predict_proba(X), several.predict_proba(X))


def test_labels_that_json_has_not_are_refused(saved):
    """Tuples as labels can be fitted and not written."""
    X, _, codes = table()
    labels = np.empty(300, dtype=object)
    labels[:] = [(code,) for code in codes]
    model = sparse_logistic().fit(X, labels)
    with pytest.raises(InvalidArgument, match="classes"):
        model.dumps()


@pytest.mark.parametrize(
    "change",
    [
        {"estimator": "Ridge"},
        {"label": "quite private"},
        {"coef": []},
        {"coef": {"size": 8, "models": []}},
        {"coef": {"size": 8, "models": [{"at": [0], "values": []}]}},
        {"coef": {"size": 8, "models": [{"at": [-1], "values": [1.0]}]}},
        {"coef": {"size": 8, "models": [{"at": [99], "values": [1.0]}]}},
        {"grid": [0, 2.0, None, 0.0, 16]},
        {"settings": {"coef": 1}},
        {"classes": ["a"]},
        {"event": {"kind": "nothing"}},
    ],
    ids=lambda change: next(iter(change)),
)
@pytest.mark.parametrize("make", [LOGISTIC[0]], ids=name_of)
def test_a_damaged_file_is_refused(make, change, saved, tmp_path):
    """One error that says so, whatever is wrong."""
    model, _ = fitted(make)
    document = json.loads(model.dumps()) | change
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps(document))
    with pytest.raises((InvalidData, InvalidArgument)):
        Model.load(path)


def test_a_file_holds_no_row(saved):
    """Its size depends on the columns that are left, not on the rows; the budget is an exact text."""
    X, y, _ = table(n=3000)
    model = sparse_linear(budget=dp.Zcdp(rho="1/3")).fit(X, y)
    text = model.dumps()
    assert len(text) < 3000
    assert '"1/3"' in text
