"""Quantile regression on a grid: sums and sensitivities by brute force, the exact law, and the estimator."""

import itertools
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
import sklearn
import sklearn.exceptions
from sklearn.utils.estimator_checks import check_estimator

import discreet as dp
from discreet.errors import AdjacencyMismatch, IncompatiblePlan, InvalidArgument, InvalidData, InvalidType
from discreet.estimators.methods.declared import BoundedColumns
from discreet.estimators.quantile import KNormGradientQuantileRegression
from discreet.privacy.coins import Coins
from discreet.sampling.k_norm.model_rows import LayoutRows
from discreet.sampling.quantiles.quantile_regression import GridSums, QuantileRegressionTarget, default_points
from discreet.tables.array_rows import ArrayRows, array_layout
from discreet.tables.arrays import check_new_rows
from public_state import beside_the_release

# Draws of the right law fall below ALPHA once in a thousand seeds, and the seeds are fixed.
ALPHA = 1e-3
NAMES = ("a", "b", "c")
LOW, HIGH = -2.0, 10.0


def target(width, *, intercept=True, q="1/3", per_side=5, adjacency=None, bits=16):
    box = dp.Box(lower=[LOW] * width, upper=[HIGH] * width)
    layout = array_layout(NAMES[:width], box, dp.Interval(0, 5), intercept=intercept, bits=bits)
    return QuantileRegressionTarget(
        reader=LayoutRows(layout=layout, labels=False),
        q=q,
        coef_bound="1.3",
        per_side=per_side,
        adjacency=dp.Replace() if adjacency is None else adjacency,
    )


def rows(seed, n=40, width=1):
    rng = np.random.default_rng(seed)
    X, y = rng.uniform(LOW - 1, HIGH, (n, width)), rng.uniform(0, 5, n)
    X[:3] = 0.0  # entries that are exactly 0 without an intercept
    return ArrayRows(X, y, NAMES[:width])


def grid_of(made):
    """Return all coefficients in the order of the sums, as whole numbers of 2**-20."""
    half, steps = made.per_side // 2, made.steps()
    for rest in itertools.product(range(-half, half + 1), repeat=made.dimension - 1):
        for lead in range(-half, half + 1):
            yield [lead * steps[0], *[place * step for place, step in zip(rest, steps[1:], strict=True)]]


@pytest.mark.parametrize(("intercept", "width"), [(True, 1), (True, 2), (False, 1), (False, 2), (False, 3)])
def test_sums_along_lines_are_those_of_whole_rows(intercept, width):
    """At every grid point the rows at or below the plane are summed exactly, also where entries are 0 or negative."""
    made = target(width, intercept=intercept)
    prepared = made.prepare(rows(1, width=width))
    sums = GridSums(made, prepared)
    codes, y = (np.ldexp(cells, 16).astype(np.int64) for cells in (prepared.private_matrix, prepared.private_y))
    scores = sums.scores(0.5)
    for index, theta in enumerate(grid_of(made)):
        below = y * 2**20 <= codes @ np.array(theta)
        np.testing.assert_array_equal(sums.sums[:, index], (codes * below[:, None]).sum(axis=0))
        low, high = sums.limits(Fraction(1, 2), index, 0)
        assert low == high
        assert abs(float(low) - scores[index]) <= 2.0**-49 * 20
    assert index + 1 == made.n_candidates


@pytest.mark.parametrize("adjacency", [dp.Replace(), dp.AddRemove()])
@pytest.mark.parametrize("q", ["1/2", "1/5"])
@pytest.mark.parametrize("intercept", [True, False])
def test_no_utility_changes_by_more_than_one(adjacency, q, intercept):
    """Over records at the corners of their bounds a utility changes by at most 1, and by nearly as much."""
    made, worst = target(1, intercept=intercept, q=q, adjacency=adjacency, bits=6), Fraction(0)
    records = list(itertools.product((LOW, 0.0, HIGH), (0.0, 5.0)))

    def utilities(data):
        X, y = np.array([[x] for x, _ in data]), np.array([target_ for _, target_ in data])
        sums = GridSums(made, made.prepare(ArrayRows(X, y, NAMES[:1])))
        return [sums.limits(Fraction(1), index, 0)[0] for index in range(made.n_candidates)]

    for base in itertools.combinations_with_replacement(records, 2):
        before = utilities(base)
        for new in records:
            after = utilities((base[0], new) if isinstance(adjacency, dp.Replace) else (*base, new))
            worst = max([worst, *(abs(a - b) for a, b in zip(before, after, strict=True))])
    assert worst <= 1
    assert worst >= Fraction(3, 4)


