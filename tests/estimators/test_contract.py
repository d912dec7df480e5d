"""Every public estimator keeps its contract; see `contract.py`."""

import inspect
import json
from functools import partial
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_classifier
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, QuantileRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import discreet as dp
from discreet.sampling.policies import CoolDown
from estimators.contract import (
    NEW,
    ClassifierContract,
    EstimatorContract,
    RegressorContract,
    ReleaseContract,
    SearchContract,
    TransformerContract,
    answers,
    fit,
    fitted,
    kind_of,
    plain,
    saved,
)
from estimators_for_tests import CASES, TABLE, TARGETS


class OfNumbers(RegressorContract):
    """Regressions with the attributes of least squares."""

    withheld: ClassVar = {"rank_": "a function of private rows", "singular_": "a function of private rows"}

    peer: ClassVar = LinearRegression


class OfLabels(ClassifierContract):
    """Regressions with the attributes of logistic regression."""

    peer: ClassVar = LogisticRegression


class TestLinearRegression(OfNumbers):
    """The front door, for numbers."""

    of = "LinearRegression"


class TestLogisticRegression(OfLabels):
    """The front door, for labels."""

    of = "LogisticRegression"


class TestPoissonRegression(RegressorContract):
    """The front door, for counts."""

    of = "PoissonRegression"
    withheld: ClassVar = {"n_iter_": "how many steps are made is public: `n_steps_`"}

    peer: ClassVar = PoissonRegressor


class TestFunctionalLinearRegression(OfNumbers):
    """One noisy Gram matrix, for numbers."""

    of = "FunctionalLinearRegression"


class TestFunctionalLogisticRegression(OfLabels):
    """One noisy Gram matrix, for labels."""

    of = "FunctionalLogisticRegression"


class TestSparseLinearRegression(OfNumbers):
    """Noisy steps, for numbers."""

    of = "SparseLinearRegression"


class TestSparseLogisticRegression(OfLabels):
    """Noisy steps, for labels."""

    of = "SparseLogisticRegression"


class TestFrankWolfeLinearRegression(OfNumbers):
    """Frank-Wolfe, for numbers."""

    of = "FrankWolfeLinearRegression"

    def make(self, case):
        """Return it with so little budget that its choices differ."""
        return case.make(budget=dp.Zcdp(rho="1/100"))


class TestFrankWolfeLogisticRegression(OfLabels):
    """Frank-Wolfe, for labels."""

    of = "FrankWolfeLogisticRegression"


class TestTwoStageLinearRegression(OfNumbers):
    """Two stages, for numbers."""

    of = "TwoStageLinearRegression"


class TestTwoStageLogisticRegression(OfLabels):
    """Two stages, for labels."""

    of = "TwoStageLogisticRegression"


class TestPerturbedLogisticRegression(OfLabels):
    """A perturbed objective."""

    of = "PerturbedLogisticRegression"


class TestKNormGradientLinearRegression(OfNumbers):
    """A K-norm gradient, for numbers."""

    of = "KNormGradientLinearRegression"


class TestKNormGradientLogisticRegression(OfLabels):
    """A K-norm gradient, for labels."""

    of = "KNormGradientLogisticRegression"


class TestKNormGradientQuantileRegression(RegressorContract):
    """A K-norm gradient on a grid."""

    of = "KNormGradientQuantileRegression"
    withheld: ClassVar = {"n_iter_": "there is one draw"}
    tried: ClassVar = {"quantile": [0.5, 0.25]}

    peer: ClassVar = partial(QuantileRegressor, alpha=0)


class TestPrivatePCA(ReleaseContract, TransformerContract):
    """Components."""

    of = "PrivatePCA"
    methods: ClassVar = {"fit": ["X", "y", "ledger"], "fit_table": ["source", "columns"]}
    withheld: ClassVar = dict.fromkeys(
        ("explained_variance_", "explained_variance_ratio_", "singular_values_", "noise_variance_"),
        "variances are functions of private rows, and are not released",
    ) | {
        "mean_": "rows are taken about a public point: `center_`",
        "n_samples_": "private under AddRemove",
    }

    peer: ClassVar = partial(PCA, n_components=1)

    def test_components_are_unit_vectors_whose_largest_part_is_positive(self, case):
        """As scikit-learn's are."""
        components = fitted(case).components_
        np.testing.assert_allclose(components @ components.T, np.eye(len(components)), atol=1e-12)
        assert (components[np.arange(len(components)), np.abs(components).argmax(axis=1)] > 0).all()

    def test_public_constants_and_a_policy_come_back_from_a_file(self):
        """A center of any kind of array, the scale, and how long it runs."""
        declared = {"center": np.array([0.5, 0.25, 0.0]), "scale_to_bounds": True, "runtime": CoolDown(s="1/4")}
        case = self.cases()[1]
        model = fit(case, case.make(n_components=2, **declared))
        again = dp.PrivatePCA.load(saved(model))
        assert again.get_params()["center"] == [0.5, 0.25, 0.0]
        assert again.runtime == model.runtime
        assert again.get_params()["x_bounds"] == model.x_bounds
        assert answers(case, fit(case, again)) == answers(case, model)

    def test_a_table_of_many_columns_is_cut(self):
        """The summary says so."""
        X = np.random.default_rng(0).normal(size=(20, 250))
        model = dp.PrivatePCA(budget=dp.Pure(epsilon=1), adjacency=dp.Replace(), row_norm=1.0).fit(X)
        assert "The table has the first 200 of 250 columns." in str(model.summary())
        assert "x199" in str(model.summary())
        assert "x200" not in str(model.summary())


