"""The registry: every mechanism and estimator is audited, none is convicted, and each would be with less noise."""

import inspect
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.audit.cases.case import Entry, Setup, overspent, payer
from discreet.audit.mechanisms import entries_named, registry
from discreet.errors import InvalidArgument
from discreet.privacy.coins import Coins

ENTRIES = list(registry().values())
# Fast enough for every change: with all their runs, honest and overspent.
QUICK = [
    "rounded Laplace", "rounded Laplace, few steps", "rounded Laplace, coarse", "rounded Gaussian",
    "rounded Gaussian, few steps", "rounded Gaussian, coarse", "Gumbel choice of one", "posterior draw",
    "KNG, mean", "Bingham, cool-down",
]  # fmt: skip
# As many runs, and five to forty seconds: by night.
PATIENT = [
    "Gumbel choice of three",
    "l-infinity K-norm",
    "Wishart difference",
    "sample, slopes, cool-down",
    "sample, slopes, truncated",
]
# Whose fits are many; by night.
SLOW = ["PrivateSearch"]
# Whose verdicts say that they are no evidence: half of so few runs rehearse too little.
BLIND = ["PrivateSearch"]
# The fewest runs: whether everything runs, and is not plainly wrong.
FEW = 64


def name_of(entry):
    return entry.name


def test_every_estimator_and_release_of_the_package_is_audited():
    """What can be fitted for a budget, or releases rows, is covered by an entry."""
    covered = {name for entry in ENTRIES for name in entry.covers}
    public = {name: getattr(dp, name) for name in dp.__all__}
    fitted = {name for name, value in public.items() if inspect.isclass(value) and hasattr(value, "fit")}
    paid = {name for name in fitted if "budget" in inspect.signature(public[name]).parameters}
    assert paid <= covered
    assert {"release_moments", "sample", "posterior_draw", "quantile", "median"} <= covered


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.name not in SLOW], ids=name_of)
def test_every_entry_runs(entry):
    """A few runs convict nobody at the suite's confidence."""
    verdict = entry.case().run(n_runs=FEW, coins=Coins.from_seed(3))
    assert not verdict.violated


@pytest.mark.parametrize("name", SLOW)
def test_slow_entries_run_once(name):
    """All that a search shows is numbers."""
    case = registry()[name].case()
    assert np.isfinite(case.mechanism(case.first, Coins.from_seed(0), 1)).all()


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.nightly) for name in PATIENT)])
def test_quick_entries_have_level_and_power(name):
    """As claimed: consistent. With as much less noise as the entry says, or a tenth more than the verdict: violated."""
    entry = registry()[name]
    found = entry.case().run(coins=Coins.from_seed(4))
    assert found.answer == "consistent"
    assert found.rehearsed
    assert found.convicts_from <= 2 * Fraction(entry.tells)
    for times in (Fraction(entry.tells), found.convicts_from * Fraction(11, 10)):
        assert entry.case(overspent(entry.budget, times)).run(coins=Coins.from_seed(2)).violated


@pytest.mark.nightly
@pytest.mark.parametrize("entry", ENTRIES, ids=name_of)
def test_no_unmutated_mechanism_is_convicted(entry):
    """Must hold: at a confidence of 1 - 1e-9 each, which is 1 - 1e-6 over a suite of a thousand; few see nothing."""
    verdict = entry.case().run(coins=Coins.from_seed(4))
    assert verdict.answer == ("no evidence" if entry.name in BLIND else "consistent")


@pytest.mark.nightly
@pytest.mark.parametrize("entry", ENTRIES, ids=name_of)
def test_every_entry_convicts_what_it_says_it_would(entry):
    """Noise smaller by the entry's own factor."""
    assert entry.case(overspent(entry.budget, Fraction(entry.tells))).run(coins=Coins.from_seed(2)).violated


def test_names_are_unique_and_parts_of_them_find_entries():
    """Case does not matter; a whole name means itself alone; no name means all."""
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES)
    assert [entry.name for entry in entries_named(["ROUNDED laplace"])] == ["rounded Laplace"]
    assert len(entries_named(["k-norm", "l2 K-norm"])) == 2
    assert len(entries_named([])) == len(ENTRIES)
    with pytest.raises(InvalidArgument, match="absent"):
        entries_named(["absent"])


def test_a_new_mechanism_is_a_name_a_function_and_a_budget():
    """An entry is planned for what it claims, and audited on what it spends."""

    def make(budget):
        return Setup(lambda data, _coins, n: np.full(n, int(budget.epsilon) * data), 0, 1, budget)

    entry = Entry(name="new", make=make, budget=dp.Pure(epsilon=3))
    case = entry.case(dp.Pure(epsilon=5))
    assert case.claim == dp.Pure(epsilon=3)
    assert case.mechanism(1, None, 2).tolist() == [5, 5]


@pytest.mark.parametrize(
    ("budget", "dearer"),
    [
        (dp.Pure(epsilon=1), dp.Pure(epsilon=3)),
        (dp.Approx(epsilon=1, delta="1/9"), dp.Approx(epsilon=3, delta="1/9")),
        (dp.Zcdp(rho=1), dp.Zcdp(rho=9)),
        (dp.Gdp(mu=1), dp.Gdp(mu=3)),
    ],
    ids=repr,
)
def test_overspending_divides_the_scale_of_the_noise(budget, dearer):
    """In every currency."""
    assert overspent(budget, 3) == dearer


def test_audits_are_paid_by_an_audits_ledger_or_a_test_seed():
    """System coins: a ledger without a total; a seed's: these very coins."""
    assert payer(Coins.from_system(), dp.Pure(epsilon=1), dp.Replace()).label == "not private: audit"
    assert payer(Coins.from_seed(1), dp.Approx(epsilon=1, delta=0.1), dp.Replace()).label == "not private: test seed"
    entry = registry()["FunctionalLinearRegression"]
    assert not entry.case().run(n_runs=64).violated
