"""Pages in a real browser: headless Chromium opens them, sorts their tables, and checks their accessibility."""

import os
import shutil

import pytest

from discreet.report.page import report_html
from report.test_page import DOLLAR, IMAGE, moments_of

CHROMIUM = os.environ.get("DISCREET_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """A page with hostile names, two results and a ledger's worth of figures."""
    moments = moments_of(["y", IMAGE, DOLLAR])
    result = moments.regress(f"y ~ `{IMAGE}` + `{DOLLAR}` + c")
    path = tmp_path_factory.mktemp("pages") / "report.html"
    path.write_text(report_html([result, moments], title=IMAGE), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser, page_file):
    """Open the page; return it with what its console said and what it asked the network for."""
    contexts = []

    def open_page(width=1000, scheme="light", path=page_file):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        said, asked, alarms = [], [], []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.on("dialog", lambda dialog: (alarms.append(dialog.message), dialog.dismiss()))
        page.goto(path.as_uri())
        return page, said, asked, alarms

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 800, 1280])
def test_the_page_renders_without_a_word_and_without_the_network(opened, page_file, width, scheme):
    """No console message, no request but the file itself, no alarm, and nothing wider than the screen."""
    page, said, asked, alarms = opened(width, scheme)
    assert said == []
    assert alarms == []
    assert asked == [page_file.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.images.length") == 0
    assert page.locator("h1").inner_text() == IMAGE


def test_the_dark_page_is_dark_and_its_figures_follow(opened):
    """Ink and paper change places, in figures, too."""
    papers, inks = [], []
    for scheme in ("light", "dark"):
        page, *_ = opened(scheme=scheme)
        papers.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        inks.append(page.evaluate("getComputedStyle(document.querySelector('svg')).color"))
    assert papers[0] != papers[1]
    assert inks[0] != inks[1]


def test_tables_sort_by_mouse_and_keyboard(opened):
    """A click sorts by numbers, a second one turns the order, Enter does what a click does."""
    page, *_ = opened()
    table = page.locator("table.sortable").first

    def numbers():
        return [float(text) for text in table.locator("tbody tr td:nth-child(2)").all_inner_texts()]

    button = table.locator("thead th:nth-child(2) button")
    button.click()
    assert numbers() == sorted(numbers())
    assert table.locator("thead th:nth-child(2)").get_attribute("aria-sort") == "ascending"
    button.focus()
    page.keyboard.press("Enter")
    assert numbers() == sorted(numbers(), reverse=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_no_fault(opened, width, scheme):
    """The automated accessibility check passes: contrast, names, roles, headings."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page, *_ = opened(width, scheme)
    found = axe.Axe().run(page)
    assert [violation["id"] for violation in found.response["violations"]] == [], found.generate_report()


def test_axe_would_find_a_fault(browser):
    """The check has teeth: a picture without words is found."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = browser.new_page()
    page.set_content("<main><h1>Title</h1><img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='></main>")
    assert "image-alt" in [violation["id"] for violation in axe.Axe().run(page).response["violations"]]
    page.close()


def test_a_planning_page_is_as_good(opened, tmp_path):
    """The same of the planning page."""
    from discreet.cli.main import main
    from report.test_planning import SCHEMA

    (tmp_path / "s.toml").write_text(SCHEMA)
    plan = tmp_path / "plan.html"
    options = ["--rows", "5000", "--epsilon", "1", "--schema", str(tmp_path / "s.toml"), "--report", str(plan)]
    assert main(["plan", "y ~ x", *options]) == 0
    page, said, asked, _ = opened(360, path=plan)
    assert said == []
    assert asked == [plan.as_uri()]
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = axe.Axe().run(page)
    assert [violation["id"] for violation in found.response["violations"]] == [], found.generate_report()
