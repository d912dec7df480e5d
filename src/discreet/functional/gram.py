"""The plan of one noisy Gram matrix: which law, which scale, for which budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.lattice.noise.accuracy import check_library
from discreet.lattice.noise.laplace import symmetric_laplace
from discreet.lattice.noise.scales import check_scale, check_theta, check_variance
from discreet.lattice.noise.steps import step_bits_for
from discreet.lattice.noise.symmetric_gaussian import symmetric_gaussian
from discreet.lattice.noise.wishart import wishart_difference
from discreet.privacy.accounting import gaussian_mu
from discreet.privacy.budgets import Gdp, Pure, Zcdp, check_budget
from discreet.privacy.events import GaussianEvent, LaplaceEvent, WishartEvent

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from discreet.lattice.coins import Coins
    from discreet.lattice.grid import Layout
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget

GramEvent = WishartEvent | LaplaceEvent | GaussianEvent
MECHANISMS = ("auto", "wishart", "laplace", "gaussian")


class PrivateRows(Protocol):
    """Private rows that can be summed on a grid."""

    def private_gram(self, layout: Layout) -> np.ndarray:
        """Return the exact integer Gram matrix, int64 of shape (D, D); may raise what the data owner declared."""
        ...

    def private_size(self) -> int:
        """Return the number of rows; used only where the adjacency makes it public."""
        ...


@dataclass(frozen=True, eq=False)
class PrivateGram:
    """An exact Gram matrix that is not released yet."""

    private_entries: np.ndarray
    private_size: int


@dataclass(frozen=True, eq=False)
class NoisyGram:
    """A released Gram matrix.

    Parameters
    ----------
    entries : ndarray of int64, shape (D, D)
        Symmetric; in units of `2**step_bits` squared grid steps.
    step_bits : int
        The public step of the release.
    n_rows : int or None
        The number of rows where it is public, otherwise None.
    """

    entries: np.ndarray
    step_bits: int
    n_rows: int | None


@dataclass(frozen=True)
class GramPlan:
    """What one release of a Gram matrix will do; priced without data.

    Parameters
    ----------
    layout : Layout
        The public grid of a row.
    event : WishartEvent, LaplaceEvent or GaussianEvent
        The mechanism, its sensitivity and its scale.
    size_is_public : bool
        True under Replace() when every row contributes.
    """

    layout: Layout
    event: GramEvent
    size_is_public: bool

    def measure(self, data: PrivateRows) -> PrivateGram:
        """Return the exact statistic; deterministic, without coins."""
        return PrivateGram(data.private_gram(self.layout), data.private_size())

    def draw(self, statistic: PrivateGram, coins: Coins) -> NoisyGram:
        """Return the statistic under noise; total, whatever the private values are."""
        event, entries = self.event, statistic.private_entries
        if isinstance(event, WishartEvent):
            noisy = wishart_difference(entries, theta=event.theta, coins=coins, step_bits=event.step_bits)
        elif isinstance(event, LaplaceEvent):
            noisy = symmetric_laplace(entries, scale=event.scale, coins=coins, step_bits=event.step_bits)
        else:
            noisy = symmetric_gaussian(
                entries, diagonal_variance=event.variance, coins=coins, step_bits=event.step_bits
            )
        return NoisyGram(noisy, event.step_bits, statistic.private_size if self.size_is_public else None)


def plan_gram(
    layout: Layout,
    *,
    budget: Budget,
    adjacency: Adjacency,
    mechanism: str = "auto",
    size_is_public: bool,
    statistic: str,
) -> GramPlan:
    """Return the plan of one Gram release that costs at most `budget`; what no noise can be drawn for is refused.

    Parameters
    ----------
    layout : Layout
        The public grid of a row; the sensitivities are its own exact integers.
    budget : Pure, Approx, Zcdp or Gdp
        What the release may cost.
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    mechanism : {"auto", "wishart", "laplace", "gaussian"}
        The law of the noise; "auto" takes the Wishart difference for Pure and the symmetric Gaussian otherwise.
    size_is_public : bool
        Whether the number of contributing rows is public.
    statistic : str
        What is released, in words.

    Guarantee
    ---------
    The event's price, computed from its own exact fields, is at most `budget`.
    Proofs: docs/proofs/gram.md (sensitivities), docs/proofs/wishart.md, docs/proofs/rounding.md.
    """
    check_budget(budget)
    name = _checks.one_of(mechanism, "mechanism", MECHANISMS)
    if name == "auto":
        name = "wishart" if isinstance(budget, Pure) else "gaussian"
    if (name == "gaussian") == isinstance(budget, Pure):
        needed = "Zcdp, Gdp or Approx" if name == "gaussian" else "Pure"
        raise IncompatiblePlan(
            f'`mechanism` "{name}" needs a budget in {needed}; found {budget!r}. '
            'Use mechanism="auto", which takes the law that fits the budget.'
        )
    common: dict[str, Any] = {
        "adjacency": adjacency,
        "budget": budget,
        "statistic": statistic,
        "shape": (layout.width, layout.width),
    }
    laws: dict[str, Callable[..., GramEvent]] = {"wishart": _wishart, "laplace": _laplace, "gaussian": _gaussian}
    make = laws[name]
    refused = False
    try:
        event = make(layout, budget, common)
    except (InvalidArgument, OverflowError):
        refused = True
    if refused:
        raise InvalidArgument(
            f"`budget` {budget!r} is too small, or too large, for the noise of a 64-bit release of {layout.width} "
            "columns. Choose one nearer to 1, or fewer columns."
        )
    if name != "laplace":
        # A library that is too inaccurate for exact noise is refused before a charge, not after it.
        check_library()
    return GramPlan(layout, event, size_is_public)


def _wishart(layout: Layout, budget: Any, common: dict[str, Any]) -> WishartEvent:
    theta = check_theta(budget.epsilon / layout.sensitivity("nuclear", common["adjacency"]), layout.width)
    return WishartEvent(
        row_norm_squared=layout.row_norm_squared,
        theta=theta,
        step_bits=step_bits_for(math.sqrt((layout.width + 1) / 2) / theta),
        **common,
    )


def _laplace(layout: Layout, budget: Any, common: dict[str, Any]) -> LaplaceEvent:
    sensitivity = Fraction(layout.sensitivity("l1", common["adjacency"]))
    scale = check_scale(sensitivity / budget.epsilon, "scale")
    return LaplaceEvent(sensitivity=sensitivity, scale=scale, step_bits=step_bits_for(scale), **common)


def _gaussian(layout: Layout, budget: Any, common: dict[str, Any]) -> GaussianEvent:
    sensitivity_squared = Fraction(layout.sensitivity("frobenius_squared", common["adjacency"]))
    if isinstance(budget, Gdp):
        mu_squared = budget.mu_squared
    elif isinstance(budget, Zcdp):
        mu_squared = 2 * budget.rho
    else:
        mu_squared = gaussian_mu(epsilon=budget.epsilon, delta=budget.delta) ** 2
    variance = check_variance(sensitivity_squared / mu_squared, "variance")
    return GaussianEvent(
        sensitivity_squared=sensitivity_squared,
        variance=variance,
        step_bits=step_bits_for(math.sqrt(variance / 2)),
        **common,
    )


def gram_of(layout: Layout) -> str:
    """Return what a layout's Gram matrix is a Gram matrix of, in words."""
    return f"Gram matrix of ({', '.join(('1',) * layout.intercept + layout.names)})"


def noise_scale(event: GramEvent) -> float:
    """Return the standard deviation of an off-diagonal entry's noise, in squared grid steps; public."""
    if isinstance(event, WishartEvent):
        return math.sqrt((event.shape[0] + 1) / 2) / float(event.theta)
    if isinstance(event, LaplaceEvent):
        return math.sqrt(2) * float(event.scale)
    return math.sqrt(float(event.variance) / 2)
