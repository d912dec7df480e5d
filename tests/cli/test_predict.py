"""`discreet predict`: one line a row, NA where nothing can be said, kept columns beside."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.progress import Progress

import discreet as dp
from discreet.cli.predictions import KeptColumns
from discreet.errors import InvalidData
from discreet.estimators.front_door import LinearRegression, LogisticRegression

SCHEMA = {"age": dp.Number(18, 90, missing="drop"), "sex": dp.Flag(), "income": dp.Number(0, 100)}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Where the files of `fitted` are kept once they are made."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def fitted(folder, discreet, kept):
    """Models of a table whose column `age` drops rows, by file name; the table's cells at 3 and 5 are missing."""
    if not any(kept.iterdir()):
        fit_models(folder, discreet)
        shutil.copytree(folder, kept, dirs_exist_ok=True)
    shutil.copytree(kept, folder, dirs_exist_ok=True)
    return pd.read_parquet("people.parquet")


def fit_models(folder, discreet):
    text = (folder / "people.toml").read_text()
    (folder / "people.toml").write_text(text.replace("upper = 90", 'upper = 90\nmissing = "drop"'))
    common = ["--schema", "people.toml", "--mu", 1e6]
    assert discreet("fit", "people.csv", "income ~ age + sex", *common, "-o", "gram.json")[0] == 0
    assert discreet("fit", "people.csv", "sex ~ age", "--loss", "logistic", *common, "-o", "parabola.json")[0] == 0
    assert discreet("fit", "people.csv", "income ~ age + sex", "--method", "auto", *common, "-o", "door.json")[0] == 0
    flags = ["fit", "people.csv", "sex ~ age", "--loss", "logistic", "--method", "auto"]
    assert discreet(*flags, *common, "-o", "flags.json")[0] == 0
    frame = pd.read_csv("people.csv").assign(id=lambda table: [f'p"{k},{k}' for k in range(len(table))])
    schema = dp.Schema.from_toml("people.toml")
    kinds = np.array(["low", "mid, or so", "top"])[np.digitize(frame["income"], [40, 60])]
    many = LogisticRegression(
        budget=dp.Gdp(mu=1e6), adjacency=dp.Replace(), schema=schema, classes=("low", "mid, or so", "top")
    ).fit(frame[["age", "sex"]], kinds)
    many.save("kinds.json")
    frame["age"] = frame["age"].astype("Int64")
    frame.loc[[3, 5], "age"] = pd.NA
    frame.to_csv("people.csv", index=False)
    frame.to_parquet("people.parquet", index=False)
    frame.head(50).to_excel("people.xlsx", index=False)
    parts = Path("parts")
    parts.mkdir()
    frame.head(700).to_parquet(parts / "0.parquet", index=False)
    frame.tail(1300).to_parquet(parts / "1.parquet", index=False)


@pytest.mark.parametrize("model", ["gram", "parabola", "door", "flags", "kinds"])
@pytest.mark.parametrize("file", ["people.csv", "people.parquet"])
def test_a_row_of_which_nothing_can_be_said_is_na(fitted, folder, command, model, file):
    """Every row has its line; a missing cell whose policy is "drop" gives NA, which frames read as missing."""
    code, _, err = command("predict", f"{model}.json", file, "-o", "p.csv")
    assert (code, err) == (0, "")
    lines = (folder / "p.csv").read_text().splitlines()
    assert len(lines) == 2001
    assert [k for k, line in enumerate(lines[1:]) if line == "NA"] == [3, 5]
    found = pd.read_csv("p.csv")
    assert list(found.columns) == ["prediction"]
    assert found["prediction"].isna().to_numpy().nonzero()[0].tolist() == [3, 5]


def test_predictions_are_those_of_the_model(fitted, folder, command):
    """The file's numbers and labels are what `predict` and `predict_proba` give, to the last digit."""
    known = fitted.drop(index=[3, 5]).astype({"age": float})
    models = {
        "gram": dp.RegressionResult.load("gram.json").predict,
        "parabola": dp.RegressionResult.load("parabola.json").predict,
        "door": LinearRegression.load("door.json").predict,
        "flags": lambda rows: LogisticRegression.load("flags.json").predict_proba(rows)[:, 1],
        "kinds": LogisticRegression.load("kinds.json").predict,
    }
    for name, predict in models.items():
        assert command("predict", f"{name}.json", "people.csv", "-o", f"{name}.csv")[0] == 0
        found = pd.read_csv(f"{name}.csv")["prediction"].drop(index=[3, 5])
        if name == "kinds":
            assert found.tolist() == predict(known[["age", "sex"]]).tolist()
        else:
            np.testing.assert_allclose(found, predict(known), rtol=1e-12)


