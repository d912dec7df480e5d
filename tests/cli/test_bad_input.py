"""Bad input: one line that names the trouble and the remedy; nothing spent, nothing written, no cell told."""

import os
from pathlib import Path

import pytest

import discreet as dp

SENTINEL = "987654"
FORMULA = "income ~ age + region"

# name, exit code, what the line names, options, and what is done to the files before
CASES = [
    ("unknown column", 1, "Income", {"formula": "Income ~ age"}, {}),
    ("unknown column in the file", 1, "age", {}, {"csv": ("age,", "aged,")}),
    ("wrong type", 1, "age", {}, {"cell": f"{SENTINEL}x"}),
    ("missing bound", 1, "age", {}, {"toml": ("lower = 18\n", "")}),
    ("low above high", 1, "age", {}, {"toml": ("lower = 18", "lower = 180")}),
    ("infinite bound", 1, "age", {}, {"toml": ("upper = 90", "upper = inf")}),
    ("undeclared level", 1, "region", {}, {"level": f"east{SENTINEL}"}),
    ("empty file", 1, "people.csv", {}, {"whole": ""}),
    ("header without rows", 1, "no rows", {}, {"whole": "age,sex,region,income\n"}),
    ("duplicate header", 1, "age", {}, {"csv": ("sex,", "age,")}),
    ("missing cell", 1, "age", {}, {"cell": ""}),
    ("infinite cell", 1, "age", {}, {"cell": "inf"}),
    ("ragged row", 1, "line", {}, {"cell": f"{SENTINEL},1"}),
    ("quote left open", 1, "Line 8 of people.csv leaves a quote open", {}, {"cell": f'"{SENTINEL}'}),
    ("return within a cell", 1, "Line 8 of people.csv holds a carriage return", {}, {"cell": f"1\r{SENTINEL}"}),
    ("quote left open in the header", 1, "quote is left open", {}, {"csv": ("sex,", '"sex,')}),
    ("another delimiter", 1, "tab", {}, {"csv": (",", "\t")}),
    ("negative epsilon", 2, "epsilon", {"epsilon": "-1"}, {}),
    ("NaN epsilon", 2, "epsilon", {"epsilon": "nan"}, {}),
    ("zero epsilon", 2, "epsilon", {"epsilon": "0"}, {}),
    ("text epsilon", 2, "epsilon", {"epsilon": "one"}, {}),
    ("no budget", 2, "--epsilon", {"epsilon": None}, {}),
    ("budget refused", 3, "Pure(epsilon=3)", {"epsilon": "3"}, {}),
    ("unwritable output", 1, "no-such-folder", {"output": "no-such-folder/model.json"}, {}),
    ("output is a folder", 1, "folder", {"output": "."}, {}),
    ("absent data", 1, "absent.csv", {"data": "absent.csv"}, {}),
    ("absent schema", 1, "absent.toml", {"schema": "absent.toml"}, {}),
    ("schema is no TOML", 1, "people.toml", {}, {"toml": ("format = 1", f"format = {{{{ {SENTINEL}")}),
    ("unknown key in the schema", 1, "uper", {}, {"toml": ("upper = 90", "upper = 90\nuper = 90")}),
    ("unknown function", 1, "log", {"formula": "income ~ log(age)"}, {}),
    ("formula without target", 1, "~", {"formula": "age"}, {}),
    ("no formula", 2, "FORMULA", {"formula": None}, {}),
    ("unknown option", 2, "--budget", {"more": ["--budget", "1"]}, {}),
    ("unknown adjacency", 2, "--adjacency", {"more": ["--adjacency", "swap"]}, {}),
    ("contradicting adjacency", 1, "adjacency", {"more": ["--adjacency", "add-remove"]}, {}),
    ("law and budget", 1, "gaussian", {"more": ["--method", "moments", "--mechanism", "gaussian"]}, {}),
    ("two budgets", 2, "--rho", {"more": ["--rho", "1"]}, {}),
    ("half a bound", 2, "age", {"more": ["--bounds", "age=3"]}, {}),
    ("a bound that is no number", 2, "age", {"more": ["--bounds", "age=low,high"]}, {}),
    ("an option without name", 2, "--bounds", {"more": ["--bounds", "3,4"]}, {}),
]


