"""Parquet to exact Gram matrix against the same loop with a plain matrix product: time and memory.

Run ``python benchmarks/readers.py --rows 10000000``; smaller sizes show the same ratio.
The promise: at most 1.3 times the plain loop, less than 600 MB, within 10 % of what a tenth of the rows needs.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
ROW_GROUP = 122_880


def write_table(path: Path, n_rows: int, n_columns: int) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(n_columns)]
    writer = None
    for start in range(0, n_rows, ROW_GROUP):
        n = min(ROW_GROUP, n_rows - start)
        batch = pa.table({name: rng.uniform(0.0, 100.0, n) for name in names})
        writer = writer or pq.ParquetWriter(path, batch.schema)
        writer.write_table(batch, row_group_size=ROW_GROUP)
    writer.close()


def plain(path: Path, names: list[str]) -> object:
    """Sum the Gram matrix of the raw cells, as a user would who needs no guarantee."""
    import numpy as np
    import pyarrow.parquet as pq

    gram = np.zeros((len(names) + 1, len(names) + 1))
    for batch in pq.ParquetFile(path, pre_buffer=False).iter_batches(columns=names):
        block = np.empty((len(names) + 1, batch.num_rows))
        block[0] = 1.0
        for j, name in enumerate(names):
            block[j + 1] = batch.column(name).to_numpy()
        gram += block @ block.T
    return gram


def exact(path: Path, names: list[str]) -> object:
    """Sum the exact Gram matrix on the public grid."""
    from discreet.lattice.gram import GramSum
    from discreet.tables.columns import Number
    from discreet.tables.design import Design
    from discreet.tables.readers import open_table
    from discreet.tables.schema import Schema

    design = Design.for_terms(None, Schema({name: Number(0, 100) for name in names}))
    total = GramSum(design.layout)
    for block in open_table(path, design.schema, design.columns_needed).blocks():
        total.add(design.encode(block))
    return total.gram


def worker(how: str, path: Path, n_columns: int) -> None:
    import pyarrow as pa

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    names = [f"x{j}" for j in range(n_columns)]
    run = {"plain": plain, "exact": exact}[how]
    # Processor time of one thread: other programs on the machine disturb it least.
    start = time.process_time()
    run(path, names)
    seconds = time.process_time() - start
    print(json.dumps({"seconds": seconds, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def measure(how: str, path: Path, n_columns: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--worker", how, "--file", str(path), "--columns", str(n_columns)]
    found = subprocess.run(command, env={**os.environ, **THREADS}, capture_output=True, text=True, check=True)
    return json.loads(found.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=14)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--worker", choices=["plain", "exact"])
    parser.add_argument("--file", type=Path)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker, options.file, options.columns)
        return
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder) / "large.parquet", Path(folder) / "small.parquet"
        write_table(large, options.rows, options.columns)
        write_table(small, max(options.rows // 10, 1), options.columns)
        runs = [
            (measure("plain", large, options.columns), measure("exact", large, options.columns))
            for _ in range(options.repeats)
        ]
        tenth = measure("exact", small, options.columns)
    base = min(run["seconds"] for run, _ in runs)
    ours = min(run["seconds"] for _, run in runs)
    peak = max(run["peak_mb"] for _, run in runs)
    print(f"rows {options.rows:,} x {options.columns}")
    print(f"plain loop        {base:8.3f} s   {runs[0][0]['peak_mb']:7.1f} MB")
    print(f"exact on the grid {ours:8.3f} s   {peak:7.1f} MB")
    print(f"ratio             {ours / base:8.3f}     (at most 1.3)")
    print(f"memory of a tenth of the rows {tenth['peak_mb']:.1f} MB; ratio {peak / tenth['peak_mb']:.3f} (at most 1.1)")


if __name__ == "__main__":
    main()
