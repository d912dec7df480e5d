"""The file of a fitted model: strict JSON with the declarations, the release and nothing else."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _files
from discreet.errors import InvalidArgument, InvalidData
from discreet.lattice.row_grid import RowGrid
from discreet.models.earlier_files import EARLIER
from discreet.models.uncertainty import Uncertainty
from discreet.privacy.events.event import event_from_json
from discreet.privacy.release import LABELS
from discreet.tables.design import Design
from discreet.tables.schema.labels import check_classes
from discreet.tables.schema.schema import Schema

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

KIND = "model"
KINDS = (KIND, *EARLIER)
# What a file of 0.1.0 does not say: it follows from the estimator.
_LOSSES = {"LinearRegression": "squared", "LogisticRegression": "logistic", "PoissonRegression": "poisson"}
_PLAIN = ("loss", "method", "reason", "formula", "label", "estimator")


def dumps(model: Any) -> str:
    """Return a fitted model as JSON.

    Parameters
    ----------
    model : RegressionResult
        The model.

    Raises
    ------
    InvalidArgument
        If its class labels are neither texts nor numbers nor booleans.
    """
    grid, design = model.grid, model.design
    document = {
        **{name: getattr(model, name) for name in _PLAIN},
        "declarations": model.declarations,
        "settings": model.settings,
        "coef": _written(model.coefs),
        "intercept": model.constants.tolist(),
        "coef_names": None if model.names is None else [str(name) for name in model.names],
        "classes": None if model.classes is None else plain_labels(model.classes),
        "n_features": model.n_columns,
        "names": None if model.columns is None else [str(name) for name in model.columns],
        "n_rows": model.n_rows,
        "has_intercept": model.has_intercept,
        "target_bounds": None if model.target_bounds is None else [float(bound) for bound in model.target_bounds],
        "noise_dominated": model.noise_dominated,
        "design": None if design is None else design.to_json(),
        "schema": None if design is not None or model.schema is None else model.schema.to_json(),
        "labels": model.labels,
        "grid": None if grid is None else [grid.n_columns, grid.row_norm, grid.entry_bound, grid.intercept, grid.bits],
        "ridge": float(model.ridge),
        "penalty": float(model.penalty),
        "uncertainty": None if model.uncertainty is None else model.uncertainty.to_json(),
        "no_intervals": model.why_no_intervals,
        "entry_std": model.entry_std,
        "event": model.event.to_json(),
        "notes": list(model.notes),
    }
    return _files.dump(KIND, document)


def fields_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what the file of a model holds, as the fields of a `RegressionResult`; its event is priced anew.

    Files of earlier versions are read, too.

    Raises
    ------
    InvalidData
        If the file is damaged, or no model.
    """
    content = _files.read_any(path)
    if content["kind"] not in KINDS:
        raise InvalidData(f"{str(path)!r} must hold a {KIND!r}; it holds a {content['kind']!r}. Give another file.")
    with _files.well_formed(repr(str(path))):
        return _fields(content if content["kind"] == KIND else EARLIER[content["kind"]](content))


def _fields(content: dict[str, Any]) -> dict[str, Any]:
    coefs, constants = _read(content["coef"]), np.array(content["intercept"], dtype=np.float64)
    names, columns = _texts(content["coef_names"]), _texts(content["names"])
    has_intercept, size = bool(content["has_intercept"]), coefs.shape[1]
    if len(coefs) != len(constants) or not np.isfinite(coefs).all() or not np.isfinite(constants).all():
        raise ValueError
    if names is not None and len(names) != size:
        raise ValueError
    classes = None
    if content["classes"] is not None:
        classes = check_classes(content["classes"], several=True)
        if len(coefs) != (classes.size if classes.size > 2 else 1):
            raise ValueError
    design = None if content["design"] is None else Design.from_json(content["design"])
    schema = design.schema if design is not None else _optional(Schema.from_json, content.get("schema"))
    labels = dict(design.written).get("labels") is not None if design is not None else bool(content.get("labels"))
    spread, estimator = content.get("uncertainty"), content.get("estimator")
    low_high = content["target_bounds"]
    return {
        "loss": str(content["loss"]) if "loss" in content else _LOSSES[str(estimator)],
        "coefs": coefs,
        "constants": constants,
        "has_intercept": has_intercept,
        "event": event_from_json(content["event"]),
        "label": _files.one_of(content["label"], LABELS),
        "notes": tuple(str(note) for note in content["notes"]),
        "names": names,
        "noise_dominated": bool(content["noise_dominated"]),
        "method": str(content["method"]),
        "reason": _optional(str, content["reason"]),
        "formula": _optional(str, content["formula"]),
        "classes": classes,
        "target_bounds": None if low_high is None else (_finite(low_high[0]), _finite(low_high[1])),
        "n_rows": _optional(int, content["n_rows"]),
        "settings": dict(content["settings"]),
        "schema": schema,
        "labels": labels,
        "design": design,
        "grid": None if content["grid"] is None else RowGrid(*content["grid"]),
        "ridge": _finite(content.get("ridge", 0.0)),
        "penalty": _finite(content.get("penalty", 0.0)),
        "uncertainty": None if spread is None else Uncertainty.from_json(spread, size + has_intercept),
        "no_intervals": _optional(str, content.get("no_intervals")),
        "entry_std": _optional(_finite, content.get("entry_std")),
        "estimator": _optional(str, estimator),
        "declarations": dict(content["declarations"]),
        "n_columns": _optional(int, content["n_features"]),
        "columns": columns,
    }


def plain_labels(classes: Any) -> list[Any]:
    """Return class labels as JSON has them."""
    labels = [label.item() if isinstance(label, np.generic) else label for label in classes]
    if all(isinstance(label, (str, bool, int, float)) for label in labels):
        return labels
    raise InvalidArgument(
        "`classes` must be texts, numbers or booleans to be written to a file. Map them to such first."
    )


def _optional(kind: Any, value: Any) -> Any:
    return None if value is None else kind(value)


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):  # a text such as "nan" is a number to Python
        raise ValueError
    return number


def _texts(values: Any) -> tuple[str, ...] | None:
    return None if values is None else tuple(str(value) for value in values)


def _written(coefs: NDArray[np.float64]) -> Any:
    """Return coefficients as lists, or where most are 0 as the places and values of the others."""
    if 2 * np.count_nonzero(coefs) >= coefs.size:
        return coefs.tolist()
    places = [np.flatnonzero(coef) for coef in coefs]
    return {
        "size": coefs.shape[1],
        "models": [{"at": at.tolist(), "values": coef[at].tolist()} for at, coef in zip(places, coefs, strict=True)],
    }


def _read(stored: Any) -> NDArray[np.float64]:
    if not isinstance(stored, dict):
        found = np.array(stored, dtype=np.float64)
        if found.ndim != 2:
            raise ValueError
        return found
    found = np.zeros((len(stored["models"]), int(stored["size"])))
    for coef, model in zip(found, stored["models"], strict=True):
        at, values = np.array(model["at"], dtype=np.int64), np.array(model["values"], dtype=np.float64)
        if at.shape != values.shape or not ((at >= 0) & (at < coef.size)).all():
            raise ValueError
        coef[at] = values
    return found
