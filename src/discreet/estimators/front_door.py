"""What the estimators of the front door share: declarations, a choice, one release, coefficients."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType, NoiseDominatedWarning
from discreet.estimators.arguments import says_what_it_lacks
from discreet.estimators.methods.choice import PublicFacts, choose
from discreet.estimators.methods.declared import (
    BoundedRows,
    NormedRows,
    declare_arrays,
    declare_frame,
    declare_normed,
    declare_table,
)
from discreet.estimators.descent_base import INSTEAD, LARGE_DELTA
from discreet.estimators.fitted import FittedModel
from discreet.estimators.methods.inference import spread_of
from discreet.estimators.methods.dispatch import Asked, fit_by
from discreet.estimators.methods.quality import ASTRAY
from discreet.estimators.methods.weights import class_weights, declared_weights
from discreet.functional.neighbours import settle_adjacency
from discreet.lattice.bounds import Box, Interval
from discreet.privacy.adjacency import check_adjacency
from discreet.privacy.budgets import Approx, check_budget
from discreet.privacy.release import check_payer, with_labels_read, with_notes
from discreet.tables.frame_rows import check_schema
from discreet.tables.pairing import check_pairing
from discreet.tables.units import refuse_unit

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.estimators.methods.declared import Declared
    from discreet.estimators.methods.dispatch import Fitted
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.ledger import Ledger
    from discreet.tables.frame_rows import Target
    from discreet.tables.schema.schema import Schema

# What scikit-learn's arguments are called here, or why they are not here.
_INSTEAD = {
    **{name: advice for name, advice in INSTEAD.items() if name not in {"x_bounds", "schema", "selection"}},
    "bounds": "bounds are declared as x_bounds=Box(lower=, upper=) and y_bounds=Interval(lower, upper)",
    "solver": "the solver is the method: method=",
    "mechanism": "the law of the noise follows from method= and the budget; leave it out",
    "selection": 'a method is named by method="threshold" or "peel"',
    "normalize": "columns are scaled by their declared bounds; leave it out",
    "alpha": "the noise decides how much a model is pulled to 0; leave it out",
    "C": "the noise decides how much a model is pulled to 0; leave it out",
    "class_weight": "classes are weighted in LogisticRegression; leave it out",
}
# Settings that a method knows, beside `sparsity`.
_TAKEN = {
    "descent": ("n_steps", "step_size", "clip", "gram_share"),
    "threshold": ("n_steps", "step_size", "clip", "sparsity"),
    "peel": ("n_steps", "step_size", "clip", "sparsity"),
}
_GIVEN = ("sparsity", "n_steps", "step_size", "clip", "gram_share")


class FrontDoor(FittedModel, metaclass=ABCMeta):
    """The steps of a fit; the estimators add what their targets are."""

    # Metadata routing hands the ledger on; it is never a constructor argument, for `clone` would copy it.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"ledger": True}
    _instead: ClassVar[dict[str, str]] = _INSTEAD

    budget: Budget
    adjacency: Adjacency
    x_bounds: Box | None
    schema: Schema | None
    method: str
    expected_rows: int | None
    fit_intercept: bool
    sparsity: int | None
    row_norm: float | None
    entry_bound: float | None
    max_sample_weight: float | None

    @says_what_it_lacks
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
            Who pays; None opens a ledger in memory whose total is the budget.

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
        adjacency = self._neighbours(ledger)
        check_pairing(X, y, sample_weight)
        declared = self._declare(X, y, may_be_empty=not adjacency.size_is_public)
        declared = replace(
            declared, weights=declared_weights(sample_weight, self.max_sample_weight, self._class_weights(declared))
        )
        self._finish(declared, adjacency, ledger, stacklevel=4)
        return self

    @says_what_it_lacks
    def fit_table(self, data: Any, formula: str, *, ledger: Ledger | None = None) -> Self:
        """Fit a formula on a table, such as a file, under the `schema`; charges the ledger once.

        Parameters
        ----------
        data : path, data frame, Arrow table
            The private records; read twice under Replace, where their number is public.
        formula : str
            Such as "income ~ age + C(region)"; it says whether there is an intercept. The target of a logistic
            regression is a flag, or a category of two levels whose second is the positive one.
        ledger : Ledger or None
            Who pays; None opens a ledger in memory whose total is the budget.

        Raises
        ------
        InvalidArgument, InvalidFormula, IncompatiblePlan
            If a declaration is not usable, or no method fits it; nothing is spent.
        InvalidData
            If the records do not fit; names the column, quotes no cell; nothing is spent.
        BudgetExceeded
            If the ledger has too little left; the fitted state stays as it was.

        Guarantee
        ---------
        See the class.
        """
        adjacency = self._neighbours(ledger)
        if self.schema is None or self.x_bounds is not None or self.row_norm is not None:
            raise InvalidType(f"{type(self).__name__} fits a formula under a `schema` alone. Give it, and no bounds.")
        declared = declare_table(
            self, data, formula, schema=check_schema(self.schema), labels=self._loss == "logistic", adjacency=adjacency
        )
        self._check_bounds(declared.target_bounds[0])
        self._finish(declared, adjacency, ledger, stacklevel=4)
        return self

    def _check_bounds(self, lower: float) -> None:
        """Refuse a range of the target that the loss has no meaning for."""

    def _finish(self, declared: Declared, adjacency: Adjacency, ledger: Ledger | None, *, stacklevel: int) -> None:
        """Choose, release, and set the fitted attributes; nothing is set before all is done."""
        declared = declared.with_public_rows(type(self).__name__, adjacency, self.expected_rows)
        asked = Asked(
            loss=self._loss,
            budget=check_budget(self.budget),
            adjacency=adjacency,
            intercept=declared.intercept,
            given={name: getattr(self, name) for name in _GIVEN},
        )
        if declared.weights is None and self._has_class_weights:
            declared = replace(declared, weights=declared_weights(None, None, self._class_weights(declared)))
        choice = choose(self.method, self._facts(declared, asked))
        self._refuse_settings(choice.method)
        found = fit_by(choice.method, declared, asked, ledger)
        released = with_notes(found.released, declared.notes)
        if declared.labels_read:
            released = with_labels_read(released)
        if isinstance(self.budget, Approx) and self.budget.delta * declared.n_rows > 1:
            released = replace(released, notes=(*released.notes, LARGE_DELTA))
        found = replace(found, released=released)
        may_drop = isinstance(declared.rows, BoundedRows) and declared.rows.may_drop
        weighted = declared.weights is not None
        spread = spread_of(found, self._loss, adjacency, n_rows=declared.n_rows, may_drop=may_drop, weighted=weighted)
        self._take(declared, found)
        self.uncertainty_, self.why_no_intervals_ = spread.uncertainty, spread.reason
        self.method_, self.reason_ = choice.method, choice.reason
        if found.noise_dominated:
            warnings.warn(
                f"{ASTRAY[0].upper()}{ASTRAY[1:]}."
                if ASTRAY in released.notes
                else "Noise-dominated: by public numbers at least half of what the model says is privacy noise. Raise "
                "`budget`, use more rows or fewer columns, or predict the mean.",
                NoiseDominatedWarning,
                stacklevel=stacklevel,
            )

    def _neighbours(self, ledger: Ledger | None) -> Adjacency:
        """Return the adjacency that estimator, schema and ledger speak of; refuse units of several rows."""
        schema = None if self.schema is None else check_schema(self.schema)
        if schema is not None:  # before the adjacency, which could only advise to name the unit
            refuse_unit(schema, type(self).__name__)
        adjacency = check_adjacency(self.adjacency)
        settle_adjacency(adjacency, None, schema)
        return check_payer(ledger, adjacency)

    def _intercept(self) -> bool:
        return _checks.boolean(self.fit_intercept, "fit_intercept")

    def _facts(self, declared: Declared, asked: Asked) -> PublicFacts:
        rows = declared.rows
        normed = isinstance(rows, NormedRows)
        return PublicFacts(
            loss=asked.loss,
            n_rows=declared.n_rows,
            n_columns=len(declared.names),
            intercept=asked.intercept,
            budget=asked.budget,
            adjacency=asked.adjacency,
            bounded=not normed,
            sparse=isinstance(rows, NormedRows) and rows.sparse,
            n_models=declared.n_models,
            weighted=declared.weights is not None,
            sparsity=self.sparsity,
            row_norm=rows.row_norm if isinstance(rows, NormedRows) else 1.0,
            entry_bound=rows.entry_bound if isinstance(rows, NormedRows) else None,
        )

    def _refuse_settings(self, method: str) -> None:
        for name in _GIVEN:
            if getattr(self, name) is not None and name not in _TAKEN.get(method, ()):
                takers = [f'"{taker}"' for taker, names in _TAKEN.items() if name in names]
                raise InvalidArgument(
                    f'`{name}` is a setting of method {" or ".join(takers)}; the method is "{method}". '
                    f"Leave it out, or name the method."
                )

    @property
    def _has_class_weights(self) -> bool:
        return getattr(self, "class_weight", None) is not None

    def _class_weights(self, declared: Declared) -> NDArray[np.float64] | None:
        """Return the weight of every class, in the order of the classes; None where they are not weighted."""
        if not self._has_class_weights or declared.classes is None:
            return None
        return class_weights(self.class_weight, declared.classes)

    @abstractmethod
    def _target(self) -> tuple[Interval | None, Callable[[Any], Target] | None, NDArray[Any] | None]:
        """Return the range of y (None for labels), how a frame's y is read, and declared classes."""

    @abstractmethod
    def _read_numbers(self) -> Callable[[Any], NDArray[np.float64]] | None:
        """Return what makes numbers of y; None for labels."""

    def _declare(self, X: Any, y: Any, *, may_be_empty: bool) -> Declared:
        """Return the fit's declarations, checked against each other and against the shapes of X and y."""
        given = [name for name in ("x_bounds", "schema", "row_norm") if getattr(self, name) is not None]
        if len(given) > 1:
            raise InvalidArgument(
                f"Give `{given[0]}` or `{given[1]}`, not both: each declares how large a row of X can be."
            )
        if not given:
            raise InvalidType(
                f"{type(self).__name__} needs `x_bounds`, a Box(lower=..., upper=...) with the public range of every "
                "column; for a frame a `schema` declares it, and for sparse rows `row_norm`."
            )
        if self.entry_bound is not None and self.row_norm is None:
            raise InvalidArgument("`entry_bound` belongs to `row_norm`; `x_bounds` bounds every entry. Leave it out.")
        interval, target_of, classes = self._target()
        if self.schema is not None:
            return declare_frame(
                self,
                X,
                y,
                schema=check_schema(self.schema),
                target_of=target_of,
                classes=classes,
                intercept=self._intercept(),
                may_be_empty=may_be_empty,
            )
        if self._loss != "logistic" and interval is None:
            raise InvalidType(
                f"{type(self).__name__} needs `y_bounds`, an Interval(lower, upper) with the public range of y."
            )
        if self.row_norm is not None:
            return declare_normed(
                self,
                X,
                y,
                row_norm=self.row_norm,
                entry_bound=self.entry_bound,
                read_target=self._read_numbers(),
                bounds=(0.0, 1.0) if interval is None else (interval.lower, interval.upper),
                classes=classes,
                intercept=self._intercept(),
                may_be_empty=may_be_empty,
            )
        return declare_arrays(
            self,
            X,
            y,
            box=self._box(),
            interval=interval,
            classes=classes,
            intercept=self._intercept(),
            may_be_empty=may_be_empty,
        )

    def _box(self) -> Box:
        if isinstance(self.x_bounds, Box):
            return self.x_bounds
        if isinstance(self.x_bounds, Interval):
            raise InvalidType(
                f"{type(self).__name__} needs `x_bounds` for whole rows; Interval bounds one number. "
                "Use Box(lower=..., upper=...)."
            )
        raise InvalidType(f"`x_bounds` must be a Box(lower=..., upper=...); found {type(self.x_bounds).__name__}.")

    def _take(self, declared: Declared, found: Fitted) -> None:
        """Set the fitted attributes: declarations and the release, nothing else of the rows."""
        self.__dict__.pop("feature_names_in_", None)
        self.n_features_in_ = declared.estimator.n_features_in_
        if hasattr(declared.estimator, "feature_names_in_"):
            self.feature_names_in_ = declared.estimator.feature_names_in_
        rows = declared.rows
        self.design_ = rows.design if isinstance(rows, BoundedRows) else None
        self.formula_ = rows.formula if isinstance(rows, BoundedRows) else None
        self.grid_ = found.grid
        self.release_ = found.released
        self.coef_names_ = np.array(declared.names, dtype=object)
        self.noise_dominated_ = found.noise_dominated
        self.settings_ = found.settings
        self.has_intercept_ = declared.intercept
        self.n_rows_ = declared.n_rows
        self.target_bounds_ = declared.target_bounds
        self.take_coefficients(found.coefs, found.constants)
        if declared.classes is not None:
            self.classes_ = declared.classes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.target_tags.required = True
        tags.input_tags.sparse = self.row_norm is not None
        return tags
