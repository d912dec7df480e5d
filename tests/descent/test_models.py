"""What all estimators of the second pillar have in common: inputs of any kind, refusals, and what they keep."""

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import discreet as dp
from descent.estimators import (
    ALL,
    LARGE,
    LINEAR,
    LOGISTIC,
    frank_wolfe_linear,
    frank_wolfe_logistic,
    name_of,
    perturbed,
    seeded,
    sparse_linear,
    sparse_logistic,
    table,
    target_of,
    two_stage_linear,
)
from discreet.descent.losses import LogisticLoss
from discreet.descent.rivals.models import default_steps
from discreet.descent.step_models import column_scale
from discreet.errors import IncompatiblePlan, InvalidArgument, InvalidData, InvalidType
from discreet.estimators.sparse import INSTEAD
from discreet.lattice.row_grid import RowGrid
from public_state import beside_the_release

FORMATS = ["csr", "csc", "coo", "bsr", "dok", "lil"]
everyone = pytest.mark.parametrize("make", ALL, ids=name_of)
# Those whose sums over rows are all exact integers; the others minimize in doubles.
EXACT = [make for make in ALL if "two_stage" not in make.__name__ and make is not perturbed]


def fitted(make, X, y, **changes):
    model = make(**changes)
    return model.fit(X, y, ledger=seeded(model))


def flavours(X):
    """Yield one matrix in every flavour of scipy.sparse."""
    for form in FORMATS:
        for kind in (scipy.sparse.csr_matrix, scipy.sparse.csr_array):
            yield f"{form} {kind.__name__}", kind(X).asformat(form)
    wide = scipy.sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    yield "64-bit indices", wide
    coo = scipy.sparse.coo_array(X)
    again = np.tile(np.arange(coo.nnz), 2)
    yield "duplicates", scipy.sparse.coo_array((coo.data[again] / 2, (coo.row[again], coo.col[again])), shape=X.shape)
    stored = scipy.sparse.csr_array((np.append(coo.data, 0.0), (np.append(coo.row, 0), np.append(coo.col, 3))), X.shape)
    yield "a stored zero", stored
    yield "a frame of pandas", pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    yield "a frame of polars", pl.DataFrame(X, schema=[f"c{j}" for j in range(X.shape[1])])
    yield "column-major", np.asfortranarray(X)
    yield "a list", X.tolist()


@pytest.mark.parametrize("make", EXACT, ids=name_of)
def test_api_09_every_flavour_gives_bitwise_the_same_fit(make):
    """API-09: whatever X is, one test seed gives the same bits, and so do predictions up to rounding."""
    X, y, labels = table(d=7)
    X[0, 3] = 0.0
    target = target_of(make, y, labels)
    dense = fitted(make, X, target)
    for what, given in flavours(X):
        model = fitted(make, given, target)
        np.testing.assert_array_equal(model.coef_, dense.coef_, err_msg=what)
        np.testing.assert_array_equal(model.intercept_, dense.intercept_, err_msg=what)
        np.testing.assert_allclose(model.predict(given), dense.predict(X), rtol=1e-12, err_msg=what)


@pytest.mark.parametrize("make", [make for make in ALL if make not in EXACT], ids=name_of)
def test_api_09_minimizers_of_every_flavour_agree_to_their_stated_error(make):
    """API-09: a minimizer is found in doubles, so flavours agree up to the error that the event states."""
    X, y, labels = table(d=7)
    X[0, 3] = 0.0
    target = target_of(make, y, labels)
    dense = fitted(make, X, target)
    error = float(dense.release_.event.error)
    for what, given in flavours(X):
        model = fitted(make, given, target)
        np.testing.assert_allclose(model.coef_, dense.coef_, rtol=0, atol=2 * error, err_msg=what)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float16, np.float32, bool])
def test_api_12_api_13_narrow_types_are_never_summed_as_such(dtype):
    """API-12, API-13: the fit is bitwise that of the float64 copy, dense and sparse."""
    X = (np.random.default_rng(0).integers(0, 200, size=(400, 5)) % (2 if dtype is bool else 201)).astype(dtype)
    y = X[:, 0] / 100.0 - 1
    plain = fitted(sparse_linear, X.astype(np.float64), y, row_norm=300.0)
    for given in (X, scipy.sparse.csr_array(X if dtype is not np.float16 else X.astype(np.float32))):
        np.testing.assert_array_equal(fitted(sparse_linear, given, y, row_norm=300.0).coef_, plain.coef_)


