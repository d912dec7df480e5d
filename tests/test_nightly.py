"""What takes too long for every change: the laws at scale 2**20, a million rows, many processes for long."""

import multiprocessing
from fractions import Fraction

import mpmath
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.stats

import discreet as dp
from discreet.functional.moments import TableRows
from discreet.lattice.noise.gaussian import rounded_gaussian
from discreet.lattice.noise.laplace import rounded_laplace
from discreet.privacy.coins import Coins
from discreet.tables.array_rows import ArrayRows
from discreet.tables.design import Design
from discreet.tables.readers.tables import open_table
from privacy.ledger_workers import ask_for_a_quarter

pytestmark = pytest.mark.nightly

SCALE = 2**20
CDFS = {
    "laplace": lambda z: mpmath.exp(z) / 2 if z < 0 else 1 - mpmath.exp(-z) / 2,
    "gaussian": mpmath.ncdf,
}
QUANTILES = {"laplace": scipy.stats.laplace.ppf, "gaussian": scipy.stats.norm.ppf}


def _p_value(draws, law, scale):
    """Return the chi-square p-value on 400 cells of nearly equal chance, whose chances are exact."""
    edges = np.round(QUANTILES[law](np.arange(1, 400) / 400) * SCALE)
    below = [0.0, *(float(CDFS[law]((mpmath.mpf(int(edge)) - mpmath.mpf(1) / 2) / scale)) for edge in edges), 1.0]
    observed = np.bincount(np.searchsorted(edges, draws, side="right"), minlength=400)
    return scipy.stats.chisquare(observed, np.diff(below) * draws.size).pvalue


@pytest.mark.parametrize("step_bits", [0, 6])
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_ten_million_draws_tell_a_scale_that_is_half_a_percent_off(law, step_bits):
    """At scale 2**20 the claimed law passes, and one whose scale is 0.5 % off fails."""
    zeros, coins = np.zeros(10_000_000, dtype=np.int64), Coins.from_seed(20 + step_bits)
    if law == "laplace":
        draws = rounded_laplace(zeros, scale=Fraction(SCALE * 2**step_bits), coins=coins, step_bits=step_bits)
    else:
        variance = Fraction((SCALE * 2**step_bits) ** 2)
        draws = rounded_gaussian(zeros, variance=variance, coins=coins, step_bits=step_bits)
    assert _p_value(draws, law, mpmath.mpf(SCALE)) > 1e-3
    for wrong in (1.005, 0.995):
        assert _p_value(draws, law, mpmath.mpf(SCALE) * wrong) < 1e-6


def test_a_million_rows_have_one_gram_matrix_in_every_reader(tmp_path):
    """Array, frame, Arrow and Parquet agree in every bit at full size."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 14))
    names = [f"x{j}" for j in range(14)]
    schema = dp.Schema({name: dp.Number(-2, 3) for name in names})
    design = Design.for_terms(None, schema)
    table = pa.table(dict(zip(names, X.T, strict=True)))
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=122_880)
    expected = ArrayRows(X[:, :-1], X[:, -1], tuple(names[:-1])).private_gram(design.layout)
    for source in (X, table, table.to_pandas(), tmp_path / "rows.parquet"):
        rows = TableRows(open_table(source, schema, names), design, may_be_empty=False)
        np.testing.assert_array_equal(rows.private_gram(design.layout), expected)


def test_sixteen_processes_race_for_four_quarters_a_thousand_times(tmp_path):
    """Never five grants, never three."""
    spawn = multiprocessing.get_context("spawn")
    paths = [str(tmp_path / f"{number}.ledger") for number in range(1000)]
    granted = spawn.Array("i", len(paths))
    arguments = (spawn.Barrier(16), paths, granted)
    processes = [spawn.Process(target=ask_for_a_quarter, args=arguments) for _ in range(16)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert list(granted) == [4] * len(paths)
