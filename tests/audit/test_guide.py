"""The guide to audits shows what happens."""

import re
from pathlib import Path

from discreet.audit.mechanisms import registry

GUIDE = (Path(__file__).parents[2] / "docs" / "audit.md").read_text()


def test_the_example_of_the_guide_runs():
    """The noisy count is consistent, and its limits are those of epsilon 1."""
    case, call, peer = re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL)
    names = {}
    exec(compile(case, "docs/audit.md", "exec"), names)  # noqa: S102  (our own guide)
    assert not names["case"]().run(n_runs=500).violated
    exec(compile(call, "docs/audit.md", "exec"), names)  # noqa: S102
    assert names["verdict"].answer == "consistent"
    assert 0.8 < names["verdict"].epsilon() <= 1
    compile(peer, "docs/audit.md", "exec")


def test_the_table_of_the_guide_has_every_mechanism():
    """In the order of the registry, with the power that tests hold each audit to."""
    rows = re.findall(
        r"^\| ([^|]+) \| [^|]+ \| \d+ \| (?:consistent|no evidence) \|.*\| ([\d.]+) times \|$",
        GUIDE,
        flags=re.MULTILINE,
    )
    assert rows == [(entry.name, str(entry.tells)) for entry in registry().values()]