def test_a_row_at_its_norm_rounds_alike_dense_and_sparse():
    """The sum of a row's squares is taken in one order, so a cell on the grid never moves by a unit."""
    rng = np.random.default_rng(0)
    X = np.full((500, 40), 0.125)
    X[:, 10:] = rng.normal(size=(500, 30))
    X[:, 10:] *= np.sqrt((1 - 10 * 0.125**2) / np.square(X[:, 10:]).sum(axis=1))[:, None]
    y = rng.normal(size=500)
    dense = fitted(sparse_linear, X, y, row_norm=1.0, budget=LARGE, sparsity=40)
    other = fitted(sparse_linear, scipy.sparse.csr_array(X), y, row_norm=1.0, budget=LARGE, sparsity=40)
    np.testing.assert_array_equal(dense.coef_, other.coef_)


@everyone
def test_a_fit_keeps_declarations_and_the_release_alone(make):
    """Neighbouring tables leave the same traces, no array has a row's length, and a pickle is small."""
    X, y, labels = table(n=2000)
    target = target_of(make, y, labels)
    model = fitted(make, X, target, **({} if make in LINEAR else {"classes": (0, 1)}))
    assert len(pickle.dumps(model)) < 12_000
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict(X), model.predict(X))
    X[0], target[0] = -X[0], 1 - target[0]
    other = fitted(make, X, target, **({} if make in LINEAR else {"classes": (0, 1)}))
    assert vars(model).keys() == vars(other).keys()
    assert beside_the_release(model) == beside_the_release(other)
    assert model.release_.event == other.release_.event


@everyone
def test_under_add_remove_no_number_of_rows_is_used_or_shown(make):
    """`expected_rows` divides; tables of 0, 1 and many rows have the same event and settings."""
    X, y, labels = table(n=311)
    target = target_of(make, y, labels)
    declared = {"adjacency": dp.AddRemove(), "expected_rows": 250}
    declared |= {} if make in LINEAR else {"classes": (0, 1)}
    models = [fitted(make, X[:n], target[:n], **declared) for n in (311, 1, 0)]
    assert len({repr(model.release_.event) for model in models}) == 1
    for model in models[1:]:
        assert beside_the_release(model) == beside_the_release(models[0])
    # Whole numbers, not digits: the noise may spell 311 within a longer number.
    assert "311" not in re.findall(r"\d+", repr(models[0].release_) + repr(vars(models[0])))
    with pytest.raises(InvalidType, match="expected_rows"):
        make(**(declared | {"expected_rows": None})).fit(X, target)
    with pytest.raises(InvalidArgument, match="expected_rows"):
        make(expected_rows=250).fit(X, target)


@pytest.mark.parametrize("sparsity", [0, -1, 9, 2**70])
@pytest.mark.parametrize("make", [make for make in ALL if "sparse" in name_of(make) or "two" in name_of(make)])
def test_api_18_an_impossible_sparsity_is_refused_with_both_numbers(make, sparsity):
    """API-18: the message names the sparsity and the number of columns; nothing is spent."""
    X, y, labels = table(d=8)
    model = make(sparsity=sparsity)
    ledger = seeded(model)
    with pytest.raises(InvalidArgument, match=rf"sparsity = {sparsity}, n_features = 8"):
        model.fit(X, target_of(make, y, labels), ledger=ledger)
    assert ledger.entries == ()


@pytest.mark.parametrize("selection", ["all", "threshold", "peel", "coordinate"])
@pytest.mark.parametrize("make", [sparse_linear, sparse_logistic], ids=name_of)
def test_api_18_a_sparsity_of_all_columns_and_a_single_column_work(make, selection):
    """API-18: s = d and d = 1 are ordinary; at most s coefficients are not 0."""
    X, y, labels = table(d=8)
    for columns, sparsity in ((8, 8), (1, 1), (8, 2)):
        model = fitted(make, X[:, :columns], target_of(make, y, labels), sparsity=sparsity, selection=selection)
        assert model.selection_ == selection
        assert np.isfinite(model.coef_).all()
        assert np.count_nonzero(model.coef_) <= (columns if selection == "all" else sparsity)


