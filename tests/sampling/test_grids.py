"""Grids: envelopes from a public modulus, the laws of rejection and of the discretized mechanism, refusals."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from discreet.errors import IncompatiblePlan, InvalidArgument, InvalidData, InvalidType
from discreet.lattice.bounds import Box, Interval
from discreet.lattice.coins import Coins
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Pure
from discreet.privacy.ledger import Ledger
from discreet.privacy.sampling_events import Runtime, block_length
from discreet.sampling.adaptive import Schedule, nested_sizes, plan_adaptive, run_adaptively, sample_adaptively
from discreet.sampling.grids import Cells, Modulus, cheapest_grid
from discreet.sampling.holder import Discretized, LogHoelder
from discreet.sampling.mechanisms import sample
from discreet.sampling.policies import BlockRestart, Truncated
from discreet.sampling.samplers import Counters, run
from sampling.contract import (
    ALPHA,
    N_FIT,
    TILT,
    TargetContract,
    count_p_value,
    fit_p_value,
    independence_p_value,
    two_sample_p_value,
)

HALF = Fraction(1, 2)
N_ROWS = 20


def distance(points, rows):
    """Return minus the sum of distances to the rows: slope n."""
    return -np.abs(points[:, :1] - rows[None, :, 0]).sum(axis=1)


def root(points, rows):
    """Return minus the sum of roots of the largest coordinate's distances: exponent 1/2, constant n."""
    return -np.sqrt(np.abs(points[:, None, :] - rows[None, :, :]).max(axis=2)).sum(axis=1)


def rows_like(seed, n=N_ROWS, width=1):
    return np.random.default_rng(seed).beta(2, 5, (n, width))


def line(**changes):
    fields = {
        "utility": distance,
        "bounds": Interval(0, 1),
        "constant": N_ROWS,
        "change": 1,
        "example": np.full((N_ROWS, 1), 0.3),
    }
    return LogHoelder(**(fields | changes))


def plane(**changes):
    fields = {
        "utility": root,
        "bounds": Box(lower=[0, 0], upper=[1, 1]),
        "constant": 5,
        "exponent": "1/2",
        "change": 1,
        "example": np.full((5, 2), 0.3),
    }
    return LogHoelder(**(fields | changes))


def density(rows, scale=0.5):
    return lambda x: np.exp(scale * distance(np.asarray(x)[:, None], rows))


class TestLine(TargetContract):
    """A log-Lipschitz utility on a line, on a chosen grid."""

    def target(self):
        return line()

    def data(self):
        return rows_like(1)

    def neighbour(self):
        return np.vstack([rows_like(1)[:-1], [[1.0]]])


class TestCoarse(TestLine):
    """The same on few cells."""

    def target(self):
        return line(per_side=4)


class TestPlane(TargetContract):
    """A log-Hoelder utility of exponent 1/2 in two dimensions, under AddRemove."""

    adjacency = AddRemove()

    def target(self):
        return plane()

    def data(self):
        return rows_like(2, 5, 2)

    def neighbour(self):
        return rows_like(2, 5, 2)[:-1]


class TestSpace(TestPlane):
    """The same in three dimensions, on a box whose sides differ."""

    def target(self):
        return plane(bounds=Box(lower=[0, -1, 4], upper=[1, 1, 5]), example=np.full((5, 3), 0.3), constant=10)

    def data(self):
        return rows_like(3, 5, 3)

    def neighbour(self):
        return rows_like(3, 5, 3)[:-1]


