"""What every public estimator has, by inheritance: one class of tests a kind, one subclass an estimator.

A subclass names its estimator; what it is fitted to stands in `estimators_for_tests.CASES`, the same table for all.
"""

import contextlib
import copy
import functools
import inspect
import json
import pickle
import warnings
from typing import ClassVar

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

import discreet as dp
from discreet.audit.cases.case import overspent
from discreet.estimators.files import Saved, written
from discreet.models.printed import Printed
from discreet.models.result import RegressionResult
from estimators_for_tests import CASES, COLUMNS, FRAMED, N_ROWS, SCHEMA, TABLE, name_of

# What a file does not keep of a fit, and why.
FORGOTTEN = {
    "release_": "of its value a file keeps what answers are made of; event, label and notes are compared",
    "result_": "it is compared by what it says",
    "moments_": "a file of moments keeps them",
}
# Choices among few answers are sometimes the same: so many fits are tried for two that differ.
MOST_FITS = 12
# So many times the table is a table of which one byte a row would show.
TIMES = 50
NEW = np.round(np.random.default_rng(11).random((9, 3)), 3)


def rows_of(case):
    """Return X and y as the case takes them: arrays, or a frame and a series with its name."""
    if not case.schema:
        return TABLE.copy(), case.y
    return frame(TABLE), None if case.y is None else pd.Series(case.y, name=case.target)


def many_of(part):
    """Return a table, or a target, so many times over."""
    if part is None:
        return None
    return np.concatenate([part] * TIMES) if isinstance(part, np.ndarray) else pd.concat([part] * TIMES, axis=0)


def frame(X):
    return pd.DataFrame(X, columns=list(COLUMNS))


def new_rows(case):
    """Return rows that no fit saw."""
    return frame(NEW) if case.schema else NEW.copy()


def adjacency_of(model):
    return model.adjacency if hasattr(model, "adjacency") else model.estimator.adjacency


def ledger_for(model, *, seed=3, total=None, adjacency=None):
    """Return what a fit is given beside its rows: a ledger with a test's coins, or nothing where nothing is paid."""
    if not hasattr(model, "budget"):
        return {}
    sums = {"composition": "sum"} if isinstance(model.budget, dp.Approx) else {}
    adjacency = adjacency_of(model) if adjacency is None else adjacency
    coins = dp.privacy.Coins.from_seed(seed)
    return {"ledger": dp.Ledger(total=total or model.budget, adjacency=adjacency, coins=coins, **sums)}


def room(model, n_fits):
    """Return the same of a ledger with room for so many fits."""
    total = overspent(model.budget, n_fits)
    if isinstance(model.budget, dp.Approx):
        total = dp.Approx(epsilon=total.epsilon, delta=n_fits * model.budget.delta)
    return ledger_for(model, total=total)


def routed(routing):
    return sklearn.config_context(enable_metadata_routing=routing)


def quiet():
    """Leave out that noise hides a small table."""
    return warnings.catch_warnings(action="ignore", category=dp.NoiseDominatedWarning)


def fit(case, model=None, *, rows=None, **options):
    """Return the estimator, fitted to the table with coins of a test's seed."""
    model = case.make() if model is None else model
    X, y = rows_of(case) if rows is None else rows
    return case.fit(X, y, model=model, **(options or ledger_for(model)))


@functools.cache
def fitted(case):
    """Return the estimator fitted to the table; tests ask it, and change nothing."""
    return fit(case)


def public(model):
    """Return the fitted attributes by name."""
    return {name: value for name, value in vars(model).items() if name.endswith("_") and not name.startswith("_")}


def plain(value):
    """Return a value so that equal ones compare equal: arrays as their bits and type."""
    return (value.dtype.str, value.shape, value.tobytes()) if is_numbers(value) else repr(value)


def is_numbers(value):
    return isinstance(value, np.ndarray) and value.dtype != object


def kind_of(value):
    """Return what scikit-learn's users rely on of a fitted attribute: its type, and of an array dtype and shape."""
    if isinstance(value, np.ndarray):
        return "array", value.dtype.kind, value.shape
    if isinstance(value, (float, np.floating)):
        return "float"
    if isinstance(value, (int, np.integer)):
        return "int"
    return "estimator" if hasattr(value, "get_params") else type(value).__name__


