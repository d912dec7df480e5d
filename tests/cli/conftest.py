"""A private file, its schema and a way to run the command."""

import shutil

import numpy as np
import pandas as pd
import pytest

from discreet.cli.main import main

SCHEMA = """\
format = 1
adjacency = "replace"

[columns.income]
kind = "number"
lower = 0
upper = 100

[columns.age]
kind = "number"
lower = 18
upper = 90

[columns.sex]
kind = "flag"

[columns.region]
kind = "category"
levels = ["north", "south"]
"""


@pytest.fixture(scope="session")
def people(tmp_path_factory):
    """A folder with people.csv, people.parquet and people.toml, to be copied."""
    home = tmp_path_factory.mktemp("people")
    rng = np.random.default_rng(0)
    n = 2000
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 91, n),
            "sex": rng.integers(0, 2, n),
            "region": rng.choice(["north", "south"], n),
        }
    )
    frame["income"] = (20 + 0.5 * frame["age"] + 10 * frame["sex"] + rng.normal(size=n)).clip(0, 100)
    frame.to_csv(home / "people.csv", index=False)
    frame.to_parquet(home / "people.parquet", index=False)
    (home / "people.toml").write_text(SCHEMA)
    return home


@pytest.fixture
def folder(people, tmp_path, monkeypatch):
    """A folder of its own with people.csv, people.parquet and people.toml, which is the working directory."""
    shutil.copytree(people, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def command(capsys):
    """Run the command in this process exactly as written; returns its exit code, stdout and stderr."""

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def discreet(command):
    """Run the command as somebody on trial does: what names neither ledger nor output says that it needs none."""

    def run(*arguments):
        return command(*arguments, *_on_trial([str(argument) for argument in arguments]))

    return run


def _on_trial(arguments):
    if arguments[0] not in {"fit", "release", "sample"} or "m.json" in arguments[1:2]:
        return []
    unpaid = [] if {"--ledger", "--no-ledger"} & set(arguments) else ["--no-ledger"]
    printed = arguments[0] == "fit" or "pca" in arguments
    kept = {"-o", "--output", "--no-output", "--json"} & set(arguments)
    return [*unpaid, *(["--no-output"] if printed and not kept else [])]
