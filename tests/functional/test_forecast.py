"""A forecast of standard errors from public facts, and how near it comes."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.examples import adult
from discreet.functional.assumptions import laws_of, second_moments
from discreet.functional.moments import release_design
from discreet.tables.design import Design
from discreet.tables.readers.tables import open_table

ACS = Path(os.environ.get("DISCREET_DATA", "../shared/data")) / "acs_ca2018" / "acs_income_ca2018.csv.gz"
ADULT_FORMULA = "hours_per_week ~ age + education_num + sex"
# Public round figures about US workers in the 1990s, as a labor statistician would write them down.
ADULT_ASSUMED = {"hours_per_week": (40, 12.5), "age": (38.5, 13.5), "education_num": (10, 2.5), "sex": (1, 2)}
ACS_SMALL = "PINCP_BIN ~ AGEP + SCHL + WKHP + SEX"
ACS_LARGE = "PINCP_BIN ~ AGEP + SCHL + WKHP + COW + MAR + SEX"
ACS_ASSUMED = {
    "PINCP_BIN": (9.5, 5.8), "AGEP": (42.5, 15), "SCHL": (18.5, 3.9), "WKHP": (38, 13), "SEX": (0.53, 0.47),
    "COW": (0.665, 0.08, 0.077, 0.043, 0.021, 0.083, 0.029, 0.002), "MAR": (0.517, 0.014, 0.086, 0.019, 0.364),
}  # fmt: skip
BUDGETS = [
    (dp.Pure(epsilon=1), "wishart"),
    (dp.Approx(epsilon=1, delta="1e-6"), "gaussian"),
    (dp.Gdp(mu=1), "gaussian"),
]


@pytest.fixture(scope="module")
def adult_schema():
    """Public facts about Adult."""
    return dp.Schema.from_toml(adult.schema())


@pytest.fixture(scope="module")
def acs():
    """The ACS table of California 2018 and its public facts."""
    if not ACS.exists():
        pytest.skip("the ACS table is not here: set DISCREET_DATA to the folder that holds acs_ca2018")
    schema = dp.Schema(
        {
            "AGEP": dp.Number(17, 95),
            "SCHL": dp.Number(1, 24),
            "WKHP": dp.Number(1, 99),
            "COW": dp.Category(list("12345678")),
            "MAR": dp.Category(list("12345")),
            "SEX": dp.Category(list("12")),
            "PINCP_BIN": dp.Number(0, 19),
        },
        adjacency=dp.Replace(),
    )
    return ACS, schema


def _realised(source, schema, formula, budget, mechanism):
    """Return the release that was forecast and its standard errors; the coins are a test seed."""
    # Approx totals need no conversion for a single entry.
    composition = "sum" if isinstance(budget, dp.Approx) else "auto"
    ledger = dp.Ledger(
        total=budget, adjacency=dp.Replace(), coins=dp.privacy.Coins.from_seed(11), composition=composition
    )
    design = Design.for_formula(formula, schema)
    moments = release_design(source, design, budget=budget, ledger=ledger, mechanism=mechanism)
    fit = moments.regress(formula)
    assert fit.why_no_intervals is None
    return moments, fit.bse


def _worst(forecast, realised):
    return max(abs(np.log(forecast.standard_errors[name] / error)) for name, error in realised.items())


WITHIN = np.log(1.2)


@pytest.mark.parametrize(("budget", "law"), BUDGETS, ids=repr)
def test_the_forecast_for_adult_is_within_20_percent(adult_schema, budget, law):
    """With round public figures, and with a release of like rows, every standard error is within 20 %."""
    moments, realised = _realised(adult.table(), adult_schema, ADULT_FORMULA, budget, law)
    plan = dp.forecast(ADULT_FORMULA, adult_schema, n_rows=32_561, budget=budget, assume=ADULT_ASSUMED, r_squared=0.1)
    assert _worst(plan.of(law), realised) < WITHIN
    again = dp.forecast(ADULT_FORMULA, n_rows=32_561, budget=budget, moments=moments)
    assert _worst(again.of(law), realised) < 0.02
    assert again.r_squared is None
    # Uniform columns are far from these people: without assumptions a standard error is off by up to twice.
    uniform = dp.forecast(ADULT_FORMULA, adult_schema, n_rows=32_561, budget=budget)
    assert WITHIN < _worst(uniform.of(law), realised) < np.log(2.5)


@pytest.mark.parametrize(("budget", "law"), BUDGETS, ids=repr)
def test_the_forecast_for_acs_is_within_20_percent(acs, budget, law):
    """With public figures about four columns that depend little on each other, every error is within 20 %."""
    source, schema = acs
    _, realised = _realised(source, schema, ACS_SMALL, budget, law)
    design = Design.for_formula(ACS_SMALL, schema)
    assumed = {name: ACS_ASSUMED[name] for name in design.columns_needed}
    plan = dp.forecast(ACS_SMALL, schema, n_rows=195_665, budget=budget, assume=assumed, r_squared=0.45)
    assert _worst(plan.of(law), realised) < WITHIN


def test_a_release_forecasts_sixteen_coefficients_of_acs_within_20_percent(acs):
    """Where columns depend on each other, second moments come from a release; independence is off by a half."""
    source, schema = acs
    budget = dp.Gdp(mu="0.5")
    _, realised = _realised(source, schema, ACS_LARGE, budget, "gaussian")
    pilot, _ = _realised(source, schema, ACS_LARGE, dp.Gdp(mu="0.7"), "gaussian")
    plan = dp.forecast(ACS_LARGE, n_rows=195_665, budget=budget, moments=pilot)
    assert _worst(plan.of("gaussian"), realised) < WITHIN
    assert len(realised) == 16
    independent = dp.forecast(ACS_LARGE, schema, n_rows=195_665, budget=budget, assume=ACS_ASSUMED, r_squared=0.48).of(
        "gaussian"
    )
    assert WITHIN < _worst(independent, realised) < np.log(1.7)


def test_the_forecast_is_the_spread_of_estimates_over_tables_and_releases(adult_schema):
    """Over 300 resampled tables with a release each, estimates spread as forecast; within 20 %, errors of all kinds."""
    design = Design.for_formula(ADULT_FORMULA, adult_schema)
    blocks = open_table(adult.table(), adult_schema, design.columns_needed).blocks()
    rows = np.concatenate([design.encode(block) for block in blocks], axis=1)
    n_rows = rows.shape[1]
    moments, _ = _realised(adult.table(), adult_schema, ADULT_FORMULA, dp.Pure(epsilon=1), "wishart")
    rng, estimates = np.random.default_rng(0), []
    for seed in range(300):
        counts = rng.multinomial(n_rows, np.full(n_rows, 1 / n_rows))
        resampled = _Resampled(np.rint((rows * counts) @ rows.T).astype(np.int64), n_rows)
        fresh = _released(resampled, moments, dp.privacy.Coins.from_seed(seed))
        estimates.append(list(fresh.regress(ADULT_FORMULA).params.values()))
    plan = dp.forecast(
        ADULT_FORMULA, adult_schema, n_rows=n_rows, budget=dp.Pure(epsilon=1), assume=ADULT_ASSUMED, r_squared=0.1
    )
    realised = dict(zip(plan.best.standard_errors, np.std(estimates, axis=0), strict=True))
    assert _worst(plan.of("wishart"), realised) < WITHIN


class _Resampled:
    """A Gram matrix that stands for a table."""

    def __init__(self, gram, n_rows):
        self._gram, self._n_rows = gram, n_rows

    def private_gram(self, layout):
        """Return it."""
        return self._gram

    def private_size(self):
        """Return the number of rows."""
        return self._n_rows


def _released(rows, moments, coins):
    from discreet.functional.gram import plan_gram

    event = moments.release.event
    plan = plan_gram(
        moments.layout,
        budget=event.budget,
        adjacency=event.adjacency,
        size_is_public=True,
        statistic=event.statistic,
    )
    ledger = dp.Ledger(total=event.budget, adjacency=event.adjacency, coins=coins)
    return dp.Moments(moments.layout, dp.release(plan, rows, ledger), moments.design)


SCHEMA = dp.Schema(
    {
        "y": dp.Number(0, 10),
        "x": dp.Number(-2, 4),
        "z": dp.Number(5, 6),
        "f": dp.Flag(),
        "c": dp.Category(["p", "q", "r"]),
    },
    adjacency=dp.Replace(),
)


def test_second_moments_are_those_of_independent_columns():
    """Means of products of powers, flags and levels equal those of a large sample of the assumed laws."""
    assume = {"x": (1.0, 1.2), "f": 0.2, "c": {"p": 5, "q": 3, "r": 2}}
    design = Design.for_terms("y + x * f + c:z + I(x**2)", SCHEMA)
    found = second_moments(design, laws_of(design.schema.columns, assume))
    rng = np.random.default_rng(0)
    n = 400_000
    place, spread = 0.5, (1.2 / 6) ** 2
    total = place * (1 - place) / spread - 1
    frame = pd.DataFrame(
        {
            "y": rng.uniform(0, 10, n),
            "x": -2 + 6 * rng.beta(place * total, (1 - place) * total, n),
            "z": rng.uniform(5, 6, n),
            "f": (rng.uniform(size=n) < 0.2).astype(float),
            "c": rng.choice(["p", "q", "r"], n, p=[0.5, 0.3, 0.2]),
        }
    )
    blocks = open_table(frame, design.schema, design.columns_needed).blocks()
    rows = np.concatenate([design.encode(block) for block in blocks], axis=1) / 2.0**16
    user = design.layout.user_coding() @ rows
    scales = np.sqrt(np.diag(found))
    np.testing.assert_allclose(
        (user @ user.T / n) / np.outer(scales, scales), found / np.outer(scales, scales), atol=0.01
    )


@pytest.mark.parametrize(
    ("budget", "laws"),
    [
        (dp.Pure(epsilon=1), {"wishart", "laplace", "l_inf", "paper", "paper_code"}),
        (dp.Gdp(mu=1), {"gaussian"}),
        (dp.Zcdp(rho="0.1"), {"gaussian"}),
    ],
)
def test_every_law_that_fits_the_budget_is_forecast(budget, laws):
    """The best comes first; parts add up; the paper's ridge leaves no interval."""
    plan = dp.forecast("y ~ x + f + c", SCHEMA, n_rows=50_000, budget=budget)
    assert {found.mechanism for found in plan.mechanisms} == laws
    assert plan.best.offered
    offered = [found.typical for found in plan.mechanisms if found.offered]
    assert offered == sorted(offered)
    for found in plan.mechanisms:
        assert found.offered == (found.mechanism not in {"paper", "paper_code"})
        assert list(found.standard_errors) == ["Intercept", "x", "f", "c[q]", "c[r]"]
        for name, value in found.standard_errors.items():
            assert value == pytest.approx(np.hypot(found.noise_parts[name], found.sampling_parts[name]))
    text = str(plan)
    assert repr(plan) == text
    for words in (
        "nothing is spent",
        "R2 = 0.3 assumed",
        "uniform",
        "noise part",
        "sampling part",
        plan.best.mechanism,
    ):
        assert words in text
    assert json.loads(json.dumps(plan.to_json(), allow_nan=False))["best"] == plan.best.mechanism
    with pytest.raises(dp.InvalidArgument, match="`mechanism`"):
        plan.of("cauchy")


