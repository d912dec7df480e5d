"""One contract for every numeric parameter: NaN, infinity, -1, a boolean and a word are refused by its name.

To add a parameter, add a line to CASES, or to SIGNED_CASES where a negative number is a good one: a label, a callable
that takes the bad value, and the parameter's name.
"""

import math

import numpy as np
import pytest

from discreet.errors import InvalidArgument, InvalidData
from discreet.functional.inference import RegressionResult
from discreet.functional.models import FunctionalLinearRegression
from discreet.lattice.bounds import Box, Interval
from discreet.lattice.coins import Coins
from discreet.lattice.gram import gram_of_arrays
from discreet.lattice.grid import Coding, Layout
from discreet.lattice.noise.gaussian import rounded_gaussian
from discreet.lattice.noise.laplace import rounded_laplace, symmetric_laplace
from discreet.lattice.noise.steps import step_bits_for
from discreet.lattice.noise.symmetric_gaussian import symmetric_gaussian
from discreet.lattice.noise.wishart import wishart_difference
from discreet.privacy import accounting
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.events import WishartEvent
from discreet.privacy.ledger import Ledger
from discreet.tables.columns import Number
from discreet.tables.design import Design
from discreet.tables.schema import Schema
from privacy.doubles import gaussian, laplace

BAD = [math.nan, math.inf, -math.inf, -1, -0.5, True, np.True_, "x", "nan", "inf", np.float32("nan"), None, [1], 1j]


def wishart(**changes):
    fields = {"row_norm_squared": 1, "theta": 1, "adjacency": Replace(), "statistic": "sum", "shape": (2, 2)}
    return WishartEvent(**(fields | {"budget": Pure(epsilon=2)} | changes))


CASES = [
    ("Pure", lambda bad: Pure(epsilon=bad), "epsilon"),
    ("Approx epsilon", lambda bad: Approx(epsilon=bad, delta=0), "epsilon"),
    ("Approx delta", lambda bad: Approx(epsilon=1, delta=bad), "delta"),
    ("Zcdp", lambda bad: Zcdp(rho=bad), "rho"),
    ("Gdp", lambda bad: Gdp(mu=bad), "mu"),
    ("Gdp squared", Gdp.from_squared, "mu_squared"),
    ("gaussian_delta epsilon", lambda bad: accounting.gaussian_delta(epsilon=bad, mu=1), "epsilon"),
    ("gaussian_delta mu", lambda bad: accounting.gaussian_delta(epsilon=1, mu=bad), "mu"),
    ("gaussian_log_delta epsilon", lambda bad: accounting.gaussian_log_delta(epsilon=bad, mu=1), "epsilon"),
    ("gaussian_log_delta mu", lambda bad: accounting.gaussian_log_delta(epsilon=1, mu=bad), "mu"),
    ("gaussian_epsilon delta", lambda bad: accounting.gaussian_epsilon(delta=bad, mu=1), "delta"),
    ("gaussian_epsilon mu", lambda bad: accounting.gaussian_epsilon(delta=0.1, mu=bad), "mu"),
    ("gaussian_mu epsilon", lambda bad: accounting.gaussian_mu(epsilon=bad, delta=0.1), "epsilon"),
    ("gaussian_mu delta", lambda bad: accounting.gaussian_mu(epsilon=1, delta=bad), "delta"),
    ("zcdp_delta epsilon", lambda bad: accounting.zcdp_delta(epsilon=bad, rho=1), "epsilon"),
    ("zcdp_delta rho", lambda bad: accounting.zcdp_delta(epsilon=1, rho=bad), "rho"),
    ("zcdp_epsilon delta", lambda bad: accounting.zcdp_epsilon(delta=bad, rho=1), "delta"),
    ("zcdp_epsilon rho", lambda bad: accounting.zcdp_epsilon(delta=0.1, rho=bad), "rho"),
    ("zcdp_rho epsilon", lambda bad: accounting.zcdp_rho(epsilon=bad, delta=0.1), "epsilon"),
    ("zcdp_rho delta", lambda bad: accounting.zcdp_rho(epsilon=1, delta=bad), "delta"),
    ("bun_steinke_epsilon delta", lambda bad: accounting.bun_steinke_epsilon(delta=bad, rho=1), "delta"),
    ("bun_steinke_epsilon rho", lambda bad: accounting.bun_steinke_epsilon(delta=0.1, rho=bad), "rho"),
    ("bun_steinke_rho epsilon", lambda bad: accounting.bun_steinke_rho(epsilon=bad, delta=0.1), "epsilon"),
    ("bun_steinke_rho delta", lambda bad: accounting.bun_steinke_rho(epsilon=1, delta=bad), "delta"),
    ("group size", lambda bad: accounting.group(Pure(epsilon=1), size=bad), "size"),
    ("LaplaceEvent sensitivity", lambda bad: laplace(1, sensitivity=bad), "sensitivity"),
    ("LaplaceEvent scale", lambda bad: laplace(1, scale=bad), "scale"),
    ("WishartEvent row_norm_squared", lambda bad: wishart(row_norm_squared=bad), "row_norm_squared"),
    ("WishartEvent theta", lambda bad: wishart(theta=bad), "theta"),
    ("GaussianEvent sensitivity_squared", lambda bad: gaussian(1, sensitivity_squared=bad), "sensitivity_squared"),
    ("GaussianEvent variance", lambda bad: gaussian(1, variance=bad), "variance"),
    ("Event step_bits", lambda bad: laplace(1, step_bits=bad), "step_bits"),
    ("Event shape", lambda bad: laplace(1, shape=(bad,)), "shape"),
]

