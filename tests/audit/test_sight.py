"""Audits that see: records beyond their bounds, an intercept, a threshold that selects, sparse rows, both adjacencies.

What is convicted here if a clip, a part of a sensitivity or a fifth of the noise is gone, the planted bugs show.
"""

from dataclasses import replace

import numpy as np
import pytest

from discreet.audit.mechanisms import registry
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.coins import Coins

SEEING = [
    "descent, one step", "descent, intercept", "descent, intercept, add-remove", "descent, sparse rows",
    "descent, sparse rows, add-remove", "descent, threshold that selects",
    "descent, threshold that selects, add-remove",
]  # fmt: skip
# Of those, the one that is run for every change; by night all are, here and with power in test_mechanisms.py.
OFTEN = "descent, intercept, add-remove"


def rows_of(name):
    case = registry()[name].case()
    return case.first, case.second


@pytest.mark.parametrize(
    "name",
    [
        OFTEN,
        *(pytest.param(name, marks=pytest.mark.nightly) for name in SEEING if name != OFTEN),
        "sample, candidates",
        "median",
        "Gram, Wishart, add-remove",  # the last four: planted bugs of the other rooms are shown by them
        pytest.param("Gram, l-infinity, add-remove", marks=pytest.mark.nightly),
    ],
)
def test_an_audit_that_sees_convicts_nobody(name):
    """With all of its runs; its power is left to other tests."""
    case = replace(registry()[name].case(), worse=None)
    assert not case.run(coins=Coins.from_seed(4)).violated


@pytest.mark.parametrize("name", SEEING)
def test_the_rows_that_are_seen_fill_their_bounds(name):
    """A record four times beyond its norm is scaled down to it, not further."""
    first, _ = rows_of(name)
    matrix = first.private_matrix if isinstance(first.private_matrix, np.ndarray) else first.private_matrix.toarray()
    squares = (matrix[-1] ** 2).sum()
    bound = first.grid.norm_squared() - first.grid.constant**2
    assert 0.999 * bound <= squares <= bound


def test_sparse_rows_are_sparse_and_have_every_entry_once():
    """Halves of an entry were added up before it was bounded."""
    first, second = rows_of("descent, sparse rows, add-remove")
    assert not isinstance(first.private_matrix, np.ndarray)
    assert first.private_matrix.shape[0] == second.private_matrix.shape[0] + 1


def test_a_threshold_that_selects_leaves_a_column_out():
    """Both data sets support another column, as their only records say."""
    case = registry()["descent, threshold that selects"].case()
    found = case.mechanism(case.first, Coins.from_seed(0), 50)
    assert (np.count_nonzero(found, axis=1) == 1).all()
    assert {0, 1} == set(np.argmax(np.abs(found), axis=1).tolist())


def test_an_intercept_weighs_more_than_its_row():
    """Most of the sensitivity is its own."""
    first, _ = rows_of("descent, intercept")
    assert first.grid.constant**2 > 10 * (first.grid.norm_squared() - first.grid.constant**2)


def test_both_adjacencies_are_audited():
    """In the families of descent, of Gram matrices and of grids."""
    names = [name for name in registry() if "add-remove" in name]
    assert len(names) >= 12
    for name in ("descent, intercept", "descent, sparse rows", "descent, threshold that selects"):
        one, other = rows_of(name)
        assert one.private_matrix.shape == other.private_matrix.shape, Replace()
        present, absent = rows_of(f"{name}, add-remove")
        assert present.private_matrix.shape[0] == absent.private_matrix.shape[0] + 1, AddRemove()
