"""What a preconditioned descent is told: public numbers, chosen before any row is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import _checks
from discreet.errors import InvalidArgument
from discreet.privacy.events.preconditioned import check_growth


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The public settings of a preconditioned descent; nothing here comes from private rows.

    Parameters
    ----------
    n_rows : int
        N, what sums are divided by: the number of rows under Replace, an expected number under AddRemove.
    gram_share : float or Fraction
        f, the Gram matrix's share of the budget, in mu**2 or in epsilon; between 0 and 1.
    clip : float
        C, the (first) bound of residual times whitened row, above 0. Rows are in half-widths of their columns (the
        constant is 1). A residual is in half-widths of the target's bounds ("squared"), a difference of probabilities
        ("logistic"), or over the target's upper bound ("poisson").
    n_steps : int
        T, fixed.
    step_size : float
        eta, along the gradient of the mean loss in whitened coordinates, above 0: near 1 for "squared", up to 4 for
        "logistic"; for "poisson" it is divided by the mean count that the Gram matrix tells, so near 1.
    count_share : float or Fraction, default 0
        q, the share of the budget for a noisy count, in every step, of the rows that were clipped: the next clip
        follows it. 0 keeps the clip as it is.
    clip_target : float, default 0
        How many rows are to be clipped; above 0 where counts are paid for, and not read otherwise.
    clip_gain : float, default 0.5
        How fast the clip follows: it is multiplied by `ratio ** (clip_gain / (1 + t / 8))` after step t = 0, 1, ...,
        with ratio the noisy count over the target, each with one standard deviation of the count's noise added;
        it is kept between 1/4 and 16.
    average_from : float, default 0.5
        The result is the mean of the iterates after step `ceil(average_from * T)` on, in [0, 1), each weighted by one
        over its step's noise variance.
    step_growth : float or Fraction, default 1
        How many times the share of the step before it each step's sum has, in mu**2 or in epsilon: the first steps need
        but a direction, the last ones are averaged. From 1/4096 to 4096 over all steps.
    warm_start : bool, default False
        Whether the descent begins at the solution of the Gram matrix, for "squared" and "logistic": free. For "poisson"
        it does not.
    """

    n_rows: int
    gram_share: Fraction
    clip: float
    n_steps: int
    step_size: float
    count_share: Fraction = Fraction(0)
    clip_target: float = 0.0
    clip_gain: float = 0.5
    average_from: float = 0.5
    step_growth: Fraction = Fraction(1)
    warm_start: bool = False

    def __post_init__(self) -> None:
        values: dict[str, Any] = {
            "n_rows": _checks.integer(self.n_rows, "n_rows", low=1, high=2**32),
            "n_steps": _checks.integer(self.n_steps, "n_steps", low=1, high=10**4),
            "warm_start": _checks.boolean(self.warm_start, "warm_start"),
            "gram_share": _checks.exact_positive(self.gram_share, "gram_share"),
            "count_share": _checks.exact_nonnegative(self.count_share, "count_share"),
        }
        values["step_growth"] = check_growth(self.step_growth, values["n_steps"])
        if not values["gram_share"] + values["count_share"] < 1:
            raise InvalidArgument(
                "`gram_share` and `count_share` must leave something for the steps: below 1 together."
            )
        for name in ("clip", "step_size"):
            values[name] = _checks.finite_float(getattr(self, name), name)
            if not 1e-9 <= values[name] <= 1e9:
                raise InvalidArgument(f"`{name}` must be between 1e-9 and 1e9; found {values[name]}.")
        for name, low, high in (("clip_target", 0.0, 1e15), ("clip_gain", 0.0, 10.0), ("average_from", 0.0, 1.0)):
            values[name] = _checks.finite_float(getattr(self, name), name)
            if not low <= values[name] <= high:
                raise InvalidArgument(f"`{name}` must be between {low:g} and {high:g}; found {values[name]}.")
        if values["count_share"] and not values["clip_target"] > 0:
            raise InvalidArgument("`clip_target` must be above 0 where `count_share` is: how many rows to clip.")
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def first_averaged(self) -> int:
        """The first step, from 0, whose iterate is averaged."""
        return min(math.ceil(self.average_from * self.n_steps), self.n_steps - 1)
