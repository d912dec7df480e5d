"""Linear, logistic and Poisson regression for whoever does not want to choose a method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from discreet.descent.preconditioned.weights import class_weights, declared_weights
from discreet.estimators.arguments import refusing_others
from discreet.estimators.base import Model
from discreet.estimators.methods.choice import METHODS, SETTINGS, plan_by
from discreet.estimators.methods.fit import check_target_bounds
from discreet.estimators.sparse import INSTEAD
from discreet.estimators.targets import LabelModel, NumberModel

if TYPE_CHECKING:
    from discreet.estimators.methods.declared import Declared, Planned
    from discreet.privacy.ledger import Ledger

# What scikit-learn's arguments are called here, or why they are not here.
_INSTEAD = {
    **{name: advice for name, advice in INSTEAD.items() if name != "selection"},
    "bounds": "bounds are declared as x_bounds=Box(lower=, upper=) and y_bounds=Interval(lower, upper)",
    "solver": "the solver is the method: method=",
    "mechanism": "the law of the noise follows from method= and the budget; leave it out",
    "selection": 'a method is named by method="threshold" or "peel"',
    "normalize": "columns are scaled by their declared bounds; leave it out",
    "alpha": "the noise decides how much a model is pulled to 0; leave it out",
    "C": "the noise decides how much a model is pulled to 0; leave it out",
    "class_weight": "classes are weighted in LogisticRegression; leave it out",
}


class FrontDoor(Model):
    """A regression whose method is chosen from public facts."""

    _instead: ClassVar[dict[str, str]] = _INSTEAD
    takes_sparse: ClassVar[bool] = True
    methods: ClassVar[tuple[str, ...]] = METHODS

    row_norm: float | None = None
    method: str = "auto"
    expected_rows: int | None = None
    sparsity: int | None = None
    entry_bound: float | None = None
    n_steps: int | None = None
    step_size: float | None = None
    clip: float | None = None
    gram_share: Any = None
    max_sample_weight: float | None = None

    def plan(self, declared: Declared) -> Planned:
        """Return the plan of the method that was asked for, or that public facts choose."""
        return plan_by(self.method, declared, {name: getattr(self, name) for name in SETTINGS})

    @refusing_others
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None, ledger: Ledger | None = None) -> Self:
        """Choose a method from public facts, release the coefficients by it; charges the ledger once.

        Parameters
        ----------
        X : array-like, frame, or any scipy.sparse matrix or array, shape (n_rows, n_features)
            The private features: numbers, or with a `schema` a frame of declared columns.
        y : array-like, shape (n_rows,)
            The private target: numbers, counts or labels.
        sample_weight : array-like of shape (n_rows,), optional
            Private weights from 0 to the declared `max_sample_weight`; another one is a missing cell.
        ledger : Ledger or None
            Is charged; None opens a ledger in memory whose total is the budget.

        Raises
        ------
        InvalidArgument, IncompatiblePlan
            If a declaration is not usable, or no method fits it; nothing is spent.
        InvalidData
            If the rows do not fit; names the column, quotes no cell; nothing is spent.
        BudgetExceeded
            If the ledger has too little left; the fitted state stays as it was.

        Guarantee
        ---------
        See the class.
        """
        self.fit_quietly(X, y, sample_weight=sample_weight, ledger=ledger)
        return self._warned()

    def _weighted(self, declared: Declared, sample_weight: Any) -> Declared:
        weights, of_classes = getattr(self, "class_weight", None), None
        if weights is not None and declared.classes is not None:
            of_classes = class_weights(weights, declared.classes)
        return declared.changed(weights=declared_weights(sample_weight, self.max_sample_weight, of_classes))


class LinearRegression(FrontDoor, NumberModel):
    """Private least squares by the method that suits the table and the budget.

    Parameters
    ----------
    budget : Pure, Approx, Zcdp or Gdp
        What one fit may cost.
    adjacency : Replace or AddRemove
        Which data sets are neighbours; there is no default.
    x_bounds : Box, optional
        The declared public range of every column of X, in its own units; cells outside are clipped.
    schema : Schema, optional
        Instead: declares the columns of a frame X by their names, as for :class:`FunctionalLinearRegression`.
    row_norm : float, optional
        Instead, for many columns or sparse rows: every row is scaled down to this Euclidean norm.
    y_bounds : Interval, optional
        The declared public range of y, in its own units; cells outside are clipped.
        Needed unless the `schema` declares a column of y's name.
    method : {"auto", "moments", "descent", "threshold", "peel", "sample"}
        "auto" chooses by public facts alone: see `reason_`, and docs/choosing-a-method.md. "moments" is one noisy Gram
        matrix (:class:`FunctionalLinearRegression`), "descent" noisy steps in coordinates that a small Gram matrix
        whitens, "threshold" and "peel" noisy steps that keep few columns (:class:`SparseLinearRegression`), "sample"
        a draw of the K-norm gradient mechanism.
    expected_rows : int, optional
        Under AddRemove, where the number of rows is private: a public guess of it, by which sums are divided.
    fit_intercept : bool
        Whether the model has an intercept.
    sparsity : int, optional
        With "threshold" and "peel": at most so many coefficients are not 0.
    entry_bound : float, optional
        With `row_norm`: every entry of a scaled row is clipped to this size.
    n_steps, step_size, clip, gram_share : optional
        Settings of "descent" (`Settings` says in which units), and but for the last of "threshold" and "peel"; None
        takes what did best on simulations with like public facts. On rows that are not stored sparse "threshold" and
        "peel" shorten `step_size` where released gradients tell that columns are too much alike for it, which is free.
    max_sample_weight : float, optional
        The declared largest weight of a row, with which `fit` takes `sample_weight`; the noise is that of a row of
        this weight. Weights belong to method "descent".

    Attributes
    ----------
    coef_ : ndarray of float64, shape (n_coefficients,)
        In units of y per unit of the column; one a column of X, or a dummy where there is a schema.
    intercept_ : float
        In units of y; 0 without an intercept.
    coef_names_ : ndarray of str, shape (n_coefficients,)
        What each coefficient belongs to, such as ``education[HS-grad]``.
    method_, reason_ : str
        The method that was used, and why, in one line.
    release_ : Release
        What was released, its event, cost and adjacency, and whether the coins were the system's.
    settings_ : dict
        Public settings of the method.
    noise_dominated_ : bool
        Whether by public numbers at least half of what the model says is noise, or steps of "threshold" or "peel"
        were longer than the rows allow; `fit` then emits a NoiseDominatedWarning that says which.
    n_rows_ : int
        The public number of rows.
    design_, formula_, grid_
        How rows are read: by a schema and a formula, or within a norm; None elsewhere.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str, shape (n_features,)
        Only where X is a frame whose columns have names.

    Guarantee
    ---------
    One `fit` satisfies `budget` under `adjacency`, for any X and y: the method is chosen from public facts, and each is
    proved by itself (docs/proofs/preconditioned.md, docs/proofs/gram.md, docs/proofs/descent.md).
    `score` and `predict` on private rows are exact functions of them: for the data owner only.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, size=(5000, 2))
    >>> y = 3 + X @ [1.0, -2.0] + rng.normal(size=5000)
    >>> model = LinearRegression(
    ...     budget=dp.Gdp(mu=1), x_bounds=dp.Box(lower=0, upper=10), y_bounds=dp.Interval(-20, 20),
    ...     adjacency=dp.Replace(),
    ... ).fit(X, y)
    >>> model.method_, model.release_.cost
    ('descent', Gdp(mu=1))
    """

    _loss: ClassVar[str] = "squared"


class PoissonRegression(FrontDoor, NumberModel):
    """Private Poisson regression: the logarithm of a count's mean is linear in the columns.

    Parameters
    ----------
    budget, adjacency, x_bounds, schema, row_norm, expected_rows, fit_intercept, sparsity, entry_bound
        As for :class:`LinearRegression`.
    y_bounds : Interval, optional
        From 0 to the largest count that is declared to occur; larger ones are clipped to it.
        Needed unless the `schema` declares a column of y's name.
    method : {"auto", "descent", "threshold", "peel"}
        As for :class:`LinearRegression`.
    n_steps, step_size, clip, gram_share, max_sample_weight : optional
        As for :class:`LinearRegression`.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (n_coefficients,)
        Change of the logarithm of the mean per unit of the column.
    intercept_ : float
        The logarithm of the mean where all columns are 0; 0 without an intercept.
    coef_names_, method_, reason_, release_, settings_, noise_dominated_, n_rows_, design_, formula_, grid_
        As for :class:`LinearRegression`.
    n_features_in_, feature_names_in_
        As for :class:`LinearRegression`.

    Guarantee
    ---------
    One `fit` satisfies `budget` under `adjacency`, for any X and y (docs/proofs/preconditioned.md,
    docs/proofs/descent.md).

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(20_000, 2))
    >>> y = rng.poisson(np.exp(1 + X @ [0.5, -0.5]))
    >>> model = PoissonRegression(
    ...     budget=dp.Gdp(mu=1), x_bounds=dp.Box(lower=-1, upper=1), y_bounds=dp.Interval(0, 20),
    ...     adjacency=dp.Replace(),
    ... ).fit(X, y)
    >>> model.method_
    'descent'
    """

    _loss: ClassVar[str] = "poisson"

    def _check_bounds(self, lower: float) -> None:
        check_target_bounds(self._loss, lower)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


class LogisticRegression(FrontDoor, LabelModel):
    """Private logistic regression by the method that suits the table and the budget.

    More than two classes are fitted one against the rest, all in one charge of the whole budget, which is shared
    equally.

    Parameters
    ----------
    budget, adjacency, x_bounds, schema, row_norm, expected_rows, fit_intercept, sparsity, entry_bound
        As for :class:`LinearRegression`; where a schema declares y's name, as a flag or a category, it declares the
        classes, too.
    classes : sequence of labels, optional
        The declared classes, of two the positive one last: texts, booleans, numbers. A label that is none of them is
        missing. Where nothing declares them, they are read from y, as scikit-learn does; that is a look at private
        rows, and the release then says "not private: class labels".
    method : {"auto", "moments", "descent", "threshold", "peel", "perturbation", "sample"}
        As for :class:`LinearRegression`; "moments" is the polynomial of degree two, whose slopes are biased, and
        "perturbation" a perturbed objective (:class:`PerturbedLogisticRegression`).
    n_steps, step_size, clip, gram_share, max_sample_weight : optional
        As for :class:`LinearRegression`.
    class_weight : dict of label to weight, optional
        Public weights, at least 0, of the rows of each class; 1 for a class that is not in it. The noise is that of
        the largest weight. They belong to method "descent".

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, n_coefficients), or (n_classes, n_coefficients) for more than two classes
        Of the linear predictor, per unit of the column.
    intercept_ : ndarray of float64, shape (1,) or (n_classes,)
        0 without an intercept.
    classes_ : ndarray of shape (n_classes,)
        The labels; of two the second is the positive one.
    coef_names_, method_, reason_, release_, settings_, noise_dominated_, n_rows_, design_, formula_, grid_
        As for :class:`LinearRegression`.
    n_features_in_, feature_names_in_
        As for :class:`LinearRegression`.

    Guarantee
    ---------
    One `fit` with declared classes satisfies `budget` under `adjacency`, for any X and y: the method is chosen from
    public facts, and each is proved by itself (docs/proofs/preconditioned.md, docs/proofs/perturbation.md,
    docs/proofs/gram.md, docs/proofs/descent.md). Coefficients are finite whether or not classes can be separated.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(5000, 2))
    >>> y = np.where(X @ [1.0, -2.0] + rng.logistic(size=5000) > 0, "yes", "no")
    >>> model = LogisticRegression(
    ...     budget=dp.Approx(epsilon=1, delta="1e-6"), x_bounds=dp.Box(lower=-1, upper=1), classes=("no", "yes"),
    ...     adjacency=dp.Replace(),
    ... ).fit(X, y)
    >>> model.predict([[0.9, -0.9]])
    array(['yes'], dtype='<U3')
    """

    class_weight: dict[Any, float] | None = None
