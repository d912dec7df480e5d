"""The audit by events: tight where theory says so, silent on sound mechanisms, and an answer to planted bugs."""

import json
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from discreet.audit.distinguish import audit
from discreet.audit.verdicts import curve_of
from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.noise.gaussian import rounded_gaussian
from discreet.lattice.noise.laplace import rounded_laplace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.coins import Coins
from discreet.privacy.curves.piecewise import PiecewiseLinear
from discreet.privacy.ledger import Ledger

SCALE = 2**16
COINS = {"coins": Coins.from_seed(8)}


def laplace(scale=1):
    def mechanism(data, coins, n_runs):
        return rounded_laplace(np.full(n_runs, data), scale=Fraction(scale * SCALE), coins=coins)

    return mechanism


def gaussian(data, coins, n_runs):
    return rounded_gaussian(np.full(n_runs, data), variance=Fraction(SCALE**2), coins=coins)


def of_floats(draw, seed=0):
    """Return a mechanism of one's own randomness, on a grid of thousandths."""
    rng = np.random.default_rng(seed)
    return lambda data, _coins, n_runs: np.rint(1000 * draw(rng, data, n_runs))


def test_the_limit_of_epsilon_is_tight_for_laplace():
    """Must hold: within 10 % of 1 with a million runs, and never above it."""
    verdict = audit(laplace(), 0, SCALE, Pure(epsilon=1), n_runs=10**6, coins=Coins.from_seed(1))
    assert verdict.answer == "consistent"
    assert 0.9 < verdict.epsilon() <= 1


def test_the_limit_of_mu_is_tight_for_gauss():
    """Must hold: within 10 % of 1 with a million runs, by a threshold at the midpoint, and never above it."""
    verdict = audit(gaussian, 0, SCALE, Gdp(mu=1), n_runs=10**6, coins=Coins.from_seed(1))
    assert verdict.answer == "consistent"
    assert 0.9 < verdict.mu() <= 1
    half = scipy.stats.norm.sf(0.5)
    assert min(np.hypot(e.alpha - half, e.beta - half) for e in verdict.evidence) < 0.1


@pytest.mark.parametrize(
    ("claim", "needed"),
    [(Pure(epsilon=1), 100_000), (Approx(epsilon=1, delta="1e-4"), 100_000), (Zcdp(rho="1/4"), 20_000)],
    ids=repr,
)
def test_a_scale_that_is_a_fifth_too_small_is_convicted(claim, needed):
    """In every currency, with the event that shows it; the right scale is not."""
    mechanism = laplace() if not isinstance(claim, Zcdp) else gaussian
    honest = SCALE if not isinstance(claim, Zcdp) else int(SCALE * np.sqrt(0.5))
    assert audit(mechanism, 0, honest, claim, n_runs=needed, **COINS).answer == "consistent"
    # Zcdp admits more than the Gaussian curve, so a fifth is not enough there.
    wrong = int(honest * (1.2 if not isinstance(claim, Zcdp) else 2.0))
    verdict = audit(mechanism, 0, wrong, claim, n_runs=needed, **COINS)
    assert verdict.violated
    assert "output" in str(verdict.evidence[0])
    assert "seen in" in str(verdict.evidence[0])
    assert verdict.violation() > 0


def test_gaussian_noise_a_tenth_too_small_is_convicted():
    """On mu."""
    assert audit(gaussian, 0, int(1.1 * SCALE), Gdp(mu=1), n_runs=200_000, **COINS).violated


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2))])
def test_false_alarms_are_rarer_than_stated(seed):
    """Of 80 audits of a mechanism that spends all it may, at a confidence of 0.8, hardly any is a false alarm."""
    rng = np.random.default_rng(seed)
    truth = np.e / (1 + np.e)

    def responses(data, coins, n_runs):
        return np.where(rng.random(n_runs) < truth, data, 1 - data)

    verdicts = [audit(responses, 0, 1, Pure(epsilon=1), n_runs=200, confidence="4/5", **COINS) for _ in range(80)]
    assert sum(verdict.violated for verdict in verdicts) <= 10
    assert sum(verdict.epsilon() > 1 for verdict in verdicts) <= 10
    # And limits are near what they bound: most pass half of it.
    assert np.median([verdict.epsilon() for verdict in verdicts]) > 0.4


def test_noise_of_bounded_support_is_convicted_of_any_epsilon():
    """Outputs that one data set alone can have: no scale saves uniform noise."""
    verdict = audit(of_floats(lambda rng, data, n: data + rng.uniform(-8, 8, n)), 0, 1, Pure(epsilon=1), n_runs=4000)
    assert verdict.violated
    assert verdict.evidence[0].n_false == 0 or verdict.evidence[0].n_missed == 0


