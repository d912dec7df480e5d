"""Targets with functions of a user's own, and some without: what is drawn in tests of odd rows and of beliefs."""

from __future__ import annotations

from typing import Any

import numpy as np

import discreet as dp
from discreet.sampling.k_norm.targets import MeanTarget
from discreet.sampling.pca.bingham import Bingham
from discreet.sampling.quantiles.quantiles import QuantileTarget
from discreet.sampling.targets.bases import Uniform
from discreet.sampling.targets.candidates import FiniteCandidates
from discreet.sampling.targets.common_envelopes import Posterior, SyntheticData
from discreet.sampling.targets.holder import Discretized, LogHoelder
from discreet.sampling.targets.lipschitz import Lipschitz
from discreet.sampling.targets.user_targets import UserTarget

UNIT, BOX, PURE = dp.Interval(0, 1), dp.Box(lower=[0], upper=[1]), dp.Pure(epsilon=1)


def distances(points, rows):
    """Return minus the distance of every point to every row."""
    return -np.abs(points - rows.T)


def total(points, rows):
    """Return a sum over rows within [-4, 0]."""
    return np.clip(distances(points, rows).sum(axis=1), -4, 0)


def halves(points):
    """Return two cells' probabilities."""
    return np.column_stack([points[:, 0], 1 - points[:, 0]])


HOLDER = LogHoelder(utility=total, bounds=UNIT, constant=20, change=1, example=[[0.5]])
TARGETS: dict[str, Any] = {
    "posterior": Posterior(log_likelihood=distances, lower=-1, upper=0, prior=Uniform(BOX), example=[[0.5]]),
    "user": UserTarget(utility=total, base=Uniform(BOX), upper=0, lower=-4, change=1, example=[[0.5]]),
    "synthetic": SyntheticData(cells=halves, n_cells=2, prior=Uniform(BOX)),
    "lipschitz": Lipschitz(
        utility=lambda points, rows: total(points, rows) / 10, slopes=1, bounds=UNIT, change="0.1", example=[[0.5]]
    ),
    "candidates": FiniteCandidates(
        candidates=[0, 1], utility=lambda points, rows: (points == rows.T).sum(axis=1), change=1, example=[[0]]
    ),
    "quantile": QuantileTarget(q="1/2", bounds=UNIT),
    "holder": HOLDER,
    "discretized": Discretized(target=HOLDER, per_side=20),
    "mean": MeanTarget(n_columns=1, row_norm=1),
    "direction": Bingham(n_columns=1, row_norm=1),
}
