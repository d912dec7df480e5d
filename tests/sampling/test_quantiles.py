"""Quantiles: utilities and sensitivities by brute force, the exact law, constant work, and releases."""

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import AdjacencyMismatch, InvalidArgument, InvalidData, InvalidType
from discreet.lattice.bounds import Box, Interval
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.coins import Coins
from discreet.privacy.events.event import event_from_json
from discreet.privacy.ledger import Ledger
from discreet.sampling.mechanisms import sample
from discreet.sampling.quantiles.quantile_release import median, plan_quantiles, quantile
from discreet.sampling.quantiles.quantiles import PublicLine, QuantileTarget, Runs, rank_sensitivity
from discreet.tables.schema.columns import Category, Number
from discreet.tables.schema.schema import Schema

# Draws of the right law fall below ALPHA once in a thousand seeds, and the seeds are fixed. With 40,000 draws a law
# tilted by 5 % up and down in turn has a noncentrality of 100 at ten degrees of freedom.
ALPHA = 1e-3
N_FIT = 40_000
HALF = Fraction(1, 2)


def utility(place, places, q):
    """Return minus the distance of q n from the interval between the numbers of values below and at most a place."""
    below, at_most = sum(x < place for x in places), sum(x <= place for x in places)
    return -max(below - q * len(places), q * len(places) - at_most, Fraction(0))


QUANTILES = st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50))
PLACES = st.lists(st.integers(0, 6), max_size=7)


@given(places=PLACES, q=QUANTILES)
def test_runs_hold_every_point_once_with_its_utility(places, q):
    """Starts and lengths cover the grid, and a run's distance is that of each of its points: by brute force."""
    runs, found = Runs(np.array(sorted(places), np.int64), q, 7), {}
    assert runs._starts.size == len(places) + 2
    for index, (start, length) in enumerate(zip(runs._starts.tolist(), runs._lengths.tolist(), strict=True)):
        distance = abs(index - q * len(places)) if index < len(places) + 1 else Fraction(0)
        assert runs._distances[index] == pytest.approx(float(distance))
        for place in range(start, start + length):
            assert place not in found
            found[place] = -distance
    assert found == {place: utility(place, places, q) for place in range(7)}


@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(1, 3), Fraction(9, 10)])
def test_no_utility_changes_by_more_than_the_sensitivity(q):
    """Over all small data sets and their neighbours the largest change is the sensitivity, under both relations."""
    worst = {Replace(): Fraction(0), AddRemove(): Fraction(0)}
    for n in range(4):
        for places in itertools.product(range(4), repeat=n):
            for place, new in itertools.product(range(4), repeat=2):
                base = utility(place, places, q)
                change = abs(utility(place, (*places, new), q) - base)
                worst[AddRemove()] = max(worst[AddRemove()], change)
                if n:
                    change = abs(utility(place, (*places[:-1], new), q) - base)
                    worst[Replace()] = max(worst[Replace()], change)
    for adjacency, change in worst.items():
        assert change <= rank_sensitivity(q, adjacency)
        assert change >= rank_sensitivity(q, adjacency) * Fraction(3, 4)


VALUES = [1.0, 1.0, 3.0, 7.0, 7.0, 9.0, 2.0]


def law(values, q, scale, n_points):
    """Return the exponential mechanism's probabilities over the points 0, 1, ..."""
    weights = np.array([math.exp(scale * utility(place, values, q)) for place in range(n_points)])
    return weights / weights.sum()


def fit(counts, probabilities):
    return scipy.stats.chisquare(counts, probabilities * counts.sum()).pvalue


