"""What one record moves in a whitened, clipped step, by brute force; sums that no order and no block changes."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from descent.whitened_tables import prepared, reference, small_layout
from discreet.descent.preconditioned.rows import _caps, clip_bits, whole_iterate
from discreet.privacy.adjacency import AddRemove, Replace

CLIP = 1 << 38
ITERATES = [(0.0, 0.0), (0.4, -0.3), (-7.0, 3.0), (1e20, -1e25)]
UNITS = [1e-9, 1e-6, 0.25]


def records(layout):
    """Return every combination of extreme, middle and odd codes."""
    columns = [(-bound, -1, 0, bound) for bound in layout.entry_bounds]
    if layout.intercept:
        columns[0] = (layout.entry_bounds[0],)
    rows = list(itertools.product(*columns))
    return [*rows, (0,) * layout.width]  # a dropped record


def grams():
    """Return public matrices that whiten little, much, and askew."""
    yield "identity", np.eye(3) * 100.0
    yield "collinear", np.array([[100.0, 99.9, 0.0], [99.9, 100.0, 0.0], [0.0, 0.0, 100.0]])
    yield "noise", np.array([[-30.0, 20.0, 1.0], [20.0, 4.0, 1.0], [1.0, 1.0, -2.0]])


@pytest.mark.parametrize("adjacency", [Replace(), AddRemove()], ids=repr)
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("name", "gram"), list(grams()), ids=[name for name, _ in grams()])
def test_no_neighbor_moves_a_step_further_than_the_clip(adjacency, loss, intercept, name, gram):
    """Sums move by at most c * clip in Euclidean norm and counts by 1, in integers, at every iterate and unit."""
    layout = small_layout(2, intercept=intercept, target=(0.0, 3.0) if loss == "poisson" else (-1.0, 1.0))
    clip = CLIP if name != "noise" else CLIP - 12_345  # also one that no norm divides
    tables = [prepared([row], layout, loss, gram=gram, clip=clip)[0] for row in records(layout)]
    nothing, worst = prepared([], layout, loss, gram=gram, clip=clip)[0], 0
    for iterate, unit in itertools.product(ITERATES, UNITS):
        released = [rows.clipped_sums(np.array(iterate), unit) for rows in tables]
        found = [([int(s) for s in sums], count) for sums, count in released]
        empty, none = nothing.clipped_sums(np.array(iterate), unit)
        assert not empty.any()
        assert none == 0
        pairs = [(one, (empty.tolist(), 0)) for one in found]
        if isinstance(adjacency, Replace):
            pairs = list(itertools.combinations(found, 2))
        for (one, a), (other, b) in pairs:
            worst = max(worst, sum((s - t) ** 2 for s, t in zip(one, other, strict=True)))
            assert abs(a - b) <= 1
    bound = (2 if isinstance(adjacency, Replace) else 1) * clip
    assert worst <= bound**2
    assert worst >= (0.9 * bound) ** 2


@pytest.mark.parametrize("adjacency", [Replace(), AddRemove()], ids=repr)
def test_the_worst_pair_attains_the_sensitivity(adjacency):
    """A row along an axis, residuals beyond the cap, of opposite signs where one record replaces another."""
    layout = small_layout(2, intercept=False)
    K = 2**layout.bits
    high = prepared([(K, 0, K)], layout)[0].clipped_sums(np.zeros(2), 1e-9)[0]
    low = prepared([(K, 0, -K)], layout)[0].clipped_sums(np.zeros(2), 1e-9)[0]
    other = low if isinstance(adjacency, Replace) else np.zeros(2, np.int64)
    assert (high - other).tolist() == [-(2 if isinstance(adjacency, Replace) else 1) * CLIP, 0]


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_sums_are_those_of_integer_arithmetic(loss):
    """A hundred records, summed one at a time in Python's integers."""
    rng = np.random.default_rng(4)
    layout = small_layout(3, intercept=True, bits=16, target=(0.0, 9.0))
    V = rng.integers(-(2**16), 2**16 + 1, (100, 4))
    V[:, 0] = 2**16
    gram = V.T @ V / 4.0**16
    rows, matrix = prepared(V, layout, loss, gram=gram)
    for iterate, unit in ([0.3, -0.2, 0.7], 1e-7), ([-30.0, 8.0, 2.0], 3e-5):
        sums, count = rows.clipped_sums(np.array(iterate), unit)
        assert (sums.tolist(), count) == reference(V, layout, matrix, rows.link, iterate, unit, CLIP)
    assert 0 < rows.clipped_sums(np.array([0.3, -0.2, 0.7]), 1e-6)[1] < 100


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_neither_order_nor_blocks_change_a_bit(loss):
    """Sums are exact integers, so they are the same for every order of the rows and every block size."""
    rng = np.random.default_rng(5)
    layout = small_layout(4, intercept=True, bits=16, target=(0.0, 9.0))
    V = rng.integers(-(2**16), 2**16 + 1, (999, 5))
    V[:, 0] = 2**16
    gram, iterate = V.T @ V / 4.0**16, rng.normal(size=4)
    expected, count = prepared(V, layout, loss, gram=gram)[0].clipped_sums(iterate, 2e-6)
    assert 0 < count < 999
    for block_rows, backward in ((1, False), (2, True), (7, True), (998, False), (8192, True)):
        moved = rng.permutation(V)
        rows, _ = prepared(moved, layout, loss, gram=gram, block_rows=block_rows)
        sums, again = rows.clipped_sums(iterate, 2e-6, backward=backward)
        np.testing.assert_array_equal(sums, expected)
        assert again == count
        assert rows.clipped_sums(iterate, 2e-6, threads=3)[0].tolist() == expected.tolist()
        assert rows.clipped_sums(iterate, 2e-6, count=False)[1] == 0


