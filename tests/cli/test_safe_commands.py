"""What a command refuses before it reads or spends: to forget, to lose, to write over, to ignore a declaration."""

import json
import os
import warnings
from pathlib import Path

import pytest

import discreet as dp
from discreet import _files
from discreet.errors import InvalidArgument

SCHEMA = ["--schema", "people.toml", "--epsilon", 1]
PAID = [*SCHEMA, "--ledger", "l.ledger"]
SPENDING = {
    "fit": ["fit", "people.csv", "income ~ age", "-o", "new.json"],
    "fit by method": ["fit", "people.csv", "income ~ age", "--method", "auto", "-o", "new.json"],
    "logistic": ["fit", "people.csv", "sex ~ age", "--loss", "logistic", "-o", "new.json"],
    "release": ["release", "people.csv", "-o", "new.json"],
    "median": ["sample", "people.csv", "median", "age", "-o", "new.json"],
    "pca": ["sample", "people.csv", "pca", "-o", "new.json"],
}


@pytest.fixture
def book(folder):
    """A ledger of two epsilon beside the table."""
    return dp.Ledger.open("l.ledger", total=dp.Pure(epsilon=2), adjacency=dp.Replace())


def refused(command, arguments, message, *, code=2):
    """Run a command that must end in one line that holds `message`, with nothing written or printed."""
    before = _state()
    found, out, err = command(*arguments)
    assert (found, out) == (code, ""), err
    assert message in err
    assert err.count("\n") == 1
    assert _state() == before


def _state():
    return {path: path.lstat().st_mtime_ns for path in Path().rglob("*")}


