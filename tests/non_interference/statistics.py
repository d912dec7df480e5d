"""What an estimator measures of private rows, caught before its charge, in a form that can be compared."""

from __future__ import annotations

import warnings
from unittest import mock

import numpy as np
import scipy.sparse

from discreet.descent.preconditioned.rows import GriddedRows
from discreet.descent.rows import IntegerRows
from discreet.errors import DiscreetError
from discreet.estimators.search_plan import SplitRows
from discreet.functional.gram import PrivateGram
from discreet.privacy.ledger import Ledger
from discreet.sampling.k_norm.rows import BoundedRows
from discreet.sampling.pca.second_moments import SecondMoments


class _Caught(Exception):  # noqa: N818
    """Raised in the place of a charge."""


def measured(fit):
    """Return the private statistic that `fit` would have charged for, or None where the rows are refused."""
    with mock.patch.object(Ledger, "charge", side_effect=_Caught), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fit()
        except _Caught as caught:
            trace = caught.__traceback__
        except DiscreetError:
            return None
    while trace is not None:
        if trace.tb_frame.f_code.co_name == "release" and "private_statistic" in trace.tb_frame.f_locals:
            return trace.tb_frame.f_locals["private_statistic"]
        trace = trace.tb_next
    raise AssertionError("The fit charged outside of the one door.")


def sum_in(statistic):
    """Return the exact sum that a statistic is, or None where it holds rows."""
    if isinstance(statistic, PrivateGram):
        return statistic.private_entries
    return statistic.private_sum if isinstance(statistic, SecondMoments) else None


def rows_in(statistic):
    """Return the rows that a statistic holds, as tuples in their order."""
    if isinstance(statistic, list):
        parts = [rows_in(one) for one in statistic]
        return [sum(row, ()) for row in zip(*parts, strict=True)]
    if isinstance(statistic, np.ndarray):
        return [(int(one),) for one in statistic]
    if isinstance(statistic, GriddedRows):
        blocks = [np.empty((len(statistic.private_gram), 0)), *statistic.private_blocks]
        return [tuple(row) for row in np.concatenate(blocks, axis=1).T.tolist()]
    if isinstance(statistic, SplitRows):
        trained = _table(statistic.private_train, statistic.private_train_y)
        return [("fit", *row) for row in trained] + [
            ("score", *row) for row in _table(statistic.private_test, statistic.private_test_y)
        ]
    assert isinstance(statistic, (IntegerRows, BoundedRows)), type(statistic)
    return _table(statistic.private_matrix, statistic.private_y)


def _table(matrix, y):
    dense = matrix.toarray() if scipy.sparse.issparse(matrix) else np.asarray(matrix)
    return [(*row, one) for row, one in zip(dense.tolist(), np.asarray(y).tolist(), strict=True)]
