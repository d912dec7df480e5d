"""Audits of counts: the law, equality between neighbours, and independence of the output."""

import json

import numpy as np
import pytest

from discreet.audit.mechanisms import registry
from discreet.audit.runtime import audit_counts, fits_law, independence, same_law, words_of
from discreet.errors import InvalidArgument
from discreet.privacy.coins import Coins

COINS = Coins.from_seed(11)


def geometric(chance):
    return lambda count: chance * (1 - chance) ** (count - 1)


def sampler(chances, seed=0, leak=0.0):
    """Return a rejection sampler's outputs and counts; with a leak, large outputs take longer."""
    rng = np.random.default_rng(seed)

    def mechanism(data, coins, n_runs):
        outputs = rng.normal(size=n_runs)
        return outputs, rng.geometric(np.where(outputs > 1, chances[data] * (1 - leak), chances[data]))

    return mechanism


def test_a_sampler_whose_count_does_not_know_the_data_passes():
    """One law for both data sets, the claimed one, and independent of the output."""
    verdict = audit_counts(sampler([0.5, 0.5]), 0, 1, law=geometric(0.5), coins=Coins.from_seed(0))
    assert not verdict.violated
    assert len(verdict.findings) == 5
    assert "consistent" in str(verdict)


def test_a_tenth_off_the_law_is_seen():
    """Between data sets, and against the claimed law of either."""
    verdict = audit_counts(sampler([0.5, 0.45]), 0, 1, law=geometric(0.5))
    found = {finding.name: finding.p_value for finding in verdict.findings}
    assert verdict.violated
    assert found["one law of counts"] < 1e-9
    assert found["law of counts, second data set"] < 1e-9
    assert found["law of counts, first data set"] > 1e-6


def test_a_count_that_knows_the_output_is_seen():
    """A marginal test alone would pass it: both data sets have one law of counts."""
    verdict = audit_counts(sampler([0.5, 0.5], leak=0.3), 0, 1)
    found = {finding.name: finding.p_value for finding in verdict.findings}
    assert found["one law of counts"] > 1e-6
    assert found["count against output, first data set"] < 1e-10
    assert verdict.violated


def test_a_fixed_count_is_fixed():
    """A single other one is a violation, exactly."""

    def mechanism(odd):
        def run(data, coins, n_runs):
            return np.zeros(n_runs), np.where((np.arange(n_runs) == 17) & (data == odd), 41, 40)

        return run

    assert not audit_counts(mechanism(odd=7), 0, 1, fixed=True, n_runs=100).violated
    verdict = audit_counts(mechanism(odd=1), 0, 1, fixed=True, n_runs=100)
    assert verdict.violated
    assert verdict.findings[0].statistic == 1


@pytest.mark.parametrize("seed", range(3))
def test_false_alarms_of_the_tests_are_as_rare_as_their_p_values(seed):
    """Of 200 sound samplers about one in ten has a p-value below 0.1, in each test."""
    rng = np.random.default_rng(seed)
    laws, fits, apart = [], [], []
    for _ in range(200):
        first, second = rng.geometric(0.3, size=(2, 2000))
        laws.append(same_law(first, second).p_value)
        fits.append(fits_law(first, geometric(0.3)).p_value)
        apart.append(independence(rng.normal(size=(2000, 2)), first).p_value)
    for p_values in (laws, fits, apart):
        assert 4 <= sum(p_value < 0.1 for p_value in p_values) <= 40


@pytest.mark.parametrize(
    "name",
    ["rounded Laplace", "rounded Gaussian", "symmetric Gaussian", "Wishart difference", "l-infinity K-norm",
     "l2 K-norm", "Gumbel choice of one", "Gram, Laplace, replace", "descent, all columns"],
)  # fmt: skip
def test_our_laws_take_as_many_words_whatever_the_data(name):
    """One public number of words a run, for both neighbours: no draw is refined among so few."""
    case = registry()[name].case()
    verdict = audit_counts(words_of(case.mechanism), case.first, case.second, fixed=True, n_runs=64, coins=COINS)
    assert not verdict.violated


def test_a_law_that_draws_again_is_seen():
    """Whose number of words depends on what it drew."""

    def rejection(data, coins, n_runs):
        while coins.words(1)[0] < 2**63:
            pass
        return np.zeros(n_runs)

    assert audit_counts(words_of(rejection), 0, 1, fixed=True, n_runs=64, coins=COINS).violated
    assert not audit_counts(words_of(rejection), 0, 1, n_runs=64).violated


def test_a_count_that_cannot_be_refutes_the_law():
    """Even once; and counts that the law expects are missed."""
    counts = np.repeat([1, 2], 500)
    assert fits_law(np.append(counts, 3), lambda count: 0.5 * (count in {1, 2})).p_value == 0.0
    assert fits_law(counts, lambda count: 0.5 * (count in {1, 2})).p_value > 0.5
    assert fits_law(counts, lambda count: 1 / 3 * (count in {1, 2, 3})).p_value < 1e-9


def test_one_value_alone_is_no_evidence():
    """Neither law nor dependence can be told from a constant."""
    ones = np.ones(100, np.int64)
    assert same_law(ones, ones).p_value == 1.0
    assert independence(np.arange(100.0)[:, np.newaxis], ones).p_value == 1.0
    assert independence(np.zeros((100, 0)), ones).p_value == 1.0


def test_a_verdict_is_strict_json():
    """Every finding with its p-value."""
    document = json.loads(json.dumps(audit_counts(sampler([0.5, 0.4]), 0, 1).to_json(), allow_nan=False))
    assert document["answer"] == "violated"
    assert len(document["findings"]) == 3
    impossible = audit_counts(lambda _d, _c, n: (np.zeros(n), np.ones(n, int)), 0, 1, law=lambda _count: 0.0)
    assert json.loads(json.dumps(impossible.to_json(), allow_nan=False))["answer"] == "violated"


@pytest.mark.parametrize(
    "found",
    [(np.zeros(5), np.zeros(100, int)), (np.zeros(100), np.zeros(100)), (np.zeros(100), np.zeros((100, 1), int))],
)
def test_a_mechanism_must_return_outputs_and_whole_counts(found):
    """The message says what came instead."""
    with pytest.raises(InvalidArgument, match="whole counts"):
        audit_counts(lambda _data, _coins, _n: found, 0, 1, n_runs=100)