def test_choices_have_the_exact_law():
    """Grid points are chosen in proportion to exp(scale * utility): chi-square; a scale 10 % off fails."""
    made, n = target(1, per_side=3, q="1/2"), 40_000
    prepared = made.prepare(rows(2, n=9))
    points = made.choose(prepared, Fraction(3, 2), Coins.from_seed(1), n)
    sums = GridSums(made, prepared)
    found = [tuple(np.rint(point * 2**20).astype(int).tolist()) for point in points]
    counts = np.array([found.count(tuple(theta)) for theta in grid_of(made)])
    assert counts.sum() == n
    for scale, fits in ((1.5, True), (1.65, False)):
        law = np.exp([scale * float(sums.limits(Fraction(1), index, 0)[0]) for index in range(9)])
        assert (scipy.stats.chisquare(counts, law / law.sum() * n).pvalue > ALPHA) == fits


@pytest.mark.parametrize("n", [0, 1, 50])
def test_the_number_of_words_is_public(n):
    """Two words a grid point, whatever the rows and their number."""
    made = target(1)
    expected = Coins.from_seed(2).words(2 * made.n_candidates + 1)[-1]
    coins = Coins.from_seed(2)
    made.choose(made.prepare(rows(3, n=n)), Fraction(1, 2), coins, 1)
    assert coins.words(1)[0] == expected


def table(n=4_000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, (n, 1))
    return X, 1 + 0.3 * X[:, 0] + rng.exponential(size=n)


def model(**changes):
    declared = {"x_bounds": dp.Box(lower=0, upper=10), "y_bounds": dp.Interval(0, 10)}
    return KNormGradientQuantileRegression(
        **({"budget": dp.Pure(epsilon=1), "adjacency": dp.Replace()} | declared | changes)
    )


@pytest.mark.parametrize("q", [0.1, "1/2", 0.9])
def test_a_fit_covers_its_share(q):
    """Of 4,000 rows the fitted line has about its share below it, and the slope is near the truth."""
    X, y = table()
    ledger = dp.Ledger(total=dp.Pure(epsilon=1), adjacency=dp.Replace(), coins=Coins.from_seed(3))
    fitted = model(quantile=q).fit(X, y, ledger=ledger)
    assert np.mean(y <= fitted.predict(X)) == pytest.approx(float(Fraction(q)), abs=0.02)
    assert fitted.coef_[0] == pytest.approx(0.3, abs=0.05)
    assert fitted.grid_points_ == 1023
    assert len(ledger.entries) == 1
    assert ledger.spent == dp.Pure(epsilon=1)


def test_three_coefficients_and_none_but_slopes_are_fitted():
    """Two columns and an intercept, and three columns without one, under AddRemove too."""
    rng = np.random.default_rng(4)
    X = rng.uniform(0, 1, (3_000, 3))
    y = X @ [0.5, 0.2, 0.1] + 0.05 * rng.normal(size=3_000)
    bounds = {"x_bounds": dp.Box(lower=0, upper=1), "y_bounds": dp.Interval(0, 1), "grid_points": 41}
    for adjacency in (dp.Replace(), dp.AddRemove()):
        two = model(adjacency=adjacency, **bounds).fit(X[:, :2], y)
        assert two.coef_.shape == (2,)
        three = model(adjacency=adjacency, fit_intercept=False, **bounds).fit(X, y)
        assert three.intercept_ == 0.0
        np.testing.assert_allclose(three.coef_, [0.5, 0.2, 0.1], atol=0.15)


def test_frames_are_read_through_a_schema():
    """Bounds, levels and policies come from the schema; a dropped record contributes nothing; rows predict by name."""
    import pandas as pd

    schema = dp.Schema({"age": dp.Number(0, 10, missing="drop"), "sex": dp.Category(["f", "m"]), "y": dp.Number(0, 10)})
    X, y = table(2_000)
    frame = pd.DataFrame({"age": X[:, 0], "sex": np.where(np.arange(2_000) % 2, "m", "f")})
    frame.loc[5, "age"] = np.nan
    fitted = model(x_bounds=None, y_bounds=None, schema=schema, grid_points=41).fit(frame, pd.Series(y, name="y"))
    assert fitted.coef_names_.tolist() == ["age", "sex[m]"]
    predicted = fitted.predict(frame)
    assert np.isnan(predicted[5])
    assert np.isfinite(np.delete(predicted, 5)).all()
    with pytest.raises(InvalidArgument, match="not both"):
        model(schema=schema).fit(frame, pd.Series(y, name="y"))


BAD = [
    ({"quantile": 1}, InvalidArgument, "`quantile`"),
    ({"x_bounds": None}, InvalidType, "`x_bounds`"),
    ({"y_bounds": None}, InvalidType, "`y_bounds`"),
    ({"y_bounds": (0, 1)}, InvalidType, "`y_bounds`"),
    ({"coef_bound": 0}, InvalidArgument, "`coef_bound`"),
    ({"coef_bound": 1001}, InvalidArgument, "`coef_bound`"),
    ({"grid_points": 10}, InvalidArgument, "odd"),
    ({"grid_points": 1}, InvalidArgument, "`grid_points`"),
    ({"grid_points": 1025}, InvalidArgument, "`grid_points`"),
    ({"grid_points": 10_000_001}, IncompatiblePlan, "expected work"),
    ({"budget": dp.Pure(epsilon="1e200")}, InvalidArgument, "epsilon"),
    ({"budget": 1}, InvalidType, "budget"),
    ({"adjacency": None}, InvalidType, "adjacency"),
]


