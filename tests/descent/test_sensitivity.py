"""What one record moves in a gradient, by brute force over neighboring tables, against the stated bounds."""

import itertools

import numpy as np
import pytest

from descent.rows_of import labels
from discreet.descent.gradients import private_gradient, residual_bound
from discreet.descent.losses import LogisticLoss, PoissonLoss, SquaredLoss
from discreet.descent.rows import RESIDUAL_BOUND, integer_rows
from discreet.lattice.row_grid import RowGrid
from discreet.privacy.adjacency import AddRemove, Replace

BITS = 4
# Records as users give them: within the norm, beyond it, with an entry too large, nothing, and just below a step.
RECORDS = [
    (0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.6, 0.8), (-0.6, 0.8), (30.0, 40.0), (-3.0, 0.1), (0.71, 0.71),
    (0.9999, 0.0), (0.5, -0.5), (-0.01, 0.02), (1e9, -1e9),
]  # fmt: skip
TARGETS = [-3.0, 0.0, 0.4, 1.0, 3.0]
REST = [((0.3, -0.2), 0.5), ((0.0, 0.7), 0.0)]
THETAS = [(0.0, 0.0), (0.3, -0.2), (5.0, 5.0), (-40.0, 3.0)]


def gradient(records, loss, theta, bound, bounds, **options):
    X = np.array([x for x, _ in records], dtype=float).reshape(-1, 2)
    rows = integer_rows(X, [y for _, y in records], row_norm=1.0, target_bounds=bounds, bits=BITS, **options)
    return private_gradient(rows, loss, np.resize(theta, rows.grid.width), bound), rows.grid


def moves(loss, theta, bound, bounds, adjacency, **options):
    """Return what every change of one record moves, as Python integers, and the grid."""
    tables = [(x, y) for x in RECORDS for y in TARGETS]
    sums = [gradient([*REST, record], loss, theta, bound, bounds, **options)[0].tolist() for record in tables]
    without, grid = gradient(REST, loss, theta, bound, bounds, **options)
    if isinstance(adjacency, AddRemove):
        pairs = [(one, without.tolist()) for one in sums]
    else:
        pairs = list(itertools.combinations(sums, 2))
    return [[a - b for a, b in zip(one, other, strict=True)] for one, other in pairs], grid


@pytest.mark.parametrize("adjacency", [Replace(), AddRemove()], ids=repr)
@pytest.mark.parametrize("entry_bound", [None, 0.75])
@pytest.mark.parametrize("intercept", [0.0, 0.5])
@pytest.mark.parametrize(
    ("loss", "bounds"),
    [(SquaredLoss(clip=0.5), (-3, 3)), (LogisticLoss(clip=0.25), (0, 1)), (PoissonLoss(clip=1.0), (0, 3))],
    ids=["squared", "logistic", "poisson"],
)
def test_no_neighbor_moves_a_gradient_further_than_stated(adjacency, entry_bound, intercept, loss, bounds):
    """Rounding toward zero, scaling and clipping included; and the worst pair attains the bounds."""
    worst = {"l2": 0, "linf": 0, "one": 0}
    for theta in THETAS:
        changes, grid = moves(
            loss, theta, RESIDUAL_BOUND, bounds, adjacency, entry_bound=entry_bound, intercept=intercept
        )
        for change in changes:
            worst["l2"] = max(worst["l2"], sum(c * c for c in change))
            worst["linf"] = max(worst["linf"], *(abs(c) for c in change[:2]))
            worst["one"] = max(worst["one"], *(c * c + sum(d * d for d in change[2:]) for c in change[:2]))
    assert worst["l2"] <= grid.l2_squared(RESIDUAL_BOUND, adjacency)
    assert worst["linf"] == grid.linf(RESIDUAL_BOUND, adjacency)
    assert worst["one"] == grid.l2_squared(RESIDUAL_BOUND, adjacency, 1)
    if entry_bound is None:
        assert worst["l2"] == grid.l2_squared(RESIDUAL_BOUND, adjacency)


@pytest.mark.parametrize("adjacency", [Replace(), AddRemove()], ids=repr)
@pytest.mark.parametrize(
    ("loss", "bounds"),
    [(SquaredLoss(clip=64.0), (-3, 3)), (LogisticLoss(), (0, 1)), (PoissonLoss(clip=64.0), (0, 3))],
    ids=["squared", "logistic", "poisson"],
)
def test_the_bound_at_an_iterate_is_a_bound_there(adjacency, loss, bounds):
    """The tighter bound holds at its iterate, is far below the clip at small ones, and is nearly attained."""
    for theta in THETAS[:2]:
        grid = RowGrid(2, 1.0, bits=BITS)
        bound = residual_bound(np.array(theta), grid, loss, bounds)
        assert bound < 0.8 * RESIDUAL_BOUND
        changes, grid = moves(loss, theta, None, bounds, adjacency)
        largest = max(sum(c * c for c in change) for change in changes)
        assert largest <= grid.l2_squared(bound, adjacency)
        at_zero = theta == (0.0, 0.0) and adjacency == AddRemove()
        assert largest >= (0.999 if at_zero else 0.4) * grid.l2_squared(bound, adjacency)


def test_the_reach_of_margins_takes_the_better_of_two_norms():
    """Many small parameters: the Euclidean norm; one: the entry bound; the intercept's on top."""
    grid = RowGrid(100, 1.0, 0.25, intercept=0.5)
    loss = SquaredLoss(clip=100.0)
    many, one = np.zeros(101), np.zeros(101)
    many[:100], one[0] = 1.0, 8.0
    unit = loss.unit
    assert residual_bound(many, grid, loss, (0, 0)) * unit == pytest.approx(10.0, rel=1e-4)
    assert residual_bound(one, grid, loss, (0, 0)) * unit == pytest.approx(2.0, rel=1e-3)
    one[-1] = -3.0
    assert residual_bound(one, grid, loss, (0, 0)) * unit == pytest.approx(3.5, rel=1e-3)


def test_gradients_are_those_of_the_real_loss():
    """Close to the floating-point gradient of the same rows."""
    rng = np.random.default_rng(3)
    X, theta = rng.normal(size=(200, 5)) / 10, rng.normal(size=5)
    y = labels(200)
    rows = integer_rows(X, y, row_norm=1.0, target_bounds=(0, 1))
    loss = LogisticLoss()
    found = private_gradient(rows, loss, theta) * rows.grid.unit * loss.unit
    np.testing.assert_allclose(found, X.T @ (1 / (1 + np.exp(-X @ theta)) - y), atol=200 * 3e-5)