ZEROS = np.zeros((2, 2), dtype=np.int64)
COINS = Coins.from_seed(0)
LAYOUT = Layout(["a"], [Coding.centered(0, 1)], intercept=True)


def _opened(create_on_charge):
    return Ledger.open("absent", Pure(epsilon=1), Replace(), create_on_charge=create_on_charge)


CASES += [
    ("Ledger.open create_on_charge", _opened, "create_on_charge"),
    ("Coins seed", Coins.from_seed, "seed"),
    ("Coins word_bits", lambda bad: Coins.from_seed(0, word_bits=bad), "word_bits"),
    ("Coins words", COINS.words, "n"),
    ("rounded_laplace scale", lambda bad: rounded_laplace(ZEROS, scale=bad, coins=COINS), "scale"),
    ("rounded_laplace step", lambda bad: rounded_laplace(ZEROS, scale=1, coins=COINS, step_bits=bad), "step_bits"),
    ("symmetric_laplace scale", lambda bad: symmetric_laplace(ZEROS, scale=bad, coins=COINS), "scale"),
    ("rounded_gaussian variance", lambda bad: rounded_gaussian(ZEROS, variance=bad, coins=COINS), "variance"),
    ("rounded_gaussian step", lambda bad: rounded_gaussian(ZEROS, variance=1, coins=COINS, step_bits=bad), "step_bits"),
    (
        "symmetric_gaussian variance",
        lambda bad: symmetric_gaussian(ZEROS, diagonal_variance=bad, coins=COINS),
        "diagonal_variance",
    ),
    ("wishart_difference theta", lambda bad: wishart_difference(ZEROS, theta=bad, coins=COINS), "theta"),
    ("step_bits_for", step_bits_for, "noise_std"),
    ("Coding bits", lambda bad: Coding.centered(0, 1, bits=bad), "bits"),
    ("Coding scale", lambda bad: Coding(lower=0, upper=1, center=0, scale=bad), "scale"),
    ("Coding n_dummies", Coding.dummy, "n_dummies"),
    ("Layout bits", lambda bad: Layout(["a"], [Coding.flag()], intercept=True, bits=bad), "bits"),
    ("Layout intercept", lambda bad: Layout(["a"], [Coding.flag()], intercept=bad), "intercept"),
    (
        "Layout row_norm_squared",
        lambda bad: Layout(["a"], [Coding.flag()], intercept=True, row_norm_squared=bad),
        "row_norm_squared",
    ),
    ("block_rows", lambda bad: gram_of_arrays(np.zeros((3, 1)), None, LAYOUT, block_rows=bad), "block_rows"),
    ("Design bits", lambda bad: Design.for_terms(None, Schema({"a": Number(0, 1)}), bits=bad), "bits"),
    ("conf_int level", lambda bad: _result().conf_int(bad), "level"),
    ("fit_intercept", lambda bad: _fitted(fit_intercept=bad), "fit_intercept"),
    ("budget", lambda bad: _fitted(budget=bad), "budget"),
    ("x_bounds", lambda bad: _fitted(x_bounds=bad), "x_bounds"),
    ("y_bounds", lambda bad: _fitted(y_bounds=bad), "y_bounds"),
]