def test_sums_beyond_64_bits_wrap_and_never_raise():
    """More rows than were expected cost the result, not the guarantee."""
    layout = small_layout(2, intercept=True)
    rows, _ = prepared([(16, 16, 16)], layout, clip=CLIP)
    many = type(rows)(rows.private_blocks * 10, rows.clip, rows.link, rows.unit)
    one, ten = (r.clipped_sums(np.zeros(2), 1e-30)[0] for r in (rows, many))
    np.testing.assert_array_equal(ten, one * 10)


@given(st.integers(0, 2**24), st.integers(-2, 2), st.integers(1, 2**38))
def test_caps_are_exact_quotients_by_norms_rounded_up(root, offset, clip):
    """Next to perfect squares, too: floor(clip / ceil(sqrt(a))), as in whole numbers."""
    square = min(max(root**2 + offset, 0), 2**48)
    cap = np.array([float(square)])
    _caps(cap, clip)
    norm = max(1, math.isqrt(square) + (math.isqrt(square) ** 2 < square))
    assert int(cap[0]) == clip // norm
    assert int(cap[0]) ** 2 * square <= clip**2


@given(st.lists(st.floats(-1e30, 1e30), min_size=1, max_size=20))
def test_iterates_become_whole_numbers_of_bounded_norm(entries):
    """Margins with rows of norm 2**24 then stay below 2**53; and nothing but the last digits is lost."""
    iterate = np.array(entries)
    whole, worth = whole_iterate(iterate)
    assert sum(int(v) ** 2 for v in whole) <= 2**56
    np.testing.assert_allclose(whole * worth, iterate, atol=worth, rtol=0)


def test_clips_are_as_fine_as_the_rows_permit():
    """Up to 2**38 units; fewer for more rows than 2**22."""
    assert [clip_bits(n) for n in (1, 10**6, 2**22, 2**30, 2**32)] == [38, 38, 38, 30, 28]
    assert all(2 * n * 2 ** clip_bits(n) <= 2**62 for n in range(1, 2**20, 997))
