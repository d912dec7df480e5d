"""Private search: one charge, a secret number of runs, a split by each record alone."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import accumulate, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError

import discreet as dp
from discreet.descent import search as search_draws
from discreet.descent.search import LOSS_UNITS, by_content, by_position, draw_below, draw_counts, draw_run_count
from discreet.errors import BudgetExceeded, IncompatiblePlan, InvalidArgument, InvalidData, InvalidType
from discreet.estimators import search_plan
from discreet.estimators.search import PrivateSearch, candidate_list
from discreet.estimators.search_plan import SearchPlan, split_rows, total_loss
from discreet.privacy.coins import Coins
from discreet.privacy.events.run_laws import RunLaw
from discreet.privacy.events.search import EvenSearchEvent
from discreet.privacy.ledger import Ledger

BUDGET = dp.Approx(epsilon=6, delta="1e-6")


def labelled(n_rows=1200, n_columns=6, seed=0):
    """Return features and labels that depend on the first column."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, n_columns))
    return X, np.where(X[:, 0] > 0, "yes", "no")


def logistic(adjacency=None, **changes):
    """Return an unfitted classifier."""
    arguments = {
        "budget": dp.Zcdp(rho=1),
        "sparsity": 2,
        "row_norm": 2.5,
        "entry_bound": 1,
        "adjacency": adjacency or dp.Replace(),
        "classes": ("no", "yes"),
    }
    return dp.SparseLogisticRegression(**(arguments | changes))


def linear(**changes):
    """Return an unfitted regression."""
    arguments = {
        "budget": dp.Zcdp(rho=1),
        "sparsity": 2,
        "row_norm": 2.5,
        "entry_bound": 1,
        "adjacency": dp.Replace(),
        "y_bounds": dp.Interval(-2, 2),
    }
    return dp.SparseLinearRegression(**(arguments | changes))


def search(model=None, candidates=None, **changes):
    """Return an unfitted search that makes few runs."""
    arguments = {"budget": BUDGET, "mean_runs": 2, "most_runs": 6} | changes
    return PrivateSearch(model or logistic(), candidates or {"n_steps": [1, 4]}, **arguments)


def seeded(budget, seed):
    """Return a ledger for one search with a test's coins."""
    return Ledger(total=budget, adjacency=dp.Replace(), composition="sum", coins=Coins.from_seed(seed))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.coo_array])
@pytest.mark.parametrize("adjacency", [dp.Replace(), dp.AddRemove()])
def test_a_search_is_one_entry_with_the_whole_cost(form, adjacency):
    """The ledger has one entry for the whole budget, and so has the release of the best estimator."""
    X, y = labelled()
    expected = {} if adjacency.size_is_public else {"expected_rows": 1200}
    ledger = Ledger(total=BUDGET, adjacency=adjacency, composition="sum")
    found = search(logistic(adjacency, **expected)).fit(form(X), y, ledger=ledger)
    assert len(ledger.entries) == 1
    assert ledger.left.epsilon == 0
    assert found.release_.cost == BUDGET
    assert found.best_estimator_.release_ is found.release_
    assert isinstance(found.release_.event, EvenSearchEvent)
    assert found.release_.is_private
    assert found.best_params_["n_steps"] in {1, 4}
    assert found.best_estimator_.n_steps_ == found.best_params_["n_steps"]
    assert 0 <= found.score(X, y) <= 1
    assert set(found.predict(X)) <= {"no", "yes"}


