"""Audits of exact draws: of output and number of blocks together, wherever a policy decides how long to run.

One record moves the utility up where one answer is, and down elsewhere: then the normalizer moves, too, and the
whole of the range that is paid for shows.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.cases.case import Entry, Setup, of_fit, of_plan
from discreet.audit.neighbours import BEYOND, MadeUpTable, one_record_apart, sign_flip, zeros
from discreet.estimators.k_norm import KNormGradientLinearRegression, KNormGradientLogisticRegression
from discreet.estimators.pca import PrivatePCA
from discreet.estimators.quantile import KNormGradientQuantileRegression
from discreet.lattice.bounds import Box, Interval
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.sampling.k_norm.targets import KNormGradient
from discreet.sampling.mechanisms import plan_choice, plan_target
from discreet.sampling.pca.bingham import Bingham
from discreet.sampling.policies import CoolDown, Truncated
from discreet.sampling.quantiles.quantile_release import plan_quantiles
from discreet.sampling.samplers import Counters, run
from discreet.sampling.targets.bases import Uniform
from discreet.sampling.targets.candidates import FiniteCandidates
from discreet.sampling.targets.common_envelopes import Posterior
from discreet.sampling.targets.lipschitz import Lipschitz

if TYPE_CHECKING:
    from discreet.audit.runtime import CountedMechanism
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.coins import Coins
    from discreet.sampling.mechanisms import SamplingPlan
    from discreet.sampling.policies import Policy
    from discreet.sampling.targets.targets import Target

_REPLACE = Replace()
# A tenth of all blocks fail, or nearly, and half of all waits go on: counts vary, and would tell if they could.
_EAGER = CoolDown(eta="1/10", s="1/2")
_BOX = Box(lower=-1, upper=1)
_N_CANDIDATES = 8
# One answer has the share 1 / _SPIKE of the domain, on either side of 0.
_SPIKE = 4
# So much that normalizers of neighbours are known to be close.
_RIDGE = 20


def plan_of(target: Target, data: Any, *, budget: Any, policy: Policy, adjacency: Adjacency = _REPLACE) -> SamplingPlan:
    """Return the plan of one draw, as `sample` makes it.

    Parameters
    ----------
    target : Target
        What to draw from.
    data : object
        Made-up rows, for their number.
    budget : Budget
        For output and running time.
    policy : policy
        How long to run.
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    """
    n_rows = target.count(data) if adjacency.size_is_public else None
    return plan_target(target, budget=budget, adjacency=adjacency, runtime=policy, n_draws=1, n_rows=n_rows)


def counted(plan: SamplingPlan) -> CountedMechanism:
    """Return the mechanism that draws a plan again and again, and tells how many blocks each run took.

    All runs go through one loop, as the draws of one release do; their words and their blocks are their own.

    Parameters
    ----------
    plan : SamplingPlan
        Of one draw.
    """

    def mechanism(data: Any, coins: Coins, n_runs: int) -> tuple[Any, Any]:
        counters = Counters()
        runtime = plan.event.runtime
        points = run(plan.scaled, plan.measure(data), runtime, coins, n_draws=n_runs, counters=counters)
        return points, counters.blocks

    return mechanism


def _jointly(target: Target, first: Any, second: Any, budget: Any, *, policy: Policy, **options: Any) -> Setup:
    """Return the audit of points and blocks together."""
    plan = plan_of(target, first, budget=budget, policy=policy, **options)
    pairs = counted(plan)

    def mechanism(data: Any, coins: Coins, n_runs: int) -> Any:
        points, blocks = pairs(data, coins, n_runs)
        return np.column_stack([points, blocks])

    return Setup(mechanism, first, second, budget)


def spike(points: np.ndarray, rows: np.ndarray) -> Any:
    """Return half a unit at 0 and minus half of one farther away, times the only record: 1 or -1."""
    heights = np.clip(1 - _SPIKE * np.abs(points), 0, 1) - 0.5
    return (heights * rows.T).sum(axis=1)


def spike_target() -> Lipschitz:
    """Return the common-envelope target of `spike`, whose records are 1 or -1."""
    return Lipschitz(utility=spike, slopes=_SPIKE, bounds=Interval(0, 1), change=1, example=np.ones((1, 1)))


SPIKES = np.array([[1.0]]), np.array([[-1.0]])


def _lipschitz(budget: Any, *, policy: Policy) -> Setup:
    return _jointly(spike_target(), *SPIKES, budget, policy=policy)


def _votes(candidates: np.ndarray, rows: np.ndarray) -> Any:
    """Return whether the only record votes for the first candidate, or for all the others."""
    return (candidates[:, 0] == 0) == (rows[0, 0] > 0)


def _finite(budget: Any) -> Setup:
    target = FiniteCandidates(candidates=np.arange(_N_CANDIDATES), utility=_votes, change=1, example=[[1.0]])
    plan = plan_choice(target, budget=budget, adjacency=_REPLACE)

    def mechanism(data: Any, coins: Coins, n_runs: int) -> Any:
        return target.choose(plan.measure(data), plan.event.scale, coins, n_runs)

    return Setup(mechanism, *SPIKES, budget)


def _of_one_in_four(points: np.ndarray, rows: np.ndarray) -> Any:
    return np.where(points < 1 / _SPIKE, rows.T, -rows.T)


def _posterior(budget: Any, *, policy: Policy = _EAGER) -> Setup:
    prior = Uniform(Interval(0, 1))
    target = Posterior(log_likelihood=_of_one_in_four, lower=-1, upper=1, prior=prior, example=SPIKES[0])
    return _jointly(target, *SPIKES, budget, policy=policy)


def _mean(budget: Any) -> Setup:
    target = KNormGradient.mean(n_columns=2, row_norm=1.0)
    row = BEYOND * np.array([[1.0, 0.0]])
    return _jointly(target, row, -row, budget, policy=_EAGER)


def _gradient(budget: Any, *, logistic: bool) -> Setup:
    if logistic:
        target, limits = KNormGradient.logistic(n_columns=1, row_norm=1.0, ridge=_RIDGE), (0.0, 1.0)
    else:
        target = KNormGradient.linear(n_columns=1, row_norm=1.0, y_bounds=(-8, 8), clip=0.5, ridge=_RIDGE)
        limits = (-8.0, 8.0)
    first, second = sign_flip(_REPLACE, zeros(1, 1), BEYOND * np.ones(1), limits)
    return _jointly(target, (first.X, first.y), (second.X, second.y), budget, policy=_EAGER)


def _quantile(budget: Any, *, q: str, adjacency: Adjacency) -> Setup:
    plan = plan_quantiles(q, bounds=Interval(0, 1), step="1/16", budget=budget, adjacency=adjacency)
    # The record lies below one in four of the answers, and goes above all or away: these get worse, all others better.
    rest = [1 / _SPIKE] + [1.0] * (Fraction(q).denominator - 2)
    first, second = np.array([*rest, -BEYOND]), np.array([*rest, BEYOND])
    return Setup(of_plan(plan, lambda value: value), first, second[:-1] if adjacency == AddRemove() else second, budget)


def _turned(n_rest: int) -> tuple[MadeUpTable, MadeUpTable]:
    """Return tables whose last row is the one axis or the other."""
    axes = BEYOND * np.eye(2)
    return one_record_apart(zeros(n_rest, 2), (axes[0], 0.0), (axes[1], 0.0))


def _bingham(budget: Any, *, policy: Policy) -> Setup:
    first, second = (table.X for table in _turned(0))
    setup = _jointly(Bingham(n_columns=2, row_norm=1.0), first, second, budget, policy=policy)

    def mechanism(data: Any, coins: Coins, n_runs: int) -> Any:
        found = setup.mechanism(data, coins, n_runs)
        # A direction has no sign; its square is what a linear score can see.
        return np.column_stack([found, found[:, 0] ** 2])

    return Setup(mechanism, first, second, budget)


def _pca(budget: Any) -> Setup:
    model = PrivatePCA(budget=budget, adjacency=_REPLACE, row_norm=1.0)

    def read(fitted: Any) -> Any:
        return np.append(fitted.components_[0], fitted.components_[0, 0] ** 2)

    return Setup(of_fit(model, read), *_turned(0), budget)


def _read(model: Any) -> Any:
    return np.append(np.ravel(model.coef_), np.ravel(model.intercept_))


def _estimator(budget: Any, *, kind: Any, limits: tuple[float, float] = (-8.0, 8.0), **options: Any) -> Setup:
    """Return the audit of an estimator through its own `fit`."""
    declared = {"budget": budget, "adjacency": _REPLACE, "fit_intercept": False} | options
    target = {} if "classes" in options else {"y_bounds": Interval(*limits)}
    # Both labels are there without the record.
    rest = MadeUpTable(np.zeros((2, 1)), np.array(limits))
    return Setup(
        of_fit(kind(**declared, **target), _read), *sign_flip(_REPLACE, rest, BEYOND * np.ones(1), limits), budget
    )


def _quantile_regression(budget: Any) -> Setup:
    bounds = Interval(-1, 1)
    model = KNormGradientQuantileRegression(
        budget=budget, adjacency=_REPLACE, x_bounds=_BOX, y_bounds=bounds, grid_points=17, fit_intercept=False
    )
    # As for a quantile: slopes below the middle of the lower half get worse, all others better.
    rest = MadeUpTable(np.ones((1, 1)), np.array([bounds.lower / 2]))
    return Setup(of_fit(model, _read), *sign_flip(_REPLACE, rest, np.ones(1), (bounds.upper, bounds.lower)), budget)


_APPROX = Approx(epsilon=2, delta="1/20")

SAMPLING = (
    Entry(
        name="sample, slopes, cool-down",
        make=partial(_lipschitz, policy=_EAGER),
        budget=Pure(epsilon=2),
        covers=("sample",),
        n_runs=8000,
        tells=3,
    ),
    Entry(
        name="sample, slopes, truncated",
        make=partial(_lipschitz, policy=Truncated()),
        budget=_APPROX,
        covers=("sample",),
        n_runs=8000,
        tells=3,
    ),
    Entry(name="sample, candidates", make=_finite, budget=Pure(epsilon=2), covers=("sample",), n_runs=8000),
    Entry(name="posterior draw", make=_posterior, budget=Pure(epsilon=2), covers=("posterior_draw",), n_runs=8000),
    Entry(name="KNG, mean", make=_mean, budget=Pure(epsilon=2), n_runs=8000),
    Entry(
        name="KNG, logistic",
        make=partial(_gradient, logistic=True),
        budget=Pure(epsilon=2),
        n_runs=8000,
        tells=3,
    ),
    Entry(name="KNG, linear", make=partial(_gradient, logistic=False), budget=Pure(epsilon=2), n_runs=8000),
    Entry(
        name="quantile",
        make=partial(_quantile, q="1/4", adjacency=_REPLACE),
        budget=Pure(epsilon=2),
        covers=("quantile",),
        n_runs=4000,
    ),
    Entry(
        name="median",
        make=partial(_quantile, q="1/2", adjacency=AddRemove()),
        budget=Gdp(mu=1),
        covers=("median",),
        n_runs=4000,
    ),
    Entry(
        name="Bingham, cool-down",
        make=partial(_bingham, policy=_EAGER),
        budget=Pure(epsilon=2),
        n_runs=8000,
        tells=3,
    ),
    Entry(
        name="PrivatePCA",
        make=_pca,
        budget=Pure(epsilon=2),
        covers=("PrivatePCA",),
        n_runs=1000,
        tells=4,
    ),
    Entry(
        name="KNormGradientLogisticRegression",
        make=partial(
            _estimator,
            kind=KNormGradientLogisticRegression,
            limits=(0.0, 1.0),
            classes=(0, 1),
            row_norm=1.0,
            ridge=_RIDGE,
        ),
        budget=Pure(epsilon=2),
        covers=("KNormGradientLogisticRegression",),
        n_runs=1000,
        tells=8,
    ),
    Entry(
        name="KNormGradientLinearRegression",
        make=partial(_estimator, kind=KNormGradientLinearRegression, row_norm=1.0, ridge=_RIDGE, clip=0.5),
        budget=Zcdp(rho=1),
        covers=("KNormGradientLinearRegression",),
        n_runs=1000,
        tells=3,
    ),
    Entry(
        name="KNormGradientQuantileRegression",
        make=_quantile_regression,
        budget=Pure(epsilon=2),
        covers=("KNormGradientQuantileRegression",),
        n_runs=1000,
        tells=4,
    ),
)
