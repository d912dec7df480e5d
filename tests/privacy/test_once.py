"""What is the same throughout a release is found out once: who the neighbours are, and what it costs."""

import copy
import pickle
import sys
from collections import Counter
from functools import cached_property
from types import SimpleNamespace

import numpy as np
import pytest

from discreet.errors import AdjacencyMismatch, InvalidArgument, InvalidType, NoSoundConversion
from discreet.functional.gram import plan_gram
from discreet.lattice.bounds import Interval
from discreet.lattice.grid import Coding, Layout
from discreet.privacy import adjacency as adjacencies
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.events.event import Event, event_from_json
from discreet.privacy.events.noise import GaussianEvent
from discreet.privacy.events.repeated import RepeatedEvent
from discreet.privacy.ledger import Ledger
from discreet.privacy.release import release, settle_adjacency
from discreet.sampling.quantiles.quantile_release import quantile
from privacy.doubles import gaussian, laplace

ONCE = {"check": 1, "price": 1, "quote": 1}


@pytest.fixture
def counted(monkeypatch):
    """Return how often adjacencies were checked, events priced, and ledgers asked for a quote."""
    counts = Counter()

    def counting(name, function):
        def count(*given, **named):
            counts[name] += 1
            return function(*given, **named)

        return count

    check = adjacencies.check_adjacency
    for module in [module for name, module in sys.modules.items() if name.startswith("discreet.")]:
        if getattr(module, "check_adjacency", None) is check:
            monkeypatch.setattr(module, "check_adjacency", counting("check", check))
    monkeypatch.setattr(Ledger, "quote", counting("quote", Ledger.quote))
    kinds, waiting = [], [Event]
    while waiting:
        kind = waiting.pop()
        kinds.append(kind)
        waiting += kind.__subclasses__()
    for kind in kinds:
        if isinstance(kind.__dict__.get("price"), cached_property):
            price = cached_property(counting("price", kind.__dict__["price"].func))
            price.__set_name__(kind, "price")
            monkeypatch.setattr(kind, "price", price)
        if "_cheapest_in" in kind.__dict__:
            monkeypatch.setattr(kind, "_cheapest_in", counting("conversion", kind.__dict__["_cheapest_in"]))
    return counts


def ledger_of(total, adjacency=None):
    return Ledger(total=total, adjacency=Replace() if adjacency is None else adjacency)


@pytest.mark.parametrize("total", [Gdp(mu=2), Approx(epsilon=5, delta="1e-6")])
def test_a_plan_of_checked_values_is_priced_and_quoted_once(counted, total):
    """Also where the ledger converts the price; nobody below the door asks again who the neighbours are."""
    ledger = ledger_of(total)
    counted.clear()
    layout = Layout(["a"], [Coding.centered(0, 1, bits=4)], intercept=True, bits=4)
    plan = plan_gram(layout, budget=Zcdp(rho="1/10"), adjacency=Replace(), size_is_public=True, statistic="Gram")

    rows = SimpleNamespace(private_gram=lambda layout: np.eye(layout.width, dtype=np.int64), private_size=lambda: 9)
    release(plan, rows, ledger)
    conversions = counted.pop("conversion")
    assert conversions == (1 if isinstance(total, Gdp) else 2)  # the latter keeps two sums
    assert counted == {"price": 1, "quote": 1}


@pytest.mark.parametrize("budget", [Pure(epsilon="1/2"), Approx(epsilon="1/2", delta="1e-9")])
def test_a_public_function_checks_prices_and_quotes_once(counted, budget):
    """From its arguments to what it returns."""
    ledger = ledger_of(type(budget).from_coordinates(tuple(2 * part for part in budget.coordinates)))
    counted.clear()
    quantile(np.arange(9.0), "1/2", bounds=Interval(0, 10), budget=budget, adjacency=Replace(), ledger=ledger)
    assert {name: counted[name] for name in ONCE} == ONCE


def test_every_kind_of_event_prices_itself_once():
    """A price is kept with the event that it is the price of."""
    event = gaussian("1/10")
    assert event.price is event.price
    kinds = [gaussian(1), laplace(1)]
    assert all(isinstance(vars(type(kind))["price"], cached_property) for kind in kinds)
    assert isinstance(vars(RepeatedEvent)["price"], cached_property)


