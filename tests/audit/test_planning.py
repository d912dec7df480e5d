"""How many runs are needed, and whether so many suffice."""

import numpy as np
import pytest

from discreet.audit.distinguish import audit
from discreet.audit.planning import runs_needed
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.coins import Coins
from discreet.privacy.curves.piecewise import PiecewiseLinear

OPTIONS = {"power": 0.9, "error": 1e-4}


@pytest.mark.parametrize(
    "claim", [Gdp(mu=1), Pure(epsilon=1), Zcdp(rho="1/2"), Approx(epsilon=1, delta="1e-5")], ids=repr
)
def test_a_finer_eye_needs_more_runs(claim):
    """The smaller the excess, the larger the power and the confidence, the more runs."""
    curve = claim.tradeoff()
    by_excess = [runs_needed(curve, excess=excess, **OPTIONS) for excess in (1.2, 1.5, 2.0, 4.0)]
    assert by_excess == sorted(by_excess, reverse=True)
    assert runs_needed(curve, excess=1.5, power=0.99, error=1e-4) >= by_excess[1]
    assert runs_needed(curve, excess=1.5, power=0.9, error=1e-9) > by_excess[1]


def test_a_claim_of_next_to_nothing_cannot_be_convicted():
    """Where the curve allows everything no number of runs will do."""
    assert runs_needed(Approx(epsilon=1, delta="999/1000").tradeoff(), excess=2.0, **OPTIONS) is not None
    assert runs_needed(Pure(epsilon=600).tradeoff(), excess=2.0, **OPTIONS) is None
    assert runs_needed(Pure(epsilon=60).tradeoff(), excess=2.0, **OPTIONS) is None
    assert runs_needed(PiecewiseLinear([(0, 0), (1, 0)]), excess=2.0, **OPTIONS) is None


def test_the_planned_runs_have_the_wanted_power():
    """Of forty audits of a Gaussian that is twice as bad, planned for a power of 9 in 10, at least 34 convict."""
    rng = np.random.default_rng(0)

    def mechanism(data, coins, n_runs):
        return np.rint(1000 * (data + rng.normal(size=n_runs)))

    needed = runs_needed(Gdp(mu=1).tradeoff(), excess=2.0, power=0.9, error=1e-3 / 16)
    options = {"n_runs": needed, "confidence": "0.999", "coins": Coins.from_seed(0)}
    convicted = sum(audit(mechanism, 0, 2, Gdp(mu=1), **options).violated for _ in range(40))
    assert convicted >= 34
    fewer = options | {"n_runs": max(64, needed // 6)}
    assert sum(audit(mechanism, 0, 2, Gdp(mu=1), **fewer).violated for _ in range(40)) < 20
