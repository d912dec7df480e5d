"""Names are any text: in lines, in plots, on pages, in files, and on terminals."""

import io
import json
import warnings
from dataclasses import replace
from xml.dom import minidom

import numpy as np
import pytest

from discreet.audit.distinguish import audit
from discreet.audit.figures import verdict_figure
from discreet.audit.names import check_name, in_a_file, in_a_plot, on_a_line, on_a_page
from discreet.audit.one_run import audit_one_run
from discreet.audit.runtime import audit_counts
from discreet.audit.wall_clock import Timings, judge_times
from discreet.errors import InvalidType
from discreet.privacy.budgets import Gdp, Pure
from discreet.privacy.coins import Coins

HOSTILE = [
    "", " ", "$x^2$", "$\\frac{", "a$b", "_hidden", "%s {0} {name}", "[bold red]x[/bold red]", "[/]",
    "<script>alert(1)</script>", "</text><b>&amp;", "../../etc/passwd", "C:\\new\\table", "a/b\\c:d*e?",
    "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "a\r\nb", "tab\there", "nul\0", "\x7f\x9b2J", "\u202egnirts",
    "\u2028line", "\ud800", "\U0001f4a5 \u6f22\u5b57", "n" * 5000, "a|b|c`d`", "# heading", "None",
]  # fmt: skip
named = pytest.mark.parametrize("name", HOSTILE, ids=[ascii(name)[:24] for name in HOSTILE])


def noisy(data, coins, n_runs):
    return np.rint(1000 * (data + np.random.default_rng(0).normal(size=n_runs)))


def made(name):
    """Yield a verdict of every kind, of a mechanism of this name."""
    coins = Coins.from_seed(0)
    times = np.full(100, 500)
    yield audit(noisy, 0, 1, Gdp(mu=1), n_runs=100, coins=coins, name=name)
    yield audit_one_run(lambda included, _coins: included * 0.0, 20, Pure(epsilon=1), coins=coins, name=name)
    yield audit_counts(lambda _d, _c, n: (np.zeros(n), np.ones(n, int)), 0, 1, fixed=True, n_runs=100, name=name)
    yield judge_times(Timings(times, times, np.zeros((100, 0)), np.zeros((100, 0))), name=name)


@pytest.fixture(scope="module")
def some():
    """Verdicts of every kind; names are put on copies of them."""
    return tuple(made("mechanism"))


def test_every_audit_takes_a_hostile_name():
    """And keeps it letter by letter."""
    assert [verdict.name for verdict in made(HOSTILE[8])] == [HOSTILE[8]] * 4


@named
def test_a_verdict_is_one_line_without_commands(name, some):
    """Nothing in it is out of print, so that no terminal obeys it."""
    for verdict in (replace(verdict, name=name) for verdict in some):
        line = str(verdict)
        assert line.isprintable()
        assert len(line.splitlines()) == 1
        assert line.startswith(on_a_line(name) + ": ")


@named
def test_a_file_of_verdicts_is_utf_8(name, some):
    """And has the name, letter by letter, where UTF-8 has it."""
    for verdict in (replace(verdict, name=name) for verdict in some):
        text = json.dumps(verdict.to_json(), allow_nan=False, ensure_ascii=False)
        found = json.loads(text.encode("utf-8"))["name"]
        assert found == (in_a_file(name) if name == "\ud800" else name)


@named
def test_a_plot_shows_the_name_and_no_mathematics(name, some):
    """In a drawing, whose XML is well-formed and has no element of the name's."""
    figure = verdict_figure([replace(some[0], name=name)])
    assert figure.axes[0].get_title().startswith(in_a_plot(name))
    drawing = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(drawing, format="svg")
    document = minidom.parseString(drawing.getvalue())  # noqa: S318  (our own drawing)
    assert not document.getElementsByTagName("script")
    assert not document.getElementsByTagName("b")


@named
def test_a_page_shows_the_name_as_text(name):
    """One cell of a table, and no markup."""
    cell = on_a_page(name)
    assert cell.isprintable()
    assert not set(cell) & set("<>|*_`[]$\\")


@pytest.mark.parametrize("name", [None, 3, b"bytes", ["a"]])
def test_a_name_is_text(name):
    """Anything else is refused before a run."""
    with pytest.raises(InvalidType, match="`name`"):
        check_name(name)
    with pytest.raises(InvalidType, match="`name`"):
        audit(lambda *_: pytest.fail("a run"), 0, 1, Pure(epsilon=1), n_runs=100, name=name)


def test_a_long_name_is_cut_in_a_plot_alone():
    """So that the picture keeps its size."""
    assert in_a_plot("n" * 5000).endswith("n...")
    assert len(in_a_plot("n" * 5000)) == 60
    assert on_a_line("n" * 5000) == "n" * 5000
