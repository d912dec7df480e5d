"""Fitted models of the second pillar as files: strict JSON with the declarations, the release and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _files
from discreet.errors import InvalidArgument
from discreet.estimators import frank_wolfe as frank_wolfe_models
from discreet.estimators import perturbed as perturbed_models
from discreet.estimators import sparse as models
from discreet.estimators import two_stage as two_stage_models
from discreet.estimators.descent_classifier import DescentClassifier
from discreet.lattice.bounds import Interval
from discreet.lattice.row_grid import RowGrid
from discreet.privacy.adjacency import adjacency_from_name
from discreet.privacy.budgets import budget_from_json, to_json
from discreet.privacy.events.event import event_from_json
from discreet.privacy.release import LABELS, Release
from discreet.tables.schema.labels import check_classes

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from discreet.estimators.descent_base import DescentEstimator

KIND = "sparse-model"
_CLASSES: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        models.SparseLinearRegression,
        models.SparseLogisticRegression,
        frank_wolfe_models.FrankWolfeLinearRegression,
        frank_wolfe_models.FrankWolfeLogisticRegression,
        two_stage_models.TwoStageLinearRegression,
        two_stage_models.TwoStageLogisticRegression,
        perturbed_models.PerturbedLogisticRegression,
    )
}
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


@dataclass(frozen=True, eq=False)
class SavedParameters:
    """Released parameters as a file has them.

    Parameters
    ----------
    theta : ndarray of float64, shape (width,)
        One a column, and last that of the intercept's column where there is one.
    """

    theta: NDArray[np.float64]


def dumps(model: DescentEstimator) -> str:
    """Return a fitted model as JSON.

    Raises
    ------
    InvalidArgument
        If its class labels are neither texts nor numbers nor booleans.
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    released, grid = model.release_, model.grid_
    values = released.value if isinstance(released.value, tuple) else (released.value,)
    names = getattr(model, "feature_names_in_", None)
    document: dict[str, Any] = {
        "estimator": type(model).__name__,
        "declarations": {name: _plain(name, value) for name, value in model.get_params(deep=False).items()},
        "settings": {name: getattr(model, f"{name}_") for name in _SETTINGS if hasattr(model, f"{name}_")},
        "intercept_column": grid.intercept,
        "bits": grid.bits,
        "n_columns": grid.n_columns,
        "names": None if names is None else [str(name) for name in names],
        "classes": _labels(model.classes_) if isinstance(model, DescentClassifier) else None,
        "parameters": [_sparse(value.theta) for value in values],
        "event": released.event.to_json(),
        "label": released.label,
        "notes": list(released.notes),
    }
    return _files.dump(KIND, document)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the fitted estimator of a file; its event is priced anew."""
    document = _files.read(path, kind=KIND)
    with _files.well_formed(repr(str(path))):
        return _model(document)


def _model(document: dict[str, Any]) -> Any:
    estimator = _CLASSES[document["estimator"]]
    declared = {name: _declared(name, value) for name, value in document["declarations"].items()}
    model = estimator(**declared)
    grid = RowGrid(
        document["n_columns"],
        declared["row_norm"],
        declared.get("entry_bound"),
        document["intercept_column"],
        document["bits"],
    )
    values = tuple(SavedParameters(_dense(stored, grid.width)) for stored in document["parameters"])
    if not values:
        raise ValueError
    released = Release(
        values[0] if len(values) == 1 else values,
        event_from_json(document["event"]),
        _files.one_of(document["label"], LABELS),
        tuple(str(note) for note in document["notes"]),
    )
    settled = {name: _SETTINGS[name](value) for name, value in document["settings"].items()}
    names = document["names"]
    model.take_release(grid, settled, released, n_features=grid.n_columns, names=names)
    if isinstance(model, DescentClassifier):
        model.classes_ = check_classes(document["classes"], several=True)
        if len(values) != (model.classes_.size if model.classes_.size > 2 else 1):
            raise ValueError
    return model


def _plain(name: str, value: Any) -> Any:
    if name == "budget":
        return to_json(value)
    if name == "adjacency":
        return value.name
    if name == "y_bounds":
        return [value.lower, value.upper]
    if name == "classes":
        return None if value is None else _labels(value)
    return value.item() if isinstance(value, np.generic) else value


def _declared(name: str, value: Any) -> Any:
    if name == "budget":
        return budget_from_json(value)
    if name == "adjacency":
        return adjacency_from_name(value)
    if name == "y_bounds":
        return Interval(*value)
    return value


def _labels(classes: Any) -> list[Any]:
    labels = [label.item() if isinstance(label, np.generic) else label for label in classes]
    if all(isinstance(label, (str, bool, int, float)) for label in labels):
        return labels
    raise InvalidArgument(
        "`classes` must be texts, numbers or booleans to be written to a file. Map them to such first."
    )


def _sparse(theta: NDArray[np.float64]) -> dict[str, Any]:
    present = np.flatnonzero(theta)
    return {"at": present.tolist(), "values": theta[present].tolist()}


def _dense(stored: dict[str, Any], width: int) -> NDArray[np.float64]:
    theta = np.zeros(width)
    at, values = np.array(stored["at"], dtype=np.int64), np.array(stored["values"], dtype=np.float64)
    if at.shape != values.shape or not np.isfinite(values).all() or not ((at >= 0) & (at < width)).all():
        raise ValueError
    theta[at] = values
    return theta
