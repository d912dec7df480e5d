"""Settings of a sparse descent from public facts alone: free, since no private row is looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet import _checks
from discreet.descent.calibration import COORDINATE_SHARE, PEELING_SHARE, automatic_selection
from discreet.descent.losses import LOSSES
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.lattice.row_grid import RowGrid
from discreet.privacy.accounting import gaussian_mu, zcdp_rho
from discreet.privacy.budgets import Approx, Gdp, Zcdp, check_budget

if TYPE_CHECKING:
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget

# Found by experiments/sparse_defaults.py and sparse_synthetic.py on simulated data, and, for rows of few entries,
# moved twice on public collections of texts (Reuters-21578, IMDB, 20 Newsgroups). No user's rows are ever looked at.

# A row at the norm needs (row_norm / entry_bound)**2 full entries; of at least this share of all columns it is dense.
_DENSE_SHARE = 1 / 16
# The largest eigenvalue of the mean square of rows with few entries, in squared row norms: words that are everywhere.
_COMMON = 1 / 10
# What the residual may be before it is clipped, in half-widths of the target: dense rows, and rows of few entries.
_DENSE_CLIP, _CLIP = 1 / 20, 1 / 4
# Labels: half the width of a residual in either case.
_LABEL_CLIP = 0.5
# Steps where the noise depends on the total length of the steps alone, so that many are free: more than the fewest
# only where steps that are as long as they may be would otherwise stay below the noise that is allowed.
_FEWEST_STEPS, _MANY_STEPS = 96, 256
# Noise that a whole fit may put on a margin: for labels, and in half-widths of a target.
_LABEL_NOISE, _NOISE = 1.5, 1 / 4
# In all, steps are as long as so many inverse curvatures of a column; one step is between these. Most residuals are
# clipped, so that one inverse curvature does not go all the way.
_TRAVEL, _SHORTEST, _LONGEST, _DENSE_STEPS = 16.0, 2.0, 4.0, 12
# Labels say less than numbers: one inverse curvature a step, and fewer steps, or they are learned by heart.
_LABEL_STEP, _LABEL_STEPS = 1.0, 4
# What a step keeps of what a column has to say, in units of its standard deviation: of numbers, and of labels.
_KEPT, _LABEL_KEPT = 1.0, 0.6
# Largest factor that keeps a step stable among labels, whose residuals cannot grow, against one among numbers.
_LABEL_REACH = 1.25


@dataclass(frozen=True, kw_only=True)
class SparseSettings:
    """How a descent is to be run.

    Parameters
    ----------
    n_steps : int
        How many steps.
    step_size : float
        Length of a step along the gradient of the mean loss.
    clip : float
        The largest residual that counts, in the units of the target.
    sparsity : int
        How many columns to keep.
    noise_floor : float
        How many standard deviations of one step's noise an entry must have to stay.
    """

    n_steps: int
    step_size: float
    clip: float
    sparsity: int
    noise_floor: float


def tune_on_simulation(
    *,
    loss: str,
    n_rows: int,
    n_columns: int,
    row_norm: float,
    entry_bound: float | None,
    budget: Budget,
    adjacency: Adjacency,
    sparsity: int,
    selection: str,
    target_bounds: tuple[float, float] | None = None,
    n_steps: int | None = None,
    clip: float | None = None,
) -> SparseSettings:
    """Return settings that did well on simulated and public data with like public facts.

    A rule, fitted beforehand: nothing is simulated now, and the same facts always give the same settings.

    Parameters
    ----------
    loss : {"squared", "huber", "logistic", "poisson"}
        Which loss.
    n_rows : int
        Rows, where their number is public; otherwise an expected number. At least 1.
    n_columns : int
        Columns, at least 1.
    row_norm, entry_bound : float
        Public bounds of a row's Euclidean norm and of an entry; None for the norm.
    budget : Approx, Zcdp or Gdp
        What the fit may cost.
    adjacency : Replace or AddRemove
        Which data sets are neighbors.
    sparsity : int
        How many columns the result may have.
    selection : {"auto", "all", "threshold", "peel", "coordinate"}
        As in `plan_descent`.
    target_bounds : tuple of float, optional
        Public limits of the target; needed for all losses but "logistic".
    n_steps, clip : int, float or None
        Where these are already decided: the step size is then the one that goes with them.

    Raises
    ------
    InvalidArgument
        If a fact is out of its range.
    IncompatiblePlan
        If the budget is pure.

    Guarantee
    ---------
    A function of public facts: it costs nothing.

    Examples
    --------
    >>> from discreet.privacy.adjacency import Replace
    >>> facts = {"loss": "logistic", "budget": Approx(epsilon=2, delta=1e-6), "adjacency": Replace()}
    >>> tune_on_simulation(**facts, n_rows=20_000, n_columns=47_000, row_norm=1.0, entry_bound=1.0, sparsity=5000,
    ...                    selection="auto").n_steps
    135
    >>> tune_on_simulation(**facts, n_rows=20_000, n_columns=1000, row_norm=20.0, entry_bound=1.2, sparsity=10,
    ...                    selection="auto").n_steps
    4
    """
    name = _checks.one_of(selection, "selection", ("auto", "all", "threshold", "peel", "coordinate"))
    grid = RowGrid(n_columns, row_norm, entry_bound)
    kept = min(_checks.integer(sparsity, "sparsity", low=1), grid.n_columns)
    facts = _Facts(
        grid=grid,
        loss=_checks.one_of(loss, "loss", LOSSES),
        changed=adjacency.rows_changed / _checks.integer(n_rows, "n_rows", low=1),
        mu=_mu(budget),
        rho=_rho(budget),
        target=_target(loss, target_bounds),
        sparsity=kept,
        selection=automatic_selection(grid, kept) if name == "auto" else name,
    )
    decided = float(f"{facts.clip:.2e}") if clip is None else _checks.finite_float(clip, "clip")
    if not decided > 0:
        raise InvalidArgument(f"`clip` must be greater than 0; found {clip}.")
    steps = facts.n_steps(decided) if n_steps is None else _checks.integer(n_steps, "n_steps", low=1, high=10**6)
    return SparseSettings(
        n_steps=steps,
        # Three digits, so that the last bits of a platform's logarithm do not matter.
        step_size=float(f"{facts.step_size(steps, decided):.2e}"),
        clip=decided,
        sparsity=kept,
        noise_floor=3.0 if facts.dense else 0.0,
    )


@dataclass(frozen=True, kw_only=True)
class _Facts:
    """Public facts, and what follows from them."""

    grid: RowGrid
    loss: str
    changed: float
    mu: float
    rho: float
    target: tuple[float, float]
    sparsity: int
    selection: str

    @property
    def dense(self) -> bool:
        """Whether a row at its norm must have entries in a good part of all columns."""
        return (self.grid.norm / self.grid.entry) ** 2 >= _DENSE_SHARE * self.grid.n_columns

    @property
    def labels(self) -> bool:
        return self.loss == "logistic"

    @property
    def half_width(self) -> float:
        return max((self.target[1] - self.target[0]) / 2, 1e-50)

    @property
    def clip(self) -> float:
        if self.labels:
            return _LABEL_CLIP
        return (_DENSE_CLIP if self.dense else _CLIP) * self.half_width

    @property
    def curvature(self) -> float:
        """The second derivative of the loss by the margin: its largest, or for counts that of the middle."""
        if self.labels:
            return 0.25
        return max(1.0, sum(self.target) / 2) if self.loss == "poisson" else 1.0

    @property
    def column_moment(self) -> float:
        """The mean square of a column, were all alike."""
        return self.grid.row_norm**2 / self.grid.n_columns

    def n_steps(self, clip: float) -> int:
        """As many as leave one step's noise below what a column of the result has to say.

        Standardized, that is `_KEPT / sqrt(sparsity)` a column, and an entry's noise, with `changed` of all rows,
        is `changed * row_norm * sqrt(n_steps) / mu` among all columns; chosen ones have Gumbel noise of the entry's
        bound instead. The largest of n noises is sqrt(2 log(n)), or log(n), times as large.

        Rows of few entries get as many as the longest steps need to go as far as the noise allows.
        """
        if self.selection == "coordinate":
            return 3 * self.sparsity
        most = _LABEL_STEPS if self.labels else _DENSE_STEPS
        if not self.dense:
            if self.selection not in {"all", "threshold"}:
                return most
            needed = min(self.quiet_length(clip) / self.longest_step, 1e6)
            return min(max(_FEWEST_STEPS, math.ceil(needed)), _MANY_STEPS)
        signal = (_LABEL_KEPT if self.labels else _KEPT) * math.sqrt(self.column_moment / self.sparsity)
        many = math.log(max(self.grid.n_columns, 3))
        if self.selection in {"all", "threshold"}:
            of_a_step = self.changed * self.grid.row_norm / self.mu * math.sqrt(2 * many)
            most *= 2
        else:
            entry = self.grid.entry * self.grid.unit
            share = float(PEELING_SHARE if self.selection == "peel" else COORDINATE_SHARE)
            of_a_step = self.changed * entry * math.sqrt(self.sparsity / (2 * share * self.rho)) * many
        affordable = (signal / of_a_step) ** 2
        return max(1, min(most, round(min(affordable, 1e6))))

    def step_size(self, n_steps: int, clip: float) -> float:
        if self.dense:
            of_column = 1 / (self.curvature * self.column_moment)
            return of_column * (_LABEL_STEP if self.labels else min(max(_TRAVEL / n_steps, _SHORTEST), _LONGEST))
        return min(self.longest_step, self.quiet_length(clip) / n_steps)

    @property
    def longest_step(self) -> float:
        """What is stable among rows of few entries."""
        reach = _LABEL_REACH if self.labels else 1.0
        return reach * 2 / (self.curvature * _COMMON * self.grid.row_norm**2)

    def quiet_length(self, clip: float) -> float:
        """How long all steps together may be, for the noise that a fit may put on a margin.

        That noise has standard deviation (total length) * clip * changed * |row|**2 / mu.
        """
        largest = _LABEL_NOISE if self.labels else _NOISE * self.half_width
        return largest * self.mu / (self.changed * self.grid.row_norm**2 * clip)


def _target(loss: str, bounds: Any) -> tuple[float, float]:
    if bounds is None:
        if loss == "logistic":
            return 0.0, 1.0
        raise InvalidArgument(f'`target_bounds` are needed for the loss "{loss}". Give public limits of the target.')
    low, high = (_checks.finite_float(limit, "target_bounds") for limit in bounds)
    if low <= high:
        return low, high
    raise InvalidArgument("`target_bounds` must be (lower, upper) with lower <= upper.")


def _mu(budget: Any) -> float:
    value = check_budget(budget)
    if isinstance(value, Gdp):
        return math.sqrt(value.mu_squared)
    if isinstance(value, Zcdp):
        return math.sqrt(2 * value.rho)
    if isinstance(value, Approx) and value.delta > 0:
        return float(gaussian_mu(epsilon=value.epsilon, delta=value.delta))
    raise IncompatiblePlan(
        f"A noisy descent has no pure guarantee; found {value!r}. "
        "Use Approx(epsilon=..., delta=...) with delta above 0, Zcdp or Gdp."
    )


def _rho(budget: Any) -> float:
    if isinstance(budget, Approx):
        return float(zcdp_rho(epsilon=budget.epsilon, delta=budget.delta))
    return _mu(budget) ** 2 / 2
