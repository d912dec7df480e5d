"""The rules of a ledger, in memory and in a file alike."""

import copy
import pickle
import sys
from datetime import UTC
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import AdjacencyMismatch, BudgetExceeded, InvalidArgument, InvalidType, NoSoundConversion
from discreet.privacy.accounting import convert, gaussian_delta, gaussian_mu, zcdp_rho
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.coins import Coins
from discreet.privacy.ledger import Ledger
from privacy.doubles import gaussian, laplace, priced

# total, spends, verdicts, what is left: sequences that sums of floats get wrong.
SEQUENCES = [
    ("0.3", ["0.1", "0.2"], [True, True], "0"),
    ("3.3", ["1.1", "2.2"], [True, True], "0"),
    ("1.0", ["0.1"] * 10 + ["1e-16"], [True] * 10 + [False], "0"),
    ("1.0", ["0.7", "0.2", "0.1", "1e-16"], [True, True, True, False], "0"),
    ("1.0", ["0.7", "0.2", "0.2"], [True, True, False], "0.1"),
]


@pytest.fixture(params=["memory", "file"])
def open_ledger(request, tmp_path):
    """Open a ledger of either kind with the same arguments."""

    def opener(total, adjacency=None, **options):
        neighbours = adjacency or Replace()
        if request.param == "memory":
            return Ledger(total=total, adjacency=neighbours, **options)
        return Ledger.open(tmp_path / "book.ledger", total, neighbours, **options)

    return opener


def grants(ledger, event):
    """Whether a charge is granted."""
    try:
        ledger.charge(event)
    except BudgetExceeded:
        return False
    return True


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("budget", [lambda x: Pure(epsilon=x), lambda x: Zcdp(rho=x)])
def test_sums_are_exact(open_ledger, sequence, budget):
    """No false refusal, no admission once used up, and the rest is the exact rational."""
    total, spends, verdicts, rest = sequence
    ledger = open_ledger(budget(total))
    assert [grants(ledger, priced(budget(spend))) for spend in spends] == verdicts
    assert ledger.left == budget(rest)
    assert ledger.spent == budget(Fraction(total) - Fraction(rest))
    assert len(ledger.entries) == sum(verdicts)


def test_floats_mean_their_shortest_decimal(open_ledger):
    """0.1 + 0.2 of 0.3 leaves exactly nothing."""
    ledger = open_ledger(Pure(epsilon=0.3))
    for spend in (0.1, 0.2):
        ledger.charge(priced(Pure(epsilon=spend)))
    assert ledger.left == Pure(epsilon=0)


def test_gdp_adds_by_root_sum_square(open_ledger):
    """3 and 4 make 5, and what is left is exact in mu squared."""
    ledger = open_ledger(Gdp(mu=5))
    ledger.charge(gaussian(9))
    assert ledger.left == Gdp(mu=4)
    ledger.charge(gaussian(16))
    assert ledger.left.is_zero
    assert ledger.composition == "gdp"


def test_a_refusal_says_what_was_asked_what_is_left_and_what_to_do(open_ledger):
    """One sentence a reader can act on."""
    ledger = open_ledger(Zcdp(rho="1/2"))
    ledger.charge(priced(Zcdp(rho="41/160")))
    expected = (
        "Cannot charge Zcdp(rho=1/4): 39/160 of Zcdp(rho=1/2) is left. "
        "Lower `budget`; a larger total for the same people would break the promise that was made to them."
    )
    for ask in (ledger.charge, ledger.quote):
        with pytest.raises(BudgetExceeded) as refusal:
            ask(priced(Zcdp(rho=0.25)))
        assert str(refusal.value) == expected


def test_refusals_in_other_currencies_are_readable(open_ledger):
    """Converted costs and totals are told beside what was asked, long fractions by their size."""
    ledger = open_ledger(Approx(epsilon=1, delta=1e-6), composition="gdp")
    with pytest.raises(BudgetExceeded, match=r"which costs mu\*\*2 = about 1\.51791: mu\*\*2 = about 0\.05\d* of "):
        ledger.charge(laplace(1))
    sums = Ledger(total=Approx(epsilon=1, delta=1e-6), adjacency=Replace(), composition="sum")
    with pytest.raises(BudgetExceeded, match=r"Cannot charge Pure\(epsilon=2\), which costs \(epsilon 2, delta 0\)"):
        sums.charge(laplace(2))
    with pytest.raises(BudgetExceeded, match="Cannot charge Pure of about "):
        Ledger(total=Pure(epsilon=1), adjacency=Replace()).charge(
            priced(Pure(epsilon=Fraction(10**80 + 1, 10**60 + 7)))
        )


