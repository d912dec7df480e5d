"""One draw of the K-norm gradient mechanism for the front door."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.estimators.k_norm_base import default_ridge
from discreet.privacy.release import release
from discreet.sampling.k_norm.gradient import GradientTarget
from discreet.sampling.k_norm.losses import LogCoshLoss, LogisticLoss
from discreet.sampling.k_norm.model_rows import CodedRows, LayoutRows
from discreet.sampling.k_norm.targets import plan_k_norm
from discreet.sampling.policies import CoolDown

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from discreet.estimators.methods.declared import BoundedRows
    from discreet.lattice.grid import Layout
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.ledger import Ledger
    from discreet.privacy.release import Release

# Residuals count up to a quarter of the range of a target: this, in half-widths.
_CLIP = 0.5


class SampledRows(CodedRows):
    """Bounded rows as the sampler reads them.

    Parameters
    ----------
    rows : BoundedRows
        The private rows.
    size : int
        Their public number.
    """

    def __init__(self, rows: BoundedRows, size: int) -> None:
        self._rows = rows
        self._size = size

    def size(self) -> int:
        """Return the number of rows."""
        return self._size

    def blocks(self, layout: Layout) -> Iterator[NDArray[np.float64]]:
        """Yield the rows; may raise what the data owner declared."""
        del layout  # differs from the one on which rows are read in the name of its target's ends alone
        yield from (block for block, _ in self._rows.private_source.blocks(self._rows.read_layout))


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawn:
    """A drawn linear predictor in the user's units.

    Parameters
    ----------
    coef : ndarray of float64, shape (n_coefficients,)
        Per unit of the columns.
    intercept : float
        0 where the model has none.
    released : Release
        The draw.
    ridge : float
        What was added to the objective.
    noise_dominated : bool
        Whether the spread of the draw is at least half of what was drawn, in squares.
    """

    coef: NDArray[np.float64]
    intercept: float
    released: Release[Any]
    ridge: float
    noise_dominated: bool


def draw_coefficients(
    rows: BoundedRows, loss: str, *, n_rows: int, budget: Budget, adjacency: Adjacency, ledger: Ledger | None
) -> Drawn:
    """Draw coefficients with a density that falls with the length of the gradient; charges the ledger once.

    Parameters
    ----------
    rows : BoundedRows
        The private rows.
    loss : {"squared", "logistic"}
        The squared loss is log cosh, quadratic up to a quarter of the range of the target.
    n_rows : int
        Their public number.
    budget, adjacency, ledger
        Of the fit.
    """
    reader = LayoutRows(layout=rows.layout, labels=loss == "logistic")
    kind: Any = LogisticLoss() if loss == "logistic" else LogCoshLoss(clip=_CLIP)
    target = GradientTarget(loss=kind, reader=reader, ridge=default_ridge(kind, reader, n_rows))
    public = n_rows if adjacency.size_is_public else None
    plan = plan_k_norm(target, budget=budget, adjacency=adjacency, runtime=CoolDown(), n_rows=public)
    released: Release[Any] = release(plan, SampledRows(rows, n_rows), ledger, n_rows=n_rows)
    point = released.value.point
    found = reader.predictor(point)
    coef, intercept = found.coef, found.intercept
    if loss == "squared":
        coding = rows.layout.codings[-1]
        half = 2.0**rows.layout.bits / coding.scale
        coef, intercept = coef * half, intercept * half + coding.center
    spread = float(plan.scaled.spread * plan.scaled.grid.step)  # type: ignore[attr-defined]
    dimension = reader.width
    return Drawn(
        coef=coef,
        intercept=intercept if rows.layout.intercept else 0.0,
        released=released,
        ridge=float(target.ridge),
        noise_dominated=bool(dimension * (dimension + 1) * spread**2 >= 0.5 * float(point @ point)),
    )
