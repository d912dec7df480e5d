"""Frames are paired by their labels, arrays by position."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from discreet.errors import InvalidData
from discreet.tables.arrays import check_pairing

LABELS = [
    range(3),
    list("abc"),
    list("aab"),
    [1.5, np.nan, 2],
    pd.date_range("2020", periods=3, tz="UTC"),
    [None, 1, 2],
]
LABELS += [pd.MultiIndex.from_tuples([(1, "a"), (1, "b"), (2, "a")]), pd.CategoricalIndex(list("aba"))]


@pytest.mark.parametrize("labels", LABELS, ids=str)
def test_equal_sequences_of_labels_are_paired(labels):
    """Of any type, doubled ones and missing ones too."""
    index = pd.Index(labels)
    check_pairing(pd.DataFrame({"a": [1, 2, 3]}, index=index), pd.Series([1, 2, 3], index=index.copy()))


@pytest.mark.parametrize("labels", LABELS, ids=str)
def test_other_labels_and_another_order_are_refused(labels):
    """The message names the argument and the remedy, and no label."""
    index = pd.Index(labels)
    X = pd.DataFrame({"a": [1, 2, 3]}, index=index)
    for other in (index[::-1], pd.Index(["q", "r", "s"])):
        if other.equals(index):
            continue
        with pytest.raises(
            InvalidData, match=r"`y` has another index than `X`.*y.loc\[X.index\].*y.to_numpy\(\)"
        ) as caught:
            check_pairing(X, pd.Series([1, 2, 3], index=other))
        assert "'q'" not in str(caught.value)


def test_labels_that_are_the_same_in_another_type_are_equal():
    """A range, whole numbers and floats; text of either type."""
    X = pd.DataFrame({"a": [1, 2, 3]})
    check_pairing(X, pd.Series([1, 2, 3], index=[0, 1, 2]), pd.Series([1, 2, 3], index=[0.0, 1.0, 2.0]))
    texts = pd.Index(list("abc"), dtype=object)
    check_pairing(X.set_axis(texts), pd.Series([1, 2, 3], index=texts.astype("string")))


def test_what_has_no_labels_is_paired_by_position():
    """Arrays, lists, tuples, polars, an index itself; lengths are not this check's matter."""
    X, y = pd.DataFrame({"a": [1, 2, 3]}), pd.Series([1, 2, 3], index=[2, 1, 0])
    for other in (np.zeros(3), [1, 2, 3], (1, 2, 3), pl.Series([1, 2, 3]), y.index, None, y.iloc[:2]):
        check_pairing(X, other)
        check_pairing(other, y)


def test_labels_that_cannot_be_compared_are_not_the_same():
    """An index whose comparison raises is refused in our words."""

    class Angry:
        def __len__(self):
            return 3

        def equals(self, other):
            raise RuntimeError(str(other))

    class Rows:
        index = Angry()

    with pytest.raises(InvalidData, match="another index"):
        check_pairing(pd.DataFrame({"a": [1, 2, 3]}), Rows())
