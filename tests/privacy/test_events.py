"""Events price themselves exactly, keep to their budget, and are written without loss."""

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.errors import InvalidArgument, InvalidType, NoSoundConversion
from discreet.privacy.accounting import convert, gaussian_mu, zcdp_rho
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.events.event import event_from_json
from discreet.privacy.events.noise import CoefficientLaplaceEvent, KNormEvent, WishartEvent
from privacy.doubles import gaussian, laplace, priced


def wishart(adjacency, theta="1/200", row_norm_squared=100, budget=None):
    return WishartEvent(
        row_norm_squared=row_norm_squared, theta=Fraction(theta), adjacency=adjacency,
        budget=budget or Pure(epsilon=1), statistic="Gram matrix of (1, age)", shape=(2, 2), step_bits=3,
    )  # fmt: skip


class EventContract:
    """What holds for every kind of event."""

    def make(self, **changes):
        """Return an event of this kind."""
        raise AssertionError

    def test_json_round_trip_is_the_identity(self):
        """What a file holds is the event, and its text holds no float."""
        event = self.make()
        text = json.dumps(event.to_json())
        assert event_from_json(json.loads(text)) == event
        json.loads(text, parse_float=lambda number: pytest.fail(f"a float: {number}"))

    def test_price_is_within_the_budget(self):
        """The promise that a ledger is charged for covers the price."""
        event = self.make()
        assert event.price <= convert(event.budget, type(event.price))
        assert event.cost_in(type(event.budget)) == event.budget

    def test_common_fields_are_checked(self):
        """Each wrong field is named."""
        for field, wrong in [
            ("adjacency", "replace"), ("adjacency", Replace), ("budget", 1.0), ("budget", Pure(epsilon=0)),
            ("statistic", 3), ("shape", 4), ("shape", (1, -1)), ("shape", (1.5,)), ("step_bits", -1),
            ("step_bits", 63), ("step_bits", True),
        ]:  # fmt: skip
            with pytest.raises(InvalidArgument, match=f"`{field}`"):
                self.make(**{field: wrong})

    def test_unknown_and_missing_fields_are_refused(self):
        """A newer version's event is never guessed."""
        stored = self.make().to_json()
        with pytest.raises(InvalidArgument, match="unknown field 'color'"):
            event_from_json(stored | {"color": "red"})
        may_lack = {"kind", "step_bits", "rows_per_unit"} | type(self.make()).later_fields
        for field in stored.keys() - may_lack:
            with pytest.raises(InvalidArgument, match=f"lacks the field '{field}'"):
                event_from_json({name: value for name, value in stored.items() if name != field})
        with pytest.raises(InvalidArgument, match="`adjacency`"):
            event_from_json(self.make().to_json() | {"adjacency": 3})

    def test_an_event_is_frozen(self):
        """Nothing can be changed after the price was checked."""
        with pytest.raises(AttributeError):
            self.make().budget = Pure(epsilon=9)


class TestLaplace(EventContract):
    """Laplace events keep the contract."""

    def make(self, **changes):
        """Return an event of this kind."""
        return laplace("1/3", **changes)

    def test_price_is_sensitivity_over_scale(self):
        """The oldest theorem of the field."""
        assert laplace("1/3", sensitivity=2, scale=20).price == Pure(epsilon="1/10")


class TestWishart(EventContract):
    """Wishart events keep the contract."""

    def make(self, **changes):
        """Return an event of this kind."""
        return replace(wishart(Replace()), **changes)

    def test_price_doubles_under_replace(self):
        """One row removed and one added move the Gram matrix twice as far."""
        assert wishart(AddRemove()).price == Pure(epsilon="1/2")
        assert wishart(Replace()).price == Pure(epsilon=1)

    def test_row_norm_is_a_whole_number(self):
        """Rows live on a grid, so their squared norm does too."""
        with pytest.raises(InvalidArgument, match="`row_norm_squared` must be a whole number"):
            wishart(Replace(), row_norm_squared="3/2")


