"""`discreet report` and `discreet fit --report`."""

import pytest

FIT = ["fit", "people.csv", "income ~ age + sex", "--schema", "people.toml", "--epsilon", "1"]


def test_a_fit_writes_its_page(folder, discreet):
    """Model, ledger and page come from one command."""
    code, _, err = discreet(
        *FIT, "--ledger", "l.ledger", "--total-epsilon", "2", "-o", "m.json", "--report", "report.html"
    )
    assert (code, err) == (0, "")
    page = (folder / "report.html").read_text()
    for text in ("income ~ age + sex", "The ledger", "pure epsilon 2"):
        assert text in page


def test_a_page_is_made_from_files_alone(folder, discreet):
    """The rows may be gone: models, moments and a ledger make a page."""
    discreet(*FIT, "--ledger", "l.ledger", "--total-epsilon", "2", "-o", "m.json")
    discreet(
        "release", "people.csv", "--schema", "people.toml", "--epsilon", "1", "--ledger", "l.ledger", "-o", "g.json"
    )
    (folder / "people.csv").unlink()
    code, out, err = discreet("report", "l.ledger", "m.json", "g.json", "-o", "r.html", "--title", "Incomes")
    assert (code, err) == (0, "")
    assert "r.html" in out
    page = (folder / "r.html").read_text()
    for text in ("<h1>Incomes</h1>", "Moments", "Linear regression", "The ledger"):
        assert text in page


def test_a_refused_fit_leaves_no_page(folder, discreet):
    """The page is opened before the charge and absent when the fit is refused."""
    code, _, _ = discreet(*FIT, "--ledger", "l.ledger", "--total-epsilon", "0.5", "--report", "report.html")
    assert code == 3
    assert not (folder / "report.html").exists()
    code, _, err = discreet(*FIT, "--report", "no/such/folder/report.html")
    assert code == 1
    assert "`report`" in err


def test_a_sparse_fit_writes_its_page(folder, discreet):
    """The selected columns of a sparse model are on its page."""
    (folder / "d.svm").write_text("".join(f"{k % 2} {1 + k % 7}:1 {9 + k % 3}:0.5\n" for k in range(60)))
    code, _, err = discreet(
        "fit", "--sparse", "d.svm", "--columns", 12, "--loss", "logistic", "--sparsity", 3, "--row-norm", 1,
        "--classes", "0,1", "--adjacency", "replace", "--epsilon", 2, "--delta", "1e-6", "--report", "r.html",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "Selected columns" in (folder / "r.html").read_text()


@pytest.mark.parametrize(
    ("files", "code", "words"),
    [
        (["people.toml"], 1, "not a file written by discreet"),
        (["absent.json"], 1, "absent.json"),
        (["l.ledger", "l.ledger", "-"], 1, "'-'"),
    ],
)
def test_what_is_no_release_is_refused(folder, discreet, files, code, words):
    """By name, in one line, with no page."""
    discreet(*FIT, "--ledger", "l.ledger", "--total-epsilon", "2")
    found, out, err = discreet("report", *files, "-o", "r.html")
    assert (found, out) == (code, "")
    assert words in err
    assert not (folder / "r.html").exists()


def test_one_page_has_one_ledger(folder, discreet):
    """Two ledgers are wrong usage."""
    for name in ("a.ledger", "b.ledger"):
        discreet(*FIT, "--ledger", name, "--total-epsilon", "2")
    code, _, err = discreet("report", "a.ledger", "b.ledger", "-o", "r.html")
    assert code == 2
    assert "one ledger" in err
