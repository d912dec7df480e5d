"""K-norm gradient targets: sensitivity by brute force, envelopes, laws against integration, what normalizers change."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.lattice.bounds import Interval
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.coins import Coins
from discreet.privacy.events.k_norm import KNormGradientEvent
from discreet.privacy.events.sampling import Runtime, SamplingEvent
from discreet.sampling.k_norm.rows import GradientSum
from discreet.sampling.k_norm.targets import KNormGradient
from discreet.sampling.mechanisms import plan_target
from discreet.sampling.policies import ConstantAcceptance, CoolDown, Truncated
from discreet.sampling.samplers import Counters, run
from sampling.contract import ALPHA, N_FIT, TILT, TargetContract, fit_p_value, two_sample_p_value

CLIP = 0.5
BUILDERS = {
    "logistic": lambda d, ridge: KNormGradient.logistic(n_columns=d, row_norm=1.0, ridge=ridge),
    "log_cosh": lambda d, ridge: KNormGradient.linear(
        n_columns=d, row_norm=1.0, y_bounds=Interval(-1, 1), clip=CLIP, ridge=ridge
    ),
    "huber": lambda d, ridge: KNormGradient.linear(
        n_columns=d, row_norm=1.0, y_bounds=(-1, 1), clip=CLIP, ridge=ridge, loss="huber"
    ),
}


def table(n, d, *, seed=0, kind="logistic"):
    """Return rows of a linear law within norm 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
    margins = X @ np.linspace(2, -1, d)
    if kind == "logistic":
        return X, (rng.random(n) < 1 / (1 + np.exp(-margins))).astype(float)
    return X, np.clip(margins + 0.3 * rng.normal(size=n), -1, 1)


def moved(data):
    """Return a neighbour: one record replaced by an extreme one."""
    X, y = (array.copy() for array in data)
    X[0] = 0.0
    X[0, 0], y[0] = -1.0, 1.0
    return X, y


class TestLogistic(TargetContract):
    """The contract of targets, for logistic regression."""

    scale = Fraction(1, 4)

    def target(self):
        """The target."""
        return BUILDERS["logistic"](2, 6)

    def data(self):
        """Private rows."""
        return table(60, 2)

    def neighbour(self):
        """A neighbour of them."""
        return moved(self.data())


class TestSmoothlyClipped(TestLogistic):
    """The contract, for log cosh."""

    scale = Fraction(1)

    def target(self):
        """The target."""
        return BUILDERS["log_cosh"](3, 40)

    def data(self):
        """Private rows."""
        return table(60, 3, kind="linear")


class TestHuber(TestSmoothlyClipped):
    """The contract, for Huber's loss."""

    def target(self):
        """The target."""
        return BUILDERS["huber"](3, 40)


class TestMean(TestLogistic):
    """The contract, for a mean."""

    def target(self):
        """The target."""
        return KNormGradient.mean(n_columns=2, row_norm=1.0, center=(0.5, 0.0))

    def data(self):
        """Private rows."""
        return table(60, 2)[0]

    def neighbour(self):
        """A neighbour of them."""
        return moved(table(60, 2))[0]


@pytest.mark.parametrize("kind", BUILDERS)
@given(seed=st.integers(0, 10**6), reach=st.floats(0.01, 1e4))
@settings(max_examples=40)
def test_no_record_moves_the_gradient_further_than_the_sensitivity(kind, seed, reach):
    """Brute force: over random records and parameters the gradient moves by at most the declared number."""
    target, rng = BUILDERS[kind](2, 1), np.random.default_rng(seed)
    X = rng.normal(size=(2, 2)) * rng.choice([0.3, 1, 100])
    y = rng.integers(0, 2, 2).astype(float) if kind == "logistic" else rng.uniform(-3, 3, 2)
    points = rng.normal(size=(20, 2)) * reach
    gradients = [GradientSum(target.prepare((X[k : k + 1], y[k : k + 1])), target.loss, 1.0)(points) for k in range(2)]
    replaced = np.linalg.norm(gradients[0] - gradients[1], axis=1).max()
    alone = np.linalg.norm(gradients[0] - points, axis=1).max()
    slack = 1e-12 * (1 + reach)
    assert replaced <= float(target.sensitivity(Replace())) + slack
    assert alone <= float(target.sensitivity(AddRemove())) + slack


