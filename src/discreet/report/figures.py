"""Figures as SVG inside a page: their lines and letters take the page's own color, in light and in dark."""

from __future__ import annotations

import io
import math
import re
from typing import TYPE_CHECKING, Any

from discreet.privacy.curves.drawing import draw_curves, empty_square

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from discreet.privacy.curves.tradeoff import TradeoffFunction
    from discreet.privacy.findings import Estimate

# What is drawn in this color takes the color of the text around the figure.
INK = "#010203"
_ACCENT = "#0072B2"
# Names longer than this are cut in a figure; the table beside it has them whole.
_LONGEST_NAME = 36
# More rows than this are not drawn.
MOST_ROWS = 40


def forest_svg(estimates: Sequence[Estimate], alternative: str) -> str:
    """Return a forest plot of estimates with their intervals.

    Parameters
    ----------
    estimates : sequence of Estimate
        Drawn from top to bottom; the first 40.
    alternative : str
        What the figure says, for those who do not see it.
    """
    shown = list(estimates)[:MOST_ROWS]
    figure = _figure(6.4, 0.9 + 0.28 * len(shown))
    axes = figure.add_subplot()
    places = range(len(shown))
    axes.axvline(0.0, color=INK, linewidth=0.8, linestyle=":")
    for place, estimate in zip(places, shown, strict=True):
        if estimate.lower is not None and estimate.upper is not None:
            axes.plot([estimate.lower, estimate.upper], [place, place], color=_ACCENT, linewidth=1.8)
    axes.plot([one.value for one in shown], list(places), "o", color=_ACCENT, markersize=5)
    # A dollar in a column's name begins no mathematics.
    axes.set_yticks(list(places), [_short(one.name) for one in shown], parse_math=False)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_xlabel("estimate, in the data's units")
    _ink(axes)
    return _svg(figure, alternative)


def curves_svg(curves: Mapping[str, TradeoffFunction], alternative: str) -> str:
    """Return tradeoff curves in one square."""
    figure, axes = empty_square("")
    figure.set_size_inches(5.0, 5.0)
    draw_curves(axes, {_short(name): curve for name, curve in curves.items()})
    axes.legend(loc="upper right", fontsize=8, facecolor="none", edgecolor=INK, labelcolor=INK)
    _ink(axes)
    return _svg(figure, alternative)


def lines_svg(
    x: Sequence[float], lines: Mapping[str, Sequence[float]], *, labels: tuple[str, str], alternative: str
) -> str:
    """Return lines over a common axis, both axes logarithmic."""
    figure = _figure(6.4, 4.2)
    axes = figure.add_subplot()
    for number, (name, values) in enumerate(lines.items()):
        axes.plot(x, values, marker="o", markersize=3, color=_COLORS[number % len(_COLORS)], label=_short(name))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    legend = axes.legend(fontsize=8, facecolor="none", edgecolor=INK, labelcolor=INK)
    for text in legend.get_texts():
        text.set_parse_math(False)
    _ink(axes)
    return _svg(figure, alternative)


# Okabe and Ito's colors, which the color-blind can tell apart, on white and on black.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."


def _ink(axes: Axes) -> None:
    """Draw frame, ticks and letters of a figure in the page's color."""
    axes.patch.set_alpha(0.0)
    axes.tick_params(which="both", colors=INK, labelcolor=INK)
    for spine in axes.spines.values():
        spine.set_color(INK)
    for text in (axes.xaxis.label, axes.yaxis.label, axes.title):
        text.set_color(INK)


def _svg(figure: Figure, alternative: str) -> str:
    import matplotlib as mpl

    stream = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "discreet", "font.family": "sans-serif"}):
        figure.patch.set_alpha(0.0)
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return _inline(stream.getvalue(), alternative)


def _inline(text: str, alternative: str) -> str:
    """Return matplotlib's file as an element of a page: without prolog and fixed size, with a text instead."""
    from html import escape

    body = text[text.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    head, _, rest = body.partition(">")
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None  # noqa: S101  (matplotlib always writes one)
    width = float(box.group().split()[2])
    # Ids must be unique in a page that has several figures.
    mark = f"f{next(_numbers)}-"
    rest = re.sub(r'\bid="', f'id="{mark}', rest)
    rest = re.sub(r'(href="#|url\(#)', rf"\1{mark}", rest)
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {box.group()} role="img" aria-label="{escape(alternative)}" '
        f'style="max-width:{math.ceil(width * 4 / 3)}px">'
    )
    return (opening + rest).replace(INK, "currentColor")


def _count() -> Any:
    number = 0
    while True:
        yield number
        number += 1


_numbers = _count()