def test_a_refused_charge_yields_no_coins(open_ledger):
    """Neither quote nor refused charge leaves a trace."""
    ledger = open_ledger(Pure(epsilon=1))
    assert ledger.quote(laplace("1/2")) == Pure(epsilon="1/2")
    coins = None
    with pytest.raises(BudgetExceeded):
        coins = ledger.charge(laplace(2))
    assert coins is None
    assert ledger.entries == ()
    assert ledger.spent == Pure(epsilon=0)


def test_a_charge_returns_fresh_system_coins(open_ledger):
    """Two charges never share a stream."""
    ledger = open_ledger(Pure(epsilon=1))
    first, second = ledger.charge(laplace("1/4")), ledger.charge(laplace("1/4"))
    assert not first.seeded
    assert list(first.words(4)) != list(second.words(4))
    assert ledger.label == "private"


def test_entries_are_events_kept_whole(open_ledger):
    """What was done, when, and what it cost."""
    ledger = open_ledger(Zcdp(rho=1))
    event = laplace("1/2")
    ledger.charge(event)
    (entry,) = ledger.entries
    assert (entry.number, entry.event, entry.cost) == (1, event, Zcdp(rho="1/8"))
    assert entry.time.tzinfo is UTC or entry.time.utcoffset().total_seconds() == 0


def test_neighbours_must_agree(open_ledger):
    """A guarantee for one relation is none for the other."""
    ledger = open_ledger(Pure(epsilon=1))
    for ask in (ledger.charge, ledger.quote):
        with pytest.raises(
            AdjacencyMismatch, match=r"of the release is AddRemove\(\) and that of the ledger Replace\(\)"
        ):
            ask(laplace("1/2", adjacency=AddRemove()))


def test_a_cost_without_price_is_refused(open_ledger):
    """A ledger in Pure takes no Gaussian release."""
    ledger = open_ledger(Pure(epsilon=1))
    with pytest.raises(NoSoundConversion, match="A ledger in Pure cannot price"):
        ledger.charge(gaussian(1))
    assert ledger.entries == ()


def test_only_events_are_charged(open_ledger):
    """A budget is not an event."""
    with pytest.raises(InvalidType, match="`event` must be an Event"):
        open_ledger(Pure(epsilon=1)).charge(Pure(epsilon=1))


def test_an_approx_total_becomes_the_largest_gdp(open_ledger):
    """The filter's limit keeps the total's delta, and a release of the whole total fits."""
    total = Approx(epsilon=1, delta=1e-6)
    ledger = open_ledger(total)
    mu = gaussian_mu(epsilon=1, delta=1e-6)
    assert ledger.left == Gdp(mu=mu)
    assert gaussian_delta(epsilon=1, mu=mu) <= total.delta
    assert ledger.left_approx.delta == total.delta
    assert Fraction(999, 1000) < ledger.left_approx.epsilon <= 1
    ledger.charge(gaussian(mu**2, budget=total))
    assert ledger.left == Gdp(mu=0)
    assert ledger.left_approx == Approx(epsilon=0, delta=0)


@pytest.mark.parametrize(
    ("total", "composition", "limit"),
    [
        (Approx(epsilon=1, delta=1e-6), "zcdp", Zcdp(rho=zcdp_rho(epsilon=1, delta=1e-6))),
        (Approx(epsilon=1, delta=1e-6), "sum", Approx(epsilon=1, delta=1e-6)),
        (Approx(epsilon=1, delta=0), "auto", Approx(epsilon=1, delta=0)),
        (Pure(epsilon=1), "sum", Pure(epsilon=1)),
        (Zcdp(rho=1), "sum", Zcdp(rho=1)),
        (Zcdp(rho=1), "zcdp", Zcdp(rho=1)),
        (Gdp(mu=1), "gdp", Gdp(mu=1)),
    ],
)
def test_other_compositions(open_ledger, total, composition, limit):
    """Each total may be summed in every currency that proves it."""
    ledger = open_ledger(total, composition=composition)
    assert ledger.left == limit
    assert (ledger.left_approx is not None) == isinstance(total, Approx)


@pytest.mark.parametrize(
    ("total", "composition"),
    [(Pure(epsilon=1), "gdp"), (Gdp(mu=1), "sum"), (Zcdp(rho=1), "gdp"), (Approx(epsilon=1, delta=0), "gdp"),
     (Approx(epsilon=1, delta=0), "zcdp"), (Pure(epsilon=1), "pld")],
)  # fmt: skip
def test_compositions_that_prove_nothing_are_refused(total, composition):
    """The argument and the ones that would do are named."""
    with pytest.raises(InvalidArgument, match="`composition`"):
        Ledger(total=total, adjacency=Replace(), composition=composition)