def test_an_entry_without_noise_is_convicted():
    """The event names the column and the value."""

    def mechanism(data, coins, n_runs):
        noise = rounded_laplace(np.zeros((n_runs, 3), np.int64), scale=Fraction(1000), coins=coins)
        noise[:, 1] = 7 * data
        return noise

    verdict = audit(mechanism, 0, 1, Pure(epsilon=1), n_runs=1000, **COINS)
    assert verdict.violated
    assert "output[1]" in str(verdict.evidence[0])


def test_a_statistic_that_was_coarsened_before_the_noise_is_convicted():
    """Noise on multiples of 64 keeps the statistic's remainder, whatever its scale."""

    def mechanism(data, coins, n_runs):
        return data + 64 * rounded_laplace(np.zeros(n_runs, np.int64), scale=Fraction(10**6), coins=coins)

    verdict = audit(mechanism, 5, 6, Pure(epsilon=1), n_runs=1000, **COINS)
    assert verdict.violated
    assert "modulo 256" in str(verdict.evidence[0])


def test_laplace_noise_in_floats_is_convicted():
    """The last binary digits tell which sum an output is (Mironov 2012); the ideal law would pass."""
    rng = np.random.default_rng(0)
    verdict = audit(lambda data, _coins, n: data + rng.laplace(size=n), 0.0, 1.0, Pure(epsilon=1), n_runs=4000)
    assert verdict.violated
    assert "2**" in str(verdict.evidence[0])


def test_a_difference_spread_over_many_columns_is_found():
    """A classifier sees in ten columns together what no column shows."""
    step = np.full(10, 1 / np.sqrt(10))
    rng = np.random.default_rng(0)

    def mechanism(data, coins, n_runs):
        return np.rint(1000 * (data * step + rng.normal(size=(n_runs, 10))))

    sound = audit(mechanism, 0, 1, Gdp(mu=1), n_runs=40_000, **COINS)
    assert sound.answer == "consistent"
    assert sound.mu() > 0.75
    verdict = audit(mechanism, 0, 1.5, Gdp(mu=1), n_runs=40_000, **COINS)
    assert verdict.violated
    assert "classifier" in str(verdict.evidence[0])


def test_a_difference_in_spread_alone_is_found():
    """Neither data set's outputs are larger, only wider."""
    rng = np.random.default_rng(0)

    def mechanism(data, coins, n_runs):
        return np.rint(1000 * data * rng.normal(size=(n_runs, 3)))

    assert audit(mechanism, 1, 3, Gdp(mu=1), n_runs=4000, **COINS).violated


def test_a_choice_is_judged_by_its_whole_value():
    """Of two columns that are each a fair coin, only both together tell the data."""

    def mechanism(data, coins, n_runs):
        coin = np.random.default_rng(data).integers(2, size=n_runs)
        return np.stack([coin, coin ^ data], axis=1)

    verdict = audit(mechanism, 0, 1, Pure(epsilon=1), n_runs=1000, **COINS)
    assert verdict.violated
    assert "whole output" in str(verdict.evidence[0])


def test_missing_and_infinite_outputs_are_outputs():
    """A mechanism that fails on one data set is convicted of it; nothing raises."""

    def mechanism(data, coins, n_runs):
        return np.where(np.arange(n_runs) % 2, np.nan, np.inf) if data else np.full(n_runs, np.nan)

    verdict = audit(mechanism, 0, 1, Pure(epsilon=1), n_runs=500, **COINS)
    assert verdict.violated
    assert str(verdict.evidence[0]).startswith("output is inf:")
    constant = audit(lambda _data, _coins, n: np.full(n, np.nan), 0, 1, Pure(epsilon=1), n_runs=5000, **COINS)
    assert constant.answer == "no evidence"


def test_too_few_runs_are_called_so():
    """The number that would do is told, and planned where none is given."""
    verdict = audit(laplace(), 0, SCALE, Pure(epsilon=1), n_runs=100, **COINS)
    assert verdict.answer == "no evidence"
    assert f"{verdict.n_needed} runs needed" in str(verdict)
    assert audit(laplace(), 0, SCALE, Pure(epsilon=1), **COINS).n_runs == 4000
    assert audit(laplace(), 0, SCALE, Pure(epsilon=1), excess=1.1, **COINS).n_runs == 4000
    assert audit(laplace(), 0, SCALE, Pure(epsilon="1/10"), excess=1.5, **COINS).n_runs > 100_000


