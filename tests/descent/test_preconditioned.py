"""Preconditioned descent finds what it should, costs what it says, and shows nothing else."""

import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, PoissonRegressor

from descent.in_blocks import InBlocks
from descent.whitened_tables import Blocks, small_layout
from discreet.descent.preconditioned.links import link_of
from discreet.descent.preconditioned.plan import PreconditionedFit, Settings, preconditioned_plan
from discreet.descent.preconditioned.whitened_steps import count_std, entry_std, tail_weights
from discreet.errors import BudgetExceeded, IncompatiblePlan, InvalidArgument, InvalidData
from discreet.lattice.bounds import Box, Interval
from discreet.privacy.accounting import gaussian_mu
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.coins import Coins
from discreet.privacy.events.event import event_from_json
from discreet.privacy.ledger import Ledger
from discreet.privacy.release import release
from discreet.tables.array_rows import ArrayRows, array_layout

NAMES = ("a", "b", "c")
BOX = Box(lower=[-1, 0, 10], upper=[1, 4, 20])
SLOPES = np.array([1.0, -0.5, 0.2])
HUGE = Gdp(mu=10**6)


def settings(**changes):
    fields = {"n_rows": 4000, "gram_share": 0.15, "clip": 50.0, "n_steps": 30, "step_size": 0.9}
    return Settings(**(fields | changes))


