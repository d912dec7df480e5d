"""Least squares on a released Gram matrix: the scaled problem, its repaired solution, the way back to the user."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.functional.repair import minimise
from discreet.privacy.events.noise import CoefficientLaplaceEvent

if TYPE_CHECKING:
    from discreet.functional.repair import Minimiser
    from discreet.lattice.grid import Layout
    from discreet.privacy.events.event import Event
    from discreet.tables.selection import Selection


@dataclass(frozen=True, eq=False)
class Problem:
    """A regression on a release, with features and target scaled to [-1, 1] by their declared bounds.

    A row of the grid, over K, is a vector `v` of `width` numbers; the p features (the constant among them) are
    `features @ v`, the target is `target @ v`.

    Parameters
    ----------
    features : ndarray of float64, shape (p, width)
        The features over the grid; the constant is the first where the model has one.
    target : ndarray of float64, shape (width,)
        The target over the grid.
    gram : ndarray of float64, shape (width, width)
        The noisy Gram matrix of `v`.
    offsets : ndarray of float64, shape (n_features,)
        What was taken out of every feature, in its own units.
    scales : ndarray of float64, shape (n_features,)
        The half-width of every feature, in its own units.
    target_offset, target_scale : float
        The same of the target.
    intercept : bool
        Whether the model has a constant.
    """

    features: np.ndarray
    target: np.ndarray
    gram: np.ndarray
    offsets: np.ndarray
    scales: np.ndarray
    target_offset: float
    target_scale: float
    intercept: bool

    @classmethod
    def of(cls, selection: Selection, gram: np.ndarray, layout: Layout) -> Problem:
        """Return the problem that a selection asks of a noisy Gram matrix of grid rows."""
        coding = layout.user_coding()
        largest = np.array(layout.entry_bounds, dtype=np.float64) / 2.0**layout.bits
        features, offsets, scales = _scaled(selection.rows @ coding, largest, centered=selection.intercept)
        target, target_offset, target_scale = _scaled(
            coding[selection.target_index][None, :], largest, centered=selection.intercept
        )
        if selection.intercept:
            features = np.vstack([np.eye(1, coding.shape[0]), features])
        return cls(
            features=features,
            target=target[0],
            gram=gram,
            offsets=offsets,
            scales=scales,
            target_offset=float(target_offset[0]),
            target_scale=float(target_scale[0]),
            intercept=selection.intercept,
        )

    @cached_property
    def quadratic(self) -> np.ndarray:
        """The noisy matrix M of the features, shape (p, p)."""
        return np.asarray(self.features @ self.gram @ self.features.T)

    @cached_property
    def linear(self) -> np.ndarray:
        """The noisy vector b of the features and the target, shape (p,)."""
        return np.asarray(self.features @ self.gram @ self.target)

    @property
    def rounding_error(self) -> float:
        """A bound of what rounding in doubles can do to an eigenvalue of M."""
        return float(self.features.shape[0] * np.finfo(np.float64).eps * np.trace(np.abs(self.quadratic)))

    @cached_property
    def whitener(self) -> np.ndarray:
        """W, shape (p, r): the rows of `W' features` are orthonormal, so W'MW has the noise of a release's own block.

        Noise that no rotation changes is there the same in every direction; on the features themselves it is larger
        where few grid steps make a unit, such as in a flag, and a ridge that fits there would be too much elsewhere.
        Directions that the features do not have are left out.
        """
        if not self.features.size:
            return np.zeros((self.features.shape[0], 0))
        squares = self.features @ self.features.T
        if not np.any(squares - np.diag(np.diag(squares))):
            # Every feature is a column of its own, as main effects are: nothing to decompose.
            return np.diag(1.0 / np.sqrt(np.diag(squares)))
        left, sizes, _ = np.linalg.svd(self.features, full_matrices=False)
        kept = sizes > sizes[0] * max(self.features.shape) * np.finfo(np.float64).eps
        return np.asarray(left[:, kept] / sizes[kept])

    def noise_norm(self, entry_std: float) -> float:
        """Return the operator norm's scale of the noise on W'MW, from its std in an off-diagonal entry."""
        return float(2.0 * entry_std * np.sqrt(self.whitener.shape[1]))

    def diagonal_std(self, entry_variances: np.ndarray) -> float:
        """Return the largest standard deviation of the noise on the diagonal of W'MW."""
        squares = (self.whitener.T @ self.features) ** 2
        # f'Ef holds an entry off the diagonal twice: variance 4 V_jl f_j**2 f_l**2, once for every pair.
        twice = 2.0 * np.sum((squares @ entry_variances) * squares, axis=1)
        return float(np.sqrt(np.max(twice - squares**2 @ np.diag(entry_variances), initial=0.0)))

    def minimise(self, *, rule: str, penalty: float, entry_std: float, entry_variances: np.ndarray) -> Minimiser:
        """Return the repaired solution, in scaled units; the repair is done, and measured, on W'MW.

        Parameters
        ----------
        rule : {"adaptive", "paper", "paper_code"}
            See :func:`discreet.functional.repair.minimise`.
        penalty : float
            A ridge penalty on the scaled coefficients, not on the constant.
        entry_std : float
            Standard deviation of the noise in an off-diagonal entry of the Gram matrix.
        entry_variances : ndarray of float64, shape (width, width)
            The variance of the noise in every entry.
        """
        whitener = self.whitener
        quadratic = self.quadratic + np.diag(self.penalties(penalty))
        found = minimise(
            whitener.T @ quadratic @ whitener,
            whitener.T @ self.linear,
            rule=rule,
            noise_std=self.diagonal_std(entry_variances),
            noise_norm=self.noise_norm(entry_std),
        )
        # Features that are combinations of others have a direction that no release determines.
        full = whitener.shape[0] == whitener.shape[1]
        smallest = found.smallest_eigenvalue if full else min(found.smallest_eigenvalue, 0.0)
        return replace(found, solution=whitener @ found.solution, smallest_eigenvalue=smallest)

    def penalties(self, penalty: float) -> np.ndarray:
        """Return what a ridge penalty adds to the diagonal of M: nothing for the constant."""
        added = np.full(self.features.shape[0], penalty)
        added[: int(self.intercept)] = 0.0
        return added

    def user_parameters(self, solution: np.ndarray) -> tuple[np.ndarray, float]:
        """Return coefficients and intercept in the units of the columns."""
        constant, slopes = (solution[0], solution[1:]) if self.intercept else (0.0, solution)
        coef = slopes * (self.target_scale / self.scales)
        if not self.intercept:
            return coef, 0.0
        return coef, float(self.target_offset + self.target_scale * constant - coef @ self.offsets)

    def solution(self, coef: np.ndarray, intercept: float) -> np.ndarray:
        """Return what :meth:`user_parameters` makes these coefficients and this intercept of."""
        slopes = coef * (self.scales / self.target_scale)
        if not self.intercept:
            return np.asarray(slopes)
        constant = (intercept + coef @ self.offsets - self.target_offset) / self.target_scale
        return np.concatenate([[constant], slopes])

    @cached_property
    def to_user(self) -> np.ndarray:
        """The linear part of :meth:`user_parameters`, shape (p, p): the intercept first where there is one."""
        slopes = self.target_scale / self.scales
        if not self.intercept:
            return np.diag(slopes)
        matrix = np.diag(np.concatenate([[self.target_scale], slopes]))
        matrix[0, 1:] = -slopes * self.offsets
        return matrix

    @cached_property
    def score_to_user(self) -> np.ndarray:
        """What turns `M w - b` into the parameters' first-order error, `to_user @ M**-1`, shape (p, p)."""
        inverse = np.linalg.inv(self.quadratic)
        return np.asarray(self.to_user @ ((inverse + inverse.T) / 2.0))


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Coefficients in the user's units with the repair that led to them.

    Parameters
    ----------
    coef : ndarray of float64, shape (n_features,)
        In units of the target per unit of the feature.
    intercept : float
        In units of the target; 0 where the model has none.
    repair : Minimiser
        The solution in scaled units, and what was added to the diagonal to find it.
    problem : Problem
        What was solved.
    penalty : float
        The ridge penalty that was asked for, in scaled units.
    """

    coef: np.ndarray
    intercept: float
    repair: Minimiser
    problem: Problem
    penalty: float = 0.0


def _scaled(rows: np.ndarray, largest: np.ndarray, *, centered: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows over the grid scaled to at most 1 in size, the constants taken out, and the scales."""
    rows = rows.copy()
    offsets = np.zeros(rows.shape[0])
    if centered:
        offsets = rows[:, 0].copy()
        rows[:, 0] = 0.0
    scales = np.abs(rows) @ largest
    scales[scales == 0.0] = 1.0
    return rows / scales[:, None], offsets, scales


def own_rule(event: Event) -> str:
    """Return the repair that belongs to a mechanism: the paper's for its own noise, else the adaptive one."""
    if isinstance(event, CoefficientLaplaceEvent):
        return "paper" if event.form == "merged" else "paper_code"
    return "adaptive"
