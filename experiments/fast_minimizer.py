"""The same perturbed objectives, minimized faster: for measurements alone.

The package minimizes by a number of gradient steps that is fixed beforehand, thousands on text, since its guarantee
rests on a proved distance from the minimizer. Here L-BFGS goes first and Newton's method with conjugate gradients
then, from the same noise, until the gradient is below the residual that the package itself asks for. The result is the
same to eight digits; what it takes tells of the rows, so it is no release. The noise that covers these last digits is
drawn in doubles here: exact, it takes a minute for 45,000 columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg

from discreet.descent.losses import LogisticLoss
from discreet.descent.rivals import perturbation
from discreet.descent.rivals.minimizer import Minimizer, PrivateObjective

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from discreet.descent.losses import Loss
    from discreet.descent.rows import IntegerRows
    from discreet.privacy.coins import Coins

# The largest residual that was left, in units of what is allowed; a run reports it.
worst = {"residual": 0.0}


class _Convex:
    """Value, gradient and curvature of a perturbed objective."""

    def __init__(self, rows: IntegerRows, loss: Loss, alpha: float, linear: NDArray[np.float64]) -> None:
        self.objective = PrivateObjective(rows, loss, alpha, linear)
        self.rows, self.loss, self.alpha, self.linear = rows, loss, alpha, linear
        self.unit = 1.0 / rows.grid.norm
        self.constant = rows.grid.constant * self.unit
        self.y = rows.private_y
        self.labels = isinstance(loss, LogisticLoss)

    def margins(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        n = self.rows.grid.n_columns
        found: NDArray[np.float64] = self.rows.private_matrix @ (v[:n] * self.unit)
        return found + self.constant * v[-1] if self.constant else found

    def value(self, v: NDArray[np.float64]) -> float:
        z, clip = self.margins(v), self.loss.clip
        if self.labels:
            losses = np.logaddexp(0, z) - self.y * z
        else:
            size = np.abs(z - self.y)
            losses = np.where(size <= clip, size**2 / 2, clip * size - clip**2 / 2)
        return float(losses.sum() + self.alpha / 2 * (v @ v) + self.linear @ v)

    def hessian(self, v: NDArray[np.float64]) -> LinearOperator:
        z = self.margins(v)
        if self.labels:
            half = np.tanh(z / 2)
            weights = (1 - half**2) / 4
        else:
            weights = (np.abs(z - self.y) <= self.loss.clip).astype(float)
        n, width = self.rows.grid.n_columns, v.size

        def product(p: NDArray[np.float64]) -> NDArray[np.float64]:
            q = weights * self.margins(p.ravel())
            found = self.alpha * p.ravel()
            found[:n] += (self.rows.private_matrix.T @ q) * self.unit
            if self.constant:
                found[-1] += self.constant * q.sum()
            return found

        return LinearOperator((width, width), matvec=product, dtype=np.float64)


def fast_minimize(self: Minimizer, rows: IntegerRows, loss: Loss, linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the projected minimizer; to be put in the place of `Minimizer.minimize`."""
    if isinstance(loss, LogisticLoss) and loss.clip < 1:
        raise ValueError("A clipped logistic loss has another value.")
    convex = _Convex(rows, loss, self.regularization, linear)
    start: Any = np.zeros(rows.grid.width)
    options = {"maxiter": 500, "maxcor": 20, "ftol": 1e-15, "gtol": 1e-9}
    v = minimize(convex.value, start, jac=convex.objective.gradient, method="L-BFGS-B", options=options).x
    allowed = 0.875 * self.regularization * self.error
    for _ in range(20):
        gradient = convex.objective.gradient(v)
        norm = float(np.linalg.norm(gradient))
        if norm <= allowed:
            break
        step, _ = cg(convex.hessian(v), -gradient, rtol=1e-4, maxiter=2000)
        v = v + step
    worst["residual"] = max(worst["residual"], norm / allowed)
    return self._project(v)


def fast_l2_norm(values: NDArray[np.int64], *, rate: Fraction, coins: Coins) -> NDArray[np.int64]:
    """Return whole numbers with noise of density exp(-rate |x|), in doubles; in the place of `l2_norm`."""
    rng = np.random.default_rng(int(coins.words(1)[0]))
    direction = rng.standard_normal(values.size)
    radius = rng.gamma(values.size) / float(rate)
    noisy: NDArray[np.int64] = values + np.rint(direction * (radius / np.linalg.norm(direction))).astype(np.int64)
    return noisy


def install() -> None:
    """Minimize fast from now on, in this process."""
    Minimizer.minimize = fast_minimize  # type: ignore[method-assign]
    perturbation.l2_norm = fast_l2_norm  # type: ignore[assignment, attr-defined]
