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
