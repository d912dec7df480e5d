"""What the audit of every estimator holds, by inheritance: one class of tests, one subclass an estimator that pays.

Each fits two neighbours again and again, through its own `fit`. The record in which they differ lies far beyond every
bound that is declared; there is an intercept or none, rows are sparse where that is taken, columns are really selected
where the method selects, and both adjacencies are audited where both are offered.
"""

import itertools
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse

import discreet as dp
from discreet.audit.cases.case import AuditCase, of_fit, overspent
from discreet.audit.mechanisms import registry
from discreet.audit.neighbours import one_record_apart, sign_flip, zeros
from discreet.privacy.coins import Coins

REPLACE, ADD_REMOVE = dp.Replace(), dp.AddRemove()
N_REST = 4
# So many times beyond its bounds lies the record that differs: what is not clipped shows in few runs.
FAR = 100.0
NORM = {"row_norm": 1.0}
BOX = {"x_bounds": dp.Box(lower=-1, upper=1)}
# Where residuals are clipped far below the limits of a target, a flipped one moves every step by all that it can.
LIMITS = {"number": (-1.0, 1.0), "label": (0.0, 1.0), "count": (0.0, 2.0), "none": (-1.0, 1.0)}
# So many runs of each data set, at this confidence, convict what is as many times too loud as `factor` says.
CONFIDENCE = "0.9999"
BY_DAY, BY_NIGHT, CONVICTING, CONVICTING_BY_NIGHT = 80, 200, 160, 300


@dataclass(frozen=True)
class Variant:
    """One way to fit an estimator.

    Parameters
    ----------
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    intercept : bool or None
        Whether there is one; None where the estimator knows none.
    sparse : bool
        Whether X is sparse, with every entry in two halves.
    options : dict
        Further arguments of the estimator, such as a method.
    """

    adjacency: Any
    intercept: bool | None
    sparse: bool
    options: Any

    def __str__(self):
        words = {True: "intercept", False: "no intercept", None: ""}[self.intercept]
        method = [str(value) for name, value in self.options.items() if name in {"method", "selection", "noise"}]
        kinds = [type(self.adjacency).__name__, words, "sparse rows" if self.sparse else "", *method]
        return ", ".join(kind for kind in kinds if kind)


