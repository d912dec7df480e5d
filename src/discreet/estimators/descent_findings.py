"""What a sparse model says to a reader of a report: the selected columns and their coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.privacy.findings import Estimate, Finding

if TYPE_CHECKING:
    from discreet.estimators.descent_base import DescentEstimator

# So many of the largest coefficients are told one by one.
MOST_SHOWN = 200
_NO_INTERVALS = (
    "No intervals: the selection of columns and the clipping of rows bias the coefficients "
    "by amounts that are not known."
)


def finding_of_model(model: DescentEstimator) -> Finding:
    """Return the finding of a fitted sparse model: its largest coefficients, up to 200 for every class."""
    released = model.release_
    coefs = np.atleast_2d(model.coef_)
    intercepts = np.atleast_1d(model.intercept_)
    names = getattr(model, "feature_names_in_", None)
    classes = [str(label) for label in getattr(model, "classes_", ())]
    labels = [""] if len(coefs) == 1 else [f"{label}: " for label in classes]
    estimates: list[Estimate] = []
    for label, coef, intercept in zip(labels, coefs, intercepts, strict=True):
        if model.fit_intercept:
            estimates.append(Estimate(name=f"{label}Intercept", value=float(intercept)))
        for place in _largest(coef):
            name = f"column {place}" if names is None else str(names[place])
            estimates.append(Estimate(name=f"{label}{name}", value=float(coef[place])))
    n_selected = [int(np.count_nonzero(coef)) for coef in coefs]
    quality = [f"Selected columns: {', '.join(map(str, n_selected))} of {coefs.shape[1]}.", _NO_INTERVALS]
    if max(n_selected) > MOST_SHOWN:
        quality.append(f"The table has the {MOST_SHOWN} largest coefficients of each model.")
    return Finding(
        title=type(model).__name__,
        asked=_asked(model, classes),
        event=released.event,
        label=released.label,
        estimates=tuple(estimates),
        quality=tuple(quality),
        declarations=_declared(model),
        again=(repr(model),),
        notes=released.notes,
    )


def _largest(coef: Any) -> list[int]:
    order = np.argsort(-np.abs(coef), kind="stable")[: min(MOST_SHOWN, np.count_nonzero(coef))]
    return [int(place) for place in order]


def _asked(model: DescentEstimator, classes: list[str]) -> tuple[tuple[str, str], ...]:
    asked = [("Model", type(model).__name__)]
    if classes:
        asked.append(("Classes", ", ".join(classes)))
    for name in ("selection", "method", "n_steps", "step_size", "clip", "sparsity"):
        if hasattr(model, f"{name}_"):
            value = getattr(model, f"{name}_")
            asked.append((name, f"{value:.6g}" if isinstance(value, float) else str(value)))
    return tuple(asked)


def _declared(model: DescentEstimator) -> tuple[tuple[str, str], ...]:
    declared = [("row norm", f"every row is scaled down to a Euclidean norm of at most {model.row_norm:g}")]
    parameters = model.get_params(deep=False)
    if parameters.get("entry_bound") is not None:
        declared.append(("entry bound", f"every cell is clipped to at most {parameters['entry_bound']:g} in size"))
    if (bounds := parameters.get("y_bounds")) is not None:
        declared.append(("target", f"number from {bounds.lower:g} to {bounds.upper:g}"))
    if model.expected_rows is not None:
        declared.append(("expected rows", str(model.expected_rows)))
    return tuple(declared)