def table(loss, n=4000, seed=0, *, intercept=True):
    """Return features, a target, its bounds, and scikit-learn's or least squares' parameters."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(-1, 1, n), rng.uniform(0, 4, n), rng.uniform(10, 20, n)])
    margins = X @ SLOPES - 3.0 * intercept
    if loss == "squared":
        y = np.clip(margins + rng.normal(size=n) / 2, -8, 8)
        A = np.column_stack([np.ones(n), X]) if intercept else X
        best = np.linalg.lstsq(A, y, rcond=None)[0]
        return X, y, Interval(-8, 8), best if intercept else np.concatenate([[0.0], best])
    if loss == "logistic":
        y = (rng.uniform(size=n) < 1 / (1 + np.exp(-margins))).astype(float)
        model = LogisticRegression(C=1e8, tol=1e-8, max_iter=5000, fit_intercept=intercept).fit(X, y)
        return X, y, Interval(0, 1), np.concatenate([np.ravel(model.intercept_), model.coef_[0]])
    y = np.minimum(rng.poisson(np.exp(margins)), 20).astype(float)
    model = PoissonRegressor(alpha=0, tol=1e-9, max_iter=5000, fit_intercept=intercept).fit(X, y)
    return X, y, Interval(0, 20), np.concatenate([[model.intercept_], model.coef_])


def fit(X, y, bounds, loss, *, budget=HUGE, adjacency=None, seed=1, intercept=True, given=None):
    layout = array_layout(NAMES, BOX, bounds, intercept=intercept)
    neighbors = Replace() if adjacency is None else adjacency
    plan = preconditioned_plan(
        layout, loss, budget=budget, adjacency=neighbors, settings=settings() if given is None else given
    )
    ledger = Ledger(total=budget, adjacency=neighbors, coins=Coins.from_seed(seed))
    return release(plan, ArrayRows(X, y, NAMES), ledger)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    ("loss", "steps"),
    [("squared", {}), ("logistic", {"step_size": 4.0, "n_steps": 60}), ("poisson", {"n_steps": 300, "step_size": 0.4})],
)
def test_without_noise_or_clip_it_finds_the_minimizer(loss, steps, intercept):
    """Least squares, and scikit-learn's unpenalized maximum likelihood, in the user's units."""
    X, y, bounds, best = table(loss, n=1500, intercept=intercept)
    value = fit(X, y, bounds, loss, intercept=intercept, given=settings(n_rows=1500, average_from=0.9, **steps)).value
    np.testing.assert_allclose(np.concatenate([[value.intercept], value.coef]), best, atol=0.02)
    assert isinstance(value, PreconditionedFit)
    assert (value.intercept == 0.0) == (not intercept)


@pytest.mark.parametrize("budget", [Gdp(mu="1/2"), Zcdp(rho="1/8"), Approx(epsilon=2, delta="1e-6"), Pure(epsilon=3)])
@pytest.mark.parametrize("adjacency", [Replace(), AddRemove()], ids=repr)
@pytest.mark.parametrize("count_share", [0, "1/20"])
@pytest.mark.parametrize("growth", [1, "5/4"])
def test_the_price_is_the_budget(budget, adjacency, count_share, growth):
    """Exactly, part by part: shares of mu squared, or of epsilon, and steps each of which costs more than the last."""
    layout = small_layout(4, intercept=True, bits=16)
    plan = preconditioned_plan(
        layout, "squared", budget=budget, adjacency=adjacency,
        settings=settings(count_share=count_share, clip_target=40, n_steps=7, step_growth=growth),
    )  # fmt: skip
    event = plan.event
    whole = {
        "Gdp": lambda: budget.mu_squared, "Zcdp": lambda: 2 * budget.rho, "Pure": lambda: budget.epsilon,
        "Approx": lambda: gaussian_mu(epsilon=2, delta=Fraction(1, 10**6)) ** 2,
    }[type(budget).__name__]()  # fmt: skip
    assert event.price == (Pure(epsilon=whole) if isinstance(budget, Pure) else Gdp.from_squared(whole))
    share = Fraction(count_share)
    assert event.of_gram == Fraction(3, 20) * whole
    assert 7 * event.of_count == share * whole
    in_all = sum(Fraction(growth) ** step for step in range(7))
    assert in_all * event.of_step == (Fraction(17, 20) - share) * whole
    # The closed form of the page, once more by hand.
    c = 2 if isinstance(adjacency, Replace) else 1
    if isinstance(budget, Pure):
        by_hand = c * layout.row_norm_squared * event.gram_noise
        by_hand += sum(c * event.clip * event.noise_of(step) for step in range(7))
    else:
        by_hand = Fraction(layout.sensitivity("frobenius_squared", adjacency)) / event.gram_noise
        by_hand += sum(Fraction((c * event.clip) ** 2) / event.noise_of(step) for step in range(7))
    assert by_hand == (1 - share) * whole
    assert event_from_json(event.to_json()) == event


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
@pytest.mark.parametrize("budget", [Gdp(mu=1), Pure(epsilon=5)], ids=repr)
def test_order_blocks_and_layout_change_no_bit(loss, budget):
    """The same coins give the same release for every order of the rows, block size and memory layout."""
    X, y, bounds, _ = table(loss, n=1500)
    given = settings(n_rows=1500, n_steps=5, clip=2.0, count_share=0.05, clip_target=30)
    expected = fit(X, y, bounds, loss, budget=budget, given=given).value
    order = np.random.default_rng(3).permutation(1500)
    layout = array_layout(NAMES, BOX, bounds, intercept=True)
    plan = preconditioned_plan(layout, loss, budget=budget, adjacency=Replace(), settings=given)
    for block_rows in (1, 64, 8192):
        moved = ArrayRows(np.asfortranarray(X[order]), y[order], NAMES)
        ledger = Ledger(total=budget, adjacency=Replace(), coins=Coins.from_seed(1))
        found = release(plan, InBlocks(moved, block_rows), ledger).value
        assert found.coef.tobytes() == expected.coef.tobytes()
        assert (found.intercept, found.clips) == (expected.intercept, expected.clips)
        assert found.gram.tobytes() == expected.gram.tobytes()


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
@pytest.mark.parametrize("budget", [Gdp(mu="1/100"), Pure(epsilon="1/50"), Gdp(mu=1000)], ids=repr)
def test_no_rows_at_all_are_an_ordinary_table(loss, budget):
    """Under AddRemove: the release is noise, and nothing raises or warns."""
    bounds = Interval(0, 20)
    given = settings(n_rows=100, n_steps=3, count_share=0.05, clip_target=3)
    value = fit(np.empty((0, 3)), np.empty(0), bounds, loss, budget=budget, adjacency=AddRemove(), given=given).value
    assert np.isfinite(value.coef).all()
    assert np.isfinite(value.noise_covariance()).all()


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
@pytest.mark.parametrize("rows", ["equal", "extreme", "many"])
def test_no_rows_make_a_draw_raise_or_warn(loss, rows):
    """Rows all alike, or beyond their bounds, or far more than were expected; warnings are errors here."""
    X, y = {
        "equal": (np.full((50, 3), 0.5), np.full(50, 1.0)),
        "extreme": (np.resize([1e300, -1e300], (51, 3)), np.resize([1e308, -1e308], 51)),
        "many": (np.full((30_000, 3), 1e9), np.full(30_000, 1e9)),
    }[rows]
    for budget in (Gdp(mu=100), Pure(epsilon="1/10")):
        given = settings(n_rows=2, n_steps=12, step_size=1e6, clip=1e-6, count_share="1/10", clip_target=1)
        value = fit(X, y, Interval(0, 20), loss, budget=budget, adjacency=AddRemove(), given=given).value
        assert np.isfinite(value.coef).all()


@pytest.mark.parametrize("growth", [pytest.param(1, marks=pytest.mark.nightly), "3/2"])
def test_the_noise_of_the_result_is_the_stated_one(growth):
    """Over 400 seeds the errors have the public covariance, with power against a scale 10 % off."""
    X, y, bounds, _ = table("squared", n=400)
    given = settings(n_rows=400, n_steps=6, step_size=0.8, gram_share=0.9, clip=20.0, step_growth=growth)
    layout = array_layout(NAMES, BOX, bounds, intercept=True)
    for budget in (Gdp(mu=40), Pure(epsilon=400)):
        plan = preconditioned_plan(layout, "squared", budget=budget, adjacency=Replace(), settings=given)
        measured = plan.measure(ArrayRows(X, y, NAMES))
        fits = [plan.draw(measured, Coins.from_seed(seed)) for seed in range(400)]
        found = np.array([[f.intercept, *f.coef] for f in fits])
        root = np.linalg.cholesky(np.mean([f.noise_covariance() for f in fits], axis=0))
        spread = np.cov(np.linalg.solve(root, (found - found.mean(axis=0)).T))
        # A variance of 400 draws errs by 7 %, the mean of four by 4 %.
        assert np.abs(spread - np.eye(4)).max() < 0.3
        assert only_right(np.trace(spread) / 4, 0.1)


def only_right(variance, tolerance):
    """Return whether a variance is 1 within the tolerance, and would not be with a scale 10 % off."""
    return abs(variance - 1) < tolerance < min(abs(variance / 1.1**2 - 1), abs(variance / 0.9**2 - 1))


@pytest.mark.parametrize(
    ("budget", "adjacency"), [(Gdp(mu=1), Replace()), (Gdp(mu=1), AddRemove()), (Pure(epsilon=1), Replace())], ids=repr
)
def test_a_steps_noise_has_the_stated_scale(budget, adjacency):
    """One step from zero over no rows shows the noise itself: 600 seeds, with power against a scale 10 % off."""
    layout = small_layout(2, intercept=False, bits=16)
    given = settings(n_rows=1, n_steps=1, step_size=1.0, gram_share="1/2", clip=1.0)
    plan = preconditioned_plan(layout, "squared", budget=budget, adjacency=adjacency, settings=given)
    measured = plan.measure(Blocks([], 3))
    values = [plan.draw(measured, Coins.from_seed(seed)) for seed in range(600)]
    moved = [np.linalg.solve(value.whitener.matrix, value.coef) / value.step_stds[0] for value in values]
    c = 2 if isinstance(adjacency, Replace) else 1
    expected = c * math.sqrt(2) if isinstance(budget, Gdp) else c * 2 * math.sqrt(3)
    assert values[0].step_stds[0] == pytest.approx(expected)
    # 1,200 numbers: their mean square errs by 4 %.
    assert only_right(float(np.mean(np.square(moved))), 0.09)


@pytest.mark.parametrize("budget", [Gdp(mu=1), Pure(epsilon=1)], ids=repr)
def test_a_later_steps_noise_is_smaller_by_the_growth(budget):
    """Over no rows, averaging from the last step on with a whole step size, the last step's noise is all there is."""
    layout = small_layout(2, intercept=False, bits=16)
    given = settings(
        n_rows=1, n_steps=3, step_size=1.0, gram_share="1/2", clip=1.0, step_growth="3/2", average_from=1.0
    )
    plan = preconditioned_plan(layout, "squared", budget=budget, adjacency=Replace(), settings=given)
    assert entry_std(plan.event, 2) == pytest.approx(entry_std(plan.event) / (1.5 if isinstance(budget, Gdp) else 2.25))
    measured = plan.measure(Blocks([], 3))
    values = [plan.draw(measured, Coins.from_seed(seed)) for seed in range(600)]
    # Nothing pulls an iterate back: the noise of all steps adds up.
    expected = math.sqrt(sum(std**2 for std in values[0].step_stds))
    moved = [np.linalg.solve(value.whitener.matrix, value.coef) / expected for value in values]
    assert only_right(float(np.mean(np.square(moved))), 0.09)


