"""scikit-learn's scores, for the data owner: rows and targets are paired as in `fit`, and masked cells are missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from discreet.errors import InvalidData
from discreet.tables.arrays import check_pairing, target_of
from discreet.tables.cells.given_cells import numbers_of

_MISSING = "`{}` has missing cells; a score needs one in every row. Take such rows out."


class RegressorScore(RegressorMixin):
    """A regressor that can be scored."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination: an exact function of the rows, for the data owner only.

        Parameters
        ----------
        X : array-like or frame, shape (n_rows, n_features)
            Rows to predict for.
        y : array-like of numbers, shape (n_rows,)
            What they are compared with.
        sample_weight : array-like of shape (n_rows,), optional
            Weights.

        Raises
        ------
        InvalidData
            If the rows do not fit, a target or a weight is missing, or indexes disagree.
        """
        check_pairing(X, y, sample_weight)
        target = _there(numbers_of(target_of(y)), "y")
        return float(super().score(X, target, _weights(sample_weight)))


class ClassifierScore(ClassifierMixin):
    """A classifier that can be scored."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of right labels: an exact function of the rows, for the data owner only.

        Parameters
        ----------
        X : array-like or frame, shape (n_rows, n_features)
            Rows to predict for.
        y : array-like of labels, shape (n_rows,)
            What they are compared with.
        sample_weight : array-like of shape (n_rows,), optional
            Weights.

        Raises
        ------
        InvalidData
            If the rows do not fit, a label is masked, a weight is missing, or indexes disagree.
        """
        check_pairing(X, y, sample_weight)
        if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
            raise InvalidData(_MISSING.format("y"))
        return float(super().score(X, target_of(y), _weights(sample_weight)))


def _weights(sample_weight: Any) -> Any:
    return None if sample_weight is None else _there(numbers_of(sample_weight, "sample_weight"), "sample_weight")


def _there(numbers: Any, name: str) -> Any:
    if np.isfinite(numbers).all():
        return numbers
    raise InvalidData(_MISSING.format(name))
