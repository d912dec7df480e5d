"""Power is stated, and right: what spends a tenth more than the stated limit is convicted in nine audits of ten."""

import json
from fractions import Fraction

import numpy as np
import pytest

from discreet.audit.cases.case import AuditCase, overspent
from discreet.audit.distinguish import audit
from discreet.audit.mechanisms import registry
from discreet.audit.one_run import audit_one_run
from discreet.audit.power import FACTORS
from discreet.audit.verdicts import MOST_FACTOR
from discreet.lattice.noise.gaussian import rounded_gaussian
from discreet.lattice.noise.laplace import rounded_laplace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.coins import Coins
from discreet.privacy.curves.tradeoff import TradeoffFunction

SCALE = 2**16
# Overspending that must be convicted is so many times the stated limit.
TENTH_MORE = Fraction(11, 10)


def laplace(times):
    def mechanism(data, coins, n_runs):
        return rounded_laplace(np.full(n_runs, data), scale=Fraction(SCALE) / times, coins=coins)

    return mechanism


def gaussian(times):
    def mechanism(data, coins, n_runs):
        return rounded_gaussian(np.full(n_runs, data), variance=(Fraction(SCALE) / times) ** 2, coins=coins)

    return mechanism


def spread(times):
    """Return Gaussian noise on ten columns, whose sum alone tells the data."""

    def mechanism(data, coins, n_runs):
        columns = np.full((n_runs, 10), round(data / 10**0.5))
        return rounded_gaussian(columns, variance=(Fraction(SCALE) / times) ** 2, coins=coins)

    return mechanism


def half_seen(times):
    """Return Laplace noise whose neighbours show half of what is paid for."""
    return lambda data, coins, n_runs: laplace(times)(data // 2, coins, n_runs)


CASES = {
    "Laplace": (laplace, Pure(epsilon=1), 3000),
    "Laplace, half seen": (half_seen, Pure(epsilon=1), 3000),
    "Gaussian": (gaussian, Gdp(mu=1), 2000),
    "Gaussian, many runs": (gaussian, Gdp(mu=1), 20_000),
    "Gaussian, ten columns": (spread, Gdp(mu=1), 3000),
    "Gaussian, half seen": (lambda times: gaussian(times / 2), Gdp(mu=1), 4000),
    "Gaussian, Zcdp": (gaussian, Zcdp(rho="1/2"), 6000),
    "Gaussian, Approx": (gaussian, Approx(epsilon=1, delta="1/8"), 6000),
}
QUICK = ["Laplace", "Gaussian"]
# Of the registry, those whose neighbours show all, half and little of what is paid for.
ENTRIES = [
    "rounded Laplace, few steps",
    "descent, intercept",
    "descent, threshold that selects",
    "Gumbel choice of one",
]


def share_convicted(make, claim, n_runs, factor, n_audits=10):
    found = [
        audit(make(factor), 0, SCALE, claim, n_runs=n_runs, coins=Coins.from_seed(100 + seed)).violated
        for seed in range(n_audits)
    ]
    return sum(found) / n_audits


def stated(name, *, rehearsed):
    make, claim, n_runs = CASES[name]
    worse = make if rehearsed else None
    verdict = audit(make(1), 0, SCALE, claim, n_runs=n_runs, coins=Coins.from_seed(1), worse=worse)
    assert verdict.answer == "consistent"
    assert verdict.rehearsed is rehearsed
    return verdict.convicts_from


@pytest.mark.parametrize("rehearsed", [True, False])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.nightly) for name in CASES]
)
def test_a_tenth_beyond_the_stated_power_is_convicted_nine_times_of_ten(name, rehearsed):
    """And the limit is no idle one: what spends as claimed, or two fifths of the limit, is not."""
    make, claim, n_runs = CASES[name]
    factor = stated(name, rehearsed=rehearsed)
    assert share_convicted(make, claim, n_runs, factor * TENTH_MORE) >= 0.9
    assert share_convicted(make, claim, n_runs, max(Fraction(1), factor * Fraction(2, 5))) <= 0.1


@pytest.mark.nightly
@pytest.mark.parametrize("name", ENTRIES)
def test_the_power_of_our_own_audits_is_right(name):
    """Planned for a tenth more than the stated limit, ten audits convict nine times."""
    entry = registry()[name]
    verdict = entry.case().run(coins=Coins.from_seed(1))
    assert verdict.rehearsed
    wrong = entry.case(overspent(entry.budget, verdict.convicts_from * TENTH_MORE))
    assert sum(wrong.run(coins=Coins.from_seed(100 + seed)).violated for seed in range(10)) >= 9