def test_iterates_count_by_what_their_noise_leaves():
    """In proportion to one over the variance of their step, from the tail's first on, 1 in all."""
    layout = small_layout(2, intercept=False, bits=16)
    given = settings(n_steps=4, step_growth=2, average_from=0.5)
    for budget, ratio in ((Gdp(mu=1), 2.0), (Pure(epsilon=1), 4.0)):
        event = preconditioned_plan(layout, "squared", budget=budget, adjacency=Replace(), settings=given).event
        weights = tail_weights(event, given.first_averaged)
        np.testing.assert_allclose(weights, np.array([0, 0, 1, ratio]) / (1 + ratio))


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_warm_start_is_the_gram_matrixs_own_solution(loss):
    """With no step to speak of, least squares of the release in the user's units; twice that for log odds."""
    X, y, bounds, best = table(loss)
    given = settings(n_steps=1, step_size=1e-9, warm_start=True)
    value = fit(X, y, bounds, loss, given=given).value
    found = np.concatenate([[value.intercept], value.coef])
    A = np.column_stack([np.ones(len(X)), X])
    target = y if loss == "squared" else 2 * y - 1
    plain = np.linalg.lstsq(A, target, rcond=None)[0] * (1 if loss == "squared" else 2)
    np.testing.assert_allclose(found, plain, atol=0.02)
    cold = fit(X, y, bounds, loss, given=settings(n_steps=1, step_size=1e-9)).value
    assert np.abs(cold.coef).max() < 1e-3 < np.abs(best[1:]).max()


