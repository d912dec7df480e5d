"""On which side curves err: floats against rationals, rationals against the truth, and both at the extremes."""

import math
import sys
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.numbers.outward import float_down, float_up
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.curves.families import LaplaceCurve
from discreet.privacy.curves.tradeoff import two_sided_delta
from privacy.curves import FAMILIES, Twice

EVERY = pytest.mark.parametrize("curve", FAMILIES.values(), ids=FAMILIES)
ALPHAS = [0.0, 1e-9, 0.003, 0.05, 0.1, 0.25, 0.3, 0.5, 0.61, 0.8, 0.97, 1 - 1e-7, 1.0]


@EVERY
def test_floats_lie_on_the_safe_side_of_exact_answers(curve):
    """A float of beta is at most the exact answer and at least it up to a billionth; of delta the other way round."""
    for alpha in ALPHAS:
        exact, rounded = curve.beta(Fraction(alpha)), curve.beta(alpha)
        assert isinstance(exact, Fraction)
        assert isinstance(rounded, float)
        assert exact - Fraction(1, 10**9) <= rounded <= exact + Fraction(1, 10**10) * (curve in NO_CLOSED_FORM)
    for epsilon in ("0", "0.1", "1", "2.5", "7"):
        exact, rounded = curve.delta(epsilon), curve.delta(float(epsilon))
        assert isinstance(exact, Fraction)
        assert exact <= rounded <= exact + Fraction(1, 10**12)
        found = curve.float_deltas(np.array([float(epsilon)]))[0]
        assert found >= curve.upper_delta(Fraction(float(epsilon)))


NO_CLOSED_FORM = [FAMILIES[name] for name in ("runtime", "runtime of five draws", "runtime of one order")]


@settings(max_examples=40, deadline=None)
@given(st.fractions(Fraction(1, 1000), 30, max_denominator=1000), st.floats(1e-12, 1 - 1e-12))
def test_the_gaussian_curve_is_enclosed_and_close(mu, alpha):
    """By mpmath in 80 digits: the exact answer is below the truth and within 1e-15 of it, relatively."""
    found = Gdp(mu=mu).tradeoff().beta(Fraction(alpha))
    with mpmath.workdps(80):
        level = mpmath.mpf(alpha)
        start = mpmath.mpf(float(-_quantile(alpha)))
        x = mpmath.findroot(lambda t: mpmath.log(mpmath.ncdf(-t)) - mpmath.log(level), start)
        truth = mpmath.ncdf(x - mpmath.mpf(mu.numerator) / mu.denominator)
        value = mpmath.mpf(found.numerator) / found.denominator
        assert value <= truth
        assert value >= truth * (1 - mpmath.mpf("1e-12")) or truth < mpmath.mpf("1e-700")


def _quantile(alpha):
    from statistics import NormalDist

    return NormalDist().inv_cdf(alpha)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("mu", ["0.001", "0.1", "1", "10", "30"])
def test_extremes_are_finite_and_monotone(mu):
    """mu from 1e-3 to 30, delta down to 1e-300, alpha to both ends: finite, monotone, without a warning."""
    budgets = [Gdp(mu=mu), Zcdp(rho=Fraction(mu) ** 2 / 2)]
    for budget in budgets:
        epsilons = [budget.epsilon(f"1e-{k}") for k in (1, 10, 100, 200, 300)]
        assert all(0 <= a <= b < 10**6 for a, b in pairwise(epsilons))
        deltas = budget.delta(np.linspace(0, 50, 21))
        assert np.all(np.diff(deltas) <= 0)
        alphas = np.unique(np.concatenate([[0, 5e-324, 1e-300, 1e-100], np.linspace(0, 1, 101), [1 - 1e-16]]))
        betas = budget.tradeoff().beta(alphas)
        assert np.all(np.isfinite(betas))
        assert np.all(np.diff(betas) <= 0)
        assert budget.tradeoff().beta("1e-400") <= 1


