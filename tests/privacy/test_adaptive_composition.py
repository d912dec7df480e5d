"""Why a ledger composes numbers and never curves: two counterexamples, and what the ledger does with them.

Releases are chosen one after the other. Each *list* that could be chosen keeps (epsilon, delta) as a composed curve;
still, who chooses the second release from the output of the first reaches a larger delta. docs/adaptive-composition.md
tells the same with the same numbers.
"""

import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

from discreet.errors import BudgetExceeded, NoSoundConversion
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Approx, Gdp, Pure
from discreet.privacy.curves.composition import compose_plan
from discreet.privacy.curves.tradeoff import two_sided_delta, two_sided_float_deltas
from discreet.privacy.gaussian_accounting import mu_of
from discreet.privacy.ledger import Ledger
from privacy.doubles import priced

PAGE = Path(__file__).parents[2] / "docs" / "adaptive-composition.md"
EPSILON = Fraction(1)


def _second_delta(budget, loss):
    """What the second release still adds to delta(1) once the first has shown a loss."""
    return float(two_sided_delta(budget.tradeoff(), EPSILON - Fraction(loss)))


def test_two_outcomes_are_enough():
    """Two lists of delta(1) = 0.179 each become 0.227 when the second release is chosen from the first output."""
    heads = math.e / (1 + math.e)
    outcomes = ((1, heads), (-1, 1 - heads))

    def fixed(second):
        return sum(chance * _second_delta(second, loss) for loss, chance in outcomes)

    answer = Pure(epsilon="1/2")
    blatant = Approx(epsilon=0, delta=brentq(lambda d: fixed(Approx(epsilon=0, delta=d)) - fixed(answer), 0.01, 0.9))
    # Both lists, priced as plans fixed in advance, agree with the sum over outcomes.
    for second in (answer, blatant):
        composed = compose_plan([Pure(epsilon=1), second]).delta(1.0)
        assert fixed(second) - 1e-12 <= composed <= fixed(second) + 1e-4
        assert f"{fixed(second):.3f}" == "0.179"
    chosen = sum(chance * max(_second_delta(answer, loss), _second_delta(blatant, loss)) for loss, chance in outcomes)
    assert f"{chosen:.3f}" == "0.227"
    _is_told(f"{float(blatant.delta):.4f}", "0.179", "0.227")


def test_with_gaussian_noise_too():
    """Two lists of delta(1) = 1.0e-6 each become 1.9e-6."""
    half = Gdp.from_squared(mu_of(EPSILON, Fraction(1, 10**6)) ** 2 / 2)
    mu = float(half.mu)
    draws = np.linspace(-12, 12, 40_001)
    weights = np.exp(-(draws**2) / 2) / math.sqrt(2 * math.pi) * (draws[1] - draws[0])
    losses = mu * draws + mu**2 / 2
    noisy = two_sided_float_deltas(half.tradeoff(), 1 - losses)

    def blatant(d):
        return two_sided_float_deltas(Approx(epsilon=0, delta=d).tradeoff(), 1 - losses)

    d = brentq(lambda d: weights @ (blatant(d) - noisy), 1e-9, 1e-2, xtol=1e-16)
    for second in (noisy, blatant(d)):
        assert weights @ second == pytest.approx(1e-6, rel=1e-3)
    assert compose_plan([half, half]).delta(1.0) == pytest.approx(1e-6, rel=1e-6)
    chosen = weights @ np.maximum(noisy, blatant(d))
    assert f"{chosen:.1e}" == "1.9e-06"
    _is_told("1.0e-6", "1.9e-6")


def _is_told(*texts):
    page = PAGE.read_text()
    for text in texts:
        assert re.search(rf"(?<![\d.]){re.escape(text)}(?!\d)", page), text


def test_the_ledger_is_not_fooled():
    """A total of (1, 0.18) grants neither list, by sums, by Gdp or by either: it adds numbers that bound the curve."""
    total = Approx(epsilon=1, delta="0.18")
    by_sums = Ledger(total=total, adjacency=Replace(), composition="sum")
    by_sums.charge(priced(Pure(epsilon=1)))
    with pytest.raises(BudgetExceeded):
        by_sums.charge(priced(Pure(epsilon="1/2")))
    by_curve = Ledger(total=total, adjacency=Replace(), composition="gdp")
    with pytest.raises(BudgetExceeded):
        by_curve.charge(priced(Pure(epsilon=1)))
    with pytest.raises(NoSoundConversion):
        by_curve.charge(priced(Approx(epsilon="0.001", delta="0.1")))
    by_either = Ledger(total=total, adjacency=Replace())
    by_either.charge(priced(Pure(epsilon=1)))
    with pytest.raises(BudgetExceeded):
        by_either.charge(priced(Pure(epsilon="1/2")))
    with pytest.raises(NoSoundConversion):
        by_either.charge(priced(Approx(epsilon="0.001", delta="0.1")))