@pytest.mark.parametrize(("word_bits", "n"), [(64, N_FIT), (6, 1_000)])
@pytest.mark.parametrize("q", ["1/2", "1/3"])
def test_draws_have_the_exact_law(word_bits, n, q):
    """Chi-square against exact probabilities; a law tilted by 5 % fails."""
    target, scale = QuantileTarget(q=q, bounds=Interval(0, 10), step=1), Fraction(6, 5)
    coins = Coins.from_seed(1, word_bits=word_bits)
    drawn = target.choose(target.prepare(VALUES), scale, coins, n)
    assert drawn.shape == (n, 1)
    counts = np.bincount(drawn[:, 0].astype(int), minlength=11)
    right = law(VALUES, Fraction(q), float(scale), 11)
    assert fit(counts, right) > ALPHA
    if n == N_FIT:
        tilted = right * (1 + 0.05 * (1 - 2 * (np.arange(11) % 2)))
        assert fit(counts, tilted / tilted.sum()) < ALPHA


def test_a_fine_grid_fits_the_continuous_law():
    """On 2**32 points the law is that of an exponential mechanism on the line: piecewise constant between values."""
    values = np.array([0.1, 0.25, 0.3, 0.62, 0.9])
    target = QuantileTarget(q=HALF, bounds=Interval(0, 1))
    drawn = target.choose(target.prepare(values), Fraction(1), Coins.from_seed(2), N_FIT)[:, 0]
    edges = np.concatenate([[0], values, [1]])
    mass = np.diff(edges) * np.exp(-np.abs(np.arange(6) - 2.5))
    counts = np.histogram(drawn, edges)[0]
    assert fit(counts, mass / mass.sum()) > ALPHA
    inside = drawn[(drawn > 0.3) & (drawn < 0.62)]
    assert scipy.stats.kstest(inside, "uniform", args=(0.3, 0.32)).pvalue > ALPHA


def test_ties_are_atoms():
    """Where all values are equal and the step is theirs, the answer is that value almost surely."""
    released = median(np.full(400, 40), bounds=Interval(0, 99), step=1, budget=Pure(epsilon=1), adjacency=Replace())
    assert released.value == 40.0


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_the_number_of_words_depends_on_the_number_of_rows_alone(n):
    """Two words a run and draw, and one for the point within: the next word of the stream proves it."""
    target, size = QuantileTarget(q="0.3", bounds=Interval(0, 1)), 3
    expected = Coins.from_seed(3).words(size * (2 * (n + 2) + 1) + 1)[-1]
    for values in (np.zeros(n), np.linspace(0, 1, n), np.ones(n)):
        coins = Coins.from_seed(3)
        target.choose(target.prepare(values), Fraction(1, 2), coins, size)
        assert coins.words(1)[0] == expected


@given(
    low=st.floats(-1e6, 1e6), width=st.floats(1e-3, 1e6), values=st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=20)
)
def test_places_are_monotone_and_within_the_grid(low, width, values):
    """Order is kept, every place is a point of the grid, and a point is within the bounds and is its own place."""
    line = PublicLine(bounds=Interval(low, low + width))
    places = line.places(np.sort(np.array(values)))
    assert (np.diff(places) >= 0).all()
    assert places.min() >= 0
    assert places.max() < line.n_points
    for place in places.tolist():
        assert low <= line.value(place) <= low + width
    coarse = PublicLine(bounds=Interval(low, low + width), step=Fraction(width) / 10)
    points = [coarse.value(k) for k in range(coarse.n_points)]
    assert coarse.places(np.array(points)).tolist() == [*range(coarse.n_points)]


def test_an_answer_is_near_the_quantile_of_real_size():
    """On 20,000 skewed values at epsilon = 1 every quantile is within 40 ranks."""
    values = np.random.default_rng(0).lognormal(10, 1, 20_000)
    ledger = Ledger(total=Pure(epsilon=3), adjacency=Replace(), coins=Coins.from_seed(4))
    wanted = [0.9, "1/4", 0.5]
    released = quantile(values, wanted, bounds=Interval(0, 10**6), budget=Pure(epsilon=3), ledger=ledger)
    ranks = [(values < value).sum() for value in released.value]
    np.testing.assert_allclose(ranks, [18_000, 5_000, 10_000], atol=40)
    assert released.value.shape == (3,)
    assert released.event.shape == (3,)


