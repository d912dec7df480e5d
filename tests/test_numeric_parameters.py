"""One contract for every numeric parameter: NaN, infinity, -1, a boolean and a word are refused by its name.

What is numeric says the signature: a parameter annotated as a number, a yes-or-no, a budget or bounds, and one whose
good value or default is a number. A new parameter is tested as it stands; a new callable needs good arguments in
`good_calls.py`, which the last test asks for.
"""

import inspect
import math
import re
from numbers import Number

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidArgument, InvalidData
from discreet.privacy import accounting
from good_calls import CALLS, Call
from privacy.doubles import gaussian, laplace
from public_names import IN_ROOMS, PUBLIC

BAD = [math.nan, math.inf, -math.inf, -1, -0.5, True, np.True_, "x", "nan", "inf", np.float32("nan"), None, [1], 1j]
# Parameters for which a negative number is a good one, and what a refusal may call them.
SIGNED = {
    "lower": ("`lower`", "lower bound of"),
    "upper": ("`upper`", "upper bound of"),
    "center": ("`center`",),
    "target_bounds": ("`target_bounds`",),
    "missing": ("`missing`", "missing="),
}
# What numbers are written as in annotations, and what is declared in their place: no number is a budget or bounds.
NUMBERS = {"int", "float", "Fraction", "bool"}
DECLARED = {"Budget", "Interval", "Box"}
# What else a parameter without a type of its own may be: data, functions, and what is declared of labels.
ANYTHING = {"X", "y", "data", "values", "example", "candidates", "classes", "estimator", "one_hot", "parts", "results"}
# Abstract, without parameters, or made by the library itself.
NOT_CALLED = {"QuadraticObjective", "TradeoffFunction", "KNormGradient", "Moments", "Release", "Forecast", "Draw"}
NOT_CALLED |= {"RegressionResult", "Coins", "PiecewiseLinear"}
# Audits have tests of their own: each of their calls runs a mechanism many times.
NOT_CALLED |= IN_ROOMS["audit"].keys()


def kinds_of(parameter):
    """Return the types of an annotation."""
    return set(re.split(r"\s*\|\s*", str(parameter.annotation).replace("dp.", "")))


def is_number(value):
    """Whether a value is a number, or a text of one."""
    return re.fullmatch(r"[\d./e-]+", value) is not None if isinstance(value, str) else isinstance(value, Number)


def is_numeric(call, parameter):
    """Whether a parameter of a call takes numbers, or is judged like one."""
    name = parameter.name
    if name.startswith("_"):
        return False
    return (
        bool(kinds_of(parameter) & (NUMBERS | DECLARED))
        or name in call.wrap
        or name in call.where
        or is_number(call.good.get(name, parameter.default))
    )


def bad_values(call, parameter):
    """Return what is bad for this parameter, as it is given."""
    kinds, value = kinds_of(parameter), call.good.get(parameter.name, parameter.default)
    bad = BAD
    if "bool" in kinds or isinstance(value, bool):  # a yes or no
        bad = [one for one in bad if not isinstance(one, (bool, np.bool_))]
    if parameter.name in SIGNED:
        bad = [one for one in bad if one not in (-1, -0.5)]
    if parameter.name in call.wrap:
        return [wrap(one) for wrap in call.wrap[parameter.name] for one in bad]
    if parameter.default is None or "None" in kinds:  # None asks for the default
        bad = [one for one in bad if one is not None]
    return [one for one in bad if one != [1]] if parameter.name == "slopes" else bad  # one a column


CASES = [(call, name) for call in CALLS for name, one in call.parameters().items() if is_numeric(call, one)]


def refusal(call, name, bad):
    """Return what is wrong with how a bad value is refused, or None."""
    words = SIGNED.get(name, (f"`{name}`",))
    try:
        call.given(**{name: bad})
    except (InvalidArgument, InvalidData) as error:
        return None if any(word in str(error) for word in words) else f"{bad!r}: not named: {error}"
    except Exception as error:  # noqa: BLE001  (whatever it is, it is listed)
        return f"{bad!r}: {type(error).__name__}: {error}"
    return f"{bad!r}: accepted"


