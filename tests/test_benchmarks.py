"""`make bench`: every script runs, whatever one of them says, and one table tells everything at the end."""

import json
import os
import shutil
import sys

import pytest

from scripts_for_tests import BENCHMARKS, script

bench = script("bench")
EARLY = "from timing import report\nreport('early', {}, 2, at_most=True)\nraise ValueError('late')\n"
SCRIPTS = {
    "absent_package": "import no_such_package_of_anybody\nfrom timing import report\n",
    "crashes": EARLY.format(1),
    "crashes_after_a_miss": EARLY.format(3),
    "dies": "import os\nfrom timing import report\nos._exit(3)\n",
    "misses": 'import sys\nfrom timing import report\nsys.exit(not report("speed", 3, 9, at_most=False))\n',
    "misses_softly": 'from timing import report\nreport("time", 3, 2, at_most=True, unit="s")\n',
    "works": 'from timing import report, show\nreport("ratio", 1.5, 2, at_most=True)\nshow("time", 0.25, unit="s")\n',
    "waits": "import time\nfrom timing import report\ntime.sleep(60)\n",
    "silent": "from timing import report\n",
}


@pytest.fixture
def run(tmp_path, capfd):
    """Run planted scripts, and return the exit code, the last table and the document that is written."""
    shutil.copy(BENCHMARKS / "timing.py", tmp_path)
    for name, text in SCRIPTS.items():
        (tmp_path / f"{name}.py").write_text(text)

    def run(*names, options=()):
        output = tmp_path / "results" / "figures.json"
        code = bench.main([*names, "--output", str(output), *options], folder=tmp_path)
        table = capfd.readouterr().out.rpartition("\n\n")[2]
        return code, table, json.loads(output.read_text())

    return run


def test_no_script_stops_the_others(run):
    """Scripts that miss, crash, die, are missing or run too long are told, the rest runs, and the exit code is 1."""
    names = ["absent_package", "crashes", "crashes_after_a_miss", "dies", "misses", "nowhere", "waits", "works"]
    code, table, document = run(*names, options=["--limit", "5"])
    assert code == 1
    assert [told["script"] for told in document["scripts"]] == names
    ended = {told["script"]: told["ended"] for told in document["scripts"]}
    assert ended == {
        "absent_package": "ended with 1",
        "crashes": "crashed: ValueError",
        "crashes_after_a_miss": "crashed: ValueError",
        "dies": "ended with 3",
        "misses": "done",
        "nowhere": "is missing",
        "waits": "took longer than 5 s",
        "works": "done",
    }
    assert (document["missed"], document["failed"]) == (2, 6)
    lines = table.splitlines()
    assert sum(line.endswith("MISSED") for line in lines) == 8
    assert sum(line.endswith(" met") for line in lines) == 2
    assert any(line.startswith("works") and "at most 2" in line and "1.5" in line for line in lines)


@pytest.mark.parametrize("name", ["misses", "misses_softly"])
def test_a_missed_target_ends_with_1(run, name):
    """Whether a script tells it by its own exit code or not, a missed target is a missed target."""
    code, _, document = run(name, "works")
    assert code == 1
    assert (document["missed"], document["failed"]) == (1, 0)


def test_all_targets_met_end_with_0(run):
    """Where nothing is missed the exit code is 0; a script without a figure is named, and is no failure."""
    code, table, document = run("silent", "works")
    assert code == 0
    assert "silent             reported no figure" in table
    assert (document["missed"], document["failed"]) == (0, 0)


def test_every_figure_is_written_with_what_it_depends_on(run, monkeypatch):
    """The file holds figures with and without a target, the load, the processor, its kernel and the packages."""
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    _, _, document = run("works")
    (told,) = document["scripts"]
    ratio = {"name": "ratio", "figure": 1.5, "unit": "", "bound": "at most", "target": 2, "met": True}
    assert told["figures"] == [ratio, {"name": "time", "figure": 0.25, "unit": "s"}]
    assert len(told["load"]) == 2
    machine = document["machine"]
    assert machine["cores"] == os.cpu_count()
    assert machine["python"] == ".".join(map(str, sys.version_info[:3]))
    assert machine["environment"]["OPENBLAS_CORETYPE"] == "Haswell"
    assert {"numpy", "scipy", "discreet"} <= machine["packages"].keys()
    assert machine["cpu"]
    assert "load" in machine


def test_figures_stand_beside_those_of_an_earlier_run(run, tmp_path):
    """A file of an earlier run fills the table's column `before`."""
    _, table, document = run("works")
    assert "0.7777" not in table
    document["scripts"][0]["figures"][0]["figure"] = 0.7777
    (tmp_path / "earlier.json").write_text(json.dumps(document))
    _, table, _ = run("works", options=["--before", str(tmp_path / "earlier.json")])
    assert "0.7777" in table


def test_without_names_every_script_runs(run, tmp_path):
    """All files that report figures run, in order, and a file that others import does not."""
    for name in SCRIPTS.keys() - {"works", "silent"}:
        (tmp_path / f"{name}.py").unlink()
    _, _, document = run()
    assert [told["script"] for told in document["scripts"]] == ["silent", "works"]


def test_every_benchmark_reports_its_figures():
    """`make bench` runs every file of its folder but those that only others import."""
    everything = {path.stem for path in BENCHMARKS.glob("*.py")}
    assert everything - set(bench.scripts()) == {"bench", "call_facts", "source_facts", "timing"}


def test_a_figure_is_kept_only_where_it_is_asked_for(monkeypatch, tmp_path, capsys):
    """A script on its own prints its lines, with counts in whole numbers, and writes no file."""
    timing = script("timing")
    monkeypatch.delenv(timing.FIGURES, raising=False)
    monkeypatch.chdir(tmp_path)
    assert timing.report("a count", 30_028, 27_025, at_most=True) is False
    timing.show("a time", 0.123456, unit="s")
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split()[2:] == ["30028", "target", "at", "most", "27025:", "MISSED"]
    assert printed[1].split()[2:] == ["0.123", "s"]
    assert not any(tmp_path.iterdir())
    monkeypatch.setenv(timing.FIGURES, "kept")
    timing.show("a time", 0.123456, unit="s")
    assert (tmp_path / "kept").read_text().count("\n") == 1