def test_the_sensitivity_is_nearly_reached():
    """Two records nearly along the separating line move the gradient by nearly the declared number."""
    target = BUILDERS["logistic"](2, 1)
    there = [
        GradientSum(target.prepare((np.array([[0.05, x]]), np.array([0.0]))), target.loss, 1.0)(
            np.array([[400.0, 0.0]])
        )
        for x in (0.998, -0.998)
    ]
    assert 1.99 < np.linalg.norm(there[0] - there[1]) <= 2
    assert target.sensitivity(Replace()) == 2


def test_the_bounds_on_acceptance_of_the_issue():
    """d = 2, n = 60, gamma = 6: the squeeze has .0816, the determinant .197, and about .30 are accepted."""
    target, data = BUILDERS["logistic"](2, 6), table(60, 2)
    scaled = target.at(Fraction(1, 4), 60)
    assert round((6 / (6 + 60 / 4)) ** 2, 4) == 0.0816
    assert abs(float(scaled.acceptance) - (6 / (6 + 60 / 8)) ** 2) < 2e-3
    proposer = scaled.begin(target.prepare(data))
    chances = np.exp(proposer.log_ratio(proposer.propose(Coins.from_seed(1), 100_000)))
    assert abs(chances.mean() - 0.303) < 0.02


@pytest.mark.parametrize("kind", BUILDERS)
def test_the_bound_on_acceptance_holds_for_hostile_rows(kind):
    """Rows all alike, orthogonal, or with margins near 0 are accepted at least as often as declared."""
    for data in (
        (np.tile([1.0, 0.0], (50, 1)), np.tile([0.0, 1.0], 25)),
        (np.tile(np.eye(2), (25, 1)), np.tile([0.0, 0.0, 1.0, 1.0], 13)[:50]),
        (np.zeros((50, 2)), np.zeros(50)),
    ):
        target = BUILDERS[kind](2, 5)
        scaled = target.at(Fraction(1), 50)
        proposer = scaled.begin(target.prepare(data))
        chances = np.exp(proposer.log_ratio(proposer.propose(Coins.from_seed(3), 20_000)))
        assert chances.mean() + 6 * chances.std() / np.sqrt(20_000) >= float(scaled.acceptance)
        assert chances.max() <= 1


def plan_of(target, budget, n_rows, **changes):
    told = {"adjacency": Replace(), "runtime": CoolDown(), "n_rows": n_rows} | changes
    return plan_target(target, budget=budget, **told)


def gradient_lengths(target, data, points):
    """Return the lengths of gradients by plain arithmetic."""
    rows = target.prepare(data)
    margins = points @ rows.private_matrix.T
    slopes = target.loss.derivatives(margins, rows.private_y)
    return np.linalg.norm(slopes @ rows.private_matrix + float(target.ridge) * points, axis=1)


@pytest.mark.parametrize("kind", BUILDERS)
def test_draws_on_a_line_have_the_law(kind):
    """In one dimension draws fit the density by integration, and one tilted by 5 % fails."""
    target, data = BUILDERS[kind](1, 30), table(40, 1, kind=kind)
    plan = plan_of(target, Pure(epsilon=N_FIT), 40, n_draws=N_FIT)
    points = plan.draw(plan.measure(data), Coins.from_seed(5)).points[:, 0]

    def density(x):
        lengths = np.concatenate([gradient_lengths(target, data, part[:, None]) for part in np.array_split(x, 50)])
        return np.exp(-float(plan.event.scale) * lengths)

    low, high = points.min() - 1, points.max() + 1
    assert fit_p_value(points, density, low, high) > ALPHA
    assert fit_p_value(points, density, low, high, tilt=TILT) < ALPHA


RUNTIMES = {
    "cool-down": {"block": 40, "parameter": Fraction(1, 10**6)},
    "truncated": {"block": 40},
    "block-restart": {"block": 3},
    "plain": {"block": 1, "parameter": Fraction(1)},
}