class TestGaussian(EventContract):
    """Gaussian events keep the contract."""

    def make(self, **changes):
        """Return an event of this kind."""
        return gaussian("1/3", **changes)

    def test_price_is_the_exact_square(self):
        """The price holds mu squared, so no root is ever rounded."""
        assert gaussian("1/3").price == Gdp.from_squared("1/3")

    def test_a_zcdp_budget_is_met_exactly(self):
        """mu**2 = 2 rho is allowed, a hair more is not."""
        assert gaussian(2, budget=Zcdp(rho=1)).cost_in(Zcdp) == Zcdp(rho=1)
        with pytest.raises(InvalidArgument, match="costs Gdp"):
            gaussian(Fraction(2) + Fraction(1, 10**30), budget=Zcdp(rho=1))

    def test_an_approx_budget_is_met_exactly(self):
        """The largest mu of the exact curve is allowed, a hair more is not."""
        budget = Approx(epsilon=1, delta=1e-6)
        mu = gaussian_mu(epsilon=1, delta=1e-6)
        assert gaussian(mu**2, budget=budget).price.mu == mu
        with pytest.raises(InvalidArgument, match=r"`budget` is Approx\(epsilon=1, delta=1/1000000\)"):
            gaussian(mu**2 * (1 + Fraction(1, 10**30)), budget=budget)

    def test_a_pure_budget_is_refused(self):
        """No Gaussian noise is pure."""
        with pytest.raises(NoSoundConversion, match="no finite epsilon bounds it"):
            gaussian(1, budget=Pure(epsilon=9))


class TestKNorm(EventContract):
    """K-norm events keep the contract."""

    def make(self, **changes):
        """Return an event of this kind."""
        fields = {
            "sensitivity": 1, "rate": Fraction(1, 3), "half_width": 2**33, "dimension": 5, "adjacency": Replace(),
            "budget": Pure(epsilon="1/3"), "statistic": "Gram matrix of (1, age)", "shape": (2, 2), "step_bits": 4,
        }  # fmt: skip
        return KNormEvent(**(fields | changes))

    def test_price_is_sensitivity_times_rate(self):
        """The density falls by `rate` a unit of the gauge, and neighbours are `sensitivity` units apart."""
        assert self.make(sensitivity="3/4", rate="1/5").price == Pure(epsilon="3/20")
        with pytest.raises(InvalidArgument, match="costs Pure"):
            self.make(rate=Fraction(1, 3) + Fraction(1, 10**30))

    def test_its_numbers_are_checked(self):
        """Each wrong number is named, and a dimension is whole."""
        for field, wrong in [
            ("sensitivity", 0),
            ("rate", 0),
            ("half_width", 0),
            ("dimension", 0),
            ("dimension", "1/2"),
        ]:
            with pytest.raises(InvalidArgument, match=f"`{field}`"):
                self.make(**{field: wrong})


class TestCoefficientLaplace(EventContract):
    """Events of the paper's modes keep the contract."""

    def make(self, **changes):
        """Return an event of this kind."""
        fields = {
            "sensitivity": 9, "scale": 18, "loss": "squared", "form": "merged", "target": 2, "adjacency": AddRemove(),
            "budget": Pure(epsilon=1), "statistic": "Gram matrix of (1, age, income)", "shape": (3, 3),
        }  # fmt: skip
        return CoefficientLaplaceEvent(**(fields | changes))

    def test_the_true_price_is_below_what_was_asked(self):
        """The budget stays what was asked, and the event shows what it costs."""
        assert self.make().price == Pure(epsilon="1/2")
        assert self.make().cost_in(Pure) == Pure(epsilon=1)

    def test_its_fields_are_checked(self):
        """The loss and the form are known words, the target is a column of a square matrix."""
        for field, wrong in [
            ("sensitivity", 0), ("scale", 0), ("loss", "poisson"), ("form", "printed"), ("target", 3), ("target", -1),
            ("target", "1/2"), ("shape", (3, 4)),
        ]:  # fmt: skip
            with pytest.raises(InvalidArgument, match="`target`" if field == "shape" else f"`{field}`"):
                self.make(**{field: wrong})


