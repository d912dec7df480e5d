"""The exact gradient of a private loss at a public iterate, and how far one record moves it there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.descent.rows import whole_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.descent.losses import Loss
    from discreet.descent.rows import IntegerRows
    from discreet.lattice.row_grid import RowGrid


def gradient_unit(grid: RowGrid, loss: Loss) -> float:
    """Return what one unit of a summed gradient is worth."""
    return grid.unit * loss.unit


def residual_bound(theta: NDArray[np.float64], grid: RowGrid, loss: Loss, target_bounds: tuple[float, float]) -> int:
    """Return a public bound of every record's residual at a public iterate, in units of the loss.

    Where parameters are small so are margins, and residuals then keep below the clip.
    """
    features = theta[: grid.n_columns]
    reach = min(
        grid.norm * grid.unit * float(np.sqrt((features * features).sum())),
        grid.entry * grid.unit * float(np.abs(features).sum()),
    )
    if grid.constant:
        reach += grid.constant * grid.unit * abs(float(theta[-1]))
    return loss.bound_at(reach * (1 + 1e-9), target_bounds)


def private_gradient(
    rows: IntegerRows, loss: Loss, theta: NDArray[np.float64], bound: int | None = None
) -> NDArray[np.int64]:
    """Return the exact sum of residual times row at a public iterate, in `gradient_unit`.

    Parameters
    ----------
    rows : IntegerRows
        The private rows.
    loss : Loss
        Which residual.
    theta : ndarray of float64, shape (width,)
        The public iterate, finite.
    bound : int or None
        The clamp of the residuals; None for `residual_bound` at this iterate.

    Guarantee
    ---------
    With `grid.l2_squared(bound, adjacency)` and `grid.linf(bound, adjacency)` for sensitivities.
    Proof: docs/proofs/descent.md.
    """
    if bound is None:
        bound = residual_bound(theta, rows.grid, loss, rows.target_bounds)
    whole, unit = whole_numbers(theta, rows.grid)
    margins = rows.margins(whole)
    margins *= unit
    return rows.gradient(loss.residuals(margins, rows.private_y, bound))