@pytest.mark.parametrize(("changes", "kind", "text"), BAD, ids=lambda value: str(value)[:30])
def test_bad_declarations_are_refused_by_name(changes, kind, text):
    """Every refusal names its argument and charges nothing."""
    X, y = table(1_000)
    ledger = dp.Ledger(total=dp.Pure(epsilon=1), adjacency=dp.Replace())
    with pytest.raises(kind, match=text):
        model(**changes).fit(X, y, ledger=ledger)
    assert ledger.entries == ()


def test_too_many_columns_are_refused_with_the_expected_work():
    """Four coefficients have no grid; arguments of scikit-learn's own are refused with advice; so are missing cells."""
    X, y = table(50)
    ledger = dp.Ledger(total=dp.Pure(epsilon=1), adjacency=dp.Replace())
    with pytest.raises(IncompatiblePlan, match="expected work"):
        model().fit(np.hstack([X, X, X]), y, ledger=ledger)
    with pytest.raises(InvalidType, match="coef_bound"):
        model(alpha=1)
    with pytest.raises(InvalidData, match="missing"):
        model().fit(np.where(np.arange(50)[:, None] == 3, np.nan, X), y, ledger=ledger)
    with pytest.raises(AdjacencyMismatch, match="agree"):
        model(adjacency=dp.AddRemove()).fit(X, y, ledger=ledger)
    assert ledger.entries == ()
    with pytest.raises(InvalidArgument, match="4 dimensions"):
        target(3)
    with pytest.raises(IncompatiblePlan, match="Make them agree"):
        target(1).sensitivity(dp.AddRemove())


def test_default_grids_are_odd_and_bounded_in_work():
    """However many rows, points are odd and at least 17, and the work of a default is moderate."""
    for dimension, n_rows in itertools.product((1, 2, 3), (None, 0, 1, 999, 10**5, 10**8)):
        points = default_points(dimension, n_rows)
        assert points % 2 == 1
        assert points >= 17
        assert points**dimension <= 2**20


def test_what_a_fit_leaves_is_public():
    """Attributes of two fits on neighbours with equal coins differ in what was released alone."""
    X, y = table(300)
    states = []
    for last in (0.0, 10.0):
        target_ = y.copy()
        target_[-1] = last
        ledger = dp.Ledger(total=dp.Pure(epsilon=1), adjacency=dp.Replace(), coins=Coins.from_seed(5))
        fitted = model(grid_points=101).fit(X, target_, ledger=ledger)
        states.append((beside_the_release(fitted), fitted.release_.event))
    assert states[0] == states[1]


class Narrow(KNormGradientQuantileRegression):
    """Keeps the first column alone, so that scikit-learn's wider tables have a grid."""

    def _declare(self, asked, X, y):
        whole = super()._declare(asked, X, y)
        rows = whole.rows.private_rows
        kept = replace(rows, private_X=rows.private_X[:, :1], names=rows.names[:1])
        if not np.isfinite(rows.private_X).all():
            kept = replace(kept, private_X=np.full((rows.private_size(), 1), np.nan))
        layout = array_layout(kept.names, self.x_bounds, self.y_bounds, intercept=asked.intercept)
        return whole.changed(rows=BoundedColumns(layout, layout, kept))

    def predict(self, X):
        """Return predictions from the first column."""
        sklearn.utils.validation.check_is_fitted(self)
        return check_new_rows(self, X)[:, :1] @ self.coef_ + self.intercept_


# What no private estimator can pass, each with its reason.
INEVITABLE = {
    "check_fit_idempotent": "two fits are two releases, and equal grid points are chosen at random",
    "check_supervised_y_2d": "compares two fits on the same rows",
    "check_regressors_int": "compares two fits on the same rows",
    "check_regressor_data_not_an_array": "compares two fits on the same rows",
}


def test_scikit_learn_s_checks_pass():
    """But for those that compare two fits, every check of scikit-learn passes on tables that are narrow enough."""
    wide = {"x_bounds": dp.Box(lower=-100, upper=100), "y_bounds": dp.Interval(-1000, 1000), "grid_points": 33}
    estimator = Narrow(budget=dp.Pure(epsilon=10**6), adjacency=dp.Replace(), **wide)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.SkipTestWarning)
        warnings.simplefilter("ignore", sklearn.exceptions.EstimatorCheckFailedWarning)
        results = check_estimator(estimator, on_fail=None, expected_failed_checks=INEVITABLE)
    assert {one["check_name"]: one["exception"] for one in results if one["status"] == "failed"} == {}
    assert len(results) > 40
