"""What every target keeps, as an abstract test class; goodness of fit with a stated power; small targets to run.

Draws of the right law fall below ALPHA once in a thousand seeds, and the seeds are fixed. With N_FIT draws a density
tilted by 5 % up and down in ten cells has a noncentrality of 0.0025 N_FIT = 100 at 9 degrees of freedom: the power at
ALPHA is above 0.9999.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.stats

from discreet.lattice.bounds import Interval
from discreet.privacy.adjacency import Replace
from discreet.privacy.coins import Coins
from discreet.privacy.events.sampling import Runtime, block_length
from discreet.sampling.samplers import Counters, run
from discreet.sampling.targets.bases import Uniform
from discreet.sampling.targets.common_envelopes import BaseProposer, BoundedUtility

ALPHA = 1e-3
N_FIT = 40_000
TILT = 0.05


def fit_p_value(points, density, low, high, *, n_cells=10, tilt=0.0):
    """Return the chi-square p-value of points on a line against an unnormalized density, in cells of equal mass.

    `tilt` moves every other cell's probability up, and the rest down, by that part of it.
    """
    grid = np.linspace(low, high, 200_001)
    values = density((grid[1:] + grid[:-1]) / 2)
    mass = np.concatenate([[0.0], np.cumsum(values)]) / values.sum()
    edges = np.interp(np.linspace(0, 1, n_cells + 1), mass, grid)
    edges[0], edges[-1] = -np.inf, np.inf
    observed = np.histogram(points, edges)[0]
    signs = 1 - 2 * (np.arange(n_cells) % 2)
    expected = points.size / n_cells * (1 + tilt * signs)
    return float(scipy.stats.chisquare(observed, expected).pvalue)


def count_p_value(counts, probabilities):
    """Return the chi-square p-value of counts 1, 2, ... against their probabilities, the rest in the last cell."""
    kept = [p for p in probabilities if p * counts.size >= 10]
    kept[-1] = 1 - sum(kept[:-1])
    observed = [int((counts == k + 1).sum()) for k in range(len(kept) - 1)]
    observed.append(counts.size - sum(observed))
    total = np.array(kept)
    return float(scipy.stats.chisquare(observed, total * counts.size).pvalue)


def independence_p_value(points, counts, *, n_bins=8, n_counts=3):
    """Return the chi-square p-value of a table of points in quantile bins by counts."""
    edges = np.quantile(points, np.linspace(0, 1, n_bins + 1)[1:-1])
    columns = np.minimum(counts, n_counts)
    table = np.zeros((n_bins, n_counts + 1))
    np.add.at(table, (np.searchsorted(edges, points), columns), 1)
    return float(scipy.stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)


def two_sample_p_value(first, second):
    """Return the G-test p-value of two samples of counts."""
    top = int(np.quantile(np.concatenate([first, second]), 0.98)) + 1
    table = np.array([np.bincount(np.minimum(counts, top), minlength=top + 1) for counts in (first, second)])
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] == 1:
        return 1.0
    return float(scipy.stats.chi2_contingency(table, lambda_="log-likelihood").pvalue)


@dataclass(frozen=True, kw_only=True)
class KnownTarget(BoundedUtility):
    """A common envelope over [0, 1] whose normalizer is known, by quadrature, to ten digits."""

    def begin(self, prepared):
        """Return the proposer."""
        return KnownProposer(self, prepared)


class KnownProposer(BaseProposer):
    """Knows the mean of its acceptance."""

    def log_acceptance(self):
        """Return it by quadrature."""
        grid = (np.arange(200_000) + 0.5) / 200_000
        return float(np.log(np.exp(self._scaled.scale * utility(grid[:, None], self._prepared)).mean()))


def utility(points, rows):
    """Return minus the mean distance to the rows, times 4: within [-4, 0] for rows and points in [0, 1]."""
    return -4 * np.abs(points[:, :1] - rows[None, :, 0]).mean(axis=1)


def rows_like(seed, n=10):
    return np.random.default_rng(seed).beta(1, 4, (n, 1))


def neighbour(rows):
    """Return rows of which one is as different as can be."""
    other = rows.copy()
    other[np.argmin(other)] = 1.0
    return other


SCALE = 0.6
LEAST = Fraction(9, 100)  # exp(-4 * 0.6) = 0.0907


def known_target(scale=SCALE, **changes):
    fields = {
        "dimension": 1,
        "acceptance": LEAST,
        "common_envelope": True,
        "default": (0.5,),
        "least_ratio": LEAST,
        "normalizer_error": Fraction(1, 10**9),
        "scale": scale,
        "base": Uniform(Interval(0, 1)),
        "utility": utility,
    }
    return KnownTarget(**(fields | changes))


def density_of(rows, scale=SCALE):
    return lambda x: np.exp(scale * utility(np.asarray(x)[:, None], rows))


def acceptance_of(rows, scale=SCALE):
    grid = (np.arange(100_000) + 0.5) / 100_000
    return float(density_of(rows, scale)(grid).mean())


RUNTIMES = {
    "cool-down": Runtime(
        policy="cool-down", block=block_length(LEAST, Fraction(1, 10**12)), parameter=Fraction(1, 10**6)
    ),
    "short cool-down": Runtime(policy="cool-down", block=3, parameter=Fraction(4, 5)),
    "truncated": Runtime(policy="truncated", block=block_length(LEAST, Fraction(1, 10**6))),
    "block-restart": Runtime(policy="block-restart", block=2),
    "constant": Runtime(policy="constant", block=1, parameter=LEAST, wrong=Fraction(1, 10**9)),
    "squeeze": Runtime(policy="squeeze", block=1, parameter=LEAST / 2, slack=Fraction(1, 2)),
    "plain": Runtime(policy="plain", block=1, parameter=Fraction(1)),
}


def observe(runtime, rows, *, n_draws, seed=1, target=None):
    """Return points on the line and counters of a run."""
    counters = Counters()
    scaled = known_target() if target is None else target
    points = run(scaled, rows, runtime, Coins.from_seed(seed), n_draws=n_draws, counters=counters)
    return points[:, 0], counters


class TargetContract:
    """What every target keeps; a subclass gives `target`, `data`, `neighbour`, `scale` and `adjacency`."""

    adjacency = Replace()
    scale = Fraction(1, 2)
    n_points = 4000

    def target(self):
        """Return the target."""
        raise AssertionError

    def data(self):
        """Return private rows."""
        raise AssertionError

    def neighbour(self):
        """Return a neighbour's rows."""
        raise AssertionError

    def scaled(self, data):
        """Return the target at the class's scale."""
        target = self.target()
        n_rows = target.count(data) if isinstance(self.adjacency, Replace) else None
        return target.at(self.scale, n_rows)

    def ratios(self, data, *, seed=2):
        """Return points and log ratios of proposals."""
        target, scaled = self.target(), self.scaled(data)
        proposer = scaled.begin(target.prepare(data))
        points = proposer.propose(Coins.from_seed(seed), self.n_points)
        return points.values, proposer.log_ratio(points), scaled

    def test_the_envelope_dominates(self):
        """No log ratio is above 0 by more than the declared error."""
        for data in (self.data(), self.neighbour()):
            _, ratios, scaled = self.ratios(data)
            assert ratios.shape == (self.n_points,)
            assert (ratios <= float(scaled.error) + 1e-15).all()

    def test_the_bound_on_acceptance_holds(self):
        """Proposals are accepted at least as often as declared, and at most, within six standard errors."""
        for data in (self.data(), self.neighbour()):
            _, ratios, scaled = self.ratios(data)
            chances = np.exp(np.minimum(ratios, 0.0))
            noise = 6 * chances.std() / np.sqrt(chances.size) + 1e-12
            assert float(scaled.acceptance) <= chances.mean() + noise
            assert float(scaled.acceptance_high) >= chances.mean() - noise

    def test_neighbours_differ_by_the_sensitivity_at_most(self):
        """Under a common envelope log ratios at the same points differ by at most scale times sensitivity."""
        (points, first, scaled), (others, second, _) = self.ratios(self.data()), self.ratios(self.neighbour())
        if scaled.common_envelope:
            assert (points == others).all()
            reach = float(self.scale * self.target().sensitivity(self.adjacency)) + 2 * float(scaled.error) + 1e-12
            assert np.abs(first - second).max() <= reach

    def test_nothing_of_a_point_depends_on_the_others(self):
        """A point evaluated alone has the log ratio that it has among others."""
        target, scaled = self.target(), self.scaled(self.data())
        proposer = scaled.begin(target.prepare(self.data()))
        alone = [proposer.log_ratio(proposer.propose(Coins.from_seed(k), 1))[0] for k in range(5)]
        again = [proposer.log_ratio(proposer.propose(Coins.from_seed(k), 1))[0] for k in range(5)]
        assert alone == again

    def test_it_names_itself_and_its_default_is_a_point(self):
        """The name is a text for the event and the default has the target's dimension."""
        scaled = self.scaled(self.data())
        assert isinstance(self.target().name, str)
        assert self.target().name
        assert len(scaled.default) == self.target().dimension == scaled.dimension