def test_a_curve_can_be_the_claim():
    """Symmetric or not; a curve that is not is claimed of the order in which the data were given."""
    curve = PiecewiseLinear([(0, "1/2"), ("1/4", 0), (1, 0)])
    rng = np.random.default_rng(0)

    def one_sided(data, coins, n_runs):
        return (rng.random(n_runs) < (0.55 if data else 0.0)).astype(float)

    # Seen alpha 0 and beta 0.45: below the curve at 0 in this order, above it in the other.
    assert audit(one_sided, 0, 1, curve, n_runs=20_000, **COINS).violated
    assert not audit(one_sided, 1, 0, curve, n_runs=20_000, **COINS).violated
    assert not audit(gaussian, 0, SCALE, curve_of(Gdp(mu=1)), n_runs=2000, **COINS).violated


def test_a_verdict_is_strict_json():
    """Exact numbers are texts, limits numbers, and nothing is infinite."""
    verdict = audit(laplace(), 0, 2 * SCALE, Pure(epsilon=1), n_runs=4000, name="halved", **COINS)
    document = json.loads(json.dumps(verdict.to_json(), allow_nan=False))
    assert document["name"] == "halved"
    assert document["answer"] == "violated"
    assert document["claim"] == {"currency": "Pure", "epsilon": "1"}
    assert document["confidence"] == "999999999/1000000000"
    assert document["evidence"][0]["beta"] < document["evidence"][0]["claimed_beta"]
    assert len(document["curve"]["alpha"]) == len(document["curve"]["beta"])
    assert isinstance(audit(gaussian, 0, 1, curve_of(Gdp(mu=1)), n_runs=64, **COINS).to_json()["claim"], str)


def test_limits_may_be_asked_at_any_delta():
    """More delta leaves less epsilon; and delta at an epsilon."""
    verdict = audit(laplace(), 0, 2 * SCALE, Pure(epsilon=1), n_runs=20_000, **COINS)
    assert verdict.epsilon("1/10") < verdict.epsilon(0)
    assert 0 < verdict.least_delta(1) < verdict.least_delta(0) < 1
    assert verdict.least_delta(1) <= 1 - np.exp(-0.5)


def test_coins_of_an_audits_ledger_will_do():
    """Nothing is charged to anybody."""
    from privacy.doubles import laplace as event

    coins = Ledger.for_audit().charge(event(1))
    assert not audit(laplace(), 0, SCALE, Pure(epsilon=1), n_runs=500, coins=coins).violated
    assert not audit(laplace(), 0, SCALE, Pure(epsilon=1), n_runs=500).violated


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"n_runs": 10}, "n_runs"),
        ({"confidence": 1}, "confidence"),
        ({"delta": 1}, "delta"),
        ({"power": 1.0}, "power"),
        ({"excess": 1.0}, "excess"),
        ({"excess": float("nan")}, "excess"),
        ({"coins": 3}, "coins"),
        ({"claim": 1}, "claim"),
    ],
)
def test_unusable_arguments_are_named(change, word):
    """Each by its name."""
    arguments = {"claim": Pure(epsilon=1), "n_runs": 100} | COINS | change
    with pytest.raises(InvalidArgument, match=f"`{word}`"):
        audit(laplace(), 0, 1, **arguments)


@pytest.mark.parametrize(
    "found",
    [
        lambda n: np.zeros(n - 1),
        lambda n: np.zeros((n, 2, 2)),
        lambda n: np.array(["a"] * n),
        lambda n: np.zeros((n, 0)),
        lambda _n: 3.0,
    ],
)
def test_a_mechanism_must_return_numbers_of_every_run(found):
    """The message says what came instead."""
    with pytest.raises(InvalidArgument, match="`mechanism` must return"):
        audit(lambda _data, _coins, n: found(n), 0, 1, Pure(epsilon=1), n_runs=100, **COINS)
    with pytest.raises(InvalidArgument, match="as many numbers"):
        audit(lambda data, _coins, n: np.zeros((n, data + 1)), 0, 1, Pure(epsilon=1), n_runs=100, **COINS)


def test_whole_numbers_and_doubles_may_be_mixed():
    """Types that differ between data sets are both read as doubles; unsigned, boolean and narrow numbers too."""
    kinds = [np.float32, np.uint64, np.bool_]
    verdict = audit(lambda data, _coins, n: np.zeros(n, kinds[data]), 0, 2, Pure(epsilon=1), n_runs=100, **COINS)
    assert not verdict.violated
    with pytest.raises(InvalidType):
        audit(laplace(), 0, 1, "epsilon = 1")