def test_a_warm_start_over_noise_alone_is_finite():
    """No rows at all, and a Gram matrix that is noise with negative eigenvalues."""
    for loss in ("squared", "logistic", "poisson"):
        given = settings(n_rows=100, n_steps=2, warm_start=True)
        value = fit(
            np.empty((0, 3)), np.empty(0), Interval(0, 20), loss, budget=Pure(epsilon="1/50"), adjacency=AddRemove(),
            given=given,
        ).value  # fmt: skip
        assert np.isfinite(value.coef).all()


def test_counts_start_below_a_mean_that_the_noise_hides():
    """Steps are divided by twice the noise's deviation, and the start is at half of it; a mean that is read is both."""
    layout = array_layout(NAMES, BOX, Interval(0, 20), intercept=True)
    gram = np.eye(5) * 1000.0
    for read, mean, start in ((-0.5, 0.1, 0.025), (0.05, 0.1, 0.05), (0.3, 0.3, 0.3)):
        gram[0, -1] = gram[-1, 0] = 1000 * (2 * read - 1)
        link, over = link_of(layout, "poisson", gram, entry_std=100.0, n_rows=1000)
        margins = np.zeros(1)
        link.means(margins, np.empty(1, np.intp))
        np.testing.assert_allclose([over, margins[0]], [mean, start], rtol=1e-12)