@pytest.mark.parametrize("budget", [Pure(epsilon=10**9), Pure(epsilon="1e400"), Zcdp(rho=10**6), Gdp(mu=10**6)])
def test_hopeless_guarantees_are_values(budget):
    """What promises nothing has a curve that is nearly 0, and no error."""
    curve = budget.tradeoff()
    assert curve.beta("0") == 1
    assert curve.beta(0.5) == curve.beta("1/2") == 0
    assert curve.delta("0") == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("budget", [Pure(epsilon=0), Approx(epsilon=0, delta=0), Zcdp(rho=0), Gdp(mu=0)])
def test_perfect_guarantees_are_values(budget):
    """What gives nothing away has the curve 1 - alpha, delta 0 and epsilon 0, at delta = 0 too."""
    curve = budget.tradeoff()
    assert curve.beta("1/3") == Fraction(2, 3)
    assert curve.beta(0.25) == pytest.approx(0.75, abs=1e-9)
    assert curve.delta(0.0) == curve.delta("0") == 0
    assert curve.epsilon(0.0) == curve.epsilon("0") == 0
    assert curve.float_deltas(np.array([0.0, 1.0])).tolist() == [0, 0]


def test_delta_zero_and_one():
    """delta = 0 is a value with an infinite epsilon for unbounded noise; delta = 1 is refused by name."""
    assert Gdp(mu=1).epsilon(0.0) == Zcdp(rho=1).epsilon("0") == math.inf
    assert Pure(epsilon=2).tradeoff().epsilon("0") == 2
    assert Approx(epsilon=2, delta=0.1).tradeoff().epsilon(0.05) == math.inf
    for curve in FAMILIES.values():
        for one in (1, 1.0, "1", [0.5, 1]):
            with pytest.raises(InvalidArgument, match="`delta` must satisfy 0 <= delta < 1"):
                curve.epsilon(one)


def test_floats_leave_on_their_side():
    """Too large and too small numbers become infinity, the largest float, 0 or the smallest."""
    huge, tiny = Fraction(10) ** 400, Fraction(1, 10**400)
    assert (float_down(huge), float_up(huge)) == (sys.float_info.max, math.inf)
    assert (float_down(-huge), float_up(-huge)) == (-math.inf, -sys.float_info.max)
    assert (float_down(tiny), float_up(tiny)) == (0.0, 5e-324)
    assert float_down(Fraction(1, 3)) < Fraction(1, 3) < float_up(Fraction(1, 3))
    assert math.copysign(1, float_up(Fraction(0))) == 1


@settings(max_examples=60, deadline=None)
@given(st.floats(0.01, 3000), st.floats(-745, 0))
@example(733.0, -2.0)  # the curve itself is below all normal floats
@example(740.0, -3.0)
@example(745.0, -1.0)
def test_tiny_alphas_stay_on_the_safe_side(epsilon, log_alpha):
    """Where e^epsilon overflows and alpha has lost digits, floats still understate."""
    alpha = math.exp(log_alpha)
    pure = Pure(epsilon=epsilon).tradeoff()
    for curve in (pure, Twice(pure), LaplaceCurve(pure.numbers[0])):
        steep = 1 - mpmath.exp(as_mpf(pure.numbers[0])) * mpmath.mpf(alpha)
        flat = mpmath.exp(-as_mpf(pure.numbers[0]))
        middle = float(flat / 4 / alpha) if alpha else 1.0
        assert curve.beta(alpha) <= max(float(steep), float(flat) * (1 + 1e-9), middle)


def as_mpf(number):
    return mpmath.mpf(number.numerator) / number.denominator


def test_very_negative_epsilons_have_delta_one():
    """The extension to negative epsilon is at most 1, and reaches it."""
    assert two_sided_delta(FAMILIES["gauss"], Fraction(-3000)) == 1
    assert two_sided_delta(FAMILIES["pure"], Fraction(-2)) == pytest.approx(1 - math.exp(-2), rel=1e-12)
