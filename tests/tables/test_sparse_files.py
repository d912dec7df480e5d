"""Sparse rows from files: svmlight and .npz, and damaged ones that are never quoted."""

import bz2
import gzip

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_svmlight_file

from discreet.errors import InvalidArgument, InvalidData
from discreet.tables.readers.sparse_files import is_sparse_file, read_labels, read_sparse

TEXT = "1 1:0.5 3:2\n-1 2:1.25\n1 3:-4 3:1\n"
ROWS = np.array([[0.5, 0, 2], [0, 1.25, 0], [0, 0, -3]])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["d.svm", "d.svmlight", "d.libsvm", "d.svm.gz", "D.SVM.BZ2"])
def test_svmlight_texts_are_read_packed_or_not(folder, name):
    """Columns count from 1, and a file that counts from 0 says so."""
    pack = {"gz": gzip.compress, "BZ2": bz2.compress}.get(name.rsplit(".", 1)[-1], bytes)
    stored = name
    (folder / stored).write_bytes(pack(TEXT.replace(" 3:1\n", "\n").encode()))
    table = read_sparse(stored, n_columns=5)
    np.testing.assert_array_equal(table.private_X.toarray()[:, :3], np.where(ROWS == -3, -4, ROWS))
    assert table.private_X.shape == (3, 5)
    np.testing.assert_array_equal(table.private_y, [1, -1, 1])
    assert read_sparse(stored, n_columns=5, zero_based=True).private_X.toarray()[0, 3] == 2
    assert is_sparse_file(stored)


def test_npz_files_are_read_in_three_layouts(folder):
    """CSR arrays with y, scipy's own form, and a dense X."""
    X = scipy.sparse.csr_array(ROWS)
    np.savez("a.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=[1, 0, 1])
    for form in ("csr", "csc", "coo"):
        scipy.sparse.save_npz(f"{form}.npz", X.asformat(form))
    np.savez("x.npz", X=ROWS.astype(np.float32), y=["a", "b", "a"])
    np.save("y.npy", [1, 0, 1])
    (folder / "y.txt").write_text("a\n\n a b \n")
    assert read_sparse("a.npz").private_y.tolist() == [1, 0, 1]
    for form in ("csr", "csc", "coo"):
        assert read_sparse(f"{form}.npz").private_y is None
        np.testing.assert_array_equal(read_sparse(f"{form}.npz", labels="y.npy").private_X.toarray(), ROWS)
    assert read_sparse("csr.npz", labels="y.txt").private_y.tolist() == ["a", None, "a b"]
    assert read_sparse("csr.npz", labels="a.npz").private_y.tolist() == [1, 0, 1]
    assert read_sparse("x.npz").private_y.tolist() == ["a", "b", "a"]
    with pytest.raises(InvalidArgument, match="labels of its own"):
        read_sparse("a.npz", labels="y.npy")
    with pytest.raises(InvalidArgument, match="says how many columns"):
        read_sparse("a.npz", n_columns=3)


def test_a_number_of_columns_is_never_read_from_the_rows(folder):
    """An svmlight text needs it, and a column number beyond it is refused."""
    (folder / "d.svm").write_text(TEXT)
    with pytest.raises(InvalidArgument, match="public number of columns"):
        read_sparse("d.svm")
    with pytest.raises(InvalidData, match="column numbers from 1 to 2"):
        read_sparse("d.svm", n_columns=2)
    (folder / "zero.svm").write_text("1 0:1\n")
    with pytest.raises(InvalidData, match="column numbers from 1 to 2"):
        read_sparse("zero.svm", n_columns=2)


@pytest.mark.parametrize("text", ["1 1:4242x\n", "1 4242\n", "4242secret 1:2\n", "\xff\xfe4242", "1 2:1 1:4242"])
def test_a_malformed_text_is_refused_without_a_quote(folder, text):
    """The error has neither the cell nor a cause that has it."""
    (folder / "d.svm").write_text(text, encoding="latin-1")
    with pytest.raises(InvalidData, match="d.svm") as caught:
        read_sparse("d.svm", n_columns=5)
    assert "4242" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_damaged_npz_files_are_refused(folder):
    """Column numbers outside the shape, unequal lengths, texts, objects, other arrays, no archive at all."""
    csr = {"data": np.ones(2), "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": (2, 3)}
    bad = {
        "outside": csr | {"indices": np.array([0, 7])},
        "negative": csr | {"indices": np.array([0, -7])},
        "unequal": csr | {"indices": np.array([0])},
        "texts": csr | {"data": np.array(["a", "b"])},
        "complex": csr | {"data": np.array([1j, 2])},
        "shapeless": csr | {"shape": 3},
        "other": {"a": np.ones(3)},
        "flat": {"X": np.ones(3)},
    }
    for name, arrays in bad.items():
        np.savez(f"{name}.npz", **arrays)
    np.savez("objects.npz", X=np.array([[{}]], dtype=object))
    (folder / "none.npz").write_bytes(b"PK nothing")
    (folder / "empty.npz").write_bytes(b"")
    for name in [*bad, "objects", "none", "empty"]:
        with pytest.raises(InvalidData, match="damaged"):
            read_sparse(f"{name}.npz")


def test_absent_and_other_files_are_named(folder):
    """There is no file, or its ending is none of ours; labels must fit the rows."""
    with pytest.raises(InvalidArgument, match="no file 'a.npz'"):
        read_sparse("a.npz")
    (folder / "a.csv").write_text("1")
    assert not is_sparse_file("a.csv")
    with pytest.raises(InvalidArgument, match=r"\.svmlight"):
        read_sparse("a.csv")
    with pytest.raises(InvalidArgument, match="no file 'l.txt'"):
        read_labels("l.txt")
    scipy.sparse.save_npz("x.npz", scipy.sparse.csr_array(ROWS))
    (folder / "l.txt").write_text("a\nb\n")
    with pytest.raises(InvalidData, match="inconsistent numbers"):
        read_sparse("x.npz", labels="l.txt")
    (folder / "l.npy").write_bytes(b"no")
    with pytest.raises(InvalidData, match="file of labels"):
        read_labels("l.npy")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"1 1:1\n\n1 2:1\n", 2),
        (b"\n1 1:1\n", 1),
        (b"1 1:1\n# 1 2:1\n1 3:1\n", 2),
        (b"# a comment\n1 1:1\n", 1),
        (b"1 1:1\n \t\r\n\n1 2:1", 2),
        (b"1 1:1\n1 2:1\n # none", 3),
    ],
)
def test_a_line_that_would_make_no_row_is_refused(folder, text, line):
    """A blank line or a comment in a record's place would take its row away."""
    for name, pack in (("d.svm", bytes), ("d.svm.GZ", gzip.compress)):
        (folder / name).write_bytes(pack(text))
        with pytest.raises(InvalidData, match=f"Line {line} of '{name}' is blank or a comment"):
            read_sparse(name, n_columns=5)