def test_the_clip_follows_the_counts_to_its_target():
    """From a clip far too small or far too large, to about the wanted share of clipped rows."""
    X, y, bounds, _ = table("squared")
    for start in (0.01, 30.0):
        given = settings(clip=start, count_share=0.05, clip_target=200, n_steps=60, clip_gain=1.0)
        value = fit(X, y, bounds, "squared", budget=Gdp(mu=20), given=given).value
        assert value.clips[0] == start
        theta = np.concatenate([[value.intercept], value.coef])
        A = np.column_stack([np.ones(len(X)), X])
        residuals = (A @ theta - y) / 8
        v = _grid_rows(value, X) @ value.whitener.matrix
        share = np.mean(np.abs(residuals) * np.linalg.norm(v, axis=1) > value.clips[-1])
        assert share == pytest.approx(0.05, abs=0.02)
    fixed = fit(X, y, bounds, "squared", budget=Gdp(mu=20), given=settings(clip=0.3)).value
    assert set(fixed.clips) == {0.3}


def _grid_rows(value, X):
    codes = [coding.encode(X[:, j]) / 2.0**16 for j, coding in enumerate(value.layout.codings[:-1])]
    return np.column_stack([np.ones(len(X)), *codes])


def test_the_release_follows_the_stated_algorithm():
    """Without noise to speak of, step by step in floats with the released whitener: the same to six digits."""
    X, y, bounds, _ = table("logistic", n=800)
    given = settings(n_rows=800, n_steps=5, step_size=3.0, clip=0.7)
    value = fit(X, y, bounds, "logistic", budget=Gdp(mu=10**7), given=given).value
    Z = _grid_rows(value, X) @ value.whitener.matrix
    norms, v, total = np.linalg.norm(Z, axis=1), np.zeros(4), np.zeros(4)
    for step in range(5):
        r = 1 / (1 + np.exp(-Z @ v)) - y
        r *= np.minimum(1, 0.7 / np.maximum(np.abs(r) * norms, 1e-300))
        v = v - 3.0 * Z.T @ r / 800
        total += v * (step >= 3)
    w = value.whitener.matrix @ total / 2
    coded = np.linalg.solve(value.layout.user_coding()[:-1, :-1].T, w)
    np.testing.assert_allclose([value.intercept, *value.coef], coded, atol=2e-3)


def test_a_missing_cell_spends_nothing():
    """It is named before the charge; and a refused charge draws nothing."""
    X, y, bounds, _ = table("squared", n=100)
    layout = array_layout(NAMES, BOX, bounds, intercept=True)
    plan = preconditioned_plan(layout, "squared", budget=Gdp(mu=1), adjacency=Replace(), settings=settings())
    ledger = Ledger(total=Gdp(mu=1), adjacency=Replace())
    spoiled = X.copy()
    spoiled[7, 1] = np.nan
    with pytest.raises(InvalidData, match="Column 'b'"):
        release(plan, ArrayRows(spoiled, y, NAMES), ledger)
    assert ledger.entries == ()
    release(plan, ArrayRows(X, y, NAMES), ledger)
    with pytest.raises(BudgetExceeded):
        release(plan, ArrayRows(X, y, NAMES), ledger)


