"""What a regression says of itself: tables, files, frames, notebooks."""

import json
import math
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.privacy.wording import in_words

FORMULA = "income ~ age + member"


@pytest.fixture
def schema():
    """Public facts about a small table."""
    return dp.Schema(
        {"income": dp.Number(0, 100), "age": dp.Number(18, 90), "member": dp.Flag()}, adjacency=dp.Replace()
    )


@pytest.fixture
def moments(schema):
    """A release whose noise is seen, but does not dominate."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"age": rng.uniform(18, 90, 20_000), "member": rng.integers(0, 2, 20_000).astype(float)})
    frame["income"] = 30 + 0.3 * frame["age"] + 4 * frame["member"] + rng.normal(scale=6, size=20_000)
    ledger = dp.Ledger(total=dp.Pure(epsilon=2), adjacency=dp.Replace(), coins=dp.privacy.Coins.from_seed(4))
    return dp.release_moments(frame, schema, budget=dp.Pure(epsilon=2), ledger=ledger)


def test_the_numbers_of_a_result_belong_together(moments):
    """Standard errors are the covariance's diagonal; z, p and intervals follow; shares lie between 0 and 1."""
    fit = moments.regress(FORMULA)
    assert fit.why_no_intervals is None
    names = ["Intercept", "age", "member"]
    for table in (fit.params, fit.bse, fit.tvalues, fit.pvalues, fit.noise_shares, fit.conf_int()):
        assert list(table) == names
    np.testing.assert_allclose(np.sqrt(np.diag(fit.cov_params())), list(fit.bse.values()))
    np.testing.assert_array_equal(fit.cov_params(), fit.cov_params().T)
    for name in names:
        low, high = fit.conf_int()[name]
        assert (low + high) / 2 == pytest.approx(fit.params[name])
        # Within 2 % of the normal quantile: the Wishart difference has slightly heavier tails.
        assert 1.959964 <= (high - low) / 2 / fit.bse[name] <= 2.0
        assert fit.tvalues[name] == pytest.approx(fit.params[name] / fit.bse[name])
        assert fit.pvalues[name] < 1e-6
        assert 0 < fit.noise_shares[name] < 1
        wide = fit.conf_int(0.99)[name]
        assert wide[0] < low < high < wide[1]
    assert abs(fit.params["age"] - 0.3) < 5 * fit.bse["age"]


def test_normal_noise_has_normal_p_values():
    """Under the Gaussian law the p-value is that of the normal law, and 1.96 standard errors are the 95 % interval."""
    schema = dp.Schema({"y": dp.Number(0, 1), "x": dp.Number(0, 1)}, adjacency=dp.Replace())
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(size=(400, 2)), columns=["y", "x"])
    fit = dp.release_moments(frame, schema, budget=dp.Gdp(mu=100)).regress("y ~ x")
    assert fit.pvalues["x"] == pytest.approx(math.erfc(abs(fit.tvalues["x"]) / math.sqrt(2)), rel=1e-9)
    low, high = fit.conf_int()["x"]
    assert (high - low) / 2 == pytest.approx(1.959964 * fit.bse["x"], rel=1e-6)


def test_bootstrap_intervals_are_near_the_sandwich_and_never_change(moments):
    """Asked twice the bootstrap answers alike; it resembles the sandwich; another method is refused."""
    fit = moments.regress(FORMULA)
    first = fit.conf_int(method="bootstrap")
    assert first == moments.regress(FORMULA).conf_int(method="bootstrap")
    for name, (low, high) in fit.conf_int().items():
        assert first[name][1] - first[name][0] == pytest.approx(high - low, rel=0.15)
    with pytest.raises(dp.InvalidArgument, match="`method`"):
        fit.conf_int(method="jackknife")
    with pytest.raises(dp.InvalidArgument, match="`level`"):
        fit.conf_int(1.0)


