"""Files that earlier versions wrote are read, say the same numbers, and are printed."""

import json
import math
import re
import shutil
from pathlib import Path

import pytest

import discreet as dp
from discreet.cli.main import main
from discreet.errors import LedgerUnusable
from discreet.privacy.events.event import _MODULES
from golden.regenerate import NUMBERS, numbers_of

HERE = Path(__file__).parent
FILES = [path for folder in sorted(HERE.iterdir()) for path in sorted(folder.glob("*.*")) if path.name != NUMBERS]
FILES = [path for path in FILES if path.suffix in {".json", ".ledger"}]
LEDGERS = [path for path in FILES if path.suffix == ".ledger"]
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def name_of(path):
    return f"{path.parent.name}-{path.name}"


@pytest.fixture
def copied(tmp_path):
    """Return a copy: opening a ledger may write beside it."""

    def copy(path):
        return Path(shutil.copy(path, tmp_path / path.name))

    return copy


def same(found, kept, where=""):
    """Assert that two documents are equal, numbers up to the rounding of another machine's linear algebra."""
    if isinstance(kept, dict):
        assert isinstance(found, dict), where
        # What a newer version says besides is allowed.
        assert set(kept) <= set(found), where
        for name in kept:
            same(found[name], kept[name], f"{where}/{name}")
    elif isinstance(kept, list):
        assert len(found) == len(kept), where
        for number, (one, other) in enumerate(zip(found, kept, strict=True)):
            same(one, other, f"{where}/{number}")
    elif isinstance(kept, float):
        assert math.isclose(found, kept, rel_tol=1e-6, abs_tol=1e-9), where
    elif isinstance(kept, str) and "remarks" in where:
        assert _NUMBER.sub("#", found) == _NUMBER.sub("#", kept), where
        same(list(map(float, _NUMBER.findall(found))), list(map(float, _NUMBER.findall(kept))), where + "/numbers")
    else:
        assert found == kept, where


def test_every_kind_of_file_is_kept():
    """Regressions, moments, models of the front door, sparse models, draws and ledgers; of rows and of persons."""
    kinds = {json.loads(path.read_text(encoding="utf-8"))["kind"] for path in FILES if path.suffix == ".json"}
    assert {"regression", "moments", "model", "sparse-model", "quantiles", "components"} <= kinds
    assert LEDGERS
    for folder in {path.parent for path in FILES}:
        kept = json.loads((folder / NUMBERS).read_text(encoding="utf-8"))
        assert sorted(kept) == sorted(path.name for path in FILES if path.parent == folder)
    written = {path.parent.name for path in FILES}
    assert "0.1.0" in written


def test_every_kind_of_event_is_kept():
    """Some ledger of some version has been charged with it."""
    numbers = [json.loads((path.parent / NUMBERS).read_text(encoding="utf-8"))[path.name] for path in LEDGERS]
    assert {entry["event"]["kind"] for ledger in numbers for entry in ledger["entries"]} == set(_MODULES)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_says_the_numbers_that_it_said(path, copied):
    """Estimates, intervals, prices, costs, curves and predictions are those of the version that wrote it."""
    kept = json.loads((path.parent / NUMBERS).read_text(encoding="utf-8"))[path.name]
    same(json.loads(json.dumps(numbers_of(copied(path)))), kept)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_is_printed(path, copied, capsys):
    """`discreet show` prints it, and its JSON is strict."""
    here = copied(path)
    assert main(["show", str(here)]) == 0
    text = capsys.readouterr()
    assert text.out.strip()
    assert not text.err
    assert main(["show", "--json", str(here)]) == 0
    json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


@pytest.mark.parametrize("path", LEDGERS, ids=name_of)
def test_a_ledger_still_pays_and_exports_one_way(path, copied, capsys, tmp_path):
    """A charge adds to what was spent; the export holds every entry and is no ledger."""
    here = copied(path)
    ledger = dp.Ledger.open(here)
    before = ledger.entries
    assert before
    # Of the currency that is summed, or one that it could price then.
    ledger.charge(before[-1].event)
    assert len(dp.Ledger.open(here).entries) == len(before) + 1
    assert main(["ledger", "--json", str(here)]) == 0
    exported = tmp_path / "export.json"
    exported.write_text(capsys.readouterr().out, encoding="utf-8")
    document = json.loads(exported.read_text(encoding="utf-8"))
    assert [entry["event"] for entry in document["entries"][:-1]] == [entry.event.to_json() for entry in before]
    content = exported.read_bytes()
    with pytest.raises(LedgerUnusable):
        dp.Ledger.open(exported)
    assert exported.read_bytes() == content


def test_the_kept_ledgers_are_left_alone():
    """Nothing is written beside the kept files."""
    assert {path.suffix for folder in HERE.iterdir() if folder.is_dir() for path in folder.glob("*.*")} <= {
        ".json",
        ".ledger",
        ".pyc",
    }
