"""Targets under one envelope for all data sets: bounded utilities, posteriors, synthetic data.

The density is ``exp(scale * u(x))`` times a public base law, from which proposals come, and the utility is at most 0
for every data set. A proposal is accepted with probability ``exp(scale * u(x))``, so the chance is at least
``exp(-scale * range)``. Since that range grows with the number of rows, such targets are for few rows or small
budgets; anything larger is refused with the work it would take.

Proof: docs/proofs/sampling.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument, InvalidData
from discreet.numbers.outward import exp_down
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.sampling.evaluation import check_function, complete_rows, evaluate, rows_of
from discreet.sampling.targets.bases import Base, check_base
from discreet.sampling.targets.own_utilities import OnExample
from discreet.sampling.targets.targets import Points, Proposer, ScaledTarget, Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.coins import Coins

# What rounding does to scale * utility where that is at most 700 in size: a few units in the last place.
ERROR = Fraction(1, 2**40)
_OWN_ROW = (
    "that a record's log-likelihood depends on that record and the point alone is believed of the user's function, not "
    "enforced; the sensitivity rests on it"
)
_POINT_ALONE = (
    "that the cells' probabilities depend on the point alone is believed of the user's function, not enforced"
)
# Steps of a record's log-likelihood from its upper to its lower bound.
_STEPS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class BoundedUtility(ScaledTarget):
    """A target whose log ratio is ``scale * u``, u at most 0.

    Parameters
    ----------
    scale : float
        What the utility is multiplied by.
    base : Base
        Where proposals come from.
    utility : callable
        Takes points and prepared rows; returns u, shape (size,).
    """

    scale: float
    base: Base
    utility: Callable[[np.ndarray, Any], np.ndarray]

    def begin(self, prepared: Any) -> Proposer:
        """Return who proposes from the base law."""
        return BaseProposer(self, prepared)


class BaseProposer(Proposer):
    """Proposes from a public law and evaluates a bounded utility."""

    def __init__(self, scaled: BoundedUtility, prepared: Any) -> None:
        self._scaled = scaled
        self._prepared = prepared

    def propose(self, coins: Coins, size: int) -> Points:
        """Return points of the base law."""
        return Points(self._scaled.base.propose(coins, size))

    def log_ratio(self, points: Points) -> np.ndarray:
        """Return scale times utility."""
        ratios: np.ndarray = self._scaled.scale * self._scaled.utility(points.values, self._prepared)
        return ratios


def _bounded(
    scale: Fraction,
    reach: Fraction,
    base: Base,
    utility: Callable[..., np.ndarray],
    error: Fraction = Fraction(0),
    *,
    notes: tuple[str, ...],
) -> BoundedUtility:
    least = exp_down(-scale * reach)
    if not least > 0:
        raise IncompatiblePlan(
            f"Acceptance may be as small as exp(-{float(scale * reach):.3g}): the expected work has no end. Lower the "
            "budget, or choose another method."
        )
    return BoundedUtility(
        dimension=base.dimension,
        acceptance=least,
        error=ERROR + scale * error,
        common_envelope=True,
        default=base.default,
        least_ratio=least,
        notes=notes,
        scale=float(scale),
        base=base,
        utility=utility,
    )


def _needs_rows(name: str, n_rows: int | None) -> int:
    if n_rows is not None:
        return n_rows
    raise IncompatiblePlan(
        f"{name}: how often proposals are accepted depends on the number of rows, which is private under AddRemove. "
        "Use Replace()."
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Posterior(OnExample, Target):
    """A draw from a tempered posterior: prior times likelihood to the power `scale`, each value moved into bounds.

    Parameters
    ----------
    log_likelihood : callable
        Takes points, shape (size, dimension), and all rows, shape (n_rows, n_columns); returns every record's
        log-likelihood at every point, shape (size, n_rows). A record's must depend on that record and the point alone,
        and the function must not raise: that is believed, not enforced.
    lower, upper : float
        Public limits of a record's log-likelihood. What is outside is moved to the nearer one, NaN to the lower.
    prior : Uniform, Normal or Custom
        Where proposals come from.
    example : array-like
        Public rows with the columns of the data, on which the function is tried.

    Guarantee
    ---------
    The utility, the sum of ``log-likelihood - upper`` in steps of ``2**-20 (upper - lower)``, is a sum of whole
    numbers, each within the bounds, which are enforced. One record then changes it by at most ``upper - lower`` under
    either adjacency, *as far as each value depends on its own record alone*: a function that looks at several records,
    such as one that subtracts their mean, or that keeps state, may change it by any number of times as much.
    Proof: docs/proofs/sampling.md

    Examples
    --------
    >>> from discreet.sampling.targets.bases import Normal
    >>> def log_likelihood(points, rows):
    ...     return -((points - rows.T) ** 2) / 2
    >>> target = Posterior(log_likelihood=log_likelihood, lower=-2, upper=0, prior=Normal(center=0, spread=1),
    ...                    example=[[0.0], [1.0]])
    >>> target.sensitivity(Replace())
    Fraction(2, 1)
    """

    log_likelihood: Callable[[np.ndarray, np.ndarray], Any]
    lower: float
    upper: float
    prior: Base

    def __post_init__(self) -> None:
        check_base(self.prior, "prior")
        _checks.check_fields(self, _checks.exact, "lower", "upper")
        if not self.lower < self.upper:
            raise InvalidArgument(f"`lower` must be below `upper`; found {self.lower} and {self.upper}.")
        self._read_example()
        values = check_function(self.log_likelihood, self.prior.test_points(), self.example, "log_likelihood")
        if values.ndim != 2 or values.shape[1] != self.example.shape[0]:
            raise InvalidArgument(
                "`log_likelihood` must return one value a point and record, shape (size, n_rows); found "
                f"{values.shape}."
            )

    @property
    def name(self) -> str:
        """What is drawn."""
        return "posterior draw"

    @property
    def dimension(self) -> int:
        """How many numbers a point has."""
        return self.prior.dimension

    def sensitivity(self, adjacency: Adjacency) -> Fraction:
        """Return upper - lower."""
        del adjacency  # one record is added, removed or replaced: the same bound
        return Fraction(self.upper) - Fraction(self.lower)

    def at(self, scale: Fraction, n_rows: int | None) -> ScaledTarget:
        """Return the posterior at the power `scale`."""
        reach = _needs_rows(self.name, n_rows) * self.sensitivity(Replace())
        return _bounded(scale, reach, self.prior, self._utility, notes=(_OWN_ROW,))

    def _utility(self, points: np.ndarray, rows: np.ndarray) -> np.ndarray:
        lower, upper = float(self.lower), float(self.upper)
        values = evaluate(self._steps, points, rows)
        # Whole numbers of steps, added up exactly; a failed evaluation is every record at its lower bound.
        sums = np.where(np.isnan(values), -float(_STEPS) * rows.shape[0], values)
        utilities: np.ndarray = sums * ((upper - lower) / _STEPS)
        return utilities

    def _steps(self, points: np.ndarray, rows: np.ndarray) -> np.ndarray:
        lower, upper = float(self.lower), float(self.upper)
        each = np.asarray(self.log_likelihood(points, rows), np.float64).reshape(points.shape[0], rows.shape[0])
        below = np.where(np.isnan(each), 1.0, (upper - each) / (upper - lower))
        sums: np.ndarray = -np.rint(np.clip(below, 0.0, 1.0) * _STEPS).sum(axis=1)
        return sums


@dataclass(frozen=True, kw_only=True, eq=False)
class SyntheticData(Target):
    """Parameters of a generator whose synthetic records are hard to tell from the private ones, cell by cell.

    The utility is ``-n pMSE``: the mean squared distance from 1/2 of the propensity scores of the saturated model on
    public cells, n private records against n synthetic ones in their expected numbers.

    Parameters
    ----------
    cells : callable
        Takes points, shape (size, dimension); returns the generator's probability of every cell, shape (size,
        n_cells). It is given no private row, and that it knows of none by other ways is believed.
    n_cells : int
        How many cells there are. A private record is given by the number of its cell, from 0.
    prior : Uniform, Normal or Custom
        Where proposals come from.

    Guarantee
    ---------
    Between neighbours under Replace the utility changes by at most 1/2, as far as the cells' probabilities depend on
    the point alone. Proof: docs/proofs/sampling.md
    Source: Snoke and Slavkovic 2018, pMSE mechanism.
    """

    cells: Callable[[np.ndarray], Any]
    n_cells: int
    prior: Base

    def __post_init__(self) -> None:
        check_base(self.prior, "prior")
        _checks.integer(self.n_cells, "n_cells", low=2, high=1 << 20)
        values = check_function(self._shares, self.prior.test_points(), np.empty((0, 1)), "cells")
        if values.shape[1:] != (self.n_cells,):
            raise InvalidArgument(f"`cells` must return {self.n_cells} probabilities a point; found {values.shape}.")

    @property
    def name(self) -> str:
        """What is drawn."""
        return f"synthetic data over {self.n_cells} cells, by pMSE"

    @property
    def dimension(self) -> int:
        """How many numbers a point has."""
        return self.prior.dimension

    def sensitivity(self, adjacency: Adjacency) -> Fraction:
        """Return 1/2; only under Replace."""
        if isinstance(adjacency, AddRemove):
            raise IncompatiblePlan(f"{self.name}: pMSE compares with as many synthetic records. Use Replace().")
        return Fraction(1, 2)

    def count(self, data: Any) -> int:
        """Return the number of records."""
        return int(rows_of(data).shape[0])

    def prepare(self, data: Any) -> np.ndarray:
        """Return how many records each cell has."""
        rows = complete_rows(data, 1)[:, 0]
        if ((rows != np.rint(rows)) | (rows < 0) | (rows >= self.n_cells)).any():
            raise InvalidData(f"`data` must hold numbers of cells, whole and from 0 to {self.n_cells - 1}.")
        return np.bincount(rows.astype(np.int64), minlength=self.n_cells).astype(np.float64)

    def at(self, scale: Fraction, n_rows: int | None) -> ScaledTarget:
        """Return the law at a public scale."""
        # Utilities of size 700 / scale and less matter; a sum of k terms errs by (k + 8) 2**-53 of its size.
        error = Fraction(700 * (self.n_cells + 8), 2**52) / scale
        reach = Fraction(_needs_rows(self.name, n_rows), 4) * (1 + Fraction(1, 2**30))
        return _bounded(scale, reach, self.prior, self._utility, error, notes=(_POINT_ALONE,))

    def _shares(self, points: np.ndarray, rows: np.ndarray) -> np.ndarray:
        del rows
        shares = np.maximum(np.asarray(self.cells(points), np.float64), 0.0)
        total: np.ndarray = shares / shares.sum(axis=1, keepdims=True)
        return total

    def _utility(self, points: np.ndarray, counts: np.ndarray) -> np.ndarray:
        shares = evaluate(self._shares, points, counts[:, None], width=self.n_cells)
        synthetic = shares * counts.sum()
        both = synthetic + counts
        terms = (counts - synthetic) ** 2 / (8 * np.where(both > 0, both, 1.0))
        utilities: np.ndarray = -terms.sum(axis=1)
        return utilities
