"""The plan of one noisy Gram matrix: which law, which scale, for which budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.functional.half_widths import gram_half_widths, half_widths_of, n_noisy
from discreet.functional.paper_modes import (
    FORMS,
    LOSSES,
    coefficient_laplace,
    coefficient_scale,
    coefficient_sensitivity,
    entry_scales,
)
from discreet.lattice.gram_noise import k_norm_std, noise_scale
from discreet.lattice.noise.accuracy import check_library
from discreet.lattice.noise.k_norm import check_rate, symmetric_k_norm
from discreet.lattice.noise.laplace import symmetric_laplace
from discreet.lattice.noise.scales import check_scale, check_theta, check_variance
from discreet.lattice.noise.steps import step_bits_for
from discreet.lattice.noise.symmetric_gaussian import symmetric_gaussian
from discreet.lattice.noise.wishart import wishart_difference
from discreet.privacy.accounting import gaussian_mu
from discreet.privacy.budgets import Gdp, Zcdp, check_budget, is_pure
from discreet.privacy.events.noise import CoefficientLaplaceEvent, GaussianEvent, KNormEvent, LaplaceEvent, WishartEvent

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.lattice.gram_noise import GramEvent
    from discreet.lattice.grid import Layout
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.coins import Coins
    from discreet.tables.rows import PrivateRows

MECHANISMS = ("auto", "wishart", "laplace", "l_inf", "gaussian", "paper", "paper_code")


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
    event : WishartEvent, LaplaceEvent, GaussianEvent, KNormEvent or CoefficientLaplaceEvent
        The mechanism, its sensitivity and its scale.
    size_is_public : bool
        True under Replace() when every row contributes.
    """

    layout: Layout
    event: GramEvent
    size_is_public: bool

    def measure(self, data: PrivateRows) -> PrivateGram:
        """Return the exact statistic; deterministic, without coins.

        Raises
        ------
        InvalidArgument
            If the rows are capped by another unit, or by another number, than the event says.
        """
        promised = self.event.adjacency.unit, self.event.rows_per_unit
        # Rows of arrays belong to no unit.
        capped = getattr(data, "unit", None), getattr(data, "rows_per_unit", 1)
        if promised != capped:
            raise InvalidArgument(
                f"The release promises at most {promised[1]} rows of one unit {promised[0]!r}, and the rows are read "
                f"as at most {capped[1]} of {capped[0]!r}. Use one schema for both."
            )
        return PrivateGram(data.private_gram(self.layout), data.private_size())

    def draw(self, statistic: PrivateGram, coins: Coins) -> NoisyGram:
        """Return the statistic under noise; total, whatever the private values are."""
        event, entries = self.event, statistic.private_entries
        if isinstance(event, WishartEvent):
            noisy = wishart_difference(entries, theta=event.theta, coins=coins, step_bits=event.step_bits)
        elif isinstance(event, LaplaceEvent):
            noisy = symmetric_laplace(entries, scale=event.scale, coins=coins, step_bits=event.step_bits)
        elif isinstance(event, KNormEvent):
            widths = half_widths_of(event, self.layout)
            noisy = symmetric_k_norm(
                entries, half_widths=widths, rate=event.rate, coins=coins, step_bits=event.step_bits
            )
        elif isinstance(event, CoefficientLaplaceEvent):
            noisy = coefficient_laplace(entries, event, coins)
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
    loss: str = "squared",
    rows_per_unit: int | None = None,
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
    mechanism : {"auto", "wishart", "laplace", "l_inf", "gaussian", "paper", "paper_code"}
        The law of the noise; "auto" takes the Wishart difference for Pure and the symmetric Gaussian otherwise.
    size_is_public : bool
        Whether the number of contributing rows is public.
    statistic : str
        What is released, in words.
    loss : {"squared", "logistic"}
        Whose printed constant the paper's modes take; the other mechanisms serve every loss alike.
    rows_per_unit : int, optional
        How many rows of one unit contribute at most; needed where the adjacency names a unit: sensitivities are so many
        times those of one row. The paper's modes know single rows only.

    Notes
    -----
    The paper's modes are for comparison; the last column is their target. Rows lie in the box [-1, 1] here, the
    constant among them, as in the authors' program. The paper's text has rows in the unit ball, without intercept,
    and the same constant: relative to the data its noise is larger still. Its own normalisation is a layout without
    intercept whose codings end at `2**bits / sqrt(d)`.

    * "paper": Algorithm 1, Laplace noise of scale Delta / epsilon on every merged monomial coefficient, Delta =
      2 (d + 1)**2 for least squares, d**2 / 4 + 3 d for the logistic loss with labels -1 and 1 (its coefficients are
      those of least squares, over 8 and, for products with the target, over 2). The text's noise on the constant
      n log 2 is noise on the sum of squared labels here.
    * "paper_code": Delta = 2 d**2 + 4 d, d counting the column of ones, or d**2 / 4 + 3 d; noise on every ordered
      product of two features, then the mean of the two. The program releases no sum of squared targets; here it is
      released with the noise of a diagonal entry, and the price counts it.

    Guarantee
    ---------
    The event's price, computed from its own exact fields, is at most `budget`, per unit where there is one. For the
    paper's modes it is the true price, about half of it.
    Proofs: docs/proofs/gram.md (sensitivities), docs/proofs/wishart.md, docs/proofs/k_norm.md,
    docs/proofs/paper_modes.md, docs/proofs/rounding.md.
    """
    check_budget(budget)
    name = _checks.one_of(mechanism, "mechanism", MECHANISMS)
    _checks.one_of(loss, "loss", LOSSES)
    if name == "auto":
        name = "wishart" if is_pure(budget) else "gaussian"
    if (name == "gaussian") == is_pure(budget):
        needed = "Zcdp, Gdp or Approx with a delta above 0" if name == "gaussian" else "Pure"
        raise IncompatiblePlan(
            f'`mechanism` "{name}" needs a budget in {needed}; found {budget!r}. '
            'Use mechanism="auto", which takes the law that fits the budget.'
        )
    if name.startswith("paper") and adjacency.unit is not None:
        raise IncompatiblePlan(
            f'`mechanism` "{name}" has the paper\'s constants, which are those of single rows; found the unit '
            f'{adjacency.unit!r}. Use mechanism="auto".'
        )
    common: dict[str, Any] = {
        "adjacency": adjacency,
        "rows_per_unit": _cap(adjacency, rows_per_unit),
        "budget": budget,
        "statistic": statistic,
        "shape": (layout.width, layout.width),
    }
    make: dict[str, Callable[[], GramEvent]] = {
        "wishart": lambda: _wishart(layout, budget, common),
        "laplace": lambda: _laplace(layout, budget, common),
        "l_inf": lambda: _l_inf(layout, budget, common, every_row_counts=size_is_public),
        "gaussian": lambda: _gaussian(layout, budget, common),
        "paper": lambda: _paper(layout, budget, common, loss=loss, form=FORMS["paper"]),
        "paper_code": lambda: _paper(layout, budget, common, loss=loss, form=FORMS["paper_code"]),
    }
    refused = False
    try:
        event = make[name]()
    except (InvalidArgument, OverflowError):
        refused = True
    if refused:
        raise InvalidArgument(
            f"`budget` {budget!r} is too small, or too large, for the noise of a 64-bit release of {layout.width} "
            "columns. Choose one nearer to 1, or fewer columns."
        )
    if name in {"wishart", "l_inf", "gaussian"}:
        # A library that is too inaccurate for exact noise is refused before a charge, not after it.
        check_library()
    return GramPlan(layout, event, size_is_public)


def _cap(adjacency: Adjacency, rows_per_unit: int | None) -> int:
    """Return how many rows of a unit contribute; a caller who does not know of units is never taken for one row."""
    if rows_per_unit is None and adjacency.unit is not None:
        raise InvalidArgument(
            f"`adjacency` {adjacency!r} names a unit, and how many of its rows contribute was not said. "
            "Give `rows_per_unit`, or use what protects units: release_moments and the functional estimators."
        )
    return 1 if rows_per_unit is None else _checks.integer(rows_per_unit, "rows_per_unit", low=1)


def _wishart(layout: Layout, budget: Any, common: dict[str, Any]) -> WishartEvent:
    sensitivity = common["rows_per_unit"] * layout.sensitivity("nuclear", common["adjacency"])
    theta = check_theta(budget.epsilon / sensitivity, layout.width)
    return WishartEvent(
        row_norm_squared=layout.row_norm_squared,
        theta=theta,
        step_bits=step_bits_for(math.sqrt((layout.width + 1) / 2) / theta),
        **common,
    )


def _laplace(layout: Layout, budget: Any, common: dict[str, Any]) -> LaplaceEvent:
    sensitivity = Fraction(common["rows_per_unit"] * layout.sensitivity("l1", common["adjacency"]))
    scale = check_scale(sensitivity / budget.epsilon, "scale")
    return LaplaceEvent(sensitivity=sensitivity, scale=scale, step_bits=step_bits_for(scale), **common)


def _l_inf(layout: Layout, budget: Any, common: dict[str, Any], *, every_row_counts: bool) -> KNormEvent:
    widths = gram_half_widths(layout, common["adjacency"], every_row_counts=every_row_counts)
    largest, dimension = max(map(max, widths)), n_noisy(widths)
    sensitivity = Fraction(common["rows_per_unit"])
    rate = budget.epsilon / sensitivity
    check_rate(rate, [Fraction(width) for row in widths for width in row if width])
    return KNormEvent(
        sensitivity=sensitivity,
        rate=rate,
        half_width=Fraction(largest),
        dimension=dimension,
        step_bits=step_bits_for(float(largest / rate) * k_norm_std(dimension)),
        **common,
    )


def _paper(layout: Layout, budget: Any, common: dict[str, Any], *, loss: str, form: str) -> CoefficientLaplaceEvent:
    target = layout.width - 1
    event = CoefficientLaplaceEvent(
        sensitivity=coefficient_sensitivity(layout, loss=loss, target=target),
        scale=coefficient_scale(layout, budget.epsilon, loss=loss, form=form),
        loss=loss,
        form=form,
        target=target,
        **common,
    )
    scales, _ = entry_scales(event)
    for scale in set(scales.ravel().tolist()):
        check_scale(scale, "scale")
    return replace(event, step_bits=step_bits_for(noise_scale(event)))


def _gaussian(layout: Layout, budget: Any, common: dict[str, Any]) -> GaussianEvent:
    of_a_row = layout.sensitivity("frobenius_squared", common["adjacency"])
    sensitivity_squared = Fraction(common["rows_per_unit"] ** 2 * of_a_row)
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


def noise_variances(event: GramEvent, layout: Layout) -> np.ndarray:
    """Return the variance of the noise on every entry of the released Gram matrix; public.

    Parameters
    ----------
    event : Event
        The release's.
    layout : Layout
        The public grid of a row.

    Returns
    -------
    ndarray of float64, shape (D, D)
        Symmetric; in fourth powers of grid steps. Distinct entries are uncorrelated under every law.
        The rounding to whole steps, about a millionth of a standard deviation, is left out.
    """
    width = event.shape[0]
    on_diagonal = np.eye(width, dtype=np.bool_)
    if isinstance(event, KNormEvent):
        widths = np.array(half_widths_of(event, layout), dtype=np.float64)
        return (widths * (k_norm_std(event.dimension) / float(event.rate))) ** 2
    if isinstance(event, CoefficientLaplaceEvent):
        scales, of_two = entry_scales(event)
        return np.where(of_two, 1.0, 2.0) * scales.astype(np.float64) ** 2
    off_diagonal = noise_scale(event) ** 2
    doubled = not isinstance(event, LaplaceEvent)
    return np.where(on_diagonal & doubled, 2.0 * off_diagonal, off_diagonal)
