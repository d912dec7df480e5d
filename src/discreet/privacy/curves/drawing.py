"""How curves are drawn: matplotlib's own objects, without its global state, so that a server may draw them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colors, which the color-blind can tell apart; each curve has a line style of its own, too.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_STYLES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
_GREY = "#666666"
# More curves than this cannot be told apart by eye.
MOST_CURVES = 6


class Curve(Protocol):
    """What a drawing asks of a tradeoff function."""

    @property
    def is_symmetric(self) -> bool:
        """Whether it holds for both orders of the neighbours."""
        ...

    def beta(self, alpha: Any) -> Any:
        """Return the error of the second kind at these errors of the first."""
        ...

    def delta(self, epsilon: Any) -> Any:
        """Return the least delta at `epsilon`."""
        ...

    def epsilon(self, delta: Any) -> Any:
        """Return the least epsilon at `delta`."""
        ...

    def inverse(self) -> Curve:
        """Return the curve of the other order."""
        ...

    def symmetrized(self) -> Curve:
        """Return the curve of both orders."""
        ...


def guarantee_figure(curve: Curve, *, epsilon: Any = None, delta: Any = None) -> Figure:
    """Draw one curve and the two lines of (epsilon, delta) that touch it; see `TradeoffFunction.plot`."""
    whole = curve.symmetrized()
    at, level = _tangent(whole, epsilon, delta)
    figure, axes = empty_square("How well can two neighbours be told apart?")
    curves: dict[str, Curve] = {"guarantee": whole}
    if not curve.is_symmetric:
        curves |= {"one order of the neighbours": curve, "the other order": curve.inverse()}
    draw_curves(axes, curves)
    alphas = np.array([0.0, 1.0])
    axes.plot(alphas, 1 - level - math.exp(at) * alphas, color=_GREY, linewidth=1, label=_named(at, level), zorder=1)
    axes.plot(alphas, (1 - level - alphas) * math.exp(-at), color=_GREY, linewidth=1, zorder=1)
    touch = _touching_point(whole, at)
    axes.plot(*touch, marker="o", color=_GREY, markersize=4)
    axes.plot(*touch[::-1], marker="o", color=_GREY, markersize=4)
    axes.annotate(
        f"1 - delta = {1 - level:.4g}",
        (0, 1 - level),
        xytext=(8, -2),
        textcoords="offset points",
        fontsize=8,
        color=_GREY,
    )
    axes.legend(loc="upper right", fontsize=8)
    return figure


def empty_square(title: str) -> tuple[Figure, Axes]:
    """Return an empty square with the line of pure guessing."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.5, 5.5), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", title=title)
    axes.set_xlabel("false alarms (error of the first kind), alpha")
    axes.set_ylabel("missed (error of the second kind), beta")
    axes.plot([0, 1], [1, 0], color=_GREY, linestyle=":", linewidth=1, label="a blind guess")
    return figure, axes


def draw_curves(axes: Axes, curves: Mapping[str, Curve]) -> None:
    """Draw up to six curves, each with a color and a line style of its own."""
    near = np.logspace(-8, -2, 100)
    alphas = np.unique(np.concatenate([np.linspace(0, 1, 401), near, 1 - near]))
    for index, (name, curve) in enumerate(curves.items()):
        axes.plot(
            alphas,
            curve.beta(alphas),
            color=_COLORS[index],
            linestyle=_STYLES[index],
            linewidth=2.2 if index == 0 else 1.4,
            label=_plain(name),
        )


def _plain(name: str) -> str:
    # A dollar would begin mathematics, and a leading underscore would hide a name from the legend.
    return str(name).replace("$", r"\$").lstrip("_") or "curve"


def _tangent(curve: Curve, epsilon: Any, delta: Any) -> tuple[float, float]:
    if epsilon is not None and delta is not None:
        raise InvalidArgument(
            "`epsilon` and `delta` were both given: one of them determines the lines. Leave the other out."
        )
    if delta is None:
        at = float(_checks.exact_nonnegative(1 if epsilon is None else epsilon, "epsilon"))
        return at, curve.delta(at)
    at = float(curve.epsilon(delta))
    if math.isfinite(at):
        return at, float(_checks.exact(delta, "delta"))
    raise InvalidArgument("`delta` is too small: the curve has no finite epsilon there. Give a larger one.")


def _named(epsilon: float, delta: float) -> str:
    return f"(epsilon, delta) = ({epsilon:.4g}, {delta:.3g})"


def _touching_point(curve: Curve, epsilon: float) -> tuple[float, float]:
    """Return about where the steeper line touches the curve."""
    alphas = np.unique(np.concatenate([np.linspace(0, 1, 2001), np.logspace(-12, -2, 500)]))
    betas = curve.beta(alphas)
    best = int(np.argmax(1 - betas - math.exp(min(epsilon, 700.0)) * alphas))
    return float(alphas[best]), float(betas[best])
