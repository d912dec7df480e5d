"""Adaptive grids: the law of the running time, the law of the output, and releases with constant work."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import IncompatiblePlan, InvalidType
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Approx, Pure
from discreet.privacy.coins import Coins
from discreet.privacy.events.sampling import block_length
from discreet.privacy.ledger import Ledger
from discreet.sampling.samplers import Counters
from sampling.contract import ALPHA, N_FIT, TILT, count_p_value, fit_p_value, independence_p_value, two_sample_p_value
from sampling.on_grids import HALF, N_ROWS, density, line, rows_like
from scripts_for_tests import EXPERIMENTS, script

adaptive_grids = script("adaptive_grids", EXPERIMENTS)
Schedule, nested_sizes, plan_adaptive, run_adaptively, sample_adaptively = (
    getattr(adaptive_grids, name)
    for name in ("Schedule", "nested_sizes", "plan_adaptive", "run_adaptively", "sample_adaptively")
)


class TestNumbersOfThePage:
    """The worked example: g = -(1/2) sum |x - x_i|, n = 20, on grids of 5, 15, 45, 135, 405 cells."""

    sizes = (5, 15, 45, 135, 405)

    def schedule(self):
        """Return the schedule of the worked example."""
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


def test_an_adaptive_run_needs_a_delta_and_a_grid_that_reaches_it():
    """Without a delta, with too few levels, or with too steep a utility the schedule is refused by name."""
    with pytest.raises(IncompatiblePlan, match="no delta"):
        plan_adaptive(line(), budget=Pure(epsilon=1), adjacency=Replace(), n_rows=N_ROWS)
    budget = Approx(epsilon=1, delta="1e-9")
    with pytest.raises(IncompatiblePlan, match="leaves nothing"):
        plan_adaptive(line(), budget=budget, adjacency=Replace(), n_rows=N_ROWS, sizes=[5, 15])
    with pytest.raises(IncompatiblePlan, match="no proposal"):
        nested_sizes(line(constant=10**7), HALF, N_ROWS, Fraction(1, 10**9))
    wrong = line(error="0.6")
    with pytest.raises(IncompatiblePlan, match="evaluation error"):
        plan_adaptive(wrong, budget=budget, adjacency=Replace(), n_rows=N_ROWS, sizes=[100] * 90)


def test_an_adaptive_run_needs_a_target_with_a_grid():
    """What has no grid is refused by name."""
    with pytest.raises(InvalidType, match="`target`"):
        sample_adaptively(3, None, budget=Pure(epsilon=1))
