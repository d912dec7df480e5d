"""Minimizers: the proved rate, the certain residual, and what happens should doubles fail."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import scipy.sparse
import scipy.stats

from descent.perturbed_rows import some_rows
from discreet.descent.losses import HuberLoss, LogisticLoss
from discreet.descent.rivals import minimizer as minimizer_module
from discreet.descent.rivals.convex_problem import ConvexProblem
from discreet.descent.rivals.minimizer import PrivateObjective, steps_needed, triple_momentum
from discreet.descent.rows import integer_rows
from discreet.privacy.adjacency import AddRemove, Replace


def test_one_step_of_the_method_shrinks_its_potential_exactly():
    """The quadratic identity behind the rate: in rationals, what is left of V(k+1) - (1 - r)**2 V(k) is zero."""
    for r in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        q = r * r
        basis = [[Fraction(int(i == j)) for j in range(4)] for i in range(4)]
        before, gradient_before, z, gradient = basis
        inertia = (1 - r) / (1 + r)
        y = _sum((inertia, before), (-inertia, gradient_before), (1 - inertia, z))
        after = _sum((r, y), (-r / q, gradient), (1 - r, z))

        def inequality(x, gx, x2, gx2, q=q):
            # f(x) - f(x2) >= <gx2, x - x2> + |gx - gx2|^2 / 2 + q / (2 (1 - q)) |x - x2 - (gx - gx2)|^2, L = 1
            rest = _sum((1, x), (-1, x2), (-1, gx), (1, gx2))
            difference = _sum((1, gx), (-1, gx2))
            return _add(
                _product(gx2, _sum((1, x), (-1, x2))),
                _scaled(Fraction(1, 2), _product(difference, difference)),
                _scaled(q / (2 * (1 - q)), _product(rest, rest)),
            )

        def excess(x, gx, q=q):
            rest = _sum((1, x), (-1, gx))
            return _add(_scaled(Fraction(-1, 2), _product(gx, gx)), _scaled(-q / (2 * (1 - q)), _product(rest, rest)))

        rho, zero = (1 - r) ** 2, [Fraction(0)] * 4
        left = _add(
            _scaled(1 - q, excess(y, gradient)),
            _scaled(q, _product(after, after)),
            _scaled(-rho * (1 - q), excess(before, gradient_before)),
            _scaled(-rho * q, _product(z, z)),
            _scaled(-rho * (1 - q), inequality(before, gradient_before, y, gradient)),
            _scaled(-(1 - rho) * (1 - q), inequality(zero, zero, y, gradient)),
        )
        assert all(value == 0 for row in left for value in row)


def _sum(*terms):
    return [sum((c * v[i] for c, v in terms), Fraction(0)) for i in range(4)]


def _product(a, b):
    return [[(a[i] * b[j] + a[j] * b[i]) / 2 for j in range(4)] for i in range(4)]


def _scaled(c, matrix):
    return [[c * value for value in row] for row in matrix]


def _add(*matrices):
    return [[sum((m[i][j] for m in matrices), Fraction(0)) for j in range(4)] for i in range(4)]


def best_of(objective, start):
    """Return the minimizer by Newton's method on numerical curvature, far below the errors asked for."""
    found = scipy.optimize.root(objective.gradient, start, tol=1e-15)
    assert np.linalg.norm(objective.gradient(found.x)) < 1e-9
    return found.x


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", [LogisticLoss(), LogisticLoss(clip=0.4), HuberLoss(clip=0.7)], ids=repr)
def test_the_minimizer_is_within_its_error(sparse, loss):
    """Against a root finder, on rows of every kind, with and without a perturbation."""
    rows = some_rows(sparse=sparse, loss=loss.name)
    problem = ConvexProblem(rows.grid, loss, Replace(), 200, rows.target_bounds)
    settings = problem.minimizer(0.5, None)
    for linear in (np.zeros(5), np.arange(5.0) * 3 - 4):
        found = settings.minimize(rows, loss, linear)
        objective = PrivateObjective(rows, loss, 0.5, linear)
        assert np.linalg.norm(found - best_of(objective, found)) <= settings.error
        residual, error = objective.certain_gradient(found)
        assert np.linalg.norm(residual) + error <= 0.5 * settings.error
        np.testing.assert_allclose(residual, objective.gradient(found), atol=1e-9)


def test_the_steps_reach_the_residual_on_the_worst_quadratic():
    """Eigenvalues at both ends, a minimizer at twice the reach: the theorem's count suffices."""

    class Quadratic:
        regularization, smoothness, width = 1.0, 400.0, 3

        def gradient(self, v):
            return np.array([1.0, 20.0, 400.0]) * (v - np.array([6.0, 6.0, 6.0]) / math.sqrt(3) * 2)

    objective, error, reach = Quadratic(), 1e-6, 6.0
    n_steps = steps_needed(400.0, reach, error)
    assert np.linalg.norm(objective.gradient(triple_momentum(objective, n_steps))) <= error / 2
    assert np.linalg.norm(objective.gradient(triple_momentum(objective, n_steps // 3))) > error / 2
    assert steps_needed(1.0, reach, error) == 2


def test_a_failure_of_the_steps_is_made_good(monkeypatch):
    """Should doubles fail the theorem, plain descent brings the residual down all the same."""
    rows, loss = some_rows(40), LogisticLoss()
    settings = ConvexProblem(rows.grid, loss, Replace(), 40, (0, 1)).minimizer(2.0, None)
    right = settings.minimize(rows, loss, np.ones(5))
    monkeypatch.setattr(minimizer_module, "triple_momentum", lambda objective, _: np.zeros(objective.width))
    np.testing.assert_allclose(settings.minimize(rows, loss, np.ones(5)), right, atol=2 * settings.error)


def test_a_perturbation_of_any_size_is_projected():
    """However large b is, the minimizer lies in the ball, in the right direction."""
    rows, loss = some_rows(50), LogisticLoss()
    settings = ConvexProblem(rows.grid, loss, Replace(), 50, (0, 1)).minimizer(0.5, 8.0)
    for size in (1e3, 1e9, 1e18):
        linear = size * np.array([3.0, 0.0, 0.0, -4.0, 0.0])
        found = settings.minimize(rows, loss, linear)
        assert np.linalg.norm(found) == pytest.approx(8.0)
        assert found @ linear / np.linalg.norm(linear) < -7.0


def test_more_rows_than_expected_take_more_steps(monkeypatch):
    """Under AddRemove a larger table takes more steps: as many for rows of zeros as for any others of that number."""
    rows, loss = some_rows(400), LogisticLoss()
    zeros = integer_rows(np.zeros((400, 4)), np.zeros(400), row_norm=2.0, target_bounds=(0, 1), intercept=0.5)
    seen = []
    original = minimizer_module.triple_momentum
    monkeypatch.setattr(
        minimizer_module, "triple_momentum", lambda objective, n: seen.append(n) or original(objective, n)
    )
    settings = ConvexProblem(rows.grid, loss, AddRemove(), 4, (0, 1)).minimizer(0.5, None)
    settings.minimize(rows, loss, np.zeros(5))
    settings.minimize(zeros, loss, np.zeros(5))
    assert seen[0] == seen[1] > settings.n_steps
