"""Readers against plain loops over the same cells: time, and for Parquet memory.

Run ``python benchmarks/readers.py --rows 10000000``; smaller sizes show the same ratio.

Parquet to exact Gram matrix: at most 1.3 times the same loop with a plain matrix product, less than 600 MB, within 10 %
of what a tenth of the rows needs.
Reading alone: at most 1.1 times the ratio to the plain loop that readers had before they held each record apart, 1.3
times in CSV files that quote every cell. Those ratios stand in `BEFORE`: CSV 1.09, quoted CSV 1.02, Parquet 1.11 and
frames 1.29, each the middle of two or three runs on 400,000 rows of 14 columns, on one busy machine.
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
from typing import Any

from timing import report

THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
ROW_GROUP = 122_880

# Of reading alone: (the ratio before, how many times of it are allowed).
BEFORE = {"csv": (1.09, 1.1), "quoted csv": (1.02, 1.3), "parquet": (1.11, 1.1), "frame": (1.29, 1.1)}


def write_table(path: Path, n_rows: int, n_columns: int) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(n_columns)]
    writer: Any = None
    for start in range(0, n_rows, ROW_GROUP):
        n = min(ROW_GROUP, n_rows - start)
        batch = pa.table({name: rng.uniform(0.0, 100.0, n) for name in names})
        writer = writer or pq.ParquetWriter(path, batch.schema)
        writer.write_table(batch, row_group_size=ROW_GROUP)
    writer.close()


def write_csv(path: Path, source: Path, *, quoted: bool) -> None:
    """Write the cells of a Parquet file with four digits."""
    import pyarrow.parquet as pq

    mark = '"' if quoted else ""
    with path.open("w", newline="") as file:
        names = pq.read_schema(source).names
        file.write(",".join(f"{mark}{name}{mark}" for name in names) + "\n")
        for batch in pq.ParquetFile(source).iter_batches():
            columns = [[f"{mark}{cell:.4f}{mark}" for cell in column.to_pylist()] for column in batch.columns]
            file.writelines(",".join(row) + "\n" for row in zip(*columns, strict=True))


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
    from discreet.tables.design import Design
    from discreet.tables.readers.tables import open_table
    from discreet.tables.schema.columns import Number
    from discreet.tables.schema.schema import Schema

    design = Design.for_terms(None, Schema({name: Number(0, 100) for name in names}))
    total = GramSum(design.layout)
    for block in open_table(path, design.schema, design.columns_needed).blocks():
        total.add(design.encode(block))
    return total.gram


def plain_read(source: Any, names: list[str]) -> int:
    """Clip every cell, and no more."""
    import numpy as np
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    if not isinstance(source, Path):
        batches: Any = [source]
    elif source.suffix == ".csv":
        batches = pa_csv.open_csv(source, pa_csv.ReadOptions(block_size=2**22, use_threads=False))
    else:
        batches = pq.ParquetFile(source, pre_buffer=False).iter_batches(columns=names)
    n_rows = 0
    for batch in batches:
        for name in names:
            cells = np.clip(batch[name].to_numpy(), 0.0, 100.0)
        n_rows += cells.size
    return n_rows


def exact_read(source: Any, names: list[str]) -> int:
    """Read every cell as declared."""
    from discreet.tables.readers.tables import open_table
    from discreet.tables.schema.columns import Number
    from discreet.tables.schema.schema import Schema

    schema = Schema({name: Number(0, 100) for name in names})
    return sum(block.n_rows for block in open_table(source, schema).blocks())


HOW = {"plain": plain, "exact": exact, "plain read": plain_read, "exact read": exact_read}


def worker(how: str, path: Path, n_columns: int, *, as_frame: bool) -> None:
    import pyarrow as pa

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    names = [f"x{j}" for j in range(n_columns)]
    source: Any = path
    if as_frame:
        import pandas as pd

        source = pd.read_parquet(path)
    seconds = []
    # Imports, and the file's way into memory, are in the first of several runs alone.
    for _ in range(4 if "read" in how else 1):
        # Processor time of one thread: other programs on the machine disturb it least.
        start = time.process_time()
        HOW[how](source, names)
        seconds.append(time.process_time() - start)
    print(json.dumps({"seconds": min(seconds), "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def measure(how: str, path: Path, n_columns: int, *, as_frame: bool = False) -> dict[str, float]:
    command = [sys.executable, __file__, "--worker", how, "--file", str(path), "--columns", str(n_columns)]
    command += ["--as-frame"] if as_frame else []
    found = subprocess.run(command, env={**os.environ, **THREADS}, capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(found.stdout)
    return result


def print_gram(large: Path, small: Path, n_columns: int, repeats: int) -> None:
    runs = [(measure("plain", large, n_columns), measure("exact", large, n_columns)) for _ in range(repeats)]
    tenth = measure("exact", small, n_columns)
    base = min(run["seconds"] for run, _ in runs)
    ours = min(run["seconds"] for _, run in runs)
    peak = max(run["peak_mb"] for _, run in runs)
    print(f"plain loop        {base:8.3f} s   {runs[0][0]['peak_mb']:7.1f} MB")
    print(f"exact on the grid {ours:8.3f} s   {peak:7.1f} MB")
    print(f"memory of a tenth of the rows {tenth['peak_mb']:.1f} MB")
    report("Parquet to exact Gram matrix over a plain loop", ours / base, 1.3, at_most=True)
    report("Parquet to exact Gram matrix, peak memory", peak, 600, at_most=True, unit="MB")
    report("its memory over that of a tenth of the rows", peak / tenth["peak_mb"], 1.1, at_most=True)


def print_readers(paths: dict[str, Path], n_columns: int, repeats: int) -> None:
    print(f"reading alone {'plain':>10} {'ours':>10} {'ratio':>8}")
    for kind, path in paths.items():
        as_frame = kind == "frame"
        pairs = [
            [measure(how, path, n_columns, as_frame=as_frame)["seconds"] for how in ("plain read", "exact read")]
            for _ in range(repeats)
        ]
        base, ours = (min(seconds) for seconds in zip(*pairs, strict=True))
        before, allowed = BEFORE[kind]
        print(f"{kind:13} {base:8.3f} s {ours:8.3f} s {ours / base:8.2f}     (before {before:.2f})")
        report(f"reading {kind} over a plain loop", ours / base, round(before * allowed, 3), at_most=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=14)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--reading-rows", type=int, default=400_000)
    parser.add_argument("--worker", choices=list(HOW))
    parser.add_argument("--file", type=Path)
    parser.add_argument("--as-frame", action="store_true")
    options = parser.parse_args()
    if options.worker:
        worker(options.worker, options.file, options.columns, as_frame=options.as_frame)
        return
    with tempfile.TemporaryDirectory() as folder:
        large, small, table = (Path(folder) / f"{name}.parquet" for name in ("large", "small", "table"))
        write_table(large, options.rows, options.columns)
        write_table(small, max(options.rows // 10, 1), options.columns)
        print(f"rows {options.rows:,} x {options.columns}")
        print_gram(large, small, options.columns, options.repeats)
        write_table(table, options.reading_rows, options.columns)
        paths = {"csv": Path(folder) / "plain.csv", "quoted csv": Path(folder) / "quoted.csv"}
        for kind, path in paths.items():
            write_csv(path, table, quoted=kind == "quoted csv")
        print(f"rows {options.reading_rows:,} x {options.columns}")
        print_readers(paths | {"parquet": table, "frame": table}, options.columns, options.repeats)


if __name__ == "__main__":
    main()
