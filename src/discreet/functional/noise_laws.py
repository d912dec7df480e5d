"""The laws of our noise in ordinary floats, for public simulations; never for a release."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.functional.gram import noise_variances
from discreet.functional.half_widths import half_widths_of
from discreet.functional.paper_modes import entry_scales
from discreet.privacy.events.noise import CoefficientLaplaceEvent, KNormEvent, LaplaceEvent, WishartEvent

if TYPE_CHECKING:
    from discreet.lattice.gram_noise import GramEvent
    from discreet.lattice.grid import Layout


def noise_draws(event: GramEvent, layout: Layout, rng: np.random.Generator, n_draws: int) -> np.ndarray:
    """Return draws of the noise on a Gram matrix, float64 of shape (n_draws, D, D), in squared grid steps.

    Parameters
    ----------
    event : Event
        The law.
    layout : Layout
        The public grid of a row.
    rng : numpy.random.Generator
        Public randomness.
    n_draws : int
        How many.

    Notes
    -----
    These draws hide nothing: they are for bootstrap intervals and tests.
    The rounding of a release is left out; it is a millionth of the noise.
    """
    width = event.shape[0]
    if isinstance(event, WishartEvent):
        scale = math.sqrt(0.5 / float(event.theta))
        return np.asarray(_crossed(rng, n_draws, width, scale) - _crossed(rng, n_draws, width, scale))
    rows, columns = np.triu_indices(width)
    size = (n_draws, rows.size)
    entries: np.ndarray
    if isinstance(event, LaplaceEvent):
        entries = rng.laplace(scale=float(event.scale), size=size)
    elif isinstance(event, KNormEvent):
        widths = np.array(half_widths_of(event, layout), dtype=np.float64)[rows, columns]
        radii = rng.gamma(event.dimension + 1, 1.0 / float(event.rate), size=(n_draws, 1))
        entries = radii * rng.uniform(-1.0, 1.0, size=size) * widths
    elif isinstance(event, CoefficientLaplaceEvent):
        scales, of_two = entry_scales(event)
        means = np.where(of_two[rows, columns], 0.5, 0.0)
        first, second = rng.laplace(size=size), rng.laplace(size=size)
        entries = scales[rows, columns].astype(np.float64) * ((1.0 - means) * first + means * second)
    else:
        entries = rng.standard_normal(size) * np.sqrt(noise_variances(event, layout)[rows, columns])
    noise = np.empty((n_draws, width, width))
    noise[:, rows, columns] = entries
    noise[:, columns, rows] = entries
    return noise


def _crossed(rng: np.random.Generator, n_draws: int, width: int, scale: float) -> np.ndarray:
    factors = rng.standard_normal((n_draws, width + 1, width)) * scale
    return np.asarray(factors.transpose(0, 2, 1) @ factors)
