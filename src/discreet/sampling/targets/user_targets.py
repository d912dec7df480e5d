"""A target of one's own: values are moved into its public bounds, its sensitivity is declared and believed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.numbers.outward import exp_down
from discreet.sampling.evaluation import check_below, evaluate
from discreet.sampling.targets.bases import Base, check_base
from discreet.sampling.targets.common_envelopes import ERROR, BoundedUtility
from discreet.sampling.targets.own_utilities import OwnUtility
from discreet.sampling.targets.targets import BELIEVED, ScaledTarget, Target

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, kw_only=True, eq=False)
class UserTarget(OwnUtility, Target):
    """A utility of one's own with declared public bounds.

    Parameters
    ----------
    utility : callable
        Takes points, shape (size, dimension), and all rows, shape (n_rows, n_columns); returns one number a point.
    base : Uniform, Normal or Custom
        The base law; proposals come from it.
    upper : number
        At least the utility of every point, for every data set: the envelope. What is above is moved to it.
    change : number
        The most by which the utility of a point changes when a record is added, removed or replaced. It is believed:
        a function sees all rows at once, may keep state, and no check can see how much one record moves it.
    lower : number, optional
        At most the utility of every point, for every data set. What is below is moved to it.
    acceptance : callable, optional
        Takes the scale (a Fraction) and the public number of rows (None under AddRemove), and returns at most the
        mean of ``exp(scale * (utility - upper))`` under the base law, for every data set. Needed where there is no
        `lower`; the larger of the two counts.
    error : number, default 0
        By how much an evaluation may be off; 0 if `change` bounds what is computed.
    example : array-like
        Public rows with the columns of the data.
    title : str, default "user-defined target"
        What is drawn, in words.

    Raises
    ------
    InvalidArgument
        If the example shows at public test points that the envelope does not dominate, that the utility is NaN, or
        that acceptance is less often than declared; or if no bound of acceptance is above 0.

    Guarantee
    ---------
    As far as `change`, `error` and the bound on acceptance are true. Proof: docs/proofs/sampling.md
    """

    base: Base
    upper: Any
    lower: Any = None
    acceptance: Callable[[Fraction, int | None], Any] | None = None
    error: Any = 0
    title: str = "user-defined target"

    def __post_init__(self) -> None:
        check_base(self.base, "base")
        _checks.check_fields(self, _checks.exact, "upper")
        if self.lower is not None:
            _checks.check_fields(self, _checks.exact, "lower")
            if not self.lower < self.upper:
                raise InvalidArgument(f"`lower` must be below `upper`; found {self.lower} and {self.upper}.")
        if self.lower is None and self.acceptance is None:
            raise InvalidArgument(
                "`lower` or `acceptance` must be given: without a public bound of acceptance no time is private."
            )
        _checks.check_fields(self, _checks.exact_nonnegative, "error")
        self._read_change()
        values = self._tried(self.base.test_points())
        check_below(values, np.full(values.shape, float(self.upper)), "`utility` is above `upper`")
        if self.lower is not None:
            check_below(np.full(values.shape, float(self.lower)), values, "`utility` is below `lower`")

    @property
    def name(self) -> str:
        """What is drawn."""
        return self.title

    @property
    def dimension(self) -> int:
        """How many numbers a point has."""
        return self.base.dimension

    def at(self, scale: Fraction, n_rows: int | None) -> ScaledTarget:
        """Return the law at a public scale; refuse a bound on acceptance that the example violates."""
        pointwise = None if self.lower is None else exp_down(-scale * (self.upper - self.lower))
        declared = (
            Fraction(0) if self.acceptance is None else _checks.exact(self.acceptance(scale, n_rows), "acceptance")
        )
        least = max(declared, pointwise or Fraction(0))
        if not 0 < least <= 1:
            raise IncompatiblePlan(
                f"{self.name}: the bound on acceptance must be above 0 and at most 1; found {float(least):.3g}."
            )
        if n_rows is None or self.example.shape[0] == n_rows:
            self._check_acceptance(scale, declared)
        return BoundedUtility(
            dimension=self.dimension,
            acceptance=least,
            error=ERROR + scale * self.error,
            common_envelope=True,
            default=self.base.default,
            least_ratio=pointwise or None,
            notes=(BELIEVED.format("sensitivity"),),
            scale=float(scale),
            base=self.base,
            utility=self._below,
        )

    def _below(self, points: np.ndarray, rows: np.ndarray) -> np.ndarray:
        lower = -np.inf if self.lower is None else float(self.lower)
        values = evaluate(self.utility, points, rows)
        below: np.ndarray = np.clip(np.where(np.isnan(values), lower, values), lower, float(self.upper))
        return below - float(self.upper)

    def _check_acceptance(self, scale: Fraction, declared: Fraction) -> None:
        chances = np.exp(float(scale) * self._below(self.base.test_points(), self.example))
        # Six standard errors: a true bound is not refused.
        most = chances.mean() + 6 * chances.std() / np.sqrt(chances.size) + 1e-9
        if not float(declared) <= most:
            raise IncompatiblePlan(
                f"{self.name}: `acceptance` is declared to be at least {float(declared):.3g}; with the example rows it "
                f"is about {chances.mean():.3g}. Declare a bound that holds for every data set."
            )