def answers(case, model, rows=None):
    """Return the bits of all that a fitted estimator says of new rows."""
    X = new_rows(case) if rows is None else rows
    return {name: plain(np.asarray(getattr(model, name)(X))) for name in case.answers()}


class EstimatorContract:
    """What holds for each of them; `of` is the public name of a subclass's estimator."""

    of: str
    # Names and parameters of the methods that all of its kind have.
    methods: ClassVar = {"fit": ["X", "y"], "dumps": [], "save": ["path"], "load": ["path"]}

    @classmethod
    def cases(cls):
        """Return what the estimator is fitted to."""
        return [case for case in (*CASES, *FRAMED) if case.name.partition(",")[0] == cls.of]

    def pytest_generate_tests(self, metafunc):
        """Let every test of a subclass run on every case of its estimator."""
        for argument, found in (("case", self.cases()), ("array_case", [c for c in self.cases() if not c.schema])):
            if argument in metafunc.fixturenames:
                metafunc.parametrize(argument, found, ids=name_of)

    def test_it_has_the_methods_of_its_kind(self):
        """With the same parameters, in the same order, and a docstring each."""
        kind = getattr(dp, self.of)
        for base in reversed(type(self).__mro__):
            for name, parameters in vars(base).get("methods", {}).items():
                taken = [key for key in inspect.signature(getattr(kind, name)).parameters if key != "self"]
                assert taken[: len(parameters)] == parameters, name
                assert inspect.getdoc(getattr(kind, name)), name
        assert issubclass(kind, Saved)

    def test_parameters_are_kept_as_they_were_given(self, case):
        """A constructor sets them and does nothing else; a clone has equal ones, and `set_params` sets them."""
        model = case.make()
        given = model.get_params(deep=False)
        assert vars(model) == given
        assert all(getattr(model, name) is value for name, value in given.items())
        copied = clone(model)
        assert type(copied) is type(model)
        assert written_of(copied) == written_of(model)
        name = next(iter(given))
        mark = object()
        assert model.set_params(**{name: mark}).get_params(deep=False)[name] is mark
        assert all(key.kind == key.KEYWORD_ONLY for key in list(inspect.signature(type(model)).parameters.values())[2:])

    def test_arguments_that_it_lacks_are_refused_by_name(self, case):
        """With what to do instead, and as a TypeError: by the constructor and by `set_params`."""
        for name in ("random_state", "n_jobs", "nonsense"):
            with pytest.raises(TypeError, match=f"no argument `{name}`: "):
                type(case.make())(**case.make().get_params(deep=False), **{name: 1})
        with pytest.raises(ValueError, match="nonsense"):
            case.make().set_params(nonsense=1)

    def test_before_a_fit_it_says_that_it_is_not_fitted(self, case, tmp_path):
        """Whatever is asked, with scikit-learn's own error; and nothing is written."""
        model = case.make()
        asked = [functools.partial(getattr(model, name), new_rows(case)) for name in case.answers()]
        asked += [getattr(model, name) for name in ("result", "summary", "to_finding", "dumps") if hasattr(model, name)]
        asked.append(functools.partial(model.save, tmp_path / "absent.json"))
        for method in (*asked, functools.partial(check_is_fitted, model)):
            with pytest.raises(NotFittedError):
                method()
        assert list(tmp_path.iterdir()) == []
        assert public(model) == {}

    def test_a_fit_returns_the_estimator_and_leaves_its_parameters(self, case):
        """Fitted attributes end with an underscore; what was declared, and the rows, stay as they were."""
        model = case.make()
        before = copy.deepcopy(vars(model))
        X, y = rows_of(case)
        kept = copy.deepcopy((X, y))
        assert fit(case, model, rows=(X, y)) is model
        check_is_fitted(model)
        assert vars(model).keys() - before.keys() == public(model).keys()
        assert {name: repr(vars(model)[name]) for name in before} == {name: repr(v) for name, v in before.items()}
        assert repr((X, y)) == repr(kept)
        assert type(model.n_features_in_) is int
        assert model.n_features_in_ == len(COLUMNS)

    def test_names_of_columns_are_kept_and_checked(self, case):
        """A frame's names are an array of objects; another order is refused, and arrays have none."""
        X, y = rows_of(case)
        model = fit(case, rows=(frame(TABLE), y))
        assert model.feature_names_in_.dtype == object
        assert model.feature_names_in_.tolist() == list(COLUMNS)
        first = case.answers()[0]
        if getattr(model, "design_", None) is None:
            with pytest.raises(dp.InvalidData, match="feature names"):
                getattr(model, first)(frame(NEW)[list(COLUMNS)[::-1]])
        again = type(model).load(saved(model))
        assert again.feature_names_in_.tolist() == list(COLUMNS)
        assert answers(case, again, frame(NEW)) == answers(case, model, frame(NEW))
        if not case.schema:
            fit(case, model, rows=(X, y))
            assert not hasattr(model, "feature_names_in_")

    def test_rows_of_another_width_are_refused(self, array_case):
        """With both numbers, as scikit-learn does."""
        for name in array_case.answers():
            with pytest.raises(dp.InvalidData, match="X has 2 features.*expecting 3"):
                getattr(fitted(array_case), name)(NEW[:, :2])

    def test_it_is_pickled_and_copied(self, case):
        """A pickle answers bit for bit, and is about as long whatever the number of rows is; a clone is unfitted."""
        model = fitted(case)
        text = pickle.dumps(model)
        assert answers(case, pickle.loads(text)) == answers(case, model)
        assert public(clone(model)) == {}
        X, y = (many_of(part) for part in rows_of(case))
        assert abs(len(pickle.dumps(fit(case, rows=(X, y)))) - len(text)) < 2 * N_ROWS * TIMES

    def test_its_file_gives_it_back(self, case):
        """Answers and fitted attributes bit for bit; its declarations; the same file again."""
        model = fitted(case)
        again = type(model).load(saved(model))
        assert type(again) is type(model)
        assert answers(case, again) == answers(case, model)
        kept, found = (
            {name: plain(value) for name, value in public(one).items() if name not in FORGOTTEN}
            for one in (model, again)
        )
        assert written_of(again) == written_of(model)
        assert {k: v for k, v in found.items() if "estimator" not in k} == {
            k: v for k, v in kept.items() if "estimator" not in k
        }
        assert again.dumps() == model.dumps()
        json.loads(model.dumps(), parse_constant=pytest.fail)

    def test_what_was_read_from_a_file_is_fitted_again(self, case):
        """Its declarations are those that were written: equal coins give equal bits."""
        model = fitted(case)
        again = fit(case, type(model).load(saved(model)))
        assert answers(case, again) == answers(case, model)
        assert again.dumps() == model.dumps()

    def test_a_file_of_another_estimator_is_refused_by_name(self, tmp_path):
        """So is one that is damaged; and a folder cannot be written to."""
        kind, model = getattr(dp, self.of), fitted(self.cases()[0])
        for other in (CASES[0], next(case for case in CASES if case.name == "SparseLogisticRegression"), CASES[-1]):
            if other.name == self.of:
                continue
            with pytest.raises(dp.InvalidData, match="holds a|must hold"):
                kind.load(saved(fitted(other)))
        content = json.loads(model.dumps())
        path = tmp_path / "damaged.json"
        for name in ("declarations", "event" if "event" in content else "n_features"):
            path.write_text(json.dumps({key: value for key, value in content.items() if key != name}))
            if name == "declarations" and isinstance(model, dp.PrivatePCA):
                continue  # the command writes none
            with pytest.raises(dp.InvalidData, match="damaged"):
                kind.load(path)
        with pytest.raises(dp.InvalidArgument, match="Cannot write `path`"):
            model.save(tmp_path)

    def test_how_it_is_printed_names_what_was_declared(self, case):
        """And nothing that was fitted."""
        assert repr(fitted(case)) == repr(case.make())
        assert repr(case.make()).startswith(f"{self.of}(")


