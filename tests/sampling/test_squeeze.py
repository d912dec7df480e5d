"""The squeeze's joint law: a time free of the data that still leaks, and a price that holds."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy.coins import Coins
from discreet.privacy.events.sampling import Runtime, squeeze_epsilon
from discreet.sampling.samplers import Counters, run
from discreet.sampling.targets.targets import Points, Proposer, ScaledTarget
from sampling.contract import ALPHA, count_p_value

# Ridge-logistic K-norm gradient on a line: n = 200 rows with x = 1, ridge 2, beta / alpha = 26, epsilon = 1.
N, RIDGE, BETA, C = 200, 2.0, 52.0, 0.5
RHO = RIDGE / BETA
GRID = np.linspace(-20.0, 30.0, 20_001)
STEP = GRID[1] - GRID[0]


def gradient(theta, ones):
    return N / (1 + np.exp(-theta)) - ones + RIDGE * theta


class Line(Proposer):
    """Laplace proposals around the minimum, the target exp(-c |gradient|), and the squeeze exp(-c beta |distance|)."""

    def __init__(self, ones):
        self.ones = ones
        self.center = scipy.optimize.brentq(lambda t: gradient(np.float64(t), ones), -50, 50)

    def propose(self, coins, size):
        """Return proposals."""
        uniform = (coins.words(size).astype(float) + 0.5) * 2.0**-64
        side = np.where(coins.words(size) & np.uint64(1), 1.0, -1.0)
        return Points((self.center - side * np.log(uniform) / (C * RIDGE))[:, None])

    def log_ratio(self, points):
        """Return target over envelope."""
        theta = points.values[:, 0]
        return C * RIDGE * np.abs(theta - self.center) - C * np.abs(gradient(theta, self.ones))

    def log_squeeze(self, points):
        """Return squeeze over envelope."""
        return -C * (BETA - RIDGE) * np.abs(points.values[:, 0] - self.center)

    def densities(self):
        """Return target and squeeze over the envelope's integral, on the grid."""
        scale = C * RIDGE / 2
        target = scale * np.exp(-C * np.abs(gradient(GRID, self.ones)))
        return target, scale * np.exp(-C * BETA * np.abs(GRID - self.center))


class Scaled(ScaledTarget):
    """Its public numbers; data are how many labels are 1."""

    def begin(self, prepared):
        """Return the proposer."""
        return Line(prepared)


SCALED = Scaled(dimension=1, acceptance=Fraction(1, 27), common_envelope=False, default=(0.0,))
SQUEEZE = Runtime(policy="squeeze", block=1, parameter=Fraction(1, 26), slack=Fraction(1, 2))


def joint(ones, times):
    """Return the joint density of output and time, shape (times, grid)."""
    target, squeeze = Line(ones).densities()
    p = target.sum() * STEP
    t = np.arange(times)[:, None]
    late = RHO * ((1 - RHO) ** t - (1 - p) ** t) / (p - RHO)
    return squeeze * (1 - p) ** t + (target - squeeze) * late


def divergence(first, second, epsilon, times):
    return np.maximum(joint(first, times) - math.exp(epsilon) * joint(second, times), 0).sum() * STEP


@pytest.mark.parametrize(("epsilon", "printed", "within"), [(1.0, 0.066, 0.005), (2.0, 0.022, 0.002)])
def test_the_counterexample_leaks_jointly(epsilon, printed, within):
    """Output alone is 0.585-private and the time has one law, yet the joint delta(1) is 0.066."""
    times = 250
    delta = max(divergence(199, 200, epsilon, times), divergence(200, 199, epsilon, times))
    assert abs(delta - printed) < within
    laws = [Line(ones).densities()[0] for ones in (199, 200)]
    alone = np.log(laws[0] / laws[0].sum()) - np.log(laws[1] / laws[1].sum())
    assert np.abs(alone).max() < 0.586


def test_the_sampler_has_the_counterexamples_joint_law():
    """What the program draws shows the leak: the event of largest gain has the formula's probability."""
    times, draws = 60, 30_000
    gains = joint(200, times) - math.e * joint(199, times)
    if divergence(199, 200, 1.0, 60) > divergence(200, 199, 1.0, 60):
        gains = joint(199, times) - math.e * joint(200, times)
        order = (199, 200)
    else:
        order = (200, 199)
    event = gains > 0
    measured, expected = [], []
    for k, ones in enumerate(order):
        counters = Counters()
        points = run(SCALED, ones, SQUEEZE, Coins.from_seed(20 + k), n_draws=draws, counters=counters)[:, 0]
        assert count_p_value(counters.blocks, [RHO * (1 - RHO) ** t for t in range(300)]) > ALPHA
        inside = counters.blocks <= times
        places = np.clip(np.rint((points - GRID[0]) / STEP).astype(int), 0, GRID.size - 1)
        hits = inside & event[np.minimum(counters.blocks, times) - 1, places]
        measured.append(hits.mean())
        expected.append((joint(ones, times) * event).sum() * STEP)
    for found, wanted in zip(measured, expected, strict=True):
        assert abs(found - wanted) < 4 * math.sqrt(wanted / draws) + 2e-3
    # A lower limit of delta(1), far above what a purely 1-private release could show.
    assert measured[0] - math.e * measured[1] > 0.03


@given(
    st.integers(2, 5).flatmap(
        lambda k: st.tuples(*[st.lists(st.floats(0, 1), min_size=k, max_size=k) for _ in range(3)])
    ),
    st.floats(0.01, 1.0),
    st.floats(0.1, 0.9),
)
def test_no_pair_of_small_laws_costs_more_than_the_price_of_a_squeeze(parts, change, slack):
    """Random acceptance probabilities under one envelope: the joint log-ratio stays below `squeeze_epsilon`."""
    base, places, signs = (np.array(part) for part in parts)
    weights = (base + 0.05) / (base + 0.05).sum()
    least = 0.1
    first = least + places * (math.exp(-change) - least) if math.exp(-change) > least else np.full(base.size, least)
    second = np.clip(first * np.exp((2 * signs - 1) * change), least, 1.0)
    ratio = slack * least
    price = float(squeeze_epsilon(Fraction(change), Fraction(ratio), Fraction(slack)))
    t = np.arange(0, 400)[:, None]

    def law(chances):
        p = float(weights @ chances)
        late = ratio * ((1 - ratio) ** t - (1 - p) ** t) / (p - ratio)
        return weights * (ratio * (1 - p) ** t + (chances - ratio) * late)

    assert np.abs(np.log(law(first) / law(second))).max() <= price + 1e-9
