"""Canaries for models of many columns: records that each have a column of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.cases.case import payer
from discreet.privacy.adjacency import AddRemove

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.audit.one_run import OneRun
    from discreet.privacy.coins import Coins


def column_canaries(model: Any, n_canaries: int, *, targets: tuple[Any, Any]) -> OneRun:
    """Return the run of a sparse model on canaries, for `audit_one_run`.

    Every canary is a record whose only entry fills the row norm, in a column that no other record has. One coefficient
    then tells of one canary alone, with all the noise that the model puts on it.

    Parameters
    ----------
    model : estimator
        Of sparse descent or its rivals, with its declarations; it is not touched. Its `sparsity` should keep all
        columns.
    n_canaries : int
        How many, and how many columns.
    targets : pair
        The target of a canary that is in, and that of its other form; under AddRemove the other form is no record.

    Examples
    --------
    >>> import discreet as dp
    >>> from discreet.audit.one_run import audit_one_run
    >>> model = dp.SparseLinearRegression(
    ...     budget=dp.Gdp(mu=1), sparsity=400, row_norm=1, y_bounds=dp.Interval(-8, 8), clip=0.5, n_steps=1,
    ...     step_size=1.0, selection="threshold", adjacency=dp.Replace(), fit_intercept=False,
    ... )
    >>> run = column_canaries(model, 400, targets=(8.0, -8.0))
    >>> audit_one_run(run, 400, dp.Gdp(mu=1), coins=dp.privacy.Coins.from_seed(0)).violated
    False
    """

    def mechanism(included: NDArray[np.bool_], coins: Coins) -> Any:
        import scipy.sparse
        from sklearn.base import clone

        rows = scipy.sparse.csr_array(scipy.sparse.eye(n_canaries, format="csr")) * float(model.row_norm)
        target = np.where(included, targets[0], targets[1])
        if isinstance(model.adjacency, AddRemove):
            rows, target = rows[np.flatnonzero(included)], target[included]
        fitted = clone(model).fit(rows, target, ledger=payer(coins, model.budget, model.adjacency))
        return np.ravel(fitted.coef_)

    return mechanism