@pytest.mark.parametrize(("per_side", "policy"), [(None, "cool-down"), (None, "truncated"), (6, "cool-down")])
def test_rejection_from_a_grid_has_the_exact_law(per_side, policy):
    """Draws fit the density, whatever the grid; one tilted by 5 % does not."""
    rows = rows_like(4)
    scaled = line(per_side=per_side).at(HALF, N_ROWS)
    block = block_length(scaled.acceptance, Fraction(1, 10**6))
    runtime = Runtime(policy=policy, block=block, parameter=HALF if policy == "cool-down" else Fraction(0))
    counters = Counters()
    points = run(scaled, rows, runtime, Coins.from_seed(1), n_draws=N_FIT, counters=counters)[:, 0]
    assert fit_p_value(points, density(rows), 0, 1) > ALPHA
    assert fit_p_value(points, density(rows), 0, 1, tilt=TILT) < ALPHA
    if policy == "cool-down":
        assert independence_p_value(points, counters.blocks) > ALPHA


def test_rejection_in_the_plane_has_the_exact_law():
    """Both coordinates and their sum fit numerical integration of the density in two dimensions."""
    rows, target = rows_like(5, 5, 2), plane()
    scaled = target.at(Fraction(1), None)
    runtime = Runtime(policy="truncated", block=block_length(scaled.acceptance, Fraction(1, 10**6)))
    points = run(scaled, rows, runtime, Coins.from_seed(2), n_draws=10_000)
    grid = Cells(target.bounds, 300).centers()
    weights = np.exp(root(grid, rows))
    for direction in ([1.0, 0.0], [0.0, 1.0], [1.0, 1.0]):
        order = np.argsort(grid @ direction)
        edges = np.interp(
            np.linspace(0, 1, 11)[1:-1], np.cumsum(weights[order]) / weights.sum(), (grid @ direction)[order]
        )
        counts = np.bincount(np.searchsorted(edges, points @ direction), minlength=10)
        assert scipy.stats.chisquare(counts).pvalue > ALPHA


def test_the_discretized_mechanism_has_its_own_law():
    """Cells are chosen in proportion to the density at their centers, points are uniform within: by chi-square."""
    rows, size = rows_like(6), 8
    target = Discretized(target=line(), per_side=size)
    for word_bits, n in ((64, N_FIT), (6, 1_000)):
        coins = Coins.from_seed(3, word_bits=word_bits)
        points = target.choose(rows, HALF, coins, n)[:, 0]
        law = density(rows)((np.arange(size) + 0.5) / size)
        counts = np.bincount((points * size).astype(int), minlength=size)
        assert scipy.stats.chisquare(counts, law / law.sum() * n).pvalue > ALPHA
    tilted = law * (1 + TILT * (1 - 2 * (np.arange(size) % 2)))
    fine = target.choose(rows, HALF, Coins.from_seed(3), N_FIT)[:, 0] * size
    assert (
        scipy.stats.chisquare(np.bincount(fine.astype(int), minlength=size), tilted / tilted.sum() * N_FIT)[1] < ALPHA
    )
    assert scipy.stats.kstest(fine % 1, "uniform").pvalue > ALPHA


def test_the_discretized_mechanism_costs_what_its_cells_change():
    """Exact log-ratios of cells between neighbours stay within the range 2 scale sensitivity."""
    target = Discretized(target=line(), per_side=9)
    assert target.sensitivity(Replace()) == 1
    centers = (np.arange(9) + 0.5) / 9
    worst = 0.0
    for value in np.linspace(0, 1, 21):
        rows = np.vstack([rows_like(7)[:-1], [[value]]])
        laws = [density(data)(centers) for data in (rows_like(7), rows)]
        worst = max(worst, np.abs(np.log(laws[0] / laws[0].sum() / (laws[1] / laws[1].sum()))).max())
    assert worst <= 1.0


