"""Every estimator, function and command takes any budget, or refuses it in our words, and names the parameter."""

import inspect
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.errors import DiscreetError
from discreet.estimators.methods.forecasts import compare_methods
from discreet.privacy import accounting
from public_names import PUBLIC

N = 60
RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(N, 2))
Y = np.clip(X[:, 0], -1, 1)
LABELS = (Y > 0).astype(int)
COUNTS = (3 * (Y + 1)).round()
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y})
SCHEMA = dp.Schema({name: dp.Number(-1, 1) for name in ("a", "b", "y")}, adjacency=dp.Replace())
UNIT = dp.Interval(-1, 1)
ADJACENCY = {"adjacency": dp.Replace()}
BOX = {"x_bounds": dp.Box(lower=-1, upper=1), **ADJACENCY}
ROWS = {"row_norm": 2, **ADJACENCY}
CLASSES = {"classes": (0, 1)}


def number(make, **declared):
    """Return a fit of a number."""
    return lambda budget: make(budget=budget, **declared).fit(X, Y)


def label(make, **declared):
    """Return a fit of two classes."""
    return lambda budget: make(budget=budget, **CLASSES, **declared).fit(X, LABELS)


METHODS = {
    dp.LinearRegression: ("auto", "moments", "descent", "threshold", "peel", "sample"),
    dp.LogisticRegression: ("auto", "moments", "descent", "threshold", "perturbation", "sample"),
    dp.PoissonRegression: ("auto", "descent", "threshold"),
}


def front(make, target, **declared):
    """Return fits by every method of the front door."""
    return {
        f"{make.__name__} {method}": (
            lambda budget, method=method: make(
                budget=budget,
                method=method,
                **(declared | ({"sparsity": 1} if method in {"threshold", "peel"} else {})),
            ).fit(X, target)
        )
        for method in METHODS[make]
    }


def lipschitz(budget, **options):
    """Draw a point by rejection."""
    target = dp.sampling.Lipschitz(
        utility=lambda points, rows: -np.abs(points - rows.T).mean(axis=1),
        slopes=1, bounds=dp.Interval(0, 1), change=1, example=np.zeros((5, 1)),
    )  # fmt: skip
    return dp.sampling.sample(target, np.abs(X[:, :1]), budget=budget, **ADJACENCY, **options)


def posterior(budget):
    """Draw from a posterior."""
    return dp.sampling.posterior_draw(
        lambda points, rows: -((points - rows.T) ** 2), np.abs(X[:4, :1]), prior=dp.sampling.Uniform(dp.Interval(0, 1)),
        lower=-1, upper=0, example=np.zeros((3, 1)), budget=budget, **ADJACENCY,
    )  # fmt: skip


def search(budget):
    """Search among two settings."""
    model = dp.SparseLogisticRegression(budget=dp.Zcdp(rho=1), sparsity=1, **CLASSES, **ROWS)
    return dp.PrivateSearch(model, {"n_steps": [1, 2]}, budget=budget, mean_runs=2).fit(X, LABELS)


def curve(budget):
    """Ask everything of a budget's curve."""
    found = budget.tradeoff()
    return found.beta("0.1"), found.delta("1"), found.epsilon("1e-6"), found.beta(0.1), found.delta(1.0)


def priced(budget):
    """Convert a budget into every currency that has a theorem, and tell about it."""
    assert repr(budget)
    for currency in (dp.Pure, dp.Approx, dp.Zcdp, dp.Gdp):
        try:
            accounting.convert(budget, currency, delta="1e-6")
        except dp.errors.NoSoundConversion:
            continue


def ledger(budget):
    """Open a ledger and ask what it says."""
    book = dp.Ledger(total=budget, **ADJACENCY)
    assert book.left is not None
    return book.to_json(), repr(book), book.left_approx


