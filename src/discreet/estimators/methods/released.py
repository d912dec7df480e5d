"""One fit is one plan, one release, one result."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.privacy.budgets import Approx
from discreet.privacy.release import Release, release, with_labels_read, with_notes

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.estimators.methods.declared import Declared
    from discreet.models.result import RegressionResult
    from discreet.privacy.ledger import Ledger

LARGE_DELTA = "delta is above 1 / the number of rows: publishing one whole record would keep it, too"


@dataclass(frozen=True, eq=False, kw_only=True)
class Planned:
    """What a fit will do.

    Parameters
    ----------
    plan : Plan
        The plan of its one release.
    data : object
        What the plan's `measure` takes.
    read : callable
        Makes a `RegressionResult` of the release; post-processing. What `Declared` says of the fit, it need not say.
    attributes : callable
        Makes of the release what an estimator shows beside, by name.
    """

    plan: Any
    data: Any
    read: Callable[[Release[Any]], RegressionResult]
    attributes: Callable[[Release[Any]], dict[str, Any]] = lambda _: {}


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """A released model; public.

    Parameters
    ----------
    result : RegressionResult
        What it says.
    released : Release
        What it was read from.
    attributes : dict
        What an estimator shows beside, by name.
    """

    result: RegressionResult
    released: Release[Any]
    attributes: dict[str, Any] = field(default_factory=dict)


def carry_out(planned: Planned, declared: Declared, ledger: Ledger | None) -> Fitted:
    """Return what a planned fit finds; charges the ledger once."""
    released = release(planned.plan, planned.data, ledger, n_rows=declared.n_rows)
    released = with_notes(released, declared.notes)
    if declared.labels_read:
        released = with_labels_read(released)
    budget = declared.budget
    if isinstance(budget, Approx) and declared.n_rows is not None and budget.delta * declared.n_rows > 1:
        released = with_notes(released, (LARGE_DELTA,))
    # The charge stands: what is read from the release neither raises nor warns, however large its numbers are.
    with np.errstate(all="ignore"):
        found = planned.read(released)
    released = with_notes(released, tuple(note for note in found.notes if note not in released.notes))
    rows = declared.rows
    design = rows.design
    result = replace(
        found,
        notes=released.notes,
        label=released.label,
        names=declared.columns if not rows.bounded else rows.names,
        formula=rows.formula if rows.formula is not None else found.formula,
        classes=declared.classes,
        target_bounds=declared.target_bounds,
        n_rows=declared.n_rows,
        schema=None if design is None else design.schema,
        labels=design is not None and dict(design.written).get("labels") is not None,
        design=design,
        n_columns=declared.n_columns,
        columns=declared.columns,
    )
    return Fitted(result=result, released=released, attributes=planned.attributes(released))
