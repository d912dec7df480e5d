"""The parabola in the place of the logistic loss: Taylor's, or the one that comes nearest on a public interval.

``log(1 + e^z) = z/2 + g(z)`` with ``g(z) = log(2 cosh(z/2))`` even, so only ``c0 + c2 z**2`` needs to be found.

Proof: docs/proofs/parabola.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from discreet import _checks
from discreet.errors import InvalidArgument

# Below, doubles cannot tell the best parabola from Taylor's; beyond, the best one is useless.
SMALLEST_RADIUS: Final = 0.1
LARGEST_RADIUS: Final = 100.0
_HALVINGS: Final = 60


@dataclass(frozen=True, slots=True)
class Parabola:
    """The parabola ``c0 + c2 z**2`` in the place of ``log(1 + e^z) - z/2`` on ``|z| <= radius``.

    Parameters
    ----------
    coefficients : tuple of float
        ``(c0, c2)``.
    radius : float
        The public largest ``|z|``.
    value_error : float
        The largest error of the loss on the interval.
    """

    coefficients: tuple[float, float]
    radius: float
    value_error: float

    @property
    def curvature(self) -> float:
        """The coefficient of ``z**2``."""
        return self.coefficients[1]

    @property
    def slope_error(self) -> float:
        """The largest error of the loss's derivative, the sigmoid, on the interval."""
        # tanh(z/2)/2 - 2 c2 z is 0 at 0 and concave: largest where its derivative is 0, least at the radius.
        peak = 2 * math.acosh(max(1.0, 1 / math.sqrt(8 * self.curvature)))
        return max(abs(math.tanh(z / 2) / 2 - 2 * self.curvature * z) for z in (min(peak, self.radius), self.radius))


def taylor(radius: float) -> Parabola:
    """Return the Taylor polynomial at 0, ``log 2 + z**2/8``, with its errors on ``|z| <= radius``."""
    reach = _radius(radius)
    return Parabola((math.log(2), 1 / 8), reach, reach**2 / 8 - _rise(reach))


def minimax(radius: float) -> Parabola:
    """Return the parabola with the smallest largest error on ``|z| <= radius``.

    Parameters
    ----------
    radius : float
        The public largest ``|z|``, between 0.1 and 100.

    Raises
    ------
    InvalidArgument
        If `radius` is not between 0.1 and 100.

    Notes
    -----
    ``g`` is concave in ``z**2``, so the best line in ``z**2`` has the slope of the chord,
    ``c2 = (log(2 cosh(R/2)) - log 2) / R**2``, and runs half way between the chord and the tangent of that slope.

    Examples
    --------
    >>> round(minimax(4).curvature, 4)
    0.0828
    """
    reach = _radius(radius)
    curvature = _rise(reach) / reach**2
    touch = _touching(curvature, reach)
    error = (_rise(touch) - curvature * touch**2) / 2
    return Parabola((math.log(2) + error, curvature), reach, error)


def _rise(z: float) -> float:
    """Return ``g(z) - g(0) = log cosh(z/2)``, with all its digits also near 0."""
    return math.log1p(2 * math.sinh(z / 4) ** 2)


def _touching(curvature: float, radius: float) -> float:
    """Return where ``g`` has the slope `curvature` in ``z**2``: where ``tanh(z/2) = 4 curvature z``."""
    low, high = 0.0, radius
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if math.tanh(middle / 2) > 4 * curvature * middle else (low, middle)
    return low


def _radius(radius: float) -> float:
    reach = _checks.finite_float(radius, "radius")
    if SMALLEST_RADIUS <= reach <= LARGEST_RADIUS:
        return reach
    raise InvalidArgument(
        f"`radius` must be between {SMALLEST_RADIUS:g} and {LARGEST_RADIUS:g}; found {reach!r}. "
        "It is the largest |x'w| that you expect, a public number such as 4."
    )
