"""The Gram matrix of private rows is an exact integer, whatever the road."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, InvalidData, InvalidType
from discreet.lattice import gram as gram_module
from discreet.lattice.gram import GramSum, gram_of_arrays, largest_block
from discreet.lattice.grid import Coding, Layout

NARROW_AND_WIDE = (1, 2, 14, 24, 25, 40)


def layout_of(width, *, intercept=True, bits=16):
    """Return a layout of `width` columns beside the intercept, with different bounds and kinds."""
    if intercept:
        kinds = [Coding.centered(-2.5 + j / 7, 3.0 + j, bits) for j in range(width)]
        kinds[2::5] = [Coding.flag(bits)] * len(kinds[2::5])
        kinds[4::5] = [Coding.dummy(3, bits)] * len(kinds[4::5])
    else:
        kinds = [Coding.uncentered(-2.5 + j / 7, 3.0 + j, bits) for j in range(width)]
        kinds[2::5] = [Coding.indicator(bits)] * len(kinds[2::5])
    return Layout([f"x{j}" for j in range(width)], kinds, intercept=intercept, bits=bits)


def table(width, n_rows=257, seed=0):
    return np.random.default_rng(seed).normal(0.5, 2.0, size=(n_rows, width))


def by_hand(X, y, layout):
    """Return the Gram matrix in Python's integers, cell by cell."""
    cells = X if y is None else np.column_stack([X, y])
    rows = []
    for record in cells.tolist():
        coded = [int(coding.encode(cell)) for coding, cell in zip(layout.codings, record, strict=True)]
        rows.append([2**layout.bits] * layout.intercept + coded)
    width = range(layout.width)
    return [[sum(row[i] * row[j] for row in rows) for j in width] for i in width]


def gram(X, y, layout, **more):
    matrix, finite = gram_of_arrays(X, y, layout, **more)
    assert finite
    assert matrix.dtype == np.int64
    return matrix


# --- one answer on every road


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("width", NARROW_AND_WIDE)
def test_arrays_agree_with_python_integers(width, intercept):
    """Row-major, column-major, with y apart or inside: all are the sum in Python's integers."""
    X, layout = table(width, n_rows=61), layout_of(width, intercept=intercept)
    expected = by_hand(X, None, layout)
    assert gram(X, None, layout).tolist() == expected
    assert gram(np.asfortranarray(X), None, layout).tolist() == expected
    assert gram(X[:, :-1], X[:, -1], layout).tolist() == expected
    assert gram(np.asfortranarray(X[:, :-1]), X[:, -1].copy(), layout).tolist() == expected


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("block_rows", [1, 7, 64, 8192, 10**9])
def test_block_size_changes_nothing(block_rows, order):
    """Blocks of 1, 7, 8192 and all rows give the same integers."""
    X, layout = np.array(table(5, n_rows=1000), order=order), layout_of(6)
    y = table(1, n_rows=1000, seed=1)[:, 0]
    assert np.array_equal(gram(X, y, layout, block_rows=block_rows), gram(X, y, layout))


@given(st.randoms(use_true_random=False), st.integers(1, 50))
def test_row_order_changes_nothing(shuffler, n_rows):
    """Shuffled rows give the same integers."""
    X, layout = table(3, n_rows=n_rows), layout_of(3)
    order = list(range(n_rows))
    shuffler.shuffle(order)
    assert np.array_equal(gram(X, None, layout), gram(X[order], None, layout))


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_partitions_change_nothing(partitions):
    """5794 rows of float32 in 1, 2 and 7 partitions have bitwise equal statistics."""
    X, layout = table(4, n_rows=5794).astype(np.float32), layout_of(4)
    parts = [gram(part, None, layout) for part in np.array_split(X, partitions)]
    assert np.array_equal(sum(parts), gram(X.astype(np.float64), None, layout))


