"""Logistic and linear regression by the K-norm gradient mechanism, as scikit-learn estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from discreet import _checks
from discreet.errors import InvalidData, InvalidType
from discreet.estimators.arguments import says_what_it_lacks
from discreet.estimators.k_norm_base import KNormEstimator
from discreet.estimators.scores import ClassifierScore, RegressorScore
from discreet.lattice.bounds import Interval
from discreet.privacy.release import check_payer
from discreet.sampling.k_norm.losses import HuberLoss, LogCoshLoss, LogisticLoss
from discreet.sampling.k_norm.targets import LOSSES
from discreet.tables.arrays import check_rows, check_target
from discreet.tables.frame_rows import Target, check_schema, label_target, name_of, number_target
from discreet.tables.schema.columns import Number
from discreet.tables.schema.labels import TROUBLE, check_classes, code_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.estimators.k_norm_base import Staged
    from discreet.lattice.bounds import Box
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.ledger import Ledger
    from discreet.sampling.policies import Policy
    from discreet.tables.schema.schema import Schema

# Residuals beyond this part of the range of y count no more than it, by default.
_CLIP = 1 / 4


class KNormGradientLogisticRegression(ClassifierScore, KNormEstimator, BaseEstimator):
    """Two-class logistic regression with a ridge, drawn with density ``exp(-scale * |gradient of the objective|)``.

    For a few columns and a ridge of the order of the number of rows: how often proposals are accepted at least is
    ``(1 + n |x|**2 / (4 d ridge))**-d``, and a smaller ridge is refused with the work that it would be.
    Where such a ridge is not wanted, :class:`PerturbedLogisticRegression` predicts better with a smaller one.

    Parameters
    ----------
    budget : Pure, Approx, Zcdp or Gdp
        What one fit may cost.
    adjacency : Replace
        Which data sets are neighbours; under AddRemove nothing is known of the work, and the fit is refused.
    x_bounds : Box, optional
        The declared public range of every column of X, in its own units; cells outside are clipped.
    row_norm : float, optional
        Instead: every row is scaled down to this Euclidean norm, which is often shorter than a box.
    schema : Schema, optional
        Instead: declares the columns of a frame X by their names, as for :class:`FunctionalLinearRegression`; where it
        declares y's name, as a flag or a category of two levels, it declares the classes, too.
    classes : sequence of two labels, optional
        The declared classes, the positive one last; where nothing declares them they are read from y, and the release
        then says "not private: class labels".
    ridge : float, optional
        gamma: the sum of losses has ``gamma / 2 * |theta|**2`` added, theta the coefficients of columns in units of
        the half-width of their bounds, or of `row_norm`, and of the constant. None takes the one at which one proposal
        in 256 is known to be accepted.
    fit_intercept : bool
        Whether the model has an intercept, which has the same ridge.
    runtime : policy, optional
        How long to run; default `CoolDown()`.

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
    ridge_ : float
        The ridge that was used.
    release_ : Release
        The drawn parameters, their event, cost and adjacency, and what else must be said.
    design_ : Design or None
        Where there is a schema, how a record becomes a row.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str, shape (n_features,)
        Only where X is a frame whose columns have names.

    Guarantee
    ---------
    Coefficients and running time (counted in blocks of proposals) of one `fit` with declared classes together satisfy
    `budget` under Replace, for any X and y. Proof: docs/proofs/k_norm_gradient.md

    Source
    ------
    Reimherr and Awan 2019; the price of the normalizer and the bound on acceptance are this project's.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(2000, 2))
    >>> y = np.where(X @ [1.0, -2.0] > 0, "yes", "no")
    >>> model = KNormGradientLogisticRegression(
    ...     budget=dp.Pure(epsilon=1), row_norm=1.5, classes=("no", "yes"), adjacency=dp.Replace(),
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
        row_norm: float | None = None,
        schema: Schema | None = None,
        classes: Any = None,
        ridge: float | None = None,
        fit_intercept: bool = True,
        runtime: Policy | None = None,
    ) -> None:
        self.budget = budget
        self.adjacency = adjacency
        self.x_bounds = x_bounds
        self.row_norm = row_norm
        self.schema = schema
        self.classes = classes
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.runtime = runtime

    @says_what_it_lacks
    def fit(self, X: Any, y: Any, *, ledger: Ledger | None = None) -> Self:
        """Draw the coefficients; charges the ledger once.

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
        InvalidArgument, IncompatiblePlan
            If a declaration is not usable, or the expected work too much; nothing is spent.
        InvalidData
            If the rows do not fit; names the column, quotes neither cell nor label; nothing is spent.
        BudgetExceeded
            If the ledger has too little left; the fitted state stays as it was.

        Guarantee
        ---------
        See the class.
        """
        adjacency = check_payer(ledger, self.adjacency)
        self._check_declared()
        declared = None if self.classes is None else check_classes(self.classes)
        staged, classes, were_read = self._stage(X, y, declared, may_be_empty=not adjacency.size_is_public)
        found = self._release(staged, LogisticLoss(), adjacency, ledger, labels_read=were_read)
        self.classes_ = classes
        self.coef_ = found.coef[None, :]
        self.intercept_ = np.array([found.intercept])
        return self

    def _stage(
        self, X: Any, y: Any, declared: NDArray[Any] | None, *, may_be_empty: bool
    ) -> tuple[Staged, NDArray[Any], bool]:
        if self.schema is not None:
            return self._stage_labels(X, y, declared)
        found: list[NDArray[Any]] = []

        def signs(column: Any) -> NDArray[np.float64]:
            labels = code_labels(np.asarray(column), declared, name=name_of(column))
            found.append(labels.classes)
            return labels.private_signs

        estimator, rows = check_rows(self, X, y, may_be_empty=may_be_empty, read_target=signs, trouble=TROUBLE)
        return self._stage_arrays(estimator, rows, (-1.0, 1.0), labels=True), found[0], declared is None

    def _stage_labels(self, X: Any, y: Any, declared: NDArray[Any] | None) -> tuple[Staged, NDArray[Any], bool]:
        schema = check_schema(self.schema)
        column = check_target(self, X, y)
        by_schema = label_target(column, schema) if declared is None else None
        if by_schema is not None:
            return self._stage_frame(X, by_schema[0], labels=True), by_schema[1], False
        labels = code_labels(np.asarray(column), declared, name=name_of(column))
        known = schema.columns.get(name_of(column))
        # Of the schema's policy for missing labels only "drop" means the same for other classes than its own.
        drops = known is not None and known.missing == "drop"
        declaration = Number(-1, 1, missing="drop" if drops else "error")
        target = Target(name_of(column), declaration, labels.private_signs, TROUBLE)
        return self._stage_frame(X, target, labels=True), labels.classes, labels.were_read

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the linear predictor, float64 of shape (n_rows,); above 0 the second class is predicted."""
        return self._linear_predictor(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes, float64 of shape (n_rows, 2), in the order of `classes_`."""
        positive = 0.5 + np.tanh(self.decision_function(X) / 2.0) / 2.0
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Any) -> NDArray[Any]:
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        tags.classifier_tags.multi_class = False
        tags.non_deterministic = True
        return tags


