"""From a noisy quadratic to a minimiser: the three rules, the warning, and the mean predictor."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as numbers

import discreet as dp
from discreet.functional.repair import RULES, mean_predictor, minimise, warn_if_dominated


def symmetric(size):
    entries = st.integers(-1000, 1000)
    return numbers.arrays(np.int64, (size, size), elements=entries).map(lambda matrix: (matrix + matrix.T) / 7)


def objective(quadratic, linear, w):
    return w @ quadratic @ w - 2 * linear @ w


def test_the_adaptive_ridge_is_no_larger_than_the_noise_makes_necessary():
    """lambda = max(0, nu - lambda_min), so the repaired matrix has a smallest eigenvalue of at least nu."""
    repair = minimise(np.diag([5.0, 1.0, -2.0]), np.ones(3), noise_std=9.0, noise_norm=0.5)
    assert repair.ridge == 2.5
    assert repair.noise_dominated
    assert repair.n_trimmed == 0
    np.testing.assert_allclose(repair.solution, [1 / 7.5, 1 / 3.5, 1 / 0.5])
    calm = minimise(np.diag([5.0, 1.0]), np.ones(2), noise_std=9.0, noise_norm=0.5)
    assert calm.ridge == 0.0
    assert not calm.noise_dominated
    np.testing.assert_allclose(calm.solution, [0.2, 1.0])


def test_the_papers_rule_adds_four_deviations_and_trims():
    """Eigenvalues of at most 0 after the ridge are dropped; the rest is solved in their space."""
    repair = minimise(np.diag([5.0, -3.0, -4.0, -9.0]), np.ones(4), rule="paper", noise_std=1.0, noise_norm=0.0)
    assert (repair.rule, repair.ridge, repair.n_trimmed) == ("paper", 4.0, 2)
    np.testing.assert_allclose(repair.solution, [1 / 9, 1.0, 0.0, 0.0])


def test_the_programs_rule_adds_five_deviations_and_drops_below_its_threshold():
    """Eigenvalues below 1e-8 after the ridge are dropped, though they are above 0."""
    quadratic = np.diag([5.0, -5.0 + 5e-9, -5.0 + 2e-8])
    repair = minimise(quadratic, np.ones(3), rule="paper_code", noise_std=1.0, noise_norm=0.0)
    assert (repair.rule, repair.ridge, repair.n_trimmed) == ("paper_code", 5.0, 1)
    np.testing.assert_allclose(repair.solution, [0.1, 0.0, 1 / 2e-8], rtol=1e-6)


@settings(deadline=None)
@example(np.zeros((4, 4)), "adaptive", 0.0, 1.1125369292536007e-308)
@given(symmetric(4), st.sampled_from(RULES), st.floats(0, 1e6), st.floats(0, 1e6))
def test_every_rule_gives_the_least_norm_minimum_of_what_it_kept(quadratic, rule, noise_std, noise_norm):
    """No direction of the repaired quadratic leads further down, and nothing is ever infinite or NaN."""
    linear = np.array([1.0, -2.0, 3.0, 0.5])
    repair = minimise(quadratic, linear, rule=rule, noise_std=noise_std, noise_norm=noise_norm)
    assert np.isfinite(repair.solution).all()
    assert repair.ridge >= 0
    values, vectors = np.linalg.eigh(quadratic)
    kept = vectors[:, repair.n_trimmed :]
    repaired = quadratic + repair.ridge * np.eye(4)
    gradient = kept.T @ (repaired @ repair.solution - linear)
    size = (np.abs(repaired).max() + 1) * (np.abs(repair.solution).max() + 3)
    assert np.abs(gradient).max(initial=0) <= 1e-9 * size
    assert np.abs(vectors[:, : repair.n_trimmed].T @ repair.solution).max(initial=0) <= 1e-9 * size
    if rule == "adaptive":
        assert values[0] + repair.ridge >= noise_norm * (1 - 1e-9) - 1e-9 * np.abs(values).max(initial=0)


@settings(deadline=None)
@given(symmetric(3))
def test_weyl_the_adaptive_rule_never_loses_a_direction_of_the_data(noise):
    """With a scale of at least the noise's operator norm, every eigenvalue after the repair is above the noise."""
    norm = float(np.linalg.norm(noise, 2))
    data = np.diag([3.0, 1.0, 0.0])
    repair = minimise(data + noise, np.ones(3), noise_std=0.0, noise_norm=norm)
    assert repair.ridge <= 2 * norm * (1 + 1e-9) + 1e-9


