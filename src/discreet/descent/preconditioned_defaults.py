"""Default settings of a preconditioned descent: a function of public facts alone.

The rule was fitted on simulated tables, and checked on real ones afterwards, by experiments/descent_defaults.py; what it
measured is in experiments/results/descent-defaults.md. No setting changes what is promised.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.privacy.accounting import gaussian_mu
from discreet.privacy.adjacency import Replace, check_adjacency
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp, check_budget

if TYPE_CHECKING:
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget

LOSSES = ("squared", "logistic", "poisson")

# All settings below are by the whitener's noise: what the Gram matrix's noise can do to an eigenvalue, over the largest
# mean eigenvalue that rows of that norm can have. Between these values they are interpolated in its logarithm.
_NOISE = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
_STEPS = {
    "squared": (14, 16, 16, 17, 16, 14, 12),
    "logistic": (40, 32, 26, 18, 13, 12, 8),
    "poisson": (48, 44, 40, 32, 28, 24, 24),
}
# Over the largest curvature of the loss; a count's is taken for its mean.
_STEP_SIZES = {
    "squared": (0.95, 0.95, 0.95, 0.95, 0.95, 0.95, 0.95),
    "logistic": (1.3, 1.3, 1.2, 1.0, 0.9, 0.75, 0.7),
    "poisson": (0.7, 0.7, 0.7, 0.75, 0.9, 0.95, 0.95),
}
_AVERAGE_FROM = (0.33, 0.33, 0.33, 0.33, 0.4, 0.4, 0.4)
_CURVATURE = {"squared": 1.0, "logistic": 0.25, "poisson": 1.0}
# With pure budgets the noise of a step grows with their number, not with its root: few of them.
_PURE_STEPS = {
    "squared": (10, 8, 8, 8, 8, 6, 4),
    "logistic": (24, 16, 12, 8, 6, 4, 4),
    "poisson": (16, 12, 10, 8, 8, 6, 6),
}
# A typical residual, over its public bound.
_TYPICAL = {"squared": 0.15, "logistic": 0.45, "poisson": 0.1}
_GRAM_SHARE, _PURE_GRAM_SHARE = Fraction(1, 5), Fraction(3, 10)
_COUNT_SHARE, _PURE_COUNT_SHARE = Fraction(1, 20), Fraction(2, 25)
_FIRST_CLIP = 0.3
_CLIPPED, _PURE_CLIPPED = 6.0, 6.0
_GAIN = 0.6
# Never is it best to clip more than this share of all rows.
_LARGEST_CLIPPED = 0.5


@dataclass(frozen=True, kw_only=True)
class PreconditionedSettings:
    """Settings of a preconditioned descent; the fields of the same name are explained by its `Settings`.

    Parameters
    ----------
    gram_share, count_share : Fraction
        Shares of the budget, in mu**2 or in epsilon, of the Gram matrix and of the counts of clipped rows.
    clip : float
        The first bound of residual times whitened row.
    clip_target : float
        How many rows are to be clipped.
    clip_gain : float
        How fast the clip follows.
    n_steps : int
        Number of steps.
    step_size : float
        In whitened coordinates; a count's is divided by its mean.
    average_from : float
        The share of iterates that are left out of the mean.
    """

    gram_share: Fraction
    count_share: Fraction
    clip: float
    clip_target: float
    clip_gain: float
    n_steps: int
    step_size: float
    average_from: float


def settings_for(
    *,
    loss: str,
    n_rows: int,
    n_features: int,
    budget: Budget,
    adjacency: Adjacency,
    row_norm_squared: float,
    residual_bound: float,
) -> PreconditionedSettings:
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
    How many rows are clipped is what matters most: about `c * sqrt(n_features) / mu` times 6, c = 2 (Replace) or 1
    (AddRemove), independently of the number of rows. The clip itself follows a noisy count of them.

    Examples
    --------
    >>> from discreet.privacy.adjacency import Replace
    >>> from discreet.privacy.budgets import Gdp
    >>> found = settings_for(loss="squared", n_rows=10_000, n_features=12, budget=Gdp(mu="0.2"), adjacency=Replace(),
    ...     row_norm_squared=8.0, residual_bound=2.0)
    >>> found.n_steps, round(found.clip_target), found.gram_share
    (26, 240, Fraction(1, 5))
    """
    _checks.one_of(loss, "loss", LOSSES)
    n = _checks.integer(n_rows, "n_rows", low=1)
    p = _checks.integer(n_features, "n_features", low=1)
    norm_squared = _positive(row_norm_squared, "row_norm_squared")
    bound = _positive(residual_bound, "residual_bound")
    changed = 2 if isinstance(check_adjacency(adjacency), Replace) else 1
    strength, pure = _strength(budget), isinstance(budget, Pure)
    share = float(_PURE_GRAM_SHARE if pure else _GRAM_SHARE)
    rest = 1.0 - share - float(_PURE_COUNT_SHARE if pure else _COUNT_SHARE)
    noise = _gram_noise(p, norm_squared, changed, strength, share, pure=pure) / (n * norm_squared / p)

    def at(values: tuple[float, ...]) -> float:
        return float(np.interp(math.log(noise), np.log(_NOISE), values))

    n_steps = round(at((_PURE_STEPS if pure else _STEPS)[loss]))
    # What the noise of all steps, averaged, is worth in rows of a residual at the clip.
    rows = changed * (p * math.sqrt(n_steps) if pure else math.sqrt(p)) / (strength * rest)
    plain = n * strength / (changed * (p if pure else math.sqrt(p)))
    clip = _FIRST_CLIP * _TYPICAL[loss] * bound * math.sqrt(p) * max(1.0, plain) ** (1 / 3) / (1.0 + noise)
    return PreconditionedSettings(
        gram_share=_PURE_GRAM_SHARE if pure else _GRAM_SHARE,
        count_share=_PURE_COUNT_SHARE if pure else _COUNT_SHARE,
        clip=min(max(clip, 1e-6), 1e6),
        clip_target=min((_PURE_CLIPPED if pure else _CLIPPED) * rows, _LARGEST_CLIPPED * n),
        clip_gain=_GAIN,
        n_steps=n_steps,
        step_size=at(_STEP_SIZES[loss]) / _CURVATURE[loss],
        average_from=at(_AVERAGE_FROM),
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


def _gram_noise(p: int, norm_squared: float, changed: int, strength: float, share: float, *, pure: bool) -> float:
    """Return about how far the Gram matrix's noise moves an eigenvalue of a sum."""
    if pure:
        entry = math.sqrt((p + 2) / 2) * norm_squared * changed / (strength * share)
    else:
        entry = norm_squared * math.sqrt(changed / 2) / (strength * math.sqrt(share))
    return 2.0 * entry * math.sqrt(p)
