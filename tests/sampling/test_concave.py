"""Strongly concave targets, and concave ones on a line: envelopes, bounds on acceptance, laws, refusals."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import IncompatiblePlan, InvalidArgument, InvalidType
from discreet.lattice.bounds import Box, Interval
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Pure
from discreet.privacy.coins import Coins
from discreet.privacy.events.sampling import Runtime
from discreet.sampling.mechanisms import sample
from discreet.sampling.samplers import run
from discreet.sampling.targets import log_concave
from discreet.sampling.targets.concave import StronglyConcave
from discreet.sampling.targets.log_concave import LogConcave
from sampling.contract import ALPHA, N_FIT, TILT, TargetContract, fit_p_value, rows_like

POLICIES = {
    "cool-down": {"block": 60, "parameter": Fraction(1, 10**6)},
    "truncated": {"block": 60},
    "block-restart": {"block": 3},
    "plain": {"block": 1, "parameter": Fraction(1)},
}


def bent(points, rows):
    """A parabola with a ripple: second derivatives between -5/2 and -3/2."""
    return -((points**2).sum(axis=1) + np.cos(points - rows.mean()).sum(axis=1) / 2)


def slope_of_bent(points, rows):
    return -(2 * points - np.sin(points - rows.mean()) / 2)


def strongly(columns=2, **changes):
    told = {
        "utility": bent,
        "gradient": slope_of_bent,
        "columns": columns,
        "convexity": "3/2",
        "smoothness": "5/2",
        "reach": 1,
        "change": "1/5",
        "error": "1e-12",
        "gradient_error": "1e-12",
        "example": np.zeros((10, 1)),
    }
    return StronglyConcave(**(told | changes))


def distances(points, rows):
    """Minus the sum of distances and a slight bend: concave, not smooth."""
    return -np.abs(points - rows.T).sum(axis=1) - (points[:, 0] - 0.3) ** 2


def concave(**changes):
    told = {
        "utility": distances,
        "bounds": Interval(0, 1),
        "slope": 12,
        "change": 1,
        "error": Fraction(1, 2**44),
        "example": np.zeros((10, 1)),
    }
    return LogConcave(**(told | changes))


class TestStronglyConcave(TargetContract):
    """The contract of targets, for a normal envelope."""

    scale = Fraction(3, 2)

    def target(self):
        """The target."""
        return strongly()

    def data(self):
        """Private rows."""
        return rows_like(1)

    def neighbour(self):
        """A neighbour of them."""
        return rows_like(2)


class TestConcave(TestStronglyConcave):
    """The contract of targets, on a line."""

    def target(self):
        """The target."""
        return concave()


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", ["strongly", "line"])
def test_draws_have_the_law_under_every_policy(policy, kind):
    """Draws fit the density by integration, and one tilted by 5 % fails."""
    rows = rows_like(3)
    target, utility = (strongly(1), bent) if kind == "strongly" else (concave(), distances)
    runtime = Runtime(policy=policy, **POLICIES[policy])
    scaled = target.at(Fraction(3, 2), 10)
    points = run(scaled, target.prepare(rows), runtime, Coins.from_seed(4), n_draws=N_FIT)[:, 0]
    low, high = (-6, 6) if kind == "strongly" else (0, 1)

    def density(x):
        return np.exp(1.5 * np.concatenate([utility(part[:, None], rows) for part in np.array_split(x, 20)]))

    assert fit_p_value(points, density, low, high) > ALPHA
    assert fit_p_value(points, density, low, high, tilt=TILT) < ALPHA


def test_coordinates_of_a_separable_target_are_independent():
    """In two dimensions both coordinates have the law of one, and a rank correlation of nothing."""
    rows, target = rows_like(3), strongly(2)
    scaled = target.at(Fraction(3, 2), 10)
    runtime = Runtime(policy="block-restart", block=4)
    points = run(scaled, target.prepare(rows), runtime, Coins.from_seed(5), n_draws=N_FIT)

    def density(x):
        return np.exp(1.5 * bent(x[:, None], rows))

    for column in points.T:
        assert fit_p_value(column, density, -6, 6) > ALPHA
    assert scipy.stats.spearmanr(points).pvalue > ALPHA


def test_the_bound_of_a_strongly_concave_target():
    """Acceptance is proved to be (alpha / beta)**(d/2), but for less than a part in 500."""
    for d in (1, 2, 5):
        least = float(strongly(d).at(Fraction(2), 10).acceptance)
        assert 0 < 0.6 ** (d / 2) - least < 0.6 ** (d / 2) / 500


def test_the_universal_bound_on_a_line():
    """Acceptance is proved to be (e - 1)/(e + 1) = .4621, but for less than a part in 1000, at every scale."""
    universal = (np.e - 1) / (np.e + 1)
    assert round(universal, 4) == 0.4621
    for scale in (Fraction(1, 100), Fraction(1), Fraction(50)):
        least = float(concave().at(scale, 10).acceptance)
        assert 0 < universal - least < universal / 1000


@given(seed=st.integers(0, 10**6), scale=st.floats(0.05, 40))
@settings(max_examples=30)
def test_the_envelope_on_a_line_dominates_random_concave_functions(seed, scale):
    """For random minima of lines the log ratio is never above 0, and acceptance never below its bound."""
    rng = np.random.default_rng(seed)
    slopes, heights = rng.uniform(-12, 12, 6), rng.uniform(-2, 2, 6)

    def lowest(points, rows):
        return (points * slopes + heights).min(axis=1)

    target = concave(utility=lowest)
    scaled = target.at(Fraction(scale), 10)
    proposer = scaled.begin(np.zeros((10, 1)))
    points = proposer.propose(Coins.from_seed(seed), 4000)
    ratios = proposer.log_ratio(points)
    assert ratios.max() <= float(scaled.error)
    chances = np.exp(ratios)
    assert chances.mean() + 6 * chances.std() / np.sqrt(4000) >= float(scaled.acceptance)
    accepted = proposer.settle(points, np.flatnonzero(ratios > -np.inf), Coins.from_seed(1))
    assert ((accepted >= 0) & (accepted <= 1)).all()


@pytest.mark.parametrize("at", [0.0, 1.0])
def test_a_mode_at_a_limit_of_the_domain(at):
    """A utility that rises or falls throughout has a one-sided envelope, and the law of an exponential."""

    def line(points, rows):
        return 12 * (points[:, 0] if at else -points[:, 0])

    target = concave(utility=line)
    scaled = target.at(Fraction(1), 10)
    runtime = Runtime(policy="block-restart", block=4)
    points = run(scaled, np.zeros((10, 1)), runtime, Coins.from_seed(6), n_draws=20_000)[:, 0]
    assert fit_p_value(points, lambda x: np.exp(12 * (x if at else -x)), 0, 1) > ALPHA


@pytest.mark.parametrize("bits", [64, 6, 3])
def test_settled_heights_are_exact(bits):
    """With short words every decision is made from longer ones, and settled points stay next to the doubles."""
    target = concave()
    scaled = target.at(Fraction(1), 10)
    proposer = scaled.begin(rows_like(3))
    points = proposer.propose(Coins.from_seed(7, word_bits=bits), 200)
    ratios = proposer.log_ratio(points)
    settled = proposer.settle(points, np.arange(200), Coins.from_seed(8))
    assert np.abs(settled - points.values).max() <= float(proposer._step) / 2**6
    for index in range(200):
        low, high = points.limits(index, 8)
        assert low <= Fraction(points.heights[index]) * (1 + Fraction(1, 2**40))
        assert Fraction(points.heights[index]) <= high * (1 + Fraction(1, 2**40))
        exact = proposer._mode + (proposer._right if points.right[index] else -proposer._left) * low
        assert (0 <= exact <= 2**scaled.bits) == (ratios[index] > -np.inf)
    assert 0 < points.right.sum() < 200
    assert 0 < points.beyond.sum() < 200


@pytest.mark.parametrize("bits", [64, 5])
def test_open_decisions_are_settled_from_longer_words(bits):
    """A height against a rational number, and a rounding, come out as its limits say, both ways."""
    target = concave()
    proposer = target.at(Fraction(1), 10).begin(rows_like(3))
    points = proposer.propose(Coins.from_seed(10, word_bits=bits), 40)
    for index in range(40):
        low, high = points.limits(index, 12)
        side = 1 << 40
        assert log_concave._is_below(points, index, side, int(high * side) + 1)
        assert not log_concave._is_below(points, index, side, int(low * side) - 1)
        whole = log_concave._settle(points, index, side)
        assert abs(whole - low * side) <= Fraction(1, 2) + (high - low) * side
        assert log_concave._settle(points, index, -side) in {-whole, -whole + 1}


def test_a_proposal_next_to_a_rounding_boundary_is_settled_exactly(monkeypatch):
    """Where no double is trusted, every point is settled from its words, and to the same grid point."""
    proposer = concave().at(Fraction(1), 10).begin(rows_like(3))
    points = proposer.propose(Coins.from_seed(11), 30)
    trusted = proposer.settle(points, np.arange(30), Coins.from_seed(1)), proposer.log_ratio(points)
    monkeypatch.setattr(log_concave, "_HEIGHT_ERROR", 1.0)
    slow = proposer.settle(points, np.arange(30), Coins.from_seed(1)), proposer.log_ratio(points)
    assert (trusted[0] == slow[0]).all()
    assert (trusted[1] == slow[1]).all()


def test_a_draw_goes_through_the_door():
    """`sample` charges both targets and returns a point of the right shape, with its notes."""
    for target in (strongly(2), concave()):
        released = sample(target, rows_like(1), budget=Pure(epsilon=1), adjacency=Replace())
        assert released.value.point.shape == (target.dimension,)
        assert released.cost == Pure(epsilon=1)
        assert any("believed" in note for note in released.notes)
        assert target.name in released.event.statistic


def test_a_utility_that_fails_on_private_rows_says_nothing():
    """Where a stranger's function raises or is NaN on private rows, a truncated draw still returns its default."""

    def fails(points, rows):
        if rows.any():
            raise ValueError(rows)
        return bent(points, rows)

    def fails_too(points, rows):
        return slope_of_bent(points, rows) if not rows.any() else np.full(points.shape, np.nan)

    target = strongly(1, utility=fails, gradient=fails_too)
    runtime = Runtime(policy="truncated", block=10)
    points = run(target.at(Fraction(1), 10), rows_like(1), runtime, Coins.from_seed(9))
    assert points.tolist() == [[0.0]]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"convexity": 3}, "`convexity`"),
        ({"convexity": "1/2", "smoothness": "7/5"}, "bends"),
        ({"convexity": 2}, "bends"),
        ({"gradient": bent}, "`gradient`"),
        ({"utility": lambda points, _: np.full(len(points), np.nan)}, "NaN"),
        ({"columns": 0}, "`columns`"),
        ({"reach": 0}, "`reach`"),
        ({"error": -1}, "`error`"),
    ],
)
def test_what_is_seen_to_be_false_of_a_strongly_concave_target_is_refused(changes, text):
    """Curvatures that the example violates at public points, and unusable numbers, are refused by name."""
    with pytest.raises(InvalidArgument, match=text):
        strongly(**({"columns": 1} | changes))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"slope": 3}, "`slope`"),
        ({"utility": lambda points, _: points[:, 0] ** 2}, "not concave"),
        ({"utility": lambda points, _: points}, "one number a point"),
        ({"change": 0}, "`change`"),
    ],
)
def test_what_is_seen_to_be_false_of_a_concave_target_is_refused(changes, text):
    """A utility that is steeper than declared, or convex, is refused by name."""
    with pytest.raises(InvalidArgument, match=text):
        concave(**changes)


def test_an_unbounded_domain_is_refused():
    """The line must be bounded."""
    with pytest.raises(InvalidType, match="`bounds`"):
        concave(bounds=Box(lower=[0], upper=[1]))


def test_scales_beyond_what_a_search_can_do_are_refused_before_a_charge():
    """A huge scale, or curvatures far apart, are too much work, and rough evaluations find no mode."""
    with pytest.raises(IncompatiblePlan, match="no search finds"):
        concave().at(Fraction(10**12), 10)
    with pytest.raises(IncompatiblePlan, match="no search finds"):
        concave(error=1).at(Fraction(1), 10)
    with pytest.raises(IncompatiblePlan, match="factor"):
        strongly(1, convexity="1e-9").at(Fraction(1), 10)
    with pytest.raises(IncompatiblePlan, match="no bound"):
        strongly(1, gradient_error=1).at(Fraction(10**4), 10)