def test_a_quadratic_of_nothing_has_the_zero_solution():
    """Without data and without noise no direction gets a share; without columns there is nothing to solve."""
    for rule in RULES:
        nothing = minimise(np.zeros((2, 2)), np.ones(2), rule=rule, noise_std=0.0, noise_norm=0.0)
        assert nothing.solution.tolist() == [0.0, 0.0]
        assert nothing.n_trimmed == 2
        assert minimise(np.zeros((0, 0)), np.zeros(0), rule=rule, noise_std=1.0, noise_norm=1.0).solution.size == 0


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, True, None])
@pytest.mark.parametrize("name", ["noise_std", "noise_norm"])
def test_bad_scales_are_refused_by_name(name, bad):
    """Scales are finite and at least 0."""
    with pytest.raises(dp.InvalidArgument, match=f"`{name}`"):
        minimise(np.eye(2), np.ones(2), **({"noise_std": 1.0, "noise_norm": 1.0} | {name: bad}))


def test_unknown_rules_are_refused():
    """Repeating until bounded is not among them: its number of rounds is private for no epsilon."""
    with pytest.raises(dp.InvalidArgument, match="`rule`"):
        minimise(np.eye(2), np.ones(2), rule="repeat", noise_std=1.0, noise_norm=1.0)


def test_the_warning_is_a_function_of_the_repaired_release():
    """It is emitted exactly where the flag is set, and points at the caller."""
    dominated = minimise(np.diag([5.0, 1.0]), np.ones(2), noise_std=1.0, noise_norm=2.0)
    fit = lambda: warn_if_dominated(dominated)  # noqa: E731
    with pytest.warns(dp.NoiseDominatedWarning, match="does not stand above the privacy noise") as caught:
        fit()
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_dominated(minimise(np.diag([5.0, 3.0]), np.ones(2), noise_std=1.0, noise_norm=2.0))


def test_the_mean_predictor_is_the_regression_on_the_constant_alone():
    """It needs the first row of the release only, and it is the mean where there is no noise."""
    rng = np.random.default_rng(5)
    rows = np.hstack([np.ones((200, 1)), rng.uniform(-1, 1, size=(200, 2))])
    gram = rows.T @ rows
    target = np.array([0.25, 0.0, 0.5])
    assert mean_predictor(gram, target) == pytest.approx((rows @ target).mean())
    assert mean_predictor(gram, target * 100, largest=1.0) in {-1.0, 1.0}
    assert mean_predictor(-gram, target, largest=1.0) == 0.0
    assert abs(mean_predictor(-gram, target, noise_norm=50.0)) < math.inf
    with pytest.raises(dp.InvalidArgument, match="`largest`"):
        mean_predictor(gram, target, largest=-1.0)


def test_nothing_but_a_ridge_beats_a_noisy_eigenvalue_near_zero():
    """A noise eigenvalue just above 0 blows the trimmed solution up; the adaptive one stays of the data's size."""
    noisy = np.diag([100.0, -3.9999])
    linear = np.array([50.0, 1.0])
    paper = minimise(noisy, linear, rule="paper", noise_std=1.0, noise_norm=4.0)
    adaptive = minimise(noisy, linear, noise_std=1.0, noise_norm=4.0)
    assert np.abs(paper.solution).max() > 1000
    assert np.abs(adaptive.solution).max() < 1
    for repair, ridge in ((paper, 4.0), (adaptive, 7.9999)):
        assert objective(noisy + ridge * np.eye(2), linear, repair.solution) <= 0
