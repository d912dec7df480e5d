"""Linear regression on a box: the gradient's sensitivity, slope and error by brute force, and its law."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import IncompatiblePlan, InvalidArgument, InvalidData
from discreet.lattice.bounds import Box, Interval
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Pure
from discreet.privacy.coins import Coins
from discreet.privacy.events.sampling import Runtime, block_length
from discreet.privacy.ledger import Ledger
from discreet.sampling.k_norm.linear_grid import LinearOnGrid
from discreet.sampling.k_norm.model_rows import LayoutRows
from discreet.sampling.mechanisms import sample
from discreet.sampling.samplers import run
from discreet.tables.array_rows import ArrayRows, array_layout
from sampling.contract import ALPHA, N_FIT, TILT, TargetContract, fit_p_value

NAMES = ("a", "b")


def reader(width, *, intercept=True):
    layout = array_layout(
        NAMES[:width], Box(lower=[0.0] * width, upper=[10.0] * width), Interval(-5, 5), intercept=intercept
    )
    return LayoutRows(layout=layout, labels=False)


def rows(seed, n=30, width=1):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 11, (n, width))
    return ArrayRows(X, X.sum(axis=1) / width - 4 + rng.normal(size=n), NAMES[:width])


class TestTwoCoefficients(TargetContract):
    """An intercept and a slope."""

    scale = Fraction(1, 12)
    width = 1

    def target(self):
        """Return the target."""
        return LinearOnGrid(reader=reader(self.width), coef_bound=1)

    def data(self):
        """Return private rows."""
        return rows(1, width=self.width)

    def neighbour(self):
        """Return a neighbour's rows."""
        X, y = self.data().private_X.copy(), self.data().private_y.copy()
        X[0], y[0] = 10.0, -5.0
        return ArrayRows(X, y, NAMES[: self.width])


class TestThreeCoefficients(TestTwoCoefficients):
    """An intercept and two slopes."""

    scale = Fraction(1, 40)
    width = 2


@pytest.mark.parametrize("adjacency", [Replace(), AddRemove()])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_record_changes_the_utility_by_at_most_the_sensitivity(adjacency, intercept):
    """Of extreme records at all corners of the box the change is at most the sensitivity, and of its order."""
    target = LinearOnGrid(reader=reader(2, intercept=intercept), coef_bound=2)
    limit = np.array(target.bounds.upper)
    corners = np.stack(np.meshgrid(*[[-1, 1]] * target.dimension), axis=-1).reshape(-1, target.dimension) * limit
    worst, base = 0.0, ArrayRows(np.full((3, 2), 10.0), np.full(3, 5.0), NAMES)
    for signs in np.ndindex(2, 2, 2):
        X, y = base.private_X.copy(), base.private_y.copy()
        X[0], y[0] = [10.0 * sign for sign in signs[:2]], -5.0 + 10.0 * signs[2]
        changed = ArrayRows(X, y, NAMES)
        if isinstance(adjacency, AddRemove):
            changed = ArrayRows(np.vstack([base.private_X, X[:1]]), np.append(base.private_y, y[0]), NAMES)
        values = [target.evaluate(target.prepare(data), corners) for data in (base, changed)]
        worst = max(worst, np.abs(values[0] - values[1]).max())
    assert worst <= float(target.sensitivity(adjacency)) + 1e-12
    assert worst >= 0.8 * float(target.sensitivity(AddRemove()))


def test_the_slope_and_the_error_are_bounds():
    """Exact rationals: no two points differ by more than the modulus, no double is off by more than the error."""
    target, rng = LinearOnGrid(reader=reader(2), coef_bound="1.5"), np.random.default_rng(2)
    data = rows(3, n=50, width=2)
    modulus = target.modulus(50)
    matrix, vector = target.prepare(data)
    points = rng.uniform(-1.5, 1.5, (40, 3))
    values = target.evaluate((matrix, vector), points)
    for point, value in zip(points, values.tolist(), strict=True):
        exact = [
            Fraction(b) - sum(Fraction(a) * Fraction(t) for a, t in zip(row, point.tolist(), strict=True))
            for row, b in zip(matrix.tolist(), vector.tolist(), strict=True)
        ]
        assert abs(-max(map(abs, exact)) - Fraction(value)) <= modulus.error
    apart = np.abs(points[:, None] - points[None]).max(axis=2) / 3.0
    rises = np.abs(values[:, None] - values[None])
    assert (rises <= float(modulus.constant) * apart + 1e-9).all()


def test_draws_have_the_exact_law():
    """One coefficient without an intercept fits numerical integration; a tilt of 5 % does not."""
    target, data, scale = LinearOnGrid(reader=reader(1, intercept=False), coef_bound=1), rows(4), Fraction(1, 3)
    prepared = target.prepare(data)
    scaled = target.at(scale, 30)
    runtime = Runtime(policy="truncated", block=block_length(scaled.acceptance, Fraction(1, 10**6)))
    points = run(scaled, prepared, runtime, Coins.from_seed(1), n_draws=N_FIT)[:, 0]

    def density(x):
        return np.exp(float(scale) * target.evaluate(prepared, np.asarray(x)[:, None]))

    assert fit_p_value(points, density, -1, 1) > ALPHA
    assert fit_p_value(points, density, -1, 1, tilt=TILT) < ALPHA


def test_a_draw_is_near_least_squares():
    """With 10,000 rows at epsilon = 1 intercept and slope are within a hundredth of their ranges."""
    rng = np.random.default_rng(5)
    X = rng.uniform(0, 10, (10_000, 1))
    data = ArrayRows(X, 0.8 * X[:, 0] - 4 + rng.normal(size=10_000), NAMES[:1])
    target = LinearOnGrid(reader=reader(1), coef_bound=1)
    ledger = Ledger(total=Pure(epsilon=1), adjacency=Replace(), coins=Coins.from_seed(2))
    drawn = sample(target, data, budget=Pure(epsilon=1), ledger=ledger)
    np.testing.assert_allclose(drawn.value.point, [0.0, 0.8], atol=0.03)


def test_what_has_no_grid_is_refused_by_name():
    """A private number of rows, too many columns, too many rows, bounds that are none: refused before any charge."""
    target = LinearOnGrid(reader=reader(1))
    ledger = Ledger(total=Pure(epsilon=1), adjacency=AddRemove())
    with pytest.raises(IncompatiblePlan, match="AddRemove"):
        sample(target, rows(1), budget=Pure(epsilon=1), ledger=ledger)
    assert ledger.entries == ()
    with pytest.raises(IncompatiblePlan, match="expected work"):
        target.at(Fraction(1, 4), 10**6)
    four = array_layout(("a", "b", "c"), Box(lower=[0] * 3, upper=[1] * 3), Interval(0, 1), intercept=True)
    with pytest.raises(InvalidArgument, match="4 dimensions"):
        LinearOnGrid(reader=LayoutRows(layout=four, labels=False))
    for bad in (0, 1001, float("nan")):
        with pytest.raises(InvalidArgument, match="`coef_bound`"):
            LinearOnGrid(reader=reader(1), coef_bound=bad)
    missing = ArrayRows(np.array([[np.nan]]), np.array([1.0]), NAMES[:1])
    with pytest.raises(InvalidData, match="'a'"):
        sample(target, missing, budget=Pure(epsilon=1), adjacency=Replace())