@pytest.mark.parametrize(("name", "code", "says", "options", "damage"), CASES, ids=[case[0] for case in CASES])
def test_bad_input_is_one_line_and_leaves_no_trace(folder, discreet, name, code, says, options, damage):
    """The exit code is the documented one, the line names the trouble, and files and budget are as before."""
    dp.Ledger.open("l.ledger", total=dp.Pure(epsilon=2), adjacency=dp.Replace())
    _damage(folder, damage)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    arguments = {
        "data": "people.csv", "formula": FORMULA, "schema": "people.toml", "epsilon": "1", "output": "model.json",
        "more": [], **options,
    }  # fmt: skip
    line = ["fit", arguments["data"], *([arguments["formula"]] if arguments["formula"] else [])]
    line += ["--schema", arguments["schema"], "--ledger", "l.ledger", "-o", arguments["output"], *arguments["more"]]
    line += ["--epsilon", arguments["epsilon"]] if arguments["epsilon"] else []
    found, out, err = discreet(*line)
    assert (found, out) == (code, ""), err
    assert err.count("\n") == 1
    assert err.startswith("discreet: ")
    assert says in err
    assert SENTINEL not in err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert dp.Ledger.open("l.ledger").entries == ()


def _damage(folder, damage):
    table, schema = folder / "people.csv", folder / "people.toml"
    lines = table.read_text().splitlines()
    if "csv" in damage:
        lines = [
            line.replace(*damage["csv"]) if k == 0 or damage["csv"][0] == "," else line for k, line in enumerate(lines)
        ]
    if "cell" in damage:
        lines[7] = f"{damage['cell']}," + lines[7].split(",", 1)[1]
    if "level" in damage:
        cells = lines[7].split(",")
        cells[2] = damage["level"]
        lines[7] = ",".join(cells)
    table.write_bytes(damage.get("whole", "\n".join(lines) + "\n").encode())
    if "toml" in damage:
        schema.write_text(schema.read_text().replace(*damage["toml"]))


def test_a_refused_fit_creates_no_ledger(folder, discreet):
    """A ledger that the command would have created is not there after bad data."""
    _damage(folder, {"cell": ""})
    code, _, _ = discreet(
        "fit", "people.csv", FORMULA, "--schema", "people.toml", "--epsilon", "1", "--ledger", "new.ledger",
        "--total-epsilon", "2",
    )  # fmt: skip
    assert code == 1
    assert not Path("new.ledger").exists()


def test_a_header_without_rows_runs_under_add_remove(folder, discreet):
    """The number of rows is private there, so an empty table is an ordinary one."""
    (folder / "people.csv").write_text("age,sex,region,income\n")
    text = (folder / "people.toml").read_text().replace("replace", "add-remove")
    (folder / "people.toml").write_text(text)
    code, _, err = discreet("fit", "people.csv", FORMULA, "--schema", "people.toml", "--epsilon", "1")
    assert (code, err) == (0, "")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_without_write_permission_is_named(folder, discreet):
    """An output in a folder one may not write to is refused before a charge."""
    (folder / "shut").mkdir(mode=0o500)
    code, _, err = discreet(
        "fit", "people.csv", FORMULA, "--schema", "people.toml", "--epsilon", "1", "-o", "shut/model.json"
    )
    assert code == 1
    assert "shut" in err


def test_a_ledger_that_is_none_is_refused(folder, discreet):
    """A file that is no ledger, or an absent one without a total, is named."""
    (folder / "l.ledger").write_text("not a ledger")
    for arguments, says in ((["--ledger", "l.ledger"], "l.ledger"), (["--ledger", "absent.ledger"], "--total-epsilon")):
        code, _, err = discreet("fit", "people.csv", FORMULA, "--schema", "people.toml", "--epsilon", "1", *arguments)
        assert code in {1, 2}
        assert says in err
    code, _, err = discreet("ledger", "l.ledger")
    assert code == 1
    assert "l.ledger" in err


def test_damaged_model_files_are_refused(folder, discreet):
    """`predict` and `fit` name a file that they cannot read as what it should be."""
    (folder / "model.json").write_text('{"discreet": 1, "kind": "regression"}')
    code, _, err = discreet("predict", "model.json", "people.csv", "-o", "p.csv")
    assert code == 1
    assert "model.json" in err
    assert not Path("p.csv").exists()


def test_an_unexpected_fault_shows_no_text_of_its_own(folder, discreet, monkeypatch):
    """A stranger's message may quote a row, so the line has only its kind; --debug shows it all."""

    def fail(*_, **__):
        raise RuntimeError(SENTINEL)

    monkeypatch.setattr("discreet.estimators.methods.fit.fit", fail)
    line = ["fit", "people.csv", FORMULA, "--schema", "people.toml", "--epsilon", "1"]
    code, _, err = discreet(*line)
    assert code == 1
    assert SENTINEL not in err
    monkeypatch.setenv("DISCREET_DEBUG", "1")
    with pytest.raises(RuntimeError):
        discreet(*line)
