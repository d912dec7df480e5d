"""Extremal tables are legal neighbours, one record apart."""

import math

import numpy as np
import pytest

from discreet.audit.neighbours import (
    MadeUpTable,
    full_row,
    one_record_apart,
    opposed_rows,
    sign_flip,
    zero_against_full,
    zeros,
)
from discreet.descent.gradients import private_gradient
from discreet.descent.losses import SquaredLoss
from discreet.descent.rows import integer_rows
from discreet.privacy.adjacency import AddRemove, Replace

REST = MadeUpTable(np.arange(6.0).reshape(3, 2), np.array([1.0, 2.0, 3.0]))
CORNER = np.array([1.0, -1.0])
MAKERS = {
    "flip": lambda adjacency: sign_flip(adjacency, REST, CORNER, (-2.0, 5.0)),
    "zero": lambda adjacency: zero_against_full(adjacency, REST, CORNER, 5.0),
    "opposed": lambda adjacency: opposed_rows(adjacency, REST, CORNER, 5.0),
}


@pytest.mark.parametrize("name", MAKERS)
def test_tables_differ_in_their_last_record_alone(name):
    """Replace keeps the number of rows, AddRemove takes one away."""
    one, other = MAKERS[name](Replace())
    assert one.X.shape == other.X.shape == (4, 2)
    np.testing.assert_array_equal(one.X[:3], other.X[:3])
    np.testing.assert_array_equal(one.y[:3], other.y[:3])
    assert not (np.array_equal(one.X[3], other.X[3]) and one.y[3] == other.y[3])
    present, absent = MAKERS[name](AddRemove())
    np.testing.assert_array_equal(present.X, one.X)
    np.testing.assert_array_equal(absent.X, REST.X)


def test_opposed_rows_are_orthogonal_where_entries_are_alike():
    """Half of the signs are turned."""
    one, other = opposed_rows(Replace(), zeros(0, 4), np.ones(4), 1.0)
    assert float(one.X[-1] @ other.X[-1]) == 0.0


@pytest.mark.parametrize(("n_columns", "entry_bound"), [(1, 1.0), (4, 0.5), (3, 0.5), (9, 0.4), (2, 0.9)])
def test_a_full_row_is_as_long_as_it_may_be(n_columns, entry_bound):
    """Its norm is the bound, or all of its entries are at theirs."""
    row = full_row(n_columns, row_norm=1.0, entry_bound=entry_bound)
    assert np.abs(row).max() <= entry_bound
    norm = math.sqrt(float(row @ row))
    assert norm <= 1 + 1e-12
    assert norm == pytest.approx(1.0) or (row == entry_bound).all()


def test_a_flipped_target_moves_a_gradient_by_all_it_may_at_every_iterate():
    """So that several steps show all of what they cost."""
    tables = sign_flip(Replace(), zeros(4, 3), full_row(3, row_norm=1.0, entry_bound=1.0), (-8.0, 8.0))
    one, other = (integer_rows(t.X, t.y, row_norm=1.0, target_bounds=(-8, 8)) for t in tables)
    loss, bound = SquaredLoss(clip=0.5), 1 << 16
    for theta in (np.zeros(3), np.array([3.0, -1.0, 2.0])):
        moved = private_gradient(one, loss, theta, bound) - private_gradient(other, loss, theta, bound)
        assert sum(entry * entry for entry in moved.tolist()) == one.grid.l2_squared(bound, Replace())


def test_a_record_may_be_absent_on_either_side():
    """None stands for no record."""
    one, other = one_record_apart(zeros(2, 1), (np.ones(1), 1.0), None)
    assert (one.X.shape, other.X.shape) == ((3, 1), (2, 1))