class AuditContract:
    """What holds for each of them; `of` is the public name of a subclass's estimator."""

    of: str
    target: str = "number"
    budget: Any = dp.Zcdp(rho="1/8")
    # Arguments beside the budget; and the methods or selections of which each is audited.
    declared: ClassVar[dict[str, Any]] = NORM
    ways: ClassVar[tuple[dict[str, Any], ...]] = ({},)
    adjacencies: ClassVar[tuple[Any, ...]] = (REPLACE, ADD_REMOVE)
    takes_sparse: bool = True
    n_columns: int = 2
    # Runs by day and by night.
    runs: int = BY_DAY
    nightly_runs: int = BY_NIGHT
    # Ways of which a fit leaves columns out, and the two data sets support another one.
    selecting: ClassVar[tuple[dict[str, Any], ...]] = ()

    def pytest_generate_tests(self, metafunc):
        """Run the tests of a subclass by day on variants that have all between them, by night on every one."""
        first = self.variants(self.ways[0])
        for argument, every, by_day in (("variant", self.variants(), self.by_day()), ("loud", first, first[:1])):
            if argument in metafunc.fixturenames:
                marked = [
                    variant if variant in by_day else pytest.param(variant, marks=pytest.mark.nightly)
                    for variant in every
                ]
                metafunc.parametrize(argument, marked, ids=str)

    def variants(self, way=None):
        """Return every way to fit the estimator, or every variant of one way."""
        if way is None:
            return [variant for one in self.ways for variant in self.variants(one)]
        intercepts = (False, True) if hasattr(getattr(dp, self.of), "fit_intercept") else (None,)
        sparse = (False, True) if self.takes_sparse and (self.declared | way).get("row_norm") else (False,)
        chosen = itertools.product(self.adjacencies, intercepts, sparse)
        return [Variant(*one, options=way) for one in chosen]

    def by_day(self):
        """Return a variant of each way, by turns the barest and the fullest one; of a single way both."""
        first, last = 0, -1
        if len(self.ways) == 1:
            return [self.variants()[first], self.variants()[last]]
        return [self.variants(way)[last if number % 2 else first] for number, way in enumerate(self.ways)]

    def runs_of(self, variant):
        """Return how many runs of each data set there is time for."""
        return self.runs if variant in self.by_day() else self.nightly_runs

    def make(self, variant, budget=None):
        """Return the estimator of a variant."""
        low, high = LIMITS[self.target]
        of_target = {"number": {"y_bounds": dp.Interval(low, high)}, "label": {"classes": (0, 1)}, "none": {}}
        declared = self.declared | of_target.get(self.target, {"y_bounds": dp.Interval(low, high)}) | variant.options
        kind = getattr(dp, self.of)
        if variant.intercept is not None:
            declared["fit_intercept"] = variant.intercept
        if not variant.adjacency.size_is_public and hasattr(kind, "expected_rows"):
            declared["expected_rows"] = N_REST + 1
        return kind(budget=self.budget if budget is None else budget, adjacency=variant.adjacency, **declared)

    def neighbours(self, variant):
        """Return two tables whose last record lies beyond its bounds, its target at the one end or the other."""
        low, high = LIMITS[self.target]
        rest = zeros(N_REST, self.n_columns, target=(low + high) / 2)
        if self.target == "label":
            rest = replace(rest, y=np.arange(N_REST) % 2.0)
        far = (low, high) if self.target == "label" else (FAR * low, FAR * high)
        features = FAR * np.ones(self.n_columns)
        if variant.options in self.selecting:
            # The record is of the one column or of the other, or is gone.
            axes = FAR * np.eye(self.n_columns)
            other = None if variant.adjacency == ADD_REMOVE else (axes[1], far[1])
            tables = one_record_apart(rest, (axes[0], far[1]), other)
        else:
            tables = sign_flip(variant.adjacency, rest, features, far)
        return tuple(replace(table, X=halved(table.X)) for table in tables) if variant.sparse else tables

    def read(self, model):
        """Return all numbers that a reader sees of a fit."""
        return np.append(np.ravel(model.coef_), np.ravel(model.intercept_))

    def case(self, variant, *, spends=1):
        """Return the audit of a variant that claims its budget, and spends so many times as much."""
        budget = self.budget if spends == 1 else overspent(self.budget, spends)
        first, second = self.neighbours(variant)
        return AuditCase(
            name=f"{self.of}, {variant}",
            mechanism=of_fit(self.make(variant, budget), self.read),
            first=first,
            second=second,
            claim=self.budget,
        )

    def test_the_registry_has_an_entry_that_covers_it(self):
        """So that `discreet audit` and the nightly tests of power run it, too."""
        assert any(self.of in entry.covers for entry in registry().values())

    def test_one_record_far_beyond_its_bounds_is_all_that_differs(self):
        """Replaced or absent, as the adjacency says; what is sparse has every entry in two halves."""
        low, high = LIMITS[self.target]
        for variant in self.variants():
            tables = self.neighbours(variant)
            first, second = (table.X.toarray() if variant.sparse else table.X for table in tables)
            gone = variant.adjacency == ADD_REMOVE
            assert (len(first), len(second)) == (N_REST + 1, N_REST + (not gone))
            np.testing.assert_array_equal(first[:N_REST], second[:N_REST])
            np.testing.assert_array_equal(tables[0].y[:N_REST], tables[1].y[:N_REST])
            records = [(rows[-1].tolist(), table.y[-1]) for rows, table in zip((first, second), tables, strict=True)]
            assert records[0] != records[1]
            assert np.abs(first[-1]).max() >= FAR
            assert self.target == "label" or tables[0].y[-1] >= FAR * high > high > low
            if variant.sparse:
                assert tables[0].X.nnz == 2 * np.count_nonzero(first)

    def test_nobody_is_convicted(self, variant):
        """With as many runs as there is time for."""
        case = self.case(variant)
        assert not case.run(n_runs=self.runs_of(variant), coins=Coins.from_seed(4), confidence=CONFIDENCE).violated

    def test_so_few_runs_convict_what_tells_the_data_sets_apart(self):
        """Outputs that each data set alone can have contradict the claim, with the fewest runs that a variant has."""
        for variant in self.variants():
            case = self.case(variant)
            first = case.first
            told = replace(
                case, mechanism=lambda data, _coins, n, first=first: np.arange(n) % 2 + 9.0 * (data is first)
            )
            assert told.run(n_runs=self.runs_of(variant), coins=Coins.from_seed(4), confidence=CONFIDENCE).violated

    def test_columns_are_really_selected(self):
        """Where a way selects, a column is left out, and the data sets make it another one."""
        for way in self.selecting:
            variant = Variant(REPLACE, intercept=False, sparse=False, options=way)
            case = self.case(variant, spends=20)
            supports = []
            for data in (case.first, case.second):
                found = case.mechanism(data, Coins.from_seed(1), 10)[:, : self.n_columns]
                assert (np.count_nonzero(found, axis=1) <= 1).all(), way
                supports.append(np.count_nonzero(found, axis=0))
            assert supports[0][0] > supports[1][0], way
            assert supports[0][1] < supports[1][1], way


class Convicting:
    """What has to be convicted, of one estimator a pillar at least, in the first of its ways."""

    factor: int = 8
    loud_runs: int = CONVICTING

    def test_noise_of_a_wrong_scale_is_convicted(self, loud):
        """With about the runs that every case has: its noise is so small a part of what it should be."""
        n_runs = self.loud_runs if loud in self.by_day() else CONVICTING_BY_NIGHT
        case = self.case(loud, spends=self.factor)
        assert case.run(n_runs=n_runs, coins=Coins.from_seed(2), confidence=CONFIDENCE).violated


def halved(X):
    """Return a sparse matrix that has every entry in two halves."""
    halves = scipy.sparse.coo_array(X / 2)
    twice = (np.tile(halves.data, 2), tuple(np.tile(place, 2) for place in halves.coords))
    return scipy.sparse.coo_array(twice, shape=X.shape)
