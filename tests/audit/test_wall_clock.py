"""The clock: advice on made-up times, and the gap between a plain rejection sampler and one of constant work."""

import gc
import json

import numpy as np
import pytest

from discreet.audit.wall_clock import Timings, judge_times, time_pairs
from discreet.errors import InvalidArgument

EMPTY = np.zeros((2000, 0))


def made_up(seed, shift=0.0, outputs=None):
    """Return times with a drift and heavy tails, the second's larger by a shift of nanoseconds."""
    rng = np.random.default_rng(seed)
    drift = 1000 + 300 * np.sin(np.arange(2000) / 100)
    tails = rng.pareto(3, size=(2, 2000)) * 50
    first, second = (drift + tails + rng.normal(0, 20, size=(2, 2000)) + [[0], [shift]]).astype(np.int64)
    outputs = (EMPTY, EMPTY) if outputs is None else outputs
    return Timings(first, second, *outputs)


@pytest.mark.parametrize("seed", range(5))
def test_equal_laws_of_times_do_not_differ(seed):
    """However the machine drifts and stutters."""
    verdict = judge_times(made_up(seed))
    assert not verdict.differs
    assert verdict.interval[0] <= 0 <= verdict.interval[1]
    assert "advisory" in str(verdict)


def test_pairs_see_through_the_drift():
    """A shift of a fifteenth of the drift: pairs tell it."""
    verdict = judge_times(made_up(0, shift=20.0))
    assert verdict.interval[0] > 0
    assert verdict.median_difference == pytest.approx(20e-9, rel=0.4)
    assert judge_times(made_up(0, shift=200.0)).differs


def test_a_time_that_tells_only_beside_the_output_is_found():
    """Both data sets have one law of times and one of outputs; together they tell."""
    rng = np.random.default_rng(0)
    signs = rng.choice([-1.0, 1.0], size=(2, 2000))
    times = 10_000 + 1000 * signs * [[1], [-1]] + rng.normal(0, 100, size=(2, 2000))
    first, second = times.astype(np.int64)
    verdict = judge_times(Timings(first, second, signs[0][:, np.newaxis], signs[1][:, np.newaxis]))
    assert verdict.joint_gain > 0.4
    assert verdict.joint_z > 4.5
    assert abs(verdict.welch_t) < 4.5


def test_constant_times_are_no_evidence():
    """Nothing is divided by a spread of zero."""
    same = np.full(100, 500)
    verdict = judge_times(Timings(same, same, np.zeros((100, 1)), np.zeros((100, 1))))
    assert verdict.welch_t == 0
    assert not verdict.differs
    apart = judge_times(Timings(same, same + 1, np.zeros((100, 1)), np.zeros((100, 1))))
    assert apart.welch_t == float("inf")
    assert apart.differs
    assert "inf" not in json.dumps(apart.to_json()).lower()


def test_pairs_are_timed_in_both_orders():
    """Each pair has both data sets, the first runs are thrown away, and the collector is as it was."""
    seen = []

    def run(data):
        seen.append((data, gc.isenabled()))
        return [float(data)]

    timings = time_pairs(run, 0, 1, n_pairs=50)
    assert timings.first.shape == timings.second.shape == (50,)
    assert len(seen) == 110
    assert not any(enabled for _, enabled in seen)
    assert gc.isenabled()
    starts = [data for data, _ in seen[::2]]
    assert 10 < sum(starts) < 45
    assert timings.first_outputs.tolist() == [[0.0]] * 50
    assert time_pairs(lambda _data: None, 0, 1, n_pairs=40).first_outputs.shape == (40, 0)


def test_the_collector_stays_off_where_it_was():
    """It is the caller's."""
    gc.disable()
    try:
        time_pairs(lambda _data: None, 0, 1, n_pairs=40)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_loop_that_stops_early_is_seen():
    """The plain sampler's time tells its acceptance; grossly, so that it never flakes."""
    rng = np.random.default_rng(0)

    def plain(acceptance):
        tries = rng.geometric(acceptance)
        return float(sum(k * k for k in range(200 * int(tries))) > 0)

    timings = time_pairs(plain, 0.5, 0.1, n_pairs=300)
    assert judge_times(timings).differs


def test_too_few_pairs_are_refused():
    """By name."""
    with pytest.raises(InvalidArgument, match="n_pairs"):
        time_pairs(lambda _data: None, 0, 1, n_pairs=3)
    with pytest.raises(InvalidArgument, match="timings"):
        judge_times(Timings(np.zeros(3, int), np.zeros(3, int), np.zeros((3, 0)), np.zeros((3, 0))))