def saved(model):
    """Return the path of the model's file, of which a process has one for every text."""
    return _written(model.dumps())


@functools.cache
def _written(text):
    import tempfile
    from pathlib import Path

    path = Path(tempfile.mkdtemp()) / "estimator.json"
    path.write_text(text, encoding="utf-8")
    return path


def written_of(model):
    """Return the declarations as JSON has them: 1/2 and 0.5, and a tuple and a list, are alike there."""
    params = model.get_params(deep=False)
    inner = params.pop("estimator", None)
    texts = json.loads(json.dumps(written(params)))
    return texts if inner is None else texts | {"estimator": written_of(inner)}


class ReleaseContract(EstimatorContract):
    """What holds for each of them that releases something."""

    methods: ClassVar = {"result": [], "summary": [], "to_finding": []}

    def test_a_fit_is_one_entry_with_its_whole_cost(self, case):
        """The release, what is said of it, printed and written name one event, and one cost: the budget."""
        model = case.make()
        paid = ledger_for(model)
        fit(case, model, **paid)
        assert len(paid["ledger"].entries) == 1
        assert isinstance(model.release_, dp.Release)
        assert model.release_.cost == model.budget
        assert model.release_.adjacency == adjacency_of(model)
        assert model.release_.label == "not private: test seed"
        finding = model.to_finding()
        assert finding.event == model.release_.event
        assert finding.label == model.release_.label
        assert f"Cost: {model.budget!r} under {adjacency_of(model)!r}; {model.release_.label}." in str(model.summary())
        again = type(model).load(saved(model))
        assert again.release_.event == model.release_.event
        assert again.release_.cost == model.budget
        assert (again.release_.label, again.release_.notes) == (model.release_.label, model.release_.notes)
        assert again.to_finding().event == finding.event

    def make(self, case):
        """Return the estimator with noise that shows."""
        return case.make()

    def test_equal_coins_give_equal_bits_and_others_do_not(self, case):
        """A second fit is another release, which is paid for and replaces the first."""
        model = self.make(case)
        paid = room(model, MOST_FITS)
        first = copy.deepcopy(fit(case, model, **paid))
        assert answers(case, first) == answers(case, fit(case, self.make(case)))
        found, n_fits = repr(first.release_.value), 1
        while found == repr(first.release_.value) and n_fits < MOST_FITS:
            found, n_fits = repr(fit(case, model, **paid).release_.value), n_fits + 1
        assert found != repr(first.release_.value)
        assert len(paid["ledger"].entries) == n_fits
        assert model.release_.event == first.release_.event

    def test_sem_10_a_refused_fit_leaves_the_estimator_as_it_was(self, case):
        """SEM-10: too little left, other neighbours, no ledger at all: nothing is spent and nothing is set."""
        model = copy.deepcopy(fitted(case))
        spent = ledger_for(model)
        fit(case, model, **spent)
        before = dict(vars(model))
        other = dp.AddRemove() if adjacency_of(model) == dp.Replace() else dp.Replace()
        for kind, ledger in (
            (dp.BudgetExceeded, spent["ledger"]),
            (dp.errors.AdjacencyMismatch, ledger_for(model, adjacency=other)["ledger"]),
            (TypeError, []),
        ):
            with pytest.raises(kind):
                fit(case, model, ledger=ledger)
            assert vars(model) == before
        assert len(spent["ledger"].entries) == 1

    def test_what_it_says_is_the_same_after_it_was_read(self, case):
        """The summary's text, its markup, and the estimates of a report."""
        model = fitted(case)
        again = type(model).load(saved(model))
        assert isinstance(model.summary(), Printed)
        assert str(again.summary()) == str(model.summary()) == repr(model.summary())
        assert again.summary()._repr_html_() == model.summary()._repr_html_()
        assert "<table>" in model.summary()._repr_html_()
        assert again.to_finding().estimates == model.to_finding().estimates
        assert model.to_finding().estimates

    def test_a_report_says_how_to_do_it_again(self, case, tmp_path):
        """A page is made of it, with its declarations."""
        model = fitted(case)
        assert model.to_finding().again == (repr(model),)
        dp.write_report([model], None, tmp_path / "page.html")
        assert type(model).__name__ in (tmp_path / "page.html").read_text()

    def test_a_fit_asks_for_the_ledger_alone(self, case):
        """By a keyword; metadata routing hands it on, and a parameter never holds it."""
        for name in ("fit", "fit_table"):
            if hasattr(case.make(), name):
                ledger = inspect.signature(getattr(case.make(), name)).parameters["ledger"]
                assert (ledger.kind, ledger.default) == (ledger.KEYWORD_ONLY, None)
        with sklearn.config_context(enable_metadata_routing=True):
            asked = case.make().get_metadata_routing().fit.requests
        assert asked["ledger"] is True
        assert set(asked) <= {"ledger", "sample_weight"}
        assert "ledger" not in case.make().get_params()

    def test_unknown_arguments_of_fit_are_refused_by_name(self, case):
        """With advice, before a ledger is asked."""
        with pytest.raises(TypeError, match="no argument `check_input`"):
            fit(case, check_input=False)


