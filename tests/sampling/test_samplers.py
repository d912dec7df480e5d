"""The block loop: every policy's law, counters and independence, with power, against closed forms."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.privacy.coins import Coins
from discreet.privacy.events.sampling import Runtime
from discreet.sampling import samplers
from discreet.sampling.samplers import Counters, run
from sampling.contract import (
    ALPHA,
    LEAST,
    N_FIT,
    RUNTIMES,
    TILT,
    acceptance_of,
    count_p_value,
    density_of,
    fit_p_value,
    independence_p_value,
    known_target,
    neighbour,
    observe,
    rows_like,
    two_sample_p_value,
)

ROWS = rows_like(1)


def cool_down_law(eta, s, n):
    """Return P(B = 1), ..., P(B = n): blocks until one does not fail, and the wait."""
    return [(1 - s) * s ** (b - 1) * (1 - eta) * sum((eta / s) ** i for i in range(b)) for b in range(1, n + 1)]


def geometric_law(p, n):
    return [p * (1 - p) ** (k - 1) for k in range(1, n + 1)]


@pytest.mark.parametrize("name", RUNTIMES)
def test_the_output_has_the_targets_law_under_every_policy(name):
    """Draws fit the normalized density, and do not fit one that is tilted by 5 %."""
    points, _ = observe(RUNTIMES[name], ROWS, n_draws=N_FIT)
    assert fit_p_value(points, density_of(ROWS), 0, 1) > ALPHA
    assert fit_p_value(points, density_of(ROWS), 0, 1, tilt=TILT) < ALPHA


def test_a_truncated_run_publishes_its_default_as_often_as_it_fails():
    """With a short block the default appears with probability (1 - p)**N, and the rest has the target's law."""
    points, counters = observe(Runtime(policy="truncated", block=3), ROWS, n_draws=N_FIT)
    failed = points == 0.5
    expected = (1 - acceptance_of(ROWS)) ** 3
    assert abs(failed.mean() - expected) < 4 * np.sqrt(expected / N_FIT)
    assert fit_p_value(points[~failed], density_of(ROWS), 0, 1) > ALPHA
    assert (counters.blocks == 1).all()


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("short cool-down", lambda p: cool_down_law((1 - p) ** 3, 0.8, 60)),
        ("block-restart", lambda p: geometric_law(1 - (1 - p) ** 2, 60)),
        ("constant", lambda _: geometric_law(float(LEAST), 200)),
        ("squeeze", lambda _: geometric_law(float(LEAST) / 2, 400)),
        ("plain", lambda p: geometric_law(p, 60)),
    ],
)
def test_counts_of_blocks_fit_their_closed_form(name, law):
    """The number of blocks has the law of the proof, and not one whose acceptance is 10 % higher."""
    _, counters = observe(RUNTIMES[name], ROWS, n_draws=N_FIT, seed=3)
    p = acceptance_of(ROWS)
    assert count_p_value(counters.blocks, law(p)) > ALPHA
    if name in {"block-restart", "plain"}:
        assert count_p_value(counters.blocks, law(1.1 * p)) < ALPHA


@pytest.mark.parametrize("name", ["short cool-down", "block-restart", "constant", "plain"])
def test_output_and_count_of_blocks_are_independent(name):
    """Where the proof says so, a chi-square of output by blocks finds nothing."""
    points, counters = observe(RUNTIMES[name], ROWS, n_draws=N_FIT, seed=4)
    assert np.unique(counters.blocks).size > 2
    assert independence_p_value(points, counters.blocks) > ALPHA


def test_output_and_time_of_a_squeeze_are_dependent():
    """The same test finds the squeeze: what it publishes at once has another law than what it publishes late."""
    points, counters = observe(RUNTIMES["squeeze"], ROWS, n_draws=N_FIT, seed=4)
    assert independence_p_value(points, counters.blocks) < ALPHA


def test_counters_of_truncated_runs_are_identical_on_adjacent_data():
    """Equal in every call, not only in law."""
    first, second = (observe(RUNTIMES["truncated"], rows, n_draws=300)[1] for rows in (ROWS, neighbour(ROWS)))
    assert (first.proposals, first.evaluations, first.words) == (second.proposals, second.evaluations, second.words)
    assert first.calls == second.calls
    assert (first.blocks == second.blocks).all()


@pytest.mark.parametrize("name", ["cool-down", "constant", "squeeze"])
def test_counts_on_adjacent_data_have_one_law(name):
    """A G-test between adjacent data sets finds nothing where the time is free of the data."""
    samples = [
        observe(RUNTIMES[name], rows, n_draws=20_000, seed=5 + k)[1].blocks
        for k, rows in enumerate((ROWS, neighbour(ROWS)))
    ]
    assert two_sample_p_value(*samples) > ALPHA


