"""How large the noise on a released Gram matrix is: a function of its event alone."""

from __future__ import annotations

import math

from discreet.privacy.events.noise import CoefficientLaplaceEvent, GaussianEvent, KNormEvent, LaplaceEvent, WishartEvent

GramEvent = WishartEvent | LaplaceEvent | GaussianEvent | KNormEvent | CoefficientLaplaceEvent


def noise_scale(event: GramEvent) -> float:
    """Return the standard deviation of an off-diagonal entry's noise, in squared grid steps; public.

    Where entries differ it is that of the noisiest (l-infinity) or of two features (the paper's modes).
    """
    if isinstance(event, WishartEvent):
        return math.sqrt((event.shape[0] + 1) / 2) / float(event.theta)
    if isinstance(event, LaplaceEvent):
        return math.sqrt(2) * float(event.scale)
    if isinstance(event, KNormEvent):
        return float(event.half_width / event.rate) * k_norm_std(event.dimension)
    if isinstance(event, CoefficientLaplaceEvent):
        of_a_coefficient = float(event.scale) * (1 if event.loss == "squared" else 8)
        return of_a_coefficient * (math.sqrt(0.5) if event.form == "merged" else 1.0)
    return math.sqrt(float(event.variance) / 2)


def k_norm_std(dimension: int) -> float:
    """Return the standard deviation of l-infinity noise of rate 1 on an entry of half-width 1."""
    return math.sqrt((dimension + 1) * (dimension + 2) / 3)