class PeerContract(EstimatorContract):
    """What is compared with scikit-learn's own class of the kind, fitted to the same arrays."""

    # What the peer shows and a private fit does not, and why.
    withheld: ClassVar[dict[str, str]] = {}
    # Makes scikit-learn's own estimator.
    peer: ClassVar

    def fitted_peer(self, case):
        """Return it, fitted to the table."""
        return self.peer().fit(TABLE) if case.y is None else self.peer().fit(TABLE, case.y)

    def test_fitted_attributes_have_the_types_and_shapes_of_scikit_learns(self, array_case):
        """Of every attribute that the peer shows; those that a private fit withholds are listed, and absent."""
        model, peer = fitted(array_case), self.fitted_peer(array_case)
        shown = {name for name in dir(peer) if name.endswith("_") and not name.startswith("_") and hasattr(peer, name)}
        assert self.withheld.keys() <= shown
        for name in shown - {"feature_names_in_"}:
            if name in self.withheld:
                assert not hasattr(model, name), name
            else:
                assert kind_of(getattr(model, name)) == kind_of(getattr(peer, name)), name

    def test_answers_have_the_types_and_shapes_of_scikit_learns(self, array_case):
        """And every method of new rows that the peer has is there."""
        model, peer = fitted(array_case), self.fitted_peer(array_case)
        for name in ("predict", "predict_proba", "decision_function", "transform"):
            assert hasattr(model, name) == hasattr(peer, name), name
            if hasattr(peer, name):
                assert kind_of(getattr(model, name)(NEW)) == kind_of(getattr(peer, name)(NEW)), name

    def test_it_is_of_the_peers_kind(self, array_case):
        """Regressor, classifier or transformer; and its tags say that two fits differ."""
        model, peer = array_case.make(), self.peer()
        assert (is_classifier(model), is_regressor(model)) == (is_classifier(peer), is_regressor(peer))
        tags, others = model.__sklearn_tags__(), peer.__sklearn_tags__()
        assert tags.target_tags.required == (array_case.y is not None)
        assert tags.target_tags.positive_only == others.target_tags.positive_only
        assert tags.non_deterministic == hasattr(model, "budget")
        assert tags.input_tags.sparse == array_case.sparse


