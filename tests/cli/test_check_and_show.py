"""The data owner's look at a file, and what any file of ours says."""

import json

import pytest

import discreet as dp
from discreet.cli import check

FIT = ["fit", "people.csv", "income ~ age + sex", "--schema", "people.toml", "--epsilon", "1"]


@pytest.fixture
def troubled(folder):
    """A file with a blank, a word, a cell below and two above the bounds, and an undeclared level."""
    (folder / "t.csv").write_text(
        "income,age,sex,region\n50,,1,north\n-5,old,0,west\n101,40,yes,north\n1e6,41, ,north\n"
    )
    return "t.csv"


def test_check_refuses_a_pipe(troubled, discreet):
    """Exact counts go to a terminal, or where the owner says so; the refusal reads nothing and prints none."""
    code, out, err = discreet("check", troubled, "--schema", "people.toml")
    assert (code, out) == (2, "")
    assert "--private-output-ok" in err


@pytest.mark.parametrize("how", ["terminal", "option"])
def test_check_counts_what_a_release_would_clip_or_miss(troubled, discreet, monkeypatch, how):
    """Blank, unread, below and above are counted column by column; levels that no cell has are named."""
    if how == "terminal":
        monkeypatch.setattr(check.sys.stdout, "isatty", lambda: True)
    allowed = ["--private-output-ok"] if how == "option" else []
    code, out, err = discreet("check", troubled, "--schema", "people.toml", *allowed)
    assert (code, err) == (0, "")
    assert out.startswith("NOT PRIVATE")
    rows = {
        line.split()[0]: line.split()[1:]
        for line in out.splitlines()
        if line.startswith(("income", "age", "sex", "reg"))
    }
    assert rows["income"] == ["4", "0", "0", "1", "2"]
    assert rows["age"] == ["4", "1", "1", "0", "0"]
    assert rows["sex"] == ["4", "1", "1", "0", "0"]
    assert rows["region"] == ["4", "0", "1", "0", "0", "never", "seen:", "'south'"]
    for cell in ("old", "west", "101"):
        assert cell not in out


def test_check_counts_a_parquet_file_alike(folder, discreet):
    """A clean file has no trouble in either format."""
    texts = [
        discreet("check", name, "--schema", "people.toml", "--private-output-ok")
        for name in ("people.csv", "people.parquet")
    ]
    assert texts[0] == texts[1]
    assert texts[0][0] == 0


def test_show_prints_models_moments_and_ledgers(folder, discreet):
    """Each kind is said as its own class says it."""
    discreet(*FIT, "--ledger", "l.ledger", "--total-epsilon", "2", "-o", "model.json")
    discreet("release", "people.csv", "--schema", "people.toml", "--epsilon", "1", "-o", "moments.json")
    for name, word in (("model.json", "income ~ age + sex"), ("moments.json", "Moments of"), ("l.ledger", "Spent")):
        code, out, err = discreet("show", name)
        assert (code, err) == (0, "")
        assert word in out
        code, out, err = discreet("show", name, "--json")
        assert code == 0
        assert json.loads(out)


def test_show_outlines_every_other_kind(folder, discreet):
    """A file of ours is printed as an outline; long lists are counted."""
    document = {"discreet": 1, "kind": "other", "release": {"label": "private", "shape": [2, 2]}, "theta": [0.5] * 20}
    (folder / "o.json").write_text(json.dumps(document))
    code, out, _ = discreet("show", "o.json")
    assert code == 0
    assert "  label: private" in out
    assert "shape: 2, 2" in out
    assert "theta: 20 entries" in out


@pytest.mark.parametrize(("text", "word"), [("{}", "not a file written"), ('{"discreet": 9, "kind": "x"}', "format 9")])
def test_show_refuses_what_is_not_ours(folder, discreet, text, word):
    """A stranger's file and a newer format are refused by name."""
    (folder / "x.json").write_text(text)
    code, out, err = discreet("show", "x.json")
    assert (code, out) == (1, "")
    assert word in err
    code, _, err = discreet("show", "absent.json")
    assert code == 1
    assert "absent.json" in err


def test_a_saved_model_shows_its_adjacency(folder, discreet):
    """What is shown says under which neighbors the cost holds."""
    discreet(*FIT, "-o", "model.json")
    assert repr(dp.Replace()) in discreet("show", "model.json")[1]