@pytest.mark.parametrize("width", NARROW_AND_WIDE)
@pytest.mark.parametrize("cuts", [(), (1,), (1, 2, 500), (999,)])
def test_columnar_blocks_agree_with_arrays(width, cuts):
    """Blocks of whole columns, cut anywhere, give what the whole array gives."""
    X, layout = table(width, n_rows=1000), layout_of(width)
    block = np.empty((layout.width, 1000))
    block[0] = 2**layout.bits
    for j, coding in enumerate(layout.codings):
        coding.encode(X[:, j], out=block[j + 1])
    total = GramSum(layout)
    for part in np.split(block, cuts, axis=1):
        total.add(part)
    assert np.array_equal(total.gram, gram(X, None, layout))


def test_layouts_of_memory_change_nothing():
    """Strided, reversed, foreign-endian, unaligned and sliced arrays are the same table."""
    X, layout = table(6, n_rows=300), layout_of(6)
    expected = gram(X, None, layout)
    wide = np.zeros((600, 13))
    wide[::2, 1::2] = X
    unaligned = np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    assert not unaligned.flags.aligned
    for same in (wide[::2, 1::2], wide.T[1::2, ::2].T, X[::-1], X.astype(">f8"), unaligned, X.copy()[::-1, :][::-1]):
        assert np.array_equal(gram(same, None, layout), expected)
    assert np.array_equal(gram(X[:, ::-1].copy()[:, ::-1], None, layout), expected)


def test_data_are_only_read():
    """A read-only array is enough, and no cell of a writable one changes."""
    X, y, layout = table(3), table(1)[:, 0], layout_of(4)
    kept = X.copy(), y.copy()
    X.flags.writeable = y.flags.writeable = False
    gram(X, y, layout)
    assert np.array_equal(X, kept[0])
    assert np.array_equal(y, kept[1])


