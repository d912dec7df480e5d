"""The methods of the front door by name; each is imported when it is used, for it takes longer than many a fit."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidArgument
from discreet.estimators.methods.choice import PublicFacts, choose

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from discreet.estimators.methods.choice import Choice
    from discreet.estimators.methods.declared import Declared
    from discreet.estimators.methods.released import Planned
    from discreet.models.result import RegressionResult

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
    from discreet.estimators.methods.inference import PARABOLA
    from discreet.estimators.methods.moments import objective_of, plan_moments

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
