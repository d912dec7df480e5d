"""A regression from a saved release of 200 terms: formula, repair, standard errors; one thread."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import discreet as dp
from discreet.functional.gram import PrivateGram, gram_of, plan_gram
from discreet.functional.moments import Moments
from discreet.tables.design import Design
from timing import report, seconds

N_TERMS, N_ROWS = 200, 1_000_000


def saved_release(path: Path) -> str:
    """Write a release of 200 number columns and a target; return the formula of all of them."""
    names = [f"x{j}" for j in range(N_TERMS)]
    schema = dp.Schema({name: dp.Number(-1, 1) for name in [*names, "y"]}, adjacency=dp.Replace())
    design = Design.for_terms(None, schema)
    rng = np.random.default_rng(0)
    rows = np.column_stack([np.ones(2000), rng.uniform(-1, 1, size=(2000, N_TERMS + 1))])
    rows[:, -1] = rows[:, 1:-1] @ np.linspace(-0.05, 0.05, N_TERMS) + 0.1 * rows[:, -1]
    gram = np.rint(rows.T @ rows * (N_ROWS / 2000) * 4.0**design.layout.bits).astype(np.int64)
    plan = plan_gram(
        design.layout,
        budget=dp.Gdp(mu=10),
        adjacency=dp.Replace(),
        size_is_public=True,
        statistic=gram_of(design.layout),
    )
    noisy = plan.draw(PrivateGram(gram, N_ROWS), dp.privacy.Coins.from_seed(0))
    Moments(design.layout, dp.Release(noisy, plan.event, "not private: test seed"), design).save(path)
    return f"y ~ {' + '.join(names)}"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        path = Path(folder) / "moments.json"
        formula = saved_release(path)
        moments = Moments.load(path)
        fit = moments.regress(formula)
        assert len(fit.coef_) == N_TERMS
        assert fit.why_no_intervals is None
        times = [seconds(lambda: moments.regress(formula)) for _ in range(15)]
        report(
            "regress on a saved release of 200 terms, median",
            1e3 * statistics.median(times),
            50,
            at_most=True,
            unit="ms",
        )


if __name__ == "__main__":
    main()
