"""Two stages: votes whose sensitivity is counted, one event for both, and a support that is found where it can be."""

import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import discreet as dp
from discreet.descent.losses import HuberLoss, LogisticLoss
from discreet.descent.rivals.two_stage import plan_two_stage, private_blocks, votes
from discreet.descent.rows import integer_rows
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.lattice.row_grid import RowGrid
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure
from discreet.privacy.coins import Coins
from discreet.privacy.events.event import event_from_json
from discreet.privacy.ledger import Ledger
from discreet.privacy.release import release

ADJACENCIES = [Replace(), AddRemove()]


def coded(X, y, *, sparse=False, intercept=0.0):
    X = scipy.sparse.csc_array(X) if sparse else X
    return integer_rows(X, y, row_norm=3.0, entry_bound=1.0, target_bounds=(-4, 4), intercept=intercept)


def a_table(n=240, d=12, *, seed=0):
    """Return columns of which the fourth and the ninth matter."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d)) * rng.integers(2, size=(n, d))
    return X, 2 * X[:, 3] - 1.5 * X[:, 8] + 0.1 * rng.normal(size=n)


def a_plan(rows, **changes):
    asked = {
        "budget": Approx(epsilon=4, delta="1e-5"),
        "adjacency": Replace(),
        "n_rows": max(1, rows.private_size()),
        "sparsity": 2,
        "n_blocks": 6,
        "target_bounds": rows.target_bounds,
    }
    return plan_two_stage(rows.grid, changes.pop("loss", HuberLoss(clip=4.0)), **(asked | changes))


def fitted(rows, *, seed=2, **changes):
    plan = a_plan(rows, **changes)
    event, coins = plan.event, Coins.from_seed(seed)
    composition = "sum" if isinstance(event.budget, Approx) else "auto"
    ledger = Ledger(total=event.budget, adjacency=event.adjacency, coins=coins, composition=composition)
    return release(plan, rows, ledger)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_a_strong_signal_is_found(adjacency, sparse):
    """With a large budget both columns are chosen, and their parameters are near the truth."""
    rows = coded(*a_table(), sparse=sparse)
    value = fitted(rows, budget=Pure(epsilon=2000), adjacency=adjacency, regularization=0.1).value
    assert value.support.tolist() == [3, 8]
    assert value.theta[[3, 8]] == pytest.approx([2, -1.5], abs=0.1)
    assert np.count_nonzero(value.theta) == 2


def test_the_intercept_is_always_kept():
    """The constant column needs no vote; its parameter comes last."""
    X, y = a_table()
    rows = coded(X, y + 0.5, intercept=1.0)
    value = fitted(rows, budget=Pure(epsilon=2000), regularization=0.1).value
    assert value.theta.shape == (13,)
    assert value.theta[-1] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_one_record_moves_the_votes_by_at_most_their_sensitivity(adjacency):
    """Brute force over neighbours: the counts move by at most 2 s in the l1 norm, and some pair attains it."""
    rng = np.random.default_rng(4)
    most = 0
    for trial in range(40):
        X = rng.uniform(-1, 1, (8, 5)) * rng.integers(2, size=(8, 5))
        y = rng.normal(size=8) * 3
        changed_X, changed_y = X.copy(), y.copy()
        if isinstance(adjacency, Replace):
            changed_X[trial % 8], changed_y[trial % 8] = rng.choice([-1, 1], 5), 4.0
        else:
            changed_X, changed_y = np.delete(X, trial % 8, axis=0), np.delete(y, trial % 8)
        event = a_plan(coded(X, y), adjacency=adjacency, n_blocks=4).event
        counts = [votes(coded(*table), HuberLoss(clip=4.0), event) for table in ((X, y), (changed_X, changed_y))]
        assert all(count.sum() == 2 * 4 for count in counts)
        moved = int(np.abs(counts[0] - counts[1]).sum())
        assert moved <= 2 * event.sparsity
        most = max(most, moved)
    assert most == 2 * 2


def test_blocks_by_content_do_not_depend_on_other_records():
    """A hash gives a record the same block wherever it stands, whoever else is there, sparse or dense."""
    X, y = a_table(50)
    whole = private_blocks(coded(X, y), 7, by_position=False)
    np.testing.assert_array_equal(private_blocks(coded(X[::-1], y[::-1]), 7, by_position=False), whole[::-1])
    np.testing.assert_array_equal(private_blocks(coded(X[5:], y[5:]), 7, by_position=False), whole[5:])
    np.testing.assert_array_equal(private_blocks(coded(X, y, sparse=True), 7, by_position=False), whole)
    assert len(set(whole.tolist())) == 7


def test_blocks_by_position_are_of_equal_size():
    """Under Replace a record's block is where it stands: one replaced record changes one block."""
    blocks = private_blocks(coded(*a_table(50)), 7, by_position=True)
    assert np.bincount(blocks).tolist() == [8] + [7] * 6


def test_votes_do_not_depend_on_the_order_within_a_block():
    """Exact sums: the same records in another order vote alike."""
    X, y = a_table(60)
    event = a_plan(coded(X, y), adjacency=AddRemove()).event
    order = np.random.default_rng(1).permutation(60)
    one, other = (votes(coded(X[rows], y[rows]), HuberLoss(clip=4.0), event) for rows in (np.arange(60), order))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("budget", [Pure(epsilon=2), Approx(epsilon=2, delta="1e-6")], ids=repr)