class ScoredContract(ReleaseContract, PeerContract):
    """What holds for regressors and classifiers, and for what searches for one."""

    methods: ClassVar = {"predict": ["X"], "score": ["X", "y"]}
    # What a grid search tries.
    tried: ClassVar = {"fit_intercept": [True, False]}

    def test_a_score_is_a_float(self, case):
        """As scikit-learn's is."""
        X, y = rows_of(case)
        assert type(fitted(case).score(X, y)) is float

    @pytest.mark.parametrize("routing", [False, True])
    @pytest.mark.parametrize("n_jobs", [None, 2])
    def test_api_01_cross_validation_leaves_one_entry_a_fold(self, array_case, routing, n_jobs):
        """API-01: five folds are five entries in the one ledger, with routing or not, in threads, sparse rows too."""
        for X in (TABLE, scipy.sparse.csr_array(TABLE)) if array_case.sparse else (TABLE,):
            model = array_case.make()
            ledger = room(model, 5)["ledger"]
            with routed(routing), joblib.parallel_config(backend="threading"), quiet():
                scores = cross_val_score(
                    model, X, array_case.y, cv=5, params={"ledger": ledger}, n_jobs=n_jobs, error_score="raise"
                )
            assert len(scores) == len(ledger.entries) == 5
            assert {entry.event.budget for entry in ledger.entries} == {model.budget}

    @pytest.mark.parametrize("routing", [False, True])
    def test_grid_search_leaves_one_entry_a_fit(self, array_case, routing):
        """Two candidates, three folds and a refit are seven entries."""
        model = array_case.make()
        ledger = room(model, 7)["ledger"]
        with routed(routing), quiet():
            search = GridSearchCV(model, self.tried, cv=KFold(3), error_score="raise")
            search.fit(TABLE, array_case.y, ledger=ledger)
        assert len(ledger.entries) == 7

    @pytest.mark.parametrize("routing", [False, True])
    def test_a_pipeline_passes_the_ledger_on(self, array_case, routing):
        """`model__ledger` without routing, `ledger` with it: one entry either way, of sparse rows too."""
        for X in (TABLE, scipy.sparse.csr_array(TABLE)) if array_case.sparse else (TABLE,):
            model = array_case.make()
            ledger = room(model, 1)["ledger"]
            pipeline = Pipeline([("same", FunctionTransformer(accept_sparse=True)), ("model", model)])
            with routed(routing), quiet():
                pipeline.fit(X, array_case.y, **({"ledger": ledger} if routing else {"model__ledger": ledger}))
            assert len(ledger.entries) == 1
            assert pipeline.predict(X).shape == (N_ROWS,)

    def test_api_03_a_column_of_targets_is_warned_of_where_it_was_given(self, array_case):
        """API-03: y of shape (n, 1) gives scikit-learn's warning, at the caller's line, and the fit of the flat one."""
        model = array_case.make()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(TABLE, array_case.y[:, None], **ledger_for(model))
        found = [one for one in caught if issubclass(one.category, DataConversionWarning)]
        assert len(found) == 1
        assert "column-vector" in str(found[0].message)
        assert found[0].filename == __file__
        assert answers(array_case, model) == answers(array_case, fitted(array_case))

    def test_its_tags_expect_poor_scores(self, case):
        """Noise hides what a table of scikit-learn's checks says."""
        tags = case.make().__sklearn_tags__()
        assert (tags.classifier_tags or tags.regressor_tags).poor_score