@pytest.mark.parametrize(
    ("budget", "scale"),
    [
        (Pure(epsilon=1), HALF),
        (Approx(epsilon=1, delta="1e-6"), HALF),
        (Zcdp(rho="1/8"), HALF),
    ],
)
def test_budgets_are_spent_whole(budget, scale):
    """The price of a quantile is its budget, and half the range is the scale of a rank under Replace."""
    plan = plan_quantiles("1/2", bounds=Interval(0, 1), budget=budget, adjacency=Replace())
    assert plan.event.scale == scale
    price = plan.event.price
    assert price == budget or (isinstance(budget, Approx) and price.epsilon == budget.epsilon)
    assert event_from_json(plan.event.to_json()) == plan.event


def test_a_median_under_add_remove_is_twice_as_sharp():
    """The same budget buys twice the scale a rank; several quantiles share it."""
    budget = Pure(epsilon=1)
    one = plan_quantiles(HALF, bounds=Interval(0, 1), budget=budget, adjacency=AddRemove())
    assert one.event.scale / one.targets[0].sensitivity(AddRemove()) == 1
    two = plan_quantiles([HALF, "3/4"], bounds=Interval(0, 1), budget=budget, adjacency=AddRemove())
    assert two.event.price == budget
    assert two.event.scale == one.event.scale / 2
    gaussian = plan_quantiles(HALF, bounds=Interval(0, 1), budget=Gdp(mu=1), adjacency=Replace())
    assert 0.999999 < float(gaussian.event.price.mu_squared) <= 1


def test_probabilities_on_neighbours_are_within_the_price():
    """Exact log-ratios over all points and small neighbours stay within epsilon, and come close to it."""
    scale, worst = 0.5, 0.0
    for values in itertools.product(range(5), repeat=3):
        for new in range(5):
            one, other = (law(data, HALF, scale, 5) for data in (values, (*values[:2], new)))
            worst = max(worst, np.abs(np.log(one / other)).max())
    assert 0.6 < worst <= 1.0 + 1e-12


def test_the_same_target_is_drawn_by_sample():
    """`sample` takes the target, with as many draws as asked, and charges once."""
    ledger = Ledger(total=Pure(epsilon=1), adjacency=Replace(), coins=Coins.from_seed(5))
    target = QuantileTarget(q=HALF, bounds=Interval(0, 10))
    drawn = sample(target, VALUES, budget=Pure(epsilon=1), ledger=ledger, n_draws=4)
    assert drawn.value.points.shape == (4, 1)
    assert len(ledger.entries) == 1
    assert drawn.event.n_candidates == 2**32


def test_a_million_rows_take_less_than_a_second():
    """Target: a million-row median in under 1 s of one core."""
    values = np.random.default_rng(1).normal(size=1_000_000)
    times = []
    for _ in range(3):
        start = time.process_time()
        released = median(values, bounds=Interval(-5, 5), budget=Pure(epsilon=1), adjacency=Replace())
        times.append(time.process_time() - start)
    assert min(times) < 1.0
    assert abs(released.value - np.median(values)) < 1e-3


def test_ten_thousand_draws_over_a_thousand_rows_take_less_than_two_seconds():
    """Target: 10,000 draws of a one-dimensional K-norm gradient target over 1,000 rows in under 2 s of one core."""
    values = np.random.default_rng(2).normal(size=1_000)
    target, times = QuantileTarget(q=HALF, bounds=Interval(-5, 5)), []
    for _ in range(2):
        start = time.process_time()
        sample(target, values, budget=Pure(epsilon=10_000), adjacency=Replace(), n_draws=10_000)
        times.append(time.process_time() - start)
    assert min(times) < 2.0


SCHEMA = Schema({"wage": Number(0, 100, missing="drop"), "kind": Category(["a", "b"])}, adjacency=Replace())


