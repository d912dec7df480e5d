"""Logistic regression of degree two by the functional mechanism, as a scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from discreet.errors import InvalidData
from discreet.estimators.arguments import says_what_it_lacks
from discreet.estimators.functional_base import FunctionalEstimator, Staged
from discreet.estimators.scores import ClassifierScore
from discreet.functional.logit import LogisticObjective
from discreet.functional.repair import warn_if_dominated
from discreet.tables.arrays import check_rows, check_target
from discreet.tables.frame_rows import Target, check_schema, label_target, name_of
from discreet.tables.schema.columns import Number
from discreet.tables.schema.labels import TROUBLE, check_classes, code_labels

if TYPE_CHECKING:
    from discreet.functional.moments import Moments
    from discreet.functional.objectives import Coefficients
    from discreet.lattice.bounds import Box
    from discreet.models.printed import Summary
    from discreet.models.result import RegressionResult
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.ledger import Ledger
    from discreet.tables.schema.schema import Schema


class FunctionalLogisticRegression(ClassifierScore, FunctionalEstimator, BaseEstimator):
    """Two-class logistic regression of degree two from one noisy Gram matrix of (1, X, y), y coded -1 and +1.

    The logistic loss is replaced by a parabola, so the model is least squares on -1 and +1 times a constant.
    Its slopes are **biased** towards 0, for a polynomial is no logit: the classes it predicts are those of least
    squares, its probabilities are rough, and its coefficients are not log odds ratios.
    Standard errors (`result`) are those of that parabola's minimizer; p values and intervals, which would be read as
    the logit's, are not given.

    Parameters
    ----------
    budget : Pure, Approx, Zcdp or Gdp
        What one fit may cost.
    x_bounds : Box, optional
        The declared public range of every column of X, in its own units; cells outside are clipped.
        Needed unless there is a `schema`.
    adjacency : Replace or AddRemove
        Which data sets are neighbours; there is no default.
    schema : Schema, optional
        Declares the columns of a frame X by their names, as for :class:`FunctionalLinearRegression`; where it declares
        y's name, as a flag or a category of two levels, it declares the classes, too.
    classes : sequence of two labels, optional
        The declared classes, the positive one last: texts, booleans, numbers. A label that is none of them is missing.
        Where neither this nor the schema declares them, they are read from y, as scikit-learn does; that is a
        look at private rows, and the release then says "not private: class labels".
    fit_intercept : bool
        Whether the model has an intercept.
    mechanism : {"auto", "wishart", "laplace", "l_inf", "gaussian", "paper", "paper_code"}
        The law of the noise, as for :class:`FunctionalLinearRegression`.
    approximation : {"taylor", "minimax"}
        The parabola: Taylor's at 0, as in the paper, or the one whose largest error on ``|x'w| <= radius`` is smallest.
        It changes the scale of the coefficients and so the probabilities, not the predicted classes.
    radius : float, optional
        For "minimax": the largest ``|x'w|`` that is expected, a public number between 0.1 and 100.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, n_coefficients)
        Coefficients of the linear predictor per unit of the column.
    intercept_ : ndarray of float64, shape (1,)
        0 without an intercept.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive one.
    coef_names_ : ndarray of str, shape (n_coefficients,)
        What each coefficient belongs to.
    release_ : Release
        The noisy Gram matrix, its event, cost and adjacency, and what else must be said.
    moments_ : Moments
        The same release with its public grid.
    noise_dominated_ : bool
        Whether the noise hides the weakest direction of the data; `fit` then emits a NoiseDominatedWarning.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str, shape (n_features,)
        Only where X is a frame whose columns have names.

    Guarantee
    ---------
    One `fit` with declared classes satisfies `budget` under `adjacency`, for any X and y, exactly as
    :class:`FunctionalLinearRegression` does: it is the same release (docs/proofs/gram.md).
    Coefficients are finite whether or not the classes can be separated.

    Source
    ------
    Zhang et al. 2012, Algorithm 2, with exact sensitivities, the Wishart difference and the adaptive ridge.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(5000, 2))
    >>> y = np.where(X @ [1.0, -2.0] + rng.logistic(size=5000) > 0, "yes", "no")
    >>> model = dp.FunctionalLogisticRegression(
    ...     budget=dp.Gdp(mu=1), x_bounds=dp.Box(lower=-1, upper=1), classes=("no", "yes"), adjacency=dp.Replace(),
    ... ).fit(X, y)
    >>> model.predict([[0.9, -0.9]])
    array(['yes'], dtype='<U3')
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"ledger": True}

    @says_what_it_lacks
    def __init__(
        self,
        *,
        budget: Budget,
        adjacency: Adjacency,
        x_bounds: Box | None = None,
        schema: Schema | None = None,
        classes: Any = None,
        fit_intercept: bool = True,
        mechanism: str = "auto",
        approximation: str = "taylor",
        radius: float | None = None,
    ) -> None:
        self.budget = budget
        self.adjacency = adjacency
        self.x_bounds = x_bounds
        self.schema = schema
        self.classes = classes
        self.fit_intercept = fit_intercept
        self.mechanism = mechanism
        self.approximation = approximation
        self.radius = radius

    @says_what_it_lacks
    def fit(self, X: Any, y: Any, *, ledger: Ledger | None = None) -> Self:
        """Release the noisy Gram matrix and set the coefficients; charges the ledger once.

        Parameters
        ----------
        X : array-like or frame, shape (n_rows, n_features)
            The private features: numbers, or with a `schema` a frame of declared columns.
        y : array-like of labels, shape (n_rows,)
            The private labels.
        ledger : Ledger or None
            Who pays; None opens a ledger in memory whose total is the budget.

        Raises
        ------
        InvalidArgument
            If a declaration is not usable; nothing is spent.
        InvalidData
            If the rows do not fit, a label is missing, or more than two classes stand in y where none are declared;
            names the column, quotes neither cell nor label; nothing is spent.
        BudgetExceeded
            If the ledger has too little left; the fitted state stays as it was.

        Guarantee
        ---------
        See the class.
        """
        adjacency = self._neighbours(ledger)
        declared = None if self.classes is None else check_classes(self.classes)
        objective = self._objective()
        may_be_empty = not adjacency.size_is_public
        if self.schema is None:
            found: list[np.ndarray] = []

            def signs(column: Any) -> np.ndarray:
                labels = code_labels(np.asarray(column), declared, name=name_of(column))
                found.append(labels.classes)
                return labels.private_signs

            estimator, rows = check_rows(self, X, y, may_be_empty=may_be_empty, read_target=signs, trouble=TROUBLE)
            staged, classes, were_read = self._stage_arrays(estimator, rows, objective), found[0], declared is None
        else:
            staged, classes, were_read = self._stage_labels(X, y, declared, objective, may_be_empty=may_be_empty)
        repair = self._release(staged, adjacency, ledger, labels_read=were_read)
        self.classes_ = classes
        warn_if_dominated(repair, stacklevel=3)
        return self

    def _stage_labels(
        self, X: Any, y: Any, declared: np.ndarray | None, objective: LogisticObjective, *, may_be_empty: bool
    ) -> tuple[Staged, np.ndarray, bool]:
        schema = check_schema(self.schema)
        column = check_target(self, X, y)
        by_schema = label_target(column, schema) if declared is None else None
        were_read = False
        if by_schema is None:
            labels = code_labels(np.asarray(column), declared, name=name_of(column))
            known = schema.columns.get(name_of(column))
            # Of the schema's policy for missing labels only "drop" means the same for other classes than its own.
            drops = known is not None and known.missing == "drop"
            declaration = Number(-1, 1, missing="drop" if drops else "error")
            target, classes = Target(name_of(column), declaration, labels.private_signs, TROUBLE), labels.classes
            were_read = labels.were_read
        else:
            target, classes = by_schema
        return self._stage_frame(X, target, schema, objective, may_be_empty=may_be_empty), classes, were_read

    def _objective(self) -> LogisticObjective:
        return LogisticObjective(approximation=self.approximation, radius=self.radius)

    def _take(self, found: Coefficients, moments: Moments) -> None:
        super()._take(found, moments)
        self.coef_ = found.coef[None, :]
        self.intercept_ = np.array([found.intercept])

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the linear predictor, float64 of shape (n_rows,); above 0 the second class is predicted."""
        return self._linear_predictor(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes, float64 of shape (n_rows, 2), in the order of `classes_`."""
        positive = 0.5 + np.tanh(self.decision_function(X) / 2.0) / 2.0
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels, shape (n_rows,).

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
        return np.asarray(self.classes_[(decision > 0.0).astype(int)])

    def result(self) -> RegressionResult:
        """Return the regression as a result with standard errors where they are valid, and no p values or intervals.

        They speak of the parabola's minimizer, which is not the logit's coefficient.

        Guarantee
        ---------
        Post-processing of the release: costs nothing.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return self._result(self._objective())

    def summary(self) -> Summary:
        """Return the table that is printed: estimates, and standard errors that count the privacy noise."""
        return self.result().summary()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        tags.classifier_tags.multi_class = False
        tags.non_deterministic = True
        return tags