@pytest.mark.parametrize("policy", RUNTIMES)
def test_draws_in_two_dimensions_have_the_law_under_every_policy(policy):
    """In two dimensions the lengths of gradients and the first coordinate fit integrals over a fine grid."""
    target, data, n_draws = BUILDERS["logistic"](2, 30), table(50, 2), N_FIT
    scaled = target.at(Fraction(1), 50)
    runtime = Runtime(policy=policy, **RUNTIMES[policy])
    points = run(scaled, target.prepare(data), runtime, Coins.from_seed(6), n_draws=n_draws)
    # A polar grid around the minimizer, where the density has its tip.
    scaled_center = scaled.begin(target.prepare(data))._location._far * float(scaled.grid.step)
    radii, angles = (np.arange(1500) + 0.5) / 1500 * 25 / 30, (np.arange(192) + 0.5) / 192 * 2 * np.pi
    grid = scaled_center + (radii[:, None, None] * np.stack([np.cos(angles), np.sin(angles)], axis=-1)).reshape(-1, 2)
    lengths = np.concatenate([gradient_lengths(target, data, part) for part in np.array_split(grid, 40)])
    weights = np.exp(-lengths) * np.repeat(radii, angles.size)
    for exact, drawn in ((lengths, gradient_lengths(target, data, points)), (grid[:, 0], points[:, 0])):
        order = np.argsort(exact)
        mass = np.cumsum(weights[order]) / weights.sum()
        edges = np.interp(np.linspace(0, 1, 9)[1:-1], mass, exact[order])
        observed = np.bincount(np.searchsorted(edges, drawn), minlength=8)
        assert scipy.stats.chisquare(observed).pvalue > ALPHA
        tilted = n_draws / 8 * (1 + TILT * np.array([1, -1] * 4))
        assert scipy.stats.chisquare(observed, tilted).pvalue < ALPHA


def test_a_mean_is_the_sum_with_l2_noise():
    """A mean is never rejected: its noise has the rate of the event, whatever the rows."""
    data, n_draws = table(50, 3)[0], 20_000
    target = KNormGradient.mean(n_columns=3, row_norm=2.0, center=(1.0, 0.0, -1.0))
    plan = plan_of(target, Pure(epsilon=n_draws), 50, n_draws=n_draws)
    counters = Counters()
    points = plan.observe(plan.measure(data), Coins.from_seed(7), counters).points
    assert counters.proposals == n_draws
    assert float(plan.event.scale) * 2 == 1.0  # two rows of norm 1, in units of the row norm
    shorter = data - [1.0, 0.0, -1.0]
    shorter *= np.minimum(1, 2.0 / np.linalg.norm(shorter, axis=1))[:, None]
    center = shorter.mean(axis=0) + np.array([1.0, 0.0, -1.0])
    lengths = np.linalg.norm(points - center, axis=1) * 50 / 2.0 * float(plan.event.scale)
    assert scipy.stats.kstest(lengths, scipy.stats.gamma(3).cdf).pvalue > ALPHA
    assert scipy.stats.kstest(lengths * 1.05, scipy.stats.gamma(3).cdf).pvalue < ALPHA


def test_a_mean_has_a_constant_acceptance_for_nothing():
    """Its normalizer is known exactly, so `ConstantAcceptance` costs what the output costs."""
    target = KNormGradient.mean(n_columns=1, row_norm=1.0)
    plan = plan_of(target, Pure(epsilon=1), 10, runtime=ConstantAcceptance())
    assert plan.event.price == Pure(epsilon=1)
    assert plan.draw(plan.measure(np.linspace(-1, 1, 10)), Coins.from_seed(1)).point.shape == (1,)


@pytest.mark.parametrize("kind", ["logistic", "log_cosh"])
@given(seed=st.integers(0, 10**6))
@settings(max_examples=15)
def test_normalizers_of_neighbours_are_as_close_as_stated(kind, seed):
    """Brute force on a line: by integration, log normalizers of random neighbours differ by less than is paid for."""
    rng = np.random.default_rng(seed)
    ridge = float(rng.choice([0.5, 2.0, 10.0]))
    target, scale = BUILDERS[kind](1, ridge), float(rng.choice([0.1, 1.0, 5.0]))
    data = table(int(rng.integers(1, 12)), 1, seed=seed, kind=kind)
    other = moved(data)
    reach = 40 / (scale * ridge) + 12 / ridge
    axis = np.linspace(-reach, reach, 200_001)[:, None]
    integrals = [np.exp(-scale * gradient_lengths(target, rows, axis)).sum() for rows in (data, other)]
    stated = float(target.normalizer_change(Replace()))
    assert abs(np.log(integrals[0] / integrals[1])) <= stated * (1 + 1e-6)