def test_a_regression_is_searched_too():
    """Numbers are scored by clipped squares; the search is a regressor with the model's tags."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(2000, 5))
    y = X[:, 0] - X[:, 1]
    found = search(linear(), [{"n_steps": 3}, {"n_steps": 3, "clip": 0.3}]).fit(X, y, ledger=seeded(BUDGET, 2))
    assert found.score(X, y) > 0.5
    assert not is_classifier(found)
    assert is_classifier(search())
    assert isinstance(found.best_score_, float)


def test_a_pure_budget_is_searched_with_pure_runs():
    """Runs of a pure search have a third of its budget, and Laplace noise on the score."""
    X, y = labelled()
    model = dp.PerturbedLogisticRegression(
        budget=dp.Pure(epsilon=1), row_norm=2.5, adjacency=dp.Replace(), classes=("no", "yes")
    )
    budget = dp.Pure(epsilon=9)
    found = search(model, {"fit_intercept": [True, False]}, budget=budget).fit(X, y, ledger=seeded(budget, 2))
    assert isinstance(found.release_.event.run, dp.Pure)
    assert found.release_.event.price <= budget
    assert found.score(X, y) > 0.7


def test_a_candidate_that_cannot_be_used_is_refused_before_the_charge():
    """Candidates are rehearsed on zeros, and a refused fit leaves ledger and fitted state alone."""
    X, y = labelled()
    ledger = Ledger(total=BUDGET, adjacency=dp.Replace(), composition="sum")
    with pytest.raises(InvalidArgument):
        search(candidates={"sparsity": [2, 900]}).fit(X, y, ledger=ledger)
    with pytest.raises(IncompatiblePlan, match="A run of this search has a budget in Pure"):
        search(budget=dp.Pure(epsilon=9)).fit(X, y)
    assert not ledger.entries
    found = search().fit(X, y, ledger=ledger)
    before = dict(vars(found))
    with pytest.raises(BudgetExceeded):
        found.fit(X, y, ledger=ledger)
    assert vars(found) == before


@pytest.mark.parametrize(
    ("candidates", "text"),
    [
        ({"budget": [BUDGET]}, "cannot set 'budget'"),
        ({"adjacency": [dp.AddRemove()]}, "cannot set 'adjacency'"),
        ({"classes": [("a", "b")]}, "cannot set 'classes'"),
        ({"radius": [1.0]}, "cannot set 'radius'"),
        ({"n_steps": []}, "at least one candidate"),
        ([], "at least one candidate"),
    ],
)
def test_a_candidate_may_not_change_the_promise(candidates, text):
    """Only settings to choose may vary, and there must be one."""
    with pytest.raises(InvalidArgument, match=text):
        candidate_list(candidates, logistic())


@pytest.mark.parametrize("candidates", [{"n_steps": 3}, {"n_steps": "34"}, 5, [3]])
def test_candidates_of_another_shape_are_refused(candidates):
    """A mapping of lists or a list of mappings."""
    with pytest.raises(InvalidType, match="`candidates`"):
        candidate_list(candidates, logistic())


def test_what_would_read_private_rows_for_nothing_is_refused():
    """Undeclared classes, foreign estimators, and shares that leave a part empty."""
    X, y = labelled(40)
    with pytest.raises(InvalidType, match="`classes`"):
        search(logistic(classes=None)).fit(X, y)
    with pytest.raises(InvalidType, match="`estimator`"):
        PrivateSearch(object(), {"n_steps": [1]}, budget=BUDGET).fit(X, y)
    with pytest.raises(InvalidData, match="too few rows"):
        search().fit(X[:3], y[:3])
    with pytest.raises(InvalidArgument, match="`test_share`"):
        search(test_share=1).fit(X, y)
    with pytest.raises(NotFittedError):
        search().predict(X)


@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
def test_bad_cells_are_named_and_not_quoted(form):
    """The column is named; labels outside the declared ones and lacking numbers too; nothing is spent."""
    X, y = labelled(50)
    X[7, 3] = np.nan
    ledger = Ledger(total=BUDGET, adjacency=dp.Replace(), composition="sum")
    with pytest.raises(InvalidData, match="Column 'x3'"):
        search().fit(form(X), y, ledger=ledger)
    X[7, 3] = 0
    with pytest.raises(InvalidData, match="Column 'y'"):
        search().fit(form(X), np.where(np.arange(50) == 4, "secret", y), ledger=ledger)
    with pytest.raises(InvalidData, match="Column 'y'"):
        search(linear()).fit(form(X), np.where(np.arange(50) == 4, np.inf, 1.0), ledger=ledger)
    with pytest.raises(InvalidData, match="inconsistent"):
        search().fit(form(X), y[:-1], ledger=ledger)
    assert not ledger.entries


@settings(max_examples=50, deadline=None)
@given(data=st.data(), share=st.sampled_from([Fraction(1, 5), Fraction(1, 2)]))
def test_under_add_remove_a_record_moves_no_other(data, share):
    """Membership is a function of the record: it survives removal of others, any order, and sparse storage's order."""
    n_rows = data.draw(st.integers(2, 12))
    cells = st.integers(-2, 2).map(float)
    X = np.array(data.draw(st.lists(st.lists(cells, min_size=3, max_size=3), min_size=n_rows, max_size=n_rows)))
    y = np.array(data.draw(st.lists(cells, min_size=n_rows, max_size=n_rows)))
    for form in (lambda rows: rows + 0.0, sp.csr_array):
        whole = by_content(form(X), y, share)
        order = np.array(data.draw(st.permutations(range(n_rows))))[1:]
        assert (by_content(form(X[order]), y[order], share) == whole[order]).all()


