"""`discreet fit --sparse` and `discreet predict` on its models."""

import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.datasets import dump_svmlight_file

import discreet as dp

COMMON = ["--sparsity", "10", "--row-norm", "1", "--adjacency", "replace"]
LOGISTIC = ["--loss", "logistic", "--classes=-1,1", *COMMON]
SQUARED = ["--loss", "squared", "--y-bounds=-1,1", *COMMON]
BUDGET = ["--epsilon", "4", "--delta", "1e-6"]


@pytest.fixture
def words(tmp_path, monkeypatch):
    """A folder with one table in every layout, whose first column tells the label."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    told = rng.integers(0, 2, size=(3000, 1)).astype(float)
    X = scipy.sparse.csr_array(
        scipy.sparse.hstack([told, scipy.sparse.random_array((3000, 200), density=0.02, rng=rng)])
    )
    X.data = np.round(X.data, 3)
    y = np.where(told[:, 0] > 0, 1, -1)
    dump_svmlight_file(X, y, "words.svm", zero_based=False)
    (tmp_path / "words.svm.gz").write_bytes(gzip.compress((tmp_path / "words.svm").read_bytes()))
    np.savez("words.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    scipy.sparse.save_npz("matrix.npz", X)
    (tmp_path / "labels.txt").write_text("".join("yes\n" if label > 0 else "no\n" for label in y))
    return tmp_path


@pytest.mark.parametrize("file", [["words.svm", "--columns", 201], ["words.svm.gz", "--columns", 201], ["words.npz"]])
def test_a_model_is_fitted_written_and_used(words, discreet, file):
    """The call of the issue: a guarantee is printed, the model's file predicts, and the ledger has paid."""
    code, out, err = discreet(
        "fit", "--sparse", *file, *LOGISTIC, *BUDGET, "--ledger", "l.ledger",
        "--total-epsilon", 4, "--total-delta", "1e-6", "-o", "model.json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "Approx(epsilon=4, delta=1/1000000) under Replace(); private" in out
    assert "x0" in out
    model = dp.LogisticRegression.load("model.json")
    assert (np.argmax(np.abs(model.coef_)), model.sparsity_) == (0, 10)
    assert discreet("predict", "model.json", file[0], "-o", "p.csv")[0] == 0
    X, y = table_of(words)
    chances = pd.read_csv("p.csv")["prediction"].to_numpy()
    np.testing.assert_allclose(chances, model.predict_proba(X)[:, 1], rtol=1e-9)
    assert ((chances > 0.5) == (y > 0)).mean() > 0.9
    assert len(dp.Ledger.open("l.ledger").entries) == 1
    code, _, err = discreet("fit", "--sparse", *file, *LOGISTIC, *BUDGET, "--ledger", "l.ledger", "-o", "other.json")
    assert code == 3
    assert err.count("\n") == 1
    assert not (words / "other.json").exists()


def table_of(words):
    stored = np.load(words / "words.npz")
    return scipy.sparse.csr_array((stored["data"], stored["indices"], stored["indptr"]), shape=stored["shape"]), stored[
        "y"
    ]


@pytest.mark.parametrize("method", ["auto", "threshold", "peel"])
def test_methods_of_rows_with_a_norm_are_named(words, discreet, method):
    """--method is that of the front door; what it is, why, and what it gives up are printed."""
    code, out, err = discreet("fit", "--sparse", "words.npz", *LOGISTIC, *BUDGET, "--method", method)
    assert (code, err) == (0, "")
    asked = "for the rows are sparse" if method == "auto" else "for `method` asks for it"
    assert asked in out
    assert "Given up: columns whose effect is below the noise" in out
    assert "Selected columns: 10 of 201." in out
    assert "Settings: " in out


def test_a_pure_budget_perturbs_the_objective(words, discreet):
    """Without --sparsity all columns are kept; one noisy Gram matrix needs bounds of every column."""
    asked = ["fit", "--sparse", "words.npz", *LOGISTIC[:3], *COMMON[2:], "--epsilon", 9]
    code, out, err = discreet(*asked)
    assert (code, err) == (0, "")
    assert "Method: perturbation" in out
    code, _, err = discreet(*asked, "--method", "moments")
    assert code == 1
    assert "needs bounds of every column" in err


@pytest.mark.parametrize("more", [["--selection", "all"], ["--noise", "exact"]])
def test_a_kind_of_step_stands_for_a_method(words, discreet, more):
    """--selection and --noise take noisy steps, whose file the sparse class loads."""
    code, out, err = discreet("fit", "--sparse", "words.npz", *SQUARED, "--mu", 2, *more, "-o", "m.json")
    assert (code, err) == (0, "")
    assert "Method: steps of the kind" in out
    model = dp.SparseLinearRegression.load("m.json")
    assert model.selection_ == ("all" if "all" in more else "threshold")


def test_counts_have_rows_with_a_norm_too(words, discreet):
    """--loss poisson: bounds begin at 0, and predictions are means."""
    counts = ["fit", "--sparse", "words.npz", "--labels", "counts.npy", "--loss", "poisson", *COMMON, "--mu", 2]
    scipy.sparse.save_npz("words.npz", scipy.sparse.csr_array((400, 30)))
    np.save("counts.npy", np.arange(400) % 3)
    code, _, err = discreet(*counts, "--y-bounds", "0,5", "-o", "m.json")
    assert (code, err) == (0, "")
    assert discreet("predict", "m.json", "words.npz", "-o", "p.csv")[0] == 0
    assert (pd.read_csv("p.csv")["prediction"] > 0).all()
    code, _, err = discreet(*counts, "--y-bounds=-1,5")
    assert code == 1
    assert "must begin at 0" in err
    code, _, err = discreet(*counts)
    assert code == 2
    assert "--loss poisson needs --y-bounds" in err


def test_a_file_without_rows_or_columns_is_refused(words, discreet):
    """Under replace the number of rows is public; under add-remove there may be none."""
    for shape, adjacency, code in (((0, 5), "replace", 1), ((3, 0), "replace", 1), ((0, 5), "add-remove", 0)):
        scipy.sparse.save_npz("few.npz", scipy.sparse.csr_array(shape))
        np.save("few.npy", np.zeros(shape[0]))
        guess = ["--expected-rows", 9] if code == 0 else []
        found, _, err = discreet(
            "fit", "--sparse", "few.npz", "--labels", "few.npy", "--y-bounds=-1,1", "--row-norm", 1,
            "--adjacency", adjacency, "--mu", 1, *guess,
        )  # fmt: skip
        assert found == code, err
        assert code == 0 or "at least one column" in err


def test_missing_cells_of_new_rows_are_refused(words, discreet):
    """A prediction needs a number in every cell; the error quotes none."""
    assert discreet("fit", "--sparse", "words.npz", *SQUARED, "--mu", 2, "-o", "m.json")[0] == 0
    X = np.zeros((2, 201))
    X[1, 3] = np.nan
    np.savez("new.npz", X=X)
    code, _, err = discreet("predict", "m.json", "new.npz", "-o", "p.csv")
    assert code == 1
    assert "missing cells" in err


def test_numbers_are_fitted_within_their_bounds(words, discreet):
    """--loss squared; predictions stay within --y-bounds; --json prints what -o writes."""
    code, out, err = discreet(
        "fit", "--sparse", "words.npz", *SQUARED, "--mu", 2, "--entry-bound", 1, "--json", "-o", "m.json"
    )
    assert (code, err) == (0, "")
    assert out == (words / "m.json").read_text()
    assert json.loads(out)["kind"] == "model"
    assert discreet("predict", "m.json", "words.npz", "-o", "p.csv")[0] == 0
    predictions = pd.read_csv("p.csv")["prediction"]
    assert predictions.abs().max() <= 1


def test_texts_stand_in_a_file_of_their_own(words, discreet):
    """scipy's matrix with one label a line; undeclared classes are refused, and nothing is read from the rows."""
    arguments = ["fit", "--sparse", "matrix.npz", "--labels", "labels.txt", *LOGISTIC, "--mu", 1]
    code, _, _ = discreet(*arguments, "--classes", "no,yes", "-o", "m.json")
    assert code == 0
    assert dp.LogisticRegression.load("m.json").classes_.tolist() == ["no", "yes"]
    arguments.remove("--classes=-1,1")
    (words / "labels.txt").unlink()
    code, _, err = discreet(*arguments)
    assert code == 2
    assert "--loss logistic needs --classes" in err


def test_three_classes_are_predicted_by_their_labels(words, discreet):
    """One model a class is listed, and a label with a comma is quoted."""
    labels = ["a", 'b, "c"', "d"]
    (words / "three.txt").write_text("\n".join(labels[i % 3] for i in range(3000)))
    code, out, _ = discreet(
        "fit", "--sparse", "matrix.npz", "--labels", "three.txt", *LOGISTIC, "--mu", 1, "-o", "m.json",
        "--classes", 'a,"b, ""c""",d',
    )  # fmt: skip
    assert code == 0
    assert "a: Intercept" in out
    assert "3 classes" in out
    assert discreet("predict", "m.json", "matrix.npz", "-o", "p.csv")[0] == 0
    assert set(pd.read_csv("p.csv")["prediction"]) <= set(labels)


def test_the_number_of_rows_may_be_private(words, discreet):
    """Under add-remove a guess is needed, and no number of rows is printed."""
    arguments = ["fit", "--sparse", "words.npz", *LOGISTIC[:-1], "add-remove", "--mu", 1]
    code, _, err = discreet(*arguments)
    assert code == 1
    assert "expected_rows" in err
    code, out, err = discreet(*arguments, "--expected-rows", 2500, "-o", "m.json")
    assert (code, err) == (0, "")
    # As a number of its own: any four digits may stand within a coefficient.
    assert not re.search(r"(?<![\d.])3000(?!\d)", out + (words / "m.json").read_text())


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["words.svm", *LOGISTIC], 2, "--columns"),
        (["words.svm", "--columns", "100", *LOGISTIC], 1, "column numbers from 1 to 100"),
        (["words.npz", "--columns", "100", *LOGISTIC], 1, "says how many columns"),
        (["absent.npz", *LOGISTIC], 1, "no data file"),
        (["labels.txt", *LOGISTIC], 1, "ending"),
        (["matrix.npz", *LOGISTIC], 2, "--labels"),
        (["words.npz", *LOGISTIC, "--labels", "labels.txt"], 1, "labels of its own"),
        (["words.npz", *LOGISTIC, "--sparsity", "0"], 1, "sparsity = 0, n_features = 201"),
        (["words.npz", *LOGISTIC, "--sparsity", "202"], 1, "sparsity = 202, n_features = 201"),
        (["words.npz", *LOGISTIC, "--classes", "a,b"], 2, "--classes must be numbers"),
        (["words.npz", *LOGISTIC, "--classes=-1,1,1"], 1, "two different"),
        (["words.npz", *LOGISTIC, "--y-bounds", "0,1"], 2, "--y-bounds belongs"),
        (["words.npz", *SQUARED, "--classes", "0,1"], 2, "--classes belongs"),
        (["words.npz", *SQUARED, "--y-bounds", "1,0"], 2, "--y-bounds needs two numbers"),
        (["words.npz", *SQUARED, "--y-bounds", "1"], 2, "--y-bounds needs two numbers"),
        (["words.npz", "--loss", "squared", *COMMON], 2, "needs --y-bounds"),
        (["words.npz", "--loss", "logistic", "--row-norm", "1"], 2, "needs --adjacency"),
        (["words.npz", "--loss", "logistic", "--adjacency", "replace"], 2, "needs --row-norm"),
        (["words.npz", *LOGISTIC, "--selection", "best"], 1, "selection"),
        (["words.npz", *LOGISTIC, "--noise", "none"], 1, "noise"),
        (["words.npz", *LOGISTIC, "--steps", "0"], 1, "n_steps"),
        (["words.npz", *LOGISTIC, "--row-norm", "-1"], 1, "row_norm"),
        (["words.npz", *LOGISTIC, "--schema", "s.toml"], 2, "--schema does not belong"),
        (["words.npz", *LOGISTIC, "--mechanism", "wishart"], 2, "--mechanism does not belong"),
        (["words.npz", *LOGISTIC, "--radius", "3"], 2, "--radius does not belong"),
        (["words.npz", "DATA", *LOGISTIC], 2, "DATA does not belong"),
    ],
)
def test_wrong_uses_are_one_line_and_spend_nothing(words, discreet, arguments, code, message):
    """Each names what is wrong; no ledger is made and no model written."""
    found, out, err = discreet(
        "fit", "--sparse", *arguments, *BUDGET, "--ledger", "l.ledger", "--total-epsilon", 4, "--total-delta", "1e-5",
        "-o", "m.json",
    )  # fmt: skip
    assert (found, out) == (code, "")
    assert message in err
    assert err.count("\n") == 1
    assert sorted(path.name for path in words.iterdir() if path.suffix in {".ledger", ".json"}) == []


