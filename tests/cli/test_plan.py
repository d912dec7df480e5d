"""`discreet plan`: a forecast that reads nothing and spends nothing."""

import json

import pytest

PLAN = ["plan", "income ~ age + sex", "--schema", "people.toml", "--rows", 50_000]


def test_a_plan_needs_no_data_and_spends_nothing(folder, discreet):
    """The rows may be gone; no ledger is asked for; the table names every part and the best law."""
    for name in ("people.csv", "people.parquet"):
        (folder / name).unlink()
    code, out, err = discreet(*PLAN, "--epsilon", 1)
    assert (code, err) == (0, "")
    for words in (
        "nothing is spent",
        "age",
        "sex",
        "noise part",
        "sampling part",
        "wishart",
        "l_inf",
        "Pure(epsilon=1)",
    ):
        assert words in out
    assert sorted(path.name for path in folder.iterdir()) == ["people.toml"]


def test_a_plan_in_json_is_strict(folder, discreet):
    """`--json` prints one JSON object with a standard error a coefficient and a law."""
    code, out, _ = discreet(*PLAN, "--epsilon", 1, "--delta", "1e-6", "--r-squared", 0.5, "--json")
    assert code == 0
    content = json.loads(out, parse_constant=pytest.fail)
    assert content["r_squared"] == 0.5
    assert content["best"] == "gaussian"
    (law,) = content["mechanisms"]
    assert set(law["coefficients"]) == {"Intercept", "age", "sex"}
    assert all(set(parts) == {"std_err", "noise", "sampling"} for parts in law["coefficients"].values())


def test_public_assumptions_change_a_plan(folder, discreet):
    """A mean and deviation, a share, shares of levels: each is read, and said in the answer."""
    formula = "income ~ age + sex + region"
    command = ["plan", formula, "--schema", "people.toml", "--rows", 50_000, "--mu", 1]
    code, plain, _ = discreet(*command)
    assert code == 0
    code, assumed, _ = discreet(
        *command, "--assume", "age=40,10", "--assume=sex=0.1", "--assume", "region=0.9,0.1", "--assume", "income=30,9"
    )
    assert code == 0
    assert "as assumed of age, income, region, sex" in assumed
    assert assumed != plain


def test_a_release_serves_as_the_source_of_a_plan(folder, discreet):
    """`--moments` takes second moments from a release, free, without a schema."""
    code, *_ = discreet("release", "people.csv", "--schema", "people.toml", "--mu", 1000, "-o", "m.json")
    assert code == 0
    code, out, err = discreet("plan", "income ~ age", "--moments", "m.json", "--rows", 50_000, "--epsilon", 1)
    assert (code, err) == (0, "")
    assert "a release of income, age, sex" in out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--epsilon", "1", "--assume", "age"], 2, "--assume"),
        (["--epsilon", "1", "--assume", "age=x,2"], 2, "age=40,12"),
        (["--epsilon", "1", "--assume", "height=1,2"], 1, "height"),
        (["--epsilon", "1", "--r-squared", "1.5"], 1, "r_squared"),
        (["--epsilon", "1", "--moments", "absent.json"], 1, "absent.json"),
        ([], 2, "budget"),
    ],
)
def test_a_plan_that_cannot_be_made_is_one_line(folder, discreet, arguments, code, words):
    """What is wrong is named in one line on stderr, and nothing stands on stdout."""
    found, out, err = discreet(*PLAN, *arguments)
    assert (found, out) == (code, "")
    assert words in err
    assert err.count("\n") == 1


def test_a_plan_without_rows_or_columns_is_refused(folder, discreet):
    """The number of rows is needed and positive; so are declarations."""
    assert discreet("plan", "income ~ age", "--schema", "people.toml", "--epsilon", 1)[0] == 2
    assert discreet(*PLAN[:-1], 0, "--epsilon", 1)[0] == 2
    code, _, err = discreet("plan", "income ~ age", "--rows", 10, "--epsilon", 1)
    assert code == 2
    assert "--schema" in err
