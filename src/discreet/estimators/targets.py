"""Models of a number or a count, and models of a label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.errors import InvalidData, InvalidType
from discreet.estimators.base import Model
from discreet.estimators.scores import ClassifierScore, RegressorScore
from discreet.lattice.bounds import Interval
from discreet.models.predictors import class_chances, means_of
from discreet.tables.frame_rows import check_schema, number_target
from discreet.tables.schema.labels import check_classes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.models.result import RegressionResult
    from discreet.tables.frame_rows import Target


class NumberModel(RegressorScore, Model):
    """A regression whose target is a number or a count."""

    y_bounds: Interval | None = None

    def _target(self) -> tuple[Interval | None, Callable[[Any], Target], None]:
        interval = self.y_bounds
        if interval is not None and not isinstance(interval, Interval):
            raise InvalidType(f"`y_bounds` must be an Interval(lower, upper); found {type(interval).__name__}.")
        if interval is not None:
            self._check_bounds(interval.lower)

        def read(column: Any) -> Target:
            found = number_target(column, check_schema(self.schema), interval)
            self._check_bounds(found.column.lower)
            return found

        return interval, read, None

    def _coefficients(self, result: RegressionResult) -> tuple[NDArray[np.float64], float]:
        return result.coefs[0], float(result.constants[0])

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return predictions, float64 of shape (n_rows,), in units of y; of rows with a norm within its bounds.

        Parameters
        ----------
        X : array-like, frame, or with `row_norm` any scipy.sparse matrix or array, shape (n_rows, n_features)
            Rows to predict for. Without a schema a frame's columns must be those of the fit, in their order; with one
            they are found by name, and a row that lacks a cell whose policy is "drop" is predicted as NaN. With
            `row_norm` each row is scaled down, as private ones are.
        """
        margins = self._margins(X)
        return means_of(self.result_, margins)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


class LabelModel(ClassifierScore, Model):
    """A logistic regression, of two classes or of several one against the rest."""

    _loss: ClassVar[str] = "logistic"
    several_classes: ClassVar[bool] = True

    classes: Any = None

    def _target(self) -> tuple[None, None, NDArray[Any] | None]:
        return None, None, None if self.classes is None else check_classes(self.classes, several=self.several_classes)

    def _coefficients(self, result: RegressionResult) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return result.coefs, result.constants

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the linear predictor of new rows; the class with the largest one is predicted.

        Parameters
        ----------
        X : array-like, frame, or with `row_norm` any scipy.sparse matrix or array, shape (n_rows, n_features)
            As for `predict`.

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
        return class_chances(self._margins(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted labels, shape (n_rows,).

        Parameters
        ----------
        X : array-like, frame, or with `row_norm` any scipy.sparse matrix or array, shape (n_rows, n_features)
            Rows to predict for. Without a schema a frame's columns must be those of the fit, in their order; with one
            they are found by name. With `row_norm` each row is scaled down, as private ones are.

        Raises
        ------
        InvalidData
            If a cell is missing, also one whose policy is "drop": `predict_proba` gives NaN for such a row.
        """
        decision = self.decision_function(X)
        if np.isnan(decision).any():
            raise InvalidData(
                'A row lacks a cell whose policy is "drop", so it has no label. Use predict_proba, which gives NaN.'
            )
        chosen = np.argmax(decision, axis=1) if decision.ndim == 2 else (decision > 0.0).astype(np.intp)
        return np.asarray(self.classes_[chosen])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        tags.classifier_tags.multi_class = self.several_classes
        return tags
