"""The command reads folders and files of other programs as it reads one CSV file."""

import json

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from discreet.cli.main import main

SCHEMA = """format = 1
adjacency = "replace"
[columns.x]
kind = "number"
lower = 0
upper = 10
[columns.y]
kind = "number"
lower = 0
upper = 5
"""


@pytest.fixture(params=["csv", "parquet", "sav", "xlsx"])
def data(request, tmp_path):
    """Return the path of a folder of parts, or of one file."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.uniform(0, 10, 400)})
    frame["y"] = frame["x"] / 2
    path = tmp_path / "data"
    (tmp_path / "s.toml").write_text(SCHEMA)
    if request.param in {"csv", "parquet"}:
        path.mkdir()
        for place in range(2):
            part = frame[place * 200 : place * 200 + 200]
            if request.param == "csv":
                part.to_csv(path / f"{place}.csv", index=False)
            else:
                part.to_parquet(path / f"{place}.parquet", index=False)
        return path
    path = path.with_suffix(f".{request.param}")
    if request.param == "sav":
        pyreadstat.write_sav(frame, str(path))
    else:
        frame.to_excel(path, index=False)
    return path


def test_dst_10_every_command_takes_a_folder_and_a_file_of_another_program(data, tmp_path, monkeypatch, capsys):
    """DST-10: init, check, fit, fit --method, release, predict and sample."""
    monkeypatch.chdir(tmp_path)
    where, schema = str(data), ["--schema", "s.toml"]
    assert main(["init", where, "-o", "draft.toml"]) == 0
    assert "[columns.x]" in (tmp_path / "draft.toml").read_text()
    assert main(["check", where, *schema, "--private-output-ok"]) == 0
    assert capsys.readouterr().out.count("400") == 2
    assert main(["fit", where, "y ~ x", *schema, "--mu", "1", "--no-ledger", "-o", "m.json"]) == 0
    assert main(["fit", where, "y ~ x", *schema, "--mu", "1", "--method", "descent", "--no-ledger", "--no-output"]) == 0
    assert main(["release", where, *schema, "--mu", "1", "--no-ledger", "-o", "r.json"]) == 0
    assert json.loads((tmp_path / "r.json").read_text())["kind"] == "moments"
    assert main(["predict", "m.json", where, "-o", "p.csv"]) == 0
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 401
    assert main(["sample", where, "median", "x", *schema, "--epsilon", "1", "--no-ledger"]) == 0, (
        capsys.readouterr().err
    )


def test_a_folder_that_is_none_ends_the_command_before_a_charge(tmp_path, monkeypatch, capsys):
    """One line that names the folder, exit code 1, and no ledger."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SCHEMA)
    (tmp_path / "empty").mkdir()
    how = ["--schema", "s.toml", "--mu", "1", "--ledger", "l.ledger", "--total-mu", "1", "--no-output"]
    assert main(["fit", "empty", "y ~ x", *how]) == 1
    assert "empty holds no Parquet or text file" in capsys.readouterr().err
    assert not (tmp_path / "l.ledger").exists()
