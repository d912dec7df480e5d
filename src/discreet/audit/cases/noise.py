"""Audits of the rounded laws, each with two statistics as far apart as its sensitivity admits."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.cases.case import Entry, Setup
from discreet.lattice.noise.gaussian import rounded_gaussian
from discreet.lattice.noise.gumbel import noisy_top
from discreet.lattice.noise.k_norm import k_norm
from discreet.lattice.noise.l2_norm import l2_norm
from discreet.lattice.noise.laplace import rounded_laplace
from discreet.lattice.noise.symmetric_gaussian import symmetric_gaussian
from discreet.lattice.noise.wishart import wishart_difference
from discreet.privacy.budgets import Gdp, Pure

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.privacy.coins import Coins

# How far one record moves a statistic, in grid units; and a fine one, where rounding would show.
_SENSITIVITY = 1000
_FINE = 3


def _laplace(budget: Any, *, sensitivity: int = _SENSITIVITY, step_bits: int = 0) -> Setup:
    scale = Fraction(sensitivity) / budget.epsilon

    def mechanism(data: int, coins: Coins, n_runs: int) -> Any:
        return rounded_laplace(np.full(n_runs, data), scale=scale, coins=coins, step_bits=step_bits)

    return Setup(mechanism, 7, 7 + sensitivity, budget)


def _gaussian(budget: Any, *, sensitivity: int = _SENSITIVITY, step_bits: int = 0) -> Setup:
    variance = Fraction(sensitivity**2) / budget.mu_squared

    def mechanism(data: int, coins: Coins, n_runs: int) -> Any:
        return rounded_gaussian(np.full(n_runs, data), variance=variance, coins=coins, step_bits=step_bits)

    return Setup(mechanism, 7, 7 + sensitivity, budget)


def _one_by_one(draw: Callable[[Any, Coins], Any]) -> Any:
    """Return the mechanism that draws a joint law again and again."""

    def mechanism(data: Any, coins: Coins, n_runs: int) -> Any:
        return np.array([np.ravel(draw(data, coins)) for _ in range(n_runs)])

    return mechanism


def _l_inf(budget: Any) -> Setup:
    widths = (1000, 500, 2000)

    def draw(data: Any, coins: Coins) -> Any:
        return k_norm(data, half_widths=widths, rate=budget.epsilon, coins=coins)

    # A corner of the unit ball of the noise's own norm: every entry moves by all that it may.
    return Setup(_one_by_one(draw), np.zeros(3, np.int64), np.array(widths), budget)


def _l2(budget: Any) -> Setup:
    rate = budget.epsilon / _SENSITIVITY

    def draw(data: Any, coins: Coins) -> Any:
        return l2_norm(data, rate=rate, coins=coins)

    return Setup(_one_by_one(draw), np.zeros(3, np.int64), np.array([600, 0, -800]), budget)


def _wishart(budget: Any) -> Setup:
    reach = 100
    theta = budget.epsilon / (
        2 * 2 * reach**2
    )  # orthogonal rows of squared norm 2 * reach**2, one in place of the other
    rows = np.array([[reach, reach], [reach, -reach]])

    def draw(data: Any, coins: Coins) -> Any:
        return wishart_difference(data, theta=theta, coins=coins)[np.triu_indices(2)]

    return Setup(_one_by_one(draw), np.outer(rows[0], rows[0]), np.outer(rows[1], rows[1]), budget)


def _symmetric_gaussian(budget: Any) -> Setup:
    reach = 100
    variance = Fraction(2 * (2 * reach**2) ** 2) / budget.mu_squared
    rows = np.array([[reach, reach], [reach, -reach]])

    def draw(data: Any, coins: Coins) -> Any:
        return symmetric_gaussian(data, diagonal_variance=variance, coins=coins)[np.triu_indices(2)]

    return Setup(_one_by_one(draw), np.outer(rows[0], rows[0]), np.outer(rows[1], rows[1]), budget)


def _gumbel(budget: Any, *, size: int) -> Setup:
    scale = 2 * _SENSITIVITY * size / budget.epsilon

    def draw(data: Any, coins: Coins) -> Any:
        return noisy_top(data, scale=scale, size=size, coins=coins)

    # One candidate falls by all that it may while the others rise; where it falls, all are as likely.
    high = np.full(size + 1, -_SENSITIVITY)
    high[0] = _SENSITIVITY
    return Setup(_one_by_one(draw), high, np.zeros(size + 1, np.int64), budget)


NOISE = (
    Entry(name="rounded Laplace", make=_laplace, budget=Pure(epsilon=1), tells="1.8"),
    Entry(name="rounded Laplace, few steps", make=partial(_laplace, sensitivity=_FINE), budget=Pure(epsilon=1)),
    Entry(name="rounded Laplace, coarse", make=partial(_laplace, step_bits=8), budget=Pure(epsilon=1), tells="1.8"),
    Entry(name="rounded Gaussian", make=_gaussian, budget=Gdp(mu=1), tells="1.6"),
    Entry(
        name="rounded Gaussian, few steps", make=partial(_gaussian, sensitivity=_FINE), budget=Gdp(mu=1), tells="1.6"
    ),
    Entry(name="rounded Gaussian, coarse", make=partial(_gaussian, step_bits=8), budget=Gdp(mu=1), tells="1.6"),
    Entry(name="symmetric Gaussian", make=_symmetric_gaussian, budget=Gdp(mu=1), n_runs=3000),
    Entry(name="Wishart difference", make=_wishart, budget=Pure(epsilon=2), n_runs=8000, tells="2.5"),
    Entry(name="l-infinity K-norm", make=_l_inf, budget=Pure(epsilon=2), n_runs=4000, tells="2.5"),
    Entry(name="l2 K-norm", make=_l2, budget=Pure(epsilon=2), n_runs=8000),
    Entry(name="Gumbel choice of one", make=partial(_gumbel, size=1), budget=Pure(epsilon=2), n_runs=4000),
    Entry(name="Gumbel choice of three", make=partial(_gumbel, size=3), budget=Pure(epsilon=2), n_runs=8000, tells=3),
)
