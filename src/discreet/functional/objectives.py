"""Objectives of degree two as values: their moments, their sensitivity and their minimiser follow.

A record (x, y) adds ``curvature * (x'w)**2 - pull * t(y) * x'w`` to the objective, up to what does not depend on w.
All of it is in the Gram matrix of the rows (1, x, t), so one noisy matrix is enough to minimise it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType
from discreet.functional.gram import gram_of, plan_gram
from discreet.functional.moments import Moments
from discreet.lattice.bounds import Interval
from discreet.lattice.grid import DEFAULT_BITS
from discreet.models.result import RegressionResult
from discreet.privacy.release import release, settle_adjacency
from discreet.tables.array_rows import array_layout
from discreet.tables.arrays import check_rows
from discreet.tables.cells.given_cells import numbers_of
from discreet.tables.selection import Selection

if TYPE_CHECKING:
    from discreet.functional.least_squares import LeastSquares
    from discreet.lattice.bounds import Box
    from discreet.lattice.grid import Layout
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.ledger import Ledger


@dataclass(frozen=True, eq=False)
class Coefficients:
    """The minimiser of an objective in the user's units.

    Parameters
    ----------
    coef : ndarray of float64, shape (n_features,)
        Of the features, in their own units.
    intercept : float
        0 where the model has none.
    answer : LeastSquares
        The least-squares problem that the objective is, with its repair.
    """

    coef: np.ndarray
    intercept: float
    answer: LeastSquares


@dataclass(frozen=True, kw_only=True)
class QuadraticObjective(ABC):
    """The sum over records of ``curvature * (x'w)**2 - pull * t(y) * x'w``, and ``ridge * |w|**2``.

    To add one, subclass it as a frozen dataclass and declare `target_bounds`, `curvature` and, where they differ from
    the defaults, `pull` and `target`; then run the contract of the test suite, ``ObjectiveContract``, on it.

    Parameters
    ----------
    ridge : float
        At least 0; it falls on the coefficients of features that are scaled to [-1, 1] by their bounds, not on the
        intercept.

    Notes
    -----
    *Guarantee.* The sensitivity is that of the rows (1, x, t) on the grid of `layout`, an exact integer.
    It rests on nothing but `target_bounds`, and `t` being a function of one record's y: what lies outside the bounds
    is clipped, as every cell is. Proof: docs/proofs/gram.md.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Poisson(QuadraticObjective):  # exp(z) is near 1 + z + z**2 / 2, so the loss is z**2 / 2 - (y - 1) z
    ...     most: float
    ...     target_bounds = property(lambda self: dp.Interval(-1, self.most - 1))
    ...     curvature = 0.5
    ...     def target(self, y):
    ...         return y - 1.0
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(5000, 1))
    >>> y = rng.poisson(np.exp(0.2 * X[:, 0]))
    >>> objective = Poisson(most=10)
    >>> moments = objective.release(
    ...     X, y, x_bounds=dp.Box(lower=-1, upper=1), budget=dp.Pure(epsilon=10**6), adjacency=dp.Replace())
    >>> bool(abs(objective.solve(moments).coef[0] - 0.2) < 0.05)
    True
    """

    ridge: float = 0.0

    @property
    @abstractmethod
    def target_bounds(self) -> Interval:
        """The declared public range of t."""

    @property
    @abstractmethod
    def curvature(self) -> float:
        """What stands before ``(x'w)**2``, above 0."""

    @property
    def pull(self) -> float:
        """What stands before ``-t x'w``."""
        return 1.0

    @property
    def loss(self) -> str:
        """Which of the paper's sensitivities is meant by its own modes: "squared" or "logistic"."""
        return "squared"

    def target(self, y: np.ndarray) -> np.ndarray:
        """Return t for every record, of the same shape; NaN for missing.

        A function of each cell alone; total, for an exception would depend on a private value.

        Parameters
        ----------
        y : ndarray of real numbers, shape (n_rows,)
            Private cells; NaN for missing.
        """
        return y

    @property
    def factor(self) -> float:
        """The minimiser over the least-squares solution for t: ``pull / (2 curvature)``."""
        curvature = _checks.finite_float(self.curvature, "curvature")
        if not curvature > 0.0:
            raise InvalidArgument(f"`curvature` must be greater than 0; found {curvature!r}.")
        return _checks.finite_float(self.pull, "pull") / (2.0 * curvature)

    @property
    def penalty(self) -> float:
        """The ridge in the units of the features' Gram matrix: ``ridge / curvature``."""
        ridge = _checks.finite_float(self.ridge, "ridge")
        if not ridge >= 0.0:
            raise InvalidArgument(f"`ridge` must be at least 0; found {ridge!r}.")
        return ridge / self.curvature

    def layout(
        self, names: tuple[str, ...], x_bounds: Box, *, intercept: bool = True, bits: int = DEFAULT_BITS
    ) -> Layout:
        """Return the public grid of a row (1, x, t); `Layout.sensitivity` says what one record changes."""
        return array_layout(names, x_bounds, self.target_bounds, intercept=intercept, bits=bits)

    def private_target(self, y: np.ndarray) -> np.ndarray:
        """Return t as float64 of shape (n_rows,), checked to be one number a record; warnings are silenced."""
        with np.errstate(all="ignore"):
            target = np.asarray(self.target(y))
        if target.shape != y.shape or target.dtype.kind not in "fiub":
            raise InvalidType(f"`target` of {type(self).__name__} must return one real number a record.")
        return target

    def release(
        self,
        X: Any,
        y: Any,
        *,
        x_bounds: Box,
        budget: Budget,
        adjacency: Adjacency,
        fit_intercept: bool = True,
        mechanism: str = "auto",
        ledger: Ledger | None = None,
    ) -> Moments:
        """Release the noisy Gram matrix of the rows (1, x, t); charges the ledger once.

        Parameters
        ----------
        X : array-like or frame of numbers, shape (n_rows, n_features)
            The private features.
        y : array-like of numbers, shape (n_rows,)
            The private cells that `target` reads.
        x_bounds : Box
            The declared public range of every column of X.
        budget : Pure, Approx, Zcdp or Gdp
            What the release may cost.
        adjacency : Replace or AddRemove
            Which data sets are neighbours.
        fit_intercept : bool
            Whether the model has an intercept.
        mechanism : str
            The law of the noise, as for :class:`FunctionalLinearRegression`.
        ledger : Ledger or None
            Is charged; None opens a ledger in memory whose total is the budget.

        Raises
        ------
        InvalidData
            If the rows do not fit; nothing is spent.
        BudgetExceeded
            If the ledger has too little left.
        """
        from sklearn.base import BaseEstimator

        neighbours = settle_adjacency(adjacency, ledger, units=False, required=True)
        _, rows = check_rows(
            BaseEstimator(),
            X,
            y,
            may_be_empty=not neighbours.size_is_public,
            read_target=lambda column: self.private_target(numbers_of(column).astype(np.float64, copy=False)),
        )
        layout = self.layout(rows.names, x_bounds, intercept=_checks.boolean(fit_intercept, "fit_intercept"))
        plan = plan_gram(
            layout,
            budget=budget,
            adjacency=neighbours,
            mechanism=mechanism,
            loss=self.loss,
            size_is_public=neighbours.size_is_public,
            statistic=gram_of(layout),
        )
        public = rows.private_X.shape[0] if neighbours.size_is_public else None
        return Moments(layout, release(plan, rows.in_blocks(x_bounds), ledger, n_rows=public))

    def solve(self, moments: Moments, selection: Selection | None = None) -> Coefficients:
        """Return the minimiser, read from a release; post-processing, so it costs nothing.

        Parameters
        ----------
        moments : Moments
            A release of the rows (1, x, t).
        selection : Selection, optional
            Which features; default: all columns but the last, which is t.
        """
        chosen = last_column_selection(moments.layout) if selection is None else selection
        answer = moments.least_squares(chosen, penalty=self.penalty)
        factor = self.factor
        return Coefficients(factor * answer.coef, factor * answer.intercept, answer)

    def describe(
        self, moments: Moments, selection: Selection, formula: str, *, target: tuple[float, float] = (1.0, 0.0)
    ) -> RegressionResult:
        """Return the minimiser as a result, with standard errors where they are valid; post-processing.

        Parameters
        ----------
        moments : Moments
            The release.
        selection : Selection
            Target and features over the release's columns.
        formula : str
            How the result is headed.
        target : (float, float)
            Slope and shift that make t of the selected target, such as (2, -1) where that is 0 or 1 and t is -1 or 1.
        """
        answer = moments.least_squares(selection, penalty=self.penalty)
        uncertainty, (slope, shift) = moments.uncertainty(answer), target
        factor = self.factor
        plain = factor * slope == 1.0 and shift == 0.0
        intercept = factor * (slope * answer.intercept + shift) if selection.intercept else 0.0
        return RegressionResult(
            formula=formula,
            names=selection.names,
            coefs=factor * slope * answer.coef[None, :],
            constants=np.array([intercept]),
            has_intercept=selection.intercept,
            noise_dominated=answer.repair.noise_dominated,
            ridge=answer.repair.ridge,
            event=moments.release.event,
            label=moments.release.label,
            schema=None if moments.design is None else moments.design.schema,
            notes=moments.release.notes,
            penalty=answer.penalty,
            uncertainty=uncertainty if plain or uncertainty is None else uncertainty.scaled(factor * slope),
            no_intervals=moments.why_no_intervals(answer),
            entry_std=moments.noise_scale(),
            loss=self.loss,
            labels=self.loss == "logistic",
            bootstrap=moments.bootstrap(answer, uncertainty) if plain and uncertainty is not None else None,
        )

    def value(self, w: np.ndarray, quadratic: np.ndarray, linear: np.ndarray) -> float:
        """Return the objective at `w` from the sums ``M = sum x x'`` and ``b = sum t x``, without its constant.

        Parameters
        ----------
        w : ndarray of float64, shape (p,)
            Where.
        quadratic : ndarray of float64, shape (p, p)
            M.
        linear : ndarray of float64, shape (p,)
            b.
        """
        return float(self.curvature * (w @ quadratic @ w) - self.pull * (linear @ w) + self.ridge * (w @ w))


@dataclass(frozen=True, kw_only=True)
class SquaredObjective(QuadraticObjective):
    """Least squares: ``(x'w)**2 - 2 y x'w``, exact.

    Parameters
    ----------
    y_bounds : Interval
        The declared public range of y.
    ridge : float
        See `QuadraticObjective`.

    Examples
    --------
    >>> from discreet.lattice.bounds import Interval
    >>> SquaredObjective(y_bounds=Interval(0, 1)).factor
    1.0
    """

    y_bounds: Interval

    def __post_init__(self) -> None:
        if not isinstance(self.y_bounds, Interval):
            raise InvalidType(f"`y_bounds` must be an Interval(lower, upper); found {type(self.y_bounds).__name__}.")

    @property
    def target_bounds(self) -> Interval:
        """The range of y."""
        return self.y_bounds

    @property
    def curvature(self) -> float:
        """One."""
        return 1.0

    @property
    def pull(self) -> float:
        """Two."""
        return 2.0


def last_column_selection(layout: Layout) -> Selection:
    """Return the regression of a layout's last column on all the others."""
    first = int(layout.intercept)
    return Selection(
        target=layout.names[-1],
        target_index=layout.width - 1,
        names=layout.names[:-1],
        intercept=layout.intercept,
        rows=np.eye(layout.width)[first:-1],
    )
