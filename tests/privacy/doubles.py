"""Events and plans that tests of the ledger release, without a mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Budget, Gdp, Pure
from discreet.privacy.events.event import Event
from discreet.privacy.events.noise import GaussianEvent, LaplaceEvent

if TYPE_CHECKING:
    from discreet.privacy.coins import Coins


@dataclass(frozen=True, kw_only=True)
class PricedEvent(Event):
    """An event that costs exactly what was asked, in any currency."""

    kind: ClassVar[str] = "test-priced"

    def _check_numbers(self) -> None:
        pass

    @property
    def price(self) -> Budget:
        """What was asked."""
        return self.budget


def priced(budget: Budget, adjacency: Replace | AddRemove | None = None) -> PricedEvent:
    return PricedEvent(adjacency=adjacency or Replace(), budget=budget, statistic="count", shape=())


def laplace(epsilon, budget=None, **changes) -> LaplaceEvent:
    fields = {"sensitivity": 1, "scale": 1 / Fraction(epsilon), "adjacency": Replace(), "statistic": "sum", "shape": ()}
    return LaplaceEvent(**(fields | {"budget": budget or Pure(epsilon=epsilon)} | changes))


def gaussian(mu_squared, budget=None, **changes) -> GaussianEvent:
    square = Fraction(mu_squared)
    fields = {
        "sensitivity_squared": square.numerator, "variance": square.denominator, "adjacency": Replace(),
        "statistic": "sum", "shape": (2, 2),
    }  # fmt: skip
    return GaussianEvent(**(fields | {"budget": budget or Gdp.from_squared(square)} | changes))


@dataclass
class CountPlan:
    """Counts rows; `steps` says what was called, in order."""

    event: Event
    steps: list[str]

    def measure(self, data):
        """Count."""
        self.steps.append("measure")
        return len(data)

    def draw(self, statistic, coins: Coins):
        """Add a fair coin."""
        self.steps.append("draw")
        return statistic + int(coins.words(1)[0] % 2)
