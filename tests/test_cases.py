"""Cases from real users' trouble that belong to no single module; the id of each is in its test's name."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import discreet as dp
from discreet.cli.main import main

PURE = dp.Pure(epsilon=1)
SPARSE = {"row_norm": 1, "adjacency": dp.Replace(), "budget": dp.Approx(epsilon=1, delta="1e-6")}


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: dp.FunctionalLinearRegression(budget=PURE, adjacency=dp.Replace()), "x_bounds|y_bounds"),
        (lambda: dp.FunctionalLogisticRegression(budget=PURE, adjacency=dp.Replace(), classes=[0, 1]), "x_bounds"),
        (
            lambda: dp.SparseLinearRegression(
                budget=PURE, sparsity=1, adjacency=dp.Replace(), y_bounds=dp.Interval(0, 1)
            ),
            "row_norm",
        ),
    ],
)
def test_bnd_03_a_fit_without_bounds_is_an_error_that_names_them(make, parameter):
    """BND-03: bounds are never taken from the rows."""
    with pytest.raises((dp.InvalidArgument, TypeError), match=parameter):
        make().fit(np.zeros((10, 2)), np.arange(10) % 2)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_bnd_04_a_table_of_zeros_is_fitted_as_any_other(kind):
    """BND-04: finite coefficients that are noise alone; nothing depends on the data being zero."""
    zeros, labels = kind(np.zeros((30, 4))), np.arange(30) % 2
    for model in (
        dp.SparseLinearRegression(sparsity=2, y_bounds=dp.Interval(0, 1), **SPARSE),
        dp.SparseLogisticRegression(sparsity=2, classes=[0, 1], **SPARSE),
    ):
        assert np.isfinite(model.fit(zeros, labels).coef_).all()


@pytest.mark.parametrize(
    "model",
    [
        dp.FunctionalLinearRegression(
            budget=PURE, x_bounds=dp.Box(lower=0, upper=1), y_bounds=dp.Interval(0, 1), adjacency=dp.Replace()
        ),
        dp.SparseLinearRegression(sparsity=1, y_bounds=dp.Interval(0, 1), **SPARSE),
    ],
    ids=["functional", "sparse"],
)
@pytest.mark.parametrize("weights", [[0.0, 1.0], [-1.0, 1.0], [np.nan, 1.0], [1.0, 1e6]])
def test_api_07_weights_without_a_declared_maximum_are_refused_by_name(model, weights):
    """API-07: never ignored."""
    with pytest.raises(TypeError, match="sample_weight"):
        model.fit(np.zeros((2, 1)), np.zeros(2), sample_weight=np.array(weights))


def test_num_10_the_manual_says_that_survival_models_are_not_offered():
    """NUM-10: what is not there is said."""
    page = Path(__file__).parent.parent / "docs" / "promised.md"
    assert "survival" in page.read_text(encoding="utf-8").lower()


def test_sem_02_replacing_a_record_costs_what_adding_and_removing_one_does_twice():
    """SEM-02: at the same noise mu doubles and rho quadruples; two adjacencies do not compose."""
    layout = {"budget": dp.Gdp(mu=100), "statistic": "sum", "shape": ()}
    from discreet.privacy.events.noise import GaussianEvent

    bound = Fraction(7)
    one = GaussianEvent(adjacency=dp.AddRemove(), sensitivity_squared=bound**2, variance=Fraction(25), **layout)
    two = GaussianEvent(adjacency=dp.Replace(), sensitivity_squared=(2 * bound) ** 2, variance=Fraction(25), **layout)
    assert two.price.mu == 2 * one.price.mu
    assert two.price.mu_squared / 2 == 4 * (one.price.mu_squared / 2)
    ledger = dp.Ledger(total=dp.Gdp(mu=1000), adjacency=dp.Replace())
    ledger.charge(two)
    with pytest.raises(dp.errors.AdjacencyMismatch):
        ledger.charge(one)


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), True, "one"])
def test_sem_05_a_careless_epsilon_is_an_error_that_names_it(epsilon):
    """SEM-05: 0 is a value of a ledger and no budget of a release; the rest is no number."""
    with pytest.raises(dp.InvalidArgument, match="epsilon|budget"):
        dp.FunctionalLinearRegression(
            budget=dp.Pure(epsilon=epsilon),
            x_bounds=dp.Box(lower=0, upper=1),
            y_bounds=dp.Interval(0, 1),
            adjacency=dp.Replace(),
        ).fit(np.zeros((3, 1)), np.zeros(3))


@pytest.mark.parametrize(("text", "value"), [("1", 1), ("0.1", Fraction(1, 10)), ("1/2", Fraction(1, 2))])
def test_sem_05_texts_are_exact_numbers(text, value):
    """SEM-05: the strings '1', '0.1' and '1/2' are exact rationals."""
    assert dp.Pure(epsilon=text).epsilon == value


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["fit", "absent.csv", "y ~ x", "--bounds", "y=0,1", "--bounds", "x=0,1"], 1),
        (["fit", "t.csv", "y ~ z", "--bounds", "y=0,1", "--bounds", "x=0,1"], 1),
        (["fit", "t.csv", "y ~ x", "--bounds", "y=0,1", "--bounds", "x=0,1", "--total-epsilon", "0.5"], 3),
    ],
    ids=["missing file", "bad column", "budget exceeded"],
)
def test_cli_02_a_scheduler_gets_a_code_one_line_and_no_partial_file(tmp_path, monkeypatch, capfd, arguments, code):
    """CLI-02: a documented exit code, one line on stderr, nothing on stdout, no file of the output's name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("y,x\n0,1\n1,0\n")
    common = ["--adjacency", "replace", "--epsilon", "1", "--ledger", "l.ledger", "-o", "m.json"]
    total = [] if "--total-epsilon" in arguments else ["--total-epsilon", "2"]
    assert main([*arguments, *common, *total]) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert {path.name for path in tmp_path.iterdir()} == {"t.csv"}
