"""Curves people can read: what is drawn, not how it looks."""

import io
import math
import xml.etree.ElementTree as ET
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidArgument, InvalidType
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.curves.runtimes import RuntimePair
from discreet.privacy.ledger import Ledger
from discreet.report.curves import comparison_figure, ledger_figure, tradeoff_figure
from privacy.doubles import gaussian


def lines(figure):
    """Return the lines that have a name, by it."""
    (axes,) = figure.axes
    return {line.get_label(): line.get_xydata() for line in axes.lines}


def svg(figure):
    """Draw to SVG with texts as texts, and return it parsed."""
    from matplotlib import rc_context

    stream = io.BytesIO()
    with rc_context({"svg.fonttype": "none"}):
        figure.savefig(stream, format="svg")
    return ET.fromstring(stream.getvalue())  # noqa: S314  (we wrote it)


def test_the_tangents_touch_the_curve():
    """The lines of (epsilon, delta) are below the curve everywhere and meet it at the marked points, both of them."""
    figure = Gdp(mu=1).tradeoff().plot()
    (axes,) = figure.axes
    curve = lines(figure)["guarantee"]
    delta = Gdp(mu=1).delta(1.0)
    straight = [line for line in axes.lines if line.get_color() == "#666666" and len(line.get_xydata()) == 2]
    guess, steep, flat = (line.get_xydata() for line in straight)
    assert guess.tolist() == [[0, 1], [1, 0]]
    assert steep[0] == pytest.approx([0, 1 - delta])
    assert (steep[1] - steep[0])[1] == pytest.approx(-math.e)
    assert (flat[1] - flat[0])[1] == pytest.approx(-1 / math.e)
    for line in (steep, flat):
        heights = np.interp(curve[:, 0], line[:, 0], line[:, 1])
        assert np.all(heights <= curve[:, 1] + 1e-9)
        assert np.min(curve[:, 1] - heights) < 1e-4
    points = [tuple(line.get_xydata()[0]) for line in axes.lines if line.get_marker() == "o"]
    assert points[0] == pytest.approx(points[1][::-1])
    assert points[0][1] == pytest.approx(1 - delta - math.e * points[0][0], abs=1e-4)


def test_the_picture_says_what_it_shows():
    """Axes, the blind guess, and (epsilon, delta) are named in the drawing itself; PNG works without a screen."""
    figure = tradeoff_figure(Gdp(mu=1).tradeoff(), delta="1e-5")
    texts = " ".join(element.text or "" for element in svg(figure).iter() if element.tag.endswith("text"))
    for text in ("false alarms", "missed", "a blind guess", "(epsilon, delta) = (4.377, 1e-05)"):
        assert text in texts
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    assert stream.getvalue().startswith(b"\x89PNG")


def test_one_order_of_the_neighbours_is_drawn_with_the_other():
    """A curve of one order stands beside its mirror image and their common lower curve."""
    drawn = lines(tradeoff_figure(RuntimePair(Fraction(1, 2), Fraction(3, 10)), epsilon="0.7"))
    assert {"guarantee", "one order of the neighbours", "the other order"} <= set(drawn)
    for name in ("one order of the neighbours", "the other order"):
        assert np.all(drawn["guarantee"][:, 1] <= drawn[name][:, 1] + 1e-9)


def test_a_total_is_drawn_against_its_releases():
    """The promise lies lowest, then what was spent, then every release; of many the dearest are named."""
    ledger = Ledger(total=Gdp(mu=2), adjacency=Replace())
    for k in range(1, 7):
        ledger.charge(gaussian(Fraction(k, 20), statistic="Gram matrix of (1, age, income, hours, education)"))
    drawn = lines(ledger_figure(ledger))
    promise = drawn.pop("promise of the ledger: Gdp(mu=2)")
    spent = drawn.pop("spent so far")
    releases = [name for name in drawn if name[0].isdigit()]
    assert [int(name.split(":")[0]) for name in releases] == [3, 4, 5, 6]
    assert all(name.endswith("...") and len(name) < 50 for name in releases)
    assert np.all(promise[:, 1] <= spent[:, 1])
    for name in releases:
        assert np.all(spent[:, 1] <= drawn[name][:, 1])
    assert svg(ledger_figure(Ledger(total=Approx(epsilon=1, delta=1e-6), adjacency=Replace()))) is not None


def test_names_are_shown_as_they_are():
    """A dollar is no mathematics, markup is text, and a leading underscore does not hide a curve."""
    names = ["$x$ <script>alert(1)</script>", "_hidden"]
    figure = comparison_figure({name: Gdp(mu=k + 1).tradeoff() for k, name in enumerate(names)})
    document = svg(figure)
    texts = [element.text for element in document.iter() if element.tag.endswith("text")]
    assert any(text and "<script>alert(1)</script>" in text and text.startswith("$x$") for text in texts)
    assert "hidden" in texts
    assert not [element for element in document.iter() if element.tag.endswith("script")]


def test_what_cannot_be_drawn_is_refused():
    """No curves, too many, no curve at all, two ways to say which lines, a delta without an epsilon, an audit."""
    gauss = Gdp(mu=1).tradeoff()
    for curves in ({}, {str(k): gauss for k in range(7)}):
        with pytest.raises(InvalidArgument, match="`curves` must hold 1 to 6"):
            comparison_figure(curves)
    with pytest.raises(InvalidType, match="`curves`"):
        comparison_figure({"a": 0.5})
    with pytest.raises(InvalidType, match="`curve`"):
        tradeoff_figure(Gdp(mu=1))
    with pytest.raises(InvalidArgument, match="both given"):
        tradeoff_figure(gauss, epsilon=1, delta=0.1)
    with pytest.raises(InvalidArgument, match="no finite epsilon"):
        tradeoff_figure(Approx(epsilon=1, delta=0.1).tradeoff(), delta=0.05)
    with pytest.raises(InvalidArgument, match="`ledger` must have a total"):
        ledger_figure(Ledger.for_audit())


@pytest.mark.parametrize("budget", [Pure(epsilon=0), Pure(epsilon=1000), Zcdp(rho=1), Gdp(mu=30)])
def test_extremes_are_drawn(budget):
    """Perfect and hopeless guarantees are pictures too, without a warning."""
    assert svg(tradeoff_figure(budget.tradeoff())) is not None
