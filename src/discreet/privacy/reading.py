"""What a guarantee means, in plain words: how often a suspicion would be right."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.privacy.adjacency import AddRemove, Adjacency

if TYPE_CHECKING:
    from discreet.privacy.curves.tradeoff import TradeoffFunction

# The deltas at which a guarantee is stated, as rationals and as they are read.
DELTAS = (Fraction(1, 10**5), Fraction(1, 10**7), Fraction(1, 10**9))
FALSE_ALARMS = Fraction(1, 20)
# Chances of a true alarm, beside 5 % of false ones.
_WEAK, _STRONG = Fraction(1, 2), Fraction(6, 100)


def epsilons(curve: TradeoffFunction) -> tuple[tuple[Fraction, float], ...]:
    """Return (delta, epsilon) at the three deltas of `DELTAS`, epsilons rounded up to four significant digits."""
    return tuple((delta, round_up(curve.epsilon(delta))) for delta in DELTAS)


def caught(curve: TradeoffFunction) -> float:
    """Return the largest percentage of true alarms beside 5 % of false ones, rounded up to a tenth of a percent."""
    power: Fraction = curve.power(FALSE_ALARMS)
    return math.ceil(1000 * power) / 10


def reading(curve: TradeoffFunction, adjacency: Adjacency) -> str:
    """Return what a guarantee means for one person, as sentences.

    Parameters
    ----------
    curve : TradeoffFunction
        The guarantee.
    adjacency : Replace or AddRemove
        Which data sets it compares.

    Examples
    --------
    >>> from discreet.privacy.adjacency import Replace
    >>> from discreet.privacy.budgets import Gdp
    >>> print(reading(Gdp(mu=1).tradeoff(), Replace()).split(", ")[2])
    catches at most 26.0 % of the people who contributed the suspected one; without the releases
    """
    known = "all other records"
    if adjacency.unit is not None:
        known, caught_ones = f"the records of all other `{adjacency.unit}`", "those whom it is right to suspect"
        present = isinstance(adjacency, AddRemove)
        what = "are in the data" if present else "are those that it suspects, or certain others"
        question = f"whether the records of one `{adjacency.unit}` {what}"
    elif isinstance(adjacency, AddRemove):
        question, caught_ones = "whether one person's record is in the data", "the people who are in it"
    else:
        question = "which of two records one person contributed"
        caught_ones = "the people who contributed the suspected one"
    percent = caught(curve)
    return (
        f"An adversary who knows {known} and must tell {question}, and who accepts a 5 % false-alarm rate, "
        f"catches at most {percent:.1f} % of {caught_ones}; without the releases, 5 %.{_verdict(percent)}"
    )


def _verdict(percent: float) -> str:
    if percent > 100 * _WEAK:
        return " That is a weak protection: smaller budgets are more private."
    if percent <= 100 * _STRONG:
        return " That is hardly better than a guess: a strong protection, for which results may be very noisy."
    return ""


def round_up(number: Fraction | float) -> float:
    """Return a number rounded up to four significant digits."""
    if number == 0 or not math.isfinite(number):
        return float(number)
    exponent = math.floor(math.log10(number)) - 3
    scaled = math.ceil(Fraction(number) / Fraction(10) ** exponent)
    return float(Fraction(scaled) * Fraction(10) ** exponent)
