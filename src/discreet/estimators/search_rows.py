"""Two parts of private rows, one to fit on and one to score on, and what a fit loses on the second."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidData
from discreet.estimators.targets import LabelModel
from discreet.tables.arrays import UNEQUAL
from discreet.tables.cells.given_cells import numbers_of
from discreet.tables.frame_rows import name_of
from discreet.tables.schema.labels import TROUBLE, check_classes, code_labels
from discreet.tables.sparse_rows import summed_rows

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from discreet.privacy.adjacency import Adjacency

# A record's loss is at most this many units.
LOSS_UNITS = 1 << 16


@dataclass(frozen=True, eq=False)
class SplitRows:
    """Private rows in two parts, by a rule that looks at one record alone, or at its position.

    Parameters
    ----------
    private_train, private_train_y : array or csr_array, and array
        What the runs fit on.
    private_test, private_test_y : csr_array, and ndarray of float64
        What they are scored on: targets, or codes of labels.
    """

    private_train: Any
    private_train_y: Any
    private_test: Any
    private_test_y: NDArray[np.float64]


def check_test_share(value: Any) -> Fraction:
    """Return the part of the rows that scores, above 0 and below 1, exactly."""
    share = _checks.exact_positive(value, "test_share")
    if share < 1:
        return share
    raise InvalidArgument(f"`test_share` must be between 0 and 1; found {value}.")


def split_rows(model: Any, matrix: Any, column: Any, share: Fraction, adjacency: Adjacency) -> SplitRows:
    """Return the rows in two parts; every error that the rows can cause is raised here.

    Raises
    ------
    InvalidData
        If a cell or a target is missing or no number, shapes do not fit, or public numbers leave a part empty.
    """
    features = _finite_numbers(matrix)
    target, labels = _target(model, column)
    if target.shape[0] != features.shape[0]:
        raise InvalidData(UNEQUAL)
    if adjacency.size_is_public:
        scores = by_position(features.shape[0], share)
        if not 0 < int(scores.sum()) < scores.size:
            raise InvalidData("There are too few rows for two parts. Use more rows, or another `test_share`.")
    else:
        scores = by_content(features, target, share)
    train = np.flatnonzero(~scores)
    import scipy.sparse

    # Row by row in compressed form, whatever the features came in: see `total_loss`.
    scored = scipy.sparse.csr_array(features[np.flatnonzero(scores)])
    return SplitRows(features[train], labels[train], scored, target[scores])


def _finite_numbers(matrix: Any) -> Any:
    """Return float64 features: an array, or a csr_array without duplicates or stored zeros."""
    import scipy.sparse

    if scipy.sparse.issparse(matrix):
        features = summed_rows(matrix)
        columns, cells = features.indices, features.data
    else:
        # The sum makes one zero of both.
        features = np.asarray(matrix, dtype=np.float64) + 0.0
        columns, cells = np.broadcast_to(np.arange(matrix.shape[1]), matrix.shape).reshape(-1), features.reshape(-1)
    wrong = ~np.isfinite(cells)
    if wrong.any():
        raise InvalidData(
            f"Column 'x{int(columns[wrong].min())}' has missing cells (NaN or inf). Take such rows out, or fill them."
        )
    if scipy.sparse.issparse(features):
        features.eliminate_zeros()
    return features


def _target(model: Any, column: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return what a prediction is compared with, and what the runs are given."""
    if isinstance(model, LabelModel):
        labels = np.asarray(column)
        coded = code_labels(labels, check_classes(model.classes, several=True), name=name_of(column), several=True)
        if np.isnan(coded.private_codes).any():
            raise InvalidData(f"Column {name_of(column)!r}: {TROUBLE}. Take such rows out, or declare its `classes`.")
        return np.asarray(coded.private_codes, dtype=np.float64), labels
    numbers = numbers_of(column).astype(np.float64)
    if not np.isfinite(numbers).all():
        raise InvalidData("Column 'y' has missing cells (NaN or inf). Take such rows out.")
    bounds = model.y_bounds
    clipped = np.clip(numbers, bounds.lower, bounds.upper) + 0.0
    return clipped, clipped


def by_position(n_rows: int, share: Fraction) -> NDArray[np.bool_]:
    """Return which rows score, spread evenly over a public number of rows.

    Examples
    --------
    >>> from fractions import Fraction
    >>> by_position(5, Fraction(2, 5)).tolist()
    [False, False, True, False, True]
    """
    steps = [(row * share.numerator) // share.denominator for row in range(n_rows + 1)]
    return np.diff(steps) > 0


def by_content(features: Any, target: NDArray[np.float64], share: Fraction) -> NDArray[np.bool_]:
    """Return which rows score: each by a hash of its own cells and target, and of nothing else.

    Examples
    --------
    >>> from fractions import Fraction
    >>> X, y = np.array([[1.0], [2.0], [1.0]]), np.array([0.0, 1.0, 0.0])
    >>> first, _, third = by_content(X, y, Fraction(1, 2)).tolist()
    >>> first == third
    True
    """
    import scipy.sparse

    threshold = (share.numerator << 64) // share.denominator
    scores = np.empty(target.size, dtype=np.bool_)
    sparse = scipy.sparse.issparse(features)
    for row in range(target.size):
        digest = hashlib.blake2b(target[row].tobytes(), digest_size=8)
        if sparse:
            start, stop = features.indptr[row], features.indptr[row + 1]
            digest.update(features.indices[start:stop].astype(np.int64).tobytes())
            digest.update(features.data[start:stop].tobytes())
        else:
            digest.update(features[row].tobytes())
        scores[row] = int.from_bytes(digest.digest(), "little") < threshold
    return scores


def total_loss(estimator: Any, private_rows: Any, private_y: NDArray[np.float64]) -> int:
    """Return the sum of all records' losses in whole units, each between 0 and `LOSS_UNITS`.

    A wrong label costs 1; a number costs the square of its distance, in half-widths of its public range, at most 1.
    The rows must be a csr_array: scipy then adds up each row by itself, so that no row's last bits depend on others.
    """
    if private_rows.shape[0] == 0:
        return 0
    if isinstance(estimator, LabelModel):
        decision = estimator.decision_function(private_rows)
        chosen = np.argmax(decision, axis=1) if decision.ndim == 2 else (decision > 0).astype(np.intp)
        return LOSS_UNITS * int(np.count_nonzero(chosen != private_y))
    bounds = estimator.y_bounds
    distances = (estimator.predict(private_rows) - private_y) / ((bounds.upper - bounds.lower) / 2)
    losses = np.minimum(distances * distances, 1.0) * LOSS_UNITS
    return int(np.rint(losses).astype(np.int64).sum())
