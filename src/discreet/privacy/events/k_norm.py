"""What draws from a K-norm gradient cost where the normalizers of neighbours are known to be close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from discreet.errors import InvalidArgument
from discreet.privacy.budgets import Approx, Currency, Pure
from discreet.privacy.events.sampling import SamplingEvent

if TYPE_CHECKING:
    from fractions import Fraction

    from discreet.privacy.events.event import Names


@dataclass(frozen=True, kw_only=True)
class KNormGradientEvent(SamplingEvent):
    """Exact draws from a density proportional to exp(scale * utility) whose normalizer hardly changes.

    Parameters
    ----------
    normalizer : Fraction
        At least by how much the logarithm of the normalizer, the integral of exp(scale * utility), changes between
        neighbours; at least 0.

    Guarantee
    ---------
    The logarithm of a density changes by the utility's part and the normalizer's: in Pure and Approx a draw costs
    ``scale * sensitivity + normalizer`` where that is less than ``2 * scale * sensitivity``; in Zcdp and Gdp it
    costs what `SamplingEvent` says. Proof: docs/proofs/k_norm_gradient.md
    """

    kind: ClassVar[str] = "k-norm-gradient"
    _nonnegative: ClassVar[Names] = ("normalizer",)

    normalizer: Fraction

    def _check_numbers(self) -> None:
        super()._check_numbers()
        if self.envelope != "data-dependent":
            raise InvalidArgument('`envelope` of a K-norm gradient must be "data-dependent".')

    def change_in(self, currency: Currency) -> Fraction:
        """Return half the range of the log-ratio of densities, with the error of evaluation."""
        of_utility = self.scale * self.sensitivity
        if currency in {Pure, Approx}:
            return min(of_utility, (of_utility + self.normalizer) / 2) + 2 * self.error
        return of_utility + 2 * self.error
