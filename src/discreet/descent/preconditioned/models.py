"""One preconditioned descent, or one a class against the rest, in one charge."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.descent.blas_threads import one_thread
from discreet.descent.model_plans import additive, against_the_rest
from discreet.descent.preconditioned.plan import preconditioned_plan
from discreet.descent.preconditioned.rows import GriddedRows, gridded
from discreet.descent.preconditioned.settings import Settings, settings_for
from discreet.descent.preconditioned.weights import WeightedPlan, gram_block, weighted_rows
from discreet.lattice.gram import GramSum
from discreet.privacy.budgets import Pure
from discreet.privacy.events.repeated import share_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.descent.preconditioned.plan import PreconditionedFit, PreconditionedPlan
    from discreet.descent.preconditioned.weights import Weights
    from discreet.lattice.grid import Layout
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.coins import Coins
    from discreet.privacy.events.event import Event
    from discreet.tables.rows import PrivateRows


# The largest residual in the units of a clip: a target in half-widths of its bounds, a label, a count over its bound.
RESIDUAL_BOUNDS = {"squared": 2.0, "logistic": 1.0, "poisson": 1.0}
OVERRIDES = ("gram_share", "n_steps", "step_size", "clip")


@dataclass(frozen=True, eq=False)
class DescentsPlan:
    """The plan of one descent, or of one a class against the rest; priced without data.

    Parameters
    ----------
    one : PreconditionedPlan
        The plan of each.
    event : Event
        Of all of them.
    read_layout : Layout
        The grid on which rows are read: that of `one`, or with the positions of classes, 1, 2, ..., as targets.
    n_models : int
        How many.
    weights : Weights or None
        Of the rows: private, and part of no event.
    """

    one: PreconditionedPlan
    event: Event
    read_layout: Layout
    n_models: int
    weights: Weights | None = None

    def measure(self, data: PrivateRows) -> GriddedRows:
        """Return the rows on the grid.

        Raises
        ------
        InvalidData
            What the source says of missing cells.
        """
        with one_thread():
            if self.weights is None:
                return gridded(data, self.read_layout)
            return weighted_rows(data, self.read_layout, self.weights)

    def draw(self, statistic: GriddedRows, coins: Coins) -> tuple[PreconditionedFit, ...]:
        """Return one fit a model; total."""
        layout = self.one.layout
        if self.n_models == 1:
            return (self.one.draw(replace(statistic, layout=layout), coins),)
        places = range(1, self.n_models + 1)
        return tuple(self.one.draw(class_against_the_rest(statistic, layout, place), coins) for place in places)


def class_against_the_rest(rows: GriddedRows, layout: Layout, place: int) -> GriddedRows:
    """Return rows whose target is the upper end of the layout's where their class is at `place`, else the lower.

    A record that was dropped, all zeros, stays so.
    """
    coding, read, last = layout.codings[-1], rows.layout.codings[-1], layout.width - 1
    code = float(read.encode([float(place)])[0])
    blocks, total = [], GramSum(layout)
    for private_block, dropped in zip(rows.private_blocks, rows.private_dropped, strict=True):
        block = private_block.copy()
        block[last] = np.where(private_block[last] == code, np.float32(coding.highest), np.float32(coding.lowest))
        if dropped is not None:
            block[last, dropped] = 0.0
        total.add(gram_block(block, layout))
        blocks.append(block)
    return GriddedRows(layout, tuple(blocks), total.gram, rows.private_dropped)


def descent_settings(
    layout: Layout, loss: str, *, n_rows: int, budget: Budget, adjacency: Adjacency, overrides: Mapping[str, Any]
) -> Settings:
    """Return the default settings of a descent, with the ones that were given put over them."""
    found = settings_for(
        loss=loss,
        n_rows=n_rows,
        n_features=layout.width - 1,
        budget=budget,
        adjacency=adjacency,
        row_norm_squared=layout.row_norm_squared / 4.0**layout.bits,
        residual_bound=RESIDUAL_BOUNDS[loss],
    )
    given = {name: value for name, value in overrides.items() if value is not None}
    if "clip" in given:  # a clip that was asked for stays as it is
        given |= {"clip": _checks.finite_float(given["clip"], "clip"), "count_share": Fraction(0), "clip_target": 0.0}
    if "n_steps" in given:
        given["step_growth"] = _growth_of(_checks.integer(given["n_steps"], "n_steps", low=1), found)
    return replace(found, **given)


def _growth_of(n_steps: int, found: Settings) -> Fraction:
    """Return the growth of another number of steps: the last of more of them costs what the default's last does."""
    if n_steps <= found.n_steps:
        return found.step_growth
    # Rounded down: of many steps the smallest excess would add up.
    return Fraction(math.floor(1000 * float(found.step_growth) ** (found.n_steps / n_steps)), 1000)


def plan_descents(
    layout: Layout,
    read_layout: Layout,
    loss: str,
    *,
    n_rows: int,
    n_models: int,
    budget: Budget,
    adjacency: Adjacency,
    overrides: Mapping[str, Any],
    weights: Weights | None = None,
) -> DescentsPlan:
    """Return the plan of one descent or of one a class, which together cost at most `budget`.

    Parameters
    ----------
    layout, read_layout : Layout
        The grid of a row, the target last, as models have it, and the one on which it is read; they differ in the
        target alone.
    loss : {"squared", "logistic", "poisson"}
        What is minimized.
    n_rows : int
        The public number of rows.
    n_models : int
        One, or one a class.
    budget, adjacency
        Of the whole fit.
    overrides : mapping
        Settings that were given; None for the default's.
    weights : Weights or None
        Of the rows.

    Guarantee
    ---------
    The models' prices add up to the budget's: epsilons, or squares of mu. Proof: docs/proofs/accounting.md
    """
    share = budget
    if n_models > 1:
        share = share_of(budget if isinstance(budget, Pure) else additive(budget, gaussian=True), n_models)
    asked = {"n_rows": n_rows, "budget": share, "adjacency": adjacency}
    settings = descent_settings(layout, loss, **asked, overrides=overrides)  # type: ignore[arg-type]
    one = preconditioned_plan(layout, loss, budget=share, adjacency=adjacency, settings=settings)
    if weights is not None:
        one = WeightedPlan(one.layout, one.settings, one.event)
    event = one.event if n_models == 1 else against_the_rest(one.event, budget, n_models)
    return DescentsPlan(one, event, read_layout, n_models, weights)