def test_both_stages_together_cost_the_budget(budget, adjacency):
    """Half pays for the votes, half for the objective, in one event that survives a file."""
    rows = coded(*a_table(20))
    plan = a_plan(rows, budget=budget, adjacency=adjacency)
    event = plan.event
    assert event.vote_scale == Fraction(2 * 2, 1)  # 2 s over half of epsilon
    assert event.price.epsilon == plan.second.event.price.epsilon + 1
    assert budget.epsilon * (1 - Fraction(1, 10**6)) <= event.price.epsilon <= budget.epsilon
    assert event_from_json(event.to_json()) == event
    with pytest.raises(InvalidArgument, match="budget"):
        event_from_json(event.to_json() | {"vote_scale": "3"})
    assert a_plan(rows, budget=budget, vote_share=Fraction(1, 4)).event.vote_scale == 8


def test_the_votes_have_the_noise_of_their_event():
    """The released support is the largest of votes under rounded Laplace noise: with much of it, any column wins."""
    X, y = a_table(30)
    rows = integer_rows(X, y > 0, row_norm=3.0, entry_bound=1.0, target_bounds=(0, 1))
    plan = a_plan(rows, budget=Pure(epsilon=Fraction(1, 2)), n_blocks=1, regularization=5.0, loss=LogisticLoss())
    wins = np.zeros(12)
    coins = Coins.from_seed(6)
    for _ in range(200):
        wins[plan.draw(rows, coins).support] += 1
    assert wins.min() > 12


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"budget": Gdp(mu=1)}, IncompatiblePlan),
        ({"sparsity": 13}, InvalidArgument),
        ({"sparsity": 0}, InvalidArgument),
        ({"n_blocks": 0}, InvalidArgument),
        ({"vote_share": 1}, InvalidArgument),
        ({"vote_share": float("nan")}, InvalidArgument),
        ({"n_rows": 0}, InvalidArgument),
        ({"regularization": 1e-9}, IncompatiblePlan),
    ],
)
def test_what_cannot_be_planned_is_refused(changes, error):
    """By name, before a ledger is asked."""
    with pytest.raises(error):
        a_plan(coded(*a_table(20)), **changes)


def test_rows_of_another_plan_are_refused_and_cost_nothing():
    """Another grid, other targets or more rows than planned raise before the charge."""
    rows = coded(*a_table(20))
    plan = a_plan(rows)
    ledger = Ledger(total=plan.event.budget, adjacency=Replace(), composition="sum")
    others = [
        coded(*a_table(20, 11)),
        coded(*a_table(21)),
        integer_rows(a_table(20)[0], np.zeros(20), row_norm=3.0, entry_bound=1.0, target_bounds=(0, 1)),
    ]
    for other in others:
        with pytest.raises(IncompatiblePlan):
            release(plan, other, ledger)
    assert ledger.entries == ()


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", ["zero", "constant", "separable", "single", "all columns"])
def test_degenerate_data_give_finite_numbers(name, adjacency):
    """All zero, one label, separable, one row in one of many blocks, s = d: a release as usual."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 4)), rng.integers(2, size=30).astype(float)
    if name == "zero":
        X[:] = 0.0
    elif name == "constant":
        y[:] = 1.0
    elif name == "separable":
        y = (X[:, 0] > 0).astype(float)
    elif name == "single":
        X, y = X[:1], y[:1]
    rows = integer_rows(X, y, row_norm=1.0, target_bounds=(0, 1))
    sparsity = 4 if name == "all columns" else 2
    value = fitted(rows, loss=LogisticLoss(), adjacency=adjacency, sparsity=sparsity).value
    assert np.isfinite(value.theta).all()
    assert value.support.size == sparsity
    assert set(vars(value)) == {"theta", "support", "n_steps"}


def test_many_blocks_by_default():
    """The square root of the rows; at least one."""
    grid = RowGrid(5, row_norm=1.0)
    asked = {"budget": Pure(epsilon=1), "adjacency": Replace(), "sparsity": 1}
    for n_rows in (1, 50, 10_000):
        assert plan_two_stage(grid, LogisticLoss(), n_rows=n_rows, **asked).event.n_blocks == math.isqrt(n_rows)


def test_position_counts_under_replace_and_the_pages_say_so():
    """Shuffled rows are in other blocks under Replace and in the same ones under AddRemove (case NSE-03)."""
    X, y = a_table(24, 9)
    order = np.random.default_rng(5).permutation(24)
    first, second = coded(X, y), coded(X[order], y[order])
    by_position = [private_blocks(rows, 5, by_position=True) for rows in (first, second)]
    assert (by_position[0] == by_position[1]).all()
    assert (by_position[0][order] != by_position[1]).any()
    by_content = [private_blocks(rows, 5, by_position=False) for rows in (first, second)]
    assert (by_content[0][order] == by_content[1]).all()
    root = Path(__file__).parents[2]
    for page in ("ARCHITECTURE.md", "docs/promised.md"):
        text = " ".join((root / page).read_text(encoding="utf-8").split())
        assert re.search(r"two-stage estimators.{0,80}(position|private search)", text), page
        assert "position" in text
    for model in (dp.TwoStageLinearRegression, dp.PrivateSearch):
        assert "order" in model.__doc__