def test_more_budget_rows_and_explained_variance_never_hurt():
    """Standard errors fall in epsilon, rows and R2, and the noise part goes with one over the rows."""

    def forecast(**changes):
        usual = {"n_rows": 20_000, "budget": dp.Pure(epsilon=1), "r_squared": 0.3}
        return dp.forecast("y ~ x + f", SCHEMA, **(usual | changes)).of("wishart")

    plain = forecast()
    for better in ({"n_rows": 40_000}, {"budget": dp.Pure(epsilon=2)}, {"r_squared": 0.6}):
        assert forecast(**better).standard_errors["x"] < plain.standard_errors["x"]
    assert forecast(n_rows=40_000).noise_parts["x"] == pytest.approx(plain.noise_parts["x"] / 2)
    assert forecast(n_rows=40_000).sampling_parts["x"] == pytest.approx(
        plain.sampling_parts["x"] / np.sqrt(2), rel=1e-3
    )


def test_a_forecast_needs_no_intercept_and_sees_a_private_size():
    """Models without intercept and AddRemove are forecast; a noisy n makes the intercept no surer."""
    without = dp.forecast("y ~ x + f - 1", SCHEMA, n_rows=20_000, budget=dp.Gdp(mu=1))
    assert list(without.best.standard_errors) == ["x", "f"]
    columns = dp.Schema(SCHEMA.columns)
    private = dp.forecast("y ~ x", columns, n_rows=20_000, budget=dp.Gdp(mu=1), adjacency=dp.AddRemove())
    assert "AddRemove()" in str(private)
    dropping = dp.Schema({**SCHEMA.columns, "x": dp.Number(-2, 4, missing="drop")}, adjacency=dp.Replace())
    facts = {"n_rows": 20_000, "budget": dp.Gdp(mu=1), "assume": {"y": (2, 1)}}
    both = [dp.forecast("y ~ x", schema, **facts) for schema in (SCHEMA, dropping)]
    public, noisy = (plan.best.standard_errors["Intercept"] for plan in both)
    assert noisy > public


