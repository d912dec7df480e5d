"""`discreet fit --loss logistic`, from rows and from a release."""

import json

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.functional.parabola import minimax

FIT = ["fit", "people.csv", "--schema", "people.toml", "--loss", "logistic", "--method", "moments"]


def test_a_flag_is_fitted_and_predicted(folder, discreet):
    """The coefficients are twice those of least squares on -1 and 1; predictions are probabilities."""
    code, out, err = discreet(*FIT, "sex ~ age + income", "--mu", "1e9", "-o", "model.json")
    assert (code, err) == (0, "")
    assert "biased" in out
    model = dp.RegressionResult.load("model.json")
    assert model.loss == "logistic"
    frame = pd.read_csv("people.csv")
    X = np.column_stack([np.ones(len(frame)), frame["age"], frame["income"]])
    plain = 2 * np.linalg.lstsq(X, 2 * frame["sex"] - 1, rcond=None)[0]
    np.testing.assert_allclose([model.intercept_, *model.coef_], plain, atol=1e-2)
    assert discreet("predict", "model.json", "people.csv", "-o", "p.csv")[0] == 0
    chances = pd.read_csv("p.csv")["prediction"]
    np.testing.assert_allclose(chances, 1 / (1 + np.exp(-X @ plain)), atol=1e-2)


def test_a_category_of_two_levels_is_fitted_by_its_second(folder, discreet):
    """A label is named by the second level, from rows and from a release alike."""
    arguments = ["region ~ income", "--mu", "1e9", "--json"]
    code, fresh, err = discreet(*FIT, *arguments)
    assert (code, err) == (0, "")
    assert discreet("release", "people.csv", "--schema", "people.toml", "--mu", "1e9", "-o", "m.json")[0] == 0
    code, free, _ = discreet("fit", "m.json", "region ~ income", "--loss", "logistic", "--json")
    assert code == 0
    one, other = json.loads(fresh), json.loads(free)
    np.testing.assert_allclose(one["coef"], other["coef"], atol=1e-4)
    frame = pd.read_csv("people.csv")
    slope = np.polyfit(frame["income"], 4.0 * (frame["region"] == "south") - 2, 1)[0]
    assert one["coef"][0][0] == pytest.approx(slope, abs=1e-4)


def test_a_radius_takes_the_best_parabola(folder, discreet):
    """The coefficients differ by the ratio of the parabolas; standard errors likewise."""
    discreet("release", "people.csv", "--schema", "people.toml", "--epsilon", "50", "-o", "m.json")
    taylor, best = (
        json.loads(discreet("fit", "m.json", "sex ~ age + income", "--loss", "logistic", "--json", *radius)[1])
        for radius in ([], ["--radius", "4"])
    )
    factor = 0.125 / minimax(4).curvature
    np.testing.assert_allclose(best["coef"], np.array(taylor["coef"]) * factor, rtol=1e-12)
    assert best["uncertainty"] is not None


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["sex ~ age", "--loss", "hinge"], 2, "--loss must be squared or logistic"),
        (["income ~ age", "--loss", "squared", "--radius", "4"], 2, "--radius belongs"),
        (["sex ~ age", "--radius", "0"], 1, "`radius`"),
        (["income ~ age"], 1, "Only binary classification"),
        (["sex ~ age - 1"], 1, "has an intercept"),
        (["region ~ age", "--loss", "squared"], 1, "logistic loss"),
    ],
)
def test_wrong_uses_are_one_line_and_spend_nothing(folder, discreet, arguments, code, message):
    """Each says what to do; no ledger is made."""
    found, _, err = discreet(*FIT, *arguments, "--epsilon", 1, "--ledger", "l.ledger", "--total-epsilon", 1)
    assert found == code
    assert message in err
    assert err.count("\n") == 1
    assert message == "`radius`" or not (folder / "l.ledger").exists()


@pytest.mark.parametrize("mechanism", ["paper", "paper_code", "l_inf"])
def test_the_papers_modes_take_the_logistic_constant(folder, discreet, mechanism):
    """The event of the model file says which loss its sensitivity belongs to."""
    code, out, err = discreet(*FIT, "sex ~ age", "--epsilon", "1000", "--mechanism", mechanism, "--json")
    assert (code, err) == (0, "")
    event = json.loads(out)["event"]
    assert event.get("loss", "logistic") == "logistic"
