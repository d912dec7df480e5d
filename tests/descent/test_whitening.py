"""A released Gram matrix becomes a whole-number whitener; rows are kept exactly; means are those of the model."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from descent.in_blocks import InBlocks
from descent.whitened_tables import Blocks, small_layout
from discreet.descent.preconditioned.links import LogisticLink, PoissonLink, check_target, link_of
from discreet.descent.preconditioned.rows import gridded, whitened
from discreet.descent.preconditioned.whitening import feature_norm_squared, whitener
from discreet.errors import IncompatiblePlan, InvalidArgument, InvalidData
from discreet.lattice.bounds import Box, Interval
from discreet.lattice.grid import Coding, Layout
from discreet.tables.array_rows import ArrayRows, array_layout
from discreet.tables.design import Design
from discreet.tables.readers.tables import open_table
from discreet.tables.rows import TableRows, rows_a_block
from discreet.tables.schema.columns import Category, Number
from discreet.tables.schema.schema import Schema


@given(st.integers(0, 10**6), st.integers(1, 8), st.floats(1e-6, 1e9), st.integers(1, 10**9))
def test_every_whitener_keeps_products_and_norms_in_bounds(seed, p, std, n_rows):
    """Whatever was released, negative eigenvalues and pure noise included; asserted inside, and at the corners."""
    rng = np.random.default_rng(seed)
    layout = small_layout(p, intercept=False, bits=16)
    gram = rng.normal(size=(p + 1, p + 1)) * 10.0 ** rng.integers(-3, 9)
    gram = gram + gram.T
    matrix = whitener(layout, gram, entry_std=std, n_rows=n_rows)
    assert float(np.abs(matrix.whole) @ np.full(p, 2.0**16) @ np.ones(p)) < 2**53 * p
    corners = np.where(rng.integers(0, 2, (20, p + 1)), 2**16, -(2**16))
    rows = whitened(gridded(Blocks(corners, p + 1), layout), matrix, _squared(layout), clip=1 << 38)
    for block in rows.private_blocks:
        assert (np.square(block[:p]).sum(axis=0) <= 2**48).all()
        np.testing.assert_array_equal(block[:p], np.rint(block[:p]))
    # Products that are rounded to integers of 24 bits, and a matrix of at least 20 significant ones.
    real = matrix.matrix @ corners[:, :p].T / 2.0**16
    np.testing.assert_allclose(rows.private_blocks[0][:p] * matrix.unit, real, atol=0.51 * matrix.unit)
    assert math.frexp(matrix.unit)[0] == 0.5


def _squared(layout):
    return link_of(layout, "squared", np.eye(layout.width), entry_std=1.0, n_rows=1)[0]


def test_whitened_rows_have_the_identity_for_a_covariance():
    """Where the noise is small; directions below the noise are raised to it and no further."""
    rng = np.random.default_rng(0)
    layout = small_layout(3, intercept=False, bits=16)
    V = np.rint(rng.multivariate_normal(np.zeros(4), np.diag([0.3, 0.2, 0.1, 0.1]) + 0.05, 5000) * 2.0**14)
    V = np.clip(V, -(2**16), 2**16)
    gram = V.T @ V / 4.0**16
    matrix = whitener(layout, gram, entry_std=1e-6, n_rows=5000)
    white = matrix.matrix @ gram[:3, :3] @ matrix.matrix / 5000
    np.testing.assert_allclose(white, np.eye(3), atol=1e-4)
    raised = whitener(layout, np.diag([100.0, 1e-9, -50.0, 1.0]), entry_std=1.0, n_rows=100)
    floor = 0.6 * 2 * math.sqrt(3) / 100
    np.testing.assert_allclose(np.diag(raised.matrix), [1.0, floor**-0.5, floor**-0.5], rtol=1e-6)
    assert raised.floor == pytest.approx(floor)


def test_the_features_norm_leaves_the_target_out():
    """The better of the declared bound and the sum of entries."""
    layout = Layout(["a", "y"], [Coding.centered(-1, 1, 4)] * 2, intercept=True, bits=4)
    assert feature_norm_squared(layout) == 2 * 256
    tight = Layout(["a", "b", "y"], [Coding.centered(-1, 1, 4)] * 3, intercept=True, bits=4, row_norm_squared=600)
    assert feature_norm_squared(tight) == 600


@pytest.mark.parametrize("order", ["C", "F", "float32", "int"])
@pytest.mark.parametrize("intercept", [True, False])
def test_arrays_are_kept_as_the_grid_has_them(order, intercept):
    """Blocks hold the codes of every cell, and the Gram matrix is that of the pillar that sums."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1000, 6)) * 2
    X[:, 3:5] = rng.integers(0, 2, (1000, 2))
    X = {"C": X, "F": np.asfortranarray(X), "float32": X.astype(np.float32), "int": np.rint(X).astype(np.int16)}[order]
    y = rng.normal(size=1000)
    box = Box(lower=[-3, -2, -1, 0, 0, -1], upper=[3, 2, 1, 1, 1, 1], one_hot=[slice(3, 5)])
    names = tuple("abcdef")
    layout = array_layout(names, box, Interval(-2, 2), intercept=intercept)
    source = ArrayRows(X, y, names, one_hot=box.one_hot)
    for block_rows in (None, 1, 77):
        kept = gridded(InBlocks(source, block_rows), layout, block_rows=block_rows)
        np.testing.assert_array_equal(kept.private_gram, source.private_gram(layout))
        V = np.concatenate(kept.private_blocks, axis=1).astype(np.int64)
        np.testing.assert_array_equal(V @ V.T, kept.private_gram)


