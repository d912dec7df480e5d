"""Utilities on boxes that the tests of grids share."""

from fractions import Fraction

import numpy as np

from discreet.lattice.bounds import Box, Interval
from discreet.sampling.targets.holder import LogHoelder

HALF = Fraction(1, 2)
N_ROWS = 20


def distance(points, rows):
    """Return minus the sum of distances to the rows: slope n."""
    return -np.abs(points[:, :1] - rows[None, :, 0]).sum(axis=1)


def root(points, rows):
    """Return minus the sum of roots of the largest coordinate's distances: exponent 1/2, constant n."""
    return -np.sqrt(np.abs(points[:, None, :] - rows[None, :, :]).max(axis=2)).sum(axis=1)


def rows_like(seed, n=N_ROWS, width=1):
    return np.random.default_rng(seed).beta(2, 5, (n, width))


def line(**changes):
    fields = {
        "utility": distance,
        "bounds": Interval(0, 1),
        "constant": N_ROWS,
        "change": 1,
        "example": np.full((N_ROWS, 1), 0.3),
    }
    return LogHoelder(**(fields | changes))


def plane(**changes):
    fields = {
        "utility": root,
        "bounds": Box(lower=[0, 0], upper=[1, 1]),
        "constant": 5,
        "exponent": "1/2",
        "change": 1,
        "example": np.full((5, 2), 0.3),
    }
    return LogHoelder(**(fields | changes))


def density(rows, scale=0.5):
    return lambda x: np.exp(scale * distance(np.asarray(x)[:, None], rows))
