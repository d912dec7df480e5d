"""What every regression does: declare, plan, release, keep what was released; a family writes `plan`."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from discreet import _checks
from discreet._warnings import warn
from discreet.errors import InvalidArgument, InvalidType, NoiseDominatedWarning
from discreet.estimators import files
from discreet.estimators.arguments import box_of, refusing_others, with_parameters
from discreet.estimators.methods.declared import Fitted, carry_out, public_rows
from discreet.estimators.methods.reading import (
    FitDeclarations,
    declare_arrays,
    declare_frame,
    declare_norms,
    declare_table,
)
from discreet.models.predictors import linear_predictors, matrix_predictors
from discreet.models.printed import STEPS_TOO_LONG
from discreet.privacy.budgets import check_budget
from discreet.privacy.release import Release, settle_adjacency
from discreet.tables.arrays import check_new_matrix, check_new_rows, check_pairing
from discreet.tables.frame_rows import check_schema
from discreet.tables.units import refuse_unit

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.estimators.methods.declared import Declared, Planned
    from discreet.lattice.bounds import Box, Interval
    from discreet.models.printed import Summary
    from discreet.models.result import RegressionResult
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.findings import Finding
    from discreet.privacy.ledger import Ledger
    from discreet.tables.frame_rows import Target
    from discreet.tables.schema.schema import Schema

# The three ways to declare how large a row of X can be.
_WAYS = ("x_bounds", "schema", "row_norm")
DOMINATED = (
    "Noise-dominated: by public numbers at least half of what the model says is privacy noise. Raise `budget`, use "
    "more rows or fewer columns, or predict the mean."
)


@dataclass_transform(kw_only_default=True, eq_default=False)
@with_parameters
class Model(files.Saved, BaseEstimator, metaclass=ABCMeta):
    """A regression whose rows are private: its parameters are declarations, and one fit is one release.

    A family annotates the parameters that it has beside these, and writes `plan`.
    Where it has a parameter `row_norm`, rows may be scaled down to a norm; where it has `expected_rows`, the number of
    rows is guessed in public under AddRemove.
    """

    # Metadata routing hands the ledger on; it is never a constructor argument, for `clone` would copy it.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"ledger": True}
    _instead: ClassVar[dict[str, str]] = {}
    _loss: ClassVar[str]
    # Whether persons of several rows are protected, and whether a plan needs the number of rows.
    protects_units: ClassVar[bool] = False
    needs_n_rows: ClassVar[bool] = True
    # Whether a sparse X is taken, and whether `fit` warns where `noise_dominated_` is true.
    takes_sparse: ClassVar[bool] = False
    warns_of_noise: ClassVar[bool] = True
    dominated_advice: ClassVar[str] = DOMINATED

    budget: Budget
    adjacency: Adjacency
    x_bounds: Box | None = None
    schema: Schema | None = None
    fit_intercept: bool = True

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        with_parameters(cls)

    @abstractmethod
    def plan(self, declared: Declared) -> Planned:
        """Return what a fit will do: a plan priced without data, the rows, and how its release is read.

        Parameters
        ----------
        declared : Declared
            The checked declarations and the private rows.
        """

    @abstractmethod
    def _target(self) -> tuple[Interval | None, Callable[[Any], Target] | None, NDArray[Any] | None]:
        """Return the range of y (None for labels), how a frame's y is read (None for labels), and declared classes."""

    @refusing_others
    def fit(self, X: Any, y: Any, *, ledger: Ledger | None = None) -> Self:
        """Release the coefficients; charges the ledger once.

        Parameters
        ----------
        X : array-like, frame, or with `row_norm` any scipy.sparse matrix or array, shape (n_rows, n_features)
            The private features: numbers, or with a `schema` a frame of declared columns.
        y : array-like, shape (n_rows,)
            The private target: numbers, counts or labels.
        ledger : Ledger or None
            Is charged; None opens a ledger in memory whose total is the budget.

        Raises
        ------
        InvalidArgument, IncompatiblePlan
            If a declaration is not usable, or there is no such release; nothing is spent.
        InvalidData
            If the rows do not fit; names the column, quotes no cell; nothing is spent.
        BudgetExceeded
            If the ledger has too little left; the fitted state stays as it was.

        Guarantee
        ---------
        See the class.
        """
        self.fit_quietly(X, y, ledger=ledger)
        return self._warned()

    def fit_quietly(self, X: Any, y: Any, *, sample_weight: Any = None, ledger: Ledger | None) -> Self:
        """Fit as `fit` does, without a warning about what was released: a run may stay secret."""
        terms = self._declarations(ledger)
        check_pairing(X, y, sample_weight)
        return self._release(self._weighted(self._declare(terms, X, y), sample_weight), ledger)

    @refusing_others
    def fit_table(self, data: Any, formula: str, *, ledger: Ledger | None = None) -> Self:
        """Fit a formula on a table, such as a file, under the `schema`; charges the ledger once.

        Parameters
        ----------
        data : path, data frame, Arrow table
            The private records; read twice where their number is public and the method needs it.
        formula : str
            Such as "income ~ age + C(region)"; it says whether there is an intercept. The target of a logistic
            regression is a flag, or a category of two levels whose second is the positive one.
        ledger : Ledger or None
            Is charged; None opens a ledger in memory whose total is the budget.

        Raises
        ------
        InvalidArgument, InvalidFormula, IncompatiblePlan
            If a declaration is not usable, or there is no such release; nothing is spent.
        InvalidData
            If the records do not fit; names the column, quotes no cell; nothing is spent.
        BudgetExceeded
            If the ledger has too little left; the fitted state stays as it was.

        Guarantee
        ---------
        See the class.
        """
        terms = self._declarations(ledger)
        if self.schema is None or any(getattr(self, name, None) is not None for name in ("x_bounds", "row_norm")):
            raise InvalidType(f"{type(self).__name__} fits a formula under a `schema` alone. Give it, and no bounds.")
        declared = declare_table(terms, data, formula, check_schema(self.schema), count_rows=self.needs_n_rows)
        self._check_bounds(declared.target_bounds[0])
        self._release(self._weighted(declared, None), ledger)
        return self._warned()

    def _declarations(self, ledger: Ledger | None) -> FitDeclarations:
        """Return the checked declarations that do not depend on X and y."""
        schema = None if self.schema is None else check_schema(self.schema)
        if schema is not None and not self.protects_units:
            # Before the adjacency, which could only advise to name the unit.
            refuse_unit(schema, type(self).__name__)
        adjacency = settle_adjacency(self.adjacency, ledger, schema, units=self.protects_units, required=True)
        interval, read_number, classes = self._target()
        return FitDeclarations(
            estimator=self,
            loss=self._loss,
            budget=check_budget(self.budget),
            adjacency=adjacency,
            intercept=_checks.boolean(self.fit_intercept, "fit_intercept"),
            interval=interval,
            read_number=read_number,
            classes=classes,
            several=getattr(self, "several_classes", True),
            units=self.protects_units,
            sparse=self.takes_sparse,
        )

    def _declare(self, terms: FitDeclarations, X: Any, y: Any) -> Declared:
        """Return the fit's declarations, checked against each other and against the shapes of X and y."""
        ways = [name for name in _WAYS if name == "x_bounds" or hasattr(self, name)]
        given = [name for name in ways if getattr(self, name) is not None]
        owner = type(self).__name__
        if len(given) > 1:
            raise InvalidArgument(
                f"Give `{given[0]}` or `{given[1]}`, not both: each declares how large a row of X can be."
            )
        if not given:
            norm = ", or `row_norm`, the norm to which rows are scaled down" if "row_norm" in ways else ""
            raise InvalidType(
                f"{owner} needs `x_bounds`, a Box(lower=..., upper=...) with the public range of every column{norm}; "
                "for a frame a `schema` declares it instead."
            )
        entry_bound = getattr(self, "entry_bound", None)
        if entry_bound is not None and given != ["row_norm"]:
            raise InvalidArgument("`entry_bound` belongs to `row_norm`; `x_bounds` bounds every entry. Leave it out.")
        if self.schema is not None:
            return declare_frame(terms, X, y, check_schema(self.schema))
        if not terms.of_labels and terms.interval is None:
            raise InvalidType(f"{owner} needs `y_bounds`, an Interval(lower, upper) with the public range of y.")
        if given == ["row_norm"]:
            return declare_norms(
                terms,
                X,
                y,
                row_norm=self.row_norm,
                entry_bound=entry_bound,
            )
        return declare_arrays(terms, X, y, box_of(self))

    def _check_bounds(self, lower: float) -> None:
        """Refuse a range of the target that the loss has no meaning for."""

    def _weighted(self, declared: Declared, sample_weight: Any) -> Declared:
        """Return the fit with its weights; a model without them refuses some."""
        if sample_weight is not None:
            raise InvalidType(
                f"{type(self).__name__} has no argument `sample_weight`: weights change the sensitivity, and no "
                "maximum is declared. Leave them out."
            )
        return declared

    def _release(self, declared: Declared, ledger: Ledger | None) -> Self:
        """Release, and set the fitted attributes; nothing is set before all is done."""
        adjacency, n_rows = declared.adjacency, declared.n_rows
        if hasattr(self, "expected_rows"):
            n_rows = public_rows(type(self).__name__, adjacency, self.expected_rows, int(n_rows or 0))
        elif not adjacency.size_is_public or not n_rows:
            n_rows = None
        declared = declared.changed(n_rows=n_rows)
        self._take(carry_out(self.plan(declared), declared, ledger))
        return self

    def _warned(self) -> Self:
        """Warn where the noise hides what the model says: a function of the release and of public numbers."""
        if self.noise_dominated_ and self.warns_of_noise:
            too_long = STEPS_TOO_LONG in self.release_.notes
            warn(
                f"{STEPS_TOO_LONG[0].upper()}{STEPS_TOO_LONG[1:]}." if too_long else self.dominated_advice,
                NoiseDominatedWarning,
            )
        return self

    def _take(self, fitted: Fitted) -> None:
        """Set the fitted attributes from a released model; what a fit and a load end with."""
        result = fitted.result
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        for name, value in result.settings.items():
            setattr(self, f"{name}_", value)
        if result.columns is not None:
            self.feature_names_in_ = np.array(result.columns, dtype=object)
        if result.classes is not None:
            self.classes_ = result.classes
        for name, value in fitted.attributes.items():
            setattr(self, name, value)
        self.result_ = result
        self.release_ = fitted.released
        self.n_features_in_ = result.coefs.shape[1] if result.n_columns is None else result.n_columns
        self.n_rows_, self.target_bounds_ = result.n_rows, result.target_bounds
        self.method_, self.reason_, self.settings_ = result.method, result.reason, result.settings
        self.noise_dominated_ = result.noise_dominated
        self.uncertainty_, self.why_no_intervals_ = result.uncertainty, result.why_no_intervals
        self.design_, self.formula_, self.grid_ = result.design, result.formula, result.grid
        self.coef_, self.intercept_ = self._coefficients(result)

    @abstractmethod
    def _coefficients(self, result: RegressionResult) -> tuple[Any, Any]:
        """Return `coef_` and `intercept_` in the shapes of scikit-learn's own classes."""

    @property
    def coef_names_(self) -> NDArray[Any]:
        """What each coefficient belongs to, shape (n_coefficients,)."""
        return np.array(self.result().feature_names, dtype=object)

    def result(self) -> RegressionResult:
        """Return the model as a value, with standard errors and intervals where they are known to be right.

        Guarantee
        ---------
        Post-processing of the release: costs nothing.
        """
        check_is_fitted(self)
        return replace(self.result_, estimator=type(self).__name__)

    def summary(self, level: float = 0.95) -> Summary:
        """Return the table that is printed: estimates, standard errors that count the privacy noise, intervals."""
        return self.result().summary(level)

    def to_finding(self) -> Finding:
        """Return what a report says of the model."""
        return replace(self.result().to_finding(), again=(repr(self),))

    def dumps(self) -> str:
        """Return the text of a model file: strict JSON with the declarations, the release and nothing else."""
        return files.signed(self.result(), self).dumps()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote, in this version or an older one; its event is priced anew.

        Raises
        ------
        InvalidData
            If the file is damaged, or holds a model of another kind.
        """
        found: Self = files.load(path, cls)
        return found

    def take_result(self, result: RegressionResult) -> None:
        """Set the fitted attributes from a model that was read from a file."""
        value = (result.coefs, result.constants)  # of a release's value a model needs its coefficients alone
        self._take(Fitted(result=result, released=Release(value, result.event, result.label, result.notes)))

    def _margins(self, X: Any) -> NDArray[np.float64]:
        """Return linear predictors of new rows, shape (n_rows, n_models); NaN where a cell is missing under "drop"."""
        check_is_fitted(self)
        if self.design_ is not None:
            return linear_predictors(self._shown(), X)
        sparse = self.takes_sparse and self.grid_ is not None
        rows = check_new_matrix(self, X) if sparse else check_new_rows(self, X)
        return matrix_predictors(self._shown(), rows)

    def _shown(self) -> RegressionResult:
        """Return the model with the coefficients that the estimator shows, which a user may have changed."""
        coefs, constants = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        return replace(self.result_, coefs=coefs, constants=constants)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.target_tags.required = True
        tags.input_tags.sparse = self.takes_sparse and getattr(self, "row_norm", None) is not None
        return tags
