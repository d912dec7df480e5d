"""One contract for every numeric parameter: NaN, infinity, -1, a boolean and a word are refused by its name.

To add a parameter, add a line to CASES: a label, a callable that takes the bad value, and the parameter's name.
"""

import math

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.privacy import accounting
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.events import WishartEvent
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


@pytest.mark.parametrize("bad", BAD, ids=repr)
@pytest.mark.parametrize(("call", "name"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_bad_numbers_are_refused_by_name(call, name, bad):
    """The message names the parameter in backticks."""
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
