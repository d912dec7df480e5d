"""The page about released results: what it says, and that every name stays text."""

from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidType
from discreet.report.page import report_html, write_report

IMAGE = "<img src=x onerror=alert(1)>"
SCRIPT = "</script><script>alert(1)</script>"
DOLLAR = '$x_1$ & "q"'


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.elements, self.text, self._skip = [], "", 0
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        """Note an element."""
        self.elements.append((tag, dict(attrs)))
        self._skip += tag in {"script", "style"}

    def handle_endtag(self, tag):
        """Leave an element."""
        self._skip -= tag in {"script", "style"}

    def handle_data(self, data):
        """Note a text."""
        if not self._skip:
            self.text += data

    def of(self, tag):
        """Return the attributes of all elements of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]


def moments_of(names, *, epsilon=20, coins=None, adjacency=None):
    """Release moments of a table whose columns have these names, the last a category with hostile levels."""
    rng = np.random.default_rng(0)
    columns = {name: rng.random(400) for name in names}
    columns["c"] = rng.choice(["a", SCRIPT], 400)
    schema = dp.Schema(
        {name: dp.Number(0, 1) for name in names} | {"c": dp.Category(["a", SCRIPT])},
        adjacency=adjacency or dp.Replace(),
    )
    budget = dp.Pure(epsilon=epsilon)
    ledger = None if coins is None else dp.Ledger(total=budget, adjacency=schema.adjacency, coins=coins)
    return dp.release_moments(pa.table(columns), schema, budget=budget, ledger=ledger)


@pytest.fixture(scope="module")
def plain():
    """A regression with harmless names."""
    return moments_of(["y", "x", "z"]).regress("y ~ x + z + c")


@pytest.fixture(scope="module")
def sparse():
    """A fitted sparse model."""
    rng = np.random.default_rng(1)
    declared = {"row_norm": 1, "entry_bound": 0.3, "y_bounds": dp.Interval(0, 1), "adjacency": dp.Replace()}
    model = dp.SparseLinearRegression(budget=dp.Approx(epsilon=2, delta="1e-6"), sparsity=5, **declared)
    return model.fit(rng.random((100, 60)), rng.random(100))


def test_the_page_answers_every_question(plain):
    """Asked, answer, how good, given away, declared, again, not promised; the numbers are those of the summary."""
    page = Page(report_html(plain))
    for heading in (
        "What was asked",
        "The answer",
        "How good it is",
        "What was given away",
        "What was declared in public",
        "How to do the same again",
        "What is not promised",
    ):
        assert heading in page.text
    for row in plain.summary().rows:
        assert row[0] in page.text
        assert row[1] in page.text
        assert row[2] in page.text
    for text in (
        "pure epsilon 20",
        "Replace: neighbours differ in one record",
        "privacy noise",
        "epsilon at delta 1e-5",
    ):
        assert text in page.text


def test_cli_11_intervals_say_what_they_cover(plain):
    """CLI-11: sampling error and privacy noise are told apart."""
    text = Page(report_html(plain)).text
    assert "Intervals cover sampling error" in text
    assert "is privacy noise; the rest is sampling error" in text


@pytest.mark.parametrize(("epsilon", "words"), [("0.01", "very small"), (1, "2.72 times"), (25, "very large")])
def test_cli_10_epsilon_is_told_in_plain_words(epsilon, words):
    """CLI-10: what the number means, which direction is more private, and whether it is very small or large."""
    text = Page(report_html(moments_of(["y", "x"], epsilon=epsilon))).text
    assert words in text
    assert "smaller epsilon is more private" in text


def test_cli_04_names_and_levels_stay_text(sparse):
    """CLI-04: a column named like an image and a level named like a script are shown, and are no elements."""
    moments = moments_of(["y", IMAGE, DOLLAR])
    result = moments.regress(f"y ~ `{IMAGE}` + `{DOLLAR}` + c")
    html = report_html([result, moments, sparse], title=IMAGE)
    page = Page(html)
    assert not page.of("img")
    assert len(page.of("script")) == 1
    assert page.text.count("onerror=alert(1)") >= 4
    assert DOLLAR in page.text
    assert all(not name.startswith("on") for _, attributes in page.elements for name in attributes)


def test_the_page_asks_the_network_for_nothing(plain, sparse):
    """No element has an address outside the page, and its policy forbids any."""
    page = Page(report_html([plain, sparse]))
    for _, attributes in page.elements:
        for name, value in attributes.items():
            if name in {"src", "href", "xlink:href", "action", "data"}:
                assert value.startswith(("#", "data:,"))
    policies = [entry["content"] for entry in page.of("meta") if entry.get("http-equiv") == "Content-Security-Policy"]
    assert policies
    assert policies[0].startswith("default-src 'none'")


def test_ids_are_unique_and_figures_have_words(plain, sparse):
    """Several figures share a page: no id stands twice, and every figure says what it shows."""
    page = Page(report_html([plain, sparse, plain]))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    figures = page.of("svg")
    assert len(figures) == 5
    assert all(figure["role"] == "img" and figure["aria-label"] for figure in figures)


def test_a_sparse_model_shows_its_selected_columns(sparse):
    """Columns that are not selected are not in the table; the number of selected ones is told."""
    text = Page(report_html(sparse)).text
    for place in np.flatnonzero(sparse.coef_):
        assert f"column {place}" in text
    assert f"column {np.flatnonzero(sparse.coef_ == 0)[0]}\n" not in text
    assert "of 60" in text
    assert "no intervals" in text


def test_sem_04_a_seeded_release_says_so(plain):
    """SEM-04: a release from a test seed is marked in the page, a private one is not."""
    seeded = moments_of(["y", "x"], coins=dp.privacy.Coins.from_seed(0))
    assert "not private: test seed" in Page(report_html(seeded)).text
    assert "keeps no promise" in Page(report_html(seeded)).text
    assert "keeps no promise" not in Page(report_html(plain)).text


def test_noise_dominated_results_are_flagged():
    """With a tiny budget the page says that the numbers are little more than noise."""
    moments = moments_of(["y", "x"], epsilon="0.0001", coins=dp.privacy.Coins.from_seed(0))
    with pytest.warns(dp.NoiseDominatedWarning):
        result = moments.regress("y ~ x")
    assert "Noise-dominated." in Page(report_html(result)).text


def test_sem_09_under_add_remove_no_count_is_shown():
    """SEM-09: the number of rows is not on the page where it is private."""
    page = Page(report_html(moments_of(["y", "x"], adjacency=dp.AddRemove()).regress("y ~ x")))
    assert "the number of records is private" in page.text
    assert "400" not in page.text.split()


def test_the_ledger_has_a_section_of_its_own(tmp_path):
    """Total, left, entries and two curves; an audit's ledger says that nothing drawn with it is private."""
    ledger = dp.Ledger.open(tmp_path / "l.ledger", total=dp.Gdp(mu=2), adjacency=dp.Replace())
    schema = dp.Schema({"y": dp.Number(0, 1), "x": dp.Number(0, 1)}, adjacency=dp.Replace())
    table = pa.table({"y": [0.5, 0.2], "x": [0.1, 0.9]})
    moments = dp.release_moments(table, schema, budget=dp.Gdp(mu=1), ledger=ledger)
    text = Page(report_html(moments, ledger)).text
    for words in ("Gaussian mu 2", "Gram matrix of (1, y, x)", "Entries", "spent so far"):
        assert words in text
    assert "nothing drawn with it is private" in Page(report_html([], dp.Ledger.for_audit())).text