def test_a_saved_result_keeps_everything_but_the_bootstrap(moments, tmp_path):
    """Standard errors, intervals and summary survive a file; the bootstrap needs the release and says so."""
    fit = moments.regress(FORMULA)
    fit.save(tmp_path / "model.json")
    loaded = dp.RegressionResult.load(tmp_path / "model.json")
    assert loaded.bse == fit.bse
    assert loaded.pvalues == fit.pvalues
    assert loaded.conf_int(0.9) == fit.conf_int(0.9)
    assert str(loaded.summary()) == str(fit.summary())
    assert loaded.dumps() == fit.dumps()
    with pytest.raises(dp.InvalidArgument, match="release"):
        loaded.conf_int(method="bootstrap")


def test_a_file_of_the_first_version_still_loads(moments, tmp_path):
    """A model that was written without standard errors loads, and says why it has none."""
    new = {"penalty", "uncertainty", "no_intervals", "entry_std", "labels", "ridge"}
    content = {name: value for name, value in json.loads(moments.regress(FORMULA).dumps()).items() if name not in new}
    path = tmp_path / "old.json"
    path.write_text(json.dumps(content))
    old = dp.RegressionResult.load(path)
    assert "version" in old.why_no_intervals
    assert math.isnan(old.bse["age"])
    assert old.params == moments.regress(FORMULA).params
    assert "-: " in str(old.summary())
    whole = json.loads(moments.regress(FORMULA).dumps())
    for damage in ({"covariance": [[1.0]]}, {"kurtosis": [0.0]}, {"noise_covariance": None}):
        path.write_text(json.dumps({**whole, "uncertainty": {**whole["uncertainty"], **damage}}))
        with pytest.raises(dp.InvalidData, match="old.json"):
            dp.RegressionResult.load(path)


def test_the_summary_says_what_an_interval_covers_and_what_the_noise_is(moments):
    """CLI-10 to CLI-12: budget in words, scale and bounds of the noise, and both kinds of error by name."""
    text = str(moments.regress(FORMULA).summary())
    for words in ("95 % interval", "sampling error", "privacy noise", "noise share", "Replace()", "clipping"):
        assert words in text
    assert "smaller epsilon is more private" in text
    assert "age [18, 90]" in text
    assert f"{moments.noise_scale():.6g}" in text
    assert f"sensitivity {2 * moments.layout.row_norm_squared / 4.0**16:.6g}" in text
    assert "90 % interval" in str(moments.regress(FORMULA).summary(0.9))
    assert repr(moments.regress(FORMULA).summary()) == text


@pytest.mark.parametrize("law", ["laplace", "l_inf", "paper", "gaussian"])
def test_cli_12_every_law_says_its_sensitivity(schema, law):
    """CLI-12: the norm and the size of what one record changes stand beside the noise."""
    frame = pd.DataFrame({"income": [1.0, 50.0], "age": [20.0, 60.0], "member": [0.0, 1.0]})
    budget = dp.Gdp(mu=1) if law == "gaussian" else dp.Pure(epsilon=1)
    fit, *_ = dp.release_moments(frame, schema, budget=budget, mechanism=law).ridge_path(FORMULA, [1.0])
    assert "sensitivity" in str(fit.summary())


@pytest.mark.parametrize(
    ("budget", "word", "flag"),
    [
        (dp.Pure(epsilon="0.01"), "smaller epsilon", "very small"),
        (dp.Pure(epsilon=1), "2.72 times", ""),
        (dp.Pure(epsilon=25), "smaller epsilon", "very large"),
        (dp.Pure(epsilon=1000), "e^1e+03 times", "very large"),
        (dp.Approx(epsilon=1, delta="1e-6"), "chance of 1e-06", ""),
        (dp.Gdp(mu=1), "smaller mu", ""),
        (dp.Zcdp(rho="1e-5"), "smaller rho", "very small"),
    ],
)
def test_cli_10_a_budget_is_said_in_words(budget, word, flag):
    """CLI-10: what the number means, which direction is more private, and a flag at both ends."""
    for adjacency, change in ((dp.Replace(), "changing one record"), (dp.AddRemove(), "adding or removing")):
        text = in_words(budget, adjacency)
        assert word in text
        assert change in text
        assert (flag in text) if flag else ("very" not in text)