class TestBoundsScaler(TransformerContract):
    """A scaler that looks at no row."""

    of = "BoundsScaler"
    withheld: ClassVar = {
        "mean_": "nothing is computed from a row: the public `center_`",
        "var_": "nothing is computed from a row: the public `scale_`",
        "n_samples_seen_": "no row is looked at",
    }

    peer: ClassVar = StandardScaler

    def test_public_constants_come_back_from_a_file(self):
        """Arrays, one number, and a block of dummies."""
        for declared in ({"center": np.array([0.5, 0.25, 0.0]), "scale": 2}, {"center": 1, "scale": [1, 2.5, 3]}, {}):
            box = dp.Box(lower=[0, 0, 0], upper=[4, 1, 1], one_hot=[slice(1, 3)])
            model = dp.BoundsScaler(x_bounds=box, **declared).fit(NEW)
            again = dp.BoundsScaler.load(saved(model))
            np.testing.assert_array_equal(again.transform(NEW), model.transform(NEW))
            assert again.scaled_bounds_ == model.scaled_bounds_
            assert again.x_bounds == box


class TestPrivateSearch(SearchContract):
    """A search over sparse models."""

    of = "PrivateSearch"
    withheld: ClassVar = dict.fromkeys(
        ("cv_results_", "n_splits_"), "what was not chosen stays secret, and nothing is split more than once"
    ) | {
        "refit_time_": "times are no output",
        "scorer_": "the score has noise, and is paid for",
        "multimetric_": "there is one score",
    }

    peer: ClassVar = partial(GridSearchCV, DecisionTreeRegressor(), {"max_depth": [1, 2]}, cv=2)

    def test_a_search_of_a_classifier_is_a_classifier(self):
        """With the labels, chances and decisions of the best, also after it was read; a regressor's search has none."""
        labels = np.array(["no", "yes"])[TARGETS["label"]]
        model = next(case for case in CASES if case.name == "SparseLogisticRegression").make(classes=("no", "yes"))
        case = self.cases()[0]
        found = fit(case, case.make(estimator=model), rows=(TABLE, labels))
        peer = GridSearchCV(LogisticRegression(), {"C": [1, 2]}, cv=2).fit(TABLE, labels)
        again = dp.PrivateSearch.load(saved(found))
        for one in (found, again):
            assert one.classes_.tolist() == ["no", "yes"]
            for name in ("predict", "predict_proba", "decision_function"):
                assert kind_of(getattr(one, name)(NEW)) == kind_of(getattr(peer, name)(NEW))
                assert plain(getattr(one, name)(NEW)) == plain(getattr(found.best_estimator_, name)(NEW))
        assert is_classifier(found)
        with pytest.raises(NotFittedError):
            case.make(estimator=model).predict_proba(NEW)
        assert not hasattr(case.make(), "predict_proba")
        assert not hasattr(fitted(case), "classes_")

    def test_a_file_that_names_another_estimator_is_damaged(self, tmp_path):
        """What was searched for and what was found are of one class."""
        content = json.loads(fitted(self.cases()[0]).dumps())
        content["search"]["estimator"] = "FrankWolfeLinearRegression"
        path = tmp_path / "search.json"
        path.write_text(json.dumps(content))
        with pytest.raises(dp.InvalidData, match="damaged"):
            dp.PrivateSearch.load(path)


def contracts(kind=EstimatorContract):
    """Return the classes here that are a kind of contract and name an estimator, by its name."""
    below = {name: found for one in kind.__subclasses__() for name, found in contracts(one).items()}
    return below | ({kind.of: kind} if hasattr(kind, "of") else {})


def estimators():
    """Return what the package offers that can be fitted."""
    public = {name: getattr(dp, name) for name in dp.__all__}
    return {name: kind for name, kind in public.items() if inspect.isclass(kind) and issubclass(kind, BaseEstimator)}


def test_every_public_estimator_has_its_contract():
    """Whatever is added to the package and can be fitted needs a subclass here, and cases."""
    assert sorted(contracts()) == sorted(estimators())
    assert len(contracts()) >= 18
    assert all(contract.cases() for contract in contracts().values())


@pytest.mark.parametrize("of", contracts())
def test_what_pays_keeps_the_contract_of_releases(of):
    """And what predicts that of its kind: none chooses a smaller contract than it owes."""
    contract, kind = contracts()[of], getattr(dp, of)
    assert ("budget" in inspect.signature(kind).parameters) == issubclass(contract, ReleaseContract)
    assert hasattr(kind, "transform") == issubclass(contract, TransformerContract)
    if hasattr(kind, "coef_names_"):
        expected = ClassifierContract if hasattr(kind, "predict_proba") else RegressorContract
        assert issubclass(contract, expected)
