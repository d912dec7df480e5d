"""Released quantiles and components as files: strict JSON with the release, public facts, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _files
from discreet.errors import InvalidData
from discreet.estimators.methods.principal import (
    COMPONENTS,
    FoundComponents,
    components_of,
    content_of,
    read_release,
    written_release,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from fractions import Fraction

    from discreet.estimators.pca import PrivatePCA
    from discreet.privacy.release import Release

QUANTILES = "quantiles"


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
        **written_release(released),
    }
    return _files.dump(QUANTILES, content)


def dumps_components(model: PrivatePCA | FoundComponents) -> str:
    """Return released components, or those of a fitted `PrivatePCA`, as JSON."""
    return _files.dump(COMPONENTS, content_of(model if isinstance(model, FoundComponents) else model.result()))


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
            return read_release(document, float(values[0]) if values.size == 1 else values)
        return components_of(document)


def load(path: str | os.PathLike[str]) -> Release[Any] | PrivatePCA:
    """Return what a file holds: a Release of quantiles, or a fitted PrivatePCA; see `read`.

    Raises
    ------
    InvalidData
        If the file is of another kind, or damaged.
    """
    from discreet.estimators.pca import PrivatePCA

    found = read(path)
    return PrivatePCA.load(path) if isinstance(found, FoundComponents) else found