class _Tags(HTMLParser):
    """Collects the elements of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.text = set(), ""

    def handle_starttag(self, tag, attrs):
        """Keep the name."""
        self.tags.add(tag)
        assert not attrs

    def handle_data(self, data):
        """Keep the text."""
        self.text += data


def test_cli_04_names_are_text_in_a_notebook():
    """CLI-04: a column or level that is markup is shown as text, with no element or attribute of its own."""
    evil, level = "<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>"
    schema = dp.Schema({"y": dp.Number(0, 1), evil: dp.Number(0, 1), "c": dp.Category(["a", level])})
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"y": rng.uniform(size=500), evil: rng.uniform(size=500), "c": ["a", level] * 250})
    budget = dp.Gdp(mu=1000)
    fit = dp.release_moments(frame, schema, budget=budget, adjacency=dp.Replace()).regress(f"y ~ `{evil}` + c")
    for page in (fit._repr_html_(), fit.summary()._repr_html_()):
        parser = _Tags()
        parser.feed(page)
        assert parser.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
        assert evil in parser.text
        assert level in parser.text


def test_a_frame_holds_the_table(moments, monkeypatch):
    """`to_frame` has a row an estimate; without pandas it says what to install."""
    fit = moments.regress(FORMULA)
    frame = fit.to_frame()
    assert list(frame.index) == list(fit.params)
    assert list(frame.columns) == ["estimate", "std_err", "noise_share", "z", "p_value", "lower", "upper"]
    np.testing.assert_array_equal(frame["std_err"], list(fit.bse.values()))
    assert (frame["lower"] < frame["estimate"]).all()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pandas"):
        fit.to_frame()


def test_a_ridge_path_is_free_and_shrinks(moments):
    """One result a penalty from one release: 0 is `regress`, each solves its own ridge problem, and none costs."""
    penalties = [0.0, 10.0, 1e3, 1e6]
    path = moments.ridge_path(FORMULA, penalties)
    assert [fit.penalty for fit in path] == penalties
    assert path[0].params == moments.regress(FORMULA).params
    assert path[0].why_no_intervals is None
    assert all("penalty" in fit.why_no_intervals for fit in path[1:])
    sizes = [abs(fit.params["age"]) for fit in path]
    assert sizes == sorted(sizes, reverse=True)
    answer = moments.least_squares(moments.design.select(FORMULA), penalty=1e3)
    expected = np.linalg.solve(answer.problem.quadratic + np.diag([0.0, 1e3, 1e3]), answer.problem.linear)
    np.testing.assert_allclose(answer.repair.solution, expected, rtol=1e-9)
    # What is left under a huge penalty is the mean.
    frame = pd.DataFrame({"age": [54.0], "member": [0.0]})
    assert path[-1].predict(frame)[0] == pytest.approx(moments.mean("income"), abs=0.5)
    with pytest.raises(dp.InvalidArgument, match="`penalty`"):
        moments.ridge_path(FORMULA, [-1.0])


def test_the_repair_can_be_chosen(moments):
    """The paper's ridge is there however little noise there is, so its estimates have no interval."""
    for repair in ("paper", "paper_code"):
        fit = moments.regress(FORMULA, repair=repair)
        assert fit.ridge > 0
        assert "ridge" in fit.why_no_intervals
    with pytest.raises(dp.InvalidArgument, match="rule"):
        moments.regress(FORMULA, repair="none")


def test_the_mean_of_a_column_is_left_where_noise_dominates(moments, schema):
    """`mean` is within the column's bounds, whatever the noise; an unknown column is refused by name."""
    assert moments.mean("age") == pytest.approx(54, abs=1)
    few = dp.release_moments(
        pd.DataFrame({"income": [1.0], "age": [20.0], "member": [0.0]}),
        dp.Schema(schema.columns, adjacency=dp.AddRemove()),
        budget=dp.Pure(epsilon="0.001"),
    )
    assert 18 <= few.mean("age") <= 90
    with pytest.raises(dp.InvalidArgument, match="`column`"):
        moments.mean("Age")


def test_a_p_value_of_an_exact_estimate_is_no_number():
    """Where the standard error is 0 the ratio is infinite, or undetermined for an estimate of 0."""
    from discreet.models.result import _ratio

    assert _ratio(2.0, 0.0) == math.inf
    assert math.isnan(_ratio(0.0, 0.0))
    assert math.isnan(_ratio(1.0, math.nan))
