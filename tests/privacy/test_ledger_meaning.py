"""What a ledger's numbers mean: its curve, its reading, and that long ledgers add up exactly."""

import json
import sqlite3
from datetime import UTC, datetime
from fractions import Fraction

import pytest

from discreet.errors import BudgetExceeded, InvalidArgument, LedgerUnusable
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.ledger import Ledger
from discreet.privacy.ledger_store import budget_text, sum_of
from discreet.privacy.reading import caught, epsilons, reading, round_up
from privacy.doubles import gaussian, laplace, priced

N_MANY = 10_000


def write_many(path, costs):
    """Write a ledger of many entries as `charge` would, but in one transaction."""
    ledger = Ledger.open(path, total=Gdp(mu=200), adjacency=Replace())
    rows = []
    for number, cost in enumerate(costs, start=1):
        event = gaussian(cost)
        rows.append((number, datetime.now(UTC).isoformat(), json.dumps(event.to_json()), budget_text(event.budget)))
    with sqlite3.connect(path) as connection:
        connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?)", rows)
        spent = Gdp.from_squared(sum(costs, Fraction(0)))
        connection.execute("UPDATE ledger SET n_entries = ?, spent = ?", (len(rows), budget_text(spent)))
    connection.close()
    return ledger


def answers(ledger):
    """Ask a ledger everything but its entries, and charge it once."""
    assert ledger.spent <= ledger.total
    assert ledger.left <= ledger.total
    assert ledger.tradeoff(of="spent").epsilon(1e-6) >= 0
    ledger.quote(gaussian(1))
    ledger.charge(gaussian(1))


@pytest.mark.parametrize(
    "costs",
    [[Fraction(1, 100)] * N_MANY, [Fraction(k, 10**6) for k in range(1, N_MANY + 1)]],
    ids=["equal", "all different"],
)
def test_a_ledger_of_ten_thousand_entries_answers_exactly(tmp_path, costs):
    """Opening, spent, left, the curve, a quote and a charge are exact sums; `benchmarks/ledger.py` times them."""
    path = tmp_path / "many.ledger"
    write_many(path, costs)
    ledger = Ledger.open(path)
    answers(ledger)
    assert ledger.spent == Gdp.from_squared(sum(costs) + 1)
    assert ledger.left == Gdp.from_squared(39_999 - sum(costs))
    assert len(ledger.entries) == N_MANY + 1


def test_what_was_read_before_is_still_checked(tmp_path):
    """A change of an old entry is found by the same object that read the old one, however small."""
    path = tmp_path / "l.ledger"
    ledger = write_many(path, [Fraction(1, 100)] * 20)
    assert ledger.spent == Gdp.from_squared("1/5")
    with sqlite3.connect(path) as connection:
        changed = budget_text(Gdp.from_squared("1/101"))
        connection.execute("UPDATE entries SET cost = ? WHERE number = 7", (changed,))
    connection.close()
    for ask in (lambda: ledger.spent, lambda: ledger.charge(gaussian("1/100")), lambda: Ledger.open(path)):
        with pytest.raises(LedgerUnusable, match="do not add up|gone or changed|is not what its release asked for"):
            ask()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE entries SET cost = ? WHERE number = 7", (budget_text(Gdp(mu="1/10")),))
    connection.close()
    assert ledger.spent == Gdp.from_squared("1/5")


def test_sums_are_exact_whatever_the_denominators():
    """Adding over common denominators gives what adding one by one gives."""
    costs = [Approx(epsilon=Fraction(1, k), delta=Fraction(1, 10**6 + k % 3)) for k in range(1, 60)]
    one_by_one = Approx(epsilon=0, delta=0)
    for cost in costs:
        one_by_one += cost
    assert sum_of(costs) == one_by_one
    with pytest.raises(InvalidArgument, match="one currency"):
        sum_of([Pure(epsilon=1), Zcdp(rho=1)])


def test_a_sum_with_too_many_digits_is_refused_not_broken():
    """Hundreds of unrelated fractions cannot be written down exactly; the charge is refused, and nothing is spent."""
    ledger = Ledger(total=Pure(epsilon=1000), adjacency=Replace())
    primes = [p for p in range(10**4, 10**5) if all(p % d for d in range(2, int(p**0.5) + 1))][:1200]

    def charge_all():
        for prime in primes:
            ledger.charge(priced(Pure(epsilon=Fraction(1, prime))))

    with pytest.raises(InvalidArgument, match="too many digits"):
        charge_all()
    assert 500 < len(ledger.entries) < 1200
    before = ledger.spent
    ledger.charge(priced(Pure(epsilon="1/2")))
    assert ledger.spent == before + Pure(epsilon="1/2")


def test_converted_costs_are_rounded_up_and_still_fit():
    """A price with a long fraction is charged with 128 bits; the largest release a total allows is still granted."""
    total = Approx(epsilon=1, delta=1e-6)
    ledger = Ledger(total=total, adjacency=Replace())
    limit = ledger.left.mu_squared
    price = limit - Fraction(1, 3**150)
    ledger.charge(gaussian(price, budget=total))
    assert price <= ledger.spent.mu_squared <= limit
    assert ledger.spent.mu_squared.denominator.bit_length() <= 160
    with pytest.raises(BudgetExceeded):
        ledger.charge(gaussian("1/100"))


def test_a_ledger_has_the_curve_of_its_filter():
    """The total's curve is that of the number that is summed; spent is told apart from it; an audit has none."""
    ledger = Ledger(total=Approx(epsilon=1, delta=1e-6), adjacency=Replace())
    assert ledger.tradeoff().epsilon(1e-6) <= 1
    assert ledger.tradeoff().epsilon(1e-9) < 2
    assert ledger.tradeoff(of="spent").power("0.05") == Fraction(1, 20)
    ledger.charge(gaussian("1/100"))
    assert ledger.tradeoff(of="spent").delta("1") == Gdp(mu="1/10").delta("1")
    assert Ledger(total=Pure(epsilon=1), adjacency=Replace()).tradeoff().epsilon("0") == 1
    assert Ledger.for_audit().tradeoff() is None
    with pytest.raises(InvalidArgument, match="`of`"):
        ledger.tradeoff(of="left")


def test_the_reading_names_the_neighbours():
    """Under AddRemove the question is presence, under Replace content; both numbers are rounded up."""
    curve = Gdp(mu=1).tradeoff()
    assert caught(curve) == 26.0
    there, which = reading(curve, AddRemove()), reading(curve, Replace())
    assert "whether one person's record is in the data" in there
    assert "which of two records one person contributed" in which
    for text in (there, which):
        assert "5 % false-alarm rate, catches at most 26.0 % of the people" in text


@pytest.mark.parametrize(
    ("budget", "says"),
    [(Pure(epsilon=25), "weak protection"), (Pure(epsilon="0.01"), "strong protection"), (Pure(epsilon=1), "5 %.")],
)
def test_the_reading_flags_extremes(budget, says):
    """Very large budgets are called weak, very small ones strong and noisy, others nothing."""
    assert says in reading(budget.tradeoff(), Replace())
    assert ("protection" in reading(budget.tradeoff(), Replace())) == ("protection" in says)


def test_numbers_of_a_reading_are_rounded_up():
    """Four significant digits, never below, and infinity is infinity."""
    assert round_up(Fraction("1.23401")) == 1.235
    assert round_up(0) == 0
    assert round_up(float("inf")) == float("inf")
    for delta, epsilon in epsilons(laplace(2).price.tradeoff()):
        assert epsilon >= Pure(epsilon=2).tradeoff().epsilon(delta)
