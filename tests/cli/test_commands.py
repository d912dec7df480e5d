"""What each subcommand does when all is well."""

import json
import subprocess
import sys

import pandas as pd
import pytest

import discreet as dp

FIT = ["fit", "people.csv", "income ~ age + sex", "--schema", "people.toml"]


def test_one_command_leads_from_a_file_to_a_regression(folder, discreet):
    """`discreet fit` prints the table, writes the model and charges the ledger once."""
    code, out, err = discreet(*FIT, "--epsilon", 1, "--ledger", "l.ledger", "--total-epsilon", 2, "-o", "model.json")
    assert (code, err) == (0, "")
    assert "income ~ age + sex" in out
    assert "Pure(epsilon=1)" in out
    model = dp.RegressionResult.load("model.json")
    assert model.feature_names == ("age", "sex")
    ledger = dp.Ledger.open("l.ledger")
    assert ledger.spent == dp.Pure(epsilon=1)
    assert ledger.total == dp.Pure(epsilon=2)


def test_a_release_answers_many_fits_for_free(folder, discreet):
    """`discreet release` is charged once; fits from its file charge nothing and need no rows."""
    code, out, _ = discreet(
        "release", "people.csv", "--schema", "people.toml", "--epsilon", "1", "-o", "m.json",
        "--ledger", "l.ledger", "--total-epsilon", "1",
    )  # fmt: skip
    assert code == 0
    assert "free" in out
    (folder / "people.csv").unlink()
    for formula in ("income ~ age", "age ~ income + region", "income ~ sex - 1"):
        code, out, _ = discreet("fit", "m.json", formula)
        assert code == 0
        assert formula in out
    assert len(dp.Ledger.open("l.ledger").entries) == 1
    code, _, err = discreet("fit", "m.json", "income ~ age", "--epsilon", 1)
    assert code == 2
    assert "free" in err


def test_csv_and_parquet_give_the_same_answer(folder, discreet):
    """With next to no noise the two readers print the same table."""
    texts = []
    for name in ("people.csv", "people.parquet"):
        code, out, _ = discreet(
            "fit", name, "income ~ age + region", "--schema", "people.toml", "--mu", "1e20", "--json"
        )
        assert code == 0
        texts.append(json.loads(out)["coef"])
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("arguments", "budget"),
    [
        (["--epsilon", "1/2"], dp.Pure(epsilon="1/2")),
        (["--epsilon=1", "--delta", "1e-6"], dp.Approx(epsilon=1, delta="1e-6")),
        (["--rho", "0.1"], dp.Zcdp(rho="0.1")),
        (["--mu", "0.5"], dp.Gdp(mu="0.5")),
    ],
)
def test_every_currency_is_an_option(folder, discreet, arguments, budget):
    """Budgets are read exactly as written."""
    code, _, err = discreet(*FIT, *arguments, "-o", "model.json")
    assert (code, err) == (0, "")
    assert dp.RegressionResult.load("model.json").cost == budget


def test_cli_01_bounds_and_levels_can_stand_on_the_command_line(folder, discreet):
    """CLI-01: a schema is not needed, negative bounds are read, with a space and with an equals sign."""
    code, _, err = discreet(
        "fit", "people.csv", "income ~ age + region", "--bounds", "income=-5,100", "--bounds=age=18,90",
        "--levels", "region=north,south", "--adjacency", "replace", "--epsilon", "1", "-o", "model.json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert dp.RegressionResult.load("model.json").schema.columns["income"].lower == -5


def test_predictions_stand_row_by_row(folder, discreet):
    """`discreet predict` writes one prediction a row."""
    discreet(*FIT, "--mu", "1e9", "-o", "model.json")
    code, _, err = discreet("predict", "model.json", "people.parquet", "-o", "p.csv")
    assert (code, err) == (0, "")
    predictions = pd.read_csv("p.csv")
    assert list(predictions.columns) == ["prediction"]
    truth = pd.read_csv("people.csv")
    assert (predictions["prediction"] - (20 + 0.5 * truth["age"] + 10 * truth["sex"])).abs().max() < 1


def test_the_ledger_shows_its_entries(folder, discreet):
    """`discreet ledger` prints total, entries, spent and left, and the same as JSON."""
    discreet(*FIT, "--epsilon", "0.5", "--ledger", "l.ledger", "--total-epsilon", "2")
    code, out, _ = discreet("ledger", "l.ledger")
    assert code == 0
    for text in ("Total Pure(epsilon=2)", "Spent Pure(epsilon=1/2)", "Left  Pure(epsilon=3/2)", "Replace()", "Gram"):
        assert text in out
    code, out, _ = discreet("ledger", "l.ledger", "--json")
    assert code == 0
    assert len(json.loads(out)["entries"]) == 1


def test_the_example_fits_with_its_own_schema(folder, discreet):
    """`discreet example adult` writes a table and a schema that fit together."""
    code, _, _ = discreet("example", "adult", "-o", "demo")
    assert code == 0
    code, out, err = discreet(
        "fit", "demo/adult.csv", "hours_per_week ~ age + education_num + sex", "--schema", "demo/adult.toml",
        "--epsilon", "1",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "Noise-dominated" not in out
    assert "CC BY" in (folder / "demo" / "ATTRIBUTION.md").read_text()


def test_a_draft_names_columns_and_types_and_must_be_filled_in(folder, discreet):
    """`discreet init` writes a schema without a single value of the rows; it cannot be used before it is filled in."""
    for source in ("people.csv", "people.parquet"):
        code, _, _ = discreet("init", source, "-o", "draft.toml", "--force")
        assert code == 0
        text = (folder / "draft.toml").read_text()
        assert "[columns.age]" in text
        assert "north" not in text
        code, _, err = discreet("fit", source, "income ~ age", "--schema", "draft.toml", "--epsilon", "1")
        assert code == 1
        assert err.count("\n") == 1


def test_the_module_and_the_command_are_one():
    """`python -m discreet --version` prints the version of the package."""
    done = subprocess.run([sys.executable, "-m", "discreet", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"discreet {dp.__version__}"


def test_help_lists_every_subcommand(discreet):
    """--help names the six subcommands and the exit codes."""
    code, out, _ = discreet("--help")
    assert code == 0
    for word in ("init", "fit", "release", "predict", "ledger", "example", "3 budget refused"):
        assert word in " ".join(out.split())
