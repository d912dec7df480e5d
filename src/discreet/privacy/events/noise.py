"""What noise on every entry of one statistic does: enough to price it, and to repeat it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from discreet import _checks
from discreet.errors import InvalidArgument
from discreet.privacy.budgets import Gdp, Pure
from discreet.privacy.events.event import Event, Names

if TYPE_CHECKING:
    from fractions import Fraction


@dataclass(frozen=True, kw_only=True)
class LaplaceEvent(Event):
    """Laplace noise on every entry, rounded to the grid.

    Parameters
    ----------
    sensitivity : int or Fraction
        Largest L1 distance of the statistic on two neighbours, all rows of a unit counted, in grid units, greater
        than 0.
    scale : Fraction
        Scale b of the noise of density exp(-|z|/b) / (2b), in grid units, greater than 0.

    Guarantee
    ---------
    Pure differential privacy with epsilon = sensitivity / scale (Dwork et al. 2006); rounding is post-processing.
    Proof: docs/proofs/rounding.md

    Examples
    --------
    >>> from discreet.privacy.adjacency import Replace
    >>> LaplaceEvent(sensitivity=10, scale=100, adjacency=Replace(), budget=Pure(epsilon=0.1), statistic="sum of age",
    ...              shape=()).price
    Pure(epsilon=1/10)
    """

    kind: ClassVar[str] = "laplace"
    takes_units: ClassVar[bool] = True
    _positive: ClassVar[Names] = ("sensitivity", "scale")

    sensitivity: Fraction
    scale: Fraction

    @cached_property
    def price(self) -> Pure:
        """Pure with epsilon = sensitivity / scale."""
        return Pure(epsilon=self.sensitivity / self.scale)


@dataclass(frozen=True, kw_only=True)
class CoefficientLaplaceEvent(Event):
    """Laplace noise on the coefficients of a polynomial objective of degree two.

    A row `v` has the coefficients `f g_i g_j v_i v_j` for every ordered pair (i, j): for "squared" f and g are 1; for
    "logistic", labels -1 and 1, f is 1/8 and g is 1, but 2 for the target.

    Parameters
    ----------
    sensitivity, scale : int or Fraction
        Largest L1 distance of the ordered coefficients on two neighbours; scale of the noise on every coefficient.
    loss : {"squared", "logistic"}
        Which objective.
    form : {"merged", "averaged"}
        One draw a monomial, on the sum of its ordered coefficients; or one an ordered pair of features, averaged.
    target : int
        Which column of the matrix is the target, from 0; products with it are merged in either form.

    Guarantee
    ---------
    Pure differential privacy with epsilon = sensitivity / scale. Proof: docs/proofs/paper_modes.md.
    Source: Zhang et al. 2012, Algorithm 1 ("merged"); their program ("averaged").
    """

    kind: ClassVar[str] = "coefficient-laplace"
    _positive: ClassVar[Names] = ("sensitivity", "scale")
    _words: ClassVar[dict[str, Names]] = {"loss": ("squared", "logistic"), "form": ("merged", "averaged")}

    sensitivity: Fraction
    scale: Fraction
    loss: str
    form: str
    target: int

    def _check_numbers(self) -> None:
        target = _checks.whole(self.target, "target", low=0)
        if not (len(self.shape) == 2 and self.shape[0] == self.shape[1] > target):
            raise InvalidArgument(f"`target` must be a column of a square `shape`; found {target} of {self.shape}.")
        _checks.set_fields(self, target=target)

    @cached_property
    def price(self) -> Pure:
        """Pure with epsilon = sensitivity / scale."""
        return Pure(epsilon=self.sensitivity / self.scale)


@dataclass(frozen=True, kw_only=True)
class KNormEvent(Event):
    """L-infinity K-norm noise: gauge = the largest entry in units of its half-width; rounded to the grid.

    Parameters
    ----------
    sensitivity, rate : int or Fraction
        Largest gauge of the difference of two neighbours; the noise has a density proportional to exp(-rate * gauge).
    half_width : int or Fraction
        The largest half-width of an entry, in grid units, greater than 0.
    dimension : int
        How many distinct entries have noise, at least 1: those whose half-width is not 0.

    Guarantee
    ---------
    Pure differential privacy with epsilon = sensitivity * rate. Proof: docs/proofs/k_norm.md
    """

    kind: ClassVar[str] = "k-norm"
    takes_units: ClassVar[bool] = True
    _positive: ClassVar[Names] = ("sensitivity", "rate", "half_width")
    _counts: ClassVar[Names] = ("dimension",)

    sensitivity: Fraction
    rate: Fraction
    half_width: Fraction
    dimension: int

    @cached_property
    def price(self) -> Pure:
        """Pure with epsilon = sensitivity * rate."""
        return Pure(epsilon=self.sensitivity * self.rate)


@dataclass(frozen=True, kw_only=True)
class WishartEvent(Event):
    """A difference of two Wishart matrices on a Gram matrix, rounded to the grid.

    Parameters
    ----------
    row_norm_squared : int
        Largest squared Euclidean norm of a row, in squared grid units, at least 1.
    theta : Fraction
        Lipschitz constant of the noise's log-density in the nuclear norm, per squared grid unit, greater than 0.

    Guarantee
    ---------
    Pure differential privacy with epsilon = theta * row_norm_squared * rows_per_unit under AddRemove, twice that under
    Replace. Proof: docs/proofs/wishart.md
    """

    kind: ClassVar[str] = "wishart"
    takes_units: ClassVar[bool] = True
    _positive: ClassVar[Names] = ("theta",)
    _counts: ClassVar[Names] = ("row_norm_squared",)

    row_norm_squared: int
    theta: Fraction

    @cached_property
    def price(self) -> Pure:
        """Pure with epsilon = theta times the largest nuclear-norm distance of two neighbours."""
        rows = self.rows_per_unit * self.adjacency.rows_changed
        return Pure(epsilon=rows * self.theta * self.row_norm_squared)


@dataclass(frozen=True, kw_only=True)
class GaussianEvent(Event):
    """Gaussian noise on every entry, rounded to the grid.

    On a symmetric matrix the sensitivity is in the Frobenius norm, `variance` is that of a diagonal entry, and an
    off-diagonal entry, drawn once, has half of it.

    Parameters
    ----------
    sensitivity_squared : int or Fraction
        Square of the largest L2 distance of the statistic on two neighbours, all rows of a unit counted, in squared
        grid units, greater than 0.
    variance : Fraction
        Variance of the noise, in squared grid units, greater than 0.

    Guarantee
    ---------
    mu-Gaussian differential privacy with mu**2 = sensitivity_squared / variance (Dong, Roth and Su 2022); rounding
    is post-processing. Proof: docs/proofs/rounding.md
    """

    kind: ClassVar[str] = "gaussian"
    takes_units: ClassVar[bool] = True
    _positive: ClassVar[Names] = ("sensitivity_squared", "variance")

    sensitivity_squared: Fraction
    variance: Fraction

    @cached_property
    def price(self) -> Gdp:
        """Gdp with mu**2 = sensitivity_squared / variance."""
        return Gdp.from_squared(self.sensitivity_squared / self.variance)
