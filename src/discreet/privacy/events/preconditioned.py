"""What a preconditioned descent does: enough to price it, and to repeat it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from discreet import _checks
from discreet.errors import InvalidArgument
from discreet.privacy.budgets import Gdp, Pure
from discreet.privacy.events.event import Event, Names

if TYPE_CHECKING:
    from discreet.privacy.budgets import Budget

LAWS = ("gaussian", "pure")


@dataclass(frozen=True, kw_only=True)
class PreconditionedEvent(Event):
    """A noisy Gram matrix that whitens the rows, then noisy steps along clipped gradients of whitened rows.

    Each step knows the releases before it. A step may also release a noisy count of the rows that it clipped.

    Parameters
    ----------
    law : {"gaussian", "pure"}
        "gaussian": symmetric Gaussian noise on the Gram matrix, Gaussian noise on sums and counts. "pure": a Wishart
        difference, l2 K-norm noise, and Laplace noise on counts.
    loss : {"squared", "logistic", "poisson"}
        Whose gradient.
    row_norm_squared : int
        Largest squared Euclidean norm of a row of the Gram matrix, in squared grid units, at least 1.
    gram_noise : Fraction
        Variance of a diagonal entry's noise, in squared units of the matrix, or the rate theta of the Wishart
        difference; greater than 0.
    n_steps : int
        How many steps, at least 1.
    clip : int
        Largest Euclidean norm of what one record adds to a step's sum, in units of the step's grid, at least 1.
    step_noise : Fraction
        Variance of the noise on an entry of the first step's sum, or the rate of its density
        `exp(-rate * |z|)`; greater than 0.
    count_noise : Fraction
        Variance of the noise on a step's count of clipped rows, or the scale of its Laplace noise; 0 for no counts.
    step_growth : Fraction, default 1
        How many times what the step before it cost each step's sum costs; from 1/4096 to 4096 over all steps.

    Guarantee
    ---------
    With c = 2 under Replace and 1 under AddRemove. "gaussian": mu-Gaussian differential privacy with
    mu**2 = c * row_norm_squared**2 / gram_noise + S * (c * clip)**2 / step_noise + n_steps / count_noise.
    "pure": differential privacy with
    epsilon = c * row_norm_squared * gram_noise + S * c * clip * step_noise + n_steps / count_noise.
    S = 1 + step_growth + ... + step_growth**(n_steps - 1): n_steps where all steps cost the same.
    Proof: docs/proofs/preconditioned.md

    Examples
    --------
    >>> from discreet.privacy.adjacency import Replace
    >>> PreconditionedEvent(
    ...     law="pure", loss="squared", row_norm_squared=8, gram_noise="1/80", n_steps=5, clip=100,
    ...     step_noise="1/2500", count_noise=0, adjacency=Replace(), budget=Pure(epsilon=1), statistic="y ~ x",
    ...     shape=(2,),
    ... ).price
    Pure(epsilon=3/5)
    """

    kind: ClassVar[str] = "preconditioned-descent"
    later_fields: ClassVar[frozenset[str]] = frozenset({"step_growth"})
    _positive: ClassVar[Names] = ("gram_noise", "step_noise")
    _nonnegative: ClassVar[Names] = ("count_noise",)
    _counts: ClassVar[Names] = ("row_norm_squared", "n_steps", "clip")
    _words: ClassVar[dict[str, Names]] = {"law": LAWS, "loss": ("squared", "logistic", "poisson")}

    law: str
    loss: str
    row_norm_squared: int
    gram_noise: Fraction
    n_steps: int
    clip: int
    step_noise: Fraction
    count_noise: Fraction
    step_growth: Fraction = Fraction(1)

    def _check_numbers(self) -> None:
        _checks.set_fields(self, step_growth=check_growth(self.step_growth, self.n_steps))
        if (self.law == "pure") != isinstance(self.budget, Pure):
            needed = "Pure" if self.law == "pure" else "Zcdp, Gdp or Approx"
            raise InvalidArgument(f'`law` "{self.law}" needs a budget in {needed}; found {self.budget!r}.')

    @cached_property
    def price(self) -> Budget:
        """Gdp or Pure: the sum over the Gram matrix, the steps and the counts."""
        parts = (
            self.of_gram + self.of_step * steps_in_all(self.step_growth, self.n_steps) + self.n_steps * self.of_count
        )
        return Gdp.from_squared(parts) if self.law == "gaussian" else Pure(epsilon=parts)

    @property
    def of_gram(self) -> Fraction:
        """What the Gram matrix costs, in mu**2 or epsilon."""
        nuclear = self.adjacency.rows_changed * self.row_norm_squared
        if self.law == "gaussian":
            return nuclear * self.row_norm_squared / self.gram_noise
        return nuclear * self.gram_noise

    @property
    def of_step(self) -> Fraction:
        """What the first step's sum costs, in mu**2 or epsilon."""
        sensitivity = self.adjacency.rows_changed * self.clip
        return sensitivity**2 / self.step_noise if self.law == "gaussian" else sensitivity * self.step_noise

    def noise_of(self, step: int) -> Fraction:
        """Return the variance, or the rate, of the noise on the sum of step 0, 1, ...."""
        grown: Fraction = self.step_growth**step
        return self.step_noise / grown if self.law == "gaussian" else self.step_noise * grown

    @property
    def of_count(self) -> Fraction:
        """What one count costs, in mu**2 or epsilon; a count moves by at most 1 under either adjacency."""
        return 1 / self.count_noise if self.count_noise else Fraction(0)


# Beyond this the first steps, or the last, would be all noise; and fractions would have too many digits.
_LARGEST_GROWTH, _LARGEST_TERM = 4096, 10**4


def check_growth(value: Any, n_steps: int) -> Fraction:
    """Return `step_growth` as an exact rational that is not too far from 1 for so many steps."""
    growth = _checks.exact_positive(value, "step_growth")
    if growth == 1:
        return growth
    largest = max(growth, 1 / growth)
    terms = max(growth.numerator, growth.denominator)
    if terms > _LARGEST_TERM or (n_steps - 1) * math.log(largest) > math.log(_LARGEST_GROWTH):
        raise InvalidArgument(
            f"`step_growth` must be a fraction of numbers up to {_LARGEST_TERM} with which the last of {n_steps} steps "
            f"costs at most {_LARGEST_GROWTH} times the first, or the first the last. Choose one nearer to 1."
        )
    return growth


def steps_in_all(growth: Fraction, n_steps: int) -> Fraction:
    """Return what all steps cost, over what the first one does."""
    return Fraction(n_steps) if growth == 1 else (growth**n_steps - 1) / (growth - 1)
