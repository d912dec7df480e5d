"""Two stages: blocks of records vote for a support, then a perturbed objective is minimized on it."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.descent.gradients import gradient_unit, private_gradient
from discreet.descent.rivals.minimizer import curvature
from discreet.descent.rivals.perturbation import PerturbationPlan, PerturbedParameters, plan_perturbation
from discreet.descent.rows import IntegerRows
from discreet.descent.selectors import keep_largest
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.lattice.noise.laplace import rounded_laplace
from discreet.lattice.noise.scales import check_scale
from discreet.privacy.budgets import Approx, Pure, check_budget
from discreet.privacy.events.perturbation import PerturbedObjectiveEvent, TwoStageEvent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.descent.losses import Loss
    from discreet.lattice.row_grid import RowGrid
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.coins import Coins

# What a support is chosen with inside one block: steps of exact iterative hard thresholding.
_N_BLOCK_STEPS = 8
_LARGEST_ENTRY = 1e100


@dataclass(frozen=True, eq=False)
class TwoStageParameters:
    """Released parameters on a released support; public.

    Parameters
    ----------
    theta : ndarray of float64, shape (width,)
        Zero outside the support; last the parameter of the constant column, where there is one.
    support : ndarray of int64, shape (sparsity,)
        The chosen columns, rising.
    n_steps : int
        Gradient steps of the second stage.
    """

    theta: NDArray[np.float64]
    support: NDArray[np.int64]
    n_steps: int


@dataclass(frozen=True)
class TwoStagePlan:
    """What one two-stage fit will do; priced without data.

    Parameters
    ----------
    grid : RowGrid
        The public grid of a whole row.
    event : TwoStageEvent
        Votes and objective, priced together.
    second : PerturbationPlan
        The second stage, on `event.sparsity` columns.
    """

    grid: RowGrid
    event: TwoStageEvent
    second: PerturbationPlan

    def measure(self, data: IntegerRows) -> IntegerRows:
        """Return the rows; all passes over them are made in `draw`."""
        if data.grid != self.grid:
            raise IncompatiblePlan("The rows' grid is not the plan's. Make both from the same declarations.")
        # The second stage's own checks, on some columns: which does not matter to them.
        self.second.measure(on_support(data, np.arange(self.event.sparsity)))
        return data

    def draw(self, statistic: IntegerRows, coins: Coins) -> TwoStageParameters:
        """Return the noisy minimizer on the chosen support; total, whatever the private values are."""
        event = self.event
        private_votes = votes(statistic, self.second.problem.loss, event)
        noisy = rounded_laplace(private_votes, scale=event.vote_scale, coins=coins)
        # Falling, and of equal counts the first.
        support = np.sort(np.argsort(-noisy, kind="stable")[: event.sparsity])
        second: PerturbedParameters = self.second.draw(on_support(statistic, support), coins)
        theta = np.zeros(self.grid.width)
        theta[support] = second.theta[: event.sparsity]
        theta[self.grid.n_columns :] = second.theta[event.sparsity :]
        return TwoStageParameters(theta, support, second.n_steps)


def votes(rows: IntegerRows, loss: Loss, event: TwoStageEvent) -> NDArray[np.int64]:
    """Return for every column how many blocks have it in their support; private.

    Every block has exactly `event.sparsity` votes, so one changed block moves the counts by at most twice as many
    in the l1 norm.
    """
    counts = np.zeros(rows.grid.n_columns, np.int64)
    blocks = private_blocks(rows, event.n_blocks, by_position=event.adjacency.size_is_public)
    for block in range(event.n_blocks):
        counts[_support(_some_rows(rows, blocks == block), loss, event.sparsity)] += 1
    return counts


def private_blocks(rows: IntegerRows, n_blocks: int, *, by_position: bool) -> NDArray[np.int64]:
    """Return the block of every record: its position modulo `n_blocks`, or a hash of its content.

    A hash is of the record's own integers, so no record moves another one when it comes or goes.
    """
    n_rows = rows.private_size()
    if by_position:
        return np.arange(n_rows, dtype=np.int64) % n_blocks
    matrix, target = rows.private_matrix, rows.private_y + 0.0
    digests = np.empty(n_rows, np.int64)
    for index in range(n_rows):
        if isinstance(matrix, np.ndarray):
            present = np.flatnonzero(matrix[index])
            columns, cells = present, matrix[index, present]
        else:
            part = slice(matrix.indptr[index], matrix.indptr[index + 1])
            columns, cells = matrix.indices[part], matrix.data[part]
        content = columns.astype(np.int64).tobytes() + cells.tobytes() + target[index : index + 1].tobytes()
        digests[index] = int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little") % n_blocks
    return digests


def _some_rows(rows: IntegerRows, chosen: NDArray[np.bool_]) -> IntegerRows:
    return IntegerRows(rows.grid, rows.private_matrix[chosen], rows.private_y[chosen], rows.target_bounds)


def on_support(rows: IntegerRows, support: NDArray[np.int64]) -> IntegerRows:
    """Return the rows with the chosen columns alone, on the grid of so many columns."""
    grid = support_grid(rows.grid, support.size)
    return IntegerRows(grid, rows.private_matrix[:, support], rows.private_y, rows.target_bounds)


def support_grid(grid: RowGrid, sparsity: int) -> RowGrid:
    """Return the grid of rows of which `sparsity` columns are left; norm and entries are bounded as before."""
    return replace(grid, n_columns=sparsity)


def _support(block: IntegerRows, loss: Loss, size: int) -> NDArray[np.int64]:
    """Return `size` columns that fit a block well: hard thresholding on exact sums, no noise; private.

    Everything is a function of the block alone: sums over rows are exact integers, or correctly rounded.
    """
    grid, n_columns = block.grid, block.grid.n_columns
    unit = gradient_unit(grid, loss)
    theta = np.zeros(grid.width)
    kept = np.arange(n_columns) < size
    for _ in range(_N_BLOCK_STEPS):
        with np.errstate(all="ignore"):
            sums = private_gradient(block, loss, theta)
            descent = (-unit * sums).astype(np.float64)
            direction = descent * np.append(kept, np.ones(grid.width - n_columns))
            if not theta.any():
                direction = descent.copy()
                direction[:n_columns] = keep_largest(descent[:n_columns], size)
            moved = theta + _step(block, loss, direction) * descent
            theta = np.clip(np.nan_to_num(moved), -_LARGEST_ENTRY, _LARGEST_ENTRY)
        order = np.argsort(-np.abs(theta[:n_columns]), kind="stable")[:size]
        kept = np.zeros(n_columns, np.bool_)
        kept[order] = True
        theta[:n_columns][~kept] = 0.0
    return np.flatnonzero(kept)


def _step(block: IntegerRows, loss: Loss, direction: NDArray[np.float64]) -> float:
    """Return the step that is best along a direction for the loss of largest curvature; 0 where there is none."""
    largest = float(np.abs(direction).max(initial=0.0))
    if largest == 0.0 or not math.isfinite(largest):
        return 0.0
    # Rounded to whole numbers, margins are exact; sums of their squares are correctly rounded.
    whole = np.rint(direction / largest * 2.0**12)
    margins = block.margins(whole) * (block.grid.unit * 2.0**-12)
    length = math.fsum((whole * 2.0**-12) ** 2)
    bend = curvature(loss) * math.fsum(margins * margins)
    return length / bend if bend > 0 else 0.0


def plan_two_stage(
    grid: RowGrid,
    loss: Loss,
    *,
    budget: Budget,
    adjacency: Adjacency,
    n_rows: int,
    sparsity: int,
    n_blocks: int | None = None,
    vote_share: Fraction | float = Fraction(1, 2),
    regularization: float | None = None,
    target_bounds: tuple[float, float] = (0.0, 1.0),
    statistic: str = "support votes, then a perturbed objective",
) -> TwoStagePlan:
    """Return the plan of a two-stage fit that costs at most `budget`.

    Parameters
    ----------
    grid : RowGrid
        The public grid of a row.
    loss : Loss
        Logistic, or squared with a clip.
    budget : Pure or Approx
        What both stages together may cost.
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    n_rows : int
        The number of rows under Replace; under AddRemove the expected one, from public knowledge.
    sparsity : int
        How many columns are chosen; at most their number.
    n_blocks : int or None, default None
        None takes the square root of `n_rows`: many blocks, and large ones.
    vote_share : number, default 1/2
        Of epsilon, the part that pays for the votes; between 0 and 1.
    regularization, target_bounds
        As in `plan_perturbation`.
    statistic : str
        What is released, in words.

    Raises
    ------
    IncompatiblePlan
        If the budget is not in Pure or Approx, or too small.
    InvalidArgument
        If a number is out of its range.

    Guarantee
    ---------
    The event's price, the sum of both stages', is at most its budget. Proof: docs/proofs/perturbation.md
    Source: Kifer, Smith and Thakurta 2012.

    Examples
    --------
    >>> from discreet.descent.losses import LogisticLoss
    >>> from discreet.lattice.row_grid import RowGrid
    >>> from discreet.privacy.adjacency import Replace
    >>> plan = plan_two_stage(RowGrid(50, row_norm=1.0), LogisticLoss(), budget=Approx(epsilon=2, delta="1e-6"),
    ...                       adjacency=Replace(), n_rows=900, sparsity=4)
    >>> plan.event.n_blocks, plan.event.vote_scale
    (30, Fraction(8, 1))
    """
    check_budget(budget)
    if not isinstance(budget, (Pure, Approx)):
        raise IncompatiblePlan(f"Two stages need a budget in Pure or Approx; found {budget!r}. Give one of these.")
    size = _checks.integer(sparsity, "sparsity", low=1)
    if size > grid.n_columns:
        raise InvalidArgument(f"`sparsity` must be at most the number of columns, {grid.n_columns}; found {size}.")
    expected = _checks.integer(n_rows, "n_rows", low=1)
    blocks = max(1, math.isqrt(expected)) if n_blocks is None else n_blocks
    blocks = _checks.integer(blocks, "n_blocks", low=1, high=2**40)
    share = _checks.exact_positive(vote_share, "vote_share")
    if not share < 1:
        raise InvalidArgument(f"`vote_share` must be below 1; found {share}.")
    for_votes = budget.epsilon * share
    vote_scale = check_scale(2 * size / for_votes, "budget")
    left: Budget
    if isinstance(budget, Approx):
        left = Approx(epsilon=budget.epsilon - for_votes, delta=budget.delta)
    else:
        left = Pure(epsilon=budget.epsilon - for_votes)
    second = plan_perturbation(
        support_grid(grid, size),
        loss,
        budget=left,
        adjacency=adjacency,
        n_rows=expected,
        regularization=regularization,
        target_bounds=target_bounds,
    )
    asked: dict[str, Any] = {
        "budget": budget,
        "sparsity": size,
        "n_blocks": blocks,
        "vote_scale": vote_scale,
        "statistic": statistic,
        "shape": (grid.width,),
    }
    of_objective = {field.name: getattr(second.event, field.name) for field in fields(PerturbedObjectiveEvent)}
    return TwoStagePlan(grid, TwoStageEvent(**(of_objective | asked)), second)
