"""From a budget to noise: on the right side of the target for every mechanism, and not wastefully far from it."""

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.functional.gram import plan_gram
from discreet.lattice.grid import Coding, Layout
from discreet.privacy.accounting import convert, gaussian_mu, zcdp_rho
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.curves.composition import compose_plan, part_curve

LAYOUT = Layout(["a", "b"], [Coding.centered(0, 1), Coding.flag()], intercept=True)
NEARLY = Fraction(999, 1000)
epsilons = st.fractions(Fraction(1, 100), 20, max_denominator=1000)
deltas = st.builds(lambda m, k: Fraction(m, 10**k), st.integers(1, 9), st.integers(2, 13))
adjacencies = st.sampled_from([Replace(), AddRemove()])


def planned(budget, adjacency, mechanism="auto"):
    return plan_gram(
        LAYOUT, budget=budget, adjacency=adjacency, mechanism=mechanism, size_is_public=True, statistic="Gram"
    ).event


@settings(max_examples=50, deadline=None)
@given(epsilons, deltas)
def test_numbers_hit_their_target(epsilon, delta):
    """What mu and rho achieve is at most epsilon and at least 0.999 of it, at that delta."""
    for budget in (Gdp(mu=gaussian_mu(epsilon=epsilon, delta=delta)), Zcdp(rho=zcdp_rho(epsilon=epsilon, delta=delta))):
        achieved = convert(budget, Approx, delta=delta).epsilon
        assert NEARLY * epsilon <= achieved <= epsilon


@settings(max_examples=200, deadline=None)
@given(epsilons, deltas, adjacencies)
def test_gaussian_noise_hits_an_approx_target(epsilon, delta, adjacency):
    """For 200 random targets: the exact curve of the noise itself, which is what the release does."""
    curve = part_curve(planned(Approx(epsilon=epsilon, delta=delta), adjacency))
    assert NEARLY * epsilon <= curve.epsilon(delta) <= epsilon


@settings(max_examples=200, deadline=None)
@given(epsilons, adjacencies)
def test_noise_hits_the_other_targets(size, adjacency):
    """Gaussian noise for rho and mu; every law of pure noise for epsilon."""
    for budget, spent in (
        (Zcdp(rho=size), lambda price: price.mu_squared / 2),
        (Gdp(mu=size), lambda price: price.mu),
        (Pure(epsilon=size), lambda price: price.epsilon),
    ):
        asked = budget.mu if isinstance(budget, Gdp) else budget.coordinates[0]
        for mechanism in ("wishart", "laplace", "l_inf") if isinstance(budget, Pure) else ("gaussian",):
            found = spent(planned(budget, adjacency, mechanism).price)
            assert NEARLY * asked <= found <= asked, mechanism


@settings(max_examples=20, deadline=None)
@given(epsilons, deltas, st.integers(1, 20))
def test_a_budget_in_parts_stays_within_it(epsilon, delta, parts):
    """mu**2 divided evenly over a plan's parts composes to the target again, exactly."""
    mu_squared = gaussian_mu(epsilon=epsilon, delta=delta) ** 2
    assume(mu_squared > 0)
    total = compose_plan([Gdp.from_squared(mu_squared / parts)] * parts)
    assert NEARLY * epsilon <= total.epsilon(delta) <= epsilon


def test_no_noise_is_no_guarantee():
    """A budget of zero is refused, never taken for infinite noise or for none."""
    for budget in (Pure(epsilon=0), Approx(epsilon=0, delta=0), Zcdp(rho=0), Gdp(mu=0)):
        with pytest.raises(InvalidArgument, match="`budget`"):
            planned(budget, Replace())