class TestNumbersOfThePage:
    """The worked example: g = -(1/2) sum |x - x_i|, n = 20, on grids of 5, 15, 45, 135, 405 cells."""

    sizes = (5, 15, 45, 135, 405)

    def schedule(self):
        return Schedule(target=line(), scale=HALF, sizes=self.sizes, n_rows=N_ROWS)

    def test_hazards_and_survival(self):
        """rho = .135, .513, .801, .929, .976 and P(T > k) = .8647, .4207, .0838, .0060."""
        schedule = self.schedule()
        np.testing.assert_allclose([float(h) for h in schedule.hazards], [0.135, 0.513, 0.801, 0.929, 0.976], atol=5e-4)
        expected = [0.8647, 0.4207, 0.0838, 0.0060]
        np.testing.assert_allclose([float(s) for s in schedule.survival[:4]], expected, atol=5e-5)

    def test_the_running_time_has_the_stated_law_whatever_the_data(self):
        """40,000 runs fit P(T > k), on both neighbours alike, with 53.2 evaluations expected."""
        schedule, taken = self.schedule(), []
        pmf = -np.diff([1.0, *[float(s) for s in schedule.survival]])
        for rows in (rows_like(8), np.vstack([rows_like(8)[:-1], [[1.0]]])):
            counters = Counters()
            points = run_adaptively(
                schedule, rows, Coins.from_seed(4 + len(taken)), n_draws=N_FIT, stop=True, counters=counters
            )[:, 0]
            assert count_p_value(counters.blocks, pmf.tolist()) > ALPHA
            assert fit_p_value(points, density(rows), 0, 1) > ALPHA
            assert fit_p_value(points, density(rows), 0, 1, tilt=TILT) < ALPHA
            taken.append(counters.blocks)
        assert two_sample_p_value(*taken) > ALPHA
        spent = np.cumsum(np.array([*self.sizes, *[405] * 20]) + 1)
        left = [1.0, *[float(s) for s in schedule.survival[:-1]]]
        expected = float(np.sum((np.array(self.sizes) + 1) * left))
        assert expected == pytest.approx(53.2, abs=0.3)
        assert spent[taken[0] - 1].mean() == pytest.approx(expected, rel=0.02)

    def test_output_and_time_are_dependent(self):
        """What is found when the squeeze stops at once has another law: the joint law is not protected."""
        counters = Counters()
        points = run_adaptively(
            self.schedule(), rows_like(8), Coins.from_seed(6), n_draws=N_FIT, stop=True, counters=counters
        )[:, 0]
        assert independence_p_value(points, counters.blocks) < ALPHA

    def test_a_fixed_grid_needs_less(self):
        """Ten cells accept with at least 1/e; and 2 H r**s = 0.1 needs nine proposals for 1e-9."""
        fixed = line(per_side=10).at(HALF, N_ROWS)
        assert float(fixed.acceptance) == pytest.approx(np.exp(-1), rel=1e-9)
        fine = line(per_side=100).at(HALF, N_ROWS)
        assert float(fine.acceptance) == pytest.approx(0.905, abs=5e-4)
        assert block_length(fine.acceptance, Fraction(1, 10**9)) == 9


def test_a_schedule_is_released_with_constant_work():
    """All levels are run whatever happens: counters are the same on neighbours, and the price is within the budget."""
    budget = Approx(epsilon=1, delta="1e-6")
    plan = plan_adaptive(line(), budget=budget, adjacency=Replace(), n_rows=N_ROWS, n_draws=2)
    price = plan.event.price
    assert price.delta <= budget.delta
    assert float(budget.epsilon) - 1e-5 < float(price.epsilon) <= budget.epsilon
    assert plan.schedule.survival[-1] * 2 <= price.delta
    told = []
    for seed, rows in ((1, rows_like(9)), (2, np.ones((N_ROWS, 1)))):
        counters = Counters()
        run_adaptively(plan.schedule, rows, Coins.from_seed(seed), n_draws=2, counters=counters)
        told.append((counters.proposals, counters.evaluations, counters.words, counters.blocks.tolist()))
    assert told[0] == told[1]


