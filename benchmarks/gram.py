"""The exact integer Gram matrix against a plain `X.T @ X`; one thread, ratios in one run, and where the time goes."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from discreet.lattice import gram
from discreet.lattice.gram import GramSum, gram_of_arrays
from discreet.lattice.grid import Coding, Layout, all_finite
from timing import ratio, report

if TYPE_CHECKING:
    from collections.abc import Callable

Array = NDArray[Any]
ROWS, COLUMNS = 1_000_000, 14
TARGET = 2.0


def table(rows: int = ROWS) -> Array:
    return np.random.default_rng(0).normal(size=(rows, COLUMNS))


def layout(*, intercept: bool, kinds: str = "distinct") -> Layout:
    """Return a layout of 14 numbers of one bound ("uniform"), of their own ("distinct"), or with flags ("mixed")."""
    make = Coding.centered if intercept else Coding.uncentered
    spread = 0.0 if kinds == "uniform" else 0.1
    codings = [make(-2 - spread * j, 3 + spread * j) for j in range(COLUMNS)]
    if kinds == "mixed":
        codings[::3] = [Coding.flag() if intercept else Coding.indicator()] * len(codings[::3])
    return Layout([f"x{j}" for j in range(COLUMNS)], codings, intercept=intercept)


def columnar(columns: list[Array], of: Layout) -> Array:
    """Sum columns that come one by one, as from a Parquet row group, through one reusable scratch array."""
    total = GramSum(of)
    scratch = np.empty((of.width, 122_880))
    scratch[0] = 2**of.bits
    for start in range(0, len(columns[0]), scratch.shape[1]):
        n = min(scratch.shape[1], len(columns[0]) - start)
        for j, (column, coding) in enumerate(zip(columns, of.codings, strict=True), start=1):
            cells = column[start : start + n]
            assert all_finite(cells)
            coding.encode(cells, out=scratch[j, :n])
        total.add(scratch[:, :n])
    return total.gram


def ratios(X: Array) -> dict[str, float]:
    """Return the median ratio to `X.T @ X` of every road; all roads give the same integers."""
    features, target = X[:, :-1].copy(), X[:, -1].copy()
    fortran, single, columns = np.asfortranarray(X), X.astype(np.float32), [c.copy() for c in X.T]
    constant, bare = layout(intercept=True), layout(intercept=False)
    uniform, mixed = layout(intercept=True, kinds="uniform"), layout(intercept=True, kinds="mixed")
    expected = gram_of_arrays(X, None, constant)[0]
    for same in (gram_of_arrays(features, target, constant)[0], gram_of_arrays(fortran, None, constant)[0]):
        assert np.array_equal(same, expected)
    assert np.array_equal(columnar(columns, constant), expected)
    roads = {
        "13 columns, y and intercept": lambda: gram_of_arrays(features, target, constant),
        "14 columns and intercept": lambda: gram_of_arrays(X, None, constant),
        "14 columns": lambda: gram_of_arrays(X, None, bare),
        "14 columns of one bound and intercept": lambda: gram_of_arrays(X, None, uniform),
        "numbers, flags and intercept": lambda: gram_of_arrays(X, None, mixed),
        "column-major": lambda: gram_of_arrays(fortran, None, constant),
        "float32": lambda: gram_of_arrays(single, None, constant),
        "columns one by one": lambda: columnar(columns, constant),
    }
    return {name: ratio(road, lambda: X.T @ X, pairs=11)[0] for name, road in roads.items()}


def profile(X: Array) -> dict[str, float]:
    """Return milliseconds a stage of one run over 14 columns and intercept; timing the stages costs a little itself."""
    spent: dict[str, float] = defaultdict(float)

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                spent[name] += 1e3 * (time.perf_counter() - start)

        return wrapper

    stages = {"finiteness (first touch of the memory)": "all_finite", "five passes of the quantiser": "quantize"}
    originals = {name: getattr(gram, name) for name in stages.values()}
    exact: Any = gram._ExactProduct  # noqa: SLF001
    product = exact.add
    of = layout(intercept=True)
    try:
        for label, name in stages.items():
            setattr(gram, name, timed(label, originals[name]))
        exact.add = timed("matrix products", product)
        start = time.perf_counter()
        gram_of_arrays(X, None, of)
        spent["in all"] = 1e3 * (time.perf_counter() - start)
    finally:
        for name, original in originals.items():
            setattr(gram, name, original)
        exact.add = product
    return dict(spent)


def main() -> None:
    X = table()
    with threadpool_limits(1):
        gram_of_arrays(X, None, layout(intercept=True))
        for name, milliseconds in profile(X).items():
            print(f"{name:58s} {milliseconds:10.1f} ms")
        for name, value in ratios(X).items():
            report(f"exact Gram over X.T @ X, {name}", value, TARGET, at_most=True)


if __name__ == "__main__":
    main()
