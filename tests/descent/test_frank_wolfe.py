"""Private Frank-Wolfe: the right vertex, the law of the choice, the true cost of the printed noise."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
import scipy.stats

from discreet.descent.gradients import gradient_unit
from discreet.descent.losses import HuberLoss, LogisticLoss
from discreet.descent.rivals.frank_wolfe import FrankWolfePlan, plan_frank_wolfe
from discreet.descent.rows import RESIDUAL_BOUND, integer_rows
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.lattice.row_grid import RowGrid
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.coins import Coins
from discreet.privacy.events.event import event_from_json
from discreet.privacy.events.perturbation import FrankWolfeEvent
from discreet.privacy.ledger import Ledger
from discreet.privacy.release import release

NO_NOISE = Pure(epsilon=10**15)


def some_rows(n=150, d=8, *, seed=0, intercept=0.0, sparse=False):
    """Return rows whose target is twice the third column minus the sixth."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    y = 2 * X[:, 2] - X[:, 5] + 0.3
    X = scipy.sparse.coo_array(X) if sparse else X
    return integer_rows(X, y, row_norm=math.sqrt(d), entry_bound=1.0, target_bounds=(-4, 4), intercept=intercept)


def fitted(rows, *, budget=NO_NOISE, seed=1, adjacency=None, **changes):
    asked = {"radius": 3.0, "n_steps": 40, "target_bounds": rows.target_bounds} | changes
    plan = plan_frank_wolfe(
        rows.grid, asked.pop("loss", HuberLoss(clip=4.0)), budget=budget, adjacency=adjacency or Replace(), **asked
    )
    composition = "sum" if isinstance(plan.event.budget, Approx) else "auto"
    total = plan.event.budget
    coins = Coins.from_seed(seed)
    return release(
        plan, rows, Ledger(total=total, adjacency=plan.event.adjacency, coins=coins, composition=composition)
    )


@pytest.mark.parametrize("sparse", [False, True])
def test_without_noise_every_step_takes_the_best_vertex(sparse):
    """At an enormous budget the iterates are those of Frank-Wolfe in plain numpy."""
    rows = some_rows(sparse=sparse)
    theta, right = np.zeros(8), fitted(rows).value.theta
    X = np.asarray(rows.private_matrix.todense() if sparse else rows.private_matrix) * rows.grid.unit
    for step in range(40):
        gradient = X.T @ np.clip(X @ theta - rows.private_y, -4, 4)
        column = int(np.argmax(np.abs(gradient)))
        vertex = np.zeros(8)
        vertex[column] = -3.0 * np.sign(gradient[column])
        theta += 2 / (step + 2) * (vertex - theta)
    np.testing.assert_allclose(right, theta, atol=1e-9)
    # Every second step corrects the last one: the result is near the truth at this rate.
    assert abs(right[2] - 2) < 0.2
    assert abs(right[5] + 1) < 0.2


def test_the_iterate_stays_in_the_ball_and_has_few_columns():
    """At most one new column a step, and an l1 norm of at most the radius, however loud the noise."""
    for seed in range(5):
        theta = fitted(some_rows(d=60), budget=Zcdp(rho=Fraction(1, 10**6)), n_steps=7, seed=seed).value.theta
        assert np.count_nonzero(theta) <= 7
        assert np.abs(theta).sum() <= 3.0 * (1 + 1e-12)


def test_an_intercept_is_one_more_column_of_the_ball():
    """The constant column is chosen like the others, and its size counts in the sensitivity."""
    rows = some_rows(intercept=2.0)
    value = fitted(rows, n_steps=400).value
    assert value.theta.shape == (9,)
    assert value.theta[-1] * 2.0 == pytest.approx(0.3, abs=0.05)
    plan = plan_frank_wolfe(rows.grid, LogisticLoss(), budget=NO_NOISE, adjacency=AddRemove(), radius=1.0, n_steps=1)
    assert plan.sensitivity(3) == 3 * rows.grid.constant


