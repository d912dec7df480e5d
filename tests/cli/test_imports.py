"""No command but `audit` loads scikit-learn or scipy.stats, which take longer than most fits."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

BUDGET = ["--mu", "5", "--no-ledger"]
PURE = ["--epsilon", "9", "--no-ledger"]
TABLE = ["people.csv", "income ~ age + sex", "--schema", "people.toml"]
LABELS = ["people.csv", "sex ~ age", "--schema", "people.toml", "--loss", "logistic"]
WORDS = ["--row-norm", "1", "--adjacency", "replace"]
SPARSE = ["fit", "--sparse", "words.svm", "--columns", "9", "--loss", "logistic", "--classes", "0,1", *WORDS]
# In an order in which the later ones find what they read.
COMMANDS = [
    ["init", "people.csv", "-o", "draft.toml"],
    ["check", "people.csv", "--schema", "people.toml", "--private-output-ok"],
    ["plan", "income ~ age", "--schema", "people.toml", "--rows", "999", "--mu", "1", "--report", "plan.html"],
    ["plan", LABELS[1], *LABELS[2:], "--rows", "999", "--mu", "1"],
    ["fit", *TABLE, "--mu", "5", "--ledger", "l.ledger", "--total-mu", "9", "-o", "m.json", "--report", "fit.html"],
    ["fit", *TABLE, "--method", "moments", *BUDGET, "--no-output"],
    ["fit", *TABLE, "--method", "threshold", *BUDGET, "--no-output"],
    ["fit", *TABLE, "--method", "sample", *PURE, "--no-output"],
    ["fit", *LABELS, *BUDGET, "--no-output"],
    ["fit", *LABELS, "--method", "perturbation", *PURE, "--no-output"],
    ["fit", *LABELS, "--method", "moments", *PURE, "--radius", "4", "--no-output"],
    ["fit", "people.csv", "income ~ age", "--schema", "persons.toml", *BUDGET, "--no-output"],
    [*SPARSE, *BUDGET, "-o", "words.json"],
    ["fit", "--sparse", "words.npz", "--y-bounds", "0,1", *WORDS, "--selection", "all", *BUDGET, "--no-output"],
    ["release", "people.csv", "--schema", "people.toml", *BUDGET, "-o", "moments.json"],
    ["fit", "moments.json", "income ~ age"],
    ["sample", "people.csv", "median", "age", "--schema", "people.toml", *BUDGET, "-o", "median.json"],
    ["sample", "people.csv", "pca", "age", "income", "--schema", "people.toml", *PURE, "-o", "pca.json"],
    ["predict", "m.json", "people.csv", "-o", "predictions.csv"],
    ["predict", "words.json", "words.svm", "-o", "words.csv"],
    ["ledger", "l.ledger"],
    ["show", "m.json"],
    ["show", "words.json"],
    ["report", "m.json", "words.json", "moments.json", "median.json", "pca.json", "l.ledger", "-o", "report.html"],
    ["example", "adult", "-o", "demo"],
]
# What a module that was loaded once stays: the first command after which it is there has loaded it.
PROGRAM = """
import contextlib, io, json, sys
from discreet.cli.main import main
told = []
for arguments in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()):
        code = main(arguments)
    told.append([arguments[:2], code, [name for name in ("sklearn", "scipy.stats") if name in sys.modules]])
print(json.dumps(told))
"""


def loaded_after(commands, folder, first=""):
    """Return of each command how it ended and which of the two packages are loaded after it, run in one process."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", first + PROGRAM, json.dumps(commands)],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    return [tuple(entry[1:]) for entry in json.loads(done.stdout)], done.stderr


@pytest.fixture
def made(folder):
    """The folder of the other tests, with sparse files and with several rows of a person."""
    lines = [f"{k % 2} {1 + k % 9}:1" for k in range(60)]
    (folder / "words.svm").write_text("\n".join(lines))
    np.savez("words.npz", X=np.eye(60, 9), y=np.arange(60) % 2)
    frame = pd.read_csv("people.csv")
    frame.assign(person=frame.index // 2).to_csv("people.csv", index=False)
    text = (folder / "people.toml").read_text()
    persons = 'adjacency = "replace"\nunit = "person"\nrows_per_unit = 2'
    (folder / "persons.toml").write_text(text.replace('adjacency = "replace"', persons))
    return folder


def test_no_command_but_audit_loads_scikit_learn_or_scipy_stats(made):
    """Every command, with every method and kind of file, ends well, and neither package is among the modules."""
    assert {arguments[0] for arguments in COMMANDS} | {"audit"} == {
        "audit", "check", "example", "fit", "init", "ledger", "plan", "predict", "release", "report", "sample", "show"
    }  # fmt: skip
    told, err = loaded_after(COMMANDS, made)
    assert told == [(0, [])] * len(COMMANDS), err


def test_a_package_that_is_loaded_is_seen(made):
    """The same look finds both packages where something has loaded them."""
    told, _ = loaded_after([["show", "people.toml"]], made, first="import scipy.stats, sklearn\n")
    assert told == [(1, ["sklearn", "scipy.stats"])]
