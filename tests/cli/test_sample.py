"""`discreet sample`: quantiles and components of a file, their files, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.errors import InvalidData
from discreet.estimators.pca import PrivatePCA
from discreet.sampling import draw_files

SCHEMA = ["--schema", "people.toml"]
ONE = ["--epsilon", "1"]


@pytest.mark.parametrize("file", ["people.csv", "people.parquet"])
def test_a_median_is_drawn_printed_and_written(folder: Any, discreet: Any, file: str) -> None:
    """The ledger has paid once, the file reads back, and the answer is near."""
    code, out, err = discreet(
        "sample", file, "median", "income", *SCHEMA, "--epsilon", 4, "--ledger", "l.ledger", "--total-epsilon", 4,
        "-o", "median.json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    released = draw_files.read("median.json")
    assert released.value == pytest.approx(pd.read_csv("people.csv")["income"].median(), abs=1)
    assert f"Median of income: {released.value:.10g}\n" in out
    assert "Cost: Pure(epsilon=4) under Replace(); private." in out
    assert len(dp.Ledger.open("l.ledger").entries) == 1
    assert discreet("sample", file, "median", "age", *SCHEMA, *ONE, "--ledger", "l.ledger")[0] == 3


def test_quantiles_come_in_order_and_share_the_budget(folder: Any, discreet: Any) -> None:
    """Several numbers, a step, and bounds in the place of a schema; --json prints the file."""
    code, out, _ = discreet(
        "sample", "people.csv", "quantile", "age", "--bounds", "age=18,90", "--adjacency", "add-remove", *ONE,
        "--quantile", "0.75", "--quantile", "1/4", "--step", "1", "--json", "-o", "q.json",
    )  # fmt: skip
    assert code == 0
    content = json.loads(out)
    assert content == json.loads((folder / "q.json").read_text())
    high, low = content["values"]
    assert (content["quantiles"], low < high, low % 1) == (["3/4", "1/4"], True, 0)
    assert content["event"]["n_draws"] == "2"
    assert draw_files.read("q.json").value.tolist() == [high, low]


def test_components_are_drawn_and_read_back(folder: Any, discreet: Any) -> None:
    """All numbers and flags of the schema; the file is a fitted transformer."""
    code, out, err = discreet(
        "sample", "people.csv", "pca", *SCHEMA, "--epsilon", 20, "--components", 2, "--scale-to-bounds",
        "--center", "age=54", "-o", "pca.json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "Component 1 of 2" in out
    assert "sex" in out
    model = PrivatePCA.load("pca.json")
    assert model.feature_names_in_.tolist() == ["income", "age", "sex"]
    assert model.center_.tolist() == [50.0, 54.0, 0.5]
    frame = pd.read_csv("people.csv")[["income", "age", "sex"]]
    assert model.transform(frame).shape == (2000, 2)
    assert model.get_feature_names_out().tolist() == ["privatepca0", "privatepca1"]
    again = draw_files.dumps_components(model.result())
    assert again == (folder / "pca.json").read_text()
    assert discreet("show", "pca.json")[0] == 0


def test_components_of_some_columns_under_a_policy(folder: Any, discreet: Any) -> None:
    """A norm, a policy that costs a delta, and many columns in few lines."""
    code, out, _ = discreet(
        "sample", "people.parquet", "pca", "income", "age", *SCHEMA, *ONE, "--delta", "1e-6", "--row-norm", 40,
        "--runtime", "truncated", "--json",
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)["event"]["policy"] == "truncated"
    wide = pd.DataFrame(np.zeros((30, 10)), columns=[f"c{j}" for j in range(10)])
    wide.to_csv("wide.csv", index=False)
    bounds = [part for name in wide.columns for part in ("--bounds", f"{name}=-1,1")]
    code, out, _ = discreet("sample", "wide.csv", "pca", *bounds, *ONE, "--adjacency", "replace")
    assert code == 0
    assert "and 2 smaller ones" in out


def test_a_report_tells_of_draws(folder: Any, discreet: Any) -> None:
    """Quantiles and components are results like others."""
    discreet("sample", "people.csv", "median", "age", *SCHEMA, *ONE, "-o", "m.json")
    discreet("sample", "people.csv", "pca", *SCHEMA, *ONE, "-o", "p.json")
    assert discreet("report", "m.json", "p.json", "-o", "page.html")[0] == 0
    page = (folder / "page.html").read_text()
    assert "quantile 1/2 of column" in page
    assert "component 1: income" in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mode", "age"], "median, quantile or pca"),
        (["median"], "one COLUMN; found 0"),
        (["median", "age", "income"], "found 2"),
        (["median", "age", "--quantile", "0.5"], "Leave it out"),
        (["quantile", "age"], "--quantile 0.9"),
        (["median", "age", "--components", "2"], "--components belongs to pca"),
        (["median", "age", "--row-norm", "2"], "--row-norm belongs to pca"),
        (["median", "age", "--center", "age=2"], "--center belongs to pca"),
        (["median", "age", "--scale-to-bounds"], "--scale-to-bounds belongs to pca"),
        (["median", "age", "--runtime", "plain"], "fixed work"),
        (["pca", "--step", "1"], "--step belongs to quantile"),
        (["pca", "--quantile", "1/2"], "--quantile belongs to quantile"),
        (["pca", "--runtime", "quick"], "cool-down"),
        (["pca", "--center", "age"], "NAME=VALUE"),
        (["pca", "--center", "age=old"], "NAME=VALUE"),
        (["pca", "--center", "height=1"], "NAME=VALUE"),
        (["median", "age", "--adjacency", "add-remove"], "Make them agree"),
    ],
)
def test_wrong_usage_has_its_code_and_one_line(folder: Any, discreet: Any, arguments: list[str], words: str) -> None:
    """Before anything is read or paid."""
    code, out, err = discreet("sample", "people.csv", *arguments, *SCHEMA, *ONE, "-o", "never.json")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err
    assert not (folder / "never.json").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["quantile", "age", "--quantile", "2"], "--quantile"),
        (["median", "region"], "'region' is a category"),
        (["median", "height"], "'height' is not declared"),
        (["pca", "age", "region"], "'region' is a category"),
        (["pca", "--components", "9"], "n_components"),
        (["pca", "--runtime", "truncated"], "delta"),
    ],
)
def test_bad_input_has_its_code_and_one_line(folder: Any, discreet: Any, arguments: list[str], words: str) -> None:
    """What the library refuses."""
    code, out, err = discreet("sample", "people.csv", *arguments, *SCHEMA, *ONE)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert words in err


def test_budget_and_neighbours_are_asked_for(folder: Any, discreet: Any) -> None:
    """No defaults for either, and the file must be there."""
    assert discreet("sample", "people.csv", "median", "age", *SCHEMA)[0] == 2
    code, _, err = discreet("sample", "people.csv", "median", "age", "--bounds", "age=0,99", *ONE)
    assert code == 2
    assert "--adjacency replace" in err
    assert discreet("sample", "absent.csv", "median", "age", *SCHEMA, *ONE)[0] == 1


def test_damaged_and_foreign_files_are_refused(folder: Any, discreet: Any) -> None:
    """By name, without a traceback."""
    discreet("sample", "people.csv", "quantile", "age", "--quantile", "1/3", *SCHEMA, *ONE, "-o", "q.json")
    discreet("sample", "people.csv", "pca", *SCHEMA, *ONE, "-o", "p.json")
    quantiles, components = (json.loads((folder / name).read_text()) for name in ("q.json", "p.json"))
    for content in (
        {**quantiles, "values": []},
        {**quantiles, "label": "somebody"},
        {**components, "names": ["a"]},
        {**components, "components": "none"},
        {**quantiles, "kind": "ledger"},
    ):
        (folder / "bad.json").write_text(json.dumps(content))
        with pytest.raises(InvalidData, match="bad.json"):
            draw_files.read("bad.json")


def test_a_model_of_an_array_has_no_names() -> None:
    """Nor has its file."""
    model = PrivatePCA(budget=dp.Pure(epsilon=1), adjacency=dp.AddRemove(), row_norm=2.0).fit(np.eye(3))
    assert json.loads(model.dumps())["names"] is None
