"""Released quantiles and components as files: strict JSON with the release, public facts, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _files
from discreet.errors import InvalidData
from discreet.privacy.events.event import event_from_json
from discreet.privacy.release import LABELS, Release
from discreet.sampling.pca.released import FoundComponents
from discreet.sampling.pca.second_moments import UnitGrid

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from fractions import Fraction


QUANTILES, COMPONENTS = "quantiles", "components"


def dumps_quantiles(released: Release[Any], column: str, quantiles: Sequence[Fraction]) -> str:
    """Return released quantiles of a column as JSON.

    Parameters
    ----------
    released : Release
        Its value is one number, or one a quantile.
    column : str
        Whose quantiles they are.
    quantiles : sequence of Fraction
        Which, in the order of the values.
    """
    content = {
        "column": column,
        "quantiles": [str(q) for q in quantiles],
        "values": [float(value) for value in np.atleast_1d(released.value)],
        **_of_release(released),
    }
    return _files.dump(QUANTILES, content)


def dumps_components(found: FoundComponents) -> str:
    """Return released components as JSON."""
    return _files.dump(COMPONENTS, content_of(found))


def content_of(found: FoundComponents) -> dict[str, Any]:
    """Return what the file of released components holds."""
    grid = found.grid
    return {
        "names": None if found.names is None else list(found.names),
        "components": found.released.value.tolist(),
        "row_norm": grid.row_norm,
        "bits": grid.bits,
        **{name: _listed(getattr(grid, name)) for name in ("center", "lower", "upper", "scale")},
        **_of_release(found.released),
    }


def read(path: str | os.PathLike[str]) -> Release[Any] | FoundComponents:
    """Return what a file holds, quantiles or components, as values; its event is priced anew.

    Raises
    ------
    InvalidData
        If the file is of another kind, or damaged.
    """
    document = _files.read_any(path)
    if document["kind"] not in {QUANTILES, COMPONENTS}:
        raise InvalidData(f"{str(path)!r} holds a {document['kind']!r}, no quantiles or components. Give another file.")
    with _files.well_formed(repr(str(path))):
        if document["kind"] == QUANTILES:
            values = np.array([float(value) for value in document["values"]])
            if values.size != len(document["quantiles"]) or not np.isfinite(values).all():
                raise ValueError
            return _release(document, float(values[0]) if values.size == 1 else values)
        return components_of(document)


def components_of(document: Mapping[str, Any]) -> FoundComponents:
    """Return the components that a file holds; their event is priced anew."""
    components = np.array(document["components"], dtype=np.float64)
    center, lower, upper, scale = (_numbers(document[name]) for name in ("center", "lower", "upper", "scale"))
    grid = UnitGrid(components.shape[1], document["row_norm"], center, lower, upper, scale, document["bits"])
    names = None if document["names"] is None else tuple(str(name) for name in document["names"])
    if not np.isfinite(components).all() or (names is not None and len(names) != grid.n_columns):
        raise ValueError
    return FoundComponents(grid, _release(document, components), names)


def _of_release(released: Release[Any]) -> dict[str, Any]:
    return {"event": released.event.to_json(), "label": released.label, "notes": list(released.notes)}


def _release(document: Mapping[str, Any], value: Any) -> Release[Any]:
    return Release(
        value,
        event_from_json(document["event"]),
        _files.one_of(document["label"], LABELS),
        tuple(str(note) for note in document["notes"]),
    )


def _listed(values: tuple[float, ...] | None) -> list[float] | None:
    return None if values is None else list(values)


def _numbers(values: Any) -> tuple[float, ...] | None:
    return None if values is None else tuple(float(value) for value in values)
