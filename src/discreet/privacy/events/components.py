"""What principal components cost that are drawn one after the other, each perpendicular to those before."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.errors import InvalidArgument
from discreet.numbers.outward import LARGEST, exp_up
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Approx, Currency, Pure
from discreet.privacy.curves.tradeoff import two_sided_delta
from discreet.privacy.events.sampling import SamplingEvent, plain_time

# How far rounded components may be from perpendicular: a record's squares along all of them sum to this, at most.
_TOGETHER = 1 + Fraction(1, 2**12)
# The square of the number of components times the number of columns, at most.
_LARGEST = 2**20


@dataclass(frozen=True, kw_only=True)
class ComponentsEvent(SamplingEvent):
    """Exact draws of `n_draws` directions, each perpendicular to those before, for rows of norm at most 1.

    `shape` is the number of directions and that of columns; the square of the first times the second is at most 2**20.

    Guarantee
    ---------
    Between tables that differ in one replaced record the squares along all directions together change by 1, not one by
    one: in Pure and Approx k directions cost ``(k + 1 + 2**-12) * scale`` and k times what the clock costs, not
    ``2 k * scale``. In other currencies, and under AddRemove, they cost what `SamplingEvent` says.
    Under `Plain`, with E that sum and delta the curve of one running time, they cost at epsilon
    ``k (e**E delta((epsilon - E) / k) + delta((epsilon + E) / k)) / (1 + e**E)``.
    Proof: docs/proofs/bingham.md, section 1

    Examples
    --------
    >>> event = ComponentsEvent(scale="1/4", sensitivity=1, error=0, envelope="data-dependent", claim="proved",
    ...     acceptance="0.5", acceptance_high=1, partner="0.5", policy="cool-down", block=45, parameter="1e-6", slack=0,
    ...     wrong=0, n_draws=2, adjacency=Replace(), budget=Pure(epsilon=1), statistic="components", shape=(2, 3))
    >>> round(float(event.price.epsilon), 4)
    0.7501
    """

    kind: ClassVar[str] = "principal-components"

    def _check_numbers(self) -> None:
        super()._check_numbers()
        least = Fraction(self.adjacency.rows_changed, 2)
        if self.sensitivity < least:
            raise InvalidArgument(f"`sensitivity` of a direction must be at least {least}; found {self.sensitivity}.")
        if self.policy == "squeeze" or self.envelope != "data-dependent":
            raise InvalidArgument(
                f"`policy` {self.policy!r} with a {self.envelope} envelope has no proved price of directions together. "
                "Use a SamplingEvent, which adds up single draws."
            )
        if len(self.shape) != 2 or self.n_draws**2 * self.shape[1] > _LARGEST:
            raise InvalidArgument("`n_draws` squared times the columns of `shape` must be at most 2**20.")

    def change_in(self, currency: Currency) -> Fraction:
        """Return half the range of the log-ratio of densities, a draw; in Pure and Approx what k draws share."""
        apart = super().change_in(currency)
        if not isinstance(self.adjacency, Replace) or currency not in {Pure, Approx}:
            return apart
        return min(apart, self.scale * (self.n_draws + _TOGETHER) / (2 * self.n_draws) + 2 * self.error)

    @property
    def plain_delta(self) -> Fraction:
        """The delta of outputs and numbers of proposals of a plain sampler, at the budget's epsilon; rounded up."""
        apart = super().plain_delta
        if self.change == super().change_in(type(self.budget)):
            return apart
        joint, epsilon = 2 * self.n_draws * self.change, self.budget.coordinates[0]
        curve = plain_time(self)
        heavy, light = (two_sided_delta(curve, (epsilon + side * joint) / self.n_draws) for side in (-1, 1))
        high = exp_up(min(joint, Fraction(LARGEST)))
        weight = high / (1 + high) if joint <= LARGEST else Fraction(1)
        return self.n_draws * (light + max(Fraction(0), heavy - light) * weight)