@everyone
def test_num_01_num_02_num_04_num_09_degenerate_tables_have_a_finite_fit(make):
    """NUM-01, NUM-02, NUM-04, NUM-09: separable labels, equal, empty and huge columns, an empty matrix, one row."""
    X, y, labels = table()
    equal = np.column_stack([X[:, 0], X[:, 0], np.zeros(300), np.ones(300)])
    huge = np.where(X > 1, 1.46e258, X)
    separable = np.sign(X[:, [0]]) * [[1.0, 1.0]]
    for features in (np.zeros((300, 4)), scipy.sparse.csr_array((300, 4)), equal, huge, separable):
        sparse = "sparse" in name_of(make)
        for changes in ({"sparsity": 2}, {"sparsity": 2, "budget": LARGE}) if sparse else ({},):
            model = fitted(make, features, target_of(make, y, labels), **changes)
            assert np.isfinite(model.coef_).all()
            assert np.isfinite(model.predict(features)).all()
    model = fitted(make, X[:1], target_of(make, y, labels)[:1], **({} if make in LINEAR else {"classes": (0, 1)}))
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("make", LINEAR, ids=name_of)
def test_a_constant_target_is_met_by_the_intercept(make):
    """Numbers that are all alike are predicted; the intercept is unpenalized and reaches the bounds."""
    X, _, _ = table(n=4000)
    budget = {"budget": dp.Approx(epsilon=50, delta="1e-3")}
    model = (
        fitted(make, X, np.full(4000, 2.0), n_steps=200, **budget)
        if make is not two_stage_linear
        else fitted(make, X, np.full(4000, 2.0), **budget)
    )
    assert model.predict(X).mean() == pytest.approx(2.0, abs=0.35)


@pytest.mark.parametrize("make", LOGISTIC, ids=name_of)
def test_a_constant_label_is_refused_or_with_declared_classes_predicted(make):
    """One class says nothing about the other, unless both are declared."""
    X, _, _ = table(n=2000)
    with pytest.raises(InvalidData, match="one class or none"):
        make().fit(X, np.ones(2000))
    model = fitted(make, X, np.ones(2000), classes=(0, 1), budget=dp.Approx(epsilon=20, delta="1e-3"))
    assert (model.predict(X) == 1).mean() > 0.9


def test_predictions_stay_within_the_public_bounds():
    """Noise of a tiny budget never leads out of the target's range."""
    X, y, _ = table()
    for make in LINEAR:
        budget = dp.Approx(epsilon="1/100", delta="1e-6")
        predictions = fitted(make, X, y, budget=budget).predict(100 * X)
        assert (predictions >= -4).all()
        assert (predictions <= 4).all()


def test_new_rows_are_bounded_as_private_ones_are():
    """A row beyond the norm is predicted as the row at the norm, dense and sparse."""
    X, y, _ = table()
    model = fitted(sparse_linear, X, y, entry_bound=1.0)
    long = np.array([[30.0, -40.0, 0, 0, 0, 0, 0, 0]])
    bounded = np.array([[1.0, -1.0, 0, 0, 0, 0, 0, 0]])
    np.testing.assert_allclose(model.predict(long), model.predict(bounded))
    np.testing.assert_allclose(model.predict(scipy.sparse.csr_array(long)), model.predict(bounded))


def test_api_08_frames_are_checked_by_name_at_prediction():
    """API-08: another order of columns, or one too few, is refused by scikit-learn's own words."""
    X, y, _ = table()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    model = fitted(sparse_linear, frame, y)
    assert model.feature_names_in_.tolist() == list("abcdefgh")
    with pytest.raises(InvalidData, match="feature names should match"):
        model.predict(frame[list("bacdefgh")])
    with pytest.raises(InvalidData, match="feature names should match"):
        model.predict(frame[list("abc")])
    fitted_again = model.fit(X, y)
    assert not hasattr(fitted_again, "feature_names_in_")


