"""What every objective of degree two must keep; a new one subclasses the contract and says how it is made.

class TestPoisson(ObjectiveContract):
    def make(self): return Poisson(most=10)
    def loss(self, z, y): return z**2 / 2 - (y - 1) * z
"""

from abc import ABC, abstractmethod

import numpy as np
import pytest

import discreet as dp
from discreet.lattice.gram import gram_of_arrays
from neighbours import change, comparable

NORMS = ("nuclear", "l1", "frobenius_squared")
WILD = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 1e300, -1e300, 2.0**60, np.pi, 7.0, 1000.0]


class ObjectiveContract(ABC):
    """Checks of one objective on neighbours, on its value and on its minimiser."""

    @abstractmethod
    def make(self):
        """Return the objective."""

    @abstractmethod
    def loss(self, z, y):
        """Return the loss of degree two that a record adds, up to what does not depend on z = x'w."""

    def cells(self, rng, n):
        """Return ordinary cells of y; override where whole numbers or labels are meant."""
        bounds = self.make().target_bounds
        return rng.uniform(bounds.lower, bounds.upper, size=n)

    @pytest.mark.filterwarnings("error")
    def test_the_target_is_total_and_a_function_of_the_cell_alone(self):
        """Wild cells raise and warn nothing, and every cell has its target whatever stands beside it."""
        objective = self.make()
        cells = np.array([*WILD, np.nan, np.inf, -np.inf, *self.cells(np.random.default_rng(0), 20)])
        together = objective.private_target(cells)
        assert together.shape == cells.shape
        alone = np.array([objective.private_target(cells[j : j + 1])[0] for j in range(cells.size)])
        np.testing.assert_array_equal(together, alone)
        np.testing.assert_array_equal(objective.private_target(cells[::-1]), together[::-1])
        assert np.isnan(objective.private_target(np.array([np.nan])))[0]

    @pytest.mark.parametrize("adjacency", [dp.Replace(), dp.AddRemove()], ids=repr)
    @pytest.mark.parametrize("intercept", [True, False])
    def test_no_neighbor_changes_more_than_the_sensitivity(self, intercept, adjacency):
        """One record, with wild cells too, changes the exact Gram matrix by at most what the layout declares."""
        objective, rng = self.make(), np.random.default_rng(1)
        names = ("a", "b")
        layout = objective.layout(names, dp.Box(lower=[-1, 0], upper=[1, 5]), intercept=intercept, bits=4)
        for _ in range(150):
            X, y = (
                rng.choice([-9.0, -1.0, 0.0, 0.3, 1.0, 5.0, 9.0], size=(2, 2)),
                rng.choice([*WILD, *self.cells(rng, 3)], 2),
            )
            target = np.clip(objective.private_target(y), -1e300, 1e300)
            rows = [self._row(X[j], target[j], layout) for j in range(2)]
            if isinstance(adjacency, dp.AddRemove):
                rows[1] = (0,) * layout.width
            for row in rows:
                assert sum(entry**2 for entry in row) <= layout.row_norm_squared
            for norm in NORMS:
                declared = layout.sensitivity(norm, adjacency)
                assert change(norm, tuple(rows)) <= comparable(norm, declared)

    def test_its_value_is_the_sum_of_the_losses(self):
        """The value from the sums differs from the records' losses by the same constant everywhere."""
        objective, rng = self.make(), np.random.default_rng(2)
        X, y = rng.uniform(-1, 1, size=(50, 3)), self.cells(rng, 50)
        target = objective.private_target(y)
        gaps = []
        for _ in range(5):
            w = rng.normal(size=3)
            direct = self.loss(X @ w, y).sum() + objective.ridge * (w @ w)
            gaps.append(direct - objective.value(w, X.T @ X, X.T @ target))
        np.testing.assert_allclose(gaps, gaps[0], rtol=1e-9, atol=1e-9)

    @pytest.mark.parametrize("intercept", [True, False])
    def test_its_minimiser_has_no_better_neighbor(self, intercept):
        """With next to no noise, no step away from the solution makes the sum of the losses smaller."""
        objective, rng = self.make(), np.random.default_rng(3)
        X, y = rng.uniform(-1, 1, size=(400, 2)), self.cells(rng, 400)
        moments = objective.release(
            X, y, x_bounds=dp.Box(lower=-1, upper=1), budget=dp.Pure(epsilon=10**29), adjacency=dp.Replace(),
            fit_intercept=intercept,
        )  # fmt: skip
        found = objective.solve(moments)
        # Features of Box(-1, 1) are scaled already, so that the ridge falls on the coefficients themselves.
        best = self._total(objective, X, y, found.coef, found.intercept)
        for step in (1e-2, -1e-2):
            for j in range(2 + intercept):
                coef, constant = found.coef.copy(), found.intercept
                if j < 2:
                    coef[j] += step
                else:
                    constant += step
                assert self._total(objective, X, y, coef, constant) > best

    def _total(self, objective, X, y, coef, constant):
        return self.loss(X @ coef + constant, y).sum() + objective.ridge * (coef @ coef)

    @staticmethod
    def _row(x, target, layout):
        codings = layout.codings
        numbers = tuple(int(c.encode([v])[0]) for c, v in zip(codings, (*x, target), strict=True))
        row = (2**layout.bits,) * layout.intercept + numbers
        gram, _ = gram_of_arrays(x[None, :], np.array([target]), layout)
        np.testing.assert_array_equal(gram, np.outer(row, row))
        return row
