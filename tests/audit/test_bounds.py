"""Confidence limits: exact binomial sums, and what follows from a pair of limits."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit.bounds import epsilon_below, error_of, mu_below, uniform_width, upper_limits
from discreet.errors import InvalidArgument
from discreet.privacy.budgets import Approx, Gdp, Pure


@pytest.mark.parametrize("error", [0.2, 1e-3, 1e-10])
@pytest.mark.parametrize("n_runs", [1, 7, 60])
def test_a_limit_fails_no_more_often_than_stated(n_runs, error):
    """For every probability the exact binomial sum over all failing counts is at most the error, and comes near it."""
    limits = upper_limits(np.arange(n_runs + 1), n_runs, error)
    worst = 0.0
    for chance in np.linspace(0.001, 0.999, 333):
        failing = limits < chance
        worst = max(worst, float(scipy.stats.binom.pmf(np.flatnonzero(failing), n_runs, chance).sum()))
    assert worst <= error
    assert n_runs == 1 or worst > error / 3


@pytest.mark.parametrize("error", [1e-3, 1e-9, 1e-13])
def test_limits_of_many_runs_are_not_below_the_exact_ones(error):
    """At the limit the binomial sum has fallen to the error, for all sizes."""
    for n_runs in (1000, 33_333, 5_000_000):
        counts = np.unique(np.concatenate([np.arange(40), np.linspace(0, n_runs - 1, 50).astype(int)]))
        limits = upper_limits(counts, n_runs, error)
        inside = limits < 1
        assert (scipy.stats.binom.cdf(counts[inside], n_runs, limits[inside]) <= error * (1 + 1e-9)).all()
        assert (limits[inside] > counts[inside] / n_runs).all()


def test_a_full_count_says_nothing():
    """Where every run had the event its probability may be 1."""
    assert upper_limits([50], 50, 1e-9).tolist() == [1.0]


@pytest.mark.parametrize("error", [0.3, 0.01])
def test_the_uniform_width_holds_at_all_thresholds(error):
    """Of 2000 samples no more than the stated share has its distribution function off by more than the width."""
    rng = np.random.default_rng(0)
    n_runs, places = 50, np.arange(1, 51) / 50
    uniform = np.sort(rng.random((2000, n_runs)), axis=1)
    above = (places - uniform).max(axis=1)
    share = float((above > uniform_width(n_runs, error)).mean())
    assert share <= error + 3 * np.sqrt(error / 2000)
    assert share > error / 4


@given(st.floats(1e-6, 0.999999), st.floats(1e-6, 0.999999), st.floats(0, 0.5))
def test_what_follows_from_two_errors_is_what_the_curves_say(alpha, beta, delta):
    """A claim just above the limit admits the errors, one just below does not."""
    epsilon = float(epsilon_below(np.array(alpha), np.array(beta), delta))
    mu = float(mu_below(np.array(alpha), np.array(beta)))
    if 0.01 < epsilon < 10:
        for factor, admitted in ((1.001, True), (0.999, False)):
            curve = Approx(epsilon=factor * epsilon, delta=delta).tradeoff()
            assert (curve.beta(alpha) <= beta) == admitted
    if 0.01 < mu < 8:
        assert Gdp(mu=1.001 * mu).tradeoff().beta(alpha) <= beta
        assert Gdp(mu=0.999 * mu).tradeoff().beta(alpha) > beta


def test_known_values():
    """Equal errors of Phi(-1/2) are mu = 1; errors of 1/(1 + e) are epsilon = 1; blind errors are nothing."""
    half = scipy.stats.norm.sf(0.5)
    assert mu_below(np.array(half), np.array(half)) == pytest.approx(1.0)
    least = 1 / (1 + np.e)
    assert epsilon_below(np.array(least), np.array(least), 0.0) == pytest.approx(1.0)
    blind = np.array([0.0, 0.3, 1.0])
    assert epsilon_below(blind, 1 - blind, 0.0).tolist() == [0.0, 0.0, 0.0]
    assert mu_below(np.array(1.0), np.array(1.0)) == 0.0
    assert Pure(epsilon=1).tradeoff().beta(least) == pytest.approx(least)


@pytest.mark.parametrize("confidence", [0, 1, 2, -0.5, "nan", float("nan"), True, None])
def test_a_confidence_is_a_probability(confidence):
    """Neither 0 nor 1 nor anything outside is one."""
    with pytest.raises(InvalidArgument, match="confidence"):
        error_of(confidence)