def table():
    import pandas as pd

    return pd.DataFrame({"wage": [10.0, 20.0, np.nan, 30.0, 20.0] * 200, "kind": ["a"] * 1000})


def test_tables_are_read_through_their_schema():
    """A column's bounds and policy come from the schema, its adjacency too; the event names the column."""
    released = median(table(), schema=SCHEMA, column="wage", step=1, budget=Pure(epsilon=2))
    assert released.value == 20.0
    assert released.adjacency == Replace()
    assert "column 'wage'" in released.event.statistic
    narrow = quantile(table(), 0.9, schema=SCHEMA, column="wage", bounds=Interval(0, 50), budget=Pure(epsilon=2))
    assert narrow.value <= 50
    ledger = Ledger(total=Pure(epsilon=2), adjacency=AddRemove())
    with pytest.raises(AdjacencyMismatch, match="schema"):
        median(table(), schema=SCHEMA, column="wage", budget=Pure(epsilon=2), ledger=ledger)
    assert ledger.entries == ()


BAD = [
    ({"q": 0}, InvalidArgument, "`q`"),
    ({"q": 1}, InvalidArgument, "`q`"),
    ({"q": "x"}, InvalidArgument, "`q`"),
    ({"q": float("nan")}, InvalidArgument, "`q`"),
    ({"q": []}, InvalidArgument, "at least one"),
    ({"bounds": None}, InvalidType, "`bounds`"),
    ({"bounds": Box(lower=[0], upper=[1])}, InvalidType, "bounded domain"),
    ({"bounds": Interval(0, 5e-324)}, InvalidArgument, "too close"),
    ({"step": 0}, InvalidArgument, "`step`"),
    ({"step": 11}, InvalidArgument, "fewer"),
    ({"step": "1e-10"}, InvalidArgument, "more"),
    ({"budget": 1}, InvalidType, "budget"),
    ({"budget": Pure(epsilon="1e200")}, InvalidArgument, "epsilon"),
    ({"adjacency": None}, InvalidArgument, "`adjacency`"),
    ({"adjacency": AddRemove}, InvalidType, "adjacency"),
    ({"column": "wage"}, InvalidArgument, "`column`"),
    ({"schema": SCHEMA}, InvalidType, "`column`"),
    ({"schema": SCHEMA, "column": "kind"}, InvalidArgument, "category"),
    ({"values": [[1.0, 2.0]]}, InvalidData, "one column"),
    ({"values": ["a", "b"]}, InvalidData, "`values`"),
    ({"values": [1.0, float("nan")]}, InvalidData, "missing"),
    ({"values": [1.0, float("inf")]}, InvalidData, "missing"),
]


@pytest.mark.parametrize(("changes", "kind", "text"), BAD, ids=lambda value: str(value)[:40])
def test_bad_input_is_refused_by_name_before_any_charge(changes, kind, text):
    """Every refusal names its argument, quotes no cell and charges nothing."""
    ledger = Ledger(total=Pure(epsilon=1), adjacency=Replace()) if "adjacency" not in changes else None
    given_ = {"values": VALUES, "q": 0.5, "bounds": Interval(0, 10), "budget": Pure(epsilon=1), **changes}
    values, q = given_.pop("values"), given_.pop("q")
    with pytest.raises(kind, match=text):
        quantile(values, q, ledger=ledger, **given_)
    assert ledger is None or ledger.entries == ()


def test_no_rows_are_a_uniform_answer():
    """Without rows every point has the utility 0: an empty table runs, as AddRemove needs."""
    target = QuantileTarget(q=HALF, bounds=Interval(0, 3), step=1)
    drawn = target.choose(target.prepare(np.empty(0)), Fraction(5), Coins.from_seed(6), 4_000)
    assert fit(np.bincount(drawn[:, 0].astype(int), minlength=4), np.full(4, 0.25)) > ALPHA