def test_a_missing_label_and_a_missing_budget_are_refused(words, discreet):
    """A line without a label is the owner's error."""
    (words / "short.txt").write_text("yes\n\n" + "no\n" * 2998)
    code, _, err = discreet(
        "fit", "--sparse", "matrix.npz", "--labels", "short.txt", *LOGISTIC, *BUDGET, "--classes", "no,yes"
    )
    assert code == 1
    assert "label is missing" in err
    code, _, err = discreet("fit", "--sparse", "words.npz", *LOGISTIC)
    assert code == 2
    assert "needs a budget" in err
    code, _, err = discreet("fit", "--sparse", "words.npz", *LOGISTIC, "--epsilon", 1)
    assert code == 1
    assert "Approx" in err


def test_options_of_sparse_files_need_one(folder, discreet):
    """--sparsity on a table is refused; so is a call without DATA or FORMULA."""
    code, _, err = discreet(
        "fit", "people.csv", "income ~ age", "--schema", "people.toml", "--epsilon", 1, "--sparsity", 3
    )
    assert code == 2
    assert "--sparsity belongs to --sparse" in err
    code, _, err = discreet(
        "fit", "people.csv", "income ~ age", "--schema", "people.toml", "--epsilon", 1, "--no-intercept"
    )
    assert code == 2
    assert "--no-intercept belongs to --sparse" in err
    for arguments, missing in (([], "DATA"), (["people.csv"], "FORMULA")):
        code, _, err = discreet("fit", *arguments, "--epsilon", 1)
        assert code == 2
        assert f"Missing argument '{missing}'" in err