@pytest.mark.parametrize("noise", ["gumbel", "paper"])
def test_the_choice_has_exactly_its_law(noise):
    """One step between two columns: all shares are the theorem's, and not those of a scale 25 % off."""
    rows = integer_rows(
        [[1.0, 0.0]] * 60 + [[0.0, 1.0]] * 40, np.ones(100), row_norm=1.0, target_bounds=(-1, 1), bits=8
    )
    grid, loss = rows.grid, HuberLoss(clip=1.0)
    event = FrankWolfeEvent(
        n_steps=1,
        law="gumbel" if noise == "gumbel" else "laplace",
        ratio=Fraction(20),
        adjacency=AddRemove(),
        budget=Pure(epsilon=Fraction(1, 10)),
        statistic="a vertex",
        shape=(2,),
    )
    plan = FrankWolfePlan(grid, loss, event, 1.0, (-1.0, 1.0))
    scale = 20 * RESIDUAL_BOUND * grid.entry * gradient_unit(grid, loss)
    coins, n = Coins.from_seed(4), 3_000
    chosen = [np.flatnonzero(theta := plan.draw(rows, coins).theta)[0] * 2 + (theta.min() < 0) for _ in range(n)]
    seen = np.bincount(chosen, minlength=4)
    assert scipy.stats.chisquare(seen, n * shares(noise, scale)).pvalue > 1e-3
    for factor in (1.25, 1 / 1.25):
        assert scipy.stats.chisquare(seen, n * shares(noise, scale * factor)).pvalue < 1e-3


def shares(noise, scale):
    """Return the chances of the four vertices +1, -1, +2, -2, whose scores are 60, -60, 40 and -40."""
    scores = np.array([60.0, -60.0, 40.0, -40.0]) / scale
    if noise == "gumbel":
        return np.exp(scores) / np.exp(scores).sum()
    law = scipy.stats.laplace
    t, step = np.linspace(-60, 60, 120_001, retstep=True)
    chances = np.array(
        [
            (law.pdf(t - score) * np.prod([law.cdf(t - other) for other in np.delete(scores, i)], axis=0)).sum() * step
            for i, score in enumerate(scores)
        ]
    )
    return chances / chances.sum()


@pytest.mark.parametrize(
    ("nominal", "adjacency", "true"),
    [(2, AddRemove(), 1.77), (2, Replace(), 3.84), (10, AddRemove(), 11.3), (10, Replace(), 27.4)],
)
def test_the_printed_laplace_noise_has_its_true_cost(nominal, adjacency, true):
    """At delta = 1e-5 the printed scale for epsilon 2 costs 1.77 or 3.84, and that for 10 costs 11.3 or 27.4."""
    for n_steps in (5, 80):
        plan = plan_frank_wolfe(
            RowGrid(9, row_norm=1.0, entry_bound=0.5),
            LogisticLoss(),
            budget=Approx(epsilon=nominal, delta="1e-5"),
            adjacency=adjacency,
            radius=2.0,
            n_steps=n_steps,
            noise="paper",
        )
        assert float(plan.event.budget.epsilon) == pytest.approx(true, rel=0.005)
        # The scale on a summed gradient: B kappa sqrt(8 T log(1 / delta)) / epsilon.
        scale = float(plan.event.ratio * plan.sensitivity(RESIDUAL_BOUND)) * gradient_unit(plan.grid, plan.loss)
        assert scale == pytest.approx(0.5 * math.sqrt(8 * n_steps * math.log(1e5)) / nominal)
        assert event_from_json(plan.event.to_json()) == plan.event


@pytest.mark.parametrize("adjacency", [Replace(), AddRemove()])
@pytest.mark.parametrize("budget", [Pure(epsilon=1), Zcdp(rho=0.3), Approx(epsilon=2, delta="1e-5")], ids=repr)
def test_a_plan_costs_its_budget_and_hardly_less(budget, adjacency):
    """The price is the budget up to rounding, and survives a file."""
    event = plan_frank_wolfe(
        RowGrid(9, row_norm=1.0), LogisticLoss(), budget=budget, adjacency=adjacency, radius=2.0, n_steps=30
    ).event
    assert event_from_json(event.to_json()) == event
    doubled = event.to_json() | {"ratio": str(event.ratio * Fraction(99, 100))}
    with pytest.raises(InvalidArgument, match="budget"):
        event_from_json(doubled)


