"""Sparse matrices are checked before anything follows their numbers, and copied before anything is changed."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse

from discreet.descent.rows import integer_rows
from discreet.errors import InvalidData, InvalidType
from discreet.tables.readers.sparse_files import read_sparse
from discreet.tables.sparse_rows import summed_rows
from estimators_for_tests import TABLE
from sparse_for_tests import BROKEN, FORMATS, broken, changed, sparse, untidy


@pytest.mark.parametrize("name", BROKEN)
def test_every_broken_matrix_is_refused(name):
    """Numbers outside the shape, lines that do not rise, and parts of unequal lengths; no part is quoted."""
    with pytest.raises(InvalidData, match="`data` is a broken sparse matrix") as caught:
        summed_rows(broken(name), "data")
    assert caught.value.__context__ is None
    with pytest.raises(InvalidData, match="`X` is a broken sparse matrix"):
        integer_rows(broken(name), np.zeros(len(TABLE)), row_norm=1.0, target_bounds=(0, 1))


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("make", ["array", "matrix"])
def test_every_format_is_the_same_rows(kind, make):
    """Arrays and matrices of every format, with 32 and 64 bits in a number, become the same rows of doubles."""
    matrix = sparse(kind)
    if make == "matrix":
        matrix = getattr(scipy.sparse, f"{kind}_matrix")(matrix)
    rows = summed_rows(matrix)
    assert rows.format == "csr"
    assert rows.has_canonical_format
    np.testing.assert_array_equal(rows.toarray(), TABLE)
    if kind in {"csr", "csc", "bsr"}:
        wide = changed(
            kind, indices=lambda places: places.astype(np.int64), indptr=lambda lines: lines.astype(np.int64)
        )
        np.testing.assert_array_equal(summed_rows(wide).toarray(), TABLE)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (4, 5)])
def test_matrices_without_entries_are_read(kind, shape):
    """Also those without rows or columns."""
    if kind == "bsr" and 0 in shape:
        return
    assert summed_rows(scipy.sparse.csr_array(shape).asformat(kind)).shape == shape


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint64, np.float16, np.float32, ">f8", np.longdouble])
def test_real_numbers_of_any_width_become_doubles(dtype):
    """Narrow whole numbers do not wrap when doubled entries are summed; what doubles cannot hold is infinite."""
    cells = np.array([100, 100]).astype(dtype)
    matrix = scipy.sparse.csr_array((cells, [1, 1], [0, 2]), shape=(1, 2))
    assert summed_rows(matrix).toarray().tolist() == [[0.0, 2.0 if dtype is np.bool_ else 200.0]]
    huge = scipy.sparse.csr_array((np.array([1.0], np.longdouble), [0], [0, 1]), shape=(1, 1))
    huge.data = np.array(["1e4000"], np.longdouble)
    assert np.isinf(summed_rows(huge).data).all()


def test_what_a_matrix_says_of_itself_is_not_believed():
    """Rows that call themselves sorted and summed are sorted and summed, and stay as they are."""
    matrix = untidy()
    old = matrix.data.copy(), matrix.indices.copy()
    rows = summed_rows(matrix)
    np.testing.assert_array_equal(rows.toarray(), TABLE)
    # Asked of the parts, since the rows' own word is what is in doubt.
    assert scipy.sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=rows.shape).has_canonical_format
    np.testing.assert_array_equal(matrix.data, old[0])
    np.testing.assert_array_equal(matrix.indices, old[1])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "csr in order"])
def test_doubled_entries_are_added_as_they_stand_whatever_other_rows_hold(kind):
    """A row's sums are those of the row alone, one entry after the other, also beside a row that is out of order."""
    draw = np.random.default_rng(5)
    for _ in range(30):
        columns, cells = np.sort(draw.integers(0, 5, 40)), draw.choice([1e16, -1e16, 1.0, 3.0], 40)
        sums = np.zeros(5)
        for column, cell in zip(columns, cells, strict=True):
            sums[column] += cell
        other = [0, 1] if kind == "csr in order" else [1, 0]
        data, places = np.append(cells, [1.0, 2.0]), np.append(columns, other)
        lines = np.array([0, 40, 42])
        if kind == "csc":
            order = np.argsort(places, kind="stable")
            parts = (data[order], np.repeat([0, 1], [40, 2])[order], np.searchsorted(places[order], np.arange(6)))
            matrix = scipy.sparse.csc_array(parts, shape=(2, 5))
        elif kind == "coo":
            matrix = scipy.sparse.coo_array((data, (np.repeat([0, 1], [40, 2]), places)), shape=(2, 5))
        else:
            matrix = scipy.sparse.csr_array((data, places, lines), shape=(2, 5))
        np.testing.assert_array_equal(summed_rows(matrix).toarray()[0], sums)


def test_room_behind_the_last_entry_holds_nothing():
    """As scipy has it: data and numbers may be longer than the lines say."""
    longer = changed("csr", data=lambda cells: np.append(cells, 7.0), indices=lambda places: np.append(places, 99))
    np.testing.assert_array_equal(summed_rows(longer).toarray(), TABLE)


def test_diagonals_outside_the_matrix_hold_nothing():
    """As scipy has it."""
    matrix = sparse("dia")
    matrix.offsets = np.append(matrix.offsets, [1000, -1000])
    matrix.data = np.vstack([matrix.data, np.ones((2, matrix.data.shape[1]))])
    np.testing.assert_array_equal(summed_rows(matrix).toarray(), TABLE)
    matrix.offsets[-1] = 1000
    with pytest.raises(InvalidData, match="broken"):
        summed_rows(matrix)


def test_other_kinds_of_matrices_are_refused_by_name():
    """One dimension, complex numbers, objects, an unknown format."""
    with pytest.raises(InvalidData, match="two dimensions"):
        summed_rows(scipy.sparse.coo_array(np.ones(3)))
    with pytest.raises(InvalidData, match="Complex data not supported"):
        summed_rows(scipy.sparse.csr_array(np.array([[1j]])))
    with pytest.raises(InvalidType, match="must hold real numbers; found object"):
        summed_rows(changed("csr", data=lambda cells: cells.astype(object)))
    other = sparse()
    other.__class__ = type("Other", (type(other),), {"format": "new"})
    with pytest.raises(InvalidType, match="'new'.*tocsr"):
        summed_rows(other)


def test_masked_entries_are_missing():
    """A mask that somebody put on the entries is not read past."""
    matrix = changed("csr", data=lambda cells: np.ma.array(cells, mask=np.arange(cells.size) == 2))
    assert np.isnan(summed_rows(matrix).data).sum() == 1


def test_nothing_as_wide_as_the_matrix_is_made():
    """A check of a thousand entries in a million columns takes memory for the entries and the rows."""
    columns = np.random.default_rng(0).integers(10**6, size=1000)
    matrix = scipy.sparse.csr_array((np.ones(1000), columns, np.arange(1001)), shape=(1000, 10**6))
    tracemalloc.start()
    summed_rows(matrix)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


@pytest.mark.parametrize("name", ["csr, number 5,000,000", "csc, number 99", "bsr, number 99", "coo, column 99"])
def test_a_broken_matrix_in_a_file_is_refused(tmp_path, name):
    """What scipy stores is checked before it is converted."""
    path = tmp_path / "x.npz"
    scipy.sparse.save_npz(path, broken(name))
    with pytest.raises(InvalidData, match="is damaged"):
        read_sparse(path)