class KNormGradientLinearRegression(RegressorScore, KNormEstimator, BaseEstimator):
    """Linear regression with a ridge and clipped residuals, drawn with density ``exp(-scale * |gradient|)``.

    For a few columns and a ridge of the order of the number of rows, as :class:`KNormGradientLogisticRegression`.

    Parameters
    ----------
    budget, adjacency, x_bounds, row_norm, schema, ridge, fit_intercept, runtime
        As for :class:`KNormGradientLogisticRegression`.
    y_bounds : Interval, optional
        The declared public range of y, in its own units; cells outside are clipped.
        Needed unless the `schema` declares a column of y's name.
    clip : float, optional
        Residuals beyond it, in units of y, count no more than it; None takes a quarter of the range of y. Noise grows
        with it.
    loss : {"log_cosh", "huber"}
        How residuals are clipped: smoothly, ``clip * tanh(residual / clip)``, or as Huber's. Only for the smooth one
        the normalizers of neighbours are known to be close, which is worth half the noise in Pure and Approx.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (n_coefficients,)
        In units of y per unit of the column.
    intercept_ : float
        In units of y; 0 without an intercept.
    clip_ : float
        The clip that was used.
    coef_names_, ridge_, release_, design_, n_features_in_, feature_names_in_
        As for :class:`KNormGradientLogisticRegression`.

    Guarantee
    ---------
    Coefficients and running time of one `fit` together satisfy `budget` under Replace, for any X and y.
    Proof: docs/proofs/k_norm_gradient.md

    Source
    ------
    Reimherr and Awan 2019.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, size=(2000, 1))
    >>> y = 3 + X[:, 0] + rng.normal(size=2000)
    >>> model = KNormGradientLinearRegression(
    ...     budget=dp.Pure(epsilon=1), x_bounds=dp.Box(lower=0, upper=10), y_bounds=dp.Interval(0, 16),
    ...     adjacency=dp.Replace(),
    ... ).fit(X, y)
    >>> model.release_.cost
    Pure(epsilon=1)
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"ledger": True}

    @says_what_it_lacks
    def __init__(
        self,
        *,
        budget: Budget,
        adjacency: Adjacency,
        x_bounds: Box | None = None,
        row_norm: float | None = None,
        y_bounds: Interval | None = None,
        schema: Schema | None = None,
        clip: float | None = None,
        loss: str = "log_cosh",
        ridge: float | None = None,
        fit_intercept: bool = True,
        runtime: Policy | None = None,
    ) -> None:
        self.budget = budget
        self.adjacency = adjacency
        self.x_bounds = x_bounds
        self.row_norm = row_norm
        self.y_bounds = y_bounds
        self.schema = schema
        self.clip = clip
        self.loss = loss
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.runtime = runtime

    @says_what_it_lacks
    def fit(self, X: Any, y: Any, *, ledger: Ledger | None = None) -> Self:
        """Draw the coefficients; charges the ledger once.

        Parameters
        ----------
        X : array-like or frame, shape (n_rows, n_features)
            The private features: numbers, or with a `schema` a frame of declared columns.
        y : array-like of numbers, shape (n_rows,)
            The private target.
        ledger : Ledger or None
            Who pays; None opens a ledger in memory whose total is the budget.

        Raises
        ------
        InvalidArgument, IncompatiblePlan
            If a declaration is not usable, or the expected work too much; nothing is spent.
        InvalidData
            If the rows do not fit; names the column, quotes no cell; nothing is spent.
        BudgetExceeded
            If the ledger has too little left; the fitted state stays as it was.

        Guarantee
        ---------
        See the class.
        """
        adjacency = check_payer(ledger, self.adjacency)
        self._check_declared()
        interval = self._interval()
        if self.schema is not None:
            target = number_target(check_target(self, X, y), check_schema(self.schema), interval)
            bounds = target.column.lower, target.column.upper
            staged = self._stage_frame(X, target, labels=False)
        else:
            if interval is None:
                raise InvalidType(
                    f"{type(self).__name__} needs `y_bounds`, an Interval(lower, upper) with the public range of y."
                )
            bounds = interval.lower, interval.upper
            estimator, rows = check_rows(self, X, y, may_be_empty=not adjacency.size_is_public)
            staged = self._stage_arrays(estimator, rows, bounds, labels=False)
        center, half = self._units(bounds)
        clip = (bounds[1] - bounds[0]) * _CLIP if self.clip is None else _checks.finite_float(self.clip, "clip")
        kind = LogCoshLoss if _checks.one_of(self.loss, "loss", LOSSES) == "log_cosh" else HuberLoss
        found = self._release(staged, kind(clip=clip / half), adjacency, ledger, labels_read=False)
        self.clip_ = clip
        self.coef_ = found.coef * half
        self.intercept_ = found.intercept * half + center if self._intercept() else 0.0
        return self

    def _interval(self) -> Interval | None:
        if self.y_bounds is None or isinstance(self.y_bounds, Interval):
            return self.y_bounds
        raise InvalidType(f"`y_bounds` must be an Interval(lower, upper); found {type(self.y_bounds).__name__}.")

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return predictions, float64 of shape (n_rows,), in units of y.

        Parameters
        ----------
        X : array-like or frame, shape (n_rows, n_features)
            Rows to predict for; with `row_norm` each is scaled down to it, as private ones are.
        """
        return self._linear_predictor(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        tags.non_deterministic = True
        tags.target_tags.required = True
        return tags
