"""Two neighbouring tables, fitted with equal coins, leave the same traces but for the released numbers."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

import discreet as dp

SCHEMA = {
    "income": dp.Number(0, 100, missing="drop"),
    "age": dp.Number(18, 90),
    "region": dp.Category(("north", "south"), missing="drop"),
}


def _neighbors(adjacency):
    rng = np.random.default_rng(4)
    table = pd.DataFrame(
        {
            "income": rng.uniform(0, 100, 300),
            "age": rng.integers(18, 91, 300).astype(float),
            "region": rng.choice(["north", "south"], 300),
        }
    )
    other = table.copy()
    if isinstance(adjacency, dp.AddRemove):
        return table, other[1:]
    other.loc[0, ["income", "age"]] = [np.inf, 1e300]
    other.loc[0, "region"] = "undeclared"
    return table, other


@pytest.mark.parametrize("adjacency", [dp.Replace(), dp.AddRemove()], ids=repr)
@pytest.mark.parametrize("budget", [dp.Pure(epsilon="0.1"), dp.Gdp(mu="0.1")], ids=repr)
def test_neighboring_tables_leave_files_of_one_layout(adjacency, budget, tmp_path, capfd, recwarn):
    """Same files, same ledger, same messages and warnings; a record that is wholly broken is no exception."""
    schema = dp.Schema(SCHEMA, adjacency=adjacency)
    traces = []
    for number, table in enumerate(_neighbors(adjacency)):
        ledger = dp.Ledger(total=budget, adjacency=adjacency, coins=dp.privacy.Coins.from_seed(1))
        moments = dp.release_moments(table, schema, budget=budget, ledger=ledger)
        moments.save(tmp_path / f"{number}.json")
        content = json.loads((tmp_path / f"{number}.json").read_text())
        triangle = content.pop("upper_triangle")
        entries = [(entry.number, entry.cost, entry.event.to_json()) for entry in ledger.entries]
        traces.append((content, len(triangle), entries, str(moments.release.notes), capfd.readouterr(), len(recwarn)))
        assert vars(moments).keys() == {"layout", "release", "design"}
    assert traces[0] == traces[1]


def test_a_pickled_release_holds_declarations_and_the_release(tmp_path):
    """A pickle is as small for a large table as for a small one."""
    schema = dp.Schema(SCHEMA, adjacency=dp.AddRemove())
    table, _ = _neighbors(dp.AddRemove())
    large = pd.concat([table] * 100)
    sizes = []
    for rows in (table, large):
        moments = dp.release_moments(rows, schema, budget=dp.Pure(epsilon="0.1"))
        sizes.append(len(pickle.dumps(moments)))
    assert abs(sizes[0] - sizes[1]) < 64
    assert max(sizes) < 10_000
