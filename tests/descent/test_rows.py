"""Rows on a public grid: bounds in integers, exact sums, every kind of matrix."""

import itertools
import math
import pickle
import warnings

import hypothesis.extra.numpy
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given, settings

from descent.rows_of import labels, sparse_rows
from discreet.descent import rows as module
from discreet.descent.rows import RESIDUAL_BOUND, integer_rows, whole_numbers
from discreet.errors import InvalidArgument, InvalidData
from discreet.lattice.row_grid import RowGrid
from discreet.privacy.adjacency import AddRemove, Replace

CELLS = st.floats(-1e6, 1e6) | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, 1.0, -0.6, 0.8])


def dense(rows):
    """Return the whole-numbered matrix as Python integers."""
    matrix = rows.private_matrix
    return (matrix if isinstance(matrix, np.ndarray) else matrix.toarray()).astype(int).tolist()


@given(
    hypothesis.extra.numpy.arrays(np.float64, st.tuples(st.integers(0, 4), st.integers(1, 5)), elements=CELLS),
    st.sampled_from([1.0, 0.3, 20.0, 1e-3]), st.sampled_from([1.0, 0.5, 0.1]), st.integers(4, 16), st.booleans(),
)  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_every_row_keeps_its_bounds_in_integers(cells, norm, share, bits, sparse):
    """Whatever the cells: squares sum to at most K squared, no entry passes kappa, and nothing is rounded up."""
    X = scipy.sparse.csr_array(cells) if sparse else cells
    rows = integer_rows(
        X, np.zeros(len(cells)), row_norm=norm, entry_bound=share * norm, target_bounds=(0, 1), bits=bits
    )
    for whole, cell in zip(dense(rows), cells.tolist(), strict=True):
        assert sum(q * q for q in whole) <= rows.grid.norm**2
        for q, x in zip(whole, cell, strict=True):
            assert abs(q) <= rows.grid.entry
            assert q * x >= 0
            assert abs(q) <= abs(x) / rows.grid.unit


def test_a_short_row_is_only_rounded():
    """A row within its bounds is its cells in grid units, toward zero."""
    X = np.array([[0.6, -0.3, 0.0]])
    rows = integer_rows(X, [0.0], row_norm=1.0, target_bounds=(0, 1))
    assert dense(rows) == [[math.trunc(x * 65536) for x in X[0]]]


def test_a_long_row_is_scaled_before_it_is_clipped():
    """(30, 40) becomes (0.6, 0.8) and then (0.6, 0.7)."""
    rows = integer_rows([[30.0, 40.0]], [0.0], row_norm=1.0, entry_bound=0.7, target_bounds=(0, 1), bits=8)
    assert dense(rows) == [[math.trunc(0.6 * 256), math.trunc(0.7 * 256)]]


def test_a_rounding_error_that_passed_is_shrunk_away(monkeypatch):
    """Where the norms came out too small, the rows are shrunk until their integers keep the bound."""
    right = module._squared_norms
    calls = itertools.count()
    monkeypatch.setattr(module, "_squared_norms", lambda m: right(m) * (0.98 if next(calls) == 0 else 1))
    for X in (np.array([[3.0, 4.0], [0.1, 0.1]]), scipy.sparse.csr_array([[3.0, 4.0], [0.1, 0.1]])):
        calls = itertools.count()
        rows = integer_rows(X, [0, 0], row_norm=1.0, target_bounds=(0, 1))
        first, second = dense(rows)
        assert 0.99 * 2**32 < sum(q * q for q in first) <= 2**32
        assert second == [6553, 6553]


FLAVORS = [
    kind
    for name in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
    for kind in (getattr(scipy.sparse, f"{name}_array"), getattr(scipy.sparse, f"{name}_matrix"))
]


