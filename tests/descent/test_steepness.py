"""Steps that are shortened by what earlier steps released: no longer than rows allow, free, and off by default."""

import hashlib
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from descent.rows_of import planned, sparse_rows
from discreet.descent import steps
from discreet.descent.losses import LogisticLoss, PoissonLoss, SquaredLoss
from discreet.descent.rows import RESIDUAL_BOUND, integer_rows
from discreet.descent.selectors import keep_largest
from discreet.descent.steepness import Steepness
from discreet.errors import InvalidArgument
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Zcdp
from discreet.privacy.coins import Coins

NOISELESS, STRONG = Zcdp(rho=10**12), Zcdp(rho=10**4)
SELECTIONS = ("threshold", "peel")
# Of the releases below before steps could be shortened.
BEFORE = "aee2a9b914c630a2bb3e1a464ee2a4b3d46c86c552c4789c434bb861e7cbd735"


def draw(plan, rows, seed=1):
    return plan.draw(plan.measure(rows), Coins.from_seed(seed))


def alike(n=60, d=12, seed=6):
    """Return rows of columns that are nearly copies of each other, and targets that they tell."""
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, 1)) + 0.3 * rng.normal(size=(n, d))) / 8
    return X, (X.mean(axis=1) > 0).astype(float)


def shortened(X, y, settings):
    """Return the iterates of thresholded steps in plain floats, each no longer than gradients so far bear."""
    theta, largest, iterates = np.zeros(X.shape[1]), 0.0, []
    clip = settings.loss.clip
    for _ in range(settings.n_steps):
        gradient = X.T @ np.clip(X @ theta - y, -clip, clip) / len(y)
        largest = max(largest, (keep_largest(gradient, settings.n_selected) ** 2).sum() / clip**2)
        longest = 0.5 if settings.n_steps <= 2 else 1.0
        step = min(settings.step_size, longest / largest)
        theta = keep_largest(theta - step * gradient, settings.n_selected)
        iterates.append(theta)
    return iterates


@pytest.mark.parametrize("n_steps", [1, 2, 5])
@pytest.mark.parametrize(("selection", "n_selected"), [("threshold", 3), ("threshold", 12), ("peel", 12)])
def test_without_noise_steps_are_as_long_as_gradients_bear(selection, n_selected, n_steps):
    """Thresholded and peeled iterates are those of plain floats; where steps are whole they would be far off."""
    X, y = alike()
    rows = integer_rows(X, y, row_norm=2.0, target_bounds=(0, 1))
    plan = planned(
        rows, loss=SquaredLoss(clip=0.4), n_steps=n_steps, n_selected=n_selected, step_size=300.0, selection=selection,
        budget=NOISELESS, noise_floor=0.0, tail_average=False, shorten_steps=True,
    )  # fmt: skip
    found, iterates = draw(plan, rows), shortened(X, y, plan.settings)
    np.testing.assert_allclose(found.theta, iterates[-1], atol=2e-3)
    part = np.linalg.norm(iterates[0]) / np.linalg.norm(found_whole(plan, rows))
    assert found.first_factor == pytest.approx(part, rel=1e-2)
    assert found.last_factor <= found.first_factor < 0.5


def found_whole(plan, rows):
    """Return the first iterate of whole steps."""
    one = replace(plan.settings, n_steps=1, shorten_steps=False)
    return draw(replace(plan, settings=one), rows).theta


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("loss", [SquaredLoss(clip=0.4), LogisticLoss(clip=0.5)], ids=["squared", "logistic"])
@pytest.mark.parametrize("seed", range(5))
def test_a_step_is_never_shorter_than_the_rows_ask_for(selection, loss, seed):
    """By the Cauchy-Schwarz inequality what gradients make sure of is at most the largest eigenvalue, noise or not."""
    X, y = alike(n=200, d=20, seed=seed)
    rows = integer_rows(X, y, row_norm=4.0, target_bounds=(0, 1))
    largest = float(np.linalg.eigvalsh(X.T @ X / len(X))[-1])
    curvature = 0.25 if isinstance(loss, LogisticLoss) else 1.0
    for budget in (NOISELESS, Zcdp(rho=10), Zcdp(rho="0.1")):
        plan = planned(
            rows, loss=loss, n_selected=20, step_size=300.0, divisor=200, selection=selection, budget=budget,
            shorten_steps=True,
        )  # fmt: skip
        factor = draw(plan, rows, seed).last_factor
        assert factor * 300.0 * curvature * largest > 0.999
        if budget is NOISELESS:
            assert factor < 0.7


def test_noise_alone_shortens_nothing():
    """Rows of zeros with a thousand columns: at three standard deviations the noise is not taken for a gradient."""
    rows = integer_rows(scipy.sparse.csr_array((2, 1000)), [1.0, 0.0], row_norm=1.0, target_bounds=(0, 1))
    plan = planned(rows, n_selected=1000, n_steps=1, step_size=1e-3, divisor=1.0, shorten_steps=True)
    assert draw(plan, rows).first_factor == 1.0