class ModelContract(ScoredContract):
    """What holds for each regression."""

    methods: ClassVar = {"fit_table": ["data", "formula"], "summary": ["level"]}

    def test_coefficients_are_those_of_the_result(self, case):
        """In the same bits and under the same names; the flags are plain booleans."""
        model = fitted(case)
        result = model.result()
        assert isinstance(result, RegressionResult)
        assert plain(np.ravel(model.coef_)) == plain(np.ravel(result.coef_))
        assert np.ravel(model.intercept_).tolist() == np.ravel(result.intercept).tolist()
        assert model.coef_names_.dtype == object
        assert model.coef_names_.tolist() == list(result.feature_names)
        assert model.coef_names_.shape == (np.shape(model.coef_)[-1],)
        assert type(model.noise_dominated_) is bool
        assert result.noise_dominated == model.noise_dominated_
        assert result.estimator == self.of
        assert isinstance(model.settings_, dict)
        assert all(getattr(model, f"{name}_") == value for name, value in model.settings_.items())
        assert type(model.method_) is str
        assert model.n_rows_ == (N_ROWS if model.n_rows_ is not None else None)

    def test_a_result_is_saved_as_the_model_is(self, case):
        """A file of a model is a file of its result, which says the same."""
        model = fitted(case)
        assert str(RegressionResult.load(saved(model))) == str(model.result()) == str(model.summary())
        assert str(model.summary(0.5)) == str(model.result().summary(0.5))

    def test_without_an_intercept_it_is_zero(self, array_case):
        """In the shape that it has otherwise."""
        model = fit(array_case, array_case.make(fit_intercept=False))
        assert kind_of(model.intercept_) == kind_of(fitted(array_case).intercept_)
        assert np.all(np.asarray(model.intercept_) == 0.0)
        assert kind_of(model.coef_) == kind_of(fitted(array_case).coef_)

    def test_a_table_and_a_formula_give_the_fit_of_a_frame(self):
        """Under a schema, which every model takes: bit for bit, with the same attributes."""
        case = self.cases()[0]
        elsewhere = ("x_bounds", "y_bounds", "row_norm", "classes", "max_sample_weight")
        declared = {name: None for name in elsewhere if name in case.make().get_params()}
        model, other = (case.make(schema=SCHEMA, **declared) for _ in range(2))
        fit(case, other, rows=(frame(TABLE), pd.Series(case.y, name=case.target)))
        table = frame(TABLE).assign(**{case.target: case.y})
        formula = f"{case.target} ~ a + b + c" + ("" if model.fit_intercept else " - 1")
        warned = other.noise_dominated_ and model.warns_of_noise
        with pytest.warns(dp.NoiseDominatedWarning) if warned else contextlib.nullcontext():
            assert model.fit_table(table, formula, **ledger_for(model)) is model
        # Rows are not counted where the method does not ask for their number.
        apart = {"formula_"} if model.needs_n_rows else {"formula_", "n_rows_"}
        found, expected = (
            {name: kind_of(value) for name, value in public(one).items() if name not in apart} for one in (model, other)
        )
        assert found == expected
        assert answers(case, model, frame(NEW)) == answers(case, other, frame(NEW))
        assert answers(case, type(model).load(saved(model)), frame(NEW)) == answers(case, model, frame(NEW))


