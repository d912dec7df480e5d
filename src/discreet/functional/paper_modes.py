"""The noise that the functional mechanism's paper prints, and that its authors' program adds.

Both are there to be compared with. They cost less than they promise: an event knows its true price.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet import _checks
from discreet.lattice.noise.laplace import rounded_laplace

if TYPE_CHECKING:
    from discreet.lattice.grid import Layout
    from discreet.privacy.coins import Coins
    from discreet.privacy.events.noise import CoefficientLaplaceEvent

LOSSES = ("squared", "logistic")
FORMS = {"paper": "merged", "paper_code": "averaged"}


def printed_sensitivity(n_features: int, *, loss: str, form: str) -> Fraction:
    """Return the constant Delta that is printed for rows in [-1, 1], or stands in the program.

    ========= ====================== ==========================
    loss      merged (the paper)     averaged (the program)
    ========= ====================== ==========================
    squared   2 (d + 1)**2           2 d**2 + 4 d
    logistic  d**2 / 4 + 3 d         d**2 / 4 + 3 d
    ========= ====================== ==========================

    Parameters
    ----------
    n_features : int
        d, the columns of the design; the constant is one of them where the model has an intercept.
    loss : {"squared", "logistic"}
        Which objective.
    form : {"merged", "averaged"}
        Whose.

    Source
    ------
    Zhang et al. 2012, sections 4.2 and 5.3; their program of 2012.

    Examples
    --------
    >>> [int(printed_sensitivity(14, loss="squared", form=form)) for form in ("merged", "averaged")]
    [450, 448]
    """
    d = _checks.integer(n_features, "n_features", low=1)
    if _checks.one_of(loss, "loss", LOSSES) == "logistic":
        return Fraction(d * d, 4) + 3 * d
    merged = _checks.one_of(form, "form", tuple(FORMS.values())) == "merged"
    return Fraction(2 * (d + 1) ** 2 if merged else 2 * d * d + 4 * d)


def coefficient_sensitivity(layout: Layout, *, loss: str, target: int) -> Fraction:
    """Return the largest L1 distance of the objective's ordered coefficients between neighbours, in grid units.

    Guarantee
    ---------
    `f (sum g_i M_i)**2` under both adjacencies, with the factors of :class:`CoefficientLaplaceEvent`; attained.
    Proof: docs/proofs/paper_modes.md.
    """
    overall, own = _factors(loss, layout.width, target)
    reach = sum(factor * bound for factor, bound in zip(own, layout.entry_bounds, strict=True))
    return Fraction(overall * reach**2)


def coefficient_scale(layout: Layout, epsilon: Fraction, *, loss: str, form: str) -> Fraction:
    """Return the printed scale of the noise on a coefficient, Delta / epsilon, in grid units of this layout.

    The printed Delta is for rows in [-1, 1], so a grid unit is `1 / 4**bits` of it.
    """
    return Fraction(printed_sensitivity(layout.width - 1, loss=loss, form=form) * 4**layout.bits / epsilon)


def entry_scales(event: CoefficientLaplaceEvent) -> tuple[np.ndarray, np.ndarray]:
    """Return the scale of the Laplace noise on every entry of the matrix, and whether it is the mean of two draws.

    Returns
    -------
    scales : ndarray of Fraction (object), shape (D, D)
        Symmetric; in grid units; of one draw.
    of_two : ndarray of bool, shape (D, D)
        Symmetric.
    """
    width, target = event.shape[0], event.target
    overall, own = _factors(event.loss, width, target)
    factors = np.array(own, dtype=object)
    weights = overall * np.outer(factors, factors)
    of_two = np.zeros((width, width), dtype=np.bool_)
    if event.form == "averaged":
        of_two[:] = True
        of_two[target] = of_two[:, target] = False
    np.fill_diagonal(of_two, False)
    merged = ~of_two & ~np.eye(width, dtype=np.bool_)
    return event.scale / np.where(merged, 2 * weights, weights), of_two


def coefficient_laplace(statistic: np.ndarray, event: CoefficientLaplaceEvent, coins: Coins) -> np.ndarray:
    """Return a Gram matrix under the noise of `event`, int64 of shape (D, D), symmetric, in steps of 2**step_bits.

    The mean of two draws is released as their sum, on a step of one bit more each: whole numbers stay whole.

    Guarantee
    ---------
    As :class:`CoefficientLaplaceEvent`; the noise is the ideal law, rounded (docs/proofs/rounding.md).
    """
    scales, of_two = entry_scales(event)
    rows, columns = np.triu_indices(statistic.shape[0])
    groups: dict[tuple[Fraction, bool], list[int]] = {}
    for index, (row, column) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        groups.setdefault((scales[row, column], bool(of_two[row, column])), []).append(index)
    exact, entries = statistic[rows, columns], np.empty(rows.size, dtype=np.int64)
    for (scale, averaged), members in groups.items():
        draws = [
            rounded_laplace(exact[members], scale=scale, coins=coins, step_bits=event.step_bits + averaged)
            for _ in range(1 + averaged)
        ]
        entries[members] = sum(draws)
    released = np.empty_like(statistic)
    released[rows, columns] = entries
    released[columns, rows] = entries
    return released


def _factors(loss: str, width: int, target: int) -> tuple[Fraction, list[int]]:
    """Return f and the g_i: a row has the ordered coefficients f g_i g_j v_i v_j."""
    own = [1] * width
    if loss == "squared":
        return Fraction(1), own
    own[target] = 2
    return Fraction(1, 8), own
