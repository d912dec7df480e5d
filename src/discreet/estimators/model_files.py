"""Models of the front door as files: strict JSON with the declarations, the release and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _files
from discreet.errors import InvalidArgument, InvalidData
from discreet.estimators.methods.choice import METHODS
from discreet.lattice.bounds import Box, Interval
from discreet.lattice.row_grid import RowGrid
from discreet.models.uncertainty import Uncertainty
from discreet.privacy.adjacency import adjacency_from_name
from discreet.privacy.budgets import budget_from_json, to_json
from discreet.privacy.events.event import event_from_json
from discreet.privacy.release import LABELS, Release
from discreet.tables.design import Design
from discreet.tables.schema.labels import check_classes
from discreet.tables.schema.schema import Schema

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from discreet.estimators.fitted import FittedModel

KIND = "model"


def dumps(model: FittedModel) -> str:
    """Return a fitted model as JSON.

    Raises
    ------
    InvalidArgument
        If its class labels are neither texts nor numbers nor booleans.
    """
    released, grid, spread = model.release_, model.grid_, model.uncertainty_
    names = getattr(model, "feature_names_in_", None)
    classes = getattr(model, "classes_", None)
    document = {
        "estimator": type(model).__name__,
        "declarations": {name: _plain(name, value) for name, value in model.get_params(deep=False).items()},
        "method": model.method_,
        "reason": model.reason_,
        "settings": model.settings_,
        "coef": np.atleast_2d(model.coef_).tolist(),
        "intercept": np.atleast_1d(model.intercept_).tolist(),
        "coef_names": [str(name) for name in model.coef_names_],
        "classes": None if classes is None else _labels(classes),
        "n_features": model.n_features_in_,
        "names": None if names is None else [str(name) for name in names],
        "n_rows": model.n_rows_,
        "has_intercept": model.has_intercept_,
        "target_bounds": list(model.target_bounds_),
        "noise_dominated": model.noise_dominated_,
        "design": None if model.design_ is None else model.design_.to_json(),
        "formula": model.formula_,
        "grid": None if grid is None else [grid.n_columns, grid.row_norm, grid.entry_bound, grid.intercept, grid.bits],
        "uncertainty": None if spread is None else spread.to_json(),
        "no_intervals": model.why_no_intervals_,
        "event": released.event.to_json(),
        "label": released.label,
        "notes": list(released.notes),
    }
    return _files.dump(KIND, document)


def load(path: str | os.PathLike[str], kind: type[Any] = object) -> Any:
    """Return the fitted model of a file, of a class or any below it; its event is priced anew."""
    from discreet.estimators import models

    known: dict[str, type[Any]] = {
        cls.__name__: cls for cls in (models.LinearRegression, models.LogisticRegression, models.PoissonRegression)
    }
    document = _files.read(path, kind=KIND)
    with _files.well_formed(repr(str(path))):
        found = known[document["estimator"]]
        if not issubclass(found, kind):
            raise InvalidData(f"{str(path)!r} holds a {found.__name__}. Load it by that class.")
        return _model(found, document)


def _model(cls: type[Any], document: dict[str, Any]) -> Any:
    model = cls(**{name: _declared(name, value) for name, value in document["declarations"].items()})
    coefs = np.array(document["coef"], dtype=np.float64)
    constants = np.array(document["intercept"], dtype=np.float64)
    names = [str(name) for name in document["coef_names"]]
    if coefs.shape != (len(constants), len(names)) or not np.isfinite(coefs).all() or not np.isfinite(constants).all():
        raise ValueError
    model.method_, model.reason_ = _files.one_of(document["method"], METHODS), str(document["reason"])
    model.settings_ = dict(document["settings"])
    model.coef_names_ = np.array(names, dtype=object)
    if document["classes"] is not None:
        model.classes_ = check_classes(document["classes"], several=True)
        if len(coefs) != (model.classes_.size if model.classes_.size > 2 else 1):
            raise ValueError
    model.n_features_in_, model.n_rows_ = int(document["n_features"]), int(document["n_rows"])
    model.has_intercept_ = bool(document["has_intercept"])
    if document["names"] is not None:
        model.feature_names_in_ = np.array([str(name) for name in document["names"]], dtype=object)
    low, high = map(float, document["target_bounds"])
    model.target_bounds_, model.noise_dominated_ = (low, high), bool(document["noise_dominated"])
    model.design_ = None if document["design"] is None else Design.from_json(document["design"])
    model.formula_ = None if document["formula"] is None else str(document["formula"])
    model.grid_ = None if document["grid"] is None else RowGrid(*document["grid"])
    spread = document["uncertainty"]
    model.uncertainty_ = None if spread is None else Uncertainty.from_json(spread, len(names) + model.has_intercept_)
    model.why_no_intervals_ = None if document["no_intervals"] is None else str(document["no_intervals"])
    # Of the release's value a model needs its coefficients alone.
    model.release_ = Release(
        (coefs, constants),
        event_from_json(document["event"]),
        _files.one_of(document["label"], LABELS),
        tuple(str(note) for note in document["notes"]),
    )
    model.take_coefficients(coefs, constants)
    return model


def _box(value: Box) -> dict[str, Any]:
    return {"lower": list(value.lower), "upper": list(value.upper), "one_hot": [list(b) for b in value.one_hot]}


# How declarations are written, and read; others are written as they are.
_WRITTEN: dict[str, Callable[[Any], Any]] = {
    "budget": to_json,
    "adjacency": lambda value: value.name,
    "x_bounds": _box,
    "y_bounds": lambda value: [value.lower, value.upper],
    "schema": lambda value: value.to_json(),
    "classes": lambda value: _labels(value),  # noqa: PLW0108  (defined below)
    "gram_share": str,
}
_READ: dict[str, Callable[[Any], Any]] = {
    "budget": budget_from_json,
    "adjacency": adjacency_from_name,
    "x_bounds": lambda value: Box(
        lower=value["lower"], upper=value["upper"], one_hot=[slice(*block) for block in value["one_hot"]]
    ),
    "y_bounds": lambda value: Interval(*value),
    "schema": Schema.from_json,
}


def _plain(name: str, value: Any) -> Any:
    if value is None or name not in _WRITTEN:
        return value.item() if isinstance(value, np.generic) else value
    return _WRITTEN[name](value)


def _declared(name: str, value: Any) -> Any:
    return value if value is None or name not in _READ else _READ[name](value)


def _labels(classes: Any) -> list[Any]:
    labels = [label.item() if isinstance(label, np.generic) else label for label in classes]
    if all(isinstance(label, (str, bool, int, float)) for label in labels):
        return labels
    raise InvalidArgument(
        "`classes` must be texts, numbers or booleans to be written to a file. Map them to such first."
    )
