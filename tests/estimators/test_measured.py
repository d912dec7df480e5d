"""What the defaults and the front door's choice lose on real tables, with the targets in them: nightly."""

import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.nightly

HERE = Path(__file__).parent
EXPERIMENTS = HERE.parents[1] / "experiments"
DATA = Path(os.environ.get("DISCREET_DATA", "../shared/data"))
# The best of a grid of fixed settings in hindsight, which no rule changes: from experiments/dense_tables.py.
HINDSIGHT = json.loads((HERE / "hindsight.json").read_text())
MOST = 1.5


@pytest.fixture(scope="module", autouse=True)
def _experiments():
    """Let the scripts be imported."""
    if not DATA.is_dir():
        pytest.skip("DISCREET_DATA is not there: real tables are not in the package")
    os.environ["DISCREET_DATA"] = str(DATA.resolve())
    sys.path.insert(0, str(EXPERIMENTS))
    yield
    sys.path.remove(str(EXPERIMENTS))


def _name(cell):
    table, loss, n, currency, epsilon = cell["cell"]
    return f"{table}-{loss}-{n}-{currency}-{epsilon}"


@pytest.fixture(scope="module")
def subsamples():
    """Return the subsamples of a table; those of the last one are kept."""
    import dense_tables
    import descent_defaults

    kept = {}

    def of(name, loss, n):
        if (name, loss, n) not in kept:
            kept.clear()
            A, y, norm = getattr(dense_tables, name)(loss)
            rng = np.random.default_rng(0)
            chosen = [rng.choice(len(A), n, replace=False) for _ in range(dense_tables.N_SUBSAMPLES)]
            kept[name, loss, n] = [descent_defaults.table(A[i], y[i], loss, norm) for i in chosen]
        return kept[name, loss, n]

    return of


def _cells():
    for cell in HINDSIGHT:
        known = cell.get("measured")
        marks = (
            ()
            if known is None
            else pytest.mark.xfail(strict=True, reason=f"a miss: {known} times the best in hindsight, target {MOST}")
        )
        yield pytest.param(cell, id=_name(cell), marks=marks)


@pytest.mark.parametrize("cell", list(_cells()))
def test_the_untuned_default_is_near_the_best_in_hindsight(cell, subsamples):
    """Median of 20 subsamples, three draws each: at most 1.5 times the best fixed settings."""
    import dense_tables
    from descent_defaults import rule, score
    from preconditioned_prototype import Cost

    name, loss, n, currency, epsilon = cell["cell"]
    tables = subsamples(name, loss, n)
    cost = Cost(epsilon=float(epsilon)) if currency == "Pure" else Cost(mu=dense_tables.MUS[epsilon])
    k = rule(loss, n, tables[0].A.shape[1], tables[0].norm_squared, cost)
    assert score(tables, cost, k, dense_tables.SCORE) <= MOST * cell["hindsight"]


def test_the_front_doors_choice_is_near_the_best_single_method():
    """In 90 % of a grid of at most 200 cells within 1.2 times, or 5e-5, of it; and noise that wins is named."""
    import front_door

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cells = [cell for case in front_door.cases() for cell in front_door.judged(case, front_door.measure(case, 4))]
    lost = [f"{cell.where} {cell.risks}" for cell in cells if not cell.good]
    assert 150 <= len(cells) <= 200
    assert len(lost) <= 0.1 * len(cells), lost
    assert not [cell for cell in cells if cell.unsaid]


@pytest.mark.xfail(
    strict=True,
    reason="a miss: Census income, Pure(0.01): 7.5 times the constant's risk, said in 1 of 6 runs; steps do not "
    "reach the target's mean; ACS national, Pure(0.03): 1.1 times, said in 2 of 6",
)
def test_where_noise_beats_the_best_constant_auto_says_so(monkeypatch):
    """At an epsilon of 0.01 and 0.03 many a fit is worse than the mean; each of them is called noise-dominated."""
    import front_door

    monkeypatch.setattr(front_door, "EPSILONS", ("0.01", "0.03"))
    monkeypatch.setattr(
        front_door, "methods_of", lambda case, budget, of=front_door.methods_of: [of(case, budget)[0]] * 2
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tables = [case for case in front_door.cases() if case.n_rows <= 50_000]
        cells = [
            (case.name, case.loss, cell)
            for case in tables
            for cell in front_door.judged(case, front_door.measure(case, 6))
        ]
    worse = [(name, loss, cell) for name, loss, cell in cells if cell.risks[cell.auto] > cell.null]
    assert len(worse) > 10
    assert not [(name, loss, cell.where) for name, loss, cell in worse if cell.unsaid]
