"""One run with many canaries: the limits hold, are attained where theory says so, and convict."""

import itertools
import json

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

import discreet as dp
from discreet.audit.canaries import column_canaries
from discreet.audit.one_run import audit_one_run, least_epsilon, right_guess_chance, right_guesses
from discreet.errors import InvalidArgument
from discreet.privacy.coins import Coins


def responses(epsilon, seed=0):
    """Return the mechanism that answers every canary by randomized response: all that epsilon admits."""
    rng = np.random.default_rng(seed)
    truth = np.exp(epsilon) / (1 + np.exp(epsilon))
    return lambda included, _coins: np.where(rng.random(included.size) < truth, included, ~included).astype(float)


def test_the_pure_limit_is_attained_by_randomized_response():
    """Guessing every answer, the number of right ones is exactly the binomial of the limit."""
    epsilon, n = 0.7, 12
    truth = np.exp(epsilon) / (1 + np.exp(epsilon))
    for n_right in range(n + 1):
        exact = scipy.stats.binom.sf(n_right - 1, n, truth)
        assert right_guess_chance(n_right, n, n, epsilon=epsilon, delta=0.0) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("delta", [1e-4, 0.01, 0.2])
@pytest.mark.parametrize(("n_right", "n_guesses", "n_canaries"), [(9, 10, 10), (8, 10, 30), (20, 25, 25), (3, 10, 10)])
def test_the_greedy_limit_is_that_of_the_linear_program(n_right, n_guesses, n_canaries, delta):
    """Over all joint laws of the binomial part and of what delta adds."""
    chance = np.e / (1 + np.e)
    short = np.arange(1, n_right + 1)
    masses = scipy.stats.binom.pmf(n_right - short, n_guesses, chance)
    best = scipy.optimize.linprog(
        -np.ones(n_right), A_ub=[short], b_ub=[n_canaries * delta], bounds=[(0, mass) for mass in masses]
    )
    exact = min(1.0, scipy.stats.binom.sf(n_right - 1, n_guesses, chance) - best.fun)
    found = right_guess_chance(n_right, n_guesses, n_canaries, epsilon=1.0, delta=delta)
    assert found == pytest.approx(exact, rel=1e-6)
    assert found >= exact * (1 - 1e-9)


def test_no_mechanism_that_reveals_now_and_then_passes_the_approximate_limit():
    """Randomized response that with a probability of delta a canary, alone or all at once, tells the truth."""
    epsilon, delta, n = 1.0, 0.03, 8
    truth = np.e / (1 + np.e)
    for n_right in range(1, n + 1):
        plain = scipy.stats.binom.sf(n_right - 1, n, truth)
        at_once = (1 - delta) * plain + delta
        each = scipy.stats.binom.sf(n_right - 1, n, truth + (1 - truth) * delta)
        limit = right_guess_chance(n_right, n, n, epsilon=epsilon, delta=delta)
        assert max(at_once, each) <= limit


def test_the_limit_holds_for_every_small_mechanism():
    """Two canaries, four outputs, random laws: the best guesses never pass the limit at the laws' own epsilon."""
    rng = np.random.default_rng(0)
    worlds = list(itertools.product([False, True], repeat=2))
    for _ in range(200):
        laws = rng.dirichlet(np.full(4, 0.7), size=4)
        pairs = [(i, j) for i, j in itertools.permutations(range(4), 2) if sum(np.array(worlds[i]) != worlds[j]) == 1]
        for delta in (0.0, 0.05):
            epsilon = max(_epsilon(laws[i], laws[j], delta) for i, j in pairs)
            # Of every output the posterior's two most probable coins are guessed.
            both_right = sum(laws[:, output].max() for output in range(4)) / 4
            assert both_right <= right_guess_chance(2, 2, 2, epsilon=epsilon, delta=delta) + 1e-9


def _epsilon(one, other, delta):
    """Return the least epsilon with sum of max(one - e**epsilon * other, 0) <= delta."""
    low, high = 0.0, 60.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if np.maximum(one - np.exp(middle) * other, 0).sum() <= delta else (middle, high)
    return high


def test_the_limit_rises_with_what_is_promised():
    """So that inverting it gives a limit of epsilon."""
    chances = [right_guess_chance(90, 100, 200, epsilon=e, delta=d) for d in (0.0, 1e-3) for e in (0.5, 1.0, 2.0)]
    assert chances[:3] == sorted(chances[:3])
    assert all(one <= other for one, other in zip(chances[:3], chances[3:], strict=True))
    assert right_guess_chance(0, 10, 10, epsilon=1.0, delta=0.0) == 1.0
    found = least_epsilon(90, 100, 100, delta=0.0, error=0.05)
    assert right_guess_chance(90, 100, 100, epsilon=found, delta=0.0) == pytest.approx(0.05, rel=1e-3)
    assert least_epsilon(50, 100, 100, delta=0.0, error=0.05) == 0.0
    assert least_epsilon(1000, 1000, 1000, delta=0.0, error=0.9) < 701


