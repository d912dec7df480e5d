"""The event of a preconditioned descent prices itself exactly and is written without loss."""

from fractions import Fraction

import pytest

from discreet.errors import InvalidArgument, NoSoundConversion
from discreet.privacy.accounting import gaussian_mu
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.events.event import event_from_json
from discreet.privacy.events.preconditioned import PreconditionedEvent
from privacy.test_events import EventContract


def gaussian(**changes):
    fields = {
        "law": "gaussian", "loss": "squared", "row_norm_squared": 8, "gram_noise": 1280, "n_steps": 4, "clip": 10,
        "step_noise": 4000, "count_noise": 40, "adjacency": Replace(), "budget": Gdp.from_squared("3/5"),
        "statistic": "a regression", "shape": (3,),
    }  # fmt: skip
    return PreconditionedEvent(**(fields | changes))


def pure(**changes):
    fields = {
        "law": "pure", "gram_noise": Fraction(1, 80), "step_noise": Fraction(1, 400), "budget": Pure(epsilon="1/2"),
    }  # fmt: skip
    return gaussian(**(fields | changes))


class TestGaussianForm(EventContract):
    """The Gaussian form keeps the contract."""

    def make(self, **changes):
        """Return an event of this kind."""
        return gaussian(**changes)

    def test_price_is_the_closed_form(self):
        """mu**2 = c R2**2 / g + T ((c C)**2 / s + 1 / h), exactly, c being 2 or 1."""
        assert gaussian().price == Gdp.from_squared(
            Fraction(2 * 64, 1280) + 4 * (Fraction(400, 4000) + Fraction(1, 40))
        )
        assert gaussian(adjacency=AddRemove()).price == Gdp.from_squared(
            Fraction(64, 1280) + 4 * (Fraction(100, 4000) + Fraction(1, 40))
        )
        assert gaussian(count_noise=0).price == Gdp.from_squared("1/2")

    def test_steps_that_grow_have_a_geometric_price(self):
        """1 + 2 + 4 + 8 times the first; each step's own noise adds up to the same."""
        event = gaussian(step_growth=2, step_noise=16_000)
        of_counts = Fraction(4, 40)
        assert event.price == Gdp.from_squared(Fraction(2 * 64, 1280) + 15 * Fraction(400, 16_000) + of_counts)
        by_hand = sum(Fraction(400) / event.noise_of(step) for step in range(4))
        assert event.price == Gdp.from_squared(Fraction(2 * 64, 1280) + by_hand + of_counts)
        assert [event.noise_of(step) for step in (0, 3)] == [16_000, 2_000]

    def test_an_event_of_before_growth_had_equal_steps(self):
        """What was stored without the field is priced as it was."""
        stored = gaussian().to_json()
        assert stored.pop("step_growth") == "1"
        assert event_from_json(stored) == gaussian()

    @pytest.mark.parametrize(
        "change",
        [{"n_steps": 5}, {"clip": 11}, {"gram_noise": 1279}, {"count_noise": 39}, {"step_growth": "10000/9999"}],
    )
    def test_a_hair_more_than_the_budget_is_refused(self, change):
        """Every part is in the price."""
        with pytest.raises(InvalidArgument, match="costs Gdp"):
            gaussian(**change)

    def test_costs_in_other_currencies(self):
        """Zcdp by half the square, Approx on the exact curve, Pure never."""
        event = gaussian(budget=Zcdp(rho="3/10"))
        assert event.cost_in(Gdp) == Gdp.from_squared("3/5")
        with pytest.raises(NoSoundConversion):
            event.cost_in(Pure)
        mu = gaussian_mu(epsilon=1, delta=Fraction(1, 10**6))
        exact = gaussian(
            budget=Approx(epsilon=1, delta="1e-6"), gram_noise=10**9, step_noise=1600 / mu**2, count_noise=0, n_steps=3
        )
        assert exact.price.mu_squared < mu**2

    @pytest.mark.parametrize(
        ("field", "bad"),
        [("law", "laplace"), ("loss", "huber"), ("row_norm_squared", "1/2"), ("gram_noise", 0), ("n_steps", 0),
         ("clip", "5/2"), ("step_noise", -1), ("count_noise", -1), ("count_noise", float("nan")),
         ("step_growth", 0), ("step_growth", 4097), ("step_growth", "1/17"), ("step_growth", "10002/10001")],
    )  # fmt: skip
    def test_bad_fields_are_named(self, field, bad):
        """Each by its own name."""
        with pytest.raises(InvalidArgument, match=f"`{field}`"):
            gaussian(**{field: bad})


class TestPureForm(EventContract):
    """The pure form keeps the contract."""

    def make(self, **changes):
        """Return an event of this kind."""
        return pure(**changes)

    def test_price_is_the_closed_form(self):
        """epsilon = c R2 theta + T (c C rate + 1 / h), exactly."""
        assert pure().price == Pure(epsilon=Fraction(16, 80) + 4 * (Fraction(20, 400) + Fraction(1, 40)))
        grown = pure(step_growth="1/2")
        assert grown.price == Pure(epsilon=Fraction(16, 80) + Fraction(15, 8) * Fraction(20, 400) + 4 * Fraction(1, 40))
        assert grown.noise_of(2) == Fraction(1, 1600)
        assert pure(adjacency=AddRemove()).price == Pure(epsilon=Fraction(1, 10) + Fraction(1, 10) + Fraction(1, 10))

    def test_law_and_budget_agree(self):
        """Gaussian noise is never sold as pure, nor the other way round."""
        with pytest.raises(InvalidArgument, match="Zcdp, Gdp or Approx"):
            gaussian(budget=Pure(epsilon=5))
        with pytest.raises(InvalidArgument, match="needs a budget in Pure"):
            pure(budget=Gdp(mu=5))
