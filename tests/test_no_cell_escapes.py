"""No byte of a private cell reaches anything that is written, printed, logged, kept or raised."""

import contextlib
import io
import logging
import pickle
import traceback
import warnings

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.cli.main import main
from discreet.report.page import report_html

# Cells that stand out: no other number or text of a run looks like them.
NUMBER = 7351.846290137
WORD = "Quetzalcoatl"
# Long enough that noise does not spell them.
SECRETS = ("7351.8462", "Quetzal", "quetzal", "6283.1853")
SCHEMA = """\
format = 1
adjacency = "replace"
[columns.y]
kind = "number"
lower = 0
upper = 10000
missing = {policy}
[columns.x]
kind = "number"
lower = 0
upper = 10000
missing = {policy}
[columns.c]
kind = "category"
levels = ["a", "b"]
missing = {category}
[columns.f]
kind = "flag"
missing = {policy}
[columns.d]
kind = "date"
lower = 2000-01-01
upper = 2030-01-01
missing = {date}
"""
POLICIES = {
    "error": {"policy": '"error"', "category": '"error"', "date": '"error"'},
    "drop": {"policy": '"drop"', "category": '"drop"', "date": '"drop"'},
    "constant": {
        "policy": "{ constant = 1 }",
        "category": '{ constant = "a" }',
        "date": "{ constant = 2001-01-01 }",
    },
}
UNPAID = ["--schema", "s.toml", "--epsilon", "1", "--no-ledger"]
COMMANDS = {
    "fit": ["fit", "t.csv", "y ~ x + c + f + d", *UNPAID, "-o", "m.json"],
    "fit with report": ["fit", "t.csv", "y ~ x", *UNPAID, "--no-output", "--report", "r.html"],
    "fit json": ["fit", "t.csv", "y ~ x + c", *UNPAID, "--json"],
    "logistic": ["fit", "t.csv", "f ~ x", *UNPAID, "--no-output", "--loss", "logistic"],
    "release": ["release", "t.csv", *UNPAID, "-o", "g.json"],
    "init": ["init", "t.csv", "-o", "d.toml"],
    "ledger": [
        "fit", "t.csv", "y ~ x", "--schema", "s.toml", "--epsilon", "1", "--ledger", "l.ledger", "--total-epsilon", "1",
        "--no-output",
    ],
    "wrong column": ["fit", "t.csv", "y ~ X", *UNPAID, "--no-output"],
    "wrong bounds": ["fit", "t.csv", "y ~ x", *UNPAID, "--no-output", "--bounds", "X=0,1"],
    "sample": ["sample", "t.csv", "median", "x", *UNPAID],
}  # fmt: skip


