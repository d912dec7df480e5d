"""Rows bounded by a norm, their exact second moments, and what one row can change."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from discreet.errors import InvalidArgument, InvalidData
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.sampling.pca.bingham import direction_sensitivity
from discreet.sampling.pca.second_moments import (
    SecondMoments,
    UnitGrid,
    check_cells,
    complement,
    error_of,
    half_diagonal,
    sum_rows,
)

cells = st.floats(allow_nan=False, allow_infinity=False, width=64)


@settings(max_examples=200, deadline=None)
@given(hnp.arrays(np.float64, (6, 3), elements=cells), st.integers(4, 16), st.floats(1e-50, 1e50))
def test_no_row_is_longer_than_the_norm(rows: np.ndarray, bits: int, norm: float) -> None:
    """In whole numbers, whatever stands in the cells."""
    grid = UnitGrid(3, row_norm=norm, bits=bits)
    whole = grid.encode(rows)
    assert (whole == np.trunc(whole)).all()
    assert all(sum(int(cell) ** 2 for cell in row) <= grid.norm**2 for row in whole)


@settings(max_examples=50, deadline=None)
@given(hnp.arrays(np.float64, (4, 2), elements=st.floats(-3, 3)))
def test_a_short_row_is_only_rounded(rows: np.ndarray) -> None:
    """A row within the norm keeps its place up to a grid unit a cell."""
    grid = UnitGrid(2, row_norm=5.0, center=(0.5, -0.5))
    whole = grid.encode(rows)
    assert (
        np.abs(whole * (grid.row_norm / grid.norm) - (rows - [0.5, -0.5])) <= grid.row_norm / grid.norm + 1e-12
    ).all()


def test_rows_are_clipped_to_their_box_and_taken_about_their_center() -> None:
    """Bounds, then center, then norm."""
    grid = UnitGrid(2, row_norm=1.0, center=(0.5, 0.5), lower=(0.0, 0.0), upper=(1.0, 1.0), bits=4)
    assert grid.encode(np.array([[9.0, 0.5], [0.25, -7.0]])).tolist() == [[8.0, 0.0], [-4.0, -8.0]]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000))
def test_sums_do_not_depend_on_the_order_of_rows(seed: int) -> None:
    """Bit for bit, for they are sums of whole numbers."""
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(50, 4))
    grid = UnitGrid(4, row_norm=1.5)
    one, other = sum_rows(rows, grid), sum_rows(rows[generator.permutation(50)], grid)
    assert (one.private_sum == other.private_sum).all()
    by_hand = sum(np.outer(row, row) for row in grid.encode(rows).astype(np.int64).astype(object))
    assert (one.exact() == by_hand).all()


def test_blocks_of_rows_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short blocks give what one long block gives."""
    rows = np.random.default_rng(0).normal(size=(101, 3))
    grid = UnitGrid(3, row_norm=1.0)
    whole = sum_rows(rows, grid).private_sum
    monkeypatch.setattr("discreet.sampling.pca.second_moments._BLOCK_CELLS", 21)
    assert (sum_rows(rows, grid).private_sum == whole).all()


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_the_sensitivity_bounds_every_change(seed: int, d: int) -> None:
    """Random and extreme pairs of rows, in rationals; under AddRemove half a row is taken off."""
    generator = np.random.default_rng(seed)
    grid = UnitGrid(d, row_norm=1.0, bits=6)
    one, other = grid.encode(generator.normal(size=(2, d)) * 10 ** generator.uniform(-1, 1)).astype(int).tolist()
    direction = generator.integers(-9, 10, d).tolist()
    square = sum(v * v for v in direction)
    if square == 0:
        return
    gains = [
        Fraction(sum(x * v for x, v in zip(row, direction, strict=True)) ** 2, square * 4**6) for row in (one, other)
    ]
    assert abs(gains[0] - gains[1]) <= direction_sensitivity(Replace())
    assert abs(gains[0] - Fraction(1, 2)) <= direction_sensitivity(AddRemove())