CALLS = {
    "FunctionalLinearRegression": number(dp.FunctionalLinearRegression, y_bounds=UNIT, **BOX),
    "FunctionalLogisticRegression": label(dp.FunctionalLogisticRegression, **BOX),
    "SparseLinearRegression": number(dp.SparseLinearRegression, sparsity=1, y_bounds=UNIT, **ROWS),
    "SparseLinearRegression peel": number(
        dp.SparseLinearRegression, sparsity=1, selection="peel", y_bounds=UNIT, **ROWS
    ),
    "SparseLogisticRegression": label(dp.SparseLogisticRegression, sparsity=1, **ROWS),
    "FrankWolfeLinearRegression": number(dp.FrankWolfeLinearRegression, radius=2, n_steps=3, y_bounds=UNIT, **ROWS),
    "FrankWolfeLogisticRegression": label(dp.FrankWolfeLogisticRegression, radius=2, n_steps=3, **ROWS),
    "TwoStageLinearRegression": number(dp.TwoStageLinearRegression, sparsity=1, y_bounds=UNIT, **ROWS),
    "TwoStageLogisticRegression": label(dp.TwoStageLogisticRegression, sparsity=1, **ROWS),
    "PerturbedLogisticRegression": label(dp.PerturbedLogisticRegression, **ROWS),
    "PerturbedLogisticRegression output": label(dp.PerturbedLogisticRegression, method="output", **ROWS),
    "KNormGradientLinearRegression": number(dp.KNormGradientLinearRegression, ridge=N, y_bounds=UNIT, **ROWS),
    "KNormGradientLogisticRegression": label(dp.KNormGradientLogisticRegression, ridge=N, **ROWS),
    "KNormGradientQuantileRegression": number(
        dp.KNormGradientQuantileRegression, quantile="1/2", coef_bound=1, y_bounds=UNIT, **BOX
    ),
    "PrivatePCA": lambda budget: dp.PrivatePCA(budget=budget, **ROWS).fit(X),
    "PrivatePCA plain": lambda budget: dp.PrivatePCA(budget=budget, runtime=dp.sampling.Plain(), **ROWS).fit(X),
    "PrivateSearch": search,
    **front(dp.LinearRegression, Y, y_bounds=UNIT, **BOX),
    **front(dp.LogisticRegression, LABELS, **CLASSES, **BOX),
    **front(dp.PoissonRegression, COUNTS, y_bounds=dp.Interval(0, 6), **BOX),
    "release_moments": lambda budget: dp.release_moments(FRAME, SCHEMA, budget=budget).regress("y ~ a + b").summary(),
    "quantile": lambda budget: dp.quantile(Y, ["1/4", "1/2"], bounds=UNIT, budget=budget, **ADJACENCY),
    "median": lambda budget: dp.median(Y, bounds=UNIT, step="0.01", budget=budget, **ADJACENCY),
    "sample": lipschitz,
    **{f"sample {type(policy).__name__}": lambda budget, policy=policy: lipschitz(budget, runtime=policy)
       for policy in (dp.sampling.Truncated(), dp.sampling.BlockRestart(), dp.sampling.Plain())},
    "posterior_draw": posterior,
    "forecast": lambda budget: str(dp.forecast("y ~ a + b", SCHEMA, n_rows=N, budget=budget)),
    "compare_methods": lambda budget: str(compare_methods("y ~ a + b", SCHEMA, n_rows=N, budget=budget)),
    "compose_plan": lambda budget: dp.privacy.compose_plan([budget] * 2 + [dp.Gdp(mu=1)]).delta("1"),
    "Ledger": ledger,
    "tradeoff": curve,
    "convert": priced,
    "group": lambda budget: accounting.group(budget, size=2),
    "compose": lambda budget: accounting.compose([budget, dp.Pure(epsilon=1), budget]),
}  # fmt: skip

BUDGETS = {
    "delta 0": dp.Approx(epsilon=1, delta=0),
    "delta 1e-300": dp.Approx(epsilon=1, delta="1e-300"),
    "delta nearly 1": dp.Approx(epsilon=1, delta="0.999999"),
    "Approx epsilon 0": dp.Approx(epsilon=0, delta="1e-6"),
    **{f"Approx epsilon {size}": dp.Approx(epsilon=size, delta="1e-6") for size in ("1e308", "1e-308", "1e9", "1e-9")},
    "epsilon 1e-4000": dp.Pure(epsilon="1e-4000"),
    **{f"{make.__name__} {size}": make.from_coordinates((Fraction(size) ** power,))
       for make, power in ((dp.Pure, 1), (dp.Zcdp, 1), (dp.Gdp, 2))
       for size in ("0", "1e308", "1e-308", "1e30", "1e-30", "1e9", "1e-9")},
}  # fmt: skip
NAMES = ("epsilon", "delta", "rho", "mu", "budget", "total")