def test_a_released_schedule_has_the_exact_law():
    """Draws of the release fit the density at its scale."""
    rows, target = rows_like(10), line()
    ledger = Ledger(
        total=Approx(epsilon=1000, delta="1e-3"), adjacency=Replace(), coins=Coins.from_seed(7), composition="sum"
    )
    released = sample_adaptively(target, rows, budget=Approx(epsilon=1000, delta="1e-3"), ledger=ledger, n_draws=1000)
    assert released.value.points.shape == (1000, 1)
    scale = float(released.event.scale)
    assert fit_p_value(released.value.points[:, 0], density(rows, scale), 0, 1, n_cells=5) > ALPHA
    assert len(ledger.entries) == 1


def test_a_level_that_finds_nothing_leaves_the_default():
    """On grids that almost never accept the answer is the middle of the box, and nothing tells."""
    schedule = Schedule(
        target=line(constant=2000, example=np.full((2000, 1), 0.5)), scale=HALF, sizes=(3,), n_rows=2000
    )
    points = run_adaptively(schedule, rows_like(11, 2000), Coins.from_seed(8), n_draws=200)
    assert np.mean(points[:, 0] == 0.5) > 0.5


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_points_are_in_their_cells(dimension):
    """A public point lies within the stated radius of its cell's center, and every cell and half is hit."""
    box = Box(lower=[-3.0, 0.0, 1e3][:dimension], upper=[1.0, 0.5, 1e3 + 1][:dimension])
    cells = Cells(box, 5)
    coins, size = Coins.from_seed(9), 4_000
    chosen = (coins.words(size) % np.uint64(cells.count)).astype(np.int64)
    points = cells.within(chosen, coins.words(size * dimension).reshape(size, dimension), 64)
    sides = np.array(box.upper) - np.array(box.lower)
    apart = np.abs((points - cells.centers()[chosen]) / sides).max()
    assert 0.099 < apart <= float(cells.radius)
    assert (points >= np.array(box.lower)).all()
    assert (points <= np.array(box.upper)).all()


def test_the_cheapest_grid_balances_cells_and_proposals():
    """No other number of cells has less expected work; a steeper utility has a finer grid."""
    sizes = []
    for constant in (2, 20, 200):
        modulus = Modulus(constant=Fraction(constant))
        best = cheapest_grid(HALF, modulus, 1)
        work = [m + 27.6 * np.exp(constant / 2 / m) for m in range(1, 1000)]
        assert best + 27.6 * np.exp(constant / 2 / best) <= 1.02 * min(work)
        sizes.append(best)
    assert sizes == sorted(sizes)


def silent(points, rows):
    """Return NaN for every private row that is not the example."""
    values = distance(points, rows)
    return np.where(rows.max() > 0.5, np.nan, values)


def test_a_utility_that_fails_on_private_rows_is_the_lowest():
    """NaN everywhere gives a uniform draw; nothing raises or warns."""
    rows = np.ones((N_ROWS, 1))
    target = line(utility=silent)
    drawn = sample(target, rows, budget=Pure(epsilon=1000), adjacency=Replace(), n_draws=1000)
    assert scipy.stats.kstest(drawn.value.points[:, 0], "uniform").pvalue > ALPHA
    points = Discretized(target=target, per_side=4).choose(rows, HALF, Coins.from_seed(10), 2_000)
    assert scipy.stats.kstest(points[:, 0], "uniform").pvalue > ALPHA


def test_policies_and_budgets_go_through_sample():
    """Cool-down, truncation and restart are charged once, at most the budget."""
    for budget, policy in (
        (Pure(epsilon=1), None),
        (Approx(epsilon=1, delta="1e-9"), Truncated()),
        (Approx(epsilon=1, delta="1e-9"), BlockRestart()),
    ):
        released = sample(line(), rows_like(12), budget=budget, adjacency=Replace(), runtime=policy)
        assert released.cost == budget
        assert released.event.claim == "proved"


def steep(points, rows):
    return 30.0 * points[:, 0]


