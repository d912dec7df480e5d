"""The loop of noisy steps: every selector, total, exact, and silent about what is not released."""

import math
import pickle
import warnings
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
import scipy.stats

from descent.rows_of import labels, planned, sparse_rows
from discreet.descent.losses import LogisticLoss, PoissonLoss, SquaredLoss
from discreet.descent.rows import RESIDUAL_BOUND, integer_rows
from discreet.descent.selectors import keep_largest
from discreet.descent.steps import SELECTIONS, Descent, DescentPlan, NoisyDescent
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Zcdp
from discreet.privacy.coins import Coins
from discreet.privacy.ledger import Ledger
from discreet.privacy.release import release
from scripts_for_tests import EXPERIMENTS, script

NOISELESS = Zcdp(rho=10**12)
ight_not_private = script("descent_not_private", EXPERIMENTS).ight_not_private


def draw(plan, rows, seed=1):
    return plan.draw(plan.measure(rows), Coins.from_seed(seed))


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("intercept", [0.0, 0.5])
def test_every_selector_keeps_its_columns_and_its_promise_of_sparsity(selection, intercept):
    """Finite numbers, at most `n_selected` columns, the intercept apart."""
    rows = sparse_rows(intercept=intercept)
    found = draw(planned(rows, selection=selection), rows)
    assert found.theta.shape == (40 + (intercept > 0),)
    assert np.isfinite(found.theta).all()
    assert found.n_survivors <= (40 if selection == "all" else 5)
    assert (found.intercept != 0) == (intercept > 0)
    assert found.coef.shape == (40,)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_a_release_is_bit_identical_for_any_order_and_layout(selection):
    """Permuted rows, dense or sparse, with the same coins: the same digits."""
    matrix = scipy.sparse.random(60, 40, density=0.2, format="csr", random_state=0)
    rows = sparse_rows()
    plan = planned(rows, selection=selection, noise_floor=0.5)
    expected = draw(plan, rows).theta
    order = np.random.default_rng(4).permutation(60)
    for X in (matrix[order], matrix.toarray()[order], scipy.sparse.coo_matrix(matrix[order])):
        moved = integer_rows(X, labels(60)[order], row_norm=1.0, entry_bound=0.5, target_bounds=(0, 1))
        np.testing.assert_array_equal(draw(plan, moved).theta, expected)


def iht(X, y, loss, settings):
    """Return iterative hard thresholding in plain floats, as the paper has it."""
    theta, iterates = np.zeros(X.shape[1]), []
    for _ in range(settings.n_steps):
        residuals = np.clip(loss._mean(X @ theta) - y, -loss.clip, loss.clip)
        theta = keep_largest(theta - settings.step_size * (X.T @ residuals) / len(y), settings.n_selected)
        iterates.append(theta)
    return iterates


@pytest.mark.parametrize(("loss", "bounds"), [(LogisticLoss(), (0, 1)), (SquaredLoss(clip=0.4), (0, 1)),
                                              (PoissonLoss(clip=2.0), (0, 1))])  # fmt: skip