def test_the_law_of_a_choice_is_as_private_as_its_event_says():
    """Neighbours that move every score against each other reach the stated ratio of chances, and never pass it."""
    # Scores (s, -s): a neighbour moves each by the sensitivity 1, in opposite directions.
    ratio, many = 4.0, 2000
    one = np.concatenate([[0.0], np.full(many, 0.5)])
    other = np.concatenate([[1.0], np.full(many, -0.5)])
    chance = [np.exp(s / ratio) / np.exp(s / ratio).sum() for s in (one, other)]
    largest = np.log(chance[1] / chance[0]).max()
    assert 0.95 * 1.5 / ratio < largest <= 2 / ratio


def test_tighter_noise_where_residuals_are_small():
    """At the first step logistic residuals are at most 1/2, so half the noise is enough; the printed form is fixed."""
    grid = RowGrid(9, row_norm=1.0)
    common = {"adjacency": Replace(), "radius": 2.0, "n_steps": 3}
    ours = plan_frank_wolfe(grid, LogisticLoss(), budget=Zcdp(rho=1), **common)
    printed = plan_frank_wolfe(grid, LogisticLoss(), budget=Approx(epsilon=1, delta="1e-6"), noise="paper", **common)
    assert ours._bound(np.zeros(9)) == RESIDUAL_BOUND // 2
    assert printed._bound(np.zeros(9)) == RESIDUAL_BOUND


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"budget": Gdp(mu=1)}, IncompatiblePlan),
        ({"budget": Zcdp(rho=1), "noise": "paper"}, IncompatiblePlan),
        ({"budget": Approx(epsilon=1, delta=0), "noise": "paper"}, IncompatiblePlan),
        ({"noise": "loud"}, InvalidArgument),
        ({"radius": 0.0}, InvalidArgument),
        ({"radius": float("nan")}, InvalidArgument),
        ({"n_steps": 0}, InvalidArgument),
        ({"target_bounds": (float("nan"), 1.0)}, InvalidArgument),
        ({"budget": Approx(epsilon=Fraction(1, 10**9), delta="1e-6"), "noise": "paper"}, InvalidArgument),
        ({"budget": Pure(epsilon=Fraction(1, 10**9))}, InvalidArgument),
    ],
)
def test_what_no_noise_can_be_drawn_for_is_refused(changes, error):
    """By name, before a ledger is asked."""
    asked = {"budget": Pure(epsilon=1), "adjacency": Replace(), "radius": 1.0, "n_steps": 5} | changes
    with pytest.raises(error):
        plan_frank_wolfe(RowGrid(9, row_norm=1.0), LogisticLoss(), **asked)


def test_rows_of_another_plan_are_refused():
    """Another grid or other targets raise before the charge."""
    plan = plan_frank_wolfe(
        RowGrid(8, row_norm=1.0), LogisticLoss(), budget=NO_NOISE, adjacency=Replace(), radius=1.0, n_steps=1
    )
    with pytest.raises(IncompatiblePlan, match="grid"):
        release(plan, some_rows())


@pytest.mark.parametrize("noise", ["gumbel", "paper"])
@pytest.mark.parametrize("name", ["zero", "constant", "separable", "single", "empty"])
def test_degenerate_data_give_finite_numbers(name, noise):
    """All zero, one label, separable, one row, none: a release as usual."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 3)), rng.integers(2, size=30).astype(float)
    if name == "zero":
        X[:] = 0.0
    elif name == "constant":
        y[:] = 1.0
    elif name == "separable":
        y = (X[:, 0] > 0).astype(float)
    elif name == "single":
        X, y = X[:1], y[:1]
    else:
        X, y = X[:0], y[:0]
    rows = integer_rows(X, y, row_norm=1.0, target_bounds=(0, 1))
    budget = Approx(epsilon=1, delta="1e-6")
    value = fitted(rows, loss=LogisticLoss(), budget=budget, noise=noise, adjacency=AddRemove()).value
    assert np.isfinite(value.theta).all()
    assert set(vars(value)) == {"theta", "radius", "n_steps"}
