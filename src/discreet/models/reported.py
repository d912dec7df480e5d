"""What a fitted model says to a reader of a report."""

from __future__ import annotations

from typing import Any

from discreet.models.printed import quality_of, selected_of, shown_names, title_of
from discreet.privacy.findings import Estimate, Finding, finite
from discreet.tables.schema.declarations import declared_texts

LEVEL = 0.95
_OF_DEGREE_TWO = "Logistic regression (polynomial of degree two)"
# Methods by which the command fits a formula.
_COMMANDED = ("moments", "descent", "threshold", "peel", "perturbation", "sample")
# The settings that are printed, in this order.
_SETTINGS = ("selection", "n_steps", "step_size", "clip", "sparsity")


def finding_of_result(result: Any) -> Finding:
    """Return a fitted model's finding, with intervals of 95 % where they are valid."""
    errors, chances, shares = result.bse, result.pvalues, result.noise_shares
    intervals = result.conf_int(LEVEL)
    estimates = tuple(
        Estimate(
            name=name,
            value=result.params[name],
            standard_error=finite(errors[name]),
            lower=finite(intervals[name][0]),
            upper=finite(intervals[name][1]),
            p_value=finite(chances[name]),
            noise_share=finite(shares[name]),
        )
        for name in shown_names(result)
    )
    parabola = result.loss == "logistic" and result.method == "moments" and result.reason is None
    return Finding(
        title=_OF_DEGREE_TWO if parabola else title_of(result.loss),
        asked=_asked(result),
        event=result.event,
        label=result.label,
        estimates=estimates,
        level=LEVEL if result.has_intervals else None,
        # A report tells the cost, the unit and the notes in sections of their own, and bounds with the declarations.
        quality=tuple(selected_of(result) + [line for line in quality_of(result) if not line.startswith("Bounds:")]),
        noise_dominated=result.noise_dominated,
        declarations=_declared(result),
        again=(_again(result),),
        notes=result.notes,
    )


def _asked(result: Any) -> tuple[tuple[str, str], ...]:
    asked = [] if result.formula is None else [("Formula", result.formula)]
    if result.estimator is not None:
        asked.append(("Model", result.estimator))
    asked.append(("Loss", result.loss))
    if result.classes is not None:
        asked.append(("Classes", ", ".join(map(str, result.classes))))
    if result.reason is not None:
        asked += [("Method", result.method), ("Because", result.reason)]
    for name in _SETTINGS:
        if name in result.settings:
            value = result.settings[name]
            asked.append((name, f"{value:.6g}" if isinstance(value, float) else str(value)))
    return tuple(asked)


def _declared(result: Any) -> tuple[tuple[str, str], ...]:
    if result.schema is not None:
        return declared_texts(result.schema.columns)
    if result.grid is None:
        return ()
    declared = [("row norm", f"every row is scaled down to a Euclidean norm of at most {result.grid.row_norm:g}")]
    if result.grid.entry_bound < result.grid.row_norm:
        declared.append(("entry bound", f"every cell is clipped to at most {result.grid.entry_bound:g} in size"))
    if result.classes is None and result.target_bounds is not None:
        low, high = result.target_bounds
        declared.append(("target", f"number from {low:g} to {high:g}"))
    expected = result.declarations.get("expected_rows")
    return tuple(declared if expected is None else [*declared, ("expected rows", str(expected))])


def _again(result: Any) -> str:
    if result.formula is not None and result.method in _COMMANDED:
        asked = f'"{result.formula}" --loss {result.loss} --method {result.method} {_budget_options(result)}'
        return f"discreet fit DATA --schema SCHEMA {asked} --ledger LEDGER -o MODEL"
    given = ", ".join(f"{name}={_text(value)}" for name, value in result.declarations.items() if value is not None)
    return f"{result.estimator}({given})"


def _text(value: Any) -> str:
    return "..." if isinstance(value, dict) and len(value) > 3 else repr(value)


def _budget_options(result: Any) -> str:
    cost = result.cost
    names = {"Pure": ("epsilon",), "Approx": ("epsilon", "delta"), "Zcdp": ("rho",), "Gdp": ("mu",)}
    return " ".join(f"--{name} {getattr(cost, name)}" for name in names[type(cost).__name__])