@pytest.mark.parametrize("arguments", SPENDING.values(), ids=SPENDING)
def test_nothing_is_spent_that_nothing_remembers(folder, command, arguments):
    """Without --ledger a command wants --no-ledger, before it reads a byte; with it the release is made."""
    (folder / "people.csv").rename("away.csv")
    (folder / "people.csv").write_bytes(b"\xff no table")
    refused(command, [*arguments, *SCHEMA], "Add --ledger FILE")
    (folder / "away.csv").rename("people.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code, _, err = command(*arguments, *SCHEMA, "--no-ledger")
    assert (code, err) == (0, "")
    assert (folder / "new.json").exists()
    refused(command, [*arguments, *PAID, "--no-ledger", "--force"], "contradict")
    refused(command, [*arguments, *SCHEMA, "--no-ledger", "--total-epsilon", 2, "--force"], "add --ledger FILE")


def test_nothing_sparse_is_spent_that_nothing_remembers(folder, command):
    """The same of --sparse, which needs its labels declared as well."""
    (folder / "words.svm").write_text("".join(f"{k % 2} 1:1 {k % 9 + 2}:0.5\n" for k in range(90)))
    fit = ["fit", "--sparse", "words.svm", "--columns", 10, "--loss", "logistic", "--row-norm", 1, "--sparsity", 2]
    fit += ["--adjacency", "replace", "--mu", 1, "-o", "new.json"]
    refused(command, fit, "Add --ledger FILE")
    refused(command, [*fit, "--no-ledger"], "--loss logistic needs --classes")
    code, out, err = command(*fit, "--no-ledger", "--classes", "0,1")
    assert (code, err) == (0, "")
    assert "Replace(); private" in out


@pytest.mark.parametrize("name", SPENDING)
@pytest.mark.parametrize("option", ["--output", "--report"])
def test_no_file_is_written_over_without_force(book, folder, command, name, option):
    """What is there stays, nothing is charged; --force is the word that writes over it."""
    if option == "--report" and not name.startswith(("fit", "logistic")):
        pytest.skip("has no report")
    arguments = [*SPENDING[name], *PAID, *(["--report", "page.html"] if option == "--report" else [])]
    target = folder / ("new.json" if option == "--output" else "page.html")
    target.write_text("a model that was paid for")
    refused(command, arguments, f"{option} {target.name!r} is there already")
    assert book.entries == ()
    assert target.read_text() == "a model that was paid for"
    code, _, err = command(*arguments, "--force")
    assert (code, err) == (0, "")
    assert target.read_text() != "a model that was paid for"
    assert len(book.entries) == 1


def test_free_writers_write_over_nothing_either(folder, command):
    """Drafts, examples, predictions, reports, plans and audits keep what is there."""
    assert command(*SPENDING["fit"], *SCHEMA, "--no-ledger")[0] == 0
    plan = ["plan", "income ~ age", "--schema", "people.toml", "--rows", 900, "--epsilon", 1]
    audit = ["audit", "rounded Laplace, coarse", "--runs", 2000, "--seed", 1]
    writers = {
        "draft.toml": ["init", "people.csv", "-o", "draft.toml"],
        "p.csv": ["predict", "new.json", "people.csv", "-o", "p.csv"],
        "r.html": ["report", "new.json", "-o", "r.html"],
        "plan.html": [*plan, "--report", "plan.html"],
        "audit.json": [*audit, "-o", "audit.json"],
        "audit.png": [*audit, "--plot", "audit.png"],
        "demo/adult.toml": ["example", "adult", "-o", "demo"],
    }
    (folder / "demo").mkdir()
    for name, arguments in writers.items():
        (folder / name).write_text("mine")
        refused(command, arguments, "is there already. Choose another name, or add --force.")
        assert (folder / name).read_text() == "mine"
        code, _, err = command(*arguments, "--force")
        assert (code, err) == (0, ""), name
        assert (folder / name).read_bytes() != b"mine"


def test_inputs_and_ledgers_are_not_written_over_even_by_force(book, folder, command):
    """--force writes over no table, schema or model that is read, and over no ledger."""
    fit = ["fit", "people.csv", "income ~ age", *PAID, "--force"]
    (folder / "link.csv").symlink_to("people.csv")
    for output in ("people.csv", "./people.csv", "link.csv", "people.toml"):
        refused(command, [*fit, "-o", output], "is a file that this command reads")
    dp.Ledger.open("other.ledger", total=dp.Pure(epsilon=2), adjacency=dp.Replace())
    for arguments in ([*fit, "-o", "other.ledger"], ["init", "people.csv", "-o", "other.ledger", "--force"]):
        refused(command, arguments, "is a ledger, which is never written over")
    refused(command, [*fit, "-o", "l.ledger"], "l.ledger")
    refused(command, [*fit, "-o", "x.html", "--report", "./x.html"], "name the same file")
    (folder / "dangling.json").symlink_to("nowhere")
    refused(command, [*fit[:-1], "-o", "dangling.json"], "is there already")
    assert book.entries == ()


@pytest.mark.parametrize("name", ["fit", "fit by method", "logistic", "pca"])
def test_a_model_is_not_paid_for_and_lost(book, folder, command, name):
    """Without -o a fit asks for it, or for --no-output; --json prints the whole model, so that it is kept."""
    arguments = [*SPENDING[name][:-2], *PAID]
    refused(command, arguments, "--no-output to print it only")
    assert book.entries == ()
    code, out, err = command(*arguments, "--no-output")
    assert (code, err) == (0, "")
    assert "Cost" in out
    code, out, _ = command(*arguments, "--json")
    assert code == 0
    assert json.loads(out)["discreet"] == 1
    refused(command, [*SPENDING[name], *PAID, "--no-output"], "contradict")


def test_a_free_fit_asks_for_neither_ledger_nor_output(folder, command):
    """A fit from a release spends nothing; what was declared when it was made is refused, not ignored."""
    assert command("release", "people.csv", *SCHEMA, "--no-ledger", "-o", "m.json")[0] == 0
    code, out, err = command("fit", "m.json", "income ~ age")
    assert (code, err) == (0, "")
    assert "income ~ age" in out
    for more in (
        ["--bounds", "age=0,120"], ["--levels", "region=a,b"], ["--schema", "people.toml"], ["--no-ledger"],
        ["--adjacency", "replace"], ["--loss", "logistic", "--classes", "0,1"],
    ):  # fmt: skip
        refused(command, ["fit", "m.json", "sex ~ age", *more], "is a release already")


def test_a_file_that_appears_meanwhile_is_not_written_over(folder, monkeypatch):
    """Two commands of one output both pass the check; the later result stands beside the earlier, which is kept."""
    for links in (True, False):
        if not links:
            monkeypatch.setattr(os, "link", _no_links)
        for path in folder.glob("x.json*"):
            path.unlink()
        with (
            _files.OutputFile("x.json", overwrite=False) as one,
            _files.OutputFile("x.json", overwrite=False) as other,
        ):
            one.write("first")
            if links:
                with pytest.raises(InvalidArgument, match=r"appeared while this ran.*'x\.json\.1'"):
                    other.write("second")
                assert (folder / "x.json.1").read_text() == "second"
                assert (folder / "x.json").read_text() == "first"
        assert not list(folder.glob(".x.json*"))
        with pytest.raises(InvalidArgument, match="is there already"), _files.OutputFile("x.json", overwrite=False):
            pass


def _no_links(*_):
    raise PermissionError


BOUNDS = ["--bounds", "income=0,100", "--bounds", "age=18,90", "--adjacency", "replace", "--epsilon", 1]
TABLE = "Column 'Age' is not in people.csv. Did you mean 'age'?"
MISNAMED = {
    "fit over a schema": ([*SPENDING["fit"], *PAID, "--bounds", "Age=0,99"], TABLE),
    "fit by method": ([*SPENDING["fit by method"], *PAID, "--bounds", "Age=0,99"], TABLE),
    "fit with levels": ([*SPENDING["fit"], *PAID, "--levels", "Age=a,b"], TABLE),
    "fit without a schema": ([*SPENDING["fit"], *BOUNDS, "--ledger", "l.ledger", "--bounds", "Age=0,99"], TABLE),
    "release": ([*SPENDING["release"], *PAID, "--terms", "income", "--bounds", "Age=0,99"], TABLE),
    "sample": ([*SPENDING["median"], *PAID, "--bounds", "Age=0,99"], TABLE),
    "check": (["check", "people.csv", "--schema", "people.toml", "--bounds", "Age=0,99", "--private-output-ok"], TABLE),
}


@pytest.mark.parametrize(("arguments", "message"), MISNAMED.values(), ids=MISNAMED)
def test_bnd_08_a_declaration_of_a_column_that_the_table_lacks_is_refused(book, command, arguments, message):
    """BND-08: --bounds and --levels name columns of the table; the near match is quoted and nothing is spent."""
    refused(command, arguments, message, code=1)
    _, _, err = command(*arguments)
    assert "--levels of 'Age'" in err if "--levels" in arguments else "--bounds of 'Age'" in err
    assert book.entries == ()


def test_bnd_08_a_plan_refuses_a_column_that_neither_formula_nor_schema_has(folder, command):
    """BND-08: a plan reads no table, so that its names are those of the formula and of the schema's file."""
    plan = ["plan", "income ~ age", "--rows", 900]
    for declared in (BOUNDS, SCHEMA):
        refused(command, [*plan, *declared, "--bounds", "Age=0,99"], "no column 'Age'. Did you mean 'age'?")
        refused(command, [*plan, *declared, "--levels", "are=a,b"], "no column 'are'.")
    assert command(*plan, *SCHEMA, "--levels", "region=a,b")[0] == 0
    assert command(*plan, *BOUNDS)[0] == 0


def test_two_declarations_of_one_column_are_refused(folder, command):
    """Neither the first nor the last is taken in silence; a column of the table that no term needs may be declared."""
    fit = [*SPENDING["fit"], *SCHEMA, "--no-ledger"]
    refused(command, [*fit, "--bounds", "age=0,99", "--bounds", "age=0,9"], "both declare 'age'")
    refused(command, [*fit, "--bounds", "age=0,99", "--levels", "age=0,9"], "both declare 'age'")
    assert command(*fit, "--levels", "region=north,south")[0] == 0


def test_classes_declare_the_target_of_a_formula(folder, command):
    """--classes are the levels of the target, the positive one last; without them an undeclared target is refused."""
    fit = ["fit", "people.csv", "region ~ age", "--loss", "logistic", "--bounds", "age=18,90", "--mu", "1e9", "--json"]
    fit += ["--adjacency", "replace", "--no-ledger"]
    moments = [*fit, "--method", "moments"]
    refused(command, moments, "Column 'region' is not declared", code=1)
    slopes = []
    for classes in ("north,south", "south,north"):
        code, out, err = command(*moments, "--classes", classes)
        assert (code, err) == (0, "")
        slopes.append(json.loads(out)["coef"][0][0])
    assert slopes[0] == pytest.approx(-slopes[1], abs=1e-6)
    code, out, err = command(*fit, "--classes", "north,south", "--method", "auto")
    assert (code, err) == (0, "")
    assert json.loads(out)["label"] == "private"
    refused(command, [*fit, "--classes", "a,b", "--loss", "squared"], "--classes belongs to --loss logistic")
    refused(command, [*fit, "--classes", "a,b", "--levels", "region=a,b"], "both declare 'region'")
    refused(command, ["fit", "people.csv", "age", *fit[3:], "--classes", "a,b"], "levels of the formula's target")


@pytest.mark.parametrize("radius", ["-1", "0", "1e300"])
def test_a_radius_that_cannot_be_is_refused_before_the_charge(book, folder, command, radius):
    """A parabola's radius is checked before the ledger pays, not when the answer is read from the release."""
    arguments = [*SPENDING["logistic"], *PAID, "--method", "moments", f"--radius={radius}"]
    refused(command, arguments, "`radius` must be between 0.1 and 100", code=1)
    assert book.entries == ()


@pytest.mark.parametrize("name", ["fit", "fit by method", "release", "median", "init"])
def test_nothing_is_written_into_the_folder_of_the_data(book, folder, command, name):
    """A folder's files are the table, so neither a part of it is written over nor a file put among them."""
    (folder / "parts").mkdir()
    (folder / "people.csv").rename(folder / "parts" / "a.csv")
    (folder / "also").symlink_to("parts")
    paid = [] if name == "init" else PAID
    asked = SPENDING.get(name, ["init", "people.csv", "-o", "new.json"])
    asked = ["parts" if text == "people.csv" else text for text in asked]
    for output in ("parts/a.csv", "parts/new.json", "also/new.json"):
        arguments = [output if text == "new.json" else text for text in asked]
        refused(command, [*arguments, *paid, "--force"], "is in the folder of the data")
    assert book.entries == ()
    assert command(*asked, *paid)[0] == 0


@pytest.mark.parametrize(
    "option",
    [["--ledger", "l.ledger"], ["--ledger", "absent.ledger"], ["--mechanism", "laplace"], ["--mechanism", "x"]],
)
def test_a_free_fit_refuses_what_it_would_ignore(book, folder, command, option):
    """A fit from a release draws no noise and charges nothing, so a mechanism or a ledger is a mistake."""
    assert command(*SPENDING["release"], *PAID)[0] == 0
    refused(command, ["fit", "new.json", "income ~ age", *option], f"{option[0]} belongs to data")
    code, _, err = command("fit", "new.json", "income ~ age", "--ledger", "l.ledger", "--report", "page.html")
    assert (code, err) == (0, "")
    assert "l.ledger" not in err
    assert (folder / "page.html").exists()


@pytest.mark.parametrize("name", SPENDING)
def test_what_was_paid_for_is_printed_where_the_disk_is_full(book, folder, command, monkeypatch, name):
    """A file that cannot be written after the charge is printed whole, and the error says so."""

    def full(self, text):
        del self, text
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_files.OutputFile, "write", full)
    code, out, err = command(*SPENDING[name], *PAID)
    assert (code, len(book.entries)) == (1, 1)
    assert "No space left on device. The ledger has paid" in err
    assert json.loads(out)["discreet"] == 1
    assert not (folder / "new.json").exists()


def test_a_name_that_is_given_twice_is_refused(book, folder, command):
    """Of two values for one column none is taken silently."""
    pca = [*SPENDING["pca"], *PAID, "--center", "age=30", "--center", "age=40"]
    refused(command, pca, "--center names 'age' twice")
    plan = ["plan", "income ~ age", *SCHEMA, "--rows", 900, "--assume", "age=40,9", "--assume", "age=40,12"]
    refused(command, plan, "--assume names 'age' twice")
    assert book.entries == ()


@pytest.mark.parametrize("end", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize("made", [True, False])
def test_nothing_is_written_under_a_name_that_belongs_to_a_ledger(folder, command, end, made):
    """What stands beside a ledger as its journal is removed when it is opened, be it a model that was paid for."""
    if made:
        dp.Ledger.open("l.ledger", total=dp.Pure(epsilon=2), adjacency=dp.Replace())
    fit = ["fit", "people.csv", "income ~ age", *PAID, "--total-epsilon", 2, "--force", "-o", f"l.ledger{end}"]
    refused(command, fit, "is a name that SQLite uses beside a ledger")
    assert made or not (folder / "l.ledger").exists()
    assert command(*fit[:-1], f"people{end}")[0] == 0
