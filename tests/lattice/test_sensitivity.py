"""The declared sensitivities of a Gram matrix hold for every neighbour we can make, and are attained where possible."""

import itertools

import numpy as np
import pytest

import neighbours
from discreet.errors import InvalidArgument
from discreet.lattice.gram import gram_of_arrays
from discreet.lattice.grid import Coding, Layout
from discreet.privacy.adjacency import AddRemove, Replace
from neighbours import change, comparable

NORMS = ("nuclear", "l1", "frobenius_squared")
ADJACENCIES = (AddRemove(), Replace())
LAYOUTS = {
    "box": neighbours.box_layout(6, intercept=False),
    "box with intercept": neighbours.box_layout(7, intercept=True),
    "full grid": neighbours.box_layout(5, intercept=True, bits=16),
    "uneven": neighbours.uneven_layout(intercept=False),
    "uneven with intercept": neighbours.uneven_layout(intercept=True),
    "category": neighbours.category_layout(4),
}


def some_pairs(name, adjacency):
    layout = LAYOUTS[name]
    yield from neighbours.random_pairs(np.random.default_rng(20260), layout, adjacency, 1500)
    if name == "category":
        yield from neighbours.category_pairs(4, adjacency)
    else:
        yield from neighbours.corner_pairs(layout, adjacency)


def largest_change(name, norm, adjacency):
    return max(change(norm, pair) for pair in some_pairs(name, adjacency))


@pytest.mark.parametrize("adjacency", ADJACENCIES, ids=lambda a: a.name)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", LAYOUTS)
def test_no_neighbour_changes_more_than_declared(name, norm, adjacency):
    """Random and worst-case neighbours stay within the declared bound, compared as integers."""
    declared = LAYOUTS[name].sensitivity(norm, adjacency)
    assert isinstance(declared, int)
    assert largest_change(name, norm, adjacency) <= comparable(norm, declared)


@pytest.mark.parametrize("adjacency", ADJACENCIES, ids=lambda a: a.name)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", LAYOUTS)
def test_a_halved_bound_would_be_caught(name, norm, adjacency):
    """The neighbours have power: in every norm some of them change more than half of what is declared."""
    declared = LAYOUTS[name].sensitivity(norm, adjacency)
    halved = declared**2 // 4 if norm == "nuclear" else declared // 2
    assert largest_change(name, norm, adjacency) > halved


def test_pairs_of_the_strategies_are_legal_rows():
    """Every generated row keeps the entry bounds, the row norm and the constant."""
    for name, adjacency in itertools.product(LAYOUTS, ADJACENCIES):
        layout = LAYOUTS[name]
        absent = neighbours.zero_row(layout)
        for row in itertools.chain.from_iterable(some_pairs(name, adjacency)):
            if row == absent and isinstance(adjacency, AddRemove):
                continue
            assert all(abs(entry) <= bound for entry, bound in zip(row, layout.entry_bounds, strict=True))
            assert sum(entry**2 for entry in row) <= layout.row_norm_squared
            assert not layout.intercept or row[0] == 2**layout.bits


