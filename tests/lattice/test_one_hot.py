"""One-hot blocks of arrays: every record has at most one 1 in a block, and the row norm counts the block once."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.bounds import Box, Interval
from discreet.lattice.gram import gram_of_arrays, keep_first
from discreet.tables.array_rows import array_layout

CELLS = [-7.0, 0.0, 0.49, 0.5, 1.0, 9e300]


def blocks_of(*sizes, numbers=1):
    """Return a box of `numbers` columns in [-2, 3] and a block of every size."""
    stops = list(itertools.accumulate(sizes, initial=numbers))
    lower, upper = [-2.0] * numbers + [0.0] * sum(sizes), [3.0] * numbers + [1.0] * sum(sizes)
    return Box(lower=lower, upper=upper, one_hot=[slice(*pair) for pair in itertools.pairwise(stops)])


def grid_row(cells, target, layout, one_hot):
    """Return the integer row of one record, read off its Gram matrix' column of the largest entry."""
    settled = np.array(cells, dtype=float)[None, :]
    for start, stop in one_hot:
        keep_first(settled[:, start:stop])
    codings = layout.codings
    row = [2**layout.bits] * layout.intercept
    row += [int(c.encode([v])[0]) for c, v in zip(codings, (*settled[0], target), strict=True)]
    gram, finite = gram_of_arrays(np.array([cells]), np.array([target]), layout, one_hot=one_hot)
    assert finite
    np.testing.assert_array_equal(gram, np.outer(row, row))
    return row


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("sizes", [(1,), (2,), (3,), (1, 2), (4,)])
@pytest.mark.parametrize("bits", [1, 2, 3, 16])
def test_the_row_norm_is_the_largest_of_all_records(sizes, intercept, bits):
    """Brute force: records of every pattern of cells, wild ones too, obey the bound, and one attains it."""
    box = blocks_of(*sizes)
    layout = array_layout(tuple(map(str, range(len(box.lower)))), box, Interval(0, 1), intercept=intercept, bits=bits)
    cells = CELLS if sum(sizes) < 3 else [0.0, 1.0, -3.0]
    largest = 0
    for pattern in itertools.product(cells, repeat=sum(sizes)):
        row = grid_row((3.0, *pattern), 1.0, layout, box.one_hot)
        largest = max(largest, sum(entry**2 for entry in row))
    assert largest == layout.row_norm_squared


def test_a_block_counts_once():
    """Eight dummies add less than 1 to the squared norm over K squared, not 8."""
    with_blocks = array_layout(tuple("abcdefgh"), blocks_of(8, numbers=0), Interval(0, 1), intercept=True)
    apart = array_layout(tuple("abcdefgh"), Box(lower=0, upper=1), Interval(0, 1), intercept=True)
    assert with_blocks.row_norm_squared / 4**16 == pytest.approx(2 + 7 / 8, abs=1e-4)
    assert apart.row_norm_squared / 4**16 == 10


@given(arrays(np.float64, st.tuples(st.integers(0, 6), st.integers(1, 5)), elements=st.sampled_from(CELLS)))
def test_keep_first_keeps_the_first_and_no_other(cells):
    """A row has a 1 where its first cell of at least one half stands, and zeros elsewhere; twice is once."""
    settled = cells.copy()
    keep_first(settled)
    for row, was in zip(settled, cells, strict=True):
        hot = [j for j, cell in enumerate(was) if cell >= 0.5]
        assert row.tolist() == [1.0 if hot and j == hot[0] else 0.0 for j in range(len(was))]
    again = settled.copy()
    keep_first(again)
    np.testing.assert_array_equal(again, settled)


def test_every_memory_layout_and_dtype_gives_the_same_sums_and_leaves_the_rows_alone():
    """Row- and column-major, narrow and strided arrays give bitwise one matrix; nothing is written to them."""
    rng = np.random.default_rng(0)
    box = blocks_of(3, 2)
    X = np.hstack([rng.uniform(-3, 4, size=(5000, 1)).round(), rng.integers(0, 2, size=(5000, 5))]).astype(float)
    y = rng.uniform(size=5000)
    layout = array_layout(tuple("abcdef"), box, Interval(0, 1), intercept=True)
    expected = gram_of_arrays(X, y, layout, one_hot=box.one_hot)[0]
    before = X.copy()
    for same in (np.asfortranarray(X), X.astype(np.int8), X.astype(np.float32), np.repeat(X, 2, axis=1)[:, ::2], X):
        for rows in (None, 7):
            got = gram_of_arrays(same, y, layout, one_hot=box.one_hot, block_rows=rows)[0]
            np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(X, before)
    assert not np.array_equal(gram_of_arrays(X, y, layout)[0], expected)


def test_a_missing_cell_of_a_block_is_missing():
    """NaN and infinities are found before they are made 0 or 1."""
    box = blocks_of(2, numbers=0)
    layout = array_layout(("a", "b"), box, Interval(0, 1), intercept=True)
    for bad in (np.nan, np.inf, -np.inf):
        assert not gram_of_arrays(np.array([[bad, 1.0]]), np.zeros(1), layout, one_hot=box.one_hot)[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"one_hot": slice(0, 2)}, "sequence of slices"),
        ({"one_hot": "ab"}, "sequence of slices"),
        ({"one_hot": 3}, "sequence of slices"),
        ({"one_hot": [(0, 2)]}, "must hold slices"),
        ({"one_hot": [slice(0, 4, 2)]}, "no step"),
        ({"one_hot": [slice(None, 2)]}, "`one_hot` must be a whole number"),
        ({"one_hot": [slice(0, None)]}, "`one_hot` must be a whole number"),
        ({"one_hot": [slice(-2, 2)]}, "`one_hot` must be at least 0"),
        ({"one_hot": [slice(2, 2)]}, "`one_hot` must be at least 3"),
        ({"one_hot": [slice(0, 2), slice(1, 3)]}, "must not overlap"),
        ({"upper": 2, "one_hot": [slice(0, 2)]}, "limits 0 and 1"),
        ({"lower": [0, -1], "one_hot": [slice(0, 2)]}, "limits 0 and 1"),
        ({"lower": [0, 0], "one_hot": [slice(0, 3)]}, "the 2 columns of the Box"),
    ],
)
def test_what_is_no_block_is_refused(arguments, message):
    """Each message says which rule was broken."""
    with pytest.raises((InvalidArgument, InvalidType), match=message):
        Box(**{"lower": 0, "upper": 1, **arguments})


def test_a_box_shows_its_blocks():
    """Blocks are sorted, shown, compared, and spread with a scalar box."""
    box = Box(lower=0, upper=1, one_hot=[slice(2, 4), slice(0, 2)])
    assert repr(box) == "Box(lower=(0.0,), upper=(1.0,), one_hot=[slice(0, 2), slice(2, 4)])"
    assert box.for_columns(4).one_hot == box.one_hot
    assert box != Box(lower=0, upper=1)
    with pytest.raises(InvalidArgument, match="the 3 columns of the Box"):
        box.for_columns(3)
