"""Private search: its prices against exact enumeration, its law, and its event."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import IncompatiblePlan, InvalidArgument, InvalidType
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.events.event import event_from_json
from discreet.privacy.events.run_laws import LAWS, RunLaw, law_of_mean
from discreet.privacy.events.search import EvenSearchEvent, PrivateSearchEvent, run_budget, search_epsilon


def event(**changes):
    """Return an event of ten candidates with ample budget."""
    fields = {
        "run": Zcdp(rho="1/50"),
        "law": "geometric",
        "stop": Fraction(1, 10),
        "runs_each": 9,
        "n_candidates": 10,
        "adjacency": Replace(),
        "budget": Approx(epsilon=3, delta="1e-5"),
        "statistic": "a fit",
        "shape": (4,),
    }
    return EvenSearchEvent(**(fields | changes))


def older_event(**changes):
    """Return an event of the kind that an older version stored."""
    fields = {"most_runs": 50} | changes
    new = event()
    common = {name: getattr(new, name) for name in ("run", "law", "stop", "n_candidates", "adjacency", "budget")}
    return PrivateSearchEvent(**(common | {"statistic": "a fit", "shape": (4,)} | fields))


def selected(run, law):
    """Return the exact law of the best of K runs; outputs are in order, the best last."""
    below = np.concatenate([[0.0], np.cumsum(run)])
    probabilities = np.array([float(probability) for probability in law.probabilities])
    generating = (probabilities * below[:, None] ** np.arange(1, law.most_runs + 1)).sum(axis=1)
    return np.diff(generating)


def hockey_stick(p, q, epsilon):
    """Return the smallest delta of p against q."""
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def concentration(p, q):
    """Return the smallest rho of two laws, over a fine net of orders, in both directions."""
    orders = 1 + np.geomspace(1e-4, 1e4, 800)
    worst = 0.0
    for a, b in ((p, q), (q, p)):
        logs = np.log(a)[None, :] * orders[:, None] + np.log(b)[None, :] * (1 - orders[:, None])
        top = logs.max(axis=1)
        divergence = (top + np.log(np.exp(logs - top[:, None]).sum(axis=1))) / (orders - 1)
        worst = max(worst, float((divergence / orders).max()))
    return worst


# What version 0.1 said `older_event()` costs.
OLDER_PRICE = Fraction("4435409741701211978536777/2534582635727692392038400")

laws = st.builds(
    RunLaw,
    name=st.sampled_from(LAWS),
    stop=st.sampled_from([Fraction(1, 2), Fraction(1, 10), Fraction(1, 40)]),
    most_runs=st.integers(1, 40),
)


@settings(max_examples=40, deadline=None)
@given(
    law=laws,
    shape=st.lists(st.floats(0.02, 1), min_size=2, max_size=6),
    tilt=st.lists(st.floats(-1, 1), min_size=6, max_size=6),
    size=st.sampled_from([0.05, 0.3, 1.0, 3.0]),
    delta=st.sampled_from(["0.1", "0.01", "1e-4"]),
)
def test_no_pair_of_small_mechanisms_costs_more_than_the_price(law, shape, tilt, size, delta):
    """Enumerated exactly, the best of K runs has a smaller delta than is promised, in both directions."""
    p = np.array(shape) / sum(shape)
    q = p * np.exp(size * np.array(tilt[: p.size]))
    q /= q.sum()
    rho = concentration(p, q) * (1 + 1e-3) + 1e-6
    promised = float(search_epsilon(rho=Fraction(rho), law=law, delta=Fraction(delta)))
    best, other = selected(p, law), selected(q, law)
    for one, two in ((best, other), (other, best)):
        assert hockey_stick(one, two, promised) <= float(delta) + 1e-12


@settings(max_examples=40, deadline=None)
@given(
    law=laws,
    shape=st.lists(st.floats(0.01, 1), min_size=2, max_size=6),
    signs=st.lists(st.sampled_from([-1, 1]), min_size=6, max_size=6),
    size=st.sampled_from([0.1, 0.7, 2.0]),
)
def test_no_pair_of_small_pure_mechanisms_costs_more_than_the_price(law, shape, signs, size):
    """Enumerated exactly, the largest ratio of the selected outputs stays below the pure price."""
    p = np.array(shape) / sum(shape)
    q = p * np.exp(size / 2 * np.array(signs[: p.size]))
    q /= q.sum()
    epsilon = Fraction(float(np.abs(np.log(p / q)).max()) + 1e-9)
    promised = (2 + law.exponent) * float(epsilon) + math.log(1 / float(law.kept))
    best, other = selected(p, law), selected(q, law)
    assert np.abs(np.log(best / other)).max() <= promised + 1e-6


def test_the_pure_price_is_nearly_attained():
    """A mechanism comes within 5 % of three times its epsilon, so no smaller price than the geometric law's holds."""
    law = RunLaw(name="geometric", stop=Fraction(1, 100), most_runs=1500)
    epsilon, better, rare = 0.01, 0.5, 1e-3
    p = np.array([0.0, rare * math.exp(epsilon), better])
    q = np.array([0.0, rare, better * math.exp(epsilon)])
    p[0], q[0] = 1 - p.sum(), 1 - q.sum()
    ratio = math.log(selected(p, law)[1] / selected(q, law)[1])
    assert 0.95 * 3 * epsilon < ratio < 3 * epsilon


