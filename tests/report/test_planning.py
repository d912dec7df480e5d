"""The planning page: forecasts against budget and rows, from public facts alone."""

import json

import pytest

import discreet as dp
from discreet.cli.plan import scaled
from report.test_page import Page

SCHEMA = (
    'format = 1\nadjacency = "replace"\n[columns.y]\nkind = "number"\nlower = 0\nupper = 1\n'
    '[columns.x]\nkind = "number"\nlower = 0\nupper = 1\n'
)


@pytest.mark.parametrize(
    "options", [["--epsilon", "1"], ["--epsilon", "1", "--delta", "1e-6"], ["--rho", "0.1"], ["--mu", "1"]]
)
def test_a_plan_writes_a_page(tmp_path, options, capsys):
    """Two tables of seven rows; the row at the asked budget is that of the printed forecast; nothing is read."""
    from discreet.cli.main import main

    (tmp_path / "s.toml").write_text(SCHEMA)
    page = tmp_path / "plan.html"
    asked = ["plan", "y ~ x", "--rows", "5000", "--schema", str(tmp_path / "s.toml"), *options]
    assert main([*asked, "--report", str(page)]) == 0
    capsys.readouterr()
    assert main([*asked, "--json"]) == 0
    best = json.loads(capsys.readouterr().out)
    (errors,) = [found for found in best["mechanisms"] if found["mechanism"] == best["best"]]
    content = Page(page.read_text())
    assert len(content.of("tr")) == 2 * 8
    assert len(content.of("svg")) == 2
    assert content.text.count(f"{errors['coefficients']['x']['std_err']:.3g}") >= 2
    assert "nothing was read and nothing was spent" in content.text


@pytest.mark.parametrize(
    ("budget", "larger"),
    [
        (dp.Pure(epsilon=1), dp.Pure(epsilon=2)),
        (dp.Approx(epsilon=1, delta="1e-6"), dp.Approx(epsilon=2, delta="1e-6")),
        (dp.Zcdp(rho=1), dp.Zcdp(rho=4)),
        (dp.Gdp(mu=1), dp.Gdp(mu=2)),
    ],
)
def test_a_budget_is_scaled_in_its_own_currency(budget, larger):
    """Twice the budget halves the noise."""
    assert scaled(budget, 2)[0] == larger
