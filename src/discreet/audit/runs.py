"""The runs that an audit looks at: one row of numbers each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.audit.scores import Outputs
    from discreet.privacy.coins import Coins

    Mechanism = Callable[[Any, Coins, int], Any]

# Fewer runs leave too few for each of the three parts of an audit.
FEWEST_RUNS = 64


def runs_of_both(mechanism: Mechanism, first: Any, second: Any, n_runs: int, coins: Coins) -> tuple[Outputs, Outputs]:
    """Return the outputs of so many runs on each of two data sets, shape (n_runs, k), in one type.

    Parameters
    ----------
    mechanism : callable
        As `audit` takes it.
    first, second : object
        Two data sets.
    n_runs : int
        How many runs of each.
    coins : Coins
        For all of them.

    Raises
    ------
    InvalidArgument
        If the mechanism returns something else than numbers of `n_runs` runs.
    """
    one, other = (_outputs(mechanism(data, coins, n_runs), n_runs) for data in (first, second))
    if one.shape[1] != other.shape[1]:
        raise InvalidArgument("`mechanism` must return as many numbers a run for both data sets; found different ones.")
    if one.dtype != other.dtype:
        one, other = one.astype(np.float64), other.astype(np.float64)
    return one, other


def _outputs(found: Any, n_runs: int) -> Outputs:
    """Return what a mechanism returned as a table, one row a run."""
    outputs = np.asarray(found)
    if outputs.dtype.kind not in "fiub" or outputs.ndim not in {1, 2} or outputs.shape[0] != n_runs or not outputs.size:
        raise InvalidArgument(
            "`mechanism` must return an array of numbers of shape (n_runs,) or (n_runs, k), one row a run; found "
            f"{outputs.dtype} of shape {outputs.shape} for n_runs = {n_runs}."
        )
    whole = outputs.dtype.kind in "ib" or (outputs.dtype.kind == "u" and outputs.dtype.itemsize < 8)
    return outputs.astype(np.int64 if whole else np.float64).reshape(n_runs, -1)