def test_the_price_is_that_of_papernot_and_steinke_where_k_is_hardly_bounded():
    """With m so large that nothing is cut off, the price is the theorem's, at the best of both orders."""
    law = RunLaw(name="geometric", stop=Fraction(1, 10), most_runs=400)
    rho, delta = 0.02, 1e-5
    found = float(search_epsilon(rho=Fraction(rho), law=law, delta=Fraction(1, 10**5)))

    inner = min((a - 1) * rho + math.log(10) / a for a in np.linspace(1, 60, 6000))

    def at(order):
        divergence = order * rho + 2 * inner + math.log(10) / (order - 1)
        return divergence + math.log(1 - 1 / order) - (math.log(delta) + math.log(order)) / (order - 1)

    expected = min(at(order) for order in np.linspace(1.5, 80, 4000))
    assert found == pytest.approx(expected, rel=1e-3)
    assert float(law.factor) == pytest.approx(10, rel=1e-9)


@pytest.mark.parametrize("name", LAWS)
def test_the_law_is_exact_and_its_mean_is_the_one_asked_for(name):
    """Probabilities are rationals that sum to 1; the mean is about the number asked, less what m cuts off."""
    law = law_of_mean(name, 10)
    assert sum(law.probabilities) == 1
    assert 0.97 <= law.kept < 1
    assert 9 < law.mean < 10.5
    exact = sum(k * (1 - law.stop) ** k / (1 if law.exponent else k) for k in range(1, law.most_runs + 1))
    assert law.kept * law.endless_mean == exact
    assert law_of_mean(name, 10, most_runs=3).most_runs == 3


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(("n_candidates", "mean"), [(1, 2), (4, 10), (50, 10), (300, 2), (10, 40)])
def test_as_few_runs_are_made_as_keep_the_mean(name, n_candidates, mean):
    """Every candidate has equally many; one fewer each would keep less than 97 %."""
    law = law_of_mean(name, mean, n_candidates=n_candidates)
    assert law.most_runs == law.runs_each * n_candidates
    assert law.kept >= 0.97
    if law.runs_each > 1:
        fewer = law_of_mean(name, mean, law.most_runs - 1, n_candidates=n_candidates)
        assert fewer.runs_each == law.runs_each - 1
        assert fewer.kept < 0.97