def test_few_rows_are_said_to_be_noise_dominated():
    """Where the noise is expected to hide a direction, the forecast says that no interval will be valid."""
    plan = dp.forecast("y ~ x + f + c", SCHEMA, n_rows=50, budget=dp.Pure(epsilon="0.1"))
    assert not plan.best.offered
    assert "not expected" in str(plan)
    assert "ridge" in str(plan)


@pytest.mark.parametrize(
    ("assume", "word"),
    [
        ({"w": (1, 2)}, "'w'"),
        ({"x": (9, 1)}, "mean"),
        ({"x": (1, 100)}, "standard deviation"),
        ({"x": (1, 0)}, "standard deviation"),
        ({"x": 3.0}, "list"),
        ({"x": "12"}, "list"),
        ({"x": (1, 2, 3)}, "mean and a standard deviation"),
        ({"x": (float("nan"), 1)}, "assume of x"),
        ({"f": 0}, "share"),
        ({"f": "half"}, "assume of f"),
        ({"c": (1, 2)}, "3 shares"),
        ({"c": (1, -2, 3)}, "shares"),
        ({"c": {"p": 1, "q": 2}}, "p, q, r"),
        ({"c": (1, 1, 0)}, "does not vary"),
        ([("x", (1, 2))], "mapping"),
    ],
)
def test_an_assumption_that_does_not_fit_is_refused_by_name(assume, word):
    """The message names the column and says what is wrong."""
    with pytest.raises(dp.InvalidArgument, match=word):
        dp.forecast("y ~ x + f + c", SCHEMA, n_rows=1000, budget=dp.Gdp(mu=1), assume=assume)