@everyone
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_api_11_missing_cells_are_named_by_their_column(make, bad):
    """API-11: NaN among the cells, dense or stored, is the owner's error; nothing is spent."""
    X, y, labels = table()
    X[3, 2] = bad
    for given in (X, scipy.sparse.csr_array(X), pd.DataFrame(X, columns=list("abcdefgh"))):
        model = make()
        ledger = seeded(model)
        with pytest.raises(InvalidData, match=r"'(x2|c)' has missing"):
            model.fit(given, target_of(make, y, labels), ledger=ledger)
        assert ledger.entries == ()
        assert not hasattr(model, "coef_")


@pytest.mark.parametrize("make", LINEAR, ids=name_of)
def test_missing_targets_are_refused(make):
    """A target that is NaN is named as y."""
    X, y, _ = table()
    y[0] = np.nan
    with pytest.raises(InvalidData, match="'y' has missing"):
        make().fit(X, y)


@everyone
def test_unequal_lengths_and_absent_bounds_are_refused(make):
    """Shapes must fit; a number needs its bounds; neither is counted aloud."""
    X, y, labels = table()
    with pytest.raises(InvalidData, match="inconsistent numbers"):
        make().fit(X, target_of(make, y, labels)[:-1])
    if make in LINEAR:
        with pytest.raises(InvalidType, match="y_bounds"):
            make(y_bounds=(0, 1)).fit(X, y)
    with pytest.raises(InvalidData, match="Complex"):
        make().fit(X + 1j, target_of(make, y, labels))
    with pytest.raises(InvalidArgument, match="y to be passed"):
        make().fit(X, None)


@everyone
@pytest.mark.parametrize("name", [*INSTEAD, "random_state", "sample_weight", "warm_start", "nonsense"])
def test_api_17_arguments_of_scikit_learn_are_refused_with_advice(make, name):
    """API-17: what we cannot honour is our own TypeError, and says what to do."""
    if name in {"clip", "noise"}:
        return
    with pytest.raises(InvalidType, match=f"no argument `{name}`: ."):
        make(**{name: 1})
    if name == "sample_weight":
        X, y, labels = table()
        with pytest.raises(InvalidType, match="no argument `sample_weight`"):
            make().fit(X, target_of(make, y, labels), sample_weight=np.ones(300))


def test_the_printed_noise_says_its_true_cost():
    """noise="paper" is charged at what it costs under the adjacency, and is refused for several classes."""
    X, y, labels = table()
    nominal = dp.Approx(epsilon=2, delta="1e-2")
    model = sparse_linear(budget=nominal, noise="paper").fit(X, y)
    assert (model.selection_, model.noise_) == ("threshold", "paper")
    assert model.release_.cost != nominal
    assert model.release_.event.nominal == repr(nominal)
    assert perturbed(budget=nominal, noise="paper").fit(X, labels).release_.cost.epsilon != 2
    with pytest.raises(IncompatiblePlan, match="one a class"):
        sparse_logistic(budget=nominal, noise="paper").fit(X, labels + (X[:, 2] > 0))


def test_a_large_delta_is_said_in_the_release():
    """A delta above one in the public number of rows protects too little, and the notes say so."""
    X, y, _ = table()
    large, small = dp.Approx(epsilon=1, delta="1/299"), dp.Approx(epsilon=1, delta="1/301")
    assert "delta is above" in " ".join(sparse_linear(budget=large).fit(X, y).release_.notes)
    assert sparse_linear(budget=small).fit(X, y).release_.notes == ()
    expected = {"adjacency": dp.AddRemove(), "expected_rows": 200}
    assert sparse_linear(budget=large, **expected).fit(X, y).release_.notes == ()


