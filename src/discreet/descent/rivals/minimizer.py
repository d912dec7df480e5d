"""Exact enough minimizers: a public number of steps with a proved rate, and a residual that is certain.

Parameters are in the coordinates in which a row of norm `row_norm` has norm 1: v = row_norm * w.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.descent.losses import LogisticLoss, Loss
from discreet.descent.rows import RESIDUAL_BOUND, whole_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.descent.rows import IntegerRows

# A residual errs by at most this, in units of `spread`.
_RESIDUAL_ERROR = 2.0**-49
# Relative errors of the sums that are not over rows; generous.
_SUM_ERROR = 2.0**-49
# A residual is read in this many whole parts of 16 bits each.
_N_PARTS = 4
_BITS_OF_PART = 16
# So many exact products leave less than 2**-60 of a parameter out of the margins.
_N_PRODUCTS = 4


@dataclass(frozen=True)
class Minimizer:
    """Public settings of a minimization.

    Parameters
    ----------
    regularization : float
        Strong convexity alpha.
    n_steps : int
        Gradient steps, fixed.
    reach : float
        W: the minimizer is projected onto the ball of this radius.
    error : float
        How far the computed minimizer may be from the exact one, both projected.
    """

    regularization: float
    n_steps: int
    reach: float
    error: float

    def minimize(self, rows: IntegerRows, loss: Loss, linear: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the projected minimizer of `sum of losses + alpha/2 |v|**2 + linear'v`; total.

        Guarantee
        ---------
        Within `error` of the exact one, whatever the rows, and whatever `linear`: the residual is checked with an
        outward bound of its own error. Proof: docs/proofs/perturbation.md
        """
        objective = PrivateObjective(rows, loss, self.regularization, linear)
        # More rows than were expected take more steps (AddRemove alone; a Replace plan knows their number). How many
        # more depends on how many rows there are, never on what stands in them.
        norm_squared = rows.grid.norm_squared() / rows.grid.norm**2
        condition = 1 + rows.private_size() * curvature(loss) * norm_squared / self.regularization * (1 + 1e-8)
        n_steps = max(self.n_steps, steps_needed(condition, self.reach, self.error))
        v = triple_momentum(objective, n_steps)
        return self._project(self._settle(objective, v))

    def _settle(self, objective: PrivateObjective, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return v, whose residual the theorem has made small; should doubles have failed, descend until it is."""
        gradient, error = objective.certain_gradient(v)
        left = self._steps_left(objective, _norm(gradient) + error)
        while _norm(gradient) + error > self._largest_residual(v) and left:
            v = v - gradient / objective.smoothness
            gradient, error = objective.certain_gradient(v)
            left -= 1
        return v

    def _largest_residual(self, v: NDArray[np.float64]) -> float:
        # What is left of alpha * error is for the rounding of `linear`.
        return 0.875 * self.regularization * self.error * max(1.0, _norm(v) / self.reach)

    def _steps_left(self, objective: PrivateObjective, residual: float) -> int:
        """Return after how many plain steps gradient descent is near, from a point of this residual."""
        condition = objective.smoothness / self.regularization
        ratio = 4 * residual / (self.regularization * self.error)
        return math.ceil(condition * math.log(max(ratio, 2.0)))

    def _project(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        norm = _norm(v)
        return v if norm <= self.reach else v * (self.reach / norm)


def steps_needed(condition: float, reach: float, error: float) -> int:
    """Return how many steps of the triple momentum method bring the residual to `regularization * error / 2`.

    It holds for minimizers of norm at most `2 * reach`, and in proportion beyond; 1 more than the theorem asks.
    """
    if condition <= 1 + 1e-9:
        return 2
    wanted = condition * math.sqrt(1.5 * condition) * 4 * reach / error
    return 2 + math.ceil(math.log(wanted) / -math.log1p(-1 / math.sqrt(condition)))


def triple_momentum(objective: PrivateObjective, n_steps: int) -> NDArray[np.float64]:
    """Return the last point of the triple momentum method from 0, after `n_steps` gradients.

    Source: Van Scoy, Freeman and Lynch 2018; the form and the potential of Taylor and Drori 2023.
    """
    root = math.sqrt(objective.regularization / objective.smoothness)
    inertia = (1 - root) / (1 + root)
    y = np.zeros(objective.width)
    z = np.zeros(objective.width)
    for _ in range(n_steps):
        gradient = objective.gradient(y)
        z = root * (y - gradient / objective.regularization) + (1 - root) * z
        y = inertia * (y - gradient / objective.smoothness) + (1 - inertia) * z
    return z


class PrivateObjective:
    """A regularized convex objective of private rows.

    Parameters
    ----------
    rows : IntegerRows
        The private rows.
    loss : Loss
        Its residual, real and clipped, is the derivative by the margin.
    regularization : float
        alpha.
    linear : ndarray of float64, shape (width,)
        The perturbation; zeros for none.
    """

    def __init__(self, rows: IntegerRows, loss: Loss, regularization: float, linear: NDArray[np.float64]) -> None:
        self._rows = rows
        self._loss = loss
        self._linear = linear
        self._unit = 1.0 / rows.grid.norm
        self._constant = rows.grid.constant * self._unit
        private = rows.private_matrix
        # Columns in one piece each: both products of a dense matrix then run along the rows.
        self._matrix = np.asfortranarray(private) if isinstance(private, np.ndarray) else private
        self._transposed = self._matrix.T
        self._margins = np.zeros(rows.private_size())
        # tanh is several times faster than the logistic function, which is 1/2 + tanh(z / 2) / 2.
        self._logistic = isinstance(loss, LogisticLoss)
        self._target = (rows.private_y - 0.5) if self._logistic else rows.private_y
        self.regularization = regularization
        self.width = rows.grid.width
        self.smoothness = regularization + curvature(loss) * self._sum_of_squares(private)

    def _sum_of_squares(self, private: Any) -> float:
        """Return the sum of all squared entries: an upper bound of the largest eigenvalue."""
        cells = (private if isinstance(private, np.ndarray) else private.data).reshape(-1)
        whole = float(np.einsum("i,i->", cells, cells))
        return (whole * self._unit**2 + self._rows.private_size() * self._constant**2) * (1 + 1e-9)

    def gradient(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gradient in doubles."""
        n = self._rows.grid.n_columns
        residuals = self._residuals(v[:n] * self._unit, self._constant * v[-1])
        total = self.regularization * v
        total += self._linear
        total[:n] += (self._transposed @ residuals) * self._unit
        if self._constant:
            total[-1] += self._constant * float(residuals.sum())
        return total

    def _residuals(self, features: NDArray[np.float64], constant: float) -> NDArray[np.float64]:
        """Return the clipped residuals at a parameter; the array is used again by the next call."""
        if isinstance(self._matrix, np.ndarray):
            margins = np.dot(self._matrix, features, out=self._margins)
        else:
            margins = self._matrix @ features
        if self._constant:
            margins += constant
        if self._logistic:
            margins *= 0.5
            np.tanh(margins, out=margins)
            margins *= 0.5
        margins -= self._target
        clip = self._loss.clip
        if self._logistic and clip >= 1:
            return margins
        return np.clip(margins, -clip, clip, out=margins)

    def certain_gradient(self, v: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Return the gradient, its sum over rows exact but for each residual's error, and a bound of its error.

        The bound is argued in docs/proofs/perturbation.md.
        """
        clip = self._loss.clip
        mean = self._loss._mean(self._certain_margins(v))  # noqa: SLF001  (the loss, before it is rounded)
        rest = np.clip(mean - self._rows.private_y, -clip, clip) / clip
        total = np.zeros(self.width)
        for part in range(1, _N_PARTS + 1):
            rest *= RESIDUAL_BOUND
            whole = np.rint(rest)
            rest -= whole
            total += self._rows.gradient(whole) * 2.0 ** (-_BITS_OF_PART * part)
        total *= clip * self._unit
        gradient = total + self.regularization * v + self._linear
        norm = math.sqrt(self._rows.grid.norm_squared()) * self._unit
        of_rows = self._rows.private_size() * norm
        of_residuals = of_rows * _RESIDUAL_ERROR * spread(self._loss, self._rows.target_bounds)
        of_sums = _SUM_ERROR * (_norm(total) + self.regularization * _norm(v) + _norm(self._linear))
        # What the margins leave of v, and the roundings of this bound.
        of_margins = 2.0**-60 * curvature(self._loss) * of_rows * norm * _norm(v)
        return gradient, 1.001 * (of_residuals + of_sums + of_margins)

    def _certain_margins(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return margins from exact products: of the leading bits of v, of what they leave, and so on."""
        grid = self._rows.grid
        margins = np.zeros(self._rows.private_size())
        for _ in range(_N_PRODUCTS):
            whole, unit = whole_numbers(v, grid)
            worth = unit / grid.unit  # a power of two
            margins += self._rows.margins(whole) * (worth * self._unit)
            v = v - whole * worth
        return margins


def curvature(loss: Loss) -> float:
    """Return the largest second derivative of a loss by the margin."""
    return 0.25 if isinstance(loss, LogisticLoss) else 1.0


def spread(loss: Loss, target_bounds: tuple[float, float]) -> float:
    """Return a public bound of the numbers that a residual is computed from."""
    largest = loss.clip + max(map(abs, target_bounds))
    return largest + 1.0 if isinstance(loss, LogisticLoss) else largest


def _norm(vector: NDArray[np.float64]) -> float:
    return float(np.sqrt((vector * vector).sum()))