def test_nuclear_formula_agrees_with_eigenvalues():
    """The exact two-eigenvalue formula is the sum of the absolute eigenvalues."""
    layout = neighbours.uneven_layout(intercept=True)
    for v, u in neighbours.random_pairs(np.random.default_rng(1), layout, Replace(), 50):
        eigenvalues = np.linalg.eigvalsh(np.outer(v, v) - np.outer(u, u))
        assert np.abs(eigenvalues).sum() ** 2 == pytest.approx(neighbours.nuclear_squared(v, u), rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("name", LAYOUTS)
def test_one_added_row_attains_the_nuclear_and_frobenius_bounds(name):
    """Under AddRemove a row of the largest norm changes exactly R2 (nuclear) and R2**2 (Frobenius squared)."""
    squared = LAYOUTS[name].row_norm_squared
    assert largest_change(name, "nuclear", AddRemove()) == squared**2
    assert largest_change(name, "frobenius_squared", AddRemove()) == squared**2


@pytest.mark.parametrize("name", sorted(set(LAYOUTS) - {"category"}))
def test_a_corner_against_nothing_attains_the_l1_bound(name):
    """Under AddRemove the corner of the box changes the distinct entries by exactly (L**2 + sum M**2) / 2."""
    assert largest_change(name, "l1", AddRemove()) == LAYOUTS[name].l1_bound


@pytest.mark.parametrize("name", ["box", "uneven"])
def test_a_corner_against_zero_attains_the_l1_bound_under_replace(name):
    """Without an intercept the zero row is a record, so Replace and AddRemove have one and the same l1 bound."""
    assert largest_change(name, "l1", Replace()) == LAYOUTS[name].l1_bound


def test_flipped_signs_attain_the_ordered_l1_bound():
    """Corners that differ in the sign of half of the sum change all ordered entries together by L**2."""
    layout = neighbours.box_layout(6, intercept=True)
    v = layout.entry_bounds
    u = v[:3] + tuple(-entry for entry in v[3:])
    assert np.abs(np.outer(v, v) - np.outer(u, u)).sum() == sum(v) ** 2


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("width", [2, 4, 6, 8])
def test_orthogonal_rows_attain_twice_the_row_norm(width, intercept):
    """With an even number of equal columns orthogonal corners attain both spectral bounds of Replace."""
    layout = neighbours.box_layout(width, intercept=intercept)
    pairs = list(neighbours.corner_pairs(layout, Replace()))
    for norm in ("nuclear", "frobenius_squared"):
        declared = comparable(norm, layout.sensitivity(norm, Replace()))
        assert max(change(norm, pair) for pair in pairs) == declared


@pytest.mark.parametrize("width", [3, 5, 7, 9])
def test_corners_of_an_odd_box_reach_the_known_spectral_maximum(width):
    """With an intercept and odd D the corners reach exactly 2 * sqrt(D**2 - 1) in units of K**2."""
    layout = neighbours.box_layout(width, intercept=True)
    reached = max(neighbours.nuclear_squared(*pair) for pair in neighbours.corner_pairs(layout, Replace()))
    assert reached == 4 * (width**2 - 1) * 16 ** (layout.bits)
    assert reached < layout.sensitivity("nuclear", Replace()) ** 2


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("width", [2, 3])
def test_bounds_hold_on_every_pair_of_a_whole_small_grid(width, intercept):
    """On a grid small enough to list, no pair of rows passes a bound, and the maximum is the known one."""
    layout = neighbours.box_layout(width, intercept=intercept, bits=1)
    rows = list(neighbours.every_row(layout))
    for norm in NORMS:
        added = max(change(norm, (row, neighbours.zero_row(layout))) for row in rows)
        assert added == comparable(norm, layout.sensitivity(norm, AddRemove()))
        replaced = max(change(norm, pair) for pair in itertools.combinations(rows, 2))
        declared = comparable(norm, layout.sensitivity(norm, Replace()))
        assert declared // 2 < replaced <= declared
        attained = (norm == "l1" and not intercept) or (norm != "l1" and width % 2 == 0)
        assert (replaced == declared) == attained


def test_a_row_norm_below_the_box_tightens_the_spectral_norms():
    """A smaller declared row norm lowers the nuclear and Frobenius bounds, and rows at that norm attain them."""
    codings = [Coding.uncentered(-1, 1, bits=4)] * 2
    layout = Layout(["a", "b"], codings, intercept=False, bits=4, row_norm_squared=16**2)
    pair = (16, 0), (0, 16)
    assert layout.sensitivity("nuclear", Replace()) == 2 * 16**2
    assert neighbours.nuclear_squared(*pair) == (2 * 16**2) ** 2
    assert neighbours.frobenius_squared(*pair) == layout.sensitivity("frobenius_squared", Replace())
    assert layout.sensitivity("nuclear", AddRemove()) == 16**2
    assert layout.sensitivity("frobenius_squared", AddRemove()) == 16**4


@pytest.mark.parametrize("adjacency", ADJACENCIES, ids=lambda a: a.name)
@pytest.mark.parametrize("name", ["box", "box with intercept", "uneven", "uneven with intercept"])
def test_neighbouring_tables_differ_by_no_more_than_declared(name, adjacency):
    """From raw cells, many of them out of bounds, to the exact Gram matrices of two neighbouring tables."""
    layout, rng = LAYOUTS[name], np.random.default_rng(7)
    for _ in range(20):
        one, other = neighbours.neighbouring_tables(rng, layout, adjacency, n_rows=30)
        difference = gram_of_arrays(one, None, layout)[0] - gram_of_arrays(other, None, layout)[0]
        assert np.abs(difference[np.triu_indices(layout.width)]).sum() <= layout.l1_bound
        assert (difference**2).sum() <= layout.sensitivity("frobenius_squared", adjacency)
        nuclear = np.abs(np.linalg.eigvalsh(difference)).sum()
        assert nuclear <= layout.sensitivity("nuclear", adjacency) * (1 + 1e-12)


def test_sensitivity_names_what_it_does_not_know():
    """An unknown norm is refused; the adjacency is settled by whoever asks."""
    layout = LAYOUTS["box"]
    with pytest.raises(InvalidArgument, match="norm"):
        layout.sensitivity("spectral", Replace())