def test_the_largest_scores_are_guessed_in_and_the_smallest_out():
    """NaN is in the middle, like 0."""
    scores = np.array([3.0, -2.0, np.nan, 5.0, -7.0])
    included = np.array([True, False, True, True, True])
    assert right_guesses(scores, included, 2) == 1
    assert right_guesses(scores, included, 3) == 2
    assert right_guesses(scores, included, 4) == 3


def test_false_alarms_are_rarer_than_stated():
    """Of 150 audits of randomized response at its own epsilon at most a tenth is wrong at a confidence of 0.9."""
    run = responses(1.0)
    options = {"confidence": "9/10", "coins": Coins.from_seed(0), "n_guesses": 200}
    verdicts = [audit_one_run(run, 200, dp.Pure(epsilon=1), **options) for _ in range(150)]
    assert 4 < sum(verdict.violated for verdict in verdicts) <= 21
    assert sum(verdict.epsilon > 1 for verdict in verdicts) <= 21


def test_a_larger_epsilon_is_convicted_in_one_run():
    """At the suite's confidence, pure and with a small delta; a thousand canaries."""
    for claim in (dp.Pure(epsilon=1), dp.Approx(epsilon=1, delta="1e-12")):
        options = {"coins": Coins.from_seed(0), "n_guesses": 1000}
        assert audit_one_run(responses(1.0), 1000, claim, **options).answer == "consistent"
        verdict = audit_one_run(responses(2.0), 1000, claim, **options)
        assert verdict.violated
        assert 1 < verdict.epsilon < 2
        assert "guesses right" in str(verdict)


def test_the_number_of_guesses_is_planned_from_the_claim_alone():
    """For Laplace noise few confident guesses tell more than many."""
    rng = np.random.default_rng(0)

    def run(included, coins):
        return 2 * included + rng.laplace(size=included.size)

    verdict = audit_one_run(run, 4000, dp.Pure(epsilon=1), coins=Coins.from_seed(0))
    assert verdict.violated
    assert verdict.n_guesses < 4000
    few = audit_one_run(run, 16, dp.Pure(epsilon=1), coins=Coins.from_seed(0))
    assert few.answer == "no evidence"
    assert audit_one_run(run, 16, dp.Pure(epsilon=700), coins=Coins.from_seed(0)).answer == "no evidence"


def model(budget, adjacency, n=4000, **changes):
    options = {
        "sparsity": n,
        "row_norm": 1,
        "y_bounds": dp.Interval(-8, 8),
        "clip": 0.5,
        "n_steps": 2,
        "step_size": 1.0,
    }
    options |= {"selection": "threshold", "fit_intercept": False, "adjacency": adjacency} | changes
    return dp.SparseLinearRegression(budget=budget, **options)


@pytest.mark.parametrize("adjacency", [dp.Replace(), dp.AddRemove()], ids=repr)
def test_a_sparse_model_is_audited_in_one_run(adjacency):
    """DP-IGHT with 4000 canaries: what it claims it keeps; with a quarter of the noise it is convicted."""
    changes = {} if adjacency == dp.Replace() else {"expected_rows": 2000}
    options = {"coins": Coins.from_seed(1), "confidence": "0.99"}
    for mu, violated in ((1, False), (4, True)):
        run = column_canaries(model(dp.Gdp(mu=mu), adjacency, **changes), 4000, targets=(8.0, -8.0))
        verdict = audit_one_run(run, 4000, dp.Gdp(mu=1), **options)
        assert verdict.violated == violated


def test_a_labelled_model_takes_labels():
    """Frank-Wolfe with a pure budget: its few vertices tell of few canaries."""
    forest = dp.FrankWolfeLogisticRegression(
        budget=dp.Pure(epsilon=1), radius=1.0, n_steps=3, row_norm=1, adjacency=dp.Replace(), classes=("a", "b"),
        fit_intercept=False,
    )  # fmt: skip
    run = column_canaries(forest, 200, targets=("b", "a"))
    verdict = audit_one_run(run, 200, dp.Pure(epsilon=1))
    assert not verdict.violated


def test_a_verdict_is_strict_json():
    """With the claim as an exact budget, or as a curve's text."""
    options = {"coins": Coins.from_seed(0)}
    document = json.loads(json.dumps(audit_one_run(responses(1), 100, dp.Gdp(mu=1), **options).to_json()))
    assert document["claim"] == {"currency": "Gdp", "mu_squared": "1"}
    assert document["delta"] == "1/400000000000"
    assert isinstance(audit_one_run(responses(1), 100, dp.Gdp(mu=1).tradeoff(), **options).to_json()["claim"], str)


@pytest.mark.parametrize(
    ("change", "word"),
    [({"n_canaries": 3}, "n_canaries"), ({"n_guesses": 200}, "n_guesses"), ({"n_guesses": 0}, "n_guesses"),
     ({"confidence": 0}, "confidence"), ({"delta": -1}, "delta"), ({"claim": None}, "claim"),
     ({"mechanism": lambda _included, _coins: np.zeros(3)}, "mechanism")],
)  # fmt: skip
def test_unusable_arguments_are_named(change, word):
    """Each by its name."""
    arguments = {"mechanism": responses(1), "n_canaries": 100, "claim": dp.Pure(epsilon=1)} | change
    with pytest.raises(InvalidArgument, match=f"`{word}`"):
        audit_one_run(**arguments)