def test_the_normalizer_is_what_makes_the_density_sharper():
    """In Pure and Approx the scale nearly doubles where the ridge is large; elsewhere nothing changes."""
    target = BUILDERS["logistic"](2, 600)
    plain = plan_of(BUILDERS["huber"](2, 600), Pure(epsilon=1), 60)
    assert type(plain.event) is SamplingEvent
    assert abs(float(plain.event.scale * plain.event.sensitivity) * 2 - 1) < 1e-5
    for budget in (Pure(epsilon=1), Approx(epsilon=1, delta="1e-6")):
        sharp = plan_of(target, budget, 60, runtime=CoolDown() if isinstance(budget, Pure) else Truncated())
        assert isinstance(sharp.event, KNormGradientEvent)
        assert sharp.event.price <= budget
        assert float(sharp.event.price.epsilon) > 1 - 1e-5
        change = float(target.normalizer_change(Replace()))
        assert abs(float(sharp.event.scale * sharp.event.sensitivity) - (1 - change)) < 1e-4
    for budget in (Zcdp(rho=1), Gdp(mu=1)):
        assert type(plan_of(target, budget, 60).event) is SamplingEvent
    assert type(plan_of(BUILDERS["logistic"](2, 6), Pure(epsilon="1/10"), 60).event) is SamplingEvent
    many = plan_of(target, Pure(epsilon=1), 60, n_draws=4)
    assert many.event.price <= Pure(epsilon=1)


@pytest.mark.parametrize(("kind", "budgets"), [("log_cosh", ["7/10", "21/20", "16/5"]), ("logistic", ["9/10"])])
def test_a_clock_that_costs_more_than_thought_leaves_the_price_within_the_budget(kind, budgets):
    """The density is less sharp by a little; it was an error once."""
    target = KNormGradient.logistic(n_columns=1, row_norm=1.0, ridge=20)
    if kind == "log_cosh":
        target = KNormGradient.linear(n_columns=1, row_norm=1.0, y_bounds=(-8, 8), clip=0.5, ridge=20)
    for epsilon in budgets:
        event = plan_of(target, Pure(epsilon=epsilon), 1, runtime=CoolDown(eta="1/10", s="1/2")).event
        assert isinstance(event, KNormGradientEvent)
        assert 0.99 * float(Fraction(epsilon)) < float(event.price.epsilon) <= float(Fraction(epsilon))


@pytest.mark.parametrize("kind", BUILDERS)
def test_log_ratios_err_by_less_than_is_paid_for(kind):
    """Against 50-digit arithmetic at the exact proposals, log ratios are within the declared error."""
    import mpmath

    target, data = BUILDERS[kind](2, 40), table(30, 2, kind=kind)
    scaled = target.at(Fraction(3), 30)
    rows = target.prepare(data)
    proposer = scaled.begin(rows)
    points = proposer.propose(Coins.from_seed(8), 20)
    ratios = proposer.log_ratio(points)
    location = proposer._location
    with mpmath.workdps(50):
        for index in range(20):
            limits = [location._limits(points, index, column, 3) for column in range(2)]
            theta = [
                (whole + (low + high) / 2) * scaled.grid.step
                for whole, (low, high) in zip(location._whole, limits, strict=True)
            ]
            theta = [mpmath.mpf(entry.numerator) / entry.denominator for entry in theta]
            total = [40 * entry for entry in theta]
            for x, y in zip(rows.private_matrix.tolist(), rows.private_y.tolist(), strict=True):
                slope = exact_slope(kind, theta[0] * x[0] + theta[1] * x[1], y)
                total = [entry + slope * cell for entry, cell in zip(total, x, strict=True)]
            center = [mpmath.mpf(int(whole)) * float(scaled.grid.step) for whole in location._whole]
            distance = mpmath.hypot(theta[0] - center[0], theta[1] - center[1])
            exact = 120 * distance - 3 * (mpmath.hypot(*total) + mpmath.mpf(float(proposer._left)))
            assert abs(exact - mpmath.mpf(float(ratios[index]))) <= float(scaled.error)
    assert float(scaled.error) < 1e-8


