"""`discreet audit`: verdicts, exit codes, JSON and a plot."""

import io
import json

import pytest

OWN = """
import numpy as np
from discreet.audit.cases.case import AuditCase
from discreet.privacy.budgets import Pure

GRID = 1000

def noise(scale):
    def mechanism(data, coins, n_runs):
        return np.rint(GRID * (sum(data) + np.random.default_rng(0).laplace(scale=scale, size=n_runs)))
    return mechanism

def case(scale=1.0):
    return AuditCase(name="my sum", mechanism=noise(scale), first=[0, 1], second=[0, 0], claim=Pure(epsilon=1))

def both():
    return [case(), case(0.3)]

def nothing():
    return 3

number = 4

HOSTILE = "[red]\\x1b[31m</text><b>$\\\\frac{ ../x\\n\\ud800 \\U0001f4a5"

def hostile():
    return AuditCase(name=HOSTILE, mechanism=noise(1.0), first=[0, 1], second=[0, 0], claim=Pure(epsilon=1))
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder with a module of the user's own."""
    (tmp_path / "own_mechanisms.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    monkeypatch.delitem(__import__("sys").modules, "own_mechanisms", raising=False)
    return tmp_path


def test_a_mechanism_of_ours_is_audited_by_name(discreet):
    """One line a verdict, and a last one with the count."""
    code, out, err = discreet("audit", "rounded Laplace", "--runs", "1000", "--seed", "1")
    assert (code, err) == (0, "")
    assert out.splitlines()[0].startswith("rounded Laplace: consistent; claims Pure(epsilon=1)")
    assert "; would convict from " in out.splitlines()[0]
    assert out.splitlines()[-1] == "1 audited, 0 violated."


def test_names_are_listed(discreet):
    """With what each is audited at."""
    code, out, _ = discreet("audit", "--list")
    assert code == 0
    assert "Wishart difference  Pure(epsilon=2)" in out


def test_a_violation_has_an_exit_code_and_its_event(own, discreet):
    """4; the file and the plot are written all the same."""
    code, out, err = discreet(
        "audit", "own_mechanisms:both", "--runs", "4000", "--output", "v.json", "--plot", "curve.svg"
    )
    assert (code, err) == (4, "")
    sound, wrong, count = out.splitlines()
    assert "my sum: consistent" in sound
    assert "my sum: violated" in wrong
    assert "output" in wrong
    assert count == "2 audited, 1 violated."
    document = json.loads((own / "v.json").read_text(), parse_constant=pytest.fail)
    assert (document["discreet"], document["kind"]) == (1, "audit")
    assert [verdict["answer"] for verdict in document["verdicts"]] == ["consistent", "violated"]
    assert "claimed" in (own / "curve.svg").read_text() or (own / "curve.svg").stat().st_size > 1000


def test_a_plot_may_be_a_picture(own, discreet):
    """In the format of its name."""
    code, _, _ = discreet("audit", "own_mechanisms:case", "rounded Laplace", "--runs", "200", "--plot", "curve.png")
    assert code == 0
    assert (own / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_few_runs_are_called_so_and_are_no_violation(discreet):
    """Exit code 0, and the number that would do."""
    code, out, _ = discreet("audit", "rounded Gaussian, coarse", "--runs", "100", "--confidence", "0.999")
    assert code == 0
    assert "no evidence" in out
    assert "needed" in out


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["absent"], 1, "No mechanism is called 'absent'"),
        (["no_such_module:case"], 2, "There is no module 'no_such_module'"),
        (["own_mechanisms:absent"], 2, "has no function 'absent'"),
        (["own_mechanisms:number"], 2, "has no function 'number'"),
        (["own_mechanisms:nothing"], 2, "must return a discreet.audit.AuditCase"),
        (["rounded Laplace", "--plot", "curve.txt"], 2, "--plot must end in .png, .svg, .pdf"),
        (["rounded Laplace", "--plot", "absent/curve.png"], 2, "--plot needs a folder"),
        (["rounded Laplace", "--output", "absent/v.json"], 1, "Cannot write `output`"),
        (["rounded Laplace", "--confidence", "2"], 1, "`confidence`"),
        (["rounded Laplace", "--runs", "3"], 1, "`n_runs`"),
        (["rounded Laplace", "--runs", "x"], 2, "runs"),
        (["rounded Laplace", "--seed", "-1"], 1, "`seed`"),
    ],
)
def test_what_cannot_be_audited_is_one_line(own, discreet, arguments, code, text):
    """With the exit code of bad input or of wrong usage."""
    found, _, err = discreet("audit", *arguments)
    assert found == code
    assert text in err
    assert len(err.splitlines()) == 1


def test_a_module_that_lacks_one_of_its_own_is_not_called_missing(own, discreet):
    """The unexpected error is told by its kind."""
    (own / "own_broken.py").write_text("import no_such_package_at_all\n")
    code, _, err = discreet("audit", "own_broken:case")
    assert code == 1
    assert "unexpected ModuleNotFoundError" in err


def test_progress_is_told_on_a_terminal(own, discreet, monkeypatch):
    """A bar on stderr, and nothing of it elsewhere."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    code, out, _ = discreet("audit", "own_mechanisms:case", "--runs", "100")
    assert code == 0
    assert out.endswith("1 audited, 0 violated.\n")


def test_a_hostile_name_is_printed_written_and_drawn_as_text(own, discreet):
    """One line without commands, strict JSON, and a drawing in which it is no element."""
    places = ["--output", "v.json", "--plot", "curve.svg"]
    code, out, err = discreet("audit", "own_mechanisms:hostile", "--runs", "100", *places)
    assert (code, err) == (0, "")
    line, count = out.splitlines()
    assert line.startswith(r"[red]\x1b[31m</text><b>$\frac{ ../x\n\ud800 ")
    assert count == "1 audited, 0 violated."
    (verdict,) = json.loads((own / "v.json").read_text(encoding="utf-8"))["verdicts"]
    assert verdict["name"].startswith("[red]\x1b[31m</text><b>$")
    assert "<b>" not in (own / "curve.svg").read_text(encoding="utf-8")


def test_a_terminal_without_a_sign_is_told_its_number(own, discreet, monkeypatch):
    """An old encoding is no reason to fail."""
    from discreet.cli import audit

    monkeypatch.setattr(audit.sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert audit._encodable("\U0001f4a5 and \xe9") == r"\U0001f4a5 and \xe9"
