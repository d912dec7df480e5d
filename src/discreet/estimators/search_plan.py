"""The plan of a private search: the two parts of the rows, what each run does, and which one is released."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from discreet import _checks
from discreet.descent.search import LOSS_UNITS, by_content, by_position, draw_counts, noisy_score
from discreet.errors import InvalidArgument, InvalidData
from discreet.estimators.targets import LabelModel
from discreet.privacy.ledger import Ledger
from discreet.tables.arrays import UNEQUAL
from discreet.tables.cells.given_cells import numbers_of
from discreet.tables.frame_rows import name_of
from discreet.tables.schema.labels import TROUBLE, check_classes, code_labels
from discreet.tables.sparse_rows import summed_rows

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.coins import Coins
    from discreet.privacy.events.search import EvenSearchEvent


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


@dataclass(frozen=True, eq=False)
class Found:
    """What a search released: public from now on.

    Parameters
    ----------
    index : int
        Which candidate.
    estimator : object
        Its fitted copy.
    score : int
        Its losses on the other part of the rows, with noise, in units of 2**-16 of the largest loss.
    """

    index: int
    estimator: Any
    score: int


@dataclass(frozen=True, eq=False)
class SearchPlan:
    """What one search will do; priced without data.

    Parameters
    ----------
    runs : tuple of estimators
        One a candidate, unfitted, each with the budget of a run.
    event : EvenSearchEvent
        The law of how many runs count, and the price.
    test_share : Fraction
        Which part of the rows scores.
    """

    runs: tuple[Any, ...]
    event: EvenSearchEvent
    test_share: Fraction

    def measure(self, data: SplitRows) -> SplitRows:
        """Return the split rows; all runs look at them."""
        return data

    def draw(self, statistic: SplitRows, coins: Coins) -> Found:
        """Return the best of the runs that count; always runs every candidate equally often, in the same order."""
        counts = draw_counts(self.event.runs, coins)
        best: Found | None = None
        for index, counted in enumerate(counts):
            for number in range(self.event.runs_each):
                run = self._one(index, statistic, coins)
                # Of equal scores the first candidate's stays: a rule that looks at nothing but the runs' outputs.
                if number < counted and (best is None or run.score < best.score):
                    best = run
        assert best is not None  # noqa: S101  (some run counts)
        return best

    def _one(self, index: int, rows: SplitRows, coins: Coins) -> Found:
        estimator = clone(self.runs[index])
        # A ledger of its own: the fit can spend a run's budget, and no more.
        payer = Ledger(total=self.event.run, adjacency=self.event.adjacency, coins=coins)
        estimator.fit_quietly(rows.private_train, rows.private_train_y, ledger=payer)
        private_loss = total_loss(estimator, rows.private_test, rows.private_test_y)
        return Found(index, estimator, noisy_score(private_loss, self.event.run, coins))
