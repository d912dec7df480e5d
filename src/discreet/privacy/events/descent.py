"""What a noisy descent does: enough to price it, and to repeat it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from discreet.errors import InvalidType
from discreet.privacy.budgets import Budget, Currency, Gdp, Zcdp
from discreet.privacy.events.event import Event, Names

# An upper bound of pi / 2. A choice by Gumbel noise of scale b, no score of which moves by more than D, is mu-GDP with
# mu**2 = pi/2 * (D / b)**2, and D**2 / (2 b**2)-zCDP. Proof: docs/proofs/gumbel.md.
CHOICE_IN_GDP = Fraction(355, 226)


@dataclass(frozen=True, kw_only=True)
class GaussianStepsEvent(Event):
    """Steps that each release a summed gradient under Gaussian noise, one after the other.

    Each step knows the releases before it. Where a public bound of its residuals is below the largest, its sensitivity
    and its standard deviation are smaller by the same factor.

    Parameters
    ----------
    sensitivity_squared : int or Fraction
        Square of the largest L2 distance of a step's sum on two neighbours, in squared grid units, greater than 0.
    variance : Fraction
        Variance of the noise of a step with that sensitivity, greater than 0.
    n_steps : int
        How many steps, at least 1.
    selection : {"all", "threshold"}
        What is done with a step's release: kept whole, or cut to its `n_selected` largest entries.
    n_selected : int
        How many columns are kept.
    noise : {"exact", "paper"}
        "paper" for the variance that Wang and Gu 2019 print for `nominal`, whose true price this event has.
    nominal : str
        The budget for which the paper prints this variance, in words; "" for exact noise.

    Guarantee
    ---------
    mu-Gaussian differential privacy with mu**2 = n_steps * sensitivity_squared / variance: the composition of Gaussian
    mechanisms, chosen adaptively (Dong, Roth and Su 2022). Selection and rounding are post-processing.
    Proof: docs/proofs/descent.md.
    """

    kind: ClassVar[str] = "gaussian-steps"
    _positive: ClassVar[Names] = ("sensitivity_squared", "variance")
    _counts: ClassVar[Names] = ("n_steps", "n_selected")
    _words: ClassVar[dict[str, Names]] = {"selection": ("all", "threshold"), "noise": ("exact", "paper")}

    sensitivity_squared: Fraction
    variance: Fraction
    n_steps: int
    selection: str
    n_selected: int
    noise: str
    nominal: str

    def _check_numbers(self) -> None:
        if not isinstance(self.nominal, str):
            raise InvalidType(f"`nominal` must be a text; found {type(self.nominal).__name__}.")

    @cached_property
    def price(self) -> Gdp:
        """Gdp with mu**2 = n_steps * sensitivity_squared / variance."""
        return Gdp.from_squared(self.n_steps * self.sensitivity_squared / self.variance)


@dataclass(frozen=True, kw_only=True)
class SelectedStepsEvent(Event):
    """Steps that each choose columns by Gumbel noise and release those under Gaussian noise.

    Each step knows the releases before it. Where a public bound of its residuals is below the largest, its
    sensitivities and its noise are smaller by the same factor.

    Parameters
    ----------
    entry_sensitivity : int or Fraction
        Largest distance of one column's score on two neighbours, in grid units, greater than 0.
    selection_scale : Fraction
        Scale of the Gumbel noise on every score of a step with that sensitivity, greater than 0.
    value_sensitivity_squared : int or Fraction
        Square of the largest L2 distance of the chosen columns' sums, greater than 0.
    variance : Fraction
        Variance of the Gaussian noise on them, greater than 0.
    n_steps : int
        How many steps, at least 1.
    selection : {"peel", "coordinate"}
        What is scored: the size of an entry after the step, or of the gradient.
    n_selected : int
        How many columns a step chooses, at least 1.

    Guarantee
    ---------
    Zero-concentrated differential privacy with rho = n_steps * (n_selected * entry_sensitivity**2 /
    (2 * selection_scale**2) + value_sensitivity_squared / (2 * variance)), and Gaussian differential privacy with
    mu**2 = 2 rho after the choices' part is multiplied by pi / 2: a choice by Gumbel noise has bounded range.
    Proofs: docs/proofs/gumbel.md, docs/proofs/descent.md.
    """

    kind: ClassVar[str] = "selected-steps"
    _positive: ClassVar[Names] = ("entry_sensitivity", "selection_scale", "value_sensitivity_squared", "variance")
    _counts: ClassVar[Names] = ("n_steps", "n_selected")
    _words: ClassVar[dict[str, Names]] = {"selection": ("peel", "coordinate")}

    entry_sensitivity: Fraction
    selection_scale: Fraction
    value_sensitivity_squared: Fraction
    variance: Fraction
    n_steps: int
    selection: str
    n_selected: int

    @cached_property
    def price(self) -> Zcdp | Gdp:
        """What all choices and values cost together: Gdp where the budget is, otherwise Zcdp."""
        return self._in_gdp if isinstance(self.budget, Gdp) else Zcdp(rho=(self._of_choices + self._of_values) / 2)

    @property
    def _in_gdp(self) -> Gdp:
        return Gdp.from_squared(CHOICE_IN_GDP * self._of_choices + self._of_values)

    @property
    def _of_choices(self) -> Fraction:
        return self.n_steps * self.n_selected * (self.entry_sensitivity / self.selection_scale) ** 2

    @property
    def _of_values(self) -> Fraction:
        return self.n_steps * self.value_sensitivity_squared / self.variance

    def price_in(self, currency: Currency) -> Budget | None:
        """Return the price in Gdp, by its own theorem. See `Event.price_in`."""
        return self._in_gdp if currency is Gdp else None