def test_off_it_is_what_it_was():
    """Bit for bit, and so it is on where no gradient asks for shorter steps."""
    digest = hashlib.sha256()
    for selection in ("all", *SELECTIONS, "coordinate"):
        for intercept in (0.0, 0.3):
            for loss in (LogisticLoss(), SquaredLoss(clip=0.7), PoissonLoss(clip=0.9)):
                rows = sparse_rows(intercept=intercept)
                found = draw(planned(rows, selection=selection, loss=loss), rows, 5)
                assert not found.settings.shorten_steps
                assert found.first_factor == found.last_factor == 1.0
                digest.update(found.theta.tobytes())
                if selection in SELECTIONS:
                    on = draw(planned(rows, selection=selection, loss=loss, step_size=1.0, shorten_steps=True), rows, 5)
                    off = draw(planned(rows, selection=selection, loss=loss, step_size=1.0), rows, 5)
                    assert on.last_factor == 1.0
                    assert on.theta.tobytes() == off.theta.tobytes()
    assert digest.hexdigest() == BEFORE


@pytest.mark.parametrize("selection", SELECTIONS)
def test_the_event_and_the_work_stay(selection, monkeypatch):
    """The same noise, price and number of looks at the rows."""
    X, y = alike()
    rows = integer_rows(X, y, row_norm=2.0, target_bounds=(0, 1))
    looks, whole = [], steps.private_gradient
    monkeypatch.setattr(steps, "private_gradient", lambda *given: looks.append(1) or whole(*given))
    events = []
    for on in (False, True):
        plan = planned(rows, selection=selection, step_size=80.0, n_steps=7, budget=STRONG, shorten_steps=on)
        looks.clear()
        assert (draw(plan, rows).last_factor < 1) == on
        assert len(looks) == 7
        events.append(repr(plan.event))
    assert events[0] == events[1]


@pytest.mark.parametrize("selection", SELECTIONS)
def test_shortened_steps_are_bit_identical_for_any_order_and_layout(selection):
    """Permuted rows, dense or sparse, with the same coins: the same digits."""
    X, y = alike()
    options = {"row_norm": 1.0, "entry_bound": 0.5, "target_bounds": (0, 1)}
    rows = integer_rows(X, y, **options)
    plan = planned(rows, selection=selection, step_size=80.0, budget=STRONG, noise_floor=0.5, shorten_steps=True)
    expected = draw(plan, rows)
    assert expected.first_factor < 1
    order = np.random.default_rng(4).permutation(60)
    for moved in (X[order], scipy.sparse.csr_array(X[order]), np.asfortranarray(X[order])):
        found = draw(plan, integer_rows(moved, y[order], **options))
        np.testing.assert_array_equal(found.theta, expected.theta)
        assert (found.first_factor, found.last_factor) == (expected.first_factor, expected.last_factor)


def test_a_scale_of_columns_is_part_of_the_steepness():
    """Columns of a tenth of the size with a hundred times the step are as steep."""
    X, y = alike()
    found = []
    for size in (1.0, 0.5):
        rows = integer_rows(X * size, y, row_norm=2.0, target_bounds=(0, 1))
        plan = planned(
            rows, loss=SquaredLoss(clip=0.4), n_selected=12, step_size=80.0, budget=NOISELESS, shorten_steps=True,
            column_scale=np.full(12, size**-2.0),
        )  # fmt: skip
        found.append(draw(plan, rows).first_factor)
    assert found[0] == pytest.approx(found[1], rel=1e-3)


def test_the_factor_can_but_fall():
    """A small gradient after a large one changes nothing; the first factor stays."""
    rows = integer_rows(np.eye(3), [1.0, 0.0, 1.0], row_norm=1.0, target_bounds=(0, 1))
    loss = SquaredLoss(clip=1.0)
    settings = planned(rows, n_selected=3, divisor=3, step_size=60.0, loss=loss, shorten_steps=True).settings
    steepness, unit, factors = Steepness(settings), 3 * RESIDUAL_BOUND / rows.grid.unit, []
    for size in (0.25, 0.5, 0.1):
        steepness.see(np.array([size * unit, 0.0, 0.0]), 0.0, RESIDUAL_BOUND)
        factors.append(steepness.factor)
    assert factors == pytest.approx([1 / (60 * 0.25**2), 1 / 15, 1 / 15])
    assert steepness.first_factor == factors[0]
    np.testing.assert_allclose(steepness.factors, settings.factors * factors[-1])


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("adjacency", [Replace(), AddRemove()])
def test_nothing_raises_or_warns_however_steep_the_rows_look(selection, adjacency):
    """No rows, huge steps, huge targets and divisors far off: numbers that are finite, and silence."""
    X, y = np.eye(3) * 1e300, np.array([1e300, -1e300, 0.0])
    for n in (0, 3):
        rows = integer_rows(X[:n], y[:n], row_norm=1e50, target_bounds=(-1e300, 1e300), intercept=1e50)
        for loss in (SquaredLoss(clip=1e60), PoissonLoss(clip=1e100), PoissonLoss(clip=1e-100)):
            for step_size, divisor in ((1e60, 1e-60), (1e-60, 1e60), (1e60, 1e60)):
                plan = planned(
                    rows, loss=loss, selection=selection, n_selected=2, n_steps=6, step_size=step_size, divisor=divisor,
                    adjacency=adjacency, shorten_steps=True,
                )  # fmt: skip
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    found = draw(plan, rows)
                assert np.isfinite(found.theta).all()
                assert 0 < found.last_factor <= found.first_factor <= 1
                assert math.isfinite(found.last_move)


@pytest.mark.parametrize("selection", ["all", "coordinate"])
def test_other_selections_refuse_it(selection):
    """It is for steps that keep some of all columns."""
    with pytest.raises(InvalidArgument, match="`shorten_steps`"):
        planned(sparse_rows(), selection=selection, shorten_steps=True)