class RegressorContract(ModelContract):
    """What holds for each regression of a number or a count."""

    def test_sparse_or_narrow_rows_are_predicted_as_float64(self, array_case):
        """Whatever the type of the new rows."""
        model = fitted(array_case)
        for dtype in (np.float16, np.float32, np.int8, bool):
            assert model.predict(NEW.astype(dtype)).dtype == np.float64


class ClassifierContract(ModelContract):
    """What holds for each regression of a label."""

    methods: ClassVar = {"predict_proba": ["X"], "decision_function": ["X"]}
    withheld: ClassVar = {"n_iter_": "how many steps are made is public: `n_steps_`"}

    def test_the_larger_decision_is_predicted(self, case):
        """Two classes have one linear predictor; probabilities sum to 1 and agree with it."""
        model = fitted(case)
        decision, chances = model.decision_function(new_rows(case)), model.predict_proba(new_rows(case))
        assert model.predict(new_rows(case)).tolist() == model.classes_[(decision > 0).astype(int)].tolist()
        assert ((chances[:, 1] > 0.5) == (decision > 0)).all()
        np.testing.assert_allclose(chances.sum(axis=1), 1.0)

    def test_folds_are_drawn_by_labels(self, array_case):
        """Of texts: each fold is one entry."""
        model = array_case.make(classes=("no", "yes"))
        ledger = room(model, 3)["ledger"]
        with quiet():
            scores = cross_val_score(
                model,
                TABLE,
                np.array(["no", "yes"])[array_case.y],
                cv=3,
                params={"ledger": ledger},
                error_score="raise",
            )
        assert len(scores) == len(ledger.entries) == 3

    @pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (-1.0, 1.0), (3, 7)], ids=repr)
    def test_labels_of_every_kind_are_kept(self, array_case, labels):
        """Texts, booleans, floats and whole numbers: predicted and read from a file as they were declared."""
        y = np.array(labels)[array_case.y]
        model = fit(array_case, array_case.make(classes=labels), rows=(TABLE, y))
        again = type(model).load(saved(model))
        for one in (model, again):
            assert one.classes_.tolist() == list(labels)
            assert [type(label) for label in one.classes_.tolist()] == [type(label) for label in labels]
            assert one.classes_.dtype.kind == y.dtype.kind
            assert set(one.predict(NEW).tolist()) <= set(labels)
        assert plain(model.coef_) == plain(fitted(array_case).coef_)

    def test_several_classes_have_the_shapes_of_scikit_learns(self, array_case):
        """One set of coefficients a class, or a refusal by name where two classes are all that there can be."""
        y = np.arange(N_ROWS) % 3
        model = array_case.make(classes=(0, 1, 2))
        if not model.__sklearn_tags__().classifier_tags.multi_class:
            with pytest.raises(dp.DiscreetError, match="two classes|classes"):
                fit(array_case, model, rows=(TABLE, y))
            return
        fit(array_case, model, rows=(TABLE, y))
        peer = self.peer().fit(TABLE, y)
        again = type(model).load(saved(model))
        for one in (model, again):
            for name in ("coef_", "intercept_", "classes_"):
                assert kind_of(getattr(one, name)) == kind_of(getattr(peer, name)), name
            for name in ("predict", "predict_proba", "decision_function"):
                assert kind_of(getattr(one, name)(NEW)) == kind_of(getattr(peer, name)(NEW)), name
        assert answers(array_case, again) == answers(array_case, model)