def test_cost_is_the_cheapest_of_price_and_budget():
    """An Approx budget has no price in Gdp, but the release's own mu has; a detour by the budget is not taken."""
    mu_squared = gaussian_mu(epsilon=1, delta=1e-6) ** 2
    event = gaussian(mu_squared, budget=Approx(epsilon=1, delta=1e-6))
    assert event.cost_in(Gdp) == Gdp.from_squared(mu_squared)
    assert event.cost_in(Zcdp) == Zcdp(rho=mu_squared / 2)
    assert event.cost_in(Approx) == event.budget
    half = laplace("1/2", budget=Pure(epsilon=1))
    assert half.cost_in(Zcdp) == Zcdp(rho="1/8")
    assert half.cost_in(Pure) == Pure(epsilon=1)
    assert half.cost_in(Approx) == Approx(epsilon="1/2", delta=0)
    assert laplace("1/2", budget=Zcdp(rho=1)).cost_in(Zcdp) == Zcdp(rho=1)
    assert laplace("1/2", budget=Gdp(mu=1)).cost_in(Pure) == Pure(epsilon="1/2")
    assert laplace("1/2", budget=Approx(epsilon=1, delta=0.1)).cost_in(Zcdp) == Zcdp(rho="1/8")


@pytest.mark.parametrize(
    ("event", "currency"), [(gaussian(1), Pure), (priced(Zcdp(rho=1)), Gdp), (gaussian(1), Approx)]
)
def test_a_cost_without_theorem_is_refused(event, currency):
    """The message names event, currency and remedy."""
    with pytest.raises(
        NoSoundConversion,
        match=f"A ledger in {currency.__name__} cannot price .* Ask for a `budget` in {currency.__name__}",
    ):
        event.cost_in(currency)


def test_zcdp_calibration_within_an_approx_budget_is_accepted():
    """Noise by the looser accountant is within the same budget."""
    rho = zcdp_rho(epsilon=1, delta=1e-6)
    assert gaussian(2 * rho, budget=Approx(epsilon=1, delta=1e-6)).price == Gdp.from_squared(2 * rho)


@pytest.mark.parametrize("document", [None, [], {}, {"kind": "secret"}, {"kind": ["laplace"]}])
def test_an_unknown_kind_is_refused(document):
    """Unknown means unsupported."""
    with pytest.raises(InvalidArgument, match="known `kind`"):
        event_from_json(document)


def test_a_stored_event_that_underpays_is_refused():
    """A price is computed anew when an event is read, so a changed file is noticed."""
    stored = laplace("1/3").to_json()
    with pytest.raises(InvalidArgument, match="Raise the noise or the budget"):
        event_from_json(stored | {"sensitivity": "2"})


def test_currency_must_be_a_class():
    """A budget in place of its class is refused."""
    with pytest.raises(InvalidType):
        laplace("1/3").cost_in(Pure(epsilon=1))


def test_every_kind_is_found_by_a_process_that_imported_none():
    """A file may name any kind: its module is imported then, and defines it."""
    code = (
        "from importlib import import_module; from discreet.privacy.events import event as events; "
        "assert not events._KINDS; "
        "[import_module(f'discreet.privacy.events.{home}') for home in events._MODULES.values()]; "
        "print(all(events._KINDS[kind].__module__ == f'discreet.privacy.events.{home}' "
        "for kind, home in events._MODULES.items()) and events._KINDS.keys() == events._MODULES.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


@pytest.mark.parametrize("event", [laplace(1), gaussian(1), wishart(Replace())], ids=lambda event: event.kind)
def test_a_ledger_reads_noise_events_without_a_mechanism(event):
    """A process that imported the registry alone reads them from a file."""
    code = (
        "import sys, json; from discreet.privacy.events.event import event_from_json; "
        "print(event_from_json(json.load(sys.stdin)).price)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(event.to_json()), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == repr(event.price)