def test_given_settings_are_used_and_absent_ones_come_from_public_facts():
    """What is given is kept; the rest does not depend on any row."""
    X, y, _ = table()
    model = sparse_linear(n_steps=7, step_size=0.5, clip=0.25).fit(X, y)
    assert (model.n_steps_, model.step_size_, model.clip_) == (7, 0.5, 0.25)
    one, other = sparse_linear().fit(X, y), sparse_linear().fit(-2 * X, np.zeros(300))
    for name in ("n_steps_", "step_size_", "clip_", "sparsity_", "selection_"):
        assert getattr(one, name) == getattr(other, name)
    for bad in ({"n_steps": 0}, {"step_size": -1.0}, {"clip": 0.0}, {"selection": "best"}, {"noise": "none"}):
        with pytest.raises(InvalidArgument, match=next(iter(bad))):
            sparse_linear(**bad).fit(X, y)


@pytest.mark.parametrize(("n_steps", "part"), [(1, 1.0), (31, 1.0), (32, 0.3), (256, 0.3)])
def test_a_step_of_the_intercept_is_newtons_or_a_part_of_it_where_steps_are_many(n_steps, part):
    """Its length does not depend on the step size of the columns, which keep theirs."""
    grid = RowGrid(3, row_norm=2.0, intercept=0.25)
    for step_size in (0.5, 100.0):
        scale = column_scale(grid, LogisticLoss(), step_size, n_steps)
        assert scale[:3].tolist() == [1, 1, 1]
        assert scale[3] * step_size * (grid.constant * grid.unit) ** 2 / 4 == pytest.approx(part)
    assert column_scale(RowGrid(3, row_norm=2.0), LogisticLoss(), 1.0, n_steps) is None


def test_an_intercept_can_be_left_out():
    """Without it, predictions of the zero row are 0."""
    X, y, _ = table()
    for make in LINEAR:
        model = fitted(make, X, y, fit_intercept=False, y_bounds=dp.Interval(-4, 5))
        assert model.intercept_ == 0
        assert model.predict(np.zeros((1, 8))) == 0


def test_nothing_densifies():
    """DST-09, small: a million columns are never a dense matrix, neither in a fit nor in a prediction."""
    rng = np.random.default_rng(0)
    n, d = 100_000, 1_000_000
    at = (rng.integers(0, n, 200_000), rng.integers(0, d, 200_000))
    X = scipy.sparse.coo_array((np.ones(200_000), at), shape=(n, d))
    y = rng.integers(0, 2, n)
    model = sparse_logistic(sparsity=50, classes=(0, 1), n_steps=2, row_norm=1.0).fit(X, y)
    assert np.count_nonzero(model.coef_) <= 50
    assert model.predict(X).shape == (n,)


def test_frank_wolfe_takes_its_steps_and_its_clip_from_public_facts():
    """More budget or more rows are more steps, within limits; a currency that cannot pay is refused by the plan."""
    budgets = [dp.Pure(epsilon=1), dp.Zcdp(rho=1), dp.Approx(epsilon=1, delta="1e-6")]
    for budget in budgets:
        assert default_steps(1000, budget) < default_steps(8000, budget)
    assert default_steps(1, budgets[0]) == 8
    assert default_steps(10**9, budgets[1]) == 400
    X, y, labels = table()
    linear, logistic = (make(n_steps=None) for make in (frank_wolfe_linear, frank_wolfe_logistic))
    assert linear.fit(X, y).clip_ == 0.5
    assert logistic.fit(X, labels).clip_ == 1.0
    assert logistic.n_steps_ == default_steps(300, dp.Zcdp(rho=1))
    assert np.abs(linear.coef_).sum() <= 4
    with pytest.raises(IncompatiblePlan, match="Gdp"):
        frank_wolfe_linear(budget=dp.Gdp(mu=1), n_steps=None).fit(X, y)


def test_two_stages_need_a_sparsity_and_take_a_clip():
    """None is refused by name; the clip, the blocks and the ridge that were used are shown."""
    X, y, _ = table()
    with pytest.raises(InvalidType, match="needs `sparsity`"):
        two_stage_linear(sparsity=None).fit(X, y)
    model = two_stage_linear(clip=0.5, n_blocks=7).fit(X, y)
    assert (model.clip_, model.n_blocks_, model.sparsity_) == (0.5, 7, 1)
    assert model.regularization_ > 0
    assert two_stage_linear().fit(X, y).clip_ == 2.0
