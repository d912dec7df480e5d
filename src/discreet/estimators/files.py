"""Estimators to files and back: a model's file with the class and its declarations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _files
from discreet.errors import InvalidData
from discreet.lattice.bounds import Box, Interval
from discreet.models.files import fields_of, plain_labels
from discreet.models.result import RegressionResult
from discreet.privacy.adjacency import adjacency_from_name
from discreet.privacy.budgets import budget_from_json, to_json
from discreet.tables.schema.schema import Schema

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping

# Settings that a fit of ours shows; others are not taken from a file.
_SETTINGS = {
    *("n_steps", "step_size", "clip", "gram_share", "sparsity", "noise_floor", "selection", "noise"),
    *("n_blocks", "regularization", "method", "ridge", "grid_points"),
}


def signed(result: RegressionResult, model: Any) -> RegressionResult:
    """Return a result that names the estimator which found it, and its declarations as JSON has them."""
    return named(result, type(model).__name__, model.get_params(deep=False))


def named(result: RegressionResult, estimator: str, declared: Mapping[str, Any]) -> RegressionResult:
    """Return a result that an estimator of this name and with these arguments can load."""
    declarations = {name: _plain(name, value) for name, value in declared.items()}
    return replace(result, estimator=estimator, declarations=declarations)


def load(path: str | os.PathLike[str], kind: type[Any]) -> Any:
    """Return the fitted estimator of a file, of a class or any below it; its event is priced anew."""
    result = RegressionResult(**fields_of(path))
    with _files.well_formed(repr(str(path))):
        if result.estimator is None:
            raise InvalidData(f"{str(path)!r} holds a regression read from moments. Load it by RegressionResult.")
        found = next((one for one in _with_subclasses(kind) if one.__name__ == result.estimator), None)
        if found is None:
            raise InvalidData(f"{str(path)!r} holds a {result.estimator}. Load it by that class.")
        if hasattr(found, "methods"):
            _files.one_of(result.method, found.methods)
        if found.__module__.startswith("discreet.") and not result.settings.keys() <= _SETTINGS:
            raise ValueError
        model = found(**{name: _declared(name, value) for name, value in result.declarations.items()})
        model.take_result(result)
        return model


def _with_subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    """Return a class and all below it: what a file may name."""
    yield kind
    for below in kind.__subclasses__():
        yield from _with_subclasses(below)


def _box(value: Box) -> dict[str, Any]:
    return {"lower": list(value.lower), "upper": list(value.upper), "one_hot": [list(b) for b in value.one_hot]}


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