@pytest.mark.parametrize(
    ("changes", "name"),
    [({"total": 1}, "total"), ({"total": Pure(epsilon=0)}, "total"), ({"adjacency": None}, "adjacency"),
     ({"adjacency": Replace}, "adjacency"), ({"coins": 7}, "coins"), ({"coins": "x"}, "coins")],
)  # fmt: skip
def test_arguments_are_checked_by_name(changes, name):
    """Totals, neighbours and coins."""
    with pytest.raises(InvalidArgument, match=f"`{name}`"):
        Ledger(**({"total": Pure(epsilon=1), "adjacency": Replace()} | changes))


def test_a_ledger_is_no_sequence(open_ledger):
    """scikit-learn would index a sequence, and take an empty one for absent."""
    ledger = open_ledger(Pure(epsilon=1))
    for name in ("__len__", "__iter__", "__getitem__", "__bool__", "shape", "__array__"):
        assert not hasattr(ledger, name)
    assert bool(ledger) is True


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_ledger_refuses_copies(open_ledger, duplicate):
    """A copy would spend one budget twice; the message speaks of cross-validation."""
    ledger = open_ledger(Pure(epsilon=1))
    with pytest.raises(InvalidType, match="cross-validation"):
        duplicate(ledger)
    with pytest.raises(InvalidType, match="threading"):
        copy.deepcopy({"ledger": ledger})


def test_seeded_coins_are_labelled():
    """A release with a test seed says that it is not private, and repeats."""
    words = []
    for _ in range(2):
        ledger = Ledger(total=Pure(epsilon=1), adjacency=Replace(), coins=Coins.from_seed(3))
        assert ledger.label == "not private: test seed"
        words.append(list(ledger.charge(laplace("1/2")).words(4)))
    assert words[0] == words[1]
    assert Ledger(total=Pure(epsilon=1), adjacency=Replace(), coins=Coins.from_system()).label == "private"


def test_an_audit_grants_all_and_says_so():
    """No total, any neighbours, system coins, its own label."""
    ledger = Ledger.for_audit()
    assert ledger.label == "not private: audit"
    for event in (laplace(1000), gaussian(9, adjacency=AddRemove())):
        assert ledger.quote(event) == event.budget
        assert not ledger.charge(event).seeded
    assert len(ledger.entries) == 2
    assert ledger.total is ledger.adjacency is ledger.spent is ledger.left is ledger.left_approx is None
    assert ledger.composition is None
    assert repr(ledger) == "Ledger.for_audit()"
    assert ledger.to_json()["total"] is None


def test_texts_hold_no_float(open_ledger):
    """Frame, JSON and repr show exact rationals."""
    ledger = open_ledger(Pure(epsilon=0.3))
    ledger.charge(laplace("0.1"))
    frame = ledger.to_frame()
    assert list(frame["cost"]) == ["Pure(epsilon=1/10)"]
    assert list(frame["kind"]) == ["laplace"]
    document = ledger.to_json()
    assert document["left"] == {"currency": "Pure", "epsilon": "1/5"}
    assert document["entries"][0]["cost"] == {"currency": "Pure", "epsilon": "1/10"}
    assert "total=Pure(epsilon=3/10), adjacency=Replace()" in repr(ledger)


def test_a_frame_without_pandas_names_the_package(monkeypatch):
    """The package is no dependency, so its absence is said plainly."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        Ledger(total=Pure(epsilon=1), adjacency=Replace()).to_frame()


# Of a budget that is used.
SMALLEST = Fraction(1, 10**30)


@settings(max_examples=50, deadline=None)
@given(st.fractions(SMALLEST, 2), st.lists(st.fractions(SMALLEST, 1), max_size=8))
def test_the_sum_never_passes_the_total(total, spends):
    """Whatever is asked, what is granted keeps the total, and nothing that fits is refused."""
    ledger = Ledger(total=Zcdp(rho=total), adjacency=Replace())
    granted = Fraction(0)
    for spend in spends:
        fits = granted + spend <= total
        assert grants(ledger, priced(Zcdp(rho=spend))) == fits
        granted += spend if fits else 0
    assert ledger.spent == Zcdp(rho=granted)
    assert ledger.left == Zcdp(rho=total - granted)


def test_mixed_currencies_share_one_ledger(open_ledger):
    """Pure and Gaussian releases add up in Zcdp, each by its own theorem."""
    ledger = open_ledger(Zcdp(rho=1))
    ledger.charge(laplace(1))
    ledger.charge(gaussian("1/2"))
    assert ledger.left == Zcdp(rho="1/4")
    assert convert(ledger.left, Approx, delta=1e-6).epsilon > 0


def test_ledgers_of_paths(tmp_path):
    """A path may be a text, and may hold characters that are special in addresses."""
    odd = tmp_path / "a ?#%20.ledger"
    Ledger.open(str(odd), Pure(epsilon=1), Replace()).charge(laplace("1/2"))
    assert Ledger.open(Path(odd)).left == Pure(epsilon="1/2")
    with pytest.raises(InvalidType, match="`path` must be a path"):
        Ledger.open(3)
