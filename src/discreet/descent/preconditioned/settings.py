"""The public settings of a preconditioned descent, and those that are taken where none is given.

The default is a function of public facts alone. It was fitted on simulated tables and adjusted on real ones by
experiments/descent_defaults.py; what it measured is in experiments/results/descent-defaults.md. No setting changes what
is promised.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.privacy.accounting import gaussian_mu
from discreet.privacy.budgets import Gdp, Pure, Zcdp, check_budget
from discreet.privacy.events.preconditioned import check_growth

if TYPE_CHECKING:
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget


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


LOSSES = ("squared", "logistic", "poisson")

# All knots are by the whitener's noise: what the Gram matrix's noise can do to an eigenvalue, over the largest mean
# eigenvalue that rows of that norm can have. Between these values they are interpolated in its logarithm.
_NOISE = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


@dataclass(frozen=True, kw_only=True)
class _Knots:
    """Settings at every value of `_NOISE`.

    `step_size` is over the largest curvature of the loss (a count's is taken for its mean), `growth` each step's share
    over that of the step before, and `clipped` how many rows are to be clipped, in rows of a residual at the clip that
    the noise of all steps, averaged, is worth.
    """

    n_steps: tuple[float, ...]
    step_size: tuple[float, ...]
    average_from: tuple[float, ...]
    growth: tuple[float, ...]
    clipped: tuple[float, ...]

    def at(self, name: str, noise: float) -> float:
        return float(np.interp(math.log(noise), np.log(_NOISE), getattr(self, name)))


_GAUSSIAN = {
    "squared": _Knots(
        n_steps=(14, 16, 16, 17, 16, 14, 12),
        step_size=(0.9, 0.9, 0.9, 0.95, 0.95, 0.95, 0.95),
        average_from=(0.2, 0.2, 0.25, 0.3, 0.4, 0.4, 0.4),
        growth=(1.25, 1.25, 1.2, 1.12, 1.05, 1.03, 1.0),
        clipped=(5.0, 6.5, 8.0, 7.5, 5.0, 5.0, 4.0),
    ),
    "logistic": _Knots(
        n_steps=(36, 32, 25, 17, 14, 13, 8),
        step_size=(1.3, 1.3, 1.2, 1.1, 0.92, 0.78, 0.65),
        average_from=(0.33, 0.33, 0.33, 0.4, 0.4, 0.4, 0.4),
        growth=(1.15, 1.15, 1.15, 1.1, 1.03, 1.0, 1.0),
        clipped=(2.5, 3.5, 4.5, 5.0, 4.5, 4.0, 3.0),
    ),
    "poisson": _Knots(
        n_steps=(50, 50, 46, 36, 28, 26, 24),
        step_size=(0.42, 0.45, 0.5, 0.66, 0.86, 0.95, 0.95),
        average_from=(0.33, 0.33, 0.33, 0.33, 0.4, 0.4, 0.4),
        growth=(1.06, 1.07, 1.06, 1.0, 1.0, 1.0, 1.0),
        clipped=(5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0),
    ),
}
# With pure budgets the noise of a step grows with their number, not with its root: few of them.
_PURE = {
    "squared": _Knots(
        n_steps=(8, 7, 6, 6, 6, 6, 6),
        step_size=(0.95, 0.95, 0.95, 0.95, 0.95, 0.95, 0.95),
        average_from=(0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4),
        growth=(1.5, 1.5, 1.45, 1.32, 1.15, 1.1, 1.0),
        clipped=(6.0, 6.0, 6.0, 7.0, 7.0, 6.0, 5.0),
    ),
    "logistic": _Knots(
        n_steps=(12, 11, 10, 8, 6, 5, 5),
        step_size=(1.5, 1.4, 1.3, 1.15, 0.9, 0.75, 0.7),
        average_from=(0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4),
        growth=(1.4, 1.35, 1.28, 1.2, 1.1, 1.05, 1.0),
        clipped=(6.0, 6.0, 6.0, 6.0, 5.5, 5.0, 4.0),
    ),
    "poisson": _Knots(
        n_steps=(9, 8, 8, 8, 7, 6, 5),
        step_size=(0.7, 0.7, 0.7, 0.78, 0.9, 1.0, 1.0),
        average_from=(0.5, 0.5, 0.4, 0.4, 0.4, 0.4, 0.4),
        growth=(1.3, 1.25, 1.25, 1.15, 1.1, 1.1, 1.0),
        clipped=(6.0, 6.0, 6.0, 6.0, 5.5, 5.0, 4.0),
    ),
}
# A table this large has little noise, and each step of it takes long.
_LARGE, _MOST_STEPS_OF_LARGE = 500_000, {"squared": 18, "logistic": 18, "poisson": 30}
_CURVATURE = {"squared": 1.0, "logistic": 0.25, "poisson": 1.0}
# A typical residual, over its public bound.
_TYPICAL = {"squared": 0.15, "logistic": 0.45, "poisson": 0.07}
_GRAM_SHARE, _COUNT_SHARE = Fraction(1, 5), Fraction(1, 20)
# Where a pure budget leaves much noise, more is needed to whiten at all; with little Gaussian noise less is enough.
_PURE_NOISY, _PURE_NOISY_GRAM_SHARE = 0.2, Fraction(3, 10)
# Below this the matrix's own solution is nearer than zero; Gaussian steps, of which there are more, find there alone.
_PURE_WARM = 0.2
# A count's step is over its mean, which is read from the matrix too.
_PURE_NOISY_COUNTS, _PURE_NOISY_COUNTS_GRAM_SHARE = 0.8, Fraction(2, 5)
_QUIET, _QUIET_GRAM_SHARE = 0.06, Fraction(3, 20)
_FIRST_CLIP, _PURE_FIRST_CLIP = 0.3, 0.2
# Steps whose noise adds up, in a pure budget, as if it were one's.
_PURE_AVERAGED = 5
_GAIN = 0.5
# Never is it best to clip more than this share of all rows.
_LARGEST_CLIPPED = 0.5


def settings_for(
    *,
    loss: str,
    n_rows: int,
    n_features: int,
    budget: Budget,
    adjacency: Adjacency,
    row_norm_squared: float,
    residual_bound: float,
) -> Settings:
    """Return settings near the best, from public facts alone.

    Parameters
    ----------
    loss : {"squared", "logistic", "poisson"}
        What is minimized.
    n_rows : int
        The number of rows under Replace, an expected one under AddRemove.
    n_features : int
        Columns that are whitened, the intercept's included; at least 1.
    budget : Pure, Approx, Zcdp or Gdp
        What the whole descent may cost.
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    row_norm_squared : float
        The largest squared norm of a row with its target, in half-widths of their bounds.
    residual_bound : float
        The largest residual that can be expected in the units of `clip`: 2 for a target in half-widths of its bounds,
        1 for a label and for a count over its bound.

    Raises
    ------
    IncompatiblePlan
        If a budget in Approx has no delta.
    InvalidArgument
        If a number is out of its range.

    Notes
    -----
    How many rows are clipped is what matters most: about `c * sqrt(n_features) / mu` times 5 to 8, c = 2 (Replace) or 1
    (AddRemove), independently of the number of rows. The clip itself follows a noisy count of them.

    Examples
    --------
    >>> from discreet.privacy.adjacency import Replace
    >>> from discreet.privacy.budgets import Gdp
    >>> found = settings_for(loss="squared", n_rows=10_000, n_features=12, budget=Gdp(mu="0.2"), adjacency=Replace(),
    ...     row_norm_squared=8.0, residual_bound=2.0)
    >>> found.n_steps, round(found.clip_target), found.gram_share
    (17, 348, Fraction(1, 5))
    """
    _checks.one_of(loss, "loss", LOSSES)
    n = _checks.integer(n_rows, "n_rows", low=1)
    p = _checks.integer(n_features, "n_features", low=1)
    norm_squared = _positive(row_norm_squared, "row_norm_squared")
    bound = _positive(residual_bound, "residual_bound")
    changed = adjacency.rows_changed
    strength, pure = _strength(budget), isinstance(budget, Pure)
    noise = _gram_noise(p, norm_squared, changed, strength, pure=pure) / (n * norm_squared / p)
    gram_share = _gram_share(loss, noise, pure=pure)
    rest = float(1 - gram_share - _COUNT_SHARE)

    knots = (_PURE if pure else _GAUSSIAN)[loss]
    n_steps = round(knots.at("n_steps", noise))
    if n >= _LARGE:
        n_steps = min(n_steps, _MOST_STEPS_OF_LARGE[loss])
    # What the noise of all steps, averaged, is worth in rows of a residual at the clip.
    rows = changed * (p * math.sqrt(_PURE_AVERAGED) if pure else math.sqrt(p)) / (strength * rest)
    plain = n * strength / (changed * (p if pure else math.sqrt(p)))
    first = _PURE_FIRST_CLIP if pure and loss != "poisson" else _FIRST_CLIP
    clip = first * _TYPICAL[loss] * bound * math.sqrt(p) * max(1.0, plain) ** (1 / 3) / (1.0 + noise)
    return Settings(
        n_rows=n,
        gram_share=gram_share,
        count_share=_COUNT_SHARE,
        clip=min(max(clip, 1e-6), 1e6),
        clip_target=min(knots.at("clipped", noise) * rows, _LARGEST_CLIPPED * n),
        clip_gain=_GAIN,
        n_steps=n_steps,
        step_size=knots.at("step_size", noise) / _CURVATURE[loss],
        average_from=knots.at("average_from", noise),
        step_growth=Fraction(round(100 * knots.at("growth", noise)), 100),
        warm_start=pure and noise < _PURE_WARM,
    )


def _positive(value: float, name: str) -> float:
    number = _checks.finite_float(value, name)
    if 0 < number <= 1e12:
        return number
    raise InvalidArgument(f"`{name}` must be above 0 and at most 1e12; found {number}.")


def _strength(budget: Budget) -> float:
    """Return epsilon of a pure budget, otherwise mu."""
    value = check_budget(budget)
    if isinstance(value, Pure):
        strength = float(value.epsilon)
    elif isinstance(value, Gdp):
        strength = math.sqrt(value.mu_squared)
    elif isinstance(value, Zcdp):
        strength = math.sqrt(2 * value.rho)
    elif value.delta > 0:
        strength = float(gaussian_mu(epsilon=value.epsilon, delta=value.delta))
    else:
        raise IncompatiblePlan(
            f"A preconditioned descent has Gaussian noise under {value!r}, which needs a delta above 0. "
            "Use Pure(epsilon=...)."
        )
    if strength > 0:
        return strength
    raise InvalidArgument(f"`budget` {value!r} buys nothing. Give one above 0.")


def _gram_share(loss: str, noise: float, *, pure: bool) -> Fraction:
    if pure and loss == "poisson" and noise >= _PURE_NOISY_COUNTS:
        return _PURE_NOISY_COUNTS_GRAM_SHARE
    if pure:
        return _PURE_NOISY_GRAM_SHARE if noise >= _PURE_NOISY else _GRAM_SHARE
    return _GRAM_SHARE if noise >= _QUIET else _QUIET_GRAM_SHARE


def _gram_noise(p: int, norm_squared: float, changed: int, strength: float, *, pure: bool) -> float:
    """Return about how far the Gram matrix's noise, at its usual share, moves an eigenvalue of a sum."""
    share = float(_GRAM_SHARE)
    if pure:
        entry = math.sqrt((p + 2) / 2) * norm_squared * changed / (strength * share)
    else:
        entry = norm_squared * math.sqrt(changed / 2) / (strength * math.sqrt(share))
    return 2.0 * entry * math.sqrt(p)