def test_a_measured_table_is_not_changed_by_a_draw():
    """Two draws with equal coins are equal, and the value holds nothing that is as long as the table."""
    X, y, bounds, _ = table("logistic", n=999)
    layout = array_layout(NAMES, BOX, bounds, intercept=True)
    plan = preconditioned_plan(layout, "logistic", budget=Gdp(mu=1), adjacency=Replace(), settings=settings(n_rows=999))
    measured = plan.measure(ArrayRows(X, y, NAMES))
    one, two = (plan.draw(measured, Coins.from_seed(5)) for _ in range(2))
    assert one.coef.tobytes() == two.coef.tobytes()
    arrays = [one.coef, one.gram, *(v for v in vars(one.whitener).values() if isinstance(v, np.ndarray))]
    assert all(999 not in array.shape for array in arrays)
    assert "999" not in repr(measured)


@pytest.mark.parametrize(
    ("field", "bad"),
    [("n_rows", 0), ("n_rows", 2**33), ("n_rows", 1.5), ("gram_share", 0), ("gram_share", float("nan")),
     ("gram_share", 1), ("count_share", -0.1), ("count_share", 0.9), ("clip", 0.0), ("clip", float("inf")),
     ("n_steps", 0), ("n_steps", 10**5), ("step_size", -1.0), ("step_size", "1"), ("clip_target", -1.0),
     ("clip_gain", 11.0), ("average_from", 1.5), ("average_from", float("nan")),
     ("step_growth", 0), ("step_growth", 2), ("step_growth", float("nan"))],
)  # fmt: skip
def test_bad_settings_are_named(field, bad):
    """Each by its own name."""
    with pytest.raises(InvalidArgument, match=f"`{field}`"):
        settings(**{field: bad})


def test_counts_need_a_target():
    """A clip that follows nothing would be a silent choice."""
    with pytest.raises(InvalidArgument, match="`clip_target`"):
        settings(count_share=0.05)


def test_plans_that_cannot_be_are_refused():
    """By name, before any charge."""
    layout = small_layout(3, intercept=True, bits=16)

    def plan(loss="squared", budget=None, given=None):
        return preconditioned_plan(
            layout, loss, budget=budget or Gdp(mu=1), adjacency=Replace(), settings=given or settings()
        )

    with pytest.raises(IncompatiblePlan, match="delta above 0"):
        plan(budget=Approx(epsilon=1, delta=0))
    with pytest.raises(IncompatiblePlan, match="begin at 0"):
        plan("poisson")
    with pytest.raises(InvalidArgument, match="`loss`"):
        plan("hinge")
    with pytest.raises(InvalidArgument, match="`settings`"):
        plan(given=3)
    for budget in (Gdp(mu="1e-30"), Pure(epsilon="1e-30")):
        with pytest.raises(InvalidArgument, match="too small, or too large"):
            plan(budget=budget)
    assert "1 step " in plan(given=settings(n_steps=1)).event.statistic


def test_the_tail_has_at_least_one_iterate():
    """However late it begins."""
    assert settings(average_from=1.0, n_steps=3).first_averaged == 2
    assert settings(average_from=0.5, n_steps=25).first_averaged == 13
    assert settings(average_from=0.0, n_steps=25).first_averaged == 0


def test_noise_scales_are_public_functions_of_the_event():
    """Gaussian: roots of variances; pure: those of the l2 and Laplace laws."""
    layout = small_layout(3, intercept=True, bits=16)
    given = settings(n_steps=4, count_share="1/10", clip_target=5)
    gaussian = preconditioned_plan(layout, "squared", budget=Gdp(mu=1), adjacency=Replace(), settings=given).event
    assert entry_std(gaussian) == pytest.approx(2 * 2**38 * math.sqrt(4 / 0.75))
    assert count_std(gaussian) == pytest.approx(math.sqrt(40))
    pure = preconditioned_plan(layout, "squared", budget=Pure(epsilon=1), adjacency=Replace(), settings=given).event
    assert entry_std(pure) == pytest.approx(2 * 2**38 * 4 / 0.75 * 2)
    assert count_std(pure) == pytest.approx(math.sqrt(2) * 40)