@pytest.mark.parametrize(("call", "name"), [pytest.param(*case, id=f"{case[0].name}-{case[1]}") for case in CASES])
def test_bad_numbers_are_refused_by_name(call, name):
    """NaN, infinities, booleans, texts, lists; negative numbers, too, but for bounds. The message names it."""
    found = [refusal(call, name, bad) for bad in bad_values(call, call.parameters()[name])]
    assert not any(found), "\n".join(one for one in found if one)


def test_what_is_numeric_says_the_signature():
    """A new parameter is tested as it stands; what it takes beside numbers is not called bad."""

    def judged(
        rate: "float",
        size: "int | None" = None,
        *,
        flag: "bool" = True,
        bounds: "dp.Interval",
        name: "str" = "",
        step=1,
        X=None,
    ):
        """Take one of every kind."""

    call = Call(judged, {"rate": 1.0, "bounds": dp.Interval(0, 1)})
    taken = call.parameters()
    assert [name for name, one in taken.items() if is_numeric(call, one)] == ["rate", "size", "flag", "bounds", "step"]
    assert bad_values(call, taken["rate"]) == BAD
    assert None not in bad_values(call, taken["size"])
    assert True not in bad_values(call, taken["flag"])
    assert refusal(call, "rate", -1) == "-1: accepted"


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_good_arguments_are_accepted(call):
    """What is refused above is refused for its bad number alone."""
    call.given()


def test_every_public_number_is_tested():
    """Every class and function of the public surface has good arguments, and no parameter is passed over in silence."""
    missed = []
    for name in PUBLIC.keys() - NOT_CALLED:
        public = PUBLIC[name]
        if not callable(public) or (isinstance(public, type) and issubclass(public, (Exception, Warning))):
            continue
        taken = inspect.signature(public).parameters.values()
        open_ones = {one.name for one in taken if kinds_of(one) & (NUMBERS | DECLARED | {"Any"})} - ANYTHING
        tested = {parameter for call, parameter in CASES if call.of is public}
        missed += [f"{name}({parameter}=)" for parameter in sorted(open_ones - tested)]
    assert not missed, "Give good numbers in good_calls.py, or name what it is in ANYTHING: " + ", ".join(missed)
    assert PUBLIC.keys() >= NOT_CALLED


@pytest.mark.parametrize("name", ["x_bounds", "y_bounds"])
def test_bounds_that_are_not_declared_are_asked_for_by_name(name):
    """None is no bound, where no schema says them either."""
    (call,) = (call for call in CALLS if call.name == "FunctionalLinearRegression")
    with pytest.raises(InvalidArgument, match=f"`{name}`"):
        call.given(**{name: None})


@pytest.mark.parametrize("zero", [0, 0.0, "0"])
@pytest.mark.parametrize(
    ("call", "name"),
    [(lambda x: laplace(1, scale=x), "scale"), (lambda x: gaussian(1, variance=x), "variance"),
     (lambda x: laplace(1, sensitivity=x), "sensitivity"),
     (lambda x: next(call for call in CALLS if call.name == "WishartEvent").given(theta=x), "theta"),
     (lambda x: accounting.gaussian_log_delta(epsilon=1, mu=x), "mu")],
)  # fmt: skip
def test_no_noise_at_all_is_refused_by_name(call, name, zero):
    """A scale of zero is an error that names it, never a division by zero."""
    with pytest.raises(InvalidArgument, match=f"`{name}` must be greater than 0"):
        call(zero)


@pytest.mark.parametrize("call", [dp.Pure, dp.Approx, dp.Zcdp, dp.Gdp, accounting.gaussian_mu, accounting.zcdp_epsilon])
def test_numbers_are_given_by_name(call):
    """(sigma, epsilon) and (epsilon, delta) cannot be mixed up."""
    with pytest.raises(TypeError, match="positional"):
        call(1, 0.5)
