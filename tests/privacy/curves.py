"""Curves that several tests ask: every family, and hypothesis strategies for straight lines."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.curves.families import LaplaceCurve
from discreet.privacy.curves.piecewise import PiecewiseLinear
from discreet.privacy.curves.runtimes import RuntimePair, geometric_runtime
from discreet.privacy.curves.tradeoff import DualCurve

FAMILIES = {
    "pure": Pure(epsilon=1).tradeoff(),
    "approx": Approx(epsilon=1, delta="1/10").tradeoff(),
    "blatant": Approx(epsilon=0, delta="1/2").tradeoff(),
    "gauss": Gdp(mu=1).tradeoff(),
    "small gauss": Gdp(mu="0.01").tradeoff(),
    "large gauss": Gdp(mu=6).tradeoff(),
    "zcdp": Zcdp(rho="1/2").tradeoff(),
    "large zcdp": Zcdp(rho=5).tradeoff(),
    "laplace": LaplaceCurve(Fraction(2)),
    "lines": PiecewiseLinear([(0, "9/10"), ("1/10", "1/2"), ("1/2", "1/10"), ("3/4", 0), (1, 0)]),
    "runtime": geometric_runtime(p="0.5", q="0.3"),
    "runtime of one order": RuntimePair(Fraction(1, 10), Fraction(2, 25)),
    "smooth runtime": geometric_runtime(p="0.5", q="0.3", smooth=True),
    "runtime of five draws": geometric_runtime(p="0.5", q="0.45", n_draws=5),
}


@st.composite
def laws(draw, size=4):
    """Two laws on the same few outcomes, exact, some of them impossible under one."""
    weights = st.lists(st.integers(0, 12), min_size=size, max_size=size).filter(any)
    first, second = draw(weights), draw(weights)
    return tuple([Fraction(x, sum(law)) for x in law] for law in (first, second))


class Twice(DualCurve):
    """A curve rebuilt from its deltas alone."""

    def __init__(self, curve):
        self._curve = curve

    def inverse(self):
        """Return the same of the other order."""
        return Twice(self._curve.inverse())

    def upper_delta(self, epsilon):
        """Return the curve's."""
        return self._curve.upper_delta(epsilon)

    def float_deltas(self, epsilons):
        """Return the curve's."""
        return self._curve.float_deltas(epsilons)