def rows(n=40):
    """Return rows each of whose columns has a cell that stands out, in its own kind of trouble."""
    frame = pd.DataFrame(
        {
            "y": np.full(n, 6283.18530),
            "x": np.full(n, NUMBER),
            "c": ["a", "b"] * (n // 2),
            "f": [0, 1] * (n // 2),
            "d": ["2001-02-03"] * n,
        }
    ).astype(object)
    frame.loc[3, "c"] = WORD
    frame.loc[4, "f"] = WORD
    frame.loc[5, "d"] = WORD
    frame.loc[6, "x"] = WORD
    frame.loc[7, "y"] = f"{NUMBER} {WORD}"
    return frame


def everything_in(folder):
    """Return all bytes under a folder, the data themselves apart."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "t.csv"]
    return "\n".join(path.read_bytes().decode("latin-1") for path in files)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_writes_or_prints_a_cell(tmp_path, monkeypatch, capfd, command, policy):
    """Every file, every line of output and every log record is searched for cells planted in all columns."""
    monkeypatch.chdir(tmp_path)
    rows().to_csv("t.csv", index=False)
    (tmp_path / "s.toml").write_text(SCHEMA.format(**POLICIES[policy]))
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.DEBUG)
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            code = main(COMMANDS[command])
    finally:
        logging.getLogger().removeHandler(handler)
        logging.getLogger().setLevel(logging.WARNING)
    out, err = capfd.readouterr()
    assert code == (1 if command.startswith("wrong") or (policy == "error" and command != "init") else 0), err
    said = "\n".join([out, err, log.getvalue(), everything_in(tmp_path), *(str(one.message) for one in warned)])
    for secret in SECRETS:
        assert secret not in said


def everything_raised(error):
    """Return all that an exception and its chain would show, local variables apart."""
    texts, seen = [], set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        texts += [repr(error), str(vars(error)), *traceback.format_exception(error)]
        error = error.__cause__ or error.__context__
    return "\n".join(texts)


def estimators():
    """Return fitted-to-be estimators of every pillar that takes a frame or an array, and what they are fitted on."""
    n = 40
    X, y = np.full((n, 2), NUMBER), np.full(n, 6283.18530)
    labels = np.array([0, 1] * (n // 2))
    bounds = {"x_bounds": dp.Box(lower=0, upper=10_000), "adjacency": dp.Replace()}
    sparse = {"row_norm": 1, "adjacency": dp.Replace(), "budget": dp.Approx(epsilon=1, delta="1e-6")}
    return {
        "functional linear": (
            dp.FunctionalLinearRegression(budget=dp.Pure(epsilon=1), y_bounds=dp.Interval(0, 10_000), **bounds), X, y
        ),
        "functional logistic": (
            dp.FunctionalLogisticRegression(budget=dp.Pure(epsilon=1), classes=[0, 1], **bounds), X, labels
        ),
        "front door, linear": (
            dp.LinearRegression(budget=dp.Gdp(mu=1), y_bounds=dp.Interval(0, 10_000), **bounds), X, y
        ),
        "front door, labels": (dp.LogisticRegression(budget=dp.Gdp(mu=1), classes=[0, 1], **bounds), X, labels),
        "front door, counts": (
            dp.PoissonRegression(budget=dp.Gdp(mu=1), y_bounds=dp.Interval(0, 10_000), **bounds), X, y
        ),
        "K-norm gradient": (
            dp.KNormGradientLogisticRegression(budget=dp.Pure(epsilon=1), classes=[0, 1], **bounds), X, labels
        ),
        "sparse linear": (
            dp.SparseLinearRegression(sparsity=1, y_bounds=dp.Interval(0, 10_000), entry_bound=1, **sparse), X, y
        ),
        "sparse logistic": (dp.SparseLogisticRegression(sparsity=1, classes=[0, 1], **sparse), X, labels),
    }  # fmt: skip


@pytest.mark.parametrize("name", estimators())
def test_no_fitted_object_or_page_keeps_a_cell(name):
    """Pickle, repr and attributes of a fitted model hold no cell; neither does its page."""
    model, X, y = estimators()[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dp.NoiseDominatedWarning)
        model.fit(X, y)
        kept = pickle.dumps(model)
        shown = repr(model) + repr(vars(model)) + report_html(model)
    assert NUMBER.hex() not in shown
    for cell in (NUMBER, 6283.18530):
        assert np.float64(cell).tobytes() not in kept
        assert np.float32(cell).tobytes() not in kept
    for secret in SECRETS:
        assert secret not in shown


@pytest.mark.parametrize("name", estimators())
def test_no_exception_shows_a_cell(name):
    """A missing cell, a text among numbers, and too few rows are refused without a cell in the whole chain."""
    model, X, y = estimators()[name]
    missing = X.copy()
    missing[5, 1] = np.nan
    texts = X.astype(object)
    texts[5, 1] = WORD
    for rows_given, target in ((missing, y), (texts, y), (X, y[:-1]), (X[:, 0], y)):
        with contextlib.suppress(Warning), pytest.raises(dp.DiscreetError) as caught:
            model.fit(rows_given, target)
        for secret in SECRETS:
            assert secret not in everything_raised(caught.value)