@pytest.mark.parametrize("make", FLAVORS)
def test_every_sparse_flavor_gives_the_same_rows(make):
    """Matrices and arrays of every layout, and nothing is written to."""
    X = np.round(scipy.sparse.random(12, 7, density=0.4, random_state=3).toarray() * 8, 1)
    given_ = make(X)
    before = given_.toarray()
    rows = integer_rows(given_, labels(12), row_norm=5.0, entry_bound=3.0, target_bounds=(0, 1))
    expected = integer_rows(X, labels(12), row_norm=5.0, entry_bound=3.0, target_bounds=(0, 1))
    assert dense(rows) == dense(expected)
    np.testing.assert_array_equal(given_.toarray(), before)
    residuals = np.arange(-6.0, 6.0)
    np.testing.assert_array_equal(rows.gradient(residuals), expected.gradient(residuals))


def test_indices_may_have_64_bits():
    """Large matrices have them."""
    X = scipy.sparse.csr_array(np.eye(4))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    rows = integer_rows(X, labels(4), row_norm=1.0, target_bounds=(0, 1))
    assert dense(rows) == (np.eye(4) * 65536).tolist()


@pytest.mark.parametrize("make", [scipy.sparse.csr_array, scipy.sparse.coo_array, scipy.sparse.csr_matrix])
def test_duplicates_are_summed_first_and_in_doubles(make):
    """Two entries of 100 in bytes are 200, not -56; and 3 = 1 + 2 is clipped as 3."""
    if make is scipy.sparse.coo_array:
        X = make((np.array([100, 100, 5], np.int8), ([0, 0, 0], [1, 1, 0])), shape=(1, 2))
    else:
        X = make((np.array([100, 100, 5], np.int8), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    rows = integer_rows(X, [0], row_norm=250.0, target_bounds=(0, 1), bits=8)
    assert dense(rows) == [[5, math.trunc(200 / 250 * 256)]]
    clipped = integer_rows(X, [0], row_norm=250.0, entry_bound=150.0, target_bounds=(0, 1), bits=8)
    assert dense(clipped) == [[5, math.trunc(150 / 250 * 256)]]
    np.testing.assert_array_equal(X.data, [100, 100, 5])


def test_frames_are_read():
    """pandas, polars, pandas with sparse columns, and lists of lists."""
    X = np.array([[0.5, 0.0], [0.0, -0.25]])
    expected = dense(integer_rows(X, [0, 1], row_norm=1.0, target_bounds=(0, 1)))
    frame = pd.DataFrame(X, columns=["a", "b"])
    for given_ in (
        frame,
        pl.DataFrame(frame.to_dict("list")),
        frame.astype("Float64"),
        X.tolist(),
        frame.astype(object),
    ):
        assert dense(integer_rows(given_, [0, 1], row_norm=1.0, target_bounds=(0, 1))) == expected
    sparse = frame.astype(pd.SparseDtype(np.float64, 0.0))
    rows = integer_rows(sparse, pd.Series([0, 1]), row_norm=1.0, target_bounds=(0, 1))
    assert scipy.sparse.issparse(rows.private_matrix)
    assert dense(rows) == expected


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_missing_cells_are_named_by_their_column(sparse, bad):
    """The first column with one; by its name where there is one, never with a value of the row."""
    X = np.array([[0.123, 0.0, 0.0], [0.0, bad, bad]])
    for given_, name in [
        (scipy.sparse.csc_array(X) if sparse else X, "x1"),
        (pd.DataFrame(X, columns=list("abc")), "b"),
    ]:
        with pytest.raises(InvalidData, match=f"Column '{name}' has missing cells") as caught:
            integer_rows(given_, [0, 1], row_norm=1.0, target_bounds=(0, 1))
        assert "0.123" not in str(caught.value)
    with pytest.raises(InvalidData, match="Column 'q'"):
        integer_rows(X, [0, 1], row_norm=1.0, target_bounds=(0, 1), names=["p", "q", "r"])
    with pytest.raises(InvalidData, match="Column 'y'"):
        integer_rows(np.eye(2), [0, bad], row_norm=1.0, target_bounds=(0, 1))


def test_what_is_no_table_of_numbers_is_refused():
    """Wrong shapes and kinds, each in words that quote no cell."""
    options = {"row_norm": 1.0, "target_bounds": (0, 1)}
    with pytest.raises(InvalidData, match="2D"):
        integer_rows([1.0, 2.0], [0, 1], **options)
    with pytest.raises(InvalidData, match="inconsistent"):
        integer_rows(np.eye(2), [0, 1, 1], **options)
    with pytest.raises(InvalidData, match="rows of one length"):
        integer_rows([[1.0], [2.0, 77.0]], [0, 1], **options)
    with pytest.raises(InvalidData, match="not a number"):
        integer_rows(np.array([["a77", "b"]], dtype=object), [0], **options)
    with pytest.raises(InvalidData, match="real numbers"):
        integer_rows(scipy.sparse.csr_array(np.eye(2) * 1j), [0, 1], **options)
    with pytest.raises(InvalidData, match="two dimensions"):
        integer_rows(scipy.sparse.coo_array(np.array([1.0, 2.0])), [0], **options)
    with pytest.raises(InvalidArgument, match="`target_bounds`"):
        integer_rows(np.eye(2), [0, 1], row_norm=1.0, target_bounds=(1, 0))


def test_more_rows_than_the_sums_can_hold_are_refused(monkeypatch):
    """A fixed capacity, so that no score wraps around."""
    monkeypatch.setattr(module, "_ROWS", 3)
    with pytest.raises(InvalidData, match="at most 2 rows"):
        integer_rows(np.eye(3), np.zeros(3), row_norm=1.0, target_bounds=(0, 1))


def test_targets_are_clipped_to_their_bounds():
    """Bounds are declared, and clipping is silent."""
    rows = integer_rows(np.eye(3), [-7.0, 0.5, 9.0], row_norm=1.0, target_bounds=(-1, 2))
    assert rows.private_y.tolist() == [-1.0, 0.5, 2.0]


@pytest.mark.parametrize("intercept", [0.0, 0.5])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_margins_and_gradients_are_the_exact_integers(kind, intercept):
    """As Python's integers have them."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 8)) * (rng.random((30, 8)) < 0.6)
    given_ = X if kind == "dense" else scipy.sparse.csr_array(X)
    rows = integer_rows(given_, np.zeros(30), row_norm=1.5, target_bounds=(0, 1), intercept=intercept)
    whole = [row + [rows.grid.constant] * (intercept > 0) for row in dense(rows)]
    theta, _ = whole_numbers(rng.normal(size=rows.grid.width) * 10.0 ** rng.integers(-3, 3, rows.grid.width), rows.grid)
    integers = theta.astype(int).tolist()
    margins = [sum(q * t for q, t in zip(row, integers, strict=True)) for row in whole]
    assert rows.margins(theta).astype(int).tolist() == margins
    assert max(map(abs, margins)) < 2**53
    residuals = rng.integers(-RESIDUAL_BOUND, RESIDUAL_BOUND + 1, 30).astype(float)
    sums = [sum(int(r) * row[j] for r, row in zip(residuals, whole, strict=True)) for j in range(rows.grid.width)]
    assert rows.gradient(residuals).tolist() == sums


def test_blocks_and_the_order_of_rows_change_nothing(monkeypatch):
    """Few rows a block, permuted rows: the same integers."""
    rows = sparse_rows(n=50)
    residuals = np.random.default_rng(1).integers(-RESIDUAL_BOUND, RESIDUAL_BOUND, 50).astype(float)
    expected = rows.gradient(residuals)
    order = np.random.default_rng(2).permutation(50)
    matrix = scipy.sparse.random(50, 40, density=0.2, format="csr", random_state=0)
    for X in (matrix[order], matrix.toarray()[order]):
        moved = integer_rows(X, labels(50)[order], row_norm=1.0, entry_bound=0.5, target_bounds=(0, 1))
        np.testing.assert_array_equal(moved.gradient(residuals[order]), expected)
    monkeypatch.setattr(module, "_EXACT", 7 * RESIDUAL_BOUND * rows.grid.entry)
    np.testing.assert_array_equal(rows.gradient(residuals), expected)


@given(
    hypothesis.extra.numpy.arrays(np.float64, st.integers(1, 6), elements=st.floats(-1e100, 1e100)),
    st.integers(4, 16), st.booleans(),
)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_iterates_are_fine_and_margins_stay_exact(theta, bits, intercept):
    """An iterate keeps 20 bits of its largest entry, and no margin can pass 2**53."""
    n = theta.size - (intercept and theta.size > 1)
    grid = RowGrid(n, 1.0, intercept=1.0 if n < theta.size else 0.0, bits=bits)
    whole, unit = whole_numbers(theta, grid)
    assert grid.norm_squared() * sum(int(t) ** 2 for t in whole.tolist()) < 4**52
    largest = float(np.abs(theta).max())
    if largest > 1e-200:
        value = unit / grid.unit
        np.testing.assert_allclose(whole * value, theta, atol=largest * 2.0**-20, rtol=0)


def test_neither_a_name_nor_a_warning_tells_of_the_rows():
    """A printed object shows public facts alone; huge cells warn nobody."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = integer_rows(np.array([[1.7e308, 12345.0]]), [1.7e308], row_norm=1e-3, target_bounds=(0, 1))
    assert "12345" not in repr(rows)
    assert repr(rows) == f"IntegerRows({rows.grid!r})"
    assert dense(rows)[0][0] == rows.grid.norm
    assert pickle.loads(pickle.dumps(rows.grid)) == rows.grid


def test_an_empty_table_has_a_gradient():
    """Under AddRemove no rows are an ordinary table."""
    for X in (np.empty((0, 3)), scipy.sparse.csr_array((0, 3))):
        rows = integer_rows(X, [], row_norm=1.0, target_bounds=(0, 1), intercept=1.0)
        assert rows.gradient(np.empty(0)).tolist() == [0, 0, 0, 0]
        assert rows.private_size() == 0


class TestRowGrid:
    """The public numbers of a row."""

    def test_numbers_in_grid_units(self):
        """K, kappa and the intercept; rounded down."""
        grid = RowGrid(10, 2.0, 0.301, intercept=0.5, bits=8)
        assert (grid.norm, grid.entry, grid.constant, grid.width) == (256, math.floor(0.301 * 128), 64, 11)
        assert grid.norm_squared() == min(256**2, 10 * 38**2) + 64**2
        assert grid.norm_squared(3) == 3 * 38**2 + 64**2

    def test_sensitivities(self):
        """Twice as large under Replace."""
        grid = RowGrid(10, 1.0, 0.5, bits=8)
        assert grid.l2_squared(3, AddRemove()) == 9 * 256**2
        assert grid.l2_squared(3, Replace()) == 36 * 256**2
        assert (grid.linf(3, AddRemove()), grid.linf(3, Replace())) == (3 * 128, 6 * 128)

    @pytest.mark.parametrize(
        ("name", "bad"),
        [("n_columns", 0), ("row_norm", 0), ("row_norm", math.nan), ("row_norm", "1"), ("entry_bound", 0),
         ("entry_bound", -1.0), ("entry_bound", 1e-9), ("intercept", math.inf), ("intercept", -1.0), ("intercept", 5.0),
         ("intercept", 1e-9), ("bits", 3), ("bits", 17), ("row_norm", True)],
    )  # fmt: skip
    def test_bad_numbers_are_named(self, name, bad):
        """Each by its own name."""
        with pytest.raises(InvalidArgument, match=f"`{name}`"):
            RowGrid(**({"n_columns": 3, "row_norm": 1.0} | {name: bad}))
