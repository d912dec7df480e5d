"""`discreet fit --method` and the comparison of methods in `discreet plan`."""

import json

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.estimators.front_door import LinearRegression
from discreet.estimators.functional import FunctionalLinearRegression, FunctionalLogisticRegression

FIT = ["fit", "people.csv", "income ~ age + sex + region", "--schema", "people.toml"]


@pytest.mark.parametrize("budget", [["--epsilon", 2], ["--epsilon", 2, "--delta", "1e-6"], ["--rho", 1], ["--mu", 1]])
def test_auto_says_method_reason_and_cost(folder, discreet, budget):
    """The front door on a file: what was done, why, what it cost, and the estimates."""
    code, out, err = discreet(*FIT, "--method", "auto", *budget, "-o", "model.json")
    assert (code, err) == (0, "")
    for words in ("Linear regression", "Method: descent, for", "Cost: ", "Intercept", "region[south]"):
        assert words in out
    model = LinearRegression.load(folder / "model.json")
    assert str(model.result()) in out
    frame = pd.read_csv(folder / "people.csv")
    assert np.corrcoef(model.predict(frame), frame["income"])[0, 1] > 0.9


@pytest.mark.parametrize("method", ["moments", "descent", "threshold", "peel", "sample"])
def test_a_method_is_named(folder, discreet, method):
    """Each method fits a file by its formula."""
    code, out, err = discreet(*FIT, "--method", method, "--epsilon", 4, "--delta", "1e-6")
    assert (code, err) == (0, "")
    assert f"Method: {method}, for `method` asks for it." in out


def test_auto_is_the_default(folder, discreet):
    """Without --method the choice is that of `--method auto`, and what it gives up is said, also by `show`."""
    code, out, err = discreet(*FIT, "--mu", 1, "-o", "m.json")
    assert (code, err) == (0, "")
    assert "Method: descent, for the table is dense" in out
    assert "Given up: further regressions: each costs anew, where one `discreet release` answers many." in out
    assert discreet("show", "m.json")[1] == out
    code, out, err = discreet("fit", "people.csv", "income ~ age", *FIT[3:], "--epsilon", 9)
    assert (code, err) == (0, "")
    assert "Method: moments, for many steps would share it" in out
    assert "Given up: nothing for one regression" in out


