"""Curves people can read: what an adversary can do, and where (epsilon, delta) touches it.

Made from guarantees alone. `figure.savefig(path)` writes a figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidArgument, InvalidType
from discreet.privacy.curves.drawing import MOST_CURVES, draw_curves, empty_square, guarantee_figure
from discreet.privacy.curves.tradeoff import TradeoffFunction

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from discreet.privacy.ledger import Ledger


def tradeoff_figure(curve: TradeoffFunction, *, epsilon: Any = None, delta: Any = None) -> Figure:
    """Draw one curve and the two lines of (epsilon, delta) that touch it.

    Parameters
    ----------
    curve : TradeoffFunction
        What to draw; where it holds for one order of the neighbours, both orders and their symmetric curve.
    epsilon : number or text, optional
        Whose lines to draw, at least 0; 1 where neither is given.
    delta : number or text, optional
        The same, by the delta of the lines, in (0, 1).

    Returns
    -------
    Figure
        Of matplotlib.

    Raises
    ------
    InvalidArgument
        If both are given, or no finite epsilon belongs to `delta`.
    """
    if not isinstance(curve, TradeoffFunction):
        raise InvalidType(f"`curve` must be a TradeoffFunction; found {type(curve).__name__}.")
    return guarantee_figure(curve, epsilon=epsilon, delta=delta)


def comparison_figure(curves: Mapping[str, TradeoffFunction]) -> Figure:
    """Draw several curves in one square, such as a total and its parts.

    Parameters
    ----------
    curves : mapping of str to TradeoffFunction
        From one to six; the first is drawn boldest.

    Raises
    ------
    InvalidArgument
        If there is none, or there are more than six.
    """
    if not 1 <= len(curves) <= MOST_CURVES:
        raise InvalidArgument(f"`curves` must hold 1 to {MOST_CURVES} curves; found {len(curves)}.")
    for curve in curves.values():
        if not isinstance(curve, TradeoffFunction):
            raise InvalidType(f"`curves` must hold TradeoffFunctions; found {type(curve).__name__}.")
    figure, axes = empty_square("Error of an adversary, by release")
    draw_curves(axes, dict(curves))
    axes.legend(loc="upper right", fontsize=8)
    return figure


def ledger_figure(ledger: Ledger) -> Figure:
    """Draw a ledger's total, what was spent, and each release on its own.

    The four dearest releases are drawn by name where there are more.

    Parameters
    ----------
    ledger : Ledger
        With a total.

    Raises
    ------
    InvalidArgument
        If the ledger is one of an audit.
    """
    total, spent = ledger.tradeoff(), ledger.tradeoff(of="spent")
    if total is None or spent is None:
        raise InvalidArgument("`ledger` must have a total; an audit's has none.")
    curves = {f"promise of the ledger: {_short(ledger.total)}": total, "spent so far": spent}
    dearest = sorted(ledger.entries, key=lambda entry: entry.cost.coordinates, reverse=True)
    for entry in sorted(dearest[: MOST_CURVES - len(curves)], key=lambda entry: entry.number):
        statistic = entry.event.statistic
        name = statistic if len(statistic) <= 40 else f"{statistic[:37]}..."
        curves[f"{entry.number}: {name}"] = entry.cost.tradeoff()
    return comparison_figure(curves)


def _short(budget: Any) -> str:
    text = repr(budget)
    return text if len(text) <= 40 else type(budget).__name__
