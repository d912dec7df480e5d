"""Estimators to files and back: a model's file with the class and its declarations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from discreet import _files
from discreet.errors import InvalidData
from discreet.estimators.methods.choice import METHODS
from discreet.lattice.bounds import Box, Interval
from discreet.models.files import fields_of, plain_labels
from discreet.models.result import RegressionResult
from discreet.privacy.adjacency import adjacency_from_name
from discreet.privacy.budgets import budget_from_json, to_json
from discreet.tables.schema.schema import Schema

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

# Which module holds an estimator of a file; a file names nothing else.
_HOMES = {
    "LinearRegression": "front_door",
    "LogisticRegression": "front_door",
    "PoissonRegression": "front_door",
    "FunctionalLinearRegression": "functional",
    "FunctionalLogisticRegression": "functional",
    "SparseLinearRegression": "sparse",
    "SparseLogisticRegression": "sparse",
    "FrankWolfeLinearRegression": "frank_wolfe",
    "FrankWolfeLogisticRegression": "frank_wolfe",
    "TwoStageLinearRegression": "two_stage",
    "TwoStageLogisticRegression": "two_stage",
    "PerturbedLogisticRegression": "perturbed",
    "KNormGradientLinearRegression": "k_norm",
    "KNormGradientLogisticRegression": "k_norm",
    "KNormGradientQuantileRegression": "quantile",
}


# Settings that a fit of ours shows; others are not taken from a file.
_SETTINGS = {
    *("n_steps", "step_size", "clip", "gram_share", "sparsity", "noise_floor", "selection", "noise"),
    *("n_blocks", "regularization", "method", "ridge", "grid_points"),
}


class Saved:
    """An estimator that is written to a file, and read from one."""

    # What its file is called.
    _kind: ClassVar[str]

    def _content(self) -> dict[str, Any]:
        """Return what its file holds: declarations, the release, and nothing else."""
        raise NotImplementedError

    @classmethod
    def _of_content(cls, content: Mapping[str, Any]) -> Self:
        """Return the fitted estimator that a file holds."""
        raise NotImplementedError

    def dumps(self) -> str:
        """Return the text of a file: strict JSON with the declarations, the release and nothing else."""
        from sklearn.utils.validation import check_is_fitted  # no command but `audit` loads scikit-learn

        check_is_fitted(self)
        return _files.dump(self._kind, self._content())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the estimator to a file that `load` reads."""
        with _files.OutputFile(path, name="path") as output:
            output.write(self.dumps())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read an estimator that `save` wrote, in this version or an older one; its event is priced anew.

        Raises
        ------
        InvalidData
            If the file is damaged, or holds an estimator of another kind.
        """
        content = _files.read(path, kind=cls._kind)
        with _files.well_formed(repr(str(path))):
            return cls._of_content(content)


def signed(result: RegressionResult, model: Any) -> RegressionResult:
    """Return a result that names the estimator which found it, and its declarations as JSON has them."""
    return named(result, type(model).__name__, model.get_params(deep=False))


def named(result: RegressionResult, estimator: str, declared: Mapping[str, Any]) -> RegressionResult:
    """Return a result that an estimator of this name and with these arguments can load."""
    return replace(result, estimator=estimator, declarations=written(declared))


def written(declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return an estimator's arguments as JSON has them."""
    return {name: _plain(name, value) for name, value in declared.items()}


def read(declarations: Mapping[str, Any]) -> dict[str, Any]:
    """Return an estimator's arguments from what `written` made of them."""
    return {name: _declared(name, value) for name, value in declarations.items()}


def load(path: str | os.PathLike[str], kind: type[Any]) -> Any:
    """Return the fitted estimator of a file, of a class or any below it; its event is priced anew."""
    result = RegressionResult(**fields_of(path))
    with _files.well_formed(repr(str(path))):
        if result.estimator is None:
            raise InvalidData(f"{str(path)!r} holds a regression read from moments. Load it by RegressionResult.")
        home = _HOMES.get(result.estimator)
        found = kind if home is None else getattr(import_module(f"discreet.estimators.{home}"), result.estimator)
        if home == "front_door":
            _files.one_of(result.method, METHODS)
        if home is not None and not result.settings.keys() <= _SETTINGS:
            raise ValueError
        if found.__name__ != result.estimator or not issubclass(found, kind):
            raise InvalidData(f"{str(path)!r} holds a {result.estimator}. Load it by that class.")
        model = found(**read(result.declarations))
        model.take_result(result)
        return model


def _box(value: Box) -> dict[str, Any]:
    limits: tuple[Any, Any] = value.lower, value.upper
    # What holds for every column stays so, whatever their number.
    lower, upper = (limit[0] if value.broadcasts else list(limit) for limit in limits)
    return {"lower": lower, "upper": upper, "one_hot": [list(b) for b in value.one_hot]}


def _listed(value: Any) -> Any:
    """Return mappings and lists of settings as JSON has them."""
    if isinstance(value, Mapping):
        return {name: _listed(of_name) for name, of_name in value.items()}
    if isinstance(value, (list, tuple)):
        return [_listed(item) for item in value]
    return _plain("", value)


def _written_policy(policy: Any) -> Any:
    from discreet.sampling.policies import policy_to_json

    return policy_to_json(policy)


def _read_policy(content: Any) -> Any:
    from discreet.sampling.policies import policy_from_json

    return policy_from_json(content)


# How declarations are written, and read; others are written as they are.
_WRITTEN: dict[str, Callable[[Any], Any]] = {
    "budget": to_json,
    "adjacency": lambda value: value.name,
    "x_bounds": _box,
    "y_bounds": lambda value: [value.lower, value.upper],
    "schema": lambda value: value.to_json(),
    "classes": plain_labels,
    "class_weight": lambda value: [[label, float(weight)] for label, weight in value.items()],
    "gram_share": str,
    "quantile": str,
    "coef_bound": str,
    "runtime": _written_policy,
    "candidates": _listed,
    "center": lambda value: np.asarray(value).tolist(),
    "scale": lambda value: np.asarray(value).tolist(),
}
_READ: dict[str, Callable[[Any], Any]] = {
    "budget": budget_from_json,
    "adjacency": adjacency_from_name,
    "x_bounds": lambda value: Box(
        lower=value["lower"], upper=value["upper"], one_hot=[slice(*block) for block in value["one_hot"]]
    ),
    "y_bounds": lambda value: Interval(*value),
    "schema": Schema.from_json,
    "class_weight": lambda value: {pair[0]: pair[1] for pair in value} if isinstance(value, list) else value,
    "runtime": _read_policy,
}


def _plain(name: str, value: Any) -> Any:
    if value is None or name not in _WRITTEN:
        return value.item() if isinstance(value, np.generic) else value
    return _WRITTEN[name](value)


def _declared(name: str, value: Any) -> Any:
    return value if value is None or name not in _READ else _READ[name](value)
