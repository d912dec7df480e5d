"""Declared public sets refuse what cannot be a bound, by name, and never change."""

import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.bounds import LARGEST_BOUND, Box, Interval, check_limits


def test_limits_come_back_as_floats():
    """Whole numbers and numpy's scalars become floats."""
    limits = check_limits(0, np.float32(0.5), column="age")
    assert limits == (0.0, 0.5)
    assert all(type(limit) is float for limit in limits)


@pytest.mark.parametrize("limits", [(1, 0), (1, 1), (0, math.inf), (-math.inf, 0), (math.nan, 1), (0, math.nan)])
def test_limits_that_bound_nothing_are_refused_by_column(limits):
    """Reversed, equal, infinite and NaN limits name the column."""
    with pytest.raises(InvalidArgument, match="age"):
        check_limits(*limits, column="age")


def test_reversed_limits_show_both_numbers():
    """The message shows both declared numbers, which are public, and what to do."""
    with pytest.raises(InvalidArgument, match=r"lower < upper; found lower = 100.0, upper = 0.0"):
        Interval(100, 0)


@pytest.mark.parametrize("limits", [(-1e200, 1e200), (0, 1e308), (-1e151, 0)])
def test_limits_whose_square_overflows_are_refused(limits):
    """Bounds beyond 2**500 say that a square is not representable."""
    with pytest.raises(InvalidArgument, match="not representable"):
        Interval(*limits)


def test_generous_limits_are_accepted():
    """Wide bounds are the owner's choice."""
    assert Interval(0, 2**47).upper == 2.0**47
    assert Interval(-LARGEST_BOUND, LARGEST_BOUND).lower == -LARGEST_BOUND


@pytest.mark.parametrize("wrong", [True, "0", None, [0]])
def test_limits_of_another_type_are_refused(wrong):
    """A limit is a number."""
    with pytest.raises(InvalidType, match="lower bound"):
        Interval(wrong, 1)
    with pytest.raises(InvalidType, match="upper bound"):
        Interval(0, wrong)


def test_integers_beyond_the_doubles_are_refused():
    """An integer that no double can hold is no bound."""
    with pytest.raises(InvalidArgument, match="upper bound"):
        Interval(0, 10**400)


def test_intervals_are_values():
    """Equal limits are equal intervals, hashable and frozen."""
    assert Interval(0, 1) == Interval(0.0, 1.0)
    assert len({Interval(0, 1), Interval(0.0, 1.0)}) == 1
    with pytest.raises(FrozenInstanceError):
        Interval(0, 1).lower = 3.0


def test_boxes_hold_one_limit_a_column():
    """Sequences give limits in order; a scalar beside a sequence holds for every column."""
    box = Box(lower=[0, 17], upper=[1, 90])
    assert (box.lower, box.upper) == ((0.0, 17.0), (1.0, 90.0))
    assert Box(lower=-1, upper=np.array([1, 2, 3])).lower == (-1.0, -1.0, -1.0)
    assert Box(lower=(-1, -2), upper=5).upper == (5.0, 5.0)


def test_a_scalar_box_spreads_and_another_does_not():
    """Only a box declared by two scalars fits any number of columns."""
    assert Box(lower=0, upper=1).for_columns(3) == Box(lower=[0] * 3, upper=[1] * 3)
    box = Box(lower=[0, 0], upper=[1, 2])
    assert box.for_columns(2) is box
    for wrong in (Box(lower=[0], upper=[1]), box):
        with pytest.raises(InvalidArgument, match="x_bounds"):
            wrong.for_columns(3)


def test_boxes_name_the_column_that_is_wrong():
    """A bad pair in a box is named by its position."""
    with pytest.raises(InvalidArgument, match="column 1"):
        Box(lower=[0, 5], upper=[1, 4])
    with pytest.raises(InvalidArgument, match="column 2"):
        Box(lower=0, upper=[1, 4, math.inf])


@pytest.mark.parametrize(("lower", "upper"), [([0, 0], [1, 1, 1]), ([], 1), (0, []), ([[0, 1]], 2), ([], [])])
def test_boxes_of_impossible_shapes_are_refused(lower, upper):
    """Lengths that differ, no columns, and tables of limits are refused."""
    with pytest.raises(InvalidArgument, match="Box"):
        Box(lower=lower, upper=upper)


@pytest.mark.parametrize("wrong", ["0", b"0", None])
def test_boxes_of_impossible_types_are_refused(wrong):
    """Texts and absent limits are refused by name."""
    with pytest.raises(InvalidType, match="lower"):
        Box(lower=wrong, upper=1)
    with pytest.raises(InvalidType, match="upper"):
        Box(lower=0, upper=wrong)


def test_limits_of_a_box_have_names():
    """Nobody has to remember an order: positional limits are refused."""
    with pytest.raises(TypeError):
        Box(0, 1)
