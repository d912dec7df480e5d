"""What an audit saw, against what was claimed, as a picture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.audit.names import in_a_plot
from discreet.audit.verdicts import claim_text, curve_of
from discreet.errors import InvalidArgument
from discreet.privacy.curves.drawing import draw_curves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from discreet.audit.verdicts import Verdict

_MOST_COLUMNS = 4
_SEEN, _LIMIT, _WRONG = "#D55E00", "#999999", "#B00020"


def verdict_figure(verdicts: Sequence[Verdict]) -> Figure:
    """Draw the claimed tradeoff curve of each verdict, the errors that were seen, and their limits.

    A mechanism that keeps its claim has its true errors on or above the curve; it is convicted where even the upper
    limits of its errors lie below.

    Parameters
    ----------
    verdicts : sequence of Verdict
        At least one; each has a square of its own.

    Returns
    -------
    Figure
        Of matplotlib.

    Raises
    ------
    InvalidArgument
        If there is none.
    """
    from matplotlib.figure import Figure

    if not verdicts:
        raise InvalidArgument("`verdicts` must hold at least one; found none.")
    n_columns = min(_MOST_COLUMNS, len(verdicts))
    n_lines = math.ceil(len(verdicts) / n_columns)
    figure = Figure(figsize=(4.6 * n_columns, 4.8 * n_lines), layout="constrained")
    squares = figure.subplots(n_lines, n_columns, squeeze=False)
    for axes, verdict in zip(squares.flat, verdicts, strict=False):
        _draw(axes, verdict)
    for axes in squares.flat[len(verdicts) :]:
        axes.set_axis_off()
    return figure


def _draw(axes: Axes, verdict: Verdict) -> None:
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    # A name is any text, never mathematics.
    title = f"{in_a_plot(verdict.name)}: {verdict.answer}\n{verdict.power_text()}"
    axes.set_title(title, fontsize=9, parse_math=False)
    axes.set_xlabel("false alarms, alpha")
    axes.set_ylabel("missed, beta")
    draw_curves(axes, {f"claimed: {claim_text(verdict.claim)}": curve_of(verdict.claim)})
    axes.plot(*verdict.seen, color=_SEEN, linewidth=1.4, label="seen")
    axes.plot(*verdict.curve, color=_LIMIT, linewidth=1, linestyle="--", label="their upper limits, together")
    event = verdict.evidence[0]
    axes.plot(
        [event.alpha],
        [event.beta],
        marker="x" if verdict.violated else "o",
        color=_WRONG if verdict.violated else _LIMIT,
        linestyle="none",
        label="most telling event's limits",
    )
    axes.legend(loc="upper right", fontsize=7)
