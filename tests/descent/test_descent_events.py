"""Events of a descent price themselves exactly and are written without loss."""

import json
import math
import subprocess
import sys
from fractions import Fraction

import pytest

from discreet.errors import InvalidArgument, NoSoundConversion
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.events.descent import CHOICE_IN_GDP, GaussianStepsEvent, SelectedStepsEvent
from privacy.test_events import EventContract


def gaussian(**changes):
    fields = {
        "sensitivity_squared": 8, "variance": Fraction(100, 3), "n_steps": 5, "selection": "threshold", "n_selected": 3,
        "noise": "exact", "nominal": "", "adjacency": Replace(), "budget": Gdp.from_squared("6/5"), "shape": (9,),
        "statistic": "steps",
    }  # fmt: skip
    return GaussianStepsEvent(**(fields | changes))


def selected(**changes):
    fields = {
        "entry_sensitivity": 4, "selection_scale": Fraction(40, 3), "value_sensitivity_squared": 16,
        "variance": Fraction(400, 7), "n_steps": 5, "selection": "peel", "n_selected": 3, "adjacency": Replace(),
        "budget": Zcdp(rho=2), "shape": (9,), "statistic": "steps",
    }  # fmt: skip
    return SelectedStepsEvent(**(fields | changes))


class TestGaussianSteps(EventContract):
    """Gaussian steps keep the contract."""

    def make(self, **changes):
        """Return an event of this kind."""
        return gaussian(**changes)

    def test_price_is_that_of_all_steps(self):
        """Squares of mu add up over adaptive steps."""
        assert gaussian().price == Gdp.from_squared(Fraction(5 * 8 * 3, 100))
        with pytest.raises(InvalidArgument, match="costs Gdp"):
            gaussian(n_steps=6)

    def test_costs_in_other_currencies(self):
        """Zcdp by half the square; Pure never."""
        event = gaussian(budget=Approx(epsilon=20, delta="1e-5"))
        assert event.cost_in(Zcdp) == Zcdp(rho="3/5")

    @pytest.mark.parametrize(
        ("field", "bad"),
        [("sensitivity_squared", 0), ("variance", -1), ("n_steps", 0), ("n_steps", "1/2"), ("n_selected", 0),
         ("selection", "peel"), ("noise", "none"), ("nominal", 3)],
    )  # fmt: skip
    def test_bad_fields_are_named(self, field, bad):
        """Each by its own name."""
        with pytest.raises(InvalidArgument, match=f"`{field}`"):
            gaussian(**{field: bad})


class TestSelectedSteps(EventContract):
    """Choosing steps keep the contract."""

    def make(self, **changes):
        """Return an event of this kind."""
        return selected(**changes)

    def test_price_adds_choices_and_values(self):
        """rho = T (s Delta**2 / (2 beta**2) + Delta2**2 / (2 sigma**2))."""
        per_step = Fraction(3, 2) * Fraction(3 * 4, 40) ** 2 + Fraction(16 * 7, 2 * 400)
        assert selected().price == Zcdp(rho=5 * per_step)
        with pytest.raises(InvalidArgument, match="costs Zcdp"):
            selected(budget=Zcdp(rho=5 * per_step - Fraction(1, 10**30)))

    def test_a_choice_costs_more_in_gdp(self):
        """mu**2 is 2 rho, but for a factor of pi / 2 on the choices; a ledger in Gdp takes it, and a budget."""
        choices, values = 15 * Fraction(3 * 4, 40) ** 2, 5 * Fraction(16 * 7, 400)
        assert math.pi / 2 < CHOICE_IN_GDP < math.pi / 2 + 1e-6
        expected = Gdp.from_squared(CHOICE_IN_GDP * choices + values)
        assert selected().cost_in(Gdp) == expected
        assert selected(budget=Approx(epsilon=9, delta="1e-5")).cost_in(Gdp) == expected
        assert selected(budget=expected).price == expected
        assert selected(budget=Gdp(mu=2)).cost_in(Gdp) == Gdp(mu=2)
        with pytest.raises(InvalidArgument, match="costs Gdp"):
            selected(budget=Gdp.from_squared(expected.mu_squared - Fraction(1, 10**30)))
        with pytest.raises(NoSoundConversion):
            selected().cost_in(Pure)

    @pytest.mark.parametrize(
        ("field", "bad"),
        [("entry_sensitivity", 0), ("selection_scale", 0), ("value_sensitivity_squared", "x"), ("variance", None),
         ("n_steps", 0), ("n_selected", 0), ("selection", "threshold")],
    )  # fmt: skip
    def test_bad_fields_are_named(self, field, bad):
        """Each by its own name."""
        with pytest.raises(InvalidArgument, match=f"`{field}`"):
            selected(**{field: bad})


@pytest.mark.parametrize("make", [gaussian, selected])
def test_a_ledger_reads_them_without_the_descent(make):
    """A process that never imported a descent reads its events from a file."""
    code = (
        "import sys, json; from discreet.privacy.events.event import event_from_json; "
        "print(event_from_json(json.load(sys.stdin)).price)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(make().to_json()), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == repr(make().price)
