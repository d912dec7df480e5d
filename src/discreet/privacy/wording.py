"""What a budget means, in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp

if TYPE_CHECKING:
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget

# Below the first, little but noise is left; above the second, little protection.
_SMALL, _LARGE = 0.05, 10.0


def unit_words(adjacency: Adjacency, rows_per_unit: int | None = None) -> str:
    """Return whose records the neighbours of an adjacency differ in, and the cap of a release where it is given.

    Examples
    --------
    >>> unit_words(Replace(unit="person"), 3)
    'one `person` with all of its rows, of which at most 3 contribute'
    """
    if adjacency.unit is None:
        return "one record; whoever contributes several records is protected less, by that many times"
    whole = f"one `{adjacency.unit}` with all of its rows"
    if rows_per_unit is None:
        return whole
    return f"{whole}, of which at most {rows_per_unit} contribute{'s' if rows_per_unit == 1 else ''}"


def in_words(budget: Budget, adjacency: Adjacency) -> str:
    """Return what a budget promises, which direction is more private, and whether it is very small or very large.

    Examples
    --------
    >>> from discreet.privacy.budgets import Pure
    >>> in_words(Pure(epsilon=1), Replace())
    'In words: changing one record makes no output more than 2.72 times as likely; smaller epsilon is more private.'
    """
    whose = "one record" if adjacency.unit is None else f"all records of one `{adjacency.unit}`"
    change = f"changing {whose}" if isinstance(adjacency, Replace) else f"adding or removing {whose}"
    if isinstance(budget, (Pure, Approx)):
        epsilon = float(budget.epsilon)
        words = f"{change} makes no output more than {_factor(epsilon)} times as likely"
        if isinstance(budget, Approx) and budget.delta > 0:
            words += f", but for a chance of {float(budget.delta):.3g}"
        name, size = "epsilon", epsilon
    elif isinstance(budget, Gdp):
        name, size = "mu", float(budget.mu)
        words = f"whether it was done is as hard to tell as two normal laws {size:.3g} standard deviations apart"
        words = f"{change}: {words}"
    else:
        assert isinstance(budget, Zcdp)  # noqa: S101  (the four kinds of budgets)
        name, size = "rho", math.sqrt(2.0 * float(budget.rho))
        words = f"{change}: the privacy loss has a mean of at most {float(budget.rho):.3g} and a normal law's tails"
    flag = ""
    if size < _SMALL:
        flag = " This is very small: little but noise can be seen."
    elif size > _LARGE:
        flag = " This is very large: it protects weakly."
    return f"In words: {words}; smaller {name} is more private.{flag}"


def _factor(epsilon: float) -> str:
    return f"{math.exp(epsilon):.3g}" if epsilon < 700 else "e^" + f"{epsilon:.3g}"