def test_one_bound_for_all_columns_needs_no_tiles():
    """The common case of scaled features takes the road of single numbers, and the same codes."""
    X, y = np.array([[0.5, -9.0], [1.0, 0.25]]), np.array([1.0, 0.0])
    layout = array_layout(("a", "b"), Box(lower=-1, upper=1), Interval(-1, 1), intercept=True, bits=2)
    (block,) = gridded(ArrayRows(X, y, ("a", "b")), layout).private_blocks
    assert block.tolist() == [[4.0, 4.0], [2.0, 4.0], [-4.0, 1.0], [4.0, 0.0]]
    with pytest.raises(InvalidArgument, match="as many columns"):
        gridded(ArrayRows(X, y, ("a", "b", "c")), layout)


@pytest.mark.parametrize("where", ["a", "b", "y"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_missing_cell_of_an_array_names_its_column(where, bad):
    """By name, and no cell is quoted."""
    X, y = np.zeros((5000, 2)), np.zeros(5000)
    layout = array_layout(("a", "b"), Box(lower=-1, upper=1), Interval(-1, 1), intercept=True)
    {"a": X[:, 0], "b": X[:, 1], "y": y}[where][4999] = bad
    with pytest.raises(InvalidData, match=f"Column '{where}'"):
        gridded(ArrayRows(X, y, ("a", "b")), layout)


def test_tables_are_kept_as_their_design_has_them():
    """Categories, dropped records, and an empty table that may be one."""
    pandas = pytest.importorskip("pandas")
    schema = Schema({
        "age": Number(17, 90, missing="drop"), "kind": Category(["a", "b", "c"]), "income": Number(0, 100),
    })  # fmt: skip
    design = Design.for_formula("income ~ age + kind", schema)
    frame = pandas.DataFrame({
        "age": [20.0, None, 50.0], "kind": ["a", "b", "c"], "income": [1.0, 50.0, 300.0],
    })  # fmt: skip
    kept = gridded(TableRows(open_table(frame, schema, None), design, may_be_empty=False), design.layout, block_rows=2)
    V = np.concatenate(kept.private_blocks, axis=1).astype(np.int64)
    assert V.shape == (5, 3)
    assert not V[:, 1].any()
    np.testing.assert_array_equal(V @ V.T, kept.private_gram)
    empty = TableRows(open_table(frame[:0], schema, None), design, may_be_empty=True)
    assert gridded(empty, design.layout).private_blocks == ()
    with pytest.raises(InvalidData, match="no rows"):
        gridded(TableRows(open_table(frame[:0], schema, None), design, may_be_empty=False), design.layout)
    other = small_layout(2, intercept=True)
    with pytest.raises(IncompatiblePlan, match="another layout"):
        gridded(empty, other)


def test_blocks_stay_in_a_cache():
    """Fewer rows for wider tables, never more than sums of doubles allow."""
    assert [rows_a_block(width) for width in (2, 16, 2000)] == [8192, 3840, 256]
    with pytest.raises(InvalidArgument, match="`block_rows`"):
        rows_a_block(3, 10**5)


def test_means_are_those_of_the_models():
    """To the table's step at the most, and beyond its ends they stay."""
    coding = Coding.centered(0.0, 10.0)
    z = np.array([-1e30, -20.0, -3.0, 0.0, 0.7, 2.0, 20.0, 1e30])
    scratch = np.empty(z.size, np.intp)
    for link, expected in (
        (LogisticLink(coding, 16), 0.5 * (1 + np.tanh(np.clip(z, -16, 16) / 2))),
        (PoissonLink(coding, 16, 0.2), np.minimum(0.2 * np.exp(np.clip(z, -16, 16)), math.e)),
    ):
        margins = z * link.per_unit
        link.means(margins, scratch)
        np.testing.assert_allclose(margins, expected, atol=3e-3 * math.e, rtol=1e-3)
        np.testing.assert_array_equal(link.targets(np.array([-65536.0, 0.0, 65536.0])), [0.0, 0.5, 1.0])


def test_a_count_starts_at_its_noisy_mean():
    """Over its bound; at least a quarter of the noise, at most the bound; without an intercept at one."""
    layout = small_layout(2, intercept=True, target=(0.0, 50.0))

    def of(mean, std=1e-9, layout=layout):
        gram = np.eye(3) * 100.0
        gram[0, 2] = gram[2, 0] = 100 * (2 * mean - 1)
        link, divisor = link_of(layout, "poisson", gram, entry_std=std, n_rows=100)
        return link.base, divisor

    assert of(0.25) == pytest.approx((0.25, 0.25))
    assert of(-3.0) == (1e-4, 1e-4)
    assert of(7.0) == (1.0, 1.0)
    assert of(0.0, std=5.0) == pytest.approx((0.0125, 0.05))
    assert of(0.03, std=5.0) == pytest.approx((0.03, 0.05))
    base, divisor = of(0.0, layout=small_layout(2, intercept=False, target=(0.0, 50.0)))
    assert (base, divisor) == (0.02, 1.0)
    tiny = small_layout(2, intercept=False, target=(0.0, 1e-12))
    assert of(0.0, layout=tiny)[0] == pytest.approx(1e12)


def test_counts_begin_at_zero():
    """Any other bound has no logarithm."""
    check_target(small_layout(2, intercept=True), "logistic")
    with pytest.raises(IncompatiblePlan, match="begin at 0"):
        check_target(small_layout(2, intercept=True), "poisson")
