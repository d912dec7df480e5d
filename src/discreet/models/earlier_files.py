"""Model files of version 0.1.0, as today's: regressions on one Gram matrix, models of noisy steps and their rivals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.lattice.row_grid import RowGrid

if TYPE_CHECKING:
    from collections.abc import Callable

# Settings that a fit may have shown; others are not taken from a file.
_SETTINGS = {
    "n_steps": int,
    "step_size": float,
    "clip": float,
    "sparsity": int,
    "noise_floor": float,
    "selection": str,
    "noise": str,
    "n_blocks": int,
    "regularization": float,
    "method": str,
}
_RIVALS = {"Frank": "frank-wolfe", "TwoSt": "two-stage"}
_NO_INTERVALS = "the clipping of rows and the selection of columns bias the coefficients by amounts that are not known"


def _regression(content: dict[str, Any]) -> dict[str, Any]:
    loss = content.get("loss", "squared")
    if loss not in {"squared", "logistic"}:
        raise ValueError
    return {
        **content,
        "loss": loss,
        "method": "moments",
        "reason": None,
        "coef": [content["coef"]],
        "intercept": [content["intercept"]],
        "coef_names": content["feature_names"],
        "classes": None,
        "names": None,
        "n_features": None,
        "n_rows": None,
        "target_bounds": None,
        "settings": {},
        "design": None,
        "labels": loss == "logistic",
        "grid": None,
        "uncertainty": content.get("uncertainty"),
        "no_intervals": content.get("no_intervals"),
        "declarations": {},
    }


def _sparse(content: dict[str, Any]) -> dict[str, Any]:
    declared, name = content["declarations"], content["estimator"]
    bounds, n_columns = declared.get("y_bounds"), content["n_columns"]
    grid = RowGrid(
        n_columns, declared["row_norm"], declared.get("entry_bound"), content["intercept_column"], content["bits"]
    )
    has_intercept = grid.constant > 0
    center = (bounds[0] + bounds[1]) / 2 if bounds is not None and declared.get("fit_intercept", True) else 0.0
    constants, models = [], []
    for stored in content["parameters"]:
        pairs = list(zip(stored["at"], stored["values"], strict=True))
        if not all(0 <= place < grid.width for place, _ in pairs):
            raise ValueError
        last = sum(value for place, value in pairs if place == n_columns)
        constants.append(last * (grid.constant * grid.unit) + center)
        kept = [(place, value) for place, value in pairs if place < n_columns]
        models.append({"at": [place for place, _ in kept], "values": [value for _, value in kept]})
    settings = {name: _SETTINGS[name](value) for name, value in content["settings"].items()}
    return {
        **content,
        "loss": "squared" if "Linear" in name else "logistic",
        "method": settings.get("selection", settings.get("method", _RIVALS.get(name[:5]))),
        "reason": None,
        "settings": settings,
        "coef": {"size": n_columns, "models": models},
        "intercept": constants,
        "coef_names": content["names"],
        "n_features": n_columns,
        "n_rows": None,
        "has_intercept": has_intercept,
        "target_bounds": bounds if bounds is not None else [0.0, 1.0],
        "noise_dominated": False,
        "design": None,
        "formula": None,
        "grid": [grid.n_columns, grid.row_norm, grid.entry_bound, grid.intercept, grid.bits],
        "uncertainty": None,
        "no_intervals": _NO_INTERVALS,
    }


# By kind of file.
EARLIER: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {"regression": _regression, "sparse-model": _sparse}