@pytest.mark.parametrize(
    "dtype", [np.uint8, np.int8, np.uint16, np.int32, np.int64, np.uint64, np.float16, np.float32, bool]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_real_dtype_equals_its_float64_copy(dtype, order):
    """No integer wraps and no narrow float overflows; the result is that of the float64 copy."""
    raw = np.random.default_rng(3).integers(0, 120, size=(500, 3))
    X = np.array(raw, dtype=dtype, order=order)
    layout = Layout(["a", "b", "c"], [Coding.centered(0, 100), Coding.flag(), Coding.centered(-7, 90)], intercept=True)
    wide = X.astype(np.float64)
    assert np.array_equal(gram(X, None, layout), gram(wide, None, layout))
    assert np.array_equal(gram(X[:, :2], X[:, 2], layout), gram(wide[:, :2], wide[:, 2], layout))


def test_small_integers_do_not_wrap():
    """The products of uint8 columns are the true ones, on a grid of step 1."""
    X = np.array([[200, 100], [200, 3]], dtype=np.uint8)
    y = np.array([1, 0], dtype=np.int8)
    layout = Layout(["a", "b", "y"], [Coding(-256.0, 256.0, 0.0, 1.0)] * 3, intercept=False)
    expected = [[80000, 20600, 200], [20600, 10009, 100], [200, 100, 1]]
    assert gram(X, y, layout).tolist() == expected


def test_half_precision_is_never_summed_in_half_precision():
    """200,000 rows of 10.0 in float16, whose own sum is infinite, have the statistics of float64."""
    X = np.full((200_000, 1), 10, dtype=np.float16)
    layout = Layout(["a"], [Coding.uncentered(0, 20)], intercept=True)
    assert gram(X, None, layout).tolist() == [[200_000 * 2**32, 200_000 * 2**31], [200_000 * 2**31, 200_000 * 2**30]]


def test_wild_cells_count_as_their_limit():
    """A huge but finite cell counts as the limit it passes: bitwise the same statistic, no warning."""
    layout = Layout(["a", "b"], [Coding.centered(0, 1), Coding.centered(-1e-290, 1e-290)], intercept=True)
    wild = np.array([[1e9, 1.46e258], [0.3, -1.7e308]])
    tame = np.array([[1.0, 1e-290], [0.3, -1e-290]])
    assert np.array_equal(gram(wild, None, layout), gram(tame, None, layout))


def test_a_removed_record_moves_the_sum_by_exactly_its_own_value():
    """Where float sums move by more than the bound of a record, the grid's sum moves by exactly the bound."""
    bound = 2.0**53
    full = np.array([bound] + [1.5] * 1024)[:, None]
    layout = Layout(["a"], [Coding.uncentered(0, bound)], intercept=True)
    moved = gram(full, None, layout) - gram(full[1:], None, layout)
    assert moved.tolist() == [[2**32, 2**32], [2**32, 2**32]]  # one row, K times the largest code, its square
    assert layout.user_coding()[1, 1] == bound
    assert np.array_equal(gram(full[::-1], None, layout), gram(full, None, layout))


# --- sums that leave the doubles, and the 64-bit integers


@pytest.mark.parametrize("width", [1, 3, 30])
def test_sums_beyond_53_bits_are_exact(width):
    """Many rows at the finest grid's corner sum to an odd multiple no double could hold."""
    layout = Layout([f"x{j}" for j in range(width)], [Coding(-1.0, 1.0, 0.0, 2.0**20 - 1)] * width, intercept=False)
    rows = 3 * largest_block(layout) + 11
    X = np.ones((rows, width))
    entry = rows * (2**20 - 1) ** 2
    assert entry > 2**53
    assert float(entry) != entry
    assert (gram(X, None, layout) == entry).all()
    total = GramSum(layout)
    total.add(np.full((width, rows), 2.0**20 - 1))
    assert (total.gram == entry).all()


@pytest.mark.parametrize("bits", [1, 8, 16, 20])
def test_the_largest_block_is_the_last_that_53_bits_allow(bits):
    """One block's partial sums stay below 2**53, and one more row could reach it."""
    layout = layout_of(2, bits=bits)
    largest, rows = max(layout.entry_bounds), largest_block(layout)
    assert rows * largest**2 < 2**53 <= (rows + 1) * largest**2


def test_an_overflow_wraps_without_a_word():
    """Sums past 2**63 wrap like the integers they are; nothing raises or warns."""
    layout = layout_of(1, bits=4)
    total = GramSum(layout)
    total._sum._main._total[:] = 2**63 - 1
    total.add(np.array([[16.0], [1.0]]))
    assert total.gram[:, 0].tolist() == [-(2**63) + 255, -(2**63) + 15]


def test_reading_the_sum_does_not_end_it():
    """The matrix may be read between blocks, and what was read is a copy."""
    layout = layout_of(1, bits=4)
    total = GramSum(layout)
    assert total.gram.tolist() == [[0, 0], [0, 0]]
    for n in (1, 2, 3):
        total.add(np.array([[16.0], [-3.0]]))
        seen = total.gram
        assert seen.tolist() == [[n * 256, n * -48], [n * -48, n * 9]]
        seen[:] = 7


# --- nothing, and what is not finite


@pytest.mark.parametrize("order", ["C", "F"])
def test_no_rows_give_zeros(order):
    """An empty table has the zero matrix and no missing cell."""
    X, layout = np.empty((0, 3), order=order), layout_of(3)
    assert gram(X, None, layout).tolist() == [[0] * 4] * 4
    assert gram(X[:, :2], np.empty(0), layout).tolist() == [[0] * 4] * 4
    total = GramSum(layout)
    total.add(np.empty((4, 0)))
    assert not total.gram.any()


def test_a_target_alone_is_a_table():
    """No columns in X are allowed where y is given."""
    y, layout = table(1)[:, 0], layout_of(1)
    assert np.array_equal(gram(np.empty((len(y), 0)), y, layout), gram(y[:, None], None, layout))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_cell_that_is_not_finite_is_reported(bad, dtype, order):
    """Wherever it stands, in X or y, one such cell makes `all_finite` False and leaves nothing of the rows."""
    layout, zeros = layout_of(4), [[0] * 5] * 5
    for at in (0, 5, 6, 13):
        X, y = np.array(table(3, n_rows=14), dtype=dtype, order=order), table(1, n_rows=14)[:, 0].astype(dtype)
        for j in range(3):
            spoiled = X.copy(order)
            spoiled[at, j] = bad
            matrix, finite = gram_of_arrays(spoiled, y, layout, block_rows=6)
            assert (finite, matrix.tolist()) == (False, zeros)
        y[at] = bad
        assert gram_of_arrays(X, y, layout, block_rows=6)[1] is False


def test_a_wider_float_beyond_the_doubles_is_missing():
    """An extended number that no double holds counts as infinite, without a warning."""
    X = np.array([[np.longdouble(1)]])
    if np.finfo(np.longdouble).max == np.finfo(np.float64).max:
        pytest.skip("this machine's longdouble is a double")
    X[0, 0] = np.finfo(np.longdouble).max
    assert gram_of_arrays(X, None, layout_of(1))[1] is False


def test_a_block_with_nan_is_never_summed():
    """NaN that a reader left in a block does not become an arbitrary integer: the sum refuses to be read."""
    total = GramSum(layout_of(1, bits=4))
    total.add(np.array([[16.0, 16.0], [1.0, np.nan]]))
    with pytest.raises(InvalidData, match="missing cells"):
        _ = total.gram


# --- arguments


def test_arrays_that_are_no_real_tables_are_refused():
    """Objects, texts, complex numbers, dates and masked arrays are refused by name."""
    layout = layout_of(1)
    for wrong in (np.array([["a"]]), np.array([[1j]]), np.array([[None]]), np.array([["2020"]], dtype="M8[D]")):
        with pytest.raises(InvalidType, match="`X`"):
            gram_of_arrays(wrong, None, layout)
    with pytest.raises(InvalidType, match="masked"):
        gram_of_arrays(np.ma.masked_array([[1.0]], mask=[[True]]), None, layout)
    with pytest.raises(InvalidType, match="`y`"):
        gram_of_arrays(np.ones((1, 1)), np.array(["a"]), layout)


def test_shapes_that_do_not_fit_are_refused():
    """Dimensions, columns and lengths are checked; no message tells the number of rows."""
    layout = layout_of(3)
    with pytest.raises(InvalidArgument, match="`X` must have 2"):
        gram_of_arrays(np.ones(3), None, layout)
    with pytest.raises(InvalidArgument, match="`y` must have 1"):
        gram_of_arrays(np.ones((5, 2)), np.ones((5, 1)), layout)
    with pytest.raises(InvalidArgument, match="3 columns together; found 4"):
        gram_of_arrays(np.ones((5, 3)), np.ones(5), layout)
    with pytest.raises(InvalidArgument, match="same number of rows") as caught:
        gram_of_arrays(np.ones((51, 2)), np.ones(47), layout)
    assert "51" not in str(caught.value)
    assert "47" not in str(caught.value)


def test_blocks_that_do_not_fit_are_refused():
    """A block has the layout's width and float64 cells."""
    total = GramSum(layout_of(2))
    for wrong in (np.ones((2, 5)), np.ones(3), np.ones((3, 5), dtype=np.int64), np.ones((3, 5), dtype=np.float32)):
        with pytest.raises(InvalidArgument, match="float64 of shape"):
            total.add(wrong)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True])
def test_block_rows_are_checked(wrong):
    """A block has at least one row."""
    with pytest.raises(InvalidArgument, match="block_rows"):
        gram_of_arrays(np.ones((3, 1)), None, layout_of(1), block_rows=wrong)


def test_default_blocks_fit_into_a_cache():
    """Default blocks hold the documented number of cells and never fewer rows than make a product worthwhile."""
    assert gram_module._rows_a_block(layout_of(13), None) == gram_module.BLOCK_CELLS // 14
    assert gram_module._rows_a_block(layout_of(1000), None) == 256
    assert gram_module._rows_a_block(layout_of(1, bits=20), None) == largest_block(layout_of(1, bits=20))
