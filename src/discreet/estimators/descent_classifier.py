"""What the logistic estimators of the second pillar share: labels of any kind, and one model a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from discreet.errors import InvalidData
from discreet.estimators.arguments import says_what_it_lacks
from discreet.estimators.descent_base import DescentEstimator, Facts, Staged
from discreet.estimators.scores import ClassifierScore
from discreet.privacy.release import check_payer
from discreet.tables.arrays import UNEQUAL, check_matrix, check_target
from discreet.tables.frame_rows import name_of
from discreet.tables.schema.labels import TROUBLE, check_classes, code_labels

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.privacy.ledger import Ledger


class DescentClassifier(ClassifierScore, DescentEstimator):
    """A logistic regression, of two classes or of several one against the rest."""

    _loss: ClassVar[str] = "logistic"

    classes: Any

    @says_what_it_lacks
    def fit(self, X: Any, y: Any, *, ledger: Ledger | None = None) -> Self:
        """Release the coefficients; charges the ledger once, also for several classes.

        Parameters
        ----------
        X : array-like, frame, or any scipy.sparse matrix or array, shape (n_rows, n_features)
            The private features.
        y : array-like of labels, shape (n_rows,)
            The private labels.
        ledger : Ledger or None
            Who pays; None opens a ledger in memory whose total is the budget.

        Raises
        ------
        InvalidArgument, IncompatiblePlan
            If a declaration is not usable; nothing is spent.
        InvalidData
            If the rows do not fit; names the column, quotes no cell; nothing is spent.
        BudgetExceeded
            If the ledger has too little left; the fitted state stays as it was.

        Guarantee
        ---------
        See the class.
        """
        self.fit_with_progress(X, y, ledger=ledger, progress=None, stacklevel=5)
        return self

    def fit_with_progress(
        self,
        X: Any,
        y: Any,
        *,
        ledger: Ledger | None,
        progress: Callable[[int, int], None] | None,
        stacklevel: int = 3,
    ) -> None:
        """Fit, and tell `progress` how many passes over the rows are done, and of how many; both are public."""
        adjacency = check_payer(ledger, self.adjacency)
        declared = None if self.classes is None else check_classes(self.classes, several=True)
        column = check_target(self, X, y, stacklevel=stacklevel)
        staged, matrix = check_matrix(self, X, may_be_empty=not adjacency.size_is_public)
        labels = code_labels(np.asarray(column), declared, name=name_of(column), several=True)
        codes = labels.private_codes
        if codes.shape[0] != matrix.shape[0]:
            raise InvalidData(UNEQUAL)
        if np.isnan(codes).any():
            raise InvalidData(f"Column {name_of(column)!r}: {TROUBLE}. Take such rows out, or declare its `classes`.")
        several = labels.classes.size > 2
        targets = tuple(np.equal(codes, code).astype(np.float64) for code in range(labels.classes.size))
        targets = targets if several else targets[1:]
        facts = Facts(
            n_columns=matrix.shape[1],
            n_rows=self._n_rows(adjacency, matrix),
            adjacency=adjacency,
            target_bounds=(0.0, 1.0),
            n_models=len(targets),
        )
        rows = Staged(staged, matrix, targets)
        self._release(rows, facts, ledger, labels_read=labels.were_read, progress=progress)
        self.classes_ = labels.classes

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the linear predictor of new rows; the class with the largest one is predicted.

        Parameters
        ----------
        X : array-like, frame, or any scipy.sparse matrix or array, shape (n_rows, n_features)
            Each row is scaled down to `row_norm` and clipped to `entry_bound`, as private ones are.

        Returns
        -------
        ndarray of float64, shape (n_rows,) for two classes, (n_rows, n_classes) for more
            For two classes above 0 where the second is predicted.
        """
        margins = self._margins(X)
        return margins[:, 0] if self.classes_.size == 2 else margins

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes, float64 of shape (n_rows, n_classes), in the order of `classes_`.

        Of more than two classes each is fitted against the rest, and their probabilities are scaled to sum to 1.
        """
        margins = self._margins(X)
        positive = 0.5 + np.tanh(margins / 2.0) / 2.0
        if self.classes_.size == 2:
            return np.column_stack([1.0 - positive[:, 0], positive[:, 0]])
        # Where every class has a probability that rounds to 0, none is likelier than another.
        sums = positive.sum(axis=1, keepdims=True)
        even = np.full_like(positive, 1.0 / self.classes_.size)
        np.divide(positive, sums, out=even, where=sums > 0)
        return even

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted labels, shape (n_rows,)."""
        decision = self.decision_function(X)
        chosen = np.argmax(decision, axis=1) if decision.ndim == 2 else (decision > 0.0).astype(np.intp)
        return np.asarray(self.classes_[chosen])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        tags.non_deterministic = True
        tags.input_tags.sparse = True
        return tags