SIGNED_CASES = [
    ("Interval lower", lambda bad: Interval(bad, 1), "lower bound of Interval"),
    ("Interval upper", lambda bad: Interval(-2, bad), "upper bound of Interval"),
    ("Box lower", lambda bad: Box(lower=[0, bad], upper=1), "lower"),
    ("Box upper", lambda bad: Box(lower=-2, upper=[0, bad]), "upper"),
    ("Number lower", lambda bad: Number(bad, 1), "lower"),
    ("Number upper", lambda bad: Number(-2, bad), "upper"),
    ("Coding center", lambda bad: Coding(lower=0, upper=1, center=bad, scale=1), "center"),
]


def _result():
    event = laplace(1)
    return RegressionResult(
        formula="y ~ x",
        feature_names=("x",),
        coef=np.ones(1),
        intercept=0.0,
        has_intercept=True,
        noise_dominated=False,
        ridge=0.0,
        event=event,
        label="private",
    )


def _fitted(**changes):
    declared = {"budget": Gdp(mu=1), "x_bounds": Box(lower=0, upper=1), "y_bounds": Interval(0, 1)}
    model = FunctionalLinearRegression(**(declared | {"adjacency": Replace()} | changes))
    return model.fit(np.zeros((5, 1)), np.zeros(5))


OPTIONAL = {"row_norm_squared", "block_rows"}

# True is a good answer to a yes-or-no question.
YES_OR_NO = {"fit_intercept", "create_on_charge", "intercept"}


@pytest.mark.parametrize("bad", [value for value in BAD if value not in (-1, -0.5)], ids=repr)
@pytest.mark.parametrize(("call", "name"), [case[1:] for case in SIGNED_CASES], ids=[case[0] for case in SIGNED_CASES])
def test_bad_bounds_are_refused_by_name(call, name, bad):
    """The message names the bound; a negative one is as good as any."""
    with pytest.raises((InvalidArgument, InvalidData), match=name):
        call(bad)


@pytest.mark.parametrize("bad", BAD, ids=repr)
@pytest.mark.parametrize(("call", "name"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_bad_numbers_are_refused_by_name(call, name, bad):
    """The message names the parameter in backticks."""
    if (name in YES_OR_NO and isinstance(bad, (bool, np.bool_))) or (name in OPTIONAL and bad is None):
        return
    with pytest.raises(InvalidArgument, match=f"`{name}`"):
        call(bad)


@pytest.mark.parametrize("zero", [0, 0.0, "0"])
@pytest.mark.parametrize(
    ("call", "name"),
    [(lambda x: laplace(1, scale=x), "scale"), (lambda x: gaussian(1, variance=x), "variance"),
     (lambda x: wishart(theta=x), "theta"), (lambda x: laplace(1, sensitivity=x), "sensitivity"),
     (lambda x: accounting.gaussian_log_delta(epsilon=1, mu=x), "mu")],
)  # fmt: skip
def test_no_noise_at_all_is_refused_by_name(call, name, zero):
    """A scale of zero is an error that names it, never a division by zero."""
    with pytest.raises(InvalidArgument, match=f"`{name}` must be greater than 0"):
        call(zero)


@pytest.mark.parametrize("call", [Pure, Approx, Zcdp, Gdp, accounting.gaussian_mu, accounting.zcdp_epsilon])
def test_numbers_are_given_by_name(call):
    """(sigma, epsilon) and (epsilon, delta) cannot be mixed up."""
    with pytest.raises(TypeError, match="positional"):
        call(1, 0.5)
