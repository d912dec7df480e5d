"""Predictions of `discreet predict` from Parquet to CSV against a plain loop of pyarrow and numpy.

Run ``python benchmarks/predict.py --rows 2000000``. The promise: at least 500,000 rows a second on 14 columns.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

import discreet as dp
from discreet.cli.main import main as command
from timing import ratio, report, show

COLUMNS = 14
TARGET = 500_000


def write_inputs(folder: Path, n_rows: int) -> None:
    """Write a table of 14 columns and two models of it, of a Gram matrix and of the front door."""
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(COLUMNS)]
    table = {name: rng.uniform(0.0, 100.0, n_rows) for name in names}
    pq.write_table(pa.table(table), folder / "rows.parquet", row_group_size=122_880)
    few = {name: cells[:20_000] for name, cells in table.items()}
    few["y"] = np.clip(few["x0"], 0.0, 100.0)
    schema = dp.Schema({name: dp.Number(0, 100) for name in [*names, "y"]}, adjacency=dp.Replace())
    formula = "y ~ " + " + ".join(names)
    ledger = dp.Ledger(total=dp.Gdp(mu=2000), adjacency=dp.Replace())
    moments = dp.release_moments(pa.table(few), schema, budget=dp.Gdp(mu=1000), ledger=ledger)
    moments.regress(formula).save(folder / "gram.json")
    model = dp.LinearRegression(budget=dp.Gdp(mu=1000), adjacency=dp.Replace(), schema=schema)
    model.fit_table(pa.table(few), formula, ledger=ledger)
    model.save(folder / "door.json")


def plain(folder: Path) -> None:
    """Predict as a user would who needs neither clipping nor a check of cells."""
    model = dp.RegressionResult.load(folder / "gram.json")
    names = list(model.feature_names)
    schema = pa.schema([("prediction", pa.float64())])
    with pa_csv.CSVWriter(folder / "plain.csv", schema) as writer:
        for batch in pq.ParquetFile(folder / "rows.parquet").iter_batches(columns=names):
            block = np.column_stack([batch.column(name).to_numpy() for name in names])
            writer.write(pa.record_batch([block @ model.coef_ + model.intercept_], schema=schema))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder, options.rows)
        for model, more in (("gram", []), ("door", []), ("gram", ["--keep", "x0"])):

            def ours(model: str = model, more: list[str] = more) -> None:
                arguments = ["predict", f"{folder}/{model}.json", f"{folder}/rows.parquet", "-o", f"{folder}/p.csv"]
                if command([*arguments, *more, "--force"]):
                    raise SystemExit(1)

            found, our_seconds, _ = ratio(ours, lambda: plain(folder), pairs=options.pairs)
            what, speed = f"predict {' '.join([model, *more])}, {COLUMNS} columns", options.rows / our_seconds
            if more:  # without a target: how long it takes depends on what is kept
                show(what, speed, unit="rows/s")
            else:
                report(what, speed, TARGET, at_most=False, unit="rows/s")
            show(f"{what}, against a plain loop", found, unit="times its time")


if __name__ == "__main__":
    main()