def test_every_result_is_welcome_and_nothing_else(plain, sparse, tmp_path):
    """Estimators, results, moments and releases; a stranger is refused by type."""
    rng = np.random.default_rng(2)
    model = dp.FunctionalLinearRegression(
        budget=dp.Gdp(mu=5), x_bounds=dp.Box(lower=0, upper=1), y_bounds=dp.Interval(0, 1), adjacency=dp.Replace()
    ).fit(rng.random((50, 2)), rng.random(50))
    for result in (model, model.result(), model.moments_, model.release_, sparse, [plain, sparse]):
        assert "<!doctype html>" in report_html(result)
    for stranger in (3, "model", {"coef": 1}, object()):
        with pytest.raises(InvalidType, match="released results"):
            report_html(stranger)
    with pytest.raises(InvalidType, match="`ledger`"):
        report_html(plain, ledger=tmp_path)


def test_the_page_is_the_same_for_the_same_release(plain, tmp_path):
    """Nothing random is in a page, and a saved release gives the page of the release."""
    plain.save(tmp_path / "m.json")
    again = dp.RegressionResult.load(tmp_path / "m.json")
    pages = []
    for result in (plain, again):
        write_report(result, path=tmp_path / "r.html")
        pages.append(Page((tmp_path / "r.html").read_text()).text)
    assert pages[0] == pages[1]


def test_cli_08_sem_14_no_statistic_of_the_rows_is_on_the_page():
    """CLI-08, SEM-14: neither a cell nor a minimum, maximum or mean of the rows is in the page's text."""
    rng = np.random.default_rng(3)
    y, x = rng.random(300) * 0.123456789, rng.random(300) * 0.987654321
    schema = dp.Schema({"y": dp.Number(0, 1), "x": dp.Number(0, 1)}, adjacency=dp.Replace())
    result = dp.release_moments(pa.table({"y": y, "x": x}), schema, budget=dp.Pure(epsilon=1)).regress("y ~ x")
    text = Page(report_html(result)).text
    slope, intercept = np.polyfit(x, y, 1)
    for number in (*y, *x, y.min(), x.max(), y.mean(), x.mean(), slope, intercept):
        told = f"{number:.6g}"
        # A short number stands on the page for something else.
        assert len(told) < 8 or told not in text