def test_predictions_refuse_what_does_not_fit(words, folder, discreet):
    """Another number of columns, a damaged model, --zero-based for a table's model."""
    assert discreet("fit", "--sparse", "words.npz", *LOGISTIC, *BUDGET, "-o", "m.json")[0] == 0
    whole = (words / "m.json").read_text()
    scipy.sparse.save_npz("narrow.npz", scipy.sparse.csr_array((3, 7)))
    code, _, err = discreet("predict", "m.json", "narrow.npz", "-o", "p.csv")
    assert code == 1
    assert "features" in err
    (words / "m.json").write_text((words / "m.json").read_text().replace('"at"', '"where"'))
    code, _, err = discreet("predict", "m.json", "words.npz", "-o", "p.csv")
    assert code == 1
    assert "damaged" in err
    assert discreet("fit", "people.csv", "income ~ age", "--schema", "people.toml", "--mu", 9, "-o", "t.json")[0] == 0
    code, _, err = discreet("predict", "t.json", "people.csv", "-o", "p.csv", "--zero-based")
    assert code == 2
    assert "--zero-based belongs" in err
    (words / "m.json").write_text(whole)
    code, _, err = discreet("predict", "m.json", "words.npz", "-o", "p.csv", "--keep", "id")
    assert code == 2
    assert "--keep belongs to tables" in err
    assert not (words / "p.csv").exists()


def test_a_terminal_sees_the_steps(words, discreet, monkeypatch):
    """On a terminal a bar counts the public number of steps, on stderr."""
    import sys

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    told = []
    from discreet.cli import progress

    real = progress.stepping

    from contextlib import contextmanager

    @contextmanager
    def watched():
        with real() as tell:
            yield lambda done, total: (told.append((done, total)), tell(done, total))

    monkeypatch.setattr(progress, "stepping", watched)
    assert discreet("fit", "--sparse", "words.npz", *LOGISTIC, *BUDGET, "--steps", 5)[0] == 0
    assert told == [(step, 5) for step in range(1, 6)]


def test_a_method_without_steps_shows_no_bar_of_them(words, discreet, monkeypatch):
    """On a terminal a perturbed objective is minimized without a count of steps."""
    import sys

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    asked = ["fit", "--sparse", "words.npz", *LOGISTIC[:3], *COMMON[2:], "--epsilon", 9]
    assert discreet(*asked)[0] == 0