def test_persons_are_protected_by_moments(folder, discreet):
    """With a unit auto takes the one method that protects it, and the others say which that is."""
    text = (folder / "people.toml").read_text()
    (folder / "persons.toml").write_text(text.replace('"replace"', '"replace"\nunit = "person"\nrows_per_unit = 2', 1))
    frame = pd.read_csv("people.csv")
    frame.assign(person=frame.index // 2).to_csv("people.csv", index=False)
    fit = ["fit", "people.csv", "income ~ age", "--schema", "persons.toml", "--mu", 9]
    code, out, err = discreet(*fit, "-o", "m.json")
    assert (code, err) == (0, "")
    assert "Method: moments, for no other method protects each `person`." in out
    assert "Unit: " in out
    model = FunctionalLinearRegression.load(folder / "m.json")
    assert model.adjacency == dp.Replace("person")
    code, _, err = discreet(*fit, "--method", "descent")
    assert code == 1
    assert 'declares the unit `person`. Use method="moments"' in err
    code, _, err = discreet(*fit, "--loss", "poisson")
    assert code == 1
    assert "No method of a Poisson regression protects each `person`" in err


def test_a_parabola_says_what_it_is_not(folder, discreet):
    """--method moments of labels gives up log odds; a radius and a law of noise are its settings."""
    labels = ["fit", "people.csv", "sex ~ age", "--schema", "people.toml", "--loss", "logistic", "--method", "moments"]
    code, out, err = discreet(*labels, "--mu", 5, "--radius", 3, "--mechanism", "gaussian", "-o", "m.json")
    assert (code, err) == (0, "")
    assert "Given up: log odds ratios, p values and intervals" in out
    assert "std err" in out
    model = FunctionalLogisticRegression.load(folder / "m.json")
    assert (model.radius, model.approximation, model.mechanism) == (3.0, "minimax", "gaussian")


def test_a_ledger_says_who_are_neighbors(folder, discreet):
    """Where neither option nor schema says it, the ledger's word is taken; where they differ, the fit is refused."""
    bounds = ["--bounds", "income=0,100", "--bounds", "age=18,90"]
    paid = ["--ledger", "book.db", "--mu", 1]
    code, *_ = discreet(*FIT, *paid, "--total-mu", 9)
    assert code == 0
    code, out, err = discreet("fit", "people.csv", "income ~ age", *bounds, *paid)
    assert (code, err) == (0, "")
    assert "Replace()" in out
    code, _, err = discreet("fit", "people.csv", "income ~ age", *bounds, *paid, "--adjacency", "add-remove")
    assert code == 1
    assert "was opened with Replace()" in err


def test_counts_are_not_read_from_a_release(folder, discreet):
    """A Gram matrix answers squared and logistic losses."""
    assert discreet("release", "people.csv", "--schema", "people.toml", "--mu", 1, "-o", "m.json")[0] == 0
    code, _, err = discreet("fit", "m.json", "income ~ age", "--loss", "poisson")
    assert code == 2
    assert "--loss poisson belongs to data" in err


def test_labels_and_counts(folder, discreet):
    """--loss logistic takes a flag, --loss poisson a count whose bounds begin at 0."""
    flags = ["fit", "people.csv", "sex ~ age + income", "--schema", "people.toml", "--loss", "logistic"]
    code, out, err = discreet(*flags, "--method", "perturbation", "--epsilon", 4)
    assert (code, err) == (0, "")
    assert "Logistic regression" in out
    counts = ["fit", "people.csv", "income ~ age + sex", "--schema", "people.toml", "--loss", "poisson"]
    code, out, err = discreet(*counts, "--method", "auto", "--mu", 1)
    assert (code, err) == (0, "")
    assert "Poisson regression" in out


def test_a_ledger_pays_and_a_report_is_written(folder, discreet):
    """One fit is one entry; the report says method and reason."""
    arguments = ["--method", "auto", "--mu", 1, "--ledger", "book.db", "--total-mu", 2, "--report", "page.html"]
    code, _, err = discreet(*FIT, *arguments)
    assert (code, err) == (0, "")
    assert "descent" in (folder / "page.html").read_text()
    code, out, _ = discreet("ledger", "book.db")
    assert code == 0
    assert "gradient of the squared loss" in out
    code, _, err = discreet(*FIT, *arguments[:-2], "--mu", 5)
    assert code == 3


def test_add_remove_needs_an_expected_number_of_rows_or_one_noisy_gram_matrix(folder, discreet):
    """Where n is private it is a public guess of it by which sums are divided; moments divide by none."""
    bounds = ["--bounds", "income=0,100", "--bounds", "age=18,90", "--adjacency", "add-remove", "--mu", 1]
    fit = ["fit", "people.csv", "income ~ age", *bounds, "--method", "auto"]
    code, out, err = discreet(*fit)
    assert (code, err) == (0, "")
    assert "Method: moments, for the number of rows is private, and `expected_rows` gives no public guess" in out
    labels = ["fit", "people.csv", "region ~ age", *bounds[2:], "--levels", "region=north,south", "--loss", "logistic"]
    for needs in ([*fit[:-1], "descent"], labels, [*fit, "--loss", "poisson"]):
        code, _, err = discreet(*needs)
        assert code == 1
        assert "expected_rows" in err
    code, out, err = discreet(*fit, "--expected-rows", 2000)
    assert (code, err) == (0, "")
    assert "Method: descent" in out
    assert "AddRemove()" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*FIT, "--mu", 1, "--method", "magic"], "--method must be one of"),
        ([*FIT, "--method", "auto"], "needs a budget"),
        ([*FIT, "--mu", 1, "--loss", "magic"], "--loss must be"),
        ([*FIT, "--mu", 1, "--method", "auto", "--mechanism", "gaussian"], "which --method decides"),
        ([*FIT, "--mu", 1, "--method", "auto", "--loss", "logistic", "--radius", 2], "--radius belongs"),
        ([*FIT, "--mu", 1, "--expected-rows", 5], "belongs to --adjacency add-remove"),
        (["fit", "people.csv", "income ~ age", "--bounds", "income=0,100", "--bounds", "age=18,90", "--mu", 1,
          "--method", "auto"], "Say who are neighbours"),
        (["fit", "--sparse", "x.svm", "--mu", 1, "--method", "peel", "--selection", "peel"], "in the place of"),
        (["fit", "--sparse", "x.svm", "--mu", 1, "--method", "peel", "--noise", "exact"], "in the place of"),
        ([*FIT, "--mu", 1, "--mechanism", "gaussian"], "which --method decides"),
        (["plan", "income ~ age", "--schema", "people.toml", "--rows", 9, "--mu", 1, "--loss", "magic"], "--loss must"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line(folder, discreet, arguments, message):
    """What does not go together is refused with code 2 before anything is read."""
    code, out, err = discreet(*arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_a_release_has_its_method_already(folder, discreet):
    """A fit from a release is by moments."""
    code, *_ = discreet("release", "people.csv", "--schema", "people.toml", "--mu", 1, "-o", "m.json")
    assert code == 0
    code, _, err = discreet("fit", "m.json", "income ~ age", "--method", "auto", "--mu", 1, "--schema", "people.toml")
    assert code == 2
    assert "is a release already" in err


PLAN = ["plan", "income ~ age + sex", "--schema", "people.toml", "--rows", 50_000]


def test_a_plan_compares_methods(folder, discreet):
    """Each method with a price in the budget, the noise that is expected, and what auto would take."""
    code, out, err = discreet(*PLAN, "--epsilon", 1, "--delta", "1e-6")
    assert (code, err) == (0, "")
    for words in ("noise in a prediction", "descent", "moments", "threshold", "`--method auto` would take descent"):
        assert words in out
    code, out, _ = discreet(*PLAN, "--mu", 1, "--json")
    methods = json.loads(out)["methods"]
    assert methods["auto"] == "descent"
    assert {found["method"] for found in methods["methods"]} == {"descent", "moments", "threshold", "peel", "sample"}


@pytest.mark.parametrize(("loss", "formula"), [("logistic", "region ~ age + sex"), ("poisson", "income ~ age + sex")])
def test_a_plan_for_labels_and_counts(folder, discreet, loss, formula):
    """Methods alone: no law of a Gram matrix has standard errors for them."""
    arguments = ["plan", formula, "--schema", "people.toml", "--rows", 50_000, "--epsilon", 1, "--loss", loss]
    code, out, err = discreet(*arguments)
    assert (code, err) == (0, "")
    assert "descent" in out
    code, out, _ = discreet(*arguments, "--json")
    assert code == 0
    assert json.loads(out)["auto"] in {"descent", "perturbation"}
    code, _, err = discreet(*arguments, "--report", "page.html")
    assert code == 2


def test_a_saved_model_is_shown_predicts_and_is_reported(folder, discreet):
    """The file of a front-door model is read by `show`, `predict` and `report`."""
    discreet(
        "fit", "people.csv", "income ~ age + sex", "--schema", "people.toml", "--mu", "5", "--method", "descent",
        "-o", "model.json",
    )  # fmt: skip
    code, out, err = discreet("show", "model.json")
    assert (code, err) == (0, "")
    assert "Method: descent" in out
    code, _, err = discreet("predict", "model.json", "people.csv", "-o", "p.csv")
    assert (code, err) == (0, "")
    assert len((folder / "p.csv").read_text().splitlines()) == 2001
    code, _, err = discreet("report", "model.json", "-o", "r.html")
    assert (code, err) == (0, "")
    assert "Linear regression" in (folder / "r.html").read_text()