def exact_slope(kind, margin, y):
    import mpmath

    if kind == "logistic":
        return 1 / (1 + mpmath.exp(-margin)) - y
    if kind == "log_cosh":
        return CLIP * mpmath.tanh((margin - y) / CLIP)
    return max(-CLIP, min(CLIP, margin - y))


def test_the_center_is_within_what_acceptance_allows_for():
    """The gradient that is left at the center is below its public bound, so acceptance loses next to nothing."""
    for kind, build in BUILDERS.items():
        target, data = build(3, 50), table(400, 3, kind=kind)
        scaled = target.at(Fraction(1), 400)
        proposer = scaled.begin(target.prepare(data))
        assert scaled.scale * proposer._left < 2**-10


def test_truncated_counters_are_the_same_for_neighbours():
    """Truncated runs propose and evaluate as often on neighbours, in the same pieces."""
    target, data = BUILDERS["logistic"](2, 20), table(50, 2)
    plan = plan_of(target, Approx(epsilon=1, delta="1e-6"), 50, runtime=Truncated())
    seen = []
    for rows in (data, moved(data)):
        counters = Counters()
        plan.observe(plan.measure(rows), Coins.from_seed(9), counters)
        seen.append((counters.proposals, counters.words, counters.calls, counters.blocks.tolist()))
    assert seen[0] == seen[1]


def test_counts_of_plain_runs_differ_in_law_and_those_of_cool_down_do_not():
    """Plain's counts of proposals tell two data sets apart; with the default policy one block is enough for both."""
    target, n = BUILDERS["logistic"](1, 5), 60
    scaled = target.at(Fraction(1), n)
    counts = {}
    for policy in ("plain", "cool-down"):
        for name, rows in (
            ("near", (np.ones((n, 1)), np.tile([0.0, 1.0], n // 2))),
            ("far", (np.zeros((n, 1)), np.zeros(n))),
        ):
            counters, told = Counters(), RUNTIMES[policy] | ({"block": 200} if policy == "cool-down" else {})
            runtime = Runtime(policy=policy, **told)
            run(scaled, target.prepare(rows), runtime, Coins.from_seed(10), n_draws=2000, counters=counters)
            counts[policy, name] = counters.blocks
    assert two_sample_p_value(counts["plain", "near"], counts["plain", "far"]) < 1e-6
    assert (counts["cool-down", "near"] == counts["cool-down", "far"]).all()


def test_what_has_no_bound_is_refused_before_a_charge():
    """AddRemove, a ridge too small, a mean without rows: each says what to do."""
    with pytest.raises(IncompatiblePlan, match="AddRemove"):
        plan_of(BUILDERS["logistic"](2, 6), Pure(epsilon=1), None, adjacency=AddRemove())
    with pytest.raises(IncompatiblePlan, match=r"Raise `ridge`"):
        plan_of(BUILDERS["logistic"](5, "1/1000"), Pure(epsilon=1), 10**5)
    with pytest.raises(IncompatiblePlan, match="expected work"):
        plan_of(BUILDERS["logistic"](5, 300), Pure(epsilon=1), 10**5)
    with pytest.raises(IncompatiblePlan, match="Lower the budget"):
        BUILDERS["logistic"](1, 10**4).at(Fraction(10**12), 10**5)
    with pytest.raises(IncompatiblePlan, match="number of rows"):
        KNormGradient.mean(n_columns=1, row_norm=1.0).at(Fraction(1), 0)
    with pytest.raises(IncompatiblePlan, match="AddRemove"):
        KNormGradient.mean(n_columns=1, row_norm=1.0).sensitivity(AddRemove())


@pytest.mark.parametrize("ridge", [0, -1, float("nan"), "1e60"])
def test_a_ridge_must_be_above_0(ridge):
    """Without strong convexity there is no envelope."""
    with pytest.raises(InvalidArgument, match="`ridge`"):
        BUILDERS["logistic"](1, ridge)