@pytest.mark.parametrize("file", ["people.csv", "people.parquet", "people.xlsx", "parts"])
def test_kept_columns_stand_beside_the_predictions(fitted, folder, command, file):
    """--keep copies columns, declared or not, needed or not, cell by cell and row by row."""
    code, _, err = command("predict", "gram.json", file, "--keep", "id,age", "--keep", "region", "-o", "p.csv")
    assert (code, err) == (0, "")
    found = pd.read_csv("p.csv")
    fitted = fitted.head(50) if file == "people.xlsx" else fitted
    assert list(found.columns) == ["id", "age", "region", "prediction"]
    for name in ("id", "region"):
        assert found[name].tolist() == fitted[name].tolist()
    assert found["age"].isna().sum() == 2
    plain = dp.RegressionResult.load("gram.json").predict(fitted.astype({"age": float}))
    np.testing.assert_allclose(found["prediction"], plain, rtol=1e-12)


def test_kept_columns_stay_in_step_over_many_batches(fitted, folder, command):
    """Rows of several batches and row groups of odd sizes keep their own cells."""
    n = 200_003
    ages = 18 + np.arange(n) % 73
    table = pa.table({"row": np.arange(n), "age": ages, "sex": np.zeros(n, dtype=int)})
    pq.write_table(table, "long.parquet", row_group_size=70_001)
    code, _, err = command("predict", "gram.json", "long.parquet", "--keep", "row", "-o", "p.csv")
    assert (code, err) == (0, "")
    found = pd.read_csv("p.csv")
    assert found["row"].tolist() == list(range(n))
    model = dp.RegressionResult.load("gram.json")
    np.testing.assert_allclose(found["prediction"], model.intercept_ + model.coef_[0] * ages, rtol=1e-9)


@pytest.mark.parametrize(
    ("keep", "code", "message"),
    [
        (["--keep", "Id"], 1, "--keep: Column 'Id' is not in people.parquet. Did you mean 'id'?"),
        (["--keep", "prediction"], 2, "--keep of 'prediction'"),
        (["--keep", "list"], 1, "--keep of 'list'"),
        (["--zero-based"], 2, "--zero-based belongs"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_name(fitted, folder, command, keep, code, message):
    """A column that is absent, or no text, or called as the predictions are; no file is left."""
    table = pq.read_table("people.parquet")
    pq.write_table(table.append_column("list", pa.array([[1]] * len(table))), "people.parquet")
    found, out, err = command("predict", "gram.json", "people.parquet", *keep, "-o", "p.csv")
    assert (found, out) == (code, "")
    assert message in err
    assert not list(folder.glob("*p.csv*"))


def test_a_missing_cell_under_error_leaves_no_half_file(fitted, folder, command):
    """The owner's error comes from the last batch, and what was written before is gone."""
    frame = pd.DataFrame({"age": [30.0] * 100_000, "sex": [1.0] * 99_999 + [np.nan]})
    frame.to_parquet("late.parquet")
    code, out, err = command("predict", "gram.json", "late.parquet", "-o", "p.csv")
    assert (code, out) == (1, "")
    assert "`sex`" in err
    assert not list(folder.glob("*p.csv*"))


def test_models_without_column_names_say_so(fitted, folder, command):
    """A model of arrays cannot read a table; an absent model is named."""
    X = np.linspace(0, 1, 400)[:, None]
    model = dp.LinearRegression(
        budget=dp.Gdp(mu=9), adjacency=dp.Replace(), x_bounds=dp.Box(lower=0, upper=1), y_bounds=dp.Interval(0, 1)
    )
    model.fit(X, X[:, 0]).save("arrays.json")
    code, _, err = command("predict", "arrays.json", "people.csv", "-o", "p.csv")
    assert code == 1
    assert "fitted on arrays" in err
    code, _, err = command("predict", "absent.json", "people.csv", "-o", "p.csv")
    assert code == 1
    assert "There is no model 'absent.json'" in err


def test_an_empty_table_has_a_head_alone(fitted, folder, command):
    """No rows, no predictions."""
    (folder / "none.csv").write_text("age,sex\n")
    code, _, err = command("predict", "gram.json", "none.csv", "--keep", "sex", "-o", "p.csv")
    assert (code, err) == (0, "")
    assert (folder / "p.csv").read_text() == "sex,prediction\n"


def test_a_file_that_changes_meanwhile_is_an_error(fitted, folder):
    """Kept columns are read in a pass of their own; where that ends early, it is said."""
    kept = KeptColumns(Path("people.csv"), ["id"], dp.Schema(SCHEMA))
    assert kept.take(2000)[0].to_pylist() == fitted["id"].tolist()
    with pytest.raises(InvalidData, match="changed while it was read"):
        kept.take(1)


def test_a_terminal_sees_how_far_it_is(fitted, folder, command, monkeypatch):
    """On a terminal a bar shows the share that is read, on stderr."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    told = []
    monkeypatch.setattr(Progress, "update", lambda _bar, _task, **what: told.append(what["completed"]))
    code, *_ = command("predict", "gram.json", "people.parquet", "-o", "p.csv")
    assert code == 0
    assert told == [2000]
