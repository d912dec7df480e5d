"""Objectives of degree two: the contract of each, and what follows from them."""
# ruff: noqa: D102 (the contract documents what its subclasses fill in)

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import discreet as dp
from discreet.functional.parabola import minimax
from functional.objective_contract import ObjectiveContract


class TestSquared(ObjectiveContract):
    """Least squares."""

    def make(self):
        return dp.functional.SquaredObjective(y_bounds=dp.Interval(-2, 3))

    def loss(self, z, y):
        return (y - z) ** 2


class TestRidge(TestSquared):
    """Least squares with a ridge."""

    def make(self):
        return dp.functional.SquaredObjective(y_bounds=dp.Interval(-2, 3), ridge=40.0)


class TestLogisticTaylor(ObjectiveContract):
    """The paper's parabola."""

    def make(self):
        return dp.functional.LogisticObjective()

    def loss(self, z, y):
        return np.log(2) + z / 2 + z**2 / 8 - (y + 1) / 2 * z

    def cells(self, rng, n):
        return rng.choice([-1.0, 1.0], size=n)


class TestLogisticMinimax(TestLogisticTaylor):
    """The best parabola on a public interval, with a ridge."""

    def make(self):
        return dp.functional.LogisticObjective(approximation="minimax", radius=4, ridge=3.0)

    def loss(self, z, y):
        constant, curvature = minimax(4).coefficients
        return constant + z / 2 + curvature * z**2 - (y + 1) / 2 * z


@dataclass(frozen=True, kw_only=True)
class Poisson(dp.functional.QuadraticObjective):
    """A user's own objective: exp(z) - y z with Taylor's parabola, and counts up to a public number."""

    most: float

    @property
    def target_bounds(self):
        return dp.Interval(-1, self.most - 1)

    @property
    def curvature(self):
        return 0.5

    def target(self, y):
        return y - 1.0


class TestPoisson(ObjectiveContract):
    """What a user writes keeps the contract, too."""

    def make(self):
        return Poisson(most=8)

    def loss(self, z, y):
        return 1 + z + z**2 / 2 - y * z

    def cells(self, rng, n):
        return rng.integers(0, 8, size=n).astype(float)


def test_degree_two_logistic_is_twice_least_squares_on_signs():
    """With the same coins the two releases are one, and the coefficients differ by the factor 2 alone."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, size=(800, 3)), rng.choice([-1.0, 1.0], size=800)
    solutions = []
    for objective in (dp.functional.LogisticObjective(), dp.functional.SquaredObjective(y_bounds=dp.Interval(-1, 1))):
        ledger = dp.Ledger(total=dp.Gdp(mu=1), adjacency=dp.Replace(), coins=dp.privacy.Coins.from_seed(1))
        moments = objective.release(
            X, y, x_bounds=dp.Box(lower=-1, upper=1), budget=dp.Gdp(mu=1), adjacency=dp.Replace(), ledger=ledger
        )
        solutions.append((moments.release.value.entries, objective.solve(moments)))
    np.testing.assert_array_equal(solutions[0][0], solutions[1][0])
    np.testing.assert_allclose(solutions[0][1].coef, 2 * solutions[1][1].coef, rtol=1e-14)
    assert solutions[0][1].intercept == pytest.approx(2 * solutions[1][1].intercept, rel=1e-14)


def test_degree_two_logistic_without_noise_is_twice_scikit_learns_least_squares():
    """The identity against another's least squares."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(3000, 2))
    y = np.where(X @ [2.0, -1.0] + rng.logistic(size=3000) > 0, 1.0, -1.0)
    objective = dp.functional.LogisticObjective()
    moments = objective.release(
        X, y, x_bounds=dp.Box(lower=-1, upper=1), budget=dp.Pure(epsilon=10**9), adjacency=dp.AddRemove()
    )
    np.testing.assert_allclose(objective.solve(moments).coef, 2 * LinearRegression().fit(X, y).coef_, atol=1e-3)


def test_the_minimax_parabola_changes_the_scale_alone():
    """The factor is 1 / (4 c2)."""
    objective = dp.functional.LogisticObjective(approximation="minimax", radius=2)
    assert objective.factor == pytest.approx(1 / (4 * minimax(2).curvature), rel=1e-15)
    assert dp.functional.LogisticObjective().factor == 2.0


def test_an_objective_that_is_none_is_refused():
    """Curvature, ridge and the shape of the target are checked by name, before a charge."""

    @dataclass(frozen=True, kw_only=True)
    class Flat(Poisson):
        curvature = 0.0

    @dataclass(frozen=True, kw_only=True)
    class Summing(Poisson):
        def target(self, y):
            return y.sum()

    with pytest.raises(dp.InvalidArgument, match="`curvature`"):
        _ = Flat(most=3).factor
    with pytest.raises(dp.InvalidArgument, match="`ridge`"):
        _ = Poisson(most=3, ridge=-1).penalty
    with pytest.raises(TypeError, match="one real number a record"):
        Summing(most=3).private_target(np.ones(4))
    with pytest.raises(TypeError, match="abstract"):
        dp.functional.QuadraticObjective()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"approximation": "chebyshev"}, "approximation"),
        ({"radius": 4}, "belongs"),
        ({"approximation": "minimax"}, "needs `radius`"),
        ({"approximation": "minimax", "radius": 0.0}, "between"),
    ],
)
def test_a_parabola_that_is_none_is_refused(arguments, message):
    """What is wrong is said when the value is made."""
    with pytest.raises(dp.InvalidArgument, match=message):
        dp.functional.LogisticObjective(**arguments)
