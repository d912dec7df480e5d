"""Finitely many candidates, chosen by the exponential mechanism with fixed work: Gumbel noise on exact scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument
from discreet.lattice.noise.gumbel import check_gumbel_scale, noisy_top
from discreet.sampling.evaluation import check_function, evaluate, rows_of
from discreet.sampling.targets.own_utilities import OwnUtility
from discreet.sampling.targets.targets import BELIEVED, ExactTarget

if TYPE_CHECKING:
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.coins import Coins

# Utilities are whole numbers of steps, within this size.
_MOST_STEPS = 2.0**53


@dataclass(frozen=True, kw_only=True, eq=False)
class FiniteCandidates(OwnUtility, ExactTarget):
    """A choice among public candidates, with probabilities proportional to ``exp(scale * u)``.

    Parameters
    ----------
    candidates : array-like, shape (n_candidates,) or (n_candidates, dimension)
        Public points.
    utility : callable
        Takes all candidates, shape (n_candidates, dimension), and rows, shape (n_rows, n_columns); returns one number
        a candidate. What fails counts as 0.
    change : number
        The most by which the utility of a candidate changes when a record is added, removed or replaced; believed, not
        enforced.
    step : number, optional
        Utilities are rounded to whole numbers of steps, and `change` grows by up to two of them; None says that
        utilities are whole numbers already, such as counts, which are kept as they are.
    example : array-like
        Public rows with the columns of the data, on which the function is tried.

    Guarantee
    ---------
    The exponential mechanism, exactly, as far as `change` is true; its work is the same for all data sets.
    Proof: docs/proofs/gumbel.md

    Examples
    --------
    >>> from discreet.privacy.adjacency import Replace
    >>> from discreet.privacy.budgets import Pure
    >>> from discreet.sampling.mechanisms import sample
    >>> def votes(candidates, rows):
    ...     return (candidates == rows.T).sum(axis=1)
    >>> target = FiniteCandidates(candidates=[0, 1, 2], utility=votes, change=1, example=[[0], [1]])
    >>> chosen = sample(target, np.repeat([1, 2], [400, 20]), budget=Pure(epsilon=1), adjacency=Replace())
    >>> float(chosen.value.point[0])
    1.0
    """

    candidates: Any
    step: Any = None

    def __post_init__(self) -> None:
        points = rows_of(self.candidates, "candidates")
        if points.size == 0 or not np.isfinite(points).all():
            raise InvalidArgument("`candidates` must hold at least one point, and finite numbers only.")
        _checks.set_fields(self, candidates=points)
        if self.step is not None:
            _checks.check_fields(self, _checks.exact_positive, "step")
        self._read_change()
        values = check_function(self.utility, points, self.example, "utility")
        if values.ndim != 1:
            raise InvalidArgument(f"`utility` must return one number a candidate; found the shape {values.shape}.")
        if self.step is None and (values != np.rint(values)).any():
            raise InvalidArgument(
                "`utility` returns numbers that are not whole for the example rows. Give a `step` to round them to."
            )

    @property
    def name(self) -> str:
        """What is drawn."""
        return f"one of {self.n_candidates} candidates"

    @property
    def dimension(self) -> int:
        """How many numbers a candidate has."""
        return int(self.candidates.shape[1])

    @property
    def n_candidates(self) -> int:
        """How many candidates there are."""
        return int(self.candidates.shape[0])

    def sensitivity(self, adjacency: Adjacency) -> Fraction:
        """Return the change in steps: exact for whole utilities, else the change and what rounding adds."""
        del adjacency
        if self.step is None:
            return Fraction(math.floor(self.change)) if self.change >= 1 else Fraction(self.change)
        # The distance of two rounded numbers is less than their distance plus one step; the division adds a little.
        return Fraction(math.floor(self.change / self.step) + 2)

    @property
    def notes(self) -> tuple[str, ...]:
        """The change is believed."""
        return (BELIEVED.format("sensitivity"),)

    def check_scale(self, scale: Fraction) -> None:
        """Refuse a scale whose noise no program can draw."""
        check_gumbel_scale(1 / scale)

    def choose(self, prepared: np.ndarray, scale: Fraction, coins: Coins, n_draws: int) -> np.ndarray:
        """Return `n_draws` independent choices."""
        with np.errstate(all="ignore"):
            values = np.nan_to_num(evaluate(self.utility, self.candidates, prepared), nan=0.0)
            steps = values if self.step is None else values / float(self.step)
            scores = np.rint(np.clip(steps, -_MOST_STEPS, _MOST_STEPS)).astype(np.int64)
        noise = 1 / scale
        chosen = [int(noisy_top(scores, scale=noise, size=1, coins=coins)[0]) for _ in range(n_draws)]
        points: np.ndarray = self.candidates[chosen]
        return points