def test_more_runs_see_finer():
    """And the text says from what on."""
    factors = []
    for n_runs in (600, 3000, 30_000):
        verdict = audit(laplace(1), 0, SCALE, Pure(epsilon=1), n_runs=n_runs, coins=Coins.from_seed(3), worse=laplace)
        factors.append(verdict.convicts_from)
        assert f"would convict from {float(factors[-1]):g} times" in str(verdict)
    assert factors == sorted(factors, reverse=True)
    assert factors[0] > factors[-1]
    modelled = audit(laplace(1), 0, SCALE, Pure(epsilon=1), n_runs=3000, coins=Coins.from_seed(3))
    assert "if its noise is Gaussian or Laplace" in str(modelled)


@pytest.mark.parametrize("rehearsed", [False, True])
@pytest.mark.parametrize("output", [0.0, np.nan])
def test_outputs_that_show_nothing_are_no_evidence(output, rehearsed):
    """A mechanism that ignores its data, or neighbours that are alike: nothing was seen, and nothing is called so."""

    def mechanism(_data, _coins, n_runs):
        return np.full(n_runs, output)

    worse = (lambda _times: mechanism) if rehearsed else None
    verdict = audit(mechanism, 0, 1, Pure(epsilon=1), n_runs=4000, coins=Coins.from_seed(0), worse=worse)
    assert verdict.answer == "no evidence"
    assert verdict.convicts_from is None
    assert f"would not convict even {MOST_FACTOR} times" in str(verdict)
    assert verdict.to_json()["convicts_from"] is None


def test_equal_data_sets_are_no_evidence():
    """Whatever the noise."""
    verdict = audit(gaussian(1), 7, 7, Gdp(mu=1), n_runs=4000, coins=Coins.from_seed(0), worse=gaussian)
    assert verdict.answer == "no evidence"


def test_so_few_runs_that_nothing_could_be_convicted_are_not_rehearsed():
    """Even outputs that each data set alone can have would leave the claim standing."""

    def worse(times):
        pytest.fail("a rehearsal")

    verdict = audit(laplace(1), 0, SCALE, Pure(epsilon=1), n_runs=80, coins=Coins.from_seed(0), worse=worse)
    assert verdict.answer == "no evidence"
    assert f"at least {verdict.n_needed} runs needed" in str(verdict)
    claim = Pure(epsilon=60)
    lone = audit(laplace(1), 0, SCALE, claim, n_runs=80, coins=Coins.from_seed(0))
    assert "no number of runs will do" in str(lone)


def test_a_conviction_needs_no_power():
    """Nothing is rehearsed, and the verdict names its event."""

    def worse(times):
        pytest.fail("a rehearsal")

    verdict = audit(laplace(4), 0, SCALE, Pure(epsilon=1), n_runs=2000, coins=Coins.from_seed(0), worse=worse)
    assert verdict.violated
    assert verdict.convicts_from is None
    assert verdict.power_text() == "convicted"
    assert "would convict" not in str(verdict)


def test_a_case_takes_its_mechanism_with_less_noise():
    """And its JSON has the factor as a number."""
    case = AuditCase(
        name="mine", mechanism=laplace(1), first=0, second=SCALE, claim=Pure(epsilon=1), n_runs=2000, worse=laplace
    )
    document = json.loads(json.dumps(case.run(coins=Coins.from_seed(0)).to_json(), allow_nan=False))
    assert document["rehearsed"] is True
    assert document["convicts_from"] in [float(factor) for factor in FACTORS]


def test_a_curve_of_one_order_may_be_the_claim():
    """Its power is found on the curve as it stands."""
    curve = Gdp(mu=1).tradeoff()
    assert isinstance(curve, TradeoffFunction)
    verdict = audit(gaussian(1), 0, SCALE, curve, n_runs=3000, coins=Coins.from_seed(0), worse=gaussian)
    assert verdict.answer == "consistent"


def test_an_audit_of_one_run_states_its_power():
    """From so many times on; and none where canaries are few."""

    def run(included, coins):
        noise = rounded_gaussian(np.zeros(included.size, np.int64), variance=Fraction(SCALE**2), coins=coins)
        return included * float(SCALE) + noise

    many = audit_one_run(run, 4000, Pure(epsilon=2), coins=Coins.from_seed(0))
    assert many.answer == "consistent"
    assert f"would convict from {float(many.convicts_from):g} times" in str(many)
    few = audit_one_run(run, 20, Pure(epsilon=2), coins=Coins.from_seed(0))
    assert (few.answer, few.convicts_from) == ("no evidence", None)
    assert "more canaries needed" in str(few)