def test_what_an_event_costs_does_not_outlive_its_fields():
    """A changed event, a pickled and a copied one, and one from a file are priced anew."""
    event = GaussianEvent(
        sensitivity_squared=1, variance=4, adjacency=Replace(), budget=Zcdp(rho=1), statistic="sum", shape=()
    )
    cost = event.cost_in(Gdp)
    assert cost == event.cost_in(Gdp) == Gdp(mu="1/2")
    for same in (pickle.loads(pickle.dumps(event)), copy.deepcopy(event), event_from_json(event.to_json())):
        assert same == event
        assert "price" not in vars(copy.copy(same))
        assert (same.price, same.cost_in(Gdp)) == (event.price, cost)


def test_a_currency_without_a_price_is_refused_every_time():
    """The answer that there is none is kept as well, and said again."""
    event = gaussian(1)
    for _ in range(2):
        with pytest.raises(NoSoundConversion, match="cannot price"):
            event.cost_in(Pure)
    repeated = RepeatedEvent(
        part=event, n_times=2, adjacency=event.adjacency, budget=Gdp(mu=2), statistic="sums", shape=()
    )
    for _ in range(2):
        with pytest.raises(NoSoundConversion, match="of a RepeatedEvent"):
            repeated.cost_in(Pure)


class Declared:
    """What a schema says."""

    def __init__(self, adjacency=None, unit=None):
        self.adjacency, self.unit = adjacency, unit


@pytest.mark.parametrize(
    ("argument", "ledger", "schema", "expected"),
    [
        (Replace(), None, None, Replace()),
        (None, Replace(), None, Replace()),
        (None, None, AddRemove(), AddRemove()),
        (AddRemove(), AddRemove(), AddRemove(), AddRemove()),
        (Replace("person"), None, Replace("person"), Replace("person")),
        (None, Replace("person"), Replace("person"), Replace("person")),
    ],
)
def test_whoever_names_the_neighbours_is_heard(argument, ledger, schema, expected):
    """Argument, ledger or schema: one suffices, and all may say the same."""
    book = None if ledger is None else ledger_of(Pure(epsilon=1), ledger)
    declared = None if schema is None else Declared(schema, schema.unit)
    assert settle_adjacency(argument, book, declared) == expected


def test_an_audit_takes_any_neighbours():
    """Its ledger names none."""
    assert settle_adjacency(AddRemove(), Ledger.for_audit()) == AddRemove()
    with pytest.raises(InvalidArgument, match="No adjacency was named"):
        settle_adjacency(None, Ledger.for_audit(), Declared())


def test_contradictions_and_silence_are_refused():
    """Each error names who says what."""
    book = ledger_of(Pure(epsilon=1))
    with pytest.raises(AdjacencyMismatch, match=r"adjacency says AddRemove\(\), ledger says Replace\(\)"):
        settle_adjacency(AddRemove(), book)
    with pytest.raises(AdjacencyMismatch, match=r"ledger says Replace\(\), schema says AddRemove\(\)"):
        settle_adjacency(None, book, Declared(AddRemove()))
    with pytest.raises(AdjacencyMismatch, match="no unit is declared"):
        settle_adjacency(Replace("person"))
    with pytest.raises(AdjacencyMismatch, match="declares the unit `person`"):
        settle_adjacency(Replace(), None, Declared(None, "person"))
    with pytest.raises(InvalidArgument, match="single rows"):
        settle_adjacency(Replace("person"), units=False)
    with pytest.raises(InvalidType, match="no default"):
        settle_adjacency(None, book, required=True)
    with pytest.raises(InvalidType, match="`ledger` must be a Ledger"):
        settle_adjacency(Replace(), "ledger.sqlite")


def test_an_event_of_single_rows_refuses_units():
    """Whoever settled the neighbours: a theorem about rows is not sold for persons."""
    with pytest.raises(InvalidArgument, match="single rows"):
        RepeatedEvent(
            part=laplace("1/4", adjacency=Replace("person")),
            n_times=1, adjacency=Replace("person"), budget=Pure(epsilon=1), statistic="sum", shape=(),
        )  # fmt: skip


@pytest.mark.parametrize(("adjacency", "changed"), [(Replace(), 2), (Replace("p"), 2), (AddRemove(), 1)])
def test_an_adjacency_knows_how_many_records_change(adjacency, changed):
    """A record in the place of another is two contributions to a sum; one that comes or goes is one."""
    assert adjacency.rows_changed == changed