def test_a_line_is_a_row_with_a_comment_or_without_a_cell(folder):
    """What stands behind a record is none of it, blank lines at the end are none, and a label may stand alone."""
    (folder / "d.svm").write_bytes(b"1 1:1 # 1 2:1\n0\n-1 2:4\r\n\n \n")
    table = read_sparse("d.svm", n_columns=2)
    assert table.private_X.toarray().tolist() == [[1, 0], [0, 0], [0, 4]]
    assert table.private_y.tolist() == [1, 0, -1]
    packed = gzip.compress(b"1 1:1\n" * 9999)
    (folder / "d.svm.gz").write_bytes(packed[:20] + b"\xff" * 9 + packed[29:])
    with pytest.raises(InvalidData, match="damaged"):
        read_sparse("d.svm.gz", n_columns=2)


def test_a_label_is_a_line(folder):
    """No letter but a line feed ends one, a blank one at the end is missing, and a return within one is refused."""
    marks = "\u2028\u2029\x0b\x0c\x1c\x1d\x1e\x85"
    (folder / "y.txt").write_bytes(("a\r\n" + "\n".join(f"a{mark}b" for mark in marks) + "\n\ufeffa\n\n").encode())
    assert read_labels("y.txt").tolist() == ["a", *(f"a{mark}b" for mark in marks), "a", None]
    for text, expected in ((b"", []), (b"\n", [None]), (b"a", ["a"]), (b"\xef\xbb\xbfa\n", ["a"])):
        (folder / "y.txt").write_bytes(text)
        assert read_labels("y.txt").tolist() == expected
    (folder / "y.txt").write_bytes(b"a\nb\rc\n")
    with pytest.raises(InvalidData, match="Line 2 of 'y.txt' holds a carriage return"):
        read_labels("y.txt")


def test_numbers_are_those_that_scikit_learn_reads(folder):
    """Two readers, one table: signs, exponents, query numbers, what is next to 0, batches of many lines."""
    rng = np.random.default_rng(0)
    lines = ["+1 qid:3 1:+2.5 3:1e-7", "-1.5 2:.5\t4:7. # 1:2", "0 qid:4", "  2   1:1e-400  5:123456789.123456789 "]
    for _ in range(20_000):
        columns = sorted(rng.choice(9, size=rng.integers(0, 4), replace=False) + 1)
        lines.append(" ".join([str(rng.integers(0, 2)), *(f"{j}:{rng.normal()!r}" for j in columns)]))
    (folder / "d.svm").write_text("\n".join(lines))
    table = read_sparse("d.svm", n_columns=9)
    X, y = load_svmlight_file("d.svm", n_features=9)
    np.testing.assert_array_equal(table.private_X.toarray(), X.toarray())
    np.testing.assert_array_equal(table.private_y, y)


@pytest.mark.parametrize(
    "text",
    [
        "1 1:2:3",
        "1 1:",
        "1 :2",
        "1 1:2 1:3",
        "1 2:1 qid:3",
        "1 1.5:2",
        "1 1:1_0",
        "+-1 1:1",
        "1 1:0x1",
        "1,2 1:1",
        "é 1:1",
    ],
)
def test_what_is_no_cell_is_refused(folder, text):
    """A doubled or falling column, a value or a label that is no plain number, a query that stands late."""
    (folder / "d.svm").write_text(f"1 1:1\n{text}\n", encoding="utf-8")
    with pytest.raises(InvalidData, match="or is damaged"):
        read_sparse("d.svm", n_columns=5)