@pytest.mark.parametrize("shape", [(1, 2), (2, 5), (4, 5), (3, 40)])
def test_a_public_basis_makes_no_row_longer(shape: tuple[int, int]) -> None:
    """The basis is perpendicular to the directions, nearly orthonormal, and its whole numbers are a contraction."""
    directions = np.random.default_rng(1).normal(size=shape)
    basis, whole = complement(directions)
    assert basis.shape == (shape[1] - shape[0], shape[1])
    assert np.abs(basis @ directions.T).max() < 1e-12
    assert np.abs(whole * 2.0**-30 - basis).max() < 2.0**-11
    rows = whole.astype(object)
    for row in np.random.default_rng(2).integers(-1000, 1000, (20, shape[1])):
        image = rows @ row.astype(object)
        assert int(image @ image) <= int(row.astype(object) @ row.astype(object)) * 4**30


def test_a_basis_that_is_too_long_is_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check in whole numbers decides, not the numbers before it."""
    monkeypatch.setattr(np.linalg, "qr", lambda *_, **__: (np.diag([1.0, 1.001, 1.001]), None))
    _, whole = complement(np.array([[1.0, 0.0, 0.0]]))
    assert int(whole[0, 1]) <= 2**30


@pytest.mark.parametrize(("in_basis", "most"), [(False, 64), (True, 64), (True, 4)])
def test_doubles_err_by_less_than_is_declared(monkeypatch: pytest.MonkeyPatch, in_basis: bool, most: int) -> None:  # noqa: FBT001
    """In Frobenius norm, per row, against the whole numbers; also where those are too many to be used."""
    monkeypatch.setattr("discreet.sampling.pca.second_moments._EXACT_COLUMNS", most)
    rows = np.random.default_rng(3).normal(size=(300, 6))
    moments = sum_rows(rows, UnitGrid(6, row_norm=2.0))
    if in_basis:
        moments = moments.within(complement(rows[:2])[1])
    exact, unit = moments.exact(), moments.unit
    differences = [
        Fraction(float(entry)) - Fraction(int(whole), unit)
        for entry, whole in zip(moments.doubles().ravel(), exact.ravel(), strict=True)
    ]
    assert sum(d * d for d in differences) <= (Fraction(error_of(6, moments.dimension, in_basis=in_basis)) * 300) ** 2


def test_missing_cells_are_refused_by_column() -> None:
    """The column is named, and no cell."""
    rows = np.array([[1.0, 2.0], [3.0, np.nan]])
    with pytest.raises(InvalidData, match="Column 'age' has missing cells"):
        check_cells(rows, ["income", "age"], UnitGrid(2, row_norm=1.0))


def test_more_rows_than_a_sum_holds_are_refused() -> None:
    """Sums of squares must stay below 2**63."""
    grid = UnitGrid(1, row_norm=1.0, bits=16)
    assert grid.most_rows * grid.norm**2 < 2**63
    rows = np.broadcast_to(np.zeros((1, 1)), (grid.most_rows + 1, 1))
    with pytest.raises(InvalidData, match="at most 2147483647 rows"):
        check_cells(rows, ["a"], grid)


@pytest.mark.parametrize(
    "options",
    [
        {"row_norm": 0.0},
        {"row_norm": float("nan")},
        {"row_norm": 1.0, "bits": 17},
        {"row_norm": 1.0, "center": (0.0,)},
        {"row_norm": float("inf")},
    ],
)
def test_unusable_grids_are_refused(options: dict[str, object]) -> None:
    """Each names what is wrong."""
    with pytest.raises(InvalidArgument):
        UnitGrid(2, **options)  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6)), min_size=1, max_size=5))
def test_half_a_diagonal_is_never_short(pairs: list[tuple[float, float]]) -> None:
    """Rounded up, so that no row of the box is longer."""
    lower = [low for low, _ in pairs]
    upper = [low + width for low, width in pairs]
    exact = sum(((Fraction(high) - Fraction(low)) / 2) ** 2 for low, high in zip(lower, upper, strict=True))
    assert Fraction(half_diagonal(lower, upper)) ** 2 >= exact


def test_moments_say_their_dimension() -> None:
    """With and without a basis."""
    moments = SecondMoments(np.eye(3, dtype=np.int64), 1, 4)
    assert moments.dimension == 3
    assert moments.within(complement(np.array([[1.0, 0.0, 0.0]]))[1]).dimension == 2
