"""What the number of blocks of a draw tells, alone and beside the output."""

from dataclasses import replace

import numpy as np
import pytest

from discreet.audit.cases.sampling import SPIKES, counted, plan_of, spike_target
from discreet.audit.runtime import audit_counts
from discreet.privacy.budgets import Approx, Pure
from discreet.privacy.coins import Coins
from discreet.sampling.pca.bingham import Bingham
from discreet.sampling.policies import CoolDown, Truncated
from discreet.sampling.samplers import Counters, run

AXES = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
TARGETS = [(spike_target(), *SPIKES), (Bingham(n_columns=2, row_norm=1.0), *AXES)]


@pytest.mark.parametrize(("target", "first", "second"), TARGETS, ids=lambda value: type(value).__name__)
def test_cool_down_waits_by_its_law_whatever_the_data_and_the_output(target, first, second):
    """One block, and a further one with chance s again and again; a law 10 % off is refused."""
    plan = plan_of(target, first, budget=Pure(epsilon=2), policy=CoolDown(s="1/4"))

    def audited(going):
        def law(blocks):
            return (1 - going) * going ** (blocks - 1) if blocks >= 1 else 0.0

        return audit_counts(counted(plan), first, second, law=law, n_runs=20_000, coins=Coins.from_seed(5))

    assert not audited(0.25).violated
    assert audited(0.275).violated


def test_a_truncated_draw_takes_one_public_number_of_proposals():
    """The same for both data sets."""
    target, first, second = TARGETS[0]
    plan = plan_of(target, first, budget=Approx(epsilon=2, delta="1/20"), policy=Truncated())
    found = audit_counts(counted(plan), first, second, fixed=True, n_runs=2000, coins=Coins.from_seed(5))
    assert not found.violated


def test_a_clock_that_hides_nothing_is_convicted():
    """Blocks so short that they often fail tell the data sets apart by their number alone."""
    target, first, second = TARGETS[0]
    plan = plan_of(target, first, budget=Pure(epsilon=2), policy=CoolDown(s="1/4"))
    hasty = replace(plan.event.runtime, block=1)

    def mechanism(data, coins, n_runs):
        counters = Counters()
        points = run(plan.scaled, plan.measure(data), hasty, coins, n_draws=n_runs, counters=counters)
        return points, counters.blocks

    assert audit_counts(mechanism, first, second, n_runs=20_000, coins=Coins.from_seed(5)).violated
