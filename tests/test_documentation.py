"""What the documentation shows is what happens."""

import doctest
import gzip
import importlib
import pkgutil
import re
import shlex
import warnings
from pathlib import Path

import pytest

import discreet
from discreet.cli.main import main
from discreet.privacy import release as door
from scripts_for_tests import EXPERIMENTS, script

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(discreet.__path__, "discreet.")
    if not module.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_run(name):
    """Every example in a docstring prints what it says."""
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in doctest.DocTestFinder().find(importlib.import_module(name), name):
        if test.examples:  # most docstrings have none, and a debugger would be made for each
            runner.run(test)
    assert runner.summarize().failed == 0


@pytest.mark.parametrize("name", ["adaptive_grids", "descent_not_private"])
def test_the_examples_of_experiments_run(name):
    """So does every example of what only experiments and tests use."""
    outcome = doctest.testmod(script(name, EXPERIMENTS), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    """The README's Python block runs as it stands, warns of nothing, and leaves its ledger behind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(door, "_told", False)
    warnings.simplefilter("error")
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    exec(compile(block, "README.md", "exec"), {})  # noqa: S102  (our own README)
    assert "Pure(epsilon=1) Pure(epsilon=1)" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["people.ledger"]


def test_the_commands_of_the_readme_run(tmp_path, monkeypatch, capsys):
    """The README's command lines run one after the other, in a folder that holds the file of words they name."""
    monkeypatch.chdir(tmp_path)
    words = "".join(f"{k % 2} {k + 1}:1 {k + 50}:0.5\n" for k in range(200))
    (tmp_path / "words.svm.gz").write_bytes(gzip.compress(words.encode()))
    blocks = re.findall(r"```\n(discreet .*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    assert len(lines) == 8
    for line in lines:
        assert main(shlex.split(line, comments=True)[1:]) == 0, capsys.readouterr().err
    # None of them spends unseen, and the labels of the sparse example are declared.
    assert "--no-ledger" not in " ".join(lines)
    assert "not private" not in capsys.readouterr().out


def test_every_proof_that_is_cited_is_there():
    """A docstring that cites a proof page cites one that exists, and every page is cited."""
    sources = "".join(path.read_text() for path in Path(discreet.__file__).parent.rglob("*.py"))
    cited = set(re.findall(r"docs/proofs/(\w+)\.md", sources))
    assert cited == {path.stem for path in (ROOT / "docs" / "proofs").glob("*.md")}


def test_the_examples_of_schema_files_are_some(tmp_path):
    """The schemas that the documentation shows can be read, and say the same after a round trip."""
    from discreet.tables.schema.schema import Schema

    blocks = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "schema.md").read_text(), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        (tmp_path / "s.toml").write_text(block)
        schema = Schema.from_toml(tmp_path / "s.toml")
        assert Schema.from_json(schema.to_json()) == schema


def test_the_page_of_the_house_draws_every_room():
    """ARCHITECTURE.md names every folder of the package, nested as they are, and no other."""
    drawing = (ROOT / "ARCHITECTURE.md").read_text().split("```")[1]
    drawn, above = set(), []
    for line in drawing.splitlines():
        room = re.match(r"( +)(\w+)/ ", line)
        if room:
            depth = len(room[1]) // 2
            above = [*above[: depth - 1], room[2]]
            drawn.add("/".join(above))
    package = Path(discreet.__file__).parent
    assert drawn == {path.parent.relative_to(package).as_posix() for path in package.rglob("__init__.py")} - {"."}


@pytest.mark.parametrize(
    "phrase",
    [
        r"who pays",
        r"\bpays;",
        r"went astray",
        r"rows bear",
        r"descent is told",
        r"says what it lacks",
        r"is told, and",
        r"\bspeaks? of\b",
        r"would obey",
        r"asked of its",
        r"\b(is|are) told (by|in|one by one|as|the)\b",
        r"SettledBlock",
        r"\bstaged\b",
    ],
)
def test_code_is_no_person(phrase):
    """Phrases that were taken out of code, messages and guides do not come back."""
    places = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    assert len(places) > 300
    found = [path.name for path in places if re.search(phrase, path.read_text(encoding="utf-8"), re.IGNORECASE)]
    assert found == []
