"""Which method fits a table and a budget: a rule in public facts, measured in experiments/results/front-door.md.

A method is imported when it is used, for that takes longer than many a fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument, InvalidType
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Approx, Pure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from discreet.estimators.methods.declared import Declared, Planned
    from discreet.models.result import RegressionResult
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget

METHODS = ("auto", "moments", "descent", "threshold", "peel", "perturbation", "sample")
LOSSES = ("squared", "logistic", "poisson")
_NAMES = {"squared": "linear", "logistic": "logistic", "poisson": "Poisson"}
# What a method gives up.
_FEW_COLUMNS = "columns whose effect is below the noise, and intervals"
_RIDGE = "intervals; a ridge pulls the coefficients to 0"
_GIVEN_UP = {
    "moments": "nothing for one regression; `discreet release` has the same price and answers many",
    "descent": "further regressions: each costs anew, where one `discreet release` answers many",
    "threshold": _FEW_COLUMNS,
    "peel": _FEW_COLUMNS,
    "steps": _FEW_COLUMNS,
    "perturbation": _RIDGE,
    "sample": _RIDGE,
}
_NO_LOGIT = "log odds ratios, p values and intervals: a parabola stands in the place of the logistic loss"
# Beyond so many coefficients a Gram matrix takes too much time: its eigenvectors, and products with all rows. Its noise
# is no reason: what it hides is not whitened, and the steps are then plain noisy ones.
MOST_WHITENED = 2000
# What a pure budget is worth: n * epsilon / c, c = 2 (Replace) or 1 (AddRemove). Steps share an epsilon by number, one
# Gram matrix or one objective does not: they win where it is more than this many times p**2, or p, for p parameters.
_MOMENTS_ABOVE, _PERTURBATION_ABOVE = 1000.0, 500.0
# The sampler's work grows exponentially with the number of parameters.
MOST_SAMPLED = 5


@dataclass(frozen=True, kw_only=True)
class PublicFacts:
    """What the rule reads; nothing else is known of a table before a charge.

    Parameters
    ----------
    loss : {"squared", "logistic", "poisson"}
        What is minimized.
    n_rows : int or None
        Rows under Replace, expected ones under AddRemove; None where nothing public says how many.
    n_columns : int
        Coefficients, without the intercept.
    intercept : bool
        Whether there is one.
    budget, adjacency
        The promise.
    bounded : bool
        Whether every column has bounds; otherwise rows have a norm.
    sparse : bool
        Whether the rows are stored without their zeros.
    n_models : int
        One, or one a class where there are more than two.
    weighted : bool
        Whether rows have weights.
    sparsity : int or None
        How many coefficients are wanted.
    row_norm, entry_bound : float
        Of rows that have a norm.
    unit : str or None
        Whose rows are protected together, where several rows may be of one person.
    """

    loss: str
    n_rows: int | None
    n_columns: int
    intercept: bool
    budget: Budget
    adjacency: Adjacency
    bounded: bool
    sparse: bool = False
    n_models: int = 1
    weighted: bool = False
    sparsity: int | None = None
    row_norm: float = 1.0
    entry_bound: float | None = None
    unit: str | None = None

    @property
    def n_parameters(self) -> int:
        """Coefficients, the intercept's included."""
        return self.n_columns + self.intercept


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A method and why, in one line.

    Parameters
    ----------
    method : str
        The method.
    reason : str
        Why.
    """

    method: str
    reason: str


def choose(method: str, facts: PublicFacts) -> Choice:
    """Return the method that was asked for, or that the rule picks.

    Parameters
    ----------
    method : {"auto", "moments", "descent", "threshold", "peel", "perturbation", "sample"}
        As the estimators take it.
    facts : PublicFacts
        What is public.

    Raises
    ------
    IncompatiblePlan
        If the method that was asked for has no such release, or no method has; says which would do.
    """
    name = _checks.one_of(method, "method", METHODS)
    if name == "auto":
        return _automatic(facts)
    refusal = why_not(name, facts)
    if refusal is not None:
        raise IncompatiblePlan(f'`method` "{name}" {refusal}')
    return Choice(method=name, reason=f"{name}, for `method` asks for it.")


def given_up(method: str, loss: str) -> str | None:
    """Return what a method gives up, as a part of a sentence; None of methods of one class alone."""
    return _NO_LOGIT if (method, loss) == ("moments", "logistic") else _GIVEN_UP.get(method)


def why_not(method: str, facts: PublicFacts) -> str | None:
    """Return why a method has no release for these facts, None where it has."""
    pure, loss = isinstance(facts.budget, Pure), facts.loss
    zero_delta = isinstance(facts.budget, Approx) and facts.budget.delta == 0
    gaussian = f"has Gaussian noise, which has no price in {facts.budget!r}. "
    refusals = (
        (
            method != "moments" and facts.unit is not None,
            f'protects single rows, and the schema declares the unit `{facts.unit}`. Use method="moments".',
        ),
        (
            method != "descent" and facts.weighted,
            'does not take weights, whose sensitivity is proved for method="descent" alone. Leave the weights out.',
        ),
        (
            method in {"moments", "descent", "sample"} and not facts.bounded,
            "needs bounds of every column. Declare `x_bounds` or a `schema`, or use another method.",
        ),
        (
            method in {"moments", "perturbation", "sample"} and loss == "poisson",
            'is not offered for counts. Use method="descent".',
        ),
        (
            method == "perturbation" and loss != "logistic",
            'is offered for labels alone. Use method="descent" or "moments".',
        ),
        (
            method == "perturbation" and not isinstance(facts.budget, (Pure, Approx)),
            f"perturbs an objective, which has a price in Pure and Approx; found {facts.budget!r}.",
        ),
        (
            method in {"moments", "sample"} and facts.n_models > 1,
            'is offered for two classes. Use method="descent".',
        ),
        (
            method in {"threshold", "peel"} and (pure or zero_delta),
            gaussian + "Use Approx with a delta, Zcdp or Gdp.",
        ),
        (method == "descent" and zero_delta, gaussian + "Use Pure(epsilon=...)."),
        (
            method == "sample" and not isinstance(facts.adjacency, Replace),
            "is offered under Replace(): the number of rows bounds its work.",
        ),
        (
            method == "sample" and facts.n_columns > MOST_SAMPLED,
            f"is offered for up to {MOST_SAMPLED} coefficients; found {facts.n_columns}.",
        ),
    )
    return next((text for holds, text in refusals if holds), None)


def _automatic(facts: PublicFacts) -> Choice:
    if facts.unit is not None or facts.weighted:
        return _of_alone(facts)
    if facts.n_rows is None:
        return _of_unknown_size(facts)
    return _of_bounded(facts) if facts.bounded else _of_normed(facts)


def _of_alone(facts: PublicFacts) -> Choice:
    """Return the one method that protects units of several rows, or that takes weights."""
    if facts.unit is not None:
        if why_not("moments", facts) is not None:
            raise IncompatiblePlan(
                f"No method of a {_NAMES[facts.loss]} regression protects each `{facts.unit}`. "
                "Give one row per unit and take `unit` out of the schema."
            )
        return Choice(method="moments", reason=f"moments, for no other method protects each `{facts.unit}`.")
    refusal = why_not("descent", facts)
    if refusal is not None:
        raise IncompatiblePlan(f'Weights are taken by the method "descent" alone, which {refusal}')
    return Choice(method="descent", reason="descent, for the rows have weights.")


def _of_bounded(facts: PublicFacts) -> Choice:
    wide = facts.n_parameters > MOST_WHITENED
    pure = _of_pure(facts) if isinstance(facts.budget, Pure) and not wide else None
    if pure is not None:
        return pure
    if not wide and why_not("descent", facts) is None:
        return Choice(method="descent", reason="descent, for the table is dense and every column has bounds.")
    if why_not("threshold", facts) is None:
        reason = f"a Gram matrix of {facts.n_parameters} columns takes too long" if wide else why_not("descent", facts)
        return Choice(method="threshold", reason=f"threshold, for {_clause(reason)}.")
    for method in ("perturbation", "descent", "moments"):
        if why_not(method, facts) is None:
            return Choice(method=method, reason=f"{method}, for no other method has a price in {facts.budget!r}.")
    raise IncompatiblePlan(
        f"No method fits a {_NAMES[facts.loss]} regression under {facts.budget!r}. "
        "Use Approx with a delta, Zcdp or Gdp, or let the model have an intercept."
    )


def _of_unknown_size(facts: PublicFacts) -> Choice:
    """Return the method that divides by no number of rows, where it loses nothing by it."""
    if facts.loss == "squared" and facts.bounded:
        reason = "moments, for the number of rows is private, and `expected_rows` gives no public guess of it."
        return Choice(method="moments", reason=reason)
    parabola = facts.loss == "logistic" and facts.bounded
    also = ', or take method="moments", whose estimates are no log odds ratios' if parabola else ""
    raise InvalidType(
        f"A {_NAMES[facts.loss]} regression needs `expected_rows` under AddRemove(), where the number of rows is "
        f"private: give a public guess of it{also}."
    )


def _of_pure(facts: PublicFacts) -> Choice | None:
    """Return what is better than a descent in a pure budget, by how much it is worth; None where nothing is."""
    assert isinstance(facts.budget, Pure)  # noqa: S101  (what is asked for)
    assert facts.n_rows is not None  # noqa: S101  (asked before)
    changed = facts.adjacency.rows_changed
    worth, p = facts.n_rows * float(facts.budget.epsilon) / changed, facts.n_parameters
    told = f"{facts.n_rows} rows and {p} parameters in a pure budget"
    if facts.loss == "squared" and worth > _MOMENTS_ABOVE * p**2 and why_not("moments", facts) is None:
        return Choice(method="moments", reason=f"moments, for many steps would share it: {told}.")
    if worth > _PERTURBATION_ABOVE * p and why_not("perturbation", facts) is None:
        return Choice(method="perturbation", reason=f"perturbation, for many steps would share it: {told}.")
    return None


def _clause(reason: str | None) -> str:
    """Return a refusal as a clause: descent is what was refused."""
    text = str(reason)
    return text if text.startswith("a Gram") else f"descent {text.partition(':')[0].rstrip('.')}"


def _of_normed(facts: PublicFacts) -> Choice:
    what = "sparse" if facts.sparse else "bounded by a norm alone"
    if why_not("threshold", facts) is None:
        from discreet.descent.calibration import automatic_selection
        from discreet.lattice.row_grid import RowGrid

        n_columns = facts.n_columns
        sparsity = min(facts.sparsity or n_columns, n_columns)
        found = automatic_selection(RowGrid(n_columns, facts.row_norm, facts.entry_bound), sparsity)
        return Choice(method=found, reason=f"{found}, for the rows are {what}.")
    if why_not("perturbation", facts) is None:
        return Choice(method="perturbation", reason=f"perturbation, for the rows are {what} and the budget is pure.")
    raise IncompatiblePlan(
        f"No method fits a {_NAMES[facts.loss]} regression of rows that are {what} under {facts.budget!r}. "
        "Use Approx with a delta, Zcdp or Gdp, or declare `x_bounds`."
    )


# Settings that a method takes.
TAKEN = {
    "descent": ("n_steps", "step_size", "clip", "gram_share"),
    "threshold": ("n_steps", "step_size", "clip", "sparsity"),
    "peel": ("n_steps", "step_size", "clip", "sparsity"),
}
SETTINGS = ("sparsity", "n_steps", "step_size", "clip", "gram_share")


def plan_by(method: str, declared: Declared, given: Mapping[str, Any]) -> Planned:
    """Return the plan of a fit by the method that was asked for, or that public facts choose.

    Parameters
    ----------
    method : str
        One of `choice.METHODS`.
    declared : Declared
        The fit.
    given : mapping
        Settings, None for a default.

    Raises
    ------
    InvalidArgument, IncompatiblePlan
        If a setting belongs to another method, or the method has no such release; says which would do.
    """
    choice = choose(method, facts_of(declared, given.get("sparsity")))
    refuse_settings(choice.method, given)
    return with_reason(_PLANS[choice.method](declared, given), choice)


def with_reason(planned: Planned, choice: Choice) -> Planned:
    """Return a planned fit whose result says why it was fitted so."""

    def read(released: Any) -> RegressionResult:
        return replace(planned.read(released), reason=choice.reason)

    return replace(planned, read=read)


def facts_of(declared: Declared, sparsity: int | None) -> PublicFacts:
    """Return what the choice of a method reads."""
    rows = declared.rows
    return PublicFacts(
        loss=declared.loss,
        n_rows=declared.n_rows,
        n_columns=rows.n_coefficients,
        intercept=declared.intercept,
        budget=declared.budget,
        adjacency=declared.adjacency,
        bounded=rows.bounded,
        sparse=rows.sparse,
        n_models=declared.n_models,
        weighted=declared.weights is not None,
        sparsity=sparsity,
        row_norm=1.0 if rows.bounded else rows.row_norm,
        entry_bound=None if rows.bounded else rows.entry_bound,
        unit=declared.adjacency.unit,
    )


def refuse_settings(method: str, given: Mapping[str, Any]) -> None:
    """Refuse settings that belong to other methods; names those."""
    for name in SETTINGS:
        if given.get(name) is not None and name not in TAKEN.get(method, ()):
            takers = [f'"{taker}"' for taker, names in TAKEN.items() if name in names]
            raise InvalidArgument(
                f'`{name}` is a setting of method {" or ".join(takers)}; the method is "{method}". '
                f"Leave it out, or name the method."
            )


def _by_moments(declared: Declared, _: Mapping[str, Any]) -> Planned:
    from discreet.estimators.methods.moments import objective_of, plan_moments
    from discreet.estimators.methods.quality import PARABOLA

    squared = declared.loss == "squared"
    planned = plan_moments(declared, objective_of(declared.loss, declared.target_bounds))

    def read(released: Any) -> RegressionResult:
        found = replace(planned.read(released), formula=None)
        return found if squared else replace(found, uncertainty=None, no_intervals=PARABOLA)

    return replace(planned, read=read)


def _by_descent(declared: Declared, given: Mapping[str, Any]) -> Planned:
    from discreet.estimators.methods.descents import plan_descent_model

    return plan_descent_model(declared, given)


def _by_perturbation(declared: Declared, _: Mapping[str, Any]) -> Planned:
    from discreet.descent.rivals.models import plan_perturbed
    from discreet.estimators.methods.coded import plan_normed

    return plan_normed(declared, plan_perturbed, method="perturbation")


def _by_draw(declared: Declared, _: Mapping[str, Any]) -> Planned:
    from discreet.estimators.methods.sampled import plan_draw

    return plan_draw(declared)


def _by_steps(method: str, declared: Declared, given: Mapping[str, Any]) -> Planned:
    from discreet.descent.step_models import plan_steps
    from discreet.estimators.methods.coded import plan_normed

    settings: dict[str, Any] = {name: given.get(name) for name in TAKEN[method]}
    plan_one = partial(plan_steps, selection=method, shorten_steps=not declared.rows.sparse, **settings)
    return plan_normed(declared, plan_one, method=method)


_PLANS: dict[str, Callable[[Declared, Mapping[str, Any]], Planned]] = {
    "moments": _by_moments,
    "descent": _by_descent,
    "threshold": partial(_by_steps, "threshold"),
    "peel": partial(_by_steps, "peel"),
    "perturbation": _by_perturbation,
    "sample": _by_draw,
}