def test_both_zeros_and_duplicates_of_a_cell_are_one_record():
    """Minus zero, stored zeros and split cells do not change a record's part."""
    X = np.array([[0.0, 2.0], [1.0, 0.0]])
    y = np.zeros(2)
    plain = split_rows(linear(adjacency=dp.AddRemove()), X, y, Fraction(1, 2), dp.AddRemove())
    signed = split_rows(
        linear(adjacency=dp.AddRemove()), np.array([[-0.0, 2.0], [1.0, -0.0]]), -y, Fraction(1, 2), dp.AddRemove()
    )
    assert plain.private_test.shape == signed.private_test.shape
    stored = sp.csr_array((np.array([1.0, 1.0, 0.0, 1.0]), np.array([1, 1, 0, 0]), np.array([0, 3, 4])), shape=(2, 2))
    tidy = split_rows(linear(adjacency=dp.AddRemove()), sp.csr_array(X), y, Fraction(1, 2), dp.AddRemove())
    split = split_rows(linear(adjacency=dp.AddRemove()), stored, y, Fraction(1, 2), dp.AddRemove())
    assert (tidy.private_test.toarray() == split.private_test.toarray()).all()


def test_shares_are_kept():
    """Positions keep the share exactly, contents nearly."""
    assert by_position(1000, Fraction(1, 5)).sum() == 200
    X = np.random.default_rng(0).normal(size=(4000, 2))
    assert abs(by_content(X, np.zeros(4000), Fraction(1, 5)).mean() - 0.2) < 0.03


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["labels", "numbers"]))
def test_one_record_moves_the_loss_by_at_most_one_record(seed, kind):
    """Removing any record takes between 0 and LOSS_UNITS, exactly, whatever the other rows are."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 40))
    if kind == "labels":
        y = rng.integers(0, 2, size=30).astype(float)
        model = logistic(row_norm=3.0).fit(X, np.where(y > 0, "yes", "no"))
    else:
        y = rng.uniform(-2, 2, size=30)
        model = linear(row_norm=3.0).fit(X, y)
    rows = sp.csr_array(X)
    whole = total_loss(model, rows, y)
    for row in range(0, 30, 7):
        rest = np.delete(np.arange(30), row)
        taken = whole - total_loss(model, rows[rest], y[rest])
        assert 0 <= taken <= LOSS_UNITS
        assert taken == total_loss(model, rows[[row]], y[[row]])
    assert total_loss(model, rows[:0], y[:0]) == 0


@pytest.mark.parametrize("word_bits", [4, 64])
def test_the_number_of_runs_has_its_exact_law(word_bits):
    """Chi-squared of 20,000 draws passes for the law and fails for one 10 % off."""
    law = RunLaw(name="geometric", stop=Fraction(1, 3), most_runs=4)
    coins = Coins.from_seed(1, word_bits=word_bits)
    drawn = Counter(draw_run_count(law, coins) for _ in range(20_000))
    counts = np.array([drawn[k] for k in range(1, 5)])
    assert counts.sum() == 20_000
    right = np.array([float(p) for p in law.probabilities]) * 20_000
    wrong = right * np.array([0.9, 1.1, 1.1, 1.1])
    wrong *= 20_000 / wrong.sum()
    assert ((counts - right) ** 2 / right).sum() < 16.3
    assert ((counts - wrong) ** 2 / wrong).sum() > 16.3
    picks = Counter(draw_below(3, coins) for _ in range(3000))
    assert min(picks.values()) > 900


@pytest.mark.parametrize("law", [RunLaw(name="geometric", stop=Fraction(1, 3), most_runs=4, n_candidates=2)])
@pytest.mark.parametrize("word_bits", [3, 64])
def test_counts_have_their_exact_law(law, word_bits):
    """Chi-squared of 20,000 draws passes for the law of counts, and fails where K is bounded alone."""
    weights, unbounded = Counter(), Counter()
    for k in range(1, 5):
        for picks in product(range(2), repeat=k):
            counts = (picks.count(0), picks.count(1))
            unbounded[min(counts[0], 2), min(counts[1], 2)] += (2 / 3) ** k / 2**k
            if max(counts) <= 2:
                weights[counts] += (2 / 3) ** k / 2**k
    coins = Coins.from_seed(3, word_bits=word_bits)
    drawn = Counter(tuple(draw_counts(law, coins)) for _ in range(20_000))
    assert set(drawn) == set(weights)

    def distance(expected):
        total = sum(expected.values())
        return sum((drawn[c] - 20_000 * w / total) ** 2 / (20_000 * w / total) for c, w in expected.items())

    assert distance(weights) < 26
    assert distance(unbounded) > 26


def even_event(**changes):
    """Return an event of two candidates with three runs each."""
    fields = {
        "run": dp.Zcdp(rho="1/100"), "law": "geometric", "stop": Fraction(1, 2), "runs_each": 3, "n_candidates": 2,
        "adjacency": dp.Replace(), "budget": dp.Approx(epsilon=9, delta="1e-5"), "statistic": "a fit", "shape": (),
    }  # fmt: skip
    return EvenSearchEvent(**(fields | changes))


def test_the_sequence_of_runs_tells_nothing(monkeypatch):
    """Whatever counts, each candidate is run equally often, in order; the result is the best of what counts."""
    scores = [5, 3, 1, 3, 4, 0]
    made = []

    def one(self, index, rows, coins):
        del self, rows, coins
        made.append(index)
        return search_plan.Found(index, len(made) - 1, scores[len(made) - 1])

    monkeypatch.setattr(SearchPlan, "_one", one)
    plan = SearchPlan((), even_event(), Fraction(1, 5))
    for counts, best in (([1, 0], 0), ([2, 0], 1), ([2, 1], 1), ([0, 1], 3), ([3, 2], 2), ([3, 3], 5), ([0, 2], 3)):
        made.clear()
        monkeypatch.setattr(search_plan, "draw_counts", lambda *_, counts=counts: counts)
        assert plan.draw(None, Coins.from_seed(0)).estimator == best
        assert made == [0, 0, 0, 1, 1, 1]


def test_a_search_fits_every_candidate_equally_often(monkeypatch):
    """Over seeds the fits of a search are the same settings in the same order; only the result changes."""
    X, y = labelled(300)
    fitted, found = [], set()
    whole_fit = dp.SparseLogisticRegression.fit_quietly

    def fit(self, *arguments, **named):
        fitted[-1].append(self.n_steps)
        return whole_fit(self, *arguments, **named)

    monkeypatch.setattr(dp.SparseLogisticRegression, "fit_quietly", fit)
    for seed in range(6):
        fitted.append([])
        found.add(search(candidates={"n_steps": [1, 2, 4]}).fit(X, y, ledger=seeded(BUDGET, seed)).best_score_)
    # Three rehearsals on zeros, then two runs each.
    assert fitted == [[1, 2, 4, 1, 1, 2, 2, 4, 4]] * 6
    assert len(found) > 1


def test_the_work_of_a_draw_of_k_does_not_tell_k(monkeypatch):
    """All edges are compared, whichever cell the number lies in, and as many words are read."""
    law = RunLaw(name="geometric", stop=Fraction(1, 3), most_runs=40)

    class Counted(int):
        compared = 0

        def __lshift__(self, bits):
            Counted.compared += 1
            return int(self) << bits

    monkeypatch.setattr(search_draws, "accumulate", lambda weights: map(Counted, accumulate(weights)))
    work = set()
    for seed in range(30):
        Counted.compared = 0
        assert 1 <= draw_run_count(law, Coins.from_seed(seed)) <= 40
        work.add(Counted.compared)
    assert work == {80}


@pytest.mark.parametrize("most_runs", [1, 3])
def test_fewer_runs_than_candidates_are_refused_before_the_charge(most_runs):
    """Each candidate must be run; nothing is spent."""
    X, y = labelled(40)
    ledger = Ledger(total=BUDGET, adjacency=dp.Replace(), composition="sum")
    with pytest.raises(InvalidArgument, match="`most_runs` must be at least the number of candidates, 4"):
        search(candidates={"n_steps": [1, 2, 3, 4]}, most_runs=most_runs).fit(X, y, ledger=ledger)
    assert not ledger.entries


def test_a_score_has_the_noise_that_its_budget_asks_for():
    """The spread of 4,000 scores is that of the run's rho or epsilon, and not one 10 % off."""
    for run, std in ((dp.Zcdp(rho=2), LOSS_UNITS / 2), (dp.Pure(epsilon=2), LOSS_UNITS / 2 * 2**0.5)):
        coins = Coins.from_seed(9)
        noise = [search_draws.noisy_score(7 * LOSS_UNITS, run, coins) for _ in range(4000)]
        assert np.mean(noise) == pytest.approx(7 * LOSS_UNITS, abs=5 * std / 4000**0.5)
        assert 0.93 < np.std(noise) / std < 1.07


@pytest.mark.parametrize("n_rows", [1, 2, 3])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_under_add_remove_a_part_may_be_empty(n_rows, form):
    """However few rows there are, and whichever part they fall into, the search ends and says nothing of it."""
    for seed in range(4):
        X, y = labelled(n_rows, seed=seed)
        found = search(logistic(dp.AddRemove(), expected_rows=50)).fit(form(X), y)
        assert np.isfinite(found.best_estimator_.coef_).all()
        numbers = search(linear(adjacency=dp.AddRemove(), expected_rows=50), {"n_steps": [1]}).fit(form(X), X[:, 0])
        assert np.isfinite(numbers.best_score_)
