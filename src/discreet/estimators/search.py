"""Private search: settings tried on private rows, for a price that does not grow with how many are tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import available_if

from discreet import _checks, _files
from discreet.descent.search import LOSS_UNITS
from discreet.errors import IncompatiblePlan, InvalidArgument, InvalidData, InvalidType
from discreet.estimators.arguments import refusing_others
from discreet.estimators.base import Model
from discreet.estimators.files import Saved, load, read, written
from discreet.estimators.frank_wolfe import FrankWolfeModel
from discreet.estimators.perturbed import PerturbedLogisticRegression
from discreet.estimators.search_plan import SearchPlan, check_test_share, split_rows
from discreet.estimators.sparse import StepModel
from discreet.estimators.targets import LabelModel, NumberModel
from discreet.estimators.two_stage import TwoStageModel
from discreet.lattice.bounds import Interval
from discreet.models.files import KIND
from discreet.privacy.adjacency import Adjacency, check_adjacency
from discreet.privacy.events.run_laws import law_of_mean
from discreet.privacy.events.search import EvenSearchEvent, run_budget
from discreet.privacy.ledger import Ledger
from discreet.privacy.release import release, settle_adjacency
from discreet.tables.arrays import check_matrix, check_target
from discreet.tables.schema.labels import check_classes

if TYPE_CHECKING:
    import os
    from fractions import Fraction

    from discreet.models.printed import Summary
    from discreet.models.result import RegressionResult
    from discreet.privacy.budgets import Budget
    from discreet.privacy.findings import Finding

# What can be searched over: models of rows with a norm.
_SEARCHED = (StepModel, FrankWolfeModel, TwoStageModel, PerturbedLogisticRegression)
_ALLOWED = frozenset(
    {"sparsity", "selection", "n_steps", "step_size", "clip", "row_norm", "entry_bound", "fit_intercept"}
)
_ALLOWED_RIVALS = frozenset({"n_blocks", "radius", "regularization", "method"})


def _has(name: str) -> Any:
    """Return whether what a search looks for has a method of this name."""
    return lambda search: hasattr(search.estimator, name)


class PrivateSearch(Saved, BaseEstimator):
    """The best of several settings, found on private rows; all that it tried is paid for once.

    A number K is drawn from a public law, and K candidates at random: these runs count, and which they are stays
    secret. Every candidate is run equally often, in the order of the list, so that times tell nothing of it. A run
    fits a candidate on one part of the rows and releases a noisy score on the other. The best run that counts is the
    result.

    Parameters
    ----------
    estimator : estimator of this pillar
        Such as SparseLogisticRegression; its own budget is not used. A classifier must declare its `classes`.
    candidates : mapping of names to lists, or list of mappings
        Public settings to try: a grid, or one mapping a candidate; fixed without looking at the rows.
    budget : Approx with a delta above 0, or Pure
        What the whole search may cost, its result included. A run has a third or less of it.
    law : {"geometric", "logarithmic"}
        Law of K. "logarithmic" leaves a run more budget, and needs more runs.
    mean_runs : int, default 10
        About how many runs count, 2 to 200.
    most_runs : int or None
        How many runs may be made, at most 2000: as many as every candidate can have equally. None for what keeps 97 %
        of the mean: 68 runs of 4 candidates, 200 of 50, where ten count.
    test_share : float, default 0.2
        Which part of the rows scores, between 0 and 1. Under Replace which ones do depends on their order.

    Attributes
    ----------
    best_params_ : dict
        The settings that were found: part of the release.
    best_index_ : int
        Their place in the list of candidates.
    best_estimator_ : estimator
        Its fit; its `release_` is that of the whole search.
    best_score_ : float
        Its losses with noise, in records: wrong labels, or squared errors in half-widths of the target.
    release_ : Release
        The event, its cost and adjacency.
    classes_, n_features_in_, feature_names_in_
        Those of `best_estimator_`.

    Guarantee
    ---------
    One `fit` satisfies `budget` under the estimator's adjacency, as one entry of the ledger, for the result and the
    sequence of runs together. Under Replace a row's
    part is a function of its position, under AddRemove of its content. Nothing of the other runs is kept.
    Proof: docs/proofs/private_search.md. Source: Liu and Talwar 2019; Papernot and Steinke 2022.

    Examples
    --------
    >>> import discreet as dp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(4000, 20))
    >>> y = np.where(X[:, 0] > 0, "yes", "no")
    >>> model = dp.SparseLogisticRegression(budget=dp.Zcdp(rho=1), sparsity=2, row_norm=4, entry_bound=1,
    ...                                     adjacency=dp.Replace(), classes=("no", "yes"))
    >>> search = dp.PrivateSearch(model, {"n_steps": [2, 6]}, budget=dp.Approx(epsilon=4, delta="1e-6"), mean_runs=2)
    >>> search.fit(X, y).best_params_["n_steps"] in (2, 6)
    True
    >>> search.score(X, y) > 0.8
    True
    """

    # Metadata routing hands the ledger on.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"ledger": True}

    @refusing_others
    def __init__(
        self,
        estimator: Any,
        candidates: Any,
        *,
        budget: Budget,
        law: str = "geometric",
        mean_runs: int = 10,
        most_runs: int | None = None,
        test_share: float = 0.2,
    ) -> None:
        self.estimator = estimator
        self.candidates = candidates
        self.budget = budget
        self.law = law
        self.mean_runs = mean_runs
        self.most_runs = most_runs
        self.test_share = test_share

    @refusing_others
    def fit(self, X: Any, y: Any, *, ledger: Ledger | None = None) -> Self:
        """Search, and charge the ledger once.

        Parameters
        ----------
        X : array-like, frame, or any scipy.sparse matrix or array, shape (n_rows, n_features)
            The private features.
        y : array-like, shape (n_rows,)
            The private target.
        ledger : Ledger or None
            Is charged; None opens a ledger in memory whose total is the budget.

        Raises
        ------
        InvalidArgument, IncompatiblePlan, InvalidType
            If a setting or a candidate cannot be used; every candidate is tried on rows of zeros first, for nothing.
        InvalidData
            If the rows do not fit; nothing is spent.
        BudgetExceeded
            If the ledger has too little left; the fitted state stays as it was.
        """
        model, adjacency = self._model()
        settle_adjacency(adjacency, ledger, units=False, required=True)
        share = check_test_share(self.test_share)
        settings = candidate_list(self.candidates, model)
        column = check_target(self, X, y)
        described, matrix = check_matrix(self, X, may_be_empty=not adjacency.size_is_public)
        rows = split_rows(model, matrix, column, share, adjacency)
        plan = self._plan(model, adjacency, settings, share, matrix.shape[1])
        n_train = rows.private_train.shape[0] if adjacency.size_is_public else 0
        _rehearse(plan, n_train, matrix.shape[1])
        public = matrix.shape[0] if adjacency.size_is_public else None
        released = release(plan, rows, ledger, n_rows=public)
        found = released.value
        best = found.estimator
        columns = getattr(described, "feature_names_in_", None)
        named = {} if columns is None else dict.fromkeys(("columns", "names"), tuple(map(str, columns)))
        # The fit's own entry would name the cost of one run, which is not what its choice cost.
        of_search = {"event": released.event, "label": released.label}
        best.result_ = replace(best.result_, **of_search, **named)
        best.release_ = replace(best.release_, **of_search)
        if columns is not None:
            best.feature_names_in_ = columns
        return self._take(best, found.index, dict(settings[found.index]), found.score / LOSS_UNITS)

    def _take(self, best: Any, index: int, params: dict[str, Any], score: float) -> Self:
        """Set the fitted attributes from what was found; what a fit and a load end with."""
        self.best_estimator_, self.best_index_, self.best_params_, self.best_score_ = best, index, params, score
        self.release_, self.n_features_in_ = best.release_, best.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_
        return self

    def _model(self) -> tuple[Any, Adjacency]:
        model = self.estimator
        if not isinstance(model, _SEARCHED):
            raise InvalidType(
                f"`estimator` must be an estimator of sparse descent or its rivals; found {type(model).__name__}."
            )
        if model.x_bounds is not None or model.schema is not None:
            raise InvalidType(
                "PrivateSearch takes an `estimator` with `row_norm` alone. Declare it, and no other bounds."
            )
        if isinstance(model, NumberModel) and not isinstance(model.y_bounds, Interval):
            raise InvalidType(
                f"{type(model).__name__} needs `y_bounds`, an Interval(lower, upper) with the public range of y."
            )
        if isinstance(model, LabelModel) and model.classes is None:
            raise InvalidType("PrivateSearch needs declared `classes`: reading them from y is a look at private rows.")
        return model, check_adjacency(model.adjacency)

    def _plan(
        self, model: Any, adjacency: Adjacency, settings: list[dict[str, Any]], share: Fraction, n_columns: int
    ) -> SearchPlan:
        law = law_of_mean(self.law, self.mean_runs, self.most_runs, n_candidates=len(settings))
        of_run = run_budget(self.budget, law)
        event = EvenSearchEvent(
            run=of_run,
            law=law.name,
            stop=law.stop,
            runs_each=law.runs_each,
            n_candidates=law.n_candidates,
            adjacency=adjacency,
            budget=self.budget,
            statistic=f"the best of a secret number of fits of {type(model).__name__}, {n_columns} columns",
            shape=(n_columns,),
        )
        common: dict[str, Any] = {"budget": of_run}
        if not adjacency.size_is_public and model.expected_rows is not None:
            expected = _checks.integer(model.expected_rows, "expected_rows", low=1, high=2**30)
            common["expected_rows"] = max(1, round(expected * (1 - share)))
        runs = tuple(clone(model).set_params(**setting, **common) for setting in settings)
        return SearchPlan(runs, event, share)

    def predict(self, X: Any) -> Any:
        """Return what the best estimator predicts."""
        return self._best().predict(X)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the best estimator's probabilities of the classes."""
        return self._best().predict_proba(X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Return the best estimator's linear predictor."""
        return self._best().decision_function(X)

    @property
    def classes_(self) -> Any:
        """The labels of the best estimator."""
        return self.best_estimator_.classes_

    def result(self) -> RegressionResult:
        """Return the best estimator as a value, with the cost of the whole search: post-processing, which is free."""
        found: RegressionResult = self._best().result()
        return found

    def summary(self, level: float = 0.95) -> Summary:
        """Return the table of the best estimator, with the cost of the whole search."""
        return self.result().summary(level)

    def to_finding(self) -> Finding:
        """Return what a report says of the best estimator, and how to search again."""
        return replace(self.result().to_finding(), again=(repr(self),))

    def dumps(self) -> str:
        """Return the text of the best estimator's file, which says what was searched, too."""
        best = self._best()
        model = self.estimator
        searched = {
            "declarations": written(self.get_params(deep=False) | {"estimator": None}),
            "estimator": type(model).__name__,
            "of_estimator": written(model.get_params(deep=False)),
            "index": self.best_index_,
            "params": written(self.best_params_),
            "score": self.best_score_,
        }
        return _files.dump(KIND, _files.parse(best.dumps(), kind=KIND, name="a model") | {"search": searched})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a search that `save` wrote; its event is priced anew. Such a file is its best estimator's, too.

        Raises
        ------
        InvalidData
            If the file is damaged, or holds a model that was not searched for.
        """
        best, searched = load(path, Model), _files.read(path, kind=KIND).get("search")
        if searched is None:
            raise InvalidData(f"{str(path)!r} holds a {type(best).__name__}. Load it by that class.")
        with _files.well_formed(repr(str(path))):
            kind = type(best)
            _files.one_of(searched["estimator"], (kind.__name__,))
            model = cls(**read(searched["declarations"]) | {"estimator": kind(**read(searched["of_estimator"]))})
            return model._take(best, *(searched[name] for name in ("index", "params", "score")))

    def score(self, X: Any, y: Any) -> float:
        """Return the best estimator's score: an exact function of the rows, for the data owner only."""
        return float(self._best().score(X, y))

    def _best(self) -> Any:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        of_model = self.estimator.__sklearn_tags__()
        tags.estimator_type = of_model.estimator_type
        tags.classifier_tags, tags.regressor_tags = of_model.classifier_tags, of_model.regressor_tags
        tags.non_deterministic = True
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def candidate_list(candidates: Any, model: Any) -> list[dict[str, Any]]:
    """Return one mapping a candidate; refuse names that the model lacks, or that change what is promised.

    Raises
    ------
    InvalidType, InvalidArgument
        If there is none, or a name is not a setting to choose.
    """
    if isinstance(candidates, Mapping):
        for name, values in candidates.items():
            if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
                raise InvalidType(f"`candidates` must hold a list for {name!r}; found {type(values).__name__}.")
        settings = [dict(zip(candidates, chosen, strict=True)) for chosen in product(*candidates.values())]
    elif isinstance(candidates, Sequence) and all(isinstance(setting, Mapping) for setting in candidates):
        settings = [dict(setting) for setting in candidates]
    else:
        raise InvalidType("`candidates` must be a mapping of names to lists, or a list of mappings.")
    if not settings:
        raise InvalidArgument("`candidates` must hold at least one candidate; found none.")
    allowed = (_ALLOWED | _ALLOWED_RIVALS) & set(model.get_params(deep=False))
    for name in sorted({name for setting in settings for name in setting} - allowed):
        raise InvalidArgument(
            f"`candidates` cannot set {name!r} of {type(model).__name__}. Use {', '.join(sorted(allowed))}."
        )
    return settings


def _rehearse(plan: SearchPlan, n_train: int, n_columns: int) -> None:
    """Fit every candidate on rows of zeros, so that one that cannot be used is refused before the charge."""
    import scipy.sparse

    rows = scipy.sparse.csr_array((max(n_train, 1), n_columns), dtype=np.float64)
    for run in plan.runs:
        payer = Ledger(total=plan.event.run, adjacency=plan.event.adjacency)
        if isinstance(run, LabelModel):
            target: Any = np.full(rows.shape[0], check_classes(run.classes, several=True)[0])
        else:
            target = np.zeros(rows.shape[0])
        try:
            clone(run).fit_quietly(rows, target, ledger=payer)
        except IncompatiblePlan as error:
            currency = type(plan.event.run).__name__
            raise IncompatiblePlan(f"A run of this search has a budget in {currency}. {error}") from None