def test_what_cannot_be_forecast_is_refused():
    """No schema, a release with too much noise, two sources at once, no count: an error that says what to do."""
    budget = dp.Gdp(mu=1)
    with pytest.raises(dp.InvalidArgument, match="`schema`"):
        dp.forecast("y ~ x", n_rows=10, budget=budget)
    with pytest.raises(dp.InvalidArgument, match="too small"):
        dp.forecast("y ~ x", SCHEMA, n_rows=10, budget=dp.Gdp(mu="1e-30"))
    rows = pd.DataFrame({"y": np.linspace(0, 10, 40), "x": np.linspace(-2, 4, 40), "f": [0.0, 1.0] * 20})
    schema = dp.Schema({name: SCHEMA.columns[name] for name in ("y", "x", "f")}, adjacency=dp.Replace())
    noisy = dp.release_moments(rows, schema, budget=dp.Gdp(mu="0.001"))
    with pytest.raises(dp.InvalidArgument, match="noise-dominated"):
        dp.forecast("y ~ x", n_rows=10, budget=budget, moments=noisy)
    good = dp.release_moments(rows, schema, budget=dp.Gdp(mu=10**6))
    with pytest.raises(dp.InvalidArgument, match="`assume`"):
        dp.forecast("y ~ x", n_rows=10, budget=budget, moments=good, r_squared=0.5)
    bare = dp.Schema(schema.columns)
    countless = dp.release_moments(rows, bare, terms="y + x - 1", budget=dp.Gdp(mu=10**6), adjacency=dp.AddRemove())
    with pytest.raises(dp.InvalidArgument, match="number of rows"):
        dp.forecast("y ~ x - 1", n_rows=10, budget=budget, moments=countless, adjacency=dp.AddRemove())
    arrays = dp.Moments(good.layout, good.release)
    with pytest.raises(dp.InvalidArgument, match="arrays"):
        dp.forecast("y ~ x", schema, n_rows=10, budget=budget, moments=arrays)
    with pytest.raises(dp.InvalidArgument, match="`schema`"):
        dp.forecast("y ~ x", n_rows=10, budget=budget, moments=arrays)
