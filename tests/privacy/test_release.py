"""The one door: quote, measure, charge, draw, wrap, in this order."""

from dataclasses import replace

import pytest

from discreet.errors import AdjacencyMismatch, BudgetExceeded, InvalidData, InvalidType
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.coins import Coins
from discreet.privacy.ledger import Ledger
from discreet.privacy.release import LABELS, Release, release, with_labels_read
from privacy.doubles import CountPlan, laplace, priced


def ledger_of_one(**options):
    return Ledger(total=Pure(epsilon=1), adjacency=Replace(), **options)


def test_a_release_is_charged_and_wrapped():
    """The value comes with event, cost, neighbours and label."""
    ledger, plan = ledger_of_one(), CountPlan(laplace("1/4"), [])
    released = release(plan, [1, 2, 3], ledger)
    assert released.value in {3, 4}
    assert (released.event, released.cost, released.adjacency) == (plan.event, Pure(epsilon="1/4"), Replace())
    assert released.label == "private"
    assert released.is_private
    assert released.notes == ()
    assert plan.steps == ["measure", "draw"]
    assert ledger.left == Pure(epsilon="3/4")


def test_every_step_comes_in_its_order():
    """A quote before the read, the charge after it, the draw last."""
    steps = []

    class WatchedLedger(Ledger):
        def quote(self, event):
            steps.append("quote")
            return super().quote(event)

        def charge(self, event):
            steps.append("charge")
            return super().charge(event)

    release(CountPlan(laplace("1/4"), steps), [1], WatchedLedger(total=Pure(epsilon=1), adjacency=Replace()))
    assert steps == ["quote", "measure", "charge", "draw"]


def test_a_refused_quote_reads_nothing():
    """What the ledger would refuse is refused before a long read."""
    plan = CountPlan(laplace(2), [])
    with pytest.raises(BudgetExceeded):
        release(plan, [1], ledger_of_one())
    with pytest.raises(AdjacencyMismatch):
        release(plan, [1], Ledger(total=Pure(epsilon=9), adjacency=AddRemove()))
    assert plan.steps == []


def test_a_charge_refused_after_the_read_draws_nothing():
    """Another release may have spent the rest meanwhile."""
    ledger = ledger_of_one()

    class SlowPlan(CountPlan):
        def measure(self, data):
            ledger.charge(laplace("1/2"))
            return super().measure(data)

    plan = SlowPlan(laplace("3/4"), [])
    with pytest.raises(BudgetExceeded):
        release(plan, [1], ledger)
    assert plan.steps == ["measure"]
    assert ledger.left == Pure(epsilon="1/2")


def test_bad_data_spends_nothing():
    """Measuring may raise what the data owner declared, and comes before the charge."""
    ledger = ledger_of_one()

    class StrictPlan(CountPlan):
        def measure(self, data):
            raise InvalidData("Column `age` has a missing cell.")

    with pytest.raises(InvalidData):
        release(StrictPlan(laplace("1/4"), []), [None], ledger)
    assert ledger.entries == ()


def test_a_crash_while_drawing_stays_charged():
    """There is no refund: somebody may have seen the output."""
    ledger = ledger_of_one()

    class CrashingPlan(CountPlan):
        def draw(self, statistic, coins):
            raise MemoryError

    with pytest.raises(MemoryError):
        release(CrashingPlan(laplace("1/4"), []), [1], ledger)
    assert ledger.left == Pure(epsilon="3/4")


@pytest.mark.parametrize("budget", [Pure(epsilon=1), Approx(epsilon=1, delta=1e-6), Zcdp(rho=1), Gdp(mu=1)])
def test_without_a_ledger_one_is_opened_for_the_budget(budget):
    """Exactly the budget that was asked for, whatever its currency."""
    released = release(CountPlan(priced(budget), []), [1, 2])
    assert released.cost == budget
    assert released.is_private


def test_labels_say_what_is_not_private():
    """A test seed and an audit are no guarantee."""
    seeded = release(CountPlan(laplace("1/4"), []), [1], ledger_of_one(coins=Coins.from_seed(1)))
    audited = release(CountPlan(laplace(100), []), [1], Ledger.for_audit())
    assert (seeded.label, audited.label) == LABELS[1:3]
    assert with_labels_read(seeded).label == seeded.label
    assert with_labels_read(replace(seeded, label=LABELS[0])).label == "not private: class labels"
    assert not seeded.is_private
    assert not audited.is_private


@pytest.mark.parametrize("wrong", [1, [], "book.ledger", Pure(epsilon=1)])
def test_only_a_ledger_pays(wrong):
    """An indexed or replaced ledger is noticed before anything is read."""
    plan = CountPlan(laplace("1/4"), [])
    with pytest.raises(InvalidType, match="`ledger` must be a Ledger or None"):
        release(plan, [1], wrong)
    assert plan.steps == []


def test_a_release_is_frozen():
    """What was said about a value cannot be changed."""
    with pytest.raises(AttributeError):
        Release(1, laplace("1/4"), "private").label = "public"