@pytest.mark.filterwarnings("ignore::discreet.errors.DiscreetWarning")
@pytest.mark.parametrize("name", CALLS)
def test_any_budget_is_fine_or_refused_by_name(name):
    """Neither a bare error nor a warning of a stranger; where it is refused, the parameter is named."""
    for which, budget in BUDGETS.items():
        told = None
        try:
            CALLS[name](budget)
        except DiscreetError as refusal:
            told = str(refusal)
        assert told is None or any(word in told for word in NAMES) or type(budget).__name__ in told, (which, told)


def test_the_list_is_complete():
    """Every public estimator and function that takes a budget is called."""
    taking = {
        name
        for name, thing in PUBLIC.items()
        if (inspect.isfunction(thing) or hasattr(thing, "fit")) and "budget" in inspect.signature(thing).parameters
    }
    assert {name for name in taking if not any(call.split()[0] == name for call in CALLS)} == set()


# By which of them a budget with a delta of 0 is pure; the others have no pure noise, and say so.
PURE = [
    "FunctionalLinearRegression", "FunctionalLogisticRegression", "FrankWolfeLinearRegression",
    "FrankWolfeLogisticRegression", "TwoStageLinearRegression", "TwoStageLogisticRegression",
    "PerturbedLogisticRegression", "PerturbedLogisticRegression output", "LinearRegression auto",
    "LinearRegression moments", "release_moments", "quantile", "median", "sample", "forecast", "compare_methods",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::discreet.errors.NoiseDominatedWarning")
@pytest.mark.parametrize("name", PURE)
def test_a_delta_of_zero_is_pure_where_the_method_is(name):
    """The same noise as for a budget in Pure."""
    CALLS[name](dp.Approx(epsilon=40, delta=0))
    CALLS[name](dp.Pure(epsilon=40))


LARGE = dp.Approx(epsilon=4, delta="0.1")
WARNING = ["FunctionalLinearRegression", "FunctionalLogisticRegression", "SparseLinearRegression",
           "FrankWolfeLinearRegression", "TwoStageLinearRegression", "PerturbedLogisticRegression", "PrivateSearch",
           "LinearRegression moments", "LinearRegression descent", "LinearRegression threshold", "quantile", "median",
           "sample", "PrivatePCA"]  # fmt: skip


@pytest.mark.filterwarnings("ignore::discreet.errors.NoiseDominatedWarning")
@pytest.mark.parametrize("name", WARNING)
def test_a_delta_above_one_over_n_warns(name):
    """Of 60 rows under Replace, a delta of a tenth; one below 1/60 says nothing."""
    with pytest.warns(dp.errors.LargeDeltaWarning, match="`delta` is above 1 / 60"):
        CALLS[name](LARGE)
    with warnings.catch_warnings():
        warnings.simplefilter("error", dp.errors.LargeDeltaWarning)
        CALLS[name](dp.Approx(epsilon=4, delta="1e-3"))


@pytest.mark.filterwarnings("error::discreet.errors.LargeDeltaWarning")
def test_a_warning_that_is_an_error_spends_nothing():
    """It is given before the charge."""
    ledger = dp.Ledger(total=dp.Approx(epsilon=9, delta="0.2"), adjacency=dp.Replace(), composition="sum")
    with pytest.raises(dp.errors.LargeDeltaWarning):
        dp.median(Y, bounds=UNIT, budget=LARGE, ledger=ledger, **ADJACENCY)
    assert ledger.entries == ()


def test_a_private_number_of_rows_is_not_compared():
    """Under AddRemove the rows read say nothing, not even by a warning."""
    ledger = dp.Ledger(total=dp.Approx(epsilon=9, delta="0.2"), adjacency=dp.AddRemove())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dp.median(Y, bounds=UNIT, budget=LARGE, ledger=ledger, adjacency=dp.AddRemove())
