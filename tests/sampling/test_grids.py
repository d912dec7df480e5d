"""Grids: envelopes from a public modulus, the laws of rejection and of the discretized mechanism, refusals."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from discreet.errors import IncompatiblePlan, InvalidArgument, InvalidData, InvalidType
from discreet.lattice.bounds import Box
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Pure
from discreet.privacy.coins import Coins
from discreet.privacy.events.sampling import Runtime, block_length
from discreet.privacy.ledger import Ledger
from discreet.sampling.grids import Cells, Modulus, cheapest_grid
from discreet.sampling.mechanisms import sample
from discreet.sampling.policies import BlockRestart, Truncated
from discreet.sampling.samplers import Counters, run
from discreet.sampling.targets.holder import Discretized
from sampling.contract import (
    ALPHA,
    N_FIT,
    TILT,
    TargetContract,
    fit_p_value,
    independence_p_value,
)
from sampling.on_grids import HALF, N_ROWS, density, distance, line, plane, root, rows_like


class TestLine(TargetContract):
    """A log-Lipschitz utility on a line, on a chosen grid."""

    def target(self):
        """Return the target."""
        return line()

    def data(self):
        """Return private rows."""
        return rows_like(1)

    def neighbour(self):
        """Return a neighbour's rows."""
        return np.vstack([rows_like(1)[:-1], [[1.0]]])


class TestCoarse(TestLine):
    """The same on few cells."""

    def target(self):
        """Return the target."""
        return line(per_side=4)


class TestPlane(TargetContract):
    """A log-Hoelder utility of exponent 1/2 in two dimensions, under AddRemove."""

    adjacency = AddRemove()

    def target(self):
        """Return the target."""
        return plane()

    def data(self):
        """Return private rows."""
        return rows_like(2, 5, 2)

    def neighbour(self):
        """Return a neighbour's rows."""
        return rows_like(2, 5, 2)[:-1]


class TestSpace(TestPlane):
    """The same in three dimensions, on a box whose sides differ."""

    def target(self):
        """Return the target."""
        return plane(bounds=Box(lower=[0, -1, 4], upper=[1, 1, 5]), example=np.full((5, 3), 0.3), constant=10)

    def data(self):
        """Return private rows."""
        return rows_like(3, 5, 3)

    def neighbour(self):
        """Return a neighbour's rows."""
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


def test_the_discretized_mechanism_is_drawn_by_sample():
    """Its points are charged once, with the number of cells in the event."""
    target = Discretized(target=plane(), per_side=7)
    drawn = sample(target, rows_like(6, 5, 2), budget=Pure(epsilon=1), adjacency=AddRemove(), n_draws=3)
    assert drawn.value.points.shape == (3, 2)
    assert drawn.event.n_candidates == 49
    assert "discretized" in drawn.event.statistic


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
    (lambda: line(utility=lambda points, _: points[:, 0] * np.nan), InvalidArgument, "NaN"),
    (lambda: line(utility=lambda points, _: points[:, :1] * np.ones((1, 2))), InvalidArgument, "one number a point"),
    (lambda: line(utility=3), InvalidType, "`utility`"),
    (lambda: line(per_side=0), InvalidArgument, "`per_side`"),
    (lambda: line(per_side=2**21), InvalidArgument, "`per_side`"),
    (lambda: line(per_side=1.0), InvalidArgument, "`per_side`"),
    (lambda: Discretized(target=line(), per_side=None), InvalidArgument, "`per_side`"),
    (lambda: Discretized(target=3, per_side=3), InvalidType, "`target`"),
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


def test_missing_cells_spend_nothing():
    """A NaN among the rows is refused by its column, before the charge."""
    ledger = Ledger(total=Pure(epsilon=1), adjacency=Replace())
    rows = rows_like(13)
    rows[3] = np.nan
    with pytest.raises(InvalidData, match="missing"):
        sample(line(), rows, budget=Pure(epsilon=1), ledger=ledger)
    assert ledger.entries == ()
