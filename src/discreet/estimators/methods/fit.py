"""One fit by the front door without an estimator: what the command does with a table, or with rows that have a norm."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from discreet.descent.private_table import Passes, PrivateTable
from discreet.errors import InvalidArgument
from discreet.estimators.methods.choice import TAKEN, Choice, choose, facts_of, plan_by, refuse_settings, with_reason
from discreet.estimators.methods.declared import Fitted, carry_out, public_rows
from discreet.estimators.methods.moments import objective_of, plan_moments
from discreet.estimators.methods.reading import FitDeclarations, declare_matrix, declare_table
from discreet.tables.frame_rows import number_target

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from discreet.estimators.methods.declared import Declared, Planned
    from discreet.lattice.bounds import Interval
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.ledger import Ledger
    from discreet.tables.blocks import Table
    from discreet.tables.schema.schema import Schema


@dataclass(frozen=True, kw_only=True)
class FitTerms:
    """What is public about a fit, whatever it reads.

    Parameters
    ----------
    owner : str
        Who fits, for messages.
    loss : {"squared", "logistic", "poisson"}
        What is minimized.
    method : str
        One of `choice.METHODS`.
    budget, adjacency
        The promise.
    expected_rows : int or None
        Under AddRemove a public guess of the number of rows.
    settings : mapping
        By name, None for a default: those of `dispatch.SETTINGS`, `mechanism` and `radius` of "moments", and of noisy
        steps `selection` and `noise`, which name the kind of step in the place of a method.
    """

    owner: str
    loss: str
    method: str = "auto"
    budget: Budget
    adjacency: Adjacency
    expected_rows: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def takes_steps(self) -> bool:
        """Whether a kind of noisy step was named."""
        return any(self.settings.get(name) is not None for name in ("selection", "noise"))

    @property
    def counts_rows(self) -> bool:
        """Whether rows are counted before they are read: one noisy Gram matrix needs no number of them."""
        return self.method != "moments" and self.adjacency.unit is None

    def declarations(
        self, *, intercept: bool = True, bounds: Interval | None = None, classes: Any = None
    ) -> FitDeclarations:
        """Return what the readers take.

        Parameters
        ----------
        intercept : bool
            Whether the model has one; of a table its formula says it.
        bounds : Interval or None
            The range of a number; None where a schema declares it.
        classes : ndarray or None
            Declared class labels.
        """
        if bounds is not None:
            check_target_bounds(self.loss, bounds.lower)
        return FitDeclarations(
            estimator=None,
            loss=self.loss,
            budget=self.budget,
            adjacency=self.adjacency,
            intercept=intercept,
            interval=bounds,
            read_number=None if self.loss == "logistic" else partial(number_target, y_bounds=bounds),
            classes=classes,
            units=self.adjacency.unit is not None,
        )

    def sized(self, declared: Declared) -> Declared:
        """Return a fit with the public number of rows; None where no one declared it and a method may do without."""
        counted = self.counts_rows and self.adjacency.size_is_public
        may_lack = self.method in {"auto", "moments"} and not self.takes_steps and not counted
        if self.adjacency.unit is not None or (may_lack and self.expected_rows is None):
            return declared.changed(n_rows=None)
        return declared.changed(
            n_rows=public_rows(self.owner, self.adjacency, self.expected_rows, int(declared.n_rows or 0))
        )


def declare_records(
    terms: FitTerms,
    data: Any,
    formula: str,
    schema: Schema,
    *,
    watch: Callable[[Table], Callable[[int], None] | None] = lambda _: None,
) -> Declared:
    """Return the fit of a formula on the records of a table; see `reading.declare_table`.

    Raises
    ------
    InvalidArgument, InvalidFormula, InvalidData
        If formula and table do not fit the schema, or a count's bounds do not begin at 0.
    """
    declared = declare_table(terms.declarations(), data, formula, schema, count_rows=terms.counts_rows, watch=watch)
    check_target_bounds(terms.loss, declared.target_bounds[0])
    return terms.sized(declared)


def declare_scaled_rows(
    terms: FitTerms,
    matrix: Any,
    target: Any,
    *,
    row_norm: float,
    entry_bound: float | None = None,
    intercept: bool = True,
    bounds: Interval | None = None,
    classes: NDArray[Any] | None = None,
) -> Declared:
    """Return the fit of rows that are scaled down to a norm.

    Parameters
    ----------
    terms : FitTerms
        What is public.
    matrix : csr_array or ndarray, shape (n_rows, n_columns)
        The features, as `readers.sparse_files` gives them.
    target : ndarray of shape (n_rows,)
        Numbers or labels.
    row_norm, entry_bound, intercept
        As for :class:`LinearRegression`.
    bounds : Interval or None
        Of a number or a count.
    classes : ndarray or None
        Of labels, the positive one last.

    Raises
    ------
    InvalidArgument, InvalidData
        If the rows do not fit; quotes no cell.
    """
    declarations = terms.declarations(intercept=intercept, bounds=bounds, classes=classes)
    least = 0 if declarations.may_be_empty else 1
    if matrix.shape[0] < least or matrix.shape[1] < 1:
        raise InvalidArgument(
            "A regression needs at least one column, and under Replace() at least one row. Give another file."
        )
    declared = declare_matrix(
        declarations,
        matrix,
        target,
        row_norm=row_norm,
        entry_bound=entry_bound,
        columns=int(matrix.shape[1]),
    )
    return terms.sized(declared)


def check_target_bounds(loss: str, lower: float) -> None:
    """Refuse a range of the target that the loss has no meaning for."""
    if loss == "poisson" and lower != 0.0:
        raise InvalidArgument(
            f"`y_bounds` of a count must begin at 0; found lower = {lower!r}. "
            "Declare counts from 0 to the largest that can occur."
        )


def plan_fit(terms: FitTerms, declared: Declared) -> Planned:
    """Return what a fit will do, by the method that was asked for or that public facts choose.

    Raises
    ------
    InvalidArgument, InvalidType, IncompatiblePlan
        If a setting belongs to another method, or no method has such a release; says which would do.
    """
    given = terms.settings
    if terms.takes_steps:
        return _of_steps(declared, given)
    facts = facts_of(declared, given.get("sparsity"))
    choice = choose(terms.method, facts)
    if choice.method == "perturbation" and terms.method == "auto" and facts.sparsity is not None:
        choose("threshold", facts)  # says which budgets few columns have a price in
    if choice.method != "moments":
        return plan_by(terms.method, declared, given)
    refuse_settings("moments", given)
    objective = objective_of(terms.loss, declared.target_bounds, given.get("radius"))
    planned = plan_moments(declared, objective, mechanism=given.get("mechanism") or "auto")
    return with_reason(planned, choice)


def fit(
    terms: FitTerms, declared: Declared, ledger: Ledger | None, progress: Callable[[int, int], None] | None = None
) -> Fitted:
    """Release the coefficients; charges the ledger once.

    Parameters
    ----------
    terms : FitTerms
        What is public.
    declared : Declared
        By `declare_records` or `declare_scaled_rows`.
    ledger : Ledger or None
        Is charged, and has the same neighbors; None opens a ledger in memory whose total is the budget.
    progress : callable, optional
        Called with how many of noisy steps are done, and how many there will be: public numbers.

    Raises
    ------
    InvalidArgument, InvalidType, IncompatiblePlan
        If there is no such release; nothing is spent.
    InvalidData
        If the rows do not fit; nothing is spent.
    BudgetExceeded
        If the ledger has too little left.

    Guarantee
    ---------
    That of the method; all are chosen and planned from public facts.
    """
    planned = plan_fit(terms, declared)
    return carry_out(planned if progress is None else _watched(planned, progress), declared, ledger)


def _of_steps(declared: Declared, given: Mapping[str, Any]) -> Planned:
    from discreet.descent.step_models import plan_steps
    from discreet.estimators.methods.coded import plan_normed

    names = (*TAKEN["threshold"], "selection", "noise")
    settings = {name: given[name] for name in names if given.get(name) is not None}
    kind = settings.get("selection", "auto")
    planned = plan_normed(declared, partial(plan_steps, **settings), method="steps")
    return with_reason(planned, Choice(method="steps", reason=f"steps of the kind {kind}, which was asked for."))


def _watched(planned: Planned, progress: Callable[[int, int], None]) -> Planned:
    """Return a fit that says how many passes over its rows are done, where it has a fixed number of them."""
    if not isinstance(planned.data, PrivateTable) or "n_steps" not in planned.plan.one.settings:
        return planned
    passes = Passes(planned.plan.one.settings["n_steps"] * planned.plan.n_models, progress)
    return replace(planned, data=replace(planned.data, passes=passes))
