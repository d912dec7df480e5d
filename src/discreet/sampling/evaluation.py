"""Functions that a user declares: checked on public examples, then evaluated on private rows without ever raising."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidArgument, InvalidData, InvalidType
from discreet.tables.cells.given_cells import matrix_of_numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.privacy.coins import Coins

# Cells of the largest intermediate array that an evaluation is given to make.
_CELLS = 1 << 20
_N_TEST_POINTS = 256
# By how much a declared bound may be passed on public test points before it counts as violated: rounding alone.
_ROUNDING = 1e-9


def rows_of(data: Any, name: str = "data") -> np.ndarray:
    """Return rows as float64, shape (n_rows, n_columns); one column may be given flat.

    Raises
    ------
    InvalidType, InvalidData
        If the data are no table of numbers. No cell is quoted or looked at.
    """
    table = matrix_of_numbers(data, name)
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2:
        raise InvalidData(f"`{name}` must have rows and columns; found {table.ndim} dimensions.")
    return np.array(table, np.float64)


def refuse_no_rows(n_rows: int) -> None:
    """Refuse an empty table where the number of rows is public.

    Raises
    ------
    InvalidData
        If there is no row.
    """
    if n_rows == 0:
        raise InvalidData(NO_ROWS)


NO_ROWS = "Found array with 0 sample(s) while a minimum of 1 is required. Give a row, at least."


def complete_rows(data: Any, n_columns: int) -> np.ndarray:
    """Return private rows as float64.

    Raises
    ------
    InvalidData
        If the number of columns is not the declared one, or cells are missing (NaN or infinite).
    """
    rows = rows_of(data)
    if rows.shape[1] != n_columns:
        raise InvalidData(f"`data` must have {n_columns} columns, as `example` has; found {rows.shape[1]}.")
    missing = ~np.isfinite(rows)
    if missing.any():
        column = int(np.flatnonzero(missing.any(axis=0))[0])
        raise InvalidData(f"Column {column} of `data` has missing cells (NaN or inf). Remove or fill them beforehand.")
    return rows


def evaluate(function: Callable[..., Any], points: np.ndarray, rows: np.ndarray, width: int = 1) -> np.ndarray:
    """Return a user's function of points and private rows, shape (size,) or (size, width); NaN where it fails.

    It gets a few points at a time. What it raises, or returns in another shape, counts as NaN, and its warnings are
    not shown: an error or a warning that depends on private rows would be a release.
    """
    shape = (points.shape[0],) if width == 1 else (points.shape[0], width)
    values = np.full(shape, np.nan)
    step = max(1, _CELLS // max(1, rows.shape[0]))
    for start in range(0, points.shape[0], step):
        part = points[start : start + step]
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                values[start : start + step] = np.asarray(function(part, rows), np.float64).reshape(
                    values[start : start + step].shape
                )
        except Exception:  # noqa: BLE001, S112  (whatever a user's function raises)
            continue
    return values


def check_function(function: Any, points: np.ndarray, rows: np.ndarray, name: str) -> np.ndarray:
    """Return a user's function on public test points and public example rows.

    Raises
    ------
    InvalidType
        If it cannot be called.
    InvalidArgument
        If it has the wrong shape, or is NaN or plus infinity somewhere.
    """
    if not callable(function):
        raise InvalidType(f"`{name}` must be a function of (points, rows); found {type(function).__name__}.")
    values = np.asarray(function(points, rows), np.float64)
    if values.shape[:1] != points.shape[:1] or values.ndim not in {1, 2}:
        raise InvalidArgument(
            f"`{name}` must return one value a point; {points.shape[0]} points of the example gave the shape "
            f"{values.shape}."
        )
    if np.isnan(values).any() or (values == np.inf).any():
        raise InvalidArgument(f"`{name}` must be finite; it is NaN or infinite at a public test point on the example.")
    return values


def check_below(values: np.ndarray, bounds: np.ndarray, what: str) -> None:
    """Refuse a bound that public test points and example rows violate."""
    if not (values <= bounds + _ROUNDING * (1 + np.abs(bounds))).all():
        raise InvalidArgument(
            f"The envelope does not dominate: {what} at a public test point with the example rows. Declare a larger "
            "bound; it must hold for every data set."
        )


def uniforms(coins: Coins, size: int, width: int) -> np.ndarray:
    """Return uniform doubles in (0, 1), shape (size, width): odd multiples of 2**-53."""
    words = coins.words(size * width).reshape(size, width)
    return ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def public_uniforms(width: int) -> np.ndarray:
    """Return the same public numbers in (0, 1) for every test of a declaration, shape (256, width)."""
    # An additive lattice: its points fill the cube evenly.
    ratio = 2.0
    for _ in range(60):
        ratio = (1 + ratio) ** (1 / (width + 1))
    steps = (1 / ratio) ** np.arange(1, width + 1)
    spread: np.ndarray = (0.5 + np.outer(np.arange(_N_TEST_POINTS), steps)) % 1.0
    np.clip(spread, 2.0**-20, 1 - 2.0**-20, out=spread)
    return spread
