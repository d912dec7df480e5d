"""What a regression or a release of moments says to a reader of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.privacy.findings import Estimate, Finding, finite
from discreet.tables.schema.declarations import declared_texts

if TYPE_CHECKING:
    from discreet.functional.inference import RegressionResult
    from discreet.functional.moments import Moments

LEVEL = 0.95
_TITLES = {"squared": "Linear regression", "logistic": "Logistic regression (polynomial of degree two)"}


def finding_of_regression(result: RegressionResult) -> Finding:
    """Return a regression's finding, with intervals of 95 %."""
    errors, chances, shares = result.bse, result.pvalues, result.noise_shares
    intervals = result.conf_int(LEVEL)
    estimates = tuple(
        Estimate(
            name=name,
            value=value,
            standard_error=finite(errors[name]),
            lower=finite(intervals[name][0]),
            upper=finite(intervals[name][1]),
            p_value=finite(chances[name]),
            noise_share=finite(shares[name]),
        )
        for name, value in result.params.items()
    )
    summary = result.summary(LEVEL)
    # The first two remarks are the cost and its meaning, which a report tells in a section of its own, with the unit.
    quality = tuple(line for line in summary.remarks[2:] if not line.startswith(("Bounds:", "Note:", "Unit:")))
    columns = {} if result.schema is None else result.schema.columns
    return Finding(
        title=_TITLES[result.loss],
        asked=(("Formula", result.formula), ("Loss", result.loss)),
        event=result.event,
        label=result.label,
        estimates=estimates,
        level=LEVEL if result.has_intervals else None,
        quality=quality,
        noise_dominated=result.noise_dominated,
        declarations=declared_texts(columns),
        again=(_command(result),),
        notes=result.notes,
    )


def finding_of_moments(moments: Moments) -> Finding:
    """Return what a release of moments says: its columns; its numbers are for regressions."""
    released = moments.release
    columns = {} if moments.design is None else moments.design.schema.columns
    return Finding(
        title="Moments: one noisy Gram matrix for many regressions",
        asked=(("Terms", ", ".join(moments.names)),),
        event=released.event,
        label=released.label,
        quality=("Every regression among these terms is free: discreet fit MOMENTS FORMULA.",),
        declarations=declared_texts(columns),
        again=(
            f'discreet release DATA --schema SCHEMA --terms "{" + ".join(moments.names)}" --ledger LEDGER -o MOMENTS',
        ),
        notes=released.notes,
    )


def _command(result: RegressionResult) -> str:
    asked = f'"{result.formula}" --loss {result.loss} {_budget_options(result)}'
    return f"discreet fit DATA --schema SCHEMA {asked} --ledger LEDGER -o MODEL"


def _budget_options(result: RegressionResult) -> str:
    cost = result.cost
    names = {"Pure": ("epsilon",), "Approx": ("epsilon", "delta"), "Zcdp": ("rho",), "Gdp": ("mu",)}
    return " ".join(f"--{name} {getattr(cost, name)}" for name in names[type(cost).__name__])