def test_more_candidates_than_runs_are_refused():
    """Each must be run, and a number of runs that candidates do not share is none of a law."""
    with pytest.raises(InvalidArgument, match="number of candidates, 9"):
        law_of_mean("geometric", 5, 8, n_candidates=9)
    with pytest.raises(InvalidArgument, match="Try fewer candidates"):
        law_of_mean("geometric", 5, n_candidates=2001)
    with pytest.raises(InvalidArgument, match="must be a multiple"):
        RunLaw(name="geometric", stop=Fraction(1, 2), most_runs=7, n_candidates=2)


@pytest.mark.parametrize("budget", [Approx(epsilon=2, delta="1e-5"), Approx(epsilon=8, delta="1e-6"), Pure(epsilon=3)])
@pytest.mark.parametrize("name", LAWS)
def test_a_run_has_nearly_all_that_the_budget_allows(budget, name):
    """The event of the run budget is accepted, and one of a run that may cost a thousandth more is refused."""
    law = law_of_mean(name, 5)
    run = run_budget(budget, law)
    fields = {"law": law.name, "stop": law.stop, "runs_each": law.most_runs, "n_candidates": 1, "budget": budget}
    assert event(run=run, **fields).price <= budget
    more = type(run).from_coordinates(tuple(number * Fraction(1001, 1000) for number in run.coordinates))
    with pytest.raises(InvalidArgument, match="Raise the noise or the budget"):
        event(run=more, **fields)


def test_an_event_survives_its_json():
    """What is written can be read, priced the same."""
    pure = {"run": Pure(epsilon="1/2"), "budget": Pure(epsilon=2), "adjacency": AddRemove()}
    for stored in (event(), event(**pure), older_event(), older_event(**pure)):
        again = event_from_json(json.loads(json.dumps(stored.to_json())))
        assert again == stored
        assert again.price == stored.price


def test_an_older_search_costs_what_it_did():
    """A stored text of version 0.1 is read, its price is the one it had, and no field of the other kind is taken."""
    stored = {
        "kind": "private-search", "run": {"currency": "Zcdp", "rho": "1/50"}, "law": "geometric", "stop": "1/10",
        "most_runs": "50", "n_candidates": "10", "adjacency": "Replace", "statistic": "a fit", "shape": [4],
        "budget": {"currency": "Approx", "epsilon": "3", "delta": "1/100000"}, "step_bits": 0,
    }  # fmt: skip
    found = event_from_json(stored)
    assert found == older_event()
    assert found.price.epsilon == OLDER_PRICE
    with pytest.raises(InvalidArgument, match="unknown field"):
        event_from_json(stored | {"runs_each": "5"})
    with pytest.raises(InvalidArgument, match="lacks the field"):
        event_from_json({name: value for name, value in event().to_json().items() if name != "runs_each"})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"run": Gdp(mu=1)}, "`run` must be in Pure or Zcdp"),
        ({"budget": Pure(epsilon=3)}, "must be in Approx"),
        ({"law": "poisson"}, "`law`"),
        ({"stop": 1}, "`stop` must be in"),
        ({"stop": Fraction(1, 10**6)}, "`stop` must be in"),
        ({"runs_each": 500}, "`most_runs`"),
        ({"runs_each": 0}, "`runs_each`"),
        ({"n_candidates": 0}, "`n_candidates`"),
    ],
)
def test_a_field_that_no_theorem_covers_is_refused(changes, text):
    """The event says which field."""
    with pytest.raises(InvalidArgument, match=text):
        event(**changes)


def test_a_search_is_priced_in_two_currencies_only():
    """Zcdp, Gdp and a delta of 0 are refused by name; a budget below what the bound of K costs leaves nothing."""
    law = law_of_mean("geometric", 5)
    for budget in (Zcdp(rho=1), Gdp(mu=1), Approx(epsilon=1, delta=0)):
        with pytest.raises(IncompatiblePlan, match="proved price"):
            run_budget(budget, law)
    for budget in (Pure(epsilon="0.001"), Approx(epsilon="0.001", delta="1e-9")):
        with pytest.raises(InvalidArgument, match="leaves nothing for a run"):
            run_budget(budget, law)
    with pytest.raises(InvalidType):
        run_budget(1.0, law)