@pytest.mark.parametrize("n_steps", [1, 4, 5])
def test_without_noise_it_is_iterative_hard_thresholding(loss, bounds, n_steps):
    """Baseline, DP-IGHT and peeling at a huge budget follow Algorithm 1; the tail's mean is that of its iterates."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 12)) / 8
    y = (X[:, 0] + 0.1 * rng.normal(size=60) > 0).astype(float)
    rows = integer_rows(X, y, row_norm=2.0, target_bounds=bounds)
    changes = {"loss": loss, "n_steps": n_steps, "n_selected": 3, "budget": NOISELESS, "noise_floor": 0.0}
    for tail in (False, True):
        plan = planned(rows, tail_average=tail, **changes)
        iterates = iht(X, y, loss, plan.settings)
        expected = iterates[-1]
        if tail:
            expected = keep_largest(np.mean(iterates[n_steps // 2 :], axis=0), 3)
        np.testing.assert_allclose(ight_not_private(rows, plan.settings).theta, expected, atol=1e-3)
        np.testing.assert_allclose(draw(plan, rows).theta, expected, atol=2e-3)
        peeled = draw(planned(rows, tail_average=tail, selection="peel", **changes), rows)
        np.testing.assert_allclose(peeled.theta, expected, atol=2e-3)
        ends = [np.zeros(12), *iterates]
        moves = [np.linalg.norm(ends[1]), np.linalg.norm(ends[-1] - ends[-2])]
        for found in (ight_not_private(rows, plan.settings), draw(plan, rows), peeled):
            np.testing.assert_allclose([found.first_move, found.last_move], moves, atol=2e-3)


def test_coordinate_descent_moves_one_column_a_step():
    """The one with the largest gradient; the intercept besides."""
    rows = integer_rows(np.diag([1.0, 0.5, 0.25]), [4.0, 4.0, 4.0], row_norm=1.0, target_bounds=(-4, 4), intercept=1.0)
    plan = planned(
        rows, loss=SquaredLoss(clip=8.0), selection="coordinate", n_selected=3, n_steps=1, step_size=0.3, divisor=3,
        budget=NOISELESS,
    )  # fmt: skip
    np.testing.assert_allclose(draw(plan, rows).theta, [0.4, 0, 0, 1.2], atol=1e-3)
    two = replace(plan.settings, n_steps=2, tail_average=False)
    moved = DescentPlan(two, plan.event).draw(rows, Coins.from_seed(1))
    assert moved.n_survivors <= 2


@pytest.mark.parametrize("loss", [LogisticLoss(), SquaredLoss(clip=64.0)], ids=["logistic", "squared"])
def test_the_noise_has_the_variance_that_was_paid_for(loss):
    """At zero the logistic residual is at most a half: noise and sensitivity shrink alike. 10 % off would be seen."""
    d = 30_000
    rows = integer_rows(scipy.sparse.csr_array((1, d)), [1.0], row_norm=1.0, target_bounds=(0, 1))
    plan = planned(rows, loss=loss, selection="all", n_steps=1, step_size=1.0, divisor=1.0)
    bound = loss.bound_at(0.0, (0, 1))
    assert bound <= RESIDUAL_BOUND // 2
    unit = rows.grid.unit * loss.unit
    std = math.sqrt(plan.event.variance) * bound / RESIDUAL_BOUND * unit
    # Price of one step: (2 bound K)**2 / (2 std**2) = rho, as at the largest bound.
    assert std == pytest.approx(2 * bound * rows.grid.norm * unit / math.sqrt(2), rel=1e-12)
    measured = draw(plan, rows).theta.std() / std
    assert abs(measured - 1) < 5 / math.sqrt(2 * d)


def test_peeled_values_have_the_variance_that_was_paid_for():
    """Only the chosen columns are released, under the noise for so many."""
    d, s = 2_000, 2_000
    rows = integer_rows(scipy.sparse.csr_array((1, d)), [1.0], row_norm=1.0, entry_bound=0.01, target_bounds=(0, 1))
    plan = planned(
        rows,
        selection="peel",
        n_selected=s,
        n_steps=1,
        step_size=1.0,
        divisor=1.0,
        noise_floor=0.0,
        loss=LogisticLoss(),
    )
    std = math.sqrt(plan.event.variance) / 2 * rows.grid.unit * LogisticLoss().unit
    assert abs(draw(plan, rows).theta.std() / std - 1) < 5 / math.sqrt(2 * d)


def test_the_choice_of_columns_has_the_law_that_was_paid_for():
    """One column of two: the odds are those of the exponential mechanism, and not of a scale 10 % off."""
    rows = integer_rows([[1.0, 0.0]], [1.0], row_norm=1.0, target_bounds=(0, 1))
    plan = planned(
        rows,
        selection="peel",
        n_selected=1,
        n_steps=1,
        step_size=1.0,
        divisor=1.0,
        noise_floor=0.0,
        budget=Zcdp(rho=19),
    )
    coins, n = Coins.from_seed(9), 5_000
    first = sum(plan.draw(rows, coins).theta[0] != 0 for _ in range(n))
    scale = float(plan.event.selection_scale) / 2  # the residual is at most a half
    gap = 0.5 * RESIDUAL_BOUND * rows.grid.norm
    # zCDP of one choice: (2 * 0.5 B K)**2 / (2 scale**2) = 3/5 of rho.
    assert (2 * gap) ** 2 / (2 * scale**2) == pytest.approx(0.6 * 19, rel=1e-12)
    for factor, fits in ((1, True), (1.1, False), (1 / 1.1, False)):
        odds = 1 / (1 + math.exp(-gap / (factor * scale)))
        assert (scipy.stats.binomtest(first, n, odds).pvalue > 1e-3) == fits


def test_the_floor_drops_what_is_noise():
    """With all columns allowed and no signal, three standard deviations leave about 0.3 %; no floor leaves all."""
    d = 20_000
    rows = integer_rows(scipy.sparse.csr_array((2, d)), [1.0, 0.0], row_norm=1.0, target_bounds=(0, 1), intercept=1e-3)
    options = {"n_selected": d, "n_steps": 1}
    assert draw(planned(rows, noise_floor=0.0, **options), rows).n_survivors == d
    survivors = draw(planned(rows, **options), rows).n_survivors
    assert abs(survivors - 0.0027 * d) < 5 * math.sqrt(0.0027 * d)
    assert draw(planned(rows, **options), rows).intercept != 0


@pytest.mark.parametrize("selection", SELECTIONS)
def test_a_public_scale_of_columns_is_a_step_size_each(selection):
    """A column with a scale of 1e-9 hardly moves."""
    rows = sparse_rows(d=6, n=60)
    scale = np.array([1, 1, 1, 1, 1, 1e-9])
    found = draw(planned(rows, selection=selection, column_scale=scale, noise_floor=0.0, budget=NOISELESS), rows)
    assert abs(found.theta[-1]) < 1e-6
    assert np.abs(found.theta).max() > 1e-3


def test_a_start_is_where_it_begins():
    """From a solution the first step stays; the start itself is not changed."""
    rows = integer_rows(np.eye(2), [0.5, 0.25], row_norm=1.0, target_bounds=(-1, 1))
    start = np.array([0.5, 0.25])
    plan = planned(rows, loss=SquaredLoss(clip=1.0), n_selected=2, n_steps=3, start=start, budget=NOISELESS)
    np.testing.assert_allclose(draw(plan, rows).theta, start, atol=1e-3)
    assert start.tolist() == [0.5, 0.25]
    with pytest.raises(ValueError, match="read-only"):
        plan.settings.start[0] = 1.0


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("n", [0, 1, 60])
def test_edge_cases_are_ordinary(selection, n):
    """No rows, one row, a matrix of zeros, a constant label, s = d: finite numbers, under both adjacencies."""
    for X in (scipy.sparse.csr_array((n, 5)), np.ones((n, 5))):
        rows = integer_rows(X, np.ones(n), row_norm=1.0, target_bounds=(0, 1))
        for adjacency in (Replace(), AddRemove()):
            plan = planned(rows, selection=selection, adjacency=adjacency, n_selected=5)
            assert np.isfinite(draw(plan, rows).theta).all()


@pytest.mark.parametrize("selection", SELECTIONS)
def test_nothing_raises_or_warns_however_the_steps_diverge(selection):
    """Huge steps, huge targets, separable rows: numbers that are finite, and silence."""
    rows = integer_rows(
        np.eye(3) * 1e300, [1e300, -1e300, 0.0], row_norm=1e50, target_bounds=(-1e300, 1e300), intercept=1e50
    )
    for loss in (SquaredLoss(clip=1e60), PoissonLoss(clip=1e100)):
        plan = planned(rows, loss=loss, selection=selection, n_selected=2, n_steps=6, step_size=1e60, divisor=1e-60)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isfinite(draw(plan, rows).theta).all()


def test_a_release_holds_public_things_alone():
    """Parameters, settings and lengths of released steps: no support before noise, no loss, no gradient, no rows."""
    rows = sparse_rows()
    plan = planned(rows)
    found = release(plan, rows, Ledger(total=Zcdp(rho=1), adjacency=Replace(), coins=Coins.from_seed(3)))
    assert {field.name for field in fields(NoisyDescent)} == {
        "theta", "settings", "first_move", "last_move", "first_factor", "last_factor",
    }  # fmt: skip
    assert {field.name for field in fields(Descent)} == {
        "grid", "loss", "target_bounds", "selection", "n_selected", "n_steps", "step_size", "divisor", "noise_floor",
        "tail_average", "start", "column_scale", "shorten_steps",
    }  # fmt: skip
    assert found.value.settings is plan.settings
    other = sparse_rows(seed=1)
    again = release(plan, other, Ledger(total=Zcdp(rho=1), adjacency=Replace(), coins=Coins.from_seed(3)))
    # What is left when the release is set aside is the same for other rows.
    blank = np.zeros(1)
    left = [
        pickle.dumps((replace(r.value, theta=blank, first_move=0.0, last_move=0.0), r.event, r.notes))
        for r in (found, again)
    ]
    assert left[0] == left[1]


def test_a_bad_fit_of_rows_and_plan_spends_nothing():
    """Another grid, other target bounds, or no integer rows at all."""
    rows = sparse_rows()
    plan = planned(rows)
    ledger = Ledger(total=Zcdp(rho=1), adjacency=Replace())
    for other in (sparse_rows(row_norm=2.0), sparse_rows(target_bounds=(0, 2)), np.eye(3)):
        with pytest.raises(IncompatiblePlan, match="planned for"):
            release(plan, other, ledger)
    assert ledger.spent == Zcdp(rho=0)


@pytest.mark.parametrize(
    ("name", "bad"),
    [("n_selected", 0), ("n_selected", 41), ("n_selected", 1.5), ("n_steps", 0), ("n_steps", True), ("step_size", 0),
     ("step_size", math.nan), ("step_size", -1.0), ("divisor", 0), ("divisor", math.inf), ("noise_floor", -1.0),
     ("noise_floor", math.nan), ("tail_average", "yes"), ("start", np.zeros(3)), ("start", np.full(40, np.nan)),
     ("column_scale", np.zeros(40)), ("column_scale", np.full(40, np.inf)), ("selection", "best"),
     ("shorten_steps", 1)],
)  # fmt: skip
def test_bad_settings_are_refused_by_name(name, bad):
    """More columns than there are is an error, not a silent all."""
    with pytest.raises(InvalidArgument, match=f"`{name}`"):
        planned(sparse_rows(), **{name: bad})


def test_the_baseline_says_what_it_cannot_do():
    """Choices by noise have no counterpart without noise."""
    rows = sparse_rows()
    with pytest.raises(InvalidArgument, match="`selection`"):
        ight_not_private(rows, planned(rows, selection="peel").settings)
    assert ight_not_private(rows, planned(rows, selection="all").settings).n_survivors > 5


def test_the_largest_are_kept_and_ties_go_to_the_first():
    """As numpy's stable sort has it."""
    rng = np.random.default_rng(7)
    for size in (0, 1, 3, 9, 10, 12):
        vector = rng.integers(-3, 4, 10).astype(float)
        kept = set(np.argsort(-np.abs(vector), kind="stable")[:size].tolist())
        expected = [value if index in kept else 0.0 for index, value in enumerate(vector.tolist())]
        assert keep_largest(vector, size).tolist() == expected


def test_residuals_that_cannot_be_large_have_little_noise():
    """Targets that are 0 by declaration, at zero: one unit of residual, and noise of 2**-16 of the full size."""
    rows = integer_rows(np.eye(2), [0.0, 0.0], row_norm=1.0, target_bounds=(0, 0))
    for selection in SELECTIONS:
        plan = planned(rows, loss=SquaredLoss(clip=1.0), n_selected=1, selection=selection, noise_floor=0.0, n_steps=1)
        small = plan.event.variance * Fraction(1, RESIDUAL_BOUND) ** 2
        found = np.abs(draw(plan, rows).theta).max() / plan.settings.factors[0]
        assert 0 < found < 10 * math.sqrt(small)