class TransformerContract(PeerContract):
    """What holds for each transformer."""

    methods: ClassVar = {
        "transform": ["X"],
        "inverse_transform": ["X"],
        "fit_transform": ["X", "y"],
        "get_feature_names_out": [],
    }

    def test_it_transforms_there_and_back(self, case):
        """In float64 of the peer's shapes; `fit_transform` is both at once."""
        model, X = fitted(case), rows_of(case)[0]
        found = model.transform(X)
        assert found.dtype == np.float64
        back = model.inverse_transform(found)
        assert back.shape == (N_ROWS, len(COLUMNS))
        np.testing.assert_allclose(model.transform(frame(back) if case.schema else back), found, atol=1e-9)
        both = case.make().fit_transform(X, **ledger_for(case.make()))
        np.testing.assert_array_equal(both, found)

    def test_new_columns_have_the_names_that_scikit_learn_gives(self, case):
        """By its own mixins, also in frames that `set_output` asks for."""
        model, peer = copy.deepcopy(fit(case, rows=(frame(TABLE), None))), self.peer().fit(frame(TABLE))
        expected = [
            name.replace(type(peer).__name__.lower(), type(model).__name__.lower())
            for name in peer.get_feature_names_out()
        ]
        assert model.get_feature_names_out().tolist() == expected
        assert type(model).load(saved(model)).get_feature_names_out().tolist() == expected
        model.set_output(transform="pandas")
        assert model.transform(frame(NEW)).columns.tolist() == expected
        np.testing.assert_array_equal(
            model.transform(frame(NEW)), fit(case, rows=(frame(TABLE), None)).transform(frame(NEW))
        )


class SearchContract(ScoredContract):
    """What holds for a search."""

    tried: ClassVar = {"mean_runs": [2, 3]}

    def test_the_best_is_one_of_the_candidates(self, case):
        """Its place, its settings, its fit and its release are those of the search."""
        model = fitted(case)
        listed = [{"n_steps": 1}, {"n_steps": 2}]
        assert listed[model.best_index_] == model.best_params_
        assert type(model.best_index_) is int
        assert all(getattr(model.best_estimator_, name) == value for name, value in model.best_params_.items())
        assert type(model.best_score_) is float
        assert model.best_estimator_.release_ is model.release_

    def test_the_best_estimator_says_what_the_search_cost(self, case):
        """Alone, printed, in a report and in a file it names the search's event, not that of one of its runs."""
        model = fitted(case)
        best = model.best_estimator_
        again = type(best).load(saved(best))
        for one in (best, again):
            assert one.result().event == model.release_.event
            assert one.release_.cost == one.result().cost == one.to_finding().event.budget == model.budget
            assert f"Cost: {model.budget!r}" in str(one.summary())

    def test_the_file_of_a_search_is_that_of_its_best_estimator(self, case):
        """So that every command reads it; what was not searched for is not read as a search."""
        model = fitted(case)
        best = type(model.best_estimator_).load(saved(model))
        np.testing.assert_array_equal(best.predict(NEW), model.predict(NEW))
        with pytest.raises(dp.InvalidData, match=f"holds a {type(best).__name__}"):
            type(model).load(saved(best))

    def test_names_go_to_the_best_estimator(self, case):
        """Its coefficients are called as the columns are."""
        model = fit(case, rows=(frame(TABLE), case.y))
        assert model.best_estimator_.coef_names_.tolist() == list(COLUMNS)
        assert model.best_estimator_.feature_names_in_.tolist() == list(COLUMNS)