BAD = [
    (lambda: line(bounds=Box(lower=[0] * 4, upper=[1] * 4), example=np.zeros((1, 4))), InvalidArgument, "4 dimensions"),
    (lambda: line(bounds=None), InvalidType, "`bounds`"),
    (lambda: line(bounds=Box(lower=0, upper=1)), InvalidArgument, "`bounds`"),
    (lambda: line(constant=0), InvalidArgument, "`constant`"),
    (lambda: line(constant=float("nan")), InvalidArgument, "`constant`"),
    (lambda: line(exponent=0), InvalidArgument, "`exponent`"),
    (lambda: line(exponent=2), InvalidArgument, "`exponent`"),
    (lambda: line(change=-1), InvalidArgument, "`change`"),
    (lambda: line(error=-1), InvalidArgument, "`error`"),
    (lambda: line(utility=steep), InvalidArgument, "does not dominate"),
    (lambda: line(utility=lambda points, rows: points[:, 0] * np.nan), InvalidArgument, "NaN"),
    (lambda: line(utility=lambda points, rows: points[:, :1] * np.ones((1, 2))), InvalidArgument, "one number a point"),
    (lambda: line(utility=3), InvalidType, "`utility`"),
    (lambda: line(per_side=0), InvalidArgument, "`per_side`"),
    (lambda: line(per_side=2**21), InvalidArgument, "`per_side`"),
    (lambda: line(per_side=1.0), InvalidArgument, "`per_side`"),
    (lambda: Discretized(target=line(), per_side=None), InvalidArgument, "`per_side`"),
    (lambda: Discretized(target=3, per_side=3), InvalidType, "`target`"),
    (lambda: sample_adaptively(3, None, budget=Pure(epsilon=1)), InvalidType, "`target`"),
]


@pytest.mark.parametrize(("make", "kind", "text"), BAD)
def test_bad_declarations_are_refused_by_name(make, kind, text):
    """A modulus that does not hold, a box without end, too many dimensions, NaN: refused where they are declared."""
    with pytest.raises(kind, match=text):
        make()


REFUSED = [line(constant=10**8, example=np.zeros((1, 1))), plane(constant=10**4, example=np.zeros((1, 2)))]


@pytest.mark.parametrize("target", REFUSED)
def test_too_much_work_is_refused_before_any_charge(target):
    """A utility that is too steep for a grid is refused with the expected work, and nothing is charged."""
    ledger = Ledger(total=Pure(epsilon=1), adjacency=Replace())
    with pytest.raises(IncompatiblePlan, match="expected work"):
        sample(target, np.zeros((3, target.dimension)), budget=Pure(epsilon=1), ledger=ledger)
    assert ledger.entries == ()


def test_an_adaptive_run_needs_a_delta_and_a_grid_that_reaches_it():
    """Without a delta, with too few levels, or with too steep a utility the schedule is refused by name."""
    with pytest.raises(IncompatiblePlan, match="no delta"):
        plan_adaptive(line(), budget=Pure(epsilon=1), adjacency=Replace(), n_rows=N_ROWS)
    budget = Approx(epsilon=1, delta="1e-9")
    with pytest.raises(IncompatiblePlan, match="leaves nothing"):
        plan_adaptive(line(), budget=budget, adjacency=Replace(), n_rows=N_ROWS, sizes=[5, 15])
    with pytest.raises(IncompatiblePlan, match="no proposal"):
        nested_sizes(line(constant=10**7), HALF, N_ROWS, Fraction(1, 10**9))
    with pytest.raises(IncompatiblePlan, match="evaluation error"):
        wrong = line(error="0.6")
        plan_adaptive(wrong, budget=budget, adjacency=Replace(), n_rows=N_ROWS, sizes=[100] * 90)


def test_missing_cells_spend_nothing():
    """A NaN among the rows is refused by its column, before the charge."""
    ledger = Ledger(total=Pure(epsilon=1), adjacency=Replace())
    rows = rows_like(13)
    rows[3] = np.nan
    with pytest.raises(InvalidData, match="missing"):
        sample(line(), rows, budget=Pure(epsilon=1), ledger=ledger)
    assert ledger.entries == ()