def test_the_plain_sampler_is_found_out():
    """The same G-test tells the adjacent data sets of a plain sampler apart: it has power."""
    samples = [
        observe(RUNTIMES["plain"], rows, n_draws=20_000, seed=5 + k)[1].blocks
        for k, rows in enumerate((ROWS, neighbour(ROWS)))
    ]
    assert two_sample_p_value(*samples) < ALPHA


def test_a_long_wait_hides_short_blocks():
    """With a wait of 4/5 and blocks that fail one time in a million adjacent data have one law of blocks."""
    runtime = Runtime(policy="cool-down", block=150, parameter=Fraction(4, 5))
    samples = [
        observe(runtime, rows, n_draws=8000, seed=7 + k)[1].blocks for k, rows in enumerate((ROWS, neighbour(ROWS)))
    ]
    assert two_sample_p_value(*samples) > ALPHA
    assert count_p_value(samples[0], geometric_law(0.2, 80)) > ALPHA


def test_thinning_makes_a_plain_time_longer_and_leaves_the_output():
    """A thinned sampler accepts a third as often, with the same law of outputs."""
    points, counters = observe(Runtime(policy="plain", block=1, parameter=Fraction(1, 3)), ROWS, n_draws=N_FIT)
    assert count_p_value(counters.blocks, geometric_law(acceptance_of(ROWS) / 3, 200)) > ALPHA
    assert fit_p_value(points, density_of(ROWS), 0, 1) > ALPHA


def test_no_block_is_left_early():
    """Proposals, evaluations and words are whole blocks for every draw and block."""
    for name, runtime in RUNTIMES.items():
        _, counters = observe(runtime, ROWS, n_draws=50)
        assert counters.proposals == counters.evaluations == counters.words == counters.blocks.sum() * runtime.block, (
            name
        )
        assert counters.proposals == sum(counters.calls)


def test_long_blocks_are_cut_into_pieces_with_the_same_law(monkeypatch):
    """A block longer than a piece is evaluated piece by piece, all of it, and the first acceptance counts."""
    monkeypatch.setattr(samplers, "PIECE", 5)
    points, counters = observe(Runtime(policy="block-restart", block=12), ROWS, n_draws=3000)
    assert set(counters.calls) == {5, 2}
    assert counters.proposals == counters.blocks.sum() * 12
    assert fit_p_value(points, density_of(ROWS), 0, 1) > ALPHA


def test_what_fails_to_be_a_number_counts_as_the_floor():
    """NaN log ratios never raise and never win; ratios above 0 are accepted as 0."""

    def broken(points, rows):
        return np.where(points[:, 0] < 0.5, np.nan, 5.0)

    points, _ = observe(RUNTIMES["block-restart"], ROWS, n_draws=500, target=known_target(utility=broken))
    assert points.min() >= 0.5


def test_the_floor_is_where_it_was_declared():
    """A log ratio below the floor is accepted with probability exp(floor)."""

    def low(points, rows):
        return np.full(points.shape[0], -1e6)

    target = known_target(utility=low, floor=-1.0)
    _, counters = observe(RUNTIMES["plain"], ROWS, n_draws=20_000, target=target)
    assert count_p_value(counters.blocks, geometric_law(np.exp(-1.0), 60)) > ALPHA


def test_words_of_few_bits_give_the_same_law():
    """With words of eight bits ties and straddles are frequent, and the law stays exact."""
    counters = Counters()
    runtime = Runtime(policy="cool-down", block=3, parameter=Fraction(1, 3))
    uniform = known_target(utility=lambda points, _: np.where(points[:, 0] < 0.5, -1.0, 0.0), scale=1.0)
    points = run(_Coarse(uniform), None, runtime, Coins.from_seed(5, word_bits=8), n_draws=4000, counters=counters)[
        :, 0
    ]
    low = (points < 0.5).mean()
    expected = np.exp(-1.0) / (1 + np.exp(-1.0))
    assert abs(low - expected) < 4 * np.sqrt(expected / 4000)
    p = (1 + np.exp(-1.0)) / 2
    assert count_p_value(counters.blocks, cool_down_law((1 - p) ** 3, 1 / 3, 30)) > ALPHA


class _Coarse:
    """Two points, one bit each: proposals that words of few bits can make."""

    def __init__(self, scaled):
        self.floor, self.default, self.dimension = scaled.floor, scaled.default, 1
        self._scaled = scaled

    def begin(self, prepared):
        proposer = self._scaled.begin(prepared)
        proposer.propose = lambda coins, size: _points((coins.words(size) & np.uint64(1)).astype(float)[:, None])
        return proposer


def _points(values):
    from discreet.sampling.targets.targets import Points

    return Points(values)
